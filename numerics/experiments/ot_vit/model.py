"""The vision transformer, and the three kinds of attention its last layer can have.

All layers but the last are the usual ones (normalization first).  The only query of the last one is the class token,
which is all that the classifier reads; its keys may include the tokens of a companion image.

Claims      deciphering.tab1
Notation    t = templates, z = evidence, u = prior, M = cost, γ = temperature = √hidden, α = 1
Shapes      images (B, channels, side, side); features (B, 1 + patches, hidden), the class token first; logits (B, classes)
"""

import math
from dataclasses import dataclass
from enum import StrEnum

import torch
from torch import Tensor, nn
from torch.nn import functional

from numerics.ot_attention import OTAttention, negative_inner_product, transported

ALPHA = 1.0


class Kind(StrEnum):
    """The attention of the last layer."""

    ORDINARY = "ordinary"
    """Softmax, with keys and values of their own."""
    TIED = "tied"
    """The layer of ``TRANSPORT`` with M = 0: then (25) is the softmax of α⟨t, z⟩/γ, and templates are keys and values."""
    TRANSPORT = "transport"
    """(25) with M = C − ⟨t_i, t_j⟩, u even on the input's templates."""
    TRANSPORT_EVEN = "transport-even"
    """The same with u even on all templates of T, those of the companion included."""
    TRANSPORT_UNTIED = "transport-untied"
    """Queries, keys and values as in ``ORDINARY``; the templates that M compares are the tokens themselves."""


