"""Attention in pieces: merging two of them is exact and associative, and the backward pass needs one number per query.

Claims     beyond.merge               o = w o₁ + (1 − w) o₂, w = σ(ℓ₁ − ℓ₂), ℓ = ℓ₂ + log(1 + exp(ℓ₁ − ℓ₂))
           beyond.merge-associative   (A ⊕ B) ⊕ C = A ⊕ (B ⊕ C) for pairs (ℓ, o)
           beyond.row-correction      ⟨g, o⟩ = E_p[⟨g, v⟩] = −E_p[u], the baseline of the gradient
Notation   two pieces of t1 and t2 keys with scores x and y (over τ) and values X, Y; ℓ₁, ℓ₂ their log-sum-exps and o₁, o₂
           their outputs; a, b, c log-sum-exps and A, B, C one coordinate of outputs; g = ∇_c L, u = −Vg
References Dao, Fu, Ermon, Rudra and Ré (2022); Rabe and Staats (2021); Milakov and Gimelshein (2018)
"""

import sympy as sp

from derivations.documents.eot.notation import V, c, expect, g, j, k, s, softmax, tau
from derivations.vocabulary import *

t1, t2 = size("t1"), size("t2")
j1, j2 = index("j", t1), index("k", t2)
x, y, X, Y = vector("x", t1), vector("y", t2), vector("X", t1), vector("Y", t2)
first, second = total(j1, sp.exp(x[j1])), total(j2, sp.exp(y[j2]))
o1, o2 = total(j1, sp.exp(x[j1]) * X[j1]) / first, total(j2, sp.exp(y[j2]) * Y[j2]) / second
apart = sp.log(first) - sp.log(second)
p = softmax(s, tau)


def merged(weight: sp.Expr) -> Equation:
    """The output over all keys against a mean of both outputs."""
    together = (total(j1, sp.exp(x[j1]) * X[j1]) + total(j2, sp.exp(y[j2]) * Y[j2])) / (first + second)
    return Equation(together, weight * o1 + (1 - weight) * o2, reason="σ(log a − log b) = a/(a + b)")


@claim(
    "beyond.merge",
    "identity",
    title="Two pieces of attention, merged",
    needs=("transport.s4.flash-tiles",),
    latex=r"o=\sigma(\ell_1-\ell_2)\,o_1+\sigma(\ell_2-\ell_1)\,o_2,\quad\ell=\ell_2+\log(1+e^{\ell_1-\ell_2})",
)
def merge() -> Steps:
    """Outputs over disjoint keys and their log-sum-exps are all that the output over all keys needs."""
    yield Equation(first + second, second * (1 + sp.exp(apart)), reason="exp ℓ = exp ℓ₂ · (1 + exp(ℓ₁ − ℓ₂)),")
    yield merged(sigmoid(apart))


merge.twin("the weights exchanged", lambda: merged(sigmoid(-apart)))
merge.twin("equal weights", lambda: merged(sp.S.Half))


# ── pairs (ℓ, o) as a monoid ────────────────────────────────────────────────────────────────────────────────────────

a, b, d = scalar("a"), scalar("b"), scalar("d")
A, B, D = scalar("A"), scalar("B"), scalar("D")
Pair = tuple[sp.Expr, sp.Expr]


def combine(one: Pair, other: Pair) -> Pair:
    """(ℓ₁, o₁) ⊕ (ℓ₂, o₂)."""
    (l1, x1), (l2, x2) = one, other
    return l2 + softplus(l1 - l2), sigmoid(l1 - l2) * x1 + sigmoid(l2 - l1) * x2


LEFT = combine(combine((a, A), (b, B)), (d, D))
RIGHT = combine((a, A), combine((b, B), (d, D)))


@claim(
    "beyond.merge-associative",
    "identity",
    title="Pieces can be merged in any order and any grouping",
    needs=("beyond.merge",),
    latex=r"(A\oplus B)\oplus C=A\oplus(B\oplus C),\qquad A\oplus B=B\oplus A",
)
def associative() -> Steps:
    """Merging is associative and commutative, so trees, rings and streams of pieces all give one result."""
    yield Equation(combine((a, A), (b, B))[0], combine((b, B), (a, A))[0], reason="ℓ is symmetric,")
    yield Equation(sp.exp(LEFT[0]), sp.exp(a) + sp.exp(b) + sp.exp(d), reason="and exp ℓ is the sum of all exponentials,")
    yield Equation(sp.exp(RIGHT[0]), sp.exp(a) + sp.exp(b) + sp.exp(d), reason="however they are grouped;")
    yield Equation(
        LEFT[1],
        (sp.exp(a) * A + sp.exp(b) * B + sp.exp(d) * D) / (sp.exp(a) + sp.exp(b) + sp.exp(d)),
        reason="the mean with weights eᵃ, eᵇ, eᵈ,",
    )
    yield Equation(LEFT[1], RIGHT[1], reason="and so is the other grouping")


associative.twin("the plain mean", lambda: Equation(LEFT[1], (A + B + D) / 3))
associative.twin(
    "the log-sum-exp is not updated",
    lambda: Equation(LEFT[1], sigmoid(a - b) * A + sigmoid(b - a) * combine((b, B), (d, D))[1]),
)


# ── the backward pass ───────────────────────────────────────────────────────────────────────────────────────────────


def upstream(key: sp.Expr) -> sp.Expr:
    """dP_j = ⟨g, v_j⟩ = −u_j."""
    return total(c, g[c] * V[key, c])


def output(coordinate: sp.Expr) -> sp.Expr:
    """o_c = Σ_j p_j V_jc."""
    return total(j, p(j) * V[j, coordinate])


def correction() -> sp.Expr:
    """D = ⟨g, o⟩."""
    return total(c, g[c] * output(c))


def backward(right: sp.Expr) -> Equation:
    """∂L/∂s_j of a loss with the gradient g in the output."""
    gradient = total(c, g[c] * derivative(total(k, p(k) * V[k, c]), s[j]))
    return Equation(gradient, right, reason="p_j(dP_j − E_p[dP])/τ, where E_p[dP] = D")


@claim(
    "beyond.row-correction",
    "identity",
    title="The backward pass's row sum is the baseline of the policy gradient",
    hypotheses=("τ > 0",),
    needs=("eot.46",),
    latex=r"\frac{\partial\mathcal L}{\partial s_j}=\frac{p_j}\tau\big(d_j-D\big),\quad "
    r"D=\langle\nabla_o\mathcal L,o\rangle=\sum_jp_j\,d_j=-\mathbb E_p[u]",
)
def row_correction() -> Steps:
    """The one number per query that the backward pass keeps, ⟨dO, O⟩, is the mean utility: no second pass is needed."""
    yield Equation(correction(), expect(p, upstream), reason="sums exchanged: D = Σ_j p_j dP_j, which is −E_p[u]")
    yield backward(p(j) / tau * (upstream(j) - correction()))


row_correction.twin("no correction", lambda: backward(p(j) / tau * upstream(j)))
row_correction.twin("the sign of the correction", lambda: backward(p(j) / tau * (upstream(j) + correction())))
