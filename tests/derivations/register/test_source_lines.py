"""The lists of formulas are complete compared with the documents, and incomplete ones are refused."""

from pathlib import Path

import pytest

from derivations.records.documents import DOCUMENTS
from derivations.register import source_lines as printed
from derivations.register.catalogue import entries
from derivations.register.source_lines import Passage, Provenance, faults, parse
from derivations.run.showing import describe

SOURCES = Path(__file__).parents[3] / "shared" / "sources"

LISTED = """# a list
1-2 | printed | eot.1, eot.2
2 | paraphrased | eot.s1.words
4 | none | heading
- | added | eot.s1.ours
"""
SOURCE = "formula\nprose\n\nHeading\n"
CLAIMS = ["eot.1", "eot.2", "eot.s1.words", "eot.s1.ours"]


def test_a_list_is_read() -> None:
    first, *_, last = parse(LISTED)
    assert first == Passage(1, 2, Provenance.PRINTED, ("eot.1", "eot.2"))
    assert (last.first, last.last) == (0, 0)
    assert (first.lines, last.provenance, last.claims) == ("1–2", Provenance.ADDED, ("eot.s1.ours",))
    assert list(faults(parse(LISTED), SOURCE, CLAIMS)) == []


@pytest.mark.parametrize(
    "line",
    [
        "1 | printed",
        "1 | proved | eot.1",
        "1 | none |",
        "x | none | heading",
        "- | none | heading",
        "3 | added | eot.1",
        "3-2 | none | heading",
        "0 | none | heading",
    ],
)
def test_a_line_that_is_no_entry_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match=r"source\.txt, line 1: expected"):
        parse(line)


@pytest.mark.parametrize(
    ("listed", "fault"),
    [
        (LISTED.replace("4 | none | heading\n", ""), "line 4 of the source: expected a claim or a reason"),
        (LISTED + "9 | none | heading\n", "line 9: expected a line of the source, which has 4"),
        (LISTED.replace(", eot.2", ""), "eot.2: expected its lines in the source"),
        (LISTED + "4 | printed | eot.3\n", "eot.3: expected a claim of the document"),
        (LISTED + "4 | printed | eot.s1.words\n", "eot.s1.words: expected one status, got paraphrased and printed"),
    ],
)
def test_missing_formulas_are_named(listed: str, fault: str) -> None:
    (error,) = faults(parse(listed), SOURCE, CLAIMS)
    assert error.startswith(fault)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_claim_has_its_lines(document: str) -> None:
    ids = [id for id in entries() if id.startswith(f"{document}.")]
    covered = "\n".join("x" for _ in range(max(passage.last for passage in printed.passages(document))))
    wrong = [fault for fault in faults(printed.passages(document), covered, ids) if not fault.startswith("line")]
    assert wrong == []


@pytest.mark.parametrize("document", [each for each in DOCUMENTS if any(passage.first for passage in printed.passages(each))])
@pytest.mark.skipif(not SOURCES.is_dir(), reason="the sources of the documents are not at hand")
def test_every_line_of_a_source_has_a_claim_or_a_reason(document: str) -> None:
    source = (SOURCES / f"{document}.txt").read_text(encoding="utf-8")
    ids = [id for id in entries() if id.startswith(f"{document}.")]
    assert list(faults(printed.passages(document), source, ids)) == []


@pytest.mark.parametrize("id", ["eot.46", "eot.s2.gibbs", "transport.lem1", "transport.s5.score-stability"])
def test_a_claim_names_the_source_of_its_statement(id: str) -> None:
    entry = entries()[id]
    assert f"  {printed.provenance(id)} " in describe(entry, None)
    assert entry.latex in describe(entry, None)
