"""More maps from scores to sparse weights: normmax, sparsemax with a budget, and the thresholds of sparsemax and entmax.

    normmax     max over the simplex of ⟨p, x⟩ − ‖p‖_α
    budget      max of ⟨p, x⟩ − ‖p‖²/2 over 0 ≤ p ≤ 1 with Σ_j p_j = B

Names and signatures are those of the ``entmax`` package, and these functions can replace it.

Notation    X = scores, x one row of them; α = alpha, β = α − 1; B = budget; τ = threshold; n = size of the support
Solution    normmax: r_j = (x_j − τ)_+^{1/β} with Σ_j r_j^α = 1, and p = r/Σ_j r_j, because the gradient of ‖p‖_α is
            (p_j/‖p‖_α)^β. Budget: p_j = min(max(x_j − τ, 0), 1). Bisection finds τ.
Derivatives In X, α and B, in forward and reverse mode, but where a p_j just reaches 0 or 1. Budget: of every order, τ being
            linear in what lies strictly between 0 and 1. normmax: up to the third, because from the solution two steps of
            Newton's method are taken that see the data, and each doubles the order to which they know τ.
Precision   normmax loses log(1/β) digits as β → 0, where it becomes the indicator of the largest score.
Conventions Rows live on ``dim``; a score of −inf gets 0; a row with nothing left gives zeros. ``numerics.arguments``
References  Blondel, Martins & Niculae 2020 (normmax: norm entropies); Malaviya, Ferreira & Martins 2018 (budgets).
"""

import math
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn

from numerics.arguments import (
    Positive,
    check_count,
    compute_dtype,
    describe,
    is_dense,
    known_true,
    on_cpu,
    one_per_row,
    real,
    within,
)
from numerics.regularizers import entmax15, entmax_bisect, hold, sparsemax

_TURNS_UNSEEN = 20
"""How many halvings are made before checking whether the ends of an interval still differ."""


def sparsemax_bisect(X: Tensor, dim: int = -1, n_iter: int = 50, ensure_sum_one: bool = True) -> Tensor:
    """Return the sparsemax of the scores by bisection: see ``entmax_bisect``, here with α = 2."""
    return entmax_bisect(X, 2.0, dim, n_iter, ensure_sum_one)


def normmax_bisect(X: Tensor, alpha: Positive = 2, dim: int = -1, n_iter: int = 50) -> Tensor:
    """Return the α-normmax of the scores, the p that maximizes ⟨p, x⟩ − ‖p‖_α over the simplex.

    Args:
        X: scores, floating, with at least one entry along ``dim``.
        alpha: above 1, a number, or a floating tensor that expands to the shape of X with ``dim`` of size 1. What is
            not above 1 in a tensor is refused as ``arguments.within`` says.
        dim: where the rows live.
        n_iter: how many times to halve the interval that holds τ, ≥ 1; the steps that follow supply the missing digits.

    Returns:
        The shape and dtype of X.

    Raises:
        ValueError: for a shape, dtype or number other than these.
        IndexError: if X has no dimension ``dim``.
    """
    check_count("n_iter", n_iter)
    x, live = _rows(X, dim)
    a = _per_row("alpha", alpha, X, dim, lambda value: 1 < value < math.inf, "a number above 1")
    a = within("alpha", a, a > 1, "numbers above 1")
    x = x - x.amax(-1, keepdim=True).detach()

    def excess(tau: Tensor, x: Tensor, a: Tensor) -> tuple[Tensor, Tensor]:
        """Return Σ r^α − 1 and r."""
        r = torch.where(x > tau, torch.where(x > tau, x - tau, 1.0) ** (1 / (a - 1)), 0.0)
        return (r * (x - tau).clamp(min=0)).sum(-1, keepdim=True) - 1, r

    def sum_at_least_one(tau: Tensor) -> Tensor:
        return ((x - tau).relu_() ** (a / (a - 1))).sum(-1, keepdim=True) >= 1

    with torch.no_grad():
        zero = torch.zeros_like(x[..., :1]) + torch.zeros_like(a)
        tau = _bisected(zero - 1, zero, sum_at_least_one, n_iter)  # the largest r is at most 1
    for _ in range(2):
        residual, r = excess(tau, x, a)
        tau = tau + residual * (a - 1) / (a * r.sum(-1, keepdim=True))
    r = excess(tau, x, a)[1]
    return _back(r / r.sum(-1, keepdim=True), live, dim, X)


def budget_bisect(X: Tensor, budget: Positive = 2, dim: int = -1, n_iter: int = 50) -> Tensor:
    """Return the p nearest to the scores with 0 ≤ p ≤ 1 and Σ_j p_j = B.

    Args:
        X: scores, floating, with at least one entry along ``dim``.
        budget: B, from 0 to the number of entries; a number, or a floating tensor that expands to the shape of X with
            ``dim`` of size 1. What is negative in a tensor is refused as ``arguments.within`` says. A row in which fewer than
            B entries are left gives ones there.
        dim: where the rows live.
        n_iter: how many times to halve the interval that holds τ, ≥ 1; entries left in it are then separated exactly.

    Returns:
        The shape and dtype of X.

    Raises:
        ValueError: for a shape, dtype or number other than these.
        IndexError: if X has no dimension ``dim``.
    """
    check_count("n_iter", n_iter)
    x, live = _rows(X, dim)
    m = x.shape[-1]
    total = _per_row("budget", budget, X, dim, lambda value: 0 <= value <= m, f"a number from 0 to {m}")
    total = within("budget", total, total >= 0, "numbers from 0 on")
    x = x - x.amax(-1, keepdim=True).detach()

    def sum_at_least_budget(tau: Tensor) -> Tensor:
        return (x - tau).clamp(0, 1).sum(-1, keepdim=True) >= total

    with torch.no_grad():
        least = torch.where(x == -torch.inf, 0.0, x).amin(-1, keepdim=True)
        tau = _bisected(least - 1, torch.zeros_like(least), sum_at_least_budget, n_iter)
        between, full = (x > tau) & (x < tau + 1), x >= tau + 1
        count = between.sum(-1, keepdim=True)
    total_inside = torch.where(between, x, 0.0).sum(-1, keepdim=True) + full.sum(-1, keepdim=True)
    p = torch.where(between, (x - (total_inside - total) / count.clamp(min=1)).clamp(0, 1), full.to(x))
    # With no entry between 0 and 1 the budget is an integer: the largest entries have it all.
    return _back(torch.where(total.isnan(), total, p), live, dim, X)


