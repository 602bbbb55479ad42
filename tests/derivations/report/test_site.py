"""The folder that `report` writes is complete, has no links outside, and is written entirely or not at all."""

import os
import re
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from click.testing import CliRunner

from derivations import __main__ as command
from derivations.records.claims import Verdict
from derivations.register.catalogue import entries
from derivations.report import pages, site
from derivations.report.appearance import DIFFERS, LOOKS, PAPER, SEVERITIES, stylesheet
from derivations.report.merging import Report, load
from tests.derivations.report import samples
from tests.derivations.report.markup import Element, having, ids, read
from tests.derivations.report.samples import row


def report_of(folder: Path, *ledgers: dict[str, Any]) -> Report:
    return load([samples.saved(folder, ledger, f"{number}.json") for number, ledger in enumerate(ledgers)])


def page(folder: Path, name: str, *ledgers: dict[str, Any]) -> str:
    return dict(pages.pages(report_of(folder, *ledgers)))[name]


# ── the pages ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_every_claim_has_a_page_a_cell_and_a_line(complete_report: Path) -> None:
    front = read((complete_report / "index.html").read_text(encoding="utf-8"))
    cells = having(front, "cell")
    assert [cell.attributes["data-id"] for cell in cells] == list(entries())
    assert [line.attributes["data-id"] for line in front if "data-text" in line.attributes] == list(entries())
    assert {path.name for path in (complete_report / "claims").iterdir()} == {f"{id}.html" for id in entries()}
    for cell in cells:
        look = next(look for look in LOOKS.values() if f"v-{look.key}" in cell.attributes["class"].split())
        assert cell.words.strip() == look.sign
        for word in (cell.attributes["data-id"], entries()[cell.attributes["data-id"]].title, look.name):
            assert word in cell.attributes["aria-label"]


def test_page_names_do_not_collide_where_case_is_ignored() -> None:
    assert len({id.lower() for id in entries()}) == len(entries())


def link_fault(element: Element, path: Path, root: Path) -> str | None:
    """The fault in an element's link, if there is one."""
    target = element.attributes.get("href") or element.attributes.get("src")
    if target is None or target.startswith("data:image/svg+xml,"):
        return None
    parts = urlsplit(target)
    goal = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if parts.scheme or parts.netloc or not goal.is_relative_to(root) or not goal.is_file():
        return f"{path.name}: {target}"
    return None if not parts.fragment or "=" in parts.fragment or unquote(parts.fragment) in ids(goal) else f"#{parts.fragment}"


