"""Every fact that differs from the baseline is reported with its class and its former value."""

from typing import Any

import pytest
from msgspec.structs import replace as updated

from derivations.ledger.baseline import Kept, Texts
from derivations.ledger.differences import Aspect, Change, Comparison, Difference
from derivations.ledger.regression import _differences, agree, contains
from derivations.records.base import to_json
from derivations.records.claims import Kind as ClaimKind
from derivations.records.claims import Layer, Outcome, Statement, Verdict
from derivations.records.normal_form import Canonical, Declared, Form, Sample, Sign
from derivations.records.prints import Standing

TEXTS = Texts("t", ClaimKind.IDENTITY, "x", "X.", ("h",), ("eot.1",), None, None, "")
FORM = Canonical(
    Form(Sign.EQUAL),
    "l",
    "r",
    {"m": Declared("size"), "x": Declared("real", ("m",))},
    (Sample({"m": 2, "x": (1, 2)}, "1.0", "2.0"), Sample({"m": 3, "x": (1, 2, 3)}, "3.0", None)),
)
KEPT = Kept(
    Verdict.PROVED,
    None,
    {Layer.SYMBOLIC: Outcome.HOLDS},
    {},
    {},
    {"a": (Layer.SYMBOLIC,)},
    True,
    (),
    (),
    TEXTS,
    (("s1", "r1"), ("s2", "r2")),
    (),
    (),
    FORM,
    None,
)


def facts(before: Kept, after: Kept, values: list[Sample] | None = None) -> list[tuple[Any, ...]]:
    """The differences: class, aspect, before, after, subject."""
    row = {"id": "eot.0", "canonical": to_json(after.canonical), "canonical_repair": to_json(after.canonical_repair)}
    return [
        (each.change, each.aspect, each.before, each.after, each.subject)
        for each in _differences(row, before, after, lambda id, field, all_places: values)
    ]


def strengths(**fields: tuple[Any, Any]) -> list[tuple[Any, ...]]:
    """The differences between two entries with some changed fields."""
    one, other = ({name: pair[n] for name, pair in fields.items()} for n in (0, 1))
    return facts(updated(KEPT, **one), updated(KEPT, **other))


