"""The document's symbols, for a preference distribution with finite support.

Notation  n templates t_i ∈ ℝ^d, T[i, a] = (t_i)_a; u the preference weights, > 0 (templates without weight are left
          out); mu = μ their mean, covariance = Σ; z the evidence, alpha = α; lam = λ a dual point;
          i, j, k number templates, a, b, c coordinates.
"""

import sympy as sp

from derivations.vocabulary import *

n, d = size("n"), size("d")
i, j, k = index("i", n), index("j", n), index("k", n)
a, b, c = index("a", d), index("b", d), index("c", d)
T, z, lam = vector("T", n, d), vector("z", d), vector("lam", d)
u = interior("u", n)
alpha = positive("alpha")


def inner(template: sp.Expr, dual: Entry) -> sp.Expr:
    """⟨t_i, λ⟩."""
    return total(b, T[template, b] * dual(b))


def partition(dual: Entry) -> sp.Expr:
    """M(λ) = Σ_i u_i exp⟨t_i, λ⟩."""
    return total(k, u[k] * sp.exp(inner(k, dual)))


def tilt(dual: Entry) -> Entry:
    """i ↦ u_i exp⟨t_i, λ⟩ / M(λ)."""
    whole = partition(dual)
    return lambda template: u[template] * sp.exp(inner(template, dual)) / whole


def mean(weights: Entry) -> Entry:
    """a ↦ (Σ_i p_i t_i)_a."""
    return lambda entry: total(i, weights(i) * T[i, entry])


mu = mean(u)


def covariance(x: sp.Expr, y: sp.Expr) -> sp.Expr:
    """Σ_xy = Σ_i u_i (t_i − μ)_x (t_i − μ)_y."""
    return total(i, u[i] * (T[i, x] - mu(x)) * (T[i, y] - mu(y)))


def primal(weights: Entry, target: Entry, strength: sp.Expr = alpha) -> sp.Expr:
    """α/2 ‖target − Σ_i p_i t_i‖² + KL(p ‖ u), the objective (4) with target = μ + z."""
    return strength / 2 * total(a, (target(a) - mean(weights)(a)) ** 2) + total(i, kl(weights(i), u[i]))


def dual(at: Entry, target: Entry, strength: sp.Expr = alpha) -> sp.Expr:
    """⟨λ, target⟩ − ‖λ‖²/(2α) − log M(λ), the objective (9) with target = μ + z."""
    return total(a, at(a) * target(a)) - total(a, at(a) ** 2) / (2 * strength) - sp.log(partition(at))


def shifted(entry: sp.Expr) -> sp.Expr:
    """(μ + z)_a."""
    return mu(entry) + z[entry]


maximizer = Solves(lam, lambda v: lambda entry: shifted(entry) - mean(tilt(v))(entry))
"""λ* as a function of α: stationarity of (9) reads λ = α (μ + z − Σ_i p_i(λ) t_i)."""
