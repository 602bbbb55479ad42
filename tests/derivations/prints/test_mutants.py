"""Planted changes in the LaTeX are detected: none of a hundred agreeing claims agrees with a changed sign, factor or τ."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import pytest

from derivations.prints.claims import is_formula, is_numbered, print_of
from derivations.records.prints import Check, Standing
from derivations.register.catalogue import entries

EQUIVALENT = {
    ("eot.55", "τ lost"),  # ∂/∂s_j exp(s_k) is 0 for k ≠ j, with any temperature
    ("eot.69", "a + changed"),  # constant in s
    ("eot.69", "τ lost"),
    ("eot.83", "a − changed"),  # Σ_i p_i (δ_ik − p_k) = 0, also after an addition to the other factor
    ("eot.84", "a − changed"),
    ("eot.125", "a + changed"),  # I_Δ is 0 on the simplex, where f is finite
    ("eot.133", "a + changed"),
    ("deciphering.s6.shift", "a + changed"),  # c is any vector
    ("transport.s4.shift-invariance", "a − changed"),  # c is any vector
    ("deciphering.sB.log-likelihood", "a − changed"),  # proportional with a factor of any sign
    ("inference.s5.log-likelihood", "a − changed"),
}
"""Changes that leave the statement as it is."""

REMAINDER = re.compile(r"\\?(mathcal )?[oO]\(|\\cdots")  # whose sign is irrelevant
MINUS = re.compile(r"(?<=[\w})\]|])-(?=[\w\\(])")


def edits(latex: str) -> Iterator[tuple[str, str]]:
    """Printed formulas with one edit."""
    if match := next((m for m in MINUS.finditer(latex) if not re.search(r"[\^_]\{[^{}]*$", latex[: m.start()])), None):
        yield "a − changed", f"{latex[: match.start()]}+{latex[match.end() :]}"
    if (at := latex.find("+")) > 0 and latex[at - 1] not in "_{" and not REMAINDER.match(latex, at + 1):
        yield "a + changed", f"{latex[:at]}-{latex[at + 1 :]}"
    if r"\tau" in latex:
        yield "τ lost", latex.replace(r"\tau", " 1", 1)
    if (at := latex.find("=")) >= 0:
        minus = latex[at + 1 : at + 2] == "-"
        yield "a factor 2", f"{latex[: at + 1]}{'-2 ' + latex[at + 2 :] if minus else ' 2 ' + latex[at + 1 :]}"


WITH_REMAINDERS = ("deciphering", "inference")
UNNUMBERED = ("geometric", "transport")
EVERY = 3  # of the formulas of these
NUMBERED = [id for id in entries() if is_numbered(id) and entries()[id].derivation is not None]
ENOUGH = 110


@cache
def as_printed(id: str) -> Check | None:
    """The comparison of a claim's print with its derivation, cached for several tests."""
    return print_of(entries()[id], entries())


@pytest.fixture(scope="module")
def standings() -> dict[tuple[str, str], Standing]:
    """The outcome for each changed print: one edit of each kind for that many agreeing claims of `eot`."""
    catalogue = entries()
    by_edit: dict[tuple[str, str], Standing] = {}
    for turn, id in enumerate(id for id in NUMBERED if id.startswith("eot.")):
        own, changed = as_printed(id), list(edits(catalogue[id].latex))
        if own is None or own.standing is not Standing.AGREES or not changed:
            continue
        name, latex = changed[turn % len(changed)]
        if (other := print_of(replace(catalogue[id], latex=latex), catalogue)) is not None:
            by_edit[id, name] = other.standing
        if len(by_edit) == ENOUGH:
            break
    return by_edit


@pytest.fixture(scope="module")
def standings_of_templates() -> dict[tuple[str, str], Standing]:
    """The outcome for each changed print: one edit of every third agreeing formula of the documents on templates."""
    catalogue = entries()
    formulas = [id for id, entry in catalogue.items() if id.split(".")[0] in WITH_REMAINDERS and is_formula(entry.latex)]
    by_edit: dict[tuple[str, str], Standing] = {}
    for turn, id in enumerate(formulas[::EVERY]):
        own, changed = as_printed(id), list(edits(catalogue[id].latex))
        if own is None or own.standing is not Standing.AGREES or not changed:
            continue
        name, latex = changed[turn % len(changed)]
        if (other := print_of(replace(catalogue[id], latex=latex), catalogue)) is not None:
            by_edit[id, name] = other.standing
    return by_edit


@pytest.fixture(scope="module")
def standings_of_unnumbered() -> dict[tuple[str, str], Standing]:
    """The outcome for each changed print: all edits of each formula of `geometric` and `transport`, most without numbers."""
    catalogue = entries()
    by_edit: dict[tuple[str, str], Standing] = {}
    for id, entry in catalogue.items():
        if id.split(".")[0] not in UNNUMBERED or not is_formula(entry.latex):
            continue
        own = as_printed(id)
        if own is None or own.standing is not Standing.AGREES:
            continue
        for name, latex in edits(entry.latex):
            if (other := print_of(replace(entry, latex=latex), catalogue)) is not None:
                by_edit[id, name] = other.standing
    return by_edit


def test_no_changed_print_without_a_number_agrees(standings_of_unnumbered: dict[tuple[str, str], Standing]) -> None:
    assert len(standings_of_unnumbered) >= 100
    assert {each for each, standing in standings_of_unnumbered.items() if standing is Standing.AGREES} <= EQUIVALENT
    counts = Counter(standings_of_unnumbered.values())
    assert counts[Standing.DIFFERS] >= 0.6 * counts.total()


def test_no_changed_print_with_templates_agrees(standings_of_templates: dict[tuple[str, str], Standing]) -> None:
    assert len(standings_of_templates) >= 30
    assert {each for each, standing in standings_of_templates.items() if standing is Standing.AGREES} <= EQUIVALENT
    counts = Counter(standings_of_templates.values())
    assert counts[Standing.DIFFERS] >= 0.4 * counts.total()


def test_no_changed_print_agrees(standings: dict[tuple[str, str], Standing]) -> None:
    assert len({id for id, _ in standings}) >= 100
    agreeing = {each for each, standing in standings.items() if standing is Standing.AGREES}
    assert agreeing <= EQUIVALENT


def test_most_changed_prints_differ_at_a_point(standings: dict[tuple[str, str], Standing]) -> None:
    counts = Counter(standings.values())
    assert counts[Standing.DIFFERS] >= 100
    assert counts[Standing.DIFFERS] >= 0.75 * counts.total()


def test_four_fifths_of_the_numbered_formulas_agree() -> None:
    prints = [as_printed(id) for id in NUMBERED]
    assert sum(own is not None and own.standing is Standing.AGREES for own in prints) >= 0.8 * len(NUMBERED)
    assert all(own is None or own.standing is not Standing.DIFFERS for own in prints)
