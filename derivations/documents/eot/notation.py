"""The document's symbols.

Notation  m keys, n sources, d the width of queries and keys, e the width of values; j, k, l number keys, r coordinates;
          Q = q (the query), K[j, r] = (k_j)_r, V[j, r] = (v_j)_r, g = ∇_c L; s the scores; tau = τ, eps = ε, lam = λ;
          u the marginal utilities; p a point of the simplex, α the attention weights.
"""

import sympy as sp

from derivations.vocabulary import *

m, n, d, e = size("m"), size("n"), size("d"), size("e")
i, h = index("i", n), index("h", n)
j, k, l = index("j", m), index("k", m), index("l", m)  # noqa: E741
other = index("k", m, other_than=(j,))  # an index k ≠ j
r = index("r", d)
c = index("c", e)
tau, eps = positive("tau"), positive("eps")
lam = scalar("lam")
s, u = vector("s", m), vector("u", m)
Q, K = vector("Q", d), vector("K", m, d)
V, g = vector("V", m, e), vector("g", e)


def similarity(key: sp.Expr) -> sp.Expr:
    """⟨q, k_j⟩."""
    return total(r, Q[r] * K[key, r])


def partition(scores: Entry, temperature: sp.Expr, over: Variable = l) -> sp.Expr:
    """Σ_l exp(s_l/τ)."""
    return total(over, sp.exp(scores(over) / temperature))


def softmax(scores: Entry, temperature: sp.Expr) -> Entry:
    """j ↦ exp(s_j/τ) / Σ_l exp(s_l/τ)."""
    z = partition(scores, temperature)
    return lambda key: sp.exp(scores(key) / temperature) / z


def entropy(plan: Entry) -> sp.Expr:
    """−Σ_j p_j log p_j, with 0 log 0 = 0."""
    return -total(j, xlogx(plan(j)))


def objective(plan: Entry, cost: Entry, strength: sp.Expr) -> sp.Expr:
    """Σ_j p_j C_j − ε H(p)."""
    return total(j, plan(j) * cost(j)) - strength * entropy(plan)


def cost(key: sp.Expr) -> sp.Expr:
    """C_j = −⟨q, k_j⟩."""
    return -similarity(key)


def expect(plan: Entry, values: Entry) -> sp.Expr:
    """E_p[x] = Σ_k p_k x_k."""
    return total(k, plan(k) * values(k))
