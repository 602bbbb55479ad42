"""Meanings of symbols that are read from the text of a paper, and symbols without one."""

from pathlib import Path

import pytest

from derivations.papers.guesses.guessing import guess
from derivations.reader.tex.paper import read_paper

WEIGHTS = r"""Let $s \in \mathbb{R}^m$ and $\tau > 0$.
\begin{equation} p_j = e^{s_j/\tau} / \sum_{l=1}^m e^{s_l/\tau} \end{equation}
"""


def meanings(text: str, folder: Path) -> dict[str, str]:
    """The guessed meaning of each symbol of a paper with this text."""
    paper = folder / "paper.tex"
    paper.write_text(rf"\documentclass{{article}}\begin{{document}}\section{{One}} {text} \end{{document}}", encoding="utf-8")
    return {symbol: line.meaning for symbol, line in guess(read_paper(paper)).lines.items()}


@pytest.mark.parametrize(
    ("text", "symbol", "meaning"),
    [
        (WEIGHTS + r"Let $t \in \{1, \dots, m\}$ and $L = -\log p_t$.", "t", "fixed index m"),
        (WEIGHTS + r"Let $t \in \{1, \dots, m\}$ and $L_t = -\log p_t$.", "t", "index m"),
        (WEIGHTS + r"Let $L = -\log p_t$ and \begin{equation} \sum_{t=1}^m p_t = 1 \end{equation}", "t", "index m"),
        (WEIGHTS + r"For the output $o = \sum_j p_j s_j$ this is known.", "o", r"= \sum_{j} p_{j} s_{j}"),
        (
            WEIGHTS + r"The losses are \begin{align} L_1 &= p_1, \\ L_2 &= p_2 \end{align} and $L = L_1 + L_2$.",
            "L",
            "= L_{1} + L_{2}",
        ),
        (WEIGHTS + r"\begin{equation} s_1 = p_1 \end{equation}", "s", "vector m"),
        (WEIGHTS + r"\begin{equation} \sum_j p_j u_j = 1 \end{equation} Suppose that $u_j = s_j^2$.", "u", "vector m"),
        (WEIGHTS + r"For $\gamma > 0$ let $P_j = s_j^2 / \gamma$.", "P_{j}", r"= s_{j}^{2} / \gamma"),
        (WEIGHTS + r"Suppose that $u_j = s_j^2$. \begin{equation} \sum_j p_j u_j = 1 \end{equation}", "u_{j}", "= s_{j}^{2}"),
        (
            r"Let $\bm p \in \Delta^{m-1}$. It, for $p_j > 0$, is \begin{equation} \sum_{j=1}^m \log p_j = 1 \end{equation}",
            r"\mathbf{p}",
            "simplex m",
        ),
        (r"Let $a \in \Delta_n$ and $b \in \Delta_m$ with positive entries.", "a", "interior n"),
        (WEIGHTS + r"The entropy is $H = -\sum_j p_j \log p_j$.", "H", r"= - \sum_{j} p_{j} \log p_{j}"),
        (WEIGHTS + r"For $\bm{q}$ in the simplex $\Delta^{m-1}$ this is known.", r"\mathbf{q}", "simplex m"),
        (WEIGHTS + r"Take $\langle \bm{p}, \bm{p} \rangle$.", r"\mathbf{p}", "= p"),
        (r"Let $B \in \mathbb{R}^{N \times M}$ be a row-stochastic matrix.", "B", "stochastic N M"),
        (r"Let $B \in \mathbb{R}^{N \times M}$ be a stochastic matrix.", "B", "stochastic N M"),
        (r"Let $B \in \mathbb{R}^{N \times N}$ be a doubly stochastic matrix.", "B", "?"),
        (r"Let $B \in \mathbb{R}^{N \times M}$ be column-stochastic.", "B", "?"),
        (r"Let $B \in \mathbb{R}^{N \times M}$ be a stochastic gradient.", "B", "matrix N M"),
        (r"Let $B \in \mathbb{R}^{N \times M}$ be a matrix that is not stochastic.", "B", "matrix N M"),
    ],
)
def test_symbols_get_the_meaning_given_in_the_text(text: str, symbol: str, meaning: str, tmp_path: Path) -> None:
    assert meanings(text, tmp_path)[symbol] == meaning


