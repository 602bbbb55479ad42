"""Relations and expressions as LaTeX, in the names of a notation or of the variables themselves."""

import re
import unicodedata

import sympy as sp
from sympy.printing.latex import LatexPrinter
from sympy.printing.precedence import PRECEDENCE

from derivations.calculus.functions import Partial
from derivations.calculus.variables import variables_of
from derivations.relations import Relation

GREEK = {"ϑ": "\\vartheta", "ε": "\\varepsilon"}


def name(variable: sp.Symbol) -> str:
    """A variable's name as LaTeX: \\tau for τ or tau, p^{\\star} for p⋆, t_{1} for t1."""
    plain = str(variable.name).split("#")[0].replace("ι", "l")
    if plain.startswith("\\"):
        return plain
    match = re.fullmatch(r"(.*?[^\W\d_])_?([0-9₀-₉]+|_[a-z]+)?(['′⋆*]*)", plain)
    base, number, marks = (match[1], match[2] or "", match[3]) if match else (plain, "", "")
    word = WORDS.get(base) or (f"\\{base}" if base in NAMES else "")
    if not word:
        plural = len(base) > 1 and base.isascii()
        word = f"\\mathrm{{{base.replace('_', '')}}}" if plural else "".join(map(_letter, base)).strip()
    script = "".join(unicodedata.normalize("NFKC", number)).strip("_")
    return word + (f"_{{{script}}}" if script else "") + "".join(map(_letter, marks))


WORDS = {"lam": "\\lambda", "eps": "\\varepsilon"}
NAMES = {
    "alpha",
    "beta",
    "gamma",
    "delta",
    "epsilon",
    "zeta",
    "eta",
    "theta",
    "iota",
    "kappa",
    "lambda",
    "mu",
    "nu",
    "xi",
    "pi",
    "rho",
    "sigma",
    "tau",
    "phi",
    "chi",
    "psi",
    "omega",
}


def _letter(letter: str) -> str:
    if letter in GREEK:
        return GREEK[letter] + " "
    described = unicodedata.name(letter, "")
    if described.startswith("GREEK SMALL LETTER "):
        return f"\\{described.rsplit(' ', 1)[-1].lower()} "
    if described.startswith("GREEK CAPITAL LETTER "):
        return f"\\{described.rsplit(' ', 1)[-1].capitalize()} "
    return {"⋆": "^{\\star}", "*": "^{*}", "′": "'", "ℓ": "\\ell "}.get(letter, letter)


class _Printer(LatexPrinter):  # type: ignore[misc]
    def _print_ExpBase(self, expr: sp.Expr, exp: str | None = None) -> str:
        """e to a power; exp(…) where some variable is called e."""
        if not self._settings["symbol_names"].get("e"):
            return str(super()._print_ExpBase(expr, exp))
        shown = f"\\exp\\left({self._print(expr.args[0])}\\right)"
        return f"\\left({shown}\\right)^{{{exp}}}" if exp else shown

    def _print_Pow(self, expr: sp.Expr) -> str:
        """Print a power; put a log or derivative in parentheses, since the exponent could be read as part of its argument."""
        parenthesized = not expr.exp.is_Rational or (expr.exp.q == 1 and expr.exp.p > 1)
        if isinstance(expr.base, sp.log | Partial) and parenthesized:
            return f"\\left({self._print(expr.base)}\\right)^{{{self._print(expr.exp)}}}"
        return str(super()._print_Pow(expr))

    def _print_Symbol(self, expr: sp.Symbol) -> str:
        return name(expr).strip()

    def _print_Indexed(self, expr: sp.Indexed) -> str:
        base = name(expr.base.label).strip()
        indices = " ".join(self._print(i) for i in expr.indices)
        return f"{base}_{{{indices}}}"

    def _print_KroneckerDelta(self, expr: sp.KroneckerDelta) -> str:
        return f"\\delta_{{{' '.join(sorted(self._print(i) for i in expr.args))}}}"

    def _print_upto(self, expr: sp.Expr) -> str:
        return f"[{self._print(expr.args[0])} \\le {self._print(expr.args[1])}]"

    def _print_Sum(self, expr: sp.Sum) -> str:
        bound = [limit[0] for limit in expr.limits]
        used = {self._print(v) for v in expr.function.free_symbols if isinstance(v, sp.Symbol) and v not in bound}
        primed = {v: sp.Symbol(_primed(self._print(v), used)) for v in bound if self._print(v) in used}
        inside = self._print(expr.function.xreplace(primed))
        body = f"\\left({inside}\\right)" if expr.function.is_Add or inside.startswith("-") else inside
        sums = (f"\\sum_{{{self._print(primed.get(v, v))}=1}}^{{{self._print(high)}}}" for v, _, high in expr.limits)
        return f"{' '.join(sums)} {body}"

    def _print_Partial(self, expr: sp.Expr) -> str:
        return f"\\frac{{\\partial}}{{\\partial {self._print(expr.args[1])}}}\\left({self._print(expr.args[0])}\\right)"

    def _print_xlogx(self, expr: sp.Expr) -> str:
        (x,) = expr.args
        inside = self.parenthesize(x, PRECEDENCE["Mul"])
        return f"{inside} \\log\\left({self._print(x)}\\right)"

    def _print_reciprocal(self, expr: sp.Expr) -> str:
        return f"\\frac{{1}}{{{self._print(expr.args[0])}}}"

    def _print_kl(self, expr: sp.Expr) -> str:
        y, x = map(self._print, expr.args)
        first = self.parenthesize(expr.args[0], PRECEDENCE["Mul"])
        return f"\\left({first} \\log\\frac{{{y}}}{{{x}}} - {y} + {x}\\right)"

    def _print_plus(self, expr: sp.Expr, exp: str | None = None) -> str:
        power = f"^{{{exp}}}" if exp else ""
        return f"\\left({self._print(expr.args[0])}\\right)_{{+}}{power}"


def _primed(shown: str, used: set[str]) -> str:
    while shown in used:
        shown += "′"
    return shown


def written(expr: sp.Expr) -> str:
    """An expression as LaTeX that `read` takes."""
    from unittest.mock import patch  # here, since it loads asyncio

    names = {name(v) for v in variables_of(sp.sympify(expr))}
    settings = {"ln_notation": False, "mul_symbol": None, "symbol_names": {"e": "e"} if "e" in names else {}}
    # SymPy simplifies an exponent to see whether it is constant, which may take minutes for a sum.
    with patch.object(sp.Expr, "is_constant", lambda exponent, *_, **__: not exponent.free_symbols):
        return str(_Printer(settings).doprint(sp.sympify(expr)))


def statement(relation: Relation) -> str:
    """Return a relation as LaTeX."""
    return relation.latex(written)
