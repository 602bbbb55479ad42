"""Votes on: Section 3: a comparison of standard attention, Sinkhorn attention and Sinkformers."""

import numpy as np

from evidence import Layer, Reading, Sampled, confirms, float64
from evidence.instances.attention import AttentionProblem, attention_problems
from evidence.transport.conic_plans import PlanProblem, conic_problems, dual, half_steps
from evidence.transport.sinkhorn import Iterates, entropy, iterates
from numerics import one_sided, tolerances
from numerics.transport import sinkhorn, sinkhorn_weights


@confirms(Layer.TORCH, "transport.s3.sinkformers", on=iterates(4.0))
def gap_before(x: Iterates) -> Reading:
    value, direct = x.least
    iterate = x.dual(x.steps)
    return x.reading(value=(value - iterate) / x.problem.eps, direct=(direct - iterate) / x.problem.eps)


def no_half_step(x: AttentionProblem) -> Reading:
    return x.reading(half_steps=sinkhorn_weights(x["S"], 1.0, 0), closed_form=one_sided.plan(x["S"], 1.0))


@confirms(Layer.TORCH, "transport.s3.sinkhorn-attention", on=attention_problems())
def gap(x: AttentionProblem) -> Reading:
    solved, logs = sinkhorn(x["C"], x["a"], x["b"], x.eps), (x["a"].log(), x["b"].log())
    f, g = solved.row_potential + x.eps * logs[0], solved.column_potential + x.eps * logs[1]
    if x.seed % 2:  # elsewhere than at the optimum
        f, g = f + 0.3 * logs[0], g - 0.2 * logs[1]
    scaled = ((f[:, None] + g - x["C"]) / x.eps).exp()
    dual = x["a"] @ f + x["b"] @ g - x.eps * scaled.sum() + x.eps
    direct = (solved.plan * x["C"]).sum() - x.eps * entropy(solved.plan)
    value = solved.value + x.eps * (x["a"] @ logs[0] + x["b"] @ logs[1])
    return x.reading(
        f,
        g,
        x["C"].abs().sum(),
        scaled.sum(),
        extra={"f": f, "g": g, "P": solved.plan},
        direct=direct - dual,
        value=value - dual,
    )


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


def at_one(drawn: PlanProblem) -> Reading:
    plan, error = drawn.solved(drawn.scores, 1.0)
    return Reading(drawn.point(), {"cvxpy": float64(plan)}, error)


@confirms(Layer.PRIMAL, "transport.s3.sinkformers", on=conic_problems())
def conic_gap_before(drawn: PlanProblem) -> Reading:
    values, best, error = half_steps(drawn, 4.0)
    gap = (best.objective - dual(drawn, values["f"], values["g"], values["C"])) / drawn.epsilon
    return Reading(drawn.point(**values), {"cvxpy": float64(gap)}, error * max(1.0, 1 / drawn.epsilon))


@confirms(Layer.PRIMAL, "transport.s3.sinkhorn-attention", on=conic_problems())
def conic_gap(drawn: PlanProblem) -> Reading:
    best = drawn.coupled(drawn.cost, drawn.a, drawn.b)
    f, g = drawn.potentials
    scaled = np.exp((f[:, None] + g - drawn.cost) / drawn.epsilon)
    scale = 1 + float(np.abs(f).max() + np.abs(g).max() + np.abs(drawn.cost).max()) + drawn.epsilon * (1 + scaled.sum())
    error = scale * (best.infeasibility + tolerances.rounding("float64", best.plan.size, 1 + scale / drawn.epsilon))
    gap = best.objective - dual(drawn, f, g, drawn.cost)
    return Reading(drawn.point(P=best.plan, f=f, g=g), {"cvxpy": float64(gap)}, error)


VOTES = [
    Sampled("transport.s3.standard", Layer.TORCH, no_half_step, on=attention_problems(), corrected=no_half_step),
    Sampled("transport.s3.standard", Layer.PRIMAL, at_one, on=conic_problems(), corrected=at_one),
]
