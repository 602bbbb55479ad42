"""Section 7, Corollary 7.5 and Remark 7.6: the Hessian of the potential is τF.

Claims     eot.cor7.5                    ∇²φ* = τF = (D − p pᵀ)/τ
           eot.s6.curvature              ∇²V = −τF
           eot.s7.fisher-scaled          M = τF, and not F/τ  (corrected)
           eot.s7.utility-product        Mu = −∇_s L, the direction of descent  (corrected)
           eot.s7.information-distance   d²/dt² KL(p(s) ‖ p_t) = vᵀM(s + tv)v/τ
           eot.s7.variance-reduced       ∇²φ* (u − b1) = ∇²φ* u for every b: nothing is sampled  (corrected)
Notation   φ* = τ log Z; V = −φ* the optimal value; M = (1/τ)(D − p pᵀ); F from its definition; p_t = softmax((s + tv)/τ)
References Corollary 7.5 of the document with its proof, and Remark 7.6
"""

import sympy as sp

from derivations.documents.eot import policy
from derivations.documents.eot.notation import expect, j, k, l, m, partition, s, softmax, tau, u
from derivations.documents.eot.section5_gradient import through_weights
from derivations.documents.eot.section5_remarks import LARGER_VARIANCE, descent
from derivations.documents.eot.section6_value import V, lse
from derivations.documents.eot.section7_fisher import covariance, fisher, p, v
from derivations.documents.eot.section7_natural import fisher_times_u
from derivations.vocabulary import *

t = positive("t")
M = covariance() / tau


def hessian(of: sp.Expr = lse) -> sp.Expr:
    """∂²/∂s_j∂s_k."""
    return derivative(derivative(of, s[j]), s[k])


def is_hessian(right: sp.Expr) -> Equation:
    """∂²φ*/∂s_j∂s_k = right."""
    return Equation(hessian(), right)


# ── Corollary 7.5 ───────────────────────────────────────────────────────────────────────────────────────────────────


@claim(
    "eot.cor7.5",
    "identity",
    title="The Hessian of the potential is τF",
    needs=("eot.103", "eot.104"),
    hypotheses=("τ > 0",),
    latex=r"\nabla^2_s\phi^\star(s)=\tau F(s)",
)
def dual_hessian() -> Steps:
    """The second derivatives of log-sum-exp are τ times the Fisher information matrix of the attention weights."""
    yield Equation(derivative(lse, s[j]), p(j), reason="eot.s6.potential-gradient")
    yield is_hessian(tau * fisher())


dual_hessian.twin("F/τ", lambda: is_hessian(fisher() / tau))
dual_hessian.twin("the sign", lambda: is_hessian(-tau * fisher()))


@claim("eot.100", "identity", title="∇²φ* = τF", needs=("eot.103", "eot.104"), latex=r"\nabla^2_s\phi^\star(s)=\tau F(s)")
def potential_hessian() -> Steps:
    """Entry by entry the Hessian of the potential is τ times that of the Fisher matrix."""
    yield is_hessian(tau * fisher())


potential_hessian.twin("F itself", lambda: is_hessian(fisher()))
potential_hessian.twin("τ²F", lambda: is_hessian(tau**2 * fisher()))


@claim(
    "eot.101",
    "identity",
    title="The Hessian is the Jacobian of attention",
    needs=("eot.s6.potential-gradient",),
    latex=r"\nabla^2_s\phi^\star=\frac{\partial p^\star}{\partial s}",
)
def attention_jacobian() -> Steps:
    """As the gradient of the potential is p*, its second derivatives are the first ones of p*."""
    yield is_hessian(derivative(p(j), s[k]))


attention_jacobian.twin("the sign", lambda: is_hessian(-derivative(p(j), s[k])))
attention_jacobian.twin("the logarithm's Jacobian", lambda: is_hessian(derivative(sp.log(p(j)), s[k])))


@claim(
    "eot.102",
    "identity",
    title="The Jacobian's entries",
    needs=("eot.101", "eot.59"),
    latex=r"\frac{\partial p^\star_j}{\partial s_k}=\tfrac1\tau p^\star_j(\delta_{jk}-p^\star_k)",
)
def jacobian_entries() -> Steps:
    """The entry in row j and column k is p_j(δ_jk − p_k)/τ; it is symmetric, so eot.59 gives it in either order."""
    yield Equation(derivative(p(k), s[j]), p(j) * (sp.KroneckerDelta(j, k) - p(k)) / tau, reason="eot.59, transposed")
    yield is_hessian(p(j) * (sp.KroneckerDelta(j, k) - p(k)) / tau)


