"""Priors at the limits of their domain, compared with exact arithmetic and PyTorch's shapes."""

import math
import re
from collections.abc import Callable
from fractions import Fraction
from types import SimpleNamespace
from typing import cast

import pytest
import torch
from torch import Tensor, nn

from numerics import priors, tolerances

INF = math.inf


def by_hand(log_prior: list[float], scores: list[float]) -> list[float]:
    """The weights of one row in plain floats; masked scores are ignored."""
    logits = [b + s if b > -INF else -INF for b, s in zip(log_prior, scores, strict=True)]
    peak = max(logits)
    if peak == -INF:
        return [0.0] * len(logits)
    terms = [math.exp(x - peak) for x in logits]
    return [term / math.fsum(terms) for term in terms]


@pytest.mark.parametrize(
    ("log_prior", "scores"),
    [
        ([0.5, -1.0, 2.0], [1.0, 0.25, -0.5]),
        ([-INF, -1.0, 2.0], [math.nan, 0.25, -0.5]),
        ([-INF, -1.0, -INF], [INF, 7.0, -INF]),
        ([-INF, -INF, -INF], [1.0, math.nan, INF]),
        ([0.0, -INF, 1.0], [0.0, 800.0, -2.0]),
        ([3.0], [5.0]),
        ([0.0, -2.0, -3.0], [-INF, 1.0, 2.0]),
    ],
)
def test_a_tilted_prior_by_hand(log_prior: list[float], scores: list[float]) -> None:
    prior, s = (torch.tensor(x, dtype=torch.float64) for x in (log_prior, scores))
    expected = torch.tensor(by_hand(log_prior, scores), dtype=torch.float64)
    weights = priors.tilted(prior, s)
    assert float((weights - expected).abs().max()) <= tolerances.rounding("float64", len(scores), 8.0)
    assert bool((weights[prior == -INF] == 0).all())
    x = s.clone().requires_grad_()
    with torch.autograd.set_detect_anomaly(True):
        priors.tilted(prior, x).square().sum().backward()
    assert bool(x.grad.isfinite().all())


def test_a_common_offset_of_either_costs_no_digits() -> None:
    whole_numbers, parts = [0.0, 2.0, -3.0], [0.3, -0.7, 1.1]
    expected = torch.tensor([*by_hand(whole_numbers, parts), 0.0], dtype=torch.float64)
    rows = [*whole_numbers, 1e9], [*parts, -INF], [*parts, 1e9]
    integers, masked, fractions = (torch.tensor(x, dtype=torch.float64) for x in rows)
    for offset in (2.0**52, -(2.0**52)):  # next to it there are whole numbers only
        prior = torch.where(masked == -INF, -INF, integers + offset)
        for weights in (priors.tilted(prior, fractions), priors.tilted(masked, integers + offset)):
            assert float((weights - expected).abs().max()) <= tolerances.rounding("float64", 4, 8.0)


def test_shapes_and_dtypes_of_a_tilted_prior() -> None:
    assert priors.tilted(torch.zeros(2, 1, 3), torch.zeros(5, 3, dtype=torch.float64)).shape == (2, 5, 3)
    assert priors.tilted(torch.zeros(3, dtype=torch.float16), torch.zeros(3)).dtype == torch.float32
    for prior, scores in (((), (3,)), ((3,), ()), ((2,), (3,))):
        with pytest.raises(ValueError, match=r"^log_prior: expected a shape that goes with the scores"):
            priors.tilted(torch.zeros(prior), torch.zeros(scores))


def test_priors_from_masks_have_the_dtype_of_their_source() -> None:
    mask = torch.tensor([True, False, True])
    assert priors.prior_from_mask(mask).tolist() == [0.5, 0.0, 0.5]
    assert priors.prior_from_mask(mask).dtype == torch.get_default_dtype()
    floating = torch.tensor([0.0, -INF, math.log(3.0)], dtype=torch.float64)
    prior = priors.prior_from_mask(floating)
    assert prior.dtype == torch.float64
    assert prior.tolist() == pytest.approx([0.25, 0.0, 0.75])
    weighted = priors.prior_from_mask(mask, torch.tensor([0.0, 5.0, math.log(3.0)], dtype=torch.bfloat16))
    assert weighted.dtype == torch.bfloat16
    assert weighted.float().tolist() == pytest.approx([0.25, 0.0, 0.75], rel=1e-2)


def test_positions_of_rectangles() -> None:
    expected = [[i - k for i in range(4)] for k in range(2)]
    assert priors.relative_positions(2, 4).tolist() == expected
    assert priors.causal_mask(2, 4).tolist() == [[x <= 0 for x in row] for row in expected]


