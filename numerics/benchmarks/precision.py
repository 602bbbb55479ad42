"""Errors of closed forms on a device against their definitions in extended precision, in units of the allowed error.

Inputs are rounded to the precision first, so that only the computation's own error counts. In tf32, only products of
matrices are rounded further; everything else is computed in float32.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from numerics import flash, one_sided, regularizers, tolerances
from numerics.benchmarks.rates import PRECISIONS, multiplied_in

QUERIES, KEYS, WIDTH, TEMPERATURE = 64, 257, 64, 8.0


@dataclass(frozen=True)
class Inputs:
    """One attention problem: query (n, d), key (m, d), value (m, d), scores and utility (n, m), plan (n, m)."""

    query: Tensor
    key: Tensor
    value: Tensor
    scores: Tensor
    utility: Tensor
    plan: Tensor

    def to(self, dtype: torch.dtype, device: str = "cpu") -> "Inputs":
        """The same problem, rounded and moved."""
        return Inputs(*(each.to(device, dtype) for each in vars(self).values()))


@dataclass(frozen=True)
class Form:
    """A closed form, its definition, its allowed error in a precision, and whether it multiplies matrices (`product`)."""

    compute: Callable[[Inputs], Tensor]
    defined: Callable[[Any], Any]
    allowed: Callable[[str, Inputs], float]
    product: bool


@dataclass(frozen=True)
class Cell:
    """The largest error of a closed form in one precision, in units of its tolerance; at most 1 is right."""

    form: str
    precision: str
    error: float


def problem(seed: int = 0) -> Inputs:
    """A random problem in float64; the scores spread over some tens of τ."""
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    scores = 8 * TEMPERATURE * normal(QUERIES, KEYS)
    plan = torch.softmax(scores / TEMPERATURE, -1)
    return Inputs(normal(QUERIES, WIDTH), normal(KEYS, WIDTH), normal(KEYS, WIDTH), scores, normal(QUERIES, KEYS), plan)


def _largest(x: Tensor) -> float:
    return float(x.abs().max())


# ── definitions, on arrays in extended precision ────────────────────────────────────────────────────────────────────


def extended(x: Inputs) -> SimpleNamespace:
    """The arrays of a problem in NumPy's longest floating type."""
    return SimpleNamespace(**{name: value.double().numpy().astype(np.longdouble) for name, value in vars(x).items()})


def _exponentials(logits: Any) -> Any:
    return np.exp(logits - logits.max(-1, keepdims=True))


def _softmax(logits: Any) -> Any:
    terms = _exponentials(logits)
    return terms / terms.sum(-1, keepdims=True)


def _log_sum_exp(logits: Any) -> Any:
    return np.log(_exponentials(logits).sum(-1)) + logits.max(-1)


def _projection(scores: Any) -> Any:
    """Project onto the simplex: (s − θ)₊ with the unique θ for which the weights add up to 1."""
    falling = -np.sort(-scores, -1)
    thresholds = (falling.cumsum(-1) - 1) / np.arange(1, scores.shape[-1] + 1)
    support = (falling > thresholds).sum(-1, keepdims=True)
    return np.maximum(scores - np.take_along_axis(thresholds, support - 1, -1), 0)


# ── what each may be off by ─────────────────────────────────────────────────────────────────────────────────────────


def _plan(precision: str, x: Inputs) -> float:
    return tolerances.plan(precision, KEYS)


def _gradient(precision: str, x: Inputs) -> float:
    utility = _largest(x.utility)
    spread = x.utility - (x.plan * x.utility).sum(-1, keepdim=True)
    sensitivity = _largest(x.plan * (2 * spread.abs() + (x.plan * x.utility.abs()).sum(-1, keepdim=True)))
    if precision == "bfloat16":
        return tolerances.stored_score_gradient(precision, KEYS, utility, TEMPERATURE, sensitivity, 0.0)
    return tolerances.score_gradient(precision, KEYS, utility, TEMPERATURE)


def _tiled(precision: str, x: Inputs) -> float:
    """Of weights whose logits are products of length d, and of their mean of the values."""
    logit = _largest(x.query.abs() @ x.key.abs().T) / TEMPERATURE
    weight = tolerances.rounding("float32" if precision == "bfloat16" else precision, WIDTH, logit)
    return 2 * weight * _largest(x.value) + tolerances.rounding(precision, KEYS, _largest(x.value))


FORMS = {
    "one_sided.plan": Form(
        lambda x: one_sided.plan(x.scores, TEMPERATURE), lambda x: _softmax(x.scores / TEMPERATURE), _plan, False
    ),
    "one_sided.log_partition": Form(
        lambda x: one_sided.log_partition(x.scores, TEMPERATURE),
        lambda x: _log_sum_exp(x.scores / TEMPERATURE),
        lambda precision, x: tolerances.rounding(precision, KEYS, 1 + _largest(x.scores) / TEMPERATURE),
        False,
    ),
    "one_sided.scores_from": Form(
        lambda x: one_sided.scores_from(x.query, x.key),
        lambda x: x.query @ x.key.T,
        lambda precision, x: tolerances.rounding(precision, WIDTH, _largest(x.query.abs() @ x.key.abs().T)),
        True,
    ),
    "one_sided.context": Form(
        lambda x: one_sided.context(x.plan, x.value),
        lambda x: x.plan @ x.value,
        lambda precision, x: tolerances.rounding(precision, KEYS, _largest(x.plan @ x.value.abs())),
        True,
    ),
    "one_sided.score_gradient": Form(
        lambda x: one_sided.score_gradient(x.plan, x.utility, TEMPERATURE),
        lambda x: -x.plan / TEMPERATURE * (x.utility - (x.plan * x.utility).sum(-1, keepdims=True)),
        _gradient,
        False,
    ),
    "regularizers.sparsemax": Form(
        lambda x: regularizers.sparsemax(x.utility),
        lambda x: _projection(x.utility),
        lambda precision, x: tolerances.rounding(precision, KEYS, 1 + _largest(x.utility)),
        False,
    ),
    "flash.tiled_attention": Form(
        lambda x: flash.tiled_attention(x.query, x.key, x.value, temperature=TEMPERATURE).output,
        lambda x: _softmax(x.query @ x.key.T / TEMPERATURE) @ x.value,
        _tiled,
        True,
    ),
}


def cells(device: str) -> Iterator[Cell]:
    """Compare every closed form with its definition, in every precision that the device has."""
    for precision, dtype in PRECISIONS.items():
        if precision == "tf32" and device == "cpu":
            continue  # which has none
        rounded = problem().to(dtype)
        exact, long = rounded.to(torch.float64), extended(rounded)
        for name, form in FORMS.items():
            if precision != "tf32" or form.product:
                with multiplied_in(precision):
                    computed = form.compute(rounded.to(dtype, device)).double().cpu().numpy()
                error = float(np.abs(computed - form.defined(long)).max())
                yield Cell(name, precision, error / form.allowed(precision, exact))


def verdict(results: list[Cell], precision: str) -> str:
    """The verdict on the errors in one precision, in words."""
    own = [cell for cell in results if cell.precision == precision]
    if not own:
        return "not measured: the device has none"
    wrong = [f"{cell.form} ({cell.error:.2g} tolerances)" for cell in own if not cell.error <= 1]
    if wrong:
        return f"off by more than it allows: {', '.join(wrong)}"
    return f"right: {len(own)} closed forms, the worst error {max(cell.error for cell in own):.2g} of its tolerance"