jacobian_entries.twin("p_j for p_k", lambda: is_hessian(p(j) * (sp.KroneckerDelta(j, k) - p(j)) / tau))
jacobian_entries.twin("τ is lost", lambda: is_hessian(p(j) * (sp.KroneckerDelta(j, k) - p(k))))


@claim(
    "eot.103",
    "identity",
    title="The Hessian in matrix form",
    needs=("eot.102",),
    latex=r"\nabla^2_s\phi^\star(s)=\tfrac1\tau\left(\mathrm{diag}(p^\star)-p^\star(p^\star)^\top\right)",
)
def hessian_matrix() -> Steps:
    """The Hessian is diag(p) less the outer product of p with itself, over τ."""
    yield is_hessian(M)


hessian_matrix.twin("the outer product is added", lambda: is_hessian((2 * p(j) * sp.KroneckerDelta(j, k) - covariance()) / tau))
hessian_matrix.twin("1/τ²", lambda: is_hessian(covariance() / tau**2))


@claim(
    "eot.104",
    "identity",
    title="F recalled",
    needs=("eot.88",),
    latex=r"F(s)=\tfrac1{\tau^2}\left(\mathrm{diag}(p^\star)-p^\star(p^\star)^\top\right)",
)
def fisher_recalled() -> Steps:
    """The Fisher matrix of the optimal weights is the same matrix over τ²."""
    yield Equation(fisher(), covariance() / tau**2, reason="eot.88")


fisher_recalled.twin("1/τ", lambda: Equation(fisher(), covariance() / tau))
fisher_recalled.twin("the sign", lambda: Equation(fisher(), -covariance() / tau**2))


@claim(
    "eot.105",
    "identity",
    title="τ · F = ∇²φ*",
    needs=("eot.103", "eot.104"),
    latex=r"\tau F(s)=\tau\left[\tfrac1{\tau^2}\left(\mathrm{diag}(p^\star)-p^\star(p^\star)^\top\right)\right]"
    r"=\nabla^2_s\phi^\star(s)",
)
def compared() -> Steps:
    """τ times the Fisher matrix is τ times the matrix over τ², which is the Hessian."""
    yield Equation(tau * fisher(), tau * (covariance() / tau**2), reason="eot.104")
    yield Equation(tau * fisher(), hessian(), reason="eot.103")


compared.twin("the Hessian of V", lambda: Equation(tau * fisher(), hessian(V)))
compared.twin("the Hessian of log Z", lambda: Equation(tau * fisher(), hessian(sp.log(partition(s, tau)))))


# ── Remark 7.6 and what section 6 announced ─────────────────────────────────────────────────────────────────────────


@claim(
    "eot.s6.curvature",
    "identity",
    title="The curvature of the value is the geometry of learning",
    needs=("eot.cor7.5",),
    latex=r"\nabla^2_sV(s)=-\tau F(s)",
)
def value_curvature() -> Steps:
    """The landscape of optimal values is concave, and minus its Hessian is τ times the Fisher matrix."""
    yield Equation(hessian(V), -tau * fisher(), reason="V = −φ*")


value_curvature.twin("convex", lambda: Equation(hessian(V), tau * fisher()))
value_curvature.twin("τ is lost", lambda: Equation(hessian(V), -fisher()))


@claim(
    "eot.rem7.6",
    "identity",
    title="One matrix in three roles",
    needs=("eot.103", "eot.59", "eot.s6.curvature"),
    latex=r"M=\tfrac1\tau(\mathrm{diag}(p^\star)-p^\star p^{\star\top})=\nabla^2\phi^\star=-\nabla^2V"
    r"=\partial p^\star/\partial s",
)
def one_matrix() -> Steps:
    """The matrix is the Hessian of the potential, minus that of the value function, and the response of p* to the scores."""
    yield Equation(M, hessian(), reason="eot.103")
    yield Equation(M, -hessian(V), reason="so it gives the value function's curvature")
    yield Equation(M, derivative(p(j), s[k]), reason="and says how the weights respond")


one_matrix.twin("the response of log p", lambda: Equation(M, derivative(sp.log(p(j)), s[k])))
one_matrix.twin("τ times the response", lambda: Equation(M, tau * derivative(p(j), s[k])))


