"""The listing `OptimalTransportAttention`.

Claims     transport.listing.OptimalTransportAttention.epsilon        softplus(log(e^ε − 1)) = ε  (corrected)
           transport.listing.OptimalTransportAttention.single-query   n = 1  ⟹  A_1j = 1/m, whatever S  (corrected)
           transport.listing.OptimalTransportAttention.forgets        A_ij/A_il ≤ e^(1/ε) after iterating  (corrected)
Notation   as in `listing_notation`; A > 0 a matrix of weights, W one with unit rows; y a parameter; T iterations; h a masked
           key; ρ a bound of the ratios of a row, a a weight of it and 1/(ρm) + s_k those of the others = n − 1 queries
References the listing of the document
"""

import sympy as sp

from derivations.documents.transport.listing_notation import (
    GUARD,
    HALF,
    K,
    Q,
    S,
    d,
    eps,
    i,
    j,
    k,
    l,
    m,
    n,
    r,
    scaled_product,
    softmax,
)
from derivations.vocabulary import *

A, W = vector("A", n, m, kind=Positive), stochastic("W", n, m)
QUARTER, THIRD, SIXTH = (sp.Rational(1, part) for part in (4, 3, 6))


def by_rows(of: Entries, guard: sp.Expr) -> Entries:
    """Rows over their sums."""
    return lambda x, y: of(x, y) / (total(l, of(x, l)) + guard)


def by_columns(of: Entries, guard: sp.Expr) -> Entries:
    """Columns over their sums."""
    return lambda x, y: of(x, y) / (total(k, of(k, y)) + guard)


def softened(of: Entries) -> Entries:
    """The softmax of the weights themselves, at ε."""
    return lambda x, y: sp.exp(of(x, y) / eps) / total(l, sp.exp(of(x, l) / eps))


def odds(of: Entries) -> sp.Expr:
    """A_ij A_kl/(A_il A_kj), which scalings of rows and columns leave alone: it is the cost that a plan has."""
    return of(i, j) * of(k, l) / (of(i, l) * of(k, j))


def rescaled_odds(right_side: sp.Expr) -> Equation:
    """The odds after rows, columns, rows."""
    rescaled = by_rows(by_columns(by_rows(A, sp.S.Zero), sp.S.Zero), sp.S.Zero)
    return Equation(odds(rescaled), right_side, reason="each step divides whole rows or whole columns")


DOUBLY: dict[Variable, Value] = {n: 2, m: 2, A.label: [[3 * QUARTER, QUARTER], [QUARTER, 3 * QUARTER]], eps: 1}


@claim(
    "transport.listing.OptimalTransportAttention",
    "listing",
    title="Sinkhorn iterations for a tighter solution",
    latex=r"\frac{A_{ij}A_{kl}}{A_{il}A_{kj}}\ \text{is kept by an iteration}",
)
def tighter() -> Steps:
    """Further iterations are to bring the weights nearer to the transport plan for the same scores."""
    third = softened(by_columns(by_rows(A, GUARD), GUARD))
    yield Fails(
        Equation(odds(third), odds(A), at=DOUBLY),
        reason="doubly stochastic weights (¾ ¼; ¼ ¾), optimal already: `re-normalize rows` is a softmax of the "
        "weights, not a division by sums, and makes 0.62 of ¾",
    )


@tighter.corrected(
    r"A\leftarrow A/A\mathbf 1\text{ for }\mathrm{softmax}(A/\varepsilon)",
    Severity.FATAL,
    replaces="the softmax in the third step, and the 1e-8",
)
def tighter_by_division() -> Steps:
    """If the third step divides by the row sums, without the 1e-8, an iteration rescales lines and keeps the costs."""
    yield rescaled_odds(odds(A))


tighter.twin("the odds are squared", lambda: rescaled_odds(odds(A) ** 2))
tighter.twin("the odds are turned over", lambda: rescaled_odds(1 / odds(A)))

EVEN: dict[Variable, Value] = {n: 3, m: 3, A.label: [[HALF, THIRD, SIXTH], [THIRD] * 3, [SIXTH, THIRD, HALF]], eps: 1, j: 1}


