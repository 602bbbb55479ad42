"""Votes on: Section 9: are α and α/γ small in practice?"""

from __future__ import annotations

from evidence import Layer, observes
from evidence.models.small_alpha import of_transport

observes(Layer.TORCH, "deciphering.s9.small-ratio-in-practice")(of_transport)
