"""The evidence lower bound of a finite latent variable."""
