"""Errors found by independent readers of the kernel: false statements that were proved, true ones that were refuted."""

import pytest
import sympy as sp

from derivations.calculus.division import power, product, quotient
from derivations.calculus.functions import derivative, kl
from derivations.calculus.moments import expectation
from derivations.calculus.powers import bregman
from derivations.calculus.sums import delta, total
from derivations.calculus.variables import Variable, Vector, interior, positive, vector
from derivations.domains import Coupling, Index, Positive, Random, Real
from derivations.records.claims import SUPPORTING_VERDICTS
from derivations.relations import (
    AtLeast,
    Equation,
    Expansion,
    Fails,
    Follows,
    Limit,
    Relation,
    Solves,
    StrictUnlessEqual,
    UniqueMinimum,
    UniquePlan,
)
from derivations.relations.base import Entry
from tests.attacks import Table, refused, refuted
from tests.attacks.entries import entry, verdict_on
from tests.attacks.vocabulary import K3, RR, a, b, h, i, j, k, l, m, n, one, r, s, t, two, w, wherever, x, y

g, d = vector("g", m), vector("d", m)
wide = Vector(a.label, shape=(n,))
ten, zero = sp.Integer(10), sp.S.Zero
named, shifted = positive("x"), w - sp.Rational(5, 13)  # x itself is any real number
noise = vector("o", m, kind=Random)


def growing(factor: sp.Expr = one) -> tuple[Solves, ...]:
    """v = t(1 + v): t/(1 − t)."""
    return (Solves(g, lambda e: lambda key: 1 + factor * e(key)),)


def tilted(key: sp.Expr) -> sp.Expr:
    return sp.exp(x * d[key]) / total(l, sp.exp(x * d[l]))


def spread(q: Entry) -> sp.Expr:
    mean = total(l, d[l] * tilted(l))
    return ten * total(h, q(h) * (d[h] - mean) ** 2)


def with_slope(sign: int, slack: bool) -> UniqueMinimum:
    """KL(q ‖ p) plus a derivative in x that is 0 for each fixed q."""

    def objective(q: Entry) -> sp.Expr:
        slope = sign * derivative(ten * total(l, q(l) * d[l]), x)
        return total(l, kl(q(l), tilted(l))) + slope + (spread(q) if slack else 0)

    return UniqueMinimum(objective, tilted, m, one, slack=spread if slack else None)


