"""The drop-in for ``torch.nn.MultiheadAttention``: the same calls and state dict, and for softmax the same numbers."""

import copy
import io
import math
from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.attention.bias import causal_upper_left
from torch.nn.utils import parametrizations, prune
from torch.testing import assert_close

from numerics import tolerances
from numerics.modules import KINDS, Linear, MultiheadAttention, OptimalTransport, SemiRelaxed, Sinkhorn, replace

EMBED, HEADS, N, M, BATCH = 12, 3, 4, 5, 2
CONSTRUCTORS: dict[str, dict[str, Any]] = {
    "plain": {},
    "batch first": {"batch_first": True},
    "no bias": {"bias": False},
    "added key": {"add_bias_kv": True},
    "zero key": {"add_zero_attn": True},
    "added and zero key": {"add_bias_kv": True, "add_zero_attn": True, "batch_first": True},
    "other widths": {"kdim": 7, "vdim": 9},
    "one other width": {"vdim": 9, "bias": False, "batch_first": True},
}
PLAIN = ("softmax", "sparsemax", "entmax", "sinkhorn", "linear", "optimal-transport")
GENERATOR = torch.Generator().manual_seed(0)


def normal(*shape: int) -> Tensor:
    return torch.randn(shape, generator=GENERATOR, dtype=torch.float64)


def pair(attention: Any = "softmax", **options: Any) -> tuple[nn.MultiheadAttention, MultiheadAttention]:
    torch.manual_seed(0)
    theirs = nn.MultiheadAttention(EMBED, HEADS, dtype=torch.float64, **options)
    for name, parameter in theirs.named_parameters():
        if name.endswith("bias"):  # zero at first, and would hide that they are used
            nn.init.normal_(parameter)
    ours = MultiheadAttention(EMBED, HEADS, dtype=torch.float64, attention=attention, **options)
    ours.load_state_dict(theirs.state_dict())
    return theirs, ours


def sequences(module: nn.MultiheadAttention, *, batched: bool = True, batch: int = BATCH) -> list[Tensor]:
    results = []
    for length, width in ((N, EMBED), (M, module.kdim), (M, module.vdim)):
        shape = (length, width) if not batched else (batch, length, width) if module.batch_first else (length, batch, width)
        results.append(normal(*shape).requires_grad_())
    return results


def masks(batched: bool) -> dict[str, dict[str, Any]]:
    padding = torch.zeros(BATCH, M, dtype=torch.bool)
    padding[0, 3:] = True
    padding = padding if batched else padding[0]
    causal = torch.ones(N, M, dtype=torch.bool).triu(1)
    heads = (BATCH if batched else 1) * HEADS
    each = torch.rand(heads, N, M, generator=GENERATOR) > 0.6
    each[..., 0] = False
    bias = normal(N, M)
    return {
        "none": {},
        "padding": {"key_padding_mask": padding},
        "causal": {"attn_mask": causal},
        "causal hint": {"attn_mask": causal, "is_causal": True},
        "one for each head": {"attn_mask": each},
        "both": {"attn_mask": each, "key_padding_mask": padding},
        "floating": {"attn_mask": bias},
        "floating, both": {"attn_mask": bias, "key_padding_mask": floating(padding, -9.0)},
    }


def floating(left_out: Tensor, value: float) -> Tensor:
    return torch.zeros(left_out.shape, dtype=torch.float64).masked_fill(left_out, value)


def close(actual: Tensor | None, expected: Tensor | None) -> None:
    assert (actual is None) == (expected is None)
    if actual is not None and expected is not None:
        # Sums of at most 2·EMBED products through four linear maps; numbers are below 30 here.
        assert_close(actual, expected, rtol=0.0, atol=4 * tolerances.rounding("float64", 2 * EMBED, 30.0))


