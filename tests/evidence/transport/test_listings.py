"""The models compute what the listings print: numbers worked by hand, accepted shapes, ignored arguments."""

import math

import pytest
import torch
from torch import Tensor

from evidence.transport import listings as models

LOG2 = math.log(2)


def double(values: object) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def close(actual: Tensor, expected: object) -> None:
    torch.testing.assert_close(actual, double(expected))


HALF = double([0.5, 0.5])
PAIR = double([[0.0, LOG2], [0.0, 0.0]])  # K = (1 ½; 1 1) at ε = 1


# ── sinkhorn ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_one_round_by_hand() -> None:
    # u = (½/(3/2), ½/2) = (1/3, 1/4);  v = (½/(7/12), ½/(5/12)) = (6/7, 6/5);  γ = u K v
    plan = models.sinkhorn(HALF, HALF, PAIR, 1.0, rounds=1, guard=0)
    close(plan, [[2 / 7, 1 / 5], [3 / 14, 3 / 10]])
    close(plan.sum(0), [0.5, 0.5])


def test_two_rounds_by_hand() -> None:
    # from v = (6/7, 6/5): K v = (51/35, 72/35), u = (35/102, 35/144);  Kᵀu = (1435/2448, 1015/2448)
    plan = models.sinkhorn(HALF, HALF, PAIR, 1.0, rounds=2, guard=0)
    close(plan[0], [35 / 102 * 0.5 * 2448 / 1435, 35 / 102 * 0.5 * 0.5 * 2448 / 1015])


def test_guard_by_hand() -> None:
    """A single pair: each round is u = 1/(K v + δ), v = 1/(K u + δ), here with K = 1 and δ = 1."""
    one = double([1.0])
    close(models.sinkhorn(one, one, double([[0.0]]), 1.0, rounds=1, guard=1.0), [[1 / 3]])  # u = ½, v = ⅔
    close(models.sinkhorn(one, one, double([[0.0]]), 1.0, rounds=2, guard=1.0), [[3 / 8]])  # u = 3/5, v = 5/8


def test_ten_rounds_by_default_and_a_guard_of_1e_8() -> None:
    assert torch.equal(models.sinkhorn(HALF, HALF, PAIR, 0.1), models.sinkhorn(HALF, HALF, PAIR, 0.1, rounds=10, guard=1e-8))
    error = models.sinkhorn(HALF, HALF, double([[0.0, 1.0], [0.0, 0.0]]), 0.1).sum(1) - 0.5
    torch.testing.assert_close(error.abs().sum(), double(0.047), atol=5e-4, rtol=0)


@pytest.mark.parametrize(("cost", "mass"), [(4.0, 0.039), (0.0, 1.0), (-4.0, 1.0)])
def test_mass_depends_on_a_shift_of_the_costs(cost: float, mass: float) -> None:
    one = double([1.0])
    torch.testing.assert_close(models.sinkhorn(one, one, double([[cost]]), 0.1).sum(), double(mass), atol=1e-3, rtol=0)


def test_float32_underflows_and_overflows() -> None:
    one = torch.ones(1)
    assert models.sinkhorn(one, one, torch.tensor([[11.0]]), 0.1).item() == 0
    assert models.sinkhorn(one, one, torch.tensor([[-9.0]]), 0.1).isnan().all()


def test_half_precision_loses_the_guard() -> None:
    """1e-8 is 0 in float16, so a kernel that underflows is divided by zero: inf · 0."""
    one = torch.ones(1, dtype=torch.float16)
    assert torch.tensor(models.GUARD, dtype=torch.float16).item() == 0
    assert models.sinkhorn(one, one, torch.tensor([[2.0]], dtype=torch.float16), 0.1).isnan().all()


def test_batches_are_refused() -> None:
    with pytest.raises(RuntimeError):
        models.sinkhorn(torch.ones(2, 3) / 3, torch.ones(2, 3) / 3, torch.zeros(2, 3, 3), 1.0)


# ── sinkhorn_divergence ─────────────────────────────────────────────────────────────────────────────────────────────


