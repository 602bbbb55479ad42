"""``scaled_dot_product_attention`` with a choice of attention, compared with PyTorch and with its own definitions."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.masked import masked_tensor
from torch.nn.attention.bias import causal_lower_right, causal_upper_left
from torch.nn.attention.flex_attention import create_block_mask
from torch.nn.functional import scaled_dot_product_attention as theirs
from torch.testing import assert_close
from torch.utils.checkpoint import checkpoint

from numerics import mem, one_sided, ot_attention, regularizers, tolerances, transport
from numerics.modules import (
    KINDS,
    Entmax,
    Linear,
    MaximumEntropy,
    OptimalTransport,
    SemiRelaxed,
    Sinkhorn,
    scaled_dot_product_attention,
)
from numerics.modules.functional import attend
from numerics.modules.fused import fused_attention
from tests.numerics.derivatives import check_twice

GENERATOR = torch.Generator().manual_seed(0)
ROUNDING = 4 * tolerances.rounding("float64", 32, 8.0)  # 32 products at most; outputs and scores are below 8


def normal(*shape: int) -> Tensor:
    return torch.randn(shape, generator=GENERATOR, dtype=torch.float64)


def close(actual: Tensor, expected: Tensor, atol: float = ROUNDING) -> None:
    assert_close(actual, expected, rtol=0.0, atol=atol)


@pytest.mark.parametrize("scale", [None, 0.3, 1.0, -0.7, 0.0])
@pytest.mark.parametrize("lead", [(), (3,), (2, 3), (0, 3), (2, 0)])
def test_softmax_is_the_function(lead: tuple[int, ...], scale: float | None) -> None:
    query, key, value = normal(*lead, 4, 8), normal(*lead, 5, 8), normal(*lead, 5, 6)
    allowed = torch.rand(4, 5, generator=GENERATOR) > 0.4
    allowed[:, 0] = True
    for options in ({}, {"attn_mask": allowed}, {"attn_mask": normal(4, 5)}, {"is_causal": True}):
        arguments: dict[str, Any] = {**options, "scale": scale}
        close(scaled_dot_product_attention(query, key, value, **arguments), theirs(query, key, value, **arguments))


def test_a_negative_scale_prefers_the_least_similar_keys() -> None:
    query, key, value = normal(2, 4, 8), normal(2, 5, 8), normal(2, 5, 6)
    for name in KINDS:
        output = scaled_dot_product_attention(query, key, value, scale=-0.5, attention=name)
        close(output, scaled_dot_product_attention(-query, key, value, scale=0.5, attention=name))


@pytest.mark.parametrize("name", KINDS)
def test_grouped_queries_share_their_keys(name: str) -> None:
    query, key, value = normal(2, 6, 4, 8), normal(2, 3, 5, 8), normal(2, 3, 5, 6)
    output = scaled_dot_product_attention(query, key, value, enable_gqa=True, attention=name)
    every = [scaled_dot_product_attention(query[:, h], key[:, h // 2], value[:, h // 2], attention=name) for h in range(6)]
    close(output, torch.stack(every, 1))
    if name == "softmax":
        close(output, theirs(query, key, value, enable_gqa=True))


@pytest.mark.parametrize("name", KINDS)
def test_empty_inputs(name: str) -> None:
    for n, m, lead in ((0, 5, (2,)), (4, 0, (2,)), (4, 5, (0, 3)), (0, 0, ())):
        query, key, value = normal(*lead, n, 8).requires_grad_(), normal(*lead, m, 8), normal(*lead, m, 6)
        output = scaled_dot_product_attention(query, key, value, attention=name)
        assert output.shape == (*lead, n, 6)
        assert bool((output == 0).all())
        output.sum().backward()
        assert query.grad is not None


def weights(kind: Any, query: Tensor, key: Tensor, mask: Tensor | None = None) -> Tensor:
    weights_found = attend(kind, query, key, key, mask, need_weights=True)[1]
    assert weights_found is not None
    return weights_found


def test_each_is_the_closed_form_or_solver_of_its_name() -> None:
    query, key = normal(2, 4, 8), normal(2, 5, 8)
    scores, tau = one_sided.scores_from(query, key), math.sqrt(8)
    mask = torch.tensor([True, True, False, True, True])
    logits = (scores / tau).masked_fill(~mask, -torch.inf)
    close(weights("softmax", query, key, mask), one_sided.plan(scores, tau, mask))
    close(weights("sparsemax", query, key, mask), regularizers.sparsemax(logits))
    close(weights(Entmax(1.3), query, key, mask), regularizers.entmax_bisect(logits, 1.3))
    close(weights(Entmax(), query, key, mask), regularizers.entmax15(logits))
    close(weights(Entmax(3.0), query, key, mask), regularizers.entmax_bisect(logits, 3.0))
    close(weights(Sinkhorn(6), query, key, mask), transport.sinkhorn_weights(scores, tau, 6, mask=mask))
    close(weights(SemiRelaxed(0.5), query, key, mask), transport.relaxed_weights(scores, tau, 0.5 * tau, mask=mask))
    balanced = weights(Sinkhorn(math.inf), query, key)
    close(balanced.sum(-2), torch.full((2, 5), 0.8, dtype=torch.float64), 1e-9)
    cost, u = ot_attention.negative_inner_product(key, key, 0.0), torch.full((5,), 0.2, dtype=torch.float64)
    expected = ot_attention.transported(scores, u, cost.unsqueeze(-3), tau)
    close(weights("optimal-transport", query, key), expected)
    near = weights(OptimalTransport(exact=True, alpha=1e-6), query, key)
    close(near, expected, 1e-4)
    exact = mem.solve((key / tau).unsqueeze(-3), query / 0.5, None, 0.5)
    close(weights(MaximumEntropy(0.5), query, key), exact.weights)


def test_floating_masks_are_added_to_the_logits_of_every_head() -> None:
    """Linear attention multiplies its kernel by exp(mask); optimal transport changes logits of destinations, and the prior sits
    on what is not masked; the maximum entropy tilts its prior."""
    query, key, value = normal(2, 3, 4, 8), normal(2, 3, 5, 8), normal(2, 3, 5, 6)
    masks = [normal(3, 1, 5), 300 * normal(2, 1, 4, 5), normal(4, 5)]
    masks[0][1, 0, 2] = masks[1][0, 0, 1, :3] = masks[2][3, 4] = -math.inf
    tau = 0.7
    phi = [torch.where(x > 0, 1 + x, x.clamp(max=0).exp()) for x in (query / tau**0.5, key / tau**0.5)]
    for mask in masks:
        full = mask.expand(2, 3, 4, 5)
        linear = ((phi[0] @ phi[1].mT).log() + full).softmax(-1)
        close(Linear().weights(query, key, tau, mask), linear)
        close(Linear().output(query, key, value, tau, mask), linear @ value)
        u = (full > -math.inf).double() / (full > -math.inf).sum(-1, keepdim=True)
        logits = (query @ key.mT).unsqueeze(-1) / tau + full.unsqueeze(-1) + (key @ key.mT).unsqueeze(-3) / tau
        carried = (logits.softmax(-2) @ u.unsqueeze(-1)).squeeze(-1)
        close(OptimalTransport().weights(query, key, tau, mask), carried)
        distances = OptimalTransport(cost=ot_attention.squared_distance).weights(query, key, tau, mask)
        logits = logits - (key @ key.mT + ot_attention.squared_distance(key, key)).unsqueeze(-3) / tau
        close(distances, (logits.softmax(-2) @ u.unsqueeze(-1)).squeeze(-1))


def test_floating_masks_tilt_the_prior_of_exact_problems() -> None:
    """Maximum entropy and optimal transport, solved: one query of each head by itself."""
    query, key, tau = normal(2, 3, 4, 8), normal(2, 3, 5, 8), 0.7
    masks = [normal(4, 5), normal(3, 1, 5)]
    masks[0][3, 4] = masks[0][1, 0] = masks[1][1, 0, 2] = -math.inf
    weights = MaximumEntropy(0.5).weights(query, key, tau, masks[0])
    exact = OptimalTransport(exact=True, alpha=0.5).weights(query, key, tau, masks[1])
    for b, h, i in ((0, 1, 3), (1, 2, 1)):
        one = mem.solve(key[b, h] / tau, query[b, h, i] / 0.5, None, 0.5, masks[0][i])
        close(weights[b, h, i], one.weights, 1e-8)
        visible = masks[1][h, 0] > -math.inf
        cost = ot_attention.negative_inner_product(key[b, h], key[b, h], 0.0) - tau * masks[1][h, 0].unsqueeze(-1)
        solved = ot_attention.solve(key[b, h], query[b, h, i] / 0.5, visible / visible.sum(), cost, 0.5, tau)
        close(exact[b, h, i], solved.weights, 1e-8)


@pytest.mark.parametrize("kind", [*KINDS.values(), lambda: OptimalTransport(exact=True)])
def test_a_fully_masked_row_is_zero_and_changes_no_other(kind: Any) -> None:
    query, key = normal(2, 4, 8), normal(2, 5, 8)
    mask = torch.ones(4, 5, dtype=torch.bool)
    mask[1] = mask[0, 2] = False
    unmasked = kind().weights(query[:, [0, 2, 3]], key, 1.5, mask[[0, 2, 3]])
    for each in (mask, torch.where(mask, 0.0, -math.inf).double(), mask.expand(2, 4, 5)):
        weights = kind().weights(query, key, 1.5, each)
        assert bool((weights[:, 1] == 0).all())
        close(weights[:, [0, 2, 3]], unmasked, 1e-9)


def test_linear_attention_of_boolean_masks_of_rows_and_of_keys() -> None:
    query, key, value = normal(2, 3, 4, 8), normal(2, 3, 5, 8), normal(2, 3, 5, 6)
    for shape in ((5,), (4, 5), (1, 5), (3, 1, 5), (2, 1, 4, 5)):
        mask = torch.rand(shape, generator=GENERATOR) > 0.4
        kernel = torch.where(mask, Linear(torch.exp).weights(query, key, 1.0, None), 0.0)
        weights = kernel / kernel.sum(-1, keepdim=True).clamp(min=1e-300)
        close(Linear(torch.exp).weights(query, key, 1.0, mask), weights)
        close(Linear(torch.exp).output(query, key, value, 1.0, mask), weights @ value)


def test_a_problem_that_is_not_certified_is_refused() -> None:
    for steps in (-2, 3, 2.0, True, math.nan):
        with pytest.raises(ValueError, match=r"^half_steps: expected an even integer"):
            Sinkhorn(steps)
    for number in (0.0, -1.0, math.inf, True):
        for wrong in (MaximumEntropy, OptimalTransport, Entmax, SemiRelaxed):
            with pytest.raises(ValueError, match=r"^(alpha|relaxation): expected a positive finite number"):
                wrong(**{"relaxation" if wrong is SemiRelaxed else "alpha": number})
    query = normal(2, 4, 8)
    query[1, 2] = math.nan
    with pytest.raises(RuntimeError, match="maximum-entropy: 1 of 8 rows have no certified solution"):
        MaximumEntropy().weights(query, normal(2, 5, 8), 1.0, None)


def test_maximum_entropy_tends_to_softmax_as_alpha_falls() -> None:
    query, key = normal(2, 4, 8), normal(2, 5, 8)
    softmax = weights("softmax", query, key)
    distance = [float((weights(MaximumEntropy(alpha), query, key) - softmax).abs().max()) for alpha in (1e-2, 1e-3, 1e-4)]
    assert 5 < distance[0] / distance[1] < 20  # of the first order
    assert distance[2] < 1e-4


def test_linear_attention_needs_no_matrix_for_masks_of_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    query, key, value, mask = normal(2, 4, 8), normal(2, 5, 8), normal(2, 5, 6), torch.tensor([[True, True, False, True, True]])
    for kind in (Linear(), Linear(torch.exp)):
        for m in (None, mask):
            through = torch.matmul(weights(kind, query, key, m), value)
            with monkeypatch.context() as without:
                without.delattr(Linear, "weights")
                close(attend(kind, query, key, value, m)[0], through)


def test_features_of_large_scores_have_derivatives() -> None:
    query = torch.tensor([[1e3, -1e3]], dtype=torch.float64, requires_grad=True)
    slope = torch.autograd.grad(Linear()._mapped(query, 1.0).sum(), query)[0]
    close(slope, torch.tensor([[1.0, 0.0]], dtype=torch.float64))


@pytest.mark.parametrize("kind", [*KINDS, Entmax(2.5), OptimalTransport(exact=True), Sinkhorn(math.inf)], ids=str)
def test_derivatives(kind: Any) -> None:
    kind = MaximumEntropy(tolerance=1e-12) if kind == "maximum-entropy" else kind  # differences are taken of solutions
    inputs = [normal(3, 2).requires_grad_(), normal(3, 2).requires_grad_(), normal(3, 2).requires_grad_()]

    def function(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        return scaled_dot_product_attention(query, key, value, attention=kind)

    check_twice(function, inputs, batched=True)


# ── PyTorch's kernel ────────────────────────────────────────────────────────────────────────────────────────────────


def by_weights(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
    return torch.matmul(one_sided.plan(one_sided.scores_from(query, key), 2.0, mask), value)


@pytest.mark.parametrize("kind", ["none", "keys", "rows", "floating", "of heads"])
def test_the_kernel_has_the_derivatives_of_the_weights(kind: str) -> None:
    """Derivatives of both orders, in a floating mask and in broadcast arguments; a fully masked row has none."""
    query, key, value = normal(2, 3, 4, 5), normal(2, 1, 6, 5), normal(1, 3, 6, 5)
    allowed = torch.rand(4, 6, generator=GENERATOR) > 0.4
    allowed[2] = False
    masks = {
        "none": None,
        "keys": torch.tensor([[True] * 4 + [False] * 2]),
        "rows": allowed,
        "floating": normal(4, 6).masked_fill(~allowed, -torch.inf),
        "of heads": normal(2, 3, 4, 6),
    }
    mask = masks[kind]
    floats = [x.requires_grad_() for x in (query, key, value, mask) if x is not None and x.is_floating_point()]
    weight, direction = normal(2, 3, 4, 5), [normal(*x.shape) for x in floats]
    results = []
    for function in (lambda *arguments: fused_attention(*arguments[:3], 2.0, arguments[3]), by_weights):
        output = function(query, key, value, mask)
        assert output is not None
        first = torch.autograd.grad((output.square() * weight).sum(), floats, create_graph=True)
        inner = sum((x * y).sum() for x, y in zip(first, direction, strict=True))
        results.append([output, *first, *torch.autograd.grad(inner, floats)])
    for actual, expected in zip(*results, strict=True):
        close(actual, expected)


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")
def test_the_kernel_leaves_the_rest_to_the_weights() -> None:
    query, key, value = normal(2, 4, 5), normal(2, 6, 5), normal(2, 6, 5)
    assert fused_attention(query, key, value, 2.0, None) is not None
    mask = torch.tensor([[True] * 5 + [False]])
    poisoned = key.index_fill(1, torch.tensor([5]), torch.nan)
    assert fused_attention(poisoned, key, value, 2.0, None) is None
    close(attend("softmax", query, poisoned, value, mask)[0], attend("softmax", query, key, value, mask)[0])
    for shape in ((6,), (4, 6), (1, 1, 6), (2, 4, 6), (2, 1, 6)):
        shared = torch.ones(shape, dtype=torch.bool)
        assert fused_attention(query, key, value, 2.0, shared) is not None
    many = torch.ones(3, 1, 4, 6, dtype=torch.bool)
    assert fused_attention(query, key, value, 2.0, many) is None
    assert attend("softmax", query, key, value, many)[0].shape == (3, 2, 4, 5)

    def output(x: Tensor) -> Tensor:
        return attend("softmax", x, key, value)[0]

    rows = torch.func.vmap(lambda x: attend("softmax", x, key[0], value[0])[0])(query)
    close(rows[0], output(query)[0])
    forward, reverse = torch.func.jacfwd(output)(query), torch.func.jacrev(output)(query)
    close(forward, reverse)
    close(forward, torch.autograd.functional.jacobian(output, query))
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(query, torch.ones_like(query))
        tangent = torch.autograd.forward_ad.unpack_dual(output(dual)).tangent
    close(tangent, forward.sum((-3, -2, -1)))


@pytest.mark.parametrize("name", KINDS)
def test_a_mask_of_keys_is_one_of_every_query(name: str) -> None:
    query, key, value, mask = normal(2, 4, 8), normal(2, 5, 8), normal(2, 5, 6), torch.tensor([True, True, False, True, True])
    close(attend(name, query, key, value, mask)[0], attend(name, query, key, value, mask.expand(4, 5))[0])


@pytest.mark.parametrize("name", KINDS)
def test_masks_may_be_more_than_queries(name: str) -> None:
    kind = MaximumEntropy(tolerance=1e-12) if name == "maximum-entropy" else name
    query, key, value, masks = normal(1, 4, 8), normal(1, 5, 8), normal(1, 5, 6), normal(3, 4, 5)
    output = scaled_dot_product_attention(query, key, value, masks, attention=kind)
    each = [scaled_dot_product_attention(query[0], key[0], value[0], mask, attention=kind) for mask in masks]
    close(output, torch.stack(each), 1e-10 if name == "maximum-entropy" else ROUNDING)  # two solutions, each up to 1e-12


@pytest.mark.parametrize("name", KINDS)
def test_a_scale_of_zero_equals_zero_queries(name: str) -> None:
    query, key, value, mask = normal(2, 4, 8), normal(2, 5, 8), normal(2, 5, 6), normal(4, 5)
    output = scaled_dot_product_attention(query, key, value, mask, scale=0.0, attention=name)
    close(output, scaled_dot_product_attention(0 * query, key, value, mask, scale=1.0, attention=name))


@pytest.mark.parametrize("width", [0, 1])
def test_narrow_queries(width: int) -> None:
    query, key, value = normal(2, 4, width), normal(2, 5, width), normal(2, 5, 6)
    output = scaled_dot_product_attention(query, key, value)
    close(output, theirs(query, key, value) if width else value.mean(-2, keepdim=True).expand(2, 4, 6))


def test_weights_are_dropped_with_their_probability() -> None:
    query, key, value = normal(2, 40, 8), normal(2, 50, 8), torch.eye(50, dtype=torch.float64).expand(2, 50, 50)
    assert bool((scaled_dot_product_attention(query, key, value, dropout_p=1.0) == 0).all())
    dropped, full = (scaled_dot_product_attention(query, key, value, dropout_p=p) for p in (0.25, 0.0))
    close(dropped[dropped != 0], (full / 0.75)[dropped != 0])
    assert float((dropped == 0).double().mean()) == pytest.approx(0.25, abs=0.05)  # of 4000: five standard deviations are 0.034
    close(full.sum(-1), torch.ones(2, 40, dtype=torch.float64))


def test_groups_need_no_batch_and_may_share_a_single_head() -> None:
    for heads in (1, 2, 4):
        query, key, value = normal(4, 3, 8), normal(heads, 5, 8), normal(heads, 5, 6)
        close(scaled_dot_product_attention(query, key, value, enable_gqa=True), theirs(query, key, value, enable_gqa=True))


def test_refusals_of_groups() -> None:
    query, key = normal(4, 3, 8), normal(2, 5, 8)
    for arguments, message in (
        ((query, normal(3, 5, 8), key), "key: expected .* with G a divisor of 4, got"),
        ((query, key, normal(3, 5, 8)), "value: expected .* with G a divisor of 4, got"),
        ((query, normal(0, 5, 8), key), "key: expected .* with G a divisor of 4, got"),
        ((query, key[0], key), "key: expected .* with G a divisor of 4, got"),
        ((query, [0.0], key), "key: expected .* with G a divisor of 4, got"),
        ((query[0], key, key), "key: expected .* with G a divisor of the queries' heads, got"),
        (([0.0], key, key), "key: expected .* with G a divisor of the queries' heads, got"),
    ):
        with pytest.raises(ValueError, match=message):
            scaled_dot_product_attention(*arguments, enable_gqa=True)  # type: ignore[arg-type]


def test_refusals() -> None:
    x = normal(2, 3, 4)
    for arguments, options, message in (
        ((x, x, x), {"attn_mask": torch.ones(3, 3).bool(), "is_causal": True}, "attn_mask: expected None where is_causal"),
        ((x.long(), x, x), {}, "query: expected a dense floating tensor"),
        ((x, x.float(), x), {}, "key: expected the dtype torch.float64 of the query"),
        ((x[0, 0], x, x), {}, r"query: expected a dense floating tensor \(..., length, width\)"),
        ((x[0, 0], x, x), {"is_causal": True}, r"query: expected a dense floating tensor \(..., length, width\)"),
        ((x, x[0, 0], x), {"is_causal": True}, r"key: expected a dense floating tensor \(..., length, width\)"),
        ((x, normal(3, 3, 4), x), {}, r"key: expected \(..., m, 4\) for the query"),
        ((x[:, :1], x, x), {"attn_mask": torch.ones(4, 3).bool()}, "mask: expected a boolean or floating"),
        ((x, x[..., :3], x), {}, r"key: expected \(..., m, 4\) for the query"),
        ((x, x, x[:, :2]), {}, r"value: expected \(..., 3, dv\) for the query"),
        ((x, x, x), {"scale": math.inf}, "scale: expected a finite number"),
        ((x, x, x), {"dropout_p": 1.5}, "dropout_p: expected a probability"),
        ((x, x, x), {"attn_mask": torch.ones(2, 2).bool()}, "mask: expected a boolean or floating"),
        ((x, x, x), {"attention": "hard"}, "attention: expected an Attention or one of"),
        ((normal(1, 4, 3, 4), normal(1, 3, 3, 4), normal(1, 3, 3, 4)), {"enable_gqa": True}, "with G a divisor of 4"),
    ):
        with pytest.raises(ValueError, match=message):
            scaled_dot_product_attention(*arguments, **options)
    with pytest.raises(RuntimeError, match="maximum-entropy: 6 of 6 rows have no certified solution"):
        scaled_dot_product_attention(x * torch.nan, x, x, attention="maximum-entropy")


# ── calls of PyTorch's function ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.filterwarnings("ignore:Lower right causal bias:UserWarning")
@pytest.mark.parametrize("make", [causal_upper_left, causal_lower_right])
@pytest.mark.parametrize("name", KINDS)
def test_a_causal_bias_is_its_triangle(name: str, make: Any) -> None:
    for n, m in ((4, 4), (3, 5), (5, 3), (1, 4)):
        found, bias = [], make(n, m)
        leaves = [normal(2, 3, size, 8).requires_grad_() for size in (n, m, m)]
        for mask in (bias, bias._materialize()):
            output = scaled_dot_product_attention(*leaves, mask, attention=name)
            found.append([output, *torch.autograd.grad(output.square().sum(), leaves)])
        close(found[0], found[1], 1e-9)
        assert type(found[0][0]) is Tensor


@pytest.mark.filterwarnings("ignore:The PyTorch API of MaskedTensors:UserWarning")
@pytest.mark.parametrize(
    "make",
    [
        lambda: masked_tensor(torch.ones(4, 4), torch.ones(4, 4) > 0),
        lambda: create_block_mask(lambda b, h, i, j: j <= i, None, None, 4, 4, "cpu"),
        lambda: torch.nested.nested_tensor([torch.zeros(4), torch.zeros(4)], layout=torch.jagged),
        nn.UninitializedParameter,
    ],
    ids=["masked", "blocks", "nested", "uninitialized"],
)
def test_other_masks_with_a_meaning_of_their_own_are_refused_by_name(make: Any) -> None:
    mask, x = make(), normal(2, 4, 8)
    with pytest.raises(ValueError, match=r"^attn_mask: expected a boolean or floating tensor .*, got [^\n]*$"):
        scaled_dot_product_attention(x, x, x, mask)
    if isinstance(mask, Tensor):
        for call in ((mask, x, x), (x, mask, x), (x, x, mask)):
            with pytest.raises(ValueError, match=r"^(query|key|value): expected a dense floating tensor"):
                scaled_dot_product_attention(*call)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("name", [*KINDS, OptimalTransport(exact=True)], ids=str)
def test_autocast_changes_the_dtype_of_the_result_alone(name: Any, dtype: torch.dtype) -> None:
    query, key, value = (x.float().requires_grad_() for x in (normal(2, 4, 8), normal(2, 5, 8), normal(2, 5, 6)))
    mask = torch.arange(5) < 4
    expected, exact = attend(name, query, key, value, mask, need_weights=True)
    gradients = torch.autograd.grad(expected.square().sum(), (query, key, value))
    for need_weights in (False, True):
        with torch.autocast("cpu", dtype):
            output, found = attend(name, query, key.to(dtype).float(), value, mask, need_weights=need_weights)
            theirs_dtype = theirs(query, key, value).dtype
            checkpointed = checkpoint(lambda q: attend(name, q, key, value, mask)[0], query, use_reentrant=False)
        assert output.dtype == theirs_dtype == dtype
        rough = 16 * torch.finfo(dtype).eps
        assert_close(output.float(), expected, rtol=rough, atol=rough)
        assert found is None or found.dtype == dtype
        for y in (output, checkpointed):
            slopes = torch.autograd.grad(y.float().square().sum(), (query, key, value))
            assert_close(slopes, gradients, rtol=4 * rough, atol=4 * rough)
    assert_close(exact.sum(-1), torch.ones(2, 4), rtol=0.0, atol=4 * tolerances.rounding("float32", 5))
    with torch.autocast("cpu", dtype):
        wide = scaled_dot_product_attention(query.double(), key.double(), value.double(), attention=name)
        mixed = scaled_dot_product_attention(query.to(dtype), key, value, attention=name)
    assert (wide.dtype, mixed.dtype) == (torch.float64, dtype)


def test_scales_of_other_types() -> None:
    query, key, value = normal(2, 4, 8), normal(2, 5, 8), normal(2, 5, 6)
    expected = theirs(query, key, value, scale=0.5)
    for scale in (np.float32(0.5), np.float64(0.5), torch.tensor(0.5), torch.tensor(0.5, dtype=torch.float16)):
        for name in KINDS:
            actual = scaled_dot_product_attention(query, key, value, scale=scale, attention=name)
            close(actual, scaled_dot_product_attention(query, key, value, scale=0.5, attention=name))
        close(scaled_dot_product_attention(query, key, value, scale=scale), expected)
    for one in (np.int64(1), torch.tensor(1)):
        close(scaled_dot_product_attention(query, key, value, scale=one), theirs(query, key, value, scale=1.0))
    for bad in (torch.tensor(0.5, requires_grad=True), torch.tensor([0.5]), torch.tensor(math.nan), True, np.float64(math.inf)):
        with pytest.raises(ValueError, match=r"^scale: expected a finite number"):
            scaled_dot_product_attention(query, key, value, scale=bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", KINDS)
def test_no_heads_no_width_and_keys_with_more_axes(name: str) -> None:
    query, key, value = normal(2, 4, 3, 8), normal(2, 4, 5, 8), normal(2, 4, 5, 6)
    for h, g in ((0, 0), (0, 2)):
        output = scaled_dot_product_attention(query[:, :h], key[:, :g], value[:, :g], enable_gqa=True, attention=name)
        assert output.shape == (2, 0, 3, 6)
    leaves = [query[..., :0].clone().requires_grad_(), key[..., :0].clone().requires_grad_(), value.clone().requires_grad_()]
    output, found = attend(name, *leaves, need_weights=True)
    assert found is not None
    close(found, torch.full((2, 4, 3, 5), 0.2, dtype=torch.float64), 1e-9)
    close(scaled_dot_product_attention(*leaves, attention=name), output)
    slopes = torch.autograd.grad(output.sum(), leaves)
    close(slopes[2], torch.full_like(value, 0.6), 1e-9)
    assert scaled_dot_product_attention(query, key, value[..., :0], attention=name).shape == (2, 4, 3, 0)
    for few in (query[0, 0], query[0], query[:1]):
        actual = scaled_dot_product_attention(few, key, value, attention=name)
        close(actual, scaled_dot_product_attention(few.expand(2, 4, 3, 8), key, value, attention=name))
        if name == "softmax":
            close(actual, theirs(few, key, value))
