"""Votes on: Abstract and section 1: what the document announces."""

from __future__ import annotations

from evidence import Layer, confirms
from evidence.deciphering.attention import both, t5
from evidence.deciphering.attention_mem import weights_of_layer
from evidence.deciphering.conic_attention import linearized
from evidence.deciphering.section1_abstract import above_its_tangents, first_order
from evidence.deciphering.section7_attention import uniform
from evidence.instances.heads import drawn_heads
from evidence.instances.mem import mem_problems

confirms(Layer.TORCH, "inference.s0.t5", on=drawn_heads(), count=12)(t5)


confirms(Layer.TORCH, "inference.s0.special-case", on=both, count=12)(uniform)


confirms(Layer.TORCH, "inference.s0.convex", on=mem_problems(smallest_n=2))(above_its_tangents)


confirms(Layer.TORCH, "inference.s0.closed-form", on=mem_problems(smallest_n=2), count=12)(first_order)


confirms(Layer.TORCH, "inference.s1.solver", on=mem_problems(smallest_n=2))(weights_of_layer)


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


confirms(Layer.PRIMAL, "inference.s1.solver", on=mem_problems(smallest_n=2), count=12)(linearized)
