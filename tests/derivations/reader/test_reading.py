"""Printed formulas read into relations: true ones are proved, false ones refuted, ambiguous ones refused."""

import re

import pytest

from derivations.reader.meaning.notation import Notation
from derivations.reader.meaning.statements import read
from derivations.reader.syntax.syntax import parse
from derivations.reader.syntax.tree import LatexError, spelled
from derivations.relations import Relation

NOTATION = Notation(
    {
        "m, n, d": "size",
        "i, j, k, l": "index m",
        "a": "index n",
        r"\tau, \gamma": "positive",
        "s, u": "vector m",
        "q": "simplex m",
        "r": "interior m",
        "K": "matrix m d",
        "x": "vector d",
        "p_j": r"= e^{s_j/\tau} / \sum_l e^{s_l/\tau}",
        r"\phi(s)": r"= \tau\log\sum_l e^{s_l/\tau}",
        r"F_{jk}": r"= \mathbb{E}_{i\sim p}[\partial_{s_j}\log p_i\,\partial_{s_k}\log p_i]",
        r"\mathcal K": "KL",
        "z": "index n",
        "w(z)": "distribution",
        "h(x, z)": "positive",
        r"\theta": "?",
    }
)
MARGIN = Notation({"m": "size", "j, k": "index m", r"\delta": "positive", "s": "vector m"})
JOINT = Notation({"m, n": "size", "i": "index n", "j": "index m", "J": "interior n m", r"\alpha": "positive != 1"})

TRUE = [
    r"|s - u|^2 = \|s\|^2 - 2 s^\top u + \|u\|^2",
    r"\nabla_s \sum_j p_j = \mathbf{0}",
    r"\nabla \mathrm{LSE}(s) = \mathrm{softmax}(s)",
    r"\sum_{i<j} q_i q_j = \tfrac12 (1 - \sum_i q_i^2)",
    r"\sum_{1 \le i < j \le m} q_i q_j (s_i - s_j)^2 = \sum_i q_i s_i^2 - (\sum_i q_i s_i)^2",
    r"\frac{\partial^3 \tau^4}{\partial\tau^3} = 24 \tau",
    r"\tau \|s\|^2 \ge \|s\|^2 \quad (\tau > 1)",
    r"\mathrm{tr} F = \tfrac1{\tau^2}(1 - \sum_j p_j^2)",
    r"\phi(s) \ge u_j, \quad \text{if } s_j - u_j \ge 0",
    r"\phi(s) \ge u_j, \quad \text{for } - u_j + s_j \ge 0",
    r"\sum_j p_j = 1",
    r"\mathbf 1^\top p = 1",
    r"\mathbf 1^\top p = 1 \in \mathbb{R}",
    r"\sum_j s_j 1\{j = k\} = s_k",
    r"\sum_j s_j [j \ne k] = \sum_j s_j - s_k",
    r"\sum_j \mathbb{I}[j = k] (s_j - u_j) = \sum_j s_j \mathbf 1_{\{j = k\}} - u_k",
    r"\frac{d}{d\gamma} \frac{\gamma}{2} = \frac{d \gamma^2}{d \gamma} \frac{1}{4\gamma}",
    r"\frac{\partial p_k}{\partial s_j} = \tfrac1\tau p_k(\delta_{kj}-p_j)",
    r"\frac{\partial p_k}{\partial s_j} = -\tfrac1\tau p_kp_j \quad\text{for } k\ne j",
    r"\nabla_s\phi(s) = p",
    r"F = \tfrac1{\tau^2}(\mathrm{diag}(p)-pp^\top)",
    r"\nabla_s^2\phi(s) = \tau F",
    r"p = \arg\min_{q\in\Delta^{m-1}}\Bigl\{-\langle q,s\rangle+\tau\sum_j q_j\log q_j\Bigr\}",
    r"\phi(s) = \max_{q\in\Delta^{m-1}}\left\{\langle q,s\rangle+\tau H(q)\right\}",
    r"\phi(s) \ge \langle q,s\rangle+\tau H(q)",
    r"\phi(s) - \langle q,s\rangle - \tau H(q) = \tau\,\mathrm{KL}(q\,\|\,p)",
    r"\mathcal K(q, r) \ge 0",
    r"p_j \propto e^{s_j/\tau}",
    r"\phi(s+\gamma\mathbf 1) = \phi(s)+\gamma",
    r"\frac{\partial\phi}{\partial\tau} = H(p)",
    r"\mathrm{Var}_p(u) = \mathbb E_p[u^2] - \mathbb E_p[u]^2",
    r"u^\top(\mathrm{diag}(p)-pp^\top)u = \sum_j p_j\Bigl(u_j - \sum_k p_ku_k\Bigr)^2",
    r"\mathrm{Var}_p(u) \ge 0",
    r"\sum_{l\ne j} p_l = 1 - p_j",
    r"\sum_{l=1, l\ne j}^m p_l = 1 - p_j",
    r"\sum_{\substack{l=1\\ l\ne j}}^m p_l = 1 - p_j",
    r"\sum_{j\in[m]} \sum_{l\ne j} p_l p_j = 1 - \sum_j p_j^2",
    r"\sum_{j,l=1}^m p_j p_l = 1",
    r"\sum_{1\le j, l\le m} p_j p_l = 1",
    r"\max_{1\le j\le m} p_j \le 1",
    r"\|K^\top q - x\|^2 = q^\top KK^\top q - 2\langle K^\top q, x\rangle + \|x\|^2",
    r"\log\sum_z h(x,z) \ge \mathbb{E}_{w(z)}[\log h(x,z)-\log w(z)]",
    r"0 < p_j, \qquad j = 1, \dots, m",
]

