"""Section 4.2: a linear penalty on distance.

Claims     eot.prop4.4           argmin −⟨p, s_i⟩ + τ Σ_j p_j log p_j + γ Σ_j p_j|i − j| = softmax((s_i − γ|i − ·|)/τ)
           eot.s4.entropy-term   τ Σ_j p_j log p_j = −τ H(p) ≥ −τ log m  (corrected)
           eot.41                J(p_i) = Σ_j p_ij C'_ij + τ Σ_j p_ij log p_ij with C'_ij = −s_ij + γ|i − j|
           eot.s4.locality       dE_{p*}|i − j|/dγ = −Var_{p*}|i − j|/τ ≤ 0
Notation   S[i, j] = s_ij; i the query's position, j a key's; gamma = γ; P[i, j] > 0 plans not yet normalized
References Proposition 4.4 of the document and its proof
"""

import sympy as sp

from derivations.documents.eot.notation import entropy, j, k, l, m, objective, softmax, tau
from derivations.documents.eot.regularizers import Regularizer, variational
from derivations.vocabulary import *

i = index("i", m)
apart = index("h", m, other_than=(i,))
S, P = vector("S", m, m), vector("P", m, m, kind=Positive)
gamma = scalar("gamma", Nonnegative)
q = simplex("q", m)


def own_scores(key: sp.Expr) -> sp.Expr:
    """s_ij, the scores of query i."""
    return S[i, key]


def plan(key: sp.Expr) -> sp.Expr:
    """P_ij > 0, not yet normalized."""
    return P[i, key]


def distance(key: sp.Expr) -> sp.Expr:
    """|i − j|."""
    return sp.Abs(i - key)


def locality(strength: sp.Expr = gamma) -> Regularizer:
    """−τ H + γ Σ_j p_j |i − j|."""
    return lambda weights: -tau * entropy(weights) + strength * total(j, weights(j) * distance(j))


def penalized(strength: sp.Expr) -> Entry:
    """s_ij − γ|i − j|."""
    return lambda key: S[i, key] - strength * distance(key)


local = softmax(penalized(gamma), tau)


def mean_distance(weights: Entry) -> sp.Expr:
    """E_p |i − j|."""
    return total(l, weights(l) * distance(l))


def uniform(key: sp.Expr) -> sp.Expr:
    """1/m for every key."""
    return 1 / m


# ── the problem and its solution ────────────────────────────────────────────────────────────────────────────────────


@claim(
    "eot.34",
    "definition",
    title="Entropy and a linear penalty on distance",
    hypotheses=("τ > 0", "γ ≥ 0"),
    latex=r"\Omega_L(p_i) = \tau\textstyle\sum_jp_{ij}\log p_{ij}+\gamma\sum_jp_{ij}|i-j|",
)
def locality_regularizer() -> Steps:
    """Minus the scaled entropy, plus γ times the expected distance between query and key."""
    yield Equation(locality()(uniform), -tau * sp.log(m) + gamma * total(j, distance(j)) / m, reason="at the uniform vector")


locality_regularizer.twin("γ is lost", lambda: Equation(locality()(uniform), -tau * sp.log(m) + total(j, distance(j)) / m))
locality_regularizer.twin(
    "distance is rewarded", lambda: Equation(locality()(uniform), -tau * sp.log(m) - gamma * total(j, distance(j)) / m)
)


def first_term(weights: Entry) -> sp.Expr:
    """τ Σ_j p_j log p_j, which is Ω_L with γ = 0."""
    return locality(sp.S.Zero)(weights)


@claim(
    "eot.s4.entropy-term",
    "identity",
    title="τ Σ p log p as the Shannon entropy term",
    needs=("eot.34", "eot.4"),
    latex=r"\tau\textstyle\sum_jp_{ij}\log p_{ij}=\tau H(p_i)",
    part_of="eot.prop4.4",
)
def entropy_term() -> Steps:
    """The first term of the regularizer is called the standard Shannon entropy term, which the uniform vector maximizes."""
    yield Fails(
        AtLeast(first_term(uniform), first_term(q), at={m: 2, tau: 1, q.label: [1, 0]}),
        reason="for two keys the term is −log 2 at the uniform vector and 0 at a corner",
    )


