"""One cell of the table of errors: a function at one point of its range, in one dtype, compared with its reference.

Computed values are compared with the exact ones, entry by entry, in units of

    eps (running error of the reference) + what storing the result costs + the smallest normal number,

each from ``numerics.tolerances``. A cell is

    right      all entries are within one unit; one that is beyond the largest number of the dtype is an infinity
    refused    an error that names an argument, or a solver that reports that it did not converge
    limit      a number on the way to the result is beyond the range of the dtype, or the unit is larger than the result: what
               depends on it is NaN or infinite
    silent     anything else: digits are missing without notice
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

import flint
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from numerics import tolerances
from numerics.precision.exact import Exact, Floats, Peak

RIGHT, REFUSED, LIMIT, SILENT = "right", "refused", "limit", "silent"


@dataclass(frozen=True)
class Setting:
    """The kind of data that a function is tried on.

    Attributes:
        decade: of the temperature, ε or α: 10^decade.
        scores: what the scores are like: a name of ``functions.SCORES``.
        size: of a row.
        dtype: of the data, by its name.
        seed: of the draw.
    """

    decade: int
    scores: str
    size: int
    dtype: str
    seed: int = 0


@dataclass(frozen=True)
class Trial:
    """A computation and its exact reference.

    Attributes:
        computed: called once; its entries are compared in order.
        expected: called with the object that records the largest number.
        double: whether it is computed in float64, whatever the dtype of the data.
    """

    computed: Callable[[], Tensor]
    expected: Callable[[Peak], Exact]
    double: bool = False


@dataclass(frozen=True)
class Cell:
    """The result of a function at one setting.

    Attributes:
        function: its name.
        setting: of the data.
        state: right, refused, limit or silent.
        error: the largest error in units, NaN where nothing was compared.
        detail: the error of a refusal; an entry of a silent loss.
    """

    function: str
    setting: Setting
    state: str
    error: float
    detail: str = ""


def torch_dtype(name: str) -> torch.dtype:
    """The dtype with this name."""
    dtype = getattr(torch, name)
    assert isinstance(dtype, torch.dtype)
    return dtype


def computed(name: str) -> str:
    """The dtype that a computation runs in."""
    return "float32" if name in ("float16", "bfloat16") else name


def measure(function: str, setting: Setting, trial: Trial) -> Cell:
    """Compare a computation with its reference."""
    try:
        values = trial.computed().detach().double().flatten()
    except (ValueError, RuntimeError) as refusal:
        return Cell(function, setting, *_refused(refusal))
    working = "float64" if trial.double else computed(setting.dtype)
    peak = Peak(tolerances.rounding(working, 1, 0.0) / tolerances.eps(working))
    expected = trial.expected(peak)
    if len(expected) != len(values):
        return Cell(function, setting, SILENT, math.inf, f"{len(values)} entries where {len(expected)} are right")
    ratios, hopeless = _ratios(values.numpy(), expected, working, setting.dtype)
    worst = int(np.argmax(ratios))
    error = float(ratios[worst])
    if error <= 1:
        return Cell(function, setting, RIGHT, error)
    value = f"{values[worst]:.6g} where {float(expected.value[worst]):.6g} is right, at {worst} of {len(values)}"
    beyond = peak.value > torch.finfo(torch_dtype(working)).max
    not_finite = ~np.isfinite(values.numpy())
    if bool((ratios[~not_finite] <= 1).all()) and (beyond or bool(hopeless[not_finite].all())):
        return Cell(function, setting, LIMIT, float(max(ratios[~not_finite], default=math.nan)), value)
    return Cell(function, setting, SILENT, error, value)


def _refused(error: ValueError | RuntimeError) -> tuple[str, float, str]:
    message = str(error)
    named = re.match(r"\w+: (expected .*, got .+|\d+ of \d+ problems did not converge)", message, re.DOTALL)
    return (REFUSED, math.nan, message) if named else (SILENT, math.inf, f"{type(error).__name__}: {message}")


def _ratios(values: Floats, expected: Exact, working: str, dtype: str) -> tuple[Floats, NDArray[np.bool_]]:
    """The error of each entry, in units; and where a unit is larger than the entry."""
    relative, absolute = tolerances.storage(dtype)
    largest, unit = torch.finfo(torch_dtype(dtype)).max, tolerances.eps(working)
    smallest = tolerances.rounding(working, 1, 0.0)
    sizes, spread = (np.array([float(f(y)) for y in expected.value]) for f in (abs, lambda y: y.rad()))
    granted = unit * expected.error + relative * sizes + absolute + smallest
    # Balls that cancel are not points: a zero among large numbers is known to so many digits of these only.
    vague = spread > 1e-6 * granted
    if bool((spread[vague] > 1e-40 * np.nan_to_num(granted).max()).any()):
        raise ArithmeticError(f"expected: the reference has too few digits in {expected.value}")
    granted = granted + np.where(vague, spread, 0.0)
    ratios = np.empty(len(values))
    for i, (x, y, size, allowed) in enumerate(zip(values, expected.value, sizes, granted, strict=True)):
        if not math.isfinite(x):
            reaches = size + allowed > largest * (1 - relative)
            ratios[i] = 0.0 if reaches and x == math.copysign(math.inf, float(y)) else math.inf
        elif math.isfinite(allowed):
            ratios[i] = float(abs(flint.arb(float(x)) - y)) / allowed
        else:
            ratios[i] = math.inf
    return ratios, granted >= sizes
