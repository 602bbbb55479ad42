"""Section 8: what the relative deviation measures, and the figures.

Claims     deciphering.s8.as-a-result   ‖λ − αz‖/‖λ‖ = ‖ĥ − μ‖/‖μ + z − ĥ‖, which does not see ĥ_c  (corrected)
Notation   λ an optimal dual point, for the evidence z = λ/α + h(λ) − μ; ĥ = h(λ); ĥ_c = h(αz) the layer's output;
           deviation = ‖λ − αz‖/‖λ‖, the figures' statistic; output error = ‖ĥ_c − ĥ‖/‖ĥ − μ‖; c > 0 a scale, s = c²
References section 8 of the document, Figures 4 to 8
"""

from fractions import Fraction
from functools import cache

import sympy as sp

from derivations.documents.deciphering.notation import T, a, alpha, b, d, i, inner, lam, mean, mu, n, primal, tilt, u, z
from derivations.documents.deciphering.section7_attention import exact_evidence
from derivations.documents.deciphering.section8_heads import Place, log_linear
from derivations.vocabulary import *

exact = mean(tilt(lam))
output = mean(tilt(lambda coordinate: alpha * exact_evidence(coordinate)))


def squared(of: Entry) -> sp.Expr:
    """‖·‖²."""
    return total(a, of(a) ** 2)


@cache
def deviation() -> sp.Expr:
    """The square of the figures' statistic."""
    return squared(lambda s: lam[s] - alpha * exact_evidence(s)) / squared(lam)


@cache
def output_error() -> sp.Expr:
    """The squared distance of the layer's output from the solution, relative to that of the solution from μ."""
    return squared(lambda s: output(s) - exact(s)) / squared(lambda s: exact(s) - mu(s))


@cache
def residual() -> sp.Expr:
    """‖μ + z − ĥ‖²."""
    return squared(lambda s: mu(s) + exact_evidence(s) - exact(s))


far_away: Place = {
    n: 2,
    d: 2,
    alpha: 1,
    u.label: [Fraction(1, 2)] * 2,
    T.label: [[0, 0], [8, 0]],
    lam.label: [Fraction(1, 64), Fraction(10)],
}

level, along = scalar("c"), positive("y")
shift_size, dual_size = scalar("N", Nonnegative), positive("D")
"""‖ĥ − μ‖² and ‖λ‖², before anything is added to the evidence."""


scale, squared_scale, beyond = positive("c"), positive("s"), vector("v", d)


def at_evidence(entry: sp.Expr) -> sp.Expr:
    """αz_a."""
    return alpha * z[entry]


rescaled = Solves(beyond, lambda v: lambda entry: alpha * (mu(entry) - mean(tilt(lambda s: alpha * z[s] + v(s)))(entry)))
"""v = cλ* − αz for the templates c t_i and the evidence z/c: λ* = α(cμ + z/c − c h(cλ*)) reads v = c²α(μ − h(αz + v))."""


def same_weights() -> Equation:
    """(18) for the templates c t_i and the evidence z/c."""
    other = log_linear(lambda word: alpha * total(b, scale * T[word, b] * z[b] / scale), u)
    return Equation(other(i), tilt(at_evidence)(i), reason="c t_i and z/c give the same attention, with V′/c for V′")


def other_scale() -> Expansion:
    """cλ* − αz = c²α(μ − ĥ_c) + o(c²)."""
    return Expansion(
        beyond[a],
        squared_scale * alpha * (mu(a) - mean(tilt(at_evidence))(a)),
        squared_scale,
        1,
        where=(rescaled,),
        reason="but a deviation that vanishes with c²: t = x/√d′ is one choice of c among all",
    )


def excess(weights: Entry) -> sp.Expr:
    """α/2 ‖Σ_i (q_i − u_i) t_i‖²."""
    return alpha / 2 * squared(lambda s: mean(weights)(s) - mu(s))


def statistic(right: sp.Expr) -> Equation:
    """The squared deviation against an expression."""
    return Equation(
        deviation(),
        right,
        given=(AtLeast(normal(squared(lam)), 0, strict=True),),
        reason="λ − αz = −α(ĥ − μ), λ = α(μ + z − ĥ)",
    )


@claim(
    "deciphering.s8.as-a-result",
    "inequality",
    title="A small deviation means that attention solves (4)",
    latex=r"\frac{\|\lambda^*-\alpha z\|}{\|\lambda^*\|}\text{ small}\implies\hat h_{(18)}\text{ solves (4)}",
    needs=("deciphering.thm1", "deciphering.s8.reparametrization"),
    hypotheses=("λ* ≠ 0, so that the deviation is defined",),
)
def as_a_result() -> Steps:
    """Since λ* almost coincides with αz, attention is said to solve the problem: its output errs no more than λ does."""
    yield Equation(
        log_linear(lambda word: inner(word, lam) + level * along, u)(i),
        tilt(lam)(i),
        reason="one more coordinate, equal for all templates: evidence along it changes no weights",
    )
    yield Limit(alpha**2 * shift_size / (dual_size + along**2), along, sp.oo, sp.S.Zero, reason="but drives the deviation to 0")
    yield same_weights()
    yield other_scale()
    yield Fails(
        AtLeast(deviation(), output_error(), at=far_away),
        reason="the deviation is 0.025, most of z being orthogonal to t_2 − t_1; the output is off by 11.6 times the "
        "shift that it estimates",
    )


