"""The symbols of section 9 and Appendix D, for a finite set 𝒜 of templates and any matrix of costs.

Notation  N = |𝒜| templates, T[i, a] = (t_i)_a; u the preference, zero outside the templates of the input; gamma = γ;
          X_ij = u_j x(i|j) a coupling with column sums u, where x(·|j) says what becomes of u_j: R[j, i] = x(i|j);
          costs (i, j) ↦ M(t_i, t_j), of carrying mass from j to i: `free` = M is any matrix, `symmetric` = S + Sᵀ;
          kernel q_λ(i|j) ∝ exp((⟨t_i, λ⟩ − M_ij)/γ), normalized over the destination i; i, j, k, l number templates;
          Q[j, i] = q_0(i|j), any kernel, so that expansions in λ need no M (a zero is a cost of ∞)
"""

from functools import cache

import sympy as sp

from derivations.documents.deciphering.notation import a, alpha, b, c, d, lam, z
from derivations.vocabulary import *

N = size("N")
i, j, k, l = index("i", N), index("j", N), index("k", N), index("l", N)  # noqa: E741
gamma = positive("gamma")
T, u = vector("T", N, d), simplex("u", N)
M, S = vector("M", N, N), vector("S", N, N, kind=Nonnegative)
R, Q = stochastic("R", N, N), stochastic("Q", N, N)
nu, g = vector("nu", d), vector("g", N)
Y, W = vector("Y", N), vector("W", N)
FOOTNOTE = "footnote 11: M is nonnegative and symmetric"
STRICT = "footnote 11: M(t, t) < M(t', t) for t' ≠ t"
SMALL = "α and α/γ are small"
TWO: dict[Variable, Value] = {N: 2, Q.label: [[sp.Rational(3, 4), sp.Rational(1, 4)], [sp.Rational(1, 4), sp.Rational(3, 4)]]}
"""Two templates, and the kernel of the cost log 3 between them at γ = 1."""
NEAR: dict[Variable, Value] = {**TWO, d: 1, u.label: [1, 0], T.label: [[0], [1]], z.label: [1], gamma: 1}
"""The same with the templates 0 and 1: Σ̄ = 3/16, so w = −3/16."""
SCORED: dict[Variable, Value] = {**TWO, u.label: [1, 0], gamma: 1, Y.label: [0, 1], W.label: [0, -sp.Rational(3, 16)]}
"""The same by the scores ⟨t_i, z⟩ and ⟨t_i, w⟩."""


def symmetric(first: sp.Expr, second: sp.Expr) -> sp.Expr:
    """S_ij + S_ji with S ≥ 0: every nonnegative symmetric matrix, as footnote 11 asks."""
    return S[first, second] + S[second, first]


def origin(entry: sp.Expr) -> sp.Expr:
    """The dual point 0."""
    return sp.S.Zero


def first_order(entry: sp.Expr) -> sp.Expr:
    """α z_a."""
    return alpha * z[entry]


def scores(dual: Entry) -> Entry:
    """i ↦ ⟨t_i, λ⟩, which is 0 at the origin."""
    return (lambda template: sp.S.Zero) if dual is origin else lambda template: total(b, T[template, b] * dual(b))


def plain(potentials: Entry, cost: Entries) -> Entries:
    """(i, j) ↦ exp((g_i − M_ij)/γ)."""
    return lambda to, of: sp.exp((potentials(to) - cost(to, of)) / gamma)


def normalizer(potentials: Entry, cost: Entries) -> Entry:
    """j ↦ Σ_i exp((g_i − M_ij)/γ)."""
    return lambda of: total(k, plain(potentials, cost)(k, of))


def conditional(potentials: Entry, cost: Entries) -> Entries:
    """(i, j) ↦ q(i|j)."""
    whole = normalizer(potentials, cost)
    return lambda to, of: plain(potentials, cost)(to, of) / whole(of)


def kernel(dual: Entry, cost: Entries) -> Entries:
    """(i, j) ↦ q_λ(i|j)."""
    return conditional(scores(dual), cost)


def gibbs(dual: Entry) -> Entries:
    """(i, j) ↦ q_λ(i|j) of the symmetric cost in scaling form: e^{⟨t_i, λ⟩/γ} e^{−S_ij/γ} e^{−S_ji/γ} over its sum."""

    def entry(to: sp.Expr, of: sp.Expr) -> sp.Expr:
        return sp.exp(scores(dual)(to) / gamma) * sp.exp(-S[to, of] / gamma) * sp.exp(-S[of, to] / gamma)

    return lambda to, of: entry(to, of) / total(k, entry(k, of))


def rival(to: sp.Expr, of: sp.Expr) -> sp.Expr:
    """x(i|j) of any coupling with column sums u."""
    return R[of, to]


def weights(shares: Entries) -> Entry:
    """i ↦ p_i = Σ_j u_j x(i|j), the row sums of the coupling."""
    return lambda template: total(l, u[l] * shares(template, l))


