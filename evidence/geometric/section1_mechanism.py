"""Votes on: “What is an Attention Mechanism”: the context vector and its parts."""

import torch

from evidence import Layer, Reading, Value, confirms
from evidence.instances.derivatives import log_density
from evidence.instances.scenes import WIDTH, Scene, scenes
from numerics import one_sided


@confirms(Layer.TORCH, "geometric.1", on=scenes())
def context(scene: Scene) -> Reading:
    values, shift = scene.draw("V", scene.m, WIDTH), scene.draw("v", WIDTH)
    return scene.reading(
        {"d": WIDTH, "p": scene.p, "V": values, "v": shift}, closed_form=one_sided.context(scene.p, values + shift)
    )


@confirms(Layer.TORCH, "geometric.s1.context", on=scenes(smallest=2))
def in_half_space(scene: Scene) -> Reading:
    values, normal = scene.draw("V", scene.m, WIDTH), scene.draw("v", WIDTH)
    heights = values @ normal
    point: dict[str, Value] = {"p": scene.p, "bound": heights.max(), "s": heights.max() - heights}
    return scene.reading(point, right=True, closed_form=one_sided.context(scene.p, values) @ normal)


@confirms(Layer.TORCH, "geometric.s1.random-location", on=scenes())
def probability_of_location(scene: Scene) -> Reading:
    law = torch.distributions.Categorical(probs=scene.p)
    return scene.reading({"p": scene.p}, categorical=log_density(law, torch.arange(scene.m, device=scene.device)).exp())


@confirms(Layer.TORCH, "geometric.s1.value", on=scenes())
def paired_context(scene: Scene) -> Reading:
    values, g = scene.draw("V", scene.m, WIDTH), scene.draw("g", WIDTH)
    return scene.reading({"d": WIDTH, "p": scene.p, "V": values, "g": g}, closed_form=one_sided.context(scene.p, values) @ g)