KEYS = r"""Let $x_1, \dots, x_N \in \mathbb{R}^m$, $A \in \mathbb{R}^{m \times m}$, $B \in \mathbb{R}^{n \times m}$ and
$b \in \mathbb{R}^n$. """
SUM = r"\begin{equation} S = \sum_{i=1}^m p_i \end{equation}"
TOTAL = r"\begin{equation} S = \sum_{i=1}^n \sum_{j=1}^m J_{ij} \end{equation}"
PLAN = r"""Let $a \in \mathbb{R}^n_{\ge 0}$ and $b \in \mathbb{R}^m_{\ge 0}$ be probability vectors.
A plan is a matrix $P \in \mathbb{R}_{\ge 0}^{n \times m}$ with """
EQUATION = r"\begin{equation} x = y \end{equation}"


@pytest.mark.parametrize(
    ("text", "symbol", "meaning"),
    [
        (r"Let $p$ and $q$ be distributions on $\{1, \dots, m\}$ with positive entries, $m \ge 2$." + SUM, "p", "interior m"),
        (r"Let $p, q$ be distributions on $\{1, \dots, m\}$, and $A$ a matrix with positive entries." + SUM, "p", "simplex m"),
        (r"For a policy $p$ in the interior of the simplex" + SUM, "p", "interior m"),
        (r"For $p$ (a point of the table)" + SUM, "p", "?"),
        (r"Let $x \in \mathbb{R}^m$ be positive features.", "x", "positive vector m"),
        (r"Let $x_1, \dots, x_N \in \mathbb{R}^m$ be positive features of $N$ keys.", "x", "positive matrix N m"),
        (r"Let $x \in \mathbb{R}^m$ be positively oriented.", "x", "vector m"),
        (r"Let $J \in \mathbb{R}_{>0}^{n \times m}$ with $\sum_{i=1}^n \sum_{j=1}^m J_{ij} = 1$.", "J", "interior n m"),
        (r"Let $J_{ij} \ge 0$ with $\sum_{i,j} J_{ij} = 1$." + TOTAL, "J", "simplex n m"),
        (r"Let $J_{ij} \ge 0$ with $\sum_{j} J_{ij} = 1$." + TOTAL, "J", "stochastic n m"),
        (r"Let $J_{ij} \ge 0$ with $\sum_{i} J_{ij} = 1$." + TOTAL, "J", "?"),
        (r"Let $J \in \mathbb{R}^{n \times m}$ with $\sum_{i,j} J_{ij} = 1$." + TOTAL, "J", "?"),
        (r"Let $c \in \mathbb{R}^m$ with $\sum_{i=1}^m c_i = 1$.", "c", "?"),
        (r"Let $c \in \mathbb{R}^m$ with $\sum_{i=1}^m c_i = 1$ and $c_i \ge 0$.", "c", "simplex m"),
        (r"Let $a \in \mathbb{R}_{>0}^n$ and $b \in \mathbb{R}^m$ be probability vectors.", "a", "interior n"),
        (r"Let $a \in \mathbb{R}_{>0}^n$ and $b \in \mathbb{R}^m$ be probability vectors.", "b", "simplex m"),
        (r"Let $a \in \mathbb{R}^n$ be logits of the distribution $b \in \mathbb{R}^n$.", "a", "vector n"),
        (r"The parameters of the distribution $\theta \in \mathbb{R}^n$ are free.", r"\theta", "vector n"),
        (r"For a distribution $\theta \in \mathbb{R}^n$ this is known.", r"\theta", "vector n"),
        (r"Take the logits of the distribution $p$." + SUM, "p", "?"),
        (PLAN + r"$P \mathbf{1}_m = a$ and $P^\top \mathbf{1}_n = b$.", "P", "coupling a b"),
        (PLAN + r"$\sum_j P_{ij} = a_i$ and $\sum_i P_{ij} = b_j$." + TOTAL.replace("J", "P"), "P", "coupling a b"),
        (PLAN + r"$P \mathbf{1} = \mathbf{1}$.", "P", "stochastic n m"),
        (PLAN + r"$P \mathbf{1}_m = a$.", "P", "?"),
        (PLAN.replace(r"\ge 0", "> 0") + r"$P \mathbf{1}_m = a$ and $P^\top \mathbf{1}_n = b$.", "P", "?"),
        (PLAN.replace("probability vectors", "vectors") + r"$P \mathbf{1}_m = a$ and $P^\top \mathbf{1}_n = b$.", "P", "?"),
        (PLAN + r"$P = 2$. For $R \in \Pi(a, b)$", "R", "coupling a b"),
        (r"Let $q \in \mathbb{R}^m$ with $\|q\| = 1$.", "q", "unit vector m"),
        (r"Let $q \in \mathbb{R}^m$ with $\|q\|_2^2 = 1$.", "q", "unit vector m"),
        (r"Let $q, c \in \mathbb{R}^m$ with $\|q\| = \|c\| = 1$.", "c", "unit vector m"),
        (r"Let $q \in \mathbb{R}^m$ with $\|q\|_1 = 1$.", "q", "vector m"),
        (r"Let $q \in \mathbb{R}^m$ with $\|q\| = 2$.", "q", "vector m"),
        (r"Let $q \in \mathbb{R}^m$ be a unit vector.", "q", "unit vector m"),
        (r"Let $q \in \mathbb{R}^m$ be the unit of the algebra.", "q", "vector m"),
        (r"Let $q \in \mathbb{R}^m$ and $c \in \mathbb{R}^m$ be unit vectors.", "q", "unit vector m"),
        (r"Let $q \in \mathbb{R}^m$ and $c \in \mathbb{R}^m$ have unit norm.", "q", "unit vector m"),
        (r"Let $q \in \mathbb{R}^m$ and $c \in \mathbb{R}^m$ be a unit vector.", "q", "vector m"),
        (r"Take unit-norm keys $q \in \mathbb{R}^m$ and $c \in \mathbb{R}^m$.", "c", "unit vector m"),
        (r"Let $q \in \mathbb{S}^{m-1}$.", "q", "unit vector m"),
        (r"Let $q, x_1, \dots, x_N \in \mathbb{R}^m$.", "x", "matrix N m"),
        (r"Let $q, x_1, \dots, x_N \in \mathbb{R}^m$.", "q", "vector m"),
        (r"Let $q_1, \dots, q_n, x_1, \dots, x_N \in \mathbb{R}^m$.", "q", "matrix n m"),
        (r"Let $x_1, \dots, x_N \in \mathbb{R}^m$ with $\|x_i\| = 1$ for all $i$.", "x", "unit matrix N m"),
        (r"Let $x_1, \dots, x_N \in \mathbb{R}^m$ be unit vectors.", "x", "unit matrix N m"),
        (r"Let $x_1, \dots, x_N \in \mathbb{R}^m$ with $\|x\| = 1$.", "x", "matrix N m"),
        (r"Let $\alpha > 0$, $\alpha \ne 1$.", r"\alpha", "positive != 1"),
        (r"Let $\alpha \ne 1$ and $\alpha > 0$.", r"\alpha", "positive != 1"),
        (r"For $0 < \lambda \le 1$ this is known.", r"\lambda", "positive <= 1"),
        (r"For $-1 \le \lambda < 1$ this is known.", r"\lambda", "real >= -1 < 1"),
        (r"Let $c \in \mathbb{R}$ with $c > 0$.", "c", "positive"),
        (r"It is \begin{equation} I = \sum_{i=1}^m \log p_i \end{equation}", "I", r"= \sum_{i = 1}^{m} \log p_{i}"),
        (r"Let $r_w, r_l \in \mathbb{R}$ be rewards. \begin{equation} L = r_w - r_l \end{equation}", "r_{l}", "real"),
        (r"Let $q_a, q_b \in \mathbb{R}^d$. \begin{equation} L = q_a^\top q_b \end{equation}", "q_{b}", "vector d"),
        (r"Let $y_i, y_j \in \mathbb{R}$. \begin{equation} L = \sum_{i=1}^m y_i^2 - y_j \end{equation}", "y", "vector m"),
        (KEYS + r"It is \begin{equation} \sum_{i=1}^N w^\top x_i = 1 \end{equation}", "w", "vector m"),
        (KEYS + r"It is \begin{equation} \sum_{i=1}^N x_i^\top w = w^\top A w \end{equation}", "w", "vector m"),
        (KEYS + r"It is \begin{equation} f(w) = \|B w - b\|^2 \end{equation}", "w", "vector m"),
        (KEYS + r"It is \begin{equation} f(w) = \|B w - b\|^2 + w^\top b \end{equation}", "w", "real"),  # two sizes
        (KEYS + r"It is \begin{equation} f(w) = w^\top A^{-1} w + w^\top B^\top b \end{equation}", "w", "vector m"),
        (KEYS + r"It is \begin{equation} \sum_{i=1}^N \|W^\top x_i\| = 1 \end{equation}", "W", "?"),  # or a matrix
        (KEYS + r"It is \begin{equation} w^\top B b = 1 \end{equation}", "w", "vector n"),
        (KEYS + r"It is \begin{equation} b^\top w = \|w\| \end{equation}", "w", "vector n"),
        (KEYS + r"It is \begin{equation} \sum_{i=1}^N x_i^\top w = \|w\| \end{equation}", "w", "vector m"),
        (KEYS + r"It is \begin{equation} \sum_{i=1}^n w^\top b_i = 1 \end{equation}", "w", "?"),  # b_i is a number
        (KEYS + r"It is \begin{equation} \sum_{i=1}^N \sum_{a=1}^m w^\top x_{ia} = 1 \end{equation}", "w", "?"),
        (KEYS + r"It is \begin{equation} w^\top A^2 b = 1 \end{equation}", "w", "?"),
        (KEYS + r"Let $p \in \Delta_n$. It is \begin{equation} w^\top p = 1 \end{equation}", "w", "vector n"),
        (
            KEYS
            + r"Let $D \in \mathbb{R}^{N \times m}$ be a stochastic matrix. \begin{equation} w^\top D b = 1 \end{equation}",
            "w",
            "vector N",
        ),
        (KEYS + r"It is \begin{equation} \sum_{i=1}^N w x_i = A w \end{equation}", "w", "?"),  # or a number
    ],
)
def test_domains_are_those_of_the_text(text: str, symbol: str, meaning: str, tmp_path: Path) -> None:
    assert meanings(text, tmp_path)[symbol] == meaning


