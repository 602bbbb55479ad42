"""A batch of problems of any shape as one list of rows in float64, and its tiles.

Claims      deciphering.4
Notation    as in ``rows``; c = center, the mean of the priors where templates are shared, else each row's μ; r = max_i ‖t_i‖
Rounding    With U_i = |log u_i| + |mask_i|, as they are summed, log u_i loses 2U_i eps/2, and as much as itself, once with
            what normalizes it and once without. U_i ≤ |log u_i| + |total| + 2 log⁺ max u, so that this is at most
            eps/2 (4|log u_i| + 3|total| + 4 log⁺ max u). The total's own rounding is common to all, and changes no tilt.
            μ − c is that of the prior as given, unless a floating mask changes it: each u_i is then off by what log u_i loses
            and 4 eps/2, relatively, and μ − c by at most r times that, in the norm of L²(u). The sums by heads and tails, their
            quotient, and what is added last lose the rest, eps/2 (4‖μ − c‖ + r spread).
"""

import math
from collections.abc import Iterator
from functools import cached_property

import torch
from torch import Tensor

from numerics.mem.arguments import Alpha, Weighted, mean, positive, weighted
from numerics.mem.rows import Rows, spread

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
        drift, blur: as in ``Rows``.
        span: a bound on the length of any mean of the templates as given, (1,) or (r,).
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
        if len(self._templates) != 1:
            numbers = torch.arange(len(self._templates), device=z.device).reshape(templates.shape[:-2])
            self._group = numbers.expand(self.shape).reshape(count)
        self._log_prior = self._flat(x.log_prior)
        self._log_prior = self._log_prior[0] if x.log_prior.shape[:-1].numel() == 1 else self._log_prior
        self.alpha = a.expand(*self.shape, 1).reshape(count, 1)
        self.live = x.live.expand(*self.shape, 1).reshape(count)
        self._evidence = z.expand(*self.shape, d).reshape(count, d)
        unit = torch.finfo(torch.float64).eps / 2
        excess = z.new_zeros(1) if prior is None else prior.double().amax(-1, keepdim=True).clamp(min=1).log()
        self.blur = unit * self._flat(3 * x.total.abs() + 4 * excess).squeeze(-1)
        masses = _masses(x, prior, mask)
        if self._group is None:
            self.center = mean(_typical(x.prior.reshape(-1, n)), self._templates[0])
            self._templates = self._templates - self.center
            every = Rows(self._templates[0], x.log_prior, z, a)
            self._shift = self._flat(every.mean(masses) / every.total(masses))
            radius = every.radius
        else:
            self.center = mean(x.prior, x.templates).expand(*self.shape, d).reshape(count, d)
            self._shift, radius = torch.zeros_like(self.center), torch.zeros_like(self.blur).expand(count).clone()
            masses = masses.expand(*self.shape, n).reshape(count, n)
            self.drift = self.blur                           # to be known in a moment, and not needed until then
            for tile in self.tiles(torch.arange(count, device=z.device)):
                rows = self.rows(tile)
                self._shift[tile] = rows.mean(masses[tile]) / rows.total(masses[tile])
                radius[tile] = rows.radius.squeeze(-1)
        self.span = 1.001 * (radius + self.center.norm(dim=-1))
        self.drift = unit * (4 * self._shift.norm(dim=-1) + spread(n, d) * radius)
        if mask is not None and mask.dtype != torch.bool:
            self.drift = self.drift + 2 * radius * (self.blur + unit * (8 + 4 * math.log(n)))

    def _flat(self, x: Tensor) -> Tensor:
        """(1, k) if it is the same for all rows, else (r, k)."""
        size = x.shape[-1]
        one = x.shape[:-1].numel() == 1
        return x.reshape(1, size) if one else x.expand(*self.shape, size).reshape(-1, size)

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
        drift, blur = (x if len(x) == 1 else x[index] for x in (self.drift, self.blur))
        return Rows(templates, log_prior, target, self.alpha[index], self.gram, drift, blur)

    @cached_property
    def _still(self) -> bool:
        small = 4 * torch.finfo(torch.float64).eps * self._templates.norm(dim=-1).amax()
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


def _typical(priors: Tensor) -> Tensor:
    """The mean of the priors, (n,), but for those with NaN, (r, n)."""
    sound = priors.isfinite().all(-1, keepdim=True)
    return torch.where(sound, priors, 0.0).sum(0) / sound.sum().clamp(min=1)


def _masses(x: Weighted, prior: Tensor | None, mask: Tensor | None) -> Tensor:
    """What is proportional to u_i, at most 1, in the shape of ``x.prior``: the prior as given, unless the mask is floating."""
    if mask is not None and mask.dtype != torch.bool:
        return x.prior
    given = torch.ones_like(x.prior) if prior is None else prior.double()
    masses = given if mask is None else torch.where(mask, given, 0.0)
    # A power of two changes no digit; it stops short of one that is not a number.
    power = torch.frexp(masses.amax(-1, keepdim=True)).exponent.clamp(min=-1000)
    return torch.ldexp(masses, -power)
