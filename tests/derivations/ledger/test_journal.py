"""The journal of a run: it survives a torn line, reveals edits, and belongs to one run at a time."""

from pathlib import Path

import pytest

from derivations.ledger import journal as journals
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


def test_a_journal_from_elsewhere_is_not_used(ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever sends one along with false claims does not have the key."""
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(journals, "_key", lambda: b"")
        assert left(ledger) == (None, [], True)
        journal = Journal(ledger)
        journal.begin(RUN)
        journal.add(VOTES[0])
        journal.close(keep=True)
        assert left(ledger) == (RUN, VOTES[:1], False)
    assert left(ledger) == (None, [], True)


def test_the_key_stays_the_same_and_is_readable_by_its_user_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journals, "cache_folder", lambda: tmp_path / "cache")
    keys = {journals._key.__wrapped__() for _ in range(3)}
    assert len(keys) == 1
    assert len(*keys) == 32
    assert [(path.name, path.stat().st_mode & 0o777) for path in (tmp_path / "cache").iterdir()] == [("journal.key", 0o600)]
    monkeypatch.setattr(journals, "cache_folder", lambda: Path("/dev/null"))
    assert journals._key.__wrapped__() != journals._key.__wrapped__()


def test_only_one_run_writes_a_ledger(ledger: Path) -> None:
    journal = Journal(ledger)
    with pytest.raises(ValueError, match=r"expected a ledger that no other run writes, got .*ledger\.json"):
        Journal(ledger)
    journal.close(keep=False)
    assert not place(ledger).exists()
    Journal(ledger).close(keep=True)
    assert not place(ledger).exists()  # it says nothing
