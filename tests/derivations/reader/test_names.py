"""Two symbols are never confused: a difference in style, label or argument is a difference in the statement."""

import pytest

from derivations import scalar, size, vector
from derivations.reader.meaning.notation import Notation
from derivations.reader.meaning.statements import read
from derivations.reader.syntax.tree import LatexError

POLICY = {
    "n": "size",
    "a, b": "index n",
    r"\theta, \phi, Q": "vector n",
    r"\pi_\theta(a)": r"= e^{\theta_a} / \sum_b e^{\theta_b}",
    r"V(\theta)": r"= \sum_a \pi_\theta(a) Q_a",
    r"W(\theta)": r"= \sum_a e^{\theta_a} Q_a",
}
LABELLED = {"n": "size", "y, v": "index n", "x, w": "real", "s": "vector n", "p(y | x)": r"= e^{x s_y} / \sum_v e^{x s_v}"}
FIXED = {
    "n": "size",
    "y": "index n",
    "x, w": "fixed",
    "r(x, y)": "real",
    "Z(x)": r"= \sum_y e^{r(x, y)}",
    "p(y | x)": r"= e^{r(x, y)} / Z(x)",
}
SWAPPED = {"m": "size", "x, y": "index m", "r": "positive matrix m m", "p(y|x)": r"= r_{xy} / \sum_{y'=1}^m r_{xy'}"}
BOLD = {"N": "size", "i": "index N", r"\mathbf{z}": "vector N", "c": "real", r"f(\mathbf{z})": r"= \log\sum_i e^{z_i}"}


@pytest.mark.parametrize(
    ("latex", "declared"),
    [
        (r"\mathcal{L} = L", {r"\mathcal{L}, L": "real"}),
        (r"\mathbf{x} = x", {r"\mathbf{x}, x": "real"}),
        (r"\hat{x} = x", {r"\hat{x}, x": "real"}),
        (r"\mathbf{x}^\top\mathbf{x} = x^\top x", {"m, n": "size", r"\mathbf{x}": "vector m", "x": "vector n"}),
        (r"W(\phi) = W(\theta)", POLICY),
        (r"f(\mathbf{z} + c\mathbf{1}) = f(\mathbf{z})", BOLD),
    ],
)
def test_symbols_printed_differently_are_different(latex: str, declared: dict[str, str]) -> None:
    (relation,) = read(latex, Notation(declared))
    assert not relation.trivial()
    assert relation.counterexample() is not None


@pytest.mark.parametrize(
    ("latex", "declared", "why"),
    [
        (r"V(\phi) = V(\theta)", POLICY, "depends on .*theta through what is defined elsewhere"),
        (r"V(\theta + \phi) = V(\theta)", POLICY, "depends on .*theta through what is defined elsewhere"),
        (r"p(y | w) = p(y | x)", LABELLED, "expected the label x"),
        (r"H(p(y | w)) = H(p(y | x))", LABELLED, "expected the label x"),
        (r"\mathbb{E}_{p(y | w)}[s] = \mathbb{E}_{p(y | x)}[s]", LABELLED, "expected the label x"),
        (r"Z(w) = Z(x)", FIXED, "expected the label x"),
        (r"r(w, y) = r(x, y)", FIXED, "expected the label x"),
        (r"\sum_y p(y | w) = 1", FIXED, "expected the label x"),
        (r"z_i = \mathbf{z}_i", {**BOLD, "z": "vector N"}, "can be an entry of"),
        (r"\pi_\phi(a) = \pi_\theta(a)", POLICY, "the notation does not declare it"),
        (r"p(x|y) = p(y|x)", SWAPPED, r"p\(x\|y\): can be another function than p\(y \| x\)"),
    ],
)
def test_ambiguous_symbols_are_refused(latex: str, declared: dict[str, str], why: str) -> None:
    with pytest.raises(LatexError, match=why):
        read(latex, Notation(declared))