AGREES, APART = Standing.AGREES, Standing.APART
SYMBOLIC, TORCH, HOLDS = Layer.SYMBOLIC, Layer.TORCH, Outcome.HOLDS
LOST, GAINED, MOVED, WORDS = Change.SCOPE, Change.REWRITE, Change.VALUE, Change.TEXT


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, []),
        ({"verdict": (Verdict.PROVED, Verdict.OPEN)}, [(Change.VERDICT, Aspect.VERDICT, "proved", "open", "")]),
        ({"general": (True, False)}, [(LOST, Aspect.SIZES, "symbolic", "fixed", "")]),
        ({"general": (False, True)}, [(GAINED, Aspect.SIZES, "fixed", "symbolic", "")]),
        ({"layers": ({}, {TORCH: HOLDS})}, [(GAINED, Aspect.LAYER, "does not vote", "holds", "torch")]),
        ({"layers": ({}, {TORCH: Outcome.VACUOUS})}, [(LOST, Aspect.LAYER, "does not vote", "vacuous", "torch")]),
        ({"layers": ({TORCH: HOLDS}, {})}, [(LOST, Aspect.LAYER, "holds", "does not vote", "torch")]),
        ({"layers": ({TORCH: HOLDS}, {TORCH: Outcome.REFUTED})}, [(LOST, Aspect.LAYER, "holds", "refuted", "torch")]),
        ({"errors": ({TORCH: 0.01}, {TORCH: 0.11})}, [(LOST, Aspect.ERROR, "0.01", "0.11", "torch")]),
        ({"errors": ({TORCH: 0.025}, {TORCH: 0.25})}, []),
        ({"errors": ({TORCH: 0.001}, {TORCH: 0.1})}, []),
        ({"errors": ({}, {TORCH: 0.9})}, []),
        ({"errors": ({TORCH: 0.0}, {TORCH: 0.9})}, [(LOST, Aspect.ERROR, "0.0", "0.9", "torch")]),
        (
            {"layers": ({TORCH: HOLDS},) * 2, "powers": ({TORCH: 0.8}, {TORCH: 0.7999})},
            [(LOST, Aspect.POWER, "80.0%", "80.0%", "torch")],
        ),
        ({"layers": ({TORCH: HOLDS},) * 2, "powers": ({TORCH: 0.9}, {})}, [(LOST, Aspect.POWER, "90.0%", "0.0%", "torch")]),
        ({"powers": ({TORCH: 0.9}, {TORCH: 0.8})}, []),
        ({"powers": ({TORCH: 0.9}, {TORCH: 0.1})}, []),
        ({"given": (("p",), ("p", "q"))}, [(LOST, Aspect.HYPOTHESIS, "none", "there", "q")]),
        ({"given": (("p", "q"), ("q",))}, [(GAINED, Aspect.HYPOTHESIS, "there", "gone", "p")]),
        ({"disproved_given": (("p",), ())}, [(LOST, Aspect.DISPROVED_HYPOTHESIS, "there", "gone", "p")]),
        ({"twins": ({"a": (SYMBOLIC,)}, {})}, [(LOST, Aspect.TWIN, "there", "gone", "a")]),
        ({"twins": ({}, {"a": ()})}, [(GAINED, Aspect.TWIN, "none", "there", "a")]),
        ({"twins": ({"a": (SYMBOLIC,)}, {"a": ()})}, [(LOST, Aspect.KILLERS, "symbolic", "nobody", "a")]),
        ({"twins": ({"a": ()}, {"a": (SYMBOLIC, TORCH)})}, [(GAINED, Aspect.KILLERS, "nobody", "symbolic, torch", "a")]),
        ({"twins": ({"a": (SYMBOLIC, TORCH)}, {"a": (TORCH, SYMBOLIC)})}, []),
        (
            {"derivation": ((("s1", "r1"), ("s2", "r2")), (("s1", "r1"), ("s2", "why")))},
            [(WORDS, Aspect.REASONS, "2. s2  — r2", "2. s2  — why", "derivation")],
        ),
        (
            {"derivation": ((("s1", "r1"), ("s2", "")), (("s2", ""),))},
            [(GAINED, Aspect.STEPS, "1. s1  — r1", "none of these steps", "derivation")],
        ),
        ({"repair": ((), (("s1", ""), ("s2", "")))}, [(GAINED, Aspect.STEPS, "none of these steps", "1. s1\n2. s2", "repair")]),
        (
            {"text": (TEXTS, updated(TEXTS, title="T", under="more"))},
            [(WORDS, Aspect.TEXT, "t", "T", "title"), (WORDS, Aspect.TEXT, "none", "more", "under")],
        ),
        ({"text": (TEXTS, updated(TEXTS, hypotheses=("h", "i")))}, [(LOST, Aspect.TEXT, "h", "h; i", "hypotheses")]),
        ({"text": (TEXTS, updated(TEXTS, hypotheses=()))}, [(GAINED, Aspect.TEXT, "h", "none", "hypotheses")]),
        (
            {"text": (TEXTS, updated(TEXTS, hypotheses=("i",), rests_on=()))},
            [(WORDS, Aspect.TEXT, "h", "i", "hypotheses"), (WORDS, Aspect.TEXT, "eot.1", "none", "rests on")],
        ),
        (
            {"text": (TEXTS, updated(TEXTS, correction=Statement("y", "Y.")))},
            [(LOST, Aspect.UNCOMPARED, "none", "y: Y.", "correction")],
        ),
        (
            {"text": (TEXTS, updated(TEXTS, correction=Statement("y", "Y."))), "print_repair": (AGREES, AGREES)},
            [(WORDS, Aspect.TEXT, "none", "y: Y.", "correction")],
        ),
        ({"text": (TEXTS, updated(TEXTS, latex="y"))}, [(LOST, Aspect.UNCOMPARED, "x", "y", "latex")]),
        ({"text": (TEXTS, updated(TEXTS, latex="y")), "print": (AGREES, AGREES)}, [(WORDS, Aspect.TEXT, "x", "y", "latex")]),
        ({"text": (TEXTS, updated(TEXTS, latex="y")), "print": (APART, APART)}, [(LOST, Aspect.UNCOMPARED, "x", "y", "latex")]),
        (
            {"text": (TEXTS, updated(TEXTS, latex="y")), "print": (AGREES, None)},
            [(LOST, Aspect.PRINT, "agrees", "not compared", "print"), (LOST, Aspect.UNCOMPARED, "x", "y", "latex")],
        ),
        ({"print": (AGREES, APART)}, [(LOST, Aspect.PRINT, "agrees", "not compared", "print")]),
        ({"print_repair": (AGREES, Standing.UNREAD)}, [(LOST, Aspect.PRINT, "agrees", "not read", "correction")]),
        ({"print": (None, AGREES)}, [(GAINED, Aspect.PRINT, "not compared", "agrees", "print")]),
        ({"print": (APART, Standing.UNREAD)}, []),
        ({"print": (APART, None)}, []),
        ({"canonical": (FORM, None)}, [(LOST, Aspect.STATEMENT, "l = r", "none", "")]),
        ({"canonical": (None, FORM)}, [(GAINED, Aspect.STATEMENT, "none", "l = r", "")]),
        ({"canonical": (None, None)}, []),
        ({"canonical": (FORM, updated(FORM, left="k"))}, [(GAINED, Aspect.SIDE, "l", "k", "left")]),
        (
            {"canonical": (updated(FORM, form=Form(Sign.AT_LEAST)), updated(FORM, form=Form(Sign.GREATER)))},
            [(GAINED, Aspect.RELATION, "≥", ">", "")],
        ),
        (
            {"canonical": (updated(FORM, form=Form(Sign.GREATER)), updated(FORM, form=Form(Sign.AT_LEAST)))},
            [(LOST, Aspect.RELATION, ">", "≥", "")],
        ),
    ],
)
def test_every_fact_has_its_class(fields: dict[str, tuple[Any, Any]], expected: list[tuple[Any, ...]]) -> None:
    assert strengths(**fields) == expected


