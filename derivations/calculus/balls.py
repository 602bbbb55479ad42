"""Certified evaluation: the value of an expression at an exact point, exact if rational and else enclosed by a ball.

Every rule applies to the expression as written and none uses the normal form, so that refutations do not depend on the
proofs they are meant to check.  Two disjoint enclosures prove that two sides differ; overlapping ones prove nothing.  An
expression that is undefined at a point, such as 1/0, log 0 or an entry out of range, gives a ball that is not finite.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any, TypeAlias

import sympy as sp
from flint import arb, ctx, fmpq

from derivations.calculus.arithmetic import FUNCTIONS, Number, added, as_ball, exp, integer_power, power, undefined
from derivations.calculus.differentiation import differentiate
from derivations.calculus.functions import Partial, is_delta
from derivations.calculus.variables import Variable

Value = int | Fraction | Sequence[Any]
Point = Mapping[Variable, Value]

PRECISION = 160  # bits: 30 decimal digits with room for cancellation
FINE = 1280  # bits, used if cancellation leaves too few of the above
MOST_KNOWN = 1000  # sums that are remembered at a point
FINEST = 2**14  # bits, where values differ by one part in e^1000 or 10^1000
BLURRED = 2.0**-64  # relative radius above which a ball is recomputed with more bits


def enclose(expr: sp.Expr, point: Point) -> arb:
    """Return a ball that contains the value of `expr` at the exact point; it is not finite if `expr` is undefined there.

    Raises KeyError for a variable without a value and ValueError for a function without a rule.
    """
    (ball,) = enclose_all((expr,), point)
    return ball


def enclose_all(exprs: Iterable[sp.Expr], point: Point) -> Iterator[arb]:
    """Return `enclose` of each of several expressions; common sums are computed once, at a `Sample` once for all callers."""
    if type(point) is Close:
        evaluation = _Evaluation(point)
        return (_computed(expr if isinstance(expr, sp.Basic) else sp.sympify(expr), evaluation, FINEST) for expr in exprs)
    coarse, fine = point.evaluations() if type(point) is Sample else (_Evaluation(point), _Evaluation(point))
    return (_enclosed(expr if isinstance(expr, sp.Basic) else sp.sympify(expr), coarse, fine) for expr in exprs)


def _enclosed(expr: sp.Expr, coarse: "_Evaluation", fine: "_Evaluation") -> arb:
    """Return a ball computed with `PRECISION`, or with `FINE` if it is too wide; each precision has its own cache."""
    ball = _computed(expr, coarse, PRECISION)
    if ball.is_finite() and ball.rad() > arb(BLURRED) * abs(ball).lower():
        return _computed(expr, fine, FINE)
    return ball


def _computed(expr: sp.Expr, evaluation: "_Evaluation", precision: int) -> arb:
    saved, ctx.prec = ctx.prec, precision
    try:
        return as_ball(_rule(expr)(evaluation))
    finally:
        ctx.prec = saved


class _Evaluation(dict[Variable, Any]):
    """A point, with a cache of its vectors as exact numbers and of the sums that were computed there.

    Sizes and indices are integers, which are compared and looked up faster than rational numbers.
    """

    def __init__(self, point: Point) -> None:
        super().__init__(point)
        self.vectors: dict[Variable, Any] = {}
        self.known: dict[tuple[Any, ...], Number] = {}

    def vector(self, label: Variable) -> Any:
        """Nested tuples of exact numbers."""
        value = self.vectors.get(label)
        if value is None:
            value = self.vectors[label] = _all_exact(self[label])
        return value


class Sample(dict[Variable, Value]):
    """A point at which many expressions are evaluated, with a cache of their sums; its values must not be changed."""

    __slots__ = ("_evaluations",)

    def __init__(self, point: Point) -> None:
        super().__init__(point)
        self._evaluations: tuple[_Evaluation, _Evaluation] | None = None

    def evaluations(self) -> tuple[_Evaluation, _Evaluation]:
        """Return the caches for `PRECISION` and `FINE`, which are emptied when they grow too large."""
        if self._evaluations is None or any(len(evaluation.known) > MOST_KNOWN for evaluation in self._evaluations):
            self._evaluations = _Evaluation(self), _Evaluation(self)
        return self._evaluations


class Close(dict[Variable, Value]):
    """A point at which values are computed with so many bits that nearly equal ones are told apart."""


def _exact(value: Any) -> fmpq:
    if type(value) is Fraction:
        return fmpq(value.numerator, value.denominator)
    return fmpq(int(value.numerator), int(value.denominator))


def _all_exact(value: Any) -> Any:
    return _exact(value) if type(value) is Fraction or not isinstance(value, Sequence) else tuple(map(_all_exact, value))


# ── rules of evaluation ─────────────────────────────────────────────────────────────────────────────────────────────

Rule: TypeAlias = Callable[[_Evaluation], Number]


@lru_cache(maxsize=2**15)
def _rule(expr: sp.Expr) -> Rule:
    """Return the rule that evaluates an expression; sums, products, deltas and integer powers of rational numbers are exact."""
    if expr.is_Rational:
        number = fmpq(int(expr.p), int(expr.q))
        return lambda point: number
    if isinstance(expr, Variable):
        return _scalar(expr)
    if isinstance(expr, sp.Indexed):
        return _entry(expr)
    if isinstance(expr, sp.KroneckerDelta):
        return _delta(*expr.args)
    if isinstance(expr, sp.Sum):
        return _sum(expr)
    if isinstance(expr, sp.Add):
        terms = tuple(map(_rule, expr.args))
        return lambda point: added([term(point) for term in terms])
    if isinstance(expr, sp.Mul):
        return _product(expr)
    if isinstance(expr, sp.exp):
        argument = _rule(expr.args[0])
        return lambda point: exp(argument(point))
    if isinstance(expr, sp.Pow):
        base, exponent = _rule(expr.base), _rule(expr.exp)
        if expr.exp.is_Integer:
            integer = int(expr.exp)
            return lambda point: integer_power(base(point), integer)
        return lambda point: power(base(point), exponent(point))
    if isinstance(expr, Partial):
        return _partial(expr)
    if expr is sp.S.Pi:
        return lambda point: arb.pi()
    if expr is sp.S.Exp1:
        return lambda point: arb.const_e()
    return _function(expr)


def _function(expr: sp.Expr) -> Rule:
    function, arguments = FUNCTIONS.get(type(expr)), tuple(map(_rule, expr.args))

    def evaluated(point: _Evaluation) -> Number:
        values = [argument(point) for argument in arguments]
        if function is None:
            raise ValueError(f"expression: expected a function of the calculus, got {type(expr).__name__} in {expr}")
        return function(*values)

    return evaluated


def _scalar(variable: Variable) -> Rule:
    def evaluated(point: _Evaluation) -> Number:
        value = point[variable]
        if type(value) is int:  # which stays one: it may be an index
            return fmpq(value)
        if type(value) is not fmpq:
            value = point[variable] = _exact(value)
        return value

    return evaluated


def _delta(one: sp.Expr, other: sp.Expr) -> Rule:
    first, second = _rational(one), _rational(other)

    def evaluated(point: _Evaluation) -> Number:
        positions = point.get(one), point.get(other)
        if type(positions[0]) is int and type(positions[1]) is int:
            return fmpq(int(positions[0] == positions[1]))
        return fmpq(int(first(point) == second(point)))

    return evaluated


def _rational(expr: sp.Expr) -> Rule:
    """The exact value of an index; evaluation raises ValueError where it is not rational."""
    rule = _rule(expr)

    def evaluated(point: _Evaluation) -> Number:
        value = rule(point)
        if not isinstance(value, fmpq):
            raise ValueError(f"index: expected a rational value, got {expr}")
        return value

    return evaluated


def _integer(expr: sp.Expr) -> Callable[[_Evaluation], int]:
    """The exact value of a size or a bound; evaluation raises ValueError where it is no integer."""
    if expr.is_Integer:
        number = int(expr)
        return lambda point: number
    rule, integer_or_none = _rational(expr), _integer_or_none(expr)

    def evaluated(point: _Evaluation) -> int:
        value = integer_or_none(point)
        if value is None:
            raise ValueError(f"index: expected an integer, got {expr} = {rule(point)}")
        return value

    return evaluated


def _integer_or_none(expr: sp.Expr) -> Callable[[_Evaluation], int | None]:
    """The exact value if it is an integer, else None; evaluation raises ValueError where it is not rational."""
    rule = _rational(expr)

    def evaluated(point: _Evaluation) -> int | None:
        value = point.get(expr)
        if type(value) is int:
            return value
        value = rule(point)
        return int(value.p) if value.q == 1 else None

    return evaluated


def _entry(expr: sp.Indexed) -> Rule:
    label, indices = expr.base.label, tuple((index, _integer_or_none(index)) for index in expr.indices)

    def evaluated(point: _Evaluation) -> Number:
        value = point.vectors.get(label) or point.vector(label)
        for index, integer_or_none in indices:
            position = point.get(index)
            if type(position) is not int:
                position = integer_or_none(point)
            if position is None or not 1 <= position <= len(value):
                return undefined()
            value = value[position - 1]
        return value

    return evaluated


def _partial(expr: Partial) -> Rule:
    """A derivative, which has a value only where both the function and the variable of differentiation have one."""
    parts, derived = tuple(map(_rule, expr.args)), cache(lambda: _rule(differentiate(*expr.args)))

    def evaluated(point: _Evaluation) -> Number:
        slope, values = derived()(point), [part(point) for part in parts]
        return slope if all(isinstance(value, fmpq) or value.is_finite() for value in values) else undefined()

    return evaluated


Factor: TypeAlias = tuple[Rule, frozenset[Variable]]  # its rule, and the indices that it depends on


def _sum(expr: sp.Sum) -> Rule:
    """A sum: each factor is summed over an index only with those factors that depend on it too.

    The last limit is the outermost, and the ranges of the others may depend on it.  Where a delta may exclude a term that
    has no value, and where ranges depend on each other, all factors are one.
    """
    bound, factors = set(expr.bound_symbols), sp.Mul.make_args(expr.function)
    if any(map(is_delta, factors)) or any(end.free_symbols & bound for _, *ends in expr.limits for end in ends):
        factors = (expr.function,)
    parts = [_factor(factor) for factor in factors]
    for var, low, high in _cheapest_first(expr.limits, parts) if len(parts) > 1 else expr.limits:
        mine = [part for part in parts if var in part[1]] if len(parts) > 1 else parts
        parts = [part for part in parts if part not in mine]
        parts.append(_summed(mine, var, low, high))
    return _multiplied([rule for rule, _ in parts])


def _factor(expr: sp.Expr) -> Factor:
    return _rule(expr), frozenset(v for v in expr.free_symbols if isinstance(v, Variable) and v.domain.is_index)


def _cheapest_first(limits: Sequence[sp.Tuple], parts: Sequence[Factor]) -> list[sp.Tuple]:
    """Limits in the order of how many other indices their sums depend on."""
    return sorted(limits, key=lambda limit: len(frozenset[Variable]().union(*(free for _, free in parts if limit[0] in free))))


def _summed(factors: Sequence[Factor], var: Variable, low: sp.Expr, high: sp.Expr) -> Factor:
    """The sum of a product over one index, cached by the values of the indices that it depends on."""
    first, last, product = _integer(low), _integer(high), _multiplied([rule for rule, _ in factors])
    ends = {v for end in (low, high) for v in end.free_symbols if v.domain.is_index}
    free = frozenset(ends.union(*(indices for _, indices in factors)) - {var})
    own, order = object(), tuple(free)

    def evaluated(point: _Evaluation) -> Number:
        key = own, *[point[v] for v in order]
        value = point.known.get(key)
        if value is None:
            shadowed, value = point.get(var), fmpq(0)
            try:
                for position in range(first(point), last(point) + 1):
                    point[var] = position
                    value = value + product(point)
            finally:  # callers may catch the error and go on with this cache
                if shadowed is None:
                    point.pop(var, None)
                else:
                    point[var] = shadowed
            point.known[key] = value
        return value

    return evaluated, free


def _multiplied(rules: Sequence[Rule]) -> Rule:
    if len(rules) == 1:
        return rules[0]
    if len(rules) == 2:
        one, other = rules
        return lambda point: one(point) * other(point)

    def evaluated(point: _Evaluation) -> Number:
        value: Number = fmpq(1)
        for rule in rules:
            value = value * rule(point)
        return value

    return evaluated


def _product(product: sp.Mul) -> Rule:
    """A product; where a delta is 0, the product is 0 whatever its other factors are."""
    deltas = tuple(_rule(factor) for factor in product.args if is_delta(factor))
    others = _multiplied([_rule(factor) for factor in product.args if not is_delta(factor)])
    if not deltas:
        return others

    def evaluated(point: _Evaluation) -> Number:
        return fmpq(0) if any(delta(point) == 0 for delta in deltas) else others(point)

    return evaluated


def explicit(expr: sp.Expr, point: Point) -> sp.Expr:
    """The expression at the point with sums written out; a variable without a value stays.

    Raises ValueError for an entry out of range.
    """
    if isinstance(expr, sp.Sum):
        *inner, (var, low, high) = expr.limits  # the last limit is the outermost
        body = sp.Sum(expr.function, *inner) if inner else expr.function
        positions = range(int(explicit(low, point)), int(explicit(high, point)) + 1)
        return sp.Add(*[explicit(body, {**point, var: position}) for position in positions])
    if isinstance(expr, Variable):
        return sp.sympify(point.get(expr, expr))
    if isinstance(expr, sp.Indexed):
        value: Any = point[expr.base.label]
        for index in expr.indices:
            position = explicit(index, point)
            if not (position.is_Integer and 1 <= position <= len(value)):
                raise ValueError(f"index: expected one in 1…{len(value)} for {expr.base}, got {position}")
            value = value[int(position) - 1]
        return sp.sympify(value)
    return expr.func(*[explicit(arg, point) for arg in expr.args]) if expr.args else expr


def digits(ball: arb, count: int = 12) -> str:
    """The ball's midpoint to `count` digits, as text; 0 for a ball around 0 that is too small to show another number."""
    if ball.contains(0) and ball.abs_upper() < arb(10) ** -count:
        return "0"
    return str(ball.str(count, radius=False))
