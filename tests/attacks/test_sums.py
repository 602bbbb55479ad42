"""Sums of symbolic length with wrong ranges, names, index arithmetic, deltas, masses or marginals."""

import pytest
import sympy as sp

from derivations.calculus.functions import derivative
from derivations.calculus.orders import upto
from derivations.calculus.powers import plus
from derivations.calculus.sums import delta, total
from derivations.calculus.variables import Variable, Vector, coupling, index, simplex, vector
from derivations.domains import Coupling, Index, Positive, Simplex
from derivations.relations import AtLeast, Equation
from tests.attacks import Table, refused
from tests.attacks.vocabulary import K3, QQ, RR, A, P, a, b, h, half, i, j, k, l, m, n, q, r, s, tau, u, v, w, wherever, x, y

wide = Vector(r.label, shape=(n,))  # the same entries, declared as n
bare = Vector(r.label)
d = vector("d", m, kind=Positive)
outer = total(j, a[j]).bound_symbols[0]  # an index that a sum has renamed
over_n = Vector(RR.label, shape=(m, n))


def to(end: Variable) -> sp.Expr:
    """Σ_{l ≤ end} l, by an index whose range ends at another index."""
    inner = index("l", end)
    return sp.Sum(inner, (inner, 1, end))


INDICES: Table = {
    "A1: a row of a stochastic matrix whose row moves with the column": lambda: Equation(K3 * total(j, RR[m + 1 - j, j]), K3),
    "A1: without the factor": lambda: Equation(total(j, RR[m + 1 - j, j]), 1),
    "A1: the marginal of a coupling at a place that moves": lambda: Equation(total(j, coupling("D", u, u)[m + 1 - j, j]), u[j]),
    "A1: the row is twice the column": lambda: Equation(total(j, RR[2 * j - j, j]), 1),
    "a trace is no row": lambda: Equation(total(j, RR[j, j]), 1),
    "a trace is not the mass": lambda: Equation(total(j, QQ[j, j]), 1),
    "a trace hidden at small sizes": lambda: Equation(K3 * total(j, RR[j, j]), K3),
    "an entry after the last": lambda: wherever(a[m + 1]),
    "the entry 0": lambda: wherever(a[0]),
    "an entry before the first": lambda: wherever(a[-1]),
    "the last but one of one": lambda: wherever(a[m - 1]),
    "the second of one": lambda: wherever(a[2]),
    "an entry at another vector's size": lambda: wherever(a[n]),
    "an entry at an index over another range": lambda: wherever(a[i]),
    "rows and columns exchanged": lambda: wherever(A[j, i]),
    "the middle of an odd number": lambda: wherever(a[m / 2]),
    "an entry at a real number": lambda: wherever(a[y]),
    "an entry at twice the index": lambda: Equation(total(l, 2 * a[2 * l] + x), 2 * total(l, a[2 * l]) + m * x),
    "the next entry of the last": lambda: Equation(total(l, 2 * a[l + 1]), 2 * total(h, a[h + 1])),
    "a telescoping sum": lambda: Equation(total(l, a[l + 1] - a[l] + a[1]), total(l, a[l + 1]) - total(l, a[l]) + m * a[1]),
    "the entry before the first in a sum": lambda: Equation(total(l, 2 * a[l - 1]), 2 * total(h, a[h - 1])),
    "an entry chosen by an entry": lambda: wherever(a[sp.Abs(a[j])]),
    "A9: an index over a real range": lambda: Equation(total(index("e", y), 1), y),
    "A9: an index over half a size": lambda: Equation(total(index("e", m / 2), 1), m / 2),
    "A9: an index over a fraction": lambda: Equation(total(index("e", sp.Rational(5, 2)), 1), sp.Rational(5, 2)),
    "A9: an index over an irrational range": lambda: Equation(total(index("e", sp.sqrt(2) * m), 1), sp.sqrt(2) * m),
    "A9: an index over infinitely many": lambda: Equation(total(index("e", sp.oo), 1), sp.oo),
    "A9: an index over nothing": lambda: Equation(total(index("e", m - 1), 1), m - 1),
    "A9: an index over a positive scalar times a size": lambda: Equation(total(index("e", m * tau), 1), m * tau),
    "A9: an index over a number that is none": lambda: Equation(total(index("e", sp.nan), 1), sp.nan),
    "a size as bound index": lambda: Equation(total(m, a[m]), total(l, a[l])),
    "a scalar as bound index": lambda: Equation(total(y, y), y),
}

