"""One weight of a model that is not the certified optimum is refused."""

import pytest
import torch

from evidence import Run
from evidence.models import certified
from evidence.models.captured import random_model
from evidence.models.rows import ModelRow, sampled, weights


@pytest.mark.parametrize("factor", [-5.0, 0.0, 5.0])
@pytest.mark.parametrize("gap", [0.0, 3.0])
def test_one_weight_that_is_off_by_some_tolerances_misses_by_them(
    monkeypatch: pytest.MonkeyPatch, factor: float, gap: float
) -> None:
    """What is allowed is the rounding of the model and the gap of the solver together, the latter in units of the former."""
    row = sampled(random_model("bert"), 1)[0]
    allowed = (1 + gap) * row.error

    def solution(row: ModelRow) -> tuple[torch.Tensor, float]:
        plan = row.weights.double().clone()
        plan[1] += factor * allowed
        return plan, gap * row.error

    monkeypatch.setattr(certified, "solution", solution)
    missed, reading = certified.against_solver(row)
    assert missed == pytest.approx(abs(factor), rel=1e-6)
    assert reading.tolerance == pytest.approx(allowed)


def test_a_complete_run_solves_more_rows_than_a_quick_one(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = []

    def some(problems: object, count: int) -> list[ModelRow]:
        counts.append(count)
        return sampled(random_model("bert"), count)

    monkeypatch.setattr(certified, "paragraph", lambda _: None)
    monkeypatch.setattr(certified, "sentence", lambda _: None)
    monkeypatch.setattr(certified, "sampled", some)
    monkeypatch.setattr(certified, "against_solver", lambda row: (0.5, weights(row)))
    for quick in (True, False):
        finding = certified.certified_rows("eot.thm3.3", Run(quick=quick))
        assert f"{counts[-2]} rows of a pretrained encoder" in finding.scope
        assert finding.error == pytest.approx(0.5)
    assert counts[2] > counts[0] >= counts[1] == counts[3] > 1
