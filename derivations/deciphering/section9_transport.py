"""Section 9, first half: entropic transport in place of the divergence, and the solution's closed form.

Claims     deciphering.23–deciphering.25, deciphering.fn11, deciphering.s9.smooth, deciphering.s9.faster,
           deciphering.s9.wasserstein, deciphering.s9.deviates, deciphering.s9.rewritten, deciphering.s9.ot-attention,
           deciphering.s9.ot-first-order
Notation   p, u the marginals of a coupling P; f, g potentials; q_0(i|j) ∝ exp(−M_ij/γ), ũ = Σ_j u_j q_0(·|j);
           X_ij = A_i M_ij B_j with A, B ≥ 0 where marginals may have zeros, here M_ij = exp(−cost/γ), and x, y are directions
           of A and B; v > 0 a preference without zeros, where p has none either; the rest as in `notation_transport`
References Section 9 of the document up to (25); Cuturi (2013)
"""

import sympy as sp

from derivations import (
    HEINE_BOREL,
    IMPLICIT_FUNCTION,
    SQUEEZE,
    WEIERSTRASS,
    AtLeast,
    Entries,
    Entry,
    Equation,
    Expansion,
    Fails,
    Follows,
    Kind,
    Limit,
    Severity,
    Steps,
    Undecidable,
    Value,
    Variable,
    claim,
    complementary,
    coupling,
    derivative,
    interior,
    kl,
    positive,
    simplex,
    total,
    vector,
    xlogx,
)
from derivations.deciphering.notation import a, alpha, b, z
from derivations.deciphering.notation_transport import (
    FOOTNOTE,
    SMALL,
    STRICT,
    TWO,
    M,
    N,
    Q,
    S,
    T,
    as_printed,
    base_mean,
    conditional,
    conjugate,
    divergence,
    dual_slope,
    first_order,
    first_scores,
    free,
    from_kernel,
    g,
    gamma,
    gibbs,
    i,
    j,
    k,
    kernel,
    l,
    least_transport,
    linear_dual,
    mean,
    normalizer,
    origin,
    potential,
    primal,
    rival,
    scores,
    second_term,
    spread,
    symmetric,
    tilted,
    to_second_order,
    transport,
    true_mean,
    true_preference,
    u,
    weights,
)

p = simplex("p", N)
P, R0 = coupling("P", p, u), coupling("R", p, u)
p0, v = interior("p", N), interior("v", N)
P0 = coupling("P", p0, v)
rows, columns = simplex("A", N), simplex("B", N)
new_rows, new_columns = complementary("x", rows), complementary("y", columns)
D = vector("D", N, N, kind=Kind.NONNEGATIVE)
rho, gap, far, t = (positive(name) for name in ("rho", "δ", "D", "t"))
f, x, y = vector("f", N), vector("x", N), vector("y", N)


# ── the cost ────────────────────────────────────────────────────────────────────────────────────────────────────────


def paired(shares: Entries) -> sp.Expr:
    """⟨p, g⟩."""
    return total(i, weights(shares)(i) * g[i])


best = conditional(potential, free)


@claim("deciphering.23", "definition", title="Entropic transport",
       latex=r"\mathcal W_\gamma(p,u;M)=\min_{X\in U(p,u)}\langle M,X\rangle-\gamma H(X)", hypotheses=("γ > 0",))
def entropic_transport() -> Steps:
    """U(p, u) is compact and not empty, so the minimum is attained; X_ij ∝ exp((g_i − M_ij)/γ) is best for its marginals."""
    yield Equation(total(j, p[i] * u[j]), p[i], reason="p uᵀ has the row sums p")
    yield Equation(total(i, p[i] * u[j]), u[j], reason="and the column sums u", about=(p[i],))
    yield AtLeast(transport(rival, free), paired(rival) - conjugate(potential, free),
                  because=gamma * divergence(rival, best), reason="for every coupling with column sums u and every g")
    yield cheapest_for_its_rows(paired(best) - conjugate(potential, free))


def cheapest_for_its_rows(right: sp.Expr) -> Equation:
    """W_γ(p, u; M) for the p that g belongs to."""
    return Equation(transport(best, free), right, reason="this one reaches the bound; rows with p_i = 0 are left out",
                    quotes=(HEINE_BOREL, WEIERSTRASS))


entropic_transport.twin("entropy is penalized", lambda: cheapest_for_its_rows(
    2 * total((i, j), M[i, j] * u[j] * best(i, j)) - paired(best) + conjugate(potential, free)))
entropic_transport.twin("the potential does not count", lambda: cheapest_for_its_rows(-conjugate(potential, free)))


