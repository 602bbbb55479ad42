"""Section 8: what a head of BERT and of T5 computes, and how it becomes (18).

Claims     deciphering.21                        b_V + Σ_i Vx_i softmax_i(⟨Kx_i, Qx_k + b_Q⟩/√d′)  (corrected)
           deciphering.22                        Σ_i Vx_i u_i e^⟨Kx_i, Qy⟩/Σ_j u_j e^⟨Kx_j, Qy⟩  (corrected)
           deciphering.s8.reparametrization      t_i = x_i/√d′, z = KᵀQx_k, V′ = V√d′, α = 1  ⟹  V′ĥ = (21), u uniform
           deciphering.s8.t5-reparametrization   t_i = x_i, z = KᵀQy, V′ = V for T5  (corrected)
           deciphering.s8.cross-prior            u = m, without positions, in T5's cross-attention  (corrected)
Notation   inputs X[i, a] = (x_i)_a; y the input of the query, x_k in BERT; K, Q, V ∈ ℝ^{e×d} with e = d′, the width of a
           head; b_K, b_Q, b_V the biases of BERT's projections; m ≥ 0 with sum 1, uniform on the words that the attention
           mask shows and 0 on those it hides; B[n + j − i] = b_{j−i}, the position bias of word i for the query at j
References (21), (22) and the text about them; BertSelfAttention and T5Attention in transformers, where BERT's projections
           have biases, and T5 has none, does not divide by √d′, and adds its position bias before the softmax
"""

from collections.abc import Callable

import sympy as sp

from derivations.documents.deciphering.notation import a, b, d, i, j, k, n
from derivations.vocabulary import *

e = size("e")
o, r = index("o", e), index("r", e)
X, y = vector("X", n, d), vector("y", d)
K, Q, V = vector("K", e, d), vector("Q", e, d), vector("V", e, d)
key_bias, query_bias, value_bias = vector("bK", e), vector("bQ", e), vector("bV", e)
shown = simplex("m", n)
B = vector("B", 2 * n - 1)
root = sp.sqrt(e)
Place = dict[Variable, Value]
SHIPPED = "K, Q and V are the weights of the shipped projections"
FIRST: Place = {o: 1, j: 1}
"""Where counterexamples are looked for: the first row of an output and the first query stand for all."""
FIRST_WORD: Place = {o: 1, k: 1}
"""The same for BERT, whose query is one of the words."""


def own(coordinate: sp.Expr) -> sp.Expr:
    """(x_k)_a: in self-attention the query's input is one of the x_i."""
    return X[k, coordinate]


def none(row: sp.Expr) -> sp.Expr:
    """No bias."""
    return sp.S.Zero


def query(source: Entry, bias: Entry = none) -> Entry:
    """Q y + b_Q, entry by entry."""
    return lambda row: total(b, Q[row, b] * source(b)) + bias(row)


def score(source: Entry, on_keys: Entry = none, on_query: Entry = none) -> Entry:
    """i ↦ ⟨K x_i + b_K, Q y + b_Q⟩."""
    return lambda word: total(r, (total(a, K[r, a] * X[word, a]) + on_keys(r)) * query(source, on_query)(r))


def evidence_of(source: Entry, bias: Entry = none) -> Entry:
    """z = Kᵀ(Q y + b_Q)."""
    return lambda coordinate: total(r, K[r, coordinate] * query(source, bias)(r))


def everywhere(word: sp.Expr) -> sp.Expr:
    """A prior without preference, not normalized."""
    return sp.S.One


def position(word: sp.Expr) -> sp.Expr:
    """b_{j−i}, the position bias of a word for the query at j."""
    return B[n + j - word]


def log_linear(logits: Entry, prior: Entry = everywhere) -> Entry:
    """i ↦ u_i e^{s_i} / Σ_l u_l e^{s_l}."""
    whole = total(i, prior(i) * sp.exp(logits(i)))
    return lambda word: prior(word) * sp.exp(logits(word)) / whole


def preference(bias: Entry = position) -> Entry:
    """(19): m_i e^{b_i} / Z, which is 0 where a word is hidden."""
    whole = total(i, shown[i] * sp.exp(bias(i)))
    return lambda word: shown[word] * sp.exp(bias(word)) / whole


def average(values: Entry, logits: Entry, prior: Entry = everywhere) -> sp.Expr:
    """Σ_i p_i v_i with p = log_linear(logits, prior), over one denominator."""
    return total(i, values(i) * prior(i) * sp.exp(logits(i))) / total(i, prior(i) * sp.exp(logits(i)))


