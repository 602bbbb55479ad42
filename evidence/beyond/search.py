"""An inequality at thousands of random instances, and a gradient ascent that tries to violate it.

Free real numbers are drawn; the problem maps them into the domains of its variables and computes both sides in one batch.
From the tightest instances the ascent raises right/left.  The tightest of all, and some others, are then compared one by one
with the proved statement and its twins, as drawn instances are.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import torch
from hypothesis import strategies as st
from torch import Tensor

from evidence import Finding, Layer, Observed, Outcome, Reading, Run, Sampled, Value, hold
from numerics import tolerances

INSTANCES = 12_000
STARTS, STEPS, RATE = 64, 150, 0.05  # of the ascent
HELD, SPACED = 16, 4  # instances to compare: the tightest, and some of the others
ATTAINED = 1e-6
"""How close right/left has to come to 1 where a bound is declared sharp."""

Free = Mapping[str, Tensor]
"""Free real numbers by name, (batch, ...)."""


@dataclass(frozen=True)
class Problem:
    """An inequality left ≥ right, batched.

    Attributes:
        shapes: of the free numbers, for a number of keys.
        values: from these to the values of the statement's variables by their printed names, (batch, ...).
        sides: from the values to both sides, (batch,) each.
        scale: the magnitude of the numbers that both sides are differences of.
        sharp: whether the ascent has to come within ``ATTAINED`` of equality.
        sizes: how many keys there are.
        counts: the sizes by their printed names, for a number of keys.
        least: what the larger side has to exceed for an instance to be compared: 0 ≥ 0 proves nothing.
    """

    shapes: Callable[[int], Mapping[str, tuple[int, ...]]]
    values: Callable[[Free], Mapping[str, Tensor]]
    sides: Callable[[Mapping[str, Tensor]], tuple[Tensor, Tensor]]
    scale: float = 100.0
    sharp: bool = False
    sizes: Sequence[int] = (2, 3, 5)
    counts: Callable[[int], Mapping[str, int]] = lambda m: {"m": m}
    least: float = 1e-2

    def tightness(self, free: Free) -> Tensor:
        """right/left, or 0 where the left side is too small to tell."""
        left, right = self.sides(self.values(free))
        return torch.where(left > self.least, right / left.clamp(min=self.least), 0.0)


@dataclass(frozen=True)
class SearchResult:
    """The instances of a search with one number of keys, tightest first, with both sides."""

    m: int
    values: Mapping[str, Tensor]
    left: Tensor
    right: Tensor
    tightness: float
    worst: float  # right − left, in tolerances


def drawn(problem: Problem, m: int, count: int, device: str, seed: int = 0) -> dict[str, Tensor]:
    """Free numbers of several magnitudes."""
    generator = torch.Generator().manual_seed(seed + m)
    widths = torch.tensor([0.1, 1.0, 3.0], dtype=torch.float64)[torch.randint(3, (count,), generator=generator)]
    return {
        name: (widths.view(-1, *[1] * len(shape)) * torch.randn(count, *shape, generator=generator, dtype=torch.float64)).to(
            device
        )
        for name, shape in problem.shapes(m).items()
    }


def raised(problem: Problem, free: Free) -> dict[str, Tensor]:
    """The tightest instances after a gradient ascent on right/left."""
    best = problem.tightness(free).topk(min(STARTS, len(next(iter(free.values()))))).indices
    moving = {name: x[best].clone().requires_grad_() for name, x in free.items()}
    optimizer = torch.optim.Adam(moving.values(), lr=RATE)
    for _ in range(STEPS):
        optimizer.zero_grad()
        (-problem.tightness(moving).sum()).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return {name: x.detach() for name, x in moving.items()}


def searched(problem: Problem, m: int, count: int, device: str) -> SearchResult:
    """Draw instances, ascend from the tightest, and order all of them."""
    free = drawn(problem, m, count, device)
    ascended = raised(problem, free)
    everything = {name: torch.cat([x, ascended[name]]) for name, x in free.items()}
    values = problem.values(everything)
    left, right = problem.sides(values)
    tolerance = allowed(problem, m, left, right)
    tightness = problem.tightness(everything)
    order = tightness.argsort(descending=True)
    worst = float(((right - left) / tolerance).max())
    ordered = {name: x[order] for name, x in values.items()}
    return SearchResult(m, ordered, left[order], right[order], float(tightness.max()), worst)


def allowed(problem: Problem, m: int, left: Tensor, right: Tensor) -> Tensor:
    """The rounding of both sides."""
    unit = tolerances.rounding("float64", m * m, 1.0)
    return unit * (problem.scale + left.abs() + right.abs())


def readings(problem: Problem, result: SearchResult) -> Iterator[Reading]:
    """The tightest instances, and some that are spaced evenly among the others, one by one."""
    for index in (*range(HELD), *(len(result.left) * k // (SPACED + 1) for k in range(1, SPACED + 1))):
        left, right = result.left[index], result.right[index]
        if float(left.abs().maximum(right.abs())) > problem.least:
            point: dict[str, Value] = {name: x[index].cpu() for name, x in result.values.items()}
            sizes, allowance = problem.counts(result.m), float(allowed(problem, result.m, left, right))
            yield Reading({**sizes, **point}, {"batched": left}, allowance)


def sought(claim: str, problem: Problem, count: int = 16) -> tuple[Sampled[Reading], Observed]:
    """The votes on an inequality: single instances, and a search of thousands with an ascent."""
    checked = Sampled(claim, Layer.TORCH, itself, on=instances(problem), count=count)
    return checked, Observed(claim, Layer.TORCH, search(problem), name="search")


def search(problem: Problem) -> Callable[[str, Run], Finding]:
    """An observation of a claim by searching."""

    def observe(claim: str, run: Run) -> Finding:
        count = INSTANCES // len(problem.sizes) // (4 if run.quick else 1)
        return verdict(claim, problem, [searched(problem, m, count, run.device) for m in problem.sizes], run.device)

    return observe


def instances(problem: Problem) -> st.SearchStrategy[Reading]:
    """Single instances, half of them drawn as the search draws them, half after an ascent: a slightly wrong bound fails only
    where there is little room."""

    def one(m: int, seed: int, tight: bool) -> Reading:
        free = ascended(problem, m) if tight else drawn(problem, m, 1, "cpu", seed)
        index = seed % len(next(iter(free.values())))
        values = problem.values({name: x[index : index + 1] for name, x in free.items()})
        left, right = problem.sides(values)
        point: dict[str, Value] = {name: x[0] for name, x in values.items()}
        return Reading({**problem.counts(m), **point}, {"batched": left[0]}, float(allowed(problem, m, left, right)[0]))

    return st.builds(one, st.sampled_from(tuple(problem.sizes)), st.integers(0, 2**31), st.booleans())


@cache
def ascended(problem: Problem, m: int) -> Free:
    """Instances after the ascent, of which single ones are drawn."""
    return raised(problem, drawn(problem, m, 8 * STARTS, "cpu"))


def itself(reading: Reading) -> Reading:
    """The check of instances that are drawn as readings."""
    return reading


def verdict(claim: str, problem: Problem, results: Sequence[SearchResult], device: str) -> Finding:
    """Judge a search: a violation refutes; a bound that is declared sharp and is not attained leaves it inconclusive."""
    worst, tightest = max(each.worst for each in results), max(each.tightness for each in results)
    vote = hold(claim, Layer.TORCH, (reading for each in results for reading in readings(problem, each)))
    total = sum(len(each.left) for each in results)
    scope = (
        f"{total} random instances, {len(results) * STARTS} of them after {STEPS} steps of gradient ascent, float64, "
        f"{device}; right/left at most {tightest:.8g}"
    )
    outcome, detail = vote.outcome, vote.why_not
    if worst > 1:
        outcome, detail = Outcome.REFUTED, f"violated by {worst:.3g} tolerances"
    elif problem.sharp and tightest < 1 - ATTAINED:
        outcome, detail = Outcome.INCONCLUSIVE, f"declared sharp: expected right/left of 1 − {ATTAINED:g}, got {tightest:.8g}"
    return Finding(outcome, scope, detail, max(worst, vote.worst, 0.0), vote.refuted, device=device)
