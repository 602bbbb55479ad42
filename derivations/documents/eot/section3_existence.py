"""Section 3, Theorem 3.3, existence and uniqueness: each inference of the printed proof.

Claims     eot.s3.second-derivative    φ''(x) = 1/x > 0 for x > 0
           eot.s3.interior-convexity   (tφ(x) + φ(y))/(1 + t) > φ(z) for x ≠ y in [0, ∞), 0 included  (corrected)
           eot.s3.strictly-convex      (tJ(x) + J(y))/(1 + t) > J(z) for points x ≠ y of the closed simplex
           eot.s3.minimum-exists       min J over the closed simplex = J(softmax(s/τ))
           eot.s3.interior-solution    p*_j > 0 for every j
Notation   φ(x) = x log x with φ(0) = 0; x, y points of the closed simplex; t/(1 + t) and 1/(1 + t), t > 0, are the
           weights of every mixture z = (t x + y)/(1 + t)
References the first half of the proof of Theorem 3.3
"""

import sympy as sp

from derivations.documents.eot.notation import cost, j, l, m, objective, similarity, softmax, tau
from derivations.vocabulary import *

alpha = softmax(similarity, tau)
x, y = simplex("x", m), simplex("y", m)
odds = positive("t")
t, rest = odds / (1 + odds), 1 / (1 + odds)
a, b, w = positive("a"), positive("b"), scalar("w", Nonnegative)
mu = scalar("mu")


@claim(
    "eot.s3.domain-compact-convex",
    "inequality",
    title="The simplex is non-empty, convex and compact",
    latex=r"\Delta^{m-1}\ne\emptyset \text{ convex, compact}",
    needs=("eot.2",),
)
def compact_convex() -> Steps:
    """The simplex holds the uniform vector, mixtures of its points, and only vectors with entries at most 1."""
    yield Equation(total(j, 1 / m), 1, reason="non-empty")
    yield Equation(total(j, t * x[j] + rest * y[j]), 1, reason="a mixture has mass 1")
    yield AtLeast(t * x[j], 0, reason="and its parts are nonnegative: convex")
    others = total(l, x[l] * (1 - sp.KroneckerDelta(l, j)))
    yield AtLeast(
        1,
        x[j],
        because=others,
        reason="bounded; closed, for it is cut out by = and ≥ of continuous maps",
        quotes=(CLOSED_PREIMAGE, HEINE_BOREL),
    )


compact_convex.twin("weights that do not sum to 1", lambda: Equation(total(j, t * x[j] + t * y[j]), 1))
compact_convex.twin("a tighter bound", lambda: AtLeast(sp.Rational(1, 2), x[j]))


@claim(
    "eot.s3.linear-is-convex",
    "identity",
    title="The cost term is linear, thus convex",
    latex=r"\langle tx+(1-t)y, C\rangle = t\langle x,C\rangle+(1-t)\langle y,C\rangle",
)
def linear_is_convex() -> Steps:
    """The expected cost of a mixture is the mixture of the expected costs."""
    yield Equation(
        total(j, mixture(j) * cost(j)), t * total(j, x[j] * cost(j)) + rest * total(j, y[j] * cost(j)), reason="sums are linear"
    )


def mixture(key: sp.Expr) -> sp.Expr:
    """(t x_j + y_j)/(1 + t)."""
    return t * x[key] + rest * y[key]


linear_is_convex.twin(
    "weights swapped",
    lambda: Equation(total(j, mixture(j) * cost(j)), rest * total(j, x[j] * cost(j)) + t * total(j, y[j] * cost(j))),
)
linear_is_convex.twin(
    "a quadratic term",
    lambda: Equation(
        total(j, mixture(j) ** 2 * cost(j)), t * total(j, x[j] ** 2 * cost(j)) + rest * total(j, y[j] ** 2 * cost(j))
    ),
)


@claim(
    "eot.s3.second-derivative",
    "identity",
    title="x log x is strictly convex on x > 0",
    latex=r"f(x)=x\log x\implies f''(x) = 1/x > 0",
)
def second_derivative() -> Steps:
    """The second derivative of x log x is 1/x, which is positive for x > 0."""
    yield AtLeast(1 / a, 0, strict=True, reason="a > 0")
    yield Equation(derivative(derivative(a * sp.log(a), a), a), 1 / a, reason="(log a + 1)' = 1/a", quotes=(CONVEX_HESSIAN,))


