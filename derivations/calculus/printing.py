"""One-line text for formulas: Σ_l, δ_jk, s_j, names without their numbering; a bound name that is in use gets a prime."""

import sympy as sp
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.str import StrPrinter


class _Printer(StrPrinter):  # type: ignore[misc]
    def _print_Symbol(self, expr: sp.Symbol) -> str:
        return str(expr.name).split("#")[0].replace("ι", "l")

    def _print_Indexed(self, expr: sp.Indexed) -> str:
        return f"{self._print(expr.base.label)}[{','.join(self._print(i) for i in expr.indices)}]"

    def _print_KroneckerDelta(self, expr: sp.KroneckerDelta) -> str:
        return f"δ[{','.join(sorted(self._print(i) for i in expr.args))}]"

    def _print_Sum(self, expr: sp.Sum) -> str:
        bound = [limit[0] for limit in expr.limits]
        used = {self._print(v) for v in expr.function.free_symbols if isinstance(v, sp.Symbol) and v not in bound}
        names: dict[sp.Symbol, str] = {}
        for v in bound:
            names[v] = _primed(self._print(v), used | set(names.values()))
        primed = {v: sp.Symbol(name) for v, name in names.items() if name != self._print(v)}
        return f"Σ_{','.join(names.values())}({self.parenthesize(expr.function.xreplace(primed), PRECEDENCE['Lambda'])})"

    def _print_Partial(self, expr: sp.Expr) -> str:
        return f"∂/∂{self._print(expr.args[1])} {self.parenthesize(expr.args[0], PRECEDENCE['Mul'])}"

    def _print_reciprocal(self, expr: sp.Expr) -> str:
        return f"(1/{self.parenthesize(expr.args[0], PRECEDENCE['Pow'])})"

    def _print_kl(self, expr: sp.Expr) -> str:
        return f"kl({self._print(expr.args[0])} ‖ {self._print(expr.args[1])})"

    def _print_bregman(self, expr: sp.Expr) -> str:
        return f"D({self._print(expr.args[0])} ‖ {self._print(expr.args[1])})"

    def _print_upto(self, expr: sp.Expr) -> str:
        return f"[{self._print(expr.args[0])} ≤ {self._print(expr.args[1])}]"

    def _print_plus(self, expr: sp.Expr) -> str:
        return f"({self._print(expr.args[0])})₊"


def _primed(name: str, used: set[str]) -> str:
    while name in used:
        name += "′"
    return name


def text(expr: sp.Expr) -> str:
    """The expression on one line."""
    return str(_Printer().doprint(expr))
