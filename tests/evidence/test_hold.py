"""Explicit readings are compared with the statement of their claim, or with an explicit statement if it has none."""

import pytest
import sympy as sp
import torch

from derivations.documents.eot.appendix_a_matrix import d, shipped
from derivations.records.claims import Layer, Outcome
from derivations.relations import Equation
from evidence.harness import hold
from evidence.readings import Reading

CLAIM = "eot.sA.typical-temperature"


@pytest.mark.parametrize(("power", "outcome"), [(0.5, Outcome.HOLDS), (1.0, Outcome.REFUTED)])
def test_readings_of_an_explicit_statement(power: float, outcome: Outcome) -> None:
    readings = [
        Reading({d.name: width, shipped.name: width**power}, {"own": torch.tensor(width**power, dtype=torch.float64)}, 1e-12)
        for width in (2, 3)
    ]
    assert hold(CLAIM, Layer.SOURCE, readings, statement=Equation(shipped, sp.sqrt(d))).outcome is outcome


def test_a_claim_without_a_statement_is_refused() -> None:
    with pytest.raises(ValueError, match=f"^claim: expected one with a derivation, got {CLAIM}$"):
        hold(CLAIM, Layer.SOURCE, [])


def test_a_second_statement_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^statement: expected none, since eot\.46 has a derivation, got "):
        hold("eot.46", Layer.SOURCE, [], statement=Equation(shipped, sp.sqrt(d)))
