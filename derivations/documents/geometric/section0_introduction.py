"""The introduction: weighted averages, convolutions, and weights that depend on the data.

Claims     geometric.s0.uniform-or-decay   p_j = 1/|S| or p_j ∝ exp(−γ A_j): nonnegative, with sum 1
           geometric.s0.smooths            Var Σ_j p_j z_j = Σ_j p_j² ≤ 1
           geometric.s0.not-expectations   Σ_j w_j V_j = Σ_j p_j V_j for all V  ⟺  w = p, and w need be no pmf
           geometric.s0.blur-or-magnify    Σ_j p_j V_j ≤ max V for a pmf; w = (−1, 3, −1) makes 3 max V of a peak
Notation   z the entries of a noise, independent with mean 0 and variance 1; A_j ≥ 0 the age of location j, gamma = γ its
           decay; w the weights of a convolution around one pixel; peak − s_j ≤ peak the pixels there
References the paragraphs before the first heading of the document
"""

import sympy as sp

from derivations.documents.eot.notation import j, k, l, m
from derivations.documents.geometric.notation import p, soft, uniform, x
from derivations.vocabulary import *

age = vector("A", m, kind=Nonnegative)
noise = vector("z", m, kind=Random)
kernel = vector("w", m)
slack, peak = vector("s", m, kind=Nonnegative), scalar("peak")
gamma, shift = positive("gamma"), scalar("t")


def decaying(strength: sp.Expr) -> Entry:
    """j ↦ exp(−γ A_j)/Σ_l exp(−γ A_l)."""
    return soft(lambda location: -strength * age[location])


def decay(strength: sp.Expr) -> Equation:
    """The ratio of two decaying weights against the exponential of a multiple of the difference of their ages."""
    return Equation(decaying(gamma)(j) / decaying(gamma)(k), sp.exp(strength * (age[j] - age[k])), reason="the sum cancels")


@claim(
    "geometric.s0.uniform-or-decay",
    "definition",
    title="A moving average has uniform or decaying weights",
    latex=r"p_t=\tfrac1{|S|}\quad\text{or}\quad p_t=e^{-\gamma a_t}\big/\textstyle\sum_se^{-\gamma a_s}",
)
def moving_average() -> Steps:
    """A moving average weighs all of its window alike, or the less the longer ago; both are weights of sum 1."""
    yield Equation(total(j, uniform(j)), 1, reason="uniform", about=(m,))
    yield Equation(total(j, decaying(gamma)(j)), 1, reason="decaying with the age", about=(gamma, age[j]))
    yield decay(-gamma)


moving_average.twin("the oldest weigh most", lambda: decay(gamma))
moving_average.twin("the rate is lost", lambda: decay(-sp.S.One))


def averaged() -> sp.Expr:
    """Σ_jk p_j p_k E[z_j z_k], the variance of Σ_j p_j z_j, whose mean is 0."""
    return total((j, k), p[j] * p[k] * expectation(noise[j] * noise[k]))


@claim(
    "geometric.s0.smooths",
    "identity",
    title="A moving average smooths",
    latex=r"\mathrm{Var}\textstyle\sum_tp_tz_t=\sum_tp_t^2\le1",
    hypotheses=("noise independent at different times",),
)
def smooths() -> Steps:
    """Averaging makes independent noise smaller: of a variance 1 is left the sum of squared weights, which is at most 1."""
    others = total(l, p[l] * (1 - delta(l, j)))
    yield AtLeast(1, total(j, p[j] ** 2), because=total(j, p[j] * others), reason="p_j² ≤ p_j; 1 only for a basis vector")
    yield Equation(averaged(), variance(total(j, p[j] * noise[j])), reason="E z_j z_k = δ_jk: it is Σ_j p_j²")


smooths.twin("as under uniform weights", lambda: Equation(averaged(), 1 / m))
smooths.twin("the noise stays", lambda: Equation(averaged(), 1, about=(p[j],)))


def response(location: sp.Expr) -> sp.Expr:
    """Σ_j w_j δ_jk − Σ_j p_j δ_jk: the responses of filter and expectation to an image that is 1 at one pixel, compared."""
    return total(j, kernel[j] * delta(j, location)) - total(j, p[j] * delta(j, location))


