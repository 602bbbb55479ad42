"""Optimal transport between two marginals, classical and entropic (the primer of Section 3), with certificates.

Minimize  ⟨P, C⟩ + ε Σ_ij P_ij log P_ij  over the couplings U(a, b): P ≥ 0, P 1 = a, Pᵀ 1 = b.  ε = 0 is the classical,
linear problem. Plans come from a solver; whether they are accepted is decided by weak duality alone.

Claims      the primer of eot, Section 3 (the classical problem, the entropic problem, and their limits in ε)
Notation    C = cost, (n, m); a, b = marginals; f, g = potentials, the multipliers of P 1 = a and Pᵀ 1 = b
Duality     L = ⟨P, C⟩ + ε Σ P log P + f·(a − P 1) + g·(b − Pᵀ 1) is minimized over P ≥ 0 entry by entry. For ε > 0 the
            minimum is at P_ij = exp((f_i + g_j − C_ij)/ε − 1), so that
            f·a + g·b − ε Σ_ij exp((f_i + g_j − C_ij)/ε − 1)  lies below the objective of every coupling, for any f, g.
            For ε = 0 the bound is f·a + g·b, provided that f_i + g_j ≤ C_ij.
Scaling     ⟨P, u 1ᵀ + 1 vᵀ⟩ = u·a + v·b is the same for all couplings. So the entropic problem is solved for the
            reduced costs R = (C − u 1ᵀ − 1 vᵀ)/ε ≥ 0, with (u, v) from the linear problem, and ε = 1: its numbers stay
            small, however small ε is.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linprog

from numerics import tolerances
from numerics.primal import conic
from numerics.primal.arguments import Array, check_positive, distribution, finite
from numerics.primal.conic import cp
from numerics.primal.simplex import OVERFLOW

# Entries of the scaled problem with a reduced cost above this go unused at first; what that costs shows in the gap.
_MAX_REDUCED_COST = 60.0

# The tightest that the linear solver takes. It may overlook marginals below it; the certificate then refuses the plan.
_SMALL = 1e-10


@dataclass(frozen=True)
class Coupling:
    """A coupling and how far from optimal it can be.

    Attributes:
        plan: P, float64, (n, m), nonnegative.
        objective: ⟨P, C⟩ + ε Σ P log P; ``inf`` for a plan that is not a coupling, and so is the gap.
        bound: the dual objective at the potentials, below the objective of every coupling.
        gap: a bound on the distance from the objective to the optimal value, rounding included.
        infeasibility: ‖P 1 − a‖₁ + ‖Pᵀ 1 − b‖₁.
        potentials: (f, g), float64, (n,) and (m,). Where a marginal of an entropic problem is zero, −inf.
        status: as reported by the solver. It decides nothing.
        certified: whether P is a coupling, and its gap, up to rounding, is within ``tolerances.SOLVER_GAP`` times ε
            (if ε = 0: times what the dearest used entry of the cost exceeds the least one by).
    """

    plan: Array
    objective: float
    bound: float
    gap: float
    infeasibility: float
    potentials: tuple[Array, Array]
    status: str
    certified: bool


def solve_transport(cost: ArrayLike, a: ArrayLike, b: ArrayLike) -> Coupling:
    """Solve the classical problem as a linear program; the plan is a vertex of U(a, b).

    Args:
        cost: C, finite, (n, m), taken as float64; its sign is free.
        a: (n,), nonnegative, summing to one.
        b: (m,), nonnegative, summing to one.

    Raises:
        ValueError: for arguments other than these.
        RuntimeError: if the solver returned no plan at all.
    """
    cost, a, b = _problem(cost, a, b)
    plan, potentials, status = _linear_program(cost, a, b)
    return _certify(plan, cost, a, b, potentials, 0.0, status)


def solve_entropic(cost: ArrayLike, a: ArrayLike, b: ArrayLike, epsilon: float) -> Coupling:
    """Solve the entropic problem with both marginals; zero marginals are allowed (0 log 0 = 0).

    Args:
        cost: C, finite, (n, m), taken as float64; its sign is free.
        a: (n,), nonnegative, summing to one.
        b: (m,), nonnegative, summing to one.
        epsilon: ε, positive and finite.

    Raises:
        ValueError: for arguments other than these.
        RuntimeError: if the solver returned no plan at all.
    """
    cost, a, b = _problem(cost, a, b)
    check_positive("epsilon", epsilon)
    rows, columns = np.flatnonzero(a), np.flatnonzero(b)
    inner = np.ix_(rows, columns)
    mass = a[rows], b[columns]
    _, (u, v), _ = _linear_program(cost[inner], *mass)
    reduced = np.maximum(cost[inner] - u[:, None] - v, 0.0) / epsilon
    if not np.isfinite(reduced).all():
        raise ValueError(f"epsilon: expected the spread of the cost over it to be finite, got {epsilon!r}")
    core, f, g, status = _program(reduced, *mass)
    f, g = _ascend(reduced, *mass, f, g)

    plan, potentials = np.zeros_like(cost), (np.full(a.size, -np.inf), np.full(b.size, -np.inf))
    plan[inner] = _polish(reduced, *mass, core)
    potentials[0][rows], potentials[1][columns] = epsilon * f + u, epsilon * g + v
    return _certify(plan, cost, a, b, potentials, epsilon, status)


def certify(
    plan: ArrayLike, cost: ArrayLike, a: ArrayLike, b: ArrayLike, potentials: tuple[ArrayLike, ArrayLike], epsilon: float = 0.0
) -> Coupling:
    """Certify a coupling that comes from elsewhere, with status "given".

    Args:
        plan: P, (n, m).
        cost: C, finite, (n, m).
        a: (n,), nonnegative, summing to one.
        b: (m,), nonnegative, summing to one.
        potentials: (f, g), (n,) and (m,), finite where the marginals are positive. Every pair gives a valid bound.
        epsilon: ε ≥ 0 and finite; 0 for the classical problem.

    Raises:
        ValueError: for shapes or numbers other than these.
    """
    cost, a, b = _problem(cost, a, b)
    if not 0 <= epsilon < math.inf:
        raise ValueError(f"epsilon: expected a finite number ≥ 0, got {epsilon!r}")
    matrix: Array = np.asarray(plan, dtype=np.float64)
    if matrix.shape != cost.shape:
        raise ValueError(f"plan: expected the shape of the cost {cost.shape}, got {matrix.shape}")
    f, g = (np.asarray(potential, dtype=np.float64) for potential in potentials)
    if f.shape != a.shape or g.shape != b.shape or not (np.isfinite(f[a > 0]).all() and np.isfinite(g[b > 0]).all()):
        raise ValueError(
            f"potentials: expected {a.size} and {b.size} numbers, finite where the marginals are positive, got {f!r} and {g!r}"
        )
    return _certify(matrix, cost, a, b, (f, g), epsilon, "given")


def _problem(cost: ArrayLike, a: ArrayLike, b: ArrayLike) -> tuple[Array, Array, Array]:
    matrix = finite("cost", cost, "n", "m")
    return matrix, distribution("a", a, matrix.shape[0]), distribution("b", b, matrix.shape[1])


def _certify(
    plan: Array, cost: Array, a: Array, b: Array, potentials: tuple[Array, Array], epsilon: float, status: str
) -> Coupling:
    """Judge a plan by the residual R = C − f 1ᵀ − 1 gᵀ.

    For a coupling, objective less bound is Σ P R − min(0, min R) if ε = 0 (its mass is one, whatever the sign of R),
    and  Σ P R + ε Σ P log P + ε Σ exp(−R/ε − 1)  if ε > 0. Rows and columns without mass have no part in it.
    """
    rows, columns = a > 0, b > 0
    inner = np.ix_(rows, columns)
    p, c, f, g = plan[inner], cost[inner], potentials[0][rows], potentials[1][columns]
    residual = c - f[:, None] - g
    information = p * np.log(p, where=p > 0, out=np.zeros_like(p))
    with np.errstate(over="ignore"):
        image = np.exp(-residual / epsilon - 1.0) if epsilon else np.zeros_like(p)
    image[image > OVERFLOW] = np.inf
    shortfall = epsilon * math.fsum(image.ravel()) - (0.0 if epsilon else min(0.0, float(residual.min())))
    objective = math.fsum((p * c).ravel()) + epsilon * math.fsum(information.ravel())
    bound = math.fsum(f * a[rows]) + math.fsum(g * b[columns]) - shortfall
    gap = math.fsum((p * residual).ravel()) + epsilon * math.fsum(information.ravel()) + shortfall

    infeasibility = math.inf
    if (plan >= 0).all():
        infeasibility = float(np.abs(plan.sum(axis=1) - a).sum() + np.abs(plan.sum(axis=0) - b).sum())
    feasible = infeasibility <= tolerances.rounding("float64", a.size + b.size, 2.0)
    slack = math.inf
    if feasible:
        # Rounding: of each term; of R, which moves the sum by P − exp(…) and then to second order; of the marginals.
        rounding = tolerances.eps("float64") * (np.abs(c) + np.abs(f)[:, None] + np.abs(g))
        terms = p * np.abs(residual) + epsilon * np.abs(information) + image * (epsilon + np.abs(residual))
        slack = tolerances.rounding("float64", 1, float(terms.sum())) + float((np.abs(p - image) * rounding).sum())
        tight = rounding[residual <= rounding]  # elsewhere rounding cannot make R negative
        slack += float((image * rounding**2).sum()) / epsilon if epsilon else float(tight.max(initial=0.0))
        slack += infeasibility * float(np.abs(f).max() + np.abs(g).max())

    allowed = tolerances.SOLVER_GAP * (epsilon or float(c[p > 0].max(initial=c.min()) - c.min()))
    return Coupling(
        plan=plan,
        objective=objective if feasible else math.inf,
        bound=bound,
        gap=gap + slack if feasible else math.inf,
        infeasibility=infeasibility,
        potentials=potentials,
        status=status,
        certified=feasible and -slack <= gap <= allowed + slack,
    )


def _incidence(rows: NDArray[np.intp], columns: NDArray[np.intp], shape: tuple[int, int]) -> Array:
    """Return the matrix that takes the chosen entries of P to (P 1, Pᵀ 1) without the last, which the others imply."""
    n, m = shape
    return np.vstack([rows == np.arange(n)[:, None], columns == np.arange(m - 1)[:, None]]).astype(np.float64)


def _linear_program(cost: Array, a: Array, b: Array) -> tuple[Array, tuple[Array, Array], str]:
    """Return a vertex of U(a, b) of least cost, feasible potentials, and the solver's status."""
    rows, columns = (index.ravel() for index in np.indices(cost.shape))
    # The solver's feasibility tolerances are absolute: bring the cost to [0, 1].
    low, spread = float(cost.min()), float(np.ptp(cost)) or 1.0
    solved = linprog(
        ((cost - low) / spread).ravel(),
        A_eq=_incidence(rows, columns, cost.shape),
        b_eq=np.concatenate([a, b[:-1]]),
        method="highs-ds",
        options={"primal_feasibility_tolerance": _SMALL, "dual_feasibility_tolerance": _SMALL},
    )
    if solved.x is None:
        raise RuntimeError(f"the solver returned no plan: {solved.message} for the cost {cost!r}")
    # The solver's f with the largest g that it allows, and the largest f that this g allows: feasible to the last bit.
    g = (cost - spread * solved.eqlin.marginals[: a.size, None]).min(axis=0)
    f = (cost - g).min(axis=1)
    return np.maximum(solved.x.reshape(cost.shape), 0.0), (f, g), str(solved.message)