def mean(shares: Entries) -> Entry:
    """a ↦ (Σ_i p_i t_i)_a."""
    return lambda entry: total((i, l), u[l] * shares(i, l) * T[i, entry])


def true_preference(cost: Entries) -> Entry:
    """i ↦ ũ_i = Σ_j u_j q_0(i|j)."""
    return weights(kernel(origin, cost))


def true_mean(cost: Entries) -> Entry:
    """a ↦ μ̃_a."""
    return mean(kernel(origin, cost))


def entropy_of_preference() -> sp.Expr:
    """H(u)."""
    return -total(j, xlogx(u[j]))


def transport(shares: Entries, cost: Entries) -> sp.Expr:
    """⟨M, X⟩ − γ H(X) for X_ij = u_j x(i|j)."""
    expense = total((i, j), cost(i, j) * u[j] * shares(i, j))
    return expense + gamma * total((i, j), xlogx(u[j] * shares(i, j)))


def primal(shares: Entries, target: Entry, cost: Entries) -> sp.Expr:
    """α/2 ‖target − Σ_i p_i t_i‖² + ⟨M, X⟩ − γ H(X), the objective of (34) with W written out; target = μ̃ + z."""
    return alpha / 2 * total(a, (target(a) - mean(shares)(a)) ** 2) + transport(shares, cost)


def log_partition(potentials: Entry, cost: Entries) -> sp.Expr:
    """Σ_j u_j log Σ_i exp((g_i − M_ij)/γ)."""
    whole = normalizer(potentials, cost)
    return total(j, u[j] * sp.log(whole(j)))


def dual(at: Entry, target: Entry, cost: Entries) -> sp.Expr:
    """⟨target, λ⟩ − ‖λ‖²/(2α) − γ Σ_j u_j log Σ_i exp((⟨t_i, λ⟩ − M_ij)/γ), the objective of (39) without −γ H(u)."""
    return total(a, target(a) * at(a)) - total(a, at(a) ** 2) / (2 * alpha) - gamma * log_partition(scores(at), cost)


def divergence(shares: Entries, other: Entries) -> sp.Expr:
    """Σ_j u_j KL(x(·|j) ‖ y(·|j))."""
    return total((i, j), u[j] * kl(shares(i, j), other(i, j)))


def stationary(at: Entry, cost: Entries) -> Entry:
    """The μ̃ + z for which λ maximizes (39): λ/α + Σ_j u_j Σ_i q_λ(i|j) t_i, from the gradient of (39)."""
    return lambda entry: at(entry) / alpha + mean(kernel(at, cost))(entry)


def evidence_of(at: Entry, cost: Entries) -> Entry:
    """The z for which λ maximizes (39)."""
    return lambda entry: stationary(at, cost)(entry) - true_mean(cost)(entry)


def tilted(dual: Entry) -> Entries:
    """(i, j) ↦ q_λ(i|j) from q_0 = Q."""
    return reweighted(scores(dual))


def reweighted(potentials: Entry) -> Entries:
    """(i, j) ↦ Q_ji exp(g_i/γ) over its sum."""

    def growth(to: sp.Expr) -> sp.Expr:
        return sp.exp(potentials(to) / gamma)

    return lambda to, of: Q[of, to] * growth(to) / total(k, Q[of, k] * growth(k))


def base_mean(of: sp.Expr, entry: sp.Expr) -> sp.Expr:
    """(μ_j)_a = Σ_i q_0(i|j) (t_i)_a."""
    return total(i, Q[of, i] * T[i, entry])


def base_covariance(of: sp.Expr, x: sp.Expr, y: sp.Expr) -> sp.Expr:
    """(Σ_j)_xy = Σ_i q_0(i|j) (t_i − μ_j)_x (t_i − μ_j)_y."""
    return total(i, Q[of, i] * (T[i, x] - base_mean(of, x)) * (T[i, y] - base_mean(of, y)))


def spread(x: sp.Expr, y: sp.Expr) -> sp.Expr:
    """Σ̄_xy = Σ_j u_j (Σ_j)_xy."""
    return total(j, u[j] * base_covariance(j, x, y))


maximizer = Solves(lam, lambda v: lambda entry: total(j, u[j] * base_mean(j, entry)) + z[entry] - mean(tilted(v))(entry))
"""λ* as a function of α: stationarity of (39) reads λ = α (μ̃ + z − Σ_j u_j Σ_i q_λ(i|j) t_i)."""


def swapped(cost: Entries) -> Entries:
    """(i, j) ↦ M_ji: where print sums over the second argument of M."""
    return lambda to, of: cost(of, to)


def conjugate(potentials: Entry, cost: Entries) -> sp.Expr:
    """γ (H(u) + Σ_j u_j log Σ_i exp((g_i − M_ij)/γ))."""
    return gamma * (entropy_of_preference() + log_partition(potentials, cost))


