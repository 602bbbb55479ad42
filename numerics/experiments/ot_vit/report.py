"""Results of the runs: test accuracies after the last epoch, and paired differences of arms with 95 % intervals.

The intervals are Student's, over seeds: they say how far another set of seeds might move the mean on *these* test images.
Each stands alone; they are not corrected for multiple comparisons.

Claims      deciphering.tab1, deciphering.s9.higher-on-every-dataset, deciphering.s9.demonstrated-on-every-dataset
"""

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from numerics.experiments.datasets import Dataset
from numerics.experiments.intervals import Interval, interval
from numerics.experiments.ot_vit.arms import ARMS, CONTRASTS, Contrast
from numerics.experiments.ot_vit.model import Architecture, parameters
from numerics.experiments.ot_vit.probe import Probe
from numerics.experiments.ot_vit.training import Configuration, History, defaults

RESULTS = Path(__file__).parent / "results"

PRINTED = {
    "fashion-mnist": {"vit": (0.928, 0.01), "ot-vit": (0.937, 0.01)},
    "cifar10": {"vit": (0.751, 0.01), "ot-vit": (0.772, 0.02)},
    "cifar100": {"vit": (0.463, 0.01), "ot-vit": (0.491, 0.01)},
}
"""Table 1: accuracy and half-width of its 95 % interval."""

NOTES = (
    "Arms with templates of the same class learn from labels what plain ViT is not told: which images to take them from, in "
    "training only. They also run half as many images again through the first layers at every step.",
    "Intervals are over seeds, on fixed test images, each for itself: of twenty, about one leaves out zero by chance. The "
    "accuracy is that of the last epoch, none is chosen.",
)


@dataclass(frozen=True)
class Results:
    """All runs of a study.

    Attributes:
        configuration: what they were trained with, as plain values.
        sha256: of ``configuration``.
        machine: the one they ran on.
        tested: how many test images.
        runs: by arm, one history a seed, the seeds being 0, 1, …
        probes: by arm and seed, the measurements of the last layer.
    """

    configuration: dict[str, Any]
    sha256: str
    machine: dict[str, Any]
    tested: int
    runs: dict[str, tuple[History, ...]]
    probes: dict[str, tuple[Probe, ...]]

    def accuracies(self, arm: str) -> list[float]:
        """Test accuracy after the last epoch, seed by seed."""
        return [history.correct[-1] / self.tested for history in self.runs[arm]]

    def accuracy(self, arm: str) -> Interval:
        """The mean over seeds."""
        return interval(self.accuracies(arm))

    def contrasts(self) -> tuple[Contrast, ...]:
        """The contrasts all of whose arms were run."""
        return tuple(contrast for contrast in CONTRASTS if {*contrast.plus, *contrast.minus} <= self.runs.keys())

    def difference(self, contrast: Contrast) -> Interval:
        """The mean over seeds of a paired difference."""
        return interval(self.differences(contrast))

    def differences(self, contrast: Contrast) -> list[float]:
        """A paired difference of test accuracies, seed by seed."""
        plus, minus = ([self.accuracies(arm) for arm in arms] for arms in (contrast.plus, contrast.minus))
        sums = ([math.fsum(values) for values in zip(*arms, strict=True)] for arms in (plus, minus))
        return [up - down for up, down in zip(*sums, strict=True)]

    def text(self) -> str:
        """As JSON: the configuration, the results and the figures derived from them; the same runs give the same bytes."""
        architecture = Architecture(**self.configuration["architecture"])
        return (
            json.dumps(
                {
                    "configuration": self.configuration,
                    "sha256": self.sha256,
                    "machine": self.machine,
                    "tested": self.tested,
                    "arms": {
                        arm: {
                            "kind": ARMS[arm].kind.value,
                            "shares": ARMS[arm].shares,
                            "parameters": parameters(architecture, ARMS[arm].kind),
                        }
                        for arm in self.runs
                    },
                    "accuracy": {arm: asdict(self.accuracy(arm)) for arm in self.runs},
                    "differences": [
                        {
                            "description": contrast.description,
                            "formula": contrast.formula,
                            **asdict(difference),
                            "verdict": difference.verdict,
                        }
                        for contrast in self.contrasts()
                        for difference in [self.difference(contrast)]
                    ],
                    "last_layer": {arm: [asdict(probe) for probe in probes] for arm, probes in self.probes.items()},
                    "runs": {arm: [asdict(history) for history in histories] for arm, histories in self.runs.items()},
                },
                ensure_ascii=False,
            ).replace("}, {", "},\n{")
            + "\n"
        )


def results(
    configuration: Configuration,
    machine: dict[str, Any],
    tested: int,
    runs: dict[str, tuple[History, ...]],
    probes: dict[str, tuple[Probe, ...]],
) -> Results:
    """Collect finished runs; raises ValueError if one is not finished, or an arm has other seeds than the rest."""
    for arm, histories in runs.items():
        for seed, history in enumerate(histories):
            if len(history.correct) != configuration.recipe.epochs:
                raise ValueError(
                    f"runs: expected {configuration.recipe.epochs} epochs of {arm} with seed {seed}, got {len(history.correct)}"
                )
    if len({len(histories) for histories in runs.values()}) > 1:
        raise ValueError(f"runs: expected the same seeds in all arms, got { ({arm: len(runs[arm]) for arm in runs}) }")
    return Results(configuration.described(), configuration.sha256, machine, tested, runs, probes)


def parse(text: str) -> Results:
    """Read ``Results.text`` back; raises ValueError for a text whose figures do not follow from its runs."""
    written = json.loads(text)
    runs = {
        arm: tuple(History(tuple(run["losses"]), tuple(run["correct"])) for run in measured)
        for arm, measured in written["runs"].items()
    }
    probes = {arm: tuple(Probe(**values) for values in measured) for arm, measured in written["last_layer"].items()}
    results = Results(written["configuration"], written["sha256"], written["machine"], written["tested"], runs, probes)
    if results.text() != text:
        raise ValueError("results: expected figures that follow from the runs beside them, got others")
    return results


def recorded(dataset: Dataset, folder: Path = RESULTS) -> Results:
    """The results that ship for a dataset.

    Raises:
        ValueError: if there are none, or they were made with another configuration than the present default, another
            version of the data, or other arms.
    """
    path = folder / f"{dataset.name}.json"
    if not path.exists():
        raise ValueError(
            f"dataset: expected one with recorded results, got {dataset.name}; there are results for "
            f"{', '.join(sorted(path.stem for path in folder.glob('*.json'))) or 'no dataset'}"
        )
    results = parse(path.read_text(encoding="utf-8"))
    present = defaults(dataset).sha256
    if results.sha256 != present:
        raise ValueError(f"{path.name}: expected results of the configuration {present}, got those of {results.sha256}")
    if list(results.runs) != list(ARMS):
        raise ValueError(f"{path.name}: expected results of the arms {', '.join(ARMS)}, got those of {', '.join(results.runs)}")
    return results
