"""Meanings of symbols that are read from the text of a paper, and symbols without one."""

from __future__ import annotations

from pathlib import Path

import pytest

from derivations.latex.guessing import guess
from derivations.latex.paper import read_paper

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


@pytest.mark.parametrize("words", ["for", "if", "For all", "when"])
def test_a_condition_defines_nothing(words: str, tmp_path: Path) -> None:
    assert meanings(WEIGHTS + rf"{words} $o = \sum_j p_j s_j$ this is known.", tmp_path)["o"] == "?"


def test_the_entropy_of_something_is_no_definition(tmp_path: Path) -> None:
    text = WEIGHTS + r"Let $H = -\sum_j p_j \log p_j$ and \begin{equation} H(p) \ge 0 \end{equation}"
    assert "H" not in meanings(text, tmp_path)
