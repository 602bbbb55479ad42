"""What the sentences and formulas of a paper say of its symbols: domains, ranges, signs, rows and entries."""

from pathlib import Path

import pytest

from derivations.papers.guesses.guesses import Guess, Guesses, narrows
from derivations.papers.guesses.guessing import guess
from derivations.reader.syntax.syntax import parse
from derivations.reader.tex.paper import read_paper


def guessed(tmp_path: Path, body: str) -> Guesses:
    path = tmp_path / "paper.tex"
    path.write_text(rf"\documentclass{{article}}\begin{{document}}{body}\end{{document}}", encoding="utf-8")
    return guess(read_paper(path))


SHOWN = r"\begin{equation} %s = %s \end{equation}"
SAID = [
    # spaces and signs
    (r"Let $x \in \mathbb{R}^n$.", "x", {"x": "vector n", "n": "size"}),
    (r"Let $x \in \mathbb{R}_+^n$.", "x", {"x": "nonnegative vector n"}),
    (r"Let $x \in \mathbb{R}_{++}^n$.", "x", {"x": "positive vector n", "+": None, "++": None}),
    (r"Let $x \in \mathbb{R}_{>0}$.", "x", {"x": "positive"}),
    (r"Let $x \in \mathbb{R}_{\ge 0}$.", "x", {"x": "nonnegative"}),
    (r"Let $x \in \mathbb{R}$.", "x", {"x": "real"}),
    (r"Let $x, y \in \mathbb{R}^n$.", "x + y", {"x": "vector n", "y": "vector n"}),
    (r"Let $A \in \mathbb{R}^{n \times d}$.", "A", {"A": "matrix n d", "n": "size", "d": "size"}),
    (r"Let $N \in \mathbb{N}$.", "N", {"N": "size"}),
    (r"Let $N \ge 1$.", "N", {"N": "size"}),
    (r"Let $N \in \mathbb{N}$, where $N \ge 2$.", "N", {"N": "size >= 2"}),
    (r"Let $\tau > 0$.", r"\tau", {r"\tau": "positive"}),
    (r"Let $\tau \ge 0$.", r"\tau", {r"\tau": "nonnegative"}),
    (r"Let $\tau, \epsilon > 0$.", r"\tau + \epsilon", {r"\tau": "positive", r"\epsilon": "positive"}),
    (r"Let $\alpha > 1$.", r"\alpha", {r"\alpha": "positive > 1"}),
    (r"Let $\alpha > 0$ and $\alpha \ge 3$.", r"\alpha", {r"\alpha": "positive >= 3"}),
    (r"Let $2 \le \alpha$.", r"\alpha", {r"\alpha": "positive >= 2"}),
    (r"Let $\alpha \in \mathbb{R}$ with $\alpha \ge 1$.", r"\alpha", {r"\alpha": "real >= 1"}),
    (r"Let $\alpha \in [0, 1]$ with $\alpha > 0$.", r"\alpha", {r"\alpha": "positive <= 1"}),
    (r"Let $\alpha \in (0, 1)$, so that $\alpha \ge 0$.", r"\alpha", {r"\alpha": "positive < 1"}),
    (r"Let $\alpha \le 1$ with $\alpha > 0$.", r"\alpha", {r"\alpha": "positive <= 1"}),
    (r"Let $\alpha \le 1$. Let $\alpha > 0$.", r"\alpha", {r"\alpha": "positive <= 1"}),
    (r"Let $p \in \Delta_n$ with $p > 0$.", "p", {"p": "interior n"}),
    (r"Let $p \in \Delta_n$ with $p \ge 0$.", "p", {"p": "simplex n"}),
    (r"Let $x \in \mathbb{R}_+^n$ with $x > 0$.", "x", {"x": "positive vector n"}),
    (r"Let $x \in \mathbb{R}_+^n$ with $x_i > 0$.", "x_i", {"x": "positive vector n"}),
    (r"Let $x \in \mathbb{R}_{++}^n$ with $x_i \ge 0$.", "x_i", {"x": "positive vector n"}),
    (r"Let $A \in \mathbb{R}^{n \times m}$ with $A \ge 0$.", "A", {"A": "nonnegative matrix n m"}),
    (r"Let $n \in \mathbb{N}$ with $n > 0$.", "n", {"n": "size"}),
    (r"Let $x \in \mathbb{R}$ with $x \ge 1$.", "x", {"x": "real >= 1"}),
    (r"Let $1 > \alpha$.", r"\alpha", {r"\alpha": "real < 1"}),
    (r"Let $-1 < \alpha < 1$.", r"\alpha", {r"\alpha": "real > -1 < 1"}),
    (r"Let $0 < \alpha < \mu$.", r"\alpha + \mu", {r"\alpha": "?", r"\mu": "?"}),
    (r"Let $x \in \mathbb{R}^n$ with $x \ge 2$.", "x", {"x": "vector n"}),
    (r"Let $\alpha > 0$ and $\alpha \ge 3$. Here $\alpha \ge 3$.", r"\alpha", {r"\alpha": "positive >= 3"}),
    (r"Let $z_e > 0$.", "z_e", {"z": "positive vector m", "e": "index m", "m": "size"}),
    (r"Let $\alpha \in (0, 1)$.", r"\alpha", {r"\alpha": "positive < 1"}),
    (r"Let $\alpha \in [0, 1]$.", r"\alpha", {r"\alpha": "nonnegative <= 1"}),
    (r"Let $\alpha \in (0, \infty)$.", r"\alpha", {r"\alpha": "positive"}),
    (r"Let $\alpha \in [-1, 1]$.", r"\alpha", {r"\alpha": "real >= -1 <= 1"}),
    (r"Let $\alpha \in (2, \infty)$.", r"\alpha", {r"\alpha": "real > 2"}),
    # simplices
    (r"Let $p \in \Delta^{n-1}$.", "p", {"p": "simplex n"}),
    (r"Let $p \in \Delta_n$.", "p", {"p": "simplex n"}),
    (r"Let $p \in \Delta^{n-1}$ with full support.", "p", {"p": "interior n"}),
    (r"Let $p \in \mathrm{int}(\Delta_n)$.", "p", {"p": "interior n"}),
    (r"Let $p \in \mathrm{ri} \Delta_n$.", "p", {"p": "interior n"}),
    (r"Let $p \in \mathbb{R}^n$ with $\sum_i p_i = 1$.", "p_i", {"p": "?"}),
    (r"Let $p \in \mathbb{R}_+^n$ with $\sum_i p_i = 1$.", "p_i", {"p": "simplex n"}),
    (r"Let $p \in \mathbb{R}_{++}^n$ with $\sum_i p_i = 1$.", "p_i", {"p": "interior n"}),
    (r"Let $p \in \Delta_n$ with $p_i > 0$.", "p_i", {"p": "interior n"}),
    (r"Let $x \in \mathbb{R}^n$ with $x_i > 0$.", "x_i", {"x": "positive vector n"}),
    (r"Let $x \in \mathbb{R}^n$ with $x_i \ge 0$.", "x_i", {"x": "nonnegative vector n"}),
    # sets, ranges and indices
    (
        r"Let $\mathcal{A} = \{1, \dots, n\}$ and $a \in \mathcal{A}$, $x \in \mathbb{R}^n$.",
        "x_a",
        {"a": "index n", "x": "vector n"},
    ),
    (r"Let $|\mathcal{A}| = n$ and $a \in \mathcal{A}$, $x \in \mathbb{R}^n$.", "x_a", {"a": "index n"}),
    (r"Let $a \in \{1, \dots, n\}$ and $x \in \mathbb{R}^n$.", "x_a", {"a": "index n"}),
    (r"Let $a \in [n]$ and $x \in \mathbb{R}^n$.", "x_a", {"a": "index n"}),
    (r"Let $|\mathcal{A}| = n$ and $p \in \Delta(\mathcal{A})$.", "p", {"p": "simplex n"}),
    (r"Let $|\mathcal{A}| = n$ and $r : \mathcal{A} \to \mathbb{R}$.", "r", {"r": "vector n"}),
    (r"Let $x_i > 0$ for $i = 1, \dots, N$.", "x_i", {"x": "positive vector N", "i": "index N"}),
    (r"Let $s_{ij} \ge 0$ for $i, j = 1, \dots, N$.", "s_{ij}", {"s": "nonnegative matrix N N", "j": "index N"}),
    (r"For $i = 1, \dots, N$, let $q_i \in \mathbb{R}^d$.", "q_i", {"q": "matrix N d"}),
    (r"For $i = 1, \dots, N$, let $b_i \in \mathbb{R}$.", "b_i", {"b": "vector N"}),
    (r"Let $k_1, \dots, k_N \in \mathbb{R}^d$.", "k_i", {"k": "matrix N d"}),
    (r"Let $b_1, \dots, b_N \in \mathbb{R}$.", "b_i", {"b": "vector N"}),
    (r"Let $s = (s_1, \dots, s_m)$.", "s_i", {"s": "vector m"}),
    (
        r"Let $X = (x_1, \dots, x_N) \in \mathbb{R}^{d \times N}$.",
        "x_i",
        {"X": "matrix d N", "x": "columns of X", "i": "index N"},
    ),
    (r"Let $X = (x_1, \dots, x_N) \in \mathbb{R}^{N \times d}$.", "x_i", {"X": "matrix N d", "x": "rows of X", "i": "index N"}),
    (
        r"Let $X = (x_1, \dots, x_N) \in \mathbb{R}_+^{d \times N}$.",
        "x_i",
        {"X": "nonnegative matrix d N", "x": "columns of X", "i": "index N"},
    ),
    (r"Let $b_i \in \mathbb{R}$.", "b_i", {"b_{i}": "real", "b": None}),
    (r"For $i, j, k = 1, \dots, n$, let $T_{ijk} \in \mathbb{R}$.", "T_{ijk}", {"T_{i j k}": "real", "T": None}),
    (r"Here $S$ is finite.", r"\sum_{x \in S} q(x)", {"x": "index m", "q (x)": "distribution", "S": "?"}),
    (r"Let $|\mathcal{Y}| = n$ and $y' \in \mathcal{Y}$.", "q(y')", {"y": "index n", "q (y')": "distribution", "y'": None}),
    (
        r"Let $|\mathcal{Z}| = n$ and $z \in \mathcal{Z}$.",
        r"p(z) + p(z|x) + p(z'|x)",
        {"p (z)": "distribution", "p (z|x)": "distribution", "p (z'|x)": None, "x": "fixed"},
    ),
    (r"Let $B \in \mathbb{R}_{\ge 0}^{N \times M}$ be a row-stochastic matrix.", "B_{ij}", {"B": "stochastic N M"}),
    (r"Let $Q \in \mathbb{R}^{N \times d}$ be a matrix with rows $q_i$.", "q_i", {"q": "rows of Q", "i": "index N"}),
    (r"Let $Q \in \mathbb{R}^{N \times d}$ be a matrix with columns $q_i$.", "q_i", {"q": "columns of Q", "i": "index d"}),
    # words
    (r"Let $c$ be a real number.", "c", {"c": "real"}),
    (r"Let $c$ be a positive number.", "c", {"c": "positive"}),
    (r"Here $c$ is positive.", "c", {"c": "positive"}),
    (r"Here $c$ is real, and so on.", "c", {"c": "real"}),
    (r"Here $c$ is any scalar.", "c", {"c": "real"}),
    (r"Let $N$ be an integer.", "N", {"N": "size"}),
    (r"Let $N$ be a positive integer.", "N", {"N": "size"}),
    (r"Let $|\mathcal{Y}| = n$ and $y \in \mathcal{Y}$. Let $r(y)$ be the reward.", "r(y)", {"r (y)": "real", "y": "index n"}),
    (r"Let $|\mathcal{Y}| = n$ and $y \in \mathcal{Y}$. Let $r(y)$ be the answer.", "r(y)", {"r (y)": "?", "y": "index n"}),
    (r"Let $x \in \mathbb{R}^n$.", r"\max_c (c + x_1)", {"c": "?", "x": "vector n"}),
    (
        r"Let $|\mathcal{Y}| = n$ and $y \in \mathcal{Y}$. Let $r(x, y)$ be the reward.",
        "r(x, y)",
        {"r (x,y)": "real", "x": "fixed", "y": "index n"},
    ),
]


