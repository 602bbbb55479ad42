"""Section 6.2, Theorem 6.3: the log-sum-exp function, the dual value, and the sign between them.

Claims     eot.thm6.3                  max_λ g(λ) = −φ*, λ* = τ − φ*, ∇φ* = softmax(s/τ)  (corrected)
           eot.s6.dual-value           max_λ g(λ) = −φ*(s) = V(s)  (corrected)
           eot.75                      Σ_j exp((s_j − φ)/τ) = 1  ⟺  φ = φ*
           eot.s6.potential-gradient   ∂φ*/∂s_k = p*_k
           eot.rem6.5                  φ* = sup ⟨p, s⟩ − τ Σ_j p_j log p_j over the simplex
Notation   φ = τ − λ, a multiplier in other words; φ* = τ log Z = τ log Σ_l exp(s_l/τ); g the dual function of the
           one-sided problem, λ* its maximizer; p > 0 not yet normalized, p and q (in a sum with kl) in the simplex
References Theorem 6.3 of the document with its proof, Remarks 6.4 and 6.5
"""

import sympy as sp

from derivations.documents.eot.notation import entropy, expect, j, k, l, lam, m, partition, s, tau
from derivations.documents.eot.section6_primer import best_multiplier, dual, stationary
from derivations.documents.eot.section6_value import V, free, lse, p, primal, star
from derivations.vocabulary import *

phi = scalar("φ")
Z = partition(s, tau)


# ── Theorem 6.3 ─────────────────────────────────────────────────────────────────────────────────────────────────────


def dual_optimum() -> Steps:
    """The dual function, its maximizer and what it falls short by elsewhere."""
    yield AtLeast(
        -lse,
        dual(lam),
        because=tau * kl(1, total(j, stationary(lam))),
        reason="g(λ) = τ − φ − τ exp((φ* − φ)/τ) ≤ −φ*, as e^x ≥ 1 + x",
    )
    yield Equation(
        dual(best_multiplier),
        best_multiplier - tau,
        reason="attained at λ* = τ − φ*: φ* is a multiplier, mirrored and shifted by τ",
    )


TWO_KEYS: dict[Variable, Value] = {m: 2, s.label: [0, 0], tau: 1}


@claim(
    "eot.thm6.3",
    "optimality",
    title="The optimal dual value is the log-sum-exp potential",
    hypotheses=("τ > 0",),
    needs=("eot.71", "eot.s6.dual-function"),
    latex=r"\max_\lambda g(\lambda)=\phi^\star(s)=\tau\log\sum_le^{s_l/\tau},\quad\nabla\phi^\star=p^\star",
)
def dual_potential() -> Steps:
    """The optimal value of the dual is said to be the log-sum-exp function, whose gradient is the attention distribution."""
    yield from dual_optimum()
    yield Equation(derivative(lse, s[j]), star(j), reason="the gradient is right")
    yield Fails(
        Equation(dual(best_multiplier), lse, at=TWO_KEYS),
        reason="two keys with score 0: the least J and the dual maximum are −log 2, and the log-sum-exp is log 2",
    )


@dual_potential.corrected(
    r"\max_\lambda g(\lambda)=-\phi^\star(s),\quad\lambda^\star=\tau-\phi^\star(s),\quad"
    r"\nabla\phi^\star=p^\star",
    Severity.SLIP,
)
def minus_the_potential() -> Steps:
    """The optimal dual value is minus the log-sum-exp function, and log-sum-exp has the attention weights as its gradient."""
    yield from dual_optimum()
    yield Equation(derivative(lse, s[j]), star(j), reason="∂φ*/∂s_j = p_j")
    yield Equation(dual(best_multiplier), -lse, reason="Σ_j exp((s_j + λ* − τ)/τ) = 1, so g(λ*) = λ* − τ")


dual_potential.twin("the multiplier itself", lambda: Equation(dual(best_multiplier), best_multiplier))
dual_potential.twin("the temperature is lost", lambda: Equation(dual(best_multiplier), -sp.log(Z)))


