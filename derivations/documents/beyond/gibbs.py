"""The Gibbs identity: the distance of any weights from optimal attention, exactly and in computable bounds.

Claims     beyond.gibbs           J(q) − V = τ KL(q‖p) for every q of the closed simplex
           beyond.gibbs-plans     Σ_i (J_i(R_i) − V_i) = Σ_i τ_i KL(R_i‖P_i), each row with its own temperature
           beyond.pinsker         J(q) − V ≥ (τ/2) ‖q − p‖₁²
           beyond.pinsker-sharp   KL(q‖p)/‖q − p‖₁² → 1/2 as q → p = (1/2, 1/2)
           beyond.certificate     J(q) − V ≤ Σ_j q_j (max r − r_j), r = s − τ log q: no solution has to be known
Notation   J(q) = −Σ_j q_j s_j + τ Σ_j q_j log q_j; V = −τ log Z its least value, p = softmax(s/τ) where it is attained;
           S and R scores and weights of n queries, rho_i = ρ_i the temperature of row i; u a prior;
           c a number and d_j ≥ 0 such that s_j = τ log q_j + c − d_j
References Gibbs (1902), chapter XI; Pinsker (1964); Csiszár (1967) for the constant 1/2
"""

import sympy as sp

from derivations.documents.eot.notation import i, j, l, m, n, partition, s, softmax, tau
from derivations.vocabulary import *

p = softmax(s, tau)
q, u = simplex("q", m), interior("u", m)
S, R = vector("S", n, m), stochastic("R", n, m)
rho = vector("rho", n, kind=Positive)


def objective(of: Entry, scores: Entry = s) -> sp.Expr:
    """J(q) = −Σ_j q_j s_j + τ Σ_j q_j log q_j."""
    return -total(j, of(j) * scores(j)) + tau * total(j, xlogx(of(j)))


V = -tau * sp.log(partition(s, tau))
gap = objective(q) - V


def relative_entropy(of: Entry, to: Entry) -> sp.Expr:
    """KL(x‖y) = Σ_j x_j log(x_j/y_j)."""
    return total(j, relative(of(j), to(j)))


@claim(
    "beyond.gibbs",
    "identity",
    title="The Gibbs identity",
    hypotheses=("τ > 0",),
    needs=("eot.66",),
    latex=r"J(q)-V=\tau\,\mathrm{KL}(q\,\|\,p)",
)
def gibbs() -> Steps:
    """Any weights cost τ times their relative entropy to attention more than attention, corners of the simplex included."""
    yield UniqueMinimum(objective, p, m, tau, reason="p is the only minimizer,")
    yield Equation(objective(p), V, reason="V is the value there,")
    yield Equation(tau * sp.log(p(j)), s[j] + V, reason="and τ log p_j = s_j + V;")
    yield Equation(gap, tau * relative_entropy(q, p), reason="so τ Σ q log p = Σ q s + V, as Σ q = 1")


gibbs.twin("the uniform prior in the place of p", lambda: Equation(gap, tau * relative_entropy(q, lambda key: sp.S.One / m)))
gibbs.twin("τ is lost", lambda: Equation(gap, relative_entropy(q, p)))


# ── plans, priors ───────────────────────────────────────────────────────────────────────────────────────────────────


def row_scores(row: sp.Expr) -> Entry:
    """j ↦ S_ij."""
    return lambda key: S[row, key]


def rows_above(strengths: Entry) -> sp.Expr:
    """Σ_i (J_i(R_i) − V_i), where row i has the temperature `strengths(i)`."""

    def row(at: sp.Expr) -> sp.Expr:
        mixed = -total(j, R[at, j] * S[at, j]) + strengths(at) * total(j, xlogx(R[at, j]))
        return mixed + strengths(at) * sp.log(partition(row_scores(at), strengths(at)))

    return total(i, row(i))


def rows_apart(strengths: Entry) -> sp.Expr:
    """Σ_i τ_i KL(R_i‖P_i), P_i = softmax(S_i/τ_i)."""
    return total((i, j), strengths(i) * relative(R[i, j], softmax(row_scores(i), strengths(i))(j)))


@claim(
    "beyond.gibbs-plans",
    "identity",
    title="The Gibbs identity of all queries at once",
    hypotheses=("every ρ_i > 0",),
    needs=("beyond.gibbs",),
    latex=r"\sum_i\big(J_i(R_i)-V_i\big)=\sum_i\rho_i\,\mathrm{KL}(R_i\,\|\,P_i)",
)
def gibbs_plans() -> Steps:
    """For n queries with temperatures of their own, a plan with unit rows costs the sum of its rows' divergences more."""
    yield UniquePlan(
        lambda of: -total((i, j), of(i, j) * S[i, j]) + total((i, j), rho[i] * xlogx(of(i, j))),
        lambda row, key: softmax(row_scores(row), rho[row])(key),
        n,
        m,
        rho,
        reason="attention with a temperature for each row is the only minimizer,",
    )
    yield Equation(rows_above(rho), rows_apart(rho), reason="row by row, beyond.gibbs")


