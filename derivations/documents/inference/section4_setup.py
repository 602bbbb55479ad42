"""Section 4: the unknown distribution, its prior guess and the noisy evidence.

Claims     inference.4                  ∫ ‖a‖ p(a) da < ∞  ⟹  h = ∫ a p(a) da exists
           inference.s4.mean-shift      h − μ = Σ_i (p_i − u_i) t_i
           inference.s4.shift-of-mu     E z = h − μ, and not μ − h  (corrected)
           inference.s4.estimate-of-h   E[μ + z] = h and E‖μ + z − h‖² = dσ²
Notation   that of `deciphering.section3_setup`, which derives what both documents print; B[n + k − i] = b_{k−i} the
           position bias of template i for the output k; n the number of vectors that enter a layer, kept of those that leave it
References Section 4 of the document, its figures and its footnotes 1 and 2
"""

import sympy as sp

from derivations.documents.deciphering import section3_setup as setup
from derivations.documents.deciphering.notation import i, k, n
from derivations.documents.deciphering.section8_evidence import three_blocks, three_examples
from derivations.documents.deciphering.section8_heads import B, log_linear
from derivations.vocabulary import *

reprint("inference.4", setup.mean_of_distribution, latex=r"h=\int ap(a)da")
reprint("inference.s4.preference", setup.preference_distribution, latex=r"u_i>0\text{ for all }i,\quad\textstyle\sum_iu_i=1")
reprint("inference.s4.mean-shift", setup.mean_shift, latex=r"h-\mu=\textstyle\sum_i(p_i-u_i)t_i")
reprint("inference.5", setup.noisy_shift, latex=r"z=h-\mu+\epsilon,\quad\epsilon\sim\mathcal N(0,\sigma^2I)")
reprint(
    "inference.s4.shift-of-mu",
    setup.shift_of_mu,
    latex=r"z\text{ predicts the shift }\mu-h\text{ of the mean }\mu\text{ from }h",
)
reprint(
    "inference.s4.previous-words",
    setup.previous_words,
    latex=r"Y^{(i<t)}\text{, the words generated before }Y^{(k)}",
    statement="What is generated before the k-th word is written with a bound t that is defined nowhere in the document.",
)
reprint("inference.s4.estimate-of-h", setup.estimate_of_h, latex=r"\mathbb E[\mu+z]=h,\quad\mathbb E\|\mu+z-h\|^2=d\sigma^2")

# ── figures and footnotes ───────────────────────────────────────────────────────────────────────────────────────────

reprint(
    "inference.fig1",
    three_blocks,
    title="The first figure: the model, with the block to be designed",
    latex=r"f_{\mathrm{pref}},f_{\mathrm{evd}}\to g\to f_{\mathrm{out}}",
    statement="A conceptual drawing of the model: the block g between preference, evidence and output is investigated.",
)
reprint(
    "inference.fig2",
    three_examples,
    title="The second figure: the three running examples",
    latex=r"\text{translation, image captioning, filling in the blanks}",
    statement="Drawings of the three examples' architectures, in which dashed links stand for training and dotted ones for "
    "generation.",
)


def by_position(template: sp.Expr) -> sp.Expr:
    """exp(b_{k−i})/Σ_l exp(b_{k−l}), the preference of the output k for template i."""
    return log_linear(lambda word: B[n + k - word])(template)


@claim(
    "inference.fn1",
    "definition",
    title="Footnote 1: all outputs share the templates",
    latex=r"u^{(k)}_i>0\text{ for all }i,\quad\textstyle\sum_iu^{(k)}_i=1",
    needs=("inference.s4.preference",),
)
def shared_support() -> Steps:
    """Given the input, the preferences of all outputs have one support: they differ by their weights alone."""
    yield Equation(total(i, by_position(i)), 1, about=(B[1], k), reason="an instance: weights by position, one u for each k …")
    yield AtLeast(by_position(i), 0, strict=True, reason="… none of which leaves a template out")


layer_length = size("kept")


@claim(
    "inference.fn2",
    "external fact",
    title="Footnote 2: transformation layers keep the length",
    latex=r"\text{convolution, recurrent, self-attention}:\ (x_1,\dots,x_n)\mapsto(y_1,\dots,y_n)",
)
def transformation_layers() -> None:
    """Convolution, recurrent and self-attention layers are named as layers that map a sequence to one of the same length."""


transformation_layers.twin("one vector for the whole sequence", lambda: Equation(layer_length, 1, about=(n,)))
transformation_layers.twin("one vector more, as for an end of the sequence", lambda: Equation(layer_length, n + 1))
