"""Section 4.2: α-entmax from the Tsallis entropy, line by line, and what fixes its two constants.

Claims     eot.prop4.3                 Ω = Σ_j (p_j^α − p_j)/(α(α − 1))  ⟹  p*_j = ((α − 1)(s_j − θ)₊)^(1/(α−1))
           eot.s4.entmax-generalizes   Ω = ½‖p‖² − ½ for α = 2, and Ω → −H(p) as α → 1
           eot.32                      p_k^(α−1) = (α − 1)s_k + (α − 1)λ + 1/α where p_k > 0
           eot.s4.entmax-threshold     the constant is (α − 1)^(1/(α−1)), and one θ makes the sum 1  (corrected)
           eot.s4.tab1-entmax          s_j − s_k ≥ 1/(α − 1)  ⟹  p*_k = 0
Notation   a = α − 1 > 0; θ the threshold (printed τ), −λ − 1/(α(α−1)); p, μ complementary, and s = θ1 + p^a/a − μ any
           scores; v a vector > 0, not yet normalized; D(y ‖ x) the Bregman divergence of x^α/(α(α−1)), ½(y − x)² for α = 2
References Proposition 4.3 and Table 1 of the document; Peters, Niculae and Martins (2019)
"""

import sympy as sp

from derivations.documents.eot.notation import j, k, l, lam, m, s, softmax
from derivations.documents.eot.regularizers import (
    a,
    alpha,
    entmax,
    every_score,
    falling_terms,
    half_square,
    mu,
    others,
    p,
    theta,
    tsallis,
    tsallis_scores,
    unspent,
    variational,
)
from derivations.vocabulary import *

v = vector("v", m, kind=Positive)
b, t, x = positive("b"), positive("t"), scalar("x")
w, c = scalar("w", Nonnegative), scalar("c", Nonnegative)
two = sp.Integer(2)


def uniform(key: sp.Expr) -> sp.Expr:
    """1/m for every key."""
    return 1 / m


def solves(candidate: Entry) -> UniqueMinimum:
    """The candidate is the only minimizer of −⟨p, s⟩ plus the negative Tsallis entropy."""
    return UniqueMinimum(
        variational(tsallis_scores, tsallis()),
        candidate,
        m,
        sp.S.One,
        alpha,
        unspent,
        reason="J(q) − J(p*) = Σ_j D(q_j ‖ p*_j) + Σ_j μ_j q_j",
    )


def mass(scores: Entry, threshold: sp.Expr) -> sp.Expr:
    """Σ_j ((α − 1)(s_j − θ)₊)^(1/(α−1))."""
    return total(j, entmax(scores, threshold)(j))


def one_threshold() -> Steps:
    """For any scores exactly one θ makes the weights sum to 1."""
    top = entmax(s, s[k] - 1 / a)
    yield AtLeast(
        total(j, top(j)),
        1,
        because=total(j, (1 - sp.KroneckerDelta(j, k)) * top(j)),
        reason="1/(α − 1) below any score the sum is at least 1",
    )
    yield from falling_terms()  # and so do their powers: one root
    yield from every_score(a)
    yield Equation(mass(tsallis_scores, theta), 1, reason="so θ in s = θ1 + p^a/a − μ is that root")


@claim(
    "eot.prop4.3",
    "optimality",
    title="α-entmax from the Tsallis entropy",
    needs=("eot.19",),
    latex=r"\Omega=\tfrac{1}{\alpha(\alpha-1)}\textstyle\sum_j(p_j^\alpha-p_j)\implies"
    r" p^\star_j=\left((\alpha-1)(s_j-\theta)_+\right)^{1/(\alpha-1)}",
    hypotheses=("α > 1",),
)
def entmax_from_tsallis() -> Steps:
    """With the negative Tsallis entropy as regularizer the only solution is α-entmax, for any scores and any α > 1."""
    yield from one_threshold()
    yield solves(entmax(tsallis_scores, theta))


entmax_from_tsallis.twin("the exponent α − 1", lambda: solves(lambda key: (a * plus(tsallis_scores(key) - theta)) ** a))
entmax_from_tsallis.twin("sparsemax for every α", lambda: solves(lambda key: plus(tsallis_scores(key) - theta)))
entmax_from_tsallis.twin("softmax", lambda: solves(softmax(tsallis_scores, sp.S.One)))


