"""Appendix B, second half: the conjugate computed, line by line, and what it has to do with Lagrangian duality.

Claims     eot.149      f*(s) = τ log Σ_l exp(s_l/τ)
           eot.144      p*_j = exp(s_j/τ)/Z, the only maximizer of ⟨p, s⟩ − f(p)
           eot.143      ∂L/∂w_j = s_j − τ(log w_j + 1) − λ, which is 0 at the softmax for λ = φ − τ
           eot.remB.5   f*(s) = −max_μ g(μ), attained at μ = τ − φ(s)
Notation   L(w, λ) = ⟨w, s⟩ − τ Σ w log w − λ(Σ w − 1) for w > 0; Z = Σ_l exp(s_l/τ); φ = τ log Z; μ = −λ the multiplier of
           section 3; g(μ) the dual function of section 6
References the last part of Appendix B of the document, and Remark B.5; Boyd and Vandenberghe (2004), 5.1.6
"""

import sympy as sp

from derivations.documents.eot import section3_theorem
from derivations.documents.eot.appendix_b_conjugate import (
    attained_at,
    colder,
    divergence,
    inner,
    negentropy,
    p,
    pairing,
    potential,
    reversed_scores,
    star,
)
from derivations.documents.eot.notation import K, Q, j, k, l, lam, m, partition, r, s, similarity, softmax, tau
from derivations.documents.eot.section6_theorem import deeper_reason
from derivations.vocabulary import *

w = vector("p", m, kind=Positive)
any_weights = vector("x", m, kind=Nonnegative)
mu = scalar("μ")
Z = partition(s, tau)


@claim(
    "eot.140",
    "inequality",
    title="The potential as a supremum over R^m",
    needs=("eot.127", "eot.131"),
    latex=r"\phi(s)=f^*(s)=\sup_{p\in\mathbb R^m}\{\langle p,s\rangle-f(p)\}",
)
def over_all_vectors() -> Steps:
    """No vector gives more than φ(s), those outside the simplex giving −∞, and one gives as much."""
    yield Equation(inner(star), potential(), reason="reached at the softmax")
    yield AtLeast(potential(), inner(p), because=tau * divergence(p, star), reason="τ KL(p ‖ p*) ≥ 0 is missing")


over_all_vectors.twin("smaller than φ by τ", lambda: AtLeast(potential(), inner(p) + tau))
over_all_vectors.twin("for twice the entropy", lambda: AtLeast(potential(), inner(p) - negentropy(p)))


@claim(
    "eot.141",
    "optimality",
    title="The potential as a supremum over the simplex",
    needs=("eot.140",),
    latex=r"=\sup_{p\in\Delta^{m-1}}\{\textstyle\sum_jp_js_j-\tau\sum_jp_j\log p_j\}",
)
def over_the_simplex() -> Steps:
    """Inside the simplex f is τ Σ p log p, and the supremum is attained there, at one point."""
    yield attained_at(star)


over_the_simplex.twin("the scores' sign", lambda: attained_at(reversed_scores))
over_the_simplex.twin("half the temperature", lambda: attained_at(colder))


# ── the Lagrangian ──────────────────────────────────────────────────────────────────────────────────────────────────


def lagrangian() -> sp.Expr:
    """Σ w s − τ Σ w log w − λ(Σ w − 1)."""
    return total(j, w[j] * s[j]) - tau * total(j, w[j] * sp.log(w[j])) - lam * (total(j, w[j]) - 1)


@claim(
    "eot.142",
    "definition",
    title="The Lagrangian of the maximization",
    needs=("eot.141",),
    latex=r"\mathcal L(p,\lambda)=\textstyle\sum_jp_js_j-\tau\sum_jp_j\log p_j-\lambda(\sum_jp_j-1)",
)
def maximization_lagrangian() -> Steps:
    """On the simplex it equals the objective for every λ, and its slope in λ is what the weights lack to one."""
    on_simplex = inner(p) - lam * (total(j, p[j]) - 1)
    yield Equation(on_simplex, inner(p), about=(lam,), reason="Σ p = 1")
    yield Equation(derivative(lagrangian(), lam), 1 - total(j, w[j]), reason="linear in λ")


maximization_lagrangian.twin("the constraint's sign", lambda: Equation(derivative(lagrangian(), lam), total(j, w[j]) - 1))
maximization_lagrangian.twin("weights that sum to 0", lambda: Equation(derivative(lagrangian(), lam), -total(j, w[j])))


