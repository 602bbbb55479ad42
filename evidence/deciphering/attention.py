"""Sections 7 and 8 of deciphering, and their like in inference, in torch: heads of attention as the closed form."""

import torch
from hypothesis import strategies as st
from torch import Tensor

from evidence import Reading, choose
from evidence.instances.heads import Head, drawn_heads
from numerics import mem
from numerics.attention import attention_weights
from numerics.priors import prior_from_mask


def reading(head: Head, *magnitudes: Tensor, **routes: Tensor) -> Reading:
    """Routes at a head, with the tolerance for the magnitudes of both."""
    return Reading(head.point(), routes, head.tolerance(*magnitudes, *routes.values()))


def t5(head: Head) -> Reading:
    queries = head["y"].expand(head.n, -1)
    mask = head.positions + head.log_mask
    return reading(head, library=head.by_library(queries, mask, 1.0), generalized=head.generalized(queries, mask, 1.0))


def t5_weights(head: Head) -> dict[str, Tensor]:
    """p for every query position j and word i by two routes, (n, n)."""
    query, key = head.projected("Q", head["y"]), head.projected("K", head["X"])
    evidence = (head["K"][0].T @ query).expand(head.n, -1)
    mask = head.positions + head.log_mask
    return {"softmax": torch.softmax(key @ query + mask, -1), "generalized": attention_weights(head["X"], evidence, mask)}


def blanks(head: Head) -> Reading:
    return reading(head, **{name: (p * head["g"]).T for name, p in t5_weights(head).items()})


def hidden(head: Head) -> Reading:
    return reading(head, **{name: (p * head["s"]).T for name, p in t5_weights(head).items()})


def estimates(head: Head, alpha: float) -> Reading:
    """(18) with the prior (19) for every query position, [a, j]."""
    evidence = head["z"].expand(head.n, -1)
    prior = prior_from_mask(head.log_mask.expand(head.n, -1), head.positions)
    closed = mem.closed_form(head["T"], evidence, prior, alpha)
    layer = attention_weights(head["T"], evidence, head.positions + head.log_mask, alpha) @ head["T"]
    return reading(head, mem=closed.T, attention=layer.T)


ALPHAS = (0.5, 1.0, 2.0)


BOTH = choose(head=drawn_heads(), alpha=st.sampled_from(ALPHAS), seed=st.integers(0, 2**31))


class Both:
    """A head with an α and further vectors."""

    def __init__(self, head: Head, alpha: float, seed: int) -> None:
        self.head, self.alpha, self.seed = head, alpha, seed
        generator = torch.Generator().manual_seed(seed)
        free = torch.randn(head.n + head.d, generator=generator, dtype=torch.float64)
        self.raw, self.dual = free[: head.n].exp().to(head.device), free[head.n :].clamp(-1.5, 1.5).to(head.device)

    def to(self, device: str) -> "Both":
        """The same, computed on another device."""
        return Both(self.head.to(device), self.alpha, self.seed)

    def reading(self, **routes: Tensor) -> Reading:
        """Routes with the tolerance of the head; w and λ are not normalized."""
        base = reading(self.head, **routes)
        point = {**base.point, "alpha": self.alpha, "w": self.raw.cpu(), "lam": self.dual.cpu()}
        return Reading(point, base.routes, base.tolerance * max(1.0, float(self.raw.max()), 1 / float(self.raw.min())))


both = BOTH.map(lambda drawn: Both(**drawn))
