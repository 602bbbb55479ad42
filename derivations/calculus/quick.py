"""Caches for two slow computations of SymPy: the free symbols of a sum, and the consequences of assumptions.

SymPy rebuilds the summand for every query of a sum's free symbols, and derives the same consequences of the same
assumptions for every entry v[j].  The two took a third of an examination.  The cached answers are SymPy's own, and their
arguments are immutable.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import sympy as sp
from sympy.core.assumptions import StdFactKB
from sympy.core.logic import fuzzy_bool


@lru_cache(maxsize=2**15)
def _free_symbols(total: sp.Sum) -> frozenset[sp.Basic]:
    """The symbols of the summand that no limit binds, and those of the limits' ends: `total.free_symbols` in SymPy's words."""
    found: set[sp.Basic] = total.function.free_symbols
    for bound, *ends in total.limits:
        found = (found - {bound}).union(*(end.free_symbols for end in ends))
    return frozenset(found)


OF_SYMPY = sp.Sum.free_symbols.fget


def _of_sum(self: sp.Sum) -> set[sp.Basic]:
    """A set of its own for whoever asks, as SymPy gives one."""
    plain = all(isinstance(bound, sp.Symbol) and len(limit) == 3 for limit in self.limits for bound in limit[:1])
    return set(_free_symbols(self)) if plain else OF_SYMPY(self)


@lru_cache(maxsize=256)
def _deduced(assumptions: tuple[tuple[str, bool], ...]) -> tuple[tuple[str, bool | None], ...]:
    """What follows from assumptions."""
    return tuple(StdFactKB(dict(assumptions)).items())


def _set_assumptions(obj: sp.Basic, assumptions: dict[str, Any]) -> None:
    """Give an entry or a vector its assumptions with all that follows from them, as `IndexedBase._set_assumptions` does."""
    given = assumptions.copy()
    assumptions["commutative"] = fuzzy_bool(assumptions.get("commutative", True))
    facts = StdFactKB()
    facts.update(_deduced(tuple(assumptions.items())))
    facts._generator = given
    obj._assumptions = facts


def install() -> None:
    """Patch SymPy to use these caches; a second call has no effect."""
    sp.Sum.free_symbols = property(_of_sum)
    sp.IndexedBase._set_assumptions = staticmethod(_set_assumptions)
