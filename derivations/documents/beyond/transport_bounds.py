"""Attention by optimal transport: the bounds of the mean problem with q = (α/γ)D²/4, for every matrix of costs.

Claims     beyond.ot-query-bound       ‖αz − λ*‖ ≤ α‖z‖ q/(1 + q)
           beyond.ot-output-bound      ‖h_c − ĥ‖ ≤ D²/(4γ) α‖z‖ q/(1 + q)
           beyond.ot-objective-bound   P(X_c) − P(X*) ≤ α/2 ‖z‖² q³/(1 + q)
           beyond.ot-cold              ‖ũ − u‖₁/2 ≤ (N − 1) e^{−Δ/γ}/(1 + (N − 1) e^{−Δ/γ}) < (N − 1) e^{−Δ/γ}
           beyond.ot-divergence        ⟨M, X⟩ − γH(X) = γKL(p, v) + ⟨u, b⟩ − γH(u) + γKL(X, puᵀ)
Notation   as in `transport_cocoercive`, where what these bounds rest on is proved: D ≥ ‖t_i − t_k‖; g = ĥ − μ̃ and
           z = λ*/α + g; c for (25), whose query is αz; e = h_c − ĥ; K = γ Σ_j u_j KL(x_c(·|j), x*(·|j)); Δ > 0 and B ≥ 0
           such that M_ij = M_jj + Δ + B_ij for i ≠ j, so that e^{−M_ij/γ} is e^{−M_jj/γ} times 1 for i = j and
           e^{−(Δ + B_ij)/γ} otherwise
References `deciphering.s9.one-pass-bound` for what one pass measures; `deciphering.s9.rewritten` for v = u

q = αD²/(4γ) in all of them, so that none depends on the costs.  With γ = 1 and a cost of the destination alone they are the
bounds of `output_bounds`, by `beyond.ot-divergence`.
"""

from functools import cache

import sympy as sp

from derivations.documents.beyond.smoothness import WITHIN
from derivations.documents.beyond.transport_cocoercive import DIAMETER, FROM_PRIOR, NEAR, PASS, D, gained, lost, spent
from derivations.documents.deciphering.notation import a, alpha, lam
from derivations.documents.deciphering.notation_transport import N, Q, entropy_of_preference, gamma, i, j, k, l, u
from derivations.vocabulary import *

g, e = gained, PASS.apart
BEND = alpha * D**2  # 4γq
WHOLE = BEND + 4 * gamma  # 4γ(1 + q)
CLOSE: dict[Variable, Value] = {**NEAR, alpha: 1}
FROM_ZERO, BETWEEN = FROM_PRIOR.cocoercive(sp.Rational(1, 4)), PASS.cocoercive(sp.Rational(1, 4))
"""D²/4 ⟨λ*, g⟩ ≥ γ‖g‖² and D²/4 α⟨g, e⟩ ≥ γ‖e‖²."""


# ── query, output and value ─────────────────────────────────────────────────────────────────────────────────────────


def evidence(entry: sp.Expr) -> sp.Expr:
    """z_a = λ*_a/α + g_a."""
    return lam[entry] / alpha + g(entry)


@cache
def length() -> sp.Expr:
    """‖z‖²."""
    return total(a, evidence(a) ** 2)


def squared(of: Entry) -> sp.Expr:
    """‖·‖²."""
    return total(a, of(a) ** 2)


def residue_of_evidence() -> sp.Expr:
    """16γ²‖qz − (1 + q)g‖²."""
    return total(a, (BEND * evidence(a) - WHOLE * g(a)) ** 2)


def residue() -> sp.Expr:
    """16γ²‖qg − e‖²."""
    return total(a, (BEND * g(a) - 4 * gamma * e(a)) ** 2)


def of_query(factor: sp.Expr) -> Follows:
    """factor · (αD²)²‖z‖² ≥ (αD² + 4γ)²‖g‖²."""
    return Follows(
        (FROM_ZERO,),
        AtLeast(factor * BEND**2 * length(), WHOLE**2 * squared(g)),
        (8 * WHOLE,),
        residue_of_evidence(),
        given=(DIAMETER,),
        at=CLOSE,
        reason="q⟨z, g⟩ ≥ (1 + q)‖g‖², as λ* = α(z − g)",
    )


@claim(
    "beyond.ot-query-bound",
    "inequality",
    title="OT-based attention: how far αz is from the exact query",
    needs=("beyond.ot-cocoercive-prior", "deciphering.39"),
    hypotheses=(WITHIN,),
    latex=r"\|\alpha z-\lambda^*\|\le\alpha\|z\|\,\frac q{1+q},\quad q=\tfrac\alpha\gamma\tfrac{D^2}4",
)
def ot_query_bound() -> Steps:
    """The query of (25) is off by the share q/(1 + q) of its own length at most, for every cost."""
    yield of_query(sp.S.One)


