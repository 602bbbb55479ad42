"""Both marginals relaxed: POT's public tests of its unbalanced solvers, and more."""

import math
from collections.abc import Callable
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np
import ot
import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from numerics import solvers, tolerances, transport
from numerics.linear_program import exact_plan
from numerics.transport import gaps, unbalanced

file = import_module("numerics.transport.unbalanced")
GENERATOR = torch.Generator().manual_seed(0)
RELAXATIONS = [(1.0, 1.0), (5.0, 0.3), (math.inf, 1.0), (2.0, math.inf), (0.01, 0.01), (1e4, 1e4)]


def uniform(*shape: int) -> Tensor:
    return torch.rand(shape, generator=GENERATOR, dtype=torch.float64)


def close(actual: Tensor, expected: Tensor, atol: float) -> None:
    assert_close(actual, expected, rtol=0.0, atol=atol)


def problem(*batch: int, n: int = 6, m: int = 8) -> tuple[Tensor, Tensor, Tensor]:
    """A cost, and marginals of different masses."""
    return 4 * uniform(*batch, n, m), uniform(*batch, n), 2 * uniform(*batch, m)


def divergence(p: Tensor, q: Tensor) -> Tensor:
    return (torch.special.xlogy(p, p / q) - p + q).sum()


def points(n: int = 100) -> tuple[Tensor, Tensor]:
    x = torch.from_numpy(np.random.RandomState(42).randn(n, 2))
    return x, torch.cdist(x, x).square()


# ── tests of POT ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_fixed_point_of_a_hundred_points() -> None:
    _, cost = points()
    a = torch.full((100,), 0.01, dtype=torch.float64)
    b = 1.5 * a
    solution = unbalanced(cost, a, b)
    f, g = solution.row_potential, solution.column_potential
    close(f, -0.5 * (b.log() + g - cost).logsumexp(-1), 1e-12)
    close(g, -0.5 * (a.log()[:, None] + f[:, None] - cost).logsumexp(-2), 1e-12)
    theirs = ot.unbalanced.sinkhorn_unbalanced(a.numpy(), b.numpy(), cost.numpy(), 1.0, 1.0, reg_type="kl", stopThr=1e-12)
    close(solution.plan, torch.from_numpy(theirs), 1e-10)
    close(unbalanced(cost).plan, unbalanced(cost, a, a).plan, 1e-15)  # no marginals: uniform ones


@pytest.mark.parametrize("start", ["zeros", "exact", "solution"])
def test_warm_starts_lead_to_the_same_plan_in_fewer_steps(start: str) -> None:
    _, cost = points(30)
    for temperature, relaxation in ((1.0, 1.0), (0.1, 1.0), (1.0, math.inf)):
        a = torch.full((30,), 1 / 30, dtype=torch.float64)
        options: dict[str, Any] = {"source_relaxation": relaxation, "target_relaxation": relaxation}
        cold = unbalanced(cost, a, a, temperature, **options)
        starts = {"zeros": torch.zeros_like(a), "solution": cold.column_potential}
        starts["exact"] = exact_plan(cost, a, a).column_potential
        warm = unbalanced(cost, a, a, temperature, start=starts[start], **options)
        close(warm.plan, cold.plan, 1e-12)
        close(warm.value, cold.value, 1e-12)
        if start == "solution":
            assert warm.steps == 1


@pytest.mark.parametrize("relaxations", RELAXATIONS)
@pytest.mark.parametrize("temperature", [1.0, 0.1])
def test_pot_agrees(temperature: float, relaxations: tuple[float, float]) -> None:
    cost, a, b = problem()
    solution = unbalanced(cost, a, b, temperature, *relaxations)
    if max(relaxations) == 1e4:
        return  # POT stops here with numerical errors
    theirs = ot.unbalanced.sinkhorn_unbalanced(
        a.numpy(), b.numpy(), cost.numpy(), temperature, relaxations, reg_type="kl", numItermax=100000, stopThr=1e-15
    )
    close(solution.plan, torch.from_numpy(theirs), 1e-10)