def slope() -> sp.Expr:
    """∂L/∂w_j, differentiated from the whole Lagrangian."""
    return derivative(lagrangian(), w[j])


def stationarity(level: sp.Expr) -> sp.Expr:
    """s_j − τ(log w_j + 1) − λ."""
    return s[j] - tau * (sp.log(w[j]) + 1) - level


@claim(
    "eot.143", "identity", title="Stationarity of the maximization", needs=("eot.142",), latex=r"s_j-\tau(\log p_j+1)-\lambda=0"
)
def stationary() -> Steps:
    """The slope is s_j − τ(log p_j + 1) − λ, and λ = φ − τ makes it vanish at the softmax for every j."""
    yield Equation(s[j] - tau * (sp.log(star(j)) + 1) - (potential() - tau), 0, about=(s[j], tau), reason="λ = φ(s) − τ")
    yield Equation(slope(), stationarity(lam), reason="(p log p)' = log p + 1")


stationary.twin("the multiplier's sign", lambda: Equation(slope(), stationarity(-lam)))
stationary.twin("the + 1 is lost", lambda: Equation(slope(), stationarity(lam) + tau))


def of_section_3(level: sp.Expr) -> sp.Expr:
    """The left side of (10): ∂/∂w_j of J(w) + λ(1 − Σ w), with C_j = −⟨q, k_j⟩."""
    return derivative(section3_theorem.lagrangian(level), section3_theorem.p[j])


def specialized() -> sp.Expr:
    """The left side of (143) for s_j = ⟨q, k_j⟩."""
    gain = total(l, w[l] * similarity(l)) - tau * total(l, w[l] * sp.log(w[l]))
    return derivative(gain - lam * (total(l, w[l]) - 1), w[j])


@claim(
    "eot.sB.generalized-condition",
    "identity",
    title="The condition of Theorem 3.3, for any scores",
    needs=("eot.143", "eot.10"),
    latex=r"(143)\big|_{s=Kq,\,\lambda}=-(10)\big|_{-\lambda}",
)
def generalized_condition() -> Steps:
    """With the scores of attention it is condition (10) multiplied by −1, the multiplier having changed its sign too."""
    yield Equation(
        specialized(), -of_section_3(-lam), reason="a maximum of −J, with −λ in the place of λ", about=(Q[r], K[j, r])
    )


generalized_condition.twin("the same multiplier", lambda: Equation(specialized(), -of_section_3(lam)))
generalized_condition.twin("not multiplied by −1", lambda: Equation(specialized(), of_section_3(-lam)))


@claim(
    "eot.sB.proportional",
    "equivalence",
    title="Weights proportional to exp(s_j/τ)",
    needs=("eot.143",),
    latex=r"p_j=e^{s_j/\tau}\,e^{-(\lambda+\tau)/\tau}",
)
def proportional() -> Steps:
    """The condition holds exactly when the weight is exp(s_j/τ) times a factor without j."""
    yield Equation(star(j) / star(k), sp.exp((s[j] - s[k]) / tau), reason="so ratios are those of the exponentials")
    yield solved_for(sp.exp(s[j] / tau) * sp.exp(-(lam + tau) / tau))


def solved_for(right: sp.Expr) -> Equation:
    """The slope is −τ times log w_j less the logarithm of `right`: one vanishes iff the other does."""
    return Equation(slope(), -tau * (sp.log(w[j]) - sp.log(right)), reason="τ > 0")


proportional.twin(
    "the factor of (13), λ with the other sign", lambda: solved_for(sp.exp(s[j] / tau) * sp.exp((lam - tau) / tau))
)
proportional.twin("τ is lost", lambda: solved_for(sp.exp(s[j]) * sp.exp(-(lam + tau) / tau)))


@claim(
    "eot.144",
    "optimality",
    title="The maximizer is the softmax",
    needs=("eot.sB.proportional", "eot.141"),
    latex=r"p^\star_j(s)=e^{s_j/\tau}\Big/\sum_{l=1}^me^{s_l/\tau}",
    hypotheses=("τ > 0",),
)
def softmax_maximizes() -> Steps:
    """Normalization fixes the factor, and the softmax is the only maximizer."""
    yield Equation(total(j, star(j)), 1, reason="Z leaves the sum", about=(s[j], tau))
    yield attained_at(star)


softmax_maximizes.twin("the temperature is lost", lambda: attained_at(softmax(s, sp.S.One)))
softmax_maximizes.twin("not normalized", lambda: attained_at(lambda key: sp.exp(s[key] / tau - 1)))


# ── the value ───────────────────────────────────────────────────────────────────────────────────────────────────────