def weak_duality(target: Entry, cost: Entries) -> AtLeast:
    """P(X) ≥ D(λ) for every coupling X with column sums u and every λ, with the gap written as divergences."""
    off = alpha / 2 * total(a, (target(a) - mean(rival)(a) - lam[a] / alpha) ** 2)
    return AtLeast(
        primal(rival, target, cost),
        dual(lam, target, cost) - gamma * entropy_of_preference(),
        because=gamma * divergence(rival, kernel(lam, cost)) + off,
        reason="P(X) − D(λ) = γ Σ_j u_j KL(x(·|j) ‖ q_λ(·|j)) + α/2 ‖μ̃ + z − Σ p_i t_i − λ/α‖²",
    )


def dual_slope(cost: Entries) -> Equation:
    """The slope of (39), for any μ̃ + z, here called z."""
    slope = derivative(dual(lam, z, cost), lam[a])
    return Equation(
        slope,
        z[a] - lam[a] / alpha - mean(kernel(lam, cost))(a),
        quotes=(FERMAT,),
        reason="so μ̃ + z = λ/α + Σ_j u_j Σ_i q_λ(i|j) t_i at a maximizer λ",
    )


def solves(plan: Entries, cost: Entries) -> AtLeast:
    """P(X) ≥ P(X*) for every coupling X with column sums u, where X*_ij = u_j `plan`(i|j), for the μ̃ + z that goes with λ."""
    target, best = stationary(lam, cost), kernel(lam, cost)
    apart = alpha / 2 * total(a, (mean(rival)(a) - mean(best)(a)) ** 2)
    return AtLeast(
        primal(rival, target, cost),
        primal(plan, target, cost),
        because=gamma * divergence(rival, best) + apart,
        reason="the gap, γ Σ_j u_j KL(x(·|j) ‖ q_λ(·|j)) + α/2 ‖Σ_i (p_i − p*_i) t_i‖², is 0 at X_ij = u_j q_λ(i|j) alone",
    )


def attained(cost: Entries) -> AtLeast:
    """The only minimizer is X_ij = u_j q_λ(i|j)."""
    return solves(kernel(lam, cost), cost)


def least_transport(cost: Entries) -> AtLeast:
    """⟨M, X⟩ − γ H(X) is least, over all couplings with column sums u, at X_ij = u_j q_0(i|j) alone."""
    return AtLeast(
        transport(rival, cost),
        -conjugate(origin, cost),
        because=gamma * divergence(rival, kernel(origin, cost)),
        reason="the gap is γ Σ_j u_j KL(x(·|j) ‖ q_0(·|j)), so W_γ(p, u) is least at p = ũ alone",
    )


def first_scores(template: sp.Expr) -> sp.Expr:
    """αY_i, where Y_i = ⟨t_i, z⟩."""
    return alpha * Y[template]


def second_term(cost: Entries) -> Entry:
    """i ↦ (1/γ) Σ_j u_j q_0(i|j) (W_i − Σ_k q_0(k|j) W_k)."""
    q = kernel(origin, cost)
    return lambda to: total(l, u[l] * q(to, l) * (W[to] - total(k, q(k, l) * W[k]))) / gamma


def second_scores(template: sp.Expr) -> sp.Expr:
    """⟨t_i, λ*⟩ = αY_i + α²W_i + o(α²)."""
    return alpha * Y[template] + alpha**2 * W[template]


def to_second_order(right: sp.Expr, cost: Entries) -> Expansion:
    """p*_i of (34), where ⟨t_i, λ*⟩ = αY_i + α²W_i + o(α²): Y_i = ⟨t_i, z⟩, W_i = ⟨t_i, w⟩."""
    return Expansion(
        weights(conditional(second_scores, cost))(i), right, alpha, 2, reason="λ* = αz + α²w + o(α²) with w = −Σ̄z/γ"
    )


@cache
def from_kernel(times: sp.Expr) -> Expansion:
    """The same from any kernel Q: the weights with αY for the scores, and a multiple of what W adds."""
    added = total(l, u[l] * Q[l, i] * (W[i] - total(k, Q[l, k] * W[k]))) / gamma
    return Expansion(
        weights(reweighted(second_scores))(i),
        weights(reweighted(first_scores))(i) + times * alpha**2 * added,
        alpha,
        2,
        at={**SCORED, i: 1},
        reason="λ* = αz + α²w + o(α²) with w = −Σ̄z/γ",
    )


def as_printed() -> Fails:
    """p*_i = (25), or (47), is false in the second order."""
    return Fails(from_kernel(sp.S.Zero), reason="so the two differ for however small an α")


@cache
def linear_dual() -> Expansion:
    """λ* = αz − (α²/γ) Σ̄z + o(α²)."""
    return Expansion(
        lam[a],
        alpha * z[a] - alpha**2 / gamma * total(c, spread(a, c) * z[c]),
        alpha,
        2,
        where=(maximizer,),
        reason="stationarity of (39), solved order by order",
    )
