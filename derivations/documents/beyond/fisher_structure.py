"""The covariance matrix C = diag(p) − ppᵀ of attention: a Laplacian with known kernel, gap, inverse and volume.

Claims     beyond.laplacian      C_jk = Σ_l p_j p_l (δ_jk − δ_lk): the complete graph with conductances p_j p_l
           beyond.spectral-gap   vᵀCv ≥ (min p) ‖v − v̄1‖², with equality for equal weights
           beyond.resolvent      (C + tI)⁻¹v = (v + p ⟨r, v⟩/κ)/(p + t), r = p/(p + t), κ = Σ_l p_l(1 − r_l)
           beyond.volume         ∂/∂s_l log(m Π_j p_j) = tr(C⁺ ∂C/∂s_l), and C = I/m on 1⊥ for s = 0: det⁺C = m Π_j p_j
           beyond.natural-step   softmax((s + ητu)/τ) ∝ p e^{ηu}: a natural gradient step is multiplicative weights
           beyond.natural-gain   E_p'[u] − E_p[u] = (KL(p'‖p) + KL(p‖p'))/η
Notation   π, also written p, a point of the open simplex; C its covariance matrix; v̄ the plain mean of v; t > 0;
           μ_i the eigenvalues of C, largest first;
           w a point of the simplex and x, y > 0 such that π_j = (x/m + y w_j)/(x + y), x/m/(x + y) ≤ min π;
           p = softmax(s/τ); η > 0 a step, p' the weights after it
References Kirchhoff (1847); Sherman and Morrison (1950); Amari (1998); Arora, Hazan and Kale (2012)
"""

import sympy as sp

from derivations.documents.eot.notation import expect, j, k, l, m, s, softmax, tau, u
from derivations.vocabulary import *

pi, v = interior("π", m), vector("v", m)
p = softmax(s, tau)
a, b = index("a", m), index("b", m)
t, eta = positive("t"), positive("η")
x, y, w = positive("x"), positive("y"), simplex("w", m)

JACOBI = Theorem(
    "Jacobi's formula for the pseudo-determinant",
    "While the kernel of a symmetric matrix stays the same, the slope of the logarithm of the product of its nonzero "
    "eigenvalues is the trace of its pseudo-inverse times its slope.",
    "Holbrook, Differentiating the pseudo determinant, Linear Algebra and its Applications 548 (2018)",
)

COURANT_FISCHER = Theorem(
    "Courant and Fischer",
    "The i-th largest eigenvalue of a symmetric matrix is the largest number that its form, on the unit vectors of some "
    "subspace of dimension i, does not fall below.",
    "Horn and Johnson, Matrix Analysis (2013), Theorem 4.2.6",
)


def covariance(of: Entry, row: sp.Expr = j, column: sp.Expr = k) -> sp.Expr:
    """C_jk = p_j δ_jk − p_j p_k."""
    return of(row) * delta(row, column) - of(row) * of(column)


@claim(
    "beyond.laplacian",
    "identity",
    title="The covariance matrix is the Laplacian of a complete graph",
    latex=r"C=\mathrm{diag}(p)-pp^\top=\sum_{j<l}p_jp_l\,(e_j-e_l)(e_j-e_l)^\top",
)
def laplacian() -> Steps:
    """Every two keys are joined by an edge whose conductance is the product of their weights."""
    energy = total((j, k), v[j] * covariance(pi) * v[k])
    yield Equation(energy, total((j, k), pi[j] * pi[k] * (v[j] - v[k]) ** 2) / 2, reason="the energy of a potential v,")
    yield edges()


def edges(factor: int = 1, sign: int = 1) -> Equation:
    """C_jk against the sum over the edges at j."""
    return Equation(
        covariance(pi),
        factor * total(l, pi[j] * pi[l] * (delta(j, k) - sign * delta(l, k))),
        reason="entry by entry, as Σ_l π_l = 1",
    )


laplacian.twin("every edge twice", lambda: edges(factor=2))
laplacian.twin("without the sign", lambda: edges(sign=-1))


def applied(row: sp.Expr) -> sp.Expr:
    """(Cv)_j."""
    return total(l, covariance(pi, row, l) * v[l])


def recovered(difference: sp.Expr) -> Equation:
    """(Cv)_j/π_j − (Cv)_k/π_k."""
    return Equation(applied(j) / pi[j] - applied(k) / pi[k], difference, reason="(Cv)_j/π_j = v_j − E_π[v]")


@claim(
    "beyond.kernel",
    "identity",
    title="The kernel is the constants",
    hypotheses=("every p_j > 0",),
    needs=("beyond.laplacian",),
    latex=r"v_j-v_k=\frac{(Cv)_j}{p_j}-\frac{(Cv)_k}{p_k}",
)
def kernel() -> Steps:
    """Scores can be read off Cv up to a constant, for every v: so Cv = 0 for constant vectors only, and the rank is m − 1."""
    yield Equation(total(l, covariance(pi, j, l)), 0, about=(pi[j],), reason="C1 = 0;")
    yield recovered(v[j] - v[k])


