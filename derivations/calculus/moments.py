"""Expectations of polynomials in random vectors with independent entries of mean 0 and variance 1.

Only first and second moments are known, so only they are used: E[x_a] = 0, E[x_a x_b] = δ_ab, and different vectors
are independent.  A monomial of higher degree in one vector is refused.
"""

from collections import defaultdict

import sympy as sp

from derivations.calculus.defined import strangers, undefined
from derivations.calculus.sums import delta, normal
from derivations.calculus.variables import Variable, fresh


class UnknownMomentError(ValueError):
    """A moment that the hypotheses do not fix."""


def expectation(expr: sp.Expr) -> sp.Expr:
    """E[expr] in normal form.

    Raises UnknownMomentError for a moment beyond the second, and for an expression that is undefined somewhere or not part of
    the calculus: the normal form would not show that any more.
    """
    expr = sp.sympify(expr)
    if strange := next(strangers(expr), None):
        raise UnknownMomentError(f"expectation: expected an expression of the calculus, got {strange}")
    if missing := undefined(expr):
        raise UnknownMomentError(f"expectation: expected a value everywhere, it is not shown that {missing[0]}")
    expanded = sp.expand_mul(_open_powers(normal(expr)), deep=False)
    return normal(sp.Add(*[_of_product(term) for term in sp.Add.make_args(expanded)]))


def variance(expr: sp.Expr) -> sp.Expr:
    """E[X²] − E[X]² in normal form."""
    return normal(expectation(expr * expr) - expectation(expr) ** 2)


def _open_powers(expr: sp.Expr) -> sp.Expr:
    """(Σ_a f_a)² as Σ_a Σ_b f_a f_b: a square of a sum is two sums with names of their own."""

    def double(power: sp.Expr) -> sp.Expr:
        total: sp.Sum = power.base
        new = {limit[0]: fresh(limit[0]) for limit in total.limits}
        other = total.function.xreplace(new)  # a normal form: no sum inside binds an index of one around it
        return sp.Sum(total.function * other, *total.limits, *[(v, 1, v.domain.shape[0]) for v in new.values()])

    return expr.replace(lambda e: e.is_Pow and isinstance(e.base, sp.Sum) and e.exp == 2, double)


def _of_product(term: sp.Expr) -> sp.Expr:
    sums = [f for f in sp.Mul.make_args(term) if isinstance(f, sp.Sum)]
    if sums:
        rest = term / sums[0]
        if _random_entries(rest):
            raise UnknownMomentError(f"expectation: expected at most one sum in a product, got {term}")
        return rest * sp.Sum(expectation(sums[0].function), *sums[0].limits)
    entries = _random_entries(term)
    by_vector: dict[Variable, list[sp.Indexed]] = defaultdict(list)
    for entry in entries:
        by_vector[entry.base.label].append(entry)
    value = term / sp.Mul(*entries)
    for group in by_vector.values():
        value *= _moment(group)
    return value


def _random_entries(term: sp.Expr) -> list[sp.Indexed]:
    entries: list[sp.Indexed] = []
    for factor in sp.Mul.make_args(term):
        base, exponent = factor.as_base_exp()
        if _is_random(base) and exponent.is_Integer and exponent > 0:
            entries += [base] * int(exponent)
        elif any(v.domain.is_random for v in factor.atoms(Variable)):
            raise UnknownMomentError(f"expectation: expected a polynomial in the random entries, got {factor}")
    return entries


def _is_random(expr: sp.Expr) -> bool:
    label = expr.base.label if isinstance(expr, sp.Indexed) else None
    return isinstance(label, Variable) and label.domain.is_random


def _moment(entries: list[sp.Indexed]) -> sp.Expr:
    if len(entries) == 1:
        return sp.S.Zero
    if len(entries) == 2:
        first, second = entries
        return sp.Mul(*[delta(a, b) for a, b in zip(first.indices, second.indices, strict=True)])
    raise UnknownMomentError(f"expectation: expected a degree of at most 2 in {entries[0].base}, got {len(entries)}")