FALSE = [
    r"\frac{\partial p_k}{\partial s_j} = p_k(\delta_{kj}-p_j)",
    r"\frac{\partial p_k}{\partial s_j} = \tfrac1\tau p_j(\delta_{kj}-p_j)",
    r"\nabla_s\phi(s) = \tau p",
    r"\phi(s) = \max_{q\in\Delta^{m-1}}\left\{\langle q,s\rangle+H(q)\right\}",
    r"p = \arg\min_{q\in\Delta^{m-1}}\{-\langle q,s\rangle+2\tau\sum_j q_j\log q_j\}",
    r"\phi(s) - \langle q,s\rangle - \tau H(q) = \tau\,\mathrm{KL}(p\,\|\,q)",
    r"\mathrm{Var}_p(u) = \mathbb E_p[u^2]",
    r"\mathrm{Var}_p(u) \ge 1",
    r"\phi(s+\gamma\mathbf 1) = \phi(s)",
    r"p_j \propto e^{s_j}",
    r"\sum_{l\ne j} p_l = 1",
    r"|s|^2 = \|s\|",
    r"s = \mathbf{0}",
    r"\sum_{i<j} q_i q_j = 1 - \sum_i q_i^2",
    r"\frac{\partial^3 \tau^4}{\partial\tau^3} = 12 \tau^2",
]