@pytest.mark.parametrize(
    ("text", "conditions", "unread"),
    [
        (r"It is known that $s_1 = 2 s_2$.", [], [r"s_1 = 2 s_2"]),
        (r"It is convex, with equality if $s_1 = s_2$.", [], [r"s_1 = s_2"]),
        (r"Suppose $s_1 \ge s_2$. In general,", [r"s_1 \ge s_2"], []),
        (r"If $s_1 \ge s_2$ then", [], []),
        (r"Let $a, b \in \mathbb{R}_{\ge 0}^m$ with $\sum_j a_j b_j = 0$.", [r"\sum_j a_j b_j = 0"], []),
        (r"Let $a \in \mathbb{R}^m$ with $\max_j a_j = 1$.", [r"\max_j a_j = 1"], []),
        (r"If $\tau = 1$ then", [], []),
        (r"Let $2 \le \tau$.", [r"2 \le \tau"], []),  # which may be meant for the display before it
        (r"Let $1 \ge \tau > 0$.", [r"1 \ge \tau > 0"], []),
        (r"Let $0 < \tau < s_1$.", [r"0 < \tau < s_1"], []),
        (r"Let $c > 0$ and $o = 2 c$, $\sum_j r_j = 1$.", [], []),
        (r"Let $P \in \mathbb{R}^{m \times m}$ with $P \mathbf{1} = a$.", [], []),
        (r"Let $P \mathbf{1} = a$ and $o = 2 c$.", [r"P \mathbf{1} = a"], []),
    ],
)
def test_statements_of_the_text_that_are_not_used_are_listed(
    text: str, conditions: list[str], unread: list[str], tmp_path: Path
) -> None:
    (tmp_path / "paper.tex").write_text(
        rf"\begin{{document}}\section{{One}} {WEIGHTS + text + EQUATION} \end{{document}}", encoding="utf-8"
    )
    guesses = guess(read_paper(tmp_path / "paper.tex"))
    assert [latex for _, latex in guesses.restrictions] == conditions
    assert [latex for _, latex in guesses.unread] == unread


