"""Entropic transport with a free first marginal, and attention on top of it (Section 9 and Appendix D of Deciphering).

W(p, u; M) = min ⟨M, X⟩ − γ H(X) over the couplings X ≥ 0 with X 1 = p, Xᵀ 1 = u, where H(X) = −Σ X log X. Around it: the p
that minimizes W, the conjugate of W in p, and attention with W in the place of the KL divergence, each stated to the
solver over X as it is printed. Nothing is assumed of M: it may be rectangular and not symmetric, have any sign, and
entries +∞, which forbid what they price.

Claims      deciphering.23, deciphering.24, deciphering.34, deciphering.36, deciphering.39, deciphering.prop1 (the problems)
Notation    M = cost, (n, m): M_ij takes mass from the column j of the prior to the row i; u = prior, (m,); γ = gamma;
            X = plan; p = X 1, first marginal; f = prices of Xᵀ 1 = u; k = prices of X 1 = p; g = slope of the conjugate
Duality     Fenchel–Young for γ x log x, entry by entry, with the image  X̂_ij = exp((f_j + k_i − M_ij)/γ − 1):
            ⟨M, X⟩ − γ H(X) ≥ Σ_ij X_ij (f_j + k_i) − γ Σ_ij X̂_ij = ⟨f, Xᵀ 1⟩ + ⟨k, X 1⟩ − γ Σ_ij X̂_ij  for every X ≥ 0, f, k.
            Both marginals:    W(p, u) ≥ ⟨f, u⟩ + ⟨k, p⟩ − γ Σ X̂, any f and k.
            Free p, slope g:   W(p, u) − ⟨g, p⟩ ≥ ⟨f, u⟩ − γ Σ X̂ with k = g, any f; the negative of it lies above the
                               conjugate sup_p ⟨g, p⟩ − W(p, u), and at g = 0 it lies below min_p W(p, u).
            Attention (24):    k_i = ⟨t_i, λ⟩, and α/2‖r‖² ≥ ⟨λ, r⟩ − ‖λ‖²/(2α) with r = μ̃ + z − Σ p_i t_i add up to
                               α/2‖r‖² + W(p, u) ≥ ⟨λ, μ̃ + z⟩ − ‖λ‖²/(2α) + ⟨f, u⟩ − γ Σ X̂, any f and λ.
            An entry with M_ij = ∞ has X̂_ij = 0 and X_ij = 0; a column without prior mass is empty.
Error       The objective at X exceeds its minimum by γ Σ X log(X/X*) + α/2‖h − h*‖² at least, so ‖X − X*‖₁ ≤ √(2 gap/γ); the
            sums over rows are no further apart than X and X* are. ‖h − h*‖ ≤ √(2 gap/α), ‖λ − λ*‖ = α‖h − h*‖.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linprog

from numerics import tolerances
from numerics.primal import conic, entropic, mem
from numerics.primal.arguments import Array, check_positive, distribution, vector
from numerics.primal.conic import cp

Mask = NDArray[np.bool_]

# What the linear solver takes for zero. Beside a forbidden entry, marginals below this cannot be told from zero.
_SMALL = 1e-9


@dataclass(frozen=True)
class Plan:
    """A plan with its first marginal, and how far from optimal they can be.

    Attributes:
        plan: X, float64, (n, m), nonnegative, its columns summing to u.
        marginal: p = X 1, float64, (n,).
        objective: the value of the problem at X; ``inf`` (``-inf`` for the conjugate) for a plan that is not feasible.
        bound: the dual objective, below (for the conjugate: above) the objective of every plan.
        gap: a bound on the distance of the objective from the optimal value, computed term by term, rounding included.
        value_error: a bound on the distance of ``objective`` from the optimal value, with the rounding of the objective.
        plan_error: a bound on ‖X − X*‖₁ and on ‖p − p*‖₁.
        prices: f, float64, (m,); −inf where u is zero.
        status: as reported by the solver. It decides nothing.
        certified: whether the gap is within ``tolerances.SOLVER_GAP`` times γ.
    """

    plan: Array
    marginal: Array
    objective: float
    bound: float
    gap: float
    value_error: float
    plan_error: float
    prices: Array
    status: str
    certified: bool


@dataclass(frozen=True)
class Attention(Plan):
    """The plan of (24), and the output of attention.

    Attributes:
        mean: h = Σ p_i t_i, float64, (d,).
        centre: μ̃, float64, (d,).
        multiplier: λ = α r, float64, (d,).
        mean_error: a bound on ‖h − h*‖₂, for this μ̃.
        multiplier_error: a bound on ‖λ − λ*‖₂, for this μ̃.
    """

    mean: Array
    centre: Array
    multiplier: Array
    mean_error: float
    multiplier_error: float


@dataclass(frozen=True)
class _Problem:
    """The entries that may carry mass, and the totals that they must meet."""

    cost: Array
    gamma: float
    allowed: Mask
    columns: Array
    rows: Array | None = None

    def totals(self) -> tuple[Array, Array]:
        """Return E and e, for the columns with mass and, if both marginals are given, the rows with mass."""
        i, j = np.nonzero(self.allowed)
        support = np.flatnonzero(self.columns)
        incidence, totals = (j == support[:, None]).astype(np.float64), self.columns[support]
        if self.rows is None:
            return incidence, totals
        support = np.flatnonzero(self.rows)
        return np.vstack([incidence, i == support[:, None]]), np.concatenate([totals, self.rows[support]])

    def row_sums(self) -> Array:
        """Return the matrix that takes the allowed entries of X to p, (n, N)."""
        i, _ = np.nonzero(self.allowed)
        sums: Array = (i == np.arange(self.cost.shape[0])[:, None]).astype(np.float64)
        return sums


def solve_coupling(p: ArrayLike, prior: ArrayLike, cost: ArrayLike, gamma: float) -> Plan:
    """Compute W(p, u; M), with both marginals given (23).

    Args:
        p: (n,), nonnegative, summing to one.
        prior: u, (m,), nonnegative, summing to one.
        cost: M, (n, m), finite or +inf.
        gamma: γ, positive and finite.

    Raises:
        ValueError: for arguments other than these, or if every coupling of p and u uses an entry that is +inf.
        RuntimeError: if the solver returned no plan at all.
    """
    problem = _checked(prior, cost, gamma)
    first = distribution("p", p, problem.cost.shape[0])
    allowed = _usable(problem.allowed & (first > 0)[:, None], first, problem.columns)
    problem = _Problem(problem.cost, gamma, allowed, problem.columns, first)
    return _solved(problem, np.zeros(first.size))


def minimize_marginal(prior: ArrayLike, cost: ArrayLike, gamma: float) -> Plan:
    """Minimize W(p, u; M) over p (Proposition 1); ``marginal`` is the minimizer, ũ in print.

    Args:
        prior: u, (m,), nonnegative, summing to one.
        cost: M, (n, m), finite or +inf, with a finite entry in each column where u has mass.
        gamma: γ, positive and finite.

    Raises:
        ValueError: for arguments other than these.
        RuntimeError: if the solver returned no plan at all.
    """
    problem = _checked(prior, cost, gamma)
    return _solved(problem, np.zeros(problem.cost.shape[0]))


def conjugate(slope: ArrayLike, prior: ArrayLike, cost: ArrayLike, gamma: float) -> Plan:
    """Compute sup_p ⟨g, p⟩ − W(p, u; M) (36); ``marginal`` is the p where it is attained, the gradient of the conjugate.

    Args:
        slope: g, finite, (n,).
        prior: u, (m,), nonnegative, summing to one.
        cost: M, (n, m), finite or +inf, with a finite entry in each column where u has mass.
        gamma: γ, positive and finite.

    Raises:
        ValueError: for arguments other than these.
        RuntimeError: if the solver returned no plan at all.
    """
    problem = _checked(prior, cost, gamma)
    g = vector("slope", slope, problem.cost.shape[0])
    solution = _solved(problem, g)
    return replace(solution, objective=-solution.objective, bound=-solution.bound)


def solve(
    templates: ArrayLike,
    prior: ArrayLike,
    evidence: ArrayLike,
    cost: ArrayLike,
    alpha: float,
    gamma: float,
    centre: ArrayLike | None = None,
) -> Attention:
    """Solve (24): minimize α/2‖μ̃ + z − Σ p_i t_i‖² + W(p, u; M) over p.

    Args:
        templates: t, finite, (n, d) with n, d ≥ 1.
        prior: u, (m,), nonnegative, summing to one.
        evidence: z, finite, (d,).
        cost: M, (n, m), finite or +inf, with a finite entry in each column where u has mass.
        alpha: α, positive and finite.
        gamma: γ, positive and finite.
        centre: μ̃, finite, (d,); without it, the mean of the p that ``minimize_marginal`` finds.

    Raises:
        ValueError: for arguments other than these.
        RuntimeError: if the solver returned no plan at all.
    """
    problem = _checked(prior, cost, gamma)
    t = _templates(templates, problem)
    z = vector("evidence", evidence, t.shape[1])
    check_positive("alpha", alpha)
    mu = minimize_marginal(prior, cost, gamma).marginal @ t if centre is None else vector("centre", centre, t.shape[1])
    x, p, divergence, constraints = _statement(problem)
    r = cp.Variable(z.size)
    objective = alpha / 2 * cp.sum_squares(r) + divergence
    value, status = conic.solve(
        cp.Problem(cp.Minimize(objective), [*constraints, r == mu + z - t.T @ p]), x, f"a cost of shape {problem.cost.shape}"
    )
    program = _with_mean(problem, t, mu, z, alpha)
    sharpened, lam = entropic.sharpen(program, np.clip(value, 0.0, None), alpha)
    return _attention(problem, program, _matrix(problem, sharpened), t, mu, lam, alpha, status)


def certify(
    plan: ArrayLike,
    templates: ArrayLike,
    prior: ArrayLike,
    evidence: ArrayLike,
    cost: ArrayLike,
    alpha: float,
    gamma: float,
    centre: ArrayLike,
) -> Attention:
    """Certify a plan for (24) that comes from elsewhere, with λ = α r and the status "given".

    Args:
        plan: X, (n, m). One that is negative, misses u by more than rounding or uses a forbidden entry has the gap ``inf``.
        templates: t, finite, (n, d).
        prior: u, (m,).
        evidence: z, finite, (d,).
        cost: M, (n, m).
        alpha: α, positive and finite.
        gamma: γ, positive and finite.
        centre: μ̃, finite, (d,).

    Raises:
        ValueError: for shapes or numbers other than these.
    """
    problem = _checked(prior, cost, gamma)
    t = _templates(templates, problem)
    z, mu = vector("evidence", evidence, t.shape[1]), vector("centre", centre, t.shape[1])
    check_positive("alpha", alpha)
    matrix = np.asarray(plan, dtype=np.float64)
    if matrix.shape != problem.cost.shape:
        raise ValueError(f"plan: expected the shape of the cost {problem.cost.shape}, got {matrix.shape}")
    program = _with_mean(problem, t, mu, z, alpha)
    x = matrix[problem.allowed]
    lam = alpha * program.residual(x) if np.isfinite(x).all() else np.zeros_like(z)
    return _attention(problem, program, matrix, t, mu, lam, alpha, "given")


# ── arguments ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _checked(prior: ArrayLike, cost: ArrayLike, gamma: float) -> _Problem:
    matrix = np.asarray(cost, dtype=np.float64)
    if matrix.ndim != 2 or matrix.size == 0 or not (matrix > -np.inf).all():
        raise ValueError(f"cost: expected numbers (n, m) with n, m ≥ 1, finite or +inf, got shape {matrix.shape}: {matrix!r}")
    u = distribution("prior", prior, matrix.shape[1])
    check_positive("gamma", gamma)
    allowed: Mask = np.logical_and(np.isfinite(matrix), u > 0)
    if not (allowed.sum(axis=0)[u > 0] > 0).all():
        raise ValueError(f"cost: expected a finite entry in each column where the prior has mass, got {matrix!r}")
    return _Problem(matrix, float(gamma), allowed, u)


def _templates(templates: ArrayLike, problem: _Problem) -> Array:
    t = np.asarray(templates, dtype=np.float64)
    n = problem.cost.shape[0]
    if t.ndim != 2 or t.shape[0] != n or t.shape[1] == 0 or not np.isfinite(t).all():
        raise ValueError(f"templates: expected finite numbers ({n}, d) with d ≥ 1, one for each row of the cost, got {t!r}")
    return t


def _usable(allowed: Mask, rows: Array, columns: Array) -> Mask:
    """Return the entries that some coupling uses: linear programs add more of them until there are none left.

    The others are zero in every coupling, and without them there is a coupling that is positive everywhere. Without a
    forbidden entry that is the product of the marginals.
    """
    if allowed[np.ix_(rows > 0, columns > 0)].all():
        return allowed
    i, j = np.nonzero(allowed)
    totals = np.vstack([i == np.arange(rows.size)[:, None], j == np.arange(columns.size)[:, None]]).astype(np.float64)
    reached = np.zeros(i.size, dtype=bool)
    while not reached.all():
        solved = linprog(-1.0 * ~reached, A_eq=totals, b_eq=np.concatenate([rows, columns]), method="highs-ds")
        if solved.x is None:
            raise ValueError("cost: expected a coupling of p and the prior that uses finite entries only, found none")
        more = solved.x > _SMALL
        if not (more & ~reached).any():
            break
        reached |= more
    usable = np.zeros_like(allowed)
    usable[i[reached], j[reached]] = True
    return usable


# ── the statement, the solver and the certificate ───────────────────────────────────────────────────────────────────


def _statement(problem: _Problem) -> tuple[cp.Variable, cp.Variable, cp.Expression, list[cp.Constraint]]:
    """Return the allowed entries of X, p, ⟨M, X⟩ − γ H(X) and the constraints. (``entr`` implies X ≥ 0.)"""
    incidence, totals = problem.totals()
    x, p = cp.Variable(incidence.shape[1]), cp.Variable(problem.cost.shape[0])
    divergence = problem.cost[problem.allowed] @ x - problem.gamma * cp.sum(cp.entr(x))
    columns = problem.columns.astype(bool).sum()
    constraints = [incidence[:columns] @ x == totals[:columns], problem.row_sums() @ x == p]
    return x, p, divergence, constraints if problem.rows is None else [*constraints, p == problem.rows]


def _solved(problem: _Problem, slope: Array) -> Plan:
    """Minimize W(p, u) − ⟨g, p⟩."""
    x, p, divergence, constraints = _statement(problem)
    statement = cp.Problem(cp.Minimize(divergence - slope @ p), constraints)
    value, status = conic.solve(statement, x, f"a cost of shape {problem.cost.shape}")
    incidence, totals = problem.totals()
    program = entropic.Program(
        cost=(problem.cost - slope[:, None])[problem.allowed],
        temperature=problem.gamma,
        operator=np.zeros((0, x.size)),
        target=np.zeros(0),
        penalty=entropic.Quadratic(1.0),
        incidence=incidence,
        totals=totals,
    )
    sharpened, none = entropic.sharpen(program, np.clip(value, 0.0, None), 1.0)
    return _plan(problem, _matrix(problem, sharpened), entropic.certify(program, sharpened, none), status)


def _with_mean(problem: _Problem, templates: Array, centre: Array, evidence: Array, alpha: float) -> entropic.Program:
    """Return the program of (24), with the origin moved to μ̃."""
    incidence, totals = problem.totals()
    size, (n, d) = float(np.abs(templates).max() + np.abs(centre).max()), templates.shape
    return entropic.Program(
        cost=problem.cost[problem.allowed],
        temperature=problem.gamma,
        operator=(templates - centre).T @ problem.row_sums(),
        target=evidence,
        penalty=entropic.Quadratic(alpha),
        incidence=incidence,
        totals=totals,
        operator_error=tolerances.eps("float64") * size,
        target_error=tolerances.rounding("float64", n, math.sqrt(d) * size),
    )


def _matrix(problem: _Problem, x: Array) -> Array:
    plan = np.zeros_like(problem.cost)
    plan[problem.allowed] = x
    return plan


def _plan(problem: _Problem, plan: Array, verdict: entropic.Certificate, status: str) -> Plan:
    prices, support = np.full(problem.columns.size, -np.inf), problem.columns > 0
    prices[support] = verdict.prices[: support.sum()]
    return Plan(
        plan=plan,
        marginal=plan.sum(axis=1),
        objective=verdict.objective,
        bound=verdict.bound,
        gap=verdict.gap,
        value_error=verdict.value_error,
        plan_error=tolerances.plan_from_gap(verdict.gap, problem.gamma),
        prices=prices,
        status=status,
        certified=verdict.certified,
    )


def _attention(
    problem: _Problem,
    program: entropic.Program,
    plan: Array,
    templates: Array,
    centre: Array,
    multiplier: Array,
    alpha: float,
    status: str,
) -> Attention:
    inside = not plan[~problem.allowed].any()
    x = plan[problem.allowed] if inside else np.full(program.cost.size, np.nan)
    solution = _plan(problem, plan, entropic.certify(program, x, multiplier), status)
    mean_error = mem.mean_error(program, solution.gap, alpha)
    return Attention(
        **vars(solution),
        mean=solution.marginal @ templates if np.isfinite(plan).all() else np.full_like(centre, np.nan),
        centre=centre,
        multiplier=multiplier,
        mean_error=mean_error,
        multiplier_error=alpha * mean_error,
    )
