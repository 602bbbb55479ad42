"""A LaTeX paper as data: its formulas with their places, its macros, and the files that it is spread over."""
