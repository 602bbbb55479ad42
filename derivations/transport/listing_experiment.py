"""The listings `OTAttentionExperiment`, `OptimalTransportAttention` and `run_ot_attention_experiment`.

Claims     transport.listing.OTAttentionExperiment, transport.listing.OptimalTransportAttention,
           transport.listing.OptimalTransportAttention.epsilon, transport.listing.OptimalTransportAttention.temperature,
           transport.listing.OptimalTransportAttention.single-query, transport.listing.OptimalTransportAttention.rows,
           transport.listing.OptimalTransportAttention.iterations, transport.listing.OptimalTransportAttention.mask,
           transport.listing.run_ot_attention_experiment, transport.listing.run_ot_attention_experiment.printed
Notation   as in `listing_notation`; A > 0 a matrix of weights, A[g, j] those of head g in one row; y a parameter
"""

from __future__ import annotations

import sympy as sp

from derivations.calculus.balls import Value
from derivations.calculus.sums import kl, total, xlogx
from derivations.calculus.variables import Kind, Variable, index, scalar, size, vector
from derivations.catalogue import Steps, claim
from derivations.claims import Severity
from derivations.plans import Entries
from derivations.relations import AtLeast, Equation, Fails
from derivations.transport.listing_notation import GUARD, HALF, eps, i, j, k, l, m, n

H = size("H")
head = index("g", H)
W = vector("A", H, m, kind=Kind.POSITIVE)
A = vector("A", n, m, kind=Kind.POSITIVE)
QUARTER = sp.Rational(1, 4)

# ── OTAttentionExperiment ───────────────────────────────────────────────────────────────────────────────────────────


def averaged(key: sp.Expr) -> sp.Expr:
    """The mean over the heads, what nn.MultiheadAttention returns unless told otherwise."""
    return total(head, W[head, key]) / H


def of_the_mean() -> sp.Expr:
    """The entropy of the averaged head."""
    return -total(j, xlogx(averaged(j)))


def mean_of_all() -> sp.Expr:
    """The mean of the heads' entropies."""
    return -total((head, j), xlogx(W[head, j])) / H


def at_least(bound: sp.Expr, because: sp.Expr | None = None) -> AtLeast:
    """The entropy of the averaged head."""
    return AtLeast(of_the_mean(), bound, because=because,
                   reason="what is left is the mean divergence of the heads from their mean")


@claim("transport.listing.OTAttentionExperiment", "listing", title="Two entropies, compared",
       latex=r"H_{\mathrm{std}}\ \text{vs}\ H_{\mathrm{OT}}",
       needs=("transport.listing.OptimalTransportAttention",))
def experiment() -> Steps:
    """The entropies of both kinds of attention are printed side by side, as the same quantity."""
    yield Fails(Equation(of_the_mean(), mean_of_all(),
                         at={H: 2, m: 2, W.label: [[3 * QUARTER, QUARTER], [QUARTER, 3 * QUARTER]]}),
                reason="the same weights in both: one side averages the heads first, so that two heads that "
                "disagree look spread out")


@experiment.corrected(r"H\Big(\frac1H\sum_gA_g\Big)\ge\frac1H\sum_gH(A_g)", Severity.SLIP)
def experiment_compares_heads() -> Steps:
    """The averaged head has never less entropy than the heads have on average; `average_attn_weights=False` compares alike."""
    yield at_least(mean_of_all(), total((head, j), kl(W[head, j], averaged(j))) / H)


experiment.twin("one half more", lambda: at_least(mean_of_all() + HALF))
experiment.twin("twice the mean", lambda: at_least(2 * mean_of_all() + 1))

# ── OptimalTransportAttention ───────────────────────────────────────────────────────────────────────────────────────


def by_rows(of: Entries, guard: sp.Expr) -> Entries:
    """Rows over their sums."""
    return lambda x, y: of(x, y) / (total(l, of(x, l)) + guard)


def by_columns(of: Entries, guard: sp.Expr) -> Entries:
    """Columns over their sums."""
    return lambda x, y: of(x, y) / (total(k, of(k, y)) + guard)


def softened(of: Entries) -> Entries:
    """The softmax of the weights themselves, at ε."""
    return lambda x, y: sp.exp(of(x, y) / eps) / total(l, sp.exp(of(x, l) / eps))