kernel.twin("the weights are not divided by", lambda: Equation(applied(j) - applied(k), v[j] - v[k]))
kernel.twin("the sign", lambda: recovered(v[k] - v[j]))


# ── the spectral gap ────────────────────────────────────────────────────────────────────────────────────────────────


def lifted(key: sp.Expr) -> sp.Expr:
    """(x/m + y w_j)/(x + y), any weights that are at least x/(m(x + y))."""
    return (x / m + y * w[key]) / (x + y)


def about(center: sp.Expr, by: Entry) -> sp.Expr:
    """Σ_j by_j (v_j − center)²."""
    return total(j, by(j) * (v[j] - center) ** 2)


def gapped(factor: sp.Expr, because: sp.Expr | None = None) -> AtLeast:
    """Var_π(v) ≥ factor · Σ_j (v_j − v̄)²/m."""
    variance = total(j, lifted(j) * v[j] ** 2) - total(j, lifted(j) * v[j]) ** 2
    return AtLeast(
        variance,
        factor * about(total(k, v[k]) / m, lambda key: sp.S.One / m),
        because=because,
        reason="a mixture's variance: that within the parts, and that of their means",
    )


@claim(
    "beyond.spectral-gap",
    "inequality",
    title="The smallest nonzero eigenvalue is at least the smallest weight",
    hypotheses=("c ≤ min_j p_j",),
    needs=("beyond.laplacian",),
    latex=r"v^\top Cv\ge c\,\|v-\bar v\mathbf 1\|^2,\quad c=\frac{x}{m(x+y)}\le\min_jp_j",
)
def spectral_gap() -> Steps:
    """On vectors of sum 0 the matrix is at least the smallest weight, and for equal weights it is exactly that."""
    plain, own = total(k, v[k]) / m, total(k, w[k] * v[k])
    yield Equation(total(j, v[j] ** 2) / m - plain**2, about(plain, lambda key: sp.S.One / m), reason="attained: p_j = 1/m;")
    yield gapped(x / (x + y), because=y / (x + y) * about(own, w) + x * y / (x + y) ** 2 * (plain - own) ** 2)


spectral_gap.twin("twice the weight", lambda: gapped(2 * x / (x + y)))
spectral_gap.twin("one", lambda: gapped(sp.S.One))


def form(sign: sp.Expr) -> Equation:
    """vᵀCv against Σ_j p_j v_j² + sign · E_p[v]²."""
    energy = total((j, k), v[j] * covariance(pi) * v[k])
    return Equation(
        energy,
        total(j, pi[j] * v[j] ** 2) + sign * total(j, pi[j] * v[j]) ** 2,
        quotes=(COURANT_FISCHER,),
        reason="μ_i ≤ p_(i), as no form exceeds that of diag(p); on the hyperplane E_p[v] = 0 they are equal, so "
        "that μ_i ≥ p_(i+1)",
    )


@claim(
    "beyond.interlacing",
    "identity",
    title="The eigenvalues lie between the weights",
    needs=("beyond.kernel",),
    latex=r"v^\top Cv=\sum_jp_jv_j^2-\mathbb E_p[v]^2\implies "
    r"p_{(1)}\ge\mu_1\ge p_{(2)}\ge\mu_2\ge\dots\ge p_{(m)}\ge\mu_m=0",
)
def interlacing() -> Steps:
    """Between two consecutive weights, ordered by size, lies one eigenvalue of the covariance matrix; the last one is 0."""
    yield AtLeast(
        total(j, pi[j] * v[j] ** 2),
        total((j, k), v[j] * covariance(pi) * v[k]),
        because=total(j, pi[j] * v[j]) ** 2,
        reason="E_p[v]² ≥ 0;",
    )
    yield form(-sp.S.One)


interlacing.twin("the sign of the square", lambda: form(sp.S.One))
interlacing.twin("half of the square", lambda: form(-sp.S.Half))


# ── inverses and volume ─────────────────────────────────────────────────────────────────────────────────────────────


def shared() -> sp.Expr:
    """Σ_l p_l (1 − p_l/(p_l + t)), which is 1 − Σ_l p_l²/(p_l + t)."""
    return total(l, pi[l] * (1 - pi[l] / (pi[l] + t)))


def damped(row: sp.Expr, scale: sp.Expr) -> sp.Expr:
    """κ times the entry of (C + tI)⁻¹v, with κ = Σ_l p_l (1 − r_l)."""
    return (shared() * v[row] + scale * pi[row] * total(k, pi[k] * v[k] / (pi[k] + t))) / (pi[row] + t)


def inverted(scale: sp.Expr) -> Equation:
    """(C + tI) times κ(C + tI)⁻¹v."""
    product = total(a, (covariance(pi, j, a) + t * delta(j, a)) * damped(a, scale))
    return Equation(product, shared() * v[j], reason="diag(p + t) less a matrix of rank one")


