"""Section 5, Remark 5.3 and the prose: advantage, REINFORCE, baselines and variance.

Claims     eot.rem5.3                  −∂L/∂s_j = (p_j/τ) A_j with p_j/τ > 0
           eot.s5.advantage            E_p[A] = 0
           eot.s5.query-key-gradient   −∂L/∂q = Σ_j p_j A_j k_j/τ and −∂L/∂k_j = p_j A_j q/τ
           eot.s5.reinforce            −∂L/∂s_j = E_{i∼p}[(u_i − b) ∂log p_i/∂s_j] for every b  (corrected)
           eot.s5.baseline-variance    E[u] Cov(u, g²) ≥ 0  ⟹  Var[(u_i − E_p[u]) g_i] ≤ Var[u_i g_i]
           eot.s5.variance-reduced     Σ_k (u_k − b) ∂p_k/∂s_j = Σ_k u_k ∂p_k/∂s_j: nothing is sampled  (corrected)
Notation   A_j = u_j − E_p[u]; estimators as in policy.py
References Remark 5.3 of the document and the opening of its section 5; Williams (1992) for the estimator
"""

import sympy as sp

from derivations.documents.eot import policy
from derivations.documents.eot.notation import K, Q, expect, j, k, l, m, r, s, similarity, softmax, tau, u
from derivations.vocabulary import *

p = softmax(s, tau)
i = index("i", m)


def advantage(key: sp.Expr) -> sp.Expr:
    """A_j = u_j − E_p[u]."""
    return u[key] - expect(p, u)


def descent(utilities: Entry = u) -> sp.Expr:
    """−∂L/∂s_j, the direction in which gradient descent moves score j."""
    return total(k, utilities(k) * derivative(p(k), s[j]))


@claim(
    "eot.rem5.3",
    "identity",
    title="Scores rise exactly where the advantage is positive",
    needs=("eot.64",),
    latex=r"-\frac{\partial\mathcal L}{\partial s_j} = \frac{p^\star_j}\tau A_j,\quad \frac{p^\star_j}\tau>0",
)
def sign_of_the_update() -> Steps:
    """Gradient descent raises a score whose key has above-average utility and lowers one below average."""
    yield AtLeast(p(j) / tau, 0, strict=True, reason="so the update has the sign of A_j")
    yield Equation(descent(), p(j) / tau * advantage(j), reason="eot.64")


sign_of_the_update.twin("it has the opposite sign", lambda: Equation(descent(), -p(j) / tau * advantage(j)))
sign_of_the_update.twin("above zero, not above average", lambda: Equation(descent(), p(j) / tau * u[j]))


@claim(
    "eot.s5.advantage",
    "identity",
    title="The advantage is measured against the policy's mean",
    needs=("eot.47",),
    latex=r"\mathbb E_{p^\star}[A] = 0",
    part_of="eot.rem5.3",
)
def mean_advantage() -> Steps:
    """Under the attention weights the advantages average to zero, so A_j compares key j with the policy's mean."""
    yield Equation(expect(p, advantage), 0, reason="Σ p = 1", about=(s[j], u[j], tau))


mean_advantage.twin("against a uniform mean", lambda: Equation(expect(p, lambda key: u[key] - total(i, u[i]) / m), 0))
mean_advantage.twin("an unweighted average", lambda: Equation(total(k, advantage(k)), 0))


@claim(
    "eot.s5.proportional",
    "identity",
    title="The update of a score is proportional to its advantage",
    needs=("eot.64",),
    latex=r"-\partial\mathcal L/\partial s_j \propto A_j",
    part_of="eot.rem5.3",
)
def proportional_update() -> Steps:
    """The updates of the scores are said to be proportional to the advantages of their keys."""
    yield Fails(
        Equation(
            descent() * advantage(k),
            moved_score(k) * advantage(j),
            at={m: 2, s.label: [0, 1], u.label: [0, 1], tau: 1, j: 1, k: 2},
        ),
        reason="with two keys the updates are equal and opposite, and A = (−p₂, p₁) is not where p₁ ≠ p₂",
    )