RANGES: Table = {
    "A7: a sum from 2": lambda: Equation(sp.Sum(b[l], (l, 2, m)), total(l, b[l])),
    "A7: from 2, positive": lambda: AtLeast(sp.Sum(b[l], (l, 2, m)), 0, strict=True, because=sp.Sum(b[l], (l, 2, m))),
    "A7: from 2, by its own normal form": lambda: AtLeast(sp.Sum(b[l], (l, 2, m)), 0, strict=True),
    "A7: to m − 1, positive": lambda: AtLeast(sp.Sum(b[l], (l, 1, m - 1)), 0, strict=True, because=sp.Sum(b[l], (l, 1, m - 1))),
    "A7: from j + 1, positive": lambda: AtLeast(
        sp.Sum(b[l], (l, j + 1, m)), 0, strict=True, because=sp.Sum(b[l], (l, j + 1, m))
    ),
    "A7: from 2, at small sizes all": lambda: Equation(K3 * sp.Sum(u[l], (l, 2, m)), K3),
    "from 0": lambda: wherever(sp.Sum(a[l], (l, 0, m))),
    "to m + 1": lambda: wherever(sp.Sum(a[l], (l, 1, m + 1))),
    "to another size": lambda: Equation(sp.Sum(u[l], (l, 1, n)), 1),
    "to m − 1, of mass 1": lambda: Equation(sp.Sum(u[l], (l, 1, m - 1)), 1),
    "from 2, counted": lambda: Equation(sp.Sum(1, (l, 2, m)), m),
    "downwards": lambda: Equation(sp.Sum(a[l], (l, m, 1)), total(l, a[l])),
    "to half": lambda: Equation(sp.Sum(1, (l, 1, m / 2)), m / 2),
    "to infinity": lambda: Equation(sp.Sum(y, (l, 1, sp.oo)), sp.oo),
    "a triangle for a square": lambda: Equation(sp.Sum(a[l] * s[j], (l, 1, j), (j, 1, m)), total(l, a[l]) * total(j, s[j])),
    "triangles of the same mean": lambda: Equation(
        sp.Sum(a[outer] * to(outer), (outer, 1, m)), total(l, a[l]) / m * sp.Sum(to(outer), (outer, 1, m))
    ),
    "triangles of the same mean, far away only": lambda: Equation(
        plus(x - 10**60) * sp.Sum(a[outer] * to(outer), (outer, 1, m)),
        plus(x - 10**60) * total(l, a[l]) / m * sp.Sum(to(outer), (outer, 1, m)),
    ),
    "without limits": lambda: Equation(sp.Sum(a[l], l), total(l, a[l])),
    "over a plain symbol from 2": lambda: Equation(
        sp.Sum(sp.Symbol("o", integer=True), (sp.Symbol("o", integer=True), 2, m)), m * (m + 1) / 2
    ),
    "k ≠ j counted as all": lambda: Equation(total(k, 1), m),
    "k ≠ j has not all the mass": lambda: Equation(total(k, u[k]), 1),
    "k ≠ j may be nothing": lambda: AtLeast(total(k, b[k]), 0, strict=True),
    "k ≠ j may be nothing, at least one": lambda: AtLeast(total(k, 1), 1),
    "k ≠ j written by hand": lambda: Equation(sp.Sum(u[k], (k, 1, m)), 1 - u[j]),
    "pairs j ≠ k counted as all pairs": lambda: Equation(total((j, k), 1), m**2),
    "one range for another": lambda: Equation(total(i, 1), m),
    "Σ 1 over both": lambda: Equation(total((i, j), 1), m**2),
}

NAMES: Table = {
    "the inner index shadows the outer": lambda: Equation(
        sp.Sum(a[l] * sp.Sum(s[l], (l, 1, m)), (l, 1, m)), sp.Sum(a[l] * s[l], (l, 1, m))
    ),
    "one name bound twice": lambda: Equation(sp.Sum(a[l], (l, 1, m), (l, 1, m)), total(l, a[l]) ** 2),
    "a free name beside the bound one": lambda: Equation(sp.Sum(a[j], (j, 1, m)) * a[j], sp.Sum(a[j] ** 2, (j, 1, m))),
    "a product of sums under one name": lambda: Equation(total(l, a[l]) * total(l, s[l]), total(l, a[l] * s[l])),
    "the square of a sum": lambda: Equation(total(l, a[l]) ** 2, total(l, a[l] ** 2)),
    "the square of a sum, small sizes silent": lambda: Equation(K3 * total(l, u[l]) ** 2, K3 * total(l, u[l] ** 2)),
    "a sum inside a sum of the same name": lambda: Equation(
        total(j, sp.exp(a[j]) / total(j, sp.exp(a[j]))), total(j, sp.exp(a[j])) / total(j, sp.exp(a[j] ** 2))
    ),
    "an index twice in a pair": lambda: Equation(total((l, l), 1), m**2),
    "two vectors of one name": lambda: Equation(total(l, a[l]), total(i, vector("a", n)[i])),
    "two scalars of one name": lambda: Equation(x, Variable("x", Positive())),
    "an index of one name over another range": lambda: Equation(total(index("j", n), 1), total(j, 1)),
    "a derivative by an entry with the bound name": lambda: Equation(
        derivative(sp.Sum(a[j] * s[j], (j, 1, m)), a[j]), total(j, s[j])
    ),
    "the canonical bound name, free": lambda: Equation(total(l, a[l]) * Variable("ι1", Index((m,))), total(l, a[l] * l)),
    "the canonical bound name, by an author": lambda: Equation(total(l, a[l] * index("ι1", m)), total(l, a[l] * l)),
    "a fresh name, by an author": lambda: Equation(total(l, a[l] * index("j#1", m)), total(l, a[l] * l)),
    "bound over m, limit n": lambda: Equation(sp.Sum(u[l], (l, 1, n)) + 1, 2),
    "the mean of a product": lambda: Equation(total(l, u[l] * a[l] * s[l]), total(l, u[l] * a[l]) * total(l, u[l] * s[l])),
}

