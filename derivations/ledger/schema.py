"""Schema of ledger.json, which is untrusted input: the types of its fields, and constraints beyond types."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import msgspec

from derivations.records.base import Exact, Record, from_json
from derivations.records.claims import (
    CauseKind,
    Correction,
    Kind,
    Layer,
    Outcome,
    Severity,
    Statement,
    Step,
    Survivor,
    Verdict,
    Witness,
)
from derivations.records.normal_form import Canonical
from derivations.records.prints import Check
from derivations.records.seals import Seal
from derivations.records.theorems import Theorem
from derivations.register.source_lines import Provenance
from derivations.register.wording import is_id

SCHEMA = 1

LONGEST_ID = 200
"""In bytes; a page is named after its claim, and file systems allow 255."""

LONGEST_MESSAGE = 1000
"""Letters of an error message, which may quote the refused input."""

Seconds = Annotated[float, msgspec.Meta(ge=0, le=10**9)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Error = Annotated[float, msgspec.Meta(ge=0)]
Count = Annotated[int, msgspec.Meta(ge=0)]
Ordinal = Annotated[int, msgspec.Meta(ge=1)]


class Vote(Record, frozen=True):
    """Evidence in a row: without its claim and the derivations, which the row holds itself."""

    layer: Layer
    outcome: Outcome
    scope: str
    seconds: Seconds
    detail: str
    correction: Outcome | None
    environment: str
    general: bool
    refuted_twins: tuple[str, ...]
    witness: Witness | None
    given: tuple[str, ...]
    faults: tuple[str, ...]
    error: Error | None = None
    power: Share | None = None
    mutants: Count = 0
    alive: tuple[str, ...] = ()
    where: str = ""


class ShownWitness(Record, frozen=True):
    """The witness of a verdict, with its text."""

    inputs: Mapping[str, Exact]
    left: str
    sign: str
    right: str
    about: str
    text: str


class RefutedTwin(Record, frozen=True):
    """A twin, and the layers that refute it."""

    name: str
    refuted_by: tuple[Layer, ...]


class Quote(Theorem, frozen=True):
    """A quoted theorem, and the step that quotes it."""

    step: str


class LedgerRow(Record, frozen=True):
    """The row of a claim."""

    id: str
    document: str
    number: str
    kind: Kind
    title: str
    statement: Statement
    provenance: Provenance | None
    source_lines: tuple[str, ...]
    stated_hypotheses: tuple[str, ...]
    stated_correction: Correction | None
    stated_twins: tuple[str, ...]
    part_of: str | None
    parts: tuple[str, ...]
    depends_on: tuple[str, ...]
    evidence: tuple[Vote, ...]
    derivation: tuple[Step, ...]
    repair: tuple[Step, ...]
    verdict: Verdict
    severity: Severity | None
    cause: CauseKind
    scope: str
    under: str | None
    worst_part: str | None
    correction: Statement | None
    witness: ShownWitness | None
    twins: tuple[RefutedTwin, ...]
    survivors: tuple[Survivor, ...]
    given: tuple[str, ...]
    hypotheses: tuple[str, ...]
    quotes: tuple[Quote, ...]
    digest: str
    canonical: Canonical | None = None
    canonical_repair: Canonical | None = None
    print: Check | None = None
    print_repair: Check | None = None
    voters: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    complete: bool = False
    run: str = ""
    kernel: tuple[Seal, ...] = ()


class Incremental(Record, frozen=True):
    """The number of claims that an incremental run verified again, and the reason."""

    ran: Count
    because: str


class Shard(Record, frozen=True):
    """The number of a shard, the number of shards, and the claims requested from the whole run."""

    part: Ordinal
    of: Ordinal
    asked: tuple[str, ...]

    def __post_init__(self) -> None:
        if self.part > self.of:
            raise ValueError(f"shard: expected i/k with 1 ≤ i ≤ k, got {self.part}/{self.of}")


class Environment(Record, frozen=True):
    """Where and when the evidence was produced, and the requested claims."""

    date: str | None = None
    commit: str | None = None
    python: str | None = None
    packages: Mapping[str, str] = {}
    devices: tuple[str, ...] = ()
    seed: int | None = None
    seconds: Seconds | None = None
    skipped: Mapping[str, Count] = {}
    asked: tuple[str, ...] = ()
    quick: bool = False
    device: str | None = None
    model: str | None = None
    profile: str | None = None
    complete: bool = False
    incremental: Incremental | None = None
    shard: Shard | None = None


class EarlierRun(Record, frozen=True):
    """An earlier run that the ledger has rows of, with the hashes of files that differ from the newest run's, null for none.

    `files` is null if the run does not record its source files.
    """

    environment: Environment
    files: Mapping[str, str | None] | None


class Ledger(Record, frozen=True):
    """A ledger; its rows are decoded one by one, so that an error names the claim."""

    schema: int
    environment: Environment
    claims: tuple[dict[str, Any], ...]
    summary: dict[str, Any]
    documents: Mapping[str, str] = {}
    files: Mapping[str, str] = {}
    runs: Mapping[str, EarlierRun] = {}


def check(data: Any) -> None:
    """Raise ValueError, naming claim and key, for anything but a ledger."""
    version = data.get("schema") if isinstance(data, dict) else None
    if version not in (None, SCHEMA):
        raise ValueError(f"schema: expected {SCHEMA}, got {version!r}")
    ledger = from_json(data, Ledger)
    rows, runs = ledger.claims, {"", ledger.environment.date, *ledger.runs}
    if not rows:
        raise ValueError("claims: missing")
    ids = [row.get("id") for row in rows]
    for number, row in enumerate(rows, start=1):
        try:
            wrong = next(_faults(from_json(row, LedgerRow)), "")
        except ValueError as error:
            wrong = str(error)
        if not wrong and (run := row.get("run", "")) not in runs:
            wrong = f"run: expected the date of a run of the ledger, got {run!r}"
        if not wrong and row["id"] in ids[: number - 1]:
            wrong = "id: duplicate"
        if wrong:
            raise ValueError(f"claim {number} ({str(row.get('id', 'no id'))[:LONGEST_ID]}): {wrong[:LONGEST_MESSAGE]}")


def _faults(row: LedgerRow) -> Iterator[str]:
    """Yield faults of a row whose fields have the right types."""
    if not is_id(row.id):
        yield f"id: expected letters and digits with dots, hyphens and underscores between them, got {row.id!r}"
    if len(row.id.encode("utf-8", "surrogatepass")) > LONGEST_ID:
        yield f"id: expected at most {LONGEST_ID} letters, got {len(row.id)}"
    if sum(vote.layer is Layer.SYMBOLIC for vote in row.evidence) > 1:
        yield "evidence: duplicate symbolic layer"
    for vote in row.evidence:
        if len(vote.alive) > vote.mutants:
            yield f"alive: expected at most {vote.mutants} mutants, got {len(vote.alive)}"
    if row.id != f"{row.document}.{row.number}":
        yield f"id: expected {row.document}.{row.number}, which document and number make, got {row.id}"
