"""All cells of the table of errors, in groups: one function in one dtype."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import numerics
from numerics.precision.attention_functions import ATTENTION
from numerics.precision.cells import Cell, Setting, measure
from numerics.precision.functions import DTYPES, ROWS, Data, Function
from numerics.precision.sparse_functions import SPARSE
from numerics.precision.transport_functions import TRANSPORT

__all__ = ["DTYPES", "FUNCTIONS", "Group", "as_record", "from_record", "groups", "measured", "sources"]

FUNCTIONS = (*ROWS, *SPARSE, *ATTENTION, *TRANSPORT)


@dataclass(frozen=True)
class Group:
    """A function in one dtype, and its settings."""

    function: Function
    dtype: str
    settings: tuple[Setting, ...]

    @property
    def name(self) -> str:
        """The names of the function and the dtype."""
        return f"{self.function.name}, {self.dtype}"


def groups(functions: Sequence[Function] = FUNCTIONS, seed: int = 0) -> list[Group]:
    """Every function in every dtype."""
    return [
        Group(f, dtype, tuple(replace(setting, seed=seed) for setting in f.settings(dtype)))
        for f in functions
        for dtype in f.dtypes
    ]


def measured(group: Group) -> Iterator[Cell]:
    """The cells of a group, one after the other."""
    with np.errstate(all="ignore"):  # an error bound may be infinite
        for setting in group.settings:
            yield measure(group.function.name, setting, group.function.trial(Data(setting)))


@cache
def sources() -> str:
    """A digest of the numeric layers: cells measured with other sources are measured again."""
    root = Path(numerics.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def as_record(cell: Cell) -> dict[str, Any]:
    """The entry of a file for a cell; numbers that are not finite are written as words."""
    error = cell.error if np.isfinite(cell.error) else str(cell.error)
    return {"function": cell.function, "place": asdict(cell.setting), "state": cell.state, "error": error, "said": cell.detail}


def from_record(record: dict[str, Any]) -> Cell:
    """The cell of a record."""
    setting, error = Setting(**record["place"]), float(record["error"])
    return Cell(record["function"], setting, record["state"], error, record["said"])
