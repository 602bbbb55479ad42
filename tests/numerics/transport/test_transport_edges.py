"""Sinkhorn at the limits of dtypes, sizes and data: it is as accurate as the dtype allows, and reports failures."""

import math
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest
import torch
from scipy.optimize import linprog
from torch import Tensor

from numerics import tolerances
from numerics.transport import certified_weights, feasibility, relaxed_weights, sinkhorn, sinkhorn_divergence, sinkhorn_weights
from tests.numerics.common import HALVES, close
from tests.numerics.transport.problems import random_problem

F64 = torch.float64
SHORT = [torch.float32, *HALVES]


def marginal_error(plan: Tensor, source: Tensor, target: Tensor) -> float:
    """The largest relative error of a marginal, in float64."""
    rows, columns = plan.double().sum(-1) / source.double() - 1, plan.double().sum(-2) / target.double() - 1
    return float(torch.cat((rows.flatten(), columns.flatten())).abs().max())


# --- limits of dtypes --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "epsilon"), [(256, 0.3), (700, 0.3), (128, 1e-4), (200, 1e-3)])
def test_float32_plans_meet_every_marginal_to_float32(size: int, epsilon: float) -> None:
    cost, *_ = random_problem(0, size, size)
    result = sinkhorn(cost.float(), temperature=epsilon)
    even = torch.full((size,), 1 / size, dtype=F64)
    assert result.converged
    assert marginal_error(result.plan, even, even) <= tolerances.eps("float32")
    assert float(result.column_error.max()) <= tolerances.eps("float32") / size


@pytest.mark.parametrize("dtype", SHORT, ids=str)
@pytest.mark.parametrize("seed", range(5))
def test_marginals_stored_in_few_digits_are_met(dtype: torch.dtype, seed: int) -> None:
    cost, a, b = (x.to(dtype) for x in random_problem(seed, 40, 60))
    result = sinkhorn(cost, a, b, 0.3)
    assert result.converged
    # The masses of a and b differ by the rounding of their entries; entries of the plan are rounded, or too small to be normal.
    relative, absolute = tolerances.storage(dtype)
    allowed = 2 * tolerances.rounding(dtype, 60) + relative + absolute * 60 / float(torch.cat((a, b)).min())
    assert marginal_error(result.plan, a, b) <= allowed
    assert allowed <= 1e-3 or dtype in HALVES


@pytest.mark.parametrize("dtype", [F64, *SHORT], ids=str)
def test_the_certificate_is_that_of_the_plan_that_is_returned(dtype: torch.dtype) -> None:
    cost, *_ = random_problem(1, 30, 20)
    result = sinkhorn(cost.to(dtype), temperature=0.2)
    seen = (result.plan.double().sum(-1) - 1 / 30).abs()
    close(result.row_error.double(), seen, tolerances.rounding(dtype, 30, float(seen.max())) + 1e-16)


def test_converged_looks_at_each_marginal() -> None:
    """A thousand columns, each wrong by a thousandth, have a small total error but are not converged."""
    cost, *_ = random_problem(2, 30, 1000)
    result = sinkhorn(cost.float(), temperature=0.05, max_steps=1, strict=False)
    assert not result.converged
    tiny = torch.cat((torch.full((99,), 1 / 99, dtype=F64), torch.tensor([1e-9], dtype=F64)))
    tiny = tiny / tiny.sum()
    result = sinkhorn(random_problem(3, 5, 100)[0].float(), None, tiny.float(), 0.3)
    assert marginal_error(result.plan, torch.full((5,), 0.2), tiny.float()) <= 100 * tolerances.eps("float32")


def test_weights_come_with_a_certificate() -> None:
    scores = -random_problem(4, 50, 70)[0].float()
    solution = certified_weights(scores, 0.2)
    assert solution.converged
    assert solution.weights.dtype == torch.float32
    close(solution.weights, sinkhorn_weights(scores, 0.2, math.inf), 0.0)
    seen = (solution.weights.double().sum(-2) - 50 / 70).abs()
    assert float(torch.maximum(seen, solution.column_error.double()).max()) <= 2 * tolerances.eps("float32")
    relaxed = certified_weights(scores, 0.2, 0.5)
    assert relaxed.converged
    close(relaxed.weights, relaxed_weights(scores, 0.2, 0.5), 0.0)
    early = certified_weights(scores, 0.01, max_steps=1, strict=False)
    assert not early.converged
    assert float(early.column_error.max()) > 1e-3


