"""Figures 4 to 8: how close αz, which attention uses as the dual solution, is to the exact one, and what follows from that.

The models, with trained and with random weights, are those of `models_and_texts`; `problems` reads templates, evidence and
priors off a forward pass; `statistics` compares attention with the exact solution; `shards` keeps the rows on disk;
`summary` makes the table, `figures` the pictures.  `ranks` shares the work among the processes of torchrun.
"""
