"""The single edits of an expression.

An edit is a position in the expression tree and a new node for it.  The expression is rebuilt only for a chosen edit.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import sympy as sp

from derivations.calculus.functions import Partial, kl, xlogx
from derivations.calculus.powers import plus
from derivations.calculus.printing import text
from derivations.calculus.signs import strictly_positive
from derivations.calculus.variables import Variable

LONGEST = 40  # characters of a part that a name shows
TERMS = 4  # of a sum of terms that are edited


@dataclass(frozen=True)
class Edit:
    """The kind of an edit, its description in words, and the new node at a position of the tree."""

    sort: str
    name: str
    path: tuple[int, ...]
    node: sp.Expr

    def made(self, expr: sp.Expr) -> sp.Expr:
        """The expression with this edit; raises ValueError where it cannot be written down."""
        return _put(expr, self.path, self.node)


def edits(expr: sp.Expr, names: Sequence[Variable]) -> list[Edit]:
    """Every single edit of an expression of these variables; edits of the whole expression come first."""
    expr = sp.sympify(expr)
    indices = [v for v in names if v.domain.is_index]
    return [*_whole(expr, names, indices), *_inside(expr, (), indices)]


def _put(expr: sp.Expr, path: tuple[int, ...], node: sp.Expr) -> sp.Expr:
    if not path:
        return node
    n, *rest = path
    return expr.func(*expr.args[:n], _put(expr.args[n], tuple(rest), node), *expr.args[n + 1 :])


def _shown(expr: sp.Expr) -> str:
    written = text(expr)
    return written if len(written) <= LONGEST else f"{written[: LONGEST - 1]}…"


# ── of the whole expression ──────────────────────────────────────────────────────────────────────────────────────────


def _whole(expr: sp.Expr, names: Sequence[Variable], indices: Sequence[Variable]) -> Iterator[Edit]:
    if expr.is_number:
        other = expr + 1 if expr.is_finite else sp.S.Zero
        yield Edit("constant", f"{text(other)} for {text(expr)}", (), other)
    yield Edit("sign", "the sign of all of it", (), -expr)
    yield Edit("factor", "twice as much", (), 2 * expr)
    yield Edit("factor", "half as much", (), expr / 2)
    moving = {node.args[1] for node in expr.atoms(Partial)}
    present = [v for v in names if v in expr.free_symbols and v.domain.is_scale]
    for v in (v for v in present if v not in moving):  # ∂/∂(2v) is no derivative
        yield Edit("scalar", f"2·{v} for {v} throughout", (), expr.xreplace({v: 2 * v}))
        yield Edit("scalar", f"{v}² for {v} throughout", (), expr.xreplace({v: v**2}))
    for v in (v for v in names if v.domain.is_scale or v.domain.is_size):
        yield Edit("size" if v.domain.is_size else "scalar", f"times {v}", (), v * expr)
        yield Edit("size" if v.domain.is_size else "scalar", f"divided by {v}", (), expr / v)
    free = [v for v in indices if v in expr.free_symbols]
    for n, v in enumerate(free):
        for other in free[n + 1 :]:
            if v.domain.shape == other.domain.shape:
                swapped = expr.xreplace({v: other, other: v})
                yield Edit("index", f"{_name(v)} and {_name(other)} are exchanged", (), swapped)


# ── of a part ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _inside(expr: sp.Expr, path: tuple[int, ...], indices: Sequence[Variable]) -> Iterator[Edit]:
    """The edits at a node, then those of its parts; `indices` are the indices in scope there."""
    yield from _here(expr, path, indices)
    if isinstance(expr, sp.Sum):
        yield from _inside(expr.function, (*path, 0), [*indices, *expr.bound_symbols])
    elif isinstance(expr, Partial):
        yield from _inside(expr.args[0], (*path, 0), indices)
    elif not isinstance(expr, sp.Indexed | sp.KroneckerDelta):
        for n, arg in enumerate(expr.args):
            yield from _inside(arg, (*path, n), indices)


def _here(expr: sp.Expr, path: tuple[int, ...], indices: Sequence[Variable]) -> Iterator[Edit]:
    if isinstance(expr, sp.Add):
        yield from _of_terms(expr, path)
    elif isinstance(expr, sp.Pow):
        yield from _of_power(expr, path)
    elif isinstance(expr, sp.Indexed):
        yield from _of_entry(expr, path, indices)
    elif isinstance(expr, sp.KroneckerDelta):
        yield Edit("delta", f"{text(expr)} is 1", path, sp.S.One)
    elif isinstance(expr, sp.Sum):
        yield from _of_sum(expr, path, indices)
    elif isinstance(expr, Variable) and expr.domain.is_scale and path:
        yield Edit("lost", f"{expr} is lost once", path, sp.S.One)
    elif isinstance(expr, sp.Rational) and path and expr > 0 and expr != 1:
        yield Edit("coefficient", f"1 for {expr}", path, sp.S.One)
    else:
        yield from _of_function(expr, path)


def _of_terms(expr: sp.Add, path: tuple[int, ...]) -> Iterator[Edit]:
    for term in sorted(expr.args, key=lambda t: not t.has(sp.Sum))[:TERMS]:  # means first
        rest = expr - term
        yield Edit("term", f"{_shown(term)} is lost", path, rest)
        yield Edit("sign", f"the sign of {_shown(term)}", path, rest - term)
        yield Edit("factor", f"{_shown(term)} counts twice", path, rest + 2 * term)


def _of_power(expr: sp.Pow, path: tuple[int, ...]) -> Iterator[Edit]:
    base, exponent = expr.as_base_exp()
    if exponent.is_Rational:
        new = exponent - 1 if exponent < 0 else exponent + 1
        yield Edit("exponent", f"the exponent {new} for {exponent} of {_shown(base)}", path, sp.Pow(base, new))
    if exponent == 2:
        yield Edit("exponent", f"{_shown(base)} is not squared", path, base)


def _of_entry(expr: sp.Indexed, path: tuple[int, ...], indices: Sequence[Variable]) -> Iterator[Edit]:
    for n, index in enumerate(expr.indices):
        for other in indices:
            if other != index and isinstance(index, Variable) and index.domain.shape == other.domain.shape:
                new = expr.base[(*expr.indices[:n], other, *expr.indices[n + 1 :])]
                yield Edit("index", f"{_name(other)} for {_name(index)} in {text(expr)}", path, new)
    if len(expr.indices) == 2 and expr.base.shape[0] == expr.base.shape[1]:
        yield Edit("index", f"{text(expr)} is transposed", path, expr.base[tuple(reversed(expr.indices))])


def _of_sum(expr: sp.Sum, path: tuple[int, ...], indices: Sequence[Variable]) -> Iterator[Edit]:
    if len(expr.limits) == 1:
        ((bound, _, high),) = expr.limits
        yield Edit("mean", f"a mean over {_name(bound)} for {_shown(expr)}", path, expr / high)
        for other in indices:
            if other.domain.shape == bound.domain.shape:
                freed = expr.function.xreplace({bound: other})
                yield Edit("bound", f"no sum over {_name(bound)}, but {_name(other)}, in {_shown(expr)}", path, freed)


def _of_function(expr: sp.Expr, path: tuple[int, ...]) -> Iterator[Edit]:
    if isinstance(expr, sp.exp):
        inner = expr.args[0]
        new = sp.log(inner) if strictly_positive(inner) else inner
        yield Edit("function", f"{_shown(new)} for {_shown(expr)}", path, new)
    elif isinstance(expr, sp.log):
        yield Edit("function", f"exp for log in {_shown(expr)}", path, sp.exp(expr.args[0]))
    elif isinstance(expr, xlogx):
        yield Edit("function", f"exp for log in {_shown(expr)}", path, expr.args[0] * sp.exp(expr.args[0]))
    elif isinstance(expr, plus | sp.Abs):
        yield Edit("function", f"{_shown(expr.args[0])} for {_shown(expr)}", path, expr.args[0])
    elif isinstance(expr, kl) and strictly_positive(expr.args[0]):
        yield Edit("function", f"the arguments of {_shown(expr)} are exchanged", path, kl(*reversed(expr.args)))


def _name(index: Variable) -> str:
    return str(index.name.split("#")[0])
