"""Votes on: Section 2: the physical reading of the problem's four parts."""

import math

import numpy as np

from evidence import Layer, Reading, confirms, float64
from evidence.instances.attention import AttentionProblem, attention_problems
from evidence.transport.conic_plans import PlanProblem, conic_problems
from evidence.transport.theorem import slopes
from numerics import one_sided, tolerances
from numerics.primal import matrix


@confirms(Layer.TORCH, "transport.s2.cost", on=attention_problems())
def slope_of_cost(x: AttentionProblem) -> Reading:
    return x.reading(autograd=-slopes(x))


@confirms(Layer.TORCH, "transport.s2.particles", on=attention_problems())
def total_mass(x: AttentionProblem) -> Reading:
    plan = one_sided.plan(x["S"], x.eps)
    return x.reading(float(x.n), extra={"P": plan}, closed_form=plan.sum())


def against_uniform(x: AttentionProblem) -> Reading:
    plan = x["R"]
    value = one_sided.objective(plan, x["S"], x.eps).sum()
    return x.reading(x["S"].sum(), float(x.n), extra={"P": plan}, closed_form=value)


@confirms(Layer.TORCH, "transport.s2.uniform-target", on=attention_problems(), corrected=against_uniform)
def arriving(x: AttentionProblem) -> Reading:
    return x.reading(float(x.n), closed_form=one_sided.plan(x["S"], x.eps).sum(0))


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


def optimal_value(drawn: PlanProblem) -> Reading:
    solution = matrix.solve(drawn.scores, drawn.epsilon)
    assert solution.certified
    scale = drawn.n * (float(np.abs(drawn.scores).max()) + drawn.epsilon * (1 + math.log(drawn.m)))
    error = tolerances.rounding("float64", drawn.n * drawn.m, scale)
    return Reading(drawn.point(P=solution.plan), {"cvxpy": float64(solution.objective)}, error)


@confirms(Layer.PRIMAL, "transport.s2.uniform-target", on=conic_problems(), corrected=optimal_value)
def conic_arriving(drawn: PlanProblem) -> Reading:
    plan, error = drawn.solved(drawn.scores, drawn.epsilon)
    return Reading(drawn.point(), {"cvxpy": float64(plan.sum(axis=0))}, error)
