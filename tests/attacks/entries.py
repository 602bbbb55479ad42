"""Claims that no document prints, and what would be believed of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from derivations import catalogue
from derivations.catalogue import examine
from derivations.claims import (
    FAULT_VERDICTS,
    SUPPORTING_VERDICTS,
    Correction,
    Evidence,
    Judgement,
    Kind,
    Severity,
    Statement,
    Verdict,
    judge,
)
from derivations.entry import Entry
from derivations.relations import AtLeast, Equation, Fails, Follows, Relation
from tests.attacks.vocabulary import x

Twins = dict[str, Callable[[], Relation]]

HONEST = Equation((x + 1) ** 2, x**2 + 2 * x + 1)


def wrong_versions(statement: Relation) -> Twins:
    """Two false versions of a statement, whatever that is."""
    core = statement.relation if isinstance(statement, Fails) else statement
    left, right = core.sides[0], core.sides[-1]
    if isinstance(core, AtLeast):
        return {f"the other way round, by {n}": lambda n=n: AtLeast(right, left + n) for n in (1, 2)}
    if isinstance(core, Follows):
        return {f"less by {n}": lambda n=n: Equation(left, right - n) for n in (1, 2)}
    return {f"more by {n}": lambda n=n: Equation(left, right + n) for n in (1, 2)}


def entry(
    *steps: Relation, id: str = "eot.0", needs: tuple[str, ...] = (), twins: Twins | None = None, kind: Kind = Kind.IDENTITY,
    repair: tuple[Relation, ...] = (), under: str | None = None, hypotheses: tuple[str, ...] = (),
) -> Entry:
    """A claim that no registry knows, with the steps of its derivation and of its correction, and twins that die."""
    def derivation() -> Iterator[Relation]:
        yield from steps

    made = Entry(id, kind, "t", "x", hypotheses, needs, derivation, "A statement.")
    for name, wrong in (wrong_versions(steps[-1]) if twins is None and steps else twins or {}).items():
        made.twin(name, wrong)
    if repair:
        mend(made, *repair, under=under)
    return made


def mend(made: Entry, *steps: Relation, under: str | None = None) -> None:
    """Give a claim a correction."""
    def repair() -> Iterator[Relation]:
        """Another statement."""
        yield from steps

    made.repair, made.correction = repair, Correction(Statement("y", "Another statement."), Severity.SLIP, under)


def evidence_of(claim: Entry) -> Evidence:
    """What the symbolic layer finds."""
    return examine(claim).evidence


def verdict_on(claim: Entry, *votes: Evidence) -> Judgement:
    """The verdict that the symbolic layer's evidence leads to, with the votes of other layers."""
    return judge(claim.claim, [evidence_of(claim), *votes])


def disbelieved(make: Callable[[], Entry]) -> bool:
    """Whether a claim is not green, and the examination says what is wrong with it."""
    try:
        made = make()
        found = examine(made)
    except ValueError:
        return True
    return judge(made.claim, [found.evidence]).verdict not in SUPPORTING_VERDICTS and bool(found.faults)


def uncorrected(make: Callable[[], Entry]) -> bool:
    """Whether a correction is not shown as one, and the examination says what is wrong with it."""
    try:
        made = make()
        found = examine(made)
    except ValueError:
        return True
    mended = FAULT_VERDICTS - {Verdict.REFUTED}
    return judge(made.claim, [found.evidence]).verdict not in (mended | SUPPORTING_VERDICTS) and bool(found.faults)


def register(monkeypatch: pytest.MonkeyPatch, *made: Entry) -> None:
    """Let the registry know these claims, and nothing else, until the test is over."""
    monkeypatch.setattr(catalogue, "_ENTRIES", {claim.id: claim for claim in made})