ot_query_bound.twin("half of it", lambda: of_query(sp.Rational(1, 4)))
ot_query_bound.twin("γ twice", lambda: of_query((BEND + 4 * gamma) ** 2 / (BEND + 8 * gamma) ** 2))


def of_output(factor: sp.Expr) -> Follows:
    """factor · (αD²)⁴‖z‖² ≥ (4γ)²(αD² + 4γ)²‖e‖²."""
    return Follows(
        (BETWEEN, FROM_ZERO),
        AtLeast(factor * BEND**4 * length(), 16 * gamma**2 * WHOLE**2 * squared(e)),
        (32 * gamma * WHOLE**2, 8 * BEND**2 * WHOLE),
        WHOLE**2 * residue() + BEND**2 * residue_of_evidence(),
        given=(DIAMETER,),
        at=CLOSE,
        reason="‖e‖ ≤ q‖g‖, and ‖g‖ ≤ ‖z‖ q/(1 + q)",
    )


@claim(
    "beyond.ot-output-bound",
    "inequality",
    title="OT-based attention: how far its output is from the exact one",
    needs=("beyond.ot-cocoercive-prior", "beyond.ot-cocoercive-pass"),
    hypotheses=(WITHIN,),
    latex=r"\|h_c-\hat h\|\le\frac{D^2}{4\gamma}\,\alpha\|z\|\,\frac q{1+q},\quad q=\tfrac\alpha\gamma\tfrac{D^2}4",
)
def ot_output_bound() -> Steps:
    """The output of (25) is off by the second order in q at most, whatever it costs to carry mass, and without solving (24)."""
    yield of_output(sp.S.One)


ot_output_bound.twin("half of it", lambda: of_output(sp.Rational(1, 4)))
ot_output_bound.twin("nine tenths of it", lambda: of_output(sp.Rational(81, 100)))


def of_objective(factor: sp.Expr) -> Follows:
    """factor · α(αD²)³‖z‖² ≥ 32γ²(αD² + 4γ)(K + α/2 ‖e‖²), K = γ Σ_j u_j KL(x_c(·|j), x*(·|j))."""
    premises, scale = (spent(sp.Rational(1, 8)), BETWEEN, FROM_ZERO), 32 * gamma**2 * WHOLE
    return Follows(
        premises,
        AtLeast(factor * alpha * BEND**3 * length(), scale * (lost() + alpha / 2 * squared(e))),
        (32 * gamma * WHOLE, 32 * alpha * gamma * WHOLE, 8 * alpha * BEND * WHOLE),
        alpha * WHOLE * residue() + alpha * BEND * residue_of_evidence(),
        given=(DIAMETER,),
        at=CLOSE,
        reason="P(X_c) − P(X*) = K + α/2 ‖e‖²; K ≤ αq/2 ‖g‖²",
    )


@claim(
    "beyond.ot-objective-bound",
    "inequality",
    title="OT-based attention: how much worse it is than the solution",
    needs=(
        "beyond.ot-cocoercive-prior",
        "beyond.ot-cocoercive-pass",
        "beyond.ot-pass-divergence",
        "deciphering.s9.one-pass-bound",
    ),
    hypotheses=(WITHIN,),
    latex=r"P(X_c)-P(X^*)\le\frac{D^2}{8\gamma}\,\alpha^2\|z\|^2\,\frac{q^2}{1+q},\quad q=\tfrac\alpha\gamma\tfrac{D^2}4",
)
def ot_objective_bound() -> Steps:
    """The coupling of (25) costs at most so much more than the best one, for every matrix of costs."""
    yield of_objective(sp.S.One)


ot_objective_bound.twin("half of it", lambda: of_objective(sp.S.Half))
ot_objective_bound.twin("a fifth less", lambda: of_objective(sp.Rational(4, 5)))


# ── what the prior becomes without evidence ─────────────────────────────────────────────────────────────────────────

Delta, B = positive("Δ"), vector("B", N, N, kind=Nonnegative)


def share(to: sp.Expr, of: sp.Expr) -> sp.Expr:
    """e^{(M_jj − M_ij)/γ}."""
    return delta(to, of) + (1 - delta(to, of)) * sp.exp(-(Delta + B[to, of]) / gamma)


def others(of: sp.Expr) -> sp.Expr:
    """Σ_{i ≠ j} e^{(M_jj − M_ij)/γ}."""
    return total(i, (1 - delta(i, of)) * sp.exp(-(Delta + B[i, of]) / gamma))


def arriving(template: sp.Expr) -> sp.Expr:
    """Σ_{j ≠ i} u_j q_0(i|j)."""
    return total(l, (1 - delta(l, template)) * u[l] * Q[l, template])


def departing(template: sp.Expr) -> sp.Expr:
    """u_i (1 − q_0(i|i)), as what the others get of it."""
    return u[template] * total(k, (1 - delta(k, template)) * Q[template, k])


MOST = (N - 1) * sp.exp(-Delta / gamma)


