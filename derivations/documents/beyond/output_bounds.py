"""A priori bounds for the distance of attention from the exact solution, sharp and in terms of one number q.

Claims     beyond.query-bound          ‖αz − λ*‖ ≤ α‖z‖ q/(1 + q)
           beyond.output-bound         ‖h_c − ĥ‖ ≤ D²/4 α‖z‖ q/(1 + q) = ‖z‖ q²/(1 + q)
           beyond.weights-bound        ‖p_c − p*‖₁/2 ≤ D/4 α‖z‖ q/(1 + q)
           beyond.objective-bound      P(p_c) − P(p*) ≤ D²/8 α²‖z‖² q²/(1 + q) = α/2 ‖z‖² q³/(1 + q)
           beyond.contraction          ‖λ' − λ*‖ ≤ q ‖λ − λ*‖ for λ' = α(z + μ − h(λ)), one more pass
           beyond.output-attained      two templates ±r of equal weight, z → 0: the bounds of λ*, ĥ and p* are attained
Notation   q = αD²/4, D ≥ ‖t_i − t_j‖ for all i and j; λ = λ* and z = λ*/α + ĥ − μ, of which λ* maximizes the dual;
           p* = tilt(λ*) the solution, ĥ its mean; p_c = tilt(αz) attention, h_c its mean; g = ĥ − μ, so that αz = λ* + αg;
           e = h_c − ĥ; in `beyond.contraction` y = λ is any query, and λ' = α(z + μ − h(λ)) has λ' − λ* = −α(h(λ) − ĥ)
References nothing of this is printed; `deciphering.s6.one-pass-mean` for the radius of the templates and what one pass measures

The inequalities that these bounds rest on are proved in `cocoercive`: D²/4 ⟨x − y, h(x) − h(y)⟩ ≥ ‖h(x) − h(y)‖² for αz and
λ*, for λ* and 0, and for λ* and λ; and KL(p_c, p*) ≤ D²/8 ‖αz − λ*‖².  What is given is the diameter alone, in the form that is
explained there.
"""

from functools import cache

import sympy as sp

from derivations.documents.beyond.cocoercive import ANY, FROM_PRIOR, NEAR, PASS, gained, lost, spent
from derivations.documents.beyond.exact_attention import product, y
from derivations.documents.beyond.smoothness import DIAMETER, WITHIN, D
from derivations.documents.deciphering.notation import a, alpha, lam, mean, mu, tilt
from derivations.documents.deciphering.section6_theorem1 import FINITE
from derivations.vocabulary import *

QUARTER = sp.Rational(1, 4)
kappa = alpha * D**2 / 4
GIVEN = (*FINITE, WITHIN)
CLOSE: dict[Variable, Value] = {**NEAR, alpha: 1}
g, e = gained, PASS.apart


def evidence(entry: sp.Expr) -> sp.Expr:
    """z_a = λ*_a/α + g_a."""
    return lam[entry] / alpha + g(entry)


@cache
def length() -> sp.Expr:
    """‖z‖²."""
    return total(a, evidence(a) ** 2)


@cache
def own() -> sp.Expr:
    """‖g‖²."""
    return product(g, g)


@cache
def off() -> sp.Expr:
    """‖e‖²."""
    return product(e, e)


FROM_ZERO, BETWEEN = FROM_PRIOR.cocoercive(QUARTER), PASS.cocoercive(QUARTER)
"""D²/4 ⟨λ*, g⟩ ≥ ‖g‖² and D²/4 α⟨g, e⟩ ≥ ‖e‖²."""


def residue_of_evidence() -> sp.Expr:
    """‖qz − (1 + q)g‖²."""
    return total(a, (kappa * evidence(a) - (1 + kappa) * g(a)) ** 2)


def residue() -> sp.Expr:
    """‖qg − e‖²."""
    return total(a, (kappa * g(a) - e(a)) ** 2)


# ── the query ───────────────────────────────────────────────────────────────────────────────────────────────────────


