"""Conditions under which an expression is defined, and a check that all of its parts belong to the calculus.

A statement is proved only if both of its sides are defined on the whole declared domain: no denominator vanishes, logs are
of positive numbers, real powers of nonnegative ones, indices stay in their range.  0 log 0 = 0 is the only convention.
What cannot be read off the domains has to be a declared hypothesis.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

import sympy as sp

from derivations.calculus.deduction import deduced
from derivations.calculus.differentiation import differentiate
from derivations.calculus.functions import Partial, kl, pinsker, reciprocal, xlogx
from derivations.calculus.orders import upto
from derivations.calculus.powers import bregman, plus
from derivations.calculus.printing import text
from derivations.calculus.screening import Facts
from derivations.calculus.signs import nonnegative, nonzero, strictly_positive
from derivations.calculus.sums import normal
from derivations.calculus.variables import Variable, Vector

_OPERATIONS = (
    sp.Add,
    sp.Mul,
    sp.Pow,
    sp.exp,
    sp.log,
    sp.Abs,
    sp.KroneckerDelta,
    sp.Sum,
    sp.Indexed,
    xlogx,
    kl,
    plus,
    bregman,
    pinsker,
    reciprocal,
    upto,
    Partial,
)
_NUMBERS = tuple(map(type, (sp.Integer(2), sp.Rational(2, 3), sp.S.Zero, sp.S.One, sp.S.NegativeOne, sp.S.Half)))


class Sense(StrEnum):
    """The property that a part of an expression must have, such as being positive."""

    POSITIVE = "> 0"
    NONNEGATIVE = "≥ 0"
    NONZERO = "≠ 0"
    INDEX = "an index in range"
    INTEGER = "an integer"


@dataclass(frozen=True)
class Condition:
    """A condition under which a part of an expression has a value."""

    expr: sp.Expr
    sense: Sense

    def __str__(self) -> str:
        verb = " is" if self.sense in (Sense.INDEX, Sense.INTEGER) else ""
        return f"{text(self.expr)}{verb} {self.sense}"


def strangers(expr: sp.Basic) -> Iterator[sp.Basic]:
    """The parts of an expression that the calculus has no rules for: other functions, plain symbols, infinities, floats, and
    what was kept from being evaluated."""
    kind = type(expr)
    if (kind is Variable and _is_itself(expr) and _is_number(expr)) or kind in _NUMBERS or expr is sp.S.Exp1 or expr is sp.S.Pi:
        return
    if kind is sp.Indexed and _is_declared(expr):
        for index in expr.indices:
            yield from strangers(index)
    elif kind is sp.Sum:
        yield from strangers(expr.function)
        for var, *ends in expr.limits:
            if type(var) is not Variable or not var.domain.is_index:
                yield var
            for end in ends:
                yield from strangers(end)
    elif kind in (sp.KroneckerDelta, upto) and not all(arg.is_integer for arg in expr.args):
        yield expr
    elif kind in _OPERATIONS and kind is not sp.Indexed and _is_evaluated(expr):
        for arg in expr.args:
            yield from strangers(arg)
    else:
        yield expr


@lru_cache(maxsize=2**16)
def _is_evaluated(expr: sp.Expr) -> bool:
    """Whether evaluating an expression again leaves it unchanged; 2·(x + y), which SymPy would expand, counts, too."""
    # of others SymPy deduces falsehoods: that 3 + 0·(−1), kept from being evaluated, is even
    if isinstance(expr, plus) or expr.func(*expr.args) == expr:
        return True
    factored = isinstance(expr, sp.Mul) and len(expr.args) == 2 and expr.args[1].is_Add
    return bool(factored and expr.args[0].is_Rational and expr.args[0] not in (0, 1))


def _is_itself(var: Variable) -> bool:
    """Whether a variable is the one that its name and domain stand for, with the assumptions of this domain."""
    return Variable(var.name, var.domain) is var


def _is_number(var: Variable) -> bool:
    """Whether a variable has one number as its value: a scalar, a size or an index, no vector."""
    return var.domain.is_index or not var.domain.shape


def _is_declared(entry: sp.Indexed) -> bool:
    """Whether an entry is read from a vector of the shape that its label is declared with."""
    base, label = entry.base, entry.base.label
    if type(base) is not Vector or type(label) is not Variable or not _is_itself(label):
        return False
    return tuple(base.shape or ()) == label.domain.shape and len(entry.indices) == len(label.domain.shape) > 0


def undefined(expr: sp.Expr, facts: Facts = ()) -> list[Condition]:
    """The conditions for `expr` to have a value that cannot be shown on the domains, each once."""
    return list(dict.fromkeys(c for c in conditions(sp.sympify(expr)) if not shown(c, facts)))


def conditions(expr: sp.Expr) -> Iterator[Condition]:
    """The conditions under which an expression of the calculus has a value."""
    if isinstance(expr, sp.Indexed):
        for index, size in zip(expr.indices, expr.base.shape, strict=True):
            yield from _in_range(index, size)
        return
    if isinstance(expr, sp.Sum):
        yield from conditions(expr.function)
        for var, low, high in expr.limits:
            yield from (Condition(end, Sense.INTEGER) for end in (low, high))
            yield from (Condition(room, Sense.NONNEGATIVE) for room in (low - 1, var.domain.shape[0] - high))
        return
    if isinstance(expr, Partial):
        for part in (*expr.args, differentiate(*expr.args)):
            yield from conditions(part)
        return
    for arg in expr.args:
        yield from conditions(arg)
    yield from own_conditions(expr)


def own_conditions(expr: sp.Expr) -> Iterator[Condition]:
    """The conditions on the arguments of a power or a function, apart from their having values."""
    if isinstance(expr, sp.Pow):
        yield from _of_power(expr.base, expr.exp)
    elif isinstance(expr, sp.log):
        yield Condition(expr.args[0], Sense.POSITIVE)
    elif isinstance(expr, xlogx):
        yield Condition(expr.args[0], Sense.NONNEGATIVE)
    elif isinstance(expr, kl | pinsker):
        yield from (Condition(expr.args[0], Sense.NONNEGATIVE), Condition(expr.args[1], Sense.POSITIVE))
    elif isinstance(expr, bregman):
        yield from (Condition(arg, Sense.NONNEGATIVE) for arg in expr.args[:2])
        yield Condition(expr.args[2] - 1, Sense.POSITIVE)
    elif isinstance(expr, reciprocal | sp.sign):  # sign is the derivative of |x|, and of x₊ in part
        yield Condition(expr.args[0], Sense.NONZERO)


def _of_power(base: sp.Expr, exponent: sp.Expr) -> Iterator[Condition]:
    if exponent.is_integer:
        if not exponent.is_nonnegative:
            yield Condition(base, Sense.NONZERO)
    elif exponent.is_nonnegative:
        yield Condition(base, Sense.NONNEGATIVE)
    else:
        yield Condition(base, Sense.POSITIVE)


def _in_range(index: sp.Expr, size: sp.Expr) -> Iterator[Condition]:
    if isinstance(index, Variable) and index.domain.is_index and index.domain.shape == (size,):
        return
    yield Condition(index, Sense.INTEGER)
    if not (nonnegative(index - 1) and nonnegative(size - index)):
        yield Condition(index, Sense.INDEX)


def shown(condition: Condition, facts: Facts = ()) -> bool:
    """Whether a condition can be read off the expression as written, or off its normal form, or deduced from that."""
    if condition.sense is Sense.INDEX:
        return False
    if condition.sense is Sense.INTEGER:
        return bool(condition.expr.is_integer)
    check = {Sense.POSITIVE: strictly_positive, Sense.NONNEGATIVE: nonnegative, Sense.NONZERO: nonzero}[condition.sense]
    if check(condition.expr, facts):
        return True
    try:
        written, together = normal(condition.expr), normal(sp.factor_terms(condition.expr))
    except ValueError:
        return False
    if check(written, facts) or check(together, facts):
        return True
    return condition.sense is not Sense.NONZERO and deduced(written, condition.sense is Sense.POSITIVE, facts)
