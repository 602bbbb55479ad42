"""The symbolic kernel: the expressions that derivations are written in, and the procedures that decide statements."""
