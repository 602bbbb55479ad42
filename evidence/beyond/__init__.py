"""Votes on the claims of `beyond`, in modules named like its chapters."""
