"""From a tree to values: every symbol means what the notation declares, and matrix notation becomes entries.

What can be read in two ways is an error that shows both readings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import sympy as sp

from derivations.calculus.powers import plus as positive_part
from derivations.calculus.variables import Kind, Variable, index
from derivations.latex import derivatives, operators, sums
from derivations.latex.derivatives import PARTIAL, TRANSPOSED, starts_function
from derivations.latex.notation import Definition, Meaning, Named, Notation, index_parts, parts, plain
from derivations.latex.syntax import (
    Bracket,
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
from derivations.latex.values import RangeError, Value, at, bound, entrywise, fits, plus, scalar, times, transposed

BIG = ("\\sum",)
UNREAD = (
    "\\int",
    "\\prod",
    "\\lim",
    "\\sup",
    "\\inf",
    "\\bigcup",
    "\\bigcap",
    "\\infty",
    "\\dots",
    "\\ldots",
    "\\cdots",
    "\\arg",
)
FUNCTIONS = {
    "\\exp": sp.exp,
    "\\log": sp.log,
    "\\ln": sp.log,
    "\\mathrm{ln}": sp.log,
    "\\mathrm{log}": sp.log,
    "\\mathrm{exp}": sp.exp,
}
TIMES = ("\\cdot", "\\times", "*")


@dataclass(frozen=True)
class Reader:
    """Reads parts of a formula; `scope` holds what indices and arguments stand for at this place.

    `free` holds the free indices of the formula: a letter runs over what it first indexes, everywhere.
    """

    notation: Notation
    scope: Mapping[str, Value] = field(default_factory=dict)
    free: dict[str, Variable] = field(default_factory=dict)

    def within(self, **names: Value) -> Reader:
        """The reader where some names stand for something else."""
        return replace(self, scope={**self.scope, **names})

    # ── names ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def meaning(self, name: str) -> Meaning | None:
        """What a name stands for here; None for one that is not declared."""
        if name in self.scope:
            return self.scope[name]
        if name in self.notation.meanings:
            return self._conditional(self.notation.meanings[name])
        if name in self.notation.indices:
            return scalar(self.notation.indices[name])
        if name in self.notation.broken:
            raise LatexError(self.notation.broken[name])
        return operators.DEFAULT.get(name)

    def _conditional(self, meaning: Meaning) -> Meaning:
        """A definition in an index and in labels, p(y | x), as a function of the index."""
        if not isinstance(meaning, Definition) or meaning.pattern.indices:
            return meaning
        axes = [each for each in meaning.pattern.arguments if each in self.notation.indices]
        if not axes or len(axes) == len(meaning.pattern.arguments):
            return meaning
        sizes = tuple(self.notation.indices[each].domain.shape[0] for each in axes)

        def entry(*places: sp.Expr) -> sp.Expr:
            own = {name: scalar(place) for name, place in zip(axes, places, strict=True)}
            return Reader(self.notation, free={}).within(**own).value(meaning.body).number

        return Named(meaning.pattern.arguments, Value(sizes, entry), tuple(axes))

    def index_of(self, name: str, what: str) -> Variable:
        """The index that a name stands for, over its whole range."""
        if name.rstrip("'") in self.notation.indices:
            declared = self.notation.indices[name.rstrip("'")]
            return declared if name in self.notation.indices else index(plain(name), declared.domain.shape[0])
        raise LatexError(f"{what}: expected an index of the notation, got {name}")

    # ── sums, products, fractions ───────────────────────────────────────────────────────────────────────────────────

    def value(self, node: Node) -> Value:
        """What a part of a formula stands for; raises LatexError for what has no meaning here."""
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
                return entrywise(sp.sqrt, self.value(inside), what="square root")
            case Bracket():
                return self._bracket(node)
            case Symbol() | Scripted():
                return self.product((node,))
            case Listing():
                raise LatexError(f"expected one expression, got several: {spelled(node)}")
            case Chain():
                raise LatexError(f"expected an expression, got a relation: {spelled(node)}")
        raise LatexError(f"expected an expression, got {spelled(node)}")

    def _sum(self, terms: Sequence[tuple[str, Node]]) -> Value:
        found: Value | None = None
        for sign, term in terms:
            value, factor = self.value(term), -1 if sign == "-" else 1
            if found is None:
                found = value if factor == 1 else entrywise(lambda x: -x, value, what="sum")
            else:
                found = plus(found, value, factor)
        assert found is not None
        return found

    def _bracket(self, node: Bracket) -> Value:
        if node.kind == "<>":
            return operators.inner_product(self, node.inside)
        if node.kind == "‖‖":
            return entrywise(sp.sqrt, operators.squared_norm(self.value(node.inside)), what="norm")
        if node.kind == "||" and spelled(node.inside) in self.notation.sizes:
            return scalar(self.notation.sizes[spelled(node.inside)])
        if node.kind == "||":
            return entrywise(sp.Abs, self.value(node.inside), what="absolute value")
        if isinstance(node.inside, Listing):
            raise LatexError(f"expected one expression in brackets, got {spelled(node)}")
        return self.value(node.inside)

    def _fraction(self, over: Node, under: Node) -> Value:
        if derivatives.is_derivative(self, over, under):
            assert isinstance(over, Product)
            return derivatives.slopes(self, under, self.product(over.factors[1:]))
        return self._divided(self.value(over), self.value(under), f"\\frac{{{spelled(over)}}}{{{spelled(under)}}}")

    def _divided(self, over: Value, under: Value, what: str) -> Value:
        if under.shape:
            raise LatexError(f"{what}: expected a number below, got {under.words}")
        return Value(over.shape, lambda *places: _ratio(at(over, places), under.number), over.row)

    # ── products ────────────────────────────────────────────────────────────────────────────────────────────────────

    def product(self, factors: Sequence[Node]) -> Value:
        """The value of factors in a row: operators take what follows them, the others are multiplied."""
        found: Value | None = None
        rest, divide, entries = list(factors), False, False
        while rest:
            if isinstance(rest[0], Operator):
                sign = rest.pop(0).sign  # type: ignore[attr-defined]
                if not rest or found is None:
                    raise LatexError(f"expected a factor on each side of {sign}, got one")
                divide, entries = sign == "/", sign in ("\\odot", "\\circ")
                if sign not in ("/", "\\odot", "\\circ", *TIMES):
                    raise LatexError(f"expected +, −, / or a product, got {sign}")
                if divide:
                    found = self._divided(found, self._divisor(rest, factors), spelled(Product(tuple(factors))))
                    continue
                value = self.next(rest)
                dotted = sign == "\\cdot" and len(found.shape) == 1 and len(value.shape) == 1
                if entries:
                    found = entrywise(sp.Mul, found, value, what=sign)
                else:
                    found = operators.inner(found, value) if dotted else times(found, value, spelled(Product(tuple(factors))))
                continue
            value = self.next(rest)
            found = value if found is None else times(found, value, spelled(Product(tuple(factors))))
        if found is None:
            raise LatexError("expected an expression, got nothing")
        return found

    def _divisor(self, rest: list[Node], factors: Sequence[Node]) -> Value:
        """What stands below a slash: one factor, or all that an operator such as a sum takes."""
        first, before = rest[0], len(rest)
        value = self.next(rest)
        taken = before - len(rest)
        if rest and not isinstance(rest[0], Operator) and not isinstance(first, Number | Bracket) and taken == 1:
            whole = spelled(Product(tuple(factors)))
            after = spelled(Product((first, *rest)))
            raise LatexError(
                f"{whole}: a slash before a product can mean a/({after}) or (a/{spelled(first)}) times the rest; "
                "expected \\frac or parentheses"
            )
        return value

    def next(self, rest: list[Node]) -> Value:
        """The value of the next factor, together with what it takes of those after it, which are removed."""
        first = rest.pop(0)
        base, sub, sup, primes = (
            (first.base, first.sub, first.sup, first.primes) if isinstance(first, Scripted) else (first, None, None, 0)
        )
        if isinstance(base, Symbol):
            if base.name in BIG:
                return sums.big_sum(self, sub, sup, rest)
            if base.name in FUNCTIONS:
                return self._function(base.name, sup, rest)
            if base.name == "\\nabla":
                return derivatives.nabla(self, sub, sup, rest)
            if base.name in PARTIAL and sub is not None and base.name == "\\partial":
                by = self.product((sub,))
                return derivatives.slope(derivatives.operand(self, first, rest), by)
            if base.name in ("\\max", "\\min") and sub is None:
                return operators.extreme(self, base.name, rest)
            if base.name in UNREAD or (base.name in ("\\max", "\\min")):
                raise LatexError(f"expected sums, logarithms, exponentials, powers and derivatives, got {base.name}")
            if base.name == "e" and sup is not None and self.meaning("e") is None:
                return entrywise(sp.exp, self.value(sup), what="exp")
            return self._symbol(first, base, sub, sup, primes, rest)
        if (
            isinstance(base, Fraction)
            and derivatives.is_derivative(self, base.over, base.under)
            and isinstance(base.over, Symbol)
        ):
            return derivatives.slopes(self, base.under, derivatives.operand(self, first, rest))
        if isinstance(base, Bracket) and base.kind == "‖‖" and sup is not None:
            return operators.norm_power(self, base, sub, sup)
        if isinstance(base, Bracket) and sub is not None and spelled(sub) == "+":
            return self.scripts(entrywise(positive_part, self.value(base), what="positive part"), None, sup, spelled(first))
        if isinstance(base, Bracket) and base.kind == "‖‖" and sub is not None:
            return operators.norm_power(self, base, sub, None)
        return self.scripts(self.value(base), sub, sup, spelled(first))

    # ── symbols ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _symbol(self, whole: Node, base: Symbol, sub: Node | None, sup: Node | None, primes: int, rest: list[Node]) -> Value:
        """The longest declared name of a symbol with its scripts, then its arguments, then the scripts that are left."""
        for kept_sub, kept_sup in ((sub, sup), (sub, None), (None, sup), (None, None)):
            scripted = Scripted(base, kept_sub, kept_sup, primes) if kept_sub or kept_sup or primes else base
            meaning = self.meaning(spelled(scripted))
            if meaning is not None:
                left_sub = sub if kept_sub is None else None
                left_sup = sup if kept_sup is None else None
                return self._meant(spelled(scripted), meaning, left_sub, left_sup, rest)
        if primes == 0 and sub is None and base.name == "e":
            return self.scripts(scalar(sp.E), None, sup, spelled(whole))
        if base.name == "\\pi":
            return self.scripts(scalar(sp.pi), sub, sup, spelled(whole))
        raise LatexError(f"{spelled(whole)}: expected a symbol of the notation, got one that it does not declare")

    def _meant(self, name: str, meaning: Meaning, sub: Node | None, sup: Node | None, rest: list[Node]) -> Value:
        if isinstance(meaning, str):
            return operators.apply(self, meaning, sub, sup, rest)
        if isinstance(meaning, Definition):
            return self._defined(meaning, sub, sup, rest)
        if isinstance(meaning, Named):
            return self._named(name, meaning, sub, sup, rest)
        declared = self.notation.meanings.get(name)
        if isinstance(declared, Named) and name in self.scope and fits(meaning.shape, declared.value.shape):
            return self._named(name, replace(declared, value=meaning), sub, sup, rest)
        if meaning.shape and sub is None and (call := _call(rest)) and self._all_indices(call[0]):
            rest.pop(0)
            return self.scripts(meaning, call[0].inside, sup or call[1], name)
        return self.scripts(meaning, sub, sup, name)

    def _all_indices(self, bracket: Bracket) -> bool:
        """Whether an argument list consists of indices: u(i) is an entry of u."""
        names = [spelled(part) for part in parts(bracket.inside)]
        return all(
            self._may_index(name) or isinstance(getattr(self.scope.get(name), "entry", str)(), Variable) for name in names
        )

    def _named(self, name: str, meaning: Named, sub: Node | None, sup: Node | None, rest: list[Node]) -> Value:
        """A function of indices: with arguments a number, without them all its values."""
        call = _call(rest)
        if call is None:
            return self.scripts(meaning.value, sub, sup, name)
        if sub is not None:
            raise LatexError(f"{name}_{{{spelled(sub)}}}: expected a symbol of the notation, got one that it does not declare")
        rest.pop(0)
        bracket, sup = call[0], sup or call[1]
        given = parts(bracket.inside)
        if len(given) != len(meaning.arguments):
            raise LatexError(f"{name}: expected arguments ({', '.join(meaning.arguments)}), got {spelled(bracket)}")
        places = [part for part, argument in zip(given, meaning.arguments, strict=True) if argument in meaning.axes]
        if any(spelled(part) in ("\\cdot", "·") for part in places):
            if len(places) > 1:
                raise LatexError(f"{name}: expected one free argument at most, got {spelled(bracket)}")
            return self.scripts(meaning.value, None, sup, name)
        sizes = meaning.value.shape
        where = [self.place(part, size) for part, size in zip(places, sizes, strict=True)]
        _check_ranges(meaning.value, where, name)
        return self.scripts(scalar(meaning.value.entry(*where)), None, sup, name)

    def _defined(self, meaning: Definition, sub: Node | None, sup: Node | None, rest: list[Node]) -> Value:
        """A defined symbol at its arguments; without them at the symbols in which it is defined."""
        shown, call = meaning.pattern, _call(rest)
        if shown.indices and not shown.arguments and sub is None and call and self._all_indices(call[0]):
            rest.pop(0)
            sub, sup = call[0].inside, sup or call[1]
        reader = Reader(self.notation, free={})
        if shown.arguments and call:
            rest.pop(0)
            sup = sup or call[1]
            reader = reader.within(**self._given(shown.name, shown.arguments, parts(call[0].inside)))
        if shown.subscripts and sub is not None:
            reader = reader.within(**self._given(shown.name, shown.subscripts, parts(sub)))
            sub = None
        if not shown.indices:
            return self.scripts(reader.value(meaning.body), sub, sup, shown.name)
        body = reader.value(meaning.body)
        body.entry(*(bound(axis) for axis in body.shape))  # which reads what is read late, and finds the ranges
        found = [reader.free.get(name) or reader.index_of(name, shown.name) for name in shown.indices]
        over = tuple(bound(each.domain.shape[0], plain(name)) for name, each in zip(shown.indices, found, strict=True))
        inside = reader.within(**{name: scalar(each) for name, each in zip(shown.indices, over, strict=True)})
        body = inside.value(meaning.body)

        def entry(*places: sp.Expr) -> sp.Expr:
            own = dict(zip(over, places[: len(over)], strict=True))
            return put(body.entry(*places[len(over) :]), own)

        value = Value((*(each.domain.shape[0] for each in over), *body.shape), entry)
        return self.scripts(value, sub, sup, shown.name)

    def _given(self, name: str, arguments: Sequence[str], given: Sequence[Node]) -> dict[str, Value]:
        """The values of a function's arguments by their names."""
        if len(given) != len(arguments):
            raise LatexError(f"{name}: expected arguments ({', '.join(arguments)}), got {', '.join(map(spelled, given))}")
        return {argument: self.value(part) for argument, part in zip(arguments, given, strict=True)}

    # ── scripts ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def place(self, node: Node, size: sp.Expr | None = None) -> sp.Expr:
        """The index that a subscript names; a free one runs over the axis that it indexes."""
        if isinstance(node, Number) and node.text.isdigit() and int(node.text) >= 1:
            return sp.Integer(node.text)
        if isinstance(node, Sum):
            return self.value(node).number
        name = spelled(node)
        if size is not None and name not in self.scope and self._may_index(name):
            return self.free.setdefault(name, self.index_over(name, size))
        meaning = self.meaning(name)
        if isinstance(meaning, Value) and not meaning.shape and isinstance(meaning.entry(), Variable):
            variable = meaning.entry()
            if variable.domain.kind is Kind.INDEX:
                return variable
        return self.index_of(name, f"subscript {name}")

    def _may_index(self, name: str) -> bool:
        """Whether a name may be a free index: one that the notation declares, or a letter that is no number there."""
        letter = name.rstrip("'")
        if letter in self.notation.indices:
            return True
        meaning = self.notation.meanings.get(letter)
        return len(letter) == 1 and letter.islower() and not (isinstance(meaning, Value) and not meaning.shape)

    def index_over(self, name: str, size: sp.Expr) -> Variable:
        """The index of a name over a size, the declared one where that fits."""
        declared = self.notation.indices.get(name)
        return declared if declared is not None and declared.domain.shape[0] == size else index(plain(name), size)

    def scripts(self, value: Value, sub: Node | None, sup: Node | None, what: str) -> Value:
        """A value with its indices, then with its power."""
        if sub is not None:
            nodes = index_parts(sub)
            if len(nodes) > len(value.shape):
                raise LatexError(f"{what}: expected at most {len(value.shape)} indices of {value.words}, got {len(nodes)}")
            places = tuple(self.place(node, size) for node, size in zip(nodes, value.shape, strict=False))
            _check_ranges(value, places, what)
            value = _part(value, places)
        if sup is None:
            return value
        if spelled(sup) in TRANSPOSED:
            return transposed(value)
        exponent = self.value(sup).number
        if len(value.shape) == 2:
            raise LatexError(f"{what}: expected a number or a vector to the power {spelled(sup)}, got {value.words}")
        return entrywise(lambda x: x**exponent, value, what=what)

    # ── operators ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _function(self, name: str, sup: Node | None, rest: list[Node]) -> Value:
        """A function with or without parentheses; without them it takes one factor, or all that an operator takes."""
        if not rest:
            raise LatexError(f"{name}: expected an argument, got none")
        function, first, before = FUNCTIONS[name], rest[0], len(rest)
        if (
            isinstance(first, Scripted)
            and isinstance(first.base, Bracket)
            and first.sup is not None
            and first.base.kind != "‖‖"
        ):
            inside, power = spelled(first.base), spelled(first.sup)
            raise LatexError(
                f"{name}{spelled(first)}: expected parentheses, as it can mean ({name}{inside})^{{{power}}} or "
                f"{name}({inside}^{{{power}}})"
            )
        value = self.next(rest)
        bracketed = isinstance(first, Bracket) or (isinstance(first, Scripted) and isinstance(first.base, Bracket))
        after = next((node for node in rest if not isinstance(node, Operator)), None)
        if (
            after is not None
            and not bracketed
            and before - len(rest) == 1
            and not starts_function(after)
            and not isinstance(rest[0], Operator)
        ):
            raise LatexError(
                f"{name} {spelled(first)} {spelled(rest[0])}: expected parentheses, as it can mean "
                f"{name}({spelled(first)}) {spelled(rest[0])} or {name}({spelled(first)} {spelled(rest[0])})"
            )
        found = entrywise(function, value, what=name)
        return self.scripts(found, None, sup, name) if sup else found


