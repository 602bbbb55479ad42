"""Votes on: Section 1: what the introduction promises."""

import torch

from evidence import Layer, Reading, Sampled, confirms
from evidence.eot.backward import mean_estimate
from evidence.eot.conic_one_sided import problems
from evidence.eot.forward import descent, reading
from evidence.eot.section3_theorem import conic_plan, conic_ratios, plan, ratios
from evidence.eot.section5_remarks import variance_without_baseline
from evidence.instances.derivatives import jacobian
from evidence.instances.one_sided import Row, rows


@confirms(Layer.TORCH, "eot.s1.policy-gradient", on=rows())
def policy_gradient(row: Row) -> Reading:
    return reading(row, row.u / row.tau, autograd=descent(row, row.u))


@confirms(Layer.TORCH, "eot.s1.geometry", on=rows())
def fisher_product(row: Row) -> Reading:
    scores = jacobian(lambda s: torch.log_softmax(s / row.tau, -1), row.s)
    fisher = scores.T @ (row.weights[:, None] * scores)
    return reading(row, row.u / row.tau, autograd=descent(row, row.u), fisher=row.tau * fisher @ row.u)


VOTES = [
    Sampled("eot.s1.variance-reduced", Layer.TORCH, variance_without_baseline, on=rows(), corrected=mean_estimate),
    Sampled("eot.s1.forward-pass", Layer.TORCH, plan, on=rows()),
    Sampled("eot.s1.argmax-proxy", Layer.TORCH, ratios, on=rows()),
    Sampled("eot.s1.forward-pass", Layer.PRIMAL, conic_plan, on=problems()),
    Sampled("eot.s1.argmax-proxy", Layer.PRIMAL, conic_ratios, on=problems()),
]