# ── softmax: PyTorch's module ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("batched", [True, False])
@pytest.mark.parametrize("constructor", CONSTRUCTORS)
def test_softmax_is_the_module(constructor: str, batched: bool) -> None:
    theirs, ours = pair(**CONSTRUCTORS[constructor])
    for name, mask in masks(batched).items():
        for needed, averaged in product((True, False), repeat=2):
            inputs = sequences(theirs, batched=batched)
            options = {**mask, "need_weights": needed, "average_attn_weights": averaged}
            if "is_causal" in options and N != M and not needed:
                options.pop("is_causal")  # PyTorch then ignores the mask, which ours does not
            ours_out, theirs_out = ours(*inputs, **options), theirs(*inputs, **options)
            for actual, wanted in zip(ours_out, theirs_out, strict=True):
                close(actual, wanted)
            cotangent = normal(*theirs_out[0].shape)
            gradients = [
                torch.autograd.grad((output[0] * cotangent).sum(), [*inputs, *module.parameters()])
                for output, module in ((theirs_out, theirs), (ours_out, ours))
            ]
            for wanted, actual in zip(*gradients, strict=True):
                close(actual, wanted)
            assert ours_out[0].shape == theirs_out[0].shape, name


# PyTorch deprecates that its two masks differ in their dtype, and computes it all the same.
@pytest.mark.filterwarnings("ignore:Support for mismatched key_padding_mask and attn_mask:UserWarning")
@pytest.mark.parametrize("constructor", ["plain", "added and zero key"])
@pytest.mark.parametrize("batched", [True, False])
def test_a_boolean_and_a_floating_mask_at_once(constructor: str, batched: bool) -> None:
    theirs, ours = pair(**CONSTRUCTORS[constructor])
    left_out, inputs, bias = masks(batched), sequences(theirs, batched=batched), normal(N, M)
    padding = left_out["padding"]["key_padding_mask"]
    causal, each = (left_out[name]["attn_mask"] for name in ("causal", "both"))
    for attn_mask, key_padding_mask in ((bias, padding), (causal, normal(*padding.shape)), (each, normal(*padding.shape))):
        options = {"attn_mask": attn_mask, "key_padding_mask": key_padding_mask, "average_attn_weights": False}
        for actual, expected in zip(ours(*inputs, **options), theirs(*inputs, **options), strict=True):
            close(actual, expected)


@pytest.mark.filterwarnings("ignore:Support for mismatched key_padding_mask and attn_mask:UserWarning")
def test_of_two_floating_masks_the_wider_dtype_counts() -> None:
    theirs, ours = pair(batch_first=True)
    inputs, wide, narrow = sequences(theirs), normal(N, M), normal(BATCH, M).half()
    for attn_mask, key_padding_mask in ((wide, narrow), (wide.half(), normal(BATCH, M))):
        options = {"attn_mask": attn_mask, "key_padding_mask": key_padding_mask}
        close(ours(*inputs, **options)[0], theirs(*inputs, **options)[0])


def test_gradients_of_the_weights_agree_too() -> None:
    theirs, ours = pair(batch_first=True)
    inputs = sequences(theirs)
    gradients = [torch.autograd.grad(module(*inputs)[1].square().sum(), inputs[:2]) for module in (theirs, ours)]
    for expected, actual in zip(*gradients, strict=True):
        close(actual, expected)


def test_dropout_drops_the_same_weights() -> None:
    theirs, ours = pair(dropout=0.4, batch_first=True)
    inputs = sequences(theirs)
    outputs = []
    for module in (theirs, ours):
        torch.manual_seed(1)
        outputs.append(module(*inputs))
    for expected, actual in zip(*outputs, strict=True):
        close(actual, expected)
    close(ours.eval()(*inputs)[0], theirs.eval()(*inputs)[0])


