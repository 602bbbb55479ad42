"""Appendix D, first part: the problem with transport in it, its conjugate and its dual.

Claims     deciphering.34                 (34) has exactly one solution, the p* of (38)
           deciphering.36                 W_γ* = γ(H(u) + Σ_t u(t) log Σ_t' exp((g(t') − M(t', t))/γ))  (corrected)
           deciphering.38                 p*(t) = Σ_t' u(t') q_λ*(t|t'), for symmetric M
           deciphering.sD.alpha-to-zero   p* → ũ as α → 0  (corrected)
           deciphering.sD.penalty         ‖λ*‖ ≤ α‖z‖
Notation   P[i, j] any coupling of p and u; X_ij = u_j x(i|j) one with column sums u; P, D the objectives of (34) and (39);
           g the conjugate's argument (printed p); q_λ(i|j) ∝ exp((⟨t_i, λ⟩ − M_ij)/γ), normalized over i
References Appendix D of the document up to Proposition 1; Cuturi and Peyré (2016), where K = exp(−M/γ) is symmetric
"""

import sympy as sp

from derivations.documents.deciphering.notation import a, alpha, d, lam, z
from derivations.documents.deciphering.notation_transport import (
    FOOTNOTE,
    M,
    N,
    Q,
    S,
    T,
    attained,
    conditional,
    conjugate,
    divergence,
    dual,
    dual_slope,
    entropy_of_preference,
    evidence_of,
    g,
    gamma,
    gibbs,
    i,
    j,
    k,
    kernel,
    l,
    least_transport,
    maximizer,
    nu,
    origin,
    plain,
    primal,
    rival,
    scores,
    solves,
    stationary,
    swapped,
    symmetric,
    tilted,
    transport,
    true_mean,
    true_preference,
    u,
    weak_duality,
    weights,
)
from derivations.vocabulary import *

# ── the problem ─────────────────────────────────────────────────────────────────────────────────────────────────────


@claim(
    "deciphering.34",
    "optimality",
    title="The problem with entropic transport has one solution",
    needs=("deciphering.23", "deciphering.24"),
    latex=r"p^*=\arg\min_p\tfrac\alpha2\left\|(\tilde\mu+z)-\int ap(a)da\right\|^2+\mathcal W_\gamma(p,u;M)",
)
def problem() -> Steps:
    """The problem, jointly over weights and couplings, has exactly one solution, recovered from a point of its dual."""
    towards = shifted(M)
    yield AtLeast(
        dual(origin, towards, M) + alpha / 2 * total(a, z[a] ** 2) - total(a, (lam[a] - alpha * z[a]) ** 2) / (2 * alpha),
        dual(lam, towards, M),
        because=gamma * divergence(kernel(origin, M), kernel(lam, M)),
        quotes=(WEIERSTRASS,),
        reason="the dual is below a quadratic that goes to −∞ with ‖λ‖: it has a maximizer, whatever z is",
    )
    yield dual_slope(M)
    yield attained(M)


def shifted(cost: Entries) -> Entry:
    """(μ̃ + z)_a."""
    return lambda entry: true_mean(cost)(entry) + z[entry]


def bound(right: sp.Expr) -> AtLeast:
    """P(X) ≥ another right side."""
    return AtLeast(attained(M).left, right)


def value_at(shares: Entries) -> sp.Expr:
    """The objective at other shares, for the same μ̃ + z."""
    return primal(shares, stationary(lam, M), M)


problem.twin("ũ is the solution", lambda: bound(value_at(kernel(origin, M))))
problem.twin("tilted by 2λ", lambda: bound(value_at(kernel(lambda entry: 2 * lam[entry], M))))


def printed_mean(normalized: Entries) -> Entry:
    """a ↦ Σ_{t, t'} u(t') exp(−M(t, t')/γ)/(Σ_t'' exp(−·/γ)) t, with the cost that stands in the denominator."""

    def entry(coordinate: sp.Expr) -> sp.Expr:
        below = total(k, sp.exp(-normalized(k, l) / gamma))
        return total((i, l), u[l] * sp.exp(-M[i, l] / gamma) / below * T[i, coordinate])

    return entry


