"""Maximum entropy on the mean: the problem (4) of Deciphering as a convex program, with a certificate.

Minimize  P(p) = α/2 ‖(μ + z) − Σ_i p_i t_i‖² + KL(p ‖ u)  over the simplex. The plan comes from a conic solver; Newton
steps on P sharpen it. Its duality gap is computed here, and nothing else decides whether it is accepted.

Claims      deciphering.4, deciphering.5, deciphering.thm1 (weak duality; what (4) is, without its dual)
Notation    t = templates, (n, d); u = prior; μ = Σ u_i t_i; z = evidence; α = alpha; h = Σ p_i t_i, mean;
            r = μ + z − h, residual; λ = multiplier of r
Duality     P is  w‖r‖²/2 + η KL(p ‖ u)  with w = α, η = 1. Fenchel–Young twice: w‖r‖²/2 ≥ ⟨λ, r⟩ − ‖λ‖²/(2w), and for the
            conjugate pair KL(· ‖ u) on the simplex and log Σ u_i e^(x_i):  η KL(p ‖ u) ≥ ⟨λ, h⟩ − η log Σ_i u_i e^(⟨t_i, λ⟩/η).
            The sum is  D(λ) = ⟨λ, μ + z⟩ − ‖λ‖²/(2w) − η log Σ_i u_i e^(⟨t_i, λ⟩/η) ≤ P(p),  for every λ and p. It is the
            bound of ``entropic`` at the best price of Σ p = 1; any other price gives a lower one.
Error       P(q) − P(p*) = η KL(q ‖ p*) + w/2 ‖h_q − h*‖²: q ↦ P(q) is a quadratic and a KL divergence, and on the support of
            u its slope at p* is constant. So ‖q − p*‖₁ ≤ √(2 gap/η), ‖h_q − h*‖ ≤ √(2 gap/w), and with λ = w r,
            ‖λ_q − λ*‖ ≤ √(2 w gap).
Support     Where u_i = 0, KL forces p_i = 0: the program is stated over the support of u.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from numerics import tolerances
from numerics.primal import conic, entropic
from numerics.primal.arguments import Array, check_positive, distribution, finite, vector
from numerics.primal.conic import cp


@dataclass(frozen=True)
class Problem:
    """Templates, prior and evidence, checked; ``used`` is the support of the prior.

    Attributes:
        templates: t, float64, (n, d).
        prior: u, float64, (n,), summing to one.
        evidence: z, float64, (d,).
        used: bool, (n,).
        prior_mean: μ, float64, (d,).
    """

    templates: Array
    prior: Array
    evidence: Array
    used: NDArray[np.bool_]
    prior_mean: Array

    def program(self, penalty: entropic.Penalty, information: float = 1.0) -> entropic.Program:
        """Return φ(μ + z − Σ p_i t_i) + η KL(p ‖ u) over the support, with the origin moved to μ."""
        return entropic.Program(
            cost=-information * np.log(self.prior[self.used]),
            temperature=information,
            operator=(self.templates[self.used] - self.prior_mean).T,
            target=self.evidence,
            penalty=penalty,
            incidence=np.ones((1, int(self.used.sum()))),
            totals=np.ones(1),
            operator_error=2 * tolerances.eps("float64") * self.size,
            target_error=tolerances.rounding("float64", self.prior.size, math.sqrt(self.evidence.size) * self.size),
        )

    @property
    def size(self) -> float:
        """The largest magnitude among the templates that are used."""
        return float(np.abs(self.templates[self.used]).max())

    def spread(self, weights: Array) -> Array:
        """Return p over all templates, with zeros off the support."""
        plan = np.zeros_like(self.prior)
        plan[self.used] = weights
        return plan


@dataclass(frozen=True)
class Estimate:
    """A plan, its mean, and how far from optimal they can be.

    Attributes:
        plan: p, float64, (n,), in the simplex.
        mean: h = Σ p_i t_i, float64, (d,).
        multiplier: λ, float64, (d,).
        objective: P(p); ``inf`` for a plan outside the simplex or with mass where u has none, and so is the gap.
        bound: D(λ), below the objective of every plan, to rounding.
        gap: a bound on P(p) − P(p*), rounding included; the term-by-term difference of objective and bound.
        value_error: a bound on the distance of ``objective`` from P(p*).
        plan_error: a bound on ‖p − p*‖₁.
        mean_error: a bound on ‖h − h*‖₂.
        multiplier_error: a bound on ‖λ − λ*‖₂; ``inf`` where the first term of P is not a squared norm.
        status: as reported by the solver. It decides nothing.
        certified: whether the gap is within ``tolerances.SOLVER_GAP`` times η.
    """

    plan: Array
    mean: Array
    multiplier: Array
    objective: float
    bound: float
    gap: float
    value_error: float
    plan_error: float
    mean_error: float
    multiplier_error: float
    status: str
    certified: bool


def solve(templates: ArrayLike, prior: ArrayLike, evidence: ArrayLike, alpha: float) -> Estimate:
    """Solve (4).

    Args:
        templates: t, finite, (n, d) with n, d ≥ 1, taken as float64; repeated ones are allowed.
        prior: u, (n,), nonnegative, summing to one; zeros are allowed.
        evidence: z, finite, (d,).
        alpha: α, positive and finite.

    Raises:
        ValueError: for arguments other than these.
        RuntimeError: if the solver returned no plan at all.
    """
    problem = checked(templates, prior, evidence)
    check_positive("alpha", alpha)
    weights, status = solve_conic(problem, lambda r, kl: alpha / 2 * cp.sum_squares(r) + kl)
    return certified_estimate(problem, weights, alpha, 1.0, status)


def certify(
    plan: ArrayLike,
    templates: ArrayLike,
    prior: ArrayLike,
    evidence: ArrayLike,
    alpha: float,
    multiplier: ArrayLike | None = None,
) -> Estimate:
    """Certify a plan for (4) that comes from elsewhere, with status "given".

    Args:
        plan: p, (n,). One outside the simplex (by more than rounding), or not zero where u is, gets the gap ``inf``.
        templates: t, finite, (n, d).
        prior: u, (n,).
        evidence: z, finite, (d,).
        alpha: α, positive and finite.
        multiplier: λ, finite, (d,); without it, α r.

    Raises:
        ValueError: for shapes or numbers other than these.
    """
    problem = checked(templates, prior, evidence)
    check_positive("alpha", alpha)
    p = np.asarray(plan, dtype=np.float64)
    if p.shape != problem.prior.shape:
        raise ValueError(f"plan: expected the shape of the prior {problem.prior.shape}, got {p.shape}")
    program = problem.program(entropic.Quadratic(alpha))
    finite = np.isfinite(p).all()
    lam = alpha * program.residual(p[problem.used]) if finite else np.zeros_like(problem.evidence)
    if multiplier is not None:
        lam = vector("multiplier", multiplier, problem.evidence.size)
    return judged(problem, p, program, lam, "given")


# ── what the variants share ─────────────────────────────────────────────────────────────────────────────────────────


def checked(templates: ArrayLike, prior: ArrayLike, evidence: ArrayLike) -> Problem:
    """Return the problem of these arguments, or raise the ``ValueError`` that names the one that is wrong."""
    t = finite("templates", templates, "n", "d")
    u = distribution("prior", prior, t.shape[0])
    return Problem(t, u, vector("evidence", evidence, t.shape[1]), u > 0, u @ t)


def solve_conic(
    problem: Problem,
    objective: Callable[[cp.Expression, cp.Expression], cp.Expression],
    constraint: Callable[[cp.Expression], cp.Constraint] | None = None,
) -> tuple[Array, str]:
    """State a program in r and KL(p ‖ u) to the solver; return p on the support, in the simplex, and the status."""
    t, u = problem.templates[problem.used], problem.prior[problem.used]
    p, r = cp.Variable(u.size), cp.Variable(problem.evidence.size)
    divergence = -cp.sum(cp.entr(p)) - np.log(u) @ p
    constraints = [r == problem.prior_mean + problem.evidence - t.T @ p, cp.sum(p) == 1, p >= 0]
    constraints += [] if constraint is None else [constraint(r)]
    statement = cp.Problem(cp.Minimize(objective(r, divergence)), constraints)
    value, status = conic.solve(statement, p, f"templates of shape {t.shape}")
    weights = np.clip(value, 0.0, None)
    return weights / weights.sum(), status


def certified_estimate(problem: Problem, weights: Array, weight: float, information: float, status: str) -> Estimate:
    """Sharpen the solver's p for  w‖r‖²/2 + η KL(p ‖ u)  and judge it."""
    program = problem.program(entropic.Quadratic(weight), information)
    sharpened, multiplier = entropic.sharpen(program, weights, weight)
    return judged(problem, problem.spread(sharpened), program, multiplier, status)


