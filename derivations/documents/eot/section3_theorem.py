"""Section 3, Theorem 3.3: attention weights are the only solution, with the proof's Lagrangian line by line.

Claims     eot.thm3.3   ε = τ > 0  ⟹  argmin J over the simplex = {softmax(⟨q, k_j⟩/τ)}
           eot.10       ∂L/∂p_j = −⟨q, k_j⟩ + τ(log p_j + 1) − λ = 0 for every j
           eot.13       p_j = exp(⟨q, k_j⟩/τ) exp((λ − τ)/τ)
           eot.17       Σ_j p_j = 1  ⟺  exp((τ − λ)/τ) = Z
           eot.18       p*_j = exp(⟨q, k_j⟩/τ)/Z, the only solution
Notation   L(p, λ) = J(p) + λ(1 − Σ_j p_j); Z = Σ_l exp(⟨q, k_l⟩/τ); p > 0 not yet normalized
References Theorem 3.3 of the document and the second half of its proof
"""

import sympy as sp

from derivations.documents.eot.notation import cost, j, k, l, lam, m, objective, partition, similarity, softmax, tau
from derivations.vocabulary import *

alpha = softmax(similarity, tau)
p = vector("p", m, kind=Positive)
Z = positive("Z")
weight = sp.exp(similarity(j) / tau)


@claim(
    "eot.thm3.3",
    "optimality",
    title="Attention is the unique solution of one-sided entropic transport",
    latex=r"\varepsilon = \tau \implies \arg\min_{p\in\Delta^{m-1}} J(p) = \{\alpha\}",
    hypotheses=("q, k_j finite", "ε = τ > 0"),
    needs=("eot.6", "eot.18", "eot.1"),
)
def attention_is_the_solution() -> Steps:
    """With ε = τ the one-sided problem has exactly one solution, and it is the vector of attention weights."""
    yield Equation(total(j, alpha(j)), 1, reason="α is feasible")
    yield AtLeast(alpha(j), 0, strict=True, reason="and interior")
    yield UniqueMinimum(lambda e: objective(e, cost, tau), alpha, m, tau, reason="J(q) − J(α) = τ Σ_j kl(q_j ‖ α_j)")


def solves(strength: sp.Expr, candidate: Entry) -> UniqueMinimum:
    """The candidate is the only minimizer for ε = strength."""
    return UniqueMinimum(lambda e: objective(e, cost, strength), candidate, m, strength)


attention_is_the_solution.twin("the solution for ε = 2τ", lambda: solves(tau, softmax(similarity, 2 * tau)))
attention_is_the_solution.twin("the temperature is inverted", lambda: solves(tau, softmax(similarity, 1 / tau)))
attention_is_the_solution.twin("the sign of the scores", lambda: solves(tau, softmax(cost, tau)))


# ── the Lagrangian and its stationary point ─────────────────────────────────────────────────────────────────────────


def lagrangian(multiplier: sp.Expr) -> sp.Expr:
    """J(p) + λ(1 − Σ_j p_j), from the definition of J with ε = τ."""
    return objective(p, cost, tau) + multiplier * (1 - total(j, p[j]))


def explicit_lagrangian(strength: sp.Expr, multiplier: sp.Expr) -> sp.Expr:
    """−Σ p_j ⟨q, k_j⟩ + τ Σ p_j log p_j + λ(1 − Σ p_j)."""
    return -total(j, p[j] * similarity(j)) + strength * total(j, p[j] * sp.log(p[j])) + multiplier * (1 - total(j, p[j]))


@claim(
    "eot.7",
    "identity",
    title="The Lagrangian",
    needs=("eot.5",),
    latex=r"\mathcal L(p,\lambda) = J(p)+\lambda(1-\textstyle\sum_j p_j) = -\sum_j p_j\langle q,k_j\rangle"
    r"+\tau\sum_j p_j\log p_j+\lambda(1-\sum_j p_j)",
)
def lagrange_function() -> Steps:
    """Objective plus λ times the constraint's residual, written out with ε = τ."""
    yield Equation(lagrangian(lam), explicit_lagrangian(tau, lam), reason="eot.5 with ε = τ")


