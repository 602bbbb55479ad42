"""Section 7, Theorem 7.3: the score gradient is −τFu, and what a natural gradient can mean where F has no inverse.

Claims     eot.79       ∇_s L = −τFu
           eot.thm7.3   Δ_j − Δ_k = τ(u_j − u_k) for Δ the natural gradient, up to a constant added to all scores
           eot.99       −F⁺(−τFu) = τ(u − ū1)  (corrected)
Notation   F from its definition; F⁺ = τ² Π D⁻¹ Π its Moore-Penrose inverse, Π = I − 11ᵀ/m, D = diag(p); E[u] = Σ_k p_k u_k;
           ū = (1/m) Σ_k u_k; ∂L/∂s_j = −Σ_k u_k ∂p_k/∂s_j; G any matrix
References Theorem 7.3 of the document with its proof, and Remark 7.4; Amari (1998); Penrose (1955)
"""

import sympy as sp

from derivations.documents.eot.notation import expect, j, k, l, m, s, tau, u
from derivations.documents.eot.section5_gradient import through_weights
from derivations.documents.eot.section7_fisher import covariance, fisher, p
from derivations.vocabulary import *

a, b = index("a", m), index("b", m)
G = vector("G", m, m)
shift = scalar("t")


def gradient(key: sp.Expr = j, utilities: Entry = u) -> sp.Expr:
    """∂L/∂s_j = −Σ_l u_l ∂p_l/∂s_j."""
    return -total(l, utilities(l) * derivative(p(l), s[key]))


def fisher_times_u(key: sp.Expr = j) -> sp.Expr:
    """(Fu)_j."""
    return total(a, fisher(key, a) * u[a])


def centring(row: sp.Expr, column: sp.Expr) -> sp.Expr:
    """Π_jk = δ_jk − 1/m."""
    return delta(row, column) - 1 / m


def pseudo_inverse(row: sp.Expr, column: sp.Expr) -> sp.Expr:
    """F⁺_jk = τ² (Π D⁻¹ Π)_jk."""
    return tau**2 * total(b, centring(row, b) * centring(b, column) / p(b))


def natural(key: sp.Expr = j) -> sp.Expr:
    """−(F⁺∇L)_j."""
    return -total(a, pseudo_inverse(key, a) * gradient(a))


def average(of: Entry = u) -> sp.Expr:
    """ū = (1/m) Σ_k u_k."""
    return total(k, of(k)) / m


def penrose() -> Steps:
    """FF⁺ = F⁺F = Π, symmetric, with ΠF = F and F⁺Π = F⁺: the four conditions that single out F⁺."""
    yield Equation(total(a, fisher(a, k)), 0, about=(s[k], tau), reason="1ᵀF = 0, so ΠF = F")
    yield Equation(total(a, pseudo_inverse(j, a)), 0, about=(s[j], tau), reason="F⁺1 = 0, so F⁺Π = F⁺")
    yield Equation(total(a, fisher(j, a) * pseudo_inverse(a, k)), centring(j, k), reason="so FF⁺ = Π is symmetric, FF⁺F = F")
    yield Equation(undone(), centring(j, k), reason="F⁺F = Π is symmetric, F⁺FF⁺ = F⁺: F⁺ is the Moore-Penrose inverse")


def undone() -> sp.Expr:
    """(F⁺F)_jk."""
    return total(a, pseudo_inverse(j, a) * fisher(a, k))


# ── Theorem 7.3 ─────────────────────────────────────────────────────────────────────────────────────────────────────

TWO_KEYS: dict[Variable, Value] = {m: 2, s.label: [0, 0], u.label: [0, 1], tau: 1, j: 1}


@claim(
    "eot.thm7.3",
    "identity",
    title="Standard and natural gradient",
    needs=("eot.79", "eot.98"),
    hypotheses=("τ > 0",),
    latex=r"\nabla_s\mathcal L=-\tau F(s)u,\quad\Delta s_{\mathrm{nat}}\propto u",
)
def natural_gradient() -> Steps:
    """The score gradient is −τFu, and the natural gradient, in which F is undone, is said to point along the utilities."""
    yield Equation(gradient(), -tau * fisher_times_u(), reason="the first half is true, eot.79")
    yield Fails(
        Equation(natural(), tau * u[j], at=TWO_KEYS),
        reason="F is singular; for u = (0, 1) its Moore-Penrose inverse gives (−1/2, 1/2), no multiple of u",
    )


