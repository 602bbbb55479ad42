"""The number of rounds: instances are drawn until everything is refuted, at most `MAX_ROUNDS` times."""

from collections.abc import Callable

import pytest
import torch
from hypothesis import assume
from hypothesis import strategies as st

from derivations.calculus.variables import scalar
from derivations.records.claims import Layer
from derivations.relations import AtLeast, Equation
from evidence.admission import NotAReadingError
from evidence.harness import MAX_ROUNDS, Formula, Reading, Vote, compare_rounds
from evidence.rounds import Rounds

x = scalar("x")
COUNT = 10


def vote_against(twin: Equation, values: st.SearchStrategy[int], *, refuting: bool = False, deviation: float = 0.0) -> Vote:
    """A vote on x = x with a false twin, in which the route is off by `deviation` at 3."""

    def check(value: int) -> Reading:
        left = torch.tensor(value + deviation * (value == 3), dtype=torch.float64)
        return Reading({"x": value}, {"own": left}, 1e-9)

    vote = Vote("eot.46", Layer.TORCH)
    compare_rounds(vote, Formula(Equation(x, x)), {"a twin": Formula(twin)}, Rounds(check, values, COUNT), refuting=refuting)
    return vote


def test_nothing_more_is_drawn_once_all_is_refuted() -> None:
    vote = vote_against(Equation(x, x + 1), st.integers(0, 1000))
    assert vote.killed == {"a twin": {"own"}}
    assert vote.instances <= COUNT


@pytest.mark.parametrize("refuting", [False, True])
def test_a_true_twin_survives_all_rounds(refuting: bool) -> None:
    vote = vote_against(Equation(x, x), st.integers(0, 9), refuting=refuting)
    assert vote.killed == {}
    assert vote.instances == pytest.approx(MAX_ROUNDS * COUNT, abs=MAX_ROUNDS * COUNT / 2)


def test_a_rare_refutation_of_the_print_is_waited_for() -> None:
    seldom = st.integers(0, 60)
    hasty, patient = (vote_against(Equation(x, x + 1), seldom, refuting=refuting, deviation=1.0) for refuting in (False, True))
    assert not hasty.failure
    assert patient.failure
    assert hasty.instances < patient.instances


def test_the_draws_are_the_same_each_time() -> None:
    first, second = (vote_against(Equation(x, x + 1), st.integers(0, 10**6)) for _ in range(2))
    assert (first.instances, first.worst, first.killed) == (second.instances, second.worst, second.killed)


def test_another_claim_is_compared_with_the_same_readings() -> None:
    """The second claim gets the same vote as with newly drawn readings."""
    drawn: list[int] = []
    buffer = torch.zeros((), dtype=torch.float64)

    def check(value: int) -> Reading:
        assume(value % 5)
        drawn.append(value)
        return Reading({"x": value}, {"own": buffer.fill_(value)}, 1e-9)  # in memory that is used again

    def compared(rounds: Rounds, twin: Equation) -> Vote:
        vote = Vote("eot.46", Layer.TORCH)
        compare_rounds(vote, Formula(Equation(x, x)), {"a twin": Formula(twin)}, rounds)
        return vote

    shared, values = Rounds(check, st.integers(0, 99), COUNT), st.integers(0, 99)
    first = compared(shared, Equation(x, x + 1))
    assert len(drawn) == first.instances
    once = list(drawn)
    second = compared(shared, Equation(x, x + 2))
    assert drawn == once
    assert second == first
    assert first.discarded > 0
    assert compared(shared, Equation(x, x)) == compared(Rounds(check, values, COUNT), Equation(x, x))  # of more rounds
    assert second == compared(Rounds(check, values, COUNT), Equation(x, x + 2))


def test_a_round_that_fails_is_drawn_again_for_the_next_claim() -> None:
    rounds = Rounds(lambda value: Reading({"x": value}, {"own": torch.tensor(float(value)).double()}, 1e-9), st.just(3), COUNT)
    wrong = Formula(Equation(x, x, given=[AtLeast(x, 4)]))
    with pytest.raises(NotAReadingError, match="point: expected one at which"):
        compare_rounds(Vote("eot.46", Layer.TORCH), wrong, {}, rounds)
    vote = Vote("eot.46", Layer.TORCH)
    compare_rounds(vote, Formula(Equation(x, x)), {}, rounds)
    assert (vote.instances, vote.discarded) == (1, 0)


Instance = dict[str, float]


def read(check: Callable[[Instance], object], strategy: st.SearchStrategy[Instance]) -> tuple[Rounds, list[float]]:
    """One round of a check, and the numbers that it was given."""
    seen: list[float] = []

    def reading(instance: Instance) -> Reading:
        seen.append(instance["x"])
        check(instance)
        return Reading({"x": seen[-1]}, {"own": torch.tensor(seen[-1]).double()}, 1e-9)

    rounds = Rounds(reading, strategy, COUNT)
    assert rounds.of(0, "eot.46")
    return rounds, seen


def test_checks_share_what_is_drawn_and_each_has_its_own_copy() -> None:
    made: list[float] = []

    def instance(value: int) -> Instance:
        made.append(float(value))
        return {"x": made[-1]}

    strategy = st.integers(0, 99).map(instance)
    _, first = read(dict.clear, strategy)
    _, second = read(dict.clear, strategy)
    assert first == second == made


def test_a_check_that_refuses_instances_reads_others() -> None:
    strategy = st.integers(0, 99).map(lambda value: {"x": float(value)})
    rounds, _ = read(lambda instance: assume(instance["x"] > 50), strategy)
    assert len(rounds.readings[0]) == COUNT
    assert min(reading.point["x"] for reading in rounds.readings[0]) > 50
    assert rounds.discarded[0] > 0
    assert read(dict.clear, strategy)[0].discarded == [0]
