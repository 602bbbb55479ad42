"""The listing `AttentionAsOT`.

Claims     transport.listing.AttentionAsOT            softmax(S/ε) = argmin ⟨P, −S⟩ − ε H(P), P with unit rows
           transport.listing.AttentionAsOT.standard   ε = 1  ⟹  A = softmax(QKᵀ/√d) in each head
           transport.listing.AttentionAsOT.sorting    A_ij/A_il = exp((S_ij − S_il)/ε) in each row  (corrected)
           transport.listing.AttentionAsOT.heads      d_model = n_heads g  ⟹  N n_heads g = N d_model
Notation   as in `listing_notation`; A the weights; P any plan; H heads of width g, N tokens x_p of width D; W, b the weights
           and biases of the four projections, whose rows of queries, keys and values are numbered by head and coordinate
References Prillo and Eisenschlos (2020) for relaxations of sorting with unit rows, whose limit is a permutation
"""

import sympy as sp

from derivations.documents.transport.listing_notation import S, entropy, eps, expense, i, j, l, m, n, softmax
from derivations.vocabulary import *

# ── AttentionAsOT ───────────────────────────────────────────────────────────────────────────────────────────────────


def solves(candidate: Entries) -> UniquePlan:
    """The candidate is the only minimizer of ⟨P, −S⟩ − ε H(P) over plans with unit rows and free columns."""

    def objective(of: Entries) -> sp.Expr:
        return -expense(of, S) - eps * entropy(of)

    return UniquePlan(objective, candidate, n, m, eps, reason="what another plan costs more is ε Σ_ij kl(R_ij ‖ A_ij)")


@claim(
    "transport.listing.AttentionAsOT",
    "listing",
    title="Row-wise softmax solves the semi-relaxed problem",
    latex=r"\mathrm{softmax}(S/\varepsilon)=\arg\min_{P\ge0,\,P\mathbf 1=\mathbf 1}\langle P,-S\rangle-\varepsilon H(P)"
    r"\ \text{for all } S",
    hypotheses=("ε > 0",),
    needs=("eot.113",),
)
def attention() -> Steps:
    """The weights of the module are the one plan that is best with rows of mass 1 and free columns, for every ε > 0."""
    yield solves(softmax(S, eps))


attention.twin("the scores are costs", lambda: solves(softmax(lambda x, y: -S[x, y], eps)))
attention.twin("half the temperature", lambda: solves(softmax(S, eps / 2)))


N, H, G, D = size("N"), size("H"), size("g"), size("D")
token, other, past = index("p", N), index("q", N), index("o", N)
head, coordinate = index("h", H), index("g", G)
model, entry, result = index("a", D), index("b", D), index("c", D)
X = vector("X", N, D)
WQ, WK, WV = vector("WQ", H, G, D), vector("WK", H, G, D), vector("WV", H, G, D)
query_bias, key_bias, value_bias = vector("bQ", H, G), vector("bK", H, G), vector("bV", H, G)
WO, output_bias = vector("WO", D, H, G), vector("bO", D)


def projected(matrix: sp.IndexedBase, bias: sp.IndexedBase, at: sp.Expr) -> sp.Expr:
    """(W x_p + b)_hg."""
    return total(model, matrix[head, coordinate, model] * X[at, model]) + bias[head, coordinate]


def product(at: sp.Expr) -> sp.Expr:
    """⟨q_p, k_at⟩ in the head h."""
    return total(coordinate, projected(WQ, query_bias, token) * projected(WK, key_bias, at))


def output(of: Entry) -> sp.Expr:
    """Each head's weights on its values, the heads side by side through the last projection."""
    read = total(other, of(other) * projected(WV, value_bias, other))
    return total((head, coordinate), WO[result, head, coordinate] * read) + output_bias[result]


def listed(at: sp.Expr) -> sp.Expr:
    """The module's weight of a token at ε = 1: softmax of ⟨q_p, k_at⟩/√d_k."""
    return sp.exp(product(at) / sp.sqrt(G)) / total(past, sp.exp(product(past) / sp.sqrt(G)))