def test_a_fully_masked_row_gives_zeros_where_the_module_gives_nan() -> None:
    theirs, _ = pair(bias=False, batch_first=True)
    inputs, dead = sequences(theirs), torch.zeros(BATCH, M, dtype=torch.bool)
    dead[1] = True
    assert bool(theirs(*inputs, key_padding_mask=dead)[0][1].isnan().all())
    for name in KINDS:
        _, module = pair(name, bias=False, batch_first=True)
        output, weights = module(*inputs, key_padding_mask=dead)
        assert bool((output[1] == 0).all()), name
        assert bool((weights[1] == 0).all()), name
        output.sum().backward()
        assert all(bool(x.grad.isfinite().all()) for x in inputs), name


# ── every attention ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", KINDS)
def test_every_attention_takes_every_call(name: str) -> None:
    for constructor in ("plain", "added and zero key", "other widths"):
        _, ours = pair(name, **CONSTRUCTORS[constructor])
        for batched in (True, False):
            for mask in masks(batched).values():
                inputs = sequences(ours, batched=batched)
                output, weights = ours(*inputs, **mask, average_attn_weights=False)
                close(weights.sum(-1), torch.ones_like(weights.sum(-1)))
                close(ours(*inputs, **mask, need_weights=False)[0], output)
                if "attn_mask" in mask and mask["attn_mask"].dtype == torch.bool:
                    left_out = mask["attn_mask"].reshape(-1, *mask["attn_mask"].shape[-2:])
                    visible = weights.reshape(-1, *weights.shape[-2:])[..., : left_out.shape[-1]]
                    assert bool((visible[left_out.expand(len(visible), -1, -1)] == 0).all())
                gradients = torch.autograd.grad(output.square().sum(), [*inputs, *ours.parameters()])
                assert all(bool(x.isfinite().all()) for x in gradients)


@pytest.mark.parametrize("name", KINDS)
def test_boolean_and_floating_masks_agree(name: str) -> None:
    _, ours = pair(name, batch_first=True)
    inputs = sequences(ours)
    left_out = masks(True)["both"]
    added = {key: floating(x, -torch.inf) for key, x in left_out.items()}
    for actual, expected in zip(ours(*inputs, **added), ours(*inputs, **left_out), strict=True):
        close(actual, expected)


@pytest.mark.parametrize("name", KINDS)
def test_masked_entries_have_no_influence(name: str) -> None:
    _, ours = pair(name, batch_first=True)
    query, key, value = (x.detach() for x in sequences(ours))
    padding = torch.zeros(BATCH, M, dtype=torch.bool)
    padding[:, 3:] = True
    close(ours(query, key, value, key_padding_mask=padding)[0], ours(query, key[:, :3], value[:, :3])[0])


@pytest.mark.parametrize("name", KINDS)
def test_an_empty_batch_is_an_empty_result(name: str) -> None:
    _, ours = pair(name, batch_first=True)
    output, weights = ours(*sequences(ours, batch=0))
    assert output.shape == (0, N, EMBED)
    assert weights.shape == (0, N, M)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("name", KINDS)
def test_dtypes_are_preserved(name: str, dtype: torch.dtype) -> None:
    module = MultiheadAttention(EMBED, HEADS, dtype=dtype, attention=name)
    x = torch.randn(N, BATCH, EMBED, generator=GENERATOR).to(dtype)
    output, weights = module(x, x, x)
    assert (output.dtype, weights.dtype) == (dtype, dtype)
    assert bool(output.isfinite().all())


# Dynamo makes an object of the class of every autograd function, which the same release deprecates.
@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("name", PLAIN)
def test_plain_attentions_compile_without_graph_breaks(name: str, backend: str) -> None:
    torch.compiler.reset()
    _, ours = pair(name, batch_first=True)
    inputs = sequences(ours)
    compiled = torch.compile(ours, fullgraph=True, backend=backend)
    for mask in (masks(True)["padding"], masks(True)["causal"]):
        output, expected = compiled(*inputs, **mask)[0], ours(*inputs, **mask)[0]
        close(output, expected)
        pairs = zip(torch.autograd.grad(output.sum(), inputs), torch.autograd.grad(expected.sum(), inputs), strict=True)
        for actual, wanted in pairs:
            close(actual, wanted)


