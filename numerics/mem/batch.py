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

from numerics.arguments import check_mask_dtype, number
from numerics.mem.arguments import Alpha, Weighted, mean, positive, uniform, weighted
from numerics.mem.prepared import prepared
from numerics.mem.rows import Rows, mean_rounding

_MAX_GRAM_SIZE = 2048
"""The largest n for which a Gram matrix is made."""

_TILE_NUMBERS = 2**22
"""The largest number of entries of an array of a tile, unless a single row has more."""

_UNIT_ROUNDOFF = torch.finfo(torch.float64).eps / 2


class Batch:
    """The rows of a batch; templates that all of them share are stored once.

    Attributes:
        shape: of the rows.
        size: n and d.
        evidence: z, (r, d).
        log_prior: (n,) or (r, n).
        center: c, (d,) or (r, d).
        alpha: (r, 1).
        live: False for a row that is fully masked; broadcasts to (*shape, 1).
        shared: the templates, if all rows share them.
        log_prior_error: as in ``Rows``.
    """

    def __init__(self, templates: Tensor, evidence: Tensor, prior: Tensor | None, alpha: Alpha, mask: Tensor | None) -> None:
        if prior is None and mask is None and templates.device.type == "cpu":
            x = uniform(templates.double())
        else:
            mask = None if mask is None else check_mask_dtype("mask", mask, templates)
            x = weighted(templates, prior, mask, torch.float64)
        z = evidence.double()
        a = positive(alpha, z) if isinstance(alpha, Tensor) else number("alpha", alpha, z.dtype)
        n, d = self.size = templates.shape[-2], templates.shape[-1]
        shapes = {y.shape[:-1] for y in (z, x.log_prior, x.live)} | {templates.shape[:-2]}
        if isinstance(a, Tensor):
            shapes.add(a.shape[:-1])
        shapes.discard(torch.Size())
        self.shape = shapes.pop() if len(shapes) == 1 else torch.Size(np.broadcast_shapes(*shapes))
        count = self.shape.numel()
        self._arguments = x, prior, mask
        self.log_prior = x.log_prior.reshape(n) if x.log_prior.numel() == n else self._flat(x.log_prior)
        self.alpha = a.expand(*self.shape, 1).reshape(count, 1) if isinstance(a, Tensor) else z.new_full((count, 1), a)
        self.live = x.live
        self.evidence = z if z.shape == (count, d) else z.expand(*self.shape, d).reshape(count, d)
        total = x.total.abs()
        error = 3 * _UNIT_ROUNDOFF * (float(total) if total.numel() == 1 else total)
        if prior is not None:
            largest = error + 4 * _UNIT_ROUNDOFF * prior.double().amax(-1, keepdim=True).clamp(min=1).log()
            error = float(largest) if largest.numel() == 1 else largest
        self.log_prior_error = self._flat(error).squeeze(-1) if isinstance(error, Tensor) else error
        groups = templates.shape[:-2].numel()
        if groups == 1:
            self._group = None
            shared_prior = x.prior if x.prior.ndim == 1 else _mean_prior(x.prior.reshape(-1, n))
            self.shared = prepared(x.templates.reshape(n, d), shared_prior)
            self.center = self.shared.center
        else:
            numbers = torch.arange(groups, device=z.device).reshape(templates.shape[:-2])
            self._group = numbers.expand(self.shape).reshape(count)
            self._templates = x.templates.reshape(groups, n, d)
            self.center = mean(x.prior, x.templates).expand(*self.shape, d).reshape(count, d)

    def _flat(self, x: Tensor) -> Tensor:
        """x as (1, k) if it is the same for all rows, else as (r, k)."""
        size = x.shape[-1]
        is_shared = x.shape[:-1].numel() == 1
        return x.reshape(1, size) if is_shared else x.expand(*self.shape, size).reshape(-1, size)

    def of_rows(self, *lists: Tensor) -> tuple[Tensor, ...]:
        """Tensors with one entry for each row of the list, (r, ...), in the shape of the batch."""
        return lists if len(self.shape) == 1 else tuple(x.reshape((*self.shape, *x.shape[1:])) for x in lists)

    @property
    def gram(self) -> Tensor | None:
        """TTᵀ of the centred templates, (n, n), if all rows share them and it pays."""
        n, d = self.size
        return None if self._group is not None or n > min(_MAX_GRAM_SIZE, 4 * d) else self.shared.gram

    @property
    def templates(self) -> Tensor:
        """The centred templates that all rows share, (n, d)."""
        return self.shared.templates

    def target(self, scratch: Tensor) -> tuple[Tensor, float | Tensor]:
        """b = μ + z − c, (r, d), in ``scratch`` unless it is z, and a bound on its error, of all rows or (r,); for templates
        that all rows share. If they also share the prior, μ = c, and a difference that may be rounding counts as error."""
        prior, (n, _) = self._arguments[0].prior, self.size
        error = (2 * self._prior_error + _UNIT_ROUNDOFF * (n + 4)) * self.radius
        if prior.shape[:-1].numel() > 1:
            shift = self._flat(mean(prior, self.templates))
            return torch.add(self.evidence, shift, out=scratch), _UNIT_ROUNDOFF * 4 * shift.norm(dim=-1) + error
        shift_norm = self.shared.shift_norm
        if shift_norm <= error:
            return self.evidence, error + 1.001 * shift_norm
        return torch.add(self.evidence, self.shared.shift, out=scratch), error + _UNIT_ROUNDOFF * 4 * shift_norm

    def rows(self, index: slice | Tensor) -> Rows:
        """Some of the rows, with centred templates."""
        log_prior = self.log_prior if self.log_prior.ndim == 1 else self.log_prior[index]
        shift, target_error = (x if len(x) == 1 else x[index] for x in self._precise_shift)
        error = self.log_prior_error
        log_prior_error = error[index] if isinstance(error, Tensor) else error
        target = self.evidence[index] + shift
        return Rows(self._centred(index), log_prior, target, self.alpha[index], self.gram, target_error, log_prior_error)

    def _centred(self, index: slice | Tensor) -> Tensor:
        if self._group is None:
            return self.templates
        return self._templates[self._group[index]] - self.center[index].unsqueeze(-2)

    @cached_property
    def radius(self) -> float | Tensor:
        """max_i ‖t_i − c‖, of all rows or (r,)."""
        if self._group is None:
            return self.shared.radius
        radius = torch.empty_like(self.alpha).squeeze(-1)
        for tile in self._all_tiles():
            radius[tile] = self._centred(tile).norm(dim=-1).amax(-1)
        return radius

    @property
    def _prior_error(self) -> float | Tensor:
        """The relative error of e^{log u} in the norm of L²(u), of all rows or (r,)."""
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

    def span_of(self, index: Tensor) -> float | Tensor:
        """A bound on the norm of every mean of the templates of some rows, as given; of all rows or (r,)."""
        radius = self.radius
        if not isinstance(radius, Tensor):
            return self.shared.span
        span: Tensor = 1.001 * (radius[index] + self.center[index].norm(dim=-1))
        return span

    def center_of(self, index: Tensor) -> Tensor:
        """c of some rows, (r, d) or (d,)."""
        return self.center if self._group is None else self.center[index]

    def _all_tiles(self) -> Iterator[Tensor]:
        return self.tiles(torch.arange(len(self.alpha), device=self.alpha.device))

    def tiles(self, index: Tensor) -> Iterator[Tensor]:
        """Split the numbers of some rows into tiles whose templates, and so Hessians, have at most _TILE_NUMBERS."""
        n, d = self.size
        yield from index.split(max(1, _TILE_NUMBERS // (n * d)))  # type: ignore[no-untyped-call]


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
