"""Section 2, and sections 3.2 and 6 where they name other models: statements about other papers.

Claims     deciphering.s2.not-identifiable   t_0 = Σ_i g_i t_i  ⟹  other weights give the same Σ_i p_i t_i
           deciphering.s2.kernel-smoother    p_i ∝ u_i exp(α‖t_i‖²/2) k(t_i, z), k(t, z) = exp(−α‖t − z‖²/2)
           deciphering.s2.hopfield           ξ_new = X softmax(βXᵀξ)
           deciphering.s6.bahdanau-luong     score ⟨t_i, f(s)⟩, u_i = 1/n: (18) is Luong's attention, dot or general
Notation   p, p_0 weights of the templates t_1, …, t_n and of one more, t_0; y a step; g ≥ 0 with sum 1 the weights by which
           t_0 would be a combination of the others; x stored patterns, xi = ξ the state, beta = β of a Hopfield network;
           h(x) = v tanh(x) a unit of Bahdanau's additive score, W of Luong's general score ⟨t_i, W s⟩ for the state s
References sections 2, 3.2 and the end of 6 of the document; Bahdanau et al. (2014), A.1.2; Luong et al. (2015), (8); Brunner
           et al. (2019), Theorem 1; Tsai et al. (2019), section 2; Ramsauer et al. (2021), (2) and (3); Hahn (2020)
"""

import sympy as sp

from derivations.documents.deciphering.notation import T, a, alpha, b, c, d, i, mean, n, u, z
from derivations.documents.deciphering.section7_attention import closed
from derivations.documents.deciphering.section8_heads import log_linear, reparametrization
from derivations.vocabulary import *

p, g = simplex("p", n), simplex("g", n)
last = scalar("p0")
step = scalar("y")
patterns, state, beta = vector("X", n, d), vector("xi", d), positive("beta")


@claim(
    "deciphering.s2.saliency",
    "external fact",
    title="Surveys of attention as a proxy of saliency",
    latex=r"\text{Michel, Voita, Jain, Wiegrefe, Serrano, Vashishth, Clark}",
)
def saliency() -> Undecidable:
    """Papers are named that study by experiment whether attention weights indicate importance."""
    return Undecidable("a list of papers and their methods, which nothing in the document rests on and no code can check")


# ── identifiability ─────────────────────────────────────────────────────────────────────────────────────────────────


def combination(coordinate: sp.Expr) -> sp.Expr:
    """Σ_i g_i t_i."""
    return total(i, g[i] * T[i, coordinate])


def same_output(extra_template: Entry, retained: sp.Expr = sp.S.One, reason: str = "") -> Equation:
    """Weight moved from t_0 to the others in the proportions g leaves the output."""
    after = total(i, (p[i] + step * g[i]) * T[i, a]) + (last - step) * extra_template(a)
    before = total(i, p[i] * T[i, a]) + retained * last * extra_template(a)
    return Equation(after, before, about=(step,), reason=reason)


@claim(
    "deciphering.s2.not-identifiable",
    "equivalence",
    title="Attention weights are not identifiable",
    latex=r"t_0=\textstyle\sum_ig_it_i\implies p'_0t_0+\sum_ip'_it_i=p_0t_0+\sum_ip_it_i",
)
def not_identifiable() -> Steps:
    """Different weights can give one output: they do whenever a value is a convex combination of others."""
    yield Equation(total(i, p[i] + step * g[i]) + (last - step), total(i, p[i]) + last, reason="the sum of the weights stays")
    yield same_output(combination, reason="where t_0 = Σ g t the weight y may move from t_0 to the others, shared by g")


not_identifiable.twin("the moved weight is lost", lambda: same_output(lambda s: 2 * combination(s)))
not_identifiable.twin("the last value drops out", lambda: same_output(combination, sp.S.Zero))


@claim(
    "deciphering.s2.hahn",
    "external fact",
    title="Hahn (2020) on identifiability",
    latex=r"\text{Hahn (2020): self-attention layers are not identifiable}",
    needs=("deciphering.s2.not-identifiable",),
)
def hahn() -> Undecidable:
    """The result on identifiability is ascribed to a second paper as well."""
    return Undecidable(
        "what a paper contains is beyond proof and code; its title and abstract are about formal languages that "
        "self-attention cannot recognize, not about identifiability"
    )


