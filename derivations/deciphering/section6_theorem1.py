"""Section 6, Theorem 1: the dual of (4), and how a maximizer of the dual gives the minimizer.

Claims     deciphering.9–deciphering.12, deciphering.thm1
Notation   P the objective of (4), D that of (9); p = tilt(λ), the right side of (11)
References Theorem 1 of the document
"""

from __future__ import annotations

import sympy as sp

from derivations.calculus.sums import kl, total
from derivations.calculus.variables import simplex
from derivations.catalogue import Steps, claim
from derivations.deciphering.notation import T, a, alpha, dual, i, lam, mean, mu, n, point, primal, shifted, tilt, u
from derivations.relations import AtLeast, Entry, Equation, UniqueMinimum

q = simplex("q", n)


def stationary(at: Entry) -> Entry:
    """The μ + z for which λ maximizes (9): λ/α + Σ_i p_i(λ) t_i, from the gradient of (9)."""
    return lambda entry: at(entry) / alpha + mean(tilt(at))(entry)


def residual(at: Entry) -> sp.Expr:
    """‖μ + z − Σ_i q_i t_i − λ/α‖²."""
    return total(a, (shifted(a) - total(i, q[i] * T[i, a]) - at(a) / alpha) ** 2)


@claim("deciphering.thm1", "optimality", title="The dual problem, and recovery of the minimizer",
       latex=r"\tilde p(a) = \frac{u(a)e^{\langle a,\lambda^*\rangle}}{\int u(a')e^{\langle a',\lambda^*\rangle}da'}",
       hypotheses=("u has finite support", "α > 0"))
def recovery() -> Steps:
    """For finite support the maximizer of (9) gives the minimizer of (4) by tilting u, and it is the only one."""
    tilted = tilt(point)
    yield Equation(primal(lambda x: q[x], shifted) - dual(point, shifted),
                   total(i, kl(q[i], tilted(i))) + alpha / 2 * residual(point), reason="P(q) − D(λ), for all q and λ")
    yield AtLeast(primal(lambda x: q[x], shifted), dual(point, shifted), reason="weak duality",
                  because=total(i, kl(q[i], tilted(i))) + alpha / 2 * residual(point))
    yield minimizes(point)


def minimizes(at: Entry) -> UniqueMinimum:
    """tilt(at) is the only minimizer of (4) when λ satisfies the stationarity of (9)."""
    def moved(weights: Entry) -> sp.Expr:
        return alpha / 2 * total(a, (mean(weights)(a) - mean(tilt(point))(a)) ** 2)

    return UniqueMinimum(lambda p: primal(p, stationary(point)), tilt(at), n, sp.S.One, slack=moved,
                         reason="P(q) − P(p) = Σ_i kl(q_i ‖ p_i) + α/2 ‖Σ_i (q_i − p_i) t_i‖² where λ = α(μ + z − Σ_i p_i t_i)")


recovery.twin("the tilt's sign", lambda: minimizes(lambda x: -lam[x]))
recovery.twin("α enters the tilt", lambda: minimizes(lambda x: alpha * lam[x]))
