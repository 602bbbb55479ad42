"""The listings `OTAttentionExperiment` and `run_ot_attention_experiment`.

Claims     transport.listing.OTAttentionExperiment         H(mean of A_g) ≥ mean of H(A_g), for heads g  (corrected)
           transport.listing.run_ot_attention_experiment   out_std − out_OT = Σ_j (P_j − B_j) v_j, projections shared
Notation   as in `listing_notation`; A[g, j] > 0 the weights of head g in one row; P, B those of both modules
References the listing of the document
"""

import sympy as sp

from derivations.documents.transport.listing_notation import HALF, j, m
from derivations.vocabulary import *

H = size("H")
head = index("g", H)
W = vector("A", H, m, kind=Positive)
QUARTER = sp.Rational(1, 4)

# ── OTAttentionExperiment ───────────────────────────────────────────────────────────────────────────────────────────


def averaged(key: sp.Expr) -> sp.Expr:
    """The mean over the heads, which nn.MultiheadAttention returns by default."""
    return total(head, W[head, key]) / H


def of_the_mean() -> sp.Expr:
    """The entropy of the averaged head."""
    return -total(j, xlogx(averaged(j)))


def mean_of_all() -> sp.Expr:
    """The mean of the heads' entropies."""
    return -total((head, j), xlogx(W[head, j])) / H


def at_least(bound: sp.Expr, because: sp.Expr | None = None) -> AtLeast:
    """The entropy of the averaged head."""
    return AtLeast(
        of_the_mean(), bound, because=because, reason="what is left is the mean divergence of the heads from their mean"
    )


@claim(
    "transport.listing.OTAttentionExperiment",
    "listing",
    title="Two entropies, compared",
    latex=r"H_{\mathrm{std}}\ \text{vs}\ H_{\mathrm{OT}}",
    needs=("transport.listing.OptimalTransportAttention",),
)
def experiment() -> Steps:
    """The entropies of both kinds of attention are printed side by side, as the same quantity."""
    yield Fails(
        Equation(of_the_mean(), mean_of_all(), at={H: 2, m: 2, W.label: [[3 * QUARTER, QUARTER], [QUARTER, 3 * QUARTER]]}),
        reason="the same weights in both: one side averages the heads first, so that two heads that disagree look spread out",
    )


@experiment.corrected(r"H\Big(\frac1H\sum_gA_g\Big)\ge\frac1H\sum_gH(A_g)", Severity.SLIP)
def experiment_compares_heads() -> Steps:
    """The averaged head has never less entropy than the heads have on average.

    To compare the two kinds of attention takes `average_attn_weights=False`, and the projections of one module copied into
    the other: each draws its own, so that even the same kind of attention, head by head, gives two numbers.
    """
    yield at_least(mean_of_all(), total((head, j), kl(W[head, j], averaged(j))) / H)


experiment.twin("one half more", lambda: at_least(mean_of_all() + HALF))
experiment.twin("twice the mean", lambda: at_least(2 * mean_of_all() + 1))

# ── run_ot_attention_experiment ─────────────────────────────────────────────────────────────────────────────────────

B, X = vector("B", m, kind=Positive), vector("X", m)
P = vector("P", m, kind=Positive)
first, second = scalar("w"), scalar("y")


def difference(left: sp.Expr, right: sp.Expr) -> sp.Expr:
    """Σ_j P_j (left · X_j) − Σ_j B_j (right · X_j): two outputs, for one coordinate of the values."""
    return total(j, P[j] * left * X[j]) - total(j, B[j] * right * X[j])


def shared(right_side: sp.Expr) -> Equation:
    """The difference of the outputs with one projection for both."""
    return Equation(difference(first, first), right_side, reason="with the same projection only the weights make a difference")


def by_weights(sign: int) -> sp.Expr:
    """Σ_j (P_j − B_j) w X_j."""
    return total(j, (P[j] - sign * B[j]) * first * X[j])


@claim(
    "transport.listing.run_ot_attention_experiment",
    "listing",
    title="Are the outputs close?",
    latex=r"\mathrm{out}_{\mathrm{std}}-\mathrm{out}_{\mathrm{OT}}=\sum_j(P_j-B_j)\,v_j",
    needs=("transport.listing.OTAttentionExperiment",),
)
def outputs() -> Steps:
    """Whether the outputs agree on a simple task is printed, as if it told whether the two kinds of attention do."""
    yield Fails(
        Equation(
            difference(first, second), by_weights(1), at={m: 1, P.label: [1], B.label: [1], X.label: [1], first: 1, second: 2}
        ),
        reason="one token, where all attention is the same: the two modules start from different random projections",
    )


@outputs.corrected(
    r"\mathrm{out}_{\mathrm{std}}-\mathrm{out}_{\mathrm{OT}}=\sum_j(P_j-B_j)\,v_j",
    Severity.HYPOTHESIS,
    under="both modules have the same projections",
    replaces="outputs through two different projections",
)
def outputs_with_shared_projections() -> Steps:
    """With shared projections the outputs differ by what the weights differ, and their closeness says something."""
    yield shared(by_weights(1))


outputs.twin("the sum of the weights", lambda: shared(by_weights(-1)))
outputs.twin("half the difference", lambda: shared(by_weights(1) / 2))


@claim(
    "transport.listing.run_ot_attention_experiment.printed",
    "empirical",
    title="What the experiment prints",
    latex=r"H_{\mathrm{std}},\ H_{\mathrm{OT}},\ \text{shape},\ \text{close}",
    needs=("transport.listing.run_ot_attention_experiment",),
)
def printed() -> None:
    """The experiment is to run on a simple task, and to print two entropies, a shape and whether the outputs agree."""
