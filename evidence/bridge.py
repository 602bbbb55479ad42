"""Numeric evaluation, in float64, of the expressions that derivations have proved.

Proofs and closed forms share no code: a closed form is compared with the proved expression itself, printed as Python code
by SymPy and run on NumPy scalars.  Checks may not use this module: its functions raise OwnFormulaError while modules of
checks are imported, and from the draw of an instance to the end of its check.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache, wraps
from itertools import count, product
from typing import Any, NoReturn, ParamSpec, TypeVar
from unittest.mock import patch

import numpy as np
import sympy as sp
import torch
from sympy.printing.codeprinter import CodePrinter
from sympy.printing.pycode import PythonCodePrinter
from torch import Tensor

from derivations.calculus.differentiation import differentiate
from derivations.calculus.functions import Partial
from derivations.calculus.variables import Variable, variables_of
from derivations.register.catalogue import Catalogue
from derivations.register.entry import Entry

Value = int | float | Tensor
P = ParamSpec("P")
R = TypeVar("R")

PRINTED = {"xlogx": "xlogx", "plus": "plus", "reciprocal": "reciprocal"}
"""Functions of the calculus that are evaluated without rewriting, so that a reciprocal is not cancelled first."""


class OwnFormulaError(RuntimeError):
    """A check used the derivation that it is compared with."""


def _guarded(function: Callable[P, R]) -> Callable[P, R]:
    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        if _closed:
            _refuse()
        return function(*args, **kwargs)

    return call


def _refuse(*_: object, **__: object) -> NoReturn:
    raise OwnFormulaError("check: expected routes of its own, got a use of the derivation that they are held against")


class _Printer(PythonCodePrinter):  # type: ignore[misc]  # SymPy has no types
    """SymPy's Python printer with generated variable names, since a printed name need not be a valid identifier.

    A sum is printed as a call of a function that computes it once at a point for each value of the indices that it depends on.
    """

    def __init__(self) -> None:
        super().__init__({"fully_qualified_modules": False, "user_functions": PRINTED})
        self.used: dict[sp.Symbol, None] = {}

    def _print_Symbol(self, expr: sp.Symbol) -> str:
        self.used[expr] = None
        return _name(expr)

    _print_Variable = _print_Dummy = _print_Symbol  # noqa: N815  (SymPy prints these in ways of their own)

    def _print_Indexed(self, expr: sp.Indexed) -> str:
        return f"entry({self._print(expr.base.label)}, {', '.join(map(self._print, expr.indices))})"

    def _print_Sum(self, expr: sp.Sum) -> str:
        name, parameters = _sum_function(expr)
        return f"{name}({', '.join(['known', *map(self._print, parameters)])})"

    def _print_Abs(self, expr: sp.Abs) -> str:
        return f"abs({self._print(expr.args[0])})"

    def _print_sign(self, expr: sp.sign) -> str:
        return f"sign({self._print(expr.args[0])})"

    def _print_KroneckerDelta(self, expr: sp.KroneckerDelta) -> str:
        return f"float({self._print(expr.args[0])} == {self._print(expr.args[1])})"


def _entry(values: np.ndarray, *positions: int) -> Any:
    """The entry at positions counted from 1."""
    for position, size in zip(positions, values.shape, strict=True):
        if not 1 <= position <= size:
            raise IndexError(f"index: expected positions within {values.shape}, counted from 1, got {positions}")
    return values[tuple([position - 1 for position in positions])]


def _of_float(function: Callable[[Any], Any]) -> Callable[[Value], Any]:
    return lambda x: function(np.float64(x))


_FUNCTIONS: dict[str, Any] = {  # to which the functions of sums are added
    "exp": _of_float(np.exp),
    "log": _of_float(np.log),
    "sqrt": _of_float(np.sqrt),
    "plus": _of_float(lambda x: np.maximum(x, 0.0)),
    "xlogx": _of_float(lambda x: x * np.log(x) if x else x),
    "sign": np.sign,
    "reciprocal": _of_float(lambda x: 1 / x),
    "entry": _entry,
    "sum": sum,
    "inf": np.inf,
    "pi": np.pi,
    "e": np.e,
}

_numbers = count()


@cache
def _name(_: sp.Symbol) -> str:
    return f"_{next(_numbers)}"


@cache
def _sum_function(expr: sp.Sum) -> tuple[str, list[sp.Symbol]]:
    """Compile a sum, once for all expressions in which it occurs; return the name of the function and its parameters."""
    printer, number = _Printer(), next(_numbers)
    body = printer.doprint(expr.function)
    loops = " ".join(
        f"for {_name(v)} in range({printer.doprint(low)}, {printer.doprint(high)} + 1)" for v, low, high in expr.limits
    )
    parameters = [v for v in printer.used if v not in expr.bound_symbols]
    key = ", ".join([str(number), *(_name(v) for v in parameters if not _is_vector(v))])
    exec(
        f"def sum_{number}({', '.join(['known', *map(_name, parameters)])}):\n"
        f"    key = {key},\n"
        f"    if key not in known:\n"
        f"        known[key] = sum({body} {loops})\n"
        f"    return known[key]\n",
        _FUNCTIONS,
    )
    return f"sum_{number}", parameters


def _is_vector(symbol: sp.Symbol) -> bool:
    return isinstance(symbol, Variable) and not symbol.domain.is_index and bool(symbol.domain.shape)


@_guarded
@cache
def compiled(expr: sp.Expr) -> tuple[list[Variable], Callable[..., Any]]:
    """Return the variables of an expression, and a function of the sums known at a point and of their values in that order.

    Raises ValueError if two different variables have the same name, since a point identifies variables by name.
    """
    expr = _opened(sp.sympify(expr))
    names = variables_of(expr)
    if twice := [name for name, count in Counter(v.name for v in names).items() if count > 1]:
        raise ValueError(f"{twice[0]}: expected one variable of a name, got {twice[0]} with different domains in {expr}")
    value: dict[str, Any] = {}
    exec(f"value = lambda {', '.join(['known', *map(_name, names)])}: {_Printer().doprint(expr)}", _FUNCTIONS, value)
    return names, value["value"]  # of what SymPy has printed


def _opened(expr: sp.Expr) -> sp.Expr:
    """Return the expression with derivatives and divergences expanded, by rules independent of the normal form."""
    if not _has_shorthands(expr):
        return expr
    while expr.has(Partial):
        expr = expr.replace(lambda e: isinstance(e, Partial), lambda e: differentiate(*e.args))
    return expr.replace(lambda e: hasattr(e, "opened") and type(e).__name__ not in PRINTED, lambda e: e.opened())


@lru_cache(maxsize=2**15)
def _has_shorthands(expr: sp.Basic) -> bool:
    return isinstance(expr, Partial) or hasattr(expr, "opened") or any(map(_has_shorthands, expr.args))


@_guarded
def evaluate(expr: sp.Expr, point: Mapping[str, Value], axes: Sequence[Variable]) -> Tensor:
    """The expression at a point that names the value of each variable, with one axis for each index in `axes`.

    Positions where it overflows or is not defined hold inf or NaN; so do those that an index may not take, see
    `clashes`.  Raises KeyError for a variable without a value.
    """
    names, function = compiled(sp.sympify(expr))
    fixed = {v: _plain(point[v.name]) for v in names if v not in axes}
    barred, flat, known = clashes(axes, point), list[float](), dict[tuple[int, ...], Any]()
    with np.errstate(all="ignore"):
        for position in _positions(axes, point):
            values = {**fixed, **dict(zip(axes, position, strict=True))}
            excluded = barred[tuple(i - 1 for i in position)]
            flat.append(float("nan") if excluded else _call(function, [known, *(values[v] for v in names)]))
    return torch.tensor(flat, dtype=torch.float64).reshape(barred.shape)


def clashes(axes: Sequence[Variable], point: Mapping[str, Value]) -> Tensor:
    """Where an index takes a value that it is declared to differ from (k = j where k ≠ j), as a mask over the axes."""
    shape = [_size(v.domain.shape[0], point) for v in axes]
    if not any(v.domain.other_than for v in axes):
        return torch.zeros(shape, dtype=torch.bool)
    flat = []
    for position in _positions(axes, point):
        values = dict(zip(axes, position, strict=True))
        flat.append(
            any(
                values[v] == (values[other] if other in values else point[str(other)])
                for v in axes
                for other in v.domain.other_than
            )
        )
    return torch.tensor(flat, dtype=torch.bool).reshape(shape)


def _positions(axes: Sequence[Variable], point: Mapping[str, Value]) -> Iterator[tuple[int, ...]]:
    return product(*(range(1, _size(v.domain.shape[0], point) + 1) for v in axes))


def _call(function: Callable[..., Any], values: list[Any]) -> float:
    try:
        result = function(*values)
    except (ZeroDivisionError, OverflowError):  # of Python's own integers, where NumPy gives inf or NaN
        return float("nan")
    return float("nan") if isinstance(result, complex) else float(result)


def _plain(value: Value) -> Any:
    """Return floats and tensors as NumPy values, so that 1/0 is inf; integers are returned unchanged."""
    if isinstance(value, Tensor):
        array = value.detach().cpu().double().numpy()
        return array if array.shape else np.float64(array)
    return value if isinstance(value, int) else np.float64(value)


def _size(size: sp.Expr, point: Mapping[str, Value]) -> int:
    if isinstance(size, Variable):  # as nearly all are
        return int(point[size.name])
    return int(size.xreplace({v: sp.Integer(int(point[v.name])) for v in size.free_symbols}))


# ── while a check is imported, draws or computes ────────────────────────────────────────────────────────────────────

CLOSED = (
    (Entry, "printed"),
    (Entry, "repaired"),
    (Catalogue, "__getitem__"),
    (sp.Basic, "subs"),
    (sp.Basic, "xreplace"),
    (sp.Basic, "replace"),
    (sp.Expr, "evalf"),
    (CodePrinter, "doprint"),
)
"""What leads from a claim to its formula, or from a formula to a number."""

_closed = False


_DOORS = [patch.object(owner, name, _refuse) for owner, name in CLOSED]


def _shut(shut: bool) -> None:
    global _closed
    if shut is not _closed:
        for door in _DOORS:
            (door.start if shut else door.stop)()
        _closed = shut


@contextmanager
def closed() -> Iterator[None]:
    """Forbid the use of the derivations' formulas: a route that used them would agree with them even if they are wrong."""
    previous = _closed
    _shut(True)
    try:
        yield
    finally:
        _shut(previous)
