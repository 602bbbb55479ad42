"""The quadratic regularizer: POT's public tests of its smooth solvers, and more."""

import math

import numpy as np
import ot
import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from numerics import solvers, tolerances
from numerics.linear_program import exact_plan
from numerics.regularizers import sparsemax
from numerics.transport import quadratic, quadratic_plan

GENERATOR = torch.Generator().manual_seed(0)


def uniform(*shape: int) -> Tensor:
    return torch.rand(shape, generator=GENERATOR, dtype=torch.float64)


def distribution(*shape: int) -> Tensor:
    return (2 * uniform(*shape)).softmax(-1)


def close(actual: Tensor, expected: Tensor, atol: float = 1e-12) -> None:
    assert_close(actual, expected, rtol=0.0, atol=atol)


@pytest.mark.filterwarnings("ignore:scipy.optimize.*disp:DeprecationWarning")
def test_the_marginals_of_a_hundred_points() -> None:
    x = torch.from_numpy(np.random.RandomState(0).randn(100, 2))
    u = torch.full((100,), 0.01, dtype=torch.float64)
    cost = torch.cdist(x, x).square()
    solution = quadratic_plan(cost, u, u)
    close(solution.plan.sum(-1), u)
    close(solution.plan.sum(-2), u)
    close(quadratic_plan(cost).plan, solution.plan)
    theirs = ot.smooth.smooth_ot_dual(u.numpy(), u.numpy(), cost.numpy(), 1, reg_type="l2", stopThr=1e-12)
    close(solution.plan, torch.from_numpy(theirs), 1e-5)  # the accuracy of POT's L-BFGS


@pytest.mark.parametrize("temperature", [100.0, 1.0, 0.1, 1e-2, 1e-4])
def test_the_conditions_and_the_gap(temperature: float) -> None:
    cost, a, b = 4 * uniform(3, 6, 8), distribution(3, 6), distribution(3, 8)
    solution = quadratic_plan(cost, a, b, temperature)
    assert bool(solution.converged.all())
    close(solution.plan.sum(-1), a, 1e-10)
    close(solution.plan.sum(-2), b, 1e-10)
    slack = solution.row_potential.unsqueeze(-1) + solution.column_potential.unsqueeze(-2) - cost
    close(solution.plan, slack.clamp(min=0) / temperature, 1e-10)
    primal = (cost * solution.plan).sum((-2, -1)) + temperature / 2 * solution.plan.square().sum((-2, -1))
    close(solution.value + solution.gap, primal, 1e-12 * (1 + temperature))
    # An entry is off by u(|f| + |g| + |C|)/γ, and what a row or a column lacks costs as much as its potential.
    f, g = solution.row_potential.abs().unsqueeze(-1), solution.column_potential.abs().unsqueeze(-2)
    off = tolerances.eps("float64") * torch.where(solution.plan > 0, f + g + cost, 0.0).sum((-2, -1)) / temperature + 1e-14
    assert bool((solution.gap.abs() <= off * torch.maximum(f.amax((-2, -1)), g.amax((-2, -1)))).all())
    close((b * solution.column_potential).sum(-1), torch.zeros(3, dtype=torch.float64))


def test_newtons_method_takes_few_steps_at_small_temperatures() -> None:
    """154 steps in total, including rough stages; each is a sweep and a rarely halved step."""
    g = torch.Generator().manual_seed(7)
    cost, a, b = (torch.rand(*shape, generator=g, dtype=torch.float64) for shape in ((3, 6, 8), (3, 6), (3, 8)))
    solutions = [quadratic_plan(4 * cost, (2 * a).softmax(-1), (2 * b).softmax(-1), x) for x in (100.0, 1.0, 0.1, 1e-2, 1e-4)]
    assert sum(solution.steps for solution in solutions) <= 154


def test_marginals_may_have_additional_axes() -> None:
    cost, a, b, temperature = uniform(4, 5), distribution(2, 1, 4), distribution(3, 5), torch.tensor([[0.1], [1.0]]).double()
    solution = quadratic_plan(cost, a, b, temperature)
    assert solution.value.shape == solution.gap.shape == solution.converged.shape == (2, 3)
    for i in range(2):
        for j in range(3):
            one = quadratic_plan(cost, a[i, 0], b[j], float(temperature[i, 0]))
            for name in ("plan", "row_potential", "column_potential", "value"):
                close(getattr(solution, name)[i, j], getattr(one, name), 1e-10)


