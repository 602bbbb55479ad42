"""Attention by optimal transport, compared with extended precision, all couplings, and its own limits and symmetries."""

import math
from collections.abc import Iterator

import mpmath as mp
import pytest
import torch
from hypothesis import given
from torch import Tensor

from evidence.instances.ot import MILD, OtProblem, ot_batches
from numerics import ot_attention as ot
from numerics import tolerances
from tests.numerics.common import PATIENT, close, double, in_dtypes, many_problems, on_devices

mp.mp.dps = 40

F64 = torch.float64


def singles(x: OtProblem) -> Iterator[tuple[list[list[mp.mpf]], list[mp.mpf], list[mp.mpf], list[list[mp.mpf]]]]:
    """Each problem of a batch: templates, evidence, prior and cost as exact numbers."""
    sizes = (2, 1, 1, 2)
    flat = (
        t.cpu().double().flatten(0, t.ndim - size - 1) if t.ndim > size else t.cpu().double()[None]
        for t, size in zip(x.tensors, sizes, strict=True)
    )
    for t, z, u, M in zip(*flat, strict=True):
        yield exact(t), exact(z), exact(u), exact(M)


def exact(x: Tensor) -> list:  # type: ignore[type-arg]
    return [exact(row) for row in x] if x.ndim > 1 else [mp.mpf(v) for v in x.tolist()]


def tilted(g: list[mp.mpf], M: list[list[mp.mpf]], gamma: float) -> tuple[list[list[mp.mpf]], list[mp.mpf]]:
    """Columns q(i|j) ∝ exp((g_i − M_ij)/γ) by the definition, as q[j][i], and log Σ_i of the same."""
    columns, logs = [], []
    for j in range(len(M[0])):
        terms = [mp.exp((g[i] - M[i][j]) / mp.mpf(gamma)) for i in range(len(M))]
        columns.append([term / mp.fsum(terms) for term in terms])
        logs.append(mp.log(mp.fsum(terms)))
    return columns, logs


def carried(columns: list[list[mp.mpf]], u: list[mp.mpf]) -> list[mp.mpf]:
    return [mp.fsum(uj * q[i] for uj, q in zip(u, columns, strict=True)) for i in range(len(columns[0]))]


def inner(x: list[mp.mpf], y: list[mp.mpf]) -> mp.mpf:
    return mp.fsum(a * b for a, b in zip(x, y, strict=True))


def stacked(rows: list, x: OtProblem) -> Tensor:  # type: ignore[type-arg]
    """Results of the single problems as a float64 tensor with the batch shape in front."""
    values = torch.tensor([[float(v) for v in row] if isinstance(row, list) else float(row) for row in rows], dtype=F64)
    return values.reshape((*x.templates.shape[:-2], *values.shape[1:]))


# --- closed forms against their definitions ----------------------------------------------------------------------


@on_devices
@in_dtypes
def test_weights_are_exact_to_rounding(dtype: torch.dtype, device: str) -> None:
    @PATIENT
    @given(ot_batches(dtype))
    def check(x: OtProblem) -> None:
        y = x.to(device)
        actual = ot.weights(*y.arguments)
        assert (actual.dtype, actual.device.type) == (dtype, device)
        expected = []
        for t, z, u, M in singles(x):
            g = [mp.mpf(x.alpha) * inner(row, z) for row in t]
            expected.append(carried(tilted(g, M, x.gamma)[0], u))
        close(actual.cpu().double(), stacked(expected, x), x.rounding)

    check()