def even(right_side: sp.Expr) -> Equation:
    """The columns' sums after rows and columns are divided by theirs."""
    divided = by_columns(by_rows(A, sp.S.Zero), sp.S.Zero)
    return Equation(total(i, divided(i, j)), right_side, reason="columns are divided last")


@claim(
    "transport.listing.OptimalTransportAttention.doubly-stochastic",
    "listing",
    title="A doubly stochastic tendency",
    latex=r"A\mathbf 1=\mathbf 1,\ A^\top\mathbf 1=\mathbf 1\text{ is kept}",
    needs=("transport.listing.OptimalTransportAttention",),
)
def tendency() -> Steps:
    """A comment says that columns are normalized for a doubly stochastic tendency; what has unit columns is to keep them."""
    third = softened(by_columns(by_rows(A, GUARD), GUARD))
    yield Fails(
        Equation(total(i, third(i, j)), 1, at=EVEN),
        reason="doubly stochastic weights: the softmax that comes last gives the first key 1.003 and the second 0.994",
    )


@tendency.corrected(
    r"A\leftarrow A/A\mathbf 1,\ A\leftarrow A/\mathbf 1^\top A\implies A^\top\mathbf 1=\mathbf 1",
    Severity.SLIP,
    replaces="the softmax that comes last, and the 1e-8",
)
def unit_columns() -> Steps:
    """The columns have the sum one before the last step, which undoes it; repeated, it tends to uniform weights instead."""
    yield even(sp.S.One)


tendency.twin("columns of mass n + 1", lambda: even(n + 1))
tendency.twin("columns of mass 1/(m + 1)", lambda: even(1 / (m + 1)))


def similarity_slope(right_side: sp.Expr) -> Equation:
    """∂S_ij/∂q_ir of what the module computes."""
    return Equation(derivative(scaled_product(i, j), Q[i, r]), right_side, reason="linear in the query")


@claim(
    "transport.listing.OptimalTransportAttention.cost",
    "listing",
    title="“Cost matrix (negative similarity)”",
    latex=r"S=-QK^\top/\sqrt{d_k}",
    needs=("transport.s2.cost",),
)
def cost() -> Steps:
    """A comment above S calls it the cost matrix, the negative similarity."""
    yield Fails(
        similarity_slope(-K[j, r] / sp.sqrt(d)),
        reason="S is +QKᵀ/√d, the similarity: a query that moves along a key raises its S",
    )


@cost.corrected(r"S=QK^\top/\sqrt{d_k},\quad C=-S", Severity.WORDING)
def similarity() -> Steps:
    """S is the similarity, as its use in the softmax needs; the cost is −S."""
    yield similarity_slope(K[j, r] / sp.sqrt(d))


cost.twin("without 1/√d", lambda: similarity_slope(K[j, r]))
cost.twin("divided by d", lambda: similarity_slope(K[j, r] / d))

y = scalar("y")


def begins(right_side: sp.Expr) -> Equation:
    """Softplus of log(exp ε − 1) = ε + log(1 − exp(−ε))."""
    return Equation(sp.log(1 + sp.exp(eps) * (1 - sp.exp(-eps))), right_side, reason="softplus undone")


@claim(
    "transport.listing.OptimalTransportAttention.epsilon",
    "listing",
    title="The argument ε",
    latex=r"\varepsilon_{\mathrm{start}}=\varepsilon",
)
def start() -> Steps:
    """The module is made with a temperature, 0.1 by default and in the experiment; training may move it from there."""
    yield Fails(
        Equation(sp.log(1 + sp.exp(y)), eps, at={y: 0, eps: sp.Rational(1, 10)}),
        reason="the argument is stored and never read: every head starts at softplus(0) = log 2 = 0.69",
    )


@start.corrected(
    r"\mathtt{log\_epsilon}=\log(e^{\varepsilon}-1)\implies\mathrm{softplus}(\mathtt{log\_epsilon})=\varepsilon",
    Severity.SLIP,
    replaces="the parameter 0, from which every head starts",
)
def start_at_epsilon() -> Steps:
    """If the parameter starts at log(exp ε − 1), the temperature starts at ε."""
    yield begins(eps)