REFUSED = [
    (r"\sum_{i<j} s_i u_j = 0", "expected a summand that is symmetric in i < j"),
    (r"\tau + p_j |_{\tau = 1} = 1", "expected brackets before it"),
    (r"\log p_j q_j = 1", "expected parentheses, as it can mean"),
    (r"\log_2 p_j = 1", "expected the natural logarithm"),
    (r"\tau^T = \tau", "T: the notation does not declare it"),
    (r"\partial_{s_j}^3 p_k = 0", "expected no power or 2"),
    (r"p_j = q_j \quad\text{for large } \tau", "cannot read “large” here"),
    (r"p_j = q_j \text{ approximately}", "cannot read “approximately” here"),
    (r"p = \arg\min_{q \in \mathbb{R}^m} \{\langle q, s\rangle\}", "expected a minimum over a simplex"),
    (r"\log(p_j)^2 = 1", "expected parentheses, as it can mean"),
    (r"1/\tau s_j = u_j", "a slash before a product can mean"),
    (r"s u = 1", "can be an inner product"),
    (r"\partial_{s_j} p_k u_k = 1", "the derivative can be that of"),
    (r"y = 1", "y: the notation does not declare it"),
    (r"s_{jk} = 1", "expected at most 1 indices"),
    (r"s = K", "expected two sides of one shape"),
    (r"\theta = 1", "the notation leaves its meaning open"),
    (r"\int p = 1", "expected sums, logarithms"),
    (r"s_j", "expected a relation such as a = b"),
    (r"p_j \approx q_j", "expected =, an inequality or"),
    (r"s_j + = 1", "missing term at the end of a sum"),
    (r"\sum_j^m p_j = (1", "expected a formula"),
    (r"\sum_{j=0}^m p_j = 1", "expected a sum from 1 to a size"),
    (r"= 1", "expected a left side"),
    (r"\tau^{(2)} = \tau^2", "can be a label, the order of a derivative or a power"),
    (r"u_i^j = 1", "can be a label, the order of a derivative or a power"),
    (r"\max(\tau, \gamma)^2 = \tau", "expected parentheses around it"),
    (r"\tanh^{-1}(\tau) = 1", "as it can be the inverse function"),
    (r"\log^{-1} \tau = 1", "as it can be the inverse function"),
    (r"\phi^{-1}(s) = 1", "as it can be the inverse function"),
    (r"\phi^2(s)^3 = 1", "expected one power"),
    (r"\phi[s] = 1", "expected arguments in parentheses"),
    (r"\|K\|^2 = 1", "the norm of a matrix has several meanings"),
    (r"\|K\|_1 = 1", "the norm of a matrix has several meanings"),
    (r"\frac{\partial \tau^2}{\partial \tau^2} = 1", "expected the order 1 below, got 2"),
    (r"\frac{\partial^2 \tau^2}{\partial \tau} = 2\tau", "expected the order 2 below, got 1"),
    (r"\frac{d \tau}{d \gamma} = 0", "as d is a symbol of the notation"),
    (r"\frac{d}{d i} \tau = 0", "as d is a symbol of the notation"),
    (r"x = \sum_k K_k s_k \in \mathbb{R}^m", "expected a point of"),
    (r"\mathbb I(s) = 0", "expected a condition after it"),
    (r"\sum_j 1\{j < k\} = 0", "expected i = j"),
    (r"\partial_\tau \phi(s) \gamma = 1", "the derivative can be that of"),
    (r"\partial_\tau \frac12 \log \tau = 1", "the derivative can be that of"),
    (r"\log \phi(s) \tau = 1", "expected parentheses, as it can mean"),
    (r"\sum_j q_j\log q_j/r_j \ge 0", "expected parentheses, as it can mean"),
    (r"\log\sum_j r_j/\tau = 1", "as only the sum can be divided"),
    (r"e^{-\tau^2/2\gamma^2} = 1", "a slash before a product can mean"),
    (r"\pi(\tau) = 1", "expected a function of the notation"),
    (r"\mathbb E_u[s] = 1", "it is not shown that u has mass 1"),
    (r"\mathbb E_p u \tau = 1", "expected brackets around what follows"),
    (r"\mathbf 1_j^\top \mathbf 1_j = j", "expected a size as subscript"),
    (r"K_{11} = 0", "as 11 can be one number or several"),
    (r"\tau \ge 1 \text{ or } \tau \le 1", "cannot read “or” here"),
    (r"u_j = |u_j| \text{ (for positive u)}", "it could change the condition"),
    (r"|u_j| = u_j \text{ for } u \in \mathbb{R}_+^m", "expected u to be declared as a point of"),
    (r"\sum_j u_j = 1, \quad u \in \Delta^{m-1}", "expected u to be declared as a point of"),
    (r"q_j > 0 \text{ for } q \in \mathrm{int}\,\Delta^{m-1}", "expected q to be declared as a point of"),
    (r"p_j = 1 \text{ for } j = 1", "expected a condition such as"),
    (r"\delta_{ij}\delta_{jk} = 0 \text{ for } i \ne j \ne k", "expected one condition such as"),
    (r"\sum_{i\ne j} q_i q_j = 1 - \sum_i q_i^2", "as it can be a sum over i or over both"),
    (r"\sum_{i\ne j} q_i q_j = \sum_i \sum_{j\ne i} q_i q_j", "as it can be a sum over i or over both"),
    (r"s_k \le \max_{j\ne k} s_j", "expected a bound over all indices"),
    (r"\sum_{i=1,j\ne k}^m q_i = 1", "expected an index of the notation"),
    (r"p = \arg\min_{q\in\mathcal{Q}}\{-\langle q,s\rangle+\tau\sum_j q_j\log q_j\}", "expected a minimum over a simplex"),
    (r"p = \arg\min_{q\in\Delta^{n-1}}\{-\langle q,s\rangle+\tau\sum_j q_j\log q_j\}", "expected the simplex of m entries"),
]


