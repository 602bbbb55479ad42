"""The cost model: fits recover known parameters, and the page agrees with its data file."""

import json
import random
from dataclasses import asdict
from pathlib import Path

import pytest
from click.testing import CliRunner

from numerics.__main__ import main
from numerics.benchmarks.cost import Cost, least_squares, line, powers, projected, solve_costs
from numerics.commands import cost as command
from numerics.commands.cost import page

PRODUCT = [Cost("solve", {"n": n, "d": d}, 3e-6 * n**1.5 * d**0.25, 7.0 * n) for n in (4, 16, 64) for d in (2, 32)]


def test_exponents_are_fitted() -> None:
    exponents = powers(PRODUCT)
    assert (exponents.values["n"], exponents.values["d"]) == (pytest.approx(1.5), pytest.approx(0.25))
    assert exponents.error("n") == pytest.approx(0, abs=1e-12)
    assert projected(PRODUCT, {"n": 1000, "d": 81}) == (pytest.approx(3e-6 * 1000**1.5 * 3), pytest.approx(1))
    assert powers(PRODUCT, "megabytes").values["d"] == pytest.approx(0, abs=1e-12)
    assert projected(PRODUCT, {"n": 10, "d": 5}, "megabytes")[0] == pytest.approx(70)


def test_errors_are_as_large_as_the_noise() -> None:
    """Of 400 fits to noise of known size, the expected share is within two standard errors; at a far point, too."""
    draw = random.Random(0)
    points = [{"x": float(x), "y": float(y)} for x in range(4) for y in range(3)]
    near = far = 0
    for _ in range(400):
        fit = least_squares(points, [1 + 2 * p["x"] - p["y"] + draw.gauss(0, 0.3) for p in points])
        value, error = fit.at({"x": 50.0, "y": 0.0})
        near += abs(fit.values["x"] - 2) <= 2 * fit.error("x")
        far += abs(value - 101) <= 2 * error
    assert 0.88 <= near / 400 <= 0.96  # 92.3 % with nine degrees of freedom
    assert 0.88 <= far / 400 <= 0.96


def test_as_many_coefficients_as_points_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^points: expected more than 2, of rank 2, got 2 of rank 2$"):
        line([(1, 5.0), (2, 7.0)])


def test_sizes_that_vary_together_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^points: expected more than 3, of rank 3, got 3 of rank 2$"):
        powers([each for each in PRODUCT if each.sizes["d"] == 2])


def test_a_line_is_fitted() -> None:
    assert line([(1, 5.0), (2, 7.0), (4, 11.0)]).values == {"": pytest.approx(3), "x": pytest.approx(2)}


def test_a_solution_costs_something() -> None:
    small, large = solve_costs(sizes=[(8, 4, 4), (8, 4, 64)], rounds=1)
    assert (small.what, dict(small.sizes)) == ("solve", {"n": 8, "d": 4, "rows": 4})
    assert small.seconds > 0
    assert large.megabytes > small.megabytes > 0


def test_the_command_writes_numbers_and_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        command,
        "solve_costs",
        lambda *_: [
            Cost("solve", {"n": n, "d": d, "rows": rows}, 1e-6 * n * d * rows, 1.0 * n * d**0.5 * rows)
            for n in (2, 4)
            for d in (2, 4)
            for rows in (2, 4)
        ],
    )
    result = CliRunner().invoke(main, ["cost", "--only", "solve", "--out", str(tmp_path / "cost")])
    assert result.exit_code == 0, result.output
    data = json.loads((tmp_path / "cost" / "cost.json").read_text())
    assert (tmp_path / "cost" / "cost.md").read_text() == page(data)
    assert "Seconds grow as n^(1.00 ± 0.00) · d^(1.00 ± 0.00) · rows^(1.00 ± 0.00) (off by a factor of 1.0" in page(data)
    assert "memory as n^(1.00 ± 0.00) · d^(0.50 ± 0.00) · rows^(1.00 ± 0.00)" in page(data)
    assert "verify" not in page(data)


def test_the_page_of_verify_adds_up() -> None:
    costs = [Cost("verify", {"claims": n}, 10 + 0.5 * n, 400 + 0.25 * n) for n in (4, 8, 32)]
    data = {"machine": "a machine", "costs": [asdict(each) for each in costs]}
    assert "takes 10.0 ± 0.0 s at any rate and 0.50 ± 0.00 s for each claim, 400 MB and 250 ± 0 kB for each claim" in page(data)
    assert "10,000 claims would take 83.5 minutes (± 0 %) on one core, 5.4 minutes in 16 shards" in page(data)
    assert "2.9 GB in one process" in page(data)


def test_a_folder_that_is_nowhere_is_refused() -> None:
    result = CliRunner().invoke(main, ["cost", "--out", "/nowhere/cost"])
    assert result.exit_code == 2
    assert "--out: expected a path in an existing folder" in result.output
