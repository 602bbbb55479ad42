"""The number of terms of an expanded product or power, bounded before it is expanded.

A square of a thousand terms has half a million, and the product of twenty sums of ten more than any computer holds: an
expansion that nobody would live to see is refused in words.
"""

from math import comb, prod

import sympy as sp

MOST_TERMS = 50_000  # which take the normal form about half a minute


def check_length(expr: sp.Expr) -> None:
    """Raise ValueError if the expanded expression may have more than `MOST_TERMS` terms."""
    powers = [
        (base, int(exponent))
        for factor in sp.Mul.make_args(expr)
        for base, exponent in [factor.as_base_exp()]
        if base.is_Add and exponent.is_Integer and exponent > 0
    ]
    one_by_one = prod(comb(len(base.args) + times - 1, times) for base, times in powers)
    if one_by_one > MOST_TERMS and (most := min(one_by_one, _monomials(powers))) > MOST_TERMS:
        shown = f"{most:,}" if most < 10**12 else "very many"
        raise ValueError(f"expansion: expected at most {MOST_TERMS:,} terms, got a product of sums that may have {shown}")


def _monomials(powers: list[tuple[sp.Add, int]]) -> int:
    """The number of monomials in the parts of all sums, of a degree up to that of the product."""
    parts, degree = set[sp.Basic](), 0
    for base, times in powers:
        degrees = []
        for term in base.args:
            factors = [_part(factor) for factor in sp.Mul.make_args(term) if not factor.is_number]
            parts.update(part for part, _ in factors)
            degrees.append(sum(exponent for _, exponent in factors))
        degree += times * max(degrees)
    return comb(degree + len(parts), degree)


def _part(factor: sp.Expr) -> tuple[sp.Basic, int]:
    """A factor as a power of something with a positive exponent; 1/x is something other than x."""
    base, exponent = factor.as_base_exp()
    if not exponent.is_Integer:
        return factor, 1
    return (base, int(exponent)) if exponent > 0 else (1 / base, -int(exponent))
