"""Section 5, Theorem 5.2: what backpropagation does to the scores.

Claims     eot.thm5.2   ∂L/∂s_j = −(p_j/τ)(u_j − E_p[u])
           eot.45       u_j = −⟨g, v_j⟩
           eot.54       ∂p_j/∂s_j = p_j(1 − p_j)/τ
           eot.58       ∂p_k/∂s_j = −p_k p_j/τ for k ≠ j
           eot.59       ∂p_k/∂s_j = p_k(δ_kj − p_j)/τ
           eot.46       ∂L/∂s_j = −Σ_k u_k ∂p_k/∂s_j = −(p_j/τ)(u_j − E_p[u])
Notation   p = softmax(s/τ); u = −∂L/∂p; g = ∇_c L; E_p[u] = Σ_k p_k u_k; Z = Σ_l exp(s_l/τ); k ≠ j where said
References Definition 5.1 and Theorem 5.2 of the document, and the proof
"""

import sympy as sp

from derivations.documents.eot.notation import V, c, expect, g, j, k, l, m, other, partition, s, softmax, tau, u
from derivations.vocabulary import *

p = softmax(s, tau)
free = vector("p", m, kind=Positive)
Z = partition(s, tau)


def context(plan: Entry, coordinate: sp.Expr) -> sp.Expr:
    """c_r = Σ_j p_j v_jr."""
    return total(l, plan(l) * V[l, coordinate])


def linear_loss(plan: Entry) -> sp.Expr:
    """⟨g, c(p)⟩: by the chain rule a differentiable loss has, at a point, the first derivatives of this one."""
    return total(c, g[c] * context(plan, c))


def utility(key: sp.Expr) -> sp.Expr:
    """u_j = −⟨g, v_j⟩."""
    return -total(c, g[c] * V[key, c])


def exponential(key: sp.Expr) -> sp.Expr:
    """exp(s_j/τ)."""
    return sp.exp(s[key] / tau)


# ── Definition 5.1 ──────────────────────────────────────────────────────────────────────────────────────────────────


@claim(
    "eot.def5.1",
    "definition",
    title="Context vector and marginal utility",
    needs=("eot.44", "eot.45"),
    latex=r"c(p)=\sum_j p_jv_j,\quad u_j=-\partial\mathcal L/\partial p_j",
)
def context_and_utility() -> Steps:
    """The context is the weighted sum of values; the utility of a key is minus the slope of the loss in its weight."""
    yield Equation(context(lambda key: 1 / m, c), total(l, V[l, c]) / m, reason="an instance: uniform weights average")


@claim("eot.44", "definition", title="Context vector", latex=r"c(p) = \sum_j p_jv_j")
def context_vector() -> Steps:
    """The output of attention is the mean of the value vectors under the weights."""
    here = index("c", V.shape[1])
    yield Equation(derivative(total(l, free[l] * V[l, here]), free[j]), V[j, here], reason="linear in each weight")


context_vector.twin(
    "weights are squared", lambda: Equation(derivative(total(l, free[l] * V[l, c]), free[j]), 2 * free[j] * V[j, c])
)
context_vector.twin("a plain mean", lambda: Equation(derivative(total(l, free[l] * V[l, c]), free[j]), V[j, c] / m))


@claim(
    "eot.45",
    "identity",
    title="Marginal utility",
    needs=("eot.44",),
    hypotheses=("L differentiable at c",),
    latex=r"u_j = -\frac{\partial\mathcal L}{\partial p_j} = -\langle\nabla_c\mathcal L, \partial c/\partial p_j\rangle"
    r" = -\langle\nabla_c\mathcal L, v_j\rangle",
)
def marginal_utility() -> Steps:
    """The utility of key j is minus the inner product of the loss gradient with its value vector."""
    slope = derivative(linear_loss(free), free[j])
    chained = total(c, g[c] * derivative(context(free, c), free[j]))
    yield Equation(-slope, -chained, reason="chain rule")
    yield Equation(-slope, utility(j), reason="∂c/∂p_j = v_j")


def loss_slope() -> sp.Expr:
    """−∂L/∂p_j."""
    return -derivative(linear_loss(free), free[j])


marginal_utility.twin("the sign", lambda: Equation(loss_slope(), -utility(j)))
marginal_utility.twin("the loss gradient is lost", lambda: Equation(loss_slope(), -total(c, V[j, c])))


