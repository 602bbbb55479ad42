"""Section 6, the primers on Lagrangian duality and on the Karush-Kuhn-Tucker conditions.

Claims     eot.s6.weak-duality     λ ≥ 0, x feasible  ⟹  g(λ, ν) ≤ L(x, λ, ν) ≤ f(x)
           eot.s6.dual-concave     g(θz + (1 − θ)z') ≥ θ g(z) + (1 − θ) g(z') for z = (λ, ν), 0 ≤ θ ≤ 1
           eot.s6.slater           problem convex, some x with every c_i(x) < 0, v finite  ⟹  max g(λ, ν) = v
           eot.s6.strong-duality   max_λ g(λ) = min J(p, s) over the simplex, for τ > 0
           eot.s6.kkt-complete     f, c_i convex, h_j affine: KKT at a feasible x  ⟹  f(y) ≥ f(x) for every feasible y
Notation   minimize f subject to c_i ≤ 0, h_j = 0; w_i = −c_i ≥ 0 the slack of a feasible point; λ ≥ 0 and ν multipliers;
           L = f + Σ λ_i c_i + Σ ν_j h_j, G = g(λ, ν) = inf L; v the optimal value; m inequalities, n equalities, d
           coordinates; at a point x the gradients are a = ∇f, B_i = ∇c_i, H_j = ∇h_j, D = ∇L, and y is any other point
References both primers of section 6 of the document; Boyd and Vandenberghe (2004), sections 5.1–5.5
"""

import sympy as sp

from derivations.documents.eot.notation import d, j, l, lam, m, n, partition, r, s, tau
from derivations.documents.eot.section6_value import V, primal
from derivations.vocabulary import *

i = index("i", n)
f, G, v = scalar("f"), scalar("G"), scalar("v")
multiplier, multiplier_too = vector("λ", m, kind=Nonnegative), vector("λ′", m, kind=Nonnegative)
nu, nu_too = vector("ν", n), vector("ν′", n)
slack = vector("w", m, kind=Nonnegative)
c, h = vector("c", m), vector("h", n)
odds = positive("odds")
q = vector("p", m, kind=Nonnegative)


# ── the one-sided problem as the instance ───────────────────────────────────────────────────────────────────────────


def lagrangian(level: sp.Expr) -> sp.Expr:
    """L(p, λ) of the one-sided problem at any p ≥ 0."""
    return primal(q) + level * (1 - total(j, q[j]))


def stationary(level: sp.Expr, key: sp.Expr = j) -> sp.Expr:
    """exp((s_j + λ − τ)/τ), where L(·, λ) is least."""
    return sp.exp((s[key] + level - tau) / tau)


def dual(level: sp.Expr) -> sp.Expr:
    """g(λ) = λ − τ Σ_j exp((s_j + λ − τ)/τ)."""
    return level - tau * total(j, stationary(level))


lse = tau * sp.log(partition(s, tau))
best_multiplier = tau - lse


@claim(
    "eot.s6.dual-function",
    "definition",
    title="Lagrangian and dual function, for the one-sided problem",
    needs=("eot.72",),
    latex=r"g(\lambda)=\inf_{p\ge0}\mathcal L(p,\lambda)=\lambda-\tau\sum_je^{(s_j+\lambda-\tau)/\tau}",
)
def dual_function() -> Steps:
    """The dual function is the infimum of the Lagrangian over p; here it is attained, so it is finite for every λ."""
    yield Equation(
        primal(lambda key: stationary(lam, key)) + lam * (1 - total(j, stationary(lam))),
        dual(lam),
        reason="attained at p_j = exp((s_j + λ − τ)/τ)",
    )
    yield AtLeast(
        lagrangian(lam),
        dual(lam),
        because=tau * total(j, kl(q[j], stationary(lam))),
        reason="L(p, λ) − g(λ) = τ Σ kl(p_j ‖ exp((s_j + λ − τ)/τ))",
    )


dual_function.twin(
    "the shift by τ is lost", lambda: AtLeast(lagrangian(lam), lam - tau * total(j, sp.exp((s[j] + lam) / tau)) + tau * m)
)
dual_function.twin("the infimum over normalized p", lambda: AtLeast(lagrangian(lam), -lse))