@claim(
    "eot.25",
    "definition",
    title="Negative Tsallis α-entropy",
    hypotheses=("α > 1",),
    latex=r"\Omega(p) = \tfrac{1}{\alpha(\alpha-1)}\textstyle\sum_j(p_j^\alpha-p_j)",
)
def tsallis_regularizer() -> Steps:
    """A power sum less the plain sum: it is 0 at every corner of the simplex and lowest at the uniform vector."""
    corner = tsallis()(lambda key: sp.KroneckerDelta(key, k))
    yield Equation(corner, 0, about=(k,), reason="at a corner")
    yield AtLeast(
        tsallis()(p), tsallis()(uniform), because=total(j, bregman(p[j], 1 / m, alpha)), reason="Ω(p) − Ω(1/m) = Σ D(p_j ‖ 1/m)"
    )
    yield Equation(tsallis()(uniform), (m ** (-a) - 1) / (a * alpha), reason="m equal terms")


tsallis_regularizer.twin("without the 1/α", lambda: Equation(tsallis()(uniform), (m ** (-a) - 1) / a))
tsallis_regularizer.twin("the sign", lambda: Equation(tsallis()(uniform), (1 - m ** (-a)) / (a * alpha)))


@claim(
    "eot.s4.entmax-generalizes",
    "limit",
    title="α-entmax generalizes sparsemax and, in the limit, softmax",
    latex=r"\alpha=2:\ \Omega=\tfrac12\|p\|^2-\tfrac12;\qquad \alpha\to1^+:\ \Omega\to -H(p)",
    needs=("eot.prop4.3",),
    part_of="eot.prop4.3",
)
def entmax_generalizes() -> Steps:
    """At α = 2 the regularizer is that of sparsemax, and as α falls to 1 it becomes the negative Shannon entropy."""
    yield Equation(tsallis(two)(p), half_square(p) - sp.Rational(1, 2), reason="α = 2: a constant apart")
    yield Limit(
        ((a * x + 1 / alpha) ** (1 / a)),
        a,
        sp.S.Zero,
        sp.exp(x - 1),
        reason="with x = s_j + λ, the solution's entries become exponentials",
    )
    yield Limit((b**alpha - b) / (a * alpha), a, sp.S.Zero, b * sp.log(b), reason="each term of Ω, a derivative of b^α; 0 at 0")


entmax_generalizes.twin("the limit's sign", lambda: Limit((b**alpha - b) / (a * alpha), a, sp.S.Zero, -b * sp.log(b)))
entmax_generalizes.twin("without the factor p", lambda: Limit((b**alpha - b) / (a * alpha), a, sp.S.Zero, sp.log(b)))


# ── the objective and its Lagrangian ────────────────────────────────────────────────────────────────────────────────


def objective() -> sp.Expr:
    """J(v) by (19) with (25)."""
    return variational(s, tsallis())(v)


def printed_objective(outer: sp.Expr, inner: int) -> sp.Expr:
    """−Σ v s + outer · Σ (v^α − inner · v)."""
    return -total(j, v[j] * s[j]) + outer * total(j, v[j] ** alpha) - inner * outer * total(j, v[j])


@claim(
    "eot.26",
    "identity",
    title="The objective",
    needs=("eot.19", "eot.25"),
    latex=r"J(p) = -\textstyle\sum_jp_js_j+\tfrac1{\alpha(\alpha-1)}\sum_j(p_j^\alpha-p_j)",
)
def tsallis_objective() -> Steps:
    """The problem's objective with the negative Tsallis entropy in place of Ω."""
    yield Equation(objective(), printed_objective(1 / (a * alpha), 1), reason="(25) in (19)")


tsallis_objective.twin("without the 1/α", lambda: Equation(objective(), printed_objective(1 / a, 1)))
tsallis_objective.twin("the plain sum is added", lambda: Equation(objective(), printed_objective(1 / (a * alpha), -1)))


def lagrangian(values: Entry, scores: Entry, multiplier: sp.Expr) -> sp.Expr:
    """J + λ(1 − Σ p) at any vector."""
    return variational(scores, tsallis())(values) + multiplier * (1 - total(j, values(j)))


multiplier_at_optimum = -theta - 1 / (a * alpha)
rival = vector("q", m, kind=Nonnegative)


