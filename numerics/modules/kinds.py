"""The attentions that the drop-ins choose from: one closed form or solver each, behind one signature.

Each takes queries q (..., n, d), keys k (..., m, d), a temperature τ > 0 and a mask, and returns weights (..., n, m). All
agree on what a score is, s_ij = ⟨q_i, k_j⟩, and on the logits s/τ; they differ in the regularizer or in the marginals.

Claims      eot.18, eot.prop4.2, eot.prop4.3, transport.s3.sinkhorn-attention, transport.s4.linear-attention,
            deciphering.4, deciphering.24, deciphering.25 (what they compute)
Notation    τ = temperature, 1/scale; ρ = relaxation; α = alpha; φ = features
Geometry    Optimal transport and maximum entropy need more than scores: their templates are the keys, and the evidence is q/α.
            So their closed forms at the first order in α are the transported softmax and softmax itself, whatever α is.
Masks       Boolean, True takes part, or floating, added to the logits. A row with nothing left gives zeros. Where keys have
            mass (Sinkhorn, semi-relaxed, optimal transport), a number in the place of −inf is −inf: see ``numerics.masks``.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from numerics import linear, mem, one_sided, ot_attention, regularizers, transport
from numerics.arguments import check_positive
from numerics.masks import of_whole_rows
from numerics.modules.fused import fused_attention
from numerics.priors import log_mask

FeatureMap = Callable[[Tensor], Tensor]
CostFunction = Callable[[Tensor, Tensor], Tensor]


class Attention(ABC):
    """The attention of a drop-in, frozen and without parameters, so that it can be compared, copied and saved with a module.

    Attributes:
        name: of the attention.
        coupled: whether the weights of a query depend on the other queries.
    """

    name: ClassVar[str]
    coupled: ClassVar[bool] = False

    @abstractmethod
    def weights(self, query: Tensor, key: Tensor, temperature: float, mask: Tensor | None) -> Tensor:
        """Return the weights.

        Args:
            query: floating, (..., n, d), n ≥ 1, in the dtype to compute in.
            key: the same, (..., m, d).
            temperature: τ > 0.
            mask: boolean or floating, broadcastable to (..., n, m). See the module's notes.

        Returns:
            (..., n, m).
        """

    def output(self, query: Tensor, key: Tensor, value: Tensor, temperature: float, mask: Tensor | None) -> Tensor:
        """Return W v, (..., n, dv), without returning W. Arguments as for ``weights``."""
        return torch.matmul(self.weights(query, key, temperature, mask), value)

    def quick(self, query: Tensor, key: Tensor, value: Tensor, temperature: float, mask: Tensor | None) -> Tensor | None:
        """Return W v for tensors that need not be finite where masked, or None where that has to be looked at first."""
        return None if mask is not None else self.output(query, key, value, temperature, mask)


@dataclass(frozen=True)
class Softmax(Attention):
    """Scaled dot-product attention."""

    name: ClassVar[str] = "softmax"

    def weights(self, query: Tensor, key: Tensor, temperature: float, mask: Tensor | None) -> Tensor:
        """Return softmax(s/τ + mask)."""
        return one_sided.plan(one_sided.scores_from(query, key), temperature, mask)

    def output(self, query: Tensor, key: Tensor, value: Tensor, temperature: float, mask: Tensor | None) -> Tensor:
        """Return W v, by PyTorch's kernel where it computes the same."""
        fused = self.quick(query, key, value, temperature, mask)
        return super().output(query, key, value, temperature, mask) if fused is None else fused

    def quick(self, query: Tensor, key: Tensor, value: Tensor, temperature: float, mask: Tensor | None) -> Tensor | None:
        """Return W v by PyTorch's kernel, or None."""
        return fused_attention(query, key, value, temperature, mask)


@dataclass(frozen=True)
class Entmax(Attention):
    """α-entmax of the logits.

    Attributes:
        alpha: α > 0; 1 is softmax, 2 is sparsemax.
    """

    alpha: float = 1.5
    name: ClassVar[str] = "entmax"

    def __post_init__(self) -> None:
        check_positive("alpha", self.alpha)

    def weights(self, query: Tensor, key: Tensor, temperature: float, mask: Tensor | None) -> Tensor:
        """Return the α-entmax of s/τ + mask."""
        logits = _logits(query, key, temperature, mask)
        return regularizers.entmax15(logits) if self.alpha == 1.5 else regularizers.entmax_bisect(logits, self.alpha)


