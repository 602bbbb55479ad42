"""What hypotheses say of an expression: those for all values of an index hold at each index over the same range.

An instance is the hypothesis at other indices, free ones or bound ones of a sum whose summand is looked at.  No sum inside
of the hypothesis may bind such an index, and an index that is declared to differ from others has no instances.
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice, product

import sympy as sp

from derivations.calculus.naming import canonical_names
from derivations.calculus.screening import Facts
from derivations.calculus.variables import Variable, fresh

MOST = 16  # instances of one hypothesis


@lru_cache(maxsize=2**14)
def instances(facts: Facts, expr: sp.Expr) -> tuple[tuple[sp.Expr, bool | None], ...]:
    """The facts about single expressions that hold for the free indices of an expression."""
    return tuple((instance, sense) for fact, sense, over in facts for instance in _instances(fact, over, expr))


def _instances(fact: sp.Expr, over: tuple[Variable, ...], expr: sp.Expr) -> Iterator[sp.Expr]:
    if not over:
        yield fact
    elif not any(v.domain.other_than for v in over):
        free = sorted((v for v in expr.free_symbols if isinstance(v, Variable) and v.domain.is_index), key=str)
        places = ([v for v in free if v.domain.shape == index.domain.shape] for index in over)
        for chosen in islice(product(*places), MOST):
            yield _renamed(_at(fact, dict(zip(over, chosen, strict=True))))


def _at(expr: sp.Expr, places: dict[Variable, Variable]) -> sp.Expr:
    """The expression at other indices, with fresh names for those that its sums bind."""
    if isinstance(expr, sp.Sum):
        places = {**places, **{v: fresh(v) for v in expr.bound_symbols}}
        return sp.Sum(_at(expr.function, places), *[(places[v], *ends) for v, *ends in expr.limits])
    if isinstance(expr, Variable):
        return places.get(expr, expr)
    if isinstance(expr, sp.Indexed):
        return expr.base[tuple(_at(index, places) for index in expr.indices)]
    return expr.func(*[_at(arg, places) for arg in expr.args]) if expr.args else expr


def _renamed(expr: sp.Expr) -> sp.Expr:
    """The expression with the names that the normal form gives to bound indices."""
    if not expr.has(sp.Sum) or not expr.args:
        return expr
    expr = expr.func(*map(_renamed, expr.args))
    if not isinstance(expr, sp.Sum):
        return expr
    named = canonical_names(expr.function, [v for v, *_ in expr.limits])
    return sp.Sum(expr.function.xreplace(named), *[(named[v], *ends) for v, *ends in expr.limits])
