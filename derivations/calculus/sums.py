"""Sums of symbolic length: construction, differentiation and the normal form that decides identities.

Three rules do the work: sums are linear and constants leave them; an index known to lie in 1…m collapses a delta,
Σ_l δ_lj g(l) = g(j); and δ_xy g(x, y) = δ_xy g(x, x).  To these come Σ_l q_l = 1 on a simplex and log of a product.
Two expressions are proved equal when the normal form of their difference is 0: a failure to reach 0 proves nothing.
"""

from collections.abc import Iterable
from contextlib import suppress
from functools import cache

import sympy as sp

from derivations.calculus import logs
from derivations.calculus.functions import Partial, kl, pinsker, reciprocal, xlogx
from derivations.calculus.lengths import check_length
from derivations.calculus.naming import canonical_names, foreign_names
from derivations.calculus.orders import counted, halved, is_turned, reversed_order, upto, within_one_range
from derivations.calculus.parts import oriented
from derivations.calculus.powers import bregman, plus
from derivations.calculus.signs import nonnegative, strictly_positive
from derivations.calculus.telescoping import telescoped
from derivations.calculus.variables import Variable, fresh

MOST_SCALES = 6  # of a sum of exponentials that is brought to one form


def total(bound: Variable | tuple[Variable, ...], body: sp.Expr) -> sp.Expr:
    """Σ over one index, or several; an index declared `other_than=(j,)` runs over everything but j.

    Raises ValueError for a summand with a power of the factor 1 − δ that leaves j out: divided by it, j would be in again.
    """
    new = {var: fresh(var) for var in ((bound,) if isinstance(bound, Variable) else bound)}
    apart = [1 - sp.KroneckerDelta(var, excluded) for var in new for excluded in var.domain.other_than]
    if any(factor.is_Pow and factor.base in apart for factor in sp.Mul.make_args(sp.sympify(body))):
        raise ValueError(f"total: expected a summand without powers of {', '.join(map(str, apart))}, got {body}")
    return sp.Sum(sp.Mul(body, *apart).xreplace(new), *[(v, 1, v.domain.shape[0]) for v in new.values()])


def delta(x: sp.Expr, y: sp.Expr) -> sp.Expr:
    """Kronecker's δ_xy of two indices over the same range."""
    return sp.KroneckerDelta(x, y)


@cache
def normal(expr: sp.Expr) -> sp.Expr:
    """The normal form: equal results mean equal expressions, for every size and every value in the domains.

    Raises ValueError for a sum over part of a range, a delta that need not meet its range, a derivative that is unknown, and
    more terms than can be handled.
    """
    expr = sp.sympify(expr)
    opened = _opened(expr)
    return opened if opened == expr else normal(opened)  # factors that merged may open once more


def _opened(expr: sp.Expr) -> sp.Expr:
    if isinstance(expr, sp.Sum):
        bound = [limit[0] for limit in expr.limits]
        openable = all(low == 1 and _runs_over(var, high) and not keep_out(var) for var, low, high in expr.limits)
        if not openable or len(set(bound)) < len(bound):
            raise ValueError(f"sum bounds: expected indices that run over their whole range, got {expr.limits}")
        return _sum(normal(expr.function), bound)
    if isinstance(expr, kl | bregman | pinsker | reciprocal):
        return normal(expr.opened())
    if isinstance(expr, Partial):
        slope = sp.diff(normal(expr.args[0]), expr.args[1])
        if slope.has(sp.Derivative, sp.Subs):
            raise ValueError(f"derivative: expected functions whose derivatives are known, got {expr.args[0]}")
        return normal(slope)
    if expr.args and not isinstance(expr, sp.Indexed | sp.IndexedBase | sp.KroneckerDelta):
        expr = expr.func(*[normal(arg) for arg in expr.args])
    if isinstance(expr, plus):
        return _positive_part(expr.args[0])
    if isinstance(expr, sp.Abs):
        return _absolute(expr.args[0])
    if isinstance(expr, upto):
        return _order(expr)
    if isinstance(expr, xlogx) and strictly_positive(expr.args[0]):
        return sp.expand_mul(expr.args[0] * _log(expr.args[0]), deep=False)  # formal: rule_xlogx_open
    if expr.has(sp.log):
        expr = expr.replace(lambda e: isinstance(e, sp.log), lambda e: _log(e.args[0]))
    if not _is_expanded(expr):
        product = isinstance(expr, sp.exp) and isinstance(expr.args[0], sp.Sum)  # which SymPy would open as a Product
        check_length(expr)
        # basic: inside sums
        expr = sp.expand(expr, deep=False, basic=False, power_exp=not product, power_base=False, log=False)
    return sp.Add(*[_term(term) for term in sp.Add.make_args(_powers(expr))])


