"""Section 9, second half: which templates get weight, and the costs of the examples.

Claims     deciphering.s9.all-templates     p*(t) > 0 for every t in 𝒜, with costs in ℝ₊
           deciphering.s9.group-costs       t in 𝒢, 𝒢 with a template of the input  ⟹  p*(t) > 0
           deciphering.s9.group-sharing     ⟨t, z⟩ equal for all t in 𝒢  ⟹  p*(t) = u_i/|𝒢|
           deciphering.s9.shares-weight     x(t|t_i)/x(t_i|t_i) = exp((α⟨t − t_i, z⟩ − M(t, t_i) + M(t_i, t_i))/γ)
           deciphering.s9.experiment-cost   M(a, b) = C − aᵀb, ‖t'‖ ≤ ‖t‖, t' ≠ t  ⟹  M(t, t) < M(t', t)
Notation   N templates in 𝒜, n of them in the input, with u_l > 0; K_il = M(t_i, t_l) the costs between the two; y_i = ⟨t_i, z⟩;
           G = |𝒢| the size of a group, s_k the inner products in it, m a common one, v the weight u_i of the
           input's only member of 𝒢; Q[j, i] ∝ exp(−M_ij/γ), which is 0 for an infinite cost
References Section 9 of the document, from (25) on
"""

import sympy as sp

from derivations.documents.deciphering import notation
from derivations.documents.deciphering.notation import alpha, b, d, n, z
from derivations.documents.deciphering.notation_transport import (
    FOOTNOTE,
    STRICT,
    M,
    N,
    Q,
    T,
    first_order,
    gamma,
    i,
    j,
    k,
    reweighted,
    scores,
    u,
    weights,
)
from derivations.documents.deciphering.notation_transport import conditional as conditional_of
from derivations.vocabulary import *

source, other = index("l", n), index("h", N)
K, y, prior = vector("K", N, n, kind=Nonnegative), vector("y", N), notation.u
G = size("G")
inside, member = index("g", G), index("k", G)
s, level, v = vector("s", G), scalar("m"), positive("v")
own, group, rest, arriving, kappa = positive("own"), positive("group"), positive("rest"), positive("c"), positive("κ")
C = scalar("C")
FINITE = "the costs are in ℝ₊, so finite"


def share(template: sp.Expr, of: sp.Expr, strength: sp.Expr = alpha, scale: sp.Expr = gamma) -> sp.Expr:
    """The share of u_l that t_i gets: exp((αy_i − M_il)/γ)/Z_l."""

    def raw(to: sp.Expr) -> sp.Expr:
        return sp.exp((strength * y[to] - K[to, of]) / scale)

    return raw(template) / total(other, raw(other))


def weight(template: sp.Expr) -> sp.Expr:
    """(25): Σ_l u_l exp((αy_i − M_il)/γ)/Z_l."""
    return total(source, prior[source] * share(template, source))


# ── which templates get weight ──────────────────────────────────────────────────────────────────────────────────────


@claim(
    "deciphering.s9.all-templates",
    "inequality",
    title="OT-based attention gives weight to all templates",
    needs=("deciphering.25",),
    latex=r"p^*(t)>0\text{ for all }t\in\mathcal A",
    hypotheses=(FINITE,),
)
def all_templates() -> Steps:
    """Every template of 𝒜 has a positive weight, in the input or not, for costs in ℝ₊."""
    yield positive_weight(sp.S.Zero)


def positive_weight(right: sp.Expr) -> AtLeast:
    """p(t_i) > right."""
    return AtLeast(weight(i), right, strict=True, reason="a sum of positive terms")


all_templates.twin("as much as any other template", lambda: AtLeast(weight(i), weight(other)))
all_templates.twin(
    "as much as the exponentials without Z",
    lambda: positive_weight(total(source, prior[source] * sp.exp((alpha * y[i] - K[i, source]) / gamma))),
)

apart = index("k", N, other_than=(j,))


