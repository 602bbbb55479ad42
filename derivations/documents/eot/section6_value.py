"""Section 6.1: the primal value function, the envelope theorem and the potential it leads to.

Claims     eot.lem6.2              ∇_s V(s) = −p*(s)
           eot.s6.envelope         ∇_s V = ∇_s f(p*(s), s) where V and f(p*, ·) are differentiable
           eot.s6.flat             ⟨∇_p J(p*, s), x − y⟩ = 0 for x, y in the simplex
           eot.s6.second-order     dJ(p*(s + tu), s)/dt = (t/τ) Var_{p*(s+tu)}(u)
           eot.s6.landscape        ∇_s V = −p*, and not p*  (corrected)
           eot.s6.up-to-constant   ∇φ = p*  ⟺  φ = −V + constant
Notation   J(p, s) = −⟨p, s⟩ + τ Σ_j p_j log p_j; V(s) = J(p*(s), s), p* = softmax(s/τ); p in the simplex, x, y too;
           f₀ = f(p*(s), s) = V(s), f₊ and f₋ the same p* at s ± t, V₊ and V₋ the values there
References Definition 6.1, the primer on the envelope theorem and Lemma 6.2 of the document; Milgrom and Segal (2002)
"""

import sympy as sp

from derivations.documents.eot.notation import (
    cost,
    entropy,
    expect,
    j,
    k,
    l,
    m,
    objective,
    partition,
    s,
    similarity,
    softmax,
    tau,
    u,
)
from derivations.vocabulary import *

star = softmax(s, tau)
p, x, y = simplex("p", m), simplex("x", m), simplex("y", m)
free = vector("p", m, kind=Positive)
lse = tau * sp.log(partition(s, tau))
t = positive("t")


def primal(of: Entry, scores: Entry = s) -> sp.Expr:
    """J(p, s) = −⟨p, s⟩ + τ Σ_j p_j log p_j."""
    return -total(j, of(j) * scores(j)) + tau * total(j, xlogx(of(j)))


V = primal(star)


def at_solution(expr: sp.Expr) -> sp.Expr:
    """An expression in p > 0, evaluated at p = p*(s) after it has been differentiated."""
    return normal(expr).replace(lambda e: isinstance(e, sp.Indexed) and e.base == free, lambda e: star(e.indices[0]))


# ── Definition 6.1 ──────────────────────────────────────────────────────────────────────────────────────────────────


@claim(
    "eot.def6.1",
    "definition",
    title="The primal value function",
    needs=("eot.65", "eot.66"),
    hypotheses=("τ > 0",),
    latex=r"V(s)=\min_{p\in\Delta^{m-1}}J(p,s)",
)
def value_function() -> Steps:
    """Each vector of scores is sent to the smallest value of the objective; it is finite, whatever the scores."""
    yield UniqueMinimum(primal, star, m, tau, reason="the minimum exists, eot.6")
    yield Equation(V, -lse, reason="and has this value")


@claim(
    "eot.65",
    "definition",
    title="The objective in the scores",
    needs=("eot.5",),
    latex=r"J(p,s)=-\langle p,s\rangle+\tau\sum_jp_j\log p_j",
)
def objective_in_scores() -> Steps:
    """With s_j = ⟨q, k_j⟩ and ε = τ it is the objective of Definition 3.2."""
    yield Equation(objective(p, cost, tau), primal(p, similarity), reason="C_j = −s_j and −H = Σ p log p")


objective_in_scores.twin(
    "entropy is penalized", lambda: Equation(objective(p, cost, tau), primal(p, similarity) - 2 * tau * total(j, xlogx(p[j])))
)
objective_in_scores.twin("similarity is a cost", lambda: Equation(objective(p, cost, tau), primal(p, cost)))


@claim(
    "eot.66",
    "definition",
    title="The least value over the simplex",
    needs=("eot.65", "eot.6"),
    latex=r"V(s)\triangleq\min_{p\in\Delta^{m-1}}J(p,s)",
)
def least_value() -> Steps:
    """The minimum over the simplex is attained, at p*(s) alone."""
    yield Equation(V, -lse, reason="the value there, −τ log Z")
    yield UniqueMinimum(primal, star, m, tau, reason="J(q, s) − J(p*, s) = τ Σ_j kl(q_j ‖ p*_j)")