# ── Theorem 5.2 ─────────────────────────────────────────────────────────────────────────────────────────────────────


def advantage_form(mean: sp.Expr, temperature: sp.Expr = tau, utilities: Entry = u) -> sp.Expr:
    """−(p_j/τ)(u_j − mean)."""
    return -p(j) / temperature * (utilities(j) - mean)


def through_weights(utilities: Entry = u) -> sp.Expr:
    """−Σ_k u_k ∂p_k/∂s_j, the chain rule through every weight."""
    return -total(k, utilities(k) * derivative(p(k), s[j]))


@claim(
    "eot.thm5.2",
    "identity",
    title="The score gradient is an advantage",
    hypotheses=("τ > 0", "L differentiable"),
    latex=r"\frac{\partial\mathcal L}{\partial s_j} = -\frac{p^\star_j}{\tau}\left(u_j-\mathbb E_{p^\star}[u]\right)",
    needs=("eot.45", "eot.59", "eot.48"),
)
def attention_gradient() -> Steps:
    """The loss falls with a score in proportion to its weight and to how far its utility exceeds the mean utility."""
    through_model = derivative(linear_loss(p), s[j])
    yield Equation(through_model, through_weights(utility), reason="the loss sees the scores through the weights only")
    yield Equation(through_model, advantage_form(expect(p, utility), utilities=utility), reason="eot.59 inserted")


def model_gradient() -> sp.Expr:
    """∂L/∂s_j through weights, context and loss."""
    return derivative(linear_loss(p), s[j])


attention_gradient.twin(
    "the mean is not subtracted", lambda: Equation(model_gradient(), advantage_form(sp.S.Zero, utilities=utility))
)
attention_gradient.twin(
    "the mean is uniform", lambda: Equation(model_gradient(), advantage_form(total(l, utility(l)) / m, utilities=utility))
)
attention_gradient.twin("the sign", lambda: Equation(model_gradient(), -advantage_form(expect(p, utility), utilities=utility)))


@claim(
    "eot.46",
    "identity",
    title="Gradient of the loss in a score",
    needs=("eot.59",),
    hypotheses=("τ > 0", "L differentiable"),
    latex=r"\frac{\partial\mathcal L}{\partial s_j} = -\frac{p^\star_j}{\tau}\left(u_j-\mathbb E_{p^\star}[u]\right)",
)
def score_gradient() -> Steps:
    """The derivative by score j is minus p_j/τ times utility less expected utility."""
    yield Equation(derivative(p(k), s[j]), p(k) * (delta(k, j) - p(j)) / tau, reason="eot.59")
    yield Equation(through_weights(), advantage_form(expect(p, u)), reason="the δ-sum collapses")


score_gradient.twin("the mean is not subtracted", lambda: Equation(through_weights(), advantage_form(sp.S.Zero)))
score_gradient.twin("one τ is lost", lambda: Equation(through_weights(), advantage_form(expect(p, u), sp.S.One)))
score_gradient.twin("the sign", lambda: Equation(through_weights(), -advantage_form(expect(p, u))))


@claim("eot.47", "definition", title="Expected utility", latex=r"\mathbb E_{p^\star}[u] = \sum_k p^\star_ku_k")
def expected_utility() -> Steps:
    """The mean of the utilities under the attention weights; constants have themselves as mean."""
    yield Equation(expect(p, lambda key: u[key] + tau), expect(p, u) + tau, reason="Σ p = 1")


expected_utility.twin("a plain sum", lambda: Equation(expect(p, lambda key: u[key] + tau), expect(p, u) + m * tau))
expected_utility.twin("a uniform mean", lambda: Equation(expect(p, lambda key: u[key] + tau), total(k, u[k]) / m + tau))


@claim("eot.49", "definition", title="Weights as a function of the scores", latex=r"p_k(s) = e^{s_k/\tau}/Z", needs=("eot.50",))
def weights_of_scores() -> Steps:
    """The weight is the exponential over the partition sum, a point of the open simplex for every s."""
    yield AtLeast(p(k), 0, strict=True, reason="positive over positive")
    yield Equation(total(k, p(k)), 1, reason="Z leaves the sum")


