"""How long drawn instances are looked at: until all that is to be refuted is, within reason."""

from __future__ import annotations

import pytest
import torch
from hypothesis import strategies as st

from derivations.calculus.variables import scalar
from derivations.claims import Layer
from derivations.relations import Equation
from evidence.harness import PATIENCE, Formula, Reading, Vote, poll

x = scalar("x")
COUNT = 10


def polled(twin: Equation, values: st.SearchStrategy[int], *, refuting: bool = False, off: float = 0.0) -> Vote:
    """A check of x = x whose twin is to die, of which `off` is added at 3."""
    def check(value: int) -> Reading:
        left = torch.tensor(value + off * (value == 3), dtype=torch.float64)
        return Reading({"x": value}, {"own": left}, 1e-9)

    vote = Vote("eot.46", Layer.TORCH)
    poll(vote, Formula(Equation(x, x)), {"a twin": Formula(twin)}, check, values, COUNT, refuting=refuting)
    return vote


def test_nothing_more_is_drawn_once_all_is_refuted() -> None:
    vote = polled(Equation(x, x + 1), st.integers(0, 1000))
    assert vote.killed == {"a twin": {"own"}}
    assert vote.instances <= COUNT


@pytest.mark.parametrize("refuting", [False, True])
def test_a_twin_that_is_true_lives_after_all_rounds(refuting: bool) -> None:
    vote = polled(Equation(x, x), st.integers(0, 9), refuting=refuting)
    assert vote.killed == {}
    assert vote.instances == pytest.approx(PATIENCE * COUNT, abs=PATIENCE * COUNT / 2)


def test_a_rare_refutation_of_the_print_is_waited_for() -> None:
    seldom = st.integers(0, 60)
    hasty, patient = polled(Equation(x, x + 1), seldom, off=1.0), polled(Equation(x, x + 1), seldom, refuting=True, off=1.0)
    assert not hasty.failure
    assert patient.failure
    assert hasty.instances < patient.instances


def test_the_draws_are_the_same_each_time() -> None:
    first, second = (polled(Equation(x, x + 1), st.integers(0, 10**6)) for _ in range(2))
    assert (first.instances, first.worst, first.killed) == (second.instances, second.worst, second.killed)
