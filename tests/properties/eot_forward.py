"""Sections 1 and 3 of eot in torch: closed forms and autograd against the proved expressions."""

from __future__ import annotations

from itertools import product

import torch
from hypothesis import strategies as st
from torch import Tensor
from torch.autograd.functional import jacobian

from derivations.claims import Layer
from numerics import one_sided, tolerances
from tests.layers import Reading, choose, confirms
from tests.properties.rows import Row, rows

TORCH = Layer.TORCH


def gradient(function, at: Tensor) -> Tensor:  # type: ignore[no-untyped-def]
    """∂function/∂at by autograd."""
    at = at.clone().requires_grad_()
    return torch.autograd.grad(function(at), at)[0]


def reading(row: Row, *magnitudes: Tensor | float, **routes: Tensor) -> Reading:
    """Routes at a row, with the tolerance for these magnitudes and the routes' own."""
    return Reading(row.point(), routes, row.tolerance(*magnitudes, *routes.values()))


# ── the problem ─────────────────────────────────────────────────────────────────────────────────────────────────────


@confirms(TORCH, "eot.1", on=rows())
def weights_times_partition(row: Row) -> Reading:
    closed = one_sided.plan(row.s, row.tau) * one_sided.log_partition(row.s, row.tau).exp()
    plain = row.weights * (row.s / row.tau).exp().sum()
    return reading(row, closed_form=closed, softmax=plain)


@confirms(TORCH, "eot.3", on=rows())
def objective_of_uniform(row: Row) -> Reading:
    return reading(row, closed_form=one_sided.objective(torch.full_like(row.s, 1 / row.m), row.s, row.tau))


@confirms(TORCH, "eot.5", on=rows())
def objective(row: Row) -> Reading:
    shares = row["p"] / row["p"].sum()
    direct = -(shares * row.s).sum() + row.tau * torch.xlogy(shares, shares).sum()
    routes = {"closed_form": one_sided.objective(shares, row.s, row.tau), "direct": direct}
    return Reading(row.point() | {"p": shares}, routes, row.tolerance(row.s, row.tau))


@confirms(TORCH, "eot.6", "eot.18", "eot.thm3.3", "eot.s1.forward-pass", "eot.rem3.5", on=rows())
def plan(row: Row) -> Reading:
    scores = one_sided.scores_from(row["Q"], row["K"])
    return reading(row, closed_form=one_sided.plan(scores, row.tau), softmax=row.weights)


@confirms(TORCH, "eot.s3.trade-off", on=rows())
def entropy_slope(row: Row) -> Reading:
    slope = gradient(
        lambda tau: one_sided.entropy(one_sided.plan(row.s, tau)), torch.tensor(row.tau, dtype=torch.float64)
    )
    return reading(row, row.s.square() / row.tau**3, autograd=slope)


def shifted(row: Row) -> Reading:
    shares = row["p"] / row["p"].sum()
    value = one_sided.objective(shares, row.s - row["t"], row.tau)
    return Reading(row.point() | {"p": shares}, {"closed_form": value}, row.tolerance(row.s, row["t"], row.tau))


@confirms(TORCH, "eot.s3.nonnegative-cost", on=rows(), corrected=shifted)
def cost(row: Row) -> Reading:
    return reading(row, closed_form=-one_sided.scores_from(row["Q"], row["K"]))


# ── the Lagrangian ──────────────────────────────────────────────────────────────────────────────────────────────────


def lagrangian(p: Tensor, row: Row) -> Tensor:
    """J(p) + λ(1 − Σ p) for any p > 0."""
    return one_sided.objective(p, row.s, row.tau) + row["lam"] * (1 - p.sum())


@confirms(TORCH, "eot.7", on=rows())
def lagrangian_value(row: Row) -> Reading:
    return reading(row, row["p"] * row.s, row["lam"] * row["p"], closed_form=lagrangian(row["p"], row))


@confirms(TORCH, *(f"eot.{number}" for number in range(8, 15)), on=rows())
def lagrangian_slope(row: Row) -> Reading:
    return reading(row, row.s, row["lam"], row.tau, autograd=gradient(lambda p: lagrangian(p, row), row["p"]))


@confirms(TORCH, "eot.s3.proportional", "eot.s1.argmax-proxy", on=rows())
def ratios(row: Row) -> Reading:
    p = one_sided.plan(row.s, row.tau)
    return reading(row, closed_form=p[:, None] / p[None, :])


@confirms(TORCH, "eot.15", on=rows())
def mass(row: Row) -> Reading:
    return reading(row, closed_form=one_sided.plan(row.s, row.tau).sum())


@confirms(TORCH, "eot.16", on=rows())
def mass_without_constant(row: Row) -> Reading:
    return reading(
        row,
        closed_form=one_sided.log_partition(row.s, row.tau).exp() / row["Z"],
        term_by_term=((row.s / row.tau).exp() / row["Z"]).sum(),
    )


@confirms(TORCH, "eot.17", on=rows())
def constant(row: Row) -> Reading:
    return reading(
        row,
        closed_form=(row.s / row.tau).exp() / one_sided.plan(row.s, row.tau),
        log_partition=one_sided.log_partition(row.s, row.tau).exp().expand(row.m),
    )


@confirms(TORCH, "eot.s3.interior-solution", on=rows())
def positive_weights(row: Row) -> Reading:
    return reading(row, closed_form=one_sided.plan(row.s, row.tau))


# ── remarks ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def sign_vectors(d: int) -> Tensor:
    """All vectors of ±1: a law with independent entries of mean 0 and variance 1, enumerated exactly."""
    return torch.tensor(list(product((-1.0, 1.0), repeat=d)), dtype=torch.float64)


def dot_product_variance(d: int) -> Tensor:
    """Var⟨x, y⟩ over all pairs of sign vectors."""
    signs = sign_vectors(d)
    return (signs @ signs.T).var(correction=0)


WIDTHS = choose(d=st.integers(1, 5))


@confirms(TORCH, "eot.rem3.4", on=WIDTHS, count=20)
def variance_of_dot(drawn: dict[str, int]) -> Reading:
    d = drawn["d"]
    return Reading(drawn, {"enumerated": dot_product_variance(d)}, tolerances.rounding("float64", 4**d, d * d))


@confirms(TORCH, "eot.s3.unit-variance", on=WIDTHS, count=20)
def variance_of_scaled_dot(drawn: dict[str, int]) -> Reading:
    d = drawn["d"]
    return Reading(drawn, {"enumerated": dot_product_variance(d) / d}, tolerances.rounding("float64", 4**d, d))


# ── what the introduction says of the backward pass ─────────────────────────────────────────────────────────────────


def descent(row: Row, utilities: Tensor) -> Tensor:
    """−∂L/∂s by autograd, for a loss that is linear in the weights."""
    return gradient(lambda s: (utilities * one_sided.plan(s, row.tau)).sum(), row.s)


@confirms(TORCH, "eot.s1.policy-gradient", on=rows())
def policy_gradient(row: Row) -> Reading:
    return reading(row, row.u / row.tau, autograd=descent(row, row.u))


@confirms(TORCH, "eot.s1.geometry", on=rows())
def fisher_product(row: Row) -> Reading:
    scores = jacobian(lambda s: torch.log_softmax(s / row.tau, -1), row.s)
    fisher = scores.T @ (row.weights[:, None] * scores)
    return reading(row, row.u / row.tau, autograd=descent(row, row.u), fisher=row.tau * fisher @ row.u)