start.twin("its exponential", lambda: begins(sp.exp(eps)))
start.twin("twice of it", lambda: begins(2 * eps))


def above(bound: sp.Expr) -> AtLeast:
    """Softplus(y)."""
    x = sp.exp(y)
    return AtLeast(
        sp.log(1 + x),
        bound,
        strict=True,
        because=kl(1, 1 / (1 + x)) + x / (1 + x) if bound == 0 else None,
        reason="log(1 + x) > 0 for x = exp y > 0",
    )


@claim(
    "transport.listing.OptimalTransportAttention.temperature",
    "listing",
    title="A temperature for each head that can be learned",
    hypotheses=("real arithmetic: in float32 softplus(y) is 0 for y < −104, and the scores are divided by it",),
    latex=r"\mathrm{softplus}(y)>0",
)
def learned() -> Steps:
    """Whatever value training gives to its parameter, the temperature of a head is positive."""
    yield above(sp.S.Zero)


learned.twin("at least log 2", lambda: above(sp.log(2) + QUARTER))
learned.twin("at least y + 1", lambda: above(y + 1))

only = index("i", sp.S.One)
row = vector("A", sp.S.One, m, kind=Positive)


def one_query(guard: sp.Expr) -> Entries:
    """The result of one iteration of the listing for a single row."""
    return softened(by_columns_of_one(by_rows(lambda x, y_: row[1, y_], guard), guard))


def by_columns_of_one(of: Entries, guard: sp.Expr) -> Entries:
    """Columns over their sums, each of which has one entry."""
    return lambda x, y_: of(x, y_) / (total(only, of(only, y_)) + guard)


def uniform(right_side: sp.Expr) -> Equation:
    """The weight of key j for a single query, without the 1e-8."""
    return Equation(
        one_query(sp.S.Zero)(sp.S.One, j), right_side, reason="each column is its one entry over itself: 1", about=(row[1, j],)
    )


@claim(
    "transport.listing.OptimalTransportAttention.single-query",
    "listing",
    title="A single query",
    latex=r"n=1\implies A_{1j}=\mathrm{softmax}(S/\varepsilon)_{1j}",
    needs=("transport.listing.OptimalTransportAttention",),
)
def single_query() -> Steps:
    """One query, as in decoding, is to weigh the keys by its scores: with free columns softmax is the solution already."""
    yield Fails(
        Equation(one_query(GUARD)(sp.S.One, j), row[1, j], at={m: 2, row.label: [[3 * QUARTER, QUARTER]], eps: 1}),
        reason="dividing the columns of a single row by their sums leaves ones: the scores are gone",
    )


@single_query.corrected(
    r"n=1\implies A_{1j}=1/m", Severity.FATAL, replaces="what an iteration makes of a row, but for the 1e-8"
)
def single_query_is_uniform() -> Steps:
    """A single query attends to all keys alike, whatever they are, with the iterations that run by default."""
    yield uniform(1 / m)


single_query.twin("the weights that came in", lambda: uniform(row[1, j] / total(l, row[1, l])))
single_query.twin("one for each key", lambda: uniform(sp.S.One + 1 / m))


def rows_after(right_side: sp.Expr) -> Equation:
    """Σ_j of what an iteration returns."""
    third = softened(A)
    return Equation(total(j, third(i, j)), right_side, reason="the softmax comes last")


@claim(
    "transport.listing.OptimalTransportAttention.rows",
    "listing",
    title="Rows after the iterations",
    latex=r"A\mathbf 1=\mathbf 1",
)
def rows() -> Steps:
    """However many iterations run, or none, the last step is a softmax, so that each row sums to one."""
    yield rows_after(sp.S.One)


rows.twin("rows of mass two", lambda: rows_after(sp.Integer(2)))
rows.twin("rows of mass 1/n", lambda: rows_after(1 / (2 * n)))


