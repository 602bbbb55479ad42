"""The parts of the solver compared with their definitions, one problem and one entry at a time."""

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from numerics import tolerances
from numerics.transport import quadratic_plan, sinkhorn, solver, unbalanced
from numerics.transport.parts import Parts
from numerics.transport.solver import Scaling
from tests.numerics.common import close
from tests.numerics.transport.problems import F64, generator, random_problem

SIZES = [(4, 6), (6, 4), (5, 5)]


def problems(n: int, m: int, *, relaxed: bool, mask: bool = True) -> tuple[Scaling, Tensor, Parts]:
    """Two problems with a forbidden entry, a row and a column without mass; the second is relaxed, if any is."""
    g = generator(n)
    kernel = -2 * torch.rand(2, n, m, generator=g, dtype=F64)
    kernel[:, 0, 1] = -torch.inf
    a, b = torch.rand(2, n, generator=g, dtype=F64) + 0.1, torch.rand(2, m, generator=g, dtype=F64) + 0.1
    a[0, 2] = b[1, 3] = 0.0
    a, b = a / a.sum(-1, keepdim=True), b / b.sum(-1, keepdim=True)
    masked = torch.where(b > 0, 0.0, -torch.inf)
    kappa = torch.tensor([0.0, 0.7 if relaxed else 0.0], dtype=F64)
    x = Scaling(kernel if mask else kernel + masked.unsqueeze(-2), a, b, kappa, relaxed, masked if mask else None)
    parts = Parts.of((a > 0).unsqueeze(-1) & (b > 0).unsqueeze(-2) & (kernel > -torch.inf))
    return x, torch.randn(2, m, generator=g, dtype=F64), parts


def plan_of(x: Scaling, psi: Tensor, k: int, factor: float = 1.0) -> tuple[Tensor, Tensor]:
    """P and φ of the k-th problem: each row is a softmax over columns with mass."""
    logits = torch.where(x.target[k] > 0, (x.log_kernel[k] + psi[k]) / factor + x.target[k].log(), -torch.inf)
    return x.source[k].unsqueeze(-1) * logits.softmax(-1), -logits.logsumexp(-1)


@pytest.mark.parametrize("annealing", [None, torch.tensor([3.0, 8.0], dtype=F64)])
@pytest.mark.parametrize("mask", [True, False])
@pytest.mark.parametrize("relaxed", [True, False])
def test_the_dual_and_its_gradient(relaxed: bool, mask: bool, annealing: Tensor | None) -> None:
    x, psi, _ = problems(4, 6, relaxed=relaxed, mask=mask)
    point = solver.evaluate(x, psi, annealing)
    plan, half = solver.plan(x, point), solver.extended(x, psi, point.row, annealing)
    for k, kappa in enumerate(x.kappa.tolist()):
        factor, b, s = 1.0 if annealing is None else float(annealing[k]), x.target[k], psi[k]
        P, row = plan_of(x, psi, k, factor)
        required, gain = b * (-kappa * s).exp(), s if kappa == 0 else (1 - (-kappa * s).exp()) / kappa
        for actual, expected in (
            (plan[k], P),
            (point.row[k], row),
            (point.column[k], P.sum(-2)),
            (point.required[k], required),
            (point.residual[k], required - P.sum(-2)),
            (point.objective[k], (x.source[k] * row).sum() + (b * gain).sum() / factor),
        ):
            close(actual, expected, 1e-14)
        exponents = x.log_kernel[k] / factor + torch.where(x.source[k] > 0, x.source[k].log() + row, -torch.inf).unsqueeze(-1)
        live = torch.isfinite(exponents).any(-2)
        close(half[k], torch.where(live, -exponents.logsumexp(-2) / (1 / factor + kappa), s), 1e-14)


def test_the_residual_is_the_slope_of_the_dual_beside_a_target_that_is_met() -> None:
    """In a batch where one target is met and the other is relaxed."""
    x, psi, _ = problems(4, 6, relaxed=True)
    point = solver.evaluate(x, psi.requires_grad_())
    (slope,) = torch.autograd.grad(point.objective.sum(), psi)
    close(slope, point.residual.detach(), 1e-14)


