"""Votes on: The Gibbs identity: how far any weights are from optimal attention, exactly and in bounds that can be computed."""

from collections.abc import Mapping

import torch
from torch import Tensor

from evidence import Layer, Reading, confirms, float64
from evidence.beyond.keys import SMALL, reading, variable
from evidence.beyond.search import Free, Problem, sought
from evidence.eot.conic_dual import value_error
from evidence.eot.conic_one_sided import ConicRow, problems, solved
from evidence.instances.derivatives import hessian
from evidence.instances.one_sided import Row
from numerics import one_sided

Values = Mapping[str, Tensor]


def least(s: Tensor, tau: Tensor | float) -> Tensor:
    """V = −τ log Z."""
    return -tau * torch.logsumexp(s / tau, -1)


def excess(q: Tensor, s: Tensor, tau: Tensor | float) -> Tensor:
    """J(q) − V."""
    return one_sided.objective(q, s, tau) - least(s, tau)


@confirms(Layer.TORCH, "beyond.gibbs", on=SMALL, count=16)
def above_least(row: Row) -> Reading:
    return reading(row, closed_form=excess(variable(row, "q"), row.s, row.tau))


@confirms(Layer.TORCH, "beyond.gibbs-plans", on=SMALL, count=16)
def rows_above(row: Row) -> Reading:
    own = zip(variable(row, "R"), variable(row, "S"), variable(row, "rho").tolist(), strict=True)
    rho = variable(row, "rho")
    return reading(row, rho, 1 / rho, closed_form=sum((excess(*each) for each in own), torch.zeros((), dtype=torch.float64)))


@confirms(Layer.TORCH, "beyond.gibbs-prior", on=SMALL, count=16)
def above_with_prior(row: Row) -> Reading:
    return reading(row, closed_form=excess(variable(row, "q"), row.s + row.tau * variable(row, "u").log(), row.tau))


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


def rivals(drawn: ConicRow) -> Tensor:
    """Weights that are not optimal."""
    return torch.softmax(float64(drawn.utilities), -1)


def objective(q: Tensor, drawn: ConicRow) -> Tensor:
    """J(q), term by term."""
    return -(q * float64(drawn.scores)).sum() + drawn.epsilon * (q * q.log()).sum()


@confirms(Layer.PRIMAL, "beyond.gibbs", "beyond.pinsker", on=problems(), count=16)
def above_the_optimum(drawn: ConicRow) -> Reading:
    solution, q = solved(drawn.scores, drawn.epsilon), rivals(drawn)
    gap = objective(q, drawn) - solution.objective
    return Reading(drawn.point() | {"q": q}, {"cvxpy": gap}, value_error(drawn, solution))


# ── bounds ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def positive(x: Tensor) -> Tensor:
    """Numbers between 1/20 and 20."""
    return (3 * torch.tanh(x / 3)).exp()


def key_values(free: Free) -> Values:
    """Weights, scores and a temperature."""
    return {"q": torch.softmax(free["q"], -1), "s": 2 * torch.tanh(free["s"] / 2), "tau": positive(free["tau"])}


def excesses(x: Values) -> Tensor:
    """J(q) − V of a batch, as τ times a mean of log-ratios."""
    tau = x["tau"][:, None]
    logs = x["q"].log() - torch.log_softmax(x["s"] / tau, -1)
    return x["tau"] * (x["q"] * logs).sum(-1)


def keys(m: int) -> dict[str, tuple[int, ...]]:
    """Two numbers for each key and one for all."""
    return {"q": (m,), "s": (m,), "tau": ()}


def pinsker_sides(x: Values) -> tuple[Tensor, Tensor]:
    """J(q) − V and (τ/2)‖q − p‖₁²."""
    apart = (x["q"] - torch.softmax(x["s"] / x["tau"][:, None], -1)).abs().sum(-1)
    return excesses(x), x["tau"] / 2 * apart**2


PINSKER = Problem(keys, key_values, pinsker_sides, least=1e-3)


def chi_square_sides(x: Values) -> tuple[Tensor, Tensor]:
    """τ log(1 + χ²) and J(q) − V."""
    p = torch.softmax(x["s"] / x["tau"][:, None], -1)
    return x["tau"] * torch.log1p(((x["q"] - p).square() / p).sum(-1)), excesses(x)


CHI_SQUARE = Problem(keys, key_values, chi_square_sides, least=1e-3)


def certified_values(free: Free) -> Values:
    """Weights with residual scores r = c − d of any sign pattern."""
    residual = 2 * torch.tanh(free["s"] / 2)
    top = residual.amax(-1)
    return {"q": torch.softmax(free["q"], -1), "tau": positive(free["tau"]), "c": top, "d": top[:, None] - residual}


def certified_sides(x: Values) -> tuple[Tensor, Tensor]:
    """E_q[d] and J(q) − V."""
    s = x["tau"][:, None] * x["q"].log() + x["c"][:, None] - x["d"]
    return (x["q"] * x["d"]).sum(-1), excesses({"q": x["q"], "tau": x["tau"], "s": s})


CERTIFICATE = Problem(keys, certified_values, certified_sides, least=1e-3)


@confirms(Layer.TORCH, "beyond.pinsker-sharp", on=SMALL, count=16)
def ratio_at_two_keys(row: Row) -> Reading:
    """The second derivative of KL at p over that of the squared distance, which is 8."""
    half = torch.full((2,), 0.5, dtype=torch.float64)
    turn = torch.tensor([1.0, -1.0], dtype=torch.float64)

    def divergence(t: Tensor) -> Tensor:
        q = half + t * turn
        return (q * (q / half).log()).sum()

    slope = hessian(divergence, torch.zeros((), dtype=torch.float64))
    return reading(row, second_derivatives=slope / 8)


VOTES = [
    sought("beyond.pinsker", PINSKER, count=32),
    sought("beyond.chi-square", CHI_SQUARE, count=32),
    sought("beyond.certificate", CERTIFICATE, count=32),
]
