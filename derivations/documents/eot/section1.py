"""Section 1: what the introduction promises.

Claims     eot.s1.forward-pass         softmax(s/τ) = argmax ⟨p, s⟩ + τ H(p) over the simplex
           eot.s1.maximally-entropic   E_q[s] ≥ E_p[s]  ⟹  H(q) ≤ H(p), for points q of the simplex at least as similar
           eot.s1.argmax-proxy         p_j/p_k = exp((s_j − s_k)/τ); p_j → 1/r as τ → 0 for each of r maximal scores
           eot.s1.policy-gradient      −∂L/∂s_j = E_{i∼p}[(u_i − E_p[u]) ∂log p_i/∂s_j]
           eot.s1.variance-reduced     E_{i∼p}[(u_i − b) ∂log p_i/∂s_j] is the same for every b  (corrected)
           eot.s1.geometry             ∇_s L = −τFu
Notation   p = softmax(s/τ); F_jk = E_p[∂_j log p · ∂_k log p]; estimators as in policy.py
References the list of contributions of the document
"""

import sympy as sp

from derivations.documents.eot import policy, section0_abstract
from derivations.documents.eot.notation import cost, expect, j, k, m, objective, s, similarity, softmax, tau, u
from derivations.documents.eot.section3_problem import maximally_entropic
from derivations.vocabulary import *

p = softmax(s, tau)
i = index("i", m)
ties, below, top = size("r"), size("n"), scalar("s")
best, lower = index("x", ties), index("y", below)
gap = vector("g", below, kind=Positive)
share = 1 / (ties + total(lower, sp.exp(-gap[lower] / tau)))


def solves(candidate: Entry) -> UniqueMinimum:
    """The candidate is the only minimizer of expected cost less τ times entropy."""
    return UniqueMinimum(lambda q: objective(q, cost, tau), candidate, m, tau, reason="J(q) − J(α) = τ Σ kl(q ‖ α)")


@claim(
    "eot.s1.forward-pass",
    "optimality",
    title="The forward pass solves an optimization problem",
    needs=("eot.thm3.3",),
    latex=r"\alpha = \arg\max_{p\in\Delta^{m-1}} \langle p, Kq\rangle + \tau H(p)",
)
def forward_pass() -> Steps:
    """Attention weights are the exact solution of a trade-off between similarity and entropy, weighted by τ."""
    yield solves(softmax(similarity, tau))


forward_pass.twin("similarity alone counts twice", lambda: solves(softmax(lambda key: 2 * similarity(key), tau)))
forward_pass.twin("entropy alone", lambda: solves(lambda key: 1 / m))


reprint("eot.s1.maximally-entropic", maximally_entropic, latex=r"H(\alpha)=\max_{p\in\Delta^{m-1}}H(p)")


def tied_partition() -> sp.Expr:
    """Z for r keys with the score s and n keys with the lower scores s − g_y."""
    return total(best, sp.exp(top / tau)) + total(lower, sp.exp((top - gap[lower]) / tau))


@claim(
    "eot.s1.argmax-proxy",
    "equivalence",
    title="Softmax as a differentiable stand-in for argmax",
    latex=r"p_j/p_k = e^{(s_j-s_k)/\tau},\quad \lim_{\tau\to0}p_j = 1/r\ \text{for } r \text{ maximal scores}",
)
def argmax_proxy() -> Steps:
    """Softmax orders keys as their scores do, and as τ → 0 shares the mass equally among the maximal scores."""
    yield Equation(derivative(p(j), s[k]), p(j) * (delta(j, k) - p(k)) / tau, reason="differentiable, as argmax is not;")
    yield Equation(sp.exp(top / tau) / tied_partition(), share, reason="with r scores s and the others s − g_y, g_y > 0,")
    yield Limit(share, tau, sp.S.Zero, 1 / ties, reason="each of the r maximal ones gets 1/r in the limit,")
    yield Limit(sp.exp(-gap[lower] / tau) * share, tau, sp.S.Zero, sp.S.Zero, reason="and every other one nothing;")
    yield Equation(p(j) / p(k), sp.exp((s[j] - s[k]) / tau), reason="at every τ p_j ≥ p_k iff s_j ≥ s_k")


argmax_proxy.twin("the order is reversed", lambda: Equation(p(j) / p(k), sp.exp((s[k] - s[j]) / tau)))
argmax_proxy.twin("τ is lost", lambda: Equation(p(j) / p(k), sp.exp(s[j] - s[k])))


def descent() -> sp.Expr:
    """−∂L/∂s_j."""
    return total(k, u[k] * derivative(p(k), s[j]))


def policy_gradient(level: sp.Expr) -> sp.Expr:
    """E_{i∼p}[(u_i − b) ∂log p_i/∂s_j]."""
    return total(i, p(i) * (u[i] - level) * derivative(sp.log(p(i)), s[j]))


