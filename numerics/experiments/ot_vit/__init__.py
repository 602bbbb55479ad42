"""Section 9's experiment: a vision transformer whose last attention is one by optimal transport, against a plain one.

The document's two models differ in more than one thing.  Here each of them has its own arm, and every arm is trained from
the same seeds, on the same batches, for the same number of steps.

Claims      deciphering.tab1, deciphering.s9.higher-on-every-dataset
Notation    T = templates that the last attention sees; u = prior; M = cost; γ = √hidden = temperature; α = 1
Modules     ``data``: four datasets in their published formats; ``model``: the transformer and its last attention;
            ``arms``: what is compared with what; ``training``: one run; ``checkpoint``: what a run is resumed from;
            ``study``: all runs; ``report``: means, paired differences and their intervals; ``figures``: learning curves;
            ``sizes``: which configurations have the printed number of parameters
"""
