"""Votes on: Attention by optimal transport: the bounds of the mean problem with q = (α/γ)D²/4, for every matrix of costs."""

from collections.abc import Callable, Mapping

import torch
from hypothesis import strategies as st
from torch import Tensor

from evidence import Layer, Observed, Reading, Sampled, Value, choose, confirms
from evidence.beyond.output_bounds import FEW, evidence, squared
from evidence.beyond.search import Free, Problem, sought
from evidence.beyond.smoothness import diameter
from numerics import ot_attention as ot
from numerics import tolerances

Values = Mapping[str, Tensor]
Sides = Callable[[Values], tuple[Tensor, Tensor]]


def counts(m: int) -> dict[str, int]:
    """The sizes by their printed names."""
    return {"N": m, "d": 2}


def columns(x: Mapping[str, Tensor], lam: Tensor, gamma: Tensor) -> Tensor:
    """q_λ(i|j), (batch, i, j)."""
    scores = torch.einsum("bnd,bd->bn", x["T"], lam)[..., None] - x["M"]
    return torch.softmax(scores / gamma[:, None, None], -2)


def shapes(m: int) -> dict[str, tuple[int, ...]]:
    """m templates of the plane with a preference, costs, two dual points, α and γ."""
    return {"T": (m, 2), "u": (m,), "M": (m, m), "lam": (2,), "nu": (2,), "alpha": (), "gamma": ()}


def solved(free: Free) -> dict[str, Tensor]:
    """A problem with its solution, for costs of any sign: the evidence is the one for which the drawn λ maximizes the dual."""
    x = {"T": torch.tanh(free["T"]), "M": 2 * torch.tanh(free["M"])}
    dual, alpha, gamma = torch.tanh(free["lam"]), torch.tanh(free["alpha"]).exp(), torch.tanh(free["gamma"]).exp()
    other = torch.tanh(free["nu"])
    u = torch.softmax(3 * torch.tanh(free["u"] / 3), -1)

    def mean(kernel: Tensor) -> Tensor:
        return torch.einsum("bij,bj,bid->bd", kernel, u, x["T"])

    start, exact = columns(x, torch.zeros_like(dual), gamma), columns(x, dual, gamma)
    g = mean(exact - start)
    one_pass = columns(x, dual + alpha[:, None] * g, gamma)
    apart = gamma * torch.einsum("bj,bij->b", u, one_pass * (one_pass.log() - exact.log()))
    return {
        **x,
        "u": u,
        "lam": dual,
        "nu": other,
        "alpha": alpha,
        "gamma": gamma,
        "D": diameter(x["T"]),
        "g": g,
        "e": mean(one_pass - exact),
        "K": apart.clamp(min=0),
        "E": mean(exact - columns(x, other, gamma)),
    }


def share(x: Values) -> Tensor:
    """q = (α/γ)D²/4."""
    return x["alpha"] / x["gamma"] * x["D"] ** 2 / 4


def query_sides(x: Values) -> tuple[Tensor, Tensor]:
    """q²‖z‖² and (1 + q)²‖g‖², times 16γ²."""
    q, scale = share(x), 16 * x["gamma"] ** 2
    return scale * q**2 * squared(evidence(x)), scale * (1 + q) ** 2 * squared(x["g"])


def output_sides(x: Values) -> tuple[Tensor, Tensor]:
    """q⁴‖z‖² and (1 + q)²‖e‖², times (4γ)⁴."""
    q, scale = share(x), 256 * x["gamma"] ** 4
    return scale * q**4 * squared(evidence(x)), scale * (1 + q) ** 2 * squared(x["e"])


def objective_sides(x: Values) -> tuple[Tensor, Tensor]:
    """αq³‖z‖² and 2(1 + q)(K + α/2 ‖e‖²), times (4γ)³."""
    q, scale = share(x), 64 * x["gamma"] ** 3
    excess = x["K"] + x["alpha"] / 2 * squared(x["e"])
    return scale * x["alpha"] * q**3 * squared(evidence(x)), scale * 2 * (1 + q) * excess


def bound(claim: str, sides: Sides, scale: float = 1e4) -> tuple[Sampled[Reading], Observed]:
    """The votes on an inequality between these sides of solved problems."""
    return sought(claim, Problem(shapes, solved, sides, counts=counts, least=1e-3, scale=scale, sizes=FEW))


# ── what the preference becomes without evidence ────────────────────────────────────────────────────────────────────


def cold_values(free: Free) -> Values:
    """Costs above the diagonal's by Δ and more."""
    return {"Δ": torch.tanh(free["Δ"]).exp(), "gamma": torch.tanh(free["gamma"]).exp(), "B": 2 * torch.tanh(free["B"]).square()}


def cold_sides(x: Values) -> tuple[Tensor, Tensor]:
    """The bound, and the mass that leaves the first template by the kernel of ``numerics``."""
    N = x["B"].shape[-1]
    cost = (x["Δ"][:, None, None] + x["B"]) * (1 - torch.eye(N, dtype=torch.float64, device=x["B"].device))
    most = (N - 1) * torch.exp(-x["Δ"] / x["gamma"])
    return most / (1 + most), 1 - ot.kernel(cost, x["gamma"])[:, 0, 0]


COLD = Problem(
    lambda m: {"B": (m, m), "Δ": (), "gamma": ()},
    cold_values,
    cold_sides,
    least=1e-2,
    sharp=True,
    counts=lambda m: {"N": m, "j": 1},
)


# ── the divergence as a transport cost ──────────────────────────────────────────────────────────────────────────────


@confirms(Layer.TORCH, "beyond.ot-divergence", on=choose(N=st.integers(1, 4), seed=st.integers(0, 2**31)), count=16)
def priced(drawn: dict[str, int]) -> Reading:
    generator = torch.Generator().manual_seed(drawn["seed"])

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    N, gamma = drawn["N"], float(normal(1).tanh().exp())
    plan = torch.softmax(normal(N * N), 0).reshape(N, N)
    v, b = torch.softmax(normal(N), -1), normal(N)
    cost = b[None, :] - gamma * v.log()[:, None]
    value = (cost * plan).sum() + gamma * torch.xlogy(plan, plan).sum()
    point: dict[str, Value] = {"N": N, "gamma": gamma, "P": plan, "p": plan.sum(1), "u": plan.sum(0), "v": v, "b": b}
    return Reading(point, {"plan": value}, tolerances.rounding("float64", N * N, 100.0))


VOTES = [
    bound("beyond.ot-query-bound", query_sides),
    bound("beyond.ot-output-bound", output_sides),
    bound("beyond.ot-objective-bound", objective_sides),
    sought("beyond.ot-cold", COLD),
]
