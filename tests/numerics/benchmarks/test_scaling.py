"""The scaling of `deviation`: ratios are within rounds, and failed runs are not timed."""

import pytest

from numerics.benchmarks.scaling import Round, Turn, run, scaling


def drawn(*seconds: float, processes: int = 2) -> Round:
    """A round with these elapsed times; CPU seconds are 0.9 of them for one process, and 1.8 for several."""
    return Round(*(Turn(count, x, 0.9 * x * min(count, 2)) for count, x in zip((1, processes) * 2, seconds, strict=True)))


def test_ratios_are_medians_of_rounds() -> None:
    result = scaling([drawn(100, 50, 10, 5), drawn(300, 100, 20, 20), drawn(90, 90, 10, 10)])
    assert (result.processes, result.ratio, result.work) == (2, 2.0, pytest.approx(1.0))
    assert result.growth_ratio == pytest.approx(2.0)
    assert result.growth_work == pytest.approx(1.0)
    assert result.bound == pytest.approx(2.0)


def test_the_time_of_one_word_is_subtracted_from_the_growth() -> None:
    result = scaling([drawn(70, 40, 10, 10)])
    assert result.ratio == pytest.approx(7 / 4)
    assert result.growth_ratio == pytest.approx(2.0)
    assert result.work == pytest.approx(8 / 7)
    assert result.bound == pytest.approx(7 / 4)


@pytest.mark.parametrize("rounds", [[], [drawn(4, 2, 2, 1), drawn(4, 2, 2, 1, processes=3)]])
def test_rounds_of_different_numbers_of_processes_are_refused(rounds: list[Round]) -> None:
    with pytest.raises(ValueError, match=r"^rounds: expected one number of processes"):
        scaling(rounds)


def test_a_run_that_fails_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^arguments: expected a run of deviation that succeeds, got .*alpha"):
        run(1, ["--alpha", "-1"])
