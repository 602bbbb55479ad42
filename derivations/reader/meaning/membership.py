"""Check membership, x ∈ (0, 1), x ∈ ℝ^m, q ∈ Δ, against the notation."""

import sympy as sp

from derivations.calculus import sums
from derivations.calculus.sums import total
from derivations.calculus.variables import Variable
from derivations.reader.meaning.reader import Reader
from derivations.reader.meaning.values import Value, at, bound
from derivations.reader.syntax.names import parts
from derivations.reader.syntax.tree import Bracket, LatexError, Node, Scripted, spelled
from derivations.relations import AtLeast
from derivations.relations.base import Hypothesis

SETS = ("\\mathbb{R}", "\\mathbb{N}", "\\Delta", "\\mathcal{", "\\{1", "[", "\\mathrm{int}")


def is_interval(node: Node) -> bool:
    """Return whether a set is (a, b) or [a, b]."""
    return isinstance(node, Bracket) and node.kind in ("()", "[]") and len(parts(node.inside)) == 2


def within_interval(reader: Reader, left: Node, interval: Node) -> list[Hypothesis]:
    """Return x ∈ (a, b) as two inequalities, none for an infinite end."""
    assert isinstance(interval, Bracket)
    low, high = parts(interval.inside)
    strict, x = interval.kind == "()", reader.value(left).number
    bounds: list[Hypothesis] = []
    if "\\infty" not in spelled(low):
        bounds.append(AtLeast(x, reader.value(low).number, strict=strict))
    if "\\infty" not in spelled(high):
        bounds.append(AtLeast(reader.value(high).number, x, strict=strict))
    return [each for each in bounds if not each.prove()]


def check_member(reader: Reader, left: Node, right: Node) -> None:
    """Raise LatexError if a set is smaller than the declared domain, as ℝ₊ for a real number."""
    text = spelled(right)
    base, sub = (right.base, spelled(right.sub)) if isinstance(right, Scripted) else (right, "")
    simplex, signed = "\\Delta" in text, spelled(base) == "\\mathbb{R}" and sub != ""
    inside = text.startswith("\\mathrm{int}") or sub in ("++", "> 0")
    if not (simplex or signed or inside):
        _check_whole(reader, left, right)
        return
    value = reader.value(left)
    indices = tuple(map(bound, value.shape))
    entry = at(value, indices)
    mass = not simplex or sums.equal(total(indices[-1:], entry), sp.S.One)
    if not mass or not (entry.is_positive if inside else entry.is_nonnegative):
        raise LatexError(f"expected {spelled(left)} to be declared as a point of {text}")


def _check_whole(reader: Reader, left: Node, right: Node) -> None:
    """Raise LatexError for x ∈ ℝ^m if x is declared as a point of a subset, so that less would be proved."""
    meaning = reader.meaning(spelled(left)) if spelled(right).startswith("\\mathbb{R}") else None
    first = meaning.entry(*map(bound, meaning.shape)) if isinstance(meaning, Value) and None not in meaning.shape else None
    label = first.base.label if isinstance(first, sp.Indexed) else first
    if isinstance(label, Variable) and not (label.domain.is_whole or label.domain.is_index):
        declared = label.domain.words
        raise LatexError(f"{spelled(left)}: expected any point of {spelled(right)}, got one declared as {declared}")
