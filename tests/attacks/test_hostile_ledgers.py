"""Malicious ledgers: every command terminates soon, and a refusal is one line."""

import json
import time
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from derivations.__main__ import main
from derivations.ledger import ledger
from derivations.ledger.rows import sealed
from derivations.register.catalogue import entries
from derivations.register.examining import examine
from tests.attacks.ledgers import ID

SECONDS = 60.0  # most take less than one; a chain makes 600 pages
COMMANDS = (["report", "ledger.json"], ["list"], ["show", ID], ["regress"])

Data = dict[str, Any]
MILLION = 1_000_000


@pytest.fixture(scope="module")
def honest() -> Data:
    return json.loads(json.dumps(ledger.build([examine(entries()[ID]).evidence], [ID], {})))  # type: ignore[no-any-return]


def with_rows(change: Callable[[Data], object]) -> Callable[[Data], str]:
    """The ledger with a changed row, sealed again."""

    def edit(data: Data) -> str:
        change(data["claims"][0])
        return json.dumps({**data, "claims": [sealed(row) for row in data["claims"]]})

    return edit


def foreign(number: str = "one", **fields: Any) -> Callable[[Data], str]:
    """The ledger with its row moved to a paper that is not installed."""

    def change(row: Data) -> None:
        row.update(
            {"document": "paper", "number": number, "id": f"paper.{number}", "depends_on": [], "parts": [], "part_of": None}
            | deepcopy(fields)
        )

    return with_rows(change)


def linked(count: int, circular: bool) -> Callable[[Data], str]:
    """A chain of claims, each of which needs the next one; the last needs nothing, or the first."""

    def edit(data: Data) -> str:
        rows = []
        for k in range(count):
            after = [f"paper.c{(k + 1) % count}"] if circular or k + 1 < count else []
            made = json.loads(foreign(f"c{k}", depends_on=after)(deepcopy(data)))
            rows += made["claims"]
        return json.dumps({**data, "claims": rows})

    return edit


def formula(latex: str) -> Callable[[Data], str]:
    return with_rows(
        lambda row: row.update(
            document="paper",
            number="one",
            id="paper.one",
            depends_on=[],
            parts=[],
            part_of=None,
            statement={**row["statement"], "latex": latex},
        )
    )


def rewritten(**fields: Any) -> Callable[[Data], str]:
    return lambda data: json.dumps({**data, **fields})


HOSTILE: dict[str, Callable[[Data], str]] = {
    "lists, 10,000 deep": lambda _: "[" * 10_000 + "]" * 10_000,
    "claims, 10,000 deep": lambda _: '{"schema": 1, "claims": ' + "[" * 10_000 + "]" * 10_000 + "}",
    "lists that never close": lambda _: "[" * MILLION,
    "a title that is a list": with_rows(lambda row: row.update(title=["x"])),
    "a canonical repair that is a list": with_rows(lambda row: row.update(canonical_repair=[1])),
    "a canonical repair with a number for a form": with_rows(lambda row: row.update(canonical_repair={"form": 3})),
    "files that are numbers": rewritten(files={"a": 3}),
    "files that are a list": rewritten(files=[1]),
    "files outside": rewritten(files={"../../../etc/passwd": "x", "a" * 10_000: "y"}),
    "a document of a million letters": rewritten(documents={"eot": "E" * MILLION}),
    "an id of 300 letters": foreign("a" * 300),
    "an id of 10,000 letters": foreign("a" * 10_000),
    "an id of 10,000 dots": foreign(".a" * 10_000),
    "a claim that needs itself": linked(1, circular=True),
    "a cycle of needs": linked(3, circular=True),
    "a chain of 600": linked(600, circular=False),
    "a part of itself": foreign(part_of="paper.one", parts=["paper.one"]),
    "a formula of a megabyte": formula("x+" * (MILLION // 2)),
    "a formula 2,000 braces deep": formula("{" * 2000 + "x" + "}" * 2000),
    "a formula 400 fractions deep": formula(r"\frac{" * 400 + "x" + "}{2}" * 400),
    "a title of a megabyte": foreign(title="T" * MILLION),
    "a title of dotted words": foreign(title="a." * (MILLION // 2)),
    "control characters": foreign(title="\x00\x1b[31m"),
    "a seed of 5,000 digits": lambda data: json.dumps(data)[:-1] + ', "environment": {"seed": 1' + "0" * 5000 + "}}",
    "no text": lambda _: "\udcff",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_every_command_ends(name: str, honest: Data, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = HOSTILE[name](deepcopy(honest))
    (tmp_path / "ledger.json").write_bytes(content.encode("utf-8", "surrogateescape"))
    monkeypatch.chdir(tmp_path)
    for command in COMMANDS:
        start = time.monotonic()
        result = CliRunner().invoke(main, command)
        assert isinstance(result.exception, SystemExit | None), (command, result.exception)
        assert result.exit_code in (0, 1, 2), (command, result.output[-300:])
        assert time.monotonic() - start < SECONDS, command


def test_dependents_of_a_claim_are_listed_once_in_chains_and_cycles() -> None:
    rows = [
        {"id": f"paper.c{k}", "depends_on": [f"paper.c{(k + 1) % 2000}"], "quotes": [], "verdict": "proved"}
        for k in range(2000)
    ]
    start = time.monotonic()
    assert ledger.quoting(rows) == {}
    assert len(ledger.green({"claims": rows})) == 2000
    rows[7] |= {"quotes": [{}], "verdict": "open"}
    assert ledger.quoting(rows)["paper.c7"] == "directly"
    assert list(ledger.quoting(rows).values()).count("through needs") == 1999
    assert ledger.green({"claims": rows}) == set()
    assert time.monotonic() - start < SECONDS / 10
