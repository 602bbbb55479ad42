"""Section 9, first part: entropic transport in place of the divergence.

Claims     deciphering.23               W_γ = min ⟨M, P⟩ − γH(P), attained where P_ij ∝ e^((g_i − M_ij)/γ) for each j
           deciphering.s9.smooth        the derivative of the marginals in (log A, log B) is nonsingular up to shifts
           deciphering.s9.wasserstein   0 ≤ W_ρ^ρ − W_γ ≤ 2γ log N; W_γ^(1/ρ) → W_ρ as γ → 0, for p ≠ u
           deciphering.s9.deviates      u not ∝ Z  ⟹  0 < ‖ũ − u‖₁ ≤ 2 Σ_t u(t) Σ_{t'≠t} e^((M_tt − M_t't)/γ)
Notation   p, u the marginals of a coupling P; f, g potentials; q_0(i|j) ∝ exp(−M_ij/γ), ũ = Σ_j u_j q_0(·|j);
           X_ij = A_i M_ij B_j with A, B ≥ 0 where marginals may have zeros, here M_ij = exp(−cost/γ), and x, y are directions
           of A and B; the rest as in `notation_transport`
References Section 9 of the document up to (24); Cuturi (2013)
"""

import sympy as sp

from derivations.documents.deciphering.notation_transport import (
    FOOTNOTE,
    STRICT,
    TWO,
    M,
    N,
    Q,
    S,
    conditional,
    conjugate,
    divergence,
    g,
    gamma,
    gibbs,
    i,
    j,
    k,
    kernel,
    l,
    normalizer,
    origin,
    rival,
    symmetric,
    transport,
    true_preference,
    u,
    weights,
)
from derivations.vocabulary import *

p = simplex("p", N)
P, R0 = coupling("P", p, u), coupling("R", p, u)
rows, columns = simplex("A", N), simplex("B", N)
new_rows, new_columns = complementary("x", rows), complementary("y", columns)
D = vector("D", N, N, kind=Nonnegative)
rho, gap, far, t = (positive(name) for name in ("rho", "δ", "D", "t"))
f, x, y = vector("f", N), vector("x", N), vector("y", N)


# ── the cost ────────────────────────────────────────────────────────────────────────────────────────────────────────


def paired(shares: Entries) -> sp.Expr:
    """⟨p, g⟩."""
    return total(i, weights(shares)(i) * g[i])


best = conditional(g, M)


@claim(
    "deciphering.23",
    "definition",
    title="Entropic transport",
    latex=r"\mathcal W_\gamma(p,u;M)=\min_{X\in U(p,u)}\langle M,X\rangle-\gamma H(X)",
    hypotheses=("γ > 0",),
)
def entropic_transport() -> Steps:
    """U(p, u) is compact and not empty, so the minimum is attained; X_ij ∝ exp((g_i − M_ij)/γ) is best for its marginals."""
    yield Equation(total(j, p[i] * u[j]), p[i], reason="p uᵀ has the row sums p")
    yield Equation(total(i, p[i] * u[j]), u[j], reason="and the column sums u", about=(p[i],))
    yield AtLeast(
        transport(rival, M),
        paired(rival) - conjugate(g, M),
        because=gamma * divergence(rival, best),
        reason="for every coupling with column sums u and every g",
    )
    yield cheapest_for_its_rows(paired(best) - conjugate(g, M))


def cheapest_for_its_rows(right: sp.Expr) -> Equation:
    """W_γ(p, u; M) for the p that g belongs to."""
    return Equation(
        transport(best, M),
        right,
        reason="this one reaches the bound; rows with p_i = 0 are left out",
        quotes=(HEINE_BOREL, WEIERSTRASS),
    )


entropic_transport.twin(
    "entropy is penalized",
    lambda: cheapest_for_its_rows(2 * total((i, j), M[i, j] * u[j] * best(i, j)) - paired(best) + conjugate(g, M)),
)
entropic_transport.twin("the potential does not count", lambda: cheapest_for_its_rows(-conjugate(g, M)))


