"""What only running the models can tell: shapes that go through, arguments that are never read, what is printed."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import pytest
import torch
from torch import Tensor

from derivations.catalogue import entries
from derivations.claims import Evidence, Layer, Outcome, Witness
from numerics import tolerances
from tests.listings import models

Record = Callable[[Evidence], None]
SIZES = (1, 2, 3, 5)


def runs(function: Callable[[], Tensor], shape: tuple[int, ...]) -> bool:
    """Whether a call comes back, with a finite result of this shape."""
    try:
        found = function()
    except (RuntimeError, UserWarning):                      # shapes that do not fit, or a transpose of three axes
        return False
    return tuple(found.shape) == shape and bool(found.isfinite().all())


def uniform(*shape: int) -> Tensor:
    return torch.full(shape, 1 / shape[-1], dtype=torch.float64)


def one_problem(n: int, m: int) -> bool:
    """Whether `sinkhorn` takes n sources and m targets."""
    return runs(lambda: models.sinkhorn(uniform(n), uniform(m), uniform(n, m), 1.0), (n, m))


def many_problems(batch: int, n: int) -> bool:
    """Whether `sinkhorn` takes a batch of problems."""
    return runs(lambda: models.sinkhorn(uniform(batch, n), uniform(batch, n), uniform(batch, n, n), 1.0), (batch, n, n))


def divergence(batch: int, tokens: int, width: int = 2) -> bool:
    """Whether `compute_attention_ot_divergence` takes a batch of queries and keys."""
    generator = torch.Generator().manual_seed(0)
    query, key = torch.randn(2, batch, tokens, width, generator=generator, dtype=torch.float64)
    return runs(lambda: models.attention_divergence(query, key, 1.0), ())


@dataclass(frozen=True)
class Finding:
    """What running a model says of its claim; a twin is named where it was seen to fail."""

    holds: bool
    scope: str
    detail: str
    killed: tuple[str, ...]
    witness: Witness | None = None


def shapes() -> Finding:
    pairs = [(n, m) for n in SIZES for m in SIZES]
    killed = [name for name, fails in {
        "only as many targets as sources": any(one_problem(n, m) for n, m in pairs if n != m),
        "a batch of problems": not any(many_problems(batch, n) for batch in (2, 3) for n in (2, 3)),
    }.items() if fails]
    return Finding(all(one_problem(n, m) for n, m in pairs), f"n and m in {SIZES}", "a batch (2, n) is refused", tuple(killed))


def batches() -> Finding:
    told = Witness("B = 1, N = 2, d = 2", "RuntimeError", "a number",
                   "at B = 1, N = 2: the marginals (1, 2) and the costs (1, 2, 2) "
                   "are refused; one problem is what `sinkhorn` takes")
    larger = [(batch, tokens) for batch in (1, 2, 3) for tokens in (2, 3, 4)]
    killed = [name for name, fails in {
        "a batch of one": not any(divergence(1, tokens) for tokens in (2, 3, 4)),
        "a batch of N": not any(divergence(tokens, tokens) for tokens in (2, 3, 4)),
    }.items() if fails]
    fine = any(divergence(*size) for size in larger)
    return Finding(fine, "B in (1, 2, 3), N in (2, 3, 4)", "no batch with more than one token goes through", tuple(killed),
                   None if fine else told)


SCORES = torch.tensor([[[0.0, 1.0], [2.0, 0.0]]], dtype=torch.float64)


def module(iterations: int) -> tuple[models.OptimalTransportAttention, Tensor]:
    """One head of width 2 with identities for projections, and tokens whose scores are not symmetric."""
    attention = models.OptimalTransportAttention(2, 1, sinkhorn_iters=iterations).double()
    with torch.no_grad():
        for part in (attention.query, attention.key, attention.value, attention.output):
            part.weight.copy_(torch.eye(2))
            part.bias.zero_()
    return attention, SCORES


def weights(iterations: int, mask: Tensor | None = None) -> Tensor:
    """The weights of that module, its tokens' keys the unit vectors."""
    attention, scores = module(iterations)
    keys = torch.eye(2, dtype=torch.float64)[None]
    found: Tensor = attention(scores, keys, keys, mask)[1].detach()[0, 0]
    return found