@pytest.mark.parametrize(("sentence", "use", "meanings"), SAID)
def test_what_is_said_of_a_symbol(sentence: str, use: str, meanings: dict[str, str | None], tmp_path: Path) -> None:
    lines = guessed(tmp_path, sentence + SHOWN % (use, use)).lines
    assert {name: lines[name].meaning if name in lines else None for name in meanings} == meanings


@pytest.mark.parametrize(
    ("declared", "sign", "meaning"),
    [
        (r"Let $x \in \mathbb{S}^{n-1}$", "x > 0", "unit vector n"),
        (r"Let $x \in \mathbb{S}^{n-1}$", r"x_i \ge 0", "unit vector n"),
        (r"Let $x \in \mathbb{R}^n$ and $c = x_1 - x_2$", "c > 0", "vector n"),
        (r"Let $x \in \mathbb{R}^n$ and $c = x_1 - x_2$", "c = 3", "vector n"),
        (
            r"\section{One} Let $x \in \mathbb{R}^n$. \[ x^\top x \ge 0 \] \section{Two} Here it is positive",
            "x > 0",
            "vector n",
        ),
        (
            r"\section{One} Let $x \in \mathbb{R}^n$. \[ x^\top x \ge 0 \] \section{Two} Here it is positive",
            "x_i > 0",
            "vector n",
        ),
        (r"\section{One} Let $x \in \mathbb{R}$. \[ x^2 \ge 0 \] \section{Two} Here it is positive", "x > 0", "real"),
        (r"Let $x_i > 0$ and later $x \in \mathbb{S}^{n-1}$", r"x_1 \ge 0", "unit vector n"),
    ],
)
def test_a_sign_that_no_meaning_expresses_is_a_condition(declared: str, sign: str, meaning: str, tmp_path: Path) -> None:
    """As is one in another section, which the sections before it do not assume."""
    guesses = guessed(tmp_path, rf"{declared}, with ${sign}$. \begin{{equation}} |x_i| = x_i \end{{equation}}")
    assert guesses.lines["x"].meaning == meaning
    assert sign in [latex for _, latex in guesses.restrictions]


