"""Valid statements that must not be refused although they resemble attacks, and false ones that evade the sample points."""

import pytest
import sympy as sp

from derivations.calculus.functions import derivative, kl, pinsker, xlogx
from derivations.calculus.powers import bregman, plus
from derivations.calculus.sums import delta, total
from derivations.calculus.variables import interior, simplex, size, vector
from derivations.relations import (
    AtLeast,
    Differs,
    Entry,
    Equation,
    Expansion,
    Fails,
    Follows,
    Limit,
    StrictUnlessEqual,
    UniqueMinimum,
    UniquePlan,
)
from tests.attacks import Table, refuted
from tests.attacks.vocabulary import (
    K3,
    QQ,
    RR,
    A,
    P,
    a,
    b,
    h,
    half,
    i,
    j,
    k,
    l,
    m,
    n,
    one,
    q,
    r,
    s,
    t,
    tau,
    two,
    u,
    v,
    w,
    x,
    y,
    z,
)

oo, zero = sp.oo, sp.S.Zero
p1, p2, q1, q2 = (interior(name, m) for name in ("p1", "p2", "q1", "q2"))
first, second = y / (y + t), t / (y + t)  # weights > 0 with sum 1
S = vector("S", n, m)


def weight(key: sp.Expr, temperature: sp.Expr) -> sp.Expr:
    return sp.exp(a[key] / temperature) / total(l, sp.exp(a[l] / temperature))


def middle(one: sp.IndexedBase, other: sp.IndexedBase, key: sp.Expr) -> sp.Expr:
    return first * one[key] + second * other[key]


def distance() -> sp.Expr:
    return total(h, sp.Abs(r[h] - u[h]))


def convexity() -> AtLeast:
    """The log-sum inequality, term by term."""
    plan, prior = middle(p1, p2, l), middle(q1, q2, l)
    above = first * kl(p1[l], q1[l]) + second * kl(p2[l], q2[l])
    because = first * plan * kl(p1[l] / plan, q1[l] / prior) + second * plan * kl(p2[l] / plan, q2[l] / prior)
    return AtLeast(total(l, above), total(l, kl(plan, prior)), because=total(l, because))


def pinsker_inequality() -> AtLeast:
    """KL ≥ ½ (Σ|r − u|)² by kl ≥ 3d²/(2(r + 2u)) and Cauchy–Schwarz."""
    weights = sp.sqrt(r[l] + 2 * u[l])
    square = (sp.Abs(r[l] - u[l]) / weights - weights * distance() / 3) ** 2
    return AtLeast(
        total(l, kl(r[l], u[l])),
        distance() ** 2 / 2,
        because=total(l, pinsker(r[l], u[l])) + sp.Rational(3, 2) * total(l, square),
    )


def entropic(p: Entry) -> sp.Expr:
    return total(l, p(l) * s[l]) + tau * total(l, xlogx(p(l)))


def gibbs(key: sp.Expr) -> sp.Expr:
    return sp.exp(-s[key] / tau) / total(l, sp.exp(-s[l] / tau))


