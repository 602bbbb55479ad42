"""References for iterative solvers: problems of transport and of the mean, solved by Newton's method with all digits.

A solution is judged by its final residual. Its error, and that of its derivatives, is the change that rounding each of the
data by u would cause, computed from solutions for slightly different data.
"""

from collections.abc import Callable, Sequence
from typing import Any

import flint
import numpy as np

from numerics.precision.exact import Exact

Vector = list[Any]
Solver = Callable[[Vector], Vector]

_STEPS = 400
_NEAR, _NEARER = 2**-70, 2**-90

_SEEN = 2.0**-100
"""What differences of solutions see beside the largest of them: these end at residuals of 2^-200, and are 2^-90 apart."""


def entropic(n: int, m: int) -> Solver:
    """The solver of transport for data C (n·m), a, b, r (n + m), ε, κ_a, κ_b: P, then f and g.

    P_ij = a_i b_j exp(φ_i + ψ_j − C_ij/ε) with rows r a exp(−κ_a φ) and columns r b exp(−κ_b ψ), κ = ε/ρ, 0 for a marginal that
    is met, and r = 1 but for differences in it. φ is eliminated. A small ε is approached from larger ones, once: data that
    differ a little start from the last solution.
    """
    last: list[Vector] = []

    def solve(data: Vector) -> Vector:
        C, a, b = data[: n * m], data[n * m : n * m + n], data[n * m + n : n * m + n + m]
        r, (epsilon, kappa_a, kappa_b) = data[n * m + n + m : -3], data[-3:]
        free = m - 1 if kappa_a == 0 and kappa_b == 0 else m  # one ψ is a matter of convention
        spread = max((abs(x) for x in C), key=float)
        factor = flint.arb(1) if last else max(flint.arb(1), (spread / epsilon).mid())
        psi = last[-1] if last else [flint.arb(0)] * m
        while True:
            L = [[-C[i * m + j] / epsilon / factor for j in range(m)] for i in range(n)]
            masses = a, b, r[:n], r[n:]
            psi = _ascend(L, masses, kappa_a * factor, kappa_b * factor, psi, free, rough=bool(factor > 1))
            if factor == 1:
                break
            nearer = max(flint.arb(1), factor / 2)
            psi, factor = [x * factor / nearer for x in psi], nearer
        last[:] = [psi]
        phi, P = _plan(L, a, b, r[:n], kappa_a, psi)[:2]
        if free < m:
            mean = sum((x * y for x, y in zip(b, psi, strict=True)), flint.arb(0)) / sum(b, flint.arb(0))
            psi, phi = [x - mean for x in psi], [x + mean for x in phi]
        return [p for row in P for p in row] + [epsilon * x for x in phi] + [epsilon * x for x in psi]

    return solve


def _plan(L: Sequence[Vector], a: Vector, b: Vector, r: Vector, kappa: Any, psi: Vector) -> tuple[Vector, list[Vector], Vector]:
    """The best φ for a ψ, P, and r a exp(−κφ)."""
    phi, P = [], []
    for row, mass, factor in zip(L, a, r, strict=True):
        x = [logit + y for logit, y in zip(row, psi, strict=True)]
        top = max(x, key=lambda y: y.mid())
        terms = [w * (y - top).exp() for w, y in zip(b, x, strict=True)]
        total = sum(terms, flint.arb(0))
        phi.append((factor.log() - total.log() - top) / (1 + kappa))
        arrives = mass * (phi[-1] + top).exp()
        P.append([arrives * t for t in terms])
    return phi, P, [factor * mass * (-kappa * f).exp() for factor, mass, f in zip(r, a, phi, strict=True)]


