"""Caches and shortcuts for slow computations of SymPy: of the free symbols of a sum, of the consequences of assumptions, of
entries v[j], of signs, and of sums.

SymPy rebuilds the summand for every query of a sum's free symbols, derives the same consequences of the same assumptions
for every entry v[j], compares entries by all that is assumed of them, shuffles the facts that may decide another one, and
walks a summand four times in search of cases.
Without these, an examination takes a third longer.  SymPy has them only within `shortcuts()`, in which claims are loaded,
examined and voted on.  The answers are SymPy's own, and the arguments of what is cached are immutable.  Only of a polynomial
with many terms SymPy is not asked where it is monotonic, which takes the cube of their number: whether its terms have one sign
is asked in any case.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from typing import Any

import sympy as sp
from sympy.core.assumptions import StdFactKB, _assume_defined, _assume_rules
from sympy.core.logic import fuzzy_bool

from derivations.calculus.variables import Variable, Vector


@lru_cache(maxsize=2**15)
def _free_symbols(total: sp.Sum) -> frozenset[sp.Basic]:
    """`total.free_symbols` as SymPy defines it: unbound symbols of the summand, and symbols of the limits' ends."""
    symbols: set[sp.Basic] = total.function.free_symbols
    for bound, *ends in total.limits:
        symbols = (symbols - {bound}).union(*(end.free_symbols for end in ends))
    return frozenset(symbols)


OF_SYMPY = sp.Sum.free_symbols.fget


def _of_sum(self: sp.Sum) -> set[sp.Basic]:
    """Return a new set for each caller, as SymPy does."""
    plain = all(isinstance(bound, sp.Symbol) for bound, *_ in self.limits)
    return set(_free_symbols(self)) if plain else OF_SYMPY(self)


@lru_cache(maxsize=256)
def _deduced(assumptions: tuple[tuple[str, bool], ...]) -> tuple[tuple[str, bool | None], ...]:
    """All facts that SymPy deduces from assumptions, and None for the others: of an entry, nothing else is known."""
    return tuple((dict.fromkeys(PREREQUISITES) | StdFactKB(dict(assumptions))).items())


def _set_assumptions(obj: sp.Basic, assumptions: dict[str, Any]) -> None:
    """Give an entry or a vector its assumptions with all that follows from them, as `IndexedBase._set_assumptions` does."""
    generator = assumptions.copy()
    assumptions["commutative"] = fuzzy_bool(assumptions.get("commutative", True))
    facts = StdFactKB()
    facts.update(_deduced(tuple(assumptions.items())))
    facts._generator = generator
    obj._assumptions = facts


ASSUMPTIONS: Any = sys.modules["sympy.core.assumptions"]  # which `sympy.core` hides behind a function of the same name
ASK = ASSUMPTIONS._ask
PREREQUISITES = {fact: tuple(sorted(_assume_rules.prereq[fact])) for fact in sorted(_assume_defined)}


def _ask(fact: str, obj: sp.Basic) -> bool | None:
    """Whether a fact holds for an object, None if it is not known: as SymPy finds out, but in a fixed order of the facts."""
    known: Any = obj._assumptions
    handlers = obj._prop_handler
    queue, queued = [fact], {fact}
    for each in queue:  # which grows on the way
        if each in known:
            continue
        if (handler := handlers.get(each)) is not None:
            if (value := handler(obj)) is not None:
                known.deduce_all_facts(((each, value),))
            if known.get(fact) is not None:
                break
        queue += [other for other in PREREQUISITES[each] if other not in queued]
        queued.update(PREREQUISITES[each])
    found: bool | None = known.setdefault(fact)
    return found


NEW_ENTRY = sp.Indexed.__new__


@lru_cache(maxsize=2**15)
def _entry(_: int, base: Vector, *indices: Variable) -> sp.Indexed:
    """One object for an entry; bases are told apart as objects, by their `id` in the key, since comparing them is slow."""
    return NEW_ENTRY(sp.Indexed, base, *indices)


def _new_entry(cls: type[sp.Indexed], base: Any, *indices: Any, **options: Any) -> Any:
    """The entry of a vector at variables is always the same object; any other is made by SymPy."""
    plain = cls is sp.Indexed and type(base) is Vector and not options
    if plain and indices and all(type(index) is Variable for index in indices):
        return _entry(id(base), base, *indices)
    return NEW_ENTRY(cls, base, *indices, **options)


NEW_SUM = sp.Sum.__new__


