"""What only a measurement can say of the transport chapter: memory with and without the matrix of weights."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import pytest
import torch

from derivations.claims import Evidence, Layer, Outcome
from numerics import one_sided
from numerics.benchmarks.peak_memory import PeakMemory
from numerics.flash import tiled_attention

CLAIM = "transport.s4.flash-efficiency"
LENGTHS, WIDTH, TILE = (256, 512, 1024), 32, 64


def peaks(length: int) -> tuple[int, int]:
    """The most bytes that attention holds at a time, with the matrix of weights and tile by tile."""
    query, key, value = torch.randn(3, length, WIDTH, generator=torch.Generator().manual_seed(length))
    with torch.no_grad(), PeakMemory((query, key, value)) as dense:
        whole = one_sided.context(one_sided.plan(one_sided.scores_from(query, key), math.sqrt(WIDTH)), value)
    with torch.no_grad(), PeakMemory((query, key, value)) as tiled:
        streamed = tiled_attention(query, key, value, tile=TILE).output
    torch.testing.assert_close(streamed, whole)
    return dense.peak, tiled.peak


@pytest.mark.claim(CLAIM, Layer.TORCH)
def test_memory_of_tiles(record_evidence: Callable[[Evidence], None]) -> None:
    start = time.perf_counter()
    measured = [peaks(length) for length in LENGTHS]
    dense, tiled = measured[-1]
    growth = [last / before for before, last in zip(measured[-2], measured[-1], strict=True)]
    less = all(by_tiles < whole for whole, by_tiles in measured) and growth[1] < 3 < growth[0]
    record_evidence(Evidence(
        claim=CLAIM,
        layer=Layer.TORCH,
        outcome=Outcome.HOLDS if less else Outcome.REFUTED,
        scope=f"{', '.join(map(str, LENGTHS))} queries and keys, width {WIDTH}, tiles of {TILE} keys, float32, "
        "without derivatives",
        seconds=time.perf_counter() - start,
        detail=f"at {LENGTHS[-1]} keys {dense:,} bytes at a time with the matrix of weights and {tiled:,} tile by tile; twice "
        f"the length takes {growth[0]:.2f} and {growth[1]:.2f} times as much. The traffic between a GPU's memories, which the "
        "document's word is about, and speed were not measured",
    ))
    assert less
