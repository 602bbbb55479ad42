"""Bounds of parts of an expression, such as p_i ≤ 1 or x ≤ |x|, and the signs that follow from them.

Each bound is an expression g ≥ 0, such as |x| − x or 1 − p_i.  If a term of unknown sign is a multiple c ≥ 0 of a term
of g, it suffices that the expression minus c·g is ≥ 0.  The bounds are trusted: `tests/derivations/calculus/test_bounds.py`
evaluates each of them at random exact points.
"""

from collections.abc import Callable, Iterator
from itertools import combinations_with_replacement, permutations

import sympy as sp

from derivations.calculus.naming import bound_in, foreign_names
from derivations.calculus.orders import upto
from derivations.calculus.powers import plus
from derivations.calculus.variables import Variable

Check = Callable[[sp.Expr, bool], bool]  # whether an expression is shown to be ≥ 0, or > 0
Bound = tuple[sp.Expr, bool]  # an expression that is ≥ 0, or > 0

DEEPEST = 3  # how many bounds may be used in succession
MOST_TERMS = 6  # of an expression that is bounded


def follows(expr: sp.Expr, strict: bool, check: Check, known: tuple[Bound, ...] = (), depth: int = DEEPEST) -> bool:
    """Whether an expression is ≥ 0, or > 0, by what is known and by bounds of its parts; `check` decides what is manifest."""
    terms = sp.Add.make_args(expr)
    if len(terms) > 2 * MOST_TERMS:  # replacing a term by its bound may lengthen the expression
        return False
    without_sign = [term for term in terms if not check(term, False)]
    if not without_sign:
        return not strict or any(check(term, True) for term in terms)
    if len(without_sign) > depth:  # a bound takes the place of one term
        return False
    unsigned = without_sign[0]
    for bound, sharp in (*known, *bounds(expr, check)):
        for factor in dividing(unsigned, bound, check):
            rest = sp.expand_mul(expr - sp.expand_mul(factor * bound, deep=False), deep=False)
            still = strict and not (sharp and check(factor, True))
            if follows(rest, still, check, known, depth - 1):
                return True
    return _in_each_case(unsigned, expr, strict, check, known, depth)


def _in_each_case(unsigned: sp.Expr, expr: sp.Expr, strict: bool, check: Check, known: tuple[Bound, ...], depth: int) -> bool:
    """Whether a sign follows in both cases x₊ = 0 and x₊ = x, or in both cases |x| = x and |x| = −x."""
    inner = bound_in(expr)
    for part in sp.Mul.make_args(unsigned):
        if isinstance(part, plus | sp.Abs) and not part.free_symbols & inner:  # formal: rule_positive_part_cases
            x = part.args[0]
            # in its case the part is this value wherever it occurs, in functions and sums, too
            cases = [
                sp.Add(*[sp.expand_mul(term.xreplace({part: value}), deep=False) for term in sp.Add.make_args(expr)])
                for value in (x, sp.S.Zero if isinstance(part, plus) else -x)
            ]
            if any(case.has(sp.zoo, sp.nan) for case in cases):
                continue
            if all(follows(case, strict, check, known, depth - 1) for case in cases):
                return True
    return False


def merged(expr: sp.Expr) -> sp.Expr:
    """The expression with sums over one range added up summand by summand, a size m being the sum of m ones."""
    sums: dict[sp.Tuple, sp.Expr] = {}
    rest: list[sp.Expr] = []
    for term in sp.Add.make_args(expr):
        total = next((part for part in sp.Mul.make_args(term) if isinstance(part, sp.Sum)), None)
        if total is None or len(total.limits) > 1 or (term / total).free_symbols & set(total.bound_symbols):
            rest.append(term)
        else:
            ((bound, *ends),) = total.limits
            own = foreign_names([bound], expr)  # the other factors may bind the same name
            limits = sp.Tuple(own[bound], *ends)
            sums[limits] = sums.get(limits, sp.S.Zero) + term / total * total.function.xreplace(own)
    for (bound, low, high), body in sums.items():
        ones = [term for term in rest if low == 1 and high in sp.Mul.make_args(term) and bound not in term.free_symbols]
        rest = [term for term in rest if term not in ones]
        rest.append(sp.Sum(sp.Add(body, *[term / high for term in ones]), (bound, low, high)))
    return sp.Add(*rest)


