"""The prediction model: a summary of the data makes weights, the weights a context, and the context a prediction.

    data x  →  θ(x)  →  f_t(x) = θ(x)ᵀφ(t)  →  weights p  →  c = E_p[V(T)]  →  logits

The arms differ in where the weights come from; V and the classifier are the same networks, which start from the same numbers.
V(t) represents the data at t: one pixel, or one row.  The mean of such a V by uniform weights does not tell where in an image
something is, and weights that depend on t do.  So that the experiment can say when that matters, four more arms let V see what
lies around t, or t itself as well.

Notation    x = an image, 8 × 8; t = a location, a pixel or a row, in [−1, 1]^d; θ = theta; V = values; c = context
Claims      geometric.5, geometric.6, geometric.7, geometric.s7.end-to-end, geometric.s7.good-predictions
"""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus, unfold

from numerics import continuous, one_sided

SIDE = 8
WIDTH, HIDDEN = 16, 32  # of V(t) and c; of the layer before V
NARROWEST = 0.1  # the least standard deviation of a density; pixels are 0.29 apart
RIDGE = 0.01
BUMPS = 6  # of the basis, along each axis

Where = Literal["pixels", "rows"]


@dataclass(frozen=True)
class Arm:
    """Where the weights come from.

    Attributes:
        description: what it is, for a table.
        kind: of weights: none at all, one score for each location, or a density with quadratic scores.
        learned: whether θ is trained.
        sees: whether θ depends on x; otherwise the same weights serve every image.
        view: what V(t) sees: the data at t, or also its neighbours, or t as well.
        lines_only: whether the locations have to lie on a line.
    """

    description: str
    kind: Literal["uniform", "canonical", "quadratic", "gaussian", "parabola"]
    learned: bool = True
    sees: bool = True
    view: Literal["here", "near", "placed"] = "here"
    lines_only: bool = False


ARMS = {
    "uniform": Arm("θ = 0: the plain mean of V", "uniform", learned=False),
    "untrained": Arm("θ(x) left as it was drawn, φ(t) = e_t", "canonical", learned=False),
    "constant": Arm("θ learned, the same for every x, φ(t) = e_t", "canonical", sees=False),
    "softmax": Arm("θ(x) learned, φ(t) = e_t", "canonical"),
    "quadratic": Arm("θ(x) learned, φ(t) = (t, ttᵀ)", "quadratic"),
    "continuous": Arm("θ(x) learned, a Gaussian over the continuum", "gaussian"),
    "sparsemax": Arm("θ(x) learned, a truncated parabola over the continuum", "parabola", lines_only=True),
    "uniform-near": Arm("θ = 0, V sees what is around t", "uniform", learned=False, view="near"),
    "softmax-near": Arm("θ(x) learned, φ(t) = e_t, V sees what is around t", "canonical", view="near"),
    "uniform-placed": Arm("θ = 0, V sees what is around t, and t", "uniform", learned=False, view="placed"),
    "softmax-placed": Arm("θ(x) learned, φ(t) = e_t, V sees what is around t, and t", "canonical", view="placed"),
}


def arms_for(where: Where) -> tuple[str, ...]:
    """The arms that can be used for these locations."""
    return tuple(name for name, arm in ARMS.items() if where == "rows" or not arm.lines_only)


def locations(where: Where) -> Tensor:
    """Where the pixels or the rows lie, (64, 2) or (8, 1)."""
    axis = torch.linspace(-1, 1, SIDE)
    return torch.cartesian_prod(axis, axis) if where == "pixels" else axis[:, None]


def data(images: Tensor, where: Where) -> Tensor:
    """The data x of images (n, 8, 8), location by location: (n, 64, 1) of pixels, (n, 8, 8) of rows."""
    return images.flatten(1)[..., None] if where == "pixels" else images


def surroundings(images: Tensor, where: Where) -> Tensor:
    """The data at each location and its neighbours, zeros beyond the border: (n, 64, 9) of pixels, (n, 8, 24) of rows."""
    if where == "pixels":
        return unfold(images[:, None], 3, padding=1).mT
    return unfold(images[:, None], (3, SIDE), padding=(1, 0)).mT


