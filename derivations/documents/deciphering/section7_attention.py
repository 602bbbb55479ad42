"""Section 7: (18) as an attention layer, alone, in a stack and with several heads.

Claims     deciphering.s7.dot-product          u_i = 1/n  ⟹  ĥ_c = Σ_i t_i softmax(α⟨t, z⟩)_i
           deciphering.s7.solves-the-problem   ĥ = ĥ_c − α²Σ²z + o(α²) for small α
           deciphering.s7.linearized           tilt(αz) = argmin −α⟨z, Σ_i p_i t_i⟩ + K(p, u), for every α
           deciphering.s7.two-pieces           log(p_i/p_j) = log(u_i/u_j) + α⟨t_i − t_j, z⟩
           deciphering.s7.multi-head           each head h solves such a problem, with z^(h) = K_hᵀ Q_h y and u^(h)
Notation   ĥ_c the closed form (18); w > 0 weights that are not normalized; H heads, each with projections K, Q, V and
           a preference U[h, i] ≥ 0 of its own; 𝓛 a layer, G the scores of one before it; the rest as in section8_heads.py
References section 7 of the document up to "Multi-head attention", and footnote 8; Luong et al. (2015) for dot-product
           attention: source states h̄_s weighted by a softmax of ⟨h̄_s, h_t⟩
"""

from collections.abc import Callable
from fractions import Fraction

import sympy as sp

from derivations.documents.deciphering.notation import T, a, alpha, b, c, d, i, inner, j, k, lam, mean, mu, n, tilt, u, z
from derivations.documents.deciphering.section6_approximation import error, finite_form
from derivations.documents.deciphering.section6_theorem1 import stationary
from derivations.documents.deciphering.section8_heads import (
    K,
    Place,
    Q,
    V,
    X,
    average,
    e,
    estimate,
    everywhere,
    evidence_of,
    log_linear,
    o,
    outside,
    read,
    root,
    scaled,
    score,
    shown,
    y,
)
from derivations.vocabulary import *

w = vector("w", n, kind=Positive)
G = vector("G", d, d)
p = simplex("p", n)
heads = size("H")
h = index("h", heads)
many = {name: vector(name, heads, e, d) for name in ("K", "Q", "V")}
priors = stochastic("U", heads, n)
positive_priors = vector("w", heads, n, kind=Positive)


def closed(strength: sp.Expr = alpha) -> Entry:
    """The weights of (18)."""
    return tilt(lambda coordinate: strength * z[coordinate])


# ── dot-product attention ───────────────────────────────────────────────────────────────────────────────────────────


def tilted(word: sp.Expr) -> sp.Expr:
    """α⟨t_i, z⟩."""
    return alpha * inner(word, z)


def in_place_of_u(prior: Entry) -> Equation:
    """(18) with w for u against (18) with another prior."""
    return Equation(log_linear(tilted, w)(i), log_linear(tilted, prior)(i), reason="the scale of w cancels")


@claim(
    "deciphering.fn8",
    "equivalence",
    title="Any functions may produce z and u",
    latex=r"f_{\mathrm{evd}}, f_{\mathrm{pref}}:\ \text{constants, formulas, networks}",
)
def any_functions() -> Steps:
    """Whatever produces the evidence and the preference weights, the weights that result are a distribution."""
    yield Equation(total(i, log_linear(tilted, w)(i)), 1, about=(z[c],), reason="every z and w > 0, normalized or not")
    yield in_place_of_u(lambda word: w[word] / total(k, w[k]))


any_functions.twin("the preference is squared", lambda: in_place_of_u(lambda word: w[word] ** 2))
any_functions.twin("the preference is lost", lambda: in_place_of_u(everywhere))


def dot_product(strength: sp.Expr) -> Equation:
    """(18) with u = 1/n against softmax attention with the query αz and t_i as keys and values."""
    uniform = average(lambda word: T[word, a], lambda word: alpha * inner(word, z), lambda word: 1 / n)
    softmax = average(lambda word: T[word, a], lambda word: strength * inner(word, z))
    return Equation(uniform, softmax, reason="1/n cancels")


@claim(
    "deciphering.s7.dot-product",
    "equivalence",
    title="A uniform preference gives dot-product attention",
    latex=r"u_i=\tfrac1n\implies\hat h_{(18)}=\sum_it_i\,\mathrm{softmax}([\alpha\langle t_j,z\rangle]_j)_i",
)
def uniform_preference() -> Steps:
    """With equal preference weights the closed form is dot-product attention, with the templates as keys and values."""
    yield dot_product(alpha)


