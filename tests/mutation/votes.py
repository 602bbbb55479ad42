"""The votes that rest on `evidence.source` and `evidence.models`, as tests of these packages while they are mutated.

The gate casts all votes anyway, so this file is collected only when it is named. A measurement may come out either way, and
elsewhere only `regress` tells that it came out otherwise: here what is recorded in the baseline is compared.
"""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from derivations.ledger import baseline
from derivations.ledger.baseline import Kept
from derivations.records.base import from_json
from derivations.records.claims import Evidence, Layer, Outcome
from evidence import registry
from evidence.harness import assert_sound, observe, vote_on
from evidence.registry import Case, Observation, Run
from tests.mutation.targets import path_of

PACKAGES = ("evidence.source", "evidence.models")
RECORDED = baseline.load()


def resting() -> dict[str, Case | Observation]:
    """The votes by name whose modules import one of the packages."""
    registry.load()
    votes = {f"{each.claim}-{each.layer}": each for layer in (Layer.TORCH, Layer.PRIMAL) for each in registry.cases(layer)}
    seen = {f"{each.claim}-{each.layer}-{each.name}".removesuffix("-"): each for each in registry.observations()}
    own = {each.module for each in (*votes.values(), *seen.values())}
    users = {module for module in own if any(name in path_of(module).read_text(encoding="utf-8") for name in PACKAGES)}
    return {name: vote for name, vote in {**votes, **seen}.items() if vote.module in users}


def differences(evidence: Evidence, recorded: Kept, alone: bool) -> list[str]:
    """How evidence differs from what is recorded of its layer, of which it is the only vote, or one of several.

    What the source code of others shows is not drawn at random, so that its error is the recorded one, up to rounding.
    """
    layer, found = evidence.layer, []
    outcome, twins = recorded.layers[layer], [name for name, layers in recorded.twins.items() if layer in layers]
    if evidence.outcome is not outcome and (alone or outcome is Outcome.HOLDS):
        found.append(f"expected {outcome}, got {evidence.outcome}: {evidence.detail}")
    if alone and (missing := set(twins) - set(evidence.refuted_twins)):
        found.append(f"expected all twins to be refuted, got none of {', '.join(sorted(missing))}")
    error = recorded.errors.get(layer) if alone and layer is Layer.SOURCE else None
    if error is not None and (evidence.error is None or not error / 2 <= evidence.error <= 2 * error):
        found.append(f"error: expected {error}, got {evidence.error}")
    return found


VOTES = resting()


@pytest.mark.parametrize("name", VOTES)
def test_vote(name: str) -> None:
    vote = VOTES[name]
    evidence = observe(vote, Run(quick=True)) if isinstance(vote, Observation) else vote_on(vote, quick=True)
    assert_sound(evidence)
    others = [x for x in registry.observations() if (x.claim, x.layer) == (vote.claim, vote.layer) and x is not vote]
    alone = not others and (isinstance(vote, Case) or vote.claim not in registry.CASES[vote.layer])
    assert differences(evidence, RECORDED[vote.claim], alone) == []


def evidence_of(**values: Any) -> Evidence:
    return from_json(
        {
            "claim": "",
            "layer": Layer.SOURCE,
            "outcome": Outcome.HOLDS,
            "scope": "",
            "seconds": 0.0,
            "refuted_twins": ["one", "two"],
            "error": 0.2,
            **values,
        },
        Evidence,
    )


@pytest.mark.parametrize(
    ("values", "alone", "others"),
    [
        ({}, 0, 0),
        ({"outcome": Outcome.REFUTED}, 1, 1),
        ({"outcome": Outcome.INCONCLUSIVE}, 1, 1),
        ({"refuted_twins": ["one"]}, 1, 0),
        ({"refuted_twins": ["one", "two", "three"]}, 0, 0),
        ({"error": 0.41}, 1, 0),
        ({"error": 0.39}, 0, 0),
        ({"error": 0.09}, 1, 0),
        ({"error": None}, 1, 0),
    ],
)
def test_differences_from_the_baseline_are_found(values: dict[str, Any], alone: int, others: int) -> None:
    """Of several votes of a layer only the common outcome is known."""
    row = SimpleNamespace(
        layers={Layer.SOURCE: Outcome.HOLDS},
        errors={Layer.SOURCE: 0.2},
        twins={"one": (Layer.SOURCE, Layer.TORCH), "two": (Layer.SOURCE,), "four": (Layer.TORCH,)},
    )
    assert len(differences(evidence_of(**values), cast(Kept, row), alone=True)) == alone
    assert len(differences(evidence_of(**values), cast(Kept, row), alone=False)) == others


def test_a_measurement_that_no_longer_refutes_is_found() -> None:
    row = SimpleNamespace(layers={Layer.TORCH: Outcome.REFUTED}, errors={}, twins={})
    measured = evidence_of(layer=Layer.TORCH, error=None)
    assert differences(measured, cast(Kept, row), alone=True) == ["expected refuted, got holds: "]
