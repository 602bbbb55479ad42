"""The links of a formula, one by one: relations, premises, points of spaces, remainders, solutions of problems."""

import re

import pytest

from derivations.reader.meaning.links import links
from derivations.reader.meaning.notation import Notation
from derivations.reader.syntax.tree import LatexError

TABLE = Notation(
    {
        "n, m, d": "size",
        "i": "index n",
        "j, k, l": "index m",
        "a, b": "index d",
        r"\tau, \gamma": "positive",
        "x, y": "real",
        "s, u": "vector m",
        "v, w": "vector d",
        "p, q": "simplex m",
        "r": "interior m",
        "K": "matrix m d",
        "P": "stochastic n m",
        "C": "matrix n m",
        "S": "matrix m m",
        r"\mathcal{A}": "size",
        "f(v)": r"= \tfrac12 v^\top v",
        "g": r"= \arg\min_{q\in\Delta^{m-1}} \{\langle q, s\rangle\}",
        "c(s)": r"= \arg\max_{q\in\Delta^{m-1}} \{\langle q, s\rangle + \tau H(q)\}",
    }
)

SAID = [
    (r"x = y", ["x = y"]),
    (r"x = y = \gamma", ["x = y", "y = γ"]),
    (r"x \le y < \gamma", ["y ≥ x", "γ > y"]),
    (r"x \ge y > \gamma", ["x ≥ y", "y > γ"]),
    (r"x \ne y", ["x ≠ y"]),
    (r"s \ne u", ["Σ_j((s[j] - u[j])**2) > 0"]),
    (r"x + y", ["x + y"]),
    (r"-x", ["-x"]),
    (r"x = y \implies x + 1 = y + 1", ["x = y imply x + 1 = y + 1"]),
    (r"x = y \iff y = x", ["x = y", "y = x"]),
    (r"x = y, x = \gamma \implies y = \gamma", ["x = y and x = γ imply y = γ"]),
    (r"q \in \Delta^{m-1}", ["q[j] ≥ 0", "Σ_l(q[l]) = 1"]),
    (r"P \in U(a, \cdot)", ["P[i, j] ≥ 0", "Σ_l(P[i, l]) = 1"]),
    (r"s \in \mathbb{R}^m", ["s[j]"]),
    (r"s \in \mathbb{R}_+^m", ["s[j] ≥ 0"]),
    (r"s \in \mathbb{R}_{++}^m", ["s[j] > 0"]),
    (r"C \in \mathbb{R}^{n\times m}", ["C[i, j]"]),
    (r"x\in\mathbb{R}, \quad x = y", ["x = y"]),
    (r"\mathcal{A} = \{1, \dots, n\}", ["Σ_l(1) = n"]),
    (r"\mathbb{R}^m = \mathbb{R}^n", ["m = n"]),
    (r"f : \mathbb{R}^d \to \mathbb{R}", ["Σ_l(v[l]**2/2)"]),
    (r"\Delta = \{q \in \mathbb{R}^m : q_j \ge 0, \sum_j q_j = 1\}", ["q[j] ≥ 0", "Σ_j(q[j]) = 1"]),
    (r"p = \{q \in \mathbb{R}^m : q_j \ge 0, \sum_j q_j = 1 \text{ for all } j\}", ["q[j] ≥ 0", "Σ_j(q[j]) = 1"]),
    (r"x \approx y", ["x = y + a remainder"]),
    (r"s = K v + o(\tau)", ["s[j] = Σ_l(K[j, l]*v[l]) + o(τ^1)"]),
    (r"x = y + o(\tau^2)", ["x = y + o(τ^2)"]),
    (r"x = y + O(\tau)", ["x = y + o(τ^0)"]),
    (r"x = y + o(\tau^2) = \gamma + o(\tau)", ["x = y + o(τ^2)", "y = γ + o(τ^1)"]),
    (
        r"p = \arg\min_{q\in\Delta^{m-1}} \{\langle q, s\rangle - \tau H(q)\}",
        ["p[l] is the only minimizer of τ*Σ_l(xlogx(q[l])) + Σ_l(q[l]*s[l])"],
    ),
    (r"p_j = \arg\min_{q\in\Delta^{m-1}} \{\langle q, s\rangle\}", ["p[j] is the only minimizer of Σ_l(q[l]*s[l])"]),
    (r"p_j = \mathrm{argmin}_{q\in\Delta^{m-1}} \{\langle q, s\rangle\}", ["p[j] is the only minimizer of Σ_l(q[l]*s[l])"]),
    (r"x = \min_{q\in\Delta^{m-1}} \{\langle q, s\rangle\}", ["x is the least value of Σ_l(q[l]*s[l])"]),
    (r"x = \inf_{q\in\Delta^{m-1}} \{\langle q, s\rangle\}", ["x is the least value of Σ_l(q[l]*s[l])"]),
    (r"x = \sup_{q\in\Delta^{m-1}} \{\langle q, s\rangle\}", ["-x is the least value of -Σ_l(q[l]*s[l])"]),
    (r"p_j = \argmin_{q\in\Delta^{m-1}} \{\langle q, s\rangle\}", ["p[j] is the only minimizer of Σ_l(q[l]*s[l])"]),
    (r"p_j = \argmax_{q\in\Delta^{m-1}} \{\langle q, s\rangle\}", ["p[j] is the only minimizer of -Σ_l(q[l]*s[l])"]),
    (r"\min_{q\in\Delta^{m-1}} \{\langle q, s\rangle\} = x", ["x is the least value of Σ_l(q[l]*s[l])"]),
    (r"x = -\min_{q\in\Delta^{m-1}} \{\langle q, s\rangle\}", ["-x is the least value of Σ_l(q[l]*s[l])"]),
    (r"x = \max_{q\in\Delta^{m-1}} \{\langle q, s\rangle\} + y", ["-x is the least value of -y - Σ_l(q[l]*s[l])"]),
    (r"w = \arg\min_{v} \{f(v)\}", ["Σ_l(other v[l]**2/2) ≥ Σ_l(w[l]**2/2)"]),
    (r"w = \arg\min_{v \in \mathbb{R}^d} \{f(v)\}", ["Σ_l(other v[l]**2/2) ≥ Σ_l(w[l]**2/2)"]),
    (
        r"\min_{q\in\Delta^{m-1}} \{\langle q, s\rangle\} = \min_{q\in\Delta^{m-1}} \{\langle q, u\rangle\}",
        ["Σ_l(q[l]*s[l]) = Σ_l(q[l]*u[l])"],
    ),
    (r"\min_{q\in\Delta^{m-1}} \langle q, s\rangle", ["Σ_l(q[l]*s[l])"]),
    (r"\max_{q\in\Delta^{m-1}} \langle q, s\rangle + y", ["y + Σ_l(q[l]*s[l])"]),
    (
        r"C = \arg\min_{P \ge 0, P \mathbf{1} = \mathbf{1}} \{\langle P, C\rangle\}",
        ["C[l, l] is the only minimizer of Σ_l,l′(C[l, l′]*R[l, l′])"],
    ),
    (r"P_i = \arg\min_{P_i\in\Delta^{m-1}} \{\langle P_i, s\rangle\}", ["P[i, l] is the only minimizer of Σ_l(q[l]*s[l])"]),
    (r"P = \arg\min_{q\in\Delta^{m-1}} \{\langle q, s\rangle\}", ["P[i, l] is the only minimizer of Σ_l(q[l]*s[l])"]),
    (r"g_j = p_j", ["p[j] is the only minimizer of Σ_l(q[l]*s[l])"]),
    (r"g = p", ["p[l] is the only minimizer of Σ_l(q[l]*s[l])"]),
    (r"c(s) = p", ["p[l] is the only minimizer of τ*Σ_l(xlogx(q[l])) - Σ_l(q[l]*s[l])"]),
    (r"c_j \propto e^{s_j}", ["exp(s[j])/Σ_j(exp(s[j])) is the only minimizer of τ*Σ_l(xlogx(q[l])) - Σ_l(q[l]*s[l])"]),
    (r"p_j \propto e^{s_j}", ["p[j] = exp(s[j])*Σ_j(p[j])/Σ_j(exp(s[j]))"]),
    (r"s = (S)^{-1} u", ["Σ_l(S[j, l]*s[l]) = u[j]"]),
    (r"(S)^{-1} u = s", ["Σ_l(S[j, l]*s[l]) = u[j]"]),
    (r"s = 2 (S)^{-1} u", ["Σ_l(S[j, l]*s[l]) = 2*u[j]"]),
    (r"s = \mathrm{diag}(r)^{-1} u", ["Σ_l(δ[j,l]*r[j]*s[l]) = u[j]"]),
    (r"\lim_{\tau\to 0} \tau x = y", ["lim_{τ → 0} x*τ = y"]),
    (r"z = \min_{q\in\Delta^{m-1}} \{\langle q, s\rangle\}", ["Σ_l(q[l]*s[l])"]),
    (r"x = y \text{ for } x > 0", ["x = y"]),
    (r"x + y = \gamma \; (x > 0)", ["x + y = γ"]),
    (r"-\tau H(q), x = y", ["τ*Σ_l(xlogx(q[l]))", "x = y"]),
    (r"\nabla f(v) = v, \quad \forall v \in \mathbb{R}^d", ["∂/∂v[a] Σ_l(v[l]**2/2) = v[a]"]),
]

