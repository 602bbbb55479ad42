"""Groups of rows and columns that exchange mass only with each other."""

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from numerics.transport.parts import Parts


def allowed(*rows: str) -> Tensor:
    """Pairs that may exchange mass: those with an x."""
    return torch.tensor([[entry == "x" for entry in row] for row in rows])


TWO = allowed("x.x.", ".x..", "x...")  # {0, 2 | 0, 2}, {1 | 1}; column 3 takes part in nothing
CHAIN = allowed("xx...", ".xx..", "..xx.", "...xx")  # one part, of which the ends have nothing in common
STAR = allowed("x.x")  # one row, and a column that takes part in nothing


@pytest.mark.parametrize("turned", [False, True])
def test_sums_are_taken_within_each_part(turned: bool) -> None:
    for pairs, rows, columns in (
        (TWO, [5.0, 2.0, 5.0], [5.0, 2.0, 5.0, 0.0]),
        (CHAIN, [15.0] * 4, [31.0] * 5),
        (STAR, [1.0], [5.0, 0.0, 5.0]),
        (allowed("..", "x."), [0.0, 2.0], [1.0, 0.0]),
        (allowed("xxx", "xxx"), [3.0] * 2, [7.0] * 3),
        (allowed("."), [0.0], [0.0]),
        (allowed("x"), [1.0], [1.0]),
    ):
        n, m = pairs.shape
        sums = Parts.of(pairs.mT if turned else pairs)
        of_rows, of_columns = (sums.of_columns, sums.of_rows) if turned else (sums.of_rows, sums.of_columns)
        assert_close(of_rows(2.0 ** torch.arange(n)), torch.tensor(rows))
        assert_close(of_columns(2.0 ** torch.arange(m)), torch.tensor(columns))
        assert 1 <= sums.bound <= min(n, m)


def test_totals_name_each_part_once_for_both_sides() -> None:
    rows, columns = Parts.of(TWO).totals(torch.tensor([1.0, 2.0, 4.0]), torch.tensor([1.0, 2.0, 4.0, 8.0]))
    assert rows.shape == columns.shape == (3,)
    assert sorted(zip(rows.tolist(), columns.tolist(), strict=True)) == [(0.0, 0.0), (2.0, 2.0), (5.0, 5.0)]


def test_all_pairs_make_a_single_part() -> None:
    parts = Parts.of(torch.ones(2, 1, 3, 4, dtype=torch.bool))
    assert (parts.rows.shape, parts.columns.shape, parts.bound) == ((2, 1, 3), (2, 1, 4), 1)


def test_each_problem_of_a_batch_has_its_own_parts() -> None:
    both = torch.stack([torch.ones_like(TWO), TWO])
    parts, x = Parts.of(both), torch.tensor([1.0, 2.0, 4.0])
    assert_close(parts.of_rows(x.expand(2, 3)), torch.tensor([[7.0, 7.0, 7.0], [5.0, 2.0, 5.0]]))


def test_a_long_chain_is_one_part() -> None:
    for n in (2, 3, 5, 8, 9, 17):
        chain = torch.eye(n, dtype=torch.bool)
        chain[range(n - 1), range(1, n)] = True
        assert bool((Parts.of(chain).of_rows(torch.ones(n)) == n).all())
