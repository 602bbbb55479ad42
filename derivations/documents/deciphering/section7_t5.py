"""Section 7: T5 as a realization of (18), and footnote 9.

Claims     deciphering.20                  ĥ = Σ_i t_i softmax(⟨t_i, z⟩ + b_{j−i} + 1_masked(i)), over the words i
           deciphering.s7.t5-realizes      T5's head = V ∘ (18) with the u of (19)
           deciphering.s7.mask-function    the attention mask hides word i  ⟹  its weight is 0  (corrected)
           deciphering.s7.bert-positions   ∂P_ja/∂P_kc = δ_jk δ_ac: BERT trains a table of positions  (corrected)
           deciphering.fn9                 T5's norm of centred inputs is layer normalization without bias
Notation   m ≥ 0 with sum 1: uniform on the words that are not masked, so that m_i ∝ exp(1_masked(i)); B[n + j − i] = b_{j−i};
           in T5 itself m is uniform on the words that the attention mask shows, s ≥ 0 marks those that it hides, s_i m_i = 0;
           g ≥ 0 marks blanks, the words to be inferred; P[j, a] a table of positions
References "T5 transformer implicitly adopts …" in section 7, (19), (20); T5Attention, T5LayerNorm and BertModel in transformers
"""

import sympy as sp

from derivations.documents.deciphering.notation import a, b, c, d, i, inner, j, k, mean, n, z
from derivations.documents.deciphering.section8_heads import (
    FIRST,
    B,
    K,
    Place,
    Q,
    X,
    e,
    estimate,
    everywhere,
    evidence_of,
    log_linear,
    none,
    o,
    outside,
    position,
    preference,
    score,
    shown,
    t5,
    t5_weights,
    y,
)
from derivations.vocabulary import *

blank = vector("g", n, kind=Nonnegative)
SOME_WORD = "Z normalizes, so some word is not masked"
BLANKS = "the masked words are those to be filled in, as in the running example: word j is the k-th of them"
hidden = complementary("s", shown)
change = vector("x", d)
r = index("l", n)
SEEN_FIRST: Place = {j: 1, k: 1}
"""Where counterexamples are looked for: the first query, and the first word to compare with."""


def inside(sign: int = 1) -> Entry:
    """i ↦ exp(⟨t_i, z⟩ + b_{j−i} + 1_masked(i)) over its sum, with m_i for exp(1_masked(i))."""

    def logits(word: sp.Expr) -> sp.Expr:
        return inner(word, z) + sign * position(word)

    return log_linear(logits, shown)


# ── (19) and (20) ───────────────────────────────────────────────────────────────────────────────────────────────────


def odds(bias: Entry) -> Equation:
    """u_i m_k e^{b_k} = u_k m_i e^{b_i}, free of Z, where u_i is m_i over Σ_l m_l e^{b_l − b_i}."""
    share = shown[i] / total(r, shown[r] * sp.exp(position(r) - position(i)))
    return Equation(share * shown[k] * sp.exp(bias(k)), preference()(k) * shown[i] * sp.exp(bias(i)), reason="Z cancels")


@claim(
    "deciphering.19",
    "definition",
    title="T5's preference weights",
    latex=r"u(t_i)=\begin{cases}0&\text{if }\mathrm{masked}(i)\\\exp(b_{j-i})/Z&\text{otherwise}\end{cases}",
    hypotheses=(SOME_WORD, "b depends only on the relative position j − i"),
)
def preference_weights() -> Steps:
    """Masked words have preference 0, the others a preference that only depends on where they are, seen from the query."""
    yield Equation(total(i, preference()(i)), 1, reason="Z is the sum", about=(B[1],))
    yield Equation(hidden[i] * preference()(i), 0, reason="0 where a word is masked")
    yield odds(position)


preference_weights.twin("the bias with the other sign", lambda: odds(lambda word: -position(word)))
preference_weights.twin("no bias", lambda: odds(none))


def seen_from(query: sp.Expr) -> Entry:
    """i ↦ b_{k−i}, the position bias for the query at k."""
    return lambda word: B[n + query - word]


def of_two_queries(whole: int, biases: int) -> Equation:
    """u_i for the query at j times Z_j e^{b_{k−i}} against u_i for the query at k times Z_k e^{b_{j−i}}, or without them."""

    def side(own: Entry, other_place: Entry) -> sp.Expr:
        mass = total(r, shown[r] * sp.exp(own(r)))
        return preference(own)(i) * mass**whole * sp.exp(biases * other_place(i))

    return Equation(
        side(position, seen_from(k)),
        side(seen_from(k), position),
        at={j: 1, k: 2},
        reason="both are m_i times positive numbers, so u_i = 0 for one query exactly where it is 0 for another",
    )


