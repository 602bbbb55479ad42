"""Attention of real models: capture it, load a pretrained encoder, build random models of each architecture."""
