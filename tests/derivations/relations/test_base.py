"""Common properties of statements: well-posedness, variables, sample points, and generality."""

from collections.abc import Callable
from fractions import Fraction

import pytest
import sympy as sp
from flint import arb

from derivations.calculus.admission import NotAdmittedError
from derivations.calculus.functions import derivative, kl, xlogx
from derivations.calculus.points import points
from derivations.calculus.powers import plus
from derivations.calculus.sums import delta, total
from derivations.calculus.variables import Variable, index, positive, scalar, simplex, size, vector
from derivations.domains import Real
from derivations.judge.examination import run
from derivations.judge.symbolic import evidence_of
from derivations.records.claims import Outcome
from derivations.relations import (
    AtLeast,
    Differs,
    Equation,
    Expansion,
    Fails,
    Follows,
    ForAll,
    Limit,
    Relation,
    Solves,
    StrictUnlessEqual,
    Taylor,
    UniqueMinimum,
    UniquePlan,
)
from derivations.relations.base import PROVED, Entry, first, remaining
from derivations.relations.witnesses import differ, inputs, witness

m, n = size("m"), size("n")
j, l = index("j", m), index("l", m)  # noqa: E741
k = index("k", m, other_than=(j,))
x, w, y = scalar("x"), scalar("w"), positive("y")
a, b, q = vector("a", m), vector("b", n), simplex("q", m)
c = vector("c", m)
two = sp.Integer(2)


class Own(AtLeast):
    """A custom hypothesis of an author."""


POSED: dict[str, tuple[Relation, str]] = {
    "well": (Equation(x + w, w + x + 0 * y, about=(y,)), "both sides are the same expression"),
    "a strange part": (Equation(sp.sin(x), x), "sin(x) (sin) is no part of the calculus"),
    "a strange hypothesis": (AtLeast(x, 0, given=(AtLeast(sp.sin(x), 0),)), "sin(x) (sin) is no part of the calculus"),
    "a strange form": (AtLeast(x, 0, because=sp.sin(x)), "sin(x) (sin) is no part of the calculus"),
    "a hypothesis that is none": (AtLeast(x, 0, given=(Equation(x, w),)), "given: expected inequalities, got Equation"),  # type: ignore[arg-type]
    "a hypothesis of an author's kind": (AtLeast(x, 0, given=(Own(x, 0),)), "given: expected inequalities, got Own"),
    "a name of a bound index": (Equation(Variable("ι1", Real()), x), "'ι1' is no name of a variable"),
    "a fresh name": (Equation(Variable("x#1", Real()), x), "'x#1' is no name of a variable"),
    "two variables of one name": (Equation(x, positive("x")), "two variables are called x: x > 0 and x real"),
    "two vectors of one name": (
        Equation(a[j], vector("a", n)[1]),
        "two variables are called a: a real (length m) and a real (length n)",
    ),
    "no value": (Equation(1 / x, w), "it is not shown that x ≠ 0"),
    "no point": (AtLeast(x, 0, given=(AtLeast(-1, x**2),)), "no sample point lies in the domain and satisfies the hypotheses"),
    "a form without a value": (AtLeast(x, 0, because=1 / x), "it is not shown that x ≠ 0"),
}


@pytest.mark.parametrize("name", POSED)
def test_how_a_statement_is_posed(name: str) -> None:
    relation, message = POSED[name]
    assert relation.ill_posed() == message
    assert relation.explain() == message
    assert not relation.prove()


def test_a_well_posed_statement_gives_no_complaint() -> None:
    assert Equation((x + 1) ** 2, x**2 + 2 * x + 1).ill_posed() == ""
    assert Equation((x + 1) ** 2, x**2 + 2 * x + 1).explain() == PROVED == ""
    assert AtLeast(1 / x, 0, given=(AtLeast(x, 1),)).explain() == ""