@claim(
    "eot.71",
    "identity",
    title="The log-sum-exp potential",
    needs=("eot.77",),
    latex=r"\phi^\star(s)=\tau\log\left(\sum_{l=1}^me^{s_l/\tau}\right)",
)
def potential() -> Steps:
    """Score less τ times the log-weight is the same number for every key, τ log Σ exp(s/τ)."""
    yield Equation(s[j] - tau * sp.log(star(j)), lse, reason="p_j = exp((s_j − φ*)/τ) solved for φ*")


def level_of(key: sp.Expr = j) -> sp.Expr:
    """s_j − τ log p*_j."""
    return s[key] - tau * sp.log(star(key))


potential.twin("the outer τ is lost", lambda: Equation(level_of(), sp.log(Z)))
potential.twin("a mean of exponentials", lambda: Equation(level_of(), tau * sp.log(Z / m)))


def lagrangian(level: sp.Expr) -> sp.Expr:
    """J(p, s) + λ(1 − Σ_j p_j) at any p > 0."""
    return primal(free) + level * (1 - total(j, free[j]))


def written_out(level: sp.Expr, strength: sp.Expr = tau) -> sp.Expr:
    """−Σ p_j s_j + τ Σ p_j log p_j + λ(1 − Σ p_j)."""
    terms = total(j, free[j] * (strength * sp.log(free[j]) - s[j]))
    return terms + level - level * total(j, free[j])


@claim(
    "eot.72",
    "identity",
    title="The Lagrangian in the scores",
    needs=("eot.65", "eot.7"),
    latex=r"\mathcal L(p,\lambda)=-\sum_jp_js_j+\tau\sum_jp_j\log p_j+\lambda\Bigl(1-\sum_jp_j\Bigr)",
)
def lagrange_function() -> Steps:
    """The objective plus λ times what is missing from total mass one, written as one sum over the keys and λ."""
    yield Equation(lagrangian(lam), written_out(lam), reason="eot.65, collected")


lagrange_function.twin("the multiplier's sign", lambda: Equation(lagrangian(lam), written_out(-lam)))
lagrange_function.twin("τ is lost", lambda: Equation(lagrangian(lam), written_out(lam, sp.S.One)))


@claim(
    "eot.73",
    "equivalence",
    title="From the multiplier to the potential",
    latex=r"\phi\triangleq\tau-\lambda\iff\lambda=\tau-\phi",
)
def reparameterized() -> Steps:
    """Mirroring and shifting by τ is its own inverse: one equation holds exactly when the other does."""
    yield replaced(tau - phi, phi - (tau - lam))


def replaced(level: sp.Expr, residual: sp.Expr) -> Equation:
    """The change of the Lagrangian if another level replaces λ."""
    return Equation(
        lagrangian(lam) - lagrangian(level),
        residual * (1 - total(j, free[j])),
        reason="λ may be replaced by τ − φ where λ = τ − φ, and there the residual of φ = τ − λ is 0",
    )


reparameterized.twin("λ = φ − τ", lambda: replaced(phi - tau, phi - (tau - lam)))
reparameterized.twin("λ = τ + φ", lambda: replaced(tau + phi, phi - (tau - lam)))


def slope() -> sp.Expr:
    """∂L/∂p_j with λ = τ − φ."""
    return derivative(lagrangian(tau - phi), free[j])


@claim(
    "eot.74",
    "equivalence",
    title="Stationarity in the potential",
    needs=("eot.10", "eot.73"),
    latex=r"-s_j+\tau(\log p_j+1)-(\tau-\phi)=0\implies p_j=e^{(s_j-\phi)/\tau}",
)
def stationary_in_potential() -> Steps:
    """With λ = τ − φ stationarity says that the weight is the exponential of (s_j − φ)/τ."""
    yield Equation(slope(), -s[j] + tau * (sp.log(free[j]) + 1) - (tau - phi), reason="eot.10 with λ = τ − φ")
    yield Equation(
        slope(), tau * (sp.log(free[j]) - sp.log(sp.exp((s[j] - phi) / tau))), reason="one vanishes iff the other does"
    )


def solved_by(exponent: sp.Expr) -> Equation:
    """The slope vanishes exactly at log p_j = exponent."""
    return Equation(slope(), tau * (sp.log(free[j]) - exponent))


