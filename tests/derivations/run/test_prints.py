"""The command `print`: which claims it shows, its table of agreement, and its exit status."""

from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from derivations.records.prints import Check, Standing
from derivations.run import prints as command
from tests.registers import register

AGREES, DIFFERS, UNREAD = (
    Check(standing, "x = y", f"because {standing}") for standing in (Standing.AGREES, Standing.DIFFERS, Standing.UNREAD)
)
CLAIMS = {"one.1": AGREES, "one.2": UNREAD, "one.s1.formula": AGREES, "one.s1.prose": None, "two.1": AGREES, "plain.1": None}


@pytest.fixture(autouse=True)
def repaired(monkeypatch: pytest.MonkeyPatch) -> dict[str, Check]:
    """A catalogue of three documents, two of which have a table; the comparisons of corrections."""

    def entry(id: str) -> SimpleNamespace:
        latex = r"f \text{ is convex}" if id.endswith("prose") else f"x = {id}"
        return SimpleNamespace(id=id, latex=latex)

    corrections: dict[str, Check] = {}
    register(monkeypatch, *map(entry, CLAIMS), documents=("one", "two", "plain"))
    monkeypatch.setattr(command, "print_of", lambda each, entries: CLAIMS[each.id])
    monkeypatch.setattr(command, "correction_of", lambda each, entries: corrections.get(each.id))
    monkeypatch.setattr(command.tables, "table", lambda document: document != "plain" or None)
    return corrections


def printed(*arguments: str) -> tuple[int, list[str]]:
    """The exit status and the lines, without the columns' padding."""
    result = CliRunner().invoke(command.print_, arguments)
    return result.exit_code, [" ".join(line.split()) for line in result.stdout.splitlines()]


ONE = [
    "one: 2 numbered formulas: 50% agree: 1 agrees, 0 differs, 0 not compared, 1 not read, 0 without a derivation",
    "one: 3 claims that are formulas only: 67% agree: 2 agrees, 0 differs, 0 not compared, 1 not read, 0 without a derivation",
]
TWO = [
    "two: 1 numbered formulas: 100% agree: 1 agrees, 0 differs, 0 not compared, 0 not read, 0 without a derivation",
    "two: 1 claims that are formulas only: 100% agree: 1 agrees, 0 differs, 0 not compared, 0 not read, 0 without a derivation",
]
ALL = [
    "all: 3 numbered formulas: 67% agree: 2 agrees, 0 differs, 0 not compared, 1 not read, 0 without a derivation",
    "all: 4 claims that are formulas only: 75% agree: 3 agrees, 0 differs, 0 not compared, 1 not read, 0 without a derivation",
]


def test_all_claims_are_counted_and_those_that_do_not_agree_are_shown() -> None:
    assert printed() == (0, ["not read one.2 x = one.2", "because not read", *ONE, *TWO, *ALL])


def test_named_claims_are_shown_completely() -> None:
    assert printed("two.1") == (0, ["agrees two.1 x = two.1", "read as x = y", "because agrees"])
    status, lines = printed("one.1", "two.1")
    assert (status, lines[:3]) == (0, ["agrees one.1 x = one.1", "read as x = y", "because agrees"])
    assert lines[6:] == [
        "one: 1 numbered formulas: 100% agree: 1 agrees, 0 differs, 0 not compared, 0 not read, 0 without a derivation",
        "one: 1 claims that are formulas only: 100% agree: 1 agrees, 0 differs, 0 not compared, 0 not read, "
        "0 without a derivation",
        *TWO,
        "all: 2 numbered formulas: 100% agree: 2 agrees, 0 differs, 0 not compared, 0 not read, 0 without a derivation",
        "all: 2 claims that are formulas only: 100% agree: 2 agrees, 0 differs, 0 not compared, 0 not read, "
        "0 without a derivation",
    ]


def test_a_document_is_counted_by_itself_and_shown_completely_on_request() -> None:
    assert printed("one") == (
        0,
        ["not read one.2 x = one.2", "because not read", *ONE, *[line.replace("one", "all") for line in ONE]],
    )
    status, lines = printed("one", "--all")
    assert (status, lines[:3], len(lines)) == (0, ["agrees one.1 x = one.1", "read as x = y", "because agrees"], 13)
    assert printed("plain")[1] == []


def test_a_claim_without_a_derivation_is_counted() -> None:
    assert printed("one.s1.prose", "one.1")[1][-1].endswith(
        "1 agrees, 0 differs, 0 not compared, 0 not read, 0 without a derivation"
    )
    lines = list(command.table({"two.1": AGREES, "one.2": None}))
    assert lines[2].startswith("one: 1 numbered formulas: 0% agree: 0 agrees")
    assert lines[2].endswith("0 not read, 1 without a derivation")
    assert next(command.table({"one.s1.prose": None})).startswith("one: 0 numbered formulas: none agree")


def test_a_print_or_a_correction_that_differs_fails_the_command(
    repaired: dict[str, Check], monkeypatch: pytest.MonkeyPatch
) -> None:
    repaired["two.1"] = AGREES
    assert printed("two") == (0, [])
    assert printed("two.1")[1][-1] == "agrees two.1 (the correction) because agrees"
    repaired["two.1"] = DIFFERS
    assert printed("two") == (1, ["differs two.1 (the correction) because differs"])
    repaired.clear()
    monkeypatch.setitem(CLAIMS, "two.1", DIFFERS)
    assert printed("two") == (1, ["differs two.1 x = two.1", "because differs"])


def test_an_unknown_name_is_refused() -> None:
    result = CliRunner().invoke(command.print_, ["one.1", "three"])
    assert result.exit_code == 2
    assert "ID: expected a claim or a document, got three; see `python -m derivations list`" in result.stderr
