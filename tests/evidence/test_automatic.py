"""Automatic votes: they evaluate the formula, refute false statements, and are silent where they cannot decide."""

import math
from dataclasses import replace
from typing import Any

import pytest
import sympy as sp
import torch
from hypothesis import find, given, settings

from derivations.calculus.functions import Partial, derivative, kl, reciprocal, xlogx
from derivations.calculus.powers import plus
from derivations.calculus.sums import total
from derivations.calculus.variables import (
    Variable,
    complementary,
    index,
    interior,
    positive,
    scalar,
    simplex,
    size,
    stochastic,
    unit,
    vector,
)
from derivations.domains import Nonnegative, Nonzero
from derivations.records.claims import Kind as ClaimKind
from derivations.records.claims import Layer, Outcome
from derivations.register.entry import Entry
from derivations.relations import AtLeast, Equation, Fails, Limit, Relation
from evidence import automatic
from evidence.automatic import Assignment, NoProgramError, case, instances, program
from evidence.harness import vote_on
from evidence.registry import CASES
from numerics import tolerances
from tests.attacks.entries import Twins, entry

m, tau, x = size("m"), positive("tau"), scalar("x")
j, k, l = index("j", m), index("k", m), index("l", m)  # noqa: E741
s, p = vector("s", m), simplex("p", m)
potential = tau * sp.log(total(l, sp.exp(s[l] / tau)))
weight = sp.exp(s[j] / tau) / total(l, sp.exp(s[l] / tau))


def outcome(monkeypatch: pytest.MonkeyPatch, statement: Relation, twins: Twins | None = None) -> Outcome | None:
    """The outcome of the automatic vote on a statement; None without a vote."""
    claim = entry(statement, id="eot.59", twins=twins)
    return outcome_of(monkeypatch, claim)


def outcome_of(monkeypatch: pytest.MonkeyPatch, claim: Entry) -> Outcome | None:
    made = case(claim)
    if made is None:
        return None
    monkeypatch.setitem(CASES[made.layer], claim.id, made)
    monkeypatch.setattr("evidence.harness.entries", lambda: {claim.id: claim})
    return vote_on(made).outcome


def test_derivatives_are_those_of_autograd() -> None:
    """Single and double derivatives, by an entry and by a scalar, against the closed forms."""
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


@pytest.mark.parametrize(
    "statement",
    [
        Equation(derivative(potential, s[j]), weight),
        Equation(total(j, weight), 1),
        AtLeast(total(l, p[l]), total(l, p[l] ** 2)),
    ],
    ids=["gradient", "mass", "inequality"],
)
def test_true_statements_are_supported(statement: Relation, monkeypatch: pytest.MonkeyPatch) -> None:
    assert outcome(monkeypatch, statement) is Outcome.HOLDS


@pytest.mark.parametrize(
    "statement",
    [
        Equation(derivative(potential, s[j]), weight / tau),
        Equation(derivative(potential, s[j]), weight.xreplace({s[j]: s[k]})),
        Equation(total(j, weight), m),
        AtLeast(total(l, p[l] ** 2), total(l, p[l])),
    ],
    ids=["a factor", "an index", "a size", "the other way round"],
)
def test_false_statements_are_refuted(statement: Relation, monkeypatch: pytest.MonkeyPatch) -> None:
    assert outcome(monkeypatch, statement) is Outcome.REFUTED


def test_a_vote_that_cannot_refute_a_twin_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """A twin that differs by less than rounding survives, so that the vote does not count."""
    mass = total(j, weight)
    twins: Twins = {"nearly": lambda: Equation(mass, 1 + sp.Rational(1, 10**20)), "far": lambda: Equation(mass, 2)}
    assert outcome(monkeypatch, Equation(mass, 1), twins) is Outcome.NOT_APPLICABLE


def test_no_vote_on_undefined_formulas() -> None:
    """A limit has no value at a point, multipliers are not drawn separately, and floor does not belong to the calculus."""
    assert case(entry(Limit(1 / tau, 0, tau, sp.oo))) is None
    assert case(entry(Equation(p[j] * complementary("mu", p)[j], 0))) is None
    with pytest.raises(NoProgramError, match="floor"):
        program(sp.floor(x) + 1)


