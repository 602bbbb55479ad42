"""An overview, in Chinese, of optimal transport and attention, with its listings."""
