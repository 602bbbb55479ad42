"""Votes on: the last section: what training through the weights is worth."""

from __future__ import annotations

from evidence import Layer, observes
from evidence.models.geometric import gain_of_learning

observes(Layer.TORCH, "geometric.s7.good-predictions")(gain_of_learning)
