"""The listing `sinkhorn_attention`.

Claims     transport.listing.sinkhorn_attention   b ← v, log domain, converged: P1 = Pᵀ1 = 1  (corrected)
           transport.listing.sinkhorn_attention.one-iteration   u = 1/Kb, b = 1/n: diag(u) K diag(b) = softmax(O/ε)
           transport.listing.sinkhorn_attention.marginals   Pᵀ1 = 1 in the log domain, not 1/n  (corrected)
           transport.listing.sinkhorn_attention.shift   P(O + t) = P(O) in the log domain  (corrected)
           transport.listing.sinkhorn_attention.overflow   log domain: P_ij = e^(φ_i + O_ij/ε + ψ_j) ≤ 1  (corrected)
Notation   as in `listing_notation`; O the scores of as many queries as keys, K = exp(O/ε); b the scaling that a round starts
           from, `low` what underflow leaves of it; φ = log u; H heads of N tokens
References Sander et al. (2022) for attention by Sinkhorn's iteration
"""

import sympy as sp

from derivations.documents.transport.listing_notation import GUARD, eps, i, k, n, scaled, t
from derivations.documents.transport.listing_sinkhorn import LARGEST
from derivations.vocabulary import *

O = vector("S", n, n)  # noqa: E741
SQUARE: dict[Variable, Value] = {n: 2, O.label: [[0, 1], [0, 0]], eps: 1}
second = index("j", n)
inner = index("l", n)
start = vector("v", n, kind=Positive)
low = vector("b", n, kind=Nonnegative)


