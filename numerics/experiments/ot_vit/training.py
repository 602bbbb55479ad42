"""One run: one arm, one seed.

All that is random comes from the seed and the number of the epoch, never from the arm: all arms of a seed see the same
batches and draw the same companions, whether they use them or not.

Claims      deciphering.tab1
Notation    companion = another image of the same class, whose templates take part half of the time, in training only
"""

import hashlib
import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn import functional

from numerics.experiments.datasets import Dataset
from numerics.experiments.ot_vit.arms import Arm
from numerics.experiments.ot_vit.model import ALPHA, Architecture, VisionTransformer

TESTED = 1000  # images at a time


@dataclass(frozen=True)
class Recipe:
    """How every arm is trained; the document gives the epochs and the share only.

    Attributes:
        epochs: ≥ 1.
        batch: images a step; companions come on top.
        rate: of AdamW, reached after ``warmup`` of all steps and brought to zero along a cosine.
        decay: of the weights.
        share: the chance that a companion takes part.
        clip: the largest norm of a gradient.
    """

    epochs: int
    batch: int
    rate: float
    decay: float = 0.05
    warmup: float = 0.1
    share: float = 0.5
    clip: float = 1.0

    def __post_init__(self) -> None:
        for name in ("epochs", "batch"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}: expected an integer ≥ 1, got {getattr(self, name)}")
        if not self.rate > 0:
            raise ValueError(f"rate: expected a positive number, got {self.rate}")


