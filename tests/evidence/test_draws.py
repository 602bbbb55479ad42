"""The number of discarded draws is known, wherever the draws were discarded."""

import importlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from evidence.draws import Draws

COUNT = 200
NUMBERS = st.integers(0, 10**6)


def even(value: int) -> bool:
    return hash(value) % 2 == 0


@st.composite
def drawn(draw: st.DrawFn) -> int:
    value = draw(NUMBERS)
    assume(even(value))
    return value


def assumed(value: Any) -> None:
    assume(even(value))


def anything(value: Any) -> None:
    pass


@pytest.mark.parametrize(
    ("strategy", "explore", "share"),
    [
        (NUMBERS, anything, 0.0),
        (NUMBERS, assumed, 0.5),
        (drawn(), anything, 0.5),
        (NUMBERS.filter(even), anything, 0.5),
        (NUMBERS.filter(even).map(str), anything, 0.5),
        (st.sampled_from(range(100)).filter(even), anything, 0.5),
        (NUMBERS.filter(even).filter(lambda value: value % 3 == 0), anything, 5 / 6),
        (st.lists(NUMBERS, unique=True, min_size=2), anything, 0.0),
    ],
)
def test_the_share_that_is_discarded(strategy: SearchStrategy[Any], explore: Any, share: float) -> None:
    draws = Draws(strategy, COUNT)
    assert draws.run(explore, 0)
    assert draws.kept <= COUNT
    assert draws.discarded / (draws.kept + draws.discarded) == pytest.approx(share, abs=0.15)


@pytest.mark.parametrize(
    "strategy",
    [st.nothing(), NUMBERS.filter(lambda value: value < 0), NUMBERS.map(int).filter(bool).filter(lambda value: value == -5)],
)
def test_nothing_to_draw(strategy: SearchStrategy[Any]) -> None:
    assert not Draws(strategy, COUNT).run(anything, 0)


def test_rounds_differ_and_repeat() -> None:
    seen: list[list[int]] = []
    for turn in (0, 1, 0):
        values: list[int] = []
        Draws(NUMBERS, COUNT).run(values.append, turn)
        seen.append(values)
    assert seen[0] == seen[2] != seen[1]


def test_imported_modules_do_not_influence_the_draws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def values() -> list[int]:
        drawn: list[int] = []
        Draws(NUMBERS, COUNT).run(drawn.append, 0)
        return drawn

    before = values()
    (tmp_path / "full_of_constants.py").write_text(f"NUMBERS = {list(range(123_000, 124_000))}")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("full_of_constants")
    assert values() == before


def test_a_filter_is_as_it_was_after_a_round() -> None:
    strategy = NUMBERS.map(int).filter(even)
    Draws(strategy, COUNT).run(anything, 0)
    again = Draws(strategy, COUNT)
    again.run(anything, 0)
    first = Draws(NUMBERS.map(int).filter(even), COUNT)
    first.run(anything, 0)
    assert again.discarded == first.discarded


def test_random_draws_of_few_elements_are_counted_and_exhaustive_ones_are_not() -> None:
    draws = Draws(st.tuples(st.sampled_from(range(300)).filter(lambda value: value == 299), NUMBERS), COUNT)
    assert draws.run(anything, 0)
    assert 0.9 * COUNT < draws.kept == draws.begun
    assert 2.9 * draws.kept < draws.discarded <= 3 * draws.kept


def test_unsuccessful_draws_are_counted_once_each() -> None:
    draws = Draws(st.tuples(st.sampled_from(range(100)).filter(lambda value: value > 100), NUMBERS), COUNT)
    assert not draws.run(anything, 0)
    assert (draws.kept, draws.discarded) == (0, 3 * draws.begun)
    filtered = Draws(NUMBERS.map(int).filter(lambda value: value < 0), COUNT)
    assert not filtered.run(anything, 0)
    assert (filtered.kept, filtered.discarded) == (0, 3 * filtered.begun)
    assumed_away = Draws(NUMBERS, COUNT)
    assert not assumed_away.run(lambda value: assume(False), 0)
    assert (assumed_away.kept, assumed_away.discarded) == (0, assumed_away.begun)
