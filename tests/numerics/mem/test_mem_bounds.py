"""The bounds of a dual point: (a) to (e) where the point is off, those of the note on rounding where it is not."""

import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from numerics.mem import bounds as module
from numerics.mem.bounds import Bounds, bounds_at
from numerics.mem.newton import maximize
from numerics.mem.pcg import UNDERFLOW_NORM
from numerics.mem.rows import Hessian, Rows, high_bits, mean_rounding
from numerics.tolerances import eps
from tests.numerics.common import close, double

F64 = torch.float64
EPS = eps("float64")
UNIT = EPS / 2


def normal(seed: int, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=F64)


def problems(n: int, d: int, *, shared: bool) -> Rows:
    return Rows(
        normal(0, n, d) if shared else normal(0, 3, n, d),
        normal(1, 3, n).log_softmax(-1),
        normal(2, 3, d),
        double(0.5, 2.0, 30.0).unsqueeze(-1),
    )


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize(("n", "d"), [(6, 3), (3, 6)])
@pytest.mark.parametrize("size", [1e-3, 1e-2, 0.2, 3.0])
def test_bounds_of_a_point_that_is_off(n: int, d: int, shared: bool, size: float) -> None:
    """Rounding is nothing here: what is left are the formulas (a) to (e), of which (b) holds for the smaller errors only."""
    rows = problems(n, d, shared=shared)
    solution, offset = maximize(rows, 1e-13), size * torch.nn.functional.normalize(normal(3, 3, d), dim=-1)
    dual = solution + offset
    bounds = bounds_at(rows, dual, 1e-9, 0.0)
    exact = rows.weights(solution)
    for i in range(3):
        t, alpha = rows.templates if shared else rows.templates[i], float(rows.alpha[i])
        p = (t @ dual[i] + rows.log_prior[i]).softmax(-1)
        gradient = rows.target[i] - dual[i] / alpha - p @ t
        hessian = torch.eye(d, dtype=F64) / alpha + (t - p @ t).mT @ (p.unsqueeze(-1) * (t - p @ t))
        inverse, r, length = torch.linalg.inv(hessian), float(t.norm(dim=-1).max()), float(gradient.norm())
        c = min(alpha, float(inverse.trace())) if n >= d else alpha
        inside = 2 * r * math.sqrt(c * float(gradient @ inverse @ gradient))
        error = min(alpha * length, -math.log1p(-inside) / (2 * r) if inside < 1 else math.inf)
        expected = {
            "gradient_norm": length,
            "dual_norm": float(dual[i].norm()),
            "error": error,
            "gap": alpha / 2 * length**2,
            "weights_error": min(math.sqrt(alpha) * length / 2, 2 * math.tanh(r * error / 2)),
            "mean_error": min(length, error / alpha),
        }
        for name, value in expected.items():
            assert float(getattr(bounds, name)[i]) == pytest.approx(value, rel=1e-8, abs=0), name
        close(bounds.weights[i], p, 1e-14)
        assert size <= error
        assert float((p - exact[i]).abs().sum()) <= expected["weights_error"]
        assert size / alpha <= expected["mean_error"]
    assert not bool(bounds.certified.any())
    assert bool(bounds_at(rows, dual, 0.99, 0.0).certified.all()) == (size < 1)


def test_what_is_certified_already_keeps_the_plain_bound() -> None:
    rows = problems(6, 3, shared=True)
    dual = maximize(rows, 1e-13)
    dual[1:] += 1e-3
    bounds, plain = bounds_at(rows, dual, 1e-9, 0.0), bounds_at(rows, dual, 0.99, 0.0)
    assert bounds.certified.tolist() == [True, False, False]
    assert float(bounds.error[0]) == float(plain.error[0])
    assert bool((bounds.error[1:] < plain.error[1:]).all())
    close(plain.error, rows.alpha.squeeze(-1) * plain.gradient_norm, 0.0)


