"""Every row of captured attention against a closed form, and some of them against a claim and its twins."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from evidence import REFUTING_FACTOR, Finding, Layer, Observed, Reading, Run, Value, finding, float64, hold
from evidence.harness import Vote
from evidence.instances.derivatives import gradient
from evidence.models.captured import paragraph, random_model, sentence
from evidence.registry import Observe
from numerics import fisher, one_sided, tolerances

if TYPE_CHECKING:
    from numerics.models.capture import AttentionProblem


# ── all rows of a layer at once ─────────────────────────────────────────────────────────────────────────────────────


def mask_of(problem: "AttentionProblem") -> Tensor | None:
    """Position bias and mask as one additive mask."""
    parts = [part for part in (problem.bias, problem.mask) if part is not None]
    return sum(parts[1:], start=parts[0]).expand_as(problem.scores) if parts else None


def visible(problem: "AttentionProblem") -> Tensor:
    """The keys that a query may see, boolean, (B, H, Q, K)."""
    return problem.logits > torch.finfo(problem.scores.dtype).min / 2


def plan_error(problem: "AttentionProblem") -> float:
    """The rounding error of a weight of the model."""
    largest = problem.logits[visible(problem)].abs().max()
    return tolerances.plan(problem.scores.dtype, problem.scores.shape[-1], float(largest))


def weight_misses(problem: "AttentionProblem") -> float:
    """|closed form − the model's weights| over its rounding error, for every row."""
    plan = one_sided.plan(problem.scores, problem.temperature, mask_of(problem))
    return float((plan - problem.probabilities).abs().max()) / plan_error(problem)


def gradient_misses(problem: "AttentionProblem") -> float:
    """|Theorem 5.2 − the model's autograd gradient| over its rounding error, the worst of all rows."""
    assert problem.output_gradient is not None
    assert problem.score_gradient is not None
    utility = one_sided.utility(problem.output_gradient, problem.values)
    gradient = one_sided.score_gradient(problem.probabilities, utility, problem.temperature)
    m, width = utility.shape[-1], problem.values.shape[-1]
    largest = (problem.output_gradient.abs() @ problem.values.abs().mT).amax(-1, keepdim=True).double()
    unit = tolerances.score_gradient(problem.scores.dtype, m + width, 1.0, problem.temperature)
    smallest = torch.finfo(problem.scores.dtype).smallest_normal
    allowed = unit * largest * problem.probabilities + smallest  # both sides start from the model's own weights
    return float(((gradient - problem.score_gradient).abs() / allowed).max())


def potential_misses(problem: "AttentionProblem") -> float:
    """|∇φ − the model's weights| over its rounding error, by autograd through the potential, the worst of all rows."""
    slope = gradient(lambda s: fisher.potential(s, problem.temperature, mask_of(problem)).sum(), problem.scores)
    return float((slope - problem.probabilities).abs().max()) / plan_error(problem)


def hessian_misses(problem: "AttentionProblem") -> float:
    """|∇²φ·v − τF·v| over its rounding error, F from the model's own weights, for one random v in every row."""
    direction = torch.randn(problem.scores.shape, generator=torch.Generator().manual_seed(0))
    scores, tau = problem.scores, problem.temperature

    def slope(at: Tensor) -> Tensor:
        return gradient(lambda s: fisher.potential(s, tau, mask_of(problem)).sum(), at, again=True)

    product = gradient(lambda s: (slope(s) * direction).sum(), scores)
    expected = tau * fisher.fisher_product(problem.probabilities, direction, tau)
    largest, m = float(direction.abs().max()), scores.shape[-1]
    allowed = tolerances.score_gradient(scores.dtype, m, largest, tau, plan_error(problem))
    return float((product - expected).abs().max()) / allowed


# ── one row ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class ModelRow:
    """One query of one head as an instance of a claim: the visible keys, with mask and bias inside the scores."""

    problem: "AttentionProblem"
    head: int
    query: int

    @property
    def tau(self) -> float:
        return self.problem.temperature

    @cached_property
    def seen(self) -> Tensor:
        return visible(self.problem)[0, self.head, self.query]

    def select(self, numbers: Tensor) -> Tensor:
        """The entries of a tensor of the problem, (B, H, Q, K), at the visible keys."""
        return numbers[0, self.head, self.query, self.seen]

    @property
    def logits(self) -> Tensor:
        return self.select(self.problem.logits).double()

    @property
    def weights(self) -> Tensor:
        return self.select(self.problem.probabilities)

    @property
    def values(self) -> Tensor:
        return self.problem.values[0, self.head, self.seen].double()

    @property
    def error(self) -> float:
        """The rounding error of the weights."""
        return tolerances.plan(self.problem.scores.dtype, len(self.logits), float(self.logits.abs().max()))

    def point(self) -> dict[str, Value]:
        """Every variable by its printed name; K and Q are such that the scores are the model's."""
        scores, (m, width) = self.logits * self.tau, self.values.shape
        return {
            "m": m,
            "d": 2,
            "e": width,
            "tau": self.tau,
            "eps": self.tau,
            "Q": float64([1.0, 2.0]),
            "K": torch.stack((-scores, scores), -1),
            "s": scores,
            "V": self.values,
        }


