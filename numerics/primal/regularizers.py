"""Attention as a regularized choice on the simplex (eot, Section 4) as convex programs, with certificates.

Minimize  J(p) = −⟨p, s⟩ + Ω(p)  over the simplex, where Ω(p) = Σ_j ω_j(p_j) is the squared norm ½‖p‖², the negative
Tsallis entropy Σ_j (p_j^α − p_j) / (α(α−1)), or ε Σ_j p_j log p_j plus a linear penalty ⟨p, c⟩.  Each program is stated
as it is printed. The plan comes from a conic solver; Newton steps on J sharpen it. Its duality gap is computed here, and
nothing else decides whether it is accepted.

Claims      eot.19, eot.20, eot.26, eot.35, eot.prop4.1, eot.prop4.2, eot.prop4.3, eot.prop4.4
Notation    s = scores; c = penalty, γ|i−j| in print; α = alpha; ε = epsilon, τ in print; λ = multiplier of Σ_j p_j = 1;
            z_j = s_j − c_j + λ
Duality     L(p, λ) = J(p) + λ (1 − Σ_j p_j) = λ − Σ_j (z_j p_j − ω(p_j)). Over p ≥ 0 each coordinate is maximized by
            itself, and ω*(z) = sup_{p ≥ 0} (z p − ω(p)) is what it gives. Hence  g(λ) = λ − Σ_j ω*(z_j) ≤ J(p)  for every
            λ and every p in the simplex. The supremum is where ω′(p) = z, or at p = 0 if z ≤ ω′(0):
              squared norm   p = max(z, 0)                             ω*(z) = p²/2
              Tsallis        p = max(1 + (α−1)(z − 1/α), 0)^{1/(α−1)}  ω*(z) = p^α/α
              entropy        p = exp(z/ε − 1)                          ω*(z) = ε p
Error       ω″ is 1, p^{α−2} and ε/p: J is strongly convex with modulus 1, 1 (if α ≤ 2) and ε, so that
            ‖q − p*‖₂ ≤ √(2 gap/modulus) for every q in the simplex. For every α, besides: the terms of
            J(p*) − g(λ) = Σ_j (ω(p*_j) + ω*(z_j) − z_j p*_j) are not negative, so none exceeds the gap, and that encloses
            each p*_j in an interval. The smaller of the two errors is reported.
Scaling     All work is done on scores from which the largest of s − c has been taken off; those of the entropic problem
            are also divided by ε. J changes by a constant and a factor, and no digits are lost in large scores.
References  Martins & Astudillo 2016 (sparsemax); Peters, Niculae & Martins 2019 (α-entmax); Press, Smith & Lewis 2022
            (ALiBi).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from numerics import tolerances
from numerics.primal import conic
from numerics.primal.arguments import check_positive, finite, vector
from numerics.primal.conic import cp
from numerics.primal.simplex import MIN_LOGIT, OVERFLOW

Vector = NDArray[np.float64]
Exponent = float | Fraction

# The mass that polishing gives an empty column, so that it can grow; and the least curvature that it trusts.
_MIN_MASS = 1e-12

# How polishing steps: columns below the first number are emptied, and the others keep this share of their mass.
_TRIALS = ((0.0, 0.1), (0.0, 0.0), (1e-9, 0.0), (1e-6, 0.0))


@dataclass(frozen=True)
class Solution:
    """A feasible plan and how far from optimal it can be.

    Attributes:
        plan: p, float64, (m,), in the simplex.
        objective: J(p); ``inf`` for a plan outside the simplex, and so is the gap.
        bound: g(λ), below the objective of every plan.
        gap: a bound on J(p) − J(p*), rounding included.
        error: a bound on ‖p − p*‖₂, and so on |p_j − p*_j| for every j.
        multiplier: λ.
        status: as reported by the solver. It decides nothing.
        certified: whether the gap is within ``tolerances.SOLVER_GAP`` (times ε, for the entropic problem).
    """

    plan: Vector
    objective: float
    bound: float
    gap: float
    error: float
    multiplier: float
    status: str
    certified: bool


def solve_quadratic(scores: ArrayLike) -> Solution:
    """Solve  min −⟨p, s⟩ + ½ Σ_j p_j²  over the simplex (``eot.20``).

    Args:
        scores: s, finite, (m,) with m ≥ 1, taken as float64.

    Raises:
        ValueError: for scores other than these.
        RuntimeError: if the solver returned no plan at all.
    """
    return _solve(_Problem(scores, _QUADRATIC))


def solve_tsallis(scores: ArrayLike, alpha: Exponent) -> Solution:
    """Solve  min −⟨p, s⟩ + Σ_j (p_j^α − p_j) / (α(α−1))  over the simplex (``eot.26``).

    Args:
        scores: s, finite, (m,) with m ≥ 1, taken as float64.
        alpha: α > 1, finite, taken as float64.

    Raises:
        ValueError: for scores or an alpha other than these.
        RuntimeError: if the solver returned no plan at all.
    """
    return _solve(_Problem(scores, _tsallis(_exponent(alpha))))


def solve_penalized(scores: ArrayLike, penalty: ArrayLike, epsilon: float) -> Solution:
    """Solve  min −⟨p, s⟩ + ε Σ_j p_j log p_j + ⟨p, c⟩  over the simplex (``eot.35``).

    Args:
        scores: s, finite, (m,) with m ≥ 1, taken as float64.
        penalty: c, finite, (m,); γ|i−j| for the query at position i.
        epsilon: ε, positive and finite; the printed τ.

    Raises:
        ValueError: for scores, a penalty or an epsilon other than these.
        RuntimeError: if the solver returned no plan at all.
    """
    return _solve(_Problem(scores, _ENTROPY, penalty, epsilon))


def certify_quadratic(plan: ArrayLike, scores: ArrayLike, multiplier: float | None = None) -> Solution:
    """Certify a plan that comes from elsewhere for the problem of ``solve_quadratic``, with status "given".

    Args:
        plan: p, (m,). One outside the simplex (by more than rounding) gets the gap ``inf``.
        scores: s, as there.
        multiplier: λ, finite; without it, the best λ is found by bisection.

    Raises:
        ValueError: for shapes or numbers other than these.
    """
    return _certify_given(_Problem(scores, _QUADRATIC), plan, multiplier)


def certify_tsallis(plan: ArrayLike, scores: ArrayLike, alpha: Exponent, multiplier: float | None = None) -> Solution:
    """Certify a plan for the problem of ``solve_tsallis``; the rest as for ``certify_quadratic``."""
    return _certify_given(_Problem(scores, _tsallis(_exponent(alpha))), plan, multiplier)


def certify_penalized(
    plan: ArrayLike, scores: ArrayLike, penalty: ArrayLike, epsilon: float, multiplier: float | None = None
) -> Solution:
    """Certify a plan for the problem of ``solve_penalized``; the rest as for ``certify_quadratic``."""
    return _certify_given(_Problem(scores, _ENTROPY, penalty, epsilon), plan, multiplier)


# ── the regularizers, one coordinate at a time ──────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, eq=False)  # the same only if it is the same object
class _Regularizer:
    modulus: float  # of strong convexity on [0, 1]; 0 if there is none
    term: Callable[[cp.Variable], cp.Expression]  # Ω(p), for the solver
    value: Callable[[Vector], Vector]  # ω, on p ≥ 0
    slope: Callable[[Vector], Vector]  # ω′, on p > 0
    curvature: Callable[[Vector], Vector]  # ω″, on p > 0
    best: Callable[[Vector], Vector]  # the p ≥ 0 that maximizes z p − ω(p)
    conjugate: Callable[[Vector], Vector]  # ω*(z), from that p


_QUADRATIC = _Regularizer(
    modulus=1.0,
    term=lambda p: cp.sum_squares(p) / 2,
    value=lambda p: p**2 / 2,
    slope=lambda p: p,
    curvature=np.ones_like,
    best=lambda z: np.maximum(z, 0.0),
    conjugate=lambda best: best**2 / 2,
)

_ENTROPY = _Regularizer(  # of the problem divided by ε
    modulus=1.0,
    term=lambda p: -cp.sum(cp.entr(p)),
    value=lambda p: p * _log(p),
    slope=lambda p: _log(p) + 1,
    curvature=lambda p: 1 / p,
    best=lambda z: np.exp(z - 1),
    conjugate=lambda best: best,
)


@lru_cache(maxsize=64)
def _tsallis(alpha: float) -> _Regularizer:
    """With p^α − p = p (e^{(α−1) log p} − 1), nothing cancels when α is near 1."""

    def best(z: Vector) -> Vector:
        excess = np.maximum((alpha - 1) * (z - 1 / alpha), -1.0)
        logarithm = np.log1p(excess, where=excess > -1, out=np.zeros_like(excess))
        return np.where(excess > -1, np.exp(logarithm / (alpha - 1)), 0.0)

    return _Regularizer(
        modulus=1.0 if alpha <= 2 else 0.0,
        term=lambda p: (cp.sum(cp.power(p, alpha, approx=False)) - cp.sum(p)) / (alpha * (alpha - 1)),
        value=lambda p: p * np.expm1((alpha - 1) * _log(p)) / (alpha * (alpha - 1)),
        slope=lambda p: np.expm1((alpha - 1) * _log(p)) / (alpha - 1) + 1 / alpha,
        curvature=lambda p: p ** (alpha - 2),
        best=best,
        conjugate=lambda best: best**alpha / alpha,
    )


def _exponent(alpha: Exponent) -> float:
    if isinstance(alpha, bool) or not isinstance(alpha, (int, float, Fraction)) or not 1 < float(alpha) < math.inf:
        raise ValueError(f"alpha: expected a finite number > 1, got {alpha!r}")
    return float(alpha)


def _log(p: Vector) -> Vector:
    """log p, and 0 at p = 0, where it only ever meets a factor 0."""
    return np.log(p, where=p > 0, out=np.zeros_like(p))


# ── the problem, scaled ─────────────────────────────────────────────────────────────────────────────────────────────


class _Problem:
    """The data over ``unit``, less the constant ``peak``: the largest of ``net`` = scores − penalty is 0 to rounding."""

    def __init__(
        self, scores: ArrayLike, regularizer: _Regularizer, penalty: ArrayLike | None = None, epsilon: float = 1.0
    ) -> None:
        s = finite("scores", scores, "m")
        c = np.zeros_like(s) if penalty is None else vector("penalty", penalty, s.size)
        check_positive("epsilon", epsilon)
        self.regularizer, self.unit, self.size = regularizer, float(epsilon), s.size
        with np.errstate(over="ignore", invalid="ignore"):
            self.peak = float((s - c).max())
            self.scores, self.penalty = (s - self.peak) / epsilon, c / epsilon
            self.net = self.scores - self.penalty
        if not (np.isfinite(self.scores).all() and np.isfinite(self.penalty).all() and np.isfinite(self.net).all()):
            raise ValueError(f"epsilon: expected the spread of the scores over it to be finite, got {epsilon!r} for {s!r}")

    def objective(self, plan: Vector) -> float:
        terms = np.concatenate([-plan * self.scores, plan * self.penalty, self.regularizer.value(plan)])
        return math.fsum(terms)


@lru_cache(maxsize=64)
def _compiled(m: int, regularizer: _Regularizer) -> tuple[cp.Problem, cp.Parameter, cp.Parameter, cp.Variable]:
    p, s, c = cp.Variable(m), cp.Parameter(m), cp.Parameter(m)
    objective = -(s @ p) + regularizer.term(p) + c @ p
    return cp.Problem(cp.Minimize(objective), [p >= 0, cp.sum(p) == 1]), s, c, p


def _program(problem: _Problem, used: NDArray[np.bool_]) -> tuple[Vector, str]:
    """Return the solver's plan on some of the columns, put back into the simplex, and its status."""
    program, scores, penalty, variable = _compiled(int(used.sum()), problem.regularizer)
    scores.value, penalty.value = problem.scores[used], problem.penalty[used]
    with np.errstate(invalid="ignore"):  # the solver's p may be slightly negative
        value, status = conic.solve(program, variable, problem.net)
    plan = np.zeros(problem.size)
    plan[used] = np.clip(value, 0.0, None)
    return plan / plan.sum(), status


