"""Styles of real papers: commands of packages, Greek indices, own entropies, functions of one name, letters used twice."""

from pathlib import Path

import pytest

from derivations.papers.claims import _coarse
from derivations.papers.guesses.guessing import guess
from derivations.papers.repairs import failing, is_refuted, repair
from derivations.papers.slips import slips
from derivations.reader.meaning.notation import Notation
from derivations.reader.meaning.statements import read
from derivations.reader.syntax.syntax import parse
from derivations.reader.syntax.tree import LatexError, spelled
from derivations.reader.tex.paper import read_paper
from tests.derivations.papers.guesses.test_guessing import EQUATION, WEIGHTS, meanings, restrictions

# ── commands ────────────────────────────────────────────────────────────────────────────────────────────────────────

PREAMBLES = [
    (r"\renewcommand{\vec}[1]{\boldsymbol{#1}}", r"f(\vec q) = \vec q + 1", r"f (\mathbf{q}) = \mathbf{q} + 1"),
    (r"\newcommand{\pair}[2]{#1 / #2}", r"\pair ab = c", "a / b = c"),
    (r"\usepackage{amsmath,physics}", r"\pdv{f}{x} = \norm{\qty(x)}", r"\frac{\partial f}{\partial x} = \|(x)\|"),
    (
        r"\usepackage{physics}",
        r"\abs{x} y + \vb{x} y + \norm{x} y + \order{x} y = \dv{f}{x} y + \tr A \vdot \grad z",
        r"|x| y + \mathbf{x} y + \|x\| y + \mathcal{O} (x) y = \frac{d f}{d x} y + \mathrm{tr} A \cdot \nabla z",
    ),
    (r"\DeclareMathOperator*{\E}{\mathbb{E}}", r"\E_{y \sim p}[y] = 1", r"\mathbb{E}_{y \sim p} [y] = 1"),
    (r"\newcommand *{\half}[1]{#1/2}", r"\half x = y", "x / 2 = y"),
    ("", r"f \colon x = y", "f : x = y"),
    (r"\DeclarePairedDelimiter{\norm}{\lVert}{\rVert}", r"\norm*{x} = \norm[\big]{y}", r"\|x\| = \|y\|"),
    (r"\DeclarePairedDelimiter{\norm}{\lVert}{\rVert}", r"\norm*\beta y = \norm[\big]x \beta", r"\|\beta\| y = \|x\| \beta"),
    (r"\DeclarePairedDelimiterX{\div}[2]{(}{)}{#1 \delimsize\| #2}", r"D\div{p}{q} = 0", r"D (p\|q) = 0"),
    (r"\usepackage{bbm}", r"\mathbbm{1} = x", r"\mathbb{1} = x"),
    (r"\usepackage{amsmath}", r"\underbrace{a + b}_{\text{bias}} = c", "a + b = c"),
    (r"\newcommand{\reals}{\mathbf{R}}", r"x \in \reals^n", r"x \in \mathbb{R}^{n}"),
    (r"\newcommand{\D}{D}", r"\frac1\beta\D = x", r"\frac{1}{\beta} D = x"),
    (r"\newcommand{\bs}[1]{\boldsymbol#1}", r"\bs x = y", r"\mathbf{x} = y"),
    (r"\newcommand{\swap}[2]{#2 #1}", r"\swap{x}{y} = 0", "y x = 0"),
    (r"\DeclarePairedDelimiterXPP{\KL}[2]{\mathrm{KL}}(){}{#1 \delimsize\| #2}", r"\KL{p}{q} = 0", r"\mathrm{KL} (p\|q) = 0"),
    (r"\newcommand{\KL}{D_{\rm KL}}", r"\KL(p \| q) = {\cal L}", r"D_{\mathrm{KL}} (p\|q) = \mathcal{L}"),
    ("", r"a \stackrel{(i)}{\le} b \overset{\text{(b)}}{=} c", r"a \le b = c"),
    ("", r"a \overset{\text{def}}{=} b", "a := b"),
    ("", r"a \overset{d}{=} b", r"a \overset d = b"),
    ("", r"\overset{(a)}{x} = b", r"\overset (a) x = b"),
    ("", r"x + \left. f(x) \right|_{x = y} z = 0", r"x + f (x)|_{x = y} z = 0"),
    ("", r"\left( a + \right. \left. b \right) = c", "(a + b) = c"),
    ("", r"x = \underset{y}{\operatorname{argmin}} f(y)", r"x = \mathrm{argmin}_{y} f (y)"),
    ("", r"\boxed{x = \nicefrac{1}{2}}", r"x = \frac{1}{2}"),
    (r"\newcommand{\simplex}{\triangle}", r"x \in \simplex^n", r"x \in \Delta^{n}"),
]


