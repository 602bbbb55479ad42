"""Benchmark of the closed forms against other packages: medians and ratios of interleaved runs.

Peers       torch.softmax for the plan, torch's scaled_dot_product_attention for plan and context, autograd for the
            gradient of the scores.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from numerics import one_sided
from numerics.benchmarks.timing import medians

Work = Callable[[], object]


@dataclass(frozen=True)
class Comparison:
    """One closed form compared with a peer that computes the same.

    Attributes:
        name, peer: what is compared.
        seconds, peer_seconds: medians.
    """

    name: str
    peer: str
    seconds: float
    peer_seconds: float

    @property
    def ratio(self) -> float:
        """Our median over the peer's; below 1 is faster."""
        return self.seconds / self.peer_seconds


def cases(queries: int, keys: int, width: int, device: str) -> dict[tuple[str, str], tuple[Work, Work]]:
    """Pairs of equivalent computations on float32 tensors of shape (queries, keys) and (keys, width)."""
    generator = torch.Generator().manual_seed(0)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator).to(device)

    scores, values, utility = normal(queries, keys), normal(keys, width), normal(queries, keys)
    query, key = normal(1, 1, queries, width), normal(1, 1, keys, width)
    tau = width**0.5
    plan = one_sided.plan(scores, tau)

    def attention() -> Tensor:
        return one_sided.context(one_sided.plan(one_sided.scores_from(query, key), tau), values[None, None])

    def fused() -> Tensor:
        return torch.nn.functional.scaled_dot_product_attention(query, key, values[None, None])

    def autograd() -> Tensor:
        leaf = scores.clone().requires_grad_()
        return torch.autograd.grad((torch.softmax(leaf / tau, -1) * -utility).sum(), leaf)[0]

    return {
        ("one_sided.plan", "torch.softmax"): (lambda: one_sided.plan(scores, tau), lambda: torch.softmax(scores / tau, -1)),
        ("plan and context", "scaled_dot_product_attention"): (attention, fused),
        ("one_sided.score_gradient", "autograd"): (lambda: one_sided.score_gradient(plan, utility, tau), autograd),
    }


def measure(queries: int, keys: int, width: int, device: str, rounds: int) -> Iterator[Comparison]:
    """Time each pair, the two taking turns so that both meet the same machine.

    Raises:
        ValueError: for a size or a number of rounds below 1.
    """
    for name, value in (("queries", queries), ("keys", keys), ("width", width)):
        if value < 1:
            raise ValueError(f"{name}: expected an integer ≥ 1, got {value}")
    for (name, peer), pair in cases(queries, keys, width, device).items():
        seconds = medians(dict(zip((name, peer), pair, strict=True)), rounds)
        yield Comparison(name, peer, seconds[name], seconds[peer])
