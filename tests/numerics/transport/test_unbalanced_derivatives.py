"""Both marginals relaxed: derivatives in all data, at masses of zero, and where both marginals are met."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from numerics.transport import unbalanced
from tests.numerics.derivatives import check_once, check_twice
from tests.numerics.transport.test_unbalanced import close, problem


@pytest.mark.parametrize("relaxations", [(1.0, 2.0), (math.inf, 0.5), (0.5, math.inf)])
def test_derivatives(relaxations: tuple[float, float]) -> None:
    cost, a, b = (x.requires_grad_() for x in problem(2, n=3, m=4))
    temperature = torch.tensor([0.5, 1.0], dtype=torch.float64, requires_grad=True)

    def solved(cost: Tensor, a: Tensor, b: Tensor, temperature: Tensor) -> tuple[Tensor, ...]:
        solution = unbalanced(cost, a, b, temperature, *relaxations)
        return solution.plan, solution.row_potential, solution.column_potential, solution.value

    check_twice(solved, (cost, a, b, temperature), batched=True)
    solution = unbalanced(cost, a, b, temperature, *relaxations)
    slope = torch.autograd.grad(solution.value.sum(), cost)[0]
    close(slope, solution.plan.detach(), 1e-10)


def one_sided_slope(f: Callable[[Tensor], Tensor], x: Tensor, along: Tensor, step: float = 1e-6) -> Tensor:
    """The slope at the end of a domain, to second order."""
    return (4 * f(x + step * along) - 3 * f(x) - f(x + 2 * step * along)) / (2 * step)


@pytest.mark.parametrize("relaxations", [(1.0, 2.0), (math.inf, 0.5), (0.5, math.inf), (math.inf, math.inf)])
@pytest.mark.parametrize("which", [1, 2])
def test_derivatives_at_a_mass_of_zero(which: int, relaxations: tuple[float, float]) -> None:
    """The slopes of everything that is returned, in a mass that comes from another one."""
    cost, *masses = problem(n=3, m=4)
    masses = [x / x.sum() for x in masses]
    mass = masses[which - 1]
    mass[1], mass[0] = 0.0, mass[0] + mass[1]
    along = torch.zeros_like(mass).index_add(0, torch.tensor([0, 1]), torch.tensor([-1.0, 1.0]).double())

    def results(mass: Tensor) -> Tensor:
        solution = unbalanced(cost, *masses[: which - 1], mass, *masses[which:], 0.5, *relaxations)
        f, g = solution.row_potential, solution.column_potential
        return torch.cat([solution.plan.flatten(), (f[:, None] + g).flatten(), solution.value[None]])

    slope = torch.autograd.functional.jacobian(results, mass) @ along
    close(slope, one_sided_slope(results, mass, along), 1e-6)


def test_second_derivatives_at_a_mass_of_zero() -> None:
    cost, a, b = problem(n=3, m=4)
    b[1], at = 0.0, torch.tensor(1)

    def slope_of_plan(cost: Tensor) -> Tensor:
        mass = b.clone().requires_grad_()
        column = unbalanced(cost, a, mass, 0.5, 1.0, 2.0).plan[0].select(-1, 1)
        return torch.autograd.grad(column, mass, create_graph=True)[0][at]

    (of_cost,) = torch.autograd.grad(slope_of_plan(cost.requires_grad_()), cost)
    step = torch.zeros_like(cost).index_fill(-1, torch.tensor([1, 2]), 1e-5)
    close((of_cost * step).sum() / 1e-5, (slope_of_plan(cost + step) - slope_of_plan(cost - step)).detach() / 2e-5, 1e-7)


def test_derivatives_where_both_marginals_are_met() -> None:
    """The potentials up to their constant."""
    cost, a, b = problem(2, n=3, m=4)
    inputs = [x.requires_grad_() for x in (cost, a.log(), b.log())]

    def solved(cost: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, ...]:
        solution = unbalanced(cost, 3 * a.softmax(-1), 3 * b.softmax(-1), 0.5, math.inf, math.inf)
        f, g = solution.row_potential, solution.column_potential
        return solution.plan, f - f[..., :1], g - g[..., :1], solution.value

    check_twice(solved, inputs, batched=True)


@pytest.mark.parametrize("mass", [1.0, 3.0])
def test_no_derivative_in_one_mass_is_that_of_a_division_by_zero(mass: float) -> None:
    """Where both marginals are met, masses that do not agree have no plan."""
    cost, a, b = problem(2, n=3, m=4)
    masses = [(mass * x.softmax(-1)).requires_grad_() for x in (a, b)]
    column = unbalanced(cost, *masses, 0.5, math.inf, math.inf).column_potential
    assert all(float(x.abs().max()) < 1e3 for x in torch.autograd.grad(column[:, 0].sum(), masses))


def test_a_row_without_mass_leaves_the_other_slopes_of_a_column_without_mass() -> None:
    cost, a, b = problem(n=3, m=4)
    a[1] = b[2] = 0.0

    def potential(a: Tensor) -> Tensor:
        return unbalanced(cost, a, b, 0.5, 1.0, 2.0).column_potential[2]

    along = torch.tensor([1.0, 0.0, -1.0], dtype=torch.float64)
    (slope,) = torch.autograd.grad(potential(a.requires_grad_()), a)
    step = 1e-5
    close(slope @ along, ((potential(a + step * along) - potential(a - step * along)) / (2 * step)).detach(), 1e-8)


def test_derivatives_in_the_relaxations() -> None:
    cost, a, b = problem(n=3, m=4)
    rhos = [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in (0.7, 2.0)]
    check_once(lambda x, y: unbalanced(cost, a, b, 0.5, x, y).plan, rhos, batched=True)
    check_twice(lambda x, y: unbalanced(cost, a, b, 0.5, x, y).value, rhos, batched=True)
