"""Compare a print that holds up to a remainder with a proved expansion: the same function, the same terms."""

from collections.abc import Iterator

import sympy as sp

from derivations.calculus.variables import Variable, variables_of
from derivations.prints.expressions import Naming, Values, named, namings
from derivations.reader.meaning.remainders import Expanded
from derivations.relations import Expansion

Pairs = tuple[tuple[sp.Expr, sp.Expr], ...]


def same_expansion(printed: Expanded, step: Expansion, naming: Naming, values: Values) -> Pairs | None:
    """Return the pairs that agree: left sides, and right sides or coefficients up to the printed order; None if they differ.

    f ≈ g states no order, and agrees with an expansion that has these two sides.
    """
    left, right = sides_of(printed, step, naming)
    if left is None or values.same(left, right):
        return None
    gaps = left - right, step.left - step.right
    if values.same(*gaps):
        return (gaps,)
    if not values.same(left, step.left):
        return None
    if values.same(right, step.right):
        return (left, step.left), (right, step.right)
    pairs = coefficients(printed, step, right)
    return ((left, step.left), *pairs) if pairs and all(values.same(*pair) for pair in pairs) else None


def differs(assertion: Expanded, step: Expansion, known: frozenset[str]) -> tuple[Values, int, sp.Expr, sp.Expr] | None:
    """Return a point at which a coefficient of the printed expansion differs from the proved one."""
    for naming in namings(assertion.sides, (step.left, step.right), known):
        left, right = sides_of(assertion, step, naming)
        if left is None:
            continue
        pairs = coefficients(assertion, step, right)
        values = Values(variables_of(sp.Tuple(left, right, step.left, step.right)), step.given)
        if not values.same(left, step.left):
            continue
        for printed, proved in pairs:
            if (at := values.apart(printed, proved)) is not None:
                return values, at, printed, proved
    return None


def sides_of(printed: Expanded, step: Expansion, naming: Naming) -> tuple[sp.Expr | None, sp.Expr]:
    """Return both sides in a step's variables, on the ray t ↦ tλ if a vector goes to 0; None if another variable does."""
    left, right = (named(each, naming) for each in printed.sides)
    if printed.small is None:
        return left, right
    small = naming.get(printed.small, printed.small)
    assert printed.order is not None
    if not isinstance(small, Variable) or printed.order > step.order:
        return None, right
    if not small.domain.shape:
        return (left if small == step.variable else None), right
    return on_ray(left, small, step.variable), on_ray(right, small, step.variable)


def on_ray(expr: sp.Expr, vector: Variable, t: Variable) -> sp.Expr:
    """Return an expression at tλ for a vector λ."""
    entries: Iterator[sp.Indexed] = (each for each in expr.atoms(sp.Indexed) if each.base.label == vector)
    return sp.sympify(expr.xreplace({each: t * each for each in entries}))


def coefficients(printed: Expanded, step: Expansion, right: sp.Expr) -> Pairs:
    """Return the coefficients of both right sides up to the printed order, if they have expansions."""
    order = step.order if printed.order is None else printed.order
    try:
        return tuple(Expansion(right, step.right, step.variable, order, where=step.where).expanded)
    except ValueError:
        return ()