def proved(relation: Relation) -> bool:
    return relation.prove() and relation.counterexample() is None


@pytest.mark.parametrize("latex", TRUE)
def test_true_statements_are_proved(latex: str) -> None:
    assert all(proved(relation) for relation in read(latex, NOTATION))


@pytest.mark.parametrize("latex", FALSE)
def test_false_statements_are_refuted(latex: str) -> None:
    relations = read(latex, NOTATION)
    assert any(relation.counterexample() for relation in relations)
    assert not all(relation.prove() for relation in relations)


@pytest.mark.parametrize(("latex", "why"), REFUSED)
def test_unreadable_formulas_give_a_reason(latex: str, why: str) -> None:
    with pytest.raises(LatexError, match=re.escape(why)):
        read(latex, NOTATION)


def test_definitions_give_the_same_expression() -> None:
    (relation,) = read(r"\mathrm{softmax}(s/\tau)_j = p_j", NOTATION)
    assert relation.trivial()


def test_an_axis_is_no_free_index_of_the_formula() -> None:
    """∂p_j/∂s_k is not p_j(1 − p_j)/τ for all k, only for k = j."""
    (false,) = read(r"\nabla_s p_j = \tfrac1\tau p_j(1 - p_j)\mathbf 1", NOTATION)
    assert false.counterexample() is not None
    (true,) = read(r"\nabla_s\log p_j = \tfrac1\tau(\nabla_s s_j - p)", NOTATION)
    assert proved(true)


def test_a_second_derivative_differentiates_twice() -> None:
    (true,) = read(r"\partial_{s_j}^2\phi(s) = \tfrac1\tau p_j(1-p_j)", NOTATION)
    assert proved(true)


@pytest.mark.parametrize(
    ("declared", "latex"), [("positive < 1", r"\epsilon^2 < \epsilon"), ("real >= -1 <= 1", r"\epsilon^2 \le 1")]
)
def test_bounds_of_a_number_are_hypotheses(declared: str, latex: str) -> None:
    assert read(latex, Notation({r"\epsilon": declared.split()[0]}))[0].counterexample() is not None
    (bounded,) = read(latex, Notation({r"\epsilon": declared}))
    assert bounded.given
    assert bounded.counterexample() is None


def test_a_size_may_be_at_least_two() -> None:
    (relation,) = read("m - 1 > 0", Notation({"m": "size >= 2"}))
    assert proved(relation)


@pytest.mark.parametrize("latex", [r"x^2 < x \quad\text{for all } x \in (0, 1)", r"x^2 \le 1, \quad x \in [-1, 1]"])
def test_an_interval_is_a_hypothesis(latex: str) -> None:
    (relation,) = read(latex, Notation({"x": "real"}))
    assert len(relation.given) == 2
    assert relation.counterexample() is None


def test_a_link_after_a_condition_continues_the_chain() -> None:
    wide = Notation({"x, y": "real"})
    assert len(read(r"x^2 \ge 0 \text{ and } x \ge 0", wide)) == 2
    (relation,) = read(r"x^2 y \ge x y \text{ for } x \ge 1 \text{ and } y \ge 0", wide)
    assert len(relation.given) == 2


