"""Votes on: Section 5, Remark 5.3 and the prose: advantage, REINFORCE, baselines and variance."""

from __future__ import annotations

import numpy as np
from torch import Tensor

from evidence import Layer, Reading, confirms, float64
from evidence.eot.backward import estimator_variance, on_average, score_functions, with_baseline
from evidence.eot.conic_one_sided import ConicRow, differences, problems
from evidence.eot.forward import descent, gradient, reading
from evidence.instances.one_sided import Row, rows
from numerics import one_sided


@confirms(Layer.TORCH, "eot.rem5.3", "eot.s5.proportional", on=rows())
def update(row: Row) -> Reading:
    return reading(row, row.u / row.tau, autograd=descent(row, row.u))


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


def saved(row: Row) -> Reading:
    difference = estimator_variance(row, 0.0) - estimator_variance(row, row["b"])
    return reading(row, (row.u.abs().max() + row["b"].abs()) ** 2 / row.tau**2, enumerated=difference)


@confirms(Layer.TORCH, "eot.s5.baseline-variance", on=rows(), corrected=saved)
def variance_without_baseline(row: Row) -> Reading:
    return reading(row, row.u.square() / row.tau**2, enumerated=estimator_variance(row, 0.0))


confirms(Layer.TORCH, "eot.s5.variance-reduced", on=rows(), corrected=with_baseline)(variance_without_baseline)


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


@confirms(Layer.PRIMAL, "eot.rem5.3", "eot.s5.proportional", on=problems(), count=12)
def conic_descent(drawn: ConicRow) -> Reading:
    slopes, off = differences(drawn)
    update = slopes @ drawn.utilities
    return Reading(drawn.point(), {"differences of optima": float64(update)}, off * float(np.abs(drawn.utilities).sum()))
