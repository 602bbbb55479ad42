"""Section 6 of eot in torch: the value function, its gradient and the log-sum-exp potential against the proved expressions."""

from __future__ import annotations

import torch
from torch import Tensor

from derivations.claims import Layer
from numerics import fisher, one_sided
from tests.bridge import Value
from tests.layers import Reading, confirms
from tests.properties.eot_forward import gradient
from tests.properties.rows import Row, rows

TORCH = Layer.TORCH


def more(row: Row) -> dict[str, Value]:
    """What section 6 names besides the row: points p, x, y of the simplex, a step t > 0, a level φ, a constant γ."""
    generator = torch.Generator().manual_seed(row.seed + 1)
    shares = torch.rand(3, row.m, generator=generator, dtype=torch.float64) + 1e-3
    shares = shares / shares.sum(-1, keepdim=True)
    numbers = torch.randn(2, generator=generator, dtype=torch.float64)
    return {"p": shares[0], "x": shares[1], "y": shares[2], "t": row["t"].abs().cpu(), "φ": numbers[0], "γ": numbers[1]}


def reading(row: Row, *magnitudes: Tensor | float, free: bool = False, **routes: Tensor) -> Reading:
    """Routes at a row; `free` keeps its p > 0 that is not normalized."""
    named = more(row)
    point = row.point() | named | ({"p": row["p"].cpu()} if free else {})
    return Reading(point, routes, row.tolerance(row.s, row.tau, *magnitudes, *routes.values()))


def number(row: Row, name: str) -> Tensor:
    """One of the named numbers or vectors, on the row's device."""
    return torch.as_tensor(more(row)[name]).to(row.device)


def value(scores: Tensor, row: Row) -> Tensor:
    """V(s) = J(p*(s), s), the plan moving with the scores."""
    return one_sided.objective(one_sided.plan(scores, row.tau), scores, row.tau)


# ── the value function ──────────────────────────────────────────────────────────────────────────────────────────────


@confirms(TORCH, "eot.def6.1", on=rows(), count=16)
def least_value(row: Row) -> Reading:
    return reading(row, closed_form=value(row.s, row))


@confirms(TORCH, "eot.65", on=rows(), count=16)
def objective(row: Row) -> Reading:
    return reading(row, closed_form=one_sided.objective(number(row, "p"), row.s, row.tau))


@confirms(TORCH, "eot.66", on=rows(), count=16)
def plan(row: Row) -> Reading:
    return reading(row, closed_form=one_sided.plan(row.s, row.tau), softmax=row.weights)


@confirms(TORCH, "eot.s6.trade-off", on=rows(), count=16)
def best_trade_off(row: Row) -> Reading:
    return reading(row, closed_form=-value(row.s, row))


@confirms(TORCH, "eot.s6.sensitivity", on=rows(), count=16)
def sensitivity(row: Row) -> Reading:
    slope = gradient(lambda t: value(row.s + t * row.u, row), number(row, "t"))
    return reading(row, row.u, (1 + number(row, "t")) * row.u / row.tau, autograd=slope)


@confirms(TORCH, "eot.s6.second-order", on=rows(), count=16)
def second_order(row: Row) -> Reading:
    t = number(row, "t")
    slope = gradient(lambda t: one_sided.objective(one_sided.plan(row.s + t * row.u, row.tau), row.s, row.tau), t)
    largest = row.u.abs().max()
    return reading(row, (1 + row.s.abs().max() + t * largest) * (1 + largest) ** 2 / row.tau, autograd=slope)


def value_slope(row: Row) -> Reading:
    return reading(row, autograd=gradient(lambda s: value(s, row), row.s))


confirms(TORCH, "eot.lem6.2", *(f"eot.{n}" for n in range(67, 71)), on=rows(), count=16)(value_slope)
confirms(TORCH, "eot.s6.landscape", on=rows(), count=16, corrected=value_slope)(value_slope)


def slope_in_plan(row: Row) -> Tensor:
    """∇_p J at p*."""
    return gradient(lambda p: one_sided.objective(p, row.s, row.tau), one_sided.plan(row.s, row.tau))


def along_the_simplex(row: Row) -> Reading:
    slope = slope_in_plan(row)
    return reading(row, slope, autograd=slope @ (number(row, "x") - number(row, "y")))


