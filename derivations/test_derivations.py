"""The symbolic layer's vote on every claim: derivation, correction and twins.

A statement that the kernel cannot decide does not fail here: `verify` fails unless a numeric layer confirms it.
"""

from collections.abc import Callable

import pytest

from derivations.records.claims import Evidence, Layer, Outcome
from derivations.register.catalogue import entries, ordered
from derivations.register.entry import Entry
from derivations.register.examining import examine
from derivations.run.pytest_plugin import requested_claims


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Load the requested claims, and make each a test."""
    chosen = requested_claims(metafunc.config)
    claims = {id: entries()[id] for id in (entries() if chosen is None else ordered(chosen))}
    parameters = [pytest.param(entry, id=id, marks=pytest.mark.claim(id, Layer.SYMBOLIC)) for id, entry in claims.items()]
    metafunc.parametrize("entry", parameters)


def test_symbolic(entry: Entry, record_evidence: Callable[[Evidence], None]) -> None:
    examination = examine(entry)
    record_evidence(examination.evidence)
    about, again = f"{entry.id} ({entry.where})", f"again: python -m derivations verify {entry.id} --only symbolic"
    assert not examination.faults, f"{about}: {'; '.join(examination.faults)}; {again}"
    accepted = (Outcome.HOLDS, Outcome.REFUTED, Outcome.NOT_APPLICABLE, Outcome.INCONCLUSIVE)
    evidence = examination.evidence
    assert evidence.outcome in accepted, f"{about}: {evidence.outcome}: {evidence.detail}; {again}"
    assert entry is entries()[entry.id], f"{about}: the entry was replaced after it was loaded"
