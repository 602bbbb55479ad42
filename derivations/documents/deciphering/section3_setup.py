"""Section 3: templates, the preference distribution and the noisy evidence.

Claims     deciphering.s3.convex-combination   m − ⟨v, h⟩ = Σ_i p_i(m − ⟨v, t_i⟩) for all v and m
           deciphering.2                       ∫ ‖a‖ p(a) da < ∞  ⟹  h = ∫ a p(a) da exists
           deciphering.s3.mean-shift           h − μ = Σ_i (p_i − u_i) t_i
           deciphering.s3.shift-of-mu          E z = h − μ, and not μ − h  (corrected)
           deciphering.s3.estimate-of-h        E[μ + z] = h and E‖μ + z − h‖² = dσ²
Notation   p the weights of the templates, h = Σ_i p_i t_i; v any vector, m a number; g = ε/σ, with independent entries of
           mean 0 and variance 1; the superscript (k) is left out; an integral over a finite set is a sum; w any weights of
           the templates, zeros allowed; x[i] and y points of a line; R the end of an integral, H any
           number; r[i], q[i] ≥ 0 the positive and the negative part of a coordinate; r words generated so far
References Section 3 of the document
"""

import sympy as sp

from derivations.documents.deciphering.notation import T, a, c, d, i, mean, mu, n, u
from derivations.vocabulary import *

p = simplex("p", n)
v, h, center = vector("v", d), vector("h", d), vector("mu", d)
peak = scalar("m")
sigma = positive("sigma")
g = vector("g", d, kind=Random)


# ── (1) and (2): the mean of an unknown distribution ────────────────────────────────────────────────────────────────


def moved_templates(of: Entry, right: sp.Expr) -> Equation:
    """The mean of the templates t_i + v."""
    return Equation(total(i, of(i) * (T[i, a] + v[a])), right, reason="weights of sum 1: moving all templates moves h")


@claim(
    "deciphering.1",
    "definition",
    title="h is the mean of a distribution on the templates",
    latex=r"h=\int_Ttp(t)dt,\quad p\ge0,\ \int_Tp(t)dt=1",
    hypotheses=("∫ over the finite set T is a sum",),
)
def mean_of_templates() -> Steps:
    """The vector h is the mean of the templates under weights that are ≥ 0 and sum to 1; such weights exist for every M."""
    yield Equation(total(i, 1 / n), 1, reason="an instance: equal weights")
    yield moved_templates(p, mean(p)(a) + v[a])


mean_of_templates.twin("weights that do not sum to 1", lambda: moved_templates(p, mean(p)(a) + n * v[a] + v[a]))
mean_of_templates.twin("a sum for the mean", lambda: moved_templates(p, total(i, T[i, a]) + v[a]))


@claim(
    "deciphering.s3.convex-combination",
    "equivalence",
    title="A convex combination is a mean",
    needs=("deciphering.1",),
    latex=r"m-\langle v,h\rangle=\textstyle\sum_ip_i(m-\langle v,t_i\rangle)\ \forall v,m",
)
def convex_combination() -> Steps:
    """To be a convex combination of templates is to be a mean of them, by weights ≥ 0 of sum 1: h is in their convex hull."""
    yield AtLeast(p[i], 0, reason="weights ≥ 0")
    yield Equation(total(i, p[i]), 1, reason="of sum 1: both the coefficients of a combination and a distribution", about=(n,))
    yield half_space(p)


def half_space(shares: Entry) -> Equation:
    """m − ⟨v, h⟩ against the same of the templates, for any direction v and level m."""

    def below(point: Entry) -> sp.Expr:
        return peak - total(a, v[a] * point(a))

    return Equation(
        below(mean(p)),
        total(i, shares(i) * below(lambda entry: T[i, entry])),
        reason="≥ 0 where no term is negative: h lies in every half-space that holds all templates",
    )


convex_combination.twin("equal weights", lambda: half_space(lambda template: 1 / n))
convex_combination.twin("weights that do not sum to 1", lambda: half_space(lambda template: n * p[template]))


