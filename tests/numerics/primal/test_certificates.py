"""The primal layer: certificates that refuse wrong solutions, and a second oracle for right ones."""

import math
import subprocess
import sys

import numpy as np
import ot
import pytest
from hypothesis import given, settings

from evidence.instances.one_sided import OneSided, one_sided_problems
from numerics import tolerances
from numerics.primal import coupling, one_sided, simplex

PATIENT = settings(deadline=None)
single_rows = one_sided_problems(max_batch=0, masks=("none",))


# --- one-sided ---------------------------------------------------------------------------------------------------


@PATIENT
@given(single_rows)
def test_every_solve_is_certified_and_feasible(x: OneSided) -> None:
    solution = one_sided.solve(x.scores.numpy(), x.temperature)
    assert solution.certified, solution
    assert solution.gap <= tolerances.SOLVER_GAP * x.temperature
    assert solution.bound <= solution.objective + solution.gap
    assert (solution.plan >= 0).all()
    assert abs(solution.plan.sum() - 1) <= tolerances.rounding("float64", x.m)


@PATIENT
@given(single_rows)
def test_no_feasible_plan_beats_the_bound(x: OneSided) -> None:
    s, epsilon = x.scores.numpy(), x.temperature
    solution = one_sided.solve(s, epsilon)
    rivals = np.random.default_rng(0).dirichlet(np.full(x.m, 0.5), size=20)
    rivals = np.concatenate([rivals, np.eye(x.m), 0.99 * solution.plan + 0.01 * rivals])
    values = -rivals @ s + epsilon * (rivals * np.log(rivals, where=rivals > 0, out=np.zeros_like(rivals))).sum(axis=1)
    slack = tolerances.rounding("float64", x.m, float(np.abs(s).max()) + epsilon * math.log(2 * x.m))
    assert (values >= solution.bound - slack).all()
    assert (values >= solution.objective - solution.gap - slack).all()


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 1e6])
@pytest.mark.parametrize("scores", [[0.3, -1.2, 0.9, 0.0], [1.0, 1.0], [2.0, 2.0, -1.0], [1e4, 1e4 - 1.0, 0.0]], ids=str)
def test_a_second_oracle_agrees(scores: list[float], epsilon: float) -> None:
    # POT knows the problem as unbalanced transport whose target marginal costs nothing. It exponentiates −M/ε without
    # taking off the peak, so that is done for it.
    shifted = np.maximum(np.array(scores) - max(scores), -700 * epsilon)
    (other,) = ot.unbalanced.sinkhorn_unbalanced(
        np.ones(1), np.ones(len(scores)), -shifted[None], epsilon, (np.inf, 0.0), reg_type="kl"
    )
    solution = one_sided.solve(scores, epsilon)
    allowed = tolerances.plan_from_gap(solution.gap, epsilon) + tolerances.plan("float64", len(scores))
    assert np.abs(solution.plan - other).sum() <= allowed