def test_a_temperature_that_float64_cannot_resolve_is_reported() -> None:
    cost = random_problem(5, 60, 60)[0]
    with pytest.raises(RuntimeError, match="the rounding of C/ε in float64 alone moves a marginal by"):
        sinkhorn(cost, temperature=1e-13, max_steps=5)
    with pytest.raises(RuntimeError, match=r"the largest marginal error is [\d.e-]+$"):
        sinkhorn(cost, temperature=0.01, max_steps=1)


def test_the_divergence_of_neighbours_keeps_the_digits_of_float32() -> None:
    x = torch.rand(20, 2, generator=torch.Generator().manual_seed(0))
    y = x + 1e-3 * torch.rand(20, 2, generator=torch.Generator().manual_seed(1))
    short = [(p.unsqueeze(-2) - q.unsqueeze(-3)).square().sum(-1) for p, q in ((x, y), (x, x), (y, y))]
    narrow, wide = sinkhorn_divergence(*short), sinkhorn_divergence(*(cost.double() for cost in short))
    close(narrow, wide.float(), tolerances.eps("float32") * float(wide))


# --- invalid problems --------------------------------------------------------------------------------------------

COST = torch.tensor([[0.0, 1.0], [2.0, 0.5]])
HALF = torch.full((2,), 0.5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: sinkhorn(torch.full((4, 5), math.nan)),
            r"cost: expected numbers, or \+inf where forbidden, got nan at \(0, 0\)",
        ),
        (lambda: sinkhorn(torch.tensor([[0.0, -math.inf]])), r"cost: expected numbers, or \+inf .*, got -inf at \(0, 1\)"),
        (lambda: sinkhorn(COST, torch.tensor([1.5, -0.5])), r"source: expected nonnegative finite masses, got -0\.5 at \(1,\)"),
        (lambda: sinkhorn(COST, HALF, torch.tensor([math.nan, 1.0])), r"target: expected nonnegative finite masses, got nan"),
        (lambda: sinkhorn(COST, HALF * math.inf, HALF), r"source: expected nonnegative finite masses, got inf"),
        (lambda: sinkhorn(COST, temperature=torch.tensor(-1.0)), r"temperature: expected positive numbers"),
        (lambda: sinkhorn(COST, relaxation=torch.tensor(-1.0)), r"relaxation: expected positive numbers"),
        (
            lambda: sinkhorn(COST, mask=torch.full((2, 2), math.nan)),
            r"mask: expected numbers, or −inf where forbidden, got nan",
        ),
        (
            lambda: sinkhorn(1e308 * torch.tensor([[1.0, -1.0]], dtype=F64), temperature=torch.tensor(math.inf)),
            r"cost: expected costs whose differences are",
        ),
        (lambda: sinkhorn(COST, mask=COST * math.inf), r"mask: expected numbers, or −inf where forbidden, got nan at \(0, 0\)"),
        (lambda: sinkhorn(COST, mask=torch.tensor([math.inf, 0.0])), r"mask: .*, got inf at \(0,\)"),
        (
            lambda: sinkhorn(COST.expand(3, 2, 2), HALF, torch.stack((HALF, HALF, 2 * HALF))),
            r"target: expected the mass of the source, 1, got 2 in problem \(2,\)",
        ),
        (lambda: sinkhorn(COST, mask=torch.tensor([[True, False], [True, False]])), r"target: .* a column whose mask forbids"),
        (lambda: sinkhorn_weights(COST, 1.0, 3, 2 * HALF), r"target: expected shares with the sum one, got 2"),
        (lambda: sinkhorn_weights(COST, 1.0, math.inf, 2 * HALF), r"target: expected shares with the sum one, got 2"),
        (lambda: relaxed_weights(COST, 1.0, 1.0, 2 * HALF), r"target: expected shares with the sum one, got 2"),
        (lambda: sinkhorn_weights(COST, 1.0, 1, torch.tensor([1.5, -0.5])), r"target: expected nonnegative shares, got -0\.5"),
    ],
)
def test_invalid_problems_are_refused_at_once(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        call()


def test_a_bad_entry_that_the_mask_leaves_out_is_no_problem() -> None:
    cost = COST.clone()
    cost[0, 1] = math.nan
    assert sinkhorn(cost, mask=torch.tensor([[True, False], [True, True]]), strict=False).plan.isfinite().all()


def test_masses_that_rounding_parts_are_brought_together() -> None:
    cost = torch.arange(12, dtype=F64).reshape(3, 4).sin()
    target = torch.tensor([0.1, 0.2, 0.3, 0.4])  # float32, with another sum than 1 in float64
    shares = target.double() / target.double().sum()
    assert float(target.double().sum()) != 1
    for scale in (0.5, 8.0):
        solution = sinkhorn(cost, torch.full((3,), scale / 3, dtype=F64), scale * target)
        close(solution.plan.sum(-1), torch.full((3,), scale / 3, dtype=F64), 1e-14)
        close(solution.plan.sum(-2), scale * shares, 1e-14)


@pytest.mark.parametrize("size", [3, 30])
def test_flows_decide_where_components_cannot(size: int) -> None:
    """A causal mask barely admits balanced plans; with one pair less on the diagonal it admits none."""
    causal = torch.ones(size, size, dtype=torch.bool).tril()
    assert sinkhorn(torch.zeros(size, size), mask=causal).converged
    causal[size // 2, size // 2] = False
    rows = ", ".join(map(str, range(min(size // 2 + 1, 8)))) + ", …" * (size // 2 + 1 > 8)
    with pytest.raises(ValueError, match=rf"^mask: .* in rows \[{rows}\] and "):
        sinkhorn(torch.zeros(size, size), mask=causal)


@pytest.mark.parametrize(
    "pairs",
    [[[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1]], [[0, 1, 0, 1], [0, 0, 1, 1], [0, 1, 1, 0], [1, 0, 1, 1]]],
)
def test_a_flow_that_needs_an_exchange_exists(pairs: list[list[int]]) -> None:
    assert feasibility._short_of(np.full(4, 0.25), np.full(4, 0.25), np.array(pairs, dtype=bool), 1e-13) is None


def test_a_part_with_too_little_is_named_with_its_problem() -> None:
    cost = torch.zeros(2, 4, 4)
    cost[1, :2, 2:] = cost[1, 2:, :2] = math.inf
    with pytest.raises(ValueError, match=r"^cost: .* got 0\.5 in rows \[0, 1\] and 0\.6 there in problem \(1,\)"):
        sinkhorn(cost, target=torch.tensor([0.3, 0.3, 0.2, 0.2]))


@pytest.mark.parametrize("seed", range(60))
def test_a_flow_exists_where_a_linear_program_finds_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, m = rng.integers(1, 8, 2)
    pairs = rng.random((n, m)) < rng.uniform(0.2, 0.9)
    source, target = (np.full(size, 1 / size) if seed % 3 == 0 else rng.dirichlet(np.ones(size)) for size in (n, m))
    rows, columns = pairs.nonzero()
    sums = np.zeros((n + m, len(rows)))
    sums[rows, np.arange(len(rows))] = sums[n + columns, np.arange(len(rows))] = 1
    most = -linprog(-np.ones(len(rows)), A_ub=sums, b_ub=np.concatenate((source, target))).fun if len(rows) else 0.0
    flow = feasibility._short_of(source, target, pairs, 1e-13)
    assert (flow is None) == (most > 1 - 1e-9)
    if flow is not None:
        short, reach = flow
        assert source[short].sum() > target[reach].sum()
        assert not pairs[short][:, [j for j in range(m) if j not in reach]].any()


# --- thin problems -----------------------------------------------------------------------------------------------

THIN = """
import resource, torch
from numerics.transport import relaxed_weights, sinkhorn
generator = torch.Generator().manual_seed(0)
cost = torch.randn({shape}, generator=generator)
sinkhorn(cost[:4, :4], temperature=0.5), relaxed_weights(cost[:4, :4], 0.5, 0.7)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert sinkhorn(cost, temperature=0.5).converged
assert relaxed_weights(cost, 0.5, 0.7).isfinite().all()
mask = torch.rand({shape}, generator=generator) < 0.9
assert relaxed_weights(cost, 0.5, 0.7, mask=mask | (torch.arange({shape}[1]) == 0)).isfinite().all()
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.parametrize("shape", [(4, 100_000), (100_000, 4)], ids=str)
def test_a_thin_problem_needs_memory_for_its_entries_only(shape: tuple[int, int]) -> None:
    run = subprocess.run([sys.executable, "-c", THIN.format(shape=shape)], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) < 120  # MB: some twenty arrays of 3.2 MB, and the allocator's own


@pytest.mark.parametrize("relaxation", [math.inf, 0.5])
def test_either_side_solves_the_same_problem(relaxation: float) -> None:
    cost, a, b = random_problem(9, 3, 40)
    cost[0, :5] = cost[1, 5:9] = math.inf
    thin = sinkhorn(cost, a, b, 0.1, relaxation=relaxation)
    square = torch.cat((cost, torch.zeros(60, 40, dtype=F64)))
    wide = sinkhorn(square, torch.cat((a, torch.zeros(60, dtype=F64))), b, 0.1, relaxation=relaxation)
    close(wide.plan[:3], thin.plan, tolerances.marginals("float64", 100, 200.0))
