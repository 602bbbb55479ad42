"""The checklist after the references, where it answers for the theorems.

Claims     inference.sC.assumptions, inference.sC.proofs
References questions 2 (a) and 2 (b) of the checklist; what the answers are held against is judged in section 6
"""

from derivations import reprint
from derivations.deciphering.section6_theorem1 import recovery
from derivations.inference.section6_solution import any_preference

reprint("inference.sC.assumptions", of=any_preference, title="All assumptions of the theorems are stated",
        latex=r"\text{2(a): the full set of assumptions of all theoretical results is stated}",
        statement="The checklist says that every assumption is stated; the second theorem states none about u, and needs one.")
reprint("inference.sC.proofs", of=recovery, title="Complete proofs of the theorems are included",
        latex=r"\text{2(b): complete proofs of all theoretical results are included}",
        statement="The checklist says that all proofs are included; the first theorem is only cited, and as printed has none.")
