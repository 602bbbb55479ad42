"""Votes on: Section 3, Theorem 3.3, existence and uniqueness: each inference of the printed proof."""

import numpy as np

from evidence import Layer, Reading, Sampled, confirms, float64
from evidence.eot.conic_appendix import slack
from evidence.eot.conic_one_sided import ConicRow, problems, solved
from evidence.eot.forward import reading
from evidence.eot.section3_theorem import conic_plan
from evidence.instances.one_sided import Row, rows
from numerics import one_sided


@confirms(Layer.TORCH, "eot.s3.minimum-exists", on=rows())
def least_value(row: Row) -> Reading:
    least = one_sided.objective(one_sided.plan(row.s, row.tau), row.s, row.tau)
    point = row.point() | {"x": (row["p"] / row["p"].sum()).cpu()}
    return Reading(point, {"closed_form": least}, row.tolerance(row.s, row.tau), "right")


@confirms(Layer.TORCH, "eot.s3.interior-solution", on=rows())
def positive_weights(row: Row) -> Reading:
    return reading(row, closed_form=one_sided.plan(row.s, row.tau))


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


@confirms(Layer.PRIMAL, "eot.s3.minimum-exists", on=problems())
def conic_least_value(drawn: ConicRow) -> Reading:
    solution = solved(drawn.scores, drawn.epsilon)
    point = drawn.point() | {"x": float64(np.random.default_rng(drawn.m).dirichlet(np.ones(drawn.m)))}
    return Reading(point, {"cvxpy": float64(solution.objective)}, slack(drawn, solution.gap), "right")


VOTES = [Sampled("eot.s3.interior-solution", Layer.PRIMAL, conic_plan, on=problems())]
