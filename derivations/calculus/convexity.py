"""Theorems on sums of symbolic length, as expressions ≥ 0 that are made for the sums of an inequality.

Each follows from convexity: Jensen's inequality Σ w φ(g) ≥ W φ(Σ w g/W) for weights w ≥ 0 with the sum W, the inequality of
Cauchy and Schwarz, the log-sum inequality and Pinsker's.  Sums such as Σ q = 1 need not be written: the weights are tried,
and the sums that a theorem speaks of are brought to normal form.  The tests evaluate all of them at random exact points.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement

import sympy as sp

from derivations.calculus.bounds import Check
from derivations.calculus.functions import lemmas_hold, pinsker, xlogx
from derivations.calculus.instances import instances
from derivations.calculus.naming import in_scope
from derivations.calculus.powers import plus
from derivations.calculus.screening import Facts
from derivations.calculus.sums import normal
from derivations.calculus.variables import Variable, fresh

MOST_WEIGHTS = 8  # that are tried over one range


@dataclass(frozen=True)
class Range:
    """The sums over one range in an expression: their indices, their summands, and the nonnegative weights that are tried."""

    gap: sp.Expr
    indices: tuple[Variable, ...]
    bodies: tuple[sp.Expr, ...]
    check: Check

    def sum(self, body: sp.Expr) -> sp.Expr:
        """The sum of a summand over this range, in normal form."""
        return normal(sp.Sum(body, *[(v, 1, v.domain.shape[0]) for v in self.indices]))

    def moves(self, expr: sp.Expr) -> bool:
        """Whether an expression depends on an index of the range."""
        return bool(expr.free_symbols & set(self.indices))

    def weights(self) -> list[sp.Expr]:
        """1, and the factors, denominators and masses of the summands that are ≥ 0."""
        factors = [factor for body in self.bodies for factor in sp.Mul.make_args(body)]
        parts = [factor if isinstance(factor, sp.exp) else factor.as_base_exp()[0] for factor in factors]
        parts += [entry for body in self.bodies for entry in in_scope(body, sp.Indexed)]
        parts += [sp.Mul(*[f for f in sp.Mul.make_args(body) if self.check(f, False)]) for body in self.bodies]
        tried = (part for part in dict.fromkeys(parts) if self.moves(part) and not isinstance(part, sp.log))
        return [sp.S.One, *[part for part in tried if self.check(part, False)]][:MOST_WEIGHTS]

    def divided(self, body: sp.Expr, weight: sp.Expr) -> sp.Expr | None:
        """A body = weight · quotient for all values of the weight, 0 included; None where the quotient may have no value."""
        quotient = body / weight
        below = [part.base for part in sp.Mul.make_args(quotient) if isinstance(part, sp.Pow) and not part.exp.is_nonnegative]
        return quotient if all(self.check(base, True) for base in below) else None


def theorems(gap: sp.Expr, check: Check, facts: Facts) -> Iterator[sp.Expr]:
    """Expressions that are ≥ 0 wherever they and the given one are defined."""
    ranges = _ranges(gap, check)
    for over in ranges:
        yield from _hypotheses(over, facts)
        for weight in over.weights():
            for body in over.bodies:
                yield from _products(over, body, weight)
                yield from _convex(over, body, weight)
        yield from _logarithms(over)
        yield from _divergences(over)
        yield from _homogeneous(over)
    yield from _processed(gap, check)


def _ranges(gap: sp.Expr, check: Check) -> list[Range]:
    """The sums of an expression that stand in no other sum, by their ranges, each range under indices of its own."""
    bodies: dict[tuple[sp.Expr, ...], list[sp.Expr]] = {}
    indices: dict[tuple[sp.Expr, ...], tuple[Variable, ...]] = {}
    for part in in_scope(gap, sp.Sum):
        highs = tuple(high for _, _, high in part.limits)
        own = indices.setdefault(highs, tuple(fresh(v) for v, *_ in part.limits))
        renamed = dict(zip(part.bound_symbols, own, strict=True))
        bodies.setdefault(highs, []).append(part.function.xreplace(renamed))
    return [Range(gap, indices[highs], tuple(own), check) for highs, own in bodies.items()]


def _products(over: Range, body: sp.Expr, weight: sp.Expr) -> Iterator[sp.Expr]:
    """Cauchy and Schwarz: Σ a Σ w ≥ (Σ h)² for a, w ≥ 0 and h² = a w, and Σ w x² Σ w − (Σ w x)² ≤ (Σ w)² Σ x²/2.

    The second holds since (Σ w x)² + Σ w Σ w x² ≥ 2 Σ w² x², which are the terms with equal indices of ½ ΣΣ w w′ (x + x′)², and
    2w(W − w) ≤ W²/2.
    """
    mass = over.sum(weight)
    if over.check(body, False) and (root := _root(body * weight, over.check)) is not None:
        yield from _squares(mass * over.sum(body), over.sum(root))
    square = over.divided(body**2, weight)
    if square is not None and over.check(square, False):
        yield from _squares(mass * over.sum(square), over.sum(body))
    x = over.divided(body, weight)
    if x is not None and x.is_real:
        yield mass**2 * over.sum(x**2) / 2 - mass * over.sum(body * x) + over.sum(body) ** 2


def _squares(product: sp.Expr, root: sp.Expr) -> Iterator[sp.Expr]:
    """What product ≥ root² says of both, and of their roots."""
    yield product - root**2
    yield sp.sqrt(product) - root
    yield sp.sqrt(product) + root


def _root(square: sp.Expr, check: Check) -> sp.Expr | None:
    """The root of a product as one of powers, of bases ≥ 0 or of even powers; None where there is no such product."""
    root = sp.S.One
    for factor in sp.Mul.make_args(sp.powsimp(square, force=False)):
        if isinstance(factor, sp.exp):
            root *= sp.exp(factor.args[0] / 2)
            continue
        base, exponent = factor.as_base_exp()
        if exponent.is_Integer and exponent % 2 == 0 and base.is_real:
            root *= sp.Abs(base) ** (exponent / 2)
        elif check(base, False):
            root *= base ** (exponent / 2)
        else:
            return None
    return root


def _convex(over: Range, body: sp.Expr, weight: sp.Expr) -> Iterator[sp.Expr]:
    """Jensen's inequality for a factor φ of a summand w φ(g): powers, exponentials and logarithms."""
    mass = over.sum(weight)
    for factor in sp.Mul.make_args(body):
        if over.moves(factor) and over.divided(body, factor) == weight and over.check(mass, True):
            base, power = (sp.S.Exp1, factor.args[0]) if isinstance(factor, sp.exp) else factor.as_base_exp()
            if isinstance(factor, sp.exp) and power.is_real:
                yield over.sum(body) - mass * sp.exp(over.sum(weight * power) / mass)
            elif isinstance(factor, sp.log) and over.check(factor.args[0], True):
                yield mass * sp.log(over.sum(weight * factor.args[0]) / mass) - over.sum(body)
            elif power.is_Rational and power not in (0, 1):
                yield from _power(over, weight, base, power)
    if weight is sp.S.One and over.check(body, True):  # 1 · g, of which a logarithm may be compared
        yield mass * sp.log(over.sum(body) / mass) - over.sum(sp.log(body))


