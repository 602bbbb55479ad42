"""Costs between templates, by hand and for batches."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from numerics.ot_attention.costs import group_cost, negative_inner_product, squared_distance

T = torch.tensor([[[0.0, 1.0], [2.0, 0.0], [1.0, 1.0]], [[1.0, -1.0], [3.0, 0.0], [0.0, 2.0]]])
S = torch.tensor([[[1.0, 0.0], [0.0, 3.0], [1.0, 1.0], [2.0, 2.0]], [[0.0, 0.0], [1.0, 2.0], [-1.0, 1.0], [4.0, 0.0]]])


def test_squared_distances() -> None:
    assert squared_distance(T[0]).tolist() == [[0.0, 5.0, 1.0], [5.0, 0.0, 2.0], [1.0, 2.0, 0.0]]
    assert squared_distance(T[0], S[0]).tolist() == [[2.0, 4.0, 1.0, 5.0], [1.0, 13.0, 2.0, 4.0], [1.0, 5.0, 0.0, 2.0]]


def test_inner_products_are_subtracted_from_the_largest_of_the_problem() -> None:
    cost = negative_inner_product(T, S)
    assert cost.amin((-2, -1)).tolist() == [0.0, 0.0]
    for k in range(2):
        assert_close(cost[k], (T[k] @ S[k].mT).max() - T[k] @ S[k].mT)
        assert_close(cost[k], negative_inner_product(T[k], S[k]))


def test_each_problem_may_have_its_constant() -> None:
    constants = torch.tensor([5.0, -7.0])
    cost = negative_inner_product(T, S, constants)
    for k in range(2):
        assert_close(cost[k], float(constants[k]) - T[k] @ S[k].mT)


def test_mass_stays_in_its_group() -> None:
    groups, sources = torch.tensor([[0, 1, 0], [2, 2, 1]]), torch.tensor([[1, 0, 1, 5], [2, 1, 2, 2]])
    cost = group_cost(groups, sources)
    for k in range(2):
        expected = [[0.0 if g == h else math.inf for h in sources[k].tolist()] for g in groups[k].tolist()]
        assert cost[k].tolist() == expected
    assert_close(group_cost(groups)[1], group_cost(groups[1]))


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: squared_distance(T[0, 0]), "templates"),
        (lambda: squared_distance(T, S[0, 0]), "sources"),
        (lambda: negative_inner_product(T, S[..., :1]), "sources"),
        (lambda: squared_distance(T, S[[0, 1, 1]]), "sources"),
        (lambda: group_cost(torch.zeros(3)), "groups"),
        (lambda: group_cost(torch.zeros(3).long(), torch.tensor(1)), "source_groups"),
    ],
)
def test_refusals(call: Callable[[], Tensor], name: str) -> None:
    with pytest.raises(ValueError, match=f"^{name}: expected .*, got "):
        call()