def _is_expanded(expr: sp.Expr) -> bool:
    """Whether `expand` would not change an expression with expanded parts; SymPy takes long to find that out."""
    if isinstance(expr, sp.Mul):
        return not any((factor.base if isinstance(factor, sp.Pow) else factor).is_Add for factor in expr.args)
    return not isinstance(expr, sp.Pow | sp.exp)


def equal(left: sp.Expr, right: sp.Expr) -> bool:
    """Whether the two sides are proved equal; False means undecided, never different.

    Raises ValueError for an inexact number.
    """
    left, right = sp.sympify(left), sp.sympify(right)
    if left.has(sp.Float) or right.has(sp.Float):
        raise ValueError(f"number: expected exact numbers, got {left} = {right}")
    difference = normal(left - right)
    if _vanishes(difference):
        return True
    twice = oriented(normal(oriented(difference)))  # for the powers that the first time brings about
    forms = map(normal, (twice, logs.split(difference)))
    return any(form != difference and _vanishes(form) for form in forms) or _telescopes(difference)


def _telescopes(expr: sp.Expr) -> bool:
    """Whether a normal form, or its numerator, is 0 once its summands are moved; moved, it may have no normal form."""
    for form in dict.fromkeys((expr, _numerator(expr))):
        with suppress(ValueError):
            if (moved := telescoped(form)) != form and _vanishes(normal(moved)):
                return True
    return False


def _vanishes(expr: sp.Expr) -> bool:
    """Whether a normal form is 0, over a common denominator or summand by summand."""
    return bool(expr == 0 or _numerator(expr) == 0 or _cancels_by_summands(expr))


def _numerator(expr: sp.Expr) -> sp.Expr:
    return normal(sp.fraction(sp.together(expr))[0])


def _cancels_by_summands(expr: sp.Expr) -> bool:
    """Whether summands over one range add up to 0 over their common denominator, as do those that one sum multiplies."""
    several = [term for term in sp.Add.make_args(expr) if len(_sums_of(term)) > 1]
    if several:
        single = expr - sp.Add(*several)
        for common in dict.fromkeys(factor for term in several for factor in _sums_of(term)):
            if all(common in _sums_of(term) for term in several):
                return _cancels_by_summands(single) and _cancels_by_summands(sp.Add(*[term / common for term in several]))
        return False
    summands: dict[tuple[sp.Tuple, ...], sp.Expr] = {}
    for term in sp.Add.make_args(expr):
        if not (sums := _sums_of(term)) or (term / sums[0]).free_symbols & set(sums[0].bound_symbols):
            return bool(expr == 0)
        own = foreign_names(sums[0].bound_symbols, expr)  # the other factors may bind the same names
        body = term / sums[0] * sums[0].function.xreplace(own)
        summands[sums[0].limits] = summands.get(sums[0].limits, sp.S.Zero) + body
    return all(_numerator(summand) == 0 for summand in summands.values())  # formal: rule_summands


def _sums_of(term: sp.Expr) -> list[sp.Sum]:
    """The sums that a product is made of, a square twice."""
    return [factor for factor in _factors(term) if isinstance(factor, sp.Sum)]


def alike(left: sp.Expr, right: sp.Expr) -> bool:
    """Whether two expressions are the same as written, up to the names of bound indices and the order of terms."""
    return appearance(left) == appearance(right)


def appearance(expr: sp.Expr) -> str:
    """An expression as text, which is that of another one if and only if they are alike."""
    return _written(sp.sympify(expr), {})


