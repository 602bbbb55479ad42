"""PyTorch's public tests of `scaled_dot_product_attention` and `nn.MultiheadAttention`, with softmax, adapted.

Where PyTorch's function gives NaN or an error from inside, we give zeros or an error that names the argument.
"""

import itertools
import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.testing import assert_close

from numerics.modules import MultiheadAttention, scaled_dot_product_attention

B, H, N, M, E = 2, 3, 4, 5, 8
GENERATOR = torch.Generator().manual_seed(0)
ALLOWED = {torch.float64: 1e-12, torch.float32: 1e-6, torch.float16: 4e-3, torch.bfloat16: 3e-2}


def normal(*shape: int, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(shape, generator=GENERATOR, dtype=torch.float64).to(dtype)


def some(*shape: int, share: float = 0.7) -> Tensor:
    return torch.rand(shape, generator=GENERATOR) < share


def inputs(*lead: int, n: int = N, m: int = M, dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor, Tensor]:
    return normal(*lead, n, E, dtype=dtype), normal(*lead, m, E, dtype=dtype), normal(*lead, m, E, dtype=dtype)


def agree(*arguments: Tensor, **options: Any) -> None:
    ours, theirs = (f(*arguments, **options) for f in (scaled_dot_product_attention, functional.scaled_dot_product_attention))
    assert_close(ours, theirs, rtol=0.0, atol=ALLOWED[arguments[0].dtype])


# ── scaled_dot_product_attention ────────────────────────────────────────────────────────────────────────────────────

SHAPES = [
    (1, 1),
    (1, M),
    (N, 1),
    (N, M),
    (1, N, M),
    (H, 1, M),
    (H, N, 1),
    (H, N, M),
    (B, 1, 1, M),
    (B, 1, N, M),
    (1, H, N, M),
    (B, H, 1, M),
    (B, H, N, 1),
    (1, 1, 1, 1),
    (B, H, N, M),
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("kind", ["boolean", "floating", "-inf"])
def test_masks_of_every_shape(kind: str, shape: tuple[int, ...]) -> None:
    mask = some(*shape) if kind == "boolean" else normal(*shape)
    if kind == "-inf":
        mask = mask.masked_fill(some(*shape, share=0.4), -math.inf)
    agree(*inputs(B, H), mask)


@pytest.mark.parametrize("mask", [torch.tensor(True), torch.tensor(False), torch.tensor(0.5), torch.tensor(-math.inf)], ids=str)
def test_masks_without_axes(mask: Tensor) -> None:
    """One for all pairs, where PyTorch's function asks for two axes."""
    data = inputs(B, H)
    assert_close(scaled_dot_product_attention(*data, mask), scaled_dot_product_attention(*data, mask.expand(N, M)))
    assert_close(scaled_dot_product_attention(*data, mask.expand(M)), scaled_dot_product_attention(*data, mask.expand(N, M)))


@pytest.mark.parametrize("dtype", list(ALLOWED), ids=str)
@pytest.mark.parametrize("option", ["none", "boolean", "same", "float32", "causal"])
def test_every_dtype(option: str, dtype: torch.dtype) -> None:
    masks = {"boolean": some(N, M), "same": normal(N, M, dtype=dtype), "float32": normal(N, M, dtype=torch.float32)}
    if dtype == torch.float64 and option == "float32":
        masks["float32"] = masks["float32"].double()  # PyTorch's function takes no other
    agree(*inputs(B, H, dtype=dtype), *([masks[option]] if option in masks else []), is_causal=option == "causal")


@pytest.mark.parametrize(("n", "m"), [(4, 5), (5, 4), (1, 5), (5, 1), (4, 4)])
def test_causal_masks_need_not_be_square(n: int, m: int) -> None:
    agree(*inputs(B, H, n=n, m=m), is_causal=True)


@pytest.mark.parametrize("lead", [(), (B,), (2, B, H), (0, H), (B, 0)], ids=str)
@pytest.mark.parametrize("is_causal", [False, True])
def test_leading_axes(lead: tuple[int, ...], is_causal: bool) -> None:
    agree(*inputs(*lead), is_causal=is_causal)


@pytest.mark.parametrize(("n", "m"), [(0, 5), (4, 0), (0, 0)])
def test_nothing_to_attend_to_or_from(n: int, m: int) -> None:
    for options in ({}, {"is_causal": True}, {"attn_mask": torch.ones(n, m, dtype=torch.bool)}):
        agree(*inputs(B, H, n=n, m=m), **options)  # type: ignore[arg-type]


def test_batches_and_heads_that_broadcast() -> None:
    q, k, v = inputs(B, H)
    agree(q, k[:1], v[:1])
    agree(q, k[:, :1], v[:, :1])
    agree(q[:1], k, v)
    agree(q.mT.contiguous().mT, k, v[..., :3])
    agree(q[:, :1].expand(B, H, N, E), k, v)


def test_rows_with_nothing_left() -> None:
    """Zeros, whose gradients are finite; what they would have seen may be anything."""
    q, k, v = (x.requires_grad_() for x in inputs(B, H))
    mask = torch.ones(N, M, dtype=torch.bool)
    mask[1] = False
    for each in (mask, torch.zeros(N, M).double().masked_fill(~mask, -math.inf), torch.zeros_like(mask)):
        agree(q, k, v, each)
        for x in torch.autograd.grad(scaled_dot_product_attention(q, k, v, each).sum(), (q, k, v)):
            assert bool(x.isfinite().all())


@pytest.mark.parametrize("heads", [1, 2, 3, 6])
@pytest.mark.parametrize(
    "options",
    [{}, {"is_causal": True}, {"attn_mask": some(B, 6, N, M)}, {"attn_mask": some(N, M)}],
    ids=["none", "causal", "each head", "one mask"],
)
def test_grouped_queries(heads: int, options: dict[str, Any]) -> None:
    q, (_, k, v) = normal(B, 6, N, E), inputs(B, heads)
    agree(q, k, v, enable_gqa=True, **options)
    if "attn_mask" not in options or options["attn_mask"].ndim == 2:
        agree(q[0], k[0], v[0], enable_gqa=True, **options)


@pytest.mark.parametrize("scale", [0.0, -1.0, 2, 1e-30, 1e30])
def test_scales(scale: float) -> None:
    agree(*inputs(B, H), scale=scale)


@pytest.mark.parametrize("probability", [0.3, 1.0])
def test_dropout_draws_as_pytorch_does(probability: float) -> None:
    data, results = inputs(B, H), []
    for f in (scaled_dot_product_attention, functional.scaled_dot_product_attention):
        torch.manual_seed(0)
        results.append(f(*data, dropout_p=probability))
    assert_close(*results, rtol=0.0, atol=1e-12)


def nested(layout: torch.layout) -> Tensor:
    return torch.nested.nested_tensor([normal(2, E), normal(3, E)], layout=layout)


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
@pytest.mark.parametrize(
    "make",
    [
        lambda: nested(torch.strided),
        lambda: nested(torch.jagged),
        lambda: normal(2, N, E).to_sparse(),
        lambda: torch.empty(2, N, E, device="meta"),
    ],
    ids=["nested", "jagged", "sparse", "meta"],
)
@pytest.mark.parametrize("enable_gqa", [False, True])
def test_other_layouts_are_refused(make: Callable[[], Tensor], enable_gqa: bool) -> None:
    x = make()
    with pytest.raises(ValueError, match=r"(query|key): expected"):
        scaled_dot_product_attention(x, x, x, enable_gqa=enable_gqa)
    with pytest.raises(ValueError, match="query: expected a dense floating tensor with 2 or 3 axes"):
        MultiheadAttention(E, 2)(x, x, x)


def test_refusals_name_the_argument() -> None:
    q, k, v = inputs(B, H)
    for arguments, message in (
        ((q, k, v, torch.ones(N, M + 1).bool()), r"attn_mask: expected a boolean or floating tensor that broadcasts"),
        ((q, k, v, torch.ones(N, M, dtype=torch.long)), "attn_mask: expected a boolean or floating tensor"),
        ((q, k, v[..., :-1, :]), "value: expected"),
        ((q, k.float(), v), "key: expected the dtype torch.float64"),
        ((q.long(), k, v), "query: expected a dense floating tensor"),
        ((q[0, 0, 0], k, v), "query: expected a dense"),
    ):
        with pytest.raises(ValueError, match=message):
            scaled_dot_product_attention(*arguments)


# ── nn.MultiheadAttention ───────────────────────────────────────────────────────────────────────────────────────────

HEADS = 2


def pair(dtype: torch.dtype = torch.float64, **options: Any) -> tuple[nn.MultiheadAttention, MultiheadAttention]:
    torch.manual_seed(0)
    theirs = nn.MultiheadAttention(E, HEADS, dtype=dtype, **options).eval()
    return theirs, MultiheadAttention.from_torch(theirs)


def masks() -> dict[str, dict[str, Any]]:
    padding, attn, each = some(B, M, share=0.4), some(N, M, share=0.4), some(B * HEADS, N, M, share=0.4)
    for mask in (padding, attn, each):
        mask[..., 0] = False  # PyTorch's module gives NaN where nothing is left
    infinite = torch.zeros(B, M).double().masked_fill(padding, -math.inf)
    return {
        "none": {},
        "padding": {"key_padding_mask": padding},
        "floating padding": {"key_padding_mask": infinite},
        "attn": {"attn_mask": attn},
        "each head": {"attn_mask": each},
        "floating": {"attn_mask": normal(N, M)},
        "floating, each head": {"attn_mask": normal(B * HEADS, N, M)},
        "both": {"key_padding_mask": padding, "attn_mask": attn},
        "both floating": {"key_padding_mask": infinite, "attn_mask": normal(N, M)},
        "both, each head": {"key_padding_mask": padding, "attn_mask": each},
    }


@pytest.mark.filterwarnings("ignore:Support for mismatched key_padding_mask:UserWarning")
@pytest.mark.parametrize("name", list(masks()))
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"batch_first": True},
        {"add_bias_kv": True},
        {"add_zero_attn": True},
        {"kdim": 6, "vdim": 7},
        {"batch_first": True, "add_bias_kv": True, "add_zero_attn": True, "kdim": 6, "vdim": 7},
        {"bias": False},
    ],
    ids=str,
)
def test_the_module_with_every_mask_and_option(options: dict[str, Any], name: str) -> None:
    theirs, ours = pair(**options)
    data = [normal(B, size, width) for size, width in ((N, E), (M, options.get("kdim", E)), (M, options.get("vdim", E)))]
    data = data if options.get("batch_first") else [x.transpose(0, 1) for x in data]
    for need, average in ((True, True), (True, False), (False, True)):
        (out, weights), (their_out, their_weights) = (
            module(*data, need_weights=need, average_attn_weights=average, **masks_of(name)) for module in (ours, theirs)
        )
        assert_close(out, their_out, rtol=0.0, atol=1e-12)
        assert (weights is None) == (their_weights is None) == (not need)
        if need:
            assert_close(weights, their_weights, rtol=0.0, atol=1e-12)


