"""Signs that can be read off an expression, for every size and every value in the domains.

Signs are valid only where the expression is defined, which the caller has to ensure (`defined`): an even power of √(x + 4)
is ≥ 0 only where √(x + 4) exists.  Facts are expressions that a declared hypothesis asserts to be ≥ 0 or > 0.
"""

from contextvars import ContextVar
from functools import lru_cache

import sympy as sp

from derivations.calculus.bounds import MOST_TERMS, follows, merged
from derivations.calculus.functions import is_delta, kl, lemmas_hold, pinsker, xlogx
from derivations.calculus.instances import instances
from derivations.calculus.powers import bregman, plus
from derivations.calculus.screening import Facts, refuted
from derivations.calculus.variables import Variable

_LEVEL = ContextVar("how often a bound may ask for another sign that needs bounds", default=3)


def nonnegative(expr: sp.Expr, facts: Facts = ()) -> bool:
    """Whether the expression is manifestly ≥ 0 on the domains, wherever it is defined."""
    return _at_least(sp.sympify(expr), strict=False, facts=facts)


def strictly_positive(expr: sp.Expr, facts: Facts = ()) -> bool:
    """Whether the expression is manifestly > 0 on the domains, wherever it is defined."""
    return _at_least(sp.sympify(expr), strict=True, facts=facts)


def nonzero(expr: sp.Expr, facts: Facts = ()) -> bool:
    """Whether the expression is manifestly different from 0 on the domains, wherever it is defined."""
    if isinstance(expr, sp.Mul):
        return all(nonzero(factor, facts) for factor in expr.args)
    if isinstance(expr, sp.Pow):
        return nonzero(expr.base, facts) or strictly_positive(expr, facts)
    told = (fact for fact, strict in instances(facts, expr) if strict is not False)
    if any(sp.expand(sign * expr - fact) == 0 for fact in told for sign in (1, -1)):
        return True
    return strictly_positive(expr, facts) or strictly_positive(-expr, facts)


def _at_least(expr: sp.Expr, strict: bool, facts: Facts) -> bool:
    return _decided(expr, strict, facts, _LEVEL.get())


@lru_cache(maxsize=2**16)
def _decided(expr: sp.Expr, strict: bool, facts: Facts, level: int) -> bool:
    """The answer for a recursion depth, which is part of the cache key: calls from within bounds have one level less."""
    if expr.is_number:
        return bool(expr.is_positive if strict else expr.is_nonnegative)
    if _by_terms(expr, strict, facts):
        return True
    lowered = _sizes_from_one(_masses_at_one(expr))
    return (lowered != expr and _by_terms(lowered, strict, facts)) or _bounded(expr, strict, facts, level)


def _bounded(expr: sp.Expr, strict: bool, facts: Facts, level: int) -> bool:
    """Whether the sign follows from bounds of the parts, possibly after multiplication with a positive denominator."""
    if not isinstance(expr, sp.Add) or level == 0 or len(expr.args) > MOST_TERMS or refuted(expr, strict, facts):
        return False
    before = _LEVEL.set(level - 1)
    try:
        return _by_bounds(expr, strict, facts)
    finally:
        _LEVEL.reset(before)


def _by_bounds(expr: sp.Add, strict: bool, facts: Facts) -> bool:
    def sign(part: sp.Expr, sharp: bool) -> bool:
        return _at_least(part, sharp, facts)

    known = tuple((fact, positive) for fact, positive in instances(facts, expr) if positive is not None)
    if follows(expr, strict, sign, known):
        return True
    together = merged(expr)
    if len(_terms(together)) < len(_terms(expr)) and sign(together, strict):
        return True
    if all(part.exp.is_nonnegative for term in expr.args for part in sp.Mul.make_args(term) if isinstance(part, sp.Pow)):
        return False
    numerator, denominator = sp.fraction(sp.together(expr))
    cleared = sp.expand_mul(numerator, deep=False)
    return denominator != 1 and sign(denominator, True) and (sign(cleared, strict) or follows(cleared, strict, sign, known))