least_value.twin("the uniform vector", lambda: UniqueMinimum(primal, lambda key: 1 / m, m, tau))
least_value.twin("the temperature is doubled", lambda: UniqueMinimum(primal, softmax(s, 2 * tau), m, tau))


@claim(
    "eot.s6.trade-off",
    "inequality",
    title="V is the best trade-off of similarity and entropy",
    needs=("eot.66",),
    latex=r"-V(s)=\max_{p\in\Delta^{m-1}}\left(\mathbb E_p[s]+\tau H(p)\right)",
)
def best_trade_off() -> Steps:
    """No point of the simplex has a larger sum of mean score and τ times entropy than −V, and p* has exactly that."""
    yield Equation(-V, lse, reason="attained at p*, where it is τ log Z")
    yield AtLeast(
        -V, expect(p, s) + tau * entropy(p), because=tau * total(j, kl(p[j], star(j))), reason="what is missing is τ KL(p ‖ p*)"
    )


best_trade_off.twin("entropy counts twice", lambda: AtLeast(-V, expect(p, s) + 2 * tau * entropy(p)))
best_trade_off.twin("dissimilarity", lambda: AtLeast(-V, -expect(p, s) + tau * entropy(p)))


def along(direction: sp.Expr = t) -> Entry:
    """j ↦ s_j + t u_j."""
    return lambda key: s[key] + direction * u[key]


shifted = softmax(along(), tau)


@claim(
    "eot.s6.sensitivity",
    "identity",
    title="The gradient of V is its sensitivity to the scores",
    needs=("eot.66",),
    latex=r"\frac d{dt}V(s+tu)=\langle\nabla_sV(s+tu),u\rangle=-\langle p^\star(s+tu),u\rangle",
)
def sensitivity() -> Steps:
    """Moving the scores in any direction u changes the value at the rate of minus the mean of u under the weights."""
    yield Equation(derivative(primal(shifted, along()), t), -expect(shifted, u), reason="lemma 6.2 on a line")


sensitivity.twin("the sign", lambda: Equation(derivative(primal(shifted, along()), t), expect(shifted, u)))
sensitivity.twin("a uniform mean", lambda: Equation(derivative(primal(shifted, along()), t), -total(k, u[k]) / m))


# ── the envelope theorem ────────────────────────────────────────────────────────────────────────────────────────────

f0, f_ahead, f_behind = scalar("f₀"), scalar("f₊"), scalar("f₋")
V_ahead, V_behind = scalar("V₊"), scalar("V₋")
shift = scalar("γ")
step = scalar("δ")
pair = simplex("p", sp.Integer(2))


@claim(
    "eot.s6.envelope",
    "identity",
    title="The envelope theorem",
    latex=r"V(s)=\min_pf(p,s)\implies\nabla_sV(s)=\nabla_sf(p^\star(s),s)",
)
def envelope() -> Steps:
    """The gradient of a minimum is said to be the partial gradient of the objective at the minimizer, without conditions."""
    behind = -(-step + abs(step)) / 2
    yield AtLeast(
        -t * pair[2],
        -t * (pair[1] + pair[2]),
        because=t * pair[1],
        reason="τ = 0, scores (0, δ), f(p, δ) = −p₂δ: for δ = t > 0 the least value is −t: V has slope −1 there",
    )
    yield AtLeast(t * pair[2], 0, reason="and for δ = −t it is 0, so V(δ) = −max(0, δ)")
    yield Fails(
        Limit((0 - behind) / step, step, sp.S.Zero, -pair[2], at={pair.label: [0, 1]}),
        reason="its slope to the left is 0; at δ = 0 every p is optimal, and −p₂ cannot be both slopes",
    )


def slopes(conclusion: AtLeast, weights: tuple[sp.Expr, sp.Expr]) -> Follows:
    """The consequence of V₊ ≤ f₊ and V₋ ≤ f₋, since V is a minimum over points that include p*(s)."""
    premises = (AtLeast(f_ahead, V_ahead), AtLeast(f_behind, V_behind))
    return Follows(
        premises,
        conclusion,
        weights,
        given=premises,
        reason="p*(s) stays feasible, V is the minimum there, and V = f at s itself",
        quotes=(DANSKIN,),
    )


