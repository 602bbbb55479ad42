"""What the figures on errors were measured with: the settings of each function, and the references at a few of them.

`tests.edges` notes it beside the figures of a function; a function that has another one now needs new figures. Numbers are
rounded to six digits and come from float32 data, in which softmax and logarithms are the same on every machine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from numerics import tolerances
from numerics.precision import study
from numerics.precision.cells import Setting
from numerics.precision.exact import Exact, Peak
from numerics.precision.functions import Data, Function

DTYPE = "float32"
DECADES = (-1, 0, 1)
"""Beside the first and the last of a function."""

MIDDLE = 0
CERTIFIED = ("mem.solve",)
"""Functions whose allowance is a certificate of a computed solution, which is rounded differently on each machine."""


def functions() -> dict[str, Function]:
    """The functions of the table by name, as their modules have them now."""
    return {f.name: f for f in (*study.ROWS, *study.SPARSE, *study.ATTENTION, *study.TRANSPORT)}


def fingerprint(function: Function) -> dict[str, str]:
    """Digests of all settings of a function, and of exact values and allowances at a few."""
    values, allowances = [], []
    with np.errstate(all="ignore"):
        for setting in _few(function):
            trial = function.trial(Data(setting))
            peak = Peak(tolerances.rounding(DTYPE, 1, 0.0) / tolerances.eps(DTYPE))
            expected = trial.expected(peak)
            values += [str(trial.double), *_rounded(expected)]
            allowances += [f"{x:.6g}" for x in (peak.value, *expected.error)]
    settings = (repr(setting) for dtype in function.dtypes for setting in function.settings(dtype))
    made = {"settings": _digest(settings), "values": _digest(values)}
    return made if function.name in CERTIFIED else made | {"allowances": _digest(allowances)}


def changed(function: Function, noted: dict[str, Any]) -> list[str]:
    """What of a fingerprint is no longer what was noted."""
    return [kind for kind, digest in fingerprint(function).items() if noted.get(kind) != digest]


def _few(function: Function) -> Iterator[Setting]:
    """Settings of every kind of scores: rows of the largest size below 100 at some decades, the others at one."""
    settings = [x for x in function.settings(DTYPE) if x.size < 100]
    sizes, decades = sorted({x.size for x in settings}), sorted({x.decade for x in settings})
    middle = min(decades, key=lambda x: abs(x - MIDDLE))
    for setting in settings:
        some = (decades[0], *DECADES, decades[-1]) if setting.size == sizes[-1] else (middle,)
        if setting.decade in some:
            yield setting


def _rounded(expected: Exact) -> Iterator[str]:
    """Six digits of each entry, or 0 where it is next to nothing beside the largest and what this is computed from."""
    least = 1e-30 * max(expected.size.max(), np.where(np.isfinite(expected.error), expected.error, 0.0).max())
    for x, size in zip(expected.value, expected.size, strict=True):
        yield f"{float(x):.6g}" if size > least else "0"


def _digest(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:8]
