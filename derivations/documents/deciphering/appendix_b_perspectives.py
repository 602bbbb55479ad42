"""Appendix B: the problem as regularized maximum likelihood and as maximum a posteriori estimation.

Claims     deciphering.sB.log-likelihood     log f(z) = −‖b − h‖²/(2σ²) − (d/2) log(2πσ²)  (corrected)
           deciphering.31                    (30)/η = ‖b − h‖²/(2ησ²) + K(p, u): the same minimizers as (30)
           deciphering.sB.alpha-likelihood   1/α = ησ²  ⟹  (31) = (4)
           deciphering.32                    ∫ exp(−ηK(p_θ, u)) dθ < ∞  ⟹  f(θ) ∝ exp(−ηK(p_θ, u)) is a density
           deciphering.sB.map                1/α = ησ²  ⟹  log(f(θ' | b)/f(θ | b)) = η(P(p_θ) − P(p_θ'))
Notation   sigma = σ, eta = η > 0; b = μ + z as an observation, r and s values of b − h; g = ε/σ, standardized; p = p_θ
           and q = p_θ' two members of the family, both on the support of u; J[i, l] > 0 the joint probabilities of finitely
           many parameters and observations; R the end of an interval of logits, C any bound of a mass
References Appendix B of the document
"""

import sympy as sp

from derivations.documents.deciphering.notation import T, a, c, d, i, j, k, mean, n, primal, shifted, u
from derivations.documents.deciphering.section4_problem import information
from derivations.vocabulary import *

sigma, eta = positive("sigma"), positive("eta")
p, q = interior("p", n), simplex("x", n)
r, s, b, h = vector("r", d), vector("s", d), vector("b", d), vector("h", d)
center = vector("mu", d)
g = vector("g", d, kind=Random)
N = size("N")
J, seen = interior("J", n, N), index("l", N)


def log_normal(off: Entry) -> sp.Expr:
    """The logarithm of the density of N(0, σ²I): of a product of d densities on the line."""
    return total(a, sp.log(sp.exp(-(off(a) ** 2) / (2 * sigma**2)) / (sp.sqrt(2 * sp.pi) * sigma)))


def quadratic(off: Entry, variance: sp.Expr = sigma**2) -> sp.Expr:
    """−‖·‖²/(2σ²)."""
    return -total(a, off(a) ** 2) / (2 * variance)


constant = -d * sp.log(2 * sp.pi * sigma**2) / 2


def misfit(of: Entry) -> sp.Expr:
    """‖(μ + z) − Σ_i p_i t_i‖²."""
    return total(a, (shifted(a) - mean(of)(a)) ** 2)


def likelihood(of: Entry) -> sp.Expr:
    """The log likelihood of μ + z, where p has the mean Σ_i p_i t_i."""
    return log_normal(lambda e: shifted(e) - mean(of)(e))


def penalized(of: Entry, variance: sp.Expr = sigma**2, strength: sp.Expr = eta) -> sp.Expr:
    """‖(μ + z) − h‖²/(2σ²) + η KL(p ‖ u)."""
    return misfit(of) / (2 * variance) + strength * information(of)


def rearranged(of: Entry, weight: sp.Expr) -> sp.Expr:
    """weight · ‖(μ + z) − h‖² + KL(p ‖ u)."""
    return weight * misfit(of) + information(of)


# ── maximum likelihood ──────────────────────────────────────────────────────────────────────────────────────────────


def difference(right: sp.Expr) -> Equation:
    """The covariance of μ + z, and so of (μ + z) − h, with the z of (3)."""

    def off(e: sp.Expr) -> sp.Expr:
        return center[e] + (h[e] - center[e] + sigma * g[e]) - s[e]

    return Equation(expectation(off(a) * off(c)) - (h[a] - s[a]) * (h[c] - s[c]), right, reason="whatever the origin s is")


@claim(
    "deciphering.sB.gaussian-difference",
    "identity",
    title="(μ + z) − h is the noise",
    needs=("deciphering.3",),
    latex=r"(\mu+z)-h\sim\mathcal N(0,\sigma^2I)",
)
def gaussian_difference() -> Steps:
    """The difference of μ + z and h is the noise itself, so it has the law of the noise, with covariance σ²I."""
    evidence = total(i, (p[i] - u[i]) * T[i, a]) + r[a]
    yield Equation(mean(u)(a) + evidence - mean(p)(a), r[a], reason="it is ε, here r, whatever is drawn")
    yield difference(sigma**2 * delta(a, c))


gaussian_difference.twin("σ is the variance", lambda: difference(sigma * delta(a, c)))
gaussian_difference.twin("all coordinates share the noise", lambda: difference(sigma**2))


