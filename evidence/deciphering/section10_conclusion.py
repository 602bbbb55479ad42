"""Votes on: Section 10: what the conclusion sums up."""

from evidence import Layer, Sampled
from evidence.deciphering.transport_sharing import inputs, weights

VOTES = [Sampled("deciphering.s10.support-removed", Layer.TORCH, weights, on=inputs())]
