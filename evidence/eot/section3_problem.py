"""Votes on: Section 3, the problem: attention weights, the simplex, and the one-sided entropic objective."""

import torch

from evidence import Layer, Reading, Sampled, confirms, float64
from evidence.eot.conic_one_sided import ConicRow, error, problems, solved
from evidence.eot.forward import reading
from evidence.eot.framing import colder
from evidence.eot.section3_theorem import conic_plan, plan
from evidence.instances.derivatives import gradient
from evidence.instances.one_sided import Row, rows
from numerics import one_sided, tolerances


@confirms(Layer.TORCH, "eot.1", on=rows())
def weights_times_partition(row: Row) -> Reading:
    closed = one_sided.plan(row.s, row.tau) * one_sided.log_partition(row.s, row.tau).exp()
    plain = row.weights * (row.s / row.tau).exp().sum()
    return reading(row, closed_form=closed, softmax=plain)


@confirms(Layer.TORCH, "eot.3", on=rows())
def objective_of_uniform(row: Row) -> Reading:
    return reading(row, closed_form=one_sided.objective(torch.full_like(row.s, 1 / row.m), row.s, row.tau))


@confirms(Layer.TORCH, "eot.5", on=rows())
def objective(row: Row) -> Reading:
    shares = row["p"] / row["p"].sum()
    direct = -(shares * row.s).sum() + row.tau * torch.xlogy(shares, shares).sum()
    routes = {"closed_form": one_sided.objective(shares, row.s, row.tau), "direct": direct}
    return Reading(row.point() | {"p": shares}, routes, row.tolerance(row.s, row.tau))


@confirms(Layer.TORCH, "eot.s3.trade-off", on=rows())
def entropy_slope(row: Row) -> Reading:
    slope = gradient(lambda tau: one_sided.entropy(one_sided.plan(row.s, tau)), torch.tensor(row.tau, dtype=torch.float64))
    return reading(row, row.s.square() / row.tau**3, autograd=slope)


def entropy_against(row: Row, plan: torch.Tensor) -> Reading:
    routes = {"closed_form": one_sided.entropy(one_sided.plan(row.s, row.tau))}
    return Reading(row.point() | {"p": plan.cpu()}, routes, row.tolerance(row.s, row.tau))


def entropy_against_colder(row: Row) -> Reading:
    return entropy_against(row, colder(row))


@confirms(Layer.TORCH, "eot.s3.maximally-entropic", on=rows(), corrected=entropy_against_colder)
def entropy_against_uniform(row: Row) -> Reading:
    return entropy_against(row, torch.full_like(row.s, 1 / row.m))


def shifted(row: Row) -> Reading:
    shares = row["p"] / row["p"].sum()
    value = one_sided.objective(shares, row.s - row["t"], row.tau)
    return Reading(row.point() | {"p": shares}, {"closed_form": value}, row.tolerance(row.s, row["t"], row.tau))


@confirms(Layer.TORCH, "eot.s3.nonnegative-cost", on=rows(), corrected=shifted)
def cost(row: Row) -> Reading:
    return reading(row, closed_form=-one_sided.scores_from(row["Q"], row["K"]))


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


@confirms(Layer.PRIMAL, "eot.s3.no-single-point", on=problems(smallest=2))
def plan_on_the_right(drawn: ConicRow) -> Reading:
    solution = solved(drawn.scores, drawn.epsilon)
    return Reading(drawn.point(), {"cvxpy": float64(solution.plan)}, error(solution, drawn.epsilon), "right")


def shifted_value(drawn: ConicRow) -> Reading:
    solution = solved(drawn.scores - drawn.shift, drawn.epsilon)
    point = drawn.point() | {"p": float64(solution.plan)}
    return Reading(
        point,
        {"cvxpy": float64(solution.objective)},
        solution.gap + tolerances.rounding("float64", drawn.m, 1 + abs(drawn.shift)),
    )


@confirms(Layer.PRIMAL, "eot.s3.nonnegative-cost", on=problems(), corrected=shifted_value)
def conic_cost(drawn: ConicRow) -> Reading:
    return Reading(drawn.point(), {"data": float64(-drawn.scores)}, tolerances.rounding("float64", drawn.m))


VOTES = [Sampled("eot.6", Layer.TORCH, plan, on=rows()), Sampled("eot.6", Layer.PRIMAL, conic_plan, on=problems())]
