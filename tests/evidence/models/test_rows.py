"""Rows of models are refused for one wrong entry, in one row, of either sign; what is allowed is the rounding of that row."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from derivations.records.claims import Layer
from evidence import Run, hold
from evidence.models import rows
from evidence.models.captured import random_model
from evidence.models.rows import ModelRow, conclude, sampled
from numerics import fisher, one_sided, tolerances
from numerics.models.capture import AttentionProblem

HEADS, WIDTH = 2, 3
SCALING = 0.5


def problem(queries: int, keys: int, scale: float = 1.0) -> AttentionProblem:
    """One call in float32, with weights and gradients that closed forms give in float64; `scale` is that of the first query's
    output gradient."""
    generator = torch.Generator().manual_seed(keys)
    scores = torch.randn(1, HEADS, queries, keys, generator=generator)
    values = torch.randn(1, HEADS, keys, WIDTH, generator=generator)
    output_gradient = torch.randn(1, HEADS, queries, WIDTH, generator=generator)
    output_gradient[:, :, 0] *= scale
    plan = (scores.double() * SCALING).softmax(-1)
    slope = output_gradient.double() @ values.double().mT
    gradient = SCALING * plan * (slope - (plan * slope).sum(-1, keepdim=True))
    return AttentionProblem(
        "module",
        "encoder",
        scores,
        SCALING,
        None,
        None,
        plan.float(),
        values,
        plan.float() @ values,
        gradient.float(),
        output_gradient,
    )


def moved(x: Tensor, by: float, query: int = 0) -> Tensor:
    """The same with one entry moved."""
    other = x.double().clone()
    other[0, HEADS - 1, query, 1] += by
    return other


def of_weights(x: AttentionProblem) -> float:
    return tolerances.plan("float32", x.scores.shape[-1], float(x.logits.abs().max()))


def of_gradient(x: AttentionProblem) -> float:
    """What is allowed for the entry that `moved` moves: in proportion to its weight and to the largest product of its row."""
    assert x.output_gradient is not None
    largest = float((x.output_gradient[0, 1, 0].abs() @ x.values[0, 1].abs().mT).max())
    return tolerances.score_gradient(
        "float32", x.scores.shape[-1] + WIDTH, largest * float(x.probabilities[0, 1, 0, 1]), x.temperature
    )


SHAPES = [(3, 5), (2, 300), (300, 2)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("factor", [-20.0, -3.0, 3.0, 20.0])
def test_one_weight_that_is_off_by_some_tolerances_misses_by_them(shape: tuple[int, int], factor: float) -> None:
    x = problem(*shape)
    assert rows.weight_misses(x) <= 1
    assert rows.potential_misses(x) <= 1
    wrong = replace(x, probabilities=moved(x.probabilities, factor * of_weights(x)))
    assert rows.weight_misses(wrong) == pytest.approx(abs(factor), abs=0.3)
    assert rows.potential_misses(wrong) == pytest.approx(abs(factor), abs=0.3)


@pytest.mark.parametrize(("shape", "scale"), [*((shape, 1.0) for shape in SHAPES), ((3, 5), 1e-4), ((3, 5), 1e4)])
@pytest.mark.parametrize("factor", [-20.0, 3.0])
def test_one_gradient_that_is_off_by_some_tolerances_of_its_row_misses_by_them(
    shape: tuple[int, int], scale: float, factor: float
) -> None:
    x = problem(*shape, scale)
    assert x.score_gradient is not None
    assert rows.gradient_misses(x) <= 1
    wrong = replace(x, score_gradient=moved(x.score_gradient, factor * of_gradient(x)))
    assert rows.gradient_misses(wrong) == pytest.approx(abs(factor), rel=0.15)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
@pytest.mark.parametrize("keys", [2, 3, 4, 40])
def test_hessian_of_other_weights_is_refused(keys: int, sign: float) -> None:
    """Moving one weight moves F·v, and by how many tolerances."""
    x = problem(2, keys)
    assert rows.hessian_misses(x) <= 1
    wrong = replace(x, probabilities=moved(x.probabilities, sign * 0.01).float())
    direction = torch.randn(x.scores.shape, generator=torch.Generator().manual_seed(0))
    products = [x.temperature * fisher.fisher_product(y.probabilities, direction, x.temperature) for y in (x, wrong)]
    allowed = tolerances.score_gradient("float32", keys, float(direction.abs().max()), x.temperature, of_weights(x))
    assert rows.hessian_misses(wrong) == pytest.approx(float((products[0] - products[1]).abs().max()) / allowed, rel=0.01)


def test_the_jacobian_is_allowed_what_one_weight_moves_it_and_little_more() -> None:
    """∂(p(1 − p))/∂p is ±1 where p is 0 or 1."""
    x, sure = problem(1, 3), torch.tensor([0.0, 1.0, 0.0])
    x = replace(x, scores=(60 * sure).expand(1, HEADS, 1, 3), probabilities=sure.expand(1, HEADS, 1, 3))
    row = ModelRow(x, 0, 0)
    other = row.weights.double() - torch.tensor([0.0, row.error, 0.0]).double()
    change = one_sided.plan_jacobian(other, row.tau) - one_sided.plan_jacobian(row.weights.double(), row.tau)
    assert 1.0 < rows.jacobian(row).tolerance / float(change.abs().max()) < 1.5


def test_the_largest_product_of_values_and_gradient_counts() -> None:
    x = problem(2, 4)
    far = x.values.clone()
    far[..., 0, :] *= 1e4
    near, wide = (rows.score_gradient(ModelRow(y, 1, 1)).tolerance for y in (x, replace(x, values=far)))
    assert wide > 1e3 * near


def test_every_head_of_a_random_model_is_named() -> None:
    finding = rows.random_rows(rows.WEIGHTS, "bert")("eot.18", Run(quick=True))
    heads = sum(problem.scores.shape[1] for problem in random_model("bert"))
    assert finding.scope.startswith(f"all rows of {heads} heads of a random bert, ")


@pytest.mark.parametrize(("compared", "missed"), [(0.9, 0.5), (0.5, 0.9)])
def test_the_larger_of_both_errors_is_reported(compared: float, missed: float) -> None:
    vote = hold("eot.18", Layer.TORCH, map(rows.weights, sampled(random_model("bert"), 2)))
    vote.worst = compared
    assert conclude(vote, missed, "rows").error == 0.9
