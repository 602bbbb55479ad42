"""Section 8: what the conclusion sums up.

Claims     eot.s8.unique-solution   softmax(s/τ) = argmin J over the simplex, and no other point
           eot.s8.maximum-entropy   E_q[s] ≥ E_p[s]  ⟹  H(q) ≤ H(p)
           eot.s8.policy-gradient   −∂L/∂s_j = E_{i∼p}[A_i ∂log p_i/∂s_j]
           eot.s8.reinforces        descent in s: ṡ_j = p_j A_j/τ, ṗ_j = p_j(p_j A_j − Σ_k p_k² A_k)/τ²  (corrected)
           eot.s8.curvature         R_jk = ¼(F_jj F_kk − F_jk²), −∇_s L = τFu: F is the metric  (corrected)
           eot.s8.landscape         F(τu) = −∇_s L: it is descent in the metric F that steps along τu  (corrected)
Notation   p = softmax(s/τ), π any point of the open simplex; A_j = u_j − E_p[u]; F the Fisher matrix in the scores;
           q any point of the closed simplex
References section 8 of the document; Amari (1998) for steepest descent in the Fisher metric
"""

import sympy as sp

from derivations.documents.eot import policy, section0_abstract
from derivations.documents.eot.notation import cost, expect, j, k, l, m, objective, s, similarity, softmax, tau, u
from derivations.documents.eot.section7_manifold import manifold_curvature
from derivations.vocabulary import *

p = softmax(s, tau)
pi = policy.pi
q = simplex("q", m)
i = index("i", m)
w = vector("w", m, kind=Positive)
HALF = sp.S.Half


def solves(candidate: Entry) -> UniqueMinimum:
    """The candidate is the only minimizer of expected cost less τ times entropy."""
    return UniqueMinimum(lambda of: objective(of, cost, tau), candidate, m, tau, reason="J(q) − J(α) = τ Σ kl(q ‖ α)")


@claim(
    "eot.s8.unique-solution",
    "optimality",
    title="The unique analytical solution",
    needs=("eot.thm3.3",),
    latex=r"\alpha=\arg\min_{p\in\Delta^{m-1}}J(p)",
)
def unique_solution() -> Steps:
    """The attention weights are the only solution of the one-sided problem, and they are given by a formula."""
    yield solves(softmax(similarity, tau))


unique_solution.twin("the sign of the scores", lambda: solves(softmax(cost, tau)))
unique_solution.twin("the uniform vector", lambda: solves(lambda key: 1 / m))


def entropy(of: Entry) -> sp.Expr:
    """−Σ_l p_l log p_l."""
    return -total(l, xlogx(of(l)))


def more_entropy(bound: sp.Expr, at: dict[Variable, Value] | None = None) -> Follows:
    """If q has at least the mean score of the weights, then H(p) ≥ bound."""
    as_similar = AtLeast(expect(q, s), expect(p, s))
    return Follows(
        (as_similar,),
        AtLeast(entropy(p), bound),
        (1 / tau,),
        total(j, kl(q[j], p(j))),
        at=at or {},
        given=(as_similar,),
        reason="H(p) − H(q) = (E_q[s] − E_p[s])/τ + Σ kl(q ‖ p): equality only at q = p",
    )


@claim(
    "eot.s8.maximum-entropy",
    "optimality",
    title="Softmax as constrained maximum entropy",
    needs=("eot.s2.gibbs",),
    latex=r"\mathbb E_q[s]\ge\mathbb E_p[s]\implies H(q)\le H(p)",
)
def constrained_entropy() -> Steps:
    """Of all distributions whose mean score is at least that of the softmax, the softmax alone has the most entropy."""
    yield more_entropy(entropy(q))


constrained_entropy.twin(
    "as much as the uniform distribution", lambda: more_entropy(sp.log(m), {m: 2, s.label: [0, 1], tau: 1, q.label: [0, 1]})
)
constrained_entropy.twin("τ more", lambda: more_entropy(entropy(q) + tau))


def descent() -> sp.Expr:
    """−∂L/∂s_j."""
    return total(k, u[k] * derivative(p(k), s[j]))


@claim(
    "eot.s8.policy-gradient",
    "identity",
    title="Backpropagation as an advantage-based policy gradient",
    latex=r"-\partial\mathcal L/\partial s_j=\mathbb E_{i\sim p}[A_i\,\partial\log p_i/\partial s_j]",
    needs=("eot.thm5.2",),
)
def policy_gradient() -> Steps:
    """The negative gradient is the mean over the weights of advantage times score function."""
    yield Equation(descent(), advantage_gradient(p), reason="p ∂log p = ∂p; Σ ∂p = 0")


def advantage_gradient(weights: Entry, sign: int = 1) -> sp.Expr:
    """Σ_i w_i (u_i − E_p[u]) ∂log p_i/∂s_j."""
    return sign * total(i, weights(i) * (u[i] - expect(p, u)) * derivative(sp.log(p(i)), s[j]))


