"""The torch layer's vote on every claim it can speak to."""

from collections.abc import Callable

import pytest

from derivations.claims import Evidence, Layer
from tests.layers import Case, assert_sound, parameters, vote_on
from tests.properties import eot_backward, eot_forward

CHAPTERS = (eot_forward, eot_backward)


@pytest.mark.parametrize("case", parameters(Layer.TORCH))
def test_torch(case: Case, request: pytest.FixtureRequest, record_evidence: Callable[[Evidence], None]) -> None:
    evidence = vote_on(case, quick=request.config.option.quick)
    record_evidence(evidence)
    assert_sound(evidence)
