"""`python -m numerics gpu`: every precision gets the verdict that its errors deserve, and a step that fails is not hidden."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner

from numerics.__main__ import main
from numerics.benchmarks import precision
from numerics.benchmarks.precision import FORMS, Cell, cells, verdict
from numerics.benchmarks.rates import PRECISIONS, rates
from numerics.commands import gpu
from numerics.commands.gpu import Step, run_step
from tests.numerics.common import DEVICES

QUICK = Step("quick", ["timeit", "-n1", "-r1", "pass"], 60)


@pytest.mark.parametrize("device", DEVICES)
def test_every_closed_form_is_right_in_every_precision(device: str) -> None:
    found = list(cells(device))
    assert {cell.form for cell in found} == set(FORMS)
    assert [cell for cell in found if not cell.error <= 1] == []


@pytest.mark.parametrize("name", FORMS)
def test_what_is_computed_in_bfloat16_is_off_elsewhere(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One closed form computed in bfloat16, whatever it is asked for, is off in float64 and float32."""
    form = FORMS[name]
    coarse = replace(form, compute=lambda x: form.compute(x).bfloat16())
    monkeypatch.setitem(precision.FORMS, name, coarse)
    found = list(cells("cpu"))
    for each in ("float64", "float32"):
        assert next(cell.error for cell in found if (cell.form, cell.precision) == (name, each)) > 1
        assert name in verdict(found, each)


def test_words_of_a_verdict() -> None:
    assert verdict([Cell("a", "float32", 0.5)], "float32").startswith("right")
    assert verdict([Cell("a", "float32", float("nan"))], "float32").startswith("off")
    assert verdict([Cell("a", "float32", 0.5)], "tf32").startswith("not measured")


def test_rates_are_of_every_precision() -> None:
    found = list(rates("cpu", 16, 1))
    assert [rate.what for rate in found] == [*(f"{name} products" for name in PRECISIONS), "bytes"]
    assert all(rate.giga > 0 for rate in found)
    with pytest.raises(ValueError, match="size: expected an integer"):
        next(rates("cpu", 0, 1))


def test_how_a_step_ends(tmp_path: Path) -> None:
    """In time, with an error, or not in time; what it printed is kept."""
    assert run_step(QUICK, tmp_path).ended == "passed"
    assert run_step(replace(QUICK, arguments=["derivations", "verify", "eot.0"]), tmp_path).ended == "failed with status 2"
    assert "eot.0" in (tmp_path / "quick.txt").read_text()


def test_a_step_out_of_time_ends_with_what_it_started(tmp_path: Path) -> None:
    """What it printed until then is kept, and is text."""
    child = tmp_path / "child"
    code = ("import pathlib, subprocess, sys, time; print('begun ε', flush=True); "
            "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']); "
            f"pathlib.Path({str(child)!r}).write_text(str(child.pid)); time.sleep(600)")
    outcome = run_step(replace(QUICK, arguments=["timeit", "-n1", "-r1", code], seconds=15), tmp_path)
    assert (outcome.ended, outcome.said) == ("ran out of its 15 s", "begun ε")
    stat = Path(f"/proc/{child.read_text()}/stat")
    for _ in range(100):
        if not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z":
            return
        time.sleep(0.1)
    pytest.fail(f"child: expected a process that has ended, got {stat.read_text()}")


@pytest.mark.skipif(torch.cuda.is_available(), reason="a GPU is there, and the whole run takes minutes")
@pytest.mark.parametrize(("step", "status"), [(QUICK, 0), (replace(QUICK, arguments=["derivations", "verify", "eot.0"]), 1)])
def test_the_page_says_what_was_not_measured(step: Step, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "steps", lambda device, folder: [step])
    result = CliRunner().invoke(main, ["gpu", "--out", str(tmp_path / "out")])
    assert result.exit_code == status, result.output
    found = json.loads((tmp_path / "out" / "gpu.json").read_text(encoding="utf-8"))
    assert "no CUDA device" in found["device"]
    assert found["rates"] == []
    page = (tmp_path / "out" / "gpu.md").read_text(encoding="utf-8")
    assert "tf32 | not measured" in page
    assert gpu.WITHOUT in page


def test_of_a_card_nothing_is_said_to_be_missing() -> None:
    results = {"device": "a card", "torch": "2", "verdicts": {}, "errors": [], "rates": [], "steps": []}
    assert gpu.WITHOUT not in gpu.page(results)


@pytest.mark.parametrize("name", ["bench", "deviation"])
def test_what_runs_without_a_card_runs(name: str, tmp_path: Path) -> None:
    step = next(step for step in gpu.steps("cpu", tmp_path) if step.name == name)
    outcome = run_step(replace(step, seconds=600), tmp_path)
    assert outcome.ended == "passed", outcome.said


def test_the_steps_ask_for_the_device(tmp_path: Path) -> None:
    """With a card everything is asked, and the limits add up to less than ten minutes."""
    with_card = list(gpu.steps("cuda", tmp_path))
    assert [step.name for step in with_card] == ["tests", "votes", "bench", "deviation"]
    assert all("cuda" in step.arguments for step in with_card)
    assert sum(step.seconds for step in with_card) < 600
