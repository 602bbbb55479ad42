"""Gaussians, bumps and quadrature for continuous attention are what they are said to be."""

import math

import pytest
import torch
from hypothesis import given

from evidence.instances.continuous import Continuous, continuous, integral, legendre
from numerics import tolerances
from tests.numerics.common import close

SEEDS = range(60)


def fixed(variances: list[float], mean: float = -2.0, center: float = 3.0) -> Continuous:
    """A problem with these numbers instead of drawn ones."""
    problem = Continuous(len(variances), 0, 1.0)
    v = torch.tensor(variances, dtype=torch.float64)
    problem.__dict__["drawn"] = {
        "mean": torch.full((len(v),), mean, dtype=torch.float64),
        "covariance": v.diag(),
        "variances": v,
        "axes": v.diag(),
        "centers": torch.full((3, len(v)), center, dtype=torch.float64).mul(torch.tensor([[1.0], [0.1], [0.0]])),
        "widths": torch.tensor([0.25, 0.5, 2.0], dtype=torch.float64),
    }
    return problem


def test_quadrature_is_exact_for_polynomials_and_additive() -> None:
    t, w = legendre(1.0, 4.0)
    assert len(t) == len(w) == 64
    close(w @ t**7, torch.tensor((4.0**8 - 1) / 8, dtype=torch.float64), 1e-10)  # 64 terms up to 16384
    close(integral(lambda t: t[:, 0] ** 2, [1.0, 2.5, 4.0]), torch.tensor(21.0, dtype=torch.float64), 1e-12)


@pytest.mark.parametrize("spread", [1.0, 2.0])
def test_covariances_have_the_drawn_axes_and_bounded_variances(spread: float) -> None:
    problems = [Continuous(3, seed, spread) for seed in SEEDS]
    for x in problems:
        close(x["axes"] @ x["axes"].mT, torch.eye(3, dtype=torch.float64), 1e-14)
        close(x["covariance"], x["axes"] @ x["variances"].diag() @ x["axes"].mT, 1e-14)
    variances, widths = (torch.stack([x[name] for x in problems]) for name in ("variances", "widths"))
    assert float(variances.max()) == spread**2
    assert float(variances.min()) == spread**-2
    close(widths.max(), torch.tensor(math.exp(1.5), dtype=torch.float64), 1e-12)
    close(widths.min(), torch.tensor(math.exp(-1.5), dtype=torch.float64), 1e-12)


def test_where_a_line_is_cut() -> None:
    """At the mean, 3 and 12 deviations from it, and at each bump and 3 widths from it, if that is not beyond the ends."""
    problem = fixed([4.0])
    expected = {-2 - 24, -2 - 6, -2, -2 + 6, -2 + 24, 2.25, 3.0, 3.75, -1.2, 0.3, 1.8, -6.0, 0.0, 6.0}
    assert problem.cuts() == pytest.approx(sorted(expected))
    assert fixed([0.01]).cuts() == pytest.approx([-3.2, -2.3, -2.0, -1.7, -1.2, -0.8])
    assert problem.parabola_cuts(2.5) == pytest.approx([-4.5, -2.0, -1.2, 0.0, 0.3, 0.5])


@pytest.mark.parametrize(("variances", "expected"), [([4.0, 0.25], 16.0), ([0.5, 0.25], 4.0), ([4.0, 2.0], 4.0)])
def test_the_condition_and_the_tolerance(variances: list[float], expected: float) -> None:
    problem = fixed(variances)
    assert problem.condition == expected * 16
    assert fixed(variances, mean=5.0).condition == expected * 36
    assert problem.tolerance(0.5) == tolerances.rounding("float64", 64 * 2, problem.condition)
    assert problem.tolerance(torch.tensor([3.0, -7.0]), size=10) == tolerances.rounding("float64", 20, 7 * problem.condition)


@given(problem=continuous(max_d=2))
def test_what_is_drawn(problem: Continuous) -> None:
    assert 1 <= problem.d <= 2
    assert problem.spread in (1.0, 2.0, 5.0)
    assert problem.arguments[0] is not None
    assert problem.basis.centers.shape == (3, problem.d)
