"""Section 6: gradient ascent on the dual.

Claims     inference.s6.gradient-ascent   D(λ) ≤ D(ν) + ⟨∇D(ν), λ − ν⟩ − ‖λ − ν‖²/(2α)
References the text of section 6 after (14); section 6 of deciphering for the derivation
"""

from derivations.documents.deciphering.section6_ascent import gradient_ascent
from derivations.vocabulary import *

reprint(
    "inference.s6.gradient-ascent",
    gradient_ascent,
    latex=r"D(\lambda)\le D(\nu)+\langle\nabla D(\nu),\lambda-\nu\rangle-\tfrac1{2\alpha}\|\lambda-\nu\|^2",
)
