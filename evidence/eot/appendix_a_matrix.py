"""Votes on: Appendix A, the problem: many queries at once, each a source of unit mass, and the target left free."""

import numpy as np
import torch

from evidence import Layer, Observed, Reading, Sampled, confirms, float64
from evidence.eot.appendix import Batch, batches
from evidence.eot.appendix_a_solution import attention_matrix, whole_matrix
from evidence.eot.conic_appendix import ConicBatch, conic_batches
from evidence.instances.derivatives import jacobian
from evidence.source.dot_product import typical_temperature
from numerics import one_sided, tolerances


@confirms(Layer.TORCH, "eot.112", "eot.sA.decomposable", on=batches())
def value_of_plan(x: Batch) -> Reading:
    plan = x["P"]
    direct = -(plan * x.s).sum() + x.tau * torch.xlogy(plan, plan).sum()
    return x.reading(x.s, closed_form=one_sided.objective(plan, x.s, x.tau).sum(), direct=direct)


def value_of_shared_plan(x: Batch) -> Reading:
    return x.reading(x.s, closed_form=one_sided.objective(x["P"] / x.n, x.s, x.tau).sum())


@confirms(Layer.TORCH, "eot.sA.unit-masses", on=batches(), corrected=value_of_shared_plan)
def mass_of_plan(x: Batch) -> Reading:
    return x.reading(direct=x["P"].sum())


@confirms(Layer.TORCH, "eot.sA.free-target", on=batches())
def arriving_mass(x: Batch) -> Reading:
    return x.reading(float(x.n), direct=x["b"].expand(x.n, x.m).sum(0))


@confirms(Layer.TORCH, "eot.109", on=batches())
def slope_of_cost(x: Batch) -> Reading:
    keys = x["K"]
    slopes = jacobian(lambda query: -one_sided.scores_from(query, keys), x["Q"])
    return x.reading(autograd=torch.einsum("ijir->ijr", slopes))


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


@confirms(Layer.PRIMAL, "eot.sA.decomposable", "eot.112", on=conic_batches())
def optimal_value_of_matrix(drawn: ConicBatch) -> Reading:
    solution = drawn.solved()
    scale = float(np.abs(drawn.scores).max()) + drawn.epsilon * (1 + np.log(drawn.m))
    error = solution.gap + tolerances.rounding("float64", drawn.n * drawn.m, drawn.n * scale)
    return Reading(drawn.point() | {"P": float64(solution.plan)}, {"cvxpy": float64(solution.objective)}, error)


VOTES = [
    Sampled("eot.113", Layer.TORCH, attention_matrix, on=batches()),
    Sampled("eot.113", Layer.PRIMAL, whole_matrix, on=conic_batches()),
    Observed("eot.sA.typical-temperature", Layer.SOURCE, typical_temperature),
]