def test_an_update_is_no_assertion(tmp_path: Path) -> None:
    display = r" \begin{equation} \tau = 2 \tau \end{equation}"
    assert restrictions(WEIGHTS + "The update reads" + display, tmp_path)[0] == {r"\tau": "?"}
    assert restrictions(WEIGHTS + "The updated weight is" + display, tmp_path)[0] == {}


@pytest.mark.parametrize("sign", [r"\ge 0", "> 0", r"\le 1", r"\ne 0"])
def test_an_asserted_sign_is_no_assumption(sign: str, tmp_path: Path) -> None:
    assert meanings(rf"\begin{{equation}} G {sign} \end{{equation}}", tmp_path)["G"] == "?"


def restrictions(text: str, folder: Path) -> tuple[dict[str, str], list[str]]:
    """The meanings in the last display only, and the conditions on it, that were read from the words before it."""
    (folder / "paper.tex").write_text(rf"\begin{{document}}\section{{One}} {text} \end{{document}}", encoding="utf-8")
    paper = read_paper(folder / "paper.tex")
    guesses = guess(paper)
    last = max(position for position, formula in enumerate(paper.formulas) if formula.display)
    local = guesses.local.get(("formula", last), {})
    return {symbol: line.meaning for symbol, line in local.items()}, guesses.premises.get(last, [])


