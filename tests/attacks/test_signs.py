"""Inequalities whose difference does not have the expected sign."""

import pytest
import sympy as sp

from derivations.calculus.functions import derivative, kl, xlogx
from derivations.calculus.powers import bregman, plus
from derivations.calculus.sums import delta, total
from derivations.calculus.variables import index, interior, positive, scalar, simplex, vector
from derivations.relations import AtLeast, ForAll, StrictUnlessEqual
from tests.attacks import Table, refused
from tests.attacks.vocabulary import K3, QQ, a, b, c, h, half, j, k, l, m, n, one, r, s, t, tau, u, w, x, y, z

e = index("e", m, other_than=(j, k))
root = total(l, sp.sqrt(x + 4))


ROOTS: Table = {
    "A2: the even power of a sum of imaginary roots": lambda: AtLeast(x, -4, because=root**2 / m**2),
    "A2: of roots of x": lambda: AtLeast(x, 0, because=total(l, sp.sqrt(x)) ** 2 / m**2),
    "A2: of roots of entries": lambda: AtLeast(a[j], 0, because=total(l, delta(j, l) * sp.sqrt(a[l])) ** 2),
    "A2: to the fourth, hidden at small sizes": lambda: AtLeast(K3 * x, 0, because=K3 * total(l, sp.sqrt(x)) ** 2 / m**2),
    "A2: of u − 1, which is ≤ 0": lambda: AtLeast(u[j], 1, because=total(l, sp.sqrt(u[j] - 1)) ** 2 / m**2),
    "A2: of logs of negatives": lambda: AtLeast(sp.log(-y) ** 2, 0, because=total(l, sp.log(-y)) ** 2 / m**2),
    "A2: of real powers": lambda: AtLeast(x, 0, because=total(l, x ** sp.Rational(1, 4)) ** 4 / m**4),
    "the square of a root": lambda: AtLeast(sp.sqrt(x) ** 2, 0, because=sp.Abs(sp.sqrt(x)) ** 2),
    "the square of a root in a sum": lambda: AtLeast(m * x, 0, because=total(l, sp.sqrt(x) * sp.sqrt(x))),
    "the modulus of a root": lambda: AtLeast(x, 0, because=sp.Abs(total(l, sp.sqrt(x))) ** 2 / m**2),
    "exp of a log": lambda: AtLeast(x, 0, because=sp.exp(sp.log(x))),
    "exp of a sum of logs": lambda: AtLeast(x**m, 0, because=sp.exp(total(l, sp.log(x)))),
    "exp of a sum of logs of entries": lambda: AtLeast(a[j], 0, because=sp.exp(total(l, delta(j, l) * sp.log(a[l])))),
    "exp of half a log, squared": lambda: AtLeast(x, 0, because=sp.exp(total(l, sp.log(x)) / (2 * m)) ** 2),
    "sqrt(x²) is |x|": lambda: AtLeast(x, 0, because=sp.sqrt(x**2)),
    "the root of the square of a sum": lambda: AtLeast(total(l, a[l]), 0, because=sp.sqrt(total(l, a[l]) ** 2)),
    "x⁴ to the fourth root": lambda: AtLeast(x, 0, because=(x**4) ** sp.Rational(1, 4)),
    "a positive part of an imaginary number": lambda: AtLeast(plus(sp.sqrt(x)) ** 2, x + 1),
    "xlogx of a negative number": lambda: AtLeast(xlogx(x), -1),
    "log is not ≥ 0": lambda: AtLeast(sp.log(y), 0),
    "xlogx is not ≥ 0": lambda: AtLeast(xlogx(z), 0),
    "entropy is not strictly positive at corners": lambda: AtLeast(
        -total(l, xlogx(r[l])), 0, strict=True, because=-total(l, xlogx(r[l]))
    ),
    "entropy is at most log m": lambda: AtLeast(-total(l, xlogx(r[l])), sp.log(m)),
}

