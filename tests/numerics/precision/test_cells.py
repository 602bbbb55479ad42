"""The comparison of a cell, numbers with their errors, and how cells are kept."""

import json
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import flint
import numpy as np
import pytest
import torch

from numerics import flash, tolerances
from numerics.precision import solutions, sparse, study, transport_functions
from numerics.precision.attention_functions import _automatic, _tiled, _tiled_backward
from numerics.precision.cells import LIMIT, RIGHT, SILENT, Cell, Setting, Trial, measure
from numerics.precision.exact import Exact, Peak
from numerics.precision.functions import Data
from numerics.precision.sparse_functions import _losses

U = tolerances.eps("float64")
ONE = Setting(0, "normal", 1, "float64")


def cell(values: list[float], expected: Any, dtype: str = "float64") -> Cell:
    def reference(peak: Peak) -> Any:
        return expected(peak) if callable(expected) else Exact(expected.value, expected.error, peak)

    return measure("f", Setting(0, "normal", 1, dtype), Trial(lambda: torch.tensor(values, dtype=torch.float64), reference))


def exactly(*numbers: float, error: float = 0.0) -> Exact:
    return Exact([flint.arb(x) for x in numbers], np.full(len(numbers), error), Peak(0.0))


# ── one unit ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("units", [0.5, 1.5])
def test_a_cell_is_right_up_to_one_unit(units: float) -> None:
    actual = cell([1 + 8 * units * U], exactly(1.0, error=8.0))
    assert actual.state == (RIGHT if units < 1 else SILENT)
    assert actual.error == pytest.approx(units)


def test_what_underflows_is_off_by_the_smallest_normal_number() -> None:
    def product(peak: Peak) -> Exact:
        return Exact.of([1e-200], peak) * Exact.of([1e-20], peak)

    assert cell([1e-220], product).state == RIGHT
    assert cell([1.5e-220], product).state == SILENT
    assert cell([2.0**-1023], lambda peak: Exact.of([1e-200], peak) * Exact.of([1e-200], peak)).state == RIGHT


@pytest.mark.parametrize(("units", "state"), [(0.5, LIMIT), (1.5, SILENT)])
def test_at_a_limit_the_finite_entries_are_right(units: float, state: str) -> None:
    def reference(peak: Peak) -> Exact:
        peak.value = math.inf
        return Exact([flint.arb(1)] * 2, np.full(2, 8.0), peak)

    actual = cell([1 + 8 * units * U, math.nan], reference)
    assert (actual.state, actual.error) == (state, 0.5 if units < 1 else math.inf)


@pytest.mark.parametrize(("entry", "state"), [(7.0, LIMIT), (8.0, LIMIT), (9.0, SILENT)])
def test_what_is_no_larger_than_its_unit_may_be_no_number(entry: float, state: str) -> None:
    assert cell([math.nan], exactly(entry * U, error=8.0)).state == state


@pytest.mark.parametrize(("entry", "state"), [(65400.0, SILENT), (65490.0, RIGHT), (1e6, RIGHT)])
def test_a_number_near_the_largest_may_be_rounded_to_infinity(entry: float, state: str) -> None:
    assert cell([math.inf], exactly(entry), "float16").state == state
    assert cell([-math.inf], exactly(-entry), "float16").state == state


def test_a_reference_is_known_to_a_millionth_of_a_unit() -> None:
    assert cell([1.0], Exact([flint.arb(1, 0.9e-6 * 8 * U)], np.full(1, 8.0), Peak(0.0))).state == RIGHT
    with pytest.raises(ArithmeticError, match="too few digits"):
        cell([1.0], Exact([flint.arb(1, 1.1e-6 * 8 * U)], np.full(1, 8.0), Peak(0.0)))


def test_a_zero_among_large_numbers_is_known_to_so_many_digits_of_these() -> None:
    """Up to 1e-40 of the largest unit, and no more."""
    zero = flint.arb(0, 2.0**-100)
    radius = float(zero.rad())
    largest = radius / 1e-40 / U
    assert 1e-40 * (U * largest) == radius
    reference = Exact([flint.arb(1), zero], np.array([largest, 0.0]), Peak(0.0))
    assert cell([1.0, radius], reference).state == RIGHT
    assert cell([1.0, 3 * radius], reference).state == SILENT
    with pytest.raises(ArithmeticError, match="too few digits"):
        cell([1.0, radius], reference.off_by(reference.error * 0.999))


# ── numbers with their errors ───────────────────────────────────────────────────────────────────────────────────────