def moved_score(key: sp.Expr) -> sp.Expr:
    """−∂L/∂s at another key."""
    return total(l, u[l] * derivative(p(l), s[key]))


@proportional_update.corrected(
    r"-\partial\mathcal L/\partial s_j = (p^\star_j/\tau)\,A_j", Severity.WORDING, replaces="one factor for all keys"
)
def weighted_advantage() -> Steps:
    """For each score the update is its advantage times p_j/τ, a factor that differs from key to key."""
    yield Equation(descent(), p(j) / tau * advantage(j), reason="eot.64")


proportional_update.twin("one factor for all keys", lambda: Equation(descent(), advantage(j) / tau / m))
proportional_update.twin("p_j²", lambda: Equation(descent(), p(j) ** 2 / tau * advantage(j)))


weights_of_keys = softmax(similarity, tau)


def key_advantage(key: sp.Expr) -> sp.Expr:
    """A_j with the weights of a query and keys."""
    return u[key] - expect(weights_of_keys, u)


def query_descent() -> sp.Expr:
    """−∂L/∂q_r."""
    return total(k, u[k] * derivative(weights_of_keys(k), Q[r]))


@claim(
    "eot.s5.query-key-gradient",
    "identity",
    title="What trains queries and keys",
    needs=("eot.64",),
    latex=r"-\frac{\partial\mathcal L}{\partial q}=\tfrac1\tau\sum_jp_jA_jk_j,\quad"
    r"-\frac{\partial\mathcal L}{\partial k_j}=\tfrac1\tau p_jA_j\,q",
)
def query_key_gradient() -> Steps:
    """The query moves towards keys by weight times advantage, and each key towards the query by its own."""
    towards_query = total(k, u[k] * derivative(weights_of_keys(k), K[j, r]))
    yield Equation(towards_query, weights_of_keys(j) * key_advantage(j) * Q[r] / tau, reason="∂s_l/∂k_j = δ_lj q")
    yield Equation(query_descent(), total(l, weights_of_keys(l) * key_advantage(l) * K[l, r]) / tau, reason="∂s_l/∂q = k_l")


query_key_gradient.twin(
    "the mean is not subtracted", lambda: Equation(query_descent(), total(l, weights_of_keys(l) * u[l] * K[l, r]) / tau)
)
query_key_gradient.twin("keys are not weighted", lambda: Equation(query_descent(), total(l, key_advantage(l) * K[l, r]) / tau))


@claim(
    "eot.s5.expected-reward",
    "identity",
    title="The policy gradient of the expected utility",
    needs=("eot.64",),
    latex=r"-\partial\mathcal L/\partial s_j = \partial_{s_j}\mathbb E_p[u]\ \text{with } u \text{ held fixed}",
)
def expected_reward() -> Steps:
    """With the utilities held at their current values, the descent direction is the gradient of the expected utility."""
    yield Equation(derivative(expect(p, u), s[j]), descent(), reason="∂E_p[u] = Σ u ∂p when u does not move")
    yield Equation(descent(), total(i, p(i) * u[i] * derivative(sp.log(p(i)), s[j])), reason="∂p = p ∂log p")


expected_reward.twin("ascent of the loss", lambda: Equation(descent(), -total(i, p(i) * u[i] * derivative(sp.log(p(i)), s[j]))))
expected_reward.twin("an unweighted mean", lambda: Equation(descent(), total(i, u[i] * derivative(sp.log(p(i)), s[j])) / m))


@claim(
    "eot.s5.score-function",
    "identity",
    title="The log-derivative of the policy",
    needs=("eot.59",),
    latex=r"\partial\log p_i/\partial s_j = \tfrac1\tau(\delta_{ij}-p_j)",
)
def log_derivative() -> Steps:
    """The score function of the softmax policy is the indicator of the action less its probability, over τ."""
    yield Equation(derivative(sp.log(p(i)), s[j]), (delta(i, j) - p(j)) / tau, reason="log p_i = s_i/τ − log Z")


