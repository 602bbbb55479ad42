"""Votes on: Section 9, additions: properties of the weights (25) that matter to users of the layer."""

from torch import Tensor

from evidence import Layer, Reading, confirms
from evidence.deciphering.transport import reading
from evidence.instances.ot import OtProblem, ot_problems
from numerics import ot_attention as ot

ANY = ot_problems()


CONSTANT, HOT = 3.0, 1e9


def closed_form(x: OtProblem, cost: Tensor, gamma: float) -> Tensor:
    """(25)."""
    return ot.weights(x["T"], x["z"], x["u"], cost, x.alpha, gamma)


@confirms(Layer.TORCH, "deciphering.s9.normalized", on=ANY)
def mass(x: OtProblem) -> Reading:
    return reading(x, closed_form=closed_form(x, x["M"], x.gamma).sum())


@confirms(Layer.TORCH, "deciphering.s9.bilinear-cost", on=ANY)
def with_inner_products(x: OtProblem) -> Reading:
    cost = ot.negative_inner_product(x["T"], constant=CONSTANT)
    return reading(x, cost / x.gamma, extra={"C": CONSTANT}, closed_form=closed_form(x, cost, x.gamma))


@confirms(Layer.TORCH, "deciphering.s9.hot", on=ANY)
def when_hot(x: OtProblem) -> Reading:
    scores = x["T"] @ x["z"]
    reach = float((x.alpha * scores).abs().max() + x["M"].abs().max())
    base = reading(x, extra={"Y": scores, "i": 1}, closed_form=closed_form(x, x["M"], HOT)[0])
    return Reading(base.point, base.routes, base.tolerance + 2 * reach / HOT)  # log p moves by at most 2 reach/γ


@confirms(Layer.TORCH, "deciphering.s9.one-pass-bound", on=ANY, count=16)
def slope(x: OtProblem) -> Reading:
    here, best = (ot.transported(x["T"] @ x[name], x["u"], x["M"], x.gamma) @ x["T"] for name in ("nu", "lam"))
    gradient = (x["lam"] - x["nu"]) / x.alpha + best - here
    return reading(x, (gradient.abs() + 1).square(), closed_form=x.alpha / 2 * gradient.square().sum())
