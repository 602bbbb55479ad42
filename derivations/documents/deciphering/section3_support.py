"""Section 3: what a support within T excludes, and the limits of a preference that does not see the previous words.

Claims     deciphering.s3.strong-constraint   supp r ⊆ T  ⟹  KL(r ‖ 1/|𝒜|) ≥ log(|𝒜|/M)
           deciphering.s3.words-so-far        ‖u − p‖² + ‖u − q‖² ≥ ½‖p − q‖²
           deciphering.s3.within-support      KL(p ‖ q(·|T)) = KL(p ‖ q) + log q(T) ≤ KL(p ‖ q)  (corrected)
Notation   r_i weights of M = m templates, in a vocabulary of m + o words; p, q weights after two histories, u a preference that
           is the same for both; s_i shares of an estimate within T, t ≥ 0 the odds of what it has outside of T, with mean w;
           x_i templates on a line
References sections 3.1 and 3.2 of the document
"""

import sympy as sp

from derivations.vocabulary import *

m, others = size("m"), size("o")
i, j = index("i", m), index("j", m)
r = simplex("r", m)
vocabulary = m + others


def information(right: sp.Expr, because: sp.Expr | None = None) -> AtLeast:
    """KL(r ‖ uniform on the vocabulary) ≥ right: the words outside T have r = 0 and add nothing."""
    return AtLeast(
        total(i, kl(r[i], 1 / vocabulary)) + others / vocabulary,
        right,
        because=because,
        reason="what is left is KL(r ‖ uniform on T), which is 0 where T is all that is known",
    )


@claim(
    "deciphering.s3.strong-constraint",
    "inequality",
    title="A support within few templates is a strong constraint",
    latex=r"\textstyle\sum_{i=1}^Mr_i\log(Nr_i)\ge\log\frac NM\text{ for all }r\in\Delta^{M-1}",
)
def strong_constraint() -> Steps:
    """For a large vocabulary and few templates a support within T says much: log(|𝒜|/M) nats, more without bound."""
    yield Limit(sp.log((m + positive("x")) / m), positive("x"), sp.oo, sp.oo, reason="as the vocabulary grows")
    yield information(sp.log(vocabulary) - sp.log(m), total(i, kl(r[i], 1 / m)))


strong_constraint.twin("as if one template were left", lambda: information(sp.log(vocabulary)))
strong_constraint.twin("twice as much", lambda: information(2 * sp.log(vocabulary) - 2 * sp.log(m)))


n = size("n")
k = index("k", n)
p, q, u = simplex("p", n), simplex("q", n), simplex("u", n)


def errors(right: sp.Expr, because: sp.Expr | None = None) -> AtLeast:
    """‖u − p‖² + ‖u − q‖² ≥ right."""
    return AtLeast(
        total(k, (u[k] - p[k]) ** 2) + total(k, (u[k] - q[k]) ** 2),
        right,
        because=because,
        reason="what is left is 2‖u − (p + q)/2‖²",
    )


@claim(
    "deciphering.s3.words-so-far",
    "inequality",
    title="A preference that does not see the words so far is inaccurate",
    hypotheses=("the weights depend on the words generated so far: p ≠ q after two histories",),
    latex=r"\|u-p\|^2+\|u-q\|^2\ge\tfrac12\|p-q\|^2",
    needs=("deciphering.s3.mean-shift",),
)
def words_so_far() -> Steps:
    """What depends on the words generated so far cannot be met by weights from places alone: they miss one of two histories."""
    distance = total(k, (p[k] - q[k]) ** 2)
    yield errors(distance / 2, 2 * total(k, (u[k] - (p[k] + q[k]) / 2) ** 2))


words_so_far.twin("by the whole distance", lambda: errors(total(k, (p[k] - q[k]) ** 2)))
words_so_far.twin("by three quarters of it", lambda: errors(3 * total(k, (p[k] - q[k]) ** 2) / 4))


confined, spilled = interior("s", m), scalar("t", Nonnegative)
line, away = vector("x", m), scalar("w")


def estimate(right: sp.Expr, because: sp.Expr | None = None) -> AtLeast:
    """KL(r ‖ estimate) ≥ right, where the estimate has s_i/(1 + t) on T and t/(1 + t) outside, of which r has nothing."""
    within = total(i, kl(r[i], confined[i] / (1 + spilled)))
    return AtLeast(within + spilled / (1 + spilled), right, because=because, reason="the gap is log(1 + t), t the odds outside")


def centres(at: dict[Variable, Value]) -> AtLeast:
    """Squared distances from the mean Σ r x, of the estimate's mean with w outside, and of the mean of what it has on T."""
    truth, confined_mean = total(i, r[i] * line[i]), total(i, confined[i] * line[i])
    return AtLeast(((confined_mean + spilled * away) / (1 + spilled) - truth) ** 2, (confined_mean - truth) ** 2, at=at)


@claim(
    "deciphering.s3.within-support",
    "inequality",
    title="An estimate of h improves within the support",
    hypotheses=("the truth keeps within T",),
    needs=("deciphering.s3.convex-combination",),
    latex=r"\|h_{q(\cdot|\mathbf T)}-h\|\le\|h_q-h\|",
)
def within_support() -> Steps:
    """The estimate of h is said to improve if the support of the weights is kept within T."""
    half, quarter = sp.S.Half, sp.Rational(1, 4)
    yield Fails(
        centres({m: 2, r.label: [half, half], confined.label: [3 * quarter, quarter], spilled: 1, line.label: [0, 2], away: 1}),
        reason="h = 1: with a template at 1 outside T the estimate is 3/4, without it 1/2: one error mends another",
    )


@within_support.corrected(
    r"\mathrm{KL}(p\|q(\cdot|\mathbf T))=\mathrm{KL}(p\|q)+\log q(\mathbf T)\le\mathrm{KL}(p\|q)",
    Severity.WORDING,
    replaces="the distance of the means, by the divergence of the weights",
)
def weights_improve() -> Steps:
    """The estimate of the weights improves, by −log q(T) in divergence; their mean need not."""
    gap = kl(sp.S.One, 1 / (1 + spilled)) + spilled / (1 + spilled)
    yield estimate(total(i, kl(r[i], confined[i])), gap)


within_support.twin("by the odds of the rest", lambda: estimate(total(i, kl(r[i], confined[i])) + spilled))
within_support.twin("by half of the divergence", lambda: estimate(2 * total(i, kl(r[i], confined[i]))))
