"""ALiBi's slopes and biases, compared with published models."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from numerics import one_sided, tolerances
from numerics.regularizers import alibi_bias, alibi_slopes
from tests.numerics.common import close, in_dtypes, on_devices
from tests.numerics.sparse_rows import normal


@pytest.mark.parametrize("heads", [1, 2, 3, 5, 8, 12, 16, 20, 71])
def test_alibi_is_that_of_published_models(heads: int) -> None:
    from transformers.models.bloom.modeling_bloom import build_alibi_tensor
    from transformers.models.mpt.modeling_mpt import build_mpt_alibi_tensor

    length = 7
    ours = alibi_bias(heads, length, causal=True)
    allowed = ours > -torch.inf
    bloom = build_alibi_tensor(torch.ones(1, length), heads, torch.float32).expand(heads, length, length)
    mpt = build_mpt_alibi_tensor(heads, length).expand(heads, length, length)
    for theirs in (bloom, mpt):
        # Equal up to a constant per row, where the mask lets a key take part: softmax does not see the difference.
        difference = ours - theirs
        difference = (difference - difference[..., :1])[allowed]
        close(difference, torch.zeros_like(difference), tolerances.rounding("float32", 1, float(length)))
        logits = normal(heads, length, length).float()
        close(
            (logits + ours).softmax(-1),
            (logits + theirs).masked_fill(~allowed, -torch.inf).softmax(-1),
            tolerances.plan("float32", length, 2.0 * length),
        )


def test_alibi_slopes_are_the_published_ones() -> None:
    assert alibi_slopes(8).tolist() == [2.0**-h for h in range(1, 9)]
    assert alibi_slopes(16, torch.float64).tolist() == [2.0 ** (-h / 2) for h in range(1, 17)]
    assert alibi_slopes(1).tolist() == [2.0**-8]
    assert alibi_slopes(3, torch.float64).tolist() == [2.0**-4, 2.0**-8, 2.0**-2]


@on_devices
@in_dtypes
def test_alibi_is_a_distance_and_a_mask(dtype: torch.dtype, device: str) -> None:
    bias = alibi_bias(3, 5, dtype=dtype, device=device)
    assert (bias.shape, bias.dtype, bias.device.type) == ((3, 5, 5), dtype, device)
    close(bias, bias.mT, 0.0)
    assert (bias.diagonal(dim1=-2, dim2=-1) == 0).all()
    causal = alibi_bias(3, 5, causal=True, dtype=dtype, device=device)
    keep = torch.ones(5, 5, dtype=torch.bool, device=device).tril()
    close(causal, bias.masked_fill(~keep, -torch.inf), 0.0)
    long = alibi_bias(1, 1025, dtype=dtype, device=device)[0, 0]
    close(long, (-(2.0**-8) * torch.arange(1025, device=device)).to(dtype), 0.0)


def test_alibi_attention_is_eot_36() -> None:
    query, key, value = (normal(2, 3, 6, 4, seed=seed) for seed in range(3))
    bias = alibi_bias(3, 6, causal=True, dtype=torch.float64)
    plan = one_sided.plan(one_sided.scores_from(query, key), 2.0, bias)
    close(
        one_sided.context(plan, value),
        scaled_dot_product_attention(query, key, value, attn_mask=bias),
        tolerances.rounding("float64", 64, 10.0),
    )
    gamma = 2.0 * alibi_slopes(3, torch.float64)  # added to s/τ, the slope is γ/τ
    distance = (torch.arange(6) - torch.arange(6)[:, None]).abs()
    scores = one_sided.scores_from(query, key) - gamma[:, None, None] * distance
    close(plan, one_sided.plan(scores, 2.0, bias > -torch.inf), tolerances.plan("float64", 6, 10.0))


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: alibi_slopes(0), "num_heads"),
        (lambda: alibi_bias(2.0, 3), "num_heads"),
        (lambda: alibi_bias(2, 0), "length"),
        (lambda: alibi_bias(2, 3, dtype=torch.long), "dtype"),
    ],
)
def test_bad_arguments_are_named(call: Callable[[], Tensor], name: str) -> None:
    with pytest.raises(ValueError, match=f"^{name}: expected"):
        call()
