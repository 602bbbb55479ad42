"""The regularized programs: certificates that refuse wrong solutions, and second oracles for right ones."""

import math
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import ot
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evidence.instances.one_sided import OneSided, one_sided_problems
from numerics import tolerances
from numerics.primal import one_sided, regularizers
from numerics.primal.regularizers import Solution

ALPHAS = (1.001, 1.25, 1.5, Fraction(4, 3), 2, 2.5, 3, 6)
FEW = settings(deadline=None, max_examples=40)
single_rows = one_sided_problems(max_batch=0, masks=("none",), scales=(1.0, 0.0, 0.2, 30.0, 1e4))
SCORES = [[0.3, -0.2, 0.9, 0.0], [1.0, 1.0], [1.0, 0.0], [2.0, 2.0, -1.0], [1e4, 1e4 - 0.5, 0.0], [-7.0]]

some_scores = pytest.mark.parametrize("scores", SCORES, ids=str)
some_alphas = pytest.mark.parametrize("alpha", ALPHAS, ids=str)


class Problem:
    """One of the three problems, with its objective written out independently."""

    def __init__(
        self,
        solve: Callable[[], Solution],
        certify: Callable[..., Solution],
        objective: Callable[[np.ndarray], np.ndarray],
        unit: float = 1.0,
    ) -> None:
        self.solve, self.certify, self.objective, self.unit = solve, certify, objective, unit


def quadratic(s: np.ndarray) -> Problem:
    return Problem(
        lambda: regularizers.solve_quadratic(s),
        lambda plan, *multiplier: regularizers.certify_quadratic(plan, s, *multiplier),
        lambda plans: -plans @ s + (plans**2).sum(-1) / 2,
    )


def tsallis(s: np.ndarray, alpha: float | Fraction) -> Problem:
    a = float(alpha)
    return Problem(
        lambda: regularizers.solve_tsallis(s, alpha),
        lambda plan, *multiplier: regularizers.certify_tsallis(plan, s, alpha, *multiplier),
        lambda plans: -plans @ s + (plans**a - plans).sum(-1) / (a * (a - 1)),
    )


def penalized(s: np.ndarray, penalty: np.ndarray, epsilon: float) -> Problem:
    return Problem(
        lambda: regularizers.solve_penalized(s, penalty, epsilon),
        lambda plan, *multiplier: regularizers.certify_penalized(plan, s, penalty, epsilon, *multiplier),
        lambda plans: (
            -plans @ s + epsilon * (plans * np.log(plans, where=plans > 0, out=np.zeros_like(plans))).sum(-1) + plans @ penalty
        ),
        epsilon,
    )


@st.composite
def problems(draw: st.DrawFn) -> tuple[Problem, OneSided]:
    x = draw(single_rows)
    s = x.scores.numpy()
    kind = draw(st.sampled_from(("quadratic", "penalized", *ALPHAS)))
    if kind == "quadratic":
        return quadratic(s), x
    if kind == "penalized":
        position = draw(st.integers(0, x.m - 1))
        penalty = draw(st.sampled_from((0.0, 0.1, 5.0))) * np.abs(np.arange(x.m) - position)
        return penalized(s, penalty, x.temperature), x
    return tsallis(s, kind), x


@FEW
@given(problems())
def test_every_solve_is_certified_and_unbeaten(drawn: tuple[Problem, OneSided]) -> None:
    problem, x = drawn
    solution = problem.solve()
    assert solution.certified, solution
    assert solution.gap <= tolerances.SOLVER_GAP * problem.unit
    assert (solution.plan >= 0).all()
    assert abs(solution.plan.sum() - 1) <= tolerances.rounding("float64", x.m)

    rivals = np.random.default_rng(0).dirichlet(np.full(x.m, 0.5), size=20)
    rivals = np.concatenate([rivals, np.eye(x.m), 0.99 * solution.plan + 0.01 * rivals])
    values = problem.objective(rivals)
    # 1/(α(α−1)) may be a thousand, and p^α − p is then subtracted naïvely here.
    slack = tolerances.rounding("float64", x.m, float(x.scores.abs().max()) + 50 + problem.unit * math.log(2 * x.m) + 1e3)
    assert (values >= solution.bound - slack).all()
    own = float(problem.objective(solution.plan))
    assert own == pytest.approx(solution.objective, abs=slack)


@FEW
@given(problems())
def test_the_error_bounds_the_distance_to_another_certified_plan(drawn: tuple[Problem, OneSided]) -> None:
    problem, x = drawn
    best = problem.solve()
    rng = np.random.default_rng(1)
    for size in (1e-8, 1e-4, 0.3):
        other = (1 - size) * best.plan + size * rng.dirichlet(np.ones(x.m))
        given_plan = problem.certify(other / other.sum())
        assert given_plan.error + best.error >= np.linalg.norm(given_plan.plan - best.plan)
        assert given_plan.gap >= problem.objective(given_plan.plan) - best.objective - 1e-9 * (1 + abs(best.objective))


