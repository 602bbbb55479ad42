"""Formulas on one line: different formulas print differently."""

import sympy as sp

from derivations.calculus.printing import text


def test_indices_with_one_name_get_different_letters() -> None:
    """Bound indices that print alike get primes, in one sum and in nested ones."""
    size, first, second = sp.Symbol("m", integer=True, positive=True), sp.Symbol("l#1"), sp.Symbol("l#2")
    a, b = sp.IndexedBase("a"), sp.IndexedBase("b")
    assert text(sp.Sum(a[first] * b[second], (first, 1, size), (second, 1, size))) == "Σ_l,l′(a[l]*b[l′])"
    nested = sp.Sum(a[first] * sp.Sum(b[second] * a[first], (second, 1, size)), (first, 1, size))
    assert text(nested) == "Σ_l(a[l]*Σ_l′(a[l]*b[l′]))"