def test_a_condition_on_several_numbers_is_one_on_each() -> None:
    (relation,) = read(r"|x| + |y| = x + y \text{ for } x, y > 0", Notation({"x, y": "real"}))
    assert len(relation.given) == 2
    assert relation.counterexample() is None


def test_an_index_may_differ_from_two_others() -> None:
    (relation,) = read(r"\delta_{ki} + \delta_{kj} = 0 \quad\text{for } k \ne i, k \ne j", NOTATION)
    assert proved(relation)


def test_a_second_equation_for_a_defined_quantity_is_a_statement() -> None:
    _, false = read(r"\sum_j p_j = 1, \quad p_j \ge 2", NOTATION)
    assert false.counterexample() is not None


def test_a_wide_space_separates_relations() -> None:
    first, second = read(r"x = |x| \quad x + 1 > x", Notation({"x": "real"}))
    assert first.counterexample() is not None
    assert proved(second)


def test_a_limit_in_a_real_number_is_one_from_both_sides() -> None:
    (both,) = read(r"\lim_{x \to 0} \frac{|x|}{x} = 1", Notation({"x": "real"}))
    assert not both.prove()
    assert both.counterexample() is not None
    (above,) = read(r"\lim_{x \to 0^+} e^{-1/x} = 0", Notation({"x": "real"}))
    assert proved(above)


def test_a_limit_inside_the_domain_of_a_positive_number_is_one_from_both_sides() -> None:
    (smooth,) = read(r"\lim_{\tau \to 1} \tau = 1", NOTATION)
    assert proved(smooth)
    (jump,) = read(r"\lim_{\tau \to 1} \frac{|\tau - 1|}{\tau - 1} = 1", NOTATION)
    assert not jump.prove()
    assert jump.counterexample() is not None


def test_a_factor_and_its_inverse_are_not_cancelled_where_it_may_be_0() -> None:
    for latex in (r"q_j^{-1} q_j = 1", r"\sum_j q_j^{-1} q_j = m", r"q \odot q^{-1} = \mathbf 1"):
        (relation,) = read(latex, NOTATION)
        assert not relation.trivial()
        assert not relation.prove()


@pytest.mark.parametrize("latex", [r"\log x - \log x = 0", r"0 \cdot \log x = 0", r"\sqrt x \sqrt x = x", r"e^{\log x} = x"])
def test_undefined_factors_are_not_cancelled(latex: str) -> None:
    with pytest.raises(LatexError, match="it is not shown that x"):
        read(latex, Notation({"x": "real"}))
    assert read(latex, Notation({"x": "positive"}))


def test_proportionality_to_a_sum_of_zero_is_a_statement() -> None:
    (relation,) = read(r"s - \tfrac1m(\mathbf 1^\top s)\mathbf 1 \propto u - \tfrac1m(\mathbf 1^\top u)\mathbf 1", NOTATION)
    assert not relation.prove()


def test_an_entry_declares_the_vector() -> None:
    notation = Notation({"n": "size", "i": "index n", "x_i": "real"})
    (relation,) = read(r"\sum_{i=1}^n \Bigl(x_i - \tfrac1n\sum_{i=1}^n x_i\Bigr)^2 = 0", notation)
    assert relation.counterexample() is not None


def test_a_definition_shows_its_indices() -> None:
    notation = Notation({"m": "size", "i, j": "index m", "W": "matrix m m", "Z": r"= \sum_j e^{W_{ij}}"})
    with pytest.raises(LatexError, match="expected indices that its left side shows"):
        read(r"\sum_i e^{W_{ij}}/Z = 1", notation)


def test_a_chain_is_read_link_by_link() -> None:
    first, second = read(r"p_j = \frac{e^{s_j/\tau}}{\sum_l e^{s_l/\tau}} \le 1", NOTATION)
    assert (type(first).__name__, type(second).__name__) == ("Equation", "AtLeast")


