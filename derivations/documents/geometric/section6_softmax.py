"""“Softmax Attention”: the framing and its result.

Claims     geometric.s6.framing   argmax ⟨f, p⟩ + H(p) over the simplex = softmax(f)
           geometric.7            softmax(f)_j = exp(f_j)/Σ_k exp(f_k) > 0, with sum 1
Notation   p* = softmax(f); p any point of the simplex; t a number
References (7) and the sentence before it
"""

from collections.abc import Mapping

import sympy as sp

from derivations.documents.eot.notation import entropy, j, l, m, partition
from derivations.documents.eot.regularizers import scaled_entropy, variational
from derivations.documents.geometric.notation import f, p, soft, uniform
from derivations.documents.geometric.section4_summary import solves, star
from derivations.vocabulary import *

shift = scalar("t")


@claim("geometric.s6.most-papers", "empirical", title="Most papers use softmax attention", latex=r"\text{most papers: softmax}")
def most_papers() -> Undecidable:
    """Most papers are said to use some form of softmax attention."""
    return Undecidable("a statement about the literature of a time, which no formula and no code can settle")


def solves_with_the_other_sign(candidate: Entry, at: Mapping[Variable, Value] | None = None) -> UniqueMinimum:
    """The candidate is the only maximizer of ⟨f, p⟩ − H(p), where uniform weights cost the most."""
    return UniqueMinimum(variational(f, scaled_entropy(-sp.S.One)), candidate, m, sp.S.One, at=at or {})


@claim(
    "geometric.s6.framing",
    "optimality",
    title="Similarity and a penalty for weights that are not uniform give softmax",
    latex=r"\arg\max_{p\in\Delta^{|S|}}\langle f(x),p\rangle-\Omega(p)=\mathrm{softmax}(f(x))",
    hypotheses=("the penalty is the regularizer of section 3: −Ω = H, which is largest at uniform weights",),
    needs=("geometric.4", "geometric.s4.points-along-summary"),
)
def framing() -> Steps:
    """Similarity with the summary against the entropy's penalty, least for uniform weights, gives softmax attention.

    “Penalizing … to be more uniform” is read as a penalty that makes them so; one on uniformity makes basis vectors.
    """
    yield AtLeast(
        entropy(uniform),
        entropy(p),
        because=total(l, kl(p[l], 1 / m)),
        about=(p[j],),
        reason="Ω = −H is least at uniform weights; ½‖p‖² is too, and gives sparsemax instead (eot.prop4.2)",
    )
    yield Fails(solves_with_the_other_sign(star, at={m: 2, f.label: [1, 0]}), reason="for Ω = H, e₁ beats softmax(f)")
    yield solves(star)


# softmax(−f) is where the derivative of ⟨f, p⟩ − H vanishes: its minimum
framing.twin("uniformity is penalized", lambda: solves_with_the_other_sign(soft(lambda location: -f[location])))
framing.twin("the penalty alone", lambda: solves(uniform))
framing.twin("the similarity counts twice", lambda: solves(lambda location: star(location) ** 2 / total(l, star(l) ** 2)))


def unnormalized(right: sp.Expr) -> Equation:
    """softmax(f)_j Σ_k exp(f_k)."""
    return Equation(star(j) * partition(f, sp.S.One), right, reason="one value for each location")


@claim(
    "geometric.7",
    "definition",
    title="Softmax",
    latex=r"\mathrm{softmax}(f)=\frac{\exp(f)}{\sum_{k=1}^{|S|}\exp(f_k)}",
    hypotheses=("exp entry by entry", "S numbered from 1 to |S|"),
)
def softmax_attention() -> Steps:
    """The vector of exponentials over their sum: positive weights of sum 1 that only depend on differences of f."""
    yield AtLeast(partition(f, sp.S.One), 0, strict=True, reason="never divides by 0")
    yield Equation(total(j, star(j)), 1, about=(f[j],), reason="a pmf")
    yield unnormalized(sp.exp(f[j]))


softmax_attention.twin("without exponentials", lambda: unnormalized(f[j]))
softmax_attention.twin("the sign", lambda: unnormalized(sp.exp(-f[j])))
