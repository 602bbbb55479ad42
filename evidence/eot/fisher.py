"""Section 7 of eot in torch: the Fisher matrix and the natural gradient, by autograd, closed forms and dense algebra."""

import torch
from torch import Tensor

from evidence import Reading, Value
from evidence.eot.forward import descent
from evidence.instances.derivatives import hessian, jacobian
from evidence.instances.one_sided import Row, rows
from numerics import fisher, one_sided

SMALL = rows(max_m=3)  # a derivation's F is a sum of sums, entry by entry


def drawn(row: Row) -> dict[str, Tensor]:
    """The variables of section 7 besides the row: a direction v, a matrix G, a step t > 0."""
    generator = torch.Generator().manual_seed(row.seed + 2)
    numbers = torch.randn(row.m, row.m + 1, generator=generator, dtype=torch.float64)
    return {"v": numbers[:, 0], "G": numbers[:, 1:], "t": row["t"].abs().cpu()}


def named(row: Row, name: str) -> Tensor:
    """One of these variables, on the row's device."""
    return drawn(row)[name].to(row.device)


def reading(row: Row, *magnitudes: Tensor | float, **routes: Tensor) -> Reading:
    """Routes at a row, with the tolerance for these magnitudes and the routes' own."""
    point: dict[str, Value] = {**row.point(), **drawn(row)}
    return Reading(point, routes, row.tolerance(*magnitudes, *routes.values()))


def log_slopes(row: Row) -> Tensor:
    """∂log p_i/∂s_j with rows i and columns j, by autograd."""
    return jacobian(lambda s: torch.log_softmax(s / row.tau, -1), row.s)


def expected(row: Row) -> Tensor:
    """F as the mean of products of log-slopes."""
    slopes = log_slopes(row)
    return slopes.T @ (row.weights[:, None] * slopes)


def closed(row: Row) -> Tensor:
    """F by its closed form."""
    return fisher.fisher(one_sided.plan(row.s, row.tau), row.tau)


def both(row: Row, scale: float = 1.0) -> dict[str, Tensor]:
    """A multiple of F by both routes."""
    return {"expectation": scale * expected(row), "closed_form": scale * closed(row)}


def slopes(row: Row) -> Reading:
    return reading(row, 1 / row.tau, autograd=log_slopes(row))


def score_gradient(row: Row) -> Reading:
    p = one_sided.plan(row.s, row.tau)
    return reading(
        row,
        row.u / row.tau,
        autograd=-descent(row, row.u),
        closed_form=-fisher.jacobian_product(p, row.u, row.tau),
        dense=-row.tau * expected(row) @ row.u,
    )


def update(row: Row) -> Reading:
    base = score_gradient(row)
    return Reading(base.point, {name: -x for name, x in base.routes.items()}, base.tolerance)


def hessians(row: Row) -> dict[str, Tensor]:
    """∂²φ*/∂s_j∂s_k by autograd and by the closed form."""
    p = one_sided.plan(row.s, row.tau)
    return {
        "autograd": hessian(lambda s: fisher.potential(s, row.tau), row.s),
        "closed_form": fisher.jacobian(p, row.tau),
        "attention": jacobian(lambda s: one_sided.plan(s, row.tau), row.s),
    }


def potential_hessian(row: Row) -> Reading:
    return reading(row, 1 / row.tau, **hessians(row))
