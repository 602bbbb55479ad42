"""Compare the print of a claim with its derivation, and that of its correction with the correction's proof."""

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Protocol

from derivations.judge.examination import Derivation, written
from derivations.prints import tables
from derivations.prints.agreement import check, defines_otherwise
from derivations.prints.witnesses import in_order
from derivations.records.claims import Correction, Kind, Witness
from derivations.records.prints import Check, Standing
from derivations.relations import Relation


class Stated(Protocol):
    """The fields of a claim that are used here."""

    id: str
    kind: Kind
    latex: str
    module: str
    derivation: Derivation | None
    repair: Derivation | None
    correction: Correction | None


def print_of(entry: Stated, entries: Mapping[str, Stated]) -> Check | None:
    """Compare a claim's print with its derivation; None without a derivation or a table of symbols."""
    if entry.derivation is None:
        return None
    return _checked(entry, entry.latex, entry.derivation, entries)


def correction_of(entry: Stated, entries: Mapping[str, Stated]) -> Check | None:
    """Compare a correction's print with its proof; None without a correction or a table."""
    if entry.repair is None or entry.correction is None:
        return None
    return _checked(entry, entry.correction.statement.latex, entry.repair, entries)


def _checked(entry: Stated, latex: str, derivation: Derivation, entries: Mapping[str, Stated]) -> Check | None:
    document, _, _ = entry.id.partition(".")
    notation = tables.notation(document, entry.module.rpartition(".")[2], entry.id)
    steps = written(derivation).relations
    if notation is None or not steps:
        return None
    before = _before(entry, entries) if latex.lstrip().startswith("=") else None
    if (general := tables.general(document, entry.module.rpartition(".")[2], entry.id)) is not None:
        with suppress(ValueError):
            if why := defines_otherwise(latex, general, before):
                return Check(Standing.DIFFERS, "", why)
    return check(latex, notation, tables.known_names(notation), steps, defines=entry.kind is Kind.DEFINITION, before=before)


def as_printed(entry: Stated, witness: Witness, step: Relation, entries: Mapping[str, Stated]) -> Witness:
    """Return the witness of a step that fails with its sides in the order of the claim's print."""
    document, _, _ = entry.id.partition(".")
    notation = tables.notation(document, entry.module.rpartition(".")[2], entry.id)
    known = tables.known_names(notation) if notation else frozenset()
    before = _before(entry, entries) if entry.latex.lstrip().startswith("=") else None
    return in_order(witness, step, entry.latex, notation, known, before)


def _before(entry: Stated, entries: Mapping[str, Stated]) -> str | None:
    """Return the formula that a line beginning with = continues: the last numbered one before it, else the last one."""
    numbered = last = None
    document, _, _ = entry.id.partition(".")
    for other in (entries[id] for id in entries if id.startswith(f"{document}.")):
        if other.id == entry.id:
            break
        if other.module == entry.module and is_formula(other.latex) and not other.latex.lstrip().startswith("="):
            last, numbered = other.latex, other.latex if is_numbered(other.id) else numbered
    return numbered or last


def is_numbered(id: str) -> bool:
    """Return whether a claim is a formula with a printed number."""
    return id.partition(".")[2].isdigit()


WORDS = re.compile(r"\\text\{([^{}]*)\}")
OF_CONDITIONS = {"for", "all", "every", "with", "if", "and", "where", "each", "any", "so", ""}


def is_formula(latex: str) -> bool:
    """Return whether LaTeX is a formula without words other than those of conditions."""
    words = {word.strip(".,:;") for text in WORDS.findall(latex) for word in text.lower().split()}
    return words <= OF_CONDITIONS
