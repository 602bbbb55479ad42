"""Votes on: The regularizers of section 4, the problem they make, and its solutions by their Karush–Kuhn–Tucker points."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import torch
from hypothesis import strategies as st
from torch import Tensor

from evidence import Reading, Value
from evidence.instances.placement import Placed
from numerics import regularizers, tolerances

HALVINGS = 60  # of an interval of length ≤ 1 + 1/(α−1): to the last bit of 1


@dataclass(frozen=True)
class Point(Placed):
    """A Karush–Kuhn–Tucker point: p on some face of the simplex, μ ≥ 0 off it, θ; the scores follow from it.

    Weights that are not 0 exceed 1/50 and multipliers off the face exceed 1/10, so that p is a smooth function of s.
    """

    m: int
    seed: int
    a: float
    tied: bool

    @cached_property
    def drawn(self) -> dict[str, Tensor]:
        """Every vector, by its printed name, on the CPU."""
        generator = torch.Generator().manual_seed(self.seed)

        def uniform(low: float, high: float, *shape: int) -> Tensor:
            return low + (high - low) * torch.rand(*shape, generator=generator, dtype=torch.float64)

        face = uniform(0, 1, self.m) < 0.6
        face[int(uniform(0, self.m, 1))] = True
        weights = torch.ones(self.m, dtype=torch.float64) if self.tied else uniform(0.1, 1, self.m)
        p = torch.where(face, weights, 0.0)
        mixtures = uniform(0.1, 1, 3, self.m)
        mixtures = mixtures / mixtures.sum(-1, keepdim=True)
        return {
            "p": p / p.sum(),
            "mu": torch.where(face, 0.0, uniform(0.1, 2, self.m)),
            "theta": uniform(-2, 2, 1)[0],
            "s": uniform(-2, 2, self.m),
            "v": uniform(0.1, 2, self.m),
            "nu": uniform(0, 2, self.m),
            "lam": uniform(-2, 2, 1)[0],
            "x": mixtures[0],
            "y": mixtures[1],
            "w": mixtures[2],
            "t": uniform(0.2, 3, 1)[0],
            "wx": uniform(-2, 2, 1)[0],
            "wy": uniform(-2, 2, 1)[0],
            "wz": uniform(-2, 2, 1)[0],
            "S": uniform(-2, 2, self.m, self.m),
            "P": uniform(0.1, 1, self.m, self.m),
            "gamma": uniform(0, 2, 1)[0],
            "tau": uniform(0.5, 3, 1)[0],
            "b": uniform(-2, -0.2, 1)[0],
        }

    def __getitem__(self, name: str) -> Tensor:
        return self.drawn[name].to(self.device)

    def point(self, **other: Value) -> dict[str, Value]:
        """Every variable by its printed name, on the CPU."""
        return {"m": self.m, "a": self.a, **self.drawn, **other}

    @property
    def quadratic(self) -> Tensor:
        """θ1 + p − μ."""
        return self["theta"] + self["p"] - self["mu"]

    @property
    def tsallis(self) -> Tensor:
        """θ1 + p^a/a − μ."""
        return self["theta"] + self["p"] ** self.a / self.a - self["mu"]

    @property
    def distance(self) -> Tensor:
        """|i − j|."""
        positions = torch.arange(self.m, device=self.device)
        return (positions[:, None] - positions).abs().double()


@st.composite
def points(draw: st.DrawFn, smallest: int = 1) -> Point:
    """Draw a point; m = 1, ties, one-hot and dense solutions included."""
    return Point(
        draw(st.integers(smallest, 5)),
        draw(st.integers(0, 2**31)),
        draw(st.sampled_from((0.25, 0.5, 1.0, 1.5, 2.0))),
        draw(st.booleans()),
    )


def reading(point: Point, scale: float = 1.0, extra: Mapping[str, Value] = {}, /, **routes: Tensor) -> Reading:
    """Routes at a point.

    All that is drawn is at most 2 in size, and so are distances at most 5; m² products of such numbers are summed.
    """
    largest = max([1.0, *(float(route.abs().max()) for route in routes.values())])
    return Reading({**point.point(), **extra}, routes, tolerances.rounding("float64", point.m**2, 100 * scale * largest))


def bisected(scores: Tensor, a: float) -> Tensor:
    """((s_j − θ)₊ a)^(1/a) with the θ that makes the sum 1, by bisection on θ."""
    low, high = scores.max() - 1 / a, scores.max()
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        heavy = ((a * (scores - middle)).clamp(min=0) ** (1 / a)).sum() >= 1
        low, high = torch.where(heavy, middle, low), torch.where(heavy, high, middle)
    return (a * (scores - (low + high) / 2)).clamp(min=0) ** (1 / a)


def objective(p: Tensor, scores: Tensor, regularizer: Callable[[Tensor], Tensor]) -> Tensor:
    """−⟨p, s⟩ + Ω(p)."""
    return regularizer(p) - (p * scores).sum()


def half_square(p: Tensor) -> Tensor:
    return p.square().sum() / 2


def close_to_others(point: Point) -> Reading:
    own = regularizers.sparsemax(point.quadratic)
    return reading(point, closed_form=own.expand(point.m, point.m))