def test_two_points_are_at_distance_zero() -> None:
    one = double([1.0])
    assert models.sinkhorn_divergence(one, one, double([[4.0]])).item() == 0


def test_divergence_of_mass_on_common_points() -> None:
    """All mass at the first and at the second of two points at cost 3: 3 − 0 − 0."""
    value = models.sinkhorn_divergence(double([1.0, 0.0]), double([0.0, 1.0]), double([[0.0, 3.0], [3.0, 0.0]]), 1.0)
    torch.testing.assert_close(value, double(3.0), atol=1e-6, rtol=0)


def test_a_cost_that_is_no_distance_gives_a_negative_value() -> None:
    value = models.sinkhorn_divergence(double([0.9, 0.1]), double([0.1, 0.9]), torch.eye(2, dtype=torch.float64), 1.0)
    torch.testing.assert_close(value, double(-0.675), atol=1e-3, rtol=0)


def test_two_against_three_points_are_refused() -> None:
    with pytest.raises(RuntimeError):
        models.sinkhorn_divergence(HALF, double([0.2, 0.3, 0.5]), torch.zeros(2, 3, dtype=torch.float64))


# ── AttentionAsOT ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_weights_by_hand() -> None:
    module = models.AttentionAsOT(4, 1, epsilon=0.5)
    query, key = double([[2.0, 0, 0, 0]]), double([[0.0, 0, 0, 0], [LOG2 / 2, 0, 0, 0]])
    close(module.weights(query, key), [[1 / 3, 2 / 3]])  # S = (0, ½ log 2), S/ε = (0, log 2)


def test_columns_are_free() -> None:
    weights = torch.softmax(double([[0.0, 1.0], [0.0, 0.0]]), -1)
    torch.testing.assert_close(weights.sum(0), double([0.769, 1.231]), atol=1e-3, rtol=0)


def test_heads_that_do_not_divide_the_width_are_refused() -> None:
    with pytest.raises(RuntimeError):
        models.AttentionAsOT(3, 2)(torch.zeros(1, 1, 3))
    assert models.AttentionAsOT(4, 2)(torch.zeros(1, 5, 4)).shape == (1, 5, 4)


# ── sinkhorn_attention ──────────────────────────────────────────────────────────────────────────────────────────────


def square(kernel: object) -> tuple[Tensor, Tensor]:
    """Queries and keys of two tokens with this kernel at ε = 1."""
    scores = double(kernel).log()
    return scores[None] * math.sqrt(2), torch.eye(2, dtype=torch.float64)[None]


def test_round_of_sinkhorn_attention_by_hand() -> None:
    # K = (1 2; 1 1), b = (½, ½): u = (2/3, 1), v = (3/5, 3/7);  γ = (2/5 4/7; 3/5 3/7)
    query, key = square([[1.0, 2.0], [1.0, 1.0]])
    plan = models.sinkhorn_attention_plan(query, key, 1.0, rounds=1, guard=0, start=HALF[None])[0]
    close(plan, [[2 / 5, 4 / 7], [3 / 5, 3 / 7]])


def test_scalings_are_multiplied_into_b() -> None:
    # b = (3/10, 3/14): K b = (51/70, 18/35), u = (70/51, 35/18), Kᵀu = (3.3169…, 4.6894…)
    query, key = square([[1.0, 2.0], [1.0, 1.0]])
    plan = models.sinkhorn_attention_plan(query, key, 1.0, rounds=2, guard=0, start=HALF[None])[0]
    left = double([70 / 51, 35 / 18])
    right = 1 / double([70 / 51 + 35 / 18, 140 / 51 + 35 / 18])
    close(plan, (left[:, None] * double([[1.0, 2.0], [1.0, 1.0]]) * right).tolist())


