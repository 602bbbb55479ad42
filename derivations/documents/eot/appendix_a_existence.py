"""Appendix A, existence and uniqueness: each inference of the proof of Theorem A.6.

Claims     eot.thmA.6                ε > 0  ⟹  exactly one plan with unit rows minimizes J
           eot.sA.strict-convexity   (tJ(P) + J(R))/(1 + t) > J of the mixture, for plans P ≠ R and ε > 0
           eot.sA.sum-rule           f convex, g strictly convex  ⟹  f + g strictly convex
           eot.sA.bounded            0 ≤ P_ij ≤ 1 and ‖P‖² ≤ n
Notation   φ(x) = x log x with φ(0) = 0; P, R plans with unit rows; t/(1 + t) and 1/(1 + t), t > 0, are the weights of
           every mixture
References Theorem A.6 of the document and its proof
"""

import sympy as sp

from derivations.documents.eot.appendix_a_matrix import (
    TOGETHER,
    P,
    cost,
    objective,
    others,
    similarity,
    softmax,
    solves,
    uniform,
)
from derivations.documents.eot.notation import eps, i, j, m, n
from derivations.documents.eot.section3_existence import scalar_convexity
from derivations.vocabulary import *

R = stochastic("R", n, m)
odds, a = positive("t"), positive("a")
chord_part, middle_part, chord_rest, middle_rest = (scalar(name) for name in ("x", "y", "v", "w"))