@claim(
    "deciphering.fn11",
    "definition",
    title="What is assumed of the costs",
    latex=r"M\ge0,\ M(t,t')=M(t',t),\ M(t,t)<M(t',t)\ (t'\ne t);\quad\text{e.g. } M=d_{\mathcal A}^\rho,\ \rho\ge1",
)
def assumptions() -> Steps:
    """Costs are nonnegative, symmetric and least on the diagonal, as powers of a metric are; less cost means more alike."""
    yield AtLeast(far**rho, 0, reason="nonnegative, and symmetric as the metric is")
    yield AtLeast(far**rho, 0, strict=True, reason="d(t', t)^ρ > 0 = d(t, t)^ρ for t' ≠ t")


assumptions.twin("off the diagonal at least 1", lambda: AtLeast(far**rho, 1))
assumptions.twin("at least the distance", lambda: AtLeast(far**rho, far))


def flow(first: sp.Expr, second: sp.Expr) -> sp.Expr:
    """X_ij along a line of potentials: exp((f_i + t x_i + g_j + t y_j − M_ij)/γ)."""
    return sp.exp((f[first] + t * x[first] + g[second] + t * y[second] - M[first, second]) / gamma)


def response() -> sp.Expr:
    """Σ_i x_i dp_i/dt + Σ_j y_j du_j/dt."""
    rows, columns = total(j, flow(i, j)), total(i, flow(i, j))
    return total(i, x[i] * derivative(rows, t)) + total(j, y[j] * derivative(columns, t))


def form(sign: sp.Expr, scale: sp.Expr) -> Equation:
    """The derivative's quadratic form."""
    return Equation(
        response(),
        total((i, j), flow(i, j) * (x[i] + sign * y[j]) ** 2) / scale,
        reason="0 only where x_i = −y_j for all i, j: a shift between f and g, which leaves X as it is",
        quotes=(IMPLICIT_FUNCTION,),
    )


def entering() -> Equation:
    """Σ_i x_i dp_i, where X_ij = A_i M_ij B_j moves by new rows x, with x_i > 0 only where A_i = 0, and new columns y."""
    pushed = total(j, M[i, j] * (new_rows[i] * columns[j] + rows[i] * new_columns[j]))
    return Equation(
        total(i, new_rows[i] * pushed),
        total((i, j), new_rows[i] ** 2 * M[i, j] * columns[j]),
        reason="rows without weight: they answer to p alone, dp_i = x_i Σ_j M_ij B_j; so do columns to u",
    )


@claim(
    "deciphering.s9.smooth",
    "identity",
    title="The minimizer changes smoothly",
    needs=("deciphering.23",),
    latex=r"(p,u,M)\mapsto X^*\text{ is smooth}",
)
def smooth() -> Steps:
    """The derivative of the marginals is nonsingular up to shifts, so X* is smooth in p, u and M; zeros are no exception."""
    yield AtLeast(flow(i, j), 0, strict=True, reason="X_ij = exp((f_i + g_j − M_ij)/γ) for marginals without zeros")
    yield entering()
    yield form(sp.S.One, gamma)


smooth.twin("γ is lost", lambda: form(sp.S.One, sp.S.One))
smooth.twin("the difference of the directions", lambda: form(-sp.S.One, gamma))


@claim(
    "deciphering.s9.faster",
    "empirical",
    title="Entropy stabilizes and speeds up the evaluation",
    latex=r"\text{time for }\mathcal W_\gamma<\text{time for }\mathcal W_0",
)
def faster() -> Undecidable:
    """The regularized cost is said to be faster and more stable to evaluate, after Cuturi (2013)."""
    return Undecidable("no size, accuracy, γ or algorithm is stated, and the order changes with each of them")


def expense(plan: sp.IndexedBase) -> sp.Expr:
    """⟨M, X⟩ for M = D^ρ."""
    return total((i, j), D[i, j] ** rho * plan[i, j])


