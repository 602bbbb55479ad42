"""Section 5, the four principles for a good design.

Claims     transport.s5.row-stochasticity   Σ_j A_ij = 1 for every ε and S
           transport.s5.sparsity            Ω = ½‖p‖², s_j − s_k ≥ 1  ⟹  p*_k = 0
Notation   A = softmax(S/ε); p* minimizes −⟨p, s⟩ + ½‖p‖², with scores as in `eot.section4_sparsemax`
References the list of principles in section 5 of the document
"""

import sympy as sp

from derivations.documents.eot.section4_sparsemax import sparse_when_scores_are_apart, trails
from derivations.documents.transport.notation import A, S, eps, i, j, l, m
from derivations.vocabulary import *

q = simplex("q", m)


@claim(
    "transport.s5.semantic-cost",
    "equivalence",
    title="The cost should be a meaningful distance",
    latex=r"C=\text{semantic distance}",
)
def semantic_cost() -> Undecidable:
    """A good design is said to use a distance with a meaning as its cost."""
    return Undecidable("advice: no distance and no measure of meaning or of success is named (−⟨q, k⟩ itself is no distance)")


@claim(
    "transport.s5.scheduling",
    "equivalence",
    title="The temperature should follow the task",
    latex=r"\varepsilon=\varepsilon(\text{task})",
)
def scheduling() -> Undecidable:
    """A good design is said to adapt the temperature to the task."""
    return Undecidable("advice: no task, schedule or measure of success is named")


def row_mass(temperature: sp.Expr) -> sp.Expr:
    """Σ_j exp(S_ij/ε)/Σ_l exp(S_il/temperature)."""
    return total(j, sp.exp(S[i, j] / eps) / total(l, sp.exp(S[i, l] / temperature)))


@claim(
    "transport.s5.row-stochasticity",
    "identity",
    title="The rows of the softmax keep summing to one",
    latex=r"\sum_jA_{ij}=1",
    needs=("transport.lem1",),
)
def row_stochasticity() -> Steps:
    """Rows keep summing to one, at every ε and for all scores; that a good design should keep them so is advice."""
    yield Equation(total(j, A(i, j)), 1, reason="the denominator leaves the sum", about=(S[i, j], eps))


row_stochasticity.twin("normalized at another temperature", lambda: Equation(total(j, A(i, j)), row_mass(2 * eps)))
row_stochasticity.twin("the squares do", lambda: Equation(total(j, A(i, j)), total(j, A(i, j) ** 2)))


@claim(
    "transport.s5.sparsity",
    "inequality",
    title="Sparsity through a regularizer",
    latex=r"\exists\,\Omega,\ \text{say }\tfrac12\|p\|^2:\ s_j-s_k\ge1\implies p^\star_k=0",
    needs=("transport.lem1", "eot.s4.sparsemax-sparse"),
)
def sparsity() -> Steps:
    """Sparse solutions can be had by regularization: with half the squared norm a key that trails by 1 or more gets nothing.

    The sentence names no regularizer; the document's own one, the entropy, never gives a zero.
    """
    yield AtLeast(A(i, j), 0, strict=True, reason="with −εH no weight vanishes, whatever ε > 0 and the scores")
    yield Equation(total(l, sp.Abs(q[l])), 1, reason="Σ|p| would not do: it is the same for all points of the simplex")
    yield from sparse_when_scores_are_apart()


sparsity.twin("trailing by 1/2 is enough", lambda: trails(sp.S.Zero, 2))
sparsity.twin("only the best keys get weight", lambda: trails(sp.S.One, 1))
