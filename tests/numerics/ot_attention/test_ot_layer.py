"""The layer of attention by optimal transport compared with a loop over heads and queries: masks, costs, gradients."""

import math
import subprocess
import sys
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from numerics import ot_attention as ot
from numerics.ot_attention import layer as file
from tests.numerics.common import DEVICES, close

F64 = torch.float64
DIM, HEADS = 8, 2


def layer(**options: object) -> ot.OTAttention:
    torch.manual_seed(0)
    return ot.OTAttention(DIM, HEADS, **options).double()  # type: ignore[arg-type]


def data(seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    """Two sequences: two queries, five tokens of the input, three others."""
    generator = torch.Generator().manual_seed(seed)
    query, tokens, extra = (torch.randn(2, size, DIM, generator=generator, dtype=F64) for size in (2, 5, 3))
    return query, tokens, extra


def one_by_one(
    module: ot.OTAttention, cost: Callable[[Tensor, Tensor], Tensor], query: Tensor, tokens: Tensor, extra: Tensor
) -> Tensor:
    """The same layer with a loop over sequences, queries and heads, prior even on the input."""
    rows = []
    for y, x, more in zip(query, tokens, extra, strict=True):
        templates, evidence = module.to_templates(torch.cat([x, more])), module.to_evidence(y)
        for q in range(len(y)):
            heads = []
            for h in range(HEADS):
                part = slice(h * DIM // HEADS, (h + 1) * DIM // HEADS)
                t, z = templates[:, part], evidence[q, part]
                u = torch.full((len(x),), 1 / len(x), dtype=F64)
                arguments = (t, z, u, cost(t, t[: len(x)]), module.alpha, module.temperature)
                heads.append(ot.solve(*arguments).mean if module.exact else ot.attend(*arguments))
            rows.append(module.to_output(torch.cat(heads)))
    return torch.stack(rows).reshape(query.shape)


@pytest.mark.parametrize("exact", [False, True], ids=["closed form", "exact"])
@pytest.mark.parametrize("cost", ["inner_product", "squared_distance", "learned"])
def test_the_layer_is_its_heads_and_queries(cost: str, exact: bool) -> None:
    module = layer(cost=cost, exact=exact, alpha=0.7)
    function = ot.squared_distance if cost == "squared_distance" else ot.negative_inner_product
    close(module(*data()), one_by_one(module, function, *data()), 1e-12)


@pytest.mark.parametrize("cost", ["inner_product", "squared_distance", "learned"])
def test_the_closed_form_may_be_computed_in_blocks_of_sources(cost: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, inputs = layer(cost=cost), data()
    mask = torch.rand(inputs[1].shape[:-1], generator=torch.Generator().manual_seed(0)) > 0.3
    unsplit = module(*inputs, mask=mask)
    slopes = torch.autograd.grad(unsplit.square().sum(), module.parameters(), allow_unused=True)
    monkeypatch.setattr("numerics.ot_attention.layer._TILE_NUMBERS", 2 * module.weights(*inputs)[0].numel())
    tiled = module(*inputs, mask=mask)
    close(tiled, unsplit, 1e-13)
    again = torch.autograd.grad(tiled.square().sum(), module.parameters(), allow_unused=True)
    for one, other in zip(again, slopes, strict=True):
        assert (one is None) == (other is None)
        if one is not None and other is not None:
            close(one, other, 1e-12)


@pytest.mark.parametrize(("numbers", "widths"), [(0, [1] * 5), (1, [1] * 5), (2, [2, 2, 1]), (4, [4, 1]), (5, [5])])
def test_tiles_are_as_wide_as_allowed(numbers: int, widths: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """A block of sources holds as many numbers as there are scores; a cost function is called once."""
    seen: list[int] = []
    carried = file.transported
    monkeypatch.setattr(file, "transported", lambda g, u, M, gamma: (seen.append(M.shape[-1]), carried(g, u, M, gamma))[1])
    for cost, expected in (("learned", widths), (ot.squared_distance, [5])):
        module, inputs = layer(cost=cost), data()
        monkeypatch.setattr(file, "_TILE_NUMBERS", numbers * 2 * HEADS * 2 * 8)
        with torch.no_grad():
            module(*inputs)
        assert seen == expected
        seen.clear()
    assert layer()(*(x[:0] for x in data())).shape == (0, 2, DIM)


def test_tiles_of_one_sequence_are_as_wide_as_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    module, (query, tokens, extra) = layer(), data()
    seen: list[int] = []
    carried = file.transported
    monkeypatch.setattr(file, "transported", lambda g, u, M, gamma: (seen.append(M.shape[-1]), carried(g, u, M, gamma))[1])
    monkeypatch.setattr(file, "_TILE_NUMBERS", 4 * HEADS * 2 * 8)
    with torch.no_grad():
        module(query[0], tokens[0], extra[0])
    assert seen == [4, 1]


@pytest.mark.parametrize("exact", [False, True], ids=["closed form", "exact"])
def test_any_number_of_leading_axes_is_accepted(exact: bool) -> None:
    module, (query, tokens, extra) = layer(exact=exact, cost="learned"), data()
    mask = torch.rand(2, 5, generator=torch.Generator().manual_seed(2)) > 0.3
    prior = torch.rand(2, 5, generator=torch.Generator().manual_seed(3), dtype=F64)
    expected = module(query, tokens, extra, prior=prior, mask=mask)
    close(module(query[1], tokens[1], extra[1], prior=prior[1], mask=mask[1]), expected[1], 1e-13)
    output = module(query[:, None], tokens[:, None], extra[:, None], prior=prior[:, None], mask=mask[:, None])
    close(output[:, 0], expected, 1e-13)
    output = module(query[None], tokens[None], extra[None], prior=prior, mask=mask)
    close(output[0], expected, 1e-13)


def test_two_queries_and_many_tokens_need_no_matrix_of_tokens() -> None:
    code = """
import resource, torch
from numerics.ot_attention import OTAttention
torch.manual_seed(0)
layer = OTAttention(4)
tokens = torch.randn(1, 5000, 4)
with torch.no_grad():
    layer(tokens[:, :2], tokens[:, :500])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert layer(tokens[:, :2], tokens).isfinite().all()
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) < 190  # MB: one matrix of all tokens for both queries is 200, of ten


def test_defaults_agree_with_the_experiment() -> None:
    module = layer()
    assert (module.alpha, module.temperature, module.cost) == (1.0, math.sqrt(DIM / HEADS), "inner_product")
    query, tokens, _ = data()
    weights, templates = module.weights(query, tokens)
    z = module.to_evidence(query).reshape(2, 2, HEADS, -1).transpose(1, 2)
    u = torch.full((5,), 0.2, dtype=F64)
    expected = ot.attend_by_inner_products(templates.unsqueeze(2), z, u, 1.0, module.temperature)
    close(weights @ templates, expected, 1e-14)


def test_a_learned_cost_starts_as_the_inner_product_and_learns() -> None:
    module = layer(cost="learned")
    assert module.metric is not None
    module(*data()).square().sum().backward()
    gradient = module.metric.grad
    assert gradient is not None
    assert (gradient.abs().amax((-2, -1)) > 0).all()
    with torch.no_grad():
        module.metric[:, 0, 1] += 0.5
    weights, templates = module.weights(*data())
    sources = templates[..., :5, :] @ module.metric.mT
    t, s = templates[1, 0], sources[1, 0]
    z = module.to_evidence(data()[0])[1, 0, : DIM // HEADS]
    expected = ot.weights(t, z, torch.full((5,), 0.2, dtype=F64), -t @ s.mT, 1.0, module.temperature)
    close(weights[1, 0, 0], expected, 1e-14)


@pytest.mark.parametrize("exact", [False, True], ids=["closed form", "exact"])
def test_a_masked_token_has_no_influence(exact: bool) -> None:
    module, (query, tokens, extra) = layer(exact=exact), data()
    mask = torch.tensor([True, False, True, True, False])
    more = torch.tensor([False, True, True])
    expected = module(query, tokens[:, mask], extra[:, more])
    close(module(query, tokens, extra, mask=mask, extra_mask=more), expected, 1e-13)
    additive = torch.zeros(5, dtype=F64).masked_fill(~mask, -torch.inf)
    close(module(query, tokens, extra, mask=additive.expand(2, 5), extra_mask=more), expected, 1e-13)
    close(module(query, tokens, extra, extra_mask=torch.zeros(3, dtype=torch.bool)), module(query, tokens), 1e-13)
    poisoned = module(query, tokens.masked_fill(~mask[:, None], math.nan), extra, mask=mask, extra_mask=more)
    close(poisoned, expected, 1e-13)
    poisoned.square().sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in module.parameters())


@pytest.mark.parametrize("exact", [False, True], ids=["closed form", "exact"])
def test_rows_without_any_token_have_the_weights_zero(exact: bool) -> None:
    module, (query, tokens, extra) = layer(exact=exact), data()
    mask = torch.tensor([[True] * 5, [False] * 5])
    weights, _ = module.weights(query, tokens, extra, mask=mask)
    close(weights.sum(-1)[0], torch.ones(HEADS, 2, dtype=F64), 1e-14)
    assert (weights[1] == 0).all()
    output = module(query, tokens, extra, mask=mask)
    close(output[1], module.to_output.bias.detach().expand(2, DIM), 1e-16)
    output.square().sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in module.parameters())


def test_a_floating_mask_is_added_to_the_scores() -> None:
    module, (query, tokens, _) = layer(), data()
    bias = torch.randn(2, 5, generator=torch.Generator().manual_seed(1), dtype=F64)
    weights, templates = module.weights(query, tokens, mask=bias)
    z = module.to_evidence(query).reshape(2, 2, HEADS, -1).transpose(1, 2)
    g = torch.einsum("bhnd,bhqd->bhqn", templates, z)
    scores = g[..., None] + (templates @ templates.mT)[:, :, None]
    logits = scores / module.temperature + bias[:, None, None, :, None]
    close(weights, logits.softmax(-2).mean(-1), 1e-14)


def test_a_custom_prior() -> None:
    module, (query, tokens, extra) = layer(), data()
    for even in (torch.full((5,), size, dtype=F64) for size in (3.0, 0.125)):
        close(module(query, tokens, extra, prior=even), module(query, tokens, extra), 1e-14)
    vertex = torch.tensor([0.0, 1.0, 0.0, 0.0, 0.0], dtype=F64)
    weights, templates = module.weights(query, tokens, extra, prior=vertex)
    z = module.to_evidence(query).reshape(2, 2, HEADS, -1).transpose(1, 2)
    scores = (z + templates[:, :, 1:2]) @ templates.mT
    close(weights, (scores / module.temperature).softmax(-1), 1e-14)


def test_tokens_may_be_numbers() -> None:
    module, tokens = ot.OTAttention(1), torch.zeros(3, 1)
    assert module(tokens, tokens).shape == (3, 1)


def test_additional_templates_get_weights_but_no_prior() -> None:
    module = layer(cost="squared_distance", temperature=1e-3, alpha=1e-9)
    weights, _ = module.weights(*data())
    close(weights[..., 5:].sum(), torch.tensor(0.0, dtype=F64), 1e-12)
    assert (layer().weights(*data())[0] > 0).all()


def test_a_custom_cost_and_exactness() -> None:
    module = layer(cost=lambda t, s: ot.squared_distance(t, s).sqrt(), exact=True, alpha=1e-4)
    close_form = layer(cost=lambda t, s: ot.squared_distance(t, s).sqrt(), alpha=1e-4)
    solved, approximate = (m.weights(*data())[0].detach() for m in (module, close_form))
    assert 0 < float((solved - approximate).abs().max()) < 1e-6


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_devices_and_dtypes(device: str, dtype: torch.dtype) -> None:
    module = layer().to(device=device, dtype=dtype)
    output = module(*(x.to(device, dtype) for x in data()))
    assert (output.dtype, output.device.type) == (dtype, device)
    assert output.isfinite().all()
    assert "temperature=2.0" in repr(module)


QUERY, TOKENS, EXTRA = data()


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: ot.OTAttention(8, 3), "dim"),
        (lambda: ot.OTAttention(8, 0), "num_heads"),
        (lambda: ot.OTAttention(0, 2), "dim"),
        (lambda: ot.OTAttention(8.0, 2), "dim"),
        (lambda: ot.OTAttention(8, 2, alpha=-1.0), "alpha"),
        (lambda: ot.OTAttention(8, 2, cost="cosine"), "cost"),
        (lambda: ot.OTAttention(8, 2, alpha=0.0), "alpha"),
        (lambda: ot.OTAttention(8, 2, temperature=-1.0), "temperature"),
        (lambda: layer()(QUERY[..., :4], TOKENS), "query"),
        (lambda: layer()(QUERY, TOKENS[:, :0]), "tokens"),
        (lambda: layer()(QUERY, TOKENS[0]), "tokens"),
        (lambda: layer()(QUERY, TOKENS, EXTRA[:1]), "extra"),
        (lambda: layer()(QUERY, TOKENS, mask=torch.ones(4, dtype=torch.bool)), "mask"),
        (lambda: layer()(QUERY, TOKENS, mask=torch.ones(5, dtype=torch.long)), "mask"),
        (lambda: layer()(QUERY, TOKENS, EXTRA, extra_mask=torch.ones(5)), "extra_mask"),
        (lambda: layer()(QUERY, TOKENS, prior=torch.ones(4)), "prior"),
        (lambda: layer()(QUERY, TOKENS, prior=torch.ones(5, dtype=torch.long)), "prior"),
        (lambda: layer()(QUERY, TOKENS, prior=torch.ones(3, 5)), "prior"),
        (lambda: layer()(QUERY, TOKENS, mask=torch.ones(3, 5)), "mask"),
        (lambda: layer()(QUERY[0, 0], TOKENS), "query"),
        (lambda: layer()(QUERY, TOKENS[..., :4]), "tokens"),
        (lambda: layer()(QUERY, TOKENS, EXTRA[..., :4]), "extra"),
    ],
)
def test_bad_arguments_are_named(call: Callable[[], Tensor], name: str) -> None:
    with pytest.raises(ValueError, match=f"^{name}: expected"):
        call()
