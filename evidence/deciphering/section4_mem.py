"""Votes on: Section 4, a maximum entropy on the mean perspective: the problem with a constraint in place of the penalty."""

from evidence import Layer, Sampled
from evidence.deciphering.conic_problem import constrained, least_residual, penalized, problems
from evidence.deciphering.perspectives import nearer_and_farther
from evidence.deciphering.problem import minimizer, minimizer_of_penalized, pairs_of_points
from evidence.instances.mem import mem_problems

VOTES = [
    Sampled("deciphering.s4.perspectives", Layer.TORCH, nearer_and_farther, on=mem_problems()),
    Sampled("deciphering.s4.infinitely-many", Layer.TORCH, pairs_of_points, on=mem_problems()),
    Sampled(
        "deciphering.s4.mem-minimizes", Layer.TORCH, minimizer_of_penalized, on=mem_problems(smallest_n=2), corrected=minimizer
    ),
    Sampled("deciphering.s4.mem", Layer.PRIMAL, least_residual, on=problems(), count=16, corrected=constrained),
    Sampled("deciphering.s4.mem-minimizes", Layer.PRIMAL, penalized, on=problems(), count=16, corrected=constrained),
]
