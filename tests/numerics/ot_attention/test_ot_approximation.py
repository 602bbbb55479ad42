"""The error of the closed form (25) for (24): the bound, its order, its constants, and the small parameter."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from evidence.instances.ot import OtProblem, ot_batches
from numerics import ot_attention as ot
from numerics import tolerances
from tests.numerics.common import PATIENT, close, many_problems

F64 = torch.float64

in_symmetry = pytest.mark.parametrize("symmetric", [True, False], ids=["symmetric", "not symmetric"])


def deviations(x: OtProblem, alpha: float, gamma: float, *, order: int = 1) -> tuple[Tensor, Tensor, Tensor, ot.Solution]:
    """λ − λ*, h − h*, p − p* for λ = αz, or for the resolvent form (``order`` 2), and the exact solution."""
    solution = ot.solve(*x.tensors, alpha, gamma)
    at = alpha * x.evidence if order == 1 else ot.resolvent(*x.tensors, alpha, gamma)
    p = ot.transported((x.templates @ at.unsqueeze(-1)).squeeze(-1), x.prior, x.cost, gamma)
    difference = p - solution.weights
    return at - solution.dual, (difference.unsqueeze(-2) @ x.templates).squeeze(-2), difference, solution


def diameters(x: OtProblem) -> Tensor:
    """The diameter of the templates that each column may reach, (..., n), from all pairs."""
    pairs = (x.templates.unsqueeze(-2) - x.templates.unsqueeze(-3)).norm(dim=-1)
    reached = (x.cost < torch.inf).to(F64)
    return (pairs.unsqueeze(-1) * reached.unsqueeze(-2) * reached.unsqueeze(-3)).amax((-3, -2))


def noise(x: OtProblem, alpha: float, gamma: float, solution: ot.Solution) -> tuple[float, float, float]:
    """The rounding and solver errors in λ − λ*, h − h* and p − p*."""
    d = x.templates.shape[-1]
    potential = (x.reach + 1) * float(solution.dual.norm(dim=-1).max() + alpha * x.evidence.norm(dim=-1).max())
    finite = float(x.cost[x.cost < torch.inf].abs().max())
    p = tolerances.plan("float64", x.N + x.n, (d + 3) * (potential + finite) / gamma)
    p += 2 * x.reach * float(solution.distance.max()) / gamma
    mean = 2 * x.N * x.reach * p
    return float(solution.distance.max()) + alpha * mean, mean, x.N * p


def never_violated(x: OtProblem, alpha: float, gamma: float, order: int = 1) -> None:
    e, delta, difference, solution = deviations(x, alpha, gamma, order=order)
    dual = None if order == 1 else ot.resolvent(*x.tensors, alpha, gamma)
    bound = ot.approximation_bound(*x.tensors, alpha, gamma, dual)
    slack = noise(x, alpha, gamma, solution)
    assert (e.norm(dim=-1) <= bound.dual + slack[0]).all()
    assert (delta.norm(dim=-1) <= bound.mean + slack[1]).all()
    assert (difference.abs().sum(-1) <= bound.weights + slack[2]).all()
    # The other side: ‖e‖ ≥ α‖r‖ / (1 + αL/γ), L = Σ_j u_j diam_j² / 4 or anything above.
    curvature = (x.prior * diameters(x).square()).sum(-1) / 4
    assert (e.norm(dim=-1) + slack[0] >= bound.dual / (1 + alpha * curvature / gamma)).all()


@PATIENT
@given(ot_batches())
def test_the_bound_is_never_violated(x: OtProblem) -> None:
    for order in (1, 2):
        never_violated(x, x.alpha, x.gamma, order)


@in_symmetry
def test_the_bound_holds_on_a_thousand_problems(symmetric: bool) -> None:
    x = many_problems(1, 1000, symmetric=symmetric)
    for alpha, gamma in ((1.0, 1.0), (0.1, 1.0), (10.0, 1.0), (1.0, 0.1), (1.0, 10.0), (300.0, 1.0)):
        never_violated(x, alpha, gamma)


def leading(x: OtProblem, gamma: float) -> tuple[Tensor, Tensor, Tensor]:
    """Σ̄z/γ, Σ̄²z/γ² and J̄TΣ̄z/γ², J̄ = Σ_j u_j (diag q_j − q_j q_jᵀ): of λ − λ*, h − h*, p − p*, in units of α²."""
    q = ot.kernel(x.cost, gamma)
    jacobian = (q @ x.prior.unsqueeze(-1)).squeeze(-1).diag_embed() - (q * x.prior.unsqueeze(-2)) @ q.mT
    spread = x.templates.mT @ jacobian @ x.templates
    first = (spread @ x.evidence.unsqueeze(-1)) / gamma
    weights = jacobian @ x.templates @ first / gamma
    return first.squeeze(-1), (spread @ first).squeeze(-1) / gamma, weights.squeeze(-1)


def remainder(x: OtProblem, alpha: float, gamma: float) -> tuple[Tensor, Tensor, Tensor]:
    """Bounds of what follows the leading term: (α³/γ²) times constants that hold for every α and γ.

    With L = Σ u diam²/4 (variance), K = Σ u diam³/(6√3) (third central moment), ℓ = ‖z‖: ‖λ*‖ ≤ αℓ and ‖e‖ ≤ (α²/γ)Lℓ.
    For λ:  e − (α²/γ)Σ̄z = (α/γ)((S − Σ̄)λ* − Σ̄e),  S the mean of Σ̄ along [0, λ*], ‖S − Σ̄‖ ≤ Kαℓ/2γ.
    For h:  δ = (1/γ)S'e,  S' the mean of Σ̄ along [λ*, αz], ‖S' − Σ̄‖ ≤ Kαℓ/γ.  For p, in ℓ1, the same with Σ u diam/2 for L
    in the last step: E|v − Ev| ≤ range/2, and E|(v − Ev)(w − Ew) − Cov(v, w)| ≤ 2 (range/2)² for its derivative.
    """
    diameter, u, length = diameters(x), x.prior, x.evidence.norm(dim=-1)
    L, K = (u * diameter**2).sum(-1) / 4, (u * diameter**3).sum(-1) / (6 * math.sqrt(3))
    dual = alpha**3 / gamma**2 * (L**2 * length + K * length**2 / 2)
    mean = (L * dual + K * alpha * length / gamma * alpha**2 / gamma * L * length) / gamma
    first, second = (u * diameter).sum(-1) / 2, (u * diameter**2).sum(-1) / 2
    weights = (first * dual + second * alpha * length / gamma * alpha**2 / gamma * L * length) / gamma
    return dual, mean, weights


def sizes(e: Tensor, delta: Tensor, p: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return e.norm(dim=-1), delta.norm(dim=-1), p.abs().sum(-1)


@PATIENT
@given(ot_batches())
def test_the_leading_term_with_its_remainder(x: OtProblem) -> None:
    """This holds for every α and γ, not only for small ones."""
    errors = deviations(x, x.alpha, x.gamma)
    expected = [x.alpha**2 * term for term in leading(x, x.gamma)]
    gaps = sizes(*(a - b for a, b in zip(errors[:3], expected, strict=True)))
    for gap, bound, slack in zip(gaps, remainder(x, x.alpha, x.gamma), noise(x, x.alpha, x.gamma, errors[3]), strict=True):
        assert (gap <= bound * (1 + 1e-12) + 2 * slack).all()


@in_symmetry
def test_the_fitted_order_is_two(symmetric: bool) -> None:
    """The slope of log ‖error‖ in log α between two values of α, on a thousand problems; its tolerance is the remainder's."""
    x = many_problems(2, 1000, symmetric=symmetric)
    high, low = 2.0**-10, 2.0**-14
    logs, loose = [], []
    for alpha in (high, low):
        *errors, solution = deviations(x, alpha, 1.0)
        scale = [alpha**2 * size for size in sizes(*leading(x, 1.0))]
        rests = zip(remainder(x, alpha, 1.0), noise(x, alpha, 1.0, solution), scale, strict=True)
        logs.append([size.log() for size in sizes(*errors)])
        loose.append([((rest + slack) / lead) for rest, slack, lead in rests])
    for i in range(3):
        order = (logs[0][i] - logs[1][i]) / math.log(high / low)
        informative = (loose[0][i] < 0.5) & (loose[1][i] < 0.5)
        assert informative.double().mean() > 0.5
        deviation = -(torch.log1p(-loose[0][i][informative]) + torch.log1p(-loose[1][i][informative])) / math.log(high / low)
        assert ((order[informative] - 2).abs() <= deviation).all()
        assert abs(float(order.median()) - 2) < 0.1


