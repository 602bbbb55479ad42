"""Section 4.2: the printed correspondences with the literature, and Table 1 as a whole.

Claims     eot.tab1            −τH, ½Σp², Σ(p^α − p)/(α(α − 1)), −τH + γΣp_j|i − j|: each has its mechanism as argmin
           eot.s4.alibi-form   b = −γ/τ: the penalty is divided by τ, ALiBi's bias is not  (corrected)
           eot.s4.alibi-sign   ALiBi adds −slope · (i − j), slope > 0, j ≤ i, so γ = τ · slope  (corrected)
Notation   b = the bias that ALiBi multiplies by the distance, slope = −b > 0 as ALiBi writes it; D_j = i − j ≥ 0 the
           distance from the query at position h back to key j, which causal attention alone can see
References the end of the proof of Proposition 4.4 and Table 1 of the document; Press, Smith and Lewis (2022), where head
           x of n has the slope 2^(−8x/n) and the bias −slope · (i − j) is added to q·k/√d and not divided by √d
"""

import sympy as sp

from derivations.documents.eot.notation import j, m, s, softmax, tau
from derivations.documents.eot.regularizers import (
    a,
    alpha,
    entmax,
    half_square,
    p,
    quadratic_scores,
    scaled_entropy,
    sparsemax,
    theta,
    tsallis,
    tsallis_scores,
    unspent,
    variational,
)
from derivations.documents.eot.section4_alibi import S, distance, gamma, i, penalized, solves
from derivations.vocabulary import *

bias = scalar("b")


def biased(key: sp.Expr) -> sp.Expr:
    """softmax(s_i/τ + b|i − j|), the bias not divided by τ."""
    return softmax(lambda other: S[i, other] / tau + bias * distance(other), sp.S.One)(key)


def corresponds(strength: sp.Expr, **where: object) -> Equation:
    """ALiBi's weights are those of (36) with this γ."""
    return Equation(biased(j), softmax(penalized(strength), tau)(j), reason="(s − γ|i − j|)/τ = s/τ + b|i − j|", **where)  # type: ignore[arg-type]


@claim(
    "eot.s4.alibi-form",
    "equivalence",
    title="ALiBi's bias and −γ",
    needs=("eot.36", "eot.s4.alibi-sign"),
    latex=r"b=-\gamma",
    hypotheses=("ALiBi's bias is added after the division by τ",),
    part_of="eot.prop4.4",
)
def alibi_form() -> Steps:
    """The solution is said to have the form of ALiBi, with minus γ for its linear bias."""
    yield Fails(
        corresponds(-bias, at={m: 2, i: 1, j: 1, tau: 2, S.label: [[0, 0], [0, 0]], bias: -1}),
        reason="at τ = 2 ALiBi's bias is not divided by τ, the penalty is",
    )


@alibi_form.corrected(r"b=-\gamma/\tau", Severity.SLIP)
def alibi_form_with_temperature() -> Steps:
    """The form is ALiBi's with the bias b = −γ/τ: the penalty is divided by τ, ALiBi's bias is not."""
    yield corresponds(-tau * bias)


alibi_form.twin("the sign", lambda: corresponds(tau * bias))
alibi_form.twin("divided, not multiplied", lambda: corresponds(-bias / tau**2))


slope, position = positive("slope"), scalar("h")
back = vector("D", m, kind=Nonnegative)
heads, head = size("n"), size("x")


def shipped(strength: sp.Expr, temperature: sp.Expr) -> Entry:
    """softmax(s/τ + slope · position): what shipped code adds, a bias that grows with the key's position i − D."""
    return softmax(lambda key: s[key] / temperature + strength * (position - back[key]), sp.S.One)


def local_weights(key: sp.Expr) -> sp.Expr:
    """(36) with γ = τ · slope, at the distances D of visible keys."""
    return softmax(lambda other: s[other] - tau * slope * sp.Abs(back[other]), tau)(key)


@claim(
    "eot.s4.alibi-sign",
    "external fact",
    title="ALiBi's slopes are positive and multiply −(i − j)",
    latex=r"\text{ALiBi: } m|i-j|\ \text{with } m<0,\quad m=-\gamma",
)
def alibi_sign() -> Steps:
    """The ALiBi paper is said to write m|i − j| with an m that is typically negative."""
    yield Fails(
        AtLeast(0, 2 ** (-8 * head / sp.sympify(heads)), strict=True, at={heads: 8, head: 1}),
        reason="the paper's m is the slope 2^(−8x/n) of head x of n, which is positive: 1/2 for the first of 8",
    )


