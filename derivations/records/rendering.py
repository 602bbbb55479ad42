"""Rendering of records as text, for the terminal, the notebooks and the report: the only module that does so.

No behaviour depends on the wording: code that decides something reads the records.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from derivations.domains import NAMED
from derivations.records.base import Exact
from derivations.records.claims import Cause, CauseKind, Correction, Evidence, Survivor, Verdict, Witness
from derivations.records.normal_form import Canonical, Declared, Form, Premise, Sign
from derivations.records.theorems import Theorem

# ── points and witnesses ────────────────────────────────────────────────────────────────────────────────────────────


def value(exact: Exact) -> str:
    """An exact number, or a vector or matrix of them: (1/4, -3)."""
    return f"({', '.join(map(value, exact))})" if isinstance(exact, tuple | list) else str(exact)


def inputs(point: Mapping[str, Exact]) -> str:
    """A point: m = 2, s = (1/4, -3)."""
    return ", ".join(f"{name} = {value(exact)}" for name, exact in point.items())


def witness(of: Witness) -> str:
    """Render a witness, the values of both sides where a statement fails: at m = 2: 1 ≠ 2."""
    about, at = f"{of.about}: " if of.about else "", f"at {inputs(of.inputs)}: " if of.inputs else ""
    return f"{about}{at}{of.left} {of.sign} {of.right}"


def recorded(digits: str | None) -> str:
    """Render the recorded value of a side, or "not finite" if there is none."""
    return "not finite" if digits is None else digits


def number(digits: str) -> str:
    """Render a number with typographic signs: ∞ for oo, − for a hyphen."""
    minus, digits = ("−", digits[1:]) if digits.startswith("-") else ("", digits)
    return minus + ("∞" if digits == "oo" else digits)


# ── statements ──────────────────────────────────────────────────────────────────────────────────────────────────────


def domain(of: Declared) -> str:
    """Render a domain with its shape and marginals, such as real [m×d]; for an index, also the indices it must differ from."""
    return NAMED[of.kind].described(of.shape, of.marginals, of.other_than)


SIGNS = {
    Sign.EQUAL: "=",
    Sign.DIFFERENT: "≠",
    Sign.AT_LEAST: "≥",
    Sign.GREATER: ">",
    Sign.GREATER_UNLESS_EQUAL: "> unless {} = {}",
    Sign.LIMIT: "→ as {} → {}",
    Sign.EXPANSION: "= up to o({}^{})",
    Sign.MINIMIZER: "has the only minimizer",
}


def form(of: Form) -> str:
    """Render how a statement compares its sides, with its premises."""
    return _sign(of) + _given(of)


def premise(of: Premise) -> str:
    """A premise: x ≥ y, or x_i ≥ y_i for all i."""
    universal = of.form.sign in (Sign.AT_LEAST, Sign.GREATER) and of.form.parameters
    return f"{of.left} {_sign(of.form)} {of.right}" + (f" for all {', '.join(of.form.parameters)}" if universal else "")


def statement(of: Canonical) -> str:
    """A statement in normal form."""
    return f"{of.left} {_sign(of.form)} {of.right}{_given(of.form)}"


def _sign(of: Form) -> str:
    return SIGNS[of.sign].format(*of.parameters)


def _given(of: Form) -> str:
    return f", given {' and '.join(map(premise, of.given))}" if of.given else ""


def source(lines: Sequence[str]) -> str:
    """Lines of a document's source: lines 17–19, 40."""
    return f"{'line' if len(lines) == 1 and '–' not in lines[0] else 'lines'} {', '.join(lines)}"


UNCOMPARED = "never compared with a relation"


def standing(check: Mapping[str, Any] | None) -> str:
    """Render how the print compares with the proved statement: agrees (the statement, both sides, in normal form)."""
    return UNCOMPARED if check is None else f"{check['standing']} ({check['reason']})"


def justification(reason: str) -> str:
    """Return the reason of a step; "by normal form" if the author gave none."""
    return reason or "by normal form"


def mark(holds: bool) -> str:
    """Return the mark of a step."""
    return "✓" if holds else "✗"


def theorem(of: Theorem) -> str:
    """A quoted theorem."""
    return f"{of.name}: {of.statement} ({of.source})"


def hypothesis(of: Correction) -> str:
    """Render the hypothesis that the print lacks, if any: (under: x > 0)."""
    return f" (under: {of.hypothesis})" if of.hypothesis else ""


