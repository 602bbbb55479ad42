"""The primal–dual gap of a plan whose marginals are relaxed, or met.

Notation    as in ``unbalanced``: P = plan; a, b = the marginals; κ = ε/ρ, 0 for a marginal that is met exactly; v, w = what the
            sums of rows and columns should be
"""

import torch
from torch import Tensor

Pair = tuple[Tensor, Tensor]


def gap(plan: Tensor, marginals: Pair, kappas: Pair, wanted: Pair) -> Tensor:
    """Return the gap over ε, (...), at the plan beside P that meets what is to be met: its divergence from P and, over κ, those
    of its rows from v and of its columns from w.

    Args:
        plan: P, (..., n, m).
        marginals: a (..., n) and b (..., m).
        kappas: κ of rows and of columns, (..., 1) each.
        wanted: v (..., n) and w (..., m).
    """
    nearby = feasible(plan, marginals, kappas)
    relaxed = _relaxed(kappas[0], nearby.sum(-1), wanted[0]) + _relaxed(kappas[1], nearby.sum(-2), wanted[1])
    return relaxed + divergence(nearby.flatten(-2), plan.flatten(-2))


def feasible(plan: Tensor, marginals: Pair, kappas: Pair) -> Tensor:
    """Return P with less in rows and columns that are to be met exactly and have too much, and the rest where it lacks."""
    P, (source, target), exact_rows, exact_columns = plan, marginals, kappas[0] == 0, kappas[1] == 0
    both = exact_rows & exact_columns
    rows, columns = P.sum(-1), P.sum(-2)
    ratio = source / torch.where(rows > 0, rows, 1.0)
    P = P * torch.where(exact_rows, torch.where(both, ratio.clamp(max=1), ratio), 1.0).unsqueeze(-1)
    columns = P.sum(-2)
    ratio = target / torch.where(columns > 0, columns, 1.0)
    P = P * torch.where(exact_columns, torch.where(both, ratio.clamp(max=1), ratio), 1.0).unsqueeze(-2)
    short, wanting = (source - P.sum(-1)).clamp(min=0), (target - P.sum(-2)).clamp(min=0)
    total = short.sum(-1, keepdim=True)
    rest = short.unsqueeze(-1) * (wanting / torch.where(total > 0, total, 1.0)).unsqueeze(-2)
    return P + torch.where(both.unsqueeze(-1) & (plan > 0), rest, 0.0)


def _relaxed(kappa: Tensor, p: Tensor, q: Tensor) -> Tensor:
    """Return KL(p ‖ q)/κ, (...), where κ is not 0."""
    stiff = (kappa == 0).squeeze(-1)
    return torch.where(stiff, 0.0, divergence(p, q) / torch.where(stiff, 1.0, kappa.squeeze(-1)))


def divergence(p: Tensor, q: Tensor) -> Tensor:
    """Return Σ p log(p/q) − p + q over the last axis, to the digits of p/q − 1."""
    both = (p > 0) & (q > 0)
    P, Q = torch.where(both, p, 1.0), torch.where(both, q, 1.0)
    near = (P - Q).abs() < Q / 2
    t = torch.where(near, (P - Q) / Q, 0.0)
    terms = torch.where(near, Q * ((1 + t) * torch.log1p(t) - t), P * (P.log() - Q.log()) - P + Q)
    return torch.where(both, terms, torch.where(p > 0, torch.inf, q)).sum(-1)
