"""What every function on continuous attention does first: check its arguments, bring them to one dtype."""

from functools import reduce

import torch
from torch import Tensor

from numerics.one_sided import _HALF, _broadcastable, _describe

REACH = 64.0
"""So many widths away e^{−x²/2} is 0 in every dtype: distances are cut there, and their derivatives are 0 and not 0 · ∞."""


def vector(name: str, x: Tensor, letter: str = "d", size: int | None = None) -> Tensor:
    """Return a floating tensor (..., size) with size ≥ 1, in the dtype to compute in.

    Raises:
        ValueError: naming the argument, for anything else.
    """
    if not isinstance(x, Tensor) or not x.is_floating_point() or x.ndim == 0 or x.shape[-1] == 0 or (
            size is not None and x.shape[-1] != size):
        rule = f"{letter} ≥ 1" if size is None else f"{letter} = {size}"
        raise ValueError(f"{name}: expected a floating tensor (..., {letter}) with {rule}, got {_describe(x)}")
    return x.float() if x.dtype in _HALF else x


def matrix(name: str, x: Tensor, rows: str, columns: str, width: int | None = None) -> Tensor:
    """Return a floating tensor (..., rows, columns), both ≥ 1 and the second equal to ``width`` if given.

    Raises:
        ValueError: naming the argument, for anything else.
    """
    if not isinstance(x, Tensor) or not x.is_floating_point() or x.ndim < 2 or 0 in x.shape[-2:] or (
            width is not None and x.shape[-1] != width):
        rule = f"{rows}, {columns} ≥ 1" if width is None else f"{columns} = {width}"
        raise ValueError(f"{name}: expected a floating tensor (..., {rows}, {columns}) with {rule}, got {_describe(x)}")
    return x.float() if x.dtype in _HALF else x


def fitting(name: str, shape: torch.Size, others: str, other: torch.Size) -> None:
    """Refuse leading axes that do not broadcast; raises ValueError."""
    if not _broadcastable(shape, other):
        raise ValueError(f"{name}: expected leading axes that broadcast with {tuple(other)} of {others}, got {tuple(shape)}")


def factor(name: str, x: Tensor, sign: str = "positive") -> Tensor:
    """Return the Cholesky factor of the symmetric part of a square matrix (..., d, d).

    Args:
        name: of the argument, for the message.
        x: floating; what is to be positive definite.
        sign: how the message calls what the caller gave.

    Returns:
        (..., d, d), lower; NaN where the matrix is not positive definite and nothing can be read.

    Raises:
        ValueError: for a matrix that is not square, or that is not positive definite.
    """
    if not isinstance(x, Tensor) or not x.is_floating_point() or x.ndim < 2 or x.shape[-1] == 0 or x.shape[-1] != x.shape[-2]:
        raise ValueError(f"{name}: expected a floating tensor (..., d, d) with d ≥ 1, got {_describe(x)}")
    wide = x.float() if x.dtype in _HALF else x
    symmetric = (wide + wide.mT) / 2
    lower, info = torch.linalg.cholesky_ex(symmetric)
    sound = (info == 0) & torch.isfinite(symmetric).all(-1).all(-1)
    if readable(sound) and not bool(sound.all()):
        worst = int((~sound).sum())
        raise ValueError(f"{name}: expected {sign} definite matrices, got {worst} of {sound.numel()} that are not")
    return torch.where(sound[..., None, None], lower, torch.nan)


def readable(x: Tensor) -> bool:
    """Whether the entries of a tensor can be read: not those that ``torch.func.vmap`` maps over."""
    try:
        bool(x.any())
    except RuntimeError:
        return False
    return True


def common(*tensors: Tensor) -> list[Tensor]:
    """Return the tensors in the widest of their dtypes."""
    dtype = reduce(torch.promote_types, [x.dtype for x in tensors])
    return [x.to(dtype) for x in tensors]


def result_dtype(*tensors: Tensor) -> torch.dtype:
    """Return the dtype of what comes out: the widest of the inputs', half precision included."""
    return reduce(torch.promote_types, [x.dtype for x in tensors])
