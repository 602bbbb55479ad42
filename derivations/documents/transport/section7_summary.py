"""Section 7: the table that sums up what transport contributes, and the references.

Claims     transport.s7.soft-sorting     A_ij/A_ik = exp((S_ij − S_ik)/ε): each row by itself  (corrected)
           transport.s7.optimization     A = argmin ⟨P, −S⟩ − ε H(P) over the plans with unit rows
           transport.s7.generalization   E_b[loss] − E_a[loss] ≤ L W₁(a, b)  (corrected)
           transport.s7.unification      κ > 0  ⟹  κ_ij/Σ_l κ_il = argmin ⟨P, −ε log κ⟩ − ε H(P), by rows
Notation   T square scores; f the losses at n places of training and g at m of testing; a, b their distributions and P a
           coupling of them; L the Lipschitz constant of the loss, so that L D_ij = g_j − f_i + z_ij with some z ≥ 0 for the
           distance D_ij of two places; γ any number that depends on L alone; x, y features of any sign, κ a positive kernel
References the last table and the references of the document
"""

import sympy as sp

from derivations.documents.transport.notation import TOGETHER, A, S, eps, h, i, j, k, l, m, n
from derivations.documents.transport.section1_transport import certificate
from derivations.documents.transport.section2_theorem import attention_is_optimal
from derivations.documents.transport.section4_linear import kappa, normalized, solution
from derivations.vocabulary import *

F = size("F")
r = index("r", F)
T = vector("T", n, n)
other = index("l", n)
x, y = vector("x", n, F), vector("y", m, F)


# ── sorting ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def ranked(right: sp.Expr) -> Equation:
    """The ratio of two weights of a row."""
    return Equation(A(i, j) / A(i, k), right, reason="so A_ij > A_ik exactly if S_ij > S_ik")


@claim(
    "transport.s7.soft-sorting",
    "equivalence",
    title="Attention is soft sorting or ranking",
    needs=("transport.s5.cold-matching",),
    latex=r"\text{Attention}=\text{soft sorting / ranking}:\ A\to\text{a permutation}\ (\varepsilon\to0)",
)
def soft_sorting() -> Steps:
    """Attention is said to be a soft sorting, whose hard limit would give each key one rank and each rank one key."""
    columns = total(i, sp.exp(T[i, h] / eps) / total(other, sp.exp(T[i, other] / eps)))
    yield Fails(
        Limit(columns, eps, sp.S.Zero, sp.S.One, at={n: 2, T.label: [[1, 0], [1, 0]], h: 1}),
        reason="both rows pick key 1: no permutation, however small ε",
    )


@soft_sorting.corrected(
    r"A_{ij}/A_{ik}=e^{(S_{ij}-S_{ik})/\varepsilon}",
    Severity.SLIP,
    replaces="the permutation in the limit, by the odds within a row",
)
def soft_choice() -> Steps:
    """Each query ranks the keys by themselves, as their scores do: a soft choice of the best key, made row by row."""
    yield ranked(sp.exp((S[i, j] - S[i, k]) / eps))


soft_sorting.twin("the order is reversed", lambda: ranked(sp.exp((S[i, k] - S[i, j]) / eps)))
soft_sorting.twin("ε is lost", lambda: ranked(sp.exp(S[i, j] - S[i, k])))

reprint(
    "transport.s7.optimization",
    of=attention_is_optimal,
    title="A strict formulation as an optimization problem",
    latex=r"A=\arg\min_{P\ge0,\,P\mathbf 1=\mathbf 1}\langle P,-S\rangle-\varepsilon H(P)",
    statement="The mathematical basis of attention is an optimization problem, stated exactly.",
)


@claim(
    "transport.s7.design",
    "equivalence",
    title="Principles for temperature, sparsity and stability",
    latex=r"\text{OT}\to\text{temperature, sparsity, stability}",
    needs=("transport.s5.scheduling", "transport.s5.sparsity", "transport.s5.wasserstein-stability"),
)
def design() -> Undecidable:
    """Transport is said to guide design by principles for temperature, sparsity and stability."""
    return Undecidable("advice; what can be decided of the three principles is stated, and judged, in section 5")


# ── generalization ──────────────────────────────────────────────────────────────────────────────────────────────────

f, g = vector("f", n), vector("g", m)
a, b = simplex("a", n), simplex("b", m)
P = coupling("P", a, b)
z = vector("z", n, m, kind=Nonnegative)
steepness, bound = positive("L"), positive("γ")


def risk_gap() -> sp.Expr:
    """E_b[g] − E_a[f]: the loss in testing less that in training."""
    return total(j, b[j] * g[j]) - total(i, a[i] * f[i])


def distance(query: sp.Expr, key: sp.Expr) -> sp.Expr:
    """D_ij = (g_j − f_i + z_ij)/L ≥ (g_j − f_i)/L."""
    return (g[key] - f[query] + z[query, key]) / steepness


def carried() -> sp.Expr:
    """L ⟨P, D⟩."""
    return steepness * total(TOGETHER, P[i, j] * distance(i, j))


def at_most(gap: sp.Expr, at: dict[Variable, Value] | None = None) -> AtLeast:
    """L ⟨P, D⟩ bounds a gap."""
    return AtLeast(
        carried(),
        gap,
        because=total(TOGETHER, P[i, j] * z[i, j]),
        at=at or {},
        reason="g_j − f_i ≤ L D_ij averaged over any coupling P; the best one makes the bound L W₁",
    )