REFUSED = [
    (r"x \implies y = 1", r"expected a relation on each side of \implies"),
    (r"x = y \implies y", r"expected a relation on each side of \implies"),
    (r"q \in \Delta^{d-1}", r"\Delta^{d - 1}: expected the simplex of m numbers"),
    (r"p = \{q \in \mathbb{R}^d : q_j \ge 0, \sum_j q_j = 1\}", r"q: expected a point of \mathbb{R}^{d}, got a vector [m]"),
    (r"\Delta^{m-1} = \{q \in \mathbb{R}^d : q_j \ge 0, \sum_j q_j = 1\}", r"q: expected a point of \mathbb{R}^{d}"),
    (
        r"\Delta^{d-1} = \{q \in \mathbb{R}^m : q_j \ge 0, \sum_j q_j = 1\}",
        r"expected the simplex of m numbers, got that of d - 1",
    ),
    (r"s \in \mathbb{R}^d", r"s: expected a point of \mathbb{R}^{d}"),
    (r"\mathcal{A} = \{1, 2, \dots, n\}", "expected one expression in brackets"),
    (r"f : \mathbb{R}^m \to \mathbb{R}", r"f: expected a function from \mathbb{R}^{m} to \mathbb{R} in the notation"),
    (r"s : m \to \mathcal{Q}", r"s: expected a function from m to \mathcal{Q} in the notation"),
    (r"\mathbf{1} : \mathbb{R}^d \to \mathbb{R}", r"expected a function from \mathbb{R}^{d} to \mathbb{R} in the notation"),
    (r"x + o(\tau) = y + o(\tau^2)", "expected a remainder that is no smaller than that before it"),
    (r"x = \min_{v} \{f(v)\}", "argmin: expected a vector [d] on the other side"),
    (
        r"\min_{q\in\Delta^{m-1}} \{\langle q, s\rangle\} = \max_{q\in\Delta^{m-1}} \{\langle q, u\rangle\}",
        "expected two problems of one kind",
    ),
    (r"x \sim y", r"expected =, an inequality or \propto"),
    (r"x = ", "expected an expression on each side of ="),
    (r"= y", "expected a left side"),
    (r"p \in \mathcal{Q}", "expected membership in a simplex"),
]


