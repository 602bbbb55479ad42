"""Coefficients of an expansion at 0 are those of Taylor's formula, and what cannot be expanded is named."""

from fractions import Fraction

import pytest
import sympy as sp
from flint import arb

from derivations import Expansion, positive
from derivations.rocq.expansions import expansion
from derivations.rocq.export import theorem
from derivations.rocq.reading import Reader, real
from derivations.rocq.terms import NotExportedError, Term, written

T: Term = ("var", "t")
X: Term = ("var", "x")
t, x = sp.symbols("t x", positive=True)
AT = Fraction(3, 2)


def num(value: int | Fraction) -> Term:
    return ("num", Fraction(value))


ENTRIES: Term = ("sum", "i", "m", ("exp", ("mul", ("entry", "s", ("i",)), T)))
POLYNOMIAL: Term = ("add", X, ("mul", num(3), T), ("mul", num(2), ("pow", T, 2)), ("mul", num(5), ("pow", T, 3)))
polynomial = x + 3 * t + 2 * t**2 + 5 * t**3

EXPANDED = [
    (X, x),
    (T, t),
    (("neg", POLYNOMIAL), -polynomial),
    (("mul", X, POLYNOMIAL), x * polynomial),
    (("mul", POLYNOMIAL, X), x * polynomial),
    (("mul", X, T, POLYNOMIAL), x * t * polynomial),
    (("mul", POLYNOMIAL, POLYNOMIAL), polynomial**2),
    (("pow", POLYNOMIAL, 3), polynomial**3),
    (("pow", T, 1), t),
    (("inv", POLYNOMIAL), 1 / polynomial),
    (("exp", POLYNOMIAL), sp.exp(polynomial)),
    (("exp", T), sp.exp(t)),
    (("ln", POLYNOMIAL), sp.log(polynomial)),
    (("ln", ("add", num(1), T)), sp.log(1 + t)),
    (("inv", ("add", num(1), ("neg", T))), 1 / (1 - t)),
    (ENTRIES, sp.exp(2 * t) + sp.exp(-t)),
    (("ln", ENTRIES), sp.log(sp.exp(2 * t) + sp.exp(-t))),
]


@pytest.mark.parametrize(("part", "function"), EXPANDED, ids=lambda each: str(each) if isinstance(each, sp.Basic) else "")
def test_the_coefficients_are_those_of_taylor(part: Term, function: sp.Expr) -> None:
    scope = {"x": arb(3) / 2, "m": 2, "s": [arb(2), arb(-1)]}
    for degree, coefficient in enumerate(expansion(part, "t")):
        value = real(Reader(written(coefficient)).expression()(scope))
        expected = (sp.diff(function, t, degree) / sp.factorial(degree)).subs({t: 0, x: AT})
        assert abs(value - arb(str(sp.N(expected, 30)))) < 1e-12, degree


@pytest.mark.parametrize(
    ("part", "shown"),
    [
        (X, ["x", "0", "0", "0"]),
        (T, ["0", "1", "0", "0"]),
        (("mul", T, T), ["0", "0", "1", "0"]),
        (("ln", ("add", num(1), T)), ["0", "1", None, None]),
        (("sum", "i", "m", ("mul", ("entry", "s", ("i",)), T)), ["0", "(\\Sum_(i < m) (s i))", "0", "0"]),
    ],
)
def test_zeros_and_ones_are_left_out(part: Term, shown: list[str | None]) -> None:
    """As the script leaves them out, which has to find the same terms."""
    found = [written(each) for each in expansion(part, "t")]
    assert [one for one, other in zip(found, shown, strict=True) if other is not None] == [each for each in shown if each]


def test_what_is_not_expanded_is_named() -> None:
    z = positive("z")
    with pytest.raises(NotExportedError, match="an expansion beyond the order 3"):
        theorem("it", Expansion(sp.exp(z), 1 + z, z, 4))
    with pytest.raises(NotExportedError, match="the expansion of sqrt"):
        theorem("it", Expansion(sp.sqrt(1 + z), 1 + z / 2, z, 1))
