"""Sinkhorn's plans are optimal between the requested marginals in every dtype, or reported as not converged."""

import math
from importlib import import_module

import ot
import pytest
import torch
from hypothesis import given, settings

from evidence.instances.transport import RELAXATIONS, TransportProblem, transports
from numerics import one_sided, tolerances
from numerics.primal.coupling import solve_entropic
from numerics.transport import one_sided_plan, sinkhorn, solver
from numerics.transport.parts import Parts
from tests.numerics.common import PATIENT, close, in_dtypes
from tests.numerics.transport.problems import (
    F64,
    apart,
    connection,
    errors,
    exponent,
    generator,
    logit,
    objective,
    random_problem,
)

FAIR = settings(deadline=None, max_examples=60)

FINITE = ("plain", "squared", "tied", "zero")


# --- optimality --------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=300)
@given(transports(relaxations=RELAXATIONS))
def test_the_marginals_are_met_and_the_plan_has_the_form_of_an_optimum(x: TransportProblem) -> None:
    result = sinkhorn(*x.arguments, relaxation=x.relaxation)
    assert result.converged.all()
    assert (result.plan >= 0).all()
    offset = 1e3 / x.temperature if x.kind == "offset" else 0.0
    allowed = tolerances.marginals("float64", sum(x.cost.shape[-2:]), exponent(x) + offset)
    assert float(errors(x, result).max()) <= allowed
    assert float((result.row_error.sum(-1) + result.column_error.sum(-1)).max()) <= allowed
    f, g = result.row_potential.unsqueeze(-1), result.column_potential.unsqueeze(-2)
    exponents = (f + g - torch.where(x.cost == torch.inf, 0.0, x.cost)) / x.temperature
    reference = x.source.unsqueeze(-1) * x.target.unsqueeze(-2)
    formed = torch.where((x.cost == torch.inf) | (reference == 0), 0.0, reference * exponents.exp())
    size = float(
        exponents[formed > 0].abs().max()
        + (f.abs().max() + g.abs().max() + x.cost[x.cost < torch.inf].abs().max()) / x.temperature
    )
    close(result.plan, formed, tolerances.plan("float64", sum(x.cost.shape[-2:]), 2 * size))  # rounded on both sides


@FAIR
@given(transports(costs=FINITE, temperatures=(1.0, 0.1, 10.0), relaxations=RELAXATIONS))
def test_the_value_is_the_objective_and_no_plan_is_better(x: TransportProblem) -> None:
    result = sinkhorn(*x.arguments, relaxation=x.relaxation)
    value = objective(x, result.plan)
    scale = float(x.cost.abs().max()) + x.temperature * 2 * exponent(x) + (0 if x.relaxation == math.inf else x.relaxation)
    allowed = tolerances.rounding("float64", x.cost.shape[-1] * x.cost.shape[-2], scale * (1 + logit(x)))
    close(result.value, value, allowed)
    g = generator(int(x.cost.abs().sum() * 1e6) % 2**31)
    for size in (1.0, 0.1, 1e-3):
        noise = torch.rand(x.cost.shape, generator=g, dtype=F64)
        other = x.source.unsqueeze(-1) * x.target.unsqueeze(-2)
        if x.relaxation != math.inf:
            other = other * noise
            other = other * torch.where(x.source > 0, x.source / other.sum(-1), 0.0).unsqueeze(-1)
        assert (objective(x, (1 - size) * result.plan + size * other) >= value - allowed).all()


@pytest.mark.parametrize("epsilon", [1.0, 0.1, 0.01])
@pytest.mark.parametrize("seed", range(3))
def test_the_conic_solver_finds_the_same_plan(seed: int, epsilon: float) -> None:
    cost, a, b = random_problem(seed)
    result = sinkhorn(cost, a, b, epsilon)
    primal = solve_entropic(cost.numpy(), a.numpy(), b.numpy(), epsilon)
    assert primal.certified
    # The same problem but for ε Σ P log(a b), which is constant over the couplings; ⟨C, P⟩ + ε Σ P log P is ε-strongly so.
    own = float(errors(TransportProblem(cost, a, b, epsilon, math.inf, ""), result))
    allowed = tolerances.plan_from_gap(primal.gap, epsilon) + own
    assert float((result.plan - torch.from_numpy(primal.plan)).abs().sum()) <= allowed
    constant = epsilon * float((a * a.log()).sum() + (b * b.log()).sum())
    scale = float(cost.abs().max()) + 2 * epsilon * exponent(TransportProblem(cost, a, b, epsilon, math.inf, ""))
    slack = tolerances.rounding("float64", cost.numel(), scale)
    assert primal.bound - slack <= float(result.value) + constant <= primal.objective + slack


