"""Merge ledgers into one report: the results of each run for each claim, and whether they agree."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from derivations.ledger import incremental, ledger, messages
from derivations.ledger.rows import states
from derivations.records.claims import FAULT_VERDICTS
from derivations.records.documents import documents
from derivations.register.catalogue import entries
from derivations.report.appearance import DIFFERS
from derivations.rocq import belief

Row = dict[str, Any]

STATED = ("title", "kind", "statement", "hypotheses", "correction")


@dataclass(frozen=True, eq=False)
class Run:
    """One ledger: the environment of its newest run, its rows, and why some of them are outdated."""

    number: int
    label: str
    environment: Mapping[str, Any]
    rows: Mapping[str, Row]
    file: str
    titles: Mapping[str, str]
    outdated: Mapping[str, str] = field(default_factory=dict)

    @property
    def anchor(self) -> str:
        """The anchor of the run on the front page."""
        return f"run-{self.number}"

    @cached_property
    def green(self) -> set[str]:
        """The claims that are supported together with everything that they rest on."""
        return ledger.green({"claims": list(self.rows.values())})


@dataclass(frozen=True, eq=False)
class ClaimPage:
    """One claim, with its row in each run that includes it."""

    readings: tuple[tuple[Run, Row], ...]

    @cached_property
    def row(self) -> Row:
        """The row that is shown: the first one that finds fault, or else the first."""
        return next((row for _, row in self.readings if row["verdict"] in FAULT_VERDICTS), self.readings[0][1])

    @property
    def id(self) -> str:
        """The id of the claim."""
        return str(self.row["id"])

    @cached_property
    def verdict(self) -> str:
        """The common verdict of all runs, or that they differ."""
        verdicts = {row["verdict"] for _, row in self.readings}
        return str(verdicts.pop()) if len(verdicts) == 1 else DIFFERS

    @cached_property
    def outdated(self) -> str:
        """Why what a ledger says is about other sources than there are now; empty if that is not known of any."""
        return next((run.outdated[self.id] for run, _ in self.readings if self.id in run.outdated), "")

    @property
    def severity(self) -> str | None:
        """How much the fault matters, if there is one."""
        return self.row["severity"]  # type: ignore[no-any-return]

    @property
    def faulty(self) -> bool:
        """Whether a run found fault with the print."""
        return self.row["verdict"] in FAULT_VERDICTS

    @property
    def under(self) -> str | None:
        """The hypothesis that is missing in print."""
        return self.row["under"]  # type: ignore[no-any-return]

    @property
    def changed(self) -> list[str]:
        """The fields in which ledgers disagree about the claim, so that their verdicts concern different statements."""
        values = {field: [row[field] for _, row in self.readings if row[field] is not None] for field in STATED}
        return [field for field, own in values.items() if any(other != own[0] for other in own)]

    @property
    def evidence(self) -> list[tuple[Run, Row]]:
        """All evidence, each piece with the run that found it, by layer."""
        evidence = [(run, e) for run, row in self.readings for e in row["evidence"]]
        order = ["symbolic", "primal", "torch", "source"]
        return sorted(evidence, key=lambda pair: order.index(pair[1]["layer"]) if pair[1]["layer"] in order else len(order))

    @property
    def seals(self) -> list[Row]:
        """The theorems submitted to a proof kernel, accepted ones first, each once."""
        seals = [seal for _, row in self.readings for seal in row.get("kernel", ())]
        once = [seal for position, seal in enumerate(seals) if seal not in seals[:position]]
        return sorted(once, key=lambda seal: seal["outcome"] != "accepted")

    @property
    def twins(self) -> list[tuple[str, list[tuple[Run, list[str]]]]]:
        """Each twin by name, with the layers that refuted it in each run."""
        names = dict.fromkeys(twin["name"] for _, row in self.readings for twin in row["twins"])
        pairs = [(run, twin) for run, row in self.readings for twin in row["twins"]]
        return [(name, [(run, twin["refuted_by"]) for run, twin in pairs if twin["name"] == name]) for name in names]

    @property
    def survivors(self) -> list[Row]:
        """The twins that a layer did not refute."""
        living = [twin for _, row in self.readings for twin in row["survivors"]]
        return [twin for position, twin in enumerate(living) if twin not in living[:position]]

    def steps(self, which: str) -> list[Row]:
        """Return the steps of the `derivation` or of the `repair`, from a run with the displayed verdict."""
        agreeing = [row for _, row in self.readings if row["verdict"] == self.row["verdict"]]
        return next((row[which] for row in [self.row, *agreeing] if row.get(which)), [])

    @property
    def green(self) -> bool:
        """Whether every run supports it and everything that it rests on."""
        return all(self.id in run.green for run, _ in self.readings)


@dataclass(frozen=True, eq=False)
class Report:
    """The content of all pages."""

    runs: tuple[Run, ...]
    claims: Mapping[str, ClaimPage]

    @cached_property
    def supports(self) -> dict[str, list[str]]:
        """For each claim, those that rest on it directly, in printed order."""
        supports: dict[str, list[str]] = {id: [] for id in self.claims}
        for id, claim in self.claims.items():
            for needed in claim.row["depends_on"]:
                supports.setdefault(needed, []).append(id)
        return supports

    def needs(self, id: str) -> list[str]:
        """Return the claims that a claim rests on directly."""
        return list(self.claims[id].row["depends_on"]) if id in self.claims else []

    def closure(self, id: str, forward: bool) -> list[str]:
        """Return all claims that rest on a claim (`forward`), or that it rests on, directly or indirectly."""
        seen: dict[str, None] = {}
        todo = deque([id])
        while todo:
            at = todo.popleft()
            new = [other for other in (self.supports.get(at, []) if forward else self.needs(at)) if other not in seen]
            seen |= dict.fromkeys(new)
            todo.extend(dict.fromkeys(new))
        return list(seen)

    @cached_property
    def quoting(self) -> dict[str, str]:
        """The claims that rest on quoted theorems, `directly` or `through needs`."""
        return ledger.quoting(claim.row for claim in self.claims.values())

    @cached_property
    def printed(self) -> dict[str, int]:
        """The numbers of prints that agree with the proofs, differ, or were not read or compared."""
        return ledger.printed(claim.row for claim in self.claims.values())

    @cached_property
    def differences(self) -> dict[str, list[str]]:
        """The claims on which a proof kernel and the derivations disagree, by kind; empty if no kernel ran."""
        seals, held = belief.of_rows(claim.row for claim in self.claims.values())
        return {str(kind): ids for kind, ids in belief.differences(seals, held).items()} if seals else {}

    def quoted(self, id: str) -> dict[str, str]:
        """The quoted theorems that a claim rests on, by name, each with the nearest claim whose derivation quotes it."""
        if id not in self.quoting:
            return {}
        below = [other for other in (id, *self.closure(id, forward=False)) if other in self.claims]
        quotes = [(theorem["name"], other) for other in below for theorem in self.claims[other].row["quotes"]]
        return dict(reversed(quotes))

    def documents(self) -> list[str]:
        """Return the documents in order of appearance."""
        return list(dict.fromkeys(claim.row["document"] for claim in self.claims.values()))

    def title(self, document: str) -> str:
        """Return the title of a document, or its key if no ledger has one."""
        return next((run.titles[document] for run in self.runs if document in run.titles), document)

    def of(self, document: str) -> list[ClaimPage]:
        """Return the claims of a document in printed order."""
        return [claim for claim in self.claims.values() if claim.row["document"] == document]


def load(paths: Sequence[Path]) -> Report:
    """Read ledgers into one report; raises ValueError, naming the file and its fault."""
    twice = [path for number, path in enumerate(paths) if path.resolve() in {p.resolve() for p in paths[:number]}]
    if twice:
        raise ValueError(f"ledger: expected different files, got {twice[0]} twice")
    runs: list[Run] = []
    labels: list[str] = []
    for number, path in enumerate(paths, start=1):
        data = ledger.read(path)
        if data["environment"].get("shard"):  # what a claim rests on may be in another
            raise ValueError(f"ledger: expected whole runs, got {path}, a shard of one; `merge` joins shards")
        label = _label(data["environment"])
        labels.append(label)
        numbered = f"{label} · run {labels.count(label)}" if label in labels[:-1] else label
        runs.append(
            Run(
                number,
                numbered,
                data["environment"],
                {row["id"]: row for row in data["claims"]},
                path.name,
                data.get("documents", {}),
                outdated(data),
            )
        )
    return merge(runs)


def outdated(data: Mapping[str, Any]) -> dict[str, str]:
    """Return the rows of a ledger that are about other statements or sources than there are now, with the reason."""
    rows = [row for row in data["claims"] if row["document"] in documents()]
    reasons = incremental.outdated_rows(incremental.project(), {**data, "claims": rows})
    known = {id: messages.reason(each) for id, each in reasons.items() if each.kind is incremental.ReasonKind.OUTDATED}
    restated = {row["id"] for row in rows if row["id"] in entries() and not states(row, entries()[row["id"]])}
    return known | dict.fromkeys(restated, "the claim has another statement now")


def merge(runs: Sequence[Run]) -> Report:
    """Merge the claims of all runs, each in the order of the first run that includes it."""
    ids = dict.fromkeys(id for run in runs for id in run.rows)
    claims = {id: ClaimPage(tuple((run, run.rows[id]) for run in runs if id in run.rows)) for id in ids}
    documents = list(dict.fromkeys(claim.row["document"] for claim in claims.values()))
    ordered = sorted(claims.items(), key=lambda item: documents.index(item[1].row["document"]))
    return Report(tuple(runs), dict(ordered))


def _label(environment: Mapping[str, Any]) -> str:
    parts = [
        ", ".join(map(str, environment.get("devices") or ["device unknown"])),
        f"Python {environment.get('python', '?')}",
        str(environment["commit"])[:7] if environment.get("commit") else "no commit",
    ]
    return " · ".join(parts)