policy_gradient.twin("the sign", lambda: Equation(descent(), advantage_gradient(p, -1)))
policy_gradient.twin("a uniform policy", lambda: Equation(descent(), advantage_gradient(lambda key: 1 / m)))


@claim(
    "eot.s8.variance-reduced",
    "inequality",
    title="A rational, variance-reduced update rule",
    latex=r"\mathrm{Var}[(u_i-\mathbb E_p[u])\,g_{ij}]\le\mathrm{Var}[u_i\,g_{ij}]",
    needs=("eot.s5.variance-reduced",),
)
def variance_reduced() -> Steps:
    """The learning dynamics are said to be governed by a variance-reduced update rule."""
    yield Fails(
        AtLeast(
            policy.variance_at(sp.S.Zero),
            policy.variance_at(policy.expected_utility()),
            at={m: 2, pi.label: [sp.Rational(1, 4), sp.Rational(3, 4)], u.label: [0, 1], tau: 1, j: 1},
        ),
        reason="with sampled keys the expected-utility baseline can enlarge the variance",
    )


@variance_reduced.corrected(
    r"-\sum_k(u_k-b)\,\partial p_k/\partial s_j=-\sum_ku_k\,\partial p_k/\partial s_j",
    Severity.FATAL,
    replaces="the comparison of variances",
)
def no_variance() -> Steps:
    """The update is deterministic: subtracting any baseline from the utilities changes nothing in it."""
    yield Equation(
        total(k, (u[k] - policy.baseline) * derivative(p(k), s[j])),
        descent(),
        reason="Σ_k ∂p_k/∂s_j = 0",
        about=(policy.baseline,),
    )


def with_baseline(right: sp.Expr) -> Equation:
    """The gradient with a baseline against an expression."""
    return Equation(total(k, (u[k] - policy.baseline) * derivative(p(k), s[j])), right)


variance_reduced.twin("the baseline survives", lambda: with_baseline(descent() - policy.baseline * p(j) / tau))
variance_reduced.twin("the baseline is added", lambda: with_baseline(descent() + policy.baseline))


# ── what descent does to the weights ────────────────────────────────────────────────────────────────────────────────


def advantage(key: sp.Expr) -> sp.Expr:
    """A_j = u_j − E_π[u]."""
    return u[key] - total(l, pi[l] * u[l])


def response(direction: Entry) -> sp.Expr:
    """The change of weight j when the scores move: Σ_k ∂p_j/∂s_k · direction_k, by (59)."""
    return total(k, pi[j] * (delta(j, k) - pi[k]) * direction(k)) / tau


def score_update(key: sp.Expr) -> sp.Expr:
    """The direction of descent, π_k A_k/τ."""
    return pi[key] * advantage(key) / tau


OVERTAKEN: dict[Variable, Value] = {
    m: 3,
    pi.label: [sp.Rational(1, 20), sp.Rational(3, 4), sp.Rational(1, 5)],
    u.label: [1, 1, 0],
    tau: 1,
    j: 1,
}


@claim(
    "eot.s8.reinforces",
    "inequality",
    title="Attending to better keys is reinforced",
    needs=("eot.rem5.3", "eot.59"),
    latex=r"A_j\ge0\implies\text{gradient descent does not lower } p_j",
)
def reinforces() -> Steps:
    """Descent is said to reinforce attending to keys that do better than the average of the policy."""
    yield Fails(
        Follows((AtLeast(advantage(j), 0),), AtLeast(response(score_update), 0), (sp.S.One,), at=OVERTAKEN),
        reason="key 1 has advantage 1/5, but key 2's score rises faster and takes weight from it (needs m ≥ 3)",
    )


@reinforces.corrected(
    r"\dot s_j=\tfrac1\tau p_jA_j,\qquad\dot p_j=\tfrac1{\tau^2}p_j\left(p_jA_j-"
    r"\textstyle\sum_kp_k^2A_k\right)",
    Severity.SLIP,
)
def scores_rise() -> Steps:
    """Descent raises the score of such a key; its weight rises only if p_j A_j exceeds the weighted mean of p_k A_k."""
    yield AtLeast(pi[j] / tau, 0, strict=True, reason="so the score moves as the advantage says: ds_j = p_j A_j/τ")
    yield Equation(response(u), pi[j] * advantage(j) / tau, reason="it is the step u, natural descent, that raises p_j so")
    yield Equation(
        response(score_update),
        pi[j] * (pi[j] * advantage(j) - total(l, pi[l] ** 2 * advantage(l))) / tau**2,
        reason="(59) applied to the update of the scores",
    )


reinforces.twin("as the advantage", lambda: Equation(response(score_update), pi[j] * advantage(j) / tau))
reinforces.twin("the mean is not subtracted", lambda: Equation(response(score_update), pi[j] ** 2 * advantage(j) / tau**2))