gibbs_plans.twin("one temperature for all rows", lambda: Equation(rows_above(rho), tau * rows_apart(rho)))
gibbs_plans.twin(
    "divided by the temperatures",
    lambda: Equation(rows_above(rho), total((i, j), relative(R[i, j], softmax(row_scores(i), rho[i])(j)) / rho[i])),
)


def tilted(key: sp.Expr) -> sp.Expr:
    """p_j = u_j exp(s_j/τ)/Σ_l u_l exp(s_l/τ)."""
    return u[key] * sp.exp(s[key] / tau) / total(l, u[l] * sp.exp(s[l] / tau))


def penalized(of: Entry) -> sp.Expr:
    """−Σ_j q_j s_j + τ KL(q‖u)."""
    return -total(j, of(j) * s[j]) + tau * total(j, relative(of(j), u[j]))


def above_prior(to: Entry) -> Equation:
    """The excess over the least value against τ KL(q‖·)."""
    least = -tau * sp.log(total(l, u[l] * sp.exp(s[l] / tau)))
    return Equation(penalized(q) - least, tau * relative_entropy(q, to), reason="log p_j = log u_j + s_j/τ − log Z")


@claim(
    "beyond.gibbs-prior",
    "identity",
    title="The Gibbs identity with a prior",
    hypotheses=("τ > 0", "every u_j > 0"),
    needs=("beyond.gibbs",),
    latex=r"-\langle q,s\rangle+\tau\,\mathrm{KL}(q\,\|\,u)+\tau\log\sum_lu_le^{s_l/\tau}"
    r"=\tau\,\mathrm{KL}(q\,\|\,p),\quad p\propto u\,e^{s/\tau}",
)
def gibbs_prior() -> Steps:
    """A prior (a mask, positions, a retrieval score) changes the solution and leaves the identity as it is."""
    yield UniqueMinimum(penalized, tilted, m, tau, reason="the prior's weights, tilted, are the only minimizer,")
    yield above_prior(tilted)


gibbs_prior.twin("the prior is forgotten", lambda: above_prior(p))
gibbs_prior.twin("the prior itself", lambda: above_prior(u))


# ── bounds ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def distance() -> sp.Expr:
    """‖q − p‖₁."""
    return total(j, sp.Abs(q[j] - p(j)))


def at_least_squared(factor: sp.Expr) -> AtLeast:
    """J(q) − V ≥ factor · ‖q − p‖₁²."""

    def share(key: sp.Expr) -> sp.Expr:
        return q[key] + 2 * p(key)

    spread = total(j, share(j) * (sp.Abs(q[j] - p(j)) / share(j) - distance() / 3) ** 2)
    return AtLeast(
        gap,
        factor * distance() ** 2,
        because=tau * (total(j, pinsker(q[j], p(j))) + 3 * spread / 2),
        reason="kl(y, x) ≥ 3(y − x)²/(2(y + 2x)) and, as Σ (q + 2p) = 3, the inequality of Cauchy and Schwarz",
    )


@claim(
    "beyond.pinsker",
    "inequality",
    title="How close to attention near-optimal weights are",
    hypotheses=("τ > 0",),
    needs=("beyond.gibbs",),
    latex=r"J(q)-V\ge\tfrac\tau2\,\|q-p\|_1^2",
)
def near_optimal() -> Steps:
    """Weights that cost ε more than attention differ from it by √(2ε/τ) at most, in the sum of absolute values."""
    yield Equation(gap, tau * relative_entropy(q, p), reason="beyond.gibbs")
    yield at_least_squared(tau / 2)


near_optimal.twin("without the half", lambda: at_least_squared(tau))
near_optimal.twin("τ is lost", lambda: at_least_squared(sp.S.Half))


# KL(q‖p) of q = (1/2 + t, 1/2 − t) and p = (1/2, 1/2), for which ‖q − p‖₁ = 2t
t = positive("t")


def ratio_of_two(factor: sp.Expr) -> Limit:
    """KL(q‖p)/‖q − p‖₁² → factor."""
    up, down, half = sp.S.Half + t, sp.S.Half - t, sp.S.Half
    return Limit(
        (up * sp.log(up / half) + down * sp.log(down / half)) / (2 * t) ** 2,
        t,
        sp.S.Zero,
        factor,
        reason="up to t² both terms of KL are 2t², and ‖q − p‖₁² = 4t²",
    )


