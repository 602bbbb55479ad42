"""What shipped source code says: the attention modules and transformations that the document names."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import entmax
import pytest
import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention
from transformers import BloomConfig, MptConfig
from transformers.models.bloom.modeling_bloom import BloomAttention, build_alibi_tensor
from transformers.models.mpt.modeling_mpt import MptAttention, build_mpt_alibi_tensor

from derivations.catalogue import entries
from derivations.claims import Evidence, Layer, Outcome
from derivations.eot.notation import j
from derivations.eot.regularizers import p
from derivations.relations import Equation, Relation, UniqueMinimum
from evidence.harness import Formula, Reading, Vote, assert_sound, consider, float64
from numerics import tolerances
from tests.properties.eot_regularizers import Point, condition

Record = Callable[[Evidence], None]
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
        """What the bias grows by from one key to the next."""
        steps = self.bias.diff()
        torch.testing.assert_close(steps, steps[:1].expand_as(steps))
        return float(steps[0])


def bloom() -> list[Shipped]:
    """Every head of a random BLOOM attention module."""
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


@pytest.fixture(scope="module")
def shipped() -> list[Shipped]:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return [*bloom(), *mpt()]


def visible(head: Shipped) -> list[tuple[int, Tensor, Tensor, float]]:
    """Position (from 1), scores and weights of what each query sees, and the rounding of the weights."""
    rows = []
    for query in range(1, LENGTH):
        seen = query + 1
        logit = float(head.scores[query, :seen].abs().max()) / math.sqrt(WIDTH) + float(head.bias.abs().max())
        tolerance = tolerances.plan("float32", seen, logit) + WIDTH * tolerances.eps("float32") * logit
        rows.append((seen, head.scores[:seen, :seen], head.weights[query, :seen], tolerance))
    return rows


def as_printed(head: Shipped, bias: float) -> list[Reading]:
    """Weights with the bias b|i − j| for the last of the visible positions, where |i − j| is the distance back."""
    return [Reading({"m": seen, "i": seen, "S": scores, "tau": math.sqrt(WIDTH), "b": bias}, {head.name: weights}, tolerance)
            for seen, scores, weights, tolerance in visible(head)]


def at_positions(head: Shipped) -> list[Reading]:
    """The same weights, against a bias that grows with the key's position."""
    return [Reading({"m": seen, "s": scores[-1], "tau": math.sqrt(WIDTH), "h": float(seen), "slope": head.slope,
                     "D": torch.arange(seen - 1, -1, -1, dtype=torch.float64)}, {head.name: weights}, tolerance)
            for seen, scores, weights, tolerance in visible(head)]


def sign_of_slope(head: Shipped) -> Reading:
    """The slope is on the right of 0 > m."""
    return Reading({"n": HEADS, "x": head.head + 1}, {head.name: float64(head.slope)}, tolerances.rounding("float32", 1),
                   "right")


def polled(claim: str, statement: Relation | None, twins: dict[str, Formula], readings: Sequence[Reading]) -> Vote:
    """Readings against a statement and twins."""
    assert statement is not None
    vote = Vote(claim, Layer.SOURCE)
    for reading in readings:
        consider(vote, Formula(statement), twins, reading)
    return vote


def agreed(votes: Sequence[Vote]) -> Outcome:
    """What all votes say, if they say the same."""
    outcomes = {vote.outcome for vote in votes}
    return outcomes.pop() if len(outcomes) == 1 else Outcome.INCONCLUSIVE


@pytest.mark.parametrize("claim", [pytest.param(c, id=c, marks=pytest.mark.claim(c, Layer.SOURCE))
                                   for c in ("eot.s4.alibi-sign", "eot.s4.alibi-form")])
def test_shipped_alibi(claim: str, shipped: list[Shipped], record_evidence: Record) -> None:
    start = time.perf_counter()
    entry, modules = entries()[claim], ("BLOOM", "MPT")
    twins = {name: Formula(make()) for name, make in entry.twins.items()}
    printed, corrected = [], []
    for module in modules:
        mine = [head for head in shipped if head.name == module]
        biased = [reading for head in mine for reading in as_printed(head, -head.slope)]
        signs, placed = map(sign_of_slope, mine), [reading for head in mine for reading in at_positions(head)]
        first, second = (list(signs), placed) if claim == "eot.s4.alibi-sign" else (biased, biased)
        printed.append(polled(claim, entry.printed(), {}, first))
        corrected.append(polled(claim, entry.repaired(), twins, second))
    slopes = ", ".join(f"{head.slope:.4g}" for head in shipped[:HEADS])
    worst = max(vote.worst for vote in corrected)
    evidence = Evidence(
        claim=claim,
        layer=Layer.SOURCE,
        outcome=agreed(printed),
        correction=agreed(corrected),
        scope=f"every causal row of {HEADS} heads of the shipped BLOOM and MPT attention modules, width {WIDTH}, "
        f"worst error {worst:.2g} of the tolerance",
        seconds=time.perf_counter() - start,
        detail=next(filter(None, (vote.why_not for vote in corrected)), "")
        or f"slopes {slopes}, added to q·k/√d and not divided by √d",
        error=worst,
        refuted_twins=tuple(name for name in entry.twins if all(name in vote.refuted for vote in corrected)),
    )
    record_evidence(evidence)
    assert_sound(evidence)