@pytest.mark.parametrize(("preamble", "latex", "tree"), PREAMBLES)
def test_commands_are_expanded(preamble: str, latex: str, tree: str, tmp_path: Path) -> None:
    paper = tmp_path / "paper.tex"
    paper.write_text(rf"\documentclass{{article}}{preamble}\begin{{document}} ${latex}$ \end{{document}}", encoding="utf-8")
    (formula,) = read_paper(paper).formulas
    assert spelled(parse(formula.latex)) == tree


def test_words_between_the_lines_of_an_equation_are_no_formula(tmp_path: Path) -> None:
    paper = tmp_path / "paper.tex"
    paper.write_text(r"\begin{document}\begin{align} a &= b \\ \intertext{and by $x$ {so}} &= c \end{align}\end{document}")
    assert [spelled(parse(each.latex)) for each in read_paper(paper).formulas] == ["a = b", "b = c"]


# ── meanings ────────────────────────────────────────────────────────────────────────────────────────────────────────

MATRICES = r"Let $\mathbf{X} \in \mathbb{R}^{d \times M}$. "
OWN = r"\begin{equation} \mathrm{H}(P) = -\sum_{i=1}^m %s \end{equation}"


@pytest.mark.parametrize(
    ("text", "symbol", "meaning"),
    [
        (r"Let $a \in \mathbb{R}_{>0}^n$, $b \in \mathbb{R}_{>0}^m$ with $\sum_i a_i = \sum_j b_j = 1$.", "a", "interior n"),
        (r"Let $a \in \mathbb{R}_{>0}^n$, $b \in \mathbb{R}_{>0}^m$ with $\sum_i a_i = \sum_j b_j = 1$.", "b", "interior m"),
        (r"Let $c \in \mathbb{R}^m$. If $0 \le c_j \le 1$, then" + EQUATION, "c", "vector m"),
        (
            r"Let $P \in \mathbb{R}_+^{n \times m}$. If $P$ has $P \mathbf{1} = a$, then" + EQUATION,
            "P",
            "nonnegative matrix n m",
        ),
        (r"Let $\rho \in \Delta$ and \begin{equation} \sum_{j=1}^m \rho_j = 1 \end{equation}", r"\rho", "simplex m"),
        (r"\begin{equation} \sum_{\mu=1}^M s_\mu = 1 \end{equation}", r"\mu", "index M"),
        (r"\begin{equation} \sum_{y=1}^m (\mathbf{e}_y)_y = m \end{equation}", r"\mathbf{e}_{y}", r"= [\delta_{y' y}]_{y'}"),
        (
            r"Let $\mathbf{x}_1, \dots, \mathbf{x}_M \in \mathbb{R}^d$, "
            r"the columns of $\mathbf{X} \in \mathbb{R}^{d \times M}$.",
            r"\mathbf{x}",
            r"columns of \mathbf{X}",
        ),
        (r"Let $\mathbf{x}_1, \dots, \mathbf{x}_M \in \mathbb{R}^d$. " + MATRICES, r"\mathbf{x}", r"columns of \mathbf{X}"),
        (
            r"Let $\mathbf{x}_1, \dots, \mathbf{x}_d \in \mathbb{R}^d$. " + MATRICES.replace("M", "d"),
            r"\mathbf{x}",
            "matrix d d",
        ),
        (r"A distribution $\mathbf{w}$ has $w_j \ge 0$, $j = 1, \dots, m$, and $\sum_j w_j = 1$.", r"\mathbf{w}", "simplex m"),
        (
            r"Let $\Phi \in \mathbb{R}^{n \times r}$ and $\Psi \in \mathbb{R}^{m \times r}$ have positive entries.",
            r"\Phi",
            "positive matrix n r",
        ),
        (WEIGHTS + r"The gap $\delta = \tau - 1$ is known.", r"\delta", r"= \tau - 1"),
    ],
)
def test_symbols_get_the_meaning_given_in_the_text(text: str, symbol: str, meaning: str, tmp_path: Path) -> None:
    assert meanings(text, tmp_path)[symbol] == meaning