PROVED: Table = {
    "E: the entropy of a closed simplex is ≥ 0": lambda: AtLeast(-total(l, xlogx(r[l])), 0, because=total(l, -xlogx(r[l]))),
    "E: the entropy of a closed simplex is ≥ 0, the sign outside": lambda: AtLeast(
        -total(l, xlogx(r[l])), 0, because=-total(l, xlogx(r[l]))
    ),
    "E: KL ≥ Hellinger² on the closed simplex": lambda: AtLeast(
        total(l, kl(r[l], u[l])),
        total(l, (sp.sqrt(r[l]) - sp.sqrt(u[l])) ** 2),
        because=2 * total(l, sp.sqrt(r[l]) * kl(sp.sqrt(r[l]), sp.sqrt(u[l]))),
    ),
    "E: softmax → 1/m as τ → ∞": lambda: Limit(weight(j, t), t, oo, 1 / m),
    "E: KL is jointly convex": convexity,
    "E: Pinsker": pinsker_inequality,
    "Gibbs on the closed simplex": lambda: AtLeast(total(l, kl(r[l], u[l])), 0),
    "KL in its logs": lambda: Equation(total(l, kl(r[l], u[l])), total(l, xlogx(r[l])) - total(l, r[l] * sp.log(u[l]))),
    "rows divided by sums that are positive": lambda: Equation(total((i, j), sp.exp(A[i, j]) / total(l, sp.exp(A[i, l]))), n),
    "masses divided by a positive mean": lambda: Equation(total(j, r[j] * b[j] / total(l, r[l] * b[l])), 1),
    "a row of a stochastic matrix": lambda: Equation(total(j, RR[l, j]) + x, 1 + x),
    "a marginal of a coupling": lambda: Equation(total(j, P[i, j]) + total(i, P[i, j]), v[i] + u[j]),
    "the mass of all pairs": lambda: Equation(total((j, l), QQ[j, l]) + x, 1 + x),
    "all but one": lambda: Equation(total(k, u[k]), 1 - u[j]),
    "all but one, counted": lambda: Equation(total(k, 1), m - 1),
    "the variance is ≥ 0": lambda: AtLeast(
        total(l, r[l] * a[l] ** 2), total(l, r[l] * a[l]) ** 2, because=total(l, r[l] * (a[l] - total(h, r[h] * a[h])) ** 2)
    ),
    "1 ≥ r_j": lambda: AtLeast(1, r[j]),
    "m ≥ 1": lambda: AtLeast(m, 1),
    "AM ≥ GM": lambda: AtLeast(y + t, 2 * sp.sqrt(y * t), because=(sp.sqrt(y) - sp.sqrt(t)) ** 2),
    "x/x under its hypothesis": lambda: Equation((x**2 + x) / x, x + 1, given=(Differs(x, 0),)),
    "x² − w² over x − w under its hypothesis": lambda: Equation((x**2 - w**2) / (x - w), x + w, given=(Differs(x, w),)),
    "log of y − 1 under its hypothesis": lambda: Equation(
        (sp.log(y - 1) + 1) ** 2, sp.log(y - 1) ** 2 + 2 * sp.log(y - 1) + 1, given=(AtLeast(y, 1, strict=True),)
    ),
    "a derivative where it exists": lambda: Equation(derivative(sp.log(total(l, sp.exp(a[l]))), a[j]), weight(j, one)),
    "a saturation that is positive": lambda: Limit(y * t / (y * t + 1), t, oo, one),
    "(1 + x/t)^t → e^x": lambda: Limit((1 + x / t) ** t, t, oo, sp.exp(x)),
    "Σ e^(−b t) → 0": lambda: Limit(total(l, sp.exp(-b[l] * t)), t, oo, zero),
    "|x|/x → −1 at −∞": lambda: Limit(sp.Abs(x) / x, x, -oo, -one),
    "softmax has its minimum": lambda: UniqueMinimum(entropic, gibbs, m, tau),
    "a plan has its minimum": lambda: UniquePlan(
        lambda p: total((i, j), p(i, j) * S[i, j]) + tau * total((i, j), xlogx(p(i, j))),
        lambda x, y: sp.exp(-S[x, y] / tau) / total(l, sp.exp(-S[x, l] / tau)),
        n,
        m,
        tau,
    ),
    "a projection has its minimum": lambda: UniqueMinimum(
        lambda p: total(l, (p(l) - r[l]) ** 2) / 2, lambda key: r[key], m, one, two
    ),
    "cumulants": lambda: Expansion(
        sp.log(total(l, u[l] * sp.exp(t * a[l]))),
        t * total(l, u[l] * a[l]) + t**2 / 2 * (total(l, u[l] * a[l] ** 2) - total(l, u[l] * a[l]) ** 2),
        t,
        2,
    ),
    "what follows": lambda: Follows((AtLeast(x, w), AtLeast(w, y)), AtLeast(2 * x, w + y), (two, one)),
    "convex, and strictly": lambda: StrictUnlessEqual(kl(z, y) + 2 * kl(tau, y), 0, z, tau, y, (one, two)),
    "a disproof": lambda: Fails(AtLeast(x, 0)),
}


