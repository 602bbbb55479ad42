"""Section 4.2: sparsemax from the squared Euclidean norm, with its multipliers line by line.

Claims     eot.prop4.2               argmin −⟨p, s⟩ + ½‖p‖² has p*_j = (s_j − θ)₊, and no other point is one
           eot.20                    −⟨p, s⟩ + ½‖p‖² = ½‖p − s‖² − ½‖s‖²
           eot.s4.threshold          exactly one θ gives Σ_j (s_j − θ)₊ = 1, and θ = −λ
           eot.s4.sparsemax-sparse   p*_k > 0  ⟹  s_j − s_k < 1 for every j; a zero is not certain  (corrected)
           eot.s4.tab1-sparsemax     p*_j = (1 − Σ_l (s_l − s_j))/m > 0 for all j where every sum is < 1  (corrected)
Notation   L(p, λ, μ) = −⟨p, s⟩ + ½‖p‖² + λ(1 − Σ p) − Σ μ p; θ = −λ the threshold (printed τ); p, μ complementary, and
           s = θ1 + p − μ any scores; v a vector > 0, not yet normalized; nu any multipliers ≥ 0
References Proposition 4.2 of the document and its proof; Martins and Astudillo (2016)
"""

import sympy as sp

from derivations.documents.eot.notation import j, k, l, lam, m, s, softmax
from derivations.documents.eot.regularizers import (
    every_score,
    falling_terms,
    half_square,
    mu,
    others,
    p,
    quadratic_scores,
    sparsemax,
    theta,
    unspent,
    variational,
)
from derivations.vocabulary import *

v, nu = vector("v", m, kind=Positive), vector("nu", m, kind=Nonnegative)
two = sp.Integer(2)


def solves(candidate: Entry, scores: Entry = quadratic_scores) -> UniqueMinimum:
    """The candidate is the only minimizer of −⟨p, s⟩ + ½‖p‖²."""
    return UniqueMinimum(
        variational(scores, half_square), candidate, m, sp.S.One, two, unspent, reason="J(q) − J(p*) = ½‖q − p*‖² + Σ_j μ_j q_j"
    )


@claim(
    "eot.prop4.2",
    "optimality",
    title="Sparsemax from the squared norm",
    needs=("eot.19", "eot.s4.threshold"),
    latex=r"\Omega=\tfrac12\|p\|_2^2\implies p^\star_j=(s_j-\theta)_+",
)
def sparsemax_from_norm() -> Steps:
    """With half the squared norm as regularizer the only solution is sparsemax, for any scores."""
    yield at_least_one(s)
    yield from falling_terms()  # one root θ
    yield from every_score()
    yield solves(sparsemax(quadratic_scores, theta))


sparsemax_from_norm.twin("softmax", lambda: solves(softmax(quadratic_scores, sp.S.One)))
sparsemax_from_norm.twin("no positive part", lambda: solves(lambda key: quadratic_scores(key) - theta))
sparsemax_from_norm.twin("its square", lambda: solves(lambda key: plus(quadratic_scores(key) - theta) ** 2))


def squared_distance(weight: sp.Expr, sign: int) -> sp.Expr:
    """A multiple of ‖v − s‖² less that of ‖s‖², or of ‖v + s‖²."""
    return weight * (total(j, (v[j] - sign * s[j]) ** 2) - total(j, s[j] ** 2))


@claim(
    "eot.20",
    "identity",
    title="The program is a projection",
    needs=("eot.19",),
    latex=r"-p^\top s+\tfrac12\textstyle\sum_j p_j^2 = \tfrac12\|p-s\|^2-\tfrac12\|s\|^2",
)
def projection() -> Steps:
    """Up to a constant the objective is half the squared distance to the scores: its minimum is the projection of s."""
    yield Equation(variational(s, half_square)(v), squared_distance(sp.Rational(1, 2), 1), reason="the square, opened")


projection.twin(
    "the projection of −s", lambda: Equation(variational(s, half_square)(v), squared_distance(sp.Rational(1, 2), -1))
)
projection.twin("twice the objective", lambda: Equation(variational(s, half_square)(v), squared_distance(sp.S.One, 1)))


# ── the Lagrangian ──────────────────────────────────────────────────────────────────────────────────────────────────


def lagrangian() -> sp.Expr:
    """J(v) + λ(1 − Σ v) − Σ ν v, from the definition of J."""
    return variational(s, half_square)(v) + lam * (1 - total(j, v[j])) - total(j, nu[j] * v[j])


def written_out(level: sp.Expr, sign: int) -> sp.Expr:
    """−Σ v s + ½ Σ v² + λ(1 − Σ v) ∓ Σ ν v, collected in one sum and λ."""
    return level + total(j, v[j] ** 2 / 2 - (s[j] + level + sign * nu[j]) * v[j])


