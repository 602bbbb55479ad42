"""Figures 4 to 8: the distance of αz, which attention uses as the dual solution, from the exact one, and its consequences.

The models, with trained and with random weights, are those of `models_and_texts`; `problems` reads templates, evidence and
priors off a forward pass; `statistics` compares attention with the exact solution; `shards` keeps the rows on disk;
`summary` makes the table, `figures` the pictures.  `ranks` shares the work among the processes of torchrun.
"""
