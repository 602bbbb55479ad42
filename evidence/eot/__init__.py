"""Votes on the claims of `eot`, in modules named like its chapters."""
