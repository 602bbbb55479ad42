"""How far attention is from the exact solution, by what is known before anything is computed: sharp bounds in one number q.

Claims     beyond.relative-deviation, beyond.query-bound, beyond.output-bound, beyond.weights-bound, beyond.objective-bound,
           beyond.contraction, beyond.output-attained, beyond.objective-attained
Main claims
           beyond.query-bound          ‖αz − λ*‖ ≤ α‖z‖ q/(1 + q)
           beyond.output-bound         ‖h_c − ĥ‖ ≤ D²/4 α‖z‖ q/(1 + q) = ‖z‖ q²/(1 + q)
           beyond.weights-bound        ‖p_c − p*‖₁/2 ≤ D/4 α‖z‖ q/(1 + q)
           beyond.objective-bound      P(p_c) − P(p*) ≤ D²/8 α²‖z‖² q²/(1 + q) = α/2 ‖z‖² q³/(1 + q)
           beyond.contraction          ‖λ' − λ*‖ ≤ q ‖λ − λ*‖ for λ' = α(z + μ − h(λ)), one more pass
           beyond.output-attained      two templates ±r of equal weight, z → 0: the bounds of λ*, ĥ and p* are attained
Notation   q = kappa = αD²/4, D the diameter of the templates; g = ĥ − μ = z − λ*/α, so that αz = λ* + αg; e = h_c − ĥ, where
           p_c = tilt(αz) is attention and h_c its mean; K = KL(p_c, p*); in `beyond.contraction` αg = λ − λ* for any λ, and
           e = h(λ) − ĥ
References nothing of this is printed; `deciphering.s6.one-pass-mean` for the radius of the templates and what one pass measures

Of g, e and K the proofs know only the hypotheses, so that they hold for every law u.  These are what `beyond.mean-smooth` says
of tilts by αz and λ*, and by λ* and 0, (D²/4)⟨x − y, h(x) − h(y)⟩ ≥ ‖h(x) − h(y)‖², and what `beyond.hoeffding` says of p_c and
p*, whose scores differ by ⟨αz − λ*, t_i⟩, within an interval of length α‖g‖D.
"""

from fractions import Fraction
from functools import cache

import sympy as sp

from derivations import (
    AtLeast,
    Equation,
    Expansion,
    Follows,
    Kind,
    Steps,
    Value,
    Variable,
    claim,
    positive,
    scalar,
    tanh,
    total,
    vector,
)
from derivations.beyond.exact_attention import jeffreys
from derivations.beyond.smoothness import WITHIN
from derivations.deciphering.notation import a, alpha, d, lam, tilt
from derivations.deciphering.section6_ratio import g, kappa, missed, moved, own
from derivations.deciphering.section6_theorem1 import FINITE, tilted

e, K = vector("e", d), scalar("K", Kind.NONNEGATIVE)
Q = "q = αD²/4"
BETWEEN = "q⟨g, e⟩ ≥ ‖e‖², by beyond.mean-smooth for αz and λ*"
FROM_ZERO = "q⟨λ*, g⟩ ≥ α‖g‖², by beyond.mean-smooth for λ* and 0"
COST = "αq‖g‖²/2 ≥ KL(p_c, p*), by beyond.hoeffding"
GIVEN = (*FINITE, WITHIN, Q)

NEAR: dict[Variable, Value] = {d: 1, lam.label: [Fraction(1, 100)], alpha: 1, g.label: [Fraction(999, 100000)], kappa: 1}
"""Two templates ±1 of equal weight at α = q = 1, and little evidence: all bounds are almost equalities."""
FARTHER: dict[Variable, Value] = {**NEAR, e.label: [Fraction(997, 100000)]}
LOSING: dict[Variable, Value] = {**FARTHER, K: Fraction(498, 10**7)}


def evidence(entry: sp.Expr) -> sp.Expr:
    """z_a = λ*_a/α + g_a."""
    return lam[entry] / alpha + g[entry]


@cache
def length() -> sp.Expr:
    """‖z‖²."""
    return total(a, evidence(a) ** 2)


@cache
def from_zero() -> AtLeast:
    """q⟨λ*, g⟩ ≥ α‖g‖²."""
    return AtLeast(kappa * total(a, lam[a] * g[a]), alpha * own)


def residue_of_evidence() -> sp.Expr:
    """‖qz − (1 + q)g‖²."""
    return total(a, (kappa * evidence(a) - (1 + kappa) * g[a]) ** 2)


# ── the query ───────────────────────────────────────────────────────────────────────────────────────────────────────


