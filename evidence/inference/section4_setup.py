"""Votes on: Section 4: the unknown distribution, its prior guess and the noisy evidence."""

from evidence import Layer, Observed
from evidence.source import sequence_layers

VOTES = [Observed("inference.fn2", Layer.SOURCE, sequence_layers.keep_the_length)]
