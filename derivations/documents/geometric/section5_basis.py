"""“Parametrizing the Summary”: basis functions, and what they say about the weights before the data are seen.

Claims     geometric.s5.dot-product           φ(t) = k_t, θ = q/√M  ⟹  f_t = ⟨q, k_t⟩/√M
           geometric.s5.backpropagation       ∂L/∂θ = Σ_t φ(t) ∂L/∂f_t
           geometric.s5.starting-importance   log(p_s/p_t) = ⟨θ₀, φ(s) − φ(t)⟩, where θ₀ is fixed before the data
           geometric.s5.uniform-start         φ(t) = e_t and all entries of θ₀ equal  ⟹  p_t = 1/|S|
           geometric.s5.update                p_t(x) ∝ p_t⁰ exp⟨θ(x) − θ₀, φ(t)⟩
           geometric.s5.other-starts          φ_b(t) = log κ_b(t), θ₀ = e_a  ⟹  p_t = κ_a(t)/Σ_s κ_a(s)
Notation   phi[j, b] = φ_b(j), theta a value of θ(x) in ℝ^M, eta another or what is added to it, start = θ₀ its value before the
           data; g_j = ∂L/∂f_j; xi a value of θ for φ(t) = e_t, where M = |S|, theta0 any number, equal entries of it; W, U, v
           the parameters of Bahdanau's score with H hidden units, state the decoder's state, X[j, r] the annotation h_t of
           location j; q and k_j a query and keys of M entries; κ[j, b] > 0 kernel number b of M at location j
References (6) and the prose around it; Bahdanau, Cho and Bengio (2015), section 3.1: the score vᵀtanh(W s + U h_t)
"""

import sympy as sp

from derivations.documents.eot.notation import j, k, l, m
from derivations.documents.geometric.notation import D, M, X, b, combination, d, eta, phi, r, soft, theta
from derivations.vocabulary import *

H = size("H")
h = index("h", H)
element, state_at, chosen = index("s", m), index("q", d), index("a", M)
W, U, state, v = vector("W", H, d), vector("U", H, D), vector("state", d), vector("v", H)
g, xi = vector("g", m), vector("xi", m)
query, keys = vector("Q", M), vector("K", m, M)
vanishing = positive("t")
start_theta = vector("start", M)
age, kernel = vector("A", m, kind=Nonnegative), vector("κ", m, M, kind=Positive)
gamma, level = positive("gamma"), scalar("theta0")


def after(coefficient: sp.Expr) -> sp.Expr:
    """θ_b + η_b."""
    return theta[coefficient] + eta[coefficient]


def scores(coefficients: Entry) -> Entry:
    """j ↦ θᵀφ(j)."""
    return lambda location: combination(coefficients, location)


def linear(right: sp.Expr) -> Equation:
    """(θ + η)ᵀφ(j) against its parts."""
    return Equation(combination(after, j), right, reason="linear in θ, for each location")


@claim(
    "geometric.6",
    "definition",
    title="The summary as a combination of basis functions",
    latex=r"f_t(x)=\theta^T(x)\phi(t),\quad\theta:\mathbb R^{|S|\times D}\to\mathbb R^M,\ \phi:S\to\mathbb R^M",
)
def basis_functions() -> Steps:
    """The summary is a linear combination of M functions of the location, with coefficients that depend on the data."""
    yield Equation(total(k, xi[k] * delta(k, j)), xi[j], reason="an instance: φ(t) = e_t gives f = θ(x), any summary")
    yield linear(combination(theta, j) + total(b, eta[b] * phi[j, b]))


basis_functions.twin("one basis function for all", lambda: linear(combination(theta, j) + total(b, eta[b])))
basis_functions.twin("a quadratic form", lambda: linear(combination(theta, j) + total(b, eta[b] ** 2 * phi[j, b])))


def loss() -> sp.Expr:
    """Σ_j g_j f_j, which has the gradient g in f."""
    return total(j, g[j] * combination(theta, j))


def returned(right: sp.Expr) -> Equation:
    """∂L/∂θ_b by the chain rule."""
    return Equation(derivative(loss(), theta[b]), right, reason="so the gradient passes back through one matrix, Φᵀ")


@claim(
    "geometric.s5.backpropagation",
    "identity",
    title="Backpropagation through the summary is easy",
    needs=("geometric.6",),
    latex=r"\partial f_t/\partial\theta=\phi(t),\quad"
    r"\partial L/\partial\theta=\textstyle\sum_t\phi(t)\,(\nabla_fL)_t",
)
def backpropagation() -> Steps:
    """Whatever θ(x) is, f is linear in it, and its gradient is that of f multiplied by the basis functions."""
    yield Equation(derivative(combination(theta, j), theta[b]), phi[j, b], reason="f_t is linear in θ")
    yield returned(total(j, phi[j, b] * g[j]))