def deviation(factor: sp.Expr) -> Follows:
    """factor · q²‖λ*‖² ≥ ‖αz − λ*‖²."""
    slack = total(a, (kappa * lam[a] - alpha * g(a)) ** 2)
    return Follows(
        (FROM_ZERO,),
        AtLeast(factor * kappa**2 * total(a, lam[a] ** 2), alpha**2 * own()),
        (2 * alpha**2,),
        slack,
        given=(DIAMETER,),
        at=CLOSE,
        reason="‖αz − λ*‖² ≤ q²‖λ*‖²: αz − λ* is αg for g = ĥ − μ, α‖g‖² ≤ q⟨λ*, g⟩, and ‖qλ* − αg‖² ≥ 0",
    )


@claim(
    "beyond.relative-deviation",
    "inequality",
    title="The relative deviation is at most q",
    needs=("beyond.cocoercive-prior",),
    hypotheses=GIVEN,
    latex=r"\|\alpha z-\lambda^*\|\le q\,\|\lambda^*\|,\quad q=\tfrac{\alpha D^2}4",
)
def relative_deviation() -> Steps:
    """Relative to the exact query, what attention puts in its place is off by q at most, whatever the evidence is."""
    yield deviation(sp.S.One)


relative_deviation.twin("half of it", lambda: deviation(QUARTER))
relative_deviation.twin("nine tenths of it", lambda: deviation(sp.Rational(81, 100)))


def of_query(factor: sp.Expr) -> Follows:
    """factor · q²‖z‖² ≥ (1 + q)²‖g‖²."""
    return Follows(
        (FROM_ZERO,),
        AtLeast(factor * kappa**2 * length(), (1 + kappa) ** 2 * own()),
        (2 * (1 + kappa),),
        residue_of_evidence(),
        given=(DIAMETER,),
        at=CLOSE,
        reason="(1 + q)‖g‖ ≤ q‖z‖ for g = ĥ − μ, where αz − λ* is αg: q⟨z, g⟩ ≥ (1 + q)‖g‖², as λ* = α(z − g)",
    )


@claim(
    "beyond.query-bound",
    "inequality",
    title="How far αz is from the exact query",
    needs=("beyond.cocoercive-prior",),
    hypotheses=GIVEN,
    latex=r"\|\alpha z-\lambda^*\|\le\alpha\|z\|\,\frac q{1+q},\quad q=\tfrac{\alpha D^2}4",
)
def query_bound() -> Steps:
    """The query of attention is off by the share q/(1 + q) of its own length at most, for every law on the templates."""
    yield of_query(sp.S.One)


query_bound.twin("half of it", lambda: of_query(QUARTER))
query_bound.twin("q/(2 + q)", lambda: of_query((1 + kappa) ** 2 / (2 + kappa) ** 2))


# ── the output, the weights, the value ──────────────────────────────────────────────────────────────────────────────


def of_output(factor: sp.Expr) -> Follows:
    """factor · q⁴‖z‖² ≥ (1 + q)²‖e‖²."""
    scale = (1 + kappa) ** 2
    return Follows(
        (BETWEEN, FROM_ZERO),
        AtLeast(factor * kappa**4 * length(), scale * off()),
        (2 * scale, 2 * kappa**2 * (1 + kappa)),
        scale * residue() + kappa**2 * residue_of_evidence(),
        given=(DIAMETER,),
        at=CLOSE,
        reason="(1 + q)‖e‖ ≤ q²‖z‖ for e = h_c − ĥ: with g = ĥ − μ, ‖e‖ ≤ q‖g‖, and ‖g‖ ≤ ‖z‖ q/(1 + q)",
    )


@claim(
    "beyond.output-bound",
    "inequality",
    title="How far the output of attention is from the exact one",
    needs=("beyond.cocoercive-pass", "beyond.cocoercive-prior"),
    hypotheses=GIVEN,
    latex=r"\|h_c-\hat h\|\le\frac{D^2}4\,\alpha\|z\|\,\frac q{1+q}=\|z\|\,\frac{q^2}{1+q},\quad q=\tfrac{\alpha D^2}4",
)
def output_bound() -> Steps:
    """The output of attention is off by the second order in q at most: a bound that needs no pass and no solution."""
    yield of_output(sp.S.One)