@claim(
    "eot.145",
    "identity",
    title="The potential is the objective at the softmax",
    needs=("eot.141", "eot.144"),
    latex=r"\phi(s)=\textstyle\sum_jp^\star_js_j-\tau\sum_jp^\star_j\log p^\star_j",
)
def at_the_maximizer() -> Steps:
    """The supremum is the value at its maximizer: mean score plus τ times entropy."""
    yield Equation(potential(), pairing(star, s) - negentropy(star), reason="log p* = s/τ − log Z")


at_the_maximizer.twin("entropy is subtracted", lambda: Equation(potential(), pairing(star, s) + negentropy(star)))
at_the_maximizer.twin("the mean score alone", lambda: Equation(potential(), pairing(star, s)))


def with_log(log_weight: sp.Expr) -> sp.Expr:
    """Σ p* s − τ Σ p* · (the expression for log p*)."""
    return pairing(star, s) - tau * total(j, star(j) * log_weight)


@claim(
    "eot.146",
    "identity",
    title="The logarithm of the softmax inserted",
    needs=("eot.145",),
    latex=r"=\textstyle\sum_jp^\star_js_j-\tau\sum_jp^\star_j(s_j/\tau-\log Z)",
)
def logarithm_inserted() -> Steps:
    """The logarithm of a weight is s_j/τ − log Z."""
    yield Equation(sp.log(star(j)), s[j] / tau - sp.log(Z), reason="log of a quotient")
    yield Equation(inner(star), with_log(s[j] / tau - sp.log(Z)), reason="term by term")


logarithm_inserted.twin("+ log Z", lambda: Equation(inner(star), with_log(s[j] / tau + sp.log(Z))))
logarithm_inserted.twin("τ is lost", lambda: Equation(inner(star), with_log(s[j] - sp.log(Z))))


@claim(
    "eot.147",
    "identity",
    title="The mean score cancels",
    needs=("eot.146",),
    latex=r"=\textstyle\sum_jp^\star_js_j-\sum_jp^\star_js_j+\tau\log Z\sum_jp^\star_j",
)
def mean_cancels() -> Steps:
    """Multiplied out, the mean score appears twice with opposite signs, and τ log Z times the sum of the weights remains."""
    remainder = tau * sp.log(Z) * total(j, star(j))
    yield Equation(pairing(star, s) - tau * total(j, star(j) * s[j] / tau), 0, reason="τ · 1/τ = 1", about=(s[j], tau))
    yield Equation(inner(star), pairing(star, s) - pairing(star, s) + remainder, reason="sums are linear")


mean_cancels.twin("the sign of log Z", lambda: Equation(inner(star), -tau * sp.log(Z) * total(j, star(j))))
mean_cancels.twin("the mean score stays", lambda: Equation(inner(star), pairing(star, s) + tau * sp.log(Z) * total(j, star(j))))


@claim("eot.148", "identity", title="τ log Z is left", needs=("eot.147",), latex=r"=\tau\log Z")
def logarithm_of_partition() -> Steps:
    """Because the weights sum to one, the value is τ log Z."""
    yield Equation(total(j, star(j)), 1, reason="normalized", about=(s[j], tau))
    yield Equation(inner(star), tau * sp.log(Z), reason="what is left of (147)")


logarithm_of_partition.twin("τ is lost", lambda: Equation(inner(star), sp.log(Z)))
logarithm_of_partition.twin("log of the mean exponential", lambda: Equation(inner(star), tau * sp.log(Z / m)))


@claim(
    "eot.149",
    "identity",
    title="The potential is Log-Sum-Exp",
    needs=("eot.148", "eot.144"),
    latex=r"\phi(s)=\tau\log\textstyle\sum_{l=1}^me^{s_l/\tau}",
)
def log_sum_exp() -> Steps:
    """The conjugate is τ times the logarithm of the sum of the exponentiated scores over τ."""
    yield AtLeast(potential(), inner(p), because=tau * divergence(p, star), reason="no p gives more")
    yield Equation(inner(star), tau * sp.log(total(l, sp.exp(s[l] / tau))), reason="and the softmax gives this")


log_sum_exp.twin("the sum of logarithms", lambda: Equation(inner(star), tau * total(l, sp.log(sp.exp(s[l] / tau)))))
log_sum_exp.twin("no temperature inside", lambda: Equation(inner(star), tau * sp.log(total(l, sp.exp(s[l])))))


# ── Remark B.5 ──────────────────────────────────────────────────────────────────────────────────────────────────────


