"""From softmax to the balanced plan, properties of the divergence, and cases that the diagnostics distinguish."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from evidence.instances.attention import Tiled, tilings
from numerics import one_sided, tolerances
from numerics.transport import (
    certified_weights,
    diagnose,
    relaxed_weights,
    sinkhorn,
    sinkhorn_attention,
    sinkhorn_divergence,
    sinkhorn_weights,
)
from tests.numerics.common import close, in_dtypes
from tests.numerics.transport.problems import apart, connection, random_problem

F64 = torch.float64

FAIR = settings(deadline=None, max_examples=60)

PATHS = [0, 1, 2, 5, math.inf]


def scores_of(seed: int, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=F64)


def divergence_of(p: Tensor, q: Tensor) -> Tensor:
    """Σ p log(p/q), term by term, over the last two axes."""
    return torch.where(p > 0, p * (torch.where(p > 0, p, 1.0) / torch.where(p > 0, q, 1.0)).log(), 0.0).sum((-2, -1))


def spread(s: Tensor, tau: float) -> float:
    """The largest exponent of weights between keys with equal shares: the spread of the scores over τ, and log nm."""
    finite = s[s != -torch.inf]
    return float(finite.max() - finite.min()) / tau + math.log(s.shape[-1] * s.shape[-2])


def rounding(s: Tensor, tau: float, steps: float = math.inf) -> float:
    """The allowed distance of two computations of the same weights: the rounding of exponents for each half-step."""
    n, m = s.shape[-2:]
    if steps == math.inf:
        balanced = sinkhorn_weights(s, tau, math.inf)
        return n * apart(balanced / balanced.sum((-2, -1), keepdim=True), spread(s, tau))
    return (1 + int(steps)) * tolerances.plan(s.dtype, n + m, 3 * spread(s, tau))


# --- attention ---------------------------------------------------------------------------------------------------


@in_dtypes
def test_no_half_steps_are_ordinary_attention(dtype: torch.dtype) -> None:
    @settings(deadline=None)
    @given(tilings(dtype))
    def check(x: Tiled) -> None:
        actual = sinkhorn_attention(x.query, x.key, x.value, 0, x.temperature, mask=x.mask)
        y = x.rounded_to(torch.float64)
        expected = torch.nn.functional.scaled_dot_product_attention(y.query, y.key, y.value, y.mask, scale=1 / x.temperature)
        assert actual.dtype == dtype
        size = float(x.value.double().abs().max())
        allowed = tolerances.rounding(dtype, x.key.shape[-2], size) + 2 * x.key.shape[-2] * x.error * size
        close(actual.double(), expected, allowed)

    check()


def test_the_default_temperature_is_that_of_attention() -> None:
    q, k, v = scores_of(0, 2, 4, 3), scores_of(1, 2, 5, 3), scores_of(2, 2, 5, 2)
    weight = tolerances.plan("float64", 5, 3 * float((q.abs() @ k.abs().mT).max()))
    allowed = (tolerances.rounding("float64", 5) + 2 * 5 * weight) * float(v.abs().max())
    close(sinkhorn_attention(q, k, v), torch.nn.functional.scaled_dot_product_attention(q, k, v), allowed)


@FAIR
@given(st.integers(0, 1000), st.integers(1, 5), st.integers(1, 5), st.sampled_from([0.3, 1.0, 10.0]), st.integers(0, 7))
def test_each_half_step_meets_one_marginal_and_approaches_the_other(seed: int, n: int, m: int, tau: float, steps: int) -> None:
    s = scores_of(seed, n, m)
    b = torch.rand(m, generator=torch.Generator().manual_seed(seed), dtype=F64) + 0.1
    b = b / b.sum()
    weights = sinkhorn_weights(s, tau, steps, b)
    sums, wanted = (weights.sum(-1), torch.ones(n, dtype=F64)) if steps % 2 == 0 else (weights.sum(-2), n * b)
    allowed = tolerances.marginals("float64", n + m, 2 * float(s.abs().max()) / tau - math.log(float(b.min())))
    close(sums, wanted, n * allowed)
    # A half-step projects, in the sense of KL, on a set that contains the balanced plan: it can only come nearer to it.
    limit = sinkhorn_weights(s, tau, math.inf, b)
    mass = n / weights.sum()
    gaps = [float(divergence_of(limit, mass * sinkhorn_weights(s, tau, k, b))) for k in (steps, steps + 1)]
    assert gaps[1] <= gaps[0] + n * allowed


def test_half_steps_tend_to_the_balanced_plan() -> None:
    s = scores_of(3, 2, 4, 6)
    limit = sinkhorn_weights(s, 0.5, math.inf)
    allowed = rounding(s, 0.5)
    # Two half-steps bring the columns nearer by the factor σ² = 1 − connection; 400 of them leave nothing to round.
    close(sinkhorn_weights(s, 0.5, 400), limit, allowed + 4 * (1 - connection(limit)) ** 200 * math.exp(spread(s, 0.5)))
    close(limit, 4 * sinkhorn(-s, temperature=0.5).plan, allowed)
    close(limit.sum(-2), torch.full((2, 6), 4 / 6, dtype=F64), 4 * tolerances.marginals("float64", 10, spread(s, 0.5)))
    assert (sinkhorn_weights(s, 0.5, 0) - limit).abs().max() > 0.1


@pytest.mark.parametrize("half_steps", [0, 1, 4, math.inf])
def test_weights_of_a_batch_agree_with_its_problems(half_steps: float) -> None:
    """Scores, targets, temperatures and masks have separate leading axes, and all axes have different lengths."""
    s, tau = scores_of(0, 3, 4, 5), torch.tensor([[0.5], [2.0]], dtype=F64)
    b = (2 * scores_of(1, 2, 1, 5)).softmax(-1)
    masks = [torch.ones(2, 3, 4, 5, dtype=torch.bool), scores_of(2, 3, 4, 5)]
    masks[0][1, 2, 3] = masks[0][0, 1, :, 2] = False  # a query and a key that take no part
    for mask, target in ((masks[0], None), (masks[1], b), (None, b)):
        batched = sinkhorn_weights(s, tau, half_steps, target, mask)
        assert batched.shape == (2, 3, 4, 5)
        for i in range(2):
            for h in range(3):
                one = sinkhorn_weights(
                    s[h],
                    float(tau[i]),
                    half_steps,
                    None if target is None else target[i, 0],
                    None if mask is None else mask.expand(2, 3, 4, 5)[i, h],
                )
                close(batched[i, h], one, 1e-12)
    query, key, value = scores_of(3, 2, 1, 4, 3), scores_of(4, 3, 5, 3), scores_of(5, 2, 3, 5, 2)
    weights = sinkhorn_weights(query @ key.mT, tau, half_steps, b, masks[1])
    close(sinkhorn_attention(query, key, value, half_steps, tau, b, masks[1]), weights @ value, 1e-13)


def test_errors_of_weights_exclude_masked_queries() -> None:
    """W is n times the plan, where n does not count masked queries."""
    s, mask = scores_of(0, 2, 4, 5), torch.ones(2, 4, 5, dtype=torch.bool)
    mask[1, 3] = False
    rough = certified_weights(s, 0.05, math.inf, mask=mask, max_steps=1, strict=False)
    assert not bool(rough.converged.any())
    for i, n in ((0, 4.0), (1, 3.0)):
        close(rough.row_error[i], (rough.weights[i].sum(-1) - mask[i].any(-1).double()).abs(), 1e-14)
        close(rough.column_error[i], (rough.weights[i].sum(-2) - n / 5).abs(), 1e-14)
    assert float(rough.column_error.max()) > 1e-3


def test_a_half_step_is_a_scaling() -> None:
    s = torch.tensor([[0.0, math.log(2)], [0.0, 0.0]], dtype=F64)
    close(sinkhorn_weights(s), torch.tensor([[1 / 3, 2 / 3], [1 / 2, 1 / 2]], dtype=F64), rounding(s, 1.0, 0))
    close(sinkhorn_weights(s, half_steps=1), torch.tensor([[2 / 5, 4 / 7], [3 / 5, 3 / 7]], dtype=F64), rounding(s, 1.0, 1))
    # The balanced 2 × 2 plan keeps the cross ratio 1/2: p²/(1 − p)² = 1/2.
    p = 1 / (1 + math.sqrt(2))
    close(sinkhorn_weights(s, half_steps=math.inf), torch.tensor([[p, 1 - p], [1 - p, p]], dtype=F64), rounding(s, 1.0))


def test_relaxation_leads_from_softmax_to_the_balanced_plan() -> None:
    s = scores_of(4, 3, 5, 4)
    path = [relaxed_weights(s, 0.5, r) for r in (1e-9, 0.01, 0.1, 1.0, 10.0, 1e9)]
    allowed, free, balanced = rounding(s, 0.5), s.div(0.5).softmax(-1), sinkhorn_weights(s, 0.5, math.inf)
    reach = float((free.mean(-2) * 4).log().abs().max())
    close(path[0], free, tolerances.relaxed_plan(1e-9 / 0.5, reach) + allowed)
    # The target at ρ is b exp(−g/ρ), with |g| at most the spread of the scores.
    slack = math.expm1(0.5 * spread(s, 0.5) / 1e9)
    close(path[-1], balanced, 5 * apart(balanced / 5, spread(s, 0.5), slack))
    for weights in path:
        close(weights.sum(-1), torch.ones(3, 5, dtype=F64), 5 * tolerances.marginals("float64", 9, spread(s, 0.5)))
    imbalance = torch.stack([diagnose(weights).imbalance for weights in path])
    assert (imbalance.diff(dim=0) < 0).all()
    assert (imbalance[0] > 1e-2).all()


@pytest.mark.parametrize("half_steps", PATHS)
def test_masked_keys_and_queries_have_no_influence(half_steps: float) -> None:
    s = scores_of(5, 2, 5, 6)
    queries, keys = torch.tensor([True, False, True, True, False]), torch.tensor([True, True, False, True, False, True])
    mask = queries.unsqueeze(-1) & keys
    added = torch.zeros(5, 6, dtype=F64).masked_fill(~mask, -torch.inf)
    full = sinkhorn_weights(s, 0.7, half_steps, mask=mask)
    part = sinkhorn_weights(s[:, queries][..., keys], 0.7, half_steps)
    allowed = rounding(s[:, queries][..., keys], 0.7, half_steps)
    close(full[:, queries][..., keys], part, allowed)
    assert (full[:, ~mask] == 0).all()
    close(sinkhorn_weights(s, 0.7, half_steps, mask=added), full, allowed)
    relaxed = relaxed_weights(s, 0.7, 0.4, mask=mask)[:, queries][..., keys]
    close(relaxed, relaxed_weights(s[:, queries][..., keys], 0.7, 0.4), rounding(s[:, queries][..., keys], 0.7))


@pytest.mark.parametrize("half_steps", PATHS)
def test_no_query_at_all_gives_zeros(half_steps: float) -> None:
    s = scores_of(6, 2, 2, 3)
    mask = torch.tensor([True, False]).view(2, 1, 1).expand(2, 2, 3)
    weights = sinkhorn_weights(s, 1.0, half_steps, mask=mask)
    assert (weights[1] == 0).all()
    close(weights[0], sinkhorn_weights(s[0], 1.0, half_steps), rounding(s[0], 1.0, half_steps))
    assert (relaxed_weights(s, 1.0, 0.5, mask=mask)[1] == 0).all()


@pytest.mark.parametrize("half_steps", [1, 2, math.inf])
def test_the_only_key_gets_everything(half_steps: float) -> None:
    only = torch.arange(5) == 2
    close(sinkhorn_weights(scores_of(0, 2, 4, 5), 0.5, half_steps, mask=only), only.double().expand(2, 4, 5), 1e-15)


def test_a_balanced_causal_plan_ignores_the_scores() -> None:
    causal = torch.ones(4, 4, dtype=torch.bool).tril()
    for seed in range(3):
        weights = sinkhorn_weights(scores_of(seed, 4, 4), 1.0, math.inf, mask=causal)
        error = float((weights.sum(-1) - 1).abs().sum() + (weights.sum(-2) - 1).abs().sum())
        # The rows fill up one after the other, and each inherits the marginal errors.
        close(weights, torch.eye(4, dtype=F64), 2 * 4 * error + tolerances.rounding("float64", 4))
        assert relaxed_weights(scores_of(seed, 4, 4), 1.0, 0.5, mask=causal)[-1, :3].max() > 0.05


def test_a_key_without_a_share_gets_nothing_of_a_half_step() -> None:
    b = torch.tensor([0.5, 0.5, 0.0], dtype=F64)
    s = scores_of(7, 4, 3)
    for half_steps in (1, 2, 5, math.inf):
        assert (sinkhorn_weights(s, 1.0, half_steps, b)[:, 2] == 0).all()
    close(sinkhorn_weights(s, 1.0, math.inf, b)[:, :2], sinkhorn_weights(s[:, :2], 1.0, math.inf), rounding(s[:, :2], 1.0))
    assert (sinkhorn_weights(s, 1.0, 0, b) == sinkhorn_weights(s, 1.0)).all()


# --- the divergence ----------------------------------------------------------------------------------------------


def squared(x: Tensor, y: Tensor) -> Tensor:
    return (x.unsqueeze(-2) - y.unsqueeze(-3)).square().sum(-1)


@FAIR
@given(st.integers(0, 1000), st.integers(1, 5), st.integers(1, 5), st.sampled_from([0.01, 0.1, 1.0, 100.0]))
def test_the_divergence_is_zero_at_equal_measures_and_positive_elsewhere(seed: int, n: int, m: int, epsilon: float) -> None:
    g = torch.Generator().manual_seed(seed)
    x, y = torch.randn(n, 2, generator=g, dtype=F64), torch.randn(m, 2, generator=g, dtype=F64)
    _, a, b = random_problem(seed, n, m)
    costs = squared(x, y), squared(x, x), squared(y, y)
    # A value is Σ a f + Σ b g, with potentials as large as the costs and ε log of the least mass.
    scale = max(float(c.max()) for c in costs) - 2 * epsilon * math.log(float(torch.cat((a, b)).min()))
    allowed = tolerances.rounding("float64", (n + m) ** 2, scale * (1 + scale / epsilon))
    apart = sinkhorn_divergence(*costs, a, b, epsilon)
    assert apart >= -allowed
    swapped = sinkhorn_divergence(costs[0].mT, costs[2], costs[1], b, a, epsilon)
    close(apart, swapped, allowed)
    home = sinkhorn_divergence(costs[1], costs[1], costs[1], a, a, epsilon)
    close(home, torch.zeros((), dtype=F64), allowed)
    # Two copies of a point are one point.
    twice = torch.cat((x, x)), torch.cat((a, a)) / 2
    doubled = sinkhorn_divergence(squared(twice[0], y), squared(twice[0], twice[0]), costs[2], twice[1], b, epsilon)
    close(doubled, apart, tolerances.rounding("float64", (2 * n + m) ** 2, scale * (1 + scale / epsilon)))


def test_the_divergence_interpolates_transport_cost_and_distance_of_means() -> None:
    x, y = scores_of(8, 4, 2), scores_of(9, 5, 2)
    costs = squared(x, y), squared(x, x), squared(y, y)
    hot = sinkhorn_divergence(*costs, temperature=1e6)
    # To first order in 1/ε the value is the mean cost less its variance over 2ε, and each variance is at most spread²/4.
    widest = max(float(cost.max()) for cost in costs)
    allowed = 2 * widest**2 / (8 * 1e6) * 1.01 + tolerances.rounding("float64", 20, 1e6)
    close(hot, (x.mean(0) - y.mean(0)).square().sum(), allowed)
    cold, colder = (float(sinkhorn_divergence(*costs, temperature=e)) for e in (1e-3, 1e-5))
    ot_value = float(sinkhorn(costs[0], temperature=1e-6).value)
    assert abs(colder - ot_value) < abs(cold - ot_value) < 0.02


def test_divergences_of_a_batch_agree_with_its_problems() -> None:
    x, y = scores_of(0, 2, 1, 4, 2), scores_of(1, 3, 5, 2)
    costs = [torch.cdist(left, right).square() for left, right in ((x, y), (x, x), (y, y))]
    a, b = scores_of(2, 2, 1, 4).softmax(-1), scores_of(3, 3, 5).softmax(-1)
    tau = torch.tensor([[0.5], [2.0]], dtype=F64)
    divergence = sinkhorn_divergence(*costs, a, b, tau)
    assert divergence.shape == (2, 3)
    for i in range(2):
        for h in range(3):
            terms = [
                sinkhorn(*problem, float(tau[i])).value
                for problem in ((costs[0][i, h], a[i, 0], b[h]), (costs[1][i, 0], a[i, 0], a[i, 0]), (costs[2][h], b[h], b[h]))
            ]
            close(divergence[i, h], terms[0] - (terms[1] + terms[2]) / 2, 1e-12)
    for short in range(3):
        mixed = [cost.float() if k == short else cost for k, cost in enumerate(costs)]
        assert sinkhorn_divergence(*mixed).dtype == F64
    assert sinkhorn_divergence(*(cost.float() for cost in costs)).dtype == torch.float32


def test_one_cost_for_all_three_terms_measures_nothing() -> None:
    """With the cross cost also within each side, different points can have a negative difference."""
    cost = torch.tensor([[5.0, 0.0], [0.0, 5.0]], dtype=F64)
    a, b = torch.tensor([0.9, 0.1], dtype=F64), torch.tensor([0.1, 0.9], dtype=F64)
    assert sinkhorn_divergence(cost, cost, cost, a, b, 0.1) < -1.0


# --- diagnostics -------------------------------------------------------------------------------------------------


@FAIR
@given(st.integers(0, 1000), st.integers(1, 5), st.integers(1, 5), st.sampled_from([1e-3, 0.3, 1.0, 100.0]), st.booleans())
def test_concentration_is_information_and_imbalance(seed: int, n: int, m: int, tau: float, masked: bool) -> None:
    s = scores_of(seed, 2, n, m)
    mask = scores_of(seed + 1, 2, n, m) > -0.5 if masked else torch.ones(2, n, m, dtype=torch.bool)
    mask[:, 0, 0] = True
    plan = one_sided.plan(s, tau, mask)
    b = torch.rand(m, generator=torch.Generator().manual_seed(seed), dtype=F64) + 0.1
    x = diagnose(plan, b)
    # Terms p log(p/q) with p ≤ 1 and 1/q ≤ n m/min b, seven sums of them.
    allowed = tolerances.rounding("float64", n * m, 7 * (1 + math.log(n * m / float((b / b.sum()).min()))))
    close(x.concentration, x.information + x.imbalance, allowed)
    for part in (x.concentration, x.information, x.imbalance, x.entropy):
        assert (part >= -allowed).all()
    close(x.load.sum(-1), torch.ones(2, dtype=F64), allowed)
    assert (x.effective_keys <= m * (1 + allowed)).all()
    assert (x.peak <= 1 + allowed).all()
    uniform = diagnose(plan)
    live = plan.sum(-1) > 0
    mean = torch.stack([entropy[visible].mean() for entropy, visible in zip(uniform.entropy, live, strict=True)])
    close(uniform.concentration, math.log(m) - mean, allowed)
    assert (uniform.effective_keys[~live] == 0).all()


CASES = {
    "a permutation": (torch.eye(3), math.log(3), math.log(3), 0.0),
    "all on one key": (torch.tensor([[1.0, 0.0, 0.0]] * 3), math.log(3), 0.0, math.log(3)),
    "uniform": (torch.ones(3, 3), 0.0, 0.0, 0.0),
    "one row": (torch.tensor([[1.0, 1.0, 0.0]]), math.log(1.5), 0.0, math.log(1.5)),
}


@pytest.mark.parametrize("name", CASES)
def test_concentrated_is_not_imbalanced(name: str) -> None:
    plan, concentration, information, imbalance = CASES[name]
    x = diagnose(plan)
    assert [float(part) for part in (x.concentration, x.information, x.imbalance)] == pytest.approx(
        [concentration, information, imbalance], abs=tolerances.rounding("float32", 9, 2 * math.log(3))
    )


def test_balanced_weights_concentrate_without_imbalance() -> None:
    s = scores_of(10, 5, 5)
    entropies = []
    for tau in (10.0, 1.0, 0.1):
        ordinary, balanced = diagnose(sinkhorn_weights(s, tau)), diagnose(sinkhorn_weights(s, tau, math.inf))
        close(balanced.imbalance, torch.zeros((), dtype=F64), tolerances.marginals("float64", 10, spread(s, tau)))
        assert ordinary.imbalance > 1e-6
        entropies.append(float(balanced.entropy.mean()))
    assert entropies[0] > entropies[1] > entropies[2]
    assert entropies[2] < 0.5


def test_mass_outside_the_target_has_an_infinite_error() -> None:
    x = diagnose(torch.eye(2), torch.tensor([1.0, 0.0]))
    assert x.imbalance == x.concentration == math.inf
    assert x.information == pytest.approx(math.log(2))


# --- refusals ----------------------------------------------------------------------------------------------------

S = torch.zeros(2, 3)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: sinkhorn_weights(S, half_steps=-1), "half_steps"),
        (lambda: sinkhorn_weights(S, half_steps=1.5), "half_steps"),
        (lambda: sinkhorn_weights(S, half_steps=True), "half_steps"),
        (lambda: sinkhorn_weights(S, half_steps=math.nan), "half_steps"),
        (lambda: relaxed_weights(S, 1.0, -1.0), "relaxation"),
        (lambda: relaxed_weights(S, mask=torch.ones(3, 3, dtype=torch.bool)), "mask"),
        (lambda: sinkhorn_divergence(S, S, torch.zeros(3, 3)), "within_source"),
        (lambda: sinkhorn_divergence(S, torch.zeros(2, 2), S), "within_target"),
    ],
)
def test_bad_arguments_are_named(call: object, name: str) -> None:
    with pytest.raises(ValueError, match=f"^{name}: expected"):
        call()  # type: ignore[operator]
