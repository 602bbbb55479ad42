"""Bound indices: names that depend only on a sum's structure, so that exchanged sums are recognized as equal, and scope."""

from collections.abc import Iterable
from functools import cache, lru_cache
from itertools import count, permutations
from typing import Any

import sympy as sp

from derivations.calculus.variables import Variable
from derivations.domains import Index

MOST = 8  # indices of one sum, whose orders are all compared: 8! of them


def canonical_names(body: sp.Expr, bound: list[Variable]) -> dict[Variable, Variable]:
    """Canonical names of the bound indices, in that order of the indices for which the product is sorted first.

    A factor is renamed once for each choice of names of its own indices, and not for each order of all indices.  Raises
    ValueError for more than `MOST` indices.
    """
    if len(bound) > MOST:
        raise ValueError(f"sum: expected at most {MOST} indices that occur in common factors, got {len(bound)}")
    parts = [(factor, tuple(v for v in bound if v in _symbols(factor))) for factor in sp.Mul.make_args(body)]
    used = frozenset[sp.Symbol]().union(*(_symbols(factor) for factor, _ in parts)).difference(bound)
    names_of = cache(lambda shapes: _free_names(shapes, used))
    renamings = [dict(zip(order, names_of(tuple(v.domain.shape for v in order)), strict=True)) for order in permutations(bound)]
    if len(renamings) == 1:
        return renamings[0]
    return min(renamings, key=lambda names: sorted(_key(factor, own, tuple(names[v] for v in own)) for factor, own in parts))


def foreign_names(bound: Iterable[Variable], expr: sp.Expr) -> dict[Variable, Variable]:
    """Other names of bound indices, which no part of an expression binds, nor its normal form: the same ones every time."""
    used = {symbol.name for symbol in _symbols(expr)}
    names = filter(lambda name: name not in used, (f"ι{number}#" for number in count(1)))
    return {v: Variable(name, Index(v.domain.shape)) for v, name in zip(bound, names, strict=False)}


def in_scope(expr: sp.Expr, *kinds: type[sp.Basic]) -> list[sp.Basic]:
    """The parts of some kinds that say the same outside of an expression, since no sum in it binds an index of theirs.

    Elsewhere an index of any other part would be free, and replacing this part would also reach where it is bound.
    """
    inner = bound_in(expr)
    return [part for part in sp.ordered(expr.atoms(*kinds)) if part.free_symbols.isdisjoint(inner)]


def bound_in(expr: sp.Expr) -> set[sp.Symbol]:
    """The indices that the sums in an expression bind."""
    return {v for part in expr.atoms(sp.Sum) for v in part.bound_symbols}


@lru_cache(maxsize=2**14)
def _key(factor: sp.Expr, indices: tuple[Variable, ...], names: tuple[Variable, ...]) -> Any:
    """The sort key of a factor after its indices are renamed."""
    return sp.default_sort_key(factor.xreplace(dict(zip(indices, names, strict=True))))


@lru_cache(maxsize=2**15)
def _symbols(expr: sp.Basic) -> frozenset[sp.Symbol]:
    """All symbols of an expression, bound ones among them."""
    if isinstance(expr, sp.Symbol):
        return frozenset((expr,))
    return frozenset[sp.Symbol]().union(*map(_symbols, expr.args))


def _free_names(shapes: Iterable[tuple[sp.Expr, ...]], used: frozenset[sp.Symbol]) -> list[Variable]:
    names: list[Variable] = []
    depth = 1
    for shape in shapes:
        while (name := Variable(f"ι{depth}", Index(shape))) in used:
            depth += 1
        names.append(name)
        depth += 1
    return names
