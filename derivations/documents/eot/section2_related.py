"""Section 2: statements about related work.

Claims     eot.s2.gibbs               E_q[E] ≤ E_g[E]  ⟹  H(q) ≤ H(g), for g = softmax(−E/τ), τ > 0
           eot.s2.sinkhorn-citation   P_i = g(S_i), all S_i equal  ⟹  Σ_i P_ij = n g_j(S_1)  (corrected)
           eot.s2.exact               softmax of each row = argmin ⟨P, C⟩ − τ H(P) over the plans with unit rows
           eot.s2.log-derivative      ∂E_p[u]/∂s_j = E_{i∼p}[u_i ∂log p_i/∂s_j]
           eot.s2.exact-update        −∂L/∂s_j = E_{i∼p}[(u_i − b) ∂log p_i/∂s_j] for every b  (corrected)
Notation   E energies, β = 1/τ; g = exp(−βE)/Z the Gibbs distribution, q any other; P a coupling of two uniform marginals;
           S scores of n queries for n keys; estimators as in policy.py
References section 2 of the document and its list of references; Correia et al. (2019) and Mena et al. (2018) for [6] and [5]
"""

import sympy as sp

from derivations.documents.eot import policy
from derivations.documents.eot.appendix_a_matrix import similarity, softmax, solves, uniform
from derivations.documents.eot.notation import expect, i, j, k, l, m, n, s, tau, u
from derivations.documents.eot.notation import softmax as row_softmax
from derivations.vocabulary import *

E = vector("E", m)
q = simplex("q", m)
beta = scalar("beta")
p = row_softmax(s, tau)
action = index("i", m)


def entropy(of: Entry) -> sp.Expr:
    """−Σ_l p_l log p_l."""
    return -total(l, xlogx(of(l)))


def gibbs(inverse: sp.Expr) -> Entry:
    """j ↦ exp(−β E_j)/Z."""
    return row_softmax(lambda key: -inverse * E[key], sp.S.One)


warm = gibbs(1 / tau)


def excess_entropy(of: Entry) -> sp.Expr:
    """H(g) − H(q) + β (E_q[E] − E_g[E])."""
    return entropy(of) - entropy(q) + (expect(q, E) - expect(of, E)) / tau


def more_entropy(bound: sp.Expr, at: dict[Variable, Value] | None = None) -> Follows:
    """If q has at most the energy of the Gibbs distribution, then H(g) ≥ bound."""
    cheaper = AtLeast(expect(warm, E), expect(q, E))
    return Follows(
        (cheaper,),
        AtLeast(entropy(warm), bound),
        (1 / tau,),
        total(j, kl(q[j], warm(j))),
        at=at or {},
        given=(cheaper,),
        reason="H(g) − H(q) = (E_g[E] − E_q[E])/τ + Σ kl(q ‖ g): equality only at q = g",
    )


@claim(
    "eot.s2.gibbs",
    "optimality",
    title="The Gibbs distribution maximizes entropy under an energy constraint",
    latex=r"\arg\max\{H(q):\mathbb E_q[E]=U\}=\{g_\beta\}\ \text{for some } \beta",
)
def maximum_entropy() -> Steps:
    """The only distribution of greatest entropy under an energy constraint is said to be a Gibbs distribution."""
    yield AtLeast(gibbs(beta)(j), 0, strict=True, reason="at every real β a Gibbs distribution gives each state a chance, so")
    yield AtLeast(
        sp.exp(-beta) / (1 + sp.exp(-beta)),
        0,
        strict=True,
        reason="for E = (0, 1) its mean energy exceeds 0, but the constraint E_q[E] = 0 admits (1, 0) alone:",
    )
    yield Fails(
        Equation(expect(gibbs(beta), E), expect(q, E), at={m: 2, E.label: [0, 1], q.label: [1, 0], beta: 1}),
        reason="the distribution of greatest entropy there is no softmax",
    )


@maximum_entropy.corrected(
    r"\mathbb E_q[E]\le\mathbb E_g[E]\implies H(q)\le H(g),\ \text{with equality only for } q=g",
    Severity.HYPOTHESIS,
    under="U is the mean energy of a Gibbs distribution with τ > 0",
    replaces="any constraint, by one that a Gibbs distribution satisfies",
)
def maximum_entropy_at_its_energy() -> Steps:
    """Among all distributions with its mean energy or less the Gibbs distribution, a softmax of −E/τ, has most entropy."""
    yield Equation(warm(j) / warm(k), sp.exp((E[k] - E[j]) / tau), reason="softmax form: lower energy, larger probability")
    yield Equation(
        entropy(gibbs(beta)) - entropy(q) + beta * (expect(q, E) - expect(gibbs(beta), E)),
        total(j, kl(q[j], gibbs(beta)(j))),
        reason="for every real β: at equal energies H(g) − H(q) = KL(q ‖ g)",
    )
    yield more_entropy(entropy(q))