def _written(expr: sp.Basic, bound: dict[sp.Basic, str]) -> str:
    """An expression as text, in which bound indices are numbered from the outside in."""
    if expr in bound:
        return bound[expr]
    if isinstance(expr, sp.Sum):
        names = {v: f"ι{len(bound) + n}" for n, v in enumerate(expr.bound_symbols)}
        ranges = [_written(end, bound) for _, *ends in expr.limits for end in ends]
        return f"Sum({_written(expr.function, bound | names)}; {ranges})"
    if isinstance(expr, Variable | sp.IndexedBase):  # two variables of one name may have different domains
        return f"@{id(expr.label if isinstance(expr, sp.IndexedBase) else expr)}"
    if isinstance(expr, sp.Integer):
        return str(expr.p)
    if not expr.args:
        return str(sp.srepr(expr))
    parts = [_written(arg, bound) for arg in expr.args]
    return f"{type(expr).__name__}({', '.join(sorted(parts) if isinstance(expr, sp.Add | sp.Mul) else parts)})"


def _powers(expr: sp.Expr) -> sp.Expr:  # formal: rule_power_of_product
    """Distribute powers over products of known sign, so that 1/(ab) and (1/a)(1/b) agree."""
    if isinstance(expr, sp.Add):
        return sp.Add(*map(_powers, expr.args))
    return sp.expand_power_base(expr, deep=False) if isinstance(expr, sp.Pow) else expr


def _log(arg: sp.Expr) -> sp.Expr:
    """Log of a product of positive factors as a sum; log exp x = x for real x, and log(e^x + e^y) = x + log(1 + e^(y−x))."""
    logs: list[sp.Expr] = []
    factors: list[sp.Expr] = []
    if arg.is_Add:
        exponent, arg = _exponential_factored(arg)
        logs, arg = [exponent], sp.factor_terms(arg)  # log(ax + ay) = log a + log(x + y)
    for factor in sp.Mul.make_args(arg):
        base, exponent = factor.as_base_exp()
        if isinstance(factor, sp.exp) and factor.args[0].is_real:
            logs.append(factor.args[0])  # formal: rule_log_exp
        elif base != arg and exponent.is_real and strictly_positive(base):
            logs.append(exponent * _log(base))  # formal: rule_log_of_power
        else:
            factors.append(factor)
    return sp.Add(*logs, sp.log(sp.Mul(*factors)))  # formal: rule_log_product


def _exponential_factored(arg: sp.Add) -> tuple[sp.Expr, sp.Expr]:
    """An exponent E and a sum S with e^E S = arg, the same S for e^x·arg: each term may be made the one without an
    exponential, and the sum that is ordered first is taken."""
    exponents = dict.fromkeys(_exponent(term) for term in arg.args)  # formal: rule_exponential_factored
    if set(exponents) == {sp.S.Zero} or len(exponents) > MOST_SCALES or not all(e.is_real for e in exponents):
        return sp.S.Zero, arg
    candidates = {e: arg if e == 0 else normal(sp.Add(*[term * sp.exp(-e) for term in arg.args])) for e in exponents}
    return min(candidates.items(), key=lambda item: sp.default_sort_key(item[1]))


def _exponent(term: sp.Expr) -> sp.Expr:
    """The exponent of the exponential that multiplies a term."""
    return sp.Add(*[factor.args[0] for factor in sp.Mul.make_args(term) if isinstance(factor, sp.exp)])


def _positive_part(arg: sp.Expr) -> sp.Expr:  # formal: rule_positive_part
    """(A − B)₊ = A where A, B ≥ 0 and AB = 0."""
    terms = sp.Add.make_args(arg)
    above = sp.Add(*[term for term in terms if nonnegative(term)])
    below = above - arg
    return above if nonnegative(below) and normal(above * below) == 0 else plus(arg)


def _order(order: upto) -> sp.Expr:
    """[i ≤ j] is 1 or 0 where the order is known, as that of an index and its greatest value."""
    i, j = order.args
    return sp.S.One if nonnegative(j - i) else sp.S.Zero if strictly_positive(i - j) else order


def _absolute(arg: sp.Expr) -> sp.Expr:
    """|xy| = |x| |y|, as far as the factors of a sum are common to its terms."""
    factors = sp.Mul.make_args(sp.factor_terms(arg))
    return sp.Mul(*[sp.Abs(sp.expand_mul(factor, deep=False)) for factor in factors]) if len(factors) > 1 else sp.Abs(arg)


