"""Votes on: Section 2: claims about related work."""

import numpy as np
import torch

from evidence import Layer, Reading, Sampled, Value, confirms, float64
from evidence.eot.appendix import Batch, batches
from evidence.eot.appendix_a_solution import attention_matrix, whole_matrix
from evidence.eot.backward import on_average
from evidence.eot.conic_appendix import ConicBatch, conic_batches
from evidence.eot.conic_one_sided import ConicRow, error, problems, solved
from evidence.eot.forward import reading
from evidence.eot.framing import colder
from evidence.eot.section5_remarks import single_sample
from evidence.instances.derivatives import gradient
from evidence.instances.one_sided import Row, rows
from numerics import one_sided, tolerances
from numerics.primal import coupling, matrix


@confirms(Layer.TORCH, "eot.s2.source-marginal", on=batches())
def total_mass(x: Batch) -> Reading:
    return x.reading(float(x.n), closed_form=one_sided.plan(x.s, x.tau).sum(0).sum())


@confirms(Layer.TORCH, "eot.s2.log-derivative", on=rows())
def slope_of_mean(row: Row) -> Reading:
    slope = gradient(lambda s: (row.u * torch.softmax(s / row.tau, -1)).sum(), row.s)
    return reading(row, row.u / row.tau, autograd=slope)


def largest_entropy_for_energy(row: Row) -> Reading:
    routes = {"closed_form": one_sided.entropy(one_sided.plan(row.s, row.tau))}
    return Reading(row.point() | {"E": -row.s.cpu(), "q": colder(row)}, routes, row.tolerance(row.s, row.tau))


@confirms(Layer.TORCH, "eot.s2.gibbs", on=rows(), corrected=largest_entropy_for_energy)
def energy_above_the_least(row: Row) -> Reading:
    ground = torch.nn.functional.one_hot(row.s.argmax(), row.m).double()
    energy = -row.s @ one_sided.plan(row.s, row.tau)
    point = row.point() | {"E": -row.s.cpu(), "q": ground.cpu(), "beta": 1 / row.tau}
    return Reading(point, {"closed_form": energy}, row.tolerance(row.s, row.tau))


def received(row: Row) -> Reading:
    queries = 2 + row.seed % 3
    matrix = torch.softmax(row.s.expand(queries, row.m) / row.tau, -1)
    return Reading({"n": queries, "m": row.m, "p": row.weights.cpu()}, {"direct": matrix.sum(0)}, row.tolerance(float(queries)))


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


@confirms(Layer.PRIMAL, "eot.s2.source-marginal", on=conic_batches())
def conic_total_mass(drawn: ConicBatch) -> Reading:
    solution = drawn.solved()
    return Reading(drawn.point(), {"cvxpy": float64(solution.plan.sum(axis=0).sum())}, drawn.n * drawn.error(solution))


def conic_received(drawn: ConicRow) -> Reading:
    n = 2 + drawn.m % 3
    solution = matrix.solve(np.tile(drawn.scores, (n, 1)), drawn.epsilon)
    single = solved(drawn.scores, drawn.epsilon)
    bound = n * tolerances.plan_from_gap(solution.gap, drawn.epsilon) + n * error(single, drawn.epsilon)
    return Reading({"n": n, "m": drawn.m, "p": float64(single.plan)}, {"cvxpy": float64(solution.plan.sum(axis=0))}, bound)


@confirms(Layer.PRIMAL, "eot.s2.fixed-marginals", on=conic_batches())
def column_sums(drawn: ConicBatch) -> Reading:
    marginal = np.random.default_rng(drawn.m).dirichlet(np.ones(drawn.n) * 3)
    cost = -drawn.queries @ drawn.queries.T
    solution = coupling.solve_entropic(cost, marginal, marginal, drawn.epsilon)
    assert solution.certified
    error = solution.infeasibility + tolerances.rounding("float64", drawn.n)
    point: dict[str, Value] = {"n": drawn.n, "a": float64(marginal), "P": float64(solution.plan)}
    return Reading(point, {"cvxpy": float64(solution.plan.sum(axis=0))}, error)


VOTES = [
    Sampled("eot.s2.exact", Layer.TORCH, attention_matrix, on=batches()),
    Sampled("eot.s2.exact-update", Layer.TORCH, single_sample, on=rows(), corrected=on_average),
    Sampled("eot.s2.sinkhorn-citation", Layer.TORCH, received, on=rows(), corrected=received),
    Sampled("eot.s2.exact", Layer.PRIMAL, whole_matrix, on=conic_batches()),
    Sampled("eot.s2.sinkhorn-citation", Layer.PRIMAL, conic_received, on=problems(), corrected=conic_received),
]
