"""“Using an Attention Mechanism in a Prediction Model”: learning θ together with the model.

Claims     geometric.s7.jointly   ∂L/∂θ = Cov_{T∼p*}(φ(T), ⟨g, V(T)⟩)
Notation   p* = softmax(Φθ); g = ∂L/∂c, what the prediction model sends back to the context vector; u_j = ⟨g, V(j)⟩
References the last section of the document
"""

import sympy as sp

from derivations.documents.eot.notation import expect, j
from derivations.documents.geometric.notation import V, b, c, d, phi, theta
from derivations.documents.geometric.section5_basis import start
from derivations.vocabulary import *

g = vector("g", d)


def utility(location: sp.Expr) -> sp.Expr:
    """⟨g, V(j)⟩."""
    return total(c, g[c] * V[location, c])


def prediction() -> sp.Expr:
    """⟨g, c⟩, a loss with the gradient g in the context vector."""
    return expect(start, utility)


def gradient(right: sp.Expr) -> Equation:
    """∂L/∂θ_b by the chain rule."""
    return Equation(derivative(prediction(), theta[b]), right, reason="the covariance of φ_b(T) and ⟨g, V(T)⟩ under p*")


def covariance(level: sp.Expr, of: Entry) -> sp.Expr:
    """Σ_j p*_j (φ_jb − level) of(j)."""
    return total(j, start(j) * (phi[j, b] - level) * of(j))


@claim(
    "geometric.s7.jointly",
    "identity",
    title="θ can be learned together with the prediction model",
    latex=r"\frac{\partial L}{\partial\theta_b}="
    r"\mathrm{Cov}_{T\sim p^\star}\left(\phi_b(T),\langle\nabla_cL,V(T)\rangle\right)",
    needs=("geometric.s5.backpropagation", "geometric.4", "eot.59"),
)
def jointly() -> Steps:
    """The prediction model's gradient in the context vector reaches θ, exactly, through the weights."""
    yield gradient(covariance(expect(start, lambda location: phi[location, b]), utility))


jointly.twin("not centred", lambda: gradient(covariance(sp.S.Zero, utility)))
jointly.twin("the sign", lambda: gradient(-covariance(expect(start, lambda location: phi[location, b]), utility)))


@claim(
    "geometric.s7.real-power",
    "empirical",
    title="The real power is in training end to end",
    latex=r"\text{power from end-to-end training}",
    needs=("geometric.s7.jointly",),
)
def real_power() -> Undecidable:
    """The real power of attention is said to come from training it together with the prediction model."""
    return Undecidable("no task, model or measure of power is stated; that the gradients exist is geometric.s7.jointly")
