"""Votes on: Section 6 of the earlier version: is α small in practice?"""

from evidence import Layer, Observed
from evidence.models.small_alpha import of_attention, root_alpha

VOTES = [Observed("inference.s6.small-alpha-in-practice", Layer.TORCH, of_attention(root_alpha))]