given, off, y = simplex("w", n), vector("x", n), scalar("y")


def mirrored(right: sp.Expr) -> Equation:
    """The mean of a law that is symmetric about m: half of the weights w_i at m + x_i, half at m − x_i."""
    left = total(i, given[i] * (peak + off[i])) / 2 + total(i, given[i] * (peak - off[i])) / 2
    return Equation(left, right, reason="and mean m, as for every law that is symmetric about m: one coordinate of N(m, I)")


far, value = positive("R"), scalar("H")
upper, lower = (vector(name, n, kind=Nonnegative) for name in ("r", "q"))


@claim(
    "deciphering.2",
    "definition",
    title="The mean of a distribution on all possible templates",
    needs=("deciphering.1",),
    latex=r"h=\int_{\mathcal A}ap(a)da,\quad p\ge0,\ \int_{\mathcal A}p(a)da=1",
)
def mean_of_distribution() -> Steps:
    """The same with a distribution on the whole space of templates, of which no more is asked than p ≥ 0 and mass 1."""
    yield Equation(derivative(1 - 1 / far, far), far**-2, reason="p(a) = 1/a² on a ≥ 1 has the mass 1 − 1/R up to R")
    yield Limit(1 - 1 / far, far, sp.oo, sp.S.One, reason="so it is a distribution")
    yield Equation(derivative(sp.log(far), far), far * far**-2, reason="and ∫ a p(a) da up to R is log R")
    yield Fails(Limit(sp.log(far), far, sp.oo, value, at={value: 0}), reason="which no vector h can be")


@mean_of_distribution.corrected(
    r"\int\|a\|p(a)da<\infty\implies h=\int ap(a)da",
    Severity.HYPOTHESIS,
    under="∫ ‖a‖ p(a) da is finite, as for finitely many templates and for a Gaussian u",
    replaces="every p ≥ 0 of mass 1, of which some have no mean",
)
def mean_of_integrable() -> Steps:
    """A distribution with a finite first moment has a mean, whether it has a density or not, say a Gaussian one."""
    yield AtLeast(
        total(i, given[i] * (upper[i] + lower[i])),
        total(i, given[i] * (upper[i] - lower[i])),
        because=2 * total(i, given[i] * lower[i]),
        quotes=(DOMINATED_CONVERGENCE,),
        reason="a coordinate r − q with r, q ≥ 0 is at most its size, on every finite part: what is left tends to 0",
    )
    bell = sp.exp(-((y - peak) ** 2) / 2)
    yield Equation(derivative(-bell, y), (y - peak) * bell, reason="an antiderivative of (y − m) times the density")
    yield Limit(sp.exp(-(y**2) / 2), y, sp.oo, sp.S.Zero, reason="which vanishes at both ends: the integral is 0")
    yield Equation(total(i, given[i]) / 2 + total(i, given[i]) / 2, 1, reason="mass 1", about=(n,))
    yield mirrored(peak)


mean_of_distribution.twin("the second moment", lambda: mirrored(peak**2 + 1))
mean_of_distribution.twin("centred", lambda: mirrored(sp.S.Zero))


# ── the preference distribution ─────────────────────────────────────────────────────────────────────────────────────


@claim(
    "deciphering.s3.preference",
    "definition",
    title="The preference distribution is non-zero on every template",
    latex=r"u_i>0\text{ for all }i,\quad\textstyle\sum_iu_i=1",
)
def preference_distribution() -> Steps:
    """The preference distribution puts non-zero probabilities, which sum to 1, on all M templates."""
    yield AtLeast(1 / n, 0, strict=True, reason="an instance: all templates alike, as in image captioning")
    yield Equation(total(i, 1 / n), 1, reason="with mass 1", about=(n,))
    yield positive_weight(sp.S.Zero)


def positive_weight(bound: sp.Expr) -> AtLeast:
    """u_i > bound: the set of templates is what has weight; (19) gives a masked word weight 0, which leaves it out."""
    return AtLeast(u[i], bound, strict=True, reason="non-zero on each template of the set")


