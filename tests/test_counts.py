"""The counts of README.md and docs/trust.md are those of the baseline and the attack suite."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from derivations.ledger import baseline
from derivations.records.claims import Verdict
from derivations.records.normal_form import Canonical, Form, Premise, Sign
from tests import counts
from tests.attacks import attacks


@pytest.mark.parametrize("path", counts.PAGES, ids=lambda path: path.name)
def test_counts_are_up_to_date(path: Path) -> None:
    page = path.read_text(encoding="utf-8")
    assert counts.written(page, baseline.load(), attacks()) == page, "run `python -m tests.counts`"


@pytest.mark.parametrize(("path", "before"), [*zip(counts.PAGES, ("eot: ", "kinds of statement. "), strict=True)])
def test_wrong_counts_are_detected(path: Path, before: str) -> None:
    page = path.read_text(encoding="utf-8")
    other = page.replace(before, f"{before}1")
    assert other != page
    assert counts.written(other, baseline.load(), attacks()) == page


def test_the_counts() -> None:
    at_least = Form(Sign.AT_LEAST)
    statement = Canonical(Form(Sign.AT_LEAST, given=(Premise("x", at_least, "y"),)), "x", "y", {}, ())
    entry = baseline.load()["eot.59"]
    first = replace(entry, quotes=("squeeze",), text=replace(entry.text, rests_on=()), canonical=statement)
    rests = replace(entry, verdict=Verdict.OPEN, quotes=(), text=replace(entry.text, rests_on=("a.1",)), canonical=None)
    written = counts.tables({"a.1": first, "a.2": rests}, {"test_sums": 3})
    for line in (
        "| proved | 1 |",
        "| open | 1 |",
        "| directly | 1 |",
        "| through needs | 1 |",
        "| ≥ | 1 |",
        "| sums | 3 |",
        "2 claims are in the baseline, and 3 attacks",
    ):
        assert line in written
    page = "eot: 9 claims: 9 open\na: 3 claims: 2 proved, 1 open"
    assert counts.written(page, {"a.1": first, "a.2": rests}, {}) == "eot: 0 claims: \na: 2 claims: 1 proved, 1 open"
