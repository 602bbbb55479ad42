"""Section 6: where (18) is exact, and what the text says about small α and uniform u.

Claims     deciphering.s6.exact           ĥ(αz) = ĥ  ⟺  ⟨t_i − t_j, z⟩ = 0 for all i, j
           deciphering.s6.small-dual      ‖λ*‖ ≤ α‖z‖
           deciphering.s6.close-to-mean   ĥ = μ + αΣz + o(α)
           deciphering.s6.uniform         u_i = 1/n: ĥ(αz) = Σ_i t_i softmax(α⟨t, z⟩)_i
Notation   as in section6_approximation.py; y another dual point
References the text of section 6 around (14) and after (18); where (18) is exact is an addition
"""

import sympy as sp

from derivations.documents.deciphering.notation import (
    T,
    a,
    alpha,
    b,
    d,
    i,
    inner,
    j,
    k,
    lam,
    maximizer,
    mean,
    mu,
    n,
    tilt,
    u,
    z,
)
from derivations.documents.deciphering.section6_approximation import approximate, shift, spread
from derivations.documents.deciphering.section6_theorem1 import divergence, tilted
from derivations.vocabulary import *

y = vector("y", d)


def monotone(symmetric: sp.Expr) -> Equation:
    """⟨λ − y, ĥ(λ) − ĥ(y)⟩ against the divergences between the two tilts."""
    other = tilt(y)
    return Equation(
        total(a, (lam[a] - y[a]) * (mean(tilted)(a) - mean(other)(a))),
        symmetric,
        reason="so ĥ = ĥ(αz) makes the tilts at λ* and at y = αz agree, and ĥ = μ those at λ* and at y = 0",
    )


def agreement() -> Steps:
    """From equal tilts to equal inner products, and back."""
    attention, level = tilt(approximate), scalar("m")
    yield Equation(
        total(i, (tilted(i) - u[i]) * (sp.log(attention(i)) - sp.log(tilted(i)))),
        alpha * total(a, (mean(tilted)(a) - mu(a)) ** 2),
        reason="if the tilts at αz and at λ* agree, then ĥ = μ and λ* = αz",
    )
    yield Equation(
        sp.log(tilted(i) / u[i]) - sp.log(tilted(j) / u[j]),
        total(b, (T[i, b] - T[j, b]) * lam[b]),
        reason="if also tilt(λ*) = u, ⟨t_i − t_j, λ*⟩ = 0",
    )
    yield Equation(
        u[i] * sp.exp(alpha * level) / total(k, u[k] * sp.exp(alpha * level)),
        u[i],
        about=(level,),
        reason="back: if all ⟨t_i, z⟩ are one m, then tilt(αz) = u, so λ = αz satisfies λ = α(μ + z − ĥ(λ))",
    )


@claim(
    "deciphering.s6.exact",
    "equivalence",
    title="Addition: where (18) is exact",
    needs=("deciphering.18",),
    hypotheses=("u > 0",),
    latex=r"\hat h(\alpha z)=\hat h\iff\langle t_i-t_j,z\rangle=0\ \forall i,j",
)
def exact_when() -> Steps:
    """An addition: the closed form is the estimate iff all templates have one inner product with z (n = 1 among them)."""
    other = tilt(y)
    yield Equation(lam[a] - approximate(a), alpha * (mu(a) - mean(tilted)(a)), reason="λ* − αz = α(μ − ĥ)")
    yield from agreement()
    yield monotone(divergence(tilted, other) + divergence(other, tilted))


exact_when.twin("one divergence", lambda: monotone(divergence(tilted, tilt(y))))
exact_when.twin("the sign", lambda: monotone(-divergence(tilted, tilt(y)) - divergence(tilt(y), tilted)))


# ── prose ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def longest(right: sp.Expr) -> AtLeast:
    """α²‖z‖² ≥ right, with the z for which λ maximizes (9)."""
    both = divergence(tilted, u) + divergence(u, tilted)
    return AtLeast(
        alpha**2 * total(a, shift(a) ** 2),
        right,
        reason="‖αz − λ‖² + 2⟨αz − λ, λ⟩, and ⟨ĥ − μ, λ⟩ ≥ 0",
        because=alpha**2 * total(a, (mean(tilted)(a) - mu(a)) ** 2) + 2 * alpha * both,
    )


