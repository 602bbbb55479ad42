"""The record of a failure at an exact point."""

import sympy as sp
from flint import arb

from derivations.calculus.balls import Point, digits, enclose_all
from derivations.records.base import Exact, exact
from derivations.records.claims import Witness

SHOWN = (12, 24, 48, 500, 5000)  # digits of two sides, as many as tell them apart


def inputs(point: Point) -> dict[str, Exact]:
    """The exact values of a point by printed name; of two variables that print alike, the second gets a prime."""
    named: dict[str, Exact] = {}
    for v, value in point.items():
        name = v.name.split("#")[0]
        while name in named:
            name += "′"
        named[name] = exact(value)
    return named


def witness(point: Point, left: arb | str, right: arb | str, sign: str, what: str = "") -> Witness:
    """The record of a failure at an exact point."""

    def shown(side: arb | str, count: int) -> str:
        return side if isinstance(side, str) else digits(side, count)

    count = next((count for count in SHOWN if shown(left, count) != shown(right, count)), SHOWN[0])
    one, other = shown(left, count), shown(right, count)
    return Witness(inputs(point), one, sign, other, what)


def differ(point: Point, left: sp.Expr, right: sp.Expr, what: str = "") -> Witness | None:
    """Return a witness if two values at a point are certainly different; else None."""
    one, other = enclose_all((left, right), point)
    if one.is_finite() and other.is_finite() and not one.overlaps(other):
        return witness(point, one, other, "≠", what)
    return None
