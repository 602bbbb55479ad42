"""Votes on: “Parametrizing the Summary”: basis functions, and what they say about the weights before the data are seen."""

import math

import torch
from torch import Tensor
from torch.nn.functional import linear, one_hot

from evidence import Layer, Reading, Value, confirms
from evidence.geometric.basis import basis, named
from evidence.instances.derivatives import gradient
from evidence.instances.scenes import BASIS, FEATURES, UNITS, WIDTH, Scene, scenes
from numerics import one_sided, priors


def identity(scene: Scene) -> Tensor:
    """φ(t) = e_t."""
    return torch.eye(scene.m, dtype=torch.float64, device=scene.device)


@confirms(Layer.TORCH, "geometric.6", on=scenes())
def summary(scene: Scene) -> Reading:
    phi, theta, eta = basis(scene)
    return scene.reading(named(scene), direct=phi @ (theta + eta))


@confirms(Layer.TORCH, "geometric.s5.backpropagation", on=scenes())
def returned_gradient(scene: Scene) -> Reading:
    (phi, theta, _), g = basis(scene), scene.draw("g", scene.m)
    return scene.reading(named(scene) | {"g": g}, autograd=gradient(lambda own: g @ (phi @ own), theta))


def log_odds(scene: Scene) -> Reading:
    phi, theta, _ = basis(scene)
    logs = torch.log_softmax(phi @ theta, -1)
    plan = one_sided.plan(phi @ theta, 1.0).log()
    return scene.reading(named(scene), log_softmax=logs[:, None] - logs, closed_form=plan[:, None] - plan, scale=16.0)


@confirms(Layer.TORCH, "geometric.s5.starting-importance", on=scenes(), corrected=log_odds)
def start(scene: Scene) -> Reading:
    phi, theta, _ = basis(scene)
    return scene.reading(named(scene), closed_form=one_sided.plan(phi @ theta, 1.0))


@confirms(Layer.TORCH, "geometric.s5.additive-score", on=scenes())
def additive_score(scene: Scene) -> Reading:
    state, annotations = scene.draw("state", WIDTH), scene.draw("X", scene.m, FEATURES)
    w, u, v = scene.draw("W", UNITS, WIDTH) / WIDTH, scene.draw("U", UNITS, FEATURES) / WIDTH, scene.draw("v", UNITS)
    values: dict[str, Value] = {"H": UNITS, "d": WIDTH, "D": FEATURES, "W": w, "U": u, "state": state, "X": annotations, "v": v}
    hidden = torch.tanh(linear(state, w) + linear(annotations, u))
    pairs = torch.cat((state.expand(scene.m, WIDTH), annotations), -1)
    return scene.reading(
        values,
        scale=64.0,
        tanh=linear(hidden, v[None])[:, 0],
        concatenated=(2 * torch.sigmoid(2 * pairs @ torch.cat((w, u), -1).T) - 1) @ v,
    )


@confirms(Layer.TORCH, "geometric.s5.dot-product", on=scenes())
def scaled_product(scene: Scene) -> Reading:
    query, keys = scene.draw("query", BASIS), scene.draw("keys", scene.m, BASIS)
    library = one_sided.scores_from(query, keys) / math.sqrt(BASIS)
    return scene.reading({"M": BASIS, "Q": query, "K": keys}, linear=linear(query / math.sqrt(BASIS), keys), library=library)


def equal_entries(scene: Scene) -> Reading:
    level = scene.draw("theta0", 1)
    return scene.reading({"theta0": level[0]}, closed_form=one_sided.plan(identity(scene) @ level.expand(scene.m), 1.0))


@confirms(Layer.TORCH, "geometric.s5.uniform-start", on=scenes(), corrected=equal_entries)
def any_entries(scene: Scene) -> Reading:
    xi = scene.draw("xi", scene.m)
    return scene.reading({"xi": xi}, closed_form=one_sided.plan(identity(scene) @ xi, 1.0))


@confirms(Layer.TORCH, "geometric.s5.update", on=scenes())
def updated(scene: Scene) -> Reading:
    phi, theta, _ = basis(scene)
    first = scene.draw("start", BASIS)
    return scene.reading(
        named(scene) | {"start": first},
        scale=16.0,
        softmax=torch.softmax(phi @ theta, -1),
        tilted=priors.tilted(phi @ first, phi @ (theta - first)),
    )


def kernels_of(scene: Scene) -> Tensor:
    """BASIS Gaussian kernels at each location."""
    return torch.exp(-(scene.draw("distance", scene.m, BASIS) ** 2) / 2)


def kernel_start(scene: Scene) -> Reading:
    kernels = kernels_of(scene)
    chosen = one_hot(torch.arange(BASIS, device=scene.device)).double()
    summaries = chosen @ kernels.log().T  # θ₀ᵀφ(t), in a row for each choice of θ₀
    return scene.reading(
        {"M": BASIS, "κ": kernels},
        closed_form=one_sided.plan(summaries, 1.0),
        mask=priors.prior_from_mask(torch.ones_like(summaries, dtype=torch.bool), summaries),
    )


@confirms(Layer.TORCH, "geometric.s5.other-starts", on=scenes(smallest=2), corrected=kernel_start)
def start_of_any_coefficients(scene: Scene) -> Reading:
    """The start for a θ that chooses no kernel."""
    kernels, theta = kernels_of(scene), scene.draw("theta", BASIS)
    plan = one_sided.plan(kernels.log() @ theta, 1.0)
    return scene.reading({"M": BASIS, "κ": kernels, "theta": theta}, closed_form=plan.expand(BASIS, -1))