@claim(
    "eot.27",
    "identity",
    title="The Lagrangian of the sum constraint",
    needs=("eot.26",),
    latex=r"\mathcal L(p,\lambda) = J(p)+\lambda(1-\textstyle\sum_jp_j)",
)
def lagrange_function() -> Steps:
    """Only the sum has a multiplier; p ≥ 0 stays a domain, and on it the solution minimizes the Lagrangian."""
    at_rival = lagrangian(rival, tsallis_scores, multiplier_at_optimum)
    yield AtLeast(
        at_rival,
        lagrangian(p, tsallis_scores, multiplier_at_optimum),
        because=total(j, bregman(rival[j], p[j], alpha)) + total(j, mu[j] * rival[j]),
        reason="for every q ≥ 0, of any sum: no multiplier of p ≥ 0 is missing",
    )
    yield Equation(
        lagrangian(v, s, lam),
        printed_objective(1 / (a * alpha), 1) + lam - lam * total(j, v[j]),
        reason="(26) plus λ times the residual",
    )


lagrange_function.twin(
    "λ has the other sign",
    lambda: Equation(lagrangian(v, s, lam), printed_objective(1 / (a * alpha), 1) - lam + lam * total(j, v[j])),
)
lagrange_function.twin(
    "λ without the constant",
    lambda: Equation(lagrangian(v, s, lam), printed_objective(1 / (a * alpha), 1) - lam * total(j, v[j])),
)


share, remainder = t / (1 + t), 1 / (1 + t)


def chord_gap(exponent: sp.Expr) -> sp.Expr:
    """The chord of (x^α − x)/(α(α−1)) between w and c, less its value at the mixture."""

    def term(value: sp.Expr) -> sp.Expr:
        return (value**exponent - value) / (exponent * (exponent - 1))

    return share * term(w) + remainder * term(c) - term(share * w + remainder * c)


@claim(
    "eot.s4.tsallis-convex",
    "inequality",
    title="The objective is convex for α > 1",
    needs=("eot.26",),
    latex=r"\omega''(x) = x^{\alpha-2}>0\ (x>0)",
    hypotheses=("α > 1",),
)
def tsallis_is_convex() -> Steps:
    """Each term lies strictly below its chords on [0, ∞), 0 included; the scores and λ add only linear terms."""
    middle = share * w + remainder * c
    yield StrictUnlessEqual(
        chord_gap(alpha), sp.S.Zero, w, c, middle, (share, remainder), alpha, reason="the gap is t D(w ‖ z) + (1 − t) D(c ‖ z)"
    )
    yield Equation(derivative(derivative((b**alpha - b) / (a * alpha), b), b), b ** (a - 1), reason="x^(α−2) > 0")


tsallis_is_convex.twin(
    "α − 1 for its power", lambda: Equation(derivative(derivative((b**alpha - b) / (a * alpha), b), b), a * b ** (a - 1))
)
tsallis_is_convex.twin("concave", lambda: Equation(derivative(derivative((b**alpha - b) / (a * alpha), b), b), -(b ** (a - 1))))


# ── stationarity, and its solution ──────────────────────────────────────────────────────────────────────────────────


def slope() -> sp.Expr:
    """∂L/∂p_k, differentiated from the whole Lagrangian."""
    return derivative(lagrangian(v, s, lam), v[k])


@claim(
    "eot.28",
    "identity",
    title="Stationarity where p_k > 0",
    needs=("eot.27",),
    hypotheses=("p_k > 0",),
    latex=r"-s_k+\tfrac1{\alpha(\alpha-1)}(\alpha p_k^{\alpha-1}-1)-\lambda = 0",
)
def stationary() -> Steps:
    """The slope of the Lagrangian, and it vanishes at the solution for every key that gets weight."""
    own = -tsallis_scores(k) + (alpha * p[k] ** a - 1) / (a * alpha) - multiplier_at_optimum
    yield Equation(p[k] * own, 0, about=(p[k],), reason="it is μ_k at p*, and p_k μ_k = 0")
    yield Equation(slope(), -s[k] + (alpha * v[k] ** a - 1) / (a * alpha) - lam, reason="(x^α)' = α x^(α−1)")


stationary.twin("λ has the other sign", lambda: Equation(slope(), -s[k] + (alpha * v[k] ** a - 1) / (a * alpha) + lam))
stationary.twin("the − 1 is lost", lambda: Equation(slope(), -s[k] + v[k] ** a / a - lam))


def residual(factor: sp.Expr, right: sp.Expr) -> Equation:
    """The slope times a positive factor is left side less right side: one vanishes iff the other does."""
    return Equation(slope(), right / factor, reason="multiplied by a number > 0")


