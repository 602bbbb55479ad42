"""Connected components of the allowed entries: groups of rows and columns that exchange mass only with each other."""

from typing import NamedTuple

import torch
from torch import Tensor


class Parts(NamedTuple):
    """Parts of a batch of problems, numbered from 0.

    Attributes:
        rows: the part of each row, (..., n); ``bound`` for a row that takes part in nothing.
        columns: the part of each column, (..., m); likewise.
        bound: an upper bound on how many there are, at most the length of the shorter side.
    """

    rows: Tensor
    columns: Tensor
    bound: int

    @classmethod
    def of(cls, alive: Tensor) -> "Parts":
        """Return the connected parts of the pairs that may exchange mass, boolean (..., n, m)."""
        n, m = alive.shape[-2:]
        if bool(alive.all()):
            zero = alive.new_zeros((), dtype=torch.long)
            return cls(zero.expand(*alive.shape[:-2], n), zero.expand(*alive.shape[:-2], m), 1)
        pairs = alive if n <= m else alive.mT
        count = min(n, m)
        steps = pairs.to(torch.float32)
        linked = torch.matmul(steps, steps.mT) > 0
        for _ in range(count.bit_length()):
            steps = linked.to(steps)
            linked = torch.matmul(steps, steps) > 0
        number = torch.arange(count, device=alive.device)
        short = torch.where(linked, number, count).amin(-1)
        long = torch.where(pairs, short.unsqueeze(-1), count).amin(-2)
        return cls(short, long, count) if n <= m else cls(long, short, count)

    def of_rows(self, x: Tensor) -> Tensor:
        """Return, for each row, the sum of x (..., n) over its part; 0 for a row that takes part in nothing."""
        return self._sum(x, self.rows)

    def of_columns(self, x: Tensor) -> Tensor:
        """Return, for each column, the sum of x (..., m) over its part; 0 for a column that takes part in nothing."""
        return self._sum(x, self.columns)

    def totals(self, rows: Tensor, columns: Tensor) -> tuple[Tensor, Tensor]:
        """Return the sums of two tensors, (..., n) and (..., m), over every part, (..., bound) each."""
        return self._totals(rows, self.rows)[..., :-1], self._totals(columns, self.columns)[..., :-1]

    def _sum(self, x: Tensor, labels: Tensor) -> Tensor:
        if self.bound == 1 and labels.stride(-1) == 0:
            return x.sum(-1, keepdim=True).expand_as(x)
        return torch.where(labels < self.bound, self._totals(x, labels).gather(-1, labels), 0.0)

    def _totals(self, x: Tensor, labels: Tensor) -> Tensor:
        return x.new_zeros(*x.shape[:-1], self.bound + 1).scatter_add(-1, labels, x)
