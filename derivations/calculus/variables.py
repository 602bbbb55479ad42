"""Variables with domains: sizes, indices, scalars, vectors, points of simplices and transport plans.

Notation  a size is a symbolic positive integer; an index runs over 1…size; the domain of a variable is part of its
          identity, so that a sampler can be driven by it and two variables of one name but two domains never mix.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import count
from typing import Any

import sympy as sp
from sympy.core.assumptions import StdFactKB

from derivations.domains import (
    DOMAINS,
    NAMED,
    Coupling,
    Domain,
    Index,
    Interior,
    Positive,
    Real,
    Simplex,
    Size,
    Slack,
    Stochastic,
    Unit,
)

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
        if type(name) is not str or type(domain) not in DOMAINS:
            raise TypeError(f"variable: expected a str and a domain, got {type(name).__name__} and {type(domain).__name__}")
        known = _KNOWN.get((name, domain))
        if known is None:
            if not _is_of_variables(domain):
                raise TypeError(f"variable: expected a domain made of variables, got {domain}")
            known = _KNOWN[name, domain] = sp.Symbol.__xnew__(cls, name, **domain.assumptions())
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
            self._content = (*super()._hashable_content(), domain.name, *(sp.Tuple(*part) for part in parts))
        return self._content


class Vector(sp.IndexedBase):  # type: ignore[misc]
    """A vector or matrix, also the function of its entries: `v(j)` is `v[j]`, so it is passed where an `Entry` is wanted."""

    def __call__(self, *indices: sp.Expr) -> sp.Expr:
        """The entry at the indices, as `v[indices]`; raises what SymPy raises for another number of indices than axes."""
        return self[indices]


def _is_of_variables(domain: Domain) -> bool:
    """Whether the sizes, indices and vectors that a domain is made of are variables themselves, and of no subclass."""
    labels = (vector.label for vector in domain.marginals)
    return all(type(v) is Variable for part in (*domain.shape, *domain.other_than, *labels) for v in part.free_symbols)


def declared(name: str, domain: Domain) -> Any:
    """The variable, or vector of the domain's shape, of an author's name.

    Raises ValueError for a name reserved for bound indices or rivals.
    """
    if not isinstance(name, str) or NAME.fullmatch(name) is None:
        raise ValueError(f"name: expected a word that begins with a letter and has no ι, got {name!r}")
    variable = Variable(name, domain)
    return Vector(variable, shape=domain.shape) if domain.shape and not domain.is_index else variable


def size(name: str) -> Variable:
    """A symbolic size, any integer ≥ 1."""
    return declared(name, Size())  # type: ignore[no-any-return]


def index(name: str, over: sp.Expr, other_than: tuple[Variable, ...] = ()) -> Variable:
    """An index in 1…over, different from each of `other_than`.

    Raises ValueError for a range that may be empty or is not made of integers, for an excluded index over another range,
    and for a name that bound indices use.
    """
    return declared(name, Index((sp.sympify(over),), tuple(other_than)))  # type: ignore[no-any-return]


def scalar(name: str, kind: type[Domain] = Real) -> Variable:
    """A number of the given domain; raises ValueError for a domain that is none of numbers."""
    if kind not in DOMAINS or kind.is_size or 0 not in kind.axes:
        raise ValueError(f"kind: expected a domain of numbers for {name}, got {getattr(kind, 'name', kind)}")
    return declared(name, kind())  # type: ignore[no-any-return]


def positive(name: str) -> Variable:
    """A scalar > 0."""
    return scalar(name, Positive)


def vector(name: str, *shape: sp.Expr, kind: type[Domain] = Real) -> Vector:
    """A vector (or matrix) of symbolic shape in the given domain; read its entries as `v[j]` (or `M[i, j]`).

    Raises ValueError for a domain that is none of vectors, for no shape, and for a shape that does not go with the domain.
    """
    if kind not in DOMAINS or kind.is_index or not shape:
        raise ValueError(
            f"kind: expected a domain of vectors with a shape for {name}, got {getattr(kind, 'name', kind)} {shape}"
        )
    return declared(name, kind(tuple(map(sp.sympify, shape))))  # type: ignore[no-any-return]


def simplex(name: str, *shape: sp.Expr) -> Vector:
    """A point of the closed simplex: entries ≥ 0 that sum to 1 (over all axes)."""
    return vector(name, *shape, kind=Simplex)


def interior(name: str, *shape: sp.Expr) -> Vector:
    """A point of the open simplex: entries > 0 that sum to 1 (over all axes)."""
    return vector(name, *shape, kind=Interior)


def unit(name: str, *shape: sp.Expr) -> Vector:
    """A vector of length 1, or a matrix with rows of length 1."""
    return vector(name, *shape, kind=Unit)


def coupling(name: str, rows: Vector, columns: Vector) -> Vector:
    """A transport plan: a nonnegative matrix with the given row sums and column sums.

    Raises ValueError for marginals that are not points of simplices: masses that differ have no plan.
    """
    return declared(name, Coupling((*rows.shape, *columns.shape), marginals=(rows, columns)))  # type: ignore[no-any-return]


def stochastic(name: str, rows: sp.Expr, columns: sp.Expr) -> Vector:
    """A plan with unit rows and free columns: a nonnegative matrix whose rows sum to 1."""
    return vector(name, rows, columns, kind=Stochastic)


def complementary(name: str, to: Vector) -> Vector:
    """Multipliers of `to` ≥ 0: a nonnegative vector that is 0 wherever `to`, a point of a simplex, is positive.

    Raises ValueError for another kind of vector.
    """
    return declared(name, Slack(to.shape, marginals=(to,)))  # type: ignore[no-any-return]


def rival(name: str, kind: type[Domain], *shape: sp.Expr) -> Vector:
    """A vector or matrix under a name that no author can give, so that no statement can capture it."""
    return Vector(Variable(f"{name}#rival", kind(shape)), shape=shape)


@lru_cache(maxsize=len(DOMAINS))
def _implied(kind: str) -> dict[str, bool]:
    """What SymPy deduces from the assumptions of a domain; all its symbols share it, so it is deduced once more here."""
    return _known(StdFactKB({**NAMED[kind].assumptions(), "commutative": True}))


def _known(facts: Mapping[str, bool | None]) -> dict[str, bool]:
    return {fact: value for fact, value in facts.items() if value is not None}


def assumed_beyond(expr: sp.Basic) -> Iterator[sp.Basic]:
    """The variables, vectors and entries of which more or less is assumed than their domain implies."""
    for part in expr.atoms(Variable, sp.IndexedBase, sp.Indexed):
        label = part if isinstance(part, Variable) else part.label if isinstance(part, sp.IndexedBase) else part.base.label
        if isinstance(label, Variable) and _known(part._assumptions) != _implied(label.domain.name):
            yield part


_fresh = count(1)


def fresh(like: Variable) -> Variable:
    """An index over the same range that occurs nowhere else, so that binding it captures nothing."""
    plain = like.domain.is_index and not like.domain.other_than
    domain = like.domain if plain else Index(like.domain.shape)
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
