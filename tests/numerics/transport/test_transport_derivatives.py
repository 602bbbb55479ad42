"""Derivatives of entropic transport: through the solution, not through the iterations that found it."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from evidence.instances.transport import TransportProblem
from numerics import tolerances
from numerics.transport import relaxed_weights, sinkhorn, sinkhorn_weights
from tests.numerics.common import close
from tests.numerics.derivatives import check_once, check_twice
from tests.numerics.transport.problems import apart, connection, exponent, random_problem

# Forward-mode differentiation compiles decompositions that use features deprecated in the same release of PyTorch.
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")

F64 = torch.float64


def rounding(cost: Tensor, a: Tensor, b: Tensor, epsilon: float) -> tuple[float, float, float]:
    """How far apart two ways to a plan, to its slopes in C and to its potentials may be.

    A slope solves one more system with the plan's connection, over ε. A potential is ε times what scales a mass: an error of
    the plan counts there in proportion to the least mass.
    """
    plan = sinkhorn(cost, a, b, epsilon).plan.detach()
    x = TransportProblem(cost.detach(), a.detach(), b.detach(), epsilon, math.inf, "")
    value = apart(plan, exponent(x))
    least = float(torch.cat((x.source.flatten(), x.target.flatten())).min())
    once_more = 1 + 1 / math.sqrt(connection(plan))
    return value, value * once_more / epsilon, value * once_more * max(1.0, epsilon * exponent(x)) / math.sqrt(least)


BLOCKED = torch.tensor([[True, True, False, False], [True, True, False, False], [False, False, True, True]])


def leaves() -> tuple[Tensor, ...]:
    """Two costs (3, 4), logits of both marginals, ε, ρ, and an additive mask."""
    g = torch.Generator().manual_seed(0)
    cost, _, _ = random_problem(0, 3, 4, 2)
    a, b, mask = (torch.randn(*shape, generator=g, dtype=F64) for shape in ((2, 3), (4,), (3, 4)))
    numbers = torch.tensor([0.7, 1.3], dtype=F64), torch.tensor(0.9, dtype=F64)
    return tuple(x.requires_grad_() for x in (cost, a, b, *numbers, mask))


def balanced(c: Tensor, a: Tensor, b: Tensor, e: Tensor, r: Tensor, m: Tensor, **options: Tensor) -> tuple[Tensor, ...]:
    x = sinkhorn(c, a.softmax(-1), b.softmax(-1), e, mask=m, **options)
    return x.plan, x.value, x.row_potential, x.column_potential


def relaxed(c: Tensor, a: Tensor, b: Tensor, e: Tensor, r: Tensor, m: Tensor) -> tuple[Tensor, ...]:
    x = sinkhorn(c, a.exp(), b.exp(), e, relaxation=r, mask=m)
    return x.plan, x.value, x.row_potential, x.column_potential


def blocked(c: Tensor, a: Tensor, b: Tensor, e: Tensor, r: Tensor, m: Tensor) -> tuple[Tensor, ...]:
    """Two blocks that exchange no mass, so that each needs marginals of equal mass."""
    target = torch.cat(
        (
            b[..., :2].softmax(-1) * a.softmax(-1)[..., :2].sum(-1, keepdim=True),
            b[..., 2:].softmax(-1) * a.softmax(-1)[..., 2:],
        ),
        -1,
    )
    x = sinkhorn(c, a.softmax(-1), target, e, mask=BLOCKED)
    return x.plan, x.value, x.row_potential, x.column_potential


def zeros(c: Tensor, a: Tensor, b: Tensor, e: Tensor, r: Tensor, m: Tensor) -> tuple[Tensor, ...]:
    source = torch.cat((a[..., :2].softmax(-1), torch.zeros_like(a[..., :1])), -1)
    target = torch.cat((torch.zeros_like(b[..., :1]), b[..., 1:].softmax(-1)), -1)
    x = sinkhorn(c, source, target, e)
    return x.plan, x.value, x.row_potential, x.column_potential


FUNCTIONS: dict[str, Callable[..., Tensor | tuple[Tensor, ...]]] = {
    "relaxed": relaxed,
    "blocked": blocked,
    "zeros": zeros,
    "relaxed weights": lambda c, a, b, e, r, m: relaxed_weights(-c, e, r, b.softmax(-1), m),
}


def of_batches(function: Callable[..., Tensor | tuple[Tensor, ...]]) -> Callable[..., Tensor | tuple[Tensor, ...]]:
    """The function of leaves that may have an axis more in front: what both problems share gets an axis for them."""

    def batched(c: Tensor, a: Tensor, b: Tensor, e: Tensor, r: Tensor, m: Tensor) -> Tensor | tuple[Tensor, ...]:
        return function(c, a, b.unsqueeze(-2), e, r.unsqueeze(-1), m.unsqueeze(-3))

    return batched


@pytest.mark.parametrize("name", FUNCTIONS)
def test_first_and_second_derivatives(name: str) -> None:
    check_twice(of_batches(FUNCTIONS[name]), leaves(), batched=True)


@pytest.mark.parametrize("wrong", [0, 1, 3])
def test_a_wrong_derivative_is_detected(wrong: int) -> None:
    def detached(*x: Tensor) -> tuple[Tensor, ...]:
        return balanced(*(part.detach() if i == wrong else part for i, part in enumerate(x)))

    with pytest.raises((AssertionError, RuntimeError), match=r"Jacobian mismatch|derivative of output"):
        check_once(of_batches(lambda *x: tuple(part + 0 * x[0].sum() for part in detached(*x))), leaves(), batched=True)


def test_the_envelope() -> None:
    """∂W/∂C = P; ∂W/∂a = f and ∂W/∂b = g, along changes that keep the masses equal; ∂W/∂ε = Σ P log(P/ab)."""
    cost, a, b = (x.requires_grad_() for x in random_problem(1))
    epsilon = torch.tensor(0.3, dtype=F64, requires_grad=True)
    result = sinkhorn(cost, a, b, epsilon)
    slopes = torch.autograd.grad(result.value, (cost, a, b, epsilon))
    value, _, potential = rounding(cost, a, b, 0.3)
    close(slopes[0], result.plan, value)
    close(slopes[1] - slopes[1].mean(), result.row_potential - result.row_potential.mean(), potential)
    close(slopes[2] - slopes[2].mean(), result.column_potential - result.column_potential.mean(), potential)
    close(slopes[3], (result.plan * (result.plan / (a.unsqueeze(-1) * b)).log()).sum(), potential)


def test_the_derivative_of_the_plan_solves_the_bordered_system() -> None:
    """dP = P ∘ (df + dg − dC)/ε with fixed marginals: the linear system is solved here by its pseudo-inverse."""
    cost, a, b = random_problem(2)
    epsilon = 0.4
    plan = sinkhorn(cost, a, b, epsilon).plan
    n, m = cost.shape
    direction = torch.randn(n, m, generator=torch.Generator().manual_seed(3), dtype=F64)
    system = torch.cat((torch.cat((a.diag(), plan), 1), torch.cat((plan.T, b.diag()), 1)))
    change = torch.cat(((plan * direction).sum(1), (plan * direction).sum(0)))
    potentials = torch.linalg.pinv(system) @ change
    expected = plan * (potentials[:n, None] + potentials[n:] - direction) / epsilon
    _, tangent = torch.func.jvp(lambda c: sinkhorn(c, a, b, epsilon).plan, (cost,), (direction,))
    close(tangent, expected, rounding(cost, a, b, epsilon)[1] * float(direction.abs().max()))


def test_transforms() -> None:
    cost, a, b = random_problem(4, 3, 3)

    def plan(c: Tensor) -> Tensor:
        return sinkhorn(c, a, b, 0.5).plan

    slope = rounding(cost, a, b, 0.5)[1]
    close(torch.func.jacrev(plan)(cost), torch.func.jacfwd(plan)(cost), slope)

    def value(c: Tensor) -> Tensor:
        return sinkhorn(c, a, b, 0.5).value

    hessian = torch.func.jacfwd(torch.func.jacrev(value))(cost)
    close(hessian, torch.func.jacrev(plan)(cost), slope)
    scores = torch.stack((cost, cost.sin()))
    close(
        torch.func.vmap(lambda s: sinkhorn_weights(s, 1.0, 4))(scores),
        sinkhorn_weights(scores, 1.0, 4),
        5 * tolerances.plan("float64", 6, 3 * float(scores.max() - scores.min())),
    )


@pytest.mark.parametrize("relaxation", [2.0, math.inf])
def test_derivatives_at_a_mass_of_zero(relaxation: float) -> None:
    """The slopes of everything that is returned, in a mass that comes from another one; to second order, from inside."""
    cost, source, target = random_problem(3, 3, 4)
    target[1], target[0] = 0.0, target[0] + target[1]
    along = torch.tensor([-1.0, 1.0, 0.0, 0.0], dtype=F64)

    def results(target: Tensor) -> Tensor:
        solution = sinkhorn(cost, source, target, 0.5, relaxation=relaxation)
        f, g = solution.row_potential, solution.column_potential
        return torch.cat([solution.plan.flatten(), (f[:, None] + g).flatten(), solution.value[None]])

    first, second = (results(target + step * 1e-6 * along) for step in (1, 2))
    slope = torch.autograd.functional.jacobian(results, target) @ along
    close(slope, (4 * first - 3 * results(target) - second) / 2e-6, 1e-6)


def test_small_epsilon_has_derivatives_too() -> None:
    cost, a, b = random_problem(5, 5, 5)
    cost = cost.requires_grad_()
    result = sinkhorn(cost, a, b, 1e-3)
    (slope,) = torch.autograd.grad(result.value, cost, create_graph=True)
    close(slope, result.plan, rounding(cost, a, b, 1e-3)[0])
    (second,) = torch.autograd.grad(slope.square().sum(), cost)
    assert second.isfinite().all()


def test_forbidden_entries_have_the_derivative_zero() -> None:
    cost, a, b = random_problem(6)
    cost[0, 1] = cost[2, 4] = math.inf
    cost.requires_grad_()
    result = sinkhorn(cost, a, b, 0.3)
    total = result.plan.square().sum() + result.value + result.row_potential.square().sum()
    (first,) = torch.autograd.grad(total, cost, create_graph=True)
    (second,) = torch.autograd.grad(first.square().sum(), cost)
    for slope in (first, second):
        assert slope.isfinite().all()
        assert (slope[cost.detach() == math.inf] == 0).all()
    scores = -cost.detach().clone()
    scores[1] = -math.inf
    scores.requires_grad_()
    for half_steps in (0, 1, 4, math.inf):
        (slope,) = torch.autograd.grad(sinkhorn_weights(scores, 0.5, half_steps).square().sum(), scores)
        assert slope.isfinite().all()
        assert (slope[scores.detach() == -math.inf] == 0).all()