backpropagation.twin("the basis functions are left out", lambda: returned(total(j, g[j])))
backpropagation.twin("averaged over locations", lambda: returned(total(j, phi[j, b] * g[j]) / m))


# ── before the data are seen ────────────────────────────────────────────────────────────────────────────────────────

start = soft(scores(theta))


def log_odds(right: sp.Expr) -> Equation:
    """log p_j − log p_k before the data."""
    return Equation(sp.log(start(j)) - sp.log(start(k)), right, reason="differences of θᵀφ: the span of the basis functions")


@claim(
    "geometric.s5.starting-importance",
    "equivalence",
    title="φ tells the importance before the data are observed",
    latex=r"\phi\ \text{determines } p \text{ before } x \text{ is observed}",
    needs=("geometric.6", "geometric.4"),
)
def starting_importance() -> Steps:
    """The basis functions are said to tell which locations are important before the data are observed."""
    yield Expansion(
        soft(lambda location: vanishing * combination(theta, location))(j),
        1 / m,
        vanishing,
        0,
        reason="at θ = 0 the weights are uniform, whatever φ",
    )
    yield Fails(
        Equation(
            start(j), soft(scores(eta))(j), at={m: 2, M: 1, phi.label: [[1], [0]], theta.label: [0], eta.label: [1], j: 1}
        ),
        reason="one φ, two values of θ without data: two starts",
    )


@starting_importance.corrected(
    r"\log\frac{p_s}{p_t}=\theta_0^T(\phi(s)-\phi(t))",
    Severity.HYPOTHESIS,
    under="a θ₀ is fixed that θ(x) is before x is observed: φ and θ₀ together tell the start",
    replaces="“φ determines p”",
)
def start_by_both() -> Steps:
    """With the value of θ before the data, the log-odds of the start are the combination of the basis functions by it."""
    yield log_odds(total(b, theta[b] * (phi[j, b] - phi[k, b])))


starting_importance.twin("by the basis functions alone", lambda: log_odds(total(b, phi[j, b] - phi[k, b])))
starting_importance.twin("the sign", lambda: log_odds(total(b, theta[b] * (phi[k, b] - phi[j, b]))))


def hidden_unit(location: sp.Expr) -> sp.Expr:
    """(W s + U h_j)_h, what enters hidden unit h."""
    return total(state_at, W[h, state_at] * state[state_at]) + total(r, U[h, r] * X[location, r])


def additive(location: sp.Expr) -> sp.Expr:
    """vᵀtanh(W s + U h_j)."""
    return total(h, v[h] * (1 - 2 / (sp.exp(2 * hidden_unit(location)) + 1)))


def canonical(right: sp.Expr) -> Equation:
    """θᵀe_j with an additive score for each entry of θ."""
    return Equation(total(k, additive(k) * delta(k, j)), right, reason="θ_t is the score, of x and of the decoder's state")


@claim(
    "geometric.s5.canonical-basis",
    "external fact",
    title="Bahdanau et al. used the canonical basis",
    latex=r"\text{[3]: }\phi(t)=e_t",
    needs=("geometric.s5.additive-score",),
)
def canonical_basis() -> Undecidable:
    """The third reference is said to have used the canonical basis vectors for basis functions."""
    return Undecidable(
        "what a paper uses is beyond proof and code, and the paper does not ship with what is installed "
        "here; its additive scores have this form, as every vector of scores has: geometric.s5.additive-score"
    )


@claim(
    "geometric.s5.additive-score",
    "identity",
    title="Addition: additive scores have the form φ(t) = e_t",
    latex=r"\phi(t)=e_t\implies f_t=\theta_t=v^T\tanh(Ws+Uh_t)",
    needs=("geometric.6",),
    hypotheses=("for a fixed state s of the decoder, on which θ depends besides x",),
)
def additive_score() -> Steps:
    """For each state of the decoder additive scores are of the form (6) with the canonical basis, θ_t being the score of t."""
    yield canonical(additive(j))


additive_score.twin("one score for all locations", lambda: canonical(total(k, additive(k)) / m))
additive_score.twin("without tanh", lambda: canonical(total(h, v[h] * hidden_unit(j))))


def product_score(location: sp.Expr) -> sp.Expr:
    """⟨q, k_j⟩/√M, the scaled product of a query and a key of M entries."""
    return total(b, query[b] * keys[location, b]) / sp.sqrt(M)


