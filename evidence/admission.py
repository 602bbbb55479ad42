"""Validation of readings: values in the declared domains, comparable routes, and a tolerance that can refute."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp
import torch
from torch import Tensor

from derivations.calculus.variables import Variable
from derivations.relations import Relation
from evidence.bridge import Value, evaluate
from evidence.domains import SLACK, outside
from evidence.readings import REFUTING_FACTOR, Formula, Reading

ROUNDED = 1e-14
"""Numbers of at most this size count as 0 up to rounding."""


class NotAReadingError(ValueError):
    """A reading is not valid evidence; the message names the claim and the key, and says what was expected and given."""


def settled(claim: str, reading: Reading) -> Reading:
    """Return a copy of a reading that holds plain values only.

    The copy is read while derivations may be evaluated again, so an object of the author's that computes on access could
    use them.  Raises NotAReadingError for a reading or a tensor of a subclass.
    """
    if type(reading) is not Reading:
        raise NotAReadingError(f"{claim}: check: expected a Reading, got one of {type(reading)}")

    def plain(name: str, value: Any) -> Any:
        if isinstance(value, Tensor):
            if type(value) not in (Tensor, torch.nn.Parameter):
                raise NotAReadingError(f"{claim}: {name}: expected a plain tensor, got one of {type(value)}")
            return value.detach()
        return next((kind(value) for kind in (bool, int, float) if isinstance(value, kind)), value)

    point, routes = (
        {str(name): plain(name, value) for name, value in values.items()} for values in (reading.point, reading.routes)
    )
    return Reading(point, routes, plain("tolerance", reading.tolerance), reading.computed)


def admit(claim: str, printed: Formula, twins: Mapping[str, Formula], reading: Reading) -> None:
    """Check a reading against the statement and its twins.

    Raises NotAReadingError if a value is missing or outside the domain of its variable, a hypothesis does not hold, there
    is no route, a route is not a nonempty tensor of real floating dtype, or the tolerance is not finite and positive.
    """

    def refuse(key: str, actual: object, accepted: str) -> NotAReadingError:
        return NotAReadingError(f"{claim}: {key}: expected {accepted}, got {actual}")

    tolerance = reading.tolerance
    if not (isinstance(tolerance, float) and 0 < tolerance < math.inf):
        raise refuse("tolerance", repr(tolerance), "a finite float > 0")
    if reading.computed not in ("left", "right"):
        raise refuse("computed", repr(reading.computed), "left or right")
    if not reading.routes:
        raise refuse("routes", "none", "at least one route")
    for name, values in reading.routes.items():
        if not (isinstance(values, Tensor) and values.is_floating_point() and values.numel()):
            raise refuse(f"route {name}", _described(values), "a real floating tensor with at least one number")
    for formula in (printed, *twins.values()):
        for variable in formula.variables:
            if variable.name not in reading.point and variable not in printed.indices:
                raise refuse(variable.name, "no value", f"a value ({variable.domain.name}) for the {formula.about}")
    _check_values(dict.fromkeys(v for formula in (printed, *twins.values()) for v in formula.variables), reading.point, refuse)
    for hypothesis in printed.given:
        if (gap := _gap(hypothesis, reading.point)) is not None:
            raise refuse("point", f"one that misses by {gap:.3g}", f"one at which {hypothesis} holds, as is given")


def admit_tolerance(claim: str, tolerance: float, largest: float) -> None:
    """Raise NotAReadingError for a tolerance too large to refute a value of this size or of size 1."""
    scale = max(1.0, largest)
    if not REFUTING_FACTOR * tolerance < scale:
        raise NotAReadingError(
            f"{claim}: tolerance: expected less than {scale / REFUTING_FACTOR:.3g} where the largest number "
            f"compared is {largest:.3g}, got {tolerance:.3g}"
        )


@dataclass
class Scale:
    """Counts the instances of a vote whose tolerance was small enough to refute a number of the size compared there.

    Such an instance is `telling`, any other is `dull`; a vote needs a majority, since single instances may be small by
    chance.  Instances with numbers that are 0 up to rounding count as neither.  `coarsest` is the largest tolerance relative
    to the size, as the pair of both, among those that are not telling.
    """

    telling: int = 0
    dull: int = 0
    coarsest: tuple[float, float] = (0.0, 1.0)

    def weigh(self, tolerance: float, size: float) -> None:
        """Count one instance."""
        if REFUTING_FACTOR * tolerance < size:
            self.telling += 1
            return
        self.dull += size > ROUNDED
        self.coarsest = max(self.coarsest, (tolerance, size), key=lambda pair: pair[0] / max(pair[1], ROUNDED))

    @property
    def why_not(self) -> str:
        """Why the tolerances are too large for a vote; empty if they are not."""
        if self.telling and self.telling >= self.dull:
            return ""
        tolerance, size = self.coarsest
        return (
            f"tolerance: expected less than {1 / REFUTING_FACTOR:g} of the largest number compared, at half of the "
            f"instances at least, got {self.telling} of {self.telling + self.dull}, and {tolerance:.3g} beside {size:.3g}"
        )


def size_of(printed: Formula, point: Mapping[str, Value]) -> float:
    """Return the largest magnitude of the statement's variables at a point, sizes and indices excluded; 1 if none remain."""
    counted = (v for v in printed.variables if v.name in printed.names and not v.domain.is_integer)
    return max((_largest(torch.as_tensor(point[v.name], dtype=torch.float64)) for v in counted), default=1.0)


