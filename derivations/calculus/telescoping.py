"""Sums of neighbours: Σ_{l=1}^m f(l) = Σ_{l=1}^m f(l + 1) + f(1) − f(m + 1), so that Σ (f(l + 1) − f(l)) = f(m + 1) − f(1).

The normal form keeps each summand where it stands.  Where it does not decide, two expressions are compared again with the
summands of each range moved up to the one that stands highest.  An entry of a vector that ends at m has no value at m + 1:
any value would do there, as it is added and subtracted.
"""

from collections.abc import Iterator

import sympy as sp

from derivations.calculus.naming import bound_in
from derivations.calculus.variables import Variable

FARTHEST = 4  # steps that a summand is moved

Summand = tuple[sp.Expr, Variable, sp.Expr]  # with its index, and the size that this runs up to


def telescoped(expr: sp.Expr) -> sp.Expr:
    """The expression with the summands over one range moved up to the highest one; unchanged where all stand alike."""
    terms = [(term, _summands(term)) for term in sp.Add.make_args(expr)]
    heights: dict[sp.Expr, set[int]] = {}
    for body, index, high in (summand for _, summands in terms for summand in summands):
        heights.setdefault(high, set()).update(_height(body, index))
    tops = {high: max(found) for high, found in heights.items() if found and 0 < max(found) - min(found) <= FARTHEST}
    moved = [
        part
        for term, summands in terms
        for part in (
            [_moved(*summand, tops[summand[2]]) for summand in summands] if summands and summands[0][2] in tops else [term]
        )
    ]
    return expr if any(part.has(sp.zoo, sp.nan) for part in moved) else sp.Add(*moved)


def _summands(term: sp.Expr) -> list[Summand]:
    """The summands of a multiple of one sum, with all factors in them, such as r^l in r Σ r^(l−1), by partial fractions."""
    inside = [factor for factor in sp.Mul.make_args(term) if isinstance(factor, sp.Sum)]
    if len(inside) != 1 or len(inside[0].limits) > 1:
        return []
    (index, low, high), rest, body = inside[0].limits[0], term / inside[0], inside[0].function
    if low != 1 or index.domain.shape != (high,) or index in rest.free_symbols | bound_in(rest) | bound_in(body):
        return []
    if body.free_symbols == {index} and body.is_rational_function(index):
        body = sp.apart(body, index)
    return [(sp.powsimp(rest * part, combine="exp"), index, high) for part in sp.Add.make_args(body)]


def _moved(body: sp.Expr, index: Variable, high: sp.Expr, top: int) -> sp.Expr:
    """Σ f(l) as Σ f(l + s) + Σ_{i ≤ s} (f(i) − f(m + i)), where f(l + s) stands at the top."""
    step = top - min(_height(body, index), default=top)
    ends = [body.xreplace({index: sp.Integer(i)}) - body.xreplace({index: high + i}) for i in range(1, step + 1)]
    return sp.Add(sp.Sum(body.xreplace({index: index + step}), (index, 1, high)), *ends)


def _height(body: sp.Expr, index: Variable) -> set[int]:
    """Where a summand stands: the least c of its parts in l + c; polynomials of l, which are written out, stand anywhere."""
    factors = [factor for factor in sp.Mul.make_args(body) if not factor.is_polynomial(index)]
    return {min(offsets)} if (offsets := [c for factor in factors for c in _offsets(factor, index)]) else set()


def _offsets(expr: sp.Expr, index: Variable) -> Iterator[int]:
    """The number c of each part of an expression that depends on an index l as a multiple of l + c."""
    slope = expr.coeff(index) if isinstance(expr, sp.Add) else sp.S.Zero
    if expr == index:
        yield 0
    elif slope.is_Rational and slope != 0 and index not in (rest := expr - slope * index).free_symbols:
        yield int(sp.floor(rest.as_coeff_Add()[0] / slope))
    elif index in expr.free_symbols:
        for part in expr.args:
            yield from _offsets(part, index)
