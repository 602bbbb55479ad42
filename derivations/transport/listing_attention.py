"""The listings `AttentionAsOT`, `sinkhorn_attention` and `compute_attention_ot_divergence`.

Claims     transport.listing.AttentionAsOT, transport.listing.AttentionAsOT.standard, transport.listing.AttentionAsOT.sorting,
           transport.listing.AttentionAsOT.heads, transport.listing.sinkhorn_attention,
           transport.listing.sinkhorn_attention.one-iteration, transport.listing.sinkhorn_attention.marginals,
           transport.listing.sinkhorn_attention.shift, transport.listing.sinkhorn_attention.keys,
           transport.listing.compute_attention_ot_divergence, transport.listing.compute_attention_ot_divergence.batch
Notation   as in `listing_notation`; A the weights; P any plan; heads of width g, N tokens
References Sander et al. (2022) for attention by Sinkhorn's iteration
"""

from __future__ import annotations

import sympy as sp

from derivations.calculus.balls import Value
from derivations.calculus.sums import total
from derivations.calculus.variables import Kind, Variable, coupling, index, positive, size, vector
from derivations.catalogue import Steps, claim
from derivations.claims import Severity
from derivations.plans import Entries, UniquePlan
from derivations.relations import AtLeast, Entry, Equation, Fails
from derivations.transport.listing_notation import (
    GUARD,
    HALF,
    S,
    d,
    entropy,
    eps,
    expense,
    i,
    j,
    k,
    l,
    m,
    n,
    scaled,
    scaled_product,
    score,
    softmax,
    t,
)

# ── AttentionAsOT ───────────────────────────────────────────────────────────────────────────────────────────────────


def solves(candidate: Entries) -> UniquePlan:
    """The candidate is the only minimizer of ⟨P, −S⟩ − ε H(P) over plans with unit rows and free columns."""
    def objective(of: Entries) -> sp.Expr:
        return -expense(of, score) - eps * entropy(of)

    return UniquePlan(objective, candidate, n, m, eps, reason="what another plan costs more is ε Σ_ij kl(R_ij ‖ A_ij)")


@claim("transport.listing.AttentionAsOT", "listing", title="Row-wise softmax solves the semi-relaxed problem",
       latex=r"\mathrm{softmax}(S/\varepsilon)=\arg\min_{P\ge0,\,P\mathbf 1=\mathbf 1}\langle P,-S\rangle-\varepsilon H(P),"
             r"\quad S=QK^\top/\sqrt{d_k}", hypotheses=("ε > 0",), needs=("eot.113",))
def attention() -> Steps:
    """The weights of the module are the one plan that is best with rows of mass 1 and free columns, for every ε > 0."""
    yield solves(softmax(score, eps))


attention.twin("the scores are costs", lambda: solves(softmax(lambda x, y: -S[x, y], eps)))
attention.twin("half the temperature", lambda: solves(softmax(score, eps / 2)))


def weights(temperature: sp.Expr) -> Equation:
    """The module's weights at ε = 1."""
    raw = softmax(lambda x, y: sp.sqrt(d) * scaled_product(x, y), temperature)
    return Equation(softmax(scaled_product, sp.S.One)(i, j), raw(i, j), reason="at ε = 1 only √d divides the products")


@claim("transport.listing.AttentionAsOT.standard", "listing", title="At ε = 1 the module is multi-head attention",
       latex=r"\varepsilon=1\implies A=\mathrm{softmax}(QK^\top/\sqrt{d_k})", needs=("transport.listing.AttentionAsOT",))
def standard() -> Steps:
    """With its default ε the module is ordinary multi-head attention, with the same projections and biases."""
    yield weights(sp.sqrt(d))


standard.twin("no temperature", lambda: weights(sp.S.One / 2))
standard.twin("the width for its root", lambda: weights(3 * d))


def odds(strength: sp.Expr) -> Equation:
    """A_ij/A_il, whatever the others."""
    plan = softmax(score, eps)
    return Equation(plan(i, j) / plan(i, l), sp.exp(strength * (S[i, j] - S[i, l]) / eps),
                    reason="a larger score means a larger weight, row by row")


@claim("transport.listing.AttentionAsOT.sorting", "listing", title="Attention as soft sorting",
       needs=("transport.listing.AttentionAsOT",),
       latex=r"A^\top\mathbf 1=\mathbf 1\ (\text{a relaxed permutation})")
