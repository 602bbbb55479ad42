"""A Tiny Paper on Softmax."""
