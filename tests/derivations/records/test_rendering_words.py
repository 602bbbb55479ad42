"""What the renderer says of each record, word by word."""

from typing import Any

import pytest

from derivations.ledger import messages
from derivations.ledger.differences import Aspect, Change, Comparison, Difference
from derivations.ledger.incremental import Reason, ReasonKind
from derivations.records import rendering
from derivations.records.claims import (
    Cause,
    CauseKind,
    Correction,
    Evidence,
    Layer,
    Outcome,
    Severity,
    Statement,
    Survivor,
    Witness,
)
from derivations.records.normal_form import Canonical, Declared, Form, Premise, Sign

POSITIVE = Premise("x", Form(Sign.AT_LEAST), "0")
UNIVERSAL = Premise("x[i]", Form(Sign.GREATER, ("i", "j")), "y[i]")
PRINT = {
    "about": "print",
    "outcome": "accepted",
    "assumptions": [],
    "theorem": "t",
    "where": "f.v:1",
    "seconds": 1.234,
    "detail": "",
}


@pytest.mark.parametrize(("digits", "text"), [("1.5", "1.5"), ("-1.5", "−1.5"), ("oo", "∞"), ("-oo", "−∞")])
def test_numbers(digits: str, text: str) -> None:
    assert rendering.number(digits) == text


@pytest.mark.parametrize(
    ("of", "text"),
    [
        (Declared("real"), "real"),
        (Declared("real", ("m", "d")), "real [m×d]"),
        (Declared("index", ("m",)), "in 1…m"),
        (Declared("index", ("m",), other_than=("j", "k")), "in 1…m, other than j, k"),
        (Declared("coupling", ("n", "m"), ("a", "b")), "≥ 0 with the given marginals [n×m; a, b]"),
        (Declared("size"), "≥ 1"),
    ],
)
def test_domains(of: Declared, text: str) -> None:
    assert rendering.domain(of) == text


@pytest.mark.parametrize(
    ("of", "text"),
    [
        (Form(Sign.EQUAL), "="),
        (Form(Sign.LIMIT, ("t", "oo")), "→ as t → oo"),
        (Form(Sign.EXPANSION, ("t", "2")), "= up to o(t^2)"),
        (Form(Sign.GREATER_UNLESS_EQUAL, ("p", "q")), "> unless p = q"),
        (Form(Sign.AT_LEAST, (), (POSITIVE, UNIVERSAL)), "≥, given x ≥ 0 and x[i] > y[i] for all i, j"),
        (Form(Sign.EQUAL, (), (Premise("p", Form(Sign.EQUAL), "q"),)), "=, given p = q"),
    ],
)
def test_forms_with_their_premises(of: Form, text: str) -> None:
    assert rendering.form(of) == text
    sign, _, given = text.partition(",")
    assert rendering.statement(Canonical(of, "a", "b", {}, ())) == f"a {sign} b" + f",{given}" * bool(given)


@pytest.mark.parametrize(("lines", "text"), [(("17",), "line 17"), (("17–19",), "lines 17–19"), (("17", "40"), "lines 17, 40")])
def test_lines_of_a_source(lines: tuple[str, ...], text: str) -> None:
    assert rendering.source(lines) == text


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, "kernel    accepted     t at f.v:1, resting on no axiom  (1.23 s)"),
        (
            {"assumptions": ["a", "b"], "about": "by hand"},
            "kernel    accepted     t, by hand at f.v:1, resting on a, b  (1.23 s)",
        ),
        ({"about": "correction"}, "kernel    accepted     t, of the correction at f.v:1, resting on no axiom  (1.23 s)"),
        ({"outcome": "refused", "detail": f"no\n  goal {'x' * 152}"}, f"kernel    refused      no goal {'x' * 152}"),
        (
            {"outcome": "refused", "detail": f"no goal {'x' * 153}", "about": "correction"},
            f"kernel    refused      no goal {'x' * 152}, of the correction",
        ),
    ],
)
def test_seals(changes: dict[str, Any], text: str) -> None:
    """The first 160 characters of what a kernel says that refuses."""
    assert rendering.seal({**PRINT, **changes}) == text


def changed(count: int) -> dict[str, Reason]:
    return {f"a.{n}": Reason(ReasonKind.CHANGED, f"module{n}") for n in range(count)}


@pytest.mark.parametrize(
    ("reasons", "text"),
    [
        ({}, ""),
        (
            {"a.1": Reason(ReasonKind.NEW), "a.2": Reason(ReasonKind.NEED, "a.1"), "a.3": Reason(ReasonKind.NEW)},
            "no row in the last ledger",
        ),
        (changed(3), "module0 changed, module1 changed, module2 changed"),
        (changed(5), "module0 changed, module1 changed, module2 changed and 2 more"),
    ],
)
def test_why_claims_run_again(reasons: dict[str, Reason], text: str) -> None:
    assert messages.because(reasons) == text