@claim(
    "beyond.resolvent",
    "identity",
    title="The damped inverse in closed form",
    hypotheses=("t > 0",),
    needs=("beyond.laplacian",),
    latex=r"(C+tI)^{-1}v=\frac{v+p\,\langle r,v\rangle/\kappa}{p+t},\quad r_j=\frac{p_j}{p_j+t},\ \kappa=\sum_lp_l(1-r_l)",
)
def damped_inverse() -> Steps:
    """A damped natural gradient costs as much as a softmax: the matrix is a diagonal one plus one of rank one."""
    yield AtLeast(shared(), 0, strict=True, reason="1 − p/(p + t) = t/(p + t) > 0: nothing is divided by 0")
    yield inverted(sp.S.One)


damped_inverse.twin("t too often", lambda: inverted(t))
damped_inverse.twin("the sign of the rank-one part", lambda: inverted(-sp.S.One))


def pseudo_inverse(row: sp.Expr, column: sp.Expr) -> sp.Expr:
    """C⁺ = Π diag(1/p) Π, Π = I − 11ᵀ/m."""

    def centring(one: sp.Expr, other: sp.Expr) -> sp.Expr:
        return delta(one, other) - 1 / m

    return total(b, centring(row, b) * centring(b, column) / p(b))


def log_volume(weight: sp.Expr) -> sp.Expr:
    """weight · log m + Σ_j log p_j."""
    return weight * sp.log(m) + total(j, sp.log(p(j)))


def slope_of_volume(right: sp.Expr) -> Equation:
    """tr(C⁺ ∂C/∂s_l)."""
    trace = total((j, k), pseudo_inverse(j, k) * derivative(covariance(p, k, j), s[l]))
    return Equation(trace, right, reason="both are (1 − m p_l)/τ", quotes=(JACOBI,))


@claim(
    "beyond.volume",
    "identity",
    title="The slope of the volume of the Fisher metric",
    hypotheses=("τ > 0",),
    needs=("beyond.kernel", "eot.98"),
    latex=r"\mathrm{tr}\Big(C^+\frac{\partial C}{\partial s_l}\Big)=\frac{\partial}{\partial s_l}\log\Big(m\prod_jp_j\Big)",
)
def volume() -> Steps:
    """The product of the nonzero eigenvalues has the slope of m Π p_j, to which it is equal where all scores are."""
    equal = covariance(lambda key: sp.S.One / m)
    yield Equation(equal, (delta(j, k) - 1 / m) / m, reason="at s = 0 the m − 1 eigenvalues are 1/m, with the product m/mᵐ;")
    yield slope_of_volume(derivative(log_volume(sp.S.One), s[l]))


volume.twin("the first power of the sum", lambda: slope_of_volume(derivative(sp.log(p(l)), s[l])))
volume.twin("the sign", lambda: slope_of_volume(-derivative(log_volume(sp.S.One), s[l])))


# ── steps ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def stepped(key: sp.Expr) -> sp.Expr:
    """p'_j, the weights after the scores moved by ητu."""
    return softmax(lambda each: s[each] + eta * tau * u[each], tau)(key)


def reweighted(rate: sp.Expr) -> Equation:
    """p' against p e^{ηu}, normalized."""
    return Equation(stepped(j), p(j) * sp.exp(rate * u[j]) / total(l, p(l) * sp.exp(rate * u[l])), reason="Z cancels")


@claim(
    "beyond.natural-step",
    "identity",
    title="A natural gradient step is a step of multiplicative weights",
    hypotheses=("τ > 0",),
    needs=("eot.thm7.3",),
    latex=r"s'=s+\eta\,\tau u:\quad p'_j=\frac{p_je^{\eta u_j}}{\sum_lp_le^{\eta u_l}}",
)
def natural_step() -> Steps:
    """Scores that move by η times the natural gradient multiply the weights by exp(ηu), whatever the temperature is."""
    yield reweighted(eta)


natural_step.twin("the rate is divided by τ", lambda: reweighted(eta / tau))
natural_step.twin("the sign", lambda: reweighted(-eta))


def gain() -> sp.Expr:
    """E_p'[u] − E_p[u]."""
    return expect(stepped, u) - expect(p, u)


def divergence(one: Entry, other: Entry) -> sp.Expr:
    """KL of one distribution from another."""
    return total(j, relative(one(j), other(j)))


@claim(
    "beyond.natural-gain",
    "identity",
    title="What a natural gradient step gains, exactly",
    hypotheses=("τ > 0", "η > 0"),
    needs=("beyond.natural-step",),
    latex=r"\mathbb E_{p'}[u]-\mathbb E_p[u]=\tfrac1\eta\big(\mathrm{KL}(p'\,\|\,p)+\mathrm{KL}(p\,\|\,p')\big)",
)
def natural_gain() -> Steps:
    """A step of any size raises the mean utility, by the symmetric divergence between the weights over the step."""
    yield Equation(gain(), (divergence(stepped, p) + divergence(p, stepped)) / eta, reason="log(p'/p) = ηu − constant")


natural_gain.twin("one divergence", lambda: Equation(gain(), divergence(stepped, p) / eta))
natural_gain.twin("the step is lost", lambda: Equation(gain(), divergence(stepped, p) + divergence(p, stepped)))