# ── weak duality ────────────────────────────────────────────────────────────────────────────────────────────────────


def at_feasible(weights: sp.IndexedBase) -> sp.Expr:
    """L at a feasible point, where c_i = −w_i and h_j = 0."""
    return f - total(l, weights[l] * slack[l])


@claim(
    "eot.s6.weak-duality",
    "inequality",
    title="Weak duality: the dual value is a lower bound, always",
    latex=r"\lambda\ge0,\ p\text{ feasible}\implies g(\lambda,\nu)\le\mathcal L(p,\lambda,\nu)\le f(p)",
)
def weak_duality() -> Steps:
    """Without any convexity, no dual value exceeds the objective at a feasible point, so neither do the optimal values."""
    yield AtLeast(f, at_feasible(multiplier), because=total(l, multiplier[l] * slack[l]), reason="λ_i c_i ≤ 0 and ν_j h_j = 0")
    infimum = AtLeast(at_feasible(multiplier), G)
    yield Follows(
        (infimum,),
        AtLeast(f, G),
        (sp.S.One,),
        total(l, multiplier[l] * slack[l]),
        given=(infimum,),
        reason="and g is the infimum of L",
    )


signless = vector("λ", m)
weak_duality.twin("an upper bound", lambda: Follows((AtLeast(at_feasible(multiplier), G),), AtLeast(G, f), (sp.S.One,)))
weak_duality.twin("multipliers of any sign", lambda: Follows((AtLeast(at_feasible(signless), G),), AtLeast(f, G), (sp.S.One,)))


# ── the dual problem ────────────────────────────────────────────────────────────────────────────────────────────────


def mixed(first: sp.Expr, second: sp.Expr) -> sp.Expr:
    """(t first + second)/(1 + t)."""
    return (odds * first + second) / (1 + odds)


def general_lagrangian(weights: sp.IndexedBase, free: sp.IndexedBase) -> sp.Expr:
    """L = f + Σ λ_i c_i + Σ ν_j h_j at some point of the domain."""
    return f + total(l, weights[l] * c[l]) + total(i, free[i] * h[i])


g_too = scalar("G′")
PAIRS = ((multiplier, nu), (multiplier_too, nu_too))
bounds = (AtLeast(general_lagrangian(*PAIRS[0]), G), AtLeast(general_lagrangian(*PAIRS[1]), g_too))


def lagrangian_between() -> sp.Expr:
    """L at the mixture of two pairs of multipliers."""
    return f + total(l, mixed(multiplier[l], multiplier_too[l]) * c[l]) + total(i, mixed(nu[i], nu_too[i]) * h[i])


@claim(
    "eot.s6.dual-concave",
    "inequality",
    title="The dual function is concave, whatever the primal problem",
    latex=r"g(\theta z+(1-\theta)z')\ge\theta g(z)+(1-\theta)g(z'),\ z=(\lambda,\nu)",
)
def dual_concave() -> Steps:
    """At each point the Lagrangian is affine in the multipliers, and an infimum of affine functions is concave."""
    yield Equation(lagrangian_between(), mixed(*[general_lagrangian(*pair) for pair in PAIRS]), reason="affine in (λ, ν)")
    yield Follows(
        bounds,
        AtLeast(lagrangian_between(), mixed(G, g_too)),
        (odds / (1 + odds), 1 / (1 + odds)),
        given=bounds,
        reason="at every point of the domain, so for the infimum too",
    )


dual_concave.twin(
    "convex", lambda: Follows(bounds, AtLeast(mixed(G, g_too), lagrangian_between()), (odds / (1 + odds), 1 / (1 + odds)))
)
UNEQUAL: dict[Variable, Value] = {  # L = 2 and 0 at the two multipliers, weights 1/4 and 3/4
    m: 1,
    n: 1,
    f: 0,
    c.label: [1],
    h.label: [0],
    nu.label: [0],
    nu_too.label: [0],
    multiplier.label: [2],
    multiplier_too.label: [0],
    G: 2,
    g_too: 0,
    odds: sp.Rational(1, 3),
}
dual_concave.twin(
    "weights swapped",
    lambda: Follows(bounds, AtLeast(lagrangian_between(), mixed(g_too, G)), (odds / (1 + odds), 1 / (1 + odds)), at=UNEQUAL),
)


