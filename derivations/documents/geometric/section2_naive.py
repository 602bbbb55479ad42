"""“Naive Attention Weights”: the inner product as an unnormalized cosine, and where it is largest.

Claims     geometric.2                      ⟨p, x⟩ = ‖p‖ ‖x‖ cos γ at every p, with γ the angle between p and x
           geometric.s2.basis-vector        x_t = max x  ⟹  ⟨e_t, x⟩ ≥ ⟨p, x⟩ for every p in the simplex
           geometric.s2.not-the-direction   ‖x‖² sin² ∠(e_t, x) = Σ_{s≠t} x_s²
           geometric.s2.corner              x₁ > x₂  ⟹  argmax ⟨p, x⟩ = {(1, 0)}
Notation   top the largest entry of x, at the location `best`; top − s_j with s_j ≥ 0 the others: any x is of this form;
           margin > 0 the lead of the largest entry where there is only one, h_j ≥ 0 what others trail by besides
References (2), the list below it and the caption of its figure; the fundamental theorem of linear programming
"""

import sympy as sp

from derivations.documents.eot.notation import j, k, m
from derivations.documents.geometric.notation import D, best, corner, cosine, inner, magnitude, nonzero, p, r, x
from derivations.vocabulary import *

slack, extra = vector("s", m, kind=Nonnegative), vector("h", m, kind=Nonnegative)
top, margin = scalar("top"), positive("margin")


def similarity(right: sp.Expr) -> Equation:
    """⟨p, x⟩ against an expression in lengths and the angle."""
    return Equation(inner(p, x), right, given=(nonzero(x),), reason="2⟨p, x⟩ = ‖p‖² + ‖x‖² − ‖p − x‖², the law of cosines")


@claim(
    "geometric.2",
    "identity",
    title="The inner product is an unnormalized cosine",
    hypotheses=("x ≠ 0, or any γ: for x = 0 both sides are 0",),
    latex=r"\arg\max_{p\in\Delta^{|S|}}\langle p,x\rangle=\arg\max_{p\in\Delta^{|S|}}\|p\|\|x\|\cos\gamma",
)
def unnormalized_cosine() -> Steps:
    """The two problems are one: the objectives agree at each p, with γ for the angle between p and x."""
    yield similarity(magnitude(p) * magnitude(x) * cosine(p, x))


unnormalized_cosine.twin("the norm of p is lost", lambda: similarity(magnitude(x) * cosine(p, x)))
unnormalized_cosine.twin("the norms are squared", lambda: similarity(total(j, p[j] ** 2) * total(j, x[j] ** 2) * cosine(p, x)))
unnormalized_cosine.twin("the cosine itself", lambda: similarity(cosine(p, x)))


@claim("geometric.s2.too-naive", "empirical", title="Too naive to help prediction", latex=r"\text{unlikely to help prediction}")
def too_naive() -> Undecidable:
    """Weights that resemble the data themselves are said to be too naive to help, with and without a regularizer."""
    return Undecidable(
        "no prediction task, model or measure is stated; with V(t) = x_t the maximizer of (2) is max pooling, "
        "which suits some tasks and not others"
    )


def surplus(right: sp.Expr) -> Equation:
    """The number of coordinates by which |S| vectors of length D exceed |S| weights."""
    return Equation(total((j, r), sp.S.One) - total(j, sp.S.One), right, reason="|S|D and |S| coordinates: equal iff D = 1")


@claim(
    "geometric.s2.same-space",
    "equivalence",
    title="Weights and data share a space only if the data are scalars",
    latex=r"\mathbb R^{|S|}=\mathbb R^{|S|\times D}\iff D=1",
)
def same_space() -> Steps:
    """An inner product of p and x needs as many coordinates of each, which holds for scalars and not for longer vectors."""
    yield surplus(m * (D - 1))


same_space.twin("always", lambda: surplus(sp.S.Zero))
same_space.twin("a square of data", lambda: surplus(m * (D**2 - 1)))


# ── where the inner product is largest ──────────────────────────────────────────────────────────────────────────────


def any_data(location: sp.Expr) -> sp.Expr:
    """top − s_j, and top at the location `best`: any x."""
    return top - (1 - delta(location, best)) * slack[location]