KEYS = r"Let $k_1, \dots, k_m \in \mathbb{R}^d$. "
LENGTHS = r"\begin{equation} \sum_{i=1}^m \|k_i\|^2 = m \end{equation} "


@pytest.mark.parametrize(
    ("text", "everywhere", "local"),
    [
        (r"Let $\|k_i\| = 1$. " + LENGTHS, "unit matrix m d", []),
        (LENGTHS + r"If $\|k_i\| = 1$, then " + LENGTHS, "matrix m d", ["unit matrix m d"]),
        (r"If $\|k_i\| = 1$, then " + LENGTHS, "matrix m d", ["unit matrix m d"]),
    ],
)
def test_a_length_that_is_assumed_holds_in_its_sentence(text: str, everywhere: str, local: list[str], tmp_path: Path) -> None:
    paper = tmp_path / "paper.tex"
    paper.write_text(rf"\begin{{document}} {KEYS} {text} \end{{document}}", encoding="utf-8")
    guesses = guess(read_paper(paper))
    assert guesses.lines["k"].meaning == everywhere
    tables = [table for (kind, _), table in guesses.local.items() if kind == "formula"]
    assert [each.meaning for table in tables for each in table.values()] == local


@pytest.mark.parametrize(
    ("left", "right", "own"),
    [
        (r"H(\beta)", r"-\sum_{j=1}^m p_j(\beta) \log p_j(\beta)", True),
        ("H(p)", r"-\sum_{j=1}^m p_j \log p_j", False),
        ("H(u)", r"\log m", False),
    ],
)
def test_an_entropy_at_a_number_is_a_definition(left: str, right: str, own: bool, tmp_path: Path) -> None:
    text = rf"Let $\beta > 0$ and $u_j = 1/m$. \begin{{equation}} {left} = {right} \end{{equation}}"
    assert (spelled(parse(left)) in meanings(text, tmp_path)) is own


@pytest.mark.parametrize(
    ("body", "own"),
    [
        (r"P_i (\log P_i - 1)", True),
        (r"P_i \log P_i", False),
        (r"P_i (\log P_i - \log m)", False),
        (r"P_i (s_i - \log m)", False),
    ],
)
def test_an_entropy_of_another_form_is_a_definition(body: str, own: bool, tmp_path: Path) -> None:
    assert (r"\mathrm{H} (P)" in meanings(OWN % body, tmp_path)) is own


def test_a_binary_entropy_is_a_definition(tmp_path: Path) -> None:
    body = r"-\lambda \log\lambda - (1 - \lambda) \log(1 - \lambda)"
    text = rf"Let $\lambda \in (0, 1)$. \begin{{equation}} H(\lambda) = {body} \end{{equation}}"
    assert r"H (\lambda)" in meanings(text, tmp_path)


FREE = r"Let $F(\tau) = \tau \log \sum_{j=1}^m e^{s_j/\tau}$ "


@pytest.mark.parametrize(
    ("text", "defined"),
    [
        (r"and, for other scores $s'_j$, $F'(\tau) = \tau \log \sum_j e^{s'_j/\tau}$.", True),
        (r"with $F'(\tau) = \log \sum_j e^{s_j/\tau}$.", False),
    ],
)
def test_a_prime_is_a_derivative_unless_other_letters_have_it(text: str, defined: bool, tmp_path: Path) -> None:
    assert (r"F' (\tau)" in meanings(WEIGHTS + FREE + text, tmp_path)) is defined