@claim("deciphering.fn11", "definition", title="What is assumed of the costs",
       latex=r"M\ge0,\ M(t,t')=M(t',t),\ M(t,t)<M(t',t)\ (t'\ne t);\quad\text{e.g. } M=d_{\mathcal A}^\rho,\ \rho\ge1")
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
    return Equation(response(), total((i, j), flow(i, j) * (x[i] + sign * y[j]) ** 2) / scale,
                    reason="0 only where x_i = −y_j for all i, j: a shift between f and g, which leaves X as it is",
                    quotes=(IMPLICIT_FUNCTION,))


def entering() -> Equation:
    """Σ_i x_i dp_i, where X_ij = A_i M_ij B_j moves by new rows x, with x_i > 0 only where A_i = 0, and new columns y."""
    pushed = total(j, M[i, j] * (new_rows[i] * columns[j] + rows[i] * new_columns[j]))
    return Equation(total(i, new_rows[i] * pushed), total((i, j), new_rows[i] ** 2 * M[i, j] * columns[j]),
                    reason="rows without weight: they answer to p alone, dp_i = x_i Σ_j M_ij B_j; so do columns to u")


@claim("deciphering.s9.smooth", "identity", title="The minimizer changes smoothly", needs=("deciphering.23",),
       latex=r"(p,u,M)\mapsto X^*\text{ is smooth}")
def smooth() -> Steps:
    """The derivative of the marginals is nonsingular up to shifts, so X* is smooth in p, u and M; zeros are no exception."""
    yield AtLeast(flow(i, j), 0, strict=True, reason="X_ij = exp((f_i + g_j − M_ij)/γ) for marginals without zeros")
    yield entering()
    yield form(sp.S.One, gamma)


smooth.twin("γ is lost", lambda: form(sp.S.One, sp.S.One))
smooth.twin("the difference of the directions", lambda: form(-sp.S.One, gamma))


@claim("deciphering.s9.faster", "empirical", title="Entropy stabilizes and speeds up the evaluation",
       latex=r"\text{time for }\mathcal W_\gamma<\text{time for }\mathcal W_0")
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
    N: 2, p.label: [HALF, HALF], u.label: [HALF, HALF], D.label: [[0, 0], [0, 0]], P.label: [[HALF / 2, HALF / 2]] * 2,
    R0.label: [[HALF, 0], [0, HALF]], gamma: 1, rho: 1,
}


def from_below(share: sp.Expr) -> Follows:
    """W_γ ≥ W_0 − share · γ log N², where R is optimal for γ = 0."""
    loose, at = (gamma * total((i, j), kl(P[i, j], 1 / N**2)), {}) if share == 1 else (sp.S.Zero, SAME)
    optimal = AtLeast(expense(P), expense(R0))
    return Follows((optimal,), AtLeast(entropic(P), expense(R0) - share * gamma * 2 * sp.log(N)), (sp.S.One,), slack=loose,
                   given=(optimal,), at=at, reason="H(P) ≤ log N²", quotes=(SQUEEZE,))


@claim("deciphering.s9.wasserstein", "limit", title="γ → 0 gives the Wasserstein distance", needs=("deciphering.23",),
       latex=r"\gamma\to0,\ M=d_{\mathcal A}^\rho\implies\mathcal W_\gamma^{1/\rho}\to W_\rho(p,u)")
def wasserstein() -> Steps:
    """The root of W_γ is said to tend to the Wasserstein distance; for p = u it is the root of a negative number."""
    yield Fails(AtLeast(entropic(P), 0, at={N: 2, p.label: [HALF, HALF], u.label: [HALF, HALF], D.label: [[0, 1], [1, 0]],
                                            P.label: [[HALF, 0], [0, HALF]], gamma: 1, rho: 1}),
                reason="p = u: this plan costs −γH(u), so W_γ < 0 for every γ > 0, unless u is one template")


@wasserstein.corrected(r"p\ne u\implies\lim_{\gamma\to0}\mathcal W_\gamma^{1/\rho}=W_\rho(p,u),\quad"
                       r"0\le W_\rho^\rho-\mathcal W_\gamma\le2\gamma\log N", Severity.HYPOTHESIS,
                       under="p ≠ u, or the limit is taken before the root")
