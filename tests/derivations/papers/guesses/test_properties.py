"""Conditions in words, and those beside an equation, are not dropped."""

from pathlib import Path

import pytest

from derivations.papers.guesses.guesses import Guesses
from derivations.papers.guesses.guessing import guess
from derivations.reader.tex.paper import read_paper


def guessed(text: str, folder: Path) -> Guesses:
    (folder / "paper.tex").write_text(rf"\begin{{document}}\section{{One}} {text} \end{{document}}", encoding="utf-8")
    return guess(read_paper(folder / "paper.tex"))


@pytest.mark.parametrize(
    ("text", "conditions"),
    [
        (r"Let $A \in \mathbb{R}^{n \times n}$ be symmetric.", []),  # which its meaning says
        (r"If $A \in \mathbb{R}^{n \times n}$ is symmetric, then", [r"A \text{ symmetric }"]),
        (r"Let $A \in \mathbb{R}^{n \times m}$ be symmetric.", [r"A \text{ symmetric }"]),
        (r"Let $A \in \mathbb{R}^{n \times n}$ be positive definite.", [r"A \text{ positive definite }"]),
        (
            r"Let $A \in \mathbb{R}^{n \times n}$. \[ \sum_{i=1}^n A_{ii} = 0 \] Let $A$ be symmetric.",
            [r"A \text{ symmetric }"],
        ),
        (r"Let $A \in \mathbb{R}^{n \times n}$ be skew-symmetric.", [r"A \text{ skew-symmetric }"]),
        (r"Let $A \in \mathbb{R}^{n \times n}$ be a positive semidefinite matrix.", [r"A \text{ positive semidefinite }"]),
        (r"For orthogonal $A \in \mathbb{R}^{n \times n}$ this holds.", [r"A \text{ orthogonal }"]),
        (r"If $A \in \mathbb{R}^{n \times n}$ is invertible then", [r"A \text{ invertible }"]),
        (r"Let $x \in \mathbb{R}^n$ have zero mean.", [r"x \text{ zero mean }"]),
        (r"Let $x, y \in \mathbb{R}^n$ be nonzero.", []),
        (r"Let $x, y \in \mathbb{R}^n$. \[ \sum_{i=1}^n x_i = 0 \] Let $x$ and $y$ be nonzero.", [r"x \text{ nonzero }"]),
        (
            r"Let $A, B \in \mathbb{R}^{n \times n}$. Let $A$ and $B$ be orthogonal.",
            [r"A \text{ orthogonal }", r"B \text{ orthogonal }"],
        ),
        (r"If $x \in \mathbb{R}^n$ is nonzero, then", [r"x \text{ nonzero }"]),
        (r"For nonzero $x \in \mathbb{R}^n$ we have", [r"x \ne 0"]),
        (r"For positive $t \in \mathbb{R}$ we have", ["t > 0"]),
        (r"For all positive numbers $a, b \in \mathbb{R}$,", ["a > 0", "b > 0"]),
        (r"For unit vectors $x, y \in \mathbb{R}^n$ we have", [r"\|x\| = 1", r"\|y\| = 1"]),
        (r"For nonzero keys $k_1, \dots, k_m \in \mathbb{R}^n$ we have", [r"k_{1} \text{ nonzero }", r"k \text{ nonzero }"]),
        (r"Let $t \in \mathbb{R}$ be negative.", [r"t \text{ negative }"]),
        (r"Let $A \in \mathbb{R}^{n \times n}$ be nonzero.", [r"A \text{ nonzero }"]),
        (r"Suppose that the nonzero vector $x \in \mathbb{R}^n$ is given.", [r"x \text{ nonzero }"]),
        (r"Let $x_1, \dots, x_n$ be distinct.", [r"x_{1} \text{ distinct }", r"x \text{ distinct }"]),
        (r"Then $A \in \mathbb{R}^{n \times n}$ is symmetric.", []),  # which is asserted
        (r"Let $A \in \mathbb{R}^{n \times n}$. Its inverse is symmetric.", []),
        (r"Let $p \in \Delta^{n-1}$ be normalized weights.", []),
        (r"Let $x \in \mathbb{R}^n$ with $\|x\| \le 1$.", [r"\|x\| \le 1"]),
        (r"Let $a, b \in \mathbb{R}$ with $a b \ge 0$.", [r"a b \ge 0"]),
        (r"Let $a, b \in \mathbb{R}$ with $0 \le a b \le 1$.", [r"0 \le a b \le 1"]),
        (r"Let $x \in \mathbb{R}^n$ with $x \le 1$.", [r"x \le 1"]),
        (r"Let $f_j \in [0, 1]$ for $j = 1, \dots, m$.", [r"f_{j} \le 1"]),
        (r"Let $f_j \in (-1, 2)$ for $j = 1, \dots, m$.", [r"f_{j} > -1", r"f_{j} < 2"]),
        (r"Let $f \in [0, 1]$.", []),
    ],
)
def test_conditions_are_noted(text: str, conditions: list[str], tmp_path: Path) -> None:
    assert [latex for _, latex in guessed(text, tmp_path).restrictions] == conditions


