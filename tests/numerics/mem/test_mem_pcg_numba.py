"""The parts of the Numba solver: its exponentials, the plane search, its arrays, and the threads of its products."""

import math
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mpmath
import numba
import numpy as np
import pytest
import torch
from threadpoolctl import ThreadpoolController

from numerics import mem, tolerances
from numerics.benchmarks import mem as bench_mem
from numerics.mem import pcg_compile, pcg_numba, pcg_row, pcg_threads
from numerics.mem.pcg import MAX_STEP
from numerics.mem.pcg_torch import Tile


def one_by_one(exponential: Callable[[Any], Any], x: np.ndarray) -> np.ndarray:
    """Apply the compiled function to one number at a time."""
    return np.array([exponential(v) for v in x], dtype=x.dtype)


@pytest.mark.parametrize(
    ("curvatures", "factors"),
    [
        ((2.0, 0.0, 1.0, 2.0, 1.0), (1.0, 1.0)),  # two directions that do not know each other
        ((2.0, 1.0, 1.0, 2.0, 1.2), (0.8, 0.4)),  # two that do
        ((2.0, 1.0, 0.5, 2.0, 1.0), (1.0, 0.0)),  # parallel: as if there were but one
        ((0.0, 0.0, 0.0, 0.0, 0.0), (0.0, 0.0)),  # nothing to do
        ((1e-9, 0.0, 1.0, 1.0, 0.0), (0.0, 0.0)),  # farther than is believed
        ((1.0, 0.0, 1.0, MAX_STEP, -MAX_STEP), (MAX_STEP, -MAX_STEP)),  # as far as is believed
        ((1.0, 0.0, 1.0, MAX_STEP, 1.5 * MAX_STEP), (0.0, 0.0)),
        ((1.0, 0.0, 1.0, -1.0, 0.0), (0.0, 0.0)),  # uphill
    ],
)
def test_the_best_point_of_a_plane(curvatures: tuple[float, ...], factors: tuple[float, float]) -> None:
    a, b = Tile.minimize_in_plane(*(torch.tensor([[x]], dtype=torch.float64) for x in curvatures))
    assert (float(a), float(b)) == pytest.approx(factors)
    assert pcg_row.minimize_in_plane(*curvatures) == pytest.approx(factors)


@pytest.mark.parametrize("low", [-707.0, -40.0, -1.0, -0.35, -1e-6])
def test_exponentials_have_errors_within_the_assumed_bounds(low: float) -> None:
    """``mem_rounding.md`` assumes 3 eps/2; NumPy's exponential meets the same bound, and a slightly wrong one does not."""
    x = np.linspace(low, 0.0, 3001)
    with mpmath.workdps(40):
        exact = [mpmath.exp(mpmath.mpf(float(v))) for v in x]

        def relative_error(actual: np.ndarray) -> float:
            return max(float(abs(mpmath.mpf(float(f)) / e - 1)) for f, e in zip(actual, exact, strict=True))

        allowed = 3 * tolerances.eps("float64") / 2
        assert relative_error(one_by_one(pcg_compile.exp64, x)) <= allowed
        assert relative_error(np.exp(x)) <= allowed
        assert relative_error(np.exp(x * (1 + 1e-12)) if low < -1e-3 else np.exp(x) * (1 + 1e-12)) > allowed
        narrow = np.linspace(max(low, -87.0), 0.0, 3001).astype(np.float32)
        wide = np.exp(narrow.astype(np.float64))
        errors = np.abs(one_by_one(pcg_compile.exp32, narrow) / wide - 1)
        assert bool((errors <= 2 * tolerances.eps("float32") * (1 - narrow)).all())


def test_exponentials_at_the_ends() -> None:
    x = np.array([0.0, -0.0, -709.0, -math.inf, math.nan])
    np.testing.assert_array_equal(one_by_one(pcg_compile.exp64, x), [1.0, 1.0, 0.0, 0.0, math.nan])
    least = 2.0**-126
    np.testing.assert_array_equal(one_by_one(pcg_compile.exp32, x.astype(np.float32)), [1.0, 1.0, least, least, math.nan])