def mixture(query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """(t P_ij + R_ij)/(1 + t)."""
    return (odds * P[query, key] + R[query, key]) / (1 + odds)


@claim(
    "eot.sA.non-empty",
    "identity",
    title="The uniform matrix is feasible",
    latex=r"P_{ij}=1/m\implies P\in U(a,\cdot)",
    needs=("eot.108",),
)
def non_empty() -> Steps:
    """The matrix with all entries 1/m has nonnegative entries and unit rows."""
    yield AtLeast(uniform(i, j), 0, strict=True, reason="m ≥ 1")
    yield Equation(total(j, uniform(i, j)), 1, reason="m equal terms", about=(i,))


non_empty.twin("1/n in each row", lambda: Equation(total(j, 1 / n), 1))
non_empty.twin("1/(n m) for every pair", lambda: Equation(total(j, 1 / (n * m)), 1))


@claim(
    "eot.sA.bounded",
    "inequality",
    title="Plans are bounded",
    needs=("eot.sA.row-stochastic",),
    latex=r"0\le P_{ij}\le1,\quad \|P\|_F^2\le n",
)
def bounded() -> Steps:
    """All entries lie between 0 and 1, so the squared Frobenius norm is at most n, and with it every norm is bounded."""
    yield AtLeast(1, P[i, j], because=others(i, j), reason="the rest of the row is ≥ 0")
    yield AtLeast(n, squares(), because=total(TOGETHER, P[i, j] * others(i, j)), reason="n − Σ P² = Σ P(1 − P)")


def squares() -> sp.Expr:
    """‖P‖²_F."""
    return total(TOGETHER, P[i, j] ** 2)


bounded.twin("at most n/m", lambda: AtLeast(n / m, squares()))
bounded.twin("at most 1", lambda: AtLeast(1, squares()))


@claim(
    "eot.sA.compact-convex",
    "inequality",
    title="The set of plans is closed, compact and convex",
    latex=r"tP+(1-t)R\in U(a,\cdot)",
    needs=("eot.sA.bounded", "eot.sA.product-of-simplices"),
)
def compact_convex() -> Steps:
    """Mixtures of plans are plans; the set is bounded, and closed because it is cut out by = and ≥ of linear maps."""
    yield AtLeast(
        n,
        squares(),
        because=total(TOGETHER, P[i, j] * others(i, j)),
        reason="bounded, so compact",
        quotes=(CLOSED_PREIMAGE, HEINE_BOREL),
    )
    yield AtLeast(mixture(i, j), 0, reason="mixtures have entries ≥ 0")
    yield Equation(total(j, mixture(i, j)), 1, reason="and unit rows")


compact_convex.twin("weights that do not sum to 1", lambda: Equation(total(j, mixture(i, j) * (1 + odds)), 1))
compact_convex.twin("columns too", lambda: Equation(total(i, mixture(i, j)), 1))


def spent(of: Entries) -> sp.Expr:
    """L(P) = ⟨P, C⟩_F."""
    return total(TOGETHER, of(i, j) * cost(i, j))


@claim(
    "eot.sA.linear-part",
    "identity",
    title="The cost term is linear, so convex and continuous",
    latex=r"L(tP+(1-t)R)=tL(P)+(1-t)L(R)",
    needs=("eot.111",),
)
def linear_part() -> Steps:
    """The total cost of a mixture is the mixture of the total costs."""
    yield Equation(spent(mixture), (odds * spent(P) + spent(R)) / (1 + odds), reason="sums are linear")


linear_part.twin("weights swapped", lambda: Equation(spent(mixture), (spent(P) + odds * spent(R)) / (1 + odds)))
linear_part.twin("a plain sum", lambda: Equation(spent(mixture), spent(P) + spent(R)))


def sum_of_gaps(first_strict: bool, second_strict: bool) -> Follows:
    """If the values of two functions on a chord are ≥ those between, so are their sums, and strictly."""
    first = AtLeast(chord_part, middle_part, strict=first_strict)
    second = AtLeast(chord_rest, middle_rest, strict=second_strict)
    return Follows(
        (first, second),
        AtLeast(chord_part + chord_rest, middle_part + middle_rest, strict=True),
        (sp.S.One, sp.S.One),
        given=(first, second),
        reason="≥ added to > is >",
    )


@claim(
    "eot.sA.sum-rule",
    "inequality",
    title="Convex plus strictly convex is strictly convex",
    latex=r"f\text{ convex},\ g\text{ strictly convex}\implies f+g\text{ strictly convex}",
)
def sum_rule() -> Steps:
    """If one function lies nowhere above its chord and another strictly below, their sum lies strictly below."""
    yield sum_of_gaps(False, True)


sum_rule.twin(
    "convex plus convex",
    lambda: Follows(
        (AtLeast(chord_part, middle_part), AtLeast(chord_rest, middle_rest)),
        AtLeast(chord_part + chord_rest, middle_part + middle_rest, strict=True),
        (sp.S.One, sp.S.One),
        at={chord_part: 0, middle_part: 0, chord_rest: 1, middle_rest: 1},
    ),
)
sum_rule.twin(
    "strictly convex less convex",
    lambda: Follows(
        (AtLeast(chord_part, middle_part), AtLeast(chord_rest, middle_rest, strict=True)),
        AtLeast(chord_rest - chord_part, middle_rest - middle_part, strict=True),
        (sp.S.One, sp.S.One),
    ),
)


def jensen_gap(query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """The gap of φ(x) = x log x at one entry."""
    return (odds * xlogx(P[query, key]) + xlogx(R[query, key])) / (1 + odds) - xlogx(mixture(query, key))


def gap_of_objective(strength: sp.Expr) -> Equation:
    """The chord of J between two plans less J, against `strength` times the gaps of φ."""
    chord = (odds * objective(P, eps) + objective(R, eps)) / (1 + odds)
    return Equation(
        chord - objective(mixture, eps),
        strength * total(TOGETHER, jensen_gap(i, j)),
        reason="the linear part cancels; where P ≠ R some entry's gap is positive",
    )


@claim(
    "eot.sA.strict-convexity",
    "inequality",
    title="The objective is strictly convex on the plans",
    hypotheses=("ε > 0",),
    latex=r"J(tP+(1-t)R)<tJ(P)+(1-t)J(R)\ (P\ne R)",
    needs=("eot.sA.sum-rule", "eot.sA.linear-part"),
)
def strict_convexity() -> Steps:
    """φ is strictly convex on x > 0 and continuous at 0, so on [0, ∞), and J inherits it entry by entry, zeros included."""
    yield Limit(a * sp.log(a), a, sp.S.Zero, sp.S.Zero, reason="φ is continuous at 0, so J is continuous on U(a, ·)")
    yield from scalar_convexity()
    yield gap_of_objective(eps)


strict_convexity.twin("concave", lambda: gap_of_objective(-eps))
strict_convexity.twin("ε is lost", lambda: gap_of_objective(sp.S.One))


@claim(
    "eot.thmA.6",
    "optimality",
    title="One optimal plan for the whole matrix",
    hypotheses=("q_i, k_j finite", "ε > 0"),
    latex=r"\arg\min_{P\in U(a,\cdot)}J(P)=\{P^\star\}",
    needs=("eot.sA.strict-convexity", "eot.sA.compact-convex", "eot.113"),
)
def unique_plan() -> Steps:
    """For any finite queries and keys and any ε > 0 exactly one plan with unit rows minimizes the objective."""
    yield solves(eps, softmax(similarity, eps))


unique_plan.twin("for ε = 1 whatever ε is", lambda: solves(eps, softmax(similarity, sp.S.One)))
unique_plan.twin(
    "normalized over the columns",
    lambda: solves(eps, lambda query, key: sp.exp(similarity(query, key) / eps) / total(i, sp.exp(similarity(i, key) / eps))),
)