def test_templates_of_length_zero_leave_the_rounding_of_sums_and_logarithms() -> None:
    """All of ∇D is exactly 0: what is left is ρ and η of the note, the errors of b and of log u in them."""
    b, alpha = double(3.0, 4.0).expand(2, 2), double(2.0, 0.5).unsqueeze(-1)
    rows = Rows(
        torch.zeros(4, 2, dtype=F64),
        torch.full((4,), -math.log(4), dtype=F64),
        b,
        alpha,
        None,
        double(1e-13, 3e-13),
        double(1e-14, 1e-15),
    )
    bounds = bounds_at(rows, alpha * b, 1e-9, 7.0)
    for i in range(2):
        a, rho = float(alpha[i]), UNIT * 2 * (5 + 5) + float(rows.target_error[i])
        eta = UNIT * (14 + 6 * math.log(4)) + float(rows.log_prior_error[i])
        assert float(bounds.gradient_norm[i]) == pytest.approx(rho, rel=1e-12, abs=0)
        assert float(bounds.error[i]) == pytest.approx(a * rho, rel=1e-12, abs=0)
        assert float(bounds.weights_error[i]) == pytest.approx(2 * eta + 4 * EPS, rel=1e-12, abs=0)
        assert float(bounds.mean_error[i]) == pytest.approx(rho + 2 * UNIT * (7 + 5), rel=1e-12, abs=0)
        assert float(bounds.gap[i]) == pytest.approx(a / 2 * rho**2, rel=1e-12, abs=0)
    assert bool(bounds.certified.all())
    loose = bounds_at(replace(rows, target_error=1e-8), alpha * b, 1e-12, double(7.0, 8.0))
    close(loose.error, alpha.squeeze(-1) * loose.gradient_norm, 1e-20)
    assert float(loose.mean_error[1] - loose.mean_error[0]) == pytest.approx(2 * UNIT, rel=1e-6, abs=0)


def test_a_problem_of_zeros_leaves_what_may_have_underflowed() -> None:
    zeros = torch.zeros(1, 2, dtype=F64)
    bounds = bounds_at(Rows(zeros, zeros[:, :1], zeros, double([0.5])), zeros, 1e-12, 0.0)
    assert float(bounds.gradient_norm) == UNDERFLOW_NORM
    assert float(bounds.error) == 1.5 * UNDERFLOW_NORM


def test_logits_that_are_large_and_cancel_are_rounded() -> None:
    """λ is orthogonal to the differences of the templates, and the gradient exactly 0."""
    templates, length, radius = double([6.0, 8.0], [6.0, -8.0]), 2.0**20, 10.0
    rows = Rows(templates, double(0.5, 0.5).log(), double([length + 6, 0.0]), double([1.0]))
    bounds = bounds_at(rows, double([length, 0.0]), 1e-3, 1.0)
    eta = UNIT * (14 + 6 * math.log(2) + (16 + 2**1.5 * 2.0 ** (2 - high_bits(2))) * radius * length)
    eta *= math.exp(2 * eta)
    rho = UNIT * (2 * (length + 6 + length) + 6 * 6 + mean_rounding(2, 2) * radius)
    norm = rho + 8 * eta  # 8 is the root of the trace of the covariance
    for name, value in {
        "gradient_norm": norm,
        "error": norm,
        "mean_error": norm + EPS * radius + 2 * UNIT * (1 + length),
        "weights_error": norm / 2 + 2 * eta + 2 * EPS,
    }.items():
        assert float(getattr(bounds, name)) == pytest.approx(value, rel=1e-12, abs=0), name


def test_a_trace_of_0_may_be_what_rounding_leaves() -> None:
    """All weight is on one template, so that only (n + d + 8) roundings of r² are left."""
    rows = Rows(double([6.0, 8.0], [1.0, 2.0]), double(1.0, 0.0).log(), double([6.0, 8.0]), double([1.0]), None, 0.0, 1e-3)
    bounds = bounds_at(rows, torch.zeros(1, 2, dtype=F64), 1e-3, 0.0)
    eta = UNIT * (14 + 6 * math.log(2)) + 1e-3
    rho = UNIT * (2 * 10 + 6 * 10 + mean_rounding(2, 2) * 10)
    norm = rho + math.sqrt((2 + 2 + 8) * EPS) * 10 * eta * math.exp(2 * eta)
    assert float(bounds.gradient_norm) == pytest.approx(norm, rel=1e-9, abs=0)


def test_means_are_of_weights_that_sum_to_1_whatever_they_sum_to() -> None:
    class Halved(Rows):
        def weights(self, dual: Tensor) -> Tensor:
            return super().weights(dual) / 2

    rows = problems(6, 3, shared=True)
    bounds = (bounds_at(kind(**vars(rows)), rows.target, 1e-9, 0.0) for kind in (Rows, Halved))
    close(*(x.gradient_norm for x in bounds), 1e-13)


