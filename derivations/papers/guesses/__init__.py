"""Guess what the symbols of a paper mean, from its formulas and its text."""
