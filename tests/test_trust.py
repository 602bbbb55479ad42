"""The page on trust: the starting pages link to it, and the report shows it."""

from pathlib import Path

import pytest

from derivations.report import prose

ROOT = Path(__file__).parents[1]


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