maximum_entropy.twin(
    "one nat more",
    lambda: more_entropy(entropy(q) + 1, {m: 2, E.label: [0, 1], tau: 1, q.label: [sp.Rational(3, 4), sp.Rational(1, 4)]}),
)
maximum_entropy.twin("the uniform entropy", lambda: more_entropy(sp.log(m)))


# ── Sinkhorn attention ──────────────────────────────────────────────────────────────────────────────────────────────


shared = simplex("p", m)


def columns(rows: sp.Expr) -> sp.Expr:
    """The mass that key j receives from this many queries with equal weights."""
    return total(index("i", rows), shared[j])


@claim(
    "eot.s2.sinkhorn-citation",
    "equivalence",
    title="The work cited as [6] prescribes no column sums",
    latex=r"[5,6]:\ \textstyle\sum_jP_{ij}\text{ and }\sum_iP_{ij}\text{ fixed}",
    needs=("eot.sA.row-stochastic",),
)
def sinkhorn_citation() -> Steps:
    """Reference [6] is named beside [5] for attention with fixed row and column sums, but it applies entmax to each row."""
    yield Fails(
        Equation(columns(n), 1, at={n: 2, m: 2, shared.label: [1, 0], j: 1}),
        reason="[6] is “Adaptively sparse transformers”: two queries with scores (1, 0) both get the entmax (1, 0), "
        "α = 2, and the columns sum to 2 and 0",
    )


@sinkhorn_citation.corrected(
    r"P_{i,:}=g(S_{i,:})\ \forall i\implies\textstyle\sum_iP_{ij}=n\,g_j\ "
    r"\text{for equal rows } S_{i,:}",
    Severity.SLIP,
)
def rowwise_maps() -> Steps:
    """A map applied to each row by itself, such as entmax, gives equal queries equal rows: column j then sums to n p_j."""
    yield Equation(total(j, columns(n)), n, reason="only the total is fixed", about=(shared[j],))
    yield Equation(columns(n), n * shared[j], reason="so column sums are prescribed only if p is constant; [6] is misplaced")


sinkhorn_citation.twin("columns share equally", lambda: Equation(columns(n), n / m))
sinkhorn_citation.twin("columns are averages", lambda: Equation(columns(n), shared[j]))


even = simplex("a", n)
doubly = coupling("P", even, even)
into = index("j", n)


@claim(
    "eot.s2.fixed-marginals",
    "identity",
    title="Equal prescribed marginals make a doubly stochastic plan",
    latex=r"a=b=\mathbf 1/n\implies nP\mathbf 1=\mathbf 1,\ nP^\top\mathbf 1=\mathbf 1",
    hypotheses=("n = m",),
    needs=("eot.s3.couplings-exist",),
)
def fixed_marginals() -> Steps:
    """If rows and columns of an n × n plan have the same prescribed sums 1/n, n times the plan is doubly stochastic."""
    yield Equation(total(into, doubly[i, into]), even[i], reason="row sums are prescribed")
    yield Equation(
        total(i, total(into, doubly[i, into])),
        total(into, even[into]),
        reason="both totals agree, so n = m",
        about=(doubly[i, into],),
    )
    yield Equation(total(i, doubly[i, into]), even[into], reason="and column sums: with a_i = 1/n, n P is doubly stochastic")


fixed_marginals.twin("columns are free", lambda: Equation(total(i, doubly[i, into]), 1))
fixed_marginals.twin("columns share equally", lambda: Equation(total(i, doubly[i, into]), 1 / n))


@claim(
    "eot.s2.iterative",
    "equivalence",
    title="Two marginals require an iteration",
    needs=("eot.s2.fixed-marginals",),
    latex=r"\text{no finite formula for } P\in U(a,b)",
)
def iterative() -> Undecidable:
    """Problems with both marginals fixed are said to require iterative algorithms such as Sinkhorn–Knopp."""
    return Undecidable(
        "no class of formulas is named that a plan would have to be in (for n = m = 2 its entries solve a "
        "quadratic equation), and “typically” leaves the methods meant open"
    )


@claim(
    "eot.s2.exact",
    "optimality",
    title="Attention is the exact solution, found without iterating",
    latex=r"A=\arg\min_{P\in U(a,\cdot)}\langle P,C\rangle-\tau H(P)",
    needs=("eot.thmA.7",),
)
def exact() -> Steps:
    """A closed formula, the row-wise softmax, solves the one-sided problem exactly."""
    yield solves(tau, softmax(similarity, tau))


exact.twin(
    "Sinkhorn's first half step on the columns",
    lambda: solves(tau, lambda query, key: sp.exp(similarity(query, key) / tau) / total(i, sp.exp(similarity(i, key) / tau))),
)
exact.twin("the uniform plan", lambda: solves(tau, uniform))


A = softmax(similarity, tau)


