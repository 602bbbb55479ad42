"""Section 3, the problem: attention weights, the simplex, and the one-sided entropic objective.

Claims     eot.3                       J(p) = Σ_j p_j C_j − ε H(p)
           eot.6                       J has exactly one minimizer p* on the simplex, for ε > 0
           eot.s3.trade-off            dH(p*)/dε = Var_{p*}(s)/ε³ ≥ 0 and dE_{p*}[s]/dε = −Var_{p*}(s)/ε² ≤ 0
           eot.s3.maximally-entropic   E_p[s] ≥ E_α[s]  ⟹  H(p) ≤ H(α), for points p of the simplex at least as similar
           eot.s3.no-single-point      p*_j < 1 for m ≥ 2, however small ε > 0
           eot.s3.nonnegative-cost     argmin J is the same for C and C + t1: costs may have any sign  (corrected)
Notation   α = softmax(⟨q, k_j⟩/τ); J(p) = Σ_j p_j C_j − ε H(p); p any point of the simplex
References Definitions 3.1 and 3.2 of the document and the prose around them
"""

import sympy as sp

from derivations.documents.eot.notation import (
    K,
    Q,
    cost,
    d,
    entropy,
    eps,
    expect,
    h,
    i,
    j,
    k,
    l,
    m,
    n,
    objective,
    other,
    partition,
    s,
    similarity,
    softmax,
    tau,
)
from derivations.vocabulary import *

p = simplex("p", m)
alpha = softmax(similarity, tau)
S = vector("S", n, m)


def uniform(key: sp.Expr) -> sp.Expr:
    """1/m for every key."""
    return 1 / m


# ── Definition 3.1 ──────────────────────────────────────────────────────────────────────────────────────────────────


@claim(
    "eot.def3.1",
    "definition",
    title="Scaled-dot-product attention weights",
    needs=("eot.1", "eot.2"),
    latex=r"\alpha\in\Delta^{m-1}",
    hypotheses=("τ > 0", "m ≥ 1"),
)
def attention_weights() -> Steps:
    """The attention weights are a point of the probability simplex."""
    yield AtLeast(alpha(j), 0, strict=True, reason="an exponential over a sum of exponentials")
    yield Equation(total(j, alpha(j)), 1, reason="the denominator leaves the sum")


@claim(
    "eot.1",
    "definition",
    title="Softmax of scaled similarities",
    hypotheses=("τ > 0", "m ≥ 1"),
    latex=r"\alpha_j = e^{\langle q,k_j\rangle/\tau} \Big/ \sum_{l=1}^m e^{\langle q,k_l\rangle/\tau}",
)
def weights() -> Steps:
    """The weight of key j is its exponentiated scaled similarity over the sum of all of them."""
    yield AtLeast(partition(similarity, tau), 0, strict=True, reason="never divides by 0")
    yield Equation(alpha(j) * partition(similarity, tau), sp.exp(similarity(j) / tau), reason="one value for each j")


weights.twin("no temperature", lambda: Equation(alpha(j) * partition(similarity, tau), sp.exp(similarity(j))))
weights.twin("dissimilarity", lambda: Equation(alpha(j) * partition(similarity, tau), sp.exp(-similarity(j) / tau)))


@claim(
    "eot.2",
    "definition",
    title="The probability simplex",
    latex=r"\Delta^{m-1} = \{p\in\mathbb R^m : p_j \ge 0,\ \textstyle\sum_j p_j = 1\}",
)
def probability_simplex() -> Steps:
    """Vectors with nonnegative entries that sum to one; the uniform vector is one of them for every m."""
    yield AtLeast(uniform(j), 0, reason="m ≥ 1")
    yield Equation(total(j, uniform(j)), 1, reason="m equal terms")


probability_simplex.twin("one entry short", lambda: Equation(total(j, 1 / (m + 1)), 1))
probability_simplex.twin("unnormalized", lambda: Equation(total(j, sp.S.One), 1))


# ── Definition 3.2 ──────────────────────────────────────────────────────────────────────────────────────────────────


@claim(
    "eot.def3.2",
    "definition",
    title="The one-sided entropic problem",
    needs=("eot.3", "eot.6"),
    latex=r"C_j = -\langle q,k_j\rangle,\quad \min_{p\in\Delta^{m-1}} J(p)",
    hypotheses=("ε > 0",),
)
def problem() -> Steps:
    """The cost is the negative similarity, and the objective is finite on the whole closed simplex."""
    yield Equation(
        objective(uniform, cost, eps), -total(j, similarity(j)) / m - eps * sp.log(m), reason="its value at the uniform plan"
    )