@pytest.mark.parametrize(
    ("sentence", "use", "name"),
    [
        (r"Let $x \in \mathcal{X}$.", "x", "x"),
        (r"Let $\alpha \in (a, b)$.", r"\alpha", r"\alpha"),
        (r"Here $A$ is positive definite.", "A", "A"),
        (r"Here $A$ is positive semi-definite.", "A", "A"),
        (r"Here $f$ is real-valued.", "f", "f"),
    ],
)
def test_what_is_not_said_is_asked(sentence: str, use: str, name: str, tmp_path: Path) -> None:
    assert guessed(tmp_path, sentence + SHOWN % (use, use)).lines[name].meaning == "?"


@pytest.mark.parametrize(
    ("meaning", "known", "smaller"),
    [
        ("positive", "real", True),
        ("nonnegative", "real", True),
        ("positive", "nonnegative", True),
        ("real", "positive", False),
        ("nonnegative", "positive", False),
        ("positive", "positive", False),
        ("positive vector n", "vector n", True),
        ("nonnegative matrix n m", "matrix n m", True),
        ("positive vector n", "vector m", False),
        ("vector n", "positive vector n", False),
        ("simplex n", "vector n", True),
        ("interior n", "vector n", True),
        ("interior n", "simplex n", True),
        ("simplex n", "interior n", False),
        ("simplex n", "vector m", False),
        ("stochastic n m", "matrix n m", True),
        ("stochastic n m", "matrix k m", False),
        ("stochastic n m", "vector m", False),
        ("positive", "vector n", False),
        ("vector n", "real", False),
        ("index n", "real", False),
        ("= x", "real", False),
    ],
)
def test_which_domain_is_part_of_which(meaning: str, known: str, smaller: bool) -> None:
    assert narrows(meaning, known) is smaller


