"""The text of one claim, line by line: what it states, how it is derived, and what each layer said."""

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from derivations.calculus.variables import scalar
from derivations.ledger.incremental import Reason, ReasonKind
from derivations.records.claims import Correction, Severity, Statement, Step, Witness
from derivations.records.prints import Check, Standing
from derivations.records.theorems import Theorem
from derivations.relations import Equation, Relation
from derivations.run import showing
from derivations.run.showing import _quotes, describe, quoted

THEOREM = Theorem("Weierstrass", "a maximum exists", "a book")
NEEDS = {
    "paper.1": ("paper.2", "paper.3"),
    "paper.2": ("paper.3", "paper.4"),
    "paper.3": ("paper.1",),
    "paper.4": (),
    "paper.5": (),
}
QUOTES = {
    "paper.1": ["squeeze"],
    "paper.2": [],
    "paper.3": ["squeeze", "Weierstrass"],
    "paper.4": ["Baillon–Haddad"],
    "paper.5": ["Rolle"],
}
BARE: dict[str, Any] = {"steps": (), "repair_steps": (), "faults": ()}
SAID: dict[str, Any] = {
    "print": None,
    "print_repair": None,
    "given": (),
    "detail": "no derivation",
    "witness": None,
    "refuted_twins": (),
}
CLAIM: dict[str, Any] = {
    "id": "paper.5",
    "title": "A claim",
    "kind": "identity",
    "statement": Statement("a = b", "They agree"),
    "hypotheses": (),
    "part_of": None,
    "needs": (),
    "correction": None,
    "twins": (),
}
ROW: dict[str, Any] = {
    "parts": [],
    "witness": None,
    "twins": [],
    "evidence": [],
    "worst_part": None,
    "verdict": "proved",
    "severity": None,
}
HEAD = """paper.5  A claim  [identity]

  stated     a = b
             They agree
  at         section1.py:3
  print      never compared with a relation
"""


@pytest.fixture(autouse=True)
def _register(monkeypatch: pytest.MonkeyPatch) -> None:
    register = {id: SimpleNamespace(id=id, needs=needs) for id, needs in NEEDS.items()}
    monkeypatch.setattr(showing, "entries", lambda: register)
    monkeypatch.setattr(showing, "_quotes", lambda entry: QUOTES.get(entry.id, []))
    monkeypatch.setattr(showing.printed, "provenance", lambda id: "")
    monkeypatch.setattr(showing.printed, "lines", lambda id: ())


def shown(
    monkeypatch: pytest.MonkeyPatch,
    row: dict[str, Any] | None = None,
    outdated: Reason | None = None,
    *,
    claim: dict[str, Any] | None = None,
    said: dict[str, Any] | None = None,
    found: dict[str, Any] | None = None,
) -> str:
    """The text of a claim that differs in these fields from one without a derivation."""
    examination = SimpleNamespace(**{**BARE, **(found or {})}, evidence=SimpleNamespace(**{**SAID, **(said or {})}))
    monkeypatch.setattr(showing, "examine", lambda entry: examination)
    about = SimpleNamespace(**{**CLAIM, **(claim or {})})
    entry: Any = SimpleNamespace(id="paper.0", needs=(), claim=about, where="section1.py:3")
    return describe(entry, None if row is None else {**ROW, **row}, outdated)


