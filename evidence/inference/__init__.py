"""Votes on the claims of `inference`, in modules named like its chapters."""
