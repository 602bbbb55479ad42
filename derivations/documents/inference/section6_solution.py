"""Section 6 of the earlier version: the dual, the approximations, Theorem 2 and Corollary 1.

Claims     inference.thm1   λ* interior to {M < ∞}  ⟹  the minimizer is p̃_i = u_i exp⟨t_i, λ*⟩/M(λ*), and no other
           inference.15     M finite near 0  ⟹  log M(λ) = ⟨μ, λ⟩ + ½⟨λ, Σλ⟩ + κ₃(λ)/6 + O(‖λ‖⁴)
           inference.18     M finite near 0: λ* = αz − α²Σz + o(α²)  (corrected)
           inference.thm2   M finite near 0  ⟹  ĥ = ĥ(αz) − α²Σ²z + o(α²)
           inference.20     ĥ = Σ_i t_i u_i exp(α⟨t_i, z⟩)/Σ_j u_j exp(α⟨t_j, z⟩) − α²Σ²z + o(α²)  (corrected)
           inference.cor1   ĥ = (21) − Σ²z/τ + o(1/τ)  (corrected)
Notation   as in deciphering, section 6; tau = τ, with α = τ^(−1/2); v another distribution on the templates than u
References what both documents print is derived in `derivations.documents.deciphering`; here is what this one prints otherwise
"""

from fractions import Fraction

import sympy as sp

from derivations.documents.deciphering import section6_approximation as approximation
from derivations.documents.deciphering import section6_expansion as expansion
from derivations.documents.deciphering import section6_remarks as remarks
from derivations.documents.deciphering import section6_theorem1 as theorem
from derivations.documents.deciphering.notation import T, a, alpha, d, i, inner, k, lam, mean, mu, n, tilt, u, z
from derivations.documents.deciphering.section6_approximation import closed_form, error
from derivations.vocabulary import *

tau = positive("tau")
EXPONENT = r"\exp(\langle t_i,z\rangle/\sqrt\tau)"

ANY = ("u discrete, or continuous as in Section 7", "α > 0")
SMALL = ("u discrete, or continuous as in Section 7", "α > 0 is small enough")
GENERAL = {"general u": ANY[0]}
MOMENTS = {"u has bounded moments": ANY[0], "α is small": SMALL[1]}
DISCRETE = ("u is discrete with the support t_1, …, t_n", "α > 0 is small enough")

reprint(
    "inference.thm1",
    of=theorem.recovery,
    hypotheses=ANY,
    implying=GENERAL,
    latex=r"\lambda^*\in\arg\max(12)\implies\tilde p=\frac{u\,e^{\langle\cdot,\lambda^*\rangle}}"
    r"{\int u(a')e^{\langle a',\lambda^*\rangle}da'}\ \text{minimizes (6)}",
)
reprint(
    "inference.12",
    of=theorem.dual_problem,
    hypotheses=ANY,
    implying=GENERAL,
    latex=r"\max_\lambda\left\{\langle\lambda,\mu+z\rangle-\tfrac1{2\alpha}\|\lambda\|^2"
    r"-\log\int u(a)\exp\langle a,\lambda\rangle da\right\}",
)
reprint(
    "inference.13",
    of=theorem.recovered_minimizer,
    hypotheses=ANY,
    implying=GENERAL,
    latex=r"\tilde p(a)=\frac{u(a)\exp\langle a,\lambda^*\rangle}{\int u(a')\exp\langle a',\lambda^*\rangle da'}",
)

v = interior("v", n)


def other_tilt(template: sp.Expr) -> sp.Expr:
    """v_i e^⟨t_i, λ⟩/Σ_k v_k e^⟨t_k, λ⟩, for another distribution on the templates."""
    return v[template] * sp.exp(inner(template, lam)) / total(k, v[k] * sp.exp(inner(k, lam)))


def of_this_output(candidate: sp.Expr) -> Equation:
    """The minimizer's weight of a template, u_i^(k) being its preference for the output k, against another weight."""
    return Equation(theorem.tilted(i), candidate, reason="the weights of (12), in which u has its superscript")


