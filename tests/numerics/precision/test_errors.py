"""The table of errors: its references, its refusal of wrong functions, and a sample of it."""

import json
import math
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import flint
import numpy as np
import pytest
import torch
from click.testing import CliRunner
from torch import Tensor

from numerics import mem, one_sided, tolerances
from numerics.__main__ import main
from numerics.precision import rows, solutions
from numerics.precision.cells import LIMIT, REFUSED, RIGHT, SILENT, Cell, Setting, Trial, measure
from numerics.precision.exact import Exact, Peak
from numerics.precision.functions import DTYPES, Data, Function, exact
from numerics.precision.study import FUNCTIONS, Group, as_record, from_record, groups, measured

SAMPLED = [f for f in FUNCTIONS if "derivatives in cost" not in f.name]

SETTING = Setting(0, "normal", 17, "float64")


def trial(call: Any, setting: Setting = SETTING) -> Trial:
    data = Data(setting)
    s = data.scores()
    return Trial(lambda: call(s, data.number), lambda peak: rows.plan(exact(s, peak), Exact.of([data.number], peak)))


# ── a sample of the table ───────────────────────────────────────────────────────────────────────────────────────────


def sample(function: Function, dtype: str) -> tuple[Setting, ...]:
    """A setting in the middle of the ranges, where nothing saturates, and three at random, but always the same."""
    settings = [x for x in function.settings(dtype) if x.size < 100]
    middle = min(settings, key=lambda x: (-x.size, abs(x.decade)))
    return middle, *Random(f"{function.name}, {dtype}").sample(settings, min(3, len(settings)))


@pytest.mark.parametrize("function", SAMPLED, ids=lambda f: f.name)
def test_nothing_is_silent(function: Function) -> None:
    for dtype in function.dtypes:
        for cell in measured(Group(function, dtype, sample(function, dtype))):
            assert cell.state != SILENT, cell


@pytest.mark.parametrize("function", SAMPLED, ids=lambda f: f.name)
def test_in_the_middle_of_the_ranges_right_numbers_are_told_from_nearby_ones(function: Function) -> None:
    middle = sample(function, "float64")[0]
    trial = function.trial(Data(middle))
    assert measure(function.name, middle, trial).state == RIGHT
    off = replace(trial, computed=lambda: (1 + 1e-11) * trial.computed())
    assert measure(function.name, middle, off).state == SILENT


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("fenchel_young.entmax_bisect_loss", Setting(0, "far", 2, "float64")),
        ("fenchel_young.entmax_bisect_loss near α = 1", Setting(-6, "normal", 2, "float32")),
        ("fenchel_young.entmax_bisect_loss near α = 1, derivative in X", Setting(-6, "tied", 2, "float32")),
        ("fenchel_young.entmax_bisect_loss, derivative in X", Setting(5, "tied", 2, "float32")),
        ("fenchel_young.normmax_bisect_loss", Setting(1, "far", 17, "float32")),
        ("regularizers.entmax_bisect", Setting(5, "tied", 2, "float64")),
        ("regularizers.entmax_bisect, derivatives in X and α", Setting(3, "tied", 17, "float32")),
        ("transport.unbalanced, derivatives in cost and temperature", Setting(-6, "normal", 3, "float64")),
    ],
)
def test_recorded_regressions(name: str, setting: Setting) -> None:
    function = next(f for f in FUNCTIONS if f.name == name)
    cell = measure(name, setting, function.trial(Data(setting)))
    assert cell.state == RIGHT, cell


def test_a_resolvent_without_digits_is_no_number() -> None:
    function, setting = next(f for f in FUNCTIONS if f.name == "mem.resolvent"), Setting(5, "wide", 2, "bfloat16")
    assert measure(function.name, setting, function.trial(Data(setting))).state == LIMIT


