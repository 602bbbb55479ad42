"""Derivatives of functions whose derivatives are known."""

import math

import pytest
import torch
from torch import Tensor

from evidence.instances.derivatives import along, derivative, gradient, hessian, jacobian, log_density

X = torch.tensor([0.5, -1.0, 2.0], dtype=torch.float64)


def cubes(x: Tensor) -> Tensor:
    return (x**3).sum()


def test_a_gradient_leaves_its_point_as_it_was() -> None:
    torch.testing.assert_close(gradient(cubes, X), 3 * X**2)
    assert not X.requires_grad
    assert not gradient(cubes, X).requires_grad


def test_a_gradient_is_differentiated_again_only_if_it_is_asked_for() -> None:
    torch.testing.assert_close(gradient(lambda x: gradient(cubes, x, again=True).sum(), X), 6 * X)
    with pytest.raises(RuntimeError, match="does not require grad"):
        gradient(lambda x: gradient(cubes, x).sum(), X)


def test_a_jacobian_has_the_axes_of_the_result_first() -> None:
    torch.testing.assert_close(
        jacobian(lambda x: torch.outer(torch.tensor([1.0, 2.0]).double(), x)[:, :2], X)[1, 0], 2 * torch.eye(3).double()[0]
    )
    torch.testing.assert_close(hessian(cubes, X), (6 * X).diag())
    torch.testing.assert_close(along(lambda x: x**3, X, torch.ones_like(X)), 3 * X**2)


@pytest.mark.parametrize(("order", "known"), [(0, 1.0), (1, 2.0), (3, 8.0)])
def test_a_derivative_at_0(order: int, known: float) -> None:
    assert float(derivative(lambda t: (2 * t).exp(), order)) == pytest.approx(known)


@pytest.mark.parametrize("function", [lambda t: t, lambda t: torch.ones_like(t), lambda t: 3 * t])
def test_what_does_not_bend_has_no_second_derivative(function: object) -> None:
    assert float(derivative(function, 2)) == 0  # type: ignore[arg-type]


def test_a_density() -> None:
    law = torch.distributions.Normal(torch.tensor(0.0), torch.tensor(1.0))
    assert float(log_density(law, torch.tensor(0.0))) == pytest.approx(-math.log(2 * math.pi) / 2)
