"""Continuous attention as the limit of attention on grids: the order, the constant, and the scaling of Ω."""

import math

import pytest
import torch
from torch import Tensor

from evidence.instances.continuous import F64
from numerics import continuous as ct
from numerics import regularizers, tolerances
from tests.numerics.common import close

MEAN, VARIANCE = torch.tensor([0.3], dtype=F64), torch.tensor([[0.7]], dtype=F64)
THETA = ct.natural(MEAN, VARIANCE)
STEPS = [0.2 / 2**k for k in range(6)]


def grid(step: float, shift: float = 0.0, reach: float = 10.0) -> Tensor:
    """Points of a grid with this step, `shift` steps of which lie between μ and the first point to its right; (P, 1)."""
    count = math.ceil(reach / step)
    return (MEAN + step * (shift + torch.arange(-count, count + 1, dtype=F64)))[:, None]


def softmax_error(step: float, shift: float = 0.0) -> float:
    """max |softmax(f)/h − N(μ, σ²)| relative to the peak of the density."""
    t = grid(step, shift)
    density = ct.softmax_density(t, MEAN, VARIANCE)
    return float((torch.softmax(ct.scores(t, *THETA), -1) / step - density).abs().max() / density.max())


def sparsemax_error(step: float, shift: float = 0.0) -> float:
    """max |sparsemax(h f)/h − p|."""
    t = grid(step, shift)
    plan = regularizers.sparsemax(step * ct.scores(t, *THETA))
    return float((plan / step - ct.sparsemax_density(t, MEAN, VARIANCE)).abs().max())


@pytest.mark.parametrize("step", [2.5, 2.0, 1.6, 1.25, 1.0])
def test_softmax_converges_faster_than_any_power(step: float) -> None:
    """By Poisson's summation formula Σ_i h N(t_i) = 1 + 2 Σ_k e^{−2π²k²σ²/h²} cos(2πk(t_0 − μ)/h)."""

    def terms(shift: float) -> float:
        return 2 * sum(
            math.exp(-2 * (math.pi * k) ** 2 * float(VARIANCE) / step**2) * math.cos(2 * math.pi * k * shift)
            for k in range(1, 6)
        )

    for shift in (0.0, 0.25, 0.5):
        t = grid(step, shift, reach=25.0)
        ratio = torch.softmax(ct.scores(t, *THETA), -1) / (step * ct.softmax_density(t, MEAN, VARIANCE))
        peak = ct.softmax_density(t, MEAN, VARIANCE).argmax()
        assert float(ratio[peak]) == pytest.approx(1 / (1 + terms(shift)), abs=tolerances.rounding("float64", len(t), 100.0))


def test_softmax_on_a_fine_grid_is_the_gaussian() -> None:
    for step in STEPS:
        assert softmax_error(step) < tolerances.rounding("float64", len(grid(step)), 100.0)


def test_sparsemax_converges_with_order_two_and_the_derived_constant() -> None:
    """No offset leaves more than h²/(12σ²) + O(h³), and where the grid meets both ends of the support that is what is left.

    Σ_i h p(t_i) misses 1 by h²/2 times what p's slope jumps by, a/σ², at both ends, times B₂ of where each lies in its cell
    (Euler and Maclaurin), −1/12 ≤ B₂ ≤ 1/6; the threshold makes up for that over the length 2a.
    """
    half = float(ct.sparsemax_radius(VARIANCE) * VARIANCE.sqrt())
    steps = half / torch.tensor([4.0, 8.0, 16.0, 32.0, 64.0, 128.0], dtype=F64)
    bound, slack = steps**2 / (12 * float(VARIANCE)), 1 + steps / half
    offsets = [k / 16 for k in range(16)]
    errors = torch.tensor([[sparsemax_error(step, shift) for shift in offsets] for step in steps.tolist()], dtype=F64)
    assert (errors.amax(-1) <= bound * slack).all()
    assert (errors[:, 0] >= bound / slack).all()
    x, y = steps.log(), errors[:, 0].log()
    slope = float(((x - x.mean()) * (y - y.mean())).sum() / (x - x.mean()).square().sum())
    assert slope == pytest.approx(2, abs=0.1)


@pytest.mark.parametrize("wrong", ["unscaled", "inverse"])
def test_another_scale_of_the_regularizer_has_another_limit(wrong: str) -> None:
    """sparsemax(f) on finer and finer grids tends to one point, and so does sparsemax(f/h): the limit needs Ω/h."""
    step = STEPS[-1]
    t = grid(step)
    f = ct.scores(t, *THETA)
    plan = regularizers.sparsemax(f if wrong == "unscaled" else f / step)
    assert float((plan / step - ct.sparsemax_density(t, MEAN, VARIANCE)).abs().max()) > 0.5


def test_sparsemax_in_the_plane() -> None:
    """The volume of a cell replaces h."""
    mean, covariance = torch.tensor([0.1, -0.2], dtype=F64), torch.tensor([[0.5, 0.2], [0.2, 0.4]], dtype=F64)
    theta = ct.natural(mean, covariance)
    errors = []
    for step in (0.1, 0.05, 0.025):
        axis = torch.arange(-3, 3, step, dtype=F64)
        t = torch.cartesian_prod(axis, axis)
        plan = regularizers.sparsemax(step**2 * ct.scores(t, *theta)) / step**2
        errors.append(float((plan - ct.sparsemax_density(t, mean, covariance)).abs().max()))
    assert errors[2] < errors[1] < errors[0]
    assert errors[2] < errors[0] / 4


def test_the_mean_of_bumps_on_a_grid() -> None:
    """Sums over the grid become the closed-form expectations."""
    basis = ct.Basis(torch.tensor([[0.0], [1.5], [0.3]], dtype=F64), torch.tensor([0.4, 1.0, 6.0], dtype=F64))
    t = grid(STEPS[-1])
    f = ct.scores(t, *THETA)
    close(
        torch.softmax(f, -1) @ basis.at(t),
        ct.softmax_expectation(MEAN, VARIANCE, basis),
        tolerances.rounding("float64", len(t), 10.0),
    )
    error = (regularizers.sparsemax(STEPS[-1] * f) @ basis.at(t) - ct.sparsemax_expectation(MEAN, VARIANCE, basis)).abs()
    assert float(error.max()) < STEPS[-1] ** 2
