"""``MultiheadAttention``: PyTorch's module, call for call, with a choice of attention.

It has PyTorch's constructor, forward method, parameters and state dict, so weights go to and fro; with softmax it computes
the same numbers, but for rounding. One line converts a model: ``replace(model, "sparsemax")``.

Notation    B = batch; n, m = queries, keys; H = heads; E = ``embed_dim``
Masks       At this interface they are PyTorch's: boolean, True is *left out*; floating, added to the logits. Elsewhere in
            this project True takes part. A row with nothing left gives zeros where PyTorch's module gives NaN.
Fast paths  PyTorch's encoder layers may skip the module's ``forward`` and compute a softmax from its weights. They ask
            ``_qkv_same_embed_dim`` first, which is False here whatever the widths, so that they never do.
"""

import copy
import functools
from collections.abc import Callable
from typing import Any, Self, TypeVar

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, pad

from numerics.arguments import check_mask_dtype, describe, is_dense
from numerics.masks import row_by_row
from numerics.modules.functional import attend
from numerics.modules.kinds import Attention, attention_of
from numerics.priors import log_mask

_Application = Callable[[Callable[[Tensor], Tensor], Tensor], Tensor]


class MultiheadAttention(nn.MultiheadAttention):
    """Multi-head attention by any attention of this package, in the place of ``torch.nn.MultiheadAttention``."""

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        attention: str | Attention = "softmax",
    ) -> None:
        """Set up the projections as PyTorch's module does.

        Args:
            embed_dim: E, a multiple of ``num_heads``.
            num_heads: H.
            dropout: the probability of dropping a weight in training.
            bias: whether the projections have biases.
            add_bias_kv: whether a learned key, with its value, is added to those given.
            add_zero_attn: whether a zero key with a zero value is added.
            kdim: width of the keys; E by default.
            vdim: width of the values; E by default.
            batch_first: whether tensors are (B, n, E) instead of (n, B, E).
            device: of the parameters.
            dtype: of the parameters.
            attention: a name of ``KINDS``, or an ``Attention``.

        Raises:
            ValueError: for another attention or number.
        """
        chosen = attention_of(attention)
        for name, number in (("embed_dim", embed_dim), ("num_heads", num_heads)):
            if isinstance(number, bool) or not isinstance(number, int) or number < 1:
                raise ValueError(f"{name}: expected an integer ≥ 1, got {number!r}")
        if embed_dim % num_heads:
            raise ValueError(f"embed_dim: expected a multiple of num_heads = {num_heads}, got {embed_dim}")
        super().__init__(
            embed_dim, num_heads, dropout, bias, add_bias_kv, add_zero_attn, kdim, vdim, batch_first, device, dtype
        )
        self.attention = chosen

    @classmethod
    def from_torch(cls, module: nn.MultiheadAttention, attention: str | Attention = "softmax") -> Self:
        """Return a module that shares the parameters of one of PyTorch's, and has its settings, hooks and all else.

        Raises:
            ValueError: for another module, one of a subclass or with a forward of its own, or another attention.
        """
        _check_plain("module", module)
        made = copy.copy(module)
        vars(made).update({name: copy.copy(value) for name, value in vars(module).items() if isinstance(value, (dict, set))})
        return _as(cls, made, attention_of(attention))

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Return the output and the weights.

        Args:
            query: floating, (n, E), (n, B, E), or (B, n, E) if ``batch_first``.
            key: floating, as the query, with m and ``kdim`` in the place of n and E.
            value: floating, as the key, with ``vdim``.
            key_padding_mask: (m,) or (B, m): boolean, True is left out; or floating, added to the logits.
            need_weights: whether to return the weights.
            attn_mask: (n, m), or (B·H, n, m), as ``key_padding_mask``.
            average_attn_weights: whether the weights are averaged over the heads.
            is_causal: a hint that ``attn_mask`` is the causal mask, which must be given; the mask is what counts.

        Returns:
            The output, of the shape of the query, and the weights: (n, m) or (B, n, m) if averaged, else with H before n;
            None unless needed. m counts what ``add_bias_kv`` and ``add_zero_attn`` add.

        Raises:
            ValueError: for a shape or dtype other than these.
            RuntimeError: if a solver did not converge.
        """
        batched = self._check(query, key, value)
        if is_causal and attn_mask is None:
            raise ValueError("attn_mask: expected the causal mask where is_causal is set, got None")
        of_itself = query is key and key is value and self.in_proj_weight is not None
        if batched and not self.batch_first:
            query, key, value = (x.transpose(0, 1) for x in (query, key, value))
        elif not batched:
            query, key, value = (x.unsqueeze(0) for x in (query, key, value))
        mask = self._merged(key_padding_mask, attn_mask, query, key, batched)
        apply = _plainly if mask is None else row_by_row
        q, k, v = self._of_itself(query, apply) if of_itself else self._projected(query, key, value, apply)
        k, v, mask = self._extended(k, v, mask)
        dropout = self.dropout if self.training else 0.0
        heads, weights = attend(
            self.attention, self._split(q), self._split(k), self._split(v), mask, None, dropout, need_weights=need_weights
        )
        output = apply(lambda x: linear(x, self.out_proj.weight, self.out_proj.bias), heads.transpose(1, 2).flatten(-2))
        if weights is not None and average_attn_weights:
            weights = weights.mean(1)
        if not batched:
            return output.squeeze(0), None if weights is None else weights.squeeze(0)
        return output if self.batch_first else output.transpose(0, 1), weights

    def extra_repr(self) -> str:
        """Describe the settings that are not parameters."""
        return f"{self.embed_dim}, num_heads={self.num_heads}, attention={self.attention!r}"

    def _reset_parameters(self) -> None:
        self._qkv_same_embed_dim = self.in_proj_weight is not None
        super()._reset_parameters()
        self._qkv_same_embed_dim = False  # see the module's notes on fast paths

    def _check(self, query: Tensor, key: Tensor, value: Tensor) -> bool:
        """Return whether the tensors are batched, after checking that they fit."""
        for name, x, width in (("query", query, self.embed_dim), ("key", key, self.kdim), ("value", value, self.vdim)):
            if not is_dense(x) or not x.is_floating_point() or x.ndim not in (2, 3):
                raise ValueError(f"{name}: expected a dense floating tensor with 2 or 3 axes, got {describe(x)}")
            if x.dtype != self.out_proj.weight.dtype and not torch.is_autocast_enabled(x.device.type):
                raise ValueError(f"{name}: expected the dtype {self.out_proj.weight.dtype} of the weights, got {x.dtype}")
            if x.ndim != query.ndim or x.shape[-1] != width:
                raise ValueError(f"{name}: expected {query.ndim} axes, the last {width}, got {tuple(x.shape)}")
        batch = 0 if self.batch_first else 1
        if query.ndim == 3 and key.shape[batch] != query.shape[batch]:
            raise ValueError(f"key: expected a batch of {query.shape[batch]} like the query, got {key.shape[batch]}")
        if value.shape[:-1] != key.shape[:-1]:
            raise ValueError(f"value: expected {(*key.shape[:-1], self.vdim)} like the key, got {tuple(value.shape)}")
        return query.ndim == 3

    def _merged(self, padding: Tensor | None, attn: Tensor | None, query: Tensor, key: Tensor, batched: bool) -> Tensor | None:
        """Return both masks as one in this project's convention: boolean, True takes part, or floating; (B, H, n, m) or 1s."""
        parts, (batch, n), m = [], query.shape[:2], key.shape[1]
        if padding is not None:
            padding = check_mask_dtype("key_padding_mask", padding, query)
            padding = padding if batched else padding.unsqueeze(0)
            if padding.shape != (batch, m):
                raise ValueError(f"key_padding_mask: expected {(batch, m)}, or {(m,)} unbatched, got {tuple(padding.shape)}")
            parts.append(padding[:, None, None, :])
        if attn is not None:
            attn = check_mask_dtype("attn_mask", attn, query)
            if attn.shape not in ((n, m), (batch * self.num_heads, n, m)):
                raise ValueError(f"attn_mask: expected {(n, m)} or {(batch * self.num_heads, n, m)}, got {tuple(attn.shape)}")
            parts.append(attn if attn.ndim == 2 else attn.reshape(batch, self.num_heads, n, m))
        if all(x.dtype == torch.bool for x in parts):
            allowed = [~x for x in parts]
            return None if not allowed else allowed[0] if len(allowed) == 1 else allowed[0] & allowed[1]
        dtype = functools.reduce(torch.promote_types, (x.dtype for x in parts if x.dtype != torch.bool))
        added = [log_mask(~x if x.dtype == torch.bool else x, dtype) for x in parts]
        return added[0] if len(added) == 1 else added[0] + added[1]

    def _of_itself(self, x: Tensor, apply: _Application) -> tuple[Tensor, Tensor, Tensor]:
        """Return queries, keys and values of the same tensor, by one product."""
        q, k, v = apply(lambda y: linear(y, self.in_proj_weight, self.in_proj_bias), x).chunk(3, -1)
        return q, k, v

    def _projected(self, query: Tensor, key: Tensor, value: Tensor, apply: _Application) -> tuple[Tensor, Tensor, Tensor]:
        if self.in_proj_weight is not None:
            weights = self.in_proj_weight.chunk(3)
        else:
            weights = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        biases = (None, None, None) if self.in_proj_bias is None else self.in_proj_bias.chunk(3)
        maps = (functools.partial(linear, weight=w, bias=b) for w, b in zip(weights, biases, strict=True))
        q, k, v = (apply(function, x) for function, x in zip(maps, (query, key, value), strict=True))
        return q, k, v

    def _extended(self, k: Tensor, v: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor, Tensor | None]:
        """Return keys, values and mask with the learned pair and the zero pair, which always take part."""
        more: list[tuple[Tensor, Tensor]] = []
        if self.bias_k is not None and self.bias_v is not None:
            more.append((self.bias_k, self.bias_v))
        if self.add_zero_attn:
            more.append((k.new_zeros(1, 1, self.embed_dim), v.new_zeros(1, 1, self.embed_dim)))
        for a, b in more:
            k = torch.cat([k, a.expand(len(k), -1, -1)], 1)
            v = torch.cat([v, b.expand(len(v), -1, -1)], 1)
        if mask is not None and more:
            mask = pad(mask, (0, len(more)), value=True if mask.dtype == torch.bool else 0.0)
        return k, v, mask

    def _split(self, x: Tensor) -> Tensor:
        """(B, n, E) → (B, H, n, E/H)."""
        return x.reshape(*x.shape[:-1], self.num_heads, self.head_dim).transpose(1, 2)


