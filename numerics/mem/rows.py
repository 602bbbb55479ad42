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
    """Some problems. Centring the templates is exact up to the rounding of each difference, and shifts nothing but b.

    Attributes:
        templates: (n, d) if all rows share them, else (r, n, d).
        log_prior: log u_i, (n,) or (r, n).
        target: b, (r, d).
        alpha: (r, 1).
        gram: TTᵀ, (n, n), if the rows share their templates and it is worth having.
        drift: a bound on what μ − c has lost to rounding, which is in b, (r,) or (1,).
        blur: one on what a log u_i has lost beyond four roundings of itself, (r,) or (1,).
    """

    templates: Tensor
    log_prior: Tensor
    target: Tensor
    alpha: Tensor
    gram: Tensor | None = None
    drift: float | Tensor = 0.0
    blur: float | Tensor = 0.0

    @property
    def radius(self) -> Tensor:
        """The largest ‖t_i‖ of each row, (r, 1) or (1,)."""
        lengths: Tensor = self.templates.norm(dim=-1)
        return lengths.amax(-1, keepdim=True)

    def scores(self, dual: Tensor) -> Tensor:
        """⟨t_i, λ⟩, (r, n)."""
        return _each(dual, self.templates.mT)

    def mean(self, weights: Tensor) -> Tensor:
        """Σ_i p_i t_i, (r, d), for weights between 0 and 1, to about the precision of its largest entry.

        Weights and templates are cut into a head of few bits and a tail. The products of heads are added without any
        rounding; what the other products lose is smaller by as many bits as a head has, in all n 2^−b (n + √d) u max_i ‖t_i‖.
        """
        heads, tails, bits = self._halves(self.templates.shape[-2])
        head = _head(weights, torch.ones_like(weights[..., :1]), bits)
        return _each(head, heads) + (_each(head, tails) + _each(weights - head, self.templates))

    def total(self, weights: Tensor) -> Tensor:
        """Σ_i p_i, (r, 1), for weights between 0 and 1, rounded but once."""
        head = _head(weights, torch.ones_like(weights[..., :1]), 50 - weights.shape[-1].bit_length())
        return head.sum(-1, keepdim=True) + (weights - head).sum(-1, keepdim=True)

    def weights(self, dual: Tensor) -> Tensor:
        """tilt(λ), (r, n)."""
        return (self.precise_scores(dual) + self.log_prior).softmax(-1)

    def precise_scores(self, dual: Tensor) -> Tensor:
        """⟨t_i, λ⟩, (r, n), by heads and tails, too.

        A tail is at most 2^−b of the largest entry, so the products with tails lose at most d^{3/2} 2^{2−b} u r‖λ‖, and the
        three sums of products, being added, 2u r‖λ‖.
        """
        heads, tails, bits = self._halves(self.templates.shape[-1])
        head = _head(dual, dual.abs().amax(-1, keepdim=True), bits)
        return _each(head, heads.mT) + (_each(head, tails.mT) + _each(dual - head, self.templates.mT))

    def _halves(self, terms: int) -> tuple[Tensor, Tensor, int]:
        """Heads and tails of the templates, and the bits of a head, for sums of so many products without any rounding."""
        bits = head_bits(terms)
        head = _head(self.templates, self.templates.abs().amax((-2, -1), keepdim=True), bits)
        return head, self.templates - head, bits

    def take(self, index: Tensor) -> "Rows":
        """Some of the rows, by number or by a boolean tensor."""
        return Rows(
            self.templates if self.templates.ndim == 2 else self.templates[index],
            self.log_prior if self.log_prior.ndim == 1 else self.log_prior[index],
            self.target[index],
            self.alpha[index],
            self.gram,
            *(x[index] if isinstance(x, Tensor) and len(x) > 1 else x for x in (self.drift, self.blur)),
        )