SEVERAL = {
    "n": "size",
    "i": "index n",
    r"x, y, \theta, \phi": "vector n",
    r"\ell_x": r"= \sum_i x_i",
    r"\ell_y": r"= \sum_i y_i",
    r"p_\theta": r"= \theta",
    r"p_\theta^\star": "= 2 x",
    "f_x": "vector n",
    "f(x)": "= f_x",
}


@pytest.mark.parametrize(
    ("latex", "declared"),
    [
        (r"f(\mathbf{z} + c\mathbf{1}) = f(\mathbf{z}) + c", BOLD),
        (r"\nabla_{\mathbf{z}} f(\mathbf{z}) = \mathrm{softmax}(\mathbf{z})", BOLD),
        (r"\frac{\partial V}{\partial \theta_b} = \pi_\theta(b) (Q_b - V(\theta))", POLICY),
        (r"W(\theta + \phi) = \sum_a e^{\theta_a} e^{\phi_a} Q_a", POLICY),
        (r"\sum_y p(y | x) = 1", LABELLED),
        (r"\sum_y p(y | x) = 1", FIXED),
        (r"r(x, y) = \log p(y | x) + \log Z(x)", FIXED),
        (r"\ell_x + \ell_y = \sum_i (x_i + y_i)", SEVERAL),
        (r"\|p_\phi - x\|^2 = \|\phi\|^2 - 2 \langle x, \phi\rangle + \|x\|^2", SEVERAL),  # p_θ is a function of θ
        (r"\|p_\phi^\star - y\|^2 = 4 \|x\|^2 - 4 \langle x, y\rangle + \|y\|^2", SEVERAL),  # p^⋆ is another name than p
        (r"\|f + x\|^2 = \|f_x\|^2 + 2 \langle x, f_x\rangle + \|x\|^2", SEVERAL),
        (r"\theta(\theta)^\top x = \langle\theta, x\rangle \theta", SEVERAL),
    ],
)
def test_different_spellings_of_one_symbol_are_read(latex: str, declared: dict[str, str]) -> None:
    assert all(relation.prove() for relation in read(latex, Notation(declared)))


def test_a_local_meaning_leaves_symbols_with_other_subscripts_alone() -> None:
    """The sizes d and d_v stay, whatever else holds in a section."""
    notation = Notation({"d": "size", "d_v": "size", "x": "vector d"}, local={"section1": {"t": "real"}})
    assert set(notation.within("section1").sizes) == {"d", "d_{v}"}


def test_a_name_without_arguments_is_the_function_without_a_condition() -> None:
    declared = {"n": "size", "x": "index n", "p(x)": "distribution", "p(x | D)": "distribution", "D": "fixed", "q": "simplex n"}
    assert all(relation.prove() for relation in read(r"\mathrm{KL}(q \| p) \ge 0", Notation(declared)))
    uniform = Notation({**declared, "p(x)": "= 1/n"})
    assert all(relation.prove() for relation in read(r"\mathrm{KL}(q \| p) = \log n - H(q)", uniform))


def test_a_definition_needs_no_space() -> None:
    declared = {"n": "size", "x": "index n", "p(x)": "=1/n", "p(x | D)": "=x/n", "D": "fixed", "u_x": "=2/n"}
    assert all(relation.prove() for relation in read(r"\sum_x p(x) = 1, \quad \sum_x u_x = 2", Notation(declared)))


@pytest.mark.parametrize(
    "table",
    ["meanings", "sizes", "indices", "points", "laws", "crowded", "functions", "broken", "labels", "fixed", "bounds", "taken"],
)
def test_what_is_derived_of_the_lines_cannot_be_given(table: str) -> None:
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{table}'"):
        Notation({}, **{table: {}})  # type: ignore[arg-type]


def test_a_symbol_that_stands_for_a_variable_takes_its_name() -> None:
    m = size("m")
    notation = Notation({"x": scalar("v"), "s": vector("w", m), "y": scalar("v") + 1, "z": scalar("v")})
    assert notation.taken == {"v": "x", "w": "s"}
