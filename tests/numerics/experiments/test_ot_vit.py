"""Section 9's experiment for a user: the command, its report, and the shipped results."""

import json
import math
import os
import signal
import time
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner
from matplotlib.figure import Figure
from scipy import stats

from numerics.__main__ import main
from numerics.experiments.datasets import Dataset, load
from numerics.experiments.intervals import Interval, interval
from numerics.experiments.ot_vit import report
from numerics.experiments.ot_vit.arms import ARMS, CONTRASTS, Contrast
from numerics.experiments.ot_vit.figures import draw
from numerics.experiments.ot_vit.model import Architecture
from numerics.experiments.ot_vit.probe import Probe
from numerics.experiments.ot_vit.study import first_epochs
from numerics.experiments.ot_vit.training import Configuration, History, Machine, Recipe
from tests.processes import numerics, started

TINY = (
    "--hidden",
    "8",
    "--heads",
    "2",
    "--mlp",
    "8",
    "--batch",
    "128",
    "--epochs",
    "4",
    "--seeds",
    "2",
    "--arm",
    "vit",
    "--arm",
    "ot-vit",
)
CONFIGURATION = Configuration("tiny", "", Architecture(4, 1, 3, 2, 8, 2, 8), Recipe(epochs=2, batch=4, rate=1e-3))


def made(correct: dict[str, list[int]], tested: int = 100) -> report.Results:
    """Results of two epochs with these last values."""
    runs = {arm: tuple(History((2.0, 1.0), (0, value)) for value in values) for arm, values in correct.items()}
    probes = {"ot": (Probe(50, 40, 39, 41, 0.3, 0.2, 0.1), Probe(50, 40, 39, None, 0.3, 0.2, None))}
    return report.results(CONFIGURATION, Machine().described(), tested, runs, probes)


# ── the report ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_intervals_are_student_s() -> None:
    values = [0.1, 0.3, 0.2, 0.7]
    low, high = stats.ttest_1samp(values, 0.0).confidence_interval(0.95)
    estimate = interval(values)
    assert estimate.half_width is not None
    assert (estimate.mean - estimate.half_width, estimate.mean + estimate.half_width) == pytest.approx((low, high))
    assert interval([0.5]) == Interval(0.5, None)
    with pytest.raises(ValueError, match="values: none given"):
        interval([])