def _ascend(
    L: Sequence[Vector], masses: tuple[Vector, ...], kappa_a: Any, kappa_b: Any, psi: Vector, free: int, *, rough: bool
) -> Vector:
    """The ψ at which each column has its required sum, in proportion to it: one that is relaxed may be next to nothing."""
    a, b, rows_r, columns_r = masses
    tolerance = flint.arb(2) ** (-30 if rough else -200)
    psi = [x.mid() for x in psi]

    def residual(psi: Vector) -> tuple[Vector, list[Vector], Vector, Vector]:
        _, P, v = _plan(L, a, b, rows_r, kappa_a, psi)
        sums = [sum(column, flint.arb(0)) for column in zip(*P, strict=True)]
        required = [r.log() + mass.log() - kappa_b * x for r, mass, x in zip(columns_r, b, psi, strict=True)]
        return [(x - y.log()).mid() for x, y in zip(required, sums, strict=True)], P, v, sums

    def size(r: Vector) -> Any:
        return sum((abs(x) for x in r[:free]), flint.arb(0))

    r, P, v, sums = residual(psi)
    for _ in range(_STEPS):
        if size(r) <= tolerance:
            return psi
        rows = [sum(row, flint.arb(0)) + kappa_a * x for row, x in zip(P, v, strict=True)]
        H = flint.arb_mat(
            free,
            free,
            [
                (
                    (1 + kappa_b if j == k else 0)
                    - sum((row[j] / sums[j] * row[k] / total for row, total in zip(P, rows, strict=True)), flint.arb(0))
                ).mid()
                for j in range(free)
                for k in range(free)
            ],
        )
        step = [x.mid() for x in H.solve(flint.arb_mat(free, 1, r[:free]), algorithm="approx").entries()] if free else []
        step += [flint.arb(0)] * (len(psi) - free)
        for halving in range(60):
            trial = [(x + s / 2**halving).mid() for x, s in zip(psi, step, strict=True)]
            trial_values = residual(trial)
            if size(trial_values[0]) < size(r):
                break
        else:
            raise ArithmeticError("entropic: no step makes the residual smaller")
        psi, (r, P, v, sums) = trial, trial_values
    raise ArithmeticError("entropic: Newton's method did not end")


def quadratic(n: int, m: int) -> Solver:
    """The solver of ⟨C, P⟩ + γ/2 ‖P‖² with both marginals, for data C, a, b, γ: P.

    By Newton's method for the potentials, with a ridge: P ≥ 0 by its form, so what meets the marginals is the solution.
    """

    def solve(data: Vector) -> Vector:
        C, a, b, gamma = data[: n * m], data[n * m : n * m + n], data[n * m + n : -1], data[-1]
        x = [flint.arb(0)] * (n + m)
        marginals = [*a, *b]

        def gaps(x: Vector) -> list[Vector]:
            return [[(x[i] + x[n + j] - C[i * m + j]) / gamma for j in range(m)] for i in range(n)]

        def residual(x: Vector) -> tuple[Vector, list[Vector]]:
            P = [[y if y > 0 else flint.arb(0) for y in row] for row in gaps(x)]
            sums = [sum(row, flint.arb(0)) for row in P] + [sum(column, flint.arb(0)) for column in zip(*P, strict=True)]
            return [(y - s).mid() for y, s in zip(marginals, sums, strict=True)], P

        def largest(r: Vector) -> Any:
            return max((abs(y) for y in r), key=float)

        def dual(x: Vector, P: list[Vector]) -> Any:
            inner = sum((y * z for y, z in zip(marginals, x, strict=True)), flint.arb(0))
            return inner - gamma / 2 * sum((p * p for row in P for p in row), flint.arb(0))

        r, P = residual(x)
        for _ in range(_STEPS):
            size = largest(r)
            if size <= flint.arb(2) ** -200:
                return [p for row in P for p in row]
            ridge = min(size, flint.arb(1)) * flint.arb(2) ** -10 + flint.arb(2) ** -120
            H = flint.arb_mat(n + m, n + m)
            for i in range(n):
                for j in range(m):
                    if P[i][j] > 0:
                        for pair in ((i, i), (i, n + j), (n + j, i), (n + j, n + j)):
                            H[pair] = H[pair] + 1 / gamma
            for k in range(n + m):
                H[k, k] = (H[k, k] + ridge / gamma).mid()
            move = [y.mid() for y in H.solve(flint.arb_mat(n + m, 1, r), algorithm="approx").entries()]
            slope = sum((y * z for y, z in zip(move, r, strict=True)), flint.arb(0))
            value = dual(x, P)
            for halving in range(80):
                trial = [(y + z / 2**halving).mid() for y, z in zip(x, move, strict=True)]
                trial_values = residual(trial)
                if dual(trial, trial_values[1]) >= value + slope / 2**halving / 10000 or largest(trial_values[0]) < size / 2:
                    break
            x, (r, P) = trial, trial_values
        raise ArithmeticError("quadratic: Newton's method did not end")

    return solve


