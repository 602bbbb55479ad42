"""Variables with domains: sizes, indices, scalars, vectors, points of simplices and transport plans.

Notation  a size is a symbolic positive integer; an index runs over 1…size; the domain of a variable is part of its
          identity, so that a sampler can be driven by it and two variables of one name but two domains never mix.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from itertools import count
from typing import Any

import sympy as sp
from sympy.core.assumptions import StdFactKB


class Kind(Enum):
    """The kind of set that a variable ranges over; the value is its name in files, `words` its name in texts."""

    SIZE = "size"
    INDEX = "index"
    REAL = "real"
    NONNEGATIVE = "nonnegative"
    POSITIVE = "positive"
    SIMPLEX = "simplex"
    INTERIOR = "interior"
    COUPLING = "coupling"
    STOCHASTIC = "stochastic"
    SLACK = "slack"
    UNIT = "unit"
    NONZERO = "nonzero"
    RANDOM = "random"

    @property
    def words(self) -> str:
        """The set that a variable of this kind ranges over, in words."""
        return WORDS[self]


WORDS = {
    Kind.SIZE: "≥ 1",
    Kind.INDEX: "in 1…",
    Kind.REAL: "real",
    Kind.NONNEGATIVE: "≥ 0",
    Kind.POSITIVE: "> 0",
    Kind.SIMPLEX: "≥ 0 with sum 1",
    Kind.INTERIOR: "> 0 with sum 1",
    Kind.COUPLING: "≥ 0 with the given marginals",
    Kind.STOCHASTIC: "≥ 0 with rows of sum 1",
    Kind.SLACK: "≥ 0, and 0 wherever the plan is positive",
    Kind.UNIT: "of length 1",
    Kind.NONZERO: "other than 0",
    Kind.RANDOM: "independent entries, mean 0, variance 1",
}


@dataclass(frozen=True)
class Domain:
    """The set a variable ranges over.

    `shape` holds the sizes of a vector or matrix, `other_than` the indices that an index differs from, `marginals`
    the row sums and the column sums of a coupling, or the vector that a slack is complementary to.
    """

    kind: Kind
    shape: tuple[sp.Expr, ...] = ()
    other_than: tuple[sp.Expr, ...] = ()
    marginals: tuple[sp.IndexedBase, ...] = ()

    def __post_init__(self) -> None:
        """Raise ValueError for a shape, excluded indices or marginals that do not go with the kind."""
        axes = {
            Kind.SIZE: {0},
            Kind.INDEX: {1},
            Kind.STOCHASTIC: {2},
            Kind.COUPLING: {2},
            Kind.SLACK: {1},
            Kind.UNIT: {1, 2},
            Kind.NONZERO: {1, 2},
            Kind.SIMPLEX: {1, 2, 3},
            Kind.INTERIOR: {1, 2, 3},
        }.get(self.kind, set(range(5)))
        if len(self.shape) not in axes:
            raise ValueError(f"shape: expected axes like {sorted(axes)} for {self.kind.name}, got {self.shape}")
        for part in map(sp.sympify, self.shape):  # where a range depended on an index, no sum could leave its place
            if not (part.is_integer and part.is_positive and all(map(_is_size, part.free_symbols))):
                raise ValueError(f"shape: expected sizes ≥ 1, got {part}")
        for other in self.other_than:
            if not (
                self.kind is Kind.INDEX
                and type(other) is Variable
                and other.domain.kind is Kind.INDEX
                and other.domain.shape == self.shape
            ):
                raise ValueError(f"other_than: expected indices in 1…{self.shape[0] if self.shape else '?'}, got {other}")
        self._check_marginals()

    def _check_marginals(self) -> None:
        masses = {Kind.COUPLING: (Kind.SIMPLEX, Kind.INTERIOR), Kind.SLACK: (Kind.SIMPLEX,)}.get(self.kind, ())
        for marginal in self.marginals:
            own = marginal.label.domain if isinstance(marginal.label, Variable) else None
            if own is None or own.kind not in masses or own.shape != marginal.shape or len(own.shape) != 1:
                accepted = " or ".join(kind.words for kind in masses) or "none"
                raise ValueError(f"marginals: expected {accepted}, got {marginal} {own.kind.words if own else ''}".rstrip())
        of_marginals = tuple(size for marginal in self.marginals for size in marginal.shape)
        if self.kind in (Kind.COUPLING, Kind.SLACK) and self.shape != of_marginals:
            raise ValueError(f"shape: expected that of the marginals, {of_marginals}, got {self.shape}")


def _is_size(symbol: sp.Basic) -> bool:
    return isinstance(symbol, Variable) and symbol.domain.kind is Kind.SIZE


_ASSUMPTIONS: dict[Kind, dict[str, bool]] = {
    Kind.SIZE: {"integer": True, "positive": True},
    Kind.INDEX: {"integer": True, "positive": True},
    Kind.REAL: {"real": True},
    Kind.NONNEGATIVE: {"nonnegative": True},
    Kind.POSITIVE: {"positive": True},
    Kind.SIMPLEX: {"nonnegative": True},
    Kind.INTERIOR: {"positive": True},
    Kind.COUPLING: {"nonnegative": True},
    Kind.STOCHASTIC: {"nonnegative": True},
    Kind.SLACK: {"nonnegative": True},
    Kind.UNIT: {"real": True},
    Kind.NONZERO: {"real": True},
    Kind.RANDOM: {"real": True},
}


# nothing that reads like a number or a formula, or like an index that the normal form names
NAME = re.compile(r"(?!(?:oo|zoo|nan)$)\\?[^\W\d_ι][^-+*/=<>≤≥≠()\[\]#ι]*(?<!\s)\*?")

_KNOWN: dict[tuple[str, Domain], "Variable"] = {}


class Variable(sp.Symbol):  # type: ignore[misc]
    """A SymPy symbol whose domain is part of its identity; equal variables are one object."""

    __slots__ = ("_content", "_domain")
    _domain: Domain

    def __new__(cls, name: str, domain: Domain) -> "Variable":
        """A symbol with the assumptions of its domain; the same object for the same name and domain.

        Raises TypeError for subclasses of either, which might be shown as one and compared as another.
        """
        if type(name) is not str or type(domain) is not Domain:
            raise TypeError(f"variable: expected a str and a Domain, got {type(name).__name__} and {type(domain).__name__}")
        known = _KNOWN.get((name, domain))
        if known is None:
            known = _KNOWN[name, domain] = sp.Symbol.__xnew__(cls, name, **_ASSUMPTIONS[domain.kind])
            known._domain = domain
        return known

    def __eq__(self, other: object) -> Any:
        return self is other or (False if isinstance(other, sp.Basic) else NotImplemented)

    __hash__ = object.__hash__  # equal variables are one object: the fastest there is

    @property
    def domain(self) -> Domain:
        """The set that the variable ranges over; it cannot be replaced, as it is part of the identity."""
        return self._domain

    def __getnewargs_ex__(self) -> tuple[tuple[str, Domain], dict[str, bool]]:
        return (self.name, self.domain), {}

    def _hashable_content(self) -> tuple[Any, ...]:
        if not hasattr(self, "_content"):
            domain = self.domain  # as plain SymPy parts, which SymPy can hash and order
            parts = (domain.shape, domain.other_than, domain.marginals)
            self._content = (*super()._hashable_content(), domain.kind.name, *(sp.Tuple(*part) for part in parts))
        return self._content


class Vector(sp.IndexedBase):  # type: ignore[misc]
    """A vector or matrix, also the function of its entries: `v(j)` is `v[j]`, so it is passed where an `Entry` is wanted."""

    def __call__(self, *indices: sp.Expr) -> sp.Expr:
        """The entry at the indices, as `v[indices]`; raises what SymPy raises for another number of indices than axes."""
        return self[indices]


def _variable(name: str, kind: Kind, shape: tuple[sp.Expr, ...] = (), **domain: Any) -> Variable:
    """A variable with an author's name; raises ValueError for a name reserved for bound indices or rivals."""
    if not isinstance(name, str) or NAME.fullmatch(name) is None:
        raise ValueError(f"name: expected a word that begins with a letter and has no ι, got {name!r}")
    return Variable(name, Domain(kind, tuple(map(sp.sympify, shape)), **domain))


