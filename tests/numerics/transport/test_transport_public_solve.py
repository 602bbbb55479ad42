"""POT's public tests of `ot.solve`, `ot.emd`, the one-dimensional, the unbalanced and the smooth solvers, adapted.

Where POT warns or reads an empty list as uniform masses, we raise; its `reg_m` is a pair of relaxations here.
"""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import ot
import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from numerics.linear_program import exact_plan
from numerics.transport import one_sided_plan, quadratic_plan, sinkhorn, unbalanced

Solver = Callable[..., Any]
SOLVERS: list[Solver] = [sinkhorn, unbalanced, quadratic_plan, exact_plan]
OLD_OPTION = pytest.mark.filterwarnings("ignore:scipy.optimize:DeprecationWarning")
RNG = np.random.RandomState(0)
X, Y = RNG.randn(10, 2), RNG.randn(7, 2)
M = ot.dist(X, Y)
A, B = ot.unif(10), ot.unif(7)


def close(actual: Tensor, expected: Tensor | np.ndarray | float, atol: float = 1e-10) -> None:
    assert_close(actual.detach(), torch.as_tensor(expected, dtype=actual.dtype), rtol=0.0, atol=atol)


def tensors(*arrays: np.ndarray) -> list[Tensor]:
    return [torch.from_numpy(np.array(x)) for x in arrays]


def leaves() -> list[Tensor]:
    return [x.requires_grad_() for x in tensors(M, A, B)]


def gauss(n: int, mean: float, width: float) -> np.ndarray:
    h = np.exp(-((np.arange(n) - mean) ** 2) / (2 * width**2))
    return h / h.sum()


# ── test_solvers.py ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda x: x.__name__)
def test_solve_has_uniform_masses_by_default(solver: Solver) -> None:
    cost, a, b = tensors(M, A, B)
    close(solver(cost).plan, solver(cost, a, b).plan)


def test_solve_envelope() -> None:
    """The gradients of the value are the plan and, up to a constant, the potentials."""
    ours, theirs = leaves(), leaves()
    solution = sinkhorn(*ours, 10.0)
    solution.value.backward()
    ot.solve(*theirs, reg=10.0, reg_type="kl", grad="envelope", max_iter=100000, tol=1e-14).value.backward()
    close(ours[0].grad, theirs[0].grad)  # type: ignore[arg-type]
    for x, y in zip(ours[1:], theirs[1:], strict=True):
        close(x.grad - x.grad.mean(), y.grad - y.grad.mean(), 1e-8)  # type: ignore[operator,union-attr]


def test_solve_last_step_and_autodiff() -> None:
    """POT's gradients through its last step come near those through all steps; ours are exact."""
    ours, theirs = leaves(), leaves()
    weights = torch.from_numpy(np.random.RandomState(1).rand(10, 7))
    (sinkhorn(*ours, 10.0).plan * weights).sum().backward()
    plan = ot.solve(*theirs, reg=10.0, reg_type="kl", grad="autodiff", max_iter=2000, tol=1e-14).plan
    (plan * weights).sum().backward()
    close(ours[0].grad, theirs[0].grad, 1e-9)  # type: ignore[arg-type]


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda x: x.__name__)
def test_solve_detach(solver: Solver) -> None:
    with torch.no_grad():
        solution = solver(*leaves())
    assert not solution.value.requires_grad
    with pytest.raises(RuntimeError):
        solution.value.backward()
    assert not solver(*leaves()).row_error.requires_grad


@pytest.mark.parametrize("reg_m", [0.9, 10.0, (1.0, 0.5), (math.inf, 0.9)])
@pytest.mark.parametrize("reg", [0.1, 1.0, 10.0])
def test_solve_grid(reg: float, reg_m: float | tuple[float, float]) -> None:
    pair = reg_m if isinstance(reg_m, tuple) else (reg_m, reg_m)
    theirs = ot.unbalanced.sinkhorn_unbalanced(A, B, M, reg, pair, reg_type="kl", numItermax=200000, stopThr=1e-15)
    close(unbalanced(*tensors(M, A, B), reg, *pair).plan, theirs, 1e-9)


def test_solve_not_implemented() -> None:
    cost, a, b = tensors(M, A, B)
    for solver in SOLVERS:
        for arguments in ((cost.long(),), (cost, a.bool()), (cost, a, b.long()), (M,), (cost, A)):
            with pytest.raises(ValueError, match="expected a dense floating tensor"):
                solver(*arguments)


