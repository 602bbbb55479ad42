"""The certificate of the printed closed form: never violated, and nearly sharp where it is called sharp."""

import math

import pytest
import torch
from hypothesis import given
from torch import Tensor
from torch.testing import assert_close

from evidence.instances.mem import MemBatch, mem_batches
from numerics import mem, tolerances
from tests.numerics.common import PATIENT


def slack(x: MemBatch) -> Tensor:
    """The effect of rounding on ĥ_c − μ: logits of size α⟨t, z⟩, weights with that error, n templates."""
    alpha = torch.as_tensor(x.alpha, dtype=torch.float64)
    size = float(x.templates.norm(dim=-1).max())
    logits = alpha * size * x.evidence.norm(dim=-1) * (x.d + 2) + 60
    return tolerances.rounding("float64", x.n, 4 * size) * (1 + logits)


def violations(x: MemBatch, certificate: mem.Certificate, solution: mem.Solution) -> dict[str, bool]:
    """The bounds that the solution violates, beyond its own error and rounding."""
    alpha = torch.as_tensor(x.alpha, dtype=torch.float64)
    rounding = slack(x)
    dual = (alpha.unsqueeze(-1) * x.evidence - solution.dual).norm(dim=-1)
    mean = (certificate.mean - solution.mean).norm(dim=-1)
    weights = (certificate.weights - solution.weights).abs().sum(-1)
    noise = alpha * rounding + solution.error + 1e-15 * dual
    # ⟨λ_c − λ*, ĥ_c − ĥ*⟩ is the sum of the two divergences.
    divergence = ((alpha.unsqueeze(-1) * x.evidence - solution.dual) * (certificate.mean - solution.mean)).sum(-1)
    blurred = dual * (rounding + solution.mean_error) + mean * noise + noise * (rounding + solution.mean_error)
    broken = {
        "dual_error": dual > certificate.dual_error + noise,
        "dual_distance": dual < certificate.dual_distance - noise,
        "mean_error": mean > certificate.mean_error + rounding + solution.mean_error,
        "divergence": divergence
        > (certificate.divergence + blurred + 2 * alpha * certificate.shift * rounding + alpha * rounding**2),
        "weights_error": weights
        > (certificate.weights_error + solution.weights_error + (alpha.sqrt() + 1) * rounding + rounding),
    }
    return {name: bool(x.any()) for name, x in broken.items()}


@PATIENT
@given(mem_batches())
def test_no_bound_is_ever_broken(x: MemBatch) -> None:
    solution = mem.solve(*x.arguments)
    assert bool(solution.converged.all())
    assert not any(violations(x, mem.certificate(*x.arguments), solution).values())


@pytest.mark.parametrize(
    ("name", "factor"),
    [("dual_error", 0.5), ("mean_error", 0.5), ("divergence", 0.5), ("weights_error", 0.4), ("dual_distance", 2.0)],
)
def test_the_checker_finds_a_bound_that_is_too_tight(name: str, factor: float) -> None:
    x = two_templates(alpha=0.05 if name == "dual_error" else 1.0, evidence=1e-3)
    certificate, solution = mem.certificate(*x.arguments), mem.solve(*x.arguments)
    assert not any(violations(x, certificate, solution).values())
    wrong = mem.Certificate(**{**vars(certificate), name: factor * getattr(certificate, name)})
    assert [key for key, broken in violations(x, wrong, solution).items() if broken] == [name]


def two_templates(alpha: float, evidence: float) -> MemBatch:
    return MemBatch.of(
        torch.tensor([[1.0], [-1.0]], dtype=torch.float64), torch.tensor([evidence], dtype=torch.float64), None, alpha, None
    )