def test_derivatives_of_a_mean_that_has_not_converged_are_refused() -> None:
    """At α = 10⁶ the rounding of λ alone exceeds the least tolerance; ``weights_error`` reports the actual error."""
    function = next(f for f in FUNCTIONS if f.name == "mem.solve, derivatives in templates and evidence")
    setting = Setting(6, "normal", 3, "float64")
    assert measure(function.name, setting, function.trial(Data(setting))).state == REFUSED
    data = Data(setting)
    t, z, u = data.normal(3, 2), data.normal(2), data.shares(3)
    w, alpha = data.normal(5), data.number
    assert not bool(mem.solve(t, z, u, alpha, tolerance=1e-12).converged)
    leaf = z.clone().requires_grad_()
    solution = mem.solve(t, leaf, u, alpha, tolerance=1e-9)
    assert bool(solution.converged)
    (slope,) = torch.autograd.grad((w[:2] * solution.dual).sum() + (w[2:] * solution.weights).sum(), leaf)
    at = [*t.flatten().tolist(), *z.tolist(), *u.tolist(), alpha]
    exactly = solutions.derivative(solutions.mean_problem(3, 2), Exact.of(at, Peak(0.0)), w.tolist(), (6, 7), 3).value
    error = max(abs(float(x) / float(y) - 1) for x, y in zip(slope, exactly, strict=True))
    assert 1e-12 < error < float(solution.weights_error) < 1e-4


# ── the checker refuses ─────────────────────────────────────────────────────────────────────────────────────────────


def unshifted(s: Tensor, tau: float) -> Tensor:
    return (s / tau).exp() / (s / tau).exp().sum()


def divided_before_shift(s: Tensor, tau: float) -> Tensor:
    """Divide before subtracting the peak."""
    x = s / tau
    return (x - x.max()).softmax(-1)


@pytest.mark.parametrize(
    ("wrong", "setting"),
    [
        (lambda s, tau: one_sided.plan(s, 1.001 * tau), SETTING),
        (lambda s, tau: one_sided.plan(s.float(), tau).double(), SETTING),
        (lambda s, tau: one_sided.plan(s, tau) * (1 + 1e-13), SETTING),
        (lambda s, tau: one_sided.plan(s, tau)[:-1], SETTING),
        (lambda s, tau: one_sided.plan(s, tau) * torch.nan, SETTING),
        (divided_before_shift, Setting(-1, "far", 17, "float32")),
        (unshifted, Setting(0, "far", 17, "float64")),
        (lambda s, tau: (_ for _ in ()).throw(RuntimeError("no argument is named")), SETTING),
    ],
)
def test_a_wrong_function_is_beyond_one_unit(wrong: Any, setting: Setting) -> None:
    assert measure("plan", setting, trial(one_sided.plan, setting)).state == RIGHT
    cell = measure("wrong", setting, trial(wrong, setting))
    assert cell.state == SILENT
    assert cell.error > 1


def test_refusals_name_an_argument() -> None:
    assert measure("plan", SETTING, trial(lambda s, tau: one_sided.plan(s, -tau))).state == REFUSED


def test_an_infinity_is_right_only_beyond_the_dtype() -> None:
    def cell(actual: float, expected: float) -> Cell:
        return measure(
            "x",
            Setting(0, "normal", 1, "float16"),
            Trial(lambda: torch.tensor([actual]), lambda peak: Exact.of([expected], peak)),
        )

    assert cell(math.inf, 1e6).state == RIGHT
    assert cell(-math.inf, 1e6).state == SILENT
    assert cell(math.inf, 6e4).state == SILENT
    assert cell(math.nan, 1e6).state == SILENT
    assert cell(math.nan, 1e39).state == LIMIT


def test_a_reference_without_digits_is_refused() -> None:
    vague = flint.arb(1, 1e-10)
    with pytest.raises(ArithmeticError, match="too few digits"):
        measure("x", SETTING, Trial(lambda: torch.ones(1).double(), lambda peak: Exact([vague], np.zeros(1), peak)))


# ── the references ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_errors_of_a_running_analysis() -> None:
    """Every operation in float32, compared with balls, is within its allowance; a hundredth of that is not enough."""
    random = np.random.default_rng(0)
    ratios = []
    for _ in range(50):
        x = random.standard_normal(17).astype(np.float32)
        e = Exact.of(x.tolist(), Peak(0.0))
        result = np.log((np.exp(x) / np.exp(x).sum()).cumsum()[-1:] * np.abs(x).max() + np.float32(1))
        expected = ((e.exp() / e.exp().sum()).sum() * e.abs().max() + 1.0).log()
        error = abs(float(result[0]) - float(expected.value[0]))
        ratios.append(error / (tolerances.eps("float32") * expected.error[0]))
    assert 0.01 < max(ratios) < 1