def size(name: str) -> Variable:
    """A symbolic size, any integer ≥ 1."""
    return _variable(name, Kind.SIZE)


def index(name: str, over: sp.Expr, other_than: tuple[Variable, ...] = ()) -> Variable:
    """An index in 1…over, different from each of `other_than`.

    Raises ValueError for a range that may be empty or is not made of integers, for an excluded index over another range,
    and for a name that bound indices use.
    """
    return _variable(name, Kind.INDEX, (over,), other_than=tuple(other_than))


def scalar(name: str, kind: Kind = Kind.REAL) -> Variable:
    """A real scalar of the given kind; raises ValueError for a kind of vectors, sizes or indices."""
    if kind not in (Kind.REAL, Kind.NONNEGATIVE, Kind.POSITIVE, Kind.RANDOM):
        raise ValueError(f"kind: expected REAL, NONNEGATIVE, POSITIVE or RANDOM for {name}, got {kind}")
    return _variable(name, kind)


def positive(name: str) -> Variable:
    """A scalar > 0."""
    return _variable(name, Kind.POSITIVE)


def vector(name: str, *shape: sp.Expr, kind: Kind = Kind.REAL) -> Vector:
    """A vector (or matrix) of symbolic shape; read its entries as `v[j]` (or `M[i, j]`).

    Raises ValueError for a kind of scalars, for no shape, and for a stochastic matrix that has not two axes.
    """
    if kind in (Kind.SIZE, Kind.INDEX, Kind.COUPLING, Kind.SLACK) or not shape:
        raise ValueError(f"kind: expected a kind of vectors with a shape for {name}, got {kind} {shape}")
    if kind is Kind.STOCHASTIC and len(shape) != 2:
        raise ValueError(f"shape: expected rows and columns for {name}, got {shape}")
    return Vector(_variable(name, kind, shape), shape=shape)


