"""Rows of models as evidence: rows without a vote are right as well, errors are reported, and models are loaded lazily."""

import math
import subprocess
import sys

import pytest

from derivations.records.claims import Layer, Outcome
from evidence import hold
from evidence.models import temperature
from evidence.models.captured import ARCHITECTURES, random_model
from evidence.models.rows import POTENTIAL_GRADIENT, POTENTIAL_HESSIAN, WEIGHTS, Quantity, conclude, sampled, weights, worst
from numerics.models.zoo import zoo

IMPORTED = """
import pkgutil, sys
import evidence.dtypes, evidence.models as package
for each in pkgutil.iter_modules(package.__path__, "evidence.models."):
    __import__(each.name)
print(*{"sklearn", "transformers"} & set(sys.modules))
"""


def test_every_architecture_is_listed() -> None:
    assert tuple(zoo()) == ARCHITECTURES


@pytest.mark.parametrize("quantity", [WEIGHTS, POTENTIAL_GRADIENT, POTENTIAL_HESSIAN])
def test_rows_without_temperature(quantity: Quantity) -> None:
    """T5 has no vote because τ = 1 hides a twin, but the closed forms hold for its rows, too."""
    problems = random_model("t5")
    assert {problem.temperature for problem in problems} == {1.0}
    assert worst(map(quantity.misses, problems)) <= 1


def test_t5_does_not_scale() -> None:
    """Otherwise the probe would not depend on the model."""
    assert not temperature.agrees(*temperature.measured()["t5"])


@pytest.mark.parametrize(
    ("missed", "outcome"),
    [(0.5, Outcome.HOLDS), (5.0, Outcome.INCONCLUSIVE), (50.0, Outcome.REFUTED), (math.nan, Outcome.INCONCLUSIVE)],
)
def test_the_worst_row_is_reported(missed: float, outcome: Outcome) -> None:
    vote = hold("eot.18", Layer.TORCH, map(weights, sampled(random_model("bert"), 3)))
    finding = conclude(vote, missed, "rows")
    assert finding.outcome is outcome
    assert finding.detail == ("" if missed <= 1 else f"worst row misses by {missed:.3g} tolerances")


def test_one_nan_is_the_worst() -> None:
    assert math.isnan(worst([0.5, math.nan, 0.7]))


def test_nothing_is_loaded_before_an_observation_runs() -> None:
    process = subprocess.run([sys.executable, "-c", IMPORTED], capture_output=True, text=True, check=True)
    assert process.stdout.strip() == ""
