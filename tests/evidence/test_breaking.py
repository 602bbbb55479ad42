"""Planted errors: each layer notices them, and the failure names the claim."""

import pytest
import torch
from torch import Tensor

from derivations.calculus.functions import derivative
from derivations.calculus.sums import delta
from derivations.documents.eot.notation import j, k, s, softmax, tau
from derivations.records.claims import Layer, Outcome
from derivations.register.catalogue import entries
from derivations.register.entry import Entry
from derivations.register.examining import examine
from derivations.relations import Equation, Relation
from evidence import harness
from evidence.harness import assert_sound, vote_on
from evidence.registry import CASES, load
from numerics import one_sided
from numerics.primal import one_sided as primal_problem

load()


def assert_dies(claim: str, layer: Layer) -> None:
    harness._rounds.cache_clear()  # readings taken before something was broken
    evidence = vote_on(CASES[layer][claim], quick=True)
    assert evidence.outcome is Outcome.REFUTED
    with pytest.raises(AssertionError, match=claim):
        assert_sound(evidence)


def test_a_closed_form_without_temperature(monkeypatch: pytest.MonkeyPatch) -> None:
    true_gradient = one_sided.score_gradient
    monkeypatch.setattr(one_sided, "score_gradient", lambda p, u, temperature: true_gradient(p, u, 1.0))
    assert_dies("eot.46", Layer.TORCH)


def test_a_plan_without_temperature(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_sided, "plan", lambda scores, temperature=1.0, mask=None: scores.softmax(-1))
    assert_dies("eot.18", Layer.TORCH)


def test_a_transposed_index(monkeypatch: pytest.MonkeyPatch) -> None:
    def transposed(plan: Tensor, temperature: float) -> Tensor:
        return (torch.diag(plan) - torch.ones_like(plan)[:, None] * plan.square()) / temperature

    monkeypatch.setattr(one_sided, "plan_jacobian", transposed)
    assert_dies("eot.59", Layer.TORCH)


def test_a_primal_problem_with_the_wrong_entropy(monkeypatch: pytest.MonkeyPatch) -> None:
    true_solve = primal_problem.solve
    monkeypatch.setattr(primal_problem, "solve", lambda scores, epsilon: true_solve(scores, 2 * epsilon))
    assert_dies("eot.18", Layer.PRIMAL)


def broken(entry: Entry, *steps: Relation) -> Entry:
    """The same claim with another derivation."""

    def derivation():  # type: ignore[no-untyped-def]
        yield from steps

    return Entry(
        entry.id,
        entry.kind,
        entry.title,
        entry.latex,
        entry.hypotheses,
        entry.needs,
        derivation,
        entry.statement,
        twins=entry.twins,
    )


p = softmax(s, tau)


@pytest.mark.parametrize(
    "wrong",
    [p(k) * (p(j) - delta(k, j)) / tau, p(k) * (delta(k, j) - p(k)) / tau, p(k) * (delta(k, j) - p(j))],
    ids=["sign", "index", "temperature"],
)
def test_a_false_derivation(wrong: object) -> None:
    examination = examine(broken(entries()["eot.59"], Equation(derivative(p(k), s[j]), wrong)))  # type: ignore[arg-type]
    assert examination.evidence.outcome is Outcome.REFUTED
    assert examination.evidence.witness
    assert examination.faults


def test_a_false_step_on_the_way_spoils_a_true_end() -> None:
    slope = derivative(p(k), s[j])
    true_end = Equation(slope, p(k) * (delta(k, j) - p(j)) / tau)
    examination = examine(broken(entries()["eot.59"], Equation(slope, 0, about=(p(k),)), true_end))
    assert examination.evidence.outcome is Outcome.INCONCLUSIVE
    assert examination.faults
