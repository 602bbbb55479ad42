"""A limit in one variable: a scalar, a size, or one entry of a vector that moves alone.

The proof is by germs, which divide only by what is shown to be different from 0: it holds for every value of the other
variables.  What SymPy's calculus says at exact points of these, ties and zeros first, must not contradict it, and is itself
compared with certified values along the path.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import islice
from typing import Any, ClassVar

import sympy as sp

from derivations.calculus import sums
from derivations.calculus.balls import Point, Value, enclose, explicit
from derivations.calculus.defined import strangers, undefined
from derivations.calculus.differentiation import differentiate
from derivations.calculus.functions import Partial, kl, pinsker, reciprocal, xlogx
from derivations.calculus.germs import Germ, Germs
from derivations.calculus.points import points
from derivations.calculus.powers import bregman
from derivations.calculus.printing import text
from derivations.calculus.signs import nonzero
from derivations.calculus.sums import delta
from derivations.calculus.variables import Variable, variables_of
from derivations.domains import Index
from derivations.records import rendering
from derivations.records.claims import Witness
from derivations.records.normal_form import Sign
from derivations.relations.base import PROVED, Relation, Side, first, remaining
from derivations.relations.inequality import AtLeast
from derivations.relations.witnesses import differ, witness

POINTS = 16  # at which SymPy's limit is compared


@dataclass(frozen=True)
class Limit(Relation):
    """lim of `expr` as `variable` → `to` equals `limit`, from every side on which the variable can approach: from both sides
    of a number, but at 0 only from above if the variable is ≥ 0.

    With `between`, two expressions that it lies between everywhere have this limit: so many summands may tie for the largest.
    """

    sign: ClassVar[Sign] = Sign.LIMIT
    expr: sp.Expr
    variable: sp.Expr
    to: sp.Expr
    limit: sp.Expr
    between: tuple[sp.Expr, ...] = field(default=(), kw_only=True)

    @property
    def sides(self) -> tuple[sp.Expr, ...]:
        """The path and the limit."""
        return self.expr, self.limit

    @property
    def evaluated(self) -> tuple[sp.Expr, ...]:
        """The limit; the path has many values."""
        return (self.limit,)

    @property
    def parameters(self) -> tuple[sp.Expr, ...]:
        """The variable and its end."""
        return self.variable, self.to

    def editable(self, side: Side) -> tuple[sp.Expr, Callable[[sp.Expr], Relation]]:
        """The limit."""
        return self.limit, lambda new: replace(self, limit=new, at={})

    def latex(self, written: Callable[[sp.Expr], str]) -> str:
        """The limit as LaTeX."""
        path = f"\\lim_{{{written(self.variable)} \\to {written(self.to)}}}"
        return f"{path} \\left({written(self.expr)}\\right) = {written(self.limit)}"

    @property
    def moving(self) -> Variable:
        """The variable that moves; for a vector entry, a scalar that replaces it."""
        if isinstance(self.variable, sp.Indexed):
            label = self.variable.base.label
            return Variable(f"{label.name}#moving", type(label.domain)())
        return self.variable  # type: ignore[no-any-return]

    @property
    def path(self) -> sp.Expr:
        """The expression as a function of `moving` alone."""
        if isinstance(self.variable, sp.Indexed):
            return _moved(self.sides[0], self.variable, self.moving)
        return self.sides[0]

    def variables(self) -> list[Variable]:
        """The free variables without the moving scalar; the index of a moving entry is one of them."""
        named = variables_of(sp.Tuple(self.to, self.variable))
        return [v for v in dict.fromkeys((*super().variables(), *named)) if v != self.variable]

    def moving_names(self) -> tuple[Variable, ...]:
        """The variable that moves."""
        return tuple(variables_of(self.variable))

    def trivial(self) -> bool:
        """Whether the expression does not depend on the moving variable."""
        return not self.path.has(self.moving)

    @property
    def _label(self) -> Any:
        """The scalar or size that moves, or the label of the vector of which an entry moves."""
        return self.variable.base.label if isinstance(self.variable, sp.Indexed) else self.variable

    def malformed(self) -> str:
        """Return why nothing moves, or which part of the statement is none of the calculus; empty otherwise."""
        label = self._label
        if type(label) is not Variable or not (label.domain.is_independent or label.domain.is_size):
            return f"variable: expected a free scalar, a size or an entry of a free vector, got {self.variable}"
        if isinstance(self.variable, sp.Indexed) and (strange := next(strangers(self.variable), None)):
            return f"variable: expected an entry of a declared vector, got {strange}"
        return super().malformed()

    def ill_posed(self) -> str:
        """Return why the statement is not well posed: an invalid variable, target or limit; empty if it is."""
        return (
            self.malformed()
            or self._undefined_end()
            or self._outside()
            or self._moving_domain()
            or self._empty()
            or self._vacuous()
        )

    def _undefined_end(self) -> str:
        for name, part in (("limit", self.limit), ("to", self.to)):
            if self._moves(part):
                return f"{name}: expected one that does not depend on {self.variable}, got {text(part)}"
        facts = self.facts()
        missing = [condition for part in _finite(self.limit, self.to) for condition in undefined(part, facts)]
        return f"it is not shown that {missing[0]}" if missing else ""

    def _moves(self, part: sp.Expr) -> bool:
        """Whether a part depends on the moving variable, or may do so."""
        if not isinstance(self.variable, sp.Indexed):
            return bool(part.has(self.moving))
        try:
            return bool(_moved(part, self.variable, self.moving) != part)
        except ValueError:
            return True

    def _moving_domain(self) -> str:
        """Return why the domain depends on the moving variable or an entry may be out of range; empty otherwise."""
        label, parts = self._label, [*self.given, *self.premises]
        if any(label in relation.variables() for relation in parts):
            return f"given: expected hypotheses that do not depend on {self.variable}, got {parts[0]}"
        affected = [v for v in self.variables() if any(label in size.free_symbols for size in v.domain.shape) and v != label]
        if affected and not isinstance(self.variable, sp.Indexed):
            return f"variable: expected domains that do not move with {self.variable}, got {affected[0].name}"
        missing = undefined(self.variable) if isinstance(self.variable, sp.Indexed) else []
        return f"it is not shown that {missing[0]}" if missing else ""

    def example(self) -> Point | None:
        """A sample point of the other variables."""
        return next(self.points(), None)

    def _outside(self) -> str:
        domain, to = self._label.domain, self.to
        if not domain.is_end(to):
            return f"to: expected an end of the domain {self.variable} {domain.words}, got {to}"
        if not domain.is_whole and to.free_symbols and not nonzero(to, self.facts()):
            return f"to: expected an end that is shown to be other than 0, which is approached from above only, got {to}"
        return ""

    @property
    def expressions(self) -> tuple[sp.Expr, ...]:
        """The path and its bounds, the limit and the end where they are finite."""
        return *self.between, self.expr, *_finite(self.limit, self.to)

    def remainder(self) -> str:
        """Return the sign that is not proved, the different limit that was found, or the exact point that contradicts it."""
        if self.between:
            return self._outside_of_bounds() or first(self._unequal(bound) for bound in self.between) or self._contradiction()
        return self._unequal(self.path) or self._contradiction()

    def _contradiction(self) -> str:
        refuted = self.refute()
        return f"contradicted by SymPy {rendering.witness(refuted)}" if refuted else PROVED

    def _outside_of_bounds(self) -> str:
        """Return why the expression is not proved to lie between its bounds for every value of the variable."""
        if len(self.between) != 2 or isinstance(self.variable, sp.Indexed):
            return "between: expected a lower and an upper bound of a path in a scalar"
        if foreign := set(variables_of(sp.Tuple(*self.between))) - {*self.variables(), self.moving}:
            return f"between: expected variables of the statement, got {', '.join(sorted(v.name for v in foreign))}"
        facts = self.facts()
        if missing := [condition for part in (*self.between, self.path) for condition in undefined(part, facts)]:
            return f"between: it is not shown that {missing[0]}"
        return first(f"between: {left}" if (left := order.remainder()) else PROVED for order in self.consequences())

    def consequences(self) -> tuple[Relation, ...]:
        """Return the inequalities with the bounds; without these, nothing at a point."""
        if not self.between:
            return ()
        low, high = self.between
        return AtLeast(self.path, low, given=self.given), AtLeast(high, self.path, given=self.given)

    def _unequal(self, path: sp.Expr) -> str:
        """Return why the limit is not proved from some side for all values of the parameters; empty if it is."""
        return first(self._missed(path, end) for end in _ends(self.moving, self.to))

    def _missed(self, path: sp.Expr, end: Germ) -> str:
        claimed = self.sides[1]
        try:
            value = Germs({self.moving: end}, self.facts()).limit(_of_fixed_length(path, self.moving))
        except ValueError as error:
            return f"no limit for all values of the parameters: {error}"
        infinite = value.is_infinite or claimed.is_infinite
        if infinite and value != claimed:
            return f"the limit is {text(value)}"
        if not infinite and not sums.equal(value, claimed):
            return remaining(sums.normal(value - claimed))
        return PROVED

    def computed(self, point: Point, side: int) -> sp.Expr | None:
        """SymPy's limit at an exact point of the other variables, from above (1) or below (−1); None if SymPy finds none."""
        to = explicit(self.to, point)
        plain = sp.Symbol(f"{self.moving.name}_", **{"negative" if to.is_finite and (to or side) < 0 else "positive": True})
        path = _of_fixed_length(self.path, self.moving)
        if _has_moving_length(path, self.moving):
            return None
        path = explicit(_opened(path), point).xreplace({self.moving: plain})
        if to == -sp.oo:
            path, to = path.xreplace({plain: -plain}), sp.oo
        try:
            value = sp.limit(path, plain, to, "+" if side > 0 else "-")
        except (NotImplementedError, ValueError, RecursionError):
            return None
        return None if value.has(sp.Limit, sp.AccumBounds, sp.nan, sp.zoo) else value

    def points(self) -> Iterator[dict[Variable, Value]]:
        """The first exact points for all variables but the one that moves."""
        moves = any(self.moving in size.free_symbols for v in self.variables() for size in v.domain.shape)
        if moves or any(self.variable in hypothesis.variables() for hypothesis in self.given):
            return iter(())  # such a statement is ill posed
        sample = islice(points(self.variables(), self.at), POINTS)
        return (point for point in sample if all(hypothesis.holds_at(point) for hypothesis in self.given))

    def contradicted_at(self, point: Point) -> Witness | None:
        """Return a witness if SymPy finds another limit at an exact point and values along the path confirm it."""
        sides = _sides(self.moving, explicit(self.to, point))
        return next(filter(None, (self._contradicted_from(side, point) for side in sides)), None)

    def _contradicted_from(self, side: int, point: Point) -> Witness | None:
        value, claimed = self.computed(point, side), explicit(self.sides[1], point)
        if value is None or not (value.is_number and claimed.is_number) or claimed.has(sp.zoo, sp.nan):
            return None
        if not all(self._nearer(value, claimed, point, near) for near in self._late(point, side)):
            return None
        if value.is_infinite or claimed.is_infinite:
            return witness(point, str(value), str(claimed), "≠", "the limit") if value != claimed else None
        return differ(point, value, claimed)

    def _nearer(self, value: sp.Expr, claimed: sp.Expr, point: Point, late_value: Value) -> bool:
        """Return whether a certified value close to the end of the path is nearer to one limit than to the other."""
        path_value = enclose(_of_fixed_length(self.path, self.moving), {**point, self.moving: late_value})
        if not path_value.is_finite():
            return False
        if value.is_infinite:
            far = 1 if claimed.is_infinite else 1 + 2 * abs(enclose(claimed, {}))
            return bool(path_value > far if value > 0 else path_value < -far)
        near = abs(path_value - enclose(value, {}))
        return bool(near < 1 if claimed.is_infinite else near < abs(path_value - enclose(claimed, {})))

    def _late(self, point: Point, side: int) -> Iterator[Value]:
        """Return values of the variable that approach the end of the path."""
        to = explicit(self.to, point)
        for far in (10**9, 10**15):
            yield -side * far if to.is_infinite else Fraction(int(sp.floor(to * far)) + side, far)

    def __str__(self) -> str:
        return f"lim_{{{text(self.variable)} → {self.to}}} {text(self.expr)} = {text(self.sides[1])}"