def test_the_first_definition_counts_and_a_domain_gives_way_to_it() -> None:
    guesses = Guesses()
    for meaning, kept in (("real", "real"), ("vector n", "real"), ("= 1", "= 1"), ("= 2", "= 1"), ("positive", "= 1")):
        guesses.record("o", meaning, "it")
        assert guesses.lines["o"].meaning == kept
    guesses.record("c", "real", "here")
    guesses.section = 2
    guesses.record("c", "positive", "in another section")
    assert guesses.lines["c"].meaning == "real"
    guesses.record("o_j", "= s_j", "with an index")
    assert list(guesses.lines) == ["o", "c"]
    assert guesses.names == {"o": "o", "c": "c"}


def test_the_range_of_an_index() -> None:
    lines = {"i": Guess("index n", ""), "x": Guess("vector m", ""), "k": Guess("index n", "")}
    guesses = Guesses(lines=lines, indices={"k": "d"})
    assert [guesses.range_of(letter) for letter in "ixkz"] == ["n", "", "d", ""]


def test_an_index_may_have_another_range_in_a_section(tmp_path: Path) -> None:
    first = r"\section{One} \begin{equation} \sum_{i=1}^n x_i = 1 \end{equation}"
    guesses = guessed(tmp_path, first + first.replace("^n x", "^m y"))
    assert guesses.lines["i"].meaning == "index m"
    assert {scope: {name: each.meaning for name, each in own.items()} for scope, own in guesses.local.items()} == {
        ("section", 1): {"i": "index n"}
    }