@given(instances([m, p.label, tau]))
def test_instances_lie_in_their_domains(values: dict[Variable, Any]) -> None:
    """Masses sum to 1, and vectors have the lengths of their sizes."""
    assert len(values[p.label]) == values[m]
    assert float(values[p.label].sum()) == pytest.approx(1)
    assert values[tau] > 0


def test_other_cases_cannot_pose_as_automatic(monkeypatch: pytest.MonkeyPatch) -> None:
    """A case that is not the registered one is refused, automatic or not."""
    claim = entry(Equation(total(j, weight), 1), id="eot.59")
    made = case(claim)
    assert made is not None
    monkeypatch.setitem(CASES[made.layer], claim.id, made)
    with pytest.raises(ValueError, match="expected the registered"):
        vote_on(replace(made, count=1))


# ── node by node ────────────────────────────────────────────────────────────────────────────────────────────────────

n, y, z = size("n"), positive("y"), scalar("z", Nonnegative)
i = index("i", n)
A, R, u, E = vector("A", m, n), stochastic("R", m, n), interior("u", m), unit("E", m, n)
F = vector("F", m, n, kind=Nonzero)
MATRIX = torch.tensor([[1.0, -2.0], [3.0, 4.0], [-0.5, 6.0]], dtype=torch.float64)
AT: dict[Variable, Any] = {
    m: 3,
    n: 2,
    j: 2,
    k: 3,
    i: 1,
    x: -3.0,
    y: 2.0,
    tau: 0.5,
    A.label: MATRIX,
    s.label: torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64),
}


@pytest.mark.parametrize(
    ("expr", "value"),
    [
        (sp.Rational(3, 4), 0.75),
        (x, -3.0),
        (m, 3.0),
        (s[j], 2.0),
        (A[k, i], -0.5),
        (A[j, i + 1], 4.0),
        (x + y + m, 2.0),
        (x * y * m, -18.0),
        (x**2, 9.0),
        (x**3, -27.0),
        (1 / x, -1 / 3),
        (y ** sp.Rational(1, 2), math.sqrt(2)),
        (y**tau, math.sqrt(2)),
        (total((l, i), A[l, i]), 11.5),
        (total(i, total(l, s[l] * A[l, i])), 1 + 6 - 2 - 2 + 8 + 24),
        (sp.Sum(s[l], (l, 2, m)), 6.0),
        (sp.Sum(s[l], (l, 2, 1)), 0.0),
        (sp.KroneckerDelta(j, k), 0.0),
        (sp.KroneckerDelta(j + 1, k), 1.0),
        (Partial(total((l, i), A[l, i] ** 2), A[k, i]), -1.0),
        (Partial(x**2 * y, y), 9.0),
        (Partial(x**2, y), 0.0),
        (sp.exp(x), math.exp(-3)),
        (sp.log(y), math.log(2)),
        (sp.Abs(x), 3.0),
        (sp.sign(x), -1.0),
        (sp.tanh(x), math.tanh(-3)),
        (plus(x), 0.0),
        (plus(y), 2.0),
        (xlogx(y), 2 * math.log(2)),
        (xlogx(y - 2), 0.0),
        (reciprocal(y), 0.5),
        (kl(y, tau), 2 * math.log(4) - 2 + 0.5),
    ],
    ids=str,
)
def test_every_part_of_a_formula_is_evaluated_as_written(expr: sp.Expr, value: float) -> None:
    assert float(program(expr)(Assignment(AT)).detach()) == pytest.approx(value, rel=1e-14, abs=0)


def test_the_largest_number_on_the_way_is_known() -> None:
    assignment = Assignment(dict(AT))
    program(x**4 - 80 + 1 / (y - 2))(assignment)
    assert assignment.largest == [81.0]
    assert assignment.with_value(x, 1.0).largest is assignment.largest
    assert (assignment.with_value(x, 1.0).values[x], assignment.values[x]) == (1.0, -3.0)
    small = Assignment({x: 0.5})
    program(x**2)(small)
    assert small.largest == [1.0]


@pytest.mark.parametrize(
    ("expr", "named"),
    [(sp.floor(x) + 1, "floor: expected one of exp, log"), (sp.Lambda(x, x + 1), "Lambda: expected a sum, a product")],
)
def test_functions_that_cannot_be_evaluated_are_named(expr: sp.Expr, named: str) -> None:
    with pytest.raises(NoProgramError, match=named):
        program(expr)