@pytest.mark.parametrize("alpha", [1e-3, 0.1, 1.0, 10.0])
def test_mean_and_lower_dual_bound_are_sharp_for_two_templates(alpha: float) -> None:
    x = two_templates(alpha, 1e-3 / alpha)
    certificate, solution = mem.certificate(*x.arguments), mem.solve(*x.arguments, tolerance=1e-12)
    mean = float((certificate.mean - solution.mean).norm())
    dual = float((alpha * x.evidence - solution.dual).norm())
    # The next term of tanh is a third of λ², at most 1e−6, of the first.
    assert abs(mean - float(certificate.mean_error)) <= 1e-6 * mean + float(solution.mean_error) + 1e-15
    assert abs(dual - float(certificate.dual_distance)) <= 1e-6 * dual + float(solution.error) + 1e-15


@pytest.mark.parametrize("alpha", [0.3, 1.0, 10.0])
def test_bounds_known_before_the_pass_are_attained(alpha: float) -> None:
    """``beyond.query-bound`` and ``beyond.objective-bound`` for two templates and little evidence."""
    x = two_templates(alpha, 3e-4 / alpha)
    certificate, solution = mem.certificate(*x.arguments), mem.solve(*x.arguments, tolerance=1e-12)
    dual = float((alpha * x.evidence - solution.dual).norm())
    assert dual == pytest.approx(float(certificate.dual_error), rel=1e-6)
    excess = excess_of(x, certificate.weights, solution)
    assert excess == pytest.approx(float(certificate.excess), rel=1e-6)


def excess_of(x: MemBatch, weights: Tensor, solution: mem.Solution) -> float:
    """P(p) − P(p*) as a divergence and a squared distance, without cancellation."""
    normal = weights >= torch.finfo(weights.dtype).tiny  # below, the solution's weight may have vanished altogether
    ratio = torch.where(normal, (weights / solution.weights).log(), 0.0)
    divergence = (weights * (ratio + (-ratio).expm1())).sum()
    apart = (weights - solution.weights) @ x.templates.double()
    return float(divergence + torch.as_tensor(x.alpha) / 2 * apart.square().sum())


@PATIENT
@given(mem_batches(max_batch=0, scales=(1.0,), layouts=("generic", "duplicated", "collinear", "all equal")))
def test_the_lost_value_is_never_above_its_bound(x: MemBatch) -> None:
    certificate, solution = mem.certificate(*x.arguments), mem.solve(*x.arguments)
    room = (1 + float(torch.as_tensor(x.alpha))) * (float(slack(x).max()) + float(solution.weights_error.max()))
    assert excess_of(x, certificate.weights, solution) <= float(certificate.excess) + 10 * room


def test_a_too_small_bound_of_the_value_is_detected() -> None:
    x = two_templates(1.0, 1e-3)
    certificate, solution = mem.certificate(*x.arguments), mem.solve(*x.arguments)
    assert excess_of(x, certificate.weights, solution) > 0.9 * float(certificate.excess)


ROWS = {"uneven": [(0.75, 0.25), (-0.25, 0.75), (25.0, 0.0)], "even": [(0.75, 0.5), (-0.75, 0.5)]}
"""Templates with their priors. The mean is 0, and the ball about it that holds what counts has the radius 3/4."""