@envelope.corrected(
    r"\frac{f_0-f_-}t\le\frac{V-V_-}t,\ \frac{V_+-V}t\le\frac{f_+-f_0}t:\ \text{where } V \text{ and }"
    r" f(p^\star,\cdot)\text{ are differentiable the slopes agree}",
    Severity.HYPOTHESIS,
    under="V and f(p*(s), ·) are differentiable at s (so it is for one minimizer on a fixed compact set, "
    "f and ∇_s f continuous)",
    replaces="the equality of the gradients",
)
def envelope_where_differentiable() -> Steps:
    """Forward slopes of V are at most, backward slopes at least, those of f(p*, ·); so where both have a slope they agree."""
    yield slopes(AtLeast((f_ahead - f0) / t, (V_ahead - f0) / t), (1 / t, sp.S.Zero))
    yield slopes(AtLeast((f0 - V_behind) / t, (f0 - f_behind) / t), (sp.S.Zero, 1 / t))


envelope.twin(
    "backward slopes of V are at most those of f",
    lambda: slopes(AtLeast((f0 - f_behind) / t, (f0 - V_behind) / t), (sp.S.Zero, 1 / t)),
)
envelope.twin(
    "forward slopes of V bound backward slopes of f",
    lambda: slopes(AtLeast((V_ahead - f0) / t, (f0 - f_behind) / t), (1 / t, 1 / t)),
)


def slope_at_solution(key: sp.Expr = j) -> sp.Expr:
    """∂J/∂p_j at p*."""
    return at_solution(derivative(primal(free), free[key]))


@claim(
    "eot.s6.flat",
    "optimality",
    title="At an optimum the objective is flat in p",
    needs=("eot.10",),
    latex=r"\nabla_pJ(p^\star,s)=0",
)
def flat() -> Steps:
    """At the optimum the objective is said to be stationary in the variable that it is optimized over."""
    yield Equation(slope_at_solution(), tau - lse, reason="τ − τ log Z, the multiplier: the same for all j, and rarely 0")
    yield Fails(
        Equation(slope_at_solution(), 0, at={m: 2, s.label: [0, 0], tau: 1, j: 1}),
        reason="J = Σ p log p has the slopes 1 − log 2 at p* = (1/2, 1/2)",
    )


def tilt(towards: Entry) -> sp.Expr:
    """⟨∇_p J(p*), h⟩ for a direction h."""
    return total(j, towards(j) * slope_at_solution())


def between(key: sp.Expr) -> sp.Expr:
    """x_j − y_j: a direction along the simplex."""
    return x[key] - y[key]


@flat.corrected(
    r"\langle\nabla_pJ(p^\star,s),x-y\rangle=0\ \text{for } x,y\in\Delta^{m-1}",
    Severity.HYPOTHESIS,
    under="only directions along the constraint Σ_j p_j = 1 count",
    replaces="the gradient, by its products with these directions",
)
def flat_along_the_simplex() -> Steps:
    """Between any two points of the simplex the objective is stationary at p*, and across it is not."""
    yield Equation(tilt(x), tau - lse, reason="Σ x = 1")
    yield Equation(tilt(between), 0, reason="the multiplier has no j, and Σ x = Σ y")


flat.twin("any direction", lambda: Equation(tilt(between), tilt(lambda key: x[key] - y[key] / 2)))
flat.twin("the cost alone", lambda: Equation(tilt(between), -total(j, between(j) * s[j])))


@claim(
    "eot.s6.second-order",
    "asymptotic",
    title="The optimum's own motion is of second order",
    needs=("eot.66",),
    latex=r"\frac d{dt}J(p^\star(s+tu),s)=\frac t\tau\mathrm{Var}_{p^\star(s+tu)}(u)",
)
def second_order() -> Steps:
    """Following the optimum of displaced scores changes the objective at a rate that vanishes with the displacement."""
    yield Equation(derivative(primal(shifted), t), t / tau * spread(shifted), reason="log p* is linear in t up to log Z")