@natural_gradient.corrected(
    r"\nabla_s\mathcal L=-\tau Fu,\quad\Delta_j-\Delta_k=\tau(u_j-u_k)",
    Severity.HYPOTHESIS,
    under="score directions that differ by a constant vector are identified",
    replaces="the natural gradient, by its differences between keys",
)
def natural_gradient_modulo_constants() -> Steps:
    """The natural gradient has the utilities' differences times τ; a constant added to all scores changes no weight."""
    yield Equation(gradient(), -tau * fisher_times_u(), reason="eot.79")
    yield Equation(total(k, derivative(p(j), s[k]) * shift), 0, about=(s[j],), reason="a constant direction moves no weight")
    yield Equation(natural(j) - natural(k), tau * (u[j] - u[k]), reason="Δ = τ(u − ū)")


def natural_difference(right: sp.Expr) -> Equation:
    """Δ_j − Δ_k against something else."""
    return Equation(natural(j) - natural(k), right)


natural_gradient.twin("the sign", lambda: natural_difference(-tau * (u[j] - u[k])))
natural_gradient.twin("τ is lost", lambda: natural_difference(u[j] - u[k]))
natural_gradient.twin("weighted by p", lambda: natural_difference(tau * (p(j) * u[j] - p(k) * u[k])))


@claim("eot.79", "identity", title="The gradient is −τFu", needs=("eot.88", "eot.46"), latex=r"\nabla_s\mathcal L=-\tau F(s)u")
def gradient_by_fisher() -> Steps:
    """The gradient of the loss in the scores is minus τ times the Fisher matrix applied to the utilities."""
    yield Equation(through_weights(), -tau * fisher_times_u(), reason="F = (D − p pᵀ)/τ² is the Jacobian over τ")


gradient_by_fisher.twin("the sign", lambda: Equation(through_weights(), tau * fisher_times_u()))
gradient_by_fisher.twin("1/τ for τ", lambda: Equation(through_weights(), -fisher_times_u() / tau))


# ── the gradient in matrix form ─────────────────────────────────────────────────────────────────────────────────────


def mean() -> sp.Expr:
    """E[u] = Σ_k p_k u_k."""
    return expect(p, u)


def diagonal_times_u() -> sp.Expr:
    """(Du)_j."""
    return total(a, p(j) * delta(j, a) * u[a])


def outer_times_u() -> sp.Expr:
    """(p pᵀu)_j."""
    return total(a, p(j) * p(a) * u[a])


def covariance_times_u() -> sp.Expr:
    """((D − p pᵀ)u)_j."""
    return total(a, covariance(j, a) * u[a])


def is_gradient(right: sp.Expr) -> Equation:
    """∂L/∂s_j = right."""
    return Equation(through_weights(), right)


@claim(
    "eot.89",
    "identity",
    title="Theorem 5.2 once more",
    needs=("eot.thm5.2",),
    latex=r"\frac{\partial\mathcal L}{\partial s_j}=-\frac{p_j}\tau\left(u_j-\mathbb E_p[u]\right)",
)
def advantage_form() -> Steps:
    """Each entry of the gradient is minus the weight over τ times the advantage."""
    yield is_gradient(-p(j) / tau * (u[j] - mean()))


advantage_form.twin("the sign", lambda: is_gradient(p(j) / tau * (u[j] - mean())))
advantage_form.twin("a plain mean", lambda: is_gradient(-p(j) / tau * (u[j] - average())))


@claim(
    "eot.90",
    "identity",
    title="As a vector",
    needs=("eot.89",),
    latex=r"\nabla_s\mathcal L=-\tfrac1\tau\left[p_j(u_j-\mathbb E[u])\right]_{j=1}^m",
)
def as_vector() -> Steps:
    """−1/τ is common to all entries."""
    yield is_gradient(-(p(j) * (u[j] - mean())) / tau)


as_vector.twin("τ for 1/τ", lambda: is_gradient(-tau * p(j) * (u[j] - mean())))
as_vector.twin("the weight is lost", lambda: is_gradient(-(u[j] - mean()) / tau))


@claim(
    "eot.91",
    "identity",
    title="Two vectors",
    needs=("eot.90",),
    latex=r"=-\tfrac1\tau\left([p_ju_j]_j-\mathbb E[u]\,[p_j]_j\right)",
)
def two_vectors() -> Steps:
    """The weighted utilities less the mean utility times the weights."""
    yield is_gradient(-(p(j) * u[j] - mean() * p(j)) / tau)


