"""Votes on: Section 7: T5 compared with (18), and why another support may be useful."""

from __future__ import annotations

from evidence import Layer, observes
from evidence.source import networks

observes(Layer.SOURCE, "deciphering.s7.faster-norm")(networks.faster_norm)
