"""Continuous attention: densities, expectations and the regression, against quadrature, sampling and optimality."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from torch import Tensor
from torch.distributions import MultivariateNormal

from evidence.instances.continuous import F64, Continuous, continuous, integral, legendre
from numerics import continuous as ct
from numerics import tolerances
from tests.numerics.common import PATIENT, close

LINE = continuous(max_d=1)


# ── parameters and densities ────────────────────────────────────────────────────────────────────────────────────────


@PATIENT
@given(continuous(max_d=4))
def test_natural_parameters_round_trip(x: Continuous) -> None:
    linear, quadratic = ct.natural(x["mean"], x["covariance"])
    mean, covariance = ct.moments(linear, quadratic)
    close(mean, x["mean"], x.tolerance(linear) * x.condition)
    close(covariance, x["covariance"], x.tolerance(quadratic) * x.condition)
    close(x["covariance"] @ linear, x["mean"], x.tolerance(linear))


@PATIENT
@given(continuous(max_d=4))
def test_scores_are_the_gaussian_up_to_a_constant(x: Continuous) -> None:
    points = x["centers"]
    linear, quadratic = ct.natural(x["mean"], x["covariance"])
    difference = ct.softmax_log_density(points, x["mean"], x["covariance"]) - ct.scores(points, linear, quadratic)
    close(difference, difference[:1].expand(3), x.tolerance(ct.scores(points, linear, quadratic)) * x.condition)
    close(
        ct.softmax_log_density(points, x["mean"], x["covariance"]),
        MultivariateNormal(x["mean"], x["covariance"]).log_prob(points),
        x.tolerance(difference),
    )


def ball(d: int, count: int = 24) -> tuple[Tensor, Tensor]:
    """Quadrature on the unit ball in two or three dimensions: exact for polynomials of low degree."""
    r, w = legendre(0, 1, count)
    angle = torch.arange(count, dtype=F64) * 2 * math.pi / count
    if d == 2:
        points = r[:, None, None] * torch.stack([angle.cos(), angle.sin()], -1)
        return points.reshape(-1, 2), (w * r)[:, None].expand(-1, count).reshape(-1) * 2 * math.pi / count
    z, wz = legendre(-1, 1, count)
    across = (1 - z**2).sqrt()[:, None]
    sphere = torch.stack([across * angle.cos(), across * angle.sin(), z[:, None].expand(-1, count)], -1).reshape(-1, 3)
    on_sphere = (wz[:, None] * 2 * math.pi / count).expand(-1, count).reshape(-1)
    return (r[:, None, None] * sphere).reshape(-1, 3), ((w * r**2)[:, None] * on_sphere).reshape(-1)


@PATIENT
@given(continuous(max_d=3))
def test_the_parabola_has_mass_one_its_mean_and_its_covariance(x: Continuous) -> None:
    R = ct.sparsemax_radius(x["covariance"])
    if x.d == 1:
        u, w = legendre(-1, 1)
        u = u[:, None]
    else:
        u, w = ball(x.d)
    root = torch.linalg.cholesky(x["covariance"])
    points = x["mean"] + R * u @ root.mT
    p = w * ct.sparsemax_density(points, x["mean"], x["covariance"]) * R**x.d * root.diagonal().prod()
    tolerance = x.tolerance(points.square(), size=len(points))
    close(p.sum(), torch.ones((), dtype=F64), tolerance)
    close(p @ points, x["mean"], tolerance)
    centred = points - x["mean"]
    close(centred.mT @ (p[:, None] * centred), ct.sparsemax_covariance(x["covariance"]), tolerance)


@pytest.mark.parametrize("d", [1, 2, 3, 7])
def test_radius_by_the_volume_of_the_ball(d: int) -> None:
    """The mass is √|Σ| V_d R^{d+2}/(d + 2), with V_1 = 2, V_2 = π and V_d = V_{d−2} 2π/d."""
    volume = [1.0, 2.0]
    for k in range(2, d + 1):
        volume.append(volume[k - 2] * 2 * math.pi / k)
    covariance = 0.3 * torch.eye(d, dtype=F64)
    mass = 0.3 ** (d / 2) * volume[d] * float(ct.sparsemax_radius(covariance)) ** (d + 2) / (d + 2)
    assert mass == pytest.approx(1, abs=tolerances.rounding("float64", 8 * (d + 2), 1.0))


def test_half_width_on_the_line() -> None:
    variance = torch.tensor([[[0.25]], [[4.0]]], dtype=F64)
    half = ct.sparsemax_radius(variance) * variance.sqrt().flatten()
    close(half, (1.5 * variance.flatten()) ** (1 / 3), tolerances.rounding("float64", 8, 2.0))
    edge = ct.sparsemax_density(
        half[:, None, None] * torch.tensor([0.999, 1.001], dtype=F64)[:, None], torch.zeros(2, 1, dtype=F64), variance
    )
    assert (edge[:, 0] > 0).all()
    assert (edge[:, 1] == 0).all()


def objective(density: Tensor, scores: Tensor, weights: Tensor, kind: str) -> float:
    """∫ p f − Ω(p) on quadrature nodes."""
    penalty = torch.xlogy(density, density) if kind == "softmax" else (density**2 - density) / 2
    return float((weights * (density * scores - penalty)).sum())


@PATIENT
@given(LINE, st.integers(0, 2**31), st.sampled_from(["softmax", "sparsemax"]))
def test_no_other_density_is_better(x: Continuous, seed: int, kind: str) -> None:
    """The rivals are the solution times 1 + ε(g − E g), shifted Gaussians, and the solution of the other kind."""
    mu, variance = x["mean"], x["covariance"]
    reach = 8 * float(variance.sqrt()) + 3
    t, w = legendre(float(mu) - reach, float(mu) + reach, 600)
    f = ct.scores(t[:, None], *ct.natural(mu, variance))
    densities = {"softmax": ct.softmax_density, "sparsemax": ct.sparsemax_density}
    own = densities[kind](t[:, None], mu, variance)
    best, mass = objective(own, f, w, kind), float((w * own).sum())
    wave = torch.sin(t * (1 + seed % 5) + seed)
    tilted = own * (1 + 0.3 * (wave - float((w * own * wave).sum()) / mass))
    for rival in (
        tilted,
        *(
            densities[k](t[:, None], mu + shift, scale * variance)
            for k in densities
            for shift, scale in ((0.0, 1.3), (0.1, 1.0), (0.0, 0.7))
        ),
    ):
        rival = rival * mass / float((w * rival).sum())
        assert objective(rival, f, w, kind) < best


# ── expectations ────────────────────────────────────────────────────────────────────────────────────────────────────


@PATIENT
@given(LINE)
def test_expectations_on_the_line_by_quadrature(x: Continuous) -> None:
    mu, variance, basis = x.arguments
    expected = integral(lambda t: ct.softmax_density(t, mu, variance)[:, None] * basis.at(t), x.cuts())
    close(ct.softmax_expectation(mu, variance, basis), expected, x.tolerance())
    half = float(ct.sparsemax_radius(variance) * variance.sqrt())
    expected = integral(lambda t: ct.sparsemax_density(t, mu, variance)[:, None] * basis.at(t), x.parabola_cuts(half))
    close(ct.sparsemax_expectation(mu, variance, basis), expected, x.tolerance(1 / half))


@PATIENT
@given(continuous(max_d=3))
def test_gaussian_expectations_along_the_axes(x: Continuous) -> None:
    """In the axes of Σ, E ψ is a product over coordinates, each an integral on the line."""
    mu, covariance, basis = x.arguments
    axes = x["axes"]
    expected = torch.ones(3, dtype=F64)
    for a in range(x.d):
        m, v = float(mu @ axes[:, a]), float(x["variances"][a])
        one = Continuous(1, x.seed, x.spread)
        c = basis.centers @ axes[:, a]
        one.drawn.update(
            mean=torch.tensor([m], dtype=F64), covariance=torch.tensor([[v]], dtype=F64), centers=c[:, None], widths=x["widths"]
        )
        expected = expected * integral(
            lambda t, m=m, v=v, one=one: torch.exp(-((t - m) ** 2) / (2 * v)) / math.sqrt(2 * math.pi * v) * one.basis.at(t),
            one.cuts(),
        )
    close(ct.softmax_expectation(mu, covariance, basis), expected, x.tolerance())


EXTREMES = [
    (variance, width, center)
    for variance in (1e-12, 1e-4, 1.0, 1e4, 1e10)
    for width in (1e-3, 0.5, 1.0, 40.0)
    for center in (-300.0, -1.0, 0.25, 2.0)
]


@pytest.mark.parametrize(("variance", "width", "center"), EXTREMES)
def test_tiny_and_huge_widths(variance: float, width: float, center: float) -> None:
    """Both branches of the closed form, and bumps far outside the support, against adaptive quadrature and in float32."""
    mean = 0.25
    half = (1.5 * variance) ** (1 / 3)
    low, high = (max(-1.0, min(1.0, (center - mean + side * 12 * width) / half)) for side in (-1, 1))
    expected = quad(
        lambda x: 0.75 * (1 - x**2) * math.exp(-(((mean - center + half * x) / width) ** 2) / 2),
        low,
        high,
        epsabs=1e-15,
        epsrel=1e-12,
        limit=200,
    )[0]
    for dtype in (F64, torch.float32):
        mu, sigma = torch.tensor([mean], dtype=dtype), torch.tensor([[variance]], dtype=dtype)
        basis = ct.Basis(torch.tensor([[center]], dtype=dtype), width)
        # Distances in units of the width are off by u times this, and the mean of a bump moves no faster than they do.
        scale = 1 + (abs(center) + mean + half) / width
        close(
            ct.sparsemax_expectation(mu, sigma, basis),
            torch.tensor([expected], dtype=dtype),
            tolerances.rounding(dtype, ct.basis.NODES, scale),
        )
        mu.requires_grad_(), sigma.requires_grad_()
        for result in (ct.sparsemax_expectation(mu, sigma, basis), ct.softmax_expectation(mu, sigma, basis)):
            assert 0 <= float(result.detach()) <= 1 + tolerances.rounding(dtype, ct.basis.NODES, 1.0)
            first = torch.autograd.grad(result.sum(), (mu, sigma), create_graph=True)
            second = torch.autograd.grad(sum(g.sum() for g in first), (mu, sigma), allow_unused=True)
            assert all(g.isfinite().all() for g in first)
            assert all(g is None or g.isfinite().all() for g in second)


def test_a_constant_has_its_own_value_as_mean() -> None:
    """A bump much wider than the density is 1 throughout."""
    mu, sigma, _ = Continuous(1, 5, 2.0).arguments
    wide = ct.Basis(torch.zeros(1, 1, dtype=F64), 1e9)
    for expectation in (ct.softmax_expectation, ct.sparsemax_expectation):
        close(expectation(mu, sigma, wide), torch.ones(1, dtype=F64), tolerances.rounding("float64", ct.basis.NODES, 1.0))


# ── the regression, and the context ─────────────────────────────────────────────────────────────────────────────────


def observations(seed: int, L: int = 9, d: int = 2, D: int = 4) -> tuple[Tensor, Tensor, ct.Basis]:
    generator = torch.Generator().manual_seed(seed)
    v, t, c = (torch.randn(*shape, generator=generator, dtype=F64) for shape in ((3, L, D), (L, d), (5, d)))
    return v, t, ct.Basis(c, 0.8)


@PATIENT
@given(st.integers(0, 2**31), st.sampled_from([1e-3, 0.1, 10.0]), st.integers(1, 12))
def test_the_regression_satisfies_the_normal_equations(seed: int, ridge: float, L: int) -> None:
    v, t, basis = observations(seed, L)
    B = ct.fit(v, t, basis, ridge)
    psi = basis.at(t)
    residual = B @ (psi.mT @ psi + ridge * torch.eye(5, dtype=F64)) - v.mT @ psi
    close(residual, torch.zeros_like(residual), tolerances.rounding("float64", 14 * 14, float(v.abs().max()) * (1 + L / ridge)))


def test_the_regression_depends_on_the_condition_number_and_not_its_square() -> None:
    """Observations made by a known B through nearly dependent bumps, with a vanishing ridge."""
    t = torch.linspace(0, 1, 40, dtype=F64)[:, None]
    basis = ct.Basis(torch.linspace(0, 1, 6, dtype=F64)[:, None], 0.6)
    known = torch.tensor([[1.0, -2, 3, 0.5, 1, -1]], dtype=F64)
    condition = float(torch.linalg.cond(basis.at(t)))
    assert condition > 1e4
    fitted = ct.fit(basis.at(t) @ known.mT, t, basis, 1e-24)
    close(fitted, known, tolerances.rounding("float64", 46, 10 * condition))
    assert condition**2 * torch.finfo(F64).eps * 10 > tolerances.rounding("float64", 46, 10 * condition)


def test_masked_observations_do_not_exist() -> None:
    v, t, basis = observations(1)
    mask = torch.tensor([True, True, False, True, True, True, False, False, True])
    padded = v.masked_fill(~mask[:, None], torch.nan)
    located = t.masked_fill(~mask[:, None], torch.nan)
    expected = ct.fit(v[:, mask], t[mask], basis, 0.1)
    tolerance = tolerances.rounding("float64", 196, 100 * float(v.abs().max()))
    close(ct.fit(padded, located, basis, 0.1, mask), expected, tolerance)
    close(ct.fit(padded, located, basis, 0.1, torch.where(mask, 0.0, -torch.inf)), expected, tolerance)
    twice = torch.tensor(math.log(2), dtype=F64).where(mask, -torch.inf)  # weights 2 are half the ridge
    close(ct.fit(padded, located, basis, 0.2, twice), expected, tolerance)
    assert (ct.fit(padded, located, basis, 0.1, torch.zeros(9, dtype=torch.bool)) == 0).all()


@PATIENT
@given(LINE, st.sampled_from(["softmax", "sparsemax"]))
def test_context_is_the_mean_of_the_value_function(x: Continuous, density: str) -> None:
    mu, variance, basis = x.arguments
    B = torch.randn(2, 3, dtype=F64, generator=torch.Generator().manual_seed(x.seed))
    half = float(ct.sparsemax_radius(variance) * variance.sqrt())
    p, cuts = (ct.softmax_density, x.cuts()) if density == "softmax" else (ct.sparsemax_density, x.parabola_cuts(half))
    expected = integral(lambda t: p(t, mu, variance)[:, None] * basis.values(B, t), cuts)
    close(ct.attend(B, mu, variance, basis, density), expected, 3 * x.tolerance(B, B.abs().max() / half))


@pytest.mark.parametrize("d", [1, 2])
def test_leading_axes_are_problems(d: int) -> None:
    """Every function of means (2, 1, d) and covariances (3, d, d), one problem at a time; all axes have different lengths."""
    g = torch.Generator().manual_seed(d)
    mean, root, points, centers, B = (
        torch.randn(*shape, generator=g, dtype=F64) for shape in ((2, 1, d), (3, d, d), (2, 3, 7, d), (5, d), (2, 3, 4, 5))
    )
    covariance = root @ root.mT + torch.eye(d, dtype=F64)
    basis = ct.Basis(centers, torch.tensor([0.5, 1.0, 1.5, 2.0, 2.5], dtype=F64))
    v, t = torch.randn(2, 1, 6, 4, generator=g, dtype=F64), torch.randn(3, 6, d, generator=g, dtype=F64)
    mask = torch.rand(2, 1, 6, generator=g) > 0.3
    of_both = [
        ct.natural,
        lambda m, s: ct.moments(m, -s),
        lambda m, s: ct.softmax_expectation(m, s, basis),
        lambda m, s: ct.softmax_covariances(m, s, basis),
    ]
    if d == 1:
        of_both += [lambda m, s: ct.sparsemax_expectation(m, s, basis), lambda m, s: ct.sparsemax_covariances(m, s, basis)]
    cases = [(function, (mean, covariance)) for function in of_both]
    cases += [(ct.sparsemax_radius, (covariance,)), (ct.sparsemax_covariance, (covariance,)), (basis.at, (points,))]
    cases += [
        (function, (points, mean, covariance))
        for function in (
            ct.scores,
            ct.softmax_log_density,
            ct.softmax_density,
            lambda x, m, s: ct.sparsemax_density(x / 2, m, s),
        )
    ]
    cases += [(basis.values, (B, points)), (lambda b, m, s: ct.attend(b, m, s, basis), (B, mean, covariance))]
    each = (1 + torch.rand(2, 3, 1, 1, generator=g, dtype=F64)) * covariance
    cases += [(function, (mean, each)) for function in of_both] + [(ct.sparsemax_density, (points / 2, mean, each))]
    cases += [
        (lambda v, t: ct.fit(v, t, basis, 0.1), (v, t)),
        (lambda v, t, w: ct.fit(v, t, basis, 0.1, w), (v, t, mask)),
        (lambda v, t, w: ct.fit(v, t, basis, 0.1, w.log()), (v, t, mask.double() + 0.5)),
    ]
    for function, arguments in cases:
        together = function(*arguments)
        for i in range(2):
            for h in range(3):
                single = function(*(x[h] if len(x) == 3 else x[i, h % x.shape[1]] for x in arguments))
                pairs = zip(together, single, strict=True) if isinstance(together, tuple) else [(together, single)]
                for actual, expected in pairs:
                    expanded = actual.expand(2, 3, *expected.shape)
                    close(expanded[i, h], expected, tolerances.rounding("float64", 64, 10 * (1 + float(expected.abs().max()))))


# ── refusals ────────────────────────────────────────────────────────────────────────────────────────────────────────

MU, SIGMA, POINTS = torch.zeros(2), torch.eye(2), torch.zeros(4, 2)
BASIS = ct.Basis(torch.zeros(3, 2), 1.0)

REFUSED = [
    ("covariance", lambda: ct.softmax_density(POINTS, MU, -SIGMA)),
    ("covariance", lambda: ct.sparsemax_radius(torch.tensor([[1.0, 2.0], [2.0, 1.0]]))),
    ("covariance", lambda: ct.sparsemax_radius(torch.tensor([[0.0]]))),
    ("covariance", lambda: ct.softmax_expectation(MU, torch.full((2, 2), torch.nan), BASIS)),
    ("quadratic", lambda: ct.moments(MU[:1], torch.tensor([[0.5]]))),
    ("quadratic", lambda: ct.moments(MU[:1], torch.tensor([[0.0]]))),
    ("covariance", lambda: ct.sparsemax_radius(torch.diag(torch.tensor([1.0, math.inf])))),
    ("linear", lambda: ct.moments(torch.zeros(3), -SIGMA)),
    ("mean", lambda: ct.sparsemax_expectation(MU, SIGMA, BASIS)),
    ("points", lambda: ct.softmax_density(torch.zeros(4, 3), MU, SIGMA)),
    ("points", lambda: BASIS.at(torch.zeros(4, 3))),
    ("points", lambda: ct.sparsemax_density(torch.zeros(3, 4, 2), torch.zeros(2, 2), SIGMA)),
    ("centers", lambda: ct.Basis(torch.zeros(3), 1.0)),
    ("centers", lambda: ct.Basis(torch.zeros(2, 3, 1), 1.0)),
    ("centers", lambda: ct.Basis(torch.zeros(3, 1, dtype=torch.int64), 1.0)),
    ("centers", lambda: ct.Basis(torch.zeros(0, 1), 1.0)),
    ("width", lambda: ct.Basis(torch.zeros(3, 1), torch.ones(3, dtype=torch.int64))),
    ("points", lambda: BASIS.at(torch.zeros(2))),
    ("width", lambda: ct.Basis(torch.zeros(3, 1), 0.0)),
    ("width", lambda: ct.Basis(torch.zeros(3, 1), torch.ones(2))),
    ("width", lambda: ct.Basis(torch.zeros(3, 1), math.inf)),
    ("ridge", lambda: ct.fit(torch.zeros(4, 1), POINTS, BASIS, 0.0)),
    ("ridge", lambda: ct.fit(torch.zeros(4, 1), POINTS, BASIS, True)),
    ("mask", lambda: ct.fit(torch.zeros(4, 1), POINTS, BASIS, 1.0, torch.ones(3, dtype=torch.bool))),
    ("mask", lambda: ct.fit(torch.zeros(4, 1), POINTS, BASIS, 1.0, torch.ones(4, dtype=torch.int64))),
    ("coefficients", lambda: BASIS.values(torch.zeros(3), POINTS)),
    ("density", lambda: ct.attend(torch.zeros(1, 3), MU, SIGMA, BASIS, "entmax")),
]


@pytest.mark.parametrize(("named", "call"), REFUSED)
def test_refusals_name_the_argument(named: str, call) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=f"^{named}: expected .*got "):
        call()


def test_a_refusal_counts_the_matrices_that_are_not_definite() -> None:
    covariances = torch.stack([SIGMA, -SIGMA, SIGMA, SIGMA, 0 * SIGMA])
    with pytest.raises(ValueError, match="covariance: expected positive definite matrices, got 2 of 5 that are not"):
        ct.sparsemax_radius(covariances)


def test_only_the_symmetric_part_counts() -> None:
    x = Continuous(3, 1, 2.0)
    twist = torch.tensor(np.array([[0, 1, 2], [-1, 0, 3], [-2, -3, 0]]) / 10, dtype=F64)
    close(
        ct.softmax_expectation(x["mean"], x["covariance"] + twist, x.basis), ct.softmax_expectation(*x.arguments), x.tolerance()
    )


def test_a_point_with_nan_has_no_density_even_if_it_is_infinitely_far() -> None:
    points = torch.tensor([[torch.inf, 0.0], [torch.inf, torch.nan], [0.0, torch.nan]], dtype=F64)
    for density in (ct.softmax_density, ct.sparsemax_density):
        values = density(points, torch.zeros(2, dtype=F64), torch.eye(2, dtype=F64))
        assert values[0] == 0
        assert values[1:].isnan().all()


def test_a_width_that_is_not_positive_gives_nan() -> None:
    basis = ct.Basis(torch.zeros(2, 1, dtype=F64), torch.tensor([1.0, -1.0], dtype=F64))
    mean = ct.sparsemax_expectation(torch.zeros(1, dtype=F64), torch.eye(1, dtype=F64), basis)
    assert mean.isnan().tolist() == [False, True]