def test_arrays_that_are_used_together_have_different_alignments() -> None:
    for dtype in (np.float32, np.float64):
        arrays = list(pcg_threads._staggered(*[(dtype, (512, 128))] * 8, (np.int64, (3,))))
        assert [x.shape for x in arrays] == [(512, 128)] * 8 + [(3,)]
        assert all(x.flags.c_contiguous and x.ctypes.data % 64 == 0 for x in arrays)
        assert len({x.ctypes.data % 4096 // 64 for x in arrays[:8]}) == 8
        for i, x in enumerate(arrays):
            x.fill(i)
        assert all(bool((x == i).all()) for i, x in enumerate(arrays))


@pytest.mark.parametrize("rows", [0, 1, 7, 8, 41])
@pytest.mark.parametrize("block_size", [0, 30 * 8 * 7, 30 * 8 * 8, 30 * 8 * 13, 10**9])
def test_products_are_the_same_by_blocks(rows: int, block_size: int) -> None:
    draw = np.random.default_rng(0)
    x, y, out = draw.normal(size=(rows, 30)), draw.normal(size=(30, 8)), np.full((rows, 8), math.nan)
    multiply(x, y, block_size, out)
    np.testing.assert_allclose(out, x @ y, rtol=0, atol=tolerances.rounding("float64", 30 * 30))


@numba.njit
def multiply(x: np.ndarray, y: np.ndarray, block_size: int, out: np.ndarray) -> None:
    pcg_compile.multiply(x, y, block_size, out)


def test_blocks_are_for_cores_whose_products_need_no_packing(monkeypatch: pytest.MonkeyPatch) -> None:
    class Library:
        def __init__(self, **about: str) -> None:
            self.info = lambda: about

    for libraries, block_size in (
        ([Library(architecture="Haswell"), Library(architecture="SkylakeX")], 100**3),
        ([Library(architecture="Zen")], 0),
        ([Library()], 0),
        ([], 0),
    ):
        monkeypatch.setattr(pcg_threads, "_blas", lambda libraries=libraries: libraries)
        assert pcg_threads._block_size.__wrapped__() == block_size


def threads_of_blas() -> list[int]:
    return [x.num_threads for x in pcg_threads._blas()]


def test_the_cache_key_contains_the_sources() -> None:
    """Numba itself considers only the function's own file."""
    mem.solve(*bench_mem.normal_problems(8, 6, 10))
    names = [path.name for path in Path(pcg_numba.solve.stats.cache_path).glob("pcg_numba.solve-*.nbi")]
    assert any(pcg_compile._SOURCES in name for name in names)


def test_products_take_one_thread_each(monkeypatch: pytest.MonkeyPatch) -> None:
    templates, evidence = bench_mem.normal_problems(8, 6, 10)
    counts = []
    monkeypatch.setattr(pcg_numba, "solve", lambda *_: counts.append(threads_of_blas()))
    with ThreadpoolController().limit(limits=2, user_api="blas"):
        before = threads_of_blas()
        mem.solve(templates, evidence)
        assert threads_of_blas() == before
        mem.solve(templates, evidence)  # and the next call as well
    assert 2 in before
    assert set(counts[0]) == set(counts[-1]) == {1}


def test_a_solve_takes_no_more_threads_than_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = set()

    def solve(*_: Any) -> None:
        threads.add(threading.get_ident())
        time.sleep(0.02)

    monkeypatch.setattr(pcg_numba, "solve", solve)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    monkeypatch.setattr(pcg_threads, "_CALL_NUMBERS", 64)  # of many short calls
    mem.solve(*bench_mem.normal_problems(8, 6, 400))
    assert len(threads) == 2


def test_calls_at_the_same_time_leave_threads_as_they_were() -> None:
    """The second call begins before the first has finished, and ends after it."""
    second, first = threading.Event(), threading.Event()

    def other() -> None:
        with pcg_threads._single_threaded_blas():
            second.set()
            first.wait(10)

    thread = threading.Thread(target=other)
    with ThreadpoolController().limit(limits=2, user_api="blas"):
        before = threads_of_blas()
        with pcg_threads._single_threaded_blas():
            thread.start()
            assert second.wait(10)
        first.set()
        thread.join()
        assert threads_of_blas() == before


def test_prefetching_changes_no_data_and_reads_only_existing_data() -> None:
    x = np.arange(30.0).reshape(2, 15)
    for r in (0, 1, 2, 2**40):
        pcg_compile.prefetch_row(x, r)
    pcg_compile.prefetch_row(x[:0], 0)
    np.testing.assert_array_equal(x, np.arange(30.0).reshape(2, 15))


def test_a_workspace_is_reused_only_for_tiles_of_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two calls never use one workspace at a time."""
    monkeypatch.setattr(pcg_threads, "spare_workspaces", type(pcg_threads.spare_workspaces)(maxlen=2))
    with pcg_threads._workspace(8, 5, 1) as one, pcg_threads._workspace(8, 5, 1) as other:
        assert one.refined.ctypes.data != other.refined.ctypes.data
    with pcg_threads._workspace(8, 5, 1) as again:
        assert again is one
    with pcg_threads._workspace(8, 6, 1) as larger:
        assert larger.refined.shape == (8, 6)
    assert len(pcg_threads.spare_workspaces) <= 2
    pcg_threads.spare_workspaces.clear()
    for sizes in ((8, 1024, 1), (8192, 1, 1)):  # as large as is kept
        with pcg_threads._workspace(*sizes) as one:
            pass
        assert pcg_threads.spare_workspaces.pop() == (sizes, one)
    for sizes in ((8, 1025, 1), (8193, 1, 1)):  # too large to keep
        with pcg_threads._workspace(*sizes):
            pass
        assert not pcg_threads.spare_workspaces