# ── test_ot.py ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("solver", [*SOLVERS, one_sided_plan], ids=lambda x: x.__name__)
def test_emd_empty(solver: Solver) -> None:
    """Masses are uniform if they are not given; a tensor without entries is refused."""
    empty = torch.empty(0, dtype=torch.float64)
    with pytest.raises(ValueError, match=r"source: expected a dense floating tensor \(..., n\) with n ≥ 1, got "):
        solver(*tensors(M), empty, empty)


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda x: x.__name__)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_emd_emd2_types_devices(solver: Solver, dtype: torch.dtype) -> None:
    solution = solver(torch.from_numpy(M).to(dtype))
    assert {solution.plan.dtype, solution.value.dtype, solution.row_potential.dtype} == {dtype}


def test_emd2_gradients() -> None:
    """Those of ten times the value are ten times as large; up to a constant they are the potentials."""
    once, ten = leaves(), leaves()
    solution = exact_plan(*once)
    solution.value.backward()
    (10 * exact_plan(*ten).value).backward()
    for x, y in zip(once, ten, strict=True):
        close(10 * x.grad, y.grad)  # type: ignore[operator,arg-type]
    close(once[1].grad - once[1].grad.mean(), solution.row_potential - solution.row_potential.mean())  # type: ignore[operator,union-attr]


def test_emd2_multi() -> None:
    """One source and several targets, some of whose masses are tiny."""
    n, places = 100, np.arange(100.0)
    cost, source, targets = ot.dist(places[:, None]), gauss(n, 20, 5), np.stack([gauss(n, mean, 10) for mean in (20, 50, 80)])
    solution = exact_plan(*tensors(cost, source, targets))
    close(solution.value, np.array(ot.emd2(source, targets.T, cost)), 1e-9)
    assert float(solution.gap.abs().max()) < 1e-9


def test_dual_variables() -> None:
    places, others = np.arange(100.0), np.arange(120.0)
    cost = np.abs(places[:, None] - others)
    solution = exact_plan(*tensors(cost, gauss(100, 60, 5), gauss(120, 80, 5)))
    close(solution.value, 20.0, 1e-6)  # the closed form for Gaussians
    assert float((solution.row_potential[:, None] + solution.column_potential - torch.from_numpy(cost)).max()) < 1e-8
    assert abs(float(solution.gap)) < 1e-9


# ── test_1d_solver.py ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("sizes", [(20, 30), (20, 20)])
def test_wasserstein_1d(p: int, sizes: tuple[int, int]) -> None:
    rng = np.random.RandomState(1)
    u, v = (rng.randn(size) for size in sizes)
    masses = [x / x.sum() for x in (rng.rand(size) for size in sizes)]
    solution = exact_plan(*tensors(np.abs(u[:, None] - v) ** p, *masses))
    close(solution.value, ot.wasserstein_1d(u, v, *masses, p=p))
    if p == 2:  # else plans are not unique
        close(solution.plan, ot.emd_1d(u, v, *masses, metric="minkowski", p=p), 1e-12)


# ── test_bregman.py ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("epsilon", [0.1, 1e-2, 1e-3])
def test_sinkhorn_stabilization(epsilon: float) -> None:
    """Between Gaussians on a line whose tails are 1e-20."""
    n, places = 100, np.arange(100.0)
    a, b, cost = gauss(n, 30, 10), gauss(n, 60, 10), ot.dist(places[:, None])
    cost = cost / np.median(cost)
    solution = sinkhorn(*tensors(cost, a, b), epsilon)
    close(solution.plan.sum(-1), a, 1e-14)
    close(solution.plan.sum(-2), b, 1e-14)
    if epsilon > 1e-3:  # POT's iteration has not converged after 20000 steps
        close(solution.plan, ot.bregman.sinkhorn_stabilized(a, b, cost, epsilon, numItermax=20000, stopThr=1e-12), 1e-8)


def test_nan_warning() -> None:
    """POT warns of numerical errors where its exponentials underflow; our plan is right, or the temperature is refused."""
    cost, a, b = tensors(M, A, B)
    close((sinkhorn(cost, a, b, 1e-3).plan * cost).sum(), exact_plan(cost, a, b).value, 1e-2)
    for temperature in (0.0, -1.0, math.nan):
        with pytest.raises(ValueError, match="temperature: expected a positive number"):
            sinkhorn(cost, a, b, temperature)
    with pytest.raises(RuntimeError, match="the rounding of C/ε in float64 alone moves a marginal"):
        sinkhorn(cost, a, b, 1e-12)


