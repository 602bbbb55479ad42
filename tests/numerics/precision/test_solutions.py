"""References for solvers: the conditions of their optimum on hard problems, and the errors that they grant."""

from typing import Any

import flint
import numpy as np
import pytest

from numerics.precision import solutions
from numerics.precision.exact import Exact, Peak

Vector = list[Any]
SEEN = flint.arb(2) ** -190
N, M = 4, 5


def total(numbers: Any) -> Any:
    return sum(numbers, flint.arb(0))


def problem(seed: int, scale: float) -> tuple[Vector, Vector, Vector]:
    """Costs and two marginals of the same mass."""
    random = np.random.default_rng(seed)
    masses = [[flint.arb(x) for x in random.uniform(0.05, 1.0, size)] for size in (N, M)]
    a, b = ([x / total(part) for x in part] for part in masses)
    return [flint.arb(x) for x in scale * random.standard_normal(N * M)], a, b


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("gamma", [1e-5, 1e-2, 1.0, 100.0])
def test_a_quadratic_plan_is_optimal(gamma: float, seed: int) -> None:
    """Where P > 0, C + γP = f_i + g_j, and where P = 0 it is no less: no cycle of two rows and columns can be better."""
    C, a, b = problem(seed, 1.0)
    P = solutions.quadratic(N, M)([*C, *a, *b, flint.arb(gamma)])
    rows = [P[i * M : (i + 1) * M] for i in range(N)]
    assert all(p >= 0 for p in P)
    assert all(abs(total(row) - x) < SEEN for row, x in zip(rows, a, strict=True))
    assert all(abs(total(column) - x) < SEEN for column, x in zip(zip(*rows, strict=True), b, strict=True))
    price = [c + flint.arb(gamma) * p for c, p in zip(C, P, strict=True)]
    for i, k in ((i, k) for i in range(N) for k in range(N) if i != k):
        for j, m in ((j, m) for j in range(M) for m in range(M) if j != m):
            if P[i * M + j] > 0 and P[k * M + m] > 0:
                gain = price[i * M + j] + price[k * M + m] - price[i * M + m] - price[k * M + j]
                assert gain < (1 + gamma) * SEEN


@pytest.mark.parametrize("scale", [1.0, 1e4])
@pytest.mark.parametrize(("kappa_a", "kappa_b"), [(0.0, 0.0), (0.0, 0.5), (0.25, 0.0), (0.25, 2.0)])
@pytest.mark.parametrize("epsilon", [1e-3, 0.5, 1e3])
def test_an_entropic_plan_is_optimal(epsilon: float, kappa_a: float, kappa_b: float, scale: float) -> None:
    """Each row and column has what it requires in proportion to that, which may be next to nothing where it is relaxed."""
    C, a, b = problem(0, scale)
    numbers = [flint.arb(x) for x in (epsilon, kappa_a, kappa_b)]
    r = [flint.arb(1 + 1 / 64)] * N + [flint.arb(1 + 1 / 64)] * M
    solution = solutions.entropic(N, M)([*C, *a, *b, *r, *numbers])
    P, phi, psi = solution[: N * M], [x / epsilon for x in solution[N * M : -M]], [x / epsilon for x in solution[-M:]]
    for i in range(N):
        assert abs(total(P[i * M : (i + 1) * M]) / (r[i] * a[i] * (-numbers[1] * phi[i]).exp()) - 1) < SEEN
        for j in range(M):
            assert abs(P[i * M + j] / (a[i] * b[j] * (phi[i] + psi[j] - C[i * M + j] / epsilon).exp()) - 1) < SEEN
    for j in range(M):
        assert abs(total(P[j::M]) / (r[N + j] * b[j] * (-numbers[2] * psi[j]).exp()) - 1) < SEEN
    if kappa_a == kappa_b == 0:
        assert abs(total(x * y for x, y in zip(b, psi, strict=True))) < SEEN


