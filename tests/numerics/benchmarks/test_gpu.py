"""`python -m numerics gpu`: every precision gets the verdict that fits its errors, and failed steps are shown."""

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
from tests.processes import forked, numerics

QUICK = Step("quick", ["timeit", "-n1", "-r1", "pass"], 60)


@pytest.mark.parametrize("device", DEVICES)
def test_every_closed_form_is_right_in_every_precision(device: str) -> None:
    all_cells = list(cells(device))
    assert {cell.form for cell in all_cells} == set(FORMS)
    assert [cell for cell in all_cells if not cell.error <= 1] == []


@pytest.mark.parametrize("name", FORMS)
def test_bfloat16_results_are_wrong_in_other_dtypes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A closed form that is always computed in bfloat16 is wrong in float64 and float32."""
    form = FORMS[name]
    coarse = replace(form, compute=lambda x: form.compute(x).bfloat16())
    monkeypatch.setitem(precision.FORMS, name, coarse)
    all_cells = list(cells("cpu"))
    for each in ("float64", "float32"):
        assert next(cell.error for cell in all_cells if (cell.form, cell.precision) == (name, each)) > 1
        assert name in verdict(all_cells, each)


def test_words_of_a_verdict() -> None:
    assert verdict([Cell("a", "float32", 0.5)], "float32").startswith("right")
    assert verdict([Cell("a", "float32", float("nan"))], "float32").startswith("off")
    assert verdict([Cell("a", "float32", 0.5)], "tf32").startswith("not measured")


def test_rates_are_of_every_precision() -> None:
    all_rates = list(rates("cpu", 16, 1))
    assert [rate.what for rate in all_rates] == [*(f"{name} products" for name in PRECISIONS), "bytes"]
    assert all(rate.giga > 0 for rate in all_rates)
    with pytest.raises(ValueError, match="size: expected an integer"):
        next(rates("cpu", 0, 1))


def test_how_a_step_ends(tmp_path: Path) -> None:
    """A step may succeed, fail, or time out; its output is preserved."""
    assert run_step(QUICK, tmp_path).ended == "passed"
    assert run_step(replace(QUICK, arguments=["derivations", "verify", "eot.0"]), tmp_path).ended == "failed with status 2"
    assert "eot.0" in (tmp_path / "quick.txt").read_text()


def test_a_timed_out_step_ends_with_its_children(tmp_path: Path) -> None:
    """Output before a timeout is preserved as text."""
    child = tmp_path / "child"
    code = (
        "import pathlib, subprocess, sys, time; print('begun ε', flush=True); "
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']); "
        f"pathlib.Path({str(child)!r}).write_text(str(child.pid)); time.sleep(600)"
    )
    outcome = run_step(replace(QUICK, arguments=["timeit", "-n1", "-r1", code], seconds=5), tmp_path)
    assert (outcome.ended, outcome.said) == ("ran out of its 5 s", "begun ε")
    stat = Path(f"/proc/{child.read_text()}/stat")
    for _ in range(100):
        if not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z":
            return
        time.sleep(0.1)
    pytest.fail(f"child: expected a process that has ended, got {stat.read_text()}")


@pytest.mark.skipif(torch.cuda.is_available(), reason="a GPU is there, and the whole run takes minutes")
@pytest.mark.parametrize(("step", "status"), [(QUICK, 0), (replace(QUICK, arguments=["derivations", "verify", "eot.0"]), 1)])
def test_the_page_lists_missing_measurements(step: Step, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "steps", lambda device, folder: [step])
    result = CliRunner().invoke(main, ["gpu", "--out", str(tmp_path / "out")])
    assert result.exit_code == status, result.output
    data = json.loads((tmp_path / "out" / "gpu.json").read_text(encoding="utf-8"))
    assert "no CUDA device" in data["device"]
    assert data["rates"] == []
    page = (tmp_path / "out" / "gpu.md").read_text(encoding="utf-8")
    assert "tf32 | not measured" in page
    assert gpu.WITHOUT in page


def test_on_a_gpu_nothing_is_listed_as_missing() -> None:
    results = {"device": "a card", "torch": "2", "verdicts": {}, "errors": [], "rates": [], "steps": []}
    assert gpu.WITHOUT not in gpu.page(results)


@pytest.mark.parametrize("name", ["bench", "deviation"])
def test_steps_that_need_no_gpu_run(name: str, tmp_path: Path) -> None:
    step = next(step for step in gpu.steps("cpu", tmp_path) if step.name == name)
    assert step.arguments[0] == "numerics"
    done = forked(numerics, *step.arguments[1:], folder=gpu.ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_steps_ask_for_the_device(tmp_path: Path) -> None:
    """With a GPU all steps run, and their time limits add up to less than ten minutes."""
    with_card = list(gpu.steps("cuda", tmp_path))
    assert [step.name for step in with_card] == ["tests", "votes", "bench", "deviation"]
    assert all("cuda" in step.arguments for step in with_card)
    assert sum(step.seconds for step in with_card) < 600
