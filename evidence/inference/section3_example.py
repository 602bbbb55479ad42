"""Votes on: Section 3: the motivating example, a Gaussian prior."""

from evidence import Layer, Sampled
from evidence.deciphering.gaussian import gaussian_problems
from evidence.deciphering.perspectives import nearer_and_farther
from evidence.deciphering.problem import divergence
from evidence.deciphering.section5_gaussian import objective
from evidence.instances.mem import mem_problems

VOTES = [
    Sampled("inference.1", Layer.TORCH, objective, on=gaussian_problems()),
    Sampled("inference.s3.perspectives", Layer.TORCH, nearer_and_farther, on=mem_problems()),
    Sampled("inference.s3.kl", Layer.TORCH, divergence, on=mem_problems(smallest_n=2)),
]
