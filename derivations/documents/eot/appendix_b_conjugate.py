"""Appendix B, first half: the problem without constraint, and its value as a conjugate.

Claims     eot.126                 V(s) = min f(p) − ⟨p, s⟩ over ℝ^m, attained at p* alone
           eot.130                 V(s) = −f*(s)
           eot.131                 −V = f* and ∇f* = p*
           eot.sB.penalty          argmin of g + I_Δ over ℝ^m = argmin of g over the simplex, I_Δ its indicator
           eot.sB.step-conjugate   f* = τ log Σ_l exp(s_l/τ) and ∇f* = softmax(s/τ)
Notation   f(p) = τ Σ p log p on the simplex, +∞ elsewhere; f*(s) = sup_p ⟨p, s⟩ − f(p); V(s) = min_p f(p) − ⟨p, s⟩;
           φ(s) = τ log Σ_l exp(s_l/τ); p* = softmax(s/τ)
References the opening of Appendix B of the document, Definitions B.1 and B.2; Rockafellar (1970), §12
"""

import sympy as sp

from derivations.documents.eot.notation import j, l, m, objective, partition, s, softmax, tau
from derivations.vocabulary import *

p, q = simplex("p", m), simplex("x", m)
star = softmax(s, tau)
odds, size_of_penalty = positive("t"), positive("M")
elsewhere = vector("t", m)
c = scalar("c")


def uniform(key: sp.Expr) -> sp.Expr:
    """1/m for every key."""
    return 1 / m


def pairing(of: Entry, scores: Entry) -> sp.Expr:
    """⟨p, s⟩."""
    return total(j, of(j) * scores(j))


def negentropy(of: Entry, strength: sp.Expr = tau) -> sp.Expr:
    """τ Σ_j p_j log p_j, which is f on the simplex."""
    return strength * total(j, xlogx(of(j)))


def inner(of: Entry) -> sp.Expr:
    """⟨p, s⟩ − f(p), whose supremum is the conjugate."""
    return pairing(of, s) - negentropy(of)


def potential(scores: Entry = s, strength: sp.Expr = tau) -> sp.Expr:
    """φ(s) = τ log Σ_l exp(s_l/τ)."""
    return strength * sp.log(partition(scores, strength))


def attained_at(candidate: Entry) -> UniqueMinimum:
    """f(p) − ⟨p, s⟩ is least, and ⟨p, s⟩ − f(p) greatest, at the candidate alone."""
    return UniqueMinimum(
        lambda of: negentropy(of) - pairing(of, s),
        candidate,
        m,
        tau,
        reason="f(q) − ⟨q, s⟩ exceeds its value at p* by τ Σ_j kl(q_j ‖ p*_j)",
    )


def colder(key: sp.Expr) -> sp.Expr:
    """The softmax of 2s/τ."""
    return softmax(lambda other: 2 * s[other], tau)(key)


def reversed_scores(key: sp.Expr) -> sp.Expr:
    """The softmax of −s/τ."""
    return softmax(lambda other: -s[other], tau)(key)


def divergence(of: Entry, other: Entry) -> sp.Expr:
    """Σ_j kl(p_j ‖ q_j)."""
    return total(j, kl(of(j), other(j)))


# ── the indicator and the problem without constraint ────────────────────────────────────────────────────────────────


@claim(
    "eot.defB.1",
    "definition",
    title="The indicator of the simplex",
    needs=("eot.124",),
    latex=r"I_\Delta:\mathbb R^m\to\{0,+\infty\}",
)
def indicator() -> Steps:
    """The indicator separates the points of the simplex from all others; both kinds exist for every m."""
    yield Fails(Equation(total(j, 2 * uniform(j)), 1, at={m: 1}), reason="a point outside: all entries 2/m, where I is +∞")
    yield Equation(total(j, uniform(j)), 1, reason="a point inside: all entries 1/m, where I is 0")


