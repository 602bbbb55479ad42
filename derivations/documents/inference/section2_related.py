"""Section 2: statements about other papers.

Claims     inference.s2.not-identifiable   t_0 = Σ_i g_i t_i  ⟹  other weights give the same Σ_i p_i t_i
           inference.s2.hopfield           ξ_new = X softmax(βXᵀξ)
Notation   t_0 a template in the middle of the others, t_0 = Σ_i g_i t_i; of the weights p_i, y and x add up to that of t_0,
           all over their sum 1 + x + y
References section 2 of the document; section 2 of deciphering for the derivations; Brunner et al. (2019), Theorem 1
"""

import sympy as sp

from derivations.documents.deciphering.notation import T, a, i, n
from derivations.documents.deciphering.section2_related import gaussian_process, hahn, hopfield, norms_and_products, saliency
from derivations.vocabulary import *

p, g = simplex("p", n), simplex("g", n)
x, y = positive("x"), positive("y")
whole = 1 + x + y

reprint("inference.s2.saliency", of=saliency, latex=r"\text{[4, 9, 18, 23, 24, 26, 28]}")


def output(weight_of: sp.Expr, middle: sp.Expr, factor: sp.Expr = sp.S.One) -> sp.Expr:
    """Σ_i w_i t_i + w_0 t_0, w_i the weight of template i and w_0 that of t_0 = factor · Σ_i g_i t_i."""
    return total(i, weight_of * T[i, a]) + middle * factor * total(i, g[i] * T[i, a])


def redistributed(factor: sp.Expr = sp.S.One, remaining: sp.Expr = x) -> Equation:
    """The output after weight y of t_0 is shared among the others in proportions g equals the output before."""
    return Equation(
        output((p[i] + y * g[i]) / whole, remaining / whole, factor),
        output(p[i] / whole, (x + y) / whole),
        reason="what t_0 loses, y Σ_i g_i t_i, is what the others gain",
    )


@claim(
    "inference.s2.not-identifiable",
    "equivalence",
    title="Attention weights are not identifiable",
    latex=r"t_0=\textstyle\sum_ig_it_i\implies p'_0t_0+\sum_ip'_it_i=p_0t_0+\sum_ip_it_i",
)
def not_identifiable() -> Steps:
    """Several combinations of attention weights can give one output: they do where a value lies in the middle of others."""
    yield Equation(total(i, p[i] / whole) + (x + y) / whole, 1, about=(x, y), reason="weights of n + 1 templates, …")
    yield Equation(total(i, (p[i] + y * g[i]) / whole) + x / whole, 1, about=(x, y), reason="… and others, …")
    yield AtLeast((x + y) / whole, x / whole, strict=True, reason="… which differ: t_0 has lost y/(1 + x + y)")
    yield redistributed()


not_identifiable.twin("the last value lies elsewhere", lambda: redistributed(sp.Integer(2)))
not_identifiable.twin("the last value loses nothing", lambda: redistributed(remaining=x + y))
reprint(
    "inference.s2.hahn",
    of=hahn,
    title="Hahn [7] on identifiability",
    latex=r"\text{[7]: self-attention layers are not identifiable}",
)
reprint("inference.s2.gaussian-process", of=gaussian_process, latex=r"\text{heads, width}\to\infty:\ \text{a Gaussian process}")
reprint("inference.s2.norms", of=norms_and_products, latex=r"\text{[14]}")
reprint("inference.s2.hopfield", of=hopfield, latex=r"\xi^{\mathrm{new}}=X\,\mathrm{softmax}(\beta X^\top\xi)")
