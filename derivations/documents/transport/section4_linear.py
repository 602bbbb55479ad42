"""Section 4, linear attention: its formula, its cost, its kernel, and which transport problem it solves.

Claims     transport.s4.linear-attention       ⟨f_i, Σ_j g_j v_j⟩ = Σ_j κ_ij v_j, over Σ_j κ_ij where that is ≠ 0
           transport.s4.kernel-approximation   E[e^(⟨ω, q⟩ − ‖q‖²/2) e^(⟨ω, k⟩ − ‖k‖²/2)] = e^⟨q, k⟩, ω random
           transport.s4.kernel                 Σ_ij z_i z_j κ(x_i, x_j) = ‖Σ_i z_i φ(x_i)‖² ≥ 0
           transport.s4.transport-reading      κ > 0  ⟹  κ_ij/Σ_l κ_il = argmin ⟨P, −ε log κ⟩ − ε H(P)  (corrected)
Notation   F features; f[i, r] = φ(q_i)_r and g[j, r] = φ(k_j)_r, positive, x[i, r] and y[j, r] the same of any sign;
           κ_ij = Σ_r f_ir g_jr, or any positive matrix; W[p, r] any weights of ReLU features; ω standard normal
References section 4 of the document up to its listing; Choromanski et al. (2021) for positive random features
"""

import sympy as sp

from derivations.documents.deciphering.section5_gaussian import coordinate_mgf
from derivations.documents.transport.notation import A, K, Q, S, V, c, d, e, eps, h, i, j, l, m, n, solves
from derivations.vocabulary import *

F = size("F")
r = index("r", F)
f, g = vector("f", n, F, kind=Positive), vector("g", m, F, kind=Positive)
x, y = vector("x", n, F), vector("y", m, F)
W, omega = vector("W", F, d), vector("ω", d)
z = vector("z", n)
kappa = vector("κ", n, m, kind=Positive)