# ── draws ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@given(instances([m, n, x, y, z, A.label, R.label, u.label, p.label, E.label, F.label, j]))
@settings(max_examples=30)
def test_all_domains_are_drawn_from(values: dict[Variable, Any]) -> None:
    assert list(values) == [m, n, x, y, z, A.label, R.label, u.label, p.label, E.label, F.label]
    assert {values[m], values[n]} <= {1, 2, 3, 4}
    assert -2 <= values[x] <= 2
    assert 0 < values[y] <= 3
    assert 0 <= values[z] <= 2
    assert all(4 * values[each] % 1 == 0 for each in (x, y, z))
    assert values[A.label].shape == values[R.label].shape == (values[m], values[n])
    assert values[A.label].abs().max() <= 2
    torch.testing.assert_close(values[R.label].sum(-1), torch.ones(values[m], dtype=torch.float64))
    assert values[F.label].any(-1).all()
    torch.testing.assert_close(values[E.label].norm(dim=-1), torch.ones(values[m], dtype=torch.float64))
    assert bool((values[u.label] > 0).all())
    assert float(values[u.label].sum()) == pytest.approx(1)


@pytest.mark.parametrize(("variable", "value"), [(x, -2.0), (x, 2.0), (y, 0.25), (y, 3.0), (z, 0.0), (z, 2.0), (m, 1), (m, 4)])
def test_the_ends_of_a_domain_are_drawn(variable: Variable, value: float) -> None:
    assert find(instances([variable]), lambda values: values[variable] == value)[variable] == value


def test_domains_without_a_strategy_are_skipped() -> None:
    with pytest.raises(NoProgramError, match="mu: expected a domain to draw from, got"):
        instances([m, p.label, complementary("mu", p).label])


# ── votes ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_reading_has_an_axis_for_each_free_index() -> None:
    made = case(entry(Equation(A[k, i] * s[j] * x**2, A[k, i])))
    assert made is not None
    reading = made.printed({v: value for v, value in AT.items() if v not in (i, j, k)})
    left = reading.routes["autograd"]
    assert left.shape == (2, 3, 3)  # by i, j, k, as their names are sorted
    torch.testing.assert_close(left, 9 * torch.einsum("ki,j->ijk", MATRIX, AT[s.label]))
    assert reading.tolerance == tolerances.rounding(torch.float64, 9, 216.0)
    assert reading.point["x"] == -3.0
    assert reading.computed == "left"
    assert not left.requires_grad


def test_a_case_is_marked_as_automatic() -> None:
    made = case(entry(Equation(x + y, y + x)))
    assert made is not None
    assert (made.claim, made.layer, made.count, made.corrected, made.automatic) == ("eot.0", Layer.TORCH, 32, None, True)
    assert case(entry(Fails(Equation(x, y)), repair=(Equation(x, x + 0 * y),))).corrected is not None  # type: ignore[union-attr]
    assert case(entry(Fails(Equation(x, y)), repair=(Limit(1 / y + x, y, sp.oo, x),))).corrected is None  # type: ignore[union-attr]


def test_definitions_and_conditional_statements_get_no_vote() -> None:
    assert case(entry(Equation(x + y, y + x), kind=ClaimKind.DEFINITION)) is None
    assert case(entry(Equation(x + y, y + x, given=(AtLeast(x, 0),)))) is None
    assert case(entry(Equation(x + y, y + x))) is not None


def test_votes_are_registered_for_read_claims_without_one(monkeypatch: pytest.MonkeyPatch) -> None:
    claims = {
        id: replace(entry(statement), id=id, read=read)
        for id, statement, read in (
            ("eot.1", Equation(x + y, y + x), True),
            ("eot.2", Equation(x + y, y + x), False),
            ("eot.3", Equation(x, x), True),
            ("eot.4", Equation(sp.floor(x), x), True),
            ("eot.5", Equation(y, y), True),
        )
    }
    monkeypatch.setattr(automatic, "entries", lambda: claims)
    monkeypatch.setitem(CASES, Layer.TORCH, {"eot.3": "by hand"})
    automatic.register({"eot.1", "eot.2", "eot.3", "eot.4"})
    assert list(CASES[Layer.TORCH]) == ["eot.3", "eot.1"]
    assert CASES[Layer.TORCH]["eot.3"] == "by hand"
    automatic.register()
    assert list(CASES[Layer.TORCH]) == ["eot.3", "eot.1", "eot.5"]