def judged(problem: Problem, plan: Array, program: entropic.Program, multiplier: Array, status: str) -> Estimate:
    """Certify p with the multiplier λ."""
    inside = not plan[~problem.used].any()
    weights = plan[problem.used] if inside else np.full(program.cost.size, np.nan)
    # The best price of Σ p = 1: it makes the bound D(λ).
    price = program.temperature * (1.0 - logsumexp((program.operator.T @ multiplier - program.cost) / program.temperature))
    verdict = entropic.certify(program, weights, multiplier, np.array([price]))
    weight = program.penalty.weight if isinstance(program.penalty, entropic.Quadratic) else None
    error = mean_error(program, verdict.gap, weight)
    multiplier_error = math.inf
    if weight is not None and math.isfinite(error):
        # λ* = w r*: ‖λ − λ*‖ ≤ ‖λ − w r‖ + w‖r − r*‖.
        multiplier_error = entropic.length(multiplier - weight * program.residual(weights)) + weight * error
    return Estimate(
        plan=plan,
        mean=plan @ problem.templates if np.isfinite(plan).all() else np.full_like(problem.evidence, np.nan),
        multiplier=multiplier,
        objective=verdict.objective,
        bound=verdict.bound,
        gap=verdict.gap,
        value_error=verdict.value_error,
        plan_error=tolerances.plan_from_gap(verdict.gap, program.temperature),
        mean_error=error,
        multiplier_error=multiplier_error,
        status=status,
        certified=verdict.certified,
    )


def mean_error(program: entropic.Program, gap: float, weight: float | None) -> float:
    """Bound ‖h − h*‖₂: by the error of the plan and, if φ = w‖·‖²/2, by its strong convexity; rounding included."""
    if math.isinf(gap):
        return math.inf
    farthest = float(np.linalg.norm(program.operator, axis=0).max())
    bounds = [tolerances.plan_from_gap(gap, program.temperature) * farthest]
    bounds += [] if weight is None else [tolerances.plan_from_strong_convexity(gap, weight)]
    return min(bounds) + program.target_error
