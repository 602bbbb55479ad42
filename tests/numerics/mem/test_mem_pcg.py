"""The steps of ``pcg`` in PyTorch and in Numba: the purpose of each, and their agreement."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from numerics import mem, tolerances
from numerics.benchmarks import mem as bench_mem
from numerics.mem import pcg, pcg_threads, pcg_torch, shared_templates
from numerics.mem.pcg_state import SharedProblem, SolutionBuffers
from numerics.mem.pcg_torch import Tile
from tests.numerics.mem.pcg_problems import IMPLEMENTATIONS, ONE_TEMPLATE, PROBLEMS, ROWS, Numba, Problem

STEPS = 16


@pytest.mark.parametrize("x", [*PROBLEMS, ONE_TEMPLATE])
@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
def test_a_search_ends_where_the_weights_are_a_softmax_of_themselves(x: Problem, implementation: Callable[..., Any]) -> None:
    state = implementation(x.problem, x.buffers())
    state.run_pcg()
    w = state.refined
    # It sees its own residual only: the rest is the float32 error that accumulated in the logits.
    largest = float((x.logits - x.image(w)).nan_to_num(neginf=0).abs().max())
    allowed = tolerances.plan("float32", x.problem.gram.shape[0] * STEPS, largest)
    assert float(x.residual(w).norm(dim=-1).max()) <= allowed
    assert torch.allclose(w.sum(-1), torch.ones(ROWS).double(), rtol=0, atol=tolerances.rounding("float64", w.shape[-1]))
    before = float(x.residual(x.problem.log_prior.exp()).norm(dim=-1).max())
    assert allowed < before or x.problem.gram.shape[0] == 1, "nothing had to be found"


@pytest.mark.parametrize("x", [*PROBLEMS, ONE_TEMPLATE])
@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
def test_a_start_is_improved_to_the_tolerance_and_certified(x: Problem, implementation: Callable[..., Any]) -> None:
    solution = x.buffers()
    problem = x.problem._replace(tolerance=1e-9)
    state = implementation(problem, solution)
    state.run_pcg()
    state.refine()
    state.write_dual()
    state.write_bounds()
    residual = x.residual(state.refined).norm(dim=-1)
    assert bool((residual * problem.sqrt_gram_norm * problem.alpha <= 1e-9 * (1 + solution.dual_norm)).all())
    assert bool((solution.error <= 1e-9 * (1 + solution.dual_norm)).all())
    dual = problem.alpha.unsqueeze(-1) * (problem.target - state.refined @ problem.templates)
    assert torch.allclose(solution.dual, dual, rtol=tolerances.rounding("float64", 64), atol=0)
    gradient = problem.target - solution.dual / problem.alpha.unsqueeze(-1) - solution.weights @ problem.templates
    assert bool((gradient.norm(dim=-1) <= solution.gradient_norm).all())


@pytest.mark.parametrize("x", PROBLEMS)
@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
def test_a_correction_solves_its_linear_equation(x: Problem, implementation: Callable[..., Any]) -> None:
    """(I + αΠG)e = v at a point with a small error; −αGe is added, and its rounding is bounded."""
    solution = x.buffers()
    state = implementation(x.problem._replace(tolerance=1e-12), solution)
    state.run_pcg()
    state.refine()
    w = state.refined.clone()
    w += 1e-3 * (x.problem.log_prior.exp() - w)
    if isinstance(state, Numba):
        state.workspace.refined[:ROWS] = w.numpy()
    else:
        state.refined = w.clone()
    state.recompute_logits(torch.ones(ROWS, 1, dtype=torch.bool))
    state.softmax_and_residual_float64()
    before, residual, weights = state.refined_logits.clone(), x.residual(w), solution.weights.clone()
    slip = state.refined_residual_norm - residual.norm(dim=-1, keepdim=True)
    assert float(slip.abs().max()) <= tolerances.rounding("float64", w.shape[-1])
    state.start_refinement(torch.ones(ROWS, 1, dtype=torch.bool))
    slack = 1 + tolerances.rounding("float32", w.shape[-1])
    for _ in range(STEPS):
        state.refinement_step()
        assert bool((state.step_norm * slack >= state.step.norm(dim=-1, keepdim=True)).all())
    e = state.iterate.double()
    weighted = weights * x.image(e)
    left = e + weighted - weights * weighted.sum(-1, keepdim=True) - residual
    allowed = tolerances.rounding("float32", w.shape[-1] * STEPS, float(e.abs().max() + weighted.abs().max()))
    assert bool((left.norm(dim=-1, keepdim=True) <= state.stopping_residual + allowed).all())
    assert bool((state.stopping_residual + allowed < residual.norm(dim=-1, keepdim=True)).all())
    state.apply_correction(STEPS)
    state.softmax_and_residual_float64()
    live = x.logits > -torch.inf
    slip = ((state.refined_logits - before) + x.image(e)).masked_fill(~live, 0.0).abs().amax(-1, keepdim=True)
    assert bool((slip <= state.logit_error + tolerances.eps("float64") * before[live].abs().max()).all())
    assert torch.equal(state.refined, w + e)


def by_pytorch(problem: SharedProblem, solution: SolutionBuffers, threads: int) -> None:
    tensors = [[torch.from_numpy(x) if isinstance(x, np.ndarray) else x for x in fields] for fields in (problem, solution)]
    pcg_torch.solve(SharedProblem(*tensors[0]), SolutionBuffers(*tensors[1]), 64)


def both(x: Problem) -> tuple[Any, Any]:
    first, second = (implementation(x.problem, x.buffers()) for implementation in IMPLEMENTATIONS)
    active = first.start_pcg()
    assert active == second.start_pcg() in (0, ROWS)
    return first, second


@pytest.mark.parametrize("x", PROBLEMS)
@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
def test_a_search_follows_the_preconditioned_direction(implementation: Callable[..., Any], x: Problem) -> None:
    """y + ΠCy = v with C in place of αG, and not for another C."""
    state = implementation(x.problem, x.buffers())
    assert state.start_pcg() == ROWS
    y, v, p = (getattr(state, name).double() for name in ("preconditioned", "residual", "weights"))

    def misalignment(lead: Tensor) -> float:
        c = x.problem.alpha.unsqueeze(-1) * (y * x.problem.diagonal + (y @ lead).unsqueeze(-1) * lead)
        return float((y + p * (c - (p * c).sum(-1, keepdim=True)) - v).abs().max())

    lead = x.problem.rank_one.double()
    size = float(x.problem.alpha.amax() * (x.problem.diagonal.abs().amax() + lead.square().sum()))
    assert misalignment(lead) <= tolerances.rounding("float32", int(8 * (1 + size)) * len(lead)) < misalignment(0 * lead)


@pytest.mark.parametrize("x", [*PROBLEMS, ONE_TEMPLATE])
def test_both_make_the_same_steps(x: Problem) -> None:
    """They agree entry by entry while the residual is far above rounding; later each follows its own noise."""
    first, second = both(x)
    for _ in range(2):
        for name in ("iterate", "weights", "residual", "residual_norm", "stopping_residual") + (
            ("preconditioned",) if second.count else ()
        ):
            ours, other = getattr(first, name), getattr(second, name)
            assert float((ours - other).abs().max()) <= tolerances.rounding("float32", 64 * x.problem.gram.shape[0]), name
        assert first.pcg_step() == second.pcg_step()


@pytest.mark.parametrize("name", ["diagonal", "rank_one"])
def test_the_comparison_refuses_another_preconditioner(name: str) -> None:
    x = Problem(0)
    second = both(x)[1]
    x.problem = x.problem._replace(**{name: 0.5 * getattr(x.problem, name)})
    first = both(x)[0]
    assert float((first.preconditioned - second.preconditioned).abs().max()) > tolerances.rounding("float32", 64 * 12)


@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
def test_a_damped_step_does_not_leap(implementation: Callable[..., Any]) -> None:
    x = Problem(0).problem
    x = x._replace(target=40 * x.target, sqrt_gram_norm=1.0)
    for radius, damped in ((0.1, False), (5.0, True)):
        assert (radius**2 > pcg.DAMP_ABOVE_CURVATURE) == damped
        state = implementation(x._replace(radius=radius), Problem(0).buffers())
        state.start_pcg()
        state.pcg_step()
        change = state.step_logits.amax(-1) - state.step_logits.amin(-1)
        assert bool((change <= pcg.MAX_LOGIT_STEP * (1 + tolerances.rounding("float32", 8))).all()) == damped


@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
def test_a_wider_tolerance_ends_the_search_sooner(implementation: Callable[..., Any]) -> None:
    """But for what float32 cannot resolve, the residual where it ends is the root of the tolerance."""
    x, ends = Problem(0), []
    for tolerance in (1e-30, 1e-4, 1e-2):
        state = implementation(x.problem._replace(tolerance=tolerance), x.buffers())
        state.start_pcg()
        ends.append(state.stopping_residual)
    assert bool((ends[0] < ends[1]).all())
    torch.testing.assert_close(ends[2], 10 * ends[1])


def test_a_search_is_given_up_after_so_many_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    x, steps = Problem(0), []
    state = Tile(x.problem, x.buffers())
    monkeypatch.setattr(pcg_torch, "MAX_PCG_STEPS", 3)
    monkeypatch.setattr(state, "pcg_step", lambda: steps.append(1) or ROWS)
    state.run_pcg()
    assert len(steps) == 3


def test_after_a_step_of_length_zero_the_direction_is_the_residual(monkeypatch: pytest.MonkeyPatch) -> None:
    x = Problem(0)
    state = Tile(x.problem, x.buffers())
    state.start_pcg()
    none, some = torch.zeros(ROWS, 1), torch.ones(ROWS, 1)
    for a, b in ((none, none), (none, some), (some, none)):
        monkeypatch.setattr(state, "add_step", lambda damped, a=a, b=b: (a, b))
        state.pcg_step()
        assert torch.equal(state.preconditioned, state.residual) == (a is b)


def test_nothing_is_refined_that_is_good_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    x, started = Problem(0), []
    state = Tile(x.problem._replace(tolerance=1.0), x.buffers())
    state.run_pcg()
    monkeypatch.setattr(state, "start_refinement", started.append)
    state.refine()
    assert not started


def test_rounding_is_that_of_all_of_the_mass(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a large residual the entries of w may be as large, of either sign."""
    x, masses, errors = Problem(0), [], pcg.rounding_errors
    state = Tile(x.problem._replace(tolerance=1e-9), x.buffers())
    state.run_pcg()
    state.refine()
    state.write_dual()
    away = torch.tensor([8.0, -8.0]).double().repeat(6)
    state.refined = state.refined + away
    state.refined_residual_norm = away.norm().expand(ROWS, 1)
    monkeypatch.setattr(pcg, "rounding_errors", lambda *given: (masses.append(given[-1]), errors(*given))[1])
    state.write_bounds()
    assert bool((masses[0] >= state.refined.abs().sum(-1)).all())


