"""The page on trust: its counts are up to date, and the starting pages link to it."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from derivations.ledger import baseline
from derivations.records.claims import Verdict
from derivations.records.normal_form import Canonical, Form, Premise, Sign
from derivations.report import prose
from tests import trust

ROOT = Path(__file__).parents[1]


def test_counts_are_up_to_date() -> None:
    page = trust.PAGE.read_text(encoding="utf-8")
    assert trust.written(page) == page, "run `python -m tests.trust`"


def test_wrong_counts_are_detected() -> None:
    page = trust.PAGE.read_text(encoding="utf-8")
    other = page.replace("kinds of statement. ", "kinds of statement. 1")
    assert other != page
    assert trust.written(other) == page


def test_the_counts() -> None:
    at_least = Form(Sign.AT_LEAST)
    statement = Canonical(Form(Sign.AT_LEAST, given=(Premise("x", at_least, "y"),)), "x", "y", {}, ())
    entry = baseline.load()["eot.59"]
    first = replace(entry, quotes=("squeeze",), text=replace(entry.text, rests_on=()), canonical=statement)
    rests = replace(entry, verdict=Verdict.OPEN, quotes=(), text=replace(entry.text, rests_on=("a.1",)), canonical=None)
    counts = trust.counts({"a.1": first, "a.2": rests}, {"test_sums": 3})
    for line in (
        "| proved | 1 |",
        "| open | 1 |",
        "| directly | 1 |",
        "| through needs | 1 |",
        "| ≥ | 1 |",
        "| sums | 3 |",
        "2 claims are in the baseline, and 3 attacks",
    ):
        assert line in counts


@pytest.mark.parametrize("page", ["README.md", "derivations/report/templates/index.html"])
def test_the_page_is_linked(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert "docs/trust.md" in text or "trust.html" in text


def test_the_page_is_a_part_of_the_report() -> None:
    page = prose.documented()["trust"]
    for words in (
        "<h1>What has to be believed</h1>",
        "<h2>Deliberate limits</h2>",
        "<li><b>A ledger has no signature.</b>",
        '<th scope="col">checked by</th>',
        "<code>derivations/ledger/rows.py</code>",
    ):
        assert words in page
    assert "<!--" not in page


def test_a_report_does_without_pages_that_are_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "edges.md").write_text("# Alone\n", encoding="utf-8")
    monkeypatch.setattr(prose, "DOCS", tmp_path)
    assert prose.documented() == {"edges": "<h1>Alone</h1>"}


def test_code_is_never_bold() -> None:
    assert prose.inline("**a** `x ** 2` and `y ** 3`") == "<b>a</b> <code>x ** 2</code> and <code>y ** 3</code>"


def test_markdown_is_never_markup() -> None:
    assert prose.page("# <b>\n\n[a](https://example.org) `<i>` **x**\n\n| <u> |\n| --- |\n| 1 |\n\n- <s>\n  on\n- two") == (
        "<h1>&lt;b&gt;</h1>\n<p>a <code>&lt;i&gt;</code> <b>x</b></p>\n"
        '<div class="scroll"><table><thead><tr><th scope="col">&lt;u&gt;</th></tr></thead><tbody><tr><td>1</td></tr></tbody>'
        "</table></div>\n<ul><li>&lt;s&gt; on</li><li>two</li></ul>"
    )