@pytest.mark.parametrize("name", PROVED)
def test_is_proved(name: str) -> None:
    relation = PROVED[name]()
    assert relation.prove(), relation.explain()


TRUE: Table = {
    "the reversed mass": lambda: Equation(total(j, r[m + 1 - j]), 1),
    "the reversed row": lambda: Equation(total(j, RR[l, m + 1 - j]), 1),
    "δ at the end": lambda: Equation(total(j, delta(j, m)), 1),
    "the last entry": lambda: Equation(total(l, delta(l, m) * a[l]), a[m]),
    "a triangle": lambda: Equation(sp.Sum(1, (l, 1, j), (j, 1, m)), m * (m + 1) / 2),
    "from 2": lambda: Equation(sp.Sum(a[l], (l, 2, m)) + a[1], total(l, a[l])),
    "e^x ≥ 1 + x": lambda: AtLeast(sp.exp(x), 1 + x),
    "log y ≤ y − 1": lambda: AtLeast(y - 1, sp.log(y)),
    "the entropy is ≤ log m": lambda: AtLeast(sp.log(m), -total(l, xlogx(r[l]))),
    "Cauchy–Schwarz": lambda: AtLeast(total(l, a[l] ** 2) * total(l, s[l] ** 2), total(l, a[l] * s[l]) ** 2),
    "Pinsker, without a hint": lambda: AtLeast(total(l, kl(r[l], u[l])), distance() ** 2 / 2),
    "log-sum-exp is at least the largest": lambda: AtLeast(sp.log(total(l, sp.exp(a[l]))), a[j]),
    "x₊ ≥ x": lambda: AtLeast(plus(x), x, because=plus(-x)),
    "x₊ − (−x)₊ = x": lambda: Equation(plus(x) - plus(-x), x),
    "|x| ≥ x": lambda: AtLeast(sp.Abs(x), x),
    "a Bregman divergence of the third power": lambda: AtLeast(bregman(z, y, sp.Integer(3)), 0),
    "softmax in a tie": lambda: Limit(1 / (1 + sp.exp((x - w) ** 2 / t)), t, oo, half),
    "1 − r_j ≥ r_k": lambda: AtLeast(1 - r[j], r[k]),
    "large numbers": lambda: Equation((x + 10**9) * (x - 10**9), x**2 - 10**18),
    "close numbers": lambda: AtLeast(y + sp.Rational(1, 10**30), y, strict=True),
    "a high power": lambda: Equation((x + 1) ** 20, sp.expand((x + 1) ** 20)),
    "powers of a size": lambda: AtLeast(2**m, m + 1),
    "ties of softmax": lambda: Equation(weight(j, y) + weight(j, y) * (total(l, sp.exp(a[l] / y)) - 1), sp.exp(a[j] / y)),
}


@pytest.mark.parametrize("name", [*TRUE, *PROVED])
def test_is_not_refuted(name: str) -> None:
    assert (TRUE | PROVED)[name]().refute() is None