def test_shipped_slopes_are_the_published_ones(shipped: list[Shipped]) -> None:
    for head in shipped:
        assert head.slope == pytest.approx(2 ** (-8 * (head.head + 1) / HEADS), rel=1e-6)


def test_bloom_counts_keys_and_mpt_counts_back(shipped: list[Shipped]) -> None:
    """Both grow by the slope from key to key; only a constant, which softmax ignores, tells them apart."""
    for head in shipped:
        first = 0.0 if head.name == "BLOOM" else -head.slope * (LENGTH - 1)
        assert float(head.bias[0]) == pytest.approx(first)


# ── the transformations of the cited papers ─────────────────────────────────────────────────────────────────────────

PUBLISHED = {
    "eot.s4.sparsemax-definition": ("eot.prop4.2", lambda point: entmax.sparsemax(point.quadratic)),
    "eot.s4.entmax-definition": ("eot.prop4.3", lambda point: entmax.entmax_bisect(point.tsallis, 1 + point.a, n_iter=60)),
}


@pytest.mark.parametrize("claim", [pytest.param(c, id=c, marks=pytest.mark.claim(c, Layer.SOURCE)) for c in PUBLISHED])
def test_published_transformations(claim: str, record_evidence: Record) -> None:
    start = time.perf_counter()
    proved, compute = PUBLISHED[claim]
    minimum = entries()[proved].printed()
    assert isinstance(minimum, UniqueMinimum)
    statement = Equation(p[j], minimum.candidate(j))
    twins = {name: Formula(make()) for name, make in entries()[claim].twins.items()}
    vote = Vote(claim, Layer.SOURCE)
    for seed in range(32):
        point = Point(1 + seed % 5, seed, (0.25, 0.5, 1.0, 2.0)[seed % 4], seed % 3 == 0)
        allowed = tolerances.rounding("float64", point.m**2, 100 * condition(point))
        consider(vote, Formula(statement), twins, Reading(point.point(), {"entmax": compute(point)}, allowed))
    evidence = Evidence(
        claim=claim,
        layer=Layer.SOURCE,
        outcome=vote.outcome,
        scope=f"{vote.instances} inputs to the package that the paper's authors publish, worst error {vote.worst:.2g} of "
        "the tolerance",
        seconds=time.perf_counter() - start,
        detail=vote.why_not,
        error=vote.worst,
        refuted_twins=vote.refuted,
    )
    record_evidence(evidence)
    assert_sound(evidence)


# ── the temperature of scaled-dot-product attention ─────────────────────────────────────────────────────────────────

TYPICAL = "eot.sA.typical-temperature"
WIDTHS = (1, 2, 16, 64, 128)


def default_temperature(width: int) -> float:
    """The temperature at which the library's weights are a softmax: s_0 − s_1 over log p_0 − log p_1."""
    query, keys = torch.zeros(1, width, dtype=torch.float64), torch.zeros(2, width, dtype=torch.float64)
    query[0, 0], keys[0, 0] = 1.0, 1.0
    weights = scaled_dot_product_attention(query, keys, torch.eye(2, dtype=torch.float64))[0]
    return 1.0 / float(weights[0].log() - weights[1].log())


@pytest.mark.claim(TYPICAL, Layer.SOURCE)
def test_typical_temperature(record_evidence: Record) -> None:
    start = time.perf_counter()
    found = {width: default_temperature(width) for width in WIDTHS}
    allowed = {width: tolerances.rounding("float64", width, float(width) ** 1.5) for width in WIDTHS}
    agrees = all(abs(found[width] - math.sqrt(width)) <= allowed[width] for width in WIDTHS)
    killed = []
    for name, make in entries()[TYPICAL].twins.items():
        claimed = {width: float(make().value.subs(dict.fromkeys(make().value.free_symbols, width))) for width in WIDTHS}  # type: ignore[attr-defined]
        if any(abs(found[width] - claimed[width]) > 10 * allowed[width] for width in WIDTHS):
            killed.append(name)
    evidence = Evidence(
        claim=TYPICAL,
        layer=Layer.SOURCE,
        outcome=Outcome.HOLDS if agrees else Outcome.REFUTED,
        scope=f"torch {torch.__version__}: scaled_dot_product_attention with its default scale, widths {WIDTHS}",
        seconds=time.perf_counter() - start,
        detail="; ".join(f"width {width}: {tau:.6g}" for width, tau in found.items()),
        refuted_twins=tuple(killed),
    )
    record_evidence(evidence)
    assert_sound(evidence)