uniform_preference.twin("α is lost", lambda: dot_product(sp.S.One))
uniform_preference.twin("the query's sign", lambda: dot_product(-alpha))


# ── what problem the layer solves ───────────────────────────────────────────────────────────────────────────────────


def linearized(weights: Entry) -> sp.Expr:
    """−α⟨z, Σ p_i t_i⟩ + KL(p ‖ u)."""
    return -alpha * total(i, weights(i) * inner(i, z)) + total(i, kl(weights(i), u[i]))


def exact_evidence(coordinate: sp.Expr) -> sp.Expr:
    """The z for which λ maximizes (9)."""
    return stationary(lam)(coordinate) - mu(coordinate)


def layer_is_exact(**where: object) -> Equation:
    """ĥ = ĥ_c, where z is the evidence for which λ is optimal."""
    output = mean(tilt(lambda coordinate: alpha * exact_evidence(coordinate)))
    return Equation(output(a), mean(tilt(lam))(a), reason="ĥ = h(λ*), ĥ_c = h(αz)", **where)  # type: ignore[arg-type]


SMALL_ALPHA = "α is small, and “solves” is to first order in α"

smallest: Place = {n: 2, d: 1, alpha: 1, T.label: [[0], [1]], lam.label: [1], u.label: [sp.Rational(1, 2)] * 2, a: 1}


small: Place = {**smallest, alpha: Fraction(1, 1000), lam.label: [Fraction(1, 1000)]}


def solves_the_problem() -> Steps:
    """Not exactly."""
    yield Fails(layer_is_exact(at=smallest), reason="two templates 0 and 1, α = 1, z ≈ 1.23: the layer gives 0.774, (4) 0.731")
    yield Fails(layer_is_exact(at=small), reason="at α = 1/1000 they differ by 6·10⁻⁸: what is left is of order α²")


def solved(candidate: Entry) -> UniqueMinimum:
    """The candidate is the only minimizer of the linearized problem."""
    return UniqueMinimum(linearized, candidate, n, sp.S.One, reason="J(q) − J(p) = Σ kl(q ‖ p)")


@claim(
    "deciphering.s7.solves-the-problem",
    "optimality",
    title="A dot-product layer “essentially” performs the optimization",
    latex=r"\sum_it_i\,\mathrm{softmax}(\alpha\langle t_\cdot,z\rangle)_i=\int a\,\tilde p(a)\,da,\ \tilde p"
    r"\text{ the minimizer of the problem}",
    needs=("deciphering.s7.dot-product", "deciphering.thm1", "deciphering.thm2"),
)
def layer_solves() -> Steps:
    """Applying a dot-product layer is said to be, “essentially”, performing the optimization (4) and reading off its mean."""
    yield from solves_the_problem()


@layer_solves.corrected(
    r"\hat h=\textstyle\sum_it_ip_i-\alpha^2\Sigma^2z+o(\alpha^2),\ p=\mathrm{tilt}(\alpha z)"
    r"=\operatorname{argmin}_p\{-\alpha\langle z,\textstyle\int a\,p(a)\,da\rangle+\mathcal K(p,u)\}",
    Severity.HYPOTHESIS,
    under=SMALL_ALPHA,
    replaces="a layer that solves the problem for every α",
)
def layer_solves_to_first_order() -> Steps:
    """To first order in α the layer gives the mean of (4)'s solution; what it solves exactly is (4) linearized at μ."""
    yield finite_form(error)


layer_solves.twin("2α for α", lambda: finite_form(error, 2 * alpha))
layer_solves.twin("the sign of the error", lambda: finite_form(-error))


@claim(
    "deciphering.s7.linearized",
    "optimality",
    title="Addition: what a layer solves exactly",
    latex=r"\mathrm{tilt}(\alpha z)=\operatorname{argmin}_p\{-\alpha\langle z,\textstyle\int a\,p(a)\,da\rangle"
    r"+\mathcal K(p,u)\}",
    needs=("deciphering.s6.discrete",),
)
def layer_solves_linearized() -> Steps:
    """An addition: for every α the layer's weights alone solve (4) without the term that is quadratic in the mean's shift."""
    residual = total(b, (mu(b) + z[b] - total(i, p[i] * T[i, b])) ** 2)
    offset = total(b, (total(i, p[i] * T[i, b]) - mu(b)) ** 2)
    shift = total(i, p[i] * inner(i, z)) - total(b, mu(b) * z[b])
    yield Equation(
        alpha / 2 * residual,
        alpha / 2 * total(b, z[b] ** 2) - alpha * shift + alpha / 2 * offset,
        reason="what is left out is α/2 ‖Σ p_i t_i − μ‖²",
    )
    yield solved(closed())


