"""Our layer equals the shipped attention of BERT and T5 up to rounding, and no part of it can be omitted."""

import math
from collections.abc import Callable

import pytest
import torch
from transformers.models.t5.modeling_t5 import T5Attention

from evidence.source.calls import Call, calls, visible
from evidence.source.shipped import (
    REFUSAL,
    allowed_error,
    bert_calls,
    changed,
    generalized,
    output_residual,
    t5,
    t5_calls,
    unbiased,
    weights_residual,
    worst,
)
from numerics import tolerances
from numerics.attention import GeneralizedAttention
from numerics.priors import RelativePositions, relative_position_bias, relative_position_bucket

SOURCES = {
    "pretrained BERT": lambda dtype: bert_calls(True, dtype),
    "random BERT": lambda dtype: bert_calls(False, dtype),
    "random T5": t5_calls,
}
every_source = pytest.mark.parametrize("source", SOURCES)
both_dtypes = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)


@both_dtypes
@every_source
def test_layers_are_equal(source: str, dtype: torch.dtype) -> None:
    for call in SOURCES[source](dtype):
        layer = generalized(call)
        assert output_residual(layer, call) <= 1.0
        with torch.no_grad():
            assert weights_residual(layer.weights(call.hidden, call.source, call.padding), call) <= 1.0


@both_dtypes
def test_calls_of_random_models_are_those_of_the_dtype(dtype: torch.dtype) -> None:
    """Made anew, and not those that another test has made; their biases are as large as their scores."""
    bert = bert_calls.__wrapped__(False, dtype)
    for call in [*bert, *t5_calls.__wrapped__(dtype)]:
        assert {x.dtype for x in (call.hidden, call.source, call.output, call.weights, *call.module.parameters())} == {dtype}
        assert call.bias is None or call.bias.dtype == dtype
    for call in bert:
        assert all(float(x.bias.abs().amax().detach()) > 1 for x in (call.module.query, call.module.key, call.module.value))


@every_source
def test_layers_are_equal_on_random_inputs(source: str) -> None:
    generator = torch.Generator().manual_seed(1)
    for call in SOURCES[source](torch.float32):
        hidden = torch.randn(call.hidden.shape, generator=generator)
        other = hidden if call.role != "cross" else torch.randn(call.source.shape, generator=generator)
        assert output_residual(generalized(call), rerun(call, hidden, other)) <= 1.0


def rerun(call: Call, hidden: torch.Tensor, source: torch.Tensor) -> Call:
    """The shipped module of a call, applied to other inputs."""
    mask = torch.zeros(call.weights.shape).masked_fill(~visible(call), torch.finfo(torch.float32).min)
    t5_arguments = {"position_bias": call.bias, "key_value_states": source if call.role == "cross" else None}
    with torch.no_grad():
        result = call.module(hidden, mask, **({} if call.bias is None else t5_arguments))
    return Call(call.module, call.role, hidden, source, call.padding, result[0], result[-1], call.bias)


@every_source
def test_the_shipped_mask_will_do_as_well(source: str) -> None:
    for call in SOURCES[source](torch.float32):
        mask = torch.zeros(call.weights.shape).masked_fill(~visible(call), torch.finfo(torch.float32).min)
        assert output_residual(generalized(call), call, mask) <= 1.0


MISSING: dict[str, tuple[Callable[[Call], bool], Callable[[Call], GeneralizedAttention]]] = {
    "scale": (
        lambda call: True,
        lambda call: changed(call, scale=1.0 if call.bias is None else call.module.key_value_proj_dim**-0.5),
    ),
    "bias of the queries": (lambda call: call.bias is None, lambda call: changed(call, query=unbiased(call.module.query))),
    "bias of the values": (lambda call: call.bias is None, lambda call: changed(call, value=unbiased(call.module.value))),
    "output map": (lambda call: call.bias is not None, lambda call: changed(call, output=None)),
    "position table": (lambda call: call.bias is not None and call.role != "cross", lambda call: changed(call, position=None)),
    "table of the same stack": (
        lambda call: call.bias is not None and call.role != "cross",
        lambda call: changed(call, position=_table("decoder" if call.role == "encoder" else "encoder", call.role)),
    ),
    "absence of a table in cross-attention": (
        lambda call: call.role == "cross",
        lambda call: changed(call, position=_table("decoder", "decoder")),
    ),
    "one-sided buckets": (
        lambda call: call.role == "decoder",
        lambda call: changed(call, position=_table("decoder", "encoder")),
    ),
    "two-sided buckets": (
        lambda call: call.role == "encoder" and call.bias is not None,
        lambda call: changed(call, position=_table("encoder", "decoder")),
    ),
    "causality": (lambda call: call.role == "decoder", lambda call: changed(call, causal=False)),
}


