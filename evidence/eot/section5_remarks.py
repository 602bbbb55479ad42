"""Votes on: Section 5, Remark 5.3 and the prose: advantage, REINFORCE, baselines and variance."""

import numpy as np
import torch
from torch import Tensor

from evidence import Layer, Reading, Sampled, confirms, float64
from evidence.eot.backward import estimator_variance, on_average, score_functions, with_baseline
from evidence.eot.conic_one_sided import ConicRow, differences, error, problems, solved
from evidence.eot.forward import descent, reading
from evidence.instances.derivatives import gradient
from evidence.instances.one_sided import Row, rows
from numerics import one_sided


@confirms(Layer.TORCH, "eot.rem5.3", on=rows())
def update(row: Row) -> Reading:
    return reading(row, row.u / row.tau, autograd=descent(row, row.u))


@confirms(Layer.TORCH, "eot.s5.proportional", on=rows(), corrected=update)
def updates_against_advantages(row: Row) -> Reading:
    advantage = row.u - row.weights @ row.u
    return reading(row, row.u.square() / row.tau, autograd=torch.outer(descent(row, row.u), advantage))


@confirms(Layer.TORCH, "eot.s5.expected-reward", on=rows())
def expected_reward(row: Row) -> Reading:
    return reading(row, row.u / row.tau, autograd=descent(row, row.u))


@confirms(Layer.TORCH, "eot.s5.query-key-gradient", on=rows())
def query_gradient(row: Row) -> Reading:
    def expected(query: Tensor) -> Tensor:
        return (row.u * one_sided.plan(one_sided.scores_from(query, row["K"]), row.tau)).sum()

    return reading(row, row.u.abs().max() * row["K"] / row.tau, autograd=gradient(expected, row["Q"]))


@confirms(Layer.TORCH, "eot.s5.score-function", on=rows())
def log_derivative(row: Row) -> Reading:
    return reading(row, 1 / row.tau, autograd=score_functions(row))


@confirms(Layer.TORCH, "eot.s5.reinforce", on=rows(), corrected=on_average)
def single_sample(row: Row) -> Reading:
    advantage = row.u - row.weights @ row.u
    return reading(row, row.u / row.tau, autograd=advantage[:, None] * score_functions(row))


def aligned_utilities(row: Row) -> Reading:
    """The first score's variance for utilities whose mean has the sign of their covariance with g²."""
    square = score_functions(row)[:, 0] ** 2
    centred = row.u - row.weights @ row.u
    utilities = centred + row["b"].abs() * (row.weights @ (centred * square)).sign()
    updates = utilities * score_functions(row)[:, 0]
    variance = row.weights @ (updates - row.weights @ updates) ** 2
    point = row.point() | {"u": utilities.cpu(), "j": 1}
    return Reading(point, {"enumerated": variance}, row.tolerance(utilities.square() / row.tau**2))


@confirms(Layer.TORCH, "eot.s5.baseline-variance", on=rows(), corrected=aligned_utilities)
def variance_without_baseline(row: Row) -> Reading:
    return reading(row, row.u.square() / row.tau**2, enumerated=estimator_variance(row, 0.0))


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


@confirms(Layer.PRIMAL, "eot.rem5.3", on=problems(), count=12)
def conic_descent(drawn: ConicRow) -> Reading:
    slopes, error = differences(drawn)
    update = slopes @ drawn.utilities
    return Reading(drawn.point(), {"differences of optima": float64(update)}, error * float(np.abs(drawn.utilities).sum()))


@confirms(Layer.PRIMAL, "eot.s5.proportional", on=problems(), count=12, corrected=conic_descent)
def conic_updates_against_advantages(drawn: ConicRow) -> Reading:
    slopes, error_bound = differences(drawn)
    solution = solved(drawn.scores, drawn.epsilon)
    advantage = drawn.utilities - solution.plan @ drawn.utilities
    product = np.outer(slopes @ drawn.utilities, advantage)
    size = float(np.abs(drawn.utilities).sum())
    worst = size * (error_bound * 2 * size + error(solution, drawn.epsilon) * size / drawn.epsilon)
    return Reading(drawn.point(), {"differences of optima": float64(product)}, worst)


VOTES = [Sampled("eot.s5.variance-reduced", Layer.TORCH, variance_without_baseline, on=rows(), corrected=with_baseline)]