@some_scores
def test_pot_projects_to_the_same_point(scores: list[float]) -> None:
    s = np.array(scores)
    solution = regularizers.solve_quadratic(s)
    value, plan = ot.smooth.SquaredL2(1.0).max_Omega(s[:, None], np.ones(1))
    rounding = tolerances.rounding("float64", s.size, 1 + float(np.abs(s).max()))
    assert np.linalg.norm(solution.plan - plan[:, 0]) <= solution.error + rounding
    assert solution.objective == pytest.approx(-float(value[0]), abs=solution.gap + rounding)
    (projected,) = ot.smooth.projection_simplex(s[None], axis=1)
    assert np.linalg.norm(solution.plan - projected) <= solution.error + rounding


@some_scores
def test_alpha_2_is_the_projection_with_another_constant(scores: list[float]) -> None:
    left, right = regularizers.solve_quadratic(scores), regularizers.solve_tsallis(scores, 2)
    assert np.linalg.norm(left.plan - right.plan) <= left.error + right.error
    rounding = tolerances.rounding("float64", 1, 1 + float(np.abs(scores).max()))
    assert left.objective - right.objective == pytest.approx(0.5, abs=left.gap + right.gap + rounding)


@some_scores
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 1e3])
def test_pot_solves_the_penalized_problem(scores: list[float], epsilon: float) -> None:
    s = np.array(scores)
    penalty = 0.7 * np.abs(np.arange(s.size) - 1.0)
    solution = regularizers.solve_penalized(s, penalty, epsilon)
    value, plan = ot.smooth.NegEntropy(epsilon).max_Omega((s - penalty)[:, None], np.ones(1))
    logit = float(np.abs(s - penalty).max()) / epsilon
    assert np.linalg.norm(solution.plan - plan[:, 0]) <= solution.error + tolerances.plan("float64", s.size, logit)
    rounding = tolerances.rounding("float64", s.size, float(np.abs(s).max()) + epsilon * (1 + math.log(s.size)))
    assert solution.objective == pytest.approx(-float(value[0]), abs=solution.gap + rounding)


@some_scores
def test_without_a_penalty_it_is_the_one_sided_problem(scores: list[float]) -> None:
    left = regularizers.solve_penalized(scores, np.zeros(len(scores)), 0.5)
    right = one_sided.solve(scores, 0.5)
    assert np.linalg.norm(left.plan - right.plan) <= left.error + tolerances.plan_from_gap(right.gap, 0.5)


@some_alphas
def test_a_vertex_is_reached_and_exact(alpha: float | Fraction) -> None:
    solution = regularizers.solve_tsallis([0.0, 5000.0, 3.0], alpha)
    assert solution.plan.tolist() == [0.0, 1.0, 0.0]
    assert solution.objective == -5000.0
    assert regularizers.solve_tsallis([-3.0], alpha).plan.tolist() == [1.0]


@some_alphas
def test_ties_share_evenly(alpha: float | Fraction) -> None:
    solution = regularizers.solve_tsallis([5.0, 5.0, 5.0, -1e4], alpha)
    np.testing.assert_allclose(solution.plan, [1 / 3, 1 / 3, 1 / 3, 0], atol=solution.error)


# ── certificates refuse ─────────────────────────────────────────────────────────────────────────────────────────────

REFUSALS = [
    quadratic(np.array([0.3, -0.2, 0.9])),
    tsallis(np.array([0.3, -0.2, 0.9]), 1.5),
    tsallis(np.array([0.3, -0.2, 0.9]), Fraction(4, 3)),
    tsallis(np.array([0.3, 0.1, 0.5]), 3),
    tsallis(np.array([0.0, 0.0, 1.0]), 1.5),
    penalized(np.array([0.3, -1.2, 0.9]), np.array([0.0, 0.5, 1.0]), 0.5),
]
NAMES = ["quadratic", "3/2", "4/3", "3", "3/2 at a vertex", "penalized"]
every_problem = pytest.mark.parametrize("problem", REFUSALS, ids=NAMES)


@every_problem
@pytest.mark.parametrize("size", [1e-4, 1e-2])
def test_a_perturbed_plan_is_not_certified(problem: Problem, size: float) -> None:
    right = problem.solve()
    assert problem.certify(right.plan).certified
    assert problem.certify(right.plan, right.multiplier).certified
    wrong = right.plan + size * np.array([1.0, 0.0, -1.0])
    refused = problem.certify(wrong)
    assert not refused.certified
    assert refused.gap > tolerances.SOLVER_GAP * problem.unit
    assert np.linalg.norm(wrong - right.plan) <= refused.error


@every_problem
@pytest.mark.parametrize("offset", [-1.0, -1e-4, 1e-4, 1.0, 1e4])
def test_a_wrong_multiplier_is_not_certified(problem: Problem, offset: float) -> None:
    right = problem.solve()
    refused = problem.certify(right.plan, right.multiplier + offset)
    assert not refused.certified
    assert refused.bound < right.bound


