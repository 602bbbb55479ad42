"""Section 7: (21) as an attention layer, alone and in a stack, and what could be generalized.

Claims     inference.s7.dot-product          u_i = 1/n  ⟹  (21) = Σ_i t_i softmax(⟨t, z⟩/√τ)_i
           inference.s7.solves-the-problem   ĥ = (21) − α²Σ²z + o(α²), for small α
           inference.s7.two-pieces           log(p_i/p_j) = log(u_i/u_j) + ⟨t_i − t_j, z⟩/√τ
           inference.s7.continuous-u         M finite near 0  ⟹  λ* = αz − α²Σz + o(α²)
References section 7 of the document; section 7 of deciphering for the derivations, with α = 1/√τ
"""

from derivations.documents.deciphering.section7_attention import any_layer, layer_solves, two_pieces, uniform_preference
from derivations.documents.deciphering.section7_generalizations import context_dependent, continuous_preferences
from derivations.vocabulary import *

TO_FIRST_ORDER = Statement(
    r"\hat h=\textstyle\sum_it_ip_i-\alpha^2\Sigma^2z+o(\alpha^2),\ p=\mathrm{tilt}(\alpha z)"
    r"=\arg\min_p\{-\alpha\langle z,\textstyle\int a\,p(a)\,da\rangle+\mathcal K(p,u)\}",
    "To first order in α the layer gives the mean of (6)'s solution; what it solves exactly is (6) linearized at μ.",
)

reprint(
    "inference.s7.dot-product",
    of=uniform_preference,
    latex=r"u_i=\tfrac1n\implies\hat h_{(21)}=\sum_it_i\,\mathrm{softmax}([\langle t_j,z\rangle/\sqrt\tau]_j)_i",
)
reprint(
    "inference.s7.solves-the-problem",
    of=layer_solves,
    statement="Applying a dot-product layer is said to be, “essentially”, performing the optimization (6) and reading (7).",
    correction=TO_FIRST_ORDER,
    latex=r"\sum_it_i\,\mathrm{softmax}(\langle t_\cdot,z\rangle/\sqrt\tau)_i=\int a\,\tilde p(a)\,da",
)
reprint(
    "inference.s7.two-pieces",
    of=two_pieces,
    latex=r"\log\frac{p_i}{p_j}=\log\frac{u_i}{u_j}+\langle t_i-t_j,z\rangle/\sqrt\tau",
)
reprint(
    "inference.s7.stack", of=any_layer, latex=r"\mathcal L=V'\circ(21),\quad t_i,z,u\text{ from the layers before }\mathcal L"
)
reprint(
    "inference.s7.context-dependent",
    of=context_dependent,
    latex=r"u_i=\frac{w_i}{\sum_kw_k}\implies p_i="
    r"\mathrm{softmax}([\langle t_j,z\rangle/\sqrt\tau+\log w_j]_j)_i",
)
reprint(
    "inference.s7.continuous-u",
    of=continuous_preferences,
    latex=r"u\text{ continuous}\implies\lambda^*\approx\alpha z,\ \hat h\approx(19)",
)