# --- limits and symmetries ---------------------------------------------------------------------------------------


@FAIR
@given(transports(costs=("plain", "squared", "tied", "zero", "forbidding")))
def test_invariances_of_the_plan(x: TransportProblem) -> None:
    plan = sinkhorn(*x.arguments).plan
    n, m = x.cost.shape[-2:]
    allowed = apart(plan, exponent(x))
    shifts = torch.linspace(-1, 1, n, dtype=F64).unsqueeze(-1) + torch.linspace(0.5, 2, m, dtype=F64)
    # Costs of up to |C| + 3 are rounded before they are divided by ε.
    size = (float(x.cost[x.cost < torch.inf].abs().max()) + 3) / x.temperature
    shifted = apart(plan, exponent(x) + 3 / x.temperature, slack=tolerances.eps("float64") * size)
    close(sinkhorn(x.cost + shifts, x.source, x.target, x.temperature).plan, plan, shifted)
    close(sinkhorn(4 * x.cost, x.source, x.target, 4 * x.temperature).plan, plan, allowed)
    close(sinkhorn(x.cost.mT, x.target, x.source, x.temperature).plan.mT, plan, allowed)
    order = torch.randperm(m, generator=generator(m))
    close(sinkhorn(x.cost[..., order], x.source, x.target[..., order], x.temperature).plan, plan[..., order], allowed)


def test_independence_as_epsilon_grows_and_the_cheapest_plan_as_it_falls() -> None:
    cost, a, b = random_problem(3)
    hot = TransportProblem(cost, a, b, 1e9, math.inf, "")
    # P_ij/(a_i b_j) = exp of at most three terms of the size of the spread over ε.
    close(sinkhorn(*hot.arguments).plan, a[:, None] * b, math.expm1(3 * logit(hot)) + apart(a[:, None] * b, exponent(hot)))
    cheapest = torch.from_numpy(ot.emd(a.numpy(), b.numpy(), cost.numpy()))
    small = sinkhorn(cost, a, b, 1e-5)
    close(small.plan, cheapest, apart(small.plan, exponent(TransportProblem(cost, a, b, 1e-5, math.inf, ""))))
    # ε KL(P ‖ a b) lies between 0 and ε log(nm)-ish: here at most ε (H(a) + H(b)).
    least = float((cost * cheapest).sum())
    assert least <= float(small.value) <= least + 1e-5 * (math.log(4) + math.log(5))


def test_with_one_row_or_one_column_there_is_one_plan() -> None:
    b = torch.tensor([0.2, 0.5, 0.3], dtype=F64)
    cost = torch.tensor([[1.0, -3.0, 100.0]], dtype=F64)
    for epsilon in (1e-3, 1.0, 1e3):
        allowed = tolerances.marginals("float64", 4, 103 / epsilon + math.log(1 / 0.2))
        close(sinkhorn(cost, None, b, epsilon).plan, b[None], allowed)
        close(sinkhorn(cost.mT, b, None, epsilon).plan, b[:, None], allowed)


