"""The kernel proves what is true for every size, and nothing else (notation of `grammar`, p = softmax(a/y))."""

import random
from collections.abc import Callable
from fractions import Fraction

import pytest
import sympy as sp
from flint import arb

from derivations.calculus.balls import enclose
from derivations.calculus.functions import derivative, kl, xlogx
from derivations.calculus.points import points
from derivations.calculus.signs import nonnegative, strictly_positive
from derivations.calculus.sums import delta, equal, normal, total
from derivations.calculus.variables import Variable, coupling, index, positive, scalar, simplex, size, unit, vector
from derivations.domains import Nonzero
from tests.derivations.calculus.grammar import NAMES, B, C, Grammar, P, R, S, a, b, c, h, i, j, k, l, m, n, q, w, x, y, z

Z = total(l, sp.exp(a[l] / y))
free = index("k", m)  # k without the promise k ≠ j
bare = vector("p", m)


def p(key: sp.Expr) -> sp.Expr:
    return sp.exp(a[key] / y) / Z


mean, square = total(l, q[l] * a[l]), total(l, q[l] * a[l] ** 2)

TRUE = {
    "Σ p = 1": (total(j, p(j)), 1),
    "softmax Jacobian": (derivative(p(i), a[j]), p(i) * (delta(i, j) - p(j)) / y),
    "softmax Jacobian off the diagonal": (derivative(p(j), a[k]), -p(j) * p(k) / y),
    "softmax in the temperature": (derivative(p(j), y), -p(j) * (a[j] - total(i, p(i) * a[i])) / y**2),
    "gradient of log-sum-exp": (derivative(y * sp.log(Z), a[j]), p(j)),
    "Fisher matrix": (
        total(i, p(i) * derivative(sp.log(p(i)), a[j]) * derivative(sp.log(p(i)), a[l])),
        (delta(j, l) * p(j) - p(j) * p(l)) / y**2,
    ),
    "Hessian of log-sum-exp": (derivative(derivative(sp.log(Z), a[j]), a[l]), (delta(j, l) * p(j) - p(j) * p(l)) / y**2),
    "variance": (total(j, q[j] * (a[j] - mean) ** 2), square - mean**2),
    "variance in pairs": (total((i, j), q[i] * q[j] * (a[i] - a[j]) ** 2) / 2, square - mean**2),
    "column sums": (total(j, P[j, h]), w[h]),
    "total mass": (total((j, h), P[j, h]), 1),
    "unit rows": (total((j, h), R[j, h] * a[j]), total(j, a[j])),
    "mass of a matrix simplex": (total((i, j), S[j, i]), 1),
    "cost in the marginals": (total((j, h), P[j, h] * (a[j] + c[h])), total(j, q[j] * a[j]) + total(h, w[h] * c[h])),
    "triple sum": (total((i, j, l), B[i, j] * B[j, l] * a[l]), total(l, a[l] * total(j, B[j, l] * total(i, B[i, j])))),
    "product of sums": (total(i, a[i]) * total(i, b[i]), total((i, j), a[i] * b[j])),
    "square of a sum": (total(i, a[i]) ** 2, total((i, j), a[i] * a[j])),
    "squares of row sums": (total(j, total(l, B[j, l]) ** 2), total((i, j, l), B[j, l] * B[j, i])),
    "all but one": (total(k, a[k]), total(l, a[l]) - a[j]),
    "all pairs but equal ones": (total((j, k), B[j, k]), total((i, j), B[i, j]) - total(j, B[j, j])),
    "the same, other order": (total((k, j), B[j, k]), total((j, k), B[j, k])),
    "an unused index counts": (total(j, total(j, a[j])), m * total(j, a[j])),
    "delta collapses": (total(j, delta(i, j) * B[j, l]), B[i, l]),
    "delta is idempotent": (total(j, delta(i, j) ** 2 * a[j]), a[i]),
    "δ g(x, y) = δ g(x, x)": (delta(i, j) * B[i, j], delta(i, j) * B[j, j]),
    "k ≠ j": (delta(j, k) * a[k], 0),
    "log of a product": (sp.log(b[j] * y / b[l] ** 2), sp.log(b[j]) + sp.log(y) - 2 * sp.log(b[l])),
    "log p": (sp.log(p(j)), a[j] / y - sp.log(Z)),
    "kl of softmax": (total(j, kl(q[j], p(j))), total(j, xlogx(q[j])) - total(j, q[j] * a[j]) / y + sp.log(Z)),
    "(xy) log (xy)": (xlogx(y * z[j]), y * xlogx(z[j]) + z[j] * y * sp.log(y)),
}

