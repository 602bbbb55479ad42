"""What is allowed to shipped code is its rounding error, from both sides."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from evidence import Reading
from evidence.eot.section4_entmax import condition
from evidence.source import t5_parts, transformations
from numerics import tolerances


def test_normalized_numbers_are_rounded_in_proportion_to_the_largest() -> None:
    for reading in t5_parts.normalized():
        output = reading.routes["T5"]
        assert len(output) > 1
        assert 1.0 <= reading.tolerance / tolerances.rounding("float32", len(output), float(output.abs().max())) < 10.0


def test_all_numbers_of_the_model_are_counted() -> None:
    """Those of T5-small are 60 506 624."""
    assert t5_parts.position_numbers() == (t5_parts.STACKS * t5_parts.BUCKETS * t5_parts.HEADS, 60_506_624)


def test_transformations_are_allowed_the_error_of_their_inputs_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    points: list[transformations.Point] = []
    readings: list[Reading] = []

    def compute(point: transformations.Point) -> torch.Tensor:
        points.append(point)
        return point["p"]

    def hold(claim: str, layer: object, made: list[Reading], **_: Any) -> Any:
        readings.extend(made)
        return SimpleNamespace(instances=len(made))

    monkeypatch.setattr(transformations, "hold", hold)
    monkeypatch.setattr(transformations, "finding", lambda *_: None)
    transformations.published("", "eot.prop4.3", compute)
    assert len({(point.m, point.a, point.tied) for point in points}) > 20
    for point, reading in zip(points, readings, strict=True):
        assert 10 * condition(point) * tolerances.eps("float64") < reading.tolerance < 3e-11
