"""Check spaces, x ∈ ℝ^m, C ∈ ℝ₊^{n×m}, t ∈ S and V : S → ℝ^d, against the shapes that the notation declares."""

from collections.abc import Sequence
from dataclasses import replace

import sympy as sp

from derivations.reader.meaning.notation import Definition
from derivations.reader.meaning.reader import Reader
from derivations.reader.meaning.values import Size, Value, is_index
from derivations.reader.syntax.tree import (
    Bracket,
    Chain,
    LatexError,
    Listing,
    Node,
    Operator,
    Product,
    Scripted,
    Symbol,
    product_node,
    spelled,
)
from derivations.relations import AtLeast

REALS = "\\mathbb{R}"
SIGNED = {"+": False, "\\ge 0": False, "\\geq 0": False, "\\geqslant 0": False, "++": True, "> 0": True}
"""The subscripts of ℝ, and whether entries are then positive, not only ≥ 0."""


def dimensions(reader: Reader, node: Node | None) -> tuple[sp.Expr, ...] | None:
    """Return the shape of the points of ℝ, ℝ^m, ℝ^{n×m} or a finite set S (whose points are indices); None otherwise."""
    base, sub, sup = (node.base, spelled(node.sub), node.sup) if isinstance(node, Scripted) else (node, "", None)
    if spelled(base) in reader.notation.sizes and not sub and sup is None:
        return ()
    if not isinstance(base, Symbol) or base.name != REALS or sub not in ("", *SIGNED):
        return None
    factors: Sequence[Node] = sup.factors if isinstance(sup, Product) else () if sup is None else (sup,)
    return tuple(reader.value(each).number for each in factors if not isinstance(each, Operator))


def sign_of(value: sp.Expr, space: Node) -> AtLeast | None:
    """Return what ℝ₊^m says of an entry, ≥ 0, and ℝ₊₊^m, > 0; None for ℝ^m and other spaces."""
    strict = SIGNED.get(spelled(space.sub)) if isinstance(space, Scripted) else None
    return None if strict is None else AtLeast(value, sp.S.Zero, strict=strict)


def check_point(reader: Reader, left: Node, space: Node | None) -> Value:
    """Return the value of a point; raises LatexError if its shape is not that of the space."""
    shape = dimensions(reader, space)
    value = reader.value(left)
    finite = spelled(space) in reader.notation.sizes
    if shape is None or not _of_shape(value.shape, shape) or finite != is_index(value):
        raise LatexError(f"{spelled(left)}: expected a point of {spelled(space)}, got {value.words}")
    return value


def check_mapping(reader: Reader, name: Node, domain: Node, target: Node) -> None:
    """Raise LatexError for f : X → Y unless the notation declares f as a function from X to Y."""
    meaning, shape = reader.notation.meanings.get(spelled(name)), dimensions(reader, target)
    finite = reader.notation.sizes.get(spelled(domain))
    if isinstance(meaning, Definition) and len(meaning.pattern.arguments) == 1 and finite is None:
        argument = reader.value(Symbol(meaning.pattern.arguments[0]))
        value = reader.value(Product((name, Bracket("()", Symbol(meaning.pattern.arguments[0])))))
        fits = _of_shape(argument.shape, dimensions(reader, domain)) and _of_shape(value.shape, shape)
    elif finite is not None and shape is not None:
        fits = _of_shape(reader.value(name).shape, (finite, *shape))
    else:
        fits = False
    if not fits:
        raise LatexError(f"{spelled(name)}: expected a function from {spelled(domain)} to {spelled(target)} in the notation")


def set_of(node: Node) -> list[Chain]:
    """Return the conditions of a set {x ∈ X : x ≥ 0, Σ x = 1}; none for another expression."""
    inside = node.inside if isinstance(node, Bracket) and node.kind == "{}" else None
    listed = inside.parts if isinstance(inside, Listing) else (inside,)
    first = listed[0]
    if not isinstance(first, Chain) or ":" not in first.signs or not all(isinstance(each, Chain) for each in listed):
        return []
    at = first.signs.index(":") + 1
    rest = [each for each in listed[1:] if isinstance(each, Chain)]
    stated = [Chain(first.parts[at:], first.signs[at:]), *rest]
    return [replace(each, parts=(*each.parts[:-1], _without_closing_words(each.parts[-1]))) for each in stated]


def counted(node: Node) -> Node | None:
    """Return n for {1, …, n}."""
    inside = node.inside if isinstance(node, Bracket) and node.kind == "{}" else None
    listed = inside.parts if isinstance(inside, Listing) else ()
    dotted = len(listed) == 3 and spelled(listed[0]) == "1" and spelled(listed[1]) in ("\\dots", "\\ldots", "\\cdots")
    return listed[2] if dotted else None


def ambient(reader: Reader, node: Node) -> sp.Expr:
    """The dimension m of a set {x ∈ ℝ^m : …}; raises LatexError if the notation declares x as a point of another space."""
    assert isinstance(node, Bracket)
    inside = node.inside.parts[0] if isinstance(node.inside, Listing) else node.inside
    space = inside.parts[1] if isinstance(inside, Chain) else None
    if isinstance(inside, Chain) and inside.parts[0] is not None and dimensions(reader, space):
        check_point(reader, inside.parts[0], space)
    axes = isinstance(space, Scripted) and space.sup is not None and not isinstance(space.sup, Product)
    return reader.value(space.sup).number if axes and isinstance(space, Scripted) and space.sup else sp.S.Zero


def _without_closing_words(node: Node | None) -> Node | None:
    """Return a side without words such as “for all i” after it."""
    if not isinstance(node, Product):
        return node
    words = next((at for at, each in enumerate(node.factors) if spelled(each).startswith("\\text{for")), None)
    return node if words is None else product_node(node.factors[:words])


def _of_shape(one: Sequence[Size], other: Sequence[Size] | None) -> bool:
    return other is not None and len(one) == len(other) and all(a in (None, b) for a, b in zip(one, other, strict=True))
