"""Section 1: the transport problem, the entropic one, and Sinkhorn's iteration.

Claims     transport.s1.kantorovich, transport.s1.couplings, transport.s1.entropic, transport.s1.kl, transport.s1.sinkhorn
Notation   a, b positive marginals; P a coupling of them; L a plan with unit rows and free columns; W = diag(u) K diag(v) an
           iterate, any positive matrix of mass 1; W' = diag(a/W1) W the iterate after its rows are rescaled
References section 1 of the document; Sinkhorn and Knopp (1967); Peyré and Cuturi (2019)
"""

from __future__ import annotations

import sympy as sp

from derivations.calculus.sums import kl, total
from derivations.calculus.variables import coupling, interior, stochastic
from derivations.catalogue import Steps, claim, reprint
from derivations.eot import section3_primer as primer
from derivations.plans import Entries
from derivations.relations import AtLeast, Equation
from derivations.transport.notation import TOGETHER, entropy, i, j, l, m, n

a, b = primer.a, primer.b
P = primer.P
W = interior("W", n, m)
loose = stochastic("L", n, m)
star = coupling("P", a, b)

reprint("transport.s1.kantorovich", of=primer.transport_is_linear, title="Kantorovich's problem",
        latex=r"\min_{\gamma\in\Pi(a,b)}\sum_{ij}\gamma_{ij}C_{ij}",
        statement="The best coupling of source and target is one of least total cost, a linear function of the coupling.")
reprint("transport.s1.couplings", of=primer.couplings_exist, title="The joint distributions of source and target",
        latex=r"\Pi(a,b)=\{\gamma\ge0:\gamma\mathbf 1=a,\ \gamma^\top\mathbf 1=b\}",
        statement="What is feasible are the joint distributions that have the source and the target as their marginals.")
reprint("transport.s1.entropic", of=primer.entropic_transport, title="The entropic problem",
        latex=r"\min_{\gamma\in\Pi(a,b)}\langle\gamma,C\rangle-\varepsilon H(\gamma)",
        statement="The entropy of the coupling is subtracted from the cost, with the temperature ε as its weight.")


# ── the regularizer ─────────────────────────────────────────────────────────────────────────────────────────────────


def information() -> sp.Expr:
    """KL(P ‖ a bᵀ)."""
    return total(TOGETHER, kl(P[i, j], a[i] * b[j]))


def marginal_entropies() -> sp.Expr:
    """H(a) + H(b)."""
    return -total(i, a[i] * sp.log(a[i])) - total(j, b[j] * sp.log(b[j]))


def plan(query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """P_ij."""
    return P[query, key]


def loose_plan(query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """L_ij, a plan whose target is free."""
    return loose[query, key]


@claim("transport.s1.kl", "identity", title="The entropy term is a Kullback–Leibler term", needs=("transport.s1.entropic",),
       latex=r"-H(\gamma)=\mathrm{KL}(\gamma\,\|\,ab^\top)-H(a)-H(b)\ \text{on }\Pi(a,b)")
def kullback_leibler() -> Steps:
    """The regularizer is called a Kullback–Leibler term: on couplings, −H is the divergence from a bᵀ up to a constant."""
    yield primer.zero_rows()
    free = total(TOGETHER, kl(loose[i, j], b[j]))
    yield Equation(free, -entropy(loose_plan) - total(TOGETHER, loose[i, j] * sp.log(b[j])),
                   reason="with a free target they differ by Σ_j c_j log b_j, c what arrives: a constant only if b is uniform")
    yield Equation(information(), -entropy(plan) + marginal_entropies(), reason="with both marginals fixed")


kullback_leibler.twin("the sign", lambda: Equation(information(), entropy(plan) + marginal_entropies()))
kullback_leibler.twin("the entropy of a alone", lambda: Equation(
    information(), -entropy(plan) - total(i, a[i] * sp.log(a[i]))))


# ── Sinkhorn's iteration ────────────────────────────────────────────────────────────────────────────────────────────


def row_mass(query: sp.Expr) -> sp.Expr:
    """(W 1)_i."""
    return total(l, W[query, l])


def iterate(query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """W_ij."""
    return W[query, key]


def rescaled(query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """W'_ij = a_i W_ij / (W 1)_i."""
    return a[query] * W[query, key] / row_mass(query)


def distance(to: Entries) -> sp.Expr:
    """KL(P ‖ W)."""
    return total(TOGETHER, kl(star[i, j], to(i, j)))


def row_error() -> sp.Expr:
    """KL(a ‖ W 1)."""
    return total(i, kl(a[i], row_mass(i)))


def fallen(right: sp.Expr) -> Equation:
    """By how much a half-step comes closer to any coupling P."""
    return Equation(distance(iterate) - distance(rescaled), right,
                    reason="so all errors add up to KL(P ‖ W_0) at most: one of the first T is at most 1/T of it")


@claim("transport.s1.sinkhorn", "identity", title="Sinkhorn's algorithm solves the entropic problem",
       needs=("transport.s1.entropic", "transport.s3.sinkhorn-attention"),
       latex=r"u=a/(Kv),\ v=b/(K^\top u);\quad \mathrm{KL}(\gamma^\star\|\gamma_t)-\mathrm{KL}(\gamma^\star\|\gamma_{t+1})"
             r"=\mathrm{KL}(a\,\|\,\gamma_t\mathbf 1)")
def sinkhorn_solves() -> Steps:
    """Rescaling rows and columns in turn leads to the solution: each half-step comes closer by the very error it removes."""
    yield primer.zero_rows()
    yield Equation(total(j, rescaled(i, j)), a[i], reason="the rows are met")
    yield AtLeast(row_error(), 0, because=row_error(),
                  reason="closer, unless the rows were met; columns are rows of the transpose")
    yield fallen(row_error())


sinkhorn_solves.twin("the reverse divergence", lambda: fallen(total(i, kl(row_mass(i), a[i]))))
sinkhorn_solves.twin("it moves away", lambda: fallen(-row_error()))
sinkhorn_solves.twin("half the error", lambda: fallen(row_error() / 2))
