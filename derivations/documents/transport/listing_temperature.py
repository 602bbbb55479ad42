"""The listing `analyze_attention_temperature`.

Claims     transport.listing.analyze_attention_temperature   size = exp(mean h_i) ≤ mean of exp h_i  (corrected)
           transport.listing.analyze_attention_temperature.slope   d(mean h_i)/dε = Σ_i Var_{A_i}(S_i)/(nε³) ≥ 0
           transport.listing.analyze_attention_temperature.entropy   h_i ≥ −Σ_j A_ij log(A_ij + GUARD) ≥ h_i − m GUARD
           transport.listing.analyze_attention_temperature.max-attention   d(max_j A_ij)/dε ≤ 0
           transport.listing.analyze_attention_temperature.effective-size   exp h_i ≤ m, the keys  (corrected)
Notation   as in `listing_notation`; A the weights; h_i the entropy of row i
References the listing of the document
"""

import sympy as sp

from derivations.documents.transport.listing_notation import GUARD, HALF, S, eps, i, j, l, m, n, softmax
from derivations.vocabulary import *

A, h = stochastic("A", n, m), vector("h", n)


def row_entropy(plan: Entries, query: sp.Expr) -> sp.Expr:
    """h_i = −Σ_j A_ij log A_ij."""
    return -total(j, xlogx(plan(query, j)))


def mean_entropy() -> sp.Expr:
    """(1/n) Σ_i H(A_i)."""
    return total(i, row_entropy(A, i)) / n


def mean_size() -> sp.Expr:
    """(1/n) Σ_i exp H(A_i)."""
    return total(i, sp.exp(row_entropy(A, i))) / n


def geometric_mean() -> sp.Expr:
    """exp((1/n) Σ_i h_i)."""
    return sp.exp(total(i, h[i]) / n)


def average_first(bound: sp.Expr, because: sp.Expr | None = None, share: sp.Expr = sp.S.One) -> AtLeast:
    """(1/n) Σ_i exp h_i, or a share of it."""
    return AtLeast(share * total(i, sp.exp(h[i])) / n, bound, because=because, reason="Jensen's inequality, with what is lost")


def within(bound: sp.Expr) -> AtLeast:
    """The logarithm of what is reported, (1/n) Σ_i H(A_i)."""
    return AtLeast(
        bound, mean_entropy(), because=total((i, j), kl(A[i, j], 1 / m)) / n, reason="log m − H(A_i) = Σ_j kl(A_ij ‖ 1/m)"
    )


@claim(
    "transport.listing.analyze_attention_temperature",
    "listing",
    title="Three means over the queries",
    latex=r"\mathtt{entropy}=\tfrac1n\sum_iH(A_i),\ \mathtt{max\_attention}=\tfrac1n\sum_i\max_jA_{ij},\ "
    r"\mathtt{effective\_size}=\tfrac1n\sum_i\exp H(A_i)\ \text{(heads)}",
    needs=(
        "transport.listing.analyze_attention_temperature.entropy",
        "transport.listing.analyze_attention_temperature.effective-size",
        "transport.listing.analyze_attention_temperature.average",
    ),
)
def temperature() -> Steps:
    """For each temperature three numbers are reported, as means: entropy, largest weight, effective number of heads."""
    yield Fails(
        Equation(sp.exp(mean_entropy()), mean_size(), at={n: 2, m: 2, A.label: [[HALF, HALF], [0, 1]]}),
        reason="two queries, of two keys and of one: the mean size is 3/2, √2 is reported, and there is one head",
    )


@temperature.corrected(
    r"\mathtt{effective\_size}=\exp\Big(\tfrac1n\sum_iH(A_i)\Big)\le\tfrac1n\sum_i\exp H(A_i),\quad"
    r"\log\mathtt{effective\_size}\le\log m\ \text{(keys)}",
    Severity.SLIP,
    replaces="the mean of sizes, by a bound of the logarithm of what is reported",
)
def temperature_of_keys() -> Steps:
    """The first two are the means they are called; the third is a geometric mean of numbers of keys, at most m."""
    yield average_first(geometric_mean(), total(i, kl(geometric_mean(), sp.exp(h[i]))) / n)
    yield within(sp.log(m))


