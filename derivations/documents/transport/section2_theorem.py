"""Section 2: the theorem and its lemma, with the printed proof line by line.

Claims     transport.thm1            softmax(S/ε) = argmin ⟨P, −S⟩ − ε H(P) over the plans with unit rows
           transport.lem1            argmax ⟨P, S⟩ + ε H(P) = {softmax(S/ε)}, for every matrix S
           transport.s2.constraint   {Pᵀ1 : P with unit rows} = n times the simplex
           transport.s2.stationary   ∂L/∂W_ij = −S_ij + ε(1 + log W_ij) + λ_i
           transport.s2.solved       ∂L/∂W_ij = 0, W1 = 1  ⟹  W_ij = exp(S_ij/ε)/Σ_k exp(S_ik/ε)
Notation   W > 0 a matrix not yet normalized; λ_i the multiplier of row i; J(P) = −⟨P, S⟩ − ε H(P), the negative of what is
           maximized where the problem is written as a maximum
References the theorem and the lemma of section 2 of the document
"""

import sympy as sp

from derivations.documents.eot import appendix_a_matrix
from derivations.documents.transport.notation import (
    TOGETHER,
    A,
    K,
    Q,
    S,
    V,
    attention,
    c,
    d,
    eps,
    h,
    i,
    j,
    k,
    l,
    m,
    n,
    objective,
    r,
    raw,
    scaled,
    softmax,
    solves,
)
from derivations.vocabulary import *

W = vector("W", n, m, kind=Positive)
lam = vector("lam", n)


def row_sum(query: sp.Expr, strength: sp.Expr = eps) -> sp.Expr:
    """Σ_l exp(S_il/ε)."""
    return total(l, sp.exp(S[query, l] / strength))


# ── attention and its scores ────────────────────────────────────────────────────────────────────────────────────────


def output(weights: Entries) -> sp.Expr:
    """Σ_j A_ij V_jc."""
    return total(j, weights(i, j) * V[j, c])


@claim(
    "transport.s2.attention",
    "definition",
    title="Scaled-dot-product attention",
    latex=r"\mathrm{Attention}(Q,K,V)=\mathrm{softmax}(QK^\top/\sqrt d)\,V",
)
def scaled_dot_product() -> Steps:
    """The values are averaged with positive weights that sum to one for each query, those of the softmax of the scores."""
    at_one = softmax(scaled, sp.S.One)
    yield AtLeast(at_one(i, j), 0, strict=True, reason="positive")
    yield Equation(total(j, at_one(i, j)), 1, reason="so constant values come out unchanged", about=(scaled(i, j),))
    yield Equation(
        output(at_one) * total(l, sp.exp(scaled(i, l))), total(j, sp.exp(scaled(i, j)) * V[j, c]), reason="never divides by 0"
    )


def mass_times_output(scores: Entries) -> Equation:
    """The output times the sum of exponentials, for other scores."""
    return Equation(
        output(softmax(scaled, sp.S.One)) * total(l, sp.exp(scaled(i, l))), total(j, sp.exp(scores(i, j)) * V[j, c])
    )


scaled_dot_product.twin("without 1/√d", lambda: mass_times_output(raw))
scaled_dot_product.twin("divided by d", lambda: mass_times_output(lambda query, key: raw(query, key) / d))


@claim("transport.s2.scores", "definition", title="The scores", latex=r"S=QK^\top/\sqrt d")
def scores() -> Steps:
    """The score of a pair is the dot product of query and key over √d, linear in either."""
    yield Equation(derivative(scaled(i, j), Q[i, r]), K[j, r] / sp.sqrt(d), reason="linear in the query")


scores.twin("√d multiplies", lambda: Equation(derivative(scaled(i, j), Q[i, r]), K[j, r] * sp.sqrt(d)))
scores.twin("divided by d", lambda: Equation(derivative(scaled(i, j), Q[i, r]), K[j, r] / d))


# ── theorem and lemma ───────────────────────────────────────────────────────────────────────────────────────────────


