"""Votes on: Section 5, the four principles for a good design."""

from __future__ import annotations

from evidence import Layer, Reading, confirms, float64
from evidence.eot.conic_regularizers import RegularizedProblem, conic_close_to_others, regularized_problems
from evidence.eot.regularizers import Point, close_to_others, points
from evidence.instances.attention import AttentionProblem, attention_problems
from numerics import one_sided, tolerances
from numerics.primal import matrix


@confirms(Layer.TORCH, "transport.s5.row-stochasticity", on=attention_problems())
def row_mass(x: AttentionProblem) -> Reading:
    return x.reading(closed_form=one_sided.plan(x["S"], x.eps).sum(-1))


@confirms(Layer.TORCH, "transport.s5.sparsity", on=points(), corrected=close_to_others)
def weights_of_the_entropy(x: Point) -> Reading:
    epsilon, plan = float(x["tau"]), one_sided.plan(x["S"], float(x["tau"]))
    return Reading(x.point(n=x.m, eps=epsilon), {"closed_form": plan}, tolerances.plan("float64", x.m, 2 / epsilon))


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


@confirms(Layer.PRIMAL, "transport.s5.sparsity", on=regularized_problems(), count=20, corrected=conic_close_to_others)
def conic_weights_of_the_entropy(drawn: RegularizedProblem) -> Reading:
    solution = matrix.solve(drawn.scores, drawn.tau)
    assert solution.certified
    point = drawn.point(n=drawn.m, eps=drawn.tau)
    return Reading(point, {"cvxpy": float64(solution.plan[drawn.query])}, tolerances.plan_from_gap(solution.gap, drawn.tau))
