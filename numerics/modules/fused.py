"""Softmax attention by PyTorch's fused kernel for the CPU, with derivatives of every order.

The kernel does not keep the weights, and its own derivative has none. So backwards they are computed again, in operations that
can be differentiated, as ``flash.tiled_gradients`` does.

Limits      The kernel makes NaN of scores beyond the range of the dtype. Where its result has NaN in it, and under
            ``torch.func`` and forward differentiation, which it does not know, there is none from here, and the weights are
            computed as they are elsewhere.
"""

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from numerics import one_sided
from numerics.arguments import known_true, on_cpu, transformed, without_autocast
from numerics.masks import shielded, spoiled


def fused_attention(query: Tensor, key: Tensor, value: Tensor, temperature: float, mask: Tensor | None) -> Tensor | None:
    """Return softmax attention, (..., n, dv), or None where it has to be computed from its weights.

    Arguments as for ``kinds.Attention.output``.
    """
    inputs = [x for x in (query, key, value, mask) if x is not None]
    if not on_cpu(query) or transformed(*inputs):
        return None
    if mask is not None:
        lead = zip(reversed(mask.shape[:-2]), reversed(query.shape[:-2]), strict=False)
        if mask.ndim > query.ndim or any(a not in (1, b) for a, b in lead):
            return None
        mask = mask if mask.dtype == torch.bool else mask.to(query)
    output: Tensor = _Fused.apply(query, key, value, mask, temperature)  # type: ignore[no-untyped-call]
    return output if known_true(~output.isnan()) else None


class _Fused(torch.autograd.Function):
    """The kernel, with a derivative that can be differentiated."""

    @staticmethod
    def forward(ctx: Any, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, temperature: float) -> Tensor:
        ctx.save_for_backward(query, key, value, mask)
        ctx.temperature = temperature
        return scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=1 / temperature)

    @staticmethod
    @without_autocast
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (gradient,), (query, key, value, mask) = gradients, ctx.saved_tensors
        seen = None
        if mask is not None:
            (query, key), seen = shielded(mask, query, key)
            (value,), _ = shielded(mask, None, value)
        plan = spoiled(one_sided.plan(one_sided.scores_from(query, key), ctx.temperature, mask), seen)
        slope = one_sided.score_gradient(plan, -torch.matmul(gradient, value.mT), ctx.temperature)
        slopes = [torch.matmul(slope, key), torch.matmul(slope.mT, query), torch.matmul(plan.mT, gradient)]
        if ctx.needs_input_grad[3]:
            slopes.append(ctx.temperature * slope)
        parts = zip((query, key, value, mask), slopes, strict=False)
        reduced = [part.sum_to_size(x.shape) for x, part in parts]
        return (*reduced, *[None] * (5 - len(reduced)))