@claim(
    "eot.21",
    "identity",
    title="The Lagrangian with multipliers for p ≥ 0",
    needs=("eot.20",),
    latex=r"\mathcal L = -\sum_jp_js_j+\tfrac12\sum_jp_j^2+\lambda(1-\sum_jp_j)-\sum_j\mu_jp_j",
    hypotheses=("μ ≥ 0",),
)
def lagrange_function() -> Steps:
    """Objective, plus λ times the residual of the sum, minus μ times p: on the simplex never above the objective."""
    q = simplex("q", m)
    on_simplex = lam * (1 - total(j, q[j])) - total(j, nu[j] * q[j])
    yield AtLeast(0, on_simplex, because=total(j, nu[j] * q[j]), reason="the signs of a lower bound for a minimum")
    yield Equation(lagrangian(), written_out(lam, 1), reason="½‖p‖² = ½ Σ p², and all sums run over the same keys")


lagrange_function.twin("λ has the other sign", lambda: Equation(lagrangian(), written_out(-lam, 1)))
lagrange_function.twin("μ has the other sign", lambda: Equation(lagrangian(), written_out(lam, -1)))


def slope() -> sp.Expr:
    """∂L/∂p_j, differentiated from the whole Lagrangian."""
    return derivative(lagrangian(), v[j])


@claim("eot.22", "identity", title="Stationarity", needs=("eot.21",), latex=r"-s_j+p_j-\lambda-\mu_j = 0")
def stationary() -> Steps:
    """The slope of the Lagrangian is −s_j + p_j − λ − μ_j, and it vanishes at the solution."""
    yield Equation(-quadratic_scores(j) + sparsemax(quadratic_scores, theta)(j) + theta - mu[j], 0, reason="at p*, with λ = −θ")
    yield Equation(slope(), -s[j] + v[j] - lam - nu[j], reason="δ-sums collapse")


stationary.twin("λ has the other sign", lambda: Equation(slope(), -s[j] + v[j] + lam - nu[j]))
stationary.twin("μ has the other sign", lambda: Equation(slope(), -s[j] + v[j] - lam + nu[j]))


@claim("eot.23", "equivalence", title="Stationarity solved for p", needs=("eot.22",), latex=r"p_j = s_j+\lambda+\mu_j")
def solved() -> Steps:
    """The Lagrangian is stationary in p_j exactly when p_j is the score plus both multipliers."""
    yield Equation(slope(), v[j] - (s[j] + lam + nu[j]), reason="terms moved across")


solved.twin("μ has the other sign", lambda: Equation(slope(), v[j] - (s[j] + lam - nu[j])))
solved.twin("λ has the other sign", lambda: Equation(slope(), v[j] - (s[j] - lam + nu[j])))


def any_scores(key: sp.Expr) -> sp.Expr:
    """s_j = p_j − μ_j − λ, any scores, in the multiplier."""
    return p[key] - mu[key] - lam


@claim(
    "eot.s4.complementary-slackness",
    "equivalence",
    title="Complementary slackness in both cases",
    needs=("eot.23",),
    latex=r"p_j>0\implies p_j=s_j+\lambda,\qquad p_j=0\implies s_j+\lambda\le 0",
)
def complementary_slackness() -> Steps:
    """Where the weight is positive it is s_j + λ, and where it is 0 that number is −μ_j ≤ 0."""
    yield Equation(p[j] * (any_scores(j) + lam), p[j] ** 2, reason="p_j μ_j = 0: p_j = s_j + λ wherever p_j > 0")
    yield AtLeast(p[j], any_scores(j) + lam, because=mu[j], reason="p_j = s_j + λ + μ_j: s_j + λ ≤ 0 where p_j = 0")


complementary_slackness.twin("the inequality is reversed", lambda: AtLeast(p[j], p[j] + mu[j]))
complementary_slackness.twin("p_j is below half of it", lambda: AtLeast(p[j], 2 * (any_scores(j) + lam)))


@claim(
    "eot.24",
    "optimality",
    title="The solution is a positive part",
    needs=("eot.s4.complementary-slackness",),
    latex=r"p_j = \max(0, s_j+\lambda)",
)
def positive_part() -> Steps:
    """The solution is the positive part of the shifted scores, one shift for all keys."""
    yield solves(sparsemax(any_scores, -lam), any_scores)
    yield Equation(p[j], plus(any_scores(j) + lam), reason="s_j + λ = p_j − μ_j with p_j μ_j = 0")


positive_part.twin("λ has the other sign", lambda: Equation(p[j], plus(any_scores(j) - lam)))
positive_part.twin("no positive part", lambda: Equation(p[j], any_scores(j) + lam))


# ── the threshold ───────────────────────────────────────────────────────────────────────────────────────────────────


def spent(scores: Entry, threshold: sp.Expr) -> sp.Expr:
    """Σ_j (s_j − θ)₊."""
    return total(j, plus(scores(j) - threshold))


def at_least_one(scores: Entry) -> AtLeast:
    """The sum is at least 1 if the threshold lies 1 below a score."""
    rest = total(j, (1 - sp.KroneckerDelta(j, k)) * plus(scores(j) - scores(k) + 1))
    return AtLeast(spent(scores, scores(k) - 1), 1, because=rest, reason="1 below any score the sum is at least 1")