@pytest.mark.parametrize(
    ("words", "meaning"),
    [
        ("be symmetric", "symmetric matrix n n"),
        ("be a symmetric positive definite matrix", "definite matrix n n"),
        ("be symmetric and positive semi-definite", "semidefinite matrix n n"),
        ("be positive definite", "matrix n n"),
    ],
)
def test_symmetric_matrices_are_declared(words: str, meaning: str, tmp_path: Path) -> None:
    assert guessed(rf"Let $A \in \mathbb{{R}}^{{n \times n}}$ {words}.", tmp_path).lines["A"].meaning == meaning


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        (r"Let $x, k \in \mathbb{R}^n$ be nonzero.", "nonzero vector n"),
        (r"Let $k \in \mathbb{R}^n$ be a non-zero vector.", "nonzero vector n"),
        (r"Given nonzero keys $k_1, \dots, k_m \in \mathbb{R}^n$, this holds.", "nonzero matrix m n"),
        (r"Let $k \in \mathbb{R}^n \setminus \{0\}$.", "nonzero vector n"),
        (r"Let $k \in \mathbb{R} \setminus \{0\}$.", "real != 0"),
        (r"Let $k \in \mathbb{R}$ be nonzero.", "real != 0"),
        (r"Let $k \in \mathbb{R}^n$ with $k \ne 0$.", "nonzero vector n"),
        (r"Let $x, k \in \mathbb{R}^n$, where $x, k \neq 0$.", "nonzero vector n"),
        (r"Let $k \in \mathbb{R}^n$ with $\|k\| > 0$.", "nonzero vector n"),
        (r"Let $k \in \mathbb{R}^n$ with $\|k\| = 1$ and $k \ne 0$.", "unit vector n"),
        (r"Let $k_1, \dots, k_m \in \mathbb{R}^n$ with $k_i \ne 0$.", "nonzero matrix m n"),
        (r"For $k \in \mathbb{R}^n$ with $k \ne 0$ let $r = \|k\|$.", "nonzero vector n"),
        (r"Let $k \in \mathbb{R}$ be positive.", "positive"),
        (r"Let $k \in \mathbb{R}$ be a positive number.", "positive"),
        (r"Let $k \in \mathbb{R}$ be non-negative.", "nonnegative"),
        (r"Given a strictly positive temperature $k \in \mathbb{R}$, this holds.", "positive"),
        (r"Let $k \in \mathbb{R}^n$ be nonnegative.", "nonnegative vector n"),
        (r"For nonzero $k \in \mathbb{R}^n$ let $r = \|k\|$.", "nonzero vector n"),
        (r"If $k \in \mathbb{R}^n$ with $k \ne 0$, then this holds.", "vector n"),
        (r"For $k \in \mathbb{R}$ with $k > 0$ let $r = \sqrt{k}$.", "positive"),
        (r"For all $k \in \mathbb{R}$ with $k > 1$ we have \[ k^2 > k \] In general, \[ k^2 \ge k \]", "real"),
        (r"For $k \in \mathbb{R}^n$ with $k \ne 0$ we have \[ \|k\| > 0 \] In general, \[ \|k\| > 0 \]", "vector n"),
        (r"Let $k \in \mathbb{R}$. \[ k^2 \ge 0 \] For $k > 0$ this is clear.", "real"),
        (r"Let $k \in \mathbb{R}^n$. \[ \|k\| \ge 0 \] For $k \ne 0$ this is clear.", "vector n"),
    ],
)
def test_vectors_and_numbers_other_than_0(text: str, meaning: str, tmp_path: Path) -> None:
    assert guessed(text, tmp_path).lines["k"].meaning == meaning


