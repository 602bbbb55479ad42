"""The bound on the rounding error of a chain of matrix products."""

from __future__ import annotations

import pytest
import torch

from evidence.source.rounding import Rounded, allowed
from evidence.source.shipped import REFUSAL, worst


@pytest.mark.parametrize("seed", range(8))
def test_rounding_stays_within_its_bound_and_not_far_below(seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    x, a, b = (torch.randn(4, 16, 300, generator=generator) * 10**seed, torch.randn(300, 40, generator=generator) / 10**seed,
               torch.randn(40, 300, generator=generator))
    seen = torch.rand(4, 16, 16, generator=generator) < 0.8
    seen[..., 0] = True

    def chain(x: Rounded, a: Rounded, b: Rounded) -> Rounded:
        return ((((x @ a) @ b) * 0.01 + x.value) @ x.mT * 10.0 ** (-2 * seed - 2)).softmax(seen) @ x

    expected = chain(*(Rounded.exact(y) for y in (x, a, b)))
    scores = (((x @ a) @ b) * 0.01 + x) @ x.mT * 10.0 ** (-2 * seed - 2)
    actual = scores.masked_fill(~seen, -torch.inf).softmax(-1) @ x
    ratio = worst(actual - expected.value, allowed(expected))
    assert 1e-2 < ratio <= 1.0
    assert worst(actual * (1 + 1e-4) - expected.value, allowed(expected)) >= REFUSAL