@PATIENT
@given(ot_batches())
def test_true_preference_and_conjugate_are_exact_to_rounding(x: OtProblem) -> None:
    potential = x.templates[..., 0]
    preference, values = [], []
    for t, _, u, M in singles(x):
        preference.append(carried(tilted([mp.mpf(0)] * x.N, M, x.gamma)[0], u))
        logs = tilted([row[0] for row in t], M, x.gamma)[1]
        entropy = -mp.fsum(v * mp.log(v) for v in u if v > 0)
        values.append(mp.mpf(x.gamma) * (entropy + inner(u, logs)))
    close(ot.true_preference(x.prior, x.cost, x.gamma), stacked(preference, x), x.rounding)
    actual = ot.conjugate(potential, x.prior, x.cost, x.gamma)
    finite = float(x.cost[x.cost < torch.inf].abs().max())
    scale = float(potential.abs().max()) + finite + x.gamma * (1 + 2 * math.log(x.N))
    close(actual, stacked(values, x), tolerances.rounding("float64", 2 * x.N + 8, 2 * scale))


@PATIENT
@given(ot_batches(**MILD))
def test_the_gradient_of_the_conjugate_is_the_transported_mass(x: OtProblem) -> None:
    g = (x.templates @ x.evidence.unsqueeze(-1)).squeeze(-1).requires_grad_()
    total = ot.conjugate(g, x.prior, x.cost, x.gamma).sum()
    (gradient,) = torch.autograd.grad(total, g)
    p = ot.transported(g.detach(), x.prior, x.cost, x.gamma)
    close(gradient, p, x.rounding)
    close(ot.coupling(g.detach(), x.prior, x.cost, x.gamma).sum(-1), p, x.rounding)


# --- against every coupling --------------------------------------------------------------------------------------


def couplings(x: OtProblem, seed: int) -> Tensor:
    """Random X ≥ 0 with Xᵀ 1 = u that avoids forbidden entries; p is free."""
    noise = torch.randn(x.cost.shape, generator=torch.Generator().manual_seed(seed), dtype=F64)
    noise = noise.masked_fill(x.cost == torch.inf, -torch.inf)
    return noise.softmax(-2) * x.prior.unsqueeze(-2)


def transport_objective(X: Tensor, x: OtProblem) -> Tensor:
    """⟨M, X⟩ − γ H(X)."""
    cost = torch.where(X > 0, x.cost, 0.0)
    return (cost * X - x.gamma * torch.special.entr(X)).sum((-2, -1))


def divergence(X: Tensor, Y: Tensor) -> Tensor:
    """KL(X ‖ Y) of two couplings with the same mass."""
    both = torch.where(X > 0, X, 1.0) / torch.where(X > 0, Y, 1.0)
    return (X * both.log()).sum((-2, -1))


def objective_error(x: OtProblem, *numbers: float) -> float:
    finite = float(x.cost[x.cost < torch.inf].abs().max())
    return tolerances.rounding("float64", x.N * x.n, 8 * (finite + x.gamma * 10 + sum(numbers)))


@PATIENT
@given(ot_batches(**MILD))
def test_the_conjugate_is_a_supremum_over_couplings(x: OtProblem) -> None:
    """W*(g) − (⟨g, X1⟩ − ⟨M, X⟩ + γH(X)) = γ KL(X ‖ X_g) for every X with Xᵀ1 = u; at g = 0, Proposition 1."""
    for potential in (torch.zeros_like(x.templates[..., 0]), x.templates[..., 0]):
        X = couplings(x, seed=1)
        best = ot.coupling(potential, x.prior, x.cost, x.gamma)
        close(best.sum(-2), x.prior, tolerances.rounding("float64", x.N))
        value = (potential * X.sum(-1)).sum(-1) - transport_objective(X, x)
        excess = ot.conjugate(potential, x.prior, x.cost, x.gamma) - value
        close(excess, x.gamma * divergence(X, best), objective_error(x, x.reach))


def primal(X: Tensor, x: OtProblem) -> Tensor:
    """The objective of (24) at a coupling."""
    preferred = ot.true_preference(x.prior, x.cost, x.gamma)
    target = (preferred.unsqueeze(-2) @ x.templates).squeeze(-2) + x.evidence
    mean = (X.sum(-1).unsqueeze(-2) @ x.templates).squeeze(-2)
    return x.alpha / 2 * (target - mean).square().sum(-1) + transport_objective(X, x)


