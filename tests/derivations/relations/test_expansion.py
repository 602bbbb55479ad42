"""Power series and expansions: what they prove, what they must not prove, and what they refuse."""

import pytest
import sympy as sp

from derivations.calculus.functions import derivative, kl
from derivations.calculus.powers import plus
from derivations.calculus.series import coefficients, solution, substituted
from derivations.calculus.sums import equal, normal, total
from derivations.calculus.variables import index, interior, positive, scalar, size, vector
from derivations.records import rendering
from derivations.relations import AtLeast, Expansion, Solves

n, d = size("n"), size("d")
i, a, b = index("i", n), index("a", d), index("b", d)
t, x, y = positive("t"), scalar("x"), positive("y")
u, w = interior("u", n), vector("w", n)
v, z, A = vector("v", d), vector("z", d), vector("A", d, d)
average = total(i, u[i] * w[i])
spread = total(i, u[i] * (w[i] - average) ** 2)
skew = total(i, u[i] * (w[i] - average) ** 3)
cumulants = sp.log(total(i, u[i] * sp.exp(t * w[i])))

# v = t (z + A v), so v = t z + t² A z + …
linear = Solves(v, lambda e: lambda k: z[k] + total(b, A[k, b] * e(b)))

TRUE = {
    "cumulants": Expansion(cumulants, t * average + t**2 / 2 * spread + t**3 / 6 * skew, t, 3),
    "a lower order of the same": Expansion(cumulants, t * average, t, 1),
    "a divergence": Expansion(kl(y + t * x, y), t**2 * x**2 / (2 * y), t, 2),
    "a real power": Expansion((y + t) ** x, y**x + t * x * y ** (x - 1), t, 1),
    "a quotient": Expansion(1 / (1 + t), 1 - t + t**2 - t**3, t, 3),
    "a linear system": Expansion(v[a], t * z[a] + t**2 * total(b, A[a, b] * z[b]), t, 2, where=(linear,)),
    "a product of solutions": Expansion(total(a, v[a] ** 2), t**2 * total(a, z[a] ** 2), t, 2, where=(linear,)),
}
FALSE = {
    "the third cumulant's factor": Expansion(cumulants, t * average + t**2 / 2 * spread + t**3 / 2 * skew, t, 3),
    "the second moment for the variance": Expansion(cumulants, t * average + t**2 / 2 * total(i, u[i] * w[i] ** 2), t, 2),
    "a lower coefficient": Expansion(cumulants, 2 * t * average + t**2 / 2 * spread, t, 2),
    "the constant": Expansion(sp.exp(t), 2 + t, t, 1),
    "the transposed matrix": Expansion(v[a], t * z[a] + t**2 * total(b, A[b, a] * z[b]), t, 2, where=(linear,)),
    "the sign of the second term": Expansion(v[a], t * z[a] - t**2 * total(b, A[a, b] * z[b]), t, 2, where=(linear,)),
}


@pytest.mark.parametrize("name", TRUE)
def test_true_is_proved_and_not_refuted(name: str) -> None:
    assert TRUE[name].prove()
    assert TRUE[name].refute() is None


@pytest.mark.parametrize("name", FALSE)
def test_false_is_refuted_and_not_proved(name: str) -> None:
    witness = FALSE[name].refute()
    assert witness is not None
    assert "the coefficient of t^" in rendering.witness(witness)
    assert not FALSE[name].prove()


def test_a_solution_in_a_sum_is_not_captured() -> None:
    """Σ_a w_a v_a in normal form, with the bound names of the solution's own sums."""
    outer = normal(total(a, z[a] * v[a]))
    expected = t * total(a, z[a] ** 2) + t**2 * total((a, b), z[a] * A[a, b] * z[b])
    assert Expansion(outer, expected, t, 2, where=(linear,)).prove()


def test_a_solution_solves_its_equation() -> None:
    (image,) = TRUE["a linear system"].images
    known = solution(image, v, linear.index, t, 3)
    left, right = (
        coefficients(expr, t, 3, small)
        for expr, small in (substituted(part, v, linear.index, known) for part in (v[a], t * image.xreplace({linear.index: a})))
    )
    assert all(equal(x, y) for x, y in zip(left, right, strict=True))


def test_the_scope_names_the_vanishing_variable() -> None:
    assert TRUE["cumulants"].scope() == "all n ≥ 1, u > 0 with sum 1 (length n), w real (length n), as t → 0"
    assert TRUE["cumulants"].general()
    assert v.label not in TRUE["a linear system"].variables()


@pytest.mark.parametrize("expr", [sp.log(x + t), sp.log(t), sp.sqrt(t), (x + t) ** y, plus(t - 1), y**t])
def test_functions_not_known_to_be_analytic_are_refused(expr: sp.Expr) -> None:
    with pytest.raises(ValueError, match=r"series: expected"):
        coefficients(expr, t, 2)


def test_a_derivative_is_taken_before_it_is_expanded() -> None:
    assert coefficients(derivative(sp.exp(t * x), x), t, 2) == [0, 1, x]
    assert coefficients(derivative(t**2 * x, t), t, 2) == [0, 2 * x, 0]


def test_a_polynomial_is_its_own_series() -> None:
    assert coefficients(x + y * t + x * y * t**2, t, 2) == [x, y, x * y]


def test_hypotheses_do_not_mention_the_vanishing_variable() -> None:
    growing = Expansion(sp.exp(t * x), 1 + t * x, t, 1, given=(AtLeast(x, y),))
    assert growing.explain() == ""
    assert (
        Expansion(sp.exp(t * x), 1 + t * x, t, 1, given=(AtLeast(x, t),))
        .explain()
        .startswith("given: expected hypotheses that do not depend on t, got ")
    )


def test_a_derivative_of_a_solution_is_refused() -> None:
    by_x = derivative(x**2, x)
    message = "where: expected no derivative of what depends on v, which moves"
    assert Expansion(derivative(x * v[a], x), t * z[a], t, 1, where=(linear,)).explain() == message
    assert Expansion(by_x * v[a], 2 * x * t * z[a], t, 1, where=(linear,)).explain() == ""