# ── verdicts ────────────────────────────────────────────────────────────────────────────────────────────────────────


def verdict(of: Verdict | str, severity: str | None) -> str:
    """Render a verdict with the severity of the fault, if any: corrected (slip)."""
    return f"{of} ({severity})" if severity else str(of)


def cause(of: Cause) -> str:
    """Render the cause of a verdict."""
    part = f"{of.part}: " if of.part else ""
    return part + CAUSES[of.kind](of)


def _said(each: Evidence) -> str:
    return each.detail or each.scope


def _supported(each: Evidence, undecided: bool) -> str:
    """The scope of support; of a vote on what is not proved, also what it drew."""
    drawn = f"; {each.detail}" if undecided and each.detail else ""
    return f"{each.layer}: {each.scope}{drawn}"


def _unproved(of: Cause) -> list[str]:
    return [f"not proved: {each.detail}" for each in of.undecided]


CAUSES: dict[CauseKind, Callable[[Any], str]] = {
    CauseKind.CONTRADICTION: lambda of: (
        "the layers contradict each other: " + ", ".join(f"{e.layer}: {e.outcome}" for e in of.evidence)
    ),
    CauseKind.FAILURE: lambda of: "; ".join(f"{e.layer} failed: {e.detail}" for e in of.evidence),
    CauseKind.FEW_TWINS: lambda of: f"twins: expected at least 2, got {of.twins}",
    CauseKind.DISAGREEMENT: lambda of: f"measured, in disagreement: {'; '.join(map(_said, of.evidence))}",
    CauseKind.NO_WITNESS: lambda _: "refuted numerically, but without an exact witness",
    CauseKind.WITNESS: lambda of: witness(of.witness),
    CauseKind.MISSING_HYPOTHESIS: lambda of: f"{of.hypothesis}; without it: {witness(of.witness)}",
    CauseKind.FAULTS: lambda of: "; ".join(f"{e.layer}: {'; '.join(e.faults)}" for e in of.evidence),
    CauseKind.SILENCE: lambda of: "; ".join(f"{e.layer}: {e.outcome} ({_said(e)})" for e in of.evidence) or "no layer spoke",
    CauseKind.SURVIVORS: lambda of: f"twins alive: {', '.join(map(survivor, of.survivors))}",
    CauseKind.UNCONFIRMED: lambda of: f"not proved: {of.evidence[0].detail}; without twins nothing confirms it",
    CauseKind.MEASUREMENT: lambda of: "; ".join(map(_said, of.evidence)),
    CauseKind.SUPPORT: lambda of: "; ".join([*(_supported(e, bool(of.undecided)) for e in of.evidence), *_unproved(of)]),
    CauseKind.NOT_VERIFIED: lambda _: "not verified in this run",
}


def survivor(of: Survivor | Mapping[str, Any]) -> str:
    """Render a surviving twin with the layer that did not refute it, and with its claim if that is a part of the statement."""
    layer, twin, part = (of["layer"], of["twin"], of["part"]) if isinstance(of, Mapping) else (of.layer, of.twin, of.part)
    return f"{part}: {layer}: {twin}" if part else f"{layer}: {twin}"


def killers(layers: Sequence[str]) -> str:
    """Render the layers that refute a twin."""
    return f"refuted by {', '.join(layers) or 'nobody'}"


def power(e: Mapping[str, Any]) -> str:
    """Render the power of a piece of evidence."""
    lived = f"; not refuted: {', '.join(e['alive'])}" if e["alive"] else ""
    return f"power {e['power']:.0%}: {e['mutants'] - len(e['alive'])} of {e['mutants']} one-edit mutants refuted{lived}"


def seal(of: Mapping[str, Any]) -> str:
    """Render the proof kernel's result for a theorem about a claim on one line."""
    about = "" if of["about"] == "print" else f", {'by hand' if of['about'] == 'by hand' else 'of the correction'}"
    if of["outcome"] == "accepted":
        rests = ", ".join(of["assumptions"]) or "no axiom"
        return f"kernel    accepted     {of['theorem']}{about} at {of['where']}, resting on {rests}  ({of['seconds']:.2f} s)"
    return f"kernel    {of['outcome']:12} {' '.join(of['detail'].split())[:160]}{about}"
