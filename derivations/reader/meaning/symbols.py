"""Read symbols with their scripts and arguments, as the notation declares them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import sympy as sp

from derivations.calculus.variables import Variable, Vector
from derivations.domains import Real
from derivations.reader.meaning import derivatives, operators
from derivations.reader.meaning.notation import Definition, Meaning, Named
from derivations.reader.meaning.reader import Reader
from derivations.reader.meaning.values import Size, Support, Value, bound, check_ranges, fits, is_index, scalar
from derivations.reader.syntax.names import index_parts, parts, plain
from derivations.reader.syntax.overloads import check_order
from derivations.reader.syntax.syntax import parse
from derivations.reader.syntax.tree import Bracket, LatexError, Listing, Node, Product, Scripted, Symbol, spelled, walk


def conditional(reader: Reader, meaning: Meaning) -> Meaning:
    """Read a definition with an index and labels, p(y | x), as a function of the index."""
    if not isinstance(meaning, Definition) or meaning.pattern.indices:
        return meaning
    axes = [each for each in meaning.pattern.arguments if each.rstrip("'") in reader.notation.indices]
    if not axes or len(axes) == len(meaning.pattern.arguments):
        return meaning
    sizes = tuple(reader.notation.indices[each.rstrip("'")].domain.shape[0] for each in axes)

    def entry(*indices: sp.Expr) -> sp.Expr:
        own = {name: scalar(i) for name, i in zip(axes, indices, strict=True)}
        return reader.fresh().within(**own).value(meaning.body).number

    return Named(meaning.pattern.arguments, Value(sizes, entry), tuple(axes))


def symbol(
    reader: Reader, node: Node, base: Symbol, sub: Node | None, sup: Node | None, primes: int, rest: list[Node]
) -> Value:
    """Match the longest declared name of a symbol with its scripts, then its arguments, then the remaining scripts."""
    for kept_sub, kept_sup in ((sub, sup), (sub, None), (None, sup), (None, None)):
        scripted = Scripted(base, kept_sub, kept_sup, primes) if kept_sub or kept_sup or primes else base
        call = _call(rest)
        meaning = reader.function(spelled(scripted), call[0]) if call else reader.meaning(spelled(scripted))
        if meaning is not None:
            if call and isinstance(meaning, Named | Definition):
                check_order(spelled(scripted), _letters(meaning), call[0])
            if kept_sub is not None and any(is_index(reader.scope.get(spelled(part))) for part in index_parts(kept_sub)):
                raise LatexError(f"{spelled(scripted)}: the subscript must be a bound index; here it is part of the name")
            left_sub = sub if kept_sub is None else None
            left_sup = sup if kept_sup is None else None
            return _meant(reader, spelled(scripted), meaning, left_sub, left_sup, rest)
    own, call = spelled(Scripted(base, sub)) if sub else base.name, _call(rest)
    function = (reader.function(own, call[0]) if call else reader.meaning(own)) if primes else None
    if isinstance(function, Definition) and sup is None and function.pattern.arguments:
        if call:
            rest.pop(0)
        slope = derivatives.primed(reader, function, primes, call[0].inside if call else None)
        return reader.scripts(slope, None, call[1] if call else None, spelled(node))
    bold = f"\\mathbf{{{base.name}}}"
    labelled = spelled(Scripted(Symbol(bold), None, sup)) if sup is not None else bold
    if sub is not None and not primes and sup is not None and (meaning := reader.meaning(labelled)) is not None:
        return _meant(reader, labelled, meaning, sub, None, rest)
    if sub is not None and not primes and (meaning := reader.meaning(bold)) is not None:
        return _meant(reader, bold, meaning, sub, sup, rest)  # z_i is an entry of the vector that is printed bold
    if primes == 0 and sub is None and base.name == "e":
        return reader.scripts(scalar(sp.E), None, sup, spelled(node))
    if base.name == "\\pi" and sub is None and (call := _call(rest)):
        raise LatexError(f"\\pi{spelled(call[0])}: expected a function of the notation, or \\pi \\cdot")
    if base.name == "\\pi" and sub is None:
        return reader.scripts(scalar(sp.pi), sub, sup, spelled(node))
    if base.name in ("O", "o", "\\mathcal{O}") and _call(rest):
        raise LatexError(f"expected an equation or an inequality, got the remainder {base.name}(…), which is not read")
    raise LatexError(f"{spelled(node)}: the notation does not declare it")


def meant(reader: Reader, name: str, meaning: Meaning, rest: list[Node]) -> Value:
    """Return the value of a symbol without subscripts and superscripts, applied to its arguments."""
    return _meant(reader, name, meaning, None, None, rest)


def _meant(reader: Reader, name: str, meaning: Meaning, sub: Node | None, sup: Node | None, rest: list[Node]) -> Value:
    if isinstance(meaning, str):
        return operators.apply(reader, meaning, sub, sup, rest)
    if isinstance(meaning, Definition):
        return _defined(reader, meaning, sub, sup, rest)
    if isinstance(meaning, Named):
        return _named(reader, name, meaning, sub, sup, rest)
    if isinstance(meaning, Support) and sub is not None and meaning.whole is not None:
        return reader.scripts(meaning.whole, sub, sup, name)  # t_i, the point of number i
    declared = reader.notation.meanings.get(name)
    if isinstance(declared, Named) and name in reader.scope and fits(meaning.shape, declared.value.shape):
        return _named(reader, name, replace(declared, value=meaning), sub, sup, rest)
    if meaning.shape and sub is None and (call := _call(rest)) and _all_indices(reader, call[0]):
        rest.pop(0)
        return reader.scripts(meaning, call[0].inside, operators.one_power(name, sup, call[1]), name)
    if sub is not None and (call := _call(rest)) and _completes(reader, sub, call[0], len(meaning.shape)):
        rest.pop(0)
        return reader.scripts(meaning, _together(sub, call[0]), operators.one_power(name, sup, call[1]), name)
    _check_no_product(name, sub, rest)
    return reader.scripts(meaning, sub, sup, name)


def _completes(reader: Reader, sub: Node, call: Bracket, axes: int) -> bool:
    """Return whether parentheses hold the remaining indices, as in q_t(t'), a matrix entry."""
    return axes == len(index_parts(sub)) + len(parts(call.inside)) and _all_indices(reader, call)


def _together(sub: Node, call: Bracket) -> Listing:
    indices = (*index_parts(sub), *parts(call.inside))
    return Listing(indices, (",",) * (len(indices) - 1))


def _all_indices(reader: Reader, bracket: Bracket) -> bool:
    """Return whether an argument list consists of indices: u(i) is an entry of u."""
    points = reader.notation.points
    names = [
        spelled(part.sub if isinstance(part, Scripted) and spelled(part.base) in points and part.sub else part)
        for part in parts(bracket.inside)
    ]
    return all(
        isinstance(reader.meaning(name), Support)
        or reader.may_index(name)
        or isinstance(getattr(reader.scope.get(name), "entry", str)(), Variable)
        for name in names
    )


def _letters(meaning: Named | Definition) -> tuple[str, ...]:
    """Return the argument names in the declaration of a function; a definition may have indices alone."""
    return meaning.arguments if isinstance(meaning, Named) else meaning.pattern.arguments or meaning.pattern.indices


def _named(reader: Reader, name: str, meaning: Named, sub: Node | None, sup: Node | None, rest: list[Node]) -> Value:
    """Read a function of indices: its value at given arguments, or all values without them."""
    call = _call(rest)
    if call is None:
        _check_no_call(name, rest)
        return reader.scripts(meaning.value, sub, sup, name)
    if sub is not None:
        raise LatexError(f"{name}_{{{spelled(sub)}}}: the notation does not declare it")
    rest.pop(0)
    bracket, sup = call[0], operators.one_power(name, sup, call[1])
    arguments = parts(bracket.inside)
    if len(arguments) != len(meaning.arguments):
        raise LatexError(f"{name}: expected arguments ({', '.join(meaning.arguments)}), got {spelled(bracket)}")
    operators.check_labels(reader, name, meaning, arguments)
    indices = [part for part, argument in zip(arguments, meaning.arguments, strict=True) if argument in meaning.axes]
    if any(spelled(part) in ("\\cdot", "·") for part in indices):
        if len(indices) > 1:
            raise LatexError(f"{name}: expected one free argument at most, got {spelled(bracket)}")
        return reader.scripts(meaning.value, None, sup, name)
    sizes = meaning.value.shape
    where = [reader.subscript(part, size) for part, size in zip(indices, sizes, strict=True)]
    check_ranges(meaning.value, where, name)
    return reader.scripts(scalar(meaning.value.entry(*where)), None, sup, name)


def _defined(reader: Reader, meaning: Definition, sub: Node | None, sup: Node | None, rest: list[Node]) -> Value:
    """Expand a defined symbol at its arguments, or without them at those of its definition."""
    shown, call, name = meaning.pattern, _call(rest), meaning.pattern.name
    if shown.arguments and call is None:
        _check_no_call(name, rest)
    if shown.indices and not shown.arguments and sub is None and call and _all_indices(reader, call[0]):
        rest.pop(0)
        sub, sup = call[0].inside, operators.one_power(name, sup, call[1])
    if sub is not None and not shown.arguments and call and _completes(reader, sub, call[0], len(shown.indices)):
        rest.pop(0)
        sub, sup, call = _together(sub, call[0]), operators.one_power(name, sup, call[1]), None
    if call and not shown.arguments:
        _check_no_product(name, sub, rest)
    inner, spoken = reader.fresh(), {*shown.indices, *_labels(shown.name)}
    if shown.arguments and call and _fits_arguments(reader, shown.arguments, parts(call[0].inside)):
        rest.pop(0)
        sup = operators.one_power(name, sup, call[1])
        inner = inner.within(**_given(reader, meaning, shown.arguments, parts(call[0].inside)))
        spoken |= {spelled(node) for node in walk(call[0].inside)}  # J(p_i) shows the index i
    if shown.subscripts and sub is not None:
        inner = inner.within(**_given(reader, meaning, shown.subscripts, parts(sub)))
        sub = None
    body = inner.value(meaning.body)
    if None not in body.shape:
        body.entry(*map(bound, body.shape))  # forces lazy entries and determines ranges
    if hidden := [each for each in inner.free if each not in spoken | reader.notation.fixed]:
        raise LatexError(f"{shown.name}: expected indices that its left side shows, got {', '.join(hidden)} on the right alone")
    if not shown.indices:
        return reader.scripts(body, sub, sup, shown.name)
    declared = [inner.free.get(name) or inner.index_of(name, shown.name) for name in shown.indices]
    over = tuple(bound(each.domain.shape[0], plain(name)) for name, each in zip(shown.indices, declared, strict=True))
    inside = inner.within(**{name: inner.point(name, each) for name, each in zip(shown.indices, over, strict=True)})
    body = inside.value(meaning.body)

    def entry(*indices: sp.Expr) -> sp.Expr:
        own = dict(zip(over, indices[: len(over)], strict=True))
        return put(body.entry(*indices[len(over) :]), own)

    value = Value((*(each.domain.shape[0] for each in over), *body.shape), entry)
    return reader.scripts(value, sub, sup, shown.name)


def _labels(name: str) -> set[str]:
    """Return the labels in a name's superscript, k in u^{(k)}."""
    node = parse(name)
    label = node.sup if isinstance(node, Scripted) else None
    return {spelled(part) for part in parts(label.inside)} if isinstance(label, Bracket) else set()


def _check_no_call(name: str, rest: Sequence[Node]) -> None:
    """Raise LatexError for f[x], which can be a function at x or a product."""
    if rest and isinstance(rest[0], Bracket) and rest[0].kind in ("[]", "{}"):
        raise LatexError(f"{name}{spelled(rest[0])}: expected arguments in parentheses, or \\cdot for a product")


def _check_no_product(name: str, sub: Node | None, rest: Sequence[Node]) -> None:
    """Raise LatexError for p_i(t) and x(t), which nobody writes for a product, if no function of this name is declared.

    The transpose of parentheses, p(p)^⊤, makes a product.
    """
    call = _call(rest)
    if call is None or spelled(call[1]) in derivatives.TRANSPOSED:
        return
    if all(isinstance(part, Symbol | Scripted) for part in parts(call[0].inside)):
        shown = f"{name}_{{{spelled(sub)}}}" if sub is not None else name
        raise LatexError(
            f"{shown} {spelled(call[0])}: can be a function or a product; expected {name} with an argument in the notation, or "
            "\\cdot"
        )


def _fits_arguments(reader: Reader, arguments: Sequence[str], nodes: Sequence[Node]) -> bool:
    """Return whether parentheses can hold arguments; after a function of a vector, a number is a factor: p_k(1 − p_k)."""
    if len(arguments) != len(nodes):
        return True  # which is an error, and said there
    declared = [reader.notation.meanings.get(argument) for argument in arguments]
    return all(
        not (isinstance(meaning, Value) and meaning.shape) or bool(reader.value(part).shape)
        for meaning, part in zip(declared, nodes, strict=True)
    )


def _given(reader: Reader, meaning: Definition, arguments: Sequence[str], nodes: Sequence[Node]) -> dict[str, Value]:
    """The values of a function's arguments by their names."""
    name = meaning.pattern.name
    if len(nodes) != len(arguments):
        raise LatexError(f"{name}: expected arguments ({', '.join(arguments)}), got {', '.join(map(spelled, nodes))}")
    if broken := [each for each in arguments if each in reader.notation.broken and each not in reader.scope]:
        raise LatexError(reader.notation.broken[broken[0]])
    for argument, part in zip(arguments, nodes, strict=True):
        if spelled(part) != argument and _is_hidden(reader, meaning, argument, reader.value(part).shape):
            raise LatexError(
                f"{name}: expected {argument} as its argument, got {spelled(part)}: it depends on {argument} through what is "
                f"defined elsewhere; write {argument} in its definition"
            )
        if _stands_alone(part, name):
            raise LatexError(
                f"{name}({spelled(part)}): can be {name} at {spelled(part)} or {name} times ({spelled(part)}); expected "
                "arguments or \\cdot"
            )
    return {argument: reader.value(part) for argument, part in zip(arguments, nodes, strict=True)}


def _stands_alone(node: Node, name: str) -> bool:
    """Return whether a function occurs in a part without arguments, as in σ(1 − σ)."""
    if spelled(node) == name:
        return True
    products = [each.factors for each in walk(node) if isinstance(each, Product)]
    called = sum(spelled(one) == name and isinstance(two, Bracket) for each in products for one, two in pairwise(each))
    return sum(spelled(each) == name for each in walk(node)) > called


def _is_hidden(reader: Reader, meaning: Definition, argument: str, shape: tuple[Size, ...]) -> bool:
    """Return whether a definition depends on an argument other than through its visible occurrences.

    After replacing the argument by a new variable, neither the declared variable nor an index of q_i may remain.
    """
    node, declared = parse(argument), reader.notation.meanings.get(argument)
    letters = set(map(spelled, index_parts(node.sub))) if isinstance(node, Scripted) and node.sub is not None else set()
    label = None
    if isinstance(declared, Value):
        shape = declared.shape
        first = declared.entry(*(bound(axis) for axis in shape))
        label = first.base.label if isinstance(first, sp.Indexed) else first
    if None in shape or not (isinstance(label, Variable) or letters):
        return False
    domain = label.domain if isinstance(label, Variable) else Real(shape)
    other = Variable("x#other", domain)
    renamed = Value(shape, lambda *indices: Vector(other, shape=shape)[indices] if indices else other)
    body = reader.fresh().within(**{argument: renamed}).value(meaning.body)
    left = body.entry(*(bound(axis) for axis in body.shape)).free_symbols
    return label in left or any(isinstance(each, Variable) and each.name in map(plain, letters) for each in left)


def _call(rest: Sequence[Node]) -> tuple[Bracket, Node | None] | None:
    """The parentheses that follow a symbol, with their power."""
    first = rest[0] if rest else None
    bracket, sup = (first.base, first.sup) if isinstance(first, Scripted) and first.sub is None else (first, None)
    return (bracket, sup) if isinstance(bracket, Bracket) and bracket.kind == "()" else None


def put(expr: sp.Expr, own: Mapping[Variable, sp.Expr]) -> sp.Expr:
    """Substitute indices in an expression without capture by derivatives and sums."""
    return expr.xreplace({old: new for old, new in own.items() if old != new})
