"""Positive parts, complementary vectors and power divergences: their properties hold, and no others are proved."""

import random
from collections.abc import Callable
from fractions import Fraction

import pytest
import sympy as sp
import torch

from derivations.calculus import signs
from derivations.calculus.balls import enclose
from derivations.calculus.functions import lemmas_hold
from derivations.calculus.points import points
from derivations.calculus.powers import bregman, bregman_is_a_divergence, plus
from derivations.calculus.printing import text
from derivations.calculus.signs import nonnegative
from derivations.calculus.sums import delta, equal, normal, total
from derivations.calculus.variables import complementary, index, interior, positive, scalar, simplex, size, variables_of, vector
from derivations.domains import Nonnegative
from derivations.relations import AtLeast, Entry, Equation, StrictUnlessEqual, UniqueMinimum
from evidence.bridge import evaluate

m = size("m")
j, k = index("j", m), index("k", m)
p, q, s = simplex("p", m), simplex("r", m), vector("s", m)
mu, nu = complementary("mu", p), vector("nu", m, kind=Nonnegative)
x, y, a, w = scalar("x"), positive("y"), positive("a"), scalar("w", Nonnegative)
two = sp.Integer(2)

TRUE = [
    Equation(p[j] * mu[j], 0),
    Equation(p[j] ** a * mu[j] ** 2, 0),
    Equation(total(j, p[j] * mu[j] * s[j]), 0),
    Equation(total((j, k), delta(j, k) * p[j] * mu[k]), 0),
    Equation(plus(p[j] - mu[j]), p[j]),
    Equation(plus(mu[j] - p[j]), mu[j]),
    Equation(plus(p[j] ** a / a - 2 * mu[j]), p[j] ** a / a),
    Equation(total(j, plus(s[j] - (s[j] - p[j] + mu[j]))), 1),
    Equation(plus(y + w**2) + mu[j] * p[j], y + w**2),
    Equation(plus(-w) + mu[j] * p[j], 0),
    Equation(bregman(y, w, two), (y - w) ** 2 / 2),
    AtLeast(plus(x), 0),
    AtLeast(w ** (1 + a) / (a * (1 + a)), y ** (1 + a) / (a * (1 + a)) + y**a * (w - y) / a, because=bregman(w, y, 1 + a)),
    StrictUnlessEqual(
        w**3 / 12 + y**3 / 12, ((w + y) / 2) ** 3 / 6, w, y, (w + y) / 2, (sp.Rational(1, 2), sp.Rational(1, 2)), sp.Integer(3)
    ),
]

FALSE = [
    Equation(p[j] * mu[k], 0),
    Equation(total((j, k), p[j] * mu[k]), 0),
    Equation(total(j, mu[j]), 0),
    Equation(plus(p[j] - mu[k]), p[j]),
    Equation(plus(p[j] - nu[j]), p[j]),
    Equation(plus(s[j]), s[j]),
    Equation(plus(x) + plus(-x), x),
    Equation(total(j, plus(p[j] - mu[j]) ** 2), 1),
    Equation(bregman(y, w, two), (y - w) ** 2),
    AtLeast(plus(x), 0, strict=True),
    AtLeast(x, plus(x)),
    AtLeast(bregman(y, w, two), (y - w) ** 2),
]


@pytest.mark.parametrize("relation", TRUE, ids=str)
def test_truth_is_proved(relation: Equation) -> None:
    assert relation.prove()
    assert relation.refute() is None


@pytest.mark.parametrize("relation", FALSE, ids=str)
def test_falsehood_is_refuted_and_not_proved(relation: Equation) -> None:
    assert not relation.prove()
    assert relation.refute() is not None


def test_the_lemma_holds_and_is_required() -> None:
    assert bregman_is_a_divergence.__wrapped__()
    assert lemmas_hold(bregman(w, y, 1 + a))


def test_lemma_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("derivations.calculus.functions.bregman_is_a_divergence", lambda: False)
    monkeypatch.setattr(signs, "_decided", signs._decided.__wrapped__)  # without its cache
    assert not AtLeast(bregman(w, y, 1 + a), 0, because=bregman(w, y, 1 + a)).prove()


def test_sign_of_a_divergence_is_known_only_above_exponent_one() -> None:
    assert nonnegative(bregman(w, w, 1 + a))
    assert not nonnegative(bregman(w, w, a))
    assert not nonnegative(bregman(x, w, two))


# ── minima with zeros ───────────────────────────────────────────────────────────────────────────────────────────────


def scores(key: sp.Expr) -> sp.Expr:
    return x + p[key] - mu[key]


def quadratic(plan: Entry) -> sp.Expr:
    return -total(j, plan(j) * scores(j)) + total(j, plan(j) ** 2) / 2


