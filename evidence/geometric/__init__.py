"""Votes on the claims of `geometric`, in modules named like its chapters."""