# ── geometry ────────────────────────────────────────────────────────────────────────────────────────────────────────


def fisher(row: sp.Expr, column: sp.Expr) -> sp.Expr:
    """F_jk = E_p[∂_j log p · ∂_k log p]."""
    return total(i, p(i) * derivative(sp.log(p(i)), s[row]) * derivative(sp.log(p(i)), s[column]))


def pulled_back() -> sp.Expr:
    """Σ_i ∂_jp_i (Σ w log w)''_ii ∂_kp_i, with (Σ w log w)''_ii = 1/w_i."""
    return total(i, derivative(p(i), s[j]) / p(i) * derivative(p(i), s[k]))


@claim(
    "eot.s8.entropy-geometry",
    "identity",
    title="Shannon entropy defines the geometry",
    needs=("eot.59",),
    latex=r"J^\top\,(\nabla_w^2\Phi(w)|_{w=p})\,J=F,\quad\Phi(w)=\textstyle\sum_jw_j\log w_j",
)
def entropy_geometry() -> Steps:
    """The Hessian of the negative entropy, carried from the weights to the scores, is the Fisher matrix."""
    second = derivative(derivative(total(l, w[l] * sp.log(w[l])), w[j]), w[k])
    yield Equation(second, delta(j, k) / w[j], reason="(w log w)'' = 1/w, and no mixed terms")
    yield Equation(pulled_back(), fisher(j, k), reason="∂p = p ∂log p")


entropy_geometry.twin("one τ too few", lambda: Equation(pulled_back(), tau * fisher(j, k)))
entropy_geometry.twin(
    "the Euclidean metric", lambda: Equation(pulled_back(), total(i, derivative(p(i), s[j]) * derivative(p(i), s[k])))
)


reprint(
    "eot.s8.curvature",
    manifold_curvature,
    title="The curvature of the manifold dictates the update",
    latex=r"R_{jk}=F_{jk}",
    statement="The curvature of the manifold of attention distributions, captured by the Fisher matrix, is said to dictate "
    "the form of the update.",
)


def metric_at(row: sp.Expr, direction: Entry) -> sp.Expr:
    """Σ_k F_jk x_k with F = (diag π − π πᵀ)/τ²."""
    return total(l, pi[row] * (delta(row, l) - pi[l]) * direction(l)) / tau**2


def metric_step(direction: Entry) -> sp.Expr:
    """Row j of F x."""
    return metric_at(j, direction)


@claim(
    "eot.s8.landscape",
    "equivalence",
    title="Gradient descent on the geometric landscape",
    needs=("eot.s8.curvature",),
    latex=r"F\,(p_kA_k/\tau)_k\parallel-\nabla_s\mathcal L",
)
def landscape() -> Steps:
    """The gradient is said to result from gradient descent in this geometry, whose steps x solve F x ∥ −∇L."""
    apart: dict[Variable, Value] = {m: 3, pi.label: [HALF, HALF / 2, HALF / 2], u.label: [0, 0, 1], tau: 1, j: 1, k: 2}
    yield Fails(
        Equation(metric_at(j, score_update) * score_update(k), metric_at(k, score_update) * score_update(j), at=apart),
        reason="−∇L = (−1/8, −1/16, 3/16), F(−∇L) = (−3/64, −1/128, 7/128): not parallel (for m = 2 they are)",
    )


@landscape.corrected(r"F\,(\tau u)=-\nabla_s\mathcal L", Severity.FATAL, replaces="the step whose image under F is −∇L")
def euclidean_descent() -> Steps:
    """It is plain descent in the scores; descent in the Fisher metric steps along τ u, up to a constant."""
    yield Equation(metric_step(lambda key: policy.baseline), 0, reason="constants do nothing", about=(policy.baseline, pi[j]))
    yield Equation(metric_step(lambda key: tau * u[key]), score_update(j), reason="F (τ u) = p A/τ = −∇L")


landscape.twin("τ squared", lambda: Equation(metric_step(lambda key: tau * u[key]), tau * score_update(j)))
landscape.twin("the mean is not subtracted", lambda: Equation(metric_step(lambda key: tau * u[key]), pi[j] * u[j] / tau))


@claim(
    "eot.s8.new-mechanisms",
    "equivalence",
    title="A language for designing mechanisms",
    needs=("eot.s8.unique-solution",),
    latex=r"-\tau H\to\Omega",
)
def new_mechanisms() -> Undecidable:
    """Other entropies and regularizers are said to induce other desirable properties in the weights."""
    return Undecidable("no regularizer and no property is named; the instances that are named are judged in section 4")


reprint(
    "eot.s8.justification",
    of=section0_abstract.justification,
    latex=r"\text{a mathematical foundation of attention}",
    statement="The document says that it has given attention a mathematical foundation in optimization and control.",
)