def test_a_vector_may_be_an_index_in_another_section(tmp_path: Path) -> None:
    """Over the printed range; in the same section the letter stays what it was declared to be."""
    vector = r"Let $k \in \mathbb{R}^d$ and $x \in \mathbb{R}^n$. "
    summed = r"\begin{equation} \sum_{k=1}^n x_k = 1 \end{equation}"
    for middle, local in ((r"\section{Two} ", {"k": "index n"}), ("", {})):
        guesses = guessed(tmp_path, rf"\section{{One}} {vector}{middle}{summed}")
        assert guesses.lines["k"].meaning == "vector d"
        own = [lines for (kind, _), lines in guesses.local.items() if kind == "section"]
        assert {name: each.meaning for lines in own for name, each in lines.items()} == local


def test_a_subscript_has_the_range_of_its_own_axis(tmp_path: Path) -> None:
    """k is a vector, and a column of s_ik where it is nothing but a subscript."""
    text = r"Let $k \in \mathbb{R}^d$ and $s \in \mathbb{R}^{n \times m}$ and $i \in [n]$. "
    (local,) = guessed(tmp_path, text + r"\begin{equation} s_{ik} = 1 \end{equation}").local.values()
    assert {name: each.meaning for name, each in local.items()} == {"k": "index m"}


def test_an_equation_without_a_letter_has_no_meaning_for_it(tmp_path: Path) -> None:
    """c is a number, and an index below one sum."""
    shown = r"\begin{equation} \sum_{c=1}^m x_c = 1 \end{equation} \begin{equation} y = c \end{equation}"
    guesses = guessed(tmp_path, rf"Let $c \in \mathbb{{R}}$. {shown} \begin{{equation}} y = 2 \end{{equation}}")
    assert [name for lines in guesses.local.values() for name in lines] == ["c"]


def test_a_number_is_not_confused_with_a_function_of_its_name(tmp_path: Path) -> None:
    """v(t) can be a product then: v is no symbol of the whole paper."""
    first = r"\section{One} Let $t \in \mathbb{R}$ and $v(t) = t^2$. \section{Two} "
    for words, known in ((r"Let $v \in \mathbb{R}$.", False), (r"Let $v \in \mathbb{R}^n$.", True)):
        lines = guessed(tmp_path, rf"{first}{words} \begin{{equation}} v = v \end{{equation}}").lines
        assert ("v" in lines) is known
        assert lines["v (t)"].meaning == "= t^{2}"


def test_entries_are_defined_beside_a_number_of_another_section(tmp_path: Path) -> None:
    first = r"\section{One} Let $b > 0$. \begin{equation} 2 b > b \end{equation} \section{Two} Let $s \in \mathbb{R}^m$. "
    guesses = guessed(tmp_path, first + r"\begin{equation} b_j = s_j^2, \quad j = 1, \dots, m \end{equation}")
    assert guesses.lines["b"].meaning == "positive"
    assert {name: each.meaning for name, each in guesses.local["section", 2].items()} == {"b_{j}": "= s_{j}^{2}"}


def test_functions_that_share_a_name_are_told_apart_by_their_arguments() -> None:
    """p of p(z) and p(z|x) is neither of them; v beside v(t) is a symbol of its own."""
    guesses = Guesses(crowded={"p": ["p(z)", "p(z|x)"], "v": ["v(t)"]})
    names = guesses.names_in(parse("p(z|x) + v(t) + v_i"))
    assert names & {"p", "p(z)", "p(z|x)", "v", "v(t)"} == {"p(z|x)", "v", "v(t)"}


@pytest.mark.parametrize(
    ("first", "sign", "meaning"),
    [
        (r"x \in \mathbb{R}^n", "x > 0", "positive vector n"),
        (r"x \in \mathbb{R}", r"x \ge 0", "nonnegative"),
        (r"x \le 1", "x > 0", "positive <= 1"),
        (r"x \in \Delta_n", "x > 0", "interior n"),
        (r"x \in \mathbb{R}_{++}^n", r"x \ge 0", "nonnegative vector n"),
        (r"x \in (0, 1)", r"x \ge 0", "nonnegative"),
        (r"x \in \mathrm{int}(\Delta_n)", r"x \ge 0", "simplex n"),
        (r"x \in \mathbb{S}^{n-1}", "x > 0", ""),
        (r"x \in \mathbb{R}^n", "x < 0", ""),
    ],
)
def test_a_sign_in_another_section_holds_there(first: str, sign: str, meaning: str, tmp_path: Path) -> None:
    """In the displays after it, with the shape and the bounds that are known."""
    shown = r"\begin{equation} x = x \end{equation}"
    guesses = guessed(tmp_path, rf"\section{{One}} Let ${first}$. {shown} \section{{Two}} {shown} Let ${sign}$. Then {shown}")
    local = {number: lines["x"].meaning for (_, number), lines in guesses.local.items() if "x" in lines}
    assert local == ({4: meaning} if meaning else {})
    assert meaning not in guesses.lines["x"].meaning or not meaning