PLAN = r"Let $P \in \mathbb{R}_+^{m \times m}$ and $a, b \in \Delta^{m-1}$. "
ARBITRARY = r"p \in \Delta^{m-1}"


@pytest.mark.parametrize(
    ("text", "local"),
    [
        (rf"For every ${ARBITRARY}$" + EQUATION, {"p": "simplex m"}),
        (rf"Let ${ARBITRARY}$. Nothing is lost. Then" + EQUATION, {"p": "simplex m"}),
        (r"Let $p \in \mathbb{R}^m$ with $p_j > 0$, $\sum_j p_j = 1$ be given. Then" + EQUATION, {"p": "interior m"}),
        (r"Let $p \in \mathbb{R}^m$ with $p_j \ge 0$ be given. Then" + EQUATION, {"p": "nonnegative vector m"}),
        (r"Let $p \in \mathbb{R}^m$ with $\sum_j p_j = 1$ be given. Then" + EQUATION, {"p": "?"}),
        (r"Let $p \in \mathbb{R}^m$ with $p_1 = p_2$ be given. Then" + EQUATION, {"p": "?"}),
        (rf"For every ${ARBITRARY}$ this is known. Then" + EQUATION, {}),
        (rf"The weights ${ARBITRARY}$ satisfy" + EQUATION, {}),
        (EQUATION.replace("x = y", rf"x = y \quad \text{{for all }} {ARBITRARY}"), {"p": "simplex m"}),
        (PLAN + r"If $P \mathbf{1} = a$ and $P^\top \mathbf{1} = b$, then" + EQUATION, {"P": "coupling a b"}),
        (r"Let $k_1, \dots, k_m \in \mathbb{R}^d$ be keys." + EQUATION.replace("x = y", "p_j p_k = s_k s_j"), {"k": "index m"}),
        (r"Let $k_1, \dots, k_m \in \mathbb{R}^d$ be keys." + EQUATION.replace("x = y", "k_j = s_k s_j"), {}),
        (r"For $s = 0$" + EQUATION, {"s": r"= 0 \mathbf{1}_{m}"}),
    ],
)
def test_what_is_said_again_holds_where_it_is_said(text: str, local: dict[str, str], tmp_path: Path) -> None:
    assert restrictions(WEIGHTS + text, tmp_path) == (local, [])


BAYES = r"""Let $z \in \{1, \dots, K\}$, with the prior $p(z)$ and the likelihood $p(x \mid z) > 0$.
\begin{equation} p(x) = \sum_{z=1}^K p(z) p(x \mid z) \end{equation}
\begin{equation} p(z \mid x) = \frac{p(z) p(x \mid z)}{p(x)} \end{equation}
"""


def test_functions_of_one_name_differ_in_their_arguments(tmp_path: Path) -> None:
    guessed = meanings(BAYES, tmp_path)
    expected = {"p (z)": "distribution", "p (x|z)": "positive", "x": "fixed"}
    assert {symbol: guessed.get(symbol) for symbol in expected} == expected
    notation = Notation(guessed)
    for true in (r"\sum_z p(z \mid x) = 1", r"\sum_{z} p(z) = 1", r"p(z') p(x | z') = p(x) p(z' | x)"):
        assert all(relation.prove() for relation in read(true, notation)), true
    for false in (r"\sum_z p(x \mid z) = 1", r"p(z | x) = p(z)"):
        assert any(relation.counterexample() for relation in read(false, notation)), false
    with pytest.raises(LatexError):
        read(r"\sum_z p(z, x) = 1", notation)


SHARED = r"""Let $t \in \mathbb{R}$ and $v(t) = \sum_{j=1}^m e^{t s_j}$, $s \in \mathbb{R}^m$.
Let $r(j) \in \mathbb{R}$ be rewards.
\begin{equation} v(t) = \sum_{j=1}^m e^{t s_j} \end{equation}
\begin{equation} v'(t) = \sum_{j=1}^m s_j e^{t s_j} \end{equation}
\section{Two} Let $v \in \Delta^{m-1}$. Draw $r_1, \dots, r_G \in \mathbb{R}$.
\begin{equation} \sum_{g=1}^G r_g = r(j) \end{equation}
"""