@FAIR
@given(transports())
def test_the_one_sided_plan_is_a_softmax_and_the_relaxed_one_tends_to_it(x: TransportProblem) -> None:
    plan = one_sided_plan(*x.arguments)
    log_prior = torch.where(x.target > 0, x.target.log(), -torch.inf).unsqueeze(-2).expand(x.cost.shape)
    expected = x.source.unsqueeze(-1) * one_sided.plan(-x.cost, x.temperature, log_prior)
    # On both sides: log b is rounded, and the exponents that it makes.
    close(plan, expected, tolerances.plan("float64", x.cost.shape[-1], 2 * exponent(x)))
    live = ((x.cost < torch.inf) & (x.target > 0).unsqueeze(-2)).any(-1)
    if not bool((live | (x.source == 0)).all()):
        return
    for relaxation in (1e-3, 1e-6):
        relaxed = sinkhorn(*x.arguments, relaxation=relaxation * x.temperature).plan
        # Φ is smooth: ψ_j = −log(c_j/b_j)/(1 + κ), and a change of every ψ by at most δ moves a softmax by 2δ in ℓ1.
        load = torch.where(x.target > 0, plan.sum(-2) / torch.where(x.target > 0, x.target, 1.0), 1.0)
        # Along the way arriving mass differs from the first load by no more than the potentials do.
        reach = float(torch.where(load > 0, load, 1.0).log().abs().max()) + exponent(x)
        rounded = tolerances.marginals("float64", sum(plan.shape[-2:]), exponent(x))
        allowed = tolerances.relaxed_plan(relaxation, reach) + rounded
        assert float((relaxed - plan).abs().sum((-2, -1)).max()) <= allowed


def test_relaxation_leads_from_one_sided_to_balanced() -> None:
    cost, a, b = random_problem(4)
    plans = [sinkhorn(cost, a, b, 0.3, relaxation=r).plan for r in (1e-6, 0.01, 0.1, 1.0, 10.0, 1e6)]
    divergences = [float((p.sum(-2) * (p.sum(-2) / b).log()).sum()) for p in plans]
    assert divergences == sorted(divergences, reverse=True)
    assert divergences[0] > 1e-2
    free, balanced = one_sided_plan(cost, a, b, 0.3), sinkhorn(cost, a, b, 0.3)
    largest = exponent(TransportProblem(cost, a, b, 0.3, math.inf, ""))
    reach = float((free.sum(-2) / b).log().abs().max())
    close(plans[0], free, tolerances.relaxed_plan(1e-6 / 0.3, reach) + tolerances.marginals("float64", 9, largest))
    # At ρ the target is b exp(−g/ρ).
    slack = math.expm1(float(balanced.column_potential.abs().max()) / 1e6)
    close(plans[-1], balanced.plan, apart(balanced.plan, largest, slack))


# --- masks, zeros, batches ---------------------------------------------------------------------------------------


@FAIR
@given(transports(costs=("plain", "squared"), marginals=("sparse",), temperatures=(1.0, 0.1, 0.01)))
def test_rows_and_columns_without_mass_have_no_influence(x: TransportProblem) -> None:
    flat = [
        part.flatten(0, part.ndim - size - 1) if part.ndim > size else part[None]
        for part, size in ((x.cost, 2), (x.source, 1), (x.target, 1))
    ]
    for cost, a, b in zip(*flat, strict=True):
        full = sinkhorn(cost, a, b, x.temperature)
        rows, columns = a > 0, b > 0
        part = sinkhorn(cost[rows][:, columns], a[rows], b[columns], x.temperature)
        allowed = apart(full.plan, exponent(TransportProblem(cost, a, b, x.temperature, math.inf, "")))
        close(full.plan[rows][:, columns], part.plan, allowed)
        assert (full.plan[~rows] == 0).all()
        assert (full.plan[:, ~columns] == 0).all()
        scale = x.temperature * exponent(x)
        close(full.value, part.value, allowed * (1 + scale))
        # The potentials where there is no mass are those of a point whose mass tends to zero.
        soft = (full.row_potential.unsqueeze(-1) - cost) / x.temperature
        extension = -x.temperature * (soft + torch.where(rows, a, 1.0).log().unsqueeze(-1))[rows].logsumexp(0)
        close(full.column_potential[~columns], extension[~columns], allowed * (1 + scale) / math.sqrt(float(a[rows].min())))


