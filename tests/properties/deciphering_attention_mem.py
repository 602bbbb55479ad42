"""What attention layers solve, and what other papers call them: deciphering and inference in torch and in 50 digits."""

from __future__ import annotations

import mpmath as mp
import torch
from torch import Tensor

from derivations.claims import Layer
from numerics import mem
from tests import fifty_digits
from tests.layers import Reading, confirms
from tests.properties.mem_problems import MemProblem, mem_problems, rounded

TORCH = Layer.TORCH
COUNT = 12
GENERIC = {"layouts": ("generic",), "priors": ("generic",), "evidence": ("generic",)}


def drawn(problem: MemProblem, **shapes: tuple[int, ...]) -> dict[str, Tensor]:
    """Further tensors of ordinary magnitude, by name, on the CPU."""
    generator = torch.Generator().manual_seed(problem.seed + 2)
    return {name: torch.randn(*shape, generator=generator, dtype=torch.float64).clamp(-1.5, 1.5)
            for name, shape in shapes.items()}


# ── the problem and its solution ────────────────────────────────────────────────────────────────────────────────────


@confirms(TORCH, "deciphering.s0.convex", "inference.s0.convex", on=mem_problems(smallest_n=2))
def above_its_tangents(problem: MemProblem) -> Reading:
    """At a point of contact too, for one seed in three."""
    free = drawn(problem, p=(problem.n,), v=(problem.n,))
    p, v = (torch.softmax(2 * free[name], -1) for name in ("p", "v"))
    p = v if problem.seed % 3 == 0 else p
    value = mem.primal_objective(p.to(problem.device), problem.templates, problem.evidence, problem.prior, problem.alpha)
    point = problem.point() | {"p": p, "v": v}
    return Reading(point, {"objective": value}, problem.tolerance(value, problem.templates.square(), v.log()))


@confirms(TORCH, "deciphering.s0.closed-form", "inference.s0.closed-form", on=mem_problems(smallest_n=2), count=COUNT)
def first_order(problem: MemProblem) -> Reading:
    law, z = problem.law, problem.drawn["z"].tolist()
    found = fifty_digits.leading(
        lambda x: [h - m for h, m in zip(fifty_digits.maximize(law, z, x).estimate, law.mean(), strict=True)], 1, problem.small)
    values = rounded(found.values)
    return Reading(problem.point(), {"50 digits": values}, float(found.error) + problem.tolerance(values))


def evidence_for(problem: MemProblem, templates: Tensor, dual: Tensor) -> Tensor:
    """z = λ/α + ĥ(λ) − μ, for which λ is optimal."""
    mean, _ = mem.moments(templates, mem.tilt(dual, templates, problem.prior))
    centre, _ = mem.moments(templates, problem.prior)
    return dual / problem.alpha + mean - centre


SOLVER = ("deciphering.s7.solves-the-problem", "inference.s7.solves-the-problem")


def output_of_layer(problem: MemProblem) -> Reading:
    z = evidence_for(problem, problem.templates, problem.dual)
    layer = mem.closed_form(problem.templates, z, problem.prior, problem.alpha)
    return Reading(problem.point(), {"closed form": layer}, problem.tolerance(layer, z))


def weights_of_layer(problem: MemProblem) -> Reading:
    routes = {"tilt": mem.tilt(problem.alpha * problem.evidence, problem.templates, problem.prior),
              "softmax": torch.softmax(problem.alpha * problem.templates @ problem.evidence + problem.prior.log(), -1)}
    return Reading(problem.point(), routes, problem.tolerance())


confirms(TORCH, *SOLVER, on=mem_problems(smallest_n=2), corrected=weights_of_layer)(output_of_layer)
confirms(TORCH, "deciphering.s1.solver", "inference.s1.solver", on=mem_problems(smallest_n=2))(weights_of_layer)


@confirms(TORCH, "deciphering.s7.shared-support", on=mem_problems())
def support(problem: MemProblem) -> Reading:
    weights = mem.tilt(problem.dual, problem.templates, problem.prior)
    return Reading(problem.point(), {"tilt": weights}, problem.tolerance(weights))


# ── the deviation ───────────────────────────────────────────────────────────────────────────────────────────────────


def deviation_at(problem: MemProblem, templates: Tensor, dual: Tensor) -> Reading:
    """‖λ* − αz‖²/‖λ*‖² with λ* from the solver, for the evidence that makes this λ optimal."""
    z = evidence_for(problem, templates, dual)
    solution = mem.solve(templates, z, problem.prior, problem.alpha, tolerance=1e-12)
    size, gap = solution.dual.norm(), (solution.dual - problem.alpha * z).norm()
    found = (gap / size).square()
    # An error of z moves λ* by α times as much; a relative error of gap or size counts twice in the square.
    moved = float(solution.error) + 2 * problem.alpha * problem.tolerance(templates, z, dual)
    point = problem.point() | {"T": templates.cpu(), "lam": dual.cpu()}
    return Reading(point, {"solver": found}, 4 * moved / float(size) * (1 + float(found)))


