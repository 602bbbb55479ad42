"""Rows that share templates go a quick way, partly in float32: what they claim, held to float64 and to 50 digits."""

import numpy as np
import pytest
import torch
from torch import Tensor

from numerics import mem, tolerances
from numerics.mem import Solution
from tests.strategies_mem import Mem, exact, far

TIGHT = 1e-12
"""The tolerance at which Newton's method takes over, whose bounds are checked in ``test_mem_solver``."""


def small_batch(seed: int, rows: int = 64) -> Mem:
    """A few templates in a few dimensions: the Krylov spaces are exhausted after a step or two."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 5))
    n = int(rng.integers(2, 4 * d + 1))
    scale, alpha = np.exp(rng.uniform(np.log(0.1), np.log(8.0))), np.exp(rng.uniform(np.log(0.1), np.log(100.0)))
    evidence = rng.choice((0.1, 1.0, 3.0)) * rng.standard_normal((rows, d))
    prior = torch.tensor(rng.dirichlet(np.ones(n)))
    return Mem(torch.tensor(scale * rng.standard_normal((n, d))), torch.tensor(evidence), prior, float(alpha), None)


def excess(x: Mem, solution: Solution) -> Tensor:
    """‖λ − λ*‖/error of each row, from below: λ* from a solve whose own error is taken off."""
    sure = mem.solve(*x.arguments, tolerance=TIGHT)
    return ((solution.dual - sure.dual).norm(dim=-1) - sure.error) / solution.error


def gradient_excess(x: Mem, solution: Solution) -> Tensor:
    """By how much ‖∇D(λ)‖ is above what is claimed, in units of the rounding of the float64 that it is worked out in."""
    gradient = mem.dual_gradient(solution.dual, *x.arguments).norm(dim=-1)
    radius = float(x.templates.norm(dim=-1).max())
    logits = radius * (1 + solution.dual.norm(dim=-1))
    scale = float(x.evidence.norm(dim=-1).max()) + radius * (2 + float(logits.max()))
    return (gradient - solution.gradient_norm) / tolerances.rounding("float64", x.n + x.d, scale)


def test_two_templates_on_a_line() -> None:
    """One step is enough here; a second one, along the rounding noise that is left of the direction, must do no harm."""
    templates = torch.tensor([[-0.16613023453557194], [-1.5227684840130555]], dtype=torch.float64)
    prior = torch.tensor([0.5973482117720031, 0.40265178822799685], dtype=torch.float64)
    dual = torch.tensor([[-1.0276085758313882]], dtype=torch.float64)
    evidence = dual / 4 + mem.tilt(dual, templates, prior) @ templates - prior @ templates
    x = Mem(templates, evidence, prior, 4.0, None)
    solution = mem.solve(*x.arguments)
    truth = exact(x.rows()[0], solution.dual[0])
    assert far(truth.dual, solution.dual[0]) <= float(solution.error)
    assert far(truth.weights, solution.weights[0], 1) <= float(solution.weights_error)
    assert far(truth.mean, solution.mean[0]) <= float(solution.mean_error)
    assert float(gradient_excess(x, solution)) <= 1


@pytest.mark.parametrize("first", range(0, 400, 50))
def test_no_row_is_farther_off_than_it_claims(first: int) -> None:
    """Every row in float64; of each batch the row that comes closest to its bound, in 50 digits."""
    for seed in range(first, first + 50):
        x = small_batch(seed)
        solution = mem.solve(*x.arguments)
        assert bool(solution.converged.all()), f"small_batch({seed})"
        near = excess(x, solution)
        i = int(near.argmax())
        assert float(near[i]) <= 1, f"row {i} of small_batch({seed}) is off by {float(near[i])} of its bound"
        assert float(gradient_excess(x, solution).max()) <= 1, f"small_batch({seed})"
        truth = exact(x.rows()[i], solution.dual[i])
        assert far(truth.dual, solution.dual[i]) <= float(solution.error[i]), f"row {i} of small_batch({seed})"
        assert far(truth.weights, solution.weights[i], 1) <= float(solution.weights_error[i]), f"row {i} of small_batch({seed})"
        assert far(truth.mean, solution.mean[i]) <= float(solution.mean_error[i]), f"row {i} of small_batch({seed})"


def test_the_checks_refuse_a_bound_that_is_too_small() -> None:
    x = small_batch(0)
    solution = mem.solve(*x.arguments)
    moved = Solution(**{**vars(solution), "dual": solution.dual + 2 * solution.error.unsqueeze(-1)})
    assert bool((excess(x, moved) > 1).all())
    assert float(gradient_excess(x, Solution(**{**vars(moved), "gradient_norm": 0 * solution.gradient_norm})).max()) > 1


def test_the_sampler_reaches_both_ends() -> None:
    drawn = [small_batch(seed, rows=1) for seed in range(400)]
    assert {x.d for x in drawn} == {1, 2, 3, 4}
    assert all(2 <= x.n <= 4 * x.d for x in drawn)
    assert any(x.n == 4 * x.d == 16 for x in drawn)
    alphas = [float(x.alpha) for x in drawn]
    assert min(alphas) < 0.12 < 80 < max(alphas)