def _by_terms(expr: sp.Expr, strict: bool, facts: Facts) -> bool:
    """Whether every term is ≥ 0, and at least one > 0 if `strict`; a fact may stand for the terms that it is made of."""
    for fact, positive in instances(facts, expr):
        if positive is None or not _monomials(fact) & _monomials(expr):  # only ≠ 0, or no part of the expression
            continue
        rest = _expanded(expr) - _expanded(fact)
        if _is_number_at_least(rest, 0) or (rest != expr and len(_terms(rest)) < len(_terms(_expanded(expr)))):
            sharp = strict and not positive
            if rest == 0 and not sharp:
                return True
            if rest != 0 and _by_terms(rest, sharp, facts):
                return True
    terms = _terms(expr)
    if not all(_sign(term, False, facts) for term in terms):
        return False
    return not strict or any(_sign(term, True, facts) for term in terms)


@lru_cache(maxsize=2**14)
def _monomials(expr: sp.Expr) -> frozenset[sp.Expr]:
    """The terms of an expanded expression without their numbers."""
    return frozenset(term.as_coeff_Mul()[1] for term in _terms(_expanded(expr)))


@lru_cache(maxsize=2**16)
def _expanded(expr: sp.Expr) -> sp.Expr:
    """Multiply out products and powers of sums, from the inside out, so that common parts are expanded once.

    Expanding is linear, so that a difference need not be expanded again.
    """
    if not expr.args or isinstance(expr, sp.Indexed | sp.KroneckerDelta | sp.Tuple):
        return expr
    parts = [_expanded(part) for part in expr.args]
    result = expr if parts == list(expr.args) else expr.func(*parts)
    return result if _is_expanded(result) else sp.expand(result, deep=False)


def _is_expanded(expr: sp.Expr) -> bool:
    """Whether nothing is left to multiply out once the parts are: a sum, or a product without sums, powers of them included."""
    if isinstance(expr, sp.Mul):
        return not any(factor.as_base_exp()[0].is_Add for factor in expr.args)
    return isinstance(expr, sp.Add)


def _terms(expr: sp.Expr) -> tuple[sp.Expr, ...]:
    return sp.Add.make_args(expr)  # type: ignore[no-any-return]


def _is_number_at_least(expr: sp.Expr, bound: int) -> bool:
    return bool(expr.is_Rational and expr >= bound)


def _sign(term: sp.Expr, strict: bool, facts: Facts) -> bool:
    """Whether a single term is ≥ 0 or > 0."""
    if any(fact == term and (positive or (positive is False and not strict)) for fact, positive in instances(facts, term)):
        return True
    if isinstance(term, sp.Sum):
        return _sum(term, strict, facts)
    if isinstance(term, sp.Mul):
        return _product(term, strict, facts)
    if isinstance(term, sp.Pow):
        return _power(term, strict, facts)
    if is_delta(term):
        return not strict
    if isinstance(term, sp.exp):
        return True
    if isinstance(term, sp.log):
        return _at_least(term.args[0] - 1, strict, facts)
    if isinstance(term, plus):
        return not strict or _at_least(term.args[0], True, facts)
    if isinstance(term, sp.Abs):
        return not strict or nonzero(term.args[0], facts)
    if isinstance(term, xlogx):
        return _at_least(term.args[0] - 1, strict, facts)
    if isinstance(term, kl | bregman | pinsker):
        return not strict and _diverges(term, facts) and lemmas_hold(term)
    if isinstance(term, sp.Add):
        return _at_least(term, strict, facts)
    return bool(term.is_positive if strict else term.is_nonnegative)


def _diverges(term: sp.Expr, facts: Facts) -> bool:
    """Whether the arguments of a divergence lie in the domain on which it is one."""
    y, x, *exponent = term.args
    if exponent:
        return nonnegative(y, facts) and nonnegative(x, facts) and strictly_positive(exponent[0] - 1, facts)
    return nonnegative(y, facts) and strictly_positive(x, facts)


def _product(term: sp.Mul, strict: bool, facts: Facts) -> bool:
    """Every factor has a sign, and an even number of them is negative."""
    negative = False
    for factor in term.args:
        if _sign(factor, strict, facts):
            continue
        if not _negative(factor, strict, facts):
            return False
        negative = not negative
    return not negative


