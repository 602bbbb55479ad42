"""Section 1: what a shift does to attention weights.

Claims    tiny_paper.1–3
Notation  m keys, numbered j, l; s the scores; tau the temperature; t a shift; p_j = exp(s_j/tau)/Σ_l exp(s_l/tau)
"""

import sympy as sp

from derivations import Equation, Fails, Severity, Steps, claim, derivative, index, positive, scalar, size, total, vector

m, tau, t = size("m"), positive("tau"), scalar("t")
j, l = index("j", m), index("l", m)  # noqa: E741
s = vector("s", m)
partition = total(l, sp.exp(s[l] / tau))
p = sp.exp(s[j] / tau) / partition
shifted = sp.exp((s[j] + t) / tau) / total(l, sp.exp((s[l] + t) / tau))


@claim("tiny_paper.1", "definition", title="Attention weights", latex=r"p_j = e^{s_j/\tau} / \sum_l e^{s_l/\tau}")
def weights() -> Steps:
    """The weights are the exponentials of the scores over τ, divided by their sum, so that they add up to 1."""
    yield Equation(total(j, p), 1, reason="the denominator is the sum of the numerators")


@claim("tiny_paper.2", "identity", title="A shift of all scores", needs=("tiny_paper.1",), latex=r"p(s + t) = p(s)")
def shift() -> Steps:
    """A number added to all scores leaves the weights as they are."""
    yield Equation(shifted, p, reason="exp(t/τ) cancels")


shift.twin("the shift stays", lambda: Equation(shifted, p * sp.exp(t / tau)))
shift.twin("τ is doubled", lambda: Equation(shifted, sp.exp(s[j] / (2 * tau)) / total(l, sp.exp(s[l] / (2 * tau)))))


@claim(
    "tiny_paper.3",
    "identity",
    title="The potential's slope",
    needs=("tiny_paper.1",),
    latex=r"\partial_{s_j} \tau \log \sum_l e^{s_l/\tau} = p_j / \tau",
)
def slope() -> Steps:
    """The derivative of τ log Σ exp(s/τ) in a score is said to be its weight over τ."""
    yield Fails(Equation(derivative(tau * sp.log(partition), s[j]), p / tau, at={m: 1, s.label: [0], tau: 2, j: 1}))


@slope.corrected(r"\partial_{s_j} \tau \log \sum_l e^{s_l/\tau} = p_j", Severity.SLIP)
def own_slope() -> Steps:
    """The derivative is the weight itself."""
    yield Equation(derivative(tau * sp.log(partition), s[j]), p, reason="the factor τ and the inner 1/τ cancel")


slope.twin("the sign", lambda: Equation(derivative(tau * sp.log(partition), s[j]), -p))
slope.twin("a factor τ", lambda: Equation(derivative(tau * sp.log(partition), s[j]), tau * p))
