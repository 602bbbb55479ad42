"""The protocol of domains: what is asked of the set that a variable ranges over.

Whoever needs a fact about a domain asks the object, and nobody asks which domain it is.  A class is one kind of domain and an
instance is one domain, with its sizes; it belongs to the identity of a variable.  `lacking`, which admits exact points, uses
nothing that draws or moves them.

Notation   a value is an exact number, or nested lists of them for a vector or a matrix; `sizes` are the values of `shape`
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from math import prod
from random import Random
from typing import Any, ClassVar

import sympy as sp

from derivations.domains.moves import changed

MASSES = (1, 9)  # of the entries of a simplex, before they are normalized

Point = Mapping[Any, Any]


class Sign(Enum):
    """What is known of the sign of each number of a value, by the name of SymPy's assumption."""

    ANY = "real"
    NONNEGATIVE = "nonnegative"
    POSITIVE = "positive"

    def fits(self, number: Fraction) -> bool:
        """Whether a number has the sign."""
        return self is Sign.ANY or number > 0 or (number == 0 and self is Sign.NONNEGATIVE)


@dataclass(frozen=True)
class Drawing:
    """How the values of one point are drawn: numbers of a sign, weights of masses, and whether corners are wanted."""

    rng: Random
    number: Callable[[Sign], Fraction]
    masses: tuple[int, int] = MASSES
    corner: bool = False


@dataclass(frozen=True)
class Weights:
    """Numbers that a value is formed of: one for each entry, a factor of all, and the share of the independent plan."""

    numbers: Sequence[Fraction]
    factor: Fraction
    mixed: Fraction


