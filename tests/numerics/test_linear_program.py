"""Transport at ε = 0: POT's public tests of ``emd``, and more."""

import numpy as np
import ot
import pytest
import torch
from torch import Tensor
from torch.autograd import gradcheck
from torch.testing import assert_close

from numerics import transport
from numerics.linear_program import exact_plan

GENERATOR = torch.Generator().manual_seed(0)


@pytest.fixture(autouse=True)
def _reseed() -> None:
    """Reseed, so that the draws of a test do not depend on earlier tests."""
    GENERATOR.manual_seed(0)


def uniform(*shape: int) -> Tensor:
    return torch.rand(shape, generator=GENERATOR, dtype=torch.float64)


def close(actual: Tensor, expected: Tensor, atol: float = 1e-12) -> None:
    assert_close(actual, expected, rtol=0.0, atol=atol)


def distribution(*shape: int) -> Tensor:
    x = uniform(*shape)
    return x / x.sum(-1, keepdim=True)


# ── tests of POT ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_plan_between_equal_point_sets_is_the_identity() -> None:
    x = torch.from_numpy(np.random.RandomState(0).randn(60, 2))
    cost = torch.cdist(x, x).square()
    u = torch.full((60,), 1 / 60, dtype=torch.float64)
    for marginals in ((u, u), (None, None)):
        solution = exact_plan(cost, *marginals)
        close(solution.plan, torch.eye(60, dtype=torch.float64) / 60)
        close(solution.value, torch.tensor(0.0, dtype=torch.float64), 1e-9)


def test_gaussians_on_a_line_and_the_duality_gap() -> None:
    def gauss(n: int, mean: float, width: float) -> Tensor:
        h = torch.exp(-((torch.arange(n, dtype=torch.float64) - mean) ** 2) / (2 * width**2))
        return h / h.sum()

    a, b = gauss(100, 40, 5), gauss(120, 70, 10)
    cost = (torch.arange(100.0)[:, None] - torch.arange(120.0)).abs().double()
    solution, turned = exact_plan(cost, a, b), exact_plan(cost.T, b, a)
    close(solution.value, torch.tensor(30.0, dtype=torch.float64), 1e-3)  # the tails beyond the grid are cut off
    close(solution.value, turned.value, 1e-10)
    assert float((solution.row_potential[:, None] + solution.column_potential - cost).max()) <= 1e-12
    assert abs(float(solution.gap)) <= 1e-10
    close(solution.value, torch.tensor(ot.emd2(a.numpy(), b.numpy(), cost.numpy()), dtype=torch.float64), 1e-10)


def test_gradients_are_the_plan_and_the_potentials() -> None:
    cost, a, b = uniform(5, 7).requires_grad_(), distribution(5).requires_grad_(), distribution(7).requires_grad_()
    solution = exact_plan(cost, a, b)
    of_cost, of_a, of_b = torch.autograd.grad(10 * solution.value, (cost, a, b))
    close(of_cost, 10 * solution.plan)
    close(of_a, 10 * solution.row_potential)
    close(of_b, 10 * solution.column_potential)
    assert gradcheck(lambda cost: exact_plan(cost, a.detach(), b.detach()).value, cost)
    assert gradcheck(lambda x: exact_plan(cost.detach(), x.softmax(-1), b.detach()).value, uniform(5).requires_grad_())


def test_mismatches_are_refused() -> None:
    cost, a = uniform(4, 4), distribution(4)
    for arguments, message in (
        ((cost, distribution(5), a), r"source: expected \(..., 4\)"),
        ((cost, a, 2 * a), "target: expected the mass of the source"),
        ((cost, -a, -a), "source: expected finite numbers ≥ 0"),
        ((cost * torch.nan, a, a), "cost: expected numbers or \\+inf"),
        ((cost, a, a, torch.zeros(4, 4)), "mask: expected a boolean tensor"),
    ):
        with pytest.raises(ValueError, match=message):
            exact_plan(*arguments)


# ── further tests ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_batches_masks_and_weights_of_zero() -> None:
    cost, a, b = uniform(2, 3, 5, 6), distribution(2, 3, 5), distribution(6)
    mask = torch.ones(5, 6, dtype=torch.bool)
    mask[2, 3] = mask[4, 1] = mask[0, 5] = False
    a = torch.cat([torch.zeros(2, 3, 1).double(), distribution(2, 3, 4)], -1)
    solution = exact_plan(cost, a, b, mask)
    assert bool((solution.plan[..., ~mask] == 0).all())
    assert bool((solution.plan[..., 0, :] == 0).all())
    assert float(solution.gap.abs().max()) <= 1e-12
    assert float(solution.row_error.max() + solution.column_error.max()) <= 1e-12
    again = exact_plan(cost.masked_fill(~mask, torch.inf), a, b)
    close(again.value, solution.value)
    for i in range(2):
        for j in range(3):
            dear = torch.where(mask, cost[i, j], 1e3).numpy()
            close(solution.value[i, j], torch.tensor(ot.emd2(a[i, j].numpy(), b.numpy(), dear), dtype=torch.float64), 1e-10)
    assert exact_plan(cost[:0], a[:0], b).plan.shape == (0, 3, 5, 6)
    assert (solution.plan > 0).sum((-2, -1)).max() <= 10