@claim(
    "deciphering.sB.log-likelihood",
    "equivalence",
    title="The log likelihood is proportional to minus the squared norm",
    latex=r"\ell(z)\propto-\tfrac1{2\sigma^2}\|(\mu+z)-h\|^2",
    needs=("deciphering.sB.gaussian-difference",),
)
def proportional_log_likelihood() -> Steps:
    """The logarithm of the likelihood is written as proportional to −‖(μ + z) − h‖²/(2σ²)."""
    yield Fails(
        Equation(log_normal(r) * quadratic(s), log_normal(s) * quadratic(r), at={d: 1, sigma: 1, r.label: [1], s.label: [0]}),
        reason="at a residual 0 the right side is 0 and ℓ is not, so no factor fits; the likelihood would be "
        "proportional to the exponential",
    )


@proportional_log_likelihood.corrected(
    r"\ell(z)=-\tfrac1{2\sigma^2}\|(\mu+z)-h\|^2-\tfrac d2\log(2\pi\sigma^2)", Severity.SLIP, replaces="the sign ∝"
)
def log_likelihood() -> Steps:
    """The log likelihood equals −‖(μ + z) − h‖²/(2σ²) up to an additive constant, which depends on d and σ alone."""
    yield Equation(log_normal(r), quadratic(r) + constant, reason="the logarithm of a product of d densities")


proportional_log_likelihood.twin("without the constant", lambda: Equation(log_normal(r), quadratic(r)))
proportional_log_likelihood.twin("σ for σ²", lambda: Equation(log_normal(r), quadratic(r, sigma) + constant))


def regularized(right: sp.Expr) -> Equation:
    """−(ℓ(p) − η KL(p ‖ u)), which is to be minimized."""
    return Equation(
        eta * information(q) - likelihood(q), right - constant, reason="the same but for a constant, so the same p is best"
    )


@claim(
    "deciphering.30",
    "equivalence",
    title="Regularized maximum likelihood",
    needs=("deciphering.sB.log-likelihood",),
    latex=r"\tfrac1{2\sigma^2}\|(\mu+z)-h\|^2+\eta\mathcal K(p,u)",
    hypotheses=("η > 0",),
)
def regularized_likelihood() -> Steps:
    """To maximize the log likelihood less η times the divergence is to minimize (30)."""
    yield regularized(penalized(q))


regularized_likelihood.twin("the divergence is rewarded", lambda: regularized(penalized(q, strength=-eta)))
regularized_likelihood.twin("σ² is not doubled", lambda: regularized(penalized(q, sigma**2 / 2)))


def divided(weight: sp.Expr) -> Equation:
    """(30) over η."""
    return Equation(penalized(q) / eta, rearranged(q, weight), reason="a factor 1/η > 0 moves no minimizer")


@claim(
    "deciphering.31",
    "equivalence",
    title="Divided by η",
    needs=("deciphering.30", "deciphering.2"),
    latex=r"\min_p\tfrac1{2\eta\sigma^2}\|(\mu+z)-\int ap(a)da\|^2+\mathcal K(p,u)",
    hypotheses=("η > 0",),
)
def divided_by_eta() -> Steps:
    """With the mean of p for h, and divided by η, (30) becomes (31), which has the same minimizers."""
    yield divided(1 / (2 * eta * sigma**2))


divided_by_eta.twin("η in the numerator", lambda: divided(eta / (2 * sigma**2)))
divided_by_eta.twin("η is lost", lambda: divided(1 / (2 * sigma**2)))


def reliable(strength: sp.Expr) -> Equation:
    """(31), which is (30) over η, is (4) with this α."""
    return Equation(penalized(q) / eta, primal(q, shifted, strength), reason="α/2 = 1/(2ησ²)")


@claim(
    "deciphering.sB.alpha-likelihood",
    "equivalence",
    title="(31) is (4) for α⁻¹ = ησ²",
    needs=("deciphering.31",),
    latex=r"\alpha^{-1}=\eta\sigma^2\implies\tfrac1\eta\left(\tfrac1{2\sigma^2}\|(\mu+z)-h\|^2+\eta\mathcal K(p,u)\right)"
    r"=\tfrac\alpha2\|(\mu+z)-h\|^2+\mathcal K(p,u)",
)
def alpha_from_likelihood() -> Steps:
    """With the reciprocal of ησ² for α, (31) and (4) are one problem."""
    yield reliable(1 / (eta * sigma**2))


alpha_from_likelihood.twin("α = ησ²", lambda: reliable(eta * sigma**2))
alpha_from_likelihood.twin("α⁻¹ = 2ησ²", lambda: reliable(1 / (2 * eta * sigma**2)))