def _negative(factor: sp.Expr, strict: bool, facts: Facts) -> bool:
    """Whether a factor is ≤ 0, or < 0."""
    if isinstance(factor, sp.log):
        return _at_least(1 - factor.args[0], strict, facts)
    if isinstance(factor, xlogx):  # which is 0 at 0
        return not strict and _at_least(1 - factor.args[0], False, facts)
    if factor.is_Rational:
        return bool(factor.is_negative)
    if isinstance(factor, sp.Sum):
        return _sum(sp.Sum(-factor.function, *factor.limits), strict, facts)
    return isinstance(factor, sp.Add) and _at_least(-factor, strict, facts)


def _power(term: sp.Pow, strict: bool, facts: Facts) -> bool:
    base, exponent = term.args
    if not exponent.is_real:
        return False
    odd = exponent.is_integer and exponent.is_even is not True
    if not strict and not odd:  # before the sign of the base is asked for, which may take long
        return True
    if _at_least(base, True, facts):
        return True
    if odd:
        return bool(_at_least(base, False, facts) and (not strict or exponent.is_negative))
    return bool(exponent.is_negative or nonzero(base, facts))


def _sum(term: sp.Sum, strict: bool, facts: Facts) -> bool:
    body, bound = term.function, [limit[0] for limit in term.limits]
    if not strict:
        return _at_least(body, False, facts)
    if not all(nonnegative(high - low) for _, low, high in term.limits):
        return False  # the sum may be empty
    if _at_least(body, True, facts):
        return True
    if not all(low == 1 and var.domain.shape == (high,) for var, low, high in term.limits):
        return False
    weights = [factor for factor in sp.Mul.make_args(body) if _is_mass(factor, bound)]
    return any(_at_least(body / weight, True, facts) for weight in weights)


def _is_mass(factor: sp.Expr, bound: list[Variable]) -> bool:
    """Whether a factor is a power of a simplex point's entry and the sum runs over all entries: one of them is positive.

    So is an even power of an entry of a vector other than 0.
    """
    even = isinstance(factor, sp.Pow) and factor.exp.is_even
    factor = factor.base if isinstance(factor, sp.Pow) and factor.exp.is_positive else factor
    if not isinstance(factor, sp.Indexed) or not isinstance(factor.base.label, Variable):
        return False
    count = factor.base.label.domain.positive_along(bool(even))
    row, axes = factor.indices[:-count], factor.indices[-count:]
    if not count or any(index.free_symbols & set(axes) for index in row):  # a diagonal is no row
        return False
    sizes = factor.base.shape[-count:]
    complete = all(axis in bound and axis.domain.shape == (size,) for axis, size in zip(axes, sizes, strict=True))
    return complete and len(set(axes)) == len(axes)


def _sizes_from_one(expr: sp.Expr) -> sp.Expr:
    """A lower bound: indices are put at the end of their range where the expression is least, sizes m are 1 + m′, m′ ≥ 0."""
    if not isinstance(expr, sp.Add) or expr.has(sp.Sum, sp.Indexed, sp.KroneckerDelta):
        return expr
    names = [v for v in expr.free_symbols if isinstance(v, Variable)]
    for var in (v for v in names if v.domain.is_index):
        slope = sp.expand(expr).coeff(var)
        if slope.is_Rational and not sp.expand(expr - slope * var).has(var):
            expr = sp.expand(expr).xreplace({var: sp.S.One if slope > 0 else var.domain.shape[0]})
    sizes = [v for v in expr.free_symbols if isinstance(v, Variable) and v.domain.is_integer]
    return sp.expand(expr.xreplace({v: 1 + sp.Dummy(integer=True, nonnegative=True) for v in sizes}))


def _masses_at_one(expr: sp.Expr) -> sp.Expr:
    """A lower bound: in terms −c·q with c ≥ 0 and q an entry of a simplex, q ≤ 1 is replaced by 1."""
    if not isinstance(expr, sp.Add):
        return expr
    return sp.Add(*[_mass_at_one(term) for term in expr.args])


def _mass_at_one(term: sp.Expr) -> sp.Expr:
    masses = [
        f
        for f in sp.Mul.make_args(term)
        if isinstance(f, sp.Indexed) and isinstance(f.base.label, Variable) and f.base.label.domain.below_one
    ]
    if not masses:
        return term
    rest = -term / masses[0]
    return -rest if nonnegative(rest) else term