T = size("T")
turn = index("t", T)


def rounds(right_side: sp.Expr) -> Equation:
    """The number of iterations."""
    return Equation(total(turn, sp.S.One), right_side, reason="a count only: that so many run is seen by running the module")


@claim(
    "transport.listing.OptimalTransportAttention.iterations",
    "listing",
    title="The argument for the number of iterations",
    latex=r"\mathtt{sinkhorn\_iters}=T\ge1\implies T\text{ iterations run}",
    needs=("transport.listing.OptimalTransportAttention",),
)
def iterations() -> Steps:
    """The module is made with a number of iterations, which is to be the number that runs."""
    yield Fails(
        Equation(sp.Integer(3), T, at={T: 1}),
        reason="the argument is a switch: the loop has a default of its own, 3, that nothing overrides",
    )


@iterations.corrected(
    r"\mathtt{self.\_sinkhorn\_iteration(A,\ eps,\ self.sinkhorn\_iters)}:\ T\text{ iterations run}",
    Severity.SLIP,
    replaces="the loop's own default, 3",
)
def iterations_passed_on() -> Steps:
    """If the number is passed on to the loop, as many iterations run as were asked for."""
    yield rounds(T)


iterations.twin("one more", lambda: rounds(T + 1))
iterations.twin("twice as many", lambda: rounds(2 * T))

hidden = index("h", m)