def test_three_ways_to_forbid() -> None:
    cost, a, b = random_problem(5)
    mask = torch.ones(4, 5, dtype=torch.bool)
    mask[0, 1:3] = mask[2, 4] = False
    added = torch.zeros(4, 5, dtype=F64).masked_fill(~mask, -torch.inf)
    boolean = sinkhorn(cost, a, b, 0.2, mask=mask)
    for other in (sinkhorn(cost, a, b, 0.2, mask=added), sinkhorn(cost.masked_fill(~mask, torch.inf), a, b, 0.2)):
        close(other.plan, boolean.plan, 0.0)
        close(other.value, boolean.value, 0.0)
    assert (boolean.plan[~mask] == 0).all()
    poisoned = cost.masked_fill(~mask, torch.nan)
    close(sinkhorn(poisoned, a, b, 0.2, mask=mask).plan, boolean.plan, 0.0)
    bias = torch.randn(4, 5, generator=generator(), dtype=F64)
    close(
        sinkhorn(cost, a, b, 0.2, mask=bias).plan,
        sinkhorn(cost - 0.2 * bias, a, b, 0.2).plan,
        apart(boolean.plan, exponent(TransportProblem(cost - 0.2 * bias, a, b, 0.2, math.inf, ""))),
    )


def test_a_batch_is_its_problems_and_dimensions_broadcast() -> None:
    cost, a, b = random_problem(6, 4, 5, 3)
    epsilon = torch.tensor([0.01, 1.0, 30.0], dtype=F64)
    relaxation = torch.tensor([[math.inf], [0.7]], dtype=F64)
    together = sinkhorn(cost, a, b[0], epsilon, relaxation=relaxation)
    assert together.plan.shape == (2, 3, 4, 5)
    assert together.converged.shape == (2, 3)
    for i in range(2):
        for k in range(3):
            one = sinkhorn(cost[k], a[k], b[0], float(epsilon[k]), relaxation=float(relaxation[i, 0]))
            largest = exponent(TransportProblem(cost[k], a[k], b[0], float(epsilon[k]), math.inf, ""))
            allowed = apart(one.plan, largest)
            close(together.plan[i, k], one.plan, allowed)
            close(together.value[i, k], one.value, allowed * (1 + float(epsilon[k]) * largest))
            # A potential changes by ε times the relative change of the scaled mass, over the connection once more.
            close(
                together.column_potential[i, k],
                one.column_potential,
                allowed * float(epsilon[k]) * (1 + largest) / connection(one.plan) / float(b[0].min()),
            )


# --- infeasible problems are reported ----------------------------------------------------------------------------

IMPOSSIBLE = {
    "unequal masses": (
        torch.zeros(2, 2, dtype=F64),
        torch.tensor([0.5, 0.5], dtype=F64),
        torch.tensor([0.5, 0.6], dtype=F64),
        r"target: expected the mass of the source, 1, got 1\.1",
    ),
    "nothing allowed for a row": (
        torch.tensor([[0.0, 1.0], [math.inf, math.inf]], dtype=F64),
        None,
        None,
        r"source: expected no mass in a row whose cost forbids every column with mass, got 0\.5 at \(1,\)",
    ),
    "nothing allowed for a column": (
        torch.tensor([[0.0, math.inf], [0.0, math.inf]], dtype=F64),
        None,
        None,
        r"target: expected no mass in a column whose cost forbids every row with mass, got 0\.5 at \(1,\)",
    ),
    "two rows that share one column": (
        torch.tensor([[0.0, math.inf, math.inf], [0.0, math.inf, math.inf], [0.0, 0.0, 0.0]], dtype=F64),
        None,
        None,
        r"cost: expected rows with as much mass as columns \[0\], all they may reach, have, got 0\.666667 in rows \[0, 1\] and "
        r"0\.333333 there",
    ),
    "parts of unequal masses": (
        torch.tensor([[0.0, math.inf], [0.0, math.inf], [math.inf, 0.0]], dtype=F64),
        None,
        None,
        r"cost: expected rows with as much mass as the columns in their reach have, got 0\.666667 in rows \[0, 1\] and 0\.5",
    ),
    "only a column without mass": (
        torch.tensor([[math.inf, 0.0], [0.0, 0.0]], dtype=F64),
        None,
        torch.tensor([1.0, 0.0], dtype=F64),
        r"source: expected no mass in a row whose cost forbids every column with mass, got 0\.5 at \(0,\)",
    ),
}


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_a_problem_without_a_solution_is_refused_before_the_first_step(name: str, dtype: torch.dtype) -> None:
    cost, a, b = (None if x is None else x.to(dtype) for x in IMPOSSIBLE[name][:3])
    assert cost is not None
    with pytest.raises(ValueError, match=f"^{IMPOSSIBLE[name][3]}"):
        sinkhorn(cost, a, b)
    good = torch.zeros_like(cost)
    even = [torch.full((size,), 1 / size, dtype=dtype) for size in cost.shape]
    marginals = [torch.stack((x, x if given is None else given)) for x, given in zip(even, (a, b), strict=True)]
    with pytest.raises(ValueError, match=r"\(1, \d\)$|in problem \(1,\)$"):
        sinkhorn(torch.stack((good, cost)), *marginals)
    result = sinkhorn(torch.stack((good, cost)), *marginals, strict=False)
    assert result.converged.tolist() == [True, False]
    error = (result.row_error.sum(-1) + result.column_error.sum(-1))[1]
    assert error > 0.05


