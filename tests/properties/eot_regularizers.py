"""Section 4 of eot in torch: closed forms, autograd and bisection against the proved expressions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch
from hypothesis import strategies as st
from torch import Tensor

from derivations.claims import Layer
from numerics import regularizers, tolerances
from tests.bridge import Value
from tests.layers import Reading, confirms
from tests.properties.eot_forward import gradient

TORCH = Layer.TORCH
HALVINGS = 60                                                # of an interval of length ≤ 1 + 1/(α−1): to the last bit of 1


@dataclass(frozen=True)
class Point:
    """A Karush–Kuhn–Tucker point: p on some face of the simplex, μ ≥ 0 off it, θ; the scores follow from it.

    Weights that are not 0 exceed 1/50 and multipliers off the face exceed 1/10, so that p is a smooth function of s.
    """

    m: int
    seed: int
    a: float
    tied: bool
    device: str = "cpu"

    def to(self, device: str) -> Point:
        """The same point, computed on another device."""
        return Point(self.m, self.seed, self.a, self.tied, device)

    @cached_property
    def drawn(self) -> dict[str, Tensor]:
        """Every vector, by its printed name, on the CPU."""
        generator = torch.Generator().manual_seed(self.seed)

        def uniform(low: float, high: float, *shape: int) -> Tensor:
            return low + (high - low) * torch.rand(*shape, generator=generator, dtype=torch.float64)

        face = uniform(0, 1, self.m) < 0.6
        face[int(uniform(0, self.m, 1))] = True
        weights = torch.ones(self.m, dtype=torch.float64) if self.tied else uniform(0.1, 1, self.m)
        p = torch.where(face, weights, 0.0)
        mixtures = uniform(0.1, 1, 3, self.m)
        mixtures = mixtures / mixtures.sum(-1, keepdim=True)
        return {
            "p": p / p.sum(), "mu": torch.where(face, 0.0, uniform(0.1, 2, self.m)), "theta": uniform(-2, 2, 1)[0],
            "s": uniform(-2, 2, self.m), "v": uniform(0.1, 2, self.m), "nu": uniform(0, 2, self.m),
            "lam": uniform(-2, 2, 1)[0], "x": mixtures[0], "y": mixtures[1], "w": mixtures[2], "t": uniform(0.2, 3, 1)[0],
            "wx": uniform(-2, 2, 1)[0], "wy": uniform(-2, 2, 1)[0], "wz": uniform(-2, 2, 1)[0],
            "S": uniform(-2, 2, self.m, self.m), "P": uniform(0.1, 1, self.m, self.m), "gamma": uniform(0, 2, 1)[0],
            "tau": uniform(0.5, 3, 1)[0], "b": uniform(-2, -0.2, 1)[0],
        }

    def __getitem__(self, name: str) -> Tensor:
        return self.drawn[name].to(self.device)

    def point(self, **other: Value) -> dict[str, Value]:
        """Every variable by its printed name, on the CPU."""
        return {"m": self.m, "a": self.a, **self.drawn, **other}

    @property
    def quadratic(self) -> Tensor:
        """θ1 + p − μ."""
        return self["theta"] + self["p"] - self["mu"]

    @property
    def tsallis(self) -> Tensor:
        """θ1 + p^a/a − μ."""
        return self["theta"] + self["p"] ** self.a / self.a - self["mu"]

    @property
    def distance(self) -> Tensor:
        """|i − j|."""
        place = torch.arange(self.m, device=self.device)
        return (place[:, None] - place).abs().double()


@st.composite
def points(draw: st.DrawFn, smallest: int = 1) -> Point:
    """Draw a point; m = 1, ties, one-hot and dense solutions included."""
    return Point(draw(st.integers(smallest, 5)), draw(st.integers(0, 2**31)),
                 draw(st.sampled_from((0.25, 0.5, 1.0, 1.5, 2.0))), draw(st.booleans()))


def reading(point: Point, scale: float = 1.0, given: dict[str, Value] | None = None, **routes: Tensor) -> Reading:
    """Routes at a point.

    All that is drawn is at most 2 in size, and so are distances at most 5; m² products of such numbers are summed.
    """
    largest = max([1.0, *(float(route.abs().max()) for route in routes.values())])
    return Reading(point.point() | (given or {}), routes, tolerances.rounding("float64", point.m**2, 100 * scale * largest))


def bisected(scores: Tensor, a: float) -> Tensor:
    """((s_j − θ)₊ a)^(1/a) with the θ that makes the sum 1, by bisection on θ."""
    low, high = scores.max() - 1 / a, scores.max()
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        heavy = ((a * (scores - middle)).clamp(min=0) ** (1 / a)).sum() >= 1
        low, high = torch.where(heavy, middle, low), torch.where(heavy, high, middle)
    return (a * (scores - (low + high) / 2)).clamp(min=0) ** (1 / a)


def condition(point: Point) -> float:
    """How much an error of a(s_j − θ) = p_j^a grows in p_j, at most: p^(1−a)/a; θ is off by no more than the scores are."""
    positive = point["p"][point["p"] > 0]
    return 2 * float((positive ** (1 - point.a)).max()) / point.a * (1 + 1 / point.a)


# ── 4.1 ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def objective(p: Tensor, scores: Tensor, regularizer: Callable[[Tensor], Tensor]) -> Tensor:
    """−⟨p, s⟩ + Ω(p)."""
    return regularizer(p) - (p * scores).sum()


def half_square(p: Tensor) -> Tensor:
    return p.square().sum() / 2


def negative_tsallis(p: Tensor, a: float) -> Tensor:
    return (p ** (1 + a) - p).sum() / (a * (1 + a))


@confirms(TORCH, "eot.19", on=points())
def at_the_uniform_vector(point: Point) -> Reading:
    return reading(point, direct=objective(torch.full_like(point["s"], 1 / point.m), point["s"], half_square))


@confirms(TORCH, "eot.s4.alignment", on=points())
def expected_negative_score(point: Point) -> Reading:
    return reading(point, direct=point["x"] @ -point["s"])


@confirms(TORCH, "eot.s4.must-be-convex", on=points())
def chord(point: Point) -> Reading:
    share = point["t"] / (1 + point["t"])
    x, y = point["x"], point["y"]
    z = share * x + (1 - share) * y
    at_x, at_y, at_z = (point[f"w{name}"] - q @ point["s"] for name, q in (("x", x), ("y", y), ("z", z)))
    return reading(point, direct=share * at_x + (1 - share) * at_y - at_z)


@confirms(TORCH, "eot.s4.entropy-makes-softmax", on=points())
def recovered_differences(point: Point) -> Reading:
    logs = torch.log_softmax(point["s"] / point["tau"], -1) * point["tau"]
    return reading(point, 10, log_softmax=logs[:, None] - logs)


@confirms(TORCH, "eot.prop4.1", "eot.s4.tab1-softmax", on=points())
def softmax(point: Point) -> Reading:
    scaled = point["s"] / point["tau"]
    return reading(point, softmax=torch.softmax(scaled, -1), limit=regularizers.entmax_bisect(scaled, 1.0))


# ── sparsemax ───────────────────────────────────────────────────────────────────────────────────────────────────────


@confirms(TORCH, "eot.prop4.2", on=points())
def sparsemax(point: Point) -> Reading:
    return reading(point, closed_form=regularizers.sparsemax(point.quadratic), bisection=bisected(point.quadratic, 1.0))


def shifted(point: Point) -> Tensor:
    """p − μ − λ."""
    return point["p"] - point["mu"] - point["lam"]


@confirms(TORCH, "eot.24", "eot.s4.complementary-slackness", on=points())
def sparsemax_by_multiplier(point: Point) -> Reading:
    scores = shifted(point)
    return reading(point, closed_form=regularizers.sparsemax(scores), bisection=bisected(scores, 1.0))


@confirms(TORCH, "eot.20", on=points())
def quadratic_objective(point: Point) -> Reading:
    return reading(point, direct=objective(point["v"], point["s"], half_square))


def quadratic_lagrangian(v: Tensor, point: Point) -> Tensor:
    return objective(v, point["s"], half_square) + point["lam"] * (1 - v.sum()) - (point["nu"] * v).sum()


@confirms(TORCH, "eot.21", on=points())
def quadratic_lagrangian_value(point: Point) -> Reading:
    return reading(point, direct=quadratic_lagrangian(point["v"], point))


@confirms(TORCH, "eot.22", "eot.23", on=points())
def quadratic_slope(point: Point) -> Reading:
    return reading(point, autograd=gradient(lambda v: quadratic_lagrangian(v, point), point["v"]))


@confirms(TORCH, "eot.s4.threshold", on=points())
def spent(point: Point) -> Reading:
    scores = point.quadratic
    used = regularizers.sparsemax(scores) > 0
    threshold = (scores[used].sum() - 1) / used.sum()
    return reading(point, closed_form=(scores - threshold).clamp(min=0).sum())


def close_to_others(point: Point) -> Reading:
    own = regularizers.sparsemax(point.quadratic)
    return reading(point, closed_form=own.expand(point.m, point.m))


def dense(point: Point) -> Reading:
    return reading(point, closed_form=regularizers.sparsemax(point["theta"] + point["w"]))


def product_of_two(point: Point) -> Reading:
    scores = point["s"][:1].expand(2)
    threshold = scores[0] - 0.5
    given: dict[str, Value] = {"s": scores.cpu(), "theta": threshold.cpu()}
    return reading(point, given=given, closed_form=regularizers.sparsemax(scores).prod())


confirms(TORCH, "eot.s4.sparsemax-sparse", on=points(), corrected=close_to_others)(product_of_two)
confirms(TORCH, "eot.s4.tab1-sparsemax", on=points(), corrected=dense)(product_of_two)


# ── α-entmax ────────────────────────────────────────────────────────────────────────────────────────────────────────


def entmax_routes(point: Point) -> dict[str, Tensor]:
    scores = point.tsallis
    return {"closed_form": regularizers.entmax_bisect(scores, 1 + point.a), "bisection": bisected(scores, point.a)}


@confirms(TORCH, "eot.prop4.3", "eot.33", on=points())
def entmax(point: Point) -> Reading:
    return reading(point, condition(point), **entmax_routes(point))


@confirms(TORCH, "eot.s4.entmax-threshold", on=points(), corrected=entmax)
def any_threshold(point: Point) -> Reading:
    below: dict[str, Value] = {"theta": (point["s"].min() - 1).cpu()}
    return reading(point, condition(point), below, closed_form=regularizers.entmax_bisect(point["s"], 1 + point.a))


@confirms(TORCH, "eot.s4.tab1-entmax", on=points())
def support(point: Point) -> Reading:
    routes = {name: (plan / point.a).expand(point.m, point.m) for name, plan in entmax_routes(point).items()}
    return reading(point, condition(point) / point.a, **routes)


@confirms(TORCH, "eot.25", on=points())
def tsallis_of_uniform(point: Point) -> Reading:
    return reading(point, direct=negative_tsallis(torch.full_like(point["s"], 1 / point.m), point.a))


@confirms(TORCH, "eot.26", on=points())
def tsallis_objective(point: Point) -> Reading:
    return reading(point, 10, direct=objective(point["v"], point["s"], lambda v: negative_tsallis(v, point.a)))


def tsallis_lagrangian(v: Tensor, point: Point) -> Tensor:
    return objective(v, point["s"], lambda p: negative_tsallis(p, point.a)) + point["lam"] * (1 - v.sum())


@confirms(TORCH, "eot.27", on=points())
def tsallis_lagrangian_value(point: Point) -> Reading:
    return reading(point, 10, direct=tsallis_lagrangian(point["v"], point))


@confirms(TORCH, *(f"eot.{number}" for number in range(28, 33)), on=points())
def tsallis_slope(point: Point) -> Reading:
    return reading(point, 10, autograd=gradient(lambda v: tsallis_lagrangian(v, point), point["v"]))


@confirms(TORCH, "eot.s4.tsallis-convex", on=points())
def tsallis_curvature(point: Point) -> Reading:
    at = point["v"][0]
    curvature = gradient(lambda x: gradient_of_term(x, point.a), at)
    return reading(point, 10, {"b": at.cpu()}, autograd=curvature)


def gradient_of_term(x: Tensor, a: float) -> Tensor:
    """The slope of (x^α − x)/(α(α−1)) by autograd."""
    return torch.autograd.grad(negative_tsallis(x, a), x, create_graph=True)[0]


@confirms(TORCH, "eot.s4.entmax-generalizes", on=points())
def near_one(point: Point) -> Reading:
    near, at = 1e-7, point["v"][0]
    value = at * torch.expm1(near * at.log()) / (near * (1 + near))
    off = 2 * near * float(at) * (1 + abs(float(at.log()))) ** 2     # the next term of the expansion in α − 1
    return Reading(point.point(b=at.cpu()), {"expm1": value}, off)


# ── the linear penalty ──────────────────────────────────────────────────────────────────────────────────────────────


def local_weights(point: Point, gamma: Tensor) -> Tensor:
    """Row i of the weights for every query i."""
    return torch.softmax((point["S"] - gamma * point.distance) / point["tau"], -1)


def local_routes(point: Point) -> dict[str, Tensor]:
    unit = regularizers.alibi_bias(1, point.m, dtype=torch.float64, device=point.device)[0] * 2.0**8
    biased = torch.nn.functional.softmax((point["S"] + point["gamma"] * unit) / point["tau"], -1)
    return {"softmax": local_weights(point, point["gamma"]), "alibi_bias": biased}


@confirms(TORCH, "eot.35", "eot.36", "eot.43", "eot.prop4.4", "eot.tab1", on=points())
def locality(point: Point) -> Reading:
    return reading(point, **local_routes(point))


@confirms(TORCH, "eot.42", on=points())
def ratios(point: Point) -> Reading:
    routes = {name: plan[:, :, None] / plan[:, None, :] for name, plan in local_routes(point).items()}
    return reading(point, **routes)


@confirms(TORCH, "eot.s4.additive-penalty", on=points())
def log_odds(point: Point) -> Reading:
    logs = {name: plan.log() for name, plan in local_routes(point).items()}
    return reading(point, 10, **{name: x[:, :, None] - x[:, None, :] for name, x in logs.items()})


def local_objective(plans: Tensor, point: Point) -> Tensor:
    """J(p_i) for every query i."""
    entropic = point["tau"] * torch.xlogy(plans, plans) + point["gamma"] * plans * point.distance
    return (entropic - plans * point["S"]).sum(-1)


@confirms(TORCH, "eot.37", "eot.38", "eot.39", "eot.41", on=points())
def local_objective_value(point: Point) -> Reading:
    return reading(point, direct=local_objective(point["P"], point))


@confirms(TORCH, "eot.34", on=points())
def penalty_of_uniform(point: Point) -> Reading:
    uniform = torch.full_like(point["P"], 1 / point.m)
    return reading(point, direct=local_objective(uniform, point) + (uniform * point["S"]).sum(-1))


@confirms(TORCH, "eot.40", on=points())
def effective_cost(point: Point) -> Reading:
    linear = gradient(lambda plans: (local_objective(plans, point) - point["tau"] * torch.xlogy(plans, plans).sum(-1)).sum(),
                      point["P"])
    return reading(point, 10, autograd=linear)


@confirms(TORCH, "eot.s4.separable", on=points())
def slope_of_all(point: Point) -> Reading:
    return reading(point, 10, autograd=gradient(lambda plans: local_objective(plans, point).sum(), point["P"]))


@confirms(TORCH, "eot.s4.locality", "eot.s4.tab1-alibi", on=points())
def slope_of_distance(point: Point) -> Reading:
    slopes = torch.autograd.functional.jacobian(
        lambda gamma: (local_weights(point, gamma) * point.distance).sum(-1), point["gamma"])
    return reading(point, 10, autograd=slopes)


@confirms(TORCH, "eot.s4.alibi-form", on=points(smallest=2), corrected=lambda point: alibi(point))
def alibi(point: Point) -> Reading:
    return reading(point, unscaled=torch.softmax(point["S"] / point["tau"] + point["b"] * point.distance, -1))