def test_it_is_the_limit_of_entropic_plans() -> None:
    cost, a, b = uniform(4, 5), distribution(4), distribution(5)
    solution = exact_plan(cost, a, b)
    near = transport.sinkhorn(cost, a, b, 1e-4)
    close((cost * near.plan).sum(), solution.value, 1e-4 * float(torch.log(torch.tensor(20.0))))
    close(near.plan, solution.plan, 1e-2)


def test_no_plan_and_dtypes() -> None:
    cost, a, b = uniform(3, 3), distribution(3), distribution(3)
    only = torch.eye(3, dtype=torch.bool)
    with pytest.raises(RuntimeError, match="exact_plan: The problem is infeasible"):
        exact_plan(cost, a, b, only)
    with pytest.raises(RuntimeError, match="exact_plan: expected marginals that some plan has"):
        exact_plan(cost, a, b, ~only & (torch.arange(3) > 5))
    assert bool((exact_plan(cost, 0 * a, 0 * b).plan == 0).all())
    for dtype in (torch.float32, torch.bfloat16):
        solution = exact_plan(cost.to(dtype), torch.full((3,), 0.25, dtype=dtype), torch.full((3,), 0.25, dtype=dtype))
        assert {x.dtype for x in (solution.plan, solution.value, solution.gap)} == {dtype}


def test_even_masses_are_an_assignment() -> None:
    """Compare with the program, which solves problems with slightly shifted masses, with ties, and with forbidden pairs."""
    cost = uniform(3, 7, 7)
    cost[1] = (3 * cost[1]).round()
    cost[2, 0, :5] = torch.inf
    solution = exact_plan(cost)
    share = torch.full((7,), 1 / 7, dtype=torch.float64)
    nearly = share.clone()
    nearly[0] += 1e-12
    assert bool(((solution.plan == 0) | (solution.plan == 1 / 7)).all())
    close(solution.value, exact_plan(cost, nearly, nearly).value, 1e-10)
    assert float(solution.gap.abs().max()) <= 1e-14
    slack = cost - solution.row_potential.unsqueeze(-1) - solution.column_potential.unsqueeze(-2)
    assert float(slack.min()) >= -1e-14
    assert float((solution.plan * slack.nan_to_num(posinf=0.0)).abs().max()) <= 1e-14
    close(solution.column_potential.sum(-1), torch.zeros(3, dtype=torch.float64), 1e-13)
    blocked = torch.zeros(3, 3, dtype=torch.float64)
    blocked[:2, 1:] = torch.inf
    with pytest.raises(RuntimeError, match="exact_plan: "):
        exact_plan(blocked)


@pytest.mark.parametrize(("costs", "masses"), [(1e-12, 1.0), (1e12, 1.0), (1.0, 1e-12), (1.0, 1e12), (1e-9, 1e-9)])
def test_units_of_costs_and_masses_do_not_matter(costs: float, masses: float) -> None:
    cost, a, b = uniform(2, 4, 5) - 0.5, distribution(2, 4), distribution(2, 5)
    cost[:, 0, 0], cost[:, 1, 2] = 0.0, torch.inf
    plain, scaled = exact_plan(cost, a, b), exact_plan(costs * cost, masses * a, masses * b)
    for name, unit in (("plan", masses), ("value", costs * masses), ("row_potential", costs), ("column_potential", costs)):
        close(getattr(scaled, name) / unit, getattr(plain, name), 1e-9)
    # Problems of a batch have their own units.
    mixed = exact_plan(torch.stack([cost[0], costs * cost[1]]), torch.stack([a[0], masses * a[1]]),
                       torch.stack([b[0], masses * b[1]]))
    close(mixed.plan[0], plain.plan[0], 1e-9)
    close(mixed.plan[1] / masses, plain.plan[1], 1e-9)
    close(mixed.column_potential[1] / costs, plain.column_potential[1], 1e-9)


def test_the_certificate_matches_its_definition() -> None:
    cost, a, b = uniform(3, 4, 5), distribution(3, 4), distribution(3, 5)
    solution = exact_plan(cost, a, b)
    close(solution.value, (cost * solution.plan).sum((-2, -1)))
    close(solution.gap, solution.value - (a * solution.row_potential).sum(-1) - (b * solution.column_potential).sum(-1))
    close((b * solution.column_potential).sum(-1), torch.zeros(3, dtype=torch.float64))
    close(solution.row_error, (solution.plan.sum(-1) - a).abs(), 0.0)
    close(solution.column_error, (solution.plan.sum(-2) - b).abs(), 0.0)
    reduced = cost - solution.row_potential.unsqueeze(-1) - solution.column_potential.unsqueeze(-2)
    close(reduced.amin(-1), torch.zeros(3, 4, dtype=torch.float64))        # each f_i is as large as it may be
    assert bool((solution.plan >= 0).all())