@entropy_term.corrected(r"\tau\textstyle\sum_jp_{ij}\log p_{ij}=-\tau H(p_i)\ge-\tau\log m", Severity.WORDING)
def negative_entropy_term() -> Steps:
    """The term is minus τ times the Shannon entropy, and least at the uniform vector."""
    yield Equation(first_term(uniform), -tau * sp.log(m), reason="minus τ times the entropy log m")
    yield AtLeast(
        first_term(q),
        first_term(uniform),
        because=tau * total(j, kl(q[j], 1 / m)),
        reason="Ω_L(q) − Ω_L(1/m) = τ Σ kl(q_j ‖ 1/m) for γ = 0",
    )


entropy_term.twin("never negative", lambda: AtLeast(first_term(q), 0))
entropy_term.twin("at least half of its least value", lambda: AtLeast(first_term(q), first_term(uniform) / 2))


def solves(candidate: Entry) -> UniqueMinimum:
    """The candidate is the only minimizer of −⟨p, s_i⟩ + Ω_L(p)."""
    return UniqueMinimum(
        variational(own_scores, locality()),
        candidate,
        m,
        tau,
        reason="J(q) − J(p*) = τ Σ_j kl(q_j ‖ p*_j), for every γ: 0 and negative ones included",
    )


def solution() -> Steps:
    """The softmax of penalized scores is the only solution."""
    yield solves(local)


@claim(
    "eot.35",
    "optimality",
    title="The locality-biased problem has one solution",
    needs=("eot.19", "eot.34"),
    latex=r"p_i^\star = \arg\min_{p_i\in\Delta^{m-1}}\{-\textstyle\sum_jp_{ij}s_{ij}+\Omega_L(p_i)\}",
    hypotheses=("τ > 0", "γ ≥ 0"),
)
def local_problem() -> Steps:
    """The minimum is attained at exactly one point for every γ ≥ 0; it is the entropy that makes it unique."""
    yield from solution()


@claim(
    "eot.36",
    "optimality",
    title="Its solution is a softmax of penalized scores",
    needs=("eot.35",),
    latex=r"p^\star_{ij} = e^{(s_{ij}-\gamma|i-j|)/\tau}\big/\textstyle\sum_le^{(s_{il}-\gamma|i-l|)/\tau}",
)
def local_softmax() -> Steps:
    """The weights are the softmax, at temperature τ, of the scores less γ times the distance."""
    yield from solution()


@claim(
    "eot.43",
    "optimality",
    title="The normalized solution",
    needs=("eot.42",),
    latex=r"p^\star_{ij} = e^{(s_{ij}-\gamma|i-j|)/\tau}\big/\textstyle\sum_le^{(s_{il}-\gamma|i-l|)/\tau}",
)
def normalized_solution() -> Steps:
    """Divided by their sum the exponentials are a point of the simplex, and the only solution."""
    yield Equation(total(j, local(j)), 1, about=(gamma,), reason="the denominator leaves the sum")
    yield from solution()


@claim(
    "eot.prop4.4",
    "optimality",
    title="A linear penalty biases the scores",
    needs=("eot.36", "eot.41", "eot.43"),
    latex=r"\Omega=\Omega_L\implies p^\star_i=\mathrm{softmax}\big(\tfrac1\tau[s_{ij}-\gamma|i-j|]_j\big)",
    hypotheses=("τ > 0", "γ ≥ 0"),
)
def locality_proposition() -> Steps:
    """Entropy plus a linear penalty is solved only by the softmax of linearly penalized scores."""
    yield from solution()


for entry in (local_problem, local_softmax, normalized_solution, locality_proposition):
    entry.twin("the penalty's sign", lambda: solves(softmax(penalized(-gamma), tau)))
    entry.twin("the penalty is not divided by τ", lambda: solves(softmax(penalized(gamma * tau), tau)))
    entry.twin("no penalty", lambda: solves(softmax(own_scores, tau)))


# ── the objective, regrouped ────────────────────────────────────────────────────────────────────────────────────────


def value() -> sp.Expr:
    """J by (35) with (34), at any positive plan."""
    return variational(own_scores, locality())(plan)


def regrouped(linear: Entry, strength: sp.Expr) -> sp.Expr:
    """Σ_j (linear terms of key j) + τ Σ_j p_ij log p_ij."""
    return total(j, linear(j)) + strength * total(j, xlogx(P[i, j]))


