"""Figures 4 to 8: is the dual solution close to what attention takes for it, and what does that say?

The models, with trained and with random weights, are those of `models_and_texts`; `problems` reads templates, evidence and
priors off a forward pass; `statistics` compares attention with the exact solution; `shards` keeps the rows on disk;
`summary` makes the table, `figures` the pictures.  `ranks` shares the work among the processes of torchrun.
"""
