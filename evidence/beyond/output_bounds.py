"""Votes on: How far attention is from the exact solution, by what is known before anything is computed."""

from collections.abc import Callable, Mapping, Sequence

import torch
from hypothesis import strategies as st
from torch import Tensor

from evidence import Layer, Observed, Reading, Sampled, choose, confirms
from evidence.beyond.search import Free, Problem, sought
from evidence.beyond.smoothness import diameter
from evidence.instances.derivatives import gradient, hessian
from numerics import mem, tolerances

Values = Mapping[str, Tensor]
Sides = Callable[[Values], tuple[Tensor, Tensor]]


def shapes(m: int) -> dict[str, tuple[int, ...]]:
    """m templates of the plane with a prior, two dual points and α."""
    return {"T": (m, 2), "u": (m,), "lam": (2,), "alpha": (), "y": (2,)}


def solved(free: Free) -> dict[str, Tensor]:
    """A problem with its solution: the evidence is the one for which the drawn λ maximizes the dual."""
    templates, alpha = torch.tanh(free["T"]), torch.tanh(free["alpha"]).exp()
    dual, other = torch.tanh(free["lam"]), torch.tanh(free["y"])
    logits = free["u"] - free["u"].mean(-1, keepdim=True)
    prior = torch.softmax(3 * torch.tanh(logits / 3), -1)

    def tilted(lam: Tensor) -> Tensor:
        return torch.softmax(torch.einsum("bnd,bd->bn", templates, lam) + prior.log(), -1)

    def mean(weights: Tensor) -> Tensor:
        return torch.einsum("bn,bnd->bd", weights, templates)

    exact = tilted(dual)
    g = mean(exact - prior)
    one_pass = tilted(dual + alpha[:, None] * g)
    divergence = (one_pass * (one_pass.log() - exact.log())).sum(-1)
    far = diameter(templates)
    return {
        "T": templates,
        "u": prior,
        "lam": dual,
        "alpha": alpha,
        "D": far,
        "g": g,
        "e": mean(one_pass - exact),
        "K": divergence.clamp(min=0),
        "kappa": alpha * far**2 / 4,
        "y": other,
        "E": mean(exact - tilted(other)),
    }


def squared(x: Tensor) -> Tensor:
    """‖·‖²."""
    return x.square().sum(-1)


def evidence(x: Values) -> Tensor:
    """z."""
    return x["lam"] / x["alpha"][:, None] + x["g"]


def counts(m: int) -> dict[str, int]:
    """The sizes by their printed names."""
    return {"n": m, "d": 2}


def deviation_sides(x: Values) -> tuple[Tensor, Tensor]:
    """q²‖λ*‖² and ‖αz − λ*‖²."""
    return x["kappa"] ** 2 * squared(x["lam"]), squared(x["alpha"][:, None] * evidence(x) - x["lam"])


def query_sides(x: Values) -> tuple[Tensor, Tensor]:
    """q²‖z‖² and (1 + q)²‖z − λ*/α‖²."""
    deviation = evidence(x) - x["lam"] / x["alpha"][:, None]
    return x["kappa"] ** 2 * squared(evidence(x)), (1 + x["kappa"]) ** 2 * squared(deviation)


def output_sides(x: Values) -> tuple[Tensor, Tensor]:
    """q⁴‖z‖² and (1 + q)²‖h_c − ĥ‖²."""
    return x["kappa"] ** 4 * squared(evidence(x)), (1 + x["kappa"]) ** 2 * squared(x["e"])


def weights_sides(x: Values) -> tuple[Tensor, Tensor]:
    """αq³‖z‖² and (1 + q)² times both divergences, which are α⟨g, e⟩."""
    divergences = x["alpha"] * (x["g"] * x["e"]).sum(-1)
    return x["alpha"] * x["kappa"] ** 3 * squared(evidence(x)), (1 + x["kappa"]) ** 2 * divergences


