"""Argument checks of the convex programs. Every refusal is a ``ValueError`` that reads "name: expected X, got Y"."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from numerics import tolerances

Array = NDArray[np.float64]
"""What all convex programs take and return."""


def finite(name: str, values: ArrayLike, *axes: str) -> Array:
    """Return finite numbers in float64 with as many axes as are named, none of them empty."""
    x = np.asarray(values, dtype=np.float64)
    if x.ndim != len(axes) or x.size == 0 or not np.isfinite(x).all():
        shape = f"({axes[0]},)" if len(axes) == 1 else f"({', '.join(axes)})"
        raise ValueError(f"{name}: expected finite numbers {shape} with {', '.join(axes)} ≥ 1, got shape {x.shape}: {x!r}")
    return x


def vector(name: str, values: ArrayLike, size: int) -> Array:
    """Return ``size`` finite numbers in float64."""
    x = np.asarray(values, dtype=np.float64)
    if x.shape != (size,) or not np.isfinite(x).all():
        raise ValueError(f"{name}: expected {size} finite numbers, got {x!r}")
    return x


def distribution(name: str, values: ArrayLike, size: int) -> Array:
    """Return ``size`` numbers ≥ 0 that sum to one, without what rounding left of the sum, in float64."""
    p = np.asarray(values, dtype=np.float64)
    if p.shape != (size,) or not (p >= 0).all() or not abs(math.fsum(p) - 1.0) <= tolerances.rounding("float64", size):
        raise ValueError(f"{name}: expected {size} numbers ≥ 0 that sum to one, got {p!r}")
    return np.divide(p, math.fsum(p))


def check_positive(name: str, value: float) -> None:
    """Refuse numbers that are not positive and finite."""
    if not 0 < value < math.inf:
        raise ValueError(f"{name}: expected a positive finite number, got {value!r}")
