"""The exact solver of maximum entropy on the mean: certified rows, compared with 50 digits, a conic solver and autograd."""

import math
import warnings

import cvxpy as cp
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.testing import assert_close

from evidence.instances.fifty_digits import distance
from evidence.instances.mem import MemBatch, mem_batches
from numerics import mem, tolerances
from numerics.benchmarks.mem import normal_problems
from numerics.mem import Solution, newton, solver
from numerics.mem.batch import Batch
from numerics.mem.rows import Hessian, Rows
from tests.numerics.common import DEVICES, PATIENT, on_devices

HARD = [(8, 3, 8.0, 1e4), (12, 6, 8.0, 1e4), (6, 12, 8.0, 1e4), (40, 4, 8.0, 1e4), (128, 384, 8.0, 1e4), (64, 64, 1.0, 1e4)]
FORWARDS = pytest.mark.filterwarnings(
    "ignore:.torch.jit.script. is deprecated:DeprecationWarning"
)  # by forward differentiation


def hard(n: int, d: int, scale: float, alpha: float, evidence: float, rows: int = 6) -> MemBatch:
    """Scale-8 templates, half of them duplicates, zeros in the prior: nearly all logits saturate."""
    generator = torch.Generator().manual_seed(n * d)
    templates = scale * torch.randn(n, d, generator=generator, dtype=torch.float64)
    templates[n // 2 :] = templates[: n - n // 2].clone()
    prior = torch.rand(rows, n, generator=generator, dtype=torch.float64)
    prior = prior * (torch.rand(rows, n, generator=generator) < 0.7)
    prior[:, 0] = 1.0
    z = evidence * torch.randn(rows, d, generator=generator, dtype=torch.float64)
    return MemBatch.of(templates, z, prior / prior.sum(-1, keepdim=True), alpha)


def check_against(problem: MemBatch, solution: Solution) -> None:
    """Every bound of every row, against the solution in 50 digits."""
    rows = problem.rows()
    flat = [x.reshape(len(rows), -1) for x in (solution.dual, solution.weights, solution.mean)]
    bounds = [x.reshape(-1) for x in (solution.error, solution.weights_error, solution.mean_error)]
    for i, row in enumerate(rows):
        truth = row.maximizer(start=flat[0][i].tolist(), digits=30)
        assert distance(truth.dual, flat[0][i].tolist()) <= float(bounds[0][i])
        assert distance(truth.weights, flat[1][i].tolist(), 1) <= float(bounds[1][i])
        assert distance(truth.estimate, flat[2][i].tolist()) <= float(bounds[2][i])


def certified(solution: Solution) -> bool:
    wanted = 1e-9 * (1 + solution.dual.norm(dim=-1))
    return bool(solution.converged.all()) and bool((solution.error <= wanted).all())


@settings(deadline=None, max_examples=60)
@given(mem_batches(priors=("none", "generic", "zeros"), masks=("none", "boolean", "float")))
def test_every_row_is_certified_and_the_bounds_hold_to_50_digits(problem: MemBatch) -> None:
    solution = mem.solve(*problem.arguments)
    assert certified(solution)
    check_against(problem, solution)


def test_an_error_above_its_bound_is_detected() -> None:
    problem = hard(8, 3, 1.0, 1.0, 1.0, rows=1)
    solution = mem.solve(*problem.arguments)
    wrong = Solution(**{**vars(solution), "dual": solution.dual + 2 * solution.error.unsqueeze(-1)})
    with pytest.raises(AssertionError):
        check_against(problem, wrong)
    assert not certified(Solution(**{**vars(solution), "error": torch.full_like(solution.error, 1e-8)}))


@on_devices
@pytest.mark.parametrize("evidence", [0.0, 0.1, 1.0, 30.0])
@pytest.mark.parametrize(("n", "d", "scale", "alpha"), HARD)
def test_hard_instances_are_certified(n: int, d: int, scale: float, alpha: float, evidence: float, device: str) -> None:
    problem = hard(n, d, scale, alpha, evidence)
    assert problem.prior is not None
    solution = mem.solve(problem.templates.to(device), problem.evidence.to(device), problem.prior.to(device), alpha)
    assert certified(solution)
    if n * d <= 40 and device == "cpu":
        check_against(problem, solution)


@pytest.mark.parametrize("alpha", [1e-4, 1e-2, 1.0, 1e2, 1e4])
@pytest.mark.parametrize(("n", "d"), [(1, 3), (3, 1), (4, 300), (300, 4), (4096, 3)])
def test_any_shape_and_alpha(n: int, d: int, alpha: float) -> None:
    generator = torch.Generator().manual_seed(0)
    templates = torch.randn(5, n, d, generator=generator, dtype=torch.float64)
    evidence = torch.randn(5, d, generator=generator, dtype=torch.float64)
    assert certified(mem.solve(templates, evidence, None, alpha))
    assert certified(mem.solve(templates[0], evidence, None, alpha))


def conic(row: MemBatch) -> tuple[np.ndarray, float]:
    """Weights and objective from CLARABEL, which uses neither duals nor tilts; the objective is recomputed."""
    assert row.prior is not None
    t, z, u = row.templates.numpy(), row.evidence.numpy(), row.prior.numpy()
    keep = u > 0
    t, u = t[keep], u[keep]
    p = cp.Variable(len(u))
    residual = u @ t + z - p @ t
    objective = row.alpha / 2 * cp.sum_squares(residual) - cp.sum(cp.entr(p)) - p @ np.log(u)
    problem = cp.Problem(cp.Minimize(objective), [cp.sum(p) == 1, p >= 0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # it reports if 1e-12 is out of reach; the objective shows the accuracy
        problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    clipped = np.clip(p.value, 0, None)
    weights = np.zeros(len(keep))
    weights[keep] = clipped / clipped.sum()
    value = row.alpha / 2 * np.square((row.prior.numpy() - weights) @ row.templates.numpy() + z).sum()
    return weights, float(value + (weights[keep] * np.log(np.clip(weights[keep], 1e-300, None) / u)).sum())


@settings(deadline=None, max_examples=25)
@given(mem_batches(alphas=(0.1, 1.0, 30.0), scales=(1.0,), masks=("none", "boolean")))
def test_a_conic_solver_finds_no_better_weights_and_the_same_ones(problem: MemBatch) -> None:
    row = problem.rows()[0]
    solution = mem.solve(row.templates, row.evidence, row.prior, row.alpha)
    weights, value = conic(row)
    ours = float(mem.primal_objective(solution.weights, *row.arguments[:4]))
    scale = 1 + abs(value) + float(row.alpha) * float(row.evidence.norm() + 8 * row.templates.norm()) ** 2
    slack = tolerances.rounding("float64", row.n * row.d, scale)
    assert ours <= value + slack + float(solution.gap)
    apart = float((solution.weights - torch.from_numpy(weights)).abs().sum())
    # P(q) − P(p*) ≥ KL(q ‖ p*), whence Pinsker's inequality as for a one-sided problem with temperature 1.
    assert apart <= tolerances.plan_from_gap(max(value - ours, 0.0) + slack, 1.0) + float(solution.weights_error)


def test_a_conic_solver_refutes_the_wrong_alpha() -> None:
    row = hard(6, 3, 1.0, 1.0, 1.0, rows=1).rows()[0]
    _, value = conic(row)
    wrong = mem.solve(row.templates, row.evidence, row.prior, 2.0).weights
    assert float(mem.primal_objective(wrong, *row.arguments[:4])) > value + 1e-3


@FORWARDS
@pytest.mark.parametrize(("n", "d"), [(4, 2), (2, 4)])
@pytest.mark.parametrize("which", ["templates", "evidence", "prior", "alpha", "mask"])
def test_derivatives_are_those_of_the_solution(which: str, n: int, d: int) -> None:
    generator = torch.Generator().manual_seed(3)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    arguments = {
        "templates": normal(n, d),
        "evidence": normal(2, d),
        "prior": normal(n).softmax(-1),
        "alpha": torch.tensor([0.7, 3.0], dtype=torch.float64),
        "mask": normal(2, n),
    }

    def solved(x: Tensor) -> tuple[Tensor, ...]:
        solution = mem.solve(**{**arguments, which: x}, tolerance=1e-11)
        return solution.dual, solution.weights, solution.mean

    leaf = arguments[which].clone().requires_grad_()
    assert torch.autograd.gradcheck(solved, leaf, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(solved, leaf, check_fwd_over_rev=True)


@FORWARDS
def test_derivatives_of_every_order_of_modes_agree() -> None:
    t, z = torch.randn(5, 3, dtype=torch.float64), torch.randn(4, 3, dtype=torch.float64)
    mask = torch.ones(4, 5, dtype=torch.bool)
    mask[0, 1] = mask[2, 3] = False

    def spread(evidence: Tensor, templates: Tensor = t) -> Tensor:
        return mem.solve(templates, evidence, None, 1.3, mask, tolerance=1e-12).weights.square().sum()

    forwards, backwards = torch.func.jacfwd, torch.func.jacrev
    expected = torch.autograd.functional.hessian(spread, z)
    for outer, inner in ((forwards, forwards), (forwards, backwards), (backwards, forwards), (backwards, backwards)):
        assert_close(outer(inner(spread))(z), expected, rtol=1e-10, atol=1e-12)
    mixed = forwards(backwards(spread), argnums=1)(z, t)
    assert_close(mixed, backwards(forwards(spread), argnums=1)(z, t), rtol=1e-10, atol=1e-12)


def test_vmap_over_problems_is_refused() -> None:
    t, z = torch.randn(5, 3, dtype=torch.float64), torch.randn(4, 3, dtype=torch.float64)
    with pytest.raises(ValueError, match=r"mem\.solve: expected one of its own batches, got arguments that .*vmap maps over"):
        torch.func.vmap(lambda evidence: mem.solve(t, evidence).weights)(z)


def test_derivatives_at_zeros_of_the_prior_and_of_masked_templates_are_finite() -> None:
    templates = torch.randn(4, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64, requires_grad=True)
    prior = torch.tensor([0.5, 0.0, 0.3, 0.2], dtype=torch.float64, requires_grad=True)
    mask = torch.tensor([True, True, False, True])
    solution = mem.solve(templates, torch.ones(3, dtype=torch.float64), prior, 2.0, mask)
    gradients = torch.autograd.grad(solution.mean.sum(), (templates, prior))
    assert all(x.isfinite().all() for x in gradients)
    assert (gradients[0][1:3] == 0).all()
    assert (gradients[1][1:3] == 0).all()


@PATIENT
@given(mem_batches(alphas=(0.1, 1.0, 30.0)), st.integers(0, 1))
def test_a_batch_is_its_rows(problem: MemBatch, extra: int) -> None:
    templates, evidence, prior, alpha, mask = problem.arguments
    solution = mem.solve(templates, evidence.unsqueeze(0) if extra else evidence, prior, alpha, mask)
    shape = evidence.shape[:-1]
    assert solution.dual.shape == (*((1,) if extra else ()), *shape, problem.d)
    assert solution.weights.shape == (*solution.dual.shape[:-1], problem.n)
    for i, row in enumerate(problem.rows()):
        single = mem.solve(row.templates, row.evidence, row.prior, row.alpha)
        together = solution.dual.reshape(-1, problem.d)[i]
        bias = 0.0 if mask is None or mask.dtype == torch.bool else 1.0
        # The two priors are rounded apart, which moves μ, and with it λ by at most α times as much, twice.
        allowance = 2 * float(row.alpha) * tolerances.rounding("float64", problem.n, (1 + bias) * float(row.templates.norm()))
        allowed = float(single.error + solution.error.reshape(-1)[i]) + allowance * problem.n
        assert float((single.dual - together).norm()) <= allowed


def test_templates_shared_by_groups_of_rows() -> None:
    generator = torch.Generator().manual_seed(0)
    templates = torch.randn(2, 1, 5, 3, generator=generator, dtype=torch.float64)
    evidence = torch.randn(2, 4, 3, generator=generator, dtype=torch.float64)
    batched = mem.solve(templates, evidence)
    for head in range(2):
        part = mem.solve(templates[head, 0], evidence[head])
        assert bool(((part.dual - batched.dual[head]).norm(dim=-1) <= part.error + batched.error[head]).all())


def test_easy_and_hard_rows_in_one_batch() -> None:
    """Conjugate gradients in float32 solve some rows, at different times, and Newton's method solves the others."""
    generator = torch.Generator().manual_seed(0)
    templates = torch.randn(5, 4, generator=generator, dtype=torch.float64)
    evidence = torch.randn(2100, 4, generator=generator, dtype=torch.float64)
    alpha = 10 ** (8 * torch.rand(2100, generator=generator, dtype=torch.float64) - 4)
    solution = mem.solve(templates, evidence, None, alpha)
    assert certified(solution)
    part = slice(None, None, 150)
    rows = Solution(**{name: value[part] for name, value in vars(solution).items()})
    check_against(MemBatch.of(templates, evidence[part], None, alpha[part]), rows)


def test_bounds_hold_when_float32_products_may_be_rounded_further() -> None:
    generator = torch.Generator().manual_seed(0)
    templates = torch.randn(8, 4, generator=generator, dtype=torch.float64)
    evidence = torch.randn(40, 4, generator=generator, dtype=torch.float64)
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium")
    try:
        solution = mem.solve(templates, evidence)
    finally:
        torch.set_float32_matmul_precision(before)
    assert certified(solution)
    check_against(MemBatch.of(templates, evidence, None, 1.0), solution)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_narrow_dtypes_are_refined_in_float64_and_report_rounding(dtype: torch.dtype) -> None:
    problem = hard(6, 4, 1.0, 2.0, 1.0)
    problem = MemBatch.of(problem.templates, problem.evidence, problem.prior, 2.0).rounded_to(dtype)
    solution = mem.solve(*problem.arguments)
    assert solution.dual.dtype == solution.weights.dtype == solution.mean.dtype == dtype
    assert solution.error.dtype == torch.float64
    assert bool(solution.converged.all())
    wide = MemBatch.of(problem.templates.double(), problem.evidence.double(), problem.weighted_prior, 2.0)
    check_against(wide, solution)
    assert float(solution.error.max()) <= tolerances.eps(dtype) * float(1 + solution.dual.double().norm(dim=-1).max())


def test_alpha_is_1_if_none_is_given() -> None:
    problem = hard(6, 3, 1.0, 1.0, 1.0)
    found, expected = mem.solve(problem.templates, problem.evidence), mem.solve(problem.templates, problem.evidence, None, 1.0)
    assert_close(found.dual, expected.dual, rtol=0.0, atol=0.0)


def test_a_far_origin_costs_nothing() -> None:
    problem = hard(6, 3, 1.0, 1.0, 1.0)
    shifted = problem.templates + 2.0**20
    back = shifted - 2.0**20
    here, there = (mem.solve(t, *problem.arguments[1:]) for t in (back, shifted))
    assert certified(there)
    assert bool(((here.dual - there.dual).norm(dim=-1) <= here.error + there.error).all())


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("offset", [2.0**33, -(2.0**33)])
def test_a_far_offset_of_a_mask_costs_nothing(offset: float, shared: bool) -> None:
    problem = hard(6, 3, 1.0, 1.0, 1.0)
    generator = torch.Generator().manual_seed(1)
    mask = torch.randint(-(2**18), 2**18, (6, 6), generator=generator) * 2.0**-17
    shifted = mask.double() + offset
    templates = problem.templates if shared else problem.templates.expand(6, 6, 3).contiguous()
    solution = mem.solve(templates, problem.evidence, problem.prior, 1.0, shifted)
    assert certified(solution)
    check_against(MemBatch.of(templates, problem.evidence, problem.prior, 1.0, shifted - offset), solution)


@pytest.mark.parametrize("factor", [1e-250, 1.0, 1e250])
@pytest.mark.parametrize("alpha", [1e-6, 1e-2, 1.0])
def test_bounds_hold_for_unnormalized_priors(factor: float, alpha: float) -> None:
    """The smallest of these bounds consists of rounding only."""
    generator = torch.Generator().manual_seed(0)
    templates = torch.randn(2, 2, generator=generator, dtype=torch.float64)
    evidence = torch.randn(40, 2, generator=generator, dtype=torch.float64)
    prior = factor * torch.rand(40, 2, generator=generator, dtype=torch.float64)
    solution = mem.solve(templates, evidence, prior, alpha, tolerance=1e-12)
    assert bool(solution.converged.all())
    check_against(MemBatch.of(templates, evidence, prior / prior.amax(), alpha), solution)


def test_the_error_of_the_mean_of_an_easy_problem_is_that_of_centring() -> None:
    """For huge α‖Σ‖, λ is more accurate than the centred templates, which determine the mean."""
    templates = torch.tensor([[-0.573], [-0.7599], [0.0024], [1.0308]], dtype=torch.float64)
    evidence = 1e-6 * torch.linspace(-2, 2, 40, dtype=torch.float64).unsqueeze(-1)
    for shift in torch.linspace(0, 1, 20).tolist():
        problem = MemBatch.of(templates + shift, evidence[::8], None, 1e8)
        check_against(problem, mem.solve(*problem.arguments, tolerance=1e-12))


def test_bounds_hold_for_differentiated_solutions() -> None:
    """The expressions for derivatives lose digits to a far origin; the values must not."""
    problem = hard(6, 3, 1.0, 1.0, 1.0)
    shifted = problem.templates + 2.0**20
    plain = mem.solve(shifted, *problem.arguments[1:])
    solution = mem.solve(shifted.clone().requires_grad_(), *problem.arguments[1:])
    assert solution.weights.requires_grad
    assert all(bool((getattr(solution, x) == getattr(plain, x)).all()) for x in ("dual", "weights", "mean"))
    values = Solution(**{name: value.detach() for name, value in vars(solution).items()})
    check_against(MemBatch.of(shifted, problem.evidence, problem.prior, 1.0), values)


def test_a_solution_whose_length_overflows_is_not_certified() -> None:
    solution = mem.solve(torch.eye(2, dtype=torch.float64), torch.full((2,), 1e10, dtype=torch.float64), None, 1e300)
    assert not bool(solution.converged)


@pytest.mark.parametrize("alpha", [1.0, 1e8, 1e14, 1e18])
def test_the_bound_on_the_inverse_hessian_is_one_where_templates_are_on_a_line(alpha: float) -> None:
    """Across the line H = I/α, but its computed inverse is less accurate than rounding suggests."""
    generator = torch.Generator().manual_seed(0)
    line = torch.randn(9, 1, generator=generator, dtype=torch.float64) * torch.tensor([[1.0, 2.0, 0.5]])
    rows = Rows(line, torch.zeros(9), torch.zeros(1, 3), torch.full((1, 1), alpha, dtype=torch.float64))
    weights = torch.full((1, 9), 1 / 9, dtype=torch.float64)
    hessian = Hessian(rows, weights, rows.mean(weights), rows.alpha)
    assert float(hessian.bound()) >= alpha * (1 - tolerances.rounding("float64", 9))
    assert bool(mem.solve(line, line.new_ones(3), None, alpha).converged) == (alpha <= 1e8)


def test_gap_is_that_of_the_objectives() -> None:
    problem = hard(6, 3, 1.0, 1.0, 1.0)
    allowed = tolerances.rounding("float64", 18, 100.0)
    for templates in (problem.templates, problem.templates.expand(6, 6, 3).contiguous()):
        rough = mem.solve(templates, *problem.arguments[1:], tolerance=0.5)
        primal = mem.primal_objective(rough.weights, *problem.arguments)
        gap = primal - mem.dual_objective(rough.dual, *problem.arguments)
        gradient = mem.dual_gradient(rough.dual, *problem.arguments).norm(dim=-1)
        assert_close(gap, gradient.square() / 2, rtol=1e-9, atol=allowed)
        assert bool((gap <= rough.gap + allowed).all())
        assert bool((gradient <= rough.gradient_norm).all())


@pytest.mark.parametrize("alpha", [0.01, 1.0, 3.0])
def test_gradient_norm_is_a_bound_after_float32_steps(alpha: float) -> None:
    generator = torch.Generator().manual_seed(0)
    templates = 0.3 * torch.randn(96, 40, generator=generator, dtype=torch.float64)
    evidence = 2 * torch.randn(200, 40, generator=generator, dtype=torch.float64)
    solution = mem.solve(templates, evidence, None, alpha)
    assert certified(solution)
    gradient = mem.dual_gradient(solution.dual, templates, evidence, None, alpha).norm(dim=-1)
    rounding = tolerances.rounding("float64", 96, 4 * float(evidence.norm(dim=-1).max()))
    assert bool((gradient <= solution.gradient_norm + rounding).all())
    assert bool(((solution.weights - mem.tilt(solution.dual, templates)).abs().sum(-1) <= solution.weights_error).all())


def test_a_row_with_nan_is_not_certified_and_spoils_no_other() -> None:
    evidence = torch.ones(3, 2, dtype=torch.float64)
    evidence[1, 0] = math.nan
    solution = mem.solve(torch.eye(2, dtype=torch.float64), evidence)
    assert solution.converged.tolist() == [True, False, True]
    assert mem.solve(torch.eye(2), torch.ones(2), None, torch.tensor(-1.0)).converged.tolist() is False


@pytest.mark.parametrize("device", DEVICES)
def test_an_all_masked_row_is_refused(device: str) -> None:
    mask = torch.tensor([[True, True], [False, False]], device=device)
    with pytest.raises(ValueError, match=r"^mask: expected .* got 1 all-masked of 2 rows"):
        mem.solve(torch.eye(2, device=device), torch.ones(2, 2, device=device), None, 1.0, mask)
    with pytest.raises(ValueError, match="all-masked"):
        mem.solve(torch.eye(2), torch.ones(2), torch.tensor([0.0, 1.0]), 1.0, torch.tensor([True, False]))


@pytest.mark.parametrize("tolerance", [0.0, 1e-13, 1.0, math.nan, "1e-9"])
def test_a_bad_tolerance_is_refused(tolerance: float) -> None:
    with pytest.raises(ValueError, match=r"^tolerance: expected"):
        mem.solve(torch.eye(2), torch.ones(2), tolerance=tolerance)


def test_lengths_that_overflow_end_without_a_certificate() -> None:
    templates = torch.tensor([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], dtype=torch.float64)
    for scale, size in ((1.0, 1e200), (1e200, 1.0)):
        solution = mem.solve(scale * templates, torch.full((1, 2), size, dtype=torch.float64))
        assert not bool(solution.converged.any())


def test_a_nan_prior_affects_only_its_row() -> None:
    generator = torch.Generator().manual_seed(5)
    templates, evidence, prior = (torch.rand(k, generator=generator, dtype=torch.float64) for k in ((12, 4), (40, 4), (40, 12)))
    for bad in (torch.nan, torch.inf, -1.0):
        broken = prior.clone()
        broken[7, 3] = bad
        solution = mem.solve(templates, evidence, broken)
        assert solution.converged.tolist() == [i != 7 for i in range(40)]


def test_tiny_templates_with_a_huge_alpha_are_certified_without_scaling() -> None:
    """float32 can represent neither their Gram matrix nor products with it."""
    for scale in (10.0**-18.5, 1e-18, 1e-17):
        templates = scale * torch.tensor([[1, 0], [-1, 0.5], [0.3, -1]], dtype=torch.float64)
        evidence = scale * torch.tensor([[0.4, 0.3], [0.2, -0.1]], dtype=torch.float64)
        alpha = torch.tensor([1.0, 0.9], dtype=torch.float64) / scale**2
        x = MemBatch.of(templates, evidence, None, alpha)
        solution = mem.solve(*x.arguments)
        for i, row in enumerate(x.rows()):
            truth = row.maximizer(start=solution.dual[i].tolist(), digits=30)
            assert distance(truth.dual, solution.dual[i].tolist()) <= float(solution.error[i])
            assert distance(truth.weights, solution.weights[i].tolist(), 1) <= float(solution.weights_error[i])


@pytest.mark.parametrize(("templates", "evidence"), [((2, 2), (0, 2)), ((0, 3, 2), (2,)), ((3, 2), (3, 0, 2))])
def test_no_rows_have_no_solutions(templates: tuple[int, ...], evidence: tuple[int, ...]) -> None:
    solution = mem.solve(torch.ones(templates), torch.ones(evidence))
    assert (solution.dual.numel(), solution.converged.numel(), solution.weights.shape[-1]) == (0, 0, templates[-2])


def test_solutions_that_do_not_fit_their_dtype_have_not_converged() -> None:
    templates, evidence = torch.randn(6, 3, generator=torch.Generator().manual_seed(0)), torch.full((4, 3), 1e3)
    assert not bool(mem.solve(templates.half(), evidence.half(), None, 100.0).converged.any())
    assert bool(mem.solve(templates, evidence, None, 100.0).converged.all())


def test_newton_starts_from_the_result_of_the_fast_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    """At a tolerance below the worst-case bounds of rounding, the certified solution is the same with fewer Hessians."""
    templates, evidence = normal_problems(120, 60, 6)
    rows: list[int] = []

    class Counted(newton.Hessian):
        def __init__(self, problems: Rows, *given: torch.Tensor) -> None:
            rows.append(len(problems.alpha))
            super().__init__(problems, *given)

    monkeypatch.setattr(newton, "Hessian", Counted)
    warm = mem.solve(templates, evidence, None, 3.0, tolerance=1e-12)
    counted = sum(rows)
    monkeypatch.setattr(solver, "_NEAR", -1.0)
    cold = mem.solve(templates, evidence, None, 3.0, tolerance=1e-12)
    assert bool((warm.converged & cold.converged).all())
    assert bool(((warm.dual - cold.dual).norm(dim=-1) <= warm.error + cold.error).all())
    assert 0 < 2 * counted <= sum(rows) - counted


def test_newton_starts_from_nothing_where_nothing_is_near() -> None:
    """A start of NaN is ignored; a wrong one is recovered from."""
    templates, evidence = normal_problems(40, 20, 3)
    batch = Batch(templates, evidence, None, 2.0, None)
    rows = batch.rows(torch.arange(3))
    from_zero = newton.maximize(rows, 1e-12)
    near = torch.full_like(from_zero, torch.nan)
    near[1] = from_zero[1] + 5
    torch.testing.assert_close(newton.maximize(rows, 1e-12, near), from_zero, rtol=1e-11, atol=1e-11)
