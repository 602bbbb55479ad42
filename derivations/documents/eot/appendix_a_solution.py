"""Appendix A, the solution: the Lagrangian with one multiplier a row, and the attention matrix.

Claims     eot.thmA.7         ε = τ  ⟹  argmin J over the plans with unit rows = {softmax of each row of QKᵀ/τ}
           eot.sA.separable   ∂²L/∂P_ij ∂P_hk = 0 for h ≠ i
           eot.117            ∂L/∂P_ij = C_ij + ε(log P_ij + 1) − λ_i
           eot.122            Σ_j P_ij = 1  ⟺  exp((ε − λ_i)/ε) = Z_i
Notation   P a plan with unit rows; W a positive matrix, not yet normalized; λ_i the multiplier of row i;
           Z_i = Σ_l exp(−C_il/ε)
References Theorem A.7 of the document and its proof
"""

import sympy as sp

from derivations.documents.eot.appendix_a_matrix import TOGETHER, P, cost, objective, similarity, softmax, solves
from derivations.documents.eot.notation import eps, i, j, k, l, m, n, tau
from derivations.vocabulary import *

a = positive("a")
W, Z = vector("W", n, m, kind=Positive), vector("Z", n, kind=Positive)
lam = vector("lam", n)
A = softmax(similarity, tau)


def row_sum(query: sp.Expr, strength: sp.Expr) -> sp.Expr:
    """Z_i = Σ_l exp(−C_il/ε)."""
    return total(l, sp.exp(-cost(query, l) / strength))


@claim(
    "eot.114",
    "definition",
    title="The attention matrix",
    needs=("eot.1",),
    hypotheses=("τ > 0",),
    latex=r"A_{ij}=e^{\langle q_i,k_j\rangle/\tau}\Big/\sum_{l=1}^me^{\langle q_i,k_l\rangle/\tau}",
)
def attention_matrix() -> Steps:
    """Each row is the softmax of that query's scaled similarities."""
    yield AtLeast(A(i, j), 0, strict=True, reason="positive")
    yield Equation(A(i, j) * row_sum(i, tau), sp.exp(similarity(i, j) / tau), reason="never divides by 0")


attention_matrix.twin("no temperature", lambda: Equation(A(i, j) * row_sum(i, tau), sp.exp(similarity(i, j))))
attention_matrix.twin("dissimilarity", lambda: Equation(A(i, j) * row_sum(i, tau), sp.exp(cost(i, j) / tau)))


@claim(
    "eot.thmA.7",
    "optimality",
    title="The attention matrix is the unique optimal plan",
    hypotheses=("ε = τ > 0",),
    latex=r"\varepsilon=\tau\implies\arg\min_{P\in U(a,\cdot)}J(P)=\{A\}",
    needs=("eot.thmA.6", "eot.114", "eot.123"),
)
def attention_is_the_plan() -> Steps:
    """With ε = τ the problem for the whole matrix is solved by the attention matrix, and by no other plan."""
    yield Equation(total(j, A(i, j)), 1, reason="A is feasible")
    yield solves(tau, A)


attention_is_the_plan.twin("the solution for ε = 2τ", lambda: solves(tau, softmax(similarity, 2 * tau)))
attention_is_the_plan.twin("the sign of the scores", lambda: solves(tau, softmax(cost, tau)))
attention_is_the_plan.twin(
    "one normalization for the whole matrix",
    lambda: solves(
        tau, lambda query, key: n * sp.exp(similarity(query, key) / tau) / total(TOGETHER, sp.exp(similarity(i, j) / tau))
    ),
)


def excess(query: sp.Expr) -> sp.Expr:
    """1 − Σ_j W_ij."""
    return 1 - total(j, W[query, j])


def lagrangian() -> sp.Expr:
    """J(W) + Σ_i λ_i (1 − Σ_j W_ij)."""
    return objective(W, eps) + total(i, lam[i] * excess(i))