@claim(
    "eot.29",
    "equivalence",
    title="The power's term isolated",
    needs=("eot.28",),
    latex=r"\frac{\alpha p_k^{\alpha-1}-1}{\alpha(\alpha-1)} = s_k+\lambda",
)
def isolated() -> Steps:
    """Stationarity holds exactly when the entropy's slope is s_k + λ."""
    yield residual(sp.S.One, (alpha * v[k] ** a - 1) / (a * alpha) - (s[k] + lam))


isolated.twin("λ has the other sign", lambda: residual(sp.S.One, (alpha * v[k] ** a - 1) / (a * alpha) - (s[k] - lam)))
isolated.twin("without the 1/α", lambda: residual(sp.S.One, (alpha * v[k] ** a - 1) / a - (s[k] + lam)))


@claim(
    "eot.30",
    "equivalence",
    title="Multiplied by α(α − 1)",
    needs=("eot.29",),
    latex=r"\alpha p_k^{\alpha-1}-1 = \alpha(\alpha-1)(s_k+\lambda)",
)
def multiplied() -> Steps:
    """The fraction is cleared."""
    yield residual(a * alpha, alpha * v[k] ** a - 1 - a * alpha * (s[k] + lam))


multiplied.twin("λ is not multiplied", lambda: residual(a * alpha, alpha * v[k] ** a - 1 - a * alpha * s[k] - lam))
multiplied.twin("α is lost", lambda: residual(a * alpha, alpha * v[k] ** a - 1 - a * (s[k] + lam)))


@claim(
    "eot.31",
    "equivalence",
    title="The 1 moved across",
    needs=("eot.30",),
    latex=r"\alpha p_k^{\alpha-1} = 1+\alpha(\alpha-1)(s_k+\lambda)",
)
def constant_moved() -> Steps:
    """The constant 1 changes sides."""
    yield residual(a * alpha, alpha * v[k] ** a - (1 + a * alpha * (s[k] + lam)))


constant_moved.twin("− 1 on the right", lambda: residual(a * alpha, alpha * v[k] ** a - (a * alpha * (s[k] + lam) - 1)))
constant_moved.twin("λ has the other sign", lambda: residual(a * alpha, alpha * v[k] ** a - (1 + a * alpha * (s[k] - lam))))


@claim(
    "eot.32",
    "equivalence",
    title="Divided by α",
    needs=("eot.31",),
    latex=r"p_k^{\alpha-1} = (\alpha-1)s_k+\left((\alpha-1)\lambda+\tfrac1\alpha\right)",
)
def divided() -> Steps:
    """The power of the weight is the score times α − 1, plus a constant."""
    yield residual(a, v[k] ** a - (a * s[k] + (a * lam + 1 / alpha)))


divided.twin("1 for 1/α", lambda: residual(a, v[k] ** a - (a * s[k] + (a * lam + 1))))
divided.twin("λ is not multiplied", lambda: residual(a, v[k] ** a - (a * s[k] + (lam + 1 / alpha))))


@claim(
    "eot.s4.linear-in-score",
    "identity",
    title="An affine function of the score, with one threshold",
    needs=("eot.32",),
    latex=r"(\alpha-1)s_k+(\alpha-1)\lambda+\tfrac1\alpha = (\alpha-1)(s_k-\theta),\quad"
    r"\theta = -\lambda-\tfrac1{\alpha(\alpha-1)}",
)
def linear_in_score() -> Steps:
    """With θ = −λ − 1/(α(α−1)) the right side is (α − 1)(s_k − θ), and θ has no k."""
    yield Equation(a * s[k] + (a * lam + 1 / alpha), a * (s[k] - (-lam - 1 / (a * alpha))), reason="α − 1 taken out")


linear_in_score.twin("θ = −λ", lambda: Equation(a * s[k] + (a * lam + 1 / alpha), a * (s[k] + lam)))
linear_in_score.twin(
    "θ = −λ + 1/(α(α−1))", lambda: Equation(a * s[k] + (a * lam + 1 / alpha), a * (s[k] - (-lam + 1 / (a * alpha))))
)


def powers(exponent: sp.Expr) -> Entry:
    """(s_j − θ)₊ to a power."""
    return lambda key: plus(tsallis_scores(key) - theta) ** exponent


@claim(
    "eot.33",
    "optimality",
    title="The solution is proportional to a power of a positive part",
    needs=("eot.prop4.3",),
    latex=r"p_k\propto(s_k-\theta)_+^{1/(\alpha-1)}",
    hypotheses=("α > 1",),
)
def proportional() -> Steps:
    """Weights are one multiple, the same for all keys, of a power of the score's excess over the threshold."""
    yield solves(entmax(tsallis_scores, theta))
    yield Equation(p[k], a ** (1 / a) * powers(1 / a)(k), reason="the multiple is (α − 1)^(1/(α−1))")