ZEROS = updated(FORM, values=(Sample({"m": 2, "x": (0, 0)}, "0", "0"), Sample({"m": 1, "x": (0,)}, "0", "0")))
ELSEWHERE = (Sample({"m": 5, "x": (1,) * 5}, "1.0", "2.0"), Sample({"m": 3, "x": (1, 2, 3)}, "3.5", None))
FIRST = Sample({"m": 2, "x": (1, 2)}, "1.0", "2.0")


def test_a_different_value_is_a_changed_value() -> None:
    now = updated(FORM, left="k", right="q", values=(updated(FIRST, left="1.5"), FORM.values[1]))
    assert facts(KEPT, updated(KEPT, canonical=now)) == [
        (MOVED, Aspect.SIDE_VALUE, "1.0", "1.5", "left"),
        (MOVED, Aspect.SIDE, "l", "k", "left"),
        (GAINED, Aspect.SIDE, "r", "q", "right"),
    ]


def test_values_are_computed_again_at_the_recorded_points() -> None:
    now = updated(KEPT, canonical=updated(FORM, values=ELSEWHERE))
    assert facts(KEPT, now, list(FORM.values)) == []
    assert facts(KEPT, now) == [(MOVED, Aspect.SIDE_VALUE, "3.0", "3.5", "left")]
    assert facts(KEPT, updated(KEPT, canonical=updated(FORM, values=(updated(ELSEWHERE[0], right="7"),)))) == [
        (MOVED, Aspect.SIDE_VALUE, "2.0", "7 at m = 5, x = (1, 1, 1, 1, 1)", "right"),
        (MOVED, Aspect.SIDE_VALUE, "3.0", "not finite at every point", "left"),
    ]


def test_zeros_tell_nothing() -> None:
    before, after = updated(KEPT, canonical=ZEROS), updated(KEPT, canonical=updated(ZEROS, right="q"))
    assert facts(before, after) == [(MOVED, Aspect.SIDE, "r", "q", "right")]
    steps = updated(after, derivation=(("s1", "r1"), ("s3", "r3")))
    assert (MOVED, Aspect.STEPS, "2. s2  — r2", "2. s3  — r3", "derivation") in facts(before, steps)
    assert facts(KEPT, updated(KEPT, derivation=(("s3", "r3"),)))[0][:2] == (GAINED, Aspect.STEPS)
    assert facts(before, updated(before, derivation=(("s3", "r3"), ("s2", "r2"))))[0][:2] == (GAINED, Aspect.STEPS)