def mean_problem(n: int, d: int) -> Solver:
    """The solver of the maximum entropy on the mean for data t (n·d), z, u, α: λ, then p, then the mean."""

    def solve(data: Vector) -> Vector:
        t = [data[i * d : (i + 1) * d] for i in range(n)]
        z, u, alpha = data[n * d : n * d + d], data[n * d + d : -1], data[-1]
        total = sum(u, flint.arb(0))
        mu = [sum((w * row[k] for w, row in zip(u, t, strict=True)), flint.arb(0)) / total for k in range(d)]
        apart = [[x - y for x, y in zip(row, mu, strict=True)] for row in t]
        lam = [flint.arb(0)] * d

        def tilted(lam: Vector) -> tuple[Vector, Vector]:
            s = [sum((x * y for x, y in zip(row, lam, strict=True)), flint.arb(0)) for row in apart]
            top = max(s, key=lambda y: y.mid())
            terms = [w * (y - top).exp() for w, y in zip(u, s, strict=True)]
            mass = sum(terms, flint.arb(0))
            p = [x / mass for x in terms]
            mean = [sum((x * row[k] for x, row in zip(p, apart, strict=True)), flint.arb(0)) for k in range(d)]
            return p, mean

        def slope(lam: Vector, mean: Vector) -> Vector:
            return [(x - y / alpha - m).mid() for x, y, m in zip(z, lam, mean, strict=True)]

        def norm(g: Vector) -> Any:
            return sum((abs(x) for x in g), flint.arb(0))

        p, mean = tilted(lam)
        g = slope(lam, mean)
        for _ in range(_STEPS):
            if alpha * norm(g) <= flint.arb(2) ** -200 * (1 + norm(lam)):
                return [*lam, *p, *(x + y for x, y in zip(mu, mean, strict=True))]
            H = flint.arb_mat(
                d,
                d,
                [
                    (
                        sum(
                            (x * (row[j] - mean[j]) * (row[k] - mean[k]) for x, row in zip(p, apart, strict=True)), flint.arb(0)
                        )
                        + (1 / alpha if j == k else 0)
                    ).mid()
                    for j in range(d)
                    for k in range(d)
                ],
            )
            step = H.solve(flint.arb_mat(d, 1, g), algorithm="approx").entries()
            for halving in range(200):
                trial = [(x + s / 2**halving).mid() for x, s in zip(lam, step, strict=True)]
                p, mean = tilted(trial)
                trial_slope = slope(trial, mean)
                if norm(trial_slope) < norm(g):
                    break
            lam, g = trial, trial_slope
        raise ArithmeticError("mean problem: Newton's method did not end")

    return solve


def solution(solve: Solver, data: Exact, select: Callable[[Vector], Vector], size: int, perturbation: float = 0.0) -> Exact:
    """The selected part of a solution; its error is what relative changes of each of the data by (`size` + 8) u make of it.

    Errors of the data (``Exact.error``, relative, in u) are added to `size` + 8, and so is `perturbation` for the selected
    part itself.
    """
    peak, point = data.peak, data.value
    centre = select(solve(point))
    error = np.zeros(len(centre))
    for i, x in enumerate(point):
        if x != 0:
            nearby = select(solve([*point[:i], x * (1 + flint.arb(_NEAR)), *point[i + 1 :]]))
            change = np.array([abs(float((y - z) / flint.arb(_NEAR))) for y, z in zip(nearby, centre, strict=True)])
            error += (size + 8 + data.error[i]) * change
    made = Exact([x.mid() for x in centre], np.zeros(len(centre)), peak)
    return made.off_by(error + (size + 8 + perturbation) * made.size + peak.least)


def derivative(
    solve: Solver, data: Exact, weights: Sequence[float], chosen: Sequence[int], size: int, terms: Any = 0.0
) -> Exact:
    """∂⟨weights, solution⟩/∂(the chosen data), by differences; errors as for ``solution``, and of `terms` that cancel."""

    def value(point: Vector) -> Any:
        return sum((w * y for w, y in zip(weights, solve(point), strict=False)), flint.arb(0))

    def gradient(point: Vector) -> Vector:
        slopes = []
        for i in chosen:
            step = flint.arb(_NEARER) * (1 + abs(point[i].mid()))
            ends = [value([*point[:i], point[i] + sign * step, *point[i + 1 :]]) for sign in (1, -1)]
            slopes.append((ends[0] - ends[1]) / (2 * step))
        return slopes

    result = solution(gradient, data, lambda values: values, size)
    unseen = _SEEN * (1 + result.size.max()) / np.finfo(np.float64).eps
    return result.off_by(result.error + (size + 8) * np.asarray(terms) + unseen)
