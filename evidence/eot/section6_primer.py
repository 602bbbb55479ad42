"""Votes on: Section 6, the primers on Lagrangian duality and on the Karush-Kuhn-Tucker conditions."""

from __future__ import annotations

from evidence import Layer, confirms
from evidence.eot.conic_dual import dual_value
from evidence.eot.conic_one_sided import problems
from evidence.eot.potential import dual
from evidence.instances.one_sided import rows

confirms(Layer.TORCH, "eot.s6.strong-duality", on=rows(), count=16)(dual)


# ── by a conic solver, which knows no closed form ───────────────────────────────────────────────────────────────────


confirms(Layer.PRIMAL, "eot.s6.strong-duality", on=problems(), count=16)(dual_value)