@claim(
    "eot.124",
    "definition",
    title="0 on the simplex, +∞ elsewhere",
    needs=("eot.2",),
    latex=r"I_\Delta(p)=0\ (p\in\Delta^{m-1}),\ +\infty\ (p\notin\Delta^{m-1})",
)
def zero_or_infinite() -> Steps:
    """The indicator is the limit of ever larger penalties: M times any violation grows without bound, M times 0 stays 0."""
    yield Limit(size_of_penalty * odds, size_of_penalty, sp.oo, sp.oo, reason="a violation t > 0, however small")
    yield Limit(
        size_of_penalty * (total(j, p[j]) - 1), size_of_penalty, sp.oo, sp.S.Zero, reason="none on the simplex", about=(p[j],)
    )


zero_or_infinite.twin(
    "1 on the simplex", lambda: Limit(size_of_penalty * (total(j, p[j]) - 1), size_of_penalty, sp.oo, sp.S.One)
)
zero_or_infinite.twin("+∞ on the simplex", lambda: Limit(size_of_penalty * (total(j, p[j]) - 1), size_of_penalty, sp.oo, sp.oo))


def mixture(key: sp.Expr) -> sp.Expr:
    """(t p_j + x_j)/(1 + t)."""
    return (odds * p[key] + q[key]) / (1 + odds)


@claim(
    "eot.sB.indicator-convex",
    "inequality",
    title="The indicator is convex",
    needs=("eot.124",),
    latex=r"I_\Delta(tp+(1-t)x)\le tI_\Delta(p)+(1-t)I_\Delta(x)",
    part_of="eot.defB.1",
)
def indicator_is_convex() -> Steps:
    """A mixture of two points of the simplex lies in it; if an end lies outside, the right side is +∞ already."""
    yield AtLeast(mixture(j), 0, reason="entries ≥ 0")
    yield Equation(total(j, mixture(j)), 1, reason="and mass 1, so that I is 0 at the mixture too")


indicator_is_convex.twin("weights that do not sum to 1", lambda: Equation(total(j, mixture(j)), 1 + odds))
indicator_is_convex.twin("half of the mass", lambda: Equation(total(j, mixture(j)), sp.S.Half))


@claim(
    "eot.sB.penalty",
    "equivalence",
    title="The indicator enforces the constraint",
    needs=("eot.124",),
    latex=r"\arg\min_{\mathbb R^m}(g+I_\Delta)=\arg\min_{\Delta^{m-1}}g",
    part_of="eot.defB.1",
)
def penalty() -> Steps:
    """Outside the simplex the sum is +∞ and no rival; inside nothing is added, so a minimizer stays one."""
    yield Limit(size_of_penalty * odds, size_of_penalty, sp.oo, sp.oo, reason="any violation costs more than any finite value")
    yield attained_at(star)


penalty.twin("the constraint is not felt", lambda: attained_at(lambda key: sp.exp(s[key] / tau - 1)))
penalty.twin("only the penalty is felt", lambda: attained_at(uniform))


@claim(
    "eot.125",
    "definition",
    title="Negative entropy with the constraint inside",
    needs=("eot.124", "eot.4"),
    latex=r"f(p)=\tau\textstyle\sum_jp_j\log p_j+I_\Delta(p)",
    hypotheses=("0 log 0 = 0",),
)
def constrained_negentropy() -> Steps:
    """f is τ Σ p log p on the simplex, where it lies between −τ log m and 0, and +∞ elsewhere."""
    yield AtLeast(negentropy(p), -tau * sp.log(m), because=tau * divergence(p, uniform), reason="least at 1/m")
    yield Equation(negentropy(uniform), -tau * sp.log(m), reason="an instance: finite, so f is proper")


constrained_negentropy.twin("entropy, not its negative", lambda: Equation(negentropy(uniform), tau * sp.log(m)))
constrained_negentropy.twin("τ is lost", lambda: Equation(negentropy(uniform), -sp.log(m)))


@claim(
    "eot.sB.step-unconstrained",
    "optimality",
    title="Step 1: an unconstrained problem",
    needs=("eot.126",),
    latex=r"\min_{p\in\Delta^{m-1}}J(p,s)=\min_{p\in\mathbb R^m}\{-\langle p,s\rangle+f(p)\}",
)
def step_unconstrained() -> Steps:
    """With the indicator inside f the problem of section 3 is a minimization over all of R^m, with the same solution."""
    yield Equation(
        negentropy(p) - pairing(p, s),
        objective(p, lambda key: -s[key], tau),
        reason="the objective of (3) with C = −s and ε = τ",
    )
    yield attained_at(star)