def objective_sides(x: Values) -> tuple[Tensor, Tensor]:
    """α/2 q³/(1 + q) ‖z‖², and the excess objective of attention."""
    most = x["alpha"] / 2 * x["kappa"] ** 3 / (1 + x["kappa"]) * squared(evidence(x))
    return most, x["K"] + x["alpha"] / 2 * squared(x["e"])


def pass_sides(x: Values) -> tuple[Tensor, Tensor]:
    """q²‖λ* − λ‖² and ‖λ' − λ*‖², λ' = α(z + μ − h(λ))."""
    return x["kappa"] ** 2 * squared(x["lam"] - x["y"]), x["alpha"] ** 2 * squared(x["E"])


FEW = (2, 3)
"""How many templates there are where the proved statement takes long to evaluate, as the query αz is a mean itself."""


def bound(claim: str, sides: Sides, sizes: Sequence[int] = FEW) -> tuple[Sampled[Reading], Observed]:
    """The votes on an inequality between these sides of solved problems."""
    return sought(claim, Problem(shapes, solved, sides, counts=counts, least=1e-3, sizes=sizes))


VOTES = [
    bound("beyond.relative-deviation", deviation_sides, (2, 3, 5)),
    bound("beyond.query-bound", query_sides, (2, 3, 5)),
    bound("beyond.output-bound", output_sides),
    bound("beyond.weights-bound", weights_sides),
    bound("beyond.objective-bound", objective_sides),
    bound("beyond.contraction", pass_sides, (2, 3, 5)),
]


# ── attained ────────────────────────────────────────────────────────────────────────────────────────────────────────


class Opposite:
    """Two templates ±r of equal weight, with the evidence for which λ* = x, by softmax."""

    def __init__(self, seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        r, alpha = torch.randn(2, generator=generator, dtype=torch.float64).tanh().exp()
        self.r, self.alpha = float(r), float(alpha)
        self.templates = torch.tensor([[self.r], [-self.r]], dtype=torch.float64)
        self.prior = torch.full((2,), 0.5, dtype=torch.float64)

    def weights(self, dual: Tensor) -> Tensor:
        """p = tilt(λ)."""
        return mem.tilt(dual.reshape(1), self.templates, self.prior)

    def evidence(self, x: Tensor) -> Tensor:
        """z = λ*/α + ĥ − μ."""
        return x / self.alpha + (self.weights(x) @ self.templates)[0]

    def missed(self, x: Tensor) -> Tensor:
        """h_c − ĥ, with h_c the closed form."""
        one_pass = mem.closed_form(self.templates, self.evidence(x).reshape(1), self.prior, self.alpha)[0]
        return one_pass - (self.weights(x) @ self.templates)[0]

    def excess(self, x: Tensor) -> Tensor:
        """P(p_c) − P(p*)."""
        z = self.evidence(x).reshape(1)
        values = [
            mem.primal_objective(self.weights(point), self.templates, z, self.prior, self.alpha)
            for point in (self.alpha * z[0], x)
        ]
        return values[0] - values[1]

    def reading(self, route: Tensor) -> Reading:
        """A coefficient at these numbers."""
        size = (1 + self.alpha) ** 4 * (1 + self.r) ** 8
        return Reading({"alpha": self.alpha, "r": self.r}, {"autograd": route}, tolerances.rounding("float64", 2, size))


SEEDS = choose(seed=st.integers(0, 2**31))


@confirms(Layer.TORCH, "beyond.output-attained", on=SEEDS, count=16)
def slope_of_output(drawn: dict[str, int]) -> Reading:
    opposite = Opposite(drawn["seed"])
    return opposite.reading(gradient(opposite.missed, torch.zeros((), dtype=torch.float64)))


@confirms(Layer.TORCH, "beyond.objective-attained", on=SEEDS, count=16)
def curvature_of_loss(drawn: dict[str, int]) -> Reading:
    opposite = Opposite(drawn["seed"])
    curvature = hessian(opposite.excess, torch.zeros((), dtype=torch.float64))
    return opposite.reading(curvature / 2)
