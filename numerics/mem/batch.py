"""A batch of problems of any shape as one list of rows in float64, and its tiles.

Claims      deciphering.4
Notation    as in ``rows``; c = center, the mean of the priors where templates are shared, else each row's μ
"""

from collections.abc import Iterator
from functools import cached_property

import torch
from torch import Tensor

from numerics.mem.arguments import Alpha, mean, positive, weighted
from numerics.mem.rows import Rows

_GRAM = 2048
"""The largest n for which a Gram matrix is made."""

_WORKSPACE = 2**22
"""How many numbers an array of a tile may have, unless a single row has more."""


class Batch:
    """The rows of a batch; templates that are shared by all of them stay one copy.

    Attributes:
        shape: of the rows.
        center: c, (d,) or (r, d).
        alpha: (r, 1).
        live: whether something of each row is left by the mask, (r,).
    """

    def __init__(
        self, templates: Tensor, evidence: Tensor, prior: Tensor | None, alpha: Alpha, mask: Tensor | None
    ) -> None:
        x = weighted(templates, prior, mask, torch.float64)
        z = evidence.double()
        a = positive(alpha, z)
        n, d = templates.shape[-2:]
        self.shape: torch.Size = torch.broadcast_shapes(  # type: ignore[no-untyped-call]
            templates.shape[:-2], z.shape[:-1], x.log_prior.shape[:-1], a.shape[:-1], x.live.shape[:-1]
        )
        count = self.shape.numel()
        self._templates = x.templates.reshape(-1, n, d)
        self._group = None
        if len(self._templates) > 1:
            numbers = torch.arange(len(self._templates), device=z.device).reshape(templates.shape[:-2])
            self._group = numbers.expand(self.shape).reshape(count)
        one = x.log_prior.shape[:-1].numel() == 1
        self._log_prior = x.log_prior.reshape(n) if one else x.log_prior.expand(*self.shape, n).reshape(count, n)
        self.alpha = a.expand(*self.shape, 1).reshape(count, 1)
        self.live = x.live.expand(*self.shape, 1).reshape(count)
        self._evidence = z.expand(*self.shape, d).reshape(count, d)
        if self._group is None:
            self.center = mean(x.prior.reshape(-1, n).mean(0), self._templates[0])
            self._templates = self._templates - self.center
            self._shift = Rows(self._templates[0], x.log_prior, z, a).mean(x.prior.reshape(-1, n))
            if len(self._shift) > 1:
                self._shift = self._shift.reshape(*x.prior.shape[:-1], d).expand(*self.shape, d).reshape(count, d)
        else:
            self.center = mean(x.prior, x.templates).expand(*self.shape, d).reshape(count, d)
            self._shift = torch.zeros_like(self.center)
            for tile in self.tiles(torch.arange(count, device=z.device)):
                rows = self.rows(tile)
                self._shift[tile] = rows.mean(rows.log_prior.exp().expand(len(tile), n))

    @cached_property
    def gram(self) -> Tensor | None:
        """TTᵀ of the centred templates, if all rows share them and it is worth having: it is then made once for all."""
        n, d = self.size
        if self._group is not None or n > min(_GRAM, 4 * d):
            return None
        return self._templates[0] @ self._templates[0].mT

    @property
    def templates(self) -> Tensor:
        """The centred templates that all rows share, (n, d)."""
        return self._templates[0]

    def rows(self, index: slice | Tensor, rough: bool = False) -> Rows:
        """Some of the rows, their templates centred; b may be z if that is no farther off than 8 eps max_i ‖t_i‖/2."""
        if self._group is None:
            templates = self._templates[0]
        else:
            templates = self._templates[self._group[index]] - self.center[index].unsqueeze(-2)
        log_prior = self._log_prior if self._log_prior.ndim == 1 else self._log_prior[index]
        target = self._evidence[index]
        if not (rough and self._still):
            target = target + (self._shift if len(self._shift) == 1 else self._shift[index])
        return Rows(templates, log_prior, target, self.alpha[index], self.gram)

    @cached_property
    def _still(self) -> bool:
        small = 4 * torch.finfo(torch.float64).eps * self._templates.square().sum(-1).amax().sqrt()
        return len(self._shift) == 1 and bool(self._shift.norm() <= small)

    def center_of(self, index: Tensor) -> Tensor:
        """c of some rows, (r, d) or (d,)."""
        return self.center if self._group is None else self.center[index]

    @property
    def size(self) -> tuple[int, int]:
        """n and d."""
        n, d = self._templates.shape[-2:]
        return n, d

    def slices(self, rows: int) -> Iterator[slice]:
        """All rows, so many at a time."""
        for first in range(0, len(self.alpha), rows):
            yield slice(first, first + rows)

    def tiles(self, among: Tensor) -> Iterator[Tensor]:
        """The rows with these numbers, so many at a time that neither their templates nor their Hessians are large."""
        n, d = self.size
        yield from among.split(max(1, _WORKSPACE // max(n * d, min(n, d) ** 2)))  # type: ignore[no-untyped-call]
