"""Section 3: standard attention, Sinkhorn attention and Sinkformers beside each other.

Claims     transport.s3.standard             u = 1/(K1), v = 1: diag(u) K = softmax(S), which is half an iteration
           transport.s3.sinkhorn-attention   J(P) − D(f, g) = ε Σ_ij kl(P_ij ‖ u_i K_ij v_j) ≥ 0
           transport.s3.sinkformers          KL(P* ‖ W_{t+1}) ≤ KL(P* ‖ W_t) = (J(P*) − D_t)/ε
Notation   K = exp(S) with S the scores; u, v scalings; one iteration sets u = a/(K v), then v = b/(Kᵀ u), from v = 1;
           P, C, f, g, E, D, J as in `section1_transport`, and W_t = E(f_t, g_t)
References the table of section 3 of the document; Sander, Ablin, Blondel and Peyré (2022) for Sinkformers
"""

import sympy as sp

from derivations.documents.eot import section3_primer as primer
from derivations.documents.transport.notation import TOGETHER, S, eps, h, i, j, l, m, n, softmax
from derivations.documents.transport.section1_transport import (
    C,
    P,
    b,
    certificate,
    distance,
    dual,
    f,
    g,
    gap,
    objective,
    rescaled,
    row_error,
    scaled_kernel,
)
from derivations.vocabulary import *

weights = softmax(S, sp.S.One)


# ── one step ────────────────────────────────────────────────────────────────────────────────────────────────────────


def rows_scaled(query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """u_i K_ij with u = 1/(K 1): unit rows, from v = 1."""
    return sp.exp(S[query, key]) / total(l, sp.exp(S[query, l]))


def half_step(query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """The same as a product of matrices, Σ_h diag(1/(K 1))_ih K_hj."""
    return total(h, delta(query, h) / total(l, sp.exp(S[h, l])) * sp.exp(S[h, key]))


def columns_scaled(plan: Entries, share: sp.Expr) -> Entries:
    """(i, j) ↦ the plan with its columns rescaled to the share."""
    return lambda query, key: share * plan(query, key) / total(h, plan(h, key))


one_iteration = columns_scaled(rows_scaled, n / m)


def is_step(plan: Entries) -> Equation:
    """The weights of standard attention against a step."""
    return Equation(weights(i, j), plan(i, j), reason="u_i K_ij with a_i = 1 and v = 1")


@claim(
    "transport.s3.standard",
    "equivalence",
    title="Standard attention is one step of Sinkhorn's iteration",
    latex=r"\mathrm{softmax}(QK^\top/\sqrt d)=\mathrm{diag}(u)\,K\,\mathrm{diag}(v)\ \text{after one step}",
    needs=("transport.s1.sinkhorn", "transport.thm1"),
)
def one_step() -> Steps:
    """Standard attention is the iteration, broken off after a single step.

    Sander et al. count one normalization as a step; so read, it is the first, and that is what the correction says.
    """
    yield Equation(total(i, one_iteration(i, j)), n / m, reason="one iteration ends with the columns", about=(S[i, j],))
    yield Fails(
        Equation(weights(i, j), one_iteration(i, j), at={n: 1, m: 2, S.label: [[0, 1]], i: 1, j: 1}),
        reason="so after one whole iteration, rows and columns, it is the keys that get equal shares",
    )


@one_step.corrected(
    r"u=\mathbf 1/(K\mathbf 1),\ v=\mathbf 1:\quad\mathrm{diag}(u)\,K=\mathrm{softmax}(QK^\top/\sqrt d)",
    Severity.HYPOTHESIS,
    under="the step is the half of an iteration that rescales the rows, from v = 1, with a = 1",
)
def one_half_step() -> Steps:
    """It is the first half-step: rows are rescaled to one, from v = 1, and the columns are left alone."""
    yield is_step(half_step)


one_step.twin("the other half-step", lambda: is_step(columns_scaled(lambda x, y: sp.exp(S[x, y]), n / m)))
one_step.twin("each query has the mass 1/n", lambda: is_step(lambda x, y: rows_scaled(x, y) / n))
one_step.twin(
    "columns first, then rows",
    lambda: is_step(
        lambda x, y: sp.exp(S[x, y]) / total(h, sp.exp(S[h, y])) / total(l, sp.exp(S[x, l]) / total(h, sp.exp(S[h, l])))
    ),
)


# ── all steps ───────────────────────────────────────────────────────────────────────────────────────────────────────


@claim(
    "transport.s3.sinkhorn-attention",
    "optimality",
    title="Sinkhorn attention, iterated to the end, is optimal",
    latex=r"\langle P,C\rangle-\varepsilon H(P)-D(f,g)=\varepsilon\sum_{ij}\mathrm{kl}(P_{ij}\,\|\,u_iK_{ij}v_j)\ge0",
    needs=("transport.s1.sinkhorn",),
)
def sinkhorn_attention() -> Steps:
    """All of Sinkhorn's iteration leads to the optimum of the problem with both marginals, and certifies it."""
    yield primer.zero_rows()
    yield AtLeast(
        objective(),
        dual(),
        because=certificate().right,
        reason="any two scalings bound every coupling's value; if they meet both marginals, E itself attains it",
    )
    yield Equation(
        derivative(dual(), g[j]),
        b[j] - total(h, scaled_kernel(h, j)),
        reason="D is concave, and stationary only where both are met: each half-step maximizes it in f or in g",
        quotes=(CONVEX_CRITICAL_POINT, SINKHORN),
    )
    yield certificate()


sinkhorn_attention.twin("ε is lost", lambda: gap(distance(scaled_kernel)))
sinkhorn_attention.twin(
    "the potentials' sign", lambda: gap(eps * total(TOGETHER, kl(P[i, j], sp.exp((-f[i] - g[j] - C[i, j]) / eps))))
)
sinkhorn_attention.twin("the kernel exp(+C/ε)", lambda: gap(eps * distance(lambda x, y: scaled_kernel(x, y, sign=1))))


def closer(bound: sp.Expr) -> AtLeast:
    """A half-step is closer to the solution than what was left before it."""
    return AtLeast(
        (objective() - dual()) / eps,
        bound,
        because=row_error(),
        reason="by KL(a ‖ E 1); it is the problem with both marginals: that of the rows alone, attention has solved",
    )


@claim(
    "transport.s3.sinkformers",
    "inequality",
    title="More normalizations are closer to the optimum",
    latex=r"\mathrm{KL}(P^\star\|W^{(t+1)})\le\mathrm{KL}(P^\star\|W^{(t)})=(J(P^\star)-D^{(t)})/\varepsilon",
    needs=("transport.s1.sinkhorn",),
)
def sinkformers() -> Steps:
    """With every further normalization the weights are closer to the theoretical optimum, that of the balanced problem.

    Closer means: in KL(P* ‖ W_t), which is the duality gap J(P*) − D_t over ε.  The objective at W_t itself says nothing: W_t
    misses a marginal, and may lie below the optimum.
    """
    yield Equation((objective() - dual()) / eps, distance(scaled_kernel), reason="the gap is the divergence, at P* as anywhere")
    yield AtLeast(distance(scaled_kernel), distance(rescaled), because=row_error(), reason="every half-step comes closer")
    yield closer(distance(rescaled))


sinkformers.twin("closer by as much again", lambda: closer(distance(rescaled) + 2 * row_error()))
sinkformers.twin("half as far", lambda: closer(2 * distance(rescaled)))
sinkformers.twin("the kernel exp(+C/ε)", lambda: closer(distance(lambda x, y: rescaled(x, y, sign=1))))
