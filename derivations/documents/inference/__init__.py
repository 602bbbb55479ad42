"""Attention as Inference via Fenchel Duality, the earlier version of `deciphering`."""
