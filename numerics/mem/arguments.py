"""Argument checks shared by the functions on maximum entropy on the mean, and conversion to a common dtype.

Shapes      The rows are the leading axes that templates, evidence, prior, mask and alpha broadcast to. Templates that
            lack the last axis of the rows, or have size 1 there, are shared by all rows along it: one matrix product
            serves them, and nothing is copied.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from numerics.arguments import Positive, broadcast, check_mask, check_mask_dtype, compute_dtype, floating, per_row, result_dtype
from numerics.masks import used_only

Alpha = Positive


@dataclass(frozen=True)
class Weighted:
    """A prior on templates, once both are known to fit, in the dtype to compute in.

    Attributes:
        templates: (..., n, d).
        log_prior: log u_i, normalized after masking, (..., n); −inf where u_i is zero or masked, throughout a dead row.
        prior: u_i = e^{log u_i}; zeros in a dead row.
        live: (..., 1), False for a row that is fully masked.
        total: (..., 1): what was subtracted from log u_i and a floating mask, less its largest entry, to normalize them.
    """

    templates: Tensor
    log_prior: Tensor
    prior: Tensor
    live: Tensor
    total: Tensor


def uniform(templates: Tensor) -> Weighted:
    """Return the uniform prior on templates on the CPU, in float64: as ``weighted`` does without prior and mask, but sooner."""
    return Weighted(templates, *map(torch.from_numpy, _uniform(templates.shape[-2])))


@lru_cache(maxsize=16)
def _uniform(n: int) -> tuple[np.ndarray[Any, Any], ...]:
    """log u, u, whether it is live, and log n. Arrays: a tensor that is kept would keep the modes that it was made in."""
    total = math.log(n)
    return np.full(n, 0.0 - total), np.full(n, math.exp(-total)), np.ones(1, dtype=bool), np.full(1, total)


def weighted(templates: Tensor, prior: Tensor | None, mask: Tensor | None, dtype: torch.dtype) -> Weighted:
    """Return the prior as the mask leaves it: restricted, renormalized, and tilted by a floating mask.

    Raises:
        ValueError: for a shape or dtype that does not fit ``templates``.
    """
    t = templates.to(dtype)
    n = t.shape[-2]
    if prior is None:
        log_prior = t.new_zeros(n)
    else:
        u = prior.to(dtype)
        # The logarithm never sees a zero, whose slope there is infinite: such a template counts as absent.
        log_prior = torch.where(u == 0, -torch.inf, torch.where(u == 0, 1.0, u).log())
    if mask is not None:
        mask = check_mask_dtype("mask", mask, t)
        bias = torch.where(mask, 0.0, -torch.inf).to(t) if mask.dtype == torch.bool else _near(mask.to(t), log_prior)
        log_prior = torch.where(bias == -torch.inf, -torch.inf, log_prior + bias)
        t = used_only(t, bias != -torch.inf)
    live = (log_prior != -torch.inf).any(-1, keepdim=True)
    total = torch.where(live, log_prior, 0.0).logsumexp(-1, keepdim=True)
    log_prior = log_prior - total
    return Weighted(t, log_prior, log_prior.exp(), live, total)


def _near(bias: Tensor, log_prior: Tensor) -> Tensor:
    """A floating mask less its largest entry that counts, which changes no tilt: what is added to log u_i is then no larger
    than it has to be, and loses nothing to a far offset."""
    with torch.no_grad():
        top = torch.where(log_prior + bias == -torch.inf, torch.finfo(bias.dtype).min, bias).amax(-1, keepdim=True)
    return bias - top


def check(templates: Tensor, prior: Tensor | None, mask: Tensor | None, **vectors: Tensor) -> torch.dtype:
    """Return the dtype to compute in, once the arguments are known to fit each other.

    Args:
        templates: to be floating, (..., n, d) with n, d ≥ 1.
        prior: to be None or floating, (..., n).
        mask: to be None, or boolean or floating, (..., n).
        vectors: dual points or evidence, to be floating, (..., d); or ``weights``, to be floating, (..., n).

    Raises:
        ValueError: naming the argument that does not fit.
    """
    floating("templates", templates, "n", "d")
    n, d = templates.shape[-2:]
    if prior is not None:
        vectors["prior"] = prior
    shapes = {"templates": templates.shape[:-2]}
    for name, x in vectors.items():
        letter, size = ("n", n) if name in ("prior", "weights") else ("d", d)
        floating(name, x, letter, last=size)
        shapes[name] = x.shape[:-1]
    rows = broadcast(**shapes)
    if mask is not None:
        check_mask(mask, (*rows, n))
    return compute_dtype(result_dtype(templates, *vectors.values()))


def positive(alpha: Alpha, rows: Tensor) -> Tensor:
    """Return α shaped to multiply ``rows`` (..., d), in their dtype; NaN where a tensor's entry is not positive.

    Raises:
        ValueError: for a number that is not positive and normal, or a tensor that does not broadcast over the rows.
    """
    return per_row("alpha", alpha, rows)


def products(templates: Tensor, vectors: Tensor) -> Tensor:
    """Return ⟨t_i, v⟩ for every row: templates (..., n, d), vectors (..., d), result (..., n).

    A product that leaves the range downwards is NaN: as −inf it would count as masked.
    """
    scores = _each(vectors, templates.mT)
    return torch.where(scores == -torch.inf, torch.nan, scores)


def mean(weights: Tensor, templates: Tensor) -> Tensor:
    """Return Σ_i w_i t_i for every row: weights (..., n), templates (..., n, d), result (..., d)."""
    return _each(weights, templates)


def _each(rows: Tensor, matrices: Tensor) -> Tensor:
    """Return row @ matrix for every row, without a copy of a matrix for each of the rows that share it."""
    if matrices.ndim == 2:
        return rows @ matrices
    if matrices.shape[-3] == 1 and rows.ndim >= 2:
        return rows @ matrices.squeeze(-3)
    return (rows.unsqueeze(-2) @ matrices).squeeze(-2)