def test_intervals_have_the_stated_coverage() -> None:
    draws = torch.randn(2000, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    covered = sum(abs(estimate.mean) <= (estimate.half_width or 0.0) for estimate in map(interval, draws.tolist()))
    assert abs(covered / 2000 - 0.95) < 4 * math.sqrt(0.95 * 0.05 / 2000)


def test_differences_are_paired() -> None:
    """Seeds move both arms together: the difference is certain although the means are not."""
    results_read = made({"vit": [50, 70, 90], "ot-vit": [52, 73, 92]})
    contrast = CONTRASTS[0]
    assert results_read.differences(contrast) == pytest.approx([0.02, 0.03, 0.02])
    paired, single = results_read.difference(contrast), results_read.accuracy("vit")
    assert paired.verdict == "higher"
    assert single.half_width is not None
    assert single.half_width > 0.4
    assert made({"vit": [52, 73, 92], "ot-vit": [50, 70, 90]}).difference(contrast).verdict == "lower"
    assert made({"vit": [52, 73, 92], "ot-vit": [50, 74, 92]}).difference(contrast).verdict == "not told apart"
    assert made({"vit": [52], "ot-vit": [60]}).difference(contrast).verdict == "not told apart"


def test_a_difference_of_differences() -> None:
    results_read = made({"tied": [10, 20], "tied-shared": [11, 22], "ot": [30, 40], "ot-vit": [35, 47]})
    interaction = next(contrast for contrast in results_read.contrasts() if len(contrast.plus) == 2)
    assert interaction.formula == "ot-vit + tied − ot − tied-shared"
    assert results_read.differences(interaction) == pytest.approx([0.05 - 0.01, 0.07 - 0.02])


def test_every_contrast_has_arms_and_adds_up_to_nothing() -> None:
    for contrast in CONTRASTS:
        assert {*contrast.plus, *contrast.minus} <= set(ARMS)
        assert len(contrast.plus) == len(contrast.minus)
    assert len({contrast.formula for contrast in CONTRASTS}) == len(CONTRASTS)


def test_only_contrasts_whose_arms_are_there() -> None:
    assert made({"vit": [1, 2], "ot": [3, 4]}).contrasts() == (Contrast("OT attention, alone", ("ot",), ("vit",)),)


def test_unfinished_or_unpaired_runs_are_refused() -> None:
    with pytest.raises(ValueError, match="runs: expected 2 epochs of vit with seed 0, got 1"):
        report.results(CONFIGURATION, {}, 10, {"vit": (History((1.0,), (1,)),)}, {})
    with pytest.raises(ValueError, match="runs: expected the same seeds in all arms"):
        made({"vit": [1, 2], "ot": [3]})


def test_written_results_can_be_read_and_are_immutable() -> None:
    results_read = made({"vit": [50, 70, 90], "ot-vit": [52, 73, 92]})
    assert report.parse(results_read.text()) == results_read
    for old, new in (('"verdict": "higher"', '"verdict": "lower"'), ('"correct": [0, 50]', '"correct": [0, 51]')):
        assert old in results_read.text()
        with pytest.raises(ValueError, match="results: expected figures that follow from the runs"):
            report.parse(results_read.text().replace(old, new))


def test_figure() -> None:
    figure = draw(made({"vit": [50, 70, 90], "ot-vit": [52, 73, 92]}))
    assert isinstance(figure, Figure)
    assert [ax.get_xlabel() for ax in figure.axes][:2] == ["epoch", "epoch"]
    assert figure.axes[1].get_ylabel() == "test accuracy, mean of 3 seeds"


# ── the command ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("whole")
    result = CliRunner().invoke(main, ["ot-vit", *TINY, "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert "ot-vit − vit" in result.output
    assert "M = 0" in result.output
    assert "learn from labels what plain ViT is not" in " ".join(result.output.split())
    return out / "digits"


def test_command(uninterrupted: Path) -> None:
    assert {path.name for path in uninterrupted.iterdir() if path.suffix != ".safetensors"} == {
        "study.json",
        "results.json",
        "curves.png",
        "curves.svg",
    }
    results_read = report.parse((uninterrupted / "results.json").read_text())
    assert results_read.configuration["architecture"]["hidden"] == 8
    assert list(results_read.runs) == ["vit", "ot-vit"]
    assert all(0.0 <= accuracy <= 1.0 for arm in results_read.runs for accuracy in results_read.accuracies(arm))


@pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)])
def test_interrupted_and_resumed_gives_the_same_bytes(
    tmp_path: Path, uninterrupted: Path, sent: signal.Signals, status: int
) -> None:
    waiting, log = tmp_path / "digits" / "ot-vit-0.safetensors", tmp_path / "log.txt"
    process = started(numerics, "ot-vit", *TINY, "--out", str(tmp_path), folder=tmp_path, out=log, err=log)
    give_up = time.monotonic() + 240
    while not waiting.exists() and process.is_alive() and time.monotonic() < give_up:
        time.sleep(0.005)
    assert process.pid is not None
    os.kill(process.pid, sent)
    process.join(60)
    output = log.read_text(encoding="utf-8")
    assert process.exitcode == status, output
    assert not (tmp_path / "digits" / "results.json").exists()
    assert ("the same command goes on" in " ".join(output.split())) == (sent == signal.SIGINT)
    result = CliRunner().invoke(main, ["ot-vit", *TINY, "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert "vit, seed 0" not in result.output.replace("ot-vit, seed 0", "")  # that run was finished before
    written = tmp_path / "digits" / "results.json"
    assert written.read_bytes() == (uninterrupted / "results.json").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--dataset", "imagenet"), "imagenet"),
        (("--arm", "bert"), "bert"),
        (("--seeds", "0"), "seeds"),
        (("--hidden", "9"), "hidden: expected a multiple of the 2 heads"),
        (("--dataset", "cifar10", "--data", "nowhere"), "nowhere"),
        (("--rate", "0"), "rate"),
    ],
)
def test_bad_input_is_one_line(tmp_path: Path, arguments: tuple[str, ...], named: str) -> None:
    result = CliRunner().invoke(main, ["ot-vit", "--out", str(tmp_path / "out"), *arguments])
    assert result.exit_code == 2
    assert named in result.output
    assert "Traceback" not in result.output


