"""Scaled-Dot-Product Attention as One-Sided Entropic Optimal Transport."""