@claim(
    "eot.s2.source-marginal",
    "identity",
    title="Only the source marginal is constrained",
    needs=("eot.sA.free-target",),
    latex=r"\textstyle\sum_jA_{ij}=1,\quad\sum_{ij}A_{ij}=n",
)
def source_marginal() -> Steps:
    """Rows of the attention matrix sum to 1, columns to what comes, n in total."""
    received = total(i, A(i, j))
    yield Equation(total(j, A(i, j)), 1, reason="rows", about=(similarity(i, j), tau))
    yield Equation(total(j, received), n, reason="columns, together", about=(similarity(i, j), tau))


source_marginal.twin("one unit for each key", lambda: Equation(total(j, total(i, A(i, j))), m))
source_marginal.twin("a probability measure", lambda: Equation(total(j, total(i, A(i, j))), 1))


# ── reinforcement learning ──────────────────────────────────────────────────────────────────────────────────────────


def mean_score(values: Entry) -> sp.Expr:
    """E_{i∼p}[x_i ∂log p_i/∂s_j]."""
    return total(action, p(action) * values(action) * derivative(sp.log(p(action)), s[j]))


@claim(
    "eot.s2.log-derivative",
    "identity",
    title="The log-derivative trick",
    needs=("eot.s5.score-function",),
    latex=r"\partial_{s_j}\mathbb E_p[u]=\mathbb E_{i\sim p}[u_i\,\partial_{s_j}\log p_i]",
)
def log_derivative() -> Steps:
    """The derivative of an expectation is the expectation with the derivative of the log-probability as a factor."""
    yield Equation(derivative(p(action), s[j]), p(action) * derivative(sp.log(p(action)), s[j]), reason="∂p = p ∂log p")
    yield Equation(derivative(expect(p, u), s[j]), mean_score(u), reason="summed with u_i")


log_derivative.twin(
    "the probability is lost",
    lambda: Equation(derivative(expect(p, u), s[j]), total(action, u[action] * derivative(sp.log(p(action)), s[j]))),
)
log_derivative.twin("the sign", lambda: Equation(derivative(expect(p, u), s[j]), -mean_score(u)))


def descent() -> sp.Expr:
    """−∂L/∂s_j."""
    return total(k, u[k] * derivative(p(k), s[j]))


@claim(
    "eot.s2.exact-update",
    "equivalence",
    title="Backpropagation computes exactly REINFORCE with a baseline",
    latex=r"-(\nabla_s\mathcal L)_j=(u_i-\mathbb E_p[u])\,g_{ij}\ \text{for every } i",
    needs=("eot.s5.reinforce",),
)
def exact_update() -> Steps:
    """Backpropagation is said to compute exactly the update of REINFORCE with a baseline, which follows a sampled action."""
    sampled = (u[action] - policy.expected_utility()) * policy.score_function(action)
    yield Fails(
        Equation(
            sampled,
            policy.mean(policy.estimate(sp.S.Zero)),
            at={m: 2, policy.pi.label: [sp.Rational(1, 4), sp.Rational(3, 4)], u.label: [0, 1], tau: 1, j: 1, action: 1},
        ),
        reason="the sample i = 1 moves the score by −9/16, the gradient by −3/16",
    )


@exact_update.corrected(
    r"-\frac{\partial\mathcal L}{\partial s_j}=\mathbb E_{i\sim p}\left[(u_i-b)\,\partial\log p_i/"
    r"\partial s_j\right]\ \text{for every } b",
    Severity.SLIP,
    replaces="the update of one sampled action i",
)
def mean_of_the_update() -> Steps:
    """What it computes is the policy gradient itself: the mean of that update, for every baseline."""
    yield Equation(descent(), mean_score(lambda key: u[key] - policy.baseline), reason="Σ_i ∂p_i = 0 removes b")


exact_update.twin(
    "a uniform policy",
    lambda: Equation(descent(), total(action, (u[action] - policy.baseline) * derivative(sp.log(p(action)), s[j])) / m),
)
exact_update.twin("half the utility", lambda: Equation(descent(), mean_score(lambda key: u[key] / 2 - policy.baseline)))


@claim(
    "eot.s2.sinkhorn-attention",
    "external fact",
    title="Attention based on transport, called Sinkhorn attention",
    latex=r"[5,6]:\ \text{Sinkhorn attention}",
    needs=("eot.s2.sinkhorn-citation",),
)
def sinkhorn_attention() -> Undecidable:
    """The two works cited are said to have built attention on optimal transport, often called Sinkhorn attention."""
    return Undecidable(
        "what papers contain and are called is beyond proof and code; by its title [5] is about permutations, "
        "and [6] maps each row by itself (eot.s2.sinkhorn-citation)"
    )


@claim(
    "eot.s2.standing",
    "external fact",
    title="Classic, powerful, fundamental",
    latex=r"[2]\text{ classic},\ [4]\text{ powerful},\ [9]\text{ rich},\ [10]\text{ fundamental}",
)
def standing() -> Undecidable:
    """Maximum entropy is called classic, entropic transport powerful, control a rich field, and REINFORCE fundamental."""
    return Undecidable(
        "judgements of other works, without a measure; of what they are said to contain, the maximum of entropy "
        "is proved in eot.s2.gibbs and the log-derivative trick in eot.s2.log-derivative"
    )