@dataclass(frozen=True)
class Sparsemax(Attention):
    """Sparsemax of the logits."""

    name: ClassVar[str] = "sparsemax"

    def weights(self, query: Tensor, key: Tensor, temperature: float, mask: Tensor | None) -> Tensor:
        """Return the sparsemax of s/τ + mask."""
        return regularizers.sparsemax(_logits(query, key, temperature, mask))


@dataclass(frozen=True)
class Sinkhorn(Attention):
    """Softmax, and then half-steps of Sinkhorn's iteration towards an equal share for every key.

    Attributes:
        half_steps: even, so that rows sum to one, or ``math.inf`` for the balanced plan.
    """

    half_steps: float = 4
    name: ClassVar[str] = "sinkhorn"
    coupled: ClassVar[bool] = True

    def __post_init__(self) -> None:
        integer = isinstance(self.half_steps, int) and not isinstance(self.half_steps, bool)
        if self.half_steps != math.inf and not (integer and self.half_steps >= 0 and self.half_steps % 2 == 0):
            raise ValueError(f"half_steps: expected an even integer ≥ 0 or math.inf, got {self.half_steps!r}")

    def weights(self, query: Tensor, key: Tensor, temperature: float, mask: Tensor | None) -> Tensor:
        """Return ``transport.sinkhorn_weights``."""
        return transport.sinkhorn_weights(one_sided.scores_from(query, key), temperature, self.half_steps, mask=mask)


@dataclass(frozen=True)
class SemiRelaxed(Attention):
    """The optimum for a price ρ on unequal shares of the keys: rows that sum to one, solved to rounding.

    Attributes:
        relaxation: ρ/τ > 0; towards 0 it is softmax, towards infinity the balanced plan.
    """

    relaxation: float = 1.0
    name: ClassVar[str] = "semi-relaxed"
    coupled: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_positive("relaxation", self.relaxation)

    def weights(self, query: Tensor, key: Tensor, temperature: float, mask: Tensor | None) -> Tensor:
        """Return ``transport.relaxed_weights``."""
        scores = one_sided.scores_from(query, key)
        return transport.relaxed_weights(scores, temperature, float(self.relaxation) * temperature, mask=mask)


@dataclass(frozen=True)
class Linear(Attention):
    """Linear attention, with a kernel of features of q/√τ and k/√τ.

    Attributes:
        features: φ ≥ 0, from (..., n, d) to (..., n, F); by default 1 + elu.
    """

    features: FeatureMap | None = None
    name: ClassVar[str] = "linear"

    def weights(self, query: Tensor, key: Tensor, temperature: float, mask: Tensor | None) -> Tensor:
        """Return the kernel, times exp(mask), divided by the sum of its row."""
        q, k = self._mapped(query, temperature), self._mapped(key, temperature)
        if mask is None:
            return linear.kernel_weights(q, k)
        if mask.dtype == torch.bool:
            factor = mask.to(q)
        else:
            peak = mask.amax(-1, keepdim=True).detach()
            factor = (mask - torch.where(peak == -torch.inf, 0.0, peak)).exp().to(q)
        kernel = torch.matmul(q, k.mT) * factor
        mass = kernel.sum(-1, keepdim=True)
        return kernel / torch.where(mass == 0, 1.0, mass)

    def output(self, query: Tensor, key: Tensor, value: Tensor, temperature: float, mask: Tensor | None) -> Tensor:
        """Return W v, without W where the mask is one of the keys."""
        of_keys = mask is None or (mask.dtype == torch.bool and mask.ndim > 1 and mask.shape[-2] == 1)
        if not of_keys or value.shape[-1] == 0:
            return super().output(query, key, value, temperature, mask)
        keys = None if mask is None else mask.squeeze(-2).expand(*mask.shape[:-2], key.shape[-2])
        return linear.linear_attention(self._mapped(query, temperature), self._mapped(key, temperature), value, keys)

    def _mapped(self, x: Tensor, temperature: float) -> Tensor:
        root = x / temperature**0.5
        if self.features is not None:
            return self.features(root)
        # Not torch's elu: compiled, its derivative comes back with strides other than were announced (2.13).
        return torch.where(root > 0, 1 + root, root.clamp(max=0).exp())