layer_solves_linearized.twin("α is lost", lambda: solved(closed(sp.S.One)))
layer_solves_linearized.twin("the preference is lost", lambda: solved(log_linear(tilted)))


# ── two pieces of information ───────────────────────────────────────────────────────────────────────────────────────


def log_odds(preferred: sp.Expr, strength: sp.Expr) -> Equation:
    """log p_i − log p_j against a part without z and a part without u."""
    return Equation(
        sp.log(closed()(i)) - sp.log(closed()(j)), preferred + strength * (inner(i, z) - inner(j, z)), reason="Z cancels"
    )


@claim(
    "deciphering.s7.two-pieces",
    "identity",
    title="Preference and evidence enter separately",
    needs=("deciphering.s7.dot-product",),
    latex=r"\log\frac{p_i}{p_j}=\log\frac{u_i}{u_j}+\alpha\langle t_i-t_j,z\rangle",
)
def two_pieces() -> Steps:
    """The closed form joins two pieces of information: the log-odds are a term of the preference plus one of the evidence."""
    yield log_odds(sp.log(u[i]) - sp.log(u[j]), alpha)


two_pieces.twin("the preference counts twice", lambda: log_odds(2 * (sp.log(u[i]) - sp.log(u[j])), alpha))
two_pieces.twin("α is lost", lambda: log_odds(sp.log(u[i]) - sp.log(u[j]), sp.S.One))


# ── stacks and heads ────────────────────────────────────────────────────────────────────────────────────────────────


def layer(factor: sp.Expr, evidence_of_layer: Entry) -> Equation:
    """A head with any inputs and any preference m ≥ 0 against V′ applied to (18)."""
    head = read(scaled(score(y), 1 / root), shown)(o)
    return Equation(
        head,
        outside(estimate(evidence_of_layer, shown, 1 / root), factor)(o),
        at={o: 1},
        about=(y[1],),
        reason="whatever the layers before it put into x_i and y",
    )


@claim(
    "deciphering.s7.stack",
    "equivalence",
    title="Any layer of a stack fits",
    latex=r"\mathcal L=V'\circ(18),\quad t_i,z,u\text{ from the layers before }\mathcal L",
    needs=("deciphering.s8.reparametrization",),
)
def any_layer() -> Steps:
    """A layer of a stack is the closed form for the inputs that earlier layers produce, followed by a linear map."""
    yield layer(root, evidence_of(y))


any_layer.twin("V′ = V", lambda: layer(sp.S.One, evidence_of(y)))
any_layer.twin("twice the evidence", lambda: layer(root, lambda s: 2 * evidence_of(y)(s)))


def given(word: sp.Expr) -> Entry:
    """(x_i)_a."""
    return lambda coordinate: X[word, coordinate]


def before(word: sp.Expr) -> Entry:
    """The output that replaces x_i after a self-attention layer before 𝓛 with the scores ⟨x_i, G x_l⟩."""
    of, first, second = index("l", n), index("p", d), index("q", d)
    weight = sp.exp(total((first, second), X[word, first] * G[first, second] * X[of, second]))
    return lambda coordinate: total(of, X[of, coordinate] * weight) / total(of, weight)


def grouped(templates: Callable[[sp.Expr], Entry], asking: Callable[[sp.Expr], Entry]) -> Equation:
    """𝓛 after that layer, for word k, against V′ applied to (18) with these templates and the evidence of this query."""
    r, s = index("r", e), index("s", d)

    def evidence_of_word(source: Callable[[sp.Expr], Entry]) -> Entry:
        return lambda coordinate: total(r, K[r, coordinate] * total(b, Q[r, b] * source(k)(b)))

    def scores(word: sp.Expr) -> sp.Expr:
        return total(r, total(s, K[r, s] * before(word)(s)) * total(b, Q[r, b] * before(k)(b))) / root

    def products(word: sp.Expr) -> sp.Expr:
        return total(s, templates(word)(s) / root * evidence_of_word(asking)(s))

    layer_ = average(lambda word: total(a, V[o, a] * before(word)(a)), scores)
    output = total(a, root * V[o, a] * average(lambda word: templates(word)(a) / root, products))
    return Equation(
        layer_,
        output,
        at={n: 2, d: 1, e: 1, o: 1, k: 1},
        reason="f_pref gives the templates, f_evd the evidence: both contain the layer before; what comes after 𝓛 "
        "sees its output alone, beside c, and so is a part of f_out",
    )


