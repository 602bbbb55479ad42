"""ALiBi as BLOOM and MPT ship it: the sign of its slopes, and where its bias is added."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

from evidence import Finding, Layer, Outcome, Reading, Run, float64, hold
from numerics import tolerances

HEADS, LENGTH, WIDTH = 8, 6, 4


@dataclass(frozen=True)
class Shipped:
    """One head of a shipped attention module: raw scores q·k, its bias, its weights on causal rows, its slope."""

    name: str
    head: int
    scores: Tensor
    weights: Tensor
    bias: Tensor

    @property
    def slope(self) -> float:
        """The growth of the bias from one key to the next."""
        steps = self.bias.diff()
        torch.testing.assert_close(steps, steps[:1].expand_as(steps))
        return float(steps[0])


def bloom() -> list[Shipped]:
    """Every head of a random BLOOM attention module."""
    from transformers import BloomConfig
    from transformers.models.bloom.modeling_bloom import BloomAttention, build_alibi_tensor

    config = BloomConfig(hidden_size=HEADS * WIDTH, n_head=HEADS, attention_dropout=0.0, hidden_dropout=0.0)
    module = BloomAttention(config, layer_idx=0).eval()
    bias = build_alibi_tensor(torch.ones(1, LENGTH), HEADS, torch.float32)
    hidden = inputs()
    with torch.no_grad():
        query, key, _ = module._reshape(module.query_key_value(hidden))
        mask = torch.full((LENGTH, LENGTH), torch.finfo(torch.float32).min).triu(1)[None, None]
        weights = module(hidden, torch.zeros_like(hidden), bias, mask, output_attentions=True)[1]
    return heads("BLOOM", query, key, weights, bias[:, 0])


def mpt() -> list[Shipped]:
    """Every head of a random MPT attention module."""
    from transformers import MptConfig
    from transformers.models.mpt.modeling_mpt import MptAttention, build_mpt_alibi_tensor

    module = MptAttention(MptConfig(d_model=HEADS * WIDTH, n_heads=HEADS), layer_idx=0).eval()
    bias = build_mpt_alibi_tensor(HEADS, LENGTH)
    hidden = inputs()
    with torch.no_grad():
        query, key, _ = (x.view(1, LENGTH, HEADS, WIDTH).transpose(1, 2) for x in module.Wqkv(hidden).chunk(3, dim=2))
        mask = torch.ones(LENGTH, LENGTH, dtype=torch.bool).triu(1)[None, None]
        weights = module(hidden, bias, attention_mask=mask)[1]
    return heads("MPT", query, key, weights, bias[:, 0])


def inputs() -> Tensor:
    """Hidden states far from zero, so that the scores differ."""
    return 3 * torch.randn(1, LENGTH, HEADS * WIDTH, generator=torch.Generator().manual_seed(0))


def heads(name: str, query: Tensor, key: Tensor, weights: Tensor, bias: Tensor) -> list[Shipped]:
    """The heads of a module that has been run."""
    scores = (query.double() @ key.double().mT)[0]
    return [Shipped(name, h, scores[h], weights[0, h], bias[h].double()) for h in range(HEADS)]


@cache
def shipped() -> dict[str, list[Shipped]]:
    """Every head of both modules, by the name of the module."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return {"BLOOM": bloom(), "MPT": mpt()}


def visible(head: Shipped) -> list[tuple[int, Tensor, Tensor, float]]:
    """Position (from 1), scores and weights of what each query sees, and the rounding of the weights."""
    rows = []
    for query in range(1, LENGTH):
        seen = query + 1
        logit = float(head.scores[query, :seen].abs().max()) / math.sqrt(WIDTH) + float(head.bias.abs().max())
        tolerance = tolerances.plan("float32", seen, logit) + WIDTH * tolerances.eps("float32") * logit
        rows.append((seen, head.scores[:seen, :seen], head.weights[query, :seen], tolerance))
    return rows


def biased_by_distance(head: Shipped) -> list[Reading]:
    """Weights with the bias b|i − j| for the last of the visible positions, where |i − j| is the distance back."""
    point = {"tau": math.sqrt(WIDTH), "b": -head.slope}
    return [
        Reading({**point, "m": seen, "i": seen, "S": scores}, {head.name: weights}, tolerance)
        for seen, scores, weights, tolerance in visible(head)
    ]


def at_positions(head: Shipped) -> list[Reading]:
    """The same weights, against a bias that grows with the key's position."""
    return [
        Reading(
            {
                "m": seen,
                "s": scores[-1],
                "tau": math.sqrt(WIDTH),
                "h": float(seen),
                "slope": head.slope,
                "D": torch.arange(seen - 1, -1, -1, dtype=torch.float64),
            },
            {head.name: weights},
            tolerance,
        )
        for seen, scores, weights, tolerance in visible(head)
    ]


def sign_of_slope(head: Shipped) -> list[Reading]:
    """The slope is on the right of 0 > m."""
    point = {"n": HEADS, "x": head.head + 1}
    return [Reading(point, {head.name: float64(head.slope)}, tolerances.rounding("float32", 1), "right")]


def agreed(outcomes: Iterable[Outcome]) -> Outcome:
    """The common finding of all modules, if they agree."""
    distinct = set(outcomes)
    return distinct.pop() if len(distinct) == 1 else Outcome.INCONCLUSIVE


Readings = Callable[[Shipped], list[Reading]]


def of_both_modules(claim: str, printed: Readings, corrected: Readings) -> Finding:
    """Combine the modules' evidence on the print and on its correction: a twin is refuted by both or not at all."""

    def every(readings: Readings, heads: list[Shipped]) -> list[Reading]:
        return [reading for head in heads for reading in readings(head)]

    modules = shipped().values()
    prints = [hold(claim, Layer.SOURCE, every(printed, heads), twins=False) for heads in modules]
    votes = [hold(claim, Layer.SOURCE, every(corrected, heads), corrected=True) for heads in modules]
    slopes = ", ".join(f"{head.slope:.4g}" for head in shipped()["BLOOM"])
    worst = max(vote.worst for vote in votes)
    return Finding(
        agreed(vote.outcome for vote in prints),
        f"every causal row of {HEADS} heads of the shipped BLOOM and MPT attention modules, width {WIDTH}, "
        f"worst error {worst:.2g} of the tolerance",
        next(filter(None, (vote.why_not for vote in votes)), f"slopes {slopes}, added to q·k/√d and not divided by √d"),
        worst,
        tuple(name for name in votes[0].refuted if all(name in vote.refuted for vote in votes)),
        agreed(vote.outcome for vote in votes),
    )


def alibi_sign(claim: str, run: Run) -> Finding:
    """The slopes are positive; the weights are those of a bias that grows with the key's position."""
    return of_both_modules(claim, sign_of_slope, at_positions)


def alibi_form(claim: str, run: Run) -> Finding:
    """The bias is added to scores that are divided already."""
    return of_both_modules(claim, biased_by_distance, biased_by_distance)