@claim(
    "eot.s4.threshold",
    "equivalence",
    title="The threshold is fixed by the sum",
    latex=r"\theta=-\lambda,\quad \textstyle\sum_j(s_j-\theta)_+=1",
    needs=("eot.24",),
)
def threshold() -> Steps:
    """For any scores exactly one threshold makes the positive parts sum to 1, and it is minus the multiplier."""
    yield at_least_one(s)
    yield from falling_terms()  # one root
    yield Equation(spent(quadratic_scores, theta), 1, reason="it is θ in s = θ1 + p − μ, so these are all scores")


threshold.twin(
    "the squares sum to 1", lambda: Equation(spent(quadratic_scores, theta), total(j, plus(quadratic_scores(j) - theta) ** 2))
)
threshold.twin("all scores take part", lambda: Equation(spent(quadratic_scores, theta), total(j, quadratic_scores(j) - theta)))


# ── sparse? ─────────────────────────────────────────────────────────────────────────────────────────────────────────

pair = vector("s", two)
TIED = {pair.label: [0, 0], theta: -sp.Rational(1, 2)}


def no_zero_at_a_tie() -> Fails:
    """Two equal scores, where both weights are 1/2."""
    weights = [plus(pair[i] - theta) for i in (1, 2)]
    return Fails(Equation(weights[0] * weights[1], 0, at=TIED), reason="s = (0, 0), m = 2: the solution is (1/2, 1/2)")


@claim(
    "eot.s4.sparsemax-sparse",
    "equivalence",
    title="Sparsemax yields sparse vectors",
    needs=("eot.prop4.2",),
    latex=r"\mathrm{sparsemax}(s)\ \text{is sparse}",
    part_of="eot.prop4.2",
)
def sparsemax_is_sparse() -> Steps:
    """The transformation is said to yield sparse probability vectors; a zero in the solution is not certain."""
    yield Equation(spent(lambda key: theta + 1 / m, theta), 1, reason="equal scores: the threshold is 1/m below them")
    yield no_zero_at_a_tie()


@sparsemax_is_sparse.corrected(r"p^\star_k>0\implies s_j-s_k<1\ \text{for every } j", Severity.WORDING, replaces="“sparse”")
def sparse_when_scores_are_apart() -> Steps:
    """A key that trails another by 1 or more gets weight exactly 0; whether any key gets 0 depends on the scores."""
    lead = quadratic_scores(j) - quadratic_scores(k)
    yield AtLeast(
        p[k],
        p[k] * lead,
        because=p[k] * others(j) + p[k] * mu[j] + p[k] ** 2,
        reason="the gap has the term p_k²: strict where p_k > 0",
    )


def trails(more: sp.Expr, factor: int) -> AtLeast:
    """Keys with weight trail every other by at most (1 − more)/factor."""
    return AtLeast(p[k], p[k] * (more + factor * (quadratic_scores(j) - quadratic_scores(k))))


sparsemax_is_sparse.twin("trailing by 1/2 is enough", lambda: trails(sp.S.Zero, 2))
sparsemax_is_sparse.twin("only the best keys get weight", lambda: trails(sp.S.One, 1))

inside = interior("w", m)


def close_scores(key: sp.Expr) -> sp.Expr:
    """θ + w_j with w > 0 of sum 1: any scores with Σ_l (s_l − s_j) < 1 for every j."""
    return theta + inside[key]


def dense(key: sp.Expr) -> sp.Expr:
    """(1 − Σ_l (s_l − s_j))/m."""
    return (1 - total(l, close_scores(l) - close_scores(key))) / m


@claim(
    "eot.s4.tab1-sparsemax",
    "equivalence",
    title="Table 1, sparsemax: a sparse distribution with exact zeros",
    latex=r"\exists j: p^\star_j=0",
    needs=("eot.prop4.2",),
    part_of="eot.tab1",
)
def exact_zeros() -> Steps:
    """The table promises a sparse distribution with exact zeros."""
    yield no_zero_at_a_tie()


@exact_zeros.corrected(
    r"p^\star_j = \tfrac1m\left(1-\textstyle\sum_l(s_l-s_j)\right)>0\ \text{for all } j"
    r"\ \text{when every sum is} < 1",
    Severity.WORDING,
    replaces="“exact zeros”, where there are none",
)
def dense_when_scores_are_close() -> Steps:
    """Exact zeros occur, but not where Σ_l (s_l − s_j) < 1 for every j: there all weights are positive, affine in s."""
    yield AtLeast(dense(j), 0, because=inside[j], strict=True, reason="it is w_j")
    yield on_close_scores(dense)


def on_close_scores(candidate: Entry) -> UniqueMinimum:
    """The candidate is the only minimizer for scores that lie close together."""
    return UniqueMinimum(
        variational(close_scores, half_square), candidate, m, sp.S.One, two, reason="J(q) − J(p*) = ½‖q − p*‖²"
    )


exact_zeros.twin("the scores count twice", lambda: on_close_scores(lambda key: 2 * dense(key) - 1 / m))
exact_zeros.twin("softmax", lambda: on_close_scores(softmax(close_scores, sp.S.One)))