@claim(
    "deciphering.fn4",
    "identity",
    title="All u^(k) share one support",
    needs=("deciphering.19",),
    latex=r"Z^{(j)}e^{b_{k-i}}u_i^{(j)}=Z^{(k)}e^{b_{j-i}}u_i^{(k)}",
    hypotheses=(SOME_WORD,),
)
def one_support() -> Steps:
    """Given the input, the preferences of all outputs have one support: here those of (19), for the queries at j and at k."""
    yield of_two_queries(1, 1)


one_support.twin("the weights themselves agree", lambda: of_two_queries(0, 0))
one_support.twin("the weights agree but for Z", lambda: of_two_queries(1, 0))


def substituted(right: Entry) -> Equation:
    """(18) with α = 1 and the preference (19) against another average of the templates."""
    weights = log_linear(lambda word: inner(word, z), preference())
    return Equation(mean(weights)(a), mean(right)(a), reason="e^{s} e^{b}/Z = e^{s + b}/Z, and Z cancels")


@claim(
    "deciphering.20",
    "identity",
    title="(18) with T5's preference weights",
    needs=("deciphering.19",),
    hypotheses=(SOME_WORD,),
    latex=r"\hat h=\sum_it_i\frac{\exp(\langle t_i,z\rangle+b_{j-i}+\mathbf1_{\mathrm{masked}}(i))}"
    r"{\sum_l\exp(\langle t_l,z\rangle+b_{j-l}+\mathbf1_{\mathrm{masked}}(l))}",
)
def bias_inside() -> Steps:
    """Substituting these weights with α = 1 puts the bias and the mask into the exponent."""
    yield substituted(inside())


bias_inside.twin("the bias with the other sign", lambda: substituted(inside(-1)))
bias_inside.twin(
    "the bias outside the denominator",
    lambda: substituted(lambda word: preference()(word) * sp.exp(inner(word, z)) / total(k, shown[k] * sp.exp(inner(k, z)))),
)


# ── the shipped T5 ──────────────────────────────────────────────────────────────────────────────────────────────────


def same_structure(prior: Entry, factor: sp.Expr = sp.S.One) -> Equation:
    """A shipped head of T5 against V applied to (18) with α = 1, t_i = x_i and z = KᵀQy."""
    return Equation(
        t5(o),
        outside(estimate(lambda s: factor * evidence_of(y)(s), prior, sp.S.One), sp.S.One)(o),
        at=FIRST,
        reason="⟨K x_i, Q y⟩ = ⟨x_i, KᵀQ y⟩, and Z cancels",
    )


@claim(
    "deciphering.s7.t5-structure",
    "external fact",
    title="(20) has the structure of T5's attention",
    latex=r"(20)\text{ is T5's attention}",
    needs=("deciphering.20",),
)
def t5_structure() -> Steps:
    """The closed form with these weights is what T5 computes: scores plus position bias plus mask under one softmax.

    Which words the mask hides is another question, that of deciphering.s7.mask-function.
    """
    yield same_structure(preference())


@claim(
    "deciphering.s7.t5-realizes",
    "external fact",
    title="T5 is a realization of the generalized attention",
    latex=r"\text{T5}=V\circ(18)\text{ with }u\text{ of }(19)",
    needs=("deciphering.19", "deciphering.s7.t5-structure"),
)
def t5_realizes() -> Steps:
    """Conversely T5's attention is the closed form, with preference weights from the mask and the position bias."""
    yield same_structure(preference())


for entry in (t5_structure, t5_realizes):
    entry.twin("the position bias is subtracted", lambda: same_structure(preference(lambda word: -position(word))))
    entry.twin("the scores are doubled", lambda: same_structure(preference(), sp.Integer(2)))
    entry.twin("no preference", lambda: same_structure(everywhere))


def never(marked: Entry, **where: object) -> Equation:
    """Marked words have weight 0."""
    return Equation(marked(i) * t5_weights()(i), 0, about=(e, position(i)), **where)  # type: ignore[arg-type]


