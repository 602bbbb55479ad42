"""Inequalities for every size, each as one statement without a hint, and false neighbours of each, which are refuted.

The false ones have weights of both signs, no weights, a factor or a size too many, a strict sign where a tie is possible, the
other direction, and hypotheses about something else.
"""

import pytest
import sympy as sp

from derivations.calculus.deduction import deduced, factored
from derivations.calculus.functions import kl, xlogx
from derivations.calculus.powers import plus
from derivations.calculus.shorthands import relative
from derivations.calculus.sums import delta, total
from derivations.calculus.variables import index, interior, positive, scalar, simplex, size, stochastic, vector
from derivations.domains import Nonnegative, Positive
from derivations.relations import AtLeast, Equation, ForAll, Relation

m, n, d = size("m"), size("n"), size("d")
i, j, k, l, h, e = index("i", n), index("j", m), index("k", m), index("l", m), index("h", m), index("e", d)  # noqa: E741
x, w, y, t, tau, M, L = scalar("x"), scalar("w"), positive("y"), positive("t"), positive("tau"), scalar("M"), scalar("L")
s1, s2, m1, m2 = positive("s1"), positive("s2"), scalar("m1"), scalar("m2")
a, s, b, c = vector("a", m), vector("s", m), vector("b", m, kind=Positive), vector("c", m, kind=Nonnegative)
q, u, v = simplex("q", m), interior("u", m), interior("v", m)
W, C = stochastic("W", m, n), vector("C", m, n, kind=Positive)
S1, S2, M1, M2 = vector("S1", d, kind=Positive), vector("S2", d, kind=Positive), vector("M1", d), vector("M2", d)
half, third = sp.Rational(1, 2), sp.Rational(1, 3)
others = index("g", m, other_than=(j,))


def over(entry: sp.Expr) -> sp.Expr:
    return total(l, entry)


def softmax(at: sp.Expr) -> sp.Expr:
    return sp.exp(s[at]) / total(h, sp.exp(s[h]))


def variance(p: sp.IndexedBase) -> sp.Expr:
    return over(p[l] * a[l] ** 2) - over(p[l] * a[l]) ** 2


def sent(p: sp.IndexedBase, channel: sp.IndexedBase) -> sp.Expr:
    return total(l, p[l] * channel[l, i])


divergence = over(relative(q[l], u[l]))
distance = over(sp.Abs(q[l] - u[l]))
spread = over(softmax(l) * a[l] ** 2) - over(softmax(l) * a[l]) ** 2
lse = sp.log(over(sp.exp(a[l])))
upper, lower = ForAll(AtLeast(M, a[l]), (l,)), ForAll(AtLeast(a[l], L), (l,))
reached = ForAll(AtLeast(sent(u, W), 0, strict=True), (i,))
processed = total(i, relative(sent(q, W), sent(u, W)))
gaussian = sp.log(s2 / s1) + (s1**2 + (m1 - m2) ** 2) / (2 * s2**2)
gaussians = total(e, sp.log(S2[e] / S1[e]) + (S1[e] ** 2 + (M1[e] - M2[e]) ** 2) / (2 * S2[e] ** 2))