# ── further tests ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("relaxations", RELAXATIONS)
@pytest.mark.parametrize("temperature", [1.0, 1e-1, 1e-2, 1e-3])
def test_the_gap_is_that_of_the_two_objectives(temperature: float, relaxations: tuple[float, float]) -> None:
    cost, a, b = problem(2)
    solution = unbalanced(cost, a, b, temperature, *relaxations)
    assert bool(solution.converged.all())
    assert bool(((solution.gap >= 0) & (solution.gap <= 1e-12)).all())
    for k in range(2):
        primal = (cost[k] * solution.plan[k]).sum() + temperature * divergence(solution.plan[k], a[k, :, None] * b[k])
        marginals = (solution.plan[k].sum(-1), solution.plan[k].sum(-2))
        for rho, marginal, wanted in zip(relaxations, marginals, (a[k], b[k]), strict=True):
            if rho == math.inf:
                close(marginal, wanted, 1e-10)
            else:
                primal = primal + rho * divergence(marginal, wanted)
        close(solution.value[k], primal, 1e-9 * (1 + float(primal.abs())))


def test_the_gap_of_an_unfinished_solve_is_that_of_the_two_objectives() -> None:
    cost, a, b = problem()
    rough = unbalanced(cost, a, b, 0.5, 2.0, 3.0, start=torch.zeros(8), max_steps=1, strict=False)
    assert not bool(rough.converged)
    primal = (cost * rough.plan).sum() + 0.5 * divergence(rough.plan, a[:, None] * b)
    primal = primal + 2 * divergence(rough.plan.sum(-1), a) + 3 * divergence(rough.plan.sum(-2), b)
    close(rough.gap, primal - rough.value, 1e-12)
    best = unbalanced(cost, a, b, 0.5, 2.0, 3.0).value
    assert float(rough.value) <= float(best) <= float(rough.value + rough.gap)
    with pytest.raises(RuntimeError, match="unbalanced: 1 of 1 problems did not converge in 1 steps"):
        unbalanced(cost, a, b, 0.5, 2.0, 3.0, start=torch.zeros(8), max_steps=1)


@pytest.mark.parametrize("relaxations", [(math.inf, math.inf), (math.inf, 1.0), (1.0, math.inf)])
def test_the_gap_of_an_unfinished_solve_with_marginals_to_meet(relaxations: tuple[float, float]) -> None:
    cost, a, b = problem()
    a, b = a / a.sum(), b / b.sum()
    best = unbalanced(cost, a, b, 0.1, *relaxations)
    assert 0 <= float(best.gap) <= 1e-13
    bounds = []
    for steps in (1, 2, 3):
        rough = unbalanced(cost, a, b, 0.1, *relaxations, start=torch.zeros(8), max_steps=steps, strict=False)
        assert float(rough.value) <= float(best.value) + 1e-14 <= float(rough.value + rough.gap) + 2e-14
        bounds.append(float(rough.gap))
    assert bounds[0] > 1e-3
    assert bounds == sorted(bounds, reverse=True)


def test_newtons_method_takes_few_steps_at_small_temperatures() -> None:
    """283 steps in total for two problems at a time, four temperatures and six relaxations, and 62 with exact marginals."""
    g = torch.Generator().manual_seed(7)
    cost, a, b = (torch.rand(*shape, generator=g, dtype=torch.float64) for shape in ((2, 6, 8), (2, 6), (2, 8)))
    temperatures = (1.0, 0.1, 1e-2, 1e-3)
    solutions = [unbalanced(4 * cost, a, 2 * b, x, *rhos) for x in temperatures for rhos in RELAXATIONS]
    assert sum(solution.steps for solution in solutions) <= 283
    a, b = a / a.sum(-1, keepdim=True), b / b.sum(-1, keepdim=True)
    balanced = [unbalanced(4 * cost, a, b, x, math.inf, math.inf) for x in temperatures]
    assert sum(solution.steps for solution in balanced) <= 62


def test_marginals_and_relaxations_may_have_additional_axes() -> None:
    cost, a, b = 4 * uniform(4, 5), uniform(2, 1, 4), uniform(3, 5)
    rho_a, rho_b = torch.tensor([[0.5], [2.0]]).double(), torch.tensor([0.3, 1.0, 4.0]).double()
    solution = unbalanced(cost, a, b, 0.3, rho_a, rho_b)
    assert solution.value.shape == solution.gap.shape == solution.converged.shape == (2, 3)
    started = unbalanced(cost, a, b, 0.3, rho_a, rho_b, start=solution.column_potential[0, 0])
    for i in range(2):
        for j in range(3):
            one = unbalanced(cost, a[i, 0], b[j], 0.3, float(rho_a[i, 0]), float(rho_b[j]))
            for name in ("plan", "row_potential", "column_potential", "value"):
                close(getattr(solution, name)[i, j], getattr(one, name), 1e-12)
                close(getattr(started, name)[i, j], getattr(one, name), 1e-12)


