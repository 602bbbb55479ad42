"""The quick way on the CPU, by ``kernels``: each thread takes some of the rows, from beginning to end."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from queue import SimpleQueue
from threading import Lock

import torch
from numba.np.linalg import ensure_blas
from threadpoolctl import ThreadpoolController
from torch import Tensor

from numerics.mem import kernels
from numerics.mem.kernels import SHARE
from numerics.mem.task import Found, Space, Task

_CALL = 2**18
"""How many numbers (rows, n) a call takes at most: in between, a user may interrupt."""

_STAGGER = 512
"""How many bytes lie between arrays that are worked on together."""


def solve(task: Task, found: Found, rows: int, threads: int) -> None:
    """Write the solutions, a tile of so many rows after the other in each thread."""
    task = Task(*(x.contiguous().numpy() if isinstance(x, Tensor) else x for x in task))  # type: ignore[arg-type]
    found = Found(*(x.numpy() for x in found))
    count, n = len(task.evidence), len(task.gram)
    size = max(rows, min(-(-count // threads), _CALL // n))
    spaces: SimpleQueue[Space] = SimpleQueue()

    def some(first: int) -> None:
        space = spaces.get()
        kernels.solve(first, min(first + size, count), task, found, space)
        spaces.put(space)

    starts = range(0, count, size)
    workers = min(threads, len(starts))
    for _ in range(workers):
        spaces.put(_space(task, rows))
    with _one_thread_a_product():
        if workers == 1:                                     # a pool would take longer than many a batch
            for first in starts:
                some(first)
        else:
            with ThreadPoolExecutor(workers) as pool:
                list(pool.map(some, starts))


def _space(task: Task, rows: int) -> Space:
    n = len(task.gram)
    priors = min(len(task.log_prior), rows)
    narrow, wide, numbers = torch.float32, torch.float64, torch.int64
    tensors = (
        *_staggered(narrow, 8, rows, n), *_empty(narrow, 2, priors, n), *_staggered(wide, 5, rows, n),
        torch.from_numpy(-SHARE * task.narrow.diagonal()), *_empty(narrow, 2, rows), *_empty(wide, 7, rows),
        *_empty(numbers, 2, rows),
    )
    return Space(*(x.numpy() for x in tensors))


def _empty(dtype: torch.dtype, *shape: int) -> Tensor:
    return torch.empty(shape, dtype=dtype, device="cpu")     # whatever a user has set as the default


def _staggered(dtype: torch.dtype, count: int, rows: int, n: int) -> list[Tensor]:
    """Empty arrays in one piece of memory, but each a little off from where the one before would make the same entries of all
    compete for the same few places in a cache."""
    pieces = _empty(dtype, count, rows * n + _STAGGER // dtype.itemsize)
    return [piece[: rows * n].view(rows, n) for piece in pieces]


_limiter = Lock()


@contextmanager
def _one_thread_a_product() -> Iterator[None]:
    """Limit SciPy's BLAS, unless another call has done so already: limits are those of the process, and who comes second
    would find, and leave behind, the limit of the first."""
    if not _limiter.acquire(blocking=False):
        yield
        return
    try:
        with _blas().limit(limits=1):
            yield
    finally:
        _limiter.release()


@cache
def _blas() -> ThreadpoolController:
    ensure_blas()  # type: ignore[no-untyped-call]           # loads what the kernels will call
    return ThreadpoolController().select(user_api="blas")
