"""Votes on: The checklist after the references, where it answers for the document itself."""

from __future__ import annotations

from evidence import Layer, confirms
from evidence.deciphering.expansion_approximations import divergent, second_of_estimate
from evidence.instances.mem import mem_problems

confirms(Layer.TORCH, "inference.sC.assumptions", on=mem_problems(), corrected=second_of_estimate, count=16)(divergent)
