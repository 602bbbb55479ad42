"""Polynomials of terms: monomials with rational coefficients, in one order, as the intermediate forms of a proof.

An atom is a term in normal form: an entry, a sum of one monomial, an exponential of one, a logarithm, or a sum of monomials
that occurs as a denominator only.
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from itertools import count

from derivations.rocq.terms import LEAVES, Term, children, indices, number, powered, renamed, written

Monomial = tuple[tuple[Term, int], ...]
Polynomial = dict[Monomial, Fraction]

ONE: Polynomial = {(): Fraction(1)}


@lru_cache(maxsize=2**16)
def key(atom: Term) -> str:
    """The sort key of atoms."""
    return written(atom)


def monomial(factors: Iterable[tuple[Term, int]]) -> Monomial:
    """The product of powers of atoms."""
    exponents: dict[Term, int] = {}
    for atom, n in factors:
        exponents[atom] = exponents.get(atom, 0) + n
    return tuple(sorted(((a, n) for a, n in exponents.items() if n), key=lambda factor: key(factor[0])))


def constant(value: Fraction | int) -> Polynomial:
    """A number."""
    return {(): Fraction(value)} if value else {}


def of_atom(atom: Term, n: int = 1) -> Polynomial:
    """A power of an atom."""
    return {((atom, n),): Fraction(1)}


def plus(*summands: Mapping[Monomial, Fraction]) -> Polynomial:
    """The sum."""
    result: Polynomial = {}
    for summand in summands:
        for each, c in summand.items():
            result[each] = result.get(each, Fraction(0)) + c
    return {each: c for each, c in result.items() if c}


def times(left: Polynomial, right: Polynomial) -> Polynomial:
    """The product."""
    return plus(*({monomial((*a, *b)): c * d} for a, c in left.items() for b, d in right.items()))


def scaled(poly: Polynomial, factor: Fraction) -> Polynomial:
    """A multiple."""
    return {each: c * factor for each, c in poly.items()} if factor else {}


def content(poly: Polynomial) -> tuple[Fraction, Monomial]:
    """The common number and monomial of all summands; the number has the sign of the first summand."""
    monomials = ordered(poly)
    common = dict(monomials[0])
    for each in monomials[1:]:
        other = dict(each)
        common = {
            a: min(n, other[a]) if n > 0 else max(n, other[a]) for a, n in common.items() if a in other and n * other[a] > 0
        }
    lowest = {a: min(dict(each).get(a, 0) for each in monomials) for each in monomials for a, n in each if n < 0}
    first = poly[monomials[0]]
    numerators = [abs(c) for c in poly.values()]
    shared = numerators[0] if all(c == numerators[0] for c in numerators) else Fraction(1)
    return (shared if first > 0 else -shared), monomial({**common, **lowest}.items())


def divided(poly: Polynomial, c: Fraction, by: Monomial) -> Polynomial:
    """The quotient by a monomial."""
    return {monomial((*each, *((a, -n) for a, n in by))): d / c for each, d in poly.items()}


def ordered(poly: Polynomial) -> list[Monomial]:
    """The monomials in the order in which they are written."""
    return sorted(poly, key=lambda each: [(key(a), n) for a, n in each])


def leads(poly: Polynomial) -> bool:
    """Whether the first coefficient of a polynomial is positive, or there is none."""
    return not poly or poly[ordered(poly)[0]] > 0


def monomial_term(each: Monomial, c: Fraction = Fraction(1)) -> Term:
    """A monomial with its coefficient, as a term."""
    above = [powered(a, n) for a, n in each if n > 0]
    below = [powered(a, n) for a, n in each if n < 0]
    value = abs(c)
    factors = [("num", value), *above, *below] if value != 1 or not (above or below) else [*above, *below]
    product: Term = factors[0] if len(factors) == 1 else ("mul", *factors)
    return ("neg", product) if c < 0 else product


def as_term(poly: Polynomial) -> Term:
    """A polynomial as a term."""
    terms = [monomial_term(each, poly[each]) for each in ordered(poly)]
    if not terms:
        return number(Fraction(0))
    return terms[0] if len(terms) == 1 else ("add", *terms)


@lru_cache(maxsize=2**16)
def height(part: Term) -> int:
    """How many sums are inside of each other."""
    inner = max((height(each) for each in children(part)), default=0)
    return inner + 1 if part[0] == "sum" else inner


def bound_name(depth: int, used: set[str]) -> str:
    """The name of an index that is bound around that many sums, and that captures nothing."""
    return next(name for n in count(depth + 1) if (name := f"x{n}") not in used)


@lru_cache(maxsize=2**16)
def bounds(part: Term) -> frozenset[str]:
    """The indices that are bound in a term."""
    inner = frozenset[str]().union(*(bounds(each) for each in children(part)))
    return inner | {part[1]} if part[0] == "sum" else inner


def named(bound: str, factors: Iterable[Term]) -> tuple[str, list[Term]]:
    """The name of an index that is bound around factors, by the number of sums in them, and the renamed factors.

    The old name is replaced first: it may be required by an inner sum, or already be the name of one.
    """
    deep = list(factors)
    depth = max((height(each) for each in deep), default=0)
    room = f"#{depth + 1}"
    apart = [alpha(renamed(each, {bound: room})) for each in deep]
    used = set[str]().union(*(indices(each) | bounds(each) for each in apart))
    name = bound_name(depth, used - {room})
    return name, [renamed(each, {room: name}) for each in apart]


@lru_cache(maxsize=2**16)
def alpha(part: Term) -> Term:
    """A term whose bound indices are named by the number of sums inside."""
    if part[0] in LEAVES:
        return part
    if part[0] == "sum":
        name, (body,) = named(part[1], [part[3]])
        return ("sum", name, part[2], body)
    if part[0] == "pow":
        return ("pow", alpha(part[1]), part[2])
    return (part[0], *(alpha(each) for each in part[1:]))
