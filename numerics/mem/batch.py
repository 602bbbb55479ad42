"""A batch of problems of any shape as one list of rows in float64, and its tiles.

Claims      deciphering.4
Notation    as in ``rows``; c = center, the mean of the priors where templates are shared, else each row's μ; r = max_i ‖t_i‖
Rounding    With U_i = |log u_i| + |mask_i|, as they are summed, log u_i loses 2U_i eps/2, and as much as itself, once with
            what normalizes it and once without. U_i ≤ |log u_i| + |total| + 2 log⁺ max u, so that this is at most
            eps/2 (4|log u_i| + 3|total| + 4 log⁺ max u). The total's own rounding is common to all, and changes no tilt.
            e^{log u_i} is then off by what log u_i loses and 4 eps/2, relatively, and Σ u_i (t_i − c) by at most r times that,
            in the norm of L²(u), and n eps/2 r more for a product that is made up in any order: so much ``target`` has lost.
            ``Rows`` have it precisely, from the prior as given, unless a floating mask changes it: the sums by heads and tails,
            their quotient, and what is added last then lose the rest, eps/2 (4‖μ − c‖ + r spread).
"""

import math
from collections.abc import Iterator
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from numerics.mem.arguments import Alpha, Weighted, mean, positive, weighted
from numerics.mem.rows import Rows, spread

_GRAM = 2048
"""The largest n for which a Gram matrix is made."""

_WORKSPACE = 2**22
"""How many numbers an array of a tile may have, unless a single row has more."""

_UNIT = torch.finfo(torch.float64).eps / 2


