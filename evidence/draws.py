"""Reproducible random instances from a Hypothesis strategy, with a count of discarded draws."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any
from unittest.mock import patch

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis import strategies as st
from hypothesis.control import BuildContext
from hypothesis.errors import Unsatisfiable
from hypothesis.internal.cache import LRUCache
from hypothesis.internal.conjecture import providers
from hypothesis.internal.conjecture.data import ConjectureData
from hypothesis.internal.constants_ast import Constants
from hypothesis.strategies._internal.strategies import FilteredStrategy, SampledFromStrategy, filter_not_satisfied

Explore = Callable[[Any], None]

CONSTANTS: LRUCache[object, object] = LRUCache(1024)
"""Hypothesis' special values for each kind of draw, without constants collected from imported modules."""


class Draws:
    """Rounds of instances of a strategy.

    Attributes:
        kept: instances that were explored to the end.
        discarded: draws that a filter refused, or that `assume` left, in the strategy or in what explores.
    """

    def __init__(self, strategy: st.SearchStrategy[Any], count: int) -> None:
        self.strategy, self.count = strategy, count
        self.begun = self.kept = self.refused = self.aborted = self.tries = 0

    @property
    def discarded(self) -> int:
        """The number of discarded draws."""
        return self.refused + self.begun - self.aborted - self.kept

    def run(self, explore: Explore, turn: int) -> bool:
        """Explore one more round; returns False if no instance could be drawn."""
        initial = self.kept

        def begin() -> None:
            self.begun += 1

        def each(drawn: tuple[None, Any]) -> None:
            explore(drawn[1])
            self.kept += 1

        profile = settings(
            max_examples=self.count,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            verbosity=Verbosity.quiet,
            suppress_health_check=list(HealthCheck),
        )
        # every example counts as begun first, and as kept only if nothing after that gave up
        both = st.tuples(st.builds(begin), self.strategy)
        with (
            patch.object(providers, "_get_local_constants", Constants),
            patch.object(providers, "CONSTANTS_CACHE", CONSTANTS),
            patch.object(FilteredStrategy, "do_filtered_draw", self._counting(FilteredStrategy.do_filtered_draw)),
            patch.object(SampledFromStrategy, "do_filtered_draw", self._drawing(SampledFromStrategy.do_filtered_draw)),
            patch.object(SampledFromStrategy, "get_element", self._sampling(SampledFromStrategy.get_element)),
        ):
            try:
                seed(turn)(profile(given(both)(each)))()
            except Unsatisfiable:
                return False
        return self.kept > initial

    def _counting(self, draw: Callable[..., Any]) -> Callable[..., Any]:
        """Hypothesis' draw from a filtered strategy, which tries up to three times, with each refusal counted."""

        def counted(condition: Callable[[Any], Any]) -> Callable[[Any], bool]:
            def accepts(value: Any) -> bool:
                good = bool(condition(value))
                self.refused += not good
                return good

            return accepts

        def counting(strategy: Any, data: Any) -> Any:
            conditions = strategy.flat_conditions
            strategy.flat_conditions = tuple(map(counted, conditions))
            try:
                drawn = draw(strategy, data)
            finally:
                strategy.flat_conditions = conditions
            self.aborted += drawn is filter_not_satisfied  # its three refusals are counted one by one
            return drawn

        return counting

    def _drawing(self, draw: Callable[..., Any]) -> Callable[..., Any]:
        """Hypothesis' draw of one of some elements, which filters by itself, and looks at all of them after three tries."""

        def counting(strategy: Any, data: Any) -> Any:
            self.tries = 3
            drawn = draw(strategy, data)
            self.aborted += drawn is filter_not_satisfied
            return drawn

        return counting

    def _sampling(self, get: Callable[..., Any]) -> Callable[..., Any]:
        """One of some elements, with its refusal counted while it is still drawn."""

        def counting(strategy: Any, position: int, data: Any) -> Any:
            element = get(strategy, position, data)
            self.refused += self.tries > 0 and element is filter_not_satisfied
            self.tries -= 1
            return element

        return counting


@lru_cache(maxsize=256)  # checks that share a strategy are near each other
def drawn(strategy: st.SearchStrategy[Any], count: int, turn: int) -> tuple[Sequence[Any], int]:
    """Return the instances of a round, and the number of discarded draws."""
    draws, instances = Draws(strategy, count), list[Any]()
    draws.run(instances.append, turn)
    return instances, draws.discarded


def as_in_a_test(check: Callable[..., Any]) -> AbstractContextManager[Any]:
    """Let a check that is called without Hypothesis use `assume`."""
    return BuildContext(ConjectureData.for_choices(()), wrapped_test=check)
