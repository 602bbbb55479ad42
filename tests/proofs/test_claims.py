"""The symbolic layer's vote on every claim: derivation, correction and twins."""

from collections.abc import Callable

import pytest

from derivations.catalogue import Entry, entries, examine
from derivations.claims import Evidence, Layer, Outcome

CLAIMS = [pytest.param(e, id=id, marks=pytest.mark.claim(id, Layer.SYMBOLIC)) for id, e in entries().items()]


@pytest.mark.parametrize("entry", CLAIMS)
def test_symbolic(entry: Entry, record_evidence: Callable[[Evidence], None]) -> None:
    found = examine(entry)
    record_evidence(found.evidence)
    assert not found.faults, f"{entry.id}: {'; '.join(found.faults)}"
    assert found.evidence.outcome in (Outcome.HOLDS, Outcome.REFUTED, Outcome.NOT_APPLICABLE), f"{entry.id}: {found}"
