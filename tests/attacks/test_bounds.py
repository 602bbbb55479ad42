"""Inequalities that wrong bounds would prove: means with weights that do not sum to 1, sums with a missing term, kinks."""

import pytest
import sympy as sp

from derivations.calculus import bounds
from derivations.calculus.powers import plus
from derivations.calculus.shorthands import maximum, minimum, norm, sigmoid, softplus, tanh
from derivations.calculus.signs import nonnegative
from derivations.calculus.sums import delta, total
from derivations.relations import AtLeast, Differs, Equation
from tests.attacks import Table, refused
from tests.attacks.vocabulary import QQ, RR, A, P, a, b, c, h, half, i, j, k, l, m, n, r, s, t, tau, u, v, w, x, y, z


def over(entry: sp.Expr) -> sp.Expr:
    return total(l, entry)


lse = sp.log(over(sp.exp(a[l])))

MEANS: Table = {
    "a row that moves with the column": lambda: AtLeast(over(RR[m + 1 - l, l] * a[l] ** 2), over(RR[m + 1 - l, l] * a[l]) ** 2),
    "the diagonal": lambda: AtLeast(over(RR[l, l] * a[l] ** 2), over(RR[l, l] * a[l]) ** 2),
    "a column": lambda: AtLeast(over(RR[l, j] * a[l] ** 2), over(RR[l, j] * a[l]) ** 2),
    "a row of a joint distribution": lambda: AtLeast(over(QQ[j, l] * a[l] ** 2), 2 * over(QQ[j, l] * a[l]) ** 2),
    "weights of another vector": lambda: AtLeast(over(r[l] * a[l] ** 2), over(u[l] * a[l]) ** 2),
    "roots of weights": lambda: AtLeast(over(sp.sqrt(r[l]) * a[l] ** 2), over(sp.sqrt(r[l]) * a[l]) ** 2),
    "squares of weights": lambda: AtLeast(over(r[l] ** 2 * a[l] ** 2), 2 * over(r[l] ** 2 * a[l]) ** 2),
    "negative weights": lambda: AtLeast(-over(u[l] * a[l] ** 2), -(over(u[l] * a[l]) ** 2)),
    "no weights": lambda: AtLeast(over(a[l] ** 2), over(a[l]) ** 2),
    "another size": lambda: AtLeast(n * over(a[l] ** 2), over(a[l]) ** 2),
    "all but one": lambda: AtLeast((m - 1) * over(a[l] ** 2), over(a[l]) ** 2),
    "strict for weights": lambda: AtLeast(over(r[l] * a[l] ** 2), over(r[l] * a[l]) ** 2, strict=True),
    "a cube": lambda: AtLeast(over(u[l] * a[l] ** 3), over(u[l] * a[l]) ** 3),
    "strict": lambda: AtLeast(m * over(a[l] ** 2), over(a[l]) ** 2, strict=True),
    "log of a mean is no mean": lambda: AtLeast(over(a[l]) / m + sp.log(m), lse),
    "weights in a log of a sum": lambda: AtLeast(sp.log(over(u[l] * sp.exp(a[l]))), over(a[l]) / m),
    "a mean over rows": lambda: AtLeast(sp.log(over(sp.exp(A[i, l]))), total(i, A[i, j]) / m),
    "a temperature of either sign": lambda: AtLeast(x * sp.log(over(sp.exp(a[l] / x))), a[j], given=(Differs(x, 0),)),
}

PRODUCTS: Table = {
    "Cauchy–Schwarz, twice": lambda: AtLeast(over(a[l] ** 2) * over(s[l] ** 2), 2 * over(a[l] * s[l]) ** 2),
    "an index that is free on one side": lambda: AtLeast(over(a[l] ** 2) * total(i, A[i, j] ** 2), over(a[l] * A[i, l]) ** 2),
    "without one term": lambda: AtLeast(over((1 - delta(l, j)) * a[l] ** 2) * over(s[l] ** 2), over(a[l] * s[l]) ** 2),
    "without different terms": lambda: AtLeast(
        over((1 - delta(l, j)) * a[l] ** 2) * over((1 - delta(l, k)) * s[l] ** 2), over(a[l] * s[l]) ** 2
    ),
    "of another product": lambda: AtLeast(over(a[l] ** 2) * over(s[l] ** 2), over(a[l] * b[l]) ** 2),
    "with the roots of another product": lambda: AtLeast(norm(l, a[l]) * norm(l, s[l]), over(a[l] * b[l])),
    "norms": lambda: AtLeast(norm(l, a[l]) * norm(l, s[l]), m * sp.Abs(over(a[l] * s[l]))),
    "one norm": lambda: AtLeast(norm(l, a[l]) ** 2, over(a[l] * s[l])),
}