def entropy(plan: sp.IndexedBase) -> sp.Expr:
    """H(X)."""
    return -total((i, j), xlogx(plan[i, j]))


def entropic(plan: sp.IndexedBase) -> sp.Expr:
    """⟨M, X⟩ − γ H(X)."""
    return expense(plan) - gamma * entropy(plan)


HALF = sp.S.Half
SAME: dict[Variable, Value] = {
    N: 2,
    p.label: [HALF, HALF],
    u.label: [HALF, HALF],
    D.label: [[0, 0], [0, 0]],
    P.label: [[HALF / 2, HALF / 2]] * 2,
    R0.label: [[HALF, 0], [0, HALF]],
    gamma: 1,
    rho: 1,
}


def from_below(share: sp.Expr) -> Follows:
    """W_γ ≥ W_0 − share · γ log N², where R is optimal for γ = 0."""
    loose, at = (gamma * total((i, j), kl(P[i, j], 1 / N**2)), {}) if share == 1 else (sp.S.Zero, SAME)
    optimal = AtLeast(expense(P), expense(R0))
    return Follows(
        (optimal,),
        AtLeast(entropic(P), expense(R0) - share * gamma * 2 * sp.log(N)),
        (sp.S.One,),
        slack=loose,
        given=(optimal,),
        at=at,
        reason="H(P) ≤ log N²",
        quotes=(SQUEEZE,),
    )


@claim(
    "deciphering.s9.wasserstein",
    "limit",
    title="γ → 0 gives the Wasserstein distance",
    needs=("deciphering.23",),
    latex=r"\gamma\to0,\ M=d_{\mathcal A}^\rho\implies\mathcal W_\gamma^{1/\rho}\to W_\rho(p,u)",
)
def wasserstein() -> Steps:
    """The root of W_γ is said to tend to the Wasserstein distance; for p = u it is the root of a negative number."""
    yield Fails(
        AtLeast(
            entropic(P),
            0,
            at={
                N: 2,
                p.label: [HALF, HALF],
                u.label: [HALF, HALF],
                D.label: [[0, 1], [1, 0]],
                P.label: [[HALF, 0], [0, HALF]],
                gamma: 1,
                rho: 1,
            },
        ),
        reason="p = u: this plan costs −γH(u), so W_γ < 0 for every γ > 0, unless u is one template",
    )


@wasserstein.corrected(
    r"p\ne u\implies\lim_{\gamma\to0}\mathcal W_\gamma^{1/\rho}=W_\rho(p,u),\quad"
    r"0\le W_\rho^\rho-\mathcal W_\gamma\le2\gamma\log N",
    Severity.HYPOTHESIS,
    under="p ≠ u, or the limit is taken before the root",
)
def wasserstein_from_below() -> Steps:
    """W_γ lies between W_0 − 2γ log N and W_0 = W_ρ^ρ, so it tends to it, and where that is positive its root to W_ρ."""
    yield AtLeast(entropy(R0), 0, reason="no plan has negative entropy: its entries are at most 1")
    optimal = AtLeast(entropic(R0), entropic(P))
    yield Follows(
        (optimal, AtLeast(entropy(R0), 0)),
        AtLeast(expense(R0), entropic(P)),
        (sp.S.One, gamma),
        given=(optimal,),
        reason="P optimal for γ, R for γ = 0: W_γ ≤ W_0",
    )
    yield Limit(
        sp.exp(sp.log(gap - 2 * far * gamma) / rho),
        gamma,
        sp.S.Zero,
        sp.exp(sp.log(gap) / rho),
        reason="so both bounds have the same root in the limit, if W_0 = δ > 0",
    )
    yield from_below(sp.S.One)


wasserstein.twin("from above", lambda: from_below(sp.S.Zero))
wasserstein.twin("half of it", lambda: from_below(HALF))


# ── the true preference distribution ────────────────────────────────────────────────────────────────────────────────


def leak() -> sp.Expr:
    """Σ_{k ≠ i} exp(−(M_ki − M_ii)/γ)."""
    return total(k, sp.exp((symmetric(i, i) - symmetric(k, i)) / gamma)) - 1


