"""Derivatives by the rules of calculus on the tree of an expression, as it is written.

Proofs differentiate normal forms with SymPy (`sums.normal`).  These rules use neither, so that refutations and conditions
for the existence of derivatives are independent of the proofs they check.
"""

from functools import cache

import sympy as sp

from derivations.calculus.functions import Partial, kl, pinsker, reciprocal, xlogx
from derivations.calculus.powers import bregman, plus
from derivations.calculus.variables import fresh


@cache
def differentiate(expr: sp.Expr, by: sp.Expr) -> sp.Expr:
    """∂expr/∂by, where `by` is a scalar or an entry of a vector; an index of an entry may coincide with that of `by`.

    Raises ValueError for a function without a rule.
    """
    if expr == by:
        return sp.S.One
    if isinstance(expr, sp.Indexed):
        same = isinstance(by, sp.Indexed) and expr.base.label == by.base.label
        return sp.Mul(*map(sp.KroneckerDelta, expr.indices, by.indices)) if same else sp.S.Zero
    if isinstance(expr, sp.KroneckerDelta) or not expr.args:
        return sp.S.Zero
    if isinstance(expr, sp.Sum):
        own = expr.xreplace({v: fresh(v) for v in expr.bound_symbols})  # `by` may use the same name outside
        return sp.Sum(differentiate(own.function, by), *own.limits)
    if isinstance(expr, Partial):
        return differentiate(differentiate(*expr.args), by)
    if isinstance(expr, sp.Add):
        return sp.Add(*[differentiate(arg, by) for arg in expr.args])
    if isinstance(expr, sp.Mul):
        return sp.Add(*[sp.Mul(*expr.args[:n], differentiate(arg, by), *expr.args[n + 1 :]) for n, arg in enumerate(expr.args)])
    if isinstance(expr, sp.Pow):
        return _power(expr.base, expr.exp, by)
    if isinstance(expr, kl | bregman | pinsker | reciprocal):
        return differentiate(expr.opened(), by)
    change = differentiate(expr.args[0], by)
    return change if change == 0 else _slope(expr) * change


def _power(base: sp.Expr, exponent: sp.Expr, by: sp.Expr) -> sp.Expr:
    of_base, of_exponent = differentiate(base, by), differentiate(exponent, by)
    value = exponent * base ** (exponent - 1) * of_base
    return value if of_exponent == 0 else value + base**exponent * sp.log(base) * of_exponent


def _slope(expr: sp.Expr) -> sp.Expr:
    """The derivative of a function of one argument at its argument."""
    if isinstance(expr, sp.exp):
        return expr
    if isinstance(expr, sp.log):
        return 1 / expr.args[0]
    if isinstance(expr, xlogx):
        return sp.log(expr.args[0]) + 1
    if isinstance(expr, sp.Abs):
        return sp.sign(expr.args[0])
    if isinstance(expr, plus):
        return (1 + sp.sign(expr.args[0])) / 2
    raise ValueError(f"derivative: expected a function of the calculus, got {type(expr).__name__}")