# ── maximum a posteriori ────────────────────────────────────────────────────────────────────────────────────────────


def log_prior(of: Entry) -> sp.Expr:
    """−η KL(p_θ ‖ u), the logarithm of the right side of (32)."""
    return -eta * information(of)


def above(bound: sp.Expr) -> AtLeast:
    """The logarithm of the prior density, but for a constant, is at least −η times the bound."""
    return AtLeast(
        log_prior(p),
        -eta * bound,
        because=eta * total(i, kl(p[i], p[i] ** 2 / u[i])),
        reason="so it is between two positive constants where Σ p²/u is bounded",
    )


reach, most, mass = positive("R"), scalar("κ", Nonnegative), scalar("C")


@claim(
    "deciphering.32",
    "definition",
    title="The prior density of the parameters",
    needs=("deciphering.s4.kl",),
    latex=r"f(\theta|\vartheta)\propto\exp(-\eta\mathcal K(p_\theta,u_\vartheta))",
    hypotheses=("η > 0", "u has finite support"),
)
def prior() -> Steps:
    """The prior density of θ is written as proportional to exp(−ηK), whatever θ is and wherever it ranges."""
    yield above(total(i, p[i] ** 2 / u[i]) - 1)
    yield Fails(
        Limit(2 * reach * sp.exp(-eta * most), reach, sp.oo, mass, at={eta: 1, most: 1, mass: 1}),
        reason="improper: where θ is all logits K is at most a number κ, so the mass of |θ_1| ≤ R exceeds any bound",
    )


@prior.corrected(
    r"\int\exp(-\eta\mathcal K(p_\theta,u_\vartheta))d\theta<\infty\implies f(\theta|\vartheta)"
    r"\propto\exp(-\eta\mathcal K(p_\theta,u_\vartheta))",
    Severity.HYPOTHESIS,
    under="exp(−ηK) has a finite integral over the parameters, as where θ is the vector of weights",
    replaces="any parameters θ",
)
def proper_prior() -> Steps:
    """Where θ is the vector of weights, which fill a set of finite volume, exp(−ηK) is at most 1 and positive: a density."""
    yield AtLeast(0, log_prior(p), because=eta * total(i, kl(p[i], u[i])), reason="bounded above, greatest at p_θ = u")
    yield above(total(i, p[i] ** 2 / u[i]) - 1)


@claim(
    "deciphering.sB.decay",
    "identity",
    title="η is the speed of decay",
    needs=("deciphering.32",),
    latex=r"\partial_\eta\log\frac{f(\theta|\vartheta)}{f(u|\vartheta)}=-\mathcal K(p_\theta,u_\vartheta)\le0",
)
def decay() -> Steps:
    """The larger η is, the faster the density falls as p_θ moves away from u."""
    yield AtLeast(
        0,
        derivative(log_prior(q), eta),
        because=total(i, kl(q[i], u[i])),
        reason="it falls, unless p_θ = u",
        quotes=(MEAN_VALUE,),
    )
    yield falling(-total(i, xlogx(q[i]) - q[i] * sp.log(u[i])))


def falling(right: sp.Expr) -> Equation:
    """The slope in η of the logarithm of f(θ)/f(θ_u), where KL(u ‖ u) = 0."""
    return Equation(derivative(log_prior(q) - log_prior(u), eta), right, reason="linear in η")


decay.twin("the sign", lambda: falling(total(i, xlogx(q[i]) - q[i] * sp.log(u[i]))))
decay.twin("the entropy of p_θ", lambda: falling(-total(i, xlogx(q[i]))))


def observation_off(e: sp.Expr) -> sp.Expr:
    """(b − h_θ)_a."""
    return b[e] - h[e]


def second_off(e: sp.Expr) -> sp.Expr:
    """(s − h_θ)_a, for another observation s."""
    return s[e] - h[e]


def density_ratio(variance: sp.Expr, middle: sp.Expr = sp.S.One) -> Equation:
    """The logarithm of the ratio of the densities of two observations."""

    def around(at: sp.IndexedBase) -> Entry:
        return lambda e: at[e] - middle * h[e]

    return Equation(
        log_normal(observation_off) - log_normal(second_off),
        quadratic(around(b), variance) - quadratic(around(s), variance),
        reason="the constant cancels",
    )


