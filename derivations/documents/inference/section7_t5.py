"""Section 7: T5 as a realization of (21) with τ = d.

Claims     inference.23                 ĥ = Σ_i t_i softmax(⟨t_i, z⟩/√d + b_{j−i} + 1_masked(i)), over the words i
           inference.s7.t5-realizes     T5's head = V ∘ (21) with the u of (22)
           inference.s7.mask-function   the attention mask hides word i  ⟹  its weight is 0  (corrected)
Notation   as in section7_t5.py and section8_heads.py of deciphering; here the scores are divided by √d
References "T5 transformer implicitly adopts …" in section 7 of the document, (22), (23); T5Attention in transformers
"""

import sympy as sp

from derivations.documents.deciphering.notation import a, d, inner, k, mean, z
from derivations.documents.deciphering.section7_t5 import (
    SOME_WORD,
    mask_function,
    one_preference,
    preference_weights,
    t5_inputs,
    t5_realizes,
)
from derivations.documents.deciphering.section8_heads import (
    FIRST,
    estimate,
    everywhere,
    evidence_of,
    log_linear,
    o,
    outside,
    position,
    preference,
    shown,
    t5,
    y,
)
from derivations.vocabulary import *

width = sp.sqrt(d)

reprint(
    "inference.22",
    of=preference_weights,
    latex=r"u(t_i)=\begin{cases}0&\text{if }\mathrm{masked}(i)\\\exp(b_{j-i})/Z&\text{otherwise}\end{cases}",
)


def substituted(right: Entry) -> Equation:
    """(21) with τ = d and the preference (22) against another average of the templates."""
    weights = log_linear(lambda word: inner(word, z) / width, preference())
    return Equation(mean(weights)(a), mean(right)(a), reason="e^{s} e^{b}/Z = e^{s + b}/Z, and Z cancels")


def inside(divisor: sp.Expr, sign: int = 1) -> Entry:
    """i ↦ exp(⟨t_i, z⟩/divisor + b_{j−i} + 1_masked(i)) over its sum."""
    return log_linear(lambda word: inner(word, z) / divisor + sign * position(word), shown)


@claim(
    "inference.23",
    "identity",
    title="(21) with T5's preference weights and τ = d",
    needs=("inference.22",),
    hypotheses=(SOME_WORD,),
    latex=r"\hat h=\sum_it_i\frac{\exp(\langle t_i,z\rangle/\sqrt d+b_{j-i}+\mathbf1_{\mathrm{masked}}(i))}"
    r"{\sum_l\exp(\langle t_l,z\rangle/\sqrt d+b_{j-l}+\mathbf1_{\mathrm{masked}}(l))}",
)
def bias_inside() -> Steps:
    """Substituting these weights with τ = d puts the bias, undivided, and the mask into the exponent."""
    yield substituted(inside(width))


bias_inside.twin(
    "the bias is divided by √d too",
    lambda: substituted(log_linear(lambda word: (inner(word, z) + position(word)) / width, shown)),
)
bias_inside.twin("the bias with the other sign", lambda: substituted(inside(width, -1)))
bias_inside.twin(
    "the bias outside the denominator",
    lambda: substituted(
        lambda word: preference()(word) * sp.exp(inner(word, z) / width) / total(k, shown[k] * sp.exp(inner(k, z) / width))
    ),
)


def same_structure(factor: sp.Expr, prior: Entry) -> Equation:
    """A shipped head of T5 against V applied to (21) with τ = d, t_i = x_i and z = factor · KᵀQy."""
    return Equation(
        t5(o),
        outside(estimate(lambda s: factor * evidence_of(y)(s) / width, prior, sp.S.One), sp.S.One)(o),
        at=FIRST,
        reason="√d ⟨x_i, KᵀQ y⟩/√d = ⟨K x_i, Q y⟩: T5 does not divide, so its evidence is √d KᵀQ y",
    )


@claim(
    "inference.s7.t5-structure",
    "external fact",
    title="(23) has the structure of T5's attention",
    latex=r"(23)\text{ has the same structure as T5's attention}",
    needs=("inference.23",),
)
def t5_structure() -> Steps:
    """T5's attention is of this form, if its evidence, which is not specified, takes up the √d by which T5 does not divide."""
    yield same_structure(width, preference())


t5_structure.twin("the evidence without √d: the scores are divided", lambda: same_structure(sp.S.One, preference()))
t5_structure.twin("the position bias is subtracted", lambda: same_structure(width, preference(lambda word: -position(word))))
t5_structure.twin("no preference", lambda: same_structure(width, everywhere))

reprint(
    "inference.s7.mask-function",
    of=mask_function,
    latex=r"1_{\mathrm{masked}}(i)=-\infty\implies\text{word }i\text{ has weight }0\text{ in T5}",
)
reprint("inference.s7.unified", of=one_preference, latex=r"\log u_i=b_{j-i}+\mathbf1_{\mathrm{masked}}(i)-\log Z")
reprint("inference.s7.t5-realizes", of=t5_realizes, latex=r"\text{T5}=V\circ(21)\text{ with }u\text{ of }(22)")
reprint("inference.s7.t5-inputs", of=t5_inputs, latex=r"u_i=u(\mathbf1_{\mathrm{masked}}(i),\,j-i)")
