"""From a tree to values: every symbol means what the notation declares, and matrix notation becomes entries.

What can be read in two ways is an error that shows both readings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import sympy as sp

from derivations.calculus.functions import derivative
from derivations.calculus.powers import plus as positive_part
from derivations.calculus.sums import total
from derivations.calculus.variables import Kind, Variable, fresh, index
from derivations.latex import operators
from derivations.latex.notation import Definition, Meaning, Named, Notation, index_parts, parts, plain
from derivations.latex.syntax import (
    EMPTY,
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
from derivations.latex.values import Value, at, bound, entrywise, plus, product_of, scalar, times, transposed

BIG = ("\\sum",)
UNREAD = ("\\int", "\\prod", "\\lim", "\\sup", "\\inf", "\\bigcup", "\\bigcap", "\\infty", "\\dots", "\\ldots", "\\cdots",
          "\\arg")
FUNCTIONS = {"\\exp": sp.exp, "\\log": sp.log, "\\ln": sp.log, "\\mathrm{ln}": sp.log, "\\mathrm{log}": sp.log,
             "\\mathrm{exp}": sp.exp}
TRANSPOSED = ("\\top", "T", "\\mathrm{T}", "\\intercal", "\\mathsf{T}")
PARTIAL = ("\\partial", "d", "\\mathrm{d}")
TIMES = ("\\cdot", "\\times", "*")


@dataclass(frozen=True)
class Reader:
    """Reads parts of a formula; `scope` holds what indices and arguments stand for at this place."""

    notation: Notation
    scope: Mapping[str, Value] = field(default_factory=dict)

    def within(self, **names: Value) -> Reader:
        """The reader where some names stand for something else."""
        return replace(self, scope={**self.scope, **names})

    # ── names ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def meaning(self, name: str) -> Meaning | None:
        """What a name stands for here; None for one that is not declared."""
        if name in self.scope:
            return self.scope[name]
        if name in self.notation.meanings:
            return self.notation.meanings[name]
        if name in self.notation.indices:
            return scalar(self.notation.indices[name])
        if name in self.notation.broken:
            raise LatexError(self.notation.broken[name])
        return operators.DEFAULT.get(name)

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
        if node.kind == "||":
            return entrywise(lambda x: positive_part(x) + positive_part(-x), self.value(node.inside), what="absolute value")
        if isinstance(node.inside, Listing):
            raise LatexError(f"expected one expression in brackets, got {spelled(node)}")
        return self.value(node.inside)

    def _fraction(self, over: Node, under: Node) -> Value:
        if self._is_derivative(over, under):
            assert isinstance(over, Product)
            return self._slopes(under, self.product(over.factors[1:]))
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
            raise LatexError(f"{whole}: a slash before a product can mean a/({after}) or (a/{spelled(first)}) times the rest; "
                             "expected \\frac or parentheses")
        return value

    def next(self, rest: list[Node]) -> Value:
        """The value of the next factor, together with what it takes of those after it, which are removed."""
        first = rest.pop(0)
        base, sub, sup, primes = (first.base, first.sub, first.sup, first.primes) if isinstance(first, Scripted) else (
            first, None, None, 0)
        if isinstance(base, Symbol):
            if base.name in BIG:
                return self._big_sum(sub, sup, rest)
            if base.name in FUNCTIONS:
                return self._function(base.name, sup, rest)
            if base.name == "\\nabla":
                return self._nabla(sub, sup, rest)
            if base.name in PARTIAL and sub is not None and base.name == "\\partial":
                by = self.product((sub,))
                return _slope(self._operand(first, rest), by)
            if base.name in ("\\max", "\\min") and sub is None:
                return operators.extreme(self, base.name, rest)
            if base.name in UNREAD or (base.name in ("\\max", "\\min")):
                raise LatexError(f"expected sums, logarithms, exponentials, powers and derivatives, got {base.name}")
            if base.name == "e" and sup is not None and self.meaning("e") is None:
                return entrywise(sp.exp, self.value(sup), what="exp")
            return self._symbol(first, base, sub, sup, primes, rest)
        if isinstance(base, Fraction) and self._is_derivative(base.over, base.under) and _is_operator(base.over):
            return self._slopes(base.under, self._operand(first, rest))
        if isinstance(base, Bracket) and base.kind == "‖‖" and sup is not None:
            return operators.norm_power(self, base, sub, sup)
        if isinstance(base, Bracket) and sub is not None and spelled(sub) == "+":
            return self._scripts(entrywise(positive_part, self.value(base), what="positive part"), None, sup, spelled(first))
        if isinstance(base, Bracket) and base.kind == "‖‖" and sub is not None:
            return operators.norm_power(self, base, sub, None)
        return self._scripts(self.value(base), sub, sup, spelled(first))

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
            return self._scripts(scalar(sp.E), None, sup, spelled(whole))
        if base.name == "\\pi":
            return self._scripts(scalar(sp.pi), sub, sup, spelled(whole))
        raise LatexError(f"{spelled(whole)}: expected a symbol of the notation, got one that it does not declare")

    def _meant(self, name: str, meaning: Meaning, sub: Node | None, sup: Node | None, rest: list[Node]) -> Value:
        if isinstance(meaning, str):
            return operators.apply(self, meaning, sub, sup, rest)
        if isinstance(meaning, Definition):
            return self._defined(meaning, sub, sup, rest)
        if isinstance(meaning, Named):
            return self._named(name, meaning, sub, sup, rest)
        if rest and isinstance(rest[0], Bracket) and rest[0].kind == "()" and meaning.shape and self._all_indices(rest[0]):
            bracket = rest.pop(0)
            assert isinstance(bracket, Bracket)
            return self._scripts(meaning, bracket.inside, sup, name)
        return self._scripts(meaning, sub, sup, name)

    def _all_indices(self, bracket: Bracket) -> bool:
        """Whether an argument list consists of indices: u(i) is an entry of u."""
        return all(spelled(part).rstrip("'") in self.notation.indices for part in parts(bracket.inside))

    def _named(self, name: str, meaning: Named, sub: Node | None, sup: Node | None, rest: list[Node]) -> Value:
        """A function of indices: with arguments a number, without them all its values."""
        if not (rest and isinstance(rest[0], Bracket) and rest[0].kind == "()"):
            return self._scripts(meaning.value, sub, sup, name)
        bracket = rest.pop(0)
        assert isinstance(bracket, Bracket)
        given = parts(bracket.inside)
        if len(given) != len(meaning.arguments):
            raise LatexError(f"{name}: expected arguments ({', '.join(meaning.arguments)}), got {spelled(bracket)}")
        places = [part for part, argument in zip(given, meaning.arguments, strict=True) if argument in meaning.axes]
        if any(spelled(part) in ("\\cdot", "·") for part in places):
            if len(places) > 1:
                raise LatexError(f"{name}: expected one free argument at most, got {spelled(bracket)}")
            return self._scripts(meaning.value, None, sup, name)
        return self._scripts(scalar(meaning.value.entry(*map(self.place, places))), None, sup, name)

    def _defined(self, meaning: Definition, sub: Node | None, sup: Node | None, rest: list[Node]) -> Value:
        """A defined symbol at its arguments; without them at the symbols in which it is defined."""
        shown, reader = meaning.pattern, self
        if shown.arguments and rest and isinstance(rest[0], Bracket) and rest[0].kind == "()":
            bracket = rest.pop(0)
            assert isinstance(bracket, Bracket)
            given = parts(bracket.inside)
            if len(given) != len(shown.arguments):
                raise LatexError(f"{shown.name}: expected arguments ({', '.join(shown.arguments)}), got {spelled(bracket)}")
            reader = Reader(self.notation).within(**{
                name: self.value(part) for name, part in zip(shown.arguments, given, strict=True)})
        else:
            reader = Reader(self.notation)
        if not shown.indices:
            return self._scripts(reader.value(meaning.body), sub, sup, shown.name)
        over = tuple(reader.index_of(name, shown.name) for name in shown.indices)
        inside = reader.within(**{name: scalar(each) for name, each in zip(shown.indices, over, strict=True)})
        body = inside.value(meaning.body)

        def entry(*places: sp.Expr) -> sp.Expr:
            own = dict(zip(over, places[:len(over)], strict=True))
            return put(body.entry(*places[len(over):]), own)

        value = Value((*(each.domain.shape[0] for each in over), *body.shape), entry)
        return self._scripts(value, sub, sup, shown.name)

    # ── scripts ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def place(self, node: Node) -> sp.Expr:
        """The index that a subscript names."""
        if isinstance(node, Number) and node.text.isdigit() and int(node.text) >= 1:
            return sp.Integer(node.text)
        name = spelled(node)
        meaning = self.meaning(name)
        if isinstance(meaning, Value) and not meaning.shape and isinstance(meaning.entry(), Variable):
            variable = meaning.entry()
            if variable.domain.kind is Kind.INDEX:
                return variable
        return self.index_of(name, f"subscript {name}")

    def _scripts(self, value: Value, sub: Node | None, sup: Node | None, what: str) -> Value:
        """A value with its indices, then with its power."""
        if sub is not None:
            places = tuple(map(self.place, index_parts(sub)))
            if len(places) > len(value.shape):
                raise LatexError(f"{what}: expected at most {len(value.shape)} indices of {value.words}, got {len(places)}")
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

    def _big_sum(self, sub: Node | None, sup: Node | None, rest: list[Node]) -> Value:
        bindings = self.bindings(sub, sup)
        reader = self.within(**{name: scalar(each) for name, (each, _) in bindings.items()})
        body = reader.product(_taken(rest))
        over = tuple(each for each, _ in bindings.values())
        return Value(body.shape, lambda *places: total(over, product_of(sp.Mul.make_args(body.entry(*places)))), body.row)

    def bindings(self, sub: Node | None, sup: Node | None) -> dict[str, tuple[Variable, str]]:
        """The indices that a sum binds, each with its printed name: j, i = 1, i, j, j ≠ i."""
        if sub is None:
            raise LatexError("\\sum: expected an index below, got none")
        excluded: tuple[Variable, ...] = ()
        if isinstance(sub, Chain) and sub.signs[0] in ("\\ne", "\\neq"):
            name, other = spelled(sub.parts[0]), sub.parts[1]
            assert other is not None
            own, apart = self.index_of(name, "\\sum"), self.place(other)
            assert isinstance(apart, Variable)
            excluded = (apart,)
            return {name: (index(plain(name), own.domain.shape[0], other_than=excluded), name)}
        if isinstance(sub, Chain) and sub.signs == ("=",):
            return {spelled(sub.parts[0]): (self._ranged(sub, sup), spelled(sub.parts[0]))}
        if isinstance(sub, Chain) and sub.signs == ("\\in",):
            sub = sub.parts[0] or EMPTY
        return {spelled(part): (self.index_of(spelled(part), "\\sum"), spelled(part)) for part in index_parts(sub)}

    def _ranged(self, sub: Chain, sup: Node | None) -> Variable:
        name, low = spelled(sub.parts[0]), spelled(sub.parts[1])
        if low != "1" or sup is None:
            raise LatexError(f"\\sum: expected a sum from 1 to a size, got {name} from {low} to {spelled(sup) or 'nothing'}")
        high = self.value(sup).number
        if high not in self.notation.sizes.values() and not high.is_Integer:
            raise LatexError(f"\\sum: expected a size of the notation above, got {spelled(sup)}")
        declared = self.notation.indices.get(name)
        return declared if declared is not None and declared.domain.shape[0] == high else index(plain(name), high)

    def _function(self, name: str, sup: Node | None, rest: list[Node]) -> Value:
        """A function with or without parentheses; without them it takes one factor, or all that an operator takes."""
        if not rest:
            raise LatexError(f"{name}: expected an argument, got none")
        function, first, before = FUNCTIONS[name], rest[0], len(rest)
        value = self.next(rest)
        bracketed = isinstance(first, Bracket) or (isinstance(first, Scripted) and isinstance(first.base, Bracket))
        after = next((node for node in rest if not isinstance(node, Operator)), None)
        if after is not None and not bracketed and before - len(rest) == 1 and not _starts_function(after) and not isinstance(
                rest[0], Operator):
            raise LatexError(f"{name} {spelled(first)} {spelled(rest[0])}: expected parentheses, as it can mean "
                             f"{name}({spelled(first)}) {spelled(rest[0])} or {name}({spelled(first)} {spelled(rest[0])})")
        found = entrywise(function, value, what=name)
        return self._scripts(found, None, sup, name) if sup else found

    def _nabla(self, sub: Node | None, sup: Node | None, rest: list[Node]) -> Value:
        twice = sup is not None and spelled(sup) == "2"
        if not rest:
            raise LatexError("\\nabla: expected a function after it, got nothing")
        if sub is None:
            sub = self._only_argument(rest[0])
        by = self.product((sub,))
        if sup is not None and not twice:
            raise LatexError(f"\\nabla: expected no power or 2, got {spelled(sup)}")
        body = self._operand(Symbol("\\nabla"), rest)
        slope = _slope(body, by)
        return _slope(slope, by) if twice else slope

    def _only_argument(self, first: Node) -> Node:
        meaning = self.meaning(spelled(first))
        if isinstance(meaning, Definition) and len(meaning.pattern.arguments) == 1:
            return Symbol(meaning.pattern.arguments[0])
        raise LatexError(f"\\nabla: expected a variable as subscript, since {spelled(first)} is no function of one argument")

    def _is_derivative(self, over: Node, under: Node) -> bool:
        first = under.factors[0] if isinstance(under, Product) else under
        name = spelled(first)
        top = over.factors[0] if isinstance(over, Product) else over
        plain_top = spelled(top.base) if isinstance(top, Scripted) else spelled(top)
        return name in PARTIAL and plain_top == name and isinstance(under, Product) and (
            name == "\\partial" or self.meaning(name) is None)

    def _operand(self, operator: Node, rest: list[Node]) -> Value:
        """What a derivative is taken of: one factor; more of them are ambiguous, but for those of a next derivative."""
        if not rest:
            raise LatexError(f"{spelled(operator)}: expected a function after it, got nothing")
        first = rest[0]
        body = self.next(rest)
        if rest and not isinstance(rest[0], Operator) and not _starts_function(rest[0]) and not isinstance(first, Bracket):
            one, other = spelled(first), spelled(rest[0])
            raise LatexError(f"{spelled(operator)} {one} {other}: expected parentheses, as the derivative can be that of {one} "
                             f"or that of {one} {other}")
        return body

    def _slopes(self, under: Node, body: Value) -> Value:
        """∂f/∂x, ∂²f/∂x∂y."""
        for by in self._moving(under):
            body = _slope(body, by)
        return body

    def _moving(self, under: Node) -> list[Value]:
        assert isinstance(under, Product)
        moving: list[Value] = []
        for node in under.factors:
            if spelled(node) in PARTIAL:
                continue
            times_ = 1
            if isinstance(node, Scripted) and node.sup is not None and spelled(node.sup) == "2":
                node, times_ = Scripted(node.base, node.sub, None, node.primes) if node.sub else node.base, 2
            moving += [self.product((node,))] * times_
        return moving


def _is_operator(over: Node) -> bool:
    return not isinstance(over, Product)


def _taken(rest: list[Node]) -> tuple[Node, ...]:
    """All that is left of a product, which an operator takes."""
    taken = tuple(rest)
    rest.clear()
    return taken


def _starts_function(node: Node) -> bool:
    base = node.base if isinstance(node, Scripted) else node
    if isinstance(base, Fraction):
        return _is_operator(base.over) and spelled(base.over) in PARTIAL
    return isinstance(base, Symbol) and (base.name in FUNCTIONS or base.name in (*BIG, "\\nabla", "\\partial"))


def _ratio(over: sp.Expr, under: sp.Expr) -> sp.Expr:
    return over / under


def put(expr: sp.Expr, own: Mapping[Variable, sp.Expr]) -> sp.Expr:
    """An expression with other indices in place of its own; derivatives and sums keep theirs apart."""
    return expr.xreplace({old: new for old, new in own.items() if old != new})


def _part(value: Value, places: Sequence[sp.Expr]) -> Value:
    return Value(value.shape[len(places):], lambda *more: value.entry(*places, *more))


def _check_ranges(value: Value, places: Sequence[sp.Expr], what: str) -> None:
    for size, place in zip(value.shape, places, strict=False):
        if isinstance(place, Variable) and size is not None and place.domain.shape[0] != size:
            raise LatexError(f"{what}: expected an index over {size}, got {place.name}, which runs over {place.domain.shape[0]}")


def _slope(body: Value, by: Value) -> Value:
    """The derivative by a variable, an entry, or by each entry of a vector, which adds an axis."""
    if not by.shape:
        return Value(body.shape, lambda *places: derivative(at(body, places), by.number))
    if len(by.shape) != 1:
        raise LatexError(f"derivative: expected a number or a vector, got {by.words}")
    return Value((*body.shape, *by.shape), lambda *places: derivative(at(body, places[:-1]), by.entry(places[-1])))


__all__ = ["Reader", "bound", "fresh"]
