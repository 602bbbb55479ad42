"""Votes on: Section 6: is α small in practice?"""

from __future__ import annotations

from evidence import Layer, observes
from evidence.models.small_alpha import of_attention, unit_alpha

observes(Layer.TORCH, "deciphering.s6.small-alpha-in-practice")(of_attention(unit_alpha))
