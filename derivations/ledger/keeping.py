"""Keep what a run computes: every vote in the journal as soon as it ended, and in the end every row in the ledger.

A run that finds the journal of an interrupted one goes on from it, if both ask for the same with the same settings and no
source changed.  Otherwise the claims whose votes all ended become rows of the ledger, of the run that was interrupted.
"""

import hashlib
import json
from collections.abc import Collection, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest

import derivations
from derivations.ledger import incremental, ledger
from derivations.ledger.joining import joined, shard_of
from derivations.ledger.journal import Journal
from derivations.ledger.rows import states
from derivations.records.documents import outside
from derivations.register.catalogue import entries, ordered

SAME = (*incremental.SETTINGS, "seed", "asked", "complete", "shard")
"""The settings that an interrupted run shares with the one that goes on from it."""


class Keeper:
    """The journal and the ledger of a run whose evidence a `Collector` gathers; `before` is the ledger that it will add to.

    Raises ValueError if the ledger cannot be read, belongs to another shard, or is written by another run.
    """

    def __init__(self, config: pytest.Config, collector: Any) -> None:
        self.config, self.collector = config, collector
        self.path = Path(config.option.ledger)
        self.passed: set[str] = set()
        self.kept: list[str] = []  # tests whose votes an interrupted run left
        self.stay: list[str] = []  # claims whose fuller rows stay
        self.journal = Journal(self.path)
        try:
            self.before = self._last()
            self._take_up()
        except BaseException:
            self.journal.close(keep=True)
            raise

    def _last(self) -> dict[str, Any] | None:
        source = self.path if self.path.exists() else Path(self.config.option.incremental or self.path)
        before = ledger.read(source) if source.exists() else None
        if before and shard_of(before) != shard_of({"environment": self.collector.options()}):
            of = before["environment"].get("shard")
            there = f"which is shard {of['part']}/{of['of']} of another run" if of else "which is no shard"
            raise ValueError(f"--json: expected the ledger of a run of the same kind, got {source}, {there}")
        return before

    def _take_up(self) -> None:
        """Go on from the journal of an interrupted run, or begin a new one."""
        if self.journal.edited:
            click.echo(f"{self.journal.path} was edited, or written by another user or elsewhere: it is not used")
        if (run := self.journal.run) and self._continues(run):
            self.collector.started = run["started"]
            self.kept = replay(self.collector, self.journal.votes)
            self.journal.go_on()
            click.echo(f"{len(self.kept)} checks are kept of the run that was interrupted ({run['environment']['date']})")
            return
        if run:
            self._fold(run)
        self.journal.begin(self._described())

    def _described(self) -> dict[str, Any]:
        option, last = self.config.option, self.config.option.incremental
        narrowed = [option.keyword, option.markexpr, option.deselect, option.ignore, option.ignore_glob]
        read = last and Path(last).exists() and hashlib.sha256(Path(last).read_bytes()).hexdigest()
        described = {
            "environment": ledger.environment([], 0.0, 0, {}) | self.collector.options(),
            "files": self.collector.sources.hashes,
            "started": derivations.STARTED,
            "votes": [sorted(self.config.args), *narrowed],
            "incremental": read or bool(last),
        }
        return json.loads(json.dumps(described))  # type: ignore[no-any-return]

    def _continues(self, run: Mapping[str, Any]) -> bool:
        """Return whether this run asks for what an interrupted one asked for, and no source has changed since that began."""
        mine = self._described()
        environments = [{name: each["environment"].get(name) for name in SAME} for each in (run, mine)]
        opened = opened_by(self.journal.votes) - self.collector.outputs()
        return (
            all(run[name] == mine[name] for name in ("files", "votes", "incremental"))
            and environments[0] == environments[1]
            and not environments[0]["model"]
            and self.collector.sources.unchanged_since(run["files"], run["started"]) == run["files"]
            and incremental.hashes_elsewhere(opened, run["started"]).keys() == opened
        )

    def _fold(self, run: Mapping[str, Any]) -> None:
        """Write a row for each claim whose votes had all ended when the run was interrupted."""
        past = type(self.collector)(self.config)
        past.started, past.files = run["started"], run["files"]
        replay(past, self.journal.votes)
        past.silent()
        whole = [
            id for id in ordered(past.claims_with_evidence - past.incomplete) if past.used.get(id, set()) <= entries().keys()
        ]
        shard = run["environment"].get("shard")
        if whole and (self.before is None or shard_of(self.before) == shard_of(run)) and not shard:
            self.store(past.ledger_of(whole, {**run["environment"], "asked": whole}))

    def note(self, report: pytest.TestReport, *, clean: bool) -> None:
        """Append a vote to the journal once it has passed and was cleaned up after."""
        if report.when == "call" and report.passed and clean:
            self.passed.add(report.nodeid)
        if report.when == "teardown" and report.passed and report.nodeid in self.passed:
            self.journal.add({"test": report.nodeid, "properties": report.user_properties})

    def store(self, now: dict[str, Any], reused: Collection[str] = ()) -> None:
        """Join the rows of a run with those of the ledger, and write it."""
        after = joined(self.before, now, self._outdated(now), reused)
        new = {row["id"]: row["run"] for row in now["claims"]}
        self.stay = [row["id"] for row in after["claims"] if row["run"] != new.get(row["id"], row["run"])]
        ledger.write(after, self.path)
        self.before = after

    def _outdated(self, now: Mapping[str, Any]) -> Collection[str]:
        """Return the claims of a run whose older rows are about other statements or sources."""
        if self.before is None:
            return ()
        computed = {row["id"] for row in now["claims"]}
        rows = [row for row in self.before["claims"] if row["id"] in computed]
        restated = {row["id"] for row in rows if not states(row, entries()[row["id"]])}
        return restated | incremental.outdated_rows(self.collector.sources, {**self.before, "claims": rows}).keys()


def replay(collector: Any, votes: Collection[Mapping[str, Any]]) -> list[str]:
    """Give the votes of a journal to a collector, and return their tests."""
    for vote in votes:
        collector.pytest_runtest_logreport(
            SimpleNamespace(
                nodeid=vote["test"], user_properties=vote["properties"], when="call", passed=True, failed=False, skipped=False
            )
        )
    collector.opened |= opened_by(votes)
    return [vote["test"] for vote in votes]


def opened_by(votes: Collection[Mapping[str, Any]]) -> set[str]:
    """Return the files elsewhere that votes on claims of outside documents have opened."""
    opened = {path for vote in votes for name, paths in vote["properties"] if name == "opened" for path in paths}
    return incremental.project().opened_elsewhere(opened) if opened and outside() else set()
