"""Section 3, Remarks 3.4 and 3.5: the temperature √d_k, and the source measure.

Claims     eot.rem3.4                E⟨x, y⟩ = 0 and Var⟨x, y⟩ = d
           eot.s3.unit-variance      Var(⟨x, y⟩/√d) = 1 for every d
           eot.s3.stable-trade-off   J/τ = ⟨p, C/τ⟩ − H(p), with Var⟨p, C/τ⟩ = ‖p‖² for τ = √d
           eot.rem3.5                one source of unit mass: U(δ_q, ·) = the simplex, and the best plan is α
Notation   x, y random vectors of length d with independent entries of mean 0 and variance 1, independent of each other;
           k_1, …, k_m random vectors like y, p a plan that does not depend on them
References Remarks 3.4 and 3.5 of the document
"""

import sympy as sp

from derivations.documents.eot.notation import cost, d, entropy, eps, j, l, m, objective, r, similarity, softmax, tau
from derivations.vocabulary import *

x, y = vector("x", d, kind=Random), vector("y", d, kind=Random)
dot = total(r, x[r] * y[r])
other = index("s", d)
INDEPENDENCE = ("the entries of q and k_j are jointly independent, with mean 0 and variance 1",)


def mean_by_factors() -> sp.Expr:
    """Σ_r E[x_r] E[y_r]."""
    return total(r, expectation(x[r]) * expectation(y[r]))


def variance_by_factors(scale: sp.Expr) -> sp.Expr:
    """Σ_rs E[x_r x_s] E[y_r y_s] less the squared mean, for the dot product over `scale`."""
    second = total((r, other), expectation(x[r] * x[other]) * expectation(y[r] * y[other]) / scale**2)
    return second - (mean_by_factors() / scale) ** 2


@claim(
    "eot.rem3.4",
    "identity",
    title="Mean and variance of a dot product",
    hypotheses=INDEPENDENCE,
    latex=r"\mathbb E\langle q,k_j\rangle=0,\quad\mathrm{Var}\langle q,k_j\rangle=d_k",
)
def dot_product_moments() -> Steps:
    """The dot product of independent standardized vectors has mean 0 and variance d."""
    yield Equation(mean_by_factors(), expectation(dot), reason="E x_r y_r = E x_r · E y_r = 0")
    yield Equation(variance_by_factors(sp.S.One), variance(dot), reason="E x_r x_s y_r y_s = δ_rs, summed twice: d")


dot_product_moments.twin("the standard deviation is d", lambda: Equation(variance(dot), d**2))
dot_product_moments.twin("already normalized", lambda: Equation(variance(dot), 1, about=(d,)))


@claim(
    "eot.s3.unit-variance",
    "identity",
    title="Dividing by √d_k normalizes the variance",
    hypotheses=INDEPENDENCE,
    latex=r"\mathrm{Var}\left(\langle q,k_j\rangle/\sqrt{d_k}\right)=1",
    needs=("eot.rem3.4",),
    part_of="eot.rem3.4",
)
def unit_variance() -> Steps:
    """The scaled dot product has variance 1 for every d."""
    yield Equation(variance_by_factors(sp.sqrt(d)), variance(dot / sp.sqrt(d)), reason="variance is quadratic in the scale: 1")


unit_variance.twin("what division by d would give", lambda: Equation(variance(dot / sp.sqrt(d)), 1 / d))
unit_variance.twin("the standard deviation is √d", lambda: Equation(variance(dot / sp.sqrt(d)), d))


@claim(
    "eot.s3.sqrt-width",
    "external fact",
    title="The Transformer's temperature is √d_k",
    latex=r"\tau=\sqrt{d_k}",
    part_of="eot.rem3.4",
)
def sqrt_width() -> None:
    """Shipped scaled-dot-product attention divides the scores by the square root of the head width."""


shipped = positive("shipped temperature")
sqrt_width.twin("no scaling", lambda: Equation(shipped, 1))
sqrt_width.twin("division by the width", lambda: Equation(shipped, d))


@claim(
    "eot.s3.saturation",
    "empirical",
    title="√d_k keeps softmax from saturating",
    needs=("eot.s3.unit-variance",),
    latex=r"\max_jp_j\not\to1\ \text{as } d_k\to\infty",
    part_of="eot.rem3.4",
)
def saturation() -> None:
    """Scaling by √d_k is said to keep the weights away from one-hot, especially for large d_k."""


@claim(
    "eot.s3.principled-heuristic",
    "equivalence",
    title="√d_k as a principled heuristic",
    needs=("eot.s3.unit-variance",),
    latex=r"\tau=\sqrt{d_k}:\ \text{a stable trade-off}",
    part_of="eot.rem3.4",
)
def principled_heuristic() -> Undecidable:
    """The choice √d_k is called a principled heuristic that adapts the regularization to d_k for a stable trade-off."""
    return Undecidable(
        "no measure of the trade-off and no bound on it as d_k grows is stated; that the scores keep the "
        "variance 1 if queries and keys are as assumed, is judged in eot.s3.unit-variance"
    )


