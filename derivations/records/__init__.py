"""Typed records, the same in a file as in memory: statements, witnesses, evidence, verdicts, and their text."""
