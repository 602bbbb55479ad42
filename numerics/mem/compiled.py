"""The quick way on the CPU, by ``kernels``: each thread takes some of the rows, from beginning to end."""

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from queue import SimpleQueue

import torch
from numba.np.linalg import ensure_blas
from threadpoolctl import ThreadpoolController
from torch import Tensor

from numerics.mem import kernels
from numerics.mem.kernels import SHARE
from numerics.mem.task import Found, Space, Task

_CALL = 2**20
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
    with _blas().limit(limits=1):
        if workers == 1:                                     # a pool would take longer than many a batch
            for first in starts:
                some(first)
        else:
            with ThreadPoolExecutor(workers) as pool:
                list(pool.map(some, starts))


def _space(task: Task, rows: int) -> Space:
    n = len(task.gram)
    priors = min(len(task.log_prior), rows)
    tensors = (
        *_staggered(torch.float32, 8, rows, n), *torch.empty(2, priors, n), *_staggered(torch.float64, 5, rows, n),
        torch.from_numpy(-SHARE * task.narrow.diagonal()), *torch.empty(2, rows), *torch.empty(7, rows, dtype=torch.float64),
        *torch.empty(2, rows, dtype=torch.int64),
    )
    return Space(*(x.numpy() for x in tensors))


def _staggered(dtype: torch.dtype, count: int, rows: int, n: int) -> list[Tensor]:
    """Empty arrays in one piece of memory, but each a little off from where the one before would make the same entries of all
    compete for the same few places in a cache."""
    pieces = torch.empty(count, rows * n + _STAGGER // dtype.itemsize, dtype=dtype)
    return [piece[: rows * n].view(rows, n) for piece in pieces]


@cache
def _blas() -> ThreadpoolController:
    ensure_blas()  # type: ignore[no-untyped-call]           # loads what the kernels will call
    return ThreadpoolController().select(user_api="blas")
