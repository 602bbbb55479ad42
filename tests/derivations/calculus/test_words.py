"""Matrix identities for every size: proved by rewriting words, refuted by exact models.

Notation  R = (I + αS)⁻¹; F = Diag(p) − p pᵀ with F·J = J·F = 0 for J = 1 1ᵀ/m; G = F⁺ its pseudo-inverse, F G = I − J
"""

import pytest
import sympy as sp

from derivations.calculus.words import Rules, evaluate, matrices

S, R, F, G, J = matrices("S R F G J")
alpha = sp.Symbol("alpha", positive=True)
RESOLVENT = Rules({(R, S): (1 - R) / alpha, (S, R): (1 - R) / alpha})
INVERSE = Rules(
    {(F, J): sp.S.Zero, (J, F): sp.S.Zero, (J, J): J, (F, G): 1 - J, (G, F): 1 - J, (G, J): sp.S.Zero, (J, G): sp.S.Zero}
)

CORRELATION = sp.Matrix([[2, 1], [1, 3]])
MODEL = {S: CORRELATION, R: (sp.eye(2) + 3 * CORRELATION).inv(), alpha: sp.Integer(3)}
FISHER = sp.Matrix([[3, -3], [-3, 3]]) / 16  # p = (1/4, 3/4)
MEAN = sp.ones(2, 2) / 2
PSEUDO = {F: FISHER, J: MEAN, G: (FISHER + MEAN).inv() - MEAN}

TRUE = [
    (RESOLVENT, R * (1 + alpha * S), sp.S.One),
    (RESOLVENT, (1 + alpha * S) * R, sp.S.One),
    (RESOLVENT, S * R, R * S),
    (RESOLVENT, R * S * R, (R - R**2) / alpha),
    (RESOLVENT, S * R * S, (S - (1 - R) / alpha) / alpha),
    (RESOLVENT, 1 - R, alpha * R * S),
    (INVERSE, F * G * F, F),
    (INVERSE, G * F * G, G),
    (INVERSE, (F * G) ** 2, F * G),
    (INVERSE, (F + J) * (G + J), sp.S.One),
    (INVERSE, F * (1 - J), F),
    (INVERSE, F * J + J * G, sp.S.Zero),
]
FALSE = [
    (RESOLVENT, R * (1 + S), sp.S.One),
    (RESOLVENT, R * S, (1 + R) / alpha),
    (RESOLVENT, R * S, alpha * (1 - R)),
    (RESOLVENT, R * S * R, (1 - R) / alpha),
    (RESOLVENT, R**2, R),
    (INVERSE, F * G, sp.S.One),
    (INVERSE, F * G * F, G),
    (INVERSE, (F + J) * G, sp.S.One),
    (INVERSE, F * F, F),
]


def model_of(rules: Rules) -> dict[sp.Symbol, sp.Matrix]:
    return MODEL if rules is RESOLVENT else PSEUDO


@pytest.mark.parametrize(("rules", "left", "right"), TRUE, ids=str)
def test_true_is_proved_and_not_refuted(rules: Rules, left: sp.Expr, right: sp.Expr) -> None:
    assert rules.equal(left, right)
    assert not rules.differ(left, right, model_of(rules))


@pytest.mark.parametrize(("rules", "left", "right"), FALSE, ids=str)
def test_false_is_refuted_and_not_proved(rules: Rules, left: sp.Expr, right: sp.Expr) -> None:
    assert not rules.equal(left, right)
    assert rules.differ(left, right, model_of(rules))


def test_matrices_do_not_commute() -> None:
    free = Rules({})
    assert not free.equal(S * F, F * S)
    assert not free.equal((S + F) ** 2, S**2 + 2 * S * F + F**2)
    assert free.equal((S + F) ** 2, S**2 + S * F + F * S + F**2)
    assert free.equal(alpha * S * (F / alpha), S * F)
    assert not free.equal(S * F - F * S, (alpha - alpha**2 / alpha) * S)


def test_undecided_is_not_different() -> None:
    """S (I − S) = (I − S) S follows without rules; S F = F S holds in this model although it follows from no rule."""
    commuting = {S: CORRELATION, F: CORRELATION**2}
    assert not Rules({}).equal(S * F, F * S)
    assert not Rules({}).differ(S * F, F * S, commuting)


@pytest.mark.parametrize("table", [{(S, F): F * S, (F, S): S * F}, {(S,): S * S}, {(S,): -S}], ids=str)
def test_rules_in_a_circle_are_noticed(table: dict[tuple[sp.Symbol, ...], sp.Expr]) -> None:
    with pytest.raises(RecursionError, match=r"^rules:"):
        Rules(table, limit=40).reduce(S * F)


def test_a_model_that_breaks_a_rule_refutes_nothing() -> None:
    with pytest.raises(ValueError, match="breaks the rule"):
        RESOLVENT.differ(R, S, {**MODEL, R: CORRELATION})
    with pytest.raises(ValueError, match="breaks the rule"):
        RESOLVENT.differ(R, S, {**MODEL, alpha: sp.Integer(2)})


@pytest.mark.parametrize(
    "model",
    [
        {S: CORRELATION, F: CORRELATION * sp.sqrt(2)},  # (1 + √2)(1 − √2) and −1 look different
        {S: CORRELATION, F: CORRELATION * alpha},
    ],
    ids=["irrational", "symbolic"],
)
def test_a_model_must_be_rational(model: dict[sp.Symbol, sp.Matrix]) -> None:
    with pytest.raises(ValueError, match="rational"):
        Rules({}).differ(F, S, model)
    with pytest.raises(KeyError):
        evaluate(S * G, model)


def test_evaluate() -> None:
    assert evaluate(2 + S * F**2 - S, {S: CORRELATION, F: FISHER}) == 2 * sp.eye(2) + CORRELATION * FISHER**2 - CORRELATION
    assert evaluate(S**-1 * S, {S: CORRELATION}) == sp.eye(2)
    assert evaluate(sp.S.Zero, MODEL) == sp.zeros(2, 2)


def test_one_entry_that_is_no_rational_number_is_one_too_many() -> None:
    root = sp.sqrt(2)
    with pytest.raises(ValueError, match=r"^model: expected rational entries, got "):
        evaluate(S, {S: sp.Matrix([[1, root], [root, 1]])})
    assert evaluate(S**2, {S: sp.Matrix([[1, 2], [0, 1]])}) == sp.Matrix([[1, 4], [0, 1]])
