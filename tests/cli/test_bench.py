"""The benchmark compares like with like."""

import pytest
import torch
from click.testing import CliRunner

from numerics.__main__ import main
from numerics.bench import cases, measure


@pytest.mark.parametrize("pair", cases(7, 5, 4, "cpu"), ids=lambda pair: pair[0])
def test_both_sides_compute_the_same(pair: tuple[str, str]) -> None:
    ours, peer = cases(7, 5, 4, "cpu")[pair]
    torch.testing.assert_close(ours(), peer(), rtol=1e-4, atol=1e-6)


def test_table() -> None:
    result = CliRunner().invoke(main, ["bench", "--queries", "4", "--keys", "4", "--width", "2", "--rounds", "2"])
    assert result.exit_code == 0
    assert "autograd" in result.output


def test_a_size_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="keys"):
        next(measure(1, 0, 1, "cpu", 1))
