"""Votes on: the last section: what training through the weights is worth."""

from evidence import Layer, Observed
from evidence.models.geometric import gain_of_learning

VOTES = [Observed("geometric.s7.good-predictions", Layer.TORCH, gain_of_learning)]
