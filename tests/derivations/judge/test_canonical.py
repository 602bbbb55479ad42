"""The canonical form of a statement, and the exact points with the values of its sides."""

from fractions import Fraction
from itertools import groupby, islice
from typing import Any

import pytest
import sympy as sp

from derivations.calculus.points import SMALL, points
from derivations.calculus.sums import total
from derivations.calculus.variables import index, positive, scalar, simplex, size, vector
from derivations.judge.canonical import _general, canonical, values_at
from derivations.records import rendering
from derivations.records.base import decoded, encoded, exact, from_exact, from_json
from derivations.records.normal_form import Declared, Form, Premise, Sample, Sign
from derivations.register.catalogue import entries
from derivations.register.claiming import Undecidable
from derivations.register.entry import Entry
from derivations.register.examining import examine
from derivations.relations import AtLeast, Equation, Expansion, Fails, Follows, ForAll, Limit, Relation, UniqueMinimum

m = size("m")
x, p = vector("x", m), simplex("p", m)
C, T, J, L = scalar("c"), positive("t"), index("j", m), index("l", m)


def test_a_point_can_be_read_back() -> None:
    relation = entries()["deciphering.s4.minimizer"].printed()
    assert relation is not None
    for sample in canonical(relation).values:
        assert values_at(relation, [sample.at]) == [sample]
        assert sample.at
        assert from_json(decoded(encoded(sample)), Sample) == sample


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (2, 2),
        (sp.Rational(-7, 2), "-7/2"),
        (Fraction(6, 3), 2),
        ([sp.Rational(1, 4), 3], ("1/4", 3)),
        ([[0], [1]], ((0,), (1,))),
    ],
)
def test_exact_values_are_written_and_read(value: Any, written: Any) -> None:
    assert exact(value) == written
    assert from_exact(written) == value


@pytest.mark.parametrize("text", ["0.5", "1/0x", "oo", "", "2"])
def test_invalid_fractions_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^value: expected an integer or a fraction"):
        from_exact(text)


def test_a_point_with_a_missing_variable_gives_no_value() -> None:
    relation = Equation(scalar("a"), scalar("b"))
    assert values_at(relation, [{"a": 1}]) is None
    assert values_at(relation, [{"a": 1, "b": 2}]) == [
        Sample({"a": 1, "b": 2}, "1.00000000000000000000000000000", "2.00000000000000000000000000000")
    ]


def test_samples_are_in_general_position() -> None:
    a, b = scalar("a"), scalar("b")
    values = canonical(Equation(a * b, 1 / (a - b))).values
    assert len({str(sample.at) for sample in values}) == 3
    assert all(sample.left != "0" for sample in values)
    assert all(sample.at["m"] != 1 for sample in canonical(AtLeast(p[1], x[1])).values)


def test_samples_have_equal_indices_first_and_different_ones_then() -> None:
    at = [(point[J], point[L], point[m]) for point in islice(_general([J, L, m]), 6)]
    assert [(one, other) for one, other, _ in at[:2] + at[3:5]] == 2 * [(1, 1), (1, 2)]
    assert all((one, other) == (last, last - 1) for one, other, last in (at[2], at[5]))  # type: ignore[operator]


def test_samples_with_nonzero_values_are_preferred() -> None:
    """They come after the corner points, which are a quarter of the sample, and at most a few values are zero."""
    a = scalar("a")
    drawn = [point[a] for point, _ in groupby(points([a], seed=1, rounds=SMALL))]
    later = drawn[len(drawn) // 4 :]

    def at(left: sp.Expr) -> list[Any]:
        return [(sample.at["a"], sample.left == "0") for sample in canonical(Equation(left, 1)).values]

    assert at(a**2 + 1) == [(exact(value), False) for value in later[:3]]
    assert at(sp.prod(a - value for value in later[:5]))[0] == (exact(later[5]), False)
    assert at(sp.prod(a - value for value in later[:6])) == [(exact(value), True) for value in later[:3]]


FAIR, TOLD = Form(Sign.EQUAL), Form(Sign.AT_LEAST)
FORMS: dict[str, tuple[Relation, Form, str, str]] = {
    "a disproof": (Fails(Equation(x[1], 1)), FAIR, "x[1]", "1"),
    "at least": (AtLeast(x[1], 1), TOLD, "x[1]", "1"),
    "more than": (AtLeast(x[1], 1, strict=True), Form(Sign.GREATER), "x[1]", "1"),
    "a limit": (Limit(1 / T + x[1], T, sp.oo, x[1]), Form(Sign.LIMIT, ("t", "oo")), "x[1] + 1/t", "x[1]"),
    "an expansion": (
        Expansion(sp.exp(T * C), 1 + T * C + T**2 * C**2 / 2, T, 2),
        Form(Sign.EXPANSION, ("t", "2")),
        "c**2*t**2/2 + c*t + 1",
        "c**2*t**2/2 + c*t + 1",
    ),
    "an implication": (
        Follows((AtLeast(C, 1),), AtLeast(2 * C, 2), (sp.Integer(2),)),
        Form(Sign.AT_LEAST, given=(Premise("c", TOLD, "1"),)),
        "2*c",
        "2",
    ),
    "for all": (ForAll(AtLeast(x[J], 0), (J,)), Form(Sign.AT_LEAST, ("j",)), "x[j]", "0"),
    "a minimum": (
        UniqueMinimum(lambda q: total(L, q(L) ** 2), lambda key: p[key], m, sp.S.One),
        Form(Sign.MINIMIZER),
        "Σ_l1(q[l1]**2)",
        "p[j]",
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_the_compared_parts_of_each_kind(name: str) -> None:
    relation, form, left, right = FORMS[name]
    actual = canonical(relation)
    assert (actual.form, actual.left, actual.right) == (form, left, right)


def test_infinite_and_undefined_values_at_a_point() -> None:
    a = scalar("a")
    infinite, undefined = Equation(sp.oo, 1 / a), Equation(sp.log(a), 1)
    assert values_at(infinite, [{"a": 0}, {"a": 4}]) == [
        Sample({"a": 0}, "oo", None),
        Sample({"a": 4}, "oo", "0.250000000000000000000000000000"),
    ]
    assert [sample.left for sample in values_at(undefined, [{"a": -1}, {"a": 1}]) or ()] == [None, "0"]


def test_the_domain_of_every_variable_is_stored() -> None:
    other = index("k", m, other_than=(index("j", m),))
    variables = canonical(Equation(x[other] + 1, 1 + x[other], about=(scalar("level"),))).variables
    assert variables == {
        "m": Declared("size"),
        "x": Declared("real", ("m",)),
        "j": Declared("index", ("m",)),
        "k": Declared("index", ("m",), other_than=("j",)),
        "level": Declared("real"),
    }
    assert {name: rendering.domain(domain) for name, domain in variables.items()} == {
        "m": "≥ 1",
        "x": "real [m]",
        "j": "in 1…m",
        "k": "in 1…m, other than j",
        "level": "real",
    }


def test_statements_without_truth_value_are_not_compared() -> None:
    kind = entries()["deciphering.s0.justification"].kind
    silent = Entry("eot.0", kind, "t", "x", (), (), None, "S.", Undecidable("why").reason)
    assert examine(silent).evidence.canonical is None