def _program(reduced: Array, a: Array, b: Array) -> tuple[Array, Array, Array, str]:
    """Return the conic solver's plan, put back into U(a, b), potentials and status. (``entr`` implies P ≥ 0.)"""
    rows, columns = np.nonzero(reduced <= _MAX_REDUCED_COST)
    p = cp.Variable(rows.size)
    marginals = _incidence(rows, columns, reduced.shape) @ p == np.concatenate([a, b[:-1]])
    problem = cp.Problem(cp.Minimize(reduced[rows, columns] @ p - cp.sum(cp.entr(p))), [marginals])
    value, status = conic.solve(problem, p, reduced)
    plan = np.zeros_like(reduced)
    plan[rows, columns] = np.maximum(value, 0.0)
    prices = -marginals.dual_value  # the solver's sign is the other one
    return _repair(plan, a, b), prices[: a.size], np.append(prices[a.size :], 0.0), status


def _repair(plan: Array, a: Array, b: Array) -> Array:
    """Take Newton steps of the form P_ij (1 + u_i + v_j) towards U(a, b), which keep the zeros of the plan."""
    for _ in range(2):
        rows, columns = plan.sum(axis=1), plan.sum(axis=0)
        u, v = _balance(plan, rows, columns, a - rows, b - columns)
        plan = plan * np.maximum(1.0 + u[:, None] + v, 0.0)
    return plan


