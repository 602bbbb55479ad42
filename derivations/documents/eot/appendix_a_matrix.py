"""Appendix A, the problem: many queries at once, each a source of unit mass, and the target left free.

Claims     eot.112               J(P) = −Σ_ij P_ij⟨q_i, k_j⟩ + ε Σ_ij P_ij log P_ij
           eot.113               min J over the plans with unit rows is attained, at one plan
           eot.sA.decomposable   J(P) = Σ_i J_i(P_i), one term for each row
           eot.sA.unit-masses    J(P/n) = J(P)/n − ε log n: with a_i = 1/n it is the primer's problem  (corrected)
           eot.sA.free-target    {Pᵀ1 : P with unit rows} = n times the simplex
Notation   Q[i, r] = (q_i)_r; P a plan with unit rows, R another one; a_i = 1; H(P) = −Σ_ij P_ij log P_ij
References Definitions A.1–A.5 of the document
"""

import sympy as sp

from derivations.documents.eot import notation
from derivations.documents.eot.notation import K, d, eps, i, j, k, l, m, n, r
from derivations.vocabulary import *

Q = vector("Q", n, d)
P = stochastic("P", n, m)
b = simplex("b", m)
coordinate = index("s", d)
TOGETHER = (i, j)


def similarity(query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """⟨q_i, k_j⟩."""
    return total(r, Q[query, r] * K[key, r])


def cost(query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """C_ij = −⟨q_i, k_j⟩."""
    return -similarity(query, key)


def uniform(query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """1/m for every query and key."""
    return 1 / m


def softmax(scores: Entries, temperature: sp.Expr) -> Entries:
    """(i, j) ↦ exp(s_ij/τ)/Σ_l exp(s_il/τ), the matrix of (114)."""
    return lambda query, key: notation.softmax(lambda other: scores(query, other), temperature)(key)


def entropy(of: Entries) -> sp.Expr:
    """H(P) = −Σ_ij P_ij log P_ij."""
    return -total(TOGETHER, xlogx(of(i, j)))


def objective(of: Entries, strength: sp.Expr) -> sp.Expr:
    """J(P) = ⟨P, C⟩_F − ε H(P)."""
    return total(TOGETHER, of(i, j) * cost(i, j)) - strength * entropy(of)


def solves(strength: sp.Expr, candidate: Entries) -> UniquePlan:
    """The candidate is the only minimizer of J over U(a, ·) for ε = strength."""
    return UniquePlan(
        lambda of: objective(of, strength), candidate, n, m, strength, reason="J(R) − J(P*) = ε Σ_ij kl(R_ij ‖ P*_ij)"
    )


# ── spaces and measures ─────────────────────────────────────────────────────────────────────────────────────────────


@claim(
    "eot.defA.1",
    "definition",
    title="Sources and targets",
    needs=("eot.106", "eot.107"),
    latex=r"\mathcal X\times\mathcal Y=\{1,\dots,n\}\times\{1,\dots,m\}",
)
def spaces() -> Steps:
    """Queries and keys are named by their places, so equal vectors stay apart and there are n m pairs."""
    yield Equation(total(TOGETHER, sp.S.One), n * m, reason="one for each pair")


@claim("eot.106", "definition", title="The source space", latex=r"\mathcal X=\{1,\dots,n\}")
def source_space() -> Steps:
    """The sources are the n places of the queries."""
    yield Equation(total(i, sp.S.One), n, reason="one for each query")


@claim("eot.107", "definition", title="The target space", latex=r"\mathcal Y=\{1,\dots,m\}")
def target_space() -> Steps:
    """The targets are the m places of the keys."""
    yield Equation(total(j, sp.S.One), m, reason="one for each key")


@claim(
    "eot.defA.2",
    "definition",
    title="One unit of mass for each query",
    needs=("eot.106",),
    latex=r"a_i=1,\quad\textstyle\sum_ia_i=n",
)
def source_measure() -> Steps:
    """Each source holds mass 1, so a plan carries the total mass n; over n it is a coupling of probability measures."""
    yield Equation(total(TOGETHER, P[i, j] / n), 1, reason="P/n has mass 1", about=(P[i, j],))
    yield Equation(total(TOGETHER, P[i, j]), n, reason="n rows of mass 1")


source_measure.twin("a probability measure", lambda: Equation(total(TOGETHER, P[i, j]), 1))
source_measure.twin("one unit for each key", lambda: Equation(total(TOGETHER, P[i, j]), m))


def shared_plan(query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """P_ij/n."""
    return P[query, key] / n


@claim(
    "eot.sA.unit-masses",
    "identity",
    title="The source measure is none of the primer's",
    needs=("eot.defA.2", "eot.111"),
    latex=r"a\in\Delta^{n-1},\quad a_i=1",
)
def unit_masses() -> Steps:
    """The primer takes a from the simplex, and the appendix, which solves the primer's problem for n queries, takes a_i = 1."""
    yield Fails(Equation(total(TOGETHER, P[i, j]), 1, at={n: 2, m: 1}), reason="two queries send the mass 2, so a is not in Δ")


@unit_masses.corrected(
    r"a_i=\tfrac1n:\quad J(P/n)=\tfrac1nJ(P)-\varepsilon\log n",
    Severity.SLIP,
    replaces="the total mass, by the problem for masses 1/n",
)
def masses_of_the_primer() -> Steps:
    """With a_i = 1/n it is the primer's problem: the objective changes by a factor and a constant, the minimizer is A/n."""
    yield Equation(total(j, shared_plan(i, j)), 1 / n, reason="rows of mass 1/n", about=(P[i, j],))
    yield shared(n, 1)


def shared(factor: sp.Expr, sign: int) -> Equation:
    """J(P/n) against J(P) over a factor and a constant."""
    return Equation(
        objective(shared_plan, eps),
        objective(P, eps) / factor - sign * eps * sp.log(n),
        reason="log(P/n) = log P − log n, and Σ P/n = 1",
    )


unit_masses.twin("the constant's sign", lambda: shared(n, -1))
unit_masses.twin("the factor is lost", lambda: shared(sp.S.One, 1))


@claim(
    "eot.sA.single-row",
    "identity",
    title="One query is the special case n = 1",
    needs=("eot.111", "eot.3"),
    latex=r"P\in U(a,\cdot)\implies P_1\in\Delta^{m-1},\quad J(P)=\langle P_1,C\rangle-\varepsilon H(P_1)",
)
def single_row() -> Steps:
    """With a single query the plan is a probability vector over the keys and the objective is that of section 3."""
    yield Equation(total(j, row(j)), 1, reason="the only row has mass 1", about=(row(j),))
    yield Equation(one_row_objective(), notation.objective(row, notation.cost, eps), reason="the sum over sources has one term")


only, lone = index("i", sp.S.One), stochastic("P", sp.S.One, m)


def row(key: sp.Expr) -> sp.Expr:
    """P_1j."""
    return lone[1, key]


def one_row_objective() -> sp.Expr:
    """⟨P, C⟩ − ε H(P) with one source."""
    return total((only, j), lone[only, j] * notation.cost(j)) + eps * total((only, j), xlogx(lone[only, j]))


single_row.twin("entropy is penalized", lambda: Equation(one_row_objective(), notation.objective(row, notation.cost, -eps)))
single_row.twin(
    "similarity is a cost", lambda: Equation(one_row_objective(), notation.objective(row, notation.similarity, eps))
)


@claim(
    "eot.sA.free-target",
    "identity",
    title="What arrives at the keys is not prescribed",
    needs=("eot.108",),
    latex=r"\textstyle\sum_{ij}P_{ij}=n,\quad(\mathbf 1_nb^\top)^\top\mathbf 1_n=nb\ \text{for every } b\in\Delta^{m-1}",
)
def free_target() -> Steps:
    """The mass that arrives at the keys adds up to n, and every such distribution of it is reached by some plan."""
    yield Equation(total(j, total(i, P[i, j])), n, reason="only the sum of the target marginal is known", about=(P[i, j],))
    yield Equation(total(j, b[j]), 1, reason="the plan with every row b is feasible", about=(b[j], n))
    yield Equation(total(i, repeated(i, j)), n * b[j], reason="and n b arrives")


def repeated(query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """P_ij = b_j for every i."""
    return b[key]


free_target.twin("only the uniform marginal", lambda: Equation(total(i, repeated(i, j)), n / m))
free_target.twin("one unit at each key", lambda: Equation(total(i, repeated(i, j)), 1))


# ── feasible plans ──────────────────────────────────────────────────────────────────────────────────────────────────


@claim(
    "eot.defA.3",
    "definition",
    title="A plan with one prescribed marginal",
    needs=("eot.108",),
    latex=r"P\in\mathbb R_+^{n\times m},\ P\mathbf 1=a",
)
def feasible_plan() -> Steps:
    """A plan says how much mass goes from each query to each key; only what leaves a query is prescribed."""
    yield AtLeast(uniform(i, j), 0, strict=True, reason="an instance: every key gets the same")
    yield Equation(total(j, uniform(i, j)), 1, reason="and each query gives 1", about=(i,))


@claim(
    "eot.108",
    "definition",
    title="The set U(a, ·)",
    needs=("eot.defA.2",),
    latex=r"U(a,\cdot)=\{P\in\mathbb R_+^{n\times m}:\textstyle\sum_jP_{ij}=a_i=1\ \text{for all } i\}",
)
def feasible_set() -> Steps:
    """The feasible plans are the nonnegative n × m matrices with unit row sums; permutations are examples for n = m."""
    square = index("k", n)
    yield Equation(total(square, delta(i, square)), 1, reason="an instance for n = m: the identity matrix", about=(n,))
    yield Equation(total(j, uniform(i, j)), 1, reason="an instance for all n and m", about=(i,))


feasible_set.twin("columns sum to one", lambda: Equation(total(i, uniform(i, j)), 1))
feasible_set.twin("the whole matrix sums to one", lambda: Equation(total(TOGETHER, uniform(i, j)), 1))


@claim(
    "eot.sA.row-stochastic",
    "inequality",
    title="Each row is a point of the simplex",
    needs=("eot.108",),
    latex=r"P\in U(a,\cdot)\implies P_i\in\Delta^{m-1}",
)
def row_stochastic() -> Steps:
    """The rows of a feasible plan are probability vectors: entries at least 0 and at most 1, with sum 1."""
    yield AtLeast(P[i, j], 0, reason="P ≥ 0")
    yield Equation(total(j, P[i, j]), 1, reason="a_i = 1", about=(P[i, j],))
    yield AtLeast(1, P[i, j], because=others(i, j), reason="the other entries of the row are ≥ 0")


def others(query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """Σ_{l≠j} P_il."""
    return total(l, P[query, l] * (1 - sp.KroneckerDelta(l, key)))


row_stochastic.twin("at most 1/m", lambda: AtLeast(1 / m, P[i, j]))
row_stochastic.twin("at most one half", lambda: AtLeast(sp.S.Half, P[i, j]))


@claim(
    "eot.sA.product-of-simplices",
    "equivalence",
    title="U(a, ·) is a product of simplices",
    latex=r"U(a,\cdot)=(\Delta^{m-1})^n",
    needs=("eot.108", "eot.2"),
)
def product_of_simplices() -> Steps:
    """Any n points of the simplex make a feasible plan, and replacing one row by another point leaves it feasible."""
    yield Equation(total(j, P[i, j]), 1, reason="every row of a plan is in the simplex", about=(P[i, j],))
    yield AtLeast(exchanged(b[j]), 0, because=exchanged(b[j]), reason="row k replaced by b: entries stay ≥ 0")
    yield Equation(total(j, exchanged(b[j])), 1, reason="and rows keep their sums: no constraint ties two rows")


chosen = index("k", n)


def exchanged(entry: sp.Expr) -> sp.Expr:
    """The entry ij of P after row k was replaced."""
    return (1 - delta(i, chosen)) * P[i, j] + delta(i, chosen) * entry


product_of_simplices.twin("the row is not a point of the simplex", lambda: Equation(total(j, exchanged(b[j] / 2)), 1))
product_of_simplices.twin("the old row is kept besides", lambda: Equation(total(j, P[i, j] + delta(i, chosen) * b[j]), 1))


# ── cost, entropy, objective ────────────────────────────────────────────────────────────────────────────────────────


@claim(
    "eot.defA.4",
    "definition",
    title="Cost and regularizer of the whole matrix",
    needs=("eot.109", "eot.110"),
    latex=r"C=-QK^\top,\quad -\varepsilon H(P)",
    hypotheses=("ε > 0",),
)
def cost_and_regularizer() -> Steps:
    """The costs are the negative similarities and the regularizer is −ε H, least at the uniform plan."""
    yield AtLeast(
        eps * entropy(uniform),
        eps * entropy(P),
        because=eps * total(TOGETHER, kl(P[i, j], 1 / m)),
        reason="−ε H(P) is least at the uniform plan",
    )


@claim("eot.109", "definition", title="The cost matrix", latex=r"C_{ij}=-\langle q_i,k_j\rangle")
def cost_matrix() -> Steps:
    """The cost of a pair is minus its similarity, so moving a query along a key makes that key cheaper."""
    yield Equation(derivative(cost(i, j), Q[i, r]), -K[j, r], reason="linear in the query")


cost_matrix.twin("similarity is a cost", lambda: Equation(derivative(cost(i, j), Q[i, r]), K[j, r]))
cost_matrix.twin(
    "squared distance",
    lambda: Equation(
        derivative(cost(i, j), Q[i, r]), derivative(total(coordinate, (Q[i, coordinate] - K[j, coordinate]) ** 2), Q[i, r])
    ),
)


@claim(
    "eot.110",
    "definition",
    title="Entropy of a plan",
    latex=r"H(P)=-\sum_{ij}P_{ij}\log P_{ij}",
    hypotheses=("0 log 0 = 0",),
    needs=("eot.4",),
)
def matrix_entropy() -> Steps:
    """The entropy of a plan is the sum of its rows' entropies, at most n log m; P/n has 1/n of it plus log n."""
    yield Equation(-total(TOGETHER, xlogx(P[i, j] / n)), entropy(P) / n + sp.log(n), reason="as a probability measure")
    yield AtLeast(
        n * sp.log(m), entropy(P), because=total(TOGETHER, kl(P[i, j], 1 / m)), reason="n log m − H(P) = Σ kl(P_ij ‖ 1/m)"
    )
    yield Equation(entropy(uniform), n * sp.log(m), reason="an instance: the uniform plan")


matrix_entropy.twin("the entropy of a probability measure", lambda: Equation(entropy(uniform), sp.log(n * m)))
matrix_entropy.twin("sign lost", lambda: Equation(entropy(uniform), -n * sp.log(m)))


@claim(
    "eot.defA.5",
    "definition",
    title="The objective of the whole matrix",
    needs=("eot.111", "eot.113"),
    latex=r"\min_{P\in U(a,\cdot)} J(P)",
    hypotheses=("ε > 0",),
)
def functional() -> Steps:
    """Total cost minus ε times entropy, finite for every feasible plan."""
    yield Equation(
        objective(uniform, eps),
        -total(TOGETHER, similarity(i, j)) / m - eps * n * sp.log(m),
        reason="its value at the uniform plan",
    )


@claim(
    "eot.111",
    "definition",
    title="Objective: total cost less entropy",
    needs=("eot.109", "eot.110"),
    latex=r"J(P)=\langle P,C\rangle_F-\varepsilon H(P)",
)
def matrix_objective() -> Steps:
    """The objective is the Frobenius product of plan and costs minus ε times the plan's entropy."""
    yield Equation(
        objective(repeated, eps),
        total(j, b[j] * total(i, cost(i, j))) + eps * n * total(j, xlogx(b[j])),
        reason="an instance: every row is b",
    )


matrix_objective.twin(
    "entropy is penalized",
    lambda: Equation(objective(repeated, eps), total(j, b[j] * total(i, cost(i, j))) - eps * n * total(j, xlogx(b[j]))),
)
matrix_objective.twin(
    "one row's entropy",
    lambda: Equation(objective(repeated, eps), total(j, b[j] * total(i, cost(i, j))) + eps * total(j, xlogx(b[j]))),
)


def explicit(scores: Entries, strength: sp.Expr) -> sp.Expr:
    """−Σ_ij P_ij s_ij + ε Σ_ij P_ij log P_ij."""
    return -total(TOGETHER, P[i, j] * scores(i, j)) + strength * total(TOGETHER, xlogx(P[i, j]))


@claim(
    "eot.112",
    "identity",
    title="The objective written out",
    needs=("eot.111",),
    latex=r"J(P)=-\sum_{ij}P_{ij}\langle q_i,k_j\rangle+\varepsilon\sum_{ij}P_{ij}\log P_{ij}",
)
def written_out() -> Steps:
    """Inserting costs and entropy gives minus the total similarity plus ε Σ P log P."""
    yield Equation(objective(P, eps), explicit(similarity, eps), reason="C_ij = −⟨q_i, k_j⟩, −H = Σ P log P")


written_out.twin("entropy is penalized", lambda: Equation(objective(P, eps), explicit(similarity, -eps)))
written_out.twin("similarity is a cost", lambda: Equation(objective(P, eps), explicit(cost, eps)))


@claim(
    "eot.113",
    "optimality",
    title="The problem for the whole matrix has a solution",
    hypotheses=("ε > 0",),
    latex=r"\min_{P\in U(a,\cdot)}J(P)\ \text{is attained}",
    needs=("eot.111", "eot.108"),
)
def matrix_problem() -> Steps:
    """The minimum over the plans with unit rows is attained, at one plan."""
    yield solves(eps, softmax(similarity, eps))


matrix_problem.twin("a maximum of the similarity's negative", lambda: solves(eps, softmax(cost, eps)))
matrix_problem.twin("the uniform plan", lambda: solves(eps, uniform))


def row_objective(query: sp.Expr) -> sp.Expr:
    """J_i, the objective of section 3 for query i and its row."""
    along: Entry = lambda key: P[query, key]  # noqa: E731
    return notation.objective(along, lambda key: cost(query, key), eps)


@claim(
    "eot.sA.decomposable",
    "identity",
    title="The global problem is a sum of row problems",
    needs=("eot.111",),
    latex=r"J(P)=\sum_i\big(\langle P_i,C_i\rangle-\varepsilon H(P_i)\big)",
)
def decomposable() -> Steps:
    """The objective of the whole matrix is the sum of the one-query objectives of its rows."""
    yield Equation(objective(P, eps), total(i, row_objective(i)), reason="both parts are sums over the entries")


decomposable.twin("the mean over the rows", lambda: Equation(objective(P, eps), total(i, row_objective(i)) / n))
decomposable.twin(
    "one row's entropy counts for all",
    lambda: Equation(objective(P, eps), total(TOGETHER, P[i, j] * cost(i, j)) + eps * total((i, k), xlogx(P[i, k])) / n),
)


@claim(
    "eot.sA.typical-temperature",
    "external fact",
    title="The usual temperature is √d_k",
    latex=r"\tau=\sqrt{d_k}",
    needs=("eot.s3.unit-variance",),
)
def typical_temperature() -> None:
    """Attention as it is shipped divides the scores by the square root of the width of the keys."""


shipped = positive("shipped temperature")
typical_temperature.twin("no scaling", lambda: Equation(shipped, 1))
typical_temperature.twin("division by the width", lambda: Equation(shipped, d))
