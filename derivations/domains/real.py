"""Real numbers, vectors and matrices."""

from derivations.domains.base import Sign
from derivations.domains.intervals import Interval


class Real(Interval):
    """Real numbers."""

    name = "real"
    words = "real"
    accepted = "real numbers"
    sign = Sign.ANY
