"""The commands of python -m numerics, one module each."""