def _power(over: Range, weight: sp.Expr, base: sp.Expr, power: sp.Rational) -> Iterator[sp.Expr]:
    """Σ w g^k ≥ W^(1−k) (Σ w g)^k for convex powers, and ≤ for 0 < k < 1."""
    mass, mean = over.sum(weight), over.sum(weight * base)
    gap = over.sum(weight * base**power) - mass ** (1 - power) * mean**power
    if power.is_Integer and power > 0 and power % 2 == 0 and base.is_real:
        yield gap
    elif over.check(base, power < 0):
        yield -gap if 0 < power < 1 else gap


def _logarithms(over: Range) -> Iterator[sp.Expr]:
    """W log(Σ w g/W) ≥ Σ w log g for a logarithm of a sum, Σ w g, of positive g."""
    inside = [part.args[0] for part in sp.ordered(over.gap.atoms(sp.log)) if isinstance(part.args[0], sp.Sum)]
    for body in over.bodies:
        if over.sum(body) not in inside:
            continue
        for weight in over.weights():
            quotient, mass = over.divided(body, weight), over.sum(weight)
            if quotient is not None and over.check(quotient, True) and over.check(mass, True):
                yield mass * sp.log(over.sum(body)) - mass * sp.log(mass) - over.sum(weight * sp.log(quotient))


def _divergences(over: Range) -> Iterator[sp.Expr]:
    """The log-sum inequality Σ y log(y/x) ≥ Y log(Y/X), and Pinsker's, Σ kl(y ‖ x) ≥ (3/2) (Σ |y − x|)²/(Y + 2X).

    The second is that of Cauchy and Schwarz for Σ (y − x)²/(y + 2x), which `pinsker` bounds summand by summand.
    """
    for y in over.weights() if over.gap.has(sp.log, xlogx) else ():
        for x in _references(over, y):
            if not over.check(x, True):
                continue
            whole, other = over.sum(y), over.sum(x)
            entropy = over.sum(xlogx(y) - y * sp.log(x))
            yield entropy - normal(xlogx(whole) - whole * sp.log(other))
            if lemmas_hold(pinsker(y, x)):
                yield entropy - whole + other - sp.Rational(3, 2) * over.sum(sp.Abs(y - x)) ** 2 / (whole + 2 * other)