@claim(
    "inference.s6.superscript",
    "identity",
    title="(13) has u where u of the output k is meant",
    part_of="inference.13",
    latex=r"\tilde p^{(k)}(a)=\frac{u(a)\exp\langle a,\lambda^*\rangle}{\int u(a')\exp\langle a',\lambda^*\rangle da'}",
    needs=("inference.12",),
)
def without_superscript() -> Steps:
    """The minimizer for the output k is written with a u that has no superscript, and is not defined in this section."""
    yield Fails(
        Equation(
            theorem.tilted(i),
            other_tilt(i),
            at={
                n: 2,
                d: 1,
                T.label: ((0,), (1,)),
                u.label: (Fraction(1, 2), Fraction(1, 2)),
                v.label: (Fraction(1, 4), Fraction(3, 4)),
                lam.label: (0,),
                i: 1,
            },
        ),
        reason="another u, such as that of another output, has another tilt",
    )


@without_superscript.corrected(
    r"\tilde p^{(k)}_i=\frac{u^{(k)}_ie^{\langle t_i,\lambda^*\rangle}}"
    r"{\sum_ju^{(k)}_je^{\langle t_j,\lambda^*\rangle}}",
    Severity.SLIP,
)
def with_superscript() -> Steps:
    """It is the preference of the same output that is tilted, as in (12) and (14)."""
    yield of_this_output(1 / total(k, u[k] / u[i] * sp.exp(inner(k, lam) - inner(i, lam))))


without_superscript.twin(
    "the ratio of the preferences is turned over",
    lambda: of_this_output(1 / total(k, u[i] / u[k] * sp.exp(inner(k, lam) - inner(i, lam)))),
)
without_superscript.twin(
    "the exponent's sign", lambda: of_this_output(1 / total(k, u[k] / u[i] * sp.exp(inner(i, lam) - inner(k, lam))))
)

reprint(
    "inference.14",
    of=theorem.estimate,
    hypotheses=ANY,
    implying=GENERAL,
    latex=r"\hat h=\int a\tilde p(a)da=\int a\frac{u(a)e^{\langle a,\lambda^*\rangle}}"
    r"{\int u(a')e^{\langle a',\lambda^*\rangle}da'}da",
)
reprint("inference.s6.closed-form", of=theorem.no_closed_form, latex=r"\lambda^*\text{ has no closed form in }\alpha,u,z")
reprint("inference.s6.mgf", of=expansion.generates_moments, latex=r"M(\lambda)=\mathbb E_u[\exp\langle W,\lambda\rangle]")
reprint("inference.s6.cumulant", of=expansion.called_cumulant, latex=r"\log M(\lambda)\text{ is called the cumulant of }W")


@claim(
    "inference.15",
    "asymptotic",
    title="Expansion of log M up to the third order",
    needs=("inference.s6.cumulant",),
    latex=r"\log M(\lambda)=\langle\mu,\lambda\rangle+\tfrac12\langle\lambda,\Sigma\lambda\rangle+O(\|\lambda\|^3)",
)
def third_order_remainder() -> Steps:
    """For any preference distribution log M is a quadratic with the mean and the covariance, up to O(‖λ‖³)."""
    yield from expansion.no_expansion()
    yield expansion.log_normal_exceeds()


@third_order_remainder.corrected(
    r"\log M(\lambda)=\langle\mu,\lambda\rangle+\tfrac12\langle\lambda,\Sigma\lambda\rangle+\tfrac16\kappa_3(\lambda)"
    r"+O(\|\lambda\|^4)",
    Severity.HYPOTHESIS,
    under=expansion.NEAR_0,
    replaces="the expansion for a log-normal law, which has none",
)
def third_order_remainder_for_finite_support() -> Steps:
    """Where M is finite near 0 the remainder is of third order, κ₃(λ)/6 + O(‖λ‖⁴)."""
    yield expansion.cumulants(expansion.square, expansion.cube)


third_order_remainder.twin("no term of third order", lambda: expansion.cumulants(expansion.square, sp.S.Zero))
third_order_remainder.twin("without 1/3!", lambda: expansion.cumulants(expansion.square, 6 * expansion.cube))

