"""Gaussians, bumps and observations, drawn for the tests of continuous attention; and integrals by quadrature."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise

import torch
from hypothesis import strategies as st
from numpy.polynomial.legendre import leggauss as uncached
from torch import Tensor

from evidence.instances.placement import Placed
from numerics import tolerances
from numerics.continuous import Basis

F64 = torch.float64
NODES = 64
SIGMAS = 12.0  # beyond them a Gaussian has less mass than 1e-32


leggauss = cache(uncached)


def legendre(low: float, high: float, count: int = NODES) -> tuple[Tensor, Tensor]:
    """Nodes and weights of Gauss–Legendre quadrature on an interval."""
    x, w = (torch.from_numpy(part) for part in leggauss(count))
    return (low + high) / 2 + (high - low) / 2 * x, (high - low) / 2 * w


def integral(function: Callable[[Tensor], Tensor], cuts: list[float], device: str = "cpu") -> Tensor:
    """∫ function(t) dt on the line, from the first cut to the last, by quadrature between cuts; t is (P, 1)."""
    parts = []
    for low, high in pairwise(cuts):
        t, w = (x.to(device) for x in legendre(low, high))
        parts.append(torch.tensordot(w, function(t[:, None]), 1))
    return torch.stack(parts).sum(0)


@dataclass(frozen=True)
class Continuous(Placed):
    """N(μ, Σ) on ℝ^d with bumps (c_j, s_j), of ordinary magnitude; eigenvalues of Σ between 1/spread² and spread²."""

    d: int
    seed: int
    spread: float

    @cached_property
    def drawn(self) -> dict[str, Tensor]:
        generator = torch.Generator().manual_seed(self.seed)

        def normal(*shape: int) -> Tensor:
            return torch.randn(*shape, generator=generator, dtype=F64)

        axes, _ = torch.linalg.qr(normal(self.d, self.d))
        variances = self.spread ** normal(self.d).clamp(-2, 2)
        return {
            "mean": normal(self.d),
            "covariance": axes @ torch.diag(variances) @ axes.mT,
            "variances": variances,
            "axes": axes,
            "centers": 2 * normal(3, self.d),
            "widths": (normal(3).clamp(-1.5, 1.5)).exp(),
        }

    def __getitem__(self, name: str) -> Tensor:
        return self.drawn[name].to(self.device)

    @property
    def basis(self) -> Basis:
        return Basis(self["centers"], self["widths"])

    @property
    def arguments(self) -> tuple[Tensor, Tensor, Basis]:
        """Mean, covariance and basis."""
        return self["mean"], self["covariance"], self.basis

    def cuts(self) -> list[float]:
        """On the line: where a Gaussian and a bump are cut off, and points between, so that panels are short."""
        mu, sigma = float(self["mean"]), float(self["covariance"].sqrt())
        ends = {mu + k * sigma for k in (-SIGMAS, -3, 0, 3, SIGMAS)}
        ends |= {
            c + k * s for c, s in zip(self["centers"][:, 0].tolist(), self["widths"].tolist(), strict=True) for k in (-3, 0, 3)
        }
        return sorted(x for x in ends if abs(x - mu) <= SIGMAS * sigma * (1 + 1e-12))

    def parabola_cuts(self, half: float) -> list[float]:
        """The same within the support of the parabola, of which `half` is half the width."""
        mu = float(self["mean"])
        return [mu - half, *(x for x in self.cuts() if abs(x - mu) < half), mu + half]

    @property
    def condition(self) -> float:
        """max(‖Σ‖, 1) max(‖Σ⁻¹‖, 1) times the magnitudes that enter squared."""
        v = self["variances"]
        largest = 1 + max(float(self[name].abs().max()) for name in ("mean", "centers"))
        return float(v.max().clamp(min=1) / v.min().clamp(max=1)) * largest**2

    def tolerance(self, *magnitudes: Tensor | float, size: int = NODES) -> float:
        """Rounding in float64 of sums over `size` terms of these magnitudes, at this condition."""
        largest = max(float(torch.as_tensor(x, dtype=F64).abs().max().cpu()) for x in (1.0, *magnitudes))
        return tolerances.rounding("float64", size * self.d, largest * self.condition)


@st.composite
def continuous(draw: st.DrawFn, max_d: int = 3) -> Continuous:
    """Draw a problem: the line first, then round, and longer, Gaussians in more dimensions."""
    return Continuous(draw(st.integers(1, max_d)), draw(st.integers(0, 2**31)), draw(st.sampled_from((2.0, 1.0, 5.0))))
