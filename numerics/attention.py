"""Generalized attention: the closed form (18) as a multi-head layer.

Attention estimates the mean of an unknown distribution p on templates t_i, given a prior u and evidence z on how far that
mean lies from the mean of u. To first order in α the estimate is  ĥ = Σ_i p_i t_i  with  p_i ∝ u_i exp(α⟨t_i, z⟩),  and a
head of a transformer is that formula: with inputs x_i and y, projections Q, K, V with biases, and scores scaled by ρ
(1/√d′ for BERT, 1 for T5),

    ρ⟨K x_i + b_K, Q y + b_Q⟩ = ⟨ρ x_i, Kᵀ(Q y + b_Q)⟩ + ρ⟨b_K, Q y + b_Q⟩
                                 t_i      z                 the same for every i: softmax does not see it
    Σ_i p_i (V x_i + b_V)     = (V/ρ) Σ_i p_i t_i + b_V     since Σ_i p_i = 1

So the bias of the keys drops out, the bias of the queries moves every z by Kᵀb_Q, and the bias of the values is added to
the output. Masks, causality, relative positions and the contents of the inputs all enter through u alone.

Claims      deciphering.18, deciphering.19, deciphering.20, deciphering.21, deciphering.22
            inference.20, inference.21, inference.22, inference.23
Notation    t = templates; z = evidence; u = prior; α = alpha; ρ = scale; b = position bias; d′ = head_width
Shapes      Inputs are (..., Q, width) and (..., M, source_width). Heads H come third from the right: weights are
            (..., H, Q, M), and a mask broadcasts to that.
Conventions ``numerics.arguments``. A floating mask is added to log u; a row with nothing left gives zero.
"""

from dataclasses import dataclass
from typing import Any, Protocol, Self

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from numerics.arguments import (
    broadcast,
    broadcastable,
    check_expands,
    check_mask_dtype,
    check_positive,
    common,
    floating,
    without_autocast,
)
from numerics.masks import allowed_by, shielded, spoiled, used_only
from numerics.priors import RelativePositions, T5Attention, causal_mask, log_mask, tilted


@without_autocast
def attention_weights(templates: Tensor, evidence: Tensor, log_prior: Tensor, alpha: float = 1.0) -> Tensor:
    """Return p_i = u_i exp(α⟨t_i, z⟩) / Σ_j u_j exp(α⟨t_j, z⟩) for every query (``deciphering.18``).

    Args:
        templates: t, floating, (..., M, d).
        evidence: z, floating, (..., Q, d).
        log_prior: log u, not necessarily normalized, floating, broadcastable to (..., Q, M); −inf makes a weight exactly
            zero, and a row of −inf makes all of them zero.
        alpha: positive.

    Returns:
        (..., Q, M), in the dtype of ``evidence``.

    Raises:
        ValueError: for other shapes or dtypes, or if ``alpha`` is not a positive number.
    """
    check_positive("alpha", alpha)
    t, z, prior = floating("templates", templates), floating("evidence", evidence), floating("log_prior", log_prior)
    if t.ndim < 2 or z.ndim < 2 or t.shape[-1] != z.shape[-1] or not broadcastable(t.shape[:-2], z.shape[:-2]):
        raise ValueError(f"templates: expected (..., M, d) that goes with evidence {tuple(z.shape)}, got {tuple(t.shape)}")
    t, z, prior = common(t, z, prior)
    shape = (*broadcast(templates=t.shape[:-2], evidence=z.shape[:-2]), z.shape[-2], t.shape[-2])
    check_expands("log_prior", prior, shape)
    (z, t), seen = shielded(prior.expand(shape), z, t)
    # A common offset of the templates changes no weight; subtracting it saves digits.
    used = (prior.expand(shape) != -torch.inf).any(-2).to(t).sum_to_size(t.shape[:-1]) > 0
    supported = torch.where(used.unsqueeze(-1), t, 0.0).detach()
    center = (supported / used.sum(-1).clamp(min=1)[..., None, None]).sum(-2, keepdim=True)
    return spoiled(tilted(prior, alpha * (z @ (t - center).mT)), seen).to(evidence.dtype)


class BertAttention(Protocol):
    """The attributes of BERT's self-attention module in transformers that are used."""

    query: nn.Linear
    key: nn.Linear
    value: nn.Linear
    num_attention_heads: int
    is_causal: bool


@dataclass(frozen=True, eq=False)
class MeanProblem:
    """The problem  min over p of  (α/2)‖μ_u + z − E_p[t]‖² + KL(p ‖ u)  of every head and query (``deciphering.4``).

    Attributes:
        templates: t, (..., H, Q, M, d): views of the same M templates.
        evidence: z, (..., H, Q, d).
        prior: u, (..., H, Q, M); sums to one, or is zero throughout where nothing takes part.
        alpha: α > 0.
    """

    templates: Tensor
    evidence: Tensor
    prior: Tensor
    alpha: float