def dotted(coefficients: Entry) -> Equation:
    """(6) with the keys for basis functions against scaled products."""
    return Equation(total(b, coefficients(b) * keys[j, b]), product_score(j), reason="θ(x) = q/√M, φ(t) = k_t")


@claim(
    "geometric.s5.dot-product",
    "identity",
    title="Addition: dot-product scores are (6) with keys for basis functions",
    latex=r"\phi(t)=k_t,\ \theta(x)=q/\sqrt M\implies f_t=\langle q,k_t\rangle/\sqrt M",
    needs=("geometric.6",),
    hypotheses=("the keys belong to the locations, and only the query depends on x",),
)
def dot_product() -> Steps:
    """What transformers score with is (6) where the query is the coefficient, and keys are the basis functions.

    So it is with keys by position.  Keys that are computed from x, as in self-attention, are no functions of the location
    alone: for these (6) needs a basis of all summaries, such as φ(t) = e_t with M = |S|.
    """
    yield Equation(total(k, product_score(k) * delta(k, j)), product_score(j), reason="any scores: φ(t) = e_t, θ_t = f_t")
    yield Fails(
        Equation(xi[1] * g[2], xi[2] * g[1], at={m: 2, xi.label: [1, 0], g.label: [0, 1]}),
        reason="M = 1: f = θ φ for one φ makes summaries parallel; those of two x need not be, when keys depend on x",
    )
    yield dotted(lambda coefficient: query[coefficient] / sp.sqrt(M))


dot_product.twin("the scale is lost", lambda: dotted(query))
dot_product.twin("divided by M", lambda: dotted(lambda coefficient: query[coefficient] / M))


def with_canonical_basis(coefficients: Entry) -> Entry:
    """softmax of θᵀe_t."""
    return soft(lambda location: total(element, coefficients(element) * delta(element, location)))


def equal(location: sp.Expr) -> sp.Expr:
    """θ₀ for every entry of θ."""
    return level


def uniform_start(right: sp.Expr) -> Equation:
    """The start for φ(t) = e_t and equal entries of θ."""
    return Equation(with_canonical_basis(equal)(j), right, about=(level,), reason="… for φ(t) = e_t they are: f is constant")


@claim(
    "geometric.s5.uniform-start",
    "identity",
    title="φ(t) = e_t assigns uniform importance before the data",
    latex=r"\phi(t)=e_t\implies p_t=\tfrac1{|S|}\ \text{before } x \text{ is observed}",
    needs=("geometric.s5.starting-importance",),
)
def uniform_before_data() -> Steps:
    """With the canonical basis all locations are said to be equally important before the data are observed."""
    own = with_canonical_basis(xi)
    yield Equation(sp.log(own(j)) - sp.log(own(k)), xi[j] - xi[k], reason="f = θ: this basis allows every start")
    yield Fails(
        Equation(own(j), 1 / m, at={m: 2, xi.label: [1, 0], j: 1}),
        reason="θ(x) = (1, 0) for all x, a network with a bias: the weights are e/(1 + e) and 1/(1 + e)",
    )


@uniform_before_data.corrected(
    r"\phi(t)=e_t,\ \theta=\theta_0\mathbf1\implies p_t=\tfrac1{|S|}",
    Severity.HYPOTHESIS,
    under="before x is observed θ is 0, and then any φ will do; or, with φ(t) = e_t, its entries are equal",
    replaces="any θ before the data",
)
def uniform_with_equal_entries() -> Steps:
    """If all entries of θ are the same before the data, the canonical basis starts from uniform weights."""
    yield Equation(soft(scores(lambda coefficient: sp.S.Zero))(j), 1 / m, about=(phi[j, b],), reason="θ = 0, with any φ")
    yield Fails(
        Equation(soft(scores(equal))(j), 1 / m, at={m: 2, M: 1, phi.label: [[1], [0]], level: 1, j: 1}),
        reason="equal entries that are not 0 are not enough for any φ, …",
    )
    yield uniform_start(1 / m)


uniform_before_data.twin("a sigmoid for each location", lambda: uniform_start(1 / (1 + sp.exp(-level))))
uniform_before_data.twin("the level matters", lambda: uniform_start(sp.exp(level) / m))


def added(coefficient: sp.Expr) -> sp.Expr:
    """θ(x) − θ₀."""
    return theta[coefficient] - start_theta[coefficient]


def multiplied(of: Entry, coefficients: Entry) -> sp.Expr:
    """The weights, each times exp of the combination by the coefficients, and normalized."""

    def product(location: sp.Expr) -> sp.Expr:
        return of(location) * sp.exp(combination(coefficients, location))

    return product(j) / total(l, product(l))