def _table(stack: str, buckets: str) -> RelativePositions:
    position = RelativePositions.from_t5(getattr(t5(), stack).block[0].layer[0].SelfAttention)
    position.bidirectional = buckets == "encoder"
    return position


@pytest.mark.parametrize("part", MISSING)
def test_no_part_can_be_missing(part: str) -> None:
    applies, without = MISSING[part]
    concerned = [call for find in SOURCES.values() for call in find(torch.float32) if applies(call)]
    assert concerned
    for call in concerned:
        assert output_residual(without(call), call) >= REFUSAL


@every_source
def test_padding_masks_matter(source: str) -> None:
    concerned = [call for call in SOURCES[source](torch.float32) if call.role != "decoder"]
    for call in concerned:
        assert not call.padding.all()
        assert output_residual(generalized(call), call, torch.ones_like(call.padding)) >= REFUSAL


def test_parameters_are_shared_with_the_shipped_module() -> None:
    call = bert_calls(False)[0]
    layer = generalized(call)
    assert {id(p) for p in layer.parameters()} == {id(p) for p in call.module.parameters()}
    first = t5().encoder.block[0].layer[0].SelfAttention
    ours = {id(p) for p in GeneralizedAttention.from_t5(first).parameters()}
    assert ours == {id(p) for p in first.parameters()}


def test_gradients_are_those_of_the_shipped_module() -> None:
    call = t5_calls(torch.float64)[0]
    grads = []
    mask = torch.zeros(call.weights.shape).double().masked_fill(~visible(call), torch.finfo(torch.float64).min)
    for run in (lambda x: call.module(x, mask, position_bias=call.bias)[0], lambda x: generalized(call)(x, mask=call.padding)):
        hidden = call.hidden.clone().requires_grad_()
        grads.append(torch.autograd.grad(run(hidden).square().sum(), hidden)[0])
    allowed = tolerances.rounding("float64", call.positions[1] * hidden.shape[-1], float(grads[0].abs().max()))
    torch.testing.assert_close(*grads, rtol=0.0, atol=allowed)


# ── buckets ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize(("buckets", "reach"), [(32, 128), (32, 20), (8, 64), (16, 1000), (64, 256), (6, 100), (12, 37)])
def test_buckets_are_the_shipped_ones(buckets: int, reach: int, bidirectional: bool) -> None:
    relative = torch.arange(-2000, 2001)
    ours = relative_position_bucket(relative, buckets, bidirectional, reach)
    shipped = T5Attention._relative_position_bucket(relative, bidirectional, buckets, reach)
    assert torch.equal(ours, shipped)
    assert not torch.equal(ours, T5Attention._relative_position_bucket(-relative, bidirectional, buckets, reach))
    assert not torch.equal(ours, T5Attention._relative_position_bucket(relative, bidirectional, buckets, 2 * reach))


@pytest.mark.parametrize("role", ["encoder", "decoder"])
@pytest.mark.parametrize(("queries", "templates"), [(1, 1), (5, 5), (140, 150), (3, 300)])
def test_biases_are_the_shipped_ones(role: str, queries: int, templates: int) -> None:
    first = getattr(t5(), role).block[0].layer[0].SelfAttention
    ours = relative_position_bias(queries, templates, first.relative_attention_bias.weight, role == "encoder", 128)
    assert torch.equal(ours[None], first.compute_bias(queries, templates))


def test_distances_are_not_hidden() -> None:
    assert worst(torch.tensor([0.0, -2.0]), torch.tensor([0.0, 1.0])) == 2.0
    assert worst(torch.tensor([math.nan]), 1.0) == math.inf
    assert worst(torch.tensor([1.0]), 0.0) == math.inf


def test_calls_leave_no_hooks() -> None:
    calls(
        t5(),
        {
            "input_ids": torch.ones(1, 3, dtype=torch.int64),
            "decoder_input_ids": torch.ones(1, 2, dtype=torch.int64),
            "attention_mask": torch.ones(1, 3),
            "decoder_attention_mask": torch.ones(1, 2),
        },
    )
    assert not any(module._forward_hooks for module in t5().modules())


def test_tolerances_refuse_a_hundred_thousandth() -> None:
    for find in SOURCES.values():
        for call in find(torch.float32):
            tolerance = allowed_error(call)[0]
            assert worst(call.output * 1e-5 * REFUSAL, tolerance) >= 1.0
