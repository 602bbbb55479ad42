"""The rules of the normal form one by one: each decides an identity that no other rule decides (notation of `grammar`)."""

import pytest
import sympy as sp

from derivations.calculus.functions import derivative, kl, xlogx
from derivations.calculus.powers import plus
from derivations.calculus.sums import alike, appearance, delta, equal, normal, total
from derivations.calculus.variables import Variable, complementary, positive, scalar, simplex, vector
from derivations.domains import Index, Positive
from tests.derivations.calculus.grammar import B, P, R, a, b, c, h, i, j, k, l, m, q, w, x, y

s, d = vector("s", m), vector("d", m, kind=Positive)
slack = complementary("mu", q)
f = b[l] ** 2 / (b[l] + y)  # = g − yg/(b + y)
g, lower = b[l], y * b[l] / (b[l] + y)
t = c[h] ** 2
total_a, total_s = total(i, a[i]), total(i, s[i])


def scales(count: int, less: sp.Expr = sp.S.Zero) -> sp.Expr:
    """A sum of exponentials of that many variables, minus one."""
    return sp.Add(*[sp.exp(scalar(f"v{number}") - less) for number in range(count)])


TRUE = {
    "over a common denominator": (b[j] / (b[j] + y) + y / (b[j] + y), 1),
    "over a common denominator in a sum": (total(l, f + lower), total(l, g)),
    "summands of three sums": (total(l, f) + total(i, y * b[i] / (b[i] + y)), total(h, c[h]) - total(h, c[h]) + total(l, b[l])),
    "over two ranges": (total(l, f) + total(h, t**2 / (t + y)), total(l, g - lower) + total(h, t - t * y / (t + y))),
    "times a common sum": (total_a * total(l, f) + total_a * total(l, lower), total_a * total(l, g)),
    "times another common sum": (total_s * total(l, f) + total_s * total(l, lower), total_s * total(l, g)),
    "times a common sum, beside one sum": (
        total_a * total(l, f) + total_a * total(l, lower) + total(l, f) + total(l, lower),
        total_a * total(l, g) + total(l, g),
    ),
    "times a common sum, a square": (total(l, f) * total(l, g) + total(l, lower) * total(l, g), total(l, g) ** 2),
    "positive parts of both orientations": (plus(x) - plus(-x), x),
    "an absolute value": (sp.Abs(x), 2 * plus(x) - x),
    "the square of a positive part": (plus(x) ** 2, x * plus(x)),
    "a sign that SymPy does not know": (xlogx(total(l, q[l] * b[l])), total(l, q[l] * b[l]) * sp.log(total(l, q[l] * b[l]))),
    "log of scaled exponentials": (sp.log(scales(3) * sp.exp(a[j])), a[j] + sp.log(scales(3))),
    "log of as many scales as are tried": (sp.log(scales(6, scalar("v0"))), sp.log(scales(6)) - scalar("v0")),
    "log of more scales than are tried": (sp.log(scales(7, scalar("v0"))), sp.log(scales(7)) - scalar("v0")),
    "log of a number times a sum": (sp.log(2 * b[j] + 2 * y), sp.log(2) + sp.log(b[j] + y)),
    "log of a product with what has no sign": (sp.log(b[j] * (x + 1)), sp.log(b[j]) + sp.log(x + 1)),
    "log of a real power": (sp.log(b[j] ** x), x * sp.log(b[j])),
    "a number out of a denominator": (1 / (2 * b[j] + 4 * y), 1 / (b[j] + 2 * y) / 2),
    "a number out of a denominator in an exponential": (sp.exp(1 / (2 * b[j] + 4 * y)), sp.exp(1 / (b[j] + 2 * y) / 2)),
    "a delta of a sum of indices": (delta(j, i + 1) ** 2 * x, delta(j, i + 1) * x),
    "a number out of a root": ((4 * b[j] + 8 * y) ** sp.Rational(-1, 2), (b[j] + 2 * y) ** sp.Rational(-1, 2) / 2),
    "multipliers vanish": (slack[j] * q[j], 0),
    "multipliers vanish beside others": (total(l, slack[l] * q[l] ** 2 * a[l]), 0),
    "parts of a difference": (plus(q[j] - slack[j]), q[j]),
    "the other part of a difference": (plus(slack[j] - q[j]), slack[j]),
    "x log x of a power": (xlogx(q[j] ** 2) * y, 2 * q[j] * xlogx(q[j]) * y),
    "x log x of a root, times the root": (sp.sqrt(q[j]) * xlogx(sp.sqrt(q[j])), xlogx(q[j]) / 2),
    "x log x of a root, times a power": (q[j] * xlogx(sp.sqrt(q[j])), sp.sqrt(q[j]) * xlogx(q[j]) / 2),
    "a delta of k and j": (delta(k, j) * a[k], 0),
    "a delta of two that differ from each other": (delta(j, k) * B[j, k], 0),
    "rows divided by their sums": (total((i, j), sp.exp(B[i, j]) / total(l, sp.exp(B[i, l]))), m),
    "rows divided by their sums, weighted": (total((i, j), a[i] * sp.exp(B[i, j]) / total(l, sp.exp(B[i, l]))), total(i, a[i])),
    "three indices": (total((i, j, l), B[i, j] * B[j, l] * B[l, i]), total((l, i, j), B[l, i] * B[i, j] * B[j, l])),
    "a marginal of rows": (total(h, P[j, h]), q[j]),
    "a marginal of columns": (total(j, P[j, h]), w[h]),
    "a marginal beside another factor": (total((j, h), P[j, h] * a[j]), total(j, q[j] * a[j])),
    "a row of weights": (total(h, R[j, h]), 1),
    "the mass of weights": (total((j, h), R[j, h]), m),
    "a matrix of one column": (total(i, simplex("e", m, sp.S.One)[i, 1]), 1),
    "a fixed position": (total(j, delta(j, 1) * a[j]), a[1]),
}