def for_any_law() -> Follows:
    """‖λ*‖ ≤ α‖z‖ for any u, from the concavity of the dual along the segment from 0 to λ*."""
    jensen = scalar("J", Nonnegative)
    pairing, size = total(a, z[a] * lam[a]), total(a, lam[a] ** 2)
    leaning = AtLeast(pairing, size / alpha + jensen)
    return Follows(
        (leaning,),
        AtLeast(alpha**2 * total(a, z[a] ** 2), size),
        (2 * alpha,),
        slack=total(a, (alpha * z[a] - lam[a]) ** 2) + 2 * alpha * jensen,
        given=(leaning,),
        reason="any u: D(λ*) ≥ D(sλ*) with log M(sλ*) ≤ s log M(λ*), over 1 − s, as s → 1, is the premise, with "
        "J = log M(λ*) − ⟨μ, λ*⟩ ≥ 0",
    )


@claim(
    "deciphering.s6.small-dual",
    "inequality",
    title="The maximizer is close to zero for small α",
    needs=("deciphering.9",),
    latex=r"\|\lambda^*\|\le\alpha\|z\|",
    hypotheses=("α > 0",),
)
def small_dual() -> Steps:
    """The penalty keeps the maximizer within α‖z‖ of the origin, for every α and not only for small ones."""
    yield for_any_law()
    yield longest(total(a, lam[a] ** 2))


small_dual.twin("within half of it", lambda: longest(4 * total(a, lam[a] ** 2)))
small_dual.twin("within √α‖z‖ for large α", lambda: longest(alpha * total(a, lam[a] ** 2)))


def toward_mean(slope: sp.Expr) -> Expansion:
    """ĥ = μ + slope·α + o(α)."""
    return Expansion(mean(tilted)(a), mu(a) + alpha * slope, alpha, 1, where=(maximizer,), reason="λ* = αz + o(α)")


@claim(
    "deciphering.s6.close-to-mean",
    "limit",
    title="As α decreases the estimate gets close to μ",
    needs=("deciphering.16",),
    latex=r"\hat h=\mu+\alpha\Sigma z+o(\alpha)",
    hypotheses=("u has finite support",),
)
def close_to_mean() -> Steps:
    """A smaller α makes μ + z matter less: the estimate tends to μ, along Σz."""
    yield toward_mean(spread(z))


close_to_mean.twin("along −Σz", lambda: toward_mean(-spread(z)))
close_to_mean.twin("along z", lambda: toward_mean(z[a]))


def softmaxed(strength: sp.Expr) -> sp.Expr:
    """Σ_i t_i softmax(strength·⟨t, z⟩)_i."""
    whole = total(k, sp.exp(strength * inner(k, z)))
    return total(i, T[i, a] * sp.exp(strength * inner(i, z)) / whole)


def uniform_prior(right: sp.Expr) -> Equation:
    """(18) with u_i = 1/n."""
    whole = total(k, sp.exp(alpha * inner(k, z)) / n)
    return Equation(total(i, T[i, a] * sp.exp(alpha * inner(i, z)) / n / whole), right, reason="1/n cancels")


@claim(
    "deciphering.s6.uniform",
    "identity",
    title="Uniform u gives dot-product attention",
    needs=("deciphering.18",),
    latex=r"u_i=\tfrac1n\implies\hat h_{(18)}=\sum_it_i\,\mathrm{softmax}([\alpha\langle t_j,z\rangle]_j)_i",
)
def uniform() -> Steps:
    """With a uniform preference (18) is dot-product attention with keys and values t_i and query αz."""
    yield uniform_prior(softmaxed(alpha))


uniform.twin("α is lost", lambda: uniform_prior(softmaxed(sp.S.One)))
uniform.twin("1/n stays", lambda: uniform_prior(softmaxed(alpha) / n))
