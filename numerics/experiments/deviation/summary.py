"""The table: every statistic for each layer, and for each head, of each model with trained and with random weights.

Means and medians over heads, queries and inputs.  Sums are exact before they are rounded, and the figures that are
written are rounded to six significant digits and to twelve decimals, far above what the order of operations can change:
the table is the same byte for byte, whichever process computed a shard.
"""

import csv
import io
import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from numerics.experiments.deviation.shards import REASONS, Shard, read
from numerics.experiments.deviation.statistics import STATISTICS

DIGITS, DECIMALS = 6, 12
"""To how many significant digits, and how many decimals, the table is rounded."""


@dataclass(frozen=True, eq=False)
class LayerRows:
    """All rows of one attention module: every input, head and query.

    Attributes:
        model, weights, role, layer: of which module.
        alpha: α.
        heads: how many.
        head: of each row, (r,).
        query_id: of each row, the same for all heads of a query of an input, (r,).
        values: each of ``STATISTICS``, (r,).
        left_out: how many rows are not there, by reason.
    """

    model: str
    weights: str
    role: str
    layer: int
    alpha: float
    heads: int
    head: NDArray[np.int64]
    query_id: NDArray[np.int64]
    values: dict[str, NDArray[np.float64]]
    left_out: dict[str, int]

    def of_head(self, head: int, name: str) -> NDArray[np.float64]:
        """A statistic of one head."""
        modules: NDArray[np.float64] = self.values[name][self.head == head]
        return modules

    def over_heads(self, name: str) -> NDArray[np.float64]:
        """A statistic for every query of every input, averaged over the heads as in the document's figure."""
        order = np.argsort(self.query_id, kind="stable")
        _, starts, counts = np.unique(self.query_id[order], return_index=True, return_counts=True)
        if len(starts) == 0:
            return np.zeros(0)
        sums: NDArray[np.float64] = np.add.reduceat(self.values[name][order], starts)
        means: NDArray[np.float64] = sums / counts
        return means


def collect(shards: Iterable[Shard]) -> list[LayerRows]:
    """Read all shards, one module after the other.

    Raises:
        FileNotFoundError: if one is missing.
    """

    def module(shard: Shard) -> tuple[str, str, str, int]:
        return shard.model, shard.weights, shard.role, shard.layer

    listed = list(shards)
    order = list(dict.fromkeys((s.model, s.weights) for s in listed))
    roles = ("encoder", "decoder", "cross")
    listed.sort(key=lambda s: (order.index((s.model, s.weights)), roles.index(s.role), s.layer, s.input))
    return [_layer(list(of_module)) for _, of_module in groupby(listed, module)]


def layer_table(modules: Iterable[LayerRows]) -> str:
    """The table by layer, CSV: counts of rows, then mean and median of each statistic."""
    head = ["model", "weights", "role", "layer", "alpha", "heads", "rows", *REASONS]
    lines = [
        [
            rows.model,
            rows.weights,
            rows.role,
            rows.layer,
            rows.alpha,
            rows.heads,
            len(rows.head),
            *(rows.left_out[reason] for reason in REASONS),
        ]
        + [f(rows.values[name]) for name in STATISTICS for f in (mean, median)]
        for rows in modules
    ]
    return _csv([*head, *(f"{name}{suffix}" for name in STATISTICS for suffix in ("", "_median"))], lines)


def head_table(modules: Iterable[LayerRows]) -> str:
    """The table by head, CSV: how many rows, then the mean of each statistic."""
    lines = [
        [rows.model, rows.weights, rows.role, rows.layer, head, int((rows.head == head).sum())]
        + [mean(rows.of_head(head, name)) for name in STATISTICS]
        for rows in modules
        for head in range(rows.heads)
    ]
    return _csv(["model", "weights", "role", "layer", "head", "rows", *STATISTICS], lines)


def mean(values: NDArray[np.float64]) -> float:
    """The mean, with an exact sum; NaN without values."""
    return math.fsum(values.tolist()) / len(values) if len(values) else math.nan


def median(values: NDArray[np.float64]) -> float:
    """The median; NaN of nothing."""
    return float(np.median(values)) if len(values) else math.nan


def shown(value: float) -> str:
    """Format a number for the table."""
    return f"{round(value, DECIMALS) + 0.0:.{DIGITS}g}"  # no −0


def _layer(of_module: list[Shard]) -> LayerRows:
    tables, left_out = zip(*map(read, of_module), strict=True)
    joined = {name: np.concatenate([t[name].to_numpy() for t in tables]) for name in ("head", "query", "input", *STATISTICS)}
    first = of_module[0]
    queries = int(joined["query"].max(initial=0)) + 1
    return LayerRows(
        model=first.model,
        weights=first.weights,
        role=first.role,
        layer=first.layer,
        alpha=first.alpha,
        heads=first.heads,
        head=joined["head"].astype(np.int64),
        query_id=joined["input"].astype(np.int64) * queries + joined["query"],
        values={name: joined[name] for name in STATISTICS},
        left_out={reason: sum(counts[reason] for counts in left_out) for reason in REASONS},
    )


def _csv(head: list[str], lines: Iterable[Iterable[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([shown(x) if isinstance(x, float) else x for x in line] for line in lines)
    return text.getvalue()
