"""Every chapter has a header: its main claims with their mathematics, its symbols and its references."""

import importlib
import re
from collections.abc import Mapping

import pytest
import sympy as sp

from derivations.records.documents import DOCUMENTS
from derivations.register.catalogue import entries

LABEL = re.compile(r"(Claims|Notation|Method|References)(?: +(.*))?")
INDENT = " " * 11
ID = re.compile(r"[a-z]+\.\S+")
MARK = "(corrected)"
MOST, WIDTH = 6, 120

Registered = Mapping[str, bool]  # the claims of a chapter, and whether each is corrected


def chapters() -> Mapping[str, Registered]:
    """The modules of our documents with the claims that they register; a repair under a hypothesis is no correction."""
    by_chapter: dict[str, dict[str, bool]] = {}
    for id, entry in entries().items():
        if id.split(".")[0] in DOCUMENTS:
            by_chapter.setdefault(entry.module, {})[id] = entry.correction is not None and entry.correction.hypothesis is None
    return by_chapter


CHAPTERS = chapters()


def blocks(header: str) -> dict[str, list[str]]:
    """The lines under each label; a block ends at the first line that is neither a label nor indented."""
    by_heading: dict[str, list[str]] = {}
    label = None
    for line in header.splitlines():
        if match := LABEL.fullmatch(line):
            label = match[1]
            by_heading[label] = [match[2]] if match[2] else []
        elif label and line.startswith(INDENT):
            by_heading[label].append(line[len(INDENT) :])
        else:
            label = None
    return by_heading


def faults(header: str, registered: Registered, symbols: bool) -> list[str]:
    """The faults in the header of a chapter that registers these claims."""
    sections = blocks(header)
    wanted = ["Claims", *(["Notation"] if symbols else []), "References"]
    wrong = [f"{label}: missing" for label in wanted if not sections.get(label)]
    main = sections.get("Claims", [])
    if len(main) > MOST:
        wrong.append(f"Claims: at most {MOST} lines, got {len(main)}")
    return wrong + [fault for line in main for fault in faults_of_line(line, registered)]


def faults_of_line(line: str, registered: Registered) -> list[str]:
    """The fault in the line of a claim: its id, its mathematics, its mark or its length."""
    id, _, mathematics = line.partition(" ")
    if not ID.fullmatch(id) or id not in registered:
        return [f"Claims: {id or line.strip()} is no claim of this chapter"]
    wrong = []
    if not mathematics.removesuffix(MARK).strip():
        wrong.append(f"Claims: {id} has no mathematics")
    if mathematics.endswith(MARK) != registered[id]:
        wrong.append(f"Claims: {id} is {'' if registered[id] else 'not '}{MARK}, got {mathematics.strip()}")
    if len(INDENT + line) >= WIDTH:
        wrong.append(f"Claims: less than {WIDTH} characters for {id}, got {len(INDENT + line)}")
    return wrong


@pytest.mark.parametrize("module", CHAPTERS)
def test_a_chapter_shows_its_claims(module: str) -> None:
    chapter = importlib.import_module(module)
    symbols = any(isinstance(value, (sp.Symbol, sp.IndexedBase)) for value in vars(chapter).values())
    messages = faults(chapter.__doc__ or "", CHAPTERS[module], symbols)
    assert not messages, "\n".join(messages)


def test_every_document_has_chapters() -> None:
    assert {module.split(".")[2] for module in CHAPTERS} == set(DOCUMENTS)


HEADER = """A chapter.

Claims     eot.2         Σ_j p_j = 1
           eot.s1.mean   E_p[A] = 0  (corrected)
Notation   p the weights;
           A the advantages
References section 1

A remark.
"""
KNOWN = {"eot.1": False, "eot.2": False, "eot.s1.mean": True}


def test_a_header_in_order_has_no_fault() -> None:
    assert not faults(HEADER, KNOWN, symbols=True)
    assert not faults(HEADER.replace("Notation   p the weights;\n           A the advantages\n", ""), KNOWN, symbols=False)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Claims ", "Claim  ", "Claims: missing"),
        ("Notation ", "Notations", "Notation: missing"),
        ("References section 1", "References", "References: missing"),
        ("eot.2  ", "eot.9  ", "Claims: eot.9 is no claim of this chapter"),
        ("eot.2         Σ_j p_j = 1", "            Σ_j p_j = 1", "Claims: Σ_j is no claim of this chapter"),
        ("Σ_j p_j = 1", "", "Claims: eot.2 has no mathematics"),
        ("E_p[A] = 0  (corrected)", "(corrected)", "Claims: eot.s1.mean has no mathematics"),
        ("= 0  (corrected)", "= 0", "Claims: eot.s1.mean is (corrected), got E_p[A] = 0"),
        ("p_j = 1", "p_j = 1  (corrected)", "Claims: eot.2 is not (corrected), got Σ_j p_j = 1  (corrected)"),
        ("Σ_j p_j = 1", "1 = " * 30, "Claims: less than 120 characters for eot.2, got"),
        ("Claims     ", "Claims     " + 5 * "eot.1   1 > 0\n           ", "Claims: at most 6 lines, got 7"),
    ],
)
def test_a_header_out_of_order_is_refused(old: str, new: str, message: str) -> None:
    broken = HEADER.replace(old, new, 1)
    assert broken != HEADER
    assert any(fault.startswith(message) for fault in faults(broken, KNOWN, symbols=True))
