"""One model measured in memory: the same rows as the command's, for those who want to compute with them."""

import tempfile
from pathlib import Path

import torch

from numerics.experiments.deviation.ranks import Ranks
from numerics.experiments.deviation.shards import Shard, run
from numerics.experiments.deviation.summary import LayerRows, collect
from numerics.experiments.models_and_texts import subjects
from numerics.models.encoder import PARAGRAPH


def study(name: str, alpha: float = 1.0, text: str = PARAGRAPH) -> list[LayerRows]:
    """Measure a model with trained and with random weights, on CPU (``deciphering.fig4``).

    Args:
        name: as for ``subjects``.
        alpha: α.
        text: what the model reads.

    Returns:
        The rows of each module; ``summary.mean(rows.values["deviation"])`` is a figure of the table.

    Raises:
        ModelUnavailableError, CaptureError, ValueError: as for ``subjects`` and ``shards.run``.
    """
    written: list[Shard] = []
    with tempfile.TemporaryDirectory() as folder:
        for subject in subjects(name, text):
            for _ in run(subject, alpha, Path(folder), Ranks(0, 1, torch.device("cpu")), written):
                pass
        return collect(written)