# ── in models ───────────────────────────────────────────────────────────────────────────────────────────────────────


def encoder() -> nn.TransformerEncoder:
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(EMBED, 2, 16, dropout=0.0, batch_first=True, dtype=torch.float64)
    return nn.TransformerEncoder(layer, 2)


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors:UserWarning")
def test_replace_reaches_the_fast_path_of_the_encoder() -> None:
    """In evaluation PyTorch's layers compute a softmax from the module's weights without calling it."""
    theirs = encoder().eval()
    x, padding = normal(BATCH, N, EMBED), torch.zeros(BATCH, N, dtype=torch.bool)
    padding[1, 2:] = True
    for attention in ("softmax", "sparsemax"):
        ours = copy.deepcopy(theirs)
        assert replace(ours, attention) == 2
        assert [type(layer.self_attn) for layer in ours.layers] == [MultiheadAttention] * 2
        with torch.no_grad():
            fast, slow = ours(x, src_key_padding_mask=padding), ours.train()(x, src_key_padding_mask=padding)
            expected = theirs(x, src_key_padding_mask=padding)
        close(fast, slow)
        different = float((fast - expected)[~padding].abs().max())
        assert different < 1e-12 if attention == "softmax" else different > 1e-3


@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True:UserWarning")
@pytest.mark.parametrize("name", ["softmax", "maximum-entropy"])
def test_a_complete_transformer_with_cross_attention_and_causal_masks(name: str) -> None:
    torch.manual_seed(0)
    theirs = nn.Transformer(EMBED, 2, 1, 2, 16, dropout=0.0, dtype=torch.float64).eval()
    ours = copy.deepcopy(theirs)
    assert replace(ours, name) == 5
    source, target = normal(M, BATCH, EMBED), normal(N, BATCH, EMBED)
    causal = nn.Transformer.generate_square_subsequent_mask(N, dtype=torch.float64)
    padding = torch.zeros(BATCH, M, dtype=torch.float64)
    padding[1, 3:] = -torch.inf
    options = {"tgt_mask": causal, "src_key_padding_mask": padding, "memory_key_padding_mask": padding}
    actual, expected = ours(source, target, **options), theirs(source, target, **options)
    if name == "softmax":
        close(actual, expected)
    close(ours(source, target[:2], **(options | {"tgt_mask": causal[:2, :2]})), actual[:2])


def test_replace_shares_the_weights() -> None:
    model = encoder()
    before = dict(model.named_parameters())
    replace(model, Sinkhorn(half_steps=2))
    after = dict(model.named_parameters())
    assert before.keys() == after.keys()
    assert all(before[name] is after[name] for name in before)
    assert replace(model, "linear") == 2
    assert model.layers[0].self_attn.attention == Linear()
    with pytest.raises(ValueError, match="model: expected one that contains"):
        replace(nn.Linear(2, 2), "softmax")


class Doubled(nn.MultiheadAttention):
    def forward(self, query: Tensor, *rest: Tensor, **options: Any) -> Any:
        return super().forward(2 * query, *rest, **options)


class Ours(MultiheadAttention):
    """A subclass that computes what its base does."""


def dressed(model: nn.Module) -> list[str]:
    """Hooks of every kind, which say that they ran."""
    ran: list[str] = []
    for kind in (
        "forward_pre",
        "forward",
        "full_backward_pre",
        "full_backward",
        "state_dict_pre",
        "state_dict_post",
        "load_state_dict_pre",
        "load_state_dict_post",
    ):
        getattr(model, f"register_{kind}_hook")(lambda *_, kind=kind: ran.append(kind))
    return ran


