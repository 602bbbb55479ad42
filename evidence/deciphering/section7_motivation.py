"""Votes on: Section 7: what is said of T5 beside (18), and why another support may be wanted."""

from __future__ import annotations

from evidence import Layer, observes
from evidence.source import networks

observes(Layer.SOURCE, "deciphering.s7.faster-norm")(networks.faster_norm)
