"""How `deviation` scales: ratios are of rounds, and a run that fails is not timed."""

import pytest

from numerics.benchmarks.scaling import Turn, run, scaling


def test_ratios_are_medians_of_rounds() -> None:
    turns = [Turn(1, 100.0, 90.0), Turn(2, 50.0, 99.0), Turn(1, 300.0, 90.0), Turn(2, 100.0, 90.0), Turn(1, 90.0, 90.0),
             Turn(2, 90.0, 135.0)]
    found = scaling(turns)
    assert (found.processes, found.ratio, found.work) == (2, 2.0, pytest.approx(1.1))
    assert found.bound == pytest.approx(2 / 1.1)


@pytest.mark.parametrize("processes", [(1,), (1, 1), (2, 2), (1, 2, 2), (1, 1, 2, 3)])
def test_rounds_that_are_not_pairs_are_refused(processes: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"^turns: expected as many of one process as of several"):
        scaling([Turn(count, 1.0, 1.0) for count in processes])


def test_a_run_that_fails_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^arguments: expected a run of deviation that ends well, got .*alpha"):
        run(1, ["--alpha", "-1"])