@claim("eot.50", "definition", title="Partition sum", latex=r"Z = \sum_l e^{s_l/\tau}")
def partition_sum() -> Steps:
    """The sum of exponentials is positive, so that dividing by it is allowed."""
    yield AtLeast(Z, 0, strict=True, reason="m ≥ 1 positive terms")
    yield Equation(Z, total(k, p(k)) * Z, reason="it normalizes p")


# ── the Jacobian of softmax: k = j ──────────────────────────────────────────────────────────────────────────────────


def diagonal() -> sp.Expr:
    """∂p_j/∂s_j."""
    return derivative(p(j), s[j])


def quotient(entry: Entry, of: sp.Expr, sign: int = 1, power: int = 2) -> sp.Expr:
    """(∂e/∂s_j · Z − e · ∂Z/∂s_j)/Z²."""
    return (derivative(entry(of), s[j]) * Z - sign * entry(of) * derivative(Z, s[j])) / Z**power


@claim(
    "eot.51",
    "identity",
    title="Quotient rule, k = j",
    needs=("eot.49",),
    latex=r"\frac{\partial p_j}{\partial s_j} = \frac{(\partial_{s_j}e^{s_j/\tau})Z - e^{s_j/\tau}\,\partial_{s_j}Z}{Z^2}",
)
def quotient_rule() -> Steps:
    """The derivative of a quotient: numerator's slope times Z, less numerator times Z's slope, over Z²."""
    yield Equation(diagonal(), quotient(exponential, j), reason="quotient rule")


quotient_rule.twin("a sum of the two terms", lambda: Equation(diagonal(), quotient(exponential, j, sign=-1)))
quotient_rule.twin("Z is not squared", lambda: Equation(diagonal(), quotient(exponential, j, power=1)))


@claim(
    "eot.52",
    "identity",
    title="Both slopes are exp(s_j/τ)/τ",
    needs=("eot.51",),
    latex=r"= \frac{\frac1\tau e^{s_j/\tau}Z - e^{s_j/\tau}\frac1\tau e^{s_j/\tau}}{Z^2}",
)
def slopes_inserted() -> Steps:
    """Only the term l = j of Z depends on s_j, so both slopes are the exponential over τ."""
    yield Equation(derivative(Z, s[j]), exponential(j) / tau, reason="Σ_l δ_lj e^{s_l/τ}/τ")
    yield Equation(diagonal(), (exponential(j) / tau * Z - exponential(j) * exponential(j) / tau) / Z**2, reason="(51)")


slopes_inserted.twin(
    "τ is lost in Z's slope", lambda: Equation(diagonal(), (exponential(j) / tau * Z - exponential(j) * exponential(j)) / Z**2)
)
slopes_inserted.twin(
    "all of Z depends on s_j", lambda: Equation(diagonal(), (exponential(j) / tau * Z - exponential(j) * Z / tau) / Z**2)
)


@claim(
    "eot.53",
    "identity",
    title="Factored",
    needs=("eot.52",),
    latex=r"= \frac{\frac1\tau e^{s_j/\tau}}{Z}\left(1-\frac{e^{s_j/\tau}}{Z}\right)",
)
def factored() -> Steps:
    """One factor of exp/Z comes out."""
    yield Equation(diagonal(), exponential(j) / tau / Z * (1 - exponential(j) / Z), reason="common factor")


factored.twin("1 + exp/Z", lambda: Equation(diagonal(), exponential(j) / tau / Z * (1 + exponential(j) / Z)))
factored.twin(
    "τ inside the bracket too", lambda: Equation(diagonal(), exponential(j) / tau / Z * (1 - exponential(j) / Z / tau))
)


@claim("eot.54", "identity", title="Diagonal of the Jacobian", needs=("eot.53",), latex=r"= \tfrac1\tau p_j(1-p_j)")
def diagonal_entry() -> Steps:
    """A weight's slope in its own score is p(1 − p)/τ."""
    yield Equation(diagonal(), p(j) * (1 - p(j)) / tau, reason="p_j = e^{s_j/τ}/Z")


diagonal_entry.twin("τ is lost", lambda: Equation(diagonal(), p(j) * (1 - p(j))))
diagonal_entry.twin("the square is dropped", lambda: Equation(diagonal(), p(j) / tau))


# ── k ≠ j ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def off_diagonal() -> sp.Expr:
    """∂p_k/∂s_j for k ≠ j."""
    return derivative(p(other), s[j])


