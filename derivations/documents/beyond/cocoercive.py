"""How far the output of attention moves with its query: the constant D²/4, step by step, for tilts of one law.

Claims     beyond.cocoercive         ‖h_λ − h_ν‖² ≤ D²/4 ⟨λ − ν, h_λ − h_ν⟩
           beyond.cocoercive-prior   ‖ĥ − μ‖² ≤ D²/4 ⟨λ*, ĥ − μ⟩, the same from λ* to no query at all
           beyond.cocoercive-pass    ‖h_c − ĥ‖² ≤ D²/4 ⟨αz − λ*, h_c − ĥ⟩, the same from αz to λ*
           beyond.pass-divergence    KL(p_c, p*) ≤ D²/8 ‖αz − λ*‖²
Notation   u any law on the templates t_i, all of whose weights are > 0; p_λ = tilt(λ) and h_λ its mean, so that h_λ is what
           attention with the query λ gives; λ = λ* and z = λ*/α + ĥ − μ, of which λ* maximizes the dual; p* = tilt(λ*), ĥ its
           mean, p_c = tilt(αz) attention itself, h_c its mean; y = ν;
           δ_i the difference of two laws, δ⁺ and δ⁻ its positive and its negative part, ‖δ‖₁ = Σ |δ| = 2 Σ δ⁺ = 2 Σ δ⁻;
           D ≥ ‖t_i − t_j‖ for all i and j
References Jeffreys (1946), Pinsker (1964); Nesterov (2018), Theorem 2.1.5, for what is called cocoercive; Hoeffding (1963),
           Lemma 1, whose constant 1/8 is that of `beyond.pass-divergence`

Every step is proved for every number of templates, every dimension and every law, and rests on no theorem of convex analysis:
no Hessian is integrated.  The mass that two laws have not in common is carried from where there is too much of it to where
there is too little, in proportion to δ⁺_i δ⁻_j, over distances of D at most; and Pinsker's inequality bounds that mass by the
divergences.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property

import sympy as sp

from derivations.documents.beyond.exact_attention import jeffreys, minus, own, product, y
from derivations.documents.beyond.smoothness import DIAMETER, WITHIN, D
from derivations.documents.deciphering.notation import T, a, alpha, d, i, j, lam, mean, mu, n, tilt, u
from derivations.documents.deciphering.section6_theorem1 import FINITE, distance, divergence, tilted
from derivations.vocabulary import *


@dataclass(frozen=True)
class Pair:
    """Two laws p and w on the templates with log(p_i/w_i) = ⟨t_i, query⟩ − c.

    Attributes:
        first, second: p_i and w_i at the index i, written once, so that equal parts are one object.
        query: by which vector the queries of p and of w differ.
    """

    first: sp.Expr
    second: sp.Expr
    query: Entry

    def one(self, template: sp.Expr) -> sp.Expr:
        """p_i."""
        return self.first.xreplace({i: template})

    def two(self, template: sp.Expr) -> sp.Expr:
        """w_i."""
        return self.second.xreplace({i: template})

    def more(self, template: sp.Expr) -> sp.Expr:
        """δ⁺_i = (p_i − w_i)₊."""
        return plus(self.one(template) - self.two(template))

    def less(self, template: sp.Expr) -> sp.Expr:
        """δ⁻_i = (w_i − p_i)₊."""
        return plus(self.two(template) - self.one(template))

    def apart(self, entry: sp.Expr) -> sp.Expr:
        """(h_p − h_w)_a."""
        return mean(self.one)(entry) - mean(self.two)(entry)

    @cached_property
    def l1_distance(self) -> sp.Expr:
        """‖δ‖₁."""
        return total(i, sp.Abs(self.one(i) - self.two(i)))

    @cached_property
    def squared(self) -> sp.Expr:
        """‖h_p − h_w‖²."""
        return distance(mean(self.one), mean(self.two))

    @cached_property
    def paired(self) -> sp.Expr:
        """⟨query, h_p − h_w⟩."""
        return product(self.query, self.apart)

    @cached_property
    def both(self) -> sp.Expr:
        """KL(p, w) + KL(w, p)."""
        return jeffreys(self.one, self.two)

    def carried(self, from_: Entry, to: Entry) -> sp.Expr:
        """Σ_ij from_i to_j ‖t_i − t_j‖²."""
        return total((i, j), from_(i) * to(j) * total(a, (T[i, a] - T[j, a]) ** 2))

    @cached_property
    def shipped(self) -> sp.Expr:
        """δ⁺_i δ⁻_j, by which a distance counts; all of them sum to ‖δ‖₁²/4."""
        return self.more(i) * self.less(j)

    @cached_property
    def by_masses(self) -> AtLeast:
        """Σ δ⁺_i δ⁻_j ‖t_i − t_j‖² ≥ ‖h_p − h_w‖²."""
        same = self.carried(self.more, self.more) + self.carried(self.less, self.less)
        return AtLeast(
            self.carried(self.more, self.less),
            self.squared,
            because=same / 2,
            reason="‖h_p − h_w‖² ≤ Σ δ⁺_i δ⁻_j ‖t_i − t_j‖², where δ = p − w = δ⁺ − δ⁻: as Σ δ = 0, ‖Σ δ_i t_i‖² is "
            "−Σ δ_i δ_j ‖t_i − t_j‖²/2;",
        )

    @cached_property
    def exchanged(self) -> Equation:
        """⟨query, h_p − h_w⟩ = KL(p, w) + KL(w, p)."""
        return Equation(
            self.paired,
            self.both,
            reason="⟨x − y, h_p − h_w⟩ = KL(p, w) + KL(w, p) for p = tilt(x) and w = tilt(y): log(p/w) is "
            "⟨t, x − y⟩ less a constant;",
        )

    @cached_property
    def spread(self) -> sp.Expr:
        """Σ 2δ²/(p + w)."""
        return total(j, 2 * (self.one(j) - self.two(j)) ** 2 / (self.one(j) + self.two(j)))

    @cached_property
    def by_entries(self) -> AtLeast:
        """KL(p, w) + KL(w, p) ≥ Σ 2δ²/(p + w)."""
        p, w = self.one(j), self.two(j)
        steep = (p - w) ** 4 / (2 * (p + w) * (p + 2 * w) * (2 * p + w))
        return AtLeast(
            self.both,
            self.spread,
            because=total(j, pinsker(p, w)) + total(j, pinsker(w, p)) + total(j, steep),
            reason="KL(p, w) + KL(w, p) ≥ Σ 2(p − w)²/(p + w): entry by entry, kl(x ‖ y) ≥ 3(x − y)²/(2(x + 2y));",
        )

    @cached_property
    def by_mass(self) -> AtLeast:
        """Σ 2δ²/(p + w) ≥ ‖δ‖₁²."""
        p, w = self.one(j), self.two(j)
        slack = 4 * total(j, (p + w) * bregman(sp.Abs(p - w) / (p + w), self.l1_distance / 2, sp.Integer(2)))
        return AtLeast(
            self.spread,
            self.l1_distance**2,
            because=slack,
            reason="Σ 2(p − w)²/(p + w) ≥ ‖p − w‖₁²: Cauchy and Schwarz, as Σ (p + w) = 2;",
        )

    def cocoercive(self, share: sp.Expr) -> AtLeast:
        """share · D²⟨query, h_p − h_w⟩ ≥ ‖h_p − h_w‖²."""
        return AtLeast(share * D**2 * self.paired, self.squared)

    def steps(self) -> Steps:
        """D²/4 ⟨query, h_p − h_w⟩ ≥ ‖h_p − h_w‖², from nothing but the distances of the templates."""
        yield self.exchanged
        yield self.by_entries
        yield self.by_mass
        yield self.by_masses
        premises = (self.by_entries, self.by_mass, self.by_masses, DIAMETER)
        yield Follows(
            premises,
            self.cocoercive(sp.Rational(1, 4)),
            (D**2 / 4, D**2 / 4, sp.S.One, self.shipped),
            given=(DIAMETER,),
            reason="‖h_p − h_w‖² ≤ D²/4 ‖p − w‖₁² ≤ D²/4 (KL(p, w) + KL(w, p)); given is that no distance exceeds D",
        )

    def wrong(self, share: sp.Expr, at: dict[Variable, Value]) -> AtLeast:
        """The same with a share that is too small, as a bare inequality."""
        return AtLeast(*self.cocoercive(share).sides, given=(DIAMETER,), at=at)


def gained(entry: sp.Expr) -> sp.Expr:
    """g_a = (ĥ − μ)_a."""
    return mean(tilted)(entry) - mu(entry)


def scaled(entry: sp.Expr) -> sp.Expr:
    """αz_a − λ*_a = αg_a."""
    return alpha * gained(entry)


def query(entry: sp.Expr) -> sp.Expr:
    """αz_a = λ*_a + αg_a."""
    return lam[entry] + scaled(entry)


ANY = Pair(tilted(i), tilt(y)(i), minus(lam, y))
FROM_PRIOR = Pair(tilted(i), u[i], lam)
PASS = Pair(tilt(query)(i), tilted(i), scaled)
"""Two queries; λ* and none; αz and λ*."""

NEAR: dict[Variable, Value] = {
    n: 2,
    d: 1,
    T.label: [[1], [-1]],
    u.label: [Fraction(1, 2)] * 2,
    lam.label: [Fraction(1, 10)],
    D: 2,
}
"""Two templates ±1 of equal weight and a short query: all bounds are almost equalities."""


# ── any two queries ─────────────────────────────────────────────────────────────────────────────────────────────────


@claim(
    "beyond.cocoercive",
    "inequality",
    title="The output of attention is a cocoercive function of the query",
    hypotheses=(*FINITE, WITHIN),
    needs=("beyond.jeffreys", "beyond.mean-distance", "beyond.dual-monotone"),
    latex=r"\|h_\lambda-h_\nu\|^2\le\tfrac{D^2}4\langle\lambda-\nu,h_\lambda-h_\nu\rangle",
)
def cocoercive() -> Steps:
    """Attention moves with its query, never against it, and by D²/4 times as much at most, whatever keys and prior are."""
    yield from ANY.steps()


cocoercive.twin("an eighth", lambda: ANY.wrong(sp.Rational(1, 8), {**NEAR, y.label: [0]}))
cocoercive.twin("a fifth", lambda: ANY.wrong(sp.Rational(1, 5), {**NEAR, y.label: [0]}))


@claim(
    "beyond.cocoercive-prior",
    "inequality",
    title="How far evidence moves the mean",
    hypotheses=(*FINITE, WITHIN),
    needs=("beyond.cocoercive",),
    latex=r"\|\hat h-\mu\|^2\le\tfrac{D^2}4\langle\lambda^*,\hat h-\mu\rangle",
)
def cocoercive_prior() -> Steps:
    """The case ν = 0, where the tilt is u itself: a query and what it gains are never at a right angle."""
    yield from FROM_PRIOR.steps()


cocoercive_prior.twin("an eighth", lambda: FROM_PRIOR.wrong(sp.Rational(1, 8), NEAR))
cocoercive_prior.twin("a fifth", lambda: FROM_PRIOR.wrong(sp.Rational(1, 5), NEAR))


# ── one pass ────────────────────────────────────────────────────────────────────────────────────────────────────────


@claim(
    "beyond.cocoercive-pass",
    "inequality",
    title="How far one pass of attention moves the exact mean",
    hypotheses=(*FINITE, WITHIN),
    needs=("beyond.cocoercive", "deciphering.9"),
    latex=r"\|h_c-\hat h\|^2\le\tfrac{D^2}4\,\alpha\langle\hat h-\mu,h_c-\hat h\rangle",
)
def cocoercive_pass() -> Steps:
    """The case of αz and λ*, whose difference is α(ĥ − μ): one pass errs in the direction in which the solution lies."""
    yield Equation(alpha * own(a), query(a), reason="λ* maximizes the dual for μ + z = λ*/α + ĥ, so αz is λ* + α(ĥ − μ);")
    yield from PASS.steps()


cocoercive_pass.twin("an eighth", lambda: PASS.wrong(sp.Rational(1, 8), {**NEAR, alpha: 1}))
cocoercive_pass.twin("a fifth", lambda: PASS.wrong(sp.Rational(1, 5), {**NEAR, alpha: 1}))


@cache
def lost() -> sp.Expr:
    """KL(p_c, p*)."""
    return divergence(PASS.one, PASS.two)


@cache
def one_sided() -> AtLeast:
    """KL(p*, p_c) ≥ ‖p_c − p*‖₁²/2."""
    p, w = PASS.one(j), PASS.two(j)
    off = 3 * total(j, (w + 2 * p) * bregman(sp.Abs(w - p) / (w + 2 * p), PASS.l1_distance / 3, sp.Integer(2)))
    return AtLeast(
        divergence(PASS.two, PASS.one),
        PASS.l1_distance**2 / 2,
        because=total(j, pinsker(w, p)) + off,
        reason="KL(p*, p_c) ≥ ‖p_c − p*‖₁²/2: Pinsker's inequality, as Σ (p* + 2p_c) = 3;",
    )


def spent(share: sp.Expr) -> AtLeast:
    """share · α²D²‖g‖² ≥ KL(p_c, p*)."""
    return AtLeast(share * alpha**2 * D**2 * product(gained, gained), lost())


@cache
def cheap() -> Follows:
    """α²D²/8 ‖g‖² ≥ KL(p_c, p*)."""
    rest = total(a, (alpha * D**2 * gained(a) / 4 - PASS.apart(a)) ** 2)
    weights = sp.S.One, 2 / D**2, 2 / D**2 * PASS.shipped
    return Follows(
        (one_sided(), PASS.by_masses, DIAMETER),
        spent(sp.Rational(1, 8)),
        weights,
        2 / D**2 * rest,
        given=(DIAMETER,),
        reason="KL(p_c, p*) = α⟨g, e⟩ − KL(p*, p_c) ≤ α⟨g, e⟩ − 2‖e‖²/D², which is α²D²‖g‖²/8 at most; g = ĥ − μ, e = h_c − ĥ",
    )


@claim(
    "beyond.pass-divergence",
    "inequality",
    title="How much one pass of attention diverges from the solution",
    hypotheses=(*FINITE, WITHIN),
    needs=("beyond.cocoercive-pass", "beyond.pinsker"),
    latex=r"\mathcal K(p_c,p^*)\le\tfrac{D^2}8\,\|\alpha z-\lambda^*\|^2=\tfrac{D^2}8\,\alpha^2\|\hat h-\mu\|^2",
)
def pass_divergence() -> Steps:
    """Hoeffding's constant for the change of scores from λ* to αz, by Pinsker's inequality for the other divergence."""
    yield PASS.exchanged
    yield one_sided()
    yield PASS.by_masses
    yield cheap()


def cheaper(share: sp.Expr) -> AtLeast:
    """The same with a share that is too small."""
    return AtLeast(*spent(share).sides, given=(DIAMETER,), at={**NEAR, alpha: 1})


pass_divergence.twin("a sixteenth", lambda: cheaper(sp.Rational(1, 16)))
pass_divergence.twin("a tenth", lambda: cheaper(sp.Rational(1, 10)))