log_derivative.twin("τ is lost", lambda: Equation(derivative(sp.log(p(i)), s[j]), delta(i, j) - p(j)))
log_derivative.twin("the index of the action", lambda: Equation(derivative(sp.log(p(i)), s[j]), (delta(i, j) - p(i)) / tau))


LARGER_VARIANCE: dict[Variable, Value] = {
    m: 2,
    policy.pi.label: [sp.Rational(1, 4), sp.Rational(3, 4)],
    u.label: [0, 1],
    tau: 1,
    j: 1,
}


@claim(
    "eot.s5.reinforce",
    "equivalence",
    title="Backpropagation as REINFORCE with an expected value baseline",
    latex=r"-(\nabla_s\mathcal L)_j=(u_i-\mathbb E_p[u])\,g_{ij}\ \text{for every } i",
    needs=("eot.s5.score-function",),
    part_of="eot.rem5.3",
)
def reinforce() -> Steps:
    """REINFORCE follows the score function of one sampled action; backpropagation follows no sample."""
    mean_update = policy.mean(policy.estimate(sp.S.Zero))
    sampled = (u[i] - policy.expected_utility()) * policy.score_function(i)
    yield Fails(
        Equation(sampled, mean_update, at={**LARGER_VARIANCE, i: 1}),
        reason="the sample i = 1 moves the score by −9/16, the gradient by −3/16",
    )


@reinforce.corrected(
    r"-\frac{\partial\mathcal L}{\partial s_j} = \mathbb E_{i\sim p}\left[(u_i-b)\,\partial\log p_i/"
    r"\partial s_j\right]\ \text{for every baseline } b",
    Severity.SLIP,
    replaces="the update of one sampled action i",
)
def reinforce_on_average() -> Steps:
    """Backpropagation computes the mean of REINFORCE's update, and that mean is the same for every baseline b."""
    over_actions = total(i, p(i) * (u[i] - policy.baseline) * derivative(sp.log(p(i)), s[j]))
    yield Equation(descent(), over_actions, reason="p ∂log p = ∂p, and Σ_i ∂p_i = 0 removes b")


def averaged(level: sp.Expr, weights: Entry) -> Equation:
    """The mean update under given weights."""
    return Equation(descent(), total(i, weights(i) * (u[i] - level) * derivative(sp.log(p(i)), s[j])))


reinforce.twin("averaged uniformly", lambda: averaged(policy.baseline, lambda key: 1 / m))
reinforce.twin("a baseline that depends on the action", lambda: averaged(u[i] / 2, p))


@claim(
    "eot.s5.baseline-variance",
    "inequality",
    title="An expected value baseline to reduce the variance",
    latex=r"\mathrm{Var}[(u_i-\mathbb E_p[u])\,g_{ij}]\le\mathrm{Var}[u_i\,g_{ij}]",
    needs=("eot.s5.score-function",),
    part_of="eot.rem5.3",
)
def baseline_variance() -> Steps:
    """Subtracting the expected utility is said to reduce the variance of the policy-gradient estimate."""
    yield Fails(
        AtLeast(policy.variance_at(sp.S.Zero), policy.variance_at(policy.expected_utility()), at=LARGER_VARIANCE),
        reason="the rare action has the large score function: the variance is 3/256 without, 12/256 with it",
    )