second_derivative.twin("the first derivative", lambda: Equation(derivative(a * sp.log(a), a), 1 / a))
second_derivative.twin("one power too many", lambda: Equation(derivative(derivative(a * sp.log(a), a), a), 1 / a**2))


def chord_above(first: sp.Expr, second: sp.Expr) -> StrictUnlessEqual:
    """φ lies strictly below its chord between two different numbers ≥ 0, of which one is > 0."""
    between = t * first + rest * second
    return StrictUnlessEqual(
        t * xlogx(first) + rest * xlogx(second),
        xlogx(between),
        first,
        second,
        between,
        (t, rest),
        reason="Jensen's gap is the mixture of kl(x ‖ z) and kl(y ‖ z)",
    )


def scalar_convexity() -> Steps:
    """φ is strictly convex on [0, ∞): both ends positive or one of them 0; two zeros are one point."""
    yield chord_above(w, b)
    yield chord_above(b, w)


def jensen_gap(key: sp.Expr) -> sp.Expr:
    """t φ(x_j) + (1 − t) φ(y_j) − φ(z_j), in the weights of the mixture."""
    return t * xlogx(x[key]) + rest * xlogx(y[key]) - xlogx(mixture(key))


@claim(
    "eot.s3.sum-of-convex",
    "inequality",
    title="A sum of these convex functions is strictly convex",
    latex=r"x\mapsto x\log x \text{ strictly convex} \implies \textstyle\sum_jp_j\log p_j \text{ strictly convex}",
    needs=("eot.s3.second-derivative",),
)
def sum_of_convex() -> Steps:
    """Each term p_j log p_j is strictly convex in a coordinate of its own: where x ≠ y some coordinate's gap is positive."""
    yield from scalar_convexity()
    chord = t * total(j, xlogx(x[j])) + rest * total(j, xlogx(y[j]))
    yield Equation(chord - total(j, xlogx(mixture(j))), total(j, jensen_gap(j)), reason="the gap adds up over coordinates")


def entropy_gap(sign: int, share: sp.Expr) -> Equation:
    """The gap of Σ φ, with its sign or a weight altered."""
    chord = t * total(j, xlogx(x[j])) + rest * total(j, xlogx(y[j]))
    wrong = share * xlogx(x[j]) + rest * xlogx(y[j]) - xlogx(mixture(j))
    return Equation(chord - total(j, xlogx(mixture(j))), sign * total(j, wrong))


sum_of_convex.twin("concave", lambda: entropy_gap(-1, t))
sum_of_convex.twin("a weight squared", lambda: entropy_gap(1, t**2))


@claim(
    "eot.s3.interior-convexity",
    "inequality",
    title="A unique minimum on the closed simplex inferred from strict convexity on the interior",
    latex=r"f \text{ strictly convex on } \mathrm{int}\,D,\ \text{continuous on } D \implies \text{one minimizer on } D",
)
def interior_convexity() -> Steps:
    """The proof shows strict convexity on the interior and concludes uniqueness on the closed simplex."""
    f = b**2 * (1 + mu**2 / 4)
    slope = derivative(f, b)
    determinant = derivative(slope, b) * derivative(derivative(f, mu), mu) - derivative(slope, mu) ** 2
    yield AtLeast(
        derivative(slope, b),
        0,
        because=2 * (1 + mu**2 / 4),
        strict=True,
        reason="m = 3, f(p) = p₃²(1 + (p₁ − p₂)²/4) with b = p₃ > 0, μ = p₁ − p₂",
    )
    yield Equation(
        determinant,
        b**2 / 4 + 3 * b**2 * (1 - mu) * (1 + mu) / 4,
        reason="> 0 since |μ| ≤ 1: strictly convex",
        quotes=(CONVEX_HESSIAN,),
    )
    value, at_first_corner = flat_on_an_edge(three[1], three[2], three[3]), flat_on_an_edge(sp.S.One, sp.S.Zero, sp.S.Zero)
    yield Fails(
        AtLeast(value, at_first_corner, strict=True, at={three.label: [0, 1, 0]}),
        reason="f ≥ 0 vanishes at e₁ and at e₂: two minimizers (for m ≤ 2 the inference is valid)",
    )


three = simplex("p", sp.Integer(3))


def flat_on_an_edge(first: sp.Expr, second: sp.Expr, third: sp.Expr) -> sp.Expr:
    """p₃²(1 + (p₁ − p₂)²/4)."""
    return third**2 * (1 + (first - second) ** 2 / 4)


