"""Votes on: Section 6, the primers on Lagrangian duality and on the Karush-Kuhn-Tucker conditions."""

from evidence import Layer, Sampled
from evidence.eot.conic_dual import dual_value
from evidence.eot.conic_one_sided import problems
from evidence.eot.potential import dual
from evidence.instances.one_sided import rows

VOTES = [
    Sampled("eot.s6.strong-duality", Layer.TORCH, dual, on=rows(), count=16),
    Sampled("eot.s6.strong-duality", Layer.PRIMAL, dual_value, on=problems(), count=16),
]
