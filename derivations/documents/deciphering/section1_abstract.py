"""Abstract and section 1: what the document announces.

Claims     deciphering.s0.convex         P(p) ≥ P(v) + ⟨∇P(v), p − v⟩
           deciphering.s0.closed-form    ĥ = Σ_i t_i tilt(αz)_i + o(α)
           deciphering.s0.special-case   u_i = 1/n  ⟹  tilt(αz)_i = softmax(α⟨t, z⟩)_i
           deciphering.s0.t5             T5's weights are softmax(⟨t_i, z⟩ + log u_i), u from mask and positions
           deciphering.s1.solver         ĥ = Σ_i t_i tilt(αz)_i − α²Σ²z + o(α²): for small α, and to first order
Notation   P the objective of (4); p any point of the simplex, v > 0 one inside it; λ* = λ*(α) the maximizer of (9)
References the abstract of the document, and section 1, which repeats it; what they announce is judged where it is derived
"""

import sympy as sp

from derivations.documents.deciphering.notation import (
    T,
    a,
    alpha,
    b,
    covariance,
    i,
    lam,
    maximizer,
    mean,
    mu,
    n,
    primal,
    shifted,
    tilt,
    u,
    z,
)
from derivations.documents.deciphering.section7_attention import (
    SMALL_ALPHA,
    closed,
    layer_solves,
    layer_solves_to_first_order,
    solves_the_problem,
    uniform_preference,
)
from derivations.documents.deciphering.section7_t5 import t5_realizes
from derivations.vocabulary import *

p, v = simplex("p", n), interior("v", n)


def slope(template: sp.Expr) -> sp.Expr:
    """∂P/∂v_i, but for a constant that p − v does not see."""
    return sp.log(v[template] / u[template]) - alpha * total(a, (shifted(a) - mean(v)(a)) * T[template, a])


def above_tangent(factor: sp.Expr) -> AtLeast:
    """P(p) ≥ P(v) + factor · ⟨∇P(v), p − v⟩."""
    apart = total(a, (mean(p)(a) - mean(v)(a)) ** 2)
    tangent = primal(v, shifted) + factor * total(i, slope(i) * (p[i] - v[i]))
    return AtLeast(
        primal(p, shifted),
        tangent,
        because=total(i, kl(p[i], v[i])) + alpha / 2 * apart,
        reason="the gap is Σ kl(p ‖ v) + α/2 ‖Σ (p − v) t‖²",
    )


@claim(
    "deciphering.s0.convex",
    "inequality",
    title="The problem is convex",
    latex=r"P(p)\ge P(v)+\langle\nabla P(v),p-v\rangle",
    needs=("deciphering.4",),
)
def convex() -> Steps:
    """The optimization problem at the centre of the document is convex: its objective lies above its tangents."""
    yield above_tangent(sp.S.One)


convex.twin("twice the slope", lambda: above_tangent(sp.Integer(2)))
convex.twin("the slope with the other sign", lambda: above_tangent(-sp.S.One))


def approximates(covariances: sp.Expr) -> Expansion:
    """The optimal estimate, and the closed form, against μ + α Σz."""
    return Expansion(
        mean(tilt(lam))(a), mu(a) + alpha * covariances, alpha, 1, where=(maximizer,), reason="both are μ + αΣz + o(α)"
    )


@claim(
    "deciphering.s0.closed-form",
    "asymptotic",
    title="A closed-form approximation of the optimal solution",
    latex=r"\hat h_{(18)}=\mu+\alpha\Sigma z+o(\alpha),\quad\hat h=\mu+\alpha\Sigma z+o(\alpha)",
    needs=("deciphering.thm1",),
    hypotheses=("α is small",),
)
def approximation() -> Steps:
    """Through the dual one finds a closed form that approximates the optimal estimate."""
    first_order = total(b, covariance(a, b) * z[b])
    yield Expansion(mean(closed())(a), mu(a) + alpha * first_order, alpha, 1, reason="the closed form")
    yield approximates(first_order)


approximation.twin("the sign", lambda: approximates(-total(b, covariance(a, b) * z[b])))
approximation.twin("the covariance is lost", lambda: approximates(z[a]))


reprint("deciphering.s0.special-case", of=uniform_preference, latex=r"\text{dot-product attention is a special case}")
reprint("deciphering.s0.t5", of=t5_realizes, latex=r"\text{T5 has implicitly adopted the general form}")


@claim(
    "deciphering.s0.justification",
    "equivalence",
    title="A principled justification for attention",
    latex=r"\text{the problem offers a principled justification}",
    needs=("deciphering.s8.as-a-result",),
)
def justification() -> Undecidable:
    """The convex problem is said to justify the architectural choices in attention."""
    return Undecidable(
        "no criterion is stated by which one problem justifies a layer more than another that it solves as "
        "exactly, such as the linearized one of deciphering.s7.solves-the-problem"
    )


@claim(
    "deciphering.s1.solver",
    "optimality",
    title="Attention solves an optimization problem of an inference task",
    latex=r"\text{attention is in fact a solver for a certain type of optimization problem}",
    needs=("deciphering.s7.solves-the-problem",),
)
def solver() -> Steps:
    """Attention is said to be in fact a solver of the optimization problem that corresponds to the inference task."""
    yield from solves_the_problem()


solver.corrected(
    r"\hat h=\textstyle\sum_it_ip_i-\alpha^2\Sigma^2z+o(\alpha^2),\ p=\mathrm{tilt}(\alpha z)",
    Severity.HYPOTHESIS,
    under=SMALL_ALPHA,
    replaces="a layer that solves the problem for every α",
)(layer_solves_to_first_order)
for name, wrong in layer_solves.twins.items():
    solver.twin(name, wrong)


@claim(
    "deciphering.s1.validated",
    "equivalence",
    title="Experiments validate the theory",
    latex=r"\text{experiments validate the theory}",
    needs=("deciphering.s8.as-a-result",),
)
def validated() -> Undecidable:
    """The experiments are said to validate the theory."""
    return Undecidable(
        "the theory is proved or refuted by derivation; what the measured deviations show of attention is "
        "judged in deciphering.s8.as-a-result"
    )