def wasserstein_from_below() -> Steps:
    """W_γ lies between W_0 − 2γ log N and W_0 = W_ρ^ρ, so it tends to it, and where that is positive its root to W_ρ."""
    yield AtLeast(entropy(R0), 0, reason="no plan has negative entropy: its entries are at most 1")
    optimal = AtLeast(entropic(R0), entropic(P))
    yield Follows((optimal, AtLeast(entropy(R0), 0)), AtLeast(expense(R0), entropic(P)), (sp.S.One, gamma),
                  given=(optimal,), reason="P optimal for γ, R for γ = 0: W_γ ≤ W_0")
    yield Limit(sp.exp(sp.log(gap - 2 * far * gamma) / rho), gamma, sp.S.Zero, sp.exp(sp.log(gap) / rho),
                reason="so both bounds have the same root in the limit, if W_0 = δ > 0")
    yield from_below(sp.S.One)


wasserstein.twin("from above", lambda: from_below(sp.S.Zero))
wasserstein.twin("half of it", lambda: from_below(HALF))


# ── the true preference distribution ────────────────────────────────────────────────────────────────────────────────


def leak() -> sp.Expr:
    """Σ_{k ≠ i} exp(−(M_ki − M_ii)/γ)."""
    return total(k, sp.exp((symmetric(i, i) - symmetric(k, i)) / gamma)) - 1


def kept(right: sp.Expr) -> AtLeast:
    """ũ_i is at least u_i less what leaves i."""
    q = kernel(origin, symmetric)
    arriving = total(l, u[l] * q(i, l) * (1 - sp.KroneckerDelta(i, l)))
    return AtLeast(true_preference(symmetric)(i), right, because=arriving + u[i] * (1 - q(i, i)) ** 2 / q(i, i),
                   reason="both have mass 1, so ‖ũ − u‖₁ is at most twice Σ_i u_i times this sum")


def squared_deviation(shares: Entries) -> sp.Expr:
    """‖ũ − u‖² for the kernel q_0."""
    return total(i, (weights(shares)(i) - u[i]) ** 2)


@claim("deciphering.s9.deviates", "inequality", title="ũ deviates slightly from u, and less as γ → 0",
       needs=("deciphering.prop1", "deciphering.sD.preference-limit"), hypotheses=(FOOTNOTE, STRICT, "u and M are fixed"),
       latex=r"\tilde u\ne u,\quad\tilde u\approx u,\quad\tilde u\to u\ (\gamma\to0)")
def deviates() -> Steps:
    """The minimizer of W_γ(·, u; M) is said to deviate from u, to do so slightly, and to tend to u with γ."""
    yield Fails(AtLeast(sp.Rational(1, 100), squared_deviation(kernel(origin, symmetric)),
                        at={N: 2, u.label: [1, 0], S.label: [[0, 0], [1, 0]], gamma: 1000}),
                reason="not slightly, unless γ is small: at γ = 1000 ũ is nearly uniform, whatever u is")
    masses = normalizer(lambda to: sp.S.Zero, symmetric)
    yield Equation(total(j, masses(j) * gibbs(origin)(i, j)), masses(i),
                   reason="nor from every u: where it is proportional to the column sums Z of exp(−M/γ), ũ = u")
    yield Fails(AtLeast(squared_deviation(lambda to, of: Q[of, to]), 0, strict=True, at={**TWO, u.label: [HALF, HALF]}),
                reason="as here, for M(t, t) = 0, M(t', t) = log 3 and γ = 1: u = (½, ½) is its own ũ")


@deviates.corrected(r"u\not\propto Z\implies0<\|\tilde u-u\|_1\le2\sum_tu(t)\sum_{t'\ne t}e^{-(M(t',t)-M(t,t))/\gamma},\quad "
                    r"Z(t)=\sum_{t'}e^{-M(t',t)/\gamma}", Severity.HYPOTHESIS,
                    under="γ is small, and u is not proportional to the column sums Z of exp(−M/γ)",
                    replaces="that ũ ≠ u, whatever u is, and the word “slightly”")
def deviates_unless_proportional() -> Steps:
    """ũ = u only for u ∝ Z (so for N = 1, too); in general they differ by an amount that vanishes with γ."""
    ratio = {of: u[of] / normalizer(lambda to: sp.S.Zero, symmetric)(of) for of in (i, j)}
    spread_of_ratios = total((i, j), sp.exp(-symmetric(i, j) / gamma) * (ratio[i] - ratio[j]) ** 2) / 2
    yield Equation(total(i, ratio[i] * (u[i] - true_preference(symmetric)(i))), spread_of_ratios,
                   reason="> 0 unless u_i/Z_i is the same for all i: then, and only then, ũ = u")
    yield Limit(sp.exp(-gap / gamma), gamma, sp.S.Zero, sp.S.Zero, reason="each term below, for M(t', t) − M(t, t) = δ > 0")
    yield kept(u[i] - u[i] * leak())