def test_newtons_method_takes_few_steps_at_small_temperatures() -> None:
    """58 steps in total for four temperatures, and 77 more for two relaxations of each."""
    g = torch.Generator().manual_seed(7)
    cost, a, b = (torch.rand(*shape, generator=g, dtype=F64) for shape in ((2, 6, 8), (2, 6), (2, 8)))
    a, b = a / a.sum(-1, keepdim=True), b / b.sum(-1, keepdim=True)
    steps = {
        rho: sum(sinkhorn(4 * cost, a, b, x, relaxation=rho).steps for x in (1.0, 0.1, 1e-2, 1e-3))
        for rho in (math.inf, 2.0, 0.01)
    }
    assert steps[math.inf] <= 58
    assert steps[2.0] + steps[0.01] <= 77


@pytest.mark.parametrize("power", [-7, 9])
@pytest.mark.parametrize("rho", [math.inf, 2.0])
def test_units_of_costs_change_nothing(rho: float, power: int) -> None:
    """Exact for powers of two: potentials and values scale, and the number of steps is the same."""
    cost, a, b = random_problem(8, 6, 8, 2)
    unit = 2.0**power
    solution, dearer = sinkhorn(cost, a, b, 0.1, relaxation=rho), sinkhorn(unit * cost, a, b, unit * 0.1, relaxation=unit * rho)
    assert dearer.steps == solution.steps
    close(dearer.plan, solution.plan, 0.0)
    for name in ("row_potential", "column_potential", "value"):
        close(getattr(dearer, name), unit * getattr(solution, name), 0.0)


@pytest.mark.parametrize(("dtype", "mass"), [(torch.float64, 1.0), (torch.float32, 1.0), (torch.float16, 1e-4)], ids=str)
def test_one_marginal_error_above_its_allowance_is_not_certified(dtype: torch.dtype, mass: float) -> None:
    """Small masses in float16 are wrong by up to the spacing of its least numbers."""
    cost, a, b = random_problem(9, 3, 7)
    a, b = mass * a, mass * b
    file = import_module("numerics.transport.sinkhorn")
    x, *_ = file.scaling(cost, a, b, 0.5, math.inf, None, double=True)
    psi, _ = solver.solve(x, Parts.of(torch.ones(3, 7, dtype=torch.bool)), 200)
    point = solver.evaluate(x, psi)
    plan = solver.plan(x, point).to(dtype).double()
    (relative, absolute), (rows, columns) = tolerances.storage(dtype), solver.allowances(x, psi, point)
    limits = 2 * rows + relative * a + absolute * 7, 2 * columns + relative * b + absolute * 3
    assert bool(file._certified(x, psi, a, plan, dtype)[1])
    for side, (marginal, limit) in enumerate(zip((plan.sum(-1), plan.sum(-2)), limits, strict=True)):
        for entry in range(len(marginal)):
            for factor in (-1.1, -0.9, 0.9, 1.1):
                perturbed = marginal.clone()
                perturbed[entry] += factor * limit[entry]
                data = (x, psi, perturbed, plan) if side == 0 else (x._replace(target=perturbed), psi, plan.sum(-1), plan)
                off_by, converged = file._certified(*data, dtype)
                assert bool(converged) == (abs(factor) < 1)
                assert float(off_by[side][entry]) == pytest.approx(abs(factor) * float(limit[entry]), rel=0.05)