@claim(
    "deciphering.33",
    "equivalence",
    title="The density of the observation given θ",
    needs=("deciphering.3",),
    latex=r"f(\mu+z|\theta)=f(\mu+z|h_\theta)\propto\exp(-\tfrac1{2\sigma^2}\|(\mu+z)-h_\theta\|^2)",
)
def observation_density() -> Steps:
    """Given θ, μ + z has the density of the noise around h_θ; the factor left out depends on neither θ nor μ + z."""
    yield Equation(log_normal(observation_off) - quadratic(observation_off), constant, reason="the factor", about=(b[a], h[a]))
    yield density_ratio(sigma**2)


observation_density.twin("σ² is not doubled", lambda: density_ratio(sigma**2 / 2))
observation_density.twin("around −h", lambda: density_ratio(sigma**2, -sp.S.One))


def prior_weight(e: sp.Expr) -> sp.Expr:
    """Σ_l J_il, the marginal probability of a parameter."""
    observation = index("o", N)
    return total(observation, J[e, observation])


def likelihood_of(e: sp.Expr) -> sp.Expr:
    """J_il / Σ_m J_im, the probability of the observation given the parameter."""
    return J[e, seen] / prior_weight(e)


def posterior(e: sp.Expr) -> sp.Expr:
    """J_il / Σ_k J_kl, the probability of the parameter given the observation, by the odds of the others."""
    return 1 / total(k, J[k, seen] / J[e, seen])


def bayes(right: sp.Expr) -> Equation:
    """The ratio of the posterior probabilities of two parameters."""
    return Equation(posterior(i) / posterior(j), right, reason="the marginal probability of the observation cancels")


@claim(
    "deciphering.sB.bayes",
    "equivalence",
    title="Bayes' rule",
    needs=("deciphering.32", "deciphering.33"),
    latex=r"f(\theta|\mu+z,\vartheta)\propto f(\mu+z|\theta)f(\theta|\vartheta)",
    hypotheses=("ε is independent of θ and ϑ",),
)
def bayes_rule() -> Steps:
    """The posterior is the likelihood times the prior, up to a factor without θ: here from the joint probabilities."""
    yield Equation(total(i, posterior(i)), 1, reason="a distribution over the parameters")
    yield bayes(prior_weight(i) * likelihood_of(i) / (prior_weight(j) * likelihood_of(j)))


bayes_rule.twin("the prior is lost", lambda: bayes(likelihood_of(i) / likelihood_of(j)))
bayes_rule.twin(
    "the likelihood is inverted", lambda: bayes(prior_weight(i) * likelihood_of(j) / (prior_weight(j) * likelihood_of(i)))
)


def log_posterior(of: Entry) -> sp.Expr:
    """log f(μ + z|θ) + log f(θ|ϑ), but for a constant."""
    return likelihood(of) + log_prior(of)


def posterior_ratio(objective: Entry) -> Equation:
    """The logarithm of the ratio of the posterior densities of θ' and θ."""
    return Equation(
        log_posterior(q) - log_posterior(p), objective(p) - objective(q), reason="what is left out is the same for both"
    )


@claim(
    "deciphering.sB.posterior",
    "equivalence",
    title="The posterior density",
    needs=("deciphering.sB.bayes",),
    latex=r"f(\theta|\mu+z,\vartheta)\propto\exp(-\tfrac1{2\sigma^2}\|(\mu+z)-h_\theta\|^2-\eta\mathcal K(p_\theta,u_"
    r"\vartheta))",
)
def posterior_density() -> Steps:
    """The posterior density is proportional to the exponential of minus (30)."""
    yield posterior_ratio(lambda of: penalized(of))


posterior_density.twin("the divergence's sign", lambda: posterior_ratio(lambda of: penalized(of, strength=-eta)))
posterior_density.twin("η is lost", lambda: posterior_ratio(lambda of: penalized(of, strength=sp.S.One)))


@claim(
    "deciphering.sB.map",
    "equivalence",
    title="Minimizing (4) is maximizing the posterior density",
    latex=r"\log\frac{f(\theta'|\mu+z,\vartheta)}{f(\theta|\mu+z,\vartheta)}=\eta\,(P(p_\theta)-P(p_{\theta'}))",
    needs=("deciphering.sB.posterior", "deciphering.4"),
    hypotheses=("α⁻¹ = ησ²", "the density is that of θ"),
)
def maximum_a_posteriori() -> Steps:
    """The θ with the greatest posterior density is the one whose p_θ has the least objective (4) in the family."""
    yield posterior_ratio(lambda of: eta * primal(of, shifted, 1 / (eta * sigma**2)))


maximum_a_posteriori.twin(
    "maximizing (4)", lambda: posterior_ratio(lambda of: -eta * primal(of, shifted, 1 / (eta * sigma**2)))
)
maximum_a_posteriori.twin("α = ησ²", lambda: posterior_ratio(lambda of: eta * primal(of, shifted, eta * sigma**2)))
