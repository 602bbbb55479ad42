"""Rows of a pretrained model against the optimum that a conic solver certifies."""

from torch import Tensor

from evidence import Finding, Layer, Reading, Run, float64, hold
from evidence.models.captured import paragraph, sentence
from evidence.models.rows import ModelRow, conclude, sampled, weights, worst
from numerics import tolerances
from numerics.primal import one_sided


def solution(row: ModelRow) -> tuple[Tensor, float]:
    """The certified optimum at the row's scores, and how far from it the solver's gap allows a plan to be."""
    result = one_sided.solve((row.logits * row.tau).numpy(), row.tau)
    assert result.certified, f"gap {result.gap}, status {result.status}"
    return float64(result.plan), tolerances.plan_from_gap(result.gap, row.tau)


def against_solver(row: ModelRow) -> tuple[float, Reading]:
    """How far the model's weights are from the optimum, in tolerances, and the optimum as a reading."""
    plan, error = solution(row)
    model = weights(row)
    allowed = model.tolerance + error
    missed = float((plan - row.weights.double()).abs().max()) / allowed
    return missed, Reading(model.point, {"cvxpy": plan}, allowed)


def certified_rows(claim: str, run: Run) -> Finding:
    """Rows of a paragraph against the solver, and the solver against the twins in a few rows of a sentence."""
    of_paragraph = sampled(paragraph(run.model), 24 if run.quick else 72)
    of_sentence = sampled(sentence(run.model), 6)
    misses, readings = zip(*map(against_solver, [*of_paragraph, *of_sentence]), strict=True)
    vote = hold(claim, Layer.PRIMAL, readings[len(of_paragraph) :])
    return conclude(vote, worst(misses), f"{len(of_paragraph)} rows of a pretrained encoder, solved and certified")
