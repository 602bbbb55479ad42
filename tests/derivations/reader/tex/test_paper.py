"""A LaTeX paper as data: formulas with line, number and label, macros expanded, comments left out."""

from pathlib import Path

import pytest

from derivations.reader.syntax.syntax import parse
from derivations.reader.syntax.tree import spelled
from derivations.reader.tex.paper import Formula, last_side, read_paper

PAPER = r"""\documentclass{article}
\newcommand{\KL}[2]{D_{\mathrm{KL}}(#1\,\|\,#2)}  % with two arguments
\def\R{\mathbb{R}}
\DeclareMathOperator{\softmax}{softmax}
\title{On $p$ and \emph{q}}
\begin{document}
\section{First}
Let $s \in \R^m$. % $not \in a formula$
\begin{align}
  p &= \softmax(s), \label{eq:p} \\
  q &= p \nonumber \\
  \KL{p}{q} &= 0
\end{align}
\begin{equation*} a = b \end{equation*}
\section{Second}
\[ c = d \tag{7} \]
\begin{equation}\label{last}
  \begin{split} e &= f \\ &= g \end{split}
\end{equation}
\end{document}
"""


def formulas(tmp_path: Path, text: str = PAPER) -> list[Formula]:
    path = tmp_path / "paper.tex"
    path.write_text(text, encoding="utf-8")
    return read_paper(path).formulas


def test_formulas_have_file_positions(tmp_path: Path) -> None:
    positions = [(f.latex, f.line, f.section, f.number, f.label) for f in formulas(tmp_path)]
    assert positions == [
        (r"s \in \mathbb{R}^m", 8, 1, "", ""),
        (r"p = \operatorname{softmax}(s)", 10, 1, "1", "eq:p"),
        ("q = p", 11, 1, "", ""),
        (r"D_{\mathrm{KL}}(p\,\|\,q) = 0", 12, 1, "2", ""),
        ("a = b", 14, 1, "", ""),
        ("c = d", 16, 2, "7", ""),
        (r"e = f \\ = g", 17, 2, "3", "last"),
    ]


def test_title_and_sections(tmp_path: Path) -> None:
    (tmp_path / "paper.tex").write_text(PAPER, encoding="utf-8")
    paper = read_paper(tmp_path / "paper.tex")
    assert (paper.title, [title for title, _ in paper.sections]) == ("On p and q", ["First", "Second"])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (r"\begin{equation} a = b", r"expected an end of \\begin\{equation\} in line 1"),
        (r"\newcommand{\x}{\y", "expected a closing brace for line 1"),
        (r"\newcommand{\x}{\x a} $\x$", "expected an end after 40 expansions"),
        (r"\newcommand", "expected an argument, got the end of the file"),
        (r"\newcommand\x", "expected an argument, got the end of the file"),
        (r"\newcommand\x[1]", "expected an argument, got the end of the file"),
    ],
)
def test_unterminated_formulas_are_refused(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        formulas(tmp_path, text)


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "paper.tex").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="PAPER: expected a LaTeX file in UTF-8"):
        read_paper(tmp_path / "paper.tex")


def test_a_row_that_begins_with_a_sign_continues_the_formula(tmp_path: Path) -> None:
    text = r"""\begin{document}\begin{align}
a &= b \nonumber \\ &\quad + c \\
d &= e \notag \\ &= f \\
- g &\le 1 \\ g &= 2 \\ &= 3
\end{align}\begin{multline} a + b \\ - c = d \\ + e \end{multline}\end{document}"""
    assert [(f.latex, f.number) for f in formulas(tmp_path, text)] == [
        (r"a = b \quad + c", "1"),
        ("d = e = f", "2"),
        (r"- g \le 1", "3"),
        ("g = 2", "4"),
        ("2 = 3", "5"),
        (r"a + b \\ - c = d \\ + e", "6"),
    ]


@pytest.mark.parametrize(
    ("latex", "tree"),
    [
        (r"a + b \\ - c = d \\ + e", "a + b - c = d + e"),
        (r"a + b \\ = c", "a + b = c"),
        (r"a = b \\ - c = d", r"a = b\\- c = d"),
        (r"a = b \\ c = d", r"a = b\\c = d"),
        (r"a = b \\ = c", r"a = b\\= c"),
    ],
)
def test_lines_of_a_formula(latex: str, tree: str) -> None:
    """A possible second statement is a statement of its own: − c = d after a = b."""
    assert spelled(parse(latex)) == tree


def test_a_macro_may_number_a_line(tmp_path: Path) -> None:
    macro = r"\newcommand\numberthis{\addtocounter{equation}{1}\tag{\theequation}}"
    text = rf"{macro}\begin{{document}}\begin{{align*}} a &= b \numberthis\label{{eq}} \end{{align*}}\end{{document}}"
    assert [(f.latex, f.label) for f in formulas(tmp_path, text)] == [("a = b", "eq")]


def test_a_comment_may_follow_a_line_break(tmp_path: Path) -> None:
    text = "\\begin{document}\\begin{align} a &= b \\\\% by (1)\nc &= 5\\% \\end{align}\\end{document}"
    assert [f.latex for f in formulas(tmp_path, text)] == ["a = b", r"c = 5\%"]


@pytest.mark.parametrize(
    ("latex", "side"),
    [
        ("a = b", "b"),
        (r"a = b \le c", "c"),
        ("a = b, c = d", "b"),
        ("a + b", ""),
        (r"a = b \text{ for all } c", ""),
        ("a = (", ""),
        (r"a = \pi_{\text{ref}} b", r"\pi_{\text{ref}} b"),
    ],
)
def test_the_side_that_the_next_line_continues(latex: str, side: str) -> None:
    assert last_side(latex) == side


def test_cases_keep_their_marks_of_alignment(tmp_path: Path) -> None:
    cases = r"\begin{cases} a & \text{if } b \\ c & \text{otherwise} \end{cases}"
    text = rf"\begin{{document}}\begin{{align}} f &= {cases} \end{{align}}\end{{document}}"
    (formula,) = formulas(tmp_path, text)
    assert formula.latex.startswith(r"f = \begin{cases} a &")
    assert formula.latex.count("&") == 2


def test_formulas_know_the_theorem_that_they_stand_in(tmp_path: Path) -> None:
    inside = r"\begin{conj} $a$ \begin{enumerate} $b$ \end{enumerate}\end{conj} $c$ \begin{proof} $d$ \end{proof}"
    text = rf"\newtheorem*{{conj}}{{Conjecture}}{inside}"
    assert [each.environment for each in formulas(tmp_path, text)] == ["conjecture", "conjecture", "", "proof"]


def test_environments_of_words_are_no_formulas(tmp_path: Path) -> None:
    """And what stands before the document is not read."""
    before = r"\newsavebox{\it}\begin{equation} a = b \end{equation}"
    text = rf"{before}\begin{{document}}\begin{{lemma}} Let $x > 0$. \[ c = d \]\end{{lemma}}\end{{document}}"
    assert [each.latex for each in formulas(tmp_path, text)] == ["x > 0", "c = d"]


def test_commands_separate_words(tmp_path: Path) -> None:
    assert [each.words for each in formulas(tmp_path, r"For\ all\newline{}small $x$")] == ["For all small"]


def test_a_capital_letter_after_a_display_begins_a_sentence(tmp_path: Path) -> None:
    _, second = formulas(tmp_path, "If it is so, \\[ a = b \\] Then \\[ c = d \\]")
    assert second.words == "If it is so, … . Then"