@alibi_sign.corrected(
    r"\text{ALiBi: } -m\,(i-j)\ \text{with slopes } m>0,\ j\le i,\quad m=\gamma/\tau",
    Severity.SLIP,
    replaces="the sign of m, and m = −γ",
)
def alibi_slopes() -> Steps:
    """ALiBi subtracts a positive slope times the distance back, for keys j ≤ i: on these, γ is τ times the slope."""
    yield AtLeast(2 ** (-8 * head / sp.sympify(heads)), 0, strict=True, reason="every slope is positive")
    yield as_shipped(slope, tau)


def as_shipped(strength: sp.Expr, temperature: sp.Expr) -> Equation:
    """Locality-biased weights with γ = τ · slope against shipped code."""
    return Equation(
        local_weights(j),
        shipped(strength, temperature)(j),
        reason="slope · (i − D) differs from −slope · D by a constant, which softmax ignores",
    )


alibi_sign.twin("a negative slope", lambda: as_shipped(-slope, tau))
alibi_sign.twin("the slope is divided by τ too", lambda: as_shipped(slope / tau, tau))


@claim(
    "eot.s4.alibi-reference",
    "listing",
    title="The ALiBi paper is not in the references",
    needs=("eot.s4.alibi-form",),
    latex=r"\text{ALiBi}\notin\{[1],\dots,[10]\}",
)
def alibi_reference() -> Undecidable:
    """What “the ALiBi paper” writes is reported in Proposition 4.4, and none of the ten references is that paper."""
    return Undecidable(
        "a missing reference has no truth value; the paper is Press, Smith and Lewis, “Train short, test "
        "long” (2022), and what it and its code write is judged in eot.s4.alibi-form and eot.s4.alibi-sign"
    )


# ── Table 1 ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@claim(
    "eot.tab1",
    "listing",
    title="Four mechanisms and their regularizers",
    needs=("eot.prop4.1", "eot.prop4.2", "eot.prop4.3", "eot.prop4.4"),
    latex=r"-\tau H;\quad \tfrac12\textstyle\sum_jp_j^2;\quad \tfrac1{\alpha(\alpha-1)}\sum_j(p_j^\alpha-p_j);\quad"
    r" -\tau H+\gamma\sum_jp_j|i-j|",
)
def table() -> Steps:
    """Each of the four regularizers makes its mechanism the only solution of the problem."""
    yield UniqueMinimum(variational(s, scaled_entropy(tau)), softmax(s, tau), m, tau, reason="softmax")
    yield UniqueMinimum(
        variational(quadratic_scores, half_square),
        sparsemax(quadratic_scores, theta),
        m,
        sp.S.One,
        sp.Integer(2),
        unspent,
        reason="sparsemax",
    )
    yield UniqueMinimum(
        variational(tsallis_scores, tsallis()), entmax(tsallis_scores, theta), m, sp.S.One, alpha, unspent, reason="α-entmax"
    )
    yield solves(softmax(penalized(gamma), tau))


table.twin("ALiBi's penalty with the other sign", lambda: solves(softmax(penalized(-gamma), tau)))
table.twin("ALiBi's penalty left out", lambda: solves(softmax(penalized(sp.S.Zero), tau)))


# ── what the cited papers call by these names ───────────────────────────────────────────────────────────────────────


def formula(candidate: Entry) -> Equation:
    """The mechanism's entry j, computed elsewhere, against a formula."""
    return Equation(p[j], candidate(j))


@claim(
    "eot.s4.sparsemax-definition",
    "external fact",
    title="This is the sparsemax of the literature",
    latex=r"\mathrm{sparsemax}(s)_j = (s_j-\theta)_+",
    needs=("eot.prop4.2",),
)
def sparsemax_of_the_literature() -> None:
    """What the cited paper's published code computes is the positive part of the scores less the threshold."""


sparsemax_of_the_literature.twin("no positive part", lambda: formula(lambda key: quadratic_scores(key) - theta))
sparsemax_of_the_literature.twin(
    "normalized by division",
    lambda: formula(lambda key: plus(quadratic_scores(key)) / (1 + total(j, plus(quadratic_scores(j))))),
)


@claim(
    "eot.s4.entmax-definition",
    "external fact",
    title="This is the α-entmax of the literature",
    latex=r"\alpha\text{-entmax}(s)_j = \left((\alpha-1)(s_j-\theta)_+\right)^{1/(\alpha-1)}",
    needs=("eot.prop4.3",),
)
def entmax_of_the_literature() -> None:
    """What the cited paper's published code computes is the solution with the negative Tsallis entropy."""


entmax_of_the_literature.twin("the constant is 1", lambda: formula(lambda key: plus(tsallis_scores(key) - theta) ** (1 / a)))
entmax_of_the_literature.twin("sparsemax for every α", lambda: formula(lambda key: plus(tsallis_scores(key) - theta)))