temperature.twin("half a unit less", lambda: within(sp.log(m) - HALF))
temperature.twin("the root of m", lambda: within(sp.log(m) / 2))


def row_variance(query: sp.Expr) -> sp.Expr:
    """Σ_j A_ij (S_ij − Σ_l A_il S_il)²."""
    plan = softmax(S, eps)
    return total(j, plan(query, j) * S[query, j] ** 2) - total(j, plan(query, j) * S[query, j]) ** 2


def slope(right_side: sp.Expr) -> Equation:
    """d/dε of the mean entropy of the rows."""
    mean = total(i, row_entropy(softmax(S, eps), i)) / n
    return Equation(derivative(mean, eps), right_side, reason="row by row; a variance, so never negative")


@claim(
    "transport.listing.analyze_attention_temperature.slope",
    "listing",
    title="Entropy grows with the temperature",
    latex=r"\frac{d}{d\varepsilon}\Big(\frac1n\sum_iH(A_i)\Big)=\frac1{n\varepsilon^3}\sum_i\mathrm{Var}_{A_i}(S_i)\ge0",
    needs=("eot.s3.trade-off",),
)
def entropy_grows() -> Steps:
    """From one temperature to the next the mean entropy of the rows grows, at the rate of the variance of the scores."""
    plan = softmax(S, eps)
    squares = total(j, plan(i, j) * (S[i, j] - total(l, plan(i, l) * S[i, l])) ** 2)
    yield AtLeast(total(i, row_variance(i)) / (n * eps**3), 0, because=total(i, squares) / (n * eps**3), reason="variances")
    yield slope(total(i, row_variance(i)) / (n * eps**3))


entropy_grows.twin("the sign", lambda: slope(-total(i, row_variance(i)) / (n * eps**3)))
entropy_grows.twin("one power of ε too few", lambda: slope(total(i, row_variance(i)) / (2 * n * eps**2)))

positive_weights = vector("A", n, m, kind=Positive)


def guarded(query: sp.Expr) -> sp.Expr:
    """−Σ_j A_ij log(A_ij + 1e-8), what is reported."""
    return -total(j, A[query, j] * sp.log(A[query, j] + GUARD))


def reported(bound: sp.Expr, because: sp.Expr | None = None) -> AtLeast:
    """The reported entropy of a row."""
    return AtLeast(
        guarded(i),
        bound,
        because=because,
        reason="log(1 + x) ≤ x, entry by entry; a one-hot row "
        "reports −1e-8, and in float16, where the 1e-8 is 0, 0 · log 0: NaN",
    )


def plain() -> sp.Expr:
    """H(A_i) − m · 1e-8."""
    return row_entropy(A, i) - m * GUARD


def at_most() -> AtLeast:
    """The contribution of a positive weight to the entropy, and to the reported number."""
    x = positive_weights[i, j]
    return AtLeast(
        -xlogx(x),
        -x * sp.log(x + GUARD),
        because=x / (x + GUARD) * (kl(x + GUARD, x) + GUARD),
        reason="log(x + 1e-8) ≥ log x; a weight of 0 adds nothing to either",
    )


@claim(
    "transport.listing.analyze_attention_temperature.entropy",
    "listing",
    title="The reported entropy is the entropy",
    latex=r"-\sum_jA_{ij}\log(A_{ij}+10^{-8})\ge H(A_i)-m\,10^{-8},\quad-A_{ij}\log A_{ij}\ge-A_{ij}\log(A_{ij}+10^{-8})",
)
def reported_entropy() -> Steps:
    """The 1e-8 in the logarithm, which zeros need, costs at most 1e-8 for each key and adds nothing."""
    yield at_most()
    yield reported(plain(), total(j, kl(A[i, j], A[i, j] + GUARD)))


reported_entropy.twin("more than the entropy", lambda: reported(plain() + sp.Rational(1, 10)))
reported_entropy.twin("twice the entropy", lambda: reported(2 * plain() + 1))

gap = vector("g", m, kind=Nonnegative)


