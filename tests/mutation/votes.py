"""The votes that rest on `evidence.source` and `evidence.models`, as tests of these packages while they are mutated.

The gate casts all votes anyway, so this file is collected only when it is named.
"""

from __future__ import annotations

import pytest

from derivations.claims import Layer
from evidence import registry
from evidence.harness import assert_sound, observe, vote_on
from evidence.registry import Case, Observation, Run
from tests.mutation.targets import path_of

PACKAGES = ("evidence.source", "evidence.models")


def resting() -> dict[str, Case | Observation]:
    """The votes by name whose modules import one of the packages."""
    registry.load()
    votes = {f"{each.claim}-{each.layer}": each for layer in (Layer.TORCH, Layer.PRIMAL) for each in registry.cases(layer)}
    seen = {f"{each.claim}-{each.layer}-{each.name}".removesuffix("-"): each for each in registry.observations()}
    own = {each.module for each in (*votes.values(), *seen.values())}
    users = {module for module in own if any(name in path_of(module).read_text(encoding="utf-8") for name in PACKAGES)}
    return {name: vote for name, vote in {**votes, **seen}.items() if vote.module in users}


@pytest.mark.parametrize("vote", [pytest.param(vote, id=name) for name, vote in resting().items()])
def test_vote(vote: Case | Observation) -> None:
    assert_sound(observe(vote, Run(quick=True)) if isinstance(vote, Observation) else vote_on(vote, quick=True))
