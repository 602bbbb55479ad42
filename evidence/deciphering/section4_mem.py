"""Votes on: Section 4, a maximum entropy on the mean perspective: the problem with a constraint in place of the penalty."""

from __future__ import annotations

from evidence import Layer, confirms
from evidence.deciphering.conic_problem import constrained, least_residual, penalized, problems
from evidence.deciphering.perspectives import nearer_and_farther
from evidence.deciphering.problem import minimizer, minimizer_of_penalized, pairs_of_points
from evidence.instances.mem import mem_problems

confirms(Layer.TORCH, "deciphering.s4.perspectives", on=mem_problems())(nearer_and_farther)


confirms(Layer.TORCH, "deciphering.s4.infinitely-many", on=mem_problems())(pairs_of_points)


confirms(Layer.TORCH, "deciphering.s4.mem-minimizes", on=mem_problems(smallest_n=2), corrected=minimizer)(
    minimizer_of_penalized
)


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


confirms(Layer.PRIMAL, "deciphering.s4.mem", on=problems(), count=16, corrected=constrained)(least_residual)


confirms(Layer.PRIMAL, "deciphering.s4.mem-minimizes", on=problems(), count=16, corrected=constrained)(penalized)
