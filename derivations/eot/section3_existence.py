"""Section 3, Theorem 3.3, existence and uniqueness: each inference of the printed proof.

Claims     eot.s3.domain-compact-convex, eot.s3.linear-is-convex, eot.s3.second-derivative, eot.s3.sum-of-convex,
           eot.s3.interior-convexity, eot.s3.strictly-convex, eot.s3.minimum-exists, eot.s3.interior-solution
Notation   φ(x) = x log x with φ(0) = 0; x a point of the closed simplex, y of the open one; t/(1 + t) and 1/(1 + t),
           t > 0, are the weights of every mixture z = (t x + y)/(1 + t)
References the first half of the proof of Theorem 3.3
"""

from __future__ import annotations

import sympy as sp

from derivations.calculus.sums import derivative, kl, total, xlogx
from derivations.calculus.variables import Kind, interior, positive, scalar, simplex, vector
from derivations.catalogue import Steps, claim
from derivations.claims import Severity
from derivations.eot.notation import cost, j, l, m, objective, similarity, softmax, tau
from derivations.relations import AtLeast, Entry, Equation, Fails, Limit

alpha = softmax(similarity, tau)
p = vector("p", m, kind=Kind.POSITIVE)
x, y = simplex("x", m), interior("y", m)
odds = positive("t")
t, rest = odds / (1 + odds), 1 / (1 + odds)
a, b, w = positive("a"), positive("b"), scalar("w", Kind.NONNEGATIVE)
mu, nu, v = scalar("mu"), scalar("nu"), scalar("v")


@claim("eot.s3.domain-compact-convex", "inequality", title="The simplex is non-empty, convex and compact",
       latex=r"\Delta^{m-1}\ne\emptyset \text{ convex, compact}", needs=("eot.2",))
def compact_convex() -> Steps:
    """The simplex holds the uniform vector, mixtures of its points, and only vectors with entries at most 1."""
    yield Equation(total(j, 1 / m), 1, reason="non-empty")
    yield Equation(total(j, t * x[j] + rest * y[j]), 1, reason="a mixture has mass 1")
    yield AtLeast(t * x[j], 0, reason="and its parts are nonnegative: convex")
    others = total(l, x[l] * (1 - sp.KroneckerDelta(l, j)))
    yield AtLeast(1, x[j], because=others, reason="bounded; closed, for it is cut out by = and ≥ of continuous maps")


compact_convex.twin("weights that do not sum to 1", lambda: Equation(total(j, t * x[j] + t * y[j]), 1))
compact_convex.twin("a tighter bound", lambda: AtLeast(sp.Rational(1, 2), x[j]))


@claim("eot.s3.linear-is-convex", "identity", title="The cost term is linear, thus convex",
       latex=r"\langle tx+(1-t)y, C\rangle = t\langle x,C\rangle+(1-t)\langle y,C\rangle")
def linear_is_convex() -> Steps:
    """The expected cost of a mixture is the mixture of the expected costs."""
    yield Equation(total(j, mixture(j) * cost(j)), t * total(j, x[j] * cost(j)) + rest * total(j, y[j] * cost(j)),
                   reason="sums are linear")


def mixture(key: sp.Expr) -> sp.Expr:
    """(t x_j + y_j)/(1 + t)."""
    return t * x[key] + rest * y[key]


linear_is_convex.twin("weights swapped", lambda: Equation(
    total(j, mixture(j) * cost(j)), rest * total(j, x[j] * cost(j)) + t * total(j, y[j] * cost(j))))
linear_is_convex.twin("a quadratic term", lambda: Equation(
    total(j, mixture(j) ** 2 * cost(j)), t * total(j, x[j] ** 2 * cost(j)) + rest * total(j, y[j] ** 2 * cost(j))))


@claim("eot.s3.second-derivative", "identity", title="x log x is strictly convex on x > 0",
       latex=r"(x\log x)'' = 1/x > 0")
def second_derivative() -> Steps:
    """The second derivative of x log x is 1/x, which is positive for x > 0."""
    yield AtLeast(1 / a, 0, strict=True, reason="a > 0")
    yield Equation(derivative(derivative(a * sp.log(a), a), a), 1 / a, reason="(log a + 1)' = 1/a")