@in_symmetry
def test_the_resolvent_form_is_one_order_better(symmetric: bool) -> None:
    """λ − λ* = (α³/2γ²) κ(z, z) + O(α⁴), κ = Σ_j u_j times the third cumulant of q(·|j)."""
    x = many_problems(3, 1000, symmetric=symmetric)
    q, t = ot.kernel(x.cost, 1.0), x.templates
    centred = t.unsqueeze(-2) - (q.mT @ t).unsqueeze(-3)
    along = (centred * x.evidence[..., None, None, :]).sum(-1)
    cumulant = torch.einsum("bij,bj,bij,bijd->bd", q, x.prior, along**2, centred)
    for alpha in (2.0**-8, 2.0**-9):
        e, *_ = deviations(x, alpha, 1.0, order=2)
        relative = (e / alpha**3 - cumulant / 2).norm(dim=-1) / cumulant.norm(dim=-1)
        assert float(relative.median()) < 30 * alpha
    first, second = (deviations(x, alpha, 1.0, order=2)[0].norm(dim=-1) for alpha in (2.0**-7, 2.0**-8))
    assert abs(float((first / second).log2().median()) - 3) < 0.1


# --- tightness, and the small parameter --------------------------------------------------------------------------

PAIR = torch.tensor([[1.0], [-1.0]], dtype=F64)
FREE = torch.zeros(2, 2, dtype=F64)
ONE = torch.tensor([1.0, 0.0], dtype=F64)


