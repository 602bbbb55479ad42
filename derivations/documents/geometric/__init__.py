"""Attention Mechanisms: A Geometric View."""