second_derivative.twin("the first derivative", lambda: Equation(derivative(a * sp.log(a), a), 1 / a))
second_derivative.twin("one power too many", lambda: Equation(derivative(derivative(a * sp.log(a), a), a), 1 / a**2))


@claim("eot.s3.sum-of-convex", "inequality", title="“A sum of convex functions, therefore strictly convex”",
       latex=r"f_j \text{ convex} \implies \textstyle\sum_j f_j \text{ strictly convex}", needs=("eot.s3.second-derivative",))
def sum_of_convex() -> Steps:
    """The proof calls Σ p log p strictly convex because it is a sum of convex functions."""
    first, second = sp.Lambda(v, v), sp.Lambda(v, -v)
    middle = first((mu + nu) / 2) + second((mu + nu) / 2)
    ends = (first(mu) + second(mu) + first(nu) + second(nu)) / 2
    yield Fails(AtLeast(ends, middle, strict=True, about=(mu, nu), at={mu: 0, nu: 1}),
                reason="f₁(v) = v and f₂(v) = −v are convex, and f₁ + f₂ = 0 is not strictly convex")


@sum_of_convex.corrected(r"f_j \text{ strictly convex in } p_j \text{ alone} \implies \textstyle\sum_j f_j(p_j) "
                         r"\text{ strictly convex}", Severity.HYPOTHESIS)
def sum_of_strictly_convex() -> Steps:
    """Each term must be strictly convex in a coordinate of its own: then the gap is a sum of kl terms, 0 only at x = y."""
    yield AtLeast(t * total(j, xlogx(p[j])) + rest * total(j, xlogx(y[j])), total(j, xlogx(blend(j))),
                  because=total(j, t * kl(p[j], blend(j)) + rest * kl(y[j], blend(j))),
                  reason="Jensen's gap is the mixture of kl(x ‖ z) and kl(y ‖ z), coordinate by coordinate")


def blend(key: sp.Expr) -> sp.Expr:
    """(t p_j + y_j)/(1 + t) > 0."""
    return t * p[key] + rest * y[key]


def jensen(sign: int, share: sp.Expr) -> AtLeast:
    """Jensen's inequality for Σ φ, with its sign or its weights tampered with."""
    left = share * total(j, xlogx(p[j])) + rest * total(j, xlogx(y[j]))
    return AtLeast(sign * left, sign * total(j, xlogx(blend(j))))


sum_of_convex.twin("concave", lambda: jensen(-1, t))
sum_of_convex.twin("a weight squared", lambda: jensen(1, t**2))


@claim("eot.s3.interior-convexity", "inequality",
       title="Strictly convex on the interior, “thus” a unique minimum on the closed simplex",
       latex=r"f \text{ strictly convex on } \mathrm{int}\,D,\ \text{continuous on } D \implies \text{one minimizer on } D")
def interior_convexity() -> Steps:
    """The proof shows strict convexity on the interior and concludes uniqueness on the closed simplex."""
    f = b**2 * (1 + mu**2)
    determinant = derivative(derivative(f, b), b) * derivative(derivative(f, mu), mu) - derivative(derivative(f, b), mu) ** 2
    yield Equation(determinant, 4 * b**2 * (1 - 3 * mu**2),
                   reason="f = b²(1 + μ²) is strictly convex for b > 0 and 3μ² < 1, and continuous up to b = 0")
    edge = w**2 * (1 + mu**2)
    yield Fails(AtLeast((edge + edge.subs(mu, nu)) / 2, edge.subs(mu, (mu + nu) / 2), strict=True,
                        about=(mu, nu), at={w: 0, mu: 0, nu: sp.Rational(1, 2)}),
                reason="but on the edge b = 0 it is 0 everywhere: every point of the edge is a minimizer")


@interior_convexity.corrected(r"t\varphi(x)+(1-t)\varphi(y) > \varphi(tx+(1-t)y)\ \text{for } x\ge 0,\ y>0,\ x\ne y",
                              Severity.HYPOTHESIS)