def optimal(right: sp.Expr, because: sp.Expr | None = None) -> AtLeast:
    """⟨e_best, x⟩ is at least this."""
    return AtLeast(inner(corner, any_data), right, because=because, reason="what p loses is Σ_j p_j (top − x_j)")


@claim(
    "geometric.s2.basis-vector",
    "optimality",
    title="Some basis vector is a solution",
    needs=("geometric.2",),
    latex=r"x_t\ge x_s\implies\langle e_t,x\rangle\ge\langle p,x\rangle\ \text{for all } p\in\Delta^{|S|}",
)
def basis_vector() -> Steps:
    """For every x the basis vector of a largest entry is optimal; so is p if and only if it has no mass off largest entries."""
    yield Equation(inner(corner, any_data), top, reason="the value at e_best", about=(best,))
    yield optimal(inner(p, any_data), total(j, p[j] * (1 - delta(j, best)) * slack[j]))


basis_vector.twin("better than the sum of the data", lambda: optimal(total(j, any_data(j))))
basis_vector.twin("better than the average of magnitudes", lambda: optimal(total(j, p[j] * sp.Abs(any_data(j)))))


def sine(right: sp.Expr) -> Equation:
    """‖e_best‖²‖x‖² − ⟨e_best, x⟩²: the squared sine of the angle, times ‖x‖²."""
    own = total(j, corner(j) ** 2) * total(j, x[j] ** 2) - inner(corner, x) ** 2
    return Equation(own, right, reason="0 only if all other entries of x are 0")


@claim(
    "geometric.s2.not-the-direction",
    "identity",
    title="The basis vector does not point in the direction of the data",
    latex=r"\|x\|^2\sin^2\angle(e_t,x)=\textstyle\sum_{s\ne t}x_s^2",
    needs=("geometric.s2.basis-vector",),
)
def not_the_direction() -> Steps:
    """What maximizes the inner product has in general another direction than x: e_t has it only if x is a multiple of e_t."""
    pairs = total((j, k), (p[j] * x[k] - p[k] * x[j]) ** 2) / 2
    yield Equation(
        total(j, p[j] ** 2) * total(j, x[j] ** 2) - inner(p, x) ** 2,
        pairs,
        reason="Lagrange: the sine of the angle is 0 iff p is parallel to x (all p are optimal for x = (1, …, 1))",
    )
    yield Fails(Equation(sine(sp.S.Zero).left, 0, at={m: 2, x.label: [2, 1], best: 1}), reason="x = (2, 1), e₁ is optimal")
    yield sine(total(j, (1 - delta(j, best)) * x[j] ** 2))


not_the_direction.twin("always in the direction of x", lambda: sine(sp.S.Zero))
not_the_direction.twin("always orthogonal to x", lambda: sine(total(j, x[j] ** 2)))


def one_largest(location: sp.Expr) -> sp.Expr:
    """top at one location, and at least a margin less at the others."""
    return top - (1 - delta(location, best)) * (margin + extra[location])


def loss(right: sp.Expr, because: sp.Expr | None = None) -> AtLeast:
    """A lower bound for the loss of p against e_best."""
    return AtLeast(
        inner(corner, one_largest) - inner(p, one_largest), right, because=because, reason="so that only e_best loses nothing"
    )


@claim(
    "geometric.s2.corner",
    "optimality",
    title="The maximizer is simply (1, 0)",
    needs=("geometric.s2.basis-vector",),
    latex=r"\arg\max_{p\in\Delta^2}\langle p,x\rangle=\{(1,0)\}",
    hypotheses=("the x of the figure, with x₁ > x₂",),
)
def simply_a_corner() -> Steps:
    """Where one entry is the largest, its basis vector is the only solution; where several are, their mixtures are too."""
    yield Equation(inner(p, lambda location: top), top, about=(p[j],), reason="if all entries tie every p is optimal")
    yield loss(margin * (1 - p[best]), total(j, p[j] * (1 - delta(j, best)) * extra[j]))


simply_a_corner.twin("twice the margin", lambda: loss(2 * margin * (1 - p[best])))
simply_a_corner.twin("e_best loses too", lambda: loss(margin))
