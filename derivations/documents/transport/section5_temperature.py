"""Section 5, the table: what the temperature does to attention, row by row.

Claims     transport.s5.cold-one-hot    best key ahead of m others by ≥ δ > 0  ⟹  its weight ≥ 1 − m exp(−δ/ε) → 1
           transport.s5.cold-entropy    0 ≤ ε H(P) ≤ ε n log m → 0
           transport.s5.cold-matching   ⟨A, S⟩ ≥ ⟨R, S⟩ + εH(R) − εn log m, R with unit rows  (corrected)
           transport.s5.hot             A_ij → 1/m as ε → ∞
Notation   A = softmax(S/ε), s one row of S; in `best_weight` the best key leads each of m others by δ + w_l, w ≥ 0;
           P, R plans with unit rows; t = 1/ε
References the table of section 5 of the document
"""

import sympy as sp

from derivations.documents.eot import notation
from derivations.documents.eot.notation import s
from derivations.documents.transport.notation import TOGETHER, A, S, attention, d, entropy, eps, i, j, l, m, n, raw, uniform
from derivations.vocabulary import *

P, R = stochastic("P", n, m), stochastic("R", n, m)
below = vector("w", m, kind=Nonnegative)
lead, t = positive("δ"), positive("t")
weight = notation.softmax(s, eps)(j)


# ── ε → 0 ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def others() -> sp.Expr:
    """Σ_l exp(−(δ + w_l)/ε): what the other keys weigh, beside 1 for the best."""
    return total(l, sp.exp(-(lead + below[l]) / eps))


best_weight = 1 / (1 + others())


def one_hot(others: sp.Expr) -> AtLeast:
    """The best key's weight is at least 1 minus the weight of the others."""
    return AtLeast(best_weight, 1 - others)


def nearly_one_hot() -> AtLeast:
    """1/(1 + x) = 1 − x + x²/(1 + x) with x ≤ m e^{−δ/ε}."""
    spare = sp.exp(-lead / eps) * total(l, kl(sp.exp(-below[l] / eps), 1) + below[l] / eps * sp.exp(-below[l] / eps))
    return AtLeast(
        best_weight,
        1 - m * sp.exp(-lead / eps),
        because=others() ** 2 / (1 + others()) + spare,
        reason="1 − e^{−v} = kl(e^{−v} ‖ 1) + v e^{−v} for each of the others",
    )


@claim(
    "transport.s5.cold-one-hot",
    "limit",
    title="ε → 0: nearly one-hot",
    needs=("transport.lem1",),
    latex=r"\varepsilon\to0:\ A_{ij}\to1\ \text{for a best key } j",
)
def cold_one_hot() -> Steps:
    """As ε vanishes each row of the attention matrix is said to become one-hot, that is, hard attention."""
    yield Fails(
        Limit(weight, eps, sp.S.Zero, sp.S.One, at={m: 2, s.label: [0, 0], j: 1}), reason="tied keys share the row for every ε"
    )


@cold_one_hot.corrected(
    r"s_{j^*}-s_l\ge\delta>0\ (l\ne j^*)\implies A_{j^*}\ge1-(m-1)\,e^{-\delta/\varepsilon}\to1",
    Severity.HYPOTHESIS,
    under="the largest score of a row is not tied",
    replaces="the limit of every row, ties included, by a bound for the best key",
)
def one_hot_without_ties() -> Steps:
    """If one score leads by δ, the other keys keep at most e^{−δ/ε} each, and that vanishes; tied keys share equally."""
    yield Limit(m * sp.exp(-lead / eps), eps, sp.S.Zero, sp.S.Zero, reason="for any number of others")
    yield nearly_one_hot()


cold_one_hot.twin("whatever the number of others", lambda: one_hot(sp.exp(-lead / eps)))
cold_one_hot.twin("for every ε", lambda: one_hot(sp.S.Zero))


def entropy_term(bound: sp.Expr) -> AtLeast:
    """ε H(P) is at most a bound."""
    return AtLeast(bound, eps * entropy(P))


@claim(
    "transport.s5.cold-entropy",
    "inequality",
    title="ε → 0: the entropy term vanishes",
    needs=("transport.thm1",),
    latex=r"0\le\varepsilon H(P)\le\varepsilon\,n\log m,\quad\lim_{\varepsilon\to0}\varepsilon\,n\log m=0",
)
def cold_entropy() -> Steps:
    """The entropy's part of the objective vanishes with ε, for every plan at once."""
    yield AtLeast(-xlogx(t), t * (1 - t), because=t * kl(1, t), reason="≥ 0 for t ≤ 1: no plan has negative entropy")
    yield Limit(eps * n * sp.log(m), eps, sp.S.Zero, sp.S.Zero, reason="the bound vanishes")
    yield AtLeast(
        eps * n * sp.log(m),
        eps * entropy(P),
        because=eps * total(TOGETHER, kl(P[i, j], 1 / m)),
        reason="n log m − H(P) = Σ kl(P_ij ‖ 1/m)",
    )


