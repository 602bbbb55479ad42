"""What `verify`, `mem.solve` and `deviation` cost, by size: measured where they are small, with the exponents of their growth.

Seconds     of CPU time, which other work on the same machine changes less than the time of day; one thread
Memory      of `solve` and `deviation`: the most that tensors take at a time; of `verify`: the largest resident set
Growth      by least squares; of `solve` and `deviation`: a product of powers of the sizes; of `verify`: what a run takes at any
            rate, and what each claim adds
"""

import json
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch

from numerics import mem
from numerics.benchmarks.mem import normal_problems, peak
from numerics.benchmarks.peak_memory import PeakMemory
from numerics.experiments.deviation.problems import Layer, layers
from numerics.experiments.deviation.shards import Shard, table
from numerics.models.encoder import PARAGRAPH, load_encoder

SOLVE_SIZES = (*((n, 512, 2048) for n in (128, 256, 512, 1024)), *((256, d, 2048) for d in (128, 256, 1024)),
               *((256, 512, rows) for rows in (1024, 4096)))
"""(n, d, rows), with a Gram matrix."""

NEWTON_SIZES = (*((n, 64, 64) for n in (512, 1024, 2048)), *((1024, d, 64) for d in (32, 128)), (1024, 64, 128))
"""(n, d, rows) with more than four times as many templates as the width: without a Gram matrix, by Newton's method."""

TOKENS, LAYERS = (128, 256, 512), (1, 2, 4, 6)
SHARDS = (120, 60, 30, 15)
"""Of `verify`: a run is the first of so many shards of all claims."""


@dataclass(frozen=True)
class Cost:
    """What one run took.

    Attributes:
        what: "solve", "newton" (``solve`` without a Gram matrix), "deviation" or "verify".
        sizes: by name.
        seconds: of CPU time.
        megabytes: at most, at a time.
    """

    what: str
    sizes: Mapping[str, int]
    seconds: float
    megabytes: float


def solve_costs(
    what: str = "solve", sizes: Iterable[tuple[int, int, int]] = SOLVE_SIZES, rounds: int = 3
) -> Iterator[Cost]:
    """Solve random problems of each size (n, d, rows); a call is not the first on its templates."""
    for n, d, rows in sizes:
        templates, evidence = normal_problems(n, d, rows)
        memory, *_ = peak(templates, evidence)
        solve = partial(mem.solve, templates, evidence)
        seconds = statistics.median(_seconds(solve) for _ in range(rounds))
        yield Cost(what, {"n": n, "d": d, "rows": rows}, seconds, memory / 1e6)


def deviation_costs(tokens: Iterable[int] = TOKENS, depths: Iterable[int] = LAYERS) -> Iterator[Cost]:
    """Measure the first layers of the pretrained encoder on one input of so many tokens.

    Raises:
        ModelUnavailableError: if the encoder is not installed.
    """
    encoder = load_encoder()
    for count in tokens:
        text = " ".join([PARAGRAPH] * (1 + count // 64))
        inputs = encoder.tokenizer(text, return_tensors="pt", truncation=True, max_length=count)
        start = time.process_time()
        captured = layers(encoder.model, dict(inputs), 1.0)[0]
        reading = time.process_time() - start
        each = [_seconds(partial(table, _shard(layer), layer)) for layer in captured]
        with PeakMemory() as memory:
            table(_shard(captured[0]), captured[0])
        for depth in depths:
            sizes = {"layers": depth, "tokens": count}
            seconds = reading * depth / len(captured) + sum(each[:depth])
            yield Cost("deviation", sizes, seconds, memory.peak / 1e6)


def verify_costs(folder: Path, shards: Iterable[int] = SHARDS) -> Iterator[Cost]:
    """Verify the first of so many shards of all claims, each in one process of its own."""
    for count in shards:
        path = folder / f"shard-of-{count}.json"
        command = [sys.executable, "-m", "derivations", "verify", f"--shard=1/{count}", f"--json={path}", "-n", "0"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            _, _, usage = os.wait4(process.pid, 0)
            process.returncode = 0                           # it has been waited for
        claims = len(json.loads(path.read_text(encoding="utf-8"))["claims"])
        yield Cost("verify", {"claims": claims}, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6)


def powers(costs: Sequence[Cost], quantity: str = "seconds") -> dict[str, float]:
    """Return the exponent of each size in the seconds or the megabytes, and under "" the logarithm at sizes of 1.

    Raises:
        ValueError: if the sizes do not determine the exponents.
    """
    names = list(costs[0].sizes)
    rows = torch.tensor([[1.0, *(math.log(cost.sizes[name]) for name in names)] for cost in costs], dtype=torch.float64)
    values = torch.tensor([[math.log(getattr(cost, quantity))] for cost in costs], dtype=torch.float64)
    if int(torch.linalg.matrix_rank(rows)) < rows.shape[1]:
        raise ValueError(f"costs: expected sizes that vary each by itself, got {[dict(cost.sizes) for cost in costs]}")
    solution = torch.linalg.lstsq(rows, values).solution.squeeze(-1).tolist()
    return dict(zip(["", *names], solution, strict=True))


def projected(costs: Sequence[Cost], sizes: Mapping[str, int], quantity: str = "seconds") -> float:
    """Return the seconds or the megabytes that the fitted product of powers gives for other sizes."""
    found = powers(costs, quantity)
    return math.exp(found[""] + sum(found[name] * math.log(size) for name, size in sizes.items()))


def line(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return the intercept and the slope of a line through points (x, y), by least squares."""
    fit = statistics.linear_regression(*zip(*points, strict=True))
    return fit.intercept, fit.slope


def machine() -> str:
    """Return what a reader has to know of this machine."""
    info = Path("/proc/cpuinfo")
    text = info.read_text(encoding="utf-8") if info.exists() else ""
    models = [row.split(":", 1)[1].strip() for row in text.splitlines() if row.startswith("model name")]
    processor = models[0] if models else "processor unknown"
    return f"one core of a machine with {os.cpu_count()} ({processor}), torch {torch.__version__}"


def _seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _shard(layer: Layer) -> Shard:
    return Shard(Path(), "encoder", "trained", layer.role, layer.number, layer.heads, layer.alpha, 0)
