"""Newton's method on the dual: from far, from near, with few steps, and its line search."""

import math

import pytest
import torch
from torch import Tensor

from numerics import mem
from numerics.mem import newton
from numerics.mem.newton import line_search, maximize
from numerics.mem.rows import Hessian, Rows
from tests.numerics.common import double

F64 = torch.float64
ALPHAS = torch.tensor([[1e-3], [1.0], [30.0], [1e3], [1e6]], dtype=F64)


def normal(seed: int, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=F64)


def problems(n: int, d: int, *, shared: bool) -> Rows:
    """One row for each α, with targets that are means of some templates or unreachable."""
    t = normal(0, n, d) if shared else normal(0, 5, n, d)
    return Rows(t, normal(1, 5, n).log_softmax(-1), normal(2, 5, d), ALPHAS)


def distance(x: Rows, dual: Tensor, alpha: Tensor) -> Tensor:
    """α‖∇D(λ)‖, which bounds the distance from the solution, relative to 1 + ‖λ‖."""
    gradient = x.target - dual / alpha - x.mean(x.weights(dual))
    return (alpha * gradient.norm(dim=-1, keepdim=True) / (1 + dual.norm(dim=-1, keepdim=True))).squeeze(-1)


MOST = {(12, True): (12, 37, 12), (12, False): (13, 39, 13), (5, True): (7, 26, 7), (5, False): (9, 31, 9)}
"""Newton steps of the slowest row, of all rows, and of all from where four of the five are solved."""


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of rows in each step of Newton's method."""
    counted: list[int] = []

    class Counted(Hessian):
        def __init__(self, rows: Rows, *rest: Tensor) -> None:
            counted.append(len(rows.target))
            super().__init__(rows, *rest)

    monkeypatch.setattr(newton, "Hessian", Counted)
    return counted


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize(("n", "d"), [(12, 5), (5, 12)])
def test_every_row_is_solved_in_few_steps_whatever_its_alpha(n: int, d: int, shared: bool, steps: list[int]) -> None:
    x = problems(n, d, shared=shared)
    dual = maximize(x, 1e-9)
    assert (distance(x, dual, x.alpha) <= 1e-8).all()
    assert steps[0] == 5
    assert steps == sorted(steps, reverse=True)  # a row that is done is left out
    assert len(steps) <= MOST[n, shared][0]
    assert sum(steps) <= MOST[n, shared][1]
    steps.clear()
    again = maximize(x, 1e-9, near=torch.where(ALPHAS < 1e6, dual, math.nan))
    assert (distance(x, again, x.alpha) <= 1e-8).all()
    assert sum(steps) <= MOST[n, shared][2]  # only the last must be recomputed


def test_a_rough_tolerance_takes_fewer_steps(steps: list[int]) -> None:
    x = problems(12, 5, shared=True)
    maximize(x, 1e-9)
    fine = sum(steps)
    steps.clear()
    dual = maximize(x, 1e-2)
    assert sum(steps) < fine
    assert (distance(x, dual, x.alpha) <= 2e-2).all()


def test_the_tolerance_is_relative_to_one_and_the_length(steps: list[int]) -> None:
    """At λ = 0 the bound is α‖b − Σ_i u_i t_i‖, here 0.7 for templates ±1 with the same prior and b = 0.7."""
    x = Rows(torch.tensor([[1.0], [-1.0]], dtype=F64), torch.zeros(1, 2, dtype=F64), double([0.7]), torch.ones(1, 1, dtype=F64))
    assert maximize(x, 0.71).tolist() == [[0.0]]
    assert steps == []
    assert float(maximize(x, 0.69)) > 0.1
    assert len(steps) == 1


def test_where_rounding_keeps_the_bound_above_the_tolerance_the_steps_end(steps: list[int]) -> None:
    x = problems(12, 5, shared=False)
    dual = maximize(x, 5e-13)
    assert (distance(x, dual, x.alpha)[:4] <= 1e-10).all()
    assert len(steps) <= 20


def test_nothing_to_find_takes_no_step(steps: list[int]) -> None:
    """If all templates are equal, λ = αb at once; NaN is unchanged."""
    x = Rows(torch.zeros(3, 2, dtype=F64), torch.zeros(2, 3, dtype=F64), double([0.0, 0.0], [math.nan, 1.0]), ALPHAS[1:3])
    assert maximize(x, 1e-9)[0].tolist() == [0.0, 0.0]
    assert steps == []


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_the_search_along_a_line_leaves_a_tenth_of_the_slope(scale: float) -> None:
    """D(λ + tδ) has the slope ⟨b − λ/α, δ⟩ − t‖δ‖²/α − Σ_i p_i ⟨t_i, δ⟩, which falls in t from a positive one."""
    x = Rows(normal(0, 5, 9, 4), normal(1, 5, 9).log_softmax(-1), normal(2, 5, 4), ALPHAS)
    dual = normal(3, 5, 4)
    gradient = x.target - dual / x.alpha - x.mean(x.weights(dual))
    delta = scale * gradient * torch.tensor([[0.01], [1.0], [5.0], [0.1], [2.0]], dtype=F64)
    scores = x.scores(dual) + x.log_prior
    t, fell = line_search(scores, x.scores(delta), delta, x.target - dual / x.alpha, x.alpha)
    assert fell.all()
    assert t.shape == (5, 1)
    assert (t > 0).all()

    def slope(t: Tensor) -> Tensor:
        at = dual + t * delta
        return (delta * (x.target - at / x.alpha - x.mean(x.weights(at)))).sum(-1, keepdim=True)

    assert (slope(t).abs() <= 0.1 * slope(torch.zeros_like(t)) * (1 + 1e-9)).all()


def test_a_slope_that_rounding_hides_ends_the_search() -> None:
    """In a direction of length 1e-30 rounding hides the slope, and no step size makes it a tenth."""
    alpha = torch.full((5, 1), 1e8, dtype=F64)
    x = Rows(1e3 + normal(0, 5, 9, 4), normal(1, 5, 9).log_softmax(-1), 1e3 + normal(2, 5, 4), alpha)
    dual = maximize(x, 1e-12)
    gradient = x.target - dual / x.alpha - x.mean(x.weights(dual))
    delta = torch.where(gradient == 0, 1e-30, 1e-30 * gradient.sign())
    _, fell = line_search(x.scores(dual) + x.log_prior, x.scores(delta), delta, x.target - dual / x.alpha, x.alpha)
    assert not fell.all()


def test_rows_at_the_floor_of_rounding_end_after_a_few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """For huge α‖Σ‖ the bound stays above the tolerance; further steps would only repeat the noise."""
    templates = torch.tensor([[-0.573], [-0.7599], [0.0024], [1.0308]], dtype=F64)
    evidence = 1e-6 * torch.linspace(-2, 2, 5, dtype=F64).unsqueeze(-1)
    searches: list[int] = []

    def counted(*args: Tensor) -> tuple[Tensor, Tensor]:
        searches.append(len(args[0]))
        return line_search(*args)

    monkeypatch.setattr(newton, "line_search", counted)
    solution = mem.solve(templates + 0.3, evidence, None, 1e8, tolerance=1e-12)
    assert bool(solution.converged.all())
    assert len(searches) <= 40