def simplex(name: str, *shape: sp.Expr) -> Vector:
    """A point of the closed simplex: entries ≥ 0 that sum to 1 (over all axes)."""
    return vector(name, *shape, kind=Kind.SIMPLEX)


def interior(name: str, *shape: sp.Expr) -> Vector:
    """A point of the open simplex: entries > 0 that sum to 1 (over all axes)."""
    return vector(name, *shape, kind=Kind.INTERIOR)


def unit(name: str, *shape: sp.Expr) -> Vector:
    """A vector of length 1, or a matrix with rows of length 1."""
    return vector(name, *shape, kind=Kind.UNIT)


def coupling(name: str, rows: Vector, columns: Vector) -> Vector:
    """A transport plan: a nonnegative matrix with the given row sums and column sums.

    Raises ValueError for marginals that are not points of simplices: masses that differ have no plan.
    """
    shape = (*rows.shape, *columns.shape)
    return Vector(_variable(name, Kind.COUPLING, shape, marginals=(rows, columns)), shape=shape)


def stochastic(name: str, rows: sp.Expr, columns: sp.Expr) -> Vector:
    """A plan with unit rows and free columns: a nonnegative matrix whose rows sum to 1."""
    return vector(name, rows, columns, kind=Kind.STOCHASTIC)


def complementary(name: str, to: Vector) -> Vector:
    """Multipliers of `to` ≥ 0: a nonnegative vector that is 0 wherever `to`, a point of a simplex, is positive.

    Raises ValueError for another kind of vector.
    """
    return Vector(_variable(name, Kind.SLACK, to.shape, marginals=(to,)), shape=to.shape)


def rival(name: str, kind: Kind, *shape: sp.Expr) -> Vector:
    """A vector or matrix under a name that no author can give, so that no statement can capture it."""
    return Vector(Variable(f"{name}#rival", Domain(kind, shape)), shape=shape)


@lru_cache(maxsize=len(Kind))
def _implied(kind: Kind) -> dict[str, bool]:
    """What SymPy deduces from the assumptions of a kind; all symbols of one kind share it, so it is deduced once more here."""
    return _known(StdFactKB({**_ASSUMPTIONS[kind], "commutative": True}))


def _known(facts: Mapping[str, bool | None]) -> dict[str, bool]:
    return {fact: value for fact, value in facts.items() if value is not None}


def assumed_beyond(expr: sp.Basic) -> Iterator[sp.Basic]:
    """The variables, vectors and entries of which more or less is assumed than their domain implies."""
    for part in expr.atoms(Variable, sp.IndexedBase, sp.Indexed):
        label = part if isinstance(part, Variable) else part.label if isinstance(part, sp.IndexedBase) else part.base.label
        if isinstance(label, Variable) and _known(part._assumptions) != _implied(label.domain.kind):
            yield part


_fresh = count(1)


def fresh(like: Variable) -> Variable:
    """An index over the same range that occurs nowhere else, so that binding it captures nothing."""
    plain = like.domain.kind is Kind.INDEX and not like.domain.other_than
    domain = like.domain if plain else Domain(Kind.INDEX, like.domain.shape)
    names = (f"{like.name.split('#')[0]}#{number}" for number in _fresh)
    return Variable(next(name for name in names if (name, domain) not in _KNOWN), domain)


def apart(expr: sp.Basic) -> sp.Basic:
    """The expression with its bound indices renamed apart from each other, where one is in the scope of another, and from
    all free ones, so that they cannot capture an index of the same name."""
    return expr if _is_apart(expr) else _made_apart(expr, frozenset(expr.free_symbols))


@lru_cache(maxsize=2**14)
def _is_apart(expr: sp.Basic) -> bool:
    """Whether all bound indices have such names already, and rebuilding the expression would change nothing else."""
    return bool(_made_apart(expr, frozenset(expr.free_symbols)) == expr)


def _made_apart(expr: sp.Basic, taken: frozenset[sp.Basic]) -> sp.Basic:
    if not expr.has(sp.Sum):
        return expr
    if not isinstance(expr, sp.Sum):
        return expr.func(*[_made_apart(part, taken) for part in expr.args])
    bound = [v for v in expr.bound_symbols if isinstance(v, Variable)]
    function = _made_apart(expr.function, taken.union(bound))
    return sp.Sum(function, *expr.limits).xreplace({v: fresh(v) for v in bound if "#" not in v.name or v in taken})


def variables_of(expr: sp.Basic) -> list[Variable]:
    """The free variables of an expression, sizes of its vectors and ranges of its indices included, by name."""
    return list(_variables_of(expr))


@lru_cache(maxsize=4096)
def _variables_of(expr: sp.Basic) -> tuple[Variable, ...]:
    variables: set[Variable] = set()
    todo = [s for s in expr.free_symbols if isinstance(s, Variable)]
    while todo:
        variable = todo.pop()
        if variable not in variables:
            variables.add(variable)
            for part in (*variable.domain.shape, *variable.domain.other_than, *variable.domain.marginals):
                todo.extend(s for s in part.free_symbols if isinstance(s, Variable))
    return tuple(sorted(variables, key=lambda v: (v.name, str(v.domain))))