@pytest.mark.parametrize("epsilon", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("score", [-1e4, 0.0, 1e4])
def test_a_single_key_takes_everything(score: float, epsilon: float) -> None:
    solution = one_sided.solve([score], epsilon)
    assert solution.plan.tolist() == [1.0]
    assert solution.objective == -score
    assert solution.certified


def test_ties_share_evenly() -> None:
    solution = one_sided.solve([5.0, 5.0, 5.0, -1e4], 1e-3)
    np.testing.assert_allclose(solution.plan, [1 / 3, 1 / 3, 1 / 3, 0], atol=tolerances.plan_from_gap(1e-13, 1.0))


@pytest.mark.parametrize("epsilon", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("size", [1e-4, 1e-2])
def test_a_perturbed_plan_is_not_certified(size: float, epsilon: float) -> None:
    scores = epsilon * np.array([0.3, -1.2, 0.9])
    right = one_sided.solve(scores, epsilon)
    assert one_sided.certify(right.plan, scores, epsilon).certified
    assert one_sided.certify(right.plan, scores, epsilon, right.multiplier).certified
    wrong = right.plan + size * np.array([1.0, 0.0, -1.0])
    refused = one_sided.certify(wrong, scores, epsilon)
    assert not refused.certified
    assert refused.gap > 1e-10 * epsilon
    assert np.abs(wrong - right.plan).sum() <= tolerances.plan_from_gap(refused.gap, epsilon)


@pytest.mark.parametrize("offset", [-1.0, -1e-4, 1e-4, 1.0, 1e4])
def test_a_wrong_multiplier_is_not_certified(offset: float) -> None:
    scores = [0.3, -1.2, 0.9]
    right = one_sided.solve(scores, 0.5)
    refused = one_sided.certify(right.plan, scores, 0.5, right.multiplier + offset)
    assert not refused.certified
    assert refused.bound < right.bound


def test_the_plan_of_another_temperature_is_not_certified() -> None:
    scores = [0.3, -1.2, 0.9]
    assert not one_sided.certify(one_sided.solve(scores, 0.5001).plan, scores, 0.5).certified


@pytest.mark.parametrize("plan", [[0.6, 0.6], [0.4, 0.4], [1.5, -0.5], [math.nan, 1.0], [math.inf, -math.inf]], ids=str)
def test_a_plan_outside_the_simplex_is_not_certified(plan: list[float]) -> None:
    refused = one_sided.certify(plan, [1.0, 1.0], 1.0)
    assert not refused.certified
    assert refused.gap == math.inf


def test_a_solver_that_stops_early_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simplex, "program", lambda x: (np.full(x.shape, 1 / x.size), "optimal"))
    monkeypatch.setattr(simplex, "polish", lambda x, plan: plan)
    solution = one_sided.solve([1.0, 0.0], 1.0)
    assert solution.status == "optimal"
    assert not solution.certified
    assert solution.gap > 0.1


@pytest.mark.parametrize("rough", [1e-8, 1e-5, 1e-3])
def test_a_rough_solve_is_polished(monkeypatch: pytest.MonkeyPatch, rough: float) -> None:
    program = simplex.program
    noise = rough * np.array([1.0, -0.5, -0.5])
    monkeypatch.setattr(simplex, "program", lambda x: (program(x)[0] + noise, "optimal_inaccurate"))
    solution = one_sided.solve([0.0, -2.0, -3.0], 1.0)
    assert solution.certified
    assert solution.gap < 1e-13


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: one_sided.solve([], 1.0), "scores"),
        (lambda: one_sided.solve([[1.0]], 1.0), "scores"),
        (lambda: one_sided.solve([1.0, -math.inf], 1.0), "scores"),
        (lambda: one_sided.solve([1.0], 0.0), "epsilon"),
        (lambda: one_sided.solve([1.0], math.nan), "epsilon"),
        (lambda: one_sided.solve([1e300, 0.0], 1e-300), "epsilon"),
        (lambda: one_sided.certify([1.0], [1.0, 0.0], 1.0), "plan"),
        (lambda: one_sided.certify([1.0], [1.0], 1.0, math.inf), "multiplier"),
        (lambda: coupling.solve_transport([1.0], [1.0], [1.0]), "cost"),
        (lambda: coupling.solve_transport([[math.inf]], [1.0], [1.0]), "cost"),
        (lambda: coupling.solve_transport([[1.0, 2.0]], [0.9], [0.5, 0.5]), "a"),
        (lambda: coupling.solve_transport([[1.0, 2.0]], [1.0], [1.5, -0.5]), "b"),
        (lambda: coupling.solve_transport([[1.0, 2.0]], [1.0], [1.0]), "b"),
        (lambda: coupling.solve_entropic([[1.0]], [1.0], [1.0], -1.0), "epsilon"),
        (lambda: coupling.certify([[1.0]], [[1.0]], [1.0], [1.0], ([0.0], [0.0]), -1.0), "epsilon"),
        (lambda: coupling.certify([1.0], [[1.0]], [1.0], [1.0], ([0.0], [0.0])), "plan"),
        (lambda: coupling.certify([[1.0]], [[1.0]], [1.0], [1.0], ([math.inf], [0.0])), "potentials"),
    ],
)
def test_bad_arguments_are_named(call: object, name: str) -> None:
    with pytest.raises(ValueError, match=f"^{name}: expected"):
        call()  # type: ignore[operator]


