"""Section 1: the transport problem, the entropic one, and Sinkhorn's iteration.

Claims     transport.s1.kl         −H(P) = KL(P ‖ abᵀ) − H(a) − H(b) on the couplings of a and b
           transport.s1.sinkhorn   J(P) − D(f⁺, g) = ε KL(P ‖ E) − ε KL(a ‖ E1)
Notation   a, b marginals, positive but in Kantorovich's problem, where M and R are two couplings, mixed with the odds to 1;
           P a coupling, with J(P) = ⟨P, C⟩ − ε H(P); L a plan with unit rows and free columns; f, g any potentials,
           E = E(f, g) = diag(u) K diag(v) the iterate with u = e^{f/ε}, v = e^{g/ε}, K = e^{−C/ε};
           D(f, g) = ⟨a, f⟩ + ⟨b, g⟩ − ε Σ E + ε; f⁺ = f + ε log(a/E1), which is u = a/(Kv)
References section 1 of the document; Sinkhorn and Knopp (1967); Peyré and Cuturi (2019)
"""

import sympy as sp

from derivations.documents.eot import section3_primer as primer
from derivations.documents.transport.notation import TOGETHER, entropy, eps, i, j, l, m, n
from derivations.vocabulary import *

a, b = primer.a, primer.b
C, P = primer.C, primer.P
loose = stochastic("L", n, m)
f, g = vector("f", n), vector("g", m)

mass, goal = primer.a0, primer.b0
M, R = primer.P0, primer.R0
odds = primer.odds


def mixture(source: sp.Expr, target: sp.Expr) -> sp.Expr:
    """(odds · P_ij + R_ij)/(1 + odds)."""
    return (odds * M[source, target] + R[source, target]) / (1 + odds)


def mixed(right: sp.Expr) -> Equation:
    """The cost of a mixture of two couplings."""
    return Equation(
        total(TOGETHER, mixture(i, j) * C[i, j]),
        right,
        reason="cost and constraints are linear: a linear program, and a mixture of two solutions is a solution",
    )


def cost_of(plan_: sp.IndexedBase) -> sp.Expr:
    """⟨P, C⟩."""
    return total(TOGETHER, plan_[i, j] * C[i, j])


@claim(
    "transport.s1.kantorovich",
    "optimality",
    title="Kantorovich's problem",
    needs=("transport.s1.couplings",),
    latex=r"\min_{\gamma\in\Pi(a,b)}\sum_{ij}\gamma_{ij}C_{ij}",
)
def kantorovich() -> Steps:
    """There is a best coupling of source and target, one of least total cost; the problem is a linear program."""
    yield Equation(total(j, mass[i] * goal[j]), mass[i], reason="some plan is feasible: a bᵀ leaves as much of each source …")
    yield Equation(total(i, mass[i] * goal[j]), goal[j], reason="… and brings as much to each target as it should")
    yield primer.zero_rows()
    yield AtLeast(M[i, j], 0, reason="so plans have entries between 0 and a_i: a closed, bounded set", quotes=(HEINE_BOREL,))
    yield Equation(total(j, mixture(i, j)), mass[i], reason="mixtures keep what leaves the sources …")
    yield Equation(total(i, mixture(i, j)), goal[j], reason="… and what arrives")
    yield AtLeast(
        mixture(i, j),
        0,
        because=mixture(i, j),
        reason="… and signs; so a least cost is attained",
        quotes=(WEIERSTRASS, LINEAR_PROGRAMMING),
    )
    yield mixed(odds / (1 + odds) * cost_of(M) + cost_of(R) / (1 + odds))


kantorovich.twin("weights swapped", lambda: mixed(cost_of(M) / (1 + odds) + odds / (1 + odds) * cost_of(R)))
kantorovich.twin("a plain sum", lambda: mixed(cost_of(M) + cost_of(R)))

reprint(
    "transport.s1.couplings",
    of=primer.couplings_exist,
    title="The joint distributions of source and target",
    latex=r"\Pi(a,b)=\{\gamma\ge0:\gamma\mathbf 1=a,\ \gamma^\top\mathbf 1=b\}",
    statement="What is feasible are the joint distributions that have the source and the target as their marginals.",
)
reprint(
    "transport.s1.entropic",
    of=primer.entropic_transport,
    title="The entropic problem",
    latex=r"\min_{\gamma\in\Pi(a,b)}\langle\gamma,C\rangle-\varepsilon H(\gamma)",
    statement="The entropy of the coupling is subtracted from the cost, with the temperature ε as its weight.",
)


# ── the regularizer ─────────────────────────────────────────────────────────────────────────────────────────────────


def information() -> sp.Expr:
    """KL(P ‖ a bᵀ)."""
    return total(TOGETHER, kl(P[i, j], a[i] * b[j]))


def marginal_entropies() -> sp.Expr:
    """H(a) + H(b)."""
    return -total(i, a[i] * sp.log(a[i])) - total(j, b[j] * sp.log(b[j]))


@claim(
    "transport.s1.kl",
    "identity",
    title="The entropy term is a Kullback–Leibler term",
    needs=("transport.s1.entropic",),
    latex=r"-H(\gamma)=\mathrm{KL}(\gamma\,\|\,ab^\top)-H(a)-H(b)\ \text{on }\Pi(a,b)",
)
def kullback_leibler() -> Steps:
    """The regularizer is called a Kullback–Leibler term: on couplings, −H is the divergence from a bᵀ up to a constant."""
    yield primer.zero_rows()
    free = total(TOGETHER, kl(loose[i, j], b[j]))
    yield Equation(
        free,
        -entropy(loose) - total(TOGETHER, loose[i, j] * sp.log(b[j])),
        reason="with a free target they differ by Σ_j c_j log b_j, c what arrives: a constant only if b is uniform",
    )
    yield Equation(information(), -entropy(P) + marginal_entropies(), reason="with both marginals fixed")


