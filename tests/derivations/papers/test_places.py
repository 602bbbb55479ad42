"""One letter with several meanings: by section, by equation, over two ranges; what contradicts the notation is refused."""

from pathlib import Path

import pytest

from derivations.papers.guesses.guesses import Guesses, narrows
from derivations.papers.guesses.guessing import guess
from derivations.reader.meaning.notation import Notation
from derivations.reader.meaning.statements import read
from derivations.reader.syntax.tree import LatexError
from derivations.reader.tex.paper import read_paper

TWICE = Notation(
    {"n": "size", "i, j": "index n", "x": "vector n"},
    local={"section3": {"x": "interior n"}, "mine.7": {"x": "positive vector n"}},
)


def test_a_section_and_an_equation_have_their_own_meanings() -> None:
    (everywhere,) = read(r"\sum_i x_i = 1", TWICE.within("section1", "mine.1"))
    (section,) = read(r"\sum_i x_i = 1", TWICE.within("section3", "mine.2"))
    (equation,) = read(r"\sum_i x_i = 1", TWICE.within("section3", "mine.7"))
    assert section.prove()
    assert everywhere.counterexample()
    assert equation.counterexample()
    assert equation.variables()[1].domain.words != everywhere.variables()[1].domain.words


def test_a_definition_replaces_a_domain_of_the_same_name() -> None:
    local = Notation({"n": "size", "i": "index n", "p": "vector n"}, local={"section2": {"p_i": "= 1/n"}})
    (relation,) = read(r"\sum_i p_i = 1", local.within("section2"))
    assert relation.prove()


RANGES = {"m, n": "size", "i, j": "index n", "k": "index m", "z": "vector m", "p_k": r"= e^{z_k} / \sum_{j=1}^m e^{z_j}"}


def test_a_free_index_has_one_range_in_the_whole_formula() -> None:
    """j is declared over n and indexes a vector over m: one letter is one index, also below δ and ∂."""
    right, wrong = (rf"\frac{{\partial p_j}}{{\partial z_k}} = p_j(\delta_{{jk}} {sign} p_k)" for sign in "-+")
    assert read(right, Notation(RANGES))[0].prove()
    assert read(wrong, Notation(RANGES))[0].counterexample()


@pytest.mark.parametrize(
    ("latex", "declared", "why"),
    [
        (r"\delta_{ij} z_k = \delta_{ik} z_k", RANGES, "expected two indices over one range"),
        (r"x^\top x \ge 0, \quad \forall x \in \mathbb{R}^n", {"n": "size", "x": "simplex n"}, "expected any point of"),
        (r"\sqrt{x}^2 = x, \quad x \in \mathbb{R}", {"x": "positive"}, "expected any point of"),
        (r"x + y = 1, \quad \text{where } y = 1 - 2 x", {"x, y": "real"}, "expected a condition such as"),
        (r"x = 1, \quad \text{if } x = 1", {"x": "real"}, "expected a condition such as"),
    ],
)
def test_a_clause_that_adds_to_the_notation_is_refused(latex: str, declared: dict[str, str], why: str) -> None:
    with pytest.raises(LatexError, match=why):
        read(latex, Notation(declared))


def test_a_clause_that_repeats_the_notation_is_skipped() -> None:
    (relation,) = read(r"x^2 + x y = x, \quad \text{where } y = 1 - x", Notation({"x": "real", "y": "= 1 - x"}))
    assert relation.prove()


def guessed(tmp_path: Path, body: str) -> Guesses:
    path = tmp_path / "paper.tex"
    path.write_text(rf"\documentclass{{article}}\begin{{document}}{body}\end{{document}}", encoding="utf-8")
    return guess(read_paper(path))


def test_guesses_apply_to_their_section_only(tmp_path: Path) -> None:
    guesses = guessed(
        tmp_path,
        r"\section{A} Let $x \in \mathbb{R}^n$. \begin{equation} x^\top x \ge 0 \end{equation}"
        r"\section{B} Let $x \in \Delta^{n-1}$. \begin{equation} \sum_{i=1}^n x_i = 1 \end{equation}",
    )
    assert guesses.lines["x"].meaning == "vector n"
    assert guesses.local["section", 2]["x"].meaning == "simplex n"


def test_a_more_specific_declaration_in_a_section_holds_from_its_start(tmp_path: Path) -> None:
    guesses = guessed(tmp_path, r"\section{A} The label $y \in \mathbb{R}^n$ is in the simplex, $y \in \Delta^{n-1}$.")
    assert guesses.lines["y"].meaning == "simplex n"
    assert not guesses.local


def test_a_set_is_not_a_declaration_of_its_letter(tmp_path: Path) -> None:
    simplex = r"\{x \in \mathbb{R}^n : x_i \ge 0, \sum_{i=1}^n x_i = 1\}"
    guesses = guessed(tmp_path, rf"Let $\Delta_n = {simplex}$ and $x \in \mathrm{{int}}(\Delta_n)$.")
    assert guesses.lines["x"].meaning == "interior n"


def test_letters_before_a_range_share_it(tmp_path: Path) -> None:
    shown = r"\begin{equation} s_{ij} = s_{ij} \end{equation}"
    guesses = guessed(tmp_path, rf"Of $z \in \mathbb{{R}}^K$ and $s_{{ij}}$, $i, j = 1, \dots, N$, {shown}")
    assert (guesses.lines["i"].meaning, guesses.lines["s"].meaning) == ("index N", "matrix N N")


def test_where_clauses_define(tmp_path: Path) -> None:
    guesses = guessed(tmp_path, r"\begin{equation} b = 2 a, \quad \text{where } a = t + 1 \end{equation}")
    assert guesses.lines["a"].meaning == "= t + 1"
    unsaid = guessed(tmp_path, r"\begin{equation} b = 2 a, \quad \text{if } a = t + 1 \end{equation}")
    assert unsaid.lines["a"].meaning == "?"


def test_derivatives_leave_the_simplex(tmp_path: Path) -> None:
    guesses = guessed(
        tmp_path,
        r"Let $x \in \Delta^{n-1}$. \begin{equation} f(x) = \sum_{i=1}^n x_i^2 \end{equation}"
        r"\begin{equation} \frac{\partial f}{\partial x_i} = 2 x_i \end{equation}",
    )
    assert guesses.lines["x"].meaning == "simplex n"
    assert [lines["x"].meaning for lines in guesses.local.values()] == ["positive vector n"]


@pytest.mark.parametrize(
    ("meaning", "known", "is_part"),
    [
        ("simplex n", "vector n", True),
        ("interior n", "simplex n", True),
        ("positive vector n", "vector n", True),
        ("positive", "real", True),
        ("simplex m", "vector n", False),
        ("vector n", "simplex n", False),
        ("simplex n", "matrix n n", False),
        ("real", "positive", False),
        ("vector n", "vector n", False),
    ],
)
def test_a_part_of_a_domain(meaning: str, known: str, is_part: bool) -> None:
    assert narrows(meaning, known) == is_part


def test_a_property_of_a_function_does_not_define_it(tmp_path: Path) -> None:
    equations = r"\begin{equation} f(x) = x^2 \end{equation} \begin{equation} g(x/2) = f(x) \end{equation}"
    guesses = guessed(tmp_path, rf"For $x \in \mathbb{{R}}$, {equations}")
    assert set(guesses.defining.values()) == {"f"}
