"""Power series in one variable t, to a finite order, with coefficients for every size.

A series is the list of its coefficients c_0, …, c_K, each in normal form.  Finite sums, products, powers, exp and log of
such functions are analytic near t = 0 wherever the arguments of log and of real powers are positive there, so the list
is their Taylor polynomial and what is left out is O(t^{K+1}).
"""

from functools import lru_cache

import sympy as sp

from derivations.calculus.differentiation import differentiate
from derivations.calculus.functions import Partial, kl, pinsker, reciprocal, xlogx
from derivations.calculus.powers import bregman
from derivations.calculus.signs import strictly_positive
from derivations.calculus.sums import normal
from derivations.calculus.variables import Variable, fresh

Series = list[sp.Expr]


def coefficients(expr: sp.Expr, variable: sp.Expr, order: int, small: frozenset[sp.Dummy] = frozenset()) -> Series:
    """The Taylor coefficients at 0, from degree 0 to `order`; each symbol of `small` is the variable under another name.

    Raises ValueError for a log or a real power whose argument is not known to be positive at 0, and for a function
    without a rule.
    """
    expr = sp.sympify(expr).replace(lambda e: isinstance(e, Partial), lambda e: differentiate(*e.args))
    t = sp.Dummy("t", real=True)  # 1/t would simplify away inside a power known to be positive
    return [normal(c) for c in _series(expr.xreplace({variable: t}), small | {t}, order)]


@lru_cache(maxsize=256)
def solution(image: sp.Expr, vector: sp.IndexedBase, at: sp.Expr, variable: Variable, order: int) -> Series:
    """The coefficients of v_at, where v_a = t·F_a(v) and v(0) = 0, from degree 0 to `order`; `image` is F_at(v).

    F is analytic at 0, so such a v exists near t = 0 and is unique there; each substitution gains one degree.
    """
    known: Series = [sp.S.Zero]
    for degree in range(order):
        inside, small = substituted(image, vector, at, known)
        known = [sp.S.Zero, *coefficients(inside, variable, degree, small)]
    return known


def substituted(expr: sp.Expr, vector: sp.IndexedBase, at: sp.Expr, known: Series) -> tuple[sp.Expr, frozenset[sp.Dummy]]:
    """Substitute the polynomial of each entry of a vector, each in a separate variable, so that nothing cancels against a
    polynomial that is known only to some degree."""
    expansions: dict[sp.Expr, sp.Expr] = {}
    small: set[sp.Dummy] = set()
    for entry in expr.atoms(sp.Indexed):
        if entry.base.label == vector.label:
            t = sp.Dummy("t", real=True)
            small.add(t)
            terms = (_entry(c, at, entry.indices[0]) * t**k for k, c in enumerate(known))
            expansions[entry] = sp.Add(*terms)
    return expr.xreplace(expansions), frozenset(small)


def _entry(expr: sp.Expr, at: sp.Expr, index: sp.Expr) -> sp.Expr:
    """An expression at another index; its sums have fresh bound names, so that nothing is captured."""
    names = {v: fresh(v) for part in expr.atoms(sp.Sum) for v in part.bound_symbols}
    return expr.xreplace(names).xreplace({at: index})


def _series(expr: sp.Expr, small: frozenset[sp.Dummy], order: int) -> Series:
    if not expr.has(*small):
        return [expr] + [sp.S.Zero] * order
    if expr in small:
        return [sp.S.Zero, sp.S.One, *[sp.S.Zero] * (order - 1)][: order + 1]
    if isinstance(expr, sp.Sum):
        return [sp.Sum(c, *expr.limits) for c in _series(expr.function, small, order)]
    if isinstance(expr, kl | pinsker | bregman | reciprocal):
        return _series(expr.opened(), small, order)
    parts = [_series(arg, small, order) for arg in expr.args]
    if isinstance(expr, sp.Add):
        return [sp.Add(*same) for same in zip(*parts, strict=True)]
    if isinstance(expr, sp.Mul):
        value = parts[0]
        for factor in parts[1:]:
            value = _product(value, factor)
        return value
    if isinstance(expr, sp.exp):
        return _exp(parts[0])
    if isinstance(expr, sp.log):
        return _log(parts[0])
    if isinstance(expr, xlogx):
        return _product(parts[0], _log(parts[0]))
    if isinstance(expr, sp.Pow) and not expr.exp.has(*small):
        return _power(parts[0], expr.exp)
    raise ValueError(f"series: expected sums, products, powers, exp and log, got {expr.func.__name__}")


def _product(a: Series, b: Series) -> Series:
    return [sp.Add(*[a[i] * b[k - i] for i in range(k + 1)]) for k in range(len(a))]


def _exp(f: Series) -> Series:
    """g = e^f from g' = f' g."""
    g = [sp.exp(normal(f[0]))]
    for k in range(1, len(f)):
        g.append(sp.Add(*[i * f[i] * g[k - i] for i in range(1, k + 1)]) / k)
    return g


def _log(f: Series) -> Series:
    """g = log f from f g' = f'."""
    first = _positive(f[0])
    g = [sp.log(first)]
    for k in range(1, len(f)):
        g.append((f[k] - sp.Add(*[i * g[i] * f[k - i] for i in range(1, k)]) / k) / first)
    return g


def _power(f: Series, exponent: sp.Expr) -> Series:
    """g = f^r: repeated products for an integer r ≥ 0, else from f g' = r f' g."""
    if exponent.is_Integer and exponent >= 0:
        value = [sp.S.One] + [sp.S.Zero] * (len(f) - 1)
        for _ in range(int(exponent)):
            value = _product(value, f)
        return value
    first = _positive(f[0])
    g = [first**exponent]
    for k in range(1, len(f)):
        g.append(sp.Add(*[(exponent * i - (k - i)) * f[i] * g[k - i] for i in range(1, k + 1)]) / (k * first))
    return g


def _positive(value: sp.Expr) -> sp.Expr:
    value = normal(value)
    if not strictly_positive(value):
        raise ValueError(f"series: expected a value > 0 at 0 of a log's or power's argument, got {value}")
    return value
