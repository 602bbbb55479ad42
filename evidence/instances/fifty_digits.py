"""The duals of MEM and of attention by entropic transport in 50 digits, and how a quantity behaves as α → 0, measured there.

Written from the definitions with mpmath: no closed form, no approximation and none of the project's code is used, so
that expansions can be checked to orders that float64 cannot see.

Notation  D(λ) = ⟨λ, μ + z⟩ − ‖λ‖²/(2α) − Λ(λ), where Λ = log M for a `Law`, Λ(λ) = γ Σ_j u_j log M_j(λ/γ) for a `Mixture`,
          and ∇Λ is the tilted mean; D is 1/α-strongly concave, hence ‖λ − λ*‖ ≤ α ‖∇D(λ)‖
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ParamSpec, TypeVar

import mpmath as mp

DIGITS = 50
GUARD = 10  # further digits, for sums and cancellation
LOST = 20  # digits that a division by x^order may cost, for x ≥ 1e-6

P = ParamSpec("P")
R = TypeVar("R")


def precise(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function compute with all digits."""
    computing: Callable[P, R] = mp.workdps(DIGITS + GUARD)(function)
    return computing


Vector = list[Any]  # of mpmath numbers
Numbers = Sequence[Any]  # whatever mpmath reads exactly: ints, floats, mpf


@dataclass(frozen=True)
class Law:
    """A law with n atoms in ℝ^d: `atoms` n × d, `weights` n; weights are divided by their sum."""

    atoms: tuple[tuple[Any, ...], ...]
    weights: tuple[Any, ...]

    @staticmethod
    @precise
    def of(atoms: Sequence[Numbers], weights: Numbers) -> "Law":
        """Raises ValueError for shapes that do not fit, a negative weight, or weights without mass."""
        rows = tuple(tuple(map(_read, row)) for row in atoms)
        masses = tuple(map(_read, weights))
        if not rows or len(rows) != len(masses) or len({len(row) for row in rows}) != 1 or not rows[0]:
            raise ValueError(f"atoms: expected n × d with n weights, got {len(rows)} rows and {len(masses)} weights")
        if min(masses) < 0 or sum(masses) == 0:
            raise ValueError(f"weights: expected numbers ≥ 0 with a positive sum, got {list(weights)}")
        mass = mp.fsum(masses)
        return Law(rows, tuple(w / mass for w in masses))

    @property
    def d(self) -> int:
        return len(self.atoms[0])

    @precise
    def tilted(self, dual: Vector) -> Vector:
        """i ↦ u_i exp⟨t_i, λ⟩ / M(λ)."""
        shifted, _ = self._exponentials(dual)
        mass = mp.fsum(shifted)
        return [x / mass for x in shifted]

    @precise
    def log_mgf(self, dual: Vector) -> Any:
        """log Σ_i u_i exp⟨t_i, λ⟩."""
        shifted, peak = self._exponentials(dual)
        return peak + mp.log(mp.fsum(shifted))

    @precise
    def mean(self, dual: Vector | None = None) -> Vector:
        """The mean of the law, tilted by λ."""
        p = self._masses(dual)
        return [mp.fdot(p, column) for column in zip(*self.atoms, strict=True)]

    @precise
    def covariance(self, dual: Vector | None = None) -> Any:
        """The covariance matrix of the law, tilted by λ, d × d."""
        p, center = self._masses(dual), self.mean(dual)
        deviation = [[x - c for x, c in zip(row, center, strict=True)] for row in self.atoms]
        return mp.matrix(
            [
                [mp.fsum(w * row[a] * row[b] for w, row in zip(p, deviation, strict=True)) for b in range(self.d)]
                for a in range(self.d)
            ]
        )

    def _masses(self, dual: Vector | None) -> Vector:
        return list(self.weights) if dual is None else self.tilted(dual)

    def _exponentials(self, dual: Vector) -> tuple[Vector, Any]:
        inner = [mp.fdot(row, dual) for row in self.atoms]
        peak = max(inner)
        return [w * mp.exp(x - peak) for w, x in zip(self.weights, inner, strict=True)], peak