def _is_complementary(term: sp.Expr) -> bool:
    """Whether a product contains a multiplier and a positive power of what it is complementary to."""
    powers = [factor.as_base_exp() for factor in sp.Mul.make_args(term)]
    positive = [base for base, exponent in powers if isinstance(base, sp.Indexed) and exponent.is_positive]
    declared = [x for x in positive if isinstance(x.base.label, Variable)]
    return any(vector[x.indices] in positive for x in declared for vector in x.base.label.domain.complements)


def _term(term: sp.Expr) -> sp.Expr:
    """Apply δ_xy g(x, y) = δ_xy g(x, x) to the free indices of one product, and μ_j p_j = 0 to complementary vectors."""
    if _is_complementary(term):  # formal: rule_complementary_slackness
        return sp.S.Zero
    term = sp.Mul(*map(_primitive, sp.Mul.make_args(_log_of_root(term))))
    for factor in sp.Mul.make_args(term):
        if is_turned(factor):
            return normal(sp.expand_mul(reversed_order(factor) * term / factor, deep=False))
        if isinstance(factor.as_base_exp()[0], sp.KroneckerDelta) and factor.as_base_exp()[1].is_positive:
            keep, drop = sorted(factor.as_base_exp()[0].args, key=sp.default_sort_key)  # formal: rule_delta_substitution
            if drop in keep_out(keep) or keep in keep_out(drop):  # formal: rule_delta_apart
                return sp.S.Zero
            rest = normal((term / factor).xreplace({drop: keep})) if isinstance(drop, Variable) else term / factor
            return sp.expand_mul(sp.KroneckerDelta(keep, drop) * rest, deep=False)
    return term


def _primitive(factor: sp.Expr) -> sp.Expr:
    """1/(2a + 2b) = (1/2)/(a + b)."""
    if isinstance(factor, sp.Pow) and factor.base.is_Add and factor.exp.is_Rational and factor.exp < 0:
        content, rest = factor.base.primitive()
        return content**factor.exp * rest**factor.exp
    return factor


def _log_of_root(term: sp.Expr) -> sp.Expr:
    """x^c φ(x^b) = b x^(b+c−1) φ(x) for φ(x) = x log x, wherever the power on the right is ≥ 0."""
    for factor in sp.Mul.make_args(term):
        if isinstance(factor, xlogx) and isinstance(factor.args[0], sp.Pow):
            x, b = factor.args[0].args
            rest = term / factor
            c = sum(part.as_base_exp()[1] for part in sp.Mul.make_args(rest) if part.as_base_exp()[0] == x)
            if x.is_nonnegative and b.is_Rational and b > 0 and sp.sympify(c).is_Rational and b + c >= 1:
                return rest / x**c * b * x ** (b + c - 1) * xlogx(x)  # formal: rule_log_of_root
    return term


def keep_out(var: sp.Expr) -> tuple[sp.Expr, ...]:
    """The indices that a variable is declared to differ from."""
    return var.domain.other_than if isinstance(var, Variable) else ()


def _sum(body: sp.Expr, bound: list[Variable]) -> sp.Expr:
    """Σ over `bound` of a normal body: term by term, inner sums that depend on `bound` merged into one."""
    return sp.Add(*[_sum_of_product(list(_factors(term)), bound) for term in sp.Add.make_args(body)])  # formal: rule_sum_linear


def _factors(term: sp.Expr) -> Iterable[sp.Expr]:
    for factor in sp.Mul.make_args(term):
        base, exponent = factor.as_base_exp()
        if isinstance(base, sp.Sum | sp.KroneckerDelta) and exponent.is_Integer and exponent > 0:
            yield from [base] * int(exponent)
        else:
            yield factor


