"""The search for violations: true and sharp bounds pass, false or loose ones are refused."""

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


def test_a_true_and_sharp_bound_passes() -> None:
    finding = searching(SPECTRAL)
    assert (finding.outcome, set(finding.refuted_twins)) == (Outcome.HOLDS, TWINS)


def test_a_violated_bound_is_refuted() -> None:
    finding = searching(scaled(0.99))
    assert finding.outcome is Outcome.REFUTED
    assert finding.detail.startswith("violated by")


def test_a_bound_that_is_wrongly_called_sharp_is_not_supported() -> None:
    finding = searching(scaled(1.01))
    assert finding.outcome is Outcome.INCONCLUSIVE
    assert finding.detail.startswith("declared sharp: expected right/left of 1 − 1e-06, got 0.99")
