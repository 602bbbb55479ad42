"""Every arm with every seed: trained, tested, and compared seed by seed.

The seeds draw the first parameters and the order of the images; an arm differs from another of the same seed only in its
weights.  Accuracies are those after the last epoch, on test images that nothing was chosen by.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from numerics.experiments.datasets import Dataset, load
from numerics.experiments.geometric.model import Predictor, Where, arms_for
from numerics.experiments.intervals import Interval, interval

BATCH, RATE = 64, 1e-2

QUESTIONS = {
    "learned weights against uniform ones": ("softmax", "uniform"),
    "learned θ(x) against the θ(x) it started from": ("softmax", "untrained"),
    "weights that follow x against weights that do not": ("softmax", "constant"),
    "a Gaussian over the continuum against uniform weights": ("continuous", "uniform"),
    "a Gaussian over the continuum against the same θ on the grid": ("continuous", "quadratic"),
    "a Gaussian over the continuum against a score for each location": ("continuous", "softmax"),
    "a parabola over the continuum against a Gaussian": ("sparsemax", "continuous"),
    "learned weights against uniform ones, where V sees what is around t": ("softmax-near", "uniform-near"),
    "learned weights against uniform ones, where V sees t as well": ("softmax-placed", "uniform-placed"),
    "learned weights of pixels or rows against uniform ones of what is around them": ("softmax", "uniform-near"),
}
"""Paired differences of test accuracy, first arm less second."""


@dataclass(frozen=True)
class Run:
    """One arm with one seed.

    Attributes:
        arm, seed: which.
        losses: mean training loss of each epoch.
        correct: of the test images, after the last epoch.
        weights: the mean weights over the test images of each class, (classes, |S|).
    """

    arm: str
    seed: int
    losses: tuple[float, ...]
    correct: int
    weights: Tensor


@dataclass(frozen=True)
class Study:
    """The configuration: arms, seeds, epochs, and a dataset of 8 × 8 images."""

    dataset: Dataset
    where: Where
    epochs: int
    seeds: int
    arms: tuple[str, ...]

    def runs(self) -> Iterator[tuple[str, int, float | Run]]:
        """Train each arm with each seed; yields (arm, seed, loss) after each epoch, and (arm, seed, run) at the end."""
        for arm in self.arms:
            for seed in range(self.seeds):
                yield from ((arm, seed, step) for step in self.train(arm, seed))

    def train(self, arm: str, seed: int) -> Iterator[float | Run]:
        """Train one model, yielding the mean loss of each epoch, and then the run."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            model = Predictor(arm, self.where, self.dataset.classes)
        images, labels = unit(self.dataset.train_images), self.dataset.train_labels
        generator = torch.Generator().manual_seed(seed)
        learned = [p for p in model.parameters() if p.requires_grad]
        steps = self.epochs * -(-len(images) // BATCH)
        optimizer = torch.optim.Adam(learned, RATE)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
        losses = []
        for _ in range(self.epochs):
            total = 0.0
            for batch in torch.split(torch.randperm(len(images), generator=generator), BATCH):
                loss = cross_entropy(model(images[batch]), labels[batch])
                optimizer.zero_grad()
                torch.autograd.backward(loss)
                nn.utils.clip_grad_norm_(learned, 1.0)
                optimizer.step()
                schedule.step()
                total += float(loss.detach()) * len(batch)
            losses.append(total / len(images))
            yield losses[-1]
        yield self._tested(model, arm, seed, tuple(losses))

    def _tested(self, model: Predictor, arm: str, seed: int, losses: tuple[float, ...]) -> Run:
        images, labels = unit(self.dataset.test_images), self.dataset.test_labels
        model.eval()
        with torch.no_grad():
            correct = int((model(images).argmax(-1) == labels).sum())
            weights = model.weights(images)
        by_class = torch.stack([weights[labels == k].mean(0) for k in range(self.dataset.classes)])
        return Run(arm, seed, losses, correct, by_class)


@dataclass(frozen=True)
class Results:
    """All runs of a study."""

    study: Study
    runs: tuple[Run, ...]

    def accuracies(self, arm: str) -> list[float]:
        """Test accuracy, seed by seed."""
        tested = len(self.study.dataset.test_labels)
        return [run.correct / tested for run in self.runs if run.arm == arm]

    def accuracy(self, arm: str) -> Interval:
        """Its mean over seeds, with Student's 95 % interval."""
        return interval(self.accuracies(arm))

    def difference(self, arm: str, other: str) -> Interval:
        """The mean over seeds of the difference of two arms, seed by seed."""
        return interval([a - b for a, b in zip(self.accuracies(arm), self.accuracies(other), strict=True)])

    def questions(self) -> dict[str, tuple[str, str]]:
        """Those whose arms were both trained."""
        return {question: pair for question, pair in QUESTIONS.items() if set(pair) <= set(self.study.arms)}

    def weights(self, arm: str, seed: int = 0) -> Tensor:
        """The mean weights over the test images of each class, (classes, |S|), of one run."""
        return next(run.weights for run in self.runs if (run.arm, run.seed) == (arm, seed))

    def record(self) -> dict[str, Any]:
        """As plain values; the same study gives the same ones."""
        return {
            "dataset": self.study.dataset.name,
            "sha256": self.study.dataset.sha256,
            "locations": self.study.where,
            "epochs": self.study.epochs,
            "seeds": self.study.seeds,
            "batch": BATCH,
            "rate": RATE,
            "tested": len(self.study.dataset.test_labels),
            "accuracy": {
                arm: {"mean": x.mean, "half_width": x.half_width, "seeds": self.accuracies(arm)}
                for arm in self.study.arms
                for x in [self.accuracy(arm)]
            },
            "differences": [
                {"question": question, "arms": list(pair), "mean": x.mean, "half_width": x.half_width, "verdict": x.verdict}
                for question, pair in self.questions().items()
                for x in [self.difference(*pair)]
            ],
            "losses": {arm: [list(run.losses) for run in self.runs if run.arm == arm] for arm in self.study.arms},
            "weights": {arm: [[round(w, 6) for w in row] for row in self.weights(arm).tolist()] for arm in self.study.arms},
        }


def study_of(dataset: str, where: Where, epochs: int, seeds: int, arms: tuple[str, ...] | None = None) -> Study:
    """A study on scikit-learn's digits, with all arms that go with the locations by default.

    Raises:
        ValueError: for another dataset, no epochs, no seeds, or arms that do not go with ``where``.
    """
    if dataset != "digits":
        raise ValueError(f"dataset: expected digits, got {dataset!r}")
    for name, value in (("epochs", epochs), ("seeds", seeds)):
        if not isinstance(value, int) or value < 1:
            raise ValueError(f"{name}: expected an integer ≥ 1, got {value!r}")
    chosen = arms_for(where) if arms is None else arms
    if not set(chosen) <= set(arms_for(where)):
        raise ValueError(f"arms: expected some of {', '.join(arms_for(where))} for {where}, got {', '.join(chosen)}")
    return Study(load(dataset, Path()), where, epochs, seeds, chosen)


def unit(images: Tensor) -> Tensor:
    """Images (n, 1, 8, 8) of any range as (n, 8, 8) in [0, 1]; the range is the dataset's, 0 to 16 in digits."""
    return images[:, 0].float() / 16
