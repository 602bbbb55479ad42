"""Returned bounds name the claims that prove them; each is in the catalogue, and most belong to `beyond`."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import pytest

from derivations.register.catalogue import entries
from numerics import mem, ot_attention
from numerics.experiments.deviation.statistics import BOUNDS, STATISTICS

OF_BOUNDS = {
    "mem.Certificate": (mem.Certificate, {"mean", "weights", "shift"}),
    "ot_attention.ApproximationBound": (ot_attention.ApproximationBound, set()),
}
"""Each class of bounds, and its attributes that are no bounds."""


def unknown(claims: Mapping[str, tuple[str, ...]]) -> list[str]:
    """The ids that belong to no document."""
    return [id for ids in claims.values() for id in ids if id not in entries()]


@pytest.mark.parametrize("name", OF_BOUNDS)
def test_every_bound_names_claims_that_exist(name: str) -> None:
    claims_named, others = OF_BOUNDS[name]
    bounds: Any = claims_named
    assert set(bounds.CLAIMS) == {field.name for field in fields(bounds)} - others
    assert all(bounds.CLAIMS.values())
    assert unknown(bounds.CLAIMS) == []
    assert any(id.startswith("beyond.") for ids in bounds.CLAIMS.values() for id in ids)


def test_the_bounds_of_the_deviation_report_name_claims_that_exist() -> None:
    assert set(BOUNDS) == {name for name in STATISTICS if name.endswith("_bound")}
    assert unknown(BOUNDS) == []


def test_a_missing_id_is_detected() -> None:
    assert unknown({"mean": ("beyond.mean-smooth", "beyond.no-such-claim")}) == ["beyond.no-such-claim"]