def pair(z: float, alpha: float, gamma: float) -> tuple[list[float], list[float]]:
    """Errors and bounds for two templates ±1 and no cost, where h(λ) = tanh(λ/γ)."""
    evidence = torch.tensor([z], dtype=F64)
    arguments = (PAIR, evidence, ONE, FREE, alpha, gamma)
    solution, bound = ot.solve(*arguments), ot.approximation_bound(*arguments)
    p = ot.weights(*arguments)
    errors = [alpha * evidence - solution.dual, (p - solution.weights) @ PAIR, (p - solution.weights).abs()]
    return [float(v.sum().abs()) for v in errors], [float(v) for v in (bound.dual, bound.mean, bound.weights)]


def test_the_bounds_are_tight() -> None:
    """For ±1 and small z everything is linear: the mean's bound is attained; the others are as α/γ → 0, or at saturation."""
    errors, bounds = pair(1e-4, 1.0, 1.0)
    assert errors[1] == pytest.approx(bounds[1], rel=1e-7)
    errors, bounds = pair(1e-2, 1.0, 1e4)
    assert errors == pytest.approx(bounds, rel=2e-4)
    errors, bounds = pair(50.0, 1.0, 1.0)
    assert errors[0] == pytest.approx(bounds[0], rel=1e-12)