output_bound.twin("half of it", lambda: of_output(QUARTER))
output_bound.twin("q³ for q²", lambda: of_output(kappa**2 / (1 + kappa) ** 2))


def of_weights(factor: sp.Expr) -> Follows:
    """factor · αq³‖z‖² ≥ (1 + q)² (KL(p_c, p*) + KL(p*, p_c))."""
    scale = (1 + kappa) ** 2
    slack = alpha / kappa * scale * residue() + kappa * alpha * residue_of_evidence()
    return Follows(
        (BETWEEN, FROM_ZERO),
        AtLeast(factor * alpha * kappa**3 * length(), scale * PASS.both),
        (alpha / kappa * scale, 2 * alpha * kappa * (1 + kappa)),
        slack,
        given=(DIAMETER,),
        at=CLOSE,
        reason="⟨g, e⟩ ≤ q‖g‖², and αq = α²D²/4; by beyond.jeffreys the divergences are at least ‖p_c − p*‖₁²",
    )


@claim(
    "beyond.weights-bound",
    "inequality",
    title="How far the weights of attention are from the exact ones",
    needs=("beyond.jeffreys", "beyond.cocoercive-pass", "beyond.cocoercive-prior"),
    hypotheses=GIVEN,
    latex=r"\tfrac14\|p_c-p^*\|_1^2\le\tfrac14\big(\mathcal K(p_c,p^*)+\mathcal K(p^*,p_c)\big)"
    r"\le\Big(\frac D4\,\alpha\|z\|\,\frac q{1+q}\Big)^2,\quad q=\tfrac{\alpha D^2}4",
)
def weights_bound() -> Steps:
    """At most D/4 α‖z‖ q/(1 + q) of the mass is on other templates than in the solution; both divergences are bounded."""
    yield PASS.exchanged
    yield of_weights(sp.S.One)


weights_bound.twin("half of it", lambda: of_weights(QUARTER))
weights_bound.twin("nine tenths of it", lambda: of_weights(sp.Rational(81, 100)))


def of_objective(factor: sp.Expr) -> Follows:
    """factor · α/2 q³/(1 + q) ‖z‖² ≥ P(p_c) − P(p*) = KL(p_c, p*) + α/2 ‖e‖²."""
    slack = alpha / 2 * residue() + alpha * kappa / (2 * (1 + kappa)) * residue_of_evidence()
    return Follows(
        (spent(sp.Rational(1, 8)), BETWEEN, FROM_ZERO),
        AtLeast(factor * alpha / 2 * kappa**3 / (1 + kappa) * length(), lost() + alpha / 2 * off()),
        (sp.S.One, alpha, alpha * kappa),
        slack,
        given=(DIAMETER,),
        at=CLOSE,
        reason="P(p_c) − P(p*) = KL(p_c, p*) + α/2 ‖e‖²; KL ≤ αq/2 ‖g‖², ‖e‖ ≤ q‖g‖ and ‖g‖ ≤ ‖z‖ q/(1 + q)",
    )


@claim(
    "beyond.objective-bound",
    "inequality",
    title="How much worse attention is than the solution",
    needs=("beyond.pass-divergence", "beyond.cocoercive-pass", "beyond.cocoercive-prior", "deciphering.s6.suboptimality"),
    hypotheses=GIVEN,
    latex=r"P(p_c)-P(p^*)\le\frac{D^2}8\,\alpha^2\|z\|^2\,\frac{q^2}{1+q},\quad q=\tfrac{\alpha D^2}4",
)
def objective_bound() -> Steps:
    """The value that attention loses is of the third order in q at most, where the largest possible value is α‖z‖²/2."""
    yield of_objective(sp.S.One)


objective_bound.twin("half of it", lambda: of_objective(sp.S.Half))
objective_bound.twin("(1 + q)² for 1 + q", lambda: of_objective(1 / (1 + kappa)))


# ── one more pass ───────────────────────────────────────────────────────────────────────────────────────────────────


