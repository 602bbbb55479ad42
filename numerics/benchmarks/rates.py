"""Measured peak rates of a device, for matrix products and memory, with which the speed of kernels is compared."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch

from numerics.benchmarks.timing import medians

PRECISIONS = {"float64": torch.float64, "float32": torch.float32, "tf32": torch.float32, "bfloat16": torch.bfloat16}
"""How matrices are multiplied, and the dtype that they are stored in."""


@dataclass(frozen=True)
class Rate:
    """A rate of one device: `what` per second, in units of 10⁹ (floating-point operations, or bytes read and written)."""

    what: str
    giga: float


@contextmanager
def multiplied_in(precision: str) -> Iterator[None]:
    """Multiply float32 matrices in tf32, where the device can, or as they are."""
    previous = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high" if precision == "tf32" else "highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(previous)


def rates(device: str, size: int = 4096, rounds: int = 5) -> Iterator[Rate]:
    """Measure products of square matrices in each precision, and a copy of a vector of size² numbers.

    Raises:
        ValueError: for a size or a number of rounds below 1.
    """
    if size < 1:
        raise ValueError(f"size: expected an integer ≥ 1, got {size}")
    for precision, dtype in PRECISIONS.items():
        matrix = torch.ones(size, size, dtype=dtype, device=device)
        with multiplied_in(precision):
            seconds = medians({precision: lambda matrix=matrix: matrix @ matrix}, rounds)[precision]  # type: ignore[misc]
        yield Rate(f"{precision} products", 2 * size**3 / seconds / 1e9)
    numbers = torch.ones(size * size, dtype=torch.float32, device=device)
    seconds = medians({"copy": numbers.clone}, rounds)["copy"]
    yield Rate("bytes", 2 * numbers.nbytes / seconds / 1e9)