@claim(
    "transport.thm1",
    "optimality",
    title="Attention is the closed-form solution of the semi-relaxed problem",
    latex=r"A=\mathrm{softmax}(S/\varepsilon)=\arg\min_{P\ge0,\,P\mathbf 1=\mathbf 1}\langle P,-S\rangle-\varepsilon H(P),"
    r"\ S=QK^\top/\sqrt d",
    needs=("transport.lem1", "transport.s2.scores", "transport.s2.constraint"),
)
def attention_is_optimal() -> Steps:
    """The attention matrix is the closed-form solution of the entropic problem that fixes the row sums alone."""
    yield AtLeast(attention(i, j), 0, strict=True, reason="A ≥ 0")
    yield Equation(total(j, attention(i, j)), 1, reason="its rows sum to one", about=(scaled(i, j), eps))
    yield solves(scaled, eps, attention)


attention_is_optimal.twin("both temperatures are lost", lambda: solves(scaled, eps, softmax(raw, sp.S.One), at={d: 1}))
attention_is_optimal.twin(
    "the sign of the scores", lambda: solves(scaled, eps, softmax(lambda x, y: -scaled(x, y), eps), at={d: 1})
)


reprint(
    "transport.s2.constraint",
    of=appendix_a_matrix.free_target,
    title="Rows sum to one, columns are free",
    latex=r"P\mathbf 1=\mathbf 1,\quad\textstyle\sum_{ij}P_{ij}=n,\quad(\mathbf 1_nb^\top)^\top\mathbf 1_n=nb",
    statement="Each row is to sum to one, and column sums are not constrained: any that add up to n do occur.",
)


@claim(
    "transport.lem1",
    "optimality",
    title="Lemma 1: for every matrix the row-wise softmax is the only solution",
    latex=r"\arg\max_{A\ge0,\,A\mathbf 1=\mathbf 1}\langle S,A\rangle+\varepsilon H(A)=\{\mathrm{softmax}(S/\varepsilon)\}",
)
def lemma() -> Steps:
    """For every matrix S the problem has one solution, the softmax of each row of S/ε."""
    yield Equation(total(j, A(i, j)), 1, reason="feasible", about=(S[i, j], eps))
    yield AtLeast(A(i, j), 0, strict=True, reason="where A ≥ 0 is not active, so it needs no multiplier")
    yield solves(S, eps, A)


lemma.twin("ε is lost", lambda: solves(S, eps, softmax(S, sp.S.One)))
lemma.twin("the temperature is inverted", lambda: solves(S, eps, softmax(S, 1 / eps)))
lemma.twin(
    "normalized over the queries", lambda: solves(S, eps, lambda x, y: sp.exp(S[x, y] / eps) / total(i, sp.exp(S[i, y] / eps)))
)


# ── the proof ───────────────────────────────────────────────────────────────────────────────────────────────────────


def lagrangian() -> sp.Expr:
    """J(W) + Σ_i λ_i (Σ_j W_ij − 1)."""
    return objective(W, S, eps) + total(i, lam[i] * (total(j, W[i, j]) - 1))


def written_out(strength: sp.Expr, sign: int) -> sp.Expr:
    """−Σ W S + ε Σ W log W ± Σ_i λ_i (Σ_j W_ij − 1)."""
    inner = total(TOGETHER, strength * W[i, j] * sp.log(W[i, j]) - W[i, j] * S[i, j])
    return inner + sign * (total(TOGETHER, lam[i] * W[i, j]) - total(i, lam[i]))


@claim(
    "transport.s2.lagrangian",
    "identity",
    title="The Lagrangian",
    needs=("transport.lem1",),
    latex=r"\mathcal L(A,\lambda)=-\sum_{ij}A_{ij}S_{ij}+\varepsilon\sum_{ij}A_{ij}\log A_{ij}"
    r"+\sum_i\lambda_i(\textstyle\sum_jA_{ij}-1)",
)
def lagrange_function() -> Steps:
    """Each row constraint has a multiplier; the signs of A ≥ 0 need none."""
    yield Equation(derivative(lagrangian(), lam[i]), total(j, W[i, j]) - 1, reason="its slope in λ is the constraint")
    yield Equation(lagrangian(), written_out(eps, 1), reason="−H = Σ A log A")


lagrange_function.twin("the multiplier's sign", lambda: Equation(lagrangian(), written_out(eps, -1)))
lagrange_function.twin("ε is lost", lambda: Equation(lagrangian(), written_out(sp.S.One, 1)))


