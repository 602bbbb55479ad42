"""What is allowed to the heads of random models is their rounding, from below and from above."""

from typing import Any

import pytest
import torch

from evidence.source import heads
from numerics import tolerances

ZERO = torch.zeros(4, 4, dtype=torch.float64)


def point(score: float) -> dict[str, Any]:
    """A head of which the first word has a score, and all others 0."""
    key, words = ZERO.clone(), ZERO.clone()
    words[0, 0], key[0, 0] = 1.0, score
    return {
        "X": words,
        "y": words[0],
        "K": key,
        "Q": ZERO + torch.eye(4),
        "V": ZERO,
        "m": torch.full((4,), 0.25).double(),
        "B": torch.zeros(7).double(),
        "j": 2,
    }


@pytest.mark.parametrize("score", [0.0, 30.0, 60.0])
def test_odds_are_rounded_in_proportion_to_the_largest(monkeypatch: pytest.MonkeyPatch, score: float) -> None:
    weights = torch.full((4,), 0.25, dtype=torch.float64)
    monkeypatch.setattr(heads, "t5_points", lambda *roles: iter([(point(score), None, weights)]))
    (reading,) = heads.t5_odds()
    largest = float(reading.routes["T5"].max())
    assert tolerances.eps("float64") * largest < reading.tolerance < 1e-8 * largest


def test_a_head_of_order_one_is_right_to_twelve_digits() -> None:
    assert tolerances.eps("float64") < heads.rounded(point(0.0) | {"K": ZERO, "X": ZERO, "y": ZERO, "Q": ZERO}) < 1e-12
