"""The estimators behind the document's remarks on reinforcement learning.

Notation  the policy is a point π of the open simplex, an action i is drawn from it, g_i = ∂log π_i/∂s_j is its score
          function (τ g_i = δ_ij − π_j, proved from softmax in eot.s5.score-function), u_i its utility, b a baseline;
          REINFORCE follows X_i = (u_i − b) g_i for one sampled i
"""

import sympy as sp

from derivations.documents.eot.notation import j, m, tau, u
from derivations.vocabulary import *

pi = interior("π", m)
baseline = scalar("b")
ACTION = index("i", m)


def score_function(action: sp.Expr) -> sp.Expr:
    """∂log π_i/∂s_j = (δ_ij − π_j)/τ."""
    return (delta(action, j) - pi[j]) / tau


def mean(values: sp.Expr) -> sp.Expr:
    """E_π of an expression in the action `ACTION`."""
    return total(ACTION, pi[ACTION] * values)


def estimate(level: sp.Expr) -> sp.Expr:
    """X_i = (u_i − b) ∂log π_i/∂s_j for the action `ACTION`."""
    return (u[ACTION] - level) * score_function(ACTION)


def variance_at(level: sp.Expr) -> sp.Expr:
    """Var X = E[X²] − E[X]² with baseline b."""
    return mean(estimate(level) ** 2) - mean(estimate(level)) ** 2


def expected_utility() -> sp.Expr:
    """E_π[u], the baseline that the document names."""
    return mean(u[ACTION])


def reduction(level: sp.Expr) -> sp.Expr:
    """b (2 E[u g²] − b E[g²]), what a baseline takes off the variance."""
    square = score_function(ACTION) ** 2
    return level * (2 * mean(u[ACTION] * square) - level * mean(square))
