"""Votes on: Section 7: T5 compared with (18), and why another support may be useful."""

from evidence import Layer, Observed
from evidence.source import networks

VOTES = [Observed("deciphering.s7.faster-norm", Layer.SOURCE, networks.faster_norm)]
