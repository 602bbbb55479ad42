"""The exact solution of the maximum entropy on the mean, certified row by row, differentiable.

Claims      deciphering.4, deciphering.8, deciphering.9, deciphering.11, deciphering.12
Notation    as in ``closed_forms``; g = ∇D(λ); p = tilt(λ); bounds: see ``bounds``
Derivatives Of the solution, not of the iteration, by the implicit function theorem: with H = −∇²D(λ*) held constant,
            λ ↦ λ + H⁻¹∇D(λ) is stationary in λ at λ*, so k such steps have the derivatives of λ* up to order k. Two are
            taken, at the returned weights. Their accuracy is bounded by ``weights_error``; for a row that has not converged
            it is no better than that of λ.
Precision   What is solved and certified is the problem in float64, whatever the dtype of the inputs. λ, weights and mean are
            then rounded to that dtype, and their bounds, which stay in float64, include this.
Memory      The result is on pages of 2 MB where it is large (``huge_pages``). Beside it, each thread has a workspace of ten
            float32 and five float64 arrays of rows × n numbers, for tiles of 2^13/n to 2^15/n rows on the CPU; rows that need
            Newton's method take some 100 MB more. Two small workspaces are kept between calls.
Threads     ``torch.get_num_threads()``; the rows are divided among them.
First call  On the CPU, the first call on a machine compiles the solver, which takes a quarter of a minute.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad

from numerics.arguments import differentiated, result_dtype, without_autocast
from numerics.mem import closed_forms, shared_templates
from numerics.mem.arguments import Alpha, check, mean, positive, weighted
from numerics.mem.batch import Batch
from numerics.mem.bounds import Bounds, bounds_at
from numerics.mem.newton import maximize
from numerics.mem.rows import Hessian

Inverse = Callable[[Tensor], Tensor]

_NEAR = 0.1
"""Newton's method starts from the λ of the fast solver where its error changes no logit by more: two steps are then enough, in
place of four or five from λ = 0."""


@dataclass(frozen=True, eq=False)
class Solution:
    """Solutions of a batch of problems, each with its certificate.

    Attributes:
        dual: λ, (..., d).
        weights: p = tilt(λ), (..., n).
        mean: μ + z − λ/α, (..., d): ĥ, if λ = λ*. It differs from Σ p_i t_i by ∇D(λ).
        gap: a bound on P(p) − D(λ) = (α/2)‖∇D(λ)‖², (...), without the cancellation of a difference.
        gradient_norm: a bound on ‖∇D(λ)‖, its rounding included, (...).
        error: a bound on ‖λ − λ*‖, (...): α‖∇D(λ)‖, or a smaller one where rounding spoils that (see ``bounds``).
        mean_error: a bound on ‖mean − ĥ‖, (...).
        weights_error: a bound on ‖p − p*‖₁, (...).
        converged: whether error ≤ tolerance (1 + ‖λ‖), boolean, (...).

    ``gap``, ``gradient_norm`` and ``converged`` are about the float64 λ, before the result was rounded to its dtype; but a row
    that does not fit its dtype has not converged.
    """

    dual: Tensor
    weights: Tensor
    mean: Tensor
    gap: Tensor
    gradient_norm: Tensor
    error: Tensor
    mean_error: Tensor
    weights_error: Tensor
    converged: Tensor


@without_autocast
def solve(
    templates: Tensor,
    evidence: Tensor,
    prior: Tensor | None = None,
    alpha: Alpha = 1.0,
    mask: Tensor | None = None,
    *,
    tolerance: float = 1e-9,
) -> Solution:
    """Return the solution of min α/2 ‖μ + z − Σ p_i t_i‖² + KL(p ‖ u) over the simplex (``deciphering.4``).

    A mask changes the prior, which is renormalized: μ is the mean of the prior that the mask leaves. ``dual``, ``weights``
    and ``mean`` are differentiable, twice, with respect to every floating argument; the rest is constant. A row that is not
    certified, such as one with NaN in it, has ``converged`` False.

    Args:
        templates: floating, (..., n, d), shared or one set per row.
        evidence: z, floating, (..., d).
        prior: probabilities, floating, (..., n), zeros allowed, or None for the uniform one. It is renormalized.
        alpha: positive; a number, or a tensor that broadcasts over the rows.
        mask: boolean or floating, broadcastable to the rows (..., n).
        tolerance: what ``error`` is to be, relatively to 1 + ‖λ‖; at least 1e-12.

    Returns:
        The solution; ``dual``, ``weights`` and ``mean`` in the widest dtype of the tensors, the bounds in float64.

    Raises:
        ValueError: for a shape, dtype or number other than these, or if a row is all-masked: it has no solution.
    """
    if not isinstance(tolerance, float) or not 1e-12 <= tolerance < 1:
        raise ValueError(f"tolerance: expected a number from 1e-12 to below 1, got {tolerance!r}")
    check(templates, prior, mask, evidence=evidence)
    arguments = (templates, evidence, prior, alpha, mask)
    tensors = [x for x in arguments if isinstance(x, Tensor)]
    solved: list[tuple[Batch, Tensor]] = []
    found = _Constant.apply(partial(_solve, tolerance, solved), *arguments)  # type: ignore[no-untyped-call]
    parts, bounds = found[:3], found[3:]
    if differentiated(*tensors):
        attached = _with_derivatives(arguments, parts[0], partial(_inverse_hessian_times, *solved[0]))
        # Keep the values that the bounds are about; the differentiated expressions are rounded differently.
        parts = tuple(x + (y - y.detach()) for x, y in zip(parts, attached, strict=True))
    return _to_dtype(parts, bounds, result_dtype(templates, evidence, prior))


def _solve(tolerance: float, solved: list[tuple[Batch, Tensor]], *arguments: Any) -> tuple[Tensor, ...]:
    """λ, p and μ + z − λ/α with their bounds; the batch and its weights, row by row, are added to `solved`."""
    batch, (_, _, prior, _, mask) = Batch(*arguments), arguments
    if (prior is not None or mask is not None) and not bool(batch.live.all()):
        live = batch.live.expand(*batch.shape, 1)
        raise ValueError(
            f"mask: expected a template with a positive prior in every row, got {int((~live).sum())} all-masked of "
            f"{live.numel()} rows"
        )
    dual, center, bounds = _solve_rows(batch, tolerance)
    solved.append((batch, bounds.weights))
    of_bounds = bounds.gap, bounds.gradient_norm, bounds.error, bounds.mean_error, bounds.weights_error, bounds.certified
    return batch.of_rows(dual, bounds.weights, center, *of_bounds)


def _solve_rows(batch: Batch, tolerance: float) -> tuple[Tensor, Tensor, Bounds]:
    """λ, μ + z − λ/α and the bounds: by the fast solver where it applies, and by Newton's method for the rows that it does not
    certify."""
    count, (n, d) = len(batch.alpha), batch.size
    if batch.gram is not None and count:
        dual, center, bounds = shared_templates.solve(batch, tolerance)
    else:
        dual, center = (batch.alpha.new_empty(count, d) for _ in range(2))
        bounds = Bounds.unknown(dual.new_empty(count, n))
    for tile in () if bool(bounds.certified.all()) else batch.tiles((~bounds.certified).nonzero().squeeze(-1)):
        rows = batch.rows(tile)
        close = rows.radius.squeeze(-1) * bounds.error[tile] <= _NEAR
        lam = maximize(rows, 0.5 * tolerance, torch.where(close.unsqueeze(-1), dual[tile], torch.nan))
        dual[tile], center[tile] = lam, rows.target - lam / rows.alpha + batch.center_of(tile)
        bounds.assign(tile, bounds_at(rows, lam, tolerance, batch.span_of(tile)))
    return dual, center, bounds


def _to_dtype(parts: tuple[Tensor, ...], bounds: tuple[Tensor, ...], dtype: torch.dtype) -> Solution:
    """The solution in its dtype, with bounds that hold for it there."""
    dual, weights, center = parts if dtype == torch.float64 else (x.to(dtype) for x in parts)
    gap, gradient_norm, error, mean_error, weights_error, converged = bounds
    if dtype != torch.float64:
        rounding = [(x - y).detach() for x, y in zip(parts, (dual, weights, center), strict=True)]
        error = error + rounding[0].norm(dim=-1)
        weights_error = weights_error + rounding[1].abs().sum(-1)
        mean_error = mean_error + rounding[2].norm(dim=-1)
        converged = converged & (error < torch.inf)  # λ may overflow in a narrow dtype
    return Solution(
        dual=dual,
        weights=weights,
        mean=center,
        gap=gap,
        gradient_norm=gradient_norm,
        error=error,
        mean_error=mean_error,
        weights_error=weights_error,
        converged=converged,
    )


def _with_derivatives(arguments: tuple[Any, ...], dual: Tensor, inverse: Inverse) -> tuple[Tensor, ...]:
    """λ, its weights and its mean, with the derivatives of the solution."""
    templates, evidence, prior, alpha, mask = (
        x.double() if isinstance(x, Tensor) and x.is_floating_point() else x for x in arguments
    )
    for _ in range(2):
        gradient = closed_forms.dual_gradient(dual, templates, evidence, prior, alpha, mask)
        dual = dual + _Step.apply(gradient, inverse)  # type: ignore[no-untyped-call]
    x = weighted(templates, prior, mask, torch.float64)
    center = mean(x.prior, x.templates) + evidence - dual / positive(alpha, dual)
    return dual, closed_forms.tilt(dual, templates, prior, mask), center


def _inverse_hessian_times(batch: Batch, weights: Tensor, vectors: Tensor) -> Tensor:
    """H⁻¹v for every row."""
    flat = vectors.reshape(len(weights), -1)
    solved = torch.empty_like(flat)
    for tile in batch.tiles(torch.arange(len(flat), device=flat.device)):
        rows, p = batch.rows(tile), weights[tile]
        solved[tile] = Hessian(rows, p, rows.mean(p), rows.alpha).solve(flat[tile])
    return solved.reshape(vectors.shape)


class _Constant(torch.autograd.Function):
    """What is computed from tensors where nothing differentiates, and their entries can be read."""

    @staticmethod
    def forward(compute: Callable[..., tuple[Tensor, ...]], *arguments: Any) -> tuple[Tensor, ...]:
        return compute(*arguments)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
        ctx.mark_non_differentiable(*output)
        ctx.counts = len(inputs), len(output)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, ...]:
        return tuple(None for _ in range(ctx.counts[0]))

    @staticmethod
    def jvp(ctx: Any, *tangents: Tensor) -> tuple[None, ...]:
        return tuple(None for _ in range(ctx.counts[1]))

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *inputs: Any) -> tuple[tuple[Tensor, ...], tuple[None, ...]]:
        if any(dim is not None for dim in in_dims):
            raise ValueError("mem.solve: expected one of its own batches, got arguments that torch.func.vmap maps over")
        found = _Constant.apply(*inputs)  # type: ignore[no-untyped-call]
        return found, (None,) * len(found)


class _Linear(torch.autograd.Function):
    """v ↦ H⁻¹v with H constant and symmetric."""

    @staticmethod
    def forward(vectors: Tensor, inverse: Inverse) -> Tensor:
        return inverse(vectors)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Inverse], output: Tensor) -> None:
        _, ctx.inverse = inputs

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return _Linear.apply(gradient, ctx.inverse), None  # type: ignore[no-untyped-call]

    @staticmethod
    def jvp(ctx: Any, tangent: Tensor, _: None) -> Tensor:
        with forward_ad._set_fwd_grad_enabled(True):  # which is off here, so that second derivatives would be 0
            return _Linear.apply(tangent, ctx.inverse)  # type: ignore[no-any-return, no-untyped-call]

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int, None], vectors: Tensor, inverse: Inverse) -> tuple[Tensor, int]:
        return torch.stack([_Linear.apply(v, inverse) for v in vectors.unbind(in_dims[0])]), 0  # type: ignore[no-untyped-call]


class _Step(_Linear):
    """g ↦ H⁻¹g at the solution, where the value is zero and only the derivative counts."""

    @staticmethod
    def forward(vectors: Tensor, inverse: Inverse) -> Tensor:
        return torch.zeros_like(vectors)

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int, None], vectors: Tensor, inverse: Inverse) -> tuple[Tensor, int]:
        return torch.stack([_Step.apply(v, inverse) for v in vectors.unbind(in_dims[0])]), 0  # type: ignore[no-untyped-call]