@pytest.mark.parametrize("power", [-7, 9])
def test_units_of_costs_change_nothing(power: int) -> None:
    """Exact for powers of two: potentials, values and gaps scale, and the number of steps is the same."""
    cost, a, b = problem(2)
    unit = 2.0**power
    for rho_a, rho_b in RELAXATIONS[:5]:
        solution = unbalanced(cost, a, b, 0.1, rho_a, rho_b)
        dearer = unbalanced(unit * cost, a, b, unit * 0.1, unit * rho_a, unit * rho_b)
        assert dearer.steps == solution.steps
        close(dearer.plan, solution.plan, 0.0)
        for name in ("row_potential", "column_potential", "value", "gap"):
            close(getattr(dearer, name), unit * getattr(solution, name), 0.0)


def test_limits() -> None:
    cost, a, b = problem(3)
    a, b = a / a.sum(-1, keepdim=True), b / b.sum(-1, keepdim=True)
    balanced = unbalanced(cost, a, b, 0.1, math.inf, math.inf)
    expected = transport.sinkhorn(cost, a, b, 0.1)
    close(balanced.plan, expected.plan, 1e-12)
    close(balanced.value, expected.value, 1e-12)
    one = unbalanced(cost, a, b, 0.1, math.inf, 2.0)
    expected = transport.sinkhorn(cost, a, b, 0.1, relaxation=2.0)
    close(one.plan, expected.plan, 1e-12)
    far = unbalanced(100 + cost, a, b, 0.1, 1.0, 1.0)
    assert float(far.plan.sum()) < 1e-20  # mass with too high a cost is not transported
    assert bool(far.converged.all())


def test_weights_of_zero_and_forbidden_entries() -> None:
    cost, a, b = problem(2)
    a, b = a.index_fill(-1, torch.tensor([1]), 0.0), b.index_fill(-1, torch.tensor([0, 3]), 0.0)
    kept_rows, kept_columns = [0, 2, 3, 4, 5], [1, 2, 4, 5, 6, 7]
    solution = unbalanced(cost, a, b, 0.3, 1.0, 2.0)
    small = unbalanced(cost[:, kept_rows][..., kept_columns], a[:, kept_rows], b[:, kept_columns], 0.3, 1.0, 2.0)
    close(solution.plan[:, kept_rows][..., kept_columns], small.plan, 1e-13)
    assert bool((solution.plan[:, 1] == 0).all())
    assert bool((solution.plan[..., [0, 3]] == 0).all())
    without_rows = unbalanced(cost[:, kept_rows], a[:, kept_rows], b, 0.3, 1.0, 2.0)
    close(solution.column_potential, without_rows.column_potential, 1e-12)  # rows without mass have no part in any
    leaves = [x.clone().requires_grad_() for x in (cost, a, b)]
    for slope in torch.autograd.grad(unbalanced(*leaves, 0.3, 1.0, 2.0).column_potential.sum(), leaves):
        assert bool(slope.isfinite().all())
    close(solution.value, small.value, 1e-12)
    dead = torch.zeros(6, 8, dtype=torch.bool)
    dead[2] = True
    masked = unbalanced(cost, a, b, 0.3, 1.0, 2.0, mask=~dead)
    forbidden = unbalanced(cost.masked_fill(dead, torch.inf), a, b, 0.3, 1.0, 2.0)
    close(masked.plan, forbidden.plan, 0.0)
    assert bool((masked.plan[:, 2] == 0).all())
    assert bool(masked.row_potential[:, 2].isposinf().all())
    rest = [0, 1, 3, 4, 5]
    expected_value = unbalanced(cost[:, rest], a[:, rest], b, 0.3, 1.0, 2.0).value + a[:, 2] + 0.3 * a[:, 2] * b.sum(-1)
    close(masked.value, expected_value, 1e-12)  # mass that goes nowhere costs ρ_a, and its share of ε Σ a_i b_j
    with pytest.raises(ValueError, match=r"source: expected no mass in a row whose mask forbids every column with mass, got"):
        unbalanced(cost, a, b, 0.3, math.inf, 2.0, mask=~dead)