@claim(
    "deciphering.35",
    "identity",
    title="The mean of the true preference distribution",
    needs=("deciphering.prop1",),
    latex=r"\tilde\mu=\sum_{t,t'}u(t')\frac{e^{-M(t,t')/\gamma}}{\sum_{t''}e^{-M(t'',t')/\gamma}}t",
)
def mean_of_true_preference() -> Steps:
    """The mean of the minimizer of W_γ(·, u; M) is a double sum, normalized over the first argument of M: right for every M."""
    yield least_transport(M)
    yield Equation(total(i, true_preference(M)(i) * T[i, a]), printed_mean(M)(a), reason="Σ_i ũ_i t_i")


def other_mean(right: Entry) -> Equation:
    """Another right side for μ̃."""
    return Equation(total(i, true_preference(M)(i) * T[i, a]), right(a))


mean_of_true_preference.twin("normalized over the second argument", lambda: other_mean(printed_mean(swapped(M))))
mean_of_true_preference.twin("the mean of u", lambda: other_mean(lambda x: total(i, u[i] * T[i, x])))


p = simplex("p", N)
plan = coupling("P", p, u)


def priced(shares: Entries, cost: Entries) -> sp.Expr:
    """⟨M, X⟩ − γ H(X)."""
    return total((i, j), cost(i, j) * shares(i, j)) + gamma * total((i, j), xlogx(shares(i, j)))


@claim(
    "deciphering.sD.arguments",
    "definition",
    title="W_γ with its arguments in other orders",
    hypotheses=(FOOTNOTE,),
    needs=("deciphering.23",),
    latex=r"\mathcal W_\gamma(p;u,M)=\mathcal W_\gamma(d;r,M)=\mathcal W_\gamma(p,u;M)",
)
def arguments() -> Steps:
    """W_γ(p; u, M) and, after the cited paper, W_γ(d; r, M) are (23); for symmetric M the marginals may change places."""
    yield Equation(total(j, plan[i, j]), p[i], reason="the first one is the row sums: of X here, of the transposed plan there")
    yield Equation(
        priced(lambda first, second: plan[second, first], symmetric), priced(plan, symmetric), reason="M(t, t') = M(t', t)"
    )


# ── the conjugate ───────────────────────────────────────────────────────────────────────────────────────────────────


def supremum(cost: Entries) -> sp.Expr:
    """⟨p, g⟩ − W_γ(p, u; M) at X_ij = u_j q(i|j), where it is greatest."""
    best = conditional(g, cost)
    return total(i, weights(best)(i) * g[i]) - transport(best, cost)


def fenchel_young(cost: Entries) -> AtLeast:
    """⟨M, X⟩ − γ H(X) ≥ ⟨p, g⟩ − W*(g), for every coupling with column sums u and every g."""
    return AtLeast(
        transport(rival, cost),
        total(i, weights(rival)(i) * g[i]) - conjugate(g, cost),
        because=gamma * divergence(rival, conditional(g, cost)),
        reason="the gap is γ Σ_j u_j KL(x(·|j) ‖ q(·|j)): the supremum is attained at q",
    )


PAIR: dict[Variable, Value] = {N: 2, u.label: [1, 0], S.label: [[0, 0], [1, 0]], g.label: [0, 1], gamma: 1}


@claim(
    "deciphering.36",
    "identity",
    title="The conjugate of the transport cost",
    hypotheses=(FOOTNOTE,),
    needs=("deciphering.23",),
    latex=r"\mathcal W_\gamma^*(p;u,M)=\gamma\left(H(u)+\sum_tu(t)\log\sum_{t'}e^{\gamma^{-1}(p(t)-M(t,t'))}\right)",
)
def conjugate_of_transport() -> Steps:
    """The convex conjugate of W_γ(·, u; M) is printed with the potential of t, not of t', inside the inner sum."""
    yield fenchel_young(symmetric)
    constant = total(j, u[j] * sp.log(total(k, sp.exp((g[j] - symmetric(j, k)) / gamma))))
    yield Fails(
        Equation(supremum(symmetric), gamma * (entropy_of_preference() + constant), at=PAIR),
        reason="p(t) leaves the inner sum, and what remains is linear in p: not the conjugate",
    )


