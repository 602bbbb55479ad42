"""Hypotheses on all values of an index: statements that follow from them, and others."""

import re
from dataclasses import dataclass, replace
from fractions import Fraction

import pytest
import sympy as sp
import torch

from derivations.calculus.admission import NotAdmittedError
from derivations.calculus.sums import delta, total
from derivations.calculus.variables import index, positive, scalar, simplex, size, vector
from derivations.judge.canonical import canonical
from derivations.judge.examination import BrokenError, of_the_kernel
from derivations.records import rendering
from derivations.relations import AtLeast, Follows, ForAll, same
from evidence.admission import holds_given
from evidence.readings import Formula

n = size("n")
i, j = index("i", n), index("j", n)
k = index("k", n, other_than=(j,))
p, x, D, y = simplex("p", n), vector("x", n), positive("D"), scalar("y")
NEAR = ForAll(AtLeast(D**2, (x[i] - x[j]) ** 2), (i, j))
VARIANCE = total(i, p[i] * x[i] ** 2) - total(i, p[i] * x[i]) ** 2
POPOVICIU = Follows((NEAR,), AtLeast(D**2 / 2, VARIANCE), (p[i] * p[j] / 2,), given=(NEAR,))
half = sp.Rational(1, 2)


def test_a_premise_is_weighted_and_summed() -> None:
    assert POPOVICIU.prove()
    assert POPOVICIU.counterexample() is None
    assert "given D**2 ≥ (x[i] - x[j])**2 for all i, j" in POPOVICIU.scope()
    assert {v.name for v in POPOVICIU.variables()} == {"n", "p", "x", "D"}


@pytest.mark.parametrize(
    ("premise", "conclusion", "weight", "why"),
    [
        (NEAR, AtLeast(D**2 / 4, VARIANCE), p[i] * p[j] / 2, "they differ by -D**2/4"),
        (NEAR, AtLeast(D**2 / 2, VARIANCE), x[i] * p[j] / 2, "no sign of p[j]*x[i]/2"),
        (NEAR, AtLeast(D**2 / 2, VARIANCE), y**2 * p[i] * p[j] / 2, "expected variables of the statement, got y"),
        (
            ForAll(AtLeast(x[i], 0), (i,)),
            AtLeast(x[i] + 1, 0),
            sp.S.One,
            "not this combination",
        ),  # another i than the bound one
        (ForAll(AtLeast(x[i], 0), (i,)), AtLeast(x[j], 0), delta(i, j), "both sides are the same"),  # the hypothesis itself
        (ForAll(AtLeast(x[k], 0), (k,)), AtLeast(total(i, x[i]), 0), sp.S.One, "not this combination"),  # x_j is left out
        (ForAll(AtLeast(x[i], 0, strict=True), (i,)), AtLeast(total(i, x[i]), 0, strict=True), sp.S.One, "strict"),
    ],
)
def test_statements_that_do_not_follow(premise: ForAll, conclusion: AtLeast, weight: sp.Expr, why: str) -> None:
    assert why in Follows((premise,), conclusion, (weight,), given=(premise,)).explain()


def test_a_weight_can_single_out_one_index() -> None:
    signs = ForAll(AtLeast(x[i], 0), (i,))
    assert Follows((signs,), AtLeast(x[j] + 1, 0), (delta(i, j),), sp.S.One, given=(signs,)).prove()
    assert not Follows((signs,), AtLeast(x[j] - 1, 0), (delta(i, j),), given=(signs,)).prove()


def test_it_is_a_fact_about_all_indices_over_its_range_and_no_others() -> None:
    signs, h, free = ForAll(AtLeast(x[i], 0), (i,)), index("h", n), vector("z", n)
    assert AtLeast(2 * x[h], 0, given=(signs,)).prove()
    assert AtLeast(total(h, p[h] * x[h]), 0, given=(signs,)).prove()
    assert not AtLeast(x[h], 0, given=(signs,), strict=True).prove()
    assert not AtLeast(free[h], 0, given=(signs,)).prove()
    assert not AtLeast(x[h], 0, given=(ForAll(AtLeast(free[i], 0), (i,)),)).prove()
    assert not AtLeast(x[h], 0, given=(AtLeast(x[i], 0),)).prove()


def test_of_an_index_that_differs_from_another_it_is_no_fact_about_that_one() -> None:
    h, k = index("h", n), index("k", n, other_than=(j,))
    others = ForAll(AtLeast(x[k], 0), (k,))
    for statement in (x[h], x[j], total(h, x[h])):
        assert not AtLeast(statement, 0, given=(others,)).prove()
        assert AtLeast(statement, 0, given=(others,)).counterexample() is not None


def test_an_index_that_its_sums_bind_is_not_captured() -> None:
    h, k, B = index("h", n), index("k", n), vector("B", n, n)
    rows = ForAll(AtLeast(total(k, B[i, k]), 0), (i,))  # each row has a sum ≥ 0, the diagonal need not
    assert AtLeast(total(h, p[h] * total(k, B[h, k])), 0, given=(rows,)).prove()
    assert AtLeast(total(k, total(h, B[k, h])), 0, given=(rows,)).prove()
    for statement in (total(h, B[h, h]), total(h, B[h, j]), total((h, k), p[k] * B[h, k])):
        assert not AtLeast(statement, 0, given=(rows,)).prove()
        assert AtLeast(statement, 0, given=(rows,)).counterexample() is not None