cold_entropy.twin("as for one row", lambda: entropy_term(eps * sp.log(m)))
cold_entropy.twin("faster than ε", lambda: entropy_term(eps**2 * n * sp.log(m) / 4))


def arriving() -> sp.Expr:
    """Σ_i A_ij."""
    return total(i, A(i, j))


def mean_score(of: Entries) -> sp.Expr:
    """⟨P, S⟩."""
    return total(TOGETHER, of(i, j) * S[i, j])


def loss(bound: sp.Expr) -> AtLeast:
    """Attention's total score is at least a bound."""
    return AtLeast(mean_score(A), bound)


@claim(
    "transport.s5.cold-matching",
    "limit",
    title="ε → 0: attention tends to the optimal matching",
    latex=r"n=m\implies\lim_{\varepsilon\to0}\textstyle\sum_iA_{ij}=1",
    needs=("transport.s5.cold-entropy",),
)
def cold_matching() -> Steps:
    """As the entropy term vanishes the plan is said to tend to the optimal matching of queries with keys."""
    yield Fails(
        Limit(arriving(), eps, sp.S.Zero, sp.S.One, at={n: 2, m: 2, S.label: [[1, 0], [1, 0]], j: 1}),
        reason="both queries go to key 1, and key 2 gets nothing: columns are free, so nothing is matched",
    )


@cold_matching.corrected(
    r"\langle A,S\rangle\ge\langle R,S\rangle+\varepsilon H(R)-\varepsilon\,n\log m"
    r"\ \text{for every plan } R;\ \langle A,S\rangle\to\textstyle\sum_i\max_jS_{ij}",
    Severity.SLIP,
    replaces="columns of mass one, by what the rows score",
)
def best_key_of_each() -> Steps:
    """It tends to the best choice of each query by itself: no plan with unit rows scores higher by more than ε n log m."""
    lost = eps * total(TOGETHER, kl(R[i, j], A(i, j))) + eps * total(TOGETHER, kl(A(i, j), 1 / m))
    yield AtLeast(
        mean_score(A),
        mean_score(R) + eps * entropy(R) - eps * n * sp.log(m),
        because=lost,
        reason="A is optimal, and H(A) ≤ n log m; take the best key of each query for R",
        quotes=(SQUEEZE,),
    )


cold_matching.twin("nothing is lost", lambda: loss(mean_score(R) + eps * entropy(R)))
cold_matching.twin("the rival's entropy counts twice", lambda: loss(mean_score(R) + 2 * eps * entropy(R) - eps * n * sp.log(m)))


# ── ε = 1 and ε → ∞ ─────────────────────────────────────────────────────────────────────────────────────────────────


def at_one(temperature: sp.Expr) -> Equation:
    """The weights at ε = 1, against the softmax of QKᵀ at a temperature, 1/Σ_l exp((q_i·k_l − q_i·k_j)/temperature)."""
    return Equation(
        attention(i, j).xreplace({eps: sp.S.One}),
        1 / total(l, sp.exp((raw(i, l) - raw(i, j)) / temperature)),
        reason="S = QKᵀ/√d",
    )


@claim(
    "transport.s5.standard",
    "identity",
    title="ε = 1: the standard softmax",
    latex=r"\varepsilon=1\implies A=\mathrm{softmax}(QK^\top/\sqrt d)",
    needs=("transport.s2.attention",),
)
def standard() -> Steps:
    """At ε = 1 the weights are those of standard attention, which is ε = √d against raw scores.

    That this is moderate regularization has no scale to be judged by: the weights depend on S/ε alone.
    """
    yield Equation(
        eps * derivative(A(i, j), eps),
        -total(l, S[i, l] * derivative(A(i, j), S[i, l])),
        reason="ε has the unit of the scores: the weights are homogeneous of degree 0 in both",
    )
    yield at_one(sp.sqrt(d))


standard.twin("ε = √d besides", lambda: at_one(d))
standard.twin("ε = 1 for raw scores", lambda: at_one(sp.S.One))


def at_infinity(first: sp.Expr) -> Expansion:
    """The weights at t = 1/ε → 0."""
    return Expansion(total_weight(), first, t, 0, reason="every weight tends to the same, whatever the scores")


def total_weight() -> sp.Expr:
    """exp(t s_j)/Σ_l exp(t s_l)."""
    return sp.exp(t * s[j]) / total(l, sp.exp(t * s[l]))


@claim(
    "transport.s5.hot",
    "limit",
    title="ε → ∞: the uniform distribution",
    needs=("transport.lem1",),
    latex=r"\varepsilon\to\infty:\ A_{ij}\to1/m",
)
def hot() -> Steps:
    """With strong regularization every key gets the same: the choice is entirely at random."""
    mean = total(l, s[l]) / m
    yield Expansion(total_weight(), (1 + t * (s[j] - mean)) / m, t, 1, reason="t = 1/ε: scores enter as (s_j − mean)/ε")
    yield at_infinity(uniform(i, j))


hot.twin("the mass of two", lambda: at_infinity(2 / m))
hot.twin("nothing is left", lambda: at_infinity(sp.S.Zero))