@claim(
    "deciphering.s7.mask-function",
    "external fact",
    title="Masked words get no weight",
    needs=("deciphering.20",),
    latex=r"1_{\mathrm{masked}}(i)=-\infty\implies\text{word }i\text{ has weight }0\text{ in T5}",
    hypotheses=(BLANKS,),
)
def mask_function() -> Steps:
    """The mask is said to keep the model from giving weight to the masked words, in the example of filling in blanks."""
    one_blank = {
        n: 1,
        d: 1,
        e: 1,
        X.label: [[0]],
        y.label: [0],
        K.label: [[0]],
        Q.label: [[0]],
        shown.label: [1],
        B.label: [0],
        blank.label: [1],
        j: 1,
        i: 1,
    }
    yield Fails(
        never(blank, at=one_blank),
        reason="a blank is a word like any other to the attention mask; a sentence that is one blank attends to it",
    )


@mask_function.corrected(
    r"\text{words hidden by the attention mask (padding, later words) have weight }0",
    Severity.WORDING,
    replaces="the words that are masked",
)
def hidden_words() -> Steps:
    """The words without weight are those that the attention mask hides, which the blanks are not."""
    yield never(hidden, reason="s_i m_i = 0")


def leaks(share: sp.Expr) -> Equation:
    """Hidden words have a positive weight."""
    return Equation(hidden[i] * t5_weights()(i), hidden[i] * share, about=(e, position(i)))


mask_function.twin("hidden words share the weight", lambda: leaks(1 / n))
mask_function.twin(
    "hidden words are weighed by position alone", lambda: leaks(sp.exp(position(i)) / total(k, sp.exp(position(k))))
)


def unified(weights: Entry, bias: Entry) -> Equation:
    """The log-odds of two words that are seen, against score and position bias; m cancels where it is uniform."""

    def scores(word: sp.Expr) -> sp.Expr:
        return score(y)(word) + bias(word)

    left = weights(i) * shown[k] * sp.exp(score(y)(k))
    right = weights(k) * shown[i] * sp.exp(scores(i) - bias(k))
    return Equation(left, right, at=SEEN_FIRST, reason="one preference holds both")


@claim(
    "deciphering.s7.unified",
    "equivalence",
    title="One u holds word mask and position encoding",
    latex=r"\log u_i=b_{j-i}+\mathbf1_{\mathrm{masked}}(i)-\log Z",
    needs=("deciphering.19", "deciphering.20"),
)
def one_preference() -> Steps:
    """Masks and position biases enter the weights as one factor per word, which is the preference."""
    yield Equation(t5_weights()(i), log_linear(score(y), preference())(i), reason="both are in u and nowhere else")
    yield unified(t5_weights(), position)


one_preference.twin("the bias with the other sign", lambda: unified(t5_weights(), lambda word: -position(word)))
one_preference.twin("no bias", lambda: unified(t5_weights(), none))


def content(factor: sp.Expr) -> Equation:
    """The ratio of weight and exponentiated score, relative to another word's, for any contents."""
    left = t5_weights()(i) * sp.exp(score(y)(k)) * preference()(k)
    return Equation(
        left,
        t5_weights()(k) * sp.exp(score(y)(i)) * preference()(i) * factor,
        at=SEEN_FIRST,
        about=(y[1],),
        reason="u has no x in it",
    )


@claim(
    "deciphering.s7.t5-inputs",
    "external fact",
    title="T5's preferences see the mask and relative positions only",
    latex=r"u_i=u(\mathbf1_{\mathrm{masked}}(i),\,j-i)",
    needs=("deciphering.s7.t5-realizes",),
)
def t5_inputs() -> Steps:
    """What T5 adds to the scores is a function of the attention mask and of the relative position, whatever the words are."""
    yield content(sp.S.One)


t5_inputs.twin("the prior depends on the template's size", lambda: content(sp.exp(total(a, X[i, a] ** 2 - X[k, a] ** 2))))
t5_inputs.twin("the prior depends on the template's first coordinate", lambda: content(sp.exp(X[i, 1] - X[k, 1])))


# ── what T5 changed ─────────────────────────────────────────────────────────────────────────────────────────────────

trained = scalar("trained")


@claim(
    "deciphering.s7.trainable-positions",
    "external fact",
    title="T5 trains relative positions in place of sinusoids",
    latex=r"\text{trainable relative position embeddings}",
)
def trainable_positions() -> None:
    """T5's only positions are trainable relative ones: one number for each bucket and head of each stack."""


trainable_positions.twin("fixed sinusoids: nothing is trained", lambda: Equation(trained, 0))
trainable_positions.twin("a vector for each absolute position", lambda: Equation(trained, 512 * 512))