def _polish(problem: _Problem, plan: Vector) -> Vector:
    """Take Newton steps on J while they lower it, from the plan with a small weight on every column.

    Each is tried with every column, first limited to a tenfold shrinking and then not, and without those that are
    nearly empty.
    """
    best = np.maximum(plan, _MIN_MASS) / np.maximum(plan, _MIN_MASS).sum()
    value = problem.objective(best)
    for _ in range(16):
        trials = [_newton(problem, np.where(best > cutoff, best, 0.0), min_share) for cutoff, min_share in _TRIALS]
        values = [problem.objective(trial) for trial in trials]
        if not min(values) < value:
            break
        value = min(values)
        best = trials[values.index(value)]
    return best if value < problem.objective(plan) else plan


def _newton(problem: _Problem, plan: Vector, min_share: float) -> Vector:
    """Take one Newton step on J along the face that the plan is on.

    The Hessian is diag(ω″), so the step that keeps the mass is −(slope_j − mean)/ω″_j, with the mean of the slopes
    weighted by 1/ω″. It stops where a column has the share ``min_share`` of its mass left; if that is 0, the column leaves
    the face, and the step is repeated.
    """
    face = plan > 0
    while True:
        slope = problem.regularizer.slope(plan[face]) - problem.net[face]
        weight = 1 / np.maximum(problem.regularizer.curvature(plan[face]), _MIN_MASS)
        trial = np.zeros_like(plan)
        missing = 1 - plan[face].sum()
        trial[face] = plan[face] - weight * (slope - (weight @ slope + missing) / weight.sum())
        if min_share or (trial >= 0).all():
            break
        face &= trial > 0
    trial = np.maximum(trial, min_share * plan)
    return np.asarray(trial / trial.sum())