DERIVATIVES: Table = {
    "A3: the square of an imaginary slope": lambda: AtLeast(1 / (4 * (x + 4)), 0, because=derivative(sp.sqrt(x + 4), x) ** 2),
    "A3: of x^(3/2)": lambda: AtLeast(x, 0, because=(2 * derivative(x ** sp.Rational(3, 2), x) / 3) ** 2),
    "A3: of a log at 0": lambda: AtLeast(1 / x**2, 0, because=derivative(sp.log(x), x) ** 2),
    "A3: in a sum": lambda: AtLeast(m * x, 0, because=total(l, (2 * derivative(x ** sp.Rational(3, 2), x) / 3) ** 2)),
    "A3: by an entry": lambda: AtLeast(a[j], 0, because=(2 * derivative(total(l, a[l] ** sp.Rational(3, 2)), a[j]) / 3) ** 2),
    "A3: of √(−x² − 1)": lambda: AtLeast(-(x**2) / (x**2 + 1), 0, because=derivative(sp.sqrt(-(x**2) - 1), x) ** 2),
    "A3: a modulus of an imaginary slope": lambda: AtLeast(
        x, 0, because=sp.Abs(2 * derivative(x ** sp.Rational(3, 2), x) / 3) ** 2
    ),
    "a slope is no sign": lambda: AtLeast(derivative(x**3 - 3 * x, x), 0),
    "a second slope at a kink": lambda: AtLeast(derivative(derivative(sp.Abs(x) * x, x), x), 0),
}

EXTRA: Table = {
    "A4: two indices that differ make m ≥ 2": lambda: AtLeast(m, 2, because=total(l, (1 - delta(l, j)) * (1 - delta(l, k)))),
    "A4: three indices that differ make m ≥ 3": lambda: AtLeast(
        m, 3, because=total(l, (1 - delta(l, j)) * (1 - delta(l, k)) * (1 - delta(l, e)))
    ),
    "A4: one index besides j": lambda: AtLeast(m, 2, because=total(l, (1 - delta(l, j)) * (1 - delta(l, k)) * 1) + 0 * x),
    "A4: weights of another simplex": lambda: AtLeast(x, 0, because=total(l, simplex("o", m)[l]) * x),
    "A4: a positive variable of the same name": lambda: AtLeast(x, 0, because=positive("x")),
    "A4: a nonnegative plain symbol of the same name": lambda: AtLeast(x, 0, because=sp.Symbol("x", nonnegative=True)),
    "A4: an entry of a positive vector of the same name": lambda: AtLeast(
        a[j], 0, because=vector("a", m).func(interior("a", m).label, shape=(m,))[j]
    ),
    "A4: k ≠ j strict": lambda: AtLeast(m, 1, strict=True, because=total(l, 1 - delta(l, j)) + 0 * a[k]),
    "A4: k ≠ j through a strict sum": lambda: AtLeast(
        m, 1, strict=True, because=total(l, delta(l, k) * (1 - delta(l, j))) + total(l, (1 - delta(l, j)) * (1 - delta(l, k)))
    ),
    "a because that is not the difference": lambda: AtLeast(x, 0, because=x**2),
    "a because of the other sign": lambda: AtLeast(x, w, because=sp.Abs(w - x)),
    "a because that is the difference, of open sign": lambda: AtLeast(x, w, because=x - w),
    "a because by weights of either sign": lambda: AtLeast(x * w, 0, because=x * total(l, u[l] * w)),
    "a because that is infinite": lambda: AtLeast(x, -1, because=sp.oo),
    "a because that is no number": lambda: AtLeast(x, -1, because=sp.nan),
    "a because that is complex infinity": lambda: AtLeast(x, -1, because=sp.zoo),
    "a because that is true": lambda: AtLeast(x, x + 1, because=sp.true),
    "a because with floats": lambda: AtLeast(y, y + sp.Rational(1, 10**40), because=sp.Float(0)),
    "rounding decides": lambda: AtLeast(sp.Rational(3, 10), sp.Float(0.1) * 3),
    "rounding decides with a variable": lambda: AtLeast(y + sp.Rational(3, 10), y + sp.Float(0.1) * 3),
}