def deviation(factor: sp.Expr, at: dict[Variable, Value] | None = None) -> Follows:
    """factor · q²‖λ*‖² ≥ α²‖g‖²."""
    slack = total(a, (kappa * lam[a] - alpha * g[a]) ** 2)
    return Follows((from_zero(),), AtLeast(factor * kappa**2 * total(a, lam[a] ** 2), alpha**2 * own), (2 * alpha,), slack,
                   given=(from_zero(),), at=at or {}, reason="αz − λ* is αg, and ‖qλ* − αg‖² ≥ 0")


@claim("beyond.relative-deviation", "inequality", title="The relative deviation is at most q", needs=("beyond.mean-smooth",),
       hypotheses=(*GIVEN, FROM_ZERO), latex=r"\|\alpha z-\lambda^*\|\le q\,\|\lambda^*\|,\quad q=\tfrac{\alpha D^2}4")
def relative_deviation() -> Steps:
    """Relative to the exact query, what attention puts in its place is off by q at most, whatever the evidence is."""
    yield deviation(sp.S.One)


relative_deviation.twin("half of it", lambda: deviation(sp.Rational(1, 4), NEAR))
relative_deviation.twin("nine tenths of it", lambda: deviation(sp.Rational(81, 100), NEAR))


def of_query(factor: sp.Expr, at: dict[Variable, Value] | None = None) -> Follows:
    """factor · q²‖z‖² ≥ (1 + q)²‖g‖²."""
    return Follows((from_zero(),), AtLeast(factor * kappa**2 * length(), (1 + kappa) ** 2 * own),
                   (2 * (1 + kappa) / alpha,), residue_of_evidence(), given=(from_zero(),), at=at or {},
                   reason="q⟨z, g⟩ ≥ (1 + q)‖g‖², as λ* = α(z − g); αz − λ* is αg")


@claim("beyond.query-bound", "inequality", title="How far αz is from the exact query", needs=("beyond.mean-smooth",),
       hypotheses=(*GIVEN, FROM_ZERO), latex=r"\|\alpha z-\lambda^*\|\le\alpha\|z\|\,\frac q{1+q},\quad q=\tfrac{\alpha D^2}4")
def query_bound() -> Steps:
    """The query of attention is off by the share q/(1 + q) of its own length at most, for every law on the templates."""
    yield of_query(sp.S.One)


query_bound.twin("half of it", lambda: of_query(sp.Rational(1, 4), NEAR))
query_bound.twin("q/(2 + q)", lambda: of_query((1 + kappa) ** 2 / (2 + kappa) ** 2, NEAR))


# ── the output, the weights, the value ──────────────────────────────────────────────────────────────────────────────


def off() -> sp.Expr:
    """‖e‖²."""
    return total(a, e[a] ** 2)


def residue() -> sp.Expr:
    """‖qg − e‖²."""
    return total(a, (kappa * g[a] - e[a]) ** 2)


@cache
def between() -> AtLeast:
    """q⟨g, e⟩ ≥ ‖e‖²."""
    return AtLeast(kappa * total(a, g[a] * e[a]), off())


def of_output(factor: sp.Expr, at: dict[Variable, Value] | None = None) -> Follows:
    """factor · q⁴‖z‖² ≥ (1 + q)²‖e‖²."""
    scale = (1 + kappa) ** 2
    return Follows((between(), from_zero()), AtLeast(factor * kappa**4 * length(), scale * off()),
                   (2 * scale, 2 * kappa**2 * (1 + kappa) / alpha), scale * residue() + kappa**2 * residue_of_evidence(),
                   given=(between(), from_zero()), at=at or {}, reason="‖e‖ ≤ q‖g‖, and ‖g‖ ≤ ‖z‖ q/(1 + q)")


@claim("beyond.output-bound", "inequality", title="How far the output of attention is from the exact one",
       needs=("beyond.query-bound",), hypotheses=(*GIVEN, BETWEEN, FROM_ZERO),
       latex=r"\|h_c-\hat h\|\le\frac{D^2}4\,\alpha\|z\|\,\frac q{1+q}=\|z\|\,\frac{q^2}{1+q},\quad q=\tfrac{\alpha D^2}4")
def output_bound() -> Steps:
    """The output of attention is off by the second order in q at most: a bound that needs no pass and no solution."""
    yield of_output(sp.S.One)


output_bound.twin("half of it", lambda: of_output(sp.Rational(1, 4), FARTHER))
output_bound.twin("q³ for q²", lambda: of_output(kappa**2 / (1 + kappa) ** 2, FARTHER))


