"""Guess which letters of a paper are indices, over which sizes, and in which equations."""

import re
from collections.abc import Sequence

from derivations.papers.guesses.guesses import Guess, Guesses, without_length
from derivations.papers.guesses.signs import NUMBER
from derivations.reader.meaning.sums import binds, occurs_free
from derivations.reader.meaning.uses import declared_name, is_index_list, uses
from derivations.reader.syntax.names import LETTER, index_parts, pattern
from derivations.reader.syntax.syntax import parse
from derivations.reader.syntax.tree import Node, Scripted, spelled, walk

ARRAY = re.compile(r"((non-?negative|positive) )?(vector|matrix) |rows of |columns of ")


def _axes(guesses: Guesses, meaning: str) -> list[str]:
    """The sizes of what an index of a symbol runs over: of x_i, where the x_i are the columns of a matrix, its second size."""
    words = meaning.split()
    if words[:1] in (["rows"], ["columns"]):
        whole = guesses.lines.get(guesses.names.get(words[2], ""))
        axes = _axes(guesses, whole.meaning) if whole else []
        return axes if words[0] == "rows" else axes[::-1]
    return [] if meaning.startswith("=") else [each for each in words[1:] if each not in ("vector", "matrix")]


def range_indices(guesses: Guesses) -> None:
    """Give each index without a range the size of what it indexes, or else the first size."""
    sizes = [symbol for symbol, each in guesses.lines.items() if each.meaning.startswith("size")]
    for name, nodes in guesses.used.items():
        known = guesses.lines.get(guesses.names.get(name, ""))
        shape = _axes(guesses, known.meaning) if known else []
        for node in nodes:
            if isinstance(node, Scripted) and node.sub is not None and is_index_list(node.sub):
                for axis, part in enumerate(index_parts(node.sub)):
                    letter = spelled(part).rstrip("'")
                    named = letter in guesses.labels or letter in guesses.called or letter in guesses.names
                    named = named or spelled(node) in guesses.names
                    if LETTER.fullmatch(letter) and letter not in sizes and not named:
                        size = shape[axis] if axis < len(shape) else ""
                        guesses.indices[letter] = guesses.indices.get(letter) or size
    for letter, size in guesses.indices.items():
        chosen = size or (sizes[0] if sizes else "")
        if not chosen:
            guesses.record("m", "size", "no size is named in the paper")
            chosen, sizes = "m", ["m"]
        if letter not in guesses.names:
            why = "a bound index" if size else f"an index without a range; {chosen} is the first size"
            guesses.record(letter.rstrip("'"), f"index {chosen}", why)
    for (section, letter), size in guesses.ranges.items():
        elsewhere = guesses.lines[letter].meaning if letter in guesses.lines else ""
        declared = without_length(elsewhere).startswith(("vector ", "matrix ")) and guesses.homes[letter] != section
        if declared or (elsewhere.startswith("index ") and elsewhere != f"index {size}"):
            local = guesses.local.setdefault(("section", section), {})
            local.setdefault(letter, Guess(f"index {size}", "the range of its sums in this section"))


def fix_indices(guesses: Guesses, trees: Sequence[Node]) -> None:
    """Fix the indices that a definition uses without showing them, if nothing binds or shows them anywhere: a label t."""
    defined = {symbol: parse(each.meaning[1:]) for symbol, each in guesses.lines.items() if each.meaning.startswith("=")}
    shown = {letter for symbol in defined for letter in (*pattern(symbol).indices, *pattern(symbol).arguments)}
    for letter, line in guesses.lines.items():
        free = letter not in shown and not any(binds(node, letter) for tree in trees for node in walk(tree))
        if line.meaning.startswith("index ") and free and any(occurs_free(body, letter) for body in defined.values()):
            line.meaning = f"fixed {line.meaning}"


def rebind_indices(guesses: Guesses, displays: Sequence[tuple[int, Node]]) -> None:
    """Make a letter that is a number elsewhere an index where a sum binds it, or where it is nothing but a subscript."""
    numbers = {
        letter: size
        for letter, size in guesses.indices.items()
        if size and letter in guesses.lines and NUMBER.fullmatch(guesses.lines[letter].meaning)
    }
    vectors = [name for name, line in guesses.lines.items() if LETTER.fullmatch(name) and ARRAY.match(line.meaning)]
    for position, tree in displays:
        for letter in vectors:
            if _is_subscript(tree, letter) and (size := _axis_of(guesses, tree, letter)):
                local = guesses.local.setdefault(("formula", position), {})
                local.setdefault(letter, Guess(f"index {size}", "an index in this equation, a vector elsewhere"))
        for letter, size in numbers.items():
            if any(binds(node, letter) for node in walk(tree)) or _is_subscript(tree, letter):
                local = guesses.local.setdefault(("formula", position), {})
                local.setdefault(letter, Guess(f"index {size}", "an index in this equation, a number elsewhere"))


def _is_subscript(tree: Node, letter: str) -> bool:
    """Return whether a letter is used, and as a subscript only."""
    subscripts = sum(spelled(part) == letter for node in walk(tree) for part in _subscripts(node))
    return subscripts > 0 and subscripts == sum(name == letter for name, _ in uses(tree))


def _axis_of(guesses: Guesses, tree: Node, letter: str) -> str:
    """Return the size of the first axis of a declared symbol that a letter indexes in a formula."""
    for node in walk(tree):
        symbol = guesses.names.get(declared_name(node), "") if isinstance(node, Scripted) else ""
        if not symbol or not (below := _subscripts(node)):
            continue
        line = guesses.lines[symbol].meaning
        shape = [guesses.range_of(each) for each in pattern(symbol).indices] if line[0] == "=" else _axes(guesses, line)
        for size, part in zip(shape, below, strict=False):
            if size and spelled(part) == letter:
                return size
    return ""


def _subscripts(node: Node) -> tuple[Node, ...]:
    indexed = isinstance(node, Scripted) and node.sub is not None and is_index_list(node.sub)
    return tuple(index_parts(node.sub)) if indexed and isinstance(node, Scripted) and node.sub is not None else ()