two_vectors.twin("a sum", lambda: is_gradient(-(p(j) * u[j] + mean() * p(j)) / tau))
two_vectors.twin("the second vector is 1", lambda: is_gradient(-(p(j) * u[j] - mean()) / tau))


@claim("eot.92", "identity", title="The mean is pᵀu", needs=("eot.91",), latex=r"=-\tfrac1\tau(\mathrm{diag}(p)u-(p^\top u)p)")
def inner_product() -> Steps:
    """The first vector is diag(p) applied to u, the second p times the inner product of p and u."""
    yield is_gradient(-(diagonal_times_u() - total(a, p(a) * u[a]) * p(j)) / tau)


inner_product.twin("(pᵀp)u", lambda: is_gradient(-(diagonal_times_u() - total(a, p(a) ** 2) * u[j]) / tau))
inner_product.twin("the second term alone", lambda: is_gradient(total(a, p(a) * u[a]) * p(j) / tau))


@claim("eot.93", "identity", title="(pᵀu)p = ppᵀu", needs=("eot.92",), latex=r"=-\tfrac1\tau(Du-pp^\top u)")
def outer_product() -> Steps:
    """The scalar pᵀu may stand on the other side of p, which makes an outer product."""
    yield is_gradient(-(diagonal_times_u() - outer_times_u()) / tau)


outer_product.twin("a sum", lambda: is_gradient(-(diagonal_times_u() + outer_times_u()) / tau))
outer_product.twin("u for Du", lambda: is_gradient(-(u[j] - outer_times_u()) / tau))


@claim("eot.94", "identity", title="One matrix", needs=("eot.93",), latex=r"=-\tfrac1\tau(D-pp^\top)u")
def one_matrix() -> Steps:
    """Both matrices are applied to u."""
    yield is_gradient(-covariance_times_u() / tau)


one_matrix.twin("the sign", lambda: is_gradient(covariance_times_u() / tau))
one_matrix.twin("τ is lost", lambda: is_gradient(-covariance_times_u()))


@claim(
    "eot.95", "identity", title="The gradient recalled", needs=("eot.94",), latex=r"\nabla_s\mathcal L=-\tfrac1\tau(D-pp^\top)u"
)
def recalled() -> Steps:
    """The covariance of the one-hot choice, over τ, takes the utilities to minus the gradient."""
    yield is_gradient(-covariance_times_u() / tau)


recalled.twin("D alone", lambda: is_gradient(-diagonal_times_u() / tau))
recalled.twin("one over τ²", lambda: is_gradient(-covariance_times_u() / tau**2))


@claim("eot.96", "identity", title="D − ppᵀ is τ²F", needs=("eot.95", "eot.88"), latex=r"=-\tfrac1\tau(\tau^2F(s))u")
def fisher_inserted() -> Steps:
    """The matrix is τ² times the Fisher matrix."""
    yield is_gradient(-(tau**2 * fisher_times_u()) / tau)


fisher_inserted.twin("τ for τ²", lambda: is_gradient(-(tau * fisher_times_u()) / tau))
fisher_inserted.twin("1/τ²", lambda: is_gradient(-(fisher_times_u() / tau**2) / tau))


@claim("eot.97", "identity", title="τ²/τ = τ", needs=("eot.96",), latex=r"=-\tau F(s)u")
def one_temperature() -> Steps:
    """One factor τ remains."""
    yield is_gradient(-tau * fisher_times_u())


one_temperature.twin("the sign", lambda: is_gradient(tau * fisher_times_u()))
one_temperature.twin("τ²", lambda: is_gradient(-(tau**2) * fisher_times_u()))


# ── the natural gradient ────────────────────────────────────────────────────────────────────────────────────────────


@claim(
    "eot.98",
    "definition",
    title="The natural gradient by the inverse of F",
    needs=("eot.88",),
    latex=r"\Delta s_{\mathrm{nat}}\propto-F^{-1}\nabla_s\mathcal L",
)
def inverse_of_fisher() -> Steps:
    """The natural gradient is defined with the inverse of F, so a matrix G with FG = I is needed."""
    product = total((j, k), total(a, fisher(j, a) * G[a, k]))
    yield Equation(total(j, fisher(j, a)), 0, about=(s[a],), reason="1ᵀF = 0")
    yield Equation(product, 0, about=(s[j],), reason="so 1ᵀ(FG)1 = 0 for every matrix G, every m and s")
    yield Fails(
        Equation(product, total((j, k), delta(j, k)), at={m: 2, s.label: [0, 0], tau: 1, G.label: [[1, 0], [0, 1]]}),
        reason="and 1ᵀI1 = m: no matrix is the inverse of F",
    )


