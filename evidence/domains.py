"""The evidence's own table of domains: what admits values of a variable, and how they are drawn.

It shares nothing with `derivations.domains` but the names; a test compares the two.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import hypothesis.strategies as st
import torch
from torch import Tensor

from derivations.calculus.variables import Variable

SLACK = 1e-9
"""Tolerance, for rounding and certified solvers, of equations between masses and of hypotheses."""

_REAL = st.integers(-8, 8).map(lambda n: n / 4)
_POSITIVE = st.integers(1, 12).map(lambda n: n / 4)
_NONNEGATIVE = st.integers(0, 8).map(lambda n: n / 4)

Residuals = Callable[[Tensor, Sequence[Tensor], Sequence[str]], Iterator[tuple[Tensor, str]]]


def _none(values: Tensor, tied: Sequence[Tensor], names: Sequence[str]) -> Iterator[tuple[Tensor, str]]:
    return iter(())


def _total(values: Tensor, tied: Sequence[Tensor], names: Sequence[str]) -> Iterator[tuple[Tensor, str]]:
    yield values.sum() - 1, "numbers whose sum is 1"


def _rows(values: Tensor, tied: Sequence[Tensor], names: Sequence[str]) -> Iterator[tuple[Tensor, str]]:
    yield values.sum(-1) - 1, "rows whose sums are 1"


def _lengths(values: Tensor, tied: Sequence[Tensor], names: Sequence[str]) -> Iterator[tuple[Tensor, str]]:
    yield values.square().sum(-1) - 1, "vectors of length 1"


def _marginals(values: Tensor, tied: Sequence[Tensor], names: Sequence[str]) -> Iterator[tuple[Tensor, str]]:
    yield values.sum(-1) - tied[0], f"row sums {names[0]}"
    yield values.sum(-2) - tied[1], f"column sums {names[1]}"


def _products(values: Tensor, tied: Sequence[Tensor], names: Sequence[str]) -> Iterator[tuple[Tensor, str]]:
    yield values * tied[0], f"0 wherever {names[0]} is positive"


def _has_rows(values: Tensor) -> bool:
    return bool(values.any(-1).all())


@dataclass(frozen=True)
class Own:
    """What the evidence knows of a domain.

    `fits` is the sign of all numbers with its name, `residuals` vanish on the domain, each with the name of its condition,
    and `vectors` is a condition on rows.  Values are drawn as numbers of `entries` if there are any, for which `usable`
    holds, and `made` into values of the domain.
    """

    fits: tuple[Callable[[Tensor], Tensor], str] | None = None
    residuals: Residuals = _none
    vectors: tuple[Callable[[Tensor], bool], str] | None = None
    entries: st.SearchStrategy[float] | None = None
    usable: Callable[[Tensor], bool] | None = None
    made: Callable[[Tensor], Tensor] = lambda values: values


_ABOVE = (lambda values: values > 0, "numbers > 0")
_FROM = (lambda values: values >= 0, "numbers ≥ 0")


def _shares(values: Tensor) -> Tensor:
    return values / values.sum()


DOMAINS: Mapping[str, Own] = {
    "real": Own(entries=_REAL),
    "positive": Own(_ABOVE, entries=_POSITIVE),
    "nonnegative": Own(_FROM, entries=_NONNEGATIVE),
    "simplex": Own(_FROM, _total, entries=_NONNEGATIVE, usable=lambda values: bool(values.sum() > 0), made=_shares),
    "interior": Own(_ABOVE, _total, entries=_POSITIVE, made=_shares),
    "stochastic": Own(
        _FROM,
        _rows,
        entries=_NONNEGATIVE,
        usable=lambda values: bool((values.sum(-1) > 0).all()),
        made=lambda values: values / values.sum(-1, keepdim=True),
    ),
    "coupling": Own(_FROM, _marginals),
    "slack": Own(_FROM, _products),
    "unit": Own(
        residuals=_lengths, entries=_REAL, usable=_has_rows, made=lambda values: values / values.norm(dim=-1, keepdim=True)
    ),
    "nonzero": Own(vectors=(_has_rows, "vectors other than 0"), entries=_REAL, usable=_has_rows),
    "random": Own(),
}


def outside(variable: Variable, values: Tensor, point: Mapping[str, Any]) -> str:
    """Return what a value is expected to be if it is outside the variable's domain; empty if it is inside."""
    own, marginals = DOMAINS[variable.domain.name], variable.domain.marginals
    if own.fits and not bool(own.fits[0](values).all()):
        return own.fits[1]
    if own.vectors and not own.vectors[0](values):
        return own.vectors[1]
    tied = [torch.as_tensor(point[each.label.name], dtype=torch.float64).detach().cpu() for each in marginals]
    residuals = own.residuals(values, tied, list(map(str, marginals)))
    return next((reason for residual, reason in residuals if float(residual.abs().max()) > SLACK), "")


def strategy(variable: Variable, shape: Sequence[int]) -> st.SearchStrategy[Any]:
    """Return a strategy for a number of a scalar's domain, or a tensor of the domain of a vector or matrix."""
    own = DOMAINS[variable.domain.name]
    if own.entries is None:
        raise ValueError(f"{variable.name}: expected a domain to draw from, got {variable.domain.name}")
    if not shape:
        return own.entries
    flat = st.lists(own.entries, min_size=math.prod(shape), max_size=math.prod(shape))
    tensors = flat.map(lambda numbers: torch.tensor(numbers, dtype=torch.float64).reshape(tuple(shape)))
    return (tensors.filter(own.usable) if own.usable else tensors).map(own.made)
