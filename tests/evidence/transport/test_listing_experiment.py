"""The experiment of the listings can contradict the document."""

import pytest

from derivations.records.claims import Outcome
from evidence.registry import Run
from evidence.transport import listings as models
from evidence.transport.listing_experiment import printed


def test_another_shape_differs_from_the_printed_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "run_experiment", lambda seed=42: models.Printed(0.0, 0.0, (1, 32, 128), False))
    assert printed("transport.listing.run_ot_attention_experiment.printed", Run()).outcome is Outcome.REFUTED
