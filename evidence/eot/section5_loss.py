"""Votes on: Section 5, the first line of the proof of Theorem 5.2: the chain rule through the weights."""

import torch
from torch import Tensor

from evidence import Layer, Reading, confirms
from evidence.instances.derivatives import gradient
from evidence.instances.one_sided import Row, rows
from numerics import one_sided


@confirms(Layer.TORCH, "eot.48", on=rows())
def gradient_of_curved_loss(row: Row) -> Reading:
    width = row.values.shape[-1]
    curve = torch.randn(width, width, generator=torch.Generator().manual_seed(row.seed), dtype=torch.float64)
    matrix = curve.to(row.device)

    def model(scores: Tensor) -> Tensor:
        context = one_sided.context(one_sided.plan(scores, row.tau), row.values)
        return row.g @ context + context @ matrix @ context / 2

    size = row.values.abs().max() ** 2 * matrix.abs().max() * width
    routes = {"autograd": gradient(model, row.s)}
    error = row.tolerance(row.u / row.tau, row.values, row.g, size, size / row.tau, *routes.values())
    return Reading(row.point() | {"G": curve}, routes, error)