@claim(
    "eot.37",
    "identity",
    title="The objective written out",
    needs=("eot.35", "eot.34"),
    latex=r"J(p_i) = -\textstyle\sum_jp_{ij}s_{ij}+(\tau\sum_jp_{ij}\log p_{ij}+\gamma\sum_jp_{ij}|i-j|)",
)
def full_objective() -> Steps:
    """Minus the expected score, plus τ Σ p log p, plus γ times the expected distance."""
    yield Equation(
        value(),
        total(j, -P[i, j] * S[i, j] + (tau * xlogx(P[i, j]) + gamma * P[i, j] * distance(j))),
        reason="−H = Σ p log p, and all three sums run over the same keys",
    )


@claim(
    "eot.38",
    "identity",
    title="Linear terms together",
    needs=("eot.37",),
    latex=r"= \textstyle\sum_j(-p_{ij}s_{ij}+\gamma p_{ij}|i-j|)+\tau\sum_jp_{ij}\log p_{ij}",
)
def linear_terms() -> Steps:
    """The terms linear in the weights are gathered in one sum."""
    yield Equation(
        value(),
        regrouped(lambda key: -P[i, key] * S[i, key] + gamma * P[i, key] * distance(key), tau),
        reason="sums are linear",
    )


@claim(
    "eot.39",
    "identity",
    title="The weight taken out",
    needs=("eot.38",),
    latex=r"= \textstyle\sum_jp_{ij}(-s_{ij}+\gamma|i-j|)+\tau\sum_jp_{ij}\log p_{ij}",
)
def weight_taken_out() -> Steps:
    """Each linear term is the weight times a cost."""
    yield Equation(
        value(), regrouped(lambda key: P[i, key] * (-S[i, key] + gamma * distance(key)), tau), reason="distributivity"
    )


def effective_cost(strength: sp.Expr) -> Entry:
    """C'_ij = −s_ij + γ|i − j|."""
    return lambda key: -S[i, key] + strength * distance(key)


@claim("eot.40", "definition", title="Effective cost", latex=r"C'_{ij} = -s_{ij}+\gamma|i-j|", hypotheses=("γ ≥ 0",))
def cost_with_penalty() -> Steps:
    """The cost of a key is minus its score plus the penalty of its distance: at distance 0 it is that of section 3."""
    yield AtLeast(effective_cost(gamma)(j) + S[i, j], 0, because=gamma * distance(j), reason="γ ≥ 0: never cheaper")
    yield Equation(unit_cost(), -penalized(gamma)(j), reason="one unit of weight on key j costs minus its penalized score")


def unit_cost() -> sp.Expr:
    """∂/∂p_ij of Σ_k p_ik C'_ik."""
    return derivative(total(k, P[i, k] * effective_cost(gamma)(k)), P[i, j])


cost_with_penalty.twin("the penalty's sign", lambda: Equation(unit_cost(), -penalized(-gamma)(j)))
cost_with_penalty.twin("the score's sign", lambda: Equation(unit_cost(), S[i, j] + gamma * distance(j)))


@claim(
    "eot.41",
    "identity",
    title="The objective of Definition 3.2 with the effective cost",
    needs=("eot.39", "eot.40", "eot.def3.2"),
    latex=r"J(p_i) = \textstyle\sum_jp_{ij}C'_{ij}+\tau\sum_jp_{ij}\log p_{ij}",
)
def familiar_form() -> Steps:
    """It is the one-sided entropic objective with ε = τ and the effective cost in place of the cost."""
    yield Equation(value(), objective(plan, effective_cost(gamma), tau), reason="(40) in (39)")


def tampered(strength: sp.Expr, temperature: sp.Expr) -> Equation:
    """The objective with another penalty or another temperature."""
    return Equation(value(), objective(plan, effective_cost(strength), temperature))


for entry in (full_objective, linear_terms, weight_taken_out, familiar_form):
    entry.twin("the penalty's sign", lambda: tampered(-gamma, tau))
    entry.twin("entropy is penalized", lambda: tampered(gamma, -tau))


@claim(
    "eot.42",
    "equivalence",
    title="Weights are proportional to exponentials of the negative cost",
    needs=("eot.41", "eot.thm3.3"),
    latex=r"p^\star_{ij}\propto e^{-C'_{ij}/\tau} = e^{-(-s_{ij}+\gamma|i-j|)/\tau} = e^{(s_{ij}-\gamma|i-j|)/\tau}",
)
def proportional() -> Steps:
    """The ratio of two weights is that of the exponentials of minus the effective cost over τ, in all three forms."""
    yield ratio(effective_cost(gamma), tau)


