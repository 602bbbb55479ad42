"""Section 9 of deciphering in torch: entropic transport, the weights (25), and which templates get some."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from derivations.claims import Layer
from numerics import attention, tolerances
from numerics import ot_attention as ot
from tests.bridge import Value
from tests.layers import Reading, choose, confirms
from tests.properties.deciphering_transport import coefficient, reading, true_mean, value
from tests.properties.ot_problems import OtProblem, ot_problems

TORCH = Layer.TORCH
ANY = ot_problems()


# ── entropic transport ──────────────────────────────────────────────────────────────────────────────────────────────


@confirms(TORCH, "deciphering.23", on=ANY)
def cost_of_transport(x: OtProblem) -> Reading:
    plan = ot.coupling(x["g"], x["u"], x["M"], x.gamma)
    return reading(x, x["g"], x["M"], at_the_coupling=value(x, plan),
                   by_duality=plan.sum(-1) @ x["g"] - ot.conjugate(x["g"], x["u"], x["M"], x.gamma))


@confirms(TORCH, "deciphering.24", on=ANY)
def objective_without_evidence(x: OtProblem) -> Reading:
    at_zero = ot.solve(x["T"], torch.zeros_like(x["z"]), x["u"], x["M"], x.alpha, x.gamma)
    plan = ot.coupling(x["T"] @ at_zero.dual, x["u"], x["M"], x.gamma)
    left = x.alpha / 2 * (true_mean(x) - at_zero.mean).square().sum() + value(x, plan)
    return reading(x, x["M"], given={"R": x["Q"]}, at_the_solution=left)


def with_product_cost(x: OtProblem) -> Reading:
    """⟨M, X⟩ − γ H(X) at X = p uᵀ for the cost −γ log u(t) − γ log u(t')."""
    p, prior = x["R"][0], torch.softmax(x["g"], -1)
    logs, plan = prior.log(), p[:, None] * prior
    found = -x.gamma * ((logs[:, None] + logs) * plan).sum() + x.gamma * torch.xlogy(plan, plan).sum()
    return reading(x, x.gamma * logs, given={"p": p, "v": prior, "P": plan}, at_the_product=found)


@confirms(TORCH, "deciphering.s9.rewritten", on=ot_problems(costs=("distances", "symmetric")), corrected=with_product_cost)
def without_evidence(x: OtProblem) -> Reading:
    at_zero = ot.solve(x["T"], torch.zeros_like(x["z"]), x["u"], x["M"], x.alpha, x.gamma)
    return reading(x, newton=at_zero.weights, closed_form=ot.true_preference(x["u"], x["M"], x.gamma))


@confirms(TORCH, "deciphering.fn11", on=choose(x=st.floats(-2, 2), y=st.floats(0.1, 2)))
def squared_distance(drawn: dict[str, float]) -> Reading:
    places = torch.tensor([[drawn["x"]], [drawn["x"] + drawn["y"]]], dtype=torch.float64)
    apart = float(places[1, 0] - places[0, 0])
    return Reading({"D": apart, "rho": 2.0}, {"squared": ot.squared_distance(places)[0, 1]},
                   tolerances.rounding("float64", 2, 4.0))


@confirms(TORCH, "deciphering.s9.smooth", on=ANY, count=16)
def response(x: OtProblem) -> Reading:
    def pushed(t: Tensor) -> Tensor:
        rows, columns = x["f"] + t * x["x"], x["g"] + t * x["y"]
        plan = torch.exp((rows[:, None] + columns[None, :] - x["M"]) / x.gamma)
        return x["x"] @ plan.sum(-1) + x["y"] @ plan.sum(0)

    t = x["t"].clone().requires_grad_()
    found = torch.autograd.grad(pushed(t), t)[0]
    reach = (x["f"].abs().max() + x["g"].abs().max() + x["t"] * (x["x"].abs().max() + x["y"].abs().max())) / x.gamma
    return reading(x, found.abs() * (1 + reach), autograd=found)


@confirms(TORCH, "deciphering.s9.ot-attention", on=ANY, count=16)
def first_order_of_mean(x: OtProblem) -> Reading:
    def attended(strength: Tensor) -> Tensor:
        return ot.transported(strength * (x["T"] @ x["z"]), x["u"], x["M"], x.gamma) @ x["T"]

    found = torch.stack([coefficient(lambda s, a=a: attended(s)[a], 1) for a in range(x.d)])
    return reading(x, (x["T"] ** 2).sum() * x["z"] / x.gamma, autograd=found)


# ── which templates get weight ──────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Input:
    """N templates in 𝒜 and n in the input, on a line, with costs K between them, weights u > 0 and a few more numbers."""

    N: int
    n: int
    seed: int
    tied: bool
    device: str = "cpu"

    def to(self, device: str) -> Input:
        """The same input on another device."""
        return Input(self.N, self.n, self.seed, self.tied, device)

    @cached_property
    def drawn(self) -> dict[str, Tensor]:
        generator = torch.Generator().manual_seed(self.seed)

        def normal(*shape: int) -> Tensor:
            return torch.randn(*shape, generator=generator, dtype=torch.float64).clamp(-2, 2)

        costs = normal(self.N, self.n).abs()
        weights, sparse = normal(self.n).exp(), normal(self.N).exp()
        sparse[1:] = sparse[1:] * (normal(self.N - 1) > 0)
        scalars = {name: (normal(1)[0] / 2).exp() for name in ("alpha", "gamma", "v")}
        return {"K": costs * (not self.tied), "y": normal(self.N), "prior": weights / weights.sum(), "s": normal(1)[0],
                "sparse": sparse / sparse.sum(), "inner": normal(self.N), "M": normal(self.N, self.N), **scalars}

    def __getitem__(self, name: str) -> Tensor:
        return self.drawn[name].to(self.device)

    def reading(self, *magnitudes: Tensor, given: dict[str, Value] | None = None, **routes: Tensor) -> Reading:
        """Routes with their tolerance."""
        drawn = self.drawn
        point = {"N": self.N, "n": self.n, "K": drawn["K"], "y": drawn["y"], "u": drawn["prior"], "M": drawn["M"],
                 **{name: drawn[name] for name in ("alpha", "gamma", "v", "s")}, **(given or {})}
        largest = max(float(x.abs().max()) for x in (*magnitudes, *routes.values(), torch.ones(())))
        scale = largest * (1 + 8 * (1 + float(drawn["alpha"])) * (1 + 1 / float(drawn["gamma"])))
        return Reading(point, routes, tolerances.rounding("float64", self.N * self.n, scale))

    def weights(self) -> Tensor:
        """(25) on a line: t_i = y_i, z = 1."""
        return ot.weights(self["y"][:, None], torch.ones(1, dtype=torch.float64, device=self.device), self["prior"], self["K"],
                          float(self["alpha"]), float(self["gamma"]))


@st.composite
def inputs(draw: st.DrawFn, smallest: int = 1) -> Input:
    """Draw an input; N = 1, n = 1 and tied costs included."""
    return Input(draw(st.integers(smallest, 5)), draw(st.integers(1, 3)), draw(st.integers(0, 2**31)), draw(st.booleans()))


@confirms(TORCH, "deciphering.s9.all-templates", "deciphering.s10.support-removed", on=inputs())
def weights(x: Input) -> Reading:
    return x.reading(closed_form=x.weights())


def expensive(x: Input) -> Reading:
    """Shares for equal products where all costs are below 0.02, at γ = 0.002, [h, i, l]."""
    gamma, costs, products = 0.002, x["K"] / 100, torch.zeros_like(x["y"])
    plan = ot.coupling(products, x["prior"], costs, gamma)
    found = plan[None, :, :] / plan[:, None, :]
    return x.reading(found / gamma, given={"K": costs.cpu(), "gamma": gamma, "y": products.cpu()}, coupling=found)


def ratio_of_shares(x: Input) -> Reading:
    plan = ot.coupling(x["alpha"] * x["y"], x["prior"], x["K"], float(x["gamma"]))
    found = plan[:, None, :] / plan[None, :, :]                   # axes i, h, l; in the claim by name: h, i, l
    return x.reading(found, coupling=found.transpose(0, 1))


confirms(TORCH, "deciphering.s9.shares-weight", on=inputs(), corrected=ratio_of_shares)(expensive)


def third_template(x: Input) -> Reading:
    """A word of little weight, another one far from it, and a synonym of the first that is near to both."""
    near, little = float(x["K"].min()) / 100, float(x["prior"].min()) / 100
    costs = torch.tensor([[0.0, 10.0], [10.0, 0.0], [near, near]], dtype=torch.float64)
    prior, products = torch.tensor([little, 1 - little], dtype=torch.float64), torch.zeros(3, dtype=torch.float64)
    plan = ot.coupling(products.to(x.device), prior.to(x.device), costs.to(x.device), 1.0)
    given: dict[str, Value] = {"N": 3, "n": 2, "K": costs, "u": prior, "y": products, "gamma": 1.0, "h": 1, "i": 3}
    return x.reading(costs, given=given, coupling=plan.sum(-1)[0])


def as_an_average(x: Input) -> Reading:
    found = x.weights().expand(x.N, x.N)                          # axes h, i
    return x.reading((x["K"].amax() - x["K"].amin() + 8 * x["alpha"]).div(x["gamma"]).exp(), closed_form=found)


confirms(TORCH, "deciphering.s9.synonyms", on=inputs(), corrected=as_an_average)(third_template)


def group(x: Input, inner: Tensor) -> Tensor:
    """The weights in a group of N templates with one member in the input, and a second group with another one."""
    labels = torch.tensor([0] * x.N + [1, 1], device=x.device)
    templates = torch.cat([inner, torch.ones(2, dtype=torch.float64, device=x.device)])[:, None]
    prior = torch.stack([x["v"], torch.ones_like(x["v"])])
    cost = ot.group_cost(labels, torch.tensor([0, 1], device=x.device), torch.float64)
    evidence = torch.ones(1, dtype=torch.float64, device=x.device)
    return ot.weights(templates, evidence, prior, cost, float(x["alpha"]), float(x["gamma"]))[: x.N]


def equal_products(x: Input) -> Reading:
    return x.reading(given={"G": x.N, "m": x["s"].cpu(), "g": 1}, group_cost=group(x, x["s"].expand(x.N))[0])


def member(x: Input) -> Reading:
    return x.reading(given={"G": x.N, "s": x["inner"].cpu(), "g": 1}, group_cost=group(x, x["inner"])[0])


confirms(TORCH, "deciphering.s9.group-sharing", on=inputs(), corrected=equal_products)(member)


def left_alone(x: Input) -> Reading:
    """Weights where the last template is a group without a member in the input."""
    groups = torch.tensor([0] * (x.N - 1) + [1], device=x.device)
    prior = torch.ones(x.N, dtype=torch.float64, device=x.device) * (groups == 0) / (x.N - 1)
    cost = ot.group_cost(groups, groups, torch.float64)
    kernel, one = ot.kernel(cost, float(x["gamma"])).T, torch.ones(1, dtype=torch.float64, device=x.device)
    found = ot.weights(x["y"][:, None], one, prior, cost, float(x["alpha"]), float(x["gamma"]))
    given: dict[str, Value] = {"d": 1, "T": x["y"][:, None].cpu(), "z": one.cpu(), "u": prior.cpu(), "Q": kernel.cpu()}
    return x.reading(given=given, group_cost=found)


confirms(TORCH, "deciphering.s9.group-costs", on=inputs(smallest=2), corrected=member)(left_alone)


@confirms(TORCH, "deciphering.s9.regular-attention", on=inputs(smallest=2))
def weight_outside(x: Input) -> Reading:
    outside = (x["sparse"] == 0).double() * x["inner"].abs()
    one = torch.ones(1, dtype=torch.float64, device=x.device)
    by_prior = attention.attention_weights(x["y"][:, None], one[None], x["sparse"].log(), float(x["alpha"]))
    values = torch.diag(outside)[None]
    masked = scaled_dot_product_attention((x["alpha"] * one).reshape(1, 1, 1), x["y"].reshape(1, -1, 1), values,
                                          attn_mask=x["sparse"].log().reshape(1, 1, -1), scale=1.0)
    given = {"u": x["sparse"].cpu(), "o": outside.cpu()}
    return x.reading(given=given, prior=outside @ by_prior.reshape(-1), sdpa=masked.sum())


# ── the costs of the experiment ─────────────────────────────────────────────────────────────────────────────────────


@confirms(TORCH, "deciphering.s9.nonnegative-cost", on=ANY)
def cost_with_bound(x: OtProblem) -> Reading:
    bound = (x["T"] @ x["T"].T).max()
    cost = ot.negative_inner_product(x["T"], constant=bound)
    return reading(x, bound, given={"C": bound}, closed_form=cost)


def cost_on_a_sphere(x: OtProblem) -> Reading:
    unit = x["T"] / x["T"].norm(dim=-1, keepdim=True)
    unit = torch.cat([unit, torch.zeros_like(unit[:, :1])], -1)  # room for templates that differ also where d = 1
    unit[0] = torch.roll(unit[0], -1) if torch.allclose(unit[0], unit[1]) else unit[0]
    cost = ot.negative_inner_product(unit, constant=1.0)
    return reading(x, given={"T": unit, "C": 1.0, "d": x.d + 1, "j": 1, "k": 2}, closed_form=cost[1, 0])


@confirms(TORCH, "deciphering.s9.experiment-cost", on=ot_problems(smallest=2), corrected=cost_on_a_sphere)
def cost_of_another(x: OtProblem) -> Reading:
    bound = (x["T"] @ x["T"].T).max()
    cost = ot.negative_inner_product(x["T"], constant=bound)
    return reading(x, bound, given={"C": bound, "j": 1, "k": 2}, closed_form=cost[1, 0])


@confirms(TORCH, "deciphering.s9.experiment-scale", on=ANY)
def weights_of_the_experiment(x: OtProblem) -> Reading:
    cost = ot.negative_inner_product(x["T"])
    return reading(x, x["T"] ** 2, (x["T"] @ x["T"].T), x["z"] ** 2,
                   weights=ot.weights(x["T"], x["z"], x["u"], cost, 1.0, x.d**0.5))