def updated(right: sp.Expr) -> Equation:
    """The weights with the data."""
    return Equation(soft(scores(theta))(j), right, reason="exp(θ(x)ᵀφ) = exp(θ₀ᵀφ) exp((θ(x) − θ₀)ᵀφ)")


prior = soft(scores(start_theta))


@claim(
    "geometric.s5.update",
    "identity",
    title="The data update the start",
    needs=("geometric.s5.starting-importance",),
    latex=r"p_t(x)=\frac{p_t^0e^{(\theta(x)-\theta_0)^T\phi(t)}}{\sum_sp_s^0e^{(\theta(x)-\theta_0)^T\phi(s)}}",
)
def update() -> Steps:
    """The data multiply each weight of the start by exp of what they add to θ₀ᵀφ(t), and renormalize.

    The sentence speaks of the uniform start, and there it is true word by word: the data multiply by exp(θ(x)ᵀφ(t)).
    From another start it is true of the change θ(x) − θ₀; with θ(x) itself the start would count twice.
    """
    yield Equation(multiplied(lambda location: 1 / m, theta), soft(scores(theta))(j), reason="from uniform weights, any φ")
    yield Fails(
        Equation(
            soft(scores(theta))(j),
            multiplied(prior, theta),
            at={m: 2, M: 1, phi.label: [[1], [0]], theta.label: [1], start_theta.label: [1], j: 1},
        ),
        reason="from e/(1 + e), with θ(x) = θ₀: data that change nothing would change the weights",
    )
    yield updated(multiplied(prior, added))


update.twin("the start is forgotten", lambda: updated(multiplied(lambda location: 1 / m, added)))
update.twin("the start counts twice", lambda: updated(multiplied(prior, theta)))
update.twin("added, not multiplied", lambda: updated(prior(j) / 2 + multiplied(lambda location: 1 / m, added) / 2))


def logarithms(coefficients: Entry) -> Entry:
    """j ↦ θᵀφ(j) for φ_b = log κ_b."""
    return lambda location: total(b, coefficients(b) * sp.log(kernel[location, b]))


def kernel_start(right: sp.Expr) -> Equation:
    """The start where the basis functions are logarithms of kernels, and θ₀ = e_a chooses one of them."""
    return Equation(
        soft(logarithms(lambda coefficient: delta(coefficient, chosen)))(j),
        right,
        reason="f = θ₀ᵀφ = log κ_a, and exp log κ_a = κ_a",
    )


def shares(of: Entry) -> sp.Expr:
    """The value at j over the sum."""
    return of(j) / total(l, of(l))


@claim(
    "geometric.s5.other-starts",
    "identity",
    title="Exponential decay or a kernel smoother as the start",
    latex=r"\phi_b(t)=\log\kappa_b(t)\implies p_t=\kappa_a(t)\big/\textstyle\sum_s\kappa_a(s)\ \text{before } x",
    needs=("geometric.s5.starting-importance",),
)
def other_starts() -> Steps:
    """With other basis functions one is said to start with something else, such as an exponential decay or a kernel."""
    yield Fails(
        Equation(
            soft(logarithms(theta))(j),
            shares(lambda location: kernel[location, chosen]),
            at={m: 2, M: 1, kernel.label: [[2], [1]], theta.label: [0], j: 1, chosen: 1},
        ),
        reason="a kernel (2, 1): at θ = 0 the start is uniform, whatever φ is",
    )


@other_starts.corrected(
    r"\phi_b(t)=\log\kappa_b(t),\ \theta_0=e_a\implies p_t=\kappa_a(t)\big/\textstyle\sum_s\kappa_a(s)",
    Severity.HYPOTHESIS,
    under="a θ₀ is fixed that θ(x) is before x is observed: e_a for the kernel κ_a, and γ for a decay with φ(t) = −age",
    replaces="any θ before the data",
)
def other_starts_by_both() -> Steps:
    """Weights that start with a decay or a kernel are reached by φ, its logarithm, and θ₀: with φ = κ itself they are not."""
    decaying = soft(lambda location: gamma * -age[location])
    yield Equation(decaying(j) / decaying(k), sp.exp(-gamma * (age[j] - age[k])), reason="a decay: φ(t) = −age, θ₀ = γ")
    yield AtLeast(start(j), 0, strict=True, reason="a start with zeros, as by a kernel of bounded support, needs −∞ in f")
    yield kernel_start(shares(lambda location: kernel[location, chosen]))


other_starts.twin("the kernel itself as φ", lambda: kernel_start(shares(lambda location: sp.exp(kernel[location, chosen]))))
other_starts.twin("squared", lambda: kernel_start(shares(lambda location: kernel[location, chosen] ** 2)))