@claim(
    "transport.s7.generalization",
    "inequality",
    title="Stability guarantees generalization",
    needs=("transport.s5.wasserstein-stability",),
    latex=r"\ell\ L\text{-stable}\implies\mathbb E_{\text{test}}[\ell]-\mathbb E_{\text{train}}[\ell]\le\gamma(L)",
)
def generalization() -> Steps:
    """Stability in the Wasserstein distance is said to guarantee generalization: its constant alone would bound the gap."""
    far = (bound + 1) / steepness
    yield AtLeast(steepness * far, bound, strict=True, reason="ℓ(x) = L x, training at 0 and testing at (γ + 1)/L: the gap")
    yield Fails(
        AtLeast(
            bound,
            risk_gap(),
            about=(P[i, j],),
            at={n: 1, m: 1, a.label: [1], b.label: [1], f.label: [0], g.label: [2], P.label: [[1]], bound: 1},
        ),
        reason="whatever γ is, the test may be further away; L = 1, γ = 1, training at 0 and testing at 2",
    )


@generalization.corrected(
    r"\mathbb E_{\text{test}}[\ell]-\mathbb E_{\text{train}}[\ell]\le L\,W_1(\text{train},\text{test})",
    Severity.FATAL,
    replaces="a bound that depends on L alone",
)
def as_far_as_the_data_move() -> Steps:
    """A loss with the Lipschitz constant L grows from training to testing by L times their distance W₁ at most: it is the data
    that would have to be close, which stability does not provide.
    """
    yield Equation(total(TOGETHER, P[i, j] * (g[j] - f[i])), risk_gap(), reason="marginals: the gap, along any coupling")
    yield at_most(risk_gap())


SHARP: dict[Variable, Value] = {
    n: 1,
    m: 1,
    a.label: [1],
    b.label: [1],
    f.label: [1],
    g.label: [2],
    P.label: [[1]],
    z.label: [[0]],
    steepness: 1,
}
generalization.twin("twice the gap", lambda: at_most(2 * risk_gap(), SHARP))
generalization.twin("all of the loss in testing", lambda: at_most(total(j, b[j] * g[j]), SHARP))


# ── one framework ───────────────────────────────────────────────────────────────────────────────────────────────────


def linear_weight() -> sp.Expr:
    """⟨x_i, y_j⟩/Σ_l ⟨x_i, y_l⟩."""
    return total(r, x[i, r] * y[j, r]) / total(l, total(r, x[i, r] * y[l, r]))


NEGATIVE: dict[Variable, Value] = {n: 1, m: 2, F: 1, x.label: [[1]], y.label: [[-1], [2]], i: 1, j: 1}


@claim(
    "transport.s7.unification",
    "optimality",
    title="One framework for standard, Sinkhorn and linear attention",
    latex=r"\text{standard, Sinkhorn and linear attention are plans}",
    needs=("transport.thm1", "transport.s3.sinkhorn-attention", "transport.s4.transport-reading", "transport.s4.kernel"),
)
def unification() -> Steps:
    """Standard, Sinkhorn and linear attention are said to be instances of the same transport problem."""
    yield Fails(
        AtLeast(linear_weight(), 0, at=NEGATIVE),
        reason="a positive definite kernel may be negative off its diagonal, and then a weight is: no plan has that",
    )


@unification.corrected(
    r"\kappa>0:\ \frac{\kappa_{ij}}{\sum_l\kappa_{il}}=\arg\min_{P\ge0,\,P\mathbf 1=\mathbf 1}"
    r"\langle P,-\varepsilon\log\kappa\rangle-\varepsilon H(P)",
    Severity.HYPOTHESIS,
    under="the kernel of linear attention is positive, ⟨φ(q), φ(k)⟩ > 0",
    replaces="features of any sign",
)
def one_framework() -> Steps:
    """Every positive kernel, normalized by rows, is the plan of its own costs; by rows and columns, Sinkhorn's plan."""
    yield Equation(
        eps * sp.log(A(i, j)),
        S[i, j] - eps * sp.log(total(l, sp.exp(S[i, l] / eps))),
        reason="κ = A: standard attention, with the costs −S up to a constant of each row",
    )
    yield certificate()
    yield solution(normalized)


unification.twin(
    "the cost is −κ", lambda: solution(lambda query, key: sp.exp(kappa[query, key]) / total(l, sp.exp(kappa[query, l])))
)
unification.twin(
    "normalized over the queries", lambda: solution(lambda query, key: kappa[query, key] / total(h, kappa[h, key]))
)


# ── references ──────────────────────────────────────────────────────────────────────────────────────────────────────


@claim(
    "transport.fn1",
    "external fact",
    title="Footnote 1: Mensch and Blondel (2018)",
    latex=r"\text{“Differentiable dynamic programming for sequence modeling”, OpenReview}",
)
def mensch_blondel() -> Undecidable:
    """The first reference names authors, year, title and place of a paper."""
    return Undecidable(
        "no bibliography ships with what is installed here; the paper of 2018 by these authors that we know is "
        "“Differentiable dynamic programming for structured prediction and attention” (ICML)"
    )


@claim(
    "transport.fn2",
    "external fact",
    title="Footnote 2: Geshkovski et al. (2025)",
    latex=r"\text{“A mathematical perspective on transformers”, AMS Bulletin}",
)
def geshkovski() -> Undecidable:
    """The second reference names authors, year, title and place of a paper."""
    return Undecidable("no bibliography ships with what is installed here")