def spread(weights: Entry) -> sp.Expr:
    """Var_p(u)."""
    mean = expect(weights, u)
    return total(l, weights(l) * (u[l] - mean) ** 2)


second_order.twin("of first order", lambda: Equation(derivative(primal(shifted), t), spread(shifted) / tau))
second_order.twin("τ is lost", lambda: Equation(derivative(primal(shifted), t), t * spread(shifted)))


# ── Lemma 6.2 ───────────────────────────────────────────────────────────────────────────────────────────────────────


def value_slope(value: sp.Expr = V) -> sp.Expr:
    """∂V/∂s_j, the optimal plan moving with the scores."""
    return derivative(value, s[j])


@claim(
    "eot.lem6.2",
    "identity",
    title="Gradient of the value function",
    needs=("eot.66", "eot.67"),
    hypotheses=("τ > 0",),
    latex=r"\nabla_sV(s)=-p^\star(s)",
)
def gradient_of_value() -> Steps:
    """The gradient of the least objective value is minus the vector of attention weights."""
    yield UniqueMinimum(primal, star, m, tau, reason="so V(s) = J(p*(s), s)")
    yield Equation(value_slope(), -star(j), reason="the terms in ∂p*/∂s cancel: Σ_k ∂p_k/∂s_j = 0")


gradient_of_value.twin("the sign", lambda: Equation(value_slope(), star(j)))
gradient_of_value.twin("the temperature is lost", lambda: Equation(value_slope(), -softmax(s, sp.S.One)(j)))


@claim("eot.67", "identity", title="∇V = −p*", needs=("eot.66",), latex=r"\nabla_sV(s)=-p^\star(s)")
def value_gradient() -> Steps:
    """Each score's slope in the optimal value is minus its weight."""
    yield Equation(V, -lse, reason="τ log p*_j = s_j − τ log Z")
    yield Equation(value_slope(), -star(j), reason="the derivative of −τ log Z")


value_gradient.twin("divided by τ", lambda: Equation(value_slope(), -star(j) / tau))
value_gradient.twin("one is added", lambda: Equation(value_slope(), 1 - star(j)))


def partial(of: sp.Expr) -> sp.Expr:
    """∂/∂s_j with p held fixed, then p = p*."""
    return at_solution(derivative(of, s[j]))


@claim(
    "eot.68",
    "identity",
    title="The plan may be held fixed",
    needs=("eot.66", "eot.s6.second-order"),
    latex=r"\nabla_sV(s)=\nabla_sJ(p,s)\big|_{p=p^\star}",
)
def envelope_applied() -> Steps:
    """For the one-sided problem the envelope formula holds: V is differentiable and its minimizer unique."""
    yield Equation(value_slope(), partial(primal(free)), reason="total and partial derivative agree at p*")


envelope_applied.twin("the sign", lambda: Equation(value_slope(), -partial(primal(free))))
envelope_applied.twin("evaluated at the uniform plan", lambda: Equation(value_slope(), -1 / m))


def two_terms(share: sp.Expr) -> sp.Expr:
    """−Σ_j p_j s_j + τ Σ_j p_j log p_j, the first sum weighted."""
    return -share * total(j, free[j] * s[j]) + tau * total(j, free[j] * sp.log(free[j]))


@claim(
    "eot.69",
    "identity",
    title="Both terms written out",
    needs=("eot.68", "eot.65"),
    latex=r"=\nabla_s\left[-\textstyle\sum_jp_js_j+\tau\sum_jp_j\log p_j\right]\Big|_{p=p^\star}",
)
def terms_written_out() -> Steps:
    """The objective in its two sums, of which the second does not contain the scores."""
    yield Equation(derivative(total(j, free[j] * sp.log(free[j])), s[j]), 0, about=(s[j],), reason="no s in the entropy")
    yield Equation(value_slope(), partial(two_terms(sp.S.One)), reason="J written out")


terms_written_out.twin("the first term twice", lambda: Equation(value_slope(), partial(two_terms(sp.Integer(2)))))
terms_written_out.twin("the second term alone", lambda: Equation(value_slope(), partial(two_terms(sp.S.Zero))))


