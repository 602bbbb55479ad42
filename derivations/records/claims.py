"""The records of a claim: its statement, its twins, the evidence of each layer, and the judgement with its cause.

A claim carries no status.  Evidence says what one layer found about the printed statement or about its correction.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from derivations.records.base import Exact, Record
from derivations.records.normal_form import Canonical
from derivations.records.prints import Check
from derivations.records.theorems import Theorem


class Kind(StrEnum):
    """The kind of statement that a claim makes."""

    DEFINITION = "definition"
    IDENTITY = "identity"
    INEQUALITY = "inequality"
    LIMIT = "limit"
    ASYMPTOTIC = "asymptotic"
    OPTIMALITY = "optimality"
    EQUIVALENCE = "equivalence"
    LISTING = "listing"
    EMPIRICAL = "empirical"
    EXTERNAL = "external fact"


class Layer(StrEnum):
    """The method that produced a piece of evidence."""

    SYMBOLIC = "symbolic"
    PRIMAL = "primal"
    TORCH = "torch"
    SOURCE = "source"


class Outcome(StrEnum):
    """The result of one layer; only `holds` supports a claim."""

    HOLDS = "holds"
    REFUTED = "refuted"
    INCONCLUSIVE = "inconclusive"
    VACUOUS = "vacuous"
    TIMEOUT = "timeout"
    ERROR = "error"
    NOT_APPLICABLE = "n/a"


class Verdict(StrEnum):
    """The conclusion that all evidence for a claim leads to."""

    PROVED = "proved"
    PROVED_UNDER = "proved-under"
    CORRECTED = "corrected"
    REFUTED = "refuted"
    CONFIRMED = "confirmed"
    DEFINITION = "definition"
    MEASURED = "measured"
    CHECKED = "checked"
    OPEN = "open"


class Severity(StrEnum):
    """How serious a fault of the print is; see docs/severity.md."""

    FATAL = "fatal"
    HYPOTHESIS = "hypothesis"
    SLIP = "slip"
    WORDING = "wording"


DECISIVE_OUTCOMES = frozenset({Outcome.HOLDS, Outcome.REFUTED})
SUPPORTING_VERDICTS = frozenset({Verdict.PROVED, Verdict.CONFIRMED, Verdict.DEFINITION, Verdict.MEASURED, Verdict.CHECKED})
FAULT_VERDICTS = frozenset({Verdict.PROVED_UNDER, Verdict.CORRECTED, Verdict.REFUTED})
KINDS_WITHOUT_TWINS = frozenset({Kind.DEFINITION, Kind.EMPIRICAL})


class Statement(Record, frozen=True):
    """A formula and one sentence in our own words."""

    latex: str
    text: str


class Correction(Record, frozen=True):
    """A true statement near a false one; with a `hypothesis` it is the printed one under that hypothesis.

    `replaces` says which part of the print it stands for, where it is about another left side than the print.
    """

    statement: Statement
    severity: Severity
    hypothesis: str | None = None
    replaces: str | None = None


class Witness(Record, frozen=True):
    """Exact inputs at which a statement fails, both sides there and the sign between them.

    `about` names the quantity whose values the sides are, if they are not the sides of the statement itself.
    """

    inputs: Mapping[str, Exact]
    left: str
    sign: str
    right: str
    about: str = ""


@dataclass(frozen=True)
class Twin:
    """A wrong version of a claim, which every voting layer must refute."""

    name: str


@dataclass(frozen=True)
class Claim:
    """One printed statement; it rests on the claims in `needs`, and is a part of the printed number `part_of`, if given."""

    id: str
    kind: Kind
    title: str
    statement: Statement
    hypotheses: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    twins: tuple[Twin, ...] = ()
    correction: Correction | None = None
    part_of: str | None = None

    @property
    def document(self) -> str:
        """The key of the document, the id up to the first dot."""
        return self.id.split(".", 1)[0]

    @property
    def number(self) -> str:
        """The printed number or name, the id after the first dot."""
        return self.id.split(".", 1)[1]

    @property
    def asserts(self) -> bool:
        """Whether the claim asserts something, so that a wrong version (a twin) of it exists."""
        return self.kind not in KINDS_WITHOUT_TWINS


class Step(Record, frozen=True):
    """One checked line of a derivation.

    `given` are its hypotheses, `premises` what its proof uses with who vouches for each, `quotes` the theorems that its
    reason rests on, and `latex` is the statement as a formula, empty where it has none.
    """

    statement: str
    reason: str
    holds: bool
    detail: str = ""
    given: tuple[str, ...] = ()
    premises: tuple[str, ...] = ()
    quotes: tuple[Theorem, ...] = ()
    latex: str = ""


class Evidence(Record, frozen=True):
    """The result of one layer for one claim.

    `correction` is the outcome for the corrected statement, where there is one; `general` means that the statement
    proved, the correction if there is one, has symbolic sizes; `refuted_twins` names the twins that this layer refuted.
    `error` is the largest deviation of a vote that holds, in tolerances; `derivation` and `repair` are the steps of a
    proof or disproof of the print, and of the proof of its correction; `canonical` and `canonical_repair` are both
    statements in normal form.  `given` are the typed hypotheses of what is proved.  `faults` lists what is wrong with the
    derivation, the correction or the twins; while there is one, no verdict supports the print or its correction.
    `power` is the share of one-edit mutants that were refuted, of `mutants` that are not equivalent; `alive` names the others.
    `where` is the file and line where the check is registered.  `print` and `print_repair` compare the LaTeX of the print and
    of the correction with the proved relations.
    """

    claim: str
    layer: Layer
    outcome: Outcome
    scope: str
    seconds: float = 0.0
    detail: str = ""
    general: bool = False
    correction: Outcome | None = None
    witness: Witness | None = None
    refuted_twins: tuple[str, ...] = ()
    environment: str = "cpu"
    error: float | None = None
    derivation: tuple[Step, ...] = ()
    repair: tuple[Step, ...] = ()
    canonical: Canonical | None = None
    canonical_repair: Canonical | None = None
    given: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    power: float | None = None
    mutants: int = 0
    alive: tuple[str, ...] = ()
    where: str = ""
    print: Check | None = None
    print_repair: Check | None = None


class Survivor(Record, frozen=True):
    """A twin that a voting layer did not refute; `part` is the id of its claim, if that is another one."""

    layer: Layer
    twin: str
    part: str | None = None


class CauseKind(StrEnum):
    """The kinds of reasons for a verdict."""

    CONTRADICTION = "contradiction"
    FAILURE = "failure"
    FEW_TWINS = "few twins"
    DISAGREEMENT = "disagreement"
    NO_WITNESS = "no witness"
    WITNESS = "witness"
    MISSING_HYPOTHESIS = "missing hypothesis"
    FAULTS = "faults"
    SILENCE = "silence"
    SURVIVORS = "survivors"
    UNCONFIRMED = "unconfirmed"
    MEASUREMENT = "measurement"
    SUPPORT = "support"
    NOT_VERIFIED = "not verified"


class Cause(Record, frozen=True):
    """The reason for a verdict: the evidence that decides it, and the facts that its kind names.

    `undecided` holds the evidence of failed proofs, `twins` the number of twins if there are too few, and `part` the id of the
    part of the statement that decides.
    """

    kind: CauseKind
    evidence: tuple[Evidence, ...] = ()
    undecided: tuple[Evidence, ...] = ()
    witness: Witness | None = None
    hypothesis: str | None = None
    twins: int = 0
    survivors: tuple[Survivor, ...] = ()
    part: str | None = None


class Judgement(Record, frozen=True):
    """A verdict with its cause, the severity of a fault, and the twins that a voting layer failed to refute."""

    verdict: Verdict
    cause: Cause
    severity: Severity | None = None
    survivors: tuple[Survivor, ...] = ()