@dataclass(frozen=True)
class Domain:
    """The set that a variable ranges over.

    `shape` holds the sizes of a vector or matrix, `other_than` the indices that an index differs from, `marginals` the row
    sums and the column sums of a coupling, or the vector that a slack is complementary to.
    """

    shape: tuple[sp.Expr, ...] = ()
    other_than: tuple[sp.Expr, ...] = ()
    marginals: tuple[sp.IndexedBase, ...] = ()

    name: ClassVar[str]  # in files and notation tables
    words: ClassVar[str]  # in texts, after the name of a variable
    accepted: ClassVar[str]  # in the refusal of a point
    sign: ClassVar[Sign]
    axes: ClassVar[tuple[int, ...]] = (0, 1, 2, 3, 4)  # the numbers of axes that there may be
    inside: "ClassVar[tuple[type[Domain], ...]]" = ()  # the next larger domains
    adjective: ClassVar[bool] = False  # notation tables write “positive vector m”
    noun: ClassVar[tuple[int, ...]] = ()  # the numbers of axes with which notation tables write “simplex m”
    phrase: ClassVar[str] = ""  # of notation tables, before the marginals

    is_size: ClassVar[bool] = False
    is_index: ClassVar[bool] = False
    is_random: ClassVar[bool] = False  # no value, only moments
    is_independent: ClassVar[bool] = False  # each number may be any of its sign, whatever the others are
    has_slope: ClassVar[bool] = False  # a number can move a little to both sides while the others stay
    unit_rows: ClassVar[bool] = False  # rows, or the vector, have length 1
    below_one: ClassVar[bool] = False  # no number is above 1

    def __post_init__(self) -> None:
        """Raise ValueError for a shape, excluded indices or marginals that do not go with the domain."""
        if len(self.shape) not in self.axes:
            raise ValueError(f"shape: expected axes like {list(self.axes)} for {self.name}, got {self.shape}")
        for part in map(sp.sympify, self.shape):  # where a range depended on an index, no sum could leave its place
            if not (part.is_integer and part.is_positive and all(map(_is_size, part.free_symbols))):
                raise ValueError(f"shape: expected sizes ≥ 1, got {part}")
        for other in self.other_than:
            own = domain_of(other)
            if not (self.is_index and own is not None and own.is_index and own.shape == self.shape):
                raise ValueError(f"other_than: expected indices in 1…{self.shape[0] if self.shape else '?'}, got {other}")
        self._check_marginals()

    def _check_marginals(self) -> None:
        if self.marginals:
            raise ValueError(f"marginals: expected none, got {self.marginals[0]}{_in_words(self.marginals[0])}")

    # ── what kind of set it is ──────────────────────────────────────────────────────────────────────────────────────

    @property
    def is_integer(self) -> bool:
        """Whether values are sizes or places, integers ≥ 1."""
        return self.is_size or self.is_index

    @property
    def is_whole(self) -> bool:
        """Whether every number is free: all of ℝ, or of a space of vectors or matrices."""
        return self.is_independent and self.sign is Sign.ANY

    @property
    def is_scale(self) -> bool:
        """Whether it is the set of the positive numbers."""
        return self.is_independent and self.sign is Sign.POSITIVE and not self.shape

    @classmethod
    def assumptions(cls) -> dict[str, bool]:
        """SymPy's assumptions about a symbol of the domain, or the entries of a vector."""
        return {cls.sign.value: True, **({"integer": True} if cls.is_size or cls.is_index else {})}

    @classmethod
    def includes(cls, other: "type[Domain]") -> bool:
        """Whether every value of the other domain, of the same shape and with the same marginals, is one of this domain."""
        return cls is other or any(cls.includes(larger) for larger in other.inside)

    @classmethod
    def described(cls, shape: Sequence[str], marginals: Sequence[str], other_than: Sequence[str]) -> str:
        """The domain in words, with its shape and its marginals in brackets, such as real [m×d]."""
        after = f"; {', '.join(marginals)}" if marginals else ""
        return f"{cls.words} [{'×'.join(shape)}{after}]" if shape else cls.words

    def is_end(self, to: sp.Expr) -> bool | None:
        """Whether values come arbitrarily near to a number, or become arbitrarily large."""
        return to.is_extended_real if self.sign is Sign.ANY else to.is_zero or to.is_extended_positive  # type: ignore[no-any-return]

    # ── sums and bounds ─────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def unit_mass(self) -> int:
        """The number of last axes over which the numbers sum to 1; 0 if they need not."""
        return 0

    @property
    def is_distribution(self) -> bool:
        """Whether all its numbers together sum to 1."""
        return 0 < self.unit_mass == len(self.shape)

    @property
    def line_sums(self) -> tuple[tuple[int, sp.IndexedBase | None], ...]:
        """The axes over which a matrix has known sums, each with the vector of these sums, or None if they are all 1."""
        return ()

    @property
    def complements(self) -> tuple[sp.IndexedBase, ...]:
        """The vectors whose product with this one is 0, entry by entry."""
        return ()

    def positive_along(self, even: bool) -> int:
        """The number of last axes along which a number is > 0, or an even power of one if `even`; 0 if there may be none."""
        return 0

    def bounds(self, entry: sp.Indexed) -> Iterator[sp.Expr]:
        """Expressions that are ≥ 0 since an entry is one of a vector of the domain."""
        return iter(())

    # ── exact points ────────────────────────────────────────────────────────────────────────────────────────────────

    def lacking(self, value: Any, point: Point) -> str:
        """Return what was expected of an exact value of the right shape that is not in the domain; empty if it is."""
        return "" if all(map(self.sign.fits, flat(value))) else self.accepted

    def draw(self, sizes: Sequence[int], point: Point, how: Drawing) -> Any:
        """Draw a value; the sizes and the marginals have theirs at the point."""
        raise NotImplementedError

    def face(self, sizes: Sequence[int], rng: Random) -> Any:
        """Draw a value with some zeros, as a rule; None if the domain has no faces."""
        return None

    def formed(self, weights: Weights, sizes: Sequence[int], point: Point) -> Any:
        """Return the value that given weights make; the marginals have their values at the point."""
        raise NotImplementedError

    def fitted(self, value: Any, point: Point) -> Any:
        """Return the value, or a similar one that fits the new values of the marginals at the point."""
        return value

    def moved(self, value: Any, point: Point, rng: Random) -> Any:
        """Return a value that differs in one number drawn at random, or the fewest that can differ; `value` is changed."""
        raise NotImplementedError

    @property
    def ways(self) -> tuple[int, ...]:
        """The ways to move one number by a step: the distances to the number that gives or takes what is needed."""
        return ()

    def step(self, row: list[Any], own: int, way: int, scaled: bool, length: Fraction) -> bool:
        """Move one number of a row in place by a step, or by a factor; returns whether the row is still one of the domain."""
        number = changed(Fraction(row[own]), scaled, length)
        if number is None or not self.sign.fits(number):
            return False
        row[own] = number
        return True

    # ── Rocq ────────────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def unexported(self) -> str:
        """Why a theorem of Rocq cannot state the domain, before the name of the variable; empty if it can."""
        return ""

    def hypotheses(self, name: str, sizes: Sequence[str], vectors: Sequence[str]) -> Iterator[tuple[str, str]]:
        """The hypotheses of Rocq, by name, that a variable is of the domain; `vectors` are the names of the marginals."""
        if self.sign is not Sign.ANY:
            sign, word = ("<", "gt0") if self.sign is Sign.POSITIVE else ("<=", "ge0")
            indices = [f"i{n}" for n in range(1, len(sizes) + 1)]
            yield f"{name}_{word}", f"{for_all(indices)}0 {sign} {' '.join([name, *indices])}"