def next_pass(factor: sp.Expr) -> Follows:
    """factor · q²‖λ* − λ‖² ≥ ‖λ' − λ*‖², where λ' = α(z + μ − h(λ)) = λ* + α(ĥ − h(λ))."""
    slack = total(a, (kappa * ANY.query(a) - alpha * ANY.apart(a)) ** 2)
    return Follows(
        (ANY.cocoercive(QUARTER),),
        AtLeast(factor * kappa**2 * product(ANY.query, ANY.query), alpha**2 * ANY.squared),
        (2 * alpha**2,),
        slack,
        given=(DIAMETER,),
        at={**CLOSE, y.label: [0]},
        reason="‖q(λ* − λ) − α(ĥ − h(λ))‖² ≥ 0",
    )


@claim(
    "beyond.contraction",
    "inequality",
    title="Each further pass of attention takes a factor q off the error",
    needs=("beyond.cocoercive", "deciphering.9"),
    hypotheses=GIVEN,
    latex=r"\lambda'=\alpha(z+\mu-h(\lambda)):\quad\|\lambda'-\lambda^*\|\le q\,\|\lambda-\lambda^*\|",
)
def contraction() -> Steps:
    """Where q < 1, exact attention is the limit of a stack of ordinary ones, and k passes are off by q^k at most."""
    again = alpha * (evidence(a) + mu(a) - mean(tilt(y))(a))
    yield Equation(again - lam[a], alpha * ANY.apart(a), reason="z = λ*/α + ĥ − μ, so λ' − λ* is α(ĥ − h(λ)), with λ = y;")
    yield next_pass(sp.S.One)


contraction.twin("half of it", lambda: next_pass(QUARTER))
contraction.twin("nine tenths of it", lambda: next_pass(sp.Rational(81, 100)))


# ── attained ────────────────────────────────────────────────────────────────────────────────────────────────────────

x, r = scalar("x"), positive("r")
two = alpha * r**2  # q for two templates ±r, as D = 2r


def two_evidence() -> sp.Expr:
    """z = λ*/α + ĥ − μ at λ* = x."""
    return x / alpha + r * tanh(r * x)


def two_missed() -> sp.Expr:
    """h_c − ĥ = r (tanh(rαz) − tanh(rx))."""
    return r * (tanh(r * alpha * two_evidence()) - tanh(r * x))


def output_share(right: sp.Expr) -> Expansion:
    """h_c − ĥ at two templates, to the first order in λ*."""
    return Expansion(two_missed(), right * x, x, 1, reason="h_c − ĥ = r²(αz − λ*) + o(x), and z = (1 + q)x/α + o(x)")


@claim(
    "beyond.output-attained",
    "asymptotic",
    title="The bounds of query, output and weights are attained for every q",
    needs=("beyond.output-bound",),
    hypotheses=("two templates ±r of equal weight", "q = αr²"),
    latex=r"h_c-\hat h=\|z\|\,\frac{q^2}{1+q}+o(\|z\|),\quad\|p_c-p^*\|_1=\tfrac1r|h_c-\hat h|",
)
def output_attained() -> Steps:
    """For two opposite templates and little evidence, attention is exactly as far off as the bounds allow."""
    yield Expansion(
        alpha * two_evidence(), (1 + two) * x, x, 1, reason="so ‖z‖ q²/(1 + q) is r²qx + o(x), and αz − λ* is qx + o(x);"
    )
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


@claim(
    "beyond.objective-attained",
    "asymptotic",
    title="The bound of the objective is attained for every q",
    needs=("beyond.objective-bound", "beyond.output-attained"),
    hypotheses=("two templates ±r of equal weight", "q = αr²"),
    latex=r"P(p_c)-P(p^*)=\tfrac\alpha2\,z^2\,\frac{q^3}{1+q}+o(z^2)",
)
def objective_attained() -> Steps:
    """For two opposite templates and little evidence, attention loses exactly as much as the bound allows."""
    yield objective_share(two**3 * (1 + two) / (2 * alpha))


objective_attained.twin("twice as much", lambda: objective_share(two**3 * (1 + two) / alpha))
objective_attained.twin("the divergence alone", lambda: objective_share(two**3 / (2 * alpha)))