# ── smoothing and Hopfield networks ─────────────────────────────────────────────────────────────────────────────────


def gaussian(width: sp.Expr) -> Entry:
    """i ↦ u_i e^{α‖t_i‖²/2} times a Gaussian kernel of t_i and z."""
    return lambda word: u[word] * sp.exp(width * total(b, T[word, b] ** 2) / 2 - alpha * total(b, (T[word, b] - z[b]) ** 2) / 2)


def smoother(kernel: Entry) -> Equation:
    """(18) against a kernel smoother of the templates."""
    return Equation(
        mean(closed())(a), total(i, kernel(i) * T[i, a]) / total(i, kernel(i)), reason="−‖t − z‖²/2 = ⟨t, z⟩ − ‖t‖²/2 − ‖z‖²/2"
    )


@claim(
    "deciphering.s2.kernel-smoother",
    "equivalence",
    title="Attention is a kernel smoother",
    latex=r"\hat h=\frac{\sum_iu_ie^{\alpha\|t_i\|^2/2}k(t_i,z)t_i}{\sum_ju_je^{\alpha\|t_j\|^2/2}k(t_j,z)},"
    r"\quad k(t_i,z)=e^{-\alpha\|t_i-z\|^2/2}",
)
def kernel_smoother() -> Steps:
    """Attention can be seen as a kernel smoother over its inputs."""
    yield smoother(gaussian(alpha))


kernel_smoother.twin("the norms of the templates are left out", lambda: smoother(gaussian(sp.S.Zero)))
kernel_smoother.twin("the preference is left out", lambda: smoother(lambda word: gaussian(alpha)(word) / u[word]))


reprint("deciphering.s2.unaltered", of=reparametrization, latex=r"\text{the framework covers the unaltered attention}")


@claim(
    "deciphering.s2.gaussian-process",
    "external fact",
    title="Wide attention is a Gaussian process",
    latex=r"\text{heads, width}\to\infty:\ \text{a Gaussian process}",
)
def gaussian_process() -> Undecidable:
    """Networks with attention are said to become Gaussian processes as heads and width grow."""
    return Undecidable("a theorem of other papers about random weights, quoted without its hypotheses and used nowhere")


@claim(
    "deciphering.s2.norms", "external fact", title="Embedding norms and key–query products", latex=r"\text{Lu et al. (2021)}"
)
def norms_and_products() -> Undecidable:
    """Another paper is said to relate the norm of a word's embedding to the product of its key and the query."""
    return Undecidable("a result about the training of a model that the document does not define, used nowhere")


def log_sum(of: sp.IndexedBase, factor: sp.Expr) -> sp.Expr:
    """lse(β, Xᵀξ) = β⁻¹ log Σ_i exp(β⟨x_i, ξ⟩)."""
    return sp.log(total(i, sp.exp(factor * total(b, patterns[i, b] * of[b])))) / factor


def energy() -> sp.Expr:
    """E = −lse(β, Xᵀξ) + ½‖ξ‖²; the constants of the paper do not move."""
    return -log_sum(state, beta) + total(b, state[b] ** 2) / 2


def update(factor: sp.Expr, sign: int = 1) -> Equation:
    """ξ − ∇E(ξ), the concave–convex step, against softmax attention with the query ξ."""
    weights = log_linear(lambda word: factor * total(b, patterns[word, b] * state[b]))
    return Equation(
        state[a] - derivative(energy(), state[a]),
        sign * total(i, weights(i) * patterns[i, a]),
        reason="∇lse is the softmax average",
    )


@claim(
    "deciphering.s2.hopfield",
    "equivalence",
    title="A Hopfield network's update is attention",
    latex=r"\xi^{\mathrm{new}}=X\,\mathrm{softmax}(\beta X^\top\xi)",
    needs=("deciphering.s7.dot-product",),
)
def hopfield() -> Steps:
    """The update of the continuous Hopfield network is dot-product attention over the stored patterns."""
    yield update(beta)


