"""A small study, run on the spot, of a model trained through its attention weights."""

from functools import cache
from typing import TYPE_CHECKING

from evidence import Finding, Outcome, Run

if TYPE_CHECKING:
    from numerics.experiments.geometric.study import Results

EPOCHS, SEEDS = 6, 3
VOTING = ("uniform", "untrained", "softmax", "uniform-placed", "softmax-placed")


@cache
def results() -> "Results":
    """The results of every arm with every seed."""
    from numerics.experiments.geometric import study

    made = study.study_of("digits", "pixels", EPOCHS, SEEDS, VOTING)
    return study.Results(made, tuple(step for _, _, step in made.runs() if isinstance(step, study.Run)))


def gain_of_learning(claim: str, run: Run) -> Finding:
    """The gain of learned weights over uniform and untrained ones."""
    study = results()
    gains = {other: study.difference("softmax", other) for other in ("uniform", "untrained")}
    placed = study.difference("softmax-placed", "uniform-placed")
    shown = {arm: f"{study.accuracy(arm).mean:.3f}" for arm in VOTING}
    return Finding(
        Outcome.HOLDS if all(gain.verdict == "higher" for gain in gains.values()) else Outcome.REFUTED,
        f"scikit-learn's digits, {len(study.study.dataset.test_labels)} test images, {SEEDS} seeds, {EPOCHS} epochs, "
        "64 pixels as locations, θ(x) linear, φ(t) = e_t, trained here",
        f"where V(t) represents the pixel at t alone, accuracy {shown['softmax']} with learned θ(x), "
        f"{shown['uniform']} with θ = 0 and {shown['untrained']} with θ(x) untrained: {gains['uniform'].verdict}; where V(t) "
        f"sees what is around t, and t, {shown['softmax-placed']} with learned θ(x) and {shown['uniform-placed']} with θ = 0, "
        f"a difference of {100 * placed.mean:+.1f} ± {100 * (placed.half_width or 0):.1f} points: {placed.verdict}",
    )
