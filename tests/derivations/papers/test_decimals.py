"""Printed decimals are rounded: what that explains refutes nothing, and more than that does."""

import pytest

from derivations.papers.decimals import _neighbours, is_rounding
from derivations.papers.repairs import failing
from derivations.reader.meaning.notation import Notation
from derivations.reader.meaning.statements import read

NOTATION = Notation({"x": "real", "n": "size"})


@pytest.mark.parametrize(
    ("latex", "explained"),
    [
        (r"\log 2 = 0.6931", True),
        (r"\log 2 = 0.693", True),
        (r"\log 2 = 0.7031", False),
        (r"\log 2 = 0.6932", False),
        (r"\log(1 + e + e^2) = \log(1 + 2.718 + 7.389)", True),
        (r"\log(1 + e + e^2) = \log(1 + 2.718 + 7.289)", False),
        (r"e^{-2.0} = 0.135", True),
        (r"\log 2 = 0.7 = 0.693", True),
        (r"\frac{1}{3} = \frac{1}{2}", False),
        (r"x^2 = 0.5 x", False),
        (r"\log 2 \le 0.693", False),
    ],
)
def test_what_rounding_explains(latex: str, explained: bool) -> None:
    relations = read(latex, NOTATION)
    false = failing(relations)
    assert false is not None
    example = false.counterexample()
    assert example is not None
    assert is_rounding(latex, NOTATION, relations, false, example.point) is explained


def test_a_decimal_stands_for_what_rounds_to_it() -> None:
    assert list(_neighbours("0.5 x = 1.25")) == [("{0.45} x = 1.25", "{0.55} x = 1.25"), ("0.5 x = {1.245}", "0.5 x = {1.255}")]