ATTACKS: Table = {
    "A1: a derivative in the objective moves the candidate": lambda: with_slope(-1, slack=True),
    "A3: a sum over more than the range, of terms that vanish fast": lambda: Limit(
        sp.Sum(sp.exp(-l * t), (l, 1 - K3, m)), t, sp.oo, zero
    ),
    "A4: a limit through where a divergence has no value": lambda: Limit(bregman(x, y, sp.Integer(3)), x, -sp.oo, -sp.oo),
    "A4: a divergence of a negative number": lambda: Limit(kl(zero, x), x, -sp.oo, -sp.oo),
    "A4: the derivative of what has no value": lambda: Limit(derivative(x / t + sp.log(w), x), t, sp.oo, zero),
    "A5: a divergence beyond the order": lambda: Expansion(y + t**2 * kl(x, 1 + t), y, t, 1),
    "A5: a divergence of any real number": lambda: Expansion(bregman(x, 1 + t, two), (x - 1) ** 2 / 2 - t * (x - 1), t, 1),
    "A5: a divergence where the variable is negative": lambda: Expansion(bregman(x, y, two), y**2 / 2 - x * y, x, 1),
    "A5: a kink beyond the order": lambda: Expansion(y + derivative(t**2 * sp.Abs(x), x), y, t, 1),
    "A6: an entry of the solution that does not exist": lambda: Expansion(
        g[m + 1], t, t, 1, where=(Solves(g, lambda e: lambda key: one),)
    ),
    "A6: an equation that needs such an entry": lambda: Expansion(
        g[j], t + t**2, t, 2, where=(Solves(g, lambda e: lambda key: 1 + e(key + 1)),)
    ),
    "A7: a derivative by an entry that does not exist": lambda: Equation(derivative(x**2, a[m + 1]) + w, w),
    "A7: a derivative by an entry at no index": lambda: Equation(derivative(x**2, a[y]) + w, w),
    "A9: a derivative of a solution that is cut": lambda: Expansion(derivative(g[j], t), one, t, 1, where=growing()),
    "A10: an equation with the solution's derivative": lambda: Expansion(
        g[j], t, t, 1, where=(Solves(g, lambda e: lambda key: 1 + derivative(e(key), t)),)
    ),
    "A11: a limit that moves with its entry": lambda: Limit(a[k], a[k], a[k] ** 2, a[k] ** 2),
    "A11: an end that may be the entry": lambda: Limit(a[j] * x, a[j], a[l], a[l] * x),
    "A13: a factor of the unknown that has no value": lambda: Expansion(g[j], t, t, 1, where=growing(sp.log(x))),
    "A13: a factor of the unknown that may be divided by 0": lambda: Expansion(g[j], t, t, 1, where=growing(1 / x)),
    "A13: a factor of the unknown that is no variable": lambda: Expansion(g[j], t, t, 1, where=growing(sp.Symbol("zz"))),
    "A14: an entry of a base of another shape": lambda: Limit(1 / a[i], wide[i], sp.oo, zero),
    "A15: t over a solution that is cut": lambda: Expansion(t / g[j], one, t, 1, where=growing()),
    "A15: a solution that is cut over t": lambda: Expansion(g[j] / t, one, t, 1, where=growing()),
    "A15: its logarithm": lambda: Expansion(sp.log(g[j] / t) + x, x, t, 1, where=growing()),
    "A15: an equation that divides by t": lambda: Expansion(g[j], t, t, 1, where=growing(1 / t)),
    "A16: a term that divides by 0": lambda: Limit(sp.exp(-a[k]) * total(l, x / (a[l] - a[k])), a[k], sp.oo, zero),
    "A16: the same, as a quotient": lambda: Limit(total(l, x / (a[l] - a[k])) / sp.exp(a[k]), a[k], sp.oo, zero),
    "A17: the diagonal of a stochastic matrix": lambda: AtLeast(total(j, RR[j, j] * b[j]), 0, strict=True, at={m: 1}),
    "A17: a trace that is divided by": lambda: Equation(
        (total(j, RR[j, j]) + x) / total(j, RR[j, j]), 1 + x / total(j, RR[j, j])
    ),
    "A12: one over one over x": lambda: Equation(quotient(1, 1 / x), x),
    "A12: the same as a power": lambda: Equation(power(1 / x, -1) + y, x + y),
    "A12: a power of 0 of what has no value": lambda: Equation(power(1 / x, 0) + x, x + 1),
    "A12: in a sum": lambda: Equation(total(l, quotient(b[l], 1 / a[l])), total(l, a[l] * b[l])),
    "A18: a vector of no entries": lambda: Equation(Variable("f", Real((zero,))), x),
    "A18: an index that differs from a scalar": lambda: Equation(a[Variable("e", Index((m,), (x,)))], x),
    "A18: a scalar that differs from an index": lambda: AtLeast(Variable("f", Positive((), (j,))), 0),
    "A18: a plan whose marginals have no masses": lambda: Equation(Variable("f", Coupling((m, m), marginals=(a, a))), x),
    "A19: strict unless a point is itself": lambda: StrictUnlessEqual(y, y, y, y, y, (one, one)),
    "A19: the same in another form": lambda: StrictUnlessEqual(y, y, y * (t + 1), y * t + y, y, (one, one)),
    "C1: two variables of one name, of which one moves": lambda: Limit(x / (named + x), x, zero, zero),
    "C1: the same in an expansion": lambda: Expansion(x**2 / named, zero, x, 1),
    "C1: a size that moves": lambda: Limit(m / (positive("m") + m), m, sp.oo, one),
    "C1: a solution of the name of a scalar": lambda: Expansion(
        g[j] / positive("g"), t * a[j] / positive("g"), t, 1, where=(Solves(g, lambda e: lambda key: a[key]),)
    ),
    "C3: an infinity of the author's": lambda: Limit(
        sp.exp(x / 10**30) - 1, x, sp.Symbol("oo", extended_positive=True, infinite=True), -one
    ),
    "C4: an end that may be 0": lambda: Limit(sp.Abs(x - w) / (x - w), x, w, -one, at={w: 5}),
    "C4: an end that may be 0, at 5/13": lambda: Limit((x - shifted) / sp.Abs(x - shifted), x, shifted, -one),
    "C5: 0 > 0": lambda: AtLeast(positive("0"), 0, strict=True),
    "C5: a sum that is a name": lambda: AtLeast(positive("x - x"), 0, strict=True),
    "C5: an infinity that is a name": lambda: AtLeast(positive("oo"), 0, strict=True),
    "C5: a name that is shown as another": lambda: Equation((x - positive("aι")) * 2, 2 * x - 2 * positive("aι")),
    "C6: a number over 1/x": lambda: Equation((quotient(one, 1 / x) + w) ** 2, x**2 + 2 * w * x + w**2),
    "C6: a number over 1/r": lambda: Equation(total(l, quotient(one, 1 / r[l])), 1),
    "C6: a fraction over 1/x": lambda: Equation(quotient(sp.Rational(1, 2), 1 / x) + x, 3 * x / 2),
    "C7: what leaves j out is divided by": lambda: Equation(total(k, x**2 / (1 - delta(k, j))), m * x**2),
    "C7: the same in an inequality": lambda: AtLeast(
        total(k, b[k] ** 2 / (1 - delta(k, j))), b[j] ** 2, because=total(k, b[k] ** 2)
    ),
    "C8: a mean of x/x": lambda: wherever(y * expectation(product(x, 1 / x) * noise[j] ** 2)),
    "C8: a mean of an entry that is none": lambda: wherever(y * expectation(noise[m + 1] ** 2)),
    "C8: a mean of logs of negatives": lambda: wherever(y * expectation((sp.log(-y) - sp.log(-2 * y)) * noise[j] ** 2)),
    "an end at an entry of no index": lambda: Limit(a[1] / total(l, b[l]), a[1], sp.oo, sp.oo),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_is_not_proved(name: str) -> None:
    assert refused(ATTACKS[name])


NOT_THE_ONLY: Table = {
    "F13: any point of the simplex": lambda: UniqueMinimum(lambda q: 5 * total(l, q(l)), lambda key: one / m, m, one),
    "F13: any plan": lambda: UniquePlan(lambda R: total([i, l], R(i, l)), lambda row, column: one / m, n, m, one),
    "F13: a tie at equal costs": lambda: UniqueMinimum(
        lambda q: total(l, q(l) * a[l]), lambda key: delta(key, j), m, one, at={m: 2, a: (1, 1), j: 1}
    ),
}


@pytest.mark.parametrize("name", NOT_THE_ONLY)
def test_an_equally_good_rival_refutes_a_unique_minimizer(name: str) -> None:
    assert refuted(NOT_THE_ONLY[name])


TRUE: Table = {
    "a softmax of everything": lambda: Limit(total(l, sp.exp(a[l])) / total(h, sp.exp(a[h])), a[j], sp.oo, one),
    "A1: the minimum of a divergence": lambda: with_slope(1, slack=False),
    "C3: a limit at an irrational number": lambda: Limit(x**2, x, sp.pi, sp.pi**2),
    "C3: a limit at a root": lambda: Limit(t**2, t, sp.sqrt(2), two),
    "A8: a limit at a negative number": lambda: Limit(sp.Abs(x) + 10**12 * (x + 3), x, -sp.Integer(3), sp.Integer(3)),
    "A9: a derivative of a solution": lambda: Expansion(derivative(g[j], t), 1 + 2 * t, t, 1, where=growing()),
    "A15: t over a solution": lambda: Expansion(t / g[j], 1 - t, t, 1, where=growing()),
}


@pytest.mark.parametrize("name", TRUE)
def test_is_not_a_disproof(name: str) -> None:
    """An unproved statement may be refused, but it is not refuted."""
    assert refused(lambda: Fails(TRUE[name]()))


def implied(first: AtLeast) -> tuple[Relation, Relation]:
    """A step that needs two different keys, and a conclusion for any number of keys."""
    return first, Follows((AtLeast(m, 2),), AtLeast(3 * m, 6), (sp.Integer(3),))


PAIRS = total(l, (1 - delta(l, j)) * (1 - delta(l, k)))


@pytest.mark.parametrize(
    "first", [AtLeast(m, 2, because=PAIRS, about=(k,)), AtLeast(m + a[k], 2 + a[k], because=PAIRS)], ids=["about", "cancelled"]
)
def test_a2_a_premise_that_was_shown_for_two_keys(first: AtLeast) -> None:
    assert verdict_on(entry(*implied(first))).verdict not in SUPPORTING_VERDICTS


def test_a21_a_formula_that_is_shown_has_no_name_that_is_captured() -> None:
    bound = total(l, a[l]).limits[0][0]
    assert str(Equation(sp.Sum(a[bound] * s[l], (bound, 1, m)), s[l] * total(h, a[h]))) == "Σ_l′(a[l′]*s[l]) = s[l]*Σ_h(a[h])"


def test_c2_the_rival_and_its_indices_differ_from_the_authors_names() -> None:
    q, B = interior("q", m), vector("B", m, m, kind=Positive)
    own = UniqueMinimum(lambda p: total(l, kl(p(l), q[l])), lambda key: q[key], m, one)
    assert str(own) == "q[j] is the only minimizer of Σ_l(kl(q′[l] ‖ q[l]))"
    row = total(l, B[j, l])
    placed = UniqueMinimum(lambda p: total(l, kl(p(l), B[j, l] / row)), lambda key: B[j, key] / row, m, one)
    assert str(placed).startswith("B[j, j′]/Σ_l(B[j, l]) is the only minimizer")


def test_c2_a_bound_name_takes_as_many_primes_as_it_needs() -> None:
    bound, prime = total(l, a[l]).limits[0][0], positive("l′")
    assert str(Equation(sp.Sum(a[bound] * s[l] * prime, (bound, 1, m)), prime)).startswith("Σ_l′′(")
