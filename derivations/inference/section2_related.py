"""Section 2: what is said of other papers.

Claims     inference.s2.saliency, inference.s2.not-identifiable, inference.s2.hahn, inference.s2.gaussian-process,
           inference.s2.norms, inference.s2.hopfield
References section 2 of the document; section 2 of deciphering for the derivations
"""

from derivations import reprint
from derivations.deciphering.section2_related import (
    gaussian_process,
    hahn,
    hopfield,
    norms_and_products,
    not_identifiable,
    saliency,
)

reprint("inference.s2.saliency", of=saliency, latex=r"\text{[4, 9, 18, 23, 24, 26, 28]}")
reprint("inference.s2.not-identifiable", of=not_identifiable,
        latex=r"\exists\,T,\ p'\ne p:\ \textstyle\sum_ip'_it_i=\sum_ip_it_i")
reprint("inference.s2.hahn", of=hahn, title="Hahn [7] on identifiability",
        latex=r"\text{[7]: self-attention layers are not identifiable}")
reprint("inference.s2.gaussian-process", of=gaussian_process, latex=r"\text{heads, width}\to\infty:\ \text{a Gaussian process}")
reprint("inference.s2.norms", of=norms_and_products, latex=r"\text{[14]}")
reprint("inference.s2.hopfield", of=hopfield, latex=r"\xi^{\mathrm{new}}=X\,\mathrm{softmax}(\beta X^\top\xi)")
