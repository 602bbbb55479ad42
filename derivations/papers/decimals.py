"""Whether the rounding of printed decimals explains that two sides differ: log 2 = 0.693 holds to the printed digits."""

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

from flint import arb

from derivations.calculus.balls import Point, enclose
from derivations.reader.meaning.notation import Notation
from derivations.reader.meaning.statements import read
from derivations.records.normal_form import Sign
from derivations.relations import Relation

DECIMAL = re.compile(r"(?<![\d.])\d+\.(\d+)(?![\d.])")


def is_rounding(latex: str, notation: Notation, relations: Sequence[Relation], false: Relation, point: Point) -> bool:
    """Return whether the sides of an equation differ at a point by no more than its decimals do from what they round."""
    if false.sign is not Sign.EQUAL:
        return False
    at = next(position for position, each in enumerate(relations) if each is false)
    gap = _gap(false, point)
    moved = [max(abs(_gap(read(one, notation)[at], point) - gap) for one in both) for both in _neighbours(latex)]
    return bool(moved) and bool(abs(gap) <= sum(moved, arb(0)))


def _gap(relation: Relation, point: Point) -> arb:
    left, right = relation.sides
    return enclose(left - right, point).mid()


def _neighbours(latex: str) -> Iterator[tuple[str, str]]:
    """For each decimal, the formula with the two numbers that are half a unit of its last digit away."""
    for match in DECIMAL.finditer(latex):
        number, half = Fraction(match[0]), Fraction(1, 2 * 10 ** len(match[1]))
        shown = [
            f"{latex[: match.start()]}{{{_decimal(each, len(match[1]) + 1)}}}{latex[match.end() :]}"
            for each in (number - half, number + half)
        ]
        yield shown[0], shown[1]


def _decimal(number: Fraction, digits: int) -> str:
    whole, rest = divmod(int(number * 10**digits), 10**digits)
    return f"{whole}.{rest:0{digits}}"
