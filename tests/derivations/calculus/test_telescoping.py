"""Sums of neighbours are compared after their summands are moved: the value is the same, and neighbours cancel."""

from itertools import islice

import pytest
import sympy as sp

from derivations.calculus.balls import enclose
from derivations.calculus.functions import xlogx
from derivations.calculus.orders import upto
from derivations.calculus.points import points
from derivations.calculus.powers import plus
from derivations.calculus.sums import delta, equal, normal, total
from derivations.calculus.telescoping import FARTHEST, telescoped
from derivations.calculus.variables import index, positive, scalar, size, variables_of, vector
from derivations.domains import Positive
from derivations.relations import Differs, Equation, Relation

m, n = size("m"), size("n")
l, k, j, i = index("l", m), index("k", m), index("j", m), index("i", n)  # noqa: E741
r, y, t = scalar("r"), scalar("y"), positive("t")
x, b = vector("x", m + 1), vector("b", m + 1, kind=Positive)
c, d = vector("c", m + 4), vector("d", m + 4, kind=Positive)
M, N = vector("M", m, m), vector("N", m, n)


def over(body: sp.Expr) -> sp.Expr:
    return total(l, body)


def through(key: sp.Expr) -> sp.Expr:
    """A function of an entry and of a sum in which its index occurs."""
    return sp.exp(total(i, N[j, i] * x[key]))


PROVED: dict[str, tuple[Relation, Relation]] = {
    "a geometric sum, for r = 1, too": (
        Equation((1 - r) * over(r ** (l - 1)), 1 - r**m),
        Equation((1 - r) * over(r ** (l - 1)), 1 - r ** (m + 1)),
    ),
    "a geometric sum from r": (Equation((1 - r) * over(r**l), r - r ** (m + 1)), Equation((1 - r) * over(r**l), r - r**m)),
    "a geometric sum as a quotient": (
        Equation(over(r ** (l - 1)), (1 - r**m) / (1 - r), given=(Differs(r, 1),)),
        Equation(over(r ** (l - 1)), (r**m - 1) / (1 - r), given=(Differs(r, 1),)),
    ),
    "a sum of l r^(l − 1)": (
        Equation((1 - r) ** 2 * over(l * r ** (l - 1)), 1 - (m + 1) * r**m + m * r ** (m + 1)),
        Equation((1 - r) ** 2 * over(l * r ** (l - 1)), 1 - m * r**m + m * r ** (m + 1)),
    ),
    "differences of neighbours": (
        Equation(over(x[l + 1] - x[l]), x[m + 1] - x[1]),
        Equation(over(x[l + 1] - x[l]), x[m] - x[1]),
    ),
    "differences over three steps": (
        Equation(over(c[l + 3] - c[l]), c[m + 3] + c[m + 2] + c[m + 1] - c[1] - c[2] - c[3]),
        Equation(over(c[l + 3] - c[l]), c[m + 3] + c[m + 2] + c[m + 1] - c[1] - c[2]),
    ),
    "differences of functions": (
        Equation(over(sp.log(b[l + 1] / b[l])), sp.log(b[m + 1]) - sp.log(b[1])),
        Equation(over(sp.log(b[l + 1] / b[l])), sp.log(b[1]) - sp.log(b[m + 1])),
    ),
    "differences of functions of sums": (
        Equation(over(through(l + 1) - through(l)), through(m + 1) - through(sp.S.One)),
        Equation(over(through(l + 1) - through(l)), through(m + 1) - through(j)),
    ),
    "fractions": (Equation(over(1 / (l * (l + 1))), 1 - 1 / (m + 1)), Equation(over(1 / (l * (l + 1))), 1 - 1 / m)),
    "a kink": (
        Equation(over(sp.Abs(l - 3) - sp.Abs(l - 2)), 2 - sp.Abs(m - 2)),
        Equation(over(sp.Abs(l - 3) - sp.Abs(l - 2)), m - 2),
    ),
    "summation by parts": (
        Equation(over(x[l + 1] * (b[l + 1] - b[l])) + over(b[l] * (x[l + 1] - x[l])), x[m + 1] * b[m + 1] - x[1] * b[1]),
        Equation(over(x[l] * (b[l + 1] - b[l])) + over(b[l] * (x[l + 1] - x[l])), x[m + 1] * b[m + 1] - x[1] * b[1]),
    ),
    "summation by parts, of l": (
        Equation(over(l * (x[l + 1] - x[l])), m * x[m + 1] - over(x[l])),
        Equation(over(l * (x[l + 1] - x[l])), (m + 1) * x[m + 1] - over(x[l])),
    ),
}


@pytest.mark.parametrize("name", PROVED)
def test_neighbours_cancel(name: str) -> None:
    true, false = PROVED[name]
    assert true.prove()
    assert true.counterexample() is None
    assert not false.prove()
    assert false.counterexample() is not None


MOVED = {
    "entries": over(y * c[l + 1] - d[l] * plus(c[l])),
    "powers": (1 - r) ** 3 * over(l**2 * r ** (l - 1)) - y * over(r ** (l + 1)),
    "other factors": total(k, c[k]) * over(c[l + 1] - c[l]) + over(sp.Abs(c[l + 1]) - c[l] ** 2) / m,
    "roots": over(sp.sqrt(l + 2) * t ** (2 * l + 2) - sp.log(l)),
    "pairs beside single sums": total((l, k), c[k] * c[l]) - over(c[l + 1] * c[l + 2] + c[l]),
    "another range": over(c[l + 1] - c[l]) - total(i, xlogx(sp.Rational(1, 2) ** i)),
    "sums inside": over(sp.exp(total(k, c[k] * c[l + 2])) - 1 / (1 + total(k, M[k, j] * c[l]) ** 2)),
    "positions": over(upto(l + 1, j) * c[l + 1] - upto(l, j) / (1 + delta(l, j))),
}


@pytest.mark.parametrize("name", MOVED)
def test_moving_changes_no_value(name: str) -> None:
    plain = normal(MOVED[name])
    moved = telescoped(plain)
    assert moved != plain
    values = [enclose(plain - moved, point) for point in islice(points(variables_of(plain)), 60)]
    assert all(value.is_finite() and value.contains(0) for value in values)


@pytest.mark.parametrize(
    "expr",
    [
        over(x[l]) ** 2 - over(x[l + 1]),
        over(sp.log(x[l] ** 2 + 1)) - over(l * x[l]),
        over(r ** (l + FARTHEST) - r ** (l - 1)),
        total((l, k), upto(l, k) * x[l]),
        total(l, 1 / (1 + delta(l, j))),
    ],
    ids=["no multiple of one sum", "all in one place", "too far", "pairs", "a delta"],
)
def test_what_stands_alike_stays(expr: sp.Expr) -> None:
    assert telescoped(normal(expr)) == normal(expr)


def test_what_cannot_be_moved_is_undecided() -> None:
    """Moved on by one, δ_lj would be δ_{l+1,j}, of which a sum over pairs has no normal form."""
    neighbours = total(l, x[l + 1] * sp.exp(total(k, M[k, j] * delta(k, l))) - x[l])
    assert not equal(neighbours, 0)