def test_a_function_and_a_vector_share_a_name(tmp_path: Path) -> None:
    guessed = meanings(SHARED, tmp_path)
    expected = {"v": "simplex m", "r": "vector G", "r (j)": "real"}
    assert {symbol: guessed.get(symbol) for symbol in expected} == expected
    assert "v'" not in guessed
    notation = Notation(guessed)
    for true in (r"\sum_j v_j = 1", r"v'(t) = \sum_j s_j v_j + v'(t) - \sum_j v_j s_j"):
        assert all(relation.trivial() or relation.prove() for relation in read(true, notation)), true


@pytest.mark.parametrize(
    ("text", "symbol", "meaning"),
    [
        (r"\begin{equation} \sum_{y=1}^m \mathbb{E}_{y \sim \pi}[y] = 1 \end{equation}", r"\pi", "simplex m"),
        (WEIGHTS + r"\begin{equation} D(p \| p) = 0 \end{equation}", "D", "KL"),
    ],
)
def test_laws_and_divergences_need_no_declaration(text: str, symbol: str, meaning: str, tmp_path: Path) -> None:
    assert meanings(text, tmp_path)[symbol] == meaning


# ── formulas ────────────────────────────────────────────────────────────────────────────────────────────────────────

NOTATION = Notation(
    {
        "m, n, d": "size",
        "e, i, j": "index m",
        "a": "index n",
        r"\tau, \eta": "positive",
        r"\alpha": "positive < 1",
        "t": "real",
        "s, c": "vector m",
        "q": "simplex m",
        "r": "interior m",
        "P": "nonnegative matrix m n",
        "C": "matrix m n",
        "K": "matrix m d",
        "x": "vector d",
        "p": "simplex m",
        "p_i(t)": r"= p_i e^{t s_i} / \sum_j p_j e^{t s_j}",
        "w_j": r"= e^{s_j/\tau} / \sum_i e^{s_i/\tau}",
        r"\mathbf{u}^{\alpha}": r"= (1 - \alpha) q + \frac{\alpha}{m} \mathbf{1}",
        r"f(\tau)": r"= \tau \log \sum_i e^{s_i/\tau}",
        "P(i, j)": r"= \frac{e^{s_i}}{e^{s_i} + e^{s_j}}",
    }
)


@pytest.mark.parametrize(
    "latex",
    [
        r"\sum_e r_e e^{-\eta c_e} \ge e^{-\eta \sum_e r_e c_e} - e^{-\eta \sum_e r_e c_e}",
        r"\sum_i p_i(t) = 1",
        r"p_i(0) = p_i",
        r"\sum_j u^\alpha_j = 1",
        r"\log \sum_i p_i e^{t s_i} \ge t \sum_i p_i s_i",
        r"\log \sum_i r_i e^{t s_i} \ge t \sum_i r_i s_i",
        r"\tau \log \sum_i e^{s_i/\tau} \ge \tau \log m + \frac1m \sum_i s_i",
        r"\frac{\sum_i r_i e^{-\eta s_i} s_i}{\sum_j r_j e^{-\eta s_j}} \le \sum_i r_i s_i",
        r"\tau \log \sum_i e^{c_i/\tau} \ge \tau \log \sum_i e^{s_i/\tau} + \sum_i w_i (c_i - s_i)",
        r"\langle P, C \rangle + \tau \sum_{i,a} P_{ia} (\log P_{ia} - 1) \ge -\tau \sum_{i,a} e^{-C_{ia}/\tau}",
        r"\sum_i q_i^2 \le 1",
        r"w = \arg\max_{q \in \Delta^{m-1}} \{ \sum_i q_i s_i - \tau \sum_i q_i \log q_i \}",
        r"P(e, i) + P(i, e) = 1",
        r"\lim_{\alpha \to 1^-} \alpha = 1",
        r"\tanh \frac{t}{2} = \frac{e^{t} - 1}{e^{t} + 1}",
    ],
)
def test_what_is_true_is_proved(latex: str) -> None:
    assert all(relation.trivial() or relation.prove() for relation in read(latex, NOTATION))


