"""Section 7 of eot in torch: the Fisher matrix and the natural gradient, by autograd, closed forms and dense algebra."""

from __future__ import annotations

from functools import partial

import torch
from hypothesis import strategies as st
from torch import Tensor
from torch.autograd.functional import hessian, jacobian

from derivations.claims import Layer
from numerics import fisher, one_sided
from tests.bridge import Value
from tests.layers import Reading, confirms
from tests.properties.eot_backward import variance_without_baseline, with_baseline
from tests.properties.eot_forward import descent, gradient
from tests.properties.eot_potential import value
from tests.properties.rows import Row, rows
from tests.strategies import one_sided_problems

TORCH = Layer.TORCH
SMALL = rows(max_m=3)                                      # a derivation's F is a sum of sums, entry by entry


@st.composite
def mild_rows(draw: st.DrawFn) -> Row:
    """Draw a row whose weights are all of ordinary size: F⁺ multiplies errors by their reciprocals."""
    problem = draw(one_sided_problems(max_m=3, max_batch=0, temperatures=(1.0, 4.0), scales=(1.0, 0.0), masks=("none",)))
    return Row(problem, draw(st.integers(0, 2**31)))


def drawn(row: Row) -> dict[str, Tensor]:
    """What section 7 names besides the row: a direction v, a matrix G, a step t > 0."""
    generator = torch.Generator().manual_seed(row.seed + 2)
    numbers = torch.randn(row.m, row.m + 1, generator=generator, dtype=torch.float64)
    return {"v": numbers[:, 0], "G": numbers[:, 1:], "t": row["t"].abs().cpu()}


def named(row: Row, name: str) -> Tensor:
    """One of them, on the row's device."""
    return drawn(row)[name].to(row.device)


def reading(row: Row, *magnitudes: Tensor | float, **routes: Tensor) -> Reading:
    """Routes at a row, with the tolerance for these magnitudes and the routes' own."""
    point: dict[str, Value] = row.point() | drawn(row)
    return Reading(point, routes, row.tolerance(*magnitudes, *routes.values()))


def steep(row: Row) -> float:
    """How much F⁺ may enlarge an error: ‖F‖ and ‖F⁺‖ are at most 1/τ² and τ²/min p."""
    largest = float(row.u.abs().max()) + float(drawn(row)["v"].abs().max()) + 1
    return largest**2 * (row.tau / float(row.weights.min())) ** 2


# ── the matrix ──────────────────────────────────────────────────────────────────────────────────────────────────────


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


@confirms(TORCH, "eot.78", *(f"eot.{n}" for n in range(83, 89)), "eot.104", on=SMALL, count=10)
def matrix(row: Row) -> Reading:
    return reading(row, 1 / row.tau**2, **both(row))


@confirms(TORCH, "eot.105", on=SMALL, count=10)
def matrix_times_temperature(row: Row) -> Reading:
    return reading(row, 1 / row.tau, **both(row, row.tau))


@confirms(TORCH, "eot.def7.1", on=SMALL, count=10)
def onto(row: Row) -> Reading:
    return reading(row, closed_form=one_sided.plan(row.tau * row.weights.log(), row.tau))


def length(row: Row) -> Reading:
    v = named(row, "v")
    routes = {name: v @ matrix @ v for name, matrix in both(row).items()}
    return reading(row, (v.abs().max() / row.tau) ** 2 * row.m, **routes)


confirms(TORCH, "eot.def7.2", on=SMALL, count=10)(length)
confirms(TORCH, "eot.s7.metric", on=SMALL, count=10, corrected=length)(length)


@confirms(TORCH, "eot.80", on=SMALL, count=10)
def log_weights(row: Row) -> Reading:
    return reading(row, row.s / row.tau, log_softmax=torch.log_softmax(row.s / row.tau, -1))


@confirms(TORCH, "eot.81", on=SMALL, count=10)
def slope_of_log_partition(row: Row) -> Reading:
    return reading(row, 1 / row.tau, autograd=gradient(lambda s: one_sided.log_partition(s, row.tau), row.s))


@confirms(TORCH, "eot.82", on=SMALL, count=10)
def slopes(row: Row) -> Reading:
    return reading(row, 1 / row.tau, autograd=log_slopes(row))


@confirms(TORCH, "eot.s7.four-terms", on=SMALL, count=10)
def both_deltas(row: Row) -> Reading:
    one_hot = torch.eye(row.m, dtype=torch.float64, device=row.device)
    return reading(row, enumerated=torch.einsum("i,ij,ik->jk", row.weights, one_hot, one_hot))


# ── products ────────────────────────────────────────────────────────────────────────────────────────────────────────


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
    found = score_gradient(row)
    return Reading(found.point, {name: -x for name, x in found.routes.items()}, found.tolerance)


