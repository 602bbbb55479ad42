"""One problem of maximum entropy on the mean with everything the derivations name, drawn at random.

Magnitudes are ordinary, since a derivation's expression is evaluated as printed, with exp⟨t_i, λ⟩ and no shift.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from hypothesis import strategies as st
from torch import Tensor

from evidence import Value
from evidence.instances import fifty_digits
from evidence.instances.placement import Placed
from numerics import tolerances

ALPHAS = (1.0, 0.25, 4.0)
LAYOUTS = ("generic", "duplicated", "all equal", "collinear", "far from 0")
"""No relation; the last two templates equal; one point, so Σ = 0; on a line, so Σ is singular for d > 1; shifted."""
PRIORS = ("generic", "uniform", "skewed")
"""Weights of one magnitude; equal ones; one of about a thousandth."""
EVIDENCE = ("generic", "zero")


@dataclass(frozen=True)
class MemProblem(Placed):
    """n templates in ℝ^d with weights u > 0, evidence z and α; any dual point λ, any weights q besides.

    Attributes:
        n, d: the numbers of templates and of coordinates.
        alpha: positive.
        layout, weighting, evident: one of ``LAYOUTS``, ``PRIORS``, ``EVIDENCE``.
        seed: of all tensors.
        device: where `templates`, `prior`, `evidence`, `dual` and ``problem[name]`` live.
    """

    n: int
    d: int
    alpha: float
    layout: str
    weighting: str
    evident: str
    seed: int

    @cached_property
    def drawn(self) -> dict[str, Tensor]:
        """Everything that is drawn, on the CPU, by its printed name; q is a point of the simplex with a zero if n > 1."""
        generator = torch.Generator().manual_seed(self.seed)

        def normal(*shape: int) -> Tensor:
            return torch.randn(*shape, generator=generator, dtype=torch.float64).clamp(-2, 2)

        weights, rival = normal(self.n).exp(), normal(self.n).exp()
        if self.weighting == "uniform":
            weights = torch.ones_like(weights)
        if self.weighting == "skewed":
            weights[0] = weights[0] / 1000
        if self.n > 1:
            rival[0] = 0
        evidence = normal(self.d) * (self.evident != "zero")
        return {"T": self._templates(normal(self.n, self.d), normal(self.d)), "u": weights / weights.sum(), "z": evidence,
                "lam": normal(self.d), "q": rival / rival.sum(), "c": normal(self.d), "s": normal(1)[0].exp()}

    def _templates(self, free: Tensor, one: Tensor) -> Tensor:
        if self.layout == "duplicated":
            return torch.cat([free[:-1], free[-2:-1] if self.n > 1 else free])
        if self.layout == "all equal":
            return one.expand(self.n, self.d).clone()
        if self.layout == "collinear":
            return one + free[:, :1] * free[0]
        return free + 3 * one if self.layout == "far from 0" else free

    def __getitem__(self, name: str) -> Tensor:
        return self.drawn[name].to(self.device)

    @property
    def templates(self) -> Tensor:
        """T, (n, d)."""
        return self["T"]

    @property
    def prior(self) -> Tensor:
        """u, (n,), > 0 with sum 1."""
        return self["u"]

    @property
    def evidence(self) -> Tensor:
        """z, (d,)."""
        return self["z"]

    @property
    def dual(self) -> Tensor:
        """λ, (d,), not a maximizer."""
        return self["lam"]

    @property
    def target(self) -> Tensor:
        """μ + z, (d,)."""
        return self.prior @ self.templates + self.evidence

    def point(self) -> dict[str, Value]:
        """Every variable by its printed name, on the CPU, where the derivations' expressions are evaluated."""
        return {"n": self.n, "d": self.d, "alpha": self.alpha, **self.drawn}

    def tolerance(self, *magnitudes: Tensor | float) -> float:
        """Rounding in float64 of sums over templates and coordinates, relative to what enters and to exp's argument."""
        largest = max(float(torch.as_tensor(x, dtype=torch.float64).abs().max().cpu()) for x in (1.0, *magnitudes))
        drawn = self.drawn
        exponent = float((drawn["T"].abs() @ torch.maximum(drawn["lam"].abs(), self.alpha * drawn["z"].abs())).max())
        scale = largest * (1 + exponent) * max(self.alpha, 1 / self.alpha)
        return tolerances.rounding("float64", self.n * self.d, scale)

    # ── the same problem in 50 digits ───────────────────────────────────────────────────────────────────────────────

    @cached_property
    def law(self) -> fifty_digits.Law:
        """The preference distribution, exactly as drawn but for the sum of its weights, which is 1 to 60 digits."""
        return fifty_digits.Law.of(self.drawn["T"].tolist(), self.drawn["u"].tolist())

    def maximizer(self, alpha: object = None) -> fifty_digits.Maximizer:
        """λ* and ĥ for this or another α."""
        return fifty_digits.maximize(self.law, self.drawn["z"].tolist(), self.alpha if alpha is None else alpha)

    @property
    def small(self) -> float:
        """An α inside the range of the expansions at 0."""
        return float(fifty_digits.small(self.law, self.drawn["z"].tolist()))


def rounded(numbers: Sequence[object]) -> Tensor:
    """50-digit numbers as a float64 tensor."""
    return torch.tensor([float(x) for x in numbers], dtype=torch.float64)  # type: ignore[arg-type]


@st.composite
def mem_problems(
    draw: st.DrawFn,
    *,
    smallest_n: int = 1,
    max_n: int = 4,
    max_d: int = 3,
    alphas: tuple[float, ...] = ALPHAS,
    layouts: tuple[str, ...] = LAYOUTS,
    priors: tuple[str, ...] = PRIORS,
    evidence: tuple[str, ...] = EVIDENCE,
) -> MemProblem:
    """Draw a problem of ordinary magnitude; n = 1, d = 1, n < d and n > d, and every layout included.

    Raises ValueError for a range or a choice that is empty or unknown.
    """
    known = ((layouts, LAYOUTS), (priors, PRIORS), (evidence, EVIDENCE))
    if not 1 <= smallest_n <= max_n or max_d < 1 or any(not set(c) <= set(all_) or not c for c, all_ in known):
        raise ValueError(f"mem_problems: {smallest_n}…{max_n}, {max_d}, {layouts}, {priors}, {evidence} were given")
    n = draw(st.integers(smallest_n, max_n))
    d = draw(st.integers(1, max_d))
    plain = draw(st.booleans())                              # half of the problems have no corner but their sizes
    layout = layouts[0] if plain else draw(st.sampled_from(layouts))
    weighting = priors[0] if plain else draw(st.sampled_from(priors))
    evident = evidence[0] if plain else draw(st.sampled_from(evidence))
    return MemProblem(n, d, draw(st.sampled_from(alphas)), layout, weighting, evident, draw(st.integers(0, 2**31)))