def test_what_a_replaced_module_has_is_kept() -> None:
    layer, x = encoder().layers[0], normal(BATCH, N, EMBED).requires_grad_()
    attention = layer.self_attn
    prune.l1_unstructured(attention, "in_proj_weight", amount=0.5)
    attention.out_proj.weight.requires_grad_(False)
    attention.register_buffer("seen", torch.ones(2))
    attention.note = "kept"
    before, state = layer(x), list(layer.state_dict())
    ran, copied = dressed(attention), MultiheadAttention.from_torch(attention)
    assert replace(layer, "softmax") == 1
    for kept in (attention, copied):
        assert list(kept.state_dict()) == [name.removeprefix("self_attn.") for name in state if name.startswith("self_attn")]
        assert (kept.note, kept.training, kept.out_proj.weight.requires_grad) == ("kept", True, False)
        kept(x, x, x)[0].sum().backward()
        kept.load_state_dict(kept.state_dict())
    assert set(ran) == {
        "forward_pre",
        "forward",
        "full_backward_pre",
        "full_backward",
        "state_dict_pre",
        "state_dict_post",
        "load_state_dict_pre",
        "load_state_dict_post",
    }
    assert len(ran) >= 2 * 8
    close(layer(x), before)
    attention.eval()
    assert copied.training


def test_one_module_under_several_names_is_replaced_once_everywhere() -> None:
    shared = nn.MultiheadAttention(EMBED, 2, dtype=torch.float64)
    model = nn.ModuleDict({"list": nn.ModuleList([shared, shared]), "again": shared})
    assert replace(model, "sparsemax") == 1
    assert all(type(x) is MultiheadAttention and x is model["again"] for x in model["list"])
    mine = nn.ModuleDict({"a": Ours(EMBED, 2)})
    assert replace(mine, "linear") == 1
    assert (type(mine["a"]), mine["a"].attention) == (Ours, Linear())


@pytest.mark.parametrize("dress", [lambda x: torch.compile(x, backend="eager"), lambda x: x.compile(backend="eager") or x])
def test_a_module_that_was_compiled_runs_the_new_attention(dress: Any) -> None:
    x, model = normal(BATCH, N, EMBED), nn.MultiheadAttention(EMBED, 2, batch_first=True, dtype=torch.float64)
    parent = nn.ModuleDict({"a": dress(model)})
    before = parent["a"](x, x, x)[0]
    assert replace(parent, "linear") == 1
    after = parent["a"](x, x, x)[0]
    close(after, MultiheadAttention.from_torch(copy.deepcopy(model), "linear")(x, x, x)[0])
    assert float((after - before).detach().abs().max()) > 1e-3


def test_modules_that_would_lose_something_are_refused_and_nothing_changes() -> None:
    parametrized, patched = nn.MultiheadAttention(EMBED, 2), nn.MultiheadAttention(EMBED, 2)
    parametrizations.weight_norm(parametrized, "in_proj_weight")
    patched.forward = lambda *x, **options: None  # type: ignore[method-assign]

    class Other(MultiheadAttention):
        def forward(self, *x: Any, **options: Any) -> Any:
            return super().forward(*x, **options)

    for bad, got in (
        (Doubled(EMBED, 2), "Doubled, a subclass"),
        (patched, "one with another forward"),
        (parametrized, "ParametrizedMultiheadAttention, a subclass"),
        (Other(EMBED, 2), "Other, a subclass"),
    ):
        model = nn.Sequential(nn.MultiheadAttention(EMBED, 2), nn.ModuleDict({"inner": bad}))
        with pytest.raises(ValueError, match=rf"^model\.1\.inner: expected a torch\.nn\.MultiheadAttention, got {got}"):
            replace(model, "sparsemax")
        assert type(model[0]) is nn.MultiheadAttention
        with pytest.raises(ValueError, match=r"^module: expected"):
            MultiheadAttention.from_torch(bad)


def test_masks_of_both_polarities_may_be_a_causal_bias() -> None:
    module, x = MultiheadAttention(EMBED, 2, batch_first=True, dtype=torch.float64), normal(BATCH, N, EMBED)
    bias = causal_upper_left(N, N)
    close(module(x, x, x, attn_mask=bias)[0], module(x, x, x, attn_mask=~bias._materialize())[0])
    with pytest.raises(ValueError, match=r"^key_padding_mask: expected"):
        module(x, x, x, key_padding_mask=bias)


