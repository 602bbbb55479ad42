"""A loss of which the gradient is given is known in its first derivatives, and in nothing else."""

from pathlib import Path

import pytest

from derivations.papers.guesses.guesses import Guesses
from derivations.papers.guesses.guessing import guess
from derivations.reader.tex.paper import read_paper

WEIGHTS = r"Let $s \in \mathbb{R}^m$. \begin{equation} p_j = \frac{e^{s_j}}{\sum_{k=1}^m e^{s_k}} \end{equation} "
GRADIENT = r"Let $\ell$ be a loss with $g_j = \partial\ell/\partial p_j$ and $\bar g = \sum_{k=1}^m p_k g_k$. "


def guessed(text: str, folder: Path) -> Guesses:
    (folder / "paper.tex").write_text(rf"\begin{{document}}\section{{One}} {text} \end{{document}}", encoding="utf-8")
    return guess(read_paper(folder / "paper.tex"))


def meaning(guesses: Guesses, name: str) -> str:
    return guesses.lines[guesses.names[name]].meaning


@pytest.mark.parametrize(
    ("gradient", "vector", "loss"),
    [
        (r"$g_j = \partial\ell/\partial p_j$", "vector m", r"= \sum_{j = 1}^{m} g_{j} p_{j}"),
        (r"$g_j = \frac{\partial\ell}{\partial p_j}$", "vector m", r"= \sum_{j = 1}^{m} g_{j} p_{j}"),
        (r"$g_j = \frac{\partial\ell(p)}{\partial p_j}$", "vector m", r"= \sum_{j = 1}^{m} g_{j} p_{j}"),
        (r"$g_j = -\frac{\partial\ell}{\partial p_j}$", "vector m", r"= - \sum_{j = 1}^{m} g_{j} p_{j}"),
        (r"$g = \nabla_p \ell$", "vector m", r"= \sum_{j = 1}^{m} g_{j} p_{j}"),
        (r"$g = \nabla_p \ell(p)$", "vector m", r"= \sum_{j = 1}^{m} g_{j} p_{j}"),
    ],
)
def test_a_gradient_gives_the_first_derivatives(gradient: str, vector: str, loss: str, tmp_path: Path) -> None:
    guesses = guessed(WEIGHTS + f"The loss has the gradient {gradient}.", tmp_path)
    assert (meaning(guesses, "g"), meaning(guesses, r"\ell")) == (vector, loss)


@pytest.mark.parametrize(
    "text",
    [
        WEIGHTS + r"Let $\ell = \sum_j p_j^2$ and $g_j = \partial\ell/\partial p_j$.",  # the loss is defined
        r"Let $p \in \mathbb{R}^m$ with $\sum_{j=1}^m p_j^2 > 0$ and let $g_j = \partial\ell/\partial p_j$.",  # p is not
        WEIGHTS + r"Let $g_j = \partial^2\ell/\partial p_j^2$.",
        WEIGHTS + r"Let $g_j = 2 \partial\ell/\partial p_j$.",
    ],
)
def test_other_gradients_are_definitions(text: str, tmp_path: Path) -> None:
    guesses = guessed(text, tmp_path)
    assert meaning(guesses, "g").startswith("= ")
    assert not guesses.names.get(r"\ell") or r"g_{j}" not in meaning(guesses, r"\ell")


@pytest.mark.parametrize(
    ("formula", "known"),
    [
        (r"\frac{\partial \ell}{\partial s_j} = p_j(g_j - \bar g)", True),
        (r"\nabla_s \ell = p \odot (g - \bar g)", True),
        (r"\frac{\partial \ell}{\partial s_j} = \sum_{k=1}^m g_k \frac{\partial p_k}{\partial s_j}", True),
        (r"\sum_j p_j (g_j - \bar g) = 0", True),
        (r"\frac{\partial \bar g}{\partial s_j} = p_j(g_j - \bar g)", False),
        (r"\frac{d \bar g}{d s_j} = p_j(g_j - \bar g)", False),
        (r"\partial g_k / \partial s_j = 0", False),
        (r"\nabla_s \bar g = 0", False),
        (r"\nabla_s^2 \ell = 0", False),
        (r"\frac{\partial^2 \ell}{\partial s_j \partial s_k} = 0", False),
        (r"\frac{\partial}{\partial s_k} \frac{\partial \ell}{\partial s_j} = 0", False),
        (r"\frac{\partial}{\partial s_k} (g_j - \bar g) = 0", False),
        (r"\frac{\partial (\ell + \bar g)}{\partial s_k} = 0", False),
        (r"c = (g^\top \nabla) \ell", False),  # a ∇ with nothing behind it
    ],
)
def test_other_derivatives_are_left_open(formula: str, known: bool, tmp_path: Path) -> None:
    guesses = guessed(WEIGHTS + GRADIENT + rf"\begin{{equation}} {formula} \end{{equation}}", tmp_path)
    (local,) = [lines for (kind, number), lines in guesses.local.items() if kind == "formula" and "g" in lines] or [{}]
    assert {name: each.meaning for name, each in local.items()} == ({} if known else {r"\ell": "?", "g": "?"})


@pytest.mark.parametrize(
    ("formula", "open_"),
    [
        (r"p_j = \exp(s_j - 1)", True),
        (r"x = s_1 + s_2", True),
        (r"x = s_1 + x - s_1", False),
        (r"x = y", False),  # y, the sum of x and what it does not depend on
        (r"s_j = \log q_j + \log \sum_{k=1}^m e^{s_k}", False),
        (r"x \le s_1", False),
    ],
)
def test_an_equation_that_gives_a_free_variable_a_value_is_left_open(formula: str, open_: bool, tmp_path: Path) -> None:
    start = (
        r"Let $s, p \in \mathbb{R}^m$ and $x \in \mathbb{R}$ and $y = x + 0 s_1$ "
        r"and $q_j = e^{s_j}/\sum_{k=1}^m e^{s_k}$. "
        r"Of all these \begin{equation} \sum_j p_j + x + y + q_1 \le s_1 \end{equation} and "
    )
    guesses = guessed(start + rf"\begin{{equation}} {formula} \end{{equation}}", tmp_path)
    questions = [line for lines in guesses.local.values() for line in lines.values() if line.meaning == "?"]
    assert bool(questions) is open_
