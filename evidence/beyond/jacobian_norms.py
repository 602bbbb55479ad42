"""Votes on: Norms of the softmax Jacobian, sharp for all pairs of norms at once."""

from collections.abc import Mapping

import torch
from hypothesis import strategies as st
from torch import Tensor

from evidence import Layer, Reading, choose, confirms
from evidence.beyond.search import Free, Problem, sought
from evidence.beyond.stability import shares
from numerics import fisher, tolerances

Values = Mapping[str, Tensor]


def mild(x: Tensor) -> Tensor:
    """Numbers between 1/e and e."""
    return torch.tanh(x).exp()


def product(x: Values, v: Tensor) -> Tensor:
    """Jv."""
    return x["p"] * (v - (x["p"] * v).sum(-1, keepdim=True)) / x["tau"][:, None]


def form_values(free: Free) -> Values:
    """Weights, two vectors with the ends of their intervals, and a temperature."""
    return {
        "p": torch.softmax(free["p"], -1),
        "h": shares(free["h"]),
        "g": shares(free["g"]),
        "L": mild(free["L"]),
        "M": mild(free["M"]),
        "c": torch.tanh(free["c"]),
        "d": torch.tanh(free["d"]),
        "tau": mild(free["tau"]),
    }


def form_sides(z: Values) -> tuple[Tensor, Tensor]:
    """LM/(4τ) and wᵀJv."""
    v = z["c"][:, None] + z["L"][:, None] * z["h"][..., 0]
    w = z["d"][:, None] + z["M"][:, None] * z["g"][..., 0]
    return z["L"] * z["M"] / (4 * z["tau"]), (w * product(z, v)).sum(-1)


def form_shapes(m: int) -> dict[str, tuple[int, ...]]:
    """Three numbers for each key and five for all."""
    return {"p": (m,), "h": (m,), "g": (m,), "L": (), "M": (), "c": (), "d": (), "tau": ()}


FORM = Problem(form_shapes, form_values, form_sides, counts=lambda m: {"m": m, "N": 2})


def power_values(free: Free) -> Values:
    """Two numbers ≥ 0 and an exponent less 1."""
    return {"x": mild(free["x"]), "y": mild(free["y"]), "α": mild(free["α"])}


def power_sides(z: Values) -> tuple[Tensor, Tensor]:
    """The mean of the powers and the power of the mean."""
    a = 1 + z["α"]
    both = torch.stack([z["x"], z["y"]])
    return both.pow(a).mean(0), both.mean(0).pow(a)


POWERS = Problem(lambda m: {"x": (), "y": (), "α": ()}, power_values, power_sides, sharp=True)


@confirms(Layer.TORCH, "beyond.jacobian-attained", on=choose(seed=st.integers(0, 2**31)), count=16)
def two_tied_keys(drawn: dict[str, int]) -> Reading:
    alpha, b, tau = torch.randn(3, generator=torch.Generator().manual_seed(drawn["seed"]), dtype=torch.float64).tanh().exp()
    v, half = torch.tensor([1.0, -1.0], dtype=torch.float64), torch.full((2,), 0.5, dtype=torch.float64)
    product = fisher.jacobian_product(half, v, float(tau))
    norms = torch.linalg.vector_norm(product, float(b)) / torch.linalg.vector_norm(v, float(1 + alpha))
    point = {"α": float(alpha), "b": float(b), "tau": float(tau)}
    return Reading(point, {"norms": norms}, tolerances.rounding("float64", 2, 10 + 10 * float(norms)))


def vector_values(free: Free) -> Values:
    """Weights, a vector and a temperature."""
    return {"p": torch.softmax(free["p"], -1), "v": torch.tanh(free["v"]), "tau": mild(free["tau"])}


def vector_shapes(m: int) -> dict[str, tuple[int, ...]]:
    """Two numbers for each key and one for all."""
    return {"p": (m,), "v": (m,), "tau": ()}


def spectral_sides(z: Values) -> tuple[Tensor, Tensor]:
    """‖v‖²/(2τ) and vᵀJv."""
    return z["v"].square().sum(-1) / (2 * z["tau"]), (z["v"] * product(z, z["v"])).sum(-1)


SPECTRAL = Problem(vector_shapes, vector_values, spectral_sides, sharp=True)


def total_sides(z: Values) -> tuple[Tensor, Tensor]:
    """Var_p(v)/τ² and ‖Jv‖₁²."""
    center = (z["p"] * z["v"]).sum(-1, keepdim=True)
    return (z["p"] * (z["v"] - center).square()).sum(-1) / z["tau"] ** 2, product(z, z["v"]).abs().sum(-1) ** 2


TOTAL = Problem(vector_shapes, vector_values, total_sides, sharp=True)


def entry_values(free: Free) -> Values:
    """Weights and a temperature; the entry is that of the first key."""
    return {"p": torch.softmax(free["p"], -1), "tau": mild(free["tau"])}


def entry_sides(z: Values) -> tuple[Tensor, Tensor]:
    """1/(4τ) and J₁₁."""
    first = torch.zeros_like(z["p"])
    first[:, 0] = 1.0
    return 1 / (4 * z["tau"]), product(z, first)[:, 0]


ENTRY = Problem(lambda m: {"p": (m,), "tau": ()}, entry_values, entry_sides, sharp=True, counts=lambda m: {"m": m, "j": 1})


VOTES = [
    sought("beyond.jacobian-form", FORM, count=32),
    sought("beyond.oscillation", POWERS),
    sought("beyond.jacobian-spectral", SPECTRAL, count=32),
    sought("beyond.jacobian-total", TOTAL, count=32),
    sought("beyond.jacobian-entry", ENTRY),
]
