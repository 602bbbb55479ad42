"""All votes on all claims, or on the requested ones; run by `verify` and by pytest."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from derivations.records.claims import Evidence, Layer
from derivations.run.pytest_plugin import requested_claims
from evidence import automatic
from evidence.harness import assert_sound, observe, vote_on
from evidence.registry import Case, Observation, Run, cases, load, observations

RecordEvidence = Callable[[Evidence], None]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Import the votes on the requested claims, and make each a test."""
    chosen = requested_claims(metafunc.config)
    load(chosen)
    automatic.register(chosen)
    if "case" in metafunc.fixturenames:
        layer = Layer.PRIMAL if metafunc.function is test_primal else Layer.TORCH
        votes: Mapping[str, Case[Any] | Observation] = {case.claim: case for case in cases(layer)}
    else:
        votes = {f"{each.claim}-{each.layer}-{each.name}".removesuffix("-"): each for each in observations()}
    metafunc.parametrize(
        "case" if "case" in metafunc.fixturenames else "observation",
        [
            pytest.param(vote, id=name, marks=pytest.mark.claim(vote.claim, vote.layer))
            for name, vote in votes.items()
            if chosen is None or vote.claim in chosen
        ],
    )


def test_torch(case: Case[Any], run: Run, record_evidence: RecordEvidence) -> None:
    evidence = vote_on(case, quick=run.quick, device=run.device)
    record_evidence(evidence)
    if not case.automatic:  # what a paper says may be false, and layers that differ are judged
        assert_sound(evidence)


def test_primal(case: Case[Any], run: Run, record_evidence: RecordEvidence) -> None:
    evidence = vote_on(case, quick=run.quick)
    record_evidence(evidence)
    assert_sound(evidence)


def test_observation(observation: Observation, run: Run, record_evidence: RecordEvidence) -> None:
    evidence = observe(observation, run)
    record_evidence(evidence)
    assert_sound(evidence)