def multi_head(temperature: sp.Expr) -> Equation:
    """The module's output at ε = 1 against multi-head attention with weights 1/Σ_o exp((q·k_o − q·k_q)/temperature)."""

    def weight(at: sp.Expr) -> sp.Expr:
        return 1 / total(past, sp.exp((product(past) - product(at)) / temperature))

    return Equation(output(listed), output(weight), reason="at ε = 1 only √d_k divides the products, head by head")


@claim(
    "transport.listing.AttentionAsOT.standard",
    "listing",
    title="At ε = 1 the module is multi-head attention",
    latex=r"\varepsilon=1\implies\mathrm{out}=W_o\,[A_1V_1,\dots,A_HV_H]+b_o,\quad "
    r"A_h=\mathrm{softmax}(Q_hK_h^\top/\sqrt{d_k})",
    needs=("transport.listing.AttentionAsOT",),
)
def standard() -> Steps:
    """With its default ε the module is ordinary multi-head attention, with the same projections and biases."""
    yield multi_head(sp.sqrt(G))


standard.twin("no temperature", lambda: multi_head(sp.S.One / 2))
standard.twin("the width for its root", lambda: multi_head(3 * G))


def odds(strength: sp.Expr) -> Equation:
    """A_ij/A_il, whatever the others."""
    plan = softmax(S, eps)
    return Equation(
        plan(i, j) / plan(i, l),
        sp.exp(strength * (S[i, j] - S[i, l]) / eps),
        reason="a larger score means a larger weight, row by row",
    )


@claim(
    "transport.listing.AttentionAsOT.sorting",
    "listing",
    title="Attention as soft sorting",
    needs=("transport.listing.AttentionAsOT",),
    latex=r"\lim_{\varepsilon\to0}A^\top\mathbf 1=\mathbf 1\ (\text{a relaxed permutation})",
)
def sorting() -> Steps:
    """A comment calls the weights a soft sorting: a relaxed permutation, which becomes one as ε tends to zero."""
    yield Fails(
        Limit(total(i, softmax(S, eps)(i, j)), eps, sp.S.Zero, sp.S.One, at={n: 2, m: 2, S.label: [[0, 1], [0, 1]], j: 2}),
        reason="two queries that score alike take the same key: the limit has rows (0, 1) and (0, 1), no permutation",
    )


@sorting.corrected(
    r"A_{ij}/A_{il}=e^{(S_{ij}-S_{il})/\varepsilon}",
    Severity.WORDING,
    replaces="the permutation in the limit, by what the weights of one row are to each other",
)
def ranking() -> Steps:
    """Within each row the keys are ranked softly by their scores; nothing keeps two rows from the same key."""
    yield odds(sp.S.One)


sorting.twin("upside down", lambda: odds(-sp.S.One))
sorting.twin("twice as sharp", lambda: odds(sp.Integer(2)))


def entries(right_side: sp.Expr) -> Equation:
    """The numbers that all heads hold."""
    return Equation(
        total((token, head, coordinate), sp.S.One),
        right_side,
        reason="a count only: which widths go through is seen by running the module",
    )


@claim(
    "transport.listing.AttentionAsOT.heads",
    "listing",
    title="Heads of width ⌊d_model/n_heads⌋",
    latex=r"d_{\mathrm{model}}=n_{\mathrm{heads}}\,d_k",
)
def heads() -> Steps:
    """The projections of width d_model are split among the heads, for any two numbers that the module is given."""
    whole = size("d_model")
    yield Fails(
        Equation(H * G, whole, at={H: 2, G: 1, whole: 3}),
        reason="three coordinates and two heads: ⌊3/2⌋ = 1 each, one is left over, and the module stops at its view",
    )


@heads.corrected(
    r"d_{\mathrm{model}}=n_{\mathrm{heads}}\,g\implies N\,n_{\mathrm{heads}}\,g=N\,d_{\mathrm{model}}",
    Severity.HYPOTHESIS,
    under="n_heads divides d_model",
    replaces="the width that the heads make up, by the numbers that they hold for all tokens",
)
def heads_that_divide() -> Steps:
    """Where the number of heads divides the width, nothing is left over."""
    yield entries(N * H * G)


heads.twin("one head's numbers", lambda: entries(N * G / 2))
heads.twin("one token's numbers", lambda: entries(2 * N * H * G))