def test_a_row_that_may_go_nowhere_and_has_no_mass() -> None:
    cost, a, b = uniform(3, 3).requires_grad_(), torch.tensor([0.0, 0.5, 0.5]).double().requires_grad_(), distribution(3)
    mask = torch.ones(3, 3, dtype=torch.bool)
    mask[0] = False
    solution = exact_plan(cost, a, b, mask)
    assert float(solution.row_potential[0]) == 0
    reduced = exact_plan(cost[1:], a[1:], b)
    close(solution.value, reduced.value)
    of_cost, of_a = torch.autograd.grad(solution.value, (cost, a))
    close(of_cost, solution.plan)
    close(of_a, solution.row_potential)


def test_masses_may_differ_by_rounding_and_no_more() -> None:
    cost = uniform(3, 4)
    for dtype, unit in ((torch.float64, 2.0**-52), (torch.float32, 2.0**-23), (torch.bfloat16, 2.0**-23)):
        c, a, b = cost.to(dtype), torch.full((3,), 2.0, dtype=dtype), torch.full((4,), 1.5, dtype=dtype)
        assert float(exact_plan(c, a, b).gap.abs()) <= 1e-2
        with pytest.raises(ValueError, match=r"^target: expected the mass of the source, got one that is off by"):
            exact_plan(c, a, b * (1 + max(16 * unit, 2.0**-7 if dtype == torch.bfloat16 else 0.0)))
    # (3 + 4) u of the mass, which is 6: 42 u are granted, in a batch too.
    source, u = torch.full((20, 3), 2.0, dtype=torch.float64), 2.0**-52
    solution = exact_plan(cost, source, torch.full((4,), 1.5 + 10 * u, dtype=torch.float64))
    assert bool((solution.column_error > 0).all())
    with pytest.raises(ValueError, match=r"^target: expected the mass of the source"):
        exact_plan(cost, source, torch.full((4,), 1.5 + 11 * u, dtype=torch.float64))
    nothing = exact_plan(cost, torch.zeros(3, dtype=torch.float64), torch.zeros(4, dtype=torch.float64))
    assert bool(nothing.row_potential.isfinite().all() and nothing.column_potential.isfinite().all())


def test_one_cost_for_a_batch_of_marginals() -> None:
    cost, a, b = uniform(3, 4), distribution(2, 5, 3), distribution(5, 4)
    solution = exact_plan(cost, a, b)
    assert solution.plan.shape == (2, 5, 3, 4)
    for i, j in ((0, 0), (1, 4)):
        close(solution.value[i, j], exact_plan(cost, a[i, j], b[j]).value)


@pytest.mark.parametrize(("change", "message"), [
    ({"mask": torch.zeros(2, 2)}, "mask: expected a boolean tensor, for there is no ε to add to, got torch.float32"),
    ({"cost": torch.tensor([[0.0, -torch.inf], [0.0, 0.0]])}, "cost: expected numbers or"),
    ({"cost": torch.tensor([[0.0, torch.nan], [0.0, 0.0]])}, "cost: expected numbers or"),
    ({"source": torch.tensor([torch.inf, 1.0])}, "source: expected finite numbers ≥ 0"),
    ({"source": torch.tensor([torch.nan, 1.0])}, "source: expected finite numbers ≥ 0"),
    ({"target": torch.tensor([-0.5, 1.5])}, "target: expected finite numbers ≥ 0"),
])
def test_refusals(change: dict[str, Tensor], message: str) -> None:
    arguments = {"cost": torch.zeros(2, 2), "source": torch.full((2,), 0.5), "target": torch.full((2,), 0.5)} | change
    with pytest.raises(ValueError, match=f"^{message}"):
        exact_plan(**arguments)


@pytest.mark.parametrize("even", ["neither", "source", "target", "both"])
def test_square_problems_with_even_masses_or_others(even: str) -> None:
    cost, one = uniform(4, 4), torch.full((4,), 0.25, dtype=torch.float64)
    a, b = (one if even in (name, "both") else distribution(4) for name in ("source", "target"))
    solution = exact_plan(cost, a, b)
    close(solution.plan.sum(-1), a)
    close(solution.plan.sum(-2), b)
    close(solution.value, torch.tensor(ot.emd2(a.numpy(), b.numpy(), cost.numpy()), dtype=torch.float64), 1e-10)
    assert abs(float(solution.gap)) <= 1e-12
