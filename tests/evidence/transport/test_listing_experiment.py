"""What the experiment of the listings prints may turn out otherwise than the document says."""

import pytest

from derivations.claims import Outcome
from evidence.registry import Run
from evidence.transport import listings as models
from evidence.transport.listing_experiment import printed


def test_another_shape_is_not_what_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "run_experiment", lambda seed=42: models.Printed(0.0, 0.0, (1, 32, 128), False))
    assert printed("transport.listing.run_ot_attention_experiment.printed", Run()).outcome is Outcome.REFUTED
