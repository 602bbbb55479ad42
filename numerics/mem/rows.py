"""A batch of dual problems in float64 as the solvers see it, and the Hessian of −D at a tilt.

Claims      deciphering.9
Notation    t_i = templates, centred at a point c near the prior's mean; b = μ + z − c = target; p = tilt(λ);
            ĥ = Σ_i p_i t_i; H = I/α + Σ_i p_i (t_i − ĥ)(t_i − ĥ)ᵀ = I/α + FᵀF with F = diag(√p)(T − 1ĥᵀ)
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Rows:
    """Some problems. Centring the templates is exact up to the rounding of each difference, and changes nothing but b.

    Attributes:
        templates: (n, d) if all rows share them, else (r, n, d).
        log_prior: log u_i, (n,) or (r, n).
        target: b, (r, d).
        alpha: (r, 1).
        gram: TTᵀ, (n, n), if the rows share their templates and it pays.
        target_error: bound on the error of b, that is of μ − c, (r,) or (1,).
        log_prior_error: bound on the error of log u_i beyond four roundings of log u_i itself, (r,) or (1,).
    """

    templates: Tensor
    log_prior: Tensor
    target: Tensor
    alpha: Tensor
    gram: Tensor | None = None
    target_error: float | Tensor = 0.0
    log_prior_error: float | Tensor = 0.0

    @property
    def radius(self) -> Tensor:
        """The largest ‖t_i‖ of each row, (r, 1) or (1,)."""
        lengths: Tensor = self.templates.norm(dim=-1)
        return lengths.amax(-1, keepdim=True)

    def scores(self, dual: Tensor) -> Tensor:
        """⟨t_i, λ⟩, (r, n)."""
        return _row_products(dual, self.templates.mT)

    def mean(self, weights: Tensor) -> Tensor:
        """Σ_i p_i t_i, (r, d), for weights between 0 and 1, to about the precision of its largest entry.

        Weights and templates are split into a high part of b bits and a low part. The products of the high parts are summed
        without rounding; the error of the other products is 2^−b times as large, in all n 2^−b (n + √d) u max_i ‖t_i‖.
        """
        high, low, bits = self._split(self.templates.shape[-2])
        weights_high = _high_part(weights, torch.ones_like(weights[..., :1]), bits)
        products = _row_products(weights_high, low) + _row_products(weights - weights_high, self.templates)
        return _row_products(weights_high, high) + products

    def total(self, weights: Tensor) -> Tensor:
        """Σ_i p_i, (r, 1), for weights between 0 and 1, rounded once."""
        high = _high_part(weights, torch.ones_like(weights[..., :1]), 50 - weights.shape[-1].bit_length())
        return high.sum(-1, keepdim=True) + (weights - high).sum(-1, keepdim=True)

    def weights(self, dual: Tensor) -> Tensor:
        """tilt(λ), (r, n)."""
        return (self.precise_scores(dual) + self.log_prior).softmax(-1)

    def precise_scores(self, dual: Tensor) -> Tensor:
        """Return ⟨t_i, λ⟩, (r, n), including the products with low parts.

        A low part is at most 2^−b of the largest entry. The error of the products with low parts is at most
        d^{3/2} 2^{2−b} u r‖λ‖, that of adding the three sums of products 2u r‖λ‖.
        """
        high, low, bits = self._split(self.templates.shape[-1])
        dual_high = _high_part(dual, dual.abs().amax(-1, keepdim=True), bits)
        products = _row_products(dual_high, low.mT) + _row_products(dual - dual_high, self.templates.mT)
        return _row_products(dual_high, high.mT) + products

    def _split(self, terms: int) -> tuple[Tensor, Tensor, int]:
        """The high and low parts of the templates, and the bits of a high part, for exact sums of that many products."""
        bits = high_bits(terms)
        high = _high_part(self.templates, self.templates.abs().amax((-2, -1), keepdim=True), bits)
        return high, self.templates - high, bits

    def take(self, index: Tensor) -> "Rows":
        """Some of the rows, by number or by a boolean tensor."""
        return Rows(
            self.templates if self.templates.ndim == 2 else self.templates[index],
            self.log_prior if self.log_prior.ndim == 1 else self.log_prior[index],
            self.target[index],
            self.alpha[index],
            self.gram,
            *(x[index] if isinstance(x, Tensor) and len(x) > 1 else x for x in (self.target_error, self.log_prior_error)),
        )


class Hessian:
    """H, factorized by Cholesky in the smaller of the two spaces: I/α + FᵀF for n ≥ d, else I/α + FFᵀ."""

    def __init__(self, rows: Rows, weights: Tensor, mean: Tensor, alpha: Tensor) -> None:
        self._alpha, self._mean, self._templates, self._root = alpha, mean, rows.templates, weights.sqrt()
        n, d = rows.templates.shape[-2:]
        self._small = n < d
        if self._small and rows.gram is not None:
            # ⟨t_i − ĥ, t_j − ĥ⟩ from ⟨t_i, t_j⟩ cancels terms of the size of r², whose rounding is far below 1/α.
            products = weights @ rows.gram
            centred = (weights * products).sum(-1, keepdim=True) - products
            inner = rows.gram + centred.unsqueeze(-1) - products.unsqueeze(-2)
            inner.mul_(self._root.unsqueeze(-1)).mul_(self._root.unsqueeze(-2))
        else:
            factor = self._root.unsqueeze(-1) * (rows.templates - mean.unsqueeze(-2))
            inner = factor @ factor.mT if self._small else factor.mT @ factor
        inner.diagonal(dim1=-2, dim2=-1).add_(1 / alpha)
        self._lower, self._failed = torch.linalg.cholesky_ex(inner)

    def times(self, vectors: Tensor) -> Tensor:
        """H v, (r, d)."""
        return vectors / self._alpha + self._factor_transposed_times(self._factor_times(vectors))

    def solve(self, vectors: Tensor) -> Tensor:
        """H⁻¹ v, (r, d); with n < d as α(v − Fᵀ(I/α + FFᵀ)⁻¹Fv)."""
        if not self._small:
            return torch.cholesky_solve(vectors.unsqueeze(-1), self._lower).squeeze(-1)
        inner = torch.cholesky_solve(self._factor_times(vectors).unsqueeze(-1), self._lower).squeeze(-1)
        return self._alpha * (vectors - self._factor_transposed_times(inner))

    def _factor_times(self, vectors: Tensor) -> Tensor:
        """F v, (r, n)."""
        return self._root * (_row_products(vectors, self._templates.mT) - (self._mean * vectors).sum(-1, keepdim=True))

    def _factor_transposed_times(self, scores: Tensor) -> Tensor:
        """Fᵀ y, (r, d)."""
        y = self._root * scores
        return _row_products(y, self._templates) - self._mean * y.sum(-1, keepdim=True)

    def bound(self) -> Tensor:
        """A bound on ‖H⁻¹‖, (r, 1): α, or the trace τ of H⁻¹ where it is available and smaller.

        The errors of H and of its factor are at most a few times n + d² roundings of tr H in norm, and one of
        √(tr H) max_i ‖t_i‖ from centring the templates. The least eigenvalue of H is at least 1/τ less these errors.
        """
        if self._small:
            return self._alpha
        n, d = self._templates.shape[-2:]
        inverse = torch.linalg.solve_triangular(self._lower, torch.eye(d).to(self._lower), upper=False)
        trace = inverse.square().sum((-2, -1)).unsqueeze(-1)
        size = self._lower.square().sum((-2, -1)).unsqueeze(-1)
        radius = self._templates.norm(dim=-1).amax(-1, keepdim=True)
        rounding = 4 * (n + d * d + 16) * size + 4 * size.sqrt() * radius
        least = 1 / trace - torch.finfo(trace.dtype).eps * rounding
        return torch.where((least * self._alpha > 1) & (self._failed == 0).unsqueeze(-1), 1 / least, self._alpha)


def _row_products(rows: Tensor, matrices: Tensor) -> Tensor:
    """row @ matrix for every row, with one matrix for all rows or one for each."""
    return rows @ matrices if matrices.ndim == 2 else (rows.unsqueeze(-2) @ matrices).squeeze(-2)


def mean_rounding(n: int, d: int) -> float:
    """The error of ``Rows.mean`` beside the rounding of its result, in u max_i ‖t_i‖."""
    return n * (n + math.sqrt(d)) * math.ldexp(1.0, -high_bits(n))


def high_bits(terms: int) -> int:
    """The number of bits of both factors for which that many products can be summed without rounding."""
    return (52 - terms.bit_length()) // 2


def _high_part(x: Tensor, largest: Tensor, bits: int) -> Tensor:
    """x rounded to a multiple of a unit, 2^−bits times the power of two next above ``largest``: 1.5·2^52 units are added and
    subtracted."""
    unit = torch.exp2(largest.clamp(min=torch.finfo(x.dtype).tiny).log2().floor() + (1 - bits))
    anchor = 1.5 * 2.0**52 * unit
    return (x + anchor) - anchor
