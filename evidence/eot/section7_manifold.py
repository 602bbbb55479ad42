"""Votes on: Section 7, Remark 7.4: the metric of the statistical manifold and its curvature."""

import torch

from evidence import Layer, Reading, Sampled
from evidence.eot.fisher import SMALL, reading
from evidence.instances.derivatives import hessian
from evidence.instances.one_sided import Row
from numerics import one_sided


def curvature(row: Row) -> Reading:
    """The determinants of the second derivatives of 2√p along the normal, by autograd."""
    normal = one_sided.plan(row.s, row.tau).sqrt()
    bending = hessian(lambda s: (2 * one_sided.plan(s, row.tau).sqrt() * normal).sum(), row.s)
    diagonal = bending.diagonal()
    return reading(row, 1 / row.tau**4, autograd=torch.outer(diagonal, diagonal) - bending.square())


VOTES = [Sampled("eot.s7.manifold-curvature", Layer.TORCH, curvature, on=SMALL, count=10, corrected=curvature)]