# --- two marginals -----------------------------------------------------------------------------------------------


def transport_problem(n: int, m: int, kind: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(100 * n + m)
    cost, a, b = rng.random((n, m)), rng.dirichlet(np.ones(n)), rng.dirichlet(np.ones(m))
    if kind == "ties":
        cost, a, b = cost.round(), np.full(n, 1 / n), np.full(m, 1 / m)
    if kind == "zeros":
        a[: n // 2], b[m - m // 2 :] = 0.0, 0.0
        a, b = a / a.sum(), b / b.sum()
    if kind == "negative costs":
        cost = 1e3 * (cost - 0.8)
    return cost, a, b


problems = pytest.mark.parametrize(
    ("n", "m", "kind"),
    [(n, m, kind) for n, m in ((1, 1), (1, 4), (3, 3), (5, 7)) for kind in ("plain", "ties", "zeros", "negative costs")],
)


@problems
def test_the_linear_program_gives_a_certified_vertex(n: int, m: int, kind: str) -> None:
    cost, a, b = transport_problem(n, m, kind)
    solution = coupling.solve_transport(cost, a, b)
    assert solution.certified, solution
    assert np.count_nonzero(solution.plan) <= n + m - 1
    scale = float(np.abs(cost).max())
    assert solution.objective == pytest.approx(float(ot.emd2(a, b, cost)), abs=tolerances.rounding("float64", n * m, scale))
    f, g = solution.potentials
    assert (f[:, None] + g <= cost + tolerances.rounding("float64", 1, 2 * scale)).all()


@problems
@pytest.mark.parametrize("epsilon", [1e-6, 1e-2, 1.0, 1e6])
def test_entropic_couplings_are_certified(n: int, m: int, kind: str, epsilon: float) -> None:
    cost, a, b = transport_problem(n, m, kind)
    solution = coupling.solve_entropic(cost, a, b, epsilon)
    assert solution.certified, solution
    assert (solution.plan[a == 0] == 0).all()
    assert (solution.plan[:, b == 0] == 0).all()
    linear = coupling.solve_transport(cost, a, b).objective
    # 0 ≥ Σ P log P ≥ −log nm: the classical value is approached at this rate when ε → 0.
    assert solution.objective <= linear + solution.gap + tolerances.rounding("float64", n * m, float(np.abs(cost).max()))
    assert solution.objective >= linear - epsilon * math.log(n * m) - 1e-9 * (1 + epsilon)


@problems
def test_sinkhorn_agrees(n: int, m: int, kind: str) -> None:
    cost, a, b = transport_problem(n, m, kind)
    epsilon = 0.3 * max(1.0, float(np.abs(cost).max()))
    rows, columns = a > 0, b > 0
    other = np.zeros_like(cost)
    inner = np.ix_(rows, columns)
    other[inner] = ot.sinkhorn(
        a[rows], b[columns], cost[inner], epsilon, method="sinkhorn_log", stopThr=1e-13, numItermax=5000, warn=False
    )
    solution = coupling.solve_entropic(cost, a, b, epsilon)
    # The gap bounds ε KL(P ‖ P*) here too: two marginals only add linear terms to the objective.
    assert np.abs(solution.plan - other).sum() <= tolerances.plan_from_gap(solution.gap, epsilon) + 1e-12


@pytest.mark.parametrize("rough", [1e-8, 1e-5, 1e-4])
def test_a_rough_coupling_is_polished(monkeypatch: pytest.MonkeyPatch, rough: float) -> None:
    cost, a, b = transport_problem(3, 4, "plain")
    program = coupling._program
    noise = rough * np.outer([1.0, -1.0, 0.0], [0.5, 0.5, 0.0, -1.0])

    def noisy(*problem: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, str]:
        plan, f, g, _ = program(*problem)
        return plan + noise, f + rough, g, "optimal_inaccurate"

    monkeypatch.setattr(coupling, "_program", noisy)
    solution = coupling.solve_entropic(cost, a, b, 1.0)
    assert solution.certified
    assert solution.gap < 1e-12


def test_a_huge_epsilon_gives_the_independent_coupling() -> None:
    cost, a, b = transport_problem(4, 5, "plain")
    solution = coupling.solve_entropic(cost, a, b, 1e9)
    np.testing.assert_allclose(solution.plan, np.outer(a, b), atol=tolerances.plan_from_gap(solution.gap, 1e9) + 1e-9)


@pytest.mark.parametrize("epsilon", [0.0, 1e-3, 1.0])
def test_certificates_of_couplings_refuse(epsilon: float) -> None:
    cost, a, b = transport_problem(3, 4, "plain")
    right = coupling.solve_entropic(cost, a, b, epsilon) if epsilon else coupling.solve_transport(cost, a, b)
    assert coupling.certify(right.plan, cost, a, b, right.potentials, epsilon).certified

    independent = np.outer(a, b)
    mixed = 0.99 * right.plan + 0.01 * independent
    assert not coupling.certify(mixed, cost, a, b, right.potentials, epsilon).certified
    f, g = right.potentials
    for offset in (0.01, -0.01):
        assert not coupling.certify(right.plan, cost, a, b, (f + offset * np.eye(3)[0], g), epsilon).certified
    assert coupling.certify(right.plan, cost, a, b, (f - 0.01, g + 0.01), epsilon).certified
    assert not coupling.certify(right.plan * 1.001, cost, a, b, right.potentials, epsilon).certified
    assert coupling.certify(right.plan * np.nan, cost, a, b, right.potentials, epsilon).gap == math.inf
    perturbed = right.plan + 1e-6 * np.outer([1.0, -1.0, 0.0], [1.0, 0.0, 0.0, -1.0])
    assert not coupling.certify(perturbed, cost, a, b, right.potentials, epsilon).certified


@pytest.mark.parametrize("epsilon", [0.0, 1e-3, 1.0])
def test_every_pair_of_potentials_bounds_every_coupling(epsilon: float) -> None:
    cost, a, b = transport_problem(3, 4, "plain")
    best = coupling.solve_entropic(cost, a, b, epsilon) if epsilon else coupling.solve_transport(cost, a, b)
    rng = np.random.default_rng(0)
    for _ in range(30):
        pair = rng.standard_normal(3), rng.standard_normal(4)
        assert coupling.certify(best.plan, cost, a, b, pair, epsilon).bound <= best.objective + best.gap


def test_neither_torch_nor_a_closed_form_is_imported() -> None:
    code = (
        "import sys, numerics.primal.one_sided, numerics.primal.coupling;"
        "sys.exit(int(bool({'torch', 'numerics.one_sided', 'sympy'} & set(sys.modules))))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("big", [1e3, 1e9, 1e10, 1e12, 1e14, 1e32])
def test_a_large_cost_does_not_certify_a_dear_plan(big: float) -> None:
    """The linear solver's tolerances are absolute, and so it returns plans that are far from optimal."""
    rng = np.random.default_rng(0)
    cost, a, b = rng.random((6, 5)), rng.dirichlet(np.ones(6)), rng.dirichlet(np.ones(5))
    forbidden = rng.random((6, 5)) < 0.3
    forbidden[:, 0] = forbidden[0] = False
    expected = coupling.solve_transport(np.where(forbidden, 100.0, cost), a, b)
    solution = coupling.solve_transport(np.where(forbidden, big, cost), a, b)
    assert expected.certified
    assert not solution.certified or abs(solution.objective - expected.objective) <= 1e-9