DIVERGENCES: dict[str, tuple[Relation, tuple[Relation, ...]]] = {
    "Gibbs": (
        AtLeast(divergence, 0),
        (AtLeast(divergence, 0, strict=True), AtLeast(over(relative(c[l], u[l])), 0), AtLeast(over(relative(q[l], b[l])), 0)),
    ),
    "entropy": (
        AtLeast(sp.log(m), -over(xlogx(q[l]))),
        (
            AtLeast(sp.log(m), -over(xlogx(q[l])), strict=True),
            AtLeast(sp.log(m), -over(xlogx(c[l]))),
            AtLeast(sp.log(m) / 2, -over(xlogx(q[l]))),
        ),
    ),
    "Pinsker": (
        AtLeast(divergence, distance**2 / 2),
        (
            AtLeast(divergence, distance**2),
            AtLeast(divergence, distance**2 / 2, strict=True),
            AtLeast(divergence, distance / 2),
            AtLeast(over(relative(c[l], b[l])), over(sp.Abs(c[l] - b[l])) ** 2 / 2),
            AtLeast(distance**2 / 2, divergence),
        ),
    ),
    "Pinsker, as a root": (
        AtLeast(sp.sqrt(2 * divergence), distance),
        (
            AtLeast(sp.sqrt(divergence), distance),
            AtLeast(sp.sqrt(2 * divergence), distance, strict=True),
            AtLeast(distance, sp.sqrt(2 * divergence)),
        ),
    ),
    "Pinsker for divergences of each entry": (
        AtLeast(over(kl(q[l], u[l])), distance**2 / 2),
        (AtLeast(over(kl(c[l], b[l])), over(sp.Abs(c[l] - b[l])) ** 2 / 2),),
    ),
    "Pinsker for positive masses": (
        AtLeast(over(relative(v[l], u[l])), over(sp.Abs(v[l] - u[l])) ** 2 / 2),
        (AtLeast(over(relative(v[l], u[l])), over(sp.Abs(v[l] - u[l])) ** 2 / 2, strict=True),),
    ),
    "Pinsker for softmax weights": (
        AtLeast(over(relative(q[l], softmax(l))), over(sp.Abs(q[l] - softmax(l))) ** 2 / 2),
        (AtLeast(over(relative(q[l], softmax(l))), over(sp.Abs(q[l] - softmax(l))) ** 2),),
    ),
    "log-sum": (
        AtLeast(over(relative(c[l], b[l])), xlogx(over(c[l])) - over(c[l]) * sp.log(over(b[l]))),
        (
            AtLeast(xlogx(over(c[l])) - over(c[l]) * sp.log(over(b[l])), over(relative(c[l], b[l]))),
            AtLeast(over(relative(c[l], b[l])), xlogx(over(c[l])) - over(c[l]) * sp.log(over(b[l])), strict=True),
            AtLeast(over(relative(c[l], b[l])), xlogx(over(c[l])) - over(c[l]) * sp.log(over(b[l]) / m)),
        ),
    ),
    "Donsker and Varadhan": (
        AtLeast(sp.log(over(u[l] * sp.exp(a[l]))), over(q[l] * a[l]) - divergence),
        (
            AtLeast(sp.log(over(u[l] * sp.exp(a[l]))), over(q[l] * a[l])),
            AtLeast(sp.log(over(b[l] * sp.exp(a[l]))), over(q[l] * a[l]) - divergence),
        ),
    ),
    "data processing with zeros": (
        AtLeast(divergence, processed, given=(reached,)),
        (
            AtLeast(processed, divergence, given=(reached,)),
            AtLeast(divergence, processed, given=(reached,), strict=True),
            AtLeast(divergence, total(i, relative(sent(q, C), sent(u, C)))),
            AtLeast(divergence, 2 * processed, given=(reached,)),
        ),
    ),
    "Gaussians": (
        AtLeast(gaussian, half),
        (
            AtLeast(gaussian, half, strict=True),
            AtLeast(gaussian, sp.Rational(51, 100)),
            AtLeast(sp.log(s1 / s2) + (s1**2 + (m1 - m2) ** 2) / (2 * s2**2), half),
            AtLeast(sp.log(s2 / s1) + (s1**2 - (m1 - m2) ** 2) / (2 * s2**2), half),
        ),
    ),
    "Gaussians in d dimensions": (
        AtLeast(gaussians, d / 2),
        (AtLeast(gaussians, d / 2, strict=True), AtLeast(gaussians, d / 2 + third), AtLeast(gaussians, d)),
    ),
}

