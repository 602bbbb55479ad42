"""Votes on: The checklist after the references, where it answers for the document itself."""

from evidence import Layer, Sampled
from evidence.deciphering.expansion_approximations import divergent, second_of_estimate
from evidence.instances.mem import mem_problems

VOTES = [Sampled("inference.sC.assumptions", Layer.TORCH, divergent, on=mem_problems(), count=16, corrected=second_of_estimate)]