@pytest.mark.parametrize("shared", [True, False])
def test_the_rounding_of_a_gradient_is_that_of_the_note(shared: bool) -> None:
    rows, dual = replace(problems(5, 3, shared=shared), target_error=1e-16, log_prior_error=0.1), 100 * normal(3, 3, 3)
    weights, mean = normal(4, 3, 5).softmax(-1), normal(5, 3, 3)
    sums, logits = module._rounding(rows, dual, weights, mean)
    for i in range(3):
        r = float((rows.templates if shared else rows.templates[i]).norm(dim=-1).max())
        b, size, mean_norm = (float(x[i].norm()) for x in (rows.target, dual, mean))
        shift = float((weights[i] - rows.log_prior[i].exp()).abs().sum()) + mean_rounding(5, 3)
        rho = UNIT * (2 * (b + size / float(rows.alpha[i])) + 6 * mean_norm + shift * r) + 1e-16
        eta = UNIT * (14 + 6 * math.log(5) + (16 + 3**1.5 * 2.0 ** (2 - high_bits(3))) * r * size) + 0.1
        assert float(sums[i]) == pytest.approx(rho, rel=1e-12, abs=0)
        assert float(logits[i]) == pytest.approx(eta * math.exp(2 * eta), rel=1e-12, abs=0)


def test_the_radius_is_rounded_up() -> None:
    rows = problems(5, 3, shared=False)
    expected = rows.templates.norm(dim=-1).amax(-1)
    close(module._radius(rows), expected * (1 + (3 + 8) * EPS), 0.0)


@pytest.mark.parametrize(("alpha", "known"), [(1.0, True), (1e28, True), (4e32, False)])
def test_the_local_bound_counts_the_rounding_of_its_decrement(alpha: float, known: bool) -> None:
    """√c (ν (1 + κ) + √c ρ + η) e^{2η}, where κ is what rounding makes of ν, as long as that is below 1."""
    templates = 1e-3 * normal(0, 6, 3)
    rows = Rows(templates - templates.mean(0), normal(1, 1, 6).log_softmax(-1), normal(2, 1, 3), double(alpha).reshape(1, 1))
    weights = rows.log_prior.exp()
    mean, gradient, sums, logits = rows.mean(weights), 1e-8 * normal(3, 1, 3), double(1e-12), double(1e-4)
    bound = float(module._local_bound(rows, weights, mean, gradient, sums, logits))
    if not known:
        assert bound == math.inf
        return
    hessian = Hessian(rows, weights, mean, rows.alpha)
    c, r = float(hessian.bound()), float(rows.radius)
    x = hessian.solve(gradient)
    residual = gradient - hessian.times(x)
    squared = float((x * (gradient + residual)).sum() + alpha * residual.square().sum())
    kappa = 4 * (6 + 3 + 16) * EPS * (1 + math.sqrt(alpha) * 2 * r)
    decrement = math.sqrt(c) * (math.sqrt(squared) * (1 + kappa) + math.sqrt(c) * 1e-12 + 1e-4) * math.exp(2e-4)
    assert bound == pytest.approx(-math.log1p(-2 * r * decrement) / (2 * r), rel=1e-9, abs=0)


def test_bounds_that_are_not_known_yet_are_infinite_and_are_overwritten_row_by_row() -> None:
    rows = problems(6, 3, shared=True)
    unknown = Bounds.unknown(rows.weights(rows.target))
    assert all(
        bool((x == math.inf).all()) and x.shape == (3,)
        for name, x in vars(unknown).items()
        if name not in ("weights", "certified")
    )
    assert unknown.certified.tolist() == [False] * 3
    known = bounds_at(rows, maximize(rows, 1e-13), 1e-9, 0.0)
    part = Bounds(**{name: x[:2] for name, x in vars(known).items()})
    unknown.assign(torch.tensor([2, 0]), part)
    for name, x in vars(unknown).items():
        assert torch.equal(x[torch.tensor([2, 0])], getattr(part, name))
    assert unknown.certified.tolist() == [True, False, True]
    assert math.isinf(float(unknown.error[1]))
