"""Votes on: Section 3, Theorem 3.3, existence and uniqueness: each inference of the printed proof."""

from __future__ import annotations

from evidence import Layer, Reading, confirms
from evidence.eot.conic_one_sided import problems
from evidence.eot.forward import reading
from evidence.eot.section3_theorem import conic_plan
from evidence.instances.one_sided import Row, rows
from numerics import one_sided


@confirms(Layer.TORCH, "eot.s3.interior-solution", on=rows())
def positive_weights(row: Row) -> Reading:
    return reading(row, closed_form=one_sided.plan(row.s, row.tau))


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


confirms(Layer.PRIMAL, "eot.s3.interior-solution", on=problems())(conic_plan)