@pytest.mark.parametrize(("n", "m"), SIZES)
@pytest.mark.parametrize("relaxed", [True, False])
def test_newtons_step_solves_with_the_hessian(relaxed: bool, n: int, m: int) -> None:
    """diag(Pᵀ1) − Pᵀ diag(1/a) P + κ diag(w), whichever side is factored; along constants it is singular where κ = 0."""
    x, psi, parts = problems(n, m, relaxed=relaxed)
    annealing = torch.tensor([1.0, 4.0], dtype=F64)
    point = solver.evaluate(x, psi, annealing)
    v = torch.where(x.target > 0, torch.randn(2, m, generator=generator(1), dtype=F64), 0.0)
    hessians = []
    for k, kappa in enumerate(x.kappa.tolist()):
        P, _ = plan_of(x, psi, k, float(annealing[k]))
        inner = (P / torch.where(x.source[k] > 0, x.source[k], 1.0).unsqueeze(-1)).mT @ P
        hessians.append((P.sum(-2) + kappa * float(annealing[k]) * point.required[k]).diag() - inner)
    right = (torch.stack(hessians) @ v.unsqueeze(-1)).squeeze(-1)
    step = solver._Hessian.at(x, point, annealing, parts).solve(right)
    for k, kappa in enumerate(x.kappa.tolist()):
        has_mass = x.target[k] > 0
        difference = (step - v)[k, has_mass]
        close(difference - (difference.mean() if kappa == 0 else 0.0), torch.zeros_like(difference), 1e-11)
        if kappa == 0:  # of all solutions the one without the null vector
            column = point.column[k, has_mass]
            assert abs(float((column * step[k, has_mass]).sum())) <= 1e-11


@pytest.mark.parametrize("relaxed", [True, False])
def test_allowances_add_up_the_rounding_errors(relaxed: bool) -> None:
    x, psi, _ = problems(4, 6, relaxed=relaxed)
    psi = 1e3 * psi
    rows, columns = solver.allowances(x, psi, point := solver.evaluate(x, psi))
    unit, share = tolerances.eps("float64"), tolerances.plan("float64", 10)
    for k in range(2):
        P, a, kappa = solver.plan(x, point)[k], x.source[k], float(x.kappa[k])
        expected = torch.zeros(6, dtype=F64)
        for i in range(4):
            if a[i] == 0:
                assert rows[k, i] == 0
                continue
            exponents = [-float(x.log_kernel[k, i, j]) if P[i, j] > 0 else 0.0 for j in range(6)]
            sensitivities = [float(P[i, j] / a[i]) * (exponents[j] + abs(float(psi[k, j]))) for j in range(6)]
            row = sum(sensitivities) + abs(float(point.row[k, i]))
            assert float(rows[k, i]) == pytest.approx(float(a[i]) * (share + unit * row), rel=1e-12)
            expected += torch.tensor([float(a[i]) * sensitivities[j] + float(P[i, j]) * row for j in range(6)], dtype=F64)
        expected += point.required[k] * (kappa * psi[k]).abs()
        limit = share * torch.maximum(point.required[k], point.column[k]) + unit * expected
        close(columns[k], torch.minimum(limit, math.sqrt(unit) * point.required[k]), 1e-24)
    far = solver.allowances(x, 1e9 * psi, solver.evaluate(x, 1e9 * psi))[0]
    close(far, math.sqrt(unit) * x.source, 0.0)  # of half of the digits nothing is left


def test_potentials_are_centred_where_the_target_is_met() -> None:
    x, psi, parts = problems(4, 6, relaxed=True)
    centred = solver.centred(x, psi, parts)
    close((x.target * centred).sum(-1)[0], torch.zeros((), dtype=F64), 1e-15)
    has_mass = x.target[0] > 0
    shift = (psi - centred)[0, has_mass]
    close(shift, shift[:1].expand_as(shift), 1e-15)
    close(centred[1], psi[1], 0.0)


def test_parts_are_shifted_so_that_the_masses_agree() -> None:
    x, psi, parts = problems(4, 6, relaxed=True)
    point = solver.evaluate(x, psi)
    shifted = solver._shift_parts(x, psi, point, parts)
    close(shifted[0], solver.centred(x, psi, parts)[0], 0.0)  # here the target is met
    shift = (point.required[1].sum() / point.column[1].sum()).log() / 0.7
    has_mass = x.target[1] > 0  # a column without mass is a part by itself
    close(shifted[1, has_mass], psi[1, has_mass] + shift, 1e-14)
    close(solver.evaluate(x, shifted).required[1].sum(), x.source[1].sum(), 1e-14)