MASSES: Table = {
    "a row of a point of a simplex of pairs": lambda: Equation(total(j, QQ[l, j]), 1),
    "the mass of squares": lambda: Equation(total(j, r[j] ** 2), 1),
    "the mass of a root": lambda: Equation(total(j, sp.sqrt(r[j])), 1),
    "a simplex said to be longer": lambda: Equation(total(i, wide[i]), 1),
    "a simplex of pairs said to be wider": lambda: Equation(total((j, i), Vector(QQ.label, shape=(m, n))[j, i]), 1),
    "a simplex said to have no length": lambda: Equation(total(j, bare[j]), 1),
    "a stochastic matrix said to be wider": lambda: Equation(total(i, over_n[j, i]), 1),
    "a column of a stochastic matrix": lambda: Equation(total(j, RR[j, l]), 1),
    "the mass of a stochastic matrix": lambda: Equation(total((j, l), RR[j, l]), 1),
    "the diagonal of a stochastic matrix, twice summed": lambda: Equation(total((j, l), RR[j, j]), m),
    "row sums of a coupling for column sums": lambda: Equation(total(i, P[i, j]), v[i]),
    "a coupling's entries are products": lambda: Equation(P[i, j], v[i] * u[j]),
    "the squares of a coupling": lambda: Equation(total(i, P[i, j] ** 2), u[j] ** 2),
    "A4: a coupling of real vectors": lambda: Equation(total((j, l), coupling("D", a, s)[j, l]), total(j, a[j])),
    "A4: a coupling of unequal masses": lambda: Equation(total((j, l), coupling("D", b, d)[j, l]), total(j, d[j])),
    "A4: real marginals, equal masses": lambda: Equation(
        total((j, l), coupling("D", a, s)[j, l] - a[j] / m), total(l, s[l]) - total(l, a[l])
    ),
    "a coupling whose shape is not its marginals'": lambda: Equation(
        total(i, Vector(Variable("D", Coupling((m, n), marginals=(u, u))), shape=(m, n))[j, i]), u[j]
    ),
    "a simplex without axes": lambda: Equation(Variable("p", Simplex()), 1),
    "a simplex of no points": lambda: AtLeast(2, 3, because=simplex("e", sp.S.Zero)[1]),
    "a simplex that is empty at m = 1": lambda: AtLeast(1, simplex("e", m - 1)[1]),
    "divided by a sum that may be 0": lambda: Equation(
        total(j, (a[j] + a[j] ** 2) / total(l, a[l])), 1 + total(j, a[j] ** 2) / total(l, a[l])
    ),
    "rows divided by sums that may be 0": lambda: Equation(total((i, j), A[i, j] / total(l, A[i, l])), n),
    "nonnegative weights divided by a sum that may be 0": lambda: Equation(
        total((i, j), sp.Abs(A[i, j]) / total(l, sp.Abs(A[i, l]))), n
    ),
    "divided by column sums": lambda: Equation(total((i, j), sp.exp(A[i, j]) / total(i, sp.exp(A[i, j]))), n),
}

