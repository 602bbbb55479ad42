"""Benchmark of functions that other packages have too, if these are installed, in interleaved runs.

Peers       entmax: sparse maps, by sorting and by bisection, their derivatives, and losses; POT: transport with both marginals
            relaxed, with a quadratic regularizer, and without any; torch: softmax, attention, fused and as a layer
Slower      ``REASONS`` says why a function is slower than its peer; docs/conventions.md repeats it.
"""

import importlib
import importlib.util
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from numerics import fenchel_young, flash, linear_program, one_sided, regularizers, sparse_maps, transport
from numerics.benchmarks.closed_forms import Comparison, Work
from numerics.benchmarks.sinkhorn import square_problem
from numerics.benchmarks.timing import check_rounds, medians
from numerics.modules import MultiheadAttention, scaled_dot_product_attention

Pairs = dict[tuple[str, str], tuple[Work, Work]]

RELAXATION, EPSILON, GAMMA = 1.0, 0.1, 1.0
HEADS = 4

REASONS = {
    "one_sided.plan": "arguments are checked, and the first entry of each row, which tells whether a row has no plan",
    "one_sided.plan, τ = 10": "the peak of each row is taken off before the division by τ, so that no digits are lost",
    "plan and context": "the plan is an array of its own, which PyTorch's fused kernel never writes",
    "scaled_dot_product_attention": "arguments are checked and queries get the sign of the scale before PyTorch's kernel runs",
    "flash.tiled_attention": "torch operations, which have second derivatives, compute triples that combine in any order, "
    "and log Z; the kernel of PyTorch fuses the exponentials with both products",
    "transport.unbalanced": "solved to rounding error, with marginal errors of 4e-16 and a gap; POT stops at 4e-10, "
    "and needs 1.9 times as long for the same accuracy",
    "transport.quadratic_plan": "Newton's method to rounding error, with marginal errors of 3e-15 and a gap; "
    "POT's L-BFGS stops at 7e-4",
    "linear_program.exact_plan": "POT's own simplex, between checks and potentials that prove its plan",
    "linear_program.exact_plan, uneven masses": "likewise",
}
"""Why ours is slower than its peer, where it is."""


def pairs(rows: int, size: int, points: int) -> Pairs:
    """Return pairs of equivalent computations, ours first, by both names, for the packages that are installed.

    Args:
        rows, size: of the scores, float32.
        points: on each side of a transport problem, float64.
    """
    pairs = _attention(rows, size)
    if importlib.util.find_spec("entmax") is not None:
        pairs |= _sparse(rows, size)
    if importlib.util.find_spec("ot") is not None:
        pairs |= _transport(points)
    return pairs


def measure(rows: int, size: int, points: int, rounds: int) -> Iterator[Comparison]:
    """Time each pair, the two taking turns so that both meet the same machine.

    Raises:
        ValueError: for a number of rounds below 1.
    """
    check_rounds(rounds)
    for (name, peer), works in pairs(rows, size, points).items():
        seconds = medians(dict(zip((name, peer), works, strict=True)), rounds)
        yield Comparison(name, peer, seconds[name], seconds[peer])


def _sparse(rows: int, size: int) -> Pairs:
    peer: Any = importlib.import_module("entmax")
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(rows, size, generator=generator)
    labels = torch.randint(size, (rows,), generator=generator)
    utility = torch.randn(rows, size, generator=generator)
    maps: dict[str, tuple[Any, dict[str, float]]] = {
        "sparsemax": (regularizers.sparsemax, {}),
        "entmax15": (regularizers.entmax15, {}),
        "entmax_bisect": (regularizers.entmax_bisect, {"alpha": 1.3}),
        "sparsemax_bisect": (sparse_maps.sparsemax_bisect, {}),
        "normmax_bisect": (sparse_maps.normmax_bisect, {"alpha": 2}),
        "budget_bisect": (sparse_maps.budget_bisect, {"budget": 2}),
    }
    losses: dict[str, Any] = {"sparsemax_loss": fenchel_young.sparsemax_loss, "entmax15_loss": fenchel_young.entmax15_loss}
    pairs: Pairs = {}
    for name, (ours, numbers) in maps.items():
        both = (partial(ours, **numbers), partial(getattr(peer, name), **numbers))
        pairs[name, "entmax"] = _pair(partial(_call, f, scores) for f in both)
        pairs[f"{name}, gradient", "entmax"] = _pair(partial(_gradient, f, scores, utility) for f in both)
    for name, ours in losses.items():
        pairs[name, "entmax"] = partial(ours, scores, labels), partial(getattr(peer, name), scores, labels)
    return pairs


