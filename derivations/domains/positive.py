"""Numbers > 0, and vectors and matrices of them."""

from derivations.domains.base import Sign
from derivations.domains.intervals import Interval
from derivations.domains.nonnegative import Nonnegative
from derivations.domains.nonzero import Nonzero


class Positive(Interval):
    """Numbers > 0."""

    name = "positive"
    words = "> 0"
    accepted = "positive numbers"
    sign = Sign.POSITIVE
    inside = (Nonnegative, Nonzero)