@dataclass(frozen=True)
class Configuration:
    """All that the figures depend on, apart from the machine."""

    dataset: str
    dataset_sha256: str
    architecture: Architecture
    recipe: Recipe

    def described(self) -> dict[str, object]:
        """Plain values, with γ and α."""
        return {**asdict(self), "alpha": ALPHA, "temperature": self.architecture.temperature}

    @property
    def sha256(self) -> str:
        """Of ``described``."""
        return hashlib.sha256(json.dumps(self.described(), sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class Machine:
    """Where a run takes place: device, precision ("float32" or "bfloat16", for all but the last attention), threads."""

    device: str = "cpu"
    precision: str = "float32"
    threads: int = 1

    def __post_init__(self) -> None:
        if self.precision not in ("float32", "bfloat16"):
            raise ValueError(f"precision: expected float32 or bfloat16, got {self.precision!r}")

    def described(self) -> dict[str, object]:
        """Plain values, with the version of torch: numbers are the same bit by bit only where these are the same."""
        return {**asdict(self), "torch": torch.__version__}


@dataclass(frozen=True)
class History:
    """After each epoch: the mean loss in it, in nats an image, and how many test images are classified correctly."""

    losses: tuple[float, ...] = ()
    correct: tuple[int, ...] = ()


def defaults(dataset: Dataset, epochs: int | None = None) -> Configuration:
    """The default configuration for a dataset: the document's size, except for digits."""
    side, channels = dataset.train_images.shape[-1], dataset.train_images.shape[1]
    if dataset.name == "digits":
        architecture = Architecture(side, channels, dataset.classes, patch=2, hidden=32, heads=2, mlp=64)
        recipe = Recipe(30 if epochs is None else epochs, batch=64, rate=2e-3)
    else:
        architecture = Architecture(side, channels, dataset.classes, patch=4, hidden=256, heads=8, mlp=512)
        recipe = Recipe(200 if epochs is None else epochs, batch=128, rate=5e-4)
    return Configuration(dataset.name, dataset.sha256, architecture, recipe)


class Run:
    """The state of one run: the model, its optimizer, and its history so far."""

    def __init__(self, configuration: Configuration, dataset: Dataset, arm: Arm, seed: int, machine: Machine) -> None:
        self.configuration, self.arm, self.seed, self.machine = configuration, arm, seed, machine
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(_seed(seed, "weights"))
            self.model = VisionTransformer(configuration.architecture, arm.kind).to(machine.device)
        recipe = configuration.recipe
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=recipe.rate, weight_decay=recipe.decay, fused=True)
        self.history = History()
        self.dataset = replace(
            dataset,
            train_images=dataset.train_images.to(machine.device),
            train_labels=dataset.train_labels.to(machine.device),
            test_images=dataset.test_images.to(machine.device),
            test_labels=dataset.test_labels.to(machine.device),
        )
        channels = [dataset.train_images[:, channel].double() for channel in range(dataset.train_images.shape[1])]
        mean, spread = (torch.stack([statistic(x) for x in channels]) for statistic in (torch.mean, torch.std))
        self.mean = mean.float().to(machine.device)[:, None, None]
        self.spread = spread.float().clamp(min=1.0).to(machine.device)[:, None, None]
        self.peers = Peers(dataset.train_labels)

    @property
    def epoch(self) -> int:
        """The number of finished epochs."""
        return len(self.history.losses)

    def train(self) -> Iterator[History]:
        """Go on to the last epoch, yielding the history after each."""
        while self.epoch < self.configuration.recipe.epochs:
            loss = self._train_epoch()
            correct = self.correct()
            self.history = History((*self.history.losses, loss), (*self.history.correct, correct))
            yield self.history

    def correct(self) -> int:
        """How many test images are classified correctly, from their own templates alone."""
        self.model.eval()
        with torch.no_grad(), self._autocast():
            classes = [self.model(self.normalized(part)).argmax(-1) for part in torch.split(self.dataset.test_images, TESTED)]
        return int((torch.cat(classes) == self.dataset.test_labels).sum())

    def _train_epoch(self) -> float:
        recipe, images = self.configuration.recipe, self.dataset.train_images
        generator = torch.Generator().manual_seed(_seed(self.seed, f"epoch {self.epoch}"))
        order = torch.randperm(len(images), generator=generator)
        companions = self.peers.draw(generator)
        sharing = (torch.rand(len(images), generator=generator) < recipe.share) & (companions >= 0)
        batches = torch.split(order, recipe.batch)
        total = torch.zeros((), device=self.machine.device)
        self.model.train()
        for step, batch in enumerate(batches):
            with self._autocast():
                logits = self._logits(batch, companions[batch], sharing[batch])
            loss = functional.cross_entropy(logits.float(), self.dataset.train_labels[batch])
            self.optimizer.zero_grad()
            torch.autograd.backward(loss)
            nn.utils.clip_grad_norm_(self.model.parameters(), recipe.clip)
            for group in self.optimizer.param_groups:
                group["lr"] = _rate(recipe, (self.epoch + step / len(batches)) / recipe.epochs)
            self.optimizer.step()
            total += loss.detach() * len(batch)
        return float(total) / len(images)

    def _logits(self, batch: Tensor, companions: Tensor, sharing: Tensor) -> Tensor:
        """Logits in training; with companions' templates for the images marked in ``sharing``, if the arm shares."""
        images = self.dataset.train_images
        if not (self.arm.shares and bool(sharing.any())):
            logits: Tensor = self.model(self.normalized(images[batch]))
            return logits
        both = torch.cat([batch, companions[sharing]])
        sharing = sharing.to(self.machine.device)
        features = self.model.features(self.normalized(images[both]))
        own, others = features[: len(batch)], features[len(batch) :]
        extra = torch.zeros_like(own).index_copy(0, sharing.nonzero().squeeze(-1), others)
        return self.model.classify(own, extra, sharing[:, None])

    def normalized(self, images: Tensor) -> Tensor:
        """Images as the model takes them: each channel with the mean 0 and the spread 1 of the training images."""
        return (images.float() - self.mean) / self.spread

    def _autocast(self) -> torch.autocast:
        return torch.autocast(self.machine.device, torch.bfloat16, enabled=self.machine.precision == "bfloat16")


class Peers:
    """For each image, the other images of its class."""

    def __init__(self, labels: Tensor) -> None:
        self.order = labels.argsort(stable=True)
        counts = labels.bincount()
        self.count = counts[labels]
        self.start = (counts.cumsum(0) - counts)[labels]
        self.rank = torch.empty_like(labels).index_copy(0, self.order, torch.arange(len(labels))) - self.start

    def draw(self, generator: torch.Generator) -> Tensor:
        """One other image of the same class for each image, all equally likely; −1 where there is none; int64, (N,)."""
        others = self.count - 1
        uniform = torch.rand(len(others), generator=generator, dtype=torch.float64)
        drawn = torch.minimum((uniform * others).long(), others - 1)
        index = drawn + (drawn >= self.rank)
        chosen = self.order[(self.start + index).clamp(min=0)]
        return torch.where(others > 0, chosen, -1)


def _rate(recipe: Recipe, progress: float) -> float:
    """The rate after a share of all steps: up in a line, down along a cosine."""
    rising = progress / recipe.warmup if recipe.warmup > 0 else 1.0
    falling = (1.0 + math.cos(math.pi * (progress - recipe.warmup) / (1.0 - recipe.warmup))) / 2.0
    return recipe.rate * (rising if progress < recipe.warmup else falling)


def _seed(seed: int, purpose: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed}, {purpose}".encode()).digest()[:7], "big")