preference_distribution.twin("every template has its equal share", lambda: positive_weight(1 / n))
preference_distribution.twin("every template has half of its equal share", lambda: positive_weight(1 / (2 * n)))


def shift(right: Entry) -> Equation:
    """h − μ, entry by entry."""
    return Equation(
        mean(p)(a) - mu(a), total(i, right(i) * (T[i, a] - v[a])), reason="Σ (p_i − u_i) = 0, so any origin v will do"
    )


@claim(
    "deciphering.s3.mean-shift",
    "identity",
    title="Where u and p differ the mean is shifted",
    latex=r"h-\mu=\textstyle\sum_i(p_i-u_i)t_i",
    needs=("deciphering.1", "deciphering.s3.preference"),
)
def mean_shift() -> Steps:
    """The shift from μ to h is what the differences of the weights make it; it vanishes if u = p, and may do so otherwise."""
    yield shift(lambda e: p[e] - u[e])


mean_shift.twin("the sign", lambda: shift(lambda e: u[e] - p[e]))
mean_shift.twin("p alone", lambda: shift(p))


# ── the evidence ────────────────────────────────────────────────────────────────────────────────────────────────────


def evidence(e: sp.Expr) -> sp.Expr:
    """z_a = (h − μ + ε)_a with ε = σg."""
    return h[e] - center[e] + sigma * g[e]


def noise(right: sp.Expr) -> Equation:
    """The covariance of the evidence around h − μ."""
    spread = expectation(evidence(a) * evidence(c)) - (h[a] - center[a]) * (h[c] - center[c])
    return Equation(spread, right, reason="E z_a z_c − E z_a E z_c, with E g_a g_c = δ_ac")


@claim(
    "deciphering.3",
    "definition",
    title="The evidence is a noisy mean shift",
    latex=r"z=h-\mu+\epsilon,\quad\epsilon\sim\mathcal N(0,\sigma^2I)",
)
def noisy_shift() -> Steps:
    """The evidence is the shift of the mean, with spherical noise of variance σ² added to each coordinate."""
    yield expected_evidence(h[a] - center[a])
    yield noise(sigma**2 * delta(a, c))


noisy_shift.twin("σ is the variance", lambda: noise(sigma * delta(a, c)))
noisy_shift.twin("not spherical", lambda: noise(sigma**2))


def expected_evidence(right: sp.Expr) -> Equation:
    """E z_a, as the slope of E⟨z, v⟩ in v_a."""
    paired = expectation(total(c, evidence(c) * v[c]))
    return Equation(derivative(paired, v[a]), right, reason="E⟨z, v⟩ = ⟨h − μ, v⟩ for every v, since E ε = 0")


@claim(
    "deciphering.s3.shift-of-mu",
    "identity",
    title="In captioning, z predicts the shift of μ from h",
    latex=r"z\text{ predicts the shift }\mu-h\text{ of the mean }\mu\text{ from }h",
    needs=("deciphering.3",),
)
def shift_of_mu() -> Steps:
    """In the captioning example the evidence is said to predict the shift of the mean μ from h."""
    yield Fails(expected_evidence(center[a] - h[a]), reason="the shift of μ from h is μ − h, and z = h − μ + ε")


@shift_of_mu.corrected(r"\mathbb E z=h-\mu", Severity.WORDING)
def shift_of_h() -> Steps:
    """The evidence predicts the shift of h from μ, as the blank-filling example says, so that μ + z estimates h."""
    yield expected_evidence(h[a] - center[a])


shift_of_mu.twin("h itself", lambda: expected_evidence(h[a]))
shift_of_mu.twin("half of the shift", lambda: expected_evidence((h[a] - center[a]) / 2))


def squared_error(right: sp.Expr) -> Equation:
    """E ‖μ + z − h‖²."""
    return Equation(total(a, expectation((center[a] + evidence(a) - h[a]) ** 2)), right, reason="d variances σ²")


