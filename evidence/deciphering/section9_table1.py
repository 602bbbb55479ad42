"""Votes on: Section 9, Table 1: accuracies and parameters of ViT and OT-ViT."""

from evidence import Layer, Observed
from evidence.models.ot_vit import accuracies, parameters

VOTES = [Observed("deciphering.tab1", Layer.TORCH, accuracies), Observed("deciphering.s9.parameters", Layer.TORCH, parameters)]