@inverse_of_fisher.corrected(
    r"\Delta s_{\mathrm{nat}}\propto-F^+\nabla_s\mathcal L,\quad F^+=\tau^2\,\Pi D^{-1}\Pi,\ "
    r"\Pi=I-\tfrac1m\mathbf 1\mathbf 1^\top",
    Severity.HYPOTHESIS,
    replaces="the inverse of F",
)
def pseudo_inverse_of_fisher() -> Steps:
    """F has a Moore-Penrose inverse, τ² times the centred diag(1/p), with which the definition makes sense for every m."""
    yield from penrose()


inverse_of_fisher.twin("the identity", lambda: Equation(undone(), delta(j, k)))
inverse_of_fisher.twin("the projection by p", lambda: Equation(undone(), delta(j, k) - p(k)))


@claim(
    "eot.99",
    "identity",
    title="F⁻¹ undoes F",
    needs=("eot.98", "eot.97"),
    latex=r"\Delta s_{\mathrm{nat}}\propto-F^{-1}(-\tau Fu)=\tau u",
)
def natural_direction() -> Steps:
    """Applying the inverse of F to −∇L = τFu is said to return τu."""
    yield Fails(
        Equation(natural(), tau * u[j], at=TWO_KEYS),
        reason="F has no inverse, eot.98, and F⁺F is not I but Π, which takes the mean off: (−1/2, 1/2) for u = (0, 1)",
    )


@natural_direction.corrected(r"-F^+(-\tau Fu)=\tau(u-\bar u\mathbf 1),\quad\bar u=\tfrac1m\sum_ku_k", Severity.HYPOTHESIS)
def centred_utilities() -> Steps:
    """The natural gradient is τ times the utilities less their plain mean, which the attention weights do not enter."""
    yield Equation(natural(), tau * (u[j] - average()), reason="F⁺F = Π, eot.98")


natural_direction.twin("the mean under p", lambda: Equation(natural(), tau * (u[j] - mean())))
natural_direction.twin("the sign", lambda: Equation(natural(), -tau * (u[j] - average())))


@claim(
    "eot.s7.direction",
    "identity",
    title="The natural gradient changes the weights as u does",
    needs=("eot.98", "eot.59"),
    latex=r"\sum_k\frac{\partial p_j}{\partial s_k}(\Delta s_{\mathrm{nat}})_k=p_jA_j"
    r"=\sum_k\frac{\partial p_j}{\partial s_k}\,\tau u_k",
)
def moves_like_utilities() -> Steps:
    """On the manifold of distributions the natural gradient and τu are one direction: p_j changes by p_j(u_j − E_p[u])."""
    along_u = total(k, derivative(p(j), s[k]) * tau * u[k])
    yield Equation(along_u, p(j) * (u[j] - mean()), reason="the change of p along τu")
    yield Equation(pushed(), p(j) * (u[j] - mean()), reason="the change of p along −F⁺∇L: the constants drop out")


def pushed() -> sp.Expr:
    """Σ_k ∂p_j/∂s_k Δ_k."""
    return total(k, derivative(p(j), s[k]) * natural(k))


moves_like_utilities.twin("as along the gradient", lambda: Equation(pushed(), p(j) ** 2 / tau**2 * (u[j] - mean())))
moves_like_utilities.twin("the mean is plain", lambda: Equation(pushed(), p(j) * (u[j] - average())))


# ── Remark 7.4 ──────────────────────────────────────────────────────────────────────────────────────────────────────


def apart() -> sp.Expr:
    """‖τFu + ∇L‖²."""
    return total(j, (tau * fisher_times_u() + gradient()) ** 2)


@claim(
    "eot.rem7.4",
    "inequality",
    title="Backpropagation is not Euclidean gradient descent",
    needs=("eot.79",),
    latex=r"\tau F(s)u\ne-\nabla_s\mathcal L",
)
def not_euclidean() -> Steps:
    """The update of backpropagation is called no simple Euclidean gradient descent but a manifold-aware rule."""
    yield Fails(
        AtLeast(apart(), 0, strict=True, at={m: 2, s.label: [0, 0], u.label: [0, 1], tau: 1}),
        reason="τFu is the Euclidean gradient in the scores, here (−1/4, 1/4); it contains F because softmax does",
    )


@not_euclidean.corrected(r"\tau F(s)u=-\nabla_s\mathcal L", Severity.FATAL, replaces="the denial that both are one")
def euclidean() -> Steps:
    """The update is the Euclidean gradient in s: it applies F where a manifold-aware rule would undo it."""
    yield Equation(tau * fisher_times_u(), -gradient(), reason="eot.79")