step_unconstrained.twin("the scores' sign", lambda: attained_at(reversed_scores))
step_unconstrained.twin("the uniform vector", lambda: attained_at(uniform))


@claim(
    "eot.126",
    "optimality",
    title="The value as an unconstrained minimum",
    needs=("eot.125", "eot.sB.penalty"),
    latex=r"V(s)=\min_{p\in\mathbb R^m}\{-\langle p,s\rangle+f(p)\}",
)
def unconstrained() -> Steps:
    """V is a minimum, attained at one point of R^m, and not only an infimum."""
    yield attained_at(star)


unconstrained.twin("half the temperature", lambda: attained_at(colder))
unconstrained.twin("the scores' sign", lambda: attained_at(reversed_scores))


# ── the conjugate ───────────────────────────────────────────────────────────────────────────────────────────────────


@claim(
    "eot.defB.2",
    "definition",
    title="The convex conjugate",
    needs=("eot.127",),
    latex=r"f^*:\mathbb R^m\to\mathbb R\cup\{+\infty\}",
)
def conjugate() -> Steps:
    """The conjugate is never −∞ when f is finite somewhere: at the uniform vector it is at least mean score + τ log m."""
    yield AtLeast(potential(), inner(uniform), because=tau * divergence(uniform, star), reason="one p bounds the supremum")


@claim(
    "eot.127",
    "definition",
    title="Supremum of a pairing less f",
    needs=("eot.125",),
    latex=r"f^*(s)=\sup_{p\in\mathbb R^m}\{\langle p,s\rangle-f(p)\}",
)
def supremum() -> Steps:
    """The conjugate is the least upper bound of ⟨p, s⟩ − f(p): for the f of (125) no p exceeds φ(s), and p* reaches it."""
    yield Equation(inner(star), potential(), reason="reached at the softmax")
    yield AtLeast(potential(), inner(p), because=tau * divergence(p, star), reason="φ − ⟨p, s⟩ + f(p) = τ Σ kl(p ‖ p*)")


supremum.twin("the value at the uniform vector", lambda: AtLeast(inner(uniform), inner(p)))
supremum.twin("the largest score", lambda: AtLeast(total(j, s[j] * delta(j, sp.S.One)), inner(p)))


def value(of: Entry) -> sp.Expr:
    """f(p) − ⟨p, s⟩."""
    return negentropy(of) - pairing(of, s)


@claim(
    "eot.128",
    "optimality",
    title="V as a minimum of f less the pairing",
    needs=("eot.126",),
    latex=r"V(s)=\min_p\{f(p)-\langle p,s\rangle\}",
)
def minimum_of_difference() -> Steps:
    """The two terms change places: the same minimum, at the same point."""
    yield attained_at(star)


minimum_of_difference.twin("half the temperature", lambda: attained_at(colder))
minimum_of_difference.twin("the uniform vector", lambda: attained_at(uniform))


@claim(
    "eot.129",
    "identity",
    title="A minimum is minus a supremum",
    needs=("eot.128", "eot.127"),
    latex=r"=-\sup_p\{\langle p,s\rangle-f(p)\}",
)
def minus_supremum() -> Steps:
    """The least value of f − ⟨p, s⟩ is minus the greatest value of ⟨p, s⟩ − f."""
    yield AtLeast(potential(), inner(p), because=tau * divergence(p, star), reason="the supremum is φ(s)")
    yield attained_at(star)
    yield Equation(value(star), -potential(), reason="the minimum is −φ(s)")


minus_supremum.twin("the sign is lost", lambda: Equation(value(star), potential()))
minus_supremum.twin("the supremum for −s", lambda: Equation(value(star), -potential(lambda key: -s[key])))


