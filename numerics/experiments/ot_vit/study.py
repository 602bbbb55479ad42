"""All runs of the experiment: every arm with every seed, seed by seed, resumable at every epoch.

A folder belongs to one configuration on one machine; arms and seeds may be added to it later.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from numerics.experiments.datasets import Dataset
from numerics.experiments.ot_vit import checkpoint
from numerics.experiments.ot_vit.arms import ARMS
from numerics.experiments.ot_vit.model import Kind
from numerics.experiments.ot_vit.probe import Probe, probe
from numerics.experiments.ot_vit.training import Configuration, History, Machine, Run, defaults
from numerics.experiments.output import atomic_write


@dataclass(frozen=True)
class Step:
    """The state of a run after an epoch, or when the study was opened: its arm, seed and history."""

    arm: str
    seed: int
    history: History


class Study:
    """The runs of some arms and seeds, kept in a folder."""

    def __init__(
        self, dataset: Dataset, configuration: Configuration, machine: Machine, arms: tuple[str, ...], seeds: int, out: Path
    ) -> None:
        """Open the study in the folder ``out``, which is made if it is missing.

        Raises:
            ValueError: for an unknown arm, no seed, or a folder that belongs to another configuration or machine.
        """
        unknown = [arm for arm in arms if arm not in ARMS]
        if unknown or not arms:
            raise ValueError(f"arms: expected some of {', '.join(ARMS)}, got {', '.join(unknown) or 'none'}")
        if seeds < 1:
            raise ValueError(f"seeds: expected an integer ≥ 1, got {seeds}")
        self.dataset, self.configuration, self.machine = dataset, configuration, machine
        self.arms, self.seeds, self.out = arms, seeds, out
        out.mkdir(parents=True, exist_ok=True)
        _claim(out, {**configuration.described(), "machine": machine.described()})

    def histories(self) -> dict[str, tuple[History, ...]]:
        """Where every run stands, by arm and seed."""
        return {arm: tuple(checkpoint.history(self._path(arm, seed)) for seed in range(self.seeds)) for arm in self.arms}

    def train(self) -> Iterator[Step]:
        """Continue unfinished runs, yielding after every epoch, once its checkpoint is written."""
        for seed in range(self.seeds):
            for arm in self.arms:
                path = self._path(arm, seed)
                if len(checkpoint.history(path).losses) == self.configuration.recipe.epochs:
                    continue
                run = Run(self.configuration, self.dataset, ARMS[arm], seed, self.machine)
                if path.exists():
                    checkpoint.restore(run, path)
                for history in run.train():
                    checkpoint.save(run, path)
                    yield Step(arm, seed, history)

    def trained(self, arm: str, seed: int) -> Run:
        """A run restored from its checkpoint; raises ValueError if there is none."""
        run = Run(self.configuration, self.dataset, ARMS[arm], seed, self.machine)
        checkpoint.restore(run, self._path(arm, seed))
        return run

    def probes(self) -> dict[str, tuple[Probe, ...]]:
        """The last layer of every trained run that has one by optimal transport, by arm and seed."""
        probed = [arm for arm in self.arms if ARMS[arm].kind in (Kind.TRANSPORT, Kind.TRANSPORT_EVEN)]
        return {arm: tuple(probe(self.trained(arm, seed)) for seed in range(self.seeds)) for arm in probed}

    def _path(self, arm: str, seed: int) -> Path:
        return self.out / f"{arm}-{seed}.safetensors"


def first_epochs(dataset: Dataset, arm: str, seed: int, count: int) -> History:
    """The beginning of a run with the default configuration, on this machine: what recorded runs must begin with."""
    run = Run(defaults(dataset), dataset, ARMS[arm], seed, Machine())
    return next(islice(run.train(), count - 1, None))


def _claim(out: Path, identity: dict[str, object]) -> None:
    """Record the configuration in the folder; raises ValueError if the folder belongs to another configuration."""
    path = out / "study.json"
    if not path.exists():
        with atomic_write(path) as written:
            written.write_text(json.dumps(identity, indent=1) + "\n", encoding="utf-8")
        return
    try:
        recorded, expected = _flat(json.loads(path.read_text(encoding="utf-8"))), _flat(identity)
    except (ValueError, AttributeError):
        raise ValueError(f"{path}: expected the record of a study, got a file that cannot be read as one") from None
    for name in [*expected, *recorded]:
        if recorded.get(name) != expected.get(name):
            raise ValueError(
                f"{out}: expected runs with {name} = {expected.get(name)!r}, got {recorded.get(name)!r}; "
                "take another folder or the same settings"
            )


def _flat(values: dict[str, object], prefix: str = "") -> dict[str, object]:
    flat: dict[str, object] = {}
    for name, value in values.items():
        flat |= _flat(value, f"{prefix}{name}.") if isinstance(value, dict) else {f"{prefix}{name}": value}
    return flat
