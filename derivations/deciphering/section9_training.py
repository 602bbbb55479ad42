"""Section 9: which templates are trained, and what is said of images.

Claims     deciphering.s9.trained, deciphering.s9.vision, deciphering.s9.similar-patches, deciphering.s9.second-image
Notation   T_l the templates of 𝒜 and R_j those of the input (n of them), with preference u_j; w_j > 0 their shares; in a group of G
           templates t_g, V_g, v the preference of its member in the input; tokens = what a Vision Transformer makes of an image
           of side × side pixels in patches of patch × patch
References section 9 of the document, from (25) on; ViTForImageClassification in transformers
"""

import sympy as sp

from derivations import (
    AtLeast,
    Equation,
    Steps,
    Undecidable,
    claim,
    delta,
    derivative,
    index,
    positive,
    scalar,
    size,
    total,
    vector,
)
from derivations.deciphering.notation import a, alpha, b, c, d, z
from derivations.deciphering.notation_transport import gamma

G = size("G")
inside, member = index("g", G), index("k", G)
v, W = positive("v"), vector("W", G, d)


def scores(template: sp.Expr) -> sp.Expr:
    """⟨t_g, z⟩."""
    return total(c, W[template, c] * z[c])


def weight(template: sp.Expr) -> sp.Expr:
    """(25) within a group: v exp(α⟨t_g, z⟩/γ)/Σ_𝒢 exp(α⟨t, z⟩/γ)."""
    return v * sp.exp(alpha * scores(template) / gamma) / total(member, sp.exp(alpha * scores(member) / gamma))


def output(entry: sp.Expr) -> sp.Expr:
    """(Σ_g p_g t_g)_a."""
    return total(member, weight(member) * W[member, entry])


def gradient(pull: sp.Expr, first: sp.Expr = sp.S.One) -> Equation:
    """∂h_a/∂(t_g)_b against p_g (first · δ_ab + pull · z_b (t_g − their mean)_a)."""
    apart = W[inside, a] - output(a) / v
    return Equation(derivative(output(a), W[inside, b]), weight(inside) * (first * delta(a, b) + pull * z[b] * apart),
                    reason="t_g is averaged with the weight p_g, and enters the score of p_g")


@claim("deciphering.s9.trained", "identity", title="Templates that are not in the input are trained",
       needs=("deciphering.s9.group-sharing",),
       latex=r"\frac{\partial\hat h}{\partial t}=p^*(t)\left(I+\tfrac\alpha\gamma(t-\bar t\,)z^\top\right),\quad p^*(t)>0")
def trained() -> Steps:
    """A template in the group of one of the input's gets a gradient in proportion to its weight, in the input or not."""
    yield AtLeast(weight(inside), 0, strict=True, reason="v > 0 is shared among all of the group")
    yield gradient(alpha / gamma)


trained.twin("the score does not see the template", lambda: gradient(sp.S.Zero))
trained.twin("the score falls with the product", lambda: gradient(-alpha / gamma))
trained.twin("the template is no value", lambda: gradient(alpha / gamma, sp.S.Zero))

tokens, side, patch = scalar("tokens"), size("side"), size("patch")


def counted(right: sp.Expr) -> Equation:
    """How many vectors a Vision Transformer works on."""
    return Equation(tokens, right)


@claim("deciphering.s9.vision", "external fact", title="A Vision Transformer treats patches as words",
       latex=r"\text{tokens}=(\text{side}/\text{patch})^2+1,\quad\text{the classifier reads the one}")
def vision() -> None:
    """Small patches are its words; a special learnable token aggregates their features by attention, and is classified."""


vision.twin("no special token", lambda: counted((side / patch) ** 2))
vision.twin("one token for each row", lambda: counted(side / patch + 1))


@claim("deciphering.s9.similar-patches", "equivalence", title="Images of a class have similar patches",
       latex=r"\text{similar patches do not alter the class}\implies\text{share templates within it}",
       needs=("deciphering.s9.trained", "deciphering.s9.demonstrated-on-every-dataset"))
def similar_patches() -> Undecidable:
    """Images of a class are said to have similar patches, which may be exchanged, so that sharing templates is reasonable."""
    return Undecidable("an intuition about images, for which no similarity is named; the inner product that the experiment uses "
                       "is largest for long vectors, not for equal ones (deciphering.s9.experiment-cost)")


@claim("deciphering.s9.second-image", "empirical", title="A second image of the class makes training more efficient",
       latex=r"\text{templates of another image in half of the steps}\implies\text{efficient training}",
       needs=("deciphering.s9.trained", "deciphering.tab1"))
def second_image() -> Undecidable:
    """Templates of another image of the same class, in half of the steps, are said to make training more efficient."""
    return Undecidable("no efficiency is printed, with or without it; and as ViT trains without such templates, what of Table 1's "
                       "difference is due to them and what to transport is not told apart")