@pytest.mark.parametrize("relaxations", [(1.0, 2.0), (math.inf, 0.5), (0.5, math.inf)])
def test_the_parts_of_the_solver_follow_the_notes(relaxations: tuple[float, float]) -> None:
    """At a ψ that is no solution, one of two problems at a time, with some zero masses and a forbidden entry."""
    cost, a, b = problem(2)
    cost[:, 0, 1], a[0, 2], b[1, 3] = math.inf, 0.0, 0.0
    epsilon, psi = 0.5, 0.3 * torch.randn(2, 8, generator=GENERATOR, dtype=torch.float64)
    kappa_a, kappa_b = (epsilon / rho for rho in relaxations)
    x, *_ = file._problem(cost, a, b, epsilon, *relaxations, None, strict=True)
    point = file._evaluate(x, psi)
    swept, shifted = file._sinkhorn_sweep(x, point, psi), file._shifted(x, point, psi)
    step, allowed = file._direction(*file._factor(x, point), point.residual), file._rounding(x, psi, point)

    def gain(mass: Tensor, potential: Tensor, kappa: float) -> Tensor:
        return (mass * (potential if kappa == 0 else (1 - (-kappa * potential).exp()) / kappa)).sum()

    for k in range(2):
        L, s = -cost[k] / epsilon, psi[k]
        phi = -(b[k].log() + s + L).logsumexp(-1) / (1 + kappa_a)
        P = a[k, :, None] * b[k] * (phi[:, None] + s + L).exp()
        v, w = a[k] * (-kappa_a * phi).exp(), b[k] * (-kappa_b * s).exp()
        best = -(a[k].log()[:, None] + phi[:, None] + L).logsumexp(-2) / (1 + kappa_b)
        t = (w.sum() / v.sum()).log() / (kappa_a + kappa_b)
        dual = gain(a[k], phi, kappa_a) + gain(b[k], s, kappa_b) - P.sum()
        for actual, expected in (
            (point.phi[k], phi),
            (point.plan[k], P),
            (point.v[k], v),
            (point.w[k], w),
            (point.objective[k], dual),
            (point.residual[k], w - P.sum(-2)),
            (swept[k], best),
            (shifted[k], s + t),
        ):
            close(actual, expected, 1e-13)
        has_mass = b[k] > 0
        rows = P.sum(-1) + kappa_a * v
        system = (P.sum(-2) + kappa_b * w).diag() - P.mT @ (P / torch.where(rows > 0, rows, 1.0)[:, None])
        close((system @ step[k])[has_mass], point.residual[k, has_mass], 1e-12)
        sizes = torch.where(L.isfinite(), L.abs(), 0.0) + phi.abs()[:, None] + s.abs()
        drift = (P * sizes).sum() + (w * (kappa_b * s).abs()).sum()
        limit = tolerances.plan("float64", 14) * torch.maximum(P.sum(), w.sum()) + tolerances.eps("float64") * drift
        assert float(allowed[k]) == pytest.approx(float(limit), rel=1e-12)


def test_the_potential_of_a_column_without_mass_is_a_limit() -> None:
    cost, a, b = problem(2)
    b = b.index_fill(-1, torch.tensor([0, 3]), 0.0)
    for relaxations in ((1.0, 2.0), (math.inf, 0.5)):
        solution = unbalanced(cost, a, b, 0.3, *relaxations)
        near = unbalanced(cost, a, torch.where(b > 0, b, 1e-14), 0.3, *relaxations)
        close(solution.column_potential, near.column_potential, 1e-10)


def test_the_certificate_carries_no_derivatives() -> None:
    solution = unbalanced(*(x.requires_grad_() for x in problem()), 0.3, 1.0, 2.0)
    assert solution.plan.requires_grad
    assert not any(x.requires_grad for x in (solution.gap, solution.row_error, solution.column_error))