def weights(row: ModelRow) -> Reading:
    return Reading(row.point(), {"model": row.weights}, row.error)


def jacobian(row: ModelRow) -> Reading:
    """Of the weights; |d p(δ − p)| ≤ |dp|, and one more rounding of at most 1/4."""
    return Reading(row.point(), {"model": one_sided.plan_jacobian(row.weights, row.tau)}, 1.25 * row.error / row.tau)


def score_gradient(row: ModelRow) -> Reading:
    assert row.problem.output_gradient is not None
    assert row.problem.score_gradient is not None
    g, values = row.problem.output_gradient[0, row.head, row.query].double(), row.values
    scale = float((values.abs() @ g.abs()).max())
    allowed = tolerances.score_gradient(row.problem.scores.dtype, sum(values.shape), scale, row.tau, row.error)
    return Reading(row.point() | {"g": g, "u": -(values @ g)}, {"model": row.select(row.problem.score_gradient)}, allowed)


def sampled(problems: "list[AttentionProblem]", count: int) -> list[ModelRow]:
    """Rows spread over layers, heads and queries."""
    generator = torch.Generator().manual_seed(0)
    rows = []
    for n in range(count):
        problem = problems[n % len(problems)]
        heads, queries = problem.scores.shape[1:3]
        rows.append(
            ModelRow(
                problem,
                int(torch.randint(heads, (), generator=generator)),
                int(torch.randint(queries, (), generator=generator)),
            )
        )
    return rows


# ── what they add up to ─────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Quantity:
    """A quantity that is compared in every row.

    Attributes:
        misses: of a layer: how far its worst row is from the closed form, in tolerances.
        reading: of one row, to be compared with a claim and its twins.
    """

    misses: "Callable[[AttentionProblem], float]"
    reading: Callable[[ModelRow], Reading]


WEIGHTS = Quantity(weight_misses, weights)
SCORE_GRADIENT = Quantity(gradient_misses, score_gradient)
POTENTIAL_GRADIENT = Quantity(potential_misses, weights)
POTENTIAL_HESSIAN = Quantity(hessian_misses, jacobian)


def worst(misses: Iterable[float]) -> float:
    """The largest of some misses; NaN if one of them is."""
    return float(float64(list(misses)).max())


def conclude(vote: Vote, missed: float, scope: str) -> Finding:
    """Conclude from a vote on some rows, and from the worst of all rows."""
    if not missed <= 1:  # NaN is no agreement
        miss = f"worst row misses by {missed:.3g} tolerances"
        if missed > REFUTING_FACTOR:
            vote.failure = vote.failure or miss
        else:
            vote.doubt = vote.doubt or miss
    vote.worst = max(missed, vote.worst)
    return finding(vote, scope)


def pretrained_rows(quantity: Quantity) -> Observe:
    """Every row of a pretrained model on a paragraph, and the twins in a few rows of a sentence."""

    def observe(claim: str, run: Run) -> Finding:
        problems = paragraph(run.model)
        vote = hold(claim, Layer.TORCH, map(quantity.reading, sampled(sentence(run.model), 6)))
        heads = sum(problem.scores.shape[1] for problem in problems)
        rows = sum(problem.scores[..., 0].numel() for problem in problems)
        scope = f"all {rows} rows of {heads} heads of a pretrained encoder, float32, cpu"
        return conclude(vote, worst(map(quantity.misses, problems)), scope)

    return observe


def in_random_models(claim: str, quantity: Quantity, architectures: Iterable[str]) -> list[Observed]:
    """The observations of a claim in a random model of each architecture."""
    return [Observed(claim, Layer.TORCH, random_rows(quantity, each), name=each) for each in architectures]


def random_rows(quantity: Quantity, architecture: str) -> Observe:
    """Every row of a random model, and the twins in a few."""

    def observe(claim: str, run: Run) -> Finding:
        problems = random_model(architecture)
        vote = hold(claim, Layer.TORCH, map(quantity.reading, sampled(problems, 12)))
        heads = sum(problem.scores.shape[1] for problem in problems)
        scope = f"all rows of {heads} heads of a random {architecture}, float32, cpu"
        return conclude(vote, worst(map(quantity.misses, problems)), scope)

    return observe
