"""Benchmark of the certified solver for maximum entropy on the mean, on problems from a real attention layer.

A head of self-attention with keys K and queries Q solves, by the reading of deciphering (21), one problem per token k: the
templates are the layer's inputs, t_i = x_i/√d', shared by all heads and queries, and the evidence is z = Kᵀ(Q x_k + b).

Times       medians of rounds in which all solvers take turns, so that machine load affects all alike; ratios are within one run
Errors      ‖λ − λ*‖/(1 + ‖λ*‖), the largest; certified for ``mem.solve``, against a tighter solution for the others
Memory      the peak memory of tensors without the arguments; without the results, also as a number of float64 arrays rows × n
"""

import statistics
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from numerics import mem
from numerics.benchmarks.peak_memory import PeakMemory
from numerics.benchmarks.peers import batched, floors, one_by_one
from numerics.benchmarks.timing import check_rounds, timed
from numerics.mem.pcg_threads import spare_workspaces
from numerics.models.encoder import PARAGRAPH, LanguageModel, load_encoder


@dataclass(frozen=True)
class Timing:
    """The time that a solver took for a number of problems.

    Attributes:
        name: the solver.
        problems: how many it solved at a time.
        seconds: median over the rounds, per problem.
        fastest: the smallest of the rounds, per problem.
        error: the largest relative error of λ; None for a floor, which solves nothing.
    """

    name: str
    problems: int
    seconds: float
    fastest: float
    error: float | None


@dataclass(frozen=True)
class Growth:
    """Time and memory of ``mem.solve`` at one problem size.

    Attributes:
        n, d, rows: the sizes.
        seconds: median, per problem.
        error: the largest certified relative error of λ.
        memory: the peak memory of tensors in bytes, not counting the arguments.
        arrays: that memory as a number of float64 arrays of rows × n, not counting the results.
    """

    n: int
    d: int
    rows: int
    seconds: float
    error: float
    memory: int
    arrays: float


GROWTH_IN_N = tuple((n, 384, 512) for n in (64, 128, 256, 512, 1024))
"""Sizes (n, d, rows) that differ in n alone."""


