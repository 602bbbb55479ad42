"""Section 4, linear attention: its formula, its cost, its kernel, and which transport problem it solves.

Claims     transport.s4.linear-attention, transport.s4.linear-complexity, transport.s4.kernel, transport.s4.transport-reading
Notation   F features; f[i, r] = φ(q_i)_r and g[j, r] = φ(k_j)_r, positive; κ_ij = Σ_r f_ir g_jr, or
           any positive matrix; x[i, r] = φ(x_i)_r any reals
References section 4 of the document up to its listing
"""

from __future__ import annotations

import sympy as sp

from derivations.calculus.sums import total
from derivations.calculus.variables import Kind, index, size, vector
from derivations.catalogue import Steps, claim
from derivations.claims import Severity
from derivations.plans import Entries, UniquePlan
from derivations.relations import AtLeast, Equation, Fails
from derivations.transport.notation import A, S, V, c, e, eps, h, i, j, l, m, n, solves

F = size("F")
r = index("r", F)
f, g = vector("f", n, F, kind=Kind.POSITIVE), vector("g", m, F, kind=Kind.POSITIVE)
x = vector("x", n, F)
z = vector("z", n)
kappa = vector("κ", n, m, kind=Kind.POSITIVE)


def kernel(query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """κ_ij = ⟨φ(q_i), φ(k_j)⟩."""
    return total(r, f[query, r] * g[key, r])


def weights(query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """κ_ij/Σ_l κ_il."""
    return kernel(query, key) / total(l, kernel(query, l))


# ── the formula ─────────────────────────────────────────────────────────────────────────────────────────────────────


def grouped(mass: sp.Expr) -> sp.Expr:
    """φ(q_i)ᵀ Σ_j φ(k_j) V_jc / (φ(q_i)ᵀ mass)."""
    return total(r, f[i, r] * total(j, g[j, r] * V[j, c])) / total(r, f[i, r] * mass)


def average(mass: sp.Expr) -> Equation:
    """The printed quotient, times its denominator, against the kernel's sum over the values."""
    return Equation(grouped(total(j, g[j, r])), total(j, kernel(i, j) * V[j, c]) / mass, reason="Σ_j and Σ_r change places")


@claim("transport.s4.linear-attention", "identity", title="Linear attention",
       latex=r"o_i=\frac{\phi(q_i)^\top\sum_j\phi(k_j)v_j^\top}{\phi(q_i)^\top\sum_j\phi(k_j)}"
             r"=\frac{\sum_j\kappa(q_i,k_j)v_j}{\sum_j\kappa(q_i,k_j)}")
def linear_attention() -> Steps:
    """Summing over the keys first gives the same average of the values as the matrix of kernel values does."""
    yield Equation(total(j, weights(i, j)), 1, reason="the weights sum to one", about=(f[i, r], g[j, r]))
    yield average(total(l, kernel(i, l)))


linear_attention.twin("not divided", lambda: average(sp.S.One))
linear_attention.twin("the mean for the sum", lambda: average(total(l, kernel(i, l)) / m))


def products(*ranges: tuple[object, ...]) -> sp.Expr:
    """How many products sums over these ranges take."""
    return sp.Add(*[total(range_, sp.S.One) for range_ in ranges])  # type: ignore[arg-type]


column = index("c", e + 1)


@claim("transport.s4.linear-complexity", "identity", title="No cost that grows with n m",
       needs=("transport.s4.linear-attention",),
       latex=r"\#\text{products}=(n+m)\,F\,(e+1)\ \text{in place of}\ n\,m\,(d+e)")
def linear_complexity() -> Steps:
    """The approximation by a kernel avoids the quadratic cost: its products grow with n + m, not with n m."""
    dense = products((i, j, r), (i, j, column))
    yield Equation(dense, n * m * (F + e + 1), reason="with the matrix of weights: scores and averages")
    yield Equation(products((j, r, column), (i, r, column)), (n + m) * F * (e + 1),
                   reason="e values and one sum of weights: once over the keys, once over the queries")


def taken(right: sp.Expr) -> Equation:
    """The products that the quotient takes."""
    return Equation(products((j, r, column), (i, r, column)), right)


linear_complexity.twin("quadratic", lambda: taken(n * m * (F + e + 1)))
linear_complexity.twin("the queries are free", lambda: taken(m * F * (e + 1)))


# ── the kernel ──────────────────────────────────────────────────────────────────────────────────────────────────────


def form() -> sp.Expr:
    """Σ_ij z_i z_j κ(x_i, x_j)."""
    return total((i, h), z[i] * z[h] * total(r, x[i, r] * x[h, r]))


@claim("transport.s4.kernel", "inequality", title="An inner product of features is a positive definite kernel",
       latex=r"\kappa(x,y)=\phi(x)^\top\phi(y):\quad\sum_{ij}z_iz_j\,\kappa(x_i,x_j)=\Big\|\sum_iz_i\phi(x_i)\Big\|^2\ge0")
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


@claim("transport.s4.transport-reading", "equivalence", title="A random kernel that approximates a deterministic map",
       latex=r"\text{linear attention}\approx\text{deterministic transport map, by a random kernel}",
       needs=("transport.s4.linear-attention", "transport.thm1"))
def transport_reading() -> Steps:
    """Linear attention is said to approximate, by a random kernel, a deterministic transport map."""
    yield Fails(Equation(A(i, j) * (1 - A(i, j)), 0, at={n: 1, m: 2, eps: 1, S.label: [[0, 0]], i: 1, j: 1}),
                reason="what it approximates is softmax attention, which splits the mass of a query: it is no map")


@transport_reading.corrected(r"\kappa>0:\ \frac{\kappa_{ij}}{\sum_l\kappa_{il}}=\arg\min_{P\ge0,\,P\mathbf 1=\mathbf 1}"
                             r"\langle P,-\varepsilon\log\kappa\rangle-\varepsilon H(P)", Severity.WORDING)
def own_problem() -> Steps:
    """With positive features it is itself, exactly, the plan of a semi-relaxed problem, for the costs −ε log κ."""
    yield Equation(total(j, weights(i, j)), 1, reason="features may be fixed: nothing is random", about=(f[i, r], g[j, r]))
    yield AtLeast(kernel(i, j), 0, strict=True, reason="positive features have a positive kernel")
    yield solution(normalized)


transport_reading.twin("the cost is −κ", lambda: solution(
    lambda query, key: sp.exp(kappa[query, key]) / total(l, sp.exp(kappa[query, l]))))
transport_reading.twin("normalized over the queries", lambda: solution(
    lambda query, key: kappa[query, key] / total(h, kappa[h, key])))