def dividing(unsigned: sp.Expr, bound: sp.Expr, check: Check) -> Iterator[sp.Expr]:
    """The factors c with term = c · (a term of a bound), where c ≥ 0 and c is defined wherever the term is."""
    for term in sp.Add.make_args(bound):
        factor = unsigned / term
        divided = [part for part in sp.Mul.make_args(factor) if isinstance(part, sp.Pow) and not part.exp.is_nonnegative]
        defined = all(part in sp.Mul.make_args(unsigned) or check(part.base, True) for part in divided)
        if defined and check(factor, False):
            yield factor


def bounds(expr: sp.Expr, check: Check) -> Iterator[Bound]:
    """Expressions that are ≥ 0, or > 0, for all values of the parts of an expression."""
    for part in sorted(_parts(expr), key=sp.default_sort_key):
        if isinstance(part, sp.Indexed):
            yield from _of_mass(part)
        elif isinstance(part, sp.Sum):
            yield from _of_sum(part, expr, check)
        else:
            yield from _of_function(part, check)
    yield from _of_pairs(expr, check)
    yield from _of_products(expr, check)


def _parts(expr: sp.Expr) -> set[sp.Expr]:
    """The entries, sums and functions that are factors of an expression's terms, without those nested in them."""
    parts: set[sp.Expr] = set()
    for term in sp.Add.make_args(expr):
        for factor in sp.Mul.make_args(term):
            base = factor if isinstance(factor, sp.exp) else factor.as_base_exp()[0]
            parts |= _parts(base) if isinstance(base, sp.Add) else {base}
    return parts


def _of_function(part: sp.Expr, check: Check) -> Iterator[Bound]:
    """[i ≤ j] ≤ 1, x ≤ x₊ and |x|, |Σ x| ≤ Σ |x|; 1 + x ≤ exp x, log x ≤ x − 1; for x ≤ 0 also exp x ≤ 1."""
    x = part.args[0] if part.args else sp.S.Zero
    if isinstance(part, upto):
        yield 1 - part, False
    elif isinstance(part, plus):  # formal: rule_positive_part_above
        yield part - x, False
    elif isinstance(part, sp.Abs) and x.is_real:
        yield part - x, False
        yield part + x, False  # formal: rule_absolute_value
        if isinstance(x, sp.Sum):
            yield sp.Sum(sp.Abs(x.function), *x.limits) - part, False
    elif isinstance(part, sp.exp) and x.is_real:
        yield part - 1 - x, False  # formal: rule_exp_above_tangent
        if check(-x, False):
            yield 1 - part, check(-x, True)
    elif isinstance(part, sp.log):
        yield x - 1 - part, False  # formal: rule_log_below_tangent
        yield from _of_log_of_sum(part)
        if isinstance(x, sp.Add) and all(check(term, True) for term in x.args):
            yield from ((part - _log(term), True) for term in x.args)


def _of_log_of_sum(part: sp.Expr) -> Iterator[Bound]:
    """log Σ_l exp(g_l) ≥ Σ_l g_l/m + log m, as the mean of exponentials is at least the exponential of the mean."""
    inner = part.args[0]
    if isinstance(inner, sp.Sum) and len(inner.limits) == 1 and isinstance(inner.function, sp.exp):
        bound, low, high = inner.limits[0]
        if low == 1:
            front, exponent = inner.function.args[0].as_independent(bound, as_Add=False)
            yield part - sp.log(high) - front * sp.Sum(exponent, *inner.limits) / high, False


def _of_mass(entry: sp.Indexed) -> Iterator[Bound]:
    """The bounds that the domain of a vector sets to its entries."""
    label = entry.base.label
    if isinstance(label, Variable):
        yield from ((bound, False) for bound in label.domain.bounds(entry))


def _of_sum(total: sp.Sum, expr: sp.Expr, check: Check) -> Iterator[Bound]:
    """Σ_l f_l ≥ f_i where f ≥ 0, Σ_l f_l ≤ m where f ≤ 1, and |⟨q, k⟩| ≤ 1 for unit vectors."""
    body = total.function
    if len(total.limits) > 1:
        return
    ((bound, low, high),) = total.limits
    if low != 1 or not isinstance(bound, Variable) or bound.domain.shape != (high,):
        return
    if check(1 - body, False):
        yield high - total, False
    if _is_of_units(body, bound):
        yield from ((1 - total, False), (1 + total, False))
    rebound = bound in bound_in(body)  # `xreplace` would rename it there, too
    if not rebound and check(body, False):  # formal: rule_entry_below_sum
        yield from ((total - body.xreplace({bound: index}), False) for index in _indices(expr, total, high))