def _references(over: Range, y: sp.Expr) -> Iterator[sp.Expr]:
    """The x of Σ y log(y/x) that are tried: e^h where −κ Σ y h stands beside κ Σ xlogx(y), and y ± z where |z| occurs."""
    terms = sp.Add.make_args(over.gap)
    cofactors: dict[sp.Expr, sp.Expr] = {}  # of h, by summand y h
    for body in over.bodies:
        h = over.divided(body, y)
        total = over.sum(body)
        if h is not None:
            cofactors[h] = sp.Add(*[term / total for term in terms if total in sp.Mul.make_args(term)])
    scales = [cofactors[h] for h in cofactors if h == sp.log(y)] or [
        sp.Add(*[term / over.sum(xlogx(y)) for term in terms if over.sum(xlogx(y)) in sp.Mul.make_args(term)])
    ]
    scale = scales[0] if scales[0] != 0 else sp.S.One
    if over.check(scale, True):
        logs = sp.Mul(*[h.args[0] ** (-c / scale) for h, c in cofactors.items() if isinstance(h, sp.log) and h != sp.log(y)])
        rest = sp.Add(*[-c / scale * h for h, c in cofactors.items() if not isinstance(h, sp.log) and not h.is_number])
        yield from dict.fromkeys((logs, logs * sp.exp(rest)))
    for part in sp.ordered({part for body in over.bodies for part in in_scope(body, sp.Abs)}):
        yield from (y - part.args[0], y + part.args[0])


def _homogeneous(over: Range) -> Iterator[sp.Expr]:
    """Σ |f| ≥ |Σ f| and Σ f₊ ≥ (Σ f)₊, with factors ≥ 0 drawn out of each."""
    for body in over.bodies:
        for factor in sp.Mul.make_args(body):
            if isinstance(factor, sp.Abs | plus) and factor.args[0].is_real:
                front = body / factor
                if over.check(front, False):
                    yield over.sum(body) - factor.func(over.sum(front * factor.args[0]))


def _hypotheses(over: Range, facts: Facts) -> Iterator[sp.Expr]:
    """Σ w f ≥ 0 and Σ w f g ≥ 0 for weights w ≥ 0 and what is ≥ 0 for all values of an index."""
    universal = tuple(fact for fact in facts if fact[2])
    known = [fact for fact, sense in instances(universal, sp.Tuple(*over.indices)) if sense is not None and over.moves(fact)]
    for weight in over.weights():
        yield from (over.sum(weight * fact) for fact in dict.fromkeys(map(normal, known)))
        for one, other in combinations_with_replacement(dict.fromkeys(map(normal, known)), 2):
            if one != other:
                yield over.sum(weight * one * other)


def _processed(gap: sp.Expr, check: Check) -> Iterator[sp.Expr]:
    """The log-sum inequality in each summand of a sum over i: Σ_l w p log(p/r) ≥ V log(V/X), V = Σ_l w p and X = Σ_l w r.

    V and X are the sums inside of `xlogx` and `log`, which depend on i alone.
    """
    outer = {v: high for part in gap.atoms(sp.Sum) for v, _, high in part.limits}
    inner = [part.args[0] for part in sp.ordered(gap.atoms(xlogx, sp.log)) if isinstance(part.args[0], sp.Sum)]
    moving = [
        (part, index)
        for part in dict.fromkeys(inner)
        for index in part.free_symbols & outer.keys()
        if len(part.free_symbols & outer.keys()) == 1 and len(part.limits) == 1
    ]
    for (one, its), (other, place) in ((a, b) for pair in combinations(moving, 2) for a, b in (pair, pair[::-1])):
        if its.domain != place.domain or one.limits[0][2] != other.limits[0][2]:
            continue
        i, l = fresh(its), fresh(one.limits[0][0])  # noqa: E741
        y = one.function.xreplace({its: i, one.limits[0][0]: l})
        x = other.function.xreplace({place: i, other.limits[0][0]: l})
        w = sp.Mul(*[factor for factor in sp.Mul.make_args(y) if factor in sp.Mul.make_args(x)])
        p, r = y / w, x / w
        if check(w, False) and check(p, False) and check(r, True):
            summed, total = (sp.Sum(part, (l, 1, l.domain.shape[0])) for part in (y, x))
            if check(normal(total), True):
                each = sp.Sum(w * xlogx(p) - y * sp.log(r), (l, 1, l.domain.shape[0]))
                yield normal(sp.Sum(each - xlogx(summed) + summed * sp.log(total), (i, 1, i.domain.shape[0])))
