"""Points that end the search for a sign: the expression is not ≥ 0 there (notation of `grammar`)."""

import pytest
import sympy as sp

from derivations.calculus.screening import Facts, _hold, refuted
from derivations.calculus.sums import total
from tests.derivations.calculus.grammar import a, b, i, j, l, q, x, y, z

UNKNOWN = sp.Dummy("unknown", nonnegative=True)


@pytest.mark.parametrize("expr", [x, x - y, q[i] - q[j], -total(l, b[l]), sp.exp(x) - 1 - 2 * x], ids=str)
def test_a_point_refutes(expr: sp.Expr) -> None:
    assert refuted(expr, False, ())
    assert refuted(expr, True, ())


@pytest.mark.parametrize("expr", [x**2 + y, total(l, a[l] ** 2), 1 - q[j], z[i] + y, sp.exp(x) - 1 - x], ids=str)
def test_no_point_refutes_a_true_statement(expr: sp.Expr) -> None:
    assert not refuted(expr, False, ())


def test_only_a_strict_sign_is_refuted_by_0() -> None:
    zero = sp.Mul(0, y, evaluate=False)
    assert refuted(zero, True, ())
    assert not refuted(zero, False, ())


@pytest.mark.parametrize("sense", [False, True])
def test_a_point_must_satisfy_the_facts(sense: bool) -> None:
    assert not refuted(x - y, sense, ((x - y, sense, ()),))
    assert refuted(x - 2 * y, sense, ((x - y, sense, ()),))


@pytest.mark.parametrize(
    ("value", "holds"),
    [(sp.Rational(1, 2), (True, True, True)), (sp.S.Zero, (False, True, False)), (-sp.S.One, (False, False, True))],
    ids=str,
)
def test_which_facts_hold_at_a_point(value: sp.Expr, holds: tuple[bool, bool, bool]) -> None:
    """That x is positive, not negative, and not 0."""
    assert tuple(_hold(((x, sense, ()),), {x: value}) for sense in (True, False, None)) == holds


def test_a_fact_may_be_that_something_is_not_0() -> None:
    assert not refuted(x**2, True, ((x, None, ()),))


@pytest.mark.parametrize("facts", [((-y, True, ()),), ((sp.log(-y), False, ()),)], ids=str)
def test_facts_that_never_hold_leave_no_point(facts: Facts) -> None:
    assert not refuted(-y, False, facts)


@pytest.mark.parametrize("expr", [UNKNOWN - y, -sp.log(-y), sp.Function("f")(y) - y], ids=["a dummy", "undefined", "no rule"])
def test_undefined_expressions_are_not_refuted(expr: sp.Expr) -> None:
    assert not refuted(expr, False, ())