@dataclass(frozen=True)
class Architecture:
    """Sizes of a vision transformer.

    Attributes:
        side, channels: of the images.
        classes: how many.
        patch: side of a patch, a divisor of ``side``.
        hidden: width of a token, a multiple of ``heads``.
        heads: of every attention.
        mlp: width of the hidden layer of every perceptron.
        layers: ≥ 1.
    """

    side: int
    channels: int
    classes: int
    patch: int
    hidden: int
    heads: int
    mlp: int
    layers: int = 6

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value < 1:
                raise ValueError(f"{name}: expected an integer ≥ 1, got {value}")
        if self.side % self.patch:
            raise ValueError(f"patch: expected a divisor of the side {self.side}, got {self.patch}")
        if self.hidden % self.heads:
            raise ValueError(f"hidden: expected a multiple of the {self.heads} heads, got {self.hidden}")

    @property
    def patches(self) -> int:
        """How many patches an image has."""
        return (self.side // self.patch) ** 2

    @property
    def temperature(self) -> float:
        """γ."""
        return math.sqrt(self.hidden)


class Attention(nn.Module):
    """Multi-head softmax attention with separate keys and values."""

    def __init__(self, hidden: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.to_queries = nn.Linear(hidden, hidden)
        self.to_keys = nn.Linear(hidden, hidden)
        self.to_values = nn.Linear(hidden, hidden)
        self.to_output = nn.Linear(hidden, hidden)

    def forward(self, query: Tensor, tokens: Tensor, extra: Tensor | None = None, extra_mask: Tensor | None = None) -> Tensor:
        """Return the outputs of attention for the queries (B, q, hidden).

        Args:
            query: (B, q, hidden).
            tokens: (B, n, hidden).
            extra: further tokens, (B, m, hidden).
            extra_mask: boolean, expands to (B, m): True takes part.
        """
        seen, mask = joined(tokens, extra, extra_mask)
        q, k, v = (self._split(part) for part in (self.to_queries(query), self.to_keys(seen), self.to_values(seen)))
        scores = torch.matmul(q / math.sqrt(q.shape[-1]), k.mT)  # for so few tokens faster than the fused kernel
        if mask is not None:
            scores = scores.masked_fill(~mask[:, None, None, :], -torch.inf)
        return self._output(scores.softmax(-1), v)

    def _split(self, x: Tensor) -> Tensor:
        """(B, n, hidden) → (B, heads, n, hidden / heads)."""
        return x.reshape(*x.shape[:-1], self.heads, -1).transpose(-3, -2)

    def _output(self, weights: Tensor, values: Tensor) -> Tensor:
        output: Tensor = self.to_output(torch.matmul(weights, values).transpose(-3, -2).flatten(-2))
        return output


class UntiedTransportAttention(Attention):
    """Attention by optimal transport with exactly the parameters of ordinary attention; in float32.

    The templates are the tokens x; the evidence of a head is z = KᵀQy, so that ⟨x_i, z⟩ = ⟨Kx_i, Qy⟩; what the weights
    average goes through V afterwards, or before, which is the same.
    """

    def __init__(self, hidden: int, heads: int, temperature: float) -> None:
        super().__init__(hidden, heads)
        self.temperature = temperature

    def forward(self, query: Tensor, tokens: Tensor, extra: Tensor | None = None, extra_mask: Tensor | None = None) -> Tensor:
        """Return what the queries attend to; arguments as for ``Attention``."""
        with torch.autocast(query.device.type, enabled=False):
            query, tokens = query.float(), tokens.float()
            seen, mask = joined(tokens, None if extra is None else extra.float(), extra_mask)
            q, k, v = (self._split(part) for part in (self.to_queries(query), self.to_keys(seen), self.to_values(seen)))
            cost = negative_inner_product(seen, tokens, constant=0.0)
            if mask is not None:
                cost = cost.masked_fill(~mask.unsqueeze(-1), torch.inf)
            prior = tokens.new_full((tokens.shape[-2],), 1.0 / tokens.shape[-2])
            weights = transported(ALPHA * torch.matmul(q, k.mT), prior, cost[:, None, None], self.temperature)
            return self._output(weights, v)


class TransportAttention(nn.Module):
    """Attention by optimal transport, with the cost and the prior of its kind; in float32."""

    def __init__(self, architecture: Architecture, kind: Kind) -> None:
        super().__init__()
        self.even = kind is Kind.TRANSPORT_EVEN
        self.attention = OTAttention(
            architecture.hidden,
            architecture.heads,
            alpha=ALPHA,
            temperature=architecture.temperature,
            cost=no_cost if kind is Kind.TIED else "inner_product",
        )

    def forward(self, query: Tensor, tokens: Tensor, extra: Tensor | None = None, extra_mask: Tensor | None = None) -> Tensor:
        """Return what the queries attend to; arguments as for ``Attention``."""
        with torch.autocast(query.device.type, enabled=False):
            query, tokens = query.float(), tokens.float()
            if extra is None:
                output: Tensor = self.attention(query, tokens)
            elif self.even:
                seen, mask = joined(tokens, extra.float(), extra_mask)
                output = self.attention(query, seen, mask=mask)
            else:
                output = self.attention(query, tokens, extra.float(), extra_mask=extra_mask)
            return output


def no_cost(templates: Tensor, sources: Tensor) -> Tensor:
    """M = 0, (..., N, n)."""
    return templates.new_zeros(*templates.shape[:-1], sources.shape[-2])


def joined(tokens: Tensor, extra: Tensor | None, extra_mask: Tensor | None) -> tuple[Tensor, Tensor | None]:
    """Return both sets of tokens as one, (B, n + m, hidden), and its boolean mask, (B, n + m)."""
    if extra is None:
        return tokens, None
    ours = torch.ones(tokens.shape[:-1], dtype=torch.bool, device=tokens.device)
    theirs = ours.new_ones(extra.shape[:-1]) if extra_mask is None else extra_mask.expand(extra.shape[:-1])
    return torch.cat([tokens, extra], -2), torch.cat([ours, theirs], -1)


class Layer(nn.Module):
    """The rest of a transformer layer: two normalizations and a perceptron."""

    def __init__(self, hidden: int, mlp: int) -> None:
        super().__init__()
        self.before = nn.LayerNorm(hidden)
        self.between = nn.LayerNorm(hidden)
        self.perceptron = nn.Sequential(nn.Linear(hidden, mlp), nn.GELU(), nn.Linear(mlp, hidden))

    def after(self, x: Tensor) -> Tensor:
        """The perceptron's half of the layer."""
        output: Tensor = x + self.perceptron(self.between(x))
        return output


class VisionTransformer(nn.Module):
    """A vision transformer with a class token.

    The attention of the last layer is made last, so that from one seed all kinds start with the same other weights.
    """

    def __init__(self, architecture: Architecture, kind: Kind) -> None:
        super().__init__()
        a = self.architecture = architecture
        self.to_tokens = nn.Linear(a.channels * a.patch**2, a.hidden)
        self.class_token = nn.Parameter(torch.zeros(a.hidden))
        self.positions = nn.Parameter(0.02 * torch.randn(1 + a.patches, a.hidden))
        self.layers = nn.ModuleList(Layer(a.hidden, a.mlp) for _ in range(a.layers))
        self.attentions = nn.ModuleList(Attention(a.hidden, a.heads) for _ in range(a.layers - 1))
        self.norm = nn.LayerNorm(a.hidden)
        self.head = nn.Linear(a.hidden, a.classes)
        self.apply(initialize)
        self.last = last_attention(a, kind).apply(initialize)

    def features(self, images: Tensor) -> Tensor:
        """Return the tokens of images as they enter the last layer, floating, (B, 1 + patches, hidden)."""
        a = self.architecture
        patches = functional.unfold(images, a.patch, stride=a.patch).transpose(-2, -1)
        tokens = self.to_tokens(patches)
        x = torch.cat([self.class_token.expand(len(tokens), 1, -1), tokens], 1) + self.positions
        for index, attention in enumerate(self.attentions):
            layer = self._layer(index)
            seen = layer.before(x)
            x = layer.after(x + attention(seen, seen))
        return x

    def classify(self, x: Tensor, extra: Tensor | None = None, extra_mask: Tensor | None = None) -> Tensor:
        """Return logits from ``features``, those of companions given besides; arguments as for ``Attention``."""
        layer = self._layer(-1)
        others = None if extra is None else layer.before(extra)
        y = layer.after(x[:, :1] + self.last(*self.query_and_tokens(x), others, extra_mask))
        logits: Tensor = self.head(self.norm(y[:, 0]))
        return logits

    def query_and_tokens(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return the query of the last attention, (B, 1, hidden), and the tokens that it sees."""
        seen = self._layer(-1).before(x)
        return seen[:, :1], seen

    def forward(self, images: Tensor) -> Tensor:
        """Return logits (B, classes) of images (B, channels, side, side), from their own templates alone."""
        return self.classify(self.features(images))

    def _layer(self, index: int) -> Layer:
        layer = self.layers[index]
        assert isinstance(layer, Layer)
        return layer


def initialize(module: nn.Module) -> None:
    """The same start for every projection, whichever attention it belongs to."""
    if isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
        nn.init.zeros_(module.bias)


def last_attention(architecture: Architecture, kind: Kind) -> nn.Module:
    """The attention of the last layer."""
    hidden, heads = architecture.hidden, architecture.heads
    if kind is Kind.ORDINARY:
        return Attention(hidden, heads)
    if kind is Kind.TRANSPORT_UNTIED:
        return UntiedTransportAttention(hidden, heads, architecture.temperature)
    return TransportAttention(architecture, kind)


def parameters(architecture: Architecture, kind: Kind) -> int:
    """How many parameters a model has, counted on the model itself."""
    with torch.device("meta"):
        return sum(parameter.numel() for parameter in VisionTransformer(architecture, kind).parameters())