def test_a_claim_without_a_derivation(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(monkeypatch) == f"{HEAD}\n  no derivation\n\n  not verified yet: run `python -m derivations verify paper.5`"
    assert shown(monkeypatch, {}) == f"{HEAD}\n  no derivation\n\n  evidence\n\n  verdict    proved"


def test_where_a_claim_comes_from_and_what_it_rests_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(showing.printed, "provenance", lambda id: "paraphrased")
    monkeypatch.setattr(showing.printed, "lines", lambda id: ("17–19", "40"))
    monkeypatch.setattr(showing, "_quotes", lambda entry: ["Rolle"])
    check = Check(Standing.AGREES, reason="both sides", reading="a = b")
    lines = shown(
        monkeypatch,
        {"parts": ["paper.6", "paper.7"]},
        Reason(ReasonKind.CHANGED, "section1"),
        claim={"hypotheses": ("x > 0",), "part_of": "paper.4", "needs": ("paper.1", "paper.2")},
        said={"print": check, "given": ("y > 0",)},
    ).splitlines()
    assert lines[2:14] == [
        "  paraphrased a = b",
        "             They agree",
        "  at         section1.py:3",
        "  print      agrees (both sides)",
        "             read as a = b",
        "  source     lines 17–19, 40",
        "  given      x > 0",
        "  given      y > 0",
        "  part of    paper.4",
        "  parts      paper.6, paper.7",
        "  rests on   paper.1, paper.2",
        "  quoting    Rolle (directly)",
    ]
    assert lines[-1] == "  outdated   section1 changed: run `python -m derivations verify paper.5` again"


def test_each_step_has_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = (
        Step("a = c", "by (1)", True, given=("x > 0",), premises=("c > 0",), quotes=(THEOREM,)),
        Step("c = b", "", False, detail="at x = 1: 1 ≠ 2"),
    )
    text = shown(monkeypatch, found={"steps": steps, "faults": ("a step fails", "a twin lives")})
    assert (
        text.partition("\n\n  not verified")[0].removeprefix(HEAD)
        == """
  derivation
    ✓ a = c
        — by (1)
        given x > 0
        uses c > 0
        quotes Weierstrass: a maximum exists (a book)
    ✗ c = b
        — by normal form  (at x = 1: 1 ≠ 2)

  fault      a step fails
  fault      a twin lives"""
    )


@pytest.mark.parametrize(("under", "replaces"), [(None, None), ("x > 0", "the letter a")])
def test_a_correction_and_what_it_stands_for(under: str | None, replaces: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    correction = Correction(Statement("a = 2b", "Twice."), Severity.SLIP, under, replaces)
    check = Check(Standing.AGREES, reason="both sides", reading="")
    text = shown(
        monkeypatch,
        claim={"correction": correction},
        said={"print_repair": check},
        found={"repair_steps": (Step("a = 2*b", "by (2)", True),)},
    )
    assert text.partition("\n\n  not verified")[0].removeprefix(HEAD) == "\n  no derivation\n\n" + "\n".join(
        [
            "  correct    a = 2b" + (" (under: x > 0)" if under else ""),
            "             Twice.",
            *(["             for the letter a"] if replaces else []),
            "  print      agrees (both sides)",
            "    ✓ a = 2*b",
            "        — by (2)",
        ]
    )


def test_the_witness_is_that_of_this_run_or_the_recorded_one(monkeypatch: pytest.MonkeyPatch) -> None:
    recorded, own = {"witness": {"text": "1 ≠ 2"}}, {"witness": Witness({"x": 3}, "3", "≠", "4")}
    assert "\n\n  witness    1 ≠ 2\n\n" in shown(monkeypatch, recorded)
    assert "\n\n  witness    at x = 3: 3 ≠ 4\n\n" in shown(monkeypatch, recorded, said=own)
    assert "witness" not in shown(monkeypatch, {})


def test_twins_and_who_refutes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"twins": [{"name": "a sign", "refuted_by": ["torch", "primal"]}, {"name": "an index", "refuted_by": []}]}
    options: dict[str, Any] = {
        "claim": {"twins": ("a sign", "an index", "a factor")},
        "said": {"refuted_twins": ("an index", "a factor")},
    }
    assert shown(monkeypatch, row, **options).partition("twins\n")[2].partition("\n\n")[0].splitlines() == [
        "    a factor: refuted by symbolic",
        "    a sign: refuted by torch, primal",
        "    an index: refuted by symbolic",
    ]
    assert shown(monkeypatch, **options).partition("twins\n")[2].partition("\n\n")[0].splitlines() == [
        "    a factor: refuted by symbolic",
        "    an index: refuted by symbolic",
    ]


def test_the_evidence_of_each_layer(monkeypatch: pytest.MonkeyPatch) -> None:
    symbolic = {
        "layer": "symbolic",
        "outcome": "holds",
        "scope": "all m",
        "seconds": 0.5,
        "environment": "cpu",
        "detail": "hidden",
        "where": "hidden",
    }
    torch = symbolic | {
        "layer": "torch",
        "scope": "drawn",
        "detail": "fine",
        "where": "votes.py:3",
        "power": 0.0,
        "mutants": 1,
        "alive": ["a sign"],
    }
    seal = {"about": "print", "outcome": "accepted", "assumptions": [], "theorem": "t", "where": "f.v:1", "seconds": 1.0}
    row = {
        "evidence": [symbolic, torch, torch | {"detail": "", "where": "", "power": None}],
        "kernel": [seal],
        "worst_part": "paper.6",
        "verdict": "corrected",
        "severity": "slip",
    }
    assert (
        shown(monkeypatch, row).partition("no derivation\n")[2]
        == """
  evidence
    symbolic  holds        all m  (0.50 s, cpu)
    torch     holds        drawn  (0.50 s, cpu)
        — fine
        power 0%: 0 of 1 one-edit mutants refuted; not refuted: a sign
        at votes.py:3
    torch     holds        drawn  (0.50 s, cpu)
    kernel    accepted     t at f.v:1, resting on no axiom  (1.00 s)

  verdict    corrected (slip), by its part paper.6"""
    )


def test_theorems_are_quoted_directly_or_through_the_nearest_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each claim is asked once, also where needs meet or go round in a circle."""
    asked: list[str] = []
    monkeypatch.setattr(showing, "_quotes", lambda entry: asked.append(entry.id) or QUOTES[entry.id])
    entry: Any = SimpleNamespace(id="paper.1", needs=NEEDS["paper.1"])
    assert quoted(entry) == {"squeeze": "directly", "Weierstrass": "through paper.3", "Baillon–Haddad": "through paper.4"}
    assert asked == ["paper.1", "paper.2", "paper.3", "paper.4"]


def test_a_claim_quotes_what_its_derivation_and_its_correction_quote() -> None:
    def derivation(*theorems: Theorem) -> Callable[[], Iterator[Relation]]:
        return lambda: iter([Equation(x, x, quotes=theorems), Equation(x, x)])

    x, other = scalar("x"), replace(THEOREM, name="Rolle")
    entries: Any = [
        SimpleNamespace(derivation=derivation(THEOREM, other), repair=None),
        SimpleNamespace(derivation=None, repair=derivation(other)),
    ]
    assert [list(_quotes(entry)) for entry in entries] == [["Weierstrass", "Rolle"], ["Rolle"]]