confirms(TORCH, "eot.79", *(f"eot.{n}" for n in range(89, 98)), on=SMALL, count=10)(score_gradient)
confirms(TORCH, "eot.s7.utility-product", on=SMALL, count=10, corrected=score_gradient)(score_gradient)
confirms(TORCH, "eot.s7.policy-gradient", "eot.s7.shared-geometry", on=SMALL, count=10)(update)
confirms(TORCH, "eot.s7.preconditioned", on=rows(max_m=3), count=10)(update)
confirms(TORCH, "eot.s7.variance-reduced", on=SMALL, count=10, corrected=with_baseline)(variance_without_baseline)


@confirms(TORCH, "eot.rem7.4", on=SMALL, count=10, corrected=update)
def apart(row: Row) -> Reading:
    fisher_side = row.tau * fisher.fisher_product(one_sided.plan(row.s, row.tau), row.u, row.tau)
    return reading(row, row.u / row.tau, squared_distance=(fisher_side - descent(row, row.u)).square().sum())


@confirms(TORCH, "eot.s7.efficient", on=SMALL, count=10)
def fast_product(row: Row) -> Reading:
    fast = fisher.fisher_product(one_sided.plan(row.s, row.tau), row.u, row.tau)
    return reading(row, row.u / row.tau**2, fast=fast, dense=expected(row) @ row.u)


# ── the natural gradient ────────────────────────────────────────────────────────────────────────────────────────────


def pseudo_inverse(row: Row) -> Tensor:
    """F⁺ by dense linear algebra: all eigenvalues of τ²F but one are at least the least weight, by interlacing."""
    cut = float(row.weights.min()) / 2 / row.tau**2
    return torch.linalg.pinv(expected(row), atol=cut, rtol=0.0, hermitian=True)


def naturals(row: Row) -> dict[str, Tensor]:
    """−F⁺∇L by three routes."""
    p = one_sided.plan(row.s, row.tau)
    return {
        "dense": pseudo_inverse(row) @ descent(row, row.u),
        "product": fisher.pseudo_inverse_product(p, descent(row, row.u), row.tau),
        "direction": fisher.natural_direction(p, row.u, row.tau),
    }


def natural(row: Row) -> Reading:
    return reading(row, steep(row), **naturals(row))


def natural_differences(row: Row) -> Reading:
    return reading(row, steep(row), **{name: x[:, None] - x[None, :] for name, x in naturals(row).items()})


confirms(TORCH, "eot.thm7.3", on=mild_rows(), count=10, corrected=natural_differences)(natural)
confirms(TORCH, "eot.99", on=mild_rows(), count=10, corrected=natural)(natural)


def undone(row: Row) -> Reading:
    product = partial(fisher.pseudo_inverse_product, one_sided.plan(row.s, row.tau), temperature=row.tau)
    return reading(row, steep(row), dense=pseudo_inverse(row) @ expected(row), product=product(closed(row)).T)


@confirms(TORCH, "eot.98", on=mild_rows(), count=10, corrected=undone)
def no_inverse(row: Row) -> Reading:
    return reading(row, steep(row), dense=(expected(row) @ named(row, "G")).sum())


@confirms(TORCH, "eot.s7.direction", on=mild_rows(), count=10)
def moves(row: Row) -> Reading:
    p = one_sided.plan(row.s, row.tau)
    routes = {name: fisher.jacobian_product(p, x, row.tau) for name, x in naturals(row).items()}
    return reading(row, steep(row), **routes)


@confirms(TORCH, "eot.s7.dual", on=mild_rows(), count=10)
def paired(row: Row) -> Reading:
    routes = {name: x @ expected(row) @ named(row, "v") for name, x in naturals(row).items()}
    return reading(row, steep(row), **routes)


# ── Hessians ────────────────────────────────────────────────────────────────────────────────────────────────────────


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


confirms(TORCH, "eot.cor7.5", *(f"eot.{n}" for n in range(100, 104)), "eot.rem7.6", "eot.s7.softmax-derivative",
         on=SMALL, count=10)(potential_hessian)
confirms(TORCH, "eot.s7.fisher-scaled", on=SMALL, count=10, corrected=potential_hessian)(potential_hessian)


@confirms(TORCH, "eot.s6.curvature", on=SMALL, count=10)
def value_hessian(row: Row) -> Reading:
    return reading(row, row.s / row.tau, 1 / row.tau, autograd=hessian(lambda s: value(s, row), row.s))


@confirms(TORCH, "eot.s7.information-distance", on=SMALL, count=10)
def divergence_curvature(row: Row) -> Reading:
    v, own = named(row, "v"), torch.log_softmax(row.s / row.tau, -1)

    def divergence(t: Tensor) -> Tensor:
        return (own.exp() * (own - torch.log_softmax((row.s + t * v) / row.tau, -1))).sum()

    curvature = hessian(divergence, named(row, "t"))
    return reading(row, (1 + v.abs().max()) ** 3 * (1 + named(row, "t")) / row.tau**2, autograd=curvature)