class Batch:
    """The rows of a batch; templates that are shared by all of them stay one copy.

    Attributes:
        shape: of the rows.
        evidence: z, (r, d).
        log_prior: (n,) or (r, n).
        center: c, (d,) or (r, d).
        alpha: (r, 1).
        live: whether something of each row is left by the mask, (r,).
        blur: as in ``Rows``.
    """

    def __init__(
        self, templates: Tensor, evidence: Tensor, prior: Tensor | None, alpha: Alpha, mask: Tensor | None
    ) -> None:
        x = weighted(templates, prior, mask, torch.float64)
        z = evidence.double()
        a = positive(alpha, z)
        n, d = templates.shape[-2:]
        shapes = (templates.shape[:-2], z.shape[:-1], x.log_prior.shape[:-1], a.shape[:-1], x.live.shape[:-1])
        self.shape = torch.Size(np.broadcast_shapes(*shapes))
        count = self.shape.numel()
        self._given = x, prior, mask
        self._templates = x.templates.reshape(-1, n, d)
        self._group = None
        if len(self._templates) != 1:
            numbers = torch.arange(len(self._templates), device=z.device).reshape(templates.shape[:-2])
            self._group = numbers.expand(self.shape).reshape(count)
        self.log_prior = self._flat(x.log_prior)
        self.log_prior = self.log_prior[0] if x.log_prior.shape[:-1].numel() == 1 else self.log_prior
        self.alpha = a.expand(*self.shape, 1).reshape(count, 1)
        self.live = x.live.expand(*self.shape, 1).reshape(count)
        self.evidence = z.expand(*self.shape, d).reshape(count, d)
        excess = z.new_zeros(1) if prior is None else prior.double().amax(-1, keepdim=True).clamp(min=1).log()
        self.blur = _UNIT * self._flat(3 * x.total.abs() + 4 * excess).squeeze(-1)
        if self._group is None:
            self.center = mean(_typical(x.prior.reshape(-1, n)), self._templates[0])
            self._templates = self._templates - self.center
        else:
            self.center = mean(x.prior, x.templates).expand(*self.shape, d).reshape(count, d)

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

    def target(self, spare: Tensor) -> tuple[Tensor, Tensor]:
        """b = μ + z − c, (r, d), in ``spare`` unless it is z, and a bound on what it has lost, (1,) or (r,); for templates that
        all rows share. If they share the prior, μ is c, and a difference that may be rounding counts as lost."""
        shift = self._flat(mean(self._given[0].prior, self.templates))
        n, _ = self.size
        length, lost = shift.norm(dim=-1), self.radius * (2 * self._slip + _UNIT * (n + 4))
        if len(shift) == 1 and bool(length <= lost):
            return self.evidence, 1.001 * length + lost
        return torch.add(self.evidence, shift, out=spare), _UNIT * 4 * length + lost

    def rows(self, index: slice | Tensor) -> Rows:
        """Some of the rows, their templates centred."""
        log_prior = self.log_prior if self.log_prior.ndim == 1 else self.log_prior[index]
        shift, *others = *self._precise_shift, self.blur
        target = self.evidence[index] + (shift if len(shift) == 1 else shift[index])
        drift, blur = (x if len(x) == 1 else x[index] for x in others)
        return Rows(self._centred(index), log_prior, target, self.alpha[index], self.gram, drift, blur)

    @cached_property
    def span(self) -> Tensor:
        """A bound on the length of any mean of the templates as given, (1,) or (r,)."""
        span: Tensor = 1.001 * (self.radius + self.center.norm(dim=-1))
        return span

    def _centred(self, index: slice | Tensor) -> Tensor:
        if self._group is None:
            return self.templates
        return self._templates[self._group[index]] - self.center[index].unsqueeze(-2)

    @cached_property
    def radius(self) -> Tensor:
        """max_i ‖t_i − c‖, (1,) or (r,)."""
        found = torch.empty_like(self.alpha if self._group is not None else self.alpha[:1]).squeeze(-1)
        for tile in self._all_tiles() if self._group is not None else (slice(None),):
            found[tile] = self._centred(tile).norm(dim=-1).amax(-1)
        return found

    @property
    def _slip(self) -> Tensor:
        """What e^{log u} is off by, in the norm of L²(u), (1,) or (r,)."""
        return self.blur + _UNIT * (8 + 4 * math.log(self.size[0]))

    @cached_property
    def _precise_shift(self) -> tuple[Tensor, Tensor]:
        """μ − c, (1, d) or (r, d), to about the precision of its largest entry, and a bound on what that lost, (1,) or (r,)."""
        x, prior, mask = self._given
        n, d = self.size
        masses = _masses(x, prior, mask)
        if self._group is None:
            every = Rows(self.templates, x.log_prior, self.evidence, self.alpha)
            shift = self._flat(every.mean(masses) / every.total(masses))
        else:
            shift, masses = torch.empty_like(self.center), masses.expand(*self.shape, n).reshape(-1, n)
            for tile in self._all_tiles():
                some = Rows(self._centred(tile), x.log_prior, self.evidence, self.alpha)
                shift[tile] = some.mean(masses[tile]) / some.total(masses[tile])
        drift = _UNIT * (4 * shift.norm(dim=-1) + spread(n, d) * self.radius)
        if mask is not None and mask.dtype != torch.bool:
            drift = drift + 2 * self.radius * self._slip
        return shift, drift

    def center_of(self, index: Tensor) -> Tensor:
        """c of some rows, (r, d) or (d,)."""
        return self.center if self._group is None else self.center[index]

    @property
    def size(self) -> tuple[int, int]:
        """n and d."""
        n, d = self._templates.shape[-2:]
        return n, d

    def _all_tiles(self) -> Iterator[Tensor]:
        return self.tiles(torch.arange(len(self.alpha), device=self.alpha.device))

    def tiles(self, among: Tensor) -> Iterator[Tensor]:
        """The rows with these numbers, so many at a time that neither their templates nor their Hessians are large."""
        n, d = self.size
        yield from among.split(max(1, _WORKSPACE // max(n * d, min(n, d) ** 2)))  # type: ignore[no-untyped-call]


def _typical(priors: Tensor) -> Tensor:
    """The mean of the priors, (n,), but for those with NaN, (r, n)."""
    if len(priors) == 1:
        return priors[0]
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
