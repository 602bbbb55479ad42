"""What shipped code does, for the external facts that documents mention: here, what PyTorch divides scores by."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from derivations.catalogue import entries
from derivations.claims import Evidence, Layer, Outcome
from numerics import tolerances
from tests.layers import assert_sound

CLAIM = "eot.sA.typical-temperature"
WIDTHS = (1, 2, 16, 64, 128)


def measured(width: int) -> float:
    """The temperature at which the library's weights are a softmax: s_0 − s_1 over log p_0 − log p_1."""
    query, keys = torch.zeros(1, width, dtype=torch.float64), torch.zeros(2, width, dtype=torch.float64)
    query[0, 0], keys[0, 0] = 1.0, 1.0
    weights = scaled_dot_product_attention(query, keys, torch.eye(2, dtype=torch.float64))[0]
    return 1.0 / float(weights[0].log() - weights[1].log())


@pytest.mark.claim(CLAIM, Layer.SOURCE)
def test_typical_temperature(record_evidence: Callable[[Evidence], None]) -> None:
    start = time.perf_counter()
    found = {width: measured(width) for width in WIDTHS}
    allowed = {width: tolerances.rounding("float64", width, float(width) ** 1.5) for width in WIDTHS}
    agrees = all(abs(found[width] - math.sqrt(width)) <= allowed[width] for width in WIDTHS)
    killed = []
    for name, make in entries()[CLAIM].twins.items():
        claimed = {width: float(make().value.subs(dict.fromkeys(make().value.free_symbols, width))) for width in WIDTHS}  # type: ignore[attr-defined]
        if any(abs(found[width] - claimed[width]) > 10 * allowed[width] for width in WIDTHS):
            killed.append(name)
    evidence = Evidence(
        claim=CLAIM,
        layer=Layer.SOURCE,
        outcome=Outcome.HOLDS if agrees else Outcome.REFUTED,
        scope=f"torch {torch.__version__}: scaled_dot_product_attention with its default scale, widths {WIDTHS}",
        seconds=time.perf_counter() - start,
        detail="; ".join(f"width {width}: {tau:.6g}" for width, tau in found.items()),
        refuted_twins=tuple(killed),
    )
    record_evidence(evidence)
    assert_sound(evidence)
