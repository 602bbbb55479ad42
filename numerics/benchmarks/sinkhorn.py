"""Benchmark of entropic transport plans against POT, if it is installed, in interleaved runs.

Problems    uniform masses on points of the unit square, squared distances over the largest, float64, one at a time
Claims      transport.listing.sinkhorn
"""

import importlib
import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from numerics.benchmarks.timing import check_rounds, medians
from numerics.transport import sinkhorn

OWN = "transport.sinkhorn"
TEMPERATURES = (1e-1, 1e-2)
STOP = 1e-9
"""The marginal error in ℓ2 at which POT stops; ours is down to rounding."""


@dataclass(frozen=True)
class Solved:
    """The time of one solver on one problem.

    Attributes:
        name: ``transport.sinkhorn``, or POT's ``sinkhorn_log`` on arrays of NumPy or of torch.
        size, temperature: n = m, and ε.
        seconds: median.
        ratio: that over the median of ``transport.sinkhorn``; above 1 is slower than it.
        error: Σ_i |Σ_j P_ij − a_i| + Σ_j |Σ_i P_ij − b_j|.
    """

    name: str
    size: int
    temperature: float
    seconds: float
    ratio: float
    error: float


def peer_is_here() -> bool:
    """Whether POT is installed: it comes with the tests, not with the package."""
    return importlib.util.find_spec("ot") is not None


def square_problem(size: int) -> tuple[Tensor, Tensor]:
    """Return the costs (size, size) and the masses (size,) of both sides, float64.

    Raises:
        ValueError: for a size below 1.
    """
    if size < 1:
        raise ValueError(f"size: expected an integer ≥ 1, got {size}")
    generator = torch.Generator().manual_seed(0)
    x, y = (torch.rand(size, 2, generator=generator, dtype=torch.float64) for _ in range(2))
    cost = (x.unsqueeze(-2) - y).square().sum(-1)
    return cost / cost.max(), torch.full((size,), 1 / size, dtype=torch.float64)


def solvers(cost: Tensor, mass: Tensor, temperature: float) -> dict[str, Callable[[], Any]]:
    """Return all solvers of one problem by name; each returns the plan (n, m).

    Raises:
        ValueError: if POT is not installed.
    """
    if not peer_is_here():
        raise ValueError("peer: expected POT to be installed, as the extra [tests] does, got none")
    peer: Any = importlib.import_module("ot").bregman.sinkhorn_log
    arrays = mass.numpy(), mass.numpy(), cost.numpy()
    limits = {"numItermax": 10_000, "stopThr": STOP, "warn": False}  # the error is in the table
    return {
        OWN: lambda: sinkhorn(cost, mass, mass, temperature).plan,
        "POT, NumPy": lambda: peer(*arrays, temperature, **limits),
        "POT, torch": lambda: peer(mass, mass, cost, temperature, **limits),
    }


def measure(size: int, rounds: int) -> Iterator[Solved]:
    """Time all of `solvers` at each of `TEMPERATURES`, taking turns.

    Raises:
        ValueError: for a size or a number of rounds below 1, or if POT is not installed.
    """
    check_rounds(rounds)
    cost, mass = square_problem(size)
    for temperature in TEMPERATURES:
        works = solvers(cost, mass, temperature)
        errors = {}
        for name, solve in works.items():
            plan = solve()
            errors[name] = float(abs(plan.sum(-1) - 1 / size).sum() + abs(plan.sum(-2) - 1 / size).sum())
        seconds = medians(works, rounds)
        for name, median in seconds.items():
            yield Solved(name, size, temperature, median, median / seconds[OWN], errors[name])