def layer_problems(layer: int = 3, tokens: int = 128, language_model: LanguageModel | None = None) -> tuple[Tensor, Tensor]:
    """Return templates (tokens, d) and evidence (heads · tokens, d) of one layer of a BERT encoder, float64.

    Raises:
        ValueError: if the model has no such layer.
        ModelUnavailableError: if the encoder is not installed.
    """
    encoder = language_model or load_encoder()
    layers = encoder.model.encoder.layer
    if not 0 <= layer < len(layers):
        raise ValueError(f"layer: expected one of 0 to {len(layers) - 1}, got {layer}")
    text = " ".join([PARAGRAPH] * (1 + tokens // 64))
    inputs = encoder.tokenizer(text, return_tensors="pt", truncation=True, max_length=tokens)
    with torch.no_grad():
        x = encoder.model(**inputs, output_hidden_states=True).hidden_states[layer][0].double()
        attention = layers[layer].attention.self
        heads = attention.num_attention_heads
        query = (x @ attention.query.weight.double().mT + attention.query.bias.double()).unflatten(-1, (heads, -1))
        key = attention.key.weight.double().unflatten(0, (heads, -1))
        evidence = torch.einsum("khc,hcd->hkd", query, key).flatten(0, 1)
    return x / query.shape[-1] ** 0.5, evidence


def normal_problems(n: int, d: int, rows: int, device: str = "cpu") -> tuple[Tensor, Tensor]:
    """Return templates (n, d) of length about 2 and evidence (rows, d) of length about 4, drawn at random, float64.

    Raises:
        ValueError: for a size below 1.
    """
    if min(n, d, rows) < 1:
        raise ValueError(f"n, d, rows: expected integers ≥ 1, got {n}, {d}, {rows}")
    generator = torch.Generator().manual_seed(0)
    templates = 2 * torch.randn(n, d, generator=generator, dtype=torch.float64) / d**0.5
    evidence = 4 * torch.randn(rows, d, generator=generator, dtype=torch.float64) / d**0.5
    return templates.to(device), evidence.to(device)


def race(templates: Tensor, evidence: Tensor, rounds: int, *, alpha: float = 1.0, singles: int = 2) -> list[Timing]:
    """Time ``mem.solve``, its peers and the floors in turns.

    Args:
        templates: (n, d), float64.
        evidence: (r, d), float64, on the same device; peers that take one problem at a time run on the CPU.
        rounds: the number of rounds.
        alpha: α.
        singles: how many problems each peer without batching solves per round, different ones in each; 0 leaves these out.

    Raises:
        ValueError: for a number of rounds below 1, a negative number of singles, or if a row is not certified.
    """
    check_rounds(rounds)
    if singles < 0:
        raise ValueError(f"singles: expected an integer ≥ 0, got {singles}")
    reference = mem.solve(templates, evidence, None, alpha, tolerance=1e-11)
    _check_certified(reference)
    singles = min(singles, len(evidence))
    errors: dict[str, float | None] = {}
    durations: dict[str, list[float]] = {}
    solvers = {name: (solver, True) for name, solver in one_by_one(templates.cpu(), alpha).items()} if singles else {}
    solvers |= {name: (solver, False) for name, solver in batched(templates, alpha).items()}
    lower_bounds = floors(templates, evidence)
    for index in range(rounds + 1):
        first = index * singles % max(1, len(evidence) - singles + 1)
        for name, (solver, one_at_a_time) in solvers.items():
            rows = slice(first, first + singles) if one_at_a_time else slice(None)
            problems = evidence[rows].cpu() if one_at_a_time else evidence
            seconds, dual = timed(solver, problems, on_gpu=evidence.is_cuda)
            durations.setdefault(name, []).append(seconds / len(problems))
            exact = reference.dual[rows].to(dual)
            error = (dual - exact).norm(dim=-1) + reference.error[rows].to(dual)
            errors[name] = max(errors.get(name) or 0.0, float((error / (1 + exact.norm(dim=-1))).max()))
        for name, work in lower_bounds.items():
            seconds, _ = timed(work, evidence, on_gpu=evidence.is_cuda)
            durations.setdefault(name, []).append(seconds / len(evidence))
            errors[name] = None
    counts = {name: singles if one_at_a_time else len(evidence) for name, (_, one_at_a_time) in solvers.items()}
    return [
        Timing(name, counts.get(name, len(evidence)), statistics.median(times[1:]), min(times[1:]), errors[name])
        for name, times in durations.items()
    ]


def thread_gain(templates: Tensor, evidence: Tensor, rounds: int, *, alpha: float = 1.0) -> float:
    """Return the speed of ``mem.solve`` on torch's number of threads relative to one thread, the median over rounds.

    Raises:
        ValueError: for a number of rounds below 1.
    """
    check_rounds(rounds)
    threads, solve = torch.get_num_threads(), partial(mem.solve, templates, prior=None, alpha=alpha)
    ratios = []
    try:
        for _ in range(rounds + 1):  # the first warms up
            durations = []
            for count in (1, threads):
                torch.set_num_threads(count)
                durations.append(timed(solve, evidence, on_gpu=False)[0])
            ratios.append(durations[0] / durations[1])
    finally:
        torch.set_num_threads(threads)
    return statistics.median(ratios[1:])


def growth(sizes: list[tuple[int, int, int]], rounds: int, device: str = "cpu") -> Iterator[Growth]:
    """Time ``mem.solve`` on random problems of each size (n, d, rows).

    Raises:
        ValueError: for a size or a number of rounds below 1, or if a row is not certified.
    """
    check_rounds(rounds)
    for n, d, rows in sizes:
        templates, evidence = normal_problems(n, d, rows, device)
        memory, arrays, solution = peak(templates, evidence)
        _check_certified(solution)
        solve = partial(mem.solve, templates)
        times = [timed(solve, evidence, on_gpu=evidence.is_cuda)[0] for _ in range(rounds)]
        error = float((solution.error / (1 + solution.dual.norm(dim=-1))).max())
        yield Growth(n, d, rows, statistics.median(times) / rows, error, memory, arrays)


def peak(templates: Tensor, evidence: Tensor, alpha: float = 1.0) -> tuple[int, float, mem.Solution]:
    """Return the peak memory of ``mem.solve`` in bytes, that memory without the results as a number of float64 arrays of
    rows × n, and the solution.

    Args:
        templates: (n, d).
        evidence: (r, d).
        alpha: α.
    """
    spare_workspaces.clear()  # a cached workspace would not be counted
    with PeakMemory((templates, evidence)) as memory:
        solution = mem.solve(templates, evidence, None, alpha)
    results = {x.untyped_storage().data_ptr(): x.untyped_storage().nbytes() for x in vars(solution).values()}
    arrays = (memory.peak - sum(results.values())) / (8 * len(evidence) * len(templates))
    return memory.peak, arrays, solution


def exponent(growths: Iterable[Growth]) -> float:
    """Return the slope of log seconds in log n, by least squares.

    Raises:
        ValueError: unless there are at least two sizes, which differ in n alone.
    """
    rows = list(growths)
    if len({x.n for x in rows}) < 2 or len({(x.d, x.rows) for x in rows}) > 1:
        sizes = [(x.n, x.d, x.rows) for x in rows]
        raise ValueError(f"growths: expected two sizes or more that differ in n alone, got {sizes}")
    x, y = (torch.tensor(v, dtype=torch.float64).log() for v in ([r.n for r in rows], [r.seconds for r in rows]))
    x = x - x.mean()
    return float((x @ y) / (x @ x))


def _check_certified(solution: mem.Solution) -> None:
    if not bool(solution.converged.all()):
        raise ValueError(f"evidence: expected rows that can be certified, got {int((~solution.converged).sum())} that cannot")