def sorting() -> Steps:
    """A comment calls the weights a soft sorting, which gives each key to one query, so that columns sum to one."""
    yield Fails(Equation(total(i, softmax(score, eps)(i, j)), 1, at={n: 2, m: 2, S.label: [[0, 1], [0, 0]], eps: 1}),
                reason="only the rows are normalized: two queries may take the same key")


@sorting.corrected(r"A_{ij}/A_{il}=e^{(S_{ij}-S_{il})/\varepsilon}", Severity.WORDING)
def ranking() -> Steps:
    """Within each row the keys are ranked softly by their scores; between the rows there is no constraint."""
    yield odds(sp.S.One)


sorting.twin("upside down", lambda: odds(-sp.S.One))
sorting.twin("twice as sharp", lambda: odds(sp.Integer(2)))

N, H, G = size("N"), size("H"), size("g")
token, head, coordinate = index("p", N), index("h", H), index("q", G)


def entries(right_side: sp.Expr) -> Equation:
    """The numbers that all heads hold."""
    return Equation(total((token, head, coordinate), sp.S.One), right_side, reason="one for each token, head and coordinate")


@claim("transport.listing.AttentionAsOT.heads", "listing", title="Heads of width ⌊d_model/n_heads⌋",
       latex=r"N\,d_{\mathrm{model}}=N\,n_{\mathrm{heads}}\lfloor d_{\mathrm{model}}/n_{\mathrm{heads}}\rfloor")
def heads() -> Steps:
    """The projections of width d_model are split among the heads, for any two numbers that the module is given."""
    model = size("d_model")
    yield Fails(Equation(H * G, model, at={H: 2, G: 1, model: 3}),
                reason="three coordinates and two heads: ⌊3/2⌋ = 1 each, one is left over, and the module stops at its view")


@heads.corrected(r"d_{\mathrm{model}}=n_{\mathrm{heads}}\,g\implies N\,n_{\mathrm{heads}}\,g=N\,d_{\mathrm{model}}",
                 Severity.HYPOTHESIS, under="n_heads divides d_model")
def heads_that_divide() -> Steps:
    """Where the number of heads divides the width, nothing is left over."""
    yield entries(N * H * G)


heads.twin("one head's numbers", lambda: entries(N * G / 2))
heads.twin("one token's numbers", lambda: entries(2 * N * H * G))


# ── sinkhorn_attention ──────────────────────────────────────────────────────────────────────────────────────────────

O = vector("S", n, n)  # noqa: E741
SQUARE: dict[Variable, Value] = {n: 2, O.label: [[0, 1], [0, 0]], eps: 1}
second = index("j", n)
inner = index("l", n)
start = vector("v", n, kind=Kind.POSITIVE)


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


# two tokens: K_12 = x, the other entries of K are 1, z = b_2/b_1, and no 1e-8
ROUNDS = 3
x, z = positive("x"), positive("z")


def ratio(of: sp.Expr) -> sp.Expr:
    """v_2/v_1 from b = (1, z)."""
    first, last = 1 / (1 + x * of), 1 / (1 + of)
    return (first + last) / (x * first + last)


def mobius(of: sp.Expr) -> sp.Expr:
    """The same as a Möbius map of z."""
    return ((1 + x) * of + 2) / (2 * x * of + 1 + x)


def first_row(rounds: int) -> sp.Expr:
    """Σ_j γ_1j after so many rounds of b ← b ∘ v from b = (1, 1)."""
    above = below = sp.S.One                                 # z as a quotient
    for _ in range(rounds - 1):
        above, below = (sp.expand(above * ((1 + x) * above + 2 * below)),
                        sp.expand(below * (2 * x * above + (1 + x) * below)))
    first, last = 1 / (1 + x * above / below), 1 / (1 + above / below)
    return (first / (first + last) + x * first / (x * first + last)).xreplace({x: sp.exp(O[1, 2] / eps)})


def uniform(place: sp.Expr) -> sp.Expr:
    """1/n."""
    return 1 / n


def any_start(key: sp.Expr) -> sp.Expr:
    """v_j > 0."""
    return start[key]


def stationary(right_side: sp.Expr) -> Equation:
    """Σ_j u_i K_ij v_j with u = 1/(K v)."""
    held = scaled(similarity, update(any_start, sp.S.Zero)[0], any_start)
    return Equation(total(second, held(i, second)), right_side, reason="the v in the plan is the v that u was made from")


@claim("transport.listing.sinkhorn_attention", "listing", title="The full iterative solution",
       latex=r"\gamma\mathbf 1=\mathbf 1\ \text{after the rounds}", needs=("transport.listing.sinkhorn",),
       hypotheses=("n = m", "b ← b ∘ v after each round"))
