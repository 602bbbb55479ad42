"""Expectations from two moments for every d, compared with full enumeration of ±1 vectors; higher moments are refused."""

from fractions import Fraction
from itertools import product
from typing import Any

import pytest
import sympy as sp

from derivations.calculus.balls import enclose, explicit
from derivations.calculus.division import quotient
from derivations.calculus.functions import reciprocal
from derivations.calculus.moments import UnknownMomentError, expectation, variance
from derivations.calculus.sums import delta, equal, total
from derivations.calculus.variables import index, scalar, size, vector
from derivations.domains import Random


def named(value: object) -> str:
    """An id that is the same in every process."""
    return str(getattr(value, "__name__", value))


d = size("d")
r, s, t = index("r", d), index("s", d), index("t", d)
other = index("s", d, other_than=(r,))
x, y, X = (vector("x", d, kind=Random), vector("y", d, kind=Random), vector("X", d, d, kind=Random))
a, B = vector("a", d), vector("B", d, d)
dot, weighted = total(r, x[r] * y[r]), total(r, a[r] * x[r])
form = total((r, s), x[r] * B[r, s] * y[s])

MEANS = {
    "E x = 0": (x[r], 0),
    "E x² = 1": (x[r] ** 2, 1),
    "independent entries": (x[r] * x[s], delta(r, s)),
    "different entries": (x[r] * x[other], 0),
    "E⟨x, y⟩ = 0": (dot, 0),
    "E⟨x, y⟩² = d": (dot**2, d),
    "E|x|² = d": (total(r, x[r] ** 2), d),
    "E⟨a, x⟩² = |a|²": (weighted**2, total(r, a[r] ** 2)),
    "E xᵀBx = tr B": (total((r, s), x[r] * B[r, s] * x[s]), total(r, B[r, r])),
    "E (xᵀBy)² = |B|²": (form**2, total((r, s), B[r, s] ** 2)),
    "E (X Xᵀ) = d I": (total(t, X[r, t] * X[s, t]), d * delta(r, s)),
    "a constant": (a[r] ** 3 * total(s, a[s]), a[r] ** 3 * total(s, a[s])),
    "an inner sum in a denominator": (
        total(r, x[r] / total(s, sp.exp(B[r, s]))) ** 2,
        total(r, total(s, sp.exp(B[r, s])) ** -2),
    ),
}


@pytest.mark.parametrize("name", MEANS)
def test_mean_for_every_size(name: str) -> None:
    expr, value = MEANS[name]
    assert equal(expectation(expr), value)
    assert not equal(expectation(expr), value + 1)


@pytest.mark.parametrize(
    ("expr", "value"),
    [(dot, d), (dot / sp.sqrt(d), 1), (weighted, total(r, a[r] ** 2)), (3 * x[r] + 5, 9), (form, total((r, s), B[r, s] ** 2))],
    ids=named,
)
def test_variance_for_every_size(expr: sp.Expr, value: sp.Expr) -> None:
    assert equal(variance(expr), value)
    assert not equal(variance(expr), 2 * value)
    assert equal(variance(expr + a[r]), value)


@pytest.mark.parametrize("name", [name for name in MEANS if not name.startswith("E (X")])
@pytest.mark.parametrize("width", [1, 2, 3])
def test_mean_against_enumeration(name: str, width: int) -> None:
    """±1 entries have mean 0 and variance 1, so the mean over all 4^d sign patterns is the expectation."""
    expr = MEANS[name][0]
    point: dict[Any, Any] = {
        d: width,
        r: 1,
        s: width,
        other: width,
        t: 1,
        a.label: [2, -1, Fraction(1, 2)][:width],
        B.label: [[i - 2 * k for k in range(width)] for i in range(width)],
    }
    if other in expr.free_symbols and width == 1:
        return  # s ≠ r has no instance
    signs = list(product((-1, 1), repeat=width))
    written = [explicit(expr, {**point, x.label: u, y.label: v}) for u in signs for v in (signs if expr.has(y) else [signs[0]])]
    truth = sp.Add(*written) / len(written)
    assert enclose(expectation(expr), point).overlaps(enclose(truth, {}))
    assert not enclose(expectation(expr) + sp.Rational(1, 10**9), point).overlaps(enclose(truth, {}))


@pytest.mark.parametrize(
    "expr",
    [
        x[r] ** 4,
        x[r] ** 3,
        x[r] * x[s] * x[t],
        x[r] ** 2 * x[s] ** 2,
        total(r, x[r] ** 2) ** 2,
        weighted**3,
        weighted**4,
        variance,
        total(r, x[r] ** 3 * y[r]),
    ],
    ids=named,
)
def test_higher_moments_are_refused(expr: Any) -> None:
    with pytest.raises(UnknownMomentError):
        variance(total(r, x[r] ** 2)) if expr is variance else expectation(expr)


@pytest.mark.parametrize(
    "expr",
    [
        sp.exp(x[r]),
        1 / x[r],
        sp.sqrt(x[r]),
        sp.Abs(x[r]),
        sp.log(x[r] ** 2),
        x[r] ** a[r],
        sp.exp(weighted),
        1 / weighted,
        total(r, sp.exp(x[r])),
        a[r] / (1 + x[r]),
        scalar("u", Random),
        x[r] * scalar("u", Random),
        weighted * dot,
        weighted * total(r, B[r, s] * x[r]),  # known, but two different sums are not opened
    ],
    ids=named,
)
def test_other_than_polynomials_of_known_form_is_refused(expr: sp.Expr) -> None:
    with pytest.raises(UnknownMomentError):
        expectation(expr)


def test_the_mean_of_a_number_is_the_number() -> None:
    assert expectation(2) == 2


def test_a_partly_undefined_expression_has_no_mean() -> None:
    undefined = quotient(a[r], a[r])
    assert undefined.has(reciprocal)  # which the normal form would cancel
    with pytest.raises(UnknownMomentError, match=r"^expectation: expected a value everywhere, it is not shown that "):
        expectation(undefined * x[r] ** 2)
