"""An expression of the calculus as a term that Rocq reads.

A term is a tuple: its kind, then its parts.  Sums bind names of their own, each only once, so that no name is captured.

    num value | pi | var name | size name | position index | entry name indices | band name size i j
    neg a | add a… | mul a… | inv a | pow a n
    exp a | ln a | sqrt a | abs a | plus a | xlogx a | kl y x | rpow a b | dlt i j | sum bound size a | slope by a
"""

import keyword
import re
import unicodedata
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from itertools import count
from typing import Any

import sympy as sp

from derivations.calculus.functions import Partial, kl, pinsker, reciprocal, xlogx
from derivations.calculus.powers import bregman, plus
from derivations.calculus.printing import text
from derivations.calculus.signs import strictly_positive
from derivations.calculus.variables import Variable

Term = tuple[Any, ...]
LARGE = 1000  # from here on, a number is written in pieces


class NotExportedError(Exception):
    """An expression or a relation that has no counterpart in Rocq here; the message names the part."""


# names that the library or the script uses, and words of the language
RESERVED = {
    "R",
    "expR",
    "ln",
    "kl",
    "xlogx",
    "plus",
    "upd",
    "upd2",
    "dlt",
    "derive1",
    "delta",
    "dot",
    "entropy",
    "KL",
    "partition",
    "softmax",
    "lse",
    "quad",
    "simplex",
    "interior",
    "slope",
    "fun",
    "forall",
    "exists",
    "Num",
    "fix",
    "cofix",
    "match",
    "end",
    "then",
    "return",
    "where",
    "using",
    "at",
    "Set",
    "Prop",
    "Type",
    "SProp",
    "mod",
    "sum",
    "id",
    "only_minimizer",
    "only_plan",
    "bregman",
    "pi",
    "root",
    "offset",
}
UNARY = {sp.log: "ln", xlogx: "xlogx", plus: "plus", sp.Abs: "abs", sp.exp: "exp"}


def identifier(name: str) -> str:
    """A name of an author as an identifier of Rocq, in ASCII."""
    letters = []
    for letter in name.replace("*", "_star").replace("′", "_prime").replace("'", "_prime").replace("\\", ""):
        words = unicodedata.name(letter, "").lower().split()
        ascii_letter = letter.isascii() and (letter.isalnum() or letter == "_")
        letters.append(letter if ascii_letter else words[-1] if words else "u")
    plain = re.sub(r"[^A-Za-z0-9_]", "_", "".join(letters))
    generated = re.fullmatch(r"[HKxytEP]\d+", plain)
    return f"{plain}_" if plain in RESERVED or keyword.iskeyword(plain) or generated else plain


class Names:
    """The identifiers of the variables of one statement, and of the indices that its sums bind."""

    def __init__(self) -> None:
        self.known: dict[Any, str] = {}
        self.taken: set[str] = set()

    def of(self, variable: Variable) -> str:
        """The identifier of a variable, always the same."""
        if variable not in self.known:
            self.known[variable] = self.fresh(identifier(variable.name.split("#")[0]))
        return self.known[variable]

    def fresh(self, like: str) -> str:
        """An unused identifier."""
        name, count = like, 0
        while name in self.taken:
            count += 1
            name = f"{like}_{count}"
        self.taken.add(name)
        return name


def size_of(shape: sp.Expr, names: Names) -> str:
    """The size of a range: a variable or a number."""
    if isinstance(shape, Variable) and shape.domain.is_size:
        return names.of(shape)
    if shape.is_Integer:
        return str(shape)
    raise NotExportedError(f"the size {text(shape)}")


def index_of(index: sp.Expr, names: Names, bound: Mapping[Variable, str]) -> str:
    """An index, bound or free."""
    if index in bound:
        return bound[index]
    if isinstance(index, Variable) and index.domain.is_index:
        return names.of(index)
    raise NotExportedError(f"the position {text(index)}")


def term(expr: sp.Expr, names: Names, bound: Mapping[Variable, str] | None = None) -> Term:
    """The term of an expression; raises NotExportedError for a part that has none."""
    bound = bound or {}
    if expr.is_Rational:
        return number(Fraction(int(expr.p), int(expr.q)))
    if expr is sp.S.Pi:
        return ("pi",)
    if expr is sp.S.Exp1:
        return ("exp", ("num", Fraction(1)))
    if isinstance(expr, Variable):
        return _variable(expr, names, bound)
    if isinstance(expr, sp.Indexed):
        return _entry(expr, names, bound)
    if isinstance(expr, sp.KroneckerDelta):
        return ("dlt", *sorted(index_of(i, names, bound) for i in expr.args))
    if isinstance(expr, sp.Sum):
        return _sum(expr, names, bound)
    if isinstance(expr, sp.Add):
        return ("add", *(term(arg, names, bound) for arg in expr.as_ordered_terms()))
    if isinstance(expr, sp.Mul):
        return _product(expr, names, bound)
    if isinstance(expr, sp.Pow):
        return _power(expr, names, bound)
    if isinstance(expr, Partial):
        return _slope(expr, names, bound)
    if type(expr) in UNARY:
        return (UNARY[type(expr)], term(expr.args[0], names, bound))
    if isinstance(expr, kl):
        return ("kl", *(term(arg, names, bound) for arg in expr.args))
    if isinstance(expr, bregman | pinsker | reciprocal):
        return term(expr.opened(), names, bound)
    raise NotExportedError(f"{type(expr).__name__}: {text(expr)}")