def sinkhorn_attention() -> Steps:
    """Several rounds are to converge to a transport plan, so that each query averages the values with weights of sum one."""
    yield Equation(plan(lambda key: t**2 * any_start(key), sp.S.Zero)(i, second), plan(any_start, sp.S.Zero)(i, second),
                   reason="a factor in b does not matter, but b ∘ v squares it in each round, until b underflows or overflows")
    yield Equation(ratio(z), mobius(z), reason="two tokens, x = K_12, K = 1 elsewhere: v_2/v_1 from z = b_2/b_1")
    yield Fails(Equation(first_row(ROUNDS), 1, at={O.label: [[0, -1], [0, 0]], n: 2, eps: 1}),
                reason="without the 1e-8: b ∘ v moves z to z v_2/v_1, which has no fixed point for x < 1; the row has 1.003 "
                "after two rounds, 1.05 after three, 1.11 after four, 1.23 after ten")


@sinkhorn_attention.corrected(r"b\leftarrow v:\quad u=1/Kv,\ v=1/K^\top u"
                              r"\implies\gamma\mathbf 1=\mathbf 1,\ \gamma^\top\mathbf 1=\mathbf 1",
                              Severity.SLIP)
def sinkhorn_attention_repaired() -> Steps:
    """With b ← v, and without the 1e-8, a plan that a further round would not change has unit rows and unit columns."""
    yield Equation(total(i, plan(any_start, sp.S.Zero)(i, second)), 1, reason="v = 1/Kᵀu")
    yield stationary(sp.S.One)


sinkhorn_attention.twin("rows of mass 1/n", lambda: stationary(1 / (2 * n)))
sinkhorn_attention.twin("rows of mass 2", lambda: stationary(sp.Integer(2)))


def half_round(factor: sp.Expr) -> Equation:
    """u_i K_ij b_j with b = 1/n."""
    return Equation(scaled(similarity, update(uniform, sp.S.Zero)[0], uniform)(i, second), factor * row_softmax(i, second),
                    reason="the rows alone are normalized")