@pytest.mark.parametrize(
    "target",
    [
        "https://example.org/",
        "//example.org/a.js",
        "no-such.html",
        "../../outside.html",
        "index.html#no-such-place",
        "javascript:alert(1)",
    ],
)
def test_a_link_to_the_outside_is_detected(target: str, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<p id='here'></p>")
    assert link_fault(Element("a", {"href": target}), tmp_path / "index.html", tmp_path)
    assert not link_fault(Element("a", {"href": "index.html#here"}), tmp_path / "index.html", tmp_path)


def test_no_page_leads_out_and_no_link_is_dead(tmp_path: Path) -> None:
    site.write(report_of(tmp_path, samples.every_verdict()), tmp_path / "report")
    for path in (tmp_path / "report").rglob("*.html"):
        elements = read(path.read_text(encoding="utf-8"))
        assert [fault for element in elements if (fault := link_fault(element, path, tmp_path / "report"))] == []


def test_no_page_of_the_complete_report_names_a_local_path(complete_report: Path) -> None:
    for path in complete_report.rglob("*.*"):
        text = path.read_text(encoding="utf-8").replace("xmlns='http://www.w3.org/2000/svg'", "")
        assert not re.search(r"(?:src|href|action|data)=[\"']?(?:\w+:)?//|url\(|@import|https?://", text), path.name
        if path.suffix == ".html":
            assert "default-src 'none'" in text
            assert not re.search(r"<[^>]+\s(?:style|on\w+)=", text), f"{path.name} carries a style or a script in a tag"


def test_every_page_is_well_formed(complete_report: Path) -> None:
    for path in complete_report.rglob("*.html"):
        assert read(path.read_text(encoding="utf-8")), path.name


def test_a_claim_page_tells_everything(tmp_path: Path) -> None:
    ledger = samples.every_verdict()
    for claim in ledger["claims"]:
        elements = read(page(tmp_path, pages.claim_path(claim["id"]), ledger))
        words = next(element.words for element in elements if element.tag == "main")
        wanted = [
            claim["title"],
            claim["statement"]["text"],
            *claim["hypotheses"],
            claim["derivation"][0]["statement"],
            claim["derivation"][0]["reason"],
            claim["evidence"][0]["scope"],
            "0.25 s",
            "τ is lost",
            "refuted by " + claim["evidence"][0]["layer"],
            *claim["depends_on"],
            f"python -m derivations verify {claim['id']}",
            LOOKS[claim["verdict"]].name,
        ]
        wanted += ["What is true.", "a = c*b"] if claim["correction"] else []
        wanted += ["(0, 1/2)", "−∞", "≠", claim["severity"]] if claim["witness"] else []
        wanted += ["not enough"] if claim["verdict"] == "proved-under" else []
        assert [word for word in wanted if word not in " ".join(words.split())] == [], claim["id"]
        assert sum(element.tag == "math" for element in elements) == (2 if claim["correction"] else 1)


def test_results_of_the_symbolic_layer_are_shown(tmp_path: Path) -> None:
    (tmp_path / "ledger.json").write_text(samples.examined(), encoding="utf-8")
    report = load([tmp_path / "ledger.json"])
    pages_by_name = dict(pages.pages(report))
    assert {"proved", "proved-under", "corrected", "definition"} <= {subject.verdict for subject in report.claims.values()}
    for id, subject in report.claims.items():
        elements = read(pages_by_name[pages.claim_path(id)])
        written = {element.attributes.get("alttext", element.words) for element in elements if element.tag in ("math", "pre")}
        steps = subject.steps("derivation") + subject.steps("repair")
        assert steps
        assert {step["latex"] or step["statement"] for step in steps} <= written


def test_a_run_outside_a_checkout_is_labelled(tmp_path: Path) -> None:
    assert page(tmp_path, "claims/eot.1.html", samples.of(row(), commit=None)).count("Python 3.11.7 · no commit") >= 1


def test_skipped_claims_are_shown(tmp_path: Path) -> None:
    front = page(tmp_path, "index.html", samples.every_verdict())
    for word in ("no GPU here", "0123456789abcdef", "2025-01-02", "sympy 1.14.0", "3.11.7"):
        assert word in front


def test_the_measured_edges_are_a_part_of_the_report(tmp_path: Path) -> None:
    report = report_of(tmp_path, samples.every_verdict())
    by_name = dict(pages.pages(report))
    assert 'href="edges.html"' in by_name["index.html"]
    for heading in ("Errors", "Hostile inputs", "Mutants"):
        assert re.search(rf"<h2>{heading}</h2>.*?<table>.*?<td>", by_name["edges.html"], re.DOTALL), heading


@pytest.mark.parametrize(("count", "runs"), [(1, ""), (2, " of 2 runs")])
def test_the_command_says_what_it_has_written(tmp_path: Path, count: int, runs: str) -> None:
    ledgers = [str(samples.saved(tmp_path, samples.of(row()), f"{number}.json")) for number in range(count)]
    result = CliRunner().invoke(site.report, [*ledgers, f"--output={tmp_path / 'out'}"])
    assert result.output == f"{tmp_path / 'out' / 'index.html'} written: 1 claims{runs}\n"


def test_an_empty_environment_is_accepted(tmp_path: Path) -> None:
    bare = samples.of(row()) | {"environment": {}}
    assert "not in a git checkout" in page(tmp_path, "index.html", bare)


def test_text_is_never_markup(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script><img src=x onerror=alert(2)>&amp;"
    row_data = row(
        "eot.1",
        verdict="corrected",
        title=evil,
        hypotheses=[evil],
        statement={"latex": r"a<b \text{</math><b>}", "text": evil},
        correction={"latex": rf"\nosuchcommand{evil}", "text": evil},
        derivation=[samples.step(f"</pre>{evil}", evil, holds=False)],
        witness={"inputs": {evil: evil}, "left": evil, "sign": evil, "right": evil, "about": evil},
        twins=[{"name": evil, "refuted_by": [evil]}, {"name": "τ", "refuted_by": [evil]}],
    )
    pages_by_name = dict(pages.pages(report_of(tmp_path, samples.of(row_data, skipped={evil: 1}, devices=[evil]))))
    for name, text in pages_by_name.items():
        elements = read(text)
        assert [element.attributes["src"] for element in elements if element.tag == "script"] in (
            ["static/script.js"],
            ["../static/script.js"],
        ), name
        assert not [element for element in elements if element.tag in ("img", "b") and "onerror" in element.attributes]
        shown = evil in "".join(element.words for element in elements if element.tag == "main")
        own = name not in ("trust.html", "edges.html")
        assert shown == own, f"{name}: expected the text of the ledger, except on the pages that show none"


# ── one table for the looks ─────────────────────────────────────────────────────────────────────────────────────────


def test_every_verdict_looks_different() -> None:
    assert set(LOOKS) == {*Verdict, DIFFERS}
    assert len({look.sign for look in LOOKS.values()}) == len(LOOKS)


def test_legend_and_style_come_from_the_table(tmp_path: Path) -> None:
    elements = read(page(tmp_path, "index.html", samples.every_verdict()))
    at = next(index for index, element in enumerate(elements) if element.attributes.get("class") == "legend")
    marks = [element for element in elements[at:] if element.attributes.get("class", "").startswith("mark v-")]
    assert [(mark.attributes["class"][7:], mark.words) for mark in marks] == [
        (look.key, look.sign) for look in LOOKS.values() if look.key != DIFFERS
    ]
    style = stylesheet()
    for look in LOOKS.values():
        assert re.search(rf"\.v-{look.key} {{.*{look.light.fill}.*{look.dark.fill}.*{look.light.ink}", style)


def luminance(colour: str) -> float:
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """The contrast ratio of WCAG 2."""
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_that_of_the_standard() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") < 4.5 < contrast("#757575", "#ffffff")  # the well-known border


@pytest.mark.parametrize("look", LOOKS.values(), ids=list(LOOKS))
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_contrast_is_enough(look: Any, mode: str) -> None:
    shade = getattr(look, mode)
    assert contrast(shade.ink, shade.fill) >= 4.5
    assert contrast(shade.edge, PAPER[mode]) >= 3 or contrast(shade.fill, PAPER[mode]) >= 3


def test_the_greys_of_the_style_can_be_read() -> None:
    style = (site.STATIC / "style.css").read_text(encoding="utf-8")
    named = {name: (light, dark) for name, light, dark in re.findall(r"--(\w+): light-dark\((#\w{6}), (#\w{6})\)", style)}
    for mode, paper in enumerate(PAPER.values()):
        for name in ("text", "soft", "link", "caution", "alarm"):
            for ground in (paper, named["panel"][mode]):
                assert contrast(named[name][mode], ground) >= 4.5, (name, ground)


def test_the_heaps_add_up(tmp_path: Path) -> None:
    report = report_of(tmp_path, samples.every_verdict())
    assert pages.verdict_groups(report) == [(6, "stand as printed"), (4, "do not"), (1, "are open")]
    assert "6 stand as printed, 4 do not, and 1 are open." in " ".join(
        having(read(page(tmp_path, "index.html", samples.every_verdict())), "lead")[0].words.split()
    )


# ── the errata ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_errata_list_the_faulty_claims_worst_first(tmp_path: Path) -> None:
    ledger = samples.every_verdict()
    elements = read(page(tmp_path, "errata-eot.html", ledger))
    listed = [element.attributes["id"] for element in having(elements, "erratum")]
    by_id = {claim["id"]: claim for claim in ledger["claims"]}
    assert set(listed) == {id for id, claim in by_id.items() if claim["severity"] and claim["document"] == "eot"}
    severities = [by_id[id]["severity"] for id in listed]
    assert severities == sorted(severities, key=list(SEVERITIES).index)
    assert set(severities) == set(SEVERITIES)
    terms = [element.words for element in elements if element.tag == "dt"]
    assert [terms.count(word) for word in ("printed", "why it fails", "correct")] == [len(listed)] * 3
    assert "Theorem 6.3" in "".join(element.words for element in having(elements, "where"))


def test_a_document_without_faults_is_marked_so(tmp_path: Path) -> None:
    assert "No fault was found" in page(tmp_path, "errata-geometric.html", samples.every_verdict())


# ── the command ─────────────────────────────────────────────────────────────────────────────────────────────────────


def call(monkeypatch: pytest.MonkeyPatch, folder: Path, *arguments: str) -> int:
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["derivations", "report", *arguments])
    with pytest.raises(SystemExit) as left:
        command.run()
    return int(left.value.code or 0)


def test_the_command_writes_the_site(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    samples.saved(tmp_path, samples.every_verdict())
    assert call(monkeypatch, tmp_path) == 0
    assert "11 claims" in capsys.readouterr().out
    assert {path.name for path in tmp_path.iterdir()} == {"ledger.json", "report"}
    assert (tmp_path / "report" / "index.html").is_file()
    assert (tmp_path / "report").stat().st_mode & 0o777 == 0o755


BAD = {
    "not json": "not json",
    "a list": "[]",
    "another schema": '{"schema": 99}',
    "no claims": '{"schema": 1, "environment": {}}',
    "empty": '{"schema": 1, "environment": {}, "claims": []}',
    "no object": '{"schema": 1, "environment": {}, "claims": [3]}',
}
BAD_ROWS = {
    "no title": {"title": None},
    "a verdict of its own": {"verdict": "splendid"},
    "a severity of its own": {"severity": "dire"},
    "an id that is a path": {"id": "../../etc/passwd"},
    "an id with markup": {"id": "eot.<b>"},
    "a document that is a path": {"document": "../eot"},
    "half a statement": {"statement": {"latex": "a"}},
    "evidence without outcome": {"evidence": [{"layer": "torch"}]},
    "a step without reason": {"derivation": [{"statement": "a"}]},
}


@pytest.mark.parametrize("content", BAD.values(), ids=list(BAD))
def test_a_bad_ledger_is_one_line(
    content: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.json").write_text(content)
    assert call(monkeypatch, tmp_path, "bad.json") == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert len(output.err.strip().splitlines()) == 1
    assert "bad.json" in output.err
    assert [path.name for path in tmp_path.iterdir()] == ["bad.json"]


@pytest.mark.parametrize("changes", BAD_ROWS.values(), ids=list(BAD_ROWS))
def test_a_bad_row_is_named(changes: dict[str, Any], tmp_path: Path) -> None:
    ledger = samples.of(row("eot.1"), row("eot.2"))
    ledger["claims"][1] |= changes
    with pytest.raises(ValueError, match=r"claim 2 .*: (expected .*, got |missing field )"):
        report_of(tmp_path, ledger)


def test_a_repeated_id_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"claim 2 \(eot\.1\): id: duplicate"):
        report_of(tmp_path, samples.of(row("eot.1"), row("eot.1")))


@pytest.mark.parametrize(
    "arguments",
    [
        ("missing.json",),
        (".",),
        ("good.json", "./good.json"),
        ("good.json", "--output", "full"),
        ("good.json", "--output", "good.json"),
        ("good.json", "--output", "no/such/folder"),
    ],
    ids=" ".join,
)
def test_bad_arguments_change_nothing(
    arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    samples.saved(tmp_path, samples.every_verdict(), "good.json")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "index.html").write_text("a page of somebody else")
    before = sorted(tmp_path.rglob("*"))
    assert call(monkeypatch, tmp_path, *arguments) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1
    assert sorted(tmp_path.rglob("*")) == before


def test_an_older_report_is_replaced_entirely(tmp_path: Path) -> None:
    site.write(report_of(tmp_path, samples.of(row("eot.1"), row("eot.2"))), tmp_path / "report")
    assert (tmp_path / "report" / "claims" / "eot.2.html").exists()
    site.write(report_of(tmp_path, samples.of(row("eot.1"))), tmp_path / "report")
    assert [path.name for path in (tmp_path / "report" / "claims").iterdir()] == ["eot.1.html"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0.json", "report"]


def test_an_empty_folder_is_filled(tmp_path: Path) -> None:
    (tmp_path / "report").mkdir()
    site.write(report_of(tmp_path, samples.every_verdict()), tmp_path / "report")
    assert (tmp_path / "report" / "index.html").is_file()


@pytest.mark.parametrize("moment", ["while it is written", "while it is put in place"])
def test_a_failure_leaves_the_older_report(moment: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    report = report_of(tmp_path, samples.every_verdict())
    site.write(report, tmp_path / "report")
    before = {path: path.read_bytes() for path in (tmp_path / "report").rglob("*.*")}

    def broken(*_: object) -> Any:
        raise OSError("the disk is full")

    if moment == "while it is written":
        monkeypatch.setattr(site, "pages", broken)
    else:
        replace, moves = os.replace, []

        def second_breaks(source: Path, target: Path) -> None:
            moves.append(source)
            replace(source, target) if len(moves) != 2 else broken()

        monkeypatch.setattr(os, "replace", second_breaks)
    with pytest.raises(OSError, match="the disk is full"):
        site.write(report, tmp_path / "report")
    assert {path: path.read_bytes() for path in (tmp_path / "report").rglob("*.*")} == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0.json", "report"]