not_euclidean.twin("the natural gradient", lambda: Equation(tau * fisher_times_u(), tau * (u[j] - average())))
not_euclidean.twin("the sign", lambda: Equation(tau * fisher_times_u(), gradient()))


@claim(
    "eot.s7.softmax-derivative",
    "identity",
    title="Softmax's derivative is F up to a scalar",
    needs=("eot.88", "eot.59"),
    latex=r"\frac{\partial p_j}{\partial s_k}=\tau F_{jk}=\tfrac1\tau(D-pp^\top)_{jk}",
    part_of="eot.rem7.4",
)
def softmax_derivative() -> Steps:
    """The Jacobian that backpropagation multiplies by is τ times the Fisher matrix, so F is applied implicitly."""
    yield Equation(derivative(p(j), s[k]), covariance() / tau, reason="eot.59")
    yield Equation(derivative(p(j), s[k]), tau * fisher(), reason="eot.88")


softmax_derivative.twin("F itself", lambda: Equation(derivative(p(j), s[k]), fisher()))
softmax_derivative.twin("over τ", lambda: Equation(derivative(p(j), s[k]), fisher() / tau))


@claim(
    "eot.s7.preconditioned",
    "identity",
    title="The gradient is the ideal direction, preconditioned with F",
    latex=r"-\nabla_s\mathcal L=F\cdot(\tau u)",
    needs=("eot.79",),
    part_of="eot.rem7.4",
)
def preconditioned() -> Steps:
    """F applied to τ times the utilities is the descent direction, and a constant added to the utilities changes nothing."""
    yield Equation(total(a, fisher(j, a) * shift), 0, about=(s[j],), reason="F1 = 0")
    yield Equation(-gradient(), total(a, fisher(j, a) * tau * (u[a] + shift)), reason="eot.79")


preconditioned.twin("the sign", lambda: Equation(-gradient(), -total(a, fisher(j, a) * tau * u[a])))
preconditioned.twin("D for F", lambda: Equation(-gradient(), p(j) * u[j] / tau))


w = vector("v", m)


@claim(
    "eot.s7.dual",
    "identity",
    title="The gradient is dual to the natural gradient",
    needs=("eot.98",),
    latex=r"(\Delta s_{\mathrm{nat}})^\top F\,v=-(\nabla_s\mathcal L)^\top v",
    part_of="eot.rem7.4",
)
def dual_to_natural() -> Steps:
    """The Fisher-Rao product with the natural gradient is, in every direction v, minus the derivative of the loss along v."""
    yield Equation(paired(), -total(j, gradient() * w[j]), reason="lowering the index: FF⁺∇L = Π∇L = ∇L, as 1ᵀ∇L = 0")


def paired() -> sp.Expr:
    """ΔᵀFv."""
    return total((j, k), natural(j) * fisher(j, k) * w[k])


dual_to_natural.twin("the sign", lambda: Equation(paired(), total(j, gradient() * w[j])))
dual_to_natural.twin("the Euclidean product with τu", lambda: Equation(paired(), tau * total(j, u[j] * w[j])))


@claim(
    "eot.s7.efficient",
    "identity",
    title="The rule is computationally efficient",
    needs=("eot.88",),
    latex=r"(Fu)_j=\tfrac1{\tau^2}\,p_j\,(u_j-p^\top u)",
    part_of="eot.rem7.4",
)
def efficient() -> Steps:
    """The product with the m × m matrix F takes one inner product and m multiplications, not m²."""
    yield Equation(fisher_times_u(), p(j) * (u[j] - mean()) / tau**2, reason="diagonal plus rank one")


efficient.twin("without the inner product", lambda: Equation(fisher_times_u(), p(j) * u[j] / tau**2))
efficient.twin("one τ", lambda: Equation(fisher_times_u(), p(j) * (u[j] - mean()) / tau))


@claim(
    "eot.s7.intertwined",
    "equivalence",
    title="Deeply intertwined with the geometry",
    needs=("eot.79", "eot.rem7.4"),
    latex=r"\text{the rule and the geometry are intertwined}",
)
def intertwined() -> Undecidable:
    """The learning rule is called deeply intertwined with the intrinsic geometry of the problem that it solves."""
    return Undecidable(
        "no criterion is stated; that the gradient is −τFu is proved in eot.79, that it is no natural gradient, in eot.rem7.4"
    )