lagrange_function.twin("the multiplier's sign", lambda: Equation(lagrangian(lam), explicit_lagrangian(tau, -lam)))
lagrange_function.twin("τ is lost", lambda: Equation(lagrangian(lam), explicit_lagrangian(sp.S.One, lam)))


def one_coordinate(multiplier: sp.Expr, key: sp.Expr) -> sp.Expr:
    """The part of the Lagrangian in which one coordinate occurs."""
    return -similarity(key) * p[key] + tau * (p[key] * sp.log(p[key])) - multiplier * p[key]


def slope() -> sp.Expr:
    """∂L/∂p_j, differentiated from the whole Lagrangian."""
    return derivative(lagrangian(lam), p[j])


@claim(
    "eot.8",
    "identity",
    title="Only the j-th terms matter to ∂/∂p_j",
    needs=("eot.7",),
    latex=r"\frac{\partial\mathcal L}{\partial p_j} = \frac{\partial}{\partial p_j}"
    r"\left(-\langle q,k_j\rangle p_j + \tau p_j\log p_j - \lambda p_j\right)",
)
def coordinate_terms() -> Steps:
    """The derivative of the Lagrangian by p_j is that of the terms that contain p_j."""
    yield Equation(slope(), derivative(one_coordinate(lam, j), p[j]), reason="δ-sums collapse")


coordinate_terms.twin("the multiplier's sign", lambda: Equation(slope(), derivative(one_coordinate(-lam, j), p[j])))
coordinate_terms.twin(
    "the cost's term is left out", lambda: Equation(slope(), derivative(one_coordinate(lam, j) + similarity(j) * p[j], p[j]))
)


@claim(
    "eot.9",
    "identity",
    title="Product rule for p log p",
    needs=("eot.8",),
    latex=r"= -\langle q,k_j\rangle + \tau\left(\log p_j + p_j\cdot\tfrac1{p_j}\right) - \lambda",
)
def product_rule() -> Steps:
    """Differentiating p log p gives log p + p · (1/p)."""
    yield Equation(slope(), -similarity(j) + tau * (sp.log(p[j]) + p[j] * (1 / p[j])) - lam, reason="(p log p)'")


product_rule.twin("the second term is forgotten", lambda: Equation(slope(), -similarity(j) + tau * sp.log(p[j]) - lam))
product_rule.twin("τ on one term only", lambda: Equation(slope(), -similarity(j) + tau * sp.log(p[j]) + 1 - lam))


def stationarity(multiplier: sp.Expr, entry: sp.Expr) -> sp.Expr:
    """−⟨q, k_j⟩ + τ(log p_j + 1) − λ."""
    return -similarity(j) + tau * (sp.log(entry) + 1) - multiplier


optimal_multiplier = tau - tau * sp.log(partition(similarity, tau))


@claim(
    "eot.10",
    "identity",
    title="Stationarity",
    needs=("eot.9",),
    latex=r"= -\langle q,k_j\rangle + \tau(\log p_j+1) - \lambda = 0",
)
def stationary() -> Steps:
    """The derivative is −⟨q, k_j⟩ + τ(log p_j + 1) − λ, and one λ makes it vanish for every j at the solution."""
    yield Equation(
        stationarity(optimal_multiplier, alpha(j)),
        0,
        reason="it is 0 at α, with λ = τ − τ log Z for all j",
        about=(similarity(j), tau),
    )
    yield Equation(slope(), stationarity(lam, p[j]), reason="p · (1/p) = 1")


stationary.twin("the multiplier's sign", lambda: Equation(slope(), stationarity(-lam, p[j])))
stationary.twin("the + 1 is lost", lambda: Equation(slope(), stationarity(lam + tau, p[j])))