def similarity(query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """exp(S_ij/ε), as many queries as keys."""
    return sp.exp(O[query, key] / eps)


def update(scaling: Entry, guard: sp.Expr) -> tuple[Entry, Entry]:
    """u = 1/(K b), v = 1/(Kᵀu)."""

    def left(query: sp.Expr) -> sp.Expr:
        return 1 / (total(inner, similarity(query, inner) * scaling(inner)) + guard)

    def right(key: sp.Expr) -> sp.Expr:
        return 1 / (total(k, similarity(k, key) * left(k)) + guard)

    return left, right


def plan(scaling: Entry, guard: sp.Expr) -> Entries:
    """u ∘ K ∘ v after a round from b."""
    return scaled(similarity, *update(scaling, guard))


def uniform(entry: sp.Expr) -> sp.Expr:
    """1/n."""
    return 1 / n


def stationary(right_side: sp.Expr) -> Equation:
    """Σ_j u_i K_ij v_j with u = 1/(K v)."""
    held = scaled(similarity, update(start, sp.S.Zero)[0], start)
    return Equation(total(second, held(i, second)), right_side, reason="the v in the plan is the v that u was made from")


@claim(
    "transport.listing.sinkhorn_attention",
    "listing",
    title="The full iterative solution",
    latex=r"\gamma\mathbf 1=\mathbf 1\ \text{after the rounds}",
    needs=("transport.listing.sinkhorn",),
    hypotheses=("as many queries as keys", "ten rounds by default", "1e-8 is added to each denominator"),
)
def sinkhorn_attention() -> Steps:
    """Several rounds are to converge to a transport plan, so that each query averages the values with weights of sum one."""
    yield Equation(
        plan(lambda key: sp.exp(t) * start[key], sp.S.Zero)(i, second),
        plan(start, sp.S.Zero)(i, second),
        reason="a factor in b does not matter, but b ∘ v squares it in each round, until b is lost beside the 1e-8",
    )
    yield Equation(
        plan(lambda key: sp.S.Zero, GUARD)(i, second),
        similarity(i, second) / (total(k, similarity(k, second)) + GUARD**2),
        reason="then u is the same for all queries, and v makes a softmax over the queries: K_ij/Σ_k K_kj",
    )
    yield Fails(
        Equation(
            total(second, plan(low, GUARD)(i, second)), 1, at={n: 2, O.label: [[0, -1], [0, 0]], low.label: [0, 0], eps: 1}
        ),
        reason="where ten rounds end for these scores: columns (½, ½) and (x, 1)/(1 + x), x = 1/e, rows off by 0.23",
    )


@sinkhorn_attention.corrected(
    r"b\leftarrow v:\quad u=1/Kv,\ v=1/K^\top u"
    r"\implies\gamma\mathbf 1=\mathbf 1,\ \gamma^\top\mathbf 1=\mathbf 1",
    Severity.FATAL,
    replaces="b ← b ∘ v, and the 1e-8",
)
def sinkhorn_attention_repaired() -> Steps:
    """With b ← v, in the log domain, a plan that a further round would not change has unit rows and unit columns."""
    yield Equation(total(i, plan(start, sp.S.Zero)(i, second)), 1, reason="v = 1/Kᵀu")
    yield stationary(sp.S.One)


sinkhorn_attention.twin("rows of mass 1/n", lambda: stationary(1 / (2 * n)))
sinkhorn_attention.twin("rows of mass 2", lambda: stationary(sp.Integer(2)))


def half_round(factor: sp.Expr) -> Equation:
    """u_i K_ij b_j with b = 1/n."""
    return Equation(
        scaled(similarity, update(uniform, sp.S.Zero)[0], uniform)(i, second),
        factor * row_softmax(i, second),
        reason="the rows alone are normalized",
    )


def row_softmax(query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """Standard attention."""
    return similarity(query, key) / total(inner, similarity(query, inner))


@claim(
    "transport.listing.sinkhorn_attention.one-iteration",
    "listing",
    title="Standard attention is one iteration",
    latex=r"T=1\implies\gamma=\mathrm{softmax}(S/\varepsilon)",
    needs=("transport.listing.sinkhorn_attention",),
)
def one_iteration() -> Steps:
    """The docstring says that standard attention uses one iteration of what it runs."""
    yield Fails(
        Equation(plan(uniform, GUARD)(i, second), row_softmax(i, second), at=SQUARE),
        reason="one round of the listing ends with the columns: they sum to one, the rows do not",
    )


@one_iteration.corrected(
    r"u=1/Kb,\ b=\tfrac1n\mathbf 1:\quad\mathrm{diag}(u)K\,\mathrm{diag}(b)"
    r"=\mathrm{softmax}(S/\varepsilon)",
    Severity.HYPOTHESIS,
    under="the step is the half of an iteration that rescales the rows, from a uniform b",
    replaces="a whole round, rows and columns",
)
def half_an_iteration() -> Steps:
    """Standard attention is half a round: the rows are normalized, the columns are not."""
    yield half_round(sp.S.One)


one_iteration.twin("1/n of it", lambda: half_round(1 / (2 * n)))
one_iteration.twin("twice of it", lambda: half_round(sp.Integer(2)))


def column(right_side: sp.Expr) -> Equation:
    """Σ_i P_ij after a round from any b, without the guard."""
    return Equation(total(i, plan(start, sp.S.Zero)(i, second)), right_side, reason="v = 1/Kᵀu, whatever b")


@claim(
    "transport.listing.sinkhorn_attention.marginals",
    "listing",
    title="Uniform marginals",
    latex=r"\gamma^\top\mathbf 1=b=\tfrac1n\mathbf 1",
    needs=("transport.listing.sinkhorn_attention",),
)
def marginals() -> Steps:
    """The variables a and b are called marginals, uniform ones."""
    yield Fails(
        Equation(total(i, plan(uniform, GUARD)(i, second)), 1 / n, at=SQUARE),
        reason="b is where the scalings start and a enters nothing: the numerators are 1, so columns sum to 1",
    )


@marginals.corrected(
    r"\gamma^\top\mathbf 1=\mathbf 1\quad\text{in the log domain}",
    Severity.SLIP,
    replaces="the columns' mass 1/n, and the 1e-8",
)
def marginals_as_they_are() -> Steps:
    """In the log domain the plan has unit columns after each round, n times the uniform marginal, whatever b is."""
    yield column(sp.S.One)


marginals.twin("the start b", lambda: column(start[second]))
marginals.twin("two", lambda: column(sp.Integer(2)))

LIFTED: dict[Variable, Value] = {n: 1, O.label: [[0]], t: -4, start.label: [1], eps: sp.Rational(1, 10)}


def lifted(guard: sp.Expr, right_side: sp.Expr) -> Equation:
    """γ_ij for the scores S + t, after a round from any b."""

    def higher(query: sp.Expr, key: sp.Expr) -> sp.Expr:
        return sp.exp((O[query, key] + t) / eps)

    def left(query: sp.Expr) -> sp.Expr:
        return 1 / (total(inner, higher(query, inner) * start[inner]) + guard)

    def right(key: sp.Expr) -> sp.Expr:
        return 1 / (total(k, higher(k, key) * left(k)) + guard)

    return Equation(scaled(higher, left, right)(i, second), right_side, at=LIFTED if guard else {}, reason="u takes exp(−t/ε)")


@claim(
    "transport.listing.sinkhorn_attention.shift",
    "listing",
    title="A constant added to all scores changes nothing",
    latex=r"\gamma(S+t\,\mathbf 1\mathbf 1^\top)=\gamma(S)",
    needs=("transport.listing.sinkhorn_attention",),
)
def shift() -> Steps:
    """Weights depend on differences of scores only, at the default ε = 0.1 as at any other."""
    yield Fails(lifted(GUARD, plan(start, GUARD)(i, second)), reason="a score of −4 at ε = 1/10: exp(−40) is lost beside 1e-8")


@shift.corrected(r"\gamma(S+t)=\gamma(S)\quad\text{in the log domain}", Severity.SLIP, replaces="a round with the 1e-8")
def shift_without_guard() -> Steps:
    """In the log domain, where no denominator vanishes and nothing is added, a round is the same for S and for S + t."""
    yield lifted(sp.S.Zero, plan(start, sp.S.Zero)(i, second))


shift.twin("the plan grows with exp(t/ε)", lambda: lifted(sp.S.Zero, plan(start, sp.S.Zero)(i, second) * sp.exp(t / eps)))
shift.twin("the plan falls with exp(−t/ε)", lambda: lifted(sp.S.Zero, plan(start, sp.S.Zero)(i, second) * sp.exp(-t / eps)))


phi = vector("phi", n)


def part(query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """exp(φ_i + S_ij/ε), the share of the key j that the query i would get, before it is scaled."""
    return sp.exp(phi[query] + O[query, key] / eps)


def representable(bound: sp.Expr) -> AtLeast:
    """γ_ij ≤ bound, where γ_ij = exp(φ_i + S_ij/ε + ψ_j) with ψ_j = −log Σ_k exp(φ_k + S_kj/ε)."""
    rest = total(k, part(k, second) * (1 - sp.KroneckerDelta(k, i))) / total(k, part(k, second))
    return AtLeast(
        bound,
        part(i, second) / total(k, part(k, second)),
        because=rest + bound - 1,
        reason="what the other queries give to a key is never negative",
    )


@claim(
    "transport.listing.sinkhorn_attention.overflow",
    "listing",
    title="The kernel is a matrix of float32 numbers",
    latex=r"\exp(S_{ij}/\varepsilon)\le(2-2^{-23})2^{127}",
    hypotheses=("float32, as torch makes them by default",),
    needs=("transport.listing.sinkhorn_attention",),
)
def overflow() -> Steps:
    """The kernel exp(S/ε) is computed as it stands, so that it must be a number of the format, for every finite score."""
    yield Fails(
        AtLeast(LARGEST, similarity(i, second), at={n: 1, O.label: [[9]], eps: sp.Rational(1, 10)}),
        reason="a score of 9 at the default ε = 1/10, where 8.87 is the most: exp(90) is inf in float32, the plan NaN",
    )


@overflow.corrected(
    r"\gamma_{ij}=\exp\big(\varphi_i+S_{ij}/\varepsilon+\psi_j\big)\le1,"
    r"\quad\psi_j=-\mathrm{LSE}_k(\varphi_k+S_{kj}/\varepsilon)",
    Severity.SLIP,
    replaces="the kernel, by what is exponentiated in the log domain",
)
def overflow_in_logarithms() -> Steps:
    """In the log domain only the plan is exponentiated, and no entry of it exceeds the unit that its key gets."""
    yield representable(sp.S.One)


overflow.twin("at most half of it", lambda: representable(sp.S.Half))
overflow.twin("at most a quarter of it", lambda: representable(sp.Rational(1, 4)))

heads, tokens = size("H"), size("N")
token = index("j", tokens)


def entries_of_start(right_side: sp.Expr) -> Equation:
    """The number of entries of the start b that a row of a head's kernel multiplies."""
    return Equation(
        total(token, sp.S.One), right_side, reason="a count only: which shapes go through is seen by running the listing"
    )


@claim(
    "transport.listing.sinkhorn_attention.heads",
    "listing",
    title="Queries of several heads",
    latex=r"b\in\mathbb R^{B\times H}",
    needs=("transport.listing.sinkhorn_attention",),
)
def several_heads() -> Steps:
    """The start b takes its shape from the first two axes of the queries, whether or not an axis of heads is among them."""
    yield Fails(
        Equation(heads, tokens, at={heads: 1, tokens: 2}),
        reason="(B, H, N, d), as every module of the document makes them: b is (B, H), and one head with two tokens "
        "stops at the first product",
    )


@several_heads.corrected(
    r"Q\in\mathbb R^{B\times N\times d}:\ b\in\mathbb R^{B\times N}",
    Severity.HYPOTHESIS,
    under="the queries have three axes, (B, N, d), with the heads folded into the batch",
    replaces="the heads that b has entries for, by the tokens that a row of the kernel meets",
)
def heads_in_the_batch() -> Steps:
    """With three axes b has an entry for each token, as many as a row of the kernel meets."""
    yield entries_of_start(tokens)


several_heads.twin("one more than there are", lambda: entries_of_start(tokens + 1))
several_heads.twin("those of all heads", lambda: entries_of_start(heads * tokens))

bits = size("bits")
bit = index("bit", bits)


def held_in(right_side: sp.Expr) -> Equation:
    """The number of bits of an entry of b."""
    return Equation(
        total(bit, sp.S.One), right_side, reason="a count only: that b is of this type is seen by running the listing"
    )


@claim(
    "transport.listing.sinkhorn_attention.dtype",
    "listing",
    title="Numbers of the queries' own type",
    latex=r"\mathtt{dtype}(b)=\mathtt{dtype}(Q)",
    needs=("transport.listing.sinkhorn_attention",),
)
def dtype() -> Steps:
    """The scalings multiply the kernel, so that they must be of its type, be it of 16, 32 or 64 bits."""
    yield Fails(
        Equation(sp.Integer(32), bits, at={bits: 64}),
        reason="`ones` without a dtype makes float32: float64, float16 and bfloat16 stop at the first product, for one "
        "token too, here and in `compute_attention_ot_divergence`",
    )


@dtype.corrected(
    r"b=\mathtt{ones}(\ldots,\ \mathtt{dtype}=Q.\mathtt{dtype})",
    Severity.SLIP,
    replaces="the 32 bits of `ones` without a dtype",
)
def dtype_of_queries() -> Steps:
    """Made with the queries' dtype, the scalings go with every kernel."""
    yield held_in(bits)


dtype.twin("twice as precise", lambda: held_in(2 * bits))
dtype.twin("double always", lambda: held_in(sp.Integer(128)))
