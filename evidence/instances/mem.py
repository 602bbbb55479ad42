"""Problems of maximum entropy on the mean: single ones with everything that the claims name, and batches for the solvers.

`mem_problems` reaches n = 1, d = 1, n < d and n > d, templates that coincide (two, or all, so that Σ = 0), that lie on a line
(so that Σ is singular for d > 1) or far from the origin, equal, skewed and tiny prior weights, and no evidence at all.  Its
magnitudes are ordinary unless larger ones are requested, since a derivation's expression is evaluated as printed, with
exp⟨t_i, λ⟩ and no shift.  `mem_batches` draws hard cases for solvers: up to two leading dimensions, templates and priors that
rows share or do not, an α for every row, α between 10⁻⁴ and 10⁴, templates scaled by 8 so that logits saturate, no prior,
zeros in it, and masks, boolean or floating, that leave every row a template with a positive prior.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any, Self

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
MASKS = ("none", "boolean", "float", "bias")
"""No mask; boolean; floating, of 0 and −inf; floating, of numbers and −inf."""

BATCHES: dict[str, Any] = {
    "max_n": 6,
    "max_d": 4,
    "alphas": (1.0, 1e-4, 0.1, 30.0, 1e4),
    "layouts": (*LAYOUTS, "remote"),
    "priors": ("none", *PRIORS, "zeros"),
    "evidence": (*EVIDENCE, "small", "large"),
    "max_batch": 3,
    "scales": (1.0, 8.0, 0.01),
    "masks": MASKS,
}
"""Options of `mem_problems` for solvers: "remote" is shifted by 10 in every coordinate, "zeros" and "none" are a prior with
zeros and no prior, "small" and "large" evidence of a tenth and of ten."""


@dataclass(frozen=True, eq=False)
class MemBatch(Placed):
    """n templates in ℝ^d with weights u, evidence z and α, for one row or a batch of them; λ, weights q and c, s besides.

    Attributes:
        drawn: on the CPU, by printed names: T (n, d) or (*batch, n, d), z (*batch, d), u (n,) or (*batch, n), or no u where the
            prior is uniform and not given; where it was drawn, any dual point lam (*batch, d), any weights q, with a zero if
            n > 1, any direction c and a number s > 0.  ``problem[name]`` lives on `device`.
        alpha: positive, a number or (*batch,).
        mask: None, or boolean or floating, (*batch, n).
        layout, weighting, evident: how templates, prior and evidence were drawn, by ``LAYOUTS``, ``PRIORS``, ``EVIDENCE``.
        seed: of the drawn values.
    """

    drawn: dict[str, Tensor] = field(repr=False)
    alpha: float | Tensor
    mask: Tensor | None = field(default=None, repr=False)
    layout: str = ""
    weighting: str = ""
    evident: str = ""
    seed: int = 0

    @staticmethod
    def of(
        templates: Tensor,
        evidence: Tensor,
        prior: Tensor | None = None,
        alpha: float | Tensor = 1.0,
        mask: Tensor | None = None,
    ) -> "MemBatch":
        """The problems with these tensors, in the order in which solvers take them."""
        drawn = {"T": templates, "z": evidence} | ({} if prior is None else {"u": prior})
        return MemBatch(drawn, alpha, mask)

    def __getitem__(self, name: str) -> Tensor:
        return self.drawn[name].to(self.device)

    @property
    def n(self) -> int:
        return self.drawn["T"].shape[-2]

    @property
    def d(self) -> int:
        return self.drawn["T"].shape[-1]

    @property
    def templates(self) -> Tensor:
        """T, (n, d) or (*batch, n, d)."""
        return self["T"]

    @property
    def prior(self) -> Tensor | None:
        """u, (n,) or (*batch, n), ≥ 0 with sum 1; None where it is uniform and not given."""
        return self["u"] if "u" in self.drawn else None

    @property
    def evidence(self) -> Tensor:
        """z, (*batch, d)."""
        return self["z"]

    @property
    def dual(self) -> Tensor:
        """λ, (*batch, d), not a maximizer."""
        return self["lam"]

    @property
    def arguments(self) -> tuple[Tensor, Tensor, Tensor | None, float | Tensor, Tensor | None]:
        """The arguments of `numerics.mem.solve`."""
        return self.templates, self.evidence, self.prior, self.alpha, self.mask

    @property
    def weighted_prior(self) -> Tensor:
        """The prior that the mask leaves, normalized, (*batch, n), worked out apart from the code under test."""
        u = self.drawn["u"].double() if "u" in self.drawn else torch.ones(self.n, dtype=torch.float64)
        if self.mask is not None:
            u = u * (self.mask.double() if self.mask.dtype == torch.bool else self.mask.double().exp())
        u = u.expand(*self.drawn["z"].shape[:-1], self.n)
        return u / u.sum(-1, keepdim=True)

    def rows(self) -> "list[MemProblem]":
        """The problems one by one, without a mask: the prior is the one that the mask leaves."""
        batch = self.evidence.shape[:-1]
        templates = self.drawn["T"].expand(*batch, self.n, self.d).reshape(-1, self.n, self.d)
        alpha = torch.as_tensor(self.alpha, dtype=torch.float64).expand(batch).reshape(-1)
        columns = templates, self.drawn["z"].reshape(-1, self.d), self.weighted_prior.reshape(-1, self.n), alpha.tolist()
        return [MemProblem({"T": t, "z": z, "u": u}, a) for t, z, u, a in zip(*columns, strict=True)]

    def rounded_to(self, dtype: torch.dtype) -> Self:
        """The same problems with templates, evidence, prior and mask rounded to another dtype."""
        mask = self.mask if self.mask is None or self.mask.dtype == torch.bool else self.mask.to(dtype)
        return replace(self, drawn={name: x.to(dtype) for name, x in self.drawn.items()}, mask=mask)


@dataclass(frozen=True, eq=False)
class MemProblem(MemBatch):
    """A single problem without a mask, whose prior is given."""

    alpha: float

    @property
    def prior(self) -> Tensor:
        """u, (n,), ≥ 0 with sum 1."""
        return self["u"]

    @property
    def target(self) -> Tensor:
        """μ + z, (d,)."""
        return self.prior @ self.templates + self.evidence

    def point(self) -> dict[str, Value]:
        """Every variable by its printed name, on the CPU, where the derivations' expressions are evaluated."""
        return {"n": self.n, "d": self.d, "alpha": self.alpha, **self.drawn}

    def tolerance(self, *magnitudes: Tensor | float) -> float:
        """Rounding in float64 of sums over templates and coordinates, relative to the inputs and to exp's argument."""
        largest = max(float(torch.as_tensor(x, dtype=torch.float64).abs().max().cpu()) for x in (1.0, *magnitudes))
        drawn = self.drawn
        exponent = float((drawn["T"].abs() @ torch.maximum(drawn["lam"].abs(), self.alpha * drawn["z"].abs())).max())
        scale = largest * (1 + exponent) * max(self.alpha, 1 / self.alpha)
        return tolerances.rounding("float64", self.n * self.d, scale)

    @cached_property
    def law(self) -> fifty_digits.Law:
        """The preference distribution, exactly as drawn but for the sum of its weights, which is 1 to 60 digits."""
        return fifty_digits.Law.of(self.drawn["T"].tolist(), self.drawn["u"].tolist())

    def maximizer(self, alpha: object = None, **how: Any) -> fifty_digits.Maximizer:
        """λ* and ĥ for this or another α; `how` is as for `fifty_digits.maximize`."""
        return fifty_digits.maximize(self.law, self.drawn["z"].tolist(), self.alpha if alpha is None else alpha, **how)

    @property
    def small(self) -> float:
        """An α inside the range of the expansions at 0."""
        return float(fifty_digits.small(self.law, self.drawn["z"].tolist()))