DIFFERENTIATED = r"\begin{equation} \frac{\partial f}{\partial %s} = 1 \end{equation}"


@pytest.mark.parametrize(
    ("definition", "by", "domain"),
    [
        (r"z_i = \sum_{k=1}^n W_{ik} x_k + b_i", "z_i", "vector m"),
        (r"z_i = b_i + 1", "z_i", "vector m"),
        (r"z = x_1 + b_1", "z", "real"),
        (r"z_i = \log b_i", "z_i", ""),  # whose values are not all real numbers
        (r"z_i = f b_i", "z_i", ""),  # of which the formula uses a part
    ],
)
def test_what_sums_and_products_define_is_free_where_it_is_differentiated_by(
    definition: str, by: str, domain: str, tmp_path: Path
) -> None:
    start = r"Let $x \in \mathbb{R}^n$, $b \in \mathbb{R}^m$, $W \in \mathbb{R}^{m \times n}$. "
    guesses = guessed(tmp_path, rf"{start} \[ {definition} \] {DIFFERENTIATED % by}")
    local = [lines["z"].meaning for lines in guesses.local.values() if "z" in lines]
    assert local == ([domain] if domain else [])


def test_a_primed_distribution_is_one_too(tmp_path: Path) -> None:
    for declared in (r"p \in \Delta_m", r"p \in \mathrm{int}(\Delta_m)"):
        shown = r"\begin{equation} \sum_{j=1}^m p_j = \sum_{j=1}^m p'_j \end{equation}"
        lines = guessed(tmp_path, f"Let ${declared}$. {shown}").lines
        assert lines["p'"].meaning == lines["p"].meaning


@pytest.mark.parametrize(
    ("declared", "meaning"),
    [
        (r"x \in \mathbb{R}^n", "simplex n"),
        (r"x \in \mathbb{R}_{++}^n", "interior n"),
        (r"x \in \mathbb{S}^{n-1}", "unit vector n"),
        (r"x \in \mathbb{R}_{\ge 0}^{m \times n}", "nonnegative matrix m n"),
    ],
)
def test_only_a_vector_of_numbers_becomes_a_distribution(declared: str, meaning: str, tmp_path: Path) -> None:
    assert guessed(tmp_path, rf"Let ${declared}$ be a probability distribution.").lines["x"].meaning == meaning


def test_a_definition_with_its_domain_is_not_about_all_points_of_it(tmp_path: Path) -> None:
    shown = r"\begin{equation} p_j = e^{s_j}/\sum_{k=1}^m e^{s_k}, \quad p \in \Delta^{m-1} \end{equation}"
    guesses = guessed(tmp_path, rf"Let $s \in \mathbb{{R}}^m$. {shown}")
    assert not any("p" in lines for lines in guesses.local.values())


def test_a_letter_in_general_has_its_domain_before_the_last_one(tmp_path: Path) -> None:
    text = r"Let $x \in \mathbb{R}$ and $y > 0$. First let $x \ge 0$. For general $x$, \begin{equation} x = 1 \end{equation}"
    assert [lines["x"].meaning for lines in guessed(tmp_path, text).local.values()] == ["real"]


@pytest.mark.parametrize(
    ("text", "conditions"),
    [
        (r"Let $a \in \mathbb{R}^m$ with $a > 0$.", []),
        (r"Let $a \in \mathbb{R}^m$ with $a_i > 0$.", []),
        (r"Let $a \in \mathbb{R}^m$ with $a > 1$.", ["a > 1"]),
        (r"Let $c > 0$ with $c > 0$.", []),
    ],
)
def test_a_sign_that_is_read_is_no_condition_besides(text: str, conditions: list[str], tmp_path: Path) -> None:
    assert [latex for _, latex in guessed(tmp_path, text + SHOWN % ("a_i", "a_i")).restrictions] == conditions
