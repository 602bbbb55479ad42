"""Constructs beside sums and fractions: primes, cases, maxima, rows of a matrix, entries below ∂."""

import re

import pytest

from derivations.reader.meaning.notation import Notation
from derivations.reader.meaning.statements import read
from derivations.reader.syntax.syntax import parse
from derivations.reader.syntax.tree import LatexError, spelled
from derivations.relations import Relation

SCORES = {
    "n, d": "size",
    "a, b, c": "index n",
    "s": "vector n",
    r"\tau, \beta": "positive",
    "p_a": r"= e^{s_a/\tau} / \sum_b e^{s_b/\tau}",
    "V": r"= \tau\log\sum_b e^{s_b/\tau}",
    "Q(a)": "real",
    "W": r"= \log\sum_a e^{Q(a)}",
    "z, u": "real",
    r"\sigma(z)": r"= \frac{1}{1 + e^{-z}}",
    r"\ell(u)": r"= -\log\sigma(\beta u)",
    "k": "= z^3",
    "h(z)": "= k",
    "X": "matrix n d",
    "x": "rows of X",
    "y": "columns of X",
    "f(x_a)": r"= (X X^\top)_{aa}",
    "g(x_a)": r"= x_a^\top x_a",
    r"P(b \succ c)": r"= \frac{e^{s_b}}{e^{s_b} + e^{s_c}}",
}
SLOPES = r"\frac{\partial p_a}{\partial s_b} = \begin{cases} "

TRUE = [
    r"\sigma'(z) = \sigma(z)(1 - \sigma(z))",
    r"\sigma'(\beta u) = \sigma(\beta u)\sigma(-\beta u)",
    r"\sigma''(z) = \sigma'(z)(1 - 2\sigma(z))",
    r"\ell'(u) = -\beta\sigma(-\beta u)",
    r"\sigma'(z)^2 = \sigma(z)^2\sigma(-z)^2",
    r"h'(z) = 3 z^2",
    SLOPES + r"\frac1\tau p_a(1 - p_a) & \text{if } a = b, \\ -\frac1\tau p_a p_b & \text{otherwise.} \end{cases}",
    SLOPES + r"\frac1\tau p_a(1 - p_a) & a = b \\ -\frac1\tau p_a p_b & a \ne b \end{cases}",
    r"\max_a s_a \le V",
    r"V - \max_{a} s_a \ge 0",
    r"\min_a e^{s_a} \ge 0",
    r"\max_b p_b \le 1",
    r"\frac{\partial W}{\partial Q(a)} = e^{Q(a) - W}",
    r"\frac{\partial^2 W}{\partial Q(a)\,\partial Q(b)} = e^{Q(a) - W}(\delta_{ab} - e^{Q(b) - W})",
    r"\sum_a x_a x_a^\top = X^\top X + 0 \cdot X^\top X",
    r"P(b \succ c) + P(c \succ b) = 1",
]

FALSE = [
    r"\sigma'(z) = \sigma(z)(1 + \sigma(z))",
    r"\sigma'(\beta u) = \beta\sigma(\beta u)\sigma(-\beta u)",
    r"\ell'(u) = -\sigma(-\beta u)",
    SLOPES + r"\frac1\tau p_a(1 - p_a) & \text{if } a = b, \\ \frac1\tau p_a p_b & \text{otherwise} \end{cases}",
    SLOPES + r"-\frac1\tau p_a p_b & a = b \\ \frac1\tau p_a(1 - p_a) & a \ne b \end{cases}",
    r"\max_a s_a \le V - \tau",
    r"V - \max_a s_a \ge \tau\log n",
    r"V \le \max_a s_a",
    r"\min_a e^{s_a} \ge 1",
    r"\frac{\partial W}{\partial Q(a)} = Q(a) - W",
    r"g(x_b) = g(x_a)",
    r"P(b \succ c) = P(c \succ b)",
    r"y_1^\top y_1 = x_1^\top x_1",
]

