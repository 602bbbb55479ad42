"""Votes on: Section 9, Table 1: accuracies and parameters of ViT and OT-ViT."""

from __future__ import annotations

from evidence import Layer, observes
from evidence.models.ot_vit import accuracies, parameters

observes(Layer.TORCH, "deciphering.tab1")(accuracies)
observes(Layer.TORCH, "deciphering.s9.parameters")(parameters)
