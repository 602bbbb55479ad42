"""The prints that a point refutes are compared there with the models: the derivations' left sides are their outputs."""

import math

import pytest
import torch
from torch import Tensor

from derivations.calculus.balls import enclose
from derivations.documents.transport import listing_sinkhorn
from derivations.register.catalogue import entries
from derivations.relations import Fails
from evidence.transport import listings as models


def at_witness(claim: str) -> float:
    """The left side of the print at the point of its disproof; open indices are i = j = 1 and k = l = 2."""
    derivation = entries()[claim].derivation
    assert derivation is not None
    last = list(derivation())[-1]
    assert isinstance(last, Fails)
    indices = {"i": 1, "j": 1, "k": 2, "l": 2}
    point = {v: indices[v.name] for v in last.relation.variables() if v.name in indices} | dict(last.relation.at)
    return float(enclose(last.relation.sides[0], point).mid())


def double(values: object) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


HALF, ONE, COST, PAIR = double([0.5, 0.5]), double([1.0]), double([[4.0]]), double([[0.0, 1.0], [0.0, 0.0]])
SMALL = double([[[1e-4]]])


def attention(scores: object, rounds: int, guard: float, epsilon: float = 1.0) -> Tensor:
    """γ of `sinkhorn_attention` for these scores, in float64, which does not use the function's own start b."""
    table = double(scores)
    size = len(table)
    query, key = table[None] * math.sqrt(size), torch.eye(size, dtype=torch.float64)[None]
    return models.sinkhorn_attention_plan(query, key, epsilon, rounds, guard, torch.full_like(query[..., 0], 1 / size))[0]


def even_against_point() -> Tensor:
    """(1, 0) and (½, ½) on two points at cost 1, as costs of the plans after one round."""
    first, cost = double([1.0, 0.0]), double([[0.0, 1.0], [1.0, 0.0]])
    across, within = (models.sinkhorn(source, HALF, cost, 1.0, guard=0.0) for source in (first, HALF))
    return (across * cost).sum() - (within * cost).sum() / 2


def odds_of_diagonal_scores() -> Tensor:
    """ε log(A_11/A_12) after one iteration for S = 2 I and ε = 1."""
    weights = models.resharpened(torch.softmax(2 * torch.eye(2, dtype=torch.float64), -1), 1.0, rounds=1)
    return (weights[0, 0] / weights[0, 1]).log()


def iteration() -> Tensor:
    """The odds after one iteration, at the indices of the witness."""
    weights = models.resharpened(double([[0.75, 0.25], [0.25, 0.75]]), 1.0, rounds=1)
    return weights[0, 0] * weights[1, 1] / (weights[0, 1] * weights[1, 0])


COMPUTED = {
    "transport.listing.sinkhorn": lambda: models.sinkhorn(HALF, HALF, PAIR, 0.1, guard=0.0)[0].sum(),
    "transport.listing.sinkhorn.columns": lambda: models.sinkhorn(ONE, ONE, COST, 0.1, rounds=1).sum(),
    "transport.listing.sinkhorn.shift": lambda: models.sinkhorn(ONE, ONE, COST, 0.1, rounds=1).sum(),
    "transport.listing.sinkhorn_divergence": even_against_point,
    "transport.listing.sinkhorn_divergence.one-cost": lambda: models.sinkhorn_divergence(ONE, ONE, COST),
    "transport.listing.sinkhorn_attention": lambda: attention([[0.0, -1.0], [0.0, 0.0]], 10, 1e-8)[0].sum(),
    "transport.listing.sinkhorn_attention.one-iteration": lambda: attention([[0.0, 1.0], [0.0, 0.0]], 1, 1e-8)[0, 0],
    "transport.listing.sinkhorn_attention.marginals": lambda: attention([[0.0, 1.0], [0.0, 0.0]], 1, 1e-8)[:, 0].sum(),
    "transport.listing.sinkhorn_attention.shift": lambda: attention([[-4.0]], 1, 1e-8, 0.1)[0, 0],
    "transport.listing.OptimalTransportAttention": iteration,
    "transport.listing.OptimalTransportAttention.forgets": odds_of_diagonal_scores,
    "transport.listing.LinearAttentionAsOT.stable": lambda: models.linear_attention(SMALL, SMALL, ONE.reshape(1, 1, 1)),
}


@pytest.mark.parametrize("claim", COMPUTED)
def test_the_left_side_is_the_output_of_the_model(claim: str) -> None:
    assert float(COMPUTED[claim]()) == pytest.approx(at_witness(claim), rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("rounds", [1, 2, 3, 10])
def test_closed_form_of_the_rounds_between_two_points(rounds: int) -> None:
    form, C, eps = listing_sinkhorn.first_row(listing_sinkhorn.T), listing_sinkhorn.C, listing_sinkhorn.eps
    exact = enclose(form, {C.label: [[0, 1], [0, 0]], eps: 1, listing_sinkhorn.T: rounds})
    mass = models.sinkhorn(HALF, HALF, PAIR, 1.0, rounds, 0.0)[0].sum()
    assert float(mass) == pytest.approx(float(exact.mid()), rel=1e-12)


@pytest.mark.parametrize("epsilon", [1.0, 0.1])
def test_ten_rounds_of_attention_end_as_a_softmax_over_the_queries(epsilon: float) -> None:
    """As printed, in float32: b underflows, and the columns of the kernel are divided by their sums."""
    scores = torch.tensor([[0.0, -1.0], [0.0, 0.0]])
    plan = models.sinkhorn_attention_plan(math.sqrt(2) * scores[None], torch.eye(2)[None], epsilon)[0]
    torch.testing.assert_close(plan, torch.softmax(scores / epsilon, 0), atol=1e-6, rtol=1e-6)
    assert abs(plan[0].sum().item() - 1) > 0.2
