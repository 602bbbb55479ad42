"""The listing `compute_attention_ot_divergence`: what its value supposedly measures.

Claims     transport.listing.compute_attention_ot_divergence.deviation   ε KL(P ‖ A) = J(P) − J(A)  (corrected)
Notation   as in `listing_notation`, for n queries and n keys with even or other marginals a; A_ij = a_i softmax(S_i/ε)_j the
           weights of attention as a plan; P any plan with both marginals, such as the one of entropic transport for C = −S;
           J(P) = −⟨P, S⟩ − ε H(P)
References the docstring of the listing
"""

import sympy as sp

from derivations.documents.transport.listing_divergence import P, S, a, inner, key, measure
from derivations.documents.transport.listing_notation import HALF, eps, i, n
from derivations.vocabulary import *


def attention(query: sp.Expr, target: sp.Expr) -> sp.Expr:
    """A_ij = a_i exp(S_ij/ε)/Σ_l exp(S_il/ε)."""
    return a[query] * sp.exp(S[query, target] / eps) / total(inner, sp.exp(S[query, inner] / eps))


def least(of: Entries, entropy: sp.Expr = sp.S.One) -> sp.Expr:
    """⟨P, −S⟩ − entropy · ε H(P), what both problems minimize."""
    cost = -total((i, key), of(i, key) * S[i, key])
    return cost + entropy * eps * total((i, key), xlogx(of(i, key)))


def deviation(right: sp.Expr, reason: str = "", at: dict[Variable, Value] | None = None) -> Equation:
    """KL(P ‖ A) against a value."""
    return Equation(total((i, key), kl(P[i, key], attention(i, key))), right, at=at or {}, reason=reason)


@claim(
    "transport.listing.compute_attention_ot_divergence.deviation",
    "listing",
    title="How far attention is from transport",
    latex=r"\mathrm{KL}(P\|A)=S_\varepsilon(\tfrac1n\mathbf 1,\tfrac1n\mathbf 1)",
    needs=("transport.listing.compute_attention_ot_divergence", "transport.listing.AttentionAsOT"),
)
def deviates() -> Steps:
    """The value is called the deviation of attention from true optimal transport, whose plan has even columns too."""
    even = [HALF, HALF]
    yield Fails(
        deviation(
            measure(sp.S.One, HALF, HALF),
            at={n: 2, a.label: even, P.label: [[HALF / 2] * 2] * 2, S.label: [[0, 1], [0, 1]], eps: 1},
        ),
        reason="two queries that prefer one key: softmax gives it 0.73 of both, transport gives it half, and the value is 0",
    )


@deviates.corrected(
    r"\mathrm{KL}(P\|A)=\frac{(\langle P,-S\rangle-\varepsilon H(P))-(\langle A,-S\rangle-\varepsilon H(A))}\varepsilon",
    Severity.FATAL,
    replaces="the Sinkhorn divergence of the marginals, which is 0",
)
def excess_of_the_balanced_plan() -> Steps:
    """A plan with even columns deviates from attention by what it costs more, over ε: the difference of two least values."""
    yield deviation((least(P) - least(attention)) / eps, "A is best among the plans with the rows a; P has these rows too")


deviates.twin("costs alone", lambda: deviation((least(P, sp.S.Zero) - least(attention, sp.S.Zero)) / eps))
deviates.twin("not divided by ε", lambda: deviation(least(P) - least(attention)))


@claim(
    "transport.listing.compute_attention_ot_divergence.quality",
    "listing",
    title="A measure of the quality of attention",
    latex=r"S_\varepsilon\text{ as a measure of attention quality}",
    needs=("transport.listing.compute_attention_ot_divergence",),
)
def quality() -> Undecidable:
    """The value is called a measure of attention's quality."""
    return Undecidable(
        "no quality is defined; the value is 0 for all queries and keys, so it tells no two of them apart, whatever quality is"
    )