@baseline_variance.corrected(
    r"\mathbb E[u]\,\mathrm{Cov}(u,g^2)\ge0\implies\mathrm{Var}[(u_i-\mathbb E_p[u])\,g_i]\le"
    r"\mathrm{Var}[u_i\,g_i]",
    Severity.HYPOTHESIS,
    under="E[u] and the covariance of the utility with g² do not have opposite signs",
)
def reduced_when_uncorrelated() -> Steps:
    """A baseline b saves b(2 E[u g²] − b E[g²]); with b = E[u] that is ≥ 0 where u and g² are uncorrelated, for example."""
    b, expected = policy.baseline, policy.expected_utility()
    yield Equation(policy.mean(policy.estimate(b)), policy.mean(policy.estimate(sp.S.Zero)), reason="E g = 0")
    yield Equation(saved(), policy.reduction(b), reason="the means agree")
    square = policy.score_function(policy.ACTION) ** 2
    covariance = policy.mean(u[policy.ACTION] * square) - expected * policy.mean(square)
    aligned = AtLeast(expected * covariance, 0)
    yield Follows(
        (aligned,),
        AtLeast(policy.variance_at(sp.S.Zero), policy.variance_at(expected)),
        (sp.Integer(2),),
        expected**2 * policy.mean(square),
        given=(aligned,),
        reason="2 E[u] Cov(u, g²) + E[u]² E[g²]",
    )


def saved() -> sp.Expr:
    """Var_0 − Var_b."""
    return policy.variance_at(sp.S.Zero) - policy.variance_at(policy.baseline)


baseline_variance.twin("the sign", lambda: Equation(saved(), -policy.reduction(policy.baseline)))
baseline_variance.twin("the second term counts twice", lambda: Equation(saved(), policy.reduction(2 * policy.baseline) / 2))


@claim(
    "eot.s5.variance-reduced",
    "inequality",
    title="The form of a variance-reduced policy gradient update",
    latex=r"\mathrm{Var}[\text{with }\mathbb E_p[u]]\le\mathrm{Var}[\text{without}]",
    needs=("eot.s5.baseline-variance",),
)
def variance_reduced() -> Steps:
    """The gradient of backpropagation is called a variance-reduced update because E[u] is subtracted in it."""
    yield Fails(
        AtLeast(policy.variance_at(sp.S.Zero), policy.variance_at(policy.expected_utility()), at=LARGER_VARIANCE),
        reason="as an estimate from sampled keys the subtraction can enlarge the variance",
    )


@variance_reduced.corrected(
    r"-\sum_k(u_k-b)\,\partial p_k/\partial s_j = -\sum_ku_k\,\partial p_k/\partial s_j",
    Severity.FATAL,
    replaces="the comparison of variances",
)
def no_variance_to_reduce() -> Steps:
    """Backpropagation samples nothing: its gradient has no variance, and subtracting any b changes nothing in it."""
    yield Equation(
        descent(lambda key: u[key] - policy.baseline), descent(), reason="Σ_k ∂p_k/∂s_j = 0", about=(policy.baseline,)
    )


variance_reduced.twin(
    "the baseline survives",
    lambda: Equation(descent(lambda key: u[key] - policy.baseline), descent() - policy.baseline * p(j) / tau),
)
variance_reduced.twin(
    "the baseline is weighted twice",
    lambda: Equation(descent(lambda key: u[key] - policy.baseline), descent() + policy.baseline * p(j) ** 2),
)


@claim(
    "eot.s5.optimal-control",
    "equivalence",
    title="An optimal control strategy",
    needs=("eot.thm5.2",),
    latex=r"\text{backpropagation} = \text{optimal control}",
    part_of="eot.rem5.3",
)
def optimal_control() -> Undecidable:
    """Backpropagation through attention is said to implement an optimal control strategy."""
    return Undecidable("no dynamics, horizon or control objective is stated, so optimality has nothing to refer to")


@claim(
    "eot.s5.stabilizes",
    "external fact",
    title="Baselines are standard and stabilize training",
    latex=r"\text{an expected value baseline stabilizes training}",
    needs=("eot.s5.baseline-variance", "eot.s5.reinforce"),
)
def stabilizes() -> Undecidable:
    """An expected value baseline is called a standard and powerful technique that stabilizes training."""
    return Undecidable(
        "no task, algorithm or measure of stability is stated; when a baseline lowers the variance is proved in "
        "eot.s5.baseline-variance, and that attention's gradient is the same with each, in eot.s5.reinforce"
    )