KERNELS: Table = {
    "kl of a real first argument": lambda: AtLeast(kl(x, y), 0, because=kl(x, y)),
    "kl against what may be 0": lambda: AtLeast(kl(y, z), 0, because=kl(y, z)),
    "kl against a real": lambda: AtLeast(total(l, kl(r[l], a[l])), 0, because=total(l, kl(r[l], a[l]))),
    "kl against a closed simplex": lambda: AtLeast(total(l, kl(u[l], r[l])), 0),
    "kl is strict": lambda: AtLeast(total(l, kl(r[l], u[l])), 0, strict=True),
    "kl at least 1/10": lambda: AtLeast(total(l, kl(r[l], u[l])), sp.Rational(1, 10) * (m - 1)),
    "kl of masses that differ by the reversed argument": lambda: AtLeast(
        total(l, kl(r[l], u[l])), total(l, xlogx(u[l]) - u[l] * sp.log(u[l]) + 1 / m)
    ),
    "a divergence with α = ½": lambda: AtLeast(bregman(y, tau, half), 0, strict=True),
    "a divergence with α = 1": lambda: AtLeast(bregman(z, y, one), 0, because=bregman(z, y, one)),
    "a divergence with α ≤ 0": lambda: AtLeast(bregman(z, tau, -one), 0, because=bregman(z, tau, -one)),
    "a divergence with an open α": lambda: AtLeast(bregman(z, tau, y), 0, because=bregman(z, tau, y)),
    "a divergence of reals": lambda: AtLeast(bregman(x, w, sp.Integer(3)), 0, because=bregman(x, w, sp.Integer(3))),
    "a cubic divergence of reals in normal form": lambda: AtLeast(
        (x**3 - w**3 - 3 * w**2 * (x - w)) / 6, 0, because=bregman(x, w, sp.Integer(3))
    ),
    "strict unless equal, weights 0": lambda: StrictUnlessEqual(0 * r[j], 0 * r[j], r[j], r[k], u[j], (sp.S.Zero, sp.S.Zero)),
    "strict unless equal, a weight of either sign": lambda: StrictUnlessEqual(
        x * kl(z, y) + kl(tau, y), 0, z, tau, y, (x, one)
    ),
    "strict unless equal, against what may be 0": lambda: StrictUnlessEqual(kl(tau, z) + kl(y, z), 0, tau, y, z, (one, one)),
    "strict unless equal, with a weight that may vanish": lambda: StrictUnlessEqual(
        z * kl(tau, t) + kl(y, t), 0, tau, y, t, (z, one)
    ),
    "strict unless equal, α = 1": lambda: StrictUnlessEqual(
        bregman(z, y, one) + bregman(t, y, one), 0, z, t, y, (one, one), one
    ),
}

