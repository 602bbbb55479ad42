"""Votes on the claims of `transport`, in modules named like its chapters."""