def _sum_of_product(factors: list[sp.Expr], bound: list[Variable]) -> sp.Expr:
    flat: list[sp.Expr] = []
    for factor in factors:  # Σ_k a_k Σ_l b_kl = Σ_k Σ_l a_k b_kl, under fresh names
        if isinstance(factor, sp.Sum) and factor.free_symbols & set(bound):
            renaming = {limit[0]: fresh(limit[0]) for limit in factor.limits}
            bound = [*bound, *renaming.values()]
            flat.extend(_factors(factor.function.xreplace(renaming)))  # formal: rule_inner_sum
        else:
            flat.append(factor)
    for factor in flat:
        if isinstance(factor, sp.KroneckerDelta) and set(factor.args) & set(bound):
            summed = next(v for v in factor.args if v in bound)
            remaining = next(v for v in factor.args if v != summed)
            if not _lies_in(remaining, summed.domain.shape[0]):
                raise ValueError(f"delta: expected indices over equal ranges, got {factor}")
            rest = normal(sp.Mul(*flat).xreplace({summed: remaining}))  # formal: rule_delta_collapse
            return _sum(rest, [v for v in bound if v != summed])
    for position, factor in enumerate(flat):
        if (collapsed := _marginal(factor, flat, bound) or _length(factor, flat, bound)) is not None:
            marginal, summed = collapsed
            rest = [*flat[:position], marginal, *flat[position + 1 :]]
            return _sum_of_product(rest, [v for v in bound if v != summed])
    if (count := counted(flat, bound)) is not None:
        return _sum(normal(count[0]), [v for v in bound if v != count[1]])
    if (half := halved(flat, bound)) is not None:
        return _sum(normal(half), bound)
    if (row := _row_sum(flat, bound)) is not None:
        return _sum(normal(row[0]), [v for v in bound if v != row[1]])
    single = next((v for v in bound if v.domain.shape[0] == 1), None)
    if single is not None:
        return _sum(normal(sp.Mul(*flat).xreplace({single: sp.S.One})), [v for v in bound if v != single])
    for group in _components(flat, bound):  # formal: rule_product_of_sums
        if len(group[1]) < len(bound) or len(group[0]) < len(flat):
            outside = [f for f in flat if not f.free_symbols & set(group[1])]
            inside = [f for f in flat if f.free_symbols & set(group[1])]
            others = [v for v in bound if v not in group[1]]
            return _expand_product(_sum_of_product(outside, others), _sum_of_product(inside, group[1]))
    if not bound:
        return sp.Mul(*flat)
    return _atom(flat, bound)


def _row_sum(factors: list[sp.Expr], bound: list[Variable]) -> tuple[sp.Expr, Variable] | None:
    """Σ_i Σ_j a_ij / Σ_l a_il = Σ_i 1: evaluate an inner sum that is also a denominator."""
    for summed in bound:
        inside = [f for f in factors if summed in f.free_symbols]
        rest = [f for f in factors if summed not in f.free_symbols]
        below = {f.base for f in rest if isinstance(f, sp.Pow) and isinstance(f.base, sp.Sum) and f.exp.is_negative}
        if below and inside and (inner := _sum_of_product(inside, [summed])) in below:
            return sp.Mul(inner, *rest), summed  # formal: rule_row_sum
    return None


def _length(factor: sp.Expr, factors: list[sp.Expr], bound: list[Variable]) -> tuple[sp.Expr, Variable] | None:
    """Σ_j q_j² = 1 for a unit vector, or for a row of a matrix with unit rows, when nothing else depends on the index."""
    entry, power = factor.as_base_exp()
    label = entry.base.label if isinstance(entry, sp.Indexed) else None
    if power != 2 or not isinstance(label, Variable) or not label.domain.unit_rows:
        return None
    *row, summed = entry.indices
    apart = summed in bound and not any(summed in index.free_symbols for index in row)
    alone = sum(summed in other.free_symbols for other in factors) == 1
    return (sp.S.One, summed) if apart and alone and _runs_over(summed, entry.base.shape[-1]) else None


def _expand_product(a: sp.Expr, b: sp.Expr) -> sp.Expr:
    check_length(product := a * b)
    return sp.expand_mul(product, deep=False)


def _components(factors: list[sp.Expr], bound: list[Variable]) -> Iterable[tuple[list[sp.Expr], list[Variable]]]:
    """Groups of factors that share bound indices, with these indices; an unused index is a group of its own."""
    todo = list(bound)
    while todo:
        group, touched = [todo.pop()], []
        while True:
            more = [f for f in factors if f not in touched and f.free_symbols & set(group)]
            if not more:
                break
            touched += more
            joined = [v for v in todo if any(v in f.free_symbols for f in more)]
            group += joined
            todo = [v for v in todo if v not in joined]
        yield touched, group