def convex_up_to_the_boundary() -> Steps:
    """φ(x) = x log x is strictly convex on [0, ∞) with 0 included, so J is strictly convex on the closed simplex."""
    mid = t * w + rest * b
    yield Equation(xlogx(sp.S.Zero), 0, reason="where both points vanish a coordinate adds nothing")
    yield AtLeast(t * xlogx(w) + rest * xlogx(b), xlogx(mid), because=t * kl(w, mid) + rest * kl(b, mid),
                  reason="elsewhere the mixture is > 0, and the gap vanishes only at w = b")
    yield AtLeast(t * total(j, xlogx(x[j])) + rest * total(j, xlogx(y[j])), total(j, xlogx(mixture(j))),
                  because=total(j, t * kl(x[j], mixture(j)) + rest * kl(y[j], mixture(j))),
                  reason="summed over the coordinates, x on the boundary or not")


def convexity(sign: int, point: Entry) -> AtLeast:
    """Convexity of Σ φ between x and y, tampered with."""
    left = t * total(j, xlogx(x[j])) + rest * total(j, xlogx(y[j]))
    return AtLeast(sign * left, sign * total(j, xlogx(point(j))))


interior_convexity.twin("concave", lambda: convexity(-1, mixture))
interior_convexity.twin("the mixture is not one", lambda: convexity(1, lambda key: x[key] + y[key]))


@claim("eot.s3.strictly-convex", "inequality", title="The objective is strictly convex on the simplex",
       latex=r"J(tx+(1-t)y) < tJ(x)+(1-t)J(y)\ (x\ne y)", needs=("eot.s3.linear-is-convex",))
def strictly_convex() -> Steps:
    """Along every segment of the simplex J lies below its chord, by τ times a sum of divergences."""
    yield jensen_of_objective(tau)


def jensen_of_objective(strength: sp.Expr, sign: int = 1) -> AtLeast:
    """The mixture of J(x) and J(y) is at least J of the mixture, for a given strength of the entropy term."""
    left = t * objective(lambda key: x[key], cost, strength) + rest * objective(lambda key: y[key], cost, strength)
    gap = total(j, t * kl(x[j], mixture(j)) + rest * kl(y[j], mixture(j)))
    return AtLeast(sign * left, sign * objective(mixture, cost, strength), because=strength * gap,
                   reason="the linear part cancels; the rest is τ times a mixture of kl(x ‖ z) and kl(y ‖ z)")


strictly_convex.twin("concave", lambda: jensen_of_objective(tau, -1))
strictly_convex.twin("entropy is penalized", lambda: jensen_of_objective(-tau))


@claim("eot.s3.minimum-exists", "limit", title="The objective is continuous up to the boundary, so a minimum exists",
       latex=r"\lim_{x\to 0^+} x\log x = 0", needs=("eot.s3.domain-compact-convex",))
def minimum_exists() -> Steps:
    """With 0 log 0 = 0 the objective is continuous on a compact set, and attains its minimum."""
    yield Limit(a * sp.log(a), a, sp.S.Zero, sp.S.Zero, reason="x log x → 0, so φ is continuous at 0")
    yield Limit(total(j, xlogx(p[j])) + m * a * sp.log(a), a, sp.S.Zero, total(j, xlogx(p[j])),
                reason="any number of vanishing entries changes the objective by a vanishing amount")


minimum_exists.twin("the limit is 1", lambda: Limit(a * sp.log(a), a, sp.S.Zero, sp.S.One))
minimum_exists.twin("the limit is −1/e, its minimum", lambda: Limit(a * sp.log(a), a, sp.S.Zero, -sp.exp(-1)))


@claim("eot.s3.interior-solution", "inequality", title="The entropy term keeps the solution in the interior",
       latex=r"p^\star_j > 0", needs=("eot.6",))
def interior_solution() -> Steps:
    """Every entry of the solution is positive, because the slope of x log x is −∞ at 0."""
    yield Limit(derivative(a * sp.log(a), a), a, sp.S.Zero, -sp.oo, reason="leaving the boundary always pays")
    yield AtLeast(alpha(j), 0, strict=True, reason="and the solution is a softmax")


interior_solution.twin("at least the uniform weight", lambda: AtLeast(alpha(j), 1 / m, strict=True))
interior_solution.twin("at least one half", lambda: AtLeast(alpha(j), sp.Rational(1, 2), strict=True))
