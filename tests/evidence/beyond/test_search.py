"""The search for violations: what is true passes, what is false or less than sharp is refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from torch import Tensor

from evidence import Finding, Outcome
from evidence.beyond.jacobian_norms import SPECTRAL, spectral_sides
from evidence.beyond.search import Problem, searched, verdict

CLAIM = "beyond.jacobian-spectral"
TWINS = {"a quarter", "τ is lost"}


def searching(problem: Problem) -> Finding:
    return verdict(CLAIM, problem, [searched(problem, 2, 200, "cpu")], "cpu")


def scaled(factor: float) -> Problem:
    def sides(values: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
        left, right = spectral_sides(values)
        return factor * left, right

    return replace(SPECTRAL, sides=sides)


def test_what_is_true_and_sharp_passes() -> None:
    found = searching(SPECTRAL)
    assert (found.outcome, set(found.refuted_twins)) == (Outcome.HOLDS, TWINS)


def test_what_is_violated_is_refuted() -> None:
    found = searching(scaled(0.99))
    assert found.outcome is Outcome.REFUTED
    assert found.detail.startswith("violated by")


def test_what_is_said_to_be_sharp_and_is_not_is_no_support() -> None:
    found = searching(scaled(1.01))
    assert found.outcome is Outcome.INCONCLUSIVE
    assert found.detail.startswith("declared sharp: expected right/left of 1 − 1e-06, got 0.99")
