"""What the functions of this package accept, and what they say of the rest."""

import math
from itertools import zip_longest
from typing import NamedTuple

import torch
from torch import Tensor

Positive = float | Tensor

_HALF = (torch.float16, torch.bfloat16)


class Problem(NamedTuple):
    """Tensors in the dtype to compute in, with scalars shaped (...) or (), and the dtype to return."""

    templates: Tensor
    evidence: Tensor
    prior: Tensor
    cost: Tensor
    alpha: Tensor
    temperature: Tensor
    dtype: torch.dtype


def problem(
    templates: Tensor,
    evidence: Tensor,
    prior: Tensor,
    cost: Tensor,
    alpha: Positive,
    temperature: Positive,
    *,
    double: bool = False,
) -> Problem:
    """Check the data of problem (24) and bring them to one dtype: float64 if ``double``, numbers included.

    Raises:
        ValueError: naming the argument, for a shape, dtype or number other than the package's notes say.
    """
    (t, z, u, M), dtype = tensors(templates=(templates, 2), evidence=(evidence, 1), prior=(prior, 1), cost=(cost, 2))
    if double:
        t, z, u, M = t.double(), z.double(), u.double(), M.double()
    fits("cost", M, t.shape[-2], u.shape[-1])
    if z.shape[-1] != t.shape[-1]:
        raise ValueError(f"evidence: expected (..., {t.shape[-1]}) like the templates {tuple(t.shape)}, got {tuple(z.shape)}")
    batch = together(templates=t.shape[:-2], evidence=z.shape[:-1], prior=u.shape[:-1], cost=M.shape[:-2])
    return Problem(t, z, u, M, positive("alpha", alpha, batch, t), positive("temperature", temperature, batch, t), dtype)


def tensors(**given: tuple[Tensor, int]) -> tuple[list[Tensor], torch.dtype]:
    """Return the tensors in the widest of their dtypes, at least float32, and that widest dtype itself.

    Each is given with the number of its own dimensions, none of which may be empty.
    """
    for name, (x, ndim) in given.items():
        if not isinstance(x, Tensor) or not x.is_floating_point() or x.ndim < ndim or 0 in x.shape[x.ndim - ndim :]:
            axes = "(..., n)" if ndim == 1 else "(..., n, m)"
            raise ValueError(f"{name}: expected a floating tensor {axes}, not empty, got {describe(x)}")
    dtype = next(iter(given.values()))[0].dtype
    for x, _ in given.values():
        dtype = torch.promote_types(dtype, x.dtype)
    computed = torch.float32 if dtype in _HALF else dtype
    return [x.to(computed) for x, _ in given.values()], dtype


def fits(name: str, cost: Tensor, rows: int | None, columns: int) -> None:
    """Refuse a cost that is not (..., rows, columns)."""
    if cost.shape[-1] != columns or (rows is not None and cost.shape[-2] != rows):
        size = "N" if rows is None else rows
        raise ValueError(f"{name}: expected (..., {size}, {columns}), from each of {columns} priors, got {tuple(cost.shape)}")


def together(**shapes: torch.Size) -> torch.Size:
    """Return the shape that the leading dimensions broadcast to."""
    batch: tuple[int, ...] = ()
    for name, shape in shapes.items():
        pairs = list(zip_longest(reversed(batch), reversed(shape), fillvalue=1))
        if any(a != b and 1 not in (a, b) for a, b in pairs):
            raise ValueError(f"{name}: expected leading dimensions that broadcast with {batch}, got {tuple(shape)}")
        batch = tuple(b if a == 1 else a for a, b in reversed(pairs))
    return torch.Size(batch)


def positive(name: str, x: Positive, batch: torch.Size, like: Tensor) -> Tensor:
    """Return a positive number or tensor as a tensor; NaN where a tensor's entry is not positive."""
    if not isinstance(x, Tensor):
        finfo = torch.finfo(like.dtype)
        if isinstance(x, bool) or not isinstance(x, (int, float)) or not finfo.tiny <= x <= finfo.max:
            raise ValueError(f"{name}: expected a positive number, normal in {like.dtype}, or a tensor; got {x!r}")
        return like.new_full((), x)
    if not x.is_floating_point():
        raise ValueError(f"{name}: expected a number or a floating tensor, got {describe(x)}")
    together(batch=batch, **{name: x.shape})
    value = x.to(like)
    return torch.where(value > 0, value, math.nan)


def describe(x: object) -> str:
    """Return what a thing is, for an error message."""
    return f"{x.dtype} {tuple(x.shape)}" if isinstance(x, Tensor) else f"{type(x).__name__} {x!r}"
