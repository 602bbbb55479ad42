"""The sides of a witness stand in the order of the print, or with the expressions that they are values of."""

from types import MappingProxyType

import pytest

from derivations.calculus.variables import scalar
from derivations.prints.witnesses import in_order
from derivations.reader.meaning.notation import Notation
from derivations.records.claims import Witness
from derivations.records.rendering import witness as words
from derivations.register.catalogue import entries
from derivations.register.examining import examine
from derivations.relations import AtLeast, Equation, Fails

x, y = scalar("x"), scalar("y")
NOTATION = Notation(MappingProxyType({"x": "real", "y": "real"}), {})
FOUND = Witness({"x": 1, "y": 2}, "1", "<", "2")
STRICT = Witness({"x": 1, "y": 1}, "1", "≤", "1")


@pytest.mark.parametrize(
    ("latex", "expected"),
    [
        (r"y \le x", "2 > 1"),
        (r"y \leqslant x", "2 > 1"),
        (r"y < x", "2 > 1"),
        (r"0 \le y \le x", "2 > 1"),
        (r"x \ge y", "1 < 2"),
        (r"x \geq y \geq 0", "1 < 2"),
        (r"y - x \le 0", "y ≤ x: at x = 1, y = 2: 2 > 1"),
        (r"x \ge y \ \text{and}\ 0 \le 1", "x ≥ y: at x = 1, y = 2: 1 < 2"),
        (r"\text{words}", "x ≥ y: at x = 1, y = 2: 1 < 2"),
        (r"\broken{", "x ≥ y: at x = 1, y = 2: 1 < 2"),
    ],
)
def test_the_order_is_that_of_the_print(latex: str, expected: str) -> None:
    found = in_order(FOUND, Fails(AtLeast(x, y, at={x: 1, y: 2})), latex, NOTATION, frozenset({"x", "y"}), None)
    assert words(found).removeprefix("at x = 1, y = 2: ") == expected


def test_without_a_table_the_expressions_are_shown() -> None:
    found = in_order(FOUND, Fails(AtLeast(x, y, at={x: 1, y: 2})), r"y \le x", None, frozenset(), None)
    assert words(found) == "y ≤ x: at x = 1, y = 2: 2 > 1"
    strict = in_order(STRICT, Fails(AtLeast(x, y, strict=True, at={x: 1, y: 1})), "y < x", None, frozenset(), None)
    assert words(strict) == "y < x: at x = 1, y = 1: 1 ≥ 1"


def test_other_relations_have_no_order() -> None:
    unequal = Witness({"x": 1}, "1", "≠", "2")
    assert in_order(unequal, Fails(Equation(x, 2, at={x: 1})), "2 = x", NOTATION, frozenset(), None) == unequal


def test_a_claim_of_the_documents() -> None:
    """Var[A] ≤ Var[B] fails, since the left side is larger."""
    witness = examine(entries()["eot.s0.variance-reduced"]).evidence.witness
    assert witness is not None
    assert (witness.sign, float(witness.left) > float(witness.right)) == (">", True)
