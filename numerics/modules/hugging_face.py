"""One call, and a Hugging Face model runs on any attention of this package.

    model.set_attn_implementation(register("sparsemax"))

Masks       The library builds the mask of an implementation with a function of the same name; without one it passes no mask
            at all, silently. So both are registered. Masks are boolean, True takes part; floating ones that a model or a
            caller brings along are added to the logits, and what is as low as half of the dtype's least number counts as −inf.
Limits      Models that do not use the library's interface (BLOOM, MPT, Falcon, GPT-Neo) keep their own attention. Soft caps,
            attention sinks and paged caches are refused. Where a model pads, queries of padding are queries like any other:
            Sinkhorn and semi-relaxed attention, whose queries share the keys, then depend on the padding.
"""

import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import sdpa_mask

from numerics.arguments import check_mask_dtype
from numerics.modules.functional import attend, grouped
from numerics.modules.kinds import Attention, attention_of

_REGISTERED: dict[str, Attention] = {}
_REFUSED = ("softcap", "s_aux", "cache", "block_table")


def register(attention: str | Attention, name: str | None = None) -> str:
    """Register an attention with transformers, and return its name for ``attn_implementation``.

    Args:
        attention: a name of ``KINDS``, or an ``Attention``.
        name: by default ``"numerics_"``, the name of the attention, and those of its settings that are not the usual ones.

    Raises:
        ValueError: for another attention, or a name that is no identifier or is taken by another implementation.
    """
    chosen = attention_of(attention)
    name = _name(chosen) if name is None else name
    if not isinstance(name, str) or not name.isidentifier():
        raise ValueError(f"name: expected an identifier, got {name!r}")
    # A model stores the name of its implementation only, so a registered name must keep its meaning.
    if (name == "eager" or name in AttentionInterface()) and _REGISTERED.get(name) != chosen:
        raise ValueError(f"name: expected one that is not taken, got {name!r} of {_REGISTERED.get(name, 'transformers')}")
    _REGISTERED[name] = chosen
    AttentionInterface.register(name, _implementation(chosen))
    AttentionMaskInterface.register(name, _mask)
    return name


def _name(attention: Attention) -> str:
    parts = ["numerics", attention.name]
    if is_dataclass(attention):
        for field in fields(attention):
            value = getattr(attention, field.name)
            if value != field.default:
                parts += [field.name, getattr(value, "__name__", str(value))]
    return re.sub(r"\W", "_", "_".join(parts))


def _implementation(attention: Attention) -> Callable[..., tuple[Tensor, Tensor]]:
    def forward(
        module: nn.Module,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attention_mask: Tensor | None,
        dropout: float = 0.0,
        scaling: float | None = None,
        is_causal: bool | None = None,
        position_bias: Tensor | None = None,
        **kwargs: Any,
    ) -> tuple[Tensor, Tensor]:
        for name in _REFUSED:
            if kwargs.get(name) is not None:
                raise ValueError(f"{name}: expected None for attention {attention.name!r}, got {type(kwargs[name]).__name__}")
        if key.shape[1] != query.shape[1]:
            key, value = grouped("key", key, query), grouped("value", value, query)
        if is_causal is None:
            is_causal = getattr(module, "is_causal", True)
        mask = None if attention_mask is None else check_mask_dtype("attention_mask", attention_mask, query)
        if mask is None and is_causal and query.shape[2] > 1:
            mask = torch.ones(query.shape[2], key.shape[2], dtype=torch.bool, device=query.device).tril()
        mask = _with_bias(_without_padding(mask), position_bias)
        output, weights = attend(attention, query, key, value, mask, scaling, dropout, need_weights=True)
        assert weights is not None
        return output.transpose(1, 2).contiguous(), weights

    return forward


def _mask(*args: Any, **kwargs: Any) -> Tensor | None:
    """Build the boolean mask; a causal one is never left to a flag, for offsets of a cache are in it."""
    return sdpa_mask(*args, **(kwargs | {"allow_is_causal_skip": False}))  # type: ignore[no-any-return]


def _without_padding(mask: Tensor | None) -> Tensor | None:
    if mask is None or mask.dtype == torch.bool:
        return mask
    return mask.masked_fill(mask <= torch.finfo(mask.dtype).min / 2, -torch.inf)


def _with_bias(mask: Tensor | None, bias: Tensor | None) -> Tensor | None:
    if bias is None or mask is None:
        return mask if bias is None else bias
    return bias.masked_fill(~mask, -torch.inf) if mask.dtype == torch.bool else bias + mask
