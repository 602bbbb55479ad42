"""Section 9 of deciphering in torch: entropic transport, the weights (25), and which templates get some."""

from dataclasses import dataclass
from functools import cached_property

import torch
from hypothesis import strategies as st
from torch import Tensor

from evidence import Reading, Value
from evidence.instances.ot import ot_problems
from evidence.instances.placement import Placed
from numerics import ot_attention as ot
from numerics import tolerances

ANY = ot_problems()


@dataclass(frozen=True)
class Input(Placed):
    """N templates in 𝒜 and n in the input, on a line, with costs K between them, weights u > 0 and a few more numbers."""

    N: int
    n: int
    seed: int
    tied: bool

    @cached_property
    def drawn(self) -> dict[str, Tensor]:
        generator = torch.Generator().manual_seed(self.seed)

        def normal(*shape: int) -> Tensor:
            return torch.randn(*shape, generator=generator, dtype=torch.float64).clamp(-2, 2)

        costs = normal(self.N, self.n).abs()
        weights, sparse = normal(self.n).exp(), normal(self.N).exp()
        sparse[1:] = sparse[1:] * (normal(self.N - 1) > 0)
        scalars = {name: (normal(1)[0] / 2).exp() for name in ("alpha", "gamma", "v")}
        return {
            "K": costs * (not self.tied),
            "y": normal(self.N),
            "prior": weights / weights.sum(),
            "s": normal(1)[0],
            "sparse": sparse / sparse.sum(),
            "inner": normal(self.N),
            "M": normal(self.N, self.N),
            **scalars,
        }

    def __getitem__(self, name: str) -> Tensor:
        return self.drawn[name].to(self.device)

    def reading(self, *magnitudes: Tensor, extra: dict[str, Value] | None = None, **routes: Tensor) -> Reading:
        """Routes with their tolerance."""
        drawn = self.drawn
        point = {
            "N": self.N,
            "n": self.n,
            "K": drawn["K"],
            "y": drawn["y"],
            "u": drawn["prior"],
            "M": drawn["M"],
            **{name: drawn[name] for name in ("alpha", "gamma", "v", "s")},
            **(extra or {}),
        }
        largest = max(float(x.abs().max()) for x in (*magnitudes, *routes.values(), torch.ones(())))
        scale = largest * (1 + 8 * (1 + float(drawn["alpha"])) * (1 + 1 / float(drawn["gamma"])))
        return Reading(point, routes, tolerances.rounding("float64", self.N * self.n, scale))

    def weights(self) -> Tensor:
        """(25) on a line: t_i = y_i, z = 1."""
        return ot.weights(
            self["y"][:, None],
            torch.ones(1, dtype=torch.float64, device=self.device),
            self["prior"],
            self["K"],
            float(self["alpha"]),
            float(self["gamma"]),
        )


@st.composite
def inputs(draw: st.DrawFn, smallest: int = 1) -> Input:
    """Draw an input; N = 1, n = 1 and tied costs included."""
    return Input(draw(st.integers(smallest, 5)), draw(st.integers(1, 3)), draw(st.integers(0, 2**31)), draw(st.booleans()))


def weights(x: Input) -> Reading:
    """The templates after the first, with which a twin compares them."""
    return x.reading(extra={"h": 1}, closed_form=x.weights())
