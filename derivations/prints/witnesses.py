"""Put the sides of a witness in the order of the print: where it says a ≤ b, the relation b ≥ a has them exchanged."""

from collections.abc import Collection, Sequence
from contextlib import suppress

import sympy as sp
from msgspec.structs import replace

from derivations.calculus.printing import text
from derivations.calculus.variables import variables_of
from derivations.prints.expressions import Values, named, namings
from derivations.reader.meaning.links import links
from derivations.reader.meaning.notation import Notation
from derivations.reader.meaning.statements import AT_LEAST, AT_MOST
from derivations.reader.syntax.syntax import parse
from derivations.reader.syntax.tree import Chain, Listing, Node
from derivations.records.claims import Witness
from derivations.records.normal_form import Sign
from derivations.relations import Relation
from derivations.relations.base import ORDERS

EXCHANGED = {"<": ">", "≤": "≥"}


def in_order(
    witness: Witness, step: Relation, latex: str, notation: Notation | None, known: Collection[str], before: str | None
) -> Witness:
    """Return a witness of an inequality that fails with its sides as the print has them.

    Where the print is not read, or has other sides, the witness says of which expressions its values are.
    """
    relation = step.stated
    if relation.sign not in ORDERS or witness.about or witness.sign not in EXCHANGED:
        return witness
    signs = _signs(latex)
    turned = bool(signs) and signs <= AT_MOST.keys()
    if turned:
        witness = replace(witness, left=witness.right, sign=EXCHANGED[witness.sign], right=witness.left)
    if (turned or (signs and signs <= AT_LEAST.keys())) and notation and _has_sides(relation, latex, notation, known, before):
        return witness
    left, right = map(text, relation.sides)
    strict = relation.sign is Sign.GREATER
    about = f"{right} {'<' if strict else '≤'} {left}" if turned else f"{left} {'>' if strict else '≥'} {right}"
    return replace(witness, about=about)


def _signs(latex: str) -> set[str]:
    """Return the signs of the relations in a formula; none if it is not read."""
    with suppress(ValueError):
        return set(_in(parse(latex)))
    return set()


def _in(node: Node | None) -> Sequence[str]:
    if isinstance(node, Listing):
        return [sign for part in node.parts for sign in _in(part)]
    return list(node.signs) if isinstance(node, Chain) else []


def _has_sides(relation: Relation, latex: str, notation: Notation, known: Collection[str], before: str | None) -> bool:
    """Return whether the print compares the two expressions of a relation."""
    try:
        asserted = [link.assertion for link in links(latex, notation, before)]
    except ValueError:
        return False
    for assertion in asserted:
        if assertion.sign not in ORDERS:
            continue
        for naming in namings(assertion.sides, relation.sides, frozenset(known)):
            with suppress(ValueError):
                printed = [named(side, naming) for side in assertion.sides]
                values = Values(variables_of(sp.Tuple(*printed, *relation.sides)), relation.given)
                if all(values.same(one, other) for one, other in zip(printed, relation.sides, strict=True)):
                    return True
    return False
