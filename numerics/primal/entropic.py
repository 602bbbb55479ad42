"""The common core of the entropic programs: a certificate that Fenchel–Young gives entry by entry, and Newton's steps.

Minimize  F(x) = ⟨c, x⟩ + γ Σ x log x + φ(b − A x)  over x ≥ 0 with E x = e.  The modules beside this one state their
problems as the documents print them and hand them to the conic solver; here its answer is sharpened and judged. With
c = −log u the first two terms are a Kullback–Leibler divergence from u, with a cost matrix they are entropic transport.

Notation    r = b − A x, residual; λ = multiplier of r; y = prices, the multipliers of E x = e; x̂ = image of the prices
Duality     Fenchel–Young for γ x log x, entry by entry: γ x log x + γ x̂ ≥ x · γ (log x̂ + 1) for every x̂ > 0. Fenchel–Young
            for φ: φ(r) + φ*(λ) ≥ ⟨λ, r⟩. Add them with  log x̂ = (Eᵀy + Aᵀλ − c)/γ − 1:  for every feasible x, every y, λ,
            F(x) ≥ ⟨y, e⟩ + ⟨λ, b⟩ − φ*(λ) − γ Σ x̂.
            The difference of the two sides is  γ Σ (x log(x/x̂) − x + x̂) + (φ(r) + φ*(λ) − ⟨λ, r⟩),  a sum of terms ≥ 0 of
            which each is computed without cancellation: x log(x/x̂) − x + x̂ = x h(log x − log x̂), h(δ) = e^(−δ) − 1 + δ.
            As h is flat at 0, an error of δ by rounding enters squared.
Totals      A computed x misses its totals by rounding. What is judged is x(1 + Eᵀs) with E diag(x) Eᵀ s = e − E x, which
            meets them; that moves δ, too, by a rounding error.
Error       At the minimizer x* the slope of F is constant along the feasible set (φ smooth) or grows away from it, so
            F(x) − F(x*) ≥ γ Σ x log(x/x*) + D_φ(r, r*), where D_φ = α‖r − r*‖²/2 if φ = α‖·‖²/2, and at least 0 always.
"""

import math
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from numerics import tolerances
from numerics.primal.arguments import Array

# Newton's method starts with no entry below this. It stops when this many steps in a row bring nothing and no entry that
# matters is on its way to another order of magnitude, or after so many steps.
_MIN_MASS = 1e-20
_PATIENCE, _STEPS = 4, 150

# Exponentials beyond this would overflow in sums; the gap is then infinite, which is valid, if useless.
_LARGEST_EXPONENT = 690.0

# The relative error of a norm, a quotient and a product, with room to spare.
_LAST_PLACES = 16 * tolerances.eps("float64")


class Penalty(Protocol):
    """A convex function of the residual, with its conjugate."""

    def value(self, residual: Array) -> float:
        """Return φ(r)."""

    def conjugate(self, multiplier: Array) -> float:
        """Return φ*(λ)."""

    def mismatch(self, residual: Array, multiplier: Array, error: float) -> float:
        """Return the largest φ(r) + φ*(λ) − ⟨λ, r⟩ of the residuals within ``error`` of this one, rounding included."""


@dataclass(frozen=True)
class Quadratic:
    """φ(r) = w‖r‖²/2, φ*(λ) = ‖λ‖²/(2w)."""

    weight: float

    def value(self, residual: Array) -> float:
        """Return w‖r‖²/2."""
        return self.weight / 2 * math.fsum(residual**2)

    def conjugate(self, multiplier: Array) -> float:
        """Return ‖λ‖²/(2w)."""
        return math.fsum(multiplier**2) / (2 * self.weight)

    def mismatch(self, residual: Array, multiplier: Array, error: float) -> float:
        """Return ‖w r − λ‖²/(2w), after a move of r."""
        distance = length(residual - multiplier / self.weight)
        return self.weight / 2 * (distance * (1 + _LAST_PLACES) + _LAST_PLACES * length(multiplier) / self.weight + error) ** 2


@dataclass(frozen=True)
class Norm:
    """φ(r) = w‖r‖, without the square; φ*(λ) = 0 for ‖λ‖ ≤ w, and infinite beyond."""

    weight: float

    def value(self, residual: Array) -> float:
        """Return w‖r‖."""
        return self.weight * length(residual)

    def conjugate(self, multiplier: Array) -> float:
        """Return 0 or ``inf``."""
        return 0.0 if length(multiplier) <= self.weight * (1 + _LAST_PLACES) else math.inf

    def mismatch(self, residual: Array, multiplier: Array, error: float) -> float:
        """Return w‖r‖ − ⟨λ, r⟩, after a move of r.

        It is w‖r‖ (‖v − r̂‖² + 1 − ‖v‖²)/2 with v = λ/w, r̂ = r/‖r‖. Its slope in r is w (r̂ − v), its curvature at most w/‖r‖.
        """
        size, v = length(residual), multiplier / self.weight
        if size <= 2 * error:
            return 2 * self.weight * (size + error) + self.conjugate(multiplier)
        slope = length(v - residual / size) + _LAST_PLACES
        short = max(1.0 - math.fsum(v**2) - _LAST_PLACES, 0.0) / 2
        change = slope * error + error**2 / size
        return self.weight * (size * (slope**2 / 2 + short) + change) + self.conjugate(multiplier)


