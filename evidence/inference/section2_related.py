"""Votes on: Section 2: what is said of other papers."""

from __future__ import annotations

from evidence import Layer, confirms
from evidence.deciphering.section2_related import hopfield, moved_weights
from evidence.instances.mem import mem_problems

confirms(Layer.TORCH, "inference.s2.not-identifiable", on=mem_problems())(moved_weights)


confirms(Layer.TORCH, "inference.s2.hopfield", on=mem_problems())(hopfield)
