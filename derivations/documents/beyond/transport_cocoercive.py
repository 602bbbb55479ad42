"""Attention by optimal transport: how far its output moves with its query, with the constant D²/(4γ), step by step.

Claims     beyond.ot-mean-smooth        ‖h_λ − h_ν‖² ≤ D²/(4γ) ⟨λ − ν, h_λ − h_ν⟩, whatever the costs are
           beyond.ot-cocoercive-prior   ‖ĥ − μ̃‖² ≤ D²/(4γ) ⟨λ*, ĥ − μ̃⟩
           beyond.ot-cocoercive-pass    ‖h_c − ĥ‖² ≤ D²/(4γ) ⟨αz − λ*, h_c − ĥ⟩
           beyond.ot-pass-divergence    γ Σ_j u_j KL(x_c(·|j), x*(·|j)) ≤ D²/(8γ) ‖αz − λ*‖²
Notation   as in `notation_transport`: x_λ(i|j) = q_λ(i|j) the conditional laws, for any costs M, h_λ the mean of their average;
           λ = λ* and z = λ*/α + ĥ − μ̃, of which λ* maximizes the dual, ĥ its mean, μ̃ = h_0; c for (25), whose query is αz;
           δ_ij the difference of two conditional laws, δ⁺ and δ⁻ its parts, as in `cocoercive`; D ≥ ‖t_i − t_k‖ for
           all i and k
References as in `cocoercive`

Every column is a law that is tilted, and its mean moves as in `cocoercive`; the average over the columns moves less than they
do.  The costs are in the laws alone, and in no constant.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property

import sympy as sp

from derivations.documents.beyond.exact_attention import minus, product
from derivations.documents.beyond.smoothness import WITHIN
from derivations.documents.deciphering.notation import a, alpha, d, lam
from derivations.documents.deciphering.notation_transport import (
    M,
    N,
    T,
    divergence,
    evidence_of,
    gamma,
    i,
    j,
    k,
    kernel,
    mean,
    nu,
    origin,
    u,
)
from derivations.vocabulary import *

D = positive("D")
DIAMETER = ForAll(AtLeast(D**2, total(a, (T[i, a] - T[k, a]) ** 2)), (i, k))
"""‖t_i − t_k‖² ≤ D² for all i and k."""


@dataclass(frozen=True)
class Columns:
    """Two couplings X and Y with one preference, where log(x(i|j)/y(i|j)) = ⟨t_i, query⟩/γ − c_j.

    Attributes:
        first, second: x(i|j) and y(i|j) at the indices i and j, written once, so that equal parts are one object.
        query: by which vector the queries of X and of Y differ.
    """

    first: sp.Expr
    second: sp.Expr
    query: Entry

    def one(self, to: sp.Expr, of: sp.Expr) -> sp.Expr:
        """x(i|j)."""
        return self.first.xreplace({i: to, j: of})

    def two(self, to: sp.Expr, of: sp.Expr) -> sp.Expr:
        """y(i|j)."""
        return self.second.xreplace({i: to, j: of})

    def more(self, to: sp.Expr) -> sp.Expr:
        """δ⁺_ij."""
        return plus(self.one(to, j) - self.two(to, j))

    def less(self, to: sp.Expr) -> sp.Expr:
        """δ⁻_ij."""
        return plus(self.two(to, j) - self.one(to, j))

    def apart(self, entry: sp.Expr) -> sp.Expr:
        """(h_X − h_Y)_a."""
        return mean(self.one)(entry) - mean(self.two)(entry)

    def column(self, entry: sp.Expr) -> sp.Expr:
        """(H_j)_a, by how much the means of column j differ."""
        return total(i, self.one(i, j) * T[i, entry]) - total(i, self.two(i, j) * T[i, entry])

    @cached_property
    def l1_distance(self) -> sp.Expr:
        """‖δ_j‖₁."""
        return total(i, sp.Abs(self.one(i, j) - self.two(i, j)))

    @cached_property
    def paired(self) -> sp.Expr:
        """⟨query, h_X − h_Y⟩."""
        return product(self.query, self.apart)

    @cached_property
    def squared(self) -> sp.Expr:
        """‖h_X − h_Y‖²."""
        return total(a, self.apart(a) ** 2)

    @cached_property
    def both(self) -> sp.Expr:
        """Σ_j u_j (KL(x(·|j), y(·|j)) + KL(y(·|j), x(·|j)))."""
        return divergence(self.one, self.two) + divergence(self.two, self.one)

    @cached_property
    def by_columns(self) -> sp.Expr:
        """Σ_j u_j ‖H_j‖²."""
        return total(j, u[j] * total(a, self.column(a) ** 2))

    def carried(self, from_: Entry, to: Entry) -> sp.Expr:
        """Σ_j u_j Σ_ik from_ij to_kj ‖t_i − t_k‖²."""
        return total((i, k, j), u[j] * from_(i) * to(k) * total(a, (T[i, a] - T[k, a]) ** 2))

    @cached_property
    def mass(self) -> sp.Expr:
        """Σ_j u_j ‖δ_j‖₁²."""
        return total(j, u[j] * self.l1_distance**2)

    @cached_property
    def shipped(self) -> sp.Expr:
        """Σ_j u_j δ⁺_ij δ⁻_kj, by which a distance counts; all of them sum to Σ_j u_j ‖δ_j‖₁²/4."""
        return total(j, u[j] * self.more(i) * self.less(k))

    @cached_property
    def exchanged(self) -> Equation:
        """⟨query, h_X − h_Y⟩ = γ Σ_j u_j (KL + KL)."""
        return Equation(
            self.paired,
            gamma * self.both,
            reason="⟨λ − ν, h_λ − h_ν⟩ = γ Σ_j u_j (KL + KL), both ways between the laws x and y of column j: "
            "log(x/y) is ⟨t, λ − ν⟩/γ less a constant;",
        )

    @cached_property
    def spread(self) -> sp.Expr:
        """Σ_j u_j Σ_i 2δ²/(x + y)."""
        x, y = self.one(i, j), self.two(i, j)
        return total((i, j), u[j] * 2 * (x - y) ** 2 / (x + y))

    @cached_property
    def by_entries(self) -> AtLeast:
        """Σ_j u_j (KL + KL) ≥ Σ_j u_j Σ_i 2δ²/(x + y)."""
        x, y = self.one(i, j), self.two(i, j)
        steep = (x - y) ** 4 / (2 * (x + y) * (x + 2 * y) * (2 * x + y))
        return AtLeast(
            self.both,
            self.spread,
            because=total((i, j), u[j] * (pinsker(x, y) + pinsker(y, x) + steep)),
            reason="KL + KL ≥ Σ_i 2(x − y)²/(x + y) in every column: by entries, kl(x ‖ y) ≥ 3(x − y)²/(2(x + 2y));",
        )

    @cached_property
    def by_mass(self) -> AtLeast:
        """Σ_j u_j Σ_i 2δ²/(x + y) ≥ Σ_j u_j ‖δ_j‖₁²."""
        x, y = self.one(i, j), self.two(i, j)
        slack = total((i, j), u[j] * (x + y) * bregman(sp.Abs(x - y) / (x + y), self.l1_distance / 2, sp.Integer(2)))
        return AtLeast(
            self.spread,
            self.mass,
            because=4 * slack,
            reason="Σ_i 2(x − y)²/(x + y) ≥ ‖x − y‖₁² in every column: Cauchy and Schwarz, as Σ_i (x + y) = 2;",
        )

    @cached_property
    def by_masses(self) -> AtLeast:
        """Σ_j u_j Σ_ik δ⁺_ij δ⁻_kj ‖t_i − t_k‖² ≥ Σ_j u_j ‖H_j‖²."""
        same = self.carried(self.more, self.more) + self.carried(self.less, self.less)
        return AtLeast(
            self.carried(self.more, self.less),
            self.by_columns,
            because=same / 2,
            reason="‖H_j‖² ≤ Σ_ik δ⁺_ij δ⁻_kj ‖t_i − t_k‖² on average, where δ = x − y = δ⁺ − δ⁻ and "
            "H_j = Σ_i δ_ij t_i: as Σ_i δ_ij = 0, ‖H_j‖² is −Σ_ik δ_ij δ_kj ‖t_i − t_k‖²/2;",
        )

    @cached_property
    def averaged(self) -> AtLeast:
        """Σ_j u_j ‖H_j‖² ≥ ‖h_X − h_Y‖²."""
        return AtLeast(
            self.by_columns,
            self.squared,
            because=total((j, a), u[j] * (self.column(a) - self.apart(a)) ** 2),
            reason="‖h_λ − h_ν‖² ≤ Σ_j u_j ‖H_j‖², whose difference is a variance;",
        )

    def cocoercive(self, share: sp.Expr) -> AtLeast:
        """share · D²⟨query, h_X − h_Y⟩ ≥ γ‖h_X − h_Y‖²."""
        return AtLeast(share * D**2 * self.paired, gamma * self.squared)

    def steps(self) -> Steps:
        """D²/4 ⟨query, h_X − h_Y⟩ ≥ γ‖h_X − h_Y‖², from nothing but the distances of the templates."""
        yield self.exchanged
        premises = (self.by_entries, self.by_mass, self.by_masses, self.averaged)
        yield from premises
        yield Follows(
            (*premises, DIAMETER),
            self.cocoercive(sp.Rational(1, 4)),
            (gamma * D**2 / 4, gamma * D**2 / 4, gamma, gamma, gamma * self.shipped),
            given=(DIAMETER,),
            reason="γ‖h_λ − h_ν‖² ≤ γ Σ_j u_j ‖H_j‖² ≤ γD²/4 Σ_j u_j ‖δ_j‖₁² ≤ D²/4 γ Σ_j u_j (KL + KL); given is "
            "that no distance exceeds D",
        )

    def wrong(self, share: sp.Expr, at: dict[Variable, Value]) -> AtLeast:
        """The same with a share that is too small, as a bare inequality."""
        return AtLeast(*self.cocoercive(share).sides, given=(DIAMETER,), at=at)


def gained(entry: sp.Expr) -> sp.Expr:
    """g_a = (ĥ − μ̃)_a."""
    return mean(kernel(lam, M))(entry) - mean(kernel(origin, M))(entry)


def scaled(entry: sp.Expr) -> sp.Expr:
    """αz_a − λ*_a = αg_a."""
    return alpha * gained(entry)


def query(entry: sp.Expr) -> sp.Expr:
    """αz_a = λ*_a + αg_a."""
    return lam[entry] + scaled(entry)


ANY = Columns(kernel(lam, M)(i, j), kernel(nu, M)(i, j), minus(lam, nu))
FROM_PRIOR = Columns(kernel(lam, M)(i, j), kernel(origin, M)(i, j), lam)
PASS = Columns(kernel(query, M)(i, j), kernel(lam, M)(i, j), scaled)
"""Two queries; λ* and none; αz and λ*."""

NEAR: dict[Variable, Value] = {
    N: 2,
    d: 1,
    T.label: [[1], [-1]],
    u.label: [Fraction(1, 2)] * 2,
    M.label: [[0, 0], [0, 0]],
    gamma: 1,
    lam.label: [Fraction(1, 10)],
    D: 2,
}
"""Two templates ±1 of equal weight, no costs and a short query: all bounds are almost equalities."""


# ── any two queries ─────────────────────────────────────────────────────────────────────────────────────────────────


@claim(
    "beyond.ot-mean-smooth",
    "inequality",
    title="The output of OT-based attention is smooth, whatever the costs",
    hypotheses=(WITHIN,),
    needs=("beyond.cocoercive",),
    latex=r"\|h_\lambda-h_\nu\|^2\le\textstyle\sum_ju_j\|H_j\|^2\le\tfrac{D^2}{4\gamma}\langle\lambda-\nu,h_\lambda-h_\nu\rangle",
)
def ot_mean_smooth() -> Steps:
    """The mean of every column is smooth, and so is their average over the preference: no cost enters the constant."""
    yield from ANY.steps()


ot_mean_smooth.twin("half of it", lambda: ANY.wrong(sp.Rational(1, 8), {**NEAR, nu.label: [0]}))
ot_mean_smooth.twin("nine tenths of it", lambda: ANY.wrong(sp.Rational(9, 40), {**NEAR, nu.label: [0]}))


@claim(
    "beyond.ot-cocoercive-prior",
    "inequality",
    title="OT-based attention: how far evidence moves the mean",
    hypotheses=(WITHIN,),
    needs=("beyond.ot-mean-smooth",),
    latex=r"\|\hat h-\tilde\mu\|^2\le\tfrac{D^2}{4\gamma}\langle\lambda^*,\hat h-\tilde\mu\rangle",
)
def ot_cocoercive_prior() -> Steps:
    """The case ν = 0, where the laws are those of the true preference."""
    yield from FROM_PRIOR.steps()


ot_cocoercive_prior.twin("half of it", lambda: FROM_PRIOR.wrong(sp.Rational(1, 8), NEAR))
ot_cocoercive_prior.twin("nine tenths of it", lambda: FROM_PRIOR.wrong(sp.Rational(9, 40), NEAR))


# ── one pass ────────────────────────────────────────────────────────────────────────────────────────────────────────


@claim(
    "beyond.ot-cocoercive-pass",
    "inequality",
    title="OT-based attention: how far one pass moves the exact mean",
    hypotheses=(WITHIN,),
    needs=("beyond.ot-mean-smooth", "deciphering.39"),
    latex=r"\|h_c-\hat h\|^2\le\tfrac{D^2}{4\gamma}\,\alpha\langle\hat h-\tilde\mu,h_c-\hat h\rangle",
)
def ot_cocoercive_pass() -> Steps:
    """The case of αz and λ*, whose difference is α(ĥ − μ̃)."""
    yield Equation(
        alpha * evidence_of(lam, M)(a), query(a), reason="λ* maximizes the dual for μ̃ + z = λ*/α + ĥ, so αz is λ* + α(ĥ − μ̃);"
    )
    yield from PASS.steps()


ot_cocoercive_pass.twin("half of it", lambda: PASS.wrong(sp.Rational(1, 8), {**NEAR, alpha: 1}))
ot_cocoercive_pass.twin("nine tenths of it", lambda: PASS.wrong(sp.Rational(9, 40), {**NEAR, alpha: 1}))


@cache
def lost() -> sp.Expr:
    """γ Σ_j u_j KL(x_c(·|j), x*(·|j))."""
    return gamma * divergence(PASS.one, PASS.two)


@cache
def one_sided() -> AtLeast:
    """Σ_j u_j KL(x*(·|j), x_c(·|j)) ≥ Σ_j u_j ‖δ_j‖₁²/2."""
    x, y = PASS.one(i, j), PASS.two(i, j)
    off = 3 * total((i, j), u[j] * (y + 2 * x) * bregman(sp.Abs(x - y) / (y + 2 * x), PASS.l1_distance / 3, sp.Integer(2)))
    return AtLeast(
        divergence(PASS.two, PASS.one),
        PASS.mass / 2,
        because=total((i, j), u[j] * pinsker(y, x)) + off,
        reason="Pinsker's inequality in every column;",
    )


def spent(share: sp.Expr) -> AtLeast:
    """share · α²D²‖g‖² ≥ γ² Σ_j u_j KL(x_c(·|j), x*(·|j))."""
    return AtLeast(share * alpha**2 * D**2 * product(gained, gained), gamma * lost())


@cache
def cheap() -> Follows:
    """α²D²/8 ‖g‖² ≥ γ² Σ_j u_j KL(x_c(·|j), x*(·|j))."""
    rest, weight = total(a, (alpha * D**2 * gained(a) / 4 - gamma * PASS.apart(a)) ** 2), 2 * gamma**2 / D**2
    return Follows(
        (one_sided(), PASS.by_masses, PASS.averaged, DIAMETER),
        spent(sp.Rational(1, 8)),
        (gamma**2, weight, weight, weight * PASS.shipped),
        2 / D**2 * rest,
        given=(DIAMETER,),
        reason="γ Σ u KL = α⟨g, e⟩ − γ Σ u KL(x*, x_c) ≤ α⟨g, e⟩ − 2γ‖e‖²/D², which is α²D²‖g‖²/(8γ) at most; "
        "g = ĥ − μ̃, e = h_c − ĥ",
    )


@claim(
    "beyond.ot-pass-divergence",
    "inequality",
    title="OT-based attention: how much one pass diverges from the solution",
    hypotheses=(WITHIN,),
    needs=("beyond.ot-cocoercive-pass", "beyond.pinsker"),
    latex=r"\gamma\textstyle\sum_ju_j\mathcal K(x_c(\cdot|j),x^*(\cdot|j))\le\tfrac{D^2}{8\gamma}\,\alpha^2"
    r"\|\hat h-\tilde\mu\|^2",
)
def ot_pass_divergence() -> Steps:
    """The divergence that (25) has from the solution, on average over the columns, for every cost."""
    yield PASS.exchanged
    yield one_sided()
    yield PASS.by_masses
    yield PASS.averaged
    yield cheap()


def cheaper(share: sp.Expr) -> AtLeast:
    """The same with a share that is too small."""
    return AtLeast(*spent(share).sides, given=(DIAMETER,), at={**NEAR, alpha: 1})


ot_pass_divergence.twin("a sixteenth", lambda: cheaper(sp.Rational(1, 16)))
ot_pass_divergence.twin("a tenth", lambda: cheaper(sp.Rational(1, 10)))
