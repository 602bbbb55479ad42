"""Votes on: Appendix A, the solution: the Lagrangian with one multiplier a row, and the attention matrix."""

import numpy as np
import torch
from torch import Tensor

from evidence import Layer, Reading, Sampled, confirms, float64
from evidence.eot.appendix import Batch, batches
from evidence.eot.conic_appendix import ConicBatch, conic_batches
from evidence.instances.derivatives import gradient, hessian
from numerics import one_sided


@confirms(Layer.TORCH, "eot.thmA.7", "eot.123", "eot.sA.relative-interior", on=batches())
def attention_matrix(x: Batch) -> Reading:
    return x.reading(closed_form=one_sided.plan(x.s, x.tau), softmax=torch.softmax(x["Q"] @ x["K"].T / x.tau, 1))


@confirms(Layer.TORCH, "eot.114", on=batches())
def matrix_times_partition(x: Batch) -> Reading:
    constant = one_sided.log_partition(x.s, x.tau).exp()
    return x.reading(closed_form=one_sided.plan(x.s, x.tau) * constant[:, None])


def lagrangian(plan: Tensor, multipliers: Tensor, x: Batch) -> Tensor:
    """J(W) + Σ_i λ_i (1 − Σ_j W_ij) for any W > 0."""
    return one_sided.objective(plan, x.s, x.tau).sum() + (multipliers * (1 - plan.sum(-1))).sum()


@confirms(Layer.TORCH, "eot.115", on=batches())
def slope_in_the_multipliers(x: Batch) -> Reading:
    return x.reading(x["W"].sum(), autograd=gradient(lambda level: lagrangian(x["W"], level, x), x["lam"]))


@confirms(Layer.TORCH, "eot.116", on=batches())
def value_of_lagrangian(x: Batch) -> Reading:
    return x.reading(x["W"] * x.s, x["W"], x["lam"], closed_form=lagrangian(x["W"], x["lam"], x))


@confirms(Layer.TORCH, "eot.117", "eot.118", "eot.119", "eot.120", "eot.sA.constant-of-row", on=batches())
def slope_of_lagrangian(x: Batch) -> Reading:
    return x.reading(x.s, x["lam"], autograd=gradient(lambda plan: lagrangian(plan, x["lam"], x), x["W"]))


@confirms(Layer.TORCH, "eot.sA.separable", on=batches())
def second_slopes(x: Batch) -> Reading:
    blocks = hessian(lambda plan: lagrangian(plan, x["lam"], x), x["W"])
    return x.reading(1 / x["W"], autograd=torch.einsum("ijhk->hijk", blocks))


@confirms(Layer.TORCH, "eot.121", on=batches())
def masses(x: Batch) -> Reading:
    return x.reading(closed_form=one_sided.plan(x.s, x.tau).sum(-1))


@confirms(Layer.TORCH, "eot.122", on=batches())
def missing_mass(x: Batch) -> Reading:
    exponentials = (x.s / x.tau).exp()
    return x.reading(exponentials.sum(-1), term_by_term=x["Z"] * (1 - (exponentials / x["Z"][:, None]).sum(-1)))


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


@confirms(Layer.PRIMAL, "eot.thmA.7", "eot.123", on=conic_batches())
def whole_matrix(drawn: ConicBatch) -> Reading:
    solution = drawn.solved()
    return Reading(drawn.point(), {"cvxpy": float64(solution.plan)}, drawn.error(solution))


def visible(drawn: ConicBatch) -> bool:
    """Whether every weight is at least e⁻⁶/m, far above the error of a certified plan, so that it cannot be taken for 0."""
    return bool((np.ptp(drawn.scores, axis=-1) <= 6 * drawn.epsilon).all())


VOTES = [Sampled("eot.sA.relative-interior", Layer.PRIMAL, whole_matrix, on=conic_batches().filter(visible))]