def test_columns_without_mass_may_lie_far_above_the_others() -> None:
    """A cheap column without mass has exponentials beyond the range, which are not used."""
    kernel = torch.tensor([[[0.0, -2000.0], [0.0, -1999.0]]], dtype=F64)
    a, b = torch.tensor([[0.25, 0.75]], dtype=F64), torch.tensor([[0.0, 1.0]], dtype=F64)
    x = Scaling(kernel, a, b, torch.zeros(1, dtype=F64), False, torch.tensor([[-torch.inf, 0.0]], dtype=F64))
    point = solver.evaluate(x, torch.zeros(1, 2, dtype=F64))
    close(solver.plan(x, point), torch.tensor([[[0.0, 0.25], [0.0, 0.75]]], dtype=F64), 0.0)
    close(point.row, torch.tensor([[2000.0, 1999.0]], dtype=F64), 0.0)


def test_required_masses_may_be_large() -> None:
    x, psi, _ = problems(4, 6, relaxed=True)
    required = solver.evaluate(x, torch.full_like(psi, -300 / 0.7)).required[1]
    close(required / math.exp(300), x.target[1], 1e-13)


def test_without_a_factorization_the_step_is_nan() -> None:
    x, psi, parts = problems(4, 6, relaxed=False)
    point = solver.evaluate(x, psi)
    ratio = point.ratio.clone()
    ratio[1] *= 3  # I − 9MMᵀ is not positive
    hessian = solver._Hessian.at(x, point._replace(ratio=ratio), torch.ones(2, dtype=F64), parts)
    assert hessian.factor.isnan().all(-1).all(-1).tolist() == [False, True]


def test_half_a_sweep_has_derivatives_even_with_an_unreachable_column() -> None:
    x, psi, _ = problems(4, 6, relaxed=True)
    kernel = x.log_kernel.index_fill(-1, torch.tensor([3]), -torch.inf).requires_grad_()
    row = solver.evaluate(x, psi).row.requires_grad_()
    swept = solver.extended(x._replace(log_kernel=kernel), psi, row)
    close(swept[:, 3].detach(), psi[:, 3], 0.0)
    for slope in torch.autograd.grad(swept.sum(), (kernel, row)):
        assert slope.isfinite().all()


@pytest.mark.parametrize("solve", [sinkhorn, unbalanced, quadratic_plan])
def test_the_reported_number_of_steps_suffices(solve: Callable[..., Any]) -> None:
    cost, a, b = random_problem(8, 6, 8, 2)
    solution = solve(cost, a, b, 0.05)
    again = solve(cost, a, b, 0.05, max_steps=solution.steps)
    close(again.plan, solution.plan, 0.0)
    short = solve(cost, a, b, 0.05, max_steps=solution.steps - 1, strict=False)
    assert short.steps == solution.steps - 1


@pytest.mark.parametrize("relaxation", [math.inf, 0.5])
def test_a_column_without_mass_takes_no_steps_of_its_own(relaxation: float) -> None:
    cost, a, b = random_problem(3, 4, 5)
    without = sinkhorn(cost, a, b, 0.1, relaxation=relaxation)
    cost, b = torch.cat((cost, cost[:, :1]), -1), torch.cat((b, b.new_zeros(1)))
    solution = sinkhorn(cost, a, b, 0.1, relaxation=relaxation)
    assert solution.steps == without.steps
    close(solution.plan[:, :-1], without.plan, 1e-15)


def test_the_unit_of_masses_changes_nothing() -> None:
    """What rounding may hide of the dual's growth is measured by the masses: tiny ones take as many steps."""
    cost, a, b = random_problem(0, 6, 7)
    solution = sinkhorn(cost, a, b, 1e-3)
    unit = 2.0**-28
    scaled = sinkhorn(cost, unit * a, unit * b, 1e-3)
    assert scaled.steps == solution.steps
    close(scaled.plan, unit * solution.plan, 1e-14 * unit)


def test_the_potential_of_a_column_without_mass_has_a_slope_in_its_relaxation() -> None:
    cost, a, b = random_problem(3, 4, 5)
    b[1] = 0.0

    def potential(relaxation: Tensor) -> Tensor:
        return sinkhorn(cost, a, b, 0.3, relaxation=relaxation).column_potential[1]

    relaxation = torch.tensor(0.7, dtype=F64, requires_grad=True)
    (slope,) = torch.autograd.grad(potential(relaxation), relaxation)
    step = 1e-5
    close(slope, (potential(relaxation.detach() + step) - potential(relaxation.detach() - step)) / (2 * step), 1e-8)
