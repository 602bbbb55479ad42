"""Functions are timed together with equal ones of other packages."""

import re
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner
from torch import Tensor

from numerics.__main__ import main
from numerics.benchmarks import packages
from numerics.benchmarks.closed_forms import Comparison

PAIRS = packages.pairs(6, 8, 9)
ALLOWED = {"POT": 1e-6}
"""POT stops at an error of 1e-9 in the marginals, or of a step."""


@pytest.mark.parametrize("pair", PAIRS, ids=" beside ".join)
def test_both_sides_compute_the_same(pair: tuple[str, str]) -> None:
    ours, theirs = (torch.as_tensor(work()) for work in PAIRS[pair])
    torch.testing.assert_close(ours, theirs.to(ours), rtol=1e-4, atol=ALLOWED.get(pair[1], 1e-5))


def test_another_function_is_detected() -> None:
    pair = PAIRS["sparsemax", "entmax"][0](), PAIRS["entmax15", "entmax"][1]()
    assert all(isinstance(x, Tensor) for x in pair)
    assert float((pair[0] - pair[1]).abs().max()) > 1e-2  # type: ignore[operator]


def test_missing_packages_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages.importlib.util, "find_spec", lambda name: None)
    assert {peer for _, peer in packages.pairs(6, 8, 9)}.isdisjoint({"entmax", "POT"})


def test_a_round_is_the_least() -> None:
    with pytest.raises(ValueError, match=r"^rounds: expected an integer ≥ 1, got 0"):
        next(packages.measure(2, 4, 3, 0))


def test_every_reason_is_of_a_pair_and_in_the_conventions() -> None:
    page = (Path(__file__).parents[3] / "docs" / "conventions.md").read_text(encoding="utf-8")
    names = {name for name, _ in PAIRS} | {"plan and context"}  # of the closed forms, in the table before it
    for name, why in packages.REASONS.items():
        assert name in names
        assert re.search(rf"^- `{re.escape(name)}`, [\d.]+: {re.escape(why)}$", page, re.MULTILINE), name


def test_slower_functions_have_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        Comparison("transport.unbalanced", "POT", 2.0, 1.0),
        Comparison("sparsemax", "entmax", 3.0, 1.0),
        Comparison("entmax15", "entmax", 1.0, 1.0),
    ]
    monkeypatch.setattr(packages, "measure", lambda *sizes: iter(rows))
    words = CliRunner().invoke(main, ["bench", "--only", "packages"]).output.split()
    text = " ".join(words)
    assert f"transport.unbalanced, 2.0: {packages.REASONS['transport.unbalanced']}" in text
    assert "sparsemax, 3.0: nothing says why it is slower" in text
    assert "entmax15, 1.0:" not in text


def test_the_table() -> None:
    sizes = ("--queries", "4", "--keys", "8", "--points", "3", "--rounds", "1")
    result = CliRunner().invoke(main, ["bench", "--only", "packages", *sizes])
    assert result.exit_code == 0, result.output
    assert "budget_bisect" in result.output
    assert "MultiheadAttention" in result.output
