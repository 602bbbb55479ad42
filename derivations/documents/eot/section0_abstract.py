"""The abstract.

Claims     eot.s0.exact-solution       softmax(s/τ) = argmin ⟨p, C⟩ − τ H(p) over the simplex, for C = −s
           eot.s0.maximally-entropic   E_q[s] ≥ E_p[s]  ⟹  H(q) ≤ H(p), for points q of the simplex at least as similar
           eot.s0.policy-gradient      −∂L/∂s_j = E_{i∼p}[(u_i − E_p[u]) ∂log p_i/∂s_j]
           eot.s0.variance-reduced     E_{i∼p}[(u_i − b) ∂log p_i/∂s_j] is the same for every b  (corrected)
           eot.s0.geometry             ∇_s L = −τFu, F = Jᵀ ∇²(Σ p log p) J with J = ∂p/∂s
Notation   p = softmax(s/τ); u = −∂L/∂p; F_jk = E_p[∂_j log p · ∂_k log p]; estimators as in policy.py
References the abstract of the document
"""

import sympy as sp

from derivations.documents.eot import policy
from derivations.documents.eot.notation import cost, expect, j, k, m, objective, s, similarity, softmax, tau, u
from derivations.documents.eot.section3_problem import maximally_entropic
from derivations.vocabulary import *

p = softmax(s, tau)
i = index("i", m)


def solves(candidate: Entry) -> UniqueMinimum:
    """The candidate is the only minimizer of expected cost less τ times entropy."""
    return UniqueMinimum(lambda q: objective(q, cost, tau), candidate, m, tau, reason="J(q) − J(α) = τ Σ kl(q ‖ α)")


reprint("eot.s0.maximally-entropic", maximally_entropic, latex=r"H(\alpha)=\max_{p\in\Delta^{m-1}}H(p)")


def descent() -> sp.Expr:
    """−∂L/∂s_j."""
    return total(k, u[k] * derivative(p(k), s[j]))


def mean_update(level: sp.Expr, weights: Entry) -> sp.Expr:
    """Σ_i w_i (u_i − b) ∂log p_i/∂s_j."""
    return total(i, weights(i) * (u[i] - level) * derivative(sp.log(p(i)), s[j]))


@claim(
    "eot.s0.exact-solution",
    "optimality",
    title="The forward pass solves a transport problem exactly",
    latex=r"\alpha=\arg\min_{p\in\Delta^{m-1}}\langle p,C\rangle-\tau H(p)",
    needs=("eot.thm3.3", "eot.rem3.5"),
)
def exact_solution() -> Steps:
    """The attention weights minimize cost less τ times entropy over the plans from one source, exactly and uniquely."""
    yield solves(softmax(similarity, tau))


exact_solution.twin("similarity alone: temperature halved", lambda: solves(softmax(similarity, tau / 2)))
exact_solution.twin("entropy alone", lambda: solves(lambda key: 1 / m))


@claim(
    "eot.s0.policy-gradient",
    "identity",
    title="The gradient is an advantage-based policy gradient",
    latex=r"-\frac{\partial\mathcal L}{\partial s_j}=\mathbb E_{i\sim p}\left[(u_i-\mathbb E_p[u])\,"
    r"\frac{\partial\log p_i}{\partial s_j}\right]",
    needs=("eot.thm5.2", "eot.s1.policy-gradient"),
)
def policy_gradient() -> Steps:
    """What backpropagation computes is the mean, under the weights, of advantage times score function."""
    yield Equation(descent(), mean_update(expect(p, u), p), reason="p ∂log p = ∂p and Σ ∂p = 0")


policy_gradient.twin("the sign", lambda: Equation(descent(), -mean_update(expect(p, u), p)))
policy_gradient.twin("a uniform policy", lambda: Equation(descent(), mean_update(expect(p, u), lambda key: 1 / m)))


@claim(
    "eot.s0.variance-reduced",
    "inequality",
    title="A variance-reduced update rule",
    needs=("eot.s5.variance-reduced",),
    latex=r"\mathrm{Var}[(u_i-\mathbb E_p[u])\,g_{ij}]\le\mathrm{Var}[u_i\,g_{ij}]",
)
def variance_reduced() -> Steps:
    """The abstract calls the gradient a variance-reduced update rule from reinforcement learning."""
    yield Fails(
        AtLeast(
            policy.variance_at(sp.S.Zero),
            policy.variance_at(policy.expected_utility()),
            at={m: 2, policy.pi.label: [sp.Rational(1, 4), sp.Rational(3, 4)], u.label: [0, 1], tau: 1, j: 1},
        ),
        reason="with sampled keys the expected-utility baseline can enlarge the variance",
    )


