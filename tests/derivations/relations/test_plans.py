"""Plans with unit rows: facts about them, facts that must not be assumed, and the relation about their minimum."""

from itertools import product

import pytest
import sympy as sp

from derivations.calculus.balls import enclose
from derivations.calculus.functions import xlogx
from derivations.calculus.points import points
from derivations.calculus.sums import equal, normal, total
from derivations.calculus.variables import index, positive, size, stochastic, vector
from derivations.domains import Positive
from derivations.records import rendering
from derivations.relations import Entries, UniquePlan

m, n = size("m"), size("n")
i, h = index("i", n), index("h", n)
j, l = index("j", m), index("l", m)  # noqa: E741
P, S, a = stochastic("P", n, m), vector("S", n, m), vector("a", n)
T, b = vector("T", n, m, kind=Positive), vector("b", m)
tau = positive("tau")
square = stochastic("X", n, n)
inside = total(l, T[i, l])

TRUE = {
    "a row": (total(j, P[i, j]), 1),
    "total mass": (total((i, j), P[i, j]), n),
    "weighted rows": (total((i, j), P[i, j] * a[i]), total(i, a[i])),
    "row of a square plan": (total(h, square[i, h]), 1),
    "rows divided by their sums": (total((i, j), T[i, j] / inside), n),
    "weighted rows divided by their sums": (total((i, j), a[i] * T[i, j] / inside), total(i, a[i])),
    "twice divided": (total((i, j), T[i, j] / inside**2), total(i, 1 / inside)),
}
FALSE = {
    "a column": (total(i, P[i, j]), 1),
    "a column of a square plan": (total(i, square[i, h]), 1),
    "total mass of a probability": (total((i, j), P[i, j]), 1),
    "a weighted row": (total(j, P[i, j] * b[j]), total(j, b[j])),
    "squares": (total(j, P[i, j] ** 2), 1),
    "a trace": (total(i, square[i, i]), 1),
    "divided by column sums": (total((i, j), T[i, j] / total(h, T[h, j])), n),
    "rows divided by a square": (total((i, j), T[i, j] / inside**2), n),
    "columns weighted": (total((i, j), b[j] * T[i, j] / inside), n * total(j, b[j])),
}


@pytest.mark.parametrize("name", TRUE)
def test_true_is_proved(name: str) -> None:
    assert equal(*TRUE[name])


@pytest.mark.parametrize("name", FALSE)
def test_false_is_neither_proved_nor_missed_by_the_sample(name: str) -> None:
    left, right = (sp.sympify(side) for side in FALSE[name])
    assert not equal(left, right)
    names = [m, n, i, j, l, h, P.label, T.label, a.label, b.label, square.label]
    assert any(not enclose(left, point).overlaps(enclose(right, point)) for point in points(names))


@pytest.mark.parametrize("name", [*TRUE, *FALSE])
def test_the_normal_form_keeps_the_value(name: str) -> None:
    names = [m, n, i, j, l, h, P.label, T.label, a.label, b.label, square.label]
    for side, point in product((TRUE | FALSE)[name], points(names, rounds=9)):
        assert enclose(sp.sympify(side), point).overlaps(enclose(normal(sp.sympify(side)), point))


def test_every_sampled_plan_has_unit_rows_and_some_have_zeros() -> None:
    drawn = [point[P.label] for point in points([m, n, P.label])]
    assert all(sum(row) == 1 and min(row) >= 0 for plan in drawn for row in plan)  # type: ignore[union-attr]
    assert any(entry == 0 for plan in drawn for row in plan for entry in row)  # type: ignore[union-attr]
    assert any(0 < entry < 1 for plan in drawn for row in plan for entry in row)  # type: ignore[union-attr]


def objective(of: Entries) -> sp.Expr:
    return total((i, j), of(i, j) * S[i, j]) + tau * total((i, j), xlogx(of(i, j)))


def gibbs(sign: int, temperature: sp.Expr) -> Entries:
    return lambda x, y: sp.exp(sign * S[x, y] / temperature) / total(l, sp.exp(sign * S[x, l] / temperature))


def minimum(candidate: Entries, factor: sp.Expr = tau) -> UniquePlan:
    return UniquePlan(objective, candidate, n, m, factor)


def test_the_minimum_is_proved_and_not_refuted() -> None:
    relation = minimum(gibbs(-1, tau))
    assert relation.prove()
    assert relation.refute() is None
    assert relation.general()
    assert "only minimizer" in str(relation)


@pytest.mark.parametrize(
    ("candidate", "word"),
    [
        (gibbs(1, tau), "R is better"),
        (gibbs(-1, 2 * tau), "R is better"),
        (lambda x, y: 1 / m, "R is better"),
        (lambda x, y: 2 * gibbs(-1, tau)(x, y), "mass of a row"),
        (lambda x, y: gibbs(-1, tau)(x, y) / n, "mass of a row"),
        (lambda x, y: sp.exp(-S[x, y] / tau) / total(h, sp.exp(-S[h, y] / tau)), "mass of a row"),
        (lambda x, y: 1 / m - S[x, y] + total(l, S[x, l]) / m, "of the candidate"),
    ],
    ids=["sign", "temperature", "uniform", "mass 2", "mass 1/n", "columns", "negative"],
)
def test_a_wrong_candidate_is_refuted(candidate: Entries, word: str) -> None:
    witness = minimum(candidate).refute()
    assert not minimum(candidate).prove()
    assert witness is not None
    assert word in rendering.witness(witness)


def test_a_wrong_factor_is_not_proved() -> None:
    assert not minimum(gibbs(-1, tau), 2 * tau).prove()
    assert not minimum(gibbs(-1, tau), -tau).prove()


def test_the_name_of_the_rival_is_its_own() -> None:
    named_like_rival = stochastic("R", n, m)
    assert not UniquePlan(lambda of: total((i, j), of(i, j) * named_like_rival[i, j]), lambda x, y: 1 / m, n, m, tau).prove()