@pytest.mark.parametrize("name", TRUE)
def test_a_rule_decides_it(name: str) -> None:
    left, right = map(sp.sympify, TRUE[name])
    assert equal(left, right)
    assert not equal(left, right + y)


FALSE = {
    "one range cancels, the other does not": (total(l, f + lower) + total(h, c[h]), total(l, g)),
    "the other range cancels": (total(l, b[l]) + total(h, t**2 / (t + y)), total(h, t - t * y / (t + y))),
    "products of sums without a common one": (total_a * total_s, total(l, b[l]) * total(l, d[l])),
    "an exponent that may be imaginary": (
        sp.log(sp.exp(y) + sp.exp(sp.sqrt(x))),
        sp.sqrt(x) + sp.log(1 + sp.exp(y - sp.sqrt(x))),
    ),
    "multipliers without what they belong to": (slack[j] * a[j], 0),
    "multipliers and another place": (slack[j] * q[i], 0),
}


@pytest.mark.parametrize("name", FALSE)
def test_no_rule_decides_it(name: str) -> None:
    assert not equal(*FALSE[name])


@pytest.mark.parametrize(
    "expr",
    [
        xlogx(sp.sqrt(q[j])),  # ½ φ(q)/√q has no value at 0
        a[j] * xlogx(sp.sqrt(q[j])),
        xlogx(q[j] ** y) * q[j],
        sp.sqrt(4 * b[j] + 8 * y),
    ],
    ids=str,
)
def test_a_normal_form_is_its_own_normal_form(expr: sp.Expr) -> None:
    assert normal(expr) == expr


def test_numbers_are_expressions() -> None:
    assert normal(1729) == sp.Integer(1729)


def test_factors_of_a_sum_are_not_bound_by_it() -> None:
    outside = Variable("ι1", Index((m,)))
    assert not equal(outside * total(l, a[l]), total(l, l * a[l]))


@pytest.mark.parametrize("body", [a[k] / (1 - delta(k, j)), 1 / (1 - delta(k, j)), (1 - delta(k, j)) ** 2 * a[k]], ids=str)
def test_a_summand_leaves_an_index_out_once(body: sp.Expr) -> None:
    with pytest.raises(ValueError, match=r"^total: expected a summand without powers of 1 - "):
        total(k, body)


def test_a_derivative_that_SymPy_does_not_know_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^derivative: expected functions whose derivatives are known, got "):
        normal(derivative(plus(x) * y, x))


ALIKE = {
    "names of bound indices": (total(l, a[l] * l), total(i, a[i] * i)),
    "order of terms": (x + y + 1, 1 + y + x),
    "names in sums of sums": (total(l, a[l] * total(i, B[l, i])), total(j, a[j] * total(l, B[j, l]))),
}
UNLIKE = {
    "order of indices": (B[i, j], B[j, i]),
    "order of arguments": (kl(y, b[j]), kl(b[j], y)),
    "a variable of another domain": (scalar("t"), positive("t")),
    "a vector of another domain": (vector("t", m)[j], vector("t", m, kind=Positive)[j]),
    "numbers": (x + 2, x + 3),
    "opposite numbers": (x + 1, x - 1),
    "fractions": (x / 2, x / 3),
    "which index is bound": (total((i, l), B[i, l] * a[i]), total((i, l), B[i, l] * a[l])),
    "which of nested indices": (total(l, total(i, B[l, i])), total(l, total(i, B[i, l]))),
    "ranges": (total(l, 1), total(h, 1)),
    "equal, and written otherwise": (x * (x + 1), x**2 + x),
}


@pytest.mark.parametrize("name", [*ALIKE, *UNLIKE])
def test_expressions_are_alike_or_not(name: str) -> None:
    one, other = (ALIKE | UNLIKE)[name]
    assert alike(one, other) is (name in ALIKE)
    assert (appearance(one) == appearance(other)) is (name in ALIKE)