proportional.twin("the exponent α − 1", lambda: Equation(p[k], a ** (1 / a) * powers(a)(k)))
proportional.twin("the multiple is 1/(α − 1)", lambda: Equation(p[k], powers(1 / a)(k) / a))


# ── what fixes the threshold and the constant ───────────────────────────────────────────────────────────────────────


def normalized(key: sp.Expr) -> sp.Expr:
    """(s_j − θ)₊^(1/(α−1)) over its sum, for any threshold."""
    return plus(s[key] - theta) ** (1 / a) / total(l, plus(s[l] - theta) ** (1 / a))


@claim(
    "eot.s4.entmax-threshold",
    "equivalence",
    title="Threshold and constant chosen so that the sum is 1",
    latex=r"\textstyle\sum_kc\,(s_k-\theta)_+^{1/(\alpha-1)} = 1\ \text{fixes}\ \theta\ \text{and}\ c",
    needs=("eot.32",),
    part_of="eot.33",
)
def chosen_for_the_sum() -> Steps:
    """Threshold and constant are both said to be chosen by the sum; any threshold has a constant that makes the sum 1."""
    yield Fails(
        UniqueMinimum(
            variational(s, tsallis()),
            normalized,
            m,
            sp.S.One,
            alpha,
            at={m: 2, a: 1, s.label: [sp.Rational(1, 2), 0], theta: -1},
        ),
        reason="α = 2, s = (1/2, 0): θ = −1 with c = 2/5 sums to 1 and gives (3/5, 2/5), sparsemax is (3/4, 1/4)",
    )


@chosen_for_the_sum.corrected(
    r"c=(\alpha-1)^{1/(\alpha-1)},\quad \textstyle\sum_k\left((\alpha-1)(s_k-\theta)_+\right)"
    r"^{1/(\alpha-1)}=1",
    Severity.SLIP,
    replaces="the choice of the constant c",
)
def only_the_threshold() -> Steps:
    """The constant is (α − 1)^(1/(α−1)) by (32); then one θ makes the sum 1, for any scores."""
    yield from one_threshold()
    yield solves(entmax(tsallis_scores, theta))


chosen_for_the_sum.twin("the constant is 1", lambda: solves(powers(1 / a)))
chosen_for_the_sum.twin("the threshold is 1 lower", lambda: solves(entmax(tsallis_scores, theta - 1)))


# ── Table 1 ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def lead() -> sp.Expr:
    """s_j − s_k."""
    return tsallis_scores(j) - tsallis_scores(k)


def support_bound(reach: sp.Expr) -> AtLeast:
    """A key with weight trails every other by at most 1/reach."""
    spare = p[k] * (1 + a) * bregman(1, p[j], alpha) + p[k] * p[j] ** a * others(j) + p[k] * mu[j] + p[k] ** alpha / a
    return AtLeast(
        p[k] / a,
        p[k] * lead() * reach / a,
        because=spare if reach == a else None,
        reason="1 − p^a = aα D(1 ‖ p) + a p^a (1 − p) ≥ 0, and the gap has the term p_k^α/a: strict where p_k > 0",
    )


@claim(
    "eot.s4.tab1-entmax",
    "inequality",
    title="Table 1, α-entmax: α controls the sparsity",
    needs=("eot.prop4.3",),
    latex=r"s_j-s_k\ge\tfrac1{\alpha-1}\implies p^\star_k=0",
    hypotheses=("α > 1",),
    part_of="eot.tab1",
)
def alpha_controls_sparsity() -> Steps:
    """A key that trails another by 1/(α − 1) or more gets weight 0: that lead is ∞ at α = 1 and falls as α grows."""
    yield Limit(1 / a, a, sp.S.Zero, sp.oo, reason="towards softmax no lead is enough")
    yield AtLeast(
        derivative(-1 / a, a), 0, because=1 / a**2, strict=True, reason="a larger α needs a smaller lead", quotes=(MEAN_VALUE,)
    )
    yield support_bound(a)


alpha_controls_sparsity.twin("a lead of half of that", lambda: support_bound(2 * a))
alpha_controls_sparsity.twin("only the best keys get weight", lambda: AtLeast(p[k] / a, p[k] / a + p[k] * lead()))
