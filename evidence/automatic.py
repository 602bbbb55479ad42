"""Automatic votes: the printed left side of an equation read from LaTeX is evaluated in torch as written.

Before any instance is drawn, the expression tree is translated node by node into functions of float64 tensors.
Derivatives are taken by autograd and nothing is simplified, so that the vote is independent of the normal form and of the
kernel's differentiation.  The harness evaluates the right side as for every other vote.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce, singledispatch
from itertools import product
from operator import add, mul
from typing import Any

import sympy as sp
import torch
from hypothesis import strategies as st
from torch import Tensor

from derivations.calculus.functions import Partial, kl, reciprocal, xlogx
from derivations.calculus.powers import plus
from derivations.calculus.variables import Variable
from derivations.records.claims import Layer
from derivations.register.catalogue import entries
from derivations.register.entry import Entry
from derivations.relations import Relation
from evidence.domains import DOMAINS, strategy
from evidence.readings import Formula, Reading
from evidence.registry import CASES, Case
from numerics import tolerances

LONGEST = 4  # the largest size that is drawn
COUNT = 32


@dataclass
class Assignment:
    """Values by variable while a formula is evaluated, and the largest number met on the way."""

    values: dict[Variable, Tensor | int]
    largest: list[float] = field(default_factory=lambda: [1.0])

    def with_value(self, variable: Variable, value: Tensor | int) -> "Assignment":
        """The same values but for one variable; the largest number is shared."""
        return Assignment({**self.values, variable: value}, self.largest)


Program = Callable[[Assignment], Tensor]


class NoProgramError(ValueError):
    """A part of a formula cannot be evaluated in torch; the message names it."""


def program(expr: sp.Expr) -> Program:
    """Return the formula as a function of an `Assignment`; raises NoProgramError if a part cannot be evaluated in torch."""
    run = _program(expr)

    def noted(assignment: Assignment) -> Tensor:
        value = run(assignment)
        size = float(value.detach().abs())
        if math.isfinite(size):
            assignment.largest[0] = max(assignment.largest[0], size)
        return value

    return noted


@singledispatch
def _program(expr: Any) -> Program:
    raise NoProgramError(f"{type(expr).__name__}: expected a sum, a product, a power, a function or a derivative")


@_program.register
def _(expr: sp.Number) -> Program:
    value = torch.tensor(float(expr), dtype=torch.float64)
    return lambda assignment: value


@_program.register
def _(expr: Variable) -> Program:
    return lambda assignment: torch.as_tensor(assignment.values[expr], dtype=torch.float64)


@_program.register
def _(expr: sp.Indexed) -> Program:
    base, positions = expr.base.label, [_integer(index) for index in expr.indices]
    return lambda assignment: assignment.values[base][tuple(position(assignment) - 1 for position in positions)]  # type: ignore[index]


@_program.register
def _(expr: sp.Add) -> Program:
    return _folded(expr, add)


@_program.register
def _(expr: sp.Mul) -> Program:
    return _folded(expr, mul)


def _folded(expr: sp.Expr, operator: Callable[[Tensor, Tensor], Tensor]) -> Program:
    terms = [program(each) for each in expr.args]
    return lambda assignment: reduce(operator, (term(assignment) for term in terms))


@_program.register
def _(expr: sp.Pow) -> Program:
    base = program(expr.base)
    if expr.exp.is_Integer:
        exponent = int(expr.exp)
        return lambda assignment: base(assignment) ** exponent
    power = program(expr.exp)
    return lambda assignment: base(assignment) ** power(assignment)


@_program.register
def _(expr: sp.Sum) -> Program:
    (variable, low, high), *others = expr.limits[::-1]
    inner = program(sp.Sum(expr.function, *others[::-1]) if others else expr.function)
    first, last = _integer(low), _integer(high)
    zero = torch.zeros((), dtype=torch.float64)

    def run(assignment: Assignment) -> Tensor:
        indices = range(first(assignment), last(assignment) + 1)
        return sum((inner(assignment.with_value(variable, index)) for index in indices), zero)

    return run


@_program.register
def _(expr: sp.KroneckerDelta) -> Program:
    first, second = map(_integer, expr.args)
    return lambda assignment: torch.tensor(float(first(assignment) == second(assignment)), dtype=torch.float64)


@_program.register
def _(expr: Partial) -> Program:
    formula, by = program(expr.args[0]), expr.args[1]
    label = by.base.label if isinstance(by, sp.Indexed) else by
    positions = [_integer(index) for index in by.indices] if isinstance(by, sp.Indexed) else []

    def run(assignment: Assignment) -> Tensor:
        with torch.enable_grad():
            moving = torch.as_tensor(assignment.values[label], dtype=torch.float64).clone()
            moving = moving if moving.requires_grad else moving.requires_grad_()
            value = formula(assignment.with_value(label, moving))
            if not value.requires_grad:
                return torch.zeros((), dtype=torch.float64)
            slope = torch.autograd.grad(value, moving, create_graph=True, allow_unused=True, materialize_grads=True)[0]
        return slope[tuple(position(assignment) - 1 for position in positions)]

    return run


FUNCTIONS: dict[Any, Callable[..., Tensor]] = {
    sp.exp: torch.exp,
    sp.log: torch.log,
    sp.Abs: torch.abs,
    sp.sign: torch.sign,
    sp.tanh: torch.tanh,
    plus: torch.relu,
    xlogx: lambda x: torch.special.xlogy(x, x),
    reciprocal: torch.reciprocal,
    kl: lambda y, x: torch.special.xlogy(y, y / x) - y + x,
}


@_program.register
def _(expr: sp.Function) -> Program:
    if type(expr) not in FUNCTIONS:
        raise NoProgramError(f"{type(expr).__name__}: expected one of {', '.join(each.__name__ for each in FUNCTIONS)}")
    function, arguments = FUNCTIONS[type(expr)], [program(each) for each in expr.args]
    return lambda assignment: function(*(argument(assignment) for argument in arguments))


def _integer(expr: sp.Expr) -> Callable[[Assignment], int]:
    """An index or a size as a function of an assignment."""
    run = program(sp.sympify(expr))
    return lambda assignment: round(float(run(assignment)))


# ── instances ───────────────────────────────────────────────────────────────────────────────────────────────────────


def instances(variables: Sequence[Variable]) -> st.SearchStrategy[dict[Variable, Any]]:
    """Return a strategy for values of variables in their domains; raises NoProgramError for a domain it cannot draw from."""
    drawn = [v for v in variables if not v.domain.is_index]
    for variable in drawn:
        if not variable.domain.is_size and DOMAINS[variable.domain.name].entries is None:
            raise NoProgramError(f"{variable.name}: expected a domain to draw from, got {variable.domain.words}")
    sizes = [v for v in drawn if v.domain.is_size]

    @st.composite
    def draw_all(draw: st.DrawFn) -> dict[Variable, Any]:
        values: dict[Variable, Any] = {v: draw(st.integers(1, LONGEST)) for v in sizes}
        for variable in drawn:
            if variable not in values:
                values[variable] = draw(strategy(variable, [length(values) for length in lengths[variable]]))
        return values

    lengths = {v: [_length(part) for part in v.domain.shape] for v in drawn if v not in sizes}
    return draw_all()


def _length(part: sp.Expr) -> Callable[[Mapping[Variable, Any]], int]:
    run = _integer(part)
    return lambda values: run(Assignment(dict(values)))


# ── votes ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def register(claims: Iterable[str] | None = None) -> None:
    """Register votes on claims read from the LaTeX of a paper, on selected or all claims, if they have none."""
    for id in entries() if claims is None else claims:
        entry = entries()[id]
        if entry.read and id not in CASES[Layer.TORCH] and (made := case(entry)):
            CASES[Layer.TORCH][id] = made


def case(entry: Entry) -> Case[dict[Variable, Any]] | None:
    """Return the vote on a claim read from LaTeX; None if its left side cannot be evaluated or its domain not drawn from."""
    statement, correction = entry.printed(), entry.repaired()
    if not entry.claim.asserts or statement is None or not statement.plain or statement.given:
        return None
    try:
        check, strategy = _check(statement), instances(Formula(statement).variables)
        corrected = _check(correction) if correction and correction.plain else None
    except NoProgramError:
        return None
    return Case(entry.id, Layer.TORCH, strategy, check, corrected, COUNT, entry.module, entry.line, automatic=True)


def _check(statement: Relation) -> Callable[[dict[Variable, Any]], Reading]:
    """Return a reading of the left side at an instance, with one axis for each free index."""
    formula = Formula(statement)
    run, indices = program(formula.left), formula.indices
    lengths = [_length(index.domain.shape[0]) for index in indices]

    def check(values: dict[Variable, Any]) -> Reading:
        assignment, extents = Assignment(dict(values)), [length(values) for length in lengths]
        entries = []
        for position in product(*(range(1, extent + 1) for extent in extents)):
            indexed = Assignment({**assignment.values, **dict(zip(indices, position, strict=True))}, assignment.largest)
            entries.append(run(indexed).detach())
        left = torch.stack(entries).reshape(extents)
        size = max([1, *(value for variable, value in values.items() if variable.domain.is_size)])
        tolerance = tolerances.rounding(torch.float64, size**2, assignment.largest[0])
        return Reading({v.name: value for v, value in values.items()}, {"autograd": left}, tolerance)

    return check
