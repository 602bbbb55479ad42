"""The torch layer's vote on every claim it can speak to: float64 by every route, other dtypes by the closed forms."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
import torch
from hypothesis import strategies as st

import tests.properties
from derivations.catalogue import entries
from derivations.claims import Evidence, Layer
from numerics import one_sided, tolerances
from tests.layers import REFUTING_FACTOR, Case, Formula, Reading, Vote, assert_sound, float64, parameters, poll, vote_on
from tests.strategies import OneSided, one_sided_problems

DTYPES = (torch.float32, torch.bfloat16, torch.float16)


@pytest.mark.parametrize("case", parameters(Layer.TORCH, tests.properties))
def test_torch(case: Case, request: pytest.FixtureRequest, record_evidence: Callable[[Evidence], None]) -> None:
    options = request.config.option
    evidence = vote_on(case, quick=options.quick, device=options.device)
    record_evidence(evidence)
    assert_sound(evidence)


def in_dtype(claim: str, problem: OneSided) -> Reading:
    """A closed form in the problem's own dtype, at inputs that are exact in that dtype."""
    dtype, tau, m = problem.scores.dtype, problem.temperature, problem.m
    scores, utility = problem.scores, problem.utility
    plan = one_sided.plan(scores, tau)
    exact = {"s": scores, "K": torch.stack((-scores, scores), -1), "u": utility, "V": problem.values,
             "g": problem.context_gradient}
    point = {"m": m, "d": 2, "e": problem.values.shape[-1], "tau": tau, "eps": tau, "Q": float64([1.0, 2.0]),
             **{name: x.double().cpu() for name, x in exact.items()}}
    plan_error = tolerances.plan(dtype, m, float(scores.abs().max()) / tau)
    if claim == "eot.18":
        return Reading(point, {"closed_form": plan}, plan_error)
    if claim == "eot.59":                                    # |d p(δ − p)| ≤ |dp|, and one more rounding of at most 1/4
        return Reading(point, {"closed_form": one_sided.plan_jacobian(plan, tau).T}, 1.25 * plan_error / tau)
    gradient = one_sided.score_gradient(plan, utility, tau)
    return Reading(point, {"closed_form": gradient}, gradient_error(problem, plan_error))


def gradient_error(problem: OneSided, plan_error: float) -> float:
    """The error of a score gradient, by the smaller of two bounds; small gradients need the second one."""
    dtype, tau, m = problem.scores.dtype, problem.temperature, problem.m
    utility, logits = problem.utility.double(), problem.scores.double() / tau
    largest, p = float(utility.abs().max()), logits.softmax(-1)
    sensitivity = float((p * (2 * (utility - p @ utility).abs() + p @ utility.abs())).max())
    computed = tolerances.plan(torch.float32, m, float(logits.abs().max()))
    return min(tolerances.score_gradient(dtype, m, largest, tau, plan_error),
               tolerances.stored_score_gradient(dtype, m, largest, tau, sensitivity, computed))


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: str(dtype).removeprefix("torch."))
@pytest.mark.parametrize("claim", [pytest.param(c, id=c, marks=pytest.mark.claim(c, Layer.TORCH))
                                   for c in ("eot.18", "eot.46", "eot.59")])
def test_other_dtypes(
    claim: str, dtype: torch.dtype, request: pytest.FixtureRequest, record_evidence: Callable[[Evidence], None]
) -> None:
    start, device = time.perf_counter(), request.config.option.device
    entry, vote = entries()[claim], Vote(claim, Layer.TORCH)
    printed = entry.printed()
    assert printed is not None
    twins = {name: Formula(make()) for name, make in entry.twins.items()}
    coarse = dtype is torch.bfloat16                         # where a bound for five keys at τ = 1/2 would say nothing
    problems: st.SearchStrategy[OneSided] = one_sided_problems(
        dtype, max_m=3 if coarse else 5, max_batch=0, temperatures=(1.0, 2.0, 4.0) if coarse else (1.0, 0.5, 4.0),
        scales=(1.0, 0.0), masks=("none",))
    telling = problems.filter(lambda problem: in_dtype(claim, problem).tolerance < 1 / REFUTING_FACTOR)
    poll(vote, Formula(printed), twins, lambda problem: in_dtype(claim, problem.to(device=device)), telling, 40)
    evidence = Evidence(
        claim=claim,
        layer=Layer.TORCH,
        outcome=vote.outcome,
        scope=f"{vote.scope()}, {str(dtype).removeprefix('torch.')}, {device}",
        seconds=time.perf_counter() - start,
        detail=vote.why_not,
        error=vote.worst,
        refuted_twins=vote.refuted,
        environment=device,
    )
    record_evidence(evidence)
    assert_sound(evidence)