@every_problem
@pytest.mark.parametrize(
    "plan", [[0.6, 0.6, 0.0], [0.4, 0.4, 0.0], [1.5, -0.5, 0.0], [math.nan, 1.0, 0.0], [math.inf, -math.inf, 1.0]], ids=str
)
def test_a_plan_outside_the_simplex_is_not_certified(problem: Problem, plan: list[float]) -> None:
    refused = problem.certify(plan)
    assert not refused.certified
    assert refused.gap == refused.error == math.inf


def test_the_plan_of_another_problem_is_not_certified() -> None:
    s, penalty = np.array([0.3, -0.2, 0.9]), np.array([0.0, 0.5, 1.0])
    sparse, dense = regularizers.solve_quadratic(s).plan, regularizers.solve_penalized(s, penalty, 1.0).plan
    assert not regularizers.certify_tsallis(sparse, s, 1.999).certified
    assert not regularizers.certify_tsallis(dense, s, 1.5).certified
    assert not regularizers.certify_quadratic(regularizers.solve_tsallis(s, 2.001).plan, s).certified
    assert not regularizers.certify_penalized(dense, s, penalty * 1.001, 1.0).certified
    assert not regularizers.certify_penalized(dense, s, -penalty, 1.0).certified
    assert not regularizers.certify_penalized(dense, s, penalty, 1.001).certified


@every_problem
def test_a_solver_that_stops_early_is_reported(problem: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regularizers, "_program", lambda p, used: (np.full(p.size, 1 / p.size), "optimal"))
    monkeypatch.setattr(regularizers, "_polish", lambda p, plan: plan)
    solution = problem.solve()
    assert solution.status == "optimal"
    assert not solution.certified
    assert solution.gap > 0.01


@every_problem
@pytest.mark.parametrize("rough", [1e-8, 1e-5, 1e-3])
def test_a_rough_solve_is_polished(problem: Problem, rough: float, monkeypatch: pytest.MonkeyPatch) -> None:
    program = regularizers._program
    noise = rough * np.array([1.0, 1.0, -2.0])
    monkeypatch.setattr(regularizers, "_program", lambda *p: (program(*p)[0] + noise, "optimal_inaccurate"))
    solution = problem.solve()
    assert solution.certified
    assert solution.gap < 1e-13


def test_strong_convexity_is_tight_and_follows_the_modulus() -> None:
    s = np.array([0.2, 0.1, -0.3])
    best = regularizers.solve_quadratic(s).plan
    q = best + 1e-3 * np.array([1.0, -1.0, 0.0])
    gap = float(-q @ s + q @ q / 2 + best @ s - best @ best / 2)
    distance = float(np.linalg.norm(q - best))
    assert tolerances.plan_from_strong_convexity(gap, 1.0) == pytest.approx(distance, rel=1e-4)
    assert distance > tolerances.plan_from_strong_convexity(gap / 4, 1.0)
    assert tolerances.plan_from_strong_convexity(gap, 4.0) == pytest.approx(distance / 2, rel=1e-4)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: regularizers.solve_quadratic([]), "scores"),
        (lambda: regularizers.solve_quadratic([[1.0]]), "scores"),
        (lambda: regularizers.solve_tsallis([1.0, -math.inf], 1.5), "scores"),
        (lambda: regularizers.solve_tsallis([1.0], 1.0), "alpha"),
        (lambda: regularizers.solve_tsallis([1.0], math.inf), "alpha"),
        (lambda: regularizers.solve_tsallis([1.0], math.nan), "alpha"),
        (lambda: regularizers.solve_tsallis([1.0], "1.5"), "alpha"),
        (lambda: regularizers.solve_penalized([1.0, 0.0], [1.0], 1.0), "penalty"),
        (lambda: regularizers.solve_penalized([1.0], [math.inf], 1.0), "penalty"),
        (lambda: regularizers.solve_penalized([1.0], [1.0], 0.0), "epsilon"),
        (lambda: regularizers.solve_penalized([1e300, 0.0], [0.0, 0.0], 1e-300), "epsilon"),
        (lambda: regularizers.certify_quadratic([1.0], [1.0, 0.0]), "plan"),
        (lambda: regularizers.certify_quadratic([1.0], [1.0], math.inf), "multiplier"),
        (lambda: tolerances.plan_from_strong_convexity(-1.0, 1.0), "gap"),
        (lambda: tolerances.plan_from_strong_convexity(math.nan, 1.0), "gap"),
        (lambda: tolerances.plan_from_strong_convexity(1.0, 0.0), "modulus"),
    ],
)
def test_bad_arguments_are_named(call: Callable[[], object], name: str) -> None:
    with pytest.raises(ValueError, match=f"^{name}: expected"):
        call()


def test_neither_torch_nor_a_closed_form_is_imported() -> None:
    code = (
        "import sys, numerics.primal.regularizers;"
        "sys.exit(int(bool({'torch', 'numerics.regularizers', 'sympy', 'entmax', 'ot'} & set(sys.modules))))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
