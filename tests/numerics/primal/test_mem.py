"""The programs of maximum entropy on the mean: certified, refused if wrong, and compared with other oracles."""

import math
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp

from numerics import tolerances
from numerics.primal import entropic, mem, mem_variants

Data = tuple[np.ndarray, np.ndarray, np.ndarray]

SHAPES = [(1, 1), (1, 3), (4, 1), (5, 2), (9, 4)]
KINDS = ["plain", "zeros", "duplicates", "shifted", "skewed prior", "inside", "far", "no evidence"]
problems = pytest.mark.parametrize("kind", KINDS)
shapes = pytest.mark.parametrize(("n", "d"), SHAPES, ids=str)


def data(n: int, d: int, kind: str) -> Data:
    rng = np.random.default_rng(17 * n + d)
    t, u, z = rng.standard_normal((n, d)), rng.dirichlet(np.ones(n)), rng.standard_normal(d)
    if kind == "zeros":
        u[: n // 2] = 0.0
        u /= u.sum()
    if kind == "duplicates":
        t[n // 2 :] = t[0]
    if kind == "shifted":
        t += 100.0
    if kind == "skewed prior":
        u = np.exp(-40.0 * np.arange(n)) / np.exp(-40.0 * np.arange(n)).sum()
    if kind == "inside":
        z = rng.dirichlet(np.ones(n)) @ t - u @ t
    if kind == "far":
        z = 100.0 * z
    if kind == "no evidence":
        z = np.zeros(d)
    return t, u, z


def objective(p: np.ndarray, t: np.ndarray, u: np.ndarray, z: np.ndarray, alpha: float) -> float:
    used = p > 0
    r = (u - p) @ t + z
    with np.errstate(divide="ignore"):
        return alpha / 2 * float(r @ r) + float((p[used] * (np.log(p[used]) - np.log(u[used]))).sum())


@shapes
@problems
@pytest.mark.parametrize("alpha", [1e-3, 0.1, 1.0, 30.0, 1e3])
def test_every_solve_is_certified(n: int, d: int, kind: str, alpha: float) -> None:
    t, u, z = data(n, d, kind)
    x = mem.solve(t, u, z, alpha)
    assert x.certified, x
    assert 0 <= x.gap <= tolerances.SOLVER_GAP
    assert (x.plan[u == 0] == 0).all()
    assert abs(math.fsum(x.plan) - 1) <= tolerances.rounding("float64", n)
    assert abs(x.objective - x.bound) <= 2 * x.value_error + tolerances.rounding("float64", n)
    np.testing.assert_allclose(x.mean, x.plan @ t)
    assert x.plan_error < 1e-5
    assert x.mean_error <= x.multiplier_error / alpha * (1 + 1e-9)


@shapes
@problems
@pytest.mark.parametrize("alpha", [1e-3, 1.0, 1e3])
def test_no_rival_beats_the_bound_and_the_error_holds(n: int, d: int, kind: str, alpha: float) -> None:
    t, u, z = data(n, d, kind)
    x = mem.solve(t, u, z, alpha)
    rng = np.random.default_rng(0)
    support = np.flatnonzero(u)
    rivals = np.zeros((20, n))
    rivals[:, support] = rng.dirichlet(np.full(support.size, 0.5), size=20)
    for rival in [u, *rivals, *(0.99 * x.plan + 0.01 * rivals)]:
        value = objective(rival, t, u, z, alpha)
        slack = tolerances.rounding("float64", n, 1.0 + abs(value)) + x.value_error
        assert value >= x.objective - slack
        # The excess is exactly KL(q ‖ p*) + α/2‖h_q − h*‖², which has no less than these two parts.
        excess = max(value - x.objective, 0.0) + slack
        assert np.abs(rival - x.plan).sum() <= tolerances.plan_from_gap(excess, 1.0) + x.plan_error
        distance = float(np.linalg.norm((rival - x.plan) @ t))
        assert distance <= tolerances.plan_from_strong_convexity(excess, alpha) + x.mean_error


@pytest.mark.parametrize(("n", "d"), [(4, 1), (5, 2), (9, 4)])
@pytest.mark.parametrize("kind", ["plain", "zeros", "duplicates", "inside"])
@pytest.mark.parametrize("alpha", [1e-3, 0.5, 10.0])
def test_the_maximum_of_the_dual_agrees(n: int, d: int, kind: str, alpha: float) -> None:
    # A second oracle, and weak duality turned around: a quasi-Newton method on D, which is 1/α-strongly concave.
    t, u, z = data(n, d, kind)
    t, u = t[u > 0], u[u > 0]
    b = u @ t + z

    def slope(lam: np.ndarray) -> np.ndarray:
        q = u * np.exp(t @ lam - logsumexp(t @ lam, b=u))
        return np.asarray(lam / alpha + q @ t - b)

    optimum = minimize(
        lambda lam: lam @ lam / (2 * alpha) + logsumexp(t @ lam, b=u) - lam @ b, np.zeros(d), jac=slope, method="BFGS"
    ).x
    x = mem.solve(*data(n, d, kind), alpha)
    other = alpha * (float(np.linalg.norm(slope(optimum))) + tolerances.rounding("float64", n, float(np.abs(t).max()) + 1))
    assert np.linalg.norm(x.multiplier - optimum) <= x.multiplier_error + other
    assert np.linalg.norm(slope(x.multiplier)) <= 2 * x.multiplier_error / alpha + x.plan_error * np.abs(t).max() * math.sqrt(d)


@pytest.mark.parametrize("alpha", [1e-3, 1.0, 1e3])
def test_every_multiplier_bounds_every_plan(alpha: float) -> None:
    t, u, z = data(5, 2, "plain")
    best = mem.solve(t, u, z, alpha)
    rng = np.random.default_rng(1)
    for lam in 3 * rng.standard_normal((30, 2)):
        judged = mem.certify(best.plan, t, u, z, alpha, lam)
        assert judged.bound <= best.objective + best.value_error
        assert judged.gap == pytest.approx(judged.objective - judged.bound, rel=1e-9)
        dual = lam @ (u @ t + z) - lam @ lam / (2 * alpha) - logsumexp(t @ lam, b=u)
        assert judged.bound == pytest.approx(float(dual), rel=1e-12)
        assert np.linalg.norm(lam - best.multiplier) <= judged.multiplier_error + best.multiplier_error


@pytest.mark.parametrize("alpha", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("size", [1e-4, 1e-2])
def test_a_perturbed_plan_is_not_certified(size: float, alpha: float) -> None:
    t, u, z = data(3, 2, "plain")
    right = mem.solve(t, u, 0.1 * z, alpha)
    assert mem.certify(right.plan, t, u, 0.1 * z, alpha).certified
    wrong = right.plan + size * np.array([0.5, 0.5, -1.0]) * right.plan.min()
    refused = mem.certify(wrong / wrong.sum(), t, u, 0.1 * z, alpha)
    assert not refused.certified
    assert refused.gap > tolerances.SOLVER_GAP
    assert np.abs(refused.plan - right.plan).sum() <= refused.plan_error + right.plan_error
    assert np.linalg.norm(refused.mean - right.mean) <= refused.mean_error + right.mean_error
    assert np.linalg.norm(refused.multiplier - right.multiplier) <= refused.multiplier_error + right.multiplier_error


def test_wrong_data_are_not_certified() -> None:
    t, u, z = data(5, 2, "plain")
    right = mem.solve(t, u, z, 1.0)
    assert not mem.certify(right.plan, t, u, z, 1.001).certified
    assert not mem.certify(right.plan, t, u, -z, 1.0).certified
    assert not mem.certify(right.plan, t, u, z, 1.0, 1.001 * right.multiplier).certified
    assert not mem.certify(u, t, u, z, 1.0).certified


@pytest.mark.parametrize("plan", [[0.6, 0.6], [0.4, 0.4], [1.5, -0.5], [math.nan, 1.0], [math.inf, -math.inf]], ids=str)
def test_a_plan_outside_the_simplex_is_refused(plan: list[float]) -> None:
    refused = mem.certify(plan, [[0.0], [1.0]], [0.5, 0.5], [0.1], 1.0)
    assert not refused.certified
    assert refused.gap == refused.plan_error == refused.mean_error == refused.multiplier_error == math.inf


def test_a_plan_outside_the_support_is_refused() -> None:
    refused = mem.certify([0.5, 0.5], [[0.0], [1.0]], [1.0, 0.0], [0.1], 1.0)
    assert not refused.certified
    assert refused.gap == math.inf


@pytest.mark.parametrize("rough", [1e-8, 1e-5, 1e-2])
@pytest.mark.parametrize("alpha", [1e-3, 1.0, 1e3])
def test_a_rough_solve_is_sharpened(monkeypatch: pytest.MonkeyPatch, rough: float, alpha: float) -> None:
    program = mem.solve_conic

    def noisy(*arguments: object) -> tuple[np.ndarray, str]:
        weights = program(*arguments)[0] * (1 + rough * np.cos(np.arange(5.0)))  # type: ignore[arg-type]
        return weights / weights.sum(), "optimal_inaccurate"

    monkeypatch.setattr(mem, "solve_conic", noisy)
    solution = mem.solve(*data(5, 2, "plain"), alpha)
    assert solution.certified
    assert solution.gap < 1e-16


def test_a_solver_that_stops_early_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entropic, "sharpen", lambda program, x, weight: (x, weight * program.residual(x)))
    monkeypatch.setattr(mem, "solve_conic", lambda *_: (np.full(5, 0.2), "optimal"))
    solution = mem.solve(*data(5, 2, "plain"), 1.0)
    assert solution.status == "optimal"
    assert not solution.certified


# --- the variants ------------------------------------------------------------------------------------------------


@shapes
@problems
@pytest.mark.parametrize(("sigma", "eta"), [(0.5, 0.7), (3.0, 1e-2), (0.05, 20.0)])
def test_likelihood_divided_or_not_is_certified_and_one_problem(n: int, d: int, kind: str, sigma: float, eta: float) -> None:
    t, u, z = data(n, d, kind)
    undivided = mem_variants.solve_likelihood(t, u, z, sigma, eta)
    divided = mem_variants.solve_likelihood(t, u, z, sigma, eta, divided=True)
    assert undivided.certified
    assert divided.certified
    assert undivided.gap <= tolerances.SOLVER_GAP * eta
    assert np.abs(undivided.plan - divided.plan).sum() <= undivided.plan_error + divided.plan_error
    allowed = undivided.value_error + eta * divided.value_error + tolerances.rounding("float64", n, abs(undivided.objective))
    assert abs(undivided.objective - eta * divided.objective) <= allowed
    assert undivided.mean_error < 1e-5


def test_likelihood_is_the_problem_with_alpha_over_and_not_times() -> None:
    t, u, z = data(5, 2, "plain")
    sigma, eta = 0.6, 3.0
    divided = mem_variants.solve_likelihood(t, u, z, sigma, eta, divided=True)
    right = mem.solve(t, u, z, 1 / (eta * sigma**2))
    assert np.abs(right.plan - divided.plan).sum() <= right.plan_error + divided.plan_error
    for alpha in (eta * sigma**2, 1 / sigma**2, eta / sigma**2, 2 / (eta * sigma**2)):
        wrong = mem.solve(t, u, z, alpha)
        assert np.abs(wrong.plan - divided.plan).sum() > wrong.plan_error + divided.plan_error


@shapes
@problems
@pytest.mark.parametrize("slope", [1e-2, 1.0, 10.0])
def test_the_norm_without_its_square_is_certified(n: int, d: int, kind: str, slope: float) -> None:
    t, u, z = data(n, d, kind)
    x = mem_variants.solve_without_square(t, u, z, 1.0, 1 / (2 * slope))
    assert x.certified, x
    assert np.linalg.norm(x.multiplier) <= slope * (1 + 1e-12)
    rng = np.random.default_rng(2)
    for rival in [u, *(0.9 * x.plan + 0.1 * u * rng.random((20, n)))]:
        rival = rival / rival.sum()
        used = rival > 0
        value = slope * float(np.linalg.norm((u - rival) @ t + z))
        value += float((rival[used] * (np.log(rival[used]) - np.log(u[used]))).sum())
        assert value >= x.objective - x.value_error - tolerances.rounding("float64", n, value + 1.0)


def test_omitting_the_square_changes_the_problem() -> None:
    t, u, z = data(5, 2, "plain")
    printed = mem_variants.solve_without_square(t, u, z, 0.8, 0.9)
    meant = mem_variants.solve_likelihood(t, u, z, 0.8, 0.9)
    assert np.abs(printed.plan - meant.plan).sum() > 0.01 + printed.plan_error + meant.plan_error
    # It can be exact where the squared one never is: with a large slope the residual vanishes.
    t, u, z = data(5, 2, "inside")
    exact = mem_variants.solve_without_square(t, u, z, 1.0, 0.01)
    assert exact.certified
    assert np.linalg.norm(u @ t + z - exact.mean) <= exact.mean_error
    assert np.linalg.norm(u @ t + z - mem.solve(t, u, z, 100.0).mean) > 1e-4


def constrained_cases() -> list[tuple[int, int, str, float]]:
    return [(n, d, kind, rho) for n, d in SHAPES for kind in KINDS for rho in (1e-3, 0.1, 5.0)]


@pytest.mark.parametrize(("n", "d", "kind", "rho"), constrained_cases())
def test_the_constrained_problem_is_certified_or_certified_empty(n: int, d: int, kind: str, rho: float) -> None:
    t, u, z = data(n, d, kind)
    x = mem_variants.solve_constrained(t, u, z, rho)
    assert x.certified, x
    lower, upper = x.distance
    assert 0 <= lower <= upper
    assert upper - lower < 1e-5
    assert x.infeasible == (lower > math.sqrt(rho))
    r = u @ t + z - x.mean
    errors = (x.objective, x.bound, x.gap, x.value_error, x.plan_error)
    assert all((error == math.inf) == x.infeasible for error in errors)
    assert math.isnan(x.theta) == x.infeasible
    if x.infeasible:
        assert np.linalg.norm(r) > math.sqrt(rho)
        return
    assert r @ r <= rho * (1 + 1e-9) + 1e-9
    assert x.gap <= tolerances.SOLVER_GAP
    if z @ z <= rho:
        assert x.theta == 0.0
        assert np.abs(x.plan - u).sum() <= x.plan_error + tolerances.rounding("float64", n)
    # The Lagrangian at the multiplier: no rival is below it, feasible or not.
    rng = np.random.default_rng(3)
    for rival in [u, *(0.9 * x.plan + 0.1 * u * rng.random((20, n)))]:
        rival = rival / rival.sum()
        q = (u - rival) @ t + z
        value = objective(rival, t, u, z, 0.0) + x.theta * float(q @ q - rho)
        rounding = tolerances.rounding("float64", n, 1.0 + abs(value) + x.theta * (float(q @ q) + np.abs(t).max() + rho))
        assert value >= x.objective - x.value_error - 10 * rounding


@pytest.mark.parametrize("alpha", [0.05, 1.0, 20.0])
def test_its_multiplier_is_alpha_over_two_at_the_radius_of_the_penalized_one(alpha: float) -> None:
    t, u, z = data(5, 2, "plain")
    penalized = mem.solve(t, u, z, alpha)
    r = u @ t + z - penalized.mean
    fitted = mem_variants.solve_constrained(t, u, z, float(r @ r))
    assert np.abs(fitted.plan - penalized.plan).sum() <= 1e-8
    assert 2 * fitted.theta == pytest.approx(alpha, rel=1e-6)
    printed = mem_variants.solve_constrained(t, u, z, 1 / (2 * alpha))
    assert printed.infeasible or np.abs(printed.plan - penalized.plan).sum() > 0.01


def test_infeasibility_is_decided_by_the_distance_of_the_hull() -> None:
    square, u = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.full(4, 0.25)
    z = np.array([2.5, 0.0])  # μ + z = (3, 1/2), two from the hull
    assert mem_variants.solve_constrained(square, u, z, 3.999).infeasible
    assert not mem_variants.solve_constrained(square, u, z, 4.001).infeasible
    tight = mem_variants.solve_constrained(square, u, z, 4.001)
    assert tight.certified
    assert tight.distance == pytest.approx((2.0, 2.0), abs=1e-6)
    narrow = mem_variants.solve_constrained(square, np.array([0.5, 0.0, 0.5, 0.0]), [1.5, 0.0], 2.0)
    assert narrow.infeasible  # with half the support, (1, 1/2) is no longer in reach


# --- penalties, refusals, independence -----------------------------------------------------------------------------


@pytest.mark.parametrize("penalty", [entropic.Quadratic(0.3), entropic.Norm(1.7), entropic.Ball(2.0)], ids=str)
def test_the_mismatch_is_the_fenchel_young_gap(penalty: entropic.Penalty) -> None:
    rng = np.random.default_rng(4)
    for _ in range(50):
        r, lam = rng.standard_normal(3), rng.standard_normal(3)
        r, lam = r / max(1.0, np.linalg.norm(r) / 2.0), lam / max(1.0, np.linalg.norm(lam) / 1.7)
        left = penalty.value(r) + penalty.conjugate(lam) - float(lam @ r)
        assert left >= 0
        assert penalty.mismatch(r, lam, 0.0) == pytest.approx(left, rel=1e-9)
        step = rng.standard_normal(3)
        near = r + 1e-3 * step / np.linalg.norm(step)
        gap = penalty.value(near) + penalty.conjugate(lam) - float(lam @ near)
        assert gap == math.inf or gap <= penalty.mismatch(r, lam, 1e-3)
    assert entropic.Norm(1.7).mismatch(np.ones(3), np.full(3, 1.0), 0.0) == math.inf
    assert entropic.Ball(1.0).mismatch(np.ones(3), np.ones(3), 0.0) == math.inf


T, U, Z = [[0.0], [1.0]], [0.5, 0.5], [0.1]


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: mem.solve([0.0, 1.0], U, Z, 1.0), "templates"),
        (lambda: mem.solve(np.zeros((2, 0)), U, [], 1.0), "templates"),
        (lambda: mem.solve([[0.0], [math.nan]], U, Z, 1.0), "templates"),
        (lambda: mem.solve(T, [1.5, -0.5], Z, 1.0), "prior"),
        (lambda: mem.solve(T, [0.5, math.nan], Z, 1.0), "prior"),
        (lambda: mem.solve(T, [0.5, 0.4], Z, 1.0), "prior"),
        (lambda: mem.solve(T, [1.0], Z, 1.0), "prior"),
        (lambda: mem.solve(T, U, [0.1, 0.2], 1.0), "evidence"),
        (lambda: mem.solve(T, U, [math.inf], 1.0), "evidence"),
        (lambda: mem.solve(T, U, Z, 0.0), "alpha"),
        (lambda: mem.solve(T, U, Z, -1.0), "alpha"),
        (lambda: mem.solve(T, U, Z, math.nan), "alpha"),
        (lambda: mem.certify([1.0], T, U, Z, 1.0), "plan"),
        (lambda: mem.certify(U, T, U, Z, 1.0, [1.0, 2.0]), "multiplier"),
        (lambda: mem_variants.solve_likelihood(T, U, Z, 0.0, 1.0), "sigma"),
        (lambda: mem_variants.solve_likelihood(T, U, Z, 1e-200, 1.0), "sigma"),
        (lambda: mem_variants.solve_likelihood(T, U, Z, 1.0, math.inf), "eta"),
        (lambda: mem_variants.solve_without_square(T, U, Z, 1.0, -1.0), "eta"),
        (lambda: mem_variants.solve_constrained(T, U, Z, 0.0), "rho"),
        (lambda: mem_variants.solve_constrained(T, U, Z, math.nan), "rho"),
    ],
)
def test_bad_arguments_are_named(call: Callable[[], object], name: str) -> None:
    with pytest.raises(ValueError, match=f"^{name}: expected"):
        call()


def test_neither_torch_nor_a_closed_form_is_imported() -> None:
    code = (
        "import sys, numerics.primal.mem, numerics.primal.mem_variants, numerics.primal.optimal_transport;"
        "sys.exit(int(bool({'torch', 'numerics.mem', 'numerics.one_sided', 'sympy', 'ot'} & set(sys.modules))))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
