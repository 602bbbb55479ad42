"""Solves the rows by ``pcg_numba`` in several threads; a row stays with one thread."""

import math
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import accumulate
from threading import Lock

import numpy as np
import torch
from numba.np.linalg import ensure_blas
from threadpoolctl import LibController, ThreadpoolController

from numerics.mem import pcg_numba
from numerics.mem.pcg_state import Array, SharedProblem, SolutionBuffers, Workspace

_TILE_NUMBERS, _TILE_NUMBERS_UNPACKED = 2**15, 2**13
"""The largest number of entries of an array of a tile, so that the arrays of PCG stay in the core's cache: in general, and
where BLAS makes small products without packing, so that larger tiles gain nothing."""

_MIN_TILE_ROWS, _MAX_TILE_ROWS = 64, 2048
"""The smallest and the largest number of rows of a tile, if there are as many."""

_CALL_NUMBERS = 2**18
"""The largest number of entries (rows × n) of one call of the compiled code: a user can interrupt between calls."""

_UNPACKED_MULTIPLICATIONS, _UNPACKING_CORES = 100**3, {"SkylakeX", "Cooperlake", "SapphireRapids"}
"""OpenBLAS makes products of up to so many multiplications without packing their factors, on these cores."""

_SPARE_WORKSPACES, _SPARE_NUMBERS = 2, 2**13
"""How many workspaces are kept between calls, and for how many entries of an array at most: making one takes as long as solving
a problem."""

_CACHE_LINE, _STAGGER = 64, 512
"""Alignment of the arrays of a workspace, and the least distance between them, in bytes."""


def solve(problem: SharedProblem, solution: SolutionBuffers, threads: int) -> None:
    """Write the solutions, a tile after the other in each thread."""
    count, n = len(problem.target), len(problem.gram)
    rows = _tile_rows(count, n, threads)
    size = max(rows, min(-(-count // threads), _CALL_NUMBERS // n))

    def solve_rows(first: int) -> None:
        with _workspace(rows, n, min(len(problem.log_prior), rows)) as workspace:
            pcg_numba.solve(first, min(first + size, count), problem, solution, workspace)

    starts = range(0, count, size)
    remaining = iter(starts)

    def solve_remaining() -> None:
        for first in remaining:  # which all threads share
            solve_rows(first)

    others = min(threads, len(starts)) - 1
    with _single_threaded_blas():
        if others == 0:  # a pool would take longer than many a batch
            solve_remaining()
        else:
            with ThreadPoolExecutor(others) as pool:
                futures = [pool.submit(solve_remaining) for _ in range(others)]
                solve_remaining()
            for future in futures:
                future.result()


def _tile_rows(rows: int, n: int, threads: int) -> int:
    """The number of rows of a tile: at most a third of a thread's share, as the workspace is of the size of the tiles."""
    rows, numbers = -(-rows // threads), _TILE_NUMBERS_UNPACKED if _block_size() else _TILE_NUMBERS
    return min(rows, max(_MIN_TILE_ROWS, min(_MAX_TILE_ROWS, numbers // n, -(-rows // 3))))


spare_workspaces: deque[tuple[tuple[int, ...], Workspace]] = deque(maxlen=_SPARE_WORKSPACES)
"""Workspaces of earlier calls, with their sizes; they may be dropped at any time."""


@contextmanager
def _workspace(*sizes: int) -> Iterator[Workspace]:
    """A workspace for tiles of so many rows, templates and priors: the last one that was given back, if it is of this size."""
    try:
        spare_sizes, workspace = spare_workspaces.pop()
    except IndexError:
        spare_sizes = ()
    if spare_sizes != sizes:
        workspace = _new_workspace(*sizes)
    yield workspace
    if sizes[0] * sizes[1] <= _SPARE_NUMBERS:
        spare_workspaces.append((sizes, workspace))


def _new_workspace(rows: int, n: int, priors: int) -> Workspace:
    square, prior, row = (rows, n), (priors, n), (rows,)
    low, high = np.float32, np.float64
    arrays = _staggered(
        *[(low, square)] * 8,
        *[(low, prior)] * 2,
        *[(high, square)] * 5,
        *[(low, row)] * 2,
        *[(high, row)] * 7,
        *[(np.int64, row)] * 2,
    )
    return Workspace(_block_size(), *arrays)


def _staggered(*kinds: tuple[type[np.generic], tuple[int, ...]]) -> Iterator[Array]:
    """Empty arrays in one buffer, with staggered offsets that avoid cache-set conflicts."""
    sizes = [
        (math.prod(shape) * np.dtype(dtype).itemsize // _CACHE_LINE + 1) * _CACHE_LINE + _STAGGER for dtype, shape in kinds
    ]
    memory = torch.empty(sum(sizes), dtype=torch.uint8, device="cpu").numpy()  # whatever the default device is
    for (dtype, shape), first in zip(kinds, accumulate(sizes, initial=0), strict=False):
        yield np.ndarray(shape, dtype, memory, first)


_limiter = Lock()


@contextmanager
def _single_threaded_blas() -> Iterator[None]:
    """Limit SciPy's BLAS to one thread, unless another call has done so already: BLAS thread limits are per process, and a
    concurrent call would save, and later restore, the already lowered limit."""
    if not _limiter.acquire(blocking=False):
        yield
        return
    try:
        libraries = {library: threads for library in _blas() if (threads := library.num_threads) != 1}
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
def _block_size() -> int:
    """The largest number of multiplications of a product that SciPy's BLAS makes without packing its factors, which is then
    quicker; 0 if it always packs them."""
    unpacked = any(x.info().get("architecture") in _UNPACKING_CORES for x in _blas())
    return _UNPACKED_MULTIPLICATIONS if unpacked else 0


@cache
def _blas() -> list[LibController]:
    ensure_blas()  # type: ignore[no-untyped-call]           # loads the library that the compiled code calls
    libraries: list[LibController] = ThreadpoolController().select(user_api="blas").lib_controllers
    return libraries