def dual(solution_dual: Tensor, x: OtProblem) -> Tensor:
    preferred = ot.true_preference(x.prior, x.cost, x.gamma)
    target = (preferred.unsqueeze(-2) @ x.templates).squeeze(-2) + x.evidence
    g = (x.templates @ solution_dual.unsqueeze(-1)).squeeze(-1)
    value = (target * solution_dual).sum(-1) - solution_dual.square().sum(-1) / (2 * x.alpha)
    return value - ot.conjugate(g, x.prior, x.cost, x.gamma)


@PATIENT
@given(ot_batches(**MILD))
def test_the_solution_beats_every_coupling_by_the_identity_that_proves_it(x: OtProblem) -> None:
    """P(X) − P(X*) = γ KL(X ‖ X*) + α/2 ‖h − h*‖²."""
    solution = ot.solve(*x.arguments)
    g = (x.templates @ solution.dual.unsqueeze(-1)).squeeze(-1)
    best, X = ot.coupling(g, x.prior, x.cost, x.gamma), couplings(x, seed=2)
    distance = ((X - best).sum(-1).unsqueeze(-2) @ x.templates).squeeze(-2)
    expected = x.gamma * divergence(X, best) + x.alpha / 2 * distance.square().sum(-1)
    slack = objective_error(x, x.alpha * (x.reach + float(x.evidence.norm(dim=-1).max())) ** 2)
    close(primal(X, x) - primal(best, x), expected, slack)
    close(best.sum(-1), solution.weights, x.rounding)


@PATIENT
@given(ot_batches(**MILD))
def test_the_gap_is_the_squared_residual_at_any_dual(x: OtProblem) -> None:
    """P(X_λ) − D(λ) = α/2 ‖∇D(λ)‖², here at λ = αz, far from optimal."""
    at = x.alpha * x.evidence
    g = (x.templates @ at.unsqueeze(-1)).squeeze(-1)
    X = ot.coupling(g, x.prior, x.cost, x.gamma)
    residual = ot.approximation_bound(*x.arguments, dual=at).dual / x.alpha
    slack = objective_error(x, x.alpha * (x.reach + float(x.evidence.norm(dim=-1).max())) ** 2)
    close(primal(X, x) - dual(at, x), x.alpha / 2 * residual**2, slack)


# --- the exact solution ------------------------------------------------------------------------------------------


@PATIENT
@given(ot_batches(max_batch=2, max_size=4))
def test_the_solution_on_a_line_agrees_with_bisection(x: OtProblem) -> None:
    """For d = 1 the dual's slope is monotone, so that a bracket with 40 digits is conclusive."""
    line = OtProblem.of(x.templates[..., :1], x.evidence[..., :1], x.prior, x.cost, x.alpha, x.gamma)
    solution = ot.solve(*line.arguments)
    expected = []
    for t, z, u, M in singles(line):
        points = [row[0] for row in t]

        def mean(slope: mp.mpf, points: list = points, u: list = u, M: list = M) -> mp.mpf:  # type: ignore[type-arg]
            return inner(carried(tilted([slope * v for v in points], M, x.gamma)[0], u), points)

        preferred = mean(mp.mpf(0))
        width = mp.mpf(x.alpha) * (abs(z[0]) + max(points) - min(points) + 1)
        low, high = -width, width
        for _ in range(90):
            middle = (low + high) / 2
            up = preferred + z[0] - middle / mp.mpf(x.alpha) - mean(middle) > 0
            low, high = (middle, high) if up else (low, middle)
        expected.append([low])
    weights = stacked(expected, line)
    error = (solution.dual - weights).abs().squeeze(-1)
    slack = tolerances.rounding("float64", 8, float(weights.abs().max()) + x.alpha * (1 + line.reach))
    assert (error <= solution.distance + slack + x.alpha * line.rounding * line.reach).all()