def row_softmax(query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """Standard attention."""
    return similarity(query, key) / total(inner, similarity(query, inner))


@claim("transport.listing.sinkhorn_attention.one-iteration", "listing", title="Standard attention is one iteration",
       latex=r"\mathtt{num\_iters}=1\implies\gamma=\mathrm{softmax}(S/\varepsilon)",
       needs=("transport.listing.sinkhorn_attention",))
def one_iteration() -> Steps:
    """The docstring says that standard attention uses one iteration of what it runs."""
    yield Fails(Equation(plan(uniform, GUARD)(i, second), row_softmax(i, second), at=SQUARE),
                reason="one round of the listing ends with the columns: they sum to one, the rows do not")


@one_iteration.corrected(r"uKb=\mathrm{softmax}(S/\varepsilon)\quad(u=1/Kb,\ b=\tfrac1n)", Severity.WORDING)
def half_an_iteration() -> Steps:
    """Standard attention is half a round: the rows are normalized, the columns are not."""
    yield half_round(sp.S.One)


one_iteration.twin("1/n of it", lambda: half_round(1 / (2 * n)))
one_iteration.twin("twice of it", lambda: half_round(sp.Integer(2)))


def column(right_side: sp.Expr) -> Equation:
    """Σ_i P_ij after a round from any b, without the guard."""
    return Equation(total(i, plan(any_start, sp.S.Zero)(i, second)), right_side, reason="v = 1/Kᵀu, whatever b")


@claim("transport.listing.sinkhorn_attention.marginals", "listing", title="Uniform marginals",
       latex=r"\gamma^\top\mathbf 1=b=\tfrac1n\mathbf 1",
       needs=("transport.listing.sinkhorn_attention",))
def marginals() -> Steps:
    """The variables a and b are called marginals, uniform ones."""
    yield Fails(Equation(total(i, plan(uniform, GUARD)(i, second)), 1 / n, at=SQUARE),
                reason="b is where the scalings start and a enters nothing: the numerators are 1, so columns sum to 1")


@marginals.corrected(r"\gamma^\top\mathbf 1=\mathbf 1\quad\text{without the }10^{-8}", Severity.SLIP)
def marginals_as_they_are() -> Steps:
    """The plan has unit columns after each round, n times the uniform marginal, whatever b is."""
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


@claim("transport.listing.sinkhorn_attention.shift", "listing", title="A constant added to all scores changes nothing",
       latex=r"\gamma(S+t)=\gamma(S)", needs=("transport.listing.sinkhorn_attention",))
def shift() -> Steps:
    """Weights depend on differences of scores only, at the default ε = 0.1 as at any other."""
    yield Fails(lifted(GUARD, plan(any_start, GUARD)(i, second)),
                reason="a score of −4 at ε = 1/10: exp(−40) is lost beside 1e-8")


@shift.corrected(r"\gamma(S+t)=\gamma(S)\quad\text{without the }10^{-8}", Severity.SLIP)
def shift_without_guard() -> Steps:
    """Without the 1e-8 every round is the same for S and for S + t."""
    yield lifted(sp.S.Zero, plan(any_start, sp.S.Zero)(i, second))


shift.twin("the plan grows with exp(t/ε)", lambda: lifted(sp.S.Zero, plan(any_start, sp.S.Zero)(i, second) * sp.exp(t / eps)))
shift.twin("the plan falls with exp(−t/ε)", lambda: lifted(sp.S.Zero, plan(any_start, sp.S.Zero)(i, second) * sp.exp(-t / eps)))


def length(right_side: sp.Expr) -> Equation:
    """How many keys there are to be scaled."""
    return Equation(total(j, sp.S.One), right_side, reason="one scaling for each key", about=(n,))


@claim("transport.listing.sinkhorn_attention.keys", "listing", title="A scaling for each key", latex=r"b\in\mathbb R^m",
       needs=("transport.listing.sinkhorn_attention",))
def keys() -> Steps:
    """The scaling b multiplies the columns, one for each key, however many queries there are."""
    yield Fails(Equation(total(i, sp.S.One), m, at={n: 1, m: 2}),
                reason="b takes its length from the queries: one query and two keys do not go together")


@keys.corrected(r"b=\mathtt{ones}(B,\mathtt{K.shape[1]})/\mathtt{K.shape[1]}", Severity.SLIP)
def keys_counted() -> Steps:
    """The length of b is the number of keys."""
    yield length(m)


keys.twin("one for each query", lambda: length(n))
keys.twin("one for each pair", lambda: length(n * m))


# ── compute_attention_ot_divergence ─────────────────────────────────────────────────────────────────────────────────

even = vector("a", n, kind=Kind.INTERIOR)
P = coupling("P", even, even)


def measure(first: sp.Expr, second_: sp.Expr, third: sp.Expr) -> sp.Expr:
    """⟨P, C⟩, weighted for the three calls, which are one call for p = q: the same plan, the same costs."""
    paid = -total((i, second), P[i, second] * O[i, second])
    return first * paid - second_ * paid - third * paid


def nothing(right_side: sp.Expr) -> Equation:
    """The listing's value, for any plan that the three equal calls return."""
    return Equation(measure(sp.S.One, HALF, HALF), right_side, reason="1 − ½ − ½ = 0", about=(P[i, second], O[i, second]))


@claim("transport.listing.compute_attention_ot_divergence", "listing", title="A measure of how concentrated attention is",
       latex=r"\text{lower}=\text{more concentrated}", needs=("transport.listing.sinkhorn_divergence",))
def divergence() -> Steps:
    """The value is to be lower for concentrated attention than for attention that is spread out."""
    spread = measure(sp.S.One, HALF, HALF)
    yield nothing(sp.S.Zero)
    yield Fails(AtLeast(spread, sp.S.Zero, strict=True, at={n: 1, even.label: [1], P.label: [[1]], O.label: [[1]]},
                        about=(O[i, second],)),
                reason="both marginals are uniform, p = q, so the value is 0 for every Q and K; softmax weights do not enter")


@divergence.corrected(r"\mathtt{compute\_attention\_ot\_divergence}(Q,K,\varepsilon)=0", Severity.FATAL)
def divergence_is_zero() -> Steps:
    """For one head's queries and keys the value is 0, whatever they are, and so tells nothing of attention."""
    yield nothing(sp.S.Zero)


divergence.twin("half the cost of the plan", lambda: nothing(measure(sp.S.One, HALF, sp.S.Zero)))
divergence.twin("the cost of the plan", lambda: nothing(measure(sp.S.One, sp.S.Zero, sp.S.Zero)))


@claim("transport.listing.compute_attention_ot_divergence.batch", "listing", title="Queries and keys in a batch",
       latex=r"Q,K\in\mathbb R^{B\times N\times d}", needs=("transport.listing.compute_attention_ot_divergence",))
def batch() -> None:
    """The marginals are made for a batch of B problems with N tokens each, so the function is to take such a batch."""


batch.twin("a batch of one", lambda: Equation(n, n + 1))
batch.twin("a batch of N", lambda: Equation(n, n + 2))