def _finite(*ends: sp.Expr) -> tuple[sp.Expr, ...]:
    return tuple(end for end in ends if end not in (sp.oo, -sp.oo))


def _has_moving_length(expr: sp.Expr, moving: Variable) -> bool:
    return any(end.has(moving) for part in expr.atoms(sp.Sum) for _, *ends in part.limits for end in ends)


def _of_fixed_length(expr: sp.Expr, moving: Variable) -> sp.Expr:
    """The expression, or its normal form where it sums over a range that moves: Σ_l 1/m is 1."""
    try:
        return sums.normal(expr) if _has_moving_length(expr, moving) and not undefined(expr) else expr
    except ValueError:
        return expr


def _sides(variable: Variable, to: sp.Expr) -> tuple[int, ...]:
    """The sides from which the variable can approach an end within its domain: 1 from above, −1 from below."""
    if to in (sp.oo, -sp.oo):
        return (-1,) if to == sp.oo else (1,)
    return (1, -1) if to != 0 or variable.domain.is_whole else (1,)


def _ends(variable: Variable, to: sp.Expr) -> Iterator[Germ]:
    """The variable as a germ from each side: ±1/ε at ±∞, a ± ε at a."""
    one = sp.S.One
    for side in _sides(variable, to):
        if to in (sp.oo, -sp.oo):
            yield Germ({(-one, 0): -side * one})
        else:
            yield Germ({(one, 0): side * one} if to == 0 else {(sp.S.Zero, 0): to, (one, 0): side * one})