kullback_leibler.twin("the sign", lambda: Equation(information(), entropy(P) + marginal_entropies()))
kullback_leibler.twin("the entropy of a alone", lambda: Equation(information(), -entropy(P) - total(i, a[i] * sp.log(a[i]))))


# ── Sinkhorn's iteration ────────────────────────────────────────────────────────────────────────────────────────────


def scaled_kernel(query: sp.Expr, key: sp.Expr, rows: Entry = f, sign: int = -1) -> sp.Expr:
    """E_ij = exp((f_i + g_j − C_ij)/ε) = u_i K_ij v_j."""
    return sp.exp((rows(query) + g[key] + sign * C[query, key]) / eps)


def row_mass(query: sp.Expr, sign: int = -1) -> sp.Expr:
    """(E 1)_i."""
    return total(l, scaled_kernel(query, l, sign=sign))


def after(query: sp.Expr) -> sp.Expr:
    """f⁺_i = f_i + ε log(a_i/(E 1)_i)."""
    return f[query] + eps * sp.log(a[query] / row_mass(query))


def rescaled(query: sp.Expr, key: sp.Expr, sign: int = -1) -> sp.Expr:
    """a_i E_ij/(E 1)_i, the iterate after its rows are rescaled."""
    return a[query] * scaled_kernel(query, key, sign=sign) / row_mass(query, sign)


def objective() -> sp.Expr:
    """J(P) = ⟨P, C⟩ − ε H(P)."""
    return total(TOGETHER, P[i, j] * C[i, j] + eps * xlogx(P[i, j]))


def dual(rows: Entry = f) -> sp.Expr:
    """D = ⟨a, f⟩ + ⟨b, g⟩ − ε Σ E + ε."""
    mass = total(TOGETHER, scaled_kernel(i, j, rows))
    return total(i, a[i] * rows(i)) + total(j, b[j] * g[j]) - eps * mass + eps


def distance(to: Entries) -> sp.Expr:
    """KL(P ‖ a positive matrix)."""
    return total(TOGETHER, kl(P[i, j], to(i, j)))


def row_error(sign: int = -1) -> sp.Expr:
    """KL(a ‖ E 1)."""
    return total(i, kl(a[i], row_mass(i, sign)))


def gap(right: sp.Expr) -> Equation:
    """The gap between the value of a coupling P and the bound from any two scalings."""
    return Equation(objective() - dual(), right, reason="for every coupling P and all f, g: 0 only at P = diag(u) K diag(v)")


def certificate() -> Equation:
    """The distance of a coupling from the optimum, in terms of any two scalings."""
    return gap(eps * distance(scaled_kernel))


def left_over(right: sp.Expr) -> Equation:
    """The gap after the rows are rescaled."""
    return Equation(
        objective() - dual(after), right, reason="at the solution P*: what J(P*) − D was, less what the half-step gains"
    )


@claim(
    "transport.s1.sinkhorn",
    "identity",
    title="Sinkhorn's algorithm solves the entropic problem",
    needs=("transport.s1.entropic",),
    latex=r"u_i=a_i\big/\textstyle\sum_jK_{ij}v_j,\ K_{ij}=e^{-C_{ij}/\varepsilon}\implies J(\gamma)-D^{(t+1)}"
    r"=\varepsilon\,\mathrm{KL}(\gamma\,\|\,\gamma^{(t)})-\varepsilon\,\mathrm{KL}(a\,\|\,\gamma^{(t)}\mathbf 1)",
)
def sinkhorn_solves() -> Steps:
    """Rescaling the rows and columns of exp(−C/ε) in turn solves the problem, and does so efficiently.

    Each half-step raises a lower bound D of all values by ε times the very error that it removes.  Of efficiency that proves
    one thing: after T half-steps some error was at most 1/T of a constant, which depends on ε.
    """
    yield primer.zero_rows()
    yield Equation(total(j, rescaled(i, j)), a[i], reason="the rows are met; columns are rows of the transpose")
    yield certificate()
    yield AtLeast(objective(), dual(), because=certificate().right, reason="so D is a lower bound of all values")
    yield Equation(derivative(dual(), f[i]), a[i] - row_mass(i), reason="D is stationary in f just where the rows are met")
    yield Equation(
        dual(after) - dual(),
        eps * row_error(),
        reason="all errors add up to (J(P*) − D_0)/ε at most: one of the first T is at most 1/T of it",
    )
    yield AtLeast(dual(after), dual(), because=eps * row_error(), reason="more, unless the rows were met")
    yield left_over(eps * distance(scaled_kernel) - eps * row_error())


sinkhorn_solves.twin(
    "the kernel exp(+C/ε)", lambda: left_over(eps * distance(lambda x, y: scaled_kernel(x, y, sign=1)) - eps * row_error(1))
)
sinkhorn_solves.twin(
    "the reverse divergence", lambda: left_over(eps * distance(scaled_kernel) - eps * total(i, kl(row_mass(i), a[i])))
)
sinkhorn_solves.twin("it moves away", lambda: left_over(eps * distance(scaled_kernel) + eps * row_error()))
sinkhorn_solves.twin("ε is lost", lambda: left_over(distance(scaled_kernel) - row_error()))
