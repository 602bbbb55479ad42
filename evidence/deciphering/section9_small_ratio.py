"""Votes on: Section 9: are α and α/γ small in practice?"""

from evidence import Layer, Observed
from evidence.models.small_alpha import of_transport

VOTES = [Observed("deciphering.s9.small-ratio-in-practice", Layer.TORCH, of_transport)]