@claim(
    "eot.s1.policy-gradient",
    "identity",
    title="Backpropagation equals the advantage-based policy gradient",
    latex=r"-\frac{\partial\mathcal L}{\partial s_j} = \mathbb E_{i\sim p}\left[(u_i-\mathbb E_p[u])\,"
    r"\frac{\partial\log p_i}{\partial s_j}\right]",
    needs=("eot.thm5.2",),
)
def backward_pass() -> Steps:
    """The negative gradient is the mean, under the weights, of advantage times the derivative of the log weight."""
    yield Equation(descent(), policy_gradient(expect(p, u)), reason="p ∂log p = ∂p and Σ ∂p = 0")


backward_pass.twin("the sign", lambda: Equation(descent(), -policy_gradient(expect(p, u))))
backward_pass.twin(
    "the weights are left out", lambda: Equation(descent(), total(i, (u[i] - expect(p, u)) * derivative(sp.log(p(i)), s[j])))
)


@claim(
    "eot.s1.variance-reduced",
    "inequality",
    title="A variance-reduced update rule",
    latex=r"\mathrm{Var}[(u_i-\mathbb E_p[u])\,g_{ij}]\le\mathrm{Var}[u_i\,g_{ij}]",
    needs=("eot.s5.variance-reduced",),
)
def variance_reduced() -> Steps:
    """The gradient of backpropagation is announced as a variance-reduced rule from reinforcement learning."""
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
def baseline_free() -> Steps:
    """Nothing is sampled, so there is no variance to reduce: the gradient is the same with every baseline."""
    yield Equation(policy_gradient(policy.baseline), descent(), reason="E ∂log p = 0", about=(policy.baseline,))


variance_reduced.twin(
    "the baseline changes the mean", lambda: Equation(policy_gradient(policy.baseline), descent() - policy.baseline)
)
variance_reduced.twin(
    "the baseline enters weighted", lambda: Equation(policy_gradient(policy.baseline), descent() - policy.baseline * p(j))
)


def fisher(row: sp.Expr, column: sp.Expr) -> sp.Expr:
    """F_jk = E_p[∂_j log p · ∂_k log p], from its definition as an expectation."""
    return total(i, p(i) * derivative(sp.log(p(i)), s[row]) * derivative(sp.log(p(i)), s[column]))


@claim(
    "eot.s1.geometry",
    "identity",
    title="The geometry of the forward pass gives the gradient",
    needs=("eot.thm5.2",),
    latex=r"\nabla_s\mathcal L = -\tau F(s)\,u,\quad "
    r"F_{jk} = \mathbb E_{i\sim p}[\partial_{s_j}\log p_i\;\partial_{s_k}\log p_i]",
)
def geometry() -> Steps:
    """The gradient is minus τ times the Fisher matrix of the weights applied to the utilities."""
    yield Equation(descent(), tau * total(k, fisher(j, k) * u[k]), reason="τ F is the Jacobian of the weights")


geometry.twin("τ is lost", lambda: Equation(descent(), total(k, fisher(j, k) * u[k])))
geometry.twin("its diagonal only", lambda: Equation(descent(), tau * fisher(j, j) * u[j]))


@claim(
    "eot.s1.optimal-update",
    "optimality",
    title="A sophisticated, optimal learning update",
    needs=("eot.thm5.2",),
    latex=r"\text{backpropagation is optimal}",
)
def optimal_update() -> Undecidable:
    """The backward pass is said to execute an optimal learning update."""
    return Undecidable("no class of updates and no criterion is stated among which the gradient would be the best")


@claim(
    "eot.s1.standing",
    "external fact",
    title="Central, intuitive, successful, and justified by heuristics",
    latex=r"\text{a core component, justified by heuristics}",
)
def standing() -> Undecidable:
    """Attention is called central, intuitive and successful, justified by heuristics such as a product for similarity."""
    return Undecidable(
        "a statement about the models and the papers of a time, which no formula and no code can settle; "
        "“natural” has no criterion either (a longer key of the same direction has a larger product with the "
        "query than the query itself)"
    )


@claim(
    "eot.s1.open-question",
    "external fact",
    title="Why attention works was an open question",
    latex=r"\text{does softmax}(Kq/\tau)\text{ solve a more fundamental problem?}",
    needs=("eot.s2.gibbs",),
)
def open_question() -> Undecidable:
    """It is said to have been open why softmax of products works so well, and whether it solves a more fundamental problem."""
    return Undecidable(
        "a statement about what was known at a time; section 2 itself calls the problem that a softmax solves "
        "a classic result (eot.s2.gibbs), and why it works well has no measure"
    )


reprint(
    "eot.s1.justification",
    of=section0_abstract.justification,
    latex=r"\text{attention is not merely a heuristic construction}",
    statement="The document says that it justifies attention from first principles, as more than a heuristic construction.",
)