def ratio(costs: Entry, temperature: sp.Expr) -> Equation:
    """p_ij/p_ik against a ratio of exponentials of negative costs."""
    return Equation(local(j) / local(k), sp.exp((costs(k) - costs(j)) / temperature), reason="Z cancels; −C′ = s − γ|i − j|")


proportional.twin("the penalty's sign", lambda: ratio(effective_cost(-gamma), tau))
proportional.twin("τ is lost", lambda: ratio(effective_cost(gamma), sp.S.One))


# ── what the proof and the prose say of it ──────────────────────────────────────────────────────────────────────────


def all_queries() -> sp.Expr:
    """Σ_i J(p_i)."""
    row = index("r", m)
    at = {i: row}
    return total(row, value().xreplace(at))


@claim(
    "eot.s4.separable",
    "identity",
    title="The problem separates by query",
    needs=("eot.37",),
    latex=r"\partial_{p_{ij}}\textstyle\sum_hJ_h(p_h) = \partial_{p_{ij}}J_i(p_i)",
)
def separable() -> Steps:
    """The slope of the sum of all queries' objectives in a weight of query i is that of its own objective alone."""
    yield Equation(derivative(value(), P[apart, k]), 0, about=(P[i, j],), reason="no weight of another query occurs")
    yield Equation(derivative(all_queries(), P[i, k]), derivative(value(), P[i, k]), reason="δ-sums collapse")


separable.twin("averaged over queries", lambda: Equation(derivative(all_queries(), P[i, k]), derivative(value(), P[i, k]) / m))
separable.twin("scores alone", lambda: Equation(derivative(all_queries(), P[i, k]), -S[i, k]))


@claim(
    "eot.s4.additive-penalty",
    "identity",
    title="The penalty is added to the scores before the softmax",
    needs=("eot.43",),
    latex=r"\log(p^\star_{ij}/p^\star_{ik})=\tfrac1\tau\big((s_{ij}+b_{ij})-(s_{ik}+b_{ik})\big),\quad b_{ij}=-\gamma|i-j|",
)
def additive_penalty() -> Steps:
    """The log-odds of two keys are the difference of their scores, each less γ times its distance, over τ."""
    yield log_odds(gamma, tau)


def log_odds(strength: sp.Expr, temperature: sp.Expr) -> Equation:
    """log p_ij − log p_ik against the difference of the penalized scores."""
    return Equation(sp.log(local(j)) - sp.log(local(k)), (penalized(strength)(j) - penalized(strength)(k)) / temperature)


additive_penalty.twin("the penalty's sign", lambda: log_odds(-gamma, tau))
additive_penalty.twin("τ is lost", lambda: log_odds(gamma, sp.S.One))


def slope_of_distance(power: int, sign: int = 1) -> Equation:
    """dE|i − j|/dγ against the variance of the distance over a power of τ."""
    spread = total(l, local(l) * (distance(l) - mean_distance(local)) ** 2)
    return Equation(derivative(mean_distance(local), gamma), -sign * spread / tau**power, reason="the quotient rule")


def nearer() -> Steps:
    """A variance, and the slope it is."""
    spread = total(l, local(l) * (distance(l) - mean_distance(local)) ** 2)
    yield AtLeast(spread, 0, because=spread, reason="a variance")
    yield slope_of_distance(1)


@claim(
    "eot.s4.locality",
    "identity",
    title="The penalty makes attention local",
    needs=("eot.36",),
    latex=r"\frac{d}{d\gamma}\mathbb E_{j\sim p^\star_i}[|i-j|] = -\tfrac1\tau\mathrm{Var}_{j\sim p^\star_i}[|i-j|]\le0",
)
def local_bias() -> Steps:
    """As γ grows the expected distance between query and key falls, at the rate of its variance over τ."""
    yield from nearer()


@claim(
    "eot.s4.tab1-alibi",
    "identity",
    title="Table 1, ALiBi: locality from a linear penalty",
    needs=("eot.prop4.4",),
    latex=r"\Omega=-\tau H+\gamma\textstyle\sum_jp_j|i-j|\implies\frac{d}{d\gamma}\mathbb E_{j\sim p^\star_i}[|i-j|]\le0",
    part_of="eot.tab1",
)
def table_alibi() -> Steps:
    """The linear penalty's solution has an expected distance that falls as γ grows."""
    yield from nearer()


for entry in (local_bias, table_alibi):
    entry.twin("the distance grows", lambda: slope_of_distance(1, sign=-1))
    entry.twin("τ is squared", lambda: slope_of_distance(2))
