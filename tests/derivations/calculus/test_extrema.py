"""Maxima, row-dependent factors, objectives with 0 log 0 = 0, and limits between two others."""

import pytest
import sympy as sp

from derivations.calculus.balls import enclose
from derivations.calculus.functions import xlogx
from derivations.calculus.points import points
from derivations.calculus.shorthands import relative
from derivations.calculus.sums import total
from derivations.calculus.variables import index, positive, scalar, simplex, size, variables_of, vector
from derivations.calculus.variables import interior as inner_simplex
from derivations.domains import Nonnegative, Positive
from derivations.relations import AtLeast, Entries, Entry, Limit, Relation, UniqueMaximum, UniqueMinimum, UniquePlan

m, n = size("m"), size("n")
i, j, l = index("i", n), index("j", m), index("l", m)  # noqa: E741
s, S, rho = vector("s", m), vector("S", n, m), inner_simplex("rho", m)
q, u, w = simplex("q", m), vector("u", m, kind=Nonnegative), vector("w", n, kind=Positive)
x, t = scalar("x"), positive("t")


def softmax(at: sp.Expr) -> sp.Expr:
    return sp.exp(s[at] / t) / total(l, sp.exp(s[l] / t))


def weighted(at: sp.Expr) -> sp.Expr:
    return rho[at] * sp.exp(s[at] / t) / total(l, rho[l] * sp.exp(s[l] / t))


def rows(a: sp.Expr, b: sp.Expr) -> sp.Expr:
    return sp.exp(S[a, b] / w[a]) / total(l, sp.exp(S[a, l] / w[a]))


def cost(p: Entry) -> sp.Expr:
    return -total(l, s[l] * p(l)) + t * total(l, relative(p(l), rho[l]))


def gain(p: Entry) -> sp.Expr:
    return total(l, s[l] * p(l)) - t * total(l, xlogx(p(l)))


def of_rows(R: Entries) -> sp.Expr:
    return total((i, j), w[i] * xlogx(R(i, j)) - S[i, j] * R(i, j))


length = total(l, sp.exp(-u[l] / t))
PROVED: dict[str, Relation] = {
    "q log(q/ρ) with 0 log 0 = 0": UniqueMinimum(cost, weighted, m, t),
    "a maximum": UniqueMaximum(gain, softmax, m, t),
    "a temperature for each row": UniquePlan(of_rows, rows, n, m, lambda a: w[a]),
    "a limit between two others": Limit(t * sp.log(1 + length), t, 0, 0, between=(0, t * sp.log(1 + m))),
    "log-sum-exp tends to the greatest score": Limit(
        t * sp.log(sp.exp(x / t) + total(l, sp.exp((x - u[l]) / t))), t, 0, x, between=(x, x + t * sp.log(m + 1))
    ),
    "a sum whose length moves": Limit(total(l, 1 / m**2), m, sp.oo, 0),
    "softmax tends to the uniform weights": Limit(softmax(j), t, sp.oo, 1 / m),
}
FALSE: dict[str, Relation] = {
    "another weight": UniqueMinimum(cost, softmax, m, t),
    "a minimum that is a maximum": UniqueMinimum(gain, softmax, m, t),
    "a maximum at another temperature": UniqueMaximum(gain, lambda at: sp.exp(s[at]) / total(l, sp.exp(s[l])), m, t),
    "one temperature for all rows": UniquePlan(
        of_rows, lambda a, b: sp.exp(S[a, b]) / total(l, sp.exp(S[a, l])), n, m, sp.Integer(1)
    ),
    "another limit": Limit(t * sp.log(1 + length), t, 0, 1, between=(0, t * sp.log(1 + m))),
    "another length": Limit(total(l, 1 / m**2), m, sp.oo, 1),
}
UNPROVED: dict[str, Relation] = {
    "a factor of the rows that is none of these": UniquePlan(of_rows, rows, n, m, lambda a: 2 * w[a]),
    "a factor that depends on a column": UniquePlan(of_rows, rows, n, m, lambda a: S[a, j] ** 2 + w[a]),
    "q log(q/ρ), which has no value at corners": UniqueMinimum(
        lambda p: t * total(l, p(l) * sp.log(p(l) / rho[l])) - total(l, s[l] * p(l)), weighted, m, t
    ),
    "bounds in the wrong order": Limit(t * sp.log(1 + length), t, 0, 0, between=(t * sp.log(1 + m), 0)),
    "a bound that is none": Limit(t * sp.log(1 + length), t, 0, 0, between=(0, t * sp.log(1 + m) / 2)),
    "one bound": Limit(t * sp.log(1 + length), t, 0, 0, between=(0,)),
    "a bound with another limit": Limit(t * sp.log(1 + length), t, 0, 0, between=(0, t * sp.log(1 + m) + 1)),
    "a path without values": Limit(t * sp.log(length - 1), t, 0, 0, between=(0, t * sp.log(1 + m))),
    "bounds of other variables": Limit(t * sp.log(1 + length), t, 0, 0, between=(-t * q[j], t * sp.log(1 + m))),
}


@pytest.mark.parametrize("name", PROVED)
def test_truth_is_proved(name: str) -> None:
    assert not PROVED[name].explain()
    assert PROVED[name].refute() is None


@pytest.mark.parametrize("name", FALSE)
def test_false_statements_are_refuted(name: str) -> None:
    assert not FALSE[name].prove()
    assert FALSE[name].refute() is not None


@pytest.mark.parametrize("name", UNPROVED)
def test_statements_that_do_not_follow_stay_undecided(name: str) -> None:
    assert not UNPROVED[name].prove()


def test_a_maximum_prints_as_a_maximum() -> None:
    assert "is the only maximizer of" in str(PROVED["a maximum"])
    witness = FALSE["a maximum at another temperature"].refute()
    assert witness is not None
    assert witness.sign in "<="


def test_a_relative_logarithm_has_the_value_of_its_quotient() -> None:
    written = relative(q[j], rho[j])
    for point in points(variables_of(written)):
        value, quotient = enclose(written, point), enclose(q[j] * sp.log(q[j] / rho[j]), point)
        assert value.overlaps(quotient) if quotient.is_finite() else value == 0


def test_a_limit_is_no_inequality() -> None:
    assert AtLeast(t * sp.log(1 + m), t * sp.log(1 + length)).prove()