def test_the_error_of_a_mass_is_in_its_own_variance() -> None:
    """p − p² is off by the error of p and twice p times that."""
    p = Exact.of([0.5, 0.25, 0.25], Peak(0.0)).off_by(np.array([8.0, 0.0, 0.0]))
    error = rows.covariance(p).error.reshape(3, 3)
    assert 16 <= error[0, 0] < 17
    assert 2 <= error[0, 1] < 3
    assert error[1:, 1:].max() < 1


def test_solutions_solve() -> None:
    n, m = 2, 3
    C, a, b = [0.3, -1.0, 2.0, 0.5, 0.1, -0.7], [0.25, 0.75], [0.5, 0.125, 0.375]
    data = [flint.arb(x) for x in (*C, *a, *b, *[1.0] * 5, 0.125, 0.0, 0.0)]
    solution = solutions.entropic(n, m)(data)
    P, f, g = solution[:6], solution[6:8], solution[8:]
    for i in range(n):
        assert abs(sum(P[3 * i : 3 * i + 3]) - a[i]) < 1e-55
    for j in range(m):
        assert abs(P[j] + P[3 + j] - b[j]) < 1e-55
    assert all(
        abs(P[3 * i + j] - a[i] * b[j] * ((f[i] + g[j] - C[3 * i + j]) / 0.125).exp()) < 1e-55
        for i in range(n)
        for j in range(m)
    )
    sparse = solutions.quadratic(n, m)([*data[:11], flint.arb(0.125)])
    assert any(p == 0 for p in sparse)
    assert all(abs(sum(sparse[3 * i : 3 * i + 3]) - a[i]) < 1e-55 for i in range(n))


def test_the_mean_problem_is_solved() -> None:
    t, z, u, alpha = [1.0, 0.0, 0.0, 1.0, -1.0, -1.0], [0.5, -0.25], [0.25, 0.25, 0.5], 4.0
    solution = solutions.mean_problem(3, 2)([flint.arb(x) for x in (*t, *z, *u, alpha)])
    dual, p, mean = solution[:2], solution[2:5], solution[5:]
    for k in range(2):
        mu = sum(w * t[2 * i + k] for i, w in enumerate(u))
        assert abs(mean[k] - sum(w * t[2 * i + k] for i, w in enumerate(p))) < 1e-55
        assert abs(dual[k] - alpha * (mu + z[k] - mean[k])) < 1e-55


# ── the command ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_every_dtype_has_every_function() -> None:
    assert {group.dtype for group in groups()} == set(DTYPES)
    assert len({group.name for group in groups()}) == len(groups())


def test_the_command_resumes(tmp_path: Path) -> None:
    record = tmp_path / "errors.json"
    arguments = ["errors", "--only", "sparsemax_loss", "--json", str(record)]
    first = CliRunner().invoke(main, arguments, catch_exceptions=False)
    assert first.exit_code == 0
    assert "0 silent" in first.output
    known = json.loads(record.read_text(encoding="utf-8"))
    name = next(iter(known["groups"]))
    known["groups"][name][0]["state"] = SILENT
    record.write_text(json.dumps(known), encoding="utf-8")
    assert CliRunner().invoke(main, arguments).exit_code == 1  # cached results are not measured again
    record.write_text(json.dumps(known | {"sources": "others"}), encoding="utf-8")
    assert CliRunner().invoke(main, arguments).exit_code == 0


def test_bad_arguments(tmp_path: Path) -> None:
    record = tmp_path / "errors.json"
    record.write_text("[]", encoding="utf-8")
    assert CliRunner().invoke(main, ["errors", "--only", "nothing of this name"]).exit_code == 2
    assert CliRunner().invoke(main, ["errors", "--only", "ova", "--json", str(record)]).exit_code == 2


def test_records() -> None:
    cell = Cell("f", SETTING, SILENT, math.inf, "said")
    assert from_record(json.loads(json.dumps(as_record(cell)))) == cell
