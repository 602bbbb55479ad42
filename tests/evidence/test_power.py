"""The power of a vote is a number that decreases with every nonequivalent mutant that it cannot refute."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import sympy as sp
import torch
from hypothesis import strategies as st

from derivations.calculus.search import descent
from derivations.calculus.variables import positive
from derivations.records.claims import Layer
from derivations.relations import AtLeast, Equation, Expansion, Relation
from evidence.harness import Formula, Reading, Vote, compare_rounds, float64, vote_on
from evidence.power import Mutations
from evidence.registry import CASES, load
from evidence.rounds import Rounds

x, y = positive("x"), positive("y")
NUMBERS = st.fixed_dictionaries({"x": st.integers(1, 20), "y": st.integers(1, 20)})
QUOTIENT = Equation(x / y + x, x * (1 + y) / y)


def quotient(drawn: dict[str, int], tolerance: float = 1e-9) -> Reading:
    return Reading(drawn, {"own": float64(drawn["x"] / drawn["y"] + drawn["x"])}, tolerance)


def powerful(relation: Relation, check: Callable[[Any], Reading], strategy: Any = NUMBERS) -> dict[str, Any]:
    vote, mutations = Vote("eot.46", Layer.TORCH), Mutations(relation)
    compare_rounds(vote, Formula(relation), {}, Rounds(check, strategy, 20), mutations=mutations)
    return mutations.verdict(vote.routes)


def faced(relation: Relation, point: dict[str, float], tolerance: float, **routes: float) -> Mutations:
    """The mutants that were compared with routes at one point."""
    mutations = Mutations(relation)
    reading = Reading(point, {name: float64(value) for name, value in routes.items()}, tolerance)
    mutations.face(Formula(relation), reading, frozenset(routes))
    return mutations


def test_more_than_ten_tolerances_refute_a_mutant() -> None:
    same = Equation(x, y)
    assert "twice as much" in faced(same, {"x": 1.0, "y": 1.0}, 0.1, own=1.0).verdict(frozenset({"own"}))["alive"]
    assert faced(same, {"x": 1.0, "y": 1.0}, 0.099, own=1.0).killed["twice as much"] == {"own"}


def test_every_route_must_refute_a_mutant() -> None:
    mutations = faced(Equation(x, y), {"x": 2.0, "y": 2.0}, 0.1, near=2.0, far=2.09)
    both = frozenset({"near", "far"})
    assert "twice as much" not in mutations.verdict(both)["alive"]
    mutations.killed["twice as much"].remove("far")
    assert "twice as much" in mutations.verdict(both)["alive"]


@pytest.mark.parametrize(
    ("relation", "own", "dead"),
    [
        (AtLeast(x, y), 1.0, {"twice as much", "> for ≥"}),
        (AtLeast(x + y, y), 2.0, set()),
        (AtLeast(x + y, y, strict=True), 2.0, {"twice as much"}),
    ],
    ids=["weak", "weak and never equal", "strict"],
)
def test_a_strict_statement_stays_strict_and_others_get_a_strict_mutant(relation: Relation, own: float, dead: set[str]) -> None:
    killed = faced(relation, {"x": 1.0, "y": 1.0}, 1e-9, own=own).killed
    assert {name for name, by in killed.items() if by} == dead


def test_an_expansion_is_compared_in_its_highest_order() -> None:
    expansion = Expansion(sp.exp(x * y), 1 + x * y, x, 1)
    assert Mutations(expansion).relation == Equation(*expansion.sides)
    assert Mutations(QUOTIENT).relation is QUOTIENT


def test_mutants_that_were_never_faced_have_no_share() -> None:
    assert Mutations(QUOTIENT).verdict(frozenset({"own"})) == {"power": None, "mutants": 0, "alive": ()}


def test_a_fair_vote_refutes_every_mutant() -> None:
    power_found = powerful(QUOTIENT, quotient)
    assert power_found["power"] == 1
    assert power_found["mutants"] >= 8
    assert power_found["alive"] == ()


def test_a_coarse_tolerance_costs_power() -> None:
    small = st.fixed_dictionaries({"x": st.integers(1, 2), "y": st.integers(10, 20)})
    fine, coarse = (powerful(QUOTIENT, partial(quotient, tolerance=tolerance), small) for tolerance in (1e-9, 0.09))
    assert coarse["power"] < fine["power"]
    assert coarse["alive"]


def test_draws_that_leave_out_a_variable_cost_power() -> None:
    only_one = st.fixed_dictionaries({"x": st.integers(1, 20), "y": st.just(1)})
    power_found = powerful(QUOTIENT, quotient, only_one)
    assert power_found["power"] < 0.8
    assert "y² for y throughout" in power_found["alive"]


def test_an_inequality_that_is_never_tight_has_no_power() -> None:
    def far(drawn: dict[str, int]) -> Reading:
        return Reading(drawn, {"own": float64(float(drawn["x"] ** 2 + drawn["y"] ** 2))}, 1e-9)

    apart = st.fixed_dictionaries({"x": st.integers(1, 2), "y": st.integers(50, 60)})
    squares = AtLeast(x**2 + y**2, 2 * x * y, because=(x - y) ** 2)
    assert powerful(squares, far, apart)["power"] < 0.5 < powerful(squares, far)["power"]


def test_an_equivalent_mutant_does_not_count() -> None:
    power_found = powerful(
        Equation(x + y, x + y, about=(x,)), lambda drawn: Reading(drawn, {"own": float64(float(drawn["x"] + drawn["y"]))}, 1e-9)
    )
    assert power_found["power"] == 1


def test_the_side_that_is_not_computed_is_edited() -> None:
    def right(drawn: dict[str, int]) -> Reading:
        return Reading(drawn, {"own": float64(drawn["x"] * (1 + drawn["y"]) / drawn["y"])}, 1e-9, "right")

    assert powerful(QUOTIENT, right)["power"] == 1


def test_a_route_that_is_not_finite_refutes_no_mutant() -> None:
    power_found = powerful(QUOTIENT, lambda drawn: Reading(drawn, {"own": float64(torch.nan)}, 1e-9))
    assert power_found["power"] in (None, 0.0)


@pytest.mark.parametrize("claim", ["eot.46", "eot.18"])
def test_the_power_of_a_real_vote_is_in_its_evidence(claim: str) -> None:
    load([claim])
    evidence = vote_on(CASES[Layer.TORCH][claim], quick=True)
    assert evidence.power is not None
    assert evidence.power >= 0.9
    assert evidence.mutants - len(evidence.alive) == round(evidence.power * evidence.mutants)


def test_a_search_descends_inside_of_the_domain() -> None:
    def height(point: Any) -> float:
        return float(abs(point[x] - 3 * point[y]))

    start = {x: 10, y: 1}
    steps = list(descent(start, height, lambda point: point[y] >= 1, 200))
    heights = [height(point) for point in steps]
    assert heights == sorted(heights, reverse=True)
    assert heights[-1] < heights[0] / 10
    assert all(point[x] > 0 and point[y] >= 1 for point in steps)
