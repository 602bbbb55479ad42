"""“What is an Attention Mechanism”: the context vector and its parts.

Claims     geometric.1            q_c = Σ_j p_j V_jc = E_p[V(T)_c]
           geometric.s1.context   ⟨v, V(j)⟩ ≤ bound for every j  ⟹  ⟨v, q⟩ ≤ bound
           geometric.s1.value     ⟨g, E_p[V(T)]⟩ = E_p⟨g, V(T)⟩
Notation   v, g any vectors of length d; q_c = Σ_j p_j V_jc the context vector, printed c; bound the height of a half-space,
           s_j ≥ 0 how far below it V(j) is
References (1) and the list below it
"""

import sympy as sp

from derivations.documents.eot.notation import j, k, m
from derivations.documents.eot.section3_problem import probability_simplex
from derivations.documents.geometric.notation import V, c, d, p, uniform
from derivations.vocabulary import *

v, g = vector("v", d), vector("g", d)
height, slack = scalar("bound"), vector("s", m, kind=Nonnegative)


def context(coordinate: sp.Expr) -> sp.Expr:
    """E_p[V_c(T)] = Σ_j p_j V_c(j)."""
    return total(j, p[j] * V[j, coordinate])


def shifted_context(right: sp.Expr) -> Equation:
    """The context of the values V(t) + v."""
    return Equation(total(j, p[j] * (V[j, c] + v[c])), right, reason="weights of sum 1: moving all values moves c")


@claim(
    "geometric.1",
    "definition",
    title="The context vector is an expectation",
    hypotheses=("S is finite",),
    latex=r"c=\mathbb E_p[V(T)]",
    needs=("geometric.s1.pmf",),
)
def context_vector() -> Steps:
    """The context vector, which is what the mechanism computes, is the expectation of V at a random location drawn from p."""
    yield Equation(total(j, uniform(j) * V[j, c]), total(j, V[j, c]) / m, reason="an instance: equal weights give the mean")
    yield shifted_context(context(c) + v[c])


context_vector.twin("weights that do not sum to 1", lambda: shifted_context(context(c) + m * v[c] + v[c]))
context_vector.twin("a sum for the expectation", lambda: shifted_context(total(j, V[j, c]) + v[c]))


def half_space(bound: sp.Expr, because: sp.Expr | None = None) -> AtLeast:
    """Where ⟨v, V(j)⟩ = bound − s_j for all j, ⟨v, c⟩ is at most this."""
    return AtLeast(bound, total(j, p[j] * (height - slack[j])), because=because, reason="what c is short of is Σ_j p_j s_j")


@claim(
    "geometric.s1.context",
    "inequality",
    title="The context vector is a weighted average",
    needs=("geometric.1",),
    latex=r"u_t\le b\implies\textstyle\sum_tp_tu_t\le b,\quad\langle v,c\rangle=\textstyle\sum_tp_t\langle v,V(t)\rangle",
)
def weighted_average() -> Steps:
    """The context vector is a weighted average of the V(t): it lies in every half-space that holds all of them."""
    yield Equation(total(c, v[c] * context(c)), total(j, p[j] * total(c, v[c] * V[j, c])), reason="⟨v, c⟩ = Σ_t p_t ⟨v, V(t)⟩")
    yield half_space(height, total(j, p[j] * slack[j]))


weighted_average.twin("below all values", lambda: half_space(height - total(j, slack[j])))
weighted_average.twin("below the mean by equal weights", lambda: half_space(height - total(j, slack[j]) / m))

reprint(
    "geometric.s1.pmf",
    probability_simplex,
    title="The attention weights are a discrete pmf",
    latex=r"p\in\mathbb R^{|S|},\quad p_t\ge0,\quad\textstyle\sum_{t\in S}p_t=1",
    statement="The weights are the entries of a vector, one for each location, that are nonnegative and sum to one.",
)


def indicator(right: sp.Expr) -> Equation:
    """E_p[δ_Tk] against the probability of the location k."""
    return Equation(total(j, p[j] * delta(j, k)), right, reason="one location is k")


@claim(
    "geometric.s1.random-location",
    "definition",
    title="T is a location drawn from p",
    needs=("geometric.s1.pmf",),
    latex=r"T\in S,\quad\mathbb E_{T\sim p}[\mathbf 1[T=t]]=p_t",
)
def random_location() -> Steps:
    """T is one of the locations, each with the probability that is its weight."""
    yield Equation(total(j, p[j]), 1, about=(p[j],), reason="T is somewhere in S")
    yield AtLeast(p[k], 0, reason="and nowhere with a negative probability")
    yield indicator(p[k])


random_location.twin("uniform on S", lambda: indicator(1 / m))
random_location.twin("drawn twice", lambda: indicator(p[k] ** 2))


def paired(right: sp.Expr) -> Equation:
    """⟨g, c⟩ against an expectation."""
    return Equation(total(c, g[c] * context(c)), right, reason="sums are linear")


@claim(
    "geometric.s1.value",
    "definition",
    title="V represents the data at a location by a vector",
    needs=("geometric.1",),
    latex=r"V:S\to\mathbb R^d,\quad\langle g,\mathbb E_{T\sim p}[V(T)]\rangle=\mathbb E_{T\sim p}[\langle g,V(T)\rangle]",
)
def value_function() -> Steps:
    """V assigns d numbers to each location, and the expectation of the vector is that of each of them."""
    yield paired(total(j, p[j] * total(c, g[c] * V[j, c])))


value_function.twin("the weights count twice", lambda: paired(total(j, p[j] ** 2 * total(c, g[c] * V[j, c]))))
value_function.twin("equal weights", lambda: paired(total(j, total(c, g[c] * V[j, c])) / m))
