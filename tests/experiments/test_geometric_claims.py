"""What geometric says of a model trained through its attention weights, measured on a small study made here and now."""

import time
from collections.abc import Callable
from functools import cache

import pytest

from derivations.claims import Evidence, Layer, Outcome
from numerics.experiments.geometric.study import Results, Run, study_of

EPOCHS, SEEDS = 6, 3
VOTING = ("uniform", "untrained", "softmax", "uniform-placed", "softmax-placed")


@cache
def measured() -> Results:
    """A small study, trained here and now."""
    study = study_of("digits", "pixels", EPOCHS, SEEDS, VOTING)
    return Results(study, tuple(step for _, _, step in study.runs() if isinstance(step, Run)))


@pytest.mark.claim("geometric.s7.good-predictions", Layer.TORCH)
def test_learned_weights_help(record_evidence: Callable[[Evidence], None]) -> None:
    start, found = time.perf_counter(), measured()
    gains = {other: found.difference("softmax", other) for other in ("uniform", "untrained")}
    placed = found.difference("softmax-placed", "uniform-placed")
    helps = all(gain.verdict == "higher" for gain in gains.values())
    shown = {arm: f"{found.accuracy(arm).mean:.3f}" for arm in VOTING}
    record_evidence(Evidence(
        claim="geometric.s7.good-predictions",
        layer=Layer.TORCH,
        outcome=Outcome.HOLDS if helps else Outcome.REFUTED,
        scope=f"scikit-learn's digits, {len(found.study.dataset.test_labels)} test images, {SEEDS} seeds, {EPOCHS} epochs, "
        "64 pixels as locations, θ(x) linear, φ(t) = e_t, trained here",
        seconds=time.perf_counter() - start,
        detail=f"where V(t) represents the pixel at t alone, accuracy {shown['softmax']} with learned θ(x), "
        f"{shown['uniform']} with θ = 0 and {shown['untrained']} with θ(x) untrained: {gains['uniform'].verdict}; where V(t) "
        f"sees what is around t, and t, {shown['softmax-placed']} with learned θ(x) and {shown['uniform-placed']} with θ = 0, "
        f"a difference of {100 * placed.mean:+.1f} ± {100 * (placed.half_width or 0):.1f} points: {placed.verdict}",
    ))
    assert helps


def test_the_comparison_can_refuse() -> None:
    """What is worse is found to be lower, and an arm with better values beats learned weights."""
    found = measured()
    assert found.difference("untrained", "softmax").verdict == "lower"
    assert found.difference("uniform-placed", "softmax").verdict == "higher"
