"""Votes on: “Softmax Attention”: the framing and its result."""

import torch

from evidence import Layer, Reading, Sampled, confirms
from evidence.geometric.conic_weights import conic_solution, problems
from evidence.instances.scenes import Scene, scenes
from numerics import one_sided


@confirms(Layer.TORCH, "geometric.s6.framing", on=scenes())
def solution_of_framing(scene: Scene) -> Reading:
    return scene.reading({"f": scene.x}, closed_form=one_sided.plan(scene.x, 1.0), softmax=torch.softmax(scene.x, -1))


@confirms(Layer.TORCH, "geometric.7", on=scenes())
def unnormalized(scene: Scene) -> Reading:
    return scene.reading({"f": scene.x}, torch=torch.softmax(scene.x, -1) * torch.logsumexp(scene.x, -1).exp())


VOTES = [Sampled("geometric.s6.framing", Layer.PRIMAL, conic_solution, on=problems(), count=16)]
