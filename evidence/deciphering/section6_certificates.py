"""Votes on: Section 6: what a dual point, or one pass of attention, certifies about the exact solution."""

from evidence import Layer, Reading, confirms, float64
from evidence.deciphering.conic_dual import conic_evidence_for, conic_reading, conic_solved, numbers, objective
from evidence.deciphering.dual import evidence_for, primal, reading, solved, spread
from evidence.instances.mem import MemProblem, mem_problems
from numerics import mem
from numerics.primal import mem as conic_mem


@confirms(Layer.TORCH, "deciphering.s6.maximizer", on=mem_problems())
def largest_dual_value(problem: MemProblem) -> Reading:
    solution = solved(problem, problem.evidence)
    value = mem.dual_objective(solution.dual, problem.templates, problem.evidence, problem.prior, problem.alpha)
    point = problem.point() | {"lam": solution.dual.cpu()}
    return Reading(point, {"closed_form": value}, problem.tolerance(value, spread(problem) ** 2), "right")


@confirms(Layer.TORCH, "deciphering.s6.dual-distance", on=mem_problems())
def squared_gradient(problem: MemProblem) -> Reading:
    z, y = evidence_for(problem), problem["c"]
    slope = mem.dual_gradient(y, problem.templates, z, problem.prior, problem.alpha)
    value = problem.alpha**2 * slope.square().sum()
    return Reading(problem.point() | {"y": y.cpu()}, {"closed_form": value}, problem.tolerance(value, spread(problem) ** 2))


@confirms(Layer.TORCH, "deciphering.s6.suboptimality", on=mem_problems())
def excess(problem: MemProblem) -> Reading:
    z = evidence_for(problem)
    solution = solved(problem, z)
    values = [primal(problem, weights, z) for weights in (problem["q"], solution.weights)]
    return reading(problem, *values, spread(problem) ** 2, error=solution.gap, closed_form=values[0] - values[1])


@confirms(Layer.TORCH, "deciphering.s6.one-pass-gap", on=mem_problems())
def one_pass_gap(problem: MemProblem) -> Reading:
    dual = problem.alpha * problem.evidence
    above = primal(problem, mem.tilt(dual, problem.templates, problem.prior), problem.evidence)
    below = mem.dual_objective(dual, problem.templates, problem.evidence, problem.prior, problem.alpha)
    return reading(problem, above, below, spread(problem) ** 2, closed_form=above - below)


@confirms(Layer.TORCH, "deciphering.s6.one-pass-bound", on=mem_problems())
def one_pass_bound(problem: MemProblem) -> Reading:
    solution = solved(problem, problem.evidence)
    certificate = mem.certificate(problem.templates, problem.evidence, problem.prior, problem.alpha)
    shift = solution.mean - problem.prior @ problem.templates
    value = problem.alpha / 2 * certificate.shift.square()
    point = problem.point() | {"lam": solution.dual.cpu(), "g": shift.cpu()}
    error = float(solution.error) * (1 + problem.alpha) * spread(problem) ** 2
    return Reading(point, {"certificate": value}, problem.tolerance(value, spread(problem) ** 2) + error)


@confirms(Layer.TORCH, "deciphering.s6.shift", on=mem_problems())
def shifted(problem: MemProblem) -> Reading:
    value = mem.primal_objective(problem["q"], problem.templates + problem["c"], problem.evidence, problem.prior, problem.alpha)
    return reading(problem, spread(problem) ** 2, problem["c"], closed_form=value)


@confirms(Layer.TORCH, "deciphering.s6.scale", on=mem_problems())
def scaled(problem: MemProblem) -> Reading:
    s = problem["s"]
    value = mem.primal_objective(problem["q"], s * problem.templates, s * problem.evidence, problem.prior, problem.alpha / s**2)
    return reading(problem, spread(problem) ** 2, s**2, 1 / s**2, closed_form=value)


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


@confirms(Layer.PRIMAL, "deciphering.s6.suboptimality", on=mem_problems(), count=12)
def conic_excess(problem: MemProblem) -> Reading:
    x, z = numbers(problem), conic_evidence_for(problem)
    solution = conic_solved(problem, z)
    rival = conic_mem.certify(x["q"], x["T"], x["u"], z, problem.alpha).objective
    return conic_reading(problem, rival - solution.objective, solution.value_error, rival, float(z @ z))


@confirms(Layer.PRIMAL, "deciphering.s6.maximizer", on=mem_problems(), count=12)
def conic_largest_dual_value(problem: MemProblem) -> Reading:
    z = numbers(problem)["z"]
    solution = conic_solved(problem, z)
    base = conic_reading(problem, solution.bound, solution.value_error, float(z @ z))
    return Reading({**base.point, "lam": float64(solution.multiplier)}, base.routes, base.tolerance, "right")


@confirms(Layer.PRIMAL, "deciphering.s6.shift", on=mem_problems(), count=12)
def conic_moved(problem: MemProblem) -> Reading:
    x = numbers(problem)
    return objective(problem, x["T"] + x["c"], x["z"], problem.alpha)


@confirms(Layer.PRIMAL, "deciphering.s6.scale", on=mem_problems(), count=12)
def conic_scaled(problem: MemProblem) -> Reading:
    x = numbers(problem)
    return objective(problem, x["s"] * x["T"], x["s"] * x["z"], problem.alpha / float(x["s"]) ** 2)
