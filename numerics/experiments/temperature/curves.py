"""Entropy, effective number of keys and top mass of every head against the temperature, with their derivatives.

A head's logits s are what its softmax is given: scaled scores and position bias. At the temperature ε its weights are
p = softmax(s/ε) over the keys that the mask leaves; ε = 1 is the model as it is. With a = s − E_p s, along one row:

    H = −Σ_j p_j log p_j,     dH/dε = E_p[a²]/ε³            never negative: a row flattens as ε grows
    N = e^H,                  dN/dε = N E_p[a²]/ε³          between 1 and the number of keys; equally likely keys count one each
    t = max_j p_j,            dt/dε = −t max_j a_j/ε²       never positive; where k keys tie at the top, t → 1/k as ε → 0

Queries are averaged last: the mean of N is not the exponential of the mean of H, which is smaller unless all rows have the
same entropy. The measured derivatives are difference quotients of the averages themselves.

Claims      transport.listing.analyze_attention_temperature, transport.listing.analyze_attention_temperature.slope
Shapes      logits (..., H, Q, K), allowed (..., H, Q, K); curves (H, T) for T temperatures; all float64
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from numerics import one_sided
from numerics.experiments.models_and_texts import Subject
from numerics.models.capture import AttentionProblem, capture

STATISTICS = ("entropy", "effective_keys", "top_mass")
"""The statistics of a row."""

STEP = torch.finfo(torch.float64).eps ** (1 / 3)
"""Half of a difference quotient's relative step: truncation, about its square, then is as small as rounding, eps over it."""


@dataclass(frozen=True, eq=False)
class Curves:
    """Statistics of one attention module at T temperatures, averaged over queries.

    Attributes:
        model, weights: of the module; weights are "trained" or "random".
        role: "encoder", "decoder" or "cross".
        layer: its number within the role, from 0.
        queries: how many rows were averaged; rows with no key left are not among them.
        temperatures: ε, (T,).
        values: by name, (H, T).
        derived: derivatives with respect to ε by the formulas, by name, (H, T).
        measured: by central differences, by name, (H, T).
    """

    model: str
    weights: str
    role: str
    layer: int
    queries: int
    temperatures: Tensor
    values: Mapping[str, Tensor]
    derived: Mapping[str, Tensor]
    measured: Mapping[str, Tensor]

    def disagreement(self, name: str) -> float:
        """The largest |derived − measured| over the heads and temperatures, in units of the largest |derived|."""
        scale = self.derived[name].abs().max()
        return float((self.derived[name] - self.measured[name]).abs().max() / scale) if scale > 0 else 0.0


def temperatures(low: float = 0.05, high: float = 20.0, count: int = 25) -> Tensor:
    """Return ``count`` temperatures from ``low`` to ``high`` at equal ratios, (count,), float64.

    Raises:
        ValueError: unless 0 < low < high and count ≥ 2.
    """
    if not 0 < low < high < float("inf"):
        raise ValueError(f"temperatures: expected 0 < low < high < ∞, got low = {low:g} and high = {high:g}")
    if count < 2:
        raise ValueError(f"count: expected an integer ≥ 2, got {count}")
    return torch.logspace(torch.tensor(low).log10(), torch.tensor(high).log10(), count, dtype=torch.float64)


