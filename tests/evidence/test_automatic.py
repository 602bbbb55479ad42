"""Votes without an author: they compute what the formula says, refuse what is false, and are silent where they cannot."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import sympy as sp
import torch
from hypothesis import given

from derivations.calculus.functions import derivative
from derivations.calculus.sums import total
from derivations.calculus.variables import Variable, complementary, index, positive, scalar, simplex, size, vector
from derivations.claims import Outcome
from derivations.entry import Entry
from derivations.relations import AtLeast, Equation, Limit, Relation
from evidence.automatic import Assignment, NoProgramError, case, instances, program
from evidence.harness import vote_on
from evidence.registry import CASES
from tests.attacks.entries import Twins, entry

m, tau, x = size("m"), positive("tau"), scalar("x")
j, k, l = index("j", m), index("k", m), index("l", m)  # noqa: E741
s, p = vector("s", m), simplex("p", m)
potential = tau * sp.log(total(l, sp.exp(s[l] / tau)))
weight = sp.exp(s[j] / tau) / total(l, sp.exp(s[l] / tau))


def outcome(monkeypatch: pytest.MonkeyPatch, statement: Relation, twins: Twins | None = None) -> Outcome | None:
    """What the automatic vote on a statement finds; None where there is none."""
    claim = entry(statement, id="eot.59", twins=twins)
    return found(monkeypatch, claim)


def found(monkeypatch: pytest.MonkeyPatch, claim: Entry) -> Outcome | None:
    made = case(claim)
    if made is None:
        return None
    monkeypatch.setitem(CASES[made.layer], claim.id, made)
    monkeypatch.setattr("evidence.harness.entries", lambda: {claim.id: claim})
    return vote_on(made).outcome


def test_derivatives_are_those_of_autograd() -> None:
    """Once and twice, by an entry and by a scalar, against the closed forms."""
    scores, position = torch.tensor([0.5, -1.0, 2.0], dtype=torch.float64), {j: 1, k: 3}
    assignment = Assignment({s.label: scores, tau: 0.5, m: 3, **position})
    weights = torch.softmax(scores / 0.5, -1)
    closed_forms = {
        derivative(potential, s[j]): weights[0],
        derivative(derivative(potential, s[j]), s[k]): -weights[0] * weights[2] / 0.5,
        derivative(potential, tau): -(weights * weights.log()).sum(),
    }
    for formula, closed_form in closed_forms.items():
        assert float(program(formula)(assignment).detach()) == pytest.approx(float(closed_form), rel=1e-12), formula


@pytest.mark.parametrize("statement", [
    Equation(derivative(potential, s[j]), weight),
    Equation(total(j, weight), 1),
    AtLeast(total(l, p[l]), total(l, p[l] ** 2)),
], ids=["gradient", "mass", "inequality"])
def test_what_is_true_is_held(statement: Relation, monkeypatch: pytest.MonkeyPatch) -> None:
    assert outcome(monkeypatch, statement) is Outcome.HOLDS


@pytest.mark.parametrize("statement", [
    Equation(derivative(potential, s[j]), weight / tau),
    Equation(derivative(potential, s[j]), weight.xreplace({s[j]: s[k]})),
    Equation(total(j, weight), m),
    AtLeast(total(l, p[l] ** 2), total(l, p[l])),
], ids=["a factor", "an index", "a size", "the other way round"])
def test_what_is_false_is_refuted(statement: Relation, monkeypatch: pytest.MonkeyPatch) -> None:
    assert outcome(monkeypatch, statement) is Outcome.REFUTED


def test_a_vote_that_cannot_tell_a_twin_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """A twin that differs by less than rounding lives, and the vote says nothing."""
    mass = total(j, weight)
    twins: Twins = {"nearly": lambda: Equation(mass, 1 + sp.Rational(1, 10**20)), "far": lambda: Equation(mass, 2)}
    assert outcome(monkeypatch, Equation(mass, 1), twins) is Outcome.NOT_APPLICABLE


def test_no_vote_where_there_is_no_value() -> None:
    """A limit has no value at a point, multipliers are not drawn one by one, and floor is no function of the calculus."""
    assert case(entry(Limit(1 / tau, 0, tau, sp.oo))) is None
    assert case(entry(Equation(p[j] * complementary("mu", p)[j], 0))) is None
    with pytest.raises(NoProgramError, match="floor"):
        program(sp.floor(x) + 1)


@given(instances([m, p.label, tau]))
def test_instances_lie_in_their_domains(values: dict[Variable, Any]) -> None:
    """Masses are 1, and the lengths are those of the sizes."""
    assert len(values[p.label]) == values[m]
    assert float(values[p.label].sum()) == pytest.approx(1)
    assert values[tau] > 0


def test_nobody_else_may_pass_for_automatic(monkeypatch: pytest.MonkeyPatch) -> None:
    """A case that is not the registered one is refused, automatic or not."""
    claim = entry(Equation(total(j, weight), 1), id="eot.59")
    made = case(claim)
    assert made is not None
    monkeypatch.setitem(CASES[made.layer], claim.id, made)
    with pytest.raises(ValueError, match="expected the registered"):
        vote_on(replace(made, count=1))