@claim(
    "eot.fn1",
    "external fact",
    title="“One-sided” is not a term of the literature",
    needs=("eot.def3.2",),
    latex=r"\text{one-sided}=\text{no target marginal constraint}",
)
def one_sided_term() -> Undecidable:
    """The footnote says that “one-sided” is no idiomatic term, and means that no target marginal is prescribed."""
    return Undecidable(
        "what is idiomatic is not measured; problems with one free or penalized marginal go by the names of "
        "semi-relaxed and semi-unbalanced transport; what the term means here is judged in eot.s3.free-target"
    )


@claim(
    "eot.3",
    "definition",
    title="Objective: expected cost less entropy",
    needs=("eot.4",),
    latex=r"J(p) = \sum_j p_j C_j - \varepsilon H(p)",
)
def entropic_objective() -> Steps:
    """The objective is the expected cost minus ε times the Shannon entropy."""
    yield Equation(
        objective(uniform, cost, eps), -total(j, similarity(j)) / m - eps * sp.log(m), reason="an instance: the uniform plan"
    )


entropic_objective.twin(
    "entropy is penalized", lambda: Equation(objective(uniform, cost, eps), -total(j, similarity(j)) / m + eps * sp.log(m))
)
entropic_objective.twin("ε is lost", lambda: Equation(objective(uniform, cost, eps), -total(j, similarity(j)) / m - sp.log(m)))


@claim("eot.4", "definition", title="Shannon entropy", latex=r"H(p) = -\sum_j p_j\log p_j", hypotheses=("0 log 0 = 0",))
def shannon_entropy() -> Steps:
    """Entropy is nonnegative, and at most log m, its value at the uniform vector."""
    x = index("x", m)
    yield Equation(entropy(uniform), sp.log(m), reason="m equal terms")
    one = positive("w")
    yield AtLeast(-xlogx(one), one * (1 - one), because=one * kl(1, one), reason="≥ 0 for w ≤ 1, and 0 log 0 = 0: H ≥ 0")
    yield AtLeast(sp.log(m), entropy(p), because=total(x, kl_to_uniform(x)), reason="log m − H(p) = Σ kl(p_j ‖ 1/m)")


def kl_to_uniform(key: sp.Expr) -> sp.Expr:
    """kl(p_j ‖ 1/m)."""
    return kl(p[key], 1 / m)


shannon_entropy.twin("sign lost", lambda: Equation(-entropy(uniform), sp.log(m)))
shannon_entropy.twin("square for logarithm", lambda: Equation(total(j, uniform(j) ** 2), sp.log(m)))


@claim(
    "eot.5",
    "identity",
    title="The objective written out",
    needs=("eot.3", "eot.4"),
    latex=r"J(p) = -\sum_j p_j\langle q,k_j\rangle + \varepsilon\sum_j p_j\log p_j",
)
def explicit_objective() -> Steps:
    """Inserting cost and entropy gives minus the expected similarity plus ε times Σ p log p."""
    yield Equation(objective(p, cost, eps), explicit(similarity, eps), reason="C_j = −⟨q, k_j⟩, −H = Σ p log p")


def explicit(scores: Entry, strength: sp.Expr) -> sp.Expr:
    """−Σ_j p_j s_j + ε Σ_j p_j log p_j."""
    return -total(j, p[j] * scores(j)) + strength * total(j, xlogx(p[j]))


explicit_objective.twin("entropy is penalized", lambda: Equation(objective(p, cost, eps), explicit(similarity, -eps)))
explicit_objective.twin("similarity is a cost", lambda: Equation(objective(p, cost, eps), explicit(cost, eps)))
explicit_objective.twin("ε is lost", lambda: Equation(objective(p, cost, eps), explicit(similarity, sp.S.One)))