def test_too_few_steps_are_reported() -> None:
    cost, a, b = random_problem(7, 6, 6)
    with pytest.raises(RuntimeError, match="did not converge in 1 steps; the largest marginal error is"):
        sinkhorn(cost, a, b, 0.01, max_steps=1)
    result = sinkhorn(cost, a, b, 0.01, max_steps=1, strict=False)
    assert not result.converged
    rounded = tolerances.rounding("float64", 6)
    close(result.row_error, (result.plan.sum(-1) - a).abs(), rounded)
    close(result.column_error, (result.plan.sum(-2) - b).abs(), rounded)
    assert result.column_error.sum() > 1e-6


def test_a_plan_on_the_boundary_is_computed_although_its_potentials_do_not_exist() -> None:
    """Only the identity is balanced and causal. Its potentials are infinite; the marginal error still falls to rounding."""
    scores = torch.randn(6, 6, generator=generator(1), dtype=F64)
    result = sinkhorn(-scores, mask=torch.ones(6, 6, dtype=torch.bool).tril())
    # Every plan with these marginals but for an error e is off by 2e at most a row: the rows fill up one after the other.
    error = float(result.row_error.sum() + result.column_error.sum())
    close(result.plan, torch.eye(6, dtype=F64) / 6, 12 * error + tolerances.rounding("float64", 6))


# --- dtypes ------------------------------------------------------------------------------------------------------


@in_dtypes
def test_converged_means_converged_in_this_dtype(dtype: torch.dtype) -> None:
    @PATIENT
    @given(
        transports(
            max_batch=0,
            costs=FINITE,
            marginals=("uniform", "positive", "sparse"),
            temperatures=(1.0, 0.1, 10.0),
            relaxations=RELAXATIONS,
        )
    )
    def check(x: TransportProblem) -> None:
        computed = torch.float64 if dtype == torch.float64 else torch.float32
        # Half precision has too few digits for two marginals to agree about their mass: they are given in float32.
        a, b = (mass.to(computed) / mass.to(computed).sum() for mass in (x.source, x.target))
        y = TransportProblem(x.cost.to(dtype), a, b, x.temperature, x.relaxation, x.kind)
        result = sinkhorn(*y.arguments, relaxation=y.relaxation)
        assert result.converged.all()
        allowed = tolerances.marginals(computed, sum(y.cost.shape[-2:]), exponent(y))
        assert result.plan.dtype == computed
        assert float((result.row_error.sum(-1) + result.column_error.sum(-1)).max()) <= allowed

    check()


# --- refusals ----------------------------------------------------------------------------------------------------

C = torch.zeros(2, 3)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: sinkhorn(C.expand(2, 2, 3), relaxation=torch.ones(3)), "relaxation"),
        (lambda: sinkhorn(C, relaxation=-1.0), "relaxation"),
        (lambda: sinkhorn(C, relaxation=0.0), "relaxation"),
        (lambda: sinkhorn(C, mask=torch.ones(2, 2, dtype=torch.bool)), "mask"),
        (lambda: sinkhorn(C, mask=torch.ones(2, 3, dtype=torch.long)), "mask"),
        (lambda: sinkhorn(C.expand(2, 2, 3), mask=torch.ones(3, 2, 3)), "mask"),
        (lambda: sinkhorn(C, max_steps=0), "max_steps"),
        (lambda: sinkhorn(C, max_steps=True), "max_steps"),
    ],
)
def test_bad_arguments_are_named(call: object, name: str) -> None:
    with pytest.raises(ValueError, match=f"^{name}: expected"):
        call()  # type: ignore[operator]
