"""Rounding errors of a chain of matrix products, with a probability close to one.

Rounding errors are taken as independent with mean zero, each within half of eps times the number that is rounded (the model
of Higham and Mary, "A new approach to probabilistic rounding error analysis", 2019). A sum of n products rounds every
product and every partial sum; over the orders of summation a partial sum is on average at most √(R² + y²), where R² is the
sum of the squared products and y the result. By Hoeffding's inequality N results all stay within √(2 log(2N/δ)) times the
root of their summed squares but for a probability δ. Worst-case bounds add magnitudes through every product instead, and for
the projections of attention that leaves nothing to refuse.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from numerics import tolerances

_FAILURE = 1e-9


@dataclass(frozen=True, eq=False)
class Rounded:
    """Numbers in float64 and the summed squares of the bounds on the errors of their rounded twins."""

    value: Tensor
    square: Tensor
    unit: float

    @classmethod
    def exact(cls, value: Tensor) -> "Rounded":
        """Numbers given to both sides, in the precision of the computation."""
        return cls(value.detach().double(), torch.zeros(()).double(), tolerances.eps(value.dtype) / 2)

    def __matmul__(self, other: "Rounded") -> "Rounded":
        value = self.value @ other.value
        left, right, n = self.value.square(), other.value.square(), self.value.shape[-1]
        inherited = self._times(right) + (other.mT._times(left.mT)).mT
        own = self.unit**2 * ((n + 1) * (left @ right) + n * value.square())
        return Rounded(value, inherited + own, self.unit)

    def _times(self, right: Tensor) -> Tensor:
        return self.square.expand(self.value.shape) @ right

    def __add__(self, other: Tensor) -> "Rounded":
        """The sum with numbers that are given."""
        value = self.value + other.double()
        return Rounded(value, self.square + self.unit**2 * value.square(), self.unit)

    def __mul__(self, factor: float) -> "Rounded":
        """The product with a number that is rounded itself."""
        value = self.value * factor
        return Rounded(value, self.square * factor**2 + 2 * self.unit**2 * value.square(), self.unit)

    @property
    def mT(self) -> "Rounded":
        """The transpose."""
        return Rounded(self.value.mT, self.square.mT if self.square.ndim else self.square, self.unit)

    def softmax(self, seen: Tensor) -> "Rounded":
        """p_i = e^{s_i}/Σ e^{s_j} over what is seen: s_i off by e_i makes p_i off by p_i (e_i − Σ_j p_j e_j)."""
        p = self.value.masked_fill(~seen, -torch.inf).softmax(-1)
        peak = self.value.masked_fill(~seen, -torch.inf).amax(-1, keepdim=True)
        distance = torch.where(seen, self.value - peak, 0.0)
        # Taking off the peak rounds the distance, the exponential and the quotient round their results, and the sum of n
        # positive terms rounds n partial sums, none of them larger than the total.
        relative = torch.where(seen, self.square, 0.0) + self.unit**2 * (distance.square() + 4.0 + p.shape[-1])
        return Rounded(p, p.square() * (relative + (p.square() * relative).sum(-1, keepdim=True)), self.unit)

    def heads(self, count: int) -> "Rounded":
        """(..., n, H·d) as (..., H, n, d)."""
        square = self.square.expand(self.value.shape)
        value, square = (x.reshape(*x.shape[:-1], count, -1).transpose(-2, -3) for x in (self.value, square))
        return Rounded(value, square, self.unit)

    def merged(self) -> "Rounded":
        """(..., H, n, d) as (..., n, H·d)."""
        value, square = (x.transpose(-2, -3).flatten(-2) for x in (self.value, self.square))
        return Rounded(value, square, self.unit)


def allowed(*sides: Rounded) -> Tensor:
    """The allowed difference of the sides, entry by entry."""
    summed = torch.stack([side.square.expand(side.value.shape) for side in sides]).sum(0)
    return math.sqrt(2.0 * math.log(2.0 * summed.numel() / _FAILURE)) * summed.sqrt()