@pytest.mark.parametrize(
    "latex",
    [
        r"\sum_e e^{c_e} = \sum_e c_e",
        r"\sum_j u^\alpha_j = 2",
        r"\log \sum_i p_i e^{t s_i} \le t \sum_i p_i s_i",
        r"\frac{\sum_i r_i e^{-\eta s_i} s_i}{\sum_j r_j e^{-\eta s_j}} \ge \sum_i r_i s_i",
        r"\langle P, C \rangle + \tau \sum_{i,a} P_{ia} (\log P_{ia} - 1) \ge \tau \sum_{i,a} e^{-C_{ia}/\tau}",
    ],
)
def test_what_is_false_is_refuted(latex: str) -> None:
    assert any(relation.counterexample() for relation in read(latex, NOTATION))


@pytest.mark.parametrize(
    ("latex", "why"),
    [
        (r"s_j(t) = 1", "can be a function or a product"),
        (r"w_j(t) = 1", "can be a function or a product"),
        (r"\tau(t) = 1", "can be a function or a product"),
        (r"\lim_{t \to 0^-} t = 0", "from above at 0"),
        (r"e^t = 1 + t + O(t^2)", "the remainder O"),
    ],
)
def test_what_cannot_be_read_says_why(latex: str, why: str) -> None:
    with pytest.raises(LatexError, match=why):
        read(latex, NOTATION)


def test_a_function_of_an_undeclared_argument_is_refused() -> None:
    notation = Notation(
        {
            "m": "size",
            "i": "index m",
            "w": "simplex m",
            r"\mathbf{w}": "simplex m",
            "p": "simplex m",
            r"F(\mathbf{w})": r"= \sum_i w_i^2",
        }
    )
    with pytest.raises(LatexError, match="can be an entry of"):
        read(r"F(p) = 1", notation)


def test_a_condition_on_all_entries_is_a_hypothesis() -> None:
    (relation,) = read(r"\sum_j |s_j| = \sum_j s_j, \quad s_j \ge 0", NOTATION)
    assert str(relation.given[0]).startswith("s[j] ≥ 0 for all j") or "j" in str(relation.given[0])
    assert relation.counterexample() is None


# ── corrections ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("latex", "true"),
    [
        (r"\frac{\partial}{\partial t} t^2 = t", r"= 2 t"),
        (r"\tau \log \sum_i e^{s_i/\tau} \le \tau \log m + \frac1m \sum_i s_i", r"\ge"),
        (r"\sum_a K_{ia} x_a \frac{1}{\sqrt d} = \frac{1}{d} \sum_a K_{ia} x_a", r"\frac{1}{\sqrt{d}}"),
        (r"\sum_i w_i = m", "= 1"),
        (r"1 - \sum_i q_i^2 \le 1 - m", r"\le 1 - \frac{1}{m}"),
    ],
)
def test_a_slip_is_corrected(latex: str, true: str) -> None:
    notation = Notation({**NOTATION.declarations, "a": "index d"})
    false = failing(read(latex, notation))
    assert false is not None
    repaired = repair(false, latex, notation)
    assert repaired is not None
    assert true in repaired.latex


def test_slips_change_one_letter_of_several() -> None:
    spellings = [spelled(version) for _, version in slips(parse(r"A_{ij} x_j - y_k"), [])]
    assert {"A_{k j} x_{j} - y_{k}", "A_{i k} x_{j} - y_{k}", "2 A_{i j} x_{j} - y_{k}"} <= {*spellings}
    assert len({*spellings}) == len(spellings)


def test_limits_have_twins() -> None:
    (limit,) = read(r"\lim_{\tau \to \infty} \frac{1}{\tau} = 0", NOTATION)
    assert sum(is_refuted(wrong) for _, wrong in _coarse(limit)) >= 2


def test_the_guesses_of_a_paper_are_found(tmp_path: Path) -> None:
    """Numbers that a letter is bounded by say that it is positive."""
    paper = tmp_path / "paper.tex"
    paper.write_text(r"\begin{document} Let $\alpha > 1$. \end{document}", encoding="utf-8")
    assert guess(read_paper(paper)).lines[r"\alpha"].meaning == "positive > 1"
