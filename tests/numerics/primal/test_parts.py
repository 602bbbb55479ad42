"""Parts of the primal layer: what certificates allow for, and what the conic solver answers before it is refined."""

import math
from dataclasses import replace
from typing import Any

import cvxpy as cp
import mpmath as mp
import numpy as np
import pytest

from numerics import tolerances
from numerics.primal import conic, coupling, entropic, mem, mem_variants, optimal_transport, simplex
from numerics.primal.entropic import Norm, Quadratic

RNG = np.random.default_rng(0)
TEMPLATES, PRIOR, EVIDENCE = RNG.normal(size=(4, 2)), np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.3, -0.5])
EPS = tolerances.eps("float64")


# ── a solver without an answer ──────────────────────────────────────────────────────────────────────────────────────


def test_a_solver_without_an_answer_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    x = cp.Variable(2)
    infeasible = cp.Problem(cp.Minimize(cp.sum(x)), [x >= 1, x <= 0])
    with pytest.raises(RuntimeError, match="the solver returned no plan: status 'infeasible' for 'data'"):
        conic.solve(infeasible, x, "data")

    def fails(*_: Any, **__: Any) -> None:
        raise cp.SolverError("planted")

    monkeypatch.setattr(cp.Problem, "solve", fails)
    with pytest.raises(RuntimeError, match="the solver returned no plan for 'data': planted"):
        conic.solve(infeasible, x, "data")


# ── what certificates allow for ─────────────────────────────────────────────────────────────────────────────────────


def test_a_gap_covers_the_rounding_of_the_residual_to_second_order() -> None:
    """At a tiny ε a large cost is rounded by more than ε."""
    cost, epsilon, one = 1e8, 1e-10, np.ones(1)
    half = np.full(1, (cost + epsilon) / 2)
    judged = coupling._certify(np.ones((1, 1)), np.full((1, 1), cost), one, one, (half, half), epsilon, "given")
    rounding = 2 * EPS * cost
    assert judged.gap >= math.exp(-1) * rounding**2 / epsilon > 1e-6  # C − f − g is rounded to 0


def test_a_gap_covers_the_rounding_of_each_term() -> None:
    problem = simplex.scaled(np.zeros((1, 1)), 2.0)
    judged = simplex.certify(problem, np.ones((1, 1)), np.ones(1))
    assert judged.gap == 2.0 * tolerances.rounding("float64", 1, 3.0)


def test_the_errors_of_templates_and_evidence() -> None:
    problem = mem.checked(np.array([[1.0, -3.0], [0.5, 2.0], [9.0, 9.0]]), np.array([0.5, 0.5, 0.0]), EVIDENCE)
    program = problem.program(Quadratic(1.0))
    assert problem.size == 3.0
    assert program.operator_error == 2 * EPS * 3.0
    assert program.target_error == tolerances.rounding("float64", 3, math.sqrt(2) * 3.0)
    own = optimal_transport._checked(np.array([0.5, 0.5]), np.zeros((2, 2)), 1.0)
    with_mean = optimal_transport._with_mean(own, np.array([[1.0], [-3.0]]), np.array([2.0]), np.array([1.0]), 1.0)
    assert with_mean.operator_error == EPS * 5.0


def test_a_plan_with_infinite_entries_has_neither_mean_nor_multiplier() -> None:
    for bad in (math.inf, math.nan):
        judged = mem.certify(np.array([bad, 0.5, 0.25, 0.25]), TEMPLATES, PRIOR, EVIDENCE, 2.0)
        assert not judged.certified
        assert np.isnan(judged.mean).all()
        assert not judged.multiplier.any()


@pytest.mark.parametrize("delta", [-9e-4, -1e-6, 5e-4, 0.01, -0.3, 1.0])
def test_a_divergence_has_its_digits(delta: float) -> None:
    """Of x = 1 from e^{-δ}: e^{-δ} − 1 + δ, in 50 digits."""
    one = np.ones(1)
    with mp.workdps(50):
        exact = mp.expm1(-mp.mpf(delta)) + mp.mpf(delta)
        found = entropic._divergence(one, np.array([delta]), np.zeros(1), np.zeros(1))
        assert abs(found / exact - 1) < 1e-9 * max(1.0, abs(delta)) + 1e-15 / delta**2


