"""What is behind a mask has no effect, and what is not is not hidden."""

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from numerics import attention, flash, linear, masks, mem, ot_attention, priors, tolerances, transport
from numerics.modules import KINDS, Attention, MultiheadAttention, OptimalTransport, Sinkhorn, scaled_dot_product_attention
from numerics.modules.functional import attend

N, M, D = 4, 5, 6
ROUNDING = 64 * tolerances.rounding("float64", M * D, 8.0)
SOLVED = 1e-7  # of derivatives of solutions

FIRST = torch.arange(M) < M - 1
DEAD = torch.ones(N, M, dtype=torch.bool) & FIRST
DEAD[1] = False
MASKS = {"padding": FIRST.expand(N, M), "causal": torch.ones(N, M, dtype=torch.bool).tril(), "a row with nothing": DEAD}
Call = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]


def with_weights(kind: str | Attention) -> Call:
    def call(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
        output, weights = attend(kind, query, key, value, mask, need_weights=True)
        assert weights is not None
        return torch.cat((output, weights), -1)

    return call


def layer(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
    torch.manual_seed(0)
    module = MultiheadAttention(D, 2, batch_first=True, dtype=torch.float64)
    return module(query[0], key[0], value[0], attn_mask=~mask if mask.dtype == torch.bool else mask)[0]


CALLS: dict[str, Call] = {
    **{name: lambda *x, kind=name: scaled_dot_product_attention(*x, attention=kind) for name in KINDS},  # type: ignore[misc]
    **{f"{name}, weights": with_weights(name) for name in KINDS},
    "optimal transport, exact": lambda *x: scaled_dot_product_attention(*x, attention=OptimalTransport(exact=True)),
    "sinkhorn, many steps": lambda *x: scaled_dot_product_attention(*x, attention=Sinkhorn(20)),
    "flash.tiled_attention": lambda *x: flash.tiled_attention(*x, tile=2).output,
    "transport.sinkhorn_attention": lambda q, k, v, mask: transport.sinkhorn_attention(q, k, v, 2, mask=mask),
    "attention.attention_weights": lambda q, k, v, mask: attention.attention_weights(k, q, priors.log_mask(mask, q.dtype)),
    "MultiheadAttention": layer,
}


def tensors() -> list[Tensor]:
    g = torch.Generator().manual_seed(0)
    return [torch.randn(2, 3, size, D, generator=g, dtype=torch.float64) for size in (N, M, M)]


def results(call: Call, mask: Tensor, change: dict[int, tuple[int, float]], rows: slice = slice(None)) -> list[Tensor]:
    """The result and the derivatives after rows of some tensors were set to a number."""
    inputs = tensors()
    for index, (row, number) in change.items():
        inputs[index][..., row, :] = number
    inputs = [x.requires_grad_() for x in inputs] + ([mask.clone().requires_grad_()] if mask.is_floating_point() else [])
    result = call(*inputs[:3], inputs[3] if len(inputs) > 3 else mask)[..., rows, :]
    return [result, *torch.autograd.grad(result.square().sum(), inputs, materialize_grads=True)]


def floating(mask: Tensor) -> Tensor:
    return torch.zeros(mask.shape, dtype=torch.float64).masked_fill(~mask, -math.inf)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("name", CALLS)
def test_what_is_masked_has_no_effect_here_or_backwards(name: str, number: float) -> None:
    for kind, mask in MASKS.items():
        for converted in (mask, floating(mask)):
            replaced: list[dict[int, int]] = [{1: M - 1}, {2: M - 1}, {1: M - 1, 2: M - 1}]
            for rows in [*replaced, {0: 1}] if kind == "a row with nothing" else replaced:
                actual = results(CALLS[name], converted, {index: (row, number) for index, row in rows.items()})
                expected = results(CALLS[name], converted, {index: (row, 0.0) for index, row in rows.items()})
                assert_close(actual, expected, rtol=0.0, atol=SOLVED)


@pytest.mark.parametrize("name", [name for name in CALLS if "sinkhorn" not in name and "semi-relaxed" not in name])
def test_what_one_query_may_not_see_has_no_effect_on_it(name: str) -> None:
    """Key 2 is behind the mask for queries 0 and 1 only."""
    change = {1: (2, math.nan), 2: (2, math.nan)}
    for mask in (MASKS["causal"], floating(MASKS["causal"])):
        actual = results(CALLS[name], mask, change, slice(0, 2))
        expected = results(CALLS[name], mask, {index: (row, 0.0) for index, (row, _) in change.items()}, slice(0, 2))
        assert_close(actual, expected, rtol=0.0, atol=SOLVED)


@pytest.mark.parametrize("index", [0, 1, 2])
@pytest.mark.parametrize("name", CALLS)
def test_what_is_not_masked_is_not_hidden(name: str, index: int) -> None:
    if index == 2 and name == "attention.attention_weights":
        return
    for mask in (MASKS["padding"], floating(MASKS["padding"])):
        result = results(CALLS[name], mask, {index: (1, math.nan)})[0]
        assert result[..., 1 if index == 0 else slice(None), :D].isnan().all()


def test_rows_of_one_problem_that_share_their_keys_share_what_is_not_finite() -> None:
    for name in ("sinkhorn", "semi-relaxed"):
        assert results(CALLS[name], MASKS["causal"], {1: (2, math.nan)})[0].isnan().all()


@pytest.mark.parametrize("causal", [False, True])
def test_linear_attention_keeps_out_what_is_masked_or_later(causal: bool) -> None:
    g = torch.Generator().manual_seed(0)
    inputs = [torch.rand(2, M, D, generator=g, dtype=torch.float64) for _ in range(3)]
    omega = torch.randn(7, D, generator=g, dtype=torch.float64)
    rows, mask = (slice(0, 3), None) if causal else (slice(None), torch.arange(M) != 3)
    calls: list[Callable[..., Tensor]] = [
        lambda q, k, v: linear.linear_attention(q, k, v, mask, causal=causal),
        lambda q, k, v: linear.kernel_weights(q, k, mask, causal=causal),
        lambda q, k, v: linear.random_feature_attention(q, k, v, omega, 1.0, mask, causal=causal),
    ]
    for call in calls:
        found = []
        for number in (math.nan, math.inf, 0.0):
            q, k, v = (x.clone() for x in inputs)
            k[:, 3] = v[:, 3] = number
            leaves = [x.requires_grad_() for x in (q, k, v)]
            result = call(*leaves)[..., rows, :]
            found.append([result, *torch.autograd.grad(result.square().sum(), leaves, materialize_grads=True)])
            if causal and math.isnan(number):
                assert call(*leaves)[..., 3:, :].isnan().all()
        for actual in found[:2]:
            assert_close(actual, found[2], rtol=0.0, atol=ROUNDING)


@pytest.mark.parametrize(
    "function",
    [
        lambda t, z, mask: mem.tilt(z, t, None, mask),
        lambda t, z, mask: mem.closed_form(t, z, None, 1.0, mask),
        lambda t, z, mask: mem.solve(t, z, None, 1.0, mask).mean,
    ],
)
def test_masked_templates_have_no_effect(function: Callable[..., Tensor]) -> None:
    found = []
    for number in (math.nan, math.inf, 0.0):
        z, t, _ = tensors()
        t, z = t[0, 0], z[0, 0]
        t[-1] = number
        result = function(t.requires_grad_(), z.requires_grad_(), FIRST)
        found.append([result, *torch.autograd.grad(result.square().sum(), (t, z))])
    for actual in found[:2]:
        assert_close(actual, found[2], rtol=0.0, atol=SOLVED)


# ── numbers for −inf ────────────────────────────────────────────────────────────────────────────────────────────────

LOW = [-1e4, -1e9, float(torch.finfo(torch.float32).min)]


@pytest.mark.parametrize("number", LOW)
@pytest.mark.parametrize("kind", [*KINDS, OptimalTransport(exact=True), Sinkhorn(20)], ids=str)
def test_low_numbers_are_masks_in_every_attention(kind: str | Attention, number: float) -> None:
    query, key, value = (x.float() for x in tensors())
    bias = torch.randn(N, M, generator=torch.Generator().manual_seed(1))
    for mask in MASKS.values():
        rows = mask.any(-1)
        low, infinite = bias.clone(), bias.masked_fill(~mask, -math.inf)
        low[~mask] += number
        actual, expected = (
            scaled_dot_product_attention(query[..., rows, :], key, value, x[rows], attention=kind) for x in (low, infinite)
        )
        assert_close(actual, expected, rtol=0.0, atol=float(tolerances.rounding("float32", M * D, 8.0)))


@pytest.mark.parametrize("exact", [False, True])
def test_low_numbers_are_masks_in_the_layer(exact: bool) -> None:
    torch.manual_seed(0)
    module, (query, tokens, _) = ot_attention.OTAttention(D, 2, exact=exact).double(), (x[0] for x in tensors())
    for number in LOW:
        low = torch.zeros(M, dtype=torch.float64).masked_fill(~FIRST, number)
        assert_close(module(query, tokens, mask=low), module(query, tokens, mask=FIRST), rtol=0.0, atol=SOLVED)


def test_which_numbers_are_low() -> None:
    numbers = [[0.0, -4999.0, -5000.0, -math.inf], [-1e9, -1e9, -1e9, -1e9 - 1e4], [-math.inf] * 4, [1e4, 0, 6e3, math.nan]]
    mask = torch.tensor(numbers, dtype=torch.float64, requires_grad=True)
    kept = masks.with_infinities(mask)
    assert (kept == -math.inf).tolist() == [[False, False, True, True], [False, False, False, True], [True] * 4, [False] * 4]
    (slope,) = torch.autograd.grad(kept[:2].masked_fill(kept[:2] == -math.inf, 0.0).sum(), mask)
    assert slope.tolist() == [[1, 1, 0, 0], [1, 1, 1, 0], [0] * 4, [0] * 4]
    boolean = torch.tensor([True, False])
    assert masks.with_infinities(boolean) is masks.of_whole_rows(boolean) is boolean
    assert masks.of_whole_rows(mask.detach()[:3]).tolist() == [
        [0.0, -4999.0, -math.inf, -math.inf],
        [0.0, 0.0, 0.0, -math.inf],
        [-math.inf] * 4,
    ]


@pytest.mark.parametrize("offset", [-5e3, -1e9, 1e9])
@pytest.mark.parametrize("name", KINDS)
def test_what_a_row_of_a_mask_has_in_common_changes_nothing(name: str, offset: float) -> None:
    query, key, value = (x[0] for x in tensors())
    mask = torch.zeros(N, M, dtype=torch.float64)
    mask[:, 1], mask[0] = -2.0, mask[0] + offset
    kept = mask - mask.amax(-1, keepdim=True)
    found = [scaled_dot_product_attention(query, key, value, x, attention=name) for x in (mask, kept)]
    of_transport = name in ("sinkhorn", "semi-relaxed", "optimal-transport")
    assert_close(*found, rtol=0.0, atol=SOLVED if of_transport else 64 * tolerances.rounding("float64", M, abs(offset)))


# ── the pieces ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_finite_tensors_are_left_as_they_are() -> None:
    query, key, value = tensors()
    given, seen = masks.shielded(MASKS["causal"], query, key, value)
    assert seen is None
    assert all(x is y for x, y in zip(given, (query, key, value), strict=True))
    assert masks.used_only(key, FIRST) is key


def test_rows_that_see_what_was_replaced_are_named() -> None:
    query, key, _ = tensors()
    key[..., 2, 0] = math.inf
    (_, k), seen = masks.shielded(MASKS["causal"], query, key)
    assert seen is not None
    assert seen[0, 0, :, 0].tolist() == [False, False, True, True]
    assert bool(k.isfinite().all())
    assert bool((k[..., 2, 0] == 0).all())
    assert_close(k[..., 2, 1:], key[..., 2, 1:])
    query[..., 1, 0] = math.nan
    _, seen = masks.shielded(DEAD, query, tensors()[1])
    assert seen is not None
    assert not seen.any()
    _, causal = masks.causally_shielded(query, key[..., :N, :])
    assert causal is not None
    assert causal[0, 0, :, 0].tolist() == [False, True, True, True]
    bad = torch.tensor([[1.0, math.nan], [1.0, 2.0]], requires_grad=True)
    doubled = masks.row_by_row(lambda x: 2 * x, bad)
    assert_close(doubled, torch.tensor([[math.nan] * 2, [2.0, 4.0]]), equal_nan=True)
    (slope,) = torch.autograd.grad(doubled[1].sum(), bad)
    assert slope.tolist() == [[0.0, 0.0], [2.0, 2.0]]


def test_under_transforms_and_compiled_the_same_holds() -> None:
    change = {1: (M - 1, math.nan), 2: (M - 1, math.nan)}
    query, key, value = tensors()
    for index, (row, number) in change.items():
        (query, key, value)[index][..., row, :] = number

    def call(*x: Any) -> Tensor:
        return scaled_dot_product_attention(*x)

    expected = call(query, key, value, MASKS["padding"])
    assert bool(expected.isfinite().all())
    mapped = torch.func.vmap(call, (0, 0, 0, None))(query, key, value, MASKS["padding"])
    assert_close(mapped, expected, rtol=0.0, atol=ROUNDING)
    torch.compiler.reset()
    compiled = torch.compile(call, backend="eager", fullgraph=True)(query, key, value, MASKS["padding"])
    assert_close(compiled, expected, rtol=0.0, atol=ROUNDING)
