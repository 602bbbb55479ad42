"""Figure 3: the error of the closed form (18) as a function of α.

The document prints neither the templates nor the weights of its figure; `figure_problem` is ours.  Errors are distances
between the mean of (18) and the exact one, ‖h_c − ĥ‖; as α → 0 they are α²‖Σ²z‖ (`deciphering.18`).

Claims      deciphering.fig3, inference.fig3
Notation    t_i = templates, u = prior, μ = mean of u, z = evidence, h_c = closed form, ĥ = exact mean, Σ = covariance of u
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from numerics import mem, tolerances

STRENGTHS = (0.5, 1.0, 2.0, 5.0, 10.0)
"""The values of α that are drawn: the document names 0.5 and 1 as good ones."""

HALVINGS = 18
"""The error is followed from the largest α of `STRENGTHS` through this many halvings."""

FITTED = 8
"""How many of the last halvings the slope is fitted to."""


@dataclass(frozen=True)
class Problem:
    """Templates (n, d), prior (n,) and evidence (d,) of one query, float64."""

    templates: Tensor
    prior: Tensor
    evidence: Tensor


@dataclass(frozen=True)
class Study:
    """The closed form and the exact mean, for one problem and several α.

    Attributes:
        problem: what was solved.
        alphas: (k,), decreasing.
        exact, approximate: ĥ and h_c, (k, d).
        errors: ‖h_c − ĥ‖, (k,).
        bound: how far each ``exact`` may be from the true ĥ, (k,).
        constant: ‖Σ²z‖, what errors/α² tends to.
    """

    problem: Problem
    alphas: Tensor
    exact: Tensor
    approximate: Tensor
    errors: Tensor
    bound: Tensor
    constant: float

    @property
    def slope(self) -> float:
        """The order of the error by least squares on the last halvings, in logarithms."""
        return _slope(self.alphas[-FITTED - 1 :], self.errors[-FITTED - 1 :])

    @property
    def measured_constant(self) -> float:
        """errors/α² at the smallest α."""
        return float(self.errors[-1] / self.alphas[-1] ** 2)

    @property
    def worse_steps(self) -> Tensor:
        """Which halvings of α make the error larger by more than the exact means' own error; boolean, (k − 1,)."""
        return self.errors[1:] - self.bound[1:] > self.errors[:-1] + self.bound[:-1]


def figure_problem() -> Problem:
    """Five templates in the plane, weights that favour one side, evidence that points to the other."""
    templates = torch.tensor([[-1.0, -0.5], [-0.4, 0.9], [0.3, -0.8], [0.9, 0.6], [1.2, -0.2]], dtype=torch.float64)
    prior = torch.tensor([0.35, 0.25, 0.2, 0.15, 0.05], dtype=torch.float64)
    return Problem(templates, prior, torch.tensor([0.8, 0.3], dtype=torch.float64))


def random_problem(seed: int, spread: float = 1.0) -> Problem:
    """Three to eight normal templates in the plane, evidence ``spread`` times as large."""
    generator = torch.Generator().manual_seed(seed)
    n = int(torch.randint(3, 9, (1,), generator=generator))
    templates = torch.randn(n, 2, generator=generator, dtype=torch.float64)
    prior = torch.rand(n, generator=generator, dtype=torch.float64) + 0.05
    return Problem(templates, prior / prior.sum(), spread * torch.randn(2, generator=generator, dtype=torch.float64))


def study(problem: Problem, alphas: Tensor) -> Study:
    """Solve a problem exactly and by (18) for each α.

    Args:
        problem: float64.
        alphas: positive and decreasing, (k,), float64.

    Raises:
        ValueError: if ``alphas`` does not decrease.
    """
    if not bool((alphas[1:] < alphas[:-1]).all()):
        raise ValueError(f"alphas: expected decreasing numbers, got {alphas.tolist()}")
    templates, prior, evidence = problem.templates, problem.prior, problem.evidence.expand(len(alphas), -1)
    solution = mem.solve(templates, evidence, prior, alphas, tolerance=1e-12)
    exact = solution.weights @ templates  # at small α far more exact than solution.mean, μ + z − λ/α
    reach = (templates - prior @ templates).norm(dim=-1).max()
    approximate = mem.closed_form(templates, evidence, prior, alphas)
    _, covariance = mem.moments(templates, prior)
    return Study(
        problem=problem,
        alphas=alphas,
        exact=exact,
        approximate=approximate,
        errors=(approximate - exact).norm(dim=-1),
        bound=solution.weights_error * reach + tolerances.rounding("float64", len(prior), float(templates.abs().max())),
        constant=float((covariance @ covariance @ problem.evidence).norm()),
    )


def halvings(largest: float = max(STRENGTHS), count: int = HALVINGS) -> Tensor:
    """``largest`` and its successive halves, (count + 1,), float64."""
    return largest * 0.5 ** torch.arange(count + 1, dtype=torch.float64)


def _slope(alphas: Tensor, errors: Tensor) -> float:
    x, y = alphas.log(), errors.log()
    return float(((x - x.mean()) * (y - y.mean())).sum() / (x - x.mean()).square().sum())


def share_of_worse_steps(problems: int, spread: float) -> float:
    """The share of problems in which some halving of α makes (18) a worse approximation."""
    worse = [bool(study(random_problem(seed, spread), halvings()).worse_steps.any()) for seed in range(problems)]
    return math.fsum(worse) / problems
