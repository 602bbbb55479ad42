"""Several ledgers in one report: evidence keeps its environment, and a disagreement is loud."""

from pathlib import Path
from typing import Any

import pytest

from derivations.report import graph, pages
from derivations.report.merging import Report, load
from tests.derivations.report import samples
from tests.derivations.report.markup import having, read
from tests.derivations.report.samples import row

CUDA = {"devices": ["NVIDIA H200"]}


def merged(folder: Path, *ledgers: dict[str, Any]) -> Report:
    return load([samples.saved(folder, ledger, f"{number}.json") for number, ledger in enumerate(ledgers)])


def words(report: Report, name: str) -> str:
    elements = read(dict(pages.pages(report))[name])
    return " ".join(next(element.words for element in elements if element.tag == "main").split())


def test_evidence_of_both_runs_is_shown_with_its_environment(tmp_path: Path) -> None:
    proof = row()["evidence"][0]
    there = row("eot.1", evidence=[proof, proof | {"layer": "torch", "environment": "cuda"}])
    report = merged(tmp_path, samples.of(row("eot.1")), samples.of(there, **CUDA))
    assert [(run.number, e["layer"]) for run, e in report.claims["eot.1"].evidence] == [
        (1, "symbolic"),
        (2, "symbolic"),
        (2, "torch"),
    ]
    assert report.claims["eot.1"].verdict == "proved"
    text = words(report, "claims/eot.1.html")
    assert "cpu · run 1" in text
    assert "cuda · run 2" in text
    assert "different verdicts" not in text
    front = words(report, "index.html")
    assert "Run 1 · cpu · Python 3.11.7 · 0123456" in front
    assert "Run 2 · NVIDIA H200" in front


def test_verdicts_that_differ_are_flagged(tmp_path: Path) -> None:
    report = merged(
        tmp_path,
        samples.of(row("eot.1"), row("eot.2", depends_on=["eot.1"])),
        samples.of(row("eot.1", verdict="corrected"), **CUDA),
    )
    assert report.claims["eot.1"].verdict == "differs"
    text = words(report, "claims/eot.1.html")
    assert "The ledgers reach different verdicts." in text
    assert "✓ proved" in text
    assert "≠ corrected slip NVIDIA H200" in text
    assert "What is true." in text
    assert "do not state the same thing" not in text  # only one of them has a correction to state
    assert having(read(dict(pages.pages(report))["errata-eot.html"]), "erratum")
    cells = having(read(dict(pages.pages(report))["index.html"]), "cell")
    assert [cell.words for cell in cells] == ["!", "✓"]
    assert pages.verdict_groups(report) == [
        (1, "stand as printed"),
        (0, "do not"),
        (0, "are open"),
        (1, "are in dispute between the ledgers"),
    ]
    assert "1 does not stand" in words(report, "claims/eot.2.html")


def test_the_steps_shown_are_those_of_the_verdict_shown(tmp_path: Path) -> None:
    accused = row("eot.1", verdict="corrected", derivation=[samples.step("a ≠ b", "it fails")])
    report = merged(tmp_path, samples.of(row("eot.1")), samples.of(accused, **CUDA))
    assert [step["reason"] for step in report.claims["eot.1"].steps("derivation")] == ["it fails"]
    bare = merged(tmp_path, samples.of(row("eot.1")), samples.of(accused | {"derivation": []}, **CUDA))
    assert bare.claims["eot.1"].steps("derivation") == []


def test_statements_that_changed_between_ledgers_are_flagged(tmp_path: Path) -> None:
    report = merged(tmp_path, samples.of(row("eot.1")), samples.of(row("eot.1", hypotheses=["τ > 1"]), commit="fedcba9876"))
    assert report.claims["eot.1"].changed == ["hypotheses"]
    assert "hypotheses changed between them" in words(report, "claims/eot.1.html")


def test_a_claim_missing_from_one_run_is_included(tmp_path: Path) -> None:
    report = merged(tmp_path, samples.of(row("eot.1"), row("geometric.1")), samples.of(row("eot.2")))
    assert list(report.claims) == ["eot.1", "eot.2", "geometric.1"]
    assert [run.label for run in report.runs][1].endswith("· run 2")


def test_twins_keep_who_refuted_them_where(tmp_path: Path) -> None:
    alive = row("eot.1", twins=[{"name": "the sign", "refuted_by": []}])
    report = merged(tmp_path, samples.of(row("eot.1")), samples.of(alive, **CUDA))
    text = words(report, "claims/eot.1.html")
    assert "refuted by symbolic run 1; refuted by nobody run 2" in text
    assert "Alive: symbolic: the sign" in text


