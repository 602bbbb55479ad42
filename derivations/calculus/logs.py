"""Logarithms of sums over one denominator: log(1 + y/x) = log(x + y) − log x for x > 0.

The normal form keeps such a logarithm as it is written.  Where it does not decide, two expressions are compared again in this
form.
"""

import sympy as sp

from derivations.calculus.signs import strictly_positive


def split(expr: sp.Expr) -> sp.Expr:
    """The expression with logarithms of fractions as differences, where the denominator is > 0."""
    return expr.replace(lambda part: isinstance(part, sp.log) and part.args[0].is_Add, lambda part: _difference(part.args[0]))


def _difference(arg: sp.Expr) -> sp.Expr:
    over, under = sp.fraction(sp.together(arg))
    return sp.log(arg) if under.is_number or not strictly_positive(under) else sp.log(over) - sp.log(under)