def replace(model: nn.Module, attention: str | Attention) -> int:
    """Turn every ``torch.nn.MultiheadAttention`` of a model into one of this package.

    The modules themselves change: weights, hooks, buffers, flags and whoever else holds them stay as they are.

    Args:
        model: any module that is or contains some; those of this package are changed to the attention given.
        attention: a name of ``KINDS``, or an ``Attention``.

    Returns:
        How many were changed; one that a model has under several names counts once.

    Raises:
        ValueError: for another attention; if the model contains none; or if one of them is of a subclass or has a forward of
            its own, which would be lost. Then nothing is changed.
    """
    chosen = attention_of(attention)
    found = {path: module for path, module in model.named_modules() if isinstance(module, nn.MultiheadAttention)}
    if not found:
        raise ValueError(f"model: expected one that contains a torch.nn.MultiheadAttention, got {type(model).__name__}")
    for path, module in found.items():
        _check_plain(f"model.{path}" if path else "model", module)
    for module in found.values():
        _as(type(module) if isinstance(module, MultiheadAttention) else MultiheadAttention, module, chosen)
    for encoder in model.modules():
        if isinstance(encoder, nn.TransformerEncoder):
            encoder.use_nested_tensor = False
    return len(found)


_M = TypeVar("_M", bound=MultiheadAttention)


def _as(kind: type[_M], module: nn.MultiheadAttention, attention: Attention) -> _M:
    """Return a module of PyTorch's or ours, now of this class and with this attention."""
    module.__class__ = kind
    assert isinstance(module, kind)
    module.attention = attention
    module._qkv_same_embed_dim = False  # see the module's notes on fast paths
    return module


def _check_plain(name: str, module: nn.Module) -> None:
    """Refuse what is no attention, or may do something of its own, which would be lost."""
    kind, forward = type(module), type(module).forward
    if not isinstance(module, nn.MultiheadAttention):
        got = kind.__name__
    elif kind is not nn.MultiheadAttention and forward is not MultiheadAttention.forward:
        got = f"{kind.__name__}, a subclass"
    elif "forward" in vars(module):
        got = "one with another forward"
    else:
        return
    raise ValueError(f"{name}: expected a torch.nn.MultiheadAttention, got {got}")


def _plainly(function: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    return function(x)
