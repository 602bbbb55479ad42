"""The commands, the pytest plugin, and what they show while they run."""
