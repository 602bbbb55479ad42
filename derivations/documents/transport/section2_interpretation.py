"""Section 2: the physical reading of the problem's four parts.

Claims     transport.s2.uniform-target    ⟨P, −S⟩ − εH(P) = ⟨P, −S⟩ + ε Σ_i KL(P_i ‖ 1/m) − εn log m  (corrected)
           transport.s2.entropy-spreads   dH(A_i)/dε = Var_{A_i}(S_i)/ε³ ≥ 0
Notation   A = softmax(S/ε); P any plan with unit rows
References the list under the lemma of the document
"""

import sympy as sp

from derivations.documents.eot import appendix_a_matrix, section3_problem
from derivations.documents.transport.notation import TOGETHER, A, K, Q, S, d, eps, i, j, m, n, objective, r, scaled
from derivations.vocabulary import *

P = stochastic("P", n, m)

reprint(
    "transport.s2.particles",
    of=appendix_a_matrix.source_measure,
    title="Queries are particles",
    latex=r"a_i=1",
    statement="The source consists of the queries, seen as particles: each carries one unit, n units altogether.",
)


def arriving() -> sp.Expr:
    """Σ_i A_ij."""
    return total(i, A(i, j))


def regularizer(weight: sp.Expr, constant: sp.Expr) -> Equation:
    """The objective with the entropy as a divergence from the uniform plan."""
    divergence = total(TOGETHER, kl(P[i, j], 1 / m))
    return Equation(
        objective(P, S, eps),
        weight * divergence - total(TOGETHER, P[i, j] * S[i, j]) - eps * constant,
        reason="−H(P) = Σ_i KL(P_i ‖ 1/m) − n log m for unit rows",
    )


@claim(
    "transport.s2.uniform-target",
    "identity",
    title="The target is the uniform distribution",
    needs=("transport.thm1",),
    latex=r"b_j=1/m\implies\sum_iA_{ij}=n/m",
)
def uniform_target() -> Steps:
    """The target of the transport is said to be the uniform distribution."""
    yield Fails(
        Equation(arriving(), n / m, at={n: 1, m: 2, eps: 1, S.label: [[0, 1]], j: 1}),
        reason="what arrives at a key is what its scores draw: the target is free",
    )


@uniform_target.corrected(
    r"\langle P,-S\rangle-\varepsilon H(P)=\langle P,-S\rangle+\varepsilon\sum_i"
    r"\mathrm{KL}(P_{i,:}\,\|\,\mathbf 1/m)-\varepsilon n\log m",
    Severity.FATAL,
    replaces="the uniform target, by the uniform reference of the entropy",
)
def uniform_reference() -> Steps:
    """The uniform distribution is what the entropy compares each row with, not what arrives: no target is prescribed."""
    yield Equation(total(j, arriving()), n, reason="only the sum of what arrives is known", about=(S[i, j], eps))
    yield regularizer(eps, n * sp.log(m))


uniform_target.twin("one row's constant", lambda: regularizer(eps, sp.log(m)))
uniform_target.twin("the divergence is rewarded", lambda: regularizer(-eps, n * sp.log(m)))
uniform_target.twin("ε is lost", lambda: regularizer(sp.S.One, n * sp.log(m)))


@claim(
    "transport.s2.cost",
    "definition",
    title="The cost is the negative score",
    needs=("transport.s2.scores",),
    latex=r"C=-S,\quad C_{ij}=-\langle q_i,k_j\rangle/\sqrt d",
)
def cost() -> Steps:
    """The cost of a pair is minus its score, so a query that moves along a key makes that key cheaper."""
    yield Equation(derivative(-scaled(i, j), Q[i, r]), -K[j, r] / sp.sqrt(d), reason="linear in the query")


cost.twin("the score itself", lambda: Equation(derivative(-scaled(i, j), Q[i, r]), K[j, r] / sp.sqrt(d)))
cost.twin("without 1/√d", lambda: Equation(derivative(-scaled(i, j), Q[i, r]), -K[j, r]))

reprint(
    "transport.s2.entropy-spreads",
    of=section3_problem.trade_off,
    title="The entropy term spreads attention over keys",
    latex=r"\frac{dH(p)}{d\varepsilon}=\frac{\mathrm{Var}_p(s)}{\varepsilon^3}\ge0",
    statement="The entropy term favours spreading attention over several keys: the larger its weight, the more entropy.",
)