def residual(multiplier: sp.Expr, right: sp.Expr) -> Equation:
    """The stationarity condition's left side is τ times log p_j less `right`: one vanishes iff the other does."""
    return Equation(stationarity(multiplier, p[j]), tau * (sp.log(p[j]) - right), reason="τ > 0")


@claim(
    "eot.11",
    "equivalence",
    title="Stationarity solved for τ log p",
    needs=("eot.10",),
    latex=r"\tau\log p_j = \langle q,k_j\rangle + \lambda - \tau",
)
def solved_for_log() -> Steps:
    """Stationarity holds exactly when τ log p_j is the similarity plus λ − τ."""
    yield Equation(stationarity(lam, p[j]), tau * sp.log(p[j]) - (similarity(j) + lam - tau), reason="terms moved across")


solved_for_log.twin(
    "the multiplier's sign", lambda: Equation(stationarity(lam, p[j]), tau * sp.log(p[j]) - (similarity(j) - lam - tau))
)
solved_for_log.twin("+ τ for − τ", lambda: Equation(stationarity(lam, p[j]), tau * sp.log(p[j]) - (similarity(j) + lam + tau)))


@claim(
    "eot.12",
    "equivalence",
    title="Divided by τ",
    needs=("eot.11",),
    latex=r"\log p_j = \langle q,k_j\rangle/\tau + (\lambda-\tau)/\tau",
)
def divided() -> Steps:
    """The logarithm of the weight is the scaled similarity plus a constant."""
    yield residual(lam, similarity(j) / tau + (lam - tau) / tau)


divided.twin("τ is lost", lambda: residual(lam, similarity(j) + (lam - tau) / tau))
divided.twin("(λ − 1)/τ", lambda: residual(lam, similarity(j) / tau + (lam - 1) / tau))


@claim(
    "eot.13",
    "equivalence",
    title="Exponentiated",
    needs=("eot.12",),
    latex=r"p_j = e^{\langle q,k_j\rangle/\tau + (\lambda-\tau)/\tau}"
    r" = e^{\langle q,k_j\rangle/\tau}e^{(\lambda-\tau)/\tau}",
)
def exponentiated() -> Steps:
    """The weight is the exponential of the scaled similarity times a factor without j."""
    yield residual(lam, sp.log(sp.exp(similarity(j) / tau + (lam - tau) / tau)))
    yield residual(lam, sp.log(weight * sp.exp((lam - tau) / tau)))


exponentiated.twin("a sum of exponentials", lambda: residual(lam, sp.log(weight + sp.exp((lam - tau) / tau))))
exponentiated.twin("the factor is inverted", lambda: residual(lam, sp.log(weight / sp.exp((lam - tau) / tau))))


# ── normalization ───────────────────────────────────────────────────────────────────────────────────────────────────


@claim(
    "eot.s3.proportional",
    "equivalence",
    title="Weights are proportional to exponentiated scores",
    needs=("eot.13",),
    latex=r"p_j\propto e^{\langle q,k_j\rangle/\tau}",
)
def proportional() -> Steps:
    """The ratio of two weights is the ratio of the exponentials: λ drops out."""
    yield Equation(alpha(j) / alpha(k), sp.exp((similarity(j) - similarity(k)) / tau), reason="e^{(λ−τ)/τ} = 1/Z cancels")


proportional.twin("the ratio is inverted", lambda: Equation(alpha(j) / alpha(k), sp.exp((similarity(k) - similarity(j)) / tau)))
proportional.twin("τ is lost", lambda: Equation(alpha(j) / alpha(k), sp.exp(similarity(j) - similarity(k))))


