"""Whether there is a plan: against Hall's condition for every set of rows."""

from itertools import chain, combinations

import numpy as np
import pytest
import torch

from numerics.transport import sinkhorn
from numerics.transport.feasibility import _agree, _short_of


def sets(n: int) -> list[list[int]]:
    return [list(rows) for rows in chain.from_iterable(combinations(range(n), size) for size in range(1, n + 1))]


def reach(pairs: np.ndarray, rows: list[int]) -> list[int]:
    return np.flatnonzero(pairs[rows].any(0)).tolist()


@pytest.mark.parametrize("share", [0.35, 0.5, 0.65])
def test_rows_with_too_little_in_reach_are_found(share: float) -> None:
    """Masses are integers, so that nothing is a matter of rounding; greedy choices alone would find plans too rarely."""
    rng, found = np.random.default_rng(0), {True: 0, False: 0}
    for _ in range(300):
        pairs = rng.random((6, 6)) < share
        source, target = (rng.multinomial(12, np.full(6, 1 / 6)).astype(float) for _ in range(2))
        short = [rows for rows in sets(6) if source[rows].sum() > target[reach(pairs, rows)].sum()]
        cut = _short_of(source, target, pairs, 1e-12)
        found[cut is None] += 1
        assert (cut is None) == (not short)
        if cut is not None:
            rows, columns = cut
            assert set(reach(pairs, rows)) <= set(columns)
            assert source[rows].sum() > target[columns].sum()
    assert min(found.values()) >= 10


def test_rows_without_mass_hide_nothing() -> None:
    """The first row may go to the second column only, whose mass is too little; the last row, without mass, anywhere."""
    mask = torch.tensor([[False, True], [True, True], [True, True]])
    source, target = torch.tensor([0.5, 0.5, 0.0]).double(), torch.tensor([0.875, 0.125]).double()
    with pytest.raises(ValueError, match=r"mask: expected rows with as much mass as columns \[1\], all they may reach, have"):
        sinkhorn(torch.zeros(3, 2).double(), source, target, mask=mask)


def test_columns_without_mass_hide_nothing() -> None:
    """As above, with a last column without mass that both rows may go to."""
    mask = torch.tensor([[False, True, True], [True, True, True]])
    source, target = torch.tensor([0.5, 0.5]).double(), torch.tensor([0.875, 0.125, 0.0]).double()
    with pytest.raises(ValueError, match=r"mask: expected rows with as much mass as columns \[1\], all they may reach, have"):
        sinkhorn(torch.zeros(2, 3).double(), source, target, mask=mask)


def test_the_slack_is_relative_to_the_larger_mass() -> None:
    less, more = torch.tensor([0.75, 0.74]), torch.ones(2)
    assert _agree(less, more, 0.25).tolist() == _agree(more, less, 0.25).tolist() == [True, False]


def test_masses_that_differ_in_late_digits_are_shown_with_them() -> None:
    target = torch.tensor([0.5, 0.5000001], dtype=torch.float64)
    with pytest.raises(ValueError, match=r"target: expected the mass of the source, 1, got 1\.00000009999999"):
        sinkhorn(torch.zeros(2, 2).double(), None, target)