@conjugate_of_transport.corrected(
    r"\mathcal W_\gamma^*(p;u,M)=\gamma\left(H(u)+\sum_tu(t)\log\sum_{t'}e^{\gamma^{-1}(p(t')-M(t',t))}\right)",
    Severity.SLIP,
    replaces="the potential p(t) in the inner sum",
)
def conjugate_with_t_prime() -> Steps:
    """With p(t') inside it is the conjugate, for every M if M's first argument is summed, as printed for symmetric M."""
    yield fenchel_young(M)
    yield Equation(supremum(M), conjugate(g, M), reason="the supremum at its maximizer")


conjugate_of_transport.twin("M's second argument is summed", lambda: Equation(supremum(M), conjugate(g, swapped(M))))
conjugate_of_transport.twin(
    "the entropy of u is lost", lambda: Equation(supremum(M), conjugate(g, M) - gamma * entropy_of_preference())
)
conjugate_of_transport.twin(
    "γ is lost inside",
    lambda: Equation(
        supremum(M), gamma * (entropy_of_preference() + total(j, u[j] * sp.log(total(k, sp.exp(g[k] - M[k, j])))))
    ),
)


def slope(cost: Entries) -> sp.Expr:
    """∂W*/∂g_i, differentiated."""
    return derivative(conjugate(g, cost), g[i])


def printed_slope(above: Entries, below: Entries, potentials: Entry = g) -> Entry:
    """i ↦ Σ_t' u(t') exp((g(t) − M(t, t'))/γ)/Σ_t'' exp((g(t'') − M(t', t''))/γ), with the cost in each place."""

    def entry(template: sp.Expr) -> sp.Expr:
        inner = total(k, sp.exp((potentials(k) - below(l, k)) / gamma))
        return total(l, u[l] * plain(potentials, above)(template, l) / inner)

    return entry


UNEVEN: dict[Variable, Value] = {N: 2, u.label: [1, 0], M.label: [[0, 0], [1, 0]], gamma: 1}


@claim(
    "deciphering.37",
    "identity",
    title="The gradient of the conjugate",
    hypotheses=(FOOTNOTE,),
    needs=("deciphering.36",),
    latex=r"[\nabla_p\mathcal W_\gamma^*(p;u,M)]_t=\sum_{t'}\frac{u(t')e^{\gamma^{-1}(p(t)-M(t,t'))}}"
    r"{\sum_{t''}e^{\gamma^{-1}(p(t'')-M(t',t''))}}",
)
def gradient_of_conjugate() -> Steps:
    """The gradient of the conjugate: numerator and denominator go through M's two arguments, the same for symmetric M."""
    yield Equation(slope(M), printed_slope(M, swapped(M))(i), reason="for every M: both sums over M's first argument")
    yield Fails(
        Equation(slope(M), printed_slope(M, M)(i), at={**UNEVEN, g.label: [0, 0], i: 1}),
        reason="as printed it needs the symmetry of footnote 11",
    )
    yield Equation(slope(symmetric), printed_slope(symmetric, symmetric)(i), reason="M(t', t'') = M(t'', t')")


gradient_of_conjugate.twin("γ times it", lambda: Equation(slope(symmetric), gamma * printed_slope(symmetric, symmetric)(i)))
gradient_of_conjugate.twin(
    "the sign of the potential", lambda: Equation(slope(symmetric), printed_slope(symmetric, symmetric, lambda x: -g[x])(i))
)
gradient_of_conjugate.twin("the gradient of (36) as printed", lambda: Equation(slope(symmetric), u[i]))


# ── the dual ────────────────────────────────────────────────────────────────────────────────────────────────────────