def row_lagrangians(sign: int, strength: sp.Expr) -> sp.Expr:
    """Σ_i (Σ_j (W_ij C_ij + ε W_ij log W_ij) + λ_i (1 − Σ_j W_ij))."""
    inner = total(j, W[i, j] * cost(i, j) + strength * W[i, j] * sp.log(W[i, j]))
    return total(i, inner + sign * lam[i] * excess(i))


@claim(
    "eot.115",
    "definition",
    title="The Lagrangian of the matrix problem",
    needs=("eot.111", "eot.108"),
    latex=r"\mathcal L(P,\lambda)=J(P)+\sum_i\lambda_i(1-\textstyle\sum_jP_{ij})",
)
def matrix_lagrangian() -> Steps:
    """One multiplier for each row; its slope in λ_i is what row i lacks, so on the plans it equals J for every λ."""
    on_plans = objective(P, eps) + total(i, lam[i] * (1 - total(j, P[i, j])))
    yield Equation(on_plans, objective(P, eps), reason="unit rows", about=(lam[i],))
    yield Equation(derivative(lagrangian(), lam[i]), excess(i), reason="linear in λ")


matrix_lagrangian.twin("the multiplier's sign", lambda: Equation(derivative(lagrangian(), lam[i]), -excess(i)))
matrix_lagrangian.twin(
    "one multiplier for the total mass", lambda: Equation(derivative(lagrangian(), lam[i]), n - total(TOGETHER, W[i, j]))
)


@claim(
    "eot.116",
    "identity",
    title="A sum of row Lagrangians",
    needs=("eot.115",),
    latex=r"\mathcal L=\sum_i\Big(\sum_j(P_{ij}C_{ij}+\varepsilon P_{ij}\log P_{ij})"
    r"+\lambda_i(1-\textstyle\sum_jP_{ij})\Big)",
)
def row_by_row() -> Steps:
    """The Lagrangian is the sum over the rows of what each row contributes with its own multiplier."""
    yield Equation(lagrangian(), row_lagrangians(1, eps), reason="sums over pairs are sums over rows of sums over keys")


row_by_row.twin("the multiplier's sign", lambda: Equation(lagrangian(), row_lagrangians(-1, eps)))
row_by_row.twin("ε is lost", lambda: Equation(lagrangian(), row_lagrangians(1, sp.S.One)))


def slope() -> sp.Expr:
    """∂L/∂W_ij, differentiated from the whole Lagrangian."""
    return derivative(lagrangian(), W[i, j])


@claim(
    "eot.sA.separable",
    "identity",
    title="Rows do not interact",
    needs=("eot.116",),
    latex=r"\frac{\partial^2\mathcal L}{\partial P_{ij}\,\partial P_{hk}}=0\ (h\ne i)",
)
def separable() -> Steps:
    """The slope in an entry of one row does not depend on the entries of another, so rows are solved one by one."""
    apart = index("h", n, other_than=(i,))
    yield Equation(derivative(slope(), W[apart, k]), 0, reason="no entry of row h occurs", about=(W[i, j], apart, k))


def cross_slope(right: sp.Expr) -> Equation:
    """The mixed second slope of two rows against an expression."""
    return Equation(derivative(slope(), W[index("h", n, other_than=(i,)), k]), right)


separable.twin("as within a row", lambda: cross_slope(delta(j, k) * eps / W[i, j]))
separable.twin("each column ties the rows", lambda: cross_slope(delta(j, k) * eps))


@claim(
    "eot.sA.relative-interior",
    "inequality",
    title="The entropy keeps the plan in the relative interior",
    latex=r"P^\star_{ij}>0",
    needs=("eot.113",),
)
def relative_interior() -> Steps:
    """Every entry of the optimal plan is positive: the slope of x log x is −∞ at 0."""
    yield Limit(derivative(a * sp.log(a), a), a, sp.S.Zero, -sp.oo, reason="moving mass to an empty place always pays")
    yield AtLeast(softmax(similarity, eps)(i, j), 0, strict=True, reason="and the solution has no zero")