stationary_in_potential.twin("the sign of φ", lambda: solved_by((s[j] + phi) / tau))
stationary_in_potential.twin("the shift by τ is forgotten", lambda: solved_by((s[j] - phi) / tau - 1))


def total_mass(level: sp.Expr) -> sp.Expr:
    """Σ_j exp((s_j − φ)/τ)."""
    return total(j, sp.exp((s[j] - level) / tau))


@claim("eot.75", "equivalence", title="The potential normalizes", needs=("eot.74",), latex=r"\sum_je^{(s_j-\phi^\star)/\tau}=1")
def normalizes() -> Steps:
    """The weights exp((s_j − φ)/τ) sum to one at φ = φ*, and at other φ to exp((φ* − φ)/τ), so at no other φ."""
    yield Equation(total_mass(lse), 1, reason="φ* = τ log Z", about=(s[j],))
    yield Equation(total_mass(phi), sp.exp((lse - phi) / tau), reason="decreasing in φ, so 1 only at φ = φ*")


normalizes.twin("the sign of φ", lambda: Equation(total_mass(phi), sp.exp((lse + phi) / tau)))
normalizes.twin("the mean is 1 at φ*", lambda: Equation(total_mass(phi), m * sp.exp((lse - phi) / tau)))


@claim(
    "eot.76",
    "equivalence",
    title="The potential leaves the sum",
    needs=("eot.75",),
    latex=r"e^{-\phi^\star/\tau}\sum_je^{s_j/\tau}=1",
)
def leaves_the_sum() -> Steps:
    """The factor with the potential is common to all terms."""
    yield Equation(sp.exp(-lse / tau) * Z, 1, about=(s[j],), reason="at φ*")
    yield Equation(total_mass(phi), sp.exp(-phi / tau) * Z, reason="exp((s_j − φ)/τ) = exp(−φ/τ) exp(s_j/τ)")


leaves_the_sum.twin("the sign", lambda: Equation(total_mass(phi), sp.exp(phi / tau) * Z))
leaves_the_sum.twin("τ is lost", lambda: Equation(total_mass(phi), sp.exp(-phi) * Z))


@claim(
    "eot.77",
    "equivalence",
    title="Solved for the potential",
    needs=("eot.76",),
    latex=r"\phi^\star(s)=\tau\log\Bigl(\sum_je^{s_j/\tau}\Bigr)",
)
def solved_for_potential() -> Steps:
    """τ times the logarithm of the mass at any φ is the distance of φ from the log-sum-exp function."""
    yield Equation(tau * sp.log(total_mass(phi)), lse - phi, reason="so the mass is 1 iff φ is the log-sum-exp")


def logarithm_of_mass() -> sp.Expr:
    """τ log Σ_j exp((s_j − φ)/τ)."""
    return tau * sp.log(total_mass(phi))


solved_for_potential.twin("the sign", lambda: Equation(logarithm_of_mass(), -lse - phi))
solved_for_potential.twin("the outer τ is lost", lambda: Equation(logarithm_of_mass(), sp.log(Z) - phi))


@claim(
    "eot.s6.potential-gradient",
    "identity",
    title="The potential's gradient is p*",
    needs=("eot.71",),
    latex=r"\frac{\partial\phi^\star}{\partial s_k}=\tau\cdot\frac1{\sum_le^{s_l/\tau}}\cdot\tfrac1\tau e^{s_k/\tau}"
    r"=p^\star_k(s)",
)
def potential_gradient() -> Steps:
    """By the chain rule each slope of the log-sum-exp function is a weight."""
    yield Equation(derivative(lse, s[k]), tau / Z * (sp.exp(s[k] / tau) / tau), reason="chain rule")
    yield Equation(derivative(lse, s[k]), star(k), reason="τ cancels")


potential_gradient.twin("τ does not cancel", lambda: Equation(derivative(lse, s[k]), star(k) / tau))
potential_gradient.twin("the sign", lambda: Equation(derivative(lse, s[k]), -star(k)))


# ── Remarks 6.4 and 6.5 ─────────────────────────────────────────────────────────────────────────────────────────────