@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
def test_nan_stays_in_its_row(implementation: Callable[..., Any]) -> None:
    x = Problem(0)
    target = x.problem.target.clone()
    target[1] = math.nan
    solution = x.buffers()
    state = implementation(x.problem._replace(target=target, tolerance=1e-9), solution)
    assert state.start_pcg() == ROWS - 1
    state.run_pcg()
    state.refine()
    state.write_dual()
    state.write_bounds()
    assert bool(solution.error[1].isnan())
    others = torch.cat([solution.error[:1], solution.error[2:]])
    assert bool((others <= 1e-9 * (1 + torch.cat([solution.dual_norm[:1], solution.dual_norm[2:]]))).all())


@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
def test_a_row_whose_logits_are_blurred_is_worked_out_again(implementation: Callable[..., Any]) -> None:
    """If float32 is assumed to lose everything, the correction is computed from w, and nothing is lost."""
    x = Problem(0)
    solution = x.buffers()
    state = implementation(x.problem._replace(product_error=1.0, tolerance=1e-9), solution)
    state.run_pcg()
    state.refine()
    state.write_dual()
    state.write_bounds()
    assert bool((state.logit_error == 0).all())
    assert bool((solution.error <= 1e-9 * (1 + solution.dual_norm)).all())


@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
@pytest.mark.parametrize(("name", "factor"), [("target_error", 1.0), ("log_prior_error", Problem(0).problem.radius)])
def test_the_rounding_of_a_prior_is_in_the_bounds(implementation: Callable[..., Any], name: str, factor: float) -> None:
    norms = []
    for prior_error in (0.0, 0.5):
        x = Problem(0)
        solution = x.buffers()
        error = {name: torch.tensor([prior_error], dtype=torch.float64)}
        state = implementation(x.problem._replace(tolerance=1e-9, **error), solution)
        state.run_pcg()
        state.refine()
        state.write_dual()
        state.write_bounds()
        norms.append(solution.gradient_norm)
    assert (norms[1] - norms[0]).numpy() == pytest.approx(0.5 * factor, rel=tolerances.rounding("float64", 64))


