"""Read the ranges printed below a sum, a product or a maximum: i, j = 1 to m; 1 ≤ i, j ≤ m; i ∈ [m]; j = 1, j ≠ i."""

from dataclasses import dataclass

from derivations.reader.syntax.tree import Bracket, Chain, Listing, Node, Number, Product, Scripted, Symbol, spelled

AT_MOST = ("\\le", "\\leq", "\\leqslant")
UNEQUAL = ("\\ne", "\\neq")


@dataclass(frozen=True)
class Ranges:
    """Indices that run from 1 to a printed end, and the index that they leave out, if there is one."""

    letters: tuple[str, ...]
    end: Node
    apart: Node | None = None


@dataclass(frozen=True)
class Pair:
    """Two indices i < j, with a printed end if there is one."""

    letters: tuple[str, str]
    end: Node | None = None


def ordered_pair(sub: Node | None, sup: Node | None) -> Pair | None:
    """Read i < j and 1 ≤ i < j ≤ n below a sum; None for anything else."""
    if not isinstance(sub, Chain) or sup is not None:
        return None
    letters = sub.parts if sub.signs == ("<",) else sub.parts[1:3] if len(sub.parts) == 4 else ()
    ranged = len(sub.parts) == 4 and sub.parts[0] == Number("1") and sub.signs[1] == "<" and {*sub.signs[::2]} <= {*AT_MOST}
    names = [spelled(each) for each in letters if isinstance(each, Symbol)]
    if len(names) != 2 or names[0] == names[1] or (len(sub.parts) == 4 and not ranged):
        return None
    return Pair((names[0], names[1]), sub.parts[3] if ranged else None)


def printed_ranges(sub: Node | None, sup: Node | None) -> Ranges | None:
    """Return the indices below a sign with their end; None if no end is printed, or if they do not start at 1."""
    conditions = _conditions(sub)
    if conditions and isinstance(last := conditions[-1], Chain) and last.signs[0] in UNEQUAL:
        ranges, other = _from_one(conditions[:-1], sup), last.parts[1]
        named = ranges is not None and ranges.letters == (spelled(last.parts[0]),)
        return Ranges(ranges.letters, ranges.end, other) if ranges is not None and named and other is not None else None
    return _from_one(conditions, sup)


def _conditions(sub: Node | None) -> tuple[Node, ...]:
    """The parts between the commas of a subscript, or the lines of a \\substack."""
    if isinstance(sub, Product) and spelled(sub.factors[0]) == "\\substack" and len(sub.factors) == 2:
        sub = sub.factors[1]
    if isinstance(sub, Listing):
        return sub.parts if set(sub.separators) <= {",", ";"} else ()
    return (sub,) if sub is not None else ()


def _from_one(conditions: tuple[Node, ...], sup: Node | None) -> Ranges | None:
    if not conditions:
        return None
    first, last = conditions[0], conditions[-1]
    if isinstance(last, Chain) and last.signs == ("=",) and spelled(last.parts[1]) == "1" and sup is not None:
        return _ranges((*conditions[:-1], last.parts[0]), sup)  # i, j = 1 below, m above
    if len(conditions) == 1 and isinstance(first, Chain) and len(first.parts) == 3 and set(first.signs) <= {*AT_MOST}:
        low, letter, high = first.parts
        return _ranges((letter,), high) if low == Number("1") and sup is None else None
    if len(conditions) == 1 and isinstance(first, Chain) and first.signs == ("\\in",):
        upper = first.parts[1]
        return _ranges((first.parts[0],), upper.inside) if isinstance(upper, Bracket) and upper.kind == "[]" else None
    starts = isinstance(first, Chain) and len(first.signs) == 1 and first.signs[0] in AT_MOST and first.parts[0] == Number("1")
    ends = isinstance(last, Chain) and len(last.signs) == 1 and last.signs[0] in AT_MOST
    if not (starts and ends and sup is None):
        return None
    assert isinstance(first, Chain)
    assert isinstance(last, Chain)
    return _ranges((first.parts[1], *conditions[1:-1], last.parts[0]), last.parts[1])  # 1 ≤ i, j ≤ m


def _ranges(letters: tuple[Node | None, ...], end: Node | None) -> Ranges | None:
    names = tuple(spelled(letter) for letter in letters if isinstance(letter, Symbol | Scripted))
    distinct = len({*names}) == len(letters)
    return Ranges(names, end) if end is not None and distinct else None