def rounded(numbers: Sequence[object]) -> Tensor:
    """50-digit numbers as a float64 tensor."""
    return torch.tensor([float(x) for x in numbers], dtype=torch.float64)  # type: ignore[arg-type]


def mem_batch(
    n: int,
    d: int,
    alpha: float,
    seed: int,
    *,
    layout: str = "generic",
    weighting: str = "generic",
    evident: str = "generic",
    batch: tuple[int, ...] = (),
    shared: bool = True,
    own_alpha: bool = False,
    scale: float = 1.0,
    mask: str = "none",
) -> MemBatch:
    """The problems of a seed; the tensors of a single one do not depend on the options of batches.

    Args:
        n: the number of templates.
        d: the number of coordinates.
        alpha: positive.
        seed: of a generator of normal numbers, which are cut at ±2.
        layout: see ``LAYOUTS`` and ``BATCHES``.
        weighting: see ``PRIORS`` and ``BATCHES``.
        evident: see ``EVIDENCE`` and ``BATCHES``.
        batch: the leading dimensions.
        shared: whether rows share templates and prior.
        own_alpha: whether every row has an α, between half of it and all of it.
        scale: of the templates.
        mask: see ``MASKS``.
    """
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> Tensor:
        return torch.randn(shape, generator=generator, dtype=torch.float64).clamp(-2, 2)

    def uniform(*shape: int) -> Tensor:
        return torch.rand(shape, generator=generator, dtype=torch.float64)

    own = () if shared else batch
    weights, rival = normal(*own, n).exp(), normal(*batch, n).exp()
    if weighting == "uniform":
        weights = torch.ones_like(weights)
    if weighting == "skewed":
        weights[..., 0] = weights[..., 0] / 1000
    if n > 1:
        rival[..., 0] = 0
    evidence = normal(*batch, d) * {"zero": 0.0, "small": 0.1, "large": 10.0}.get(evident, 1.0)
    templates = scale * _templates(layout, normal(*own, n, d), normal(*own, d))
    drawn = {
        "T": templates,
        "u": weights,
        "z": evidence,
        "lam": normal(*batch, d),
        "q": rival / rival.sum(-1, keepdim=True),
        "c": normal(*batch, d),
        "s": normal(1)[0].exp(),
    }
    if weighting == "zeros":
        weights[..., 1:] = weights[..., 1:] * (uniform(*own, n - 1) < 0.5)
    drawn["u"] = weights / weights.sum(-1, keepdim=True)
    if weighting == "none":
        del drawn["u"]
    alphas = alpha * (1 + uniform(*batch)) / 2 if own_alpha else alpha
    return MemBatch(drawn, alphas, _mask(mask, uniform(*batch, n) < 0.6, normal(*batch, n)), layout, weighting, evident, seed)