@pytest.mark.parametrize(
    ("text", "local", "premises"),
    [
        (r"If $s_j = \log u_j$ for $u \in \mathbb{R}_{>0}^m$ then", {"s_{j}": r"= \log u_{j}"}, []),
        (r"For $\tau = 1$ we have", {r"\tau": "= 1"}, []),
        (r"Nothing is lost. When $s_1 \ge s_2$ and $\tau \ge 2$,", {}, [r"s_1 \ge s_2", r"\tau \ge 2"]),
        (r"For $j \ne l$", {}, [r"j \ne l"]),
        (r"With $\tau > 0$ as before,", {}, []),
        (r"This holds if $\tau = 1$. In general,", {}, []),
        (r"For $\tau = 1$ \begin{equation} x = y \end{equation} For $m = 3$", {"m": "size = 3"}, []),
        (r"For $\tau = 1$ \begin{equation} x = y \end{equation} and", {r"\tau": "= 1"}, []),
        (r"Suppose that $\tau = 1$. Then", {r"\tau": "= 1"}, []),
        (r"Suppose that $\tau = 1$. Then for every $j$ and $l$ we have", {r"\tau": "= 1"}, []),
        (r"Suppose that $\tau = 1$. Then \begin{equation} x = y. \end{equation} In general,", {}, []),
        (r"If $h(\tau) = 1$ then", {r"h (\tau)": "= 1"}, []),
        (r"If $h(\tau) \tau = 1$ then", {}, [r"h(\tau) \tau = 1"]),
        (r"Suppose $\tau = 1$. Nothing is lost. Then", {}, []),
        (r"Suppose that $\tau = 1$. In general,", {}, []),
        (r"The gradient step is \begin{equation} \tau = 2 \end{equation} for", {}, []),
        (r"For $m = 2$", {"m": "size = 2"}, []),
        (r"For $\tau = 1$ \begin{equation} x = y, \end{equation}", {r"\tau": "= 1"}, []),
        (r"For $\tau = 1$ \begin{equation} x = y. \end{equation}", {}, []),
        (r"We have $\tau = \tau$ and", {}, []),
        (r"Let $o = 2 \tau$. If $o = 3$ then", {}, ["o = 3"]),  # on one line, and in any two
        (r"Let $o = 2 \tau$. For $o \le 3$,", {}, [r"o \le 3"]),
        (r"Let $o = 2 \tau$. If $o = 2 \tau$ then", {}, []),
        (r"Suppose that $o_j = s_j^2$. Then", {}, []),
        (r"With $Z = \sum_l e^{s_l} = 1$ we have", {}, [r"Z = \sum_l e^{s_l} = 1"]),
    ],
)
def test_conditions_before_an_equation_restrict_it(
    text: str, local: dict[str, str], premises: list[str], tmp_path: Path
) -> None:
    assert restrictions(WEIGHTS + text + EQUATION, tmp_path) == (local, premises)


@pytest.mark.parametrize(
    ("equation", "local"), [(r"\sum_{c=1}^m p_c = 1", {"c": "index m"}), ("p_c = p_j", {"c": "index m"}), ("p_c = p_j + c", {})]
)
def test_a_letter_may_be_a_number_here_and_an_index_there(equation: str, local: dict[str, str], tmp_path: Path) -> None:
    text = WEIGHTS + r"Let $c \in \mathbb{R}$. \begin{equation} \sum_{c=1}^m c = 1 \end{equation} Then "
    assert restrictions(rf"{text} \begin{{equation}} {equation} \end{{equation}}", tmp_path)[0] == local