@pytest.mark.parametrize("number", [math.nan, math.inf])
@pytest.mark.parametrize("name", [name for name in KINDS if name not in ("sinkhorn", "semi-relaxed")])
def test_padding_that_is_not_finite_has_no_effect_on_the_rest(name: str, number: float) -> None:
    torch.manual_seed(0)
    module, padding = MultiheadAttention(EMBED, 2, batch_first=True, attention=name, dtype=torch.float64), torch.arange(N) > 1
    x = normal(BATCH, N, EMBED)
    found = []
    for filling in (number, 0.0):
        y = x.masked_fill(padding.unsqueeze(-1), filling).requires_grad_()
        output = module(y, y, y, key_padding_mask=padding.expand(BATCH, N))[0]
        assert output[:, 2:].isfinite().all() == (filling == 0)
        kept = output[:, :2]
        found.append([kept, *torch.autograd.grad(kept.square().sum(), (y, *module.parameters()))])
    assert_close(found[0], found[1], rtol=0.0, atol=1e-8)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("name", KINDS)
def test_autocast_gives_the_dtypes_of_the_module(name: str, dtype: torch.dtype) -> None:
    theirs = nn.TransformerEncoderLayer(EMBED, 2, 16, dropout=0.0, batch_first=True)
    ours, x = copy.deepcopy(theirs), normal(BATCH, N, EMBED).float()
    replace(ours, name)
    for training in (True, False):
        layer, module = ours.train(training), ours.self_attn
        with torch.autocast("cpu", dtype):
            y = layer(x)
            parts = [m(x, x, x, need_weights=True) for m in (module, theirs.self_attn)] + [module(x, x, x, need_weights=False)]
        assert [z.dtype for z in parts[0]] == [z.dtype for z in parts[1]]
        assert parts[2][0].dtype == dtype
        (y.float().square().sum() + sum(part[0].float().sum() for part in parts)).backward()
        assert all(bool(p.grad.isfinite().all()) for p in layer.parameters())


@pytest.mark.parametrize("name", KINDS)
def test_a_model_is_trained_and_reloaded(name: str) -> None:
    """The class of a sequence is that of its marked token: only attention can bring it to the first position."""
    torch.manual_seed(0)
    classes, width = 3, 8
    marked, kind = torch.randint(1, 5, (48,)), torch.randint(classes, (48,))
    tokens = torch.zeros(48, 5, width)
    tokens[:, 0, 0] = 1.0
    tokens[torch.arange(48), marked, 1] = 1.0
    tokens[torch.arange(48), marked, 2 + kind] = 2.0
    module, head = MultiheadAttention(width, 2, batch_first=True, attention=name), nn.Linear(width, classes)
    optimizer = torch.optim.Adam([*module.parameters(), *head.parameters()], lr=0.03)
    losses = []
    for _ in range(60):
        loss = nn.functional.cross_entropy(head(module(tokens, tokens, tokens)[0][:, 0]), kind)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < 0.5 * losses[0]
    stored = io.BytesIO()
    torch.save(module.state_dict(), stored)
    stored.seek(0)
    state = torch.load(stored, weights_only=True)
    again = MultiheadAttention(width, 2, batch_first=True, attention=name)
    again.load_state_dict(state)
    assert_close(again(tokens, tokens, tokens), module(tokens, tokens, tokens), rtol=0.0, atol=0.0)
    nn.MultiheadAttention(width, 2, batch_first=True).load_state_dict(state)
    assert_close(copy.deepcopy(module)(tokens, tokens, tokens)[0], module(tokens, tokens, tokens)[0], rtol=0.0, atol=0.0)


