"""Votes on: Section 5, the table: what the temperature does to attention, row by row."""

import math
from dataclasses import dataclass, replace

import numpy as np
import torch
from hypothesis import strategies as st
from torch import Tensor

from evidence import Layer, Reading, Value, confirms, float64
from evidence.instances.attention import WIDTH, AttentionProblem, attention_problems
from evidence.instances.placement import Placed
from evidence.transport.conic_plans import CONIC_COLD, CONIC_WIDTH, PlanProblem, conic_problems
from evidence.transport.design import COLD, HOT
from evidence.transport.theorem import weights
from numerics import one_sided, tolerances
from numerics.primal.arguments import Array


@dataclass(frozen=True)
class LeadingKey(Placed):
    """Scores of one best key and of m others that lie δ + w below."""

    epsilon: float
    lead: float
    below: Tensor
    tied: int

    @property
    def scores(self) -> Tensor:
        """The best key first."""
        return torch.cat((torch.zeros(1, dtype=torch.float64), -self.lead - self.below)).to(self.device)


@st.composite
def leading_keys(draw: st.DrawFn) -> LeadingKey:
    """Draw a row with a lead; some have no spread below it, where the bound is nearly met."""
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**31)))
    m = draw(st.integers(1, 5))
    below = draw(st.sampled_from((0.0, 1.0))) * torch.rand(m, generator=generator, dtype=torch.float64)
    return LeadingKey(draw(st.sampled_from((0.2, 1.0, 3.0))), draw(st.sampled_from((0.5, 2.0))), below, draw(st.integers(1, 3)))


def with_a_lead(x: LeadingKey) -> Reading:
    point: dict[str, Value] = {"m": x.below.numel(), "eps": x.epsilon, "δ": x.lead, "w": x.below}
    plan = one_sided.plan(x.scores, x.epsilon)
    return Reading(point, {"closed_form": plan[0]}, tolerances.plan("float64", plan.numel(), float(x.scores.abs().max())))


@confirms(Layer.TORCH, "transport.s5.cold-one-hot", on=leading_keys(), corrected=with_a_lead)
def tied_for_the_best(x: LeadingKey) -> Reading:
    scores = torch.cat((x.scores[:1].expand(x.tied), x.scores[1:]))
    plan = one_sided.plan(scores, COLD)
    point: dict[str, Value] = {"m": scores.numel(), "s": scores.cpu(), "eps": COLD, "j": 1}
    return Reading(point, {"closed_form": plan[0]}, tolerances.plan("float64", plan.numel(), 5 / COLD))


@confirms(Layer.TORCH, "transport.s5.cold-entropy", on=attention_problems())
def entropy_term(x: AttentionProblem) -> Reading:
    plan = one_sided.plan(x["S"], x.eps)
    return replace(x.reading(extra={"P": plan}, closed_form=x.eps * one_sided.entropy(plan).sum()), computed="right")


def total_score(x: AttentionProblem) -> Reading:
    plan, scores = one_sided.plan(x["S"], x.eps), x["S"]
    routes = {
        "closed_form": (plan * scores).sum(),
        "objective": -one_sided.objective(plan, scores, x.eps).sum() - x.eps * one_sided.entropy(plan).sum(),
    }
    rival = (x["R"], plan, torch.eye(x.m, dtype=torch.float64, device=x.device)[scores.argmax(-1)])[x.seed % 3]
    return x.reading(scores.abs().sum(), float(x.n), extra={"R": rival}, **routes)


@confirms(Layer.TORCH, "transport.s5.cold-matching", on=attention_problems(square=True), corrected=total_score)
def choices(x: AttentionProblem) -> Reading:
    return x.reading(1 / COLD, closed_form=one_sided.plan(x["S"], COLD).sum(0))


@confirms(Layer.TORCH, "transport.s5.standard", on=attention_problems())
def standard(x: AttentionProblem) -> Reading:
    return x.reading(shipped=weights(x, 1.0), closed_form=one_sided.plan(x.raw, WIDTH**0.5))


@confirms(Layer.TORCH, "transport.s5.hot", on=attention_problems())
def evenly(x: AttentionProblem) -> Reading:
    row = one_sided.plan(x["S"][0], HOT)
    # |∂p/∂s| ≤ 1/(4τ) for each of the scores.
    error = float(x["S"].abs().sum()) / (2 * HOT) + tolerances.plan("float64", x.m)
    return Reading(x.point(s=x["S"][0]), {"largest": row.amax(), "least": row.amin()}, error)


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


@confirms(Layer.PRIMAL, "transport.s5.standard", on=conic_problems())
def conic_standard(drawn: PlanProblem) -> Reading:
    plan, error = drawn.solved(drawn.raw, math.sqrt(CONIC_WIDTH))
    return Reading(drawn.point(), {"cvxpy": float64(plan)}, error)


def entropy(plan: Array) -> float:
    """−Σ P log P with 0 log 0 = 0."""
    positive = plan[plan > 0]
    return float(-(positive * np.log(positive)).sum())


@confirms(Layer.PRIMAL, "transport.s5.cold-entropy", on=conic_problems())
def conic_entropy_term(drawn: PlanProblem) -> Reading:
    plan, _ = drawn.solved(drawn.scores, drawn.epsilon)
    error = tolerances.rounding("float64", plan.size, drawn.epsilon * drawn.n * (1 + math.log(drawn.m)))
    return Reading(drawn.point(P=plan), {"cvxpy": float64(drawn.epsilon * entropy(plan))}, error, "right")


def conic_total_score(drawn: PlanProblem) -> Reading:
    plan, error_bound = drawn.solved(drawn.scores, drawn.epsilon)
    best = np.eye(drawn.m)[drawn.scores.argmax(axis=1)]
    scale = float(np.abs(drawn.scores).max()) + 1
    size = drawn.n * (scale + drawn.epsilon * math.log(drawn.m))
    error = error_bound * scale + tolerances.rounding("float64", plan.size, size)
    return Reading(drawn.point(R=(best, plan)[drawn.seed % 2]), {"cvxpy": float64((plan * drawn.scores).sum())}, error)


@confirms(Layer.PRIMAL, "transport.s5.cold-matching", on=conic_problems(square=True), corrected=conic_total_score)
def conic_choices(drawn: PlanProblem) -> Reading:
    plan, error = drawn.solved(drawn.scores, max(CONIC_COLD, float(np.ptp(drawn.scores)) / 39))
    return Reading(drawn.point(), {"cvxpy": float64(plan.sum(axis=0))}, error)
