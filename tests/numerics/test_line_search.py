"""Each problem of a batch halves its own step, and no more often than necessary."""

import torch
from torch import Tensor

from numerics.line_search import backtrack


def search(steps: list[float], exempt: list[bool] | None = None, slack: float = 0.0) -> tuple[Tensor, Tensor, Tensor]:
    """Maximize −x²/2 from x = 1 along steps of these lengths, where the slope is minus the length."""
    step = torch.tensor(steps, dtype=torch.float64)
    out = torch.zeros(len(steps), dtype=torch.bool) if exempt is None else torch.tensor(exempt)
    return backtrack(
        lambda size: 1 + size.squeeze(-1) * step,
        lambda x: -x.square() / 2,
        torch.full_like(step, -0.5),
        -step,
        torch.full_like(step, slack),
        out,
    )


def test_every_problem_has_its_own_size() -> None:
    size, reached, enough = search([-1.0, -1.9, -3.0, -7.0, -100.0])
    assert size.tolist() == [1.0, 1.0, 0.5, 0.25, 2.0**-6]
    assert enough.all()
    assert (reached.square() < 1).all()


def test_a_downhill_step_is_taken_only_if_exempt_or_within_the_slack() -> None:
    size, _, _ = search([1.0, 1.0], exempt=[False, True])
    assert size[0] < 1e-15  # until rounding hides the step
    assert size[1] == 1
    assert search([1e-9], slack=1e-6)[0].tolist() == [1.0]


def test_nan_is_not_enough() -> None:
    _, _, enough = search([torch.nan, -1.0])
    assert enough.tolist() == [False, True]


def test_enough_is_a_ten_thousandth_of_the_growth_along_the_tangent() -> None:
    # −x²/2 grows by δ − δ²/2 along a step of 2 − δ, where the tangent grows by 2 − δ.
    assert search([-2 + 3e-4, -2 + 1e-4])[0].tolist() == [1.0, 0.5]


def test_no_growth_is_enough_for_no_slope() -> None:
    assert search([0.0])[0].tolist() == [1.0]


def test_it_ends_after_sixty_halvings() -> None:
    assert search([torch.nan])[0].tolist() == [2.0**-60]


def test_problems_may_have_any_shape_and_are_tried_no_longer_than_one_needs_it() -> None:
    step, tried = torch.tensor([[-1.0, -3.0], [-1.5, -0.5]]), []

    def trial_at(size: Tensor) -> Tensor:
        tried.append(size.shape)
        return 1 + size.squeeze(-1) * step

    none = torch.zeros(2, 2)
    size, _, enough = backtrack(trial_at, lambda x: -x.square() / 2, none - 0.5, -step, none, none > 0)
    assert size.tolist() == [[1.0, 0.5], [1.0, 1.0]]
    assert bool(enough.all())
    assert tried == [(2, 2, 1)] * 2
