"""Gating a mixture of experts, and balancing its load."""