def stays(bound: sp.Expr, at: dict[Variable, Value] | None = None) -> AtLeast:
    """bound ≥ 1 − q_0(j|j)."""
    saved = total(i, (1 - delta(i, j)) * sp.exp(-Delta / gamma) * (1 - sp.exp(-B[i, j] / gamma)))
    slack = saved / ((1 + others(j)) * (1 + MOST))
    return AtLeast(
        bound,
        others(j) / (1 + others(j)),
        because=slack if bound == MOST / (1 + MOST) else None,
        at=at or {},
        reason="x/(1 + x) grows with x, and x is Σ_{i ≠ j} e^{−(Δ + B_ij)/γ} ≤ (N − 1) e^{−Δ/γ}",
    )


@claim(
    "beyond.ot-cold",
    "inequality",
    title="How far the true preference is from the preference",
    needs=("deciphering.prop1", "beyond.cold-mass"),
    hypotheses=("M_ij ≥ M_jj + Δ for i ≠ j",),
    latex=r"\tfrac12\|\tilde u-u\|_1\le\max_j(1-q_0(j|j))\le\frac{(N-1)e^{-\Delta/\gamma}}{1+(N-1)e^{-\Delta/\gamma}}",
)
def ot_cold() -> Steps:
    """ũ differs from u by at most the mass that leaves its template, less than (N − 1)e^{−Δ/γ}; attained by u = e_j, B = 0."""
    difference = total(l, u[l] * Q[l, i]) - u[i]
    yield Equation(difference, arriving(i) - departing(i), reason="ũ_i − u_i, for any kernel q_0,")
    yield AtLeast(arriving(i) + departing(i), sp.Abs(arriving(i) - departing(i)), reason="as nothing arrives that is negative;")
    yield Equation(
        total(i, arriving(i) + departing(i)), 2 * total(j, u[j] * (1 - Q[j, j])), reason="so ‖ũ − u‖₁/2 ≤ Σ u_j (1 − q_0(j|j));"
    )
    yield Equation(total(i, share(i, j)), 1 + others(j), reason="the normalizer of column j, where 1 is what stays;")
    yield Equation(total(i, (1 - delta(i, j)) * sp.exp(-Delta / gamma)), MOST, reason="attained, for B = 0;")
    yield AtLeast(MOST, MOST / (1 + MOST), because=MOST**2 / (1 + MOST), reason="less than the numerator alone;")
    yield stays(MOST / (1 + MOST))


ot_cold.twin(
    "a single other template",
    lambda: stays(sp.exp(-Delta / gamma) / (1 + sp.exp(-Delta / gamma)), {N: 3, B.label: [[0, 0, 0]] * 3, Delta: 1, gamma: 1}),
)
ot_cold.twin(
    "the gap twice",
    lambda: stays(
        (N - 1) * sp.exp(-2 * Delta / gamma) / (1 + (N - 1) * sp.exp(-2 * Delta / gamma)),
        {N: 2, B.label: [[0, 0], [0, 0]], Delta: 1, gamma: 1},
    ),
)


# ── the divergence as a transport cost ──────────────────────────────────────────────────────────────────────────────

v, b, p = interior("v", N), vector("b", N), simplex("p", N)
P = coupling("P", p, u)


def priced() -> sp.Expr:
    """⟨M, X⟩ − γ H(X) for M_ij = −γ log v_i + b_j."""
    expense = total((i, j), (b[j] - gamma * sp.log(v[i])) * P[i, j])
    return expense + gamma * total((i, j), xlogx(P[i, j]))


def worth(factor: sp.Expr) -> Equation:
    """The same against γKL(p, v) and what does not depend on p."""
    apart_ = gamma * total((i, j), xlogx(P[i, j])) - gamma * total(i, xlogx(p[i])) - gamma * total(j, xlogx(u[j]))
    fixed = total(j, u[j] * b[j]) - gamma * entropy_of_preference()
    return Equation(
        priced(),
        factor * gamma * total(i, relative(p[i], v[i])) + fixed + apart_,
        reason="γ KL(X, puᵀ) is the last part, and 0 at X = puᵀ alone",
    )


@claim(
    "beyond.ot-divergence",
    "identity",
    title="The divergence is the transport penalty of costs of the destination alone",
    needs=("deciphering.s9.rewritten",),
    hypotheses=("M_ij = −γ log v_i + b_j, every v_i > 0",),
    latex=r"\langle M,X\rangle-\gamma H(X)=\gamma\,\mathcal K(p,v)+\langle u,b\rangle-\gamma H(u)"
    r"+\gamma\,\mathcal K(X,pu^\top)",
)
def ot_divergence() -> Steps:
    """Where the cost does not depend on the source, W_γ is γ times the divergence from e^{−M/γ}, normalized, for every u."""
    yield worth(sp.S.One)


ot_divergence.twin("half of the divergence", lambda: worth(sp.S.Half))
ot_divergence.twin("γ is lost", lambda: worth(1 / gamma))
