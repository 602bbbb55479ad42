"""Votes on: Appendix D, third part: the cumulant expansion of the dual."""

from collections.abc import Callable

import torch
from torch import Tensor

from evidence import Layer, Reading, Sampled, confirms
from evidence.deciphering.transport import ANY, approximation, coefficient, dual, reading
from evidence.instances.ot import OtProblem
from numerics import ot_attention as ot


def cumulant(x: OtProblem, lam: Tensor, j: int) -> Tensor:
    """log M_j(λ/γ) for the j-th column's distribution."""
    return torch.logsumexp(x["Q"][j].log() + x["T"] @ lam / x.gamma, 0)


def each(x: OtProblem, function: Callable[[int], Tensor]) -> Tensor:
    """One number for each template."""
    return torch.stack([function(j) for j in range(x.N)])


@confirms(Layer.TORCH, "deciphering.sD.conditional", on=ANY)
def mass(x: OtProblem) -> Reading:
    return reading(x, kernel=ot.kernel(x["M"].T, x.gamma).sum(0))


@confirms(Layer.TORCH, "deciphering.42", on=ANY)
def inner_sum(x: OtProblem) -> Reading:
    logits = ((x["T"] @ x["lam"])[None, :] - x["M"]) / x.gamma
    return reading(x, logits, logsumexp=torch.logsumexp(logits, -1))


@confirms(Layer.TORCH, "deciphering.43", on=ANY, count=16)
def second_cumulant(x: OtProblem) -> Reading:
    cumulants = each(x, lambda j: coefficient(lambda s: cumulant(x, s * x["v"], j), 2))
    return reading(x, (x["T"] @ x["v"] / x.gamma) ** 2, autograd=cumulants)


def third_cumulant(x: OtProblem) -> Reading:
    cumulants = each(x, lambda j: coefficient(lambda s: cumulant(x, s * x["v"], j), 3))
    return reading(x, 1.0, (x["T"] @ x["v"] / x.gamma).abs() ** 3, autograd=cumulants)


@confirms(Layer.TORCH, "deciphering.sD.cumulant", on=ANY, count=16, corrected=third_cumulant)
def not_homogeneous(x: OtProblem) -> Reading:
    products = each(x, lambda j: cumulant(x, 4 * x["lam"], j) * cumulant(x, x["lam"], j))
    return reading(x, products, extra={"j": 1}, autograd=products[0])


@confirms(Layer.TORCH, "deciphering.44", on=ANY, count=16)
def first_cumulant(x: OtProblem) -> Reading:
    cumulants = each(x, lambda j: coefficient(lambda s: cumulant(x, s * x["v"], j), 1))
    return reading(x, x["T"] @ x["v"] / x.gamma, autograd=cumulants)


@confirms(Layer.TORCH, "deciphering.45", on=ANY, count=16)
def covariances(x: OtProblem) -> Reading:
    ones = torch.eye(x.N, dtype=torch.float64, device=x.device)
    matrices = ot.mean_covariance(x["T"], ones, x["M"], x.gamma)
    return reading(x, x["T"] ** 2, closed_form=matrices.permute(1, 2, 0))


@confirms(Layer.TORCH, "deciphering.sD.dual-expanded", on=ANY, count=16)
def dual_to_second_order(x: OtProblem) -> Reading:
    second = coefficient(lambda s: dual(x, s * x["v"], x["z"]), 2)
    return reading(
        x,
        x["v"] ** 2 / x.alpha,
        (x["T"] @ x["v"]) ** 2 / x.gamma,
        extra={"Z": torch.ones(x.N, dtype=torch.float64)},
        autograd=second,
    )


def bracket(x: OtProblem) -> Reading:
    zero = torch.zeros_like(x["z"])
    value = -approximation(x, x["lam"], zero) - x["lam"] @ x["lam"] / (2 * x.alpha)
    return reading(x, (x["T"] @ x["lam"]) ** 2 / x.gamma, extra={"j": 1}, closed_form=value)


VOTES = [Sampled("deciphering.sD.dual-third-line", Layer.TORCH, bracket, on=ANY, count=16, corrected=bracket)]