def read(logits: Entry, prior: Entry = everywhere, bias: Entry = none) -> Entry:
    """Σ_i (V x_i + b_V) p_i, entry by entry."""
    return lambda row: average(lambda word: total(a, V[row, a] * X[word, a]) + bias(row), logits, prior)


def scaled(logits: Entry, factor: sp.Expr) -> Entry:
    """The logits times a factor."""
    return lambda word: factor * logits(word)


def estimate(evidence: Entry, prior: Entry, size_of: sp.Expr) -> Entry:
    """(18) with α = 1 and the templates t_i = x_i · size_of."""

    def inner(word: sp.Expr) -> sp.Expr:
        return total(a, size_of * X[word, a] * evidence(a))

    return lambda coordinate: average(lambda word: size_of * X[word, coordinate], inner, prior)


def outside(mean: Entry, factor: sp.Expr) -> Entry:
    """V′ĥ with V′ = V · factor."""
    return lambda row: total(a, factor * V[row, a] * mean(a))


def bert(row: sp.Expr) -> sp.Expr:
    """A head of BERT as it is shipped: with biases."""
    logits = scaled(score(own, key_bias, query_bias), 1 / root)
    return read(logits, bias=value_bias)(row)


def t5_logits(bias: Entry = position) -> Entry:
    """i ↦ ⟨K x_i, Q y⟩ + b_{j−i}."""
    return lambda word: score(y)(word) + bias(word)


def t5_weights() -> Entry:
    """The weights of a head of T5 as it is shipped: one softmax over what the mask shows."""
    return log_linear(t5_logits(), shown)


def t5(row: sp.Expr) -> sp.Expr:
    """A head of T5 as it is shipped."""
    return read(t5_logits(), shown)(row)


# ── BERT ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def bert_is(logits: Entry, bias: Entry = none, at: Place | None = None) -> Equation:
    """The shipped head against a formula."""
    return Equation(
        bert(o),
        read(logits, bias=bias)(o),
        at=at or FIRST_WORD,
        reason="⟨b_K, Q x_k + b_Q⟩ is the same for every i, and Σ p_i b_V = b_V",
    )


one_word: Place = {
    n: 1,
    d: 1,
    e: 1,
    X.label: [[0]],
    K.label: [[0]],
    Q.label: [[0]],
    V.label: [[0]],
    key_bias.label: [0],
    query_bias.label: [0],
    value_bias.label: [1],
    k: 1,
    o: 1,
}


@claim(
    "deciphering.21",
    "external fact",
    title="What BERT's attention computes",
    latex=r"\sum_iVx_i\frac{\exp(\langle Kx_i,Qx_k\rangle/\sqrt{d'})}{\sum_j\exp(\langle Kx_j,Qx_k\rangle/\sqrt{d'})}",
    hypotheses=(SHIPPED, "the x_i are the words that the attention mask shows, none of them padding"),
)
def bert_output() -> Steps:
    """The k-th output of a head of BERT is said to be the values averaged by a softmax of scaled products, without biases."""
    yield Fails(bert_is(scaled(score(own), 1 / root), at=one_word), reason="the shipped projections have biases: b_V = 1")


@bert_output.corrected(
    r"b_V+\sum_iVx_i\frac{\exp(\langle Kx_i,Qx_k+b_Q\rangle/\sqrt{d'})}"
    r"{\sum_j\exp(\langle Kx_j,Qx_k+b_Q\rangle/\sqrt{d'})}",
    Severity.SLIP,
)
def bert_output_with_biases() -> Steps:
    """The query's bias tilts the weights and the value's bias is added to the output; the key's bias cancels."""
    logits = scaled(score(own, key_bias, query_bias), 1 / root)
    without = scaled(score(own, none, query_bias), 1 / root)
    yield Equation(log_linear(logits)(i), log_linear(without)(i), reason="b_K adds one number to all scores")
    yield Equation(read(without, bias=value_bias)(o), read(without)(o) + value_bias[o], reason="the weights sum to 1")
    yield bert_is(without, value_bias)


bert_output.twin("the key's bias in place of the query's", lambda: bert_is(scaled(score(own, key_bias), 1 / root), value_bias))
bert_output.twin("the scores are doubled", lambda: bert_is(scaled(score(own, none, query_bias), 2 / root), value_bias))
bert_output.twin("no bias of the value", lambda: bert_is(scaled(score(own, none, query_bias), 1 / root)))