@claim(
    "eot.55",
    "identity",
    title="Quotient rule, k ≠ j",
    needs=("eot.49",),
    hypotheses=("k ≠ j",),
    latex=r"\frac{\partial p_k}{\partial s_j} = \frac{(\partial_{s_j}e^{s_k/\tau})Z - e^{s_k/\tau}\,\partial_{s_j}Z}{Z^2}",
)
def off_quotient_rule() -> Steps:
    """The same rule for another key's weight."""
    yield Equation(off_diagonal(), quotient(exponential, other), reason="quotient rule")


off_quotient_rule.twin("a sum of the two terms", lambda: Equation(off_diagonal(), quotient(exponential, other, sign=-1)))
off_quotient_rule.twin("Z is not squared", lambda: Equation(off_diagonal(), quotient(exponential, other, power=1)))


@claim(
    "eot.56",
    "identity",
    title="The numerator's slope is 0",
    needs=("eot.55",),
    hypotheses=("k ≠ j",),
    latex=r"= \frac{0 - e^{s_k/\tau}\frac1\tau e^{s_j/\tau}}{Z^2}",
)
def no_numerator_slope() -> Steps:
    """exp(s_k/τ) does not contain s_j, so only Z's slope remains."""
    yield Equation(derivative(exponential(other), s[j]), 0, reason="k ≠ j", about=(other,))
    yield Equation(off_diagonal(), (0 - exponential(other) * exponential(j) / tau) / Z**2, reason="(55)")


no_numerator_slope.twin("the sign", lambda: Equation(off_diagonal(), exponential(other) * exponential(j) / tau / Z**2))
no_numerator_slope.twin(
    "the wrong exponential", lambda: Equation(off_diagonal(), -exponential(other) * exponential(other) / tau / Z**2)
)


@claim(
    "eot.57",
    "identity",
    title="A product of two quotients",
    needs=("eot.56",),
    hypotheses=("k ≠ j",),
    latex=r"= -\frac1\tau\frac{e^{s_k/\tau}}Z\frac{e^{s_j/\tau}}Z",
)
def two_quotients() -> Steps:
    """Each exponential takes one Z."""
    yield Equation(off_diagonal(), -(exponential(other) / Z) * (exponential(j) / Z) / tau, reason="Z² = Z · Z")


two_quotients.twin("one Z", lambda: Equation(off_diagonal(), -exponential(other) * exponential(j) / Z / tau))
two_quotients.twin("τ twice", lambda: Equation(off_diagonal(), -(exponential(other) / Z) * (exponential(j) / Z) / tau**2))


@claim(
    "eot.58",
    "identity",
    title="Off-diagonal of the Jacobian",
    needs=("eot.57",),
    hypotheses=("k ≠ j",),
    latex=r"= -\tfrac1\tau p_kp_j",
)
def off_diagonal_entry() -> Steps:
    """A weight's slope in another score is −p_k p_j/τ."""
    yield Equation(off_diagonal(), -p(other) * p(j) / tau, reason="p = e^{s/τ}/Z")


off_diagonal_entry.twin("the sign", lambda: Equation(off_diagonal(), p(other) * p(j) / tau))
off_diagonal_entry.twin("an index", lambda: Equation(off_diagonal(), -p(other) * p(other) / tau))


# ── both cases, and back to the loss ────────────────────────────────────────────────────────────────────────────────


@claim(
    "eot.59",
    "identity",
    title="Jacobian of softmax",
    needs=("eot.54", "eot.58"),
    hypotheses=("τ > 0",),
    latex=r"\frac{\partial p_k}{\partial s_j} = \tfrac1\tau p_k(\delta_{kj}-p_j)",
)
def softmax_jacobian() -> Steps:
    """One formula for both cases, with Kronecker's delta."""
    yield Equation(derivative(p(k), s[j]), p(k) * (delta(k, j) - p(j)) / tau, reason="(54) and (58)")


softmax_jacobian.twin("one τ too many", lambda: Equation(derivative(p(k), s[j]), p(k) * (delta(k, j) - p(j)) / tau**2))
softmax_jacobian.twin("an index is swapped", lambda: Equation(derivative(p(k), s[j]), p(k) * (delta(k, j) - p(k)) / tau))
softmax_jacobian.twin("the sign", lambda: Equation(derivative(p(k), s[j]), p(k) * (p(j) - delta(k, j)) / tau))


