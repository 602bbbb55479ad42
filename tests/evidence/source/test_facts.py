"""Facts about shipped and published attention hold up to rounding, and their wrong versions fail."""

from __future__ import annotations

import math

import pytest

from evidence.source import published, shipped_bert, shipped_t5
from evidence.source.shipped import REFUSAL, Fact, no, yes

FACTS = {f"{module.__name__.rpartition('.')[2]}.{fact.__name__}": fact
         for module in (shipped_t5, shipped_bert, published) for fact in module.FACTS}


@pytest.mark.parametrize("fact", FACTS)
def test_facts(fact: str) -> None:
    finding = FACTS[fact]()
    assert finding.residual <= 1.0, finding
    assert finding.counter >= REFUSAL, finding
    assert finding.holds


@pytest.mark.parametrize("module", [shipped_t5, shipped_bert, published])
def test_every_fact_is_listed(module: object) -> None:
    written = [x for x in vars(module).values() if callable(x) and getattr(x, "__annotations__", {}).get("return") == "Fact"]
    assert set(written) == set(module.FACTS)  # type: ignore[attr-defined]


@pytest.mark.parametrize(("residual", "counter"), [(1.01, math.inf), (0.0, 9.9), (math.nan, math.inf), (0.0, math.nan),
                                                   (yes(False), no(False)), (yes(True), no(True))])
def test_facts_refuse(residual: float, counter: float) -> None:
    assert Fact("", "", 1.0, REFUSAL).holds
    assert not Fact("", "", residual, counter).holds