def test_continued_lines_repeat_the_left_side() -> None:
    assert len(read(r"\sum_j p_j &= \sum_j \frac{p_j}{1} \\ &= 1", NOTATION)) == 2


@pytest.mark.parametrize(
    ("latex", "same"),
    [
        (r"\operatorname{softmax}(x)", r"\mathrm{softmax}\left( x \right)"),
        (r"\frac12x", r"\frac{1}{2} x"),
        (r"\|x\|_2^2", r"\left\| x \right\|^2_2"),
        (r"p^\star_j", r"p_{j}^{\star}"),
        (r"f'(x)", r"f^{\prime}(x)"),
    ],
)
def test_synonymous_spellings_give_one_expression(latex: str, same: str) -> None:
    assert spelled(parse(latex)) == spelled(parse(same))


def test_a_free_index_takes_the_range_of_the_indexed_vector() -> None:
    wide = Notation({"m, n": "size", "i": "index m", "v": "vector n"})
    (relation,) = read(r"v_i = v_i + 0 \cdot v_i", wide)
    assert [str(v.domain.shape[0]) for v in relation.variables() if v.name == "i"] == ["n"]


@pytest.mark.parametrize(
    "latex",
    [r"x y = |x| y (x > 0)", r"x + 1 = |x| + 1 (x > 0)", r"x + y + x y = |x| + y + x y (x > 0)", r"x \le 2 x \le 3 x (x > 0)"],
)
def test_a_condition_in_parentheses_takes_nothing_of_the_side_before_it(latex: str) -> None:
    without, _, _ = latex.partition("(")
    wide, narrow = Notation({"x, y": "real"}), Notation({"x": "positive", "y": "real"})
    relations, plain = read(latex, wide), read(without, wide)
    assert [relation.sides for relation in relations] == [relation.sides for relation in plain]
    assert all(len(relation.given) == 1 and relation.counterexample() is None for relation in relations)
    assert all(relation.trivial() or relation.prove() for relation in read(without, narrow))


def test_a_bound_by_a_negative_number_is_a_condition() -> None:
    (relation,) = read(r"x^2 \ge x^3, \quad x \ge -1", Notation({"x": "real"}))
    assert len(relation.given) == 1


MASSES = Notation({"n": "size", "i": "index n", "s, u": "vector n", "a_i": "= e^{s_i}", "b_i": "= e^{u_i}"})


@pytest.mark.parametrize(
    ("latex", "true"),
    [
        (r"\sum_i a_i \log a_i - \sum_i a_i \log b_i \ge \sum_i a_i - \sum_i b_i", True),
        (r"\sum_i a_i \log a_i - \sum_i a_i \log b_i \ge \sum_i a_i + \sum_i b_i", False),
        (r"n \sum_i a_i^2 + 1 \ge 2 \sum_i a_i", True),
        (r"n \sum_i a_i^2 + 1 \ge 3 \sum_i a_i", False),
    ],
)
def test_inequalities_of_masses_that_need_not_sum_to_one(latex: str, true: bool) -> None:
    """By their divergence, and by their distance from 1/n."""
    (relation,) = read(latex, MASSES)
    assert relation.prove() is true
    assert (relation.counterexample() is None) is true


@pytest.mark.parametrize(
    ("latex", "notation", "true"),
    [
        (r"\frac{\partial s_j}{\partial s_k} = \delta_{jk}", MARGIN, True),
        (r"\frac{\partial s_j}{\partial s_k} = \delta \delta_{jk}", MARGIN, False),
        (r"\sum_{i,j} J_{ij} = 1", JOINT, True),
        (r"\sum_j J_{ij} = 1", JOINT, False),
        (r"\frac{\alpha^2 - 1}{\alpha - 1} = \alpha + 1", JOINT, True),
    ],
)
def test_declared_numbers_and_joint_distributions(latex: str, notation: Notation, true: bool) -> None:
    (relation,) = read(latex, notation)
    assert relation.prove() is true
    assert (relation.counterexample() is None) is true