@claim(
    "eot.60",
    "identity",
    title="Jacobian inserted",
    needs=("eot.48", "eot.59"),
    latex=r"\frac{\partial\mathcal L}{\partial s_j} = -\sum_k u_k\left(\tfrac1\tau p_k(\delta_{kj}-p_j)\right)",
)
def jacobian_inserted() -> Steps:
    """The chain rule with the entries of the Jacobian."""
    yield Equation(through_weights(), -total(k, u[k] * (p(k) * (delta(k, j) - p(j)) / tau)), reason="eot.59")


jacobian_inserted.twin("the sign", lambda: Equation(through_weights(), total(k, u[k] * (p(k) * (delta(k, j) - p(j)) / tau))))
jacobian_inserted.twin(
    "p_k for p_j", lambda: Equation(through_weights(), -total(k, u[k] * (p(k) * (delta(k, j) - p(k)) / tau)))
)


@claim(
    "eot.61", "identity", title="1/τ leaves the sum", needs=("eot.60",), latex=r"= -\tfrac1\tau\sum_k u_kp_k(\delta_{kj}-p_j)"
)
def temperature_leaves() -> Steps:
    """1/τ is common to all terms."""
    yield Equation(through_weights(), -total(k, u[k] * p(k) * (delta(k, j) - p(j))) / tau, reason="τ has no k")


temperature_leaves.twin("τ for 1/τ", lambda: Equation(through_weights(), -tau * total(k, u[k] * p(k) * (delta(k, j) - p(j)))))
temperature_leaves.twin("u is not weighted", lambda: Equation(through_weights(), -total(k, u[k] * (delta(k, j) - p(j))) / tau))


@claim(
    "eot.62",
    "identity",
    title="Two sums",
    needs=("eot.61",),
    latex=r"= -\tfrac1\tau\left(\sum_k u_kp_k\delta_{kj} - \sum_k u_kp_kp_j\right)",
)
def two_sums() -> Steps:
    """The bracket opens into two sums."""
    pair = total(k, u[k] * p(k) * delta(k, j)) - total(k, u[k] * p(k) * p(j))
    yield Equation(through_weights(), -pair / tau, reason="sums are linear")


two_sums.twin(
    "a sum of the two",
    lambda: Equation(through_weights(), -(total(k, u[k] * p(k) * delta(k, j)) + total(k, u[k] * p(k) * p(j))) / tau),
)
two_sums.twin(
    "p_j is lost", lambda: Equation(through_weights(), -(total(k, u[k] * p(k) * delta(k, j)) - total(k, u[k] * p(k))) / tau)
)


@claim(
    "eot.63",
    "identity",
    title="The delta collapses",
    needs=("eot.62",),
    latex=r"= -\tfrac1\tau\left(u_jp_j - p_j\sum_k u_kp_k\right)",
)
def delta_collapses() -> Steps:
    """Only k = j survives in the first sum, and p_j leaves the second."""
    yield Equation(through_weights(), -(u[j] * p(j) - p(j) * total(k, u[k] * p(k))) / tau, reason="Σ_k δ_kj x_k = x_j")


delta_collapses.twin("p_j stays behind", lambda: Equation(through_weights(), -(u[j] * p(j) - total(k, u[k] * p(k))) / tau))
delta_collapses.twin("u_j loses its weight", lambda: Equation(through_weights(), -(u[j] - p(j) * total(k, u[k] * p(k))) / tau))


@claim(
    "eot.64",
    "identity",
    title="The gradient in advantage form",
    needs=("eot.63", "eot.47"),
    latex=r"\frac{\partial\mathcal L}{\partial s_j} = -\tfrac{p^\star_j}\tau\left(u_j-\sum_kp^\star_ku_k\right)"
    r" = -\tfrac{p^\star_j}\tau\left(u_j-\mathbb E_{p^\star}[u]\right)",
)
def advantage() -> Steps:
    """p_j comes out, and what is subtracted is the expected utility."""
    yield Equation(through_weights(), -p(j) / tau * (u[j] - total(k, p(k) * u[k])), reason="common factor p_j")
    yield Equation(through_weights(), advantage_form(expect(p, u)), reason="eot.47")


advantage.twin("the mean is uniform", lambda: Equation(through_weights(), advantage_form(total(k, u[k]) / m)))
advantage.twin("the weight is lost", lambda: Equation(through_weights(), -(u[j] - expect(p, u)) / tau))