source = index("i", sp.S.One)
P = simplex("P", sp.S.One, m)


def only_row(key: sp.Expr) -> sp.Expr:
    """P_1j, the plan from the only source."""
    return P[1, key]


def primer_objective(strength: sp.Expr) -> sp.Expr:
    """Σ_ij P_ij C_ij − ε H(P) with one source."""
    spent = total((source, j), P[source, j] * cost(j))
    return spent + strength * total((source, j), xlogx(P[source, j]))


def solves(candidate: Entry) -> UniqueMinimum:
    """The candidate is the only minimizer over the plans from one source."""
    return UniqueMinimum(lambda q: objective(q, cost, eps), candidate, m, eps, reason="Theorem 3.3")


@claim(
    "eot.rem3.5",
    "optimality",
    title="One source, free target: plans are a simplex",
    needs=("eot.thm3.3",),
    latex=r"U(\delta_q,\cdot)=\Delta^{m-1},\quad P^\star=\alpha",
)
def one_source() -> Steps:
    """With a single source of unit mass and no target constraint a plan is a point of the simplex, the best one α."""
    yield Equation(primer_objective(eps), objective(only_row, cost, eps), reason="the sum over sources has one term")
    yield solves(softmax(similarity, eps))


one_source.twin("the target is held uniform", lambda: solves(lambda key: 1 / m))
one_source.twin("costs for similarities", lambda: solves(softmax(cost, eps)))


mass, target = simplex("a", sp.S.One), simplex("b", m)
held = coupling("P", mass, target)


@claim(
    "eot.s3.free-target",
    "identity",
    title="With a fixed target there would be nothing to choose",
    needs=("eot.rem3.5",),
    latex=r"U(\delta_q,b)=\{b^\top\},\quad U(\delta_q,\cdot)=\textstyle\bigcup_bU(\delta_q,b)",
    part_of="eot.rem3.5",
)
def free_target() -> Steps:
    """One source and a fixed target b leave only the plan b itself, so it is the target that attention optimizes."""
    yield Equation(total(source, held[source, j]), target[j], reason="the column sum has one term, P_1j")


free_target.twin("the uniform plan", lambda: Equation(total(source, held[source, j]), 1 / m))
free_target.twin("all mass to each key", lambda: Equation(total(source, held[source, j]), 1))


keys = vector("k", m, d, kind=Random)
p = simplex("p", m)


def expense() -> sp.Expr:
    """⟨p, C⟩ with a random query and random keys."""
    return -total((j, r), p[j] * x[r] * keys[j, r])


def expense_by_factors(temperature: sp.Expr) -> sp.Expr:
    """Σ_jl p_j p_l Σ_rs E[x_r x_s] E[k_jr k_ls]/τ², the variance of ⟨p, C⟩/τ, whose mean is 0."""
    moments = expectation(x[r] * x[other]) * expectation(keys[j, r] * keys[l, other])
    return total((j, l), p[j] * p[l] * total((r, other), moments)) / temperature**2


def spread(right: sp.Expr) -> Equation:
    """The variance of the cost of a plan, in units of τ = √d_k."""
    return Equation(expense_by_factors(sp.sqrt(d)), right, reason="τ² = d: the width is gone")


@claim(
    "eot.s3.stable-trade-off",
    "identity",
    title="√d_k keeps the trade-off of cost and entropy at every width",
    latex=r"\tau=\sqrt{d_k}\implies\tfrac1\tau J(p)=\langle p,C/\tau\rangle-H(p),"
    r"\ \mathrm{Var}\,\langle p,C/\tau\rangle=\|p\|^2",
    hypotheses=("the entries of q and of all k_j are jointly independent, with mean 0 and variance 1",),
    needs=("eot.s3.unit-variance", "eot.4"),
)
def stable_trade_off() -> Steps:
    """Stable means here: in units of τ = √d_k the entropy has weight 1, and a fixed plan's cost a variance without d_k."""
    yield Equation(
        objective(p, cost, sp.sqrt(d)) / sp.sqrt(d),
        total(j, p[j] * cost(j)) / sp.sqrt(d) - entropy(p),
        reason="so τ only scales the cost",
    )
    yield Equation(expense_by_factors(tau), variance(expense() / tau), reason="at a fixed τ it grows with d: it is d ‖p‖²/τ²")
    yield spread(total(j, p[j] ** 2))


stable_trade_off.twin("as at a fixed temperature", lambda: spread(d * total(j, p[j] ** 2)))
stable_trade_off.twin("as after division by d", lambda: spread(total(j, p[j] ** 2) / d))