@dataclass(frozen=True)
class Mixture:
    """Laws on the same atoms, law j with the share u_j and proportional to exp(−M_ij/γ), all of them tilted by λ/γ.

    Attributes:
        laws: one for every source.
        shares: u, divided by their sum.
        gamma: γ > 0.
    """

    laws: tuple[Law, ...]
    shares: tuple[Any, ...]
    gamma: Any

    @staticmethod
    @precise
    def of(atoms: Sequence[Numbers], shares: Numbers, costs: Sequence[Numbers], gamma: Any) -> "Mixture":
        """From costs M, one row for every atom and one column for every share."""
        scale, masses = _read(gamma), tuple(map(_read, shares))
        laws = (Law.of(atoms, [mp.exp(-_read(m) / scale) for m in column]) for column in zip(*costs, strict=True))
        return Mixture(tuple(laws), tuple(u / mp.fsum(masses) for u in masses), scale)

    @property
    def d(self) -> int:
        return self.laws[0].d

    @property
    def atoms(self) -> tuple[tuple[Any, ...], ...]:
        return self.laws[0].atoms

    @precise
    def tilted(self, dual: Vector) -> Vector:
        """i ↦ Σ_j u_j q_λ(i|j), with q_λ(i|j) proportional to exp((⟨t_i, λ⟩ − M_ij)/γ)."""
        columns = [law.tilted(self._scaled(dual)) for law in self.laws]
        return [mp.fdot(self.shares, row) for row in zip(*columns, strict=True)]

    @precise
    def log_mgf(self, dual: Vector) -> Any:
        """γ Σ_j u_j log M_j(λ/γ)."""
        return self.gamma * mp.fdot(self.shares, [law.log_mgf(self._scaled(dual)) for law in self.laws])

    @precise
    def mean(self, dual: Vector | None = None) -> Vector:
        """Σ_i p_i t_i, for the weights tilted by λ."""
        p = self.tilted([mp.mpf(0)] * self.d if dual is None else dual)
        return [mp.fdot(p, column) for column in zip(*self.atoms, strict=True)]

    @precise
    def covariance(self, dual: Vector | None = None) -> Any:
        """The derivative of the mean: Σ_j u_j Σ_j/γ, d × d, with the covariances of the laws tilted by λ/γ."""
        total = mp.zeros(self.d)
        for u, law in zip(self.shares, self.laws, strict=True):
            total += u * law.covariance(None if dual is None else self._scaled(dual))
        return total / self.gamma

    def _scaled(self, dual: Vector) -> Vector:
        return [x / self.gamma for x in dual]


@precise
def radius(law: Law | Mixture) -> Any:
    """The largest distance of an atom from the mean."""
    center = law.mean()
    return max(norm([x - c for x, c in zip(row, center, strict=True)]) for row in law.atoms)


@dataclass(frozen=True)
class Maximizer:
    """λ* with a bound on its error, ĥ and p*."""

    dual: Vector
    error: Any
    estimate: Vector
    weights: Vector


@precise
def maximize(
    law: Law | Mixture, evidence: Numbers, alpha: Any, *, start: Numbers | None = None, digits: int = DIGITS, steps: int = 200
) -> Maximizer:
    """λ* by Newton's method with halved steps, to an error of 10^-digits·max(1, ‖λ*‖).

    It is judged by the gradient at the end, not by the start, which is αz by default.
    Raises ValueError for α ≤ 0 or evidence of another length than d, ArithmeticError when `steps` do not suffice.
    """
    z, alpha = [_read(x) for x in evidence], _read(alpha)
    if not alpha > 0:
        raise ValueError(f"alpha: expected a number > 0, got {alpha}")
    if len(z) != law.d:
        raise ValueError(f"evidence: expected {law.d} entries, got {len(z)}")
    target = [m + x for m, x in zip(law.mean(), z, strict=True)]
    dual = [alpha * x for x in z] if start is None else [_read(x) for x in start]
    for _ in range(steps):
        slope = _slope(law, dual, target, alpha)
        if alpha * norm(slope) <= mp.mpf(10) ** -digits * max(1, norm(dual)):
            return Maximizer(dual, alpha * norm(slope), law.mean(dual), law.tilted(dual))
        step = mp.lu_solve(law.covariance(dual) + mp.eye(law.d) / alpha, mp.matrix(slope))
        dual = _improved(law, dual, list(step), target, alpha)
    raise ArithmeticError(f"maximize: no maximizer after {steps} steps at alpha = {alpha}")


@precise
def resolvent(law: Law | Mixture, evidence: Numbers, alpha: Any) -> Vector:
    """(I/α + Σ)⁻¹ z, with the derivative Σ of the mean at 0."""
    return list(mp.lu_solve(law.covariance() + mp.eye(law.d) / _read(alpha), mp.matrix([_read(x) for x in evidence])))