def _ascend(reduced: Array, a: Array, b: Array, f: Array, g: Array) -> tuple[Array, Array]:
    """Take Newton steps on the concave dual objective while they raise it."""
    best = _bound(reduced, a, b, f, g)
    for _ in range(16):
        image = np.exp(f[:, None] + g - reduced - 1.0)
        df, dg = _balance(image, image.sum(axis=1), image.sum(axis=0), a - image.sum(axis=1), b - image.sum(axis=0))
        for step in 0.5 ** np.arange(8):
            trial = _bound(reduced, a, b, f + step * df, g + step * dg)
            if trial > best:
                f, g, best = f + step * df, g + step * dg, trial
                break
        else:
            break
    return f, g


def _polish(reduced: Array, a: Array, b: Array, plan: Array) -> Array:
    """Take Newton steps on the objective along U(a, b) while they lower it; the Hessian is diag(1/P)."""
    best = _objective(reduced, plan)
    for _ in range(8):
        slope = np.log(plan, where=plan > 0, out=np.zeros_like(plan)) + reduced
        weighted = plan * slope
        u, v = _balance(plan, a, b, weighted.sum(axis=1), weighted.sum(axis=0))
        trial = _repair(np.maximum(plan * (1.0 - (slope - u[:, None] - v)), 0.0), a, b)
        value = _objective(reduced, trial)
        if not value < best:
            break
        plan, best = trial, value
    return plan


def _balance(plan: Array, rows: Array, columns: Array, x: Array, y: Array) -> tuple[Array, Array]:
    """Solve rows·u + P v = x, Pᵀ u + columns·v = y, which leaves u + t, v − t open: take the least one."""
    system = np.block([[np.diag(rows), plan], [plan.T, np.diag(columns)]])
    solution = np.linalg.lstsq(system, np.concatenate([x, y]))[0]
    return solution[: x.size], solution[x.size :]


def _objective(reduced: Array, plan: Array) -> float:
    p = plan[plan > 0]
    return math.fsum(p * (reduced[plan > 0] + np.log(p)))


def _bound(reduced: Array, a: Array, b: Array, f: Array, g: Array) -> float:
    with np.errstate(over="ignore"):
        image = np.exp(f[:, None] + g - reduced - 1.0)
    return math.fsum(f * a) + math.fsum(g * b) - math.fsum(image.ravel())