table = vector("P", n, d)


def looked_up(right: sp.Expr) -> Equation:
    """The contribution of entry (k, c) of the table to coordinate a of the word at j, per unit: its gradient."""
    row = total(r, delta(r, j) * table[r, a])
    return Equation(derivative(row, table[k, c]), right, reason="the row j of the table is added, so each number is trained")


@claim(
    "deciphering.s7.bert-positions",
    "external fact",
    title="The models before T5 have sinusoidal position signals",
    latex=r"\text{sinusoidal position signals in Vaswani et al. (2017) and in BERT}",
)
def sinusoidal_positions() -> Steps:
    """T5's biases are said to replace the sinusoids of the original implementation, for which BERT is cited as well."""
    yield Fails(
        Equation(total(a, table[j, a] ** 2), total(a, table[k, a] ** 2), at={n: 2, d: 1, table.label: [[0], [1]], j: 1, k: 2}),
        reason="sin² + cos² = 1 gives all rows of sinusoids one norm; the rows of BERT's table have different ones",
    )


@sinusoidal_positions.corrected(
    r"\partial P_{ja}/\partial P_{kc}=\delta_{jk}\delta_{ac}", Severity.SLIP, replaces="the sinusoids, for BERT"
)
def learned_positions() -> Steps:
    """BERT adds the row of a table to each word, one for each absolute position, every number of which is trained."""
    yield looked_up(delta(j, k) * delta(a, c))


sinusoidal_positions.twin("nothing is trained", lambda: looked_up(sp.S.Zero))
sinusoidal_positions.twin("one number for each position", lambda: looked_up(delta(j, k)))

gain, offset = vector("G", d), vector("bN", d)
epsilon = positive("eps")
average = total(a, change[a]) / d
variance_of_change = total((a, c), (change[a] - change[c]) ** 2) / (2 * d**2)
"""Half the mean squared difference of two coordinates."""


def root_mean_square(of: Entry) -> Entry:
    """G_a x_a / √(mean x² + ε), as shipped in T5."""
    return lambda coordinate: gain[coordinate] * of(coordinate) / sp.sqrt(total(b, of(b) ** 2) / d + epsilon)


def centred(coordinate: sp.Expr) -> sp.Expr:
    """x_a − x̄."""
    return change[coordinate] - average


def simplification(square: sp.Expr, shift: sp.Expr = sp.S.Zero) -> Equation:
    """T5's normalization of centred inputs against layer normalization."""
    return Equation(
        root_mean_square(centred)(b),
        gain[b] * centred(b) / sp.sqrt(square + epsilon) + shift,
        reason="no mean is subtracted and no bias added",
    )


@claim(
    "deciphering.fn9",
    "external fact",
    title="T5 simplified layer normalization",
    latex=r"\text{T5's norm}=\text{layer normalization without recentering and without bias}",
)
def simplified_norm() -> Steps:
    """T5's layer normalization is a simpler one: on centred inputs it is layer normalization with its bias left out."""
    yield simplification(variance_of_change)


simplified_norm.twin("a bias is added", lambda: simplification(variance_of_change, offset[b]))
simplified_norm.twin("the variance is about 0", lambda: simplification(total(a, change[a] ** 2) / d))


@claim(
    "deciphering.s7.little-cost",
    "empirical",
    title="T5's positions cost little",
    latex=r"\text{extra flexibility with little computational cost}",
)
def little_cost() -> None:
    """Encoding positions by trainable biases is said to cost little."""


@claim(
    "deciphering.s7.state-of-the-art",
    "empirical",
    title="T5 achieves state-of-the-art performance",
    latex=r"\text{state of the art on many benchmarks}",
)
def state_of_the_art() -> Undecidable:
    """T5 is said to reach state-of-the-art performance on many language benchmarks."""
    return Undecidable("a statement about the leaderboards of a time, which no formula and no code can settle")


@claim(
    "deciphering.s7.well-supported",
    "empirical",
    title="T5's performance supports the framework",
    latex=r"\text{usefulness and validity are well-supported}",
    needs=("deciphering.s7.t5-realizes", "deciphering.s8.as-a-result"),
)
def well_supported() -> Undecidable:
    """The framework's validity is said to be supported by T5's performance."""
    return Undecidable(
        "T5's layers are of the form (18) whatever they perform (deciphering.s7.t5-realizes), so performance "
        "cannot tell whether (4) is the reason"
    )