@pytest.mark.parametrize("evidence", [1e-2, 0.4, 3.0, 40.0])
@pytest.mark.parametrize("kappa", [0.1, 0.8, 1.0, 1.2, 7.0])
@pytest.mark.parametrize("name", ROWS)
def test_bounds_agree_with_the_claims(name: str, kappa: float, evidence: float) -> None:
    """(3) and (5) to (9), for R and ‖a‖ = ‖ĥ_c − μ‖ by hand; also for the same templates farther from the origin."""
    radius = 0.75
    alpha = kappa / radius**2
    terms = [(t, u * math.exp(alpha * t * evidence)) for t, u in ROWS[name] if u > 0]
    a = sum(t * x for t, x in terms) / sum(x for _, x in terms)
    jeffreys = min(
        [alpha * a**2 / 4]
        + [alpha * a**2 * kappa / (1 + kappa) ** 2] * (kappa <= 1)
        + [alpha * evidence**2 * kappa**3 / (1 + kappa) ** 2]
    )
    dual = alpha * min(a, evidence * kappa / (1 + kappa))
    expected = {
        "shift": a,
        "dual_error": dual,
        "dual_distance": alpha * a / (1 + kappa),
        "mean_error": a * kappa / (1 + kappa),
        "divergence": jeffreys,
        "weights_error": min(math.sqrt(jeffreys), 2 * math.tanh(2 * radius * dual / 4)),
        "excess": alpha / 2 * min(a**2, evidence**2 * kappa**3 / (1 + kappa)),
    }
    templates, prior = torch.tensor(ROWS[name], dtype=torch.float64).split(1, -1)
    for offset in (0.0, 8.0):
        z = torch.tensor([evidence], dtype=torch.float64)
        certificate = mem.certificate(templates + offset, z, prior.squeeze(-1), alpha)
        assert {key: float(getattr(certificate, key)) for key in expected} == pytest.approx(expected, rel=1e-9)
        assert float(certificate.mean) - offset == pytest.approx(a, abs=1e-12)


def test_templates_that_coincide_leave_nothing_to_bound() -> None:
    """Their mean is rounded, and so are the squared distances from it."""
    generator = torch.Generator().manual_seed(0)
    for _ in range(300):
        row, z = torch.randn(2, 3, generator=generator, dtype=torch.float64)
        certificate = mem.certificate(row.expand(7, 3), z, torch.rand(7, generator=generator, dtype=torch.float64), 1.0)
        for name in ("shift", "dual_error", "mean_error", "divergence", "weights_error", "excess"):
            assert 0 <= float(getattr(certificate, name)) <= 1e-13, name


def test_upper_dual_bound_is_sharp_for_small_alpha() -> None:
    x = two_templates(1e-4, 1.0)
    certificate, solution = mem.certificate(*x.arguments), mem.solve(*x.arguments, tolerance=1e-12)
    dual = float((1e-4 * x.evidence - solution.dual).norm())
    assert float(certificate.dual_error) / (1 + 1e-4) <= dual + float(solution.error) <= float(certificate.dual_error) + 2e-12


def test_one_template_is_exact() -> None:
    certificate = mem.certificate(torch.tensor([[3.0, 4.0]]), torch.ones(2), None, 10.0)
    for name in ("shift", "dual_error", "mean_error", "divergence", "weights_error"):
        assert float(getattr(certificate, name)) == 0
    assert_close(certificate.mean, torch.tensor([3.0, 4.0]))


@PATIENT
@given(mem_batches(scales=(1.0,)))
def test_the_certified_point_is_the_closed_form(x: MemBatch) -> None:
    certificate = mem.certificate(*x.arguments)
    expected = mem.closed_form(*x.arguments)
    assert bool(((certificate.mean - expected).norm(dim=-1) <= slack(x)).all())
    ones, rounding = torch.ones_like(certificate.shift), tolerances.rounding("float64", x.n)
    assert_close(certificate.weights.sum(-1), ones, rtol=0.0, atol=rounding)


def test_a_dead_row_has_zeros() -> None:
    certificate = mem.certificate(torch.eye(2), torch.ones(2), None, 1.0, torch.zeros(2, dtype=torch.bool))
    assert all(bool((value == 0).all()) for value in vars(certificate).values())


def test_dtypes_and_derivatives() -> None:
    generator = torch.Generator().manual_seed(0)
    t, z = torch.randn(5, 3, generator=generator), torch.randn(2, 3, generator=generator)
    assert {value.dtype for value in vars(mem.certificate(t.half(), z.half())).values()} == {torch.float16}
    assert {value.dtype for value in vars(mem.certificate(t, z)).values()} == {torch.float32}
    leaf = z.double().requires_grad_()
    assert torch.autograd.gradcheck(lambda y: mem.certificate(t.double(), y, None, 0.3).dual_error, leaf)
    assert math.isfinite(float(mem.certificate(100 * t, 100 * z, None, 1e4).mean_error.max()))
