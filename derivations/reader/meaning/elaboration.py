"""Elaborate a tree into values: each symbol gets its declared meaning, and matrix notation becomes entries.

An ambiguous formula is an error that shows both readings.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import sympy as sp

from derivations.calculus.defined import Condition, Sense
from derivations.calculus.division import power, product, quotient
from derivations.calculus.powers import plus as positive_part
from derivations.calculus.variables import Variable, index
from derivations.reader.meaning import cases, derivatives, functions, operators, sums, symbols
from derivations.reader.meaning.derivatives import PARTIAL, TRANSPOSED, starts_function
from derivations.reader.meaning.notation import Meaning, Notation
from derivations.reader.meaning.values import (
    Support,
    Value,
    at,
    check_ranges,
    entrywise,
    inner,
    is_index,
    plus,
    scalar,
    support,
    times,
    transposed,
)
from derivations.reader.syntax.names import index_parts, plain
from derivations.reader.syntax.tree import (
    At,
    Bracket,
    Cases,
    Chain,
    Fraction,
    LatexError,
    Listing,
    Node,
    Number,
    Operator,
    Product,
    Root,
    Scripted,
    Sum,
    Symbol,
    spelled,
)

UNREAD = ("\\int", "\\lim", "\\sup", "\\inf", "\\bigcup", "\\bigcap", "\\infty", "\\dots", "\\ldots", "\\cdots", "\\arg")
TIMES = ("\\cdot", "\\times", "*")


@dataclass(frozen=True)
class Elaborator:
    """Reads parts of a formula; `scope` maps the indices and arguments bound here to their values.

    `free` holds the free indices of the formula, each ranging over the axis that it first indexes; `required` holds what
    logarithms and roots require of their arguments, since SymPy may cancel them.
    """

    notation: Notation
    scope: Mapping[str, Value] = field(default_factory=dict)
    free: dict[str, Variable] = field(default_factory=dict)
    required: dict[Condition, None] = field(default_factory=dict)

    def within(self, **names: Value) -> "Elaborator":
        """Return a reader in which these names have other values."""
        return replace(self, scope={**self.scope, **names})

    def fresh(self) -> "Elaborator":
        """Return a reader of the same notation with nothing in scope, for the body of a definition."""
        return Elaborator(self.notation, required=self.required)

    # ── names ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def meaning(self, name: str) -> Meaning | None:
        """Return the meaning of a name here; None if it is not declared."""
        if name in self.scope:
            return self.scope[name]
        if name in self.notation.meanings:
            return symbols.conditional(self, self.notation.meanings[name])
        if name in self.notation.indices:
            return scalar(self.free.get(name, self.notation.indices[name]))
        if name.rstrip("'") in self.notation.points:
            return self.point(name, self.free.setdefault(name, self.index_of(name, name)))
        if name.endswith("'") and name.rstrip("'") in self.notation.indices:
            return scalar(self.free.get(name, self.index_of(name, name)))
        if name in self.notation.crowded and (whole := self.notation.unconditional(name)) is not None:
            return symbols.conditional(self, whole)
        if name in self.notation.broken:
            raise LatexError(self.notation.broken[name])
        return operators.DEFAULT.get(name)

    def function(self, name: str, call: Node) -> Meaning | None:
        """Return the meaning of a name before parentheses, which decide if it has several."""
        found = self.notation.function(name, call) if name in self.notation.crowded and isinstance(call, Bracket) else None
        return self.meaning(name) if found is None or name in self.scope else symbols.conditional(self, found)

    def index_of(self, name: str, what: str) -> Variable:
        """The index that a name stands for, over its whole range."""
        if name.rstrip("'") in self.notation.indices:
            declared = self.notation.indices[name.rstrip("'")]
            return declared if name in self.notation.indices else index(plain(name), declared.domain.shape[0])
        if name.rstrip("'") in self.notation.points:
            return index(plain(name), self._rows(name).shape[0])
        raise LatexError(f"{what}: expected an index of the notation, got {name}")

    def _rows(self, name: str) -> Value:
        """The matrix whose rows are the points of this name."""
        rows = self.meaning(self.notation.points[name.rstrip("'")])
        if not isinstance(rows, Value) or len(rows.shape) != 2:
            raise LatexError(f"{name}: expected a matrix of points, got {self.notation.points[name.rstrip(chr(39))]}")
        return rows

    def point(self, name: str, at: Variable) -> Value:
        """Return the value of a bound name: an index, or the point of that number."""
        return support(self._rows(name), at) if name.rstrip("'") in self.notation.points else scalar(at)

    # ── sums, products, fractions ───────────────────────────────────────────────────────────────────────────────────

    def value(self, node: Node) -> Value:
        """Return the value of a part of a formula; raises LatexError if it has no meaning here."""
        match node:
            case Number(text):
                return scalar(sp.Rational(text))
            case Sum(terms):
                return self._sum(terms)
            case Product(factors):
                return self.product(factors)
            case Fraction(over, under):
                return self._fraction(over, under)
            case Root(inside):
                return entrywise(functions.requiring(self, sp.sqrt, Sense.NONNEGATIVE), self.value(inside), what="square root")
            case Bracket():
                return self._bracket(node)
            case At(inside, where):
                return self._at(inside, where)
            case Symbol() | Scripted():
                return self.product((node,))
            case Cases():
                return cases.cases(self, node)
            case Listing():
                raise LatexError(f"expected one expression, got several: {spelled(node)}")
            case Chain():
                raise LatexError(f"expected an expression, got a relation: {spelled(node)}")
        raise LatexError(f"expected an expression, got {spelled(node)}")

    def _sum(self, terms: Sequence[tuple[str, Node]]) -> Value:
        result: Value | None = None
        for sign, term in terms:
            value, factor = self.value(term), -1 if sign == "-" else 1
            if result is None:
                result = value if factor == 1 else entrywise(lambda x: -x, value, what="sum")
            else:
                result = plus(result, value, factor)
        assert result is not None
        return result

    def _bracket(self, node: Bracket) -> Value:
        if node.kind == "<>":
            return operators.inner_product(self, node.inside)
        if node.kind == "‖‖":
            return operators.norm_power(self, node, None, None)
        if node.kind == "||":
            return entrywise(sp.Abs, self.value(node.inside), what="absolute value")
        if isinstance(node.inside, Listing):
            raise LatexError(f"expected one expression in brackets, got {spelled(node)}")
        if node.kind == "[]" and isinstance(node.inside, Chain):
            return operators.indicator(self, node.inside)  # Iverson's bracket
        return self.value(node.inside)

    def _at(self, inside: Node, where: Chain) -> Value:
        """Read f|_{x = y}: differentiate first, then substitute y for x."""
        if where.signs != ("=",) or where.parts[0] is None or where.parts[1] is None:
            raise LatexError(f"expected x = y below the bar, got {spelled(where)}")
        return derivatives.put_at(self.value(inside), self.value(where.parts[0]), self.value(where.parts[1]))

    def _fraction(self, over: Node, under: Node) -> Value:
        if derivatives.is_derivative(self, over, under):
            assert isinstance(over, Product)
            return derivatives.slopes(self, over.factors[0], under, self.product(over.factors[1:]))
        return self._divided(self.value(over), self.value(under), f"\\frac{{{spelled(over)}}}{{{spelled(under)}}}")

    def _divided(self, over: Value, under: Value, what: str) -> Value:
        if under.shape:
            raise LatexError(f"{what}: expected a number below, got {under.words}")
        return Value(over.shape, lambda *indices: quotient(at(over, indices), under.number), over.row)

    # ── products ────────────────────────────────────────────────────────────────────────────────────────────────────

    def product(self, factors: Sequence[Node]) -> Value:
        """Return the value of a product: operators apply to what follows them, other factors are multiplied."""
        result: Value | None = None
        rest = derivatives.inline(factors)
        while rest:
            if isinstance(operator := rest[0], Operator):
                rest.pop(0)
                sign = operator.sign
                if not rest or result is None:
                    raise LatexError(f"expected a factor on each side of {sign}, got one")
                if sign not in ("/", "\\odot", "\\circ", *TIMES):
                    raise LatexError(f"expected +, −, / or a product, got {sign}")
                if sign == "/":
                    result = self._divided(result, self._divisor(rest, factors), spelled(Product(tuple(factors))))
                    continue
                value = self.next(rest)
                dotted = sign == "\\cdot" and len(result.shape) == 1 and len(value.shape) == 1
                if sign in ("\\odot", "\\circ"):
                    result = entrywise(product, result, value, what=sign)
                else:
                    result = inner(result, value) if dotted else times(result, value, spelled(Product(tuple(factors))))
                continue
            value = self.next(rest)
            result = value if result is None else times(result, value, spelled(Product(tuple(factors))))
        if result is None:
            raise LatexError("missing expression")
        return result

    def _divisor(self, rest: list[Node], factors: Sequence[Node]) -> Value:
        """Return the divisor after a slash: one factor, or all that an operator such as a sum applies to."""
        first, before = rest[0], len(rest)
        value = self.next(rest)
        count = before - len(rest)
        half = isinstance(first, Number) and rest and (starts_function(rest[0]) or _is_norm(rest[0]))
        unbracketed = not isinstance(first, Bracket) and not half and count == 1
        if rest and not isinstance(rest[0], Operator) and unbracketed:
            text = spelled(Product(tuple(factors)))
            after = spelled(Product((first, *rest)))
            raise LatexError(
                f"{text}: a slash before a product can mean a/({after}) or (a/{spelled(first)}) times the rest; "
                "expected \\frac or parentheses"
            )
        return value

    def next(self, rest: list[Node]) -> Value:  # noqa: C901
        """Return the value of the next factor with the later factors it applies to, and remove all of them."""
        first = rest.pop(0)
        base, sub, sup, primes = (
            (first.base, first.sub, first.sup, first.primes) if isinstance(first, Scripted) else (first, None, None, 0)
        )
        if isinstance(base, Symbol):
            pair = f"{spelled(first)} {spelled(rest[0])}" if rest else ""
            if pair in self.notation.meanings:  # \\cos\\gamma as one symbol
                del rest[0]
                return symbols.meant(self, pair, self.notation.meanings[pair], rest)
            if base.name in sums.BIG:
                return (sums.big_sum if base.name == "\\sum" else sums.big_product)(self, sub, sup, rest)
            if base.name == "\\int" and (integral := sums.integral(self, rest)) is not None:
                return integral
            if base.name in functions.FUNCTIONS and sub is not None:
                raise LatexError(f"{spelled(first)}: expected the natural logarithm or exponential, got a subscript")
            if base.name in functions.FUNCTIONS:
                return functions.apply(self, base.name, sup, rest)
            if base.name == "\\nabla":
                return derivatives.nabla(self, sub, sup, rest)
            if base.name in PARTIAL and sub is not None and base.name == "\\partial":
                by = self.product((sub,))
                if sup is not None and spelled(sup) != "2":
                    raise LatexError(f"{spelled(first)}: expected no power or 2, got {spelled(sup)}")
                body = derivatives.slope(derivatives.operand(self, first, rest), by)
                return body if sup is None else derivatives.slope(body, by)
            if base.name in ("\\max", "\\min") and sub is None and sup is None:
                return operators.extreme(self, base.name, rest)
            if base.name in ("\\max", "\\min"):
                raise LatexError(
                    f"{spelled(first)}: expected a maximum that is bounded above or a minimum bounded below as a term of an "
                    "inequality, or \\max and \\min of two numbers in parentheses"
                )
            if base.name in UNREAD:
                raise LatexError(f"expected sums, logarithms, exponentials, powers and derivatives, got {base.name}")
            if base.name == "e" and sub is None and sup is not None and (self.meaning("e") is None or self.is_index("e")):
                return entrywise(sp.exp, self.value(sup), what="exp")
            if base.name == "\\delta" and sub is not None and len(index_parts(sub)) == 2 and self.is_number("\\delta"):
                return operators.apply(self, "delta", sub, sup, rest)  # δ_ij is Kronecker's, whatever number δ is
            return symbols.symbol(self, first, base, sub, sup, primes, rest)
        if (
            isinstance(base, Fraction)
            and derivatives.is_derivative(self, base.over, base.under)
            and isinstance(base.over, Symbol | Scripted)
        ):
            return derivatives.slopes(self, base.over, base.under, derivatives.operand(self, first, rest))
        ahead = sub if sub is not None else rest[0] if rest and isinstance(rest[0], Bracket) else None
        if base == Number("1") and sup is None and (stated := operators.condition(ahead)):
            del rest[: 1 if sub is None else 0]
            return operators.indicator(self, stated)  # 1{i = j}
        if isinstance(base, Bracket) and base.kind == "‖‖" and sup is not None:
            return operators.norm_power(self, base, sub, sup)
        if isinstance(base, Bracket) and sub is not None and spelled(sub) == "+":
            return self.scripts(entrywise(positive_part, self.value(base), what="positive part"), None, sup, spelled(first))
        if isinstance(base, Bracket) and base.kind == "‖‖" and sub is not None:
            return operators.norm_power(self, base, sub, None)
        if isinstance(base, Bracket) and base.kind == "||" and sub is None and sup == Number("2"):
            inside = self.value(base.inside)
            if len(inside.shape) == 1:
                return operators.squared_norm(inside)  # |x|² of a vector
        if isinstance(base, Bracket) and base.kind == "[]" and sub is not None and not isinstance(base.inside, Listing):
            upper = sup if isinstance(sub, Chain) else None
            return self.scripts(self._entries(base.inside, sub, upper), None, None if upper else sup, spelled(first))
        if isinstance(base, Bracket) and base.kind == "<>" and spelled(sub) in ("F", "l^{2}", "2"):
            return self.scripts(self.value(base), None, sup, spelled(first))
        value = self.scripts(self.value(base), sub, None, spelled(first))
        return value if sup is None else self.power(value, sup, spelled(first))

    def _entries(self, body: Node, sub: Node, sup: Node | None) -> Value:
        """[x_j]_j and [x_j]_{j=1}^m: the vector of these numbers."""
        name = spelled(sub.parts[0] if isinstance(sub, Chain) else sub)
        vector = None if isinstance(sub, Chain) or name in self.scope else self._vector(body)
        if vector is not None:
            return self.scripts(vector, sub, None, f"[…]_{name}")  # an entry of a vector
        over = index(plain(name), self.index_of(name, "[…]").domain.shape[0])
        if sup is not None and self.value(sup).number != over.domain.shape[0]:
            raise LatexError(f"[…]: expected entries up to {over.domain.shape[0]}, got {spelled(sup)}")
        inside = self.within(**{name: scalar(over)}).value(body)
        return Value(over.domain.shape, lambda i: inside.number.xreplace({over: i}))

    def _vector(self, body: Node) -> Value | None:
        """A vector that is written without an index; None for a number."""
        value = replace(self, free=dict(self.free)).value(body)  # a free index here is bound there
        return value if value.shape else None

    # ── scripts ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def subscript(self, node: Node, size: sp.Expr | None = None) -> sp.Expr:
        """Return the index that a subscript names; a free one runs over the axis that it indexes."""
        if isinstance(node, Number) and node.text.isdigit() and int(node.text) >= 1:
            return sp.Integer(node.text)
        if isinstance(node, Sum):
            return self.value(node).number
        if isinstance(node, Scripted) and node.sub is not None and spelled(node.base) in self.notation.points:
            return self.subscript(node.sub, size)  # u(t_i), at the point of number i
        name = spelled(node)
        pointed = name.rstrip("'") in self.notation.points
        if size is not None and name not in self.scope and not pointed and self.may_index(name):
            return self.free.setdefault(name, self.index_over(name, size))
        if name not in self.scope and not pointed and name.rstrip("'") in self.notation.indices:
            return self.free.setdefault(name, self.index_of(name, f"subscript {name}"))
        meaning = self.meaning(name)
        if isinstance(meaning, Support) and meaning.at is not None:
            return meaning.at
        if isinstance(meaning, Value) and not meaning.shape and isinstance(meaning.entry(), Variable):
            variable = meaning.entry()
            if variable.domain.is_index:
                return variable
        return self.index_of(name, f"subscript {name}")

    def may_index(self, name: str) -> bool:
        """Return whether a name may be a free index: a declared one, or a letter not declared as a number."""
        letter = name.rstrip("'")
        return letter in self.notation.indices or (len(letter) == 1 and letter.islower() and not self.is_number(letter))

    def is_index(self, name: str) -> bool:
        """Return whether a name stands for an index here: of e^{x_e}, the first e is Euler's number."""
        return is_index(self.scope[name]) if name in self.scope else name in self.notation.indices

    def is_number(self, name: str) -> bool:
        """Return whether the notation declares a name as a number."""
        meaning = self.notation.meanings.get(name)
        return isinstance(meaning, Value) and not meaning.shape

    def index_over(self, name: str, size: sp.Expr) -> Variable:
        """Return an index over a size, the declared one if it has that range."""
        declared = self.notation.indices.get(name)
        return declared if declared is not None and declared.domain.shape[0] == size else index(plain(name), size)

    def scripts(self, value: Value, sub: Node | None, sup: Node | None, what: str) -> Value:
        """Apply subscripts, then a power, to a value."""
        if sub is not None:
            nodes = index_parts(sub)
            if isinstance(sub, Number) and len(sub.text) > 1 and len(value.shape) > 1:
                raise LatexError(f"{what}: expected commas between indices, as {sub.text} can be one number or several")
            if len(nodes) > len(value.shape):
                raise LatexError(f"{what}: expected at most {len(value.shape)} indices of {value.words}, got {len(nodes)}")
            indices = tuple(self.subscript(node, size) for node, size in zip(nodes, value.shape, strict=False))
            check_ranges(value, indices, what)
            value = _part(value, indices)
        if sup is None:
            return value
        name = spelled(sup)
        number = self.scope.get(name)
        if isinstance(sup, Bracket) or name in self.notation.indices or is_index(number):
            raise LatexError(
                f"{what}: expected a power such as (…)^{{{name}}}, since the superscript {name} can be a label, the order of a "
                "derivative or a power"
            )
        return self.power(value, sup, what)

    def power(self, value: Value, sup: Node, what: str) -> Value:
        """Raise a value to a power entry by entry, or transpose it."""
        if spelled(sup) in TRANSPOSED and (value.shape or spelled(sup) in ("\\top", "\\intercal", "\\mathsf{T}")):
            return transposed(value)
        if isinstance(sup, Bracket) and isinstance(sup.inside, Symbol) and len(sup.inside.name) == 1:
            raise LatexError(
                f"{what}^{spelled(sup)}: can be a power or the number of one of several; expected a power "
                "without parentheses, or a symbol of the notation"
            )
        exponent = self.value(sup).number
        if len(value.shape) == 2:
            raise LatexError(f"{what}: expected a number or a vector to the power {spelled(sup)}, got {value.words}")
        return entrywise(lambda x: power(x, exponent), value, what=what)


def _is_norm(node: Node) -> bool:
    base = node.base if isinstance(node, Scripted) else node
    return isinstance(base, Bracket) and base.kind == "‖‖"


def _part(value: Value, indices: Sequence[sp.Expr]) -> Value:
    return Value(value.shape[len(indices) :], lambda *more: value.entry(*indices, *more))
