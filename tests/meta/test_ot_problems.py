"""The drawn problems of entropic transport: that they are what they say, reach every corner, and refuse bad arguments."""

from __future__ import annotations

import mpmath as mp
import pytest
import torch
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from evidence.instances import fifty_digits
from evidence.instances.ot_problems import COSTS, PRIORS, SYMMETRIC, OtProblem, ot_problems

EXPLORE = settings(max_examples=60, deadline=None, database=None, derandomize=True, phases=[Phase.generate],
                   suppress_health_check=list(HealthCheck))


def drawn(strategy: st.SearchStrategy[OtProblem]) -> list[OtProblem]:
    found: list[OtProblem] = []

    @EXPLORE
    @given(strategy)
    def collect(x: OtProblem) -> None:
        found.append(x)

    collect()
    return found


EXAMPLES = drawn(ot_problems())


def test_every_corner_is_reached() -> None:
    assert {x.costs for x in EXAMPLES} == set(COSTS)
    assert {x.prior_kind for x in EXAMPLES} == set(PRIORS)
    assert {x.N for x in EXAMPLES} == {1, 2, 3, 4}
    assert any(x.d > x.N for x in EXAMPLES)
    assert any(x.d < x.N for x in EXAMPLES)
    assert any(bool((x["u"] == 0).any()) for x in EXAMPLES)


def test_the_preference_and_the_kernel_are_distributions() -> None:
    for x in EXAMPLES:
        torch.testing.assert_close(x["u"].sum(), torch.ones((), dtype=torch.float64))
        torch.testing.assert_close(x["Q"].sum(-1), torch.ones(x.N, dtype=torch.float64))
        torch.testing.assert_close(x["R"].sum(-1), torch.ones(x.N, dtype=torch.float64))
        raw = torch.exp(-x["M"] / x.gamma)                   # Q[j, i] = q(i|j): normalized over the first argument of M
        torch.testing.assert_close(x["Q"], (raw / raw.sum(0)).T)


def test_symmetric_costs_are_symmetric_and_the_others_are_not() -> None:
    for x in EXAMPLES:
        if x.costs in SYMMETRIC:
            assert torch.equal(x["M"], x["M"].T)
            assert bool((x["S"] >= 0).all())
            assert torch.equal(x["S"] + x["S"].T, x["M"])
        else:
            assert "S" not in x.drawn
    assert any(x.N > 1 and not torch.allclose(x["M"], x["M"].T) for x in EXAMPLES if x.costs == "any")
    assert any(len(x["M"].unique()) < x.N**2 for x in EXAMPLES if x.costs == "ties" and x.N > 1)


def test_strict_diagonals_and_ties() -> None:
    """Footnote 11 asks for M(t, t) < M(t', t): distances obey, ties do not."""
    off = {kind: [float((x["M"] - x["M"].diagonal() + 9 * torch.eye(x.N)).min()) for x in EXAMPLES
                  if x.costs == kind and x.N > 1] for kind in SYMMETRIC}
    assert min(off["distances"]) > 0
    assert min(off["ties"]) <= 0


def test_the_same_seed_draws_the_same_problem() -> None:
    x = EXAMPLES[-1]
    again = x.to("cpu")
    assert all(torch.equal(x[name], again[name]) for name in x.drawn)


def test_the_tolerance_grows_with_what_enters() -> None:
    x = EXAMPLES[0]
    assert x.tolerance(100.0) > x.tolerance(1.0) > 0
    assert x.tolerance(1.0) < 1e-9


def test_the_maximizer_in_fifty_digits_is_stationary_and_the_resolvent_is_not() -> None:
    x = next(x for x in EXAMPLES if x.N > 2 and x.costs == "any")
    with mp.workdps(fifty_digits.DIGITS + fifty_digits.GUARD):
        exact, alpha = x.exactly, x.exactly.small

        def residual(dual: list[object]) -> object:
            return fifty_digits.norm([s + z - y / alpha - m for s, z, y, m in zip(
                exact.start, exact.evidence, dual, exact.mean(dual), strict=True)])

        assert residual(exact.maximizer(alpha)) * alpha < mp.mpf(10) ** -fifty_digits.DIGITS
        assert residual(exact.resolvent(alpha)) * alpha > mp.mpf(10) ** -30
        assert abs(mp.fsum(exact.weights(exact.maximizer(alpha))) - 1) < mp.mpf(10) ** -fifty_digits.DIGITS


def test_too_few_steps_are_refused() -> None:
    x = next(x for x in EXAMPLES if x.N > 2 and x.costs == "any")
    with mp.workdps(fifty_digits.DIGITS + fifty_digits.GUARD), pytest.raises(ArithmeticError, match="does not settle in 1"):
        x.exactly.maximizer(mp.mpf(1), steps=1)


@pytest.mark.parametrize("wrong", [{"smallest": 0}, {"smallest": 5}, {"max_d": 0}, {"costs": ()}, {"costs": ("odd",)},
                                   {"priors": ("odd",)}])
def test_bad_arguments_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="ot_problems"):
        drawn(ot_problems(**wrong))  # type: ignore[arg-type]