def of_weights(factor: sp.Expr, at: dict[Variable, Value] | None = None) -> Follows:
    """factor · αq³‖z‖² ≥ (1 + q)² α⟨g, e⟩."""
    scale, premises = (1 + kappa) ** 2, (between(), from_zero())
    slack = alpha / kappa * scale * residue() + kappa * alpha * residue_of_evidence()
    return Follows(premises, AtLeast(factor * alpha * kappa**3 * length(), scale * alpha * total(a, g[a] * e[a])),
                   (alpha * scale / kappa, 2 * kappa * (1 + kappa)), slack, given=premises, at=at or {},
                   reason="⟨g, e⟩ ≤ q‖g‖², and αq = α²D²/4")


@claim("beyond.weights-bound", "inequality", title="How far the weights of attention are from the exact ones",
       needs=("beyond.jeffreys", "beyond.query-bound"), hypotheses=(*GIVEN, BETWEEN, FROM_ZERO),
       latex=r"\tfrac14\|p_c-p^*\|_1^2\le\tfrac14\big(\mathcal K(p_c,p^*)+\mathcal K(p^*,p_c)\big)"
             r"\le\Big(\frac D4\,\alpha\|z\|\,\frac q{1+q}\Big)^2,\quad q=\tfrac{\alpha D^2}4")
def weights_bound() -> Steps:
    """At most D/4 α‖z‖ q/(1 + q) of the mass is on other templates than in the solution; both divergences are bounded."""
    yield Equation(alpha * total(a, g[a] * missed(a)), jeffreys(tilt(moved), tilted),
                   reason="log(p_c/p*) is ⟨t, αg⟩ less a constant; by beyond.jeffreys this is at least ‖p_c − p*‖₁²,")
    yield of_weights(sp.S.One)


weights_bound.twin("half of it", lambda: of_weights(sp.Rational(1, 4), FARTHER))
weights_bound.twin("nine tenths of it", lambda: of_weights(sp.Rational(81, 100), FARTHER))


@cache
def cheap() -> AtLeast:
    """αq/2 ‖g‖² ≥ K."""
    return AtLeast(alpha * kappa / 2 * own, K)


def of_objective(factor: sp.Expr, at: dict[Variable, Value] | None = None) -> Follows:
    """factor · α/2 q³/(1 + q) ‖z‖² ≥ P(p_c) − P(p*) = K + α/2 ‖e‖²."""
    premises = (cheap(), between(), from_zero())
    slack = alpha / 2 * residue() + alpha * kappa / (2 * (1 + kappa)) * residue_of_evidence()
    return Follows(premises, AtLeast(factor * alpha / 2 * kappa**3 / (1 + kappa) * length(), K + alpha / 2 * off()),
                   (sp.S.One, alpha, kappa), slack, given=premises, at=at or {},
                   reason="P(p_c) − P(p*) = K + α/2 ‖e‖²; K ≤ αq/2 ‖g‖², ‖e‖ ≤ q‖g‖ and ‖g‖ ≤ ‖z‖ q/(1 + q)")


@claim("beyond.objective-bound", "inequality", title="How much worse attention is than the solution",
       needs=("beyond.query-bound", "beyond.hoeffding", "deciphering.s6.suboptimality"),
       hypotheses=(*GIVEN, COST, BETWEEN, FROM_ZERO),
       latex=r"P(p_c)-P(p^*)\le\frac{D^2}8\,\alpha^2\|z\|^2\,\frac{q^2}{1+q},\quad q=\tfrac{\alpha D^2}4")
def objective_bound() -> Steps:
    """The value that attention loses is of the third order in q at most, where the largest possible value is α‖z‖²/2."""
    yield of_objective(sp.S.One)


objective_bound.twin("half of it", lambda: of_objective(sp.S.Half, LOSING))
objective_bound.twin("(1 + q)² for 1 + q", lambda: of_objective(1 / (1 + kappa), LOSING))


# ── one more pass ───────────────────────────────────────────────────────────────────────────────────────────────────


def next_pass(factor: sp.Expr, at: dict[Variable, Value] | None = None) -> Follows:
    """factor · q²‖λ − λ*‖² ≥ ‖λ' − λ*‖², where λ' = α(z + μ − h(λ)) = λ* − αe."""
    return Follows((between(),), AtLeast(factor * kappa**2 * alpha**2 * own, alpha**2 * off()), (2 * alpha**2,),
                   alpha**2 * residue(), given=(between(),), at=at or {}, reason="‖qg − e‖² ≥ 0")