@pytest.mark.parametrize("alpha", [0.01, 1.0, 30.0])
def test_bounds_known_before_the_pass_are_attained(alpha: float) -> None:
    """``beyond.ot-query-bound`` for ±1 and small z, where one pass alone says 1 + q times as much."""
    errors, bounds = pair(1e-6, alpha, 1.0)
    assert errors[0] == pytest.approx(bounds[0], rel=1e-6)
    by_pass = ot.approximation_bound(
        PAIR, torch.tensor([1e-6], dtype=F64), ONE, FREE, alpha, 1.0, torch.tensor([alpha * 1e-6], dtype=F64)
    )
    assert float(by_pass.dual) == pytest.approx((1 + alpha) * bounds[0], rel=1e-6)


def test_alpha_need_not_be_small_and_is_not_enough() -> None:
    """(α/γ)‖Σ̄‖ must be small along [0, αz]; a small α alone is neither sufficient nor necessary."""
    errors, _ = pair(0.5, 1e-4, 1e-8)
    assert errors[1] > 0.49
    errors, _ = pair(0.5, 1e3, 1e6)
    assert errors[1] < 1e-6
    # Nor is α/γ: the kernel is certain of itself, Σ̄ ≈ e^{−40}.
    apart = torch.tensor([[0.0, 4.0], [4.0, 0.0]], dtype=F64)
    z = torch.tensor([0.5], dtype=F64)
    solution = ot.solve(PAIR, z, ONE, apart, 1.0, 0.1)
    assert float((ot.weights(PAIR, z, ONE, apart, 1.0, 0.1) - solution.weights).abs().sum()) < 1e-12


@PATIENT
@given(ot_batches(costs=("inner", "distances", "any", "forbidding")), st.sampled_from([1e2, 1e3, 1e4]))
def test_the_error_vanishes_as_gamma_grows_at_fixed_alpha(x: OtProblem, gamma: float) -> None:
    """‖h − h*‖ ≤ (αL/γ)² ‖z‖: of second order in α/γ, whichever of the two varies."""
    _, delta, _, solution = deviations(x, x.alpha, gamma)
    curvature = (x.prior * diameters(x).square()).sum(-1) / 4
    bound = (x.alpha * curvature / gamma) ** 2 * x.evidence.norm(dim=-1)
    assert (delta.norm(dim=-1) <= bound + noise(x, x.alpha, gamma, solution)[1]).all()


@PATIENT
@given(ot_batches(gammas=(1.0, 0.3), alphas=(1.0,)))
def test_the_exact_mean_approaches_the_target_as_alpha_grows(x: OtProblem) -> None:
    """The length of μ̃ + z − h* = λ*/α decreases as α grows, but (25) does not have that property."""
    before = torch.full(x.evidence.shape[:-1], math.inf, dtype=F64)
    for alpha in (0.1, 1.0, 10.0, 100.0):
        solution = ot.solve(*x.tensors, alpha, x.gamma)
        missed = solution.dual.norm(dim=-1) / alpha
        assert (missed <= before + solution.residual + tolerances.rounding("float64", x.N, 10)).all()
        before = missed


def test_the_certificate_accepts_any_dual() -> None:
    x = many_problems(4, 100, symmetric=False)
    solution = ot.solve(*x.tensors)
    at_solution = ot.approximation_bound(*x.tensors, dual=solution.dual)
    close(at_solution.dual, solution.distance, 1e-14)
    shifted = ot.approximation_bound(*x.tensors, dual=solution.dual + 0.1)
    assert (shifted.dual >= 0.1 * math.sqrt(3) - 1e-12).all()


def test_a_too_small_bound_is_detected() -> None:
    """Control: half of each bound is violated somewhere."""
    x = many_problems(1, 1000, symmetric=False)
    e, delta, difference, _ = deviations(x, 10.0, 1.0)
    bound = ot.approximation_bound(*x.tensors, 10.0, 1.0)
    assert (e.norm(dim=-1) > bound.dual / 2).any()
    assert (delta.norm(dim=-1) > bound.mean / 2).any()
    assert (difference.abs().sum(-1) > bound.weights / 2).any()