@claim(
    "beyond.pinsker-sharp",
    "limit",
    title="The constant τ/2 is the best one",
    needs=("beyond.pinsker",),
    latex=r"p=(\tfrac12,\tfrac12),\ q=(\tfrac12+t,\tfrac12-t):\quad\lim_{t\to0}\mathrm{KL}(q\,\|\,p)/\|q-p\|_1^2=\tfrac12",
)
def best_constant() -> Steps:
    """For two keys with equal scores the ratio of both sides of the bound goes to 1, so no constant above τ/2 serves."""
    yield ratio_of_two(sp.S.Half)


best_constant.twin("a quarter", lambda: ratio_of_two(sp.Rational(1, 4)))
best_constant.twin("one", lambda: ratio_of_two(sp.S.One))


inner = interior("q", m)


def second_moment() -> sp.Expr:
    """Σ_j q_j²/p_j = 1 + χ²(q‖p)."""
    return total(j, inner[j] ** 2 / p(j))


def at_most_renyi(factor: sp.Expr, because: sp.Expr | None = None) -> AtLeast:
    """factor · log(1 + χ²(q‖p)) ≥ J(q) − V."""
    return AtLeast(
        factor * sp.log(second_moment()),
        objective(inner) - V,
        because=because,
        reason="log x ≤ x − 1 at x = q_j/(p_j Σ q²/p), whose mean under q is 1",
    )


@claim(
    "beyond.chi-square",
    "inequality",
    title="What weights near attention cost at most",
    needs=("beyond.gibbs",),
    hypotheses=("τ > 0", "every q_j > 0"),
    latex=r"J(q)-V\le\tau\log\big(1+\chi^2\big)\le\tau\chi^2,\quad\chi^2=\sum_j\frac{(q_j-p_j)^2}{p_j}",
)
def near_attention() -> Steps:
    """An error of the weights costs τ log(1 + χ²) at most, of second order in the error where no weight vanishes."""
    chi_square = total(j, (inner[j] - p(j)) ** 2 / p(j))
    yield Equation(second_moment(), 1 + chi_square, reason="Σ q = Σ p = 1")
    yield AtLeast(tau * chi_square, tau * sp.log(1 + chi_square), reason="log(1 + x) ≤ x;")
    mean = second_moment()
    yield at_most_renyi(tau, because=tau * total(j, inner[j] / (p(j) * mean) * kl(p(j) * mean, inner[j])))


near_attention.twin("half of it", lambda: at_most_renyi(tau / 2))
near_attention.twin("τ is lost", lambda: at_most_renyi(sp.S.One))


excess, level = vector("d", m, kind=Nonnegative), scalar("c")


def residual_scores(key: sp.Expr) -> sp.Expr:
    """s_j = τ log q_j + c − d_j."""
    return tau * sp.log(inner[key]) + level - excess[key]


def certified(bound: sp.Expr, because: sp.Expr | None = None) -> AtLeast:
    """A bound ≥ J(q) − V at these scores."""
    least = -tau * sp.log(partition(residual_scores, tau))
    return AtLeast(
        bound,
        objective(inner, residual_scores) - least,
        because=because,
        reason="V = −c − τ log Σ q exp(−d/τ), where the sum is 1 at most and −log x ≥ 1 − x",
    )


def mean_excess() -> sp.Expr:
    """Σ_j q_j d_j."""
    return total(j, inner[j] * excess[j])


@claim(
    "beyond.certificate",
    "inequality",
    title="A certificate of near-optimality without the solution",
    hypotheses=("τ > 0", "every q_j > 0", "s_j = τ log q_j + c − d_j with d_j ≥ 0"),
    needs=("beyond.gibbs",),
    latex=r"r=s-\tau\log q:\quad J(q)-V\le\sum_jq_j\big(\max_lr_l-r_j\big)",
)
def certificate() -> Steps:
    """One look at s − τ log q bounds the distance to the optimum: it is 0 if this is constant, as it is for attention alone."""
    yield Equation(objective(inner, residual_scores), mean_excess() - level, reason="J(q) = E_q[d] − c, c = max r,")
    shrunk = total(l, inner[l] * sp.exp(-excess[l] / tau))
    lost = total(l, inner[l] * (1 - sp.exp(-excess[l] / tau)))
    yield certified(mean_excess(), because=tau * (kl(sp.S.One, shrunk) + lost))


certificate.twin("half of the mean excess", lambda: certified(mean_excess() / 2))
certificate.twin("the sign of the excess", lambda: certified(-mean_excess()))