@PATIENT
@given(ot_batches())
def test_the_solution_is_certified_and_stationary(x: OtProblem) -> None:
    solution = ot.solve(*x.arguments)
    assert solution.certified.all()
    g = (x.templates @ solution.dual.unsqueeze(-1)).squeeze(-1)
    p = ot.transported(g, x.prior, x.cost, x.gamma)
    d = x.templates.shape[-1]
    logit = (d + 3) * (float(g.abs().max()) / x.gamma + x.logit)
    slack = tolerances.plan("float64", x.N + x.n, logit)
    close(p, solution.weights, slack)
    # λ* = α(μ̃ + z − ĥ)
    preferred = ot.true_preference(x.prior, x.cost, x.gamma)
    shift = ((preferred - solution.weights).unsqueeze(-2) @ x.templates).squeeze(-2)
    close(solution.dual, x.alpha * (shift + x.evidence), x.alpha * float(solution.residual.max() + slack * x.N * (1 + x.reach)))


def test_a_problem_that_is_not_solved_is_never_silent() -> None:
    t, z, u, free = torch.eye(2, dtype=F64), double(1.0, 0.0), double(0.5, 0.5), torch.zeros(2, 2, dtype=F64)
    with pytest.raises(RuntimeError, match=r"1 of 1 problems did not converge"):
        ot.solve(t, z, u, free, 1e4, 1.0, max_steps=1)
    assert not ot.solve(t, z, u, free, 1e4, 1.0, max_steps=1, strict=False).certified
    infeasible = double([0.0, torch.inf], [0.0, torch.inf])
    with pytest.raises(RuntimeError, match="did not converge"):
        ot.solve(t, z, u, infeasible)
    assert ot.solve(t, z, double(1.0, 0.0), infeasible).certified
    with pytest.raises(RuntimeError, match="largest ‖∇D‖ is inf"):
        ot.solve(t, z * math.nan, u, free)


def test_extremes_are_solved_or_refused() -> None:
    x = many_problems(0, 50, symmetric=False)
    for alpha, gamma in ((1e6, 1.0), (1.0, 1e-6), (1e3, 1e-3), (1e-6, 1e6), (1e-3, 1e-9)):
        assert ot.solve(*x.tensors, alpha, gamma).certified.all()
    beyond = ot.solve(*x.tensors, 1e9, 1e-9, strict=False)
    assert not beyond.certified.all()
    assert (beyond.residual[beyond.certified] < 1e-6).all()
    with pytest.raises(RuntimeError, match="of 50 problems did not converge"):
        ot.solve(*x.tensors, 1e9, 1e-9)


@pytest.mark.parametrize("unit", [2.0**-20, 2.0**20])
def test_another_unit_of_the_templates_changes_nothing(unit: float) -> None:
    x = many_problems(0, 50, symmetric=False)
    expected = ot.solve(*x.tensors, 1e3, 1e-3)
    solution = ot.solve(unit * x.templates, unit * x.evidence, x.prior, x.cost, 1e3 / unit**2, 1e-3)
    assert solution.certified.all()
    close(solution.weights, expected.weights, 1e-12)


@on_devices
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_certificates_are_computed_in_float64(dtype: torch.dtype, device: str) -> None:
    @PATIENT
    @given(ot_batches(dtype))
    def check(x: OtProblem) -> None:
        low, wide = ot.solve(*x.to(device).arguments), ot.solve(*x.rounded_to(F64).to(device).arguments)
        for name in ("dual", "weights", "mean", "residual", "gap", "distance"):
            close(getattr(low, name), getattr(wide, name).to(dtype), 0.0)
        assert low.certified.all()
        bound, wide_bound = (ot.approximation_bound(*x.rounded_to(kind).to(device).arguments) for kind in (dtype, F64))
        for name in ("dual", "mean", "weights"):
            close(getattr(bound, name), getattr(wide_bound, name).to(dtype), 0.0)

    check()