def given(query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """A_ij."""
    return A[query, key]


def odds(of: Entries) -> sp.Expr:
    """A_ij A_kl/(A_il A_kj), which scalings of rows and columns leave alone: it is the cost that a plan has."""
    return of(i, j) * of(k, l) / (of(i, l) * of(k, j))


def kept(right_side: sp.Expr) -> Equation:
    """The odds after rows, columns, rows."""
    rescaled = by_rows(by_columns(by_rows(given, sp.S.Zero), sp.S.Zero), sp.S.Zero)
    return Equation(odds(rescaled), right_side, reason="each step divides whole rows or whole columns")


DOUBLY: dict[Variable, Value] = {n: 2, m: 2, A.label: [[3 * QUARTER, QUARTER], [QUARTER, 3 * QUARTER]], eps: 1}


@claim("transport.listing.OptimalTransportAttention", "listing", title="Sinkhorn iterations for a tighter solution",
       latex=r"\frac{A_{ij}A_{kl}}{A_{il}A_{kj}}\ \text{is kept by an iteration}")
def tighter() -> Steps:
    """Further iterations are to bring the weights nearer to the transport plan for the same scores."""
    third = softened(by_columns(by_rows(given, GUARD), GUARD))
    yield Fails(Equation(odds(third), odds(given), at=DOUBLY),
                reason="doubly stochastic weights (¾ ¼; ¼ ¾), optimal already: `re-normalize rows` is a softmax of the "
                "weights, not a division by sums, and makes 0.62 of ¾")


@tighter.corrected(r"A\leftarrow A/A\mathbf 1\text{ for }\mathrm{softmax}(A/\varepsilon)", Severity.SLIP)
def tighter_by_division() -> Steps:
    """If the third step divides by the row sums, without the 1e-8, an iteration rescales lines and keeps the costs."""
    yield kept(odds(given))


tighter.twin("the odds are squared", lambda: kept(odds(given) ** 2))
tighter.twin("the odds are turned over", lambda: kept(1 / odds(given)))

y = scalar("y")


def begins(right_side: sp.Expr) -> Equation:
    """Softplus of log(exp ε − 1)."""
    return Equation(sp.log(1 + (sp.exp(eps) - 1)), right_side, reason="softplus undone")


@claim("transport.listing.OptimalTransportAttention.epsilon", "listing", title="The argument ε",
       latex=r"\varepsilon_{\mathrm{start}}=\mathtt{epsilon}")
def start() -> Steps:
    """The module is made with a temperature, 0.1 by default and in the experiment; training may move it from there."""
    yield Fails(Equation(sp.log(1 + sp.exp(y)), eps, at={y: 0, eps: sp.Rational(1, 10)}),
                reason="the argument is stored and never read: every head starts at softplus(0) = log 2 = 0.69")


@start.corrected(r"\mathtt{log\_epsilon}=\log(e^{\varepsilon}-1)\implies\mathrm{softplus}(\mathtt{log\_epsilon})=\varepsilon",
                 Severity.SLIP)
def start_at_epsilon() -> Steps:
    """If the parameter starts at log(exp ε − 1), the temperature starts at ε."""
    yield begins(eps)


start.twin("its exponential", lambda: begins(sp.exp(eps)))
start.twin("twice of it", lambda: begins(2 * eps))


def above(bound: sp.Expr) -> AtLeast:
    """Softplus(y)."""
    x = sp.exp(y)
    return AtLeast(sp.log(1 + x), bound, strict=True, because=kl(1, 1 / (1 + x)) + x / (1 + x) if bound == 0 else None,
                   reason="log(1 + x) > 0 for x = exp y > 0")


@claim("transport.listing.OptimalTransportAttention.temperature", "listing",
       title="A temperature for each head that can be learned",
       latex=r"\mathrm{softplus}(y)>0")
def learned() -> Steps:
    """Whatever value training gives to its parameter, the temperature of a head is positive."""
    yield above(sp.S.Zero)


learned.twin("at least log 2", lambda: above(sp.log(2) + QUARTER))
learned.twin("at least y + 1", lambda: above(y + 1))

only = index("i", sp.S.One)
row = vector("A", sp.S.One, m, kind=Kind.POSITIVE)


def one_query(guard: sp.Expr) -> Entries:
    """What an iteration of the listing makes of a single row."""
    return softened(by_columns_of_one(by_rows(lambda x, y_: row[1, y_], guard), guard))


def by_columns_of_one(of: Entries, guard: sp.Expr) -> Entries:
    """Columns over their sums, each of which has one entry."""
    return lambda x, y_: of(x, y_) / (total(only, of(only, y_)) + guard)


def uniform(right_side: sp.Expr) -> Equation:
    """The weight of key j for a single query, without the 1e-8."""
    return Equation(one_query(sp.S.Zero)(sp.S.One, j), right_side, reason="each column is its one entry over itself: 1",
                    about=(row[1, j],))


@claim("transport.listing.OptimalTransportAttention.single-query", "listing", title="A single query",
       latex=r"n=1\implies A_{1j}=\mathrm{softmax}(S/\varepsilon)_{1j}", needs=("transport.listing.OptimalTransportAttention",))
def single_query() -> Steps:
    """One query, as in decoding, is to weigh the keys by its scores: with free columns softmax is the solution already."""
    yield Fails(Equation(one_query(GUARD)(sp.S.One, j), row[1, j], at={m: 2, row.label: [[3 * QUARTER, QUARTER]], eps: 1}),
                reason="dividing the columns of a single row by their sums leaves ones: the scores are gone")


@single_query.corrected(r"n=1\implies A_{1j}=1/m", Severity.FATAL)
def single_query_is_uniform() -> Steps:
    """A single query attends to all keys alike, whatever they are, with the iterations that run by default."""
    yield uniform(1 / m)


single_query.twin("the weights that came in", lambda: uniform(row[1, j] / total(l, row[1, l])))
single_query.twin("one for each key", lambda: uniform(sp.S.One + 1 / m))


def rows_after(right_side: sp.Expr) -> Equation:
    """Σ_j of what an iteration returns."""
    third = softened(given)
    return Equation(total(j, third(i, j)), right_side, reason="the softmax comes last")


@claim("transport.listing.OptimalTransportAttention.rows", "listing", title="Rows after the iterations",
       latex=r"A\mathbf 1=\mathbf 1")
def rows() -> Steps:
    """However many iterations run, or none, the last step is a softmax, so that each row sums to one."""
    yield rows_after(sp.S.One)


rows.twin("rows of mass two", lambda: rows_after(sp.Integer(2)))
rows.twin("rows of mass 1/n", lambda: rows_after(1 / (2 * n)))


@claim("transport.listing.OptimalTransportAttention.iterations", "listing", title="The argument for the number of iterations",
       latex=r"\mathtt{sinkhorn\_iters}\text{ iterations run}", needs=("transport.listing.OptimalTransportAttention",))
def iterations() -> None:
    """The module is made with a number of iterations, which is to be the number that runs."""


iterations.twin("none runs by default", lambda: Equation(n, n + 1))
iterations.twin("one runs by default", lambda: Equation(n, n + 2))


@claim("transport.listing.OptimalTransportAttention.mask", "listing", title="The argument for a mask",
       latex=r"\mathtt{mask}_{ij}=0\implies A_{ij}=0")
def mask() -> None:
    """The call takes a mask, which is to keep queries from keys."""


mask.twin("a mask is refused", lambda: Equation(n, n + 1))
mask.twin("a mask lets the rest through and blocks the others", lambda: Equation(n, n + 2))

# ── run_ot_attention_experiment ─────────────────────────────────────────────────────────────────────────────────────

B, X = vector("B", m, kind=Kind.POSITIVE), vector("X", m)
P = vector("P", m, kind=Kind.POSITIVE)
first, second = scalar("w"), scalar("y")


def difference(left: sp.Expr, right: sp.Expr) -> sp.Expr:
    """Σ_j P_j (left · X_j) − Σ_j B_j (right · X_j): two outputs, for one coordinate of the values."""
    return total(j, P[j] * left * X[j]) - total(j, B[j] * right * X[j])


def shared(right_side: sp.Expr) -> Equation:
    """The difference of the outputs with one projection for both."""
    return Equation(difference(first, first), right_side, reason="with the same projection only the weights make a difference")


def by_weights(sign: int) -> sp.Expr:
    """Σ_j (P_j − B_j) w X_j."""
    return total(j, (P[j] - sign * B[j]) * first * X[j])


@claim("transport.listing.run_ot_attention_experiment", "listing", title="Are the outputs close?",
       latex=r"\mathrm{out}_{\mathrm{std}}-\mathrm{out}_{\mathrm{OT}}=\sum_j(P_j-B_j)\,v_j",
       needs=("transport.listing.OTAttentionExperiment",))
def outputs() -> Steps:
    """Whether the outputs agree is printed, as if it told whether the two kinds of attention do."""
    yield Fails(Equation(difference(first, second), by_weights(1),
                         at={m: 1, P.label: [1], B.label: [1], X.label: [1], first: 1, second: 2}),
                reason="one token, where all attention is the same: the two modules start from different random projections")


@outputs.corrected(r"\mathrm{out}_{\mathrm{std}}-\mathrm{out}_{\mathrm{OT}}=\sum_j(P_j-B_j)\,v_j", Severity.HYPOTHESIS,
                   under="both modules have the same projections")
def outputs_with_shared_projections() -> Steps:
    """With shared projections the outputs differ by what the weights differ, and their closeness says something."""
    yield shared(by_weights(1))


outputs.twin("the sum of the weights", lambda: shared(by_weights(-1)))
outputs.twin("half the difference", lambda: shared(by_weights(1) / 2))


@claim("transport.listing.run_ot_attention_experiment.printed", "empirical", title="What the experiment prints",
       latex=r"H_{\mathrm{std}},\ H_{\mathrm{OT}},\ \text{shape},\ \text{close}",
       needs=("transport.listing.run_ot_attention_experiment",))
def printed() -> None:
    """The experiment is to run on random tokens, and to print two entropies, a shape and whether the outputs agree."""