@claim(
    "deciphering.38",
    "optimality",
    title="The minimizer, from the maximizer of the dual",
    hypotheses=(FOOTNOTE,),
    needs=("deciphering.34", "deciphering.37"),
    latex=r"p^*(t)=\sum_{t'}\frac{u(t')e^{\gamma^{-1}(t^\top\lambda^*-M(t,t'))}}"
    r"{\sum_{t''}e^{\gamma^{-1}((t'')^\top\lambda^*-M(t',t''))}}",
)
def minimizer() -> Steps:
    """The weights that solve (34) are the gradient of the conjugate at the scores ⟨t, λ*⟩, for symmetric M."""
    yield dual_slope(symmetric)
    yield solves(printed_shares, symmetric)
    yield Fails(
        Equation(
            weights(kernel(lam, M))(i),
            printed_slope(M, M, scores(lam))(i),
            at={**UNEVEN, d: 1, T.label: [[0], [0]], lam.label: [0], i: 1},
        ),
        reason="as printed it needs the symmetry of footnote 11",
    )
    yield recovered(printed_slope(symmetric, symmetric, scores(lam)))


def printed_shares(to: sp.Expr, of: sp.Expr) -> sp.Expr:
    """e^{(⟨t, λ⟩ − M(t, t'))/γ}/Σ_t'' e^{(⟨t'', λ⟩ − M(t', t''))/γ}, as printed."""
    below = total(k, sp.exp((scores(lam)(k) - symmetric(of, k)) / gamma))
    return plain(scores(lam), symmetric)(to, of) / below


def recovered(right: Entry) -> Equation:
    """The row sums of the optimal coupling, for symmetric M."""
    return Equation(weights(gibbs(lam))(i), right(i), reason="p_i = Σ_j X_ij, for the only minimizer X, and K is symmetric")


minimizer.twin("the tilt's sign", lambda: recovered(printed_slope(symmetric, symmetric, scores(lambda x: -lam[x]))))
minimizer.twin("λ = 0", lambda: recovered(true_preference(symmetric)))


def printed_dual(at: Entry, towards: Entry, cost: Entries = symmetric) -> sp.Expr:
    """⟨μ̃ + z, λ⟩ − ‖λ‖²/(2α) − γ Σ_t u(t) log Σ_t' exp((⟨t', λ⟩ − M(t, t'))/γ)."""
    inner = total(j, u[j] * sp.log(total(k, sp.exp((scores(at)(k) - cost(j, k)) / gamma))))
    return total(a, towards(a) * at(a)) - total(a, at(a) ** 2) / (2 * alpha) - gamma * inner


@claim(
    "deciphering.39",
    "optimality",
    title="The dual problem",
    hypotheses=(FOOTNOTE,),
    needs=("deciphering.36",),
    latex=r"\lambda^*=\arg\max_\lambda\langle\tilde\mu+z,\lambda\rangle-\tfrac1{2\alpha}\|\lambda\|^2"
    r"-\gamma\sum_tu(t)\log\sum_{t'}e^{((t')^\top\lambda-M(t,t'))/\gamma}",
)
def dual_problem() -> Steps:
    """λ* is the only maximizer of the dual; in its second form the constant γH(u) is dropped, and t' stands where it should."""
    yield weak_duality(z, symmetric)
    yield Equation(
        total(a, z[a] * lam[a]) - total(a, lam[a] ** 2) / (2 * alpha) - conjugate(scores(lam), symmetric),
        printed_dual(lam, z) - gamma * entropy_of_preference(),
        reason="γH(u) does not depend on λ",
    )
    yield best_dual(printed_dual(nu, stationary(lam, symmetric)))


def best_dual(right: sp.Expr) -> AtLeast:
    """D(λ) ≥ D(ν) for every ν, where μ̃ + z makes λ stationary."""
    apart = total(a, (lam[a] - nu[a]) ** 2) / (2 * alpha)
    gap = gamma * divergence(kernel(lam, symmetric), kernel(nu, symmetric)) + apart
    return AtLeast(
        printed_dual(lam, stationary(lam, symmetric)),
        right,
        because=gap,
        reason="D(λ) − D(ν) = γ Σ_j u_j KL(q_λ(·|j) ‖ q_ν(·|j)) + ‖λ − ν‖²/(2α)",
    )