# ── supports ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_supports_are_needs_turned_round(tmp_path: Path) -> None:
    report = merged(tmp_path, samples.of(row("eot.1"), row("eot.2", depends_on=["eot.1"]), row("eot.3", depends_on=["eot.2"])))
    assert report.supports["eot.1"] == ["eot.2"]
    assert report.closure("eot.3", forward=False) == ["eot.2", "eot.1"]
    assert report.closure("eot.1", forward=True) == ["eot.2", "eot.3"]


def test_a_circle_ends(tmp_path: Path) -> None:
    report = merged(tmp_path, samples.of(row("eot.1", depends_on=["eot.2"]), row("eot.2", depends_on=["eot.1"])))
    assert set(report.closure("eot.1", forward=False)) == {"eot.1", "eot.2"}
    assert graph.neighbourhood(report, "eot.1") is not None


def test_the_drawing_has_every_neighbour_and_every_support(tmp_path: Path) -> None:
    report = merged(
        tmp_path,
        samples.of(
            row("eot.1"),
            row("eot.2"),
            row("eot.3", depends_on=["eot.1", "eot.2", "eot.99"]),
            row("eot.4", depends_on=["eot.3"]),
            row("eot.5", depends_on=["eot.4"]),
            row("eot.6", depends_on=["eot.5"]),
            row("geometric.7"),
        ),
    )
    drawing = graph.neighbourhood(report, "eot.3")
    assert drawing is not None
    assert {node.id for node in drawing.nodes} == {f"eot.{n}" for n in (1, 2, 3, 4, 5, 99)}
    assert len(drawing.edges) == 5
    at = {node.id: node.x for node in drawing.nodes}
    assert at["eot.1"] < at["eot.3"] < at["eot.4"] < at["eot.5"]
    assert all(
        0 <= node.x <= drawing.width - graph.WIDTH and 0 <= node.y <= drawing.height - graph.HEIGHT for node in drawing.nodes
    )
    assert graph.neighbourhood(report, "geometric.7") is None
    assert "It stands alone" in words(report, "claims/geometric.7.html")
    assert "not in this ledger" in words(report, "claims/eot.3.html")


def test_claims_left_out_of_the_drawing_are_counted(tmp_path: Path) -> None:
    far = [row(f"eot.{n}", depends_on=["eot.2"]) for n in range(3, 23)]
    report = merged(tmp_path, samples.of(row("eot.1"), row("eot.2", depends_on=["eot.1"]), *far))
    drawing = graph.neighbourhood(report, "eot.1")
    assert drawing is not None
    assert drawing.nodes[-1].label == f"and {20 - graph.MOST} more"
    assert len(drawing.nodes) == 2 + graph.MOST + 1
    near = graph.neighbourhood(report, "eot.2")
    assert near is not None
    assert len(near.nodes) == 22  # all that is next to a claim is drawn


# ── words ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("number", "words"),
    [
        ("46", "(46)"),
        ("thm5.2", "Theorem 5.2"),
        ("thmB.3", "Theorem B.3"),
        ("s7.fisher-scaled", "Section 7"),
        ("s0.exact", "Abstract"),
        ("sA.existence", "Appendix A"),
        ("fn7", "Footnote 7"),
        ("tab1", "Table 1"),
        ("prop1", "Proposition 1"),
        ("listing.a_b", "Listing a_b"),
        ("listing.a_b.shapes", "Listing a_b"),
        ("rem6.4", "Remark 6.4"),
        ("lemB.4", "Lemma B.4"),
    ],
)
def test_environments_have_names(number: str, words: str) -> None:
    assert pages.printed_location(number) == words


def test_a_witness_is_split_into_its_parts() -> None:
    worked = pages.worked(samples.WITNESS)
    assert worked["inputs"] == [("m", "2"), ("s", "(0, 1/2)"), ("tau", "1")]
    assert (worked["about"], worked["left"], worked["sign"], worked["right"]) == ("the limit", "0.25", "≠", "−∞")


def test_ids_in_words_are_links_and_code_is_code(tmp_path: Path) -> None:
    ledger = samples.of(row("eot.1", derivation=[samples.step("a", "`x<y` of eot.10, not eot.101")]), row("eot.10"))
    page = dict(pages.pages(merged(tmp_path, ledger)))["claims/eot.1.html"]
    assert '<code>x&lt;y</code> of <a href="../claims/eot.10.html">eot.10</a>, not eot.101' in page