@claim(
    "deciphering.s7.grouping",
    "equivalence",
    title="The layers around one are grouped into f_pref, f_evd and f_out",
    latex=r"\mathcal L=V'\circ(18),\quad t_i=\mathcal L_0(x)_i/\sqrt{d'},\ z=K^\top Q\mathcal L_0(x)_k",
    needs=("deciphering.s7.stack", "deciphering.fn8"),
)
def grouping() -> Steps:
    """A layer after another one is the closed form whose templates and evidence contain the earlier layer."""
    yield grouped(before, before)


grouping.twin("the evidence is that of the input", lambda: grouped(before, given))
grouping.twin("the templates are those of the input", lambda: grouped(given, before))


def logits_of(head: sp.Expr, word: sp.Expr) -> sp.Expr:
    """⟨K_h x_i, Q_h y⟩/√d′."""
    r = index("r", e)
    return total(r, total(a, many["K"][head, r, a] * X[word, a]) * total(b, many["Q"][head, r, b] * y[b])) / root


def prior_of(head: sp.Expr) -> Entry:
    """i ↦ U[h, i], the preference of one head."""
    return lambda word: priors[head, word]


def head_of(number: sp.Expr, row: sp.Expr) -> sp.Expr:
    """Entry `row` of the part of the output that belongs to one head."""

    def value(word: sp.Expr) -> sp.Expr:
        return total(a, many["V"][number, row, a] * X[word, a])

    return average(value, lambda word: logits_of(number, word), prior_of(number))


def stacked(own_evidence: bool, factor: sp.Expr, own_prior: bool = True) -> Equation:
    """The heads, side by side, against linear maps of as many estimates (18) that share their templates."""
    r = index("r", e)
    which = h if own_evidence else sp.S.One

    def of_head(coordinate: sp.Expr) -> sp.Expr:
        return total(r, many["K"][which, r, coordinate] * total(b, many["Q"][which, r, b] * y[b]))

    estimated = estimate(of_head, prior_of(h if own_prior else sp.S.One), 1 / root)
    return Equation(
        head_of(h, o), total(a, factor * many["V"][h, o, a] * estimated(a)), at={o: 1}, reason="head by head as in a single one"
    )


def problem_of_head() -> UniqueMinimum:
    """The weights of head h alone solve the problem with its evidence K_hᵀQ_h y, its preference and t_i = x_i/√d′."""
    r = index("r", e)

    def preferred(word: sp.Expr) -> sp.Expr:
        return positive_priors[h, word] / total(k, positive_priors[h, k])

    def gain(word: sp.Expr) -> sp.Expr:
        pull = total(r, many["K"][h, r, a] * total(b, many["Q"][h, r, b] * y[b]))
        return total(a, X[word, a] / root * pull)

    def objective(of: Entry) -> sp.Expr:
        return -total(i, of(i) * gain(i)) + total(i, kl(of(i), preferred(i)))

    weights = log_linear(lambda word: logits_of(h, word), lambda word: positive_priors[h, word])
    return UniqueMinimum(
        objective, weights, n, sp.S.One, reason="for every head h; words without preference are left out of its templates"
    )


@claim(
    "deciphering.s7.multi-head",
    "equivalence",
    title="n heads are n problems, stacked",
    latex=r"(\hat h^{(1)},\dots,\hat h^{(H)}),\quad z^{(h)}=K_h^\top Q_hy,\ u^{(h)}",
    needs=("deciphering.s8.reparametrization", "deciphering.s7.solves-the-problem", "deciphering.s7.linearized"),
)
def several_heads() -> Steps:
    """The heads give the solutions of as many convex problems, (4) linearized, each with its own evidence and preference."""
    yield problem_of_head()
    yield stacked(True, root)


several_heads.twin("all heads share the first one's evidence", lambda: stacked(False, root))
several_heads.twin("all heads share the first one's preference", lambda: stacked(True, root, own_prior=False))
several_heads.twin("V′ = V", lambda: stacked(True, sp.S.One))
