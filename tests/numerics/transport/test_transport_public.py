"""POT's public tests of Sinkhorn's iteration with adapted signatures and the tolerance of a solved problem."""

import inspect
from collections.abc import Callable

import numpy as np
import ot
import pytest
import torch
from torch import Tensor
from torch.autograd import gradcheck
from torch.testing import assert_close

from numerics.linear_program import exact_plan
from numerics.transport import one_sided_plan, quadratic_plan, sinkhorn, sinkhorn_divergence, unbalanced


def points(n: int, seed: int = 0) -> Tensor:
    return torch.from_numpy(np.random.RandomState(seed).randn(n, 2))


def squared(x: Tensor, y: Tensor) -> Tensor:
    return (x.unsqueeze(-2) - y.unsqueeze(-3)).square().sum(-1)


def close(actual: Tensor, expected: Tensor, atol: float = 1e-12) -> None:
    assert_close(actual, expected, rtol=0.0, atol=atol)


THEIRS = {"cost": "M", "source": "a", "target": "b", "temperature": "reg"}


@pytest.mark.parametrize("ours", [sinkhorn, unbalanced, quadratic_plan, one_sided_plan, exact_plan])
def test_arguments_stand_in_the_order_of_the_solver(ours: Callable[..., object]) -> None:
    """Like `ot.solve`, we take the cost first, and uniform marginals by default; only our temperature has a default."""
    parameters, theirs = inspect.signature(ours).parameters, inspect.signature(ot.solve).parameters
    names = [name for name in parameters if name in THEIRS]
    assert names == list(parameters)[: len(names)]
    assert [THEIRS[name] for name in names] == list(theirs)[: len(names)]
    for name in ("cost", "source", "target"):
        assert parameters[name].default == theirs[THEIRS[name]].default, name


def test_sinkhorn() -> None:
    x, u = points(100), torch.full((100,), 0.01, dtype=torch.float64)
    cost = squared(x, x)
    for solution in (sinkhorn(cost, u, u), sinkhorn(cost)):  # test_sinkhorn, test_sinkhorn_empty
        close(solution.plan.sum(-1), u)
        close(solution.plan.sum(-2), u)
    with pytest.raises(RuntimeError, match="did not converge in 1 steps"):  # POT warns
        sinkhorn(10 * cost, u, u, max_steps=1)


def test_sinkhorn_multi_b() -> None:
    x = points(30)
    cost, a = squared(x, x), torch.full((30,), 1 / 30, dtype=torch.float64)
    targets = torch.rand(3, 30, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    targets = targets / targets.sum(-1, keepdim=True)
    together = sinkhorn(cost, a, targets, 0.5)
    for k in range(3):
        close(together.plan[k], sinkhorn(cost, a, targets[k], 0.5).plan)
        theirs = ot.solve(cost.numpy(), a.numpy(), targets[k].numpy(), reg=0.5, reg_type="kl", tol=1e-13, max_iter=10000)
        close(together.plan[k], torch.from_numpy(theirs.plan), 1e-10)
        close(together.value[k], torch.tensor(theirs.value), 1e-10)


def test_solve_batch_of_costs() -> None:
    costs = torch.from_numpy(np.random.RandomState(0).rand(4, 16, 16))
    solution = sinkhorn(costs, temperature=0.1)
    for k in range(4):
        theirs = ot.solve(costs[k].numpy(), reg=0.1, reg_type="kl", tol=1e-13, max_iter=100000)
        close(solution.plan[k], torch.from_numpy(theirs.plan), 1e-10)


def test_sinkhorn2_gradients() -> None:
    x, y = points(6), points(6, 1)
    cost, a, b = squared(x, y).requires_grad_(), *(torch.zeros(2, 6, dtype=torch.float64).requires_grad_())
    solution = sinkhorn(cost, a.softmax(-1), b.softmax(-1))
    of_cost, of_a, of_b = torch.autograd.grad(solution.value, (cost, a, b))
    close(of_cost, solution.plan.detach())
    close(of_a, (solution.row_potential - solution.row_potential.mean()).detach() / 6)  # through the softmax
    close(of_b, (solution.column_potential - solution.column_potential.mean()).detach() / 6)


def test_sinkhorn_warmstart() -> None:
    m, n = 10, 20
    cost = squared(torch.arange(m, dtype=torch.float64)[:, None], torch.arange(n, dtype=torch.float64)[:, None])
    expected = sinkhorn(cost)
    _, log = ot.lp.emd(np.full(m, 1 / m), np.full(n, 1 / n), cost.numpy(), log=True)
    exact = float("inf")
    warm = unbalanced(cost, None, None, 1.0, exact, exact, start=torch.from_numpy(log["v"]))
    close(warm.plan, expected.plan)


def test_sinkhorn_divergence() -> None:
    n = 10
    a = torch.arange(1, n + 1, dtype=torch.float64)
    a, b = a / a.sum(), torch.full((n,), 1 / n, dtype=torch.float64)
    x = torch.arange(n, dtype=torch.float64)[:, None]
    y = 2 * x

    def divergence(x: Tensor, y: Tensor, a: Tensor, b: Tensor) -> Tensor:
        return sinkhorn_divergence(squared(x, y), squared(x, x), squared(y, y), a, b)

    def value(cost: Tensor, a: Tensor, b: Tensor) -> float:
        solved = ot.solve(cost.numpy(), a.numpy(), b.numpy(), reg=1.0, reg_type="kl", tol=1e-13, max_iter=100000)
        return float(solved.value)

    theirs = value(squared(x, y), a, b) - value(squared(x, x), a, a) / 2 - value(squared(y, y), b, b) / 2
    close(divergence(x, y, a, b), torch.tensor(theirs, dtype=torch.float64), 1e-8)
    close(divergence(x, x, a, a), torch.tensor(0.0, dtype=torch.float64), 1e-11)
    assert bool(divergence(x, y, a, b) > 0)
    assert gradcheck(
        lambda x, y: divergence(x, y, a[:3] / a[:3].sum(), b[:3] * n / 3),
        (x[:3].clone().requires_grad_(), y[:3].clone().requires_grad_()),
    )
