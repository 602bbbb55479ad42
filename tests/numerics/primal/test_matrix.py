"""The whole-matrix program: its certificate refuses wrong solutions, and other oracles agree with the accepted ones."""

import math

import numpy as np
import ot
import pytest

from numerics import tolerances
from numerics.primal import matrix, one_sided, simplex

RNG = np.random.default_rng(0)
SCORES = RNG.normal(size=(3, 4))
SHAPES = [(1, 1), (1, 4), (4, 1), (3, 4), (6, 5)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 50.0])
def test_every_solve_is_certified_and_feasible(shape: tuple[int, int], epsilon: float) -> None:
    solution = matrix.solve(RNG.normal(size=shape), epsilon)
    assert solution.certified, solution
    assert (solution.plan >= 0).all()
    assert np.abs(solution.plan.sum(axis=1) - 1).max() <= tolerances.rounding("float64", shape[1])
    assert solution.bound <= solution.objective + solution.gap


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 5.0])
def test_rows_agree_with_the_program_of_one_row(epsilon: float) -> None:
    solution = matrix.solve(SCORES, epsilon)
    for row, scores in zip(solution.plan, SCORES, strict=True):
        single = one_sided.solve(scores, epsilon)
        allowed = tolerances.plan_from_gap(single.gap, epsilon) + tolerances.plan_from_gap(solution.gap, epsilon)
        assert np.abs(row - single.plan).sum() <= allowed


def test_a_second_oracle_agrees() -> None:
    other = ot.unbalanced.sinkhorn_unbalanced(np.ones(3), np.ones(4), -SCORES, 0.5, (np.inf, 0.0), reg_type="kl")
    solution = matrix.solve(SCORES, 0.5)
    allowed = tolerances.plan_from_gap(solution.gap, 0.5) + 3 * tolerances.plan("float64", 4, 10.0)
    assert np.abs(solution.plan - other).sum() <= allowed


def test_no_feasible_plan_beats_the_bound() -> None:
    solution = matrix.solve(SCORES, 0.5)
    rivals = [*RNG.dirichlet(np.full(4, 0.5), size=(20, 3)), np.full((3, 4), 0.25), np.eye(4)[:3]]
    for rival in rivals:
        value = -(rival * SCORES).sum() + 0.5 * (rival * np.log(rival, where=rival > 0, out=np.zeros_like(rival))).sum()
        assert value >= solution.bound - tolerances.rounding("float64", 12, 20.0)


@pytest.mark.parametrize("offset", [1e-4, 1e-2, 0.2])
def test_a_perturbed_plan_is_not_certified(offset: float) -> None:
    right = matrix.solve(SCORES, 0.5)
    assert matrix.certify(right.plan, SCORES, 0.5, right.multipliers).certified
    wrong = right.plan.copy()
    giver = int(wrong[1].argmax())
    wrong[1, giver] -= offset
    wrong[1, (giver + 1) % 4] += offset
    refused = matrix.certify(wrong, SCORES, 0.5, right.multipliers)
    assert not refused.certified
    assert np.abs(wrong - right.plan).sum() <= tolerances.plan_from_gap(refused.gap, 0.5)


@pytest.mark.parametrize("offset", [-1.0, -1e-4, 1e-4, 1.0, 1e4])
def test_a_wrong_multiplier_is_not_certified(offset: float) -> None:
    right = matrix.solve(SCORES, 0.5)
    refused = matrix.certify(right.plan, SCORES, 0.5, right.multipliers + np.array([0.0, offset, 0.0]))
    assert not refused.certified
    assert refused.bound < right.bound


@pytest.mark.parametrize(
    "plan",
    [
        np.full((3, 4), 0.3),
        np.eye(4)[:3] * 2,
        np.full((3, 4), math.nan),
        np.tile([1.5, -0.5, 0.0, 0.0], (3, 1)),
        np.full((3, 4), 1 / 12),
    ],
    ids=range(5),
)
def test_an_infeasible_plan_is_not_certified(plan: np.ndarray) -> None:
    refused = matrix.certify(plan, SCORES, 0.5, np.zeros(3))
    assert not refused.certified
    assert refused.gap == math.inf


def test_a_solver_that_stops_early_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simplex, "program", lambda x: (np.full(x.shape, 1 / x.shape[1]), "optimal"))
    monkeypatch.setattr(simplex, "polish", lambda x, plan: plan)
    solution = matrix.solve(SCORES, 0.5)
    assert solution.status == "optimal"
    assert not solution.certified


@pytest.mark.parametrize(
    ("scores", "epsilon", "word"),
    [
        ([1.0], 1.0, "scores"),
        ([[]], 1.0, "scores"),
        ([[math.inf]], 1.0, "scores"),
        ([[1.0]], 0.0, "epsilon"),
        ([[1.0]], math.nan, "epsilon"),
        ([[0.0, 100.0]], 1.0, "epsilon"),
        ([[0.0, 1e308]], 1e-8, "epsilon"),
    ],
)
def test_bad_arguments_are_named(scores: list[object], epsilon: float, word: str) -> None:
    with pytest.raises(ValueError, match=word):
        matrix.solve(scores, epsilon)


def test_bad_certificates_are_named() -> None:
    with pytest.raises(ValueError, match="plan"):
        matrix.certify(np.ones((3, 1)), SCORES, 1.0, np.zeros(3))
    with pytest.raises(ValueError, match="multipliers"):
        matrix.certify(np.ones((3, 4)) / 4, SCORES, 1.0, np.zeros(2))