def test_of_several_indices_each_has_its_own_range() -> None:
    h, k, B = index("h", n), index("k", n), vector("B", n, n)
    ordered = ForAll(AtLeast(B[i, j], B[j, i]), (i, j))
    assert AtLeast(B[h, k], B[k, h], given=(ordered,)).prove()
    assert AtLeast(total((h, k), p[k] * B[h, k]), total((h, k), p[k] * B[k, h]), given=(ordered,)).prove()
    assert not AtLeast(B[h, k], B[h, h], given=(ordered,)).prove()


def test_a_counterexample_satisfies_it_at_all_indices() -> None:
    example = AtLeast(D**2 / 8, VARIANCE, given=(NEAR,)).counterexample()
    assert example is not None
    values, diameter = example.point[x.label], example.point[D]
    assert isinstance(values, list)
    assert isinstance(diameter, Fraction | int)
    assert max(values) - min(values) <= diameter


def test_it_holds_at_a_point_where_it_holds_at_all_indices() -> None:
    point = {n: 2, x.label: [0, 1], D: 1, i: 1, j: 1}  # at i = j = 1 it holds for every D
    assert NEAR.holds_at(point)
    assert not NEAR.holds_at({**point, D: half})
    assert NEAR.contradicted_at(point) is None
    assert NEAR.contradicted_at({**point, D: half}) is not None
    with pytest.raises(NotAdmittedError, match="for all i, j"):
        AtLeast(D, x[j] - x[i], given=(NEAR,)).admit({n: 2, x.label: [0, 1], D: Fraction(1, 2), i: 1, j: 1})


def test_a_reading_satisfies_it_at_all_indices() -> None:
    statement = Formula(AtLeast(D, x[i] - x[1], given=(NEAR,)))
    assert {v.name for v in statement.variables} == {"D", "i", "n", "x"}
    values = torch.tensor([0.0, 1.0], dtype=torch.float64)
    assert holds_given(statement, {"n": 2, "x": values, "D": 1.0, "i": 1})
    assert not holds_given(statement, {"n": 2, "x": values, "D": 0.9, "i": 1})


def test_one_statement_is_not_another() -> None:
    assert same(NEAR, ForAll(AtLeast(D**2, (x[j] - x[i]) ** 2), (i, j)))
    assert not same(NEAR, ForAll(NEAR.bound, (i,)))
    assert not same(NEAR, ForAll(AtLeast(D, (x[j] - x[i]) ** 2), (i, j)))
    assert not same(NEAR, NEAR.bound)


def test_its_normal_form_includes_the_indices() -> None:
    text = rendering.statement(canonical(POPOVICIU))
    assert re.search(r"given D\*\*2 ≥ .* for all i, j$", text)


@dataclass(frozen=True)
class Gullible(AtLeast):
    """A custom inequality of an author that claims to hold everywhere."""

    def holds_at(self, point: object) -> bool:
        """Always."""
        return True


@pytest.mark.parametrize(
    ("bound", "over", "why"),
    [
        (Gullible(x[i], 0), (i,), "bound: expected an inequality"),
        (AtLeast(x[i], 0, given=(AtLeast(y, 0),)), (i,), "bound: expected an inequality without hypotheses"),
        (AtLeast(x[i], 0), (), "over: expected one or several different indices"),
        (AtLeast(x[i], 0), (i, i), "over: expected one or several different indices"),
        (AtLeast(y, 0), (y,), "over: expected one or several different indices"),
        (AtLeast(x[1], 0), (n,), "over: expected one or several different indices"),
    ],
)
def test_its_parts_are_checked(bound: AtLeast, over: tuple[sp.Expr, ...], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        ForAll(bound, over)  # type: ignore[arg-type]


def test_it_is_no_step_and_immutable() -> None:
    with pytest.raises(BrokenError, match="expected a relation of the kernel, got ForAll"):
        of_the_kernel("step 1", NEAR)
    forged = replace(NEAR)
    object.__setattr__(forged, "bound", Gullible(D**2, (x[i] - x[j]) ** 2))
    with pytest.raises((BrokenError, ValueError), match=r"Gullible|expected an inequality"):
        of_the_kernel("step 1", Follows((forged,), AtLeast(D**2 / 2, VARIANCE), (p[i] * p[j] / 2,)))


def test_points_where_it_fails_are_replaced() -> None:
    every = AtLeast(D**2 / 8, VARIANCE)
    points = list(replace(every, given=(NEAR,)).points())
    assert len(points) == len(list(every.points()))
    assert all(NEAR.holds_at(point) for point in points)
    assert list(replace(every, given=(AtLeast(-D, 0),)).points()) == []


def test_only_indices_are_quantified() -> None:
    for over in ((i, D), (D,), (i, i), (), (x, i)):
        with pytest.raises(ValueError, match="over: expected one or several different indices"):
            ForAll(AtLeast(D**2, x[i] ** 2), over)  # type: ignore[arg-type]


def test_values_at_which_it_is_examined_are_those_of_variables() -> None:
    assert ForAll(AtLeast(D**2, x[i] ** 2), (i,), at={x: (1, 2)}).at == {x.label: (1, 2)}