def kernel(query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """κ_ij = ⟨φ(q_i), φ(k_j)⟩."""
    return total(r, f[query, r] * g[key, r])


def weights(query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """κ_ij/Σ_l κ_il."""
    return kernel(query, key) / total(l, kernel(query, l))


# ── the formula ─────────────────────────────────────────────────────────────────────────────────────────────────────


def signed(query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """κ_ij of features of any sign."""
    return total(r, x[query, r] * y[key, r])


def grouped(mass: sp.Expr) -> sp.Expr:
    """φ(q_i)ᵀ Σ_j φ(k_j) V_jc / (φ(q_i)ᵀ mass)."""
    return total(r, x[i, r] * total(j, y[j, r] * V[j, c])) / total(r, x[i, r] * mass)


def average(mass: sp.Expr) -> Equation:
    """The printed quotient against the kernel's sum over the values, divided by a mass."""
    return Equation(
        grouped(total(j, y[j, r])),
        total(j, signed(i, j) * V[j, c]) / mass,
        given=(Differs(total(l, signed(i, l)), 0),),
        reason="wherever Σ_j κ_ij ≠ 0",
    )


OPPOSITE: dict[Variable, Value] = {n: 1, m: 2, F: 1, x.label: [[1]], y.label: [[1], [-1]], i: 1}


@claim(
    "transport.s4.linear-attention",
    "identity",
    title="Linear attention",
    latex=r"o_i=\frac{\phi(q_i)^\top\sum_j\phi(k_j)v_j^\top}{\phi(q_i)^\top\sum_j\phi(k_j)}"
    r"=\frac{\sum_j\kappa(q_i,k_j)v_j}{\sum_j\kappa(q_i,k_j)}",
    hypotheses=("κ is a positive definite kernel",),
)
def linear_attention() -> Steps:
    """With any positive definite kernel the output is the quotient of its sums over the keys, which needs no matrix."""
    yield Fails(
        AtLeast(sp.Abs(total(l, signed(i, l))), 0, strict=True, at=OPPOSITE),
        reason="κ(x, y) = x y is positive definite; for q = 1 and the keys 1 and −1 the quotient is 0/0, or anything/0",
    )


@linear_attention.corrected(
    r"\phi(q_i)^\top\sum_j\phi(k_j)v_j^\top=\sum_j\kappa(q_i,k_j)v_j",
    Severity.HYPOTHESIS,
    under="Σ_j κ(q_i, k_j) ≠ 0 (positive features suffice)",
    replaces="that the denominator is never 0, by the quotient where it is not",
)
def where_it_is_defined() -> Steps:
    """Where the denominator is not 0, summing over the keys first gives the same average as the matrix of the kernel does."""
    yield AtLeast(total(l, kernel(i, l)), 0, strict=True, reason="positive features: the denominator is positive")
    yield Equation(total(j, weights(i, j)), 1, reason="and the weights sum to one", about=(f[i, r], g[j, r]))
    yield Equation(
        total(r, x[i, r] * total(j, y[j, r] * V[j, c])),
        total(j, signed(i, j) * V[j, c]),
        reason="Σ_j and Σ_r change places, for features of any sign",
    )
    yield average(total(l, signed(i, l)))


linear_attention.twin("not divided", lambda: average(sp.S.One))
linear_attention.twin("the mean for the sum", lambda: average(total(l, signed(i, l)) / m))


def products(*ranges: tuple[object, ...]) -> sp.Expr:
    """The number of products in sums over these ranges."""
    return sp.Add(*[total(range_, sp.S.One) for range_ in ranges])  # type: ignore[arg-type]


SMALL = {size_: sp.Integer(value) for size_, value in ((n, 8), (m, 8), (d, 4), (e, 4), (F, 16))}
column, coordinate, value_column = index("c", e + 1), index("p", d), index("c", e)


def taken(right: sp.Expr) -> Equation:
    """The products of linear attention: its features, of queries and keys, and the two sums."""
    count = products((i, r, coordinate), (j, r, coordinate), (j, r, column), (i, r, column))
    return Equation(count, right, reason="features, then e values and one sum of weights: over the keys, over the queries")


@claim(
    "transport.s4.linear-complexity",
    "identity",
    title="For a fixed number of features no cost grows with n m",
    needs=("transport.s4.linear-attention",),
    latex=r"\#\text{products}=(n+m)\,F\,(d+e+1)\ \text{in place of}\ n\,m\,(d+e)",
)
def linear_complexity() -> Steps:
    """The quadratic cost is avoided: products grow with n + m, not n m; it pays only where n and m are large beside F."""
    quadratic, linear = n * m * (d + e), (n + m) * F * (d + e + 1)
    yield Equation(products((i, j, coordinate), (i, j, value_column)), quadratic, reason="with the matrix: scores and averages")
    yield Limit(2 * F * (d + e + 1) / (n * (d + e)), n, sp.oo, sp.S.Zero, reason="n = m: the ratio of the two vanishes")
    yield AtLeast(
        n**2 * (d + e),
        2 * n * F * (d + e + 1),
        at={n: 4, F: 1},
        given=(AtLeast(n, 4 * F),),
        because=n * (d + e) * (n - 4 * F) + 2 * n * F * (d - 1) + 2 * n * F * e,
        reason="n = m ≥ 4F is enough",
    )
    yield AtLeast(
        *(count.xreplace(SMALL) for count in (linear, quadratic)),
        strict=True,
        reason="not before: at n = m = 8, d = e = 4, F = 16 it takes 2304 products, not 512",
    )
    yield taken(linear)


linear_complexity.twin("quadratic", lambda: taken(n * m * (F + e + 1)))
linear_complexity.twin("the queries are free", lambda: taken(m * F * (d + e + 1)))
linear_complexity.twin("the features are free", lambda: taken((n + m) * F * (e + 1)))


# ── the approximation ───────────────────────────────────────────────────────────────────────────────────────────────


def rectified(vectors: sp.IndexedBase, row: sp.Expr) -> sp.Expr:
    """ReLU(W x)_r."""
    return plus(total(coordinate, W[r, coordinate] * vectors[row, coordinate]))


def softmax_kernel(strength: sp.Expr = sp.S.One) -> sp.Expr:
    """exp⟨q_i, k_j⟩."""
    return sp.exp(strength * total(coordinate, Q[i, coordinate] * K[j, coordinate]))


def square_sum(strength: sp.Expr) -> sp.Expr:
    """strength · ‖q_i + k_j‖²."""
    return strength * total(coordinate, (Q[i, coordinate] + K[j, coordinate]) ** 2)


def norms(strength: sp.Expr) -> sp.Expr:
    """strength · (‖q_i‖² + ‖k_j‖²)."""
    return strength * total(coordinate, Q[i, coordinate] ** 2 + K[j, coordinate] ** 2)


def feature(vectors: sp.IndexedBase, row: sp.Expr) -> sp.Expr:
    """exp(⟨ω, x⟩ − ‖x‖²/2)."""
    return sp.exp(total(coordinate, omega[coordinate] * vectors[row, coordinate] - vectors[row, coordinate] ** 2 / 2))


def mean_of_powers(power: int) -> sp.Expr:
    """E [(e^{⟨ω, q⟩ − ‖q‖²/2} e^{⟨ω, k⟩ − ‖k‖²/2})^power], by one integral over the real line for each coordinate of ω."""
    both = power * (Q[i, coordinate] + K[j, coordinate])
    return sp.exp(total(coordinate, sp.log(coordinate_mgf(sp.S.Zero, both))) - norms(power * sp.S.Half))


def unbiased(right: sp.Expr) -> Equation:
    """The mean of the random kernel."""
    return Equation(mean_of_powers(1), right, reason="E e^{⟨ω, s⟩} = e^{‖s‖²/2} at s = q + k; F features have the same mean")


@claim(
    "transport.s4.kernel-approximation",
    "identity",
    title="Linear attention approximates the kernel of softmax",
    latex=r"\phi(q)^\top\phi(k)\approx\exp\langle q,k\rangle",
    needs=("transport.s4.linear-attention",),
)
def kernel_approximation() -> Steps:
    """Linear attention is said to avoid the quadratic cost by approximating the kernel of softmax attention."""
    yield Fails(
        Equation(
            total(r, rectified(Q, i) * rectified(K, j)),
            softmax_kernel(),
            at={n: 1, m: 1, F: 1, d: 1, i: 1, j: 1, Q.label: [[0]], K.label: [[0]], W.label: [[1]]},
        ),
        reason="at q = 0 every ReLU feature is 0, whatever its weights and however many there are: fixed features "
        "approximate nothing, they are exactly attention with another cost",
    )


@kernel_approximation.corrected(
    r"\mathbb E\,e^{\langle\omega,q\rangle-\|q\|^2/2}\,e^{\langle\omega,k\rangle-\|k\|^2/2}"
    r"=e^{\langle q,k\rangle},\quad\omega\sim\mathcal N(0,I)",
    Severity.HYPOTHESIS,
    under="the features are random with E⟨φ(q), φ(k)⟩ = exp⟨q, k⟩, such as exp(⟨ω, x⟩ − ‖x‖²/2)",
    replaces="fixed features of a ReLU, by random ones",
)
def random_features() -> Steps:
    """Random features have the kernel of softmax for their mean, without bias; the quotient, linear attention, is biased."""
    yield Equation(
        mean_of_powers(2),
        sp.exp(2 * total(coordinate, Q[i, coordinate] * K[j, coordinate]) + square_sum(sp.S.One)),
        reason="the second moment: one feature has the relative variance e^{‖q+k‖²} − 1, and F have 1/F of it",
    )
    yield Equation(
        feature(Q, i) * feature(K, j) / total(l, feature(Q, i) * feature(K, l)),
        feature(K, j) / total(l, feature(K, l)),
        reason="bias: with one feature the quotient does not even depend on q, as softmax does if keys differ",
    )
    yield unbiased(softmax_kernel())


kernel_approximation.twin("‖·‖² is not taken off", lambda: unbiased(sp.exp(square_sum(sp.S.Half))))
kernel_approximation.twin("half the similarity", lambda: unbiased(softmax_kernel(sp.S.Half)))
kernel_approximation.twin("the kernel of distances", lambda: unbiased(softmax_kernel() * sp.exp(-norms(sp.S.Half))))


# ── the kernel ──────────────────────────────────────────────────────────────────────────────────────────────────────


def form() -> sp.Expr:
    """Σ_ij z_i z_j κ(x_i, x_j)."""
    return total((i, h), z[i] * z[h] * total(r, x[i, r] * x[h, r]))


@claim(
    "transport.s4.kernel",
    "inequality",
    title="An inner product of features is a positive definite kernel",
    latex=r"\sum_{ih}z_iz_h\,\phi(x_i)^\top\phi(x_h)=\Big\|\sum_iz_i\phi(x_i)\Big\|^2\ge0",
)
def positive_definite() -> Steps:
    """Inner products of the features of any points make a positive (semi-)definite matrix."""
    squared = total(r, total(i, z[i] * x[i, r]) ** 2)
    yield Equation(form(), squared, reason="the square, opened")
    yield AtLeast(form(), 0, because=squared, reason="a sum of squares; 0 for repeated points, and no entry need be ≥ 0")


positive_definite.twin("at least its diagonal part", lambda: AtLeast(form(), total(i, z[i] ** 2 * total(r, x[i, r] ** 2))))
positive_definite.twin("at least Σ z²", lambda: AtLeast(form(), total(i, z[i] ** 2)))


# ── the reading ─────────────────────────────────────────────────────────────────────────────────────────────────────


def kernel_cost(query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """ε log κ_ij, minus the cost."""
    return eps * sp.log(kappa[query, key])


def normalized(query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """κ_ij/Σ_l κ_il for any positive κ."""
    return kappa[query, key] / total(l, kappa[query, l])


def solution(candidate: Entries) -> UniquePlan:
    """The candidate is the only solution for the costs −ε log κ."""
    return solves(kernel_cost, eps, candidate)


@claim(
    "transport.s4.transport-reading",
    "equivalence",
    title="A random kernel that approximates a deterministic map",
    latex=r"\text{linear attention}\approx\text{deterministic transport map, by a random kernel}",
    needs=("transport.s4.linear-attention", "transport.thm1"),
)
def transport_reading() -> Steps:
    """Linear attention is said to approximate, by a random kernel, a deterministic transport map."""
    yield Fails(
        Equation(A(i, j) * (1 - A(i, j)), 0, at={n: 1, m: 2, eps: 1, S.label: [[0, 0]], i: 1, j: 1}),
        reason="a map sends all of a query to one key; softmax attention, which is what a random kernel would be near, "
        "splits it, and so does linear attention",
    )


@transport_reading.corrected(
    r"\kappa>0:\ \frac{\kappa_{ij}}{\sum_l\kappa_{il}}=\arg\min_{P\ge0,\,P\mathbf 1=\mathbf 1}"
    r"\langle P,-\varepsilon\log\kappa\rangle-\varepsilon H(P)",
    Severity.FATAL,
    replaces="the deterministic map, by the plan that linear attention is",
)
def own_problem() -> Steps:
    """With a fixed positive kernel it is exactly the plan for the costs −ε log κ; it splits mass among all keys: no map.

    Nothing is random or approximated in it; where features are drawn at random, it is a plan for each draw.
    """
    yield Equation(total(j, weights(i, j)), 1, reason="all of a query, and every key gets some", about=(f[i, r], g[j, r]))
    yield AtLeast(kernel(i, j), 0, strict=True, reason="positive features have a positive kernel")
    yield solution(normalized)


transport_reading.twin(
    "the cost is −κ", lambda: solution(lambda query, key: sp.exp(kappa[query, key]) / total(l, sp.exp(kappa[query, l])))
)
transport_reading.twin(
    "normalized over the queries", lambda: solution(lambda query, key: kappa[query, key] / total(h, kappa[h, key]))
)