def test_ends_as_a_softmax_over_the_queries() -> None:
    """b underflows, u becomes 1e8 everywhere, and the remaining v normalizes the columns of the kernel."""
    query, key = square([[1.0, 2.0], [1.0, 1.0]])
    plan = models.sinkhorn_attention_plan(query, key, 1.0, rounds=20, start=HALF[None])[0]
    torch.testing.assert_close(plan, double([[1 / 2, 2 / 3], [1 / 2, 1 / 3]]), atol=1e-6, rtol=0)


def test_large_scores_give_nan_and_low_ones_zero_in_float32() -> None:
    high = torch.full((1, 2, 1), math.sqrt(8.0))
    assert models.sinkhorn_attention(high, high, high).isnan().any()
    low = torch.full((1, 2, 1), math.sqrt(4.0))
    assert models.sinkhorn_attention_plan(low, -low).abs().max().item() == 0


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("tokens", [1, 3])
def test_only_the_default_dtype_is_accepted(dtype: torch.dtype, tokens: int) -> None:
    x = torch.ones(1, tokens, 2, dtype=dtype)
    with pytest.raises(RuntimeError):
        models.sinkhorn_attention(x, x, x)
    assert models.sinkhorn_attention(x.float(), x.float(), x.float()).isfinite().all()


def test_one_query_and_two_keys() -> None:
    """With b of the right length and b ← v, columns of mass 1 give the single query the mass 2; the numerator n/m gives 1."""
    one, two, cost = double([1.0]), double([1.0, 1.0]), double([[0.0, 0.0]])
    close(models.sinkhorn(one, two, cost, 1.0, guard=0.0), [[1.0, 1.0]])
    close(models.sinkhorn(one, two / 2, cost, 1.0, guard=0.0), [[0.5, 0.5]])


def test_cross_attention_and_heads_are_refused() -> None:
    with pytest.raises(RuntimeError):
        models.sinkhorn_attention(torch.zeros(1, 1, 2), torch.zeros(1, 2, 2), torch.zeros(1, 2, 2))
    with pytest.raises(RuntimeError):
        models.sinkhorn_attention(*[torch.zeros(1, 2, 3, 4)] * 3)


# ── LinearAttentionAsOT ─────────────────────────────────────────────────────────────────────────────────────────────


def test_linear_weights_by_hand() -> None:
    query, key = double([[[1.0]]]), double([[[1.0], [3.0]]])
    values = torch.eye(2, dtype=torch.float64)[None]
    close(models.linear_attention(query, key, values, guard=0), [[[0.25, 0.75]]])
    torch.testing.assert_close(torch.softmax((query @ key.mT), -1), double([[[0.1192, 0.8808]]]), atol=1e-4, rtol=0)


def test_linear_guard_by_hand() -> None:
    one = double([[[1.0]]])
    close(models.linear_attention(one, one, one, guard=1.0), [[[0.5]]])
    close(models.linear_attention(1e-4 * one, 1e-4 * one, one), [[[0.5]]])


def test_no_active_feature_gives_zero_and_nan_in_float16() -> None:
    one, none = torch.ones(1, 1, 1), torch.zeros(1, 1, 1)
    assert models.linear_attention(none, one, one).item() == 0
    assert models.linear_attention(none.half(), one.half(), one.half()).isnan().all()


def test_features_cut_negative_projections() -> None:
    close(models.relu_features(double([[-1.0], [2.0]]), double([[1.0], [-3.0]])), [[0.0, 3.0], [2.0, 0.0]])


# ── analyze_attention_temperature ───────────────────────────────────────────────────────────────────────────────────


def test_reports_by_hand() -> None:
    """One query sees equal scores, the other one scores 0 and log 3: entropies log 2 and log 4 − ¾ log 3."""
    query, key = double([[0.0], [1.0]]), double([[0.0], [math.log(3)]])
    (report,) = models.analyze(query, key, key, (1.0,))
    mean = (LOG2 + math.log(4) - 0.75 * math.log(3)) / 2
    assert report.entropy == pytest.approx(mean, abs=1e-7)
    assert report.max_attention == pytest.approx((0.5 + 0.75) / 2)
    assert report.effective_size == pytest.approx(math.exp(mean), abs=1e-6)


