"""Appendix D, second part: the true preference distribution, and what becomes of it as γ → 0.

Claims     deciphering.prop1                 ũ = argmin_p W_γ(p; u, M), and no other p
           deciphering.40                    ũ(t) = Σ_t' u(t') q_0(t|t'), for symmetric M
           deciphering.sD.kernel-limit       γ → 0  ⟹  q_0(t|t') → 1 for t = t', 0 otherwise
           deciphering.sD.preference-limit   γ → 0  ⟹  ũ(t) → u(t)
Notation   q_0(i|j) ∝ exp(−M_ij/γ), normalized over i; ũ_i = Σ_j u_j q_0(i|j); off the diagonal the costs of a column are
           larger by δ + s_k, s ≥ 0
References Proposition 1 of the document and the paragraph after it
"""

import sympy as sp

from derivations.documents.deciphering.notation import a, d
from derivations.documents.deciphering.notation_transport import (
    FOOTNOTE,
    STRICT,
    M,
    N,
    S,
    T,
    conjugate,
    gamma,
    gibbs,
    i,
    j,
    k,
    kernel,
    l,
    least_transport,
    origin,
    rival,
    symmetric,
    transport,
    true_mean,
    true_preference,
    u,
    weights,
)
from derivations.vocabulary import *

gap = positive("δ")
spare = vector("s", N, kind=Nonnegative)


def printed(cost: Entries) -> Entry:
    """t ↦ Σ_t' u(t') exp(−M(t, t')/γ)/Σ_t'' exp(−M(t', t'')/γ), as printed."""

    def entry(template: sp.Expr) -> sp.Expr:
        below = total(k, sp.exp(-cost(l, k) / gamma))
        return total(l, u[l] * sp.exp(-cost(template, l) / gamma) / below)

    return entry


def printed_mean(cost: Entries) -> Entry:
    """a ↦ (Σ_t ũ(t) t)_a with the printed ũ."""
    return lambda entry: total(i, printed(cost)(i) * T[i, entry])


UNEVEN: dict[Variable, Value] = {N: 2, u.label: [1, 0], M.label: [[0, 0], [1, 0]], gamma: 1}


@claim(
    "deciphering.prop1",
    "optimality",
    title="W_γ(·, u; M) has one minimizer",
    needs=("deciphering.23",),
    latex=r"\tilde u=\arg\min_p\mathcal W_\gamma(p;u,M)",
)
def proposition() -> Steps:
    """Over all p, and all couplings of p with u, the entropic cost has exactly one minimizer, for every M."""
    yield Equation(transport(kernel(origin, M), M), -conjugate(origin, M), reason="the value at X_ij = u_j q_0(i|j)")
    yield least_transport(M)


def at_least(right: sp.Expr) -> AtLeast:
    """Another bound below ⟨M, X⟩ − γ H(X)."""
    return AtLeast(transport(rival, M), right)


proposition.twin("u itself, all of which stays", lambda: at_least(transport(lambda to, of: delta(to, of), M)))
proposition.twin("the uniform distribution, by equal shares", lambda: at_least(transport(lambda to, of: 1 / N, M)))


@claim(
    "deciphering.40",
    "identity",
    title="The true preference distribution",
    hypotheses=(FOOTNOTE,),
    needs=("deciphering.prop1",),
    latex=r"\tilde u(t)=\sum_{t'}u(t')\frac{e^{-M(t,t')/\gamma}}{\sum_{t''}e^{-M(t',t'')/\gamma}}",
)
def true_preference_printed() -> Steps:
    """The minimizer sends each u(t') on in proportion to exp(−M(t, t')/γ); the printed normalization is for symmetric M."""
    yield least_transport(M)
    yield Fails(
        Equation(true_preference(M)(i), printed(M)(i), at={**UNEVEN, i: 1}),
        reason="as printed it needs the symmetry of footnote 11: else ũ need not even sum to 1",
    )
    yield minimizer(printed(symmetric)(i))


def minimizer(right: sp.Expr) -> Equation:
    """The row sums of the cheapest coupling."""
    return Equation(weights(gibbs(origin))(i), right, reason="p_i = Σ_j X_ij, and M(t', t'') = M(t'', t')")


true_preference_printed.twin("the preference itself", lambda: minimizer(u[i]))
true_preference_printed.twin(
    "γ is lost", lambda: minimizer(total(l, u[l] * sp.exp(-symmetric(i, l)) / total(k, sp.exp(-symmetric(k, l)))))
)
true_preference_printed.twin(
    "normalized over the own template",
    lambda: minimizer(total(l, u[l] * sp.exp(-symmetric(i, l) / gamma) / total(k, sp.exp(-symmetric(k, i) / gamma)))),
)


@claim(
    "deciphering.41",
    "identity",
    title="Its mean",
    hypotheses=(FOOTNOTE,),
    needs=("deciphering.40", "deciphering.35"),
    latex=r"\tilde\mu=\sum_{t,t'}u(t')\frac{e^{-M(t,t')/\gamma}}{\sum_{t''}e^{-M(t',t'')/\gamma}}t",
)
def mean_printed() -> Steps:
    """The mean of (40); for a matrix M that is not symmetric it is not the (correct) mean of (35)."""
    yield Fails(
        Equation(true_mean(M)(a), printed_mean(M)(a), at={**UNEVEN, d: 1, T.label: [[1], [0]], a: 1}),
        reason="(35) and (41) differ without the symmetry of footnote 11",
    )
    yield mean_of_minimizer(printed_mean(symmetric)(a))


