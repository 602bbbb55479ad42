"""Votes on: Section 4: the three examples."""

from __future__ import annotations

from evidence import Layer, confirms, observes
from evidence.deciphering.section3_examples import even, uneven
from evidence.deciphering.section3_support import distance, divergence, errors, information
from evidence.instances.mem import mem_problems
from evidence.source import networks

confirms(Layer.TORCH, "inference.s4.strong-constraint", on=mem_problems(smallest_n=2))(information)


confirms(Layer.TORCH, "inference.s4.words-so-far", on=mem_problems(smallest_n=2))(errors)


confirms(Layer.TORCH, "inference.s4.caption-places", on=mem_problems(smallest_n=2), corrected=even)(uneven)


confirms(Layer.TORCH, "inference.s4.within-support", on=mem_problems(smallest_n=2), corrected=divergence)(distance)


# ── by shipped source code ────────────────────────────────────────────────────────────────────────────────────────────

observes(Layer.SOURCE, "inference.s4.blanks-train-bert")(networks.blanks)
