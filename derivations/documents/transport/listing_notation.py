"""The symbols of the code listings.

Notation  n sources or queries, m targets or keys, d the width of a head, w features; i, k number sources, j, l targets, r
          coordinates, f features; a, b the marginals; C the costs; kernel exp(−C/ε); u, v > 0 the scalings, P = u ∘ kernel ∘ v;
          S the scores of attention, Q[i, r] = (q_i)_r, K[j, r] = (k_j)_r; GUARD the 1e-8 that the listings add before they
          divide or take a logarithm
"""

import sympy as sp

from derivations.vocabulary import *

n, m, d, w = size("n"), size("m"), size("d"), size("w")
i, k = index("i", n), index("k", n)
j, l = index("j", m), index("l", m)  # noqa: E741
r, f = index("r", d), index("f", w)
eps, t = positive("eps"), scalar("t")
a, b = interior("a", n), interior("b", m)
u, v = vector("u", n, kind=Positive), vector("v", m, kind=Positive)
C, S = vector("C", n, m), vector("S", n, m)
Q, K = vector("Q", n, d), vector("K", m, d)
GUARD = sp.Rational(1, 10**8)
HALF = sp.S.Half


def kernel(costs: Entries) -> Entries:
    """(i, j) ↦ exp(−C_ij/ε)."""
    return lambda source, target: sp.exp(-costs(source, target) / eps)


def one(entry: sp.Expr) -> sp.Expr:
    """1, where the listings start."""
    return sp.S.One


def source_scaling(weights: Entries, scaling: Entry, guard: sp.Expr, mass: Entry = a) -> Entry:
    """i ↦ a_i/(Σ_j K_ij v_j + guard)."""
    return lambda source: mass(source) / (total(l, weights(source, l) * scaling(l)) + guard)


def target_scaling(weights: Entries, scaling: Entry, guard: sp.Expr, mass: Entry = b) -> Entry:
    """j ↦ b_j/(Σ_i K_ij u_i + guard)."""
    return lambda target: mass(target) / (total(k, weights(k, target) * scaling(k)) + guard)


def scaled(weights: Entries, left: Entry, right: Entry) -> Entries:
    """(i, j) ↦ u_i K_ij v_j."""
    return lambda source, target: left(source) * weights(source, target) * right(target)


def entropy(plan: Entries) -> sp.Expr:
    """−Σ_ij P_ij log P_ij."""
    return -total((i, j), xlogx(plan(i, j)))


def expense(plan: Entries, costs: Entries = C) -> sp.Expr:
    """⟨P, C⟩."""
    return total((i, j), plan(i, j) * costs(i, j))


def scaled_product(query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """⟨q_i, k_j⟩/√d."""
    return total(r, Q[query, r] * K[key, r]) / sp.sqrt(d)


def softmax(scores: Entries, temperature: sp.Expr) -> Entries:
    """(i, j) ↦ exp(s_ij/τ)/Σ_l exp(s_il/τ)."""
    return lambda query, key: sp.exp(scores(query, key) / temperature) / total(l, sp.exp(scores(query, l) / temperature))