deviates.twin("no deviation at all", lambda: kept(u[i]))
deviates.twin("an eighth of it", lambda: kept(u[i] - u[i] * leak() / 8))


# ── the problem and its solution ────────────────────────────────────────────────────────────────────────────────────


def without_evidence(right: sp.Expr) -> AtLeast:
    """The objective of (24) for z = 0."""
    off = total(a, (mean(rival)(a) - true_mean(free)(a)) ** 2)
    return AtLeast(alpha / 2 * off + transport(rival, free), right,
                   because=gamma * divergence(rival, kernel(origin, free)) + alpha / 2 * off,
                   reason="for z = 0 both terms are least at p = ũ")


@claim("deciphering.24", "definition", title="The problem with entropic transport",
       needs=("deciphering.23", "deciphering.prop1"),
       latex=r"\min_p\tfrac\alpha2\left\|(\tilde\mu+z)-\int ap(a)da\right\|^2+\mathcal W_\gamma(p,u;M)")
def problem() -> Steps:
    """(4) with W_γ for the divergence and μ̃ for μ: without evidence its solution is ũ, as that of (4) is u."""
    yield least_transport(free)
    yield without_evidence(-conjugate(origin, free))


problem.twin("half of W_γ", lambda: without_evidence(-conjugate(origin, free) / 2))
problem.twin("the least cost over all couplings and no entropy", lambda: without_evidence(
    -gamma * total(j, u[j] * sp.log(total(k, sp.exp(-free(k, j) / gamma))))))


@claim("deciphering.s9.rewritten", "equivalence", title="(4) with W_γ for the divergence is (24)",
       needs=("deciphering.24", "deciphering.4"),
       latex=r"M(t,t')=-\gamma\log u(t)-\gamma\log u(t')\implies\mathcal W_\gamma(p,u;M)=\gamma\mathcal K(p,u),\ \tilde\mu=\mu")
def rewritten() -> Steps:
    """(4) is rewritten with W_γ in place of K, as said before, and is among such problems: for one cost W_γ is γK and ũ is u.

    Footnote 11 excludes that cost, and for other costs (24) has other solutions than (4).
    """
    yield Fails(Equation(true_preference(symmetric)(i), u[i],
                         at={N: 2, u.label: [1, 0], S.label: [[0, 0], [1, 0]], gamma: 1, i: 1}),
                reason="another problem: for z = 0 (4) has the solution u, and (24) ũ, with weight on what u leaves out")
    yield Fails(AtLeast(self_cost(k), self_cost(j), strict=True,
                        at={N: 2, v.label: [sp.Rational(1, 3), sp.Rational(2, 3)], gamma: 1, j: 1, k: 2}),
                reason="of the costs of footnote 11 none gives (4) back: this one would need u(t') < u(t), for all t and t'")
    leaving = total(l, sp.exp(-(self_cost(l)) / gamma))
    yield Equation(sp.exp(-self_cost(i) / gamma) / leaving, v[i], reason="q_0(i|j) = u_i for every j, so ũ = u and μ̃ = μ")
    yield Equation(priced(lambda first, second: p0[first] * v[second]), gamma * total(i, kl(p0[i], v[i])),
                   reason="attained at p uᵀ")
    yield worth(gamma)


def self_cost(destination: sp.Expr) -> sp.Expr:
    """M(t', t) = −γ log u(t') − γ log u(t) for t = t_j, with v for u."""
    return -gamma * (sp.log(v[destination]) + sp.log(v[j]))


def priced(plan: Entries) -> sp.Expr:
    """⟨M, X⟩ − γ H(X) for this cost."""
    return total((i, j), self_cost(i) * plan(i, j)) + gamma * total((i, j), xlogx(plan(i, j)))


def worth(factor: sp.Expr) -> AtLeast:
    """⟨M, X⟩ − γ H(X) ≥ factor · KL(p ‖ u) for every coupling."""
    return AtLeast(priced(lambda first, second: P0[first, second]), factor * total(i, kl(p0[i], v[i])),
                   because=gamma * total((i, j), kl(P0[i, j], p0[i] * v[j])), reason="γ KL(X ‖ p uᵀ) ≥ 0")


rewritten.twin("twice the divergence", lambda: worth(2 * gamma))
rewritten.twin("γ² times the divergence and one more", lambda: AtLeast(worth(gamma).left, worth(gamma).right + gamma))


def closed_form(potentials: Entry, cost: Entries = free) -> Entry:
    """(25) for the scores it is given."""
    return weights(conditional(potentials, cost))


