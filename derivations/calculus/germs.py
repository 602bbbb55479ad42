"""Limits by germs: leading terms of a function at one end of a path, with signs proved for all values of the parameters.

Notation   ε > 0 goes to 0, L = log ε goes to −∞.  A germ is e^P · (Σ c_kn ε^k Lⁿ + error), where P = Σ a_k ε^k has k < 0
           only, and the error is o(ε^k) for every k below the order.

Symbolic calculus gives limits for parameters in general position: (x − 5)² t/((x − 5)² t + 1) → 1 is false at x = 5.  Here a
coefficient may be a divisor, or decide which term leads, only if it is proved to be nonzero on the whole domain;
otherwise the limit is undecided.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import sympy as sp

from derivations.calculus.defined import Condition, Sense, own_conditions, shown, strangers, undefined
from derivations.calculus.differentiation import differentiate
from derivations.calculus.functions import Partial, kl, pinsker, reciprocal, xlogx
from derivations.calculus.powers import bregman, plus
from derivations.calculus.screening import Facts
from derivations.calculus.signs import nonzero, strictly_positive
from derivations.calculus.sums import normal

DEPTH = 4  # how many orders beyond the leading one are kept

Power: TypeAlias = Any  # sp.Rational
Terms = Mapping[tuple[Power, int], sp.Expr]


class UndecidedError(ValueError):
    """A sign on which a limit depends is not shown."""


@dataclass(frozen=True)
class Germ:
    """e^P · (terms + error); `exponent` holds the coefficients of P."""

    terms: Terms
    order: sp.Expr = sp.oo
    exponent: Mapping[Power, sp.Expr] = field(default_factory=dict)


def constant(value: sp.Expr) -> Germ:
    """A constant germ."""
    return Germ({(sp.S.Zero, 0): value})


class Germs:
    """The rules for germs along one path, with the known facts about the parameters."""

    def __init__(self, path: Mapping[sp.Expr, Germ], facts: Facts = ()) -> None:
        self.path = path
        self.facts = facts

    # ── signs ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def sign(self, value: sp.Expr) -> int:
        """Return 1 or −1, the proved sign; raises UndecidedError if neither is proved."""
        for candidate in (value, normal(value), sp.factor_terms(normal(value))):
            if strictly_positive(candidate, self.facts):
                return 1
            if strictly_positive(-candidate, self.facts):
                return -1
        raise UndecidedError(f"the sign of {value} decides, and is not shown")

    def _is_nonzero(self, value: sp.Expr) -> bool:
        return nonzero(value, self.facts) or nonzero(normal(value), self.facts)

    def leading(self, germ: Germ) -> tuple[Power, int, sp.Expr]:
        """The term that dominates as ε → 0: the lowest power, and there the highest power of the logarithm."""
        if not germ.terms:
            raise UndecidedError("the leading terms cancel")
        power = min(k for k, _ in germ.terms)
        logs = max(n for k, n in germ.terms if k == power)
        value = germ.terms[power, logs]
        if not self._is_nonzero(value):
            raise UndecidedError(f"{value} decides which term leads, and is not shown to be different from 0")
        return power, logs, value

    # ── arithmetic ──────────────────────────────────────────────────────────────────────────────────────────────────

    def clean(self, terms: Terms, order: sp.Expr, exponent: Mapping[Power, sp.Expr]) -> Germ:
        """A germ without terms that vanish or lie beyond its order."""
        nonzero = {key: value for key, value in terms.items() if key[0] < order and normal(value) != 0}
        return Germ(nonzero, order, {k: v for k, v in exponent.items() if normal(v) != 0})

    def add(self, one: Germ, other: Germ) -> Germ:
        """The sum, in which the larger of two exponential scales dominates."""
        compared = self._compare(one.exponent, other.exponent)
        if compared:
            return one if compared > 0 else other  # the other one is below every order of it
        terms = dict(one.terms)
        for key, value in other.terms.items():
            terms[key] = terms.get(key, sp.S.Zero) + value
        return self.clean(terms, min(one.order, other.order), one.exponent)

    def _compare(self, one: Mapping[Power, sp.Expr], other: Mapping[Power, sp.Expr]) -> int:
        """The sign of the difference of two exponents near the end of the path; 0 if they are equal."""
        gap = {k: one.get(k, sp.S.Zero) - other.get(k, sp.S.Zero) for k in (*one, *other)}
        gap = {k: v for k, v in gap.items() if normal(v) != 0}
        return self.sign(gap[min(gap)]) if gap else 0

    def multiply(self, one: Germ, other: Germ) -> Germ:
        """The product."""
        low, lower = _valuation(one), _valuation(other)
        order = min(one.order + lower, other.order + low)
        terms: dict[tuple[Power, int], sp.Expr] = {}
        for (k, n), a in one.terms.items():
            for (h, i), b in other.terms.items():
                if k + h < order:
                    terms[k + h, n + i] = terms.get((k + h, n + i), sp.S.Zero) + a * b
        keys = (*one.exponent, *other.exponent)
        exponent = {k: one.exponent.get(k, sp.S.Zero) + other.exponent.get(k, sp.S.Zero) for k in keys}
        return self.clean(terms, order, exponent)

    def _relative(self, germ: Germ) -> tuple[Power, sp.Expr, Germ]:
        """The leading power and coefficient of a germ without logarithms in front, and r in c ε^k (1 + r)."""
        power, logs, value = self.leading(germ)
        if logs or any(k == power and n != 0 for k, n in germ.terms):
            raise UndecidedError("a logarithm leads where it is divided by")
        rest = {(k - power, n): v / value for (k, n), v in germ.terms.items() if k != power}
        order = germ.order - power if germ.order == sp.oo and not rest else min(germ.order - power, sp.Integer(DEPTH))
        return power, value, self.clean(rest, order, {})

    def _series(self, r: Germ, coefficient: list[sp.Expr]) -> Germ:
        """Σ coefficient_i r^i, where r → 0."""
        value, power = constant(coefficient[0]), constant(sp.S.One)
        for c in coefficient[1:]:
            power = self.multiply(power, r)
            value = self.add(value, self.multiply(constant(c), power))
        return self.clean(value.terms, min(value.order, r.order, _valuation(r) * len(coefficient)), {})

    def invert(self, germ: Germ) -> Germ:
        """1/germ."""
        power, value, r = self._relative(germ)
        series = self._series(r, [sp.S.NegativeOne**i for i in range(2 * DEPTH)])
        shifted = {(k - power, n): v / value for (k, n), v in series.terms.items()}
        return self.clean(shifted, series.order - power, {k: -v for k, v in germ.exponent.items()})

    def log(self, germ: Germ) -> Germ:
        """The logarithm of a germ that is positive near the end."""
        power, value, r = self._relative(germ)
        if self.sign(value) < 0:
            raise UndecidedError(f"log of a negative number: {value}")
        series = self._series(r, [sp.S.Zero, *[sp.S.NegativeOne ** (i + 1) / i for i in range(1, 2 * DEPTH)]])
        front = {(sp.S.Zero, 0): sp.log(value), (sp.S.Zero, 1): power, **{(k, 0): v for k, v in germ.exponent.items()}}
        return self.add(Germ(front), series)

    def exp(self, germ: Germ) -> Germ:
        """The exponential: poles become an exponential scale, a multiple of L a power of ε."""
        if germ.exponent:
            raise UndecidedError("an exponential of an exponential")
        poles = {k: v for (k, n), v in germ.terms.items() if k < 0 and n == 0}
        logs = {(k, n): v for (k, n), v in germ.terms.items() if k <= 0 and n != 0}
        shift = logs.pop((sp.S.Zero, 1), sp.S.Zero)
        if logs or not shift.is_Rational or germ.order <= 0:
            raise UndecidedError("an exponential of a logarithm's power")
        start = germ.terms.get((sp.S.Zero, 0), sp.S.Zero)
        r = self.clean({(k, n): v for (k, n), v in germ.terms.items() if k > 0}, germ.order, {})
        series = self._series(r, [1 / sp.factorial(i) for i in range(2 * DEPTH)])
        terms = {(k + shift, n): v * sp.exp(start) for (k, n), v in series.terms.items()}
        return self.clean(terms, series.order + shift, poles)

    # ── expressions ─────────────────────────────────────────────────────────────────────────────────────────────────

    def of(self, expr: sp.Expr) -> Germ:
        """The germ of an expression; raises UndecidedError if it depends on a sign that is not proved."""
        if expr in self.path:
            return self.path[expr]
        if not any(expr.has(moving) for moving in self.path):
            return self._fixed(expr)
        if isinstance(expr, sp.Add | sp.Mul):
            value = self.of(expr.args[0])
            for arg in expr.args[1:]:
                value = (self.add if isinstance(expr, sp.Add) else self.multiply)(value, self.of(arg))
            return value
        if isinstance(expr, sp.exp):
            return self.exp(self.of(expr.args[0]))
        if isinstance(expr, sp.Pow):
            return self._power(self.of(expr.base), expr.exp)
        if isinstance(expr, sp.Sum):
            return self._sum(expr)
        if isinstance(expr, kl | bregman | pinsker | reciprocal):
            for condition in own_conditions(expr):
                self._require(condition)
            return self.of(expr.opened())
        if isinstance(expr, Partial):
            self.of(expr.args[0])  # a derivative is one of what has values
            return self.of(differentiate(*expr.args))
        return self._function(expr)

    def _fixed(self, expr: sp.Expr) -> Germ:
        """The germ of an expression that is constant along the path; raises UndecidedError if it may be undefined."""
        if strange := next(strangers(expr), None):
            raise UndecidedError(f"{strange} is no part of the calculus")
        if missing := undefined(expr, self.facts):
            raise UndecidedError(f"it is not shown that {missing[0]}")
        return self.clean(constant(expr).terms, sp.oo, {})

    def _require(self, condition: Condition) -> None:
        """Raise UndecidedError unless a condition holds near the end."""
        if shown(condition, self.facts):
            return
        _, logs, value = self.leading(self.of(condition.expr))
        if condition.sense is not Sense.NONZERO and self.sign(value) * (-1) ** logs < 0:
            raise UndecidedError(f"it is not shown that {condition}")

    def _function(self, expr: sp.Expr) -> Germ:
        if isinstance(expr, sp.Indexed | sp.KroneckerDelta):
            raise UndecidedError(f"{expr} moves with a size")
        inner = self.of(expr.args[0])
        if isinstance(expr, sp.log):
            return self.log(inner)
        if isinstance(expr, xlogx):
            return self.multiply(inner, self.log(inner))
        if isinstance(expr, plus | sp.Abs):
            _, logs, value = self.leading(inner)
            if self.sign(value) * (-1) ** logs > 0:
                return inner
            return Germ({}) if isinstance(expr, plus) else self.multiply(constant(sp.S.NegativeOne), inner)
        raise UndecidedError(f"no rule for {type(expr).__name__}")

    def _power(self, base: Germ, exponent: sp.Expr) -> Germ:
        if exponent.is_Integer and not exponent.has(*self.path):
            value = constant(sp.S.One)
            for _ in range(abs(int(exponent))):
                value = self.multiply(value, base)
            return value if exponent >= 0 else self.invert(value)
        return self.exp(self.multiply(self.of(exponent), self.log(base)))

    def _sum(self, expr: sp.Sum) -> Germ:
        """Term by term: there are finitely many."""
        if missing := undefined(sp.Sum(sp.S.One, *expr.limits), self.facts):
            raise UndecidedError(f"it is not shown that {missing[0]}")
        if any(end.has(*self.path) for _, *ends in expr.limits for end in ends):
            raise UndecidedError("the length of a sum moves")
        body, bound = self.of(expr.function), set(expr.bound_symbols)
        if any(value.free_symbols & bound for value in body.exponent.values()):
            if self._compare(body.exponent, {}) > 0:
                raise UndecidedError("which term of a sum grows fastest is not shown")
            return Germ({})  # each term is smaller than every power of ε
        return self.clean({key: sp.Sum(v, *expr.limits) for key, v in body.terms.items()}, body.order, body.exponent)

    def limit(self, expr: sp.Expr) -> sp.Expr:
        """The limit of an expression at the end of the path; raises UndecidedError if none is proved."""
        germ = self.of(expr)
        growth = self._compare(germ.exponent, {})
        if growth < 0:
            return sp.S.Zero
        if growth == 0 and all(k > 0 for k, _ in germ.terms):
            if germ.order <= 0:
                raise UndecidedError("the terms that are kept do not decide")
            return sp.S.Zero
        power, logs, value = self.leading(germ) if growth or not _settled(germ) else (sp.S.Zero, 0, germ.terms[sp.S.Zero, 0])
        if not growth and power == 0 and logs == 0:
            return normal(value)
        return self.sign(value) * (-1) ** logs * sp.oo


def _settled(germ: Germ) -> bool:
    """Whether the germ tends to its constant term, which may be 0 for some parameters."""
    return (sp.S.Zero, 0) in germ.terms and all(k > 0 or (k, n) == (0, 0) for k, n in germ.terms) and germ.order > 0


def _valuation(germ: Germ) -> sp.Expr:
    return min((k for k, _ in germ.terms), default=germ.order)