MARGINS: Table = {
    "x ≥ 0": lambda: AtLeast(x, 0),
    "1 > r_j": lambda: AtLeast(1, r[j], strict=True),
    "1 > u_j, but for m = 1": lambda: AtLeast(1, u[j], strict=True),
    "1 ≥ u_j + u_l, but for j = l": lambda: AtLeast(1, u[j] + u[l]),
    "1 ≥ 2 r_j": lambda: AtLeast(1, 2 * r[j]),
    "1 ≥ r_j + r_l + r_h": lambda: AtLeast(1, r[j] + r[l] + r[h]),
    "1 ≥ Σ of two vectors": lambda: AtLeast(1, total(l, r[l] + u[l])),
    "r_j > 0": lambda: AtLeast(r[j], 0, strict=True),
    "m ≥ 2": lambda: AtLeast(m, 2),
    "m > 1": lambda: AtLeast(m, 1, strict=True),
    "m ≥ n": lambda: AtLeast(m, n),
    "m − 1 > 0 in a product": lambda: AtLeast((m - 1) * y, 0, strict=True),
    "j ≥ l": lambda: AtLeast(j, l),
    "m > j": lambda: AtLeast(m, j, strict=True),
    "r_j² ≥ r_j": lambda: AtLeast(r[j] ** 2, r[j]),
    "3j ≥ j²": lambda: AtLeast(3 * j, j**2),
    "two sums of open sign over one range": lambda: AtLeast(total(l, a[l]) + total(l, a[l] ** 3), 0),
    "Σ z b > 0": lambda: AtLeast(total(l, c[l] * b[l]), 0, strict=True),
    "j ≥ 2": lambda: AtLeast(j, 2),
    "x^m ≥ 0": lambda: AtLeast(x**m, 0),
    "x^j ≥ 0": lambda: AtLeast(x**j, 0),
    "(−1)^m ≥ 0": lambda: AtLeast((-1) ** m, 0),
    "e^x ≥ 1": lambda: AtLeast(sp.exp(x), 1),
    "e^x > 1 for x ≥ 0": lambda: AtLeast(sp.exp(z), 1, strict=True),
    "|x| > 0": lambda: AtLeast(sp.Abs(x), 0, strict=True),
    "Σ a² > 0": lambda: AtLeast(total(l, a[l] ** 2), 0, strict=True),
    "(Σ a)² > 0": lambda: AtLeast(total(l, a[l]) ** 2, 0, strict=True),
    "Σ r a > 0 for positive a, strict by the wrong factor": lambda: AtLeast(total(l, r[l] * a[l] ** 2), 0, strict=True),
    "Σ_j r_j over a sum of masses that misses the diagonal": lambda: AtLeast(
        total((j, l), (1 - delta(j, l)) * r[j]), 0, strict=True
    ),
    "Σ of r at one place": lambda: AtLeast(total(l, r[j] * b[l]), 0, strict=True),
    "Cauchy–Schwarz the wrong way": lambda: AtLeast(total(l, a[l] * s[l]) ** 2, total(l, a[l] ** 2) * total(l, s[l] ** 2)),
    "the variance is positive": lambda: AtLeast(
        total(l, r[l] * a[l] ** 2),
        total(l, r[l] * a[l]) ** 2,
        strict=True,
        because=total(l, r[l] * (a[l] - total(h, r[h] * a[h])) ** 2),
    ),
    "the variance of an interior point is positive": lambda: AtLeast(
        total(l, u[l] * (a[l] - total(h, u[h] * a[h])) ** 2), 0, strict=True
    ),
    "x₊ > 0": lambda: AtLeast(plus(x), 0, strict=True),
    "x₊ ≥ x, strictly": lambda: AtLeast(plus(x), x, strict=True),
    "x ≥ x₊": lambda: AtLeast(x, plus(x)),
    "AM ≥ 2 GM": lambda: AtLeast(y + t, 4 * sp.sqrt(y * t)),
    "false by 10⁻³⁰": lambda: AtLeast(x, x + sp.Rational(1, 10**30)),
    "0 ≥ 10⁻⁵⁰, hidden in the normal form": lambda: AtLeast((x + 1) ** 2, x**2 + 2 * x + 1 + sp.Rational(1, 10**50)),
    "infinity ≥ x": lambda: AtLeast(sp.oo, x),
    "x ≥ −∞": lambda: AtLeast(x, -sp.oo),
    "truth values": lambda: AtLeast(sp.true, sp.false),
    "a fresh scalar of open sign": lambda: AtLeast(scalar("o") * y, 0),
    "Pinsker with ln 2 forgotten": lambda: AtLeast(total(l, kl(r[l], u[l])), total(l, sp.Abs(r[l] - u[l])) ** 2),
}

E7 = sp.Mul(*(m - size for size in range(1, 8))) ** 2  # 0 at every size of the usual sample
B, S = total(l, b[l]), total(l, a[l])
BEYOND: Table = {
    "S³ beyond small sizes": lambda: AtLeast(E7 * total(l, a[l] ** 3), E7 * S**3),
    "a sum in an exponent": lambda: AtLeast(E7 * total(l, b[l] * (y + 1) ** b[l]), E7 * B * (y + 1) ** B),
    "Jensen the wrong way": lambda: AtLeast(E7 * sp.log(B), E7 * total(l, sp.log(b[l]))),
    "Cauchy and Schwarz without the size": lambda: AtLeast(E7 * total(l, a[l] ** 2), E7 * S**2),
    "|Σ a| ≥ Σ |a|": lambda: AtLeast(E7 * sp.Abs(S), E7 * total(l, sp.Abs(a[l]))),
    "a delta beside the sum": lambda: AtLeast(
        E7 * S * delta(j, h) * sp.exp(S), E7 * total(l, a[l] * delta(j, h) * sp.exp(a[l]))
    ),
    "a diagonal by its rows": lambda: AtLeast(
        total(h, QQ[h, h] - QQ[h, j]), 0, given=(ForAll(AtLeast(total(h, QQ[h, l] - QQ[h, j]), 0), (l,)),)
    ),
    "a sum by all terms but one": lambda: AtLeast(S, 0, given=(ForAll(AtLeast(a[k], 0), (k,)),)),
    "strictly by what may be 0": lambda: AtLeast(S, 0, strict=True, given=(ForAll(AtLeast(a[l], 0), (l,)),)),
}

ATTACKS = BEYOND | ROOTS | DERIVATIVES | EXTRA | KERNELS | MARGINS


@pytest.mark.parametrize("name", ATTACKS)
def test_is_not_proved(name: str) -> None:
    assert refused(ATTACKS[name])
