"""Claims that no document prints, and the verdicts on them."""

from collections.abc import Callable, Iterator

from derivations.judge.verdicts import judge
from derivations.records.claims import (
    FAULT_VERDICTS,
    SUPPORTING_VERDICTS,
    Correction,
    Evidence,
    Judgement,
    Kind,
    Severity,
    Statement,
    Verdict,
)
from derivations.register.entry import Entry
from derivations.register.examining import examine
from derivations.relations import AtLeast, Equation, Relation
from derivations.relations.base import ORDERS
from tests.attacks.vocabulary import x

Twins = dict[str, Callable[[], Relation]]

HONEST = Equation((x + 1) ** 2, x**2 + 2 * x + 1)


def wrong_versions(statement: Relation) -> Twins:
    """Two false variants of any statement."""
    core = statement.core
    left, right = core.sides[0], core.sides[-1]
    if core.premises:
        return {f"less by {n}": lambda n=n: Equation(left, right - n) for n in (1, 2)}
    if core.sign in ORDERS:
        return {f"the other way round, by {n}": lambda n=n: AtLeast(right, left + n) for n in (1, 2)}
    return {f"more by {n}": lambda n=n: Equation(left, right + n) for n in (1, 2)}


def entry(
    *steps: Relation,
    id: str = "eot.0",
    needs: tuple[str, ...] = (),
    twins: Twins | None = None,
    kind: Kind = Kind.IDENTITY,
    repair: tuple[Relation, ...] = (),
    under: str | None = None,
    hypotheses: tuple[str, ...] = (),
) -> Entry:
    """An unregistered claim with these steps, this correction and two refuted twins."""

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
    """The evidence of the symbolic layer."""
    return examine(claim).evidence


def verdict_on(claim: Entry, *votes: Evidence) -> Judgement:
    """The verdict from the symbolic layer's evidence and the votes of other layers."""
    return judge(claim.claim, [evidence_of(claim), *votes])


def disbelieved(make: Callable[[], Entry]) -> bool:
    """Whether a claim is not green and its examination reports a fault."""
    try:
        made = make()
        examination = examine(made)
    except ValueError:
        return True
    return judge(made.claim, [examination.evidence]).verdict not in SUPPORTING_VERDICTS and bool(examination.faults)


def uncorrected(make: Callable[[], Entry]) -> bool:
    """Whether a correction is rejected and the examination reports a fault."""
    try:
        made = make()
        examination = examine(made)
    except ValueError:
        return True
    mended = FAULT_VERDICTS - {Verdict.REFUTED}
    return judge(made.claim, [examination.evidence]).verdict not in (mended | SUPPORTING_VERDICTS) and bool(examination.faults)
