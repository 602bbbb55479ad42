"""Votes on: Section 6, Figure 3: the same figure as in `deciphering`."""

from __future__ import annotations

from evidence import Layer, observes
from evidence.deciphering.section6_figure3 import error_as_alpha_shrinks

observes(Layer.TORCH, "inference.fig3")(error_as_alpha_shrinks)