def holds_given(formula: Formula, point: Mapping[str, Value]) -> bool:
    """Return whether the hypotheses of a formula hold at a point."""
    return all(_gap(hypothesis, point) is None for hypothesis in formula.given)


def _gap(hypothesis: Relation, point: Mapping[str, Value]) -> float | None:
    """Return by how much a hypothesis fails at a point; None if it holds, up to rounding, at every open index."""
    indices = {v.name for v in hypothesis.ranging}  # an index of the statement may have the same name
    point = {name: value for name, value in point.items() if name not in indices}
    formula = Formula(hypothesis.stated)
    left, right = (evaluate(side, point, formula.axes(point)) for side in (formula.left, formula.right))
    scale = 1 + torch.maximum(left.abs(), right.abs())
    if formula.apart:
        return None if bool((left != right).all()) else 0.0
    worst = float(((right - left) / scale).nan_to_num(nan=math.inf).max())
    return worst if worst > (-SLACK if formula.strict else SLACK) else None


def _described(values: object) -> str:
    return f"{tuple(values.shape)} of {values.dtype}" if isinstance(values, Tensor) else repr(values)


# ── the values of variables ─────────────────────────────────────────────────────────────────────────────────────────

Refusal = Callable[[str, object, str], NotAReadingError]


def _check_values(variables: Iterable[Variable], point: Mapping[str, Value], refuse: Refusal) -> None:
    for variable in variables:
        if variable.name not in point:
            continue
        value, domain = point[variable.name], variable.domain
        if domain.is_integer:
            _check_integer(variable, value, point, refuse)
            continue
        shape = tuple(_whole(size, point) for size in domain.shape)
        if isinstance(value, bool) or not isinstance(value, int | float | Tensor):
            raise refuse(variable.name, repr(value), "a number or a tensor")
        values = torch.as_tensor(value, dtype=torch.float64).detach().cpu()
        if tuple(values.shape) != shape:
            raise refuse(variable.name, f"shape {tuple(values.shape)}", f"shape {shape}")
        if not bool(values.isfinite().all()):
            raise refuse(variable.name, values.tolist(), "finite numbers")
        if reason := outside(variable, values, point):
            raise refuse(variable.name, values.tolist(), reason)


def _check_integer(variable: Variable, value: Value, point: Mapping[str, Value], refuse: Refusal) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise refuse(variable.name, repr(value), "an integer ≥ 1")
    if variable.domain.is_index:
        last = _whole(variable.domain.shape[0], point)
        if value > last:
            raise refuse(variable.name, value, f"an integer in 1…{last}")
        for other in variable.domain.other_than:
            if point.get(str(other)) == value:
                raise refuse(variable.name, value, f"an integer other than {other}")


def _whole(size: sp.Expr, point: Mapping[str, Value]) -> int:
    return int(size.xreplace({v: sp.Integer(point[v.name]) for v in size.free_symbols}))


def _largest(values: Tensor) -> float:
    return float(values.abs().max())