def iterations() -> Finding:
    softmax = weights(0)
    rounds = {count: models.resharpened(softmax, math.log(2), rounds=count) for count in (1, 2, 3)}
    given = {count: weights(count) for count in (1, 2, 3)}
    allowed = tolerances.rounding("float64", 2, 10.0)
    right = [count for count in given if float((given[count] - rounds[count]).abs().max()) <= allowed]
    first = float(given[1][0, 0]), float(rounds[1][0, 0])
    told = Witness("sinkhorn_iters = 1, S = ((0, 1), (2, 0))/√2", f"{first[0]:.6f}", f"{first[1]:.6f}",
                   f"at sinkhorn_iters = 1: the first weight is {first[0]:.6f}, after one iteration {first[1]:.6f}; three run")
    killed = [name for name, fails in {
        "none runs by default": float((weights(3) - softmax).abs().max()) > 10 * allowed,
        "one runs by default": float((weights(3) - rounds[1]).abs().max()) > 10 * allowed,
    }.items() if fails]
    fine = len(right) == len(given)
    return Finding(fine, "sinkhorn_iters in (1, 2, 3)",
                   f"as many iterations as were asked for: {right} only; the argument is a switch",
                   tuple(killed), None if fine else told)


def masks() -> Finding:
    mask = torch.tensor([[True, False], [True, True]])
    open_, masked, blocked = (weights(3, each) for each in (None, mask, ~mask))
    kept = float(masked[0, 1])
    told = Witness("mask = ((1, 0), (1, 1)), S = ((0, 1), (2, 0))/√2", f"{kept:.6f}", "0",
                   f"the weight that the mask forbids is {kept:.6f} ≠ 0, as without a mask")
    killed = [name for name, fails in {
        "a mask is refused": bool(masked.isfinite().all()),
        "a mask lets the rest through and blocks the others": torch.equal(open_, blocked),
    }.items() if fails]
    return Finding(kept == 0, "a boolean mask of two queries and two keys", "the argument is never read", tuple(killed),
                   None if kept == 0 else told)


def printed() -> Finding:
    found = models.run_experiment()
    seeds = [models.run_experiment(seed) for seed in range(3)]
    gap = max(abs(run.transport_entropy - math.log(32)) for run in (found, *seeds))
    told = (f"entropies {found.standard_entropy:.4f} (averaged over heads) and {found.transport_entropy:.4f} (each head), "
            f"shape {found.shape}, outputs close: {found.close}; the second is log 32 = {math.log(32):.4f} to {gap:.0e}: the "
            "iterations have made every row uniform; outputs of modules with independent weights are never close")
    return Finding(found.shape == (4, 32, 128), "seed 42 as printed and three more seeds; there is no task in it", told, ())


FINDINGS = {
    "transport.listing.sinkhorn.shapes": shapes,
    "transport.listing.compute_attention_ot_divergence.batch": batches,
    "transport.listing.OptimalTransportAttention.iterations": iterations,
    "transport.listing.OptimalTransportAttention.mask": masks,
    "transport.listing.run_ot_attention_experiment.printed": printed,
}


@pytest.mark.parametrize("claim", [pytest.param(id, id=id, marks=pytest.mark.claim(id, Layer.TORCH)) for id in FINDINGS])
def test_listing(claim: str, record_evidence: Record) -> None:
    start = time.perf_counter()
    found = FINDINGS[claim]()
    record_evidence(Evidence(
        claim=claim,
        layer=Layer.TORCH,
        outcome=Outcome.HOLDS if found.holds else Outcome.REFUTED,
        scope=found.scope,
        seconds=time.perf_counter() - start,
        detail=found.detail,
        refuted_twins=found.killed,
        witness=found.witness,
    ))
    assert set(found.killed) == set(entries()[claim].twins)
    assert found.holds == (found.witness is None)


# ── the findings can go either way ──────────────────────────────────────────────────────────────────────────────────


def test_shapes_that_do_not_fit_are_seen() -> None:
    assert not runs(lambda: torch.zeros(2, 3) @ torch.zeros(2), (2,))
    assert not runs(lambda: torch.zeros(3), (2,))
    assert not runs(lambda: torch.full((2,), math.nan), (2,))
    assert runs(lambda: torch.zeros(2), (2,))


def test_a_module_that_reads_its_arguments_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the number of iterations handed on, and the mask applied, neither finding accuses."""
    plain = models.OptimalTransportAttention.forward

    def reading(self: models.OptimalTransportAttention, query: Tensor, key: Tensor, value: Tensor,
                mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        count, self.iterations = self.iterations, 0
        output, found = plain(self, query, key, value)
        found = models.resharpened(found, self.temperature, rounds=count)
        return output, found if mask is None else torch.where(mask, found, 0.0)

    monkeypatch.setattr(models.OptimalTransportAttention, "forward", reading)
    assert iterations().holds
    assert masks().holds


def test_a_batched_divergence_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "attention_divergence", lambda query, key, epsilon: query.new_zeros(()))
    assert batches().holds
