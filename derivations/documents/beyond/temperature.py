"""The temperature as a variable: slopes, joint convexity, which keys gain when it falls, and the rate as it goes to 0.

Claims     beyond.temperature-slope   dφ/dτ = H(p)
           beyond.entropy-slope       dH/dτ = Var_p(s)/τ³
           beyond.tangent-gap         φ(x, ρ) less the tangent of φ at (s, τ) is ρ KL(p‖p') ≥ 0: φ is convex
           beyond.top-mass            the share of the k largest scores grows as τ falls: colder majorizes warmer
           beyond.cold-mass           1 − P(ties) ≤ n e^{−Δ/τ}/(k + n e^{−Δ/τ}) for k tied keys and n that are Δ below
Notation   φ(s, τ) = τ log Σ_l exp(s_l/τ); p = softmax(s/τ), p' = softmax(x/ρ), H the entropy;
           a, b ≥ 0: k keys with scores c + a_j, n keys with scores c − b_i; γ > 0 the step of 1/τ; D = Δ > 0 the gap
References Wainwright and Jordan (2008), section 3; Marshall, Olkin and Arnold (2011) for majorization
"""

import sympy as sp

from derivations.documents.eot.notation import entropy, expect, j, m, partition, s, softmax, tau
from derivations.vocabulary import *

x, rho = vector("x", m), positive("rho")
p = softmax(s, tau)


def potential(scores: Entry, temperature: sp.Expr) -> sp.Expr:
    """φ = τ log Z."""
    return temperature * sp.log(partition(scores, temperature))


@claim(
    "beyond.temperature-slope",
    "identity",
    title="The slope in the temperature is the entropy",
    hypotheses=("τ > 0",),
    latex=r"\frac{\partial\varphi}{\partial\tau}=H(p)",
)
def slope_is_entropy() -> Steps:
    """The log-sum-exp potential grows with the temperature at the rate of the entropy of attention."""
    yield Equation(potential(s, tau), expect(p, s) + tau * entropy(p), reason="φ = E_p[s] + τH,")
    yield Equation(derivative(potential(s, tau), tau), entropy(p), reason="the motion of p adds nothing")


slope_is_entropy.twin("the sign", lambda: Equation(derivative(potential(s, tau), tau), -entropy(p)))
slope_is_entropy.twin("divided by τ", lambda: Equation(derivative(potential(s, tau), tau), entropy(p) / tau))


def score_variance() -> sp.Expr:
    """Var_p(s)."""
    return total(j, p(j) * (s[j] - expect(p, s)) ** 2)


@claim(
    "beyond.entropy-slope",
    "identity",
    title="How fast the entropy grows with the temperature",
    hypotheses=("τ > 0",),
    needs=("beyond.temperature-slope",),
    latex=r"\frac{\mathrm dH(p)}{\mathrm d\tau}=\frac{\mathrm{Var}_p(s)}{\tau^3}",
)
def entropy_grows() -> Steps:
    """The entropy rises at the rate Var_p(s)/τ³ and the mean score falls at the rate Var_p(s)/τ²."""
    yield Equation(derivative(expect(p, s), tau), -score_variance() / tau**2, reason="dp_j/dτ = −p_j(s_j − E_p[s])/τ²;")
    yield Equation(derivative(entropy(p), tau), score_variance() / tau**3, reason="H = (φ − E_p[s])/τ")


entropy_grows.twin("τ squared", lambda: Equation(derivative(entropy(p), tau), score_variance() / tau**2))
entropy_grows.twin("the second moment", lambda: Equation(derivative(entropy(p), tau), total(j, p(j) * s[j] ** 2) / tau**3))


def tangent_gap() -> sp.Expr:
    """φ(x, ρ) less the tangent of φ at (s, τ), which is E_p[x] + ρH(p)."""
    return potential(x, rho) - expect(p, x) - rho * entropy(p)


def divergence(one: Entry, other: Entry) -> sp.Expr:
    """KL of one distribution from another."""
    return total(j, relative(one(j), other(j)))


@claim(
    "beyond.tangent-gap",
    "identity",
    title="The potential is jointly convex in scores and temperature",
    hypotheses=("τ > 0", "ρ > 0"),
    needs=("beyond.temperature-slope",),
    latex=r"\varphi(x,\rho)-\varphi(s,\tau)-\langle\nabla\varphi(s,\tau),(x-s,\rho-\tau)\rangle=\rho\,\mathrm{KL}(p\,\|\,p')",
)
def tangent() -> Steps:
    """The potential lies above each of its tangents by the new temperature times the divergence of the old attention."""
    slopes = total(j, derivative(potential(s, tau), s[j]) * (x[j] - s[j]))
    along = potential(s, tau) + slopes + (rho - tau) * derivative(potential(s, tau), tau)
    yield Equation(along, expect(p, x) + rho * entropy(p), reason="the tangent; ∇φ = (p, H), φ = ⟨p, s⟩ + τH")
    yield AtLeast(tangent_gap(), 0, because=rho * total(j, kl(p(j), softmax(x, rho)(j))), reason="no tangent is above φ,")
    yield Equation(tangent_gap(), rho * divergence(p, softmax(x, rho)), reason="log p'_j = x_j/ρ − log Z'")