@claim(
    "eot.s6.dual-convex",
    "inequality",
    title="The dual problem is a convex optimization problem",
    latex=r"\max_{\lambda\ge0,\nu}g(\lambda,\nu)=-\min_{\lambda\ge0,\nu}(-g):\ -g,\ \{\lambda\ge0\}\text{ convex}",
    needs=("eot.s6.dual-concave",),
)
def dual_convex() -> Steps:
    """Maximizing a concave function is minimizing a convex one, and the multipliers allowed form a convex set."""
    yield AtLeast(mixed(multiplier[j], multiplier_too[j]), 0, reason="mixtures of λ ≥ 0 and λ′ ≥ 0 are ≥ 0")
    yield Follows(
        bounds,
        AtLeast(mixed(-G, -g_too), -lagrangian_between()),
        (odds / (1 + odds), 1 / (1 + odds)),
        given=bounds,
        reason="−g lies below its chords",
    )


dual_convex.twin(
    "−g is concave",
    lambda: Follows(bounds, AtLeast(-lagrangian_between(), mixed(-G, -g_too)), (odds / (1 + odds), 1 / (1 + odds))),
)
dual_convex.twin(
    "more than convex, by one",
    lambda: Follows(bounds, AtLeast(mixed(-G, -g_too) - 1, -lagrangian_between()), (odds / (1 + odds), 1 / (1 + odds))),
)


# ── strong duality ──────────────────────────────────────────────────────────────────────────────────────────────────

x, y = vector("x", d), vector("y", d)
B, H = vector("B", m, d), vector("H", n, d)
width = scalar("x")
small, rest_of_slope, gradient = positive("t"), scalar("ρ"), vector("D", d)


def stationary_slope(coordinate: sp.Expr) -> sp.Expr:
    """∂f/∂x_r as stationarity wants it: −Σ λ_i ∂c_i/∂x_r − Σ ν_j ∂h_j/∂x_r."""
    return -total(l, multiplier[l] * B[l, coordinate]) - total(i, nu[i] * H[i, coordinate])


def step_along(gradient: sp.Expr) -> sp.Expr:
    """⟨gradient, y − x⟩."""
    return total(r, gradient * (y[r] - x[r]))


convex_objective = AtLeast(f, v + step_along(stationary_slope(r)))
convex_constraints = AtLeast(total(l, multiplier[l] * c[l]), total(l, multiplier[l] * step_along(B[l, r])))


def elsewhere() -> sp.Expr:
    """L at y, where affine constraints are h_j = ⟨H_j, y − x⟩."""
    return f + total(l, multiplier[l] * c[l]) + total(i, nu[i] * step_along(H[i, r]))


def saddle(conclusion: AtLeast, at: dict[Variable, Value] | None = None) -> Follows:
    """The KKT conditions at x applied to another point y, if f and all c_i are convex and all h_j affine."""
    premises = (convex_objective, convex_constraints)
    return Follows(
        premises,
        conclusion,
        (sp.S.One, sp.S.One),
        at=at or {},
        given=premises,
        reason="f(y) ≥ f(x) + ⟨∇f, y − x⟩; λ_i c_i(y) ≥ λ_i⟨∇c_i, y − x⟩, as λ_i c_i(x) = 0; stationarity",
    )


@claim(
    "eot.s6.tight-for-convex",
    "inequality",
    title="For convex problems the bound is tight",
    needs=("eot.s6.weak-duality",),
    hypotheses=(
        "a constraint qualification, which the primer adds where it states strong duality, so that KKT multipliers exist",
    ),
    latex=r"\text{KKT at a feasible } x\implies\mathcal L(y,\lambda,\nu)\ge f(x)\ \forall y,\ \text{so } d^*=f(x)=p^*",
)
def tight_for_convex() -> Steps:
    """A feasible point of a convex problem with KKT multipliers makes the dual value at them equal to its objective."""
    yield saddle(AtLeast(elsewhere(), v))


