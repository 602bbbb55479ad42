"""One head of attention with everything the derivations name, drawn for comparison with proved expressions."""

from dataclasses import dataclass
from functools import cache, cached_property

import torch
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.functional import linear, scaled_dot_product_attention

from evidence import Value
from evidence.instances.placement import Placed
from numerics import tolerances
from numerics.attention import GeneralizedAttention

BIASES = ("bK", "bQ", "bV")


@dataclass(frozen=True)
class Head(Placed):
    """n words in ℝ^d, a query, and the projections of H heads of width e; words may be hidden, biases may be 0.

    Attributes:
        n, d, e, heads: the sizes.
        hidden: whether the mask hides a word (if n > 1).
        seed: of all tensors.
        device: where ``head[name]`` lives.
    """

    n: int
    d: int
    e: int
    heads: int
    hidden: bool
    seed: int

    @cached_property
    def drawn(self) -> dict[str, Tensor]:
        """All drawn values, on the CPU, by their printed names."""
        generator = torch.Generator().manual_seed(self.seed)

        def normal(*shape: int) -> Tensor:
            return torch.randn(*shape, generator=generator, dtype=torch.float64).clamp(-1.5, 1.5)

        n, d, e, h = self.n, self.d, self.e, self.heads
        shown, hides = torch.ones(n, dtype=torch.float64), torch.zeros(n, dtype=torch.float64)
        if self.hidden and n > 1:
            shown[0], hides[0] = 0.0, 1.0
        free, priors = normal(n).exp(), normal(h, n).exp()
        priors[0] = priors[0] * shown  # a head that leaves out hidden words
        return {
            "X": normal(n, d),
            "y": normal(d),
            "T": normal(n, d),
            "z": normal(d),
            "B": 2 * normal(2 * n - 1),
            "K": normal(h, e, d),
            "Q": normal(h, e, d),
            "V": normal(h, e, d),
            "m": shown / shown.sum(),
            "s": hides,
            "u": free / free.sum(),
            "U": priors / priors.sum(-1, keepdim=True),
            "g": torch.ones(n, dtype=torch.float64),
            **{name: normal(e) for name in BIASES},
        }

    def __getitem__(self, name: str) -> Tensor:
        return self.drawn[name].to(self.device)

    def point(self, all_heads: bool = False) -> dict[str, Value]:
        """Every variable by its printed name; the projections of the first head, or of all."""
        projections = {} if all_heads else {name: self.drawn[name][0] for name in ("K", "Q", "V")}
        return {"n": self.n, "d": self.d, "e": self.e, "H": self.heads, **self.drawn, **projections}

    @property
    def log_mask(self) -> Tensor:
        """log m, −inf where a word is hidden, (n,)."""
        return self["m"].log()

    @property
    def positions(self) -> Tensor:
        """b_{j−i} for every query position j and word i, (n, n)."""
        numbers = torch.arange(self.n)
        return self["B"][self.n - 1 + numbers[:, None] - numbers]

    def projected(self, name: str, inputs: Tensor, bias: str | None = None, head: int = 0) -> Tensor:
        """The projection of inputs (…, d) by a head, (…, e)."""
        return linear(inputs, self[name][head], None if bias is None else self[bias])

    def by_library(
        self, queries: Tensor, mask: Tensor | None, scale: float | None, biases: bool = False, head: int = 0
    ) -> Tensor:
        """torch's own attention of queries (q, d) over the words, (q, e)."""
        query, key, value = (
            self.projected(name, x, f"b{name}" if biases else None, head)
            for name, x in (("Q", queries), ("K", self["X"]), ("V", self["X"]))
        )
        return scaled_dot_product_attention(query[None], key[None], value[None], mask, scale=scale)[0]

    def layer(self, scale: float | None = None, biases: bool = False, all_heads: bool = False) -> GeneralizedAttention:
        """The generalized layer with the projections of the first head, or of all."""
        heads = self.heads if all_heads else 1
        layer = GeneralizedAttention(self.d, heads, head_width=self.e, scale=scale, bias=biases, output=False).double()
        layer = layer.to(self.device)
        with torch.no_grad():
            for projection, name in ((layer.query, "Q"), (layer.key, "K"), (layer.value, "V")):
                projection.weight.copy_(self[name][:heads].flatten(0, 1))
                if projection.bias is not None:
                    projection.bias.copy_(self[f"b{name}"])
        return layer

    def generalized(self, queries: Tensor, mask: Tensor | None, scale: float | None = None, biases: bool = False) -> Tensor:
        """The generalized layer's output for queries (q, d), (q, e): by templates and evidence, not by keys."""
        with torch.no_grad():
            output: Tensor = self.layer(scale, biases)(queries, self["X"], None if mask is None else mask[None])
        return output

    def tolerance(self, *magnitudes: Tensor) -> float:
        """Rounding in float64 of products over coordinates, widths and words, enlarged by exp."""
        biggest = [float(self.drawn[name].abs().max()) + 1 for name in ("X", "y", "T", "z", "B", "K", "Q", "V", *BIASES)]
        score = self.d**2 * self.e * max(biggest) ** 4 + max(biggest)
        largest = max([self.d * max(biggest) ** 2, *(float(x.abs().max()) for x in magnitudes)])
        return tolerances.rounding("float64", self.n + self.d * self.e, largest * (1 + score))


@cache
@st.composite
def drawn_heads(draw: st.DrawFn, max_n: int = 3, smallest_n: int = 1, hidden: bool | None = None) -> Head:
    """Draw a head; n = 1, d < e and e < d included."""
    d, e = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    hides = draw(st.booleans()) if hidden is None else hidden
    return Head(draw(st.integers(smallest_n, max_n)), d, e, draw(st.integers(1, 3)), hides, draw(st.integers(0, 2**31)))
