"""A short run of the fuzzer: the kernel's answers and an independent evaluation never contradict each other."""

import random

import pytest

from tests.fuzz.campaign import examine
from tests.fuzz.mutation import mutate
from tests.fuzz.nodes import leaf
from tests.fuzz.rewriting import rewrite

CHUNKS, LENGTH = 4, 20


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_no_answer_contradicts_another(chunk: int) -> None:
    tally = examine([f"gate:{number}" for number in range(chunk * LENGTH, (chunk + 1) * LENGTH)], seconds=10)
    assert not tally.contradictions, "\n".join(map(str, tally.contradictions))
    assert tally.share("timeout") <= 0.1, "\n".join(tally.slow)
    assert tally.share("proved") >= 0.2
    assert tally.share("refuted") >= 0.15


def test_a_position_without_its_node_is_not_rewritten() -> None:
    assert rewrite(leaf("j"), random.Random(0), 3) == leaf("j")


def test_a_difference_that_is_edited_can_still_be_read() -> None:
    assert str(mutate(leaf("m - n"), random.Random(0))) == "m + n"
