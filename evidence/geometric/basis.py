"""Sections 5 and 7 of geometric in torch: basis functions, the start before the data, and the gradient that reaches θ."""

from torch import Tensor

from evidence import Value
from evidence.instances.scenes import BASIS, Scene


def basis(scene: Scene) -> tuple[Tensor, Tensor, Tensor]:
    """Φ, θ and η."""
    return scene.draw("phi", scene.m, BASIS), scene.draw("theta", BASIS), scene.draw("eta", BASIS)


def named(scene: Scene) -> dict[str, Value]:
    """The same by their printed names."""
    phi, theta, eta = basis(scene)
    return {"M": BASIS, "phi": phi, "theta": theta, "eta": eta}