@claim(
    "eot.14",
    "equivalence",
    title="Z is the reciprocal of the constant",
    needs=("eot.13",),
    latex=r"p_j = \tfrac1Z e^{\langle q,k_j\rangle/\tau},\quad 1/Z = e^{(\lambda-\tau)/\tau}",
)
def reciprocal() -> Steps:
    """With 1/Z for the factor without j, the weight is the exponential over Z."""
    yield residual(lam, sp.log(weight / (1 / sp.exp((lam - tau) / tau))))


reciprocal.twin("Z multiplies", lambda: residual(lam, sp.log(weight / sp.exp((lam - tau) / tau))))
reciprocal.twin("τ is lost", lambda: residual(lam, sp.log(sp.exp(similarity(j)) * sp.exp((lam - tau) / tau))))


@claim(
    "eot.15",
    "identity",
    title="The weights sum to one",
    needs=("eot.14",),
    latex=r"\sum_j p_j = \sum_j \tfrac1Z e^{\langle q,k_j\rangle/\tau} = 1",
)
def normalized() -> Steps:
    """Summed over the keys, the exponentials over Z give 1."""
    yield Equation(total(j, alpha(j)), 1, about=(weight,), reason="(14) with the Z of (17): 1/Z leaves the sum")


normalized.twin("Z without τ", lambda: Equation(total(j, alpha(j)), total(j, weight / total(l, sp.exp(similarity(l))))))
normalized.twin("Z is the mean", lambda: Equation(total(j, alpha(j)), total(j, weight * m / partition(similarity, tau))))


@claim(
    "eot.16", "identity", title="Z leaves the sum", needs=("eot.15",), latex=r"\tfrac1Z\sum_l e^{\langle q,k_l\rangle/\tau} = 1"
)
def constant_leaves() -> Steps:
    """The reciprocal of Z is common to all terms, and what remains is the sum of exponentials."""
    yield Equation(
        (1 / partition(similarity, tau)) * total(l, sp.exp(similarity(l) / tau)),
        1,
        about=(similarity(j), tau),
        reason="it is 1 with the Z of (17)",
    )
    yield Equation(total(j, weight / Z), partition(similarity, tau) / Z, reason="1/Z has no j")


constant_leaves.twin("Z leaves twice", lambda: Equation(total(j, weight / Z), partition(similarity, tau) / Z**2))
constant_leaves.twin("the exponent's sign", lambda: Equation(total(j, weight / Z), partition(cost, tau) / Z))


@claim("eot.17", "equivalence", title="The partition sum", needs=("eot.16",), latex=r"Z = \sum_l e^{\langle q,k_l\rangle/\tau}")
def partition_sum() -> Steps:
    """The constant is the sum of the exponentials, and no other constant normalizes."""
    yield Equation(Z - partition(similarity, tau), Z * (1 - total(j, weight / Z)), reason="Σ p = 1 iff Z = Σ exp")
    yield Equation(weight / alpha(j), partition(similarity, tau), reason="at the solution")


partition_sum.twin("τ is lost", lambda: Equation(weight / alpha(j), total(l, sp.exp(similarity(l)))))
partition_sum.twin("the mean", lambda: Equation(weight / alpha(j), partition(similarity, tau) / m))


@claim(
    "eot.18",
    "optimality",
    title="The solution is softmax",
    needs=("eot.14", "eot.17"),
    hypotheses=("τ > 0",),
    latex=r"p^\star_j = e^{\langle q,k_j\rangle/\tau}\Big/\sum_{l=1}^m e^{\langle q,k_l\rangle/\tau}",
)
def solution() -> Steps:
    """The unique optimal plan is the softmax of the scaled similarities."""
    yield solves(tau, alpha)


solution.twin("the temperature is lost", lambda: solves(tau, softmax(similarity, sp.S.One)))
solution.twin(
    "half of its own term is missing from Z",
    lambda: solves(
        tau, lambda key: sp.exp(similarity(key) / tau) / (partition(similarity, tau) - sp.exp(similarity(key) / tau) / 2)
    ),
)
solution.twin("square roots of the weights", lambda: solves(tau, softmax(similarity, 2 * tau)))