hopfield.twin("β is lost", lambda: update(sp.S.One))
hopfield.twin("the sign", lambda: update(beta, -1))


@claim(
    "deciphering.s3.similar-models",
    "external fact",
    title="The examples are like published models",
    latex=r"\text{TP}\sim\text{Bahdanau},\ \text{IC}\sim\text{Xu},\ \text{FB}\sim\text{BERT}",
    needs=("deciphering.21",),
)
def similar_models() -> Undecidable:
    """The three example models are said to be similar to those of Bahdanau et al., Xu et al. and BERT."""
    return Undecidable(
        "similarity has no measure here; scores by a small network instead of products (Bahdanau, Xu), no "
        "preference by position and templates that are not V x_i (BERT) are among the differences"
    )


@claim(
    "deciphering.s3.two-lstm-layers",
    "external fact",
    title="Annotations come from two LSTM layers",
    latex=r"\mathbf T\text{, called annotations in Bahdanau et al., from two LSTM layers}",
    needs=("deciphering.s3.similar-models",),
)
def two_lstm_layers() -> Undecidable:
    """The words' embeddings, called annotations as by Bahdanau et al., are said to be processed by two LSTM layers first."""
    return Undecidable(
        "what a paper contains is beyond proof and code, and none is shipped; by its appendix A.1.1 annotations "
        "come from one bidirectional layer of gated hidden units, which are no LSTM cells"
    )


# ── Bahdanau and Luong ──────────────────────────────────────────────────────────────────────────────────────────────

middle, apart, gain = scalar("x"), positive("y"), positive("v")
weight, decoder = vector("W", d, d), vector("S", d)


def hidden_unit(at: sp.Expr) -> sp.Expr:
    """v tanh(x), one unit of the additive score, where x is linear in the annotation."""
    return gain * (1 - 2 / (sp.exp(2 * at) + 1))


def general(evidence_of_state: Entry) -> Equation:
    """Luong's attention with the general score against (18) with u = 1/n and α = 1."""
    luong = log_linear(lambda word: total(b, T[word, b] * total(c, weight[b, c] * decoder[c])))
    ours = log_linear(lambda word: total(b, T[word, b] * evidence_of_state(b)), lambda word: 1 / n)
    return Equation(mean(luong)(a), mean(ours)(a), reason="z = W s, or z = s for the dot score")


@claim(
    "deciphering.s6.bahdanau-luong",
    "equivalence",
    title="(18) aligns with Bahdanau's and Luong's attention",
    latex=r"u_i=\tfrac1n:\ (18)\text{ is the attention of Bahdanau et al. and Luong et al.}",
    needs=("deciphering.s7.dot-product",),
)
def original_attention() -> Steps:
    """With a uniform preference the closed form is said to align with the attention of Bahdanau et al. and Luong et al."""
    yield Fails(
        Equation(
            hidden_unit(middle + apart) + hidden_unit(middle - apart) - 2 * hidden_unit(middle),
            0,
            at={middle: 1, apart: 1, gain: 1},
        ),
        reason="with uniform u, log p is linear in t_i for every z; Bahdanau's score v·tanh(W t_i + U s) is not: for "
        "three annotations on a line its second difference is not 0",
    )


@original_attention.corrected(
    r"u_i=\tfrac1n:\ (18)\text{ is Luong's attention with the dot or the general score}",
    Severity.HYPOTHESIS,
    under="the score is ⟨t_i, f(s)⟩ for a function f of the decoder's state s",
    replaces="any score, Bahdanau's additive one among them",
)
def luong() -> Steps:
    """It is Luong's attention with the dot and the general score; Bahdanau's additive score is not an inner product."""
    yield general(lambda s: total(c, weight[s, c] * decoder[c]))


original_attention.twin("the matrix is transposed", lambda: general(lambda s: total(c, weight[c, s] * decoder[c])))
original_attention.twin("the matrix is lost", lambda: general(decoder))