def _call(rest: Sequence[Node]) -> tuple[Bracket, Node | None] | None:
    """The parentheses that follow a symbol, with their power."""
    first = rest[0] if rest else None
    bracket, sup = (first.base, first.sup) if isinstance(first, Scripted) and first.sub is None else (first, None)
    return (bracket, sup) if isinstance(bracket, Bracket) and bracket.kind == "()" else None


def _taken(rest: list[Node]) -> tuple[Node, ...]:
    """All that is left of a product, which an operator takes."""
    taken = tuple(rest)
    rest.clear()
    return taken


def _ratio(over: sp.Expr, under: sp.Expr) -> sp.Expr:
    return over / under


def put(expr: sp.Expr, own: Mapping[Variable, sp.Expr]) -> sp.Expr:
    """An expression with other indices in place of its own; derivatives and sums keep theirs apart."""
    return expr.xreplace({old: new for old, new in own.items() if old != new})


def _part(value: Value, places: Sequence[sp.Expr]) -> Value:
    return Value(value.shape[len(places) :], lambda *more: value.entry(*places, *more))


def _check_ranges(value: Value, places: Sequence[sp.Expr], what: str) -> None:
    for size, place in zip(value.shape, places, strict=False):
        if isinstance(place, Variable) and size is not None and place.domain.shape[0] != size:
            raise RangeError(
                f"{what}: expected an index over {size}, got {place.name}, which runs over {place.domain.shape[0]}"
            )