FALSE = {
    "factor": (total(j, p(j)), 2),
    "sign": (derivative(p(i), a[j]), p(i) * (p(j) - delta(i, j)) / y),
    "index": (derivative(p(i), a[j]), p(i) * (delta(i, j) - p(i)) / y),
    "temperature": (derivative(p(i), a[j]), p(i) * (delta(i, j) - p(j))),
    "square dropped": (total(j, q[j] * (a[j] - mean) ** 2), square - mean),
    "mean not subtracted": (total(j, q[j] * (a[j] - mean) ** 2), square),
    "half lost": (total((i, j), q[i] * q[j] * (a[i] - a[j]) ** 2), square - mean**2),
    "transposed": (total(j, B[i, j] * a[j]), total(j, B[j, i] * a[j])),
    "marginals swapped": (total((j, h), P[j, h] * a[j]), total(j, a[j]) / m),
    "product of sums is one sum": (total(i, a[i]) * total(i, b[i]), total(i, a[i] * b[i])),
    "sum of squares": (total(i, a[i]) ** 2, total(i, a[i] ** 2)),
    "row sums share no index": (total(j, total(l, B[j, l]) * total(l, S[j, l])), total((j, l), B[j, l] * S[j, l])),
    "all but one is all": (total(k, a[k]), total(l, a[l])),
    "all pairs": (total((j, k), B[j, k]), total((i, j), B[i, j])),
    "the inner index wins": (total(j, total(j, a[j])), total(j, a[j])),
    "a diagonal has mass 1": (total(i, S[i, i]), 1),
    "a row has mass 1": (total(i, S[i, 1]), 1),
    "unit rows have unit columns": (total(j, R[j, h]), 1),
    "a plan's diagonal has a marginal": (total(j, P[j, h] * a[j]), w[h] * a[j]),
    "a weighted sum has mass 1": (total(j, q[j] ** 2), 1),
    "log of a real square": (sp.log(x**2), 2 * sp.log(x)),
    "log of a squared sum": (sp.log(total(j, a[j]) ** 2), 2 * sp.log(total(j, a[j]))),
    "log of a sum": (sp.log(total(j, b[j])), total(j, sp.log(b[j]))),
    "root of a square": (sp.sqrt(x**2), x),
    "root of a squared sum": (sp.sqrt(total(j, a[j]) ** 2), total(j, a[j])),
    "k ≠ j only where declared": (delta(j, free) * a[j], 0),
    "one name, two domains": (total(j, vector("b", m)[j]), total(j, b[j])),
    "kl is symmetric": (kl(b[j], b[l]), kl(b[l], b[j])),
    "kl without its masses": (kl(b[j], b[l]), b[j] * sp.log(b[j] / b[l])),
    "a tiny number": (1 + sp.Rational(1, 10**60), 1),
}


@pytest.mark.parametrize("name", TRUE)
def test_proves(name: str) -> None:
    left, right = map(sp.sympify, TRUE[name])
    assert equal(left, right)
    assert normal(left) == normal(normal(left))


@pytest.mark.parametrize("name", FALSE)
def test_refuses(name: str) -> None:
    left, right = FALSE[name]
    assert not equal(left, right)
    assert not equal(right, left)


@pytest.mark.parametrize("name", TRUE)
def test_refuses_a_true_identity_once_perturbed(name: str) -> None:
    left, right = map(sp.sympify, TRUE[name])
    assert not equal(left, right + 1)
    assert not equal(left, right + sp.Rational(1, 10**9) * a[j])
    assert right == 0 or not equal(left, -right)
    assert right == 0 or not equal(left, 2 * right)


def test_substituting_a_name_that_a_sum_binds_does_not_capture() -> None:
    row = total(l, B[j, l])
    assert equal(row.xreplace({j: l}), total(i, B[l, i]))
    assert not equal(row.xreplace({j: l}), total(l, B[l, l]))
    assert equal(total(l, normal(row).xreplace({j: l})), total((i, j), B[i, j]))


def test_a_delta_inside_a_denominator_is_not_captured() -> None:
    weight = 1 / total(l, sp.exp(B[j, l]))
    picked = total(j, delta(j, i) * weight * total(l, a[l] * B[l, j]))
    assert equal(picked, total(l, a[l] * B[l, i]) / total(l, sp.exp(B[i, l])))
    assert not equal(picked, total(l, a[l] * B[l, i]) / total(l, sp.exp(B[l, l])))


