"""Theorems on sums: each that is made for an expression holds at exact points, entries of both signs and zeros included."""

from itertools import islice

import pytest
import sympy as sp

from derivations.calculus.balls import enclose
from derivations.calculus.convexity import theorems
from derivations.calculus.functions import xlogx
from derivations.calculus.points import points
from derivations.calculus.powers import plus
from derivations.calculus.shorthands import relative
from derivations.calculus.signs import nonnegative, strictly_positive
from derivations.calculus.sums import normal, total
from derivations.calculus.variables import index, interior, scalar, simplex, size, stochastic, variables_of, vector
from derivations.domains import Nonnegative, Positive

m, n = size("m"), size("n")
i, h, l = index("i", n), index("h", m), index("l", m)  # noqa: E741
a, s, b, c = vector("a", m), vector("s", m), vector("b", m, kind=Positive), vector("c", m, kind=Nonnegative)
q, r, u, x = simplex("q", m), simplex("r", m), interior("u", m), scalar("x")
R, B = stochastic("R", m, n), vector("B", m, n, kind=Positive)

GAPS = {
    "a quadratic form": total(l, q[l] * a[l] ** 2) - total(l, q[l] * a[l]) ** 2 + total(l, a[l] * s[l]),
    "powers": total(l, q[l] * a[l] ** 4 + c[l] ** 3) - total(l, sp.sqrt(b[l])) - total(l, u[l] / b[l] + b[l] ** -2),
    "exponentials": total(l, c[l] * sp.exp(a[l])) + total(l, u[l] * sp.exp(a[l])) - sp.exp(total(l, q[l] * a[l])),
    "logarithms": sp.log(total(l, b[l])) + sp.log(total(l, c[l] * b[l] + u[l])) - total(l, q[l] * sp.log(b[l])),
    "a divergence": total(l, relative(q[l], u[l])) - total(l, sp.Abs(q[l] - u[l])) ** 2 - x * total(l, q[l] * a[l]),
    "of masses that are no point of a simplex": total(l, relative(c[l], b[l])) - total(l, sp.Abs(b[l] - c[l])) ** 2,
    "of positive ones": 3 * total(l, relative(b[l], u[l])) - total(l, r[l] * sp.Abs(b[l] - u[l])),
    "kinks": total(l, q[l] * plus(a[l])) + total(l, sp.Abs(a[l])) - total(l, b[l] * sp.Abs(s[l])) - plus(total(l, a[l])),
    "quotients": total(l, a[l] ** 2 / b[l]) + total(l, q[l] ** 2 / u[l]) - total(l, sp.sqrt(q[l]) * sp.sqrt(r[l])),
    "a channel": total(l, relative(q[l], u[l])) - total(i, relative(total(l, q[l] * B[l, i]), total(l, u[l] * B[l, i]))),
    "pairs": total((l, i), c[l] * B[l, i] ** 2) - total((l, i), R[l, i] * q[l]) + total((l, i), a[l] * R[l, i]),
}


def check(part: sp.Expr, sharp: bool) -> bool:
    """Whether a sign can be read off."""
    return strictly_positive(part) if sharp else nonnegative(part)


@pytest.mark.parametrize("name", GAPS)
def test_theorems_hold_at_exact_points(name: str) -> None:
    gap = normal(GAPS[name])
    made = [theorem for theorem in dict.fromkeys(map(normal, theorems(gap, check, ()))) if theorem != 0]
    assert made
    for theorem in made:
        values = [enclose(theorem, point) for point in islice(points(variables_of(sp.Tuple(gap, theorem))), 0, 90, 3)]
        assert not any(value < 0 for value in values), theorem
        assert sum(value.is_finite() for value in values) > len(values) / 2, theorem  # a ball around √0 is not


def test_what_holds_for_all_indices_is_weighted() -> None:
    upper, lower = x - a[h], a[h]
    facts = ((upper, False, (h,)), (lower, True, (h,)))
    made = {normal(each) for each in theorems(normal(x - total(l, q[l] * a[l])), check, facts)}
    for true in (total(l, q[l] * upper.xreplace({h: l})), total(l, q[l] * (upper * lower).xreplace({h: l}))):
        assert normal(true) in made
    assert normal(total(l, q[l] * a[l] * s[l])) not in made


@pytest.mark.parametrize(
    ("gap", "wrong"),
    [
        (
            total(l, a[l] * s[l] ** 2) - total(l, a[l] * s[l]) ** 2,
            total(l, a[l]) * total(l, a[l] * s[l] ** 2) - total(l, a[l] * s[l]) ** 2,
        ),
        (total(l, a[l] * sp.Abs(s[l])), total(l, a[l] * sp.Abs(s[l])) - sp.Abs(total(l, a[l] * s[l]))),
        (total(l, a[l] * plus(s[l])), total(l, a[l] * plus(s[l])) - plus(total(l, a[l] * s[l]))),
        (total(l, q[l] * a[l] ** 3), total(l, q[l] * a[l] ** 3) - total(l, q[l] * a[l]) ** 3),
        (total(l, xlogx(q[l])) - total(l, q[l] * sp.log(b[l])), total(l, xlogx(q[l])) - total(l, q[l] * sp.log(b[l]))),
    ],
    ids=["weights of both signs", "for |x|", "for x₊", "a cube", "masses other than 1"],
)
def test_hypotheses_of_a_theorem_are_checked(gap: sp.Expr, wrong: sp.Expr) -> None:
    made = {normal(each) for each in theorems(normal(gap), check, ())}
    assert normal(wrong) not in made
    assert any(enclose(wrong, point) < 0 for point in points(variables_of(wrong)))


def test_weights_are_in_scope() -> None:
    """A factor of a sum inside of a summand is no weight: outside of it, the index of that sum would be free."""
    gap = normal(total(h, c[h]) + total(l, 1 / (1 + total(i, sp.exp(R[l, i] * B[l, i] * sp.exp(total(h, s[h] * B[h, i])))))))
    made = list(theorems(gap, check, ()))
    assert made
    assert all(set(variables_of(theorem)) <= set(variables_of(gap)) for theorem in made)