reprint("inference.s6.small-dual", of=remarks.small_dual, latex=r"\|\lambda^*\|\le\alpha\|z\|")
reprint(
    "inference.16",
    of=expansion.at_the_maximizer,
    latex=r"\log M(\lambda^*)\approx\langle\mu,\lambda^*\rangle+\tfrac12\langle\lambda^*,\Sigma\lambda^*\rangle",
)
reprint(
    "inference.s6.quadratic-model",
    of=expansion.quadratic_model,
    title="(16) in (12) leads to (17)",
    latex=r"\nabla_\lambda\{\langle\lambda,\mu+z\rangle-\tfrac1{2\alpha}\|\lambda\|^2-\langle\mu,\lambda\rangle"
    r"-\tfrac12\langle\lambda,\Sigma\lambda\rangle\}=0\iff\lambda=\alpha(I_d+\alpha\Sigma)^{-1}z",
)
reprint(
    "inference.17",
    of=approximation.with_covariance,
    latex=r"\lambda^*=\alpha(I_d+\alpha\Sigma)^{-1}z",
    hypotheses=SMALL,
    implying=MOMENTS,
)
reprint("inference.18", of=approximation.reduced, latex=r"\lambda^*=\alpha z", hypotheses=SMALL, implying=MOMENTS)
reprint(
    "inference.19",
    of=approximation.with_integral,
    hypotheses=SMALL,
    implying=MOMENTS,
    latex=r"\hat h=\int a\frac{u(a)\exp(\alpha\langle a,z\rangle)}{\int u(a')\exp(\alpha\langle a',z\rangle)da'}da",
)
reprint(
    "inference.s6.discrete",
    of=approximation.becomes_a_sum,
    latex=r"\int a\frac{u(a)\exp(\alpha\langle a,z\rangle)}{\int u(a')\exp(\alpha\langle a',z\rangle)da'}da"
    r"=\sum_it_i\frac{u_i\exp(\alpha\langle t_i,z\rangle)}{\sum_ju_j\exp(\alpha\langle t_j,z\rangle)}",
)
reprint(
    "inference.20",
    of=approximation.as_attention,
    hypotheses=DISCRETE,
    latex=r"\hat h=\sum_it_i\frac{u_i\exp(\alpha\langle t_i,z\rangle)}{\sum_ju_j\exp(\alpha\langle t_j,z\rangle)}",
)


@claim(
    "inference.thm2",
    "asymptotic",
    title="The closed form approximates the estimate",
    latex=r"\hat h\approx\int a\frac{u(a)e^{\alpha\langle a,z\rangle}}{M(\alpha z)}da",
    hypotheses=SMALL,
    needs=("inference.15", "inference.18"),
)
def any_preference() -> Steps:
    """For any preference distribution the estimate is approximated by the tilt by αz, once α is small enough."""
    yield from undefined_tilt()


def undefined_tilt() -> Steps:
    """For the log-normal law (19) has no value, however small α is."""
    yield from expansion.no_expansion()
    yield Fails(
        Limit(sp.exp(expansion.bound), expansion.k, sp.oo, sp.S.Zero, at={expansion.x: approximation.TINY}),
        reason="log-normal u, z = 1, x = α: these terms bound (19)'s denominator from below, for every α > 0, so (19) "
        "has no value; were it finite they would stay bounded",
    )


@any_preference.corrected(
    r"\hat h=\hat h(\alpha z)-\alpha^2\Sigma^2z+o(\alpha^2)",
    Severity.HYPOTHESIS,
    under=expansion.NEAR_0,
    replaces="the closed form for a log-normal law, which has no value",
)
def any_preference_near_zero() -> Steps:
    """Where M is finite near 0 the closed form differs from the estimate by α²Σ²z to leading order."""
    yield approximation.any_law()
    yield closed_form(error)


any_preference.twin("the sign of the error", lambda: closed_form(-error))
any_preference.twin("no error of order α²", lambda: closed_form(sp.S.Zero))


