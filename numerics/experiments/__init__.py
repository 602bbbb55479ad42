"""Experiments that reproduce the documents' figures and tables."""
