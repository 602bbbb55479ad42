"""One set of locations with everything that the geometric view names, drawn for comparison with proved expressions."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property

import torch
from hypothesis import strategies as st
from torch import Tensor

from evidence import Reading, Value
from evidence.instances.placement import Placed
from numerics import tolerances

WIDTH, FEATURES, BASIS, UNITS = 3, 2, 2, 4  # d, D, M, H
KINDS = ("any", "small", "tied", "one", "behind")  # kinds of data x
LARGEST = 4.0  # no number that is drawn exceeds it in magnitude


@dataclass(frozen=True)
class Scene(Placed):
    """m locations with data, weights, values, basis functions and all else that a claim may need."""

    m: int
    seed: int
    kind: str

    def draw(self, name: str, *shape: int) -> Tensor:
        """Normal numbers in float64, cut at ±2, the same for the same name."""
        generator = torch.Generator().manual_seed(self.seed + sum(map(ord, name)))
        return torch.randn(*shape, generator=generator, dtype=torch.float64).clamp(-2, 2).to(self.device)

    @cached_property
    def x(self) -> Tensor:
        """The data: in general position, tied, e₁ times a number, or all of them negative."""
        values = self.draw("x", self.m)
        if self.kind == "small":
            return values / 8
        if self.kind == "tied":
            return values[:1].expand(self.m).clone()
        if self.kind == "one":
            return torch.eye(self.m, dtype=torch.float64, device=self.device)[0] * (1 + values[0].abs())
        return values - 2 if self.kind == "behind" else values

    @property
    def p(self) -> Tensor:
        """Any weights."""
        return torch.softmax(self.draw("p", self.m), -1)

    @property
    def best(self) -> int:
        """The index of a largest entry of x, counted from 1."""
        return int(self.x.argmax()) + 1

    def reading(self, values: Mapping[str, Value], *, right: bool = False, scale: float = 1.0, **routes: Tensor) -> Reading:
        """Routes at named values; sums of at most m² products of at most three numbers that were drawn, times `scale`."""
        point = {name: value.cpu() if isinstance(value, Tensor) else value for name, value in values.items()}
        largest = max([1.0, scale, *(float(route.abs().max()) for route in routes.values())])
        tolerance = tolerances.rounding("float64", self.m**2, LARGEST**3 * largest)
        return Reading({"m": self.m, **point}, routes, tolerance, "right" if right else "left")


@cache
@st.composite
def scenes(draw: st.DrawFn, smallest: int = 1, kinds: tuple[str, ...] = KINDS) -> Scene:
    """Draw a scene; one location, ties and data that are negative throughout are included."""
    return Scene(draw(st.integers(smallest, 5)), draw(st.integers(0, 2**31)), draw(st.sampled_from(kinds)))