def _entry(expr: sp.Indexed, names: Names, bound: Mapping[Variable, str]) -> Term:
    """An entry of an array; or of a vector of a value for each difference of two positions, at n + j − i."""
    name, size = names.of(expr.base.label), band_of(expr.shape)
    if size is None:
        return ("entry", name, tuple(index_of(i, names, bound) for i in expr.indices))
    position = expr.indices[0]
    minus, plus = ([v for v in position.free_symbols if position.coeff(v) == sign and v != size] for sign in (-1, 1))
    if len(minus) != 1 or len(plus) != 1 or position != size + plus[0] - minus[0]:
        raise NotExportedError(f"the position {text(position)}")
    return ("band", name, names.of(size), index_of(minus[0], names, bound), index_of(plus[0], names, bound))


def band_of(shape: tuple[sp.Expr, ...]) -> Variable | None:
    """The size n of a vector of 2n − 1 entries, one for each difference of two positions; None for another shape."""
    if len(shape) != 1 or isinstance(shape[0], Variable):
        return None
    size = (sp.sympify(shape[0]) + 1) / 2
    return size if isinstance(size, Variable) else None


def number(value: Fraction) -> Term:
    """A rational number."""
    return ("neg", ("num", -value)) if value < 0 else ("num", value)


def _variable(expr: Variable, names: Names, bound: Mapping[Variable, str]) -> Term:
    if expr.domain.is_index:
        return ("position", index_of(expr, names, bound))
    if expr.domain.is_size:
        return ("size", names.of(expr))
    if expr.domain.is_random:
        raise NotExportedError(f"the random variable {expr}")
    return ("var", names.of(expr))


def _sum(expr: sp.Sum, names: Names, bound: Mapping[Variable, str]) -> Term:
    inside = dict(bound)
    ranges = []
    for var, low, high in reversed(expr.limits):  # the last limit is the outermost
        if low != 1 or high != var.domain.shape[0]:
            raise NotExportedError(f"a sum over a part of a range: {text(expr)}")
        inside[var] = names.fresh(identifier(var.name.split("#")[0].replace("ι", "l")))
        ranges.append((inside[var], size_of(high, names)))
    body = term(expr.function, names, inside)
    for name, size in reversed(ranges):
        body = ("sum", name, size, body)
    return body


def _product(expr: sp.Mul, names: Names, bound: Mapping[Variable, str]) -> Term:
    coefficient, rest = expr.as_coeff_Mul()
    if coefficient.is_Rational and coefficient < 0:
        return ("neg", term(-expr, names, bound))
    parts = [term(arg, names, bound) for arg in rest.as_ordered_factors()]
    if coefficient != 1:
        parts = [term(coefficient, names, bound), *parts]
    above = [part for part in parts if not _divides(part)]
    below = [part for part in parts if _divides(part)]
    factors = [*above, *below]
    return factors[0] if len(factors) == 1 else ("mul", *factors)


def _divides(part: Term) -> bool:
    return part[0] == "inv" or bool(part[0] == "pow" and part[1][0] == "inv")


def _power(expr: sp.Pow, names: Names, bound: Mapping[Variable, str]) -> Term:
    base, exponent = expr.base, expr.exp
    if exponent.is_Integer:
        return powered(term(base, names, bound), int(exponent))
    if exponent.is_Rational and exponent.q == 2:
        return powered(("sqrt", term(base, names, bound)), int(exponent.p))
    if strictly_positive(base):
        return ("rpow", term(base, names, bound), term(exponent, names, bound))
    raise NotExportedError(f"a power of a base that may be 0: {text(expr)}")


def powered(base: Term, n: int) -> Term:
    """A term to an integer power."""
    inner = ("inv", base) if n < 0 else base
    return inner if abs(n) == 1 else ("pow", inner, abs(n))


def _slope(expr: Partial, names: Names, bound: Mapping[Variable, str]) -> Term:
    body, by = expr.args
    if isinstance(by, sp.Indexed) and len(by.indices) > 2:
        raise NotExportedError(f"a slope along an entry of an array with {len(by.indices)} axes")
    return ("slope", term(by, names, bound), term(body, names, bound))


# ── how a term is written ───────────────────────────────────────────────────────────────────────────────────────────

Environment = Mapping[str, str]  # what stands for a variable inside of slopes


