"""The canonical form of a statement, and the exact places where its sides have their values."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
import sympy as sp

from derivations import rendering
from derivations.calculus.variables import Kind, index, scalar, simplex, size, vector
from derivations.canonical import canonical, values_at
from derivations.catalogue import Undecidable, entries, examine
from derivations.entry import Entry
from derivations.normal_form import Domain, Sample
from derivations.records import decoded, encoded, exact, from_exact, from_json
from derivations.relations import AtLeast, Equation

m = size("m")
x, p = vector("x", m), simplex("p", m)


def test_a_place_can_be_read_back() -> None:
    relation = entries()["deciphering.s4.minimizer"].printed()
    assert relation is not None
    for sample in canonical(relation).values:
        assert values_at(relation, [sample.at]) == [sample]
        assert sample.at
        assert from_json(decoded(encoded(sample)), Sample) == sample


@pytest.mark.parametrize(("value", "written"), [
    (2, 2), (sp.Rational(-7, 2), "-7/2"), (Fraction(6, 3), 2), ([sp.Rational(1, 4), 3], ("1/4", 3)), ([[0], [1]], ((0,), (1,))),
])
def test_exact_values_are_written_and_read(value: Any, written: Any) -> None:
    assert exact(value) == written
    assert from_exact(written) == value


@pytest.mark.parametrize("text", ["0.5", "1/0x", "oo", "", "2"])
def test_what_is_no_fraction_is_not_read(text: str) -> None:
    with pytest.raises(ValueError, match=r"^value: expected an integer or a fraction"):
        from_exact(text)


def test_a_place_without_a_variable_gives_no_value() -> None:
    relation = Equation(scalar("a"), scalar("b"))
    assert values_at(relation, [{"a": 1}]) is None
    assert values_at(relation, [{"a": 1, "b": 2}]) == [Sample({"a": 1, "b": 2}, "1.00000000000000000000000000000",
                                                              "2.00000000000000000000000000000")]


def test_samples_are_in_general_position() -> None:
    a, b = scalar("a"), scalar("b")
    values = canonical(Equation(a * b, 1 / (a - b))).values
    assert len({str(sample.at) for sample in values}) == 3
    assert all(sample.left != "0" for sample in values)
    assert all(sample.at["m"] != 1 for sample in canonical(AtLeast(p[1], x[1])).values)


def test_the_domain_of_everything_that_the_statement_speaks_of_is_kept() -> None:
    other = index("k", m, other_than=(index("j", m),))
    found = canonical(Equation(x[other] + 1, 1 + x[other], about=(scalar("level"),))).variables
    assert found == {"m": Domain(Kind.SIZE), "x": Domain(Kind.REAL, ("m",)), "j": Domain(Kind.INDEX, ("m",)),
                     "k": Domain(Kind.INDEX, ("m",), other_than=("j",)), "level": Domain(Kind.REAL)}
    assert {name: rendering.domain(domain) for name, domain in found.items()} == {
        "m": "≥ 1", "x": "real [m]", "j": "in 1…m", "k": "in 1…m, other than j", "level": "real"}


def test_nothing_is_compared_of_what_has_no_truth_value() -> None:
    kind = entries()["deciphering.s0.justification"].kind
    silent = Entry("eot.0", kind, "t", "x", (), (), None, "S.", Undecidable("why").reason)
    assert examine(silent).evidence.canonical is None
