"""Abstract and section 1: what the document announces.

Claims     inference.s0.convex         P(p) ≥ P(v) + ⟨∇P(v), p − v⟩
           inference.s0.closed-form    ĥ = Σ_i t_i tilt(αz)_i + o(α)
           inference.s0.special-case   u_i = 1/n  ⟹  tilt(αz)_i = softmax(α⟨t, z⟩)_i
           inference.s1.solver         ĥ = Σ_i t_i tilt(αz)_i − α²Σ²z + o(α²): for small α, and to first order
References the abstract of the document, and section 1, which repeats it; section 1 of deciphering for the derivations
"""

from derivations.documents.deciphering.section1_abstract import approximation, convex, solver
from derivations.documents.deciphering.section7_attention import uniform_preference
from derivations.documents.deciphering.section7_t5 import t5_realizes
from derivations.documents.inference.section7_discussion import TO_FIRST_ORDER
from derivations.vocabulary import *

reprint("inference.s0.convex", of=convex, latex=r"P(p)\ge P(v)+\langle\nabla P(v),p-v\rangle")
reprint(
    "inference.s0.closed-form",
    of=approximation,
    latex=r"\hat h_{(20)}=\mu+\alpha\Sigma z+o(\alpha),\quad\hat h=\mu+"
    r"\alpha\Sigma z+o(\alpha)",
)
reprint("inference.s0.special-case", of=uniform_preference, latex=r"\text{a special case is dot-product attention}")
reprint("inference.s0.t5", of=t5_realizes, latex=r"\text{T5 has implicitly adopted the general form of the solution}")
reprint(
    "inference.s1.solver",
    of=solver,
    latex=r"\text{attention is in fact a solver for a certain type of optimization problem}",
    correction=TO_FIRST_ORDER,
)
