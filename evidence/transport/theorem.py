"""The transport chapter's sections 0 and 2 in torch: the theorem, the lemma, the proof, the physical reading."""

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from evidence.instances.attention import WIDTH, AttentionProblem, by_pot
from evidence.instances.derivatives import jacobian
from numerics import one_sided
from numerics.transport import one_sided_plan

ROOT = WIDTH**0.5


def solution(scores: Tensor, epsilon: float) -> dict[str, Tensor]:
    """The plan with unit rows for these scores, by three routes."""
    mass = torch.ones_like(scores[:, 0])
    return {
        "closed_form": one_sided.plan(scores, epsilon),
        "pot": by_pot(scores, epsilon),
        "one_sided_plan": one_sided_plan(-scores, mass, temperature=epsilon),
    }


def weights(x: AttentionProblem, epsilon: float) -> Tensor:
    """Shipped attention with the identity for values."""
    return scaled_dot_product_attention(
        x["Q"], x["K"], torch.eye(x.m, dtype=torch.float64, device=x.device), scale=1 / (ROOT * epsilon)
    )


def slopes(x: AttentionProblem) -> Tensor:
    """∂S_ij/∂Q_ir."""
    keys = x["K"]
    return torch.einsum("ijir->ijr", jacobian(lambda query: one_sided.scores_from(query, keys) / ROOT, x["Q"]))
