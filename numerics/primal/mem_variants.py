"""The other statements of Deciphering's problem (4): constrained, penalized likelihood, and one without the square.

Each is passed to the solver as printed; readers can compare its solution with that of (4).

Claims      deciphering.6 and the constrained problem after it; deciphering.30, deciphering.31; the last display of Appendix B
Notation    as in ``mem``; ρ = radius squared, 1/(2α) in print; σ = sigma; η = eta; K = KL(p ‖ u)
Likelihood  (30): ‖r‖²/(2σ²) + η K; (31): ‖r‖²/(2ησ²) + K. The maximum of the posterior density of Appendix B, whose
            logarithm is −‖r‖²/(2σ²) − η K up to a constant, is (30) with the other sign. The last display has ‖r‖ for ‖r‖².
Duality     K ≥ ⟨λ, h⟩ − log Σ u_i e^(⟨t_i, λ⟩) as in ``mem``; h = b − r with b = μ + z.
            Constrained: ⟨λ, r⟩ ≤ √ρ‖λ‖, hence  K ≥ ⟨λ, b⟩ − √ρ‖λ‖ − log Σ u_i e^(⟨t_i, λ⟩)  for every λ and every feasible p.
            Without the square: c‖r‖ ≥ ⟨λ, r⟩ for ‖λ‖ ≤ c, hence  c‖r‖ + K ≥ ⟨λ, b⟩ − log Σ u_i e^(⟨t_i, λ⟩)  for those λ.
Multiplier  The multiplier θ of ‖r‖² ≤ ρ is that of the Lagrangian K + θ (‖r‖² − ρ): its slope is that of (4) with α = 2θ.
            At the optimum λ = 2θ r, so that 2θ = ‖λ‖/√ρ. It is found by a search over the weight of ‖r‖²/2, with the
            gap as the only judge of the result.
Distance    For any unit vector w, every point h of the hull of the t_i has ‖b − h‖ ≥ min_i ⟨w, b − t_i⟩: that certifies
            that no p is feasible.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from numerics import tolerances
from numerics.primal import entropic, mem
from numerics.primal.arguments import Array, check_positive
from numerics.primal.conic import cp

# The search over log w goes by this stride, this often, and ends this close.
_STRIDE, _STRIDES, _NEAREST = 2.5, 16, 1e-15

# Stands for a residual of zero in a logarithm.
_TINY = 1e-300


@dataclass(frozen=True)
class Constrained:
    """A plan of the constrained problem, or a certificate that there is none.

    Attributes:
        plan: p, float64, (n,); the one nearest to the constraint, if no p is feasible.
        mean: h, float64, (d,).
        objective: KL(p ‖ u); ``inf`` if p is not feasible.
        bound: the dual objective, below KL of every feasible p; ``inf`` if there is none.
        gap: a bound on KL(p ‖ u) − KL(p* ‖ u); ``inf`` if p is not feasible.
        value_error: a bound on the distance of ``objective`` from KL(p* ‖ u).
        plan_error: a bound on ‖p − p*‖₁.
        multiplier: λ, float64, (d,), of r = μ + z − h; zero if the constraint is slack.
        theta: θ = ‖λ‖/(2√ρ), the multiplier of ‖r‖² ≤ ρ; NaN if no p is feasible.
        distance: certified lower and upper bounds on the distance of μ + z from the hull of the support of u.
        infeasible: whether the lower one proves that no p is feasible.
        status: as reported by the solver. It decides nothing.
        certified: whether the gap is within ``tolerances.SOLVER_GAP``, or infeasibility is proved.
    """

    plan: Array
    mean: Array
    objective: float
    bound: float
    gap: float
    value_error: float
    plan_error: float
    multiplier: Array
    theta: float
    distance: tuple[float, float]
    infeasible: bool
    status: str
    certified: bool


def solve_likelihood(
    templates: ArrayLike, prior: ArrayLike, evidence: ArrayLike, sigma: float, eta: float, *, divided: bool = False
) -> mem.Estimate:
    """Minimize the penalized log likelihood (30), or (31), which is (30) divided by η.

    Args:
        templates: t, finite, (n, d).
        prior: u, (n,), nonnegative, summing to one.
        evidence: z, finite, (d,).
        sigma: σ, positive and finite.
        eta: η, positive and finite.
        divided: whether (31) is meant.

    Raises:
        ValueError: for arguments other than these, or if 1/σ² or 1/(ησ²) is not positive and finite.
        RuntimeError: if the solver returned no plan at all.
    """
    problem = mem.checked(templates, prior, evidence)
    weight = _weight(sigma, eta)
    if divided:
        weights, status = mem.solve_conic(problem, lambda r, k: cp.sum_squares(r) / (2 * eta * sigma**2) + k)
        return mem.certified_estimate(problem, weights, weight / eta, 1.0, status)
    weights, status = mem.solve_conic(problem, lambda r, k: cp.sum_squares(r) / (2 * sigma**2) + eta * k)
    return mem.certified_estimate(problem, weights, weight, eta, status)


def solve_without_square(templates: ArrayLike, prior: ArrayLike, evidence: ArrayLike, sigma: float, eta: float) -> mem.Estimate:
    """Minimize ‖r‖/(2ησ²) + KL(p ‖ u), the last display of Appendix B as it is printed.

    Args:
        templates: t, finite, (n, d).
        prior: u, (n,), nonnegative, summing to one.
        evidence: z, finite, (d,).
        sigma: σ, positive and finite.
        eta: η, positive and finite.

    Raises:
        ValueError: for arguments other than these, or if 1/(ησ²) is not positive and finite.
        RuntimeError: if the solver returned no plan at all.
    """
    problem = mem.checked(templates, prior, evidence)
    slope = _weight(sigma, eta) / eta / 2
    unit = max(1.0, slope * entropic.length(problem.evidence))  # of the objective: the solver's tolerances are absolute
    weights, status = mem.solve_conic(problem, lambda r, k: (cp.norm(r, 2) / (2 * eta * sigma**2) + k) / unit)
    program = problem.program(entropic.Norm(slope))
    # Off r = 0, the slope of c‖r‖ is that of w‖r‖²/2 with w = c/‖r‖.
    candidates = [(weights, np.zeros_like(problem.evidence)), entropic.sharpen(program, weights, math.inf)]
    candidates += _search(program, weights, lambda w, length: w * length / slope)
    candidates = [(p, lam * (slope / max(entropic.length(lam), slope))) for p, lam in candidates]
    best = min(candidates, key=lambda pair: entropic.certify(program, *pair).gap)
    return mem.judged(problem, problem.spread(best[0]), program, best[1], status)


def solve_constrained(templates: ArrayLike, prior: ArrayLike, evidence: ArrayLike, rho: float) -> Constrained:
    """Minimize KL(p ‖ u) subject to ‖μ + z − Σ p_i t_i‖² ≤ ρ.

    Args:
        templates: t, finite, (n, d).
        prior: u, (n,), nonnegative, summing to one.
        evidence: z, finite, (d,).
        rho: ρ, positive and finite; 1/(2α) in print.

    Raises:
        ValueError: for arguments other than these.
        RuntimeError: if the solver returned no plan at all.
    """
    problem = mem.checked(templates, prior, evidence)
    check_positive("rho", rho)
    radius = math.sqrt(rho)
    program = problem.program(entropic.Ball(radius))
    nearest, distance, status = _nearest(problem, program)
    if distance[0] > radius:
        return _verdict(problem, program, nearest, np.zeros_like(problem.evidence), distance, status)
    prior_itself = problem.prior[problem.used]
    candidates = [(prior_itself, np.zeros_like(problem.evidence))]
    if entropic.length(problem.evidence) > radius:
        weights = nearest
        if distance[1] <= radius:
            weights, status = mem.solve_conic(problem, lambda _, k: k, lambda r: cp.sum_squares(r) <= rho)
        candidates += _search(program, weights, lambda _, length: radius / max(length, _TINY))
    best = min(candidates, key=lambda pair: entropic.certify(program, *pair).gap)
    return _verdict(problem, program, *best, distance, status)


def _weight(sigma: float, eta: float) -> float:
    """Return 1/σ², and check that it and 1/(ησ²) are in range."""
    check_positive("sigma", sigma)
    check_positive("eta", eta)
    weight = 1 / sigma / sigma
    if not (0 < weight < math.inf and 0 < weight / eta < math.inf):
        raise ValueError(f"sigma: expected 1/σ² and 1/(ησ²) to be positive and finite, got σ = {sigma!r}, η = {eta!r}")
    return weight


def _search(program: entropic.Program, weights: Array, ratio: Callable[[float, float], float]) -> list[tuple[Array, Array]]:
    """Return candidates (p, λ) among the minima of  w‖r‖²/2 + K  for the w with ratio(w, ‖r‖) = 1; it grows with w."""
    latest = weights

    def pair(log_weight: float) -> tuple[Array, Array]:
        nonlocal latest
        latest, multiplier = entropic.sharpen(program, latest, math.exp(log_weight))
        return latest, multiplier

    @cache
    def level(log_weight: float) -> float:
        residual = entropic.length(program.residual(pair(log_weight)[0]))
        return math.log(max(ratio(math.exp(log_weight), residual), _TINY))

    low = high = -2 * math.log(entropic.length(program.target) or 1.0)
    for _ in range(_STRIDES):
        if level(low) <= 0:
            break
        low -= _STRIDE
    for _ in range(_STRIDES):
        if level(high) >= 0:
            break
        high += _STRIDE
    if not level(low) < 0 < level(high):
        return [pair(low), pair(high)]
    root = float(brentq(level, low, high, xtol=_NEAREST, rtol=_NEAREST))
    return [pair(root + _NEAREST * step) for step in (0, 1, 10, 100, 1000)]


def _nearest(problem: mem.Problem, program: entropic.Program) -> tuple[Array, tuple[float, float], str]:
    """Return the p whose mean is nearest to μ + z, with bounds on the distance of μ + z from the hull."""
    weights, status = mem.solve_conic(problem, lambda r, _: cp.sum_squares(r))
    residual = program.residual(weights)
    upper = entropic.length(residual)
    error = program.target_error + tolerances.rounding("float64", residual.size, entropic.length(problem.evidence) + upper)
    if upper == 0:
        return weights, (0.0, error), status
    lower = float((residual / upper @ (program.target[:, None] - program.operator)).min())
    return weights, (max(lower - error, 0.0), upper + error), status


def _verdict(
    problem: mem.Problem,
    program: entropic.Program,
    weights: Array,
    multiplier: Array,
    distance: tuple[float, float],
    status: str,
) -> Constrained:
    verdict = entropic.certify(program, weights, multiplier)
    plan, radius = problem.spread(weights), program.penalty.conjugate(np.eye(problem.evidence.size)[0])
    infeasible = distance[0] > radius
    return Constrained(
        plan=plan,
        mean=plan @ problem.templates,
        objective=math.inf if infeasible else verdict.objective,
        bound=math.inf if infeasible else verdict.bound,
        gap=math.inf if infeasible else verdict.gap,
        value_error=math.inf if infeasible else verdict.value_error,
        plan_error=math.inf if infeasible else tolerances.plan_from_gap(verdict.gap, 1.0),
        multiplier=multiplier,
        theta=math.nan if infeasible else entropic.length(multiplier) / (2 * radius),
        distance=distance,
        infeasible=infeasible,
        status=status,
        certified=infeasible or verdict.certified,
    )