# ── refusals ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_refusals() -> None:
    for options, message in (
        ({"embed_dim": 0, "num_heads": 1}, "embed_dim: expected an integer ≥ 1, got 0"),
        ({"embed_dim": True, "num_heads": 1}, "embed_dim: expected an integer ≥ 1, got True"),
        ({"embed_dim": 4, "num_heads": 0}, "num_heads: expected an integer ≥ 1, got 0"),
        ({"embed_dim": 4, "num_heads": 2.0}, r"num_heads: expected an integer ≥ 1, got 2\.0"),
        ({"embed_dim": 4, "num_heads": 3}, "embed_dim: expected a multiple of num_heads = 3, got 4"),
        ({"embed_dim": 4, "num_heads": 2, "attention": "hard"}, "attention: expected an Attention or one of 'softmax'"),
    ):
        with pytest.raises(ValueError, match=message):
            MultiheadAttention(**options)
    with pytest.raises(ValueError, match=r"module: expected a torch\.nn\.MultiheadAttention, got Linear"):
        MultiheadAttention.from_torch(nn.Linear(2, 2))
    _, module = pair()
    query, key, value = (x.detach() for x in sequences(module))
    for arguments, options, message in (
        ((query.long(), key, value), {}, "query: expected a dense floating tensor with 2 or 3 axes"),
        ((query[..., :-1], key, value), {}, "query: expected 3 axes, the last 12, got"),
        (([0.0], key, value), {}, "query: expected a dense floating tensor with 2 or 3 axes"),
        ((query[0, 0], key, value), {}, "query: expected a dense floating tensor with 2 or 3 axes"),
        ((query[None], key, value), {}, "query: expected a dense floating tensor with 2 or 3 axes"),
        ((query, key, value.long()), {}, "value: expected a dense floating tensor with 2 or 3 axes"),
        ((query, key[..., :-1], value), {}, "key: expected 3 axes, the last 12, got"),
        ((query, key, value[..., :-1]), {}, "value: expected 3 axes, the last 12, got"),
        ((query, key, value[:, :1]), {}, r"value: expected \(5, 2, 12\) like the key"),
        ((query, key, value), {"attn_mask": torch.zeros(2, N, M)}, r"attn_mask: expected .* \(6, 4, 5\), got \(2, 4, 5\)"),
        ((query, key, value), {"key_padding_mask": torch.zeros(1, M)}, r"key_padding_mask: expected \(2, 5\), or \(5,\)"),
        ((query, key[0], value), {}, "key: expected 3 axes"),
        ((query, key[:, :1], value[:, :1]), {}, "key: expected a batch of 2"),
        ((query, key, value[1:]), {}, r"value: expected \(5, 2, 12\) like the key"),
        ((query, key, value), {"is_causal": True}, "attn_mask: expected the causal mask"),
        ((query, key, value), {"attn_mask": torch.zeros(2, 2)}, r"attn_mask: expected \(4, 5\) or \(6, 4, 5\), got \(2, 2\)"),
        ((query, key, value), {"attn_mask": torch.zeros(N, M).long()}, "attn_mask: expected a dense boolean or floating"),
        ((query, key, value), {"key_padding_mask": torch.zeros(M, dtype=torch.bool)}, "key_padding_mask: expected"),
    ):
        with pytest.raises(ValueError, match=message):
            module(*arguments, **options)
    _, first = pair(batch_first=True)
    query, key, value = (x.detach() for x in sequences(first))
    with pytest.raises(ValueError, match=r"key: expected a batch of 2 like the query, got 1"):
        first(query, key[:1], value[:1])
    for kind, options, message in (
        (Sinkhorn, {"half_steps": 3}, "half_steps: expected an even integer"),
        (Sinkhorn, {"half_steps": True}, "half_steps: expected an even integer"),
        (SemiRelaxed, {"relaxation": 0.0}, "relaxation: expected a positive finite number"),
        (OptimalTransport, {"alpha": -1.0}, "alpha: expected a positive finite number"),
    ):
        with pytest.raises(ValueError, match=message):
            kind(**options)