DELTAS: Table = {
    "B3: δ at half a size": lambda: Equation(total(j, delta(j, m / 2)), 1),
    "B3: δ at a rounded half": lambda: Equation(total(j, delta(j, (m + 1) / 2)), 1),
    "B3: δ of two halves": lambda: Equation(delta(j, m / 2) * 2, delta(j, sp.floor(m / 2)) * 2),
    "δ after the end": lambda: Equation(total(j, delta(j, m + 1)), 1),
    "δ before the beginning": lambda: Equation(total(j, delta(j, m - 1)), 1),
    "δ at 2 of one": lambda: Equation(total(j, delta(j, 2)), 1),
    "δ at 0": lambda: Equation(total(j, delta(j, 0)), 1),
    "δ at another size": lambda: Equation(total(j, delta(j, n)), 1),
    "δ of different ranges": lambda: Equation(total(j, delta(j, i)), 1),
    "δ at a real number": lambda: Equation(total(j, delta(j, y)), 1),
    "δ of k ≠ j": lambda: Equation(total(k, delta(k, l)), 1),
    "δ of scalars is no δ of indices": lambda: Equation(delta(x, w) * x, delta(x, w) * w),
    "δ at the mirrored place": lambda: Equation(total(j, delta(j, m + 1 - j)), 1),
    "δ at the mirrored place, small sizes silent": lambda: Equation(K3 * total(j, delta(j, m + 1 - j)), K3),
    "δ + δ": lambda: Equation(total((j, l), delta(j, l)), m**2),
    "δ to a power that may be 0": lambda: Equation(total(l, delta(j, l) ** x), 1),
    "δ in a denominator": lambda: Equation(total(l, (1 + delta(j, l)) / delta(j, l)), total(l, 1 / delta(j, l)) + m),
    "1 − δ in a denominator": lambda: Equation((2 - delta(j, l)) / (1 - delta(j, l)), 1 + 1 / (1 - delta(j, l))),
    "δ(1 − δ) hides a log of what may be negative": lambda: Equation(delta(j, l) * (1 - delta(j, l)) * sp.log(x), 0),
    "δ(1 − δ) hides a division by 0": lambda: Equation(delta(j, l) * (1 - delta(j, l)) / (x - w), 0),
    "Σ δ hides an entry out of range": lambda: Equation(total(l, delta(j, l) * a[l + 1]), a[j + 1]),
    "δ of k and j, known to differ, hides a division by 0": lambda: Equation(delta(j, k) / x, 0),
    "the half of δ": lambda: Equation(delta(j, l) * half, delta(j, l)),
    "products of δ": lambda: Equation(delta(j, l) * delta(l, h), delta(j, h)),
    "δ picks the wrong vector": lambda: Equation(total(l, delta(j, l) * q[l]), r[j]),
}

ATTACKS = INDICES | RANGES | NAMES | MASSES | DELTAS


@pytest.mark.parametrize("name", ATTACKS)
def test_is_not_proved(name: str) -> None:
    assert refused(ATTACKS[name])


longer, other = vector("x", m + 1), vector("c", m + 1)
ends = longer[m + 1] - longer[1]

NEIGHBOURS: Table = {
    "a sum of differences that ends one place early": lambda: Equation(
        K3 * total(l, longer[l + 1] - longer[l]), K3 * (longer[m] - longer[1])
    ),
    "a sum of differences that begins one place late": lambda: Equation(
        K3 * total(l, longer[l + 1] - longer[l]), K3 * (longer[m + 1] - longer[2])
    ),
    "differences of two vectors": lambda: Equation(K3 * total(l, longer[l + 1] - other[l]), K3 * ends),
    "differences in other steps": lambda: Equation(K3 * total(l, l * (longer[l + 1] - longer[l])), K3 * m * ends),
    "distances of neighbours": lambda: Equation(K3 * total(l, sp.Abs(longer[l + 1] - longer[l])), K3 * sp.Abs(ends)),
    "differences of what does not move along": lambda: Equation(
        K3 * total(l, sp.exp(total(h, s[h] * a[l] * longer[l + 1])) - sp.exp(total(h, s[h] * a[l] * longer[l]))),
        K3 * (sp.exp(total(h, s[h] * a[m] * longer[m + 1])) - sp.exp(total(h, s[h] * a[1] * longer[1]))),
    ),
    "differences of a vector that is too short": lambda: Equation(total(l, a[l + 1] - a[l]), a[m + 1] - a[1]),
    "differences that are counted": lambda: Equation(K3 * total(l, upto(l + 1, j) - upto(l, j)), 0),
    "a geometric sum of another ratio": lambda: Equation(K3 * (1 - x) * total(l, y ** (l - 1)), K3 * (1 - x**m)),
    "a geometric sum of one term less": lambda: Equation(K3 * (1 - x) * total(l, x ** (l - 1)), K3 * (1 - x ** (m - 1))),
    "a geometric sum over 0": lambda: Equation(total(l, x ** (l - 1)), (1 - x**m) / (1 - x)),
    "fractions with a pole": lambda: Equation(total(l, 1 / ((l - 3) * (l - 2))), 1 / (m - 2) - 1),
    "fractions to the end": lambda: Equation(K3 * total(l, 1 / (l * (l + 1))), K3 * (1 - 1 / m)),
}


@pytest.mark.parametrize("name", NEIGHBOURS)
def test_neighbours(name: str) -> None:
    assert refused(NEIGHBOURS[name])