dual_problem.twin(
    "twice the rival's evidence", lambda: best_dual(printed_dual(nu, lambda x: 2 * stationary(lam, symmetric)(x)))
)
dual_problem.twin(
    "the rival is not penalized",
    lambda: best_dual(printed_dual(nu, stationary(lam, symmetric)) + total(a, nu[a] ** 2) / (2 * alpha)),
)


# ── α → 0 ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@claim(
    "deciphering.sD.alpha-to-zero",
    "limit",
    title="ũ and p* when α → 0",
    needs=("deciphering.34", "deciphering.prop1"),
    latex=r"\tilde u\to p^*\text{ when }\alpha\to0",
)
def alpha_to_zero() -> Steps:
    """As α → 0 the true preference ũ is said to tend to the solution p*."""
    yield Equation(derivative(true_preference(M)(i), alpha), 0, reason="ũ does not depend on α: what it tends to, it is")
    yield Fails(
        Equation(
            true_preference(M)(i), weights(kernel(lam, M))(i), at={**UNEVEN, d: 1, T.label: [[0], [1]], lam.label: [1], i: 1}
        ),
        reason="and p* is something else for α > 0",
    )


@alpha_to_zero.corrected(r"p^*\to\tilde u\text{ when }\alpha\to0", Severity.SLIP, replaces="the arrow from ũ to p*")
def solution_to_true_preference() -> Steps:
    """It is p* that moves: it tends to ũ as α → 0, for every M, u, γ and z."""
    yield limit_of_solution(total(j, u[j] * Q[j, i]))


def limit_of_solution(right: sp.Expr) -> Expansion:
    """The limit of p*."""
    return Expansion(weights(tilted(lam))(i), right, alpha, 0, where=(maximizer,), reason="λ* = O(α)")


alpha_to_zero.twin("the preference itself", lambda: limit_of_solution(u[i]))
alpha_to_zero.twin("the uniform distribution", lambda: limit_of_solution(1 / N))


@claim(
    "deciphering.sD.penalty",
    "inequality",
    title="A small α keeps λ* small",
    needs=("deciphering.39",),
    latex=r"\alpha\to0\implies\|\lambda^*\|^2=0;\quad\alpha\text{ small}\implies\|\lambda^*\|^2\approx0",
)
def penalty() -> Steps:
    """As α → 0 the norm of λ* vanishes: it is never more than α times that of z, whatever M, u and γ are."""
    inner, square = total(a, z[a] * lam[a]), total(a, lam[a] ** 2)
    yield Equation(
        alpha**2 * total(a, z[a] ** 2) - square,
        total(a, (alpha * z[a] - lam[a]) ** 2) + 2 * (alpha * inner - square),
        reason="so α⟨z, λ⟩ ≥ ‖λ‖² makes ‖λ‖ ≤ α‖z‖",
    )
    yield leans_on_evidence(total(a, lam[a] ** 2))


def leans_on_evidence(right: sp.Expr) -> AtLeast:
    """α⟨z, λ⟩ ≥ ‖λ‖², where λ is stationary."""
    q, q0 = kernel(lam, M), kernel(origin, M)
    return AtLeast(
        pull(),
        right,
        because=alpha * gamma * (divergence(q, q0) + divergence(q0, q)),
        reason="⟨αz − λ, λ⟩ = α⟨mean(q_λ) − mean(q_0), λ⟩ = αγ Σ_j u_j (KL(q_λ ‖ q_0) + KL(q_0 ‖ q_λ))",
    )


def pull() -> sp.Expr:
    """α⟨z, λ⟩ for the z for which λ is stationary."""
    own = evidence_of(lam, M)
    return alpha * total(a, own(a) * lam[a])


penalty.twin("the other way round", lambda: leans_on_evidence(2 * pull() - total(a, lam[a] ** 2)))
penalty.twin("four times the square", lambda: leans_on_evidence(4 * total(a, lam[a] ** 2)))
