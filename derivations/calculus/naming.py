"""Names of the bound indices of a sum that depend on its structure only, so that sums that are exchanged are one."""

from collections.abc import Iterable
from functools import cache, lru_cache
from itertools import permutations
from typing import Any

import sympy as sp

from derivations.calculus.variables import Domain, Kind, Variable


def canonical_names(body: sp.Expr, bound: list[Variable]) -> dict[Variable, Variable]:
    """Canonical names of the bound indices, in that order of the indices for which the product is sorted first.

    A factor is renamed once for each choice of names of its own indices, and not for each order of all indices.
    """
    parts = [(factor, tuple(v for v in bound if v in _symbols(factor))) for factor in sp.Mul.make_args(body)]
    taken = frozenset[sp.Symbol]().union(*(_symbols(factor) for factor, _ in parts)).difference(bound)
    names_of = cache(lambda shapes: _free_names(shapes, taken))
    renamings = [dict(zip(order, names_of(tuple(v.domain.shape for v in order)), strict=True)) for order in permutations(bound)]
    if len(renamings) == 1:
        return renamings[0]
    return min(renamings, key=lambda names: sorted(_key(factor, own, tuple(names[v] for v in own)) for factor, own in parts))


@lru_cache(maxsize=2**14)
def _key(factor: sp.Expr, indices: tuple[Variable, ...], names: tuple[Variable, ...]) -> Any:
    """What a factor is sorted by under other names of its indices."""
    return sp.default_sort_key(factor.xreplace(dict(zip(indices, names, strict=True))))


@lru_cache(maxsize=2**15)
def _symbols(expr: sp.Basic) -> frozenset[sp.Symbol]:
    """All symbols of an expression, bound ones among them."""
    if isinstance(expr, sp.Symbol):
        return frozenset((expr,))
    return frozenset[sp.Symbol]().union(*map(_symbols, expr.args))


def _free_names(shapes: Iterable[tuple[sp.Expr, ...]], taken: frozenset[sp.Symbol]) -> list[Variable]:
    names: list[Variable] = []
    depth = 1
    for shape in shapes:
        while (name := Variable(f"ι{depth}", Domain(Kind.INDEX, shape))) in taken:
            depth += 1
        names.append(name)
        depth += 1
    return names
