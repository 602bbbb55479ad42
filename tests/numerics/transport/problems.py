"""Shared helpers for tests of transport: random problems, errors of plans, and the allowed distance of computed plans."""

import math

import torch
from torch import Tensor

from evidence.instances.transport import TransportProblem
from numerics import tolerances
from numerics.transport import Transport

F64 = torch.float64


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def random_problem(seed: int, n: int = 4, m: int = 5, *batch: int) -> tuple[Tensor, Tensor, Tensor]:
    """A cost between normal points, and two random marginals."""
    g = generator(seed)
    x, y = torch.randn(*batch, n, 2, generator=g, dtype=F64), torch.randn(*batch, m, 2, generator=g, dtype=F64)
    cost = (x.unsqueeze(-2) - y.unsqueeze(-3)).square().sum(-1)
    a, b = (torch.rand(*batch, size, generator=g, dtype=F64) + 0.1 for size in (n, m))
    return cost, a / a.sum(-1, keepdim=True), b / b.sum(-1, keepdim=True)


def errors(x: TransportProblem, result: Transport) -> Tensor:
    """‖P 1 − a‖₁ + ‖Pᵀ 1 − b exp(−g/ρ)‖₁ from the plan itself, in float64."""
    plan = result.plan.double()
    wanted = x.target.double() * torch.exp(-result.column_potential.double() / x.relaxation)
    return (plan.sum(-1) - x.source.double()).abs().sum(-1) + (plan.sum(-2) - wanted).abs().sum(-1)


def logit(x: TransportProblem) -> float:
    """The largest difference of finite costs over ε."""
    finite = x.cost[x.cost != torch.inf].double()
    return float(finite.max() - finite.min()) / x.temperature


def exponent(x: TransportProblem) -> float:
    """The largest exponent of P = a b exp(φ + ψ + L): that of L, and the logarithm of the least mass.

    Between finite costs potentials differ by no more than costs; with forbidden ones, by what the masses make them.
    """
    masses = torch.cat((x.source.flatten(), x.target.flatten()))
    return logit(x) - math.log(float(masses[masses > 0].min()))


def connection(plan: Tensor) -> float:
    """1 − σ², with σ < 1 the largest such singular value of P_ij/√(a_i b_j) in the batch: 1 belongs to separate parts."""
    rows, columns = plan.sum(-1, keepdim=True), plan.sum(-2, keepdim=True)
    scaled = plan / torch.where(plan > 0, (rows * columns).sqrt(), 1.0)
    squares = torch.linalg.svdvals(scaled).square()
    below = squares[squares < 1 - math.sqrt(tolerances.eps("float64"))]  # closer to 1 half of the digits are gone
    return 1.0 - float(below.max()) if below.numel() else 1.0


def apart(plan: Tensor, largest: float, slack: float = 0.0) -> float:
    """The allowed distance, in ℓ1, of two computed plans of one problem, with these exponents and other marginal errors."""
    error = 2 * tolerances.marginals(plan.dtype, sum(plan.shape[-2:]), largest) + slack
    return tolerances.plan_from_residual(error, connection(plan.double()))


def objective(x: TransportProblem, plan: Tensor) -> Tensor:
    reference = x.source.unsqueeze(-1) * x.target.unsqueeze(-2)
    positive = plan > 0
    logs = torch.where(positive, (torch.where(positive, plan, 1.0) / torch.where(positive, reference, 1.0)).log(), 0.0)
    value = (x.cost * plan + x.temperature * plan * logs).sum((-2, -1))
    if x.relaxation == math.inf:
        return value
    column = plan.sum(-2)
    positive = column > 0
    logs = torch.where(positive, (torch.where(positive, column, 1.0) / torch.where(positive, x.target, 1.0)).log(), 0.0)
    return value + x.relaxation * (column * logs - column + x.target).sum(-1)
