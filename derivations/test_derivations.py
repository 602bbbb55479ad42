"""The symbolic layer's vote on every claim: derivation, correction and twins.

A statement that the kernel cannot decide fails nothing here: it passes where a numeric layer confirms it, else `verify` fails.
"""

from collections.abc import Callable

import pytest

from derivations.catalogue import Entry, entries, examine
from derivations.claims import Evidence, Layer, Outcome

CLAIMS = [pytest.param(e, id=id, marks=pytest.mark.claim(id, Layer.SYMBOLIC)) for id, e in entries().items()]


@pytest.mark.parametrize("entry", CLAIMS)
def test_symbolic(entry: Entry, record_evidence: Callable[[Evidence], None]) -> None:
    found = examine(entry)
    record_evidence(found.evidence)
    about, again = f"{entry.id} ({entry.where})", f"again: python -m derivations verify {entry.id} --only symbolic"
    assert not found.faults, f"{about}: {'; '.join(found.faults)}; {again}"
    accepted = (Outcome.HOLDS, Outcome.REFUTED, Outcome.NOT_APPLICABLE, Outcome.INCONCLUSIVE)
    assert found.evidence.outcome in accepted, f"{about}: {found.evidence.outcome}: {found.evidence.detail}; {again}"
    assert entry is entries()[entry.id], f"{about}: the entry was replaced after it was loaded"