def test_a_divergence_has_the_digits_of_small_and_of_large_ratios() -> None:
    """Σ p log(p/q) − p + q; near p = q it is (p − q)²/2q, of which the definition would lose all digits."""
    q = torch.tensor([[1.0, 2.0, 0.5, 3.0, 0.25]], dtype=torch.float64)
    p = q * torch.tensor([[1e-3, 10.0, 1.4, 0.6, 1.6]], dtype=torch.float64)
    close(gaps.divergence(p, q), divergence(p, q)[None], 1e-13)
    e = 2.0**-30
    close(gaps.divergence(q * (1 + e), q) / (e * e), q.sum(-1) / 2, 1e-8)
    pair = torch.tensor([0.0, 0.7], dtype=torch.float64), torch.tensor([0.4, 0.7], dtype=torch.float64)
    close(gaps.divergence(*pair), torch.tensor(0.4, dtype=torch.float64), 1e-16)
    assert gaps.divergence(pair[1], pair[0] * torch.tensor([1.0, 1.0])).isposinf()
    assert gaps.divergence(torch.zeros(3), torch.zeros(3)) == 0


def test_refusals() -> None:
    cost, a, b = problem()
    for options, message in (
        ({"source_relaxation": 0.0}, "source_relaxation: expected a positive number"),
        ({"target_relaxation": -1.0}, "target_relaxation: expected a positive number"),
        ({"start": torch.zeros(3)}, "start: expected a dense floating tensor"),
        ({"start": torch.zeros(2, 8)}, "start: expected a shape that broadcasts"),
        ({"max_steps": 0}, "max_steps: expected an integer"),
    ):
        with pytest.raises(ValueError, match=message):
            unbalanced(**({"cost": cost, "source": a, "target": b} | options))


NAN, INFINITE = torch.tensor(math.nan, dtype=torch.float64), torch.tensor(math.inf, dtype=torch.float64)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cost": NAN}, r"cost: expected numbers, or \+inf where forbidden, got nan at \(1, 2\)"),
        ({"cost": -INFINITE}, r"cost: expected numbers, or \+inf where forbidden, got -inf at \(1, 2\)"),
        ({"source": -torch.ones(())}, r"source: expected nonnegative finite masses, got -1 at \(1,\)"),
        ({"target": INFINITE}, r"target: expected nonnegative finite masses, got inf at \(1,\)"),
        ({"mask": INFINITE}, "mask: expected numbers, or −inf where forbidden, got inf"),
        ({"start": NAN}, "start: expected finite potentials, got nan"),
        ({"temperature": -torch.ones(())}, "temperature: expected positive numbers, got nan"),
        ({"source_relaxation": -torch.ones(())}, "source_relaxation: expected positive numbers, got nan"),
        ({"target_relaxation": NAN}, "target_relaxation: expected positive numbers, got nan"),
    ],
)
def test_invalid_data_are_refused_before_the_first_step(options: dict[str, Tensor], message: str) -> None:
    cost, a, b = problem()
    data = {"cost": cost, "source": a, "target": b, "mask": torch.zeros_like(cost), "start": torch.zeros_like(b)}
    ((name, value),) = options.items()
    if name in data:
        data[name][(1, 2) if data[name].ndim == 2 else (1,)] = value
    for strict in (True, False):
        with pytest.raises(ValueError, match=message):
            unbalanced(**(options | data), strict=strict)  # type: ignore[arg-type]


def test_marginals_that_are_to_be_met_and_cannot_be() -> None:
    """As for ``sinkhorn``, and for one marginal at a time; of a batch, only where ρ is infinite."""
    cost, a, b = problem()
    rows, columns = torch.ones(6, 8, dtype=torch.bool), torch.ones(6, 8, dtype=torch.bool)
    rows[2], columns[:, 3] = False, False
    half = torch.arange(6)[:, None] // 3 == torch.arange(8) // 4
    met, either = (math.inf, math.inf), torch.tensor([1.0, math.inf], dtype=torch.float64)
    for relaxations, mask, message in (
        (met, None, "target: expected the mass of the source, "),
        ((either, either), None, r"target: expected the mass of the source, .* in problem \(1,\)"),
        ((math.inf, 1.0), rows, "source: expected no mass in a row whose mask forbids every column with mass"),
        ((1.0, math.inf), columns, "target: expected no mass in a column whose mask forbids every row with mass"),
    ):
        with pytest.raises(ValueError, match=message):
            unbalanced(cost, a, b, 1.0, *relaxations, mask=mask)
        assert not bool(unbalanced(cost, a, b, 1.0, *relaxations, mask=mask, max_steps=3, strict=False).converged.all())
    equal = a / a.sum(), b / b.sum()
    with pytest.raises(ValueError, match=r"mask: expected rows with as much mass as the columns in their reach have"):
        unbalanced(cost, *equal, 1.0, *met, mask=half)
    rounded = unbalanced(cost.float(), equal[0].float(), equal[1].float(), 1.0, *met)
    assert bool(rounded.converged)
    assert bool(unbalanced(cost, a, b, 1.0, math.inf, 1.0, mask=columns).converged)
    assert bool(unbalanced(cost, a, b, 1.0, 1.0, math.inf, mask=rows).converged)
    assert bool(unbalanced(cost, 0 * a, 0 * b, 1.0, *met).converged)