def bucket_of(position: int, buckets: int, bidirectional: bool, furthest: int) -> int:
    """T5's bucket by its definition; the floor of a quotient of logarithms is computed with integers."""
    side = buckets // 2 if bidirectional else buckets
    upper = side if bidirectional and position > 0 else 0
    distance = abs(position) if bidirectional else max(-position, 0)
    half = side // 2
    if distance < half:
        return upper + distance
    steps, ratio = side - half, Fraction(furthest, half)
    passed = next((k for k in range(steps) if Fraction(distance, half) ** steps < ratio ** (k + 1)), steps)
    return upper + min(half + passed, side - 1)


@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize(("buckets", "furthest"), [(32, 128), (4, 2), (4, 3), (5, 9), (7, 16), (12, 20)])
def test_buckets_by_their_definition(buckets: int, furthest: int, bidirectional: bool) -> None:
    if furthest <= (buckets // 2 if bidirectional else buckets) // 2:
        furthest = buckets
    positions = torch.arange(-3 * furthest, 3 * furthest)
    actual = priors.relative_position_bucket(positions, buckets, bidirectional, furthest)
    assert actual.tolist() == [bucket_of(p, buckets, bidirectional, furthest) for p in positions.tolist()]
    assert actual.dtype == torch.int64


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: priors.relative_position_bucket(torch.arange(3), 3), "num_buckets: expected at least 4, got 3"),
        (lambda: priors.relative_position_bucket(torch.arange(3), 1, False), "num_buckets: expected at least 2, got 1"),
        (lambda: priors.relative_position_bucket(torch.arange(3), 8, True, 2), "max_distance: expected more than 2, got 2"),
        (lambda: priors.relative_position_bucket(torch.arange(3), 8, False, 4), "max_distance: expected more than 4, got 4"),
        (lambda: priors.relative_position_bucket(torch.zeros(3)), "relative_position: expected integers, got torch.float32"),
        (lambda: priors.relative_position_bucket(torch.zeros(3) > 0), "relative_position: expected integers, got torch.bool"),
        (
            lambda: priors.relative_position_bucket(torch.zeros(3) + 0j),
            "relative_position: expected integers, got torch.complex64",
        ),
        (
            lambda: priors.relative_position_bucket(torch.eye(3).long().to_sparse()),
            "relative_position: expected a dense tensor",
        ),
        (lambda: priors.relative_position_bias(2, 2, torch.zeros(8)), "table: expected a dense floating tensor (num"),
        (lambda: priors.relative_position_bias(2, 2, torch.zeros(8, 2).long()), "table: expected a dense floating tensor"),
        (lambda: priors.relative_position_bias(2, 2, torch.zeros(8, 2).to_sparse()), "table: expected a dense floating tensor"),
        (lambda: priors.causal_mask(0, 2), "query_len: expected"),
        (lambda: priors.causal_mask(2, 0), "key_len: expected"),
        (lambda: priors.relative_positions(0, 2), "query_len: expected"),
        (lambda: priors.relative_positions(2, 0), "key_len: expected"),
        (lambda: priors.log_mask(torch.ones(2).long(), torch.float32), "mask: expected a dense boolean or floating tensor"),
    ],
)
def test_refusals(call: Callable[[], Tensor], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        call()


def test_the_least_numbers_of_buckets() -> None:
    assert priors.relative_position_bucket(torch.tensor([-1, 0, 1]), 4, True, 2).tolist() == [1, 0, 3]
    assert priors.relative_position_bucket(torch.tensor([-1, 0, 1]), 2, False, 2).tolist() == [1, 0, 0]


def test_a_bias_has_its_head_first() -> None:
    table = torch.arange(16.0).reshape(8, 2)
    bias = priors.relative_position_bias(2, 3, table, True, 16)
    buckets = priors.relative_position_bucket(priors.relative_positions(2, 3), 8, True, 16)
    assert bias.tolist() == [[[2.0 * b + head for b in row] for row in buckets.tolist()] for head in range(2)]
    assert priors.RelativePositions(3, 8, True, 16)(2, 2).shape == (3, 2, 2)


@pytest.mark.parametrize("decoder", [True, False])
def test_the_table_of_a_layer_is_shared(decoder: bool) -> None:
    layer = SimpleNamespace(
        has_relative_attention_bias=True,
        relative_attention_bias=nn.Embedding(8, 3),
        is_decoder=decoder,
        relative_attention_max_distance=20,
    )
    positions = priors.RelativePositions.from_t5(cast(priors.T5Attention, layer))
    assert positions.table is layer.relative_attention_bias.weight
    assert (positions.bidirectional, positions.max_distance) == (not decoder, 20)
    assert torch.equal(positions(4, 30), priors.relative_position_bias(4, 30, positions.table, not decoder, 20))
    layer.has_relative_attention_bias = False
    with pytest.raises(ValueError, match=r"^attention: expected the T5 layer that holds the position table"):
        priors.RelativePositions.from_t5(cast(priors.T5Attention, layer))