@dataclass(frozen=True)
class OptimalTransport(Attention):
    """Attention by optimal transport: keys pass on a part of their weight to keys that are near (``deciphering.25``).

    It takes n·m² numbers a head, or m² where the mask is the same for every query.

    Attributes:
        cost: of carrying weight between keys; by default −⟨k_i, k_j⟩.
        exact: whether to solve (24), in float64, instead of evaluating (25).
        alpha: α > 0; without effect unless ``exact``.
    """

    cost: CostFunction | None = None
    exact: bool = False
    alpha: float = 1.0
    name: ClassVar[str] = "optimal-transport"

    def __post_init__(self) -> None:
        check_positive("alpha", self.alpha)

    def weights(self, query: Tensor, key: Tensor, temperature: float, mask: Tensor | None) -> Tensor:
        """Return the transported weights."""
        cost = ot_attention.negative_inner_product(key, key, 0.0) if self.cost is None else self.cost(key, key)
        cost, u = cost.unsqueeze(-3), query.new_ones(1, key.shape[-2])
        if mask is not None:
            added = log_mask(of_whole_rows(mask), query.dtype).expand(*mask.shape[:-1], key.shape[-2])
            u = (added != -torch.inf).to(query)
            cost = cost - temperature * added.unsqueeze(-1)
        u = u / u.sum(-1, keepdim=True).clamp(min=1)
        if not self.exact:
            return ot_attention.transported(one_sided.scores_from(query, key), u, cost, temperature)
        evidence = query / self.alpha
        return ot_attention.solve(key.unsqueeze(-3), evidence, u, cost, self.alpha, temperature).weights


@dataclass(frozen=True)
class MaximumEntropy(Attention):
    """The exact solution of the maximum entropy on the mean, of which softmax is the first order in α (``deciphering.4``).

    Solved in float64, certified row by row. The templates are k/τ, the prior is uniform on what the mask leaves, tilted by it.

    Attributes:
        alpha: α > 0; towards 0 it is softmax.
        tolerance: of λ, relatively to 1 + ‖λ‖.
    """

    alpha: float = 1.0
    tolerance: float = 1e-9
    name: ClassVar[str] = "maximum-entropy"

    def __post_init__(self) -> None:
        check_positive("alpha", self.alpha)

    def weights(self, query: Tensor, key: Tensor, temperature: float, mask: Tensor | None) -> Tensor:
        """Return p*.

        Raises:
            RuntimeError: if a row has no certified solution.
        """
        live = None
        if mask is not None:
            live = (mask if mask.dtype == torch.bool else mask != -torch.inf).any(-1, keepdim=True)
            mask = torch.where(live, mask, True if mask.dtype == torch.bool else 0.0)
        templates = (key / temperature).unsqueeze(-3)
        solution = mem.solve(templates, query / self.alpha, None, self.alpha, mask, tolerance=self.tolerance)
        if not bool(solution.converged.all()):
            raise RuntimeError(
                f"maximum-entropy: {int((~solution.converged).sum())} of {solution.converged.numel()} rows "
                "have no certified solution"
            )
        return solution.weights if live is None else torch.where(live, solution.weights, 0.0)


KINDS: dict[str, type[Attention]] = {
    kind.name: kind for kind in (Softmax, Sparsemax, Entmax, Sinkhorn, SemiRelaxed, Linear, OptimalTransport, MaximumEntropy)
}
"""Every attention by its name."""


def attention_of(attention: str | Attention) -> Attention:
    """Return an attention, with its defaults if it is given by name.

    Raises:
        ValueError: for another name or type.
    """
    if isinstance(attention, Attention):
        return attention
    if not isinstance(attention, str) or attention not in KINDS:
        raise ValueError(f"attention: expected an Attention or one of {', '.join(map(repr, KINDS))}, got {attention!r}")
    return KINDS[attention]()


def _logits(query: Tensor, key: Tensor, temperature: float, mask: Tensor | None) -> Tensor:
    logits = one_sided.scores_from(query, key) / temperature
    return logits if mask is None else logits + log_mask(mask, logits.dtype)