def test_values_are_not_read() -> None:
    query = double([[0.0], [1.0]])
    assert models.analyze(query, query, query) == models.analyze(query, query, 7 * query)


def test_zero_temperature_gives_nan() -> None:
    query = double([[1.0], [2.0]])
    assert math.isnan(models.analyze(query, query, query, (0.0,))[0].entropy)


def test_one_hot_entropy_is_minus_1e_8() -> None:
    torch.testing.assert_close(models.row_entropies(double([1.0])), double(-1e-8), rtol=1e-6, atol=0)


def test_one_hot_entropy_is_nan_in_float16() -> None:
    assert models.row_entropies(torch.tensor([1.0, 0.0], dtype=torch.float16)).isnan()


# ── OptimalTransportAttention ───────────────────────────────────────────────────────────────────────────────────────


def test_iteration_by_hand() -> None:
    """Doubly stochastic weights pass both divisions; the softmax at ε = 1 turns ¾ into σ(½)."""
    weights = models.resharpened(double([[0.75, 0.25], [0.25, 0.75]]), 1.0, rounds=1, guard=0)
    part = 1 / (1 + math.exp(-0.5))
    close(weights, [[part, 1 - part], [1 - part, part]])


def test_columns_are_divided_second() -> None:
    # rows: (⅓ ⅔; ½ ½); columns: sums (5/6, 7/6), so (2/5 4/7; 3/5 3/7)
    weights = models.resharpened(double([[1.0, 2.0], [1.0, 1.0]]), 1.0, rounds=1, guard=0)
    close(weights, torch.softmax(double([[2 / 5, 4 / 7], [3 / 5, 3 / 7]]), -1).tolist())


def test_many_iterations_at_the_initial_temperature_forget_the_scores() -> None:
    weights = torch.softmax(3 * torch.randn(4, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64), -1)
    torch.testing.assert_close(models.resharpened(weights, LOG2, rounds=200), torch.full_like(weights, 0.25), atol=1e-6, rtol=0)


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_odds_of_a_row_are_bounded_at_the_initial_temperature(rounds: int) -> None:
    """e^{1/log 2} = 4.23…, which one round nearly reaches for one-hot rows with different keys."""
    for size in (2, 5):
        weights = models.resharpened(torch.eye(size, dtype=torch.float64), LOG2, rounds)
        odds = (weights.amax(-1) / weights.amin(-1)).max().item()
        assert odds <= math.exp(1 / LOG2) < 4.24
        assert rounds > 1 or odds > 4.23


def test_initial_temperature_and_shapes() -> None:
    module = models.OptimalTransportAttention(6, 2)
    torch.testing.assert_close(module.temperature.flatten(), torch.tensor([LOG2, LOG2]))
    output, weights = module(torch.zeros(3, 4, 6), torch.zeros(3, 5, 6), torch.zeros(3, 5, 6))
    assert output.shape == (3, 4, 6)
    assert weights.shape == (3, 2, 4, 5)


# ── OTAttentionExperiment ───────────────────────────────────────────────────────────────────────────────────────────


def test_standard_weights_are_averaged_over_heads_and_the_others_are_not() -> None:
    experiment = models.OTAttentionExperiment(8, 2)
    x = torch.zeros(1, 3, 8)
    _, _, standard, transport = experiment.compare(x)
    assert standard == pytest.approx(math.log(3), abs=1e-6)
    assert transport == pytest.approx(math.log(3), abs=1e-6)
    assert experiment.standard(x, x, x)[1].shape == (1, 3, 3)
    assert experiment.transport(x, x, x)[1].shape == (1, 2, 3, 3)


def test_two_heads_that_disagree() -> None:
    """One-hot heads on different keys: their mean is uniform, with entropy log 2; each head has entropy 0."""
    heads = torch.eye(2, dtype=torch.float64)
    torch.testing.assert_close(models.row_entropies(heads.mean(0)), double(LOG2))
    torch.testing.assert_close(models.row_entropies(heads).mean(), double(0.0), atol=1e-7, rtol=0)