PARTS: Table = {
    "Σ a ≥ a_j": lambda: AtLeast(over(a[l]), a[j]),
    "Σ b ≥ b_j + b_h, but for j = h": lambda: AtLeast(over(b[l]), b[j] + b[h]),
    "m ≥ Σ b": lambda: AtLeast(m, over(b[l])),
    "m > Σ e^{−c}": lambda: AtLeast(m, over(sp.exp(-c[l])), strict=True),
    "log Σ e^a ≥ a_j + a_h": lambda: AtLeast(lse, a[j] + a[h]),
    "log Σ b e^a ≥ a_j": lambda: AtLeast(sp.log(over(b[l] * sp.exp(a[l]))), a[j]),
    "r² ≥ r": lambda: AtLeast(r[j] ** 2, r[j]),
    "r ≥ √r": lambda: AtLeast(r[j], sp.sqrt(r[j])),
    "1 ≥ m r_j": lambda: AtLeast(1, m * r[j]),
    "uv ≥ P": lambda: AtLeast(u[j] * v[i], P[i, j]),
    "u² ≥ P": lambda: AtLeast(u[j] ** 2, P[i, j]),
    "masses of two entries of one row": lambda: AtLeast(1, RR[j, l] + RR[j, h]),
    "e^x ≥ 1 + x + x²/2": lambda: AtLeast(sp.exp(x), 1 + x + x**2 / 2),
    "1 ≥ e^x": lambda: AtLeast(1, sp.exp(x)),
    "y − 1 ≥ 2 log y": lambda: AtLeast(y - 1, 2 * sp.log(y)),
    "log y ≥ log(y + t)": lambda: AtLeast(sp.log(y), sp.log(y + t)),
    "m ≥ 1 + … + m": lambda: AtLeast(m, over(l)),
    "z log(1 + e^x) > zx, strictly": lambda: AtLeast(z * sp.log(1 + sp.exp(x)), z * x, strict=True),
    "log(y + t) ≥ log y + log t": lambda: AtLeast(sp.log(y + t), sp.log(y) + sp.log(t)),
}

KINKS: Table = {
    "|x| w ≥ xw": lambda: AtLeast(sp.Abs(x) * w, x * w),
    "1 ≥ x₊, as it is for x ≤ 0": lambda: AtLeast(1, plus(x)),
    "1 ≥ |x|, as it is at 0": lambda: AtLeast(1, sp.Abs(x)),
    "x x₊ > x₊², strictly": lambda: AtLeast(x * plus(x), plus(x) ** 2, strict=True),
    "|Σ a| ≥ Σ |a|": lambda: AtLeast(sp.Abs(over(a[l])), over(sp.Abs(a[l]))),
    "|x + w| ≥ |x| + |w|": lambda: AtLeast(sp.Abs(x + w), sp.Abs(x) + sp.Abs(w)),
    "1/x ≥ 1/|x|": lambda: AtLeast(1 / x, 1 / sp.Abs(x), given=(Differs(x, 0),)),
    "|x|³ ≥ x²": lambda: AtLeast(sp.Abs(x) ** 3, x**2),
    "(x + w)₊ ≥ x₊ + w₊": lambda: AtLeast(plus(x + w), plus(x) + plus(w)),
    "x₊ w₊ ≥ (xw)₊": lambda: AtLeast(plus(x) * plus(w), plus(x * w)),
    "(wx)₊ = w x₊": lambda: Equation(plus(w * x), w * plus(x)),
    "(−yx)₊ = −y x₊": lambda: Equation(plus(-y * x), -y * plus(x)),
    "x₊³ = x³": lambda: Equation(plus(x) ** 3, x**3),
    "|x| = x₊ − (−x)₊": lambda: Equation(sp.Abs(x), plus(x) - plus(-x)),
    "max(zx, zw) = z max(x, −w)": lambda: Equation(maximum(z * x, z * w), z * maximum(x, -w)),
    "min ≥ max": lambda: AtLeast(minimum(x, w), maximum(x, w)),
    "σ(x) ≥ ½": lambda: AtLeast(sigmoid(x), half),
    "tanh x ≥ 0": lambda: AtLeast(tanh(x), 0),
    "softplus(x) ≥ 1 + x₊": lambda: AtLeast(softplus(x), 1 + plus(x)),
    "√(z + x²) ≥ z + x": lambda: AtLeast(sp.sqrt(z + x**2), z + x),
    "y^x ≥ 1": lambda: AtLeast(y**x, 1),
    "y^z ≥ 1": lambda: AtLeast(y**z, 1),
    "x^(2m−1) ≥ 0": lambda: AtLeast(x ** (2 * m - 1), 0),
    "√τ ≥ √(τ + t)": lambda: AtLeast(sp.sqrt(tau), sp.sqrt(tau + t)),
}

ATTACKS = MEANS | PRODUCTS | PARTS | KINKS


@pytest.mark.parametrize("name", ATTACKS)
def test_is_not_proved(name: str) -> None:
    assert refused(ATTACKS[name])


def test_control_an_inner_sum_with_the_same_bound_name_is_unchanged() -> None:
    """In Σ_l b_l Σ_l e^{a_l s_j}, the outer index does not bind the inner summand, so b_j Σ_j e^{a_j s_j} is no summand."""
    inner = sp.Sum(sp.exp(a[l] * s[j]), (l, 1, m))
    total_ = sp.Sum(b[l] * inner, (l, 1, m))
    wrong = b[j] * sp.Sum(sp.exp(a[j] * s[j]), (j, 1, m))
    assert all(total_ - bound != wrong for bound, _ in bounds.bounds(total_ + s[j], lambda part, _: nonnegative(part)))
