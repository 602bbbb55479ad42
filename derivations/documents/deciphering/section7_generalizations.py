"""Section 7: continuous preferences, and the support of the solution.

Claims     deciphering.s7.continuous-u     M finite near 0  ⟹  λ* = αz − α²Σz + o(α²)
           deciphering.s7.shared-support   supp p̃ = supp u
           deciphering.s7.more-general     u(t) = 0: p(t) = 0 with K, p*(t) > 0 with W_γ and costs in ℝ₊
Notation   K_a(λ) = κ_a + Σ_b S_ab λ_b + ½ Σ_bc G_abc λ_b λ_c + O(‖λ‖³), the gradient of log M where M is finite near 0;
           x > 0 a value of W = e^Y with Y ~ N(0, 1), whose moments are all finite; t > 0 a dual point on the line
References "Generalized attention structures suggested by the optimal solution" in section 7
"""

import sympy as sp

from derivations.documents.deciphering.notation import T, a, alpha, b, c, d, i, inner, k, lam, n, tilt, u, z
from derivations.documents.deciphering.section8_heads import log_linear
from derivations.documents.deciphering.section9_sharing import FINITE
from derivations.documents.deciphering.section10_conclusion import support_removed
from derivations.vocabulary import *

x, t = positive("x"), positive("t")
S, G = vector("S", d, d), vector("G", d, d, d)
wide, content = simplex("u", n), vector("w", n, kind=Positive)
outside_support = complementary("s", wide)


def drift(at: Entry) -> Entry:
    """Stationarity of (9) for any W with a moment generating function near 0: μ + z − ∇ log M(λ), up to second order."""
    return lambda entry: z[entry] - total(b, S[entry, b] * at(b)) - total((b, c), G[entry, b, c] * at(b) * at(c)) / 2


continuous = Solves(lam, drift)
log_integrand = t * x - sp.log(x) ** 2 / 2 - sp.log(x)
"""log of e^{ta} u(a) at a = x for the density u of e^Y, but for a constant."""


def first_orders(slope: sp.Expr) -> Expansion:
    """λ*_a − αz_a to second order."""
    return Expansion(
        lam[a] - alpha * z[a],
        -slope,
        alpha,
        2,
        where=(continuous,),
        reason="S = ∇² log M(0) is Var W",
        quotes=(MOMENT_GENERATING_ANALYTIC,),
    )


@claim(
    "deciphering.s7.continuous-u",
    "asymptotic",
    title="The analysis covers continuous preferences",
    latex=r"u\text{ continuous with bounded moments}\implies\log M(\lambda)<\infty,\ \lambda^*\approx\alpha z",
    hypotheses=("u has bounded moments",),
)
def continuous_preferences() -> Steps:
    """The analysis that leads to the closed form is said to hold for continuous preference distributions too."""
    yield Fails(
        Limit(log_integrand, x, sp.oo, -sp.oo, at={t: 1}),
        reason="W = e^Y has all its moments, E W^k = e^{k²/2}, yet E e^{tW} = ∞ for every t > 0: the integrand grows",
    )


@continuous_preferences.corrected(
    r"\lambda^*=\alpha z-\alpha^2\Sigma z+o(\alpha^2)",
    Severity.HYPOTHESIS,
    under="the moment generating function of u is finite near 0",
    replaces="the hypothesis of bounded moments, and the sign ≈",
)
def with_exponential_moments() -> Steps:
    """A continuous preference is covered when its moment generating function is finite around 0."""
    yield first_orders(alpha**2 * total(b, S[a, b] * z[b]))


continuous_preferences.twin("the covariance is lost", lambda: first_orders(alpha**2 * z[a]))
continuous_preferences.twin("half of the covariance", lambda: first_orders(alpha**2 * total(b, S[a, b] * z[b]) / 2))


def spread(factor: sp.Expr) -> AtLeast:
    """p̃_i > factor."""
    return AtLeast(tilt(lam)(i), factor, strict=True, reason="u_i e^{…}/M > 0: no word of the support is lost")


@claim(
    "deciphering.s7.shared-support",
    "inequality",
    title="KL makes the estimate share the preference's support",
    latex=r"\mathrm{supp}\,\tilde p=\mathrm{supp}\,u",
    needs=("deciphering.thm1",),
)
def shared_support() -> Steps:
    """With the KL divergence the estimated distribution has exactly the templates that the preference has."""
    tilted = log_linear(lambda word: inner(word, lam), wide)
    yield Equation(outside_support[i] * tilted(i), 0, reason="u_i = 0 gives p̃_i = 0", about=(T[i, a],))
    yield spread(sp.S.Zero)


shared_support.twin("at least half of the preference is kept", lambda: spread(u[i] / 2))
shared_support.twin("at least half of a uniform share", lambda: spread(1 / (2 * n)))


def product(word: sp.Expr) -> sp.Expr:
    """α⟨t_i, z⟩."""
    return alpha * total(b, T[word, b] * z[b])


def importance(word: sp.Expr) -> sp.Expr:
    """u_i = w_i(x_1, …, x_n)/Σ_k w_k, for any positive function w of all the contents."""
    return content[word] / total(k, content[k])


def by_content(right: Entry) -> Equation:
    """The weights with a preference that is computed from the contents."""
    return Equation(log_linear(product, importance)(i), right(i), reason="Σ_k w_k cancels, and w_i = e^{log w_i}")


@claim(
    "deciphering.s7.context-dependent",
    "equivalence",
    title="The preference may depend on the contents",
    latex=r"u_i=\frac{w_i}{\sum_kw_k}\implies p_i=\mathrm{softmax}([\alpha\langle t_j,z\rangle+\log w_j]_j)_i",
)
def context_dependent() -> Steps:
    """Any positive function of all the contents will do as a preference: the importance of each word before z is known."""
    yield Equation(log_linear(lambda word: sp.S.Zero, importance)(i), importance(i), reason="without evidence p = u")
    tilted = log_linear(product, lambda word: sp.exp(inner(word, lam)))
    yield Equation(
        tilted(i),
        log_linear(lambda word: total(b, T[word, b] * (lam[b] + alpha * z[b])))(i),
        reason="one that is log-linear in the template itself moves the evidence by λ/α",
    )
    yield by_content(log_linear(lambda word: product(word) + sp.log(content[word])))


context_dependent.twin(
    "what is important is avoided", lambda: by_content(log_linear(lambda word: product(word) - sp.log(content[word])))
)
context_dependent.twin("it has no effect", lambda: by_content(log_linear(product)))


reprint(
    "deciphering.s7.more-general",
    of=support_removed,
    title="The theory enables more general attention structures",
    latex=r"o_iu_i=0\implies\textstyle\sum_io_ip_i=0,\quad p^*_i>0",
    hypotheses=(FINITE,),
    statement="In place of the divergence, which keeps the support of the preference, transport gives weight beyond it.",
)
