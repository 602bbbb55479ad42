"""The layer: multi-head attention by optimal transport, with templates that need not be in the input.

Claims      deciphering.25, and the layer of deciphering.tab1
Notation    t = W_t x, one template a token of the input and one a token given besides; z = W_z y, the evidence of a query y;
            u = prior, on the templates of the input; n = their number; m = number of templates given besides; N = n + m
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from numerics import arguments
from numerics.masks import with_infinities
from numerics.ot_attention.costs import negative_inner_product, squared_distance
from numerics.ot_attention.exact import solve
from numerics.ot_attention.transport import transported

_TILE_NUMBERS = 2**22
"""The largest number of entries of an array of the closed form, unless a single source has more or the cost is a function."""

CostFunction = Callable[[Tensor, Tensor], Tensor]


def _inner_product(templates: Tensor, sources: Tensor) -> Tensor:
    """M = C − ⟨t_i, t_j⟩ with C = 0, since no weight depends on C."""
    return negative_inner_product(templates, sources, constant=0.0)


_COSTS: dict[str, CostFunction] = {"inner_product": _inner_product, "squared_distance": squared_distance}


class OTAttention(nn.Module):
    """Multi-head attention whose weights solve (24): by the closed form (25), or exactly.

    For each head and query, the prior sits on the templates of the input, and the weights on these and on the templates
    that are given besides, as far as the cost lets them.
    """

    def __init__(
        self,
        dim: int,
        num_heads: int = 1,
        *,
        alpha: float = 1.0,
        temperature: float | None = None,
        cost: str | CostFunction = "inner_product",
        exact: bool = False,
        bias: bool = True,
    ) -> None:
        """Set up the projections.

        Args:
            dim: width of the tokens, a multiple of ``num_heads``.
            num_heads: ≥ 1.
            alpha: positive.
            temperature: γ, positive; by default √(dim / num_heads).
            cost: ``"inner_product"``, M_ij = C − ⟨t_i, t_j⟩; ``"squared_distance"``, ‖t_i − t_j‖²; ``"learned"``,
                −⟨t_i, A t_j⟩ with a matrix A for each head, at first the identity; or a function of the templates
                (..., N, d) and the sources (..., n, d) that returns (..., N, n), which is then made as a whole.
            exact: whether to solve (24) instead of evaluating (25).
            bias: whether the projections have one.

        Raises:
            ValueError: for other numbers or another cost.
        """
        super().__init__()
        arguments.check_count("num_heads", num_heads)
        if not isinstance(dim, int) or dim < 1 or dim % num_heads:
            raise ValueError(f"dim: expected a positive multiple of num_heads = {num_heads}, got {dim!r}")
        if not (callable(cost) or cost == "learned" or cost in _COSTS):
            raise ValueError(f"cost: expected a function, 'learned', or one of {', '.join(map(repr, _COSTS))}, got {cost!r}")
        self.num_heads, self.width = num_heads, dim // num_heads
        self.alpha = arguments.check_positive("alpha", alpha)
        tau = math.sqrt(self.width) if temperature is None else temperature
        self.temperature = arguments.check_positive("temperature", tau)
        self.exact = exact
        self.metric: nn.Parameter | None = None
        if cost == "learned":
            self.metric = nn.Parameter(torch.eye(self.width).repeat(num_heads, 1, 1))
        self.cost = cost
        self.to_templates = nn.Linear(dim, dim, bias=bias)
        self.to_evidence = nn.Linear(dim, dim, bias=bias)
        self.to_output = nn.Linear(dim, dim, bias=bias)

    def forward(
        self,
        query: Tensor,
        tokens: Tensor,
        extra: Tensor | None = None,
        *,
        prior: Tensor | None = None,
        mask: Tensor | None = None,
        extra_mask: Tensor | None = None,
    ) -> Tensor:
        """Return the outputs of attention for the queries.

        Args:
            query: floating, (..., q, dim).
            tokens: of the input, floating, (..., n, dim).
            extra: tokens besides the input's, floating, (..., m, dim).
            prior: u, nonnegative, (..., n) for all queries and heads; what is masked in it is left out, and the rest
                divided by its sum. By default even.
            mask: boolean or floating, (..., n): True takes part; floating, added to the scores α⟨t_i, z⟩/γ. What stands for
                −inf in it is −inf: ``masks.with_infinities``.
            extra_mask: the same for ``extra``, (..., m).

        Returns:
            (..., q, dim), in the dtype of ``query``, or that of autocast. Where all tokens of the input are masked, the weights
            are zero.

        Raises:
            ValueError: for a shape or dtype other than these.
        """
        weights, templates = self.weights(query, tokens, extra, prior=prior, mask=mask, extra_mask=extra_mask)
        heads = torch.matmul(weights, templates)
        output: Tensor = self.to_output(heads.transpose(-3, -2).flatten(-2))
        return output

    def weights(
        self,
        query: Tensor,
        tokens: Tensor,
        extra: Tensor | None = None,
        *,
        prior: Tensor | None = None,
        mask: Tensor | None = None,
        extra_mask: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Return the weights, (..., heads, q, n + m), and the templates they belong to, (..., heads, n + m, dim / heads).

        Arguments and errors as for ``forward``.
        """
        self._check(query, tokens, extra)
        scores = _scores("mask", mask, tokens)
        u = _prior(prior, tokens, scores)[..., None, None, :]
        templates = sources = self._templates(tokens, scores)
        if extra is not None:
            more = _scores("extra_mask", extra_mask, extra)
            templates = torch.cat([sources, self._templates(extra, more)], -2)
            scores = torch.cat([scores, more], -1)
        evidence = self._split(self.to_evidence(query))
        return self._weights(evidence, templates, sources, u, scores), templates

    @arguments.without_autocast
    def _weights(self, evidence: Tensor, templates: Tensor, sources: Tensor, u: Tensor, scores: Tensor) -> Tensor:
        if evidence.dtype != scores.dtype:  # projected under autocast
            evidence, templates, sources = evidence.to(scores), templates.to(scores), sources.to(scores)
        if not self.exact:
            g = self.alpha * torch.matmul(evidence, templates.mT)
            return self._carried(g, u, templates, sources, scores)
        cost = self._added(self._cost(templates, sources), scores)
        return solve(templates.unsqueeze(-3), evidence, u, cost, self.alpha, self.temperature).weights

    def _carried(self, g: Tensor, u: Tensor, templates: Tensor, sources: Tensor, scores: Tensor) -> Tensor:
        """Return the weights of (25), some sources at a time; they do not interact."""

        def carried(g: Tensor, u: Tensor, templates: Tensor, block: Tensor) -> Tensor:
            return transported(g, u, self._added(self._cost(templates, block), scores), self.temperature)

        size = max(1, _TILE_NUMBERS // max(1, g.numel()))
        if size >= sources.shape[-2] or callable(self.cost):
            return carried(g, u, templates, sources)
        wide = g.to(arguments.compute_dtype(g.dtype))
        total = torch.zeros_like(wide)
        for start in range(0, sources.shape[-2], size):
            part = slice(start, start + size)
            tile = wide, u[..., part], templates, sources[..., part, :]
            # Tensors saved for the backward pass would add up to the matrix: they are recomputed.
            total = total + (checkpoint(carried, *tile, use_reentrant=False) if torch.is_grad_enabled() else carried(*tile))
        return total.to(g.dtype)

    def _added(self, cost: Tensor, scores: Tensor) -> Tensor:
        """Return M for all queries. A floating mask b changes (α⟨t, z⟩ − M)/γ by b where M changes by −γb; what is masked costs
        +inf."""
        return (cost - self.temperature * scores[..., None, :, None]).unsqueeze(-3)

    def extra_repr(self) -> str:
        """Describe the settings that are not parameters."""
        return f"num_heads={self.num_heads}, alpha={self.alpha}, temperature={self.temperature}, exact={self.exact}"

    def _templates(self, tokens: Tensor, scores: Tensor) -> Tensor:
        """Return the templates by heads. Masked ones are replaced: not even a NaN in them has an effect, here or backwards."""
        return self._split(self.to_templates(tokens.masked_fill((scores == -torch.inf).unsqueeze(-1), 0.0)))

    def _cost(self, templates: Tensor, sources: Tensor) -> Tensor:
        if self.metric is not None:
            return _inner_product(templates, torch.matmul(sources, self.metric.mT))
        function = _COSTS[self.cost] if isinstance(self.cost, str) else self.cost
        return function(templates, sources)

    def _split(self, x: Tensor) -> Tensor:
        """(..., n, dim) → (..., heads, n, dim / heads)."""
        return x.reshape(*x.shape[:-1], self.num_heads, self.width).transpose(-3, -2)

    def _check(self, query: Tensor, tokens: Tensor, extra: Tensor | None) -> None:
        dim = self.num_heads * self.width
        for name, x in (("query", query), ("tokens", tokens), ("extra", extra)):
            if x is None:
                continue
            arguments.floating(name, x, "n", "dim", last=dim)
            if x.shape[:-2] != query.shape[:-2]:
                raise ValueError(
                    f"{name}: expected the leading dimensions {tuple(query.shape[:-2])} of the query, got {tuple(x.shape)}"
                )


def _scores(name: str, mask: Tensor | None, tokens: Tensor) -> Tensor:
    """Return a mask as a term added to the scores, in the shape of the tokens."""
    shape = tokens.shape[:-1]
    if mask is None:
        return tokens.new_zeros(shape)
    mask = arguments.check_mask_dtype(name, mask, tokens)
    arguments.check_expands(name, mask, shape)
    full = with_infinities(mask).expand(shape)
    if full.dtype == torch.bool:
        return tokens.new_zeros(shape).masked_fill(~full, -torch.inf)
    return full.to(tokens.dtype)


def _prior(prior: Tensor | None, tokens: Tensor, scores: Tensor) -> Tensor:
    """Return the prior on the tokens that are not masked, summing to one where there are any."""
    shape = tokens.shape[:-1]
    if prior is None:
        prior = tokens.new_ones(shape)
    else:
        arguments.floating("prior", prior, "n", last=shape[-1])
        arguments.check_expands("prior", prior, shape)
    u = torch.where(scores == -torch.inf, 0.0, prior.to(tokens.dtype).expand(shape))
    total = u.sum(-1, keepdim=True)
    return u / torch.where(total > 0, total, 1.0)