tangent.twin("the old temperature", lambda: Equation(tangent_gap(), tau * divergence(p, softmax(x, rho))))
tangent.twin("the divergence the other way round", lambda: Equation(tangent_gap(), rho * divergence(softmax(x, rho), p)))


# ── which keys gain when it gets colder ─────────────────────────────────────────────────────────────────────────────

k, n = size("k"), size("n")
top, low = index("j", k), index("i", n)
a, b = vector("a", k, kind=Nonnegative), vector("b", n, kind=Nonnegative)
level, gamma, gap = scalar("c"), positive("γ"), positive("D")


def masses(inverse: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """The contributions to Z at 1/τ of k keys with scores c + a_j and n keys with scores c − b_i."""
    return (total(top, sp.exp(inverse * (level + a[top]))), total(low, sp.exp(inverse * (level - b[low]))))


def share(inverse: sp.Expr) -> sp.Expr:
    """The share of the k keys."""
    upper, lower = masses(inverse)
    return upper / (upper + lower)


def grows(factor: sp.Expr = sp.S.One) -> AtLeast:
    """The share at 1/τ + γ is at least a multiple of that at 1/τ."""
    new, old = masses(1 / tau + gamma), masses(1 / tau)
    pairs = total(
        (top, low),
        sp.exp(level * gamma)
        * sp.exp((level + a[top]) / tau)
        * sp.exp((level - b[low]) / tau)
        * (sp.exp(gamma * a[top]) - sp.exp(-gamma * b[low])),
    )
    return AtLeast(
        share(1 / tau + gamma),
        factor * share(1 / tau),
        because=pairs / (sum(new) * sum(old)) if factor == 1 else None,
        reason="over a common denominator: each of the k gains on each of the n, as exp(γa) ≥ 1 ≥ exp(−γb)",
    )


@claim(
    "beyond.top-mass",
    "inequality",
    title="Colder attention majorizes warmer attention",
    hypotheses=("τ > 0", "the k largest scores are at least c, the n others at most c"),
    latex=r"\tau'\le\tau:\quad\sum_{j\le k}p_{(j)}(\tau')\ge\sum_{j\le k}p_{(j)}(\tau)\text{ for every }k",
)
def top_mass() -> Steps:
    """For every k the k keys with the largest scores hold no less of the mass at a lower temperature."""
    yield grows()


top_mass.twin("twice as much", lambda: grows(sp.Integer(2)))
top_mass.twin("the other direction", lambda: AtLeast(share(1 / tau), share(1 / tau + gamma)))


def others() -> sp.Expr:
    """The mass of n keys with scores −Δ − b_i beside k keys with score 0."""
    rest = total(low, sp.exp(-(gap + b[low]) / tau))
    return rest / (k + rest)


def cold(bound: sp.Expr, because: sp.Expr | None = None) -> AtLeast:
    """A bound of the mass of the others."""
    return AtLeast(bound, others(), because=because, reason="x/(k + x) grows with x, and x = Σ exp(−(Δ + b)/τ) ≤ n exp(−Δ/τ)")


def spare() -> sp.Expr:
    """n exp(−Δ/τ) − Σ_i exp(−(Δ + b_i)/τ), term by term."""
    return sp.exp(-gap / tau) * total(low, 1 - sp.exp(-b[low] / tau))


@claim(
    "beyond.cold-mass",
    "inequality",
    title="The rate at which attention gets hard, ties included",
    hypotheses=("τ > 0", "the k largest scores are equal and Δ > 0 above the n others"),
    latex=r"1-P(\mathrm{ties})\le\frac{n\,e^{-\Delta/\tau}}{k+n\,e^{-\Delta/\tau}}",
)
def cold_mass() -> Steps:
    """All that is not on the k tied keys vanishes like exp(−Δ/τ), with equality where all others are exactly Δ below."""
    most = n * sp.exp(-gap / tau)
    shut = total(low, sp.exp(-gap / tau))
    yield Equation(shut / (k + shut), most / (k + most), reason="attained, for b = 0;")
    rest = total(low, sp.exp(-(gap + b[low]) / tau))
    yield cold(most / (k + most), because=k * spare() / ((k + most) * (k + rest)))


cold_mass.twin("a single other key", lambda: cold(sp.exp(-gap / tau) / (k + sp.exp(-gap / tau))))
cold_mass.twin("the gap twice", lambda: cold(n * sp.exp(-2 * gap / tau) / (k + n * sp.exp(-2 * gap / tau))))