REFUSED = [
    (r"h'(u) = 3 u^2", "expected all of z in the definition of h itself"),
    (r"f(x_b) = f(x_a)", "depends on .* through what is defined elsewhere"),
    (r"\sigma' = \sigma(1 - \sigma)", "can be .*sigma at 1 - .* or .*sigma times"),
    (r"p_a = \begin{cases} 1 & \tau \ge 1 \\ 0 & \text{otherwise} \end{cases}", "expected a condition i = j"),
    (r"p_a = \begin{cases} 1 & a = b \\ 0 & a \ne c \end{cases}", "expected otherwise or the contrary"),
    (r"p_a = \begin{cases} 1 & a = b \end{cases}", "expected two rows"),
    (r"p_a = \begin{cases} 1 & \text{unless } a = b \\ 0 & \text{otherwise} \end{cases}", "expected if or otherwise"),
    (r"\max_a s_a = V", "expected a point of a simplex"),
    (r"\max_a s_a \le s_a + V", "expected a letter that is used nowhere else"),
    (r"\tau \max_a s_a \le V", "expected a maximum that is bounded above"),
]


def proved(relation: Relation) -> bool:
    return bool(relation.prove())


@pytest.mark.parametrize("latex", TRUE)
def test_true_statements_are_proved(latex: str) -> None:
    relations = read(latex, Notation(SCORES))
    assert relations
    assert all(map(proved, relations))


@pytest.mark.parametrize("latex", FALSE)
def test_false_statements_are_refuted(latex: str) -> None:
    relations = read(latex, Notation(SCORES))
    assert not any(relation.trivial() for relation in relations)
    assert any(relation.counterexample() for relation in relations)


@pytest.mark.parametrize(("latex", "why"), REFUSED)
def test_unreadable_formulas_give_a_reason(latex: str, why: str) -> None:
    with pytest.raises(LatexError, match=why):
        read(latex, Notation(SCORES))


def test_a_declared_symbol_with_a_prime_is_that_symbol() -> None:
    """If the notation declares σ' as a symbol, it is not read as a derivative."""
    (relation,) = read(r"\sigma'(z) = z", Notation({**SCORES, r"\sigma'(z)": "= z"}))
    assert relation.trivial()


@pytest.mark.parametrize(
    ("definitions", "circle"),
    [
        ({"A": "= B + 1", "B": "= 2 C", "C": "= A"}, "A → B → C → A"),
        ({"A": "= A + 1"}, "A → A"),
        ({"n": "size", "j": "index n", "A": r"= B^\star_1", r"B^\star_j": "= A + j"}, r"A → B^{\star} → A"),
        ({"A": "= B + 1", "B": "= 2 C", "C": "= B"}, "B → C → B"),
    ],
)
def test_a_circle_of_definitions_is_named(definitions: dict[str, str], circle: str) -> None:
    with pytest.raises(LatexError, match=f"circular definition: {re.escape(circle)}$"):
        read("A = 1", Notation(definitions))


def test_rows_are_those_of_a_matrix() -> None:
    with pytest.raises(LatexError, match="expected rows of a matrix of the notation, got s"):
        read("x_1 = 1", Notation({"n": "size", "s": "vector n", "x": "rows of s"}))


def test_cases_are_spelled_as_they_are_read() -> None:
    latex = SLOPES + r"p_a & \text{if } a = b \\ 0 & \text{otherwise} \end{cases}"
    assert spelled(parse(spelled(parse(latex)))) == spelled(parse(latex))


def test_a_product_with_a_distribution_is_no_distribution() -> None:
    """The entropy of w c is not that of w, whatever other factors there are."""
    declared = {"m": "size", "y": "index m", "w(y)": "distribution", "c": "positive"}
    (relation,) = read("H(w c) = H(w)", Notation(declared))
    assert relation.counterexample() is not None
