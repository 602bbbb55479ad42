"""Numbers ≥ 0, and vectors and matrices of them."""

from derivations.domains.base import Sign
from derivations.domains.intervals import Interval
from derivations.domains.real import Real


class Nonnegative(Interval):
    """Numbers ≥ 0."""

    name = "nonnegative"
    words = "≥ 0"
    accepted = "numbers ≥ 0"
    sign = Sign.NONNEGATIVE
    inside = (Real,)
