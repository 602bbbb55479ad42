"""Derivatives by autograd, apart from every closed form, and densities by `torch.distributions`."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.autograd import functional
from torch.distributions import Distribution


def gradient(function: Callable[[Tensor], Tensor], point: Tensor, *, again: bool = False) -> Tensor:
    """∂f/∂x of a function with one number, in the shape of the point; it can be differentiated `again`."""
    point = point.clone().requires_grad_()
    return torch.autograd.grad(function(point), point, create_graph=again)[0]


def derivative(function: Callable[[Tensor], Tensor], order: int) -> Tensor:
    """The derivative of an order of a function of one number, at 0."""
    at = torch.zeros((), dtype=torch.float64, requires_grad=True)
    value = function(at)
    for _ in range(order):
        if not value.requires_grad:
            return torch.zeros((), dtype=torch.float64)
        value = torch.autograd.grad(value, at, create_graph=True, materialize_grads=True)[0]
    return value.detach()


def jacobian(function: Callable[[Tensor], Tensor], point: Tensor) -> Tensor:
    """∂f/∂x, the axes of the result before those of the point."""
    slopes: Tensor = functional.jacobian(function, point)  # type: ignore[no-untyped-call]
    return slopes


def hessian(function: Callable[[Tensor], Tensor], point: Tensor) -> Tensor:
    """∂²f/∂x² of a function with one number, with the axes of the point twice."""
    curvature: Tensor = functional.hessian(function, point)  # type: ignore[no-untyped-call]
    return curvature


def along(function: Callable[[Tensor], Tensor], point: Tensor, direction: Tensor) -> Tensor:
    """The derivative in a direction, in the shape of the result."""
    speed: Tensor = functional.jvp(function, point, direction)[1]  # type: ignore[no-untyped-call]
    return speed


def log_density(law: Distribution, point: Tensor) -> Tensor:
    """The logarithm of a law's density, or of its mass, at a point."""
    return law.log_prob(point)
