"""Votes on: Section 7: the table that sums up what transport contributes, and the references."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from hypothesis import strategies as st
from torch import Tensor

from evidence import Layer, Reading, Value, confirms, float64
from evidence.instances.attention import AttentionProblem, attention_problems
from evidence.instances.placement import Placed
from evidence.transport.conic_plans import CONIC_COLD, PlanProblem, conic_problems
from evidence.transport.design import COLD
from evidence.transport.variants import own_plan
from numerics import one_sided, tolerances
from numerics.linear import kernel_weights
from numerics.primal import coupling
from numerics.primal.arguments import Array


def ratios(x: AttentionProblem) -> Reading:
    plan = one_sided.plan(x["S"], x.eps)
    return x.reading(1 / plan.min(), closed_form=plan[:, :, None] / plan[:, None, :])


@confirms(Layer.TORCH, "transport.s7.soft-sorting", on=attention_problems(), corrected=ratios)
def hard_choices(x: AttentionProblem) -> Reading:
    return x.reading(1 / COLD, closed_form=one_sided.plan(x["T"], COLD).sum(0))


@dataclass(frozen=True)
class Losses(Placed):
    """A loss with the Lipschitz constant L on a line, and the places where it is trained and tested."""

    steepness: float
    train: Tensor
    test: Tensor
    masses: tuple[Tensor, Tensor]
    rising: bool

    def loss(self, points: Tensor) -> Tensor:
        """L (x + 5) or L |x|."""
        return self.steepness * (points + 5 if self.rising else points.abs())

    def reading(self, routes: dict[str, Tensor], computed: Literal["left", "right"], size: float) -> Reading:
        """Routes at these losses, for a γ(L) = L."""
        import ot  # importing it takes a second

        f, g = self.loss(self.train), self.loss(self.test)
        (a, b), largest = self.masses, 1 + size + float(f.max() + g.max())
        a, b, apart = a / a.sum(), b / b.sum(), (self.train[:, None] - self.test).abs()
        plan = ot.emd(a.numpy(), b.numpy(), apart.numpy())
        point: dict[str, Value] = {
            "n": len(f),
            "m": len(g),
            "a": a,
            "b": b,
            "f": f,
            "g": g,
            "γ": self.steepness,
            "L": self.steepness,
            "P": float64(plan),
            "z": (self.steepness * apart - g + f[:, None]).clamp(min=0),
        }
        return Reading(point, routes, tolerances.rounding("float64", len(f) * len(g), largest), computed)


@st.composite
def losses(draw: st.DrawFn) -> Losses:
    """Draw places; in some cases all tests lie to the right of all training, so that a rising loss meets the bound."""
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**31)))
    train, test = (torch.rand(draw(st.integers(1, 4)), generator=generator, dtype=torch.float64) for _ in range(2))
    masses = [torch.randn(len(x), generator=generator, dtype=torch.float64).softmax(0) for x in (train, test)]
    shift = draw(st.sampled_from((0.0, 3.0)))
    return Losses(draw(st.sampled_from((0.5, 1.0, 4.0))), train, test + shift, (masses[0], masses[1]), draw(st.booleans()))


def carried(x: Losses) -> Reading:
    """L W₁, by the linear program and by the area between the distribution functions."""
    import ot  # importing it takes a second

    (a, b), apart = x.masses, (x.train[:, None] - x.test).abs()
    points = torch.cat((x.train, x.test)).to(x.device)
    order = points.argsort()
    height = torch.cat((a, -b)).to(x.device)[order].cumsum(0)[:-1].abs()
    routes = {
        "linear program": float64(ot.emd2((a / a.sum()).numpy(), (b / b.sum()).numpy(), apart.numpy())),
        "sorted": (height * points[order].diff()).sum(),
    }
    return x.reading({name: x.steepness * route for name, route in routes.items()}, "left", x.steepness * float(apart.max()))


@confirms(Layer.TORCH, "transport.s7.generalization", on=losses(), corrected=carried)
def risk_gap(x: Losses) -> Reading:
    a, b = (part.to(x.device) for part in x.masses)
    return x.reading({"direct": b @ x.loss(x.test.to(x.device)) - a @ x.loss(x.train.to(x.device))}, "right", 0.0)


@confirms(Layer.TORCH, "transport.s7.unification", on=attention_problems(), corrected=own_plan)
def weights_of_any_sign(x: AttentionProblem) -> Reading:
    kernel = x["x"] @ x["y"].T
    return x.reading(kernel.abs().sum() / kernel.sum(-1).abs().min(), linear=kernel_weights(x["x"], x["y"]))


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


def conic_ratios(drawn: PlanProblem) -> Reading:
    plan, error = drawn.solved(drawn.scores, drawn.epsilon)
    ratio = plan[:, :, None] / plan[:, None, :]
    return Reading(drawn.point(), {"cvxpy": float64(ratio)}, 3 * error / float(plan.min()) * float(ratio.max()))


@confirms(Layer.PRIMAL, "transport.s7.soft-sorting", on=conic_problems(), corrected=conic_ratios)
def conic_hard_choices(drawn: PlanProblem) -> Reading:
    plan, error = drawn.solved(drawn.square, max(CONIC_COLD, float(np.ptp(drawn.square)) / 39))
    return Reading(drawn.point(), {"cvxpy": float64(plan.sum(axis=0))}, error)


def on_a_line(drawn: PlanProblem) -> tuple[Array, Array, dict[str, float | Array]]:
    """Places of training and testing, and a loss of the Lipschitz constant L = ε there; γ(L) = L."""
    train, test = drawn.potentials[0], drawn.potentials[1] + (0.0, 6.0)[drawn.seed % 2]
    locations = (x + 9 if drawn.seed % 3 else np.abs(x) for x in (train, test))
    f, g = (drawn.epsilon * points for points in locations)
    spare = drawn.epsilon * np.abs(train[:, None] - test) - g + f[:, None]
    return train, test, {"f": f, "g": g, "L": drawn.epsilon, "γ": drawn.epsilon, "z": np.maximum(spare, 0.0)}


def conic_carried(drawn: PlanProblem) -> Reading:
    """L W₁ of training and test data, by the linear program."""
    train, test, values = on_a_line(drawn)
    best = coupling.solve_transport(np.abs(train[:, None] - test), drawn.a, drawn.b)
    assert best.certified
    scale = drawn.epsilon * (10 + float(np.abs(train).max() + np.abs(test).max()))
    error = drawn.epsilon * max(best.gap, 0.0) + tolerances.rounding("float64", drawn.n * drawn.m, 4 * scale)
    return Reading(drawn.point(**values, P=best.plan), {"linear program": float64(drawn.epsilon * best.objective)}, error)


@confirms(Layer.PRIMAL, "transport.s7.generalization", on=conic_problems(), corrected=conic_carried)
def conic_risk_gap(drawn: PlanProblem) -> Reading:
    """The gap, along the best coupling of the two distributions."""
    train, test, values = on_a_line(drawn)
    best = coupling.solve_transport(np.abs(train[:, None] - test), drawn.a, drawn.b)
    assert best.certified
    f, g = np.asarray(values["f"]), np.asarray(values["g"])
    scale = 1 + float(np.abs(f).max() + np.abs(g).max())
    error = scale * (best.infeasibility + tolerances.rounding("float64", drawn.n * drawn.m))
    return Reading(drawn.point(**values), {"linear program": float64((best.plan * (g - f[:, None])).sum())}, error, "right")
