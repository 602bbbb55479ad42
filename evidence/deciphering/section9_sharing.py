"""Votes on: Section 9, second half: which templates get weight, and the costs of the examples."""

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from evidence import Layer, Reading, Sampled, Value, confirms
from evidence.deciphering.transport import reading
from evidence.deciphering.transport_sharing import ANY, Input, inputs, weights
from evidence.instances.ot import OtProblem, ot_problems
from numerics import attention
from numerics import ot_attention as ot


def ratio_of_shares(x: Input) -> Reading:
    plan = ot.coupling(x["alpha"] * x["y"], x["prior"], x["K"], float(x["gamma"]))
    ratios = plan[:, None, :] / plan[None, :, :]  # axes i, h, l; in the claim by name: h, i, l
    return x.reading(ratios, coupling=ratios.transpose(0, 1))


def as_an_average(x: Input) -> Reading:
    return x.reading(closed_form=x.weights().expand(x.N, x.N))  # axes h, i


def group(x: Input, inner: Tensor) -> Tensor:
    """The weights in a group of N templates with one member in the input, and a second group with another one."""
    labels = torch.tensor([0] * x.N + [1, 1], device=x.device)
    templates = torch.cat([inner, torch.ones(2, dtype=torch.float64, device=x.device)])[:, None]
    prior = torch.stack([x["v"], torch.ones_like(x["v"])])
    cost = ot.group_cost(labels, torch.tensor([0, 1], device=x.device), torch.float64)
    evidence = torch.ones(1, dtype=torch.float64, device=x.device)
    return ot.weights(templates, evidence, prior, cost, float(x["alpha"]), float(x["gamma"]))[: x.N]


def equal_products(x: Input) -> Reading:
    return x.reading(extra={"G": x.N, "m": x["s"].cpu(), "g": 1}, group_cost=group(x, x["s"].expand(x.N))[0])


def member(x: Input) -> Reading:
    return x.reading(extra={"G": x.N, "s": x["inner"].cpu(), "g": 1}, group_cost=group(x, x["inner"])[0])


def left_alone(x: Input) -> Reading:
    """Weights where the last template is a group without a member in the input."""
    groups = torch.tensor([0] * (x.N - 1) + [1], device=x.device)
    prior = torch.ones(x.N, dtype=torch.float64, device=x.device) * (groups == 0) / (x.N - 1)
    cost = ot.group_cost(groups, groups, torch.float64)
    kernel, one = ot.kernel(cost, float(x["gamma"])).T, torch.ones(1, dtype=torch.float64, device=x.device)
    weights = ot.weights(x["y"][:, None], one, prior, cost, float(x["alpha"]), float(x["gamma"]))
    extra: dict[str, Value] = {"d": 1, "T": x["y"][:, None].cpu(), "z": one.cpu(), "u": prior.cpu(), "Q": kernel.cpu()}
    return x.reading(extra=extra, group_cost=weights)


@confirms(Layer.TORCH, "deciphering.s9.regular-attention", on=inputs(smallest=2))
def weight_outside(x: Input) -> Reading:
    outside = (x["sparse"] == 0).double() * x["inner"].abs()
    one = torch.ones(1, dtype=torch.float64, device=x.device)
    by_prior = attention.attention_weights(x["y"][:, None], one[None], x["sparse"].log(), float(x["alpha"]))
    values = torch.diag(outside)[None]
    masked = scaled_dot_product_attention(
        (x["alpha"] * one).reshape(1, 1, 1),
        x["y"].reshape(1, -1, 1),
        values,
        attn_mask=x["sparse"].log().reshape(1, 1, -1),
        scale=1.0,
    )
    extra: dict[str, Value] = {"u": x["sparse"].cpu(), "o": outside.cpu()}
    return x.reading(extra=extra, prior=outside @ by_prior.reshape(-1), sdpa=masked.sum())


@confirms(Layer.TORCH, "deciphering.s9.nonnegative-cost", on=ANY)
def cost_with_bound(x: OtProblem) -> Reading:
    bound = (x["T"] @ x["T"].T).max()
    cost = ot.negative_inner_product(x["T"], constant=bound)
    return reading(x, bound, extra={"C": bound}, closed_form=cost)


def cost_on_a_sphere(x: OtProblem) -> Reading:
    unit = x["T"] / x["T"].norm(dim=-1, keepdim=True)
    unit = torch.cat([unit, torch.zeros_like(unit[:, :1])], -1)  # room for templates that differ also where d = 1
    unit[0] = torch.roll(unit[0], -1) if torch.allclose(unit[0], unit[1]) else unit[0]
    cost = ot.negative_inner_product(unit, constant=1.0)
    return reading(x, extra={"T": unit, "C": 1.0, "d": x.d + 1, "j": 1, "k": 2}, closed_form=cost[1, 0])


@confirms(Layer.TORCH, "deciphering.s9.experiment-cost", on=ot_problems(smallest=2), corrected=cost_on_a_sphere)
def cost_of_another(x: OtProblem) -> Reading:
    bound = (x["T"] @ x["T"].T).max()
    cost = ot.negative_inner_product(x["T"], constant=bound)
    return reading(x, bound, extra={"C": bound, "j": 1, "k": 2}, closed_form=cost[1, 0])


@confirms(Layer.TORCH, "deciphering.s9.experiment-scale", on=ANY)
def weights_of_the_experiment(x: OtProblem) -> Reading:
    cost = ot.negative_inner_product(x["T"])
    return reading(
        x, x["T"] ** 2, (x["T"] @ x["T"].T), x["z"] ** 2, weights=ot.weights(x["T"], x["z"], x["u"], cost, 1.0, x.d**0.5)
    )


VOTES = [
    Sampled("deciphering.s9.all-templates", Layer.TORCH, weights, on=inputs()),
    Sampled("deciphering.s9.shares-weight", Layer.TORCH, ratio_of_shares, on=inputs()),
    Sampled("deciphering.s9.synonyms", Layer.TORCH, as_an_average, on=inputs()),
    Sampled("deciphering.s9.group-sharing", Layer.TORCH, member, on=inputs(), corrected=equal_products),
    Sampled("deciphering.s9.group-costs", Layer.TORCH, left_alone, on=inputs(smallest=2), corrected=member),
]
