"""Votes on: Abstract and section 1: how widely attention is used, and how little it is understood."""

from __future__ import annotations

from evidence import Layer, observes
from evidence.source import networks

observes(Layer.SOURCE, "inference.s1.pivotal")(networks.pivotal)
