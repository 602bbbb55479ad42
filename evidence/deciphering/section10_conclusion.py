"""Votes on: Section 10: what the conclusion sums up."""

from __future__ import annotations

from evidence import Layer, confirms
from evidence.deciphering.attention import both
from evidence.deciphering.section7_attention import log_odds
from evidence.deciphering.transport_sharing import inputs, weights

confirms(Layer.TORCH, "deciphering.s10.mechanism", on=both, count=12)(log_odds)


confirms(Layer.TORCH, "deciphering.s10.support-removed", on=inputs())(weights)