def reparametrized(size_of: sp.Expr, factor: sp.Expr) -> Equation:
    """(21) against V′ applied to (18) with α = 1, t_i = x_i · size_of, z = KᵀQx_k and uniform u."""
    printed = read(scaled(score(own), 1 / root))(o)
    return Equation(
        printed,
        outside(estimate(evidence_of(own), lambda word: 1 / n, size_of), factor)(o),
        at=FIRST_WORD,
        reason="⟨K x_i, Q x_k⟩/√d′ = ⟨x_i/√d′, KᵀQ x_k⟩, and √d′ leaves the sum",
    )


@claim(
    "deciphering.s8.reparametrization",
    "equivalence",
    title="A head of BERT is (18) with α = 1",
    latex=r"\alpha=1,\ t_i=\tfrac{x_i}{\sqrt{d'}},\ z=K^\top Qx_k,\ V'=V\sqrt{d'},\ u_i\propto1\implies"
    r" \sum_iVx_i\frac{\exp(\langle Kx_i,Qx_k\rangle/\sqrt{d'})}"
    r"{\sum_j\exp(\langle Kx_j,Qx_k\rangle/\sqrt{d'})}=V'\sum_it_i\frac{u_ie^{\langle t_i,z\rangle}}{\sum_ju_je^{"
    r"\langle t_j,z\rangle}}",
    needs=("deciphering.21",),
)
def reparametrization() -> Steps:
    """With scaled inputs as templates, KᵀQx_k as evidence, a uniform prior and α = 1, √d′ V maps the estimate to the head."""
    yield Equation(total(a, X[i, a] / root * evidence_of(own)(a)), score(own)(i) / root, reason="the scores agree")
    yield reparametrized(1 / root, root)


reparametrization.twin("templates are not scaled", lambda: reparametrized(sp.S.One, root))
reparametrization.twin("V′ = V", lambda: reparametrized(1 / root, sp.S.One))
reparametrization.twin("templates are scaled by d′", lambda: reparametrized(1 / e, e))


# ── T5 ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def divided(row: sp.Expr) -> sp.Expr:
    """(22) with u_j in the denominator."""
    return read(scaled(score(y), 1 / root), preference())(row)


def printed_t5(row: sp.Expr) -> sp.Expr:
    """The right side of (22), where the denominator has no u_j."""
    logits = scaled(score(y), 1 / root)
    tilted = total(i, total(a, V[row, a] * X[i, a]) * preference()(i) * sp.exp(logits(i)))
    return tilted / total(i, sp.exp(logits(i)))


two_words: Place = {
    n: 2,
    d: 1,
    e: 1,
    X.label: [[0], [1]],
    y.label: [0],
    K.label: [[1]],
    Q.label: [[1]],
    V.label: [[1]],
    shown.label: [sp.Rational(1, 2)] * 2,
    B.label: [0, 0, 0],
    j: 1,
    o: 1,
}


four_rows: Place = {**two_words, e: 4, K.label: [[1]] * 4, Q.label: [[1]] * 4, V.label: [[1]] * 4, y.label: [1]}


@claim(
    "deciphering.22",
    "external fact",
    title="What T5's attention computes",
    needs=("deciphering.19",),
    hypotheses=(SHIPPED,),
    latex=r"\sum_iVx_i\frac{u_i\exp(\langle Kx_i,Qy_k\rangle/\sqrt{d'})}{\sum_j\exp(\langle Kx_j,Qy_k\rangle/\sqrt{d'})}",
)
def t5_output() -> Steps:
    """The k-th output of a head of T5 is said to have u_i in the numerator, no u_j in the denominator, and √d′ below."""
    yield Fails(Equation(t5(o), divided(o), at=four_rows), reason="nor does the scale agree: odds of e⁴ for d′ = 4, not of e²")
    yield Fails(
        Equation(t5(o), printed_t5(o), at=two_words), reason="the printed weights sum to 1/n for equal scores and a uniform u"
    )


@t5_output.corrected(r"\sum_iVx_i\frac{u_i\exp\langle Kx_i,Qy_k\rangle}{\sum_ju_j\exp\langle Kx_j,Qy_k\rangle}", Severity.SLIP)
def t5_output_normalized() -> Steps:
    """T5 weighs by u in the numerator and in the denominator, and does not divide the scores by √d′."""
    yield t5_is(score(y), preference())


def t5_is(logits: Entry, prior: Entry) -> Equation:
    """The shipped head against an average of values with these logits and this prior."""
    return Equation(t5(o), read(logits, prior)(o), at=FIRST, reason="e^{s + b} = e^b e^s, and Z cancels")


