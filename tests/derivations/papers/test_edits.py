"""Repairs of false formulas: one edit away, true, about the same left side, and in the paper's notation."""

import pytest

from derivations.papers.edits import versions
from derivations.papers.repairs import failing, repair
from derivations.reader.meaning.notation import Notation
from derivations.reader.meaning.statements import read
from derivations.reader.syntax.syntax import parse
from derivations.reader.syntax.tree import spelled

DECLARED = {
    "n": "size",
    "i, j, k": "index n",
    r"\tau": "positive",
    "s": "vector n",
    "q": "interior n",
    "p_i": r"= e^{s_i/\tau} / \sum_j e^{s_j/\tau}",
    r"\Phi": r"= \tau\log\sum_j e^{s_j/\tau}",
    "A": "matrix n n",
    "x": "vector n",
}

REPAIRED = [
    (r"\log p_i = \frac{1}{\tau} s_i + \frac{1}{\tau}\Phi", r"\log p_{i} = \frac{1}{\tau} s_{i} - \frac{1}{\tau} \Phi"),
    (r"\log p_i = \tau (s_i - \Phi)", r"\log p_{i} = \frac{1}{\tau} (s_{i} - \Phi)"),
    (
        r"\frac{\partial p_i}{\partial s_j} = p_i(\delta_{ij} - p_j)",
        r"\frac{\partial p_{i}}{\partial s_{j}} = \frac{1}{\tau} p_{i} (\delta_{i j} - p_{j})",
    ),
    (
        r"\frac{\partial p_i}{\partial s_j} = \frac1\tau p_i(\delta_{ij} - p_i)",
        r"\frac{\partial p_{i}}{\partial s_{j}} = \frac{1}{\tau} p_{j} (\delta_{i j} - p_{i})",
    ),
    (r"\sum_i q_i \log\frac{q_i}{p_i} = \mathrm{KL}(p \| q)", r"\sum_{i} q_{i} \log \frac{q_{i}}{p_{i}} = \mathrm{KL} (q\|p)"),
    (r"\sum_i p_i = 2", r"\sum_{i} p_{i} = 1"),
]


@pytest.mark.parametrize(("latex", "true"), REPAIRED)
def test_a_slip_is_undone_in_the_words_of_the_paper(latex: str, true: str) -> None:
    notation = Notation(DECLARED)
    false = failing(read(latex, notation))
    assert false is not None
    repaired = repair(false, latex, notation)
    assert repaired is not None
    assert repaired.latex == true
    assert all(relation.prove() for relation in read(repaired.latex, notation))
    assert repaired.edit


@pytest.mark.parametrize("latex", [r"\Phi = \sum_i x_i", r"p_i = q_i", r"x^\top x = \Phi"])
def test_a_formula_that_no_edit_makes_true_has_no_repair(latex: str) -> None:
    notation = Notation(DECLARED)
    false = failing(read(latex, notation))
    assert false is not None
    assert repair(false, latex, notation) is None


def test_the_condition_of_a_statement_is_that_of_its_repair() -> None:
    latex = r"\frac{\partial p_i}{\partial s_j} = \frac1\tau p_i p_j, \quad i \ne j"
    notation = Notation(DECLARED)
    false = failing(read(latex, notation))
    assert false is not None
    repaired = repair(false, latex, notation)
    assert repaired is not None
    assert repaired.latex.endswith(r"= - \frac{1}{\tau} p_{i} p_{j},\quad i \ne j")


def test_versions_differ_from_the_formula_and_from_each_other() -> None:
    side = parse(r"\frac1\tau A^\top x - 2 \mathrm{KL}(p \| q) + s_i^2")
    spellings = [spelled(version) for _, version in versions(side, [r"\tau"])]
    assert len({spelled(side), *spellings}) == len(spellings) + 1
    for part in (r"\tau A^{\top}", "A x", r"\mathrm{KL} (q\|p)", "s_{i}^{3}", r"+ 2 \mathrm{KL}", r"- s_{i}^{2}"):
        assert any(part in each for each in spellings), part


def test_a_power_that_is_no_integer_is_not_raised() -> None:
    edited = [spelled(tree) for _, tree in versions(parse("x^{3.0}"), [])]
    assert "x^{2}" in edited
    assert not [each for each in edited if "4" in each]