@claim(
    "deciphering.s9.group-costs",
    "inequality",
    title="The groups show how all templates get weight",
    needs=("deciphering.s9.all-templates", "deciphering.fn11"),
    hypotheses=(STRICT, "M = 0 within a group, ∞ across"),
    latex=r"M=0\text{ within groups},\ \infty\text{ across}\implies p^*(t)>0\text{ for all }t\in\mathcal A",
)
def group_costs() -> Steps:
    """Groups with costs 0 inside and ∞ across are given as an extreme case of how all templates get weight."""
    yield Fails(
        AtLeast(M[apart, j], M[j, j], strict=True, at={N: 2, M.label: [[0, 0], [0, 0]], j: 1, apart: 2}),
        reason="two templates of a group: footnote 11 asks for M(t, t) < M(t', t)",
    )
    yield Limit(sp.exp(-positive("M") / gamma), positive("M"), sp.oo, sp.S.Zero, reason="∞ is not in ℝ₊ and gives no weight")
    yield Fails(
        AtLeast(
            weights(reweighted(scores(first_order)))(i),
            0,
            strict=True,
            at={
                N: 2,
                d: 1,
                u.label: [1, 0],
                Q.label: [[1, 0], [0, 1]],
                T.label: [[0], [0]],
                z.label: [0],
                alpha: 1,
                gamma: 1,
                i: 2,
            },
        ),
        reason="two groups of one template each, one of them in the input: the other one gets no weight",
    )


@group_costs.corrected(
    r"t\in\mathcal G,\ \mathcal G\text{ has a template of the input}\implies p^*(t)>0",
    Severity.HYPOTHESIS,
    under="every group has a template of the input, and costs of ∞ and ties with M(t, t) are allowed",
    replaces="all t in 𝒜",
)
def group_with_member() -> Steps:
    """In the extreme case the templates of the groups that occur in the input get weight, all of them, and no others."""
    yield reached(sp.S.Zero)


def reached(right: sp.Expr) -> AtLeast:
    """The weight of a member of a group with a template of the input."""
    return AtLeast(in_group(s), right, strict=True, reason="v > 0 is shared among all of them")


def in_group(inner: Entry) -> sp.Expr:
    """(25) for a member of 𝒢, where exp(−M/γ) is 1 inside and 0 across: v exp(αs/γ)/Σ_𝒢 exp(αs/γ)."""
    return v * sp.exp(alpha * inner(inside) / gamma) / total(member, sp.exp(alpha * inner(member) / gamma))


group_costs.twin("more than half of the input's", lambda: reached(v / 2))
group_costs.twin("all of the input's", lambda: reached(v))


def equal_products(right: sp.Expr) -> Equation:
    """The weight in a group whose inner products with z are all the same."""
    return Equation(in_group(lambda of: level), right, reason="Σ over 𝒢 of a constant")


@claim(
    "deciphering.s9.group-sharing",
    "identity",
    title="A group shares the weight of its member equally",
    needs=("deciphering.25",),
    hypotheses=("M = 0 within a group, ∞ across", "one t_i of the input lies in 𝒢"),
    latex=r"p^*(t)=u_i/|\mathcal G|\text{ for all }t\in\mathcal G",
)
def group_sharing() -> Steps:
    """Templates whose inner products with z are approximately equal are said to get exactly the same weight."""
    yield Limit(
        own / (group + kappa * rest) + kappa * arriving,
        kappa,
        sp.S.Zero,
        own / group,
        reason="κ = exp(−M/γ) across groups: (25) as M → ∞, where nothing leaves or enters 𝒢",
    )
    yield Fails(
        Equation(in_group(s), v / G, at={G: 2, s.label: [0, sp.Rational(1, 10)], v: 1, alpha: 1, gamma: 1, inside: 1}),
        reason="with products 0 and 1/10 the shares are 0.475 and 0.525",
    )