@interior_convexity.corrected(
    r"t\varphi(x)+(1-t)\varphi(y) > \varphi(tx+(1-t)y)\ \text{for } x\ne y \text{ in } [0,\infty)",
    Severity.HYPOTHESIS,
    replaces="strict convexity on the interior",
)
def convex_up_to_the_boundary() -> Steps:
    """φ(x) = x log x is strictly convex on [0, ∞) with 0 included, so J is strictly convex on the closed simplex."""
    yield from scalar_convexity()
    chord = t * total(j, xlogx(x[j])) + rest * total(j, xlogx(y[j]))
    yield Equation(
        chord - total(j, xlogx(mixture(j))),
        total(j, jensen_gap(j)),
        reason="coordinate by coordinate, for any two points of the closed simplex",
    )


interior_convexity.twin("concave", lambda: entropy_gap(-1, t))
interior_convexity.twin("a weight is lost", lambda: entropy_gap(1, sp.S.One))


@claim(
    "eot.s3.strictly-convex",
    "inequality",
    title="The objective is strictly convex on the simplex",
    latex=r"J(tx+(1-t)y) < tJ(x)+(1-t)J(y)\ (x\ne y)",
    needs=("eot.s3.linear-is-convex",),
)
def strictly_convex() -> Steps:
    """Between any two points of the simplex J lies below its chord, by τ times the gaps of φ."""
    yield from scalar_convexity()
    yield gap_of_objective(tau)


def gap_of_objective(strength: sp.Expr) -> Equation:
    """The chord of J less J, against `strength` times the gaps of φ."""
    chord = t * objective(x, cost, tau) + rest * objective(y, cost, tau)
    return Equation(chord - objective(mixture, cost, tau), strength * total(j, jensen_gap(j)), reason="the linear part cancels")


strictly_convex.twin("concave", lambda: gap_of_objective(-tau))
strictly_convex.twin("τ is lost", lambda: gap_of_objective(sp.S.One))


def uniform(key: sp.Expr) -> sp.Expr:
    """1/m for every key."""
    return 1 / m


def least_at(candidate: Entry, strength: sp.Expr | None = None) -> AtLeast:
    """J at any point of the simplex is at least J at the candidate."""
    gap = None if strength is None else strength * total(j, kl(x[j], candidate(j)))
    return AtLeast(
        objective(x, cost, tau),
        objective(candidate, cost, tau),
        because=gap,
        reason="so the minimum exists: J(x) − J(α) = τ Σ kl(x_j ‖ α_j) ≥ 0 at every x, zeros included",
    )


@claim(
    "eot.s3.minimum-exists",
    "inequality",
    title="The objective has a minimum on the closed simplex",
    latex=r"\min_{p\in\Delta^{m-1}}J(p)=J(\alpha)",
    needs=("eot.s3.domain-compact-convex",),
)
def minimum_exists() -> Steps:
    """With 0 log 0 = 0 the objective is continuous on the closed simplex, and a point is named where it is least."""
    yield Limit(a * sp.log(a), a, sp.S.Zero, sp.S.Zero, reason="φ is continuous at 0, and so J up to the boundary:")
    yield AtLeast(
        1,
        x[j],
        because=total(l, x[l] * (1 - sp.KroneckerDelta(l, j))),
        quotes=(WEIERSTRASS,),
        reason="on a compact set a minimum must exist; here it can be named:",
    )
    yield Equation(total(j, alpha(j)), 1, about=(similarity(j), tau), reason="α is a point of the simplex,")
    yield least_at(alpha, tau)


minimum_exists.twin("the uniform vector", lambda: least_at(uniform))
minimum_exists.twin("the softmax of the costs", lambda: least_at(softmax(cost, tau)))


@claim(
    "eot.s3.interior-solution",
    "inequality",
    title="The entropy term keeps the solution in the interior",
    latex=r"p^\star_j > 0",
    needs=("eot.6",),
)
def interior_solution() -> Steps:
    """Every entry of the solution is positive, because the slope of x log x is −∞ at 0."""
    yield Limit(derivative(a * sp.log(a), a), a, sp.S.Zero, -sp.oo, reason="leaving the boundary always pays")
    yield AtLeast(alpha(j), 0, strict=True, reason="and the solution is a softmax")


interior_solution.twin("at least the uniform weight", lambda: AtLeast(alpha(j), 1 / m, strict=True))
interior_solution.twin("at least one half", lambda: AtLeast(alpha(j), sp.Rational(1, 2), strict=True))
