"""Instances for the transport chapter have the declared properties, reach every corner, and tolerances that can refuse."""

import math
from dataclasses import replace
from random import Random
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st

from derivations.register.catalogue import entries
from evidence.instances.attention import AttentionProblem, Tiled, attention_problems, by_pot, tilings
from evidence.readings import Formula, compare
from evidence.transport.section4_flash import Tiles, tiles
from evidence.transport.section5_stability import Ball, Perturbed, balls, perturbed
from evidence.transport.section5_temperature import LeadingKey, leading_keys
from evidence.transport.section7_summary import Losses, losses
from evidence.transport.sinkhorn import Iterates, iterates
from numerics import one_sided, tolerances

EXPLORE = settings(
    max_examples=100,
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def drawn(strategy: st.SearchStrategy[Any]) -> list[Any]:
    examples_drawn: list[Any] = []

    @EXPLORE
    @given(strategy)
    def collect(x: Any) -> None:
        examples_drawn.append(x)

    collect()
    return examples_drawn


def test_problems_reach_every_corner() -> None:
    examples: list[AttentionProblem] = drawn(attention_problems())
    assert {(x.n == 1, x.m == 1) for x in examples} == {(a, b) for a in (True, False) for b in (True, False)}
    assert any(x.n > x.m for x in examples)
    assert any(x.n < x.m for x in examples)
    tied = [x for x in examples if x.tied and x.m > 1]
    assert tied
    assert all(torch.equal(x["S"], x["S"][:, :1].expand_as(x["S"])) for x in tied)
    assert {x.n == x.m for x in drawn(attention_problems(square=True))} == {True}
    for x in examples:
        torch.testing.assert_close(x["R"].sum(-1), torch.ones(x.n, dtype=torch.float64))
        torch.testing.assert_close(x["a"].sum(), torch.ones((), dtype=torch.float64))


def test_rivals_are_one_hot_and_dense() -> None:
    peaks = [float(x["R"].max()) for x in drawn(attention_problems()) if x.m > 1]
    assert max(peaks) > 0.99
    assert min(peaks) < 0.6


def test_a_reading_refuses_weights_that_are_slightly_wrong() -> None:
    printed = entries()["transport.lem1"].printed()
    assert printed is not None
    formula = Formula(printed)
    x = AttentionProblem(3, 4, 1.0, 1.0, 5, tied=False)
    right = one_sided.plan(x["S"], x.eps)
    for plan, accepted in ((right, True), (right * (1 + 1e-9), False), (one_sided.plan(x["S"], x.eps * 1.0000001), False)):
        reading = x.reading(route=plan)
        assert (compare(formula, reading, formula.axes(reading.point))["route"].miss <= 1) is accepted


def test_the_peer_solves_the_problem_with_free_columns() -> None:
    x = AttentionProblem(3, 4, 0.5, 1.0, 7, tied=False)
    plan = by_pot(x["S"], x.eps)
    torch.testing.assert_close(plan.sum(-1), torch.ones(3, dtype=torch.float64))
    assert (plan.sum(0) - 3 / 4).abs().max() > 0.1


def test_iterates_have_one_marginal_each() -> None:
    examples: list[Iterates] = drawn(iterates(2.0))
    for x in examples:
        a, b = x.marginals
        torch.testing.assert_close(x.plan(x.steps).sum(0), b)
        torch.testing.assert_close(x.plan(x.steps + 1).sum(1), a)
        f, g = x.potentials(x.steps)
        torch.testing.assert_close(((f[:, None] + g - x.cost) / x.problem.eps).exp(), x.plan(x.steps))
    assert any(float((x.plan(x.steps).sum(1) - x.marginals[0]).abs().max()) > 0.01 for x in examples)


def test_a_reading_of_iterates_refuses_another_cost_and_temperature() -> None:
    printed = entries()["transport.s1.sinkhorn"].printed()
    assert printed is not None
    problem = AttentionProblem(3, 4, 0.5, 1.0, 5, tied=False)
    formula, x = Formula(printed), Iterates(problem, problem["C"], 3)
    reading = x.reading(route=x.least[0] - x.dual(4))
    wrong = ({}, {"eps": 0.5 * (1 + 1e-6)}, {"C": x.cost * (1 + 1e-6)})
    misses = [compare(formula, replace(reading, point={**reading.point, **change}), [])["route"].miss <= 1 for change in wrong]
    assert misses == [True, False, False]


def test_inputs_stay_in_their_ball() -> None:
    examples: list[Ball] = drawn(balls())
    for x in examples:
        assert max(float(x.original.norm(dim=-1).max()), float(x.perturbed.norm(dim=-1).max())) <= x.radius * (1 + 1e-12)
    assert {len(x.original) for x in examples} >= {1, 2, 3, 4}


def test_losses_have_their_constant_and_some_meet_the_bound() -> None:
    examples: list[Losses] = drawn(losses())
    for x in examples:
        apart = (x.train[:, None] - x.test).abs()
        assert bool(((x.loss(x.test) - x.loss(x.train)[:, None]).abs() <= x.steepness * apart + 1e-12).all())
    assert any(x.rising and bool(x.test.min() > x.train.max()) for x in examples)
    assert any(not x.rising for x in examples)


def test_tiles_and_rows_reach_their_corners() -> None:
    pieces: list[Tiles] = drawn(tiles())
    assert any(x.scores[0].numel() == 1 for x in pieces)
    assert any(x.scores[0].numel() != x.scores[1].numel() for x in pieces)
    assert any(not x.scores[0].any() for x in pieces)
    rows: list[LeadingKey] = drawn(leading_keys())
    assert any(x.tied > 1 for x in rows)
    assert all(bool((x.scores[1:] <= -x.lead).all()) for x in rows)


def test_some_perturbations_meet_the_bound() -> None:
    def share(x: Perturbed) -> float:
        before, after = (torch.softmax(s / x.epsilon, -1) for s in (x.scores, x.scores + x.change))
        moved_mass = float((after - before).clamp(min=0).sum())
        bound = math.tanh(float(x.change.max() - x.change.min()) / (4 * x.epsilon))
        assert moved_mass <= bound * (1 + 1e-9)
        return moved_mass / bound if bound else 0.0

    shares = [share(x) for x in drawn(perturbed())]
    assert max(shares) > 0.999
    assert min(shares) < 0.5


# ── attention in tiles ──────────────────────────────────────────────────────────────────────────────────────────────

SEARCH = settings(max_examples=400, phases=[Phase.generate], derandomize=True, database=None, deadline=None)

TILES = {
    "one tile": lambda x: x.tiles[0] == [x.key.shape[-2]] and x.key.shape[-2] > 1,
    "tiles of one key": lambda x: len(x.tiles[0]) == x.key.shape[-2] > 2,
    "two tilings": lambda x: x.tiles[0] != x.tiles[1],
    "a tile that is fully masked": lambda x: x.key.shape[-2] > x.tiles[0][0] and not x.allowed[..., : x.tiles[0][0]].any(),
    "a later one, and not the first": lambda x: (
        len(x.tiles[0]) > 1 and not x.allowed[..., -x.tiles[0][-1] :].any() and bool(x.allowed[..., : x.tiles[0][0]].any())
    ),
    "a row that is fully masked": lambda x: bool((~x.allowed.any(-1)).any()) and bool(x.allowed.any()),
    "nothing at all": lambda x: not x.allowed.any(),
    "a floating mask": lambda x: x.mask is not None and x.mask.is_floating_point() and bool((x.mask == -torch.inf).any()),
    "equal scores": lambda x: not x.query.any(),
}


@pytest.mark.parametrize("corner", TILES)
def test_every_corner_of_tiling_is_reached(corner: str) -> None:
    find(tilings(), TILES[corner], settings=SEARCH, random=Random(0))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16], ids=str)