@claim(
    "deciphering.s3.estimate-of-h",
    "identity",
    title="μ + z is an estimate of h",
    needs=("deciphering.3",),
    latex=r"\mathbb E[\mu+z]=h,\quad\mathbb E\|\mu+z-h\|^2=d\sigma^2",
)
def estimate_of_h() -> Steps:
    """The sum μ + z estimates h without bias, with the error of the noise, so it should not be far from h."""
    yield Equation(
        expectation(total(a, (center[a] + evidence(a) - v[a]) ** 2)),
        total(a, (h[a] - v[a]) ** 2) + d * sigma**2,
        reason="without bias: the mean squared distance from v is least at v = h",
    )
    yield squared_error(d * sigma**2)


estimate_of_h.twin("one coordinate's error", lambda: squared_error(sigma**2))
estimate_of_h.twin("the standard deviation", lambda: squared_error(d * sigma))


so_far = size("r")


def counted(right: sp.Expr) -> Equation:
    """The number of words before the word k = r + 1, counted one by one."""
    return Equation(total(index("w", so_far), sp.S.One), right, reason="words 1, …, r", about=(so_far,))


@claim(
    "deciphering.s3.previous-words",
    "definition",
    title="The previously generated words",
    latex=r"Y^{(i<t)}\text{, the words generated before }Y^{(k)}",
)
def previous_words() -> Steps:
    """What is generated before the k-th word is written with a bound t that is defined nowhere."""
    yield Fails(
        Equation(size("t") - 1, size("k") - 1, at={size("t"): 2, size("k"): 1}),
        reason="#{i < t} is not the number of words before the k-th, unless t = k",
    )


@previous_words.corrected(r"Y^{(i<k)}", Severity.SLIP, replaces="the bound t of the superscript")
def words_before() -> Steps:
    """The words before the k-th are those with i < k, as earlier in the setup: k − 1 of them."""
    yield counted((so_far + 1) - 1)


previous_words.twin("the word itself is one of them", lambda: counted(so_far + 1))
previous_words.twin("the last one is left out", lambda: counted(so_far - 1))


@claim("deciphering.fn3", "external fact", title="Sentence generation is Markovian", latex=r"\text{Markovian}")
def markovian() -> Undecidable:
    """Generating a sentence is assumed to be Markovian, with more details promised for Section 3.2."""
    return Undecidable(
        "an assumption without a formula: no order is given, no later line uses it, and Section 3.2 does not "
        "come back to it but lets the evidence depend on all words generated so far"
    )


# ── footnotes 1, 2, 5 and 6 ─────────────────────────────────────────────────────────────────────────────────────────


@claim("deciphering.fn1", "definition", title="Each output may have templates of its own", latex=r"\mathbf T^{(k)}")
def own_templates() -> Undecidable:
    """The superscript k of the templates says that different outputs need not share them."""
    return Undecidable("a remark on notation, which excludes nothing; where they are shared is said in footnote 4")


@claim("deciphering.fn2", "definition", title="The other examples follow", latex=r"\text{TP first, IC and FB in Section 3.2}")
def other_examples() -> Undecidable:
    """The setup is said to be motivated by translation, and to be applied to the other two examples in Section 3.2."""
    return Undecidable("an announcement; Section 3.2 does come back to both, and what it says there is claimed apart")


length = scalar("length")


@claim(
    "deciphering.fn5",
    "external fact",
    title="Convolutions, recurrent layers and self-attention keep the length",
    latex=r"\mathrm{length}(\mathrm{TL}(x_1,\dots,x_n))=n",
    needs=("deciphering.s3.similar-models",),
)
def same_length() -> None:
    """Layers that map a sequence to one of the same length are typically convolutions, recurrent layers or self-attention."""


same_length.twin("one less, as for a convolution two wide without padding", lambda: Equation(length, n - 1))
same_length.twin("twice as many", lambda: Equation(length, 2 * n))


@claim("deciphering.fn6", "definition", title="The superscript k is left out", latex=r"\mathbf h=\mathbf h^{(k)}")
def without_superscript() -> Undecidable:
    """From Section 4 on the superscript k is left out, as a single step of the prediction is looked at."""
    return Undecidable("a remark on notation, which nothing depends on")
