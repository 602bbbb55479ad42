"""Sections 1 and 3 of eot in torch: closed forms and autograd against the proved expressions."""

from torch import Tensor

from evidence import Reading
from evidence.instances.derivatives import gradient
from evidence.instances.one_sided import Row
from numerics import one_sided


def reading(row: Row, *magnitudes: Tensor | float, **routes: Tensor) -> Reading:
    """Routes at a row, with the tolerance for these magnitudes and the routes' own."""
    return Reading(row.point(), routes, row.tolerance(*magnitudes, *routes.values()))


def descent(row: Row, utilities: Tensor) -> Tensor:
    """−∂L/∂s by autograd, for a loss that is linear in the weights."""
    return gradient(lambda s: (utilities * one_sided.plan(s, row.tau)).sum(), row.s)