MEANS: dict[str, tuple[Relation, tuple[Relation, ...]]] = {
    "m Σ q² ≥ 1": (
        AtLeast(m * over(q[l] ** 2), 1),
        (
            AtLeast((m - 1) * over(q[l] ** 2), 1),
            AtLeast(m * over(q[l] ** 2), 1, strict=True),
            AtLeast(m * over(c[l] ** 2), 1),
            AtLeast(over(q[l] ** 2), 1),
        ),
    ),
    "a cube": (
        AtLeast(m**2 * over(q[l] ** 3), 1),
        (AtLeast(m * over(q[l] ** 3), 1), AtLeast(over(q[l] * a[l] ** 3), over(q[l] * a[l]) ** 3)),
    ),
    "reciprocals": (
        AtLeast(over(1 / u[l]), m**2),
        (AtLeast(over(1 / u[l]), m**2 + 1), AtLeast(m**2, over(1 / u[l])), AtLeast(over(1 / b[l]), m**2)),
    ),
    "roots": (
        AtLeast(sp.sqrt(m), over(sp.sqrt(q[l]))),
        (AtLeast(1, over(sp.sqrt(q[l]))), AtLeast(sp.sqrt(m), over(sp.sqrt(c[l])))),
    ),
    "χ²": (
        AtLeast(over(q[l] ** 2 / u[l]), 1),
        (
            AtLeast(over(q[l] ** 2 / u[l]), 1, strict=True),
            AtLeast(over(c[l] ** 2 / u[l]), 1),
            AtLeast(over(q[l] ** 2 / b[l]), 1),
        ),
    ),
    "χ² and a distance": (
        AtLeast(over((q[l] - u[l]) ** 2 / u[l]), distance**2),
        (AtLeast(over((q[l] - u[l]) ** 2 / u[l]), 2 * distance**2), AtLeast(over((q[l] - u[l]) ** 2 / u[l]), distance)),
    ),
    "Bhattacharyya": (
        AtLeast(1, over(sp.sqrt(q[l]) * sp.sqrt(u[l]))),
        (AtLeast(1, over(sp.sqrt(q[l]) * sp.sqrt(u[l])), strict=True), AtLeast(1, over(sp.sqrt(c[l]) * sp.sqrt(u[l])))),
    ),
    "means": (
        AtLeast(sp.log(over(b[l] / m)), over(sp.log(b[l])) / m),
        (
            AtLeast(over(sp.log(b[l])) / m, sp.log(over(b[l] / m))),
            AtLeast(sp.log(over(b[l] / m)), over(sp.log(b[l]))),
            AtLeast(sp.log(over(b[l] / m)), over(sp.log(b[l])) / m, strict=True),
        ),
    ),
    "means as a power": (
        AtLeast(over(b[l]) / m, sp.exp(over(sp.log(b[l])) / m)),
        (AtLeast(over(b[l]) / (m + 1), sp.exp(over(sp.log(b[l])) / m)), AtLeast(over(b[l]) / m, sp.exp(over(sp.log(b[l]))))),
    ),
    "the logarithm of a mean": (
        AtLeast(sp.log(over(q[l] * b[l])), over(q[l] * sp.log(b[l]))),
        (
            AtLeast(over(q[l] * sp.log(b[l])), sp.log(over(q[l] * b[l]))),
            AtLeast(sp.log(over((c[l] + 1) * b[l])), over((c[l] + 1) * sp.log(b[l]))),
        ),
    ),
    "exponentials": (
        AtLeast(over(q[l] * sp.exp(a[l])), sp.exp(over(q[l] * a[l]))),
        (
            AtLeast(over(c[l] * sp.exp(a[l])), sp.exp(over(c[l] * a[l]))),
            AtLeast(sp.exp(over(q[l] * a[l])), over(q[l] * sp.exp(a[l]))),
        ),
    ),
    "fourth powers": (
        AtLeast(over(q[l] * a[l] ** 4), over(q[l] * a[l]) ** 4),
        (
            AtLeast(over(c[l] * a[l] ** 4), over(c[l] * a[l]) ** 4),
            AtLeast(over(s[l]) * over(s[l] * a[l] ** 2), over(s[l] * a[l]) ** 2),
        ),
    ),
    "harmonic": (
        AtLeast(over(q[l] / b[l]), 1 / over(q[l] * b[l])),
        (AtLeast(1 / over(q[l] * b[l]), over(q[l] / b[l])), AtLeast(over(q[l] / b[l]), 2 / over(q[l] * b[l]))),
    ),
    "two numbers": (
        AtLeast(sp.log((y + t) / 2), (sp.log(y) + sp.log(t)) / 2),
        (AtLeast((sp.log(y) + sp.log(t)) / 2, sp.log((y + t) / 2)), AtLeast(sp.log(y + t), sp.log(y) + sp.log(t))),
    ),
    "roots of two numbers": (
        AtLeast((y + t) / 2, sp.sqrt(y * t)),
        (AtLeast((y + t) / 2, sp.sqrt(y * t), strict=True), AtLeast((y + t) / 3, sp.sqrt(y * t))),
    ),
}