@pytest.mark.parametrize("words", ["for", "if", "For all", "when"])
def test_a_condition_defines_nothing(words: str, tmp_path: Path) -> None:
    assert meanings(WEIGHTS + rf"{words} $o = \sum_j p_j s_j$ this is known.", tmp_path)["o"] == "?"


def test_the_entropy_of_something_is_no_definition(tmp_path: Path) -> None:
    text = WEIGHTS + r"Let $H = -\sum_j p_j \log p_j$ and \begin{equation} H(p) \ge 0 \end{equation}"
    assert "H" not in meanings(text, tmp_path)


@pytest.mark.parametrize(
    ("text", "local"),
    [
        (r"Let $x > 0$. Nothing is lost. Let $x \in \mathbb{R}$. Then", {"x": "real"}),
        (r"Let $x \in \mathbb{R}^m$. Nothing is lost. Let $x \in \mathbb{R}$. Then", {"x": "real"}),
        (r"Let $x \in \mathbb{R}$. Let $x > 0$. Then", {}),
        (r"Let $x > 0$. Let $x \in \mathbb{R}$. Now let $x \ge 0$. Then", {"x": "nonnegative"}),
        (r"Let $x > 0$. Let $x \in \mathbb{R}$. Now let $x > 0$. Then", {}),
        (r"Let $x \in \mathbb{R}$. Then \[ y = x \] For $x > 0$, \[ z = x. \] In general,", {}),
    ],
)
def test_a_letter_may_be_declared_again(text: str, local: dict[str, str], tmp_path: Path) -> None:
    assert restrictions(text + r" \begin{equation} |x| = x \end{equation}", tmp_path)[0] == local


@pytest.mark.parametrize(
    ("declared", "later"),
    [(r"For every $x \in \mathbb{R}$,", {3: "real"}), (r"Let $x \in \mathbb{R}$. Then", {3: "real", 4: "real"})],
)
def test_a_letter_that_is_declared_again_keeps_its_meaning_before(declared: str, later: dict[int, str], tmp_path: Path) -> None:
    """“For every” is about its sentence, “let” about what follows."""
    text = rf"Let $x > 0$. Then \[ y = 1. \] {declared} \[ |x| = x. \] Also, \[ x^2 = x \]"
    (tmp_path / "paper.tex").write_text(rf"\begin{{document}}{text}\end{{document}}", encoding="utf-8")
    guesses = guess(read_paper(tmp_path / "paper.tex"))
    assert guesses.lines["x"].meaning == "positive"
    assert {number: lines["x"].meaning for (_, number), lines in guesses.local.items() if "x" in lines} == later


@pytest.mark.parametrize(
    ("later", "meaning"),
    [
        ("Now let $x > 0$.", "real"),
        (r"Now let $x \ge 2$.", "real"),
        (", where $x > 0$.", "positive"),
        ("Throughout, let $x > 0$.", "positive"),
    ],
)
def test_a_later_condition_does_not_restrict_an_equation(later: str, meaning: str, tmp_path: Path) -> None:
    text = rf"Let $x \in \mathbb{{R}}$. Then \begin{{equation}} |x| = x \end{{equation}}{later}"
    (tmp_path / "paper.tex").write_text(rf"\begin{{document}}{text}\end{{document}}", encoding="utf-8")
    guesses = guess(read_paper(tmp_path / "paper.tex"))
    lines = {**guesses.lines, **guesses.local.get(("formula", 1), {})}
    assert lines["x"].meaning == meaning


def test_a_case_is_no_domain(tmp_path: Path) -> None:
    text = r"Let $x \in \mathbb{R}$. For $x > 0$, \begin{equation} |x| = x. \end{equation}"
    assert meanings(text, tmp_path)["x"] == "real"
    assert restrictions(text, tmp_path) == ({}, ["x > 0"])
    assert [latex for _, latex in guess(read_paper(tmp_path / "paper.tex")).restrictions] == ["x > 0"]


@pytest.mark.parametrize(
    ("text", "defined"),
    [
        (r"Let $x, a > 0$ and \begin{equation} x^2 = a \end{equation}", False),
        (r"Let $a > 0$ and \begin{equation} x^2 = a \end{equation} Then $x > 1$.", False),
        (r"Let $a > 0$ and \begin{equation} \sigma^2 = 2 a \end{equation} Then $\sigma^2 > a$.", True),
    ],
)
def test_an_equation_for_a_power_defines_it_only_if_it_is_the_only_use(text: str, defined: bool, tmp_path: Path) -> None:
    assert any("^" in symbol for symbol in meanings(text, tmp_path)) is defined