# ── Corollary 1 ─────────────────────────────────────────────────────────────────────────────────────────────────────


def attention(scale: sp.Expr) -> sp.Expr:
    """Σ_i t_i u_i e^(scale·⟨t_i, z⟩)/Σ_k u_k e^(scale·⟨t_k, z⟩)."""
    whole = total(k, u[k] * sp.exp(scale * inner(k, z)))
    return total(i, T[i, a] * u[i] * sp.exp(scale * inner(i, z)) / whole)


def rewritten(scale: sp.Expr) -> Equation:
    """(20) with α = τ^(−1/2) against Σ_i t_i u_i/Σ_k u_k exp(scale · ⟨t_k − t_i, z⟩)."""
    against = total(k, u[k] * sp.exp(scale * (inner(k, z) - inner(i, z))))
    return Equation(
        attention(alpha).xreplace({alpha: 1 / sp.sqrt(tau)}),
        total(i, T[i, a] * u[i] / against),
        reason="α = τ^(−1/2), and each weight over its own exponential",
    )


@claim(
    "inference.21",
    "identity",
    title="(20) with α = τ^(−1/2)",
    needs=("inference.20",),
    latex=r"\sum_it_i\frac{u_i" + EXPONENT + r"}{\sum_ju_j\exp(\langle t_j,z\rangle/\sqrt\tau)}",
)
def with_square_root() -> Steps:
    """Writing α as the reciprocal of √τ turns (20) into attention whose scores are divided by √τ."""
    yield rewritten(tau ** sp.Rational(-1, 2))


with_square_root.twin("τ for √τ", lambda: rewritten(1 / tau))
with_square_root.twin("√τ multiplies", lambda: rewritten(sp.sqrt(tau)))


def scaled_by_root(entry: sp.Expr) -> sp.Expr:
    """z_a/√τ for the z for which λ maximizes the dual with α = τ^(−1/2): λ_a + (ĥ(λ) − μ)_a/√τ."""
    return lam[entry] + (mean(theorem.tilted)(entry) - mu(entry)) / sp.sqrt(tau)


LARGE: dict[Variable, Value] = {
    n: 2,
    d: 1,
    T.label: ((0,), (1,)),
    u.label: (Fraction(1, 2), Fraction(1, 2)),
    lam.label: (Fraction(1, 100),),
    tau: 10000,
}
"""Templates 0 and 1 on the line, equally likely, τ = 10000, and the z near 1 for which λ* = 1/100."""


@claim(
    "inference.cor1",
    "asymptotic",
    title="For large τ the estimate equals attention with scores over √τ",
    needs=("inference.thm2", "inference.21"),
    hypotheses=("τ is large enough", "α = τ^(−1/2)"),
    latex=r"\hat h=\sum_it_i\frac{u_i" + EXPONENT + r"}{\sum_ju_j\exp(\langle t_j,z\rangle/\sqrt\tau)}",
)
def equals_for_large_tau() -> Steps:
    """For every large enough τ the best guess equals attention whose scores are divided by √τ."""
    yield Fails(
        Equation(mean(theorem.tilted)(a), mean(tilt(scaled_by_root))(a), at=LARGE),
        reason="no τ is large enough: equality needs ⟨t_i, z⟩ to be the same for all i (deciphering.s6.exact)",
    )


@equals_for_large_tau.corrected(
    r"\hat h=(21)-\tfrac1\tau\Sigma^2z+o(\tfrac1\tau)",
    Severity.SLIP,
    replaces="equality, by the first term of the difference as τ grows",
)
def approximates_for_large_tau() -> Steps:
    """As τ grows the best guess approaches (21), with the error −Σ²z/τ to leading order."""
    yield Limit(1 / sp.sqrt(tau), tau, sp.oo, sp.S.Zero, reason="α = τ^(−1/2) → 0, and α² = 1/τ")
    yield closed_form(error)


equals_for_large_tau.twin("the sign of the error", lambda: closed_form(-error))
equals_for_large_tau.twin("no error of order 1/τ", lambda: closed_form(sp.S.Zero))
