"""The programs of entropic transport with a free marginal: certified, refused if wrong, and compared with POT."""

import math
from collections.abc import Callable

import numpy as np
import ot
import pytest

from numerics import tolerances
from numerics.primal import coupling, entropic, mem, optimal_transport

Data = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]

SHAPES = [(1, 1, 1), (1, 3, 2), (3, 1, 2), (4, 6, 2), (5, 5, 3)]
KINDS = ["plain", "zeros", "tiny masses", "duplicates", "negative", "large", "blocks", "far"]
GAMMAS = [0.05, 1.0, 10.0]
CASES = [(*shape, kind) for shape in SHAPES[3:] for kind in KINDS] + [(*shape, "plain") for shape in SHAPES[:3]]
problems = pytest.mark.parametrize(("n", "m", "d", "kind"), CASES)
gammas = pytest.mark.parametrize("gamma", GAMMAS)


def data(n: int, m: int, d: int, kind: str) -> Data:
    """Return templates, a first marginal, a prior, evidence and a cost that is not symmetric."""
    rng = np.random.default_rng(100 * n + 10 * m + d)
    t, z, cost = rng.standard_normal((n, d)), rng.standard_normal(d), 2 * rng.random((n, m))
    p, u = rng.dirichlet(np.ones(n)), rng.dirichlet(np.ones(m))
    if kind == "zeros":
        p[: n // 2], u[m - m // 2 :] = 0.0, 0.0
    if kind == "tiny masses":
        p[: n // 2], u[m - m // 2 :] = 1e-11, 1e-13
    if kind == "duplicates":
        t[n // 2 :], cost[n // 2 :] = t[0], cost[0]
    if kind == "negative":
        cost -= 5.0
    if kind == "large":
        cost *= 10.0
    if kind == "blocks" and min(n, m) > 1:
        cost[: n // 2, m // 2 :], cost[n // 2 :, : m // 2] = math.inf, math.inf
        p[: n // 2] *= u[: m // 2].sum() / p[: n // 2].sum()
        p[n // 2 :] *= u[m // 2 :].sum() / p[n // 2 :].sum()
    if kind == "far":
        z *= 50.0
    return t, p / p.sum(), u / u.sum(), z, cost


def transport_value(x: np.ndarray, cost: np.ndarray, gamma: float) -> float:
    used = x > 0
    return float((x[used] * (cost[used] + gamma * np.log(x[used]))).sum())


def well_formed(x: optimal_transport.Plan, u: np.ndarray, cost: np.ndarray, gamma: float) -> None:
    assert x.certified, x
    assert 0 <= x.gap <= tolerances.SOLVER_GAP * gamma
    assert (x.plan >= 0).all()
    assert (x.plan[np.isinf(cost)] == 0).all()
    np.testing.assert_allclose(x.plan.sum(axis=0), u, atol=tolerances.rounding("float64", x.plan.size))
    np.testing.assert_array_equal(x.marginal, x.plan.sum(axis=1))
    assert abs(x.objective - x.bound) <= 2 * x.value_error
    assert (np.isneginf(x.prices) == (u == 0)).all()


# --- W, its minimum and its conjugate ------------------------------------------------------------------------------


@problems
@gammas
def test_couplings_are_certified_and_pot_agrees(n: int, m: int, d: int, kind: str, gamma: float) -> None:
    _, p, u, _, cost = data(n, m, d, kind)
    x = optimal_transport.solve_coupling(p, u, cost, gamma)
    well_formed(x, u, cost, gamma)
    np.testing.assert_allclose(x.marginal, p, atol=tolerances.rounding("float64", x.plan.size))
    if np.isfinite(cost).all():
        other = coupling.solve_entropic(cost, p, u, gamma)
        assert np.abs(x.plan - other.plan).sum() <= x.plan_error + tolerances.plan_from_gap(other.gap, gamma)
        assert abs(x.objective - other.objective) <= x.value_error + other.gap
    if gamma >= 1.0 and kind not in ("zeros", "tiny masses", "large"):
        barred = np.where(np.isfinite(cost), cost, 1e6)
        sinkhorn = ot.sinkhorn(p, u, barred, gamma, method="sinkhorn_log", stopThr=1e-14, numItermax=10000, warn=False)
        assert np.abs(x.plan - sinkhorn).sum() <= x.plan_error + 1e-11


@problems
@gammas
def test_the_free_marginal_is_certified_and_pot_agrees(n: int, m: int, d: int, kind: str, gamma: float) -> None:
    _, p, u, _, cost = data(n, m, d, kind)
    x = optimal_transport.minimize_marginal(u, cost, gamma)
    well_formed(x, u, cost, gamma)
    at_p = optimal_transport.solve_coupling(p, u, cost, gamma)
    assert at_p.objective >= x.objective - x.value_error - at_p.value_error
    if (x.marginal > 1e-9).all() and kind != "tiny masses":
        again = optimal_transport.solve_coupling(x.marginal / x.marginal.sum(), u, cost, gamma)
        # Between its certificate and this one, the marginal is rounded: W moves by its prices, of the order of 50 γ.
        rounding = tolerances.rounding("float64", x.plan.size, 100 * gamma + np.abs(x.prices[u > 0]).max())
        assert abs(again.objective - x.objective) <= x.value_error + again.value_error + rounding
    if np.isfinite(cost).all() and kind not in ("zeros", "tiny masses", "large") and gamma >= 1.0:
        other = ot.unbalanced.sinkhorn_unbalanced(
            np.ones(n), u, cost, gamma, (0.0, math.inf), reg_type="kl", stopThr=1e-15, numItermax=1000
        )
        assert np.abs(x.plan - other).sum() <= x.plan_error + tolerances.plan("float64", x.plan.size)


@problems
@gammas
def test_the_conjugate_is_certified_and_above_every_rival(n: int, m: int, d: int, kind: str, gamma: float) -> None:
    t, p, u, z, cost = data(n, m, d, kind)
    g = t @ z
    x = optimal_transport.conjugate(g, u, cost, gamma)
    assert x.objective <= x.bound + x.value_error
    well_formed(x, u, cost, gamma)
    scale = float(np.abs(g).max())
    value = g @ x.marginal - transport_value(x.plan, cost, gamma)
    assert x.objective == pytest.approx(float(value), abs=tolerances.rounding("float64", n * m, scale + 50 * gamma + 20))
    rival = optimal_transport.solve_coupling(p, u, cost, gamma)
    slack = x.value_error + rival.value_error + tolerances.rounding("float64", n, scale)
    assert float(g @ p) - rival.objective <= x.objective + slack


@gammas
def test_the_minimum_is_the_conjugate_at_zero(gamma: float) -> None:
    _, _, u, _, cost = data(4, 6, 2, "plain")
    least = optimal_transport.minimize_marginal(u, cost, gamma)
    conjugate = optimal_transport.conjugate(np.zeros(4), u, cost, gamma)
    assert abs(least.objective + conjugate.objective) <= least.value_error + conjugate.value_error
    assert np.abs(least.plan - conjugate.plan).sum() <= least.plan_error + conjugate.plan_error


@gammas
def test_the_marginal_is_the_slope_of_the_conjugate(gamma: float) -> None:
    t, _, u, z, cost = data(4, 6, 2, "plain")
    g, step = t @ z, 1e-4 * gamma
    x = optimal_transport.conjugate(g, u, cost, gamma)
    for i, unit in enumerate(np.eye(4)):
        up, down = (optimal_transport.conjugate(g + sign * step * unit, u, cost, gamma) for sign in (1, -1))
        # Central difference: its error is at most step² times the third derivative, which is below 1/γ².
        error = (up.value_error + down.value_error) / (2 * step) + (step / gamma) ** 2 + x.plan_error
        assert abs((up.objective - down.objective) / (2 * step) - x.marginal[i]) <= error


def test_a_cost_that_is_not_symmetric_is_read_from_column_to_row() -> None:
    cost = np.array([[0.0, 3.0], [0.5, 0.0]])
    u = np.array([1.0, 0.0])  # the first column alone: its mass goes by exp(−0), exp(−1/2)
    x = optimal_transport.minimize_marginal(u, cost, 1.0)
    assert x.marginal[1] / x.marginal[0] == pytest.approx(math.exp(-0.5), rel=1e-9)
    turned = optimal_transport.minimize_marginal(u, cost.T, 1.0)
    assert np.abs(turned.marginal - x.marginal).sum() > 0.1


def test_a_triangle_of_forbidden_entries_leaves_only_the_diagonal() -> None:
    u = np.array([0.2, 0.3, 0.5])
    cost = np.where(np.tri(3) > 0, 1.0, math.inf)
    x = optimal_transport.solve_coupling(u, u, cost, 0.5)
    assert x.certified
    np.testing.assert_allclose(x.plan, np.diag(u), atol=x.plan_error + tolerances.rounding("float64", 9))


# --- attention -----------------------------------------------------------------------------------------------------


@problems
@pytest.mark.parametrize(("alpha", "gamma"), [(1e-3, 1.0), (1.0, 0.05), (1e3, 0.5), (30.0, 10.0)])
def test_attention_is_certified(n: int, m: int, d: int, kind: str, alpha: float, gamma: float) -> None:
    t, p, u, z, cost = data(n, m, d, kind)
    x = optimal_transport.solve(t, u, z, cost, alpha, gamma)
    well_formed(x, u, cost, gamma)
    least = optimal_transport.minimize_marginal(u, cost, gamma)
    np.testing.assert_allclose(x.centre, least.marginal @ t)
    np.testing.assert_allclose(x.multiplier, alpha * (x.centre + z - x.mean), atol=x.multiplier_error)
    assert x.multiplier_error <= 1e-5 * (1 + float(np.linalg.norm(x.multiplier)))

    def value(solution: optimal_transport.Plan) -> float:
        r = x.centre + z - solution.marginal @ t
        return alpha / 2 * float(r @ r) + transport_value(solution.plan, cost, gamma)

    for rival in (least, optimal_transport.solve_coupling(p, u, cost, gamma)):
        rounding = tolerances.rounding("float64", n * m, 20 + 50 * gamma + abs(value(rival)))
        excess = value(rival) - x.objective + x.value_error + rounding
        assert excess >= 0
        assert np.abs(rival.plan - x.plan).sum() <= tolerances.plan_from_gap(excess, gamma) + x.plan_error
        distance = float(np.linalg.norm(rival.marginal @ t - x.mean))
        assert distance <= tolerances.plan_from_strong_convexity(excess, alpha) + x.mean_error


@problems
def test_attention_is_the_dual_with_the_conjugate(n: int, m: int, d: int, kind: str) -> None:
    t, _, u, z, cost = data(n, m, d, kind)
    alpha, gamma = 0.7, 0.9
    x = optimal_transport.solve(t, u, z, cost, alpha, gamma)
    lam = x.multiplier
    other = optimal_transport.conjugate(t @ lam, u, cost, gamma)
    dual = lam @ (x.centre + z) - lam @ lam / (2 * alpha) - other.objective
    scale = float(np.abs(lam) @ (np.abs(x.centre) + np.abs(z))) + float(lam @ lam) / alpha + abs(other.objective)
    assert abs(dual - x.objective) <= x.value_error + other.value_error + tolerances.rounding("float64", n * m, scale)
    logits = t @ lam
    assert np.abs(other.plan - x.plan).sum() <= x.plan_error + other.plan_error + 2 * x.multiplier_error * float(
        np.linalg.norm(t - x.centre, axis=1).max()
    ) / gamma + tolerances.rounding("float64", d, float(np.abs(logits).max()) / gamma)


def test_the_diagonal_cost_recovers_the_prior() -> None:
    t, _, u, z, _ = data(3, 3, 1, "plain")
    cost = np.where(np.eye(3) > 0, 0.0, math.inf)
    x = optimal_transport.solve(t, u, z, cost, 10.0, 1.0)
    assert x.certified
    np.testing.assert_allclose(x.marginal, u, atol=x.plan_error + tolerances.rounding("float64", 3))


def test_it_is_not_attention_with_the_divergence() -> None:
    t, _, u, z, cost = data(8, 8, 3, "plain")
    transported = optimal_transport.solve(t, u, z, cost, 1.0, 1.0)
    assert np.abs(transported.marginal - mem.solve(t, u, z, 1.0).plan).sum() > 0.01


# --- certificates that refuse --------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1e-4, 1e-2])
@gammas
def test_a_perturbed_plan_is_not_certified(size: float, gamma: float) -> None:
    t, _, u, z, cost = data(4, 6, 2, "plain")
    right = optimal_transport.solve(t, u, 0.1 * z, cost, 1.0, gamma)
    arguments = t, u, 0.1 * z, cost, 1.0, gamma, right.centre
    assert optimal_transport.certify(right.plan, *arguments).certified
    wrong = right.plan.copy()
    i, k = np.argsort(wrong[:, 0])[-2:]
    wrong[i, 0], wrong[k, 0] = wrong[i, 0] + size * wrong[k, 0], (1 - size) * wrong[k, 0]
    refused = optimal_transport.certify(wrong, *arguments)
    assert refused.plan_error + right.plan_error >= np.abs(wrong - right.plan).sum()
    assert refused.mean_error + right.mean_error >= np.linalg.norm(refused.mean - right.mean)
    assert refused.gap > 1e3 * right.gap
    assert refused.certified == (refused.gap <= tolerances.SOLVER_GAP * gamma)
    assert not refused.certified or size < 1e-3
    perturbed = right.plan * 1.001
    for bad in (perturbed, -right.plan, right.plan * np.nan, np.where(np.eye(4, 6) > 0, np.inf, right.plan)):
        assert optimal_transport.certify(bad, *arguments).gap == math.inf
        assert not optimal_transport.certify(bad, *arguments).certified


def test_wrong_data_are_not_certified() -> None:
    t, _, u, z, cost = data(3, 3, 1, "plain")
    x = optimal_transport.solve(t, u, z, cost, 1.0, 1.0)
    assert not optimal_transport.certify(x.plan, t, u, z, cost.T, 1.0, 1.0, x.centre).certified
    assert not optimal_transport.certify(x.plan, t, u, z, cost, 1.01, 1.0, x.centre).certified
    assert not optimal_transport.certify(x.plan, t, u, z, cost, 1.0, 1.01, x.centre).certified
    assert not optimal_transport.certify(x.plan, t, u, z, cost, 1.0, 1.0, x.centre + 0.1).certified
    forbidden = np.where(np.eye(3) > 0, math.inf, cost)
    assert optimal_transport.certify(x.plan, t, u, z, forbidden, 1.0, 1.0, x.centre).gap == math.inf


def test_a_solver_that_stops_early_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    t, p, u, z, cost = data(4, 6, 2, "plain")
    sharpen = entropic.sharpen

    def early(program: entropic.Program, x: np.ndarray, weight: float) -> tuple[np.ndarray, np.ndarray]:
        right, multiplier = sharpen(program, x, weight)
        swap = np.zeros_like(right)  # along the couplings: entries (0, 0), (0, 1), (1, 0), (1, 1)
        swap[[0, 7]], swap[[1, 6]] = 1.0, -1.0
        return right + 0.1 * right[[0, 1, 6, 7]].min() * swap, multiplier

    monkeypatch.setattr(entropic, "sharpen", early)
    for solution in (
        optimal_transport.solve_coupling(p, u, cost, 1.0),
        optimal_transport.minimize_marginal(u, cost, 1.0),
        optimal_transport.conjugate(t @ z, u, cost, 1.0),
        optimal_transport.solve(t, u, z, cost, 1.0, 1.0, t[0]),
    ):
        assert not solution.certified
        assert tolerances.SOLVER_GAP < solution.gap < math.inf


def test_every_price_bounds_every_plan() -> None:
    rng = np.random.default_rng(5)
    cost, totals = rng.random(6), np.array([0.4, 0.6])
    incidence = np.repeat(np.eye(2), 3, axis=1)
    operator, target = rng.standard_normal((2, 6)), rng.standard_normal(2)
    program = entropic.Program(cost, 0.3, operator, target, entropic.Quadratic(2.0), incidence, totals)
    x, multiplier = entropic.sharpen(program, incidence.T @ totals / 3, 2.0)
    best = entropic.certify(program, x, multiplier)
    assert best.certified
    for _ in range(30):
        judged = entropic.certify(program, x, 2 * rng.standard_normal(2), rng.standard_normal(2))
        assert judged.bound <= best.objective + best.value_error
        assert judged.gap == pytest.approx(judged.objective - judged.bound, rel=1e-9)
    assert entropic.certify(program, x, multiplier, best.prices + 2000.0).gap == math.inf


T, U, Z, M = [[0.0], [1.0]], [0.5, 0.5], [0.1], [[0.0, 1.0], [1.0, 0.0]]
INF = math.inf


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: optimal_transport.solve(T, U, Z, [0.0, 1.0], 1.0, 1.0), "cost"),
        (lambda: optimal_transport.solve(T, U, Z, [[0.0, math.nan], [1.0, 0.0]], 1.0, 1.0), "cost"),
        (lambda: optimal_transport.solve(T, U, Z, [[0.0, -INF], [1.0, 0.0]], 1.0, 1.0), "cost"),
        (lambda: optimal_transport.minimize_marginal(U, [[INF, 1.0], [INF, 0.0]], 1.0), "cost"),
        (lambda: optimal_transport.solve_coupling([0.9, 0.1], U, [[0.0, INF], [INF, 0.0]], 1.0), "cost"),
        (lambda: optimal_transport.solve(T[:1], U, Z, M, 1.0, 1.0), "templates"),
        (lambda: optimal_transport.solve([[0.0], [INF]], U, Z, M, 1.0, 1.0), "templates"),
        (lambda: optimal_transport.solve(T, [1.5, -0.5], Z, M, 1.0, 1.0), "prior"),
        (lambda: optimal_transport.minimize_marginal([0.5, math.nan], M, 1.0), "prior"),
        (lambda: optimal_transport.solve_coupling([0.5, 0.4], U, M, 1.0), "p"),
        (lambda: optimal_transport.solve(T, U, [0.1, 0.2], M, 1.0, 1.0), "evidence"),
        (lambda: optimal_transport.solve(T, U, Z, M, 0.0, 1.0), "alpha"),
        (lambda: optimal_transport.solve(T, U, Z, M, 1.0, -1.0), "gamma"),
        (lambda: optimal_transport.minimize_marginal(U, M, math.nan), "gamma"),
        (lambda: optimal_transport.solve(T, U, Z, M, 1.0, 1.0, [0.0, 1.0]), "centre"),
        (lambda: optimal_transport.conjugate([0.0], U, M, 1.0), "slope"),
        (lambda: optimal_transport.certify([[1.0]], T, U, Z, M, 1.0, 1.0, [0.5]), "plan"),
    ],
)
def test_bad_arguments_are_named(call: Callable[[], object], name: str) -> None:
    with pytest.raises(ValueError, match=f"^{name}: expected"):
        call()