def domain_of(symbol: object) -> Domain | None:
    """The domain of a variable; None of anything else."""
    own = getattr(symbol, "domain", None)
    return own if isinstance(own, Domain) else None


def _is_size(symbol: object) -> bool:
    own = domain_of(symbol)
    return own is not None and own.is_size


def _in_words(marginal: sp.IndexedBase) -> str:
    own = domain_of(marginal.label)
    return f" {own.words}" if own else ""


def check_marginals(of: Domain, accepted: Iterable[type[Domain]]) -> None:
    """Raise ValueError unless the marginals are vectors of accepted domains whose sizes are the shape."""
    kinds = tuple(accepted)
    for marginal in of.marginals:
        own = domain_of(marginal.label)
        if own is None or type(own) not in kinds or own.shape != marginal.shape or len(own.shape) != 1:
            words = " or ".join(kind.words for kind in kinds)
            raise ValueError(f"marginals: expected {words}, got {marginal}{_in_words(marginal)}")
    sizes = tuple(size for marginal in of.marginals for size in marginal.shape)
    if of.shape != sizes:
        raise ValueError(f"shape: expected that of the marginals, {sizes}, got {of.shape}")


def for_all(indices: Sequence[str]) -> str:
    """The quantifier of Rocq over some indices."""
    return f"forall {' '.join(indices)}, " if indices else ""


def whole_at(expr: sp.Expr, point: Point) -> int | None:
    """The value of a size, or of an index, at a point that gives its variables integers; None at another one."""
    try:
        return int(expr.xreplace({v: sp.Integer(point[v]) for v in expr.free_symbols}))
    except (KeyError, TypeError, ValueError, sp.SympifyError):
        return None


def flat(value: Any) -> Iterator[Fraction]:
    """The numbers of a value, row by row."""
    if isinstance(value, Sequence):
        for part in value:
            yield from flat(part)
    else:
        yield value


def exact(row: Any) -> list[Fraction]:
    """Exact numbers of any type as fractions."""
    return [Fraction(int(number.numerator), int(number.denominator)) for number in row]


def shaped(numbers: list[Fraction], sizes: Sequence[int]) -> Any:
    """Numbers, row by row, as nested lists of the given lengths; the only number if there are none."""
    if not sizes:
        return numbers[0]
    if len(sizes) == 1:
        return numbers
    step = prod(sizes[1:])
    return [shaped(numbers[i * step : (i + 1) * step], sizes[1:]) for i in range(sizes[0])]


def rows_of(value: Any, axes: int) -> list[Any]:
    """The rows of a value along its last axis; a vector is the only one."""
    return [value] if axes == 1 else [row for part in value for row in rows_of(part, axes - 1)]


def in_rows(numbers: Sequence[Fraction], sizes: Sequence[int]) -> list[list[Fraction]]:
    """Numbers as rows of the last of the given lengths."""
    return [list(numbers[start : start + sizes[-1]]) for start in range(0, len(numbers), sizes[-1])]