def _pair(works: Iterator[Work]) -> tuple[Work, Work]:
    ours, theirs = works
    return ours, theirs


def _call(function: Callable[[Tensor], Tensor], scores: Tensor) -> Tensor:
    return function(scores)


def _gradient(function: Callable[[Tensor], Tensor], scores: Tensor, utility: Tensor) -> Tensor:
    leaf = scores.clone().requires_grad_()
    return torch.autograd.grad((function(leaf) * utility).sum(), leaf)[0]


def _transport(points: int) -> Pairs:
    peer: Any = importlib.import_module("ot")
    cost, mass = square_problem(points)
    C, a = cost.numpy(), mass.numpy()
    uneven = torch.arange(1, points + 1, dtype=torch.float64)
    uneven = uneven / uneven.sum()
    b = uneven.numpy()
    limits: dict[str, Any] = {"numItermax": 10_000, "stopThr": 1e-9}

    def smooth() -> Any:
        with warnings.catch_warnings(action="ignore"):  # of what it passes on to SciPy
            return peer.smooth.smooth_ot_dual(a, a, C, GAMMA, reg_type="l2", numItermax=2000, stopThr=1e-9)

    relaxed = partial(peer.unbalanced.sinkhorn_unbalanced, a, a, C, EPSILON, RELAXATION, reg_type="kl", **limits)
    return {
        ("transport.unbalanced", "POT"): (
            lambda: transport.unbalanced(cost, mass, mass, EPSILON, RELAXATION, RELAXATION).plan,
            relaxed,
        ),
        ("transport.quadratic_plan", "POT"): (lambda: transport.quadratic_plan(cost, mass, mass, GAMMA).plan, smooth),
        ("linear_program.exact_plan", "POT"): (
            lambda: linear_program.exact_plan(cost, mass, mass).value,
            lambda: peer.emd2(a, a, C),
        ),
        ("linear_program.exact_plan, uneven masses", "POT"): (
            lambda: linear_program.exact_plan(cost, uneven, uneven).value,
            lambda: peer.emd2(b, b, C),
        ),
    }


def _attention(rows: int, size: int) -> Pairs:
    generator = torch.Generator().manual_seed(0)
    query, key, value = (torch.randn(1, HEADS, rows, size // HEADS, generator=generator) for _ in range(3))
    x = torch.randn(1, rows, size, generator=generator)
    theirs = nn.MultiheadAttention(size, HEADS, batch_first=True).eval()
    ours = MultiheadAttention(size, HEADS, batch_first=True).eval()
    ours.load_state_dict(theirs.state_dict())
    fused = partial(nn.functional.scaled_dot_product_attention, query, key, value)
    scores = torch.randn(rows, size, generator=generator)
    return {
        ("one_sided.plan", "torch's softmax"): (lambda: one_sided.plan(scores), lambda: torch.softmax(scores, -1)),
        ("one_sided.plan, τ = 10", "torch's softmax"): (
            lambda: one_sided.plan(scores, 10.0),
            lambda: torch.softmax(scores / 10.0, -1),
        ),
        ("scaled_dot_product_attention", "torch"): (partial(scaled_dot_product_attention, query, key, value), fused),
        ("flash.tiled_attention", "torch's scaled_dot_product_attention"): (
            lambda: flash.tiled_attention(query, key, value, temperature=(size // HEADS) ** 0.5).output,
            fused,
        ),
        ("MultiheadAttention", "torch"): (
            lambda: ours(x, x, x, need_weights=False)[0],
            lambda: theirs(x, x, x, need_weights=False)[0],
        ),
    }
