"""Votes in other dtypes: the problems that they draw, the values for the formulas, and the reports."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import find, given, settings
from hypothesis import strategies as st

from derivations.records.claims import Outcome
from evidence import Run, dtypes, float64
from evidence.dtypes import in_dtype, plan_error, point, problems
from evidence.harness import Vote
from evidence.instances.one_sided import OneSided
from evidence.readings import Formula, Reading
from evidence.rounds import Rounds
from numerics import tolerances

SCORES = torch.tensor([1.0, -3.0, 0.5], dtype=torch.float16)
PROBLEM = OneSided(SCORES, 0.5, torch.arange(12.0).reshape(3, 4), torch.tensor([1.0, 0.0, -2.0, 1.0]), None, "none")


def test_every_variable_has_its_value() -> None:
    variables: dict[str, Any] = dict(point(PROBLEM))
    assert (variables["m"], variables["d"], variables["e"], variables["tau"], variables["eps"]) == (3, 2, 4, 0.5, 0.5)
    assert variables["K"].shape == (3, variables["d"])
    assert torch.equal(variables["K"] @ variables["Q"], SCORES.double())  # the scores are those of keys and query
    assert torch.equal(variables["s"], SCORES.double())
    assert torch.equal(variables["u"], PROBLEM.utility.double())
    assert (variables["V"].shape, variables["g"].tolist()) == ((3, 4), [1.0, 0.0, -2.0, 1.0])
    assert all(value.dtype == torch.float64 for value in variables.values() if isinstance(value, torch.Tensor))


def test_the_error_of_a_weight_is_that_of_the_largest_score() -> None:
    assert plan_error(PROBLEM) == tolerances.plan(torch.float16, 3, 6.0)


@settings(max_examples=30)
@given(
    st.sampled_from([torch.float32, torch.float16, torch.bfloat16]).flatmap(
        lambda dtype: st.tuples(st.just(dtype), problems(dtype))
    )
)
def test_problems_are_rows_of_ordinary_magnitude(drawn: tuple[torch.dtype, OneSided]) -> None:
    dtype, problem = drawn
    coarse = dtype is torch.bfloat16
    assert (problem.scores.dtype, problem.scores.ndim, problem.mask) == (dtype, 1, None)
    assert problem.m <= (3 if coarse else 5)
    assert problem.temperature in ((1.0, 2.0, 4.0) if coarse else (1.0, 0.5, 4.0))
    assert float(problem.scores.abs().max()) < 20


@pytest.mark.parametrize(
    ("dtype", "size", "temperatures"), [(torch.bfloat16, 3, (1.0, 2.0, 4.0)), (torch.float16, 5, (1.0, 0.5, 4.0))]
)
def test_all_of_them_are_drawn(dtype: torch.dtype, size: int, temperatures: tuple[float, ...]) -> None:
    assert find(problems(dtype), lambda problem: problem.m == size).m == size
    for temperature in temperatures:
        assert find(problems(dtype), lambda problem, t=temperature: problem.temperature == t).temperature == temperature
    assert find(problems(dtype), lambda problem: problem.m > 1 and not problem.scores.any()).m > 1
    assert find(problems(dtype), lambda problem: bool(problem.scores.any())).m


class Fake:
    """A problem that has only a tolerance."""

    def __init__(self, tolerance: float) -> None:
        self.tolerance = tolerance

    def to(self, device: str) -> "Fake":
        """The same on a device."""
        assert device == "cpu"
        return self


def test_a_vote_in_a_dtype_is_one_on_problems_that_could_refute_it(monkeypatch: pytest.MonkeyPatch) -> None:
    sample: list[Any] = []
    monkeypatch.setattr(
        dtypes, "entries", lambda: {"eot.0": SimpleNamespace(printed=lambda: "print", twins={"a": lambda: "a twin"})}
    )
    monkeypatch.setattr(dtypes, "Formula", lambda relation: SimpleNamespace(relation=relation))
    monkeypatch.setattr(dtypes, "problems", lambda dtype: st.sampled_from([0.05, 0.1, 0.2]).map(Fake))

    def compare_rounds(vote: Vote, printed: Formula, twins: dict[str, Formula], rounds: Rounds) -> None:
        sample.append((printed.relation, twins["a"].relation, rounds.count))
        sample.append({reading.tolerance for reading in rounds.of(0, "eot.0")})
        vote.failure, vote.worst = "off", 20.0

    monkeypatch.setattr(dtypes, "compare_rounds", compare_rounds)
    observe = in_dtype(torch.float16, lambda problem: Reading({}, {"own": float64(1.0)}, problem.tolerance))
    finding = observe("eot.0", Run())
    assert sample == [("print", "a twin", 40), {0.05}]
    assert (finding.outcome, finding.detail, finding.error, finding.device) == (Outcome.REFUTED, "off", 20.0, "cpu")
    assert finding.scope.endswith("worst error 20 of the tolerance, float16, cpu")
