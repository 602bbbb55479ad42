"""Votes on: Appendix D, last part: the closed form (47), and that it is (25)."""

from evidence import Layer, Reading, Sampled, confirms
from evidence.deciphering.transport import EVEN, FEW_EVEN, reading, second_order_of_weights
from evidence.instances.ot import OtProblem
from numerics import ot_attention as ot


@confirms(Layer.TORCH, "deciphering.sD.same-as-25", on=EVEN)
def closed_form(x: OtProblem) -> Reading:
    return reading(x, weights=ot.weights(x["T"], x["z"], x["u"], x["M"], x.alpha, x.gamma))


VOTES = [
    Sampled("deciphering.47", Layer.TORCH, second_order_of_weights, on=FEW_EVEN, count=10, corrected=second_order_of_weights)
]
