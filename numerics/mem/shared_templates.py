"""The fast solver for many problems on the same templates: preconditioned conjugate gradients in the space of weights.

If all rows share their templates, λ = α(b − Tᵀw) for some w ∈ Rⁿ, and a step of an iteration for w costs one product with the
n × n matrix G = TTᵀ, for all rows at once. ``pcg`` describes the iteration. This module makes its preconditioner and the
constants of its error bounds, and chooses the implementation: ``pcg_numba`` on the CPU, ``pcg_torch`` elsewhere.

Claims      deciphering.9, deciphering.18
Notation    as in ``pcg``; γ = max_i ‖G_i‖, over the rows of G
Precision   Iterate in float32; evaluate the final s, p and v in float64. The error bounds come from these alone.
Bounds      ∇D(λ) = −Tᵀv, hence ‖∇D(λ)‖ ≤ √‖G‖ ‖v‖, and ‖G‖ ≤ ‖G²‖_F^{1/2}. To this is added the most that rounding can change:
            b − λ/α, the logits, p, and the corrections in float32. The argument is in ``docs/notes/mem_rounding.md``. Rows
            whose bound exceeds the tolerance are left to Newton's method in ``newton``.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from numerics.mem import huge_pages, pcg_threads, pcg_torch
from numerics.mem.batch import Batch
from numerics.mem.bounds import Bounds
from numerics.mem.pcg_state import Array, SharedProblem, SolutionBuffers
from numerics.mem.prepared import SharedTemplates

DIAGONAL_SHARE = 0.7
"""The preconditioner's D is this share of the diagonal of G − ffᵀ. On the layers of BERT, the number of steps with 0.5 and 0.85
differs by a few per cent."""

_MIN_GRAM_ROW = 2.0**-250
"""If the largest row of a nonzero G has a smaller norm, squares of the entries of G² may underflow, and ‖G‖ gets no bound."""

_MAX_UNDERFLOWING = 2.0**-63
"""The largest number whose square may be flushed to zero in float32."""

_TORCH_TILE_ROWS = 2048
"""The largest number of rows of a tile on other devices than the CPU."""


def solve(batch: Batch, tolerance: float) -> tuple[Tensor, Tensor, Bounds]:
    """Return λ and μ + z − λ/α, (r, d) each, and the bounds of λ, good or not."""
    count, (n, d), device = len(batch.alpha), batch.size, batch.alpha.device
    dual, mean, weights = (huge_pages.empty((count, size), device) for size in (d, d, n))
    problem = _problem(batch, tolerance, dual)
    if device.type == "cpu":
        # Arrays, as there are many small ones: NumPy makes one in a fraction of the time that PyTorch takes.
        norms: list[Array] = [*(np.empty(count) for _ in range(6)), np.empty(count, dtype=bool)]
        solution = SolutionBuffers(dual.numpy(), mean.numpy(), weights.numpy(), *norms)
        pcg_threads.solve(problem, solution, torch.get_num_threads())
        return dual, mean, Bounds(weights, *map(torch.from_numpy, norms))
    bounds = Bounds.unknown(weights)
    pcg_torch.solve(problem, SolutionBuffers(dual, mean, **vars(bounds)), _TORCH_TILE_ROWS)
    return dual, mean, bounds


def _problem(batch: Batch, tolerance: float, scratch: Tensor) -> SharedProblem:
    """The problem in arrays on the CPU, else in tensors."""
    low, constants = _low_precision(scratch.device), batch.shared.constants
    convert: Callable[[Any], Any] = _as_array if scratch.device.type == "cpu" else partial(_as_tensor, device=scratch.device)
    if low not in constants:
        constants[low] = {name: x if isinstance(x, float) else convert(x) for name, x in _constants(batch.shared, low).items()}
    target, target_error = batch.target(scratch)
    log_prior = batch.log_prior.reshape(-1, batch.size[0])
    rows = map(convert, (target, batch.alpha.squeeze(-1), log_prior, target_error, batch.log_prior_error))
    of_rows = dict(zip(SharedProblem._fields, rows, strict=False))
    return SharedProblem(**of_rows, **constants[low], tolerance=tolerance)


def _as_array(x: float | Tensor) -> Array:
    """A contiguous array, (1,) for a number."""
    return np.ascontiguousarray(x.numpy()) if isinstance(x, Tensor) else np.full(1, x)


def _as_tensor(x: float | Tensor, device: torch.device) -> Tensor:
    """A tensor, (1,) for a number."""
    return x if isinstance(x, Tensor) else torch.full((1,), x, dtype=torch.float64, device=device)


def _constants(shared: SharedTemplates, low: torch.dtype) -> dict[str, Any]:
    """The fields of ``SharedProblem`` that depend on the templates alone."""
    gram, (n, d) = shared.gram, shared.templates.shape
    eps = torch.finfo(gram.dtype).eps
    gram_row_norm, gram_norm, rank_one = spectrum(gram)
    has_norm = gram_row_norm > _MIN_GRAM_ROW or not bool(gram.any())
    product_error, underflow = torch.finfo(low).eps / 2 * gram_row_norm, 4 * n * torch.finfo(low).tiny
    underflow_length = _MAX_UNDERFLOWING * n**0.5 + underflow
    if gram_row_norm > 0:
        underflow_length += underflow / (product_error * (n + 4))
    return {
        "center": shared.center,
        "templates": shared.templates,
        "templates_transposed": shared.templates.mT.contiguous(),
        "gram": gram,
        "negative_gram": -gram.to(low),
        "rank_one": rank_one.to(low),
        "diagonal": (DIAGONAL_SHARE * (gram.diagonal() - rank_one.square())).to(low),
        "radius": shared.radius * (1 + (d + 8) * eps),
        "span": shared.span,
        "sqrt_gram_norm": (gram_norm * (1 + (n + 8) * (n + d + 8) * eps)) ** 0.5 if has_norm else math.inf,
        "product_error": product_error,
        "underflow_length": underflow_length,
    }


def spectrum(gram: Tensor) -> tuple[float, float, Tensor]:
    """Return γ, ‖G²‖_F^{1/2} ≥ ‖G‖, and f = Gq/√⟨q, Gq⟩, (n,), for a q near the leading eigenvector, or 0.

    G − ffᵀ is positive semidefinite, whatever q is.
    """
    row_norms, square = gram.norm(dim=-1), gram @ gram
    q = square @ square[row_norms.argmax()]
    q /= q.norm()
    image = gram @ q
    rank_one = (image / (image @ q).sqrt()).nan_to_num(0.0, 0.0, 0.0)
    return float(row_norms.amax()), float(square.norm()) ** 0.5, rank_one


def _low_precision(device: torch.device) -> torch.dtype:
    """The dtype of the iteration: float32, but float64 where a user lets a GPU round float32 products to TF32, which would take
    more refinements."""
    rounded = device.type != "cpu" and torch.get_float32_matmul_precision() != "highest"
    return torch.float64 if rounded else torch.float32
