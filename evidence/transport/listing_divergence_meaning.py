"""Votes on: The listing `compute_attention_ot_divergence`: what its value is claimed to measure."""

import torch

from evidence import Layer, Reading, Sampled
from evidence.transport.listing import PAIRS, Tokens
from numerics import transport


def from_attention(x: Tokens) -> Reading:
    """The divergence from softmax of a plan with both marginals: a certified one of other costs, or of the scores."""
    mass, scores = x["a"], x["O"]
    cost = -scores if x.seed % 3 else x["C"] @ x["C"].mT / 4
    plan = transport.sinkhorn(cost, mass, mass, x.epsilon).plan
    weights = mass[:, None] * torch.softmax(scores / x.epsilon, -1)
    divergence = (plan * (plan / weights).log()).sum() + weights.sum() - plan.sum()
    return x.reading(x.point(a=mass, S=scores, P=plan), scores, plan=divergence)


VOTES = [
    Sampled(
        "transport.listing.compute_attention_ot_divergence.deviation",
        Layer.TORCH,
        from_attention,
        on=PAIRS,
        corrected=from_attention,
    )
]