def test_sums_over_one_term_are_that_term() -> None:
    only = index("o", sp.S.One)
    plan = coupling("R", simplex("e", sp.S.One), q)
    assert equal(total(only, plan[only, j] * plan[only, l]), plan[1, j] * plan[1, l])
    assert equal(total(only, plan[only, j]), q[j])
    assert not equal(total(only, plan[only, j]), plan[1, l])


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: normal(total(j, delta(j, h))), "delta"),
        (lambda: normal(total(j, delta(j, 2) * a[j])), "delta"),  # there is no 2 at m = 1
        (lambda: normal(total(j, delta(j, i + 1) * a[j])), "delta"),
        (lambda: normal(total(j, delta(j, sp.Symbol("t")))), "delta"),
        (lambda: normal(sp.Sum(a[j], (j, 1, m - 1))), "sum bounds"),
        (lambda: normal(sp.Sum(a[j], (j, 2, m))), "sum bounds"),
        (lambda: normal(sp.Sum(a[k], (k, 1, m))), "sum bounds"),  # k ≠ j, or over all?
        (lambda: normal(sp.Sum(S[j, j], (j, 1, m), (j, 1, m))), "sum bounds"),
        (lambda: equal(1 + sp.Float(1e-30), 1), "number"),
        (lambda: derivative(total(j, q[j]), q[i]), "derivative"),  # 0 or 1?
        (lambda: derivative(P[j, h], P[i, h]), "derivative"),
        (lambda: derivative(a[j], j), "derivative"),
        (lambda: index("ι1", m), "name"),
        (lambda: index("k#3", m), "name"),
        (lambda: index("o", m - 1), "shape"),  # nothing to sum at m = 1
    ],
)
def test_ambiguous_arguments_are_refused(build: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}:"):
        build()


def test_unit_mass_needs_the_full_axis() -> None:
    assert not equal(total(h, q[h]), 1)  # n of m entries
    assert not equal(total(i, P[j, i]), q[j])
    assert not equal(total(h, P[h, 1]), w[1])
    assert equal(total(h, w[h]), 1)


def test_unit_length_needs_the_last_axis_and_the_square() -> None:
    own, rows, square = unit("o", m), unit("O", n, m), unit("Q", m, m)
    assert equal(total(j, own[j] ** 2), 1)
    assert equal(total(l, rows[h, l] ** 2), 1)
    assert equal(total((h, l), w[h] * rows[h, l] ** 2), 1)
    assert equal(total(l, (own[l] - rows[h, l]) ** 2), 2 - 2 * total(l, own[l] * rows[h, l]))
    for wrong in (
        total(h, rows[h, j] ** 2),
        total(l, square[l, l] ** 2),
        total(l, own[l] ** 3),
        total(l, own[l]),
        total(l, a[l] * own[l] ** 2),
        total(k, own[k] ** 2),
        total(l, own[l] * a[l]),
    ):
        assert not equal(wrong, 1)


def test_the_length_of_a_vector_other_than_0_is_positive() -> None:
    own, rows, square = (vector(name, *shape, kind=Nonzero) for name, shape in (("o", (m,)), ("O", (n, m)), ("Q", (m, m))))
    for right in (
        total(j, own[j] ** 2),
        total(l, rows[h, l] ** 2),
        total((h, l), w[h] * rows[h, l] ** 2),
        total(j, b[j] * own[j] ** 4),
        sp.sqrt(total(j, own[j] ** 2)),
        total(j, square[l, j] ** 2),
    ):
        assert strictly_positive(right), right
    for wrong in (
        total(j, own[j]),
        total(j, own[j] ** 3),
        total(k, own[k] ** 2),
        total(h, rows[h, j] ** 2),
        own[j] ** 2,
        total(l, square[l, l] ** 2),
        total(l, square[l, j] ** 2),
        total(j, z[j] * own[j] ** 2),
        total(l, a[l] ** 2),
        total(j, own[j] ** 2) - 1,
    ):
        assert not strictly_positive(wrong), wrong
    assert equal(total(j, own[j] ** 2 / total(l, own[l] ** 2)), 1)


def test_x_log_x_at_zero() -> None:
    assert xlogx(sp.S.Zero) == 0 == enclose(xlogx(q[j]), {m: 2, j: 2, q.label: [1, 0]})
    assert equal(kl(sp.S.Zero, y), y)
    assert normal(xlogx(q[j])) == xlogx(q[j])  # q_j may be 0, so it stays closed
    assert not equal(xlogx(q[j]), q[j] * sp.log(q[j]))
    assert equal(xlogx(b[j]), b[j] * sp.log(b[j]))