number = sp.Symbol("k", integer=True)
STRANGE = {
    "Product": sp.expand(sp.exp(total(l, a[l]))),
    "sin": sp.sin(total(l, a[l])),
    "Symbol": number,
    "Piecewise": sp.Piecewise((x, x > w), (w, True)),
    "Max": sp.Max(x, w),
    "Derivative": sp.Derivative(sp.Function("f")(x), x),
    "Integral": sp.Integral(x, (x, 0, y)),
    "floor": sp.floor(x),
    "Float": sp.Float(0.5) * x,
    "ImaginaryUnit": sp.I * x,
    "NaN": sp.nan,
    "sum over a symbol": sp.Sum(number, (number, 1, m)),
    "Variable": a.label,
    "IndexedBase": a,
    "Indexed": sp.IndexedBase("z")[j],
}
PLACES: dict[str, Callable[[sp.Expr], Relation]] = {
    "left": lambda e: Equation(e, x),
    "right": lambda e: AtLeast(x, e),
    "the form of the difference": lambda e: AtLeast(x**2, w, because=e),
    "Taylor's theorem": lambda e: AtLeast(e, 0, taylor=Taylor(x, sp.S.Zero)),
    "a hypothesis": lambda e: Equation(x, w, given=(Differs(e, 1),)),
    "a hypothesis for all indices": lambda e: AtLeast(x, w, given=(ForAll(AtLeast(a[l], e), (l,)),)),
    "points that differ": lambda e: StrictUnlessEqual(kl(y, y + 1), 0, y, e, y + 1, (two, two)),
    "a premise": lambda e: Follows((AtLeast(e, 0),), AtLeast(x, w), (two,)),
    "a premise for all indices": lambda e: Follows((ForAll(AtLeast(a[l], e), (l,)),), AtLeast(x, w), (two,)),
    "a weight": lambda e: Follows((AtLeast(x, 0),), AtLeast(x, w), (e,)),
    "a slack": lambda e: Follows((AtLeast(x, 0),), AtLeast(x, w), (two,), e),
    "a path": lambda e: Limit(e * y, y, sp.oo, w),
    "an end": lambda e: Limit(1 / y, y, e, w),
    "a limit": lambda e: Limit(w / y, y, sp.oo, e),
    "a bound of a path": lambda e: Limit(w / y, y, sp.oo, w, between=(e, e)),
    "a quantity that is expanded": lambda e: Expansion(e, x, y, 1),
    "an equation of a solution": lambda e: Expansion(a[j], x, y, 1, where=(Solves(a, lambda _: lambda _: e),)),
    "an objective": lambda e: UniqueMinimum(lambda p: sp.Sum(xlogx(p(l)) + a[l] * e, (l, 1, m)), lambda _: 1 / m, m, two),
    "a candidate": lambda e: UniqueMinimum(lambda p: total(l, xlogx(p(l))), lambda _: e, m, two),
    "a plan": lambda e: UniquePlan(lambda p: total((l, j), xlogx(p(l, j))), lambda *_: e, m, m, two),
    "a disproof": lambda e: Fails(Equation(e, x)),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("strange", STRANGE)
def test_a_strange_part_is_named_wherever_it_is(strange: str, place: str) -> None:
    try:
        relation = PLACES[place](STRANGE[strange])
        named = relation.malformed()
    except TypeError:  # SymPy has no product of a vector
        assert strange == "IndexedBase"
        return
    assert named
    assert relation.counterexample() is None
    assert relation.explain() == named
    examined = run(lambda: iter([relation]), tuple)
    assert (examined.outcome, examined.error) == (Outcome.INCONCLUSIVE, "")
    assert examined.faults == (f"step 1 does not hold: {relation}: {named}",)


def test_a_strange_twin_is_an_error() -> None:
    claimed = Equation((x + w) ** 2, x**2 + 2 * x * w + w**2), Equation((x + w) ** 2, sp.sin(x))
    evidence, errors = evidence_of(run(lambda: iter(claimed[:1]), tuple), None, (("odd", lambda: claimed[1]),), None)
    assert errors == ["the twin 'odd': sin(x) (sin) is no part of the calculus"]
    assert evidence.refuted_twins == ()


def test_a_candidate_that_is_its_own_rival_is_named() -> None:
    seen = []

    def objective(p: Entry) -> sp.Expr:
        seen.append(p)
        return total(l, xlogx(p(l)))

    for problem in (
        UniqueMinimum(objective, lambda i: seen[-1](i), m, two),
        UniquePlan(lambda p: objective(lambda i: p(i, i)), lambda i, k: seen[-1](k), m, m, two),
    ):
        assert problem.open_objective.free_symbols
        assert problem.explain().startswith("candidate: expected a point that does not depend on its rival, got ")
        assert problem.counterexample() is None


def test_a_system_that_is_coupled_is_named() -> None:
    one, other = Solves(a, lambda v: lambda i: 1 + c[i] * v(i)), Solves(c, lambda v: lambda i: 1 + a[i] * v(i))
    coupled = Expansion(a[j], y, y, 2, where=(one, other))
    assert coupled.explain() == "where: expected equations each of which uses only later ones, got a coupled system"
    assert coupled.counterexample() is None
    free = Solves(c, lambda v: lambda i: 1 + v(i))
    assert Expansion(a[j], y + y**3, y, 3, where=(one, free)).explain() == ""
    assert Expansion(a[j], y + y**3, y, 3, where=(free, one)).counterexample() is None


def test_variables_are_those_of_sides_hypotheses_and_about() -> None:
    relation = AtLeast(a[j], 0, given=(AtLeast(x, w),), about=(b[1],))
    assert [v.name for v in relation.variables()] == ["a", "b", "j", "m", "n", "w", "x"]
    assert {v.name for v in Follows((AtLeast(x, w),), AtLeast(y, 0), (two,)).variables()} == {"w", "x", "y"}


def test_hypotheses_are_facts_as_written_and_in_normal_form() -> None:
    relation = AtLeast(x, 0, given=(AtLeast((x + 1) ** 2, x, strict=True), Differs(w, 1)))
    assert relation.facts() == (((x + 1) ** 2 - x, True, ()), (w - 1, None, ()), (x**2 + x + 1, True, ()), (w - 1, None, ()))
    odd = AtLeast(derivative(plus(x), x) * x, 0)
    assert AtLeast(x, 0, given=(odd,)).facts() == (odd.fact,)


def test_points_are_where_hypotheses_hold() -> None:
    relation = AtLeast(x, 0, given=(AtLeast(x, 1),))
    assert all(point[x] >= 1 for point in relation.points())
    assert relation.refute() is None
    assert AtLeast(x, 0).refute() is not None
    assert all(point[w] == 2 for point in AtLeast(x, w, at={w: 2}).points())
    assert all(point[a.label] == [1, 2] and point[m] == 2 for point in AtLeast(a[j], 0, at={a: [1, 2]}).points())


def test_an_example_has_values_and_premises() -> None:
    assert Equation(sp.log(-y), w).example() is None
    point = Equation(sp.sqrt(x), w).example()
    assert point is not None
    assert point[x] >= 0  # type: ignore[operator]
    implied = Follows((AtLeast(x, 3),), AtLeast(x, 2), (sp.S.One,), sp.S.One).example()
    assert implied is not None
    assert implied[x] >= 3  # type: ignore[operator]


def test_only_points_of_the_domain_fail() -> None:
    relation = AtLeast(x, 1, given=(AtLeast(x, 0),))
    failure = relation.fails_at({x: Fraction(1, 2)})
    assert failure is not None
    assert failure.inputs == {"x": "1/2"}
    assert relation.fails_at({x: 2}) is None
    with pytest.raises(NotAdmittedError, match=r"^at: expected a point with x ≥ 0, got x = -1$"):
        relation.fails_at({x: -1})
    with pytest.raises(NotAdmittedError, match=r"^at: expected a point with x ≥ w, got "):
        Follows((AtLeast(x, w),), AtLeast(2 * x, 2 * w), (two,)).admit({x: 0, w: 1})


GENERAL: dict[str, tuple[Relation, bool]] = {
    "scalars": (Equation(x, w), True),
    "a symbolic length": (Equation(a[j], total(l, a[l])), True),
    "length 1": (Equation(vector("o", sp.S.One)[1], x), True),
    "length 2": (Equation(vector("o", two)[1], x), False),
    "one length of two": (Equation(vector("O", m, two)[j, 1], x), False),
    "a sum of 3": (Equation(total(index("e", sp.Integer(3)), x), 3 * x), False),
    "a sum of m": (Equation(total(l, x), m * x), True),
    "on the right": (Equation(x, vector("o", two)[1]), False),
    "a disproof": (Fails(Equation(vector("o", two)[1], x)), False),
}


@pytest.mark.parametrize("name", GENERAL)
def test_how_general_a_statement_is(name: str) -> None:
    relation, general = GENERAL[name]
    assert relation.general() is general


def test_the_scope_in_words() -> None:
    assert Equation(total(l, a[l]) + delta(j, k), x).scope() == "all m ≥ 1, a real (length m), x real, k ≠ j"
    assert AtLeast(y, 0, given=(AtLeast(y, 1), Differs(y, 2))).scope() == "all y > 0, given y ≥ 1 and y ≠ 2"
    assert Equation(1, 2).scope() == "no free variable"


def test_a_point_is_shown_by_printed_names() -> None:
    moving = Variable("x#moving", Real())
    assert inputs({x: Fraction(1, 2), moving: 2, Variable("x#other", Real()): 3}) == {"x": "1/2", "x′": 2, "x′′": 3}


def test_a_witness_has_both_values() -> None:
    record = witness({x: 1}, arb(1), "oo", "≠", "the limit")
    assert (record.left, record.sign, record.right, record.about) == ("1.00000000000", "≠", "oo", "the limit")
    assert differ({x: 1}, x, x + sp.Rational(1, 10**20)) is not None
    assert differ({x: 1}, sp.exp(x), sp.exp(x)) is None
    assert differ({x: 0}, 1 / x, x) is None
    assert differ({x: 0}, x, 1 / x) is None
    shown = differ({x: 1}, x, 2 * x, "a part")
    assert shown is not None
    assert (shown.sign, shown.about) == ("≠", "a part")


def test_arguments_become_expressions_whose_sums_have_their_own_names() -> None:
    relation = Equation(sp.Sum(a[l], (l, 1, m)), 3, about=(sp.Sum(a[l] ** 2, (l, 1, m)), 2))
    assert relation.right is sp.Integer(3)
    assert relation.about[1] is sp.Integer(2)
    assert not {l} & {v for part in (relation.left, relation.about[0]) for v in part.bound_symbols}
    assert AtLeast(x, 0, because=None).because is None


def test_a_vote_compares_the_right_side() -> None:
    assert Equation(x, w).value == w
    assert Follows((AtLeast(x, w),), AtLeast(2 * x, 2 * w), (two,)).value == 2 * w


def test_holds_at_is_false_unless_overridden() -> None:
    assert Equation(x, x).holds_at({x: 1}) is False
    assert AtLeast(x, 0).holds_at({x: 1}) is True


def test_a_point_is_admitted_before_it_refutes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AtLeast, "points", lambda self: iter([{y: -1}]))
    with pytest.raises(NotAdmittedError):
        AtLeast(y, 0).refute()
    for point in ({}, {y: 0}, {y: 1, x: 1}):
        with pytest.raises(NotAdmittedError):
            AtLeast(y, 0).admit(point)


def test_the_message_about_a_remainder() -> None:
    assert remaining(x - w) == "left − right = -w + x in normal form, expected 0"
    assert first(("", "one", "two")) == "one"
    assert first(("", "")) == PROVED


def test_a_statement_is_trivial_if_both_sides_are_written_alike() -> None:
    assert Equation(total(l, a[l]), total(j, a[j])).trivial()
    assert not Equation(x * (x + 1), x**2 + x).trivial()
    assert q.label not in Equation(x, w).variables()


def test_points_that_a_hypothesis_refuses_are_replaced() -> None:
    first_sample = list(points([w, x], {}, 0))
    free, half, none = (
        list(AtLeast(x + y**2, w, given=given).points()) for given in ((), (AtLeast(x, w),), (AtLeast(0, x**2 + w**2 + 1),))
    )
    assert len(half) == len(free) == len(first_sample)
    assert all(point[x] >= point[w] for point in half)
    assert none == []
    always = list(AtLeast(x + y**2, w, given=(AtLeast(x**2, 0),)).points())
    assert always == free