def scores(query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """S_ij, or the weights that an iteration passes to its softmax."""
    return sp.exp(S[query, key] / eps)


def seen(right_side: sp.Expr) -> Equation:
    """The weight of key j where a mask hides key h: −∞ in place of S_ih makes exp(S_ih/ε) zero."""
    visible = 1 - sp.KroneckerDelta(j, hidden)
    left = total(l, scores(i, l) * (1 - sp.KroneckerDelta(l, hidden)))
    return Equation(
        visible * scores(i, j) / left,
        right_side,
        given=(AtLeast(left, 0, strict=True),),
        reason="what is left of the row, if anything is, is divided by its own sum",
    )


def blocked(mass: sp.Expr) -> sp.Expr:
    """0 for j = h, and exp(S_ij/ε) over the mass elsewhere."""
    return (1 - sp.KroneckerDelta(j, hidden)) * scores(i, j) / mass


@claim(
    "transport.listing.OptimalTransportAttention.mask",
    "listing",
    title="The argument for a mask",
    latex=r"M_{ih}=0\implies A_{ih}=0",
)
def mask() -> Steps:
    """The call takes a mask, which is to keep queries from keys."""
    yield Fails(
        Equation(scores(i, hidden) / total(l, scores(i, l)), 0, at={n: 1, m: 2, S.label: [[0, 0]], eps: 1}),
        reason="the argument is never read: a masked key keeps its weight, with iterations or without",
    )


@mask.corrected(
    r"S_{ih}\leftarrow-\infty\implies A_{ih}=0,\ A_{ij}=\frac{e^{S_{ij}/\varepsilon}}"
    r"{\sum_le^{S_{il}/\varepsilon}-e^{S_{ih}/\varepsilon}}\ (j\ne h)",
    Severity.FATAL,
    replaces="weights that do not know the mask",
)
def mask_before_the_softmax() -> Steps:
    """With −∞ for masked keys before each softmax, those of the iterations included, the other keys, if any, share the mass."""
    yield seen(blocked(total(l, scores(i, l)) - scores(i, hidden)))


mask.twin("the others keep their weights", lambda: seen(blocked(total(l, scores(i, l)))))
mask.twin("the masked key keeps its weight", lambda: seen(scores(i, j) / total(l, scores(i, l))))


def column(key: sp.Expr, body: sp.Expr = sp.S.One) -> sp.Expr:
    """Σ_k A_kj + 1e-8, with the 1e-8 written into the sum; `body` weights the rows."""
    return total(k, A[k, key] * body + GUARD / n)


def share(query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """The input of an iteration's softmax: rows of A over column sums, in [0, 1]."""
    return A[query, key] / column(key)


def spread(bound: sp.Expr) -> AtLeast:
    """ε log(A_ij/A_il) after an iteration."""
    rest = column(j, 1 - sp.KroneckerDelta(k, i)) / column(j) + share(i, l)
    return AtLeast(bound, share(i, j) - share(i, l), because=rest + bound - 1, reason="a share of a column is at most 1")


@claim(
    "transport.listing.OptimalTransportAttention.forgets",
    "listing",
    title="Iterations for a better approximation",
    latex=r"\varepsilon\log(A_{ij}/A_{il})=S_{ij}-S_{il}\ \text{where softmax is doubly stochastic}",
    needs=("transport.listing.OptimalTransportAttention",),
)
def forgets() -> Steps:
    """Further iterations are to approximate the transport plan for the scores better than their softmax does."""
    third = softened(by_columns(by_rows(softmax(S, eps), GUARD), GUARD))
    yield Fails(
        Equation(
            eps * sp.log(third(i, j) / third(i, l)),
            S[i, j] - S[i, l],
            at={n: 2, m: 2, S.label: [[2, 0], [0, 2]], eps: 1, i: 1, j: 1, l: 2},
        ),
        reason="here softmax is the plan, with unit rows and columns; an iteration leaves less than half of the score",
    )


ratio, others = positive("ρ"), size("others")
other = index("k", others)
weight, more = positive("a"), vector("s", others, kind=Nonnegative)
HIGHEST = AtLeast(ratio / m, weight)
ALIKE: dict[Variable, Value] = {ratio: 1, others: 1, m: 2, weight: HALF, more.label: [0]}


def share_of_a_column(bound: sp.Expr) -> Follows:
    """a/(a + Σ_k (1/(ρm) + s_k)) for a ≤ ρ/m: what a softmax gets in a further iteration."""
    rest = total(other, 1 / (ratio * m) + more[other])
    column_sum, full = weight + rest, ratio / m + others / (ratio * m)
    return Follows(
        (HIGHEST,),
        AtLeast(bound, weight / column_sum),
        (others / (ratio * m) / (column_sum * full),),
        ratio / m * total(other, more[other]) / (column_sum * full),
        given=(HIGHEST,),
        at=ALIKE,
        reason="so a further iteration leaves the ratio exp(ρ²/((ρ² + n − 1)ε)): near 1 for many queries",
    )


@forgets.corrected(
    r"A_{ij}/A_{il}\le\rho_1=e^{1/\varepsilon},\quad\rho_{t+1}=\exp\frac{\rho_t^2}{(\rho_t^2+n-1)\varepsilon}"
    r"\quad\text{after }t\text{ iterations, whatever }S",
    Severity.FATAL,
    replaces="the odds that are to be those of the scores",
)
def forgets_the_scores() -> Steps:
    """The softmax of an iteration sees shares of columns: no weight exceeds another of its row by more than exp(1/ε).

    That is sharp for one iteration.  At the temperature log 2, from which every head starts, it is 4.24; with the 32 queries
    of the experiment the second iteration leaves 1.70, and the third, with which the module ends, 1.13.
    """
    third = softened(share)
    yield Equation(third(i, j) / third(i, l), sp.exp((share(i, j) - share(i, l)) / eps), reason="the odds of a softmax")
    yield spread(sp.S.One)
    yield Limit(ratio / (ratio + 1) - 1 / (1 + ratio), ratio, sp.oo, sp.S.One, reason="sharp: (ρ 1; 1 ρ)/(ρ + 1) for large ρ")
    yield Equation(
        total(l, ratio * W[i, l] - W[i, j]),
        ratio - m * W[i, j],
        reason="a row with ratios up to ρ: its weights are at most ρ/m, and so at least 1/(ρm)",
    )
    yield share_of_a_column(ratio**2 / (ratio**2 + others))


forgets.twin("half as much", lambda: share_of_a_column(ratio**2 / (ratio**2 + others) / 2))
forgets.twin("a quarter", lambda: share_of_a_column(ratio**2 / (ratio**2 + others) / 4))
