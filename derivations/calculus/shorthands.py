"""Functions defined by other functions of the calculus; the kernel has no rules for them beyond their definitions."""

import sympy as sp

from derivations.calculus.functions import xlogx
from derivations.calculus.powers import plus
from derivations.calculus.sums import total
from derivations.calculus.variables import Variable


def maximum(x: sp.Expr, y: sp.Expr) -> sp.Expr:
    """max(x, y) = y + (x − y)₊."""
    return sp.sympify(y) + plus(sp.sympify(x) - y)


def minimum(x: sp.Expr, y: sp.Expr) -> sp.Expr:
    """min(x, y) = x − (x − y)₊."""
    return sp.sympify(x) - plus(sp.sympify(x) - y)


def sigmoid(x: sp.Expr) -> sp.Expr:
    """σ(x) = 1/(1 + exp(−x))."""
    return 1 / (1 + sp.exp(-sp.sympify(x)))


def tanh(x: sp.Expr) -> sp.Expr:
    """tanh x = (exp(x) − exp(−x))/(exp(x) + exp(−x))."""
    return (sp.exp(x) - sp.exp(-x)) / (sp.exp(x) + sp.exp(-x))


def softplus(x: sp.Expr) -> sp.Expr:
    """log(1 + exp x)."""
    return sp.log(1 + sp.exp(sp.sympify(x)))


def relative(x: sp.Expr, y: sp.Expr) -> sp.Expr:
    """x log(x/y) for x ≥ 0 < y with 0 log 0 = 0, which the logarithm of a quotient by itself does not have."""
    return xlogx(x) - x * sp.log(y)


def norm(bound: Variable | tuple[Variable, ...], entry: sp.Expr) -> sp.Expr:
    """√(Σ entry²), the Euclidean norm of a vector or a matrix that is given by its entry."""
    return sp.sqrt(total(bound, sp.sympify(entry) ** 2))
