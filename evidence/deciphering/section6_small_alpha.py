"""Votes on: Section 6: is α small in practice?"""

from evidence import Layer, Observed
from evidence.models.small_alpha import of_attention, unit_alpha

VOTES = [Observed("deciphering.s6.small-alpha-in-practice", Layer.TORCH, of_attention(unit_alpha))]