def largest(right_side: sp.Expr) -> Equation:
    """d/dε of the largest weight, 1/Σ_l exp(−g_l/ε) with g_l = max S − S_l ≥ 0."""
    top = 1 / total(l, sp.exp(-gap[l] / eps))
    return Equation(derivative(top, eps), right_side, reason="never positive, as g ≥ 0")


def drop(power: int) -> sp.Expr:
    """Σ_l g_l exp(−g_l/ε)/(ε^power Z²)."""
    return total(l, gap[l] * sp.exp(-gap[l] / eps)) / (eps**power * total(l, sp.exp(-gap[l] / eps)) ** 2)


@claim(
    "transport.listing.analyze_attention_temperature.max-attention",
    "listing",
    title="The largest weight falls with the temperature",
    latex=r"\frac{dA_{\max}}{d\varepsilon}=-\frac{\sum_lg_le^{-g_l/\varepsilon}}{\varepsilon^2Z^2}\le0,"
    r"\quad Z=\textstyle\sum_le^{-g_l/\varepsilon}",
)
def max_attention() -> Steps:
    """The largest weight of a row, reported as its concentration, falls as the temperature grows; among ties it is 1/m."""
    yield largest(-drop(2))


max_attention.twin("the sign", lambda: largest(drop(2)))
max_attention.twin("one power of ε too few", lambda: largest(-drop(1) / 2))

TWO: dict[Variable, Value] = {n: 1, m: 2, A.label: [[HALF, HALF]]}
heads = scalar("H", Positive)


def counted(bound: sp.Expr) -> AtLeast:
    """The logarithm of the effective size of one row, H(A_i)."""
    return AtLeast(bound, row_entropy(A, i), because=total(j, kl(A[i, j], 1 / m)), reason="log m − H(A_i) = Σ kl(A_ij ‖ 1/m)")


@claim(
    "transport.listing.analyze_attention_temperature.effective-size",
    "listing",
    title="The effective number of heads attended to",
    latex=r"H(A_i)\le\log n_{\mathrm{heads}}",
)
def effective_size() -> Steps:
    """A comment calls the exponential of the entropy the effective number of heads that are attended to."""
    yield Fails(
        AtLeast(sp.log(heads), row_entropy(A, i), at={**TWO, heads: 1}),
        reason="one head and two keys with equal scores: two of what is counted, which are keys",
    )


@effective_size.corrected(
    r"1\le\exp H(A_i)\le m\quad\text{(keys)}", Severity.WORDING, replaces="the number of heads, by the number of keys"
)
def effective_keys() -> Steps:
    """It is the effective number of keys: at most m, and m only for the uniform row."""
    yield counted(sp.log(m))


effective_size.twin("half a unit less", lambda: counted(sp.log(m) - HALF))
effective_size.twin("the root of m", lambda: counted(sp.log(m) / 2))


@claim(
    "transport.listing.analyze_attention_temperature.average",
    "listing",
    title="The mean effective size",
    latex=r"\mathrm{size}=\frac1n\sum_i\exp h_i",
    needs=("transport.listing.analyze_attention_temperature.effective-size",),
)
def average() -> Steps:
    """The exponential is followed by a mean; but the entropy has been averaged already."""
    yield Fails(
        Equation(sp.exp(total(i, h[i]) / n), total(i, sp.exp(h[i])) / n, at={n: 2, h.label: [0, 1]}),
        reason="two queries with entropies 0 and 1: exp ½ = 1.65 is reported, the mean is 1.86",
    )


@average.corrected(r"\frac1n\sum_i\exp H(A_i)\ge\exp\Big(\frac1n\sum_iH(A_i)\Big)=\mathtt{effective\_size}", Severity.SLIP)
def geometric_average() -> Steps:
    """What is reported is the geometric mean, never more than the mean, and less unless all rows have the same entropy."""
    yield average_first(geometric_mean(), total(i, kl(geometric_mean(), sp.exp(h[i]))) / n)


average.twin("half the mean", lambda: average_first(geometric_mean(), share=HALF))
average.twin("nine tenths of the mean", lambda: average_first(geometric_mean(), share=sp.Rational(9, 10)))