def test_a_system_with_a_row_of_zeros_has_its_least_solution() -> None:
    found = entropic._solve(np.array([[4.0, 0.0, 2.0], [0.0, 0.0, 0.0], [2.0, 0.0, 3.0]]), np.array([2.0, 0.0, 5.0]))
    np.testing.assert_allclose(found, [-0.5, 0.0, 2.0], atol=1e-14)


def test_newton_steps_for_another_weight_are_those_of_that_penalty() -> None:
    program = mem.checked(TEMPLATES, PRIOR, EVIDENCE).program(Norm(3.0))
    for weight in (0.1, 1.0, 10.0):
        x, multiplier = entropic.sharpen(program, PRIOR, weight)
        same, other = entropic.sharpen(replace(program, penalty=Quadratic(weight)), PRIOR, weight)
        np.testing.assert_array_equal(x, same)
        np.testing.assert_array_equal(multiplier, other)
        np.testing.assert_allclose(multiplier, weight * program.residual(x), atol=1e-12)


def test_newton_steps_for_an_infinite_weight_meet_the_evidence_and_are_judged_by_the_program() -> None:
    program = mem.checked(TEMPLATES, PRIOR, PRIOR[::-1] @ TEMPLATES - PRIOR @ TEMPLATES).program(Norm(50.0))
    x, multiplier = entropic.sharpen(program, PRIOR, math.inf)
    np.testing.assert_allclose(program.residual(x), 0.0, atol=1e-15)
    assert entropic.certify(program, x, multiplier).certified


@pytest.mark.parametrize("slope", [0.5, 3.0])
def test_a_multiplier_that_is_too_long_for_the_norm_is_shortened(slope: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: what is found for each weight is longer than the slope of the norm by more than rounding."""
    sharpen = entropic.sharpen

    def longer(program: entropic.Program, x: np.ndarray, weight: float) -> tuple[np.ndarray, np.ndarray]:
        found, multiplier = sharpen(program, x, weight)
        return found, (1 + 1e-7) * multiplier

    monkeypatch.setattr(entropic, "sharpen", longer)
    assert mem_variants.solve_without_square(TEMPLATES, PRIOR, EVIDENCE, 1.0, 1 / (2 * slope)).certified


# ── the conic solver's own answers ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("eta", [0.5, 3.0])
def test_the_statement_without_the_square_is_solved_before_it_is_refined(eta: float, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = TEMPLATES, PRIOR, EVIDENCE, 0.7, eta
    refined = mem_variants.solve_without_square(*arguments)
    assert refined.certified
    monkeypatch.setattr(entropic, "sharpen", lambda program, x, weight: (x, np.zeros_like(program.target)))
    monkeypatch.setattr(mem_variants, "_search", lambda *_: [])
    rough = mem_variants.solve_without_square(*arguments)
    np.testing.assert_allclose(rough.plan, refined.plan, atol=1e-4)


def test_the_statement_of_attention_is_solved_before_it_is_refined(monkeypatch: pytest.MonkeyPatch) -> None:
    cost = np.array([[0.0, 1.0, 2.0, 1.0], [1.0, 0.0, 1.0, 3.0], [2.0, 1.0, 0.0, 1.0], [1.0, 3.0, 1.0, 0.0]])
    arguments = TEMPLATES, PRIOR, EVIDENCE, cost, 2.0, 0.5
    refined = optimal_transport.solve(*arguments)
    assert refined.certified
    monkeypatch.setattr(entropic, "sharpen", lambda program, x, weight: (x, weight * program.residual(x)))
    rough = optimal_transport.solve(*arguments)
    np.testing.assert_allclose(rough.plan, refined.plan, atol=1e-4)
