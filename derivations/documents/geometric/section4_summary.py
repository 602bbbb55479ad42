"""“Summarizing the Data”: vectors at each location, replaced by one number each.

Claims     geometric.5                         ⟨f, p⟩ = ‖f‖ ‖p‖ cos γ at every p
           geometric.s4.points-along-summary   argmax ⟨f, p⟩ + H(p) over the simplex = softmax(f)  (corrected)
           geometric.s4.direction              cos ∠(p* − 1/|S|, f − f̄) ≥ 1/(|S| − 1)  (corrected)
           geometric.s4.important              p*_s/p*_t = exp(f_s − f_t) and ∂p*_t/∂f_t = p*_t(1 − p*_t) ≥ 0
Notation   v a vector of length D, X v the summary that it makes; f any summary, printed f(x) on one side of (5) and f_x on
           the other; p* = softmax(f)
References (5) and the prose around it
"""

import sympy as sp

from derivations.documents.eot.notation import j, k, l, m, softmax
from derivations.documents.eot.regularizers import scaled_entropy, variational
from derivations.documents.geometric.notation import D, X, cosine, f, inner, magnitude, nonzero, p, r, soft
from derivations.documents.geometric.section3_regularized import direction
from derivations.vocabulary import *

v = vector("v", D)
star = soft(f)


def projected(location: sp.Expr) -> sp.Expr:
    """(X v)_j, one number for each location."""
    return total(r, X[location, r] * v[r])


def along(right: sp.Expr) -> Equation:
    """⟨p, X v⟩ against another way to compute it."""
    return Equation(inner(p, projected), right, reason="⟨p, X v⟩ = ⟨Xᵀp, v⟩")


@claim(
    "geometric.s4.summary",
    "definition",
    title="A summary maps a matrix to one number for each location",
    latex=r"f:\mathbb R^{|S|\times D}\to\mathbb R^{|S|}",
    needs=("geometric.s2.same-space",),
)
def summary_of_matrix() -> Steps:
    """A summary has an entry for each location, whatever D is, so that its inner product with the weights is defined."""
    yield along(total(r, v[r] * total(j, p[j] * X[j, r])))


summary_of_matrix.twin("equal weights", lambda: along(total(r, v[r] * total(j, X[j, r])) / m))
summary_of_matrix.twin("the entries are added", lambda: along(total(r, total(j, p[j] * X[j, r]))))


def similarity(right: sp.Expr) -> Equation:
    """⟨f, p⟩ against an expression in lengths and the angle."""
    return Equation(inner(f, p), right, given=(nonzero(f),), reason="(2) with f for x")


@claim(
    "geometric.5",
    "identity",
    title="Similarity with a summary is an unnormalized cosine",
    needs=("geometric.2",),
    hypotheses=("f(x) ≠ 0, or any γ", "f_x is f(x)"),
    latex=r"\arg\max_{p\in\Delta^{|S|}}\langle f(x),p\rangle_{l^2}=\arg\max_{p\in\Delta^{|S|}}\|f_x\|\|p\|\cos\gamma",
)
def summary_cosine() -> Steps:
    """The equation of (2), for the summary in place of the data: the two objectives agree at each p."""
    yield similarity(magnitude(f) * magnitude(p) * cosine(f, p))


summary_cosine.twin("the norm of p is lost", lambda: similarity(magnitude(f) * cosine(f, p)))
summary_cosine.twin("the norm of f is lost", lambda: similarity(magnitude(p) * cosine(f, p)))


def solves(candidate: Entry) -> UniqueMinimum:
    """The candidate is the only maximizer of ⟨f, p⟩ + H(p)."""
    return UniqueMinimum(
        variational(f, scaled_entropy(sp.S.One)),
        candidate,
        m,
        sp.S.One,
        reason="the value at softmax(f) less that at q is Σ_j kl(q_j ‖ softmax(f)_j)",
    )


@claim(
    "geometric.s4.points-along-summary",
    "optimality",
    title="Solving (5) gives weights along the summary",
    latex=r"\arg\max_{p\in\Delta^{|S|}}\langle f(x),p\rangle\ \text{as in (4), with } f(x) \text{ for } x",
    needs=("geometric.5", "geometric.4", "geometric.s2.corner"),
)
def points_along_summary() -> Steps:
    """It is (5) that is to be solved, so that p no longer is a basis vector but the softmax of the summary."""
    yield Fails(
        UniqueMinimum(lambda q: -inner(f, q), star, m, sp.S.One, at={m: 2, f.label: [1, 0]}),
        reason="(5) has lost −Ω(p): it is (2) again, and for f = (1, 0) solved by e₁",
    )


@points_along_summary.corrected(
    r"\arg\max_{p\in\Delta^{|S|}}\langle f(x),p\rangle-\Omega(p)=\mathrm{softmax}(f(x))"
    r"\ \text{for } -\Omega=H",
    Severity.SLIP,
    replaces="the problem, which lacks −Ω(p)",
)
def regularized_summary() -> Steps:
    """With the regularizer of (3) kept, minus Shannon's entropy, the only solution is the softmax of the summary."""
    yield solves(star)


points_along_summary.twin("half the temperature", lambda: solves(softmax(f, sp.S.Half)))
points_along_summary.twin("the sign of the summary", lambda: solves(soft(lambda location: -f[location])))

reprint(
    "geometric.s4.direction",
    direction,
    title="The weights point in approximately the direction of the summary",
    latex=r"\cos\angle(\mathrm{softmax}(f(x)),f(x))\ge\cos\angle(e_t,f(x))\ \text{for } e_t \text{ optimal in (5)}",
    statement="The weights are said to point in about the direction of the summary, here and where they are trained: with "
    "the regularizer of (3) put back, so that p = softmax(f(x)), at least closer to it than the basis vector "
    "that solves (5); x in the proof is f(x).",
    correction=Statement(
        r"p^\star_s/p^\star_t=e^{f_s-f_t},\quad\cos\angle(p^\star-\tfrac1{|S|}\mathbf1,f-\bar f\mathbf1)"
        r"\ge\frac1{|S|-1};\quad f\ge0:\ \cos\angle(p^\star,f),\cos\angle(e_t,f)\ge|S|^{-1/2}",
        "It is the centred vectors that are aligned, with a cosine of at least 1/(|S| − 1), and the weights have the order "
        "of the summary.",
    ),
)


def ratio(exponent: sp.Expr) -> Equation:
    """The ratio of two weights against an exponential."""
    return Equation(star(j) / star(k), sp.exp(exponent), reason="so p*_j ≥ p*_k iff f_j ≥ f_k: it is differences that count")


@claim(
    "geometric.s4.important",
    "identity",
    title="A large summary value makes a location important",
    latex=r"p^\star_s/p^\star_t=e^{f_s-f_t},\quad\partial p^\star_t/\partial f_t=p^\star_t(1-p^\star_t)\ge0",
    needs=("geometric.4",),
)
def important() -> Steps:
    """The larger a location's summary value is than those of others, the larger is its weight; the weights form a pmf."""
    yield Equation(total(j, star(j)), 1, about=(f[j],), reason="a valid pmf")
    yield Equation(derivative(star(j), f[j]), star(j) * (1 - star(j)), reason="the weight rises with its own value …")
    yield AtLeast(1 - star(j), 0, because=total(l, star(l) * (1 - delta(l, j))), reason="… as 1 − p*_j is that of the others")
    yield ratio(f[j] - f[k])


important.twin("the order is reversed", lambda: ratio(f[k] - f[j]))
important.twin("by its own value alone", lambda: ratio(f[j]))
