"""What the compiled way is made of: its exponentials, the plane of a step, its arrays, and the threads of the products."""

import math
import threading
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
import torch

from numerics import bench_mem, mem, tolerances
from numerics.mem import compiled, kernels
from numerics.mem.search import Search


def each(exponential: Callable[[Any], Any], x: np.ndarray) -> np.ndarray:
    """One number at a time, as the compiled functions take them."""
    return np.array([exponential(v) for v in x], dtype=x.dtype)


@pytest.mark.parametrize(
    ("curvatures", "factors"),
    [
        ((2.0, 0.0, 1.0, 2.0, 1.0), (1.0, 1.0)),                          # two directions that do not know each other
        ((2.0, 1.0, 1.0, 2.0, 1.2), (0.8, 0.4)),                          # two that do
        ((2.0, 1.0, 0.5, 2.0, 1.0), (1.0, 0.0)),                          # parallel: as if there were but one
        ((0.0, 0.0, 0.0, 0.0, 0.0), (0.0, 0.0)),                          # nothing to do
        ((1e-9, 0.0, 1.0, 1.0, 0.0), (0.0, 0.0)),                         # farther than is believed
        ((1.0, 0.0, 1.0, -1.0, 0.0), (0.0, 0.0)),                         # uphill
    ],
)
def test_the_best_point_of_a_plane(curvatures: tuple[float, ...], factors: tuple[float, float]) -> None:
    a, b = Search.plane(*(torch.tensor([[x]], dtype=torch.float64) for x in curvatures))
    assert (float(a), float(b)) == pytest.approx(factors)
    assert kernels.plane(*curvatures) == pytest.approx(factors)


@pytest.mark.parametrize("low", [-707.0, -40.0, -1.0, -0.35, -1e-6])
def test_exponentials_are_off_by_less_than_the_bounds_allow(low: float) -> None:
    """3 eps/2 is what ``shared`` counts on; NumPy's own is held to the same, and one that is a little off is refused."""
    x = np.linspace(low, 0.0, 3001)
    with mpmath.workdps(40):
        exact = [mpmath.exp(mpmath.mpf(float(v))) for v in x]

        def off(found: np.ndarray) -> float:
            return max(float(abs(mpmath.mpf(float(f)) / e - 1)) for f, e in zip(found, exact, strict=True))

        allowed = 3 * tolerances.eps("float64") / 2
        assert off(each(kernels.exp64, x)) <= allowed
        assert off(np.exp(x)) <= allowed
        assert off(np.exp(x * (1 + 1e-12)) if low < -1e-3 else np.exp(x) * (1 + 1e-12)) > allowed
        narrow = np.linspace(max(low, -87.0), 0.0, 3001).astype(np.float32)
        wide = np.exp(narrow.astype(np.float64))
        assert bool((np.abs(each(kernels.exp32, narrow) / wide - 1) <= 2 * tolerances.eps("float32") * (1 - narrow)).all())


def test_exponentials_at_the_ends() -> None:
    x = np.array([0.0, -0.0, -709.0, -math.inf, math.nan])
    np.testing.assert_array_equal(each(kernels.exp64, x), [1.0, 1.0, 0.0, 0.0, math.nan])
    least = 2.0**-126
    np.testing.assert_array_equal(each(kernels.exp32, x.astype(np.float32)), [1.0, 1.0, least, least, math.nan])


def test_arrays_that_are_worked_on_together_do_not_start_alike() -> None:
    for dtype in (torch.float32, torch.float64):
        arrays = compiled._staggered(dtype, 8, 512, 128)
        assert all(x.shape == (512, 128) and x.is_contiguous() for x in arrays)
        assert len({x.data_ptr() % 4096 // 64 for x in arrays}) == 8


def threads_of_blas() -> list[int]:
    return [x["num_threads"] for x in compiled._blas().info()]


def test_products_take_one_thread_each(monkeypatch: pytest.MonkeyPatch) -> None:
    templates, evidence = bench_mem.normal_problems(8, 6, 10)
    counts = []
    monkeypatch.setattr(kernels, "solve", lambda *_: counts.append(threads_of_blas()))
    with compiled._blas().limit(limits=2):
        before = threads_of_blas()
        mem.solve(templates, evidence)
        assert threads_of_blas() == before
    assert 2 in before
    assert set(counts[0]) == {1}


def test_calls_at_the_same_time_leave_threads_as_they_were() -> None:
    """The second begins before the first is done, and ends after it."""
    second, first = threading.Event(), threading.Event()

    def other() -> None:
        with compiled._one_thread_a_product():
            second.set()
            first.wait(10)

    thread = threading.Thread(target=other)
    with compiled._blas().limit(limits=2):
        before = threads_of_blas()
        with compiled._one_thread_a_product():
            thread.start()
            assert second.wait(10)
        first.set()
        thread.join()
        assert threads_of_blas() == before
