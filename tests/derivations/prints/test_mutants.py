"""A planted change in the LaTeX is seen: of a hundred claims that agree, none does with a sign, a factor or a τ changed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import pytest

from derivations.catalogue import entries
from derivations.prints.claims import is_formula, is_numbered, print_of
from derivations.prints.outcome import Check, Standing

EQUIVALENT = {
    ("eot.55", "τ lost"),  # ∂/∂s_j exp(s_k) is 0 for k ≠ j, with any temperature
    ("eot.69", "a + changed"),  # what does not depend on s
    ("eot.69", "τ lost"),
    ("eot.83", "a − changed"),  # Σ_i p_i (δ_ik − p_k) = 0, whatever is added to the other factor
    ("eot.84", "a − changed"),
    ("eot.125", "a + changed"),  # I_Δ is 0 on the simplex, where f is finite
    ("eot.133", "a + changed"),
    ("deciphering.s6.shift", "a + changed"),  # c is any vector
    ("transport.s4.shift-invariance", "a − changed"),  # c is any vector
    ("deciphering.sB.log-likelihood", "a − changed"),  # proportional with a factor of any sign
    ("inference.s5.log-likelihood", "a − changed"),
}
"""Changes that leave the statement as it is."""

REMAINDER = re.compile(r"\\?(mathcal )?[oO]\(|\\cdots")  # whose sign says nothing
MINUS = re.compile(r"(?<=[\w})\]|])-(?=[\w\\(])")


def edits(latex: str) -> Iterator[tuple[str, str]]:
    """Printed formulas with one change."""
    if found := next((m for m in MINUS.finditer(latex) if not re.search(r"[\^_]\{[^{}]*$", latex[: m.start()])), None):
        yield "a − changed", f"{latex[: found.start()]}+{latex[found.end() :]}"
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
    """The print of a claim beside its derivation, of which several tests speak."""
    return print_of(entries()[id], entries())


@pytest.fixture(scope="module")
def standings() -> dict[tuple[str, str], Standing]:
    """How each changed print stands: one change of each of so many claims of `eot` that agree."""
    catalogue = entries()
    found: dict[tuple[str, str], Standing] = {}
    for turn, id in enumerate(id for id in NUMBERED if id.startswith("eot.")):
        own, changed = as_printed(id), list(edits(catalogue[id].latex))
        if own is None or own.standing is not Standing.AGREES or not changed:
            continue
        name, latex = changed[turn % len(changed)]
        if (other := print_of(replace(catalogue[id], latex=latex), catalogue)) is not None:
            found[id, name] = other.standing
        if len(found) == ENOUGH:
            break
    return found


@pytest.fixture(scope="module")
def others() -> dict[tuple[str, str], Standing]:
    """How each changed print stands: one change of every third formula of the documents on templates that agrees."""
    catalogue = entries()
    formulas = [id for id, entry in catalogue.items() if id.split(".")[0] in WITH_REMAINDERS and is_formula(entry.latex)]
    found: dict[tuple[str, str], Standing] = {}
    for turn, id in enumerate(formulas[::EVERY]):
        own, changed = print_of(catalogue[id], catalogue), list(edits(catalogue[id].latex))
        if own is None or own.standing is not Standing.AGREES or not changed:
            continue
        name, latex = changed[turn % len(changed)]
        if (other := print_of(replace(catalogue[id], latex=latex), catalogue)) is not None:
            found[id, name] = other.standing
    return found


@pytest.fixture(scope="module")
def unnumbered() -> dict[tuple[str, str], Standing]:
    """How each changed print stands: all changes of each formula of `geometric` and `transport`, most without numbers."""
    catalogue = entries()
    found: dict[tuple[str, str], Standing] = {}
    for id, entry in catalogue.items():
        if id.split(".")[0] not in UNNUMBERED or not is_formula(entry.latex):
            continue
        own = print_of(entry, catalogue)
        if own is None or own.standing is not Standing.AGREES:
            continue
        for name, latex in edits(entry.latex):
            if (other := print_of(replace(entry, latex=latex), catalogue)) is not None:
                found[id, name] = other.standing
    return found


def test_no_changed_print_without_a_number_agrees(unnumbered: dict[tuple[str, str], Standing]) -> None:
    assert len(unnumbered) >= 100
    assert {each for each, standing in unnumbered.items() if standing is Standing.AGREES} <= EQUIVALENT
    counts = Counter(unnumbered.values())
    assert counts[Standing.DIFFERS] >= 0.6 * counts.total()


def test_no_changed_print_with_templates_agrees(others: dict[tuple[str, str], Standing]) -> None:
    assert len(others) >= 30
    assert {each for each, standing in others.items() if standing is Standing.AGREES} <= EQUIVALENT
    counts = Counter(others.values())
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
    found = [as_printed(id) for id in NUMBERED]
    assert sum(own is not None and own.standing is Standing.AGREES for own in found) >= 0.8 * len(NUMBERED)
    assert all(own is None or own.standing is not Standing.DIFFERS for own in found)