def _atom(factors: list[sp.Expr], bound: list[Variable]) -> sp.Expr:
    """One sum that does not split: known value, or a Sum whose bound names depend on its structure only."""
    if not factors:
        return sp.Mul(*[v.domain.shape[0] for v in bound])  # formal: rule_size
    if len(factors) == 1 and _has_unit_mass(factors[0], bound):  # formal: rule_unit_mass
        return sp.S.One
    base, k = factors[0].as_base_exp()
    if [base] == bound and len(factors) == 1 and k.is_Integer and k > 0:
        return _powers_of_integers(int(k), bound[0].domain.shape[0])
    number = sp.Mul(*[f for f in factors if f.is_number])
    body = sp.Mul(*[f for f in factors if not f.is_number])
    named = canonical_names(body, bound)  # formal: rule_exchange
    if (other := _turned(body, bound, named)) is not None:
        return _sum(sp.expand_mul(number * other, deep=False), bound)
    return number * sp.Sum(body.xreplace(named), *[(v, 1, v.domain.shape[0]) for v in named.values()])


def _powers_of_integers(k: int, size: sp.Expr) -> sp.Expr:
    """1^k + … + m^k, by Faulhaber's formula."""
    return sp.expand((sp.bernoulli(k + 1, size + 1) - sp.bernoulli(k + 1, 1)) / (k + 1))


def _turned(body: sp.Expr, bound: list[Variable], named: dict[Variable, Variable]) -> sp.Expr | None:
    """The summand with one [i ≤ j] by [j ≤ i], where the normal form writes the sum so."""
    for order in filter(within_one_range, sp.Mul.make_args(body)):
        rest = sp.Mul(*[factor for factor in sp.Mul.make_args(body) if factor is not order])
        turned = rest * upto(*order.args[::-1])
        before, after = order.args[0] not in bound, order.args[1] not in bound
        keys = [
            sp.default_sort_key(each.xreplace(names))
            for each, names in ((turned, canonical_names(turned, bound)), (body, named))
        ]
        if (after, keys[0]) < (before, keys[1]):
            return reversed_order(order) * rest
    return None


def _runs_over(var: sp.Expr, size: sp.Expr) -> bool:
    """Whether an index ranges over 1…size."""
    return isinstance(var, Variable) and var.domain.is_index and var.domain.shape == (size,)


def _lies_in(position: sp.Expr, size: sp.Expr) -> bool:
    """Whether the index, or the fixed position, is known to lie in 1…size and an index to run over all of it."""
    if isinstance(position, Variable):
        return _runs_over(position, size)
    return bool(position.is_Integer and position >= 1 and nonnegative(size - position))


def _has_unit_mass(factor: sp.Expr, bound: list[Variable]) -> bool:
    """Whether the sum runs over all entries of a point of a simplex."""
    if not isinstance(factor, sp.Indexed) or not isinstance(factor.base.label, Variable):
        return False
    axes = [(i, size) for i, size in zip(factor.indices, factor.base.shape, strict=True) if size != 1]
    complete = {i for i, _ in axes} == set(bound) and len(axes) == len(bound) and all(_lies_in(i, size) for i, size in axes)
    return complete and factor.base.label.domain.unit_mass == len(factor.indices)


def _marginal(factor: sp.Expr, factors: list[sp.Expr], bound: list[Variable]) -> tuple[sp.Expr, Variable] | None:
    """Σ_j P_ij = a_i and Σ_i P_ij = b_j for a coupling P, when nothing else in the product depends on the index.

    A plan with unit rows has Σ_j P_ij = 1 and nothing known of its columns.
    """
    label = factor.base.label if isinstance(factor, sp.Indexed) else None
    for axis, marginal in label.domain.line_sums if isinstance(label, Variable) else ():
        summed, remaining = factor.indices[axis], factor.indices[1 - axis]
        apart = summed in bound and _lies_in(remaining, factor.base.shape[1 - axis]) and summed not in remaining.free_symbols
        if apart and sum(summed in f.free_symbols for f in factors) == 1 and _runs_over(summed, factor.base.shape[axis]):
            value = sp.S.One if marginal is None else marginal[remaining]
            return value, summed  # formal: rule_marginal_rows, rule_marginal_columns
    return None
