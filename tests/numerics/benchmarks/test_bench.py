"""The benchmark compares equal computations."""

import json
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner

from numerics.__main__ import main
from numerics.benchmarks import sinkhorn as bench_sinkhorn
from numerics.benchmarks.closed_forms import cases, measure


@pytest.mark.parametrize("pair", cases(7, 5, 4, "cpu"), ids=lambda pair: pair[0])
def test_both_sides_compute_the_same(pair: tuple[str, str]) -> None:
    ours, peer = cases(7, 5, 4, "cpu")[pair]
    torch.testing.assert_close(ours(), peer(), rtol=1e-4, atol=1e-6)


def test_all_find_the_same_plan() -> None:
    plans = [torch.as_tensor(solve()) for solve in bench_sinkhorn.solvers(*bench_sinkhorn.square_problem(24), 0.1).values()]
    for plan in plans[1:]:
        torch.testing.assert_close(plan, plans[0], rtol=0, atol=bench_sinkhorn.STOP / 0.1)


def test_without_the_peer_it_is_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_sinkhorn, "peer_is_here", lambda: False)
    result = CliRunner().invoke(main, ["bench", "--only", "sinkhorn"])
    assert result.exit_code == 0
    assert "POT is not installed" in result.output
    with pytest.raises(ValueError, match=r"^peer: "):
        next(bench_sinkhorn.measure(4, 1))


def test_table() -> None:
    arguments = ["bench", "--only", "closed-forms", "--queries", "4", "--keys", "4", "--width", "2", "--rounds", "2"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0
    assert "autograd" in result.output
    assert "mem.solve" not in result.output


def test_everything_in_a_table_and_a_file(tmp_path: Path) -> None:
    threads, path = torch.get_num_threads(), tmp_path / "bench.json"
    arguments = [
        "--queries",
        "4",
        "--keys",
        "4",
        "--rounds",
        "1",
        "--solver-rounds",
        "1",
        "--singles",
        "1",
        "--tokens",
        "8",
        "--doublings",
        "0",
        "--points",
        "16",
        "--json",
        str(path),
    ]
    result = CliRunner().invoke(main, ["bench", *arguments], env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    assert torch.get_num_threads() == threads
    data = json.loads(path.read_text())
    assert (data["device"], data["threads"]) == ("cpu", 1)
    assert [row["n"] for row in data["growth"]] == [64]
    assert {row["name"] for row in data["sinkhorn"]} == {bench_sinkhorn.OWN, "POT, NumPy", "POT, torch"}
    rows = {row["name"]: row for row in data["mem"]["rows"]}
    assert rows["mem.solve"]["ratio"] == 1
    for name, row in rows.items():
        assert row["ratio"] == pytest.approx(row["seconds"] / rows["mem.solve"]["seconds"])
        assert name in result.output


@pytest.mark.parametrize(("arguments", "name"), [(["--layer", "99"], "layer"), (["--json", "/nowhere/x.json"], "--json")])
def test_bad_arguments_are_named(arguments: list[str], name: str) -> None:
    result = CliRunner().invoke(main, ["bench", "--only", "mem", *arguments])
    assert result.exit_code == 2
    assert f"{name}: " in result.output


def test_a_size_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="keys"):
        next(measure(1, 0, 1, "cpu", 1))
