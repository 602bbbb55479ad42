"""The rows on disk: one Parquet file for each model, kind of weights, input and attention module.

A file appears whole or not at all, and its name says what it holds: a digest of architecture, weights, inputs and α is in
the name of its folder.  So a killed run resumes by repeating what has no file, and runs with other settings
never mix.

Schema      of a file: a row for each head and query that has something to estimate
            model, weights, module, role   strings (dictionary): "trained" or "random"; "encoder", "decoder" or "cross"
            layer      int32, number of the module among those of its role
            input      int32, number of the input
            head, query, templates   int32; templates is the number of those with u_i > 0
            alpha      float64
            and float64 for each name of ``statistics.STATISTICS`` and ``statistics.CONTEXT``, explained there
Metadata    under the key ``left_out``, JSON: how many rows are not there, by reason: padding, masked (no template),
            undecided (nothing to estimate), uncertified (the solver did not reach its tolerance)
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

import pyarrow as pa
import torch
from pyarrow import parquet

from numerics.experiments.deviation.problems import Layer, layers
from numerics.experiments.deviation.ranks import Ranks
from numerics.experiments.deviation.statistics import CONTEXT, STATISTICS, measure, spans
from numerics.experiments.models_and_texts import Subject
from numerics.experiments.output import atomic_write

REASONS = ("padding", "masked", "undecided", "uncertified")
"""Why a row may be left out."""

_NAMES = pa.dictionary(pa.int32(), pa.string())
SCHEMA = pa.schema(
    [(name, _NAMES) for name in ("model", "weights", "module", "role")]
    + [(name, pa.int32()) for name in ("layer", "input", "head", "query", "templates")]
    + [(name, pa.float64()) for name in ("alpha", *STATISTICS, *CONTEXT)]
)
"""The schema of every file."""


@dataclass(frozen=True)
class Shard:
    """A file, and the measurement that it holds."""

    path: Path
    model: str
    weights: str
    role: str
    layer: int
    heads: int
    alpha: float
    input: int


@dataclass(frozen=True)
class Progress:
    """The work done after a shard, by all processes, and in total; the unit is a pair of a query and a template."""

    shard: Shard
    done: int
    total: int


def run(subject: Subject, alpha: float, out: Path, ranks: Ranks, results: list[Shard]) -> Iterator[Progress]:
    """Measure one subject: write the shards that no other process takes, and append all of them to ``results``.

    Everything runs in one thread, so that results do not depend on how many there are.

    Raises:
        CaptureError: if the model's attention cannot be read.
    """
    folder = out / f"{subject.name}-{subject.weights}-{subject.key}-alpha-{alpha}"
    folder.mkdir(parents=True, exist_ok=True)
    model = subject.model.to(ranks.device)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        captured = {0: _layers(subject, 0, alpha, ranks)}
        shards = [_shard(subject, folder, layer, number) for number in range(len(subject.inputs)) for layer in captured[0]]
        results += shards
        sizes = [max(x.shape[-1] for x in inputs.values()) ** 2 for inputs in subject.inputs]
        done = list(accumulate(sizes[shard.input] for shard in shards))
        for k in ranks.share(folder.name, len(shards)):
            shard = shards[k]
            if not shard.path.exists():
                if shard.input not in captured:
                    captured = {shard.input: _layers(subject, shard.input, alpha, ranks)}
                layer = captured[shard.input][k % (len(shards) // len(subject.inputs))]
                write(shard, table(shard, layer))
            yield Progress(shard, done[k], done[-1])
    finally:
        torch.set_num_threads(threads)
        model.to("cpu")


def table(shard: Shard, layer: Layer) -> pa.Table:
    """Measure all problems of a layer."""
    template_spans = spans(layer.templates, layer.supports, layer.resolution)
    left_out = dict.fromkeys(REASONS, 0) | {"padding": layer.padding}
    columns: dict[str, list[torch.Tensor]] = {name: [] for name in ("head", "query", "templates", *STATISTICS, *CONTEXT)}
    for block in layer.blocks():
        measured = measure(layer.templates, block.evidence, block.prior, layer.alpha, template_spans)
        for reason in ("masked", "undecided", "uncertified"):
            left_out[reason] += getattr(measured, reason)
        rows = {"head": block.head[measured.rows], "query": block.query[measured.rows], "templates": measured.templates}
        for name, values in (rows | measured.values).items():
            columns[name].append(values)
    joined = {name: torch.cat(values).cpu() if values else torch.empty(0) for name, values in columns.items()}
    order = (joined["head"] * layer.queries + joined["query"]).argsort()
    count = len(order)
    constants = {
        "model": shard.model,
        "weights": shard.weights,
        "module": layer.module,
        "role": layer.role,
        "layer": layer.number,
        "input": shard.input,
        "alpha": layer.alpha,
    }
    arrays = [
        pa.array([constants[name]] * count, kind) if name in constants else pa.array(joined[name][order].numpy()).cast(kind)
        for name, kind in zip(SCHEMA.names, SCHEMA.types, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=SCHEMA.with_metadata({"left_out": json.dumps(left_out)}))


@contextmanager
def anew(path: Path) -> Iterator[Path]:
    """Yield a path for a file that appears whole or not at all; leftovers of killed runs are removed."""
    for rest in path.parent.glob(f".{path.stem}.*{path.suffix}"):
        rest.unlink(missing_ok=True)
    with atomic_write(path) as written:
        yield written


def write(shard: Shard, rows: pa.Table) -> None:
    """Write the file of a shard."""
    with anew(shard.path) as path:
        parquet.write_table(rows, path, compression="zstd")


def read(shard: Shard) -> tuple[pa.Table, dict[str, int]]:
    """The rows of a shard, and how many were left out by reason."""
    rows = parquet.read_table(shard.path)
    left_out: dict[str, int] = json.loads(rows.schema.metadata[b"left_out"])
    return rows, left_out


def _layers(subject: Subject, number: int, alpha: float, ranks: Ranks) -> list[Layer]:
    inputs = {name: value.to(ranks.device) for name, value in subject.inputs[number].items()}
    return layers(subject.model, inputs, alpha)[0]


def _shard(subject: Subject, folder: Path, layer: Layer, number: int) -> Shard:
    path = folder / f"input-{number:04d}-{layer.role}-{layer.number:02d}.parquet"
    return Shard(path, subject.name, subject.weights, layer.role, layer.number, layer.heads, layer.alpha, number)