@claim(
    "eot.s7.fisher-scaled",
    "identity",
    title="M is the Fisher matrix scaled by 1/τ",
    needs=("eot.88",),
    latex=r"\tfrac1\tau(\mathrm{diag}(p^\star)-p^\star p^{\star\top})=\tau^{-1}F(s)",
    part_of="eot.rem7.6",
)
def scaled_fisher() -> Steps:
    """The matrix of Corollary 7.5 is said to be the Fisher information matrix, scaled by the reciprocal of τ."""
    yield Fails(
        Equation(M, fisher() / tau, at={m: 2, s.label: [0, 0], tau: 2, j: 1, k: 1}),
        reason="the corollary itself has the factor τ: M₁₁ = 1/8, F₁₁ = 1/16 (1/τ would fit information in s/τ)",
    )


@scaled_fisher.corrected(r"\tfrac1\tau(\mathrm{diag}(p^\star)-p^\star p^{\star\top})=\tau F(s)", Severity.SLIP)
def scaled_by_temperature() -> Steps:
    """The matrix is the Fisher information matrix scaled by τ."""
    yield Equation(M, tau * fisher(), reason="F = (D − p pᵀ)/τ²")


scaled_fisher.twin("F itself", lambda: Equation(M, fisher()))
scaled_fisher.twin("τ²F", lambda: Equation(M, tau**2 * fisher()))


def along(key: sp.Expr) -> sp.Expr:
    """s_j + t v_j."""
    return s[key] + t * v[key]


displaced = softmax(along, tau)


def divergence() -> sp.Expr:
    """KL(p ‖ p_t)."""
    return total(l, p(l) * (sp.log(p(l)) - sp.log(displaced(l))))


def displaced_length() -> sp.Expr:
    """vᵀM(s + tv)v."""
    mean = expect(displaced, v)
    return total(l, displaced(l) * (v[l] - mean) ** 2) / tau


@claim(
    "eot.s7.information-distance",
    "identity",
    title="The matrix measures the information distance",
    needs=("eot.88",),
    latex=r"\frac{d^2}{dt^2}\mathrm{KL}(p(s)\|p(s+tv))=\tfrac1\tau\,v^\top M(s+tv)\,v",
    part_of="eot.rem7.6",
)
def information_distance() -> Steps:
    """The divergence of the weights along any line in the scores has the squared length by M, over τ, as second derivative."""
    variance = total(l, p(l) * (v[l] - expect(p, v)) ** 2)
    yield Equation(total((j, k), v[j] * M * v[k]), variance / tau, reason="vᵀMv, at t = 0")
    yield Equation(total((j, k), v[j] * fisher(j, k) * v[k]), variance / tau**2, reason="vᵀFv = vᵀMv/τ: one metric but for τ")
    yield Equation(derivative(derivative(divergence(), t), t), displaced_length() / tau, reason="so KL = ½ t² vᵀMv/τ + O(t³)")


information_distance.twin(
    "half of it", lambda: Equation(derivative(derivative(divergence(), t), t), displaced_length() / tau / 2)
)
information_distance.twin(
    "without the factor 1/τ", lambda: Equation(derivative(derivative(divergence(), t), t), displaced_length())
)


def matrix_times_u() -> sp.Expr:
    """(Mu)_j."""
    return total(l, covariance(j, l) * u[l]) / tau


@claim(
    "eot.s7.utility-product",
    "identity",
    title="M times the utilities is the standard gradient",
    needs=("eot.94",),
    latex=r"\nabla_s\mathcal L=Mu",
    part_of="eot.rem7.6",
)
def utility_product() -> Steps:
    """The product of the matrix with the utilities is said to yield the gradient of the loss in the scores."""
    yield Fails(
        Equation(through_weights(), matrix_times_u(), at={m: 2, s.label: [0, 0], u.label: [0, 1], tau: 1, j: 1}),
        reason="the gradient is 1/4 there and the product −1/4",
    )


@utility_product.corrected(r"\nabla_s\mathcal L=-Mu", Severity.SLIP)
def minus_utility_product() -> Steps:
    """The product with the utilities is minus the gradient, the direction of descent."""
    yield Equation(through_weights(), -matrix_times_u(), reason="eot.94")


