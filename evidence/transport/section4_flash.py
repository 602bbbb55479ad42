"""Votes on: Section 4, FlashAttention: tiles, the running peak, and what Sinkhorn has to do with them."""

import math
from dataclasses import dataclass

import torch
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from evidence import Finding, Layer, Outcome, Reading, Run, Sampled, Value, confirms, observes
from evidence.instances.attention import AttentionProblem, attention_problems
from evidence.instances.placement import Placed
from numerics import flash, one_sided, tolerances
from numerics.benchmarks.peak_memory import PeakMemory


@dataclass(frozen=True)
class Tiles(Placed):
    """Two tiles of scores and values of one query, and the numbers taken off them."""

    scores: tuple[Tensor, Tensor]
    values: tuple[Tensor, Tensor]

    def joined(self, parts: tuple[Tensor, Tensor]) -> Tensor:
        return torch.cat(parts).to(self.device)

    @property
    def whole(self) -> Tensor:
        """The output of all keys at once, from the closed form."""
        return one_sided.plan(self.joined(self.scores), 1.0) @ self.joined(self.values)

    @property
    def streamed(self) -> Tensor:
        """The output of one tile after the other."""
        left, right = (
            flash.contribution(s.to(self.device)[None], v.to(self.device)[:, None])
            for s, v in zip(self.scores, self.values, strict=True)
        )
        return flash.finish(flash.combine(left, right)).output[0, 0]

    def reading(self, **routes: Tensor) -> Reading:
        """Routes at these tiles; the peaks are the tiles' own, and the larger of both."""
        (x, y), (first, second) = self.scores, self.values
        peaks = {"xm": float(x.max()), "ym": float(y.max()), "xym": float(torch.cat(self.scores).max())}
        point: dict[str, Value] = {"t1": x.numel(), "t2": y.numel(), "x": x, "y": y, "X": first, "Y": second, **peaks}
        size = float(torch.cat(self.values).abs().max()) + 1
        scale = size * (1 + float(torch.cat(self.scores).abs().max()))
        return Reading(point, routes, tolerances.rounding("float64", x.numel() + y.numel(), scale))


@st.composite
def tiles(draw: st.DrawFn) -> Tiles:
    """Draw two tiles of one to four keys; equal scores included."""
    sizes = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**31)))
    scale = draw(st.sampled_from((2.0, 1.0, 0.0)))
    x, y, first, second = (torch.randn(size, generator=generator, dtype=torch.float64) for size in (*sizes, *sizes))
    return Tiles((scale * x, scale * y), (first, second))


@confirms(Layer.TORCH, "transport.s4.flash-tiles", on=tiles())
def first_tile(x: Tiles) -> Reading:
    size, scores = x.scores[0].numel(), x.joined(x.scores)
    indicators = torch.eye(scores.numel(), dtype=torch.float64, device=x.device)
    query = torch.ones(1, 1, dtype=torch.float64, device=x.device)
    tiled = flash.tiled_attention(query, scores[:, None], indicators, temperature=1.0, tile=[size, scores.numel() - size])
    return x.reading(closed_form=one_sided.plan(scores, 1.0)[:size], tiled=tiled.output[0, :size])


def exact(x: Tiles) -> Reading:
    query = torch.ones(1, 1, dtype=torch.float64, device=x.device)
    shipped = scaled_dot_product_attention(query, x.joined(x.scores)[:, None], x.joined(x.values)[:, None], scale=1.0)
    return x.reading(streamed=x.streamed, shipped=shipped[0, 0])


@confirms(Layer.TORCH, "transport.s4.flash-online", on=tiles(), corrected=exact)
def error_of_streaming(x: Tiles) -> Reading:
    return x.reading(streamed=(x.streamed - x.whole).abs())


def stabilized(x: AttentionProblem) -> Reading:
    shifted = x["S"] - x["o"][:, None]
    part = flash.contribution(shifted, torch.eye(x.m, dtype=torch.float64, device=x.device))
    return x.reading(x["o"], closed_form=one_sided.plan(shifted, 1.0), flash=flash.finish(part).output)


# ── the memory it takes, which only a measurement can say ───────────────────────────────────────────────────────────


LENGTHS, WIDTH, TILE = (256, 512, 1024), 32, 64


def peaks(length: int) -> tuple[int, int]:
    """The most bytes that attention holds at a time, with the matrix of weights and tile by tile."""
    query, key, value = torch.randn(3, length, WIDTH, generator=torch.Generator().manual_seed(length))
    with torch.no_grad(), PeakMemory((query, key, value)) as dense:
        untiled = one_sided.context(one_sided.plan(one_sided.scores_from(query, key), math.sqrt(WIDTH)), value)
    with torch.no_grad(), PeakMemory((query, key, value)) as tiled:
        streamed = flash.tiled_attention(query, key, value, tile=TILE).output
    torch.testing.assert_close(streamed, untiled)
    return dense.peak, tiled.peak


@observes(Layer.TORCH, "transport.s4.flash-efficiency")
def memory(claim: str, run: Run) -> Finding:
    measured = [peaks(length) for length in LENGTHS]
    dense, tiled = measured[-1]
    growth = [last / half for half, last in zip(measured[-2], measured[-1], strict=True)]
    less = all(by_tiles < untiled for untiled, by_tiles in measured) and growth[1] < 3 < growth[0]
    return Finding(
        Outcome.HOLDS if less else Outcome.REFUTED,
        f"{', '.join(map(str, LENGTHS))} queries and keys, width {WIDTH}, tiles of {TILE} keys, float32, without derivatives",
        f"at {LENGTHS[-1]} keys {dense:,} bytes at a time with the matrix of weights and {tiled:,} tile by tile; twice "
        f"the length takes {growth[0]:.2f} and {growth[1]:.2f} times as much. The traffic between a GPU's memories, which the "
        "document's word is about, and speed were not measured",
    )


VOTES = [Sampled("transport.s4.shift-invariance", Layer.TORCH, stabilized, on=attention_problems())]
