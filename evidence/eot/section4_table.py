"""Votes on: Section 4.2: the printed correspondences with the literature, and Table 1 as a whole."""

import torch

from evidence import Layer, Observed, Reading, Sampled
from evidence.eot.conic_regularizers import regularized_problems
from evidence.eot.regularizers import Point, points, reading
from evidence.eot.section4_alibi import conic_locality, locality
from evidence.source import alibi as shipped_alibi
from evidence.source import transformations


def alibi(point: Point) -> Reading:
    return reading(point, unscaled=torch.softmax(point["S"] / point["tau"] + point["b"] * point.distance, -1))


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


VOTES = [
    Sampled("eot.s4.alibi-form", Layer.TORCH, alibi, on=points(smallest=2), corrected=alibi),
    Sampled("eot.tab1", Layer.TORCH, locality, on=points()),
    Sampled("eot.tab1", Layer.PRIMAL, conic_locality, on=regularized_problems(), count=20),
    Observed("eot.s4.alibi-sign", Layer.SOURCE, shipped_alibi.alibi_sign),
    Observed("eot.s4.alibi-form", Layer.SOURCE, shipped_alibi.alibi_form),
    Observed("eot.s4.sparsemax-definition", Layer.SOURCE, transformations.sparsemax),
    Observed("eot.s4.entmax-definition", Layer.SOURCE, transformations.alpha_entmax),
]
