"""Votes on: The introduction: weighted averages, convolutions, and weights that depend on the data."""

import torch
from torch import Tensor
from torch.nn.functional import conv1d

from evidence import Layer, Reading, Value, confirms
from evidence.deciphering.problem import sign_vectors
from evidence.instances.derivatives import jacobian
from evidence.instances.scenes import Scene, scenes
from numerics import one_sided


@confirms(Layer.TORCH, "geometric.s0.uniform-or-decay", on=scenes())
def decaying_weights(scene: Scene) -> Reading:
    age, gamma = scene.draw("A", scene.m).abs(), scene.draw("gamma", 1)[0].abs() + 0.1
    weights = torch.softmax(-gamma * age, -1)
    ratios = weights[:, None] / weights
    return scene.reading({"A": age, "gamma": gamma}, softmax=ratios)


@confirms(Layer.TORCH, "geometric.s0.smooths", on=scenes())
def averaged_noise(scene: Scene) -> Reading:
    noise = sign_vectors(scene.m).to(scene.device)
    return scene.reading({"p": scene.p}, enumerated=(noise @ scene.p).var(correction=0), scale=2.0**scene.m)


def filtered(image: Tensor, weights: Tensor) -> Tensor:
    """Images (rows) filtered at their one place by torch."""
    return conv1d(image[:, None], weights[None, None])[:, 0, 0]


@confirms(Layer.TORCH, "geometric.s0.not-expectations", on=scenes())
def single_pixels(scene: Scene) -> Reading:
    kernel, pixels = scene.draw("w", scene.m), torch.eye(scene.m, dtype=torch.float64, device=scene.device)
    return scene.reading({"w": kernel, "p": scene.p}, conv1d=filtered(pixels, kernel) - pixels @ scene.p)


@confirms(Layer.TORCH, "geometric.s0.blur-or-magnify", on=scenes(smallest=2))
def blurred(scene: Scene) -> Reading:
    pixels = scene.draw("V", scene.m)
    values: dict[str, Value] = {"p": scene.p, "peak": pixels.max(), "s": pixels.max() - pixels}
    return scene.reading(values, right=True, conv1d=filtered(pixels[None], scene.p)[0])


@confirms(Layer.TORCH, "geometric.s0.data-dependent", on=scenes())
def window_jacobian(scene: Scene) -> Reading:
    return scene.reading(
        {"x": scene.x},
        autograd=jacobian(lambda x: one_sided.plan(x, 1.0), scene.x),
        closed_form=one_sided.plan_jacobian(one_sided.plan(scene.x, 1.0), 1.0),
    )
