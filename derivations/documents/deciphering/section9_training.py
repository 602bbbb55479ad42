"""Section 9: which templates are trained, and statements about images.

Claims     deciphering.s9.trained   ∂ĥ/∂T_i = Σ_l u_l x_il (I + (α/γ)(T_i − h_l)zᵀ), x_il > 0, h_l = Σ_k x_kl T_k
           deciphering.s9.vision    tokens = (side/patch)² + 1
Notation   N templates T_i in 𝒜, n of them in the input, with preferences u_l and costs K_il between the two; W_g the G
           templates of a group, v the preference of its only member in the input; tokens = how many vectors a Vision
           Transformer makes of an image of side × side pixels in patches of patch × patch
References section 9 of the document, from (25) on; ViTForImageClassification in transformers
"""

import sympy as sp

from derivations.documents.deciphering import notation
from derivations.documents.deciphering.notation import a, alpha, b, c, d, n, z
from derivations.documents.deciphering.notation_transport import gamma
from derivations.vocabulary import *

N, G = size("N"), size("G")
i, k, l = index("i", N), index("k", N), index("l", n)  # noqa: E741
inside, member = index("g", G), index("f", G)
T, K, prior = vector("T", N, d), vector("K", N, n), notation.u
v, W = positive("v"), vector("W", G, d)


def share(template: sp.Expr, of: sp.Expr) -> sp.Expr:
    """x(t_i | t_l) = exp((α⟨t_i, z⟩ − K_il)/γ)/Z_l."""

    def raw(to: sp.Expr) -> sp.Expr:
        return sp.exp((alpha * total(c, T[to, c] * z[c]) - K[to, of]) / gamma)

    return raw(template) / total(k, raw(k))


def mean(of: sp.Expr, entry: sp.Expr) -> sp.Expr:
    """Σ_i x(t_i | t_l) (t_i)_a."""
    return total(k, share(k, of) * T[k, entry])


def gradient() -> Equation:
    """∂h_a/∂(t_i)_b for (25), with costs that stay."""
    output = total(l, prior[l] * mean(l, a))
    through_score = total(l, prior[l] * share(i, l) * (T[i, a] - mean(l, a)))
    return Equation(
        derivative(output, T[i, b]),
        total(l, prior[l] * share(i, l)) * delta(a, b) + alpha / gamma * z[b] * through_score,
        reason="t_i is averaged with its weight, and scored",
    )


def weight(template: sp.Expr) -> sp.Expr:
    """(25) within a group: v exp(α⟨t_g, z⟩/γ)/Σ_𝒢 exp(α⟨t, z⟩/γ)."""

    def raw(of: sp.Expr) -> sp.Expr:
        return sp.exp(alpha * total(c, W[of, c] * z[c]) / gamma)

    return v * raw(template) / total(member, raw(member))


def in_group(pull: sp.Expr, own: sp.Expr = sp.S.One) -> Equation:
    """∂h_a/∂(t_g)_b against p_g (own · δ_ab + pull · z_b (t_g − the group's mean)_a)."""
    output = total(member, weight(member) * W[member, a])
    apart = W[inside, a] - output / v
    return Equation(
        derivative(output, W[inside, b]),
        weight(inside) * (own * delta(a, b) + pull * z[b] * apart),
        reason="the same where costs are 0 in the group and ∞ across",
    )


@claim(
    "deciphering.s9.trained",
    "identity",
    title="Templates that are not in the input are trained",
    needs=("deciphering.25", "deciphering.s9.group-sharing"),
    latex=r"\frac{\partial\hat h}{\partial t}=p^*(t)\left(I+\tfrac\alpha\gamma(t-\bar t\,)z^\top\right),\quad p^*(t)>0",
)
def trained() -> Steps:
    """A template gets a gradient in proportion to what it has of the input's weights, whether it is in the input or not."""
    yield gradient()
    yield AtLeast(total(l, prior[l] * share(i, l)), 0, strict=True, reason="the closer to a template of the input, the more")
    yield AtLeast(weight(inside), 0, strict=True, reason="in a group all share v > 0")
    yield in_group(alpha / gamma)


trained.twin("the score does not see the template", lambda: in_group(sp.S.Zero))
trained.twin("the score falls with the product", lambda: in_group(-alpha / gamma))
trained.twin("the template is no value", lambda: in_group(alpha / gamma, sp.S.Zero))

tokens, side, patch = scalar("tokens"), size("side"), size("patch")


def counted(right: sp.Expr) -> Equation:
    """The number of vectors in a Vision Transformer."""
    return Equation(tokens, right)


@claim(
    "deciphering.s9.vision",
    "external fact",
    title="A Vision Transformer treats patches as words",
    latex=r"\text{tokens}=(\text{side}/\text{patch})^2+1,\quad\text{the classifier reads the one}",
)
def vision() -> None:
    """Small patches are its words; a special learnable token aggregates their features by attention, and is classified."""


vision.twin("no special token", lambda: counted((side / patch) ** 2))
vision.twin("one token for each row", lambda: counted(side / patch + 1))


@claim(
    "deciphering.s9.similar-patches",
    "equivalence",
    title="Images of a class have similar patches",
    latex=r"\text{similar patches do not alter the class}\implies\text{share templates within it}",
    needs=("deciphering.s9.trained", "deciphering.s9.demonstrated-on-every-dataset"),
)
def similar_patches() -> Undecidable:
    """Images of a class are said to have similar patches, which may be exchanged, so that sharing templates is reasonable."""
    return Undecidable(
        "an intuition about images, for which no similarity is named; the inner product that the experiment "
        "uses is largest for long vectors, not for equal ones (deciphering.s9.experiment-cost)"
    )


@claim(
    "deciphering.s9.second-image",
    "empirical",
    title="A second image of the class makes training more efficient",
    latex=r"\text{templates of another image in half of the steps}\implies\text{efficient training}",
    needs=("deciphering.s9.trained", "deciphering.tab1"),
)
def second_image() -> Undecidable:
    """Templates of another image of the same class, in half of the steps, are said to make training more efficient."""
    return Undecidable(
        "no efficiency is printed, with or without it; and as ViT trains without such templates, what of "
        "Table 1's difference is due to them and what to transport is not told apart"
    )