class Predictor(nn.Module):
    """One arm.

    Args:
        arm: a name in ``ARMS``.
        where: the locations.
        classes: how many.

    Raises:
        ValueError: for an arm that does not go with these locations.
    """

    points: Tensor
    centers: Tensor

    def __init__(self, arm: str, where: Where, classes: int = 10) -> None:
        super().__init__()
        if arm not in arms_for(where):
            raise ValueError(f"arm: expected one of {', '.join(arms_for(where))} for {where}, got {arm!r}")
        self.arm, self.where = ARMS[arm], where
        self.register_buffer("points", locations(where))
        d = self.points.shape[-1]
        seen = self.seen(torch.zeros(1, SIDE, SIDE)).shape[-1]
        self.values = nn.Sequential(nn.Linear(seen, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, WIDTH))
        self.classifier = nn.Sequential(nn.BatchNorm1d(WIDTH), nn.Linear(WIDTH, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, classes))
        size = len(self.points) if self.arm.kind == "canonical" else d + d * (d + 1) // 2
        self.theta = nn.Linear(SIDE * SIDE, size) if self.arm.kind != "uniform" else None
        if self.theta is not None:
            self.theta.requires_grad_(self.arm.learned)
        axis = torch.linspace(-1, 1, BUMPS)
        self.register_buffer("centers", torch.cartesian_prod(axis, axis) if d == 2 else axis[:, None])

    def forward(self, images: Tensor) -> Tensor:
        """Return logits (n, classes) of images (n, 8, 8) with values in [0, 1]."""
        logits: Tensor = self.classifier(self.context(images, self.values(self.seen(images))))
        return logits

    def seen(self, images: Tensor) -> Tensor:
        """Return what V sees at each location, (n, |S|, width)."""
        if self.arm.view == "here":
            return data(images, self.where)
        around = surroundings(images, self.where)
        if self.arm.view == "near":
            return around
        return torch.cat([around, self.points.expand(len(images), -1, -1)], -1)

    def context(self, images: Tensor, values: Tensor) -> Tensor:
        """Return c = E_p[V(T)], (n, WIDTH): a sum over locations, or B E_p[ψ] for the function V that fits the values."""
        if self.arm.kind not in ("gaussian", "parabola"):
            return (self.weights(images)[:, None] @ values).squeeze(1)
        coefficients, basis = self.fitted(values)
        return continuous.attend(
            coefficients, *self.density(images), basis, "softmax" if self.arm.kind == "gaussian" else "sparsemax"
        )

    def fitted(self, values: Tensor) -> tuple[Tensor, continuous.Basis]:
        """Return the B (n, WIDTH, N) of the function V(t) = Bψ(t) that fits values at the locations, and ψ."""
        basis = continuous.Basis(self.centers, 2 / (BUMPS - 1))
        return continuous.fit(values, self.points, basis, RIDGE), basis

    def weights(self, images: Tensor) -> Tensor:
        """Return the weights at the locations, (n, |S|); of a density, its values there, scaled to the sum 1."""
        if self.arm.kind == "uniform":
            return torch.full((len(images), len(self.points)), 1 / len(self.points))
        if self.arm.kind == "canonical":
            return one_sided.plan(self.summary(images))
        mean, covariance = self.density(images)
        if self.arm.kind == "parabola":
            output = continuous.sparsemax_density(self.points, mean, covariance)
            return output / output.sum(-1, keepdim=True).clamp(min=torch.finfo(output.dtype).tiny)
        return one_sided.plan(continuous.scores(self.points, *continuous.natural(mean, covariance)))

    def density(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """Return μ(x) in [−1, 1]^d and Σ(x), the parameters of quadratic scores θ₁(x)ᵀt + tᵀΘ₂(x)t with Θ₂ < 0."""
        raw = self.summary(images)
        d = self.points.shape[-1]
        rows, columns = torch.tril_indices(d, d)
        lower = raw.new_zeros(len(raw), d, d)
        lower[:, rows, columns] = raw[:, d:]
        diagonal = lower.diagonal(dim1=-2, dim2=-1)
        lower = lower.tril(-1) + torch.diag_embed(softplus(diagonal) + NARROWEST)
        return raw[:, :d].tanh(), lower @ lower.mT

    def summary(self, images: Tensor) -> Tensor:
        """Return θ(x), linear in x, or its constant part."""
        assert self.theta is not None
        x = images.flatten(1)
        output: Tensor = self.theta(x if self.arm.sees else torch.zeros_like(x))
        return output