relative_interior.twin("at least 1/m", lambda: AtLeast(softmax(similarity, eps)(i, j), 1 / m, strict=True))
relative_interior.twin("at least one half", lambda: AtLeast(softmax(similarity, eps)(i, j), sp.S.Half, strict=True))


def stationarity(sign: int = 1) -> sp.Expr:
    """C_ij + ε (log W_ij + 1) − λ_i."""
    return cost(i, j) + eps * (sp.log(W[i, j]) + 1) - sign * lam[i]


@claim(
    "eot.117",
    "identity",
    title="Stationarity in one entry",
    needs=("eot.116",),
    latex=r"\frac{\partial\mathcal L}{\partial P_{ij}}=C_{ij}+\varepsilon(\log P_{ij}+1)-\lambda_i=0",
)
def stationary() -> Steps:
    """The slope is C_ij + ε(log P_ij + 1) − λ_i, and with λ_i = ε − ε log Z_i it vanishes in row i of the solution."""
    star, level = softmax(similarity, eps)(i, j), eps - eps * sp.log(row_sum(i, eps))
    yield Equation(cost(i, j) + eps * (sp.log(star) + 1) - level, 0, reason="for every i and j", about=(cost(i, j), eps))
    yield Equation(slope(), stationarity(), reason="(P log P)' = log P + 1")


stationary.twin("the multiplier's sign", lambda: Equation(slope(), stationarity(-1)))
stationary.twin("the + 1 is lost", lambda: Equation(slope(), stationarity() - eps))


def residual(right: sp.Expr, strength: sp.Expr = eps) -> Equation:
    """The stationarity condition's left side is ε times log W_ij less `right`: one vanishes iff the other does."""
    return Equation(slope(), eps * sp.log(W[i, j]) - strength * right, reason="ε > 0")


@claim(
    "eot.118",
    "equivalence",
    title="Solved for ε log P",
    needs=("eot.117",),
    latex=r"\varepsilon\log P_{ij}=-C_{ij}+\lambda_i-\varepsilon",
)
def solved_for_log() -> Steps:
    """Stationarity holds exactly when ε log P_ij is −C_ij + λ_i − ε."""
    yield residual(-cost(i, j) + lam[i] - eps, sp.S.One)


solved_for_log.twin("the multiplier's sign", lambda: residual(-cost(i, j) - lam[i] - eps, sp.S.One))
solved_for_log.twin("+ ε for − ε", lambda: residual(-cost(i, j) + lam[i] + eps, sp.S.One))


@claim(
    "eot.119",
    "equivalence",
    title="Divided by ε",
    needs=("eot.118",),
    latex=r"\log P_{ij}=-C_{ij}/\varepsilon+(\lambda_i-\varepsilon)/\varepsilon",
)
def divided() -> Steps:
    """The logarithm of an entry is the scaled negative cost plus a constant of its row."""
    yield residual(-cost(i, j) / eps + (lam[i] - eps) / eps)


divided.twin("the cost's sign", lambda: residual(cost(i, j) / eps + (lam[i] - eps) / eps))
divided.twin("(λ − 1)/ε", lambda: residual(-cost(i, j) / eps + (lam[i] - 1) / eps))


@claim(
    "eot.120",
    "equivalence",
    title="Exponentiated",
    needs=("eot.119",),
    latex=r"P_{ij}=e^{-C_{ij}/\varepsilon}\,e^{(\lambda_i-\varepsilon)/\varepsilon}",
)
def exponentiated() -> Steps:
    """An entry is the exponential of its scaled negative cost times a factor of its row."""
    yield residual(sp.log(sp.exp(-cost(i, j) / eps) * sp.exp((lam[i] - eps) / eps)))


exponentiated.twin(
    "the factor is inverted", lambda: residual(sp.log(sp.exp(-cost(i, j) / eps) * sp.exp(-(lam[i] - eps) / eps)))
)
exponentiated.twin("a sum of exponentials", lambda: residual(sp.log(sp.exp(-cost(i, j) / eps) + sp.exp((lam[i] - eps) / eps))))


