"""A short run of the fuzzer: the kernel's answers and an independent evaluation never contradict each other."""

from __future__ import annotations

import pytest

from tests.fuzz.campaign import examine

CHUNKS, LENGTH = 4, 20


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_no_answer_contradicts_another(chunk: int) -> None:
    tally = examine([f"gate:{number}" for number in range(chunk * LENGTH, (chunk + 1) * LENGTH)], seconds=10)
    assert not tally.contradictions, "\n".join(map(str, tally.contradictions))
    assert tally.share("timeout") <= 0.1, "\n".join(tally.slow)
    assert tally.share("proved") >= 0.2
    assert tally.share("refuted") >= 0.15
