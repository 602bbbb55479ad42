"""The document's symbols.

Notation  n queries, m keys, d their width, e the width of values; i, h number queries, j, k, l keys, r coordinates; Q, K, V
          queries, keys and values; S any n × m scores, A = softmax(S/ε) row by row; C the costs, −S for attention; P and R
          plans, printed γ; H(P) = −Σ_ij P_ij log P_ij; eps = ε
"""

import sympy as sp

from derivations.documents.eot.appendix_a_matrix import TOGETHER, Q, entropy, softmax
from derivations.documents.eot.notation import K, V, c, d, e, eps, h, i, j, k, l, m, n, r
from derivations.vocabulary import *

__all__ = [
    "HALF",
    "TOGETHER",
    "A",
    "K",
    "Q",
    "S",
    "V",
    "attention",
    "c",
    "d",
    "e",
    "entropy",
    "eps",
    "h",
    "i",
    "j",
    "k",
    "l",
    "m",
    "n",
    "objective",
    "r",
    "raw",
    "scaled",
    "softmax",
    "solves",
    "uniform",
]

S = vector("S", n, m)
HALF = sp.S.Half


def raw(query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """⟨q_i, k_j⟩."""
    return total(r, Q[query, r] * K[key, r])


def scaled(query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """⟨q_i, k_j⟩/√d."""
    return raw(query, key) / sp.sqrt(d)


def uniform(query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """1/m for every query and key."""
    return 1 / m


A = softmax(S, eps)
attention = softmax(scaled, eps)


def objective(of: Entries, scores: Entries, strength: sp.Expr) -> sp.Expr:
    """−⟨P, S⟩ − ε H(P)."""
    return -total(TOGETHER, of(i, j) * scores(i, j)) - strength * entropy(of)


def solves(scores: Entries, strength: sp.Expr, candidate: Entries, at: dict[Variable, Value] | None = None) -> UniquePlan:
    """The candidate is the only minimizer of −⟨P, S⟩ − ε H(P) over the plans with unit rows and free columns."""
    return UniquePlan(
        lambda of: objective(of, scores, strength),
        candidate,
        n,
        m,
        strength,
        at=at or {},
        reason="J(R) − J(P) = ε Σ_ij kl(R_ij ‖ P_ij)",
    )
