"""Votes on: Section 5: a Gaussian preference distribution, for which the problem has a closed solution."""

from torch.distributions import kl_divergence

from evidence import Layer, Reading, confirms
from evidence.deciphering.gaussian import GaussianProblem, gaussian_problems
from evidence.deciphering.problem import more, shares
from evidence.instances import fifty_digits
from evidence.instances.derivatives import jacobian, log_density
from evidence.instances.mem import MemProblem, mem_problems, rounded
from numerics import mem, tolerances


@confirms(Layer.TORCH, "deciphering.s5.closed-form", on=gaussian_problems())
def objective(problem: GaussianProblem) -> Reading:
    q = problem.law(problem["h"], problem["spread"])
    value = problem.alpha / 2 * (problem["b"] - q.mean).square().sum() + kl_divergence(q, problem.law(problem["mu"]))
    return problem.reading(torch=value)


@confirms(Layer.TORCH, "deciphering.7", on=gaussian_problems())
def minimizer_density(problem: GaussianProblem) -> Reading:
    return problem.reading(normal_equations=log_density(problem.law(problem.estimate(problem.alpha)), problem["x"]))


@confirms(Layer.TORCH, "deciphering.8", on=gaussian_problems())
def greatest_dual_value(problem: GaussianProblem) -> Reading:
    return problem.reading(Newton=problem.dual_value(problem.maximizer()))


@confirms(Layer.TORCH, "deciphering.s5.mgf", on=gaussian_problems())
def generating_function(problem: GaussianProblem) -> Reading:
    total = problem.integrals(problem["lam"])[0]
    base = problem.reading(quadrature=total)
    exponent = float(total.log().abs()) + float(problem["mu"].abs() @ problem["lam"].abs())
    return Reading(base.point, base.routes, base.tolerance + tolerances.rounding("float64", problem.d, exponent * float(total)))


@confirms(Layer.TORCH, "deciphering.s5.dual-point", on=gaussian_problems())
def dual_slope(problem: GaussianProblem) -> Reading:
    return problem.reading(autograd=jacobian(problem.dual_value, problem["lam"]))


@confirms(Layer.TORCH, "deciphering.s5.proportional", on=gaussian_problems())
def density_ratio(problem: GaussianProblem) -> Reading:
    u, lam = problem.law(problem["mu"]), problem["lam"]
    return problem.reading(
        torch=log_density(u, problem["x"]) - log_density(u, problem["y"]) + lam @ (problem["x"] - problem["y"])
    )


@confirms(Layer.TORCH, "deciphering.s5.minimizer", on=gaussian_problems())
def tilted_density(problem: GaussianProblem) -> Reading:
    dual = problem.maximizer()
    tilted = log_density(problem.law(problem["mu"]), problem["x"]) + dual @ problem["x"]
    return problem.reading(quadrature=tilted - problem.integrals(dual)[0].log())


@confirms(Layer.TORCH, "deciphering.s5.estimate", on=gaussian_problems())
def tilted_mean(problem: GaussianProblem) -> Reading:
    return problem.reading(
        quadrature=problem.integrals(problem.maximizer())[1], normal_equations=problem.estimate(problem.alpha)
    )


@confirms(Layer.TORCH, "deciphering.s5.reliability", on=gaussian_problems())
def vanishing_reliability(problem: GaussianProblem) -> Reading:
    alpha = 2.0**-30  # ĥ − μ = α/(1+α) (b − μ), at most α‖b − μ‖ off the limit
    base = problem.reading(normal_equations=problem.estimate(alpha))
    deviation = alpha * float((problem["b"] - problem["mu"]).abs().max())
    return Reading(base.point, base.routes, base.tolerance + deviation)


@confirms(Layer.TORCH, "deciphering.s5.convex", on=mem_problems(smallest_n=2))
def chord(problem: MemProblem) -> Reading:
    extra = more(problem, x=(problem.n,), y=(problem.n,), b=(problem.d,))
    points = {"x": shares(extra["x"]), "y": shares(extra["y"])}
    if problem.weighting == "generic":  # close to each other, where the chord touches
        points["y"] = points["x"] + 2.0**-20 * (points["y"] - points["x"])
    t = float(problem.drawn["s"])
    z = extra["b"].to(problem.device) - problem.prior @ problem.templates
    ends = [
        mem.primal_objective(points[name].to(problem.device), problem.templates, z, problem.prior, problem.alpha)
        for name in ("x", "y")
    ]
    value = t / (1 + t) * ends[0] + 1 / (1 + t) * ends[1]
    return Reading(
        problem.point() | points | {"b": extra["b"], "t": t},
        {"closed_form": value},
        problem.tolerance(problem.templates.square(), z.square(), problem.prior.log(), *ends),
    )


LAYOUTS = ("generic", "duplicated", "collinear")


@confirms(Layer.TORCH, "deciphering.s5.general-setting", on=mem_problems(smallest_n=2, layouts=LAYOUTS), count=20)
def first_order(problem: MemProblem) -> Reading:
    def shift(alpha: object) -> list[object]:
        return [x - m for x, m in zip(problem.maximizer(alpha).estimate, problem.law.mean(), strict=True)]

    measured = fifty_digits.leading(shift, 1, problem.small)
    return Reading(problem.point(), {"50 digits": rounded(measured.values)}, problem.tolerance() + float(measured.error))