utility_product.twin("τ is lost", lambda: Equation(through_weights(), -tau * matrix_times_u()))
utility_product.twin("the mean is not subtracted", lambda: Equation(through_weights(), -p(j) * u[j] / tau))


@claim(
    "eot.s7.policy-gradient",
    "identity",
    title="The product is the policy gradient",
    needs=("eot.s5.expected-reward",),
    latex=r"Mu=\nabla_s\mathbb E_p[u]=\left[\tfrac1\tau p_jA_j\right]_j",
    part_of="eot.rem7.6",
)
def policy_gradient() -> Steps:
    """With the utilities held fixed, the matrix takes them to the gradient of their mean, weight times advantage over τ."""
    yield Equation(matrix_times_u(), p(j) / tau * (u[j] - expect(p, u)), reason="in advantage form")
    yield Equation(matrix_times_u(), derivative(expect(p, u), s[j]), reason="the gradient of the expected utility")


policy_gradient.twin(
    "the gradient of the uniform mean", lambda: Equation(matrix_times_u(), derivative(expect(lambda key: 1 / m, u), s[j]))
)
policy_gradient.twin("the sign", lambda: Equation(matrix_times_u(), -derivative(expect(p, u), s[j])))


@claim(
    "eot.s7.shared-geometry",
    "identity",
    title="One geometry, forward and backward",
    needs=("eot.cor7.5", "eot.79"),
    latex=r"-\nabla_s\mathcal L=(\nabla^2\phi^\star)\,u=\tau F\,u",
    part_of="eot.rem7.6",
)
def shared_geometry() -> Steps:
    """The Hessian of the forward problem's potential and τF, one matrix, turn the utilities into the backward update."""
    yield Equation(descent(), tau * fisher_times_u(), reason="the geometry of the distributions")
    yield Equation(descent(), total(k, hessian() * u[k]), reason="the geometry of the forward problem")


shared_geometry.twin("the sign", lambda: Equation(descent(), -total(k, hessian() * u[k])))
shared_geometry.twin("the Hessian of log Z", lambda: Equation(descent(), total(k, hessian(sp.log(partition(s, tau))) * u[k])))


@claim(
    "eot.s7.variance-reduced",
    "inequality",
    title="The geometry dictates a variance-reduced rule",
    latex=r"\mathrm{Var}[\text{with }\mathbb E_p[u]]\le\mathrm{Var}[\text{without}]",
    needs=("eot.s5.baseline-variance",),
    part_of="eot.rem7.6",
)
def variance_reduced() -> Steps:
    """The learning rule that the shared geometry dictates is called variance-reduced."""
    yield Fails(
        AtLeast(policy.variance_at(sp.S.Zero), policy.variance_at(policy.expected_utility()), at=LARGER_VARIANCE),
        reason="as an estimate from sampled keys the rule can have the larger variance, eot.s5.baseline-variance",
    )


def shifted(key: sp.Expr) -> sp.Expr:
    """u_j − b."""
    return u[key] - policy.baseline


def curved(utilities: Entry) -> sp.Expr:
    """(∇²φ* u)_j."""
    return total(k, hessian() * utilities(k))


@variance_reduced.corrected(
    r"(\nabla^2\phi^\star)(u-b\mathbf 1)=(\nabla^2\phi^\star)u", Severity.FATAL, replaces="the comparison of variances"
)
def baseline_free() -> Steps:
    """Nothing is sampled, and the matrix sends constants to zero: the update is the same with every baseline."""
    yield Equation(total(k, hessian()), 0, about=(s[j],), reason="Σ_k ∂p_j/∂s_k = 0")
    yield Equation(descent(shifted), curved(u), reason="so b drops out", about=(policy.baseline,))


variance_reduced.twin("the baseline survives", lambda: Equation(descent(shifted), curved(u) - policy.baseline * p(j) / tau))
variance_reduced.twin("the sign", lambda: Equation(descent(shifted), -curved(u)))


@claim(
    "eot.s7.references",
    "listing",
    title="The references (11), (22) and (33)",
    latex=r"(11),\ (22),\ (33)",
    part_of="eot.rem7.6",
)
def references() -> Undecidable:
    """The closing sentence refers to (11), (22) and (33) where it means the remark's items 1, 2 and 3."""
    return Undecidable(
        "the text at hand doubles the number of every list item, so it cannot show whether the print "
        "says 1, 2, 3; equations (11), (22) and (33) are about other things"
    )