def mem_problem(
    n: int, d: int, alpha: float, seed: int, *, layout: str = "generic", weighting: str = "generic", evident: str = "generic"
) -> MemProblem:
    """The single problem of a seed; the arguments are those of `mem_batch`."""
    drawn = mem_batch(n, d, alpha, seed, layout=layout, weighting=weighting, evident=evident).drawn
    return MemProblem(drawn, alpha, None, layout, weighting, evident, seed)


def _templates(layout: str, free: Tensor, one: Tensor) -> Tensor:
    if layout == "duplicated":
        return torch.cat([free[..., :-1, :], free[..., -2:-1, :] if free.shape[-2] > 1 else free], -2)
    if layout == "all equal":
        return one.unsqueeze(-2).expand_as(free).clone()
    if layout == "collinear":
        return one.unsqueeze(-2) + free[..., :1] * free[..., :1, :]
    if layout == "far from 0":
        return free + 3 * one.unsqueeze(-2)
    return free + 10.0 if layout == "remote" else free


def _mask(kind: str, allowed: Tensor, bias: Tensor) -> Tensor | None:
    allowed[..., 0] = True  # a template with a positive prior
    if kind in ("none", "boolean"):
        return allowed if kind == "boolean" else None
    return torch.where(allowed, bias if kind == "bias" else 0.0, -torch.inf)


@cache
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
    """Draw a single problem; half of all have no special case but their sizes.

    Args:
        draw: given by Hypothesis.
        smallest_n: the smallest number of templates.
        max_n: the largest one.
        max_d: the largest number of coordinates.
        alphas: to choose from.
        layouts: to choose from; the first is that of ordinary problems.
        priors: to choose from, likewise.
        evidence: to choose from, likewise.

    Raises ValueError for a range or a choice that is empty or unknown.
    """
    n, d, alpha, seed, kinds = _drawn(draw, smallest_n, max_n, max_d, alphas, layouts, priors, evidence)
    return mem_problem(n, d, alpha, seed, **kinds)


@st.composite
def mem_batches(draw: st.DrawFn, /, **choices: Any) -> MemBatch:
    """Draw problems for solvers, with the options `BATCHES` but for those that are chosen.

    `max_batch` is the largest size of each of up to two leading dimensions, 0 for a single problem, which has no mask;
    `scales` are those of the templates and `masks` of ``MASKS``, to choose from; the others are those of `mem_problems`.
    """
    options = {"smallest_n": 1} | BATCHES | choices
    max_batch, scales, masks = (options.pop(name) for name in ("max_batch", "scales", "masks"))
    n, d, alpha, seed, kinds = _drawn(draw, **options)
    if not max_batch:
        return mem_batch(n, d, alpha, seed, **kinds)
    return mem_batch(
        n,
        d,
        alpha,
        seed,
        **kinds,
        batch=tuple(draw(st.lists(st.integers(1, max_batch), max_size=2))),
        shared=draw(st.booleans()),
        own_alpha=draw(st.booleans()),
        scale=draw(st.sampled_from(scales)),
        mask=draw(st.sampled_from(masks)),
    )


def _drawn(
    draw: st.DrawFn,
    smallest_n: int,
    max_n: int,
    max_d: int,
    alphas: tuple[float, ...],
    layouts: tuple[str, ...],
    priors: tuple[str, ...],
    evidence: tuple[str, ...],
) -> tuple[int, int, float, int, dict[str, Any]]:
    """Draw n, d, α, a seed, and layout, weighting and evident by name."""
    choices = {"layouts": layouts, "priors": priors, "evidence": evidence}
    known = all(set() < set(chosen) <= set(BATCHES[name]) for name, chosen in choices.items())
    if not (known and 1 <= smallest_n <= max_n and max_d >= 1):
        raise ValueError(f"mem_problems: expected ranges and known choices, got {smallest_n}…{max_n}, {max_d} and {choices}")
    n = draw(st.integers(smallest_n, max_n))
    d = draw(st.integers(1, max_d))
    plain = draw(st.booleans())  # half of the problems have no special case but their sizes
    kinds = {
        name: known[0] if plain else draw(st.sampled_from(known))
        for name, known in (("layout", layouts), ("weighting", priors), ("evident", evidence))
    }
    return n, d, draw(st.sampled_from(alphas)), draw(st.integers(0, 2**31)), kinds
