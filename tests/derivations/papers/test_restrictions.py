"""A counterexample that the text of a paper excludes refutes nothing (as in `papers/lengths.tex`)."""

import pytest
import sympy as sp

from derivations.papers.claims import _excluded
from derivations.papers.restrictions import excluding
from derivations.reader.meaning.notation import Notation
from derivations.reader.meaning.statements import read

DECLARED = {"n": "size", "i": "index n", "c": "vector n", "x": "real", "y": "real"}
ZERO_SUM = (7, r"\sum_{i=1}^n c_i = 0")


@pytest.mark.parametrize(
    ("condition", "excluded"),
    [
        (r"\sum_{i=1}^n c_i = 0", True),
        (r"c_i \ge 0", True),  # of every entry
        (r"c_i \ge -9", False),
        (r"x = 0", False),  # not about what the statement is about
        (r"c_i \approx 0", True),  # which cannot be read, and is about c
        (r"c \text{ sorted }", True),
        (r"x \approx 0", False),
        (r"n \text{ even }", False),  # sizes are in every statement
    ],
)
def test_a_point_is_excluded_if_it_violates_a_condition(condition: str, excluded: bool) -> None:
    notation = Notation(DECLARED, restrictions=[(7, condition)])
    (relation,) = read(r"\sum_{i=1}^n c_i = \sum_{i=1}^n c_i^2", notation)
    example = relation.counterexample()
    assert example is not None
    point = {**example.point, **{v: [-1] * len(value) for v, value in example.point.items() if isinstance(value, list)}}
    assert excluding(point, notation, 9) == excluding(point, notation, 4) == ((7, condition) if excluded else None)
    assert excluding(point, notation, 3) is None  # it stands far behind


@pytest.mark.parametrize(
    ("condition", "values", "excluded"),
    [(r"c_i \ge 0", [-1, 2], True), (r"c_i \ge 0", [2, -1], True), (r"c_i \ge 0", [2, 1], False), (r"i \le n", [2, -1], False)],
)
def test_a_condition_on_entries_is_one_on_each_and_on_no_other(condition: str, values: list[int], excluded: bool) -> None:
    notation = Notation(DECLARED, restrictions=[(7, condition)])
    (relation,) = read(r"\sum_{i=1}^n c_i = \sum_{i=1}^n c_i^2", notation)
    point = {v: list(map(sp.Integer, values)) if v.domain.shape else sp.Integer(len(values)) for v in relation.variables()}
    assert (excluding(point, notation, 9) is not None) is excluded


def test_local_meanings_keep_the_restrictions() -> None:
    notation = Notation(DECLARED, local={"section2": {"x": "positive"}}, restrictions=[ZERO_SUM])
    assert notation.within("section2").restrictions == [ZERO_SUM]


@pytest.mark.parametrize(
    ("restrictions", "excluded"),
    [([], False), ([(7, r"c_i \ge 99")], True), ([(7, "x = 0")], False), ([(7, "x = 0"), (8, r"c_i \approx 0")], True)],
)
def test_what_a_condition_excludes_is_said_and_nothing_else(restrictions: list[tuple[int, str]], excluded: bool) -> None:
    """Of a false statement; a true one has no counterexample that could be excluded."""
    notation = Notation(DECLARED, restrictions=restrictions)
    false, true = r"\sum_{i=1}^n c_i = \sum_{i=1}^n c_i^2 + 1", r"c_i + c_i = 2 c_i"
    said = _excluded(read(false, notation), false, notation, 9)
    assert bool(said) is excluded
    assert not excluded or f"the condition “{restrictions[-1][1]}” in line {restrictions[-1][0]}" in said
    assert _excluded(read(true, notation), true, notation, 9) == ""
