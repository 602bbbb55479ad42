"""Median times of computations that run in turns, so that all are timed under the same load and ratios are meaningful.

``torch.utils.benchmark`` repeats what is short until the clock's own cost is small, and waits for the GPU. ``timed`` is for
long computations whose results are needed: the timer returns none, and runs everything some more times to warm up.
"""

import time
from collections.abc import Callable, Mapping
from typing import TypeVar

import torch
from torch.utils.benchmark import Measurement, Timer

Argument = TypeVar("Argument")
Result = TypeVar("Result")

_SECONDS_A_TURN = 1e-3


def medians(works: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Return the median seconds of one call of each, over some rounds.

    Raises:
        ValueError: for a number of rounds below 1.
    """
    check_rounds(rounds)
    threads = torch.get_num_threads()
    timers = {name: Timer("work()", globals={"work": work}, num_threads=threads) for name, work in works.items()}
    turns: dict[str, list[Measurement]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, timer in timers.items():
            turns[name].append(timer.blocked_autorange(min_run_time=_SECONDS_A_TURN))
    return {name: next(iter(Measurement.merge(parts))).median for name, parts in turns.items()}


def timed(work: Callable[[Argument], Result], argument: Argument, *, on_gpu: bool) -> tuple[float, Result]:
    """Return the seconds that a call takes, and its result."""
    start = time.perf_counter()
    result = work(argument)
    if on_gpu:
        torch.cuda.synchronize()
    return time.perf_counter() - start, result


def check_rounds(rounds: int) -> None:
    """Refuse a number of rounds below 1; raises ValueError."""
    if rounds < 1:
        raise ValueError(f"rounds: expected an integer ≥ 1, got {rounds}")
