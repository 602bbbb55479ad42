"""Votes on: The checklist after the references, where it answers for the theorems."""

from __future__ import annotations

from evidence import Layer, confirms
from evidence.deciphering.conic_dual import conic_minimizer
from evidence.deciphering.dual import minimizer
from evidence.deciphering.expansion_approximations import divergent, second_of_estimate
from evidence.deciphering.section6_theorem1 import beaten, conic_beaten
from evidence.instances.mem import mem_problems

confirms(Layer.TORCH, "inference.sC.proofs", on=mem_problems(), corrected=minimizer)(beaten)


confirms(Layer.TORCH, "inference.sC.assumptions", on=mem_problems(), corrected=second_of_estimate, count=16)(divergent)


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


confirms(Layer.PRIMAL, "inference.sC.proofs", on=mem_problems(), count=12, corrected=conic_minimizer)(conic_beaten)
