"""Positive parts in one orientation: (−x)₊ = x₊ − x, |x| = 2x₊ − x, (cx)₊ = c x₊ for c ≥ 0, and (x₊)² = x·x₊.

The normal form keeps x₊ and |x| as they are written, since their signs can be read off.  Where it does not decide, two
expressions are compared again in this form.
"""

import sympy as sp

from derivations.calculus.powers import plus
from derivations.calculus.signs import nonnegative


def oriented(expr: sp.Expr) -> sp.Expr:
    """The expression with positive parts of each x and −x written by one of the two, and without absolute values."""
    if not expr.has(plus, sp.Abs):
        return expr
    if isinstance(expr, sp.Indexed | sp.KroneckerDelta):
        return expr
    expr = expr.func(*map(oriented, expr.args))
    if isinstance(expr, plus):
        return _part(expr.args[0])
    if isinstance(expr, sp.Abs) and expr.args[0].is_real:
        return 2 * _part(expr.args[0]) - expr.args[0]
    if isinstance(expr, sp.Pow) and isinstance(expr.base, plus) and expr.exp.is_Integer and expr.exp > 1:
        return expr.base.args[0] ** (expr.exp - 1) * expr.base
    return expr


def _part(x: sp.Expr) -> sp.Expr:
    """x₊ of x or of −x, with factors ≥ 0 in front."""
    factors = sp.Mul.make_args(sp.factor_terms(x))
    front = sp.Mul(*[factor for factor in factors if nonnegative(factor)])
    rest = sp.expand_mul(sp.Mul(*[factor for factor in factors if not nonnegative(factor)]), deep=False)
    return front * (plus(-rest) + rest if rest.could_extract_minus_sign() else plus(rest))