@variance_reduced.corrected(
    r"\mathbb E_{i\sim p}[(u_i-b)\,\partial\log p_i/\partial s_j]\ \text{is the same for all } b",
    Severity.FATAL,
    replaces="the comparison of variances",
)
def nothing_sampled() -> Steps:
    """Backpropagation samples no key, so there is no variance to reduce: every baseline gives the same gradient."""
    yield Equation(mean_update(policy.baseline, p), descent(), reason="E ∂log p = 0", about=(policy.baseline,))


variance_reduced.twin(
    "the baseline changes the mean", lambda: Equation(mean_update(policy.baseline, p), descent() - policy.baseline)
)
variance_reduced.twin(
    "the baseline enters weighted", lambda: Equation(mean_update(policy.baseline, p), descent() - policy.baseline * p(j))
)


def fisher(row: sp.Expr, column: sp.Expr) -> sp.Expr:
    """F_jk = E_p[∂_j log p · ∂_k log p], from its definition as an expectation."""
    return total(i, p(i) * derivative(sp.log(p(i)), s[row]) * derivative(sp.log(p(i)), s[column]))


def pulled_back(row: sp.Expr, column: sp.Expr) -> sp.Expr:
    """Σ_i ∂_jp_i (1/p_i) ∂_kp_i, the Hessian of Σ p log p seen from the scores."""
    return total(i, derivative(p(i), s[row]) * derivative(p(i), s[column]) / p(i))


@claim(
    "eot.s0.geometry",
    "identity",
    title="The entropy induces the Fisher metric, which gives the gradient",
    latex=r"\nabla_s\mathcal L=-\tau F(s)\,u,\quad F=J^\top\,(\nabla_w^2\Phi(w)|_{w=p})\,J",
    needs=("eot.thm5.2", "eot.s1.geometry"),
)
def geometry() -> Steps:
    """The Hessian of the negative entropy, seen from the scores, is the Fisher matrix F, and the gradient is −τ F u."""
    yield Equation(pulled_back(j, k), fisher(j, k), reason="(Σ p log p)'' = diag(1/p), and ∂p = p ∂log p")
    yield Equation(fisher(j, k), p(j) * (delta(j, k) - p(k)) / tau**2, reason="the covariance of the indicators, over τ²")
    yield Equation(descent(), tau * total(k, fisher(j, k) * u[k]), reason="τ F is the Jacobian of the weights")


geometry.twin("τ is lost", lambda: Equation(descent(), total(k, fisher(j, k) * u[k])))
geometry.twin("its diagonal only", lambda: Equation(descent(), tau * fisher(j, j) * u[j]))


@claim(
    "eot.s0.optimal-inference",
    "optimality",
    title="Optimal inference",
    needs=("eot.s0.exact-solution",),
    latex=r"\text{the forward pass performs optimal inference}",
)
def optimal_inference() -> Undecidable:
    """The forward pass is said to perform optimal inference."""
    return Undecidable(
        "no unknown, data or loss is stated that would make it inference; the problem that it does solve is "
        "judged in eot.s0.exact-solution"
    )


@claim(
    "eot.s0.manifold-aware",
    "equivalence",
    title="A rational, manifold-aware learning update",
    needs=("eot.s0.geometry",),
    latex=r"\text{the backward pass implements a manifold-aware update}",
)
def manifold_aware() -> Undecidable:
    """The backward pass is said to implement a rational update that is aware of the manifold."""
    return Undecidable(
        "neither word has a criterion here; what the gradient is, is judged in eot.s0.geometry, and whether "
        "it descends in the Fisher metric, in eot.s8.landscape"
    )


@claim(
    "eot.s0.core-component",
    "external fact",
    title="A core component, motivated by heuristics",
    latex=r"\text{a core component, often motivated by heuristics}",
)
def core_component() -> Undecidable:
    """Attention is called a core component of deep learning, whose form is often motivated by heuristics."""
    return Undecidable("a statement about the models and the papers of a time, which no formula and no code can settle")


@claim(
    "eot.s0.justification",
    "equivalence",
    title="A justification from first principles",
    latex=r"\text{the transport problem justifies attention}",
    needs=("eot.s0.exact-solution", "eot.s0.geometry"),
)
def justification() -> Undecidable:
    """The transport problem is said to justify attention from first principles and to make its update a natural consequence."""
    return Undecidable(
        "no criterion is stated by which one problem justifies a form more than another with the same "
        "solution, such as eot.s2.gibbs; that problem and update are what they are said to be is judged in "
        "eot.s0.exact-solution and eot.s0.policy-gradient"
    )