d = size("d")
HIDDEN: Table = {
    "E: false for m ≥ 4 only": lambda: Equation(K3 * y + x, x),
    "E: false for m ≥ 4 only, an inequality": lambda: AtLeast(x**2, K3 * y - 1),
    "E: false for m = 5 only": lambda: AtLeast(1, 2 - (m - 5) ** 2 * (m - 5) ** 2 * 2),
    "E: more than three different entries": lambda: Equation(total(l, a[l] * (l - 1) * (l - 2) * (l - 3)), 0),
    "E: false for |a| > 3 only": lambda: AtLeast(10, a[j] ** 2),
    "E: false for |x| > 3 only": lambda: AtLeast(sp.exp(sp.Rational(7, 2)), sp.exp(x)),
    "E: false near 1/7 only": lambda: AtLeast((x - sp.Rational(1, 7)) ** 2, sp.Rational(1, 10**5)),
    "E: false below τ = 1/4 only": lambda: AtLeast(4 * tau, sp.Rational(9, 10)),
    "E: false above τ = 3 only": lambda: AtLeast(sp.Rational(31, 10), tau),
    "E: Pinsker with 1.01": lambda: AtLeast(total(l, kl(r[l], u[l])), sp.Rational(101, 200) * distance() ** 2),
    "E: a rival nearer than 10⁻⁶": lambda: UniqueMinimum(
        entropic, lambda key: gibbs(key) + (1 / m - gibbs(key)) / 10**7, m, tau
    ),
    "E: a projection off by 10⁻⁷": lambda: UniqueMinimum(
        lambda p: total(l, (p(l) - u[l]) ** 2) / 2, lambda key: u[key] + (1 / m - u[key]) / 10**7, m, one, two
    ),
    "false at large scores only": lambda: AtLeast(total(l, sp.exp(-sp.Abs(a[l]))), sp.Rational(1, 10**3)),
    "false at nearly equal numbers only": lambda: AtLeast((y - t) ** 2, sp.Rational(1, 10**5) * (y - 1) ** 2 * (y - 2) ** 2),
    "false in ties only": lambda: AtLeast((x - w) ** 2, 0, strict=True),
    "false in ties of entries only": lambda: AtLeast((a[j] - a[k]) ** 2, 0, strict=True),
    "false at zeros of a simplex only": lambda: AtLeast(r[j], 0, strict=True),
    "false at corners only": lambda: AtLeast(1, total(l, r[l] ** 2), strict=True),
    "false at m = 1 only": lambda: AtLeast(1, u[j], strict=True),
    "false at m = n only": lambda: AtLeast((m - n) ** 2, 0, strict=True),
    "false for five of another size": lambda: Equation((d - 1) * (d - 2) * (d - 3) * (d - 4) * y, 0),
    "a marginal at another place": lambda: Equation(total(j, RR[m + 1 - j, j]), 1),
    "another sum from 2": lambda: Equation(sp.Sum(a[l], (l, 2, m)), total(l, a[l])),
    "another derivative": lambda: Equation(derivative(total(l, a[l] ** 3), a[j]), 3 * a[j]),
    "another divergence": lambda: Equation(total(l, kl(r[l], q[l] / 2 + u[l] / 2)), total(l, kl(r[l], u[l]))),
    "a power that is off by one": lambda: Equation(x ** (2 * m), (x**2) ** (m + 1)),
    "another real power": lambda: Equation(y**tau * y**x, y ** (tau + 2 * x)),
    "off by 10⁻³⁰": lambda: Equation(x, x + sp.Rational(1, 10**30)),
    "off by 10⁻⁴⁰ beside large numbers": lambda: Equation(sp.exp(x + 50) + sp.Rational(1, 10**40), sp.exp(x) * sp.exp(50)),
    "another limit": lambda: Limit(weight(j, t), t, oo, 2 / (m + 1)),
    "another limit in a tie": lambda: Limit(z * t / (z * t + 1), t, oo, one),
    "another coefficient": lambda: Expansion(sp.log(1 + t * x), t * x + t**2 * x**2 / 2, t, 2),
    "a simplex of pairs": lambda: Equation(total(j, QQ[l, j]), 1 / m),
    "a coupling": lambda: Equation(P[i, j], v[i] * u[j]),
    "a mean over another simplex": lambda: Equation(total(l, simplex("o", m)[l] * a[l]), total(l, r[l] * a[l])),
}


@pytest.mark.parametrize("name", HIDDEN)
def test_is_refuted(name: str) -> None:
    assert refuted(HIDDEN[name])