def rows_at(logits: Tensor, allowed: Tensor, temperature: float) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Return `STATISTICS` of every row and their derivatives with respect to the temperature, each (...).

    Args:
        logits: s, (..., K).
        allowed: boolean, (..., K); every row has a key.
        temperature: ε > 0.
    """
    p = one_sided.plan(logits, temperature, allowed)
    entropy, top = one_sided.entropy(p), p.amax(-1)
    finite = torch.where(allowed, logits, 0.0)
    centred = torch.where(allowed, logits - (p * finite).sum(-1, keepdim=True), -torch.inf)
    spread = (p * torch.where(allowed, centred, 0.0).square()).sum(-1)
    slope = spread / temperature**3
    values = {"entropy": entropy, "effective_keys": entropy.exp(), "top_mass": top}
    slopes = {"entropy": slope, "effective_keys": entropy.exp() * slope, "top_mass": -top * centred.amax(-1) / temperature**2}
    return values, slopes


def curves_of(
    logits: Tensor, allowed: Tensor, temperatures: Tensor
) -> tuple[dict[str, Tensor], dict[str, Tensor], dict[str, Tensor]]:
    """Return values, derived and measured derivatives of the averages over batch and queries, by name, (H, T) each.

    Args:
        logits: (B, H, Q, K), float64.
        allowed: boolean, (B, H, Q, K).
        temperatures: (T,).

    Raises:
        ValueError: if no query has a key left.
    """
    live = allowed.any(-1)
    if not bool(live.any(-1).any(0).all()):
        raise ValueError("allowed: expected a query with an unmasked key in every head, got a head without one")
    keys = torch.where(live.unsqueeze(-1), allowed, True)  # rows without keys are not averaged
    count = live.sum((0, 2))

    def averaged(rows: Tensor) -> Tensor:
        return torch.where(live, rows, 0.0).sum((0, 2)) / count

    def columns(make: Callable[[float], dict[str, Tensor]]) -> dict[str, Tensor]:
        values = [make(float(e)) for e in temperatures]
        return {name: torch.stack([averaged(column[name]) for column in values], -1) for name in STATISTICS}

    values = columns(lambda e: rows_at(logits, keys, e)[0])
    derived = columns(lambda e: rows_at(logits, keys, e)[1])
    above = columns(lambda e: rows_at(logits, keys, e * (1 + STEP))[0])
    below = columns(lambda e: rows_at(logits, keys, e * (1 - STEP))[0])
    return values, derived, {name: (above[name] - below[name]) / (2 * STEP * temperatures) for name in STATISTICS}


def measure(subject: Subject, temperatures: Tensor) -> Iterator[tuple[int, Curves]]:
    """Yield how many modules a model has, and the curves of one after the other, over all inputs together."""
    calls: dict[str, list[AttentionProblem]] = {}
    for inputs in subject.inputs:
        for problem in capture(subject.model, inputs):
            calls.setdefault(problem.module, []).append(problem)
    layers: dict[str, int] = {}
    for problems in calls.values():
        role = problems[0].role
        layer = layers[role] = layers.get(role, -1) + 1
        yield len(calls), _module(subject, role, layer, problems, temperatures)


def _module(subject: Subject, role: str, layer: int, problems: list[AttentionProblem], epsilons: Tensor) -> Curves:
    parts, counts = [], []
    for problem in problems:
        logits, allowed = unmasked(problem)
        counts.append(int(allowed.any(-1).sum()) // logits.shape[1])
        parts.append(curves_of(logits, allowed, epsilons))
    share = torch.tensor(counts, dtype=torch.float64) / sum(counts)

    def over_inputs(which: int) -> dict[str, Tensor]:
        return {
            name: sum((w * part[which][name] for w, part in zip(share, parts, strict=True)), torch.zeros(()))
            for name in STATISTICS
        }

    values, derived, measured = (over_inputs(which) for which in range(3))
    return Curves(subject.name, subject.weights, role, layer, sum(counts), epsilons, values, derived, measured)


def unmasked(problem: AttentionProblem) -> tuple[Tensor, Tensor]:
    """Return a problem's logits without its mask, and which keys take part, (B, H, Q, K) each, on the CPU.

    A mask of the library's eager arithmetic is zero, or so low that a key has no weight at all.
    """
    logits = problem.scores.double() * problem.scaling
    if problem.bias is not None:
        logits = logits + problem.bias.double()
    if problem.mask is None:
        allowed = torch.ones_like(logits, dtype=torch.bool)
    else:
        allowed = (problem.mask > torch.finfo(problem.mask.dtype).min / 2).expand(logits.shape)
    return logits.cpu(), allowed.cpu()
