"""The effect of the cost and of the closed form in a trained model: its last layer with one of them replaced.

Claims      deciphering.25, deciphering.tab1
Notation    p = weights (25) of the class token, p* = exact weights of (24), p₀ = weights (25) with M = 0, u = prior;
            distances are ℓ1, at most 2, and averaged over images and heads
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor

from numerics.experiments.ot_vit.model import TransportAttention, no_cost
from numerics.experiments.ot_vit.training import Run
from numerics.ot_attention import OTAttention

PROBED = 1000


@dataclass(frozen=True)
class Probe:
    """A trained model's last layer.

    Attributes:
        images: how many were looked at, the first of the test images.
        correct, correct_without_cost, correct_exact: how many are classified correctly with p, p₀, p*.
        to_prior, to_without_cost, to_exact: ‖p − u‖₁, ‖p − p₀‖₁, ‖p − p*‖₁.

    Numbers that need p* are None unless the solver certifies it for all images.
    """

    images: int
    correct: int
    correct_without_cost: int
    correct_exact: int | None
    to_prior: float
    to_without_cost: float
    to_exact: float | None


def probe(run: Run) -> Probe:
    """Look at the last layer of a trained run; raises ValueError for an arm whose last layer is not ``OTAttention``."""
    last = run.model.last
    if not isinstance(last, TransportAttention):
        raise ValueError(f"run: expected an arm with the layer by optimal transport, got {run.arm.name}")
    images, labels = run.dataset.test_images[:PROBED], run.dataset.test_labels[:PROBED]
    run.model.eval()
    with torch.no_grad():
        x = run.model.features(run.normalized(images))
        query, tokens = run.model.query_and_tokens(x)

        def measured(*, exact: bool = False, free: bool = False) -> tuple[int, Tensor]:
            with _exchanged(last.attention, exact, free):
                return int((run.model.classify(x).argmax(-1) == labels).sum()), last.attention.weights(query, tokens)[0]

        correct, p = measured()
        correct_without_cost, without_cost = measured(free=True)
        try:
            correct_exact, exactly = measured(exact=True)
        except RuntimeError:
            correct_exact, exactly = None, None

    def distance(other: Tensor) -> float:
        return float((p - other).abs().sum(-1).mean())

    prior = torch.full_like(p, 1.0 / p.shape[-1])
    return Probe(
        len(images),
        correct,
        correct_without_cost,
        correct_exact,
        distance(prior),
        distance(without_cost),
        None if exactly is None else distance(exactly),
    )


@contextmanager
def _exchanged(layer: OTAttention, exact: bool, free: bool) -> Iterator[None]:
    """Give the layer exact weights, or M = 0, inside this context."""
    original = layer.exact, layer.cost
    layer.exact, layer.cost = exact, no_cost if free else layer.cost
    try:
        yield
    finally:
        layer.exact, layer.cost = original