def _is_of_units(body: sp.Expr, bound: Variable) -> bool:
    """Whether the sum of a body is the inner product of two unit vectors, or of rows of length 1."""
    if not isinstance(body, sp.Mul) or len(body.args) != 2 or not all(isinstance(factor, sp.Indexed) for factor in body.args):
        return False
    return all(
        isinstance(factor.base.label, Variable)
        and factor.base.label.domain.unit_rows
        and factor.indices[-1] == bound
        and factor.base.shape[-1] == bound.domain.shape[0]
        and not any(bound in index.free_symbols for index in factor.indices[:-1])
        for factor in body.args
    )


def _indices(expr: sp.Expr, total: sp.Sum, high: sp.Expr) -> list[Variable]:
    """The free indices of an expression that have the range of a sum and are not bound in it."""
    bound = bound_in(total)
    free = {v for v in expr.free_symbols if isinstance(v, Variable) and v.domain.is_index}
    return sorted((v for v in free - bound if v.domain.shape == (high,)), key=sp.default_sort_key)


def _of_pairs(expr: sp.Expr, check: Check) -> Iterator[Bound]:
    """log a ≥ log b where a ≥ b, and so for products of exp; of a sum of exponentials, log Σ_l exp g_l ≥ g_i."""
    parts = sorted(_parts(expr), key=sp.default_sort_key)
    logarithms = {part: part.args[0] for part in parts if isinstance(part, sp.log)}
    powers = {part: part.args[0] for part in parts if isinstance(part, sp.exp)}
    for same in (logarithms, powers | _products_of_exponentials(expr)):
        for one, other in permutations(same, 2):
            if check(same[one] - same[other], False):
                yield one - other, check(same[one] - same[other], True)
    for part in parts:
        if isinstance(part, sp.log) and isinstance(part.args[0], sp.Sum):
            for bound, _ in _of_sum(part.args[0], expr, check):
                smaller = part.args[0] - bound
                if check(smaller, True):
                    yield part - _log(smaller), False


def _products_of_exponentials(expr: sp.Expr) -> dict[sp.Expr, sp.Expr]:
    """The exponent of exp x · exp y, x + y, for each term that has several exponentials."""
    factors = ([part for part in sp.Mul.make_args(term) if isinstance(part, sp.exp)] for term in sp.Add.make_args(expr))
    return {sp.Mul(*several): sp.Add(*[part.args[0] for part in several]) for several in factors if len(several) > 1}


def _log(x: sp.Expr) -> sp.Expr:
    return x.args[0] if isinstance(x, sp.exp) and x.args[0].is_real else sp.log(x)


def _of_products(expr: sp.Expr, check: Check) -> Iterator[Bound]:
    """Cauchy and Schwarz: √(Σ a) √(Σ b) ≥ |Σ c| and Σ a · Σ b ≥ (Σ c)² where a, b ≥ 0 and c² = ab."""
    sums = [part for part in sorted(_parts(expr), key=sp.default_sort_key) if isinstance(part, sp.Sum)]
    for one, other in combinations_with_replacement([part for part in sums if check(part.function, False)], 2):
        for third in sums:
            squared = one.function * other.function - third.function**2
            if one.limits == other.limits == third.limits and sp.expand(squared) == 0:
                yield one * other - third**2, False
                yield sp.sqrt(one) * sp.sqrt(other) - third, False
                yield sp.sqrt(one) * sp.sqrt(other) + third, False
    yield from _of_powers(sums, check)
    for square in sums:
        for third in sums:
            if square.limits == third.limits and len(third.limits) == 1 and check(square.function, False):
                yield from _of_weights(square, third)


def _of_powers(sums: list[sp.Sum], check: Check) -> Iterator[Bound]:
    """(Σ f)^k ≥ Σ f^k where f ≥ 0, for k = 2 and 3: the power of the sum has more terms, none of them negative."""
    for one in sums:
        for other in sums:
            for k in (2, 3):
                if one.limits == other.limits and other.function == one.function**k and check(one.function, False):
                    yield one**k - other, False


def _of_weights(square: sp.Sum, third: sp.Sum) -> Iterator[Bound]:
    """Σ p x² ≥ (Σ p x)² for the masses p of a simplex or a row, and m Σ x² ≥ (Σ x)²."""
    ((bound, low, high),) = third.limits
    weight = third.function**2 / square.function
    if low != 1 or bound.domain.shape != (high,) or sp.expand(square.function * weight - third.function**2) != 0:
        return
    if weight == 1:
        yield high * square - third**2, False
    elif isinstance(weight, sp.Indexed) and weight.indices[-1] == bound and not any(i.has(bound) for i in weight.indices[:-1]):
        label = weight.base.label
        if isinstance(label, Variable) and label.domain.unit_mass == 1 and label.domain.shape[-1] == high:
            yield square - third**2, False