@lru_cache(maxsize=2**15)
def _has_cases(expr: sp.Basic) -> bool:
    """Whether an expression has cases in it, which SymPy takes out of a sum."""
    return isinstance(expr, sp.Piecewise) or any(map(_has_cases, expr.args))


def _new_sum(cls: type[sp.Sum], function: Any, *limits: Any, **options: Any) -> Any:
    """A sum over variables of an expression without cases, as SymPy makes it; any other is made by SymPy."""
    plain = cls is sp.Sum and limits and not options and isinstance(function, sp.Expr) and function is not sp.nan
    if not (plain and all(map(_is_plain, limits))) or _has_cases(function):
        return NEW_SUM(cls, function, *limits, **options)
    ranges = [sp.Tuple(*limit) for limit in limits]
    while type(function) is sp.Sum:  # Σ_k Σ_l is one sum over l and k
        ranges, function = [*function.limits, *ranges], function.function
    made = sp.Expr.__new__(cls, function, *ranges)
    made.is_commutative = function.is_commutative
    return made


def _is_plain(limit: Any) -> bool:
    """Whether a limit is a variable with two ends that are expressions."""
    if type(limit) not in (tuple, sp.Tuple) or len(limit) != 3:
        return False
    bound, *ends = limit
    return type(bound) is Variable and all(isinstance(end, sp.Expr) or type(end) is int for end in ends)


AS_COEFFICIENT = sp.Expr.as_coefficient
IMAGINARY = (sp.I, sp.pi * sp.I)


@lru_cache(maxsize=2**15)
def _is_imaginary(expr: sp.Basic) -> bool:
    """Whether the imaginary unit occurs in an expression."""
    return expr is sp.I or any(map(_is_imaginary, expr.args))


def _as_coefficient(self: sp.Expr, expr: Any) -> sp.Expr | None:
    """`Expr.as_coefficient`, without a search where `exp` asks for the coefficient of i or πi and i does not occur."""
    return None if expr in IMAGINARY and not _is_imaginary(self) else AS_COEFFICIENT(self, expr)


EXPRTOOLS: Any = sys.modules["sympy.core.exprtools"]
MONOTONIC_SIGN = EXPRTOOLS._monotonic_sign
LONG = 50


def _monotonic_sign(expr: sp.Expr) -> sp.Expr | None:
    """A number with the sign of an expression, where SymPy finds it from roots of derivatives; None for a long sum."""
    return None if isinstance(expr, sp.Add) and len(expr.args) > LONG else MONOTONIC_SIGN(expr)


SHORTCUTS: dict[tuple[Any, str], Any] = {
    (sp.Sum, "free_symbols"): property(_of_sum),
    (sp.IndexedBase, "_set_assumptions"): staticmethod(_set_assumptions),
    (sp.Indexed, "__new__"): staticmethod(_new_entry),
    (sp.Sum, "__new__"): staticmethod(_new_sum),
    (sp.Expr, "as_coefficient"): _as_coefficient,
    (ASSUMPTIONS, "_ask"): _ask,
    (EXPRTOOLS, "_monotonic_sign"): _monotonic_sign,
}
INHERITED = object()  # in place of an attribute that a class has from another
INSTALLED = {place: vars(place[0]).get(place[1], INHERITED) for place in SHORTCUTS}
_LOCK = Lock()
_contexts = 0


@contextmanager
def shortcuts() -> Iterator[None]:
    """Let SymPy use these within the context, in this process; outside of it, SymPy is as installed.

    Contexts can be nested and used in several threads.  What others have put in an attribute's place meanwhile is left there.
    """
    global _contexts
    with _LOCK:
        _contexts += 1
        if _contexts == 1:
            _exchange(INSTALLED, SHORTCUTS)
    try:
        yield
    finally:
        with _LOCK:
            _contexts -= 1
            if _contexts == 0:
                _exchange(SHORTCUTS, INSTALLED)


def _exchange(old: dict[tuple[Any, str], Any], new: dict[tuple[Any, str], Any]) -> None:
    for (owner, name), value in old.items():
        if vars(owner).get(name, INHERITED) is not value:
            continue
        if new[owner, name] is INHERITED:
            delattr(owner, name)
        else:
            setattr(owner, name, new[owner, name])


def installed(owner: type) -> dict[str, Any]:
    """Return the attributes of a class as they are outside of the context."""
    attributes = dict(vars(owner))
    for (other, name), value in SHORTCUTS.items():
        if other is owner and attributes.get(name) is value:
            attributes[name] = INSTALLED[owner, name]
    return {name: value for name, value in attributes.items() if value is not INHERITED}