@confirms(TORCH, "eot.s6.flat", on=rows(), count=16, corrected=along_the_simplex)
def flat(row: Row) -> Reading:
    return reading(row, autograd=slope_in_plan(row))


@confirms(TORCH, "eot.s6.information", on=rows(), count=16)
def along_the_ray(row: Row) -> Reading:
    t = number(row, "t")
    return reading(row, (1 + t) * row.s.abs().max() / row.tau, autograd=gradient(lambda t: value(t * row.s, row), t))


@confirms(TORCH, "eot.s6.up-to-constant", on=rows(), count=16)
def another_potential(row: Row) -> Reading:
    return reading(row, autograd=gradient(lambda s: number(row, "γ") - value(s, row), row.s))


# ── Theorem 6.3 ─────────────────────────────────────────────────────────────────────────────────────────────────────


@confirms(TORCH, "eot.71", on=rows(), count=16)
def level(row: Row) -> Reading:
    own = row.s - row.tau * torch.log_softmax(row.s / row.tau, -1)
    return reading(row, log_softmax=own, closed_form=fisher.potential(row.s, row.tau).expand(row.m))


def lagrangian(p: Tensor, row: Row, multiplier: Tensor) -> Tensor:
    """J(p) + λ(1 − Σ p) for any p > 0."""
    return one_sided.objective(p, row.s, row.tau) + multiplier * (1 - p.sum())


@confirms(TORCH, "eot.72", on=rows(), count=16)
def lagrangian_value(row: Row) -> Reading:
    closed = lagrangian(row["p"], row, row["lam"])
    return reading(row, row["p"] * row.s, row["lam"] * row["p"], row["p"] ** 2, free=True, closed_form=closed)


@confirms(TORCH, "eot.74", on=rows(), count=16)
def lagrangian_slope(row: Row) -> Reading:
    multiplier = row.tau - number(row, "φ")
    return reading(row, free=True, autograd=gradient(lambda p: lagrangian(p, row, multiplier), row["p"]))


@confirms(TORCH, "eot.75", "eot.76", on=rows(), count=16)
def mass(row: Row) -> Reading:
    phi = number(row, "φ")
    return reading(
        row,
        (phi.abs() / row.tau).exp() * (row.s / row.tau).exp().sum(),
        direct=((row.s - phi) / row.tau).exp().sum(),
        closed_form=((fisher.potential(row.s, row.tau) - phi) / row.tau).exp(),
    )


@confirms(TORCH, "eot.77", on=rows(), count=16)
def logarithm_of_mass(row: Row) -> Reading:
    phi = number(row, "φ")
    closed = fisher.potential(row.s, row.tau) - phi
    return reading(row, phi, logsumexp=row.tau * torch.logsumexp((row.s - phi) / row.tau, -1), closed_form=closed)


@confirms(TORCH, "eot.s6.potential-gradient", on=rows(), count=16)
def potential_slope(row: Row) -> Reading:
    return reading(row, autograd=gradient(lambda s: fisher.potential(s, row.tau), row.s))


@confirms(TORCH, "eot.rem6.4", on=rows(), count=16)
def potential(row: Row) -> Reading:
    return reading(row, closed_form=fisher.potential(row.s, row.tau))


@confirms(TORCH, "eot.rem6.5", on=rows(), count=16)
def conjugate(row: Row) -> Reading:
    p = one_sided.plan(row.s, row.tau)
    return reading(row, closed_form=p @ row.s + row.tau * one_sided.entropy(p))


def dual(row: Row) -> Reading:
    """The dual function where its slope, by autograd, is 0."""
    multiplier = row.tau - fisher.potential(row.s, row.tau)

    def g(level: Tensor) -> Tensor:
        return level - row.tau * ((row.s + level - row.tau) / row.tau).exp().sum()

    stationary = multiplier - gradient(g, multiplier) * row.tau   # a Newton step: g'' = −1/τ there
    return reading(row, dual_function=g(stationary))


confirms(TORCH, "eot.thm6.3", "eot.s6.dual-value", on=rows(), count=16, corrected=dual)(dual)
confirms(TORCH, "eot.s6.strong-duality", on=rows(), count=16)(dual)