@pytest.mark.skipif(torch.cuda.is_available(), reason="a GPU is there")
def test_a_missing_device_is_refused(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["ot-vit", "--device", "cuda", "--out", str(tmp_path)])
    assert result.exit_code == 2
    assert "--device: expected cpu where there is no CUDA device" in result.output


def test_other_settings_in_the_same_folder_are_refused(uninterrupted: Path) -> None:
    result = CliRunner().invoke(main, ["ot-vit", *TINY, "--rate", "0.5", "--out", str(uninterrupted.parent)])
    assert result.exit_code == 2
    assert "expected runs with recipe.rate = 0.5, got 0.002" in " ".join(result.output.split())


def test_sizes(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["ot-vit", "--sizes", "--out", str(tmp_path / "unused")])
    assert result.exit_code == 0
    assert "3,195,146" in result.output
    assert not list(tmp_path.iterdir())


# ── shipped results ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def digits() -> Dataset:
    return load("digits", Path())


def test_recorded_results_are_of_the_present_configuration(digits: Dataset) -> None:
    results_recorded = report.recorded(digits)
    assert {len(histories) for histories in results_recorded.runs.values()} == {5}
    assert len(results_recorded.contrasts()) == len(CONTRASTS)


@pytest.mark.parametrize("arm", ARMS)
def test_recorded_runs_begin_as_they_do_here(digits: Dataset, arm: str) -> None:
    """The present code recorded the results: two epochs again, up to the rounding of another processor."""
    again = first_epochs(digits, arm, 1, 2).losses
    alike = [
        (name, seed)
        for name, histories in report.recorded(digits).runs.items()
        for seed, history in enumerate(histories)
        if again == pytest.approx(history.losses[:2], rel=1e-4)
    ]
    assert alike == [(arm, 1)]


def test_results_of_another_configuration_are_refused(digits: Dataset, tmp_path: Path) -> None:
    path = tmp_path / "digits.json"
    path.write_text(made({"vit": [1, 2]}).text())
    with pytest.raises(ValueError, match=r"digits.json: expected results of the configuration .*, got those of"):
        report.recorded(digits, tmp_path)
    results = report.recorded(digits)
    altered = report.Results(
        results.configuration,
        results.sha256,
        results.machine,
        results.tested,
        {arm: results.runs[arm] for arm in ("vit", "ot-vit")},
        {},
    )
    path.write_text(altered.text())
    with pytest.raises(ValueError, match=r"digits.json: expected results of the arms vit, vit-shared, .*, got .* vit, ot-vit"):
        report.recorded(digits, tmp_path)
    path.unlink()
    with pytest.raises(ValueError, match="expected one with recorded results, got digits; there are results for no dataset"):
        report.recorded(digits, tmp_path)


def test_printed_figures_agree_with_the_table() -> None:
    """The claim's own record of the table is elsewhere; both were typed from the document independently."""
    assert set(report.PRINTED) == {"fashion-mnist", "cifar10", "cifar100"}
    assert json.dumps(report.PRINTED["cifar100"]) == '{"vit": [0.463, 0.01], "ot-vit": [0.491, 0.01]}'