@claim(
    "eot.rem6.4",
    "identity",
    title="The potential is minus the primal value",
    needs=("eot.71", "eot.66"),
    latex=r"\phi^\star(s)=-V(s)",
)
def minus_the_value() -> Steps:
    """The log-sum-exp function is the negative of the least objective value."""
    yield Equation(lse, -V, reason="J(p*, s) = Σ_j p_j (τ log p_j − s_j) = −φ* Σ_j p_j")


minus_the_value.twin("V itself", lambda: Equation(lse, V))
minus_the_value.twin("the mean score alone", lambda: Equation(lse, expect(star, s)))


@claim(
    "eot.s6.dual-value",
    "optimality",
    title="The log-sum-exp function is the optimal value of the dual problem",
    latex=r"d^*=\phi^\star(s)",
    needs=("eot.s6.strong-duality", "eot.rem6.4"),
    part_of="eot.rem6.4",
)
def dual_value() -> Steps:
    """Log-sum-exp is called the optimal value of the dual problem and, by strong duality, minus the primal value."""
    yield from dual_optimum()
    yield Equation(dual(best_multiplier), V, reason="strong duality is d* = V; with φ* = −V both can hold only where V = 0")
    yield Fails(Equation(dual(best_multiplier), lse, at=TWO_KEYS), reason="d* = −log 2 for two keys with score 0")


@dual_value.corrected(r"d^*=-\phi^\star(s)=V(s)", Severity.SLIP)
def minus_log_sum_exp() -> Steps:
    """The optimal value of the dual, a maximum, is minus log-sum-exp and equals the primal value."""
    yield from dual_optimum()
    yield Equation(dual(best_multiplier), V, reason="strong duality")
    yield Equation(dual(best_multiplier), -lse, reason="and V = −φ*")


dual_value.twin("the multiplier itself", lambda: Equation(dual(best_multiplier), best_multiplier))
dual_value.twin("the negative entropy alone", lambda: Equation(dual(best_multiplier), -tau * entropy(star)))


@claim(
    "eot.rem6.5",
    "optimality",
    title="Log-sum-exp is a convex conjugate",
    needs=("eot.71",),
    latex=r"\phi^\star(s)=\sup_{p\in\Delta^{m-1}}\left(\langle p,s\rangle-\Omega(p)\right),\ "
    r"\Omega(p)=\tau\sum_jp_j\log p_j",
)
def convex_conjugate() -> Steps:
    """The potential is the conjugate of τ times the negative entropy, restricted to the simplex."""
    yield AtLeast(
        lse,
        total(j, p[j] * s[j]) - tau * total(j, xlogx(p[j])),
        because=tau * total(j, kl(p[j], star(j))),
        reason="an upper bound, by τ KL(p ‖ p*)",
    )
    yield Equation(expect(star, s) + tau * entropy(star), lse, reason="attained at p*")


convex_conjugate.twin(
    "the conjugate of the entropy without τ",
    lambda: Equation(expect(star, s) + tau * entropy(star), sp.log(total(l, sp.exp(s[l])))),
)
convex_conjugate.twin(
    "without the constraint", lambda: Equation(expect(star, s) + tau * entropy(star), tau * total(l, sp.exp(s[l] / tau - 1)))
)


@claim(
    "eot.s6.no-accident",
    "equivalence",
    title="Too perfect to be an accident of softmax's derivative",
    needs=("eot.64",),
    latex=r"\text{the rule is no accident of } \partial\,\mathrm{softmax}",
)
def no_accident() -> Undecidable:
    """The learning rule is said to seem too perfect to be an accident of the derivative of softmax."""
    return Undecidable(
        "an impression; the rule is that derivative times the utilities (eot.64), whatever problem softmax "
        "solves, and what geometry adds to this is judged in eot.s8.landscape"
    )


@claim(
    "eot.s6.deeper-reason",
    "equivalence",
    title="Conjugates are more fundamental than multipliers",
    needs=("eot.rem6.5",),
    latex=r"\text{the conjugate is the deeper reason}",
)
def deeper_reason() -> Undecidable:
    """Duality by multipliers is called procedural, the conjugate a more fundamental operation and a deeper reason."""
    return Undecidable("no order of depth is stated; both give the same function and the same maximizer (eot.remB.5)")
