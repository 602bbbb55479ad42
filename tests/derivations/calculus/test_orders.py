"""Sums up to an index and over ordered pairs: identities for every size, and false neighbours, which are refuted."""

from itertools import islice

import pytest
import sympy as sp

from derivations.calculus.balls import enclose
from derivations.calculus.functions import derivative
from derivations.calculus.orders import upto
from derivations.calculus.points import points
from derivations.calculus.printing import text
from derivations.calculus.sums import delta, normal, total
from derivations.calculus.variables import index, scalar, size, variables_of, vector
from derivations.relations import AtLeast, Equation, Relation

m, n = size("m"), size("n")
i, j, k, l, t, s = (index(name, m) for name in "ijklts")  # noqa: E741
g, x, y, c = index("g", n), vector("x", m), vector("y", m), scalar("c")


def below(one: sp.Expr, other: sp.Expr) -> sp.Expr:
    """[one < other]."""
    return 1 - upto(other, one)


def head(entry: sp.Expr, last: sp.Expr = t) -> sp.Expr:
    """The sum of an entry at l up to an index."""
    return total(l, upto(l, last) * entry)


def pairs(entry: sp.Expr) -> sp.Expr:
    """The sum of an entry at i and j over pairs i < j."""
    return total((i, j), below(i, j) * entry)


squares, whole = total(i, x[i] ** 2), total(i, x[i])

TRUE = {
    "Lagrange": Equation(pairs((x[i] - x[j]) ** 2), m * squares - whole**2),
    "products of pairs": Equation(pairs(x[i] * x[j]), (whole**2 - squares) / 2),
    "the number of pairs": Equation(pairs(sp.S.One), m * (m - 1) / 2),
    "linear": Equation(head(x[l] + c * y[l]), head(x[l]) + c * head(y[l])),
    "two parts": Equation(head(x[l]) + total(l, below(t, l) * x[l]), whole),
    "up to t, and t": Equation(total(l, below(l, t) * x[l]) + x[t], head(x[l])),
    "t terms": Equation(head(sp.S.One), t),
    "a sum of integers": Equation(total(l, l), m * (m + 1) / 2),
    "squares of integers": Equation(total(l, l**2), m * (m + 1) * (2 * m + 1) / 6),
    "from 0": Equation(total(l, l - 1), m * (m - 1) / 2),
    "odd numbers, from 0": Equation(total(l, 2 * (l - 1) + 1), m**2),
    "powers, from 0": Equation(total(l, x[l] * sp.exp(c * l)), sp.exp(c) * total(l, x[l] * sp.exp(c * (l - 1)))),
    "prefixes of prefixes": Equation(total(t, head(x[l])), total(l, (m + 1 - l) * x[l])),
    "exchanged": Equation(total(t, y[t] * head(x[l])), total(l, x[l] * total(t, upto(l, t) * y[t]))),
    "by parts": Equation(total(t, y[t] * head(x[l]) + x[t] * head(y[l])), whole * total(i, y[i]) + total(i, x[i] * y[i])),
    "either order": Equation(upto(j, t) + upto(t, j), 1 + delta(j, t)),
    "both orders": Equation(upto(j, t) * upto(t, j), delta(j, t)),
    "up to m": Equation(head(x[l], m) + c, whole + c),
    "a derivative": Equation(derivative(head(x[l] ** 2), x[j]), 2 * upto(j, t) * x[j]),
    "three indices": Equation(
        total((i, j, k), upto(i, j) * upto(j, k) * x[i] * y[k]), total((i, j, k), upto(k, j) * upto(j, i) * x[k] * y[i])
    ),
    "part of a sum": AtLeast(squares, head(x[l] ** 2)),
    "pairs of squares": AtLeast(pairs((x[i] - x[j]) ** 2), 0),
    "Cauchy and Schwarz": AtLeast(t * head(x[l] ** 2), head(x[l]) ** 2),
    "at most 1": AtLeast(1, upto(j, t)),
}
FALSE = {
    "from 0, to m": Equation(total(l, l - 1), m * (m + 1) / 2),
    "odd numbers, from 1": Equation(total(l, 2 * l + 1), m**2),
    "powers, one too high": Equation((1 - sp.exp(c)) * total(l, sp.exp(c * (l - 1))), 1 - sp.exp(c * (m + 1))),
    "pairs with equal indices": Equation(total((i, j), upto(i, j) * (x[i] - x[j] + c) ** 2), m * squares - whole**2),
    "products with equal indices": Equation(total((i, j), upto(i, j) * x[i] * x[j]), (whole**2 - squares) / 2),
    "the number of pairs": Equation(total((i, j), upto(i, j)), m * (m - 1) / 2),
    "t − 1 terms": Equation(head(sp.S.One), t - 1),
    "from t on": Equation(total(l, upto(t, l)), t),
    "prefixes of prefixes": Equation(total(t, head(x[l])), total(l, l * x[l])),
    "exchanged": Equation(total(t, y[t] * head(x[l])), total(t, x[t] * head(y[l]))),
    "the other order": Equation(upto(j, t), upto(t, j)),
    "without the diagonal": Equation(upto(j, t) + upto(t, j), 1),
    "half of a square that is none": Equation(
        total((i, j), upto(i, j) * x[i] * y[j]), (whole * total(i, y[i]) + total(i, x[i] * y[i])) / 2
    ),
    "another index": Equation(derivative(head(x[l] ** 2), x[j]), 2 * upto(t, j) * x[j]),
    "another range": Equation(total(l, upto(l, g)), g),
    "a sum of both signs": AtLeast(whole, head(x[l])),
    "and its reverse": AtLeast(head(x[l]), whole),
    "Cauchy and Schwarz": AtLeast((t - 1) * head(x[l] ** 2), head(x[l]) ** 2),
    "strict": AtLeast(upto(j, t), 0, strict=True),
    "above 1": AtLeast(upto(j, t) + upto(t, j), 2),
}


@pytest.mark.parametrize("name", TRUE)
def test_is_proved(name: str) -> None:
    assert TRUE[name].explain() == ""
    assert TRUE[name].counterexample() is None


@pytest.mark.parametrize("name", FALSE)
def test_a_false_neighbour_is_refuted_and_not_proved(name: str) -> None:
    relation: Relation = FALSE[name]
    assert not relation.prove()
    assert relation.counterexample() is not None


@pytest.mark.parametrize(
    "expr",
    [
        total((i, j, k), upto(i, j) * upto(k, j) * x[i] * y[k] * (x[j] + i)),
        total((i, j), upto(i, j) * upto(j, t) * x[i] * y[j]) + upto(t, s) * head(y[l] * l**2, s),
        total((i, j), below(i, j) * (sp.exp(x[i]) - y[j]) ** 2) * upto(s, t),
        total((i, g), upto(i, g) * x[i] * g),
        total(i, x[i] * total(j, upto(j, i) * y[j] * total(k, below(k, j) * x[k]))),
    ],
    ids=str,
)
def test_the_normal_form_keeps_values_and_is_final(expr: sp.Expr) -> None:
    form = normal(expr)
    assert normal(form) == form
    for point in islice(points(variables_of(expr)), 0, 60, 2):
        assert enclose(expr, point).overlaps(enclose(form, point))


def test_a_divisor_may_not_vanish() -> None:
    assert AtLeast(1 / upto(j, t), 0).explain() == "it is not shown that [j ≤ t] ≠ 0"


def test_it_prints_as_a_bracket() -> None:
    assert text(upto(j, t)) == "[j ≤ t]"