@precise
def value(law: Law | Mixture, dual: Vector, target: Vector, alpha: Any) -> Any:
    """D(λ) = ⟨λ, target⟩ − ‖λ‖²/(2α) − Λ(λ)."""
    return mp.fdot(dual, target) - norm(dual) ** 2 / (2 * alpha) - law.log_mgf(dual)


@precise
def norm(vector: Vector) -> Any:
    """The Euclidean norm."""
    return mp.sqrt(mp.fdot(vector, vector))


@precise
def distance(left: Numbers, right: Numbers, order: int = 2) -> float:
    """How far a vector is from another, in the ℓ1 or ℓ2 norm."""
    return float(mp.norm(mp.matrix([_read(x) - _read(y) for x, y in zip(left, right, strict=True)]), order))


def _slope(law: Law | Mixture, dual: Vector, target: Vector, alpha: Any) -> Vector:
    return [t - x / alpha - m for t, x, m in zip(target, dual, law.mean(dual), strict=True)]


def _improved(law: Law | Mixture, dual: Vector, step: Vector, target: Vector, alpha: Any) -> Vector:
    """Return the first of λ + step, λ + step/2, … with a shorter gradient; along Newton's step there is one."""
    current = norm(_slope(law, dual, target, alpha))
    for halving in range(60):
        trial = [x + s / 2**halving for x, s in zip(dual, step, strict=True)]
        if norm(_slope(law, trial, target, alpha)) < current:
            return trial
    raise ArithmeticError("maximize: no step makes the gradient shorter")


# ── behaviour as α → 0 ──────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Leading:
    """The limit of f(x)/x^order as x → 0, entry by entry, with a bound on the error of the extrapolation."""

    values: list[Any]
    error: Any


@precise
def leading(f: Callable[[Any], Numbers], order: int, start: Any, halvings: int = 9) -> Leading:
    """lim f(x)/x^order by Richardson's extrapolation over x = start, start/2, …, start/2^halvings.

    For an f that is analytic at 0 with a zero of at least that order the errors of the extrapolations fall faster than
    any power of 2, so the last difference bounds the error of the last but one; the last is returned.
    Raises ValueError for a start ≤ 0 or fewer than 3 halvings, ArithmeticError when the differences do not fall so (f
    vanishes to a lower order, or is not analytic, or `start` is too large).
    """
    if not start > 0 or halvings < 3:
        raise ValueError(f"start, halvings: expected > 0 and ≥ 3, got {start} and {halvings}")
    points = [mp.mpf(start) / 2**k for k in range(halvings + 1)]
    columns = zip(*[[_read(y) / x**order for y in f(x)] for x in points], strict=True)
    limits = [_extrapolated(list(column)) for column in columns]
    return Leading([v for v, _ in limits], max((e for _, e in limits), default=mp.mpf(0)))


def _extrapolated(column: Vector) -> tuple[Any, Any]:
    best, noise = [column[0]], (1 + max(map(abs, column))) * mp.mpf(10) ** (LOST - DIGITS)
    for degree in range(1, len(column)):
        column = [y + (y - x) / (2**degree - 1) for x, y in pairwise(column)]
        best.append(column[0])
    deviation = [abs(y - x) for x, y in pairwise(best)]
    if deviation[-1] > noise and not deviation[-1] < deviation[-3] / 4:
        raise ArithmeticError(f"leading: the extrapolations {list(map(mp.nstr, best[-4:]))} do not settle")
    return best[-1], deviation[-1] + noise


@precise
def small(law: Law | Mixture, evidence: Numbers, margin: int = 16) -> Any:
    """An α well inside the range where λ*(α) is analytic: 1/margin of 1/max(R², R‖z‖), with R the law's radius.

    α·R² and α·R‖z‖ do not change when templates and evidence are multiplied by s and α is divided by s².
    """
    reach = radius(law)
    return 1 / (margin * max(reach**2, reach * norm([_read(x) for x in evidence]), mp.mpf(1) / 16))


def _read(x: Any) -> Any:
    """An exact number as mpmath's; raises ValueError for one that is not finite."""
    number = mp.mpf(x.item() if hasattr(x, "item") else x)
    if not mp.isfinite(number):
        raise ValueError(f"number: expected a finite one, got {x}")
    return number