@pytest.mark.parametrize(
    ("words", "shown", "meaning"),
    [("For unit vectors", r"\|x\| = 1", {"x": "unit vector n"}), ("For nonzero", r"\|x\| > 0", {"x": "nonzero vector n"})],
)
def test_words_about_the_values_of_a_sentence_hold_in_it_only(
    words: str, shown: str, meaning: dict[str, str], tmp_path: Path
) -> None:
    text = rf"{words} $x \in \mathbb{{R}}^n$ we have \[ {shown} \] In general, \[ {shown} \]"
    guesses = guessed(text, tmp_path)
    local = [{name: each.meaning for name, each in table.items() if name in meaning} for table in guesses.local.values()]
    assert local == [meaning]
    assert guesses.lines["x"].meaning == "vector n"


def test_a_sign_of_a_number_in_a_sentence_is_a_condition_of_it(tmp_path: Path) -> None:
    guesses = guessed(r"For positive $t \in \mathbb{R}$ we have \[ |t| = t \] In general, \[ |t| \ge t \]", tmp_path)
    assert list(guesses.premises.values()) == [["t > 0"]]


DISTRIBUTION = r"Let $q \in \Delta_m$ and $x \in \mathbb{R}^m$. "
EQUATION = r"\begin{equation} \sum_{j=1}^m q_j x_j = 0 \end{equation}"


@pytest.mark.parametrize(
    ("text", "meaning", "premises"),
    [
        (rf"If $q$ is uniform, then {EQUATION}", r"= \frac{1}{m} \mathbf{1}_{m}", []),
        (rf"Moreover, when $q$ is the uniform distribution {EQUATION}", r"= \frac{1}{m} \mathbf{1}_{m}", []),
        (rf"Then {EQUATION} if $q$ is uniform.", r"= \frac{1}{m} \mathbf{1}_{m}", []),
        (rf"If $q$ is concentrated on one key, then {EQUATION}", "", [r"q \text{is concentrated on one key}"]),
        (rf"If $x$ vanishes we have {EQUATION}", "", [r"x \text{vanishes}"]),
        (rf"Suppose that $q$ is uniform, that is, $q_j = 1/m$. Then {EQUATION}", "= 1 / m", []),
        (rf"This holds if $q$ is uniform. Then {EQUATION}", "", []),
        (rf"The entropy $q$ is large. Then {EQUATION}", "", []),
    ],
)
def test_conditions_in_words_hold_in_their_sentence(text: str, meaning: str, premises: list[str], tmp_path: Path) -> None:
    guesses = guessed(DISTRIBUTION + text, tmp_path)
    local = [guess.meaning for (kind, _), table in guesses.local.items() if kind == "formula" for guess in table.values()]
    assert local == [meaning] * bool(meaning)
    assert [each for conditions in guesses.premises.values() for each in conditions] == premises


@pytest.mark.parametrize(
    ("text", "everywhere", "restrictions"),
    [
        (r"Let $m \ge 2$. \begin{equation} \sum_{j=1}^m x_j = 0 \end{equation}", "size >= 2", []),
        (r"\begin{equation} \sum_{j=1}^m x_j = 0 \end{equation} For $m \ge 2$, more is true.", "size", [r"m \ge 2"]),
        (r"\begin{equation} \sum_{j=1}^m x_j = 0 \end{equation} \section{Two} Let $m \ge 2$.", "size", [r"m \ge 2"]),
    ],
)
def test_a_bound_does_not_hold_before_it_is_printed(
    text: str, everywhere: str, restrictions: list[str], tmp_path: Path
) -> None:
    guesses = guessed(text, tmp_path)
    assert guesses.lines["m"].meaning == everywhere
    assert [latex for _, latex in guesses.restrictions] == restrictions


FORMULA = r"\begin{equation} \sum_{j=1}^m \sum_{k=1}^m x_j x_k = 0 \end{equation} "


@pytest.mark.parametrize(
    ("before", "after", "premises"),
    [
        ("Then for distinct $j \\ne k$", "", [r"j \ne k"]),
        ("Then, for all $j \\ne k$,", "", [r"j \ne k"]),
        ("Then", "for all $j \\ne k$.", [r"j \ne k"]),
        ("Then", ", provided that $x_j > x_k$.", [r"x_j > x_k"]),
        ("Then", ". For $j \\ne k$ more is known.", []),
        ("Then", "and $j \\ne k$.", []),
        ("Then $j \\ne k$ and", "", []),
    ],
)
def test_conditions_stand_on_either_side(before: str, after: str, premises: list[str], tmp_path: Path) -> None:
    text = rf"Let $x \in \mathbb{{R}}^m$. {before} {FORMULA} {after}".replace(r"\\ne", r"\ne")
    guesses = guessed(text, tmp_path)
    assert [each for conditions in guesses.premises.values() for each in conditions] == premises