@claim(
    "geometric.s0.not-expectations",
    "equivalence",
    title="Convolutions need not be expectations",
    latex=r"\forall V:\textstyle\sum_tw_tV_t=\sum_tp_tV_t\iff w=p,\quad w\ \text{need not be a pmf}",
)
def not_expectations() -> Steps:
    """The weights of a convolution may be negative or have another sum than 1, and then no expectation gives its values."""
    yield Fails(AtLeast(kernel[j], 0, at={m: 3, kernel.label: [-1, 2, -1], j: 1}), reason="an edge detector: negative weights")
    yield Fails(Equation(total(j, kernel[j]), 1, at={m: 3, kernel.label: [-1, 2, -1]}), reason="and their sum is 0")
    yield Equation(response(k), kernel[k] - p[k], reason="on one pixel alone: they agree on all images iff w = p")


not_expectations.twin(
    "the convolution is normalized first", lambda: Equation(response(k), kernel[k] / total(j, kernel[j]) - p[k])
)
not_expectations.twin("signs do not matter", lambda: Equation(response(k), sp.Abs(kernel[k]) - p[k]))


def filtered(of: sp.IndexedBase) -> sp.Expr:
    """Σ_j w_j V_j for pixels V_j = peak − s_j."""
    return total(j, of[j] * (peak - slack[j]))


def below(bound: sp.Expr, because: sp.Expr | None = None) -> AtLeast:
    """A bound on averages with weights that form a pmf."""
    return AtLeast(bound, filtered(p), because=because, reason="no average leaves the range of the pixels: contrast falls")


@claim(
    "geometric.s0.blur-or-magnify",
    "inequality",
    title="Convolutions can blur or magnify",
    latex=r"p\ \text{a pmf}:\ \textstyle\sum_tp_tV_t\le\max_tV_t;\quad w=(-1,3,-1):\ \sum_tw_tV_t=3\max_tV_t",
)
def blur_or_magnify() -> Steps:
    """Weights that form a pmf can only blur; weights of sum 1 with negative ones among them can magnify a peak."""
    sharpening: dict[Variable, Value] = {m: 3, kernel.label: [-1, 3, -1], slack.label: [1, 0, 1], peak: 1}
    yield Fails(AtLeast(peak, filtered(kernel), at=sharpening), reason="a peak (0, 1, 0) sharpened by (−1, 3, −1) becomes 3")
    yield below(peak, total(j, p[j] * slack[j]))


blur_or_magnify.twin("below every pixel", lambda: below(peak - total(j, slack[j])))
blur_or_magnify.twin("below the mean by equal weights", lambda: below(peak - total(j, slack[j]) / m))


def sensitivity(factor: sp.Expr) -> Equation:
    """∂p_j/∂x_k for weights computed from the window."""
    own = soft(x)
    return Equation(derivative(own(j), x[k]), own(j) * (delta(j, k) - factor * own(k)), reason="every value moves every weight")


@claim(
    "geometric.s0.data-dependent",
    "definition",
    title="Weights as a function of the window",
    latex=r"p=p(x),\quad\text{say } p(x)=\mathrm{softmax}(x)",
)
def data_dependent() -> Steps:
    """The weights are a function of the window that they average, so that they can vary as it moves."""
    own = soft(x)
    yield AtLeast(own(j), 0, strict=True, reason="an instance: softmax of the window")
    yield Equation(total(j, own(j)), 1, about=(x[j],), reason="with sum 1")
    yield Equation(
        soft(lambda location: x[location] + shift)(j),
        own(j),
        about=(shift,),
        reason="it sees differences only: on a straight line x_t = t the weights stay as the window moves",
    )
    yield sensitivity(sp.S.One)


data_dependent.twin("each value moves its own weight only", lambda: sensitivity(sp.S.Zero))
data_dependent.twin("the sum of the weights moves", lambda: sensitivity(sp.Integer(2)))


@claim(
    "geometric.s0.motivation",
    "external fact",
    title="The core motivation and the key challenge",
    latex=r"\text{core motivation: importance and prediction},\quad\text{key challenge: choosing } p",
)
def motivation() -> Undecidable:
    """Importance and good predictions are called the core motivation of attention, choosing its weights the key challenge."""
    return Undecidable(
        "what moved the authors of the mechanisms in use is no matter of proof, and no measure compares "
        "challenges; what the weights do achieve is judged where they are defined"
    )
