"""Linear attention is exact for its own kernel; the distance of that kernel from exp⟨q, k⟩ is derived and measured."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.testing import assert_close

from numerics import linear, tolerances
from numerics.transport import one_sided_plan
from tests.numerics.common import close, in_dtypes

# Forward-mode differentiation compiles decompositions that use features deprecated in the same release of PyTorch.
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")

F64 = torch.float64

SEEDS = st.integers(0, 1000)


def generator(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def features(seed: int, *shape: int, dtype: torch.dtype = F64) -> Tensor:
    return torch.rand(*shape, generator=generator(seed), dtype=F64).to(dtype)


def normal(seed: int, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=generator(seed), dtype=F64)


def quadratic(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, causal: bool) -> Tensor:
    """The definition in float64, one query at a time."""
    q, k, v = q.double(), k.double(), v.double()
    rows = []
    for i in range(q.shape[-2]):
        kernel = k @ q[i]
        if mask is not None:
            kernel = kernel * mask
        if causal:
            kernel = kernel * (torch.arange(k.shape[-2]) <= i)
        total = kernel.sum()
        rows.append(kernel @ v / total if total > 0 else torch.zeros(v.shape[-1], dtype=F64))
    return torch.stack(rows)


@pytest.mark.parametrize("causal", [False, True])
def test_rows_keep_their_weights_where_features_leave_the_range_of_the_dtype(causal: bool) -> None:
    """With scores in the thousands every feature underflows relative to the largest one of the keys."""
    q, k, v, omega = (60 * normal(0, 40, 4), 60 * normal(1, 40, 4), normal(2, 40, 2), normal(3, 16, 4))
    short = [x.float() for x in (q, k, v, omega)]
    output = linear.random_feature_attention(*short, causal=causal)
    logits = [
        (x.float().double() @ omega.float().double().mT) - x.float().double().square().sum(-1, keepdim=True) / 2 for x in (q, k)
    ]
    kernel = (logits[0].unsqueeze(-2) + logits[1].unsqueeze(-3)).logsumexp(-1)
    past = torch.ones(40, 40, dtype=torch.bool).tril() if causal else torch.ones(40, 40, dtype=torch.bool)
    expected = torch.where(past, kernel, -torch.inf).softmax(-1) @ short[2].double()
    # Logits of this size are rounded by u of it, once each for queries and keys.
    exponent = float(torch.cat(logits).abs().max())
    close(output.double(), expected, 40 * tolerances.plan("float32", 40 * 16, 4 * exponent) * float(v.abs().max()))
    assert float(output.abs().amax(-1).min()) > 1e-3


@pytest.mark.parametrize("causal", [False, True])
def test_a_far_offset_of_the_keys_costs_no_more_than_it_must(causal: bool) -> None:
    k, v = normal(1, 30, 3), normal(2, 30, 2)
    q, omega = normal(0, 30, 3), normal(3, 9, 3)
    far = torch.round(k * 64) / 64 + 2.0**20  # exact in float64; in float32 a sixteenth of a step
    output = linear.random_feature_attention(q, far, v, omega, causal=causal)
    x = far - 2.0**20
    logits = x @ (omega - 2.0**20).mT - x.square().sum(-1, keepdim=True) / 2
    kernel = (q @ omega.mT).unsqueeze(-2) + (logits + (omega * 2.0**20).sum(-1)).unsqueeze(-3)
    past = torch.ones(30, 30, dtype=torch.bool).tril() if causal else torch.ones(30, 30, dtype=torch.bool)
    expected = torch.where(past, kernel.logsumexp(-1), -torch.inf).softmax(-1) @ v
    close(output, expected, 30 * tolerances.plan("float64", 270, 2.0**23) * float(v.abs().max()))


def test_a_mask_adds_no_axes_to_the_result() -> None:
    q, k, v = normal(0, 5, 3).exp(), normal(1, 7, 3).exp(), normal(2, 7, 2)
    for call in (
        lambda mask: linear.linear_attention(q, k, v, mask),
        lambda mask: linear.kernel_weights(q, k, mask),
        lambda mask: linear.random_feature_attention(q, k, v, normal(3, 4, 3), mask=mask),
    ):
        assert call(torch.ones(7, dtype=torch.bool)).shape[0] == 5
        with pytest.raises(ValueError, match=r"^mask: expected a shape that broadcasts to \(7,\), got \(5, 7\)"):
            call(torch.ones(5, 7, dtype=torch.bool))


def test_future_nan_has_no_influence() -> None:
    q, k, v, omega = normal(0, 40, 3), normal(1, 40, 3), normal(2, 40, 2), normal(3, 9, 3)
    before = linear.random_feature_attention(q, k, v, omega, causal=True)
    k[33] = math.nan
    close(linear.random_feature_attention(q, k, v, omega, causal=True)[:32], before[:32], 0.0)


def one_by_one(q: Tensor, k: Tensor, v: Tensor, omega: Tensor, allowed: Tensor) -> Tensor:
    """Random feature attention of one problem from its definition: normalized Σ_r φ_r(q_i) φ_r(k_j), by logarithms."""
    logits = [x @ omega.mT - x.square().sum(-1, keepdim=True) / 2 for x in (q, k)]
    kernel = (logits[0].unsqueeze(-2) + logits[1].unsqueeze(-3)).logsumexp(-1)
    weights = torch.where(allowed, kernel, -torch.inf).softmax(-1)
    return torch.where(allowed.any(-1, keepdim=True), weights, 0.0) @ v


@pytest.mark.parametrize("causal", [False, True])
def test_random_feature_attention_of_a_batch_agrees_with_its_problems(causal: bool) -> None:
    """Also if the first chunks have no key, and if only values or projections have leading axes."""
    n, m = 40, 40 if causal else 37
    q, k, v, omega = normal(0, 2, 1, n, 3), normal(1, 3, m, 3), normal(2, 2, 1, m, 2), normal(3, 3, 5, 3)
    mask = torch.rand(2, 3, m, generator=generator(4)) > 0.3
    mask[0, :, :20] = False
    mask[1, 2] = False
    tau = torch.tensor([[0.5, 1.0, 2.0]], dtype=F64)
    past = torch.ones(n, m, dtype=torch.bool).tril() if causal else torch.ones(n, m, dtype=torch.bool)
    output = linear.random_feature_attention(q, k, v, omega, tau, mask, causal=causal)
    bare = linear.random_feature_attention(q, k, v, omega, tau, causal=causal)
    for i in range(2):
        for h in range(3):
            root = float(tau[0, h]) ** 0.5
            problem = (q[i, 0] / root, k[h] / root, v[i, 0], omega[h])
            close(output[i, h], one_by_one(*problem, past & mask[i, h]), 1e-12)
            close(bare[i, h], one_by_one(*problem, past), 1e-12)
    own = mask[:, 0]
    for values, projections in ((v[:, 0], omega[0]), (v[0, 0], omega[:2])):
        output = linear.random_feature_attention(q[0, 0], k[0], values, projections, 1.0, own, causal=causal)
        for i in range(2):
            close(
                output[i],
                one_by_one(q[0, 0], k[0], values.expand(2, -1, -1)[i], projections.expand(2, -1, -1)[i], past & own[i]),
                1e-12,
            )


def test_features_of_a_batch_agree_with_its_problems() -> None:
    x, omega = normal(0, 2, 3, 4), normal(1, 2, 5, 4)
    features = linear.positive_random_features(x, omega)
    for i in range(2):
        close(features[i], ((x[i] @ omega[i].mT) - x[i].square().sum(-1, keepdim=True) / 2).exp() / math.sqrt(5), 1e-14)


def test_variance_and_bias_of_a_batch_follow_the_notes() -> None:
    q, k = 0.5 * normal(0, 2, 4, 3), 0.5 * normal(1, 2, 5, 3)
    variance, bias = linear.kernel_variance(q, k, 7), linear.ratio_bias(q, k, 7)
    assert variance.shape == bias.shape == (2, 4, 5)
    for b in range(2):
        for i in range(4):
            s = q[b, i] + k[b]
            kernel, E = (k[b] @ q[b, i]).exp(), (s @ s.mT).exp()
            p = kernel / kernel.sum()
            close(variance[b, i], kernel.square() * (E.diagonal() - 1) / 7, 1e-12)
            close(bias[b, i], p * (p @ E @ p - E @ p) / 7, 1e-13)
    assert linear.ratio_bias(q[:0], k[:0], 7).shape == (0, 4, 5)


def test_the_bias_of_far_keys_whose_queries_are_as_far_keeps_its_digits() -> None:
    c = torch.tensor([2.0**20, 0.0], dtype=F64)
    x = torch.tensor([[0.0, 0.5], [1.0, -0.25], [-1.0, 0.75]], dtype=F64) * torch.tensor([2.0**-20, 1.0], dtype=F64)
    q, k = torch.tensor([[0.5, -0.5]], dtype=F64) - c, x + c
    s, p = torch.tensor([[0.5, -0.5]], dtype=F64) + x, (q @ x.mT).softmax(-1).squeeze(0)
    E = (s @ s.mT).exp()
    close(linear.ratio_bias(q, k, 1).squeeze(0), p * (p @ E @ p - E @ p), 1e-14)


@pytest.mark.parametrize("causal", [False, True])
def test_a_far_offset_of_the_unmasked_keys_costs_no_more_than_it_must(causal: bool) -> None:
    """The first key is masked, and the others are far from zero: neither may serve as their center."""
    x, v, q, omega = torch.round(normal(1, 20, 3) * 64) / 64, normal(2, 20, 2), normal(0, 20, 3), normal(3, 9, 3)
    mask = torch.arange(20) % 3 > 0
    output = linear.random_feature_attention(q, x + 2.0**20, v, omega, mask=mask, causal=causal)
    logits = x @ (omega - 2.0**20).mT - x.square().sum(-1, keepdim=True) / 2
    kernel = (q @ omega.mT).unsqueeze(-2) + (logits + (omega * 2.0**20).sum(-1)).unsqueeze(-3)
    past = torch.ones(20, 20, dtype=torch.bool).tril() if causal else torch.ones(20, 20, dtype=torch.bool)
    weights = torch.where(past & mask, kernel.logsumexp(-1), -torch.inf).softmax(-1).nan_to_num(nan=0.0)
    close(output, weights @ v, 20 * tolerances.plan("float64", 180, 2.0**23) * float(v.abs().max()))


def test_overflow_is_not_treated_as_zero() -> None:
    q, k, v, omega = normal(0, 3, 2), normal(1, 4, 2), normal(2, 4, 2), normal(3, 5, 2)
    assert linear.random_feature_attention(q, 1e200 * k, v, omega).isnan().all()
    assert linear.random_feature_attention(q, 1e200 * k[:3], v[:3], omega, causal=True)[1:].isnan().all()
    keys = torch.stack([k[0], -k[0], 1e160 * k[1], -1e160 * k[1]])  # about a mean of zero, where only squares overflow
    assert linear.random_feature_attention(q, keys, v, omega).isnan().all()
    assert linear.linear_attention(1e200 * q.exp(), 1e200 * k.exp(), torch.zeros_like(v)).isnan().all()


def test_a_row_of_zeros_is_zero_whatever_the_values_are_and_has_derivatives() -> None:
    q, k, v = features(0, 3, 4), features(1, 5, 4), normal(2, 5, 2)
    q[1] = 0
    close(linear.linear_attention(q, k, torch.full_like(v, math.inf))[1], torch.zeros(2, dtype=F64), 0.0)
    leaves = [x.requires_grad_() for x in (q, k, v)]
    for x in torch.autograd.grad(linear.linear_attention(*leaves).sum(), leaves):
        assert x.isfinite().all()


@pytest.mark.parametrize("n", [5, 640])
def test_causal_attention_takes_chunks_and_no_larger_matrix(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    matmul = torch.matmul
    monkeypatch.setattr(torch, "matmul", lambda x, y: (seen.append((z := matmul(x, y)).numel()), z)[1])
    linear.linear_attention(features(0, n, 2), features(1, n, 2), normal(2, n, 2), causal=True)
    assert max(seen) <= n * min(n, 64)


def test_variance_and_bias_are_finite_wherever_they_can_be_stored() -> None:
    q, k = torch.tensor([[9.0, 0.0]]), torch.tensor([[-9.5, 0.1], [-8.0, 0.0], [0.0, 2.0]])
    for short, wide in (
        (linear.kernel_variance(q, k, 4), linear.kernel_variance(q.double(), k.double(), 4)),
        (linear.ratio_bias(q, k, 4), linear.ratio_bias(q.double(), k.double(), 4)),
    ):
        assert_close(short, wide.float(), rtol=2e2 * tolerances.eps("float32"), atol=1e-30)
    # Weights 1, e^−162 and e^−243; the mean of E is e^324, beyond float32, whose last number is e^88.7.
    bias = linear.ratio_bias(torch.tensor([[9.0]]), torch.tensor([[9.0], [-9.0], [-18.0]]), 1)
    assert bias[0, :2].tolist() == [0.0, math.inf]
    assert float(bias[0, 2].log()) == pytest.approx(81, abs=1e-3)


def test_the_bias_of_one_long_row_needs_no_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    q, k = normal(0, 2, 3), normal(1, 50, 3)
    direct = linear.ratio_bias(q, k, 3)
    monkeypatch.setattr(linear, "_TILE_NUMBERS", 700)
    seen: list[int] = []
    matmul = torch.matmul
    monkeypatch.setattr(torch, "matmul", lambda x, y: (seen.append((z := matmul(x, y)).numel()), z)[1])
    close(linear.ratio_bias(q, k, 3), direct, 1e-12 * float(direct.abs().max()))
    assert max(seen) <= 700
    assert len(seen) == 1 + 8  # the scores, and keys in sevens, each against 2 × 50
    seen.clear()
    monkeypatch.setattr(linear, "_TILE_NUMBERS", 50)
    close(linear.ratio_bias(q, k, 3), direct, 1e-12 * float(direct.abs().max()))
    assert max(seen) == 100  # one key has more


# --- exactness ---------------------------------------------------------------------------------------------------


@in_dtypes
@pytest.mark.parametrize("causal", [False, True])
def test_it_is_row_normalized_kernel_attention(causal: bool, dtype: torch.dtype) -> None:
    @settings(deadline=None, max_examples=60)
    @given(SEEDS, st.sampled_from([1, 2, 7, 63, 64, 65, 130]), st.integers(1, 9), st.integers(1, 5), st.booleans())
    def check(seed: int, n: int, m: int, width: int, masked: bool) -> None:
        m = n if causal else m
        q, k = features(seed, n, width, dtype=dtype), features(seed + 1, m, width, dtype=dtype)
        v = normal(seed + 2, m, 3).to(dtype)
        mask = torch.rand(m, generator=generator(seed)) > 0.4 if masked else None
        actual = linear.linear_attention(q, k, v, mask, causal=causal)
        size = float(v.double().abs().max())
        # All terms are positive: numerator and mass have relative errors of the length of their sums, m terms of width.
        allowed = 4 * tolerances.rounding(dtype, m + width, size)
        close(actual.double(), quadratic(q, k, v, mask, causal), allowed)
        weights = linear.kernel_weights(q, k, mask, causal=causal)
        assert actual.dtype == weights.dtype == dtype
        close(weights.double() @ v.double(), quadratic(q, k, v, mask, causal), (m + 1) * allowed)
        sums = weights.double().sum(-1)
        close(sums, (sums > 0.5).double(), 4 * m * tolerances.rounding(dtype, m + width))

    check()


def test_it_is_a_one_sided_plan_for_its_own_cost() -> None:
    q, k = features(0, 3, 4, 5), features(1, 3, 6, 5)
    plan = one_sided_plan(-(q @ k.mT).log())
    close(linear.kernel_weights(q, k), 4 * plan, 1e-15)


def test_padding_is_excluded_after_the_feature_map() -> None:
    q, k, v, omega = normal(0, 4, 3), normal(1, 6, 3), normal(2, 6, 2), normal(3, 50, 3)
    mask = torch.tensor([True, True, True, True, False, False])
    padded = torch.cat((k[:4], torch.zeros(2, 3, dtype=F64)))
    expected = linear.random_feature_attention(q, k[:4], v[:4], omega)
    close(linear.random_feature_attention(q, padded, v, omega, mask=mask), expected, 1e-14)
    # Zero vectors have positive features: to set keys to zero is not to leave them out.
    assert (linear.random_feature_attention(q, padded, v, omega) - expected).abs().max() > 0.1
    poisoned_key, poisoned_value = k.clone(), v.clone()
    poisoned_key[4:], poisoned_value[4:] = math.inf, math.nan
    phi = linear.positive_random_features
    close(linear.linear_attention(phi(q, omega), phi(poisoned_key, omega), poisoned_value, mask), expected, 1e-14)


def test_causal_queries_do_not_see_the_future() -> None:
    q, k, v = features(0, 2, 130, 4), features(1, 2, 130, 4), normal(2, 2, 130, 3)
    before = linear.linear_attention(q, k, v, causal=True)
    changed_k, changed_v = k.clone(), v.clone()
    changed_k[:, 100:], changed_v[:, 100:] = 7.0, -9.0
    after = linear.linear_attention(q, changed_k, changed_v, causal=True)
    close(after[:, :100], before[:, :100], 0.0)
    assert (after[:, 100:] != before[:, 100:]).all()
    close(before[:, 0], v[:, 0], 1e-15)
    close(before[:, -1], linear.linear_attention(q, k, v)[:, -1], 1e-14)


def test_a_row_with_nothing_gives_zeros() -> None:
    q, k, v = features(0, 3, 4), features(1, 5, 4), normal(2, 5, 2)
    nothing = torch.zeros(5, dtype=torch.bool)
    assert (linear.linear_attention(q, k, v, nothing) == 0).all()
    assert (linear.kernel_weights(q, k, nothing) == 0).all()
    assert (linear.random_feature_attention(normal(3, 3, 2), normal(4, 5, 2), v, normal(5, 8, 2), mask=nothing) == 0).all()
    q[1] = 0
    assert (linear.linear_attention(q, k, v)[1] == 0).all()


def test_leading_dimensions_broadcast() -> None:
    q, k, v = features(0, 2, 1, 3, 4), features(1, 5, 6, 4), normal(2, 5, 6, 2)
    mask = torch.rand(2, 1, 6, generator=generator(3)) > 0.3
    actual = linear.linear_attention(q, k, v, mask)
    assert actual.shape == (2, 5, 3, 2)
    for i in range(2):
        for h in range(5):
            close(actual[i, h], quadratic(q[i, 0], k[h], v[h], mask[i, 0], False), 1e-14)


# --- derivatives and refusals ------------------------------------------------------------------------------------


X, Y = torch.ones(2, 3), torch.ones(4, 3)


@pytest.mark.parametrize(
    ("call", "name"),
    [(lambda: linear.linear_attention(X, Y, Y, causal=True), "causal"), (lambda: linear.kernel_variance(X, Y, 0), "features")],
)
def test_bad_arguments_are_named(call: object, name: str) -> None:
    with pytest.raises(ValueError, match=f"^{name}: expected"):
        call()  # type: ignore[operator]
