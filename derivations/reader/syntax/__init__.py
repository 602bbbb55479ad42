"""The tree of a formula, before any symbol has a meaning."""