tight_for_convex.twin("the Lagrangian is below it", lambda: saddle(AtLeast(v, elsewhere())))
AT_X: dict[Variable, Value] = {  # y = x = 0, all gradients 0
    m: 1,
    n: 1,
    d: 1,
    x.label: [0],
    y.label: [0],
    B.label: [[0]],
    H.label: [[0]],
    nu.label: [0],
}
tight_for_convex.twin(
    "more, by one", lambda: saddle(AtLeast(elsewhere(), v + 1), {**AT_X, multiplier.label: [1], f: 0, v: 0, c.label: [0]})
)

inside, outside = positive("a"), positive("b")
f_in, f_out, f_between = scalar("f_y"), scalar("f_x"), scalar("f_z")
c_in, c_out = vector("c_y", m), vector("c_x", m)
between = scalar("w", Nonnegative)
chosen = scalar("λ", Nonnegative)


def at_z(at_x: sp.Expr, at_y: sp.Expr) -> sp.Expr:
    """The chord at z = (a x + b y)/(a + b), where b = c(x) > 0 and −a = c(y) < 0."""
    return (inside * at_x + outside * at_y) / (inside + outside)


def partial_chord() -> Follows:
    """The chord of f + Σ λ_l c_l, with w_l ≥ 0 for what c_l lies below its own chord."""
    chord = AtLeast(at_z(f_out, f_in), f_between)
    value = f_between + total(l, multiplier[l] * (at_z(c_out[l], c_in[l]) - slack[l]))
    ends = at_z(f_out + total(l, multiplier[l] * c_out[l]), f_in + total(l, multiplier[l] * c_in[l]))
    return Follows(
        (chord,),
        AtLeast(ends, value),
        (sp.S.One,),
        total(l, multiplier[l] * slack[l]),
        given=(chord,),
        reason="one constraint c after another: F = f + Σ λ_l c_l over those before it is convex as they are;",
    )


def separation(conclusion: AtLeast, at: dict[Variable, Value] | None = None) -> Follows:
    """Convexity at x with c(x) = b > 0, y with c(y) = −a < 0, and the feasible z = (a x + b y)/(a + b)."""
    chord = AtLeast(at_z(f_out, f_in), f_between)
    weight = (inside + outside) / (inside * outside)
    premises = (chord, AtLeast(f_between, v))
    return Follows(
        premises,
        conclusion,
        (weight, weight),
        at=at or {},
        given=premises,
        reason="as F(z) ≥ v, no ratio outside exceeds one inside, of which Slater's point has one: a λ lies between",
        quotes=(COMPLETENESS,),
    )


def scaled(premise: AtLeast, conclusion: AtLeast, weight: sp.Expr, reason: str) -> Follows:
    """A bound for F + λc with a λ between the ratios."""
    return Follows((premise,), conclusion, (weight,), given=(premise,), reason=reason)


@claim(
    "eot.s6.slater",
    "inequality",
    title="Under Slater's condition the duality gap is zero",
    needs=("eot.s6.weak-duality",),
    hypotheses=("convex problem", "a strictly feasible point inside the domain", "finite optimal value v"),
    latex=r"\sup_{c(x)>0}\frac{v-F(x)}{c(x)}\le\lambda\le\inf_{c(y)<0}\frac{F(y)-v}{-c(y)}\implies F+\lambda c\ge v;\quad"
    r"\text{at last } g(\lambda)=v",
)
def slater() -> Steps:
    """Multipliers are found one by one; each keeps F + λc ≥ v wherever the constraints that are left hold, so at last g = v."""
    yield partial_chord()
    yield AtLeast(
        0,
        at_z(outside, -inside) - between,
        because=between,
        reason="c(z) ≤ 0 and with two points the others that are left hold at z too, so F(z) ≥ v;",
    )
    yield separation(AtLeast((f_in - v) / inside, (v - f_out) / outside))
    better = AtLeast(f_in, v)
    yield scaled(
        better,
        AtLeast((f_in - v) / inside, 0),
        1 / inside,
        "a λ ≥ 0, since F ≥ v where c < 0 (of an affine h = 0 the multiplier may have either sign);",
    )
    yield scaled(AtLeast((f_in - v) / inside, chosen), AtLeast(f_in - chosen * inside, v), inside, "with it F + λc ≥ v inside,")
    yield scaled(
        AtLeast(chosen, (v - f_out) / outside),
        AtLeast(f_out + chosen * outside, v),
        outside,
        "and outside; the next c with F + λc for F; after the last one L ≥ v everywhere, so g ≥ v ≥ g by weak duality",
    )


