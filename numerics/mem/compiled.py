"""The quick way on the CPU, by ``kernels``: each thread takes some of the rows, from beginning to end."""

import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import accumulate
from queue import SimpleQueue
from threading import Lock

import numpy as np
import torch
from numba.np.linalg import ensure_blas
from threadpoolctl import LibController, ThreadpoolController
from torch import Tensor

from numerics.mem import kernels
from numerics.mem.task import Array, Found, Space, Task

_CACHE, _PIECE_CACHE = 2**15, 2**13
"""How many numbers an array of a tile may have, so that those of a search stay near its core: where BLAS packs factors, and
where larger products than ``_piece`` are of no use."""

_LEAST, _MOST = 64, 2048
"""The smallest and the largest number of rows of a tile, if there are as many."""

_CALL = 2**18
"""How many numbers (rows, n) a call takes at most: in between, a user may interrupt."""

_UNPACKED, _UNPACKING = 100**3, {"SkylakeX", "Cooperlake", "SapphireRapids"}
"""As OpenBLAS has it, and for what kinds of core."""

_LINE, _STAGGER = 64, 512
"""Where arrays that are worked on together begin, and how much lies between them at least, in bytes."""


def solve(task: Task, found: Found, threads: int) -> None:
    """Write the solutions, a tile after the other in each thread."""
    task = Task(*(x.contiguous().numpy() if isinstance(x, Tensor) else x for x in task))  # type: ignore[arg-type]
    found = Found(*(x.numpy() for x in found))
    count, n = len(task.target), len(task.gram)
    rows = _tile(count, n, threads)
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


def _tile(rows: int, n: int, threads: int) -> int:
    """How many rows a tile has: a third of a thread's share of a batch at most, for what is needed beside the result is of
    the size of the tiles."""
    rows, numbers = -(-rows // threads), _PIECE_CACHE if _piece() else _CACHE
    return min(rows, max(_LEAST, min(_MOST, numbers // n, -(-rows // 3))))


def _space(task: Task, rows: int) -> Space:
    n = len(task.gram)
    square, priors, row = (rows, n), (min(len(task.log_prior), rows), n), (rows,)
    narrow, wide = np.float32, np.float64
    arrays = _staggered(
        *[(narrow, square)] * 8, *[(narrow, priors)] * 2, *[(wide, square)] * 5, *[(narrow, row)] * 2, *[(wide, row)] * 7,
        *[(np.int64, row)] * 2,
    )
    return Space(_piece(), *arrays)


def _staggered(*kinds: tuple[type[np.generic], tuple[int, ...]]) -> Iterator[Array]:
    """Empty arrays in one piece of memory, but each a little off from where the one before would make the same entries of all
    compete for the same few places in a cache."""
    sizes = [(math.prod(shape) * np.dtype(dtype).itemsize // _LINE + 1) * _LINE + _STAGGER for dtype, shape in kinds]
    memory = torch.empty(sum(sizes), dtype=torch.uint8, device="cpu").numpy()      # whatever a user has set as the default
    for (dtype, shape), first in zip(kinds, accumulate(sizes, initial=0), strict=False):
        yield np.ndarray(shape, dtype, memory, first)


_limiter = Lock()


@contextmanager
def _one_thread_a_product() -> Iterator[None]:
    """Limit SciPy's BLAS, unless another call has done so already: limits are those of the process, and who comes second
    would find, and leave behind, the limit of the first."""
    if not _limiter.acquire(blocking=False):
        yield
        return
    try:
        libraries = {library: library.num_threads for library in _blas()}
        for library in libraries:
            library.set_num_threads(1)
        try:
            yield
        finally:
            for library, threads in libraries.items():
                library.set_num_threads(threads)
    finally:
        _limiter.release()


@cache
def _piece() -> int:
    """Up to how many multiplications SciPy's BLAS makes a product of without packing its factors first, which then is quicker;
    0 if it always packs them."""
    return _UNPACKED if any(x.info().get("architecture") in _UNPACKING for x in _blas()) else 0


@cache
def _blas() -> list[LibController]:
    ensure_blas()  # type: ignore[no-untyped-call]           # loads what the kernels will call
    libraries: list[LibController] = ThreadpoolController().select(user_api="blas").lib_controllers
    return libraries
