"""The temperature analyser: its curves, its derivatives, its files, and its refusals."""

import csv
import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner

from numerics import one_sided
from numerics.__main__ import main
from numerics.experiments.models_and_texts import Subject
from numerics.experiments.temperature import curves, figures
from numerics.models.capture import capture
from numerics.models.zoo import zoo

AT = curves.temperatures(0.1, 10, 5)
# Truncation of a central difference is about its step squared, rounding about eps over it; curvatures here reach some hundreds.
AGREE = 1e3 * curves.STEP**2


def subject(name: str) -> Subject:
    example = zoo()[name]()
    return Subject(name, "random", example.model, [example.inputs], name)


def rows(scores: list[list[float]]) -> tuple[torch.Tensor, torch.Tensor]:
    logits = torch.tensor(scores, dtype=torch.float64)[None, None]
    return logits, torch.ones_like(logits, dtype=torch.bool)


@pytest.mark.parametrize("name", ["bert", "gpt2", "t5", "llama", "bloom", "vit"])
def test_derived_and_measured_derivatives_agree(name: str) -> None:
    measured = [c for _, c in curves.measure(subject(name), AT)]
    assert measured
    assert max(c.disagreement(statistic) for c in measured for statistic in curves.STATISTICS) < AGREE


@pytest.mark.parametrize("statistic", curves.STATISTICS)
def test_a_wrong_derivative_is_detected(statistic: str) -> None:
    _, right = next(curves.measure(subject("bert"), AT))
    wrong = replace(right, derived={name: x * right.temperatures for name, x in right.derived.items()})
    assert wrong.disagreement(statistic) > 1000 * AGREE


def test_each_module_of_each_role_occurs_once() -> None:
    measured = [(c.role, c.layer) for _, c in curves.measure(subject("t5"), AT)]
    assert sorted(measured) == [(role, layer) for role in ("cross", "decoder", "encoder") for layer in (0, 1)]


def test_at_its_own_temperature_it_is_the_model() -> None:
    own = subject("bert")
    problem = capture(own.model, own.inputs[0])[0]
    logits, allowed = curves.unmasked(problem)
    plan = one_sided.plan(logits, 1.0, allowed)
    torch.testing.assert_close(plan, problem.probabilities.double(), rtol=0, atol=1e-6)
    values, _ = curves.rows_at(logits, allowed, 1.0)
    torch.testing.assert_close(values["top_mass"], plan.amax(-1))


def test_ties_keep_their_mass_at_low_temperature() -> None:
    """Two equal largest scores share the mass at every low temperature: two effective keys."""
    values, derived, _ = curves.curves_of(*rows([[1.0, 1.0, 0.0]]), torch.tensor([1e-3, 1e6], dtype=torch.float64))
    assert values["effective_keys"][0].tolist() == pytest.approx([2, 3])
    assert values["top_mass"][0].tolist() == pytest.approx([0.5, 1 / 3])
    assert derived["entropy"][0].tolist() == pytest.approx([0, 0], abs=1e-15)


def test_keys_are_counted_row_by_row() -> None:
    """A row on one key and a row on four: 2.5 keys on average, not 2 as from the mean entropy."""
    values, _, _ = curves.curves_of(*rows([[900.0, 0, 0, 0], [0, 0, 0, 0]]), torch.tensor([1.0], dtype=torch.float64))
    assert float(values["effective_keys"]) == pytest.approx(2.5)
    assert math.exp(float(values["entropy"])) == pytest.approx(2)


def test_rows_without_keys_are_not_averaged() -> None:
    logits, allowed = rows([[0.0, 0.0], [0.0, 0.0]])
    allowed[..., 1, :] = False
    values, _, measured = curves.curves_of(logits, allowed, AT)
    assert values["effective_keys"][0].tolist() == pytest.approx([2.0] * 5)
    assert measured["entropy"].abs().max() < AGREE
    with pytest.raises(ValueError, match=r"^allowed: "):
        curves.curves_of(logits, torch.zeros_like(allowed), AT)


def test_masked_keys_do_not_count() -> None:
    logits, allowed = rows([[0.0, 0.0, 50.0]])
    allowed[..., 2] = False
    values, _, _ = curves.curves_of(logits, allowed, AT)
    assert values["effective_keys"][0].tolist() == pytest.approx([2.0] * 5)


@pytest.mark.parametrize(("low", "high", "count"), [(0, 1, 5), (2, 1, 5), (1, math.inf, 5), (1, 2, 1), (math.nan, 1, 5)])
def test_temperatures_out_of_range_are_refused(low: float, high: float, count: int) -> None:
    with pytest.raises(ValueError, match=r"^(temperatures|count): expected"):
        curves.temperatures(low, high, count)


def test_pictures_have_labels() -> None:
    measured = [c for _, c in curves.measure(subject("bert"), AT)]
    trained = [replace(c, weights="trained") for c in measured]
    for figure in (figures.layers([*trained, *measured]), figures.heads(trained), figures.slopes([*trained, *measured])):
        assert any(ax.get_xlabel() for ax in figure.axes)
        assert any(ax.get_ylabel() for ax in figure.axes)
        assert "bert" in figure.get_suptitle()


def test_the_command_writes_table_and_pictures(tmp_path: Path) -> None:
    ran = CliRunner().invoke(main, ["temperature", "--model", "tiny-t5", "--count", "3", "--out", str(tmp_path)])
    assert ran.exit_code == 0, ran.output
    with (tmp_path / "temperature.csv").open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert {line["role"] for line in lines} == {"encoder", "decoder", "cross"}
    assert {line["weights"] for line in lines} == {"trained", "random"}
    for line in lines:
        assert float(line["effective_keys"]) >= math.exp(float(line["entropy"])) * (1 - 1e-8)
    assert len(list(tmp_path.glob("*.png"))) == len(list(tmp_path.glob("*.svg"))) == 9


@pytest.mark.parametrize("arguments", [["--lowest", "0"], ["--count", "1"], ["--model", "no/such-model"]])
def test_bad_arguments_are_one_line(arguments: list[str], tmp_path: Path) -> None:
    ran = CliRunner().invoke(main, ["temperature", *arguments, "--out", str(tmp_path / "new")], standalone_mode=False)
    assert isinstance(ran.exception, Exception)
    assert "\n" not in str(ran.exception)
    assert not (tmp_path / "new").exists()