@group_sharing.corrected(
    r"\langle t,z\rangle=s\ (t\in\mathcal G)\implies p^*(t)=u_i/|\mathcal G|",
    Severity.HYPOTHESIS,
    under="the inner products with z are equal within the group, not only approximately",
    replaces="inner products that are approximately equal",
)
def equal_sharing() -> Steps:
    """With equal inner products the shares are equal; in general two of them differ by the factor exp(α(s_k − s_l)/γ)."""
    first, second = in_group(s), in_group(s).xreplace({inside: index("h", G)})
    yield Equation(
        first / second,
        sp.exp(alpha * (s[inside] - s[index("h", G)]) / gamma),
        reason="so approximately equal products give approximately equal shares",
    )
    yield equal_products(v / G)


group_sharing.twin("each gets all of it", lambda: equal_products(v))
group_sharing.twin("the own template gets one share more", lambda: equal_products(v / (G + 1)))


@claim(
    "deciphering.s9.shares-weight",
    "identity",
    title="Similar templates share weight",
    needs=("deciphering.25",),
    latex=r"\frac{x(i|l)}{x(h|l)}=\exp\frac{\alpha(s_i-s_h)-(M_{il}-M_{hl})}\gamma,\quad x(i|l)>0",
)
def shares_weight() -> Steps:
    """A template outside of the input gets a share of t_i's weight, the more the smaller its cost; how much, depends on γ."""
    yield AtLeast(share(i, source), 0, strict=True, reason="every template gets a share, in the input or not")
    yield Limit(
        sp.exp((gain - cost) / gamma),
        cost,
        sp.S.Zero,
        sp.exp(gain / gamma),
        reason="as M(t, t_i) − M(t_i, t_i) → 0 the ratio of the shares is that of the products with z, for each γ",
    )
    yield ratio((alpha * (y[i] - y[other]) - (K[i, source] - K[other, source])) / gamma)


gain, cost = scalar("w"), positive("δ")


def ratio(exponent: sp.Expr) -> Equation:
    """The shares of t_i and t_h in u_l."""
    return Equation(share(i, source) / share(other, source), sp.exp(exponent), reason="Z_l cancels")


shares_weight.twin(
    "dissimilar templates get more", lambda: ratio((alpha * (y[i] - y[other]) + (K[i, source] - K[other, source])) / gamma)
)
shares_weight.twin("the cost alone counts", lambda: ratio(-(K[i, source] - K[other, source]) / gamma))

sparse = simplex("u", N)
elsewhere = complementary("o", sparse)


def regular(template: sp.Expr) -> sp.Expr:
    """(18): u_i exp(αy_i)/Σ_k u_k exp(αy_k), where u is zero outside the input."""
    return sparse[template] * sp.exp(alpha * y[template]) / total(k, sparse[k] * sp.exp(alpha * y[k]))


def outside(right: sp.Expr) -> Equation:
    """Any nonnegative combination o of weights outside the input (o_i > 0 only where u_i = 0)."""
    return Equation(total(i, elsewhere[i] * regular(i)), right, reason="u_i is a factor of the weight")


@claim(
    "deciphering.s9.regular-attention",
    "identity",
    title="Regular attention gives weight to the input's templates only",
    needs=("deciphering.18",),
    latex=r"o_iu_i=0\implies\textstyle\sum_io_ip_i=0",
)
def regular_attention() -> Steps:
    """The weights of generalized attention vanish wherever the preference does."""
    yield outside(sp.S.Zero)


regular_attention.twin("a share without preference", lambda: outside(total(i, elsewhere[i]) / N))
regular_attention.twin(
    "as OT-based attention does",
    lambda: outside(total(i, elsewhere[i] * weights(conditional_of(lambda of: alpha * y[of], M))(i))),
)


def averaged(exponent: sp.Expr) -> Equation:
    """p*(t_i) as an average, with weights that make up p*(t_h), of exp(exponent)."""
    return Equation(
        weight(i),
        total(source, prior[source] * share(other, source) * sp.exp(exponent)),
        reason="x(t_i | t_l) = x(t_h | t_l) exp(…)",
    )