class Hessian:
    """H, factorized by Cholesky in the smaller of the two spaces: I/α + FᵀF for n ≥ d, else I/α + FFᵀ."""

    def __init__(self, rows: Rows, weights: Tensor, mean: Tensor, alpha: Tensor) -> None:
        self._alpha, self._mean, self._templates, self._root = alpha, mean, rows.templates, weights.sqrt()
        n, d = rows.templates.shape[-2:]
        self._small = n < d
        if self._small and rows.gram is not None:
            # ⟨t_i − ĥ, t_j − ĥ⟩ from ⟨t_i, t_j⟩: what cancels is of the size of r², rounding far below 1/α.
            crossed = weights @ rows.gram
            centred = (weights * crossed).sum(-1, keepdim=True) - crossed
            inner = rows.gram + centred.unsqueeze(-1) - crossed.unsqueeze(-2)
            inner.mul_(self._root.unsqueeze(-1)).mul_(self._root.unsqueeze(-2))
        else:
            factor = self._root.unsqueeze(-1) * (rows.templates - mean.unsqueeze(-2))
            inner = factor @ factor.mT if self._small else factor.mT @ factor
        inner.diagonal(dim1=-2, dim2=-1).add_(1 / alpha)
        self._lower, self._failed = torch.linalg.cholesky_ex(inner)

    def times(self, vectors: Tensor) -> Tensor:
        """H v, (r, d)."""
        return vectors / self._alpha + self._spread(self._gather(vectors))

    def solve(self, vectors: Tensor) -> Tensor:
        """H⁻¹ v, (r, d); with n < d as α(v − Fᵀ(I/α + FFᵀ)⁻¹Fv)."""
        if not self._small:
            return torch.cholesky_solve(vectors.unsqueeze(-1), self._lower).squeeze(-1)
        inside = torch.cholesky_solve(self._gather(vectors).unsqueeze(-1), self._lower).squeeze(-1)
        return self._alpha * (vectors - self._spread(inside))

    def _gather(self, vectors: Tensor) -> Tensor:
        """F v, (r, n)."""
        return self._root * (_each(vectors, self._templates.mT) - (self._mean * vectors).sum(-1, keepdim=True))

    def _spread(self, scores: Tensor) -> Tensor:
        """Fᵀ y, (r, d)."""
        y = self._root * scores
        return _each(y, self._templates) - self._mean * y.sum(-1, keepdim=True)

    def bound(self) -> Tensor:
        """A bound on ‖H⁻¹‖, (r, 1): α, or the trace τ of H⁻¹ where that is at hand and smaller.

        H as computed, and its factor, are off by at most n + d² roundings of tr H in norm, a few times, and by one of
        √(tr H) max_i ‖t_i‖ as templates were centred. What 1/τ has more than that, the least eigenvalue has.
        """
        if self._small:
            return self._alpha
        n, d = self._templates.shape[-2:]
        inverse = torch.linalg.solve_triangular(self._lower, torch.eye(d).to(self._lower), upper=False)
        trace = inverse.square().sum((-2, -1)).unsqueeze(-1)
        size = self._lower.square().sum((-2, -1)).unsqueeze(-1)
        radius = self._templates.norm(dim=-1).amax(-1, keepdim=True)
        off = 4 * (n + d * d + 16) * size + 4 * size.sqrt() * radius
        least = 1 / trace - torch.finfo(trace.dtype).eps * off
        return torch.where((least * self._alpha > 1) & (self._failed == 0).unsqueeze(-1), 1 / least, self._alpha)


def _each(rows: Tensor, matrices: Tensor) -> Tensor:
    """row @ matrix, one matrix for all or one for each."""
    return rows @ matrices if matrices.ndim == 2 else (rows.unsqueeze(-2) @ matrices).squeeze(-2)


def spread(n: int, d: int) -> float:
    """What ``Rows.mean`` loses beside the rounding of its result, in u max_i ‖t_i‖."""
    return n * (n + math.sqrt(d)) * math.ldexp(1.0, -head_bits(n))


def head_bits(terms: int) -> int:
    """How many bits heads may have if so many products of two are to be added without any rounding."""
    return (52 - terms.bit_length()) // 2


def _head(x: Tensor, largest: Tensor, bits: int) -> Tensor:
    """x rounded to a multiple of 2^−bits times the power of two next above ``largest``: adding 1.5·2^52 units does it."""
    unit = torch.exp2(largest.clamp(min=torch.finfo(x.dtype).tiny).log2().floor() + (1 - bits))
    anchor = 1.5 * 2.0**52 * unit
    return (x + anchor) - anchor