def retained(right: sp.Expr) -> AtLeast:
    """ũ_i is at least u_i minus the mass that leaves i."""
    q = kernel(origin, symmetric)
    arriving = total(l, u[l] * q(i, l) * (1 - sp.KroneckerDelta(i, l)))
    return AtLeast(
        true_preference(symmetric)(i),
        right,
        because=arriving + u[i] * (1 - q(i, i)) ** 2 / q(i, i),
        reason="both have mass 1, so ‖ũ − u‖₁ is at most twice Σ_i u_i times this sum",
    )


def squared_deviation(shares: Entries) -> sp.Expr:
    """‖ũ − u‖² for the kernel q_0."""
    return total(i, (weights(shares)(i) - u[i]) ** 2)


@claim(
    "deciphering.s9.deviates",
    "inequality",
    title="ũ deviates slightly from u, and less as γ → 0",
    needs=("deciphering.prop1", "deciphering.sD.preference-limit"),
    hypotheses=(FOOTNOTE, STRICT, "u and M are fixed"),
    latex=r"\tilde u\ne u,\quad\tilde u\approx u,\quad\tilde u\to u\ (\gamma\to0)",
)
def deviates() -> Steps:
    """The minimizer of W_γ(·, u; M) is said to deviate from u, to do so slightly, and to tend to u with γ."""
    yield Fails(
        AtLeast(
            sp.Rational(1, 100),
            squared_deviation(kernel(origin, symmetric)),
            at={N: 2, u.label: [1, 0], S.label: [[0, 0], [1, 0]], gamma: 1000},
        ),
        reason="not slightly, unless γ is small: at γ = 1000 ũ is nearly uniform, whatever u is",
    )
    masses = normalizer(lambda to: sp.S.Zero, symmetric)
    yield Equation(
        total(j, masses(j) * gibbs(origin)(i, j)),
        masses(i),
        reason="nor from every u: where it is proportional to the column sums Z of exp(−M/γ), ũ = u",
    )
    yield Fails(
        AtLeast(squared_deviation(lambda to, of: Q[of, to]), 0, strict=True, at={**TWO, u.label: [HALF, HALF]}),
        reason="as here, for M(t, t) = 0, M(t', t) = log 3 and γ = 1: u = (½, ½) is its own ũ",
    )


@deviates.corrected(
    r"u\not\propto Z\implies0<\|\tilde u-u\|_1\le2\sum_tu(t)\sum_{t'\ne t}e^{-(M(t',t)-M(t,t))/\gamma},\quad "
    r"Z(t)=\sum_{t'}e^{-M(t',t)/\gamma}",
    Severity.HYPOTHESIS,
    under="γ is small, and u is not proportional to the column sums Z of exp(−M/γ)",
    replaces="that ũ ≠ u, whatever u is, and the word “slightly”",
)
def deviates_unless_proportional() -> Steps:
    """ũ = u only for u ∝ Z (so for N = 1, too); in general they differ by an amount that vanishes with γ."""
    ratio = {of: u[of] / normalizer(lambda to: sp.S.Zero, symmetric)(of) for of in (i, j)}
    spread_of_ratios = total((i, j), sp.exp(-symmetric(i, j) / gamma) * (ratio[i] - ratio[j]) ** 2) / 2
    yield Equation(
        total(i, ratio[i] * (u[i] - true_preference(symmetric)(i))),
        spread_of_ratios,
        reason="> 0 unless u_i/Z_i is the same for all i: then, and only then, ũ = u",
    )
    yield Limit(sp.exp(-gap / gamma), gamma, sp.S.Zero, sp.S.Zero, reason="each term below, for M(t', t) − M(t, t) = δ > 0")
    yield retained(u[i] - u[i] * leak())


deviates.twin("no deviation at all", lambda: retained(u[i]))
deviates.twin("an eighth of it", lambda: retained(u[i] - u[i] * leak() / 8))
