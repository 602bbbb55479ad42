"""Votes on: The abstract."""

from evidence import Layer, Reading, Sampled, confirms
from evidence.eot.backward import mean_estimate
from evidence.eot.conic_appendix import conic_maximizer
from evidence.eot.conic_one_sided import problems
from evidence.eot.forward import descent, reading
from evidence.eot.framing import fisher, variance_without_baseline
from evidence.instances.one_sided import Row, rows
from numerics import one_sided


@confirms(Layer.TORCH, "eot.s0.exact-solution", on=rows())
def plan(row: Row) -> Reading:
    return reading(row, closed_form=one_sided.plan(one_sided.scores_from(row["Q"], row["K"]), row.tau), softmax=row.weights)


@confirms(Layer.TORCH, "eot.s0.policy-gradient", "eot.s0.geometry", on=rows())
def update(row: Row) -> Reading:
    return reading(row, row.u / row.tau, autograd=descent(row, row.u), fisher=row.tau * fisher(row) @ row.u)


VOTES = [
    Sampled("eot.s0.variance-reduced", Layer.TORCH, variance_without_baseline, on=rows(), corrected=mean_estimate),
    Sampled("eot.s0.exact-solution", Layer.PRIMAL, conic_maximizer, on=problems()),
]
