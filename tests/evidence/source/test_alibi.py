"""The biases that BLOOM and MPT ship are those of the paper."""

from dataclasses import replace

import pytest

from evidence.source.alibi import HEADS, LENGTH, shipped, visible

every_module = pytest.mark.parametrize("module", ["BLOOM", "MPT"])


@every_module
def test_shipped_slopes_are_the_published_ones(module: str) -> None:
    for head in shipped()[module]:
        assert head.slope == pytest.approx(2 ** (-8 * (head.head + 1) / HEADS), rel=1e-6)


@every_module
def test_bloom_counts_keys_and_mpt_counts_back(module: str) -> None:
    """Both grow by the slope from key to key and differ by a constant, which softmax ignores."""
    for head in shipped()[module]:
        first = 0.0 if module == "BLOOM" else -head.slope * (LENGTH - 1)
        assert float(head.bias[0]) == pytest.approx(first)


@every_module
def test_a_bias_of_either_sign_is_rounded_alike(module: str) -> None:
    for head in shipped()[module]:
        other = replace(head, bias=-head.bias)
        assert [tolerance for *_, tolerance in visible(head)] == [tolerance for *_, tolerance in visible(other)]