@claim("deciphering.25", "asymptotic", title="The weights of OT-based attention", needs=("deciphering.24", "deciphering.38"),
       latex=r"p^*(t)=\sum_{i=1}^nu_i\frac{e^{(\alpha t^\top z-M(t,t_i))/\gamma}}{Z_i},\ "
             r"Z_i=\sum_{t'}e^{(\alpha(t')^\top z-M(t',t_i))/\gamma}", hypotheses=(SMALL,))
def closed_form_is_the_solution() -> Steps:
    """For small α and α/γ the solution of (24) is printed as equal to a closed form, which holds for every M."""
    yield dual_slope(free)
    yield linear_dual()
    yield as_printed()


@closed_form_is_the_solution.corrected(
    r"p^*(t)=(25)-\tfrac{\alpha^2}{\gamma^2}\sum_iu_iq_i(t)\langle t-\mu_i,\bar\Sigma z\rangle+\mathcal O(\alpha^3),\ "
    r"q_i(t)\propto e^{-M(t,t_i)/\gamma}", Severity.SLIP, replaces="the equality sign, by an error of order (α/γ)²")
def closed_form_to_first_order() -> Steps:
    """The solution and the closed form agree to first order; only α/γ has to be small, and the next term is of order (α/γ)²."""
    shifted = alpha / gamma / 2 * total(a, (z[a] - mean(rival)(a)) ** 2)
    scaled = total((i, j), M[i, j] / gamma * u[j] * rival(i, j)) + total((i, j), xlogx(u[j] * rival(i, j)))
    yield Equation(primal(rival, lambda e: z[e], free), gamma * (shifted + scaled),
                   reason="the problem depends on α, γ and M through α/γ and M/γ alone")
    yield linear_dual()
    yield to_second_order(closed_form(first_scores)(i) + alpha**2 * second_term(free)(i), free)


closed_form_is_the_solution.twin("twice the second-order term", lambda: from_kernel(sp.Integer(2)))
closed_form_is_the_solution.twin("normalized over the second argument", lambda: to_second_order(total(
    l, u[l] * sp.exp((first_scores(i) - M[i, l]) / gamma) / total(k, sp.exp((first_scores(k) - M[l, k]) / gamma)))
    + alpha**2 * second_term(free)(i), free))


@claim("deciphering.s9.ot-attention", "definition", title="OT-based attention", needs=("deciphering.25",),
       latex=r"\hat h=\int ap^*(a)da\text{ with (25)}")
def ot_attention() -> Steps:
    """(25) put into (5): an average, weighed by u, of attentions over all of 𝒜 with the bias −M(·, t_l)/γ, one for each t_l."""
    yield Equation(total(i, closed_form(scores(first_order))(i)), 1, about=(z[a], T[i, a]),
                   reason="the weights (25) have mass 1")
    yield attended(alpha, gamma)


def attended(strength: sp.Expr, scale: sp.Expr) -> Equation:
    """Σ_i p*_i t_i against Σ_l u_l Σ_i t_i softmax_i((s⟨t_i, z⟩ − M_il)/scale)."""
    def raw(to: sp.Expr, of: sp.Expr) -> sp.Expr:
        return sp.exp((strength * total(b, T[to, b] * z[b]) - M[to, of]) / scale)

    one = total(i, raw(i, l) * T[i, a]) / total(k, raw(k, l))
    return Equation(total(i, closed_form(scores(first_order))(i) * T[i, a]), total(l, u[l] * one),
                    reason="the sums change places")


ot_attention.twin("the evidence's sign", lambda: attended(-alpha, gamma))
ot_attention.twin("γ is lost", lambda: attended(alpha, sp.S.One))


@claim("deciphering.s9.ot-first-order", "asymptotic", title="Addition: OT-based attention moves the mean by (α/γ)Σ̄z",
       needs=("deciphering.s9.ot-attention",), latex=r"\hat h=\tilde\mu+\tfrac\alpha\gamma\bar\Sigma z+o(\alpha)")
def first_order_of_ot() -> Steps:
    """An addition: the mean is μ̃ without evidence, and moves by the average covariance of the kernel's columns."""
    yield moved_mean(total(b, spread(a, b) * z[b]))


def moved_mean(shift: sp.Expr) -> Expansion:
    """ĥ to first order in α; Q is the kernel of M at γ."""
    start = total(j, u[j] * base_mean(j, a))
    return Expansion(mean(tilted(first_order))(a), start + alpha / gamma * shift, alpha, 1, reason="(25) put into (5)")


first_order_of_ot.twin("the evidence itself", lambda: moved_mean(z[a]))
first_order_of_ot.twin("γ is lost", lambda: moved_mean(gamma * total(b, spread(a, b) * z[b])))
