"""Votes on: Exact attention: what any query solves, and how the exact solution moves with its evidence."""

from collections.abc import Mapping

import torch
from torch import Tensor

from evidence import Layer, Observed, Reading, confirms, float64
from evidence.beyond import output_bounds
from evidence.beyond.output_bounds import squared
from evidence.beyond.search import Problem, search
from evidence.deciphering.conic_dual import conic_evidence_for, conic_reading, conic_solved, numbers
from evidence.deciphering.dual import evidence_for, primal, reading, solved, spread
from evidence.instances.mem import MemProblem, mem_problems
from numerics import mem
from numerics.primal import mem as conic_mem


@confirms(Layer.TORCH, "beyond.one-pass-optimal", on=mem_problems())
def attention(problem: MemProblem) -> Reading:
    logits = problem.alpha * (problem.templates @ problem.evidence) + problem.prior.log()
    return reading(problem, softmax=torch.softmax(logits, -1))


@confirms(Layer.TORCH, "beyond.any-query", on=mem_problems())
def excess_over_attention(problem: MemProblem) -> Reading:
    weights = mem.tilt(problem.dual, problem.templates, problem.prior)
    values = [primal(problem, each, problem.evidence) for each in (problem["q"], weights)]
    return reading(problem, *values, spread(problem) ** 2, closed_form=values[0] - values[1])


@confirms(Layer.TORCH, "beyond.any-query-gap", on=mem_problems())
def gap_of_attention(problem: MemProblem) -> Reading:
    above = primal(problem, mem.tilt(problem.dual, problem.templates, problem.prior), problem.evidence)
    below = mem.dual_objective(problem.dual, problem.templates, problem.evidence, problem.prior, problem.alpha)
    return reading(problem, above, below, spread(problem) ** 2, closed_form=above - below)


@confirms(Layer.TORCH, "beyond.evidence-split", "beyond.shrinkage", on=mem_problems())
def squared_evidence(problem: MemProblem) -> Reading:
    value = problem.alpha**2 * evidence_for(problem).square().sum()
    return reading(problem, spread(problem) ** 2, closed_form=value)


def shrunken_sides(x: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
    """α²‖z‖² and ‖λ*‖² + ‖αz − λ*‖²."""
    shift = x["alpha"][:, None] * output_bounds.evidence(x)
    return squared(shift), squared(x["lam"]) + squared(shift - x["lam"])


SHRUNKEN = Problem(output_bounds.shapes, output_bounds.solved, shrunken_sides, counts=output_bounds.counts, least=1e-3)


def with_second(problem: MemProblem) -> tuple[MemProblem, Tensor]:
    """The same problem with the direction c as its dual point, and the evidence that goes with that."""
    second = MemProblem({**problem.drawn, "lam": problem.drawn["c"]}, problem.alpha, seed=problem.seed).to(problem.device)
    return second, evidence_for(second)


@confirms(Layer.TORCH, "beyond.dual-monotone", on=mem_problems())
def along_duals(problem: MemProblem) -> Reading:
    second, z = with_second(problem)
    one, two = solved(problem, evidence_for(problem)), solved(second, z)
    change = evidence_for(problem) - z
    error = (float(one.error) + float(two.error)) * float(change.norm())
    value = change @ (one.dual - two.dual)
    return _monotone(problem, value, error)


@confirms(Layer.TORCH, "beyond.estimate-monotone", on=mem_problems())
def along_estimates(problem: MemProblem) -> Reading:
    second, z = with_second(problem)
    one, two = solved(problem, evidence_for(problem)), solved(second, z)
    change = evidence_for(problem) - z
    error = (float(one.mean_error) + float(two.mean_error)) * float(change.norm())
    return _monotone(problem, change @ (one.mean - two.mean), error)


def _monotone(problem: MemProblem, value: Tensor, deviation: float) -> Reading:
    point = problem.point() | {"y": problem.drawn["c"]}
    exponent = 1 + float((problem.drawn["T"].abs() @ problem.drawn["c"].abs()).max())
    return Reading(point, {"solver": value}, exponent * problem.tolerance(value, spread(problem) ** 2) + deviation)


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


@confirms(Layer.PRIMAL, "beyond.evidence-split", "beyond.shrinkage", on=mem_problems(), count=20)
def conic_squared_evidence(problem: MemProblem) -> Reading:
    z = conic_evidence_for(problem)
    multiplier = conic_solved(problem, z).multiplier
    base = conic_reading(problem, problem.alpha**2 * float(z @ z), 0.0, float(z @ z))
    return Reading(
        {**base.point, "lam": float64(multiplier)},
        base.routes,
        base.tolerance + 2 * problem.alpha**2 * float(abs(z).max()) * conic_solved(problem, z).multiplier_error,
    )


@confirms(Layer.PRIMAL, "beyond.any-query", on=mem_problems(), count=12)
def conic_excess(problem: MemProblem) -> Reading:
    x = numbers(problem)
    weights = x["u"] * torch.from_numpy(x["T"] @ x["lam"]).exp().numpy()
    values = [
        conic_mem.certify(each, x["T"], x["u"], x["z"], problem.alpha).objective for each in (x["q"], weights / weights.sum())
    ]
    return conic_reading(problem, values[0] - values[1], 0.0, *values, float(x["z"] @ x["z"]))


VOTES = [Observed("beyond.shrinkage", Layer.TORCH, search(SHRUNKEN), name="search")]