@claim(
    "deciphering.s9.synonyms",
    "identity",
    title="Synonyms should get similar weights",
    hypotheses=(FOOTNOTE, STRICT, FINITE),
    needs=("deciphering.25", "deciphering.s9.shares-weight"),
    latex=r"p^*_i=\sum_lu_l\,x(h|l)\exp\frac{\alpha(s_i-s_h)-(M_{il}-M_{hl})}\gamma",
)
def synonyms() -> Steps:
    """Synonyms should have similar weights: they do as far as their costs from the input and their products with z are alike.

    One weight is the other's parts, each times an exponential, so the log-ratio is at most the largest exponent.
    """
    yield averaged((alpha * (y[i] - y[other]) - (K[i, source] - K[other, source])) / gamma)


synonyms.twin("the cost's sign", lambda: averaged((alpha * (y[i] - y[other]) + (K[i, source] - K[other, source])) / gamma))
synonyms.twin("the cost alone counts", lambda: averaged(-(K[i, source] - K[other, source]) / gamma))


# ── the costs of the experiment ─────────────────────────────────────────────────────────────────────────────────────


def product(first: sp.Expr, second: sp.Expr) -> sp.Expr:
    """⟨t_i, t_j⟩."""
    return total(b, T[first, b] * T[second, b])


def inner_cost(first: sp.Expr, second: sp.Expr) -> sp.Expr:
    """M(a, b) = −⟨a, b⟩ + C."""
    return -product(first, second) + C


def bounded(right: sp.Expr) -> Follows:
    """The consequence for the cost if C bounds the inner products, here of t_i and of t_j with itself."""
    bounds, apart = (AtLeast(C, product(i, i)), AtLeast(C, product(j, j))), total(b, (T[i, b] - T[j, b]) ** 2)
    return Follows(
        bounds,
        AtLeast(inner_cost(i, j), right),
        (sp.S.Half, sp.S.Half),
        apart / 2,
        given=bounds,
        at={N: 2, d: 1, T.label: [[0], [1]], C: 1},
        reason="⟨t_i, t_j⟩ ≤ (‖t_i‖² + ‖t_j‖²)/2 ≤ C",
    )


@claim(
    "deciphering.s9.nonnegative-cost",
    "inequality",
    title="C makes the experiment's cost nonnegative",
    latex=r"C\ge\|t\|^2,\ C\ge\|t'\|^2\implies M(t,t')=-t^\top t'+C\ge0",
)
def nonnegative_cost() -> Steps:
    """With C an upper bound of all inner products the cost is nonnegative; the weights (25) do not depend on C at all."""
    shifted = weights(conditional_of(scores(lambda e: alpha * z[e]), lambda to, of: inner_cost(to, of) + C))
    yield Equation(
        shifted(i),
        weights(conditional_of(scores(lambda e: alpha * z[e]), inner_cost))(i),
        reason="a number added to all costs cancels",
    )
    yield bounded(sp.S.Zero)


nonnegative_cost.twin("at least one", lambda: bounded(sp.S.One))
nonnegative_cost.twin("at least C", lambda: bounded(C))


def excess(first: sp.Expr, second: sp.Expr) -> sp.Expr:
    """M(t', t) − M(t, t)."""
    return inner_cost(first, second) - inner_cost(second, second)


