"""One or several ledgers as one report: what each run found about each claim, and whether they agree."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from derivations import ledger
from derivations.claims import FAULT_VERDICTS
from derivations.kernel import belief
from derivations.report.appearance import DIFFERS

Row = dict[str, Any]

TOLD = ("title", "kind", "statement", "hypotheses", "correction")


@dataclass(frozen=True, eq=False)
class Run:
    """One ledger: the environment in which its evidence was found."""

    place: int
    label: str
    environment: Mapping[str, Any]
    rows: Mapping[str, Row]
    file: str
    titles: Mapping[str, str]

    @property
    def anchor(self) -> str:
        """The anchor of the claim on the front page."""
        return f"run-{self.place}"

    @cached_property
    def green(self) -> set[str]:
        """The claims that are supported together with everything that they rest on."""
        return ledger.green({"claims": list(self.rows.values())})


@dataclass(frozen=True, eq=False)
class Subject:
    """One claim, as each run that knows it found it."""

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
        """The verdict of every run, or that they differ."""
        found = {row["verdict"] for _, row in self.readings}
        return str(found.pop()) if len(found) == 1 else DIFFERS

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
        values = {field: [row[field] for _, row in self.readings if row[field] is not None] for field in TOLD}
        return [field for field, own in values.items() if any(other != own[0] for other in own)]

    @property
    def evidence(self) -> list[tuple[Run, Row]]:
        """All evidence, each piece with the run that found it, by layer."""
        evidence = [(run, e) for run, row in self.readings for e in row["evidence"]]
        order = ["symbolic", "primal", "torch", "source"]
        return sorted(evidence, key=lambda pair: order.index(pair[1]["layer"]) if pair[1]["layer"] in order else len(order))

    @property
    def seals(self) -> list[Row]:
        """The theorems that a proof kernel was asked for, those that it accepted first, each once."""
        found = [seal for _, row in self.readings for seal in row.get("kernel", ())]
        once = [seal for place, seal in enumerate(found) if seal not in found[:place]]
        return sorted(once, key=lambda seal: seal["outcome"] != "accepted")

    @property
    def twins(self) -> list[tuple[str, list[tuple[Run, list[str]]]]]:
        """Each twin by name, with the layers that refuted it in each run."""
        names = dict.fromkeys(twin["name"] for _, row in self.readings for twin in row["twins"])
        pairs = [(run, twin) for run, row in self.readings for twin in row["twins"]]
        return [(name, [(run, twin["refuted_by"]) for run, twin in pairs if twin["name"] == name]) for name in names]

    @property
    def survivors(self) -> list[Row]:
        """The twins that a layer let live."""
        living = [twin for _, row in self.readings for twin in row["survivors"]]
        return [twin for place, twin in enumerate(living) if twin not in living[:place]]

    def steps(self, which: str) -> list[Row]:
        """The steps of the `derivation` or of the `repair`, from a run whose verdict is the one that is shown."""
        agreeing = [row for _, row in self.readings if row["verdict"] == self.row["verdict"]]
        return next((row[which] for row in [self.row, *agreeing] if row.get(which)), [])

    @property
    def green(self) -> bool:
        """Whether every run lets it and everything that it rests on stand."""
        return all(self.id in run.green for run, _ in self.readings)


@dataclass(frozen=True, eq=False)
class Report:
    """The content of all pages."""

    runs: tuple[Run, ...]
    subjects: Mapping[str, Subject]

    @cached_property
    def supports(self) -> dict[str, list[str]]:
        """For each claim, those that rest on it directly, in printed order."""
        found: dict[str, list[str]] = {id: [] for id in self.subjects}
        for id, subject in self.subjects.items():
            for needed in subject.row["depends_on"]:
                found.setdefault(needed, []).append(id)
        return found

    def needs(self, id: str) -> list[str]:
        """What a claim rests on directly."""
        return list(self.subjects[id].row["depends_on"]) if id in self.subjects else []

    def closure(self, id: str, forward: bool) -> list[str]:
        """All that rests on a claim (`forward`), or all that it rests on, directly or not."""
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
        return ledger.quoting(subject.row for subject in self.subjects.values())

    @cached_property
    def printed(self) -> dict[str, int]:
        """How many prints agree with what is proved, differ, or were not read or compared."""
        return ledger.printed(subject.row for subject in self.subjects.values())

    @cached_property
    def differences(self) -> dict[str, list[str]]:
        """The claims of which a proof kernel says something else than the derivations, by how; empty where none was asked."""
        seals, held = belief.of_rows(subject.row for subject in self.subjects.values())
        return {str(kind): ids for kind, ids in belief.differences(seals, held).items()} if seals else {}

    def quoted(self, id: str) -> dict[str, str]:
        """The quoted theorems that a claim rests on, by name, each with the nearest claim whose derivation quotes it."""
        if id not in self.quoting:
            return {}
        below = [other for other in (id, *self.closure(id, forward=False)) if other in self.subjects]
        found = [(theorem["name"], other) for other in below for theorem in self.subjects[other].row["quotes"]]
        return dict(reversed(found))

    def documents(self) -> list[str]:
        """The documents, as they come."""
        return list(dict.fromkeys(subject.row["document"] for subject in self.subjects.values()))

    def title(self, document: str) -> str:
        """The title of a document; its key where no ledger gives one."""
        return next((run.titles[document] for run in self.runs if document in run.titles), document)

    def of(self, document: str) -> list[Subject]:
        """The claims of a document, as printed."""
        return [subject for subject in self.subjects.values() if subject.row["document"] == document]


def load(paths: Sequence[Path]) -> Report:
    """Read ledgers into one report; raises ValueError that names the file and what is wrong with it."""
    twice = [path for place, path in enumerate(paths) if path.resolve() in {p.resolve() for p in paths[:place]}]
    if twice:
        raise ValueError(f"ledger: expected different files, got {twice[0]} twice")
    runs: list[Run] = []
    labels: list[str] = []
    for place, path in enumerate(paths, start=1):
        found = ledger.read(path)
        if found["environment"].get("shard"):                # what a claim rests on may be in another
            raise ValueError(f"ledger: expected whole runs, got {path}, a shard of one; `merge` joins shards")
        label = _label(found["environment"])
        labels.append(label)
        numbered = f"{label} · run {labels.count(label)}" if label in labels[:-1] else label
        runs.append(Run(place, numbered, found["environment"], {row["id"]: row for row in found["claims"]}, path.name,
                        found.get("documents", {})))
    return merge(runs)


def merge(runs: Sequence[Run]) -> Report:
    """Every claim of every run, in the order of the first run that knows it."""
    ids = dict.fromkeys(id for run in runs for id in run.rows)
    subjects = {id: Subject(tuple((run, run.rows[id]) for run in runs if id in run.rows)) for id in ids}
    documents = list(dict.fromkeys(subject.row["document"] for subject in subjects.values()))
    ordered = sorted(subjects.items(), key=lambda item: documents.index(item[1].row["document"]))
    return Report(tuple(runs), dict(ordered))


def _label(environment: Mapping[str, Any]) -> str:
    parts = [", ".join(map(str, environment.get("devices") or ["device unknown"])), f"Python {environment.get('python', '?')}",
             str(environment["commit"])[:7] if environment.get("commit") else "no commit"]
    return " · ".join(parts)