@pytest.mark.parametrize(("latex", "said"), SAID)
def test_what_is_said_link_by_link(latex: str, said: list[str]) -> None:
    assert [str(link) for link in links(latex, TABLE)] == said


@pytest.mark.parametrize(("latex", "why"), REFUSED)
def test_what_cannot_be_read_says_why(latex: str, why: str) -> None:
    with pytest.raises(LatexError, match=re.escape(why)):
        links(latex, TABLE)


def test_a_line_that_begins_with_a_sign_goes_on_with_the_left_side_before_it() -> None:
    assert [str(link) for link in links("= y", TABLE, before=r"\gamma = x")] == ["γ = y"]
    assert [str(link) for link in links(r"= y, \quad x + y = 1", TABLE, before=r"x = 1, \gamma = x")] == ["γ = y", "x + y = 1"]
    assert [str(link) for link in links("x = y", TABLE, before="y = 1")] == ["x = y"]


def test_a_link_says_which_name_it_defines() -> None:
    assert [link.defined for link in links(r"x = y = \gamma", TABLE)] == ["x", "y"]
    assert [link.defined for link in links(r"s_j = u_j", TABLE)] == ["s"]


@pytest.mark.parametrize(
    ("latex", "shown"),
    [
        ("x = y", ["x", "y"]),
        (r"x + y", ["x + y"]),
        (r"p = \arg\min_{q\in\Delta^{m-1}} \{\langle q, s\rangle\}", ["Sum(q#[l#]*s[l#], (l#, 1, m))", "p[l#]"]),
        (r"x = \min_{q\in\Delta^{m-1}} \{\langle q, s\rangle\}", ["Sum(q#[l#]*s[l#], (l#, 1, m))", "x"]),
        (r"\lim_{\tau\to 0} \tau x = y", ["x*τ", "y"]),
        (r"x \approx y", ["x", "y"]),
    ],
)
def test_the_sides_of_what_is_asserted(latex: str, shown: list[str]) -> None:
    (link,) = links(latex, TABLE)
    assert [re.sub(r"#\w*", "#", str(side)) for side in link.assertion.sides] == shown