class GeneralizedAttention(nn.Module):
    """Multi-head attention computed as the estimate (18), one problem for each head and query.

    It costs d/d′ times what the factored form of a transformer costs, because templates and evidence live in the space of
    the inputs: a reference and a source of problems, not a fast kernel.

    Args:
        width: of the input that the queries come from.
        heads: H.
        head_width: d′; ``width // heads`` if not given.
        source_width: of the input that the templates come from; ``width`` if not given.
        scale: ρ; 1/√d′ if not given.
        bias: whether queries and values (and the output) have biases. One of the keys would have no effect.
        output: whether a last linear map merges the heads; otherwise they are concatenated.
        position: a log prior from relative positions, possibly shared with other layers.
        content: a module from the source (..., M, source_width) to one log weight per template and head, (..., M, H).
        causal: whether u is zero on the templates after the query.

    Raises:
        ValueError: if a size or the scale is not positive, or the position table is for another number of heads.
    """

    def __init__(
        self,
        width: int,
        heads: int,
        *,
        head_width: int | None = None,
        source_width: int | None = None,
        scale: float | None = None,
        bias: bool = True,
        output: bool = True,
        position: RelativePositions | None = None,
        content: nn.Module | None = None,
        causal: bool = False,
    ) -> None:
        super().__init__()
        check_positive("heads", heads)
        self.heads = heads
        self.head_width = width // heads if head_width is None else head_width
        check_positive("head_width", self.head_width)
        self.scale = self.head_width**-0.5 if scale is None else scale
        check_positive("scale", self.scale)
        if position is not None and position.table.shape[1] != heads:
            raise ValueError(f"position: expected a table for {heads} heads, got one for {position.table.shape[1]}")
        inner, source = self.heads * self.head_width, width if source_width is None else source_width
        self.query = nn.Linear(width, inner, bias=bias)
        self.key = nn.Linear(source, inner, bias=False)
        self.value = nn.Linear(source, inner, bias=bias)
        self.output = nn.Linear(inner, width, bias=bias) if output else None
        self.position = position
        self.content = content
        self.causal = causal

    @classmethod
    def from_bert(cls, attention: BertAttention) -> Self:
        """Share the projections of a BERT self-attention module, whose scores are divided by √d′; no output map.

        Raises:
            ValueError: if ``attention`` has no such projections.
        """
        query, key, value = _projections(attention, "query", "key", "value")
        return cls._sharing(query, key, value, None, attention.num_attention_heads, None, None, attention.is_causal)

    @classmethod
    def from_t5(cls, attention: T5Attention, position: RelativePositions | None = None) -> Self:
        """Share the projections of a T5 attention module, whose scores are not divided by √d′.

        Args:
            attention: encoder self-attention, decoder self-attention or cross-attention.
            position: the table of the first layer of the stack, for a self-attention layer without one of its own;
                cross-attention has none.

        Raises:
            ValueError: if ``attention`` has no such projections, or has a table while ``position`` is given.
        """
        query, key, value, output = _projections(attention, "q", "k", "v", "o")
        if attention.has_relative_attention_bias:
            if position is not None:
                raise ValueError("position: expected None for a layer that has a table of its own, got a table")
            position = RelativePositions.from_t5(attention)
        return cls._sharing(query, key, value, output, attention.n_heads, 1.0, position, attention.is_causal)

    @classmethod
    def _sharing(
        cls,
        query: nn.Linear,
        key: nn.Linear,
        value: nn.Linear,
        output: nn.Linear | None,
        heads: int,
        scale: float | None,
        position: RelativePositions | None,
        causal: bool,
    ) -> Self:
        with torch.device("meta"):  # no weights of its own: they are replaced at once
            layer = cls(
                query.in_features,
                heads,
                head_width=query.out_features // heads,
                source_width=key.in_features,
                scale=scale,
                output=output is not None,
                position=position,
                causal=causal,
            )
        layer.query, layer.key, layer.value, layer.output = query, key, value, output
        return layer

    @without_autocast
    def forward(self, hidden: Tensor, source: Tensor | None = None, mask: Tensor | None = None) -> Tensor:
        """Return the output of every query.

        Args:
            hidden: what the queries come from, floating, (..., Q, width).
            source: what the templates come from, floating, (..., M, source_width); ``hidden`` if not given.
            mask: boolean or floating, broadcastable to (..., H, Q, M). See the module's notes.

        Returns:
            (..., Q, width), or (..., Q, H·d′) without an output map, in the dtype of ``hidden``.

        Raises:
            ValueError: for another shape or dtype.
        """
        templates, evidence, log_prior = self._ingredients(hidden, source, mask)
        weights = attention_weights(templates, evidence, log_prior)
        (templates,), seen = shielded(log_prior.expand(weights.shape), None, templates)
        mean = spoiled(weights @ templates, seen)
        return self.readout(mean, (log_prior != -torch.inf).any(-1)).to(hidden.dtype)

    @without_autocast
    def weights(self, hidden: Tensor, source: Tensor | None = None, mask: Tensor | None = None) -> Tensor:
        """Return the attention weights, (..., H, Q, M); arguments and errors as for ``forward``."""
        return attention_weights(*self._ingredients(hidden, source, mask)).to(hidden.dtype)

    @without_autocast
    def problem(
        self, hidden: Tensor, source: Tensor | None = None, mask: Tensor | None = None, alpha: float = 1.0
    ) -> MeanProblem:
        """Return the problems whose first-order solutions this layer computes.

        (18) only sees αz. For every α, evidence z/α gives the same layer but a different problem: the smaller α, the closer
        its exact solution is to (18).

        Args:
            hidden: as for ``forward``.
            source: as for ``forward``.
            mask: as for ``forward``.
            alpha: positive.

        Raises:
            ValueError: as for ``forward``, or if ``alpha`` is not a positive number.
        """
        check_positive("alpha", alpha)
        templates, evidence, log_prior = self._ingredients(hidden, source, mask)
        shape = (*evidence.shape[:-1], templates.shape[-2])
        prior = tilted(log_prior, torch.zeros_like(log_prior)).expand(shape)
        return MeanProblem(templates.unsqueeze(-3).expand(*shape, -1), evidence / alpha, prior, alpha)

    @without_autocast
    def readout(self, mean: Tensor, live: Tensor | None = None) -> Tensor:
        """Return the layer's output for means ĥ, however they were estimated: V′ĥ + b_V for each head, then merged.

        Args:
            mean: ĥ, floating, (..., H, Q, source_width).
            live: boolean, broadcastable to (..., H, Q): where the prior is not zero throughout. Elsewhere a head gives zero.

        Raises:
            ValueError: for another shape or dtype.
        """
        h = floating("mean", mean)
        if h.ndim < 3 or h.shape[-3] != self.heads or h.shape[-1] != self.value.in_features:
            raise ValueError(f"mean: expected (..., {self.heads}, Q, {self.value.in_features}), got {tuple(mean.shape)}")
        merged = h @ self._per_head(self.value.weight).to(h).mT / self.scale
        if self.value.bias is not None:
            merged = merged + self.value.bias.to(h).view(self.heads, 1, self.head_width)
        if live is not None:
            merged = torch.where(live.unsqueeze(-1), merged, 0.0)
        merged = merged.transpose(-2, -3).flatten(-2)
        if self.output is not None:
            merged = linear(merged, self.output.weight.to(h), None if self.output.bias is None else self.output.bias.to(h))
        return merged.to(mean.dtype)

    def _ingredients(self, hidden: Tensor, source: Tensor | None, mask: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
        """Return t (..., 1, M, d), z (..., H, Q, d) and log u, broadcastable to (..., H, Q, M)."""
        y = self._sequence("hidden", hidden, self.query.in_features)
        x = self._sequence("source", hidden if source is None else source, self.key.in_features)
        if mask is not None:
            mask = check_mask_dtype("mask", mask, y)
            shape = (*x.shape[:-2], self.heads, y.shape[-2], x.shape[-2])
            check_expands("mask", mask, shape)
            x = used_only(x, allowed_by(mask).expand(shape).any(-2).any(-2))
        query = linear(y, self.query.weight.to(y), None if self.query.bias is None else self.query.bias.to(y))
        query = query.reshape(*y.shape[:-1], self.heads, self.head_width).transpose(-2, -3)
        evidence = query @ self._per_head(self.key.weight).to(y)
        return self.scale * x.unsqueeze(-3), evidence, self._log_prior(y, x, mask)

    def _log_prior(self, y: Tensor, x: Tensor, mask: Tensor | None) -> Tensor:
        queries, templates = y.shape[-2], x.shape[-2]
        total = y.new_zeros(1, 1, templates)
        if self.position is not None:
            total = total + self.position(queries, templates).to(y)
        if self.content is not None:
            content = self.content(x)
            if content.shape != (*x.shape[:-1], self.heads):
                raise ValueError(f"content: expected log weights {(*x.shape[:-1], self.heads)}, got {tuple(content.shape)}")
            total = total + content.to(y).mT.unsqueeze(-2)
        if self.causal:
            total = total + log_mask(causal_mask(queries, templates, y.device), y.dtype)
        if mask is not None:
            total = total + log_mask(mask, y.dtype).to(y)
        return total

    def _per_head(self, weight: Tensor) -> Tensor:
        return weight.reshape(self.heads, self.head_width, -1)

    def _sequence(self, name: str, x: Tensor, width: int) -> Tensor:
        wide = floating(name, x)
        if x.ndim < 2 or x.shape[-1] != width or 0 in x.shape:
            raise ValueError(f"{name}: expected (..., length, {width}), got {tuple(x.shape)}")
        return wide


def _projections(attention: object, *names: str) -> list[Any]:
    layers = [getattr(attention, name, None) for name in names]
    if not all(isinstance(x, nn.Linear) for x in layers):
        raise ValueError(f"attention: expected a module with linear maps {', '.join(names)}, got {type(attention).__name__}")
    return layers