@claim("eot.130", "identity", title="The value is minus the conjugate", needs=("eot.129",), latex=r"=-f^*(s)")
def minus_conjugate() -> Steps:
    """The optimal value of the problem is minus the conjugate of the constrained negative entropy."""
    yield Equation(value(star), -potential(), reason="V(s) at p*, and f*(s) = φ(s)")


minus_conjugate.twin(
    "the conjugate without the constraint", lambda: Equation(value(star), -tau * total(l, sp.exp(s[l] / tau - 1)))
)
minus_conjugate.twin("the sign", lambda: Equation(value(star), potential()))
minus_conjugate.twin("τ is lost", lambda: Equation(value(star), -sp.log(partition(s, tau))))


@claim(
    "eot.131",
    "identity",
    title="The potential is the conjugate",
    needs=("eot.130",),
    latex=r"\phi(s)=f^*(s),\quad\nabla\phi=p^\star",
    hypotheses=("φ = −V",),
)
def potential_is_conjugate() -> Steps:
    """The potential −V, whose gradient is p*, is the conjugate; a constant added to it would leave the gradient as it is."""
    yield Equation(derivative(potential() + c, s[j]), star(j), reason="∇φ = p* fixes φ up to a constant c", about=(c,))
    yield Equation(-value(star), potential(), reason="φ = −V takes c = 0")


potential_is_conjugate.twin("the sign", lambda: Equation(-value(star), -potential()))
potential_is_conjugate.twin("log of the mean of exponentials", lambda: Equation(-value(star), potential() - tau * sp.log(m)))


@claim(
    "eot.sB.step-value",
    "identity",
    title="Step 2: the value is minus the conjugate of the entropy function",
    latex=r"V(s)=-f^*(s)",
    needs=("eot.130",),
)
def step_value() -> Steps:
    """With f the negative entropy on the simplex, V is minus its conjugate; the constraint belongs to f."""
    yield Equation(-value(star), potential(), reason="f* = φ")


step_value.twin(
    "negative entropy on all positive vectors", lambda: Equation(-value(star), tau * total(l, sp.exp(s[l] / tau - 1)))
)
step_value.twin("the sign", lambda: Equation(-value(star), -potential()))


@claim(
    "eot.sB.step-gradient",
    "equivalence",
    title="Step 3: the gradient of the conjugate is the optimal point",
    latex=r"f^*(t)\ge f^*(s)+\langle t-s,p^\star(s)\rangle,\quad\nabla f^*(s)=p^\star(s)",
    needs=("eot.127",),
)
def step_gradient() -> Steps:
    """The plane with slope p*(s) touches f* at s from below, so where f* is smooth its gradient is the optimal point."""
    yield AtLeast(
        potential(elsewhere),
        potential() + pairing(star, elsewhere) - pairing(star, s),
        because=tau * divergence(star, softmax(elsewhere, tau)),
        reason="the gap is τ KL(p*(s) ‖ p*(t))",
    )
    yield Equation(derivative(potential(), s[j]), star(j), reason="and f* is smooth here")


step_gradient.twin("minus the optimal point", lambda: Equation(derivative(potential(), s[j]), -star(j)))
step_gradient.twin("τ times it", lambda: Equation(derivative(potential(), s[j]), tau * star(j)))


@claim(
    "eot.sB.step-conjugate",
    "identity",
    title="Step 4: Log-Sum-Exp, and softmax as its gradient",
    latex=r"f^*=\tau\log\textstyle\sum_le^{s_l/\tau},\quad\nabla f^*=\mathrm{softmax}(s/\tau)",
    needs=("eot.149",),
)
def step_conjugate() -> Steps:
    """The conjugate is the Log-Sum-Exp function, whose gradient is the softmax."""
    yield Equation(inner(star), potential(), reason="the supremum at its maximizer")
    yield Equation(derivative(potential(), s[j]), star(j), reason="chain rule; τ cancels")


step_conjugate.twin("the softmax of s without τ", lambda: Equation(derivative(potential(), s[j]), softmax(s, sp.S.One)(j)))
step_conjugate.twin("the Hessian's diagonal", lambda: Equation(derivative(potential(), s[j]), star(j) * (1 - star(j)) / tau))