@claim(
    "eot.6",
    "optimality",
    title="The problem has one solution",
    needs=("eot.3", "eot.2"),
    hypotheses=("ε > 0",),
    latex=r"p^\star = \arg\min_{p\in\Delta^{m-1}} J(p)",
)
def minimizer() -> Steps:
    """The minimum is attained at exactly one point, so p* is well defined."""
    yield UniqueMinimum(
        lambda q: objective(q, cost, eps), softmax(similarity, eps), m, eps, reason="J(q) − J(p*) = ε Σ_j kl(q_j ‖ p*_j)"
    )


minimizer.twin("maximizer of the cost", lambda: UniqueMinimum(lambda q: objective(q, cost, eps), softmax(cost, eps), m, eps))
minimizer.twin("the uniform vector", lambda: UniqueMinimum(lambda q: objective(q, cost, eps), uniform, m, eps))


# ── the prose ───────────────────────────────────────────────────────────────────────────────────────────────────────


def row(of: sp.Expr) -> Entry:
    """j ↦ P_ij, row i of the attention matrix with scores S."""
    return softmax(lambda key: S[of, key], tau)


@claim(
    "eot.s3.row-independence",
    "identity",
    title="Rows of the attention matrix do not interact",
    latex=r"\partial A_{ij}/\partial s_{hk} = 0\ (h\ne i)",
    needs=("eot.1",),
)
def row_independence() -> Steps:
    """The weights of one query do not depend on the scores of another, so a batch is solved row by row."""
    apart = index("h", n, other_than=(i,))
    yield Equation(
        derivative(row(i)(j), S[apart, k]), 0, about=(S[i, j], apart, k), reason="no score of query h occurs in row i"
    )


row_independence.twin("not even on its own scores", lambda: Equation(derivative(row(i)(j), S[i, k]), 0))
row_independence.twin(
    "normalized over the whole matrix",
    lambda: Equation(derivative(sp.exp(S[i, j] / tau) / total((h, l), sp.exp(S[h, l] / tau)), S[index("h", n, (i,)), k]), 0),
)


@claim(
    "eot.s3.minimal-cost",
    "identity",
    title="Least cost is greatest similarity",
    needs=("eot.def3.2",),
    latex=r"\sum_j p_j C_j = -\sum_j p_j\langle q,k_j\rangle",
)
def minimal_cost() -> Steps:
    """The expected cost is minus the expected similarity, so minimizing one maximizes the other."""
    yield Equation(expect(p, cost), -expect(p, similarity), reason="C_j = −⟨q, k_j⟩")


minimal_cost.twin("same sign", lambda: Equation(expect(p, cost), expect(p, similarity)))
minimal_cost.twin("uniform average", lambda: Equation(expect(p, cost), -expect(uniform, similarity)))


@claim(
    "eot.s3.trade-off",
    "inequality",
    title="ε trades similarity for entropy",
    needs=("eot.6",),
    latex=r"\frac{dH(p^\star)}{d\varepsilon} = \frac{\mathrm{Var}_{p^\star}(s)}{\varepsilon^3}\ge 0,\quad"
    r"\frac{d\,\mathbb E_{p^\star}[s]}{d\varepsilon} = -\frac{\mathrm{Var}_{p^\star}(s)}{\varepsilon^2}\le 0",
)
def trade_off() -> Steps:
    """As ε grows the solution's entropy rises and its expected similarity falls, both with the variance of s."""
    star = softmax(s, eps)
    mean = expect(star, s)
    spread = total(l, star(l) * (s[l] - mean) ** 2)
    yield Equation(derivative(mean, eps), -spread / eps**2, reason="quotient rule; Σ p (s − E s)² = E s² − (E s)²")
    yield AtLeast(spread, 0, because=spread, reason="a variance")
    yield Equation(derivative(entropy(star), eps), spread / eps**3, reason="H(p*) = log Z − E[s]/ε")


def entropy_slope(power: int, sign: int = 1) -> Equation:
    """dH(p*)/dε as the variance of the scores over a power of ε."""
    star = softmax(s, eps)
    spread = total(l, star(l) * (s[l] - expect(star, s)) ** 2)
    return Equation(derivative(entropy(star), eps), sign * spread / eps**power)


trade_off.twin("entropy falls", lambda: entropy_slope(3, sign=-1))
trade_off.twin("one power of ε is lost", lambda: entropy_slope(2))