def written(part: Term, env: Environment | None = None) -> str:  # noqa: C901
    """A term in Rocq's syntax, with parentheses around all compound parts."""
    env = env or {}
    kind = part[0]
    if kind == "num":
        return _number(part[1])
    if kind == "pi":
        return "pi"
    if kind == "var":
        return env.get(part[1], part[1])
    if kind == "size":
        return f"{part[1]}%:R"
    if kind == "position":
        return f"{part[1]}.+1%:R"
    if kind == "entry":
        return f"({env.get(part[1], part[1])} {' '.join(part[2])})"
    if kind == "band":
        return f"({part[1]} (offset {' '.join(part[2:])}))"
    if kind == "dlt":
        return f"(dlt {part[1]} {part[2]})"
    if kind == "neg":
        return f"(- {written(part[1], env)})"
    if kind == "add":
        return f"({' + '.join(written(each, env) for each in part[1:])})"
    if kind == "mul":
        return f"({' * '.join(written(each, env) for each in part[1:])})"
    if kind == "inv":
        return f"{written(part[1], env)}^-1"
    if kind == "pow":
        return f"({written(part[1], env)} ^+ {part[2]})"
    if kind == "sum":
        return f"(\\Sum_({part[1]} < {part[2]}) {written(part[3], env)})"
    if kind == "abs":
        return f"`|{written(part[1], env)}|"
    if kind == "rpow":
        return f"({written(part[1], env)} `^ {written(part[2], env)})"
    if kind == "slope":
        return _written_slope(part, env)
    head = {"exp": "expR", "sqrt": "root"}.get(kind, kind)
    return f"({head} {' '.join(written(each, env) for each in part[1:])})"


def _number(value: Fraction) -> str:
    if value.denominator != 1:
        return f"({_natural(value.numerator)} / {_natural(value.denominator)})"
    return _natural(value.numerator)


def _natural(n: int) -> str:
    """A natural number; large ones as a product or sum of small ones, since Rocq's are unary."""
    if n >= LARGE:
        high, low = divmod(n, LARGE)
        rest = f" + {_natural(low)}" if low else ""
        return f"({_natural(high)} * {LARGE}%:R{rest})"
    return str(n) if n in (0, 1) else f"{n}%:R"


def shifted(by: Term, variable: str, env: Environment) -> dict[str, str]:
    """The environment inside a slope along `by`."""
    name = by[1]
    outer, deeper = env.get(name, name), {**env, DEPTH: str(1 + int(env.get(DEPTH, "0")))}
    if by[0] == "var":
        return {**deeper, name: variable}
    update = "upd" if len(by[2]) == 1 else "upd2"
    return {**deeper, name: f"({update} {outer} {' '.join(by[2])} {variable})"}


def _written_slope(part: Term, env: Environment) -> str:
    _, by, body = part
    t = next_name(env)
    return f"(derive1 (fun {t} : R => {written(body, shifted(by, t, env))}) {written(by, env)})"


def next_name(env: Environment) -> str:
    """A name for the variable that moves, one for each depth of slopes."""
    return f"t{1 + int(env.get(DEPTH, '0'))}"


def children(part: Term) -> tuple[Term, ...]:
    """The terms that a term is made of."""
    if part[0] in LEAVES:
        return ()
    return part[3:] if part[0] == "sum" else part[1:2] if part[0] == "pow" else part[1:]


LEAVES = {"num", "pi", "var", "size", "position", "entry", "band", "dlt"}
DEPTH = "#depth"  # how many variables move, in an environment


@lru_cache(maxsize=2**16)
def indices(part: Term) -> frozenset[str]:
    """The free indices of a term."""
    kind = part[0]
    if kind == "entry":
        return frozenset(part[2])
    if kind in ("position", "dlt"):
        return frozenset(part[1:])
    if kind == "band":
        return frozenset(part[3:])
    free = frozenset[str]().union(*(indices(each) for each in children(part)))
    return free - {part[1]} if kind == "sum" else free


def renamed(part: Term, names: Mapping[str, str]) -> Term:
    """Rename the free indices of a term; a sum that would capture one of them gets another bound name."""
    kind = part[0]
    if kind == "entry":
        return (*part[:2], tuple(names.get(i, i) for i in part[2]))
    if kind in ("position", "dlt"):
        return (kind, *(names.get(i, i) for i in part[1:]))
    if kind == "band":
        return (*part[:3], *(names.get(i, i) for i in part[3:]))
    if kind in LEAVES:
        return part
    if kind == "sum":
        _, bound, size, body = part
        inner = {old: new for old, new in names.items() if old != bound}
        if bound in inner.values() and any(inner.get(i) == bound for i in indices(body)):
            used = indices(body) | set(inner.values())
            free = next(name for n in count(1) if (name := f"{bound}_{n}") not in used)
            bound, body = free, renamed(body, {bound: free})
        return (kind, bound, size, renamed(body, inner))
    if kind == "pow":
        return (kind, renamed(part[1], names), part[2])
    return (kind, *(renamed(each, names) for each in part[1:]))


def mentions(part: Term, name: str) -> bool:
    """Whether a vector or a scalar of that name occurs in a term."""
    return (part[0] in ("entry", "band", "var") and part[1] == name) or any(mentions(each, name) for each in children(part))
