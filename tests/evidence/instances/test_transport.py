"""Transport problems reach every declared corner and keep the declared properties."""

from random import Random

import pytest
import torch
from hypothesis import Phase, find, given, settings

from evidence.instances.transport import COSTS, EPSILONS, RELAXATIONS, TransportProblem, transports
from numerics.linear_program import exact_plan

# A few hundred draws: a corner that needs more is not reached by the tests that rely on it.
SEARCH = settings(max_examples=400, phases=[Phase.generate], derandomize=True, database=None, deadline=None)

CORNERS = {
    "one row": lambda x: x.cost.shape[-2] == 1 and x.cost.shape[-1] > 1,
    "one column": lambda x: x.cost.shape[-1] == 1 and x.cost.shape[-2] > 1,
    "one entry": lambda x: x.cost.shape[-2:] == (1, 1),
    "more rows than columns": lambda x: x.cost.shape[-2] > x.cost.shape[-1] > 1,
    "fewer rows than columns": lambda x: 1 < x.cost.shape[-2] < x.cost.shape[-1],
    "a single problem": lambda x: x.cost.ndim == 2,
    "two leading dimensions": lambda x: x.cost.ndim == 4,
    "zeros in both marginals": lambda x: bool((x.source == 0).any()) and bool((x.target == 0).any()),
    "a tiny mass": lambda x: bool(((x.source > 0) & (x.source < 1e-8)).any()),
    "a row with nothing allowed": lambda x: bool((x.cost == torch.inf).all(-1).any()),
    "two parts with mass": lambda x: (
        x.kind == "blocks" and x.cost.ndim == 2 and bool(((x.cost[0] == torch.inf) & (x.target > 0)).any())
    ),
    "a tie": lambda x: x.kind == "tied" and bool(((x.cost == x.cost.amin(-1, keepdim=True)).sum(-1) > 1).any()),
    **{f"cost {kind}": lambda x, kind=kind: x.kind == kind for kind in COSTS},
    **{f"temperature {c}": lambda x, c=c: x.temperature == c for c in EPSILONS},
    **{f"relaxation {c}": lambda x, c=c: x.relaxation == c for c in RELAXATIONS},
}


@pytest.mark.parametrize("corner", CORNERS)
def test_every_corner_of_transport_is_reached(corner: str) -> None:
    find(transports(relaxations=RELAXATIONS), CORNERS[corner], settings=SEARCH, random=Random(0))


@SEARCH
@given(transports(relaxations=RELAXATIONS))
def test_transports_keep_their_promises(x: TransportProblem) -> None:
    batch, (n, m) = x.cost.shape[:-2], x.cost.shape[-2:]
    assert (x.source.shape, x.target.shape) == ((*batch, n), (*batch, m))
    assert not x.cost.isnan().any()
    assert x.temperature > 0
    assert x.relaxation > 0
    for marginal in (x.source, x.target):
        assert (marginal >= 0).all()
        assert (marginal.sum(-1) - 1).abs().max() <= 8 * torch.finfo(torch.float64).eps


@SEARCH
@given(transports(costs=("forbidding", "blocks"), max_batch=0))
def test_a_plan_with_the_marginals_of_a_forbidding_problem_exists(x: TransportProblem) -> None:
    assert x.cost[0, 0] != torch.inf
    assert bool(exact_plan(x.cost, x.source, x.target).plan[x.cost == torch.inf].eq(0).all())


def test_costs_of_which_some_are_forbidden_and_some_are_not() -> None:
    found = find(
        transports(costs=("forbidding",)),
        lambda x: 0.2 < float((x.cost == torch.inf).double().mean()) < 0.5,
        settings=SEARCH,
        random=Random(0),
    )
    assert found.kind == "forbidding"
