"""Votes on: Section 6: gradient ascent on the dual."""

from __future__ import annotations

from evidence import Layer, confirms
from evidence.deciphering.section6_ascent import parabola
from evidence.instances.mem import mem_problems

confirms(Layer.TORCH, "inference.s6.gradient-ascent", on=mem_problems(smallest_n=2))(parabola)
