"""References for rows of scores: softmax, its derivatives and its information, from their definitions.

Notation    s = scores, tau = temperature, p = plan, u = utility, w = what is propagated backwards, x = (s − max s)/τ
"""

import flint
import numpy as np

from numerics.precision.exact import Exact, dot, joined

# ── softmax ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def logits(s: Exact, tau: Exact) -> Exact:
    """x = (s − max s)/τ."""
    return (s - s.max()) / tau


def softmax(x: Exact) -> Exact:
    """e^x over the sum."""
    terms = (x - x.max()).exp()
    return terms / terms.sum()


def plan(s: Exact, tau: Exact) -> Exact:
    """The softmax of s/τ."""
    terms = logits(s, tau).exp()
    return terms / terms.sum()


def log_partition(s: Exact, tau: Exact) -> Exact:
    """log Σ e^{s/τ}."""
    return logits(s, tau).exp().sum().log() + s.max() / tau


def potential(s: Exact, tau: Exact) -> Exact:
    """τ log Σ e^{s/τ}."""
    return tau * logits(s, tau).exp().sum().log() + s.max()


def entropy(p: Exact) -> Exact:
    """−Σ p log p."""
    live = [i for i in range(len(p)) if p.value[i] != 0]
    return -dot(p[live], p[live].log())


def objective(p: Exact, s: Exact, tau: Exact) -> Exact:
    """−⟨p, s⟩ − τ H(p)."""
    return -dot(p, s) - tau * entropy(p)


def centred(p: Exact, u: Exact) -> Exact:
    """p (u − Σ p u)."""
    return p * (u - dot(p, u))


def score_gradient(p: Exact, u: Exact, tau: Exact) -> Exact:
    """−p (u − Σ p u)/τ."""
    return -(centred(p, u) / tau)


def covariance(p: Exact) -> Exact:
    """p_j δ_jk − p_j p_k, row after row."""
    return joined(
        Exact(
            [x if i == j else flint.arb(0) for j, x in enumerate(p.value)],
            np.where(np.arange(len(p)) == i, p.error, 0.0),
            p.peak,
        )
        - p[i] * p
        for i in range(len(p))
    )


def fisher_product(p: Exact, u: Exact, tau: Exact) -> Exact:
    """p (u − Σ p u)/τ²."""
    return centred(p, u) / tau.square()


def less_mean(u: Exact) -> Exact:
    """u less its plain mean."""
    return u - u.sum() / float(len(u))


def natural_direction(p: Exact, u: Exact, tau: Exact) -> Exact:
    """τ(u − mean u) where p > 0, all of it being so."""
    live = [i for i, x in enumerate(p.value) if x != 0]
    inside = less_mean(u[live]) * tau
    return spread(inside, live, len(p))


def pseudo_inverse_product(p: Exact, u: Exact, tau: Exact) -> Exact:
    """τ² Π D⁻¹ Π u over the positions with p > 0."""
    live = [i for i, x in enumerate(p.value) if x != 0]
    inside = less_mean(less_mean(u[live]) / p[live]) * tau.square()
    return spread(inside, live, len(p))


def spread(inside: Exact, live: list[int], m: int) -> Exact:
    """The entries at their indices, and zeros elsewhere."""
    value, error = [flint.arb(0)] * m, np.zeros(m)
    for i, x, e in zip(live, inside.value, inside.error, strict=True):
        value[i], error[i] = x, e
    return Exact(value, error, inside.peak)


def plan_backward(s: Exact, tau: Exact, w: Exact) -> Exact:
    """∂⟨w, p⟩/∂(s, τ)."""
    p, x = plan(s, tau), logits(s, tau)
    inner = centred(p, w)
    return joined([inner / tau, -dot(inner, x) / tau])


def log_partition_backward(s: Exact, tau: Exact) -> Exact:
    """∂ log Z/∂(s, τ)."""
    p, x = plan(s, tau), logits(s, tau)
    return joined([p / tau, -dot(p, x) / tau - s.max() / tau / tau])


def log_partition_hessian(s: Exact, tau: Exact, w: Exact) -> Exact:
    """The second derivative of log Z in s, times w."""
    return centred(plan(s, tau), w) / tau / tau


def entropy_backward(s: Exact, tau: Exact) -> Exact:
    """∂H(p)/∂(s, τ)."""
    p, x = plan(s, tau), logits(s, tau)
    inner = centred(p, -p.log() - 1.0)
    return joined([inner / tau, -dot(inner, x) / tau])
