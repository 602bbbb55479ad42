"""Figure 3's experiment: its numbers, its files, and its refusals."""

import json
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner
from matplotlib.figure import Figure

from evidence.instances import fifty_digits
from numerics.__main__ import main
from numerics.experiments import approximation
from numerics.experiments.approximation_figure import draw
from numerics.experiments.output import atomic_write

PROBLEM = approximation.figure_problem()


def test_the_exact_means_are_exact() -> None:
    study = approximation.study(PROBLEM, approximation.halvings())
    law = fifty_digits.Law.of(PROBLEM.templates.tolist(), PROBLEM.prior.tolist())
    for alpha, exact, bound in zip(study.alphas.tolist(), study.exact, study.bound.tolist(), strict=True):
        reference = fifty_digits.maximize(law, PROBLEM.evidence.tolist(), alpha).estimate
        assert exact.tolist() == pytest.approx([float(x) for x in reference], rel=0, abs=bound)
        assert bound < 1e-9


def test_order_and_constant_are_the_derived_ones() -> None:
    study = approximation.study(PROBLEM, approximation.halvings())
    assert study.slope == pytest.approx(2, abs=4 * float(study.alphas[-approximation.FITTED]))
    assert study.measured_constant == pytest.approx(study.constant, rel=4 * float(study.alphas[-1]))


def test_a_closed_form_of_first_order_has_another_slope(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fit distinguishes orders: half the evidence gives an error of order one."""
    closed_form = approximation.mem.closed_form
    monkeypatch.setattr(approximation.mem, "closed_form", lambda t, z, u, alpha: closed_form(t, z / 2, u, alpha))
    assert approximation.study(PROBLEM, approximation.halvings()).slope == pytest.approx(1, abs=0.05)


def test_a_step_in_the_wrong_direction_is_detected() -> None:
    """The proved witness: templates ±1 and z = 7/3 + tanh(7/10), from α ≈ 1.01 down to 0.3."""
    line = approximation.Problem(
        torch.tensor([[-1.0], [1.0]], dtype=torch.float64),
        torch.full((2,), 0.5, dtype=torch.float64),
        torch.tensor([7 / 3], dtype=torch.float64) + torch.tensor(0.7, dtype=torch.float64).tanh(),
    )
    study = approximation.study(line, torch.tensor([1.0133, 0.3, 0.003], dtype=torch.float64))
    assert study.worse_steps.tolist() == [True, False]


def test_alphas_that_do_not_decrease_are_refused() -> None:
    with pytest.raises(ValueError, match="alphas: expected decreasing"):
        approximation.study(PROBLEM, torch.tensor([1.0, 2.0], dtype=torch.float64))


def test_command(tmp_path: Path) -> None:
    out = tmp_path / "pictures"
    result = CliRunner().invoke(main, ["approximation", "--out", str(out), "--problems", "3"])
    assert result.exit_code == 0, result.output
    written = json.loads((out / "approximation.json").read_text())
    assert written["order"]["fitted"] == pytest.approx(2, abs=0.01)
    assert {path.name for path in out.iterdir()} == {"approximation.json", "approximation.png", "approximation.svg"}


@pytest.mark.parametrize("location", ["missing/pictures", "a file"])
def test_a_bad_folder_is_one_line(tmp_path: Path, location: str) -> None:
    (tmp_path / "a file").write_text("x")
    result = CliRunner().invoke(main, ["approximation", "--out", str(tmp_path / location)])
    assert result.exit_code == 2
    assert "--out" in result.output
    assert [path.name for path in tmp_path.iterdir()] == ["a file"]


def test_a_figure_labels_its_axes() -> None:
    study = approximation.study(PROBLEM, approximation.halvings())
    figure = draw(study, study)
    assert isinstance(figure, Figure)
    assert figure.axes[-1].get_xlabel() == "α"
    assert figure.axes[-1].get_ylabel() == "error of the estimate"


def test_no_partial_file_remains(tmp_path: Path) -> None:
    def interrupted() -> None:
        with atomic_write(tmp_path / "table.json") as path:
            path.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not list(tmp_path.iterdir())
