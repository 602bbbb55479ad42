"""From a proved expression to a number: the derivation's own formula, evaluated by torch.

The proof and the closed forms share no code; what is compared with a closed form here is the expression that was
proved, printed as torch code by SymPy's `lambdify`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import product

import sympy as sp
import torch
from sympy.printing.pycode import PythonCodePrinter
from torch import Tensor

from derivations.calculus.functions import Partial, kl
from derivations.calculus.powers import bregman
from derivations.calculus.sums import normal
from derivations.calculus.variables import Variable, variables_of

Value = int | float | Tensor


class _Printer(PythonCodePrinter):
    def _print_Variable(self, expr: Variable) -> str:
        return str(expr.name)

    def _print_Indexed(self, expr: sp.Indexed) -> str:
        return f"{self._print(expr.base.label)}[{', '.join(f'{self._print(i)} - 1' for i in expr.indices)}]"

    def _print_Sum(self, expr: sp.Sum) -> str:
        loops = " ".join(f"for {self._print(v)} in range(1, {self._print(high)} + 1)" for v, _, high in expr.limits)
        return f"sum({self._print(expr.function)} {loops})"

    def _print_KroneckerDelta(self, expr: sp.KroneckerDelta) -> str:
        return f"float({self._print(expr.args[0])} == {self._print(expr.args[1])})"


def _as_tensor(function: Callable[[Tensor], Tensor]) -> Callable[[Value], Tensor]:
    return lambda x: function(torch.as_tensor(x, dtype=torch.float64))


_FUNCTIONS = {
    "exp": _as_tensor(torch.exp),
    "log": _as_tensor(torch.log),
    "sqrt": _as_tensor(torch.sqrt),
    "plus": _as_tensor(torch.relu),
    "xlogx": _as_tensor(lambda x: torch.xlogy(x, x)),
    "sum": sum,
}


@cache
def compiled(expr: sp.Expr) -> tuple[list[Variable], Callable[..., Value]]:
    """The variables of an expression and a function of their values, in that order."""
    expr = sp.sympify(expr).replace(lambda e: isinstance(e, Partial | bregman | kl), normal)
    bound = {v for total in expr.atoms(sp.Sum) for v in total.bound_symbols}
    names = variables_of(expr)
    plain = {v: Variable(f"_{n}", v.domain) for n, v in enumerate([*names, *sorted(bound, key=str)])}
    printer = _Printer({"fully_qualified_modules": False, "user_functions": {"xlogx": "xlogx", "plus": "plus"}})
    arguments = [plain[v] for v in names]
    return names, sp.lambdify(arguments, expr.xreplace(plain), modules=[_FUNCTIONS], printer=printer)


def evaluate(expr: sp.Expr, point: Mapping[str, Value], axes: Sequence[Variable]) -> Tensor:
    """The expression at a point that names the value of each variable, with one axis for each index in `axes`.

    Positions that an index may not take (k = j where k ≠ j) hold NaN.  Raises KeyError for a variable without a value.
    """
    names, function = compiled(sp.sympify(expr))
    fixed = {v: point[v.name] for v in names if v not in axes}
    sizes = [_size(v.domain.shape[0], point) for v in axes]
    flat = []
    for position in product(*(range(1, size + 1) for size in sizes)):
        values = {**fixed, **dict(zip(axes, position, strict=True))}
        clash = any(values[v] == values[other] for v in axes for other in v.domain.other_than)
        result = float("nan") if clash else function(*(values[v] for v in names))
        flat.append(torch.as_tensor(result, dtype=torch.float64))
    return torch.stack(flat).reshape(sizes)


def _size(size: sp.Expr, point: Mapping[str, Value]) -> int:
    return int(point[size.name]) if isinstance(size, Variable) else int(size)