@as_a_result.corrected(r"\frac{\|\lambda^*-\alpha z\|}{\|\lambda^*\|}=\frac{\|\hat h-\mu\|}{\|\mu+z-\hat h\|}", Severity.FATAL)
def what_it_measures() -> Steps:
    """The deviation is the shift of the estimate over the residual: it compares sizes, and does not see the layer's output."""
    yield UniqueMinimum(
        lambda q: primal(q, mu),
        u,
        n,
        sp.S.One,
        slack=excess,
        reason="any weights u solve (4) exactly, for themselves as the preference and z = 0: λ* = αz = 0",
    )
    yield Equation(
        squared(lambda s: lam[s] - alpha * exact_evidence(s)),
        alpha**2 * squared(lambda s: exact(s) - mu(s)),
        reason="the numerator",
    )
    yield Equation(squared(lam), alpha**2 * residual(), reason="the denominator")
    yield statistic(squared(lambda s: exact(s) - mu(s)) / residual())


as_a_result.twin("the residual is not there", lambda: statistic(squared(lambda s: exact(s) - mu(s))))
as_a_result.twin("the residual of μ", lambda: statistic(squared(lambda s: exact(s) - mu(s)) / squared(exact_evidence)))


@claim(
    "deciphering.s8.corroborates",
    "equivalence",
    title="The deviations corroborate that (4) justifies attention",
    latex=r"\text{(4) gives a principle justifying the design of attention}",
    needs=("deciphering.s8.as-a-result",),
)
def corroborates() -> Undecidable:
    """The small deviations are said to corroborate that the problem is a principle behind the design of attention."""
    return Undecidable(
        "any weights with full support solve (4) for some preference and evidence, so no measurement of "
        "this kind could speak against (4); both that and what the deviation shows are proved under "
        "deciphering.s8.as-a-result"
    )


# ── figures ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@claim(
    "deciphering.fig1",
    "definition",
    title="Figure 1: the model, in three blocks",
    latex=r"f_{\mathrm{pref}},f_{\mathrm{evd}}\to g\to f_{\mathrm{out}}",
)
def three_blocks() -> Undecidable:
    """A drawing of preference and evidence feeding the block that attention is to be."""
    return Undecidable("a conceptual drawing; the formula in its block is judged in deciphering.18")


@claim("deciphering.fig2", "definition", title="Figure 2: the three examples", latex=r"\text{TP, IC, FB}")
def three_examples() -> Undecidable:
    """Drawings of models for translation, captioning and filling in blanks."""
    return Undecidable("conceptual drawings of models that are described as similar to published ones, without a measure")


@claim(
    "deciphering.fig4",
    "empirical",
    title="Figure 4: deviations by layer, BERT and T5",
    latex=r"\frac{\|\lambda^*-\alpha z\|}{\|\lambda^*\|}\text{ close to 0 in every layer, averaged over heads}",
    needs=("deciphering.s8.as-a-result",),
)
def deviations_by_layer() -> None:
    """In every layer of BERT and T5 the deviation, averaged over heads, is shown to be concentrated near 0."""


@claim(
    "deciphering.s8.nearly-coincides",
    "empirical",
    title="λ* nearly coincides with αz in BERT and T5",
    latex=r"\lambda^*\approx\alpha z",
    needs=("deciphering.fig4",),
)
def nearly_coincides() -> None:
    """The maximizer of the dual is said to nearly coincide with the evidence times α in pretrained models."""


@claim(
    "deciphering.s8.other-models",
    "empirical",
    title="Other popular models behave alike",
    latex=r"\lambda^*\approx\alpha z\text{ in other attention-based models}",
    needs=("deciphering.fig4",),
)
def other_models() -> None:
    """Other popular models are said to give similar results."""


@claim(
    "deciphering.fig5",
    "empirical",
    title="Figure 5: deviations by head, BERT",
    latex=r"\frac{\|\lambda^*-\alpha z\|}{\|\lambda^*\|}\text{ close to 0 in every head}",
    needs=("deciphering.fig4",),
)
def deviations_by_head() -> None:
    """In every head of BERT the deviation is shown to be concentrated near 0."""


@claim(
    "deciphering.fig6",
    "empirical",
    title="Figure 6: deviations by head, T5's encoder",
    needs=("deciphering.fig4",),
    latex=r"\frac{\|\lambda^*-\alpha z\|}{\|\lambda^*\|}\text{ close to 0 in every head of the encoder}",
)
def deviations_of_encoder() -> None:
    """In every self-attention head of T5's encoder the deviation is shown to be concentrated near 0."""


@claim(
    "deciphering.fig7",
    "empirical",
    title="Figure 7: deviations by head, T5's decoder",
    needs=("deciphering.fig4",),
    latex=r"\frac{\|\lambda^*-\alpha z\|}{\|\lambda^*\|}\text{ close to 0 in every head of the decoder}",
)
def deviations_of_decoder() -> None:
    """In every self-attention head of T5's decoder the deviation is shown to be concentrated near 0."""


@claim(
    "deciphering.fig8",
    "empirical",
    title="Figure 8: deviations by head, T5's cross-attention",
    needs=("deciphering.fig4",),
    latex=r"\frac{\|\lambda^*-\alpha z\|}{\|\lambda^*\|}\text{ close to 0 in every cross-attention head}",
)
def deviations_of_cross_attention() -> None:
    """In every cross-attention head of T5 the deviation is shown to be concentrated near 0."""
