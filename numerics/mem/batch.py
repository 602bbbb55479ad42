"""A batch of problems of any shape as one list of rows in float64, and its tiles.

Claims      deciphering.4
Notation    as in ``rows``; c = center, the mean of the priors where templates are shared, else each row's μ; r = max_i ‖t_i‖
Rounding    The errors of log u_i and of b that are given to the solvers are derived in ``docs/notes/mem_rounding.md``.
"""

import math
from collections.abc import Iterator
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from numerics.mem.arguments import Alpha, Weighted, mean, positive, uniform, weighted
from numerics.mem.prepared import prepared
from numerics.mem.rows import Rows, mean_rounding

_MAX_GRAM_SIZE = 2048
"""The largest n for which a Gram matrix is made."""

_TILE_NUMBERS = 2**22
"""The largest number of entries of an array of a tile, unless a single row has more."""

_UNIT_ROUNDOFF = torch.finfo(torch.float64).eps / 2


class Batch:
    """The rows of a batch; templates that are shared by all of them stay one copy.

    Attributes:
        shape: of the rows.
        evidence: z, (r, d).
        log_prior: (n,) or (r, n).
        center: c, (d,) or (r, d).
        alpha: (r, 1).
        live: False for a row that is fully masked; broadcasts to (*shape, 1).
        shared: the templates, if all rows share them.
        log_prior_error: as in ``Rows``.
    """

    def __init__(
        self, templates: Tensor, evidence: Tensor, prior: Tensor | None, alpha: Alpha, mask: Tensor | None
    ) -> None:
        if prior is None and mask is None and templates.device.type == "cpu":
            x = uniform(templates.double())
        else:
            x = weighted(templates, prior, mask, torch.float64)
        z = evidence.double()
        a = positive(alpha, z)
        n, d = templates.shape[-2:]
        shapes = {y.shape[:-1] for y in (z, x.log_prior, a, x.live)} | {templates.shape[:-2]}
        shapes.discard(torch.Size())
        self.shape = shapes.pop() if len(shapes) == 1 else torch.Size(np.broadcast_shapes(*shapes))
        count = self.shape.numel()
        self._arguments = x, prior, mask
        self._templates = x.templates.reshape(-1, n, d)
        self._group = None
        if len(self._templates) != 1:
            numbers = torch.arange(len(self._templates), device=z.device).reshape(templates.shape[:-2])
            self._group = numbers.expand(self.shape).reshape(count)
        self.log_prior = x.log_prior.reshape(n) if x.log_prior.numel() == n else self._flat(x.log_prior)
        self.alpha = a.expand(*self.shape, 1).reshape(count, 1)
        self.live = x.live
        self.evidence = z if z.shape == (count, d) else z.expand(*self.shape, d).reshape(count, d)
        error = 3 * _UNIT_ROUNDOFF * x.total.abs()
        if prior is not None:
            error = error + 4 * _UNIT_ROUNDOFF * prior.double().amax(-1, keepdim=True).clamp(min=1).log()
        self.log_prior_error = error if error.ndim == 1 else self._flat(error).squeeze(-1)
        if self._group is None:
            self.shared = prepared(self._templates[0], _mean_prior(x.prior.reshape(-1, n)))
            self.center, self._templates = self.shared.center, self.shared.templates.unsqueeze(0)
        else:
            self.center = mean(x.prior, x.templates).expand(*self.shape, d).reshape(count, d)

    def _flat(self, x: Tensor) -> Tensor:
        """x as (1, k) if it is the same for all rows, else as (r, k)."""
        size = x.shape[-1]
        is_shared = x.shape[:-1].numel() == 1
        return x.reshape(1, size) if is_shared else x.expand(*self.shape, size).reshape(-1, size)

    def of_rows(self, x: Tensor) -> Tensor:
        """What is given for each row of the list, (r, ...), in the shape of the batch."""
        return x if len(self.shape) == 1 else x.reshape((*self.shape, *x.shape[1:]))

    @property
    def gram(self) -> Tensor | None:
        """TTᵀ of the centred templates, (n, n), if all rows share them and it pays."""
        n, d = self.size
        return None if self._group is not None or n > min(_MAX_GRAM_SIZE, 4 * d) else self.shared.gram

    @property
    def templates(self) -> Tensor:
        """The centred templates that all rows share, (n, d)."""
        return self._templates[0]

    def target(self, scratch: Tensor) -> tuple[Tensor, Tensor]:
        """b = μ + z − c, (r, d), in ``scratch`` unless it is z, and a bound on its error, (1,) or (r,); for templates that all
        rows share. If they also share the prior, μ = c, and a computed difference that may be rounding counts as error."""
        prior, (n, _) = self._arguments[0].prior, self.size
        if prior.shape[:-1].numel() == 1:
            shift, shift_norm = self.shared.shift, self.shared.shift_norm
        else:
            shift = self._flat(mean(prior, self.templates))
            shift_norm = shift.norm(dim=-1)
        error = (2 * self._prior_error + _UNIT_ROUNDOFF * (n + 4)) * self.radius
        if len(shift) == 1 and bool(shift_norm <= error):
            return self.evidence, 1.001 * shift_norm + error
        return torch.add(self.evidence, shift, out=scratch), _UNIT_ROUNDOFF * 4 * shift_norm + error

    def rows(self, index: slice | Tensor) -> Rows:
        """Some of the rows, with centred templates."""
        log_prior = self.log_prior if self.log_prior.ndim == 1 else self.log_prior[index]
        shift, *errors = *self._precise_shift, self.log_prior_error
        target = self.evidence[index] + (shift if len(shift) == 1 else shift[index])
        target_error, log_prior_error = (x if len(x) == 1 else x[index] for x in errors)
        return Rows(
            self._centred(index), log_prior, target, self.alpha[index], self.gram, target_error, log_prior_error
        )

    @property
    def span(self) -> Tensor:
        """A bound on the norm of every mean of the templates as given, (1,) or (r,)."""
        if self._group is None:
            return self.shared.span
        span: Tensor = 1.001 * (self.radius + self.center.norm(dim=-1))
        return span

    def _centred(self, index: slice | Tensor) -> Tensor:
        if self._group is None:
            return self.templates
        return self._templates[self._group[index]] - self.center[index].unsqueeze(-2)

    @cached_property
    def radius(self) -> Tensor:
        """max_i ‖t_i − c‖, (1,) or (r,)."""
        if self._group is None:
            return self.shared.radius
        radius = torch.empty_like(self.alpha).squeeze(-1)
        for tile in self._all_tiles():
            radius[tile] = self._centred(tile).norm(dim=-1).amax(-1)
        return radius

    @property
    def _prior_error(self) -> Tensor:
        """The relative error of e^{log u} in the norm of L²(u), (1,) or (r,)."""
        return self.log_prior_error + _UNIT_ROUNDOFF * (8 + 4 * math.log(self.size[0]))

    @cached_property
    def _precise_shift(self) -> tuple[Tensor, Tensor]:
        """μ − c, (1, d) or (r, d), to about the precision of its largest entry, and a bound on its error, (1,) or (r,)."""
        x, prior, mask = self._arguments
        n, d = self.size
        masses = _unnormalized_prior(x, prior, mask)
        if self._group is None:
            rows = Rows(self.templates, x.log_prior, self.evidence, self.alpha)
            shift = self._flat(rows.mean(masses) / rows.total(masses))
        else:
            shift, masses = torch.empty_like(self.center), masses.expand(*self.shape, n).reshape(-1, n)
            for tile in self._all_tiles():
                rows = Rows(self._centred(tile), x.log_prior, self.evidence, self.alpha)
                shift[tile] = rows.mean(masses[tile]) / rows.total(masses[tile])
        error = _UNIT_ROUNDOFF * (4 * shift.norm(dim=-1) + mean_rounding(n, d) * self.radius)
        if mask is not None and mask.dtype != torch.bool:
            error = error + 2 * self.radius * self._prior_error
        return shift, error

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

    def tiles(self, index: Tensor) -> Iterator[Tensor]:
        """Split the numbers of some rows into tiles whose templates and Hessians have at most _TILE_NUMBERS entries."""
        n, d = self.size
        yield from index.split(max(1, _TILE_NUMBERS // max(n * d, min(n, d) ** 2)))  # type: ignore[no-untyped-call]


def _mean_prior(priors: Tensor) -> Tensor:
    """The mean of the priors, (r, n), without those that contain NaN, (n,)."""
    if len(priors) == 1:
        return priors[0]
    valid = priors.isfinite().all(-1, keepdim=True)
    return torch.where(valid, priors, 0.0).sum(0) / valid.sum().clamp(min=1)


def _unnormalized_prior(x: Weighted, prior: Tensor | None, mask: Tensor | None) -> Tensor:
    """The prior up to a factor, with entries of at most 1, shaped like ``x.prior``: as given, unless the mask is floating."""
    if mask is not None and mask.dtype != torch.bool:
        return x.prior
    masses = torch.ones_like(x.prior) if prior is None else prior.double()
    masses = masses if mask is None else torch.where(mask, masses, 0.0)
    # Scaling by a power of two is exact; the clamp keeps 2^−power finite.
    power = torch.frexp(masses.amax(-1, keepdim=True)).exponent.clamp(min=-1000)
    return torch.ldexp(masses, -power)