@pytest.mark.parametrize("alpha", [1.0, 300.0])
def test_pytorch_certifies_the_results_of_numba(alpha: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a GPU no other implementation exists, and where float32 products are rounded it uses float64."""
    templates, evidence = bench_mem.normal_problems(40, 16, 100)
    ours = mem.solve(templates, evidence, None, alpha)
    monkeypatch.setattr(pcg_threads, "solve", by_pytorch)
    plain = mem.solve(templates, evidence, None, alpha)
    monkeypatch.setattr(shared_templates, "_low_precision", lambda device: torch.float64)
    wide = mem.solve(templates, evidence, None, alpha)
    if alpha == 1.0:  # else Newton's method may have had the last word
        assert not torch.equal(ours.dual, plain.dual)
        assert not torch.equal(plain.dual, wide.dual)
    for other in (plain, wide):
        assert bool(other.converged.all())
        assert bool(((other.dual - ours.dual).norm(dim=-1) <= other.error + ours.error).all())


@pytest.mark.parametrize("implementation", ["Numba", "PyTorch"])
def test_a_residual_outside_the_range_of_the_gram_matrix_does_not_stop_the_search(
    implementation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each template is there twice, and not with the same prior: what one has too much and the other too little changes no
    mean. The preconditioner mixes that with the rest; Newton's method is not there to help."""
    draw = torch.Generator().manual_seed(0)
    templates = torch.randn(32, 32, generator=draw, dtype=torch.float64).repeat(2, 1)
    evidence = torch.randn(200, 32, generator=draw, dtype=torch.float64)
    prior = torch.rand(64, generator=draw, dtype=torch.float64) + 0.01
    if implementation == "PyTorch":
        monkeypatch.setattr(pcg_threads, "solve", by_pytorch)
    monkeypatch.setattr("numerics.mem.solver.maximize", lambda rows, tolerance: torch.full_like(rows.target, math.nan))
    assert bool(mem.solve(templates, evidence, prior / prior.sum(), 0.7).converged.all())


@pytest.mark.parametrize("own_alpha", [False, True])
def test_rows_divided_among_threads_give_the_same_results(own_alpha: bool) -> None:
    templates, evidence = bench_mem.normal_problems(40, 16, 700)
    alpha = torch.linspace(0.5, 4, 700).double() if own_alpha else 2.0
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        separate = [
            mem.solve(templates, evidence[rows], None, alpha[rows] if isinstance(alpha, Tensor) else alpha)
            for rows in (slice(0, 350), slice(350, 700))
        ]
        torch.set_num_threads(2)
        two = mem.solve(templates, evidence, None, alpha)
    finally:
        torch.set_num_threads(before)
    assert bool(two.converged.all())
    for name in ("dual", "weights", "mean", "error"):
        assert torch.equal(getattr(two, name), torch.cat([getattr(x, name) for x in separate])), name


def test_a_row_with_its_own_prior_starts_from_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread, or the last tile, may have only one of the rows with different priors."""
    monkeypatch.setattr("numerics.mem.solver.maximize", lambda rows, tolerance: torch.full_like(rows.target, math.nan))
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        for rows in (2, 130):
            templates, evidence = bench_mem.normal_problems(10, 8, rows)
            prior = torch.rand(rows, 10, generator=torch.Generator().manual_seed(rows), dtype=torch.float64)
            assert bool(mem.solve(templates, evidence, prior).converged.all())
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
def test_uncertifiable_rows_are_not_corrected(implementation: Callable[..., Any]) -> None:
    """Rounding alone exceeds this tolerance."""
    x = Problem(0)
    solution = x.buffers()
    state = implementation(x.problem._replace(tolerance=1e-20), solution)
    state.run_pcg()
    state.refine()
    assert bool((state.required_residual < 0).all())
    assert bool((state.logit_error == 0).all())
    assert bool((state.refined_residual_norm > 0).all())


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_a_default_dtype_changes_nothing(dtype: torch.dtype) -> None:
    templates, evidence = bench_mem.normal_problems(8, 6, 10)
    expected = mem.solve(templates, evidence)
    torch.set_default_dtype(dtype)
    try:
        solution = mem.solve(templates, evidence)
    finally:
        torch.set_default_dtype(torch.float32)
    assert torch.equal(solution.dual, expected.dual)