def mean_of_minimizer(right: sp.Expr) -> Equation:
    """Σ_i ũ_i t_i."""
    return Equation(true_mean(symmetric)(a), right, reason="M(t', t'') = M(t'', t')")


mean_printed.twin("the mean of u", lambda: mean_of_minimizer(total(i, u[i] * T[i, a])))
mean_printed.twin("the cost's sign", lambda: mean_of_minimizer(printed_mean(lambda x, y: -symmetric(x, y))(a)))


# ── γ → 0 ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def leak(source: sp.Expr, cost: Entries) -> sp.Expr:
    """Σ_{k ≠ j} exp(−(M_kj − M_jj)/γ) = 1/q_0(j|j) − 1."""
    return total(k, sp.exp((cost(source, source) - cost(k, source)) / gamma)) - 1


def stays(source: sp.Expr, cost: Entries) -> sp.Expr:
    """q_0(j|j)."""
    return kernel(origin, cost)(source, source)


def leaves(of: sp.Expr, excess: Entry) -> sp.Expr:
    """Σ_{k ≠ j} exp(−(M_kj − M_jj)/γ), by the excesses of the costs over the one on the diagonal."""
    other = index("h", N, other_than=(of,))
    return total(other, sp.exp(-excess(other) / gamma))


def beyond(to: sp.Expr) -> sp.Expr:
    """δ + s_k, an excess with the least one taken off."""
    return gap + spare[to]


def at_most(bound: sp.Expr, leaving: sp.Expr, because: sp.Expr | None = None) -> AtLeast:
    """The mass leaving t_j, relative to the mass that stays, is at most a bound."""
    return AtLeast(
        bound,
        leaving,
        because=because,
        quotes=(SQUEEZE,),
        reason="so it tends to 0: the diagonal entry to 1, the others of the column, which sum to the rest, to 0",
    )


LARGEST = N * sp.exp(-gap / gamma)


@claim(
    "deciphering.sD.kernel-limit",
    "limit",
    title="The kernel becomes the identity as γ → 0",
    hypotheses=(FOOTNOTE, STRICT),
    latex=r"\gamma\to0\implies\frac{e^{-M(t,t')/\gamma}}{\sum_{t''}e^{-M(t',t'')/\gamma}}\to\mathbf 1[t=t']",
)
def kernel_limit() -> Steps:
    """What leaves a template is at most N e^{−δ/γ} of what stays, with δ > 0 the least excess of a cost off the diagonal."""
    yield Fails(
        Limit(stays(j, symmetric), gamma, sp.S.Zero, sp.S.One, at=TIE),
        reason="with a tie, M(t', t) = M(t, t), which footnote 11 excludes, the tied templates share equally",
    )
    yield Equation(
        1 / stays(j, symmetric) - 1,
        leaves(j, lambda to: symmetric(to, j) - symmetric(j, j)),
        reason="what leaves over what stays, for each t = t_j",
    )
    yield Limit(LARGEST, gamma, sp.S.Zero, sp.S.Zero, reason="whatever N and δ are")
    other = index("h", N, other_than=(j,))
    ratio = spare[other] / gamma
    spared = total(other, sp.exp(-gap / gamma) * (kl(sp.exp(-ratio), 1) + ratio * sp.exp(-ratio)))
    yield at_most(LARGEST, leaves(j, beyond), sp.exp(-gap / gamma) + spared)


TIE: dict[Variable, Value] = {N: 2, S.label: [[0, 0], [0, 0]], j: 1}
kernel_limit.twin("all of it leaves", lambda: at_most(LARGEST, sp.S.One))
kernel_limit.twin("four times as much leaves", lambda: at_most(LARGEST, 4 * leaves(j, beyond)))


@claim(
    "deciphering.sD.preference-limit",
    "limit",
    title="ũ → u as γ → 0",
    hypotheses=(FOOTNOTE, STRICT),
    needs=("deciphering.40", "deciphering.sD.kernel-limit"),
    latex=r"\gamma\to0\implies\tilde u(t)\to u(t)",
)
def preference_limit() -> Steps:
    """ũ keeps all of u but for what leaves, so the two distributions agree in the limit."""
    yield Equation(total(i, true_preference(M)(i)), 1, reason="ũ has mass 1, so bounds from below for all t suffice")
    yield Limit(sp.exp(-gap / gamma), gamma, sp.S.Zero, sp.S.Zero, reason="each term of what leaves, for δ > 0")
    yield retained(u[i] - u[i] * leak(i, symmetric))


def retained(right: sp.Expr) -> AtLeast:
    """ũ(t) is at least u(t) minus the mass that leaves t."""
    q = kernel(origin, symmetric)
    arriving = total(l, u[l] * q(i, l) * (1 - sp.KroneckerDelta(i, l)))
    return AtLeast(
        true_preference(symmetric)(i),
        right,
        because=arriving + u[i] * (1 - q(i, i)) ** 2 / q(i, i),
        reason="what arrives is ≥ 0",
    )


preference_limit.twin("nothing leaves", lambda: retained(u[i]))
preference_limit.twin("an eighth of what leaves", lambda: retained(u[i] - u[i] * leak(i, symmetric) / 8))