@claim("eot.70", "identity", title="Only −⟨p, s⟩ depends on s", needs=("eot.69",), latex=r"\nabla_sV(s)=-p^\star(s)")
def evaluated() -> Steps:
    """The first sum has the gradient −p, at the optimum −p*."""
    yield Equation(derivative(-total(k, free[k] * s[k]), s[j]), -free[j], reason="linear in s")
    yield Equation(value_slope(), -star(j), reason="p = p*")


evaluated.twin("the sign", lambda: Equation(value_slope(), star(j)))
evaluated.twin("squared", lambda: Equation(value_slope(), -(star(j) ** 2)))


# ── what is said about it ───────────────────────────────────────────────────────────────────────────────────────────


@claim(
    "eot.s6.landscape",
    "identity",
    title="The gradient of the optimal value is the attention distribution",
    latex=r"\nabla_s(\text{optimal value})=p^\star",
    needs=("eot.lem6.2",),
)
def landscape() -> Steps:
    """The section announces that the landscape of optimal values has the attention weights as its gradient."""
    yield Fails(
        Equation(value_slope(), star(j), at={m: 2, s.label: [0, 0], tau: 1, j: 1}),
        reason="for two equal scores the slopes of V are −1/2; the announcement fits −V, as Lemma 6.2 says",
    )


@landscape.corrected(r"\nabla_sV=-p^\star", Severity.SLIP)
def landscape_falls() -> Steps:
    """The landscape falls with each score at the rate of its weight."""
    yield Equation(value_slope(), -star(j), reason="eot.lem6.2")


landscape.twin("divided by τ", lambda: Equation(value_slope(), -star(j) / tau))
landscape.twin("the uniform vector", lambda: Equation(value_slope(), -1 / m))


@claim("eot.fn2", "definition", title="A potential function", latex=r"\nabla\Phi=F")
def potential_function() -> Steps:
    """A scalar field whose gradient is a given vector field; the weights pass the test that such fields must pass."""
    yield Equation(derivative(star(j), s[k]), derivative(star(k), s[j]), reason="−p* has no curl, as a gradient must")


@claim(
    "eot.s6.information",
    "identity",
    title="V is a potential of −p* and contains the solution",
    needs=("eot.lem6.2",),
    latex=r"p^\star(s)=-\nabla V(s),\quad\frac{d}{dt}V(ts)=-\langle p^\star(ts),s\rangle",
)
def information() -> Steps:
    """The weights can be read off the value function, and the value function, but for V(0), off the weights."""
    yield Equation(-value_slope(), star(j), reason="from V to p*")
    yield Equation(derivative(primal(ray, scaled), t), -expect(ray, s), reason="from p* to V, along the ray t ↦ ts")


def scaled(key: sp.Expr) -> sp.Expr:
    """t s_j."""
    return t * s[key]


ray = softmax(scaled, tau)
information.twin("the sign", lambda: Equation(derivative(primal(ray, scaled), t), expect(ray, s)))
information.twin("the weights do not move", lambda: Equation(derivative(primal(ray, scaled), t), -expect(star, s)))


@claim(
    "eot.s6.up-to-constant",
    "equivalence",
    title="A potential of p* is −V up to a constant",
    needs=("eot.lem6.2",),
    latex=r"\nabla\phi=p^\star\iff\phi=-V+\text{const}",
)
def up_to_constant() -> Steps:
    """−V plus any constant has the gradient p*; and any φ with that gradient differs from −V by φ(0) + V(0)."""
    slope = expect(ray, s)
    yield Equation(
        slope + derivative(primal(ray, scaled), t),
        0,
        about=(s[j],),
        reason="d/dt φ(ts) = ⟨p*(ts), s⟩, so φ + V is constant on every ray from 0",
    )
    yield Equation(derivative(shift - V, s[j]), star(j), reason="and the constant has no gradient")


up_to_constant.twin("V itself", lambda: Equation(derivative(shift - V, s[j]), -star(j)))
up_to_constant.twin("up to a linear function", lambda: Equation(derivative(shift - V, s[j]), star(j) + shift))