def more_entropy(bound: sp.Expr, at: dict[Variable, Value] | None = None) -> Follows:
    """If p is at least as similar to the query as α, then H(α) ≥ bound."""
    as_similar = AtLeast(expect(p, similarity), expect(alpha, similarity))
    return Follows(
        (as_similar,),
        AtLeast(entropy(alpha), bound),
        (1 / tau,),
        total(j, kl(p[j], alpha(j))),
        at=at or {},
        given=(as_similar,),
        reason="H(α) − H(p) = (E_p[s] − E_α[s])/τ + Σ kl(p ‖ α): equality only at p = α",
    )


@claim(
    "eot.s3.maximally-entropic",
    "optimality",
    title="Similar to the query while being maximally entropic",
    latex=r"H(\alpha)=\max_{p\in\Delta^{m-1}}H(p)",
    needs=("eot.thm3.3",),
)
def maximally_entropic() -> Steps:
    """The distribution that is sought is said to maximize similarity while being maximally entropic."""
    yield Fails(
        AtLeast(
            entropy(alpha),
            entropy(p),
            at={m: 2, d: 1, Q.label: [1], K.label: [[1], [0]], tau: 1, p.label: [sp.S.Half, sp.S.Half]},
        ),
        reason="only the uniform distribution is maximally entropic, and it maximizes no similarity",
    )


@maximally_entropic.corrected(
    r"\mathbb E_p[s]\ge\mathbb E_\alpha[s]\implies H(p)\le H(\alpha)",
    Severity.HYPOTHESIS,
    under="only distributions that are at least as similar to the query are compared",
)
def maximally_entropic_for_its_similarity() -> Steps:
    """Of all distributions that are at least as similar to the query as the attention weights, these have the most entropy."""
    yield more_entropy(entropy(p))


maximally_entropic.twin(
    "as much as the uniform distribution",
    lambda: more_entropy(sp.log(m), {m: 2, d: 1, Q.label: [1], K.label: [[0], [1]], tau: 1, p.label: [0, 1]}),
)
maximally_entropic.twin("τ more", lambda: more_entropy(entropy(p) + tau))


@claim(
    "eot.s3.no-single-point",
    "inequality",
    title="The entropy term prevents a one-hot solution",
    latex=r"p^\star_j < 1\ (m\ge 2)",
    needs=("eot.6",),
)
def no_single_point() -> Steps:
    """With two keys or more no weight reaches 1, whatever the scores and however small ε > 0."""
    star = softmax(similarity, eps)
    rest = total(l, star(l) * (1 - sp.KroneckerDelta(l, j)) * (1 - sp.KroneckerDelta(l, other)))
    yield AtLeast(
        1, star(j), strict=True, because=star(other) + rest, about=(other,), reason="another key has a positive weight"
    )


no_single_point.twin("a bound below one half", lambda: AtLeast(sp.Rational(1, 2), softmax(similarity, eps)(j), strict=True))
no_single_point.twin("at most the uniform weight", lambda: AtLeast(1 / m, softmax(similarity, eps)(j), strict=True))


@claim(
    "eot.s3.nonnegative-cost",
    "inequality",
    title="The primer's costs are nonnegative, attention's are not",
    latex=r"C_j\ge0,\quad C_j = -\langle q,k_j\rangle",
    needs=("eot.def3.2",),
)
def nonnegative_cost() -> Steps:
    """The transport problem asks for costs C ≥ 0, and the cost of attention is put forward as an instance of it."""
    yield Fails(AtLeast(cost(j), 0, at={m: 2, d: 1, Q.label: [1], K.label: [[1], [0]], j: 1}), reason="q = k₁ = 1 costs −1")


shift = scalar("t")


@nonnegative_cost.corrected(
    r"\arg\min_p J_{C} = \arg\min_p J_{C + t\mathbf 1}\ \text{for every } t", Severity.SLIP, replaces="the sign of the costs"
)
def shifted_cost() -> Steps:
    """Costs may have any sign: a constant added to every cost adds itself to the objective and moves no minimizer."""
    yield Equation(objective(p, lambda key: cost(key) + shift, eps), objective(p, cost, eps) + shift, reason="Σ_j p_j = 1")


nonnegative_cost.twin(
    "the shift is lost", lambda: Equation(objective(p, lambda key: cost(key) + shift, eps), objective(p, cost, eps))
)
nonnegative_cost.twin(
    "the shift counts m times",
    lambda: Equation(objective(p, lambda key: cost(key) + shift, eps), objective(p, cost, eps) + m * shift),
)
