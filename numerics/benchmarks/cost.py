"""The cost of `verify`, `mem.solve` and `deviation` by size: measured at small sizes, with the exponents of growth.

Seconds     of CPU time, which other work on the same machine changes less than the time of day; one thread
Memory      of `solve` and `deviation`: the most that tensors take at a time; of `verify`: the largest resident set
Growth      by least squares, with the standard errors that the residuals give; of `solve` and `deviation`: a product of powers
            of the sizes; of `verify`: what a run takes at any rate, and what each claim adds
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
from torch import Tensor

from numerics import mem
from numerics.benchmarks.mem import normal_problems, peak
from numerics.benchmarks.peak_memory import PeakMemory
from numerics.experiments.deviation.problems import Layer, layers
from numerics.experiments.deviation.shards import Shard, table
from numerics.models.encoder import PARAGRAPH, load_encoder

SOLVE_SIZES = (
    *((n, 512, 2048) for n in (128, 256, 512, 1024)),
    *((256, d, 2048) for d in (128, 256, 1024)),
    *((256, 512, rows) for rows in (1024, 4096)),
)
"""(n, d, rows), with a Gram matrix."""

NEWTON_SIZES = (*((n, 64, 64) for n in (512, 1024, 2048)), *((1024, d, 64) for d in (32, 128)), (1024, 64, 128))
"""(n, d, rows) with more than four times as many templates as the width: without a Gram matrix, by Newton's method."""

TOKENS, LAYERS = (128, 256, 512), (1, 2, 4, 6)
SHARDS = (120, 60, 30, 15)
"""For `verify`: each run verifies the first of this many shards of all claims."""


@dataclass(frozen=True)
class Cost:
    """The cost of one run.

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


def solve_costs(what: str = "solve", sizes: Iterable[tuple[int, int, int]] = SOLVE_SIZES, rounds: int = 3) -> Iterator[Cost]:
    """Solve random problems of each size (n, d, rows), with templates from an earlier call."""
    for n, d, rows in sizes:
        templates, evidence = normal_problems(n, d, rows)
        memory, *_ = peak(templates, evidence)
        solve = partial(mem.solve, templates, evidence)
        seconds = statistics.median(_seconds(solve) for _ in range(rounds))
        yield Cost(what, {"n": n, "d": d, "rows": rows}, seconds, memory / 1e6)


def deviation_costs(tokens: Iterable[int] = TOKENS, depths: Iterable[int] = LAYERS) -> Iterator[Cost]:
    """Measure the first layers of the pretrained encoder, for each number of tokens on one input.

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
    """For each number of shards of all claims, verify the first shard in a separate process."""
    for count in shards:
        path = folder / f"shard-of-{count}.json"
        command = [sys.executable, "-m", "derivations", "verify", f"--shard=1/{count}", f"--json={path}", "-n", "0"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            _, _, usage = os.wait4(process.pid, 0)
            process.returncode = 0  # wait4 has reaped the process
        claims = len(json.loads(path.read_text(encoding="utf-8"))["claims"])
        yield Cost("verify", {"claims": claims}, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6)


@dataclass(frozen=True)
class Fit:
    """A linear model by least squares; here of logarithms, or a line.

    Attributes:
        values: its coefficients, by name; that of the constant under "".
        covariance: of their errors, in the same order, (k, k), as it follows from the residuals.
    """

    values: Mapping[str, float]
    covariance: Tensor

    def error(self, name: str) -> float:
        """The standard error of a coefficient."""
        return float(self.covariance.diagonal()[list(self.values).index(name)].sqrt())

    def at(self, point: Mapping[str, float]) -> tuple[float, float]:
        """The value of the model at a point, and its standard error."""
        x = torch.tensor([1.0, *(point[name] for name in self.values if name)], dtype=torch.float64)
        coefficients = torch.tensor(list(self.values.values()), dtype=torch.float64)
        return float(x @ coefficients), float((x @ self.covariance @ x).clamp(min=0).sqrt())


def least_squares(points: Sequence[Mapping[str, float]], values: Sequence[float]) -> Fit:
    """Fit a constant, and a coefficient for each coordinate of the points.

    Raises:
        ValueError: if the points do not determine them, or leave nothing to see errors by.
    """
    names = ["", *points[0]]
    x = torch.tensor([[1.0, *point.values()] for point in points], dtype=torch.float64)
    y = torch.tensor(values, dtype=torch.float64)
    rank = int(torch.linalg.matrix_rank(x))
    if rank < len(names) or len(x) == len(names):
        raise ValueError(f"points: expected more than {len(names)}, of rank {len(names)}, got {len(x)} of rank {rank}")
    coefficients = torch.linalg.lstsq(x, y.unsqueeze(-1)).solution.squeeze(-1)
    variance = (y - x @ coefficients).square().sum() / (len(x) - len(names))
    return Fit(dict(zip(names, coefficients.tolist(), strict=True)), variance * torch.linalg.inv(x.mT @ x))


def powers(costs: Sequence[Cost], quantity: str = "seconds") -> Fit:
    """Return the exponent of each size in the seconds or the megabytes, and under "" the logarithm at sizes of 1.

    Raises:
        ValueError: if the sizes do not determine the exponents.
    """
    points = [{name: math.log(size) for name, size in cost.sizes.items()} for cost in costs]
    return least_squares(points, [math.log(getattr(cost, quantity)) for cost in costs])


def projected(costs: Sequence[Cost], sizes: Mapping[str, int], quantity: str = "seconds") -> tuple[float, float]:
    """Return the seconds or the megabytes that the fitted product of powers gives for other sizes, and the factor by which two
    standard errors of the fit change them."""
    value, error = powers(costs, quantity).at({name: math.log(size) for name, size in sizes.items()})
    return math.exp(value), math.exp(2 * error)


def line(points: Sequence[tuple[float, float]]) -> Fit:
    """Return a line through points (x, y), by least squares; its slope under "x"."""
    return least_squares([{"x": x} for x, _ in points], [y for _, y in points])


def machine() -> str:
    """Return a description of this machine."""
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
