"""From a derivation to a verdict: examination of its steps, comparison with its twins, and the one rule."""