@claim(
    "eot.sA.constant-of-row",
    "equivalence",
    title="Z_i is the reciprocal of the factor of row i",
    needs=("eot.120",),
    latex=r"Z_i=e^{-(\lambda_i-\varepsilon)/\varepsilon},\quad P_{ij}=\tfrac1{Z_i}e^{-C_{ij}/\varepsilon}",
)
def constant_of_row() -> Steps:
    """Within a row entries are proportional to exp(−C_ij/ε), with a constant that depends on the row alone."""
    yield residual(sp.log(sp.exp(-cost(i, j) / eps) / sp.exp(-(lam[i] - eps) / eps)))


constant_of_row.twin("Z_i multiplies", lambda: residual(sp.log(sp.exp(-cost(i, j) / eps) * sp.exp(-(lam[i] - eps) / eps))))
constant_of_row.twin("without ε in the exponent", lambda: residual(sp.log(sp.exp(-cost(i, j)) / sp.exp(-(lam[i] - eps) / eps))))


def shares(divisor: sp.Expr) -> sp.Expr:
    """Σ_j exp(−C_ij/ε)/Z_i."""
    return total(j, sp.exp(-cost(i, j) / eps) / divisor)


@claim(
    "eot.121",
    "identity",
    title="Each row sums to one",
    needs=("eot.sA.constant-of-row",),
    latex=r"\sum_jP_{ij}=\sum_j\tfrac1{Z_i}e^{-C_{ij}/\varepsilon}=1",
)
def rows_sum_to_one() -> Steps:
    """With the Z_i of (122) the entries of row i add up to 1."""
    yield Equation(row_mass(), 1, reason="1/Z_i leaves the sum over j", about=(cost(i, j), eps))


def row_mass() -> sp.Expr:
    """Σ_j P*_ij."""
    return total(j, softmax(similarity, eps)(i, j))


rows_sum_to_one.twin("Z without ε", lambda: Equation(row_mass(), shares(row_sum(i, sp.S.One))))
rows_sum_to_one.twin("the mean for Z", lambda: Equation(row_mass(), shares(row_sum(i, eps) / m)))


@claim("eot.122", "equivalence", title="The constant of a row", needs=("eot.121",), latex=r"Z_i=\sum_le^{-C_{il}/\varepsilon}")
def constant() -> Steps:
    """Row i has mass 1 exactly when Z_i is the sum of its exponentials."""
    yield Equation(Z[i] * (1 - shares(Z[i])), Z[i] - row_sum(i, eps), reason="Z_i > 0, so one side vanishes iff the other does")


constant.twin("ε is lost", lambda: Equation(Z[i] * (1 - shares(Z[i])), Z[i] - row_sum(i, sp.S.One)))
constant.twin(
    "summed over the queries", lambda: Equation(Z[i] * (1 - shares(Z[i])), Z[i] - total((i, l), sp.exp(-cost(i, l) / eps)))
)


@claim(
    "eot.123",
    "optimality",
    title="The optimal plan is the row-wise softmax",
    hypotheses=("ε = τ > 0",),
    latex=r"P^\star_{ij}=e^{\langle q_i,k_j\rangle/\tau}\Big/\sum_{l=1}^me^{\langle q_i,k_l\rangle/\tau}",
    needs=("eot.sA.constant-of-row", "eot.122"),
)
def solution() -> Steps:
    """Inserting Z_i and the costs gives the softmax of each row, and that is the only optimal plan."""
    yield Equation(A(i, j) * row_sum(i, tau), sp.exp(-cost(i, j) / tau), reason="C_il = −⟨q_i, k_l⟩, ε = τ")
    yield solves(tau, A)


solution.twin("the temperature is lost", lambda: solves(tau, softmax(similarity, sp.S.One)))
solution.twin(
    "normalized over the columns",
    lambda: solves(tau, lambda query, key: sp.exp(similarity(query, key) / tau) / total(i, sp.exp(similarity(i, key) / tau))),
)