@claim(
    "deciphering.s9.experiment-cost",
    "inequality",
    title="The experiment's cost is one of footnote 11's",
    needs=("deciphering.fn11", "deciphering.s9.nonnegative-cost"),
    latex=r"M(t,t')=-t^\top t'+C\implies M(t,t)<M(t',t)\text{ for all }t'\ne t",
)
def experiment_cost() -> Steps:
    """The experiment's cost is used as one of those that the discussion assumes, cheapest on the diagonal."""
    stays = conditional_of(lambda to: sp.S.Zero, inner_cost)(j, j)
    yield Fails(
        Limit(stays, gamma, sp.S.Zero, sp.S.One, at={N: 2, d: 1, T.label: [[1], [2]], C: 4, j: 1}),
        reason="for t = 1, t' = 2 all of u(t) goes to t' as γ → 0: then ũ does not tend to u",
    )
    yield Fails(
        AtLeast(
            inner_cost(apart, j), inner_cost(j, j), strict=True, at={N: 2, d: 1, T.label: [[1], [2]], C: 4, j: 1, apart: 2}
        ),
        reason="t = 1, t' = 2: a longer vector in the same direction costs less than t itself, and takes its weight",
    )


@experiment_cost.corrected(
    r"\|t'\|\le\|t\|,\ t'\ne t\implies M(t,t)<M(t',t)",
    Severity.HYPOTHESIS,
    under="all templates have the same norm (or none is longer than another), and no two coincide",
    replaces="the hypothesis t' ≠ t",
)
def experiment_cost_on_a_sphere() -> Steps:
    """M(t', t) − M(t, t) is half the squared distance plus half of ‖t‖² − ‖t'‖², so it is positive for equal norms."""
    distance = total(b, (T[k, b] - T[j, b]) ** 2)
    yield Equation(excess(k, j), distance / 2 + (product(j, j) - product(k, k)) / 2, reason="the law of cosines")
    yield on_a_sphere(inner_cost(j, j))


def on_a_sphere(right: sp.Expr, at: dict[Variable, Value] | None = None) -> Follows:
    """The consequence if t' is not longer than t and different from it."""
    distance = total(b, (T[k, b] - T[j, b]) ** 2)
    premises = AtLeast(product(j, j), product(k, k)), AtLeast(distance, 0, strict=True)
    return Follows(
        premises,
        AtLeast(inner_cost(k, j), right, strict=True),
        (sp.S.Half, sp.S.Half),
        given=premises,
        at=at or {},
        reason="half of each",
    )


experiment_cost.twin(
    "by one at least", lambda: on_a_sphere(inner_cost(j, j) + 1, {N: 2, d: 1, T.label: [[sp.S.Half], [-sp.S.Half]], j: 1, k: 2})
)
experiment_cost.twin("by the squared distance", lambda: on_a_sphere(inner_cost(j, j) + total(b, (T[k, b] - T[j, b]) ** 2)))


def rescaled(strength: sp.Expr, scale: sp.Expr, costs: sp.Expr) -> Equation:
    """(25) for α = 1, γ = √d and the cost −⟨a, b⟩ against other parameters, with `costs` times that cost."""

    def form(power: sp.Expr, below: sp.Expr, factor: sp.Expr) -> sp.Expr:
        cost = conditional_of(scores(lambda e: power * z[e]), lambda to, of: -factor * product(to, of))
        return weights(cost)(i).xreplace({gamma: below})

    root = sp.sqrt(d)
    return Equation(form(sp.S.One, root, sp.S.One), form(strength, scale, costs), reason="only α/γ and M/γ enter")


@claim(
    "deciphering.s9.experiment-scale",
    "identity",
    title="α = 1 and γ = √d",
    needs=("deciphering.25",),
    latex=r"\alpha=1,\ \gamma=\sqrt{\text{hidden dim.}}",
)
def experiment_scale() -> Steps:
    """α = 1 is not small, but only α/γ and M/γ matter: the weights are those of α = 1/√d, γ = 1 and M/√d."""
    yield rescaled(1 / sp.sqrt(d), sp.S.One, 1 / sp.sqrt(d))


experiment_scale.twin("M is not rescaled", lambda: rescaled(1 / sp.sqrt(d), sp.S.One, sp.S.One))
experiment_scale.twin("α is not rescaled", lambda: rescaled(sp.S.One, sp.S.One, 1 / sp.sqrt(d)))
