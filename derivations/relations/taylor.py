"""An inequality of one scalar variable by Taylor's theorem: f(x) = Σ_{k<n} f⁽ᵏ⁾(a)(x − a)ᵏ/k! + f⁽ⁿ⁾(ξ)(x − a)ⁿ/n!.

With n = 2 this is the rule that f(a) = f′(a) = 0 and f″ ≥ 0 imply f ≥ 0.  The domain of a scalar is an interval, so that ξ
belongs to it; every derivative that is used has to be defined on all of it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import sympy as sp

from derivations.calculus import sums
from derivations.calculus.defined import strangers, undefined
from derivations.calculus.differentiation import differentiate
from derivations.calculus.functions import Partial
from derivations.calculus.printing import text
from derivations.calculus.screening import Facts
from derivations.calculus.signs import nonnegative, strictly_positive
from derivations.calculus.variables import Variable, apart, variables_of
from derivations.domains.base import Sign


@dataclass(frozen=True)
class Taylor:
    """An inequality's proof from derivatives in `variable` at the point `at` and the sign of the last one, the n-th."""

    variable: Variable
    at: sp.Expr
    order: int = 2

    def __post_init__(self) -> None:
        """Turn numbers into expressions; raises ValueError for an invalid variable, point or order."""
        if not isinstance(self.variable, Variable) or not self.variable.domain.is_independent or self.variable.domain.shape:
            raise ValueError(f"variable: expected a free scalar, got {self.variable}")
        object.__setattr__(self, "at", apart(sp.sympify(self.at)))
        if self.variable in self.at.free_symbols or not self._is_inside():
            raise ValueError(f"at: expected a point {self.variable.domain.words}, got {self.at}")
        if type(self.order) is not int or self.order < 1:
            raise ValueError(f"order: expected an integer ≥ 1, got {self.order}")

    def _is_inside(self) -> bool:
        sign = self.variable.domain.sign
        if sign is Sign.ANY:
            return bool(self.at.is_real)
        return strictly_positive(self.at) if sign is Sign.POSITIVE else nonnegative(self.at)

    @property
    def _forwards(self) -> bool:
        """Whether the point is the left end of the domain, so that x − a ≥ 0."""
        return self.variable.domain.sign is Sign.NONNEGATIVE and bool(self.at.is_zero)

    def remainder(self, gap: sp.Expr, strict: bool, facts: Facts) -> str:
        """Return which fact about the derivatives of `gap` is not proved; empty if `gap` is proved to be ≥ 0, or > 0."""
        if foreign := set(variables_of(self.at)) - set(variables_of(gap)):
            return f"taylor: expected a point of the statement's variables, got {', '.join(sorted(v.name for v in foreign))}"
        if strange := next(strangers(self.at), None):
            return f"taylor: {strange} ({type(strange).__name__}) is no part of the calculus"
        if missing := undefined(self.at, facts):
            return f"taylor: it is not shown that {missing[0]} in the point {text(self.at)}"
        if any(self.variable in fact.free_symbols for fact, *_ in facts):
            return f"taylor: expected hypotheses that do not restrict {self.variable}"
        if self.order % 2 and not self._forwards:
            return f"taylor: expected an even order, as {self.variable} goes to both sides of {text(self.at)}"
        for order, slope in enumerate(self._slopes(gap)):
            if missing := undefined(slope, facts):
                return f"taylor: it is not shown that {missing[0]} in the derivative of order {order}"
            if order == self.order:
                return (
                    ""
                    if any(nonnegative(form, facts) for form in _forms(slope))
                    else f"taylor: no sign of the derivative of order {order}, {text(sums.normal(slope))}"
                )
            value = sums.normal(slope.xreplace({self.variable: self.at}))  # no sum binds an index of the point: all are fresh
            if not self._is_signed(value, order, strict and order == 0, facts):
                return f"taylor: the derivative of order {order} at {text(self.at)} is {text(value)}"
        raise AssertionError("unreachable")

    def _slopes(self, gap: sp.Expr) -> Iterator[sp.Expr]:
        """The function and its derivatives up to the last one, without unevaluated ones, which `xreplace` would move along."""
        gap = gap.replace(lambda e: isinstance(e, Partial), lambda e: differentiate(*e.args))
        for _ in range(self.order + 1):
            yield gap
            gap = differentiate(gap, self.variable)

    def _is_signed(self, value: sp.Expr, order: int, strict: bool, facts: Facts) -> bool:
        if strict:
            return strictly_positive(value, facts)
        return sums.equal(value, 0) or ((order % 2 == 0 or self._forwards) and nonnegative(value, facts))


def _forms(slope: sp.Expr) -> Iterator[sp.Expr]:
    """A derivative as computed, in normal form, and factored."""
    yield slope
    yield (plain := sums.normal(slope))
    factored = sp.factor(sp.together(plain))
    if sums.equal(factored, plain):
        yield factored
