"""The symbolic layer's vote on every claim: derivation, correction and twins.

A statement that the kernel cannot decide does not fail here: `verify` fails unless a numeric layer confirms it.
"""

from collections.abc import Callable

import pytest

from derivations.records.claims import Evidence, Layer, Outcome
from derivations.register.catalogue import entries, examine
from derivations.register.entry import Entry

CLAIMS = [pytest.param(e, id=id, marks=pytest.mark.claim(id, Layer.SYMBOLIC)) for id, e in entries().items()]


@pytest.mark.parametrize("entry", CLAIMS)
def test_symbolic(entry: Entry, record_evidence: Callable[[Evidence], None]) -> None:
    examination = examine(entry)
    record_evidence(examination.evidence)
    about, again = f"{entry.id} ({entry.where})", f"again: python -m derivations verify {entry.id} --only symbolic"
    assert not examination.faults, f"{about}: {'; '.join(examination.faults)}; {again}"
    accepted = (Outcome.HOLDS, Outcome.REFUTED, Outcome.NOT_APPLICABLE, Outcome.INCONCLUSIVE)
    evidence = examination.evidence
    assert evidence.outcome in accepted, f"{about}: {evidence.outcome}: {evidence.detail}; {again}"
    assert entry is entries()[entry.id], f"{about}: the entry was replaced after it was loaded"
