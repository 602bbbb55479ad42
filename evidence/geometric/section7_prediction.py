"""Votes on: “Using an Attention Mechanism in a Prediction Model”: learning θ together with the model."""

from evidence import Layer, Reading, confirms
from evidence.geometric.basis import basis, named
from evidence.instances.derivatives import gradient
from evidence.instances.scenes import WIDTH, Scene, scenes
from numerics import one_sided


@confirms(Layer.TORCH, "geometric.s7.jointly", on=scenes())
def gradient_in_theta(scene: Scene) -> Reading:
    (phi, theta, _), values, g = basis(scene), scene.draw("V", scene.m, WIDTH), scene.draw("g", WIDTH)
    backward = gradient(lambda own: one_sided.context(one_sided.plan(phi @ own, 1.0), values) @ g, theta)
    plan = one_sided.plan(phi @ theta, 1.0)
    return scene.reading(
        named(scene) | {"d": WIDTH, "V": values, "g": g},
        scale=64.0,
        autograd=backward,
        closed_form=-phi.T @ one_sided.score_gradient(plan, values @ g, 1.0),
    )
