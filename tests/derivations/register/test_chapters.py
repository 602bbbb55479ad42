"""Every chapter has a header: its claims, the main ones with their mathematics, its symbols and its references."""

import importlib
import re
from collections.abc import Mapping

import pytest
import sympy as sp

from derivations.register.catalogue import DOCUMENTS, entries

LABEL = re.compile(r"(Claims|Main claims|Notation|Method|References)(?: +(.*))?")
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


def expanded(listed: str) -> list[str]:
    """The ids of a list with commas, in which eot.defA.1–eot.defA.3 abbreviates three."""
    ids: list[str] = []
    for item in filter(None, re.split(r",\s*", listed.strip())):
        first, _, last = item.partition("–")
        start, end = (re.fullmatch(r"(.*?)(\d+)", each) for each in (first, last))
        if last and start and end and start[1] == end[1]:
            ids += [f"{start[1]}{number}" for number in range(int(start[2]), int(end[2]) + 1)]
        else:
            ids.append(item)
    return ids


def faults(header: str, registered: Registered, symbols: bool) -> list[str]:
    """The faults in the header of a chapter that registers these claims."""
    sections = blocks(header)
    wanted = ["Claims", "Main claims", *(["Notation"] if symbols else []), "References"]
    wrong = [f"{label}: expected a block with this label, got none" for label in wanted if not sections.get(label)]
    listed = expanded(" ".join(sections.get("Claims", [])))
    wrong += [f"Claims: expected a claim of this chapter, got {id}" for id in listed if id not in registered]
    wrong += [f"Claims: expected {id}, got a list without it" for id in registered if id not in listed]
    wrong += [f"Claims: expected each id once, got {id} again" for id in {each for each in listed if listed.count(each) > 1}]
    main = sections.get("Main claims", [])
    if len(main) > MOST:
        wrong.append(f"Main claims: expected at most {MOST} lines, got {len(main)}")
    return wrong + [fault for line in main for fault in faults_of_line(line, registered)]


def faults_of_line(line: str, registered: Registered) -> list[str]:
    """The fault in the line of a main claim: its id, its mathematics, its mark or its length."""
    id, _, mathematics = line.partition(" ")
    if not ID.fullmatch(id) or id not in registered:
        return [f"Main claims: expected the id of a claim of this chapter, got {id or line.strip()}"]
    wrong = []
    if not mathematics.removesuffix(MARK).strip():
        wrong.append(f"Main claims: expected a line of mathematics for {id}, got none")
    if mathematics.endswith(MARK) != registered[id]:
        wrong.append(f"Main claims: expected {id} {'with' if registered[id] else 'without'} {MARK}, got {mathematics.strip()}")
    if len(INDENT + line) >= WIDTH:
        wrong.append(f"Main claims: expected less than {WIDTH} characters for {id}, got {len(INDENT + line)}")
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

Claims     eot.1–eot.3, eot.s1.mean,
           eot.defA.9–eot.defA.10
Main claims
           eot.2         Σ_j p_j = 1
           eot.s1.mean   E_p[A] = 0  (corrected)
Notation   p the weights;
           A the advantages
References section 1

A remark.
"""
KNOWN = {"eot.1": False, "eot.2": False, "eot.3": False, "eot.s1.mean": True, "eot.defA.9": False, "eot.defA.10": False}


def test_a_header_in_order_has_no_fault() -> None:
    assert not faults(HEADER, KNOWN, symbols=True)
    assert not faults(HEADER.replace("Notation   p the weights;\n           A the advantages\n", ""), KNOWN, symbols=False)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("eot.1–eot.3", "eot.1–eot.4", "Claims: expected a claim of this chapter, got eot.4"),
        ("eot.1–eot.3", "eot.1, eot.3", "Claims: expected eot.2, got a list without it"),
        ("eot.1–eot.3", "eot.1–eot.3, eot.2", "Claims: expected each id once, got eot.2 again"),
        ("eot.1–eot.3", "eot.1–eot.def3", "Claims: expected a claim of this chapter, got eot.1–eot.def3"),
        ("Claims     eot.1", "Claim      eot.1", "Claims: expected a block with this label, got none"),
        ("Main claims\n", "Main claim\n", "Main claims: expected a block with this label, got none"),
        ("Notation ", "Notations", "Notation: expected a block with this label, got none"),
        ("References section 1", "References", "References: expected a block with this label, got none"),
        ("eot.2  ", "eot.9  ", "Main claims: expected the id of a claim of this chapter, got eot.9"),
        ("eot.2         Σ_j p_j = 1", "            Σ_j p_j = 1", "Main claims: expected the id of a claim of this chapter"),
        ("Σ_j p_j = 1", "", "Main claims: expected a line of mathematics for eot.2, got none"),
        ("E_p[A] = 0  (corrected)", "(corrected)", "Main claims: expected a line of mathematics for eot.s1.mean, got none"),
        ("= 0  (corrected)", "= 0", "Main claims: expected eot.s1.mean with (corrected), got E_p[A] = 0"),
        ("p_j = 1", "p_j = 1  (corrected)", "Main claims: expected eot.2 without (corrected), got Σ_j p_j = 1  (corrected)"),
        ("Σ_j p_j = 1", "1 = " * 30, "Main claims: expected less than 120 characters for eot.2, got"),
        ("Main claims\n", "Main claims\n" + 5 * "           eot.1   1 > 0\n", "Main claims: expected at most 6 lines, got 7"),
    ],
)
def test_a_header_out_of_order_is_refused(old: str, new: str, message: str) -> None:
    broken = HEADER.replace(old, new, 1)
    assert broken != HEADER
    assert any(fault.startswith(message) for fault in faults(broken, KNOWN, symbols=True))