def test_a_comparison_begins_with_the_worst() -> None:
    different = (
        Difference("a.1", Change.TEXT, Aspect.TEXT, "one", "two\nlines", "title"),
        Difference("a.1", Change.VERDICT, Aspect.VERDICT, "proved", "open"),
        Difference("a.2", Change.TEXT, Aspect.STEPS, "1", "", "print"),
        Difference("a.3", Change.TEXT, Aspect.SIDE_VALUE, "1", "2", "left", "m = 1", repair=True),
    )
    assert (
        messages.comparison(Comparison(different, 5, 2))
        == """\
verdict changed: 1 claim
  a.1
    verdict
      before proved
      after  open
    title  (text only)
      before one
      after  two
             lines
text only: 2 claims
  a.2
    steps of the print
      before 1
  a.3
    the correction's left side at m = 1
      before 1
      after  2
5 claims compared, 2 as before; 2 of the baseline's claims were not in this run"""
    )


def evidence(layer: Layer, outcome: Outcome, **more: Any) -> Evidence:
    return Evidence("a.1", layer, outcome, "all m", **more)


HOLDS, FAILED = evidence(Layer.SYMBOLIC, Outcome.HOLDS), evidence(Layer.TORCH, Outcome.ERROR, detail="no such file")
WITNESS = Witness({"m": 2, "s": (1, 3)}, "1", "≠", "2", "the mass")
AT = "the mass: at m = 2, s = (1, 3): 1 ≠ 2"


@pytest.mark.parametrize(
    ("of", "text"),
    [
        (Cause(CauseKind.CONTRADICTION, (HOLDS, FAILED)), "the layers contradict each other: symbolic: holds, torch: error"),
        (Cause(CauseKind.FAILURE, (FAILED, FAILED)), "torch failed: no such file; torch failed: no such file"),
        (Cause(CauseKind.FEW_TWINS, twins=1), "twins: expected at least 2, got 1"),
        (Cause(CauseKind.DISAGREEMENT, (HOLDS, FAILED)), "measured, in disagreement: all m; no such file"),
        (Cause(CauseKind.WITNESS, witness=WITNESS), AT),
        (Cause(CauseKind.WITNESS, witness=Witness({}, "1", "≠", "2")), "1 ≠ 2"),
        (Cause(CauseKind.MISSING_HYPOTHESIS, hypothesis="x > 0", witness=WITNESS), f"x > 0; without it: {AT}"),
        (Cause(CauseKind.FAULTS, (evidence(Layer.SYMBOLIC, Outcome.HOLDS, faults=("one", "two")),)), "symbolic: one; two"),
        (Cause(CauseKind.SILENCE, (FAILED, HOLDS)), "torch: error (no such file); symbolic: holds (all m)"),
        (Cause(CauseKind.SILENCE), "no layer spoke"),
        (
            Cause(CauseKind.SURVIVORS, survivors=(Survivor(Layer.TORCH, "a sign"), Survivor(Layer.TORCH, "a sign", "a.2"))),
            "twins alive: torch: a sign, a.2: torch: a sign",
        ),
        (Cause(CauseKind.UNCONFIRMED, (FAILED,)), "not proved: no such file; without twins nothing confirms it"),
        (Cause(CauseKind.MEASUREMENT, (HOLDS, FAILED)), "all m; no such file"),
        (Cause(CauseKind.SUPPORT, (HOLDS,), (FAILED,)), "symbolic: all m; not proved: no such file"),
        (Cause(CauseKind.NO_WITNESS, part="a.2"), "a.2: refuted numerically, but without an exact witness"),
    ],
)
def test_causes_of_verdicts(of: Cause, text: str) -> None:
    assert rendering.cause(of) == text


def test_powers_and_killers_of_twins() -> None:
    assert rendering.power({"alive": [], "mutants": 4, "power": 1}) == "power 100%: 4 of 4 one-edit mutants refuted"
    assert rendering.power({"alive": ["a", "b"], "mutants": 4, "power": 0.5}) == (
        "power 50%: 2 of 4 one-edit mutants refuted; not refuted: a, b"
    )
    assert [rendering.killers(each) for each in ((), ("torch", "primal"))] == ["refuted by nobody", "refuted by torch, primal"]
    assert rendering.survivor({"layer": "torch", "twin": "a sign", "part": "a.2"}) == "a.2: torch: a sign"


def test_what_is_missing_is_said() -> None:
    assert [rendering.recorded(each) for each in (None, "1.5")] == ["not finite", "1.5"]
    assert [rendering.justification(each) for each in ("", "by (5)")] == ["by normal form", "by (5)"]
    assert [rendering.mark(each) for each in (True, False)] == ["✓", "✗"]
    assert [rendering.verdict("corrected", each) for each in (None, "slip")] == ["corrected", "corrected (slip)"]
    assert [rendering.hypothesis(Correction(Statement("x", "x"), Severity.SLIP, each)) for each in (None, "x > 0")] == [
        "",
        " (under: x > 0)",
    ]
