"""Fenchel–Young losses: the loss of scores x with target weights y that a regularizer Ω defines.

    L(x; y) = Ω*(x) + Ω(y) − ⟨x, y⟩ ≥ 0,  with equality exactly at y = p(x), the weights that Ω makes of x;  ∂L/∂x = p(x) − y.

Names and signatures are those of the ``entmax`` package where it has them; the rest have those of ``fenchel-young-losses``.

Claims      eot.prop4.3 (the problem whose value Ω* is)
Notation    X = scores, (..., m), rows last; target = labels (...), int64, or weights y, (..., m), floating; α = alpha
Regularizers
            logistic    Σ p log p, on the simplex: α = 1               one-vs-all  Σ p log p + (1 − p) log(1 − p), on the cube
            Tsallis     Σ (p^α − p)/(α(α − 1)); sparsemax has α = 2    normmax     ‖p‖_α − 1
            squared     ‖μ‖²/2, everywhere                             perceptron  0, on the simplex: α = ∞
Derivatives In X, of every order that its weights have; in y, of the first: ∂L/∂y = ∇Ω(y) − x. None in α: it is a constant.
Values      No loss is negative: one that rounding takes below zero is set to zero.
Masks       A score of −inf is masked. A label that is masked has an infinite loss.
References  Blondel, Martins & Niculae 2020.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import forward_ad

from numerics import one_sided
from numerics.arguments import Positive, check_positive, compute_dtype, describe, is_dense
from numerics.regularizers import entmax15, entmax_bisect, sparsemax
from numerics.sparse_maps import normmax_bisect, sparsemax_bisect

_REDUCTIONS = ("elementwise_mean", "mean", "sum", "none")


def sparsemax_loss(X: Tensor, target: Tensor, k: int | None = None) -> Tensor:
    """Return the sparsemax loss of every row.

    Args:
        X: scores, floating, (..., m).
        target: labels, int64, (...), from 0 to m − 1; or weights, floating, (..., m).
        k: as for ``sparsemax``.

    Returns:
        (...), in the dtype of X.

    Raises:
        ValueError: for a shape, dtype or number other than these.
    """
    return _plan_loss(X, target, lambda x: sparsemax(x, k=k), lambda p: _tsallis(p, 2.0))


def sparsemax_bisect_loss(X: Tensor, target: Tensor, n_iter: int = 50) -> Tensor:
    """Return the sparsemax loss, by bisection. Arguments, result and errors as for ``sparsemax_loss``."""
    return _plan_loss(X, target, lambda x: sparsemax_bisect(x, n_iter=n_iter), lambda p: _tsallis(p, 2.0))


def entmax15_loss(X: Tensor, target: Tensor, k: int | None = None) -> Tensor:
    """Return the 3/2-entmax loss. Arguments, result and errors as for ``sparsemax_loss``."""
    return _plan_loss(X, target, lambda x: entmax15(x, k=k), lambda p: _tsallis(p, 1.5))


def entmax_bisect_loss(X: Tensor, target: Tensor, alpha: Positive = 1.5, n_iter: int = 50) -> Tensor:
    """Return the α-entmax loss: the logistic one for α = 1, sparsemax's for α = 2.

    Args:
        X: as for ``sparsemax_loss``.
        target: as for ``sparsemax_loss``.
        alpha: as for ``entmax_bisect``, without a gradient.
        n_iter: as for ``entmax_bisect``.
    """
    alpha = _constant("alpha", alpha)
    if not isinstance(alpha, Tensor) and alpha == 1:
        return logistic_loss(X, target)
    return _plan_loss(X, target, lambda x: entmax_bisect(x, alpha, n_iter=n_iter), lambda p: _tsallis(p, alpha))


def normmax_bisect_loss(X: Tensor, target: Tensor, alpha: Positive = 2, n_iter: int = 50) -> Tensor:
    """Return the α-normmax loss. Arguments, result and errors as for ``entmax_bisect_loss``, with α > 1."""
    alpha = _constant("alpha", alpha)
    return _plan_loss(X, target, lambda x: normmax_bisect(x, alpha, n_iter=n_iter), lambda p: _norm(p, alpha))


def logistic_loss(X: Tensor, target: Tensor) -> Tensor:
    """Return the logistic loss, cross-entropy less the entropy of y. Arguments and errors as for ``sparsemax_loss``."""
    return _loss(X, target, lambda x: one_sided.log_partition(x), lambda y: -one_sided.entropy(y))


def logistic_ova_loss(X: Tensor, target: Tensor) -> Tensor:
    """Return the sum of m binary logistic losses, one-vs-all. Arguments and errors as for ``sparsemax_loss``."""

    def omega(y: Tensor) -> Tensor:
        return -one_sided.entropy(y) - one_sided.entropy(1 - y)

    return _loss(X, target, lambda x: nn.functional.softplus(x).sum(-1), omega, simplex=False)


def perceptron_loss(X: Tensor, target: Tensor) -> Tensor:
    """Return max_j x_j − ⟨x, y⟩. Arguments and errors as for ``sparsemax_loss``."""
    return _loss(X, target, lambda x: x.amax(-1), lambda y: y.new_zeros(y.shape[:-1]))


def squared_loss(X: Tensor, target: Tensor) -> Tensor:
    """Return ‖x − y‖²/2. Arguments and errors as for ``sparsemax_loss``; y may be anything."""
    x, y, dtype = _checked(X, target)
    return ((x - (_one_hot(y, x) if y.ndim < x.ndim else y)).square().sum(-1) / 2).to(dtype)


# ── modules ─────────────────────────────────────────────────────────────────────────────────────────────────────────


class FenchelYoungLoss(nn.Module):
    """A loss as a module: of rows, then reduced.

    Args:
        loss: of X and a target, one number a row.
        predict: the weights, (..., m), at which its loss is zero, of X.
        ignore_index: a label whose rows count nothing, not even in the mean; none if it is negative.
        reduction: "elementwise_mean" or "mean" over the rows that count, "sum", or "none".
        options: of both functions.

    Raises:
        ValueError: for another reduction.
    """

    def __init__(
        self,
        loss: Callable[..., Tensor],
        predict: Callable[..., Tensor],
        ignore_index: int = -100,
        reduction: str = "elementwise_mean",
        **options: Any,
    ) -> None:
        super().__init__()
        if reduction not in _REDUCTIONS:
            raise ValueError(f"reduction: expected one of {', '.join(map(repr, _REDUCTIONS))}, got {reduction!r}")
        self.loss, self.predicted, self.options = loss, predict, options
        self.ignore_index, self.reduction = ignore_index, reduction

    def forward(self, X: Tensor, target: Tensor) -> Tensor:
        """Return the loss, of every row for the reduction "none", else one number; zero if no row counts."""
        counted = None
        if isinstance(target, Tensor) and target.dtype == torch.int64 and self.ignore_index >= 0:
            counted = target != self.ignore_index
            target = torch.where(counted, target, 0)
        rows = self.loss(X, target, **self.options)
        if counted is not None:
            rows = torch.where(counted, rows, 0.0)
        if self.reduction == "none":
            return rows
        if self.reduction == "sum":
            return rows.sum()
        return rows.sum() / (max(rows.numel(), 1) if counted is None else counted.sum().clamp(min=1))

    def predict(self, X: Tensor) -> Tensor:
        """Return the weights p(x) at which the loss is zero, (..., m)."""
        return self.predicted(X, **self.options)


class SparsemaxLoss(FenchelYoungLoss):
    """``sparsemax_loss`` as a module."""

    def __init__(self, k: int | None = None, ignore_index: int = -100, reduction: str = "elementwise_mean") -> None:
        super().__init__(sparsemax_loss, sparsemax, ignore_index, reduction, k=k)


class SparsemaxBisectLoss(FenchelYoungLoss):
    """``sparsemax_bisect_loss`` as a module."""

    def __init__(self, n_iter: int = 50, ignore_index: int = -100, reduction: str = "elementwise_mean") -> None:
        super().__init__(sparsemax_bisect_loss, sparsemax_bisect, ignore_index, reduction, n_iter=n_iter)


class Entmax15Loss(FenchelYoungLoss):
    """``entmax15_loss`` as a module."""

    def __init__(self, k: int | None = 100, ignore_index: int = -100, reduction: str = "elementwise_mean") -> None:
        super().__init__(entmax15_loss, entmax15, ignore_index, reduction, k=k)


class EntmaxBisectLoss(FenchelYoungLoss):
    """``entmax_bisect_loss`` as a module."""

    def __init__(
        self, alpha: Positive = 1.5, n_iter: int = 50, ignore_index: int = -100, reduction: str = "elementwise_mean"
    ) -> None:
        super().__init__(entmax_bisect_loss, entmax_bisect, ignore_index, reduction, alpha=alpha, n_iter=n_iter)


class NormmaxBisectLoss(FenchelYoungLoss):
    """``normmax_bisect_loss`` as a module."""

    def __init__(
        self, alpha: Positive = 2, n_iter: int = 50, ignore_index: int = -100, reduction: str = "elementwise_mean"
    ) -> None:
        super().__init__(normmax_bisect_loss, normmax_bisect, ignore_index, reduction, alpha=alpha, n_iter=n_iter)


# ── pieces ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _plan_loss(X: Tensor, target: Tensor, plan: Callable[[Tensor], Tensor], omega: Callable[[Tensor], Tensor]) -> Tensor:
    """Return the loss of an Ω on the simplex whose conjugate is ⟨p, x⟩ − Ω(p) at its plan p."""

    def conjugate(x: Tensor) -> Tensor:
        p = plan(x)
        with torch.no_grad():
            value = _paired(p, x) - omega(p)
        # torch.compile takes no function that has a jvp.
        apply: Callable[..., Tensor] = _ReverseConjugate.apply if torch.compiler.is_compiling() else _Conjugate.apply
        return apply(x, p, value, plan)

    return _loss(X, target, conjugate, omega)


class _ReverseConjugate(torch.autograd.Function):
    """A value whose derivative is the plan. That of ⟨p, x⟩ − Ω(p) has two more terms, which cancel but for their rounding."""

    @staticmethod
    def forward(x: Tensor, p: Tensor, value: Tensor, plan: Callable[[Tensor], Tensor]) -> Tensor:
        return value.clone()

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor, Tensor, Callable[[Tensor], Tensor]], output: Tensor) -> None:
        x, p, _, ctx.plan = inputs
        ctx.save_for_backward(p)
        ctx.save_for_forward(x)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None, None]:
        (p,) = ctx.saved_tensors
        return gradient.unsqueeze(-1) * p, None, None, None


class _Conjugate(_ReverseConjugate):
    """The same, for forward differentiation and ``torch.func`` too."""

    generate_vmap_rule = True

    @staticmethod
    def jvp(ctx: Any, tangent: Tensor, *_: object) -> Tensor:
        # As in ``regularizers``: the saved plan would count as constant, so it is made from x again.
        with forward_ad._set_fwd_grad_enabled(True):
            unpack: Callable[[Tensor], Any] = forward_ad.unpack_dual
            p: Tensor = ctx.plan(unpack(ctx.saved_tensors[0]).primal)
            return (p * torch.where(p > 0, tangent, 0.0)).sum(-1)


def _loss(
    X: Tensor, target: Tensor, conjugate: Callable[[Tensor], Tensor], omega: Callable[[Tensor], Tensor], *, simplex: bool = True
) -> Tensor:
    """Return Ω*(x) + Ω(y) − ⟨x, y⟩, on the simplex from differences to the largest score, which cost no digits."""
    x, y, dtype = _checked(X, target)
    peak = x.new_zeros((*x.shape[:-1], 1))
    if simplex:
        peak = x.amax(-1, keepdim=True).detach()
        peak = torch.where(peak == -torch.inf, 0.0, peak)
    x = x - peak
    if y.ndim < x.ndim:
        value = conjugate(x) - x.gather(-1, y.unsqueeze(-1)).squeeze(-1)
    else:
        value = conjugate(x) - _paired(y, x) + omega(y) + (peak.squeeze(-1) * (1 - y.sum(-1)) if simplex else 0.0)
    # A loss that is set to zero keeps its derivative.
    return (value + (value.clamp(min=0) - value).detach().nan_to_num(nan=0.0)).to(dtype)


def _paired(p: Tensor, x: Tensor) -> Tensor:
    """Return ⟨p, x⟩ with 0 · (−inf) = 0."""
    return (p * torch.where((p == 0) & (x == -torch.inf), 0.0, x)).sum(-1)


def _tsallis(p: Tensor, alpha: Positive) -> Tensor:
    """Return Σ p (p^{α−1} − 1)/(α(α − 1)), in the limit Σ p log p at α = 1, near which this form keeps its digits."""
    if not isinstance(alpha, Tensor):
        if alpha == 2:
            return (p * (p - 1)).sum(-1) / 2
        if alpha == 1.5:  # √p − 1 keeps its digits near 1 as a quotient
            root = torch.where(p > 0, p, 1.0).sqrt()
            return (p * (p - 1) / (root + 1)).sum(-1) / 0.75
    a = alpha.to(p).expand(*p.shape[:-1], 1) if isinstance(alpha, Tensor) else p.new_full((1,), alpha)
    beta = a - 1
    logarithm = torch.where(p > 0, p, 1.0).log()
    terms = torch.where(beta == 0, logarithm, (beta * logarithm).expm1() / torch.where(beta == 0, 1.0, beta))
    return (torch.where(p > 0, p * terms, 0.0) / a).sum(-1)


def _norm(p: Tensor, alpha: Positive) -> Tensor:
    a = alpha.to(p).expand(*p.shape[:-1], 1) if isinstance(alpha, Tensor) else alpha
    # Divided by the largest entry, whose power might underflow.
    top = p.detach().amax(-1, keepdim=True)
    total = _powers(p / torch.where(top > 0, top, 1.0), a).sum(-1, keepdim=True)
    total = torch.where(total > 0, total, 1.0)
    return (top * total ** (1 / a)).squeeze(-1) - 1


def _powers(p: Tensor, alpha: Positive) -> Tensor:
    """Return p^α, constant where p is 0: there a score has left the support."""
    positive = p > 0
    return torch.where(positive, torch.where(positive, p, 1.0) ** alpha, 0.0)


def _one_hot(labels: Tensor, x: Tensor) -> Tensor:
    return torch.zeros_like(x).scatter(-1, labels.unsqueeze(-1), 1.0)


def _checked(X: Tensor, target: Tensor) -> tuple[Tensor, Tensor, torch.dtype]:
    """Return scores and target, the latter labels or weights, and the dtype of the result."""
    if not is_dense(X) or not X.is_floating_point() or X.ndim == 0 or X.shape[-1] == 0:
        raise ValueError(f"X: expected a floating tensor (..., m) with m ≥ 1, got {describe(X)}")
    labels = is_dense(target) and target.dtype == torch.int64 and target.shape == X.shape[:-1]
    weights = is_dense(target) and target.is_floating_point() and target.shape == X.shape
    if not (labels or weights):
        raise ValueError(
            f"target: expected int64 labels {tuple(X.shape[:-1])} or floating weights {tuple(X.shape)}, got {describe(target)}"
        )
    x = X.to(compute_dtype(X.dtype))
    return x, target if labels else target.to(x), X.dtype


def _constant(name: str, value: Positive) -> Positive:
    if not isinstance(value, Tensor):
        return check_positive(name, value)
    if value.requires_grad:
        raise ValueError(f"{name}: expected a constant, got a tensor that requires a gradient")
    return value
