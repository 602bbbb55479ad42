"""Votes on: Section 5, the four principles for a good design."""

from evidence import Layer, Reading, Sampled, confirms
from evidence.eot.conic_regularizers import conic_close_to_others, regularized_problems
from evidence.eot.regularizers import close_to_others, points
from evidence.instances.attention import AttentionProblem, attention_problems
from numerics import one_sided


@confirms(Layer.TORCH, "transport.s5.row-stochasticity", on=attention_problems())
def row_mass(x: AttentionProblem) -> Reading:
    return x.reading(closed_form=one_sided.plan(x["S"], x.eps).sum(-1))


VOTES = [
    Sampled("transport.s5.sparsity", Layer.TORCH, close_to_others, on=points()),
    Sampled("transport.s5.sparsity", Layer.PRIMAL, conic_close_to_others, on=regularized_problems(), count=20),
]
