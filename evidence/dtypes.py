"""Votes in float32, bfloat16 and float16: closed forms at inputs exact in that dtype, compared with float64 values."""

import torch
from hypothesis import strategies as st

from derivations.register.catalogue import entries
from evidence import REFUTING_FACTOR, Finding, Layer, Observed, Run, Value, float64
from evidence.harness import Vote, compare_rounds
from evidence.instances.one_sided import OneSided, one_sided_problems
from evidence.readings import Formula
from evidence.registry import Check, Observe
from evidence.rounds import Rounds
from numerics import tolerances

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


def point(problem: OneSided) -> dict[str, Value]:
    """Every variable by its printed name; K and Q are such that the scores are the problem's."""
    tau, scores = problem.temperature, problem.scores
    exact = {
        "s": scores,
        "K": torch.stack((-scores, scores), -1),
        "u": problem.utility,
        "V": problem.values,
        "g": problem.context_gradient,
    }
    return {
        "m": problem.m,
        "d": 2,
        "e": problem.values.shape[-1],
        "tau": tau,
        "eps": tau,
        "Q": float64([1.0, 2.0]),
        **{name: x.double().cpu() for name, x in exact.items()},
    }


def plan_error(problem: OneSided) -> float:
    """Return the error that rounding in the problem's dtype allows for a weight."""
    return tolerances.plan(problem.scores.dtype, problem.m, float(problem.scores.abs().max()) / problem.temperature)


def problems(dtype: torch.dtype) -> st.SearchStrategy[OneSided]:
    """Draw rows of ordinary magnitude; smaller ones in bfloat16, where the error bound for 5 keys at τ = 1/2 is useless."""
    coarse = dtype is torch.bfloat16
    return one_sided_problems(
        dtype,
        max_m=3 if coarse else 5,
        max_batch=0,
        temperatures=(1.0, 2.0, 4.0) if coarse else (1.0, 0.5, 4.0),
        scales=(1.0, 0.0),
        masks=("none",),
    )


def in_dtypes(claim: str, check: Check[OneSided]) -> list[Observed]:
    """Return the observations of a claim in each dtype."""
    return [Observed(claim, Layer.TORCH, in_dtype(dtype, check), name=name) for name, dtype in DTYPES.items()]


def in_dtype(dtype: torch.dtype, check: Check[OneSided]) -> Observe:
    """Return an observation that runs a check in a dtype, at problems where the tolerance can refute a wrong statement."""

    def observe(claim: str, run: Run) -> Finding:
        entry, vote = entries()[claim], Vote(claim, Layer.TORCH)
        printed = entry.printed()
        assert printed is not None
        twins = {name: Formula(make()) for name, make in entry.twins.items()}
        telling = problems(dtype).filter(lambda problem: check(problem).tolerance < 1 / REFUTING_FACTOR)
        rounds = Rounds(lambda problem: check(problem.to(device=run.device)), telling, 40)
        compare_rounds(vote, Formula(printed), twins, rounds)
        return Finding(
            vote.outcome,
            f"{vote.scope()}, {str(dtype).removeprefix('torch.')}, {run.device}",
            vote.why_not,
            vote.worst,
            vote.refuted,
            device=run.device,
        )

    return observe