t5_output.twin("normalized, but the scores are doubled", lambda: t5_is(scaled(score(y), sp.Integer(2)), preference()))
t5_output.twin("the position bias is subtracted", lambda: t5_is(score(y), preference(lambda word: -position(word))))
t5_output.twin("the prior is lost", lambda: t5_is(score(y), everywhere))


def t5_estimate(
    size_of: sp.Expr,
    factor: sp.Expr,
    prior: Callable[[], Entry] = preference,
    at: Place | None = None,
    strength: sp.Expr = sp.S.One,
) -> Equation:
    """The shipped head against V′ applied to (18) with α = 1, t_i = x_i · size_of and z = strength · KᵀQy."""
    estimated = estimate(lambda s: strength * evidence_of(y)(s), prior(), size_of)
    return Equation(t5(o), outside(estimated, factor)(o), at=at or FIRST, reason="⟨K x_i, Q y⟩ = ⟨x_i, KᵀQ y⟩")


@claim(
    "deciphering.s8.t5-reparametrization",
    "external fact",
    title="T5 in the same setting as BERT",
    latex=r"t_i=\tfrac{x_i}{\sqrt{d'}},\ z=K^\top Qy_k,\ V'=V\sqrt{d'}\text{ for T5}",
    hypotheses=(SHIPPED,),
    needs=("deciphering.22", "deciphering.s8.reparametrization"),
)
def t5_setting() -> Steps:
    """For T5 the same templates, evidence and α as for BERT are said to give its attention, with u from the positions."""
    yield Fails(
        t5_estimate(1 / root, root, at=four_rows),
        reason="T5 does not divide by √d′: its odds are e⁴, those of the setting e² for d′ = 4",
    )


@t5_setting.corrected(r"t_i=x_i,\ z=K^\top Qy_k,\ V'=V\text{ for T5}", Severity.SLIP)
def t5_setting_unscaled() -> Steps:
    """Either nothing is scaled by √d′, or the evidence takes it up as well: z = √d′ KᵀQy."""
    yield t5_estimate(1 / root, root, at={}, strength=root)
    yield t5_estimate(sp.S.One, sp.S.One)


t5_setting.twin("templates multiplied by √d′", lambda: t5_estimate(root, 1 / root))
t5_setting.twin("uniform u", lambda: t5_estimate(sp.S.One, sp.S.One, lambda: everywhere))


def cross(row: sp.Expr) -> sp.Expr:
    """A cross-attention head of T5 as it is shipped: no position bias."""
    return read(t5_logits(none), shown)(row)


def cross_is(prior: Entry, factor: sp.Expr = sp.S.One, at: Place | None = None) -> Equation:
    """The shipped cross-attention head against V applied to (18)."""
    return Equation(
        cross(o),
        outside(estimate(lambda s: factor * evidence_of(y)(s), prior, sp.S.One), sp.S.One)(o),
        at=at or {**FIRST, i: 1},
        about=(position(i),),
        reason="a uniform u cancels",
    )


@claim(
    "deciphering.s8.cross-prior",
    "external fact",
    title="u of T5's cross-attention comes from positions",
    latex=r"u_i\propto e^{b_{j-i}}\text{ for the cross-attention}",
    needs=("deciphering.19",),
)
def cross_prior() -> Steps:
    """For T5, cross-attention included, u_i is said to be computed from the positional encoding."""
    yield Fails(
        cross_is(preference(), at={**two_words, B.label: [1, 0, 0], j: 1}),
        reason="the shipped cross-attention has no position bias: its weights here are ½, ½",
    )


@cross_prior.corrected(r"u_i\propto1\text{ on the words of the source, for the cross-attention}", Severity.SLIP)
def cross_prior_uniform() -> Steps:
    """In T5's cross-attention u is uniform on the words that the mask shows; positions do not enter."""
    yield cross_is(preference(none))


cross_prior.twin("the scores are doubled", lambda: cross_is(preference(none), sp.Integer(2)))
cross_prior.twin("evidence with the other sign", lambda: cross_is(preference(none), -sp.S.One))


kinds = scalar("kinds")


@claim(
    "deciphering.s8.three-types",
    "external fact",
    title="Three types of attention in T5",
    latex=r"\text{encoder, decoder and cross-attention};\quad x_i=y_i,\ m=n\text{ in the first two}",
)
def three_types() -> None:
    """T5 attends in three ways; in the encoder's and the decoder's self-attention queries and templates are the same words."""


three_types.twin("two types", lambda: Equation(kinds, 2))
three_types.twin("four types", lambda: Equation(kinds, 4))
