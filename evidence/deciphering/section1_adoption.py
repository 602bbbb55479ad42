"""Votes on: Abstract and section 1: how widely attention is used, how little it is understood, and what is new."""

from evidence import Layer, Observed
from evidence.source import networks

VOTES = [Observed("deciphering.s1.pivotal", Layer.SOURCE, networks.pivotal)]
