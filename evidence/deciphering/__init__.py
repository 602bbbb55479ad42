"""Votes on the claims of `deciphering`, in modules named like its chapters."""