def _level(problem: _Problem) -> float:
    """Maximize the concave g(λ) by bisection on its slope 1 − Σ_j p_j(λ), which falls as λ grows.

    The largest p_j(λ) is where ω′ = λ + the largest net score: it is 1/m at the lower end and 1 at the upper.
    """
    low, high = map(float, problem.regularizer.slope(np.array([1 / problem.size, 1.0])) - problem.net.max())
    for _ in range(100):
        middle = (low + high) / 2
        if math.fsum(problem.regularizer.best(problem.net + middle)) > 1:
            high = middle
        else:
            low = middle
    return low


# ── the certificate ─────────────────────────────────────────────────────────────────────────────────────────────────


def _solve(problem: _Problem) -> Solution:
    plan, status = _program(problem, problem.net >= MIN_LOGIT)  # what that costs shows in the gap
    return _certify(problem, _polish(problem, plan), _level(problem), status)


def _certify_given(problem: _Problem, plan: ArrayLike, multiplier: float | None) -> Solution:
    p = np.asarray(plan, dtype=np.float64)
    if p.shape != problem.net.shape:
        raise ValueError(f"plan: expected the shape of the scores {problem.net.shape}, got {p.shape}")
    if multiplier is not None and not math.isfinite(multiplier):
        raise ValueError(f"multiplier: expected a finite number, got {multiplier!r}")
    level = _level(problem) if multiplier is None else (multiplier + problem.peak) / problem.unit
    return _certify(problem, p, level, "given")