@dataclass(frozen=True)
class Ball:
    """φ(r) = 0 for ‖r‖ ≤ R, and infinite beyond; φ*(λ) = R‖λ‖."""

    radius: float

    def value(self, residual: Array) -> float:
        """Return 0, or ``inf`` beyond what rounding explains."""
        return 0.0 if length(residual) <= self.radius * (1 + _LAST_PLACES) else math.inf

    def conjugate(self, multiplier: Array) -> float:
        """Return R‖λ‖."""
        return self.radius * length(multiplier)

    def mismatch(self, residual: Array, multiplier: Array, error: float) -> float:
        """Return R‖λ‖ − ⟨λ, r⟩, after a move of r."""
        excess = self.conjugate(multiplier) - math.fsum(multiplier * residual)
        rounding = tolerances.rounding("float64", residual.size, 2 * self.conjugate(multiplier))
        return max(excess, 0.0) + rounding + length(multiplier) * error + self.value(residual)


def length(vector: Array) -> float:
    """Return ‖·‖₂."""
    return math.sqrt(math.fsum(vector**2))


@dataclass(frozen=True)
class Program:
    """The data of one program over N entries, with d residuals and k totals.

    Attributes:
        cost: c, float64, (N,), finite.
        temperature: γ > 0.
        operator: A, float64, (d, N); d = 0 if there is no φ.
        target: b, float64, (d,).
        penalty: φ.
        incidence: E, zeros and ones, float64, (k, N).
        totals: e, float64, (k,), positive.
        operator_error: how far rounding may have moved an entry of A.
        target_error: how far rounding may have moved b, in the Euclidean norm.
    """

    cost: Array
    temperature: float
    operator: Array
    target: Array
    penalty: Penalty
    incidence: Array
    totals: Array
    operator_error: float = 0.0
    target_error: float = 0.0

    def residual(self, x: Array) -> Array:
        """Return r = b − A x, (d,)."""
        return np.asarray(self.target - self.operator @ x)


@dataclass(frozen=True)
class Certificate:
    """The certificate that weak duality gives for one x.

    Attributes:
        objective: F(x); ``inf`` for an x that is not feasible (by more than rounding), and so is the gap.
        bound: the dual objective at (y, λ), below F of every feasible x.
        gap: a bound on F(x) − F(x*), computed term by term, rounding included.
        value_error: a bound on the distance from ``objective`` to F(x*): the gap and the rounding of the objective.
        prices: y, float64, (k,).
        multiplier: λ, float64, (d,).
        certified: whether the gap is within ``tolerances.SOLVER_GAP`` times γ.
    """

    objective: float
    bound: float
    gap: float
    value_error: float
    prices: Array
    multiplier: Array
    certified: bool


def certify(program: Program, x: Array, multiplier: Array, prices: Array | None = None) -> Certificate:
    """Bound the distance of F(x) from its minimum by weak duality.

    Args:
        program: the data.
        x: float64, (N,). Negative, NaN or with other totals: refused with an infinite gap.
        multiplier: λ, float64, (d,), any.
        prices: y, float64, (k,), any; without them, those with which x̂ is nearest x in the mean.
    """
    gamma, incidence, operator = program.temperature, program.incidence, program.operator
    proper = bool(np.isfinite(x).all() and (x >= 0).all())
    missing = _missing(program, x) if proper else np.full(program.totals.size, np.inf)
    if not (np.abs(missing) <= tolerances.rounding("float64", x.size, 2.0)).all():
        y = np.zeros(program.totals.size) if prices is None else prices
        return Certificate(math.inf, -math.inf, math.inf, math.inf, y, multiplier, False)

    tilted = program.cost - operator.T @ multiplier
    y = _prices(program, x, tilted) if prices is None else prices
    logarithm = np.log(x, where=x > 0, out=np.full_like(x, -np.inf))
    exponent = (incidence.T @ y - tilted) / gamma - 1.0
    correction = np.abs(_correction(program, x))
    magnitude = np.abs(program.cost) + np.abs(operator.T) @ np.abs(multiplier) + incidence.T @ np.abs(y)
    exponent_error = tolerances.rounding("float64", y.size + multiplier.size) * (1.0 + magnitude / gamma) + 2 * correction
    exponent_error += program.operator_error * float(np.abs(multiplier).sum()) / gamma

    residual, size = program.residual(x), length(np.abs(program.target) + np.abs(operator) @ x)
    error = tolerances.rounding("float64", x.size, size) + float(correction.max()) * size
    error += program.target_error + math.sqrt(residual.size) * program.operator_error
    mismatch = program.penalty.mismatch(residual, multiplier, error) if residual.size else 0.0
    gap = gamma * _divergence(x, logarithm, exponent, exponent_error) + mismatch

    terms = np.concatenate([program.cost * x, gamma * x[x > 0] * logarithm[x > 0]])
    objective = math.fsum(terms) + program.penalty.value(residual)
    image = math.inf if exponent.max() > _LARGEST_EXPONENT else gamma * math.fsum(np.exp(exponent))
    bound = math.fsum(np.concatenate([y * program.totals, multiplier * program.target]))
    bound -= program.penalty.conjugate(multiplier) + image
    scale = math.fsum(np.abs(terms)) + gamma * math.fsum(x) + math.fsum(program.totals * np.abs(y))
    scale += program.penalty.value(residual)
    return Certificate(
        objective=objective,
        bound=bound,
        gap=gap,
        value_error=gap + tolerances.rounding("float64", x.size, scale) + length(multiplier) * error,
        prices=y,
        multiplier=multiplier,
        certified=0.0 <= gap <= tolerances.SOLVER_GAP * gamma,
    )