def test_solvers_start_from_the_last_solution() -> None:
    C, a, b = problem(0, 1.0)
    solve = solutions.entropic(N, M)
    data = [*C, *a, *b, *[flint.arb(1)] * (N + M), flint.arb(0.01), flint.arb(0), flint.arb(0)]
    near = [*(x + flint.arb(2) ** -20 * x for x in C), *data[N * M :]]
    first, again = solve(data), solve(near)
    afresh = solutions.entropic(N, M)(near)
    assert any(abs(x - y) > 1e-9 for x, y in zip(first, again, strict=True))
    assert all(abs(x - y) < SEEN for x, y in zip(again, afresh, strict=True))


@pytest.mark.parametrize("alpha", [1e-5, 1.0, 1e5])
def test_the_mean_is_optimal(alpha: float) -> None:
    """λ/α = z + μ − Σ p t with p in proportion to u e^{⟨t, λ⟩}."""
    random = np.random.default_rng(0)
    t = [[flint.arb(x) for x in row] for row in 5 * random.standard_normal((4, 2))]
    z, u = [flint.arb(0.25), flint.arb(-0.5)], [flint.arb(x) for x in (0.5, 1.0, 0.75, 1.5)]
    solution = solutions.mean_problem(4, 2)([*(x for row in t for x in row), *z, *u, flint.arb(alpha)])
    dual, p, mean = solution[:2], solution[2:6], solution[6:]
    tilted = [w * total(x * y for x, y in zip(row, dual, strict=True)).exp() for w, row in zip(u, t, strict=True)]
    assert all(abs(x - y / total(tilted)) < SEEN for x, y in zip(p, tilted, strict=True))
    for k in range(2):
        mu = total(w * row[k] for w, row in zip(u, t, strict=True)) / total(u)
        assert abs(mean[k] - total(w * row[k] for w, row in zip(p, t, strict=True))) < SEEN
        assert abs(z[k] + mu - mean[k] - dual[k] / alpha) < SEEN * (1 + abs(dual[k]))


# ── what they grant ─────────────────────────────────────────────────────────────────────────────────────────────────


def known(data: Vector) -> Vector:
    """xy², x/y and a number that neither moves."""
    x, y = data[:2]
    return [x * y * y, x / y, flint.arb(7)]


def point(*errors: float) -> Exact:
    return Exact([flint.arb(3), flint.arb(-2), flint.arb(0)], np.array([*errors, 5.0]), Peak(0.0))


def test_a_solution_is_off_by_its_data_and_by_itself() -> None:
    """Each of the data is off by size + 8 of itself, and by its own error; so is the solution by its perturbation."""
    result = solutions.solution(known, point(1.0, 10.0), lambda values: values, 4, 100.0)
    assert [float(x) for x in result.value] == [12.0, -1.5, 7.0]
    moved = np.array([(13 + 2 * 22) * 12, (13 + 22) * 1.5, 0.0])
    assert np.allclose(result.error, moved + 112 * np.array([12, 1.5, 7]), rtol=1e-12)
    only = solutions.solution(known, point(0.0, 0.0), lambda values: values[1:2], 4)
    assert np.allclose(only.error, [12 * 3 * 1.5], rtol=1e-12)


def test_a_derivative_is_off_by_its_data_by_itself_and_by_what_cancels() -> None:
    result = solutions.derivative(known, point(0.0, 0.0), [1.0, 2.0, 3.0], [0, 1], 4, np.array([50.0, 0.0]))
    assert np.allclose([float(x) for x in result.value], [4 - 1, -12 - 1.5], rtol=1e-15)
    # ∂(y² + 2/y) moves with y alone, by 2y² − 2/y; ∂(2xy − 2x/y²) by itself with x, and with y by 2xy + 4x/y².
    moved = 12 * np.array([8 + 1, 13.5 + abs(-12 + 3)])
    unseen = 2.0**-100 * 14.5 * 2.0**52
    assert np.allclose(result.error, moved + 12 * np.array([3 + 50, 13.5]) + unseen, rtol=1e-12)
    flat = solutions.derivative(lambda data: [data[0] * 0 + 7], point(0.0, 0.0), [1.0], [0], 4)
    assert flat.error[0] == 2.0**-48
