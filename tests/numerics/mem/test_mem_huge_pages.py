"""Output arrays on large pages behave like ordinary tensors."""

import mmap

import pytest
import torch

from numerics.mem import huge_pages

CPU = torch.device("cpu")


@pytest.mark.parametrize("shape", [(0, 3), (3, 5), (511, 257), (1024, 128), (700, 384), (513, 513)])
def test_arrays_are_contiguous_writable_and_disjoint(shape: tuple[int, ...]) -> None:
    first, second = (huge_pages.empty(shape, CPU) for _ in range(2))
    assert first.shape == shape
    assert first.dtype == torch.float64
    assert first.is_contiguous()
    first.fill_(1.0)
    second.fill_(2.0)
    assert bool((first == 1).all() & (second == 2).all())


def test_only_large_arrays_are_mapped(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []

    class Map(mmap.mmap):
        def __new__(cls, file: int, length: int, flags: int) -> "Map":
            sizes.append(length)
            return super().__new__(cls, file, length, flags)

    monkeypatch.setattr(huge_pages.mmap, "mmap", Map)
    huge_pages.empty((2**17 - 1,), CPU)
    assert sizes == []
    huge_pages.empty((2**17,), CPU)
    huge_pages.empty((2**18 + 1,), CPU)
    assert sizes == [2**21, 2**22]


def test_without_large_pages_it_is_an_ordinary_tensor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(mmap, "MADV_HUGEPAGE", raising=False)
    assert huge_pages.empty((2**18,), CPU).untyped_storage().nbytes() == 2**21


def test_a_part_keeps_the_memory_alive() -> None:
    row = huge_pages.empty((2**10, 2**10), CPU).fill_(3.0)[5]
    assert bool((row == 3).all())
