"""The observation of Figure 3's estimate refuses an estimate from almost no evidence."""

from dataclasses import replace

import pytest

from evidence import Outcome, Run
from evidence.deciphering.section6_figure3 import deviation_from_the_mean
from numerics.experiments import approximation

CLAIM = "deciphering.s6.still-deviates"


def test_estimate_deviates_from_the_mean() -> None:
    assert deviation_from_the_mean(CLAIM, Run()).outcome is Outcome.HOLDS


def test_weak_evidence_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without evidence the estimate stays at μ."""
    problem = approximation.figure_problem()
    weak = replace(problem, evidence=problem.evidence / 100)
    monkeypatch.setattr(approximation, "figure_problem", lambda: weak)
    assert deviation_from_the_mean(CLAIM, Run()).outcome is Outcome.REFUTED