def test_tilings_keep_their_promises(dtype: torch.dtype) -> None:
    @settings(SEARCH, max_examples=150)
    @given(tilings(dtype))
    def check(x: Tiled) -> None:
        assert {part.dtype for part in (x.query, x.key, x.value)} == {dtype}
        assert x.mask is None or x.mask.dtype in (torch.bool, dtype)
        assert x.allowed.shape == (*x.query.shape[:-1], x.key.shape[-2])
        assert all(sum(tiles) == x.key.shape[-2] and min(tiles) >= 1 for tiles in x.tiles)
        assert x.error >= torch.finfo(dtype).eps

    check()


def test_a_point_has_numbers_and_tensors_and_their_replacements() -> None:
    problem = AttentionProblem(2, 3, 0.5, 0.7, 0, False)
    point = problem.point(eps=2.0, Q=torch.ones(2, 2))
    assert (point["n"], point["m"], point["eps"], point["tau"]) == (2, 3, 2.0, 0.7)
    assert torch.equal(point["Q"], torch.ones(2, 2))  # type: ignore[arg-type]
    assert torch.equal(point["S"], problem.drawn["S"])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("eps", "tau", "factor"), [(1.0, 1.0, 1 + 8.0), (0.5, 2.0, (1 + 16) * 2.0), (4.0, 0.5, (1 + 16) * 4.0)]
)
def test_the_tolerance_of_a_reading(eps: float, tau: float, factor: float) -> None:
    """For sums over n m entries and features, of the largest number that enters, with the exponents that are rounded."""
    problem = AttentionProblem(2, 3, eps, tau, 0, False)
    problem.__dict__["drawn"] = {
        name: torch.tensor([x]) for name, x in {"Q": [1.0, -1.0], "K": [-2.0, 3.0], "S": [-3.0]}.items()
    }
    for magnitudes, route, largest in (((), 0.5, 1.0), ((-6.0,), 0.5, 6.0), ((2.0,), -7.0, 7.0)):
        reading = problem.reading(*magnitudes, one=torch.tensor([route, 0.0]))
        assert reading.tolerance == tolerances.rounding("float64", 2 * 3 * 3, largest * factor)


def test_where_rounding_of_tiles_starts() -> None:
    query, key = torch.tensor([[1.0, -2.0]]), torch.tensor([[3.0, 1.0], [1.0, 1.0]])
    plain = Tiled(query, key, key, None, 0.5, ([2], [2]))
    biased = replace(plain, mask=torch.tensor([[-torch.inf, -4.0]]))
    assert (plain.logit, biased.logit, replace(plain, mask=torch.tensor([[True, False]])).logit) == (10.0, 14.0, 10.0)
    assert biased.allowed.tolist() == [[False, True]]
    assert biased.error == tolerances.plan(torch.float32, 2, 5 * 14.0)