KINKS: dict[str, tuple[Relation, tuple[Relation, ...]]] = {
    "positive parts": (
        AtLeast(over(plus(a[l])), plus(over(a[l]))),
        (
            AtLeast(plus(over(a[l])), over(plus(a[l]))),
            AtLeast(over(plus(a[l])), plus(over(a[l])), strict=True),
            AtLeast(over(s[l] * plus(a[l])), plus(over(s[l] * a[l]))),
        ),
    ),
    "absolute values": (
        AtLeast(over(q[l] * sp.Abs(a[l])), sp.Abs(over(q[l] * a[l]))),
        (AtLeast(sp.Abs(over(a[l])), over(sp.Abs(a[l]))), AtLeast(over(s[l] * sp.Abs(a[l])), sp.Abs(over(s[l] * a[l])))),
    ),
    "the reverse triangle": (
        AtLeast(sp.Abs(x - w), sp.Abs(sp.Abs(x) - sp.Abs(w))),
        (
            AtLeast(sp.Abs(sp.Abs(x) - sp.Abs(w)), sp.Abs(x - w)),
            AtLeast(sp.Abs(x - w), sp.Abs(sp.Abs(x) - sp.Abs(w)), strict=True),
            AtLeast(sp.Abs(x - w), sp.Abs(x) + sp.Abs(w)),
        ),
    ),
    "in a sum": (
        AtLeast(over(sp.Abs(a[l] - s[l])), over(sp.Abs(sp.Abs(a[l]) - sp.Abs(s[l])))),
        (AtLeast(over(sp.Abs(sp.Abs(a[l]) - sp.Abs(s[l]))), over(sp.Abs(a[l] - s[l]))),),
    ),
    "of sums": (
        AtLeast(over(sp.Abs(a[l] - s[l])), sp.Abs(over(sp.Abs(a[l])) - over(sp.Abs(s[l])))),
        (AtLeast(sp.Abs(over(a[l] - s[l])), sp.Abs(over(sp.Abs(a[l])) - over(sp.Abs(s[l])))),),
    ),
    "x₊ is Lipschitz": (
        AtLeast(sp.Abs(x - w), sp.Abs(plus(x) - plus(w))),
        (AtLeast(sp.Abs(plus(x) - plus(w)), sp.Abs(x - w)), AtLeast(sp.Abs(x - w) / 2, sp.Abs(plus(x) - plus(w)))),
    ),
    "a product": (
        Equation(sp.Abs(x) * sp.Abs(w), sp.Abs(x * w)),
        (
            Equation(x * sp.Abs(w), sp.Abs(x * w)),
            Equation(sp.Abs(x) + sp.Abs(w), sp.Abs(x + w)),
            Equation(sp.Abs(x * w + w), sp.Abs(x * w) + sp.Abs(w)),
        ),
    ),
    "products of a sum": (
        Equation(sp.Abs(x) * sp.Abs(w) * sp.Abs(x + w), sp.Abs(x * w * (x + w))),
        (Equation(sp.Abs(x) * w * sp.Abs(x + w), sp.Abs(x * w * (x + w))),),
    ),
    "a factor of a sum": (
        Equation(over(sp.Abs(a[l]) * sp.Abs(x)), over(sp.Abs(a[l] * x))),
        (Equation(sp.Abs(over(a[l] * x)), over(sp.Abs(a[l] * x))),),
    ),
}

