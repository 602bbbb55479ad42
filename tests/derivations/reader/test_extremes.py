"""Maxima, suprema, products, divergences: true statements, false variants, and ambiguous formulas."""

import pytest

from derivations.reader.meaning.notation import Notation
from derivations.reader.meaning.statements import read
from derivations.reader.syntax.tree import LatexError

DECLARED = {
    "n": "size",
    "a, b, i, j": "index n",
    "s, v": "vector n",
    "r(a)": "real",
    r"\tau, c": "positive",
    "p": "interior n",
    "q": "simplex n",
    "x": "positive vector n",
    "u": "real",
    "f(u)": "= -u^2",
    "V": r"= \tau\log\sum_b e^{s_b/\tau}",
    "W": r"= \tau\log\sum_a e^{r(a)/\tau}",
    "w_a": r"= e^{s_a/\tau}/\sum_b e^{s_b/\tau}",
    "d_a": r"= e^{v_a}/\sum_b e^{v_b}",
    "h(q)": r"= -\sum_i q_i \log q_i",
}

TRUE = [
    r"V \le \max_a s_a + \tau\log n",
    r"W \le \max_a r(a) + \tau\log n",
    r"V - \max_a s_a \le \tau\log n",
    r"\min_a s_a \le \sum_a w_a s_a \le \max_a s_a",
    r"\sum_a q_a s_a \le \max_a s_a",
    r"\max_i s_i \ge \frac1n \sum_i s_i",
    r"\sup_{q \in \Delta_n} h(q) \le \log n",
    r"\sup_{q} \sum_i q_i s_i \le \max_i s_i",
    r"\sup_{q \in \Delta_n} (\sum_i q_i s_i - \tau \sum_i q_i\log q_i) \le V",
    r"\sup_u f(u) \le 0",
    r"\inf_{u \in \mathbb{R}} u^2 \ge 0",
    r"\max_i x_i \le \sum_i x_i",
    r"\max_a s_a + \max_b s_b \le 2 V",
    r"\log \prod_i c x_i = n \log c + \sum_i \log x_i",
    r"\sum_a \prod_i x_i = n \prod_i x_i",
    r"\frac{\partial}{\partial x_j} \log\prod_i x_i = 1/x_j",
    r"-\log\prod_{i} w_i = \frac{n}{\tau} V - \frac1\tau\sum_i s_i",
    r"\sum_{j=1}^n \log \prod_{i} e^{s_i} = n \sum_i s_i",
    r"\mathrm{KL}(w \| d) \ge 0",
    r"\sum_a d_a s_a + \tau H(d) \le V",
    r"-\sum_a w_a \log d_a \ge H(w)",
]

FALSE = [
    r"V \le \max_a s_a + \tau",
    r"V \le \max_a s_a",
    r"W \le \max_a r(a) + \log n",
    r"V - \max_a s_a \ge \tau\log n",
    r"\min_a s_a \ge \sum_a w_a s_a",
    r"\sum_a q_a s_a \ge \max_a s_a",
    r"\max_i s_i \ge \frac2n \sum_i s_i",
    r"\sup_{q \in \Delta_n} h(q) \le \log n - 1",
    r"\sup_u f(u) \le -1",
    r"\inf_{u \in \mathbb{R}} u^2 \ge 1",
    r"\log \prod_i c x_i = \log c + \sum_i \log x_i",
    r"\prod_i c = n c",
    r"\mathrm{KL}(w \| d) \ge 1",
    r"\sum_a d_a s_a + H(d) \le V",
    r"-\sum_a w_a \log d_a \ge H(d)",
    r"\prod_i p_i^{q_i} = e^{\sum_i p_i \log q_i}",
    r"\frac{\partial}{\partial x_j} \log\prod_i x_i = x_j",
]

REFUSED = [
    (r"\max_a s_a \le s_a + V", "expected a letter that is used nowhere else"),
    (r"\sup_{q} \sum_i q_i s_i - \tau \sum_i q_i\log q_i \le V", "expected a letter that is used nowhere else, got q"),
    (r"\sup_{p \in \mathbb{R}^n} p^\top p \le 1", "expected any point of"),
    (r"\sup_{q \in \mathcal{Q}} h(q) \le \log n", "expected x .*in and a set such as"),
    (r"\max_a p_a \ge 1/n", "expected the greatest entry of a vector of real numbers"),
    (r"\max_a s_a \ge \min_a s_a", "got both"),
    (r"\max_a s_a + \max_b s_b \ge s_i + s_j", "expected one maximum or minimum"),
    (r"\tau \max_a s_a \ge V", "expected a maximum that is bounded above"),
    (r"\max_a s_a = V", "expected a point of a simplex"),
    (r"\prod_i x_i c = 1", "can be a factor of each term or of the product"),
    (r"\prod_i x_i / c = 1", "can be a factor of each term or of the product"),
    (r"\prod_i s_i = 1", "expected positive factors"),
    (r"\prod_i q_i \le 1", "expected positive factors"),
]


@pytest.mark.parametrize("latex", TRUE)
def test_true_statements_are_proved(latex: str) -> None:
    assert all(relation.prove() for relation in read(latex, Notation(DECLARED)))


@pytest.mark.parametrize("latex", FALSE)
def test_false_statements_are_refuted(latex: str) -> None:
    assert any(relation.counterexample() for relation in read(latex, Notation(DECLARED)))


@pytest.mark.parametrize(("latex", "why"), REFUSED)
def test_unreadable_formulas_give_a_reason(latex: str, why: str) -> None:
    with pytest.raises(LatexError, match=why):
        read(latex, Notation(DECLARED))


@pytest.mark.parametrize("latex", [r"\prod_i e^{s_i} = e^{\sum_i s_i}", r"\prod_i c = c^n", r"\prod_{i \ne j} c = c^{n-1}"])
def test_products_that_are_the_same_expression(latex: str) -> None:
    (relation,) = read(latex, Notation(DECLARED))
    assert relation.trivial()
