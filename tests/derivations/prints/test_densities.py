"""Densities in print: normal laws and their integrals, proportional densities, parameters as subscripts, masks by cases."""

import pytest
import sympy as sp

from derivations import Equation, index, interior, positive, simplex, size, total, vector
from derivations.prints import tables
from derivations.prints.agreement import check
from derivations.prints.expressions import Values
from derivations.reader.meaning.links import Minimizer, links
from derivations.reader.meaning.notation import Notation
from derivations.reader.syntax.tree import LatexError
from derivations.records.prints import Check, Standing
from derivations.relations import Relation

NOTATION = Notation(
    {
        "n, d": "size",
        "i, j": "index n",
        "r": "index d",
        "T": "matrix n d",
        "t": "point of T",
        r"a, \lambda, m": "vector d",
        r"\alpha": "positive",
        "w": "interior n",
        r"\theta": "simplex n",
        "u(a)": "normal m",
        r"p_\theta": r"= \theta",
        r"h_\theta": r"= \sum_i \theta_i T_i",
        r"\mathrm{masked}(i)": "= 1 - w_i",
    },
    {r"\lambda": "lam", r"\alpha": "alpha"},
)
KNOWN = tables.known_names(NOTATION)

n, d = size("n"), size("d")
i, r = index("i", n), index("r", d)
T, a, lam, m = vector("T", n, d), vector("a", d), vector("lam", d), vector("m", d)
w, theta, alpha = interior("w", n), simplex("θ", n), positive("alpha")


def check_of(latex: str, *steps: Relation) -> Check:
    return check(latex, NOTATION, KNOWN, steps)


def sides(latex: str) -> tuple[sp.Expr, sp.Expr]:
    assertion = links(latex, NOTATION)[0].assertion
    assert isinstance(assertion, Equation)
    one, other = assertion.sides
    return one, other


def distance(of: sp.IndexedBase, middle: sp.IndexedBase) -> sp.Expr:
    return total(r, (of[r] - middle[r]) ** 2)


# ── normal laws ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_normal_density_is_normalized() -> None:
    one, other = sides(r"u(a) = \int u(a) da")
    values = Values([d, a.label, m.label])
    assert values.same(one, sp.exp(-distance(a, m) / 2) / (2 * sp.pi) ** (d / 2))
    assert values.same(other, sp.S.One)


@pytest.mark.parametrize(
    ("latex", "exponent"),
    [
        (r"\int u(a) \exp\langle a, \lambda\rangle da = 0", total(r, m[r] * lam[r]) + total(r, lam[r] ** 2) / 2),
        (
            r"\int e^{\langle a, \lambda\rangle/\alpha + \alpha} u(a) da = 0",
            alpha + total(r, m[r] * lam[r]) / alpha + total(r, lam[r] ** 2) / (2 * alpha**2),
        ),
        (r"\int u(a') e^{-2\langle a', \lambda\rangle} da' = 0", -2 * total(r, m[r] * lam[r]) + 2 * total(r, lam[r] ** 2)),
    ],
)
def test_an_integral_under_a_normal_law_is_its_generating_function(latex: str, exponent: sp.Expr) -> None:
    integral, _ = sides(latex)
    values = Values([d, alpha, m.label, lam.label])
    assert values.same(integral, sp.exp(exponent))
    assert not values.same(integral, sp.exp(2 * exponent))


@pytest.mark.parametrize(
    ("latex", "reason"),
    [
        (r"\int u(a) \|a\|^2 da = 1", "expected the exponential of a linear function"),
        (r"\int u(a) e^{\|a\|^2} da = 1", "expected the exponential of a linear function"),
        (r"\int e^{\langle a, \lambda\rangle} da = 1", "expected sums, logarithms"),
        (r"\int u(\lambda) da = 1", "expected sums, logarithms"),
    ],
)
def test_another_integral_is_refused(latex: str, reason: str) -> None:
    with pytest.raises(LatexError, match=reason):
        links(latex, NOTATION)


def test_a_density_needs_a_vector() -> None:
    assert "u" in Notation({"d": "size", "m": "vector d", "x": "real", "u(x)": "normal m"}).broken
    assert "u" in Notation({"d": "size", "m": "vector d", "u": "normal m"}).broken


def test_densities_agree_by_their_logarithms() -> None:
    log_density = -d * sp.log(2 * sp.pi) / 2 - distance(a, m) / 2
    step = Equation(log_density, log_density + total(r, 0 * a[r]), reason="as it is")
    assert check_of(r"u(a) = (2\pi)^{-d/2} e^{-\frac12\|a - m\|^2}", step).standing is Standing.AGREES
    for wrong in (r"u(a) = (2\pi)^{-d/2} e^{-\|a - m\|^2}", r"u(a) = e^{-\frac12\|a - m\|^2}"):
        assert check_of(wrong, step).standing is not Standing.AGREES


def test_proportional_densities_agree_by_their_ratios() -> None:
    other = vector("y", d)
    step = Equation(
        distance(other, m) / 2 - distance(a, m) / 2,
        total(r, (a[r] - other[r]) * m[r]) - total(r, a[r] ** 2) / 2 + total(r, other[r] ** 2) / 2,
    )
    printed = r"u(a) \propto \exp(\langle a, m\rangle - \tfrac12\|a\|^2)"
    assert check_of(printed, step).standing is Standing.AGREES
    for old, new in (("- ", "+ "), (r"\tfrac12", ""), (r"\langle a, m\rangle", r"2\langle a, m\rangle")):
        assert check_of(printed.replace(old, new), step).standing is not Standing.AGREES


# ── parameters, masks, inverses ─────────────────────────────────────────────────────────────────────────────────────


def test_a_subscript_is_an_argument() -> None:
    one, other = sides(r"h_\theta = h_w")
    values = Values([n, d, T.label, theta.label, w.label, r])
    assert not values.same(one, other)
    assert [v.name for v in (theta.label, w.label)] == ["θ", "w"]


def test_the_variable_of_a_minimization_is_the_parameter() -> None:
    assertion = links(r"w = \operatorname{argmin}_{p_\theta} \{\|h_\theta\|^2 + \alpha \|p_\theta\|^2\}", NOTATION)[0].assertion
    assert isinstance(assertion, Minimizer)
    assert not assertion.objective.has(theta.label)
    with pytest.raises(LatexError, match="expected"):
        links(r"w = \operatorname{argmin}_{h_\theta} \|h_\theta\|^2", NOTATION)


CASES = r"w(t_i) = \begin{cases} 0 & \text{if } \mathrm{masked}(i) \\ \alpha & \text{otherwise} \end{cases}"


def test_a_named_condition_is_1_or_0() -> None:
    one, other = sides(CASES)
    values = Values([n, alpha, w.label, i])
    assert values.same(one, w[i])
    assert values.same(other, w[i] * alpha)
    with pytest.raises(LatexError, match="hidden"):
        links(CASES.replace("masked", "hidden"), NOTATION)
    with pytest.raises(LatexError, match="expected a condition"):
        links(CASES.replace(r"\mathrm{masked}(i)", r"w_i \alpha"), NOTATION)


def test_an_inverse_on_either_side_is_multiplied_away() -> None:
    for latex in (r"\lambda = (I_d + \alpha I_d)^{-1} m", r"(I_d + \alpha I_d)^{-1} m = \lambda"):
        one, other = sides(latex)
        values = Values([d, alpha, lam.label, m.label, r])
        assert values.same(one, (1 + alpha) * lam[r])
        assert values.same(other, m[r])