def _missing(program: Program, x: Array) -> Array:
    return np.array([math.fsum(row) for row in np.column_stack([program.totals, -program.incidence * x])])


def _correction(program: Program, x: Array) -> Array:
    """Return the Eᵀs with which x(1 + Eᵀs) meets the totals."""
    incidence = program.incidence
    return np.asarray(incidence.T @ _solve((incidence * x) @ incidence.T, _missing(program, x)))


def _prices(program: Program, x: Array, tilted: Array) -> Array:
    """Return the y with which Eᵀy − tilted comes nearest to γ (log x + 1), weighted by x: exact where x is optimal."""
    target = tilted + program.temperature * (np.log(x, where=x > 0, out=np.zeros_like(x)) + 1.0)
    weighted = program.incidence * x
    return _solve(weighted @ program.incidence.T, weighted @ target)


def _solve(matrix: Array, right: Array) -> Array:
    """Solve a symmetric semidefinite system, scaled to a unit diagonal; where it leaves a choice, take the least."""
    diagonal = np.diag(matrix)
    scale = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    return np.asarray(scale * np.linalg.lstsq(matrix * np.outer(scale, scale), scale * right)[0])


def _divergence(x: Array, logarithm: Array, exponent: Array, error: Array) -> float:
    """Return Σ (x log(x/x̂) − x + x̂) plus the effect of an ``error`` of log x − log x̂."""
    used = x > 0
    if float(np.max(np.append((exponent - np.where(used, logarithm, 0.0)), 0.0))) > _LARGEST_EXPONENT:
        return math.inf
    delta = logarithm[used] - exponent[used]
    small = np.abs(delta) < 1e-3
    series = delta**2 / 2 - delta**3 / 6 + delta**4 / 24 - delta**5 / 120
    value = np.where(small, series, np.expm1(-delta) + delta)
    # h(δ + o) − h(δ) ≤ |1 − e^(−δ)| o + e^(−δ) o² for o ≤ 1.
    perturbed = np.abs(np.expm1(-delta)) * error[used] + np.exp(-delta) * error[used] ** 2
    unused = math.fsum(np.exp(exponent[~used]) * (1.0 + error[~used]))
    total = (1 + _LAST_PLACES) * math.fsum(x[used] * (value + perturbed)) + unused
    return total if float(error.max()) <= 1 else math.inf


def sharpen(program: Program, x: Array, weight: float) -> tuple[Array, Array]:
    """Take Newton steps on F with φ = w‖·‖²/2, or on F with r = 0 if w is infinite, and return the best x, with its λ.

    The step dx and the new multipliers (y, λ) solve  γ dx/x = Eᵀy + Aᵀλ − c − γ (log x + 1),  E dx = e − E x,  and
    A dx = r − λ/w. Entries lose at most nine tenths of their mass at a time, so that none changes its sign.

    Args:
        program: the data; its own penalty counts only if w is infinite.
        x: float64, (N,).
        weight: w > 0. If it is finite, λ = w r.
    """
    penalized = math.isfinite(weight)
    judge = replace(program, penalty=Quadratic(weight)) if penalized else program
    gamma, totals = program.temperature, program.totals
    rows = np.vstack([program.incidence, program.operator])
    damping = np.diag(np.concatenate([np.zeros(totals.size), np.full(program.target.size, gamma / weight)]))

    current = np.maximum(x, _MIN_MASS)
    best, multiplier, least, stale = x, np.zeros(program.target.size), math.inf, 0
    for _ in range(_STEPS):
        slope = program.cost + gamma * (np.log(current) + 1.0)
        weighted = rows * current
        missing = np.concatenate([totals - program.incidence @ current, program.residual(current)])
        duals = _solve(weighted @ rows.T + damping, weighted @ slope + gamma * missing)
        step = (rows.T @ duals - slope) / gamma
        moving = bool(((step > 0.5) | ((step < -0.5) & (current > _MIN_MASS))).any())
        current = current * np.maximum(1.0 + step, 0.1)
        current = current * np.maximum(1.0 + _correction(program, current), 0.1)
        lam = weight * program.residual(current) if penalized else duals[totals.size :]
        gap = certify(judge, current, lam).gap
        stale = 0 if gap < 0.999 * least else stale + 1
        if gap < least:
            best, multiplier, least = current, lam, gap
        if stale >= _PATIENCE and not moving:
            break
    return best, multiplier