def _opened(expr: sp.Expr) -> sp.Expr:
    """The expression without functions of our own, which SymPy's limits do not know."""
    while expr.has(Partial, kl, bregman, pinsker, reciprocal):
        expr = expr.replace(lambda e: isinstance(e, Partial), lambda e: differentiate(*e.args))
        expr = expr.replace(lambda e: isinstance(e, kl | bregman | pinsker | reciprocal), lambda e: e.opened())
    return expr.replace(xlogx, lambda x: x * sp.log(x))


def _moved(expr: sp.Expr, entry: sp.Indexed, moving: Variable) -> sp.Expr:
    """The expression with the entry v_k written as a variable of its own, also where a sum runs over it.

    Raises ValueError where an index may or may not be k, and for a k that is no index.
    """
    label, (k,) = entry.base.label, entry.indices
    if type(k) is not Variable:
        raise ValueError(f"variable: expected an entry at an index, got {entry}")
    if label not in expr.free_symbols:
        return expr
    if (
        isinstance(expr, sp.Sum)
        and len(expr.limits) == 1
        and any(e.base.label == label and expr.limits[0][0] in e.free_symbols for e in expr.function.atoms(sp.Indexed))
    ):
        (bound, low, high), body = expr.limits[0], expr.function
        if (low, high) != (1, entry.base.shape[0]) or bound.domain.shape != (high,):
            raise ValueError(f"variable: expected sums over the whole range of {entry}, got {expr.limits[0]}")
        own = _moved(body.xreplace({bound: k}), entry, moving)  # no sum inside binds k or the same index: they are apart
        rest = Variable(bound.name, Index(bound.domain.shape, (k,)))
        others = _moved(body.xreplace({bound: rest}), entry, moving).xreplace({rest: bound})
        return own + sp.Sum((1 - delta(bound, k)) * others, expr.limits[0])
    if isinstance(expr, sp.Indexed) and expr.base.label == label:
        (index,) = expr.indices
        if index == k:
            return moving
        if k in getattr(getattr(index, "domain", None), "other_than", ()) or index in k.domain.other_than:
            return expr
        raise ValueError(f"variable: expected indices that are {k} or declared different from it, got {index}")
    return expr.func(*[_moved(arg, entry, moving) for arg in expr.args])
