"""Inequalities that follow from theorems on sums, by cases, or by comparing logarithms; tried where no sign can be read off.

A theorem g ≥ 0 serves like a bound in `bounds`: if a term of the gap is a multiple c ≥ 0 of a term of g, it suffices that
the gap minus c·g is ≥ 0.  What sample points refute is given up at once.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from itertools import islice

import sympy as sp

from derivations.calculus.bounds import dividing, merged
from derivations.calculus.convexity import theorems
from derivations.calculus.functions import xlogx
from derivations.calculus.naming import in_scope
from derivations.calculus.parts import oriented
from derivations.calculus.powers import plus
from derivations.calculus.screening import Facts, refuted
from derivations.calculus.signs import nonnegative, strictly_positive
from derivations.calculus.sums import normal
from derivations.calculus.variables import fresh

DEEPEST = 1  # how many theorems may be used in succession
MOST = 200  # remainders that are tried
MOST_KINKS = 4  # whose signs are distinguished
LONGEST = 200  # operations of an expression that is factored, or deduced
HIGHEST = 1000  # exponent in what is factored: as a degree, more takes too long


def deduced(gap: sp.Expr, strict: bool, facts: Facts = ()) -> bool:
    """Whether an expression in normal form is shown to be ≥ 0, or > 0, wherever it is defined."""
    return _deduced(gap, strict, facts, DEEPEST)


@lru_cache(maxsize=2**12)
def _deduced(gap: sp.Expr, strict: bool, facts: Facts, depth: int) -> bool:
    if sp.count_ops(gap) > LONGEST or refuted(gap, strict, facts, wide=True):
        return False
    with suppress(ValueError):  # what is too long, or has no normal form
        ways = (_by_summands, _by_cases, _by_logarithms, _by_exponentials, _by_theorems)
        return _signed(gap, strict, facts) or any(way(gap, strict, facts, depth) for way in ways)
    return False


def _signed(gap: sp.Expr, strict: bool, facts: Facts) -> bool:
    sign = strictly_positive if strict else nonnegative
    return any(sign(form, facts) for form in dict.fromkeys((factored(gap), gap, oriented(gap))))


def factored(expr: sp.Expr) -> sp.Expr:
    """A short expression over one denominator, in factors, of which squares have a sign: 1/4 − x(1 − x) = (1 − 2x)²/4.

    Each sum is a symbol meanwhile, since SymPy would write the exponential of a sum as a product; so is the root of x ≥ 0,
    where it occurs.
    """
    degrees = (number for power in expr.atoms(sp.exp, sp.Pow) for number in power.exp.atoms(sp.Rational))
    if sp.count_ops(expr) > LONGEST or any(max(abs(number.p), number.q) > HIGHEST for number in degrees):
        return expr
    symbols = {part: sp.Dummy() for part in sp.ordered(expr.atoms(sp.Sum))}
    plain = expr.xreplace(symbols)
    exponents = {power.base: power.exp.q for power in sp.ordered(plain.atoms(sp.Pow)) if power.exp.is_Rational}
    roots = {base: (q, sp.Dummy(nonnegative=True)) for base, q in exponents.items() if q > 1 and base.is_nonnegative}
    plain = plain.xreplace({base: root**q for base, (q, root) in roots.items()})
    written = {root: base ** sp.Rational(1, q) for base, (q, root) in roots.items()}
    return sp.factor(plain).xreplace(written).xreplace({symbol: part for part, symbol in symbols.items()})


def _by_summands(gap: sp.Expr, strict: bool, facts: Facts, depth: int) -> bool:
    """Whether all sums are one, of which every summand has the sign; R Σ w stands for R where masses w have the sum 1."""
    terms = sp.Add.make_args(merged(gap))
    total, *others = [term for term in terms if isinstance(term, sp.Sum)] or [sp.S.Zero]
    if total == 0 or others or len(total.limits) > 1:
        return False
    rest, (index, *ends) = sp.Add(*[term for term in terms if term != total]), total.limits[0]
    own = fresh(index)
    body = total.function.xreplace({index: own})
    if rest == 0:
        return _deduced(normal(body), strict, facts, depth)
    masses = [w for w in in_scope(body, sp.Indexed) if nonnegative(w) and normal(sp.Sum(w, (own, *ends))) == 1]
    return any(_deduced(normal(body + rest * w), False, facts, depth) for w in masses if not strict)


def _by_cases(gap: sp.Expr, strict: bool, facts: Facts, depth: int) -> bool:
    """Whether the sign follows both where x ≥ 0 and where x ≤ 0, for an |x| or x₊ with a plain x."""
    kinks = in_scope(gap, sp.Abs, plus)
    plain = [part for part in kinks if not part.args[0].atoms(sp.Abs, plus) & set(kinks) and part.args[0].is_real]
    if not plain or len(kinks) > MOST_KINKS:
        return False
    x = plain[0].args[0]
    below = sp.S.Zero if isinstance(plain[0], plus) else -x
    return all(
        _deduced(normal(gap.xreplace({plain[0]: value})), strict, (*facts, (normal(side), False, ())), depth)
        for side, value in ((x, x), (-x, below))
    )


def _by_logarithms(gap: sp.Expr, strict: bool, facts: Facts, depth: int) -> bool:
    """Whether κ log t + R has the sign: as t ≥ e^(−R/κ), or as log t ≥ 1 − 1/t."""
    logs, rest, scale = _logarithm(gap)
    if logs is None or not strictly_positive(scale, facts):
        return False
    above = sp.Mul(*[base**power for base, power in logs.items() if power > 0])
    below = sp.Mul(*[base**-power for base, power in logs.items() if power < 0])
    if not rest.has(sp.log, xlogx) and _deduced(normal(above * sp.exp(rest / scale) - below), strict, facts, depth):
        return True
    return any(_deduced(normal(form), strict, facts, depth) for form in _tangents(rest, scale, below / above))


def _logarithm(gap: sp.Expr) -> tuple[dict[sp.Expr, sp.Integer] | None, sp.Expr, sp.Expr]:
    """The integers n of a gap κ Σ n log A + R with the bases A, R and κ; no integers where the factors are in no such ratio."""
    factors: dict[sp.Expr, sp.Expr] = {}
    rest = []
    for term in sp.Add.make_args(gap):
        inside = [part for part in sp.Mul.make_args(term) if isinstance(part, sp.log)]
        if len(inside) == 1 and not (term / inside[0]).has(sp.log, sp.Sum):
            factors[inside[0].args[0]] = factors.get(inside[0].args[0], sp.S.Zero) + term / inside[0]
        else:
            rest.append(term)
    scale = next((factor.as_coeff_Mul()[1] for factor in factors.values()), sp.S.One)
    ratios = [sp.cancel(factor / scale) for factor in factors.values()]
    if not ratios or not all(ratio.is_Rational for ratio in ratios):
        return None, sp.Add(*rest), scale
    common = sp.ilcm(1, *[ratio.q for ratio in ratios])
    return {base: common * ratio for base, ratio in zip(factors, ratios, strict=True)}, sp.Add(*rest), scale / common


def _tangents(rest: sp.Expr, scale: sp.Expr, t: sp.Expr) -> Iterator[sp.Expr]:
    """R − κ log t from below: with log t ≤ t − 1, and with c t^s − κ log t ≥ (κ/s)(1 + log(c s/κ)) for terms c t^s of R."""
    yield rest - scale * (t - 1)
    powers = t.as_powers_dict()
    base = next(iter(powers), None)
    for term in sp.Add.make_args(rest):
        s = term.as_powers_dict().get(base, 0) / powers[base] if base in powers else sp.S.Zero
        c = term / t**s
        if s.is_Rational and s > 0 and c.is_Rational and c > 0:
            yield rest - term + scale / s * (1 + sp.log(c * s / scale))


def _by_exponentials(gap: sp.Expr, strict: bool, facts: Facts, depth: int) -> bool:
    """Whether A ≥ c e^h as log A ≥ log c + h, for c > 0 and A > 0."""
    for term in sp.Add.make_args(gap):
        powers = [factor for factor in sp.Mul.make_args(term) if isinstance(factor, sp.exp)]
        if len(powers) == 1 and strictly_positive(c := -term / powers[0], facts) and strictly_positive(gap - term, facts):
            return _deduced(normal(sp.log(gap - term) - sp.log(c) - powers[0].args[0]), strict, facts, depth)
    return False


def _by_theorems(gap: sp.Expr, strict: bool, facts: Facts, depth: int) -> bool:
    """Whether the gap minus a multiple of a theorem has the sign."""
    if depth == 0:
        return False
    check = _check(facts)
    return any(_deduced(rest, strict, facts, depth - 1) for rest in islice(_remainders(gap, check, facts), MOST))


def _check(facts: Facts) -> Callable[[sp.Expr, bool], bool]:
    return lambda part, sharp: strictly_positive(part, facts) if sharp else nonnegative(part, facts)


def _remainders(gap: sp.Expr, check: Callable[[sp.Expr, bool], bool], facts: Facts) -> Iterator[sp.Expr]:
    """What is left of a gap without a multiple of a theorem that shares a term with it and brings no other sums in."""
    tried, sums = set[sp.Expr](), gap.atoms(sp.Sum)
    for theorem in map(normal, theorems(gap, check, facts)):
        for term in sp.Add.make_args(gap):
            for factor in dividing(term, theorem, check) if theorem.atoms(sp.Sum) <= sums else ():
                rest = normal(gap - factor * theorem)
                if rest not in tried:
                    tried.add(rest)
                    yield rest