slater.twin("the other way round", lambda: separation(AtLeast((v - f_out) / outside, (f_in - v) / inside)))
slater.twin(
    "the distances are swapped",
    lambda: separation(
        AtLeast((f_in - v) / outside, (v - f_out) / inside), {inside: 1, outside: 3, f_in: 1, f_out: -3, f_between: 0, v: 0}
    ),
)


@claim(
    "eot.s6.strong-duality",
    "optimality",
    title="Strong duality for the one-sided problem",
    hypotheses=("τ > 0",),
    latex=r"\max_\lambda g(\lambda)=\min_{p\in\Delta^{m-1}}J(p,s)",
    needs=("eot.s6.dual-function", "eot.s3.strictly-convex"),
)
def strong_duality() -> Steps:
    """The problem is convex with the strictly positive uniform plan, and its dual value is its primal value."""
    yield AtLeast(1 / m, 0, strict=True, about=(s[j],), reason="Slater: 1/m > 0 for every key, and", quotes=(SLATER,))
    yield Equation(total(j, 1 / m), 1, about=(s[j],), reason="the only other constraint is affine", quotes=(SLATER,))
    yield AtLeast(-lse, dual(lam), because=tau * kl(1, total(j, stationary(lam))), reason="no λ does better than −τ log Z")
    yield Equation(V, -lse, reason="which is the primal value")
    yield Equation(dual(best_multiplier), V, reason="attained at λ* = τ − τ log Z: no gap")


strong_duality.twin("the negative of the primal value", lambda: Equation(dual(best_multiplier), -V))
strong_duality.twin("a gap of τ", lambda: Equation(dual(best_multiplier), V - tau))


# ── the Karush-Kuhn-Tucker conditions ───────────────────────────────────────────────────────────────────────────────


ATTAINED: dict[Variable, Value] = {  # L(p*) = g = f(p*): each λ_i or w_i is 0
    m: 2,
    f: 1,
    G: 1,
    multiplier.label: [2, 0],
    slack.label: [0, 3],
}


def no_gap(conclusion: AtLeast, spare: sp.Expr, at: dict[Variable, Value] | None = None) -> Follows:
    """The consequence of L(p*) ≥ g(λ*, ν*) and d* = g(λ*, ν*) ≥ f(p*), with λ* ≥ 0 and p* feasible."""
    premises = (AtLeast(at_feasible(multiplier), G), AtLeast(G, f))
    return Follows(
        premises,
        conclusion,
        (sp.S.One, sp.S.One),
        spare,
        at=at or ATTAINED,
        given=premises,
        reason="so Σ λ_i w_i ≤ 0, and each of its terms is ≥ 0",
    )


@claim(
    "eot.s6.kkt-necessary",
    "equivalence",
    title="Optimal pairs satisfy the KKT conditions",
    hypotheses=("strong duality, attained", "a differentiable problem, which by convention has an open domain"),
    latex=r"d^*=p^*\implies\nabla_p\mathcal L=0,\ c\le0,\ h=0,\ \lambda\ge0,\ \lambda_ic_i=0",
    needs=("eot.s6.weak-duality",),
)
def kkt_necessary() -> Steps:
    """Without a gap, every λ_i c_i vanishes and p* minimizes the Lagrangian, so that its gradient is zero there."""
    anywhere, best = scalar("L_y"), at_feasible(multiplier)
    least = (AtLeast(anywhere, G), AtLeast(G, f))
    yield Follows(
        least,
        AtLeast(anywhere, best),
        (sp.S.One, sp.S.One),
        given=least,
        slack=total(l, multiplier[l] * slack[l]),
        reason="L(y) ≥ g = f(p*) ≥ L(p*): p* minimizes L;",
    )
    squared = total(r, gradient[r] ** 2)
    downhill = AtLeast(best - small * squared + small * rest_of_slope, best)
    yield Follows(
        (downhill,),
        AtLeast(rest_of_slope, squared),
        (1 / small,),
        given=(downhill,),
        quotes=(SQUEEZE,),
        reason="so it does at p* − t∇L, where L = L(p*) − t‖∇L‖² + t ρ with ρ → 0: ‖∇L‖² ≤ ρ → 0, stationarity;",
    )
    others = total(l, multiplier[l] * slack[l] * (1 - sp.KroneckerDelta(l, j)))
    yield no_gap(AtLeast(0, multiplier[j] * slack[j]), others)