def test_a_peak_is_the_largest_number_that_was_met() -> None:
    peak = Peak(0.0)
    Exact.of([], peak)
    assert peak.value == 0.0
    Exact.of([0.25, -0.5], peak)
    assert peak.value == 0.5
    Exact.of([math.nan], peak)
    assert peak.value == 0.5
    Exact.of([100.0], peak).exp().exp()
    assert peak.value == math.inf


def test_vectors_of_other_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="other: expected 2 entries or 1, got 3"):
        exactly(1.0, 2.0) * exactly(1.0, 2.0, 3.0)


def test_a_power_of_zero() -> None:
    power = Exact.of([0.0, 0.0], Peak(0.0)).power(Exact.of([0.0, 2.0], Peak(0.0)))
    assert [float(x) for x in power.value] == [1.0, 0.0]
    assert power.error.tolist() == [1.0, 0.0]


def test_errors_of_operations() -> None:
    """To first order: what an argument is off by, times the slope, and u of the result."""
    x, y = exactly(3.0, error=2.0), exactly(-0.5, error=8.0)
    for actual, passed_on in (
        (x + y, 10),
        (x - y, 10),
        (x * y, 2 * 0.5 + 8 * 3),
        (x / y, 2 / 0.5 + 8 * 3 / 0.25),
        (1.0 - x, 2),
        (1.0 / x, 2 / 9),
        (x.exp(), 2 * math.e**3),
        (x.log(), 2 / 3),
        (x.expm1(), 2 * math.e**3),
        (x.square(), 12),
        (x.power(y), 3**-0.5 * (2 * 0.5 / 3 + math.log(3) * (8 + 0.5))),
    ):
        assert actual.error[0] == pytest.approx(passed_on + abs(float(actual.value[0])))
    assert exactly(3.0, -4.0, error=2.0).sum().error.tolist() == [2 + 2 + 2 * 7]


# ── what is measured ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("trial", "calls"), [(_tiled, 1), (_tiled_backward, 2), (_automatic, 1)])
def test_long_rows_have_several_tiles_and_a_shorter_one(trial: Any, calls: int, monkeypatch: pytest.MonkeyPatch) -> None:
    tiles = []
    for name in ("tiled_attention", "tiled_gradients"):
        original = getattr(flash, name)
        monkeypatch.setattr(
            flash,
            name,
            lambda *args, tile, original=original, **rest: (tiles.append(tile), original(*args, tile=tile, **rest))[1],
        )
    trial(Data(Setting(0, "normal", 17, "float64"))).computed()
    assert len(tiles) == calls
    assert all(17 // tile >= 3 and 1 < 17 % tile < tile for tile in tiles)


def test_losses_without_a_number_are_measured_at_one() -> None:
    assert [f.decades for f in _losses("f", torch.dot, sparse.entmax, sparse.tsallis, lambda data: 2.0)] == [(0,), (0,)]


def test_a_solution_may_be_off_by_its_certificate(monkeypatch: pytest.MonkeyPatch) -> None:
    setting = Setting(0, "normal", 3, "float64")
    solve = next(f for f in study.FUNCTIONS if f.name == "mem.solve")
    expected = solve.trial(Data(setting)).expected
    data = Data(setting)
    t, z, u = data.normal(3, 2), data.normal(2), data.shares(3)
    at = Exact.of([*t.flatten().tolist(), *z.tolist(), *u.tolist(), data.number], Peak(0.0))
    without = solutions.solution(solutions.mean_problem(3, 2), at, lambda values: values, 3).error
    bounds = SimpleNamespace(error=2.0, weights_error=3.0, mean_error=5.0)
    monkeypatch.setattr(transport_functions.mem, "solve", lambda *args, **rest: bounds)
    assert np.allclose((expected(Peak(0.0)).error - without) * U, [2, 2, 3, 3, 3, 5, 5])


# ── records ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("error", "written"), [(0.5, 0.5), (math.inf, "inf"), (math.nan, "nan")])
def test_a_record_is_a_number_or_a_word(error: float, written: float | str) -> None:
    record = json.loads(json.dumps(study.as_record(Cell("f", ONE, SILENT, error)), allow_nan=False))
    assert record["error"] == written
    assert repr(study.from_record(record)) == repr(Cell("f", ONE, SILENT, error))


def test_sources_are_all_of_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digests = set()
    monkeypatch.setattr(study.numerics, "__file__", str(tmp_path / "__init__.py"))
    for path, content in (("__init__.py", ""), ("a.py", ""), ("a.py", "x = 1"), ("b/c.py", ""), ("b/d.py", "x = 1")):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(content, encoding="utf-8")
        digests.add(study.sources.__wrapped__())
    assert len(digests) == 5