CLOSE: dict[Variable, Value] = {name: FARTHER[name] for name in (d, alpha, kappa, g.label, e.label)}


@claim("beyond.contraction", "inequality", title="Each further pass of attention takes a factor q off the error",
       needs=("beyond.mean-smooth", "deciphering.9"), hypotheses=(*GIVEN, "q⟨g, e⟩ ≥ ‖e‖², by beyond.mean-smooth for λ and λ*"),
       latex=r"\lambda'=\alpha(z+\mu-h(\lambda)):\quad\|\lambda'-\lambda^*\|\le q\,\|\lambda-\lambda^*\|")
def contraction() -> Steps:
    """Where q < 1, exact attention is the limit of a stack of ordinary ones, and k passes are off by q^k at most."""
    yield next_pass(sp.S.One)


contraction.twin("half of it", lambda: next_pass(sp.Rational(1, 4), CLOSE))
contraction.twin("nine tenths of it", lambda: next_pass(sp.Rational(81, 100), CLOSE))


# ── attained ────────────────────────────────────────────────────────────────────────────────────────────────────────

x, r = scalar("x"), positive("r")
two = alpha * r**2                                           # q for two templates ±r, as D = 2r


def two_evidence() -> sp.Expr:
    """z = λ*/α + ĥ − μ at λ* = x."""
    return x / alpha + r * tanh(r * x)


def two_missed() -> sp.Expr:
    """h_c − ĥ = r (tanh(rαz) − tanh(rx))."""
    return r * (tanh(r * alpha * two_evidence()) - tanh(r * x))


def output_share(right: sp.Expr) -> Expansion:
    """h_c − ĥ at two templates, to the first order in λ*."""
    return Expansion(two_missed(), right * x, x, 1, reason="h_c − ĥ = r²(αz − λ*) + o(x), and z = (1 + q)x/α + o(x)")


@claim("beyond.output-attained", "asymptotic", title="The bounds of query, output and weights are attained for every q",
       needs=("beyond.output-bound",), hypotheses=("two templates ±r of equal weight", "q = αr²"),
       latex=r"h_c-\hat h=\|z\|\,\frac{q^2}{1+q}+o(\|z\|),\quad\|p_c-p^*\|_1=\tfrac1r|h_c-\hat h|")
def output_attained() -> Steps:
    """For two opposite templates and little evidence, attention is exactly as far off as the bounds allow."""
    yield Expansion(alpha * two_evidence(), (1 + two) * x, x, 1,
                    reason="so ‖z‖ q²/(1 + q) is r²qx + o(x), and αz − λ* is qx + o(x);")
    yield output_share(r**2 * two)


output_attained.twin("twice as much", lambda: output_share(2 * r**2 * two))
output_attained.twin("the first order in q", lambda: output_share(r**2))


def logcosh(at: sp.Expr) -> sp.Expr:
    """log cosh, which is log M for two templates."""
    return sp.log((sp.exp(at) + sp.exp(-at)) / 2)


def two_lost() -> sp.Expr:
    """P(p_c) − P(p*) = log M(λ*) − log M(αz) − ⟨λ* − αz, h_c⟩ + α/2 (h_c − ĥ)²."""
    query = alpha * two_evidence()
    divergence_ = logcosh(r * x) - logcosh(r * query) - (x - query) * r * tanh(r * query)
    return divergence_ + alpha / 2 * two_missed() ** 2


def objective_share(right: sp.Expr) -> Expansion:
    """P(p_c) − P(p*) at two templates, to the second order in λ*."""
    return Expansion(two_lost(), right * x**2, x, 2, reason="KL(p_c, p*) = r²(αz − λ*)²/2 + o(x²)")


@claim("beyond.objective-attained", "asymptotic", title="The bound of the objective is attained for every q",
       needs=("beyond.objective-bound", "beyond.output-attained"),
       hypotheses=("two templates ±r of equal weight", "q = αr²"),
       latex=r"P(p_c)-P(p^*)=\tfrac\alpha2\,z^2\,\frac{q^3}{1+q}+o(z^2)")
def objective_attained() -> Steps:
    """For two opposite templates and little evidence, attention loses exactly as much as the bound allows."""
    yield objective_share(two**3 * (1 + two) / (2 * alpha))


objective_attained.twin("twice as much", lambda: objective_share(two**3 * (1 + two) / alpha))
objective_attained.twin("the divergence alone", lambda: objective_share(two**3 / (2 * alpha)))
