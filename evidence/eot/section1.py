"""Votes on: Section 1: what the introduction promises."""

from __future__ import annotations

import torch
from torch.autograd.functional import jacobian

from evidence import Layer, Reading, confirms
from evidence.eot.backward import mean_estimate
from evidence.eot.conic_one_sided import problems
from evidence.eot.forward import descent, reading
from evidence.eot.section3_problem import entropy_against_colder, entropy_against_uniform
from evidence.eot.section3_theorem import conic_plan, conic_ratios, plan, ratios
from evidence.eot.section5_remarks import variance_without_baseline
from evidence.instances.one_sided import Row, rows

confirms(Layer.TORCH, "eot.s1.variance-reduced", on=rows(), corrected=mean_estimate)(variance_without_baseline)


confirms(Layer.TORCH, "eot.s1.forward-pass", on=rows())(plan)


confirms(Layer.TORCH, "eot.s1.argmax-proxy", on=rows())(ratios)


@confirms(Layer.TORCH, "eot.s1.policy-gradient", on=rows())
def policy_gradient(row: Row) -> Reading:
    return reading(row, row.u / row.tau, autograd=descent(row, row.u))


@confirms(Layer.TORCH, "eot.s1.geometry", on=rows())
def fisher_product(row: Row) -> Reading:
    scores = jacobian(lambda s: torch.log_softmax(s / row.tau, -1), row.s)
    fisher = scores.T @ (row.weights[:, None] * scores)
    return reading(row, row.u / row.tau, autograd=descent(row, row.u), fisher=row.tau * fisher @ row.u)


confirms(Layer.TORCH, "eot.s1.maximally-entropic", on=rows(), corrected=entropy_against_colder)(entropy_against_uniform)


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


confirms(Layer.PRIMAL, "eot.s1.forward-pass", on=problems())(conic_plan)


confirms(Layer.PRIMAL, "eot.s1.argmax-proxy", on=problems())(conic_ratios)