def _certify(problem: _Problem, plan: Vector, level: float, status: str) -> Solution:
    omega = problem.regularizer
    excess = abs(math.fsum(plan) - 1.0) if (plan >= 0).all() else math.inf
    feasible = excess <= tolerances.rounding("float64", problem.size)
    z = problem.net + level
    with np.errstate(over="ignore"):
        best = omega.best(z)
        conjugate = omega.conjugate(best)
    conjugate[~(conjugate <= OVERFLOW)] = np.inf
    bound = level - math.fsum(conjugate)
    objective = gap = error = math.inf
    if feasible:
        objective = problem.objective(plan)
        # Sums are exact here; every term is off by a few units in the last place of the magnitudes that made it.
        data = 1.0 + np.abs(problem.scores) + np.abs(problem.penalty)
        magnitude = float(plan @ data + np.abs(omega.value(plan)).sum()) + abs(level)
        if math.isfinite(bound):
            magnitude += float(conjugate.sum() + best @ (data + np.abs(z)))
            gap = objective - bound + tolerances.rounding("float64", 1, magnitude) + excess * abs(level)
            error = _error(omega, plan, z, gap)
    return Solution(
        plan=plan,
        objective=problem.unit * objective - problem.peak,
        bound=problem.unit * bound - problem.peak,
        gap=problem.unit * gap,
        error=error,
        multiplier=problem.unit * level - problem.peak,
        status=status,
        certified=0.0 <= gap <= tolerances.SOLVER_GAP,
    )


def _error(omega: _Regularizer, plan: Vector, z: Vector, gap: float) -> float:
    """Bound ‖p − p*‖₂: by strong convexity, and by an interval for each p*_j (see the module's note on the error)."""
    error = tolerances.plan_from_strong_convexity(max(gap, 0.0), omega.modulus) if omega.modulus else math.inf
    centre = np.clip(omega.best(z), 0.0, 1.0)
    conjugate = omega.conjugate(omega.best(z))

    def possible(p: Vector) -> NDArray[np.bool_]:
        value = omega.value(p)
        slack = 16 * tolerances.eps("float64") * (np.abs(value) + conjugate + np.abs(z) * p)
        return value + conjugate - z * p - slack <= gap

    farthest = np.zeros_like(plan)
    for end in (np.zeros_like(plan), np.ones_like(plan)):  # the terms grow towards both ends of [0, 1]
        inside, outside = centre, end
        for _ in range(60):
            middle = (inside + outside) / 2
            inside, outside = np.where(possible(middle), middle, inside), np.where(possible(middle), outside, middle)
        farthest = np.maximum(farthest, np.abs(np.where(possible(end), end, outside) - plan))
    return min(error, math.sqrt(math.fsum(farthest**2)))