NO_GAP: dict[Variable, Value] = {m: 2, f: 0, G: 0, j: 1}
kkt_necessary.twin(
    "the multipliers vanish",
    lambda: no_gap(AtLeast(0, multiplier[j]), sp.S.Zero, {**NO_GAP, multiplier.label: [1, 0], slack.label: [0, 1]}),
)
kkt_necessary.twin(
    "every constraint is active",
    lambda: no_gap(AtLeast(0, slack[j]), sp.S.Zero, {**NO_GAP, multiplier.label: [0, 1], slack.label: [1, 0]}),
)

double_well = (width**2 - 1) ** 2


@claim(
    "eot.s6.kkt-complete",
    "equivalence",
    title="The KKT conditions characterize optimality",
    needs=("eot.s6.kkt-necessary",),
    latex=r"\text{differentiable},\ d^*=p^*:\quad\text{KKT}\iff\text{optimal}",
)
def kkt_complete() -> Steps:
    """For differentiable problems with strong duality the conditions are called a complete characterization of optimality."""
    yield Equation(
        derivative(double_well, width),
        4 * width * (width**2 - 1),
        reason="minimize (x² − 1)² without constraints: g = inf f, no gap, and KKT is f′ = 0, true at x = 0",
    )
    yield Fails(AtLeast(double_well, double_well.xreplace({width: sp.S.Zero}), at={width: 1}), reason="but f(1) = 0 < 1 = f(0)")


@kkt_complete.corrected(
    r"f,c_i\text{ convex},\ h_j\text{ affine}:\ \text{KKT at } x\implies f(y)\ge f(x)\ "
    r"\text{for feasible } y",
    Severity.HYPOTHESIS,
    under="the problem is convex (f and c_i convex, h_j affine)",
    replaces="the half of the equivalence that leads from KKT to optimality",
)
def kkt_sufficient() -> Steps:
    """In a convex problem a feasible point that satisfies the conditions is optimal."""
    yield optimal_if(AtLeast(f, v), multiplier)


def optimal_if(conclusion: AtLeast, weights: sp.IndexedBase, at: dict[Variable, Value] | None = None) -> Follows:
    """The KKT conditions at x applied to a feasible y, where c_i = −w_i and h_j = ⟨H_j, y − x⟩ = 0."""
    forces = total(l, weights[l] * step_along(B[l, r]))
    tensions = total(i, nu[i] * step_along(H[i, r]))
    premises = (AtLeast(f, v - forces - tensions), AtLeast(-total(l, weights[l] * slack[l]), forces), AtLeast(0, tensions))
    return Follows(
        premises,
        conclusion,
        (sp.S.One,) * 3,
        total(l, weights[l] * slack[l]),
        at=at or {},
        given=premises,
        reason="f(y) ≥ f(x) + ⟨∇f, y − x⟩ with stationarity; λ_i c_i(y) ≥ λ_i⟨∇c_i, y − x⟩; λ_i c_i(y) ≤ 0",
    )


kkt_complete.twin(
    "a maximum", lambda: optimal_if(AtLeast(v, f), multiplier, {**AT_X, multiplier.label: [1], f: 1, v: 0, slack.label: [0]})
)
kkt_complete.twin(
    "multipliers of any sign",
    lambda: optimal_if(
        AtLeast(f, v), signless, {**AT_X, signless.label: [-1], slack.label: [1], B.label: [[-1]], y.label: [1], f: -1, v: 0}
    ),
)