def unspent(plan: Entry) -> sp.Expr:
    return total(j, mu[j] * plan(j))


def projection(candidate: Entry, slack: Callable[[Entry], sp.Expr] | None = unspent, alpha: sp.Expr = two) -> UniqueMinimum:
    return UniqueMinimum(quadratic, candidate, m, sp.S.One, alpha, slack)


def test_projection_is_proved() -> None:
    for candidate in (lambda key: p[key], lambda key: plus(scores(key) - x)):
        assert projection(candidate).prove()
        assert projection(candidate).refute() is None


@pytest.mark.parametrize(
    "wrong",
    [
        projection(lambda key: p[key], slack=None),
        projection(lambda key: p[key], slack=lambda plan: -unspent(plan)),
        projection(lambda key: p[key], alpha=sp.Integer(3)),
        projection(lambda key: scores(key) - x),
        projection(lambda key: plus(scores(key) - x) ** 2),
    ],
    ids=["no slack", "negative slack", "another divergence", "negative entries", "no unit mass"],
)
def test_wrong_certificate_is_refused(wrong: UniqueMinimum) -> None:
    assert not wrong.prove()


def test_an_exponent_of_one_is_refused() -> None:
    with pytest.raises(ValueError, match="alpha: "):
        projection(lambda key: p[key], alpha=sp.S.One).prove()


# ── variables, values and text ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("vector_of_another_kind", [s, interior("u", m), simplex("T", m, m)])
def test_only_a_point_of_a_simplex_has_multipliers(vector_of_another_kind: sp.IndexedBase) -> None:
    with pytest.raises(ValueError, match=r"^(marginals|shape): expected"):
        complementary("mu", vector_of_another_kind)


def test_samples_are_complementary_and_not_trivial() -> None:
    names = variables_of(p[j] + mu[j])
    drawn = [(point[p.label], point[mu.label]) for point in points(names)]
    assert all(sum(plan) == 1 and min(plan) >= 0 and min(slack) >= 0 for plan, slack in drawn)
    assert all(a_ * b == 0 for plan, slack in drawn for a_, b in zip(plan, slack, strict=True))
    assert any(sum(entry > 0 for entry in plan) >= 2 and sum(slack) > 0 for plan, slack in drawn)
    assert any(0 in [a_ + b for a_, b in zip(plan, slack, strict=True)] for plan, slack in drawn)


def test_normal_form_keeps_the_value() -> None:
    rng = random.Random(0)
    parts = [p[j], mu[j], nu[j], s[j], p[j] ** 2, -mu[j], -p[j], -nu[j], p[k], -mu[k], sp.S.One]
    for _ in range(60):
        expr = plus(sum(rng.sample(parts, 3))) * rng.choice(parts) + plus(sum(rng.sample(parts, 2)))
        for point in points(variables_of(expr + m), rounds=9):
            assert enclose(expr - normal(expr), point).overlaps(enclose(sp.S.Zero, {}))


@pytest.mark.parametrize(("value", "expected"), [(Fraction(3, 2), 1.5), (Fraction(0), 0.0), (Fraction(-2), 0.0)])
def test_positive_part_of_numbers(value: Fraction, expected: float) -> None:
    assert float(enclose(plus(x), {x: value}).mid()) == expected
    assert float(evaluate(plus(x), {"x": float(value)}, [])) == expected


def test_divergence_of_numbers() -> None:
    point = {y: Fraction(1, 2), w: Fraction(0), a: Fraction(2)}
    assert enclose(bregman(y, w, 1 + a), point).overlaps(enclose(sp.Rational(1, 48), {}))
    value = evaluate(bregman(y, w, 1 + a), {"y": 0.5, "w": 0.0, "a": 2.0}, [])
    torch.testing.assert_close(value, torch.tensor(1 / 48, dtype=torch.float64))


def test_equal_does_not_take_a_multiplier_for_zero() -> None:
    assert not equal(mu[j], 0)


def test_text() -> None:
    assert text(plus(x - 1)) == "(x - 1)₊"
    assert text(bregman(y, w, two)) == "D(y ‖ w)"


def test_a_positive_part_is_known_not_to_be_negative_where_its_argument_is_real() -> None:
    assert plus(scalar("x")).is_nonnegative is True
    assert plus(sp.Symbol("w")).is_nonnegative is None


def test_a_divergence_is_known_not_to_be_negative_where_its_arguments_are_not() -> None:
    assert bregman(y, w, 1 + a).is_nonnegative is True
    assert [bregman(*arguments).is_nonnegative for arguments in ((x, w, 1 + a), (y, x, 1 + a), (y, w, a))] == [None] * 3
