"""Votes on: Section 7: (21) as an attention layer, alone and in a stack, and what could be generalized."""

from __future__ import annotations

from evidence import Layer, confirms
from evidence.deciphering.attention import both
from evidence.deciphering.attention_mem import output_of_layer
from evidence.deciphering.conic_attention import exact_mean
from evidence.deciphering.conic_dual import conic_second_of_estimate
from evidence.deciphering.expansion_approximations import second_of_estimate
from evidence.deciphering.section7_attention import any_inputs, log_odds, uniform
from evidence.deciphering.section7_generalizations import by_content
from evidence.instances.heads import drawn_heads
from evidence.instances.mem import mem_problems

confirms(Layer.TORCH, "inference.s7.stack", on=drawn_heads(), count=12)(any_inputs)


confirms(Layer.TORCH, "inference.s7.dot-product", on=both, count=12)(uniform)


confirms(Layer.TORCH, "inference.s7.two-pieces", on=both, count=12)(log_odds)


confirms(Layer.TORCH, "inference.s7.context-dependent", on=both, count=12)(by_content)


confirms(Layer.TORCH, "inference.s7.solves-the-problem", on=mem_problems(smallest_n=2), count=16, corrected=second_of_estimate)(
    output_of_layer
)


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


confirms(
    Layer.PRIMAL, "inference.s7.solves-the-problem", on=mem_problems(smallest_n=2), count=8, corrected=conic_second_of_estimate
)(exact_mean)