def slope() -> sp.Expr:
    """∂L/∂W_ij, differentiated from the whole Lagrangian."""
    return derivative(lagrangian(), W[i, j])


def stationarity(entry: sp.Expr, multiplier: sp.Expr) -> sp.Expr:
    """−S_ij + ε (1 + log W_ij) + λ_i."""
    return -S[i, j] + eps * (1 + sp.log(entry)) + multiplier


@claim(
    "transport.s2.stationary",
    "identity",
    title="The derivative, set to zero",
    needs=("transport.s2.lagrangian",),
    latex=r"\frac{\partial\mathcal L}{\partial A_{ij}}=-S_{ij}+\varepsilon(1+\log A_{ij})+\lambda_i=0",
)
def stationary() -> Steps:
    """The slope in an entry is −S + ε(1 + log A) + λ, and for one λ in each row it vanishes at the solution."""
    yield Equation(
        stationarity(A(i, j), eps * sp.log(row_sum(i)) - eps), 0, reason="at A, with λ_i = ε log Z_i − ε", about=(S[i, j], eps)
    )
    yield Equation(slope(), stationarity(W[i, j], lam[i]), reason="(A log A)' = 1 + log A")


stationary.twin("the multiplier's sign", lambda: Equation(slope(), stationarity(W[i, j], -lam[i])))
stationary.twin("the 1 is lost", lambda: Equation(slope(), stationarity(W[i, j], lam[i] - eps)))
stationary.twin("the score's sign", lambda: Equation(slope(), stationarity(W[i, j], lam[i] + 2 * S[i, j])))


def solved_for(entry: sp.Expr) -> Equation:
    """The slope is ε times the difference of two logarithms: one vanishes iff the other does."""
    return Equation(slope(), eps * (sp.log(W[i, j]) - sp.log(entry)), reason="ε > 0")


@claim(
    "transport.s2.solved",
    "equivalence",
    title="Solved for the entry",
    needs=("transport.s2.stationary",),
    latex=r"A_{ij}=\exp\big((S_{ij}-\lambda_i)/\varepsilon-1\big)=\frac{\exp(S_{ij}/\varepsilon)}"
    r"{\sum_k\exp(S_{ik}/\varepsilon)}",
)
def solved() -> Steps:
    """The slope vanishes exactly where the entry is an exponential of its score times what makes its row sum to one."""
    factor = sp.exp(-lam[i] / eps - 1)
    yield Equation(total(k, sp.exp(S[i, k] / eps) * factor), factor * row_sum(i), reason="1 iff the factor is 1/Z_i")
    gap = total(TOGETHER, kl(W[i, j], A(i, j)))
    yield AtLeast(
        gap, 0, because=gap, reason="J exceeds J(A) by ε times this on the plans: the stationary point is the minimum"
    )
    yield solved_for(sp.exp(S[i, j] / eps) * factor)


solved.twin("the factor is inverted", lambda: solved_for(sp.exp(S[i, j] / eps) * sp.exp(lam[i] / eps + 1)))
solved.twin("without ε in the exponent", lambda: solved_for(sp.exp(S[i, j]) * sp.exp(-lam[i] / eps - 1)))


@claim(
    "transport.s2.row-softmax",
    "identity",
    title="This is the row-normalized softmax",
    needs=("transport.s2.solved",),
    latex=r"A=\mathrm{diag}(e^{S/\varepsilon}\mathbf 1)^{-1}e^{S/\varepsilon},\quad A\mathbf 1=\mathbf 1",
)
def row_normalized() -> Steps:
    """What was found are the exponentials, divided by the sum of their row."""
    yield Equation(total(j, A(i, j)), 1, reason="rows sum to one", about=(S[i, j], eps))
    yield matrix_product(row_sum)


def matrix_product(mass: Entry) -> Equation:
    """A_ij against Σ_h diag(mass)⁻¹_ih exp(S_hj/ε)."""
    return Equation(A(i, j), total(h, delta(i, h) / mass(h) * sp.exp(S[h, j] / eps)), reason="softmax of row i of S/ε")


row_normalized.twin("ε is lost in the sum", lambda: matrix_product(lambda query: row_sum(query, sp.S.One)))
row_normalized.twin("normalized over the queries", lambda: matrix_product(lambda _: total(i, sp.exp(S[i, j] / eps))))
