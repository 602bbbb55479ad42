"""Votes on: Section 8: what the conclusion sums up."""

from __future__ import annotations

from evidence import Layer, confirms
from evidence.deciphering.attention import both
from evidence.deciphering.section7_attention import unnormalized

confirms(Layer.TORCH, "inference.s8.preferences", on=both, count=12)(unnormalized)
