"""Section 6 of eot in torch: the value function, its gradient and the log-sum-exp potential against the proved expressions."""

import torch
from torch import Tensor

from evidence import Reading, Value
from evidence.instances.derivatives import gradient
from evidence.instances.one_sided import Row
from numerics import fisher, one_sided


def more(row: Row) -> dict[str, Value]:
    """The variables of section 6 besides the row: points p, x, y of the simplex, a step t > 0, a level φ, a constant γ."""
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


def level(row: Row) -> Reading:
    own = row.s - row.tau * torch.log_softmax(row.s / row.tau, -1)
    return reading(row, log_softmax=own, closed_form=fisher.potential(row.s, row.tau).expand(row.m))


def dual(row: Row) -> Reading:
    """The dual function where its slope, by autograd, is 0."""
    multiplier = row.tau - fisher.potential(row.s, row.tau)

    def g(level: Tensor) -> Tensor:
        return level - row.tau * ((row.s + level - row.tau) / row.tau).exp().sum()

    stationary = multiplier - gradient(g, multiplier) * row.tau  # a Newton step: g'' = −1/τ there
    return reading(row, dual_function=g(stationary))
