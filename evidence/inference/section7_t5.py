"""Votes on: Section 7: T5 as a realization of (21) with τ = d."""

from evidence import Layer, Observed, Reading, Sampled, confirms
from evidence.deciphering.attention import estimates, t5
from evidence.instances.heads import Head, drawn_heads
from evidence.source import heads


@confirms(Layer.TORCH, "inference.23", on=drawn_heads(), count=12)
def with_divided_scores(head: Head) -> Reading:
    return estimates(head, head.d**-0.5)


VOTES = [
    Sampled("inference.s7.t5-structure", Layer.TORCH, t5, on=drawn_heads(), count=12),
    Observed("inference.s7.t5-structure", Layer.SOURCE, heads.t5_heads_as_printed),
]
