"""Votes on: Section 4.2: the printed correspondences with the literature, and Table 1 as a whole."""

from __future__ import annotations

import torch

from evidence import Layer, Reading, confirms, observes
from evidence.eot.conic_regularizers import regularized_problems
from evidence.eot.regularizers import Point, points, reading
from evidence.eot.section4_alibi import conic_locality, locality
from evidence.source import alibi as shipped_alibi
from evidence.source import transformations

confirms(Layer.TORCH, "eot.tab1", on=points())(locality)


@confirms(Layer.TORCH, "eot.s4.alibi-form", on=points(smallest=2), corrected=lambda point: alibi(point))
def alibi(point: Point) -> Reading:
    return reading(point, unscaled=torch.softmax(point["S"] / point["tau"] + point["b"] * point.distance, -1))


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


confirms(Layer.PRIMAL, "eot.tab1", on=regularized_problems(), count=20)(conic_locality)


# ── by shipped source code ────────────────────────────────────────────────────────────────────────────────────────────

observes(Layer.SOURCE, "eot.s4.alibi-sign")(shipped_alibi.alibi_sign)
observes(Layer.SOURCE, "eot.s4.alibi-form")(shipped_alibi.alibi_form)


observes(Layer.SOURCE, "eot.s4.sparsemax-definition")(transformations.sparsemax)
observes(Layer.SOURCE, "eot.s4.entmax-definition")(transformations.alpha_entmax)