@pytest.mark.parametrize(
    "solve", [transport.sinkhorn, lambda *x: unbalanced(*x, 1.0, math.inf, math.inf)], ids=["sinkhorn", "unbalanced"]
)
def test_masses_may_differ_by_rounding(solve: Callable[..., Any]) -> None:
    """Of sums of as many numbers as the longer side has, in each of the two."""
    cost, a, b = problem(n=2, m=50)
    a, b, slack = a / a.sum(), b / b.sum(), 2 * tolerances.rounding("float64", 50)
    for factor in (0.9, -0.9):
        assert bool(solve(cost, a, b * (1 + factor * slack)).converged)
    for factor in (1.2, -1.2):
        for costs in (cost, cost.expand(200, -1, -1)):  # a longer batch rounds no more
            with pytest.raises(ValueError, match="target: expected the mass of the source"):
                solve(costs, a, b * (1 + factor * slack))


def test_the_plan_beside_it_has_the_marginals_that_are_met() -> None:
    plan, a, b = uniform(3, 4), torch.tensor([0.5, 0.25, 0.25]).double(), torch.tensor([0.125, 0.125, 0.25, 0.5]).double()
    met, relaxed = torch.zeros(1, dtype=torch.float64), torch.ones(1, dtype=torch.float64)
    for kappas in ((met, met), (met, relaxed), (relaxed, met), (relaxed, relaxed)):
        beside = gaps.feasible(plan, (a, b), kappas)
        assert bool((beside >= 0).all())
        if kappas[0] is met:
            close(beside.sum(-1), a, 1e-15)
        if kappas[1] is met:
            close(beside.sum(-2), b, 1e-15)
    close(beside, plan, 0.0)
    exact = a[:, None] * b  # sums without rounding, nothing is short
    close(gaps.feasible(exact, (a, b), (met, met)), exact, 0.0)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
@pytest.mark.parametrize("relaxation", [0.1, 1.0])
def test_almost_no_mass_is_transported_at_high_costs(relaxation: float, dtype: torch.dtype) -> None:
    """Costs a thousand times ρ: masses underflow, and entries without mass have potentials whose exponentials overflow."""
    cost, a, b = problem(20)
    a, b = a * (uniform(20, 6) > 0.2), b * (uniform(20, 8) > 0.2)
    solution = unbalanced((25 * cost).to(dtype), a.to(dtype), b.to(dtype), 0.01, relaxation, relaxation)
    assert bool(solution.plan.isfinite().all())
    assert bool((solution.gap >= 0).all())
    nothing_carried = relaxation * (a.sum(-1) + b.sum(-1)) + 0.01 * a.sum(-1) * b.sum(-1)
    assert bool((solution.value <= nothing_carried * (1 + 1e-5)).all())  # carrying nothing is allowed
    assert float(solution.plan.sum((-2, -1)).median()) < 0.3 * float(a.sum(-1).median())


@pytest.mark.parametrize(
    ("kernel", "spread"),
    [
        ([[0.0, -5.0], [2.0, 1.0]], 5.0),
        ([[0.0, -40.0], [7.0, 6.0]], 40.0),
        ([[3.0, -1e5], [1e6, 1e6 - 2.0]], 1e5 + 3),
        ([[0.0, -math.inf], [-3.0, -math.inf]], 0.0),
        ([[math.nan, -50.0], [0.0, -300.0]], 300.0),
    ],
)
def test_annealing_starts_where_no_exponential_underflows(kernel: list[list[float]], spread: float) -> None:
    factors = file._schedule(SimpleNamespace(kernel=torch.tensor(kernel, dtype=torch.float64)))
    assert factors == [solvers.RATE**k for k in reversed(range(len(factors)))]
    assert spread / factors[0] <= solvers.INITIAL_TILT
    assert len(factors) == 1 or spread / factors[1] > solvers.INITIAL_TILT
    assert file._schedule(SimpleNamespace(kernel=torch.empty(0, 2))) == [1.0]
