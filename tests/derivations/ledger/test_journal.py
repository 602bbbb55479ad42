"""The journal of a run: it survives a torn line, reveals edits, and belongs to one run at a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from derivations.ledger.journal import Journal, place

RUN = {"environment": {"date": "today"}}
VOTES = [{"test": f"x::{n}", "properties": [["claim", ["eot.59", "τ"]]]} for n in range(3)]


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    path = tmp_path / "ledger.json"
    journal = Journal(path)
    assert journal.run is None
    journal.begin(RUN)
    for vote in VOTES:
        journal.add(vote)
    journal.close(keep=True)
    return path


def left(ledger: Path) -> tuple[object, object, bool]:
    journal = Journal(ledger)
    journal.close(keep=True)
    return journal.run, journal.votes, journal.edited


def test_what_was_written_is_read(ledger: Path) -> None:
    assert left(ledger) == (RUN, VOTES, False)


@pytest.mark.parametrize("cut", [1, 5, 30])
def test_a_torn_line_is_left_out_and_written_over(cut: int, ledger: Path) -> None:
    path = place(ledger)
    path.write_bytes(path.read_bytes()[:-cut])
    assert left(ledger) == (RUN, VOTES[:2], False)
    journal = Journal(ledger)
    journal.go_on()
    journal.add(VOTES[2])
    journal.close(keep=True)
    assert left(ledger) == (RUN, VOTES, False)


@pytest.mark.parametrize("size", [0, 3, 17, 40])
def test_a_torn_first_line_is_no_journal(size: int, ledger: Path) -> None:
    path = place(ledger)
    path.write_bytes(path.read_bytes()[:size])
    assert left(ledger)[:2] == (None, [])


@pytest.mark.parametrize(
    "edit",
    [
        lambda lines: [lines[0], lines[1].replace(b"eot.59", b"eot.46"), *lines[2:]],
        lambda lines: [*lines[:3], lines[3].replace(b"eot.59", b"eot.46")],
        lambda lines: [lines[0], *lines[2:]],
        lambda lines: [lines[0], lines[2], lines[1], lines[3]],
        lambda lines: [*lines, lines[-1]],
        lambda lines: lines[1:],
        lambda lines: [lines[0].replace(b"today", b"never"), *lines[1:]],
    ],
    ids=["a vote", "the last vote", "one less", "another order", "one twice", "no head", "the head"],
)
def test_an_edited_journal_is_not_used(edit: object, ledger: Path) -> None:
    path = place(ledger)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(edit(lines)))  # type: ignore[operator]
    assert left(ledger) == (None, [], True)


def test_only_one_run_writes_a_ledger(ledger: Path) -> None:
    journal = Journal(ledger)
    with pytest.raises(ValueError, match=r"expected a ledger that no other run writes, got .*ledger\.json"):
        Journal(ledger)
    journal.close(keep=False)
    assert not place(ledger).exists()
    Journal(ledger).close(keep=True)
    assert not place(ledger).exists()  # it says nothing