POSITIVE = {
    "b": b[j],
    "Z": Z,
    "p": p(j),
    "sum": total(j, w[h] * b[j]),
    "power": total(j, b[j]) ** -3,
    "one of two": y + z[j],
    "m": m,
    "exp": sp.exp(x),
    "nested": total(j, 1 / total(l, b[l] + z[j])),
}
NONNEGATIVE = {
    "z": z[j],
    "simplex": q[j],
    "plan": total(h, P[j, h] * b[j]),
    "square": x**2,
    "square of a sum": total(j, a[j]) ** 2,
    "kl": kl(q[j], b[j]),
    "divergence": total(j, kl(q[j], p(j))),
    "pairs": total((j, k), B[j, k] ** 2),
    "others": total(k, b[k]),
    "delta": delta(i, j) * y,
    "0": sp.S.Zero,
}
NEITHER = {
    "a": a[j],
    "negative": -b[j],
    "difference": y - z[j],
    "sum": total(j, a[j]),
    "cube": total(j, a[j]) ** 3,
    "log": sp.log(y),
    "x log x": xlogx(z[j]),
    "root": sp.sqrt(total(j, a[j])) - 1,
    "kl of a real": kl(a[j], y),
    "kl from 0": kl(q[j], z[j]),
    "one bad term": x**2 + a[j],
    "two signs": -total(j, b[j]) * y,
    "exponent": (-y) ** 3,
}


@pytest.mark.parametrize(
    ("signs", "expected"),
    [(POSITIVE, (True, True)), (NONNEGATIVE, (True, False)), (NEITHER, (False, False))],
    ids=["> 0", "≥ 0", "neither"],
)
def test_signs(signs: dict[str, sp.Expr], expected: tuple[bool, bool]) -> None:
    signs_of = {name: (nonnegative(expr), strictly_positive(expr)) for name, expr in signs.items()}
    assert signs_of == dict.fromkeys(signs, expected)


POINTS = list(points(NAMES, rounds=12))


@pytest.mark.parametrize("seed", range(400))
def test_normal_form_keeps_the_value(seed: int) -> None:
    """Disjoint balls would show a wrong proof of the identity or of the sign."""
    rng = random.Random(seed)
    expr = Grammar(seed).real(3) if seed % 2 else Grammar(seed).nonnegative(3)
    result = normal(expr)
    assert normal(result) == result
    sign = nonnegative(expr) or nonnegative(result), strictly_positive(expr) or strictly_positive(result)
    for point in rng.sample(POINTS, 4):
        before, after = enclose(expr, point), enclose(result, point)
        if before.is_finite() and after.is_finite():
            assert before.overlaps(after), f"{expr} became {result} at {point}"
            assert not (sign[0] and before < 0), f"{expr} at {point}"
            assert not (sign[1] and before <= 0), f"{expr} at {point}"


@pytest.mark.parametrize("seed", range(200))
def test_derivative_is_the_slope(seed: int) -> None:
    """The derivative against a difference quotient in exact arithmetic, away from kinks and poles."""
    rng, step = random.Random(seed), Fraction(1, 2**40)
    by = rng.choice([x, y, a[j], b[l], z[j], B[j, l], B[j, k], C[i, h], c[h]])
    expr = Grammar(seed).real(3)
    slope = normal(derivative(expr, by))
    for point in rng.sample(POINTS, 3):
        try:
            slope_there = enclose(slope, point)
        except ValueError as unknown:  # d|x|/dx
            assert "sign" in str(unknown)  # noqa: PT017
            return
        low, here, high = (enclose(expr, shifted(point, by, s * step)) for s in (-1, 0, 1))
        left, right = ((u - v) / arb(float(step)) for u, v in ((here, low), (high, here)))
        balls = (slope_there, left, right, here)
        if all(ball.is_finite() and abs(float(ball)) < 1e6 for ball in balls) and abs(left - right) < 1e-6:
            assert abs(slope_there - right) < 1e-4, f"{derivative(expr, by)} became {slope} at {point}"


def shifted(point: dict[Variable, object], by: sp.Expr, step: Fraction) -> dict[Variable, object]:
    """The point with one entry moved."""
    if isinstance(by, Variable):
        return {**point, by: point[by] + step}  # type: ignore[operator]
    row, *column = (point[position] - 1 for position in by.indices)  # type: ignore[operator]
    value = [list(r) if column else r for r in point[by.base.label]]  # type: ignore[attr-defined]
    holder, index = (value[row], column[0]) if column else (value, row)
    holder[index] += step
    return {**point, by.base.label: value}


def test_variables_of_one_name_and_two_domains_are_two() -> None:
    assert len({scalar("t"), positive("t"), size("t"), index("t", m), index("t", n), index("t", m, (j,))}) == 6
    assert normal(scalar("t") - positive("t")) != 0
    assert n != m