def dual_function(level: sp.Expr) -> sp.Expr:
    """g(μ) = μ − τ Σ_l exp((s_l + μ)/τ − 1), the least value of L over w ≥ 0."""
    return level - tau * total(l, sp.exp((s[l] + level) / tau - 1))


@claim(
    "eot.remB.5",
    "equivalence",
    title="Lagrangian duality computes the same conjugate",
    needs=("eot.149", "eot.10"),
    latex=r"f^*(s)=-\max_\mu g(\mu),\quad\mu^\star=\tau-\phi(s)",
)
def lagrangian_duality() -> Steps:
    """The greatest value of the dual function of section 6 is minus the conjugate f*, at the multiplier τ − φ.

    The dual function itself is made of another conjugate, that of the objective without constraint.
    """
    yield Equation(dual_function(tau - potential()), -potential(), reason="attained at μ = τ − φ")
    yield AtLeast(
        -potential(),
        dual_function(mu),
        because=tau * kl(1, Z * sp.exp(mu / tau - 1)),
        reason="−φ − g(μ) = τ(x − 1 − log x) with x = Z exp(μ/τ − 1): no μ gives more",
    )


def mean_dual_function(level: sp.Expr) -> sp.Expr:
    """g with the mean of the exponentials for their sum."""
    return level - tau * total(l, sp.exp((s[l] + level) / tau - 1)) / m


lagrangian_duality.twin(
    "larger by τ", lambda: AtLeast(-potential(), dual_function(mu) + tau, at={m: 1, s.label: [0], tau: 1, mu: 1})
)
lagrangian_duality.twin(
    "the mean for the sum", lambda: AtLeast(-potential(), mean_dual_function(mu), at={m: 2, s.label: [0, 0], tau: 1, mu: 1})
)


def unconstrained_conjugate(level: sp.Expr) -> sp.Expr:
    """The conjugate, at the multiples μ·1, of −⟨w, s⟩ + τ Σ w log w over all w ≥ 0, without the constraint."""
    return tau * total(l, sp.exp((s[l] + level) / tau - 1))


@claim(
    "eot.sB.conjugate-variables",
    "equivalence",
    title="The multiplier as a conjugate variable",
    needs=("eot.remB.5",),
    latex=r"g(\mu)=\mu-J_0^*(\mu\mathbf 1),\quad J_0(w)=-\langle w,s\rangle+\tau\textstyle\sum w\log w\ (w\ge0)",
    part_of="eot.remB.5",
)
def conjugate_variables() -> Steps:
    """The multiplier enters through μ·1 as the conjugate variable of J₀, the objective without constraint.

    J₀* is not the f* of the appendix: f contains the constraint, and its conjugate variables are the scores.
    """
    yield Equation(
        potential(lambda key: s[key] + mu),
        potential() + mu,
        about=(mu,),
        reason="f*(s + μ1) = f*(s) + μ: in f* a multiple of 1 only adds a constant, so the conjugate meant is J₀*",
    )
    unconstrained = -total(j, any_weights[j] * s[j]) + tau * total(j, xlogx(any_weights[j]))
    image = total(j, kl(any_weights[j], sp.exp((s[j] + mu) / tau - 1)))
    yield AtLeast(
        unconstrained_conjugate(mu),
        mu * total(j, any_weights[j]) - unconstrained,
        because=tau * image,
        reason="J₀*(μ1) ≥ ⟨w, μ1⟩ − J₀(w), with equality at w_j = exp((s_j + μ)/τ − 1)",
    )
    yield Equation(
        derivative(dual_function(mu), mu),
        1 - total(l, sp.exp((s[l] + mu) / tau - 1)),
        reason="g'(μ) = 1 − Σ w: the multiplier is conjugate to the total mass, as s_j is to p_j",
    )


def slope_of_dual(right: sp.Expr) -> Equation:
    """g'(μ) against an expression."""
    return Equation(derivative(dual_function(mu), mu), right)


conjugate_variables.twin("the mass with the other sign", lambda: slope_of_dual(total(l, sp.exp((s[l] + mu) / tau - 1)) - 1))
conjugate_variables.twin("the mean mass", lambda: slope_of_dual(1 - total(l, sp.exp((s[l] + mu) / tau - 1)) / m))


reprint(
    "eot.sB.deeper-reason",
    of=deeper_reason,
    latex=r"\text{the ``pure'' form of the argument, and the deeper reason}",
    statement="The conjugate is called the pure form of the argument, more fundamental than multipliers and the deeper "
    "reason why they work.",
)