def masks_of(name: str) -> dict[str, Any]:
    GENERATOR.manual_seed(1)
    return masks()[name]


@pytest.mark.parametrize("options", [{}, {"add_bias_kv": True}, {"add_zero_attn": True}], ids=str)
def test_the_causal_hint_changes_nothing(options: dict[str, Any]) -> None:
    """With added keys PyTorch's module leaves the mask aside unless it returns weights; ours is the mask either way."""
    theirs, ours = pair(**options)
    data, causal = [x.transpose(0, 1) for x in inputs(B)], torch.ones(N, M, dtype=torch.bool).triu(1)
    expected = theirs(*data, attn_mask=causal)[0]
    for hint, need in itertools.product([False, True], repeat=2):
        assert_close(ours(*data, attn_mask=causal, is_causal=hint, need_weights=need)[0], expected, rtol=0.0, atol=1e-12)
    with pytest.raises(ValueError, match="attn_mask: expected the causal mask where is_causal is set"):
        ours(*data, is_causal=True)


@pytest.mark.parametrize("dtype", list(ALLOWED), ids=str)
def test_the_module_in_every_dtype(dtype: torch.dtype) -> None:
    theirs, ours = pair(dtype)
    data = [x.transpose(0, 1) for x in inputs(B, dtype=dtype)]
    for x, y in zip(ours(*data), theirs(*data), strict=True):
        assert_close(x, y, rtol=0.0, atol=10 * ALLOWED[dtype])
    with pytest.raises(ValueError, match=f"key: expected the dtype {dtype} of the weights"):
        ours(data[0], data[1].to(torch.float32 if dtype == torch.float64 else torch.float64), data[2])


def test_refusals_of_the_module() -> None:
    _, ours = pair()
    q, k, v = inputs()
    for options, message in (
        ({"key_padding_mask": [False] * M}, "key_padding_mask: expected a dense boolean or floating tensor"),
        ({"key_padding_mask": torch.tensor(False)}, "key_padding_mask: expected"),
        ({"attn_mask": torch.tensor(0.0)}, "attn_mask: expected"),
        ({"attn_mask": torch.zeros(N, M).byte()}, "attn_mask: expected a dense boolean or floating tensor"),
        ({"attn_mask": torch.zeros(M, N)}, r"attn_mask: expected \(4, 5\) or \(2, 4, 5\)"),
    ):
        with pytest.raises(ValueError, match=message):
            ours(q, k, v, **options)
