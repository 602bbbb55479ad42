"""The prints that are refuted at one point are what the models compute there: the derivations' left sides beside the models."""

import math

import pytest
import torch
from torch import Tensor

from derivations.calculus.balls import enclose
from derivations.catalogue import entries
from derivations.relations import Fails
from derivations.transport import listing_attention, listing_sinkhorn
from tests.listings import models


def at_witness(claim: str) -> float:
    """The left side of the print at the point of its disproof; where that leaves indices open, i = j = 1 and k = l = 2."""
    derivation = entries()[claim].derivation
    assert derivation is not None
    last = list(derivation())[-1]
    assert isinstance(last, Fails)
    places = {"i": 1, "j": 1, "k": 2, "l": 2}
    point = {v: places[v.name] for v in last.relation.variables() if v.name in places} | dict(last.relation.at)
    return float(enclose(last.relation.sides[0], point).mid())


def double(values: object) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


HALF, ONE, COST, PAIR = double([0.5, 0.5]), double([1.0]), double([[4.0]]), double([[0.0, 1.0], [0.0, 0.0]])
SMALL = double([[[1e-4]]])


def attention(scores: object, rounds: int, guard: float, epsilon: float = 1.0) -> Tensor:
    """γ of `sinkhorn_attention` for these scores."""
    table = double(scores)
    query, key = table[None] * math.sqrt(len(table)), torch.eye(len(table), dtype=torch.float64)[None]
    return models.sinkhorn_attention_plan(query, key, epsilon, rounds, guard)[0]


def iteration() -> Tensor:
    """The odds that one iteration leaves, at the indices of the witness."""
    found = models.resharpened(double([[0.75, 0.25], [0.25, 0.75]]), 1.0, rounds=1)
    return found[0, 0] * found[1, 1] / (found[0, 1] * found[1, 0])


COMPUTED = {
    "transport.listing.sinkhorn": lambda: models.sinkhorn(HALF, HALF, PAIR, 0.1, guard=0.0)[0].sum(),
    "transport.listing.sinkhorn.columns": lambda: models.sinkhorn(ONE, ONE, COST, 0.1, rounds=1).sum(),
    "transport.listing.sinkhorn.shift": lambda: models.sinkhorn(ONE, ONE, COST, 0.1, rounds=1).sum(),
    "transport.listing.sinkhorn_divergence": lambda: models.sinkhorn_divergence(ONE, ONE, COST),
    "transport.listing.sinkhorn_attention": lambda: attention([[0.0, -1.0], [0.0, 0.0]], 3, 0.0)[0].sum(),
    "transport.listing.sinkhorn_attention.one-iteration": lambda: attention([[0.0, 1.0], [0.0, 0.0]], 1, 1e-8)[0, 0],
    "transport.listing.sinkhorn_attention.marginals": lambda: attention([[0.0, 1.0], [0.0, 0.0]], 1, 1e-8)[:, 0].sum(),
    "transport.listing.sinkhorn_attention.shift": lambda: attention([[-4.0]], 1, 1e-8, 0.1)[0, 0],
    "transport.listing.OptimalTransportAttention": iteration,
    "transport.listing.LinearAttentionAsOT.stable": lambda: models.linear_attention(SMALL, SMALL, ONE.reshape(1, 1, 1)),
}


@pytest.mark.parametrize("claim", COMPUTED)
def test_left_side_is_what_the_model_computes(claim: str) -> None:
    assert float(COMPUTED[claim]()) == pytest.approx(at_witness(claim), rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("rounds", [1, 2, 3, 10])
def test_closed_form_of_the_rounds_between_two_points(rounds: int) -> None:
    form, C, eps = listing_sinkhorn.first_row(listing_sinkhorn.T), listing_sinkhorn.C, listing_sinkhorn.eps
    exact = enclose(form, {C.label: [[0, 1], [0, 0]], eps: 1, listing_sinkhorn.T: rounds})
    found = models.sinkhorn(HALF, HALF, PAIR, 1.0, rounds, 0.0)[0].sum()
    assert float(found) == pytest.approx(float(exact.mid()), rel=1e-12)


@pytest.mark.parametrize("rounds", [1, 2, 3, 4])
def test_closed_form_of_the_rounds_between_two_tokens(rounds: int) -> None:
    form = listing_attention.first_row(rounds)
    exact = enclose(form, {listing_attention.O.label: [[0, -1], [0, 0]], listing_attention.eps: 1})
    assert float(attention([[0.0, -1.0], [0.0, 0.0]], rounds, 0.0)[0].sum()) == pytest.approx(float(exact.mid()), rel=1e-12)
