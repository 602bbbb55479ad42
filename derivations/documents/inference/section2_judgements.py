"""Section 2: what follows from other papers, in the document's judgement.

Claims     inference.s2.interpretability   what other papers show, in the document's judgement: both open
References section 2 of the document, which is shorter than that of deciphering
"""

from derivations.documents.deciphering.section2_judgements import closed_forms_in_the_limit, interpretability
from derivations.vocabulary import *

reprint("inference.s2.interpretability", of=interpretability, latex=r"\text{attention may complicate interpretability}")
reprint(
    "inference.s2.closed-forms-in-the-limit",
    of=closed_forms_in_the_limit,
    latex=r"\text{width}\to\infty:\ \text{closed forms not available in the finite case}",
)