def test_only_if_is_no_condition(tmp_path: Path) -> None:
    assert restrictions(WEIGHTS + r"Only if $m = 1$ do we have" + EQUATION, tmp_path)[0].keys() == {"qualified"}


@pytest.mark.parametrize(
    ("text", "local"),
    [
        (r"We now redefine \begin{equation} Z = 2 \sum_l s_l \end{equation} Then", {"Z": r"= 2 \sum_{l} s_{l}"}),
        (r"We can generalize the sum to \begin{equation} Z = 2 \sum_l s_l \end{equation} Then", {"Z": r"= 2 \sum_{l} s_{l}"}),
        (r"The new sum is \begin{equation} Z = 2 \sum_l s_l \end{equation} Then", {"Z": r"= 2 \sum_{l} s_{l}"}),
        (r"From now on, $Z = 2 \sum_l s_l$. Then", {"Z": r"= 2 \sum_{l} s_{l}"}),
        (r"In this part $Z = 2 \sum_l s_l$ denotes the mass. Then", {"Z": "?"}),
        (r"Here, $Z = \sum_l s_l$ denotes the mass. Then", {}),
        (r"Recall that $Z$ denotes \begin{equation} Z = 2 \sum_l s_l \end{equation}", {}),
        (r"Thus \begin{equation} Z = 2 \sum_l s_l \end{equation}", {}),
    ],
)
def test_a_letter_may_be_defined_again(text: str, local: dict[str, str], tmp_path: Path) -> None:
    before = WEIGHTS + r"\begin{equation} Z = \sum_l s_l. \end{equation} "
    assert restrictions(before + text + r" \begin{equation} Z = 1 \end{equation}", tmp_path)[0] == local


@pytest.mark.parametrize(
    ("text", "local"),
    [
        (r"\section{Two} Let $f(x) = e^x$. Then", {"f (x)": "= e^{x}"}),
        (r"Let $f(x) = e^x$. Then", {}),
        (r"\section{Two} Recall that $f(x) = e^x$. Then", {}),
    ],
)
def test_a_function_may_be_another_one_in_another_section(text: str, local: dict[str, str], tmp_path: Path) -> None:
    before = r"Let $x \in \mathbb{R}$ and $f(x) = x^2$. "
    assert restrictions(before + text + r" \begin{equation} f(x) = 1 \end{equation}", tmp_path)[0] == local


@pytest.mark.parametrize(
    ("words", "local"),
    [("For general", {"x": "real"}), ("For arbitrary", {"x": "real"}), ("For such", {}), ("In general, for this", {})],
)
def test_a_letter_in_general_has_the_domain_before_a_case(words: str, local: dict[str, str], tmp_path: Path) -> None:
    text = rf"Let $x \in \mathbb{{R}}$. First let $x \ge 0$. Nothing changes. {words} $x$, "
    assert restrictions(text + r"\begin{equation} x = 1 \end{equation}", tmp_path)[0] == local


def test_two_stars_are_one(tmp_path: Path) -> None:
    text = WEIGHTS + r"\begin{equation} a^\star = 2 \tau \end{equation} \begin{equation} a^* = 3 \tau \end{equation}"
    assert meanings(text, tmp_path)["a^{*}"] == "?"


@pytest.mark.parametrize(
    "text",
    [
        r"Let $[\nabla_x f(x)] \in \mathbb{R}$ and $\cdot \in \mathbb{R}$, $1 \in \mathbb{R}$, $[g(x)] \ge 0$.",
        r"\section{A} Let $\mathcal{L}_t \in \mathbb{R}$. \section{B}\begin{equation} \mathcal{L}_t = 1 \end{equation}",
        r"$\succ$ are the rows of $X$.",
        r"\begin{equation} M = {\mathbf{K}^2}^\top \end{equation}\begin{equation} N = M^2 \end{equation}",
        r"\section{A} $\mathbf{W}^{(A)} \in \mathbb{R}$ \section{B} Let $\mathbf{W}^{(A)} \in \mathbb{R}^{m \times m}$.",
    ],
)
def test_what_is_no_symbol_gets_no_meaning_and_does_not_end_the_reading(text: str, tmp_path: Path) -> None:
    """Formulas of real papers that once ended the command."""
    meanings(text + EQUATION, tmp_path)
