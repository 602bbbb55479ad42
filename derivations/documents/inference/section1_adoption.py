"""Abstract and section 1: how widely attention is used, and how little it is understood.

Claims     inference.s1.pivotal   without attention the change of one word changes one output
References the abstract and section 1 of the document; sections 3, 4 and 8 where they repeat them; section 1 of deciphering
"""

from derivations.documents.deciphering.section1_adoption import central, limits, little_understood, pivotal, widely_used
from derivations.vocabulary import *

reprint(
    "inference.s0.widely-used",
    of=widely_used,
    latex=r"\text{widely adopted in state-of-the-art models, with significant improvements}",
)
reprint(
    "inference.s0.little-understood", of=little_understood, latex=r"\text{attention is still poorly understood theoretically}"
)
reprint(
    "inference.s0.central",
    of=central,
    latex=r"\text{the problem arises in a family of estimation tasks that are common in deep learning}",
)
reprint("inference.s1.pivotal", of=pivotal, latex=r"\text{without attention, a change of one word reaches one output}")
reprint(
    "inference.s1.limits",
    of=limits,
    latex=r"\text{the lack of understanding impedes practitioners and makes new architectures difficult}",
)
