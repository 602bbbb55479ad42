"""Papers become documents: a notation is guessed, and each equation becomes a claim with twins and corrections."""
