"""The canonical form of a statement, and the exact places where its sides have their values."""

from __future__ import annotations

import sympy as sp

from derivations.calculus.variables import index, positive, scalar, simplex, size, vector
from derivations.canonical import canonical, read_place, values_at, write_place
from derivations.catalogue import Entry, Undecidable, entries, examine
from derivations.claims import Sample
from derivations.relations import AtLeast, Equation

m = size("m")
x, p = vector("x", m), simplex("p", m)


def test_a_place_can_be_read_back() -> None:
    relation = entries()["deciphering.s4.minimizer"].printed()
    assert relation is not None
    for sample in canonical(relation).values:
        assert values_at(relation, [sample.at]) == [sample]
        names = read_place(sample.at)
        assert names
    one = {m: 2, x.label: [sp.Rational(1, 4), 3], positive("y"): sp.Rational(-7, 2)}
    assert read_place(write_place(one, list(one))) == {"m": 2, "x": [sp.Rational(1, 4), 3], "y": sp.Rational(-7, 2)}
    assert read_place("") == {}


def test_a_place_without_a_variable_gives_no_value() -> None:
    relation = Equation(scalar("a"), scalar("b"))
    assert values_at(relation, ["a = 1"]) is None
    assert values_at(relation, ["a = 1, b = 2"]) == [Sample("a = 1, b = 2", "1.00000000000000000000000000000",
                                                            "2.00000000000000000000000000000")]


def test_samples_are_in_general_position() -> None:
    a, b = scalar("a"), scalar("b")
    values = canonical(Equation(a * b, 1 / (a - b))).values
    assert len({sample.at for sample in values}) == 3
    assert all(sample.left != "0" for sample in values)
    assert all("m = 1," not in sample.at for sample in canonical(AtLeast(p[1], x[1])).values)


def test_the_domain_of_everything_that_the_statement_speaks_of_is_kept() -> None:
    other = index("k", m, other_than=(index("j", m),))
    found = canonical(Equation(x[other] + 1, 1 + x[other], about=(scalar("level"),))).variables
    assert found == {"m": "≥ 1", "x": "real [m]", "j": "in 1…m", "k": "in 1…m, other than j", "level": "real"}


def test_nothing_is_compared_of_what_has_no_truth_value() -> None:
    kind = entries()["deciphering.s0.justification"].kind
    silent = Entry("eot.0", kind, "t", "x", (), (), None, "S.", Undecidable("why").reason)
    assert examine(silent).evidence.canonical is None
