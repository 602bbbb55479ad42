"""The listings of Sinkhorn's iteration and divergence in torch: models of what they compute, beside our replacements.

A print is read from the model, mistakes included; a correction is read from the packages' functions or from the model with
the mistake taken out."""

from dataclasses import dataclass
from functools import cached_property

import torch
from hypothesis import strategies as st
from torch import Tensor

from evidence import Reading, Value
from evidence.instances.placement import Placed
from numerics import tolerances, transport

WIDTH = 2


@dataclass(frozen=True)
class Tokens(Placed):
    """n queries and m keys, or sources and targets, with everything that the listings' claims name."""

    n: int
    m: int
    epsilon: float
    seed: int
    tied: bool

    @cached_property
    def drawn(self) -> dict[str, Tensor]:
        """Everything by its printed name, on the CPU."""
        generator = torch.Generator().manual_seed(self.seed)

        def normal(*shape: int) -> Tensor:
            values = torch.randn(*shape, generator=generator, dtype=torch.float64)
            return values.round() if self.tied else values

        n, m = self.n, self.m
        return {
            "C": normal(n, m),
            "S": normal(n, m),
            "O": normal(n, n),
            "Q": normal(n, WIDTH),
            "K": normal(m, WIDTH),
            "a": normal(n).exp(),
            "b": normal(m).exp(),
            "u": normal(n).exp(),
            "v": normal(m).exp(),
            "start": normal(n).exp(),
            "V": normal(m),
            "x": normal(WIDTH),
            "y": normal(WIDTH) + 0.5,
            "points": normal(n, WIDTH),
            "c": normal(n),
            "X": normal(n, WIDTH).abs() + 0.1,
            "Y": normal(m, WIDTH).abs() + 0.1,
            "t": normal(1)[0],
            "A": normal(n, m).exp(),
            "row": normal(1, m).exp(),
            "h": normal(n),
            "P": torch.softmax(normal(m), -1),
            "B": torch.softmax(normal(m), -1),
            "w": normal(1)[0] + 0.3,
            "g": normal(m).abs(),
        }

    def __getitem__(self, name: str) -> Tensor:
        drawn = self.drawn[name]
        return (drawn / drawn.sum() if name in ("a", "b") else drawn).to(self.device)

    def point(self, *names: str, **values: Value) -> dict[str, Value]:
        """Sizes and ε, the drawn values of these names, and the given values, on the CPU."""
        shared: dict[str, Value] = {"n": self.n, "m": self.m, "d": WIDTH, "w": WIDTH, "eps": self.epsilon}
        placed = {name: value.detach().cpu() if isinstance(value, Tensor) else value for name, value in values.items()}
        return {**shared, **{name: self[name].cpu() for name in names}, **placed}

    def reading(self, point: dict[str, Value], *magnitudes: Tensor | float, **routes: Tensor) -> Reading:
        """Routes with the rounding of sums over all pairs of numbers of these magnitudes, exponents over ε included."""
        sizes = [
            float(torch.as_tensor(x, dtype=torch.float64).detach().abs().max()) for x in (1.0, *magnitudes, *routes.values())
        ]
        exponent = 1 + 8 / self.epsilon
        return Reading(
            point,
            {name: x.detach() for name, x in routes.items()},
            tolerances.rounding("float64", self.n * self.m + WIDTH, exponent**2 * max(sizes) ** 2),
        )


@st.composite
def tokens(draw: st.DrawFn, smallest: int = 1, square: bool = False) -> Tokens:
    """Draw sizes from 1 up, ties included."""
    n = draw(st.integers(smallest, 4))
    m = n if square else draw(st.integers(smallest, 4))
    return Tokens(n, m, draw(st.sampled_from((1.0, 0.5, 2.0))), draw(st.integers(0, 2**31)), draw(st.booleans()))


ANY, SQUARE, SEVERAL, PAIRS = tokens(), tokens(square=True), tokens(smallest=2), tokens(smallest=2, square=True)


def balanced(x: Tokens) -> transport.Transport:
    """The certified plan."""
    return transport.sinkhorn(x["C"], x["a"], x["b"], x.epsilon)
