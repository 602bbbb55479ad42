"""Votes on: What the covariance matrix C = diag(p) − ppᵀ of attention is: kernel, gap, inverse and volume."""

from collections.abc import Mapping

import torch
from torch import Tensor

from evidence import Layer, Reading, confirms
from evidence.beyond.keys import SMALL, reading, variable
from evidence.beyond.search import Free, Problem, sought
from evidence.eot.section7_natural import mild_rows
from evidence.instances.derivatives import gradient
from evidence.instances.one_sided import Row
from numerics import fisher, one_sided

Values = Mapping[str, Tensor]


def covariance(p: Tensor) -> Tensor:
    """diag(p) − ppᵀ."""
    return p.diag_embed() - p[..., :, None] * p[..., None, :]


@confirms(Layer.TORCH, "beyond.laplacian", on=SMALL, count=16)
def matrix(row: Row) -> Reading:
    sampled = torch.eye(row.m, dtype=torch.float64, device=row.weights.device) - row.weights
    return reading(row, dense=covariance(row.weights), moments=sampled.T @ (row.weights[:, None] * sampled))


@confirms(Layer.TORCH, "beyond.kernel", on=mild_rows(), count=16)
def recovered(row: Row) -> Reading:
    image = covariance(row.weights) @ variable(row, "v") / row.weights
    return reading(row, 1 / row.weights, variable(row, "v"), dense=image[:, None] - image[None, :])


@confirms(Layer.TORCH, "beyond.interlacing", on=SMALL, count=16)
def by_eigenvectors(row: Row) -> Reading:
    values, vectors = torch.linalg.eigh(covariance(row.weights))
    return reading(row, variable(row, "v"), eigenvectors=(values * (variable(row, "v") @ vectors).square()).sum())


@confirms(Layer.TORCH, "beyond.resolvent", on=mild_rows(), count=16)
def solved_system(row: Row) -> Reading:
    p, t, v = row.weights, variable(row, "t") + 0.5, variable(row, "v")
    system = covariance(p) + t * torch.eye(row.m, dtype=torch.float64, device=p.device)
    kappa = (p * t / (p + t)).sum()
    closed = (v + p * (p * v / (p + t)).sum() / kappa) / (p + t)
    point = dict(reading(row, p=p).point) | {"t": float(t)}
    return Reading(point, {"closed_form": kappa * (system @ closed)}, row.tolerance(v, 1 / t, t))


@confirms(Layer.TORCH, "beyond.volume", on=mild_rows(), count=16)
def slope_of_log_volume(row: Row) -> Reading:
    def log_volume(s: Tensor) -> Tensor:
        p = one_sided.plan(s, row.tau)
        return torch.logdet(covariance(p) + torch.ones(row.m, row.m, dtype=torch.float64, device=p.device) / row.m)

    return reading(row, row.m / row.tau, 1 / row.weights**2, autograd=gradient(log_volume, row.s))


@confirms(Layer.TORCH, "beyond.natural-step", on=SMALL, count=16)
def after_the_step(row: Row) -> Reading:
    utilities = variable(row, "w").tanh()
    direction = fisher.natural_direction(row.weights, utilities, row.tau)
    eta = float(variable(row, "η"))
    base = reading(row, row.tau * (1 + eta), closed_form=one_sided.plan(row.s + eta * direction, row.tau))
    return Reading(dict(base.point) | {"u": utilities.cpu()}, base.routes, base.tolerance)


@confirms(Layer.TORCH, "beyond.natural-gain", on=SMALL, count=16)
def gained(row: Row) -> Reading:
    utilities, eta = variable(row, "w").tanh(), float(variable(row, "η"))
    after = torch.softmax(row.s / row.tau + eta * utilities, -1)
    base = reading(row, eta, 1 / eta, closed_form=((after - row.weights) * utilities).sum())
    return Reading(dict(base.point) | {"u": utilities.cpu()}, base.routes, base.tolerance)


# ── the spectral gap ────────────────────────────────────────────────────────────────────────────────────────────────


def gap_values(free: Free) -> Values:
    """A direction, weights and two shares."""
    return {
        "v": torch.tanh(free["v"]),
        "w": torch.softmax(free["w"], -1),
        "x": torch.tanh(free["x"]).exp(),
        "y": torch.tanh(free["y"]).exp(),
    }


def gap_sides(z: Values) -> tuple[Tensor, Tensor]:
    """vᵀCv, and a lower bound on the weights times ‖v − v̄1‖²."""
    v, x, y = z["v"], z["x"][:, None], z["y"][:, None]
    p = (x / v.shape[-1] + y * z["w"]) / (x + y)
    form = torch.einsum("bj,bjk,bk->b", v, covariance(p), v)
    return form, (x / (x + y))[:, 0] * v.var(-1, correction=0)


GAP = Problem(lambda m: {"v": (m,), "w": (m,), "x": (), "y": ()}, gap_values, gap_sides, scale=10.0)


VOTES = [sought("beyond.spectral-gap", GAP)]