def deviation(problem: MemProblem) -> Reading:
    return deviation_at(problem, problem.templates, problem.dual)


def far_apart(problem: MemProblem) -> Reading:
    """The same where most of λ is orthogonal to the templates' differences, which are large."""
    templates, dual = problem.templates.clone(), problem.dual.clone()
    templates[:, 1:], templates[:, 0], dual[1:], dual[0] = 0.0, 4 * templates[:, 0], 10.0, 0.02
    return deviation_at(problem, templates, dual)


confirms(TORCH, "deciphering.s8.as-a-result", on=mem_problems(smallest_n=2, **GENERIC), corrected=deviation)(far_apart)


def at_fixed_product(problem: MemProblem) -> Reading:
    law, w = problem.law, problem.drawn["z"].tolist()
    start = problem.small

    def remainder(x: object) -> list[object]:
        optimum = fifty_digits.maximize(law, [mp.mpf(c) / x for c in w], x)  # type: ignore[operator]
        return [found - mp.mpf(c) for found, c in zip(optimum.dual, w, strict=True)]

    found = fifty_digits.leading(remainder, 1, start)
    values = rounded(found.values)
    point = {name: value for name, value in problem.point().items() if name != "c"}      # an index here
    return Reading(point | {"w": problem.drawn["z"]}, {"50 digits": values},
                   float(found.error) + problem.tolerance(values))


confirms(TORCH, "deciphering.s8.theorem2-applies", on=mem_problems(smallest_n=2, **GENERIC), count=COUNT,
         corrected=at_fixed_product)(output_of_layer)


# ── other papers ────────────────────────────────────────────────────────────────────────────────────────────────────


@confirms(TORCH, "deciphering.s2.not-identifiable", "inference.s2.not-identifiable", on=mem_problems())
def moved_weights(problem: MemProblem) -> Reading:
    """Weight moved from t_0 = Σ g t to the others in the proportions g."""
    free = drawn(problem, p=(problem.n,), g=(problem.n,), step=(1,), last=(1,))
    p, g = torch.softmax(free["p"], -1), torch.softmax(free["g"], -1)
    step, last = float(free["step"]), float(free["last"])
    templates = problem.drawn["T"]
    zero = g @ templates
    output = (p + step * g) @ templates + (last - step) * zero
    point = problem.point() | {"p": p, "g": g, "y": step, "p0": last}
    return Reading(point, {"output": output}, problem.tolerance(templates, zero))


@confirms(TORCH, "deciphering.s2.kernel-smoother", on=mem_problems())
def smoother(problem: MemProblem) -> Reading:
    layer = mem.closed_form(problem.templates, problem.evidence, problem.prior, problem.alpha)
    squares = problem.templates.square().sum()
    return Reading(problem.point(), {"closed form": layer},
                   problem.tolerance(layer) * (1 + problem.alpha * float(squares + problem.evidence.square().sum())))


@confirms(TORCH, "deciphering.s2.hopfield", "inference.s2.hopfield", on=mem_problems())
def hopfield(problem: MemProblem) -> Reading:
    state, beta, patterns = problem.evidence.clone().requires_grad_(), problem.alpha, problem.templates
    energy = -torch.logsumexp(beta * patterns @ state, -1) / beta + state.square().sum() / 2
    step = state.detach() - torch.autograd.grad(energy, state)[0]
    library = torch.softmax(beta * patterns @ state.detach(), -1) @ patterns
    point = problem.point() | {"X": problem.drawn["T"], "xi": problem.drawn["z"], "beta": beta}
    return Reading(point, {"autograd": step, "softmax": library}, problem.tolerance(step, problem.evidence))


def additive(problem: MemProblem) -> Reading:
    x, y, v = (float(value) for value in drawn(problem, x=(1,), y=(1,), v=(1,)).values())
    units = v**2 * torch.tanh(torch.tensor([x + abs(y), x - abs(y), x], dtype=torch.float64))
    return Reading({"x": x, "y": abs(y), "v": v**2}, {"tanh": units[0] + units[1] - 2 * units[2]}, problem.tolerance())


def general_score(problem: MemProblem) -> Reading:
    free = drawn(problem, W=(problem.d, problem.d), S=(problem.d,))
    evidence = (free["W"] @ free["S"]).to(problem.device)
    library = torch.softmax(problem.templates @ evidence, -1) @ problem.templates
    return Reading(problem.point() | free, {"mem": mem.closed_form(problem.templates, evidence), "softmax": library},
                   problem.tolerance(evidence) * (1 + float(evidence.abs().sum() * problem.templates.abs().max())))


confirms(TORCH, "deciphering.s6.bahdanau-luong", on=mem_problems(smallest_n=2), corrected=general_score)(additive)