def sparsemax_threshold(X: Tensor, dim: int = -1, k: int | None = None) -> tuple[Tensor, Tensor]:
    """Return τ and the size of the support of p_j = max(x_j − τ, 0), the sparsemax of the scores.

    Arguments and errors as for ``sparsemax``.

    Returns:
        τ, in the dtype of X, differentiable; −inf for a row with nothing left. The size, int64. Both have the shape of X with
        ``dim`` of size 1.
    """
    return _threshold(X, partial(sparsemax, dim=dim, k=k), dim, 1.0)


def entmax15_threshold(X: Tensor, dim: int = -1, k: int | None = None) -> tuple[Tensor, Tensor]:
    """Return τ and the size of the support of p_j = max(x_j/2 − τ, 0)², the 3/2-entmax of the scores.

    Arguments, results and errors as for ``sparsemax_threshold``.
    """
    return _threshold(X, partial(entmax15, dim=dim, k=k), dim, 0.5)


class SparsemaxBisect(nn.Module):
    """``sparsemax_bisect`` as a module."""

    def __init__(self, dim: int = -1, n_iter: int = 50) -> None:
        super().__init__()
        self.dim, self.n_iter = dim, n_iter

    def forward(self, X: Tensor) -> Tensor:
        """Return ``sparsemax_bisect(X)``."""
        return sparsemax_bisect(X, self.dim, self.n_iter)


class NormmaxBisect(nn.Module):
    """``normmax_bisect`` as a module; α as in ``EntmaxBisect``."""

    alpha: Positive

    def __init__(self, alpha: Positive = 2, dim: int = -1, n_iter: int = 50) -> None:
        super().__init__()
        hold(self, "alpha", alpha)
        self.dim, self.n_iter = dim, n_iter

    def forward(self, X: Tensor) -> Tensor:
        """Return ``normmax_bisect(X)``."""
        return normmax_bisect(X, self.alpha, self.dim, self.n_iter)


class BudgetBisect(nn.Module):
    """``budget_bisect`` as a module; B is kept as α is in ``EntmaxBisect``."""

    budget: Positive

    def __init__(self, budget: Positive = 2, dim: int = -1, n_iter: int = 50) -> None:
        super().__init__()
        hold(self, "budget", budget)
        self.dim, self.n_iter = dim, n_iter

    def forward(self, X: Tensor) -> Tensor:
        """Return ``budget_bisect(X)``."""
        return budget_bisect(X, self.budget, self.dim, self.n_iter)


# ── pieces ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _rows(X: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """Return the scores with their rows last, zero where nothing is left, and which rows have something left."""
    if not is_dense(X) or not X.is_floating_point() or X.ndim == 0 or X.shape[dim] == 0:
        raise ValueError(f"X: expected a floating tensor with at least one entry along dim {dim}, got {describe(X)}")
    x = X.to(compute_dtype(X.dtype)).movedim(dim, -1)
    live = (x != -torch.inf).any(-1, keepdim=True)
    return torch.where(live, x, 0.0), live


def _back(p: Tensor, live: Tensor, dim: int, X: Tensor) -> Tensor:
    return torch.where(live, p, 0.0).movedim(-1, dim).to(X.dtype)


def _per_row(name: str, value: Positive, X: Tensor, dim: int, fits: Callable[[float], bool], expected: str) -> Tensor:
    """Return a number or tensor as a tensor that broadcasts with the rows, in their dtype."""
    if isinstance(value, Tensor):
        return one_per_row(name, value, X, dim, f"{expected},")
    number = real(value)
    if not fits(number):
        raise ValueError(f"{name}: expected {expected}, or a tensor, got {value!r}")
    return X.new_full((1,), number, dtype=compute_dtype(X.dtype))


def _bisected(low: Tensor, high: Tensor, is_low: Callable[[Tensor], Tensor], n_iter: int) -> Tensor:
    """Return the largest τ for which ``is_low`` holds, as far as the dtype can tell; it fails for all larger ones."""
    for turn in range(n_iter):
        middle = (low + high) / 2
        if turn >= _TURNS_UNSEEN and on_cpu(low) and known_true((middle == low) | (middle == high)):
            break
        above = is_low(middle)
        low, high = torch.where(above, middle, low), torch.where(above, high, middle)
    return low


def _threshold(X: Tensor, weights: Callable[[Tensor], Tensor], dim: int, beta: float) -> tuple[Tensor, Tensor]:
    """Return τ = βx − p^β at the largest p, which is at least 1/m, and the size of the support."""
    _rows(X, dim)  # refuses what is no scores
    x = X.to(compute_dtype(X.dtype))
    plan = weights(x)
    size = (plan > 0).sum(dim, keepdim=True)
    live = size > 0
    top = torch.where(live, plan.amax(dim, keepdim=True), 1.0)
    tau = beta * x.amax(dim, keepdim=True) - (top if beta == 1.0 else top.sqrt())
    return torch.where(live, tau, -torch.inf).to(X.dtype), size