def test_a_removed_variable_or_a_smaller_range() -> None:
    without = {name: domain for name, domain in FORM.variables.items() if name != "x"}
    free = {**FORM.variables, "y": Declared("real")}
    assert facts(KEPT, updated(KEPT, canonical=updated(FORM, variables=without))) == []  # the values already show it
    losses = facts(updated(KEPT, canonical=updated(FORM, variables=free)), KEPT)
    assert losses == [(LOST, Aspect.VARIABLE, "real", "not spoken of", "y")]
    narrow = {**FORM.variables, "x": Declared("positive", ("m",))}
    assert facts(KEPT, updated(KEPT, canonical=updated(FORM, variables=narrow))) == [
        (LOST, Aspect.DOMAIN, "real [m]", "> 0 [m]", "x")
    ]
    assert facts(updated(KEPT, canonical=updated(FORM, variables=narrow)), KEPT) == [
        (GAINED, Aspect.DOMAIN, "> 0 [m]", "real [m]", "x")
    ]
    assert facts(updated(KEPT, canonical=updated(ZEROS, variables=free)), updated(KEPT, canonical=ZEROS)) == losses


@pytest.mark.parametrize(
    ("wide", "narrow", "does"),
    [
        (Declared("real"), Declared("positive"), True),
        (Declared("positive"), Declared("real"), False),
        (Declared("real"), Declared("real"), True),
        (Declared("real", ("m",)), Declared("positive", ("n",)), False),
        (Declared("coupling", ("m",), ("u",)), Declared("coupling", ("m",), ("v",)), False),
        (Declared("index", ("m",)), Declared("index", ("m",), (), ("j",)), True),
        (Declared("index", ("m",), (), ("j",)), Declared("index", ("m",)), False),
        (Declared("size"), Declared("index"), False),
    ],
)
def test_one_domain_contains_another(wide: Declared, narrow: Declared, does: bool) -> None:
    assert contains(wide, narrow) is does


def test_a_correction_is_compared_as_the_print_is() -> None:
    repaired = updated(KEPT, canonical=None, canonical_repair=FORM)
    row = {"id": "eot.0", "canonical": None, "canonical_repair": to_json(updated(FORM, left="k"))}
    changed = updated(repaired, canonical_repair=updated(FORM, left="k"))
    differences = list(_differences(row, repaired, changed, lambda *_: None))
    assert [(each.aspect, each.repair, each.subject) for each in differences] == [(Aspect.SIDE, True, "left")]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("1.00000000000000000000000000000e-40", "1.00000000000000000000000000009e-40", True),
        ("1.00000000000000000000000000000e-40", "1.00000000000000000000000000011e-40", False),
        ("1.00000000000000000000000000000e+40", "1.00000000000000000000000000009e+40", True),
        ("1.0e-40", "1.1e-40", False),
        ("-1", "1", False),
        ("oo", "oo", True),
        ("oo", "1", False),
        (None, "1", False),
        (None, None, True),
        ("0", "1e-90", False),
    ],
)
def test_values_agree_in_proportion(one: str | None, other: str | None, same: bool) -> None:
    assert agree(one, other) is agree(other, one) is same


def test_totals_of_a_comparison() -> None:
    def differ(id: str, change: Change, aspect: Aspect = Aspect.TEXT) -> Difference:
        return Difference(id, change, aspect, "", "")

    differing = differ("a", WORDS), differ("b", LOST), differ("b", GAINED), differ("c", Change.MEMBERSHIP, Aspect.REMOVED)
    comparison = Comparison(differing, 4, 2)
    assert comparison.classes == {"a": WORDS, "b": LOST, "c": Change.MEMBERSHIP}
    assert (comparison.removed, comparison.unchanged, comparison.failed) == ({"c"}, 2, True)
    for change in Change:
        assert Comparison((differ("a", change),), 1, 0).failed is (change not in (WORDS, GAINED))
    assert not differ("a", WORDS).repair