@pytest.mark.parametrize("power", [-7, 9])
def test_units_of_costs_and_of_masses_change_nothing(power: int) -> None:
    """Exact for powers of two: with C and γ the potentials scale; with a, b and 1/γ the plan does."""
    cost, a, b, unit = uniform(3, 6, 8), distribution(3, 6), distribution(3, 8), 2.0**power
    for temperature in (1.0, 1e-2):
        solution = quadratic_plan(cost, a, b, temperature)
        dearer = quadratic_plan(unit * cost, a, b, unit * temperature)
        more = quadratic_plan(cost, unit * a, unit * b, temperature / unit)
        assert solution.steps == dearer.steps == more.steps
        close(dearer.plan, solution.plan, 0.0)
        close(more.plan, unit * solution.plan, 0.0)
        for name, one, other in (
            ("row_potential", unit, 1),
            ("column_potential", unit, 1),
            ("value", unit, unit),
            ("gap", unit, unit),
            ("row_error", 1, unit),
            ("column_error", 1, unit),
        ):
            close(getattr(dearer, name), one * getattr(solution, name), 0.0)
            close(getattr(more, name), other * getattr(solution, name), 0.0)


def test_thresholds_may_be_computed_by_sorting(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a GPU, where entries cannot be read; also rows without mass and equal costs."""
    cost, a, b = (4 * uniform(3, 6, 8)).round(), distribution(3, 6), distribution(3, 8)
    a[0, 2] = b[1, 3] = 0.0
    a, b = a / a.sum(-1, keepdim=True), b / b.sum(-1, keepdim=True)
    looked = [quadratic_plan(cost, a, b, temperature) for temperature in (1.0, 0.1)]
    monkeypatch.setattr(quadratic, "_THRESHOLD_STEPS", 0)
    for temperature, expected in zip((1.0, 0.1), looked, strict=True):
        solution = quadratic_plan(cost, a, b, temperature)
        close(solution.plan, expected.plan)
        close(solution.value, expected.value)


def test_the_parts_of_the_solver_follow_the_notes() -> None:
    """At a g that is no solution, one of three problems at a time, with a row without mass."""
    cost, a, b, g, gamma = 4 * uniform(3, 6, 8), distribution(3, 6), distribution(3, 8), uniform(3, 8), 0.7
    a[1, 2] = 0.0
    scale = torch.full((3, 1), gamma, dtype=torch.float64)
    f, P, value = quadratic._point(g, cost, a, b, scale)
    ridge = torch.tensor([[0.1], [0.2], [0.3]], dtype=torch.float64)
    residual, allowed = b - P.sum(-2), quadratic._rounding(P, f, g, cost, scale)
    step = quadratic._newton(P > 0, scale, residual, ridge)
    for k in range(3):
        excess = (f[k, :, None] + g[k] - cost[k]).clamp(min=0)
        close(excess.sum(-1), gamma * a[k], 1e-14)  # f solves for the masses of the rows
        close(P[k], excess / gamma, 1e-14)
        close(value[k], (a[k] * f[k]).sum() + (b[k] * g[k]).sum() - excess.square().sum() / (2 * gamma), 1e-14)
        S = (P[k] > 0).double()
        columns, rows = S.sum(0).clamp(min=1), S.sum(1).clamp(min=1)
        system = ((1 + ridge[k]) * columns).diag() - S.mT @ (S / rows[:, None])
        close(system @ step[k] / gamma, residual[k], 1e-13)
        active = excess > 0
        drift = ((f[k].abs()[:, None] + g[k].abs() + cost[k]) * active).sum() / gamma
        limit = tolerances.rounding("float64", 14) * P[k].sum() + tolerances.eps("float64") * drift
        assert float(allowed[k]) == pytest.approx(float(limit), rel=1e-12)
    assert float(f[1, 2]) == float((cost[1, 2] - g[1]).amin())  # the largest f that gives the row nothing
    far = quadratic._rounding(P, 1e12 * f, g, cost, scale)
    close(far, math.sqrt(tolerances.eps("float64")) * P.sum((-2, -1)), 1e-24)
    parts = torch.tensor([[1.0, 1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0, 0.0]])
    linked = torch.block_diag(torch.ones(3, 3), torch.ones(1, 1), torch.zeros(1, 1))
    assert torch.equal(quadratic._connected(parts), linked)


def test_limits() -> None:
    cost, a, b = uniform(5, 6), distribution(5), distribution(6)
    close(quadratic_plan(cost, a, b, 1e-3).plan, exact_plan(cost, a, b).plan, 1e-10)  # from some γ > 0 on the two agree
    even_a, even_b = (a + 1) / 6, (b + 1) / 7
    dense = quadratic_plan(cost, even_a, even_b, 1e6).plan
    close(dense, even_a[:, None] / 6 + even_b / 5 - 1 / 30, 1e-5)  # ‖P‖ alone, where that is positive
    row = quadratic_plan(cost[:, :1], a, torch.ones(1).double())
    close(row.plan[:, 0], a)
    free = torch.tensor([[0.3, -0.1, 0.9]], dtype=torch.float64)
    b = sparsemax(free)[0]
    solution = quadratic_plan(-free, torch.ones(1).double(), b)
    close(solution.plan[0], b)  # one row: sparsemax is the plan whose columns are free


def test_weights_of_zero_batches_and_dtypes() -> None:
    cost, a, b = uniform(2, 3, 4, 5), distribution(2, 3, 4), distribution(5)
    solution = quadratic_plan(cost, a, b, 0.1)
    for i in range(2):
        for j in range(3):
            close(solution.plan[i, j], quadratic_plan(cost[i, j], a[i, j], b, 0.1).plan)
    assert quadratic_plan(cost[:0], a[:0], b).plan.shape == (0, 3, 4, 5)
    wider = torch.cat([a, torch.zeros(2, 3, 1).double()], -1)
    more = quadratic_plan(torch.cat([cost, uniform(2, 3, 1, 5)], -2), wider, b, 0.1)
    close(more.plan[..., :4, :], solution.plan)
    assert bool((more.plan[..., 4, :] == 0).all())
    turned = quadratic_plan(torch.cat([cost, uniform(2, 3, 1, 5)], -2).mT, b, wider, 0.1)
    close(turned.plan.mT, more.plan)
    for dtype in (torch.float32, torch.bfloat16):
        narrow = quadratic_plan(cost[0, 0].to(dtype), temperature=0.1)
        assert narrow.plan.dtype is dtype
        exact = quadratic_plan(cost[0, 0].to(dtype).double(), temperature=0.1).plan
        assert float((narrow.plan.double() - exact).abs().max()) <= 100 * tolerances.rounding(dtype, 9, 1.0)


def test_the_slope_of_the_value_is_the_plan() -> None:
    cost, b = uniform(3, 4).requires_grad_(), distribution(4)
    temperature = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    logits = uniform(3).requires_grad_()

    solution = quadratic_plan(cost, logits.softmax(-1), b, temperature)
    close(torch.autograd.grad(solution.value, cost)[0], solution.plan.detach())


def test_errors_carry_no_derivatives() -> None:
    cost, a, b = uniform(3, 4).requires_grad_(), distribution(3).requires_grad_(), distribution(4).requires_grad_()
    solution = quadratic_plan(cost, a, b)
    assert solution.plan.requires_grad
    assert solution.value.requires_grad
    for name in ("gap", "row_error", "column_error"):
        assert not getattr(solution, name).requires_grad


def test_refusals() -> None:
    cost, a, b = uniform(3, 4), distribution(3), distribution(4)
    for options, message in (
        ({"temperature": 0.0}, "temperature: expected a positive number"),
        ({"cost": cost * torch.inf}, "cost: expected finite numbers"),
        ({"target": a}, r"target: expected \(..., 4\)"),
        ({"max_steps": 0}, "max_steps: expected an integer"),
    ):
        with pytest.raises(ValueError, match=message):
            quadratic_plan(**({"cost": cost, "source": a, "target": b} | options))
    with pytest.raises(RuntimeError, match="quadratic_plan: 1 of 1 problems did not converge in 1 steps"):
        quadratic_plan(cost, a, b, 0.01, max_steps=1)
    with pytest.raises(ValueError, match="target: expected the mass of the source, 1, got 2"):
        quadratic_plan(cost, a, 2 * b)
    assert not bool(quadratic_plan(cost, a, 2 * b, strict=False).converged)


def test_a_problem_that_is_done_waits_for_the_others() -> None:
    """The first problem is roughly done after a sweep; only the second makes a step of Newton's method."""
    cost, a, b = uniform(2, 6, 8), distribution(2, 6), distribution(2, 8)
    cost *= torch.tensor([0.002, 40.0]).double()[:, None, None]
    gamma = torch.ones(2, 1, dtype=torch.float64)
    f = quadratic._point(torch.zeros_like(b), cost, a, b, gamma)[0]
    swept = quadratic._threshold((f.unsqueeze(-1) - cost).mT, gamma * b)
    left = (b - quadratic._point(swept, cost, a, b, gamma)[1].sum(-2)).abs().sum(-1)
    assert 1e-6 < float(left[0]) < solvers.ROUGH_TOLERANCE < float(left[1])
    g, _ = quadratic._maximize(torch.zeros_like(b), cost, a, b, gamma, 1, rough=True)
    close(g[0], swept[0], 0.0)
    assert float((g[1] - swept[1]).abs().max()) > 1e-3