BOUNDED: dict[str, tuple[Relation, tuple[Relation, ...]]] = {
    "the softmax is ½-Lipschitz": (
        AtLeast(over(a[l] ** 2) / 2, variance(q)),
        (
            AtLeast(over(a[l] ** 2) * sp.Rational(49, 100), variance(q)),
            AtLeast(over(a[l] ** 2) / 2, variance(c)),
            AtLeast(over(a[l] ** 2) / 2, variance(q), strict=True),
            AtLeast(over(a[l] ** 2) / 2, over(q[l] * a[l] ** 2)),
        ),
    ),
    "written out": (
        AtLeast(over(a[l] ** 2) / 2, spread),
        (AtLeast(over(a[l] ** 2) / 3, spread), AtLeast(over(a[l] ** 2) / 2, spread, strict=True)),
    ),
    "as a quadratic form, at a temperature": (
        AtLeast(over(a[l] ** 2) / (2 * tau), total((l, k), a[l] * (delta(l, k) * q[l] - q[l] * q[k]) * a[k]) / tau),
        (AtLeast(over(a[l] ** 2) / 2, total((l, k), a[l] * (delta(l, k) * q[l] - q[l] * q[k]) * a[k]) / tau),),
    ),
    "Popoviciu": (
        AtLeast((M - L) ** 2 / 4, variance(q), given=(upper, lower)),
        (
            AtLeast((M - L) ** 2 / 4, variance(q), given=(upper,)),
            AtLeast((M - L) ** 2 / 4, over(q[l] * a[l] ** 2), given=(upper, lower)),
        ),
    ),
    "Popoviciu for a mean": (
        AtLeast((M - L) ** 2 / 4, over(a[l] ** 2) / m - over(a[l]) ** 2 / m**2, given=(upper, lower)),
        (AtLeast((M - L) ** 2 / 4, over(a[l] ** 2) - over(a[l]) ** 2 / m, given=(upper, lower)),),
    ),
    "log Σ e^a from above": (
        AtLeast(M + sp.log(m), lse, given=(upper,)),
        (
            AtLeast(M, lse, given=(upper,)),
            AtLeast(M + sp.log(m), lse, given=(lower,)),
            AtLeast(M + sp.log(m), sp.log(over(sp.exp(s[l]))), given=(upper,)),
            AtLeast(M + sp.log(m), lse, given=(ForAll(AtLeast(M, a[others]), (others,)),)),
        ),
    ),
    "at a temperature": (
        AtLeast(M + tau * sp.log(m), tau * sp.log(over(sp.exp(a[l] / tau))), given=(upper,)),
        (AtLeast(M + sp.log(m), tau * sp.log(over(sp.exp(a[l] / tau))), given=(upper,)),),
    ),
    "with weights": (
        AtLeast(M, sp.log(over(u[l] * sp.exp(a[l]))), given=(upper,)),
        (AtLeast(M, sp.log(over(b[l] * sp.exp(a[l]))), given=(upper,)),),
    ),
    "log Σ e^a from below": (
        AtLeast(lse, L + sp.log(m), given=(lower,)),
        (AtLeast(lse, M + sp.log(m), given=(upper,)), AtLeast(lse, L + 2 * sp.log(m), given=(lower,))),
    ),
    "a mean": (
        AtLeast(M, over(q[l] * a[l]), given=(upper,)),
        (
            AtLeast(M * over(s[l]), over(s[l] * a[l]), given=(upper,)),
            AtLeast(M, over(a[l]), given=(upper,)),
            AtLeast(M, over(q[l] * a[l]), given=(lower,)),
        ),
    ),
}

ALL = DIVERGENCES | MEANS | KINKS | BOUNDED
FALSE = {f"{name}, {number}": false for name, (_, several) in ALL.items() for number, false in enumerate(several)}


@pytest.mark.parametrize("name", ALL)
def test_is_proved_without_a_hint(name: str) -> None:
    relation = ALL[name][0]
    assert relation.explain() == ""
    assert relation.counterexample() is None


@pytest.mark.parametrize("name", FALSE)
def test_a_false_neighbour_is_refuted_and_not_proved(name: str) -> None:
    assert not FALSE[name].prove()
    assert FALSE[name].counterexample() is not None


@pytest.mark.parametrize(
    "relation",
    [AtLeast(M + sp.log(m), lse, given=(upper,), strict=True), AtLeast((M - L) ** 2 / 5, variance(q), given=(upper, lower))],
    ids=str,
)
def test_what_no_sample_refutes_is_not_proved_either(relation: Relation) -> None:
    assert not relation.prove()


def test_an_expression_is_factored_by_its_roots() -> None:
    assert isinstance(factored(y - 2 * sp.sqrt(y) * sp.sqrt(t) + t), sp.Pow)
    assert deduced(y - 2 * sp.sqrt(y) + 1, strict=False)
    assert not deduced(y - 2 * sp.sqrt(y) + 1, strict=True)


def test_exponentials_of_large_numbers_are_not_factored() -> None:
    large = sp.exp(10**5) - 2 * sp.exp(5 * 10**4) + 1
    assert factored(large) == large
