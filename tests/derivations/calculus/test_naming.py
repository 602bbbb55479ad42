"""Names of bound indices: those for which the complete product sorts first, whatever the original names."""

from itertools import pairwise, permutations

import pytest
import sympy as sp

from derivations.calculus.naming import bound_in, canonical_names, foreign_names, in_scope
from derivations.calculus.sums import delta, normal, total
from derivations.calculus.variables import Variable, fresh, index, size, vector
from derivations.domains import Index
from tests.derivations.calculus.grammar import B, a, b, h, i, j, k, l, q, x

n = size("n")
g = index("g", n)

PRODUCTS: dict[str, tuple[sp.Expr, list[Variable]]] = {
    "one index": (a[j] * q[j], [j]),
    "two that are alike": (a[j] * b[k] * B[j, k], [j, k]),
    "two that differ": (sp.exp(a[j] - b[k]) * B[j, k] * B[k, j] ** 2, [j, k]),
    "three in a ring": (B[j, k] * B[k, l] * B[l, j] * a[j], [l, k, j]),
    "four, two of which are free nowhere else": (B[j, k] * B[l, h] * a[j] * b[h] * x, [h, l, k, j]),
    "two ranges": (a[j] * sp.exp(g * x) * b[k], [g, j, k]),
    "an inner sum": (sp.exp(-normal(total(l, B[j, l] * b[l]))) * a[j] * B[j, k] * normal(total(l, B[k, l])), [k, j]),
    "no product": (sp.log(B[j, k] + B[k, j] * x + a[j]), [k, j]),
    "a delta": (delta(j, k) * B[j, i] * a[k], [k, j]),
}


def first_sorted_product(body: sp.Expr, bound: list[Variable]) -> sp.Expr:
    """The product under every assignment of names; the first one in sorted order."""
    used, ordered = body.atoms(sp.Symbol) - set(bound), []
    for order in permutations(bound):
        names: dict[Variable, Variable] = {}
        depth = 1
        for v in order:
            while (name := Variable(f"ι{depth}", Index(v.domain.shape))) in used:
                depth += 1
            names[v] = name
            depth += 1
        ordered.append(body.xreplace(names))
    return min(ordered, key=sp.default_sort_key)


@pytest.mark.parametrize("name", PRODUCTS)
def test_the_order_is_that_of_the_complete_product(name: str) -> None:
    body, bound = PRODUCTS[name]
    names = canonical_names(body, bound)
    assert set(names) == set(bound)
    assert body.xreplace(names) == first_sorted_product(body, bound)


@pytest.mark.parametrize("name", PRODUCTS)
def test_the_original_names_of_indices_do_not_matter(name: str) -> None:
    body, bound = PRODUCTS[name]
    other = {v: fresh(v) for v in bound}
    renamed = body.xreplace(other)
    assert renamed.xreplace(canonical_names(renamed, [*other.values()])) == body.xreplace(canonical_names(body, bound))


def test_a_name_that_occurs_is_not_reused() -> None:
    inner = normal(total(l, B[j, l]))
    (bound_name,) = inner.bound_symbols
    assert bound_name not in canonical_names(inner * a[j], [j]).values()
    assert bound_name not in canonical_names(sp.exp(inner) * a[j] * b[k] * B[j, k], [j, k]).values()


def test_the_orders_of_many_indices_are_not_compared() -> None:
    """Nine indices in a chain have 362,880 orders."""
    chain = [index(f"c{place}", B.shape[0]) for place in range(9)]
    with pytest.raises(ValueError, match="expected at most 8 indices that occur in common factors, got 9"):
        normal(total(tuple(chain), sp.Mul(*[B[one, other] for one, other in pairwise(chain)])))
    assert normal(total(tuple(chain), sp.Mul(*[a[one] for one in chain]))) == normal(total(j, a[j])) ** 9


def test_foreign_names_are_neither_bound_nor_free_in_the_expression_and_always_the_same() -> None:
    m = size("m")
    l, k = index("l", m), index("k", m)  # noqa: E741
    once = foreign_names([l, k], sp.Sum(l * k, (l, 1, m)))
    twice = foreign_names([once[l], once[k]], sp.Sum(once[l], (once[l], 1, m)) + once[k])
    assert len({l, k, *once.values(), *twice.values()}) == 6
    assert foreign_names([l, k], sp.Sum(l * k, (l, 1, m))) == once


def test_what_no_sum_binds_is_in_scope() -> None:
    m = size("m")
    l, k = index("l", m), index("k", m)  # noqa: E741
    v, w = vector("v", m), vector("w", m, m)
    inner = sp.Sum(w[k, l] * v[k], (k, 1, m))
    expr = v[l] + sp.exp(inner)
    assert bound_in(expr) == {k}
    assert in_scope(expr, sp.Indexed) == [v[l]]
    assert in_scope(expr, sp.Sum) == [inner]
    assert in_scope(sp.Sum(expr, (l, 1, m)), sp.Indexed, sp.exp) == []
    assert in_scope(v[k] * expr, sp.Indexed) == [v[l]]  # v[k] occurs in the sum over k, too