# ── unbalanced/ ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("relaxation", [1.0, math.inf])
def test_unbalanced_relaxation_parameters(relaxation: float) -> None:
    """A number, a tensor of it, or one for each of several targets."""
    rng = np.random.RandomState(50)
    cost, a, targets = tensors(ot.dist(rng.randn(30, 2)), ot.unif(30), rng.rand(2, 30))
    expected = unbalanced(cost, a, targets, 1.0, 1.0, relaxation)
    for option in (torch.tensor(relaxation), torch.full((1,), relaxation), torch.full((2,), relaxation), float(relaxation)):
        close(unbalanced(cost, a, targets, 1.0, 1.0, option).plan, expected.plan)
    mixed = unbalanced(cost, a, targets, 1.0, 1.0, torch.tensor([relaxation, 2.0]))
    close(mixed.plan[0], expected.plan[0])
    close(mixed.plan[1], unbalanced(cost, a, targets[1], 1.0, 1.0, 2.0).plan)


@pytest.mark.parametrize("pair", list(itertools.product([1.0, math.inf], repeat=2)))
def test_unbalanced_relaxation_parameters_pair(pair: tuple[float, float]) -> None:
    """Targets of other masses than the source cannot be met together with it: POT iterates, we say so."""
    rng = np.random.RandomState(50)
    cost, a, targets = tensors(ot.dist(rng.randn(30, 2)), ot.unif(30), rng.rand(2, 30))
    if pair == (math.inf, math.inf):
        with pytest.raises(ValueError, match=r"target: expected the mass of the source, 1, got .* in problem \(0,\)"):
            unbalanced(cost, a, targets, 1.0, *pair)
        return
    solution = unbalanced(cost, a, targets, 1.0, *pair)
    f, g = solution.row_potential, solution.column_potential
    for potential, mass, other, relaxation in ((f, a, targets.log() + g, pair[0]), (g, targets, a.log() + f, pair[1])):
        costs = cost if potential is f else cost.mT
        share = 1.0 if relaxation == math.inf else relaxation / (relaxation + 1.0)
        close(potential, -share * (other.unsqueeze(-2) - costs).logsumexp(-1), 1e-11)
        assert mass.shape[-1] == potential.shape[-1]


@OLD_OPTION
@pytest.mark.parametrize("reg_m", [1.0, 10.0])
def test_lbfgsb_unbalanced(reg_m: float) -> None:
    """POT's general solver with KL for plan and marginals stops at 1e-7."""
    rng = np.random.RandomState(42)
    cost = ot.dist(rng.randn(5, 2), rng.randn(6, 2))
    theirs = ot.unbalanced.lbfgsb_unbalanced(ot.unif(5), ot.unif(6), cost, 1.0, reg_m, reg_div="kl", regm_div="kl")
    close(unbalanced(*tensors(cost), None, None, 1.0, reg_m, reg_m).plan, theirs, 1e-6)


def test_unbalanced_warmstart() -> None:
    """From zero, from the potentials of the exact plan, and from its own solution, which it then only confirms."""
    cost = torch.from_numpy(ot.dist(np.random.RandomState(42).randn(30, 2)))
    cold, exact = unbalanced(cost), exact_plan(cost)
    for start in (torch.zeros(30).double(), exact.column_potential):
        close(unbalanced(cost, start=start).plan, cold.plan, 1e-14)
    assert unbalanced(cost, start=cold.column_potential).steps <= 2


# ── test_smooth.py, and masses of zero everywhere ───────────────────────────────────────────────────────────────────


@OLD_OPTION
def test_smooth_ot_dual_and_semi_dual() -> None:
    cost = ot.dist(np.random.RandomState(0).randn(40, 2))
    solution = quadratic_plan(*tensors(cost))
    for solver in (ot.smooth.smooth_ot_dual, ot.smooth.smooth_ot_semi_dual):
        close(solution.plan, solver(ot.unif(40), ot.unif(40), cost, 1, reg_type="l2", stopThr=1e-12, numItermax=5000), 1e-6)
    kl = ot.smooth.smooth_ot_dual(ot.unif(40), ot.unif(40), cost, 1, reg_type="kl", stopThr=1e-12, numItermax=5000)
    close(sinkhorn(*tensors(cost)).plan, kl, 1e-6)


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda x: x.__name__)
def test_weights_of_zero(solver: Solver) -> None:
    a, b = A * (np.arange(10) > 2), B * (np.arange(7) < 5)
    a, b = a / a.sum(), b / b.sum()
    solution = solver(*tensors(M, a, b))
    assert bool((solution.plan[:3] == 0).all() and (solution.plan[:, 5:] == 0).all())
    close(solution.plan[3:, :5], solver(*tensors(M[3:, :5], a[3:], b[:5])).plan)
